//! The inverse transform of a linear map: x̄ + U y, and its residual.

use crate::preparation::Whitening;
use crate::reconstruct::DRAWN;
use crate::reconstruct::draws::Errors;
use eigenfold_graph::points::Points;
use eigenfold_linalg::parallel;

/// Training rows summed by one thread at a time.
const ROWS: usize = 1024;

/// The rule and its error.
pub(crate) struct ByAxes {
    /// x̄.
    pub(super) mean: Vec<f64>,
    /// U, one row per feature.
    pub(super) axes: Vec<f64>,
    /// The standard deviation of every feature.
    pub(super) deviations: Vec<f64>,
}

impl ByAxes {
    /// The row at an embedding point.
    pub(super) fn row<'a>(&'a self, y: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        linear(y, &self.mean, &self.axes)
    }

    /// Some training rows with their residuals, in units of the standard deviations.
    pub(super) fn errors(&self, points: &Points, map: &Points) -> Errors {
        let n = points.rows();
        let rows: Vec<usize> = (0..n.min(DRAWN)).map(|at| at * n / n.min(DRAWN)).collect();
        let off = |(at, (x, back)): (usize, (&f64, f64))| match self.deviations[at] {
            0.0 => 0.0,
            deviation => (x - back) / deviation,
        };
        let one = |&i: &usize| points.row(i).iter().zip(self.row(map.row(i))).enumerate().map(off).collect();
        Errors { places: map.select(&rows), errors: rows.iter().map(one).collect() }
    }
}

/// x̄ + U y.
fn linear<'a>(y: &'a [f64], mean: &'a [f64], axes: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    let along = move |axis: &[f64]| axis.iter().zip(y).map(|(u, y)| u * y).sum::<f64>();
    mean.iter().zip(axes.chunks_exact(y.len())).map(move |(mean, axis)| mean + along(axis))
}

/// The root mean square residual of every feature, and that of all relative to their distance from the mean.
pub(super) fn discarded(points: &Points, map: &Points, mean: &[f64], axes: &[f64]) -> (Vec<f64>, f64) {
    let p = mean.len();
    let largest = points.magnitude().max(f64::MIN_POSITIVE);
    let parts: Vec<(Vec<f64>, f64)> = parallel::collect(points.rows().div_ceil(ROWS), |component| {
        let (mut squares, mut total) = (vec![0.0; p], 0.0);
        for i in component * ROWS..((component + 1) * ROWS).min(points.rows()) {
            for (j, (x, back)) in points.point(i).iter().zip(linear(map.row(i), mean, axes)).enumerate() {
                squares[j] += ((x - back) / largest).powi(2);
                total += ((x - mean[j]) / largest).powi(2);
            }
        }
        (squares, total)
    });
    let (mut squares, mut total) = (vec![0.0; p], 0.0);
    for part in &parts {
        squares.iter_mut().zip(&part.0).for_each(|(sum, s)| *sum += s);
        total += part.1;
    }
    let wrong: f64 = squares.iter().sum();
    let n = points.rows() as f64;
    let deviations = squares.iter().map(|s| largest * (s / n).sqrt()).collect();
    (deviations, if total > 0.0 { (wrong / total).sqrt() } else { 0.0 })
}

/// x̄ + U y of whitened columns in the columns before.
pub(super) fn whitened(whitening: &Whitening, mean: &[f64], axes: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (p, dims) = (mean.len(), axes.len() / mean.len());
    let axis = |q: usize| (0..p).map(|j| axes[j * dims + q]).collect::<Vec<f64>>();
    let back: Vec<Vec<f64>> = (0..dims).map(|q| whitening.back(&axis(q), false)).collect();
    let axes = (0..p * dims).map(|at| back[at % dims][at / dims]).collect();
    (whitening.back(mean, true), axes)
}

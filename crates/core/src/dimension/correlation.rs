//! The correlation dimension: how the number of pairs grows with their distance.
//!
//! ```text
//! C(r) = the number of pairs at most r apart
//! d = log(C(r₂)/C(r₁)) / log(r₂/r₁)      r₁, r₂ the median distances to the k/2-th and to the k-th neighbor
//! ```
//!
//! P. Grassberger, I. Procaccia. Measuring the strangeness of strange attractors. Physica D 9, 1983. The radii are those of
//! H. Hino, J. Fujiki, S. Akaho, N. Murata. Local intrinsic dimension estimation by generalized linear modeling. Neural
//! Computation 29(7), 2017.

use super::near::Near;
use super::{Estimate, Name};
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;

/// The dimension; `None` if the two radii, or the numbers of pairs, do not differ.
///
/// # Errors
///
/// [`Error::Stopped`].
pub(super) fn dimension(points: &Points, neighbors: usize, observer: &dyn Observer) -> Result<Option<Estimate>> {
    let (n, metric) = (points.rows(), Metric::Euclidean);
    let near = Near::search(&Index::new(points, metric)?, neighbors, n, observer)?;
    let radii = [near.k.div_ceil(2), near.k].map(|k| median((0..n).map(|at| near.lengths(at)[k - 1]).collect()));
    let pairs = parallel::try_collect(n, |i| {
        if observer.stop() {
            return Err(Error::Stopped);
        }
        let mut counts = [0usize; 2];
        for j in 0..i {
            let distance = metric.distance(points.row(i), points.row(j));
            counts.iter_mut().zip(&radii).for_each(|(count, &radius)| *count += usize::from(distance < radius));
        }
        Ok(counts)
    })?;
    let [few, many] = pairs.iter().fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
    let value = (many as f64 / few as f64).ln() / (radii[1] / radii[0]).ln();
    Ok((value.is_finite() && value > 0.0).then(|| Estimate::new(Name::Correlation, value, n)))
}

/// The number in the middle, or the mean of the two there.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len().is_multiple_of(2) { 0.5 * (values[half - 1] + values[half]) } else { values[half] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_linalg::progress::Silent;

    #[test]
    fn on_a_line_of_equal_steps_pairs_grow_with_the_radius() {
        let line = Points::new(400, 1, (0..400).map(f64::from).collect()).unwrap();
        // The tenth neighbor is 5 steps away and the twentieth 10; closer pairs are 4 and 9 steps apart.
        let found = dimension(&line, 20, &Silent).unwrap().unwrap().value;
        let pairs = |steps: i32| (1..=steps).map(|step| f64::from(400 - step)).sum::<f64>();
        assert!((found - (pairs(9) / pairs(4)).ln() / 2f64.ln()).abs() < 1e-12, "{found}");
    }
}

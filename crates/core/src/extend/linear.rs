//! A linear map of the features: y = (x − x̄) U.

use super::checks::all_finite;
use super::{FAR, Known, Placed};
use eigenfold_graph::Metric;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use serde::{Deserialize, Serialize};

/// The mean of the training points and the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Linear {
    pub(crate) mean: Vec<f64>,
    /// U, one row per feature; known once the coordinates are.
    pub(crate) axes: Vec<f64>,
}

impl Linear {
    pub(super) fn fits(&self, features: usize, dims: usize) -> bool {
        let sizes = self.mean.len() == features && features.checked_mul(dims) == Some(self.axes.len());
        sizes && all_finite(&self.mean) && all_finite(&self.axes)
    }

    /// U = X̃ᵀ Y / λ.
    pub(crate) fn learn(&mut self, points: &Points, map: &Points, eigenvalues: &[f64]) {
        let dims = map.cols();
        let largest = eigenvalues.first().copied().unwrap_or(0.0);
        self.axes = vec![0.0; points.cols() * dims];
        for i in 0..points.rows() {
            for (j, x) in points.row(i).iter().enumerate() {
                for (q, y) in map.row(i).iter().enumerate() {
                    self.axes[j * dims + q] += (x - self.mean[j]) * y;
                }
            }
        }
        for (at, axis) in self.axes.iter_mut().enumerate() {
            let lambda = eigenvalues[at % dims];
            *axis = if lambda > 1e-13 * largest { *axis / lambda } else { 0.0 };
        }
    }

    pub(super) fn row(&self, x: &[f64]) -> Vec<f64> {
        let dims = self.axes.len() / self.mean.len();
        let away: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        let along = |q: usize| away.iter().enumerate().map(|(j, x)| x * self.axes[j * dims + q]).sum::<f64>();
        (0..dims).map(along).collect()
    }

    pub(super) fn place(&self, known: &Known<'_>, new: &Points) -> Result<Placed> {
        let rows = parallel::collect(new.rows(), |i| self.row(new.row(i)));
        let coordinates = Points::computed(new.rows(), known.map.cols(), rows.concat())?;
        let from_mean = |points: &Points, i: usize| Metric::Euclidean.distance(points.row(i), &self.mean);
        let most = |(points, _): (&Points, Metric)| parallel::largest(points.rows(), |i| from_mean(points, i));
        let reach = FAR * known.points.map_or(f64::INFINITY, most);
        let far = (0..new.rows()).filter(|&i| from_mean(new, i) > reach).collect();
        Ok(Placed { coordinates, far, deviations: None })
    }
}

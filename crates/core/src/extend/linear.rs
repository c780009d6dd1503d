//! Out-of-sample extension of linear maps: y = (x − x̄) U.

use super::checks::all_finite;
use super::{Extension, FAR, Inverse, Known, Sizes, Traits, TransformFn, Transformed};
use crate::coordinates::Map;
use crate::input::Data;
use eigenfold_graph::Metric;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use serde::{Deserialize, Serialize};

/// The mean of the training points and the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Linear {
    pub(crate) mean: Vec<f64>,
    /// U, one row per feature; available once the coordinates are.
    pub(crate) axes: Vec<f64>,
}

impl Extension for Linear {
    fn traits(&self) -> Traits {
        Traits::OF_FEATURES
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let entries = sizes.features.checked_mul(sizes.dims);
        let fitting = self.mean.len() == sizes.features && entries == Some(self.axes.len());
        fitting && all_finite(&self.mean) && all_finite(&self.axes)
    }

    fn prepare<'a>(&'a self, _known: Known<'a>) -> Result<TransformFn<'a>> {
        Ok(Box::new(|batch| Ok(batch.each(|new| self.row(new.row)))))
    }

    fn place(&self, known: &Known<'_>, new: &Points) -> Result<Option<Transformed>> {
        let coordinates = self.coordinates(new)?;
        Ok(Some(Transformed { coordinates, far: far_from(&self.mean, known, new), deviations: None }))
    }

    /// U = X̃ᵀ Y / λ, unless the axes are those of rows that are elsewhere.
    fn learn(&mut self, data: Data<'_>, map: &Map) {
        let Some(points) = data.points().filter(|_| self.axes.is_empty()) else { return };
        let (eigenvalues, map) = (&map.diagnostics.eigenvalues, &map.coordinates);
        let dims = map.cols();
        let largest = eigenvalues.first().copied().unwrap_or(0.0);
        self.axes = vec![0.0; points.cols() * dims];
        points.each_row(|i, row| {
            for (j, x) in row.iter().enumerate() {
                for (q, y) in map.row(i).iter().enumerate() {
                    self.axes[j * dims + q] += (x - self.mean[j]) * y;
                }
            }
        });
        for (at, axis) in self.axes.iter_mut().enumerate() {
            let lambda = eigenvalues[at % dims];
            *axis = if lambda > 1e-13 * largest { *axis / lambda } else { 0.0 };
        }
    }
}

impl Linear {
    pub(super) fn inverse(&self) -> Inverse<'_> {
        Inverse::Linear { mean: &self.mean, axes: self.axes.clone(), deviations: None }
    }

    /// The coordinates of rows.
    pub(crate) fn coordinates(&self, rows: &Points) -> Result<Points> {
        let placed = parallel::collect(rows.rows(), |i| self.row(&rows.point(i)));
        Points::computed(rows.rows(), self.axes.len() / self.mean.len(), placed.concat())
    }

    fn row(&self, x: &[f64]) -> Vec<f64> {
        let dims = self.axes.len() / self.mean.len();
        let away: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        let along = |q: usize| away.iter().enumerate().map(|(j, x)| x * self.axes[j * dims + q]).sum::<f64>();
        (0..dims).map(along).collect()
    }
}

/// The new rows that are much farther from the mean than any training row.
pub(super) fn far_from(mean: &[f64], known: &Known<'_>, new: &Points) -> Vec<usize> {
    let from_mean = |points: &Points, i: usize| Metric::Euclidean.distance(&points.point(i), mean);
    let most = |(points, _): (&Points, Metric)| parallel::largest(points.rows(), |i| from_mean(points, i));
    let reach = FAR * known.points.map_or(f64::INFINITY, most);
    (0..new.rows()).filter(|&i| from_mean(new, i) > reach).collect()
}

//! Export of an inverse transform as numbers, for programs without this library.
//!
//! The linear rule needs only these numbers; kriging also needs the data rows, the map and the formulas of
//! `kriging.rs`, `neighborhood.rs`, `calibration.rs` and `prediction.rs`. Numbers are in the user's units of the data
//! and the map; if columns were prepared, they refer to the prepared columns.

use super::InverseTransform;
use super::state::Ready;
use serde::{Deserialize, Serialize};

/// An inverse transform as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "rule")]
#[non_exhaustive]
pub enum Portable {
    /// x̄ + U y.
    Linear {
        /// x̄.
        mean: Vec<f64>,
        /// U, one row per feature and one column per coordinate, row after row.
        axes: Vec<f64>,
        /// The standard deviation of every feature, the same everywhere; 95 % half-widths are 1.96 times these.
        deviations: Vec<f64>,
    },
    /// Local kriging.
    Kriging {
        /// The maximum number of map points that an embedding point is predicted from.
        neighbors: usize,
        /// ℓ, in units of the median distance between these.
        length: f64,
        /// η, in units of the process variance.
        noise: f64,
        /// The unit of the data: roughness, spread and bases are in this unit.
        unit: f64,
        /// q̄ by its degrees of freedom; `None` if there were no rows to learn it from, so that `u[i]` is `v[i]`.
        roughness: Option<f64>,
        /// x̄.
        means: Vec<f64>,
        /// σ², the variance of every feature.
        spread: Vec<f64>,
        /// b of every feature.
        bases: Vec<f64>,
        /// w of the standard deviation and of the 95 % half-width of every feature, with the calibration factor if rows
        /// were held out.
        widths: Vec<[f64; 2]>,
        /// The component of every map point, if they were kept separate.
        components: Option<Vec<u32>>,
    },
}

impl InverseTransform<'_> {
    /// The inverse transform as numbers; `None` for a process or an objective.
    pub fn portable(&self) -> Option<Portable> {
        match &self.rule {
            Ready::Linear(by) => {
                let deviations = by.deviations.iter().map(|deviation| self.calibration_factor[0] * deviation).collect();
                Some(Portable::Linear { mean: by.mean.clone(), axes: by.axes.clone(), deviations })
            }
            Ready::Kriging(kriging) => Some(kriging.portable(&self.near, self.calibration_factor)),
            Ready::Energy(_) | Ready::Process(_) => None,
        }
    }
}

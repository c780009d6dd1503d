//! A way back as numbers, for programs that follow it without this library.
//!
//! Beside these numbers the linear rule needs nothing, and kriging the rows of data, the map and the formulas of `kriging.rs`,
//! `neighborhood.rs`, `widths.rs` and `at.rs`. Numbers are in the units of the data and the map as the user has them; where
//! columns were prepared, they are about the prepared columns.

use super::WayBack;
use super::state::Ready;
use eigenfold_linalg::power::times_two_to;
use serde::{Deserialize, Serialize};

/// What leads back, as numbers.
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
        /// The deviation of every feature, the same everywhere; margins are 1.96 times these.
        deviations: Vec<f64>,
    },
    /// Local kriging.
    Kriging {
        /// How many map points a place is predicted from at most.
        neighbors: usize,
        /// ℓ, in units of the median distance between these.
        length: f64,
        /// η, in units of the process variance.
        noise: f64,
        /// What numbers of the data are divided by; roughness, spread and bases are in this unit.
        unit: f64,
        /// q̄ by its degrees of freedom; nothing if there were no rows to learn it from, so that `u[i]` is `v[i]`.
        roughness: Option<f64>,
        /// x̄.
        means: Vec<f64>,
        /// σ², the variance of every feature.
        spread: Vec<f64>,
        /// b of every feature.
        bases: Vec<f64>,
        /// w of the deviation and of the margin of every feature, stretched if rows were held out.
        widths: Vec<[f64; 2]>,
        /// The component of every map point, if they were kept separate.
        components: Option<Vec<u32>>,
    },
}

impl WayBack<'_> {
    /// The way back as numbers; nothing for the ways by a process or an objective.
    pub fn portable(&self) -> Option<Portable> {
        let out = |power: i32, values: &[f64]| values.iter().map(|x| times_two_to(*x, power)).collect();
        match &self.rule {
            Ready::Linear(by) => {
                let deviations: Vec<f64> = by.deviations.iter().map(|deviation| self.stretch[0] * deviation).collect();
                Some(Portable::Linear {
                    mean: out(self.unit.data, &by.mean),
                    axes: out(self.unit.data - self.unit.map, &by.axes),
                    deviations: out(self.unit.data, &deviations),
                })
            }
            Ready::Kriging(kriging) => Some(kriging.portable(&self.near, self.unit.data, self.stretch)),
            Ready::Energy(_) | Ready::Process(_) => None,
        }
    }
}

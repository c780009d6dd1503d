//! Sammon's mapping: stress in which short distances have more weight.
//!
//! ```text
//! minimize E(Y) = (1 / Σ_{i<j} δ[i,j]) Σ_{i<j} (δ[i,j] − ‖y[i] − y[j]‖)² / δ[i,j]
//! ```
//!
//! It is [`Smacof`] with the weights 1/δ, and E is reported as published. Pairs of coinciding points have no weight;
//! Sammon divides by zero there.
//!
//! J. W. Sammon. A nonlinear mapping for data structure analysis. IEEE Transactions on Computers C-18(5), 1969.

use super::{DISTANCES, DISTANCES_AUTO, INIT, MAX_ITERATIONS, TOGETHER, TOLERANCE};
use super::{Smacof, StressDistances, StressInit, StressWeight};
use crate::field::scaling::mds::LANDMARKS;
use crate::field::{Build, Built, Info, Site};
use crate::parameter::{Choice, Kind, Parameter, Table, field};
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// Sammon's mapping.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sammon {
    /// The target distances; by default the direct ones, or for a supplied graph the distances along it.
    pub distances: Option<StressDistances>,
    /// How many points are embedded together; all of them by default.
    pub landmarks: Option<usize>,
    /// The start of the optimization.
    pub init: StressInit,
    /// The optimization stops when a step reduces the stress by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of evaluations.
    pub max_iterations: usize,
}

impl Default for Sammon {
    fn default() -> Sammon {
        let Smacof { distances, landmarks, init, tolerance, max_iterations, .. } = Smacof::default();
        Sammon { distances, landmarks, init, tolerance, max_iterations }
    }
}

impl Table for Sammon {
    const METHOD: &'static str = "sammon";
    const TABLE: &'static [Parameter<Sammon>] = &[
        Parameter::new("distances", DISTANCES, Kind::Choice(StressDistances::NAMES), field!(distances))
            .auto(DISTANCES_AUTO),
        Parameter::new("landmarks", LANDMARKS, Kind::at_least(3), field!(landmarks)).none(TOGETHER),
        Parameter::new("init", INIT, Kind::Choice(StressInit::NAMES), field!(init)),
        Parameter::new("tolerance", TOLERANCE, Kind::number(1e-15, 1.0), field!(tolerance)),
        Parameter::new("max-iterations", MAX_ITERATIONS, Kind::count(1, 1_000_000), field!(max_iterations)),
    ];
}

impl Build for Sammon {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["sammon-mapping", "sammons-mapping"],
            summary: "multidimensional scaling with more weight on short distances",
            title: "Sammon mapping",
            good_for: "distances kept as well as the dimension allows, short ones first",
            caution: "Distances that do not fit distort all others: every distance is slightly wrong.",
            paper: "Sammon 1969",
            ..self.as_stress().info()
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        self.as_stress().built(site, true)
    }
}

impl Sammon {
    fn as_stress(&self) -> Smacof {
        let Sammon { distances, landmarks, init, tolerance, max_iterations } = *self;
        let weight = StressWeight::Inverse;
        Smacof { distances, landmarks, init, tolerance, max_iterations, weight, ..Smacof::default() }
    }
}

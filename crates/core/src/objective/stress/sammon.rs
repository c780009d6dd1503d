//! Sammon's mapping: stress in which short distances count more.
//!
//! ```text
//! minimize E(Y) = (1 / Σ_{i<j} δ[i,j]) Σ_{i<j} (δ[i,j] − ‖y[i] − y[j]‖)² / δ[i,j]
//! ```
//!
//! It is [`Smacof`] with the weights 1/δ, and E is reported as it is printed. Pairs of points that coincide have no weight;
//! Sammon divides by zero there.
//!
//! J. W. Sammon. A nonlinear mapping for data structure analysis. IEEE Transactions on Computers C-18(5), 1969.

use super::{DISTANCES, DISTANCES_AUTO, INIT, MAX_ITERATIONS, TOGETHER, TOLERANCE};
use super::{Smacof, StressDistances, StressInit, StressWeight};
use crate::field::scaling::mds::LANDMARKS;
use crate::field::{Build, Built, Info, Lengths, Site};
use crate::input::Data;
use crate::parameter::{Choice, Kind, Parameter, Table, field};
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// Sammon's mapping.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sammon {
    /// Which distances the map is to have; if not given, the direct ones, or of a given graph those along it.
    pub distances: Option<StressDistances>,
    /// How many points are drawn together; all of them if not given.
    pub landmarks: Option<usize>,
    /// Where the descent starts.
    pub init: StressInit,
    /// The part of the stress that a step must gain, else the descent ends.
    pub tolerance: f64,
    /// How often the stress may be evaluated.
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
            summary: "the map whose distances differ least from the given ones, short ones counting more",
            title: "Sammon mapping",
            good_for: "distances kept as well as a plane can, short ones first",
            caution: "What does not fit into a plane is spread over all points: every distance is a little wrong.",
            paper: "Sammon 1969",
            ..self.as_stress().info()
        }
    }

    fn lengths(&self, _: Data<'_>) -> Option<Lengths> {
        Some(Lengths::COVARIANCE)
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

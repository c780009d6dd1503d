//! ReconstructionDiagnostics of the inverse transform of a model.

use super::kriging::CrossValidated;

/// ReconstructionDiagnostics of the inverse transform of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ReconstructionDiagnostics {
    /// The rule.
    pub rule: ReconstructionRule,
    /// How many training rows were used to evaluate it.
    pub rows: usize,
    /// The reconstruction error: the root of the squared prediction error over the squared distance from the mean; 0 is
    /// perfect, 1 no better than the mean; the contribution of a row is limited to the mean squared distance. With
    /// kriging each row is embedded and predicted by the others, and with the process it is predicted by them, on the
    /// map to which it contributed; [`Recipe::held_out_rows`](crate::Recipe::held_out_rows) fits the map without it.
    /// For the linear rule the error is in-sample.
    pub error: Option<f64>,
    /// The share of entries within their standard deviation (nominal 0.68) and within their 95 % half-width (0.95), for
    /// rows that were not used to set them.
    pub within: Option<[f64; 2]>,
    /// The mean log density of the entries, each in units of its feature's standard deviation.
    pub log_density: Option<f64>,
}

/// The rule that predicts data rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReconstructionRule {
    /// x̄ + U y.
    Linear,
    /// The method's own objective with one more point, for elastic embedding.
    Energy,
    /// The Gaussian process of the latent variable model.
    Process {
        /// The variance of its noise, in squared units of the data.
        noise: f64,
        /// The number of inducing points; `None` if the process is exact.
        inducing: Option<usize>,
    },
    /// Local kriging.
    Kriging {
        /// How many map points an embedding point is predicted from.
        neighbors: usize,
        /// The length scale of the covariance, in units of the median distance between these.
        length: f64,
        /// The variance of the noise, in units of the process variance.
        noise: f64,
    },
}

impl ReconstructionDiagnostics {
    pub(super) fn of(rule: ReconstructionRule, evaluated: Option<CrossValidated>) -> ReconstructionDiagnostics {
        ReconstructionDiagnostics {
            rule,
            rows: evaluated.map_or(0, |evaluated| evaluated.rows),
            error: evaluated.map(|evaluated| evaluated.error),
            within: evaluated.map(|evaluated| evaluated.within),
            log_density: evaluated.map(|evaluated| evaluated.log_density),
        }
    }
}

impl ReconstructionRule {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            ReconstructionRule::Linear => "linear",
            ReconstructionRule::Energy => "energy",
            ReconstructionRule::Process { .. } => "process",
            ReconstructionRule::Kriging { .. } => "kriging",
        }
    }
}

//! How a model leads back to data, and how well.

use super::kriging::Judged;

/// How a model leads back to data space, and how well.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What predicts.
    pub rule: BackRule,
    /// How many training rows judged it.
    pub rows: usize,
    /// The root of the squared error of their prediction over their squared distance from the mean: 0 is perfect, 1 no
    /// better than the mean; no row counts for more than the mean is off on average. By kriging each row is placed and
    /// predicted by the others, and by the process predicted by them, on the map that it helped to make; [`Recipe::held_out_rows`](crate::Recipe::held_out_rows)
    /// makes the map without it. The linear rule has seen them all.
    pub error: Option<f64>,
    /// The share of entries within their deviation (0.68 is right) and within their margin (0.95), of rows by which
    /// neither was set.
    pub within: Option<[f64; 2]>,
    /// The mean log density of the entries, each in units of its feature's standard deviation.
    pub log_density: Option<f64>,
}

/// What predicts data rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BackRule {
    /// x̄ + U y.
    Linear,
    /// The method's own objective with one more point, of elastic embedding.
    Energy,
    /// The Gaussian process of the latent variable model.
    Process {
        /// The variance of its noise, in squared units of the data.
        noise: f64,
        /// The inducing points through which it sees the training rows; all of them if there are none.
        inducing: Option<usize>,
    },
    /// Local kriging.
    Kriging {
        /// How many map points a place is predicted from.
        neighbors: usize,
        /// The length of the covariance, in units of the median distance between these.
        length: f64,
        /// The variance of the noise, in units of the process variance.
        noise: f64,
    },
}

impl Evidence {
    pub(super) fn of(rule: BackRule, judged: Option<Judged>) -> Evidence {
        Evidence {
            rule,
            rows: judged.map_or(0, |judged| judged.rows),
            error: judged.map(|judged| judged.error),
            within: judged.map(|judged| judged.within),
            log_density: judged.map(|judged| judged.log_density),
        }
    }
}

impl BackRule {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            BackRule::Linear => "linear",
            BackRule::Energy => "energy",
            BackRule::Process { .. } => "process",
            BackRule::Kriging { .. } => "kriging",
        }
    }
}

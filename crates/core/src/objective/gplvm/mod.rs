//! The Gaussian process latent variable model: positions at which a Gaussian process over the map explains the data best.
//!
//! ```text
//! K[i,j] = v exp(−½‖y[i] − y[j]‖²) + b + w [i = j]               one covariance for all p features
//! maximize  −½ p log det K − ½ tr K⁻¹X̃X̃ᵀ − ½ n p log 2π          over Y, v, b and w
//! ```
//!
//! The length of the process is the unit of the map: a map c times as large with a length c times as large is the same
//! process. A Gaussian prior on the positions adds −½ Σ ‖y[i]‖². With a linear covariance the maximum is the map of PCA; here
//! there are many, and the start decides which is found.
//!
//! N. D. Lawrence. Probabilistic non-linear principal component analysis with Gaussian process latent variable models.
//! Journal of Machine Learning Research 6, 2005. N. D. Lawrence. A unifying probabilistic perspective for spectral
//! dimensionality reduction. Journal of Machine Learning Research 13, 2012, section 2.3 (the dual view) and 4 (the score).

mod fit;
#[cfg(test)]
mod tests;

use super::start::{self, Init};
use crate::coordinates::descend::{Turn, unfinished};
use crate::error::Result;
use crate::field::{Build, Built, Info, InputKind, Site, Solved, Task, needs_points};
use crate::gp::NOISE_FLOOR;
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use crate::place::{Process, Rule};
use crate::points::Points;
use fit::Fit;
use serde::{Deserialize, Serialize};

/// A new row looks at the positions of so many training rows for a start.
const NEAR: usize = 5;

/// The Gaussian process latent variable model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gplvm {
    /// What is known of the positions before the data are seen.
    pub prior: GplvmPrior,
    /// Where the descent starts.
    pub init: GplvmInit,
    /// The log likelihood per cell of the data that twenty evaluations must gain, else the descent ends.
    pub tolerance: f64,
    /// How often the likelihood may be evaluated.
    pub max_iterations: usize,
}

impl Default for Gplvm {
    fn default() -> Gplvm {
        Gplvm { prior: GplvmPrior::Flat, init: GplvmInit::Best, tolerance: 1e-3, max_iterations: 500 }
    }
}

/// What is known of the positions before the data are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GplvmPrior {
    /// Nothing.
    #[default]
    Flat,
    /// Each is standard normal, in units of the length of the process.
    Gaussian,
}

/// Where the descent of the latent variable model starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GplvmInit {
    /// Isomap and the principal components; the likelier after a few steps goes on.
    #[default]
    Best,
    /// Isomap of 15 neighbors.
    Isomap,
    /// The first principal components.
    Pca,
    /// Laplacian eigenmaps of 15 neighbors.
    Spectral,
    /// At random, by the seed.
    Random,
}

choices! {
    GplvmPrior {
        Flat: "flat", "nothing";
        Gaussian: "gaussian", "each is standard normal, in units of the length of the process";
    }
}

choices! {
    GplvmInit {
        Best: "best", "isomap and pca, of which the likelier after a few steps goes on";
        Isomap: "isomap", "isomap of 15 neighbors";
        Pca: "pca", "the first principal components";
        Spectral: "spectral", "Laplacian eigenmaps of 15 neighbors";
        Random: "random", "at random, by the seed";
    }
}

const PRIOR: &str = "what is known of the positions before the data are seen";
const TOLERANCE: &str =
    "the log likelihood per cell of the data that twenty evaluations must gain, else the descent ends";

impl Table for Gplvm {
    const METHOD: &'static str = "gplvm";
    const TABLE: &'static [Parameter<Gplvm>] = &[
        Parameter::new("prior", PRIOR, Kind::Choice(GplvmPrior::NAMES), field!(prior)),
        Parameter::new("init", "where the descent starts", Kind::Choice(GplvmInit::NAMES), field!(init)),
        Parameter::new("tolerance", TOLERANCE, Kind::number(0.0, 1.0), field!(tolerance)),
        Parameter::new(
            "max-iterations",
            "how often the likelihood may be evaluated",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Build for Gplvm {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["gp-lvm", "gaussian-process-latent-variable-model"],
            summary: "positions at which a Gaussian process over the map explains the data best",
            stage: "objective",
            paper: "Lawrence 2005",
            accepts: &[InputKind::Points],
            needs_graph: false,
            uses_metric: false,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let points =
            site.ground.points().ok_or_else(|| needs_points(Self::METHOD, "mds and smacof embed distances"))?;
        let n = points.rows() as u64;
        // For each of two starts S, R, K, its inverse and what the factor needs.
        let starts = if self.init == GplvmInit::Best && site.start.is_none() { 2 } else { 1 };
        site.afford(
            "the covariance of all points",
            starts * 5 * 8 * n * n,
            "use `init` pca, embed a sample of the rows and place the others with `transform`, or raise `memory`",
        )?;
        let fit = Fit {
            prior: self.prior == GplvmPrior::Gaussian,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        };
        let fitted = fit.of(points, self.starts(site)?, site.observer)?;
        let map = Points::new(points.rows(), site.dims, fitted.places)?;
        let cells = fitted.cells;
        let solved = Solved {
            coordinates: Turn::of(&map)?.turned(&map)?,
            eigenvalues: Vec::new(),
            residuals: Vec::new(),
            objective: Some((fitted.objective / cells, fitted.report.gradient / cells)),
            curve: fitted.curve,
            solver: "L-BFGS".into(),
            iterations: fitted.evaluations,
        };
        let own = fitted.own;
        let process = Process { variance: own.variance, bias: own.bias, noise: own.noise, prior: fit.prior };
        let mut built = Built::of(Task::Solved(solved), Rule::Process(process));
        (built.log_likelihood, built.converged) = (Some(fitted.log_likelihood), fitted.converged);
        built.neighbors = Some(NEAR.min(points.rows() - 1));
        let told = start::told(site).unwrap_or(("init", fitted.start.to_string()));
        built.used.push(told);
        let shown = fitted.in_units;
        built.figures =
            vec![("process_variance", shown.variance), ("process_bias", shown.bias), ("process_noise", shown.noise)];
        if !fitted.converged {
            built.warnings.push(unfinished(&fitted.report));
        }
        if own.noise <= NOISE_FLOOR * (1.0 + 1e-9) {
            let fact = format!("the noise is at its floor, {NOISE_FLOOR:e} of the variance of the data");
            built.warnings.push(format!("{fact}: without it the likelihood would have no maximum"));
        }
        Ok(built)
    }
}

impl Gplvm {
    /// The maps to start from, by name.
    fn starts(&self, site: &Site<'_>) -> Result<Vec<(&'static str, Points)>> {
        let isomap = || {
            let own;
            let graph = match site.graph {
                Some(graph) => graph,
                None => {
                    own = start::usual_graph(site)?;
                    &own
                }
            };
            start::sized(&start::isomap(site, graph, site.len())?, site, 1.0)
        };
        let named = |init: Init| -> Result<_> { Ok(vec![(init.word(), init.start(site, 1.0)?)]) };
        match self.init {
            _ if site.start.is_some() => named(Init::Pca),
            GplvmInit::Best => Ok(vec![("isomap", isomap()?), ("pca", Init::Pca.start(site, 1.0)?)]),
            GplvmInit::Isomap => Ok(vec![("isomap", isomap()?)]),
            GplvmInit::Pca => named(Init::Pca),
            GplvmInit::Spectral => named(Init::Spectral),
            GplvmInit::Random => named(Init::Random),
        }
    }
}

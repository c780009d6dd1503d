//! The Gaussian process latent variable model: positions that maximize the likelihood of the data under a Gaussian
//! process.
//!
//! ```text
//! K[i,j] = v exp(−½‖y[i] − y[j]‖²) + b + w [i = j]               one covariance for all p features
//! maximize  −½ p log det K − ½ tr K⁻¹X̃X̃ᵀ − ½ n p log 2π          over Y, v, b and w
//! ```
//!
//! The length scale of the process is the unit of the map: a map c times as large with a length scale c times as large
//! is the same process. A Gaussian prior on the positions adds −½ Σ ‖y[i]‖². With a linear covariance the maximum is
//! the map of PCA; here there are many local maxima, and the start decides which one is reached. For many points a
//! lower bound of the likelihood is maximized, with a few inducing points that are optimized as well (`gp/sparse.rs`).
//!
//! N. D. Lawrence. Probabilistic non-linear principal component analysis with Gaussian process latent variable models.
//! Journal of Machine Learning Research 6, 2005. N. D. Lawrence. A unifying probabilistic perspective for spectral
//! dimensionality reduction. Journal of Machine Learning Research 13, 2012, section 2.3 (the dual view) and 4 (the score).
//! M. K. Titsias. Variational learning of inducing variables in sparse Gaussian processes. AISTATS 2009.

mod constraint;
mod fit;
mod negative;
mod order;
#[cfg(test)]
mod tests;

use super::start::{self, Init};
use crate::coordinates::descend::{Turn, unfinished, unmet};
use crate::ended::Ended;
use crate::extend::{Mapping, OnLine, Process, Rule};
use crate::field::{Basis, Build, Built, Info, InputKind, Site, Solved, Task, needs_points};
use crate::figure::Figure;
use crate::gp::problem::Problem;
use crate::gp::{GpParameters, NOISE_FLOOR};
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::RESIDUAL;
use eigenfold_linalg::error::{Error, Result};
use fit::Fit;
use serde::{Deserialize, Serialize};

/// The number of training positions that are candidates for the start of a new row.
const NEAR: usize = 5;
/// The maximum number of points for which the likelihood is exact by default.
const EXACT_POINTS: usize = 1000;
/// The default number of inducing points.
const INDUCING: usize = 100;

/// The Gaussian process latent variable model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gplvm {
    /// The kernel on the map.
    pub kernel: GplvmKernel,
    /// The prior of the positions.
    pub prior: GplvmPrior,
    /// The start of the optimization.
    pub init: GplvmInit,
    /// How many inducing points bound the likelihood; as many as there are points, or more, select the exact
    /// likelihood. By default it is exact up to 1,000 points, and uses 100 inducing points beyond.
    pub inducing: Option<usize>,
    /// Whether positions are a smooth function of the data, so that similar rows stay together.
    pub back_constraints: bool,
    /// The optimization stops when twenty evaluations improve the log likelihood per cell by less than this.
    pub tolerance: f64,
    /// The maximum number of evaluations.
    pub max_iterations: usize,
}

impl Default for Gplvm {
    fn default() -> Gplvm {
        Gplvm {
            kernel: GplvmKernel::Gaussian,
            prior: GplvmPrior::Flat,
            init: GplvmInit::Best,
            inducing: None,
            back_constraints: false,
            tolerance: 1e-3,
            max_iterations: 500,
        }
    }
}

/// The kernel on the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GplvmKernel {
    /// Squared exponential: the data are smooth functions of the position.
    #[default]
    Gaussian,
    /// Exponential, in one dimension and without noise: rough functions, and the maximum-likelihood order of the rows.
    Ou,
}

/// The prior of the positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GplvmPrior {
    /// Flat.
    #[default]
    Flat,
    /// Standard normal, in units of the length scale of the process.
    Gaussian,
}

/// The start of the optimization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GplvmInit {
    /// Isomap and the principal components; the better one after a few steps continues.
    #[default]
    Best,
    /// Isomap of 15 neighbors.
    Isomap,
    /// The first principal components.
    Pca,
    /// Laplacian eigenmaps of 15 neighbors.
    Spectral,
    /// Random, by the seed.
    Random,
}

choices! {
    GplvmKernel {
        Gaussian: "gaussian", "smooth functions of the coordinates, plus noise";
        Ou: "ou" or "ornstein-uhlenbeck", "rough functions of one coordinate, without noise; gives the maximum-likelihood order of the rows";
    }
}

choices! {
    GplvmPrior {
        Flat: "flat", "nothing";
        Gaussian: "gaussian", "standard normal, in units of the length scale of the process";
    }
}

choices! {
    GplvmInit {
        Best: "best", "isomap and pca; the better one after a few iterations is continued";
        Isomap: "isomap", "isomap of 15 neighbors";
        Pca: "pca", "the first principal components";
        Spectral: "spectral", "Laplacian eigenmaps of 15 neighbors";
        Random: "random", "random, by the seed";
    }
}

const KERNEL: &str = "the kernel on the map";
const BACK_CONSTRAINTS: &str =
    "whether the coordinates are a smooth function of the data, so that similar rows stay together";
const PRIOR: &str = "the prior of the coordinates";
const INDUCING_HELP: &str =
    "the number of inducing points of the lower bound; the number of points or more selects the exact likelihood";
const INDUCING_AUTO: &str = "exact up to 1,000 points, else 100";
const TOLERANCE: &str = "stop when 20 evaluations improve the log likelihood per cell by less than this";

impl Table for Gplvm {
    const METHOD: &'static str = "gplvm";
    const TABLE: &'static [Parameter<Gplvm>] = &[
        Parameter::new("kernel", KERNEL, Kind::Choice(GplvmKernel::NAMES), field!(kernel)),
        Parameter::new("prior", PRIOR, Kind::Choice(GplvmPrior::NAMES), field!(prior)).with("kernel", &["gaussian"]),
        Parameter::new("init", "the start of the optimization", Kind::Choice(GplvmInit::NAMES), field!(init)),
        Parameter::new("inducing", INDUCING_HELP, Kind::at_least(1), field!(inducing))
            .auto(INDUCING_AUTO)
            .with("kernel", &["gaussian"]),
        Parameter::new("back-constraints", BACK_CONSTRAINTS, Kind::Switch, field!(back_constraints))
            .with("kernel", &["gaussian"]),
        Parameter::new("tolerance", TOLERANCE, Kind::number(0.0, 1.0), field!(tolerance)).with("kernel", &["gaussian"]),
        Parameter::new(
            "max-iterations",
            "the maximum number of evaluations",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        )
        .with("kernel", &["gaussian"]),
    ];
}

impl Build for Gplvm {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["gp-lvm", "gaussian-process-latent-variable-model"],
            summary: "latent coordinates that maximize the likelihood of the data under a Gaussian process",
            title: "GP-LVM",
            good_for: "a smooth mapping from the latent coordinates to the data, with its uncertainty",
            caution: "Points close together on the map are similar, but similar points may lie far apart; other starts may give other maps.",
            basis: Basis::Objective,
            paper: "Lawrence 2005",
            accepts: &[InputKind::Points],
            needs_graph: false,
            uses_metric: false,
        }
    }

    fn has_density(&self) -> bool {
        true
    }

    fn without_standard_deviation(&self) -> Option<&'static str> {
        Some(match self.back_constraints {
            true => {
                "this gplvm map is a function of the data (back-constraints), which embeds a row without any uncertainty"
            }
            false => {
                "the density of this gplvm map (kernel ou) has a corner at every row, and so no standard deviation"
            }
        })
    }

    fn has_snapshots(&self) -> bool {
        false
    }

    /// The map is fitted with the field.
    fn efforts(&self) -> [f64; 3] {
        [1.0, 18.0, 1.0]
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let points = site.data.points().ok_or_else(|| needs_points(Self::METHOD, "mds and smacof embed distances"))?;
        match self.kernel {
            GplvmKernel::Gaussian => self.descended(site, points),
            GplvmKernel::Ou => self.ordered(site, points),
        }
    }
}

impl Gplvm {
    /// The positions at which the optimization of the likelihood ends.
    fn descended(&self, site: &Site<'_>, points: &Points) -> Result<Built> {
        let inducing = self.inducing(points.rows());
        self.afford(site, points, inducing)?;
        let fit = Fit {
            prior: self.prior == GplvmPrior::Gaussian,
            inducing,
            constrained: self.back_constraints,
            seed: site.seed,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        };
        let fitted = fit.of(points, self.starts(site)?, site.observer)?;
        let (n, d, cells) = (points.rows(), site.dims, fitted.cells);
        let map = Points::new(n, d, fitted.places)?;
        let turn = Turn::of(&map)?;
        let turned = |rows: Vec<f64>| turn.turned(&Points::new(rows.len() / d, d, rows)?);
        let mapping = fitted.mapping.map(|(width, weights)| -> Result<Mapping> {
            // Rotations are linear: that of a sum is the sum of the rotations, minus the origin once.
            let origin = turned(vec![0.0; d])?.into_values();
            let weights = turned(weights)?.into_values();
            let weights = weights.iter().enumerate().map(|(at, a)| a - origin[at % d]).collect();
            Ok(Mapping { width, weights: Points::new(n, d, weights)?, origin })
        });
        let own = fitted.own;
        let process = Process {
            variance: own.variance,
            bias: own.bias,
            noise: own.noise,
            prior: fit.prior,
            inducing: inducing.map(|_| turned(fitted.inducing)).transpose()?,
            mapping: mapping.transpose()?,
        };
        let solver = inducing.map(|m| format!("L-BFGS, a lower bound by {m} inducing points"));
        let solved = Solved {
            coordinates: turn.turned(&map)?,
            eigenvalues: Vec::new(),
            residuals: Vec::new(),
            tolerance: RESIDUAL,
            objective: Some((fitted.objective / cells, fitted.report.gradient / cells)),
            curve: fitted.curve,
            solver: solver.unwrap_or_else(|| "L-BFGS".into()),
            iterations: fitted.evaluations,
        };
        let mut built = Built::of(Task::Solved(solved), Rule::Process(process));
        built.log_likelihood = Some(fitted.log_likelihood);
        built.ended = if fitted.converged { Ended::Converged } else { unmet(fitted.report.ended) };
        built.neighbors = Some(NEAR.min(n - 1));
        let init = start::reported(site).unwrap_or(("init", fitted.start.to_string()));
        built.used = vec![init, ("inducing", inducing.map_or("none".into(), |m| m.to_string()))];
        let GpParameters { variance, bias, noise, .. } = fitted.in_units;
        built.figures =
            vec![(Figure::ProcessVariance, variance), (Figure::ProcessBias, bias), (Figure::ProcessNoise, noise)];
        if !fitted.converged {
            built.warnings.push(unfinished(&fitted.report));
        }
        if own.noise <= NOISE_FLOOR * (1.0 + 1e-9) {
            let fact = format!("the noise is at its floor, {NOISE_FLOOR:e} of the variance of the data");
            built
                .warnings
                .push(Warning::Likelihood(format!("{fact}: without it the likelihood would have no maximum")));
        }
        Ok(built)
    }

    /// The maximum-likelihood order of the rows on a line, and the gaps between them.
    fn ordered(&self, site: &Site<'_>, points: &Points) -> Result<Built> {
        let (n, dims) = (points.rows(), site.dims);
        if dims != 1 {
            let fact = format!("the Ornstein-Uhlenbeck process is for one coordinate, and {dims} were requested");
            return Err(Error::out_of_range("dims", dims, 1..=1, fact, "use `dims` 1, or `kernel` gaussian"));
        }
        let table = 8 * (n as u64 + 1) * (n as u64 + 1);
        site.afford("the values of all pairs of rows", table, "use `kernel` gaussian, or raise `memory`")?;
        let starts = self.starts(site)?;
        let problem = Problem::new(points, &starts[0].1, true)?;
        let order =
            |map: &Points| eigenfold_linalg::sort::ascending(&(0..n).map(|i| map.row(i)[0]).collect::<Vec<f64>>());
        let starts = starts.iter().map(|(name, map)| (*name, order(map))).collect();
        let more = self.init == GplvmInit::Best && site.start.is_none();
        let found = order::ordered(&problem, starts, more, site.observer)?;
        let map = Points::new(n, 1, found.places)?;
        let per_cell = |value: f64| -value / problem.cells();
        let solved = Solved {
            coordinates: Turn::of(&map)?.turned(&map)?,
            eigenvalues: Vec::new(),
            residuals: Vec::new(),
            tolerance: RESIDUAL,
            // At the optimal gaps the gradient of a path is zero.
            objective: Some((per_cell(found.log_likelihood), 0.0)),
            curve: (1..).zip(found.curve.iter().map(|value| per_cell(*value))).collect(),
            solver: "2-opt and or-opt".into(),
            iterations: found.curve.len(),
        };
        let mut built = Built::of(Task::Solved(solved), Rule::OnLine(OnLine { variance: found.variance }));
        built.log_likelihood = Some(found.log_likelihood);
        built.ended = Ended::of(found.converged, site.observer.stop());
        built.neighbors = Some(NEAR.min(n - 1));
        built.used.push(start::reported(site).unwrap_or(("init", found.start.to_string())));
        built.figures = vec![(Figure::ProcessVariance, found.variance * problem.unit() * problem.unit())];
        if found.tight > 0 {
            let fact = format!("{} of {} gaps at their floor", found.tight, n - 1);
            built.warnings.push(Warning::Likelihood(format!(
                "{fact}: equal or nearly equal rows would be infinitely likely at one coordinate"
            )));
        }
        if !found.converged {
            built.warnings.push(Warning::NotConverged("the path still changed when the search ended".into()));
        }
        Ok(built)
    }

    /// The number of inducing points; `None` for the exact likelihood.
    fn inducing(&self, n: usize) -> Option<usize> {
        match self.inducing {
            Some(m) => (m < n).then_some(m),
            None => (n > EXACT_POINTS).then_some(INDUCING),
        }
    }

    fn afford(&self, site: &Site<'_>, points: &Points, inducing: Option<usize>) -> Result<()> {
        let (n, p) = (points.rows() as u64, points.cols() as u64);
        let starts = if self.init == GplvmInit::Best && site.start.is_none() { 2 } else { 1 };
        if self.back_constraints {
            // K, its factor, and the workspace of the factorization.
            site.afford(
                "the kernel of the back-constraints",
                starts * 3 * 8 * n * n,
                "leave them out, or raise `memory`",
            )?;
        }
        let Some(m) = inducing.map(|m| m as u64) else {
            // For each start S, R, K, its inverse and the workspace of the factor.
            let way_out = format!("use `inducing` {INDUCING}, or raise `memory`");
            return site.afford("the covariance of all points", starts * 5 * 8 * n * n, &way_out);
        };
        // For each start the data, the steps that the optimizer stores, and the sums of 64 blocks of points.
        let needed = starts * 8 * (n * (p + 44 * site.dims as u64) + 64 * m * (m + p + 1));
        site.afford("the data and the sums of the inducing points", needed, "use `init` pca, or raise `memory`")
    }

    /// The starting maps, by name.
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
            start::sized(&start::isomap(site, graph)?, site, 1.0)
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

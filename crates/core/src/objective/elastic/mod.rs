//! Elastic embedding: attraction between neighbors, and a repulsion of all points that decays with their distance on
//! the map.
//!
//! ```text
//! E(X; λ) = Σ w⁺[n,m] ‖x[n] − x[m]‖² + λ Σ w⁻[n,m] exp(−‖x[n] − x[m]‖²)          (6), over ordered pairs
//! G(X; λ) = 4 (L⁺ − λ L̃⁻) X                                                    (8)
//! ```
//!
//! w⁺ are Gaussian or entropic affinities of neighbors, w⁻ = ‖y[n] − y[m]‖² or 1. The direction of every step is −(4
//! L⁺)⁻¹ G by one sparse factor (the spectral direction), if its predicted cost is low enough; close to a minimum, or
//! without the factor, limited-memory BFGS continues in the same metric, or in that of the degrees.
//!
//! λ may be a path (homotopy): from just above the λ₁* at which the map leaves the origin, to its last value.
//!
//! M. Á. Carreira-Perpiñán. The elastic embedding algorithm for dimensionality reduction. ICML 2010.

pub(super) mod affinities;
mod cost;
mod critical;
mod lambda;

pub use lambda::Lambda;

use super::interaction::{Form, Interaction};
use super::neighborhood::{AUTO, Affinities, FORM as PERPLEXITY, Perplexity};
use super::start::{self, Init};
use crate::extend::{AffinityRule, Attracted, Away, Measure, RepulsionForm, Rule};
use crate::field::scaling::pca::Pca;
use crate::field::{Basis, Build, Built, Descend, Info, InputKind, Nearest, Site, Task, Way, shown};
use crate::figure::Figure;
use crate::forces::repulsion::{Accuracy, Charges, RepulsionSum};
use crate::forces::{AttractionKernel, Kernel, Pairs, Shape};
use crate::input::Data;
use crate::kernel::heat::{GLOBAL, heat, typical_length};
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use crate::warning::Warning;
use cost::cost;
use critical::{Critical, critical};
use eigenfold_graph::Graph;
use eigenfold_graph::points::Points;
use eigenfold_linalg::SparseSymmetric;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::optimize::{Emphasized, Fixed};
use eigenfold_linalg::sparse::cholesky::{Analysis, Cholesky};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// The maximum number of multiplications of a factor.
const MOST_FLOPS: f64 = 1e11;
/// Steps at every λ of a path but the last.
const ON_THE_WAY: usize = 10;
/// Steps in the fixed metric at the last λ, before limited-memory BFGS takes over.
const FIRST: usize = 60;
/// The optimization stops when a step moves the map by less than this fraction of its size.
const STILL: f64 = 1e-8;
/// The default λ n (mean w⁻) / (mean degree).
const STRENGTH: f64 = 4e4;
/// The same where w⁻ = 1.
const STRENGTH_OF_ONE: f64 = 500.0;
/// The spacing of the grid.
const SPACING: f64 = 0.5;
/// Up to this many points the repulsion is summed pair by pair by default.
const EXACT: usize = 4000;
/// Above this many features the charges use this many principal components of the squared distances.
const MOST_CHARGES: usize = 16;
/// The suggestion if the cost is too high.
const WAY_OUT: &str =
    "use `accuracy` fast with `repulsion` one, fewer `max-iterations`, or another method such as umap";
/// The standard deviation of a random start.
const SMALL: f64 = 0.1;

/// The attractive weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Attraction {
    /// exp(−d²/2σ²) on the edges of the neighborhood graph.
    #[default]
    Heat,
    /// The entropic affinities of a perplexity, as in SNE.
    Entropic,
}

choices! {
    Attraction {
        Heat: "heat" or "gaussian", "exp(-d^2 / 2 sigma^2) between neighbors";
        Entropic: "entropic", "the affinities of SNE, by perplexity";
    }
}

/// The weight of the repulsion between two points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Repulsion {
    /// The squared distance of the points.
    #[default]
    Squared,
    /// 1.
    One,
}

choices! {
    Repulsion {
        Squared: "squared", "by their squared distance; equal weights if the input has no Euclidean distances";
        One: "one", "all alike";
    }
}

/// The start of the optimization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ElasticInit {
    /// Isomap with landmarks, rescaled.
    #[default]
    Isomap,
    /// Laplacian eigenmaps, rescaled.
    Spectral,
    /// The first principal components, rescaled.
    Pca,
    /// Random, by the seed.
    Random,
}

choices! {
    ElasticInit {
        Isomap: "isomap", "isomap with landmarks, at the optimal scale";
        Spectral: "spectral", "Laplacian eigenmaps, at the optimal scale";
        Pca: "pca", "the first principal components, at the optimal scale";
        Random: "random", "random, by the seed";
    }
}

/// Elastic embedding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elastic {
    /// The attractive weights.
    pub attraction: Attraction,
    /// σ of the attractive weights; by default the root mean square neighbor distance.
    pub bandwidth: Option<f64>,
    /// The effective number of neighbors of entropic affinities.
    pub perplexity: Perplexity,
    /// The weight of the repulsion.
    pub repulsion: Repulsion,
    /// λ, or a path of them.
    pub lambda: Lambda,
    /// How the repulsion is summed; by default pair by pair up to 4000 points, and fast beyond.
    pub accuracy: Option<Accuracy>,
    /// The start of the optimization.
    pub init: ElasticInit,
    /// The optimization stops when two steps in a row reduce the objective by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of evaluations.
    pub max_iterations: usize,
}

impl Default for Elastic {
    fn default() -> Elastic {
        Elastic {
            attraction: Attraction::Heat,
            bandwidth: None,
            perplexity: Perplexity::default(),
            repulsion: Repulsion::Squared,
            lambda: Lambda::Auto,
            accuracy: None,
            init: ElasticInit::Isomap,
            tolerance: 1e-9,
            max_iterations: 1000,
        }
    }
}

impl Table for Elastic {
    const METHOD: &'static str = "elastic";
    const TABLE: &'static [Parameter<Elastic>] = &[
        Parameter::new("attraction", "the attractive weights", Kind::Choice(Attraction::NAMES), field!(attraction)),
        Parameter::new("bandwidth", "sigma of the attraction", Kind::positive(), field!(bandwidth))
            .auto(GLOBAL)
            .with("attraction", &["heat"]),
        Parameter::new(
            "perplexity",
            "the effective number of neighbors",
            Kind::Text { form: PERPLEXITY },
            field!(perplexity),
        )
        .auto(AUTO)
        .with("attraction", &["entropic"]),
        Parameter::new("repulsion", "the weights of the repulsion", Kind::Choice(Repulsion::NAMES), field!(repulsion)),
        Parameter::new("lambda", "the strength of the repulsion", Kind::Text { form: lambda::FORM }, field!(lambda))
            .auto("chosen to balance the attraction and the repulsion of an average point"),
        Parameter::new(
            "accuracy",
            "how the repulsive forces are summed",
            Kind::Choice(Accuracy::NAMES),
            field!(accuracy),
        )
        .auto("exact up to 4,000 points, fast beyond"),
        Parameter::new("init", "the start of the optimization", Kind::Choice(ElasticInit::NAMES), field!(init)),
        Parameter::new(
            "tolerance",
            "stop when two iterations reduce the objective by less than this fraction",
            Kind::number(0.0, 1.0),
            field!(tolerance),
        ),
        Parameter::new(
            "max-iterations",
            "the maximum number of evaluations",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Build for Elastic {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["elastic-embedding", "ee"],
            summary: "elastic embedding: attraction between neighbors, repulsion between all points",
            title: "Elastic embedding",
            good_for: "manifolds or groups spread evenly, between Laplacian eigenmaps and SNE",
            caution: "Density is evened out: dense regions of the data look as wide as sparse ones.",
            basis: Basis::Objective,
            paper: "Carreira-Perpinan 2010",
            accepts: InputKind::ALL,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn nearest(&self, data: Data<'_>) -> Result<Option<Nearest>> {
        if self.attraction == Attraction::Entropic { self.perplexity.nearest(data) } else { Ok(None) }
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let (n, dims, graph) = (site.len(), site.dims, site.graph()?);
        let weights = AttractiveWeights::new(self, site, graph)?;
        let accuracy = self.accuracy.unwrap_or(if n <= EXACT { Accuracy::Exact } else { Accuracy::Fast });
        let (charges, off) = self.charges(site, accuracy)?;
        let laplacian = weights.laplacian();
        let factor = factored(&laplacian, site.memory)?;
        // λ and its critical value are reported in the units of the data; the weights have internal units.
        let unit = charges.unit();
        let critical = factor.as_ref().map(|factor| critical(&laplacian, factor, &charges)).transpose()?;
        let critical = critical.map(|critical| critical.in_units_of(unit));
        let strength = if matches!(charges, Charges::One(_)) { STRENGTH_OF_ONE } else { STRENGTH };
        let auto = strength * weights.mean_degree() / (n as f64 * charges.mean()) / unit / unit;
        let lambdas = self.lambda.values(auto, critical.map(|critical| critical.value))?;
        let last = lambdas[lambdas.len() - 1];
        let squared = matches!(charges, Charges::Squares(_));

        let repulsion = RepulsionSum::of(Kernel::Gaussian, n, dims, SPACING, accuracy);
        let what = format!("an elastic embedding of {n} points");
        cost(&repulsion, &charges, self.max_iterations).announce(site.observer, &what, WAY_OUT);
        let degrees = weights.pairs.degrees();
        let mut energy =
            Interaction::new(weights.pairs, AttractionKernel::Square, repulsion, Form::Sum(last * unit * unit), dims);
        energy.charges = charges;
        let start = self.start(site, graph, &mut energy, last / lambdas[0])?;
        let way = match factor {
            Some(factor) => {
                let steps =
                    |at: usize| if at + 1 == lambdas.len() { FIRST.min(self.max_iterations) } else { ON_THE_WAY };
                let path = lambdas.iter().enumerate().map(|(at, lambda)| (last / lambda, steps(at))).collect();
                Way::Fixed { fixed: Fixed { path, step: STILL }, metric: Box::new(Metric { factor, dims }) }
            }
            None => Way::QuasiNewton { diagonal: Some(degrees.iter().map(|degree| 4.0 * degree).collect()) },
        };
        let quasi_newton = matches!(way, Way::QuasiNewton { .. });
        let task = Task::Descend(Descend {
            objective: Box::new(energy),
            start,
            unit: 1.0,
            way,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            snapshots: 0,
        });

        let repulsion = if squared { RepulsionForm::Squares(last) } else { RepulsionForm::Sum(last) };
        let away = squared.then_some(Away { measure: Measure::Metric, landmarks: None });
        let rule = Attracted {
            affinity: weights.affinity,
            attraction: AttractionKernel::Square,
            shape: Shape::Gaussian,
            repulsion,
            away,
        };
        let mut built = Built::of(task, Rule::Attracted(rule));
        (built.used, built.neighbors) = (weights.used, weights.neighbors);
        built.used.push(("lambda", shown(last)));
        built.used.extend(start::reported(site));
        if !squared {
            built.used.push(("repulsion", Repulsion::One.word().into()));
        }
        if quasi_newton && lambdas.len() > 1 {
            built.warnings.push(Warning::Parameter(
                "the path of `lambda` was left out: the factor of the attractive weights has too much fill-in".into(),
            ));
        }
        built.figures = critical.map_or(Vec::new(), figures);
        built.figures.extend(off.map(|off| (Figure::RepulsionProjectionError, off)));
        Ok(built)
    }
}

/// What is said of the critical value.
fn figures(critical: Critical) -> Vec<(Figure, f64)> {
    let Critical { value, lower, upper } = critical;
    vec![(Figure::CriticalLambda, value), (Figure::CriticalLambdaLower, lower), (Figure::CriticalLambdaUpper, upper)]
}

/// The factor of L⁺ if its cost is low enough. Constants are in its null space, so that one point is grounded; the
/// solution is unchanged for a gradient that sums to zero.
fn factored(laplacian: &SparseSymmetric, memory: u64) -> Result<Option<Cholesky>> {
    let analysis = Analysis::new(laplacian)?;
    if analysis.flops > MOST_FLOPS || analysis.memory() > memory {
        return Ok(None);
    }
    let diagonal = laplacian.diagonal();
    let mean = diagonal.iter().sum::<f64>() / diagonal.len() as f64;
    analysis.factor(&laplacian.with_added(0, mean), 0.0)
}

/// (4 L⁺)⁻¹.
struct Metric {
    factor: Cholesky,
    dims: usize,
}

impl eigenfold_linalg::optimize::Metric for Metric {
    fn solve(&self, v: &mut [f64]) {
        let (n, dims) = (v.len() / self.dims, self.dims);
        let mut rows = Mat::from_fn(n, dims, |i, q| 0.25 * v[i * dims + q]);
        self.factor.solve(rows.as_mut());
        // The position of the map is irrelevant: it is kept.
        for q in 0..dims {
            let mean = (0..n).map(|i| rows[(i, q)]).sum::<f64>() / n as f64;
            (0..n).for_each(|i| rows[(i, q)] -= mean);
        }
        v.iter_mut().enumerate().for_each(|(at, v)| *v = rows[(at / dims, at % dims)]);
    }
}

/// The attraction, and its rule for new points.
struct AttractiveWeights {
    pairs: Pairs<f64>,
    affinity: AffinityRule,
    used: Vec<(&'static str, String)>,
    neighbors: Option<usize>,
}

impl AttractiveWeights {
    fn new(method: &Elastic, site: &Site<'_>, graph: &Graph) -> Result<AttractiveWeights> {
        if method.attraction == Attraction::Entropic {
            let affinities = Affinities::new(site, &method.perplexity)?;
            let used = vec![("perplexity", affinities.perplexity.to_string())];
            let pairs = Pairs::symmetric(&affinities.graph, &affinities.weights, |a, b| 0.5 * (a + b));
            let neighbors = Some((affinities.graph.edge_count() / site.len()).max(1));
            let affinity = AffinityRule::Perplexity(affinities.perplexity.0);
            return Ok(AttractiveWeights { pairs, affinity, used, neighbors });
        }
        let width = method.bandwidth.map_or_else(|| typical_length(graph), Ok)?;
        let weights: Vec<f64> = graph.all_lengths().iter().map(|&length| heat(length, width)).collect();
        let used = vec![("bandwidth", shown(width))];
        let (pairs, affinity) = (Pairs::symmetric(graph, &weights, f64::max), AffinityRule::Heat(width));
        Ok(AttractiveWeights { pairs, affinity, used, neighbors: None })
    }

    fn mean_degree(&self) -> f64 {
        self.pairs.weights.iter().sum::<f64>() / self.pairs.len() as f64
    }

    fn laplacian(&self) -> SparseSymmetric {
        let (mut ends, mut weights) = (Vec::new(), Vec::new());
        for i in 0..self.pairs.len() {
            let (targets, own) = self.pairs.row(i);
            for (&j, &weight) in targets.iter().zip(own).filter(|(j, _)| i < **j as usize) {
                ends.push((i as u32, j));
                weights.push(weight);
            }
        }
        SparseSymmetric::laplacian(self.pairs.len(), &ends, &weights, 0.0)
    }
}

impl Elastic {
    /// The weights of the repulsion, and their relative error if there are more features than charges.
    fn charges(&self, site: &Site<'_>, accuracy: Accuracy) -> Result<(Charges, Option<f64>)> {
        let (Repulsion::Squared, Data::Points(points, eigenfold_graph::Metric::Euclidean)) =
            (self.repulsion, site.data)
        else {
            return Ok((Charges::One(site.len()), None));
        };
        if accuracy == Accuracy::Exact || points.cols() <= MOST_CHARGES {
            return Ok((Charges::squares(points, points), None));
        }
        let mut built = Pca::default().build(site)?;
        let most = MOST_CHARGES.min(points.rows() - 1);
        let shown = site.map(&mut built.task, most)?.coordinates;
        let charges = Charges::squares(points, &shown);
        let off = charges.error(points);
        Ok((charges, Some(off)))
    }

    fn start(&self, site: &Site<'_>, graph: &Graph, energy: &mut Interaction<f64>, emphasis: f64) -> Result<Points> {
        if site.start.is_some() {
            return Init::Pca.start(site, 1.0).and_then(|start| rescaled(&start, energy, emphasis));
        }
        let start = match self.init {
            ElasticInit::Random => return Init::Random.start(site, SMALL),
            ElasticInit::Isomap => start::isomap(site, graph)?,
            ElasticInit::Spectral => Init::Spectral.start(site, 1.0)?,
            ElasticInit::Pca => Init::Pca.start(site, 1.0)?,
        };
        rescaled(&start, energy, emphasis)
    }
}

/// The start, scaled to minimum energy: doubled from a small scale while the energy falls, then searched.
fn rescaled(start: &Points, energy: &mut Interaction<f64>, emphasis: f64) -> Result<Points> {
    let most = start.values().iter().fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
    let mut gradient = vec![0.0; start.values().len()];
    let mut at = |log: f64| {
        let y: Vec<f64> = start.values().iter().map(|v| v / most * f64::exp(log)).collect();
        energy.value(&y, emphasis, &mut gradient)
    };
    let (mut best, mut step) = ((0.0, at(0.0)), 2f64.ln());
    loop {
        let next = (best.0 + step, at(best.0 + step));
        // Stops at overflow, which would otherwise be followed forever.
        if next.1.is_nan() || next.1 >= best.1 {
            break;
        }
        best = next;
    }
    while step > 0.05 {
        step *= 0.5;
        for log in [best.0 - step, best.0 + step] {
            let value = at(log);
            if value < best.1 {
                best = (log, value);
                break;
            }
        }
    }
    let factor = best.0.exp() / most;
    Points::new(start.rows(), start.cols(), start.values().iter().map(|v| v * factor).collect())
}

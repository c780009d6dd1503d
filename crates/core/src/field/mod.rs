//! Stage 2: the Gaussian field over the points.
//!
//! A method specifies either the precision of the field (sparse, such as a Laplacian) or its covariance (given by
//! products with vectors). Each method is one file: a parameter struct that implements [`Build`], with a
//! [`Table`](crate::parameter::Table) of its parameters.

pub(crate) mod entropy;
mod explained;
mod info;
pub(crate) mod laplacian;
pub(crate) mod latent;
pub(crate) mod local;
pub(crate) mod scaling;
mod site;
pub(crate) mod unfolding;

pub(crate) use eigenfold_graph::Weight;
pub use entropy::drill::penalty::Penalty;
pub use entropy::drill::{LearnedGraph, PathStep};
pub use entropy::meu::MeuVariant;
pub use explained::Explained;
pub use info::{Basis, Info};
pub use laplacian::affinity::{Affinity, Mutual};
pub use laplacian::eigenmaps::{EdgeWeight, LaplacianVariant};
pub use latent::em::EmStart;
pub use latent::pkpca::PkpcaSolver;
pub use latent::ppca::LatentSolver;
pub use latent::ppco::PpcoSolver;
pub use local::alle::Ordering;
pub use local::lle::LleVariant;
pub use site::{Nearest, Regraph, Site};

use crate::ended::Ended;
use crate::extend::Rule;
use crate::field::unfolding::Certificate;
use crate::figure::Figure;
use crate::input::Data;
use crate::parameter::{Parameters, short};
use crate::warning::Warning;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::paths::swept::SweptGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Neighbors, Search};
use eigenfold_linalg::eigen::factor::Factor;
use eigenfold_linalg::error::{Result, bytes};
use eigenfold_linalg::optimize::{self, Emphasized, Fixed, Momentum};
use eigenfold_linalg::sparse::locality::positions;
use eigenfold_linalg::{Operator, Root, SparseSymmetric};
use std::borrow::Cow;
use std::panic::{RefUnwindSafe, UnwindSafe};

pub(crate) use crate::input::InputKind;
pub(crate) use crate::input::needs_points;

/// A Gaussian field over the points.
pub enum Field {
    /// The inverse covariance, sparse; constant vectors may be in its null space.
    Precision {
        /// The precision A.
        matrix: SparseSymmetric,
        /// The point of each row of A, where those of many points are in an order of locality; else row i is point i.
        order: Option<Vec<u32>>,
        /// The normalization matrix M of the eigenproblem A y = λ M y, point by point; the identity if absent.
        normalization: Option<Vec<f64>>,
        /// The length of each coordinate.
        scale: CoordinateScale,
    },
    /// The inverse covariance by its triangular root, with constants in its null space; its coordinates have
    /// [`CoordinateScale::Unit`].
    Root(Root),
    /// The inverse covariance of each of p features, sparse and positive definite. Constants are not in its null space,
    /// so its covariance is centered, over all features.
    Definite {
        /// The precision.
        matrix: SparseSymmetric,
        /// p.
        features: f64,
    },
    /// The covariance F Fᵀ of a factor with one row per point and columns of mean zero.
    Factor(Box<dyn Factor>),
    /// A covariance given by its product with vectors, rows and columns of mean zero.
    Covariance(Box<dyn Operator>),
}

impl Field {
    /// Whether the inverse covariance of all n points is known, as opposed to the covariance, or that of landmarks
    /// alone.
    pub(crate) fn is_precision_of(&self, n: usize) -> bool {
        match self {
            Field::Precision { matrix, .. } | Field::Definite { matrix, .. } => matrix.dim() == n,
            Field::Root(root) => root.dim() == n,
            Field::Factor(_) | Field::Covariance(_) => false,
        }
    }
}

/// A precision with its rows in the order of the points.
pub(crate) fn by_points<'a>(matrix: &'a SparseSymmetric, order: Option<&[u32]>) -> Cow<'a, SparseSymmetric> {
    order.map_or(Cow::Borrowed(matrix), |order| Cow::Owned(matrix.reordered(&positions(order), None)))
}

/// The length of a coordinate from an eigenvector of a precision, in units of mean square one (in the normalization
/// matrix).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoordinateScale {
    /// One: the precision fixes directions, not lengths.
    Unit,
    /// One, of M^½ y instead of y: the eigenvector of M^(−½) A M^(−½), which is not centered.
    Symmetric,
    /// (1 − λ)ᵗ: what remains of the direction after a diffusion of time t.
    Diffusion(f64),
    /// √(p/λ) in units of length one: the standard deviation over p features, for a field fitted to distances.
    Covariance(f64),
}

/// The task of stage 3: how the coordinates are computed.
pub enum Task {
    /// Eigenvectors of a field, over all points or over the landmarks.
    Spectral(Field),
    /// The minimization of an objective.
    Descend(Descend),
    /// Nothing more: the fit of the field yields the coordinates.
    Solved(Solved),
}

/// Coordinates that result from the fit of a field, over all points.
pub struct Solved {
    /// One row per point.
    pub coordinates: Points,
    /// The eigenvalues of the coordinates, then some further ones with lower accuracy; empty for an optimization.
    pub eigenvalues: Vec<f64>,
    /// The backward error of each eigenpair.
    pub residuals: Vec<f64>,
    /// The largest acceptable backward error of the coordinates' eigenpairs.
    pub tolerance: f64,
    /// The minimum and the largest entry of its gradient, if it was an optimization.
    pub objective: Option<(f64, f64)>,
    /// Objective values along the way: number of steps, value; empty if there is no observer.
    pub curve: Vec<(usize, f64)>,
    /// The solver, in a few words.
    pub solver: String,
    /// The number of passes over the data.
    pub iterations: usize,
}

/// A function of the coordinates, stored row by row.
pub trait Energy: Emphasized + Send {
    /// A value in the units of the data.
    fn in_units(&self, value: f64) -> f64 {
        value
    }

    /// The strength of the repulsion relative to the attraction, where it is a parameter of the method.
    fn strength(&self, emphasis: f64) -> Option<f64> {
        let _ = emphasis;
        None
    }

    /// What else there is to say of a value, at those coordinates.
    fn figures(&mut self, y: &[f64], value: f64) -> Vec<(Figure, f64)> {
        let _ = (y, value);
        Vec::new()
    }

    /// The affinities on that map, the attractive minus the repulsive weights, where the method defines them.
    fn affinities(&self, y: &[f64]) -> Option<Vec<Weight>> {
        let _ = y;
        None
    }

    /// The transformation of the given distances, as (given, on the map), both ascending, where the objective chose it;
    /// call after [`Energy::figures`].
    fn disparities(&self) -> Vec<(f64, f64)> {
        Vec::new()
    }

    /// What the user should know.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// The name of the optimizer, in a few words.
    fn solver(&self) -> String;
}

/// An objective, the start of its optimization and the optimizer.
pub struct Descend {
    /// The objective.
    pub objective: Box<dyn Energy>,
    /// One row per point.
    pub start: Points,
    /// The unit of length in which the objective sees the coordinates.
    pub unit: f64,
    /// The direction and the length of a step.
    pub way: Way,
    /// The optimization stops when the objective falls by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of evaluations.
    pub max_iterations: usize,
    /// How many snapshots are kept: about this many, or one for every emphasis of a path.
    pub snapshots: usize,
}

/// The optimizer.
pub enum Way {
    /// By limited-memory BFGS, with a line search.
    QuasiNewton {
        /// An approximation of the curvature: one number per point.
        diagonal: Option<Vec<f64>>,
    },
    /// With momentum, on a schedule.
    Momentum(Momentum),
    /// In a fixed metric.
    Fixed {
        /// The emphases along the path.
        fixed: Fixed,
        /// The metric.
        metric: Box<dyn optimize::Metric>,
    },
}

/// What a method built.
pub struct Built {
    /// The task of stage 3.
    pub task: Task,
    /// How new points are embedded.
    pub rule: Rule,
    /// The geodesics of the landmarks, if the rule embeds the other points by them.
    pub(crate) geodesics: Option<LandmarkGeodesics>,
    /// The same without a table of them, for many points.
    pub(crate) swept: Option<SweptGeodesics>,
    /// The log likelihood of the points under the field alone, if the method maximizes or computes it.
    pub log_likelihood: Option<f64>,
    /// The fitted edges by their ends, if the method has a multiplier for each ([`Build::has_weights`]).
    pub weights: Option<Vec<Weight>>,
    /// Bounds that can be verified independently, if the method has them.
    pub certificate: Option<Certificate>,
    /// What an optimizer has to show for itself, by name: its duality gap, how many edges are active, ...
    pub figures: Vec<(Figure, f64)>,
    /// How its solver ended.
    pub ended: Ended,
    /// The penalties that were tried, if a path was requested.
    pub path: Vec<PathStep>,
    /// How many neighbors a new point gets, if not as many as the graph gives on average.
    pub neighbors: Option<usize>,
    /// The explained variance of the coordinates, where stage 3 cannot compute it.
    pub explained: Option<Explained>,
    /// Parameters with the default `auto`, as the method chose them.
    pub used: Vec<(&'static str, String)>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

impl Built {
    /// How many neighbors a new point gets: the mean degree of the graph, unless the method specifies it.
    pub(crate) fn neighbors_of(&self, graph: Option<&Graph>) -> usize {
        let usual = || graph.map_or(1, |graph| (graph.edge_count() / graph.len()).max(1));
        self.neighbors.unwrap_or_else(usual)
    }

    /// The field, where stage 3 takes its eigenvectors.
    pub fn field(&self) -> Option<&Field> {
        match &self.task {
            Task::Spectral(field) => Some(field),
            Task::Descend(_) | Task::Solved(_) => None,
        }
    }

    /// A field and its rule, without diagnostics.
    pub fn new(field: Field, rule: impl Into<Rule>) -> Built {
        Built::of(Task::Spectral(field), rule)
    }

    /// A task and its rule, without diagnostics.
    pub fn of(task: Task, rule: impl Into<Rule>) -> Built {
        Built {
            task,
            rule: rule.into(),
            geodesics: None,
            swept: None,
            log_likelihood: None,
            weights: None,
            certificate: None,
            figures: Vec::new(),
            ended: Ended::Converged,
            path: Vec::new(),
            neighbors: None,
            explained: None,
            used: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A method in a box of its own; every method that can be cloned has one.
pub trait Boxed {
    /// A copy.
    fn boxed(&self) -> Box<dyn Build>;
}

impl<M: Build + Clone + 'static> Boxed for M {
    fn boxed(&self) -> Box<dyn Build> {
        Box::new(self.clone())
    }
}

/// A method of stage 2. It may be written outside of this library: [`Method::own`](crate::Method::own) takes it.
pub trait Build: Parameters + Boxed + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Name, paper, inputs.
    fn info(&self) -> Info;

    /// The nearest neighbors that the method needs of the n points of an input, beside the graph of the recipe.
    ///
    /// # Errors
    ///
    /// If a parameter asks for more neighbors than there are.
    fn nearest(&self, data: Data<'_>) -> Result<Option<Nearest>> {
        let _ = data;
        Ok(None)
    }

    /// Whether the method comes with weights of pairs: fitted ones on the edges of the graph, or those that it learned.
    fn has_weights(&self) -> bool {
        false
    }

    /// Whether snapshots of the optimization can be kept.
    fn has_snapshots(&self) -> bool {
        self.info().basis == Basis::Objective
    }

    /// The default recall of the neighbor search: 1, or slightly less if the map does not depend on every single
    /// neighbor.
    fn recall(&self) -> f64 {
        1.0
    }

    /// Whether the method brings the columns to one scale itself.
    fn scales_columns(&self) -> bool {
        false
    }

    /// Whether the coordinates are the directions of largest variance of the points as they are measured.
    fn keeps_largest_variance(&self) -> bool {
        false
    }

    /// Whether a class of each point takes part in the fit.
    fn is_supervised(&self) -> bool {
        false
    }

    /// Whether the fitted model has a density of its own over new rows.
    fn has_density(&self) -> bool {
        false
    }

    /// Why the rule for new points has no standard deviation, where the method knows the reason.
    fn without_standard_deviation(&self) -> Option<&'static str> {
        None
    }

    /// How the time of a fit divides among the graph, the field and the coordinates, roughly and in any unit: for those who
    /// watch it.
    fn efforts(&self) -> [f64; 3] {
        if self.info().basis == Basis::Objective { [1.0, 1.0, 8.0] } else { [1.0, 1.0, 1.0] }
    }

    /// Builds the field.
    ///
    /// # Errors
    ///
    /// If the method cannot start from this input, a parameter is out of range, or the work would exceed the memory
    /// limit.
    fn build(&self, site: &Site<'_>) -> Result<Built>;
}

/// A number formatted with seven significant digits, whatever its magnitude.
pub(crate) fn shown(value: f64) -> String {
    short(format!("{value:.6e}").parse().unwrap_or(value))
}

/// The landmarks and a graph over them, with the same mean degree as the graph of the points.
pub(crate) fn landmark_graph(site: &Site<'_>, points: &Points, landmarks: &[u32]) -> Result<(Points, Graph)> {
    let rows: Vec<usize> = landmarks.iter().map(|&i| i as usize).collect();
    let (points, graph) = (points.select(&rows), site.graph()?);
    let neighbors = Neighbors::Nearest((graph.edge_count() / graph.len()).clamp(1, rows.len() - 1));
    let search = Search { neighbors, metric: site.metric(), ..Search::default() };
    let graph = search.of_points(&points, site.observer)?.graph;
    Ok((points, graph))
}

/// The default number of landmarks for n points: one in twenty, at least 20 and at most 1000.
pub(crate) fn usual_landmarks(n: usize) -> usize {
    (n / 20).clamp(20, 1000).min(n)
}

/// The suggestion for a matrix that does not fit into memory, with the memory that the alternative needs.
pub(crate) fn landmarks_instead(n: usize) -> String {
    let landmarks = usual_landmarks(n) as u64;
    let table = 4 * landmarks * (landmarks + n as u64);
    format!("use `landmarks` {landmarks} ({}), or raise `memory`", bytes(table))
}

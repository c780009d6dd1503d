//! Stage 2: the Gaussian field over the points.
//!
//! A method is a way to write down either the precision of the field (sparse, like a Laplacian) or its covariance
//! (known by its product with vectors). One file a method; each is a parameter struct that implements [`Build`], with a
//! [`Table`](crate::parameter::Table) of its parameters.

pub(crate) mod entropy;
mod explained;
mod info;
pub(crate) mod laplacian;
pub(crate) mod latent;
mod lengths;
pub(crate) mod local;
pub(crate) mod scaling;
pub mod unfolding;

pub use eigenfold_graph::Weight;
pub use entropy::drill::penalty::Penalty;
pub use entropy::drill::{Learned, PathStep};
pub use entropy::meu::MeuVariant;
pub use explained::Explained;
pub use info::{Basis, Info};
pub use laplacian::affinity::{Affinity, Mutual};
pub use laplacian::eigenmaps::{EdgeWeight, LaplacianVariant};
pub use latent::em::EmStart;
pub use latent::pkpca::PkpcaSolver;
pub use latent::ppca::LatentSolver;
pub use latent::ppco::PpcoSolver;
pub use lengths::Lengths;
pub use local::alle::Ordering;
pub use local::lle::LleVariant;

use crate::extend::Rule;
use crate::field::unfolding::Certificate;
use crate::input::{Data, Measured};
use crate::parameter::{Parameters, short};
use crate::warning::Warning;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Metric, Neighbors, Search};
use eigenfold_linalg::error::{Error, Result, bytes};
use eigenfold_linalg::optimize::{self, Emphasized, Fixed, Momentum};
use eigenfold_linalg::progress::{Observer, Silent};
use eigenfold_linalg::{Operator, Root, SparseSymmetric};
use faer::Mat;

pub use crate::input::InputKind;
pub(crate) use crate::input::needs_points;

/// A Gaussian field over the points.
pub enum Field {
    /// The inverse covariance, sparse; constants may be free in it.
    Precision {
        /// The precision A.
        matrix: SparseSymmetric,
        /// The mass M of the eigenproblem A y = λ M y; the identity if absent.
        mass: Option<Vec<f64>>,
        /// How long each coordinate is.
        scale: Scale,
    },
    /// The inverse covariance by its triangular root, constants free in it; its coordinates have [`Scale::Unit`].
    Root(Root),
    /// The inverse covariance of each of p features, sparse and positive definite: constants are not free in it, so its
    /// covariance is read centered, over all features.
    Definite {
        /// The precision.
        matrix: SparseSymmetric,
        /// p.
        features: f64,
    },
    /// The covariance F Fᵀ of a factor with one row a point, columns of mean zero.
    Factor(Mat<f64>),
    /// A covariance known by its product with vectors, rows and columns of mean zero.
    Covariance(Box<dyn Operator>),
}

impl Field {
    /// Whether the inverse covariance of all n points is known: not the covariance, and not of landmarks alone.
    pub(crate) fn is_precision_of(&self, n: usize) -> bool {
        match self {
            Field::Precision { matrix, .. } | Field::Definite { matrix, .. } => matrix.dim() == n,
            Field::Root(root) => root.dim() == n,
            Field::Factor(_) | Field::Covariance(_) => false,
        }
    }
}

/// How long the coordinate of an eigenvector of a precision is, in units of mean square one (in the mass).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// One: the precision fixes directions, not lengths.
    Unit,
    /// One, of M^½ y instead of y: the eigenvector of M^(−½) A M^(−½), which is not centered.
    Symmetric,
    /// (1 − λ)ᵗ: what is left of the direction after a diffusion of time t.
    Diffusion(f64),
    /// √(p/λ) in units of length one: the standard deviation over p features, of a field fitted to distances.
    Covariance(f64),
}

/// Stage 1 over the same points with other features; its components are left apart.
pub type Regraph<'a> = dyn Fn(&Points) -> Result<Graph> + Sync + 'a;

/// What a method is given to build on.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// What is known of the points.
    pub data: Data<'a>,
    /// The neighborhood graph, connected, if the method asked for one.
    pub graph: Option<&'a Graph>,
    /// How that graph is made, for a method that has to make it again from some of the features; absent if the graph was
    /// given.
    pub regraph: Option<&'a Regraph<'a>>,
    /// Where a descent is to start, if not where the method would.
    pub start: Option<&'a Points>,
    /// The class of every point, nothing where it is not known, if there are classes.
    pub labels: Option<&'a [Option<u32>]>,
    /// The share of true neighbors that will do.
    pub recall: f64,
    /// The number of coordinates asked for.
    pub dims: usize,
    /// The seed of every random choice.
    pub seed: u64,
    /// How many bytes may be allocated.
    pub memory: u64,
    /// Hears of progress.
    pub observer: &'a dyn Observer,
}

impl<'a> Site<'a> {
    /// Nothing but the points, with two coordinates, seed 0, all memory, and nobody listening.
    pub fn of(data: Data<'a>) -> Site<'a> {
        Site {
            data,
            graph: None,
            regraph: None,
            start: None,
            labels: None,
            recall: 1.0,
            dims: 2,
            seed: 0,
            memory: u64::MAX,
            observer: &Silent,
        }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is nothing to embed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The graph of a method that asked for one.
    pub(crate) fn graph(&self) -> Result<&'a Graph> {
        self.graph
            .ok_or_else(|| Error::parameter("this method needs a neighborhood graph; give `neighbors` or `radius`"))
    }

    /// The points with all their distances, for a method that cannot start from a graph.
    pub(crate) fn measured(&self, method: &str) -> Result<Measured<'a>> {
        self.data.measured().ok_or_else(|| needs_points(method, "laplacian-eigenmaps and isomap embed a graph"))
    }

    /// The metric of the points; the usual one where they have none.
    pub(crate) fn metric(&self) -> Metric {
        match self.data {
            Data::Points(_, metric) => metric,
            Data::Distances(_) | Data::Graph(_) => Metric::default(),
        }
    }

    /// Refuses work that would not fit.
    pub(crate) fn afford(&self, what: &str, needed: u64, way_out: &str) -> Result<()> {
        if needed <= self.memory {
            return Ok(());
        }
        Err(Error::Memory { what: what.into(), needed, limit: self.memory, way_out: way_out.into() })
    }
}

/// What stage 3 has to do: all that a method says about the coordinates.
pub enum Task {
    /// Eigenvectors of a field, over all points or over the landmarks.
    Spectral(Field),
    /// The descent of an objective.
    Descend(Descend),
    /// Nothing more: the fit of the field gave the coordinates.
    Solved(Solved),
}

/// Coordinates that came with the fit of a field, over all points.
pub struct Solved {
    /// One row per point.
    pub coordinates: Points,
    /// The eigenvalues of the coordinates, then some further ones as well as they are known; none of a descent.
    pub eigenvalues: Vec<f64>,
    /// The backward error of each eigenpair.
    pub residuals: Vec<f64>,
    /// The largest that those of the coordinates may be.
    pub tolerance: f64,
    /// The value of what was minimized, and the largest entry of its slope, if it was a descent.
    pub objective: Option<(f64, f64)>,
    /// Its values on the way: after how many steps, and the value; empty if nobody looked.
    pub curve: Vec<(usize, f64)>,
    /// What gave them, in a few words.
    pub solver: String,
    /// How often the data were gone through.
    pub iterations: usize,
}

/// A function of the coordinates, all of them one after the other, row by row.
pub trait Energy: Emphasized + Send {
    /// A value in the units of the data.
    fn in_units(&self, value: f64) -> f64 {
        value
    }

    /// The strength of the repulsion where the attraction is emphasized, where it is a parameter of the method.
    fn strength(&self, emphasis: f64) -> Option<f64> {
        let _ = emphasis;
        None
    }

    /// What else there is to say of a value, at those coordinates.
    fn figures(&mut self, y: &[f64], value: f64) -> Vec<(&'static str, f64)> {
        let _ = (y, value);
        Vec::new()
    }

    /// What the points are to each other on that map, pull and push taken together, where the method says so.
    fn affinities(&self, y: &[f64]) -> Option<Vec<Weight>> {
        let _ = y;
        None
    }

    /// What the map makes of a given distance, as (given, on the map), both ascending, where the objective chose it;
    /// asked after [`Energy::figures`].
    fn disparities(&self) -> Vec<(f64, f64)> {
        Vec::new()
    }

    /// What the user should know.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// What descends, in a few words.
    fn solver(&self) -> String;
}

/// An objective, where its descent starts, and how it goes on.
pub struct Descend {
    /// The objective.
    pub objective: Box<dyn Energy>,
    /// One row per point.
    pub start: Points,
    /// The objective sees coordinates in units of this.
    pub unit: f64,
    /// Which direction a step has, and how long it is.
    pub way: Way,
    /// The part of the objective that steps must gain, else the descent ends.
    pub tolerance: f64,
    /// The most evaluations.
    pub max_iterations: usize,
    /// How many maps on the way are kept: about so many, or one for every emphasis of a path of them.
    pub snapshots: usize,
}

/// How a descent goes on.
pub enum Way {
    /// By limited-memory BFGS, with a line search.
    QuasiNewton {
        /// What is known of the curvature: a number for each point.
        diagonal: Option<Vec<f64>>,
    },
    /// With momentum, by a schedule.
    Momentum(Momentum),
    /// In a fixed metric.
    Fixed {
        /// The emphases on the way.
        fixed: Fixed,
        /// The metric.
        metric: Box<dyn optimize::Metric>,
    },
}

/// What a method built.
pub struct Built {
    /// What stage 3 has to do.
    pub task: Task,
    /// How new points are placed.
    pub(crate) rule: Rule,
    /// The geodesics of the landmarks, where the rule places the other points by them.
    pub(crate) geodesics: Option<LandmarkGeodesics>,
    /// The log likelihood of the points under the field alone, where the method maximized or knows it.
    pub log_likelihood: Option<f64>,
    /// The fitted edges by their ends, where the method has a multiplier for each ([`Build::has_weights`]).
    pub weights: Option<Vec<Weight>>,
    /// Bounds that anyone can check, where the method has them.
    pub certificate: Option<Certificate>,
    /// What an optimizer has to show for itself, by name: its duality gap, how many edges are active, ...
    pub figures: Vec<(&'static str, f64)>,
    /// Whether it met its tolerance.
    pub converged: bool,
    /// The penalties that were tried, where a path of them was asked for.
    pub path: Vec<PathStep>,
    /// The part of the true neighbors that was found, where the method searched for them itself and some may be missed.
    pub recall: Option<f64>,
    /// How many neighbors a new point gets, if not as many as the graph gives on average.
    pub neighbors: Option<usize>,
    /// How much of the variance the coordinates have, where stage 3 cannot tell.
    pub explained: Option<Explained>,
    /// Parameters that were left to the method, as it chose them.
    pub used: Vec<(&'static str, String)>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

impl Built {
    /// How many neighbors a new point gets: as many as the graph gives on average, unless the method knows better.
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

    /// A field and its rule, with nothing more to say.
    pub(crate) fn new(field: Field, rule: Rule) -> Built {
        Built::of(Task::Spectral(field), rule)
    }

    /// A task and its rule, with nothing more to say.
    pub(crate) fn of(task: Task, rule: Rule) -> Built {
        Built {
            task,
            rule,
            geodesics: None,
            log_likelihood: None,
            weights: None,
            certificate: None,
            figures: Vec::new(),
            converged: true,
            path: Vec::new(),
            recall: None,
            neighbors: None,
            explained: None,
            used: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A method of stage 2.
pub trait Build: Parameters {
    /// Name, paper, inputs.
    fn info(&self) -> Info;

    /// Whether the method comes with weights of pairs: fitted ones on the edges of the graph, or those that it learned.
    fn has_weights(&self) -> bool {
        false
    }

    /// Whether the maps on the way to its own can be kept.
    fn has_snapshots(&self) -> bool {
        self.info().basis == Basis::Objective
    }

    /// The share of true neighbors that will do, unless more or fewer are asked for: all of them, or almost all where the
    /// map does not hang on every single one.
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

    /// How the answers follow the unit of the data; nothing if they do so in no simple way.
    fn lengths(&self, data: Data<'_>) -> Option<Lengths>;

    /// Builds the field.
    ///
    /// # Errors
    ///
    /// If the method cannot start from this input, a parameter is out of range, or the work would not fit.
    fn build(&self, site: &Site<'_>) -> Result<Built>;
}

/// A number to read: seven digits that count, however small or large it is.
pub(crate) fn shown(value: f64) -> String {
    short(format!("{value:.6e}").parse().unwrap_or(value))
}

/// The landmarks and a graph over them, with as many neighbors as the points have on average.
pub(crate) fn landmark_graph(site: &Site<'_>, points: &Points, landmarks: &[u32]) -> Result<(Points, Graph)> {
    let rows: Vec<usize> = landmarks.iter().map(|&i| i as usize).collect();
    let (points, graph) = (points.select(&rows), site.graph()?);
    let neighbors = Neighbors::Nearest((graph.edge_count() / graph.len()).clamp(1, rows.len() - 1));
    let search = Search { neighbors, metric: site.metric(), seed: site.seed, ..Search::default() };
    let graph = search.of_points(&points, site.observer)?.graph;
    Ok((points, graph))
}

/// How many landmarks stand well for n points: one in twenty, but 20 at least and 1000 at most.
pub(crate) fn usual_landmarks(n: usize) -> usize {
    (n / 20).clamp(20, 1000).min(n)
}

/// The way out of a matrix that does not fit, with what it would take instead.
pub(crate) fn landmarks_instead(n: usize) -> String {
    let landmarks = usual_landmarks(n) as u64;
    let table = 4 * landmarks * (landmarks + n as u64);
    format!("use `landmarks` {landmarks} ({}), or raise `memory`", bytes(table))
}

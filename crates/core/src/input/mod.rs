//! The input of a fit: points with a metric, distances or a graph, and what else is given of the points.
//!
//! An [`Input`] enters the fit, and its [`Data`] reach every stage. Where all distances are known the data are `Measured`,
//! which the local methods and the unfolding use.

pub(crate) mod cloud;
mod measured;
pub(crate) mod moments;
pub(crate) mod regression;
pub(crate) mod tangent;

pub(crate) use cloud::{Cloud, differences};
pub(crate) use measured::Measured;

use crate::fit::known::check_count;
use crate::preparation::Whitening;
use eigenfold_graph::distances::Distances;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Found, Graph, Metric, Search};
use eigenfold_io::schema::Schema;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The sizes of data that are computed with: methods sum fourth powers. It holds every number of single precision.
pub(crate) const RANGE: RangeInclusive<f64> = 1e-60..=Points::LARGEST;

/// The input of a fit: its data, and what else is given of the points. `Input::from(&points)` has the data alone.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Points, distances or a graph.
    pub data: Data<'a>,
    /// The class of every point, `None` where it is not known; only a supervised method uses them.
    pub labels: Option<&'a [Option<u32>]>,
    /// The names of the columns of points, for messages and [`Model::names`](crate::Model::names).
    pub names: Option<&'a [String]>,
    /// The initial embedding of an iterative optimization, one row per point; other methods refuse it.
    pub init: Option<&'a Points>,
    /// The roles of the columns of the table that the points came from, kept by the model for new rows.
    pub schema: Option<&'a Schema>,
    /// The nearest neighbors of every point, nearest first, if they are known: stage 1 takes as many as it needs
    /// and does not search. A method without neighbors refuses them.
    pub neighbors: Option<&'a Graph>,
}

impl<'a, D: Into<Data<'a>>> From<D> for Input<'a> {
    fn from(data: D) -> Input<'a> {
        Input { data: data.into(), labels: None, names: None, init: None, schema: None, neighbors: None }
    }
}

impl<'a> Input<'a> {
    /// The points, for work that needs their features.
    ///
    /// # Errors
    ///
    /// If the input is something else.
    pub(crate) fn points(&self) -> Result<&'a Points> {
        self.data.points().ok_or_else(|| {
            Error::input_kind(
                &["points"],
                format!("this needs points, and the input is {}", self.data.kind().phrase()),
                "give points",
            )
        })
    }

    /// Refuses labels and names of another number than the points and columns.
    pub(crate) fn check(&self) -> Result<()> {
        let (n, features) = (self.data.len(), self.data.points().map_or(0, Points::cols));
        if let Some(labels) = self.labels.filter(|labels| labels.len() != n) {
            return Err(Error::mismatch(
                "labels",
                (labels.len(), n),
                format!("there are {} labels for {n} points", labels.len()),
                "give one per point",
            ));
        }
        if let Some(neighbors) = self.neighbors {
            check_count(neighbors, n)?;
        }
        match self.names.filter(|names| self.data.points().is_none() || names.len() != features) {
            Some(names) => {
                let fact = format!("{} names do not fit {features} features", names.len());
                Err(Error::mismatch("names", (names.len(), features), fact, "give one name per feature"))
            }
            None => Ok(()),
        }
    }
}

/// Data that are owned; [`Data`] borrows them.
#[derive(Clone, Debug, PartialEq)]
pub enum Owned {
    /// One row of features per point.
    Points(Points),
    /// The distances of all pairs of points.
    Distances(Distances),
    /// Edges with lengths.
    Graph(Graph),
}

impl Owned {
    /// The same, borrowed.
    pub fn view(&self) -> Data<'_> {
        self.into()
    }
}

impl<'a> From<&'a Owned> for Data<'a> {
    fn from(owned: &'a Owned) -> Data<'a> {
        match owned {
            Owned::Points(points) => points.into(),
            Owned::Distances(distances) => distances.into(),
            Owned::Graph(graph) => graph.into(),
        }
    }
}

/// The data of a fit.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// One row of features per point, and how far apart two of them are.
    Points(&'a Points, Metric),
    /// Their distances from each other.
    Distances(&'a Distances),
    /// Edges with lengths.
    Graph(&'a Graph),
}

impl<'a> From<&'a Points> for Data<'a> {
    fn from(points: &'a Points) -> Data<'a> {
        Data::Points(points, Metric::default())
    }
}

impl<'a> From<&'a Distances> for Data<'a> {
    fn from(distances: &'a Distances) -> Data<'a> {
        Data::Distances(distances)
    }
}

impl<'a> From<&'a Graph> for Data<'a> {
    fn from(graph: &'a Graph) -> Data<'a> {
        Data::Graph(graph)
    }
}

impl<'a> Data<'a> {
    /// Which kind of input this was.
    pub fn kind(self) -> InputKind {
        match self {
            Data::Points(..) => InputKind::Points,
            Data::Distances(distances) if distances.of_similarities() => InputKind::Similarities,
            Data::Distances(_) => InputKind::Distances,
            Data::Graph(_) => InputKind::Graph,
        }
    }

    /// The number of points.
    pub fn len(self) -> usize {
        match self {
            Data::Points(points, _) => points.rows(),
            Data::Distances(distances) => distances.len(),
            Data::Graph(graph) => graph.len(),
        }
    }

    /// Whether there is no point at all.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The cells that were read: features or distances.
    pub(crate) fn table(self) -> Option<&'a Points> {
        match self {
            Data::Points(points, _) => Some(points),
            Data::Distances(distances) => Some(distances.matrix()),
            Data::Graph(_) => None,
        }
    }

    /// The features, where they are known.
    pub fn points(self) -> Option<&'a Points> {
        match self {
            Data::Points(points, _) => Some(points),
            Data::Distances(_) | Data::Graph(_) => None,
        }
    }

    /// The metric of points; that of distances and graphs does not matter.
    pub(crate) fn metric(self) -> Metric {
        match self {
            Data::Points(_, metric) => metric,
            Data::Distances(_) | Data::Graph(_) => Metric::default(),
        }
    }

    /// The same points by another metric; distances and graphs have theirs already.
    pub fn measured_by(self, metric: Metric) -> Data<'a> {
        match self {
            Data::Points(points, _) => Data::Points(points, metric),
            other => other,
        }
    }

    /// The points with all their distances; nothing if there is only a graph.
    pub(crate) fn measured(self) -> Option<Measured<'a>> {
        match self {
            Data::Points(points, metric) => Some(Measured::Points(points, metric)),
            Data::Distances(distances) => Some(Measured::Distances(distances)),
            Data::Graph(_) => None,
        }
    }

    /// Stage 1: who is whose neighbor. The metric is the data's own; a graph is taken as it is.
    ///
    /// # Errors
    ///
    /// As [`Search::of_points`] and [`Search::of_graph`].
    pub fn neighbors(self, search: &Search, observer: &dyn Observer) -> Result<Found> {
        match self {
            Data::Points(_, Metric::Mahalanobis) => self.whitened(|data| data.neighbors(search, observer)),
            Data::Points(points, metric) => Search { metric, ..search.clone() }.of_points(points, observer),
            Data::Distances(distances) => search.of_distances(distances, observer),
            Data::Graph(graph) => search.of_graph(graph),
        }
    }

    /// Does to a graph over these points, however it came about, what [`Search::components`] says.
    ///
    /// # Errors
    ///
    /// As [`Search::joined`].
    pub(crate) fn joined(self, search: &Search, graph: Graph, observer: &dyn Observer) -> Result<Found> {
        match self {
            Data::Points(_, Metric::Mahalanobis) => self.whitened(|data| data.joined(search, graph, observer)),
            Data::Points(points, metric) => Search { metric, ..search.clone() }.joined(graph, points, observer),
            Data::Distances(distances) => search.joined_by_distances(graph, distances, observer),
            Data::Graph(_) => search.of_graph(&graph),
        }
    }

    /// Hands the points to `work` in columns in which their metric is Euclidean, if it is that of Mahalanobis; all else as it is.
    pub(crate) fn whitened<R>(self, work: impl FnOnce(Data<'_>) -> Result<R>) -> Result<R> {
        match self {
            Data::Points(points, Metric::Mahalanobis) => {
                work(Data::from(&Whitening::learn(points, None)?.apply(points)?))
            }
            other => work(other),
        }
    }

    /// Hands what is known of some of the points to `work`.
    pub(crate) fn of_some<R>(self, rows: &[usize], work: impl FnOnce(Data<'_>) -> Result<R>) -> Result<R> {
        match self {
            Data::Points(points, metric) => work(Data::Points(&points.select(rows), metric)),
            Data::Distances(distances) => work(Data::Distances(&distances.select(rows))),
            Data::Graph(graph) => work(Data::Graph(&graph.induced(rows))),
        }
    }

    /// The bytes of the numbers that were read: features, distances or lengths of edges.
    pub fn bytes(self) -> u64 {
        match self {
            Data::Points(points, _) => points.bytes(),
            Data::Distances(distances) => distances.matrix().bytes(),
            Data::Graph(graph) => size_of_val(graph.all_lengths()) as u64,
        }
    }

    /// The largest magnitude of the numbers that were read.
    fn largest(self) -> f64 {
        match (self.table(), self) {
            (Some(table), _) => table.magnitude(),
            (None, Data::Graph(graph)) => graph.all_lengths().iter().fold(0.0, |most, length| length.max(most)),
            (None, _) => 0.0,
        }
    }

    /// Refuses numbers whose powers would vanish or overflow.
    ///
    /// # Errors
    ///
    /// If the largest is outside of [`RANGE`] and not zero.
    pub(crate) fn check_range(self) -> Result<()> {
        // Angles and shares have no unit, and their metrics refuse rows that are too small for them.
        if self.metric().has_unit() { check_range(self.largest()) } else { Ok(()) }
    }

    /// Refuses points that the metric is not defined on.
    pub(crate) fn check_metric(self) -> Result<()> {
        match self {
            Data::Points(points, metric) => metric.check(points),
            Data::Distances(_) | Data::Graph(_) => Ok(()),
        }
    }
}

/// What an input can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputKind {
    /// One row of features per point.
    Points,
    /// A square matrix of distances.
    Distances,
    /// A square positive semidefinite matrix of inner products.
    Similarities,
    /// A list of edges with lengths.
    Graph,
}

impl InputKind {
    /// Everything of which all distances are known.
    pub const MEASURED: &'static [InputKind] = &[InputKind::Points, InputKind::Distances, InputKind::Similarities];
    /// Everything.
    pub const ALL: &'static [InputKind] =
        &[InputKind::Points, InputKind::Distances, InputKind::Similarities, InputKind::Graph];

    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            InputKind::Points => "points",
            InputKind::Distances => "distances",
            InputKind::Similarities => "similarities",
            InputKind::Graph => "graph",
        }
    }

    /// As part of a sentence.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            InputKind::Graph => "a graph",
            other => other.name(),
        }
    }
}

/// Refuses numbers of which the largest is outside of [`RANGE`] and not zero.
pub(crate) fn check_range(largest: f64) -> Result<()> {
    if largest == 0.0 || RANGE.contains(&largest) {
        return Ok(());
    }
    let fact = format!(
        "the largest number is {largest:.1e}, and data must be between {:e} and {:e}",
        RANGE.start(),
        RANGE.end()
    );
    Err(Error::data(fact, "multiply them by a constant"))
}

/// The refusal of an input that a method cannot use.
pub(crate) fn needs_points(method: &str, way_out: &str) -> Error {
    Error::input_kind(&["points"], format!("{method} needs points"), way_out)
}

//! What is known of the points: their features and a metric, their distances from each other, or a graph.
//!
//! A [`Ground`] is what a fit starts from, and the one answer to that question from the door to the last rule. Where all
//! distances are known it is `Measured`, which the local methods and the unfolding stand on.

pub(crate) mod cloud;
mod measured;
pub(crate) mod regression;
pub(crate) mod tangent;

pub(crate) use cloud::{Cloud, differences};
pub(crate) use measured::Measured;

use crate::preparation::Whitening;
use eigenfold_graph::distances::Distances;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Found, Graph, Metric, Search};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;
use serde::{Deserialize, Serialize};

/// What is known of the points.
#[derive(Clone, Copy, Debug)]
pub enum Ground<'a> {
    /// One row of features per point, and how far apart two of them are.
    Points(&'a Points, Metric),
    /// Their distances from each other.
    Distances(&'a Distances),
    /// Edges with lengths.
    Graph(&'a Graph),
}

impl<'a> From<&'a Points> for Ground<'a> {
    fn from(points: &'a Points) -> Ground<'a> {
        Ground::Points(points, Metric::default())
    }
}

impl<'a> From<&'a Distances> for Ground<'a> {
    fn from(distances: &'a Distances) -> Ground<'a> {
        Ground::Distances(distances)
    }
}

impl<'a> From<&'a Graph> for Ground<'a> {
    fn from(graph: &'a Graph) -> Ground<'a> {
        Ground::Graph(graph)
    }
}

impl<'a> Ground<'a> {
    /// Which kind of input this was.
    pub fn kind(self) -> InputKind {
        match self {
            Ground::Points(..) => InputKind::Points,
            Ground::Distances(distances) if distances.of_similarities() => InputKind::Similarities,
            Ground::Distances(_) => InputKind::Distances,
            Ground::Graph(_) => InputKind::Graph,
        }
    }

    /// The number of points.
    pub fn len(self) -> usize {
        match self {
            Ground::Points(points, _) => points.rows(),
            Ground::Distances(distances) => distances.len(),
            Ground::Graph(graph) => graph.len(),
        }
    }

    /// Whether there is no point at all.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The cells that were read: features or distances.
    pub(crate) fn table(self) -> Option<&'a Points> {
        match self {
            Ground::Points(points, _) => Some(points),
            Ground::Distances(distances) => Some(distances.matrix()),
            Ground::Graph(_) => None,
        }
    }

    /// The features, where they are known.
    pub fn points(self) -> Option<&'a Points> {
        match self {
            Ground::Points(points, _) => Some(points),
            Ground::Distances(_) | Ground::Graph(_) => None,
        }
    }

    /// The same points by another metric; distances and graphs have theirs already.
    pub fn measured_by(self, metric: Metric) -> Ground<'a> {
        match self {
            Ground::Points(points, _) => Ground::Points(points, metric),
            other => other,
        }
    }

    /// The points with all their distances; nothing if there is only a graph.
    pub(crate) fn measured(self) -> Option<Measured<'a>> {
        match self {
            Ground::Points(points, metric) => Some(Measured::Points(points, metric)),
            Ground::Distances(distances) => Some(Measured::Distances(distances)),
            Ground::Graph(_) => None,
        }
    }

    /// Stage 1: who is whose neighbor. The metric is the ground's own; a graph is taken as it is.
    ///
    /// # Errors
    ///
    /// As [`Search::of_points`] and [`Search::of_graph`].
    pub fn neighbors(self, search: &Search, observer: &dyn Observer) -> Result<Found> {
        match self {
            Ground::Points(_, Metric::Mahalanobis) => self.whitened(|ground| ground.neighbors(search, observer)),
            Ground::Points(points, metric) => Search { metric, ..search.clone() }.of_points(points, observer),
            Ground::Distances(distances) => search.of_distances(distances, observer),
            Ground::Graph(graph) => search.of_graph(graph),
        }
    }

    /// Does to a graph over these points, however it came about, what [`Search::components`] says.
    ///
    /// # Errors
    ///
    /// As [`Search::mended`].
    pub(crate) fn mended(self, search: &Search, graph: Graph, observer: &dyn Observer) -> Result<Found> {
        match self {
            Ground::Points(_, Metric::Mahalanobis) => self.whitened(|ground| ground.mended(search, graph, observer)),
            Ground::Points(points, metric) => Search { metric, ..search.clone() }.mended(graph, points, observer),
            Ground::Distances(distances) => search.mended_by_distances(graph, distances, observer),
            Ground::Graph(_) => search.of_graph(&graph),
        }
    }

    /// Hands the points to `work` in columns in which their metric is Euclidean, if it is that of Mahalanobis; all else as it is.
    pub(crate) fn whitened<R>(self, work: impl FnOnce(Ground<'_>) -> Result<R>) -> Result<R> {
        match self {
            Ground::Points(points, Metric::Mahalanobis) => {
                work(Ground::from(&Whitening::learn(points, None)?.apply(points)?))
            }
            other => work(other),
        }
    }

    /// Hands what is known of some of the points to `work`.
    pub(crate) fn of_some<R>(self, rows: &[usize], work: impl FnOnce(Ground<'_>) -> Result<R>) -> Result<R> {
        match self {
            Ground::Points(points, metric) => work(Ground::Points(&points.select(rows), metric)),
            Ground::Distances(distances) => work(Ground::Distances(&distances.select(rows))),
            Ground::Graph(graph) => work(Ground::Graph(&graph.induced(rows))),
        }
    }

    /// The numbers that were read: features, distances or lengths of edges.
    pub(crate) fn numbers(self) -> &'a [f64] {
        match self {
            Ground::Points(points, _) => points.values(),
            Ground::Distances(distances) => distances.matrix().values(),
            Ground::Graph(graph) => graph.all_lengths(),
        }
    }

    /// Hands the same times a power of two to `work`.
    pub(crate) fn times_two_to<R>(self, power: i32, work: impl FnOnce(Ground<'_>) -> Result<R>) -> Result<R> {
        match self {
            Ground::Points(points, metric) => work(Ground::Points(&points.times_two_to(power), metric)),
            Ground::Distances(distances) => work(Ground::Distances(&distances.times_two_to(power))),
            Ground::Graph(graph) => work(Ground::Graph(&graph.times_two_to(power))),
        }
    }

    /// Refuses points that the metric is not defined on.
    pub(crate) fn check_metric(self) -> Result<()> {
        match self {
            Ground::Points(points, metric) => metric.check(points),
            Ground::Distances(_) | Ground::Graph(_) => Ok(()),
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
    pub(crate) const MEASURED: &'static [InputKind] =
        &[InputKind::Points, InputKind::Distances, InputKind::Similarities];
    /// Everything.
    pub(crate) const ALL: &'static [InputKind] =
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

/// The refusal of an input that a method cannot use.
pub(crate) fn needs_points(method: &str, way_out: &str) -> Error {
    Error::parameter(format!("{method} needs points; {way_out}"))
}

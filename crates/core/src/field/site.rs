//! What a method of stage 2 is given: the data, the graph, and what it may allocate.

use crate::coordinates::{self, Map};
use crate::field::Task;
use crate::fit::budget::MemoryBudget;
use crate::input::{Data, Measured, needs_points};
use eigenfold_graph::points::Points;
use eigenfold_graph::{Disconnected, Found, Graph, Metric, Neighbors, Search};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Silent};
use std::borrow::Cow;

/// Stage 1 over the same points with other features; connected components are not joined.
pub type Regraph<'a> = dyn Fn(&Points) -> Result<Graph> + Sync + 'a;

/// The input of a method.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// What is known of the points.
    pub data: Data<'a>,
    /// The neighborhood graph, connected, if the method needs one.
    pub graph: Option<&'a Graph>,
    /// The nearest neighbors of every point that the method requested from stage 1 ([`Build::nearest`](crate::field::Build::nearest)).
    pub nearest: Option<&'a Graph>,
    /// How that graph is made, for a method that has to make it again from some of the features; absent if the graph was
    /// given.
    pub regraph: Option<&'a Regraph<'a>>,
    /// The start of the optimization; the method's default if absent.
    pub start: Option<&'a Points>,
    /// The class of every point, `None` where it is unknown, if there are classes.
    pub labels: Option<&'a [Option<u32>]>,
    /// The recall that the neighbor search must reach.
    pub recall: f64,
    /// The requested number of coordinates.
    pub dims: usize,
    /// The seed of the random number generator.
    pub seed: u64,
    /// The maximum number of bytes to allocate.
    pub memory: u64,
    /// Counts what the method is predicted to allocate, within a fit.
    pub budget: Option<&'a MemoryBudget>,
    /// Receives progress reports.
    pub observer: &'a dyn Observer,
}

impl<'a> Site<'a> {
    /// Nothing but the points, with two coordinates, seed 0, all memory, and no observer.
    pub fn of(data: Data<'a>) -> Site<'a> {
        Site {
            data,
            graph: None,
            nearest: None,
            regraph: None,
            start: None,
            labels: None,
            recall: 1.0,
            dims: 2,
            seed: 0,
            memory: u64::MAX,
            budget: None,
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

    /// The graph of a method that requires one.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn graph(&self) -> Result<&'a Graph> {
        self.graph.ok_or_else(|| {
            Error::parameter("neighbors", "this method needs a neighborhood graph", "give `neighbors` or `radius`")
        })
    }

    /// The nearest neighbors that the method requested from stage 1; searched here where there was no stage 1.
    ///
    /// # Errors
    ///
    /// If the search fails.
    pub fn nearest(&self, request: Nearest) -> Result<Cow<'a, Graph>> {
        match self.nearest {
            Some(graph) => Ok(Cow::Borrowed(graph)),
            None => Ok(Cow::Owned(request.search(self)?.graph)),
        }
    }

    /// The points with all their distances, for a method that cannot start from a graph.
    pub(crate) fn measured(&self, method: &str) -> Result<Measured<'a>> {
        self.data.measured().ok_or_else(|| needs_points(method, "laplacian-eigenmaps and isomap embed a graph"))
    }

    /// The metric of the points; the default metric if there is none.
    pub fn metric(&self) -> Metric {
        match self.data {
            Data::Points(_, metric) => metric,
            Data::Distances(_) | Data::Graph(_) => Metric::default(),
        }
    }

    /// The coordinates of a task of this site.
    pub(crate) fn map(&self, task: &mut Task, dims: usize) -> Result<Map> {
        let map = coordinates::map(task, dims, self.seed, self.memory, self.observer)?;
        self.predict(map.diagnostics.memory);
        Ok(map)
    }

    /// Counts the predicted bytes of some work.
    pub(crate) fn predict(&self, needed: u64) {
        if let Some(budget) = self.budget {
            budget.predict(needed, self.memory);
        }
    }

    /// Counts the predicted bytes of some work, and refuses it if they exceed the memory limit.
    ///
    /// # Errors
    ///
    /// If it would.
    pub fn afford(&self, what: &str, needed: u64, way_out: &str) -> Result<()> {
        self.predict(needed);
        if needed <= self.memory {
            return Ok(());
        }
        Err(Error::Memory { what: what.into(), needed, limit: self.memory, way_out: way_out.into() })
    }
}

/// A request for the nearest neighbors of every point, beside the graph of the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The number of neighbors.
    pub k: usize,
    /// The parameter that the number follows from, which a refusal for want of memory names.
    pub parameter: &'static str,
}

impl Nearest {
    /// Searches the neighbors; connected components stay as they are.
    ///
    /// # Errors
    ///
    /// As [`Data::neighbors`].
    pub(crate) fn search(self, site: &Site<'_>) -> Result<Found> {
        let search = Search {
            neighbors: Neighbors::Nearest(self.k),
            metric: site.metric(),
            disconnected: Disconnected::Separate,
            recall: site.recall,
            memory: Some(site.memory),
        };
        site.data.neighbors(&search, site.observer).map_err(|error| match error {
            Error::Memory { what, needed, limit, .. } => {
                let way_out = format!("use a smaller `{}`, or raise `memory`", self.parameter);
                Error::Memory { what, needed, limit, way_out }
            }
            other => other,
        })
    }
}

//! Stage 1: the neighborhood graph.
//!
//! A [`Graph`] keeps the directed lists as the search found them: `j` in the list of `i` does not imply the reverse.
//! The file of each method describes how it symmetrizes.
#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::private_intra_doc_links,
    reason = "formulas index as x[i]; internal crate"
)]

pub mod components;
pub mod distances;
pub mod metric;
pub mod ordered;
pub mod paths;
pub mod points;
pub mod search;
mod values;
mod weight;

pub use distances::Distances;
pub use metric::Metric;
pub use paths::Paths;
pub use points::Points;
pub use search::index::{Index, Lists};
pub use search::{Disconnected, Found, Neighbors, Search};
pub use weight::Weight;

use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use eigenfold_linalg::sparse::locality::positions;
use eigenfold_linalg::sparse::matrix::by_rows;
use eigenfold_linalg::sparse::rows::{Counted, SomeRows, joined};
use serde::{Deserialize, Serialize};

/// Directed neighbor lists with distances, stored one list after the other.
///
/// Every list is sorted by distance, ties by index; no point is in its own list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    lengths: Vec<f64>,
}

impl Graph {
    /// A graph from one list of `(target, length)` a point; each list is sorted, and a target named twice keeps its
    /// shorter length.
    ///
    /// # Errors
    ///
    /// If a target is out of range or the point itself, or a length is negative or not finite.
    pub fn from_lists(lists: Vec<Vec<(u32, f64)>>) -> Result<Graph> {
        let n = lists.len();
        let mut graph = Graph::empty();
        for (i, mut list) in lists.into_iter().enumerate() {
            for &(j, length) in &list {
                if j as usize >= n || j as usize == i {
                    return Err(
                        Error::data(format!("point {i} cannot have the neighbor {j} among {n} points"), "").at_row(i)
                    );
                }
                if !(0.0..f64::INFINITY).contains(&length) {
                    return Err(Error::data(
                        format!("the edge from {i} to {j} has length {length}"),
                        "lengths are finite and not negative",
                    )
                    .at_row(i));
                }
            }
            list.sort_unstable_by(sort::by_index);
            list.dedup_by_key(|edge| edge.0);
            list.sort_unstable_by(sort::by_distance);
            graph.push(list);
        }
        Ok(graph)
    }

    /// A graph of no points, for lists to be added to.
    fn empty() -> Graph {
        Graph { offsets: vec![0], targets: Vec::new(), lengths: Vec::new() }
    }

    /// One more point with its list, as it is.
    fn push(&mut self, list: impl IntoIterator<Item = (u32, f64)>) {
        for (j, length) in list {
            self.targets.push(j);
            self.lengths.push(length);
        }
        self.offsets.push(self.targets.len());
    }

    /// A graph of lists of `k` each, already sorted and checked by the search that made them.
    pub(crate) fn from_sorted(k: usize, targets: Vec<u32>, lengths: Vec<f64>) -> Graph {
        debug_assert!(k > 0 && targets.len() == lengths.len() && targets.len().is_multiple_of(k));
        Graph { offsets: (0..=targets.len() / k).map(|i| i * k).collect(), targets, lengths }
    }

    /// The first `k` neighbors of every point; `None` if a point has fewer.
    pub fn first(&self, k: usize) -> Option<Graph> {
        let mut graph = Graph::empty();
        for i in 0..self.len() {
            let (targets, lengths) = (self.neighbors(i).get(..k)?, &self.lengths(i)[..k]);
            graph.push(targets.iter().copied().zip(lengths.iter().copied()));
        }
        Some(graph)
    }

    /// The edges that are in the lists of both their ends.
    pub fn mutual(&self) -> Graph {
        let mut kept = Graph::empty();
        for i in 0..self.len() {
            let both = self.edges(i).filter(|&(j, _)| self.neighbors(j).contains(&(i as u32)));
            kept.push(both.map(|(j, length)| (j as u32, length)));
        }
        kept
    }

    /// The graph with edges added to the lists of both their ends.
    pub(crate) fn with_linking_edges(&self, linking_edges: &[(u32, u32, f64)]) -> Graph {
        let mut added: Vec<(u32, f64, u32)> =
            linking_edges.iter().flat_map(|&(i, j, d)| [(i, d, j), (j, d, i)]).collect();
        added.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut added = added.into_iter().peekable();
        let mut graph = Graph::empty();
        let mut list: Vec<(u32, f64)> = Vec::new();
        for i in 0..self.len() {
            list.clear();
            list.extend(self.neighbors(i).iter().copied().zip(self.lengths(i).iter().copied()));
            while let Some((_, length, j)) = added.next_if(|linking_edge| linking_edge.0 as usize == i) {
                list.push((j, length));
            }
            list.sort_by(sort::by_distance);
            graph.push(list.iter().copied());
        }
        graph
    }

    /// Whether offsets, targets and lengths fit together, as in every graph this library builds.
    pub fn is_sound(&self) -> bool {
        let no_loop = |i: usize| !self.targets[self.offsets[i]..self.offsets[i + 1]].contains(&(i as u32));
        self.offsets.first() == Some(&0)
            && self.offsets.last() == Some(&self.targets.len())
            && self.offsets.is_sorted()
            && self.targets.len() == self.lengths.len()
            && self.targets.iter().all(|&j| (j as usize) < self.offsets.len() - 1)
            && self.lengths.iter().all(|&length| (0.0..f64::INFINITY).contains(&length))
            && (0..self.len()).all(no_loop)
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no point at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of directed edges.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// Where the list of every point begins, and the last one ends.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The neighbors of point `i`, nearest first.
    pub fn neighbors(&self, i: usize) -> &[u32] {
        &self.targets[self.offsets[i]..self.offsets[i + 1]]
    }

    /// The distances to the neighbors of point `i`, in the same order.
    pub fn lengths(&self, i: usize) -> &[f64] {
        &self.lengths[self.offsets[i]..self.offsets[i + 1]]
    }

    /// All lengths, list after list.
    pub fn all_lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// Neighbors and lengths of point `i`, together.
    pub fn edges(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        self.neighbors(i).iter().map(|&j| j as usize).zip(self.lengths(i).iter().copied())
    }

    /// The graph over some of the points, in the given order, with the edges between them.
    pub fn induced(&self, rows: &[usize]) -> Graph {
        let mut place = vec![u32::MAX; self.len()];
        for (at, &i) in rows.iter().enumerate() {
            place[i] = at as u32;
        }
        let mut graph = Graph::empty();
        for &i in rows {
            graph.push(self.edges(i).map(|(j, length)| (place[j], length)).filter(|edge| edge.0 != u32::MAX));
        }
        graph
    }

    /// The graph with its points in another order, point `order[i]` becoming point i.
    pub fn reordered(&self, order: &[u32]) -> Graph {
        let position = positions(order);
        let mut offsets = Vec::with_capacity(order.len() + 1);
        offsets.push(0);
        for (row, &i) in order.iter().enumerate() {
            offsets.push(offsets[row] + self.neighbors(i as usize).len());
        }
        let (mut targets, mut lengths) = (vec![0u32; self.edge_count()], vec![0.0; self.edge_count()]);
        let rows = by_rows(&offsets, &mut targets).into_iter().zip(by_rows(&offsets, &mut lengths));
        parallel::each_of(rows, |_, ((rows, targets), (_, lengths))| {
            let edges = rows.flat_map(|row| self.edges(order[row] as usize));
            for ((target, length), (j, own)) in targets.iter_mut().zip(lengths).zip(edges) {
                (*target, *length) = (position[j], own);
            }
        });
        Graph { offsets, targets, lengths }
    }

    /// The undirected graph that has an edge wherever either list does (the union); each list sorted by index.
    pub fn union(&self) -> Undirected {
        /// Points to a component of parallel work.
        const CHUNK: usize = 2048;
        let n = self.len();
        let incoming = self.reversed();
        let components = parallel::collect(n.div_ceil(CHUNK), |component| {
            let mut part = SomeRows::default();
            let mut list: Vec<(u32, f64)> = Vec::new();
            for i in component * CHUNK..((component + 1) * CHUNK).min(n) {
                list.clear();
                let both = self.edges(i).chain(incoming.edges(i));
                list.extend(both.map(|(j, length)| (j as u32, length)));
                list.sort_unstable_by(sort::by_index);
                list.dedup_by_key(|edge| edge.0);
                part.columns.extend(list.iter().map(|edge| edge.0));
                part.values.extend(list.iter().map(|edge| edge.1));
                part.ends.push(part.columns.len());
            }
            part
        });
        let (offsets, targets, lengths) = joined(components);
        Undirected(Graph { offsets, targets, lengths })
    }

    /// Every edge turned around; lists are sorted by index.
    fn reversed(&self) -> Graph {
        let edges = (0..self.len()).flat_map(|i| self.edges(i).map(move |(j, length)| (j, i as u32, length)));
        Graph::sorted_in(self.len(), edges)
    }

    /// A graph of edges `(i, j, length)` in any order: they stand in the list of `i` in the order they come.
    fn sorted_in(n: usize, edges: impl Iterator<Item = (usize, u32, f64)> + Clone) -> Graph {
        let mut rows = Counted::rows(n, edges.clone().map(|edge| edge.0));
        let (mut targets, mut lengths) = (vec![0u32; rows.entries()], vec![0.0; rows.entries()]);
        for (i, j, length) in edges {
            let at = rows.place(i);
            (targets[at], lengths[at]) = (j, length);
        }
        Graph { offsets: rows.offsets, targets, lengths }
    }
}

/// A graph whose edges are in both lists with the same length, lists sorted by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Undirected(Graph);

impl Undirected {
    /// From every edge once, its ends `i < j` and its length, by ascending ends.
    pub fn from_pairs(n: usize, pairs: impl Iterator<Item = (u32, u32, f64)> + Clone) -> Undirected {
        // The edges to earlier points come before those to later ones, and so the lists ascend.
        Undirected(Graph::sorted_in(n, pairs.flat_map(|(i, j, d)| [(i as usize, j, d), (j as usize, i, d)])))
    }

    /// Every edge once: its ends `i < j` and its length, by ascending ends.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, f64)> + Clone + '_ {
        let later = |i: usize| self.edges(i).filter(move |&(j, _)| j > i).map(move |(j, d)| (i as u32, j as u32, d));
        (0..self.len()).flat_map(later)
    }
}

impl std::ops::Deref for Undirected {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.0
    }
}

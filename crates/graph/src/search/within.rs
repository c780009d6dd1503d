//! Graphs by a radius, by mutual consent, and over all pairs.

use crate::search::source::Source;
use crate::search::watch::Watch;
use crate::{Graph, Neighbors};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory::NEGLIGIBLE;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;

/// Bytes of one directed edge on its way from the search to a matrix over the graph: its target and its length, in the lists
/// of a search, in those of the graph, both ways, and as entries of the matrix.
const EDGE: f64 = 64.0;

/// The part of it that is taken beside what the search prepares.
const FOUND: f64 = 40.0;

/// Points whose neighborhoods are counted to predict the size of a graph.
const SAMPLE: usize = 200;

/// The bytes of a graph on its way from the search to a matrix over it.
///
/// # Errors
///
/// If it would take more than `memory` bytes; the edges within a radius are counted on a sample of the points.
pub(crate) fn afford(source: &dyn Source, neighbors: Neighbors, approximate: bool, memory: u64) -> Result<u64> {
    let n = source.len();
    let (degree, what, way_out) = match neighbors {
        Neighbors::Nearest(k) | Neighbors::Mutual(k) => {
            (k as f64, format!("the graph of {k} neighbors"), "use a smaller `neighbors`, or raise `memory`")
        }
        Neighbors::Within(radius) => {
            let degree = degree_within(source, radius);
            let what = format!("the graph of all pairs within the radius, {degree:.0} neighbors per point,");
            (degree, what, "use a smaller radius, or nearest neighbors with `neighbors`")
        }
        Neighbors::All => {
            let what = format!("the graph of all pairs of {n} points");
            (n as f64 - 1.0, what, "use nearest neighbors with `neighbors`, a sample of the points, or raise `memory`")
        }
    };
    let edges = degree * n as f64;
    let needed = ((edges * EDGE) as u64).max(source.prepares(approximate) + (edges * FOUND) as u64);
    if needed > memory.max(NEGLIGIBLE) {
        return Err(Error::Memory { what, needed, limit: memory, way_out: way_out.into() });
    }
    Ok(needed)
}

/// How many points are within a distance of another one, on average over a sample.
fn degree_within(source: &dyn Source, radius: f64) -> f64 {
    let n = source.len();
    let sample: Vec<usize> = (0..n).step_by(n.div_ceil(SAMPLE)).collect();
    let near = |i: usize| (0..n).filter(|&j| source.distance(i, j) <= radius).count() - 1;
    let counted: usize = parallel::collect(sample.len(), |at| near(sample[at])).iter().sum();
    counted as f64 / sample.len() as f64
}

/// All pairs of points at most `radius` apart.
pub(crate) fn within(source: &dyn Source, radius: f64, watch: &Watch) -> Result<Graph> {
    Graph::from_lists(source.within(radius, watch)?)
}

/// All pairs of points.
pub(crate) fn all(source: &dyn Source, watch: &Watch) -> Result<Graph> {
    let n = source.len();
    let list = |i: usize| {
        watch.step(1)?;
        let mut list: Vec<(u32, f64)> = (0..n).filter(|&j| j != i).map(|j| (j as u32, source.distance(i, j))).collect();
        list.sort_unstable_by(sort::by_distance);
        Ok(list)
    };
    Graph::from_lists(parallel::try_collect(n, list)?)
}

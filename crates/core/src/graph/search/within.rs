//! Graphs by a radius, by mutual consent, and over all pairs.

use crate::error::{Error, Result, bytes};
use crate::graph::Graph;
use crate::graph::search::source::Source;
use crate::graph::search::watch::Watch;
use crate::linalg::parallel;

/// The lists of a graph may take this many bytes.
const MEMORY: u64 = 2_000_000_000;

/// Bytes of one directed edge: its target and its length.
const EDGE: u64 = 12;

/// Points whose neighborhoods are counted to predict the size of a graph.
const SAMPLE: usize = 200;

/// All pairs of points at most `radius` apart.
///
/// # Errors
///
/// If a sample of the points says that the lists would not fit in memory.
pub(crate) fn within(source: &dyn Source, radius: f64, watch: &Watch) -> Result<Graph> {
    let n = source.len();
    let step = n.div_ceil(SAMPLE);
    let sample: Vec<usize> = (0..n).step_by(step).collect();
    let near = |i: usize| (0..n).filter(|&j| source.distance(i, j) <= radius).count() - 1;
    let counted: usize = parallel::collect(sample.len(), |at| near(sample[at])).iter().sum();
    let degree = counted as f64 / sample.len() as f64;
    let needed = (degree * n as f64) as u64 * EDGE;
    if needed > MEMORY {
        return Err(Error::Memory {
            what: format!("the graph of all pairs within {radius}, {degree:.0} neighbors a point,"),
            needed,
            limit: MEMORY,
            way_out: "use a smaller radius, or nearest neighbors with `neighbors`".into(),
        });
    }
    Graph::from_lists(source.within(radius, watch)?)
}

/// All pairs of points.
///
/// # Errors
///
/// If they would not fit in memory.
pub(crate) fn all(source: &dyn Source, watch: &Watch) -> Result<Graph> {
    let n = source.len();
    let needed = (n as u64) * (n as u64 - 1) * EDGE;
    if needed > MEMORY {
        return Err(Error::Memory {
            what: format!("the graph of all pairs of {n} points"),
            needed,
            limit: MEMORY,
            way_out: format!(
                "use nearest neighbors with `neighbors`, or a sample of the points (all pairs of 10000 take {})",
                bytes(1_200_000_000)
            ),
        });
    }
    let list = |i: usize| {
        watch.step(1)?;
        let mut list: Vec<(u32, f64)> = (0..n).filter(|&j| j != i).map(|j| (j as u32, source.distance(i, j))).collect();
        list.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        Ok(list)
    };
    Graph::from_lists(parallel::try_collect(n, list)?)
}

/// The edges that are in both lists.
pub(crate) fn mutual(graph: &Graph) -> Graph {
    let mut kept = Graph::empty();
    for i in 0..graph.len() {
        let both = graph.edges(i).filter(|&(j, _)| graph.neighbors(j).contains(&(i as u32)));
        kept.push(both.map(|(j, length)| (j as u32, length)));
    }
    kept
}

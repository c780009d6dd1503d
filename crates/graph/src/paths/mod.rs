//! Shortest paths from many sources, by whichever of two exact routes is predicted to be cheaper.
//!
//! Elimination and sweeps (see [`elimination`] and [`sweep`]) are many times faster than Dijkstra's
//! algorithm where a good order leaves little fill, as on graphs of two or three dimensions; on large graphs of many
//! dimensions the fill explodes and Dijkstra's algorithm wins. The prediction, in nanoseconds of one thread,
//!
//! ```text
//! Dijkstra      sources (3 edges + 6.5 n log₂ n)
//! elimination   80 edges + 100 arcs + 0.3 Σ count(v)²/2 + sources · arcs · (0.15 for all pairs or in single precision, 0.4 else)
//! ```
//!
//! has its constants from runs on cubes of 2 to 12 dimensions (n = 3,000 to 20,000, k = 5 to 30, AVX2 at 2.4 GHz). It
//! counts work and never threads, so that a graph takes the same route on every machine that has the memory for it (20
//! bytes an arc; a swiss roll of a million points with ten neighbors has 55 million). The arcs are counted while they are
//! found and before any is computed, and the attempt ends as soon as it has lost.

pub mod dijkstra;
mod elimination;
pub mod landmarks;
pub mod panels;
pub mod sweep;
pub mod swept;
mod table;

pub use table::DistanceTable;

use crate::Undirected;
use crate::paths::dijkstra::dijkstra;
use crate::paths::elimination::{Budget, Elimination};
use crate::paths::panels::power_of_two;
use crate::paths::sweep::LANES;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Stage};
use eigenfold_linalg::sort;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

// The constants of the prediction above.
const HEAP_EDGE: f64 = 3.0;
const HEAP_POINT: f64 = 6.5;
const ORDER_EDGE: f64 = 80.0;
const FILL_ARC: f64 = 100.0;
const FILL_PAIR: f64 = 0.3;
const SWEEP_ALL: f64 = 0.15;
const SWEEP_SOME: f64 = 0.4;

/// The bytes of an arc while it is found and computed.
const ARC_BYTES: u64 = 20;
/// So many arcs are always allowed, so that memory decides the route of large graphs only.
const FEW_ARCS: u64 = 20_000_000;

/// A graph prepared for shortest paths.
#[derive(Clone, Debug)]
pub struct Paths {
    pub(crate) route: Route,
    sizes: Vec<usize>,
    longest: f64,
}

#[derive(Clone, Debug)]
pub(crate) enum Route {
    Elimination(Arc<Elimination>),
    Dijkstra(Undirected),
}

impl Paths {
    /// Prepares the graph for about `sources` sources; the number only decides the route. At most what the machine has
    /// free is used.
    pub fn new(graph: &Undirected, sources: usize) -> Paths {
        Paths::within(graph, sources, memory::available())
    }

    /// As [`Paths::new`], with at most about that many bytes for arcs, or 400 MB if that is more.
    pub fn within(graph: &Undirected, sources: usize, memory: u64) -> Paths {
        let sweep = if sources < graph.len() { SWEEP_SOME } else { SWEEP_ALL };
        Paths::with_budget(graph, budget(graph, sources, sweep, memory))
    }

    /// As [`Paths::new`], for a table of that many sources ([`Paths::table`]).
    pub fn for_table(graph: &Undirected, sources: usize) -> Paths {
        Paths::with_budget(graph, budget(graph, sources, SWEEP_ALL, memory::available()))
    }

    fn with_budget(graph: &Undirected, budget: Budget) -> Paths {
        let route = match Elimination::new(graph, budget) {
            Some(elimination) => Route::Elimination(Arc::new(elimination)),
            None => Route::Dijkstra(graph.clone()),
        };
        Paths::with_route(graph, route)
    }

    fn with_route(graph: &Undirected, route: Route) -> Paths {
        let longest = graph.all_lengths().iter().copied().fold(0.0, f64::max);
        Paths { route, sizes: component_sizes(graph), longest }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        match &self.route {
            Route::Elimination(elimination) => elimination.len(),
            Route::Dijkstra(graph) => graph.len(),
        }
    }

    /// Whether there is no point at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that it took to prepare them.
    pub fn bytes(&self) -> u64 {
        match &self.route {
            Route::Elimination(elimination) => ARC_BYTES * elimination.arcs.len() as u64,
            Route::Dijkstra(graph) => size_of_val(graph.all_lengths()) as u64,
        }
    }

    /// How the distances are found, in words.
    pub fn route(&self) -> &'static str {
        match self.route {
            Route::Elimination(_) => "elimination sweeps",
            Route::Dijkstra(_) => "dijkstra",
        }
    }

    /// The number of points in each connected component, largest first.
    pub fn component_sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The distances from each source to every point, one row a source; infinite where there is no path.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the observer stops the work.
    pub fn from_sources(&self, sources: &[usize], observer: &dyn Observer) -> Result<Vec<f64>> {
        let seeds: Vec<[(u32, f64); 1]> = sources.iter().map(|&source| [(source as u32, 0.0)]).collect();
        self.from_seeds(&seeds, observer)
    }

    /// The distances of points outside the graph to every point in it, one row a new point. A new point is known by
    /// its lengths to some points of the graph: its distance to `x` is the least of length + distance from that point.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the observer stops the work.
    pub fn from_seeds<S>(&self, seeds: &[S], observer: &dyn Observer) -> Result<Vec<f64>>
    where
        S: AsRef<[(u32, f64)]> + Sync,
    {
        let n = self.len();
        let mut out = vec![f64::INFINITY; n * seeds.len()];
        if out.is_empty() {
            return Ok(out);
        }
        let mut rows: Vec<Row<'_>> =
            seeds.iter().zip(out.chunks_mut(n)).map(|(seeds, out)| Row { seeds: seeds.as_ref(), out }).collect();
        match &self.route {
            Route::Elimination(elimination) => {
                // Neighbors in the order share ancestors, and the upward sweep is short.
                rows.sort_by_key(|row| row.seeds.iter().map(|seed| elimination.position[seed.0 as usize]).min());
                in_blocks(rows.chunks_mut(LANES), observer, |rows| sweep_rows(elimination, rows))?;
            }
            Route::Dijkstra(graph) => {
                in_blocks(&mut rows, observer, |row| dijkstra(graph, row.seeds, row.out))?;
            }
        }
        Ok(out)
    }

    /// The order in which [`panels::Panels`] count the points, if it is not the graph's own.
    pub fn order(&self) -> Option<&[u32]> {
        match &self.route {
            Route::Elimination(elimination) => Some(&elimination.order),
            Route::Dijkstra(_) => None,
        }
    }

    /// A power of two near the longest edge: the unit in which panels do not overflow.
    pub fn unit(&self) -> f64 {
        power_of_two(self.longest)
    }
}

/// What elimination may cost: as much as Dijkstra's algorithm would, less the ordering.
fn budget(graph: &Undirected, sources: usize, sweep: f64, memory: u64) -> Budget {
    let (n, edges) = (graph.len() as f64, graph.edge_count() as f64);
    let heap = sources as f64 * (HEAP_EDGE * edges + HEAP_POINT * n * n.max(2.0).log2());
    // A block of lanes is swept whole, however few of them are used.
    let swept = sources.next_multiple_of(LANES) as f64;
    let most_arcs = usize::try_from((memory / ARC_BYTES).max(FEW_ARCS)).unwrap_or(usize::MAX);
    Budget { arc: FILL_ARC + sweep * swept, pair: FILL_PAIR, limit: heap - ORDER_EDGE * edges, most_arcs }
}

/// One row of distances and where it starts.
struct Row<'a> {
    seeds: &'a [(u32, f64)],
    out: &'a mut [f64],
}

/// The rows of one block: their seeds into the lanes, one sweep, and the lanes out again.
fn sweep_rows(elimination: &Elimination, rows: &mut [Row<'_>]) {
    let mut d = vec![f64::INFINITY; elimination.len() * LANES];
    let mut started = Vec::new();
    for (lane, row) in rows.iter().enumerate() {
        for &(seed, length) in row.seeds {
            let v = elimination.position[seed as usize];
            let start = &mut d[v as usize * LANES + lane];
            *start = start.min(length);
            started.push(v);
        }
    }
    elimination.sweep(&elimination.arcs, 0, &started, &mut d);
    for (&point, values) in elimination.order.iter().zip(d.chunks_exact(LANES)) {
        for (row, &value) in rows.iter_mut().zip(values) {
            row.out[point as usize] = value;
        }
    }
}

/// Runs the blocks in parallel, checks before each whether the observer stops, and reports after each.
pub fn in_blocks<T: Send>(
    blocks: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    observer: &dyn Observer,
    work: impl Fn(T) + Sync,
) -> Result<()> {
    let blocks = blocks.into_iter();
    let (count, done) = (blocks.len() as f64, AtomicUsize::new(0));
    let worked = parallel::try_collect_of(blocks, |_, block| {
        if observer.stop() {
            return Err(Error::Stopped);
        }
        work(block);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        observer.progress(Stage::Field, done as f64 / count);
        Ok(())
    });
    worked.map(drop)
}

/// The number of points in each connected component, largest first.
fn component_sizes(graph: &Undirected) -> Vec<usize> {
    let mut seen = vec![false; graph.len()];
    let (mut sizes, mut stack) = (Vec::new(), Vec::new());
    for start in 0..graph.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut size = 0;
        stack.push(start as u32);
        while let Some(v) = stack.pop() {
            size += 1;
            for &u in graph.neighbors(v as usize) {
                if !std::mem::replace(&mut seen[u as usize], true) {
                    stack.push(u);
                }
            }
        }
        sizes.push(size);
    }
    sizes.sort_unstable_by(sort::largest_first);
    sizes
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::paths::panels::Panels;
    use crate::paths::sweep::Real;
    use eigenfold_linalg::progress::Silent;
    use proptest::prelude::*;

    const EXACT: f64 = 1e-12;

    fn by(graph: &Undirected, elimination: bool) -> Paths {
        let budget = Budget { arc: 0.0, pair: 0.0, limit: 0.0, most_arcs: usize::MAX };
        let route = if elimination {
            Route::Elimination(Arc::new(Elimination::new(graph, budget).unwrap()))
        } else {
            Route::Dijkstra(graph.clone())
        };
        Paths::with_route(graph, route)
    }

    fn floyd_warshall(graph: &Undirected) -> Vec<f64> {
        let n = graph.len();
        let mut d = vec![f64::INFINITY; n * n];
        for i in 0..n {
            d[i * n + i] = 0.0;
            graph.edges(i).for_each(|(j, length)| d[i * n + j] = length);
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    d[i * n + j] = d[i * n + j].min(d[i * n + k] + d[k * n + j]);
                }
            }
        }
        d
    }

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        a == b || (a - b).abs() <= tolerance * b.abs()
    }

    /// The lower triangle from the panels, spread to a full matrix in the points' own order.
    fn from_panels<R: Real>(paths: &Paths) -> Vec<f64> {
        let n = paths.len();
        let panels = Panels::<R>::new(paths);
        let point = |v: usize| paths.order().map_or(v, |order| order[v] as usize);
        let mut d = vec![0.0; n * n];
        for first in (0..n).step_by(LANES) {
            let mut panel = vec![R::ZERO; (n - first) * LANES];
            panels.fill(first, &mut panel);
            for i in first..n {
                for j in first..(first + LANES).min(i + 1) {
                    let value = panel[(i - first) * LANES + j - first].widen() * paths.unit();
                    d[point(i) * n + point(j)] = value;
                    d[point(j) * n + point(i)] = value;
                }
            }
        }
        d
    }

    /// Graphs of 1 to 70 points, some in several components, a fifth of the edges of length zero.
    fn any_graph() -> impl Strategy<Value = Undirected> {
        (1usize..70, 0.0..3.0f64).prop_flat_map(|(n, degree)| {
            let length = prop_oneof![1 => Just(0.0), 4 => 1e-3..10.0f64];
            let edges = prop::collection::vec((0..n, 0..n, length), 0..=(n as f64 * degree) as usize);
            edges.prop_map(move |edges| {
                let mut lists = vec![Vec::new(); n];
                for (i, j, length) in edges.into_iter().filter(|edge| edge.0 != edge.1) {
                    lists[i].push((j as u32, length));
                }
                Graph::from_lists(lists).unwrap().union()
            })
        })
    }

    proptest! {
        #[test]
        fn h04_floyd_warshall_and_dijkstra_and_elimination_agree(graph in any_graph()) {
            let all: Vec<usize> = (0..graph.len()).rev().collect();
            let expected = floyd_warshall(&graph);
            for elimination in [true, false] {
                let paths = by(&graph, elimination);
                let rows = paths.from_sources(&all, &Silent).unwrap();
                let double = from_panels::<f64>(&paths);
                let single = from_panels::<f32>(&paths);
                for (at, &value) in expected.iter().enumerate() {
                    let reversed = (graph.len() - 1 - at / graph.len()) * graph.len() + at % graph.len();
                    prop_assert!(close(rows[reversed], value, EXACT), "{} is not {value}", rows[reversed]);
                    prop_assert!(close(double[at], value, EXACT), "{} is not {value}", double[at]);
                    prop_assert!(close(single[at], value, 1e-6), "{} is not {value} in single", single[at]);
                }
                let reached = expected[..graph.len()].iter().filter(|d| d.is_finite()).count();
                prop_assert!(paths.component_sizes().contains(&reached));
                prop_assert_eq!(paths.component_sizes().iter().sum::<usize>(), graph.len());
            }
        }

        /// A new point with lengths to some points is the same as a point of the graph with those edges.
        #[test]
        fn seeds_are_the_edges_of_a_point_outside(graph in any_graph(), seeds in prop::collection::vec((0u32..70, 0.0..5.0f64), 1..6)) {
            let n = graph.len();
            let seeds: Vec<(u32, f64)> = seeds.into_iter().map(|(j, length)| (j % n as u32, length)).collect();
            let mut lists: Vec<Vec<(u32, f64)>> =
                (0..n).map(|i| graph.edges(i).map(|(j, length)| (j as u32, length)).collect()).collect();
            lists.push(seeds.clone());
            let larger = Graph::from_lists(lists).unwrap().union();
            for elimination in [true, false] {
                let outside = by(&graph, elimination).from_seeds(&[&seeds[..], &seeds[..1]], &Silent).unwrap();
                let inside = by(&larger, elimination).from_sources(&[n], &Silent).unwrap();
                prop_assert!((0..n).all(|i| close(outside[i], inside[i], EXACT)));
            }
        }
    }

    #[test]
    fn on_a_path_the_lengths_add_up() {
        let lists = vec![vec![(1, 1.0)], vec![(2, 2.0)], vec![(3, 4.0)], vec![]];
        let graph = Graph::from_lists(lists).unwrap().union();
        for elimination in [true, false] {
            let d = by(&graph, elimination).from_sources(&[0, 2], &Silent).unwrap();
            assert_eq!(d, [0.0, 1.0, 3.0, 7.0, 3.0, 2.0, 0.0, 4.0]);
        }
    }

    /// k nearest of the R2 swiss roll: u = frac(½ + i/g), v = frac(½ + i/g²), t = 3π/2 (1 + 2u),
    /// (t cos t, 21 v, t sin t), i = 1..n, g the real root of g³ = g + 1.
    fn swiss_roll(n: usize, k: usize) -> Undirected {
        let g = 1.324_717_957_244_746_f64;
        let points: Vec<[f64; 3]> = (1..=n)
            .map(|i| {
                let (u, v) = ((0.5 + i as f64 / g).fract(), (0.5 + i as f64 / (g * g)).fract());
                let t = 1.5 * std::f64::consts::PI * (1.0 + 2.0 * u);
                [t * t.cos(), 21.0 * v, t * t.sin()]
            })
            .collect();
        let distance = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt();
        let lists = (0..n).map(|i| {
            let mut all: Vec<(u32, f64)> =
                (0..n).filter(|&j| j != i).map(|j| (j as u32, distance(&points[i], &points[j]))).collect();
            all.sort_by(|a, b| a.1.total_cmp(&b.1));
            all.truncate(k);
            all
        });
        Graph::from_lists(lists.collect()).unwrap().union()
    }

    /// n = 1000, k = 8: from Dijkstra's algorithm in SciPy on the union of the neighbor lists; scikit-learn's Isomap on
    /// the same points agrees with what follows from them to all printed digits.
    #[test]
    fn the_swiss_roll_has_the_geodesics_that_scipy_finds() {
        let graph = swiss_roll(1000, 8);
        let all: Vec<usize> = (0..1000).collect();
        for paths in [Paths::new(&graph, 1000), by(&graph, true), by(&graph, false)] {
            let d = paths.from_sources(&all, &Silent).unwrap();
            let largest = d.iter().copied().fold(0.0, f64::max);
            assert!((largest - 95.3956747052).abs() < 1e-9, "{largest}");
            assert!(close(d.iter().sum(), 33312957.07592638, EXACT), "{}", d.iter().sum::<f64>());
        }
    }

    #[test]
    fn little_fill_is_eliminated_and_much_is_not() {
        assert_eq!(Paths::new(&swiss_roll(1000, 8), 1000).route(), "elimination sweeps");
        assert_eq!(Paths::new(&expander(3000), 3000).route(), "dijkstra");
        assert_eq!(Paths::new(&swiss_roll(1000, 8), 1).route(), "dijkstra");
    }

    /// Points joined at random: every order fills in, and the last points form one long run.
    fn expander(n: usize) -> Undirected {
        let target = |i: usize, c: usize| ((i * 7919 + c * 104_729 + (i * i + c) % 1013) % n) as u32;
        let list = |i: usize| (0..10).map(move |c| (target(i, c), 1.0 + ((i * c) % 11) as f64 / 7.0));
        let lists = (0..n).map(|i| list(i).filter(|edge| edge.0 != i as u32).collect());
        Graph::from_lists(lists.collect()).unwrap().union()
    }

    #[test]
    fn long_runs_are_shared_among_threads_and_stay_exact() {
        let graph = expander(1200);
        let sources: Vec<usize> = (0..1200).step_by(17).collect();
        let swept = by(&graph, true).from_sources(&sources, &Silent).unwrap();
        let expected = by(&graph, false).from_sources(&sources, &Silent).unwrap();
        assert!(swept.iter().zip(&expected).all(|(&a, &b)| close(a, b, EXACT)));
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(alone.install(|| by(&graph, true).from_sources(&sources, &Silent)).unwrap(), swept);
    }
}

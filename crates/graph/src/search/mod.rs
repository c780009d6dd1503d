//! The search for neighbors: its parameters and its result.

mod approximate;
mod best;
mod brute;
mod cells;
mod descent;
mod features;
mod filter;
mod groups;
pub(super) mod index;
mod kd_tree;
pub(super) mod matrix;
pub(super) mod pca_bound;
mod rank_block;
mod scan;
mod shortlist;
mod sketch;
pub(super) mod source;
pub(super) mod spread;
mod truth;
pub mod watch;
mod within;

use crate::distances::Distances;
use crate::metric::Metric;
use crate::points::Points;
use crate::search::index::Index;
use crate::search::matrix::Matrix;
use crate::search::source::Source;
use crate::search::watch::Watch;
use crate::{Graph, components};
use eigenfold_linalg::error::{Error, Result, sizes_text};
use eigenfold_linalg::memory;
use eigenfold_linalg::progress::Observer;
use serde::{Deserialize, Serialize};

/// Who counts as a neighbor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Neighbors {
    /// The given number of nearest other points; being a neighbor need not be mutual.
    Nearest(usize),
    /// Mutual neighbors among the given number of nearest points.
    Mutual(usize),
    /// All points within a distance.
    Within(f64),
    /// All other points.
    All,
}

impl Neighbors {
    /// The number of neighbors of each point if none is given.
    pub const DEFAULT_K: usize = 10;
}

impl Default for Neighbors {
    fn default() -> Neighbors {
        Neighbors::Nearest(Neighbors::DEFAULT_K)
    }
}

/// What to do with a graph that is not connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Disconnected {
    /// Connect the components by the shortest linking edges between them.
    #[default]
    Join,
    /// Refuse.
    Error,
    /// Leave them as they are, to be embedded one by one.
    Separate,
}

/// How to look for neighbors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Who counts as a neighbor.
    pub neighbors: Neighbors,
    /// How far apart two points are.
    pub metric: Metric,
    /// The required share of true neighbors: 1 for an exact search. Less is traded for speed where that is faster, in many
    /// features; [`Found::recall`] is the share that was found.
    pub recall: f64,
    /// What to do with a graph that is not connected.
    pub disconnected: Disconnected,
    /// How many bytes the graph and what is made of it may take; if not given, most of what the machine has free.
    pub memory: Option<u64>,
}

impl Default for Search {
    fn default() -> Search {
        let (neighbors, metric, disconnected) = (Neighbors::default(), Metric::default(), Disconnected::default());
        Search { neighbors, metric, recall: 1.0, disconnected, memory: None }
    }
}

/// A graph, and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The neighbor lists, linking edges included.
    pub graph: Graph,
    /// The component of each point before joining; components are numbered from the largest, ties from the smallest index.
    pub component_of: Vec<u32>,
    /// The number of points in each component before joining.
    pub sizes: Vec<usize>,
    /// The edges that were added to join the components, shortest first; each is in both lists.
    pub linking_edges: Vec<(u32, u32, f64)>,
    /// The smallest number of nearest neighbors that connects the graph, if it is not connected and this was cheap
    /// enough to find out.
    pub connecting_k: Option<usize>,
    /// The fraction of true neighbors found, estimated on a sample; nothing if the search was exact.
    pub recall: Option<f64>,
    /// Why the search was exact, in words, if mistakes were allowed and none were made.
    pub exact_because: Option<&'static str>,
    /// What did the work, in words.
    pub route: &'static str,
    /// The bytes that the search and a matrix over the graph were predicted to take; 0 for a known graph.
    pub memory: u64,
}

impl Found {
    /// A graph that was not searched for.
    fn unsearched(graph: Graph, component_of: Vec<u32>, sizes: Vec<usize>, route: &'static str) -> Found {
        let (linking_edges, connecting_k, recall, exact_because) = (Vec::new(), None, None, None);
        Found { graph, component_of, sizes, linking_edges, connecting_k, recall, exact_because, route, memory: 0 }
    }
}

impl Search {
    /// The graph over points.
    ///
    /// # Errors
    ///
    /// If a parameter does not fit the data, the metric is not defined on them, the graph would not fit in memory or
    /// has several connected components and [`Disconnected::Error`] is set, or the observer stopped the search.
    pub fn of_points(&self, points: &Points, observer: &dyn Observer) -> Result<Found> {
        self.check(points.rows())?;
        let index = Index::new(points, self.metric)?;
        self.find(&index, &Watch::new(observer, points.rows()))
    }

    /// The graph over points of which only the distances are known; the metric is not used.
    ///
    /// # Errors
    ///
    /// As [`Search::of_points`].
    pub fn of_distances(&self, distances: &Distances, observer: &dyn Observer) -> Result<Found> {
        self.check(distances.len())?;
        self.find(&Matrix(distances), &Watch::new(observer, distances.len()))
    }

    /// A graph the user brought, as it is; only [`Search::disconnected`] is used.
    ///
    /// # Errors
    ///
    /// If the graph has several connected components and they are not to be left separate: there are no distances to join them by.
    pub fn of_graph(&self, graph: &Graph) -> Result<Found> {
        let (component_of, sizes) = components::label(graph);
        if sizes.len() > 1 && self.disconnected == Disconnected::Join {
            return Err(Error::data(
                format!(
                    "the given graph has {} connected components ({}) and no distances to join them by",
                    sizes.len(),
                    sizes_text(&sizes)
                ),
                "use `disconnected` separate, or give the points instead of the graph",
            ));
        }
        if sizes.len() > 1 && self.disconnected == Disconnected::Error {
            return Err(Error::Disconnected { sizes, connecting_k: None });
        }
        let graph = graph.clone();
        Ok(Found::unsearched(graph, component_of, sizes, "given graph"))
    }

    /// Applies [`Search::disconnected`] to any graph over points.
    ///
    /// # Errors
    ///
    /// If it has several connected components and [`Disconnected::Error`] is set, or the observer stopped.
    pub fn joined(&self, graph: Graph, points: &Points, observer: &dyn Observer) -> Result<Found> {
        let index = Index::new(points, self.metric)?;
        self.join_graph(graph, &index, &Watch::new(observer, points.rows()))
    }

    /// As [`Search::joined`], where only distances are known.
    ///
    /// # Errors
    ///
    /// As [`Search::joined`].
    pub fn joined_by_distances(&self, graph: Graph, distances: &Distances, observer: &dyn Observer) -> Result<Found> {
        self.join_graph(graph, &Matrix(distances), &Watch::new(observer, distances.len()))
    }

    fn join_graph(&self, graph: Graph, source: &dyn Source, watch: &Watch) -> Result<Found> {
        let (component_of, sizes) = components::label(&graph);
        let mut found = Found::unsearched(graph, component_of, sizes, "known graph");
        if found.sizes.len() > 1 {
            self.join(&mut found, source, watch)?;
        }
        Ok(found)
    }

    /// Whether the parameters fit `n` points.
    fn check(&self, n: usize) -> Result<()> {
        if n < 2 {
            return Err(Error::too_small(n, 2, "there is only one point", "give at least two"));
        }
        match self.neighbors {
            Neighbors::Nearest(0) | Neighbors::Mutual(0) => Err(Error::out_of_range(
                "neighbors",
                0,
                1..=n - 1,
                "k is 0 and every point needs a neighbor",
                "use `neighbors` 1 or more",
            )),
            Neighbors::Nearest(k) | Neighbors::Mutual(k) if k >= n => Err(Error::TooFewPoints { k, n }),
            _ if !(0.0..=1.0).contains(&self.recall) => Err(Error::value("recall", self.recall, "a share from 0 to 1")),
            Neighbors::Within(radius) if !(radius > 0.0 && radius.is_finite()) => Err(Error::parameter(
                "radius",
                format!("the radius is {radius} and nothing can be within it"),
                "use a finite number above 0",
            )),
            _ => Ok(()),
        }
    }

    fn find(&self, source: &dyn Source, watch: &Watch) -> Result<Found> {
        let most = self.memory.unwrap_or_else(memory::available);
        let memory = within::afford(source, self.neighbors, self.recall < 1.0, most)?;
        let (mut recall, mut exact_because, mut route) = (None, None, None);
        let graph = match self.neighbors {
            Neighbors::Within(radius) => within::within(source, radius, watch)?,
            Neighbors::All => {
                route = Some("all pairs");
                within::all(source, watch)?
            }
            Neighbors::Nearest(k) | Neighbors::Mutual(k) => {
                let nearly = match self.recall < 1.0 {
                    true => Some(source.nearly_nearest_others(k, self.recall, watch)?),
                    false => None,
                };
                let (targets, lengths) = match nearly {
                    Some(Ok(nearly)) => {
                        (recall, route) = (Some(nearly.recall), Some(nearly.route));
                        nearly.lists
                    }
                    Some(Err(why)) => {
                        exact_because = Some(why);
                        source.nearest_others(k, watch)?
                    }
                    None => source.nearest_others(k, watch)?,
                };
                Graph::from_sorted(k, targets, lengths)
            }
        };
        if self.recall < 1.0 && matches!(self.neighbors, Neighbors::Within(_) | Neighbors::All) {
            exact_because = Some("only a search for k nearest neighbors can be approximate");
        }
        let graph = if let Neighbors::Mutual(_) = self.neighbors { graph.mutual() } else { graph };
        // Asked for last: an exact route is prepared by that.
        let route = route.unwrap_or_else(|| source.route());
        let (component_of, sizes) = components::label(&graph);
        let mut found = Found { recall, exact_because, memory, ..Found::unsearched(graph, component_of, sizes, route) };
        if found.sizes.len() > 1 {
            if let (Neighbors::Nearest(k), None) = (self.neighbors, recall) {
                found.connecting_k = components::connecting_k(source, &found.component_of, k, watch)?;
            }
            self.join(&mut found, source, watch)?;
        }
        Ok(found)
    }

    /// Applies [`Search::disconnected`] to a graph with several connected components.
    fn join(&self, found: &mut Found, source: &dyn Source, watch: &Watch) -> Result<()> {
        match self.disconnected {
            Disconnected::Separate => {}
            Disconnected::Error => {
                let sizes = std::mem::take(&mut found.sizes);
                return Err(Error::Disconnected { sizes, connecting_k: found.connecting_k });
            }
            Disconnected::Join => {
                let components = (&found.component_of[..], &found.sizes[..]);
                found.linking_edges = match found.recall {
                    Some(_) => components::short_linking_edges(source, &found.graph, components, watch)?,
                    None => components::linking_edges(source, &found.component_of, watch)?,
                };
                found.graph = found.graph.with_linking_edges(&found.linking_edges);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use eigenfold_linalg::progress::{Silent, Stage};
    use proptest::prelude::*;

    fn line(xs: &[f64]) -> Points {
        Points::new(xs.len(), 1, xs.to_vec()).unwrap()
    }

    fn lists(neighbors: Neighbors, xs: &[f64]) -> Vec<Vec<u32>> {
        let search = Search { neighbors, disconnected: Disconnected::Separate, ..Search::default() };
        let graph = search.of_points(&line(xs), &Silent).unwrap().graph;
        (0..xs.len()).map(|i| graph.neighbors(i).to_vec()).collect()
    }

    /// H03 by hand.
    #[test]
    fn h03_a_radius_graph_is_symmetric_a_nearest_neighbor_graph_need_not_be_and_neither_need_be_connected() {
        let xs = [0.0, 2.0, 3.0, 10.0, 11.0];
        // 1 is the neighbor of 0, and 2 that of 1.
        assert_eq!(lists(Neighbors::Nearest(1), &xs), [[1], [2], [1], [4], [3]]);
        assert_eq!(lists(Neighbors::Within(2.0), &xs), [vec![1], vec![2, 0], vec![1], vec![4], vec![3]]);
        for neighbors in [Neighbors::Nearest(1), Neighbors::Within(2.0)] {
            assert_eq!(apart(neighbors, &line(&xs)).sizes, [3, 2]);
        }
    }

    fn apart(neighbors: Neighbors, points: &Points) -> Found {
        Search { neighbors, disconnected: Disconnected::Separate, ..Search::default() }
            .of_points(points, &Silent)
            .unwrap()
    }

    /// How many points the components have, largest first, by spreading labels along edges until nothing changes.
    fn components_by_hand(graph: &Graph) -> Vec<usize> {
        let mut labels: Vec<usize> = (0..graph.len()).collect();
        for _ in 0..graph.len() {
            for i in 0..graph.len() {
                for &j in graph.neighbors(i) {
                    let least = labels[i].min(labels[j as usize]);
                    (labels[i], labels[j as usize]) = (least, least);
                }
            }
        }
        let count = |label: usize| labels.iter().filter(|&&other| other == label).count();
        let mut sizes: Vec<usize> = (0..graph.len()).map(count).filter(|&size| size > 0).collect();
        sizes.sort_unstable_by(eigenfold_linalg::sort::largest_first);
        sizes
    }

    proptest! {
        /// H03 for points on a grid (many distances tie) and off it. The lists of a radius are all points as near, and so
        /// symmetric. A point farther away than all others are from each other has k nearest neighbors and is no point's
        /// neighbor: no graph of nearest neighbors with one is symmetric. The same points twice, far apart, disconnect both graphs.
        #[test]
        fn h03_of_any_points(
            values in prop_oneof![
                prop::collection::vec((-4i8..5).prop_map(f64::from), 8..60),
                prop::collection::vec(-4.0..4.0f64, 8..60),
            ],
            dims in 1usize..4,
            k in 1usize..5,
            radius in 0.5..6.0f64,
        ) {
            let cloud = Points::new(values.len() / dims, dims, values[..values.len() / dims * dims].to_vec()).unwrap();
            let n = cloud.rows();
            let k = k.min(n - 1);
            let distance = |a: usize, b: usize| Metric::Euclidean.distance(cloud.row(a), cloud.row(b));
            let within = apart(Neighbors::Within(radius), &cloud);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let listed = |i: usize, j: usize| within.graph.neighbors(i).contains(&(j as u32));
                prop_assert_eq!(listed(i, j), i != j && distance(i, j) <= radius);
                prop_assert_eq!(listed(i, j), listed(j, i));
            }
            let nearest = apart(Neighbors::Nearest(k), &cloud);
            for i in 0..n {
                let listed = nearest.graph.neighbors(i);
                let farthest = listed.iter().map(|&j| distance(i, j as usize)).fold(0.0, f64::max);
                let nearer = (0..n).filter(|&j| j != i && distance(i, j) < farthest).count();
                prop_assert!(listed.len() == k && nearer < k && !listed.contains(&(i as u32)));
            }
            for found in [&within, &nearest] {
                let mut sizes = found.sizes.clone();
                sizes.sort_unstable_by(eigenfold_linalg::sort::largest_first);
                prop_assert_eq!(sizes, components_by_hand(&found.graph));
            }

            // The diameter is below 14.
            let with_one = [cloud.values(), vec![100.0; dims].as_slice()].concat();
            let graph = apart(Neighbors::Nearest(k), &Points::new(n + 1, dims, with_one).unwrap()).graph;
            prop_assert_eq!(graph.neighbors(n).len(), k);
            prop_assert!((0..n).all(|i| !graph.neighbors(i).contains(&(n as u32))));
            let far: Vec<f64> = cloud.values().iter().map(|x| x + 100.0).collect();
            let twice = Points::new(2 * n, dims, [cloud.values(), far.as_slice()].concat()).unwrap();
            for neighbors in [Neighbors::Within(radius), Neighbors::Nearest(k)] {
                prop_assert!(apart(neighbors, &twice).sizes.len() >= 2);
            }
        }
    }

    #[test]
    fn mutual_neighbors_agree_and_all_are_all() {
        let xs = [0.0, 2.0, 3.0];
        assert_eq!(lists(Neighbors::Mutual(1), &xs), [vec![], vec![2], vec![1]]);
        assert_eq!(lists(Neighbors::All, &xs), [[1, 2], [2, 0], [1, 0]]);
    }

    #[test]
    fn points_and_their_distances_give_the_same_graph() {
        let xs: Vec<f64> = (0..40).map(|i| f64::from(i * i % 53)).collect();
        let points = line(&xs);
        let table = xs.iter().flat_map(|a| xs.iter().map(move |b| (a - b).abs())).collect();
        let distances = Distances::new(Points::new(40, 40, table).unwrap()).unwrap();
        for neighbors in [Neighbors::Nearest(2), Neighbors::Mutual(3), Neighbors::Within(1.0), Neighbors::All] {
            let search = Search { neighbors, ..Search::default() };
            let (a, b) =
                (search.of_points(&points, &Silent).unwrap(), search.of_distances(&distances, &Silent).unwrap());
            assert_eq!(Found { route: "", memory: 0, ..a }, Found { route: "", memory: 0, ..b });
        }
    }

    #[test]
    fn parameters_that_do_not_fit_say_what_would() {
        let wrong = |neighbors, xs: &[f64]| {
            Search { neighbors, ..Search::default() }.of_points(&line(xs), &Silent).unwrap_err().to_string()
        };
        let xs: Vec<f64> = (0..15).map(f64::from).collect();
        assert_eq!(
            wrong(Neighbors::Nearest(20), &xs),
            "k is 20 and there are only 15 points; use `neighbors` 14 or less"
        );
        assert!(wrong(Neighbors::Mutual(0), &xs).starts_with("k is 0"));
        assert!(wrong(Neighbors::Within(0.0), &xs).starts_with("the radius is 0"));
        assert!(wrong(Neighbors::Within(f64::NAN), &xs).starts_with("the radius is NaN"));
        assert!(wrong(Neighbors::Nearest(1), &[1.0]).starts_with("there is only one point"));
        let many = vec![1.0; 20_000];
        let limited = |neighbors| {
            let search = Search { neighbors, memory: Some(1_000_000_000), ..Search::default() };
            search.of_points(&line(&many), &Silent).unwrap_err().to_string()
        };
        assert!(limited(Neighbors::All).contains("25.6 GB"), "{}", limited(Neighbors::All));
        assert!(limited(Neighbors::Within(1.0)).contains("25.6 GB"));
        assert!(limited(Neighbors::Nearest(1000)).contains("1.3 GB"));
    }

    #[test]
    fn one_thread_and_two_find_the_same() {
        for dims in [2, 70] {
            let points = Points::new(900, dims, (0..900 * dims).map(|v| (v as f64 * 0.618).fract()).collect()).unwrap();
            for neighbors in [Neighbors::Nearest(3), Neighbors::Within(0.05), Neighbors::Mutual(3)] {
                let search = Search { neighbors, ..Search::default() };
                let with = |threads: usize| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| search.of_points(&points, &Silent)).unwrap()
                };
                assert_eq!(with(1), with(2));
            }
        }
    }

    #[test]
    fn an_observer_can_stop_the_search() {
        struct Impatient;
        impl Observer for Impatient {
            fn inner(&self) -> Option<&dyn Observer> {
                None
            }

            fn progress(&self, _stage: Stage, _fraction: f64) {}
            fn stop(&self) -> bool {
                true
            }
        }
        for dims in [1, 70] {
            let points = Points::new(50, dims, (0..50 * dims).map(|v| v as f64).collect()).unwrap();
            assert!(matches!(Search::default().of_points(&points, &Impatient), Err(Error::Stopped)));
        }
    }
}

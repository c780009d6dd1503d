//! Exact nearest neighbors, by the route that is faster for the number of features.
//!
//! Whatever the route, the answer is that of a plain scan in double precision sorted by (distance, index): a point is
//! excluded from its own list by its index, so duplicates are neighbors like any others.

use crate::metric::Metric;
use crate::points::Points;
use crate::search::approximate::{self, Attempt};
use crate::search::best::Best;
use crate::search::brute::Blocks;
use crate::search::filter::{Anyone, Elsewhere, Filter, Others};
use crate::search::kd_tree::KdTree;
use crate::search::rank_block::BLOCK;
use crate::search::scan;
use crate::search::sketch::Sketch;
use crate::search::watch::Watch;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Silent;
use std::sync::OnceLock;

/// Up to this many features the kd-tree is used without asking, beyond [`TREE_MOST`] never.
///
/// Measured, k = 10, CPU seconds of the tree and of the blocks: 80,000 Gaussian points in 6 features 1.3 and 6.2,
/// in 9 features 7.6 and 6.3, in 12 features 34 and 5.4; a noisy sheet in 12 features 0.3 and 6.1, in 16 features 0.4
/// and 7.4. What counts is not the number of features but how many directions the points fill, so in between a few
/// searches of the tree are counted.
const TREE_DIMS: usize = 6;

/// Up to this many features the tree is compared with an approximate search where one is allowed.
const TREE_TRIED: usize = 16;

/// Beyond this many features the tree is not tried.
const TREE_MOST: usize = 64;

/// Searches counted before choosing a route.
const TRIALS: usize = 32;

/// Nanoseconds for a feature of a pair that is measured one by one.
const SCAN_TIME: f64 = 2.0;

/// Queries handed to a thread at a time.
const CHUNK: usize = BLOCK;

/// Neighbors of several points: `k` indices and as many distances a point, one list after the other.
pub type Lists = (Vec<u32>, Vec<f64>);

/// Answers which of a fixed set of points are nearest to any point.
#[derive(Debug)]
pub struct Index<'a> {
    points: &'a Points,
    metric: Metric,
    /// Chosen and prepared at the first search.
    route: OnceLock<Route>,
}

#[derive(Debug)]
enum Route {
    Tree(KdTree),
    Blocks(Blocks),
    Scan,
}

impl Route {
    fn choose(points: &Points, metric: Metric) -> Route {
        if !metric.has_rank() {
            return Route::Scan;
        }
        let tree = (points.cols() <= TREE_MOST).then(|| KdTree::new(points, metric));
        match tree {
            Some(tree) if points.cols() <= TREE_DIMS || tree_pays(&tree, points) => Route::Tree(tree),
            _ if !metric.has_blocks() => Route::Scan,
            tree => Blocks::new(points, metric)
                .map_or_else(|| Route::Tree(tree.unwrap_or_else(|| KdTree::new(points, metric))), Route::Blocks),
        }
    }
}

/// Whether the tree is likely to be faster than the blocks.
fn tree_pays(tree: &KdTree, points: &Points) -> bool {
    let n = points.rows();
    tree_time(tree, points, n.clamp(2, 11) - 1) < n as f64 * product_time(points.cols() as f64)
}

/// Nanoseconds for the neighbors of a point by the tree: of the leaves that a few searches scan, and the boxes above them.
fn tree_time(tree: &KdTree, points: &Points, k: usize) -> f64 {
    let (n, d) = (points.rows(), points.cols() as f64);
    let sample: Vec<u32> = (0..n as u32).step_by(n.div_ceil(TRIALS)).collect();
    tree.leaves_scanned(points, &sample, k) as f64 / sample.len() as f64 * (30.0 + 9.0 * d)
}

/// Nanoseconds for one of all products of points of d features.
pub(super) fn product_time(d: f64) -> f64 {
    0.7 + 0.005 * d
}

impl<'a> Index<'a> {
    /// Prepares the points for searching.
    ///
    /// # Errors
    ///
    /// If the metric is not defined on the points, as [`Metric::check`].
    pub fn new(points: &'a Points, metric: Metric) -> Result<Index<'a>> {
        metric.check(points)?;
        Ok(Index { points, metric, route: OnceLock::new() })
    }

    fn prepared(&self) -> &Route {
        self.route.get_or_init(|| Route::choose(self.points, self.metric))
    }

    /// What does the work, in words.
    pub fn route(&self) -> &'static str {
        match (self.prepared(), self.metric) {
            (Route::Tree(_), _) => "kd-tree",
            (Route::Blocks(_), Metric::Manhattan) => "blocked scan",
            (Route::Blocks(_), _) => "blocked matrix products",
            (Route::Scan, _) => "plain scan",
        }
    }

    /// The indexed points.
    pub fn points(&self) -> &Points {
        self.points
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The `k` indexed points nearest to each query, sorted by (distance, index).
    ///
    /// The answer for one query does not depend on the others.
    ///
    /// # Errors
    ///
    /// If the queries have another number of features than the indexed points, if `k` is zero or more than there are
    /// points, or if the metric is not defined on a query.
    pub fn nearest(&self, queries: &Points, k: usize) -> Result<Lists> {
        if queries.cols() != self.points.cols() {
            return Err(Error::mismatch(
                "columns",
                (queries.cols(), self.points.cols()),
                format!("the new points have {} columns and the fitted ones {}", queries.cols(), self.points.cols()),
                "give the same columns in the same order",
            ));
        }
        if k == 0 || k > self.points.rows() {
            return Err(Error::out_of_range(
                "neighbors",
                k,
                1..=self.points.rows(),
                format!("k is {k} and there are {n} points to choose from", n = self.points.rows()),
                format!("use `neighbors` 1 to {n}", n = self.points.rows()),
            ));
        }
        self.metric.check(queries)?;
        let rows: Vec<u32> = (0..queries.rows() as u32).collect();
        self.search(queries, &rows, k, &Anyone, &Watch::new(&Silent, queries.rows()))
    }

    /// The `k` nearest other points of every indexed point.
    pub fn nearest_others(&self, k: usize, watch: &Watch) -> Result<Lists> {
        debug_assert!(k < self.points.rows());
        match self.prepared() {
            Route::Blocks(blocks) => blocks.nearest_others(self.points, k, watch),
            Route::Scan => {
                let all: Vec<u32> = (0..self.points.rows() as u32).collect();
                self.search(self.points, &all, k, &Others, watch)
            }
            Route::Tree(tree) => {
                // In the order of the tree, so that one search finds in cache what the last one touched.
                let order = tree.order();
                Ok(put_back(&self.search(self.points, order, k, &Others, watch)?, order, k))
            }
        }
    }

    /// The `k` nearest other points of some of the indexed points, in the order in which these are named.
    pub fn some_others(&self, rows: &[u32], k: usize, watch: &Watch) -> Result<Lists> {
        debug_assert!(k < self.points.rows());
        self.search(self.points, rows, k, &Others, watch)
    }

    /// The `k` nearest other points of every indexed point with a few mistakes; not where the exact search is as fast, or
    /// where fewer than the wanted share are right.
    pub(crate) fn nearly_nearest_others(&self, k: usize, wanted: f64, watch: &Watch) -> Result<Attempt> {
        let (n, d) = (self.points.rows(), self.points.cols());
        if d <= TREE_DIMS {
            return Ok(Err("in so few dimensions an exact search is as fast"));
        }
        if n < approximate::POINTS_FROM {
            return Ok(Err(approximate::FEW));
        }
        let exact = match self.tried_tree() {
            Some(tree) => n as f64 * tree_time(tree, self.points, k),
            // The tree is not built for an estimate: in so many features an approximate search is about as fast.
            None => (n * n) as f64 * product_time(d as f64),
        };
        approximate::nearest_others(self.points, self.metric, (k, wanted), exact, watch)
    }

    /// The tree, where it is compared with an approximate search and faster than all products.
    fn tried_tree(&self) -> Option<&KdTree> {
        match (self.points.cols() <= TREE_TRIED).then(|| self.prepared())? {
            Route::Tree(tree) => Some(tree),
            Route::Blocks(_) | Route::Scan => None,
        }
    }

    /// Roughly how many nanoseconds of one processor a search of all points takes.
    pub fn work(&self, k: usize) -> f64 {
        let (n, d) = (self.points.rows() as f64, self.points.cols() as f64);
        match self.prepared() {
            Route::Tree(_) => n * k as f64 * d * 75.0,
            Route::Blocks(_) => n * n * product_time(d),
            Route::Scan => n * n * d * SCAN_TIME,
        }
    }

    /// The bytes of what a search prepares, at most; a search that may make mistakes is `approximate`.
    pub(crate) fn prepares(&self, approximate: bool) -> u64 {
        let (n, d) = (self.points.rows(), self.metric.ranked_cols(self.points.cols()));
        let (cols, cells) = (self.points.cols(), (n * d) as u64);
        let approximate = approximate && cols > TREE_DIMS && n >= approximate::POINTS_FROM;
        let tree_most = if approximate { TREE_TRIED } else { TREE_MOST };
        let mut bytes = if approximate { Sketch::bytes(n, d) } else { 0 };
        if self.metric.has_rank() && cols <= tree_most {
            let copied = self.points.singles().is_some() || self.metric.is_angle();
            bytes += 12 * cells + if copied { 8 * cells } else { 0 };
        }
        if self.metric.has_blocks() && cols > TREE_DIMS && !approximate {
            bytes += 4 * cells;
        }
        bytes
    }

    /// Ways from points of every label but `skipped` to points of another one; the shortest of each label by
    /// (distance, smaller index, larger index) is among them.
    pub(crate) fn ways_out(&self, labels: &[u32], skipped: u32, watch: &Watch) -> Result<Vec<(f64, u32, u32)>> {
        let mut elsewhere = Elsewhere::new(labels);
        let mut rows: Vec<u32> = (0..labels.len() as u32).filter(|&i| labels[i as usize] != skipped).collect();
        if let Route::Tree(tree) = self.prepared() {
            elsewhere.uniform = tree.uniform(labels);
            rows = tree.order().iter().copied().filter(|&i| labels[i as usize] != skipped).collect();
        }
        let (targets, lengths) = self.search(self.points, &rows, 1, &elsewhere, watch)?;
        Ok((0..rows.len())
            .filter(|&at| lengths[at].is_finite())
            .map(|at| (lengths[at], rows[at], targets[at]))
            .collect())
    }

    /// All other points within `radius` of each point, sorted by (distance, index).
    pub(crate) fn within(&self, radius: f64, watch: &Watch) -> Result<Vec<Vec<(u32, f64)>>> {
        match self.prepared() {
            Route::Tree(tree) => tree.within(self.points, radius, watch),
            Route::Blocks(blocks) => blocks.within(self.points, radius, watch),
            Route::Scan => scan::within(self.metric, self.points, radius, watch),
        }
    }

    /// The `k` nearest points that the filter allows, for the given rows of `queries`; where there are fewer, the
    /// list is filled up with infinitely distant ones.
    fn search<F: Filter>(&self, queries: &Points, rows: &[u32], k: usize, filter: &F, watch: &Watch) -> Result<Lists> {
        let parts = parallel::try_collect_of(rows.chunks(CHUNK), |_, rows| {
            watch.step(rows.len())?;
            let mut lists: Lists = (Vec::with_capacity(rows.len() * k), Vec::with_capacity(rows.len() * k));
            let mut write = |best: &Best| best.write(&mut lists);
            match self.prepared() {
                Route::Tree(tree) => tree.nearest(self.points, (queries, rows), k, filter, &mut write),
                Route::Blocks(blocks) => blocks.nearest(self.points, (queries, rows), k, filter, &mut write),
                Route::Scan => scan::nearest(self.metric, self.points, (queries, rows), k, filter, &mut write),
            }
            Ok(lists)
        })?;
        Ok(concat(parts))
    }
}

/// The lists of all parts, one after the other.
pub(crate) fn concat(parts: Vec<Lists>) -> Lists {
    let total = parts.iter().map(|part| part.0.len()).sum();
    let mut lists: Lists = (Vec::with_capacity(total), Vec::with_capacity(total));
    for (targets, lengths) in parts {
        lists.0.extend(targets);
        lists.1.extend(lengths);
    }
    lists
}

/// The lists of the points in `order`, one point after the other.
pub(crate) fn put_back(lists: &Lists, order: &[u32], k: usize) -> Lists {
    let mut place = vec![0u32; order.len()];
    for (at, &i) in order.iter().enumerate() {
        place[i as usize] = at as u32;
    }
    (gather(&lists.0, &place, k), gather(&lists.1, &place, k))
}

/// The lists of `k` in another order.
fn gather<T: Copy + Send + Sync + Default>(lists: &[T], place: &[u32], k: usize) -> Vec<T> {
    let mut out = vec![T::default(); lists.len()];
    parallel::chunks_mut(&mut out, k, |i, list| list.copy_from_slice(&lists[place[i] as usize * k..][..k]));
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: every distance, sorted by (distance, index).
    fn naive(points: &Points, metric: Metric, query: &[f64], own: usize, k: usize) -> Vec<(f64, u32)> {
        let others = (0..points.rows()).filter(|&j| j != own);
        let mut all: Vec<(f64, u32)> = others.map(|j| (metric.distance(query, points.row(j)), j as u32)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.truncate(k);
        all
    }

    fn all_routes(points: &Points, metric: Metric) -> Vec<Index<'_>> {
        let tree = metric.has_rank().then(|| Route::Tree(KdTree::new(points, metric)));
        let blocks = if metric.has_blocks() { Blocks::new(points, metric).map(Route::Blocks) } else { None };
        let routes = tree.into_iter().chain(blocks).chain([Route::Scan]);
        routes.map(|route| Index { points, metric, route: route.into() }).collect()
    }

    /// Every route against the definition: others, queries and radius.
    fn check(points: &Points, metric: Metric, k: usize) {
        let n = points.rows();
        let want: Vec<(f64, u32)> = (0..n).flat_map(|i| naive(points, metric, points.row(i), i, k)).collect();
        let want_all: Vec<(f64, u32)> = (0..n).flat_map(|i| naive(points, metric, points.row(i), n, k)).collect();
        let radius = want[k - 1].0;
        let around = |i: usize| {
            let mut all = naive(points, metric, points.row(i), i, n);
            all.retain(|edge| edge.0 <= radius);
            all
        };
        let want_around: Vec<Vec<(f64, u32)>> = (0..n).map(around).collect();
        for index in all_routes(points, metric) {
            let (targets, lengths) = index.nearest_others(k, &Watch::new(&Silent, n)).unwrap();
            let got: Vec<(f64, u32)> = lengths.into_iter().zip(targets).collect();
            assert_eq!(got, want, "{} {metric:?} k = {k} {points:?}", index.route());
            let (targets, lengths) = index.nearest(points, k).unwrap();
            let got: Vec<(f64, u32)> = lengths.into_iter().zip(targets).collect();
            assert_eq!(got, want_all, "queries, {} {metric:?} k = {k} {points:?}", index.route());
            for (i, list) in index.within(radius, &Watch::new(&Silent, n)).unwrap().into_iter().enumerate() {
                let got: Vec<(f64, u32)> = list.into_iter().map(|(j, d)| (d, j)).collect();
                assert_eq!(got, want_around[i], "radius {radius}, {} {metric:?} {points:?}", index.route());
            }
        }
    }

    /// All that are defined on any positive numbers.
    const EVERY: [Metric; 11] = [
        Metric::Euclidean,
        Metric::Manhattan,
        Metric::Cosine,
        Metric::Correlation,
        Metric::Chebyshev,
        Metric::Minkowski(3.0),
        Metric::Minkowski(1.5),
        Metric::Hamming,
        Metric::Jaccard,
        Metric::Canberra,
        Metric::BrayCurtis,
    ];

    fn metric() -> impl Strategy<Value = Metric> {
        prop::sample::select(EVERY.to_vec())
    }

    /// Coordinates of all kinds: small integers (ties and duplicates), reals, and constant columns; one scale for all.
    fn points() -> impl Strategy<Value = Points> {
        let cell = prop_oneof![4 => (0u8..4).prop_map(f64::from), 1 => -2.0..2.0f64];
        let scale = prop_oneof![4 => Just(1.0), 1 => Just(1e50), 1 => Just(1e-149), 1 => Just(1e-3)];
        let shape = (2usize..40, 1usize..20, prop_oneof![2 => Just(0.0), 1 => Just(1e6)]);
        (shape, prop::collection::vec(cell, 800), scale).prop_map(|((n, d, offset), cells, scale)| {
            let cell =
                |at: usize| if at % d == 1 { 1.0 } else { cells[at] + if at.is_multiple_of(d) { offset } else { 0.0 } };
            let mut values: Vec<f64> = (0..n * d).map(|at| cell(at) * scale).collect();
            values.iter_mut().step_by(d).for_each(|x| *x += 7.0 * scale);
            Points::new(n, d, values).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn every_route_is_the_plain_scan(points in points(), metric in metric(), share in 0.0..=1.0f64) {
            let k = 1 + (share * (points.rows() - 2) as f64).round() as usize;
            // Some metrics are not defined on constant rows or negative numbers.
            if metric.check(&points).is_ok() {
                check(&points, metric, k);
            }
        }
    }

    #[test]
    fn several_blocks_and_leaves_are_the_plain_scan() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        for (n, d, round) in [(400, 3, 0.0), (400, 20, 0.0), (420, 2, 16.0), (400, 12, 3.0)] {
            let cell = |x: f64| if round > 0.0 { (x * round).floor() } else { x } + 0.5;
            let points = Points::new(n, d, (0..n * d).map(|_| cell(random())).collect()).unwrap();
            for metric in EVERY[..6].iter().filter(|metric| metric.check(&points).is_ok()) {
                check(&points, *metric, 10);
            }
        }
    }

    /// Their ranks have no rounding errors, and most of them tie.
    #[test]
    fn whole_numbers_that_tie_are_the_plain_scan() {
        let noise = crate::search::pca_bound::tests::noise;
        for (n, d, levels) in [(900, 12, 2.0), (900, 30, 1.05), (1200, 8, 3.0)] {
            let points = Points::new(n, d, (0..n * d).map(|at| (levels * noise(at)).floor() - 1.0).collect()).unwrap();
            for metric in [Metric::Euclidean, Metric::Manhattan] {
                assert!(Blocks::new(&points, metric).unwrap().exact_base().is_some());
                check(&points, metric, 10);
            }
            let halves = points.with_values(points.values().iter().map(|x| 0.3 * x).collect());
            assert!(Blocks::new(&halves, Metric::Euclidean).unwrap().exact_base().is_none());
        }
        let large = Points::new(50, 40, (0..2000).map(|v| f64::from(v * v % 9973)).collect()).unwrap();
        assert!(Blocks::new(&large, Metric::Euclidean).unwrap().exact_base().is_none());
    }

    #[test]
    fn places_on_a_sphere_are_found_across_the_date_line_and_the_poles() {
        let place = |i: usize| [(i * 37 % 181) as f64 - 90.0, (i * 101 % 361) as f64 - 180.0];
        let degrees = Points::from_rows(&(0..300).map(place).collect::<Vec<_>>()).unwrap();
        check(&degrees, Metric::HaversineDegrees, 7);
        let radians = Points::new(300, 2, degrees.values().iter().map(|x| x.to_radians()).collect()).unwrap();
        check(&radians, Metric::Haversine, 7);
    }

    #[test]
    fn a_thousand_equal_points_name_the_smallest_indices() {
        let points = Points::new(1000, 10, vec![3.5; 10_000]).unwrap();
        for index in all_routes(&points, Metric::Euclidean) {
            let (targets, lengths) = index.nearest_others(3, &Watch::new(&Silent, 1000)).unwrap();
            assert_eq!(&targets[..9], [1, 2, 3, 0, 2, 3, 0, 1, 3]);
            assert_eq!(&targets[2997..], [0, 1, 2]);
            assert!(lengths.iter().all(|&d| d == 0.0));
        }
    }

    #[test]
    fn a_query_far_out_or_alone_finds_the_same() {
        let points = Points::new(50, 10, (0..500).map(|v| f64::from(v * v % 97)).collect()).unwrap();
        let queries = Points::from_rows(&[[1e50; 10], [3.0; 10], [-1e60; 10]]).unwrap();
        for index in all_routes(&points, Metric::Euclidean) {
            let (targets, lengths) = index.nearest(&queries, 4).unwrap();
            for i in 0..3 {
                let alone = index.nearest(&queries.select(&[i]), 4).unwrap();
                assert_eq!((&targets[4 * i..][..4], &lengths[4 * i..][..4]), (&alone.0[..], &alone.1[..]));
                let want = naive(&points, Metric::Euclidean, queries.row(i), 50, 4);
                assert_eq!(alone.0, want.iter().map(|edge| edge.1).collect::<Vec<_>>());
            }
        }
    }
}

//! An approximate search: planned and judged by the true neighbors of some points.

use crate::metric::Metric;
use crate::points::Points;
use crate::search::brute::Rounding;
use crate::search::descent;
use crate::search::groups::{GROUP, Groups};
use crate::search::index::{Lists, product_time};
use crate::search::sketch::Sketch;
use crate::search::spread::spread;
use crate::search::truth::Truth;
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;

/// Neighbors with a few mistakes, or why they are searched for without any, in words.
pub(crate) type Attempt = std::result::Result<Nearly, &'static str>;

/// Neighbors with a few mistakes.
pub(crate) struct Nearly {
    pub(crate) lists: Lists,
    /// The share that is right, estimated on a sample.
    pub(crate) recall: f64,
    /// What did the work, in words.
    pub(crate) route: &'static str,
}

/// The largest number of neighbors it is made for, and the largest share of them it can be expected to find.
const MOST: usize = 192;
const RECALL: f64 = 0.995;

/// The smallest number of points for which an approximate search is faster than an exact one.
pub(crate) const POINTS_FROM: usize = 12_000;
pub(crate) const FEW: &str = "below 12,000 points an exact search is as fast";

/// Points whose true neighbors plan the search, and points whose true neighbors judge it.
const PLANNED_BY: usize = 128;
const JUDGED_BY: usize = 256;

/// The least number of groups that a point is compared with, and the share of its true neighbors that must be in them for
/// the rounds to find the others: by the number of neighbors that may be missed, and at least so much; less where a narrow sketch
/// makes the groups, because the points near to each by the sketch are then measured by all features.
const LEAST_REACH: usize = 4;
const START: f64 = 0.93;
const START_NARROW: f64 = 0.9;
const START_MOST: f64 = 0.975;
const MISSED: f64 = 3.0;

/// The largest share of the predicted time of an exact search that the searches of an approximate one may take together; each
/// has twice as many groups as the last one.
const PART: f64 = 0.8;

/// The largest number of candidates that a first search measures by all features.
const MEASURED: usize = 512;

/// Nanoseconds for a feature of a candidate that is measured by all features, most of which come from memory.
const MEASURE_TIME: f64 = 0.1;

/// What the product of a point with one of a near group costs, compared with one of all products, which serve both points.
const ONE_SIDED: f64 = 2.0;

/// The `k` nearest other points of every point, most of them; not where an exact search, which takes about `exact`
/// nanoseconds, is as fast, or where fewer than the wanted share are right.
pub(crate) fn nearest_others(
    points: &Points,
    metric: Metric,
    (k, wanted): (usize, f64),
    exact: f64,
    watch: &Watch,
) -> Result<Attempt> {
    let n = points.rows();
    if k > MOST || wanted > RECALL {
        return Ok(Err("for this number of neighbors and this recall an exact search is as fast"));
    }
    if !metric.has_blocks() {
        return Ok(Err("the metric has no approximate search"));
    }
    let Some(rounding) = Rounding::new(points, metric) else {
        return Ok(Err("the data are too large or too small for single precision"));
    };
    let [plan, judge] = Truth::new(points, &rounding, samples(n), k, watch)?.split(PLANNED_BY);
    let sketch = Sketch::new(points, &rounding, &plan);
    watch.step(0)?;
    let groups = Groups::new(&sketch);
    let least = if sketch.is_narrow() { START_NARROW } else { START };
    let share = (1.0 - MISSED * (1.0 - wanted)).clamp(least, START_MOST);
    let mut effort = Effort::new(&groups, &plan, k, share);
    watch.step(0)?;
    if effort.work(&groups, k) > PART * exact {
        return Ok(Err("for these points an exact search is as fast"));
    }
    let mut spent = 0.0;
    while spent + effort.work(&groups, k) <= PART * exact {
        let lists = descent::nearest_others(points, (&rounding, &groups), k, effort, watch)?;
        let recall = judge.recall(&lists, k);
        if recall >= wanted {
            return Ok(Ok(Nearly { lists, recall, route: "nn-descent" }));
        }
        spent += effort.work(&groups, k);
        effort = effort.doubled();
    }
    Ok(Err("too many neighbors were missed"))
}

/// Points to plan by and points to judge by, from all over the data, which are more than these.
fn samples(n: usize) -> Vec<u32> {
    spread(PLANNED_BY, n, 1).chain(spread(JUDGED_BY, n, 2)).collect()
}

/// How a search is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The groups that every point is compared with.
    pub(crate) reach: usize,
    /// The nearest by the sketch that are measured by all features.
    pub(crate) measured: usize,
    /// The neighbors of a list beyond the wanted ones.
    pub(crate) spare: usize,
}

impl Effort {
    /// As much as finds a share of the true neighbors of some points in the first lists.
    fn new(groups: &Groups<'_>, plan: &Truth, k: usize, share: f64) -> Effort {
        let spare = descent::spare(k);
        let enough = |places: &[usize]| places[(share * places.len() as f64) as usize] + 1;
        let reach = enough(&groups.places(plan)).max(LEAST_REACH);
        let measured = match groups.sketch().is_narrow() {
            true => enough(&groups.places_in_sketch(plan)).clamp(2 * (k + spare), MEASURED.max(2 * (k + spare))),
            false => k + spare,
        };
        Effort { reach, measured, spare }
    }

    /// Twice as much.
    fn doubled(self) -> Effort {
        Effort { reach: 2 * self.reach, measured: 2 * self.measured, spare: 2 * self.spare }
    }

    /// Roughly how many nanoseconds of one processor the search takes: the products in near blocks, the candidates that are
    /// measured by all features, and neighbors of neighbors in some rounds.
    fn work(self, groups: &Groups<'_>, k: usize) -> f64 {
        let (sketch, length) = (groups.sketch(), (k + self.spare).min(44) as f64);
        let products =
            (self.reach.min(groups.count()) * GROUP) as f64 * ONE_SIDED * product_time(sketch.rows().1 as f64);
        let measured =
            if sketch.is_narrow() { self.measured as f64 * MEASURE_TIME * sketch.dims() as f64 } else { 0.0 };
        sketch.order.len() as f64 * (products + measured + 8.0 * length * length)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::search::index::Index;
    use crate::search::pca_bound::tests::noise;
    use crate::{Neighbors, Search};
    use eigenfold_linalg::progress::Silent;

    const N: usize = 9_000;
    const K: usize = 8;

    /// A bent sheet with a little of all other directions; one of 300 points is the first again.
    fn bent(dims: usize, scale: f64) -> Points {
        let value = |i: usize, c: usize| {
            let i = if i.is_multiple_of(300) { 0 } else { i };
            let (u, v) = (4.0 * noise(3 * i), 4.0 * noise(3 * i + 1));
            let along = [u, v, u.sin(), v.cos(), (u + v).sin()][c % 5] * (1.0 + (c / 5) as f64).recip();
            scale * (along + 0.05 * noise(i * dims + c + 7))
        };
        Points::new(N, dims, (0..N * dims).map(|at| value(at / dims, at % dims)).collect()).unwrap()
    }

    fn search(points: &Points, metric: Metric, wanted: f64) -> Attempt {
        nearest_others(points, metric, (K, wanted), f64::INFINITY, &Watch::new(&Silent, points.rows())).unwrap()
    }

    #[test]
    fn almost_all_neighbors_are_found_with_their_distances_and_the_share_is_stated() {
        let cases = [
            (Metric::Euclidean, 20, 1.0),
            (Metric::Euclidean, 120, 1e50),
            (Metric::Euclidean, 120, 1e-120),
            (Metric::Cosine, 120, 1.0),
            (Metric::Correlation, 40, 1.0),
            (Metric::Manhattan, 20, 1.0),
        ];
        for (metric, dims, scale) in cases {
            let points = bent(dims, scale);
            let Ok(Nearly { lists: (targets, lengths), recall, .. }) = search(&points, metric, 0.99) else {
                panic!("{metric:?} {dims}: nothing was found")
            };
            let exact = Index::new(&points, metric).unwrap().nearest_others(K, &Watch::new(&Silent, N)).unwrap();
            let mut right = 0;
            for i in 0..N {
                let farthest = exact.1[(i + 1) * K - 1] * (1.0 + 1e-12);
                let list = &targets[i * K..(i + 1) * K];
                assert!(list.iter().all(|&j| j as usize != i), "{metric:?}: {i} is its own neighbor");
                assert!((1..K).all(|at| !list[..at].contains(&list[at])), "{metric:?}: {i} has a neighbor twice");
                for at in i * K..(i + 1) * K {
                    let length = metric.distance(points.row(i), points.row(targets[at] as usize));
                    assert!((lengths[at] - length).abs() <= 1e-5 * length, "{metric:?} {dims} {scale} {i}");
                    right += usize::from(length <= farthest);
                }
            }
            let share = right as f64 / exact.1.len() as f64;
            assert!(share >= 0.985, "{metric:?} {dims} {scale}: {share}");
            assert!((recall - share).abs() < 0.015, "{metric:?} {dims}: {recall} was stated, {share} is right");
        }
    }

    #[test]
    fn points_that_coincide_and_points_on_few_places_are_neighbors_like_others() {
        for places in [1, 2, 50] {
            let points = Points::new(N, 8, (0..N * 8).map(|at| noise(at / 8 % places * 8 + at % 8)).collect()).unwrap();
            let Ok(found) = search(&points, Metric::Euclidean, 0.9) else { panic!("{places}: nothing was found") };
            assert!(found.lists.1.iter().all(|&length| length == 0.0), "{places}");
        }
    }

    #[test]
    fn where_no_group_is_near_the_search_is_exact() {
        let n = POINTS_FROM + 500;
        let points = Points::new(n, 60, (0..n * 60).map(noise).collect()).unwrap();
        let search = Search { neighbors: Neighbors::Nearest(K), recall: 0.99, ..Search::default() };
        let found = search.of_points(&points, &Silent).unwrap();
        assert_eq!((found.recall, found.exact_because), (None, Some("for these points an exact search is as fast")));
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        for dims in [20, 120] {
            let points = bent(dims, 1.0);
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| search(&points, Metric::Euclidean, 0.99)).map(|found| found.lists).ok()
            };
            let one = with(1);
            assert!(one.is_some() && [2, 3, 7].into_iter().all(|threads| with(threads) == one));
        }
    }
}

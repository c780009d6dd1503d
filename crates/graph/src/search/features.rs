//! All features of the points, in the least memory in which ranks are near enough to choose among candidates.
//!
//! A byte per feature is enough where no feature is far larger than the differences of neighbors: the errors of many
//! features cancel. Four times as many points then fit into the cache. The true neighbors of some points decide.
//!
//! Most candidates are too far away, and many of these show it in their first features: a candidate is ruled out if these alone
//! have more of the largest wanted rank than they have of the rank of nearly every true neighbor.

use crate::metric::Metric;
use crate::points::Points;
use crate::search::brute::Rounding;
use crate::search::rank_block::{BLOCK, squares, sum};
use crate::search::truth::Truth;
use eigenfold_linalg::parallel;
use eigenfold_linalg::widest;

/// The largest whole number of a byte.
const LARGEST: f32 = 127.0;

/// The mean relative error of the squared distance of two neighbors that bytes may have.
const ERROR: f32 = 0.02;

/// Squares of differences of bytes that can be summed in 32 bits.
const SUMMED: usize = 1 << 14;

/// The part of all features that are measured first, which are a multiple of a line of the cache.
const HEAD: usize = 3;
const LINE: usize = 64;

/// The share of true neighbors that the first features must not rule out.
const KEPT: f64 = 0.995;

/// All features, and how candidates are ruled out.
#[derive(Debug)]
pub(crate) struct Features {
    pub(crate) values: Values,
    /// How many features are measured first; none if that would rule out nothing.
    head: usize,
    /// What part of a true neighbor's rank these have at most, nearly always.
    part: f32,
}

/// All features, centered and scaled, row after row.
#[derive(Debug)]
pub(crate) enum Values {
    /// In single precision.
    Single(Vec<f32>),
    /// As whole numbers.
    Bytes(Vec<i8>),
}

impl Features {
    /// The points in an order, and ‖x‖² of each.
    pub(crate) fn new(points: &Points, rounding: &Rounding, truth: &Truth, order: &[u32]) -> (Features, Vec<f32>) {
        let (head, part) = head(points, rounding, truth);
        if !bytes_suffice(points, rounding, truth) {
            let (values, sizes) = rounding.rows(points, order);
            return (Features { values: Values::Single(values), head, part }, sizes);
        }
        let dims = rounding.dims;
        let (mut all, mut sizes) = (vec![0i8; order.len() * dims], vec![0.0f32; order.len()]);
        let chunks = all.chunks_mut(BLOCK * dims).zip(sizes.chunks_mut(BLOCK));
        parallel::each_of(chunks.zip(order.chunks(BLOCK)), |_, ((all, sizes), ids)| {
            let (values, found) = rounding.rows_here(points, ids);
            sizes.copy_from_slice(&found);
            to_bytes(&values, all);
        });
        (Features { values: Values::Bytes(all), head, part }, sizes)
    }

    /// The features as they are.
    pub(crate) fn plain(values: Vec<f32>) -> Features {
        Features { values: Values::Single(values), head: 0, part: 1.0 }
    }

    /// Puts the rank, a squared distance or the Manhattan distance, of row `own` and the row of every index beside it; many
    /// that have a larger one than `most` are left out.
    #[inline(always)]
    pub(crate) fn measure(
        &self,
        (metric, dims): (Metric, usize),
        own: usize,
        candidates: &mut Vec<(f32, u32)>,
        most: f32,
    ) {
        if self.head > 0 && most.is_finite() {
            self.ranks((metric, dims, self.head), own, candidates);
            candidates.retain(|&(rank, _)| rank <= self.part * most);
        }
        self.ranks((metric, dims, dims), own, candidates);
    }

    /// The ranks by the first `width` of `dims` features.
    #[inline(always)]
    fn ranks(&self, (metric, dims, width): (Metric, usize, usize), own: usize, candidates: &mut [(f32, u32)]) {
        let range = |i: usize| i * dims..i * dims + width;
        match &self.values {
            Values::Single(all) if metric == Metric::Manhattan => {
                let rank = |j: u32| sum(&all[range(own)], &all[range(j as usize)], |x, y| (x - y).abs());
                candidates.iter_mut().for_each(|(value, j)| *value = rank(*j));
            }
            // Four at a time: while one is waited for, the others are on their way from memory.
            Values::Single(all) => {
                for four in candidates.chunks_mut(4) {
                    let last = four.len() - 1;
                    let others = std::array::from_fn(|at| &all[range(four[at.min(last)].1 as usize)]);
                    let ranks = squares(&all[range(own)], others);
                    four.iter_mut().zip(ranks).for_each(|(candidate, rank)| candidate.0 = rank);
                }
            }
            Values::Bytes(all) => {
                let own = &all[range(own)];
                candidates.iter_mut().for_each(|(rank, j)| *rank = squares_of_bytes(own, &all[range(*j as usize)]));
            }
        }
    }
}

/// How many features to measure first, and what part of a true neighbor's rank they have at most, nearly always.
fn head(points: &Points, rounding: &Rounding, truth: &Truth) -> (usize, f32) {
    let (dims, head) = (rounding.dims, rounding.dims / HEAD / LINE * LINE);
    if head == 0 || rounding.metric == Metric::Manhattan {
        return (0, 1.0);
    }
    let mut parts = Vec::new();
    for (&i, near) in truth.rows.iter().zip(&truth.neighbors) {
        let ids: Vec<u32> = std::iter::once(i).chain(near.iter().map(|&(_, j)| j)).collect();
        let (values, _) = rounding.rows_here(points, &ids);
        for value in values.chunks_exact(dims).skip(1) {
            let square = |width: usize| sum(&values[..width], &value[..width], |x, y| (x - y) * (x - y));
            let (first, all) = (square(head), square(dims));
            if all > 0.0 {
                parts.push(first / all);
            }
        }
    }
    parts.sort_unstable_by(f32::total_cmp);
    let part = parts.get((KEPT * parts.len() as f64) as usize).map_or(1.0, |part| *part);
    if part < 1.0 { (head, part) } else { (0, 1.0) }
}

/// Whether bytes tell the distances of true neighbors.
fn bytes_suffice(points: &Points, rounding: &Rounding, truth: &Truth) -> bool {
    if rounding.metric == Metric::Manhattan {
        return false;
    }
    let dims = rounding.dims;
    let (mut error, mut count) = (0.0f32, 0.0f32);
    for (&i, near) in truth.rows.iter().zip(&truth.neighbors) {
        let ids: Vec<u32> = std::iter::once(i).chain(near.iter().map(|&(_, j)| j)).collect();
        let (values, _) = rounding.rows_here(points, &ids);
        let mut bytes = vec![0i8; values.len()];
        to_bytes(&values, &mut bytes);
        for (value, byte) in values.chunks_exact(dims).zip(bytes.chunks_exact(dims)).skip(1) {
            let exact = sum(&values[..dims], value, |x, y| (x - y) * (x - y));
            if exact > 0.0 {
                error += ((squares_of_bytes(&bytes[..dims], byte) - exact) / exact).abs();
                count += 1.0;
            }
        }
    }
    error <= ERROR * count
}

/// Rounds numbers of at most one to whole numbers.
fn to_bytes(values: &[f32], bytes: &mut [i8]) {
    widest(
        #[inline(always)]
        || bytes.iter_mut().zip(values).for_each(|(byte, x)| *byte = (x * LARGEST).round_ties_even() as i8),
    );
}

/// The squared distance of two rows.
#[inline(always)]
fn squares_of_bytes(a: &[i8], b: &[i8]) -> f32 {
    let mut total = 0.0;
    for (a, b) in a.chunks(SUMMED).zip(b.chunks(SUMMED)) {
        let mut part = 0i32;
        for (x, y) in a.iter().zip(b) {
            let difference = i32::from(i16::from(*x) - i16::from(*y));
            part += difference * difference;
        }
        total += part as f32;
    }
    total * (LARGEST * LARGEST).recip()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::search::pca_bound::tests::noise;
    use crate::search::watch::Watch;
    use eigenfold_linalg::progress::Silent;

    /// The features of points of which one coordinate is `outlier`, chosen by the true neighbors.
    fn features(outlier: f64) -> (Features, Points) {
        let (n, d) = (600, 100);
        let value = |at: usize| if at == 77 { outlier } else { noise(at) };
        let points = Points::new(n, d, (0..n * d).map(value).collect()).unwrap();
        let rounding = Rounding::new(&points, Metric::Euclidean).unwrap();
        let rows = (1..n as u32).step_by(9).collect();
        let truth = Truth::new(&points, &rounding, rows, 5, &Watch::new(&Silent, n)).unwrap();
        let order: Vec<u32> = (0..n as u32).collect();
        (Features::new(&points, &rounding, &truth, &order).0, points)
    }

    #[test]
    fn bytes_tell_distances_unless_one_number_is_far_larger_than_all_others() {
        let (all, points) = features(0.5);
        assert!(matches!(all.values, Values::Bytes(_)));
        let mut ranks: Vec<(f32, u32)> = (10..60).map(|j| (0.0, j)).collect();
        all.measure((Metric::Euclidean, 100), 5, &mut ranks, f32::INFINITY);
        let exact = |j: u32| Metric::Euclidean.distance(points.row(5), points.row(j as usize)).powi(2);
        let ratio = exact(10) / f64::from(ranks[0].0);
        assert!(ranks.iter().all(|&(rank, j)| (ratio * f64::from(rank) / exact(j) - 1.0).abs() < 0.03));
        assert!(matches!(features(1e6).0.values, Values::Single(_)));
    }

    /// 300 features that are all alike: the first of them rule out many candidates, but nearly no neighbor.
    #[test]
    fn first_features_rule_out_what_is_far_and_keep_neighbors() {
        let (n, d) = (900, 300);
        let value = |i: usize, c: usize| noise(i % 30 * d + c) + 0.5 * noise(i * d + c + 7);
        let points = Points::new(n, d, (0..n * d).map(|at| value(at / d, at % d)).collect()).unwrap();
        let rounding = Rounding::new(&points, Metric::Euclidean).unwrap();
        let truth = Truth::new(&points, &rounding, (0..n as u32).collect(), 10, &Watch::new(&Silent, n)).unwrap();
        let order: Vec<u32> = (0..n as u32).collect();
        let all = Features::new(&points, &rounding, &truth, &order).0;
        assert_eq!(all.head, LINE);
        let (mut kept, mut measured) = (0, 0);
        for (i, near) in truth.neighbors.iter().enumerate() {
            let everyone = || order.iter().filter(|&&j| j as usize != i).map(|&j| (0.0, j)).collect::<Vec<_>>();
            let (mut ranks, mut some) = (everyone(), everyone());
            all.measure((Metric::Euclidean, d), i, &mut ranks, f32::INFINITY);
            ranks.sort_unstable_by(eigenfold_linalg::sort::by_key);
            all.measure((Metric::Euclidean, d), i, &mut some, ranks[9].0);
            kept += near.iter().filter(|(_, j)| some.iter().any(|candidate| candidate.1 == *j)).count();
            measured += some.len();
        }
        assert!(kept as f64 >= 0.98 * 10.0 * n as f64, "{kept}");
        assert!(measured < n * n / 4, "{measured}");
    }

    #[test]
    fn sums_of_very_many_bytes_do_not_overflow() {
        let (a, b) = (vec![127i8; 70_000], vec![-127i8; 70_000]);
        assert!((squares_of_bytes(&a, &b) / (4.0 * 70_000.0) - 1.0).abs() < 1e-5);
    }
}

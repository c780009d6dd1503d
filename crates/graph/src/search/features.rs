//! All features of the points, in the least memory in which ranks are near enough to choose among candidates.
//!
//! A byte per feature is enough where no feature is far larger than the differences of neighbors: the errors of many
//! features cancel. Four times as many points then fit into the cache. The true neighbors of some points decide.

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

/// All features, centered and scaled, row after row.
#[derive(Debug)]
pub(crate) enum Features {
    /// In single precision.
    Single(Vec<f32>),
    /// As whole numbers.
    Bytes(Vec<i8>),
}

impl Features {
    /// The points in an order, and ‖x‖² of each.
    pub(crate) fn new(points: &Points, rounding: &Rounding, truth: &Truth, order: &[u32]) -> (Features, Vec<f32>) {
        if !bytes_suffice(points, rounding, truth) {
            let (values, sizes) = rounding.rows(points, order);
            return (Features::Single(values), sizes);
        }
        let dims = rounding.dims;
        let (mut all, mut sizes) = (vec![0i8; order.len() * dims], vec![0.0f32; order.len()]);
        let chunks = all.chunks_mut(BLOCK * dims).zip(sizes.chunks_mut(BLOCK));
        parallel::each_of(chunks.zip(order.chunks(BLOCK)), |_, ((all, sizes), ids)| {
            let (values, found) = rounding.rows_here(points, ids);
            sizes.copy_from_slice(&found);
            to_bytes(&values, all);
        });
        (Features::Bytes(all), sizes)
    }

    /// Puts the rank, a squared distance or the Manhattan distance, of row `own` and the row of every index beside it.
    #[inline(always)]
    pub(crate) fn measure(&self, (metric, dims): (Metric, usize), own: usize, candidates: &mut [(f32, u32)]) {
        let range = |i: usize| i * dims..(i + 1) * dims;
        match self {
            Features::Single(all) if metric == Metric::Manhattan => {
                let rank = |j: u32| sum(&all[range(own)], &all[range(j as usize)], |x, y| (x - y).abs());
                candidates.iter_mut().for_each(|(value, j)| *value = rank(*j));
            }
            // Four at a time: while one is waited for, the others are on their way from memory.
            Features::Single(all) => {
                for four in candidates.chunks_mut(4) {
                    let last = four.len() - 1;
                    let others = std::array::from_fn(|at| &all[range(four[at.min(last)].1 as usize)]);
                    let ranks = squares(&all[range(own)], others);
                    four.iter_mut().zip(ranks).for_each(|(candidate, rank)| candidate.0 = rank);
                }
            }
            Features::Bytes(all) => {
                let own = &all[range(own)];
                candidates.iter_mut().for_each(|(rank, j)| *rank = squares_of_bytes(own, &all[range(*j as usize)]));
            }
        }
    }
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
        assert!(matches!(all, Features::Bytes(_)));
        let mut ranks: Vec<(f32, u32)> = (10..60).map(|j| (0.0, j)).collect();
        all.measure((Metric::Euclidean, 100), 5, &mut ranks);
        let exact = |j: u32| Metric::Euclidean.distance(points.row(5), points.row(j as usize)).powi(2);
        let ratio = exact(10) / f64::from(ranks[0].0);
        assert!(ranks.iter().all(|&(rank, j)| (ratio * f64::from(rank) / exact(j) - 1.0).abs() < 0.03));
        assert!(matches!(features(1e6).0, Features::Single(_)));
    }

    #[test]
    fn sums_of_very_many_bytes_do_not_overflow() {
        let (a, b) = (vec![127i8; 70_000], vec![-127i8; 70_000]);
        assert!((squares_of_bytes(&a, &b) / (4.0 * 70_000.0) - 1.0).abs() < 1e-5);
    }
}

//! The points along a few leading directions, and how much each has besides: enough to rule out most pairs.
//!
//! With V of m orthonormal columns, p = Vᵀx and ρ = ‖x − Vp‖, Cauchy and Schwarz give a lower bound of every distance,
//!
//! ```text
//! ‖x[i] − x[j]‖² ≥ ‖p[i] − p[j]‖² + (ρ[i] − ρ[j])²,
//! ```
//!
//! which is the squared distance of points with m + 1 coordinates and the same norms. A pair it does not rule out is
//! ranked again by all coordinates, so the answer stays exact whatever V is. V spans the principal directions of a
//! sample. The best number of them is tried on another: a larger one costs more per pair, a smaller one rules out
//! fewer. Of 70,000 digits in 784 features, 63 directions leave 900 pairs per point for k = 90, and 95 leave 450.

use crate::metric::Metric;
use crate::search::brute::{Blocks, Rows};
use crate::search::rank_block::{BLOCK, products};
use crate::search::shortlist::View;
use eigenfold_linalg::dense::{dense_product, symmetric_eigen};
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use faer::{Mat, MatRef};
use std::ops::Range;

/// Fewer points than this, or fewer features, are not worth a PCA bound.
const POINTS_FROM: usize = 4_000;
const DIMS_FROM: usize = 96;

/// Numbers of directions to choose from; with the remainder, multiples of what a processor multiplies at once.
const WIDTHS: [usize; 7] = [31, 47, 63, 95, 127, 191, 255];

/// Points whose principal directions are taken.
pub(crate) const SAMPLE: usize = 512;

/// Points among which the neighbors of [`TRIALS`] of them are looked for, to count the pairs that are not ruled out.
const TRIED: usize = 2048;
const TRIALS: usize = 64;

/// What one product of a single pair costs, compared with one in a block of products that serve both points, and what
/// else a pair costs.
const SINGLE: f64 = 32.0;
const PAIR: f64 = 24.0;

/// Directions with less than this share of the first one's variance are as good as noise.
const NEGLIGIBLE: f64 = 1e-6;

/// The points in the blocks nearest to a block, whose pairs with it are ranked by all coordinates at once: a constant
/// number plus a number per neighbor; or a share of all points if that is more.
const NEAR: (usize, usize, f64) = (1500, 30, 0.02);

/// Leading directions by which the points are put in order, down to leaves of this size, and steps of the power iteration
/// that finds the direction of a split.
const ORDERED_BY: usize = 32;
const LEAF: usize = 12;
const POWERS: usize = 6;

/// The PCA bound of all points.
#[derive(Debug)]
pub(crate) struct PcaBound {
    /// The points in an order in which neighbors are mostly not far apart; the rows are in this order.
    pub(crate) order: Vec<u32>,
    /// p, then ρ.
    rows: Rows,
    /// Coordinates in a row.
    dims: usize,
    /// All coordinates, in the same order: what is looked at together is together in memory.
    full: Vec<f32>,
}

impl PcaBound {
    /// The PCA bound that makes the search for `k` neighbors fastest, or nothing where none does.
    pub(crate) fn new(blocks: &Blocks, k: usize) -> Option<PcaBound> {
        let (rows, dims) = (blocks.rows(), blocks.dims());
        let n = rows.base.len();
        if n < POINTS_FROM || dims < DIMS_FROM || blocks.metric() == Metric::Manhattan {
            return None;
        }
        let directions = leading(spread(blocks, SAMPLE).as_ref());
        let width = best_width(spread(blocks, TRIED).as_ref(), directions.as_ref(), (k * TRIED).div_ceil(n))?;
        let directions = directions.get(.., ..width);
        let mut values = vec![0.0f32; n * (width + 1)];
        parallel::chunks_mut(&mut values, BLOCK * (width + 1), |chunk, out| {
            let rows = &rows.values[chunk * BLOCK * dims..];
            let x = Mat::from_fn(out.len() / (width + 1), dims, |i, c| f64::from(rows[i * dims + c]));
            let p = dense_product(x.as_ref(), directions);
            for (i, out) in out.chunks_exact_mut(width + 1).enumerate() {
                (0..width).for_each(|q| out[q] = p[(i, q)] as f32);
                out[width] = (remainder(x.as_ref(), p.as_ref(), i) as f32).next_up();
            }
        });
        let mut order: Vec<u32> = (0..n as u32).collect();
        sort_by_halves(&values, width + 1, (BLOCK, LEAF), &mut order);
        let ordered = |from: &[f32]| order.iter().map(|&i| from[i as usize]).collect();
        let full = in_order(&rows.values, dims, &order);
        let values = in_order(&values, width + 1, &order);
        let rows = Rows { values, base: ordered(&rows.base), error_bound: ordered(&rows.error_bound) };
        Some(PcaBound { order, rows, dims: width + 1, full })
    }

    pub(crate) fn view(&self) -> View<'_> {
        View { rows: &self.rows, base: &self.rows.base, dims: self.dims, bound: Some(self), exact: false }
    }

    /// All coordinates of some rows.
    pub(crate) fn full(&self, rows: &Range<usize>) -> &[f32] {
        let dims = self.full.len() / self.order.len();
        &self.full[rows.start * dims..rows.end * dims]
    }

    /// Puts r[i,j] − β[j] by all coordinates in the place of the PCA bound's. Four at a time: while one is waited for, the
    /// others are on their way from memory.
    #[inline(always)]
    pub(crate) fn ranks_below(&self, i: usize, others: &mut [(f32, u32)]) {
        let row = |i: usize| self.full(&(i..i + 1));
        for four in others.chunks_mut(4) {
            let products = products(row(i), std::array::from_fn(|at| row(four[at.min(four.len() - 1)].1 as usize)));
            for ((rank, j), product) in four.iter_mut().zip(products) {
                *rank = self.rows.base[*j as usize] - 2.0 * product;
            }
        }
    }

    /// All pairs of blocks of rows: first the pairs in which one block is among the nearest to the other, then all other pairs.
    pub(crate) fn pairs_of_blocks(&self, k: usize) -> [Vec<(usize, usize)>; 2] {
        pairs_of_blocks(&self.rows.values, self.dims, k)
    }
}

/// All pairs of blocks of rows of `dims` values: first the pairs in which one block is among the nearest to the other, then all
/// other pairs.
pub(crate) fn pairs_of_blocks(values: &[f32], dims: usize, k: usize) -> [Vec<(usize, usize)>; 2] {
    let center = |rows: &[f32]| {
        let mut sums = vec![0.0f32; dims];
        rows.chunks_exact(dims).for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x));
        let count = (rows.len() / dims) as f32;
        sums.iter_mut().for_each(|sum| *sum /= count);
        sums
    };
    let centers: Vec<Vec<f32>> = parallel::collect_of(values.chunks(BLOCK * dims), |_, rows| center(rows));
    let (count, n) = (centers.len(), values.len() / dims);
    let reach = (NEAR.0 + NEAR.1 * k).max((NEAR.2 * n as f64) as usize).div_ceil(BLOCK);
    let nearest = |a: usize| {
        let mut apart: Vec<(f32, usize)> = (0..count).map(|b| (square(&centers[a], &centers[b]), b)).collect();
        apart.sort_unstable_by(sort::by_key);
        let mut near = vec![false; count];
        apart.iter().take(reach).for_each(|&(_, b)| near[b] = true);
        near[a] = true;
        near
    };
    let near: Vec<Vec<bool>> = parallel::collect(count, nearest);
    let all = (0..count).flat_map(|a| (a..count).map(move |b| (a, b)));
    all.partition(|&(a, b)| near[a][b] || near[b][a]).into()
}

fn square(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Puts points in an order in which neighbors are mostly not far apart: halves along the direction in which the points
/// spread most, each half treated likewise. Whole blocks stay together, and leaves are
/// not divided.
pub(crate) fn sort_by_halves(values: &[f32], dims: usize, (block, leaf): (usize, usize), points: &mut [u32]) {
    if points.len() <= leaf {
        return;
    }
    let seen = dims.min(ORDERED_BY);
    let row = |i: u32| &values[i as usize * dims..][..seen];
    let sample: Vec<&[f32]> = points.iter().step_by(points.len().div_ceil(128)).map(|&i| row(i)).collect();
    let mut center = vec![0.0f32; seen];
    sample.iter().for_each(|row| center.iter_mut().zip(*row).for_each(|(c, x)| *c += x / sample.len() as f32));
    let farthest = sample.iter().max_by(|a, b| square(a, &center).total_cmp(&square(b, &center)));
    let mut direction: Vec<f32> = farthest.map_or(vec![0.0; seen], |row| row.to_vec());
    direction.iter_mut().zip(&center).for_each(|(d, c)| *d -= c);
    for _ in 0..POWERS {
        let mut next = vec![0.0f32; seen];
        for row in &sample {
            let along: f32 = (0..seen).map(|q| (row[q] - center[q]) * direction[q]).sum();
            (0..seen).for_each(|q| next[q] += along * (row[q] - center[q]));
        }
        let length = next.iter().map(|x| x * x).sum::<f32>().sqrt();
        if !(length.is_normal() && length.is_finite()) {
            break;
        }
        next.iter_mut().for_each(|x| *x /= length);
        direction = next;
    }
    let along = |i: u32| -> f32 { row(i).iter().zip(&direction).map(|(x, d)| x * d).sum() };
    let mut keyed: Vec<(f32, u32)> = points.iter().map(|&i| (along(i), i)).collect();
    let half = if points.len() > block { points.len().div_ceil(block) / 2 * block } else { points.len() / 2 };
    keyed.select_nth_unstable_by(half, sort::by_key);
    points.iter_mut().zip(keyed).for_each(|(point, (_, i))| *point = i);
    let (low, high) = points.split_at_mut(half);
    rayon::join(
        || sort_by_halves(values, dims, (block, leaf), low),
        || sort_by_halves(values, dims, (block, leaf), high),
    );
}

/// Rows of `dims` values in another order.
pub(crate) fn in_order(rows: &[f32], dims: usize, order: &[u32]) -> Vec<f32> {
    let mut out = vec![0.0; rows.len()];
    parallel::chunks_mut(&mut out, dims, |at, out| out.copy_from_slice(&rows[order[at] as usize * dims..][..dims]));
    out
}

/// ρ, and a little more than rounding could have taken from it: a larger one only lowers the bound.
fn remainder(x: MatRef<'_, f64>, p: MatRef<'_, f64>, i: usize) -> f64 {
    let (size, seen) = (x.row(i).squared_norm_l2(), p.row(i).squared_norm_l2());
    ((size - seen).max(0.0) + 1e-9 * size).sqrt()
}

/// Points from all over the data, at most `count`, in double precision.
pub(crate) fn spread(blocks: &Blocks, count: usize) -> Mat<f64> {
    let (rows, dims) = (blocks.rows(), blocks.dims());
    let n = rows.base.len();
    Mat::from_fn(count.min(n), dims, |i, c| f64::from(rows.values[i * n / count.min(n) * dims + c]))
}

/// The principal directions of points around the origin, leading ones first, no more than could be of use.
pub(crate) fn leading(x: MatRef<'_, f64>) -> Mat<f64> {
    let gram = dense_product(x, x.transpose());
    let Ok((values, vectors)) = symmetric_eigen(gram.as_ref()) else { return Mat::zeros(x.ncols(), 0) };
    let most = (x.ncols() / 2).min(WIDTHS[WIDTHS.len() - 1]);
    let count = values.iter().take(most).take_while(|&&value| value > NEGLIGIBLE * values[0]).count();
    let scaled = Mat::from_fn(values.len(), count, |i, q| vectors[(i, q)] / values[q].sqrt());
    dense_product(x.transpose(), scaled.as_ref())
}

/// How many of the directions cost least for lists of `k` among the tried points; nothing if all products cost less.
fn best_width(x: MatRef<'_, f64>, directions: MatRef<'_, f64>, k: usize) -> Option<usize> {
    let (n, dims) = (x.nrows(), x.ncols() as f64);
    // Points that fill fewer directions than the narrowest PCA bound has are all in those.
    let all = (1..WIDTHS[0]).contains(&directions.ncols()).then_some(directions.ncols());
    let widths: Vec<usize> = WIDTHS.into_iter().filter(|&width| width <= directions.ncols()).chain(all).collect();
    let trials: Vec<usize> = (0..n).step_by(n.div_ceil(TRIALS)).collect();
    let p = dense_product(directions.transpose(), x.transpose());
    let products = dense_product(x, Mat::from_fn(x.ncols(), trials.len(), |c, t| x[(trials[t], c)]).as_ref());
    let sizes: Vec<f64> = (0..n).map(|i| x.row(i).squared_norm_l2()).collect();
    let mut left = vec![0usize; widths.len()];
    for (t, &i) in trials.iter().enumerate() {
        let others = || (0..n).filter(|&j| j != i);
        let mut exact: Vec<f64> = others().map(|j| sizes[i] + sizes[j] - 2.0 * products[(j, t)]).collect();
        let (_, &mut limit, _) = exact.select_nth_unstable_by(k.clamp(1, n - 1) - 1, f64::total_cmp);
        for j in others() {
            let (mut seen, mut rest_i, mut rest_j, mut from) = (0.0, sizes[i], sizes[j], 0);
            for (left, &width) in left.iter_mut().zip(&widths) {
                for q in from..width {
                    let (a, b) = (p[(q, i)], p[(q, j)]);
                    (seen, rest_i, rest_j) = (seen + (a - b) * (a - b), rest_i - a * a, rest_j - b * b);
                }
                from = width;
                *left += usize::from(seen + (rest_i.max(0.0).sqrt() - rest_j.max(0.0).sqrt()).powi(2) <= limit);
            }
        }
    }
    let cost = |at: usize| {
        let share = left[at] as f64 / (trials.len() * n) as f64;
        PAIR + (widths[at] + 1) as f64 + SINGLE * dims * share
    };
    let best = (0..widths.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b)))?;
    (cost(best) < 0.8 * (PAIR + dims)).then(|| widths[best])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
pub(crate) mod tests {
    use super::*;
    use crate::points::Points;
    use crate::search::best::Best;
    use crate::search::filter::Others;
    use crate::search::index::Lists;
    use crate::search::watch::Watch;
    use eigenfold_linalg::progress::Silent;

    const N: usize = 4500;
    const DIMS: usize = 120;

    /// Numbers from −1 to 1 that look random, by the mixing of splitmix64.
    pub(crate) fn noise(i: usize) -> f64 {
        let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Points near a bent sheet of few directions, with a little of all the others, and some of them twice.
    fn bent(noisy: f64) -> Points {
        let value = |i: usize, c: usize| {
            let (u, v) = (4.0 * noise(3 * i), 4.0 * noise(3 * i + 1));
            let along = [u, v, u.sin(), v.cos(), (u + v).sin()][c % 5] * (1.0 + (c / 5) as f64).recip();
            along + noisy * noise(i * DIMS + c + 7)
        };
        let rows: Vec<f64> = (0..N * DIMS).map(|at| value(at / DIMS % 4400, at % DIMS)).collect();
        Points::new(N, DIMS, rows).unwrap()
    }

    fn plain(blocks: &Blocks, points: &Points, ids: &[u32], k: usize) -> Lists {
        let mut lists = Lists::default();
        blocks.nearest(points, (points, ids), k, &Others, &mut |best: &Best| best.write(&mut lists));
        lists
    }

    #[test]
    fn neighbors_by_the_pca_bound_are_those_by_all_coordinates() {
        let cases = [(Metric::Euclidean, 1.0, 0.02), (Metric::Euclidean, 1e50, 0.0), (Metric::Cosine, 1e-3, 0.02)];
        for (metric, scale, noisy) in cases {
            let values = bent(noisy).values().iter().map(|x| x * scale).collect();
            let points = Points::new(N, DIMS, values).unwrap();
            let blocks = Blocks::new(&points, metric).unwrap();
            for k in [1, 12] {
                assert!(PcaBound::new(&blocks, k).is_some(), "{metric:?} {k}: not what is tested here");
                let (targets, lengths) = blocks.nearest_others(&points, k, &Watch::new(&Silent, N)).unwrap();
                let ids: Vec<u32> = (0..N as u32).step_by(9).collect();
                let exact = plain(&blocks, &points, &ids, k);
                for (at, &i) in ids.iter().enumerate() {
                    let (found, right) = (i as usize * k..(i as usize + 1) * k, at * k..(at + 1) * k);
                    assert_eq!(targets[found.clone()], exact.0[right.clone()], "{metric:?} {scale} {k} {i}");
                    assert_eq!(lengths[found], exact.1[right], "{metric:?} {scale} {k} {i}");
                }
            }
        }
    }

    #[test]
    fn noise_has_no_pca_bound_that_pays() {
        let points = Points::new(N, DIMS, (0..N * DIMS).map(noise).collect()).unwrap();
        assert!(PcaBound::new(&Blocks::new(&points, Metric::Euclidean).unwrap(), 10).is_none());
        let same = Points::new(N, DIMS, vec![3.0; N * DIMS]).unwrap();
        assert!(PcaBound::new(&Blocks::new(&same, Metric::Euclidean).unwrap(), 10).is_none());
    }

    #[test]
    fn an_order_by_halves_keeps_every_point_and_brings_neighbors_together() {
        let values: Vec<f32> = (0..2 * 3000).map(|at| noise(at) as f32).collect();
        let mut order: Vec<u32> = (0..3000).collect();
        sort_by_halves(&values, 2, (BLOCK, LEAF), &mut order);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(at, &i)| at == i as usize));
        let step = |order: &[u32]| {
            let row = |i: u32| &values[2 * i as usize..2 * i as usize + 2];
            order.windows(2).map(|two| square(row(two[0]), row(two[1]))).sum::<f32>()
        };
        assert!(step(&order) < 0.05 * step(&sorted), "{} {}", step(&order), step(&sorted));
    }
}

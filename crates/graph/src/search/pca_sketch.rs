//! Nearest neighbors that are almost all right, for points with many features: ranked by a sketch, the best measured.
//!
//! With V of m orthonormal columns, p = Vᵀx and ρ = ‖x − Vp‖, the distance of two points is about
//!
//! ```text
//! ‖x[i] − x[j]‖² ≈ ‖p[i] − p[j]‖² + ρ[i]² + ρ[j]² − 2 c ρ[i] ρ[j],
//! ```
//!
//! where c is the cosine that what V leaves out of two neighbors usually has. It is exact on average, where an
//! [PCA bound](super::pca_bound) has c = 1 and is a bound: less to look at again, and nothing certain. All pairs are ranked by
//! m + 1 products; of every point the best few are measured by all features, in single precision where its digits
//! suffice.
//!
//! The true neighbors of some points give c, the best number of directions, and the number of ranks to keep for the wanted
//! share of all neighbors to be among them, and half of what may be missed besides. Of 70,000 digits in 784 features, 95 directions and 160 kept ranks find
//! 99.5 % of 90 neighbors. If the features are independent, no sketch is cheaper than an exact search, and
//! none is made.

#[cfg(test)]
mod tests;

use crate::metric::Metric;
use crate::points::Points;
use crate::search::best::Best;
use crate::search::brute::Blocks;
use crate::search::index::{Lists, concat, put_back};
use crate::search::pca_bound::{SAMPLE, in_order, leading, pairs_of_blocks, sort_by_halves, spread};
use crate::search::rank_block::{BLOCK, Tile, squares, sum};
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel::{self, Scratch};
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Fewer features than this are not worth a sketch.
const DIMS_FROM: usize = 96;

/// Numbers of directions to choose from; with the remainder, multiples of what a processor multiplies at once.
const WIDTHS: [usize; 5] = [31, 47, 63, 95, 127];

/// Points whose true neighbors are found for the choice.
const TRIALS: usize = 96;

/// What one product of a single pair costs, compared with one in a block of products that serve both points, and what
/// else a pair costs.
const SINGLE: f64 = 24.0;
const PAIR: f64 = 16.0;

/// Columns of a tile that are ranked and looked through while they are in the cache.
const STRIP: usize = 96;

/// Lanes looked at together.
const LANES: usize = 16;

/// Squared distances below this part of the points' squared norms have lost too many digits in single precision.
const LOST: f32 = 1e-3;

/// The parameters of a sketch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plan {
    /// Directions.
    width: usize,
    /// c.
    cosine: f32,
    /// Ranks kept per point.
    keep: usize,
}

/// The `k` nearest other points of every point, most of them; nothing where an exact search costs no more.
pub(crate) fn nearest_others(
    blocks: &Blocks,
    points: &Points,
    k: usize,
    wanted: f64,
    watch: &Watch,
) -> Result<Option<Lists>> {
    let (rows, dims, n) = (blocks.rows(), blocks.dims(), points.rows());
    if dims < DIMS_FROM || blocks.metric() == Metric::Manhattan {
        return Ok(None);
    }
    let directions = leading(spread(blocks, SAMPLE).as_ref());
    let most = directions.ncols().min(WIDTHS[WIDTHS.len() - 1]);
    if most < WIDTHS[0] {
        return Ok(None);
    }
    let projected = project(&rows.values, dims, directions.get(.., ..most));
    watch.step(0)?;
    let sizes: Vec<f32> = (0..n).map(|i| rows.size(i)).collect();
    let Some(plan) = plan(blocks, &projected, &sizes, k, 0.5 * (1.0 + wanted)) else { return Ok(None) };
    let mut values = vec![0.0f32; n * (plan.width + 1)];
    parallel::chunks_mut(&mut values, plan.width + 1, |i, out| {
        let p = &projected[i * most..][..plan.width];
        out[..plan.width].copy_from_slice(p);
        out[plan.width] = plan.cosine.sqrt() * remainder(sizes[i], p);
    });
    drop(projected);
    let mut order: Vec<u32> = (0..n as u32).collect();
    sort_by_halves(&values, plan.width + 1, &mut order);
    let values = in_order(&values, plan.width + 1, &order);
    let sizes: Vec<f32> = order.iter().map(|&i| sizes[i as usize]).collect();
    let kept = ranked(&values, &sizes, plan, k, watch)?;
    drop(values);
    let full = in_order(&rows.values, dims, &order);
    let parts = parallel::try_collect_of(kept, |block, side| {
        watch.step(0)?;
        let mut lists = Lists::default();
        for (at, list) in side.lists.into_iter().enumerate() {
            measured(blocks, points, (&order, &full, &sizes), block * BLOCK + at, list, k).write(&mut lists);
        }
        Ok(lists)
    })?;
    Ok(Some(put_back(&concat(parts), &order, k)))
}

/// Vᵀx of every row.
fn project(values: &[f32], dims: usize, directions: MatRef<'_, f64>) -> Vec<f32> {
    let width = directions.ncols();
    let directions = Mat::from_fn(dims, width, |c, q| directions[(c, q)] as f32);
    let mut out = vec![0.0f32; values.len() / dims * width];
    parallel::chunks_mut(&mut out, BLOCK * width, |block, out| {
        let count = out.len() / width;
        let x = MatRef::from_row_major_slice(&values[block * BLOCK * dims..][..count * dims], count, dims);
        let out = MatMut::from_row_major_slice_mut(out, count, width);
        matmul(out, Accum::Replace, x, directions.as_ref(), 1.0f32, Par::Seq);
    });
    out
}

/// ρ, by ‖x‖² and p.
#[inline(always)]
fn remainder(size: f32, p: &[f32]) -> f32 {
    (size - p.iter().map(|x| x * x).sum::<f32>()).max(0.0).sqrt()
}

/// The cheapest sketch that keeps the wanted share of the true neighbors of some points; nothing if all products cost less.
fn plan(blocks: &Blocks, projected: &[f32], sizes: &[f32], k: usize, wanted: f64) -> Option<Plan> {
    let (n, dims) = (sizes.len(), blocks.dims());
    let most = projected.len() / n;
    let widths: Vec<usize> = WIDTHS.into_iter().filter(|&width| width <= most).collect();
    let trials: Vec<usize> = (0..n).step_by(n.div_ceil(TRIALS)).collect();
    let neighbors = nearest_of_some(blocks, &trials, sizes, k);
    let row = |i: usize| &projected[i * most..(i + 1) * most];
    let rests: Vec<Vec<f32>> =
        widths.iter().map(|&width| parallel::collect(n, |i| remainder(sizes[i], &row(i)[..width]))).collect();
    // The product of what is left out of two points is c ρ[i] ρ[j] on average: c by least squares over all neighbors.
    let cosines: Vec<f32> = widths
        .iter()
        .zip(&rests)
        .map(|(&width, rests)| {
            let (mut both, mut square) = (0.0f64, 0.0f64);
            for (&i, near) in trials.iter().zip(&neighbors) {
                for &(rank, j) in near {
                    let j = j as usize;
                    let product = 0.5 * (sizes[j] - rank) - dot(&row(i)[..width], &row(j)[..width]);
                    let rests = f64::from(rests[i] * rests[j]);
                    (both, square) = (both + f64::from(product) * rests, square + rests * rests);
                }
            }
            if square > 0.0 { (both / square).clamp(0.0, 1.0) as f32 } else { 0.0 }
        })
        .collect();
    // In which places the true neighbors stand by the sketches of every width.
    let places: Vec<Vec<Vec<usize>>> = parallel::collect(trials.len(), |t| {
        let i = trials[t];
        let (mut products, mut ranks) = (vec![0.0f32; n], vec![0.0f32; n]);
        let mut from = 0;
        let mut of_width = |at: usize| {
            let (segment, rests) = (from..widths[at], &rests[at]);
            let (own, rest) = (&row(i)[segment.clone()], cosines[at] * rests[i]);
            widest(
                #[inline(always)]
                || {
                    for j in 0..n {
                        products[j] += dot(own, &row(j)[segment.clone()]);
                        ranks[j] = sizes[j] - 2.0 * (products[j] + rest * rests[j]);
                    }
                },
            );
            from = widths[at];
            places_of(&neighbors[t], &ranks, i)
        };
        (0..widths.len()).map(&mut of_width).collect()
    });
    let plan_of = |at: usize| {
        let mut places: Vec<usize> = places.iter().flat_map(|places| &places[at]).copied().collect();
        let last = ((wanted * places.len() as f64).ceil() as usize).clamp(1, places.len()) - 1;
        let (_, &mut keep, _) = places.select_nth_unstable(last);
        Plan { width: widths[at], cosine: cosines[at], keep: keep.max(k) }
    };
    let cost =
        |plan: &Plan| 0.5 * n as f64 * (PAIR + (plan.width + 1) as f64) + plan.keep as f64 * SINGLE * dims as f64;
    let best = (0..widths.len()).map(plan_of).min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    (cost(&best) < 0.4 * n as f64 * (PAIR + dims as f64)).then_some(best)
}

/// a·b; many short chains of additions, since a long one waits for itself.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum(a, b, |x, y| x * y)
}

/// The nearest others of some points, with their ranks ‖x[i] − x[j]‖² − ‖x[i]‖².
fn nearest_of_some(blocks: &Blocks, some: &[usize], sizes: &[f32], k: usize) -> Vec<Vec<(f32, u32)>> {
    let (dims, all) = (blocks.dims(), &blocks.rows().values);
    let gathered: Vec<f32> = some.iter().flat_map(|&i| &all[i * dims..(i + 1) * dims]).copied().collect();
    let tiles: Vec<Tile> = parallel::collect_of(all.chunks(BLOCK * dims), |_, rows| {
        let mut tile = Tile::default();
        tile.fill(blocks.metric(), dims, rows, &gathered);
        tile
    });
    parallel::collect(some.len(), |t| {
        let products = tiles.iter().flat_map(|tile| tile.column(t));
        let ranks = products.zip(sizes).zip(0u32..).map(|((product, size), j)| (product + size, j));
        let mut near: Vec<(f32, u32)> = ranks.filter(|&(_, j)| j as usize != some[t]).collect();
        shorten(&mut near, k);
        near
    })
}

/// In which places the given points stand when all are sorted by rank, `own` left out.
fn places_of(given: &[(f32, u32)], ranks: &[f32], own: usize) -> Vec<usize> {
    let mut limits: Vec<f32> = given.iter().map(|&(_, j)| ranks[j as usize]).collect();
    limits.sort_unstable_by(f32::total_cmp);
    let last = limits.last().copied().unwrap_or(f32::NEG_INFINITY);
    let mut counts = vec![0usize; limits.len()];
    for (j, &rank) in ranks.iter().enumerate() {
        if rank <= last && j != own {
            counts[limits.partition_point(|&limit| limit < rank)] += 1;
        }
    }
    let mut place = 0;
    counts
        .iter()
        .map(|count| {
            place += count;
            place
        })
        .collect()
}

/// The lists of a block of points in the making.
struct Side {
    /// For each point, the rank that a candidate must not exceed.
    limits: Vec<f32>,
    /// Ranks with the rows they belong to.
    lists: Vec<Vec<(f32, u32)>>,
}

impl Side {
    #[inline(always)]
    fn take(&mut self, i: usize, rank: f32, row: usize, keep: usize) {
        let list = &mut self.lists[i];
        list.push((rank, row as u32));
        if list.len() >= keep + keep / 2 + 32 {
            self.limits[i] = shorten(list, keep);
        }
    }
}

/// Leaves the `keep` smallest and returns the largest of those. Which they are does not depend on the order in which
/// candidates came.
fn shorten(list: &mut Vec<(f32, u32)>, keep: usize) -> f32 {
    if list.len() > keep {
        list.select_nth_unstable_by(keep - 1, sort::by_key);
        list.truncate(keep);
    }
    list.last().map_or(f32::INFINITY, |last| last.0)
}

/// The best of all pairs by the sketch, a few per row; every pair of blocks is computed once, for both its sides.
fn ranked(values: &[f32], sizes: &[f32], plan: Plan, k: usize, watch: &Watch) -> Result<Vec<Side>> {
    let (n, dims, keep) = (sizes.len(), plan.width + 1, plan.keep);
    let block = |b: usize| b * BLOCK..n.min((b + 1) * BLOCK);
    let sides: Vec<Mutex<Side>> = (0..n.div_ceil(BLOCK))
        .map(|b| block(b).len())
        .map(|count| Mutex::new(Side { limits: vec![f32::INFINITY; count], lists: vec![Vec::new(); count] }))
        .collect();
    let pairs = pairs_of_blocks(values, dims, k);
    let watch = watch.again(pairs[0].len() + pairs[1].len());
    let tiles = Scratch::new(Tile::default);
    let work = |tile: &mut Tile, (a, b): (usize, usize)| {
        watch.step(1)?;
        let down = block(a);
        for start in block(b).step_by(STRIP) {
            let across = start..block(b).end.min(start + STRIP);
            let rows = |rows: &Range<usize>| &values[rows.start * dims..rows.end * dims];
            tile.fill(Metric::Euclidean, dims, rows(&down), rows(&across));
            // The lower block first, so that no two wait for each other.
            let mut below = lock(&sides[a]);
            let mut above = (a != b).then(|| lock(&sides[b]));
            widest(
                #[inline(always)]
                || look_through(tile, sizes, (&down, &across), (&mut below, above.as_deref_mut()), keep),
            );
        }
        Ok(())
    };
    // Near blocks first: they make the limits.
    for pairs in pairs {
        parallel::try_collect(pairs.len(), |at| tiles.lend(|tile| work(tile, pairs[at])))?;
    }
    let mut sides: Vec<Side> =
        sides.into_iter().map(|side| side.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    for list in sides.iter_mut().flat_map(|side| &mut side.lists) {
        shorten(list, keep);
    }
    Ok(sides)
}

/// Takes from a tile what is small enough for either of its sides; on the diagonal there is only one.
#[inline(always)]
fn look_through(
    tile: &Tile,
    sizes: &[f32],
    (down, across): (&Range<usize>, &Range<usize>),
    (below, mut above): (&mut Side, Option<&mut Side>),
    keep: usize,
) {
    let bases = &sizes[down.clone()];
    for (at, row) in across.clone().enumerate() {
        let base = sizes[row];
        // The place of this row in its own block.
        let own = row % BLOCK;
        let limit = above.as_ref().map_or(f32::NEG_INFINITY, |side| side.limits[own]);
        for (part, values) in tile.column(at).chunks(LANES).enumerate() {
            let from = part * LANES;
            let (limits, bases) = (&below.limits[from..from + values.len()], &bases[from..from + values.len()]);
            let mut any = false;
            for l in 0..values.len() {
                any |= (values[l] + base <= limits[l]) | (values[l] + bases[l] <= limit);
            }
            if !any {
                continue;
            }
            for l in 0..values.len() {
                let (i, rank) = (from + l, values[l] + base);
                if rank <= below.limits[i] && down.start + i != row {
                    below.take(i, rank, row, keep);
                }
                if let Some(above) = above.as_deref_mut() {
                    let rank = values[l] + bases[l];
                    if rank <= above.limits[own] {
                        above.take(own, rank, down.start + i, keep);
                    }
                }
            }
        }
    }
}

/// The nearest of some candidates of a row, by all features.
fn measured(
    blocks: &Blocks,
    points: &Points,
    (order, full, sizes): (&[u32], &[f32], &[f32]),
    own: usize,
    mut candidates: Vec<(f32, u32)>,
    k: usize,
) -> Best {
    let dims = blocks.dims();
    let row = |i: usize| &full[i * dims..(i + 1) * dims];
    // One after the other in memory.
    candidates.sort_unstable_by_key(|&(_, row)| row);
    widest(
        #[inline(always)]
        || {
            // Four at a time: while one is waited for, the others are on their way from memory.
            for four in candidates.chunks_mut(4) {
                let last = four.len() - 1;
                let found = squares(row(own), std::array::from_fn(|at| row(four[at.min(last)].1 as usize)));
                four.iter_mut().zip(found).for_each(|(candidate, square)| candidate.0 = square);
            }
        },
    );
    // A few more than are wanted, in case the digits of single precision decide.
    shorten(&mut candidates, k + 4);
    let mut best = Best::new(k);
    for (square, j) in candidates {
        let (i, other) = (order[own] as usize, order[j as usize]);
        let digits = blocks.metric() == Metric::Euclidean && square > LOST * (sizes[own] + sizes[j as usize]);
        let distance = match digits {
            true => f64::from(square).sqrt() / blocks.scale(),
            false => blocks.metric().distance(points.row(i), points.row(other as usize)),
        };
        best.offer(distance, other);
    }
    best
}

fn lock(side: &Mutex<Side>) -> MutexGuard<'_, Side> {
    side.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Nearest neighbors that are almost all right, for many points in many features: NN-descent.
//!
//! Lists start from the leaves of a few random trees and improve in rounds: a neighbor's neighbor is likely a
//! neighbor. A round looks at lists of the last one only and every point rewrites nothing but its own, so that the
//! outcome depends on the seed and not on the number of threads. Points are compared in single precision; the lists
//! carry a few spare neighbors, and the final choice is made with [`Metric::distance`].
//!
//! W. Dong, C. Moses, K. Li. Efficient k-nearest neighbor graph construction for generic similarity measures.
//! WWW 2011. The start follows L. McInnes, PyNNDescent.

use crate::metric::Metric;
use crate::points::Points;
use crate::search::brute::Blocks;
use crate::search::forest;
use crate::search::index::{Lists, concat, product_time};
use crate::search::rank_block::Tile;
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel::{self, Scratch};
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;

/// The largest k it is made for: leaves must hold enough points to fill a list.
const MOST: usize = 64;

/// The largest share of true neighbors that it can be expected to find.
const RECALL: f64 = 0.99;

/// Points in a leaf of a tree, all compared with each other by one matrix product.
const LEAF: usize = 384;

/// Trees to start from. On 70,000 handwritten digits (784 features, k = 10), five trees and lists of 13 give a recall of
/// 0.980, eight and 15 give 0.989 in a third more time; for k = 15 six give 0.991. On a busy machine of two cores, five took 9 to 13 s of processor
/// time, the exact search 55 s, and PyNNDescent 5 to 10 s for a recall of 0.973.
const TREES: usize = 6;

/// Rounds at most.
const ROUNDS: usize = 12;

/// A round that changes less than this share of all entries is the last.
const SETTLED: f64 = 0.005;

/// Points rewritten by one thread at a time.
const CHUNK: usize = 512;

/// A neighbor in a list: its rank, its index, and whether it has come in since the last round.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    rank: f32,
    index: u32,
    fresh: bool,
}

const NOBODY: Entry = Entry { rank: f32::INFINITY, index: u32::MAX, fresh: false };

/// Whether NN-descent suits this number of points and neighbors and this recall.
pub(crate) fn serves(n: usize, k: usize, wanted: f64) -> bool {
    n > 2 * LEAF && k <= MOST && wanted <= RECALL
}

/// Roughly how many nanoseconds of one processor it takes: the products in the leaves, and neighbors of neighbors in some rounds.
/// Measured: 98 microseconds a point for 200,000 points of 50 features and 15 neighbors, 150 for 70,000 of 784 and 10.
pub(crate) fn work(n: usize, dims: usize, k: usize) -> f64 {
    let (d, length) = (dims as f64, (k + spare(k)) as f64);
    n as f64 * ((TREES * LEAF) as f64 * product_time(d) + length * length * (200.0 + 0.7 * d))
}

/// The number of neighbors of a list beyond the requested ones.
fn spare(k: usize) -> usize {
    (k / 3).max(3)
}

/// The `k` nearest other points of every point, most of them.
pub(crate) fn nearest_others(blocks: &Blocks, points: &Points, k: usize, seed: u64, watch: &Watch) -> Result<Lists> {
    let watch = watch.again(TREES + ROUNDS);
    debug_assert!(serves(points.rows(), k, RECALL));
    let spare = k + spare(k);
    let mut lists = vec![NOBODY; points.rows() * spare];
    let mut leaf_of = vec![[0u32; TREES]; points.rows()];
    let mut order: Vec<u32> = Vec::new();
    for tree in 0..TREES {
        watch.step(1)?;
        let leaves = forest::leaves(&blocks.rows().values, points.cols(), LEAF, mix(seed, tree as u64));
        plant(blocks, &leaves, &mut lists, spare);
        for (number, leaf) in leaves.iter().enumerate() {
            leaf.iter().for_each(|&i| leaf_of[i as usize][tree] = number as u32);
        }
        order = leaves.concat();
    }
    for _ in 0..ROUNDS {
        watch.step(1)?;
        let changed = improve(blocks, (&order, &leaf_of), &mut lists, spare);
        if (changed as f64) < SETTLED * lists.len() as f64 {
            break;
        }
    }
    Ok(measure(blocks.metric(), points, &lists, spare, k))
}

/// Offers to every point the others of its leaf.
fn plant(blocks: &Blocks, leaves: &[Vec<u32>], lists: &mut [Entry], spare: usize) {
    let dims = blocks.dims();
    let rows = blocks.rows();
    let of_leaf = |tile: &mut Tile, leaf: &[u32]| -> Vec<Entry> {
        let gathered: Vec<f32> =
            leaf.iter().flat_map(|&i| &rows.values[i as usize * dims..(i as usize + 1) * dims]).copied().collect();
        tile.fill(blocks.metric(), dims, &gathered, &gathered);
        let mut grown = Vec::with_capacity(leaf.len() * spare);
        for (at, &i) in leaf.iter().enumerate() {
            let mut list = lists[i as usize * spare..(i as usize + 1) * spare].to_vec();
            for (value, &j) in tile.column(at).iter().zip(leaf) {
                let rank = value + rows.size(j as usize) + rows.size(i as usize);
                if i != j && rank < list[spare - 1].rank {
                    insert(&mut list, rank, j);
                }
            }
            grown.extend(list);
        }
        grown
    };
    let tiles = Scratch::new(Tile::default);
    let grown = parallel::collect(leaves.len(), |at| tiles.lend(|tile| of_leaf(tile, &leaves[at])));
    for (leaf, grown) in leaves.iter().zip(grown) {
        for (&i, list) in leaf.iter().zip(grown.chunks_exact(spare)) {
            lists[i as usize * spare..(i as usize + 1) * spare].copy_from_slice(list);
        }
    }
}

/// Offers to every point the neighbors of its neighbors, either way; returns how many came in.
fn improve(blocks: &Blocks, (order, leaf_of): (&[u32], &[[u32; TREES]]), lists: &mut [Entry], spare: usize) -> usize {
    let near = both_ways(lists, spare);
    let of_chunk = |seen: &mut Vec<u32>, ids: &[u32]| {
        let mut grown = Vec::with_capacity(ids.len() * spare);
        widest(
            #[inline(always)]
            || {
                for &i in ids {
                    let start = grown.len();
                    grown.extend_from_slice(&lists[i as usize * spare..(i as usize + 1) * spare]);
                    look_around(blocks, &near, leaf_of, seen, i, &mut grown[start..]);
                }
            },
        );
        grown
    };
    // In the order of a tree, so that points that share neighbors follow each other.
    let seen = Scratch::new(|| vec![u32::MAX; order.len()]);
    let parts: Vec<Vec<Entry>> =
        parallel::collect_of(order.chunks(CHUNK), |_, ids| seen.lend(|seen| of_chunk(seen, ids)));
    for (ids, grown) in order.chunks(CHUNK).zip(&parts) {
        for (&i, list) in ids.iter().zip(grown.chunks_exact(spare)) {
            lists[i as usize * spare..(i as usize + 1) * spare].copy_from_slice(list);
        }
    }
    lists.iter().filter(|entry| entry.fresh).count()
}

/// Offers to point `i` the points two steps away, where one of the steps is fresh; `seen` marks them with `i`.
#[inline(always)]
fn look_around(
    blocks: &Blocks,
    near: &[Vec<(u32, bool)>],
    leaf_of: &[[u32; TREES]],
    seen: &mut [u32],
    i: u32,
    list: &mut [Entry],
) {
    seen[i as usize] = i;
    for entry in list.iter_mut() {
        entry.fresh = false;
        seen[entry.index as usize] = i;
    }
    for &(j, j_fresh) in &near[i as usize] {
        for &(c, c_fresh) in &near[j as usize] {
            if !(j_fresh || c_fresh) || seen[c as usize] == i {
                continue;
            }
            seen[c as usize] = i;
            if shares_a_leaf(&leaf_of[i as usize], &leaf_of[c as usize]) {
                continue;
            }
            let rank = blocks.rank(i as usize, c as usize);
            if rank < list[list.len() - 1].rank {
                insert(list, rank, c);
            }
        }
    }
}

/// Whether two points have been compared when the trees were planted.
#[inline(always)]
fn shares_a_leaf(a: &[u32; TREES], b: &[u32; TREES]) -> bool {
    let mut same = false;
    for t in 0..TREES {
        same |= a[t] == b[t];
    }
    same
}

/// For every point its neighbors and the nearest of those whose neighbor it is, as (index, fresh).
fn both_ways(lists: &[Entry], spare: usize) -> Vec<Vec<(u32, bool)>> {
    let n = lists.len() / spare;
    let mut incoming: Vec<Vec<Entry>> = vec![Vec::new(); n];
    for (at, entry) in lists.iter().enumerate() {
        incoming[entry.index as usize].push(Entry { index: (at / spare) as u32, ..*entry });
    }
    parallel::collect_chunks_mut(&mut incoming, 1, |i, incoming| {
        let (incoming, list) = (&mut incoming[0], &lists[i * spare..(i + 1) * spare]);
        incoming.sort_unstable_by(|a, b| a.rank.total_cmp(&b.rank).then(a.index.cmp(&b.index)));
        incoming.truncate(spare / 2 + 2);
        let mut both: Vec<(u32, bool)> = list.iter().map(|entry| (entry.index, entry.fresh)).collect();
        for entry in incoming {
            if list.iter().all(|other| other.index != entry.index) {
                both.push((entry.index, entry.fresh));
            }
        }
        both
    })
}

/// Puts a point that is nearer than the last of the list in its place, unless it is there already.
fn insert(list: &mut [Entry], rank: f32, index: u32) {
    if list.iter().any(|entry| entry.index == index) {
        return;
    }
    let mut at = list.len() - 1;
    while at > 0 && (list[at - 1].rank, list[at - 1].index) > (rank, index) {
        list[at] = list[at - 1];
        at -= 1;
    }
    list[at] = Entry { rank, index, fresh: true };
}

/// The best `k` of every list by (distance, index).
fn measure(metric: Metric, points: &Points, lists: &[Entry], spare: usize, k: usize) -> Lists {
    let list = |i: usize| {
        let list = &lists[i * spare..(i + 1) * spare];
        let mut exact: Vec<(f64, u32)> = Vec::with_capacity(spare);
        widest(
            #[inline(always)]
            || {
                for entry in list {
                    let distance = metric.distance(points.row(i), points.row(entry.index as usize));
                    exact.push((distance, entry.index));
                }
            },
        );
        exact.sort_unstable_by(sort::by_key);
        exact.truncate(k);
        (exact.iter().map(|edge| edge.1).collect(), exact.iter().map(|edge| edge.0).collect())
    };
    concat(parallel::collect(lists.len() / spare, list))
}

/// A seed for each part of the work (the finalizer of SplitMix64).
fn mix(seed: u64, part: u64) -> u64 {
    let mut z = seed.wrapping_add((part + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use crate::points::Points;
    use crate::search::index::Index;
    use crate::{Metric, Neighbors, Search};
    use eigenfold_linalg::progress::Silent;

    /// A curved surface of two parameters in seventy features, with duplicates.
    fn surface(n: usize) -> Points {
        let cell = |i: usize, c: usize| {
            let (a, b) = ((i / 2 * 2) as f64 * 0.754_877_666, (i / 2 * 2) as f64 * 0.569_840_290);
            let (a, b) = (a.fract(), b.fract());
            1.5 + (a * (1.0 + c as f64 / 20.0)).sin() + b * (c as f64).cos()
        };
        Points::new(n, 70, (0..n * 70).map(|at| cell(at / 70, at % 70)).collect()).unwrap()
    }

    /// So many points that it takes less time than an exact search.
    const ENOUGH: usize = 24_000;

    #[test]
    fn almost_all_neighbors_are_found_and_the_share_is_stated() {
        let points = surface(ENOUGH);
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
            let nearly = Search { neighbors: Neighbors::Nearest(8), metric, recall: 0.9, ..Search::default() };
            let nearly = nearly.of_points(&points, &Silent).unwrap();
            assert_eq!(nearly.route, "nn-descent");
            // The nearest of some of the points, each its own nearest.
            let some: Vec<usize> = (0..points.rows()).step_by(7).collect();
            let exact = Index::new(&points, metric).unwrap().nearest(&points.select(&some), 9).unwrap().1;
            let right = |(&i, exact): (&usize, &[f64])| {
                // Distances, not indices: duplicates tie.
                exact[1..].iter().zip(nearly.graph.lengths(i)).filter(|(a, b)| a == b).count()
            };
            let share =
                some.iter().zip(exact.chunks_exact(9)).map(right).sum::<usize>() as f64 / (8 * some.len()) as f64;
            assert!(share > 0.97, "{metric:?}: {share}");
            assert!((nearly.recall.unwrap() - share).abs() < 0.1, "{metric:?}: {:?} {share}", nearly.recall);
        }
    }

    #[test]
    fn one_thread_and_two_find_the_same() {
        let points = surface(ENOUGH);
        let search = Search { neighbors: Neighbors::Nearest(8), recall: 0.9, seed: 7, ..Search::default() };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| search.of_points(&points, &Silent)).unwrap()
        };
        assert_eq!(with(1), with(2));
    }
}

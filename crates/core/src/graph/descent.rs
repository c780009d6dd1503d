//! Nearest neighbors that are almost all right, for many points in many features: NN-descent.
//!
//! Lists start from the leaves of a few random trees and improve in rounds: a neighbor's neighbor is likely a
//! neighbor. A round looks at lists of the last one only and every point rewrites nothing but its own, so that the
//! outcome depends on the seed and not on the number of threads. Points are compared in single precision; the lists
//! carry a few spare neighbors, and the final choice is made with [`Metric::distance`].
//!
//! W. Dong, C. Moses, K. Li. Efficient k-nearest neighbor graph construction for generic similarity measures.
//! WWW 2011. The start follows L. McInnes, PyNNDescent.

use super::brute::Blocks;
use super::forest;
use super::metric::Metric;
use super::nearest::{Lists, concat};
use super::tile::Tile;
use super::watch::Watch;
use crate::error::Result;
use crate::points::Points;
use rayon::prelude::*;

/// Points in a leaf of a tree, all compared with each other.
const LEAF: usize = 384;

/// Trees to start from.
const TREES: usize = 6;

/// Rounds at most.
const ROUNDS: usize = 12;

/// A round that changes less than this share of all entries is the last.
const SETTLED: f64 = 0.002;

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

/// The `k` nearest other points of every point, most of them.
pub(super) fn nearest_others(blocks: &Blocks, points: &Points, k: usize, seed: u64, watch: &Watch) -> Result<Lists> {
    let watch = watch.again(TREES + ROUNDS);
    let spare = (k + k / 2 + 5).min(points.rows() - 1);
    let mut lists = vec![NOBODY; points.rows() * spare];
    let mut order: Vec<u32> = Vec::new();
    for tree in 0..TREES {
        watch.step(1)?;
        let leaves = forest::leaves(&blocks.rows().values, points.cols(), LEAF, mix(seed, tree as u64));
        plant(blocks, &leaves, &mut lists, spare);
        order = leaves.concat();
    }
    for _ in 0..ROUNDS {
        watch.step(1)?;
        let changed = improve(blocks, &order, &mut lists, spare);
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
    let grown: Vec<Vec<Entry>> = leaves
        .par_iter()
        .map_init(Tile::default, |tile, leaf| {
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
        })
        .collect();
    for (leaf, grown) in leaves.iter().zip(grown) {
        for (&i, list) in leaf.iter().zip(grown.chunks_exact(spare)) {
            lists[i as usize * spare..(i as usize + 1) * spare].copy_from_slice(list);
        }
    }
}

/// Offers to every point the neighbors of its neighbors, either way, where one of the two steps is fresh; returns how
/// many came in.
fn improve(blocks: &Blocks, order: &[u32], lists: &mut [Entry], spare: usize) -> usize {
    let n = order.len();
    let near = both_ways(lists, spare);
    let around = |i: u32| near[i as usize].iter();
    let parts: Vec<(Vec<Entry>, usize)> = order
        .par_chunks(CHUNK)
        .map_init(
            || vec![u32::MAX; n],
            |seen, ids| {
                let mut grown = Vec::with_capacity(ids.len() * spare);
                let mut changed = 0;
                pulp::Arch::new().dispatch(
                    #[inline(always)]
                    || {
                        for &i in ids {
                            let mut list = lists[i as usize * spare..(i as usize + 1) * spare].to_vec();
                            list.iter_mut().for_each(|entry| entry.fresh = false);
                            seen[i as usize] = i;
                            list.iter().filter(|e| e.index != u32::MAX).for_each(|e| seen[e.index as usize] = i);
                            for &(j, j_fresh) in around(i) {
                                for &(c, c_fresh) in around(j) {
                                    if (j_fresh || c_fresh) && seen[c as usize] != i {
                                        seen[c as usize] = i;
                                        let rank = blocks.rank(i as usize, c as usize);
                                        if rank < list[spare - 1].rank {
                                            insert(&mut list, rank, c);
                                        }
                                    }
                                }
                            }
                            changed += list.iter().filter(|entry| entry.fresh).count();
                            grown.extend(list);
                        }
                    },
                );
                (grown, changed)
            },
        )
        .collect();
    for (ids, (grown, _)) in order.chunks(CHUNK).zip(&parts) {
        for (&i, list) in ids.iter().zip(grown.chunks_exact(spare)) {
            lists[i as usize * spare..(i as usize + 1) * spare].copy_from_slice(list);
        }
    }
    parts.iter().map(|part| part.1).sum()
}

/// For every point its neighbors and the nearest of those whose neighbor it is, as (index, fresh).
fn both_ways(lists: &[Entry], spare: usize) -> Vec<Vec<(u32, bool)>> {
    let n = lists.len() / spare;
    let mut incoming: Vec<Vec<Entry>> = vec![Vec::new(); n];
    for (at, entry) in lists.iter().enumerate().filter(|(_, entry)| entry.index != u32::MAX) {
        incoming[entry.index as usize].push(Entry { index: (at / spare) as u32, ..*entry });
    }
    incoming
        .par_iter_mut()
        .zip(lists.par_chunks(spare))
        .map(|(incoming, list)| {
            incoming.sort_unstable_by(|a, b| a.rank.total_cmp(&b.rank).then(a.index.cmp(&b.index)));
            incoming.truncate(spare);
            let outgoing = list.iter().filter(|entry| entry.index != u32::MAX);
            let mut both: Vec<(u32, bool)> = outgoing.map(|entry| (entry.index, entry.fresh)).collect();
            for entry in incoming {
                if list.iter().all(|other| other.index != entry.index) {
                    both.push((entry.index, entry.fresh));
                }
            }
            both
        })
        .collect()
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
    let list = |(i, list): (usize, &[Entry])| {
        let distance = |entry: &Entry| metric.distance(points.row(i), points.row(entry.index as usize));
        let found = list.iter().filter(|entry| entry.index != u32::MAX);
        let mut exact: Vec<(f64, u32)> = found.map(|entry| (distance(entry), entry.index)).collect();
        exact.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        exact.truncate(k);
        (exact.iter().map(|edge| edge.1).collect(), exact.iter().map(|edge| edge.0).collect())
    };
    concat(lists.par_chunks(spare).enumerate().map(list).collect())
}

/// A seed for each part of the work (the finalizer of SplitMix64).
fn mix(seed: u64, part: u64) -> u64 {
    let mut z = seed.wrapping_add((part + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

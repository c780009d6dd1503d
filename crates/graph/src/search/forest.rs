//! Leaves of random-projection trees: groups of points that are likely to be near each other.
//!
//! A group is halved at the median of its projections onto the line through two of its points, until it is small.
//!
//! S. Dasgupta, Y. Freund. Random projection trees and low dimensional manifolds. STOC 2008.

use crate::search::rank_block::sum;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Projections computed by one thread at a time.
const CHUNK: usize = 2048;

/// All points, in groups of at most `size`; the same for the same seed, whatever the number of threads.
pub(crate) fn leaves(values: &[f32], dims: usize, size: usize, seed: u64) -> Vec<Vec<u32>> {
    split(values, dims, size, (0..(values.len() / dims) as u32).collect(), seed)
}

fn split(values: &[f32], dims: usize, size: usize, ids: Vec<u32>, seed: u64) -> Vec<Vec<u32>> {
    if ids.len() <= size {
        return vec![ids];
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let row = |i: u32| &values[i as usize * dims..(i as usize + 1) * dims];
    let from = row(ids[random.random_range(0..ids.len())]);
    let to = row(ids[random.random_range(0..ids.len())]);
    let direction: Vec<f32> = from.iter().zip(to).map(|(a, b)| a - b).collect();
    let (left_seed, right_seed) = (random.random(), random.random());
    let mut projected: Vec<(f32, u32)> = vec![(0.0, 0); ids.len()];
    parallel::chunks_mut(&mut projected, CHUNK, |chunk, out| {
        let ids = &ids[chunk * CHUNK..];
        widest(
            #[inline(always)]
            || {
                for (out, &i) in out.iter_mut().zip(ids) {
                    let row = &values[i as usize * dims..(i as usize + 1) * dims];
                    *out = (sum(row, &direction, |x, y| x * y), i);
                }
            },
        );
    });
    let half = projected.len() / 2;
    projected.select_nth_unstable_by(half, sort::by_key);
    let side = |part: &[(f32, u32)], seed| {
        let mut ids: Vec<u32> = part.iter().map(|&(_, i)| i).collect();
        ids.sort_unstable();
        split(values, dims, size, ids, seed)
    };
    let (mut left, right) =
        rayon::join(|| side(&projected[..half], left_seed), || side(&projected[half..], right_seed));
    left.extend(right);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_one_leaf_and_clusters_stay_together() {
        // Two clusters on a line, twelve points each.
        let values: Vec<f32> = (0..24).map(|i| if i % 2 == 0 { i as f32 } else { 1000.0 + i as f32 }).collect();
        for seed in 0..10 {
            let mut leaves = leaves(&values, 1, 12, seed);
            leaves.sort();
            let even: Vec<u32> = (0..24).step_by(2).collect();
            let odd: Vec<u32> = (1..24).step_by(2).collect();
            // Two equal points have no direction; any other pair separates clusters.
            assert_eq!(leaves.iter().map(Vec::len).sum::<usize>(), 24);
            assert!(leaves == [even, odd] || leaves == [(0..12).collect::<Vec<_>>(), (12..24).collect()]);
        }
    }
}

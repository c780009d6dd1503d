//! The true neighbors of some points, found by a scan of all: what an approximate search is planned and judged by.

use crate::points::Points;
use crate::search::brute::Rounding;
use crate::search::index::Lists;
use crate::search::rank_block::{BLOCK, Tile};
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;

/// Parts of the points, each of which is scanned by one thread, at most; their lists are in memory together. A part has this many
/// blocks at least.
const PARTS: usize = 64;
const LEAST: usize = 8;

/// Candidates measured beyond the wanted neighbors, in case the digits of single precision decide.
const SPARE: usize = 8;

/// What rounding to single precision may add to a distance.
const SLACK: f64 = 1e-5;

/// The true neighbors of some points.
#[derive(Debug)]
pub(crate) struct Truth {
    /// The points.
    pub(crate) rows: Vec<u32>,
    /// The nearest others of each, sorted by (distance, index).
    pub(crate) neighbors: Vec<Vec<(f64, u32)>>,
}

impl Truth {
    /// Scans all points for the `k` nearest others of the given ones.
    pub(crate) fn new(points: &Points, rounding: &Rounding, rows: Vec<u32>, k: usize, watch: &Watch) -> Result<Truth> {
        let (n, keep) = (points.rows(), k + SPARE);
        let (queries, _) = rounding.rows(points, &rows);
        let blocks: Vec<usize> = (0..n.div_ceil(BLOCK)).collect();
        let of_part = blocks.len().div_ceil(PARTS).max(LEAST);
        let parts = parallel::try_collect_of(blocks.chunks(of_part), |_, blocks| {
            watch.step(0)?;
            let (mut tile, mut hits) = (Tile::default(), Vec::new());
            let mut lists: Vec<(f32, Vec<(f32, u32)>)> = vec![(f32::INFINITY, Vec::new()); rows.len()];
            for &b in blocks {
                let ids: Vec<u32> = (b * BLOCK..n.min((b + 1) * BLOCK)).map(|i| i as u32).collect();
                let (values, sizes) = rounding.rows_here(points, &ids);
                tile.fill(rounding.metric, rounding.dims, &values, &queries);
                for (t, (limit, list)) in lists.iter_mut().enumerate() {
                    widest(
                        #[inline(always)]
                        || tile.across_within(t, &sizes, *limit, &mut hits),
                    );
                    let others = hits.iter().map(|&(at, rank)| (rank, ids[at as usize]));
                    list.extend(others.filter(|&(_, j)| j != rows[t]));
                    if list.len() > keep {
                        list.select_nth_unstable_by(keep - 1, sort::by_key);
                        list.truncate(keep);
                        *limit = list[keep - 1].0;
                    }
                }
            }
            Ok(lists.into_iter().map(|(_, list)| list).collect::<Vec<_>>())
        })?;
        let neighbors = parallel::collect(rows.len(), |t| {
            let mut all: Vec<(f32, u32)> = parts.iter().flat_map(|lists| &lists[t]).copied().collect();
            all.sort_unstable_by(sort::by_key);
            all.truncate(keep);
            let distance = |j: u32| rounding.metric.between(points, rows[t] as usize, j as usize);
            let mut near: Vec<(f64, u32)> = all.iter().map(|&(_, j)| (distance(j), j)).collect();
            near.sort_unstable_by(sort::by_key);
            near.truncate(k);
            near
        });
        Ok(Truth { rows, neighbors })
    }

    /// The first points, and the others.
    pub(crate) fn split(mut self, first: usize) -> [Truth; 2] {
        let others = Truth { rows: self.rows.split_off(first), neighbors: self.neighbors.split_off(first) };
        [self, others]
    }

    /// The share of true neighbors in the lists of all points. By distance, not by index: of points that coincide any will do.
    pub(crate) fn recall(&self, lists: &Lists, k: usize) -> f64 {
        let right = |(&i, near): (&u32, &Vec<(f64, u32)>)| {
            let farthest = near.last().map_or(f64::INFINITY, |last| last.0) * (1.0 + SLACK);
            lists.1[i as usize * k..][..k].iter().filter(|&&length| length <= farthest).count()
        };
        let right: usize = self.rows.iter().zip(&self.neighbors).map(right).sum();
        right as f64 / (k * self.rows.len()) as f64
    }
}

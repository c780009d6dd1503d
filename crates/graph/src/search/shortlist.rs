//! Candidates for the nearest neighbors of a batch of points, kept by bounds on their ranks until they are measured.

use crate::points::Points;
use crate::search::best::Best;
use crate::search::brute::{Blocks, Rows};
use crate::search::pca_bound::PcaBound;
use crate::search::rank_block::{BLOCK, Tile};
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;
use std::ops::Range;

/// Points in some order, in single precision: with all their coordinates, or a PCA bound of them.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) rows: &'a Rows,
    /// β of the rows.
    pub(crate) base: &'a [f32],
    /// Coordinates in a row.
    pub(crate) dims: usize,
    /// The PCA bound that the rows are of; nothing if they are all points, one after the other.
    pub(crate) bound: Option<&'a PcaBound>,
    /// Whether ranks have no rounding errors.
    pub(crate) exact: bool,
}

impl View<'_> {
    /// The rows of block `b`.
    pub(crate) fn block(&self, b: usize) -> Range<usize> {
        b * BLOCK..self.rows.base.len().min((b + 1) * BLOCK)
    }

    pub(crate) fn values(&self, rows: &Range<usize>) -> &[f32] {
        &self.rows.values[rows.start * self.dims..rows.end * self.dims]
    }

    #[inline(always)]
    fn point(&self, row: usize) -> u32 {
        self.bound.map_or(row as u32, |bound| bound.order[row])
    }
}

/// Some rows of a set of queries, and what they are compared with.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) blocks: &'a Blocks,
    pub(crate) view: View<'a>,
    pub(crate) points: &'a Points,
    pub(crate) queries: &'a Points,
    /// The rows of `queries`.
    pub(crate) ids: &'a [u32],
    /// The queries in single precision, the first of the batch at `first`.
    pub(crate) single: &'a Rows,
    pub(crate) first: usize,
}

/// The lists of a batch in the making.
pub(crate) struct Shortlist<'a> {
    batch: Batch<'a>,
    k: usize,
    /// For each query, what r[i,j] − β[j] must not exceed.
    limits: Vec<f32>,
    /// For each query, if ranks have no rounding errors, the last of its `k` points with the rank of the limit.
    ties: Vec<Option<u32>>,
    lists: Vec<Candidates>,
    /// Room for upper bounds of ranks.
    uppers: Vec<f64>,
}

/// Ranks looked at together.
const LANES: usize = 16;

struct Candidates {
    best: Best,
    /// Points with their ranks r[i,j] − β[j] by all coordinates.
    pending: Vec<(f32, u32)>,
    /// Rows with their ranks by a PCA bound, which are lower.
    bounded: Vec<(f32, u32)>,
}

impl<'a> Shortlist<'a> {
    pub(crate) fn new(batch: Batch<'a>, k: usize) -> Shortlist<'a> {
        let empty = || Candidates { best: Best::new(k), pending: Vec::new(), bounded: Vec::new() };
        let lists = batch.ids.iter().map(|_| empty()).collect();
        let (limits, ties) = (vec![f32::INFINITY; batch.ids.len()], vec![None; batch.ids.len()]);
        Shortlist { batch, k, limits, ties, lists, uppers: Vec::new() }
    }

    /// Takes what is small enough from a tile that has this batch down and the points `across` across.
    #[inline(always)]
    pub(crate) fn take_down(&mut self, tile: &Tile, across: &Range<usize>, allowed: impl Fn(u32, u32) -> bool) {
        let mut hits = Vec::new();
        let bases = &self.batch.view.base[across.clone()];
        let mut gates: Vec<f32> = (0..self.limits.len()).map(|i| self.gate(i, across.start)).collect();
        for (at, (row, &base)) in across.clone().zip(bases).enumerate() {
            tile.down_within(at, base, &gates, &mut hits);
            let j = self.batch.view.point(row);
            for &(i, rank) in &hits {
                let i = i as usize;
                if allowed(self.batch.ids[i], j) {
                    self.consider(i, rank, row, tile.bounded);
                    gates[i] = self.gate(i, across.start);
                }
            }
        }
    }

    /// Takes what is small enough from a tile that has this batch across and the points `down` down.
    #[inline(always)]
    pub(crate) fn take_across(&mut self, tile: &Tile, down: &Range<usize>) {
        let mut hits = Vec::new();
        let bases = &self.batch.view.base[down.clone()];
        for at in 0..self.limits.len() {
            tile.across_within(at, bases, self.gate(at, down.start), &mut hits);
            for &(i, rank) in &hits {
                self.consider(at, rank, down.start + i as usize, tile.bounded);
            }
        }
    }

    /// Lowers the limits before any point of a tile is taken, where all may be: of as many groups of points as there are
    /// neighbors, each has one within the largest of their smallest upper bounds.
    #[inline(always)]
    pub(crate) fn foresee(&mut self, tile: &Tile, down: &Range<usize>) {
        // Twice as many groups, of which the better half counts.
        let groups = (2 * self.k).next_multiple_of(LANES);
        if groups > down.len() || groups > BLOCK {
            return;
        }
        let rows = self.batch.view.rows;
        let widths: Vec<f32> =
            down.clone().map(|j| (rows.base[j] + rows.error_bound[j].next_up() * 2.0).next_up()).collect();
        let mut least = [f32::INFINITY; BLOCK];
        for at in 0..self.limits.len() {
            let least = &mut least[..groups];
            least.fill(f32::INFINITY);
            for (values, widths) in tile.column(at).chunks(groups).zip(widths.chunks(groups)) {
                for (least, (value, width)) in least.iter_mut().zip(values.iter().zip(widths)) {
                    let upper = value + width;
                    *least = if upper < *least { upper } else { *least };
                }
            }
            let (_, &mut kth, _) = least.select_nth_unstable_by(self.k - 1, f32::total_cmp);
            let own = f64::from(self.batch.single.error_bound[self.batch.first + at]);
            self.limits[at] = ((f64::from(kth.next_up()) + 2.0 * own) as f32).next_up();
            self.lists[at].pending.reserve(room(self.k));
        }
    }

    /// Takes what is small enough from a tile that has points down and this batch across.
    #[inline(always)]
    pub(crate) fn take_points(&mut self, tile: &Tile, down: &Range<usize>, allowed: impl Fn(u32, u32) -> bool) {
        let bases = &self.batch.view.rows.base[down.clone()];
        let (whole_bases, rest_bases) = bases.as_chunks::<LANES>();
        for at in 0..self.limits.len() {
            let (whole, rest) = tile.column(at).as_chunks::<LANES>();
            let id = self.batch.ids[at];
            for (chunk, (values, bases)) in whole.iter().zip(whole_bases).enumerate() {
                let limit = self.limits[at];
                let ranks: [f32; LANES] = std::array::from_fn(|l| values[l] + bases[l]);
                let mut any = false;
                for rank in ranks {
                    any |= rank <= limit;
                }
                if any {
                    // One bit a lane, so that only the lanes that are small enough cost anything.
                    let mut bits = 0u32;
                    for (l, rank) in ranks.iter().enumerate() {
                        bits |= u32::from(*rank <= limit) << l;
                    }
                    while bits != 0 {
                        let l = bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        let j = (down.start + chunk * LANES + l) as u32;
                        if allowed(id, j) {
                            self.take(at, ranks[l % LANES], j);
                        }
                    }
                }
            }
            for (l, (value, base)) in rest.iter().zip(rest_bases).enumerate() {
                let (rank, j) = (value + base, (down.start + whole.len() * LANES + l) as u32);
                if rank <= self.limits[at] && allowed(id, j) {
                    self.take(at, rank, j);
                }
            }
        }
    }

    /// Takes all the points `across`, for queries that single precision cannot hold.
    pub(crate) fn take_all(&mut self, across: &Range<usize>, allowed: impl Fn(u32, u32) -> bool) {
        for i in 0..self.lists.len() {
            let id = self.batch.ids[i];
            self.lists[i].pending.extend(across.clone().map(|j| (0.0, j as u32)).filter(|&(_, j)| allowed(id, j)));
            self.settle(i);
        }
    }

    /// What r[i,j] − β[j] must not exceed for the rows from `first` on: below the limit if `k` points with smaller indices
    /// have the rank of the limit at most.
    #[inline(always)]
    fn gate(&self, i: usize, first: usize) -> f32 {
        match self.ties[i] {
            Some(last) if (last as usize) < first => self.limits[i].next_down(),
            _ => self.limits[i],
        }
    }

    /// The lists, with every candidate measured.
    pub(crate) fn finish(mut self) -> impl Iterator<Item = Best> {
        for i in 0..self.lists.len() {
            self.look_closer(i, 0);
            self.tighten(i);
            self.settle(i);
        }
        self.lists.into_iter().map(|list| list.best)
    }

    /// Takes the point in a row by the rank in a tile, or keeps it for later if that is a PCA bound's.
    #[inline(always)]
    fn consider(&mut self, i: usize, rank: f32, row: usize, bounded: bool) {
        if !bounded {
            return self.take(i, rank, self.batch.view.point(row));
        }
        self.lists[i].bounded.push((rank, row as u32));
        let room = 8 * self.k + 64;
        if self.lists[i].bounded.len() >= room {
            self.look_closer(i, room / 2);
        }
    }

    /// Ranks by all coordinates what a PCA bound could not rule out, the most promising first, since they make the limit
    /// that rules out others; until no more than `left` are left.
    fn look_closer(&mut self, i: usize, left: usize) {
        let (view, own) = (self.batch.view, self.batch.first + i);
        while let Some(bound) = view.bound
            && self.lists[i].bounded.len() > left
        {
            let bounded = &mut self.lists[i].bounded;
            let rest = bounded.len().saturating_sub(2 * self.k);
            if rest > 0 {
                bounded.select_nth_unstable_by(rest, |a, b| b.0.total_cmp(&a.0));
            }
            let mut promising = bounded.split_off(rest);
            promising.sort_unstable_by_key(|&(_, row)| row);
            widest(
                #[inline(always)]
                || bound.ranks_below(own, &mut promising),
            );
            for (rank, row) in promising {
                if rank <= self.limits[i] {
                    self.take(i, rank, view.point(row as usize));
                }
            }
            self.tighten(i);
            let limit = self.limits[i];
            self.lists[i].bounded.retain(|&(rank, _)| rank <= limit);
        }
    }

    fn take(&mut self, i: usize, rank: f32, j: u32) {
        let list = &mut self.lists[i];
        if list.best.complete(j) {
            return;
        }
        list.pending.push((rank, j));
        let room = room(self.k);
        if list.pending.len() >= room {
            self.tighten(i);
            // Too many of nearly the same rank, as among duplicates: only their distances can separate them.
            if self.lists[i].pending.len() > room / 2 {
                self.settle(i);
            }
        }
    }

    /// Lowers the limit to what the k-th smallest upper bound allows, and drops what exceeds it.
    fn tighten(&mut self, i: usize) {
        let pending = &mut self.lists[i].pending;
        if pending.len() <= self.k {
            return;
        }
        if self.batch.view.exact {
            pending.select_nth_unstable_by(self.k - 1, sort::by_key);
            pending.truncate(self.k);
            let (limit, last) = pending[self.k - 1];
            self.limits[i] = limit;
            self.ties[i] = Some(last);
            return;
        }
        let error_bounds = &self.batch.blocks.rows().error_bound;
        let upper = |&(rank, j): &(f32, u32)| f64::from(rank) + 2.0 * f64::from(error_bounds[j as usize]);
        self.uppers.clear();
        self.uppers.extend(pending.iter().map(upper));
        let (_, &mut kth, _) = self.uppers.select_nth_unstable_by(self.k - 1, f64::total_cmp);
        let own = f64::from(self.batch.single.error_bound[self.batch.first + i]);
        let limit = ((kth + 2.0 * own) as f32).next_up().min(self.limits[i]);
        self.limits[i] = limit;
        pending.retain(|&(rank, _)| rank <= limit);
    }

    /// Measures what is pending.
    fn settle(&mut self, i: usize) {
        let Batch { blocks, points, queries, ids, single, first, .. } = self.batch;
        let Candidates { best, pending, .. } = &mut self.lists[i];
        // By rank, so that most are already in their places; equal ones by index, so that nothing more is measured once the
        // list is full of duplicates.
        pending.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut own, mut other) = (Vec::new(), Vec::new());
        let row = queries.read(ids[i] as usize, &mut own);
        widest(
            #[inline(always)]
            || {
                for (_, j) in pending.drain(..) {
                    if !best.complete(j) {
                        best.offer(blocks.metric().distance(row, points.read(j as usize, &mut other)), j);
                    }
                }
            },
        );
        if let Some((worst, _)) = best.worst() {
            self.limits[i] = self.limits[i].min(blocks.limit(worst, single, first + i));
        }
    }
}

/// How many candidates are kept before the limit is tightened.
fn room(k: usize) -> usize {
    4 * k + 64
}

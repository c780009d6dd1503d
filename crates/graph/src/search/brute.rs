//! All distances, block by block in single precision, and the few that matter again in double: for many features.
//!
//! The points are centered, scaled to about one and rounded to single precision. A block of ranks is then one matrix
//! product (Euclidean, cosine, correlation) or one scan (Manhattan), less what is the same for the whole list of point i:
//!
//! ```text
//! r[i,j] = ‖x[i] − x[j]‖² − ‖x[i]‖² = ‖x[j]‖² − 2 x[i]·x[j]        or        r[i,j] = Σ|x[i] − x[j]|
//! ```
//!
//! The computed r[i,j] is off by at most β[i] + β[j] ([`error_bound`]), so the k-th smallest of r[i,j] + β[j] plus β[i]
//! bounds the k-th true rank from above, and only points with r[i,j] − β[j] − β[i] below that can be among the
//! nearest k. These candidates are measured with [`Metric::distance`]. The answer is exact, and therefore the same
//! whatever the order of the blocks.

use crate::metric::Metric;
use crate::points::Points;
use crate::search::best::Best;
use crate::search::filter::Filter;
use crate::search::index::{Lists, concat, put_back};
use crate::search::pca_bound::PcaBound;
use crate::search::rank_block::{BLOCK, Tile, sum};
use crate::search::shortlist::{Batch, Shortlist, View};
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel::{self, Scratch};
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The range of magnitudes of centered data for which ranks in single precision are bounded as stated.
const MAGNITUDES: Range<f64> = 1e-140..1e151;

/// Queries with a scaled coordinate beyond this are measured in double precision only.
const FAR: f64 = 1e8;

/// Rows in single precision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) values: Vec<f32>,
    /// ‖x[j]‖² − β[j], or −β[j] for Manhattan: added to a product, it gives a lower bound of the rank but for β[i].
    pub(crate) base: Vec<f32>,
    /// β[j].
    pub(crate) error_bound: Vec<f32>,
}

impl Rows {
    /// ‖x[j]‖², or 0 for Manhattan: what turns a product into a rank when added for both its points.
    #[inline(always)]
    pub(crate) fn size(&self, j: usize) -> f32 {
        self.base[j] + self.error_bound[j]
    }
}

/// The points, ready to be multiplied.
#[derive(Debug)]
pub(crate) struct Blocks {
    metric: Metric,
    dims: usize,
    center: Vec<f64>,
    /// A power of two.
    scale: f64,
    rows: Rows,
}

impl Blocks {
    /// The points in single precision, or nothing if their scale does not allow for it.
    pub(crate) fn new(points: &Points, metric: Metric) -> Option<Blocks> {
        let (n, dims) = (points.rows(), points.cols());
        let ranked = metric.ranked_rows(points);
        let center = center(&ranked, n, dims);
        let farthest = |row: &[f64]| row.iter().zip(&center).fold(0.0f64, |most, (x, c)| most.max((x - c).abs()));
        let largest = parallel::largest(n, |i| farthest(&ranked[i * dims..(i + 1) * dims]));
        if largest > 0.0 && !MAGNITUDES.contains(&largest) {
            return None;
        }
        let scale = if largest > 0.0 { (-largest.log2().ceil()).exp2() } else { 1.0 };
        let mut blocks = Blocks { metric, dims, center, scale, rows: Rows::default() };
        let mut rows = Rows { values: vec![0.0; n * dims], base: vec![0.0; n], error_bound: vec![0.0; n] };
        let chunks = rows.values.chunks_mut(BLOCK * dims).zip(rows.base.chunks_mut(BLOCK));
        parallel::each_of(chunks.zip(rows.error_bound.chunks_mut(BLOCK)), |chunk, ((values, base), error_bound)| {
            let rows = ranked[chunk * BLOCK * dims..].chunks_exact(dims).zip(values.chunks_exact_mut(dims));
            for (at, (row, values)) in rows.enumerate() {
                (base[at], error_bound[at]) = blocks.convert(row, values);
            }
        });
        blocks.rows = rows;
        Some(blocks)
    }

    /// Rounds a point to single precision and returns its base and error_bound.
    fn convert(&self, ranked: &[f64], values: &mut [f32]) -> (f32, f32) {
        let manhattan = self.metric == Metric::Manhattan;
        let mut size = 0.0;
        for ((value, x), c) in values.iter_mut().zip(ranked).zip(&self.center) {
            *value = ((x - c) * self.scale).clamp(-FAR, FAR) as f32;
            let x = f64::from(*value);
            size += if manhattan { x.abs() } else { x * x };
        }
        let error_bound = self.error_bound(size);
        ((if manhattan { -error_bound } else { size - error_bound }) as f32, error_bound as f32)
    }

    /// Some queries in single precision, and whether none of them is too far out for it.
    fn convert_queries(&self, queries: &Points, ids: &[u32]) -> (Rows, bool) {
        let mut ranked = Vec::with_capacity(self.dims);
        let mut rows = Rows { values: vec![0.0; ids.len() * self.dims], ..Rows::default() };
        let mut near = true;
        for (values, &id) in rows.values.chunks_exact_mut(self.dims).zip(ids) {
            self.metric.ranked(queries.row(id as usize), &mut ranked);
            let (base, error_bound) = self.convert(&ranked, values);
            rows.base.push(base);
            rows.error_bound.push(error_bound);
            near &= values.iter().all(|value| f64::from(value.abs()) < FAR);
        }
        (rows, near)
    }

    /// β: rounding the coordinates, d products and sums, and the norm, with u = 2⁻²⁴ and for either point
    ///
    /// ```text
    /// |error| ≤ (d/2 + 4) u (‖x[i]‖ + ‖x[j]‖)² ≤ (d + 8) u (‖x[i]‖² + ‖x[j]‖²)        |error| ≤ (d + 4) u (Σ|x[i]| + Σ|x[j]|)
    /// ```
    ///
    /// enlarged for terms of second order, for underflow, and for the rounding of a cosine in double precision.
    fn error_bound(&self, size: f64) -> f64 {
        let d = self.dims as f64;
        let underflow = d * 1e-37;
        let cosine = if self.metric.is_angle() { self.metric.rank_limit(0.0, self.dims) } else { 0.0 };
        (1.2 * d + 16.0) * 0.5f64.powi(24) * size + underflow + cosine * self.scale * self.scale
    }

    /// The largest r[i,j] − β[j] that a point within `distance` of point `i` of `rows` can have.
    pub(crate) fn limit(&self, distance: f64, rows: &Rows, i: usize) -> f32 {
        let scale = if self.metric == Metric::Manhattan { self.scale } else { self.scale * self.scale };
        let (base, error_bound) = (f64::from(rows.base[i]), f64::from(rows.error_bound[i]));
        ((self.metric.rank_limit(distance, self.dims) * scale - (base + error_bound) + 3.0 * error_bound) as f32)
            .next_up()
    }

    pub(crate) fn metric(&self) -> Metric {
        self.metric
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// What coordinates are multiplied by in single precision.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// The rank of two points in single precision.
    #[inline(always)]
    pub(crate) fn rank(&self, i: usize, j: usize) -> f32 {
        let row = |i: usize| &self.rows.values[i * self.dims..(i + 1) * self.dims];
        if self.metric == Metric::Manhattan {
            sum(row(i), row(j), |x, y| (x - y).abs())
        } else {
            sum(row(i), row(j), |x, y| (x - y) * (x - y))
        }
    }

    /// The points as they are.
    fn view(&self) -> View<'_> {
        View { rows: &self.rows, dims: self.dims, bound: None }
    }

    /// The `k` nearest other points of every point; every pair of blocks is computed once, for both its sides, and from
    /// a PCA bound of the points where that is faster.
    pub(crate) fn nearest_others(&self, points: &Points, k: usize, watch: &Watch) -> Result<Lists> {
        let everyone: Vec<u32> = (0..points.rows() as u32).collect();
        let bound = PcaBound::new(self, k);
        let (view, ids) = match &bound {
            Some(bound) => (bound.view(), &bound.order),
            None => (self.view(), &everyone),
        };
        let sides: Vec<Mutex<Shortlist>> = ids
            .chunks(BLOCK)
            .enumerate()
            .map(|(b, ids)| (ids, b * BLOCK))
            .map(|(ids, first)| Batch { blocks: self, view, points, queries: points, ids, single: view.rows, first })
            .map(|batch| Mutex::new(Shortlist::new(batch, k)))
            .collect();
        // Tiles of a PCA bound come after those of all coordinates, which are of points so near that the PCA bound would rule
        // out few, and which make the limits by which it rules out the others.
        let [near, far] = match &bound {
            Some(bound) => bound.pairs_of_blocks(k),
            None => [(0..sides.len()).flat_map(|a| (a..sides.len()).map(move |b| (a, b))).collect(), vec![]],
        };
        // What is left to be measured at the end takes about half as long as the tiles.
        let (tiles, last) = (near.len() + far.len(), (near.len() + far.len()).div_ceil(2 * sides.len()));
        let watch = watch.again(tiles + last * sides.len());
        let used = Scratch::new(Tile::default);
        for (pairs, bounded) in [(near, false), (far, true)] {
            let work = |tile: &mut Tile, (a, b): (usize, usize)| {
                watch.step(1)?;
                let (down, across) = (view.block(a), view.block(b));
                tile.bounded = bounded;
                match &bound {
                    Some(bound) if !bounded => {
                        tile.fill(self.metric, self.dims, bound.full(&down), bound.full(&across));
                    }
                    _ => tile.fill(self.metric, view.dims, view.values(&down), view.values(&across)),
                }
                let tile = &*tile;
                widest(
                    #[inline(always)]
                    || lock(&sides[a]).take_down(tile, &across, |i, j| i != j),
                );
                if a != b {
                    widest(
                        #[inline(always)]
                        || lock(&sides[b]).take_across(tile, &down),
                    );
                }
                Ok(())
            };
            parallel::try_collect(pairs.len(), |at| used.lend(|tile| work(tile, pairs[at])))?;
        }
        let parts = parallel::try_collect_of(sides, |_, side| {
            watch.step(last)?;
            let mut lists = Lists::default();
            let side = side.into_inner().unwrap_or_else(PoisonError::into_inner);
            side.finish().for_each(|best| best.write(&mut lists));
            Ok(lists)
        })?;
        let lists = concat(parts);
        Ok(if bound.is_some() { put_back(&lists, ids, k) } else { lists })
    }

    /// Finds the `k` nearest of each of the given rows of `queries`, one list after the other.
    pub(crate) fn nearest<F: Filter>(
        &self,
        points: &Points,
        (queries, ids): (&Points, &[u32]),
        k: usize,
        filter: &F,
        write: &mut impl FnMut(&Best),
    ) {
        let (single, near) = self.convert_queries(queries, ids);
        if !near && ids.len() > 1 {
            // One by one, so that no query is treated differently for the company it is in.
            return ids.chunks(1).for_each(|id| self.nearest(points, (queries, id), k, filter, write));
        }
        let mut list = Shortlist::new(
            Batch { blocks: self, view: self.view(), points, queries, ids, single: &single, first: 0 },
            k,
        );
        let mut tile = Tile::default();
        for b in 0..points.rows().div_ceil(BLOCK) {
            let block = self.view().block(b);
            if near {
                tile.fill(self.metric, self.dims, self.view().values(&block), &single.values);
            }
            let tile = &tile;
            widest(
                #[inline(always)]
                || match near {
                    true => {
                        if F::EVERYONE && b == 0 {
                            list.foresee(tile, &block);
                        }
                        list.take_points(tile, &block, |i, j| filter.allows(i, j));
                    }
                    false => list.take_all(&block, |i, j| filter.allows(i, j)),
                },
            );
        }
        list.finish().for_each(|best| write(&best));
    }

    /// All other points within `radius` of each point, sorted by (distance, index).
    pub(crate) fn within(&self, points: &Points, radius: f64, watch: &Watch) -> Result<Vec<Vec<(u32, f64)>>> {
        let of_block = |tile: &mut Tile, a: usize| {
            watch.step(BLOCK)?;
            let (view, down) = (self.view(), self.view().block(a));
            let limits: Vec<f32> = down.clone().map(|i| self.limit(radius, &self.rows, i)).collect();
            let mut lists = vec![Vec::new(); down.len()];
            let mut hits = Vec::new();
            for b in 0..points.rows().div_ceil(BLOCK) {
                let across = view.block(b);
                tile.fill(self.metric, self.dims, view.values(&down), view.values(&across));
                for (at, j) in across.enumerate() {
                    tile.down_within(at, self.rows.base[j], &limits, &mut hits);
                    for &(i, _) in &hits {
                        let i = i as usize;
                        let distance = self.metric.distance(points.row(down.start + i), points.row(j));
                        if distance <= radius && down.start + i != j {
                            lists[i].push((j as u32, distance));
                        }
                    }
                }
            }
            for list in &mut lists {
                list.sort_unstable_by(sort::by_distance);
            }
            Ok(lists)
        };
        let tiles = Scratch::new(Tile::default);
        let parts: Vec<Vec<Vec<(u32, f64)>>> =
            parallel::try_collect(points.rows().div_ceil(BLOCK), |a| tiles.lend(|tile| of_block(tile, a)))?;
        Ok(parts.into_iter().flatten().collect())
    }
}

fn lock<'s, 'b>(side: &'s Mutex<Shortlist<'b>>) -> MutexGuard<'s, Shortlist<'b>> {
    side.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mean point; the sums are taken in a fixed order.
fn center(values: &[f64], n: usize, dims: usize) -> Vec<f64> {
    let sum = |rows: &[f64]| {
        let mut sums = vec![0.0; dims];
        for row in rows.chunks_exact(dims) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x / n as f64);
        }
        sums
    };
    let parts: Vec<Vec<f64>> = parallel::collect_of(values.chunks(1024 * dims), |_, rows| sum(rows));
    (0..dims).map(|c| parts.iter().map(|part| part[c]).sum()).collect()
}

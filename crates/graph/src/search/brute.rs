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
use crate::search::rank_block::{BLOCK, Tile};
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

/// How points are rounded to single precision: centered, and scaled to about one.
#[derive(Clone, Debug)]
pub(crate) struct Rounding {
    pub(crate) metric: Metric,
    pub(crate) dims: usize,
    center: Vec<f64>,
    /// A power of two.
    pub(crate) scale: f64,
    /// Whether all points are whole numbers so small that ranks have no rounding errors.
    whole: bool,
}

impl Rounding {
    /// The rounding of some points, or nothing if their scale does not allow for it.
    pub(crate) fn new(points: &Points, metric: Metric) -> Option<Rounding> {
        let (n, dims) = (points.rows(), metric.ranked_cols(points.cols()));
        let mut center = center(points, metric);
        let ranked = Scratch::new(Vec::new);
        let fraction = |row: &[f64]| f64::from(u8::from(row.iter().any(|x| x.fract() != 0.0)));
        let is_whole = matches!(metric, Metric::Euclidean | Metric::Manhattan)
            && parallel::largest(n, |i| ranked.lend(|row| fraction(points.read(i, row)))) == 0.0;
        if is_whole {
            center.iter_mut().for_each(|c| *c = c.round());
        }
        let farthest = |row: &[f64]| row.iter().zip(&center).fold(0.0f64, |most, (x, c)| most.max((x - c).abs()));
        let largest = parallel::largest(n, |i| ranked.lend(|ranked| farthest(metric.ranked_point(points, i, ranked))));
        if largest > 0.0 && !MAGNITUDES.contains(&largest) {
            return None;
        }
        let scale = if largest > 0.0 { (-largest.log2().ceil()).exp2() } else { 1.0 };
        // Sums of whole numbers below 2²⁴ are exact in single precision, in any order.
        let sums = dims as f64 * if metric == Metric::Manhattan { 2.0 * largest } else { 4.0 * largest * largest };
        let whole = is_whole && sums < 2f64.powi(24);
        Some(Rounding { metric, dims, center, scale, whole })
    }

    /// Rounds a point and returns ‖x‖², or Σ|x| for Manhattan.
    #[inline(always)]
    fn round(&self, ranked: &[f64], values: &mut [f32]) -> f64 {
        let mut size = 0.0;
        for ((value, x), c) in values.iter_mut().zip(ranked).zip(&self.center) {
            *value = ((x - c) * self.scale).clamp(-FAR, FAR) as f32;
            let x = f64::from(*value);
            size += if self.metric == Metric::Manhattan { x.abs() } else { x * x };
        }
        size
    }

    /// The distance of two points of this squared distance in single precision.
    #[inline(always)]
    pub(crate) fn length(&self, square: f32) -> f64 {
        let square = f64::from(square) / (self.scale * self.scale);
        if self.metric.is_angle() { 0.5 * square } else { square.sqrt() }
    }

    /// Some points in single precision, and what turns a product into a rank when added for both its points: ‖x‖², or 0
    /// for Manhattan.
    pub(crate) fn rows(&self, points: &Points, ids: &[u32]) -> (Vec<f32>, Vec<f32>) {
        let (mut values, mut sizes) = (vec![0.0; ids.len() * self.dims], vec![0.0; ids.len()]);
        let chunks = values.chunks_mut(BLOCK * self.dims).zip(sizes.chunks_mut(BLOCK));
        parallel::each_of(chunks.zip(ids.chunks(BLOCK)), |_, ((values, sizes), ids)| {
            self.fill_rows(points, ids, (values, sizes));
        });
        (values, sizes)
    }

    /// The same on the calling thread.
    pub(crate) fn rows_here(&self, points: &Points, ids: &[u32]) -> (Vec<f32>, Vec<f32>) {
        let (mut values, mut sizes) = (vec![0.0; ids.len() * self.dims], vec![0.0; ids.len()]);
        self.fill_rows(points, ids, (&mut values, &mut sizes));
        (values, sizes)
    }

    fn fill_rows(&self, points: &Points, ids: &[u32], (values, sizes): (&mut [f32], &mut [f32])) {
        let mut ranked = Vec::new();
        widest(
            #[inline(always)]
            || {
                for ((values, size), &i) in values.chunks_exact_mut(self.dims).zip(sizes.iter_mut()).zip(ids) {
                    let found = self.round(self.metric.ranked_point(points, i as usize, &mut ranked), values);
                    *size = if self.metric == Metric::Manhattan { 0.0 } else { found as f32 };
                }
            },
        );
    }
}

/// The points, ready to be multiplied.
#[derive(Debug)]
pub(crate) struct Blocks {
    rounding: Rounding,
    rows: Rows,
}

impl Blocks {
    /// The points in single precision, or nothing if their scale does not allow for it.
    pub(crate) fn new(points: &Points, metric: Metric) -> Option<Blocks> {
        let rounding = Rounding::new(points, metric)?;
        let (n, dims) = (points.rows(), rounding.dims);
        let mut blocks = Blocks { rounding, rows: Rows::default() };
        let mut rows = Rows { values: vec![0.0; n * dims], base: vec![0.0; n], error_bound: vec![0.0; n] };
        let chunks = rows.values.chunks_mut(BLOCK * dims).zip(rows.base.chunks_mut(BLOCK));
        parallel::each_of(chunks.zip(rows.error_bound.chunks_mut(BLOCK)), |chunk, ((values, base), error_bound)| {
            let mut ranked = Vec::new();
            for (at, values) in values.chunks_exact_mut(dims).enumerate() {
                let row = metric.ranked_point(points, chunk * BLOCK + at, &mut ranked);
                (base[at], error_bound[at]) = blocks.convert(row, values);
            }
        });
        blocks.rows = rows;
        Some(blocks)
    }

    /// Rounds a point to single precision and returns its base and error_bound.
    fn convert(&self, ranked: &[f64], values: &mut [f32]) -> (f32, f32) {
        let size = self.rounding.round(ranked, values);
        let error_bound = self.error_bound(size);
        let base = if self.metric() == Metric::Manhattan { -error_bound } else { size - error_bound };
        (base as f32, error_bound as f32)
    }

    /// Some queries in single precision, and whether none of them is too far out for it.
    fn convert_queries(&self, queries: &Points, ids: &[u32]) -> (Rows, bool) {
        let mut ranked = Vec::with_capacity(self.dims());
        let mut rows = Rows { values: vec![0.0; ids.len() * self.dims()], ..Rows::default() };
        let mut near = true;
        for (values, &id) in rows.values.chunks_exact_mut(self.dims()).zip(ids) {
            let row = self.metric().ranked_point(queries, id as usize, &mut ranked);
            let (base, error_bound) = self.convert(row, values);
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
        let d = self.dims() as f64;
        let underflow = d * 1e-37;
        let cosine = if self.metric().is_angle() { self.metric().rank_limit(0.0, self.dims()) } else { 0.0 };
        (1.2 * d + 16.0) * 0.5f64.powi(24) * size + underflow + cosine * self.rounding.scale * self.rounding.scale
    }

    /// The largest r[i,j] − β[j] that a point within `distance` of point `i` of `rows` can have.
    pub(crate) fn limit(&self, distance: f64, rows: &Rows, i: usize) -> f32 {
        let scale = if self.metric() == Metric::Manhattan {
            self.rounding.scale
        } else {
            self.rounding.scale * self.rounding.scale
        };
        let (base, error_bound) = (f64::from(rows.base[i]), f64::from(rows.error_bound[i]));
        ((self.metric().rank_limit(distance, self.dims()) * scale - (base + error_bound) + 3.0 * error_bound) as f32)
            .next_up()
    }

    /// ‖x‖², or 0 for Manhattan, if the ranks of all points have no rounding errors: what replaces β then.
    pub(crate) fn exact_base(&self) -> Option<Vec<f32>> {
        let square = |row: &[f32]| row.iter().map(|x| x * x).sum();
        self.rounding.whole.then(|| match self.metric() {
            Metric::Manhattan => vec![0.0; self.rows.base.len()],
            _ => self.rows.values.chunks_exact(self.dims()).map(square).collect(),
        })
    }

    pub(crate) fn metric(&self) -> Metric {
        self.rounding.metric
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) fn dims(&self) -> usize {
        self.rounding.dims
    }

    /// The points as they are.
    fn view(&self) -> View<'_> {
        View { rows: &self.rows, base: &self.rows.base, dims: self.dims(), bound: None, exact: false }
    }

    /// The `k` nearest other points of every point; every pair of blocks is computed once, for both its sides, and from
    /// a PCA bound of the points where that is faster.
    pub(crate) fn nearest_others(&self, points: &Points, k: usize, watch: &Watch) -> Result<Lists> {
        let everyone: Vec<u32> = (0..points.rows() as u32).collect();
        let bound = PcaBound::new(self, k);
        let exact_base = if bound.is_none() { self.exact_base() } else { None };
        let (view, ids) = match (&bound, &exact_base) {
            (Some(bound), _) => (bound.view(), &bound.order),
            (None, Some(base)) => (View { base, exact: true, ..self.view() }, &everyone),
            (None, None) => (self.view(), &everyone),
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
                        tile.fill(self.metric(), self.dims(), bound.full(&down), bound.full(&across));
                    }
                    _ => tile.fill(self.metric(), view.dims, view.values(&down), view.values(&across)),
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
                tile.fill(self.metric(), self.dims(), self.view().values(&block), &single.values);
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
                tile.fill(self.metric(), self.dims(), view.values(&down), view.values(&across));
                for (at, j) in across.enumerate() {
                    tile.down_within(at, self.rows.base[j], &limits, &mut hits);
                    for &(i, _) in &hits {
                        let i = i as usize;
                        let distance = self.metric().between(points, down.start + i, j);
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
fn center(points: &Points, metric: Metric) -> Vec<f64> {
    let (n, dims) = (points.rows(), metric.ranked_cols(points.cols()));
    let sum = |chunk: usize| {
        let (mut sums, mut ranked) = (vec![0.0; dims], Vec::new());
        for i in chunk * 1024..n.min((chunk + 1) * 1024) {
            let row = metric.ranked_point(points, i, &mut ranked);
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x / n as f64);
        }
        sums
    };
    let parts: Vec<Vec<f64>> = parallel::collect(n.div_ceil(1024), sum);
    (0..dims).map(|c| parts.iter().map(|part| part[c]).sum()).collect()
}

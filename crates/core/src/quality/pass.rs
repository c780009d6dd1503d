//! The pass over the sampled rows: the distances of a row to all others in the data are computed and ranked once, then
//! those on every map.

use super::classes::{Alike, Classes};
use super::distances::{Reference, Sums};
use super::neighborhoods::{Near, Neighborhoods};
use super::pairs::within_row;
use super::ranks::Ranks;
use crate::input::Measured;
use crate::validate::neighbor_ratio::{NEAREST, Scale, all_over};
use eigenfold_graph::Metric;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel::{self, Scratch};
use eigenfold_linalg::progress::{Observer, Stage};
use eigenfold_linalg::widest;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that are processed together, so that the data pass through the cache once for all of them.
const TOGETHER: usize = 16;
/// Bytes of the data that stay in the cache meanwhile.
const CACHED: usize = 256 * 1024;
/// From this many coordinates on, distances on a map are summed in SIMD lanes like those in the data.
const MANY: usize = 16;

/// A map, prepared for the pass.
pub(super) struct Map<'a> {
    pub(super) points: &'a Points,
    /// Its columns one after the other, if they are few.
    columns: Vec<f64>,
    pub(super) by: Reference,
}

impl<'a> Map<'a> {
    pub(super) fn new(points: &'a Points, by: Reference) -> Map<'a> {
        let (n, d) = (points.rows(), points.cols());
        let columns = if d < MANY { (0..d * n).map(|at| points.row(at % n)[at / n]).collect() } else { Vec::new() };
        Map { points, columns, by }
    }

    /// The distances of all points from one of them; the same bits as [`Metric::distance`] gives.
    fn distances(&self, own: usize, out: &mut [f64]) {
        let (n, row) = (out.len(), self.points.row(own));
        widest(
            #[inline(always)]
            || {
                if self.columns.is_empty() {
                    for (j, d) in out.iter_mut().enumerate() {
                        *d = Metric::Euclidean.distance(row, self.points.row(j));
                    }
                    return;
                }
                out.fill(0.0);
                for (column, y) in self.columns.chunks_exact(n).zip(row) {
                    for (d, x) in out.iter_mut().zip(column) {
                        *d += (x - y) * (x - y);
                    }
                }
                out.iter_mut().for_each(|d| *d = d.sqrt());
            },
        );
    }
}

/// The measures of one row of one map.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowMeasures {
    pub(super) near: Near,
    /// r of `neighbor_ratio.rs`; `None` for a row without a scale.
    pub(super) lost: Option<f64>,
    pub(super) sums: Sums,
    pub(super) spearman: Option<f64>,
    pub(super) alike: Option<Alike>,
}

/// The measures of all rows of one map.
#[derive(Default)]
pub(super) struct MapMeasures {
    pub(super) rows: Vec<RowMeasures>,
    /// How many others become shared at every size of the curve.
    pub(super) shared: Vec<u64>,
}

/// The measures to compute.
pub(super) struct Pass<'a> {
    pub(super) data: Measured<'a>,
    pub(super) n: usize,
    pub(super) maps: &'a [Map<'a>],
    pub(super) near: &'a Neighborhoods,
    pub(super) classes: Option<&'a Classes>,
}

/// Workspace for the rows that are processed together.
#[derive(Default)]
struct Room {
    data: Vec<f64>,
    map: Vec<f64>,
    data_ranks: Ranks,
    map_ranks: Ranks,
}

impl Pass<'_> {
    /// Processes the rows, ascending; one result per map.
    pub(super) fn measure_all(&self, rows: &[usize], observer: &dyn Observer) -> Result<Vec<MapMeasures>> {
        let (rooms, done) = (Scratch::new(Room::default), AtomicUsize::new(0));
        let blocks = parallel::try_collect(rows.len().div_ceil(TOGETHER), |block| {
            if observer.stop() {
                return Err(Error::Stopped);
            }
            let some = &rows[block * TOGETHER..((block + 1) * TOGETHER).min(rows.len())];
            let measured = rooms.lend(|room| self.block(some, room));
            let done = done.fetch_add(some.len(), Ordering::Relaxed) + some.len();
            observer.progress(Stage::Quality, done as f64 / rows.len() as f64);
            Ok(measured)
        })?;
        let mut all: Vec<MapMeasures> = (0..self.maps.len()).map(|_| self.no_measures(rows.len())).collect();
        for (whole, part) in blocks.into_iter().flat_map(|block| (0..self.maps.len()).zip(block)) {
            all[whole].rows.extend(part.rows);
            all[whole].shared.iter_mut().zip(part.shared).for_each(|(sum, more)| *sum += more);
        }
        Ok(all)
    }

    fn no_measures(&self, rows: usize) -> MapMeasures {
        MapMeasures { rows: Vec::with_capacity(rows), shared: vec![0; self.near.sizes.len()] }
    }

    /// Processes a few rows.
    fn block(&self, rows: &[usize], room: &mut Room) -> Vec<MapMeasures> {
        let n = self.n;
        room.data.resize(rows.len() * n, 0.0);
        room.map.resize(n, 0.0);
        self.measure(rows, &mut room.data);
        let mut measured: Vec<MapMeasures> = self.maps.iter().map(|_| self.no_measures(rows.len())).collect();
        for (&own, data) in rows.iter().zip(room.data.chunks_exact(n)) {
            room.data_ranks.rank(data, own);
            let others = all_over(n).filter(|&j| j != own).map(|j| data[j]).collect();
            let scale = Scale::new(nearest(data, &room.data_ranks), others);
            for (map, measured) in self.maps.iter().zip(&mut measured) {
                map.distances(own, &mut room.map);
                room.map_ranks.rank(&room.map, own);
                let (inside, outside) = (&room.data_ranks, &room.map_ranks);
                measured.rows.push(RowMeasures {
                    near: self.near.of(inside, outside, own, &mut measured.shared),
                    lost: scale.as_ref().map(|scale| scale.lost(nearest(data, outside))),
                    sums: Sums::new(data, &room.map, own, &map.by),
                    spearman: within_row(&inside.doubled, &outside.doubled),
                    alike: self.classes.and_then(|classes| classes.of(outside, &room.map, own)),
                });
            }
        }
        measured
    }

    /// The distances of all points from some of them in the data, one row after the other.
    fn measure(&self, rows: &[usize], out: &mut [f64]) {
        let n = self.n;
        let (points, metric) = match self.data {
            Measured::Points(points, metric) => (points, metric),
            Measured::Distances(distances) => {
                let copied = |(&i, out): (&usize, &mut [f64])| out.copy_from_slice(distances.matrix().row(i));
                return rows.iter().zip(out.chunks_exact_mut(n)).for_each(copied);
            }
        };
        let strip = (CACHED / (8 * points.cols())).max(1);
        widest(
            #[inline(always)]
            || {
                for start in (0..n).step_by(strip) {
                    let end = (start + strip).min(n);
                    for (&i, out) in rows.iter().zip(out.chunks_exact_mut(n)) {
                        for (j, d) in (start..end).zip(&mut out[start..end]) {
                            *d = metric.between(points, i, j);
                        }
                    }
                }
            },
        );
    }
}

/// The distances in the data of those that come first in an order.
fn nearest<'a>(data: &'a [f64], ranks: &'a Ranks) -> impl Iterator<Item = f64> + 'a {
    ranks.order.iter().take(NEAREST).map(|&j| data[j as usize])
}

//! New rows in batches: their nearest training points, the rule row by row, and the correction near training points.
//!
//! A rule that sends a training row to r(x[j]) instead of its own coordinates y[j] is corrected:
//!
//! ```text
//! y = r(x) + Σⱼ φ[j] b[j] (y[j] − r(x[j]))        the weights φ b of `taper.rs`, one at x[j] and zero beyond R/4
//! ```
//!
//! which is continuous where r is, and tends to y[j] as x tends to x[j].

use super::homes::Homes;
use super::taper::{self, Near};
use super::{Extension, FAR, Known, SAMPLED, TransformFn, Transformed};
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Lists};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The number of new rows per batch, so that its memory stays small: whole blocks of the search for their neighbors,
/// several for each thread.
const BATCH: usize = 6144;
/// The same where a row has a number for every training point.
pub(super) const WIDE_BATCH: usize = 256;

/// A batch of new rows with their nearest training points.
pub struct Batch<'a> {
    /// The rows.
    pub rows: &'a Points,
    pub(super) near: &'a Near,
    pub(super) k: usize,
}

/// A new point: its row, and its nearest training points.
pub struct Newcomer<'a> {
    /// Its number in the batch.
    pub at: usize,
    /// Its features, or its distances to all training points.
    pub row: &'a [f64],
    /// Its nearest training points, the nearest first.
    pub near: &'a [u32],
    /// Their distances.
    pub lengths: &'a [f64],
    /// Their taper weights: nearly one for near ones, and zero at the distance of the first point that is not a neighbor.
    pub shares: &'a [f64],
}

impl Batch<'_> {
    /// The coordinates of every row, some rows at a time: for rules that keep a number per row and training point.
    pub(super) fn in_parts(&self, place: impl Fn(&Batch<'_>) -> Result<Vec<Vec<f64>>>) -> Result<Vec<Vec<f64>>> {
        let count = self.rows.rows();
        if count <= WIDE_BATCH {
            return place(self);
        }
        let mut placed = Vec::with_capacity(count);
        for start in (0..count).step_by(WIDE_BATCH) {
            let part = start..(start + WIDE_BATCH).min(count);
            let near = self.near.part(&part, self.k);
            let rows = self.rows.select(&part.collect::<Vec<_>>());
            placed.extend(place(&Batch { rows: &rows, near: &near, k: self.k })?);
        }
        Ok(placed)
    }

    /// The coordinates of every row, in parallel.
    pub fn each(&self, place: impl Fn(&Newcomer<'_>) -> Vec<f64> + Sync) -> Vec<Vec<f64>> {
        parallel::collect(self.rows.rows(), |at| {
            let list = at * self.k..(at + 1) * self.k;
            place(&Newcomer {
                at,
                row: self.rows.row(at),
                near: &self.near.rows[list.clone()],
                lengths: &self.near.lengths[list.clone()],
                shares: &self.near.shares[list],
            })
        })
    }
}

/// A rule with all that it needs for any number of new rows: the index of the training points, the distance beyond which a
/// new point is far, and the corrections that were computed until now.
pub(super) struct Placer<'a> {
    known: Known<'a>,
    index: Option<Index<'a>>,
    place: TransformFn<'a>,
    reach: f64,
    homes: Option<Homes<'a>>,
    corrected: bool,
    offsets: RefCell<BTreeMap<u32, Vec<f64>>>,
}

impl<'a> Placer<'a> {
    pub(super) fn new(rule: &'a dyn Extension, known: Known<'a>) -> Result<Placer<'a>> {
        let index = known.points.map(|(points, metric)| Index::new(points, metric)).transpose()?;
        let place = rule.prepare(known)?;
        let reach = index.as_ref().map_or(Ok(f64::INFINITY), |index| known.reach(index))?;
        let homes = known.points.map(|(points, _)| Homes::of(points));
        let corrected = rule.traits().corrected;
        Ok(Placer { known, index, place, reach, homes, corrected, offsets: RefCell::default() })
    }

    /// The coordinates of new rows, row by row, in batches. Training rows, identified by their values, are not their own
    /// neighbors; `own` has the training row behind every new one, if they are training rows.
    pub(super) fn place(&self, new: &Points, own: Option<&[u32]>) -> Result<Transformed> {
        let Placer { known, index, place, homes, .. } = self;
        let dims = known.map.cols();
        let mut offsets = self.offsets.borrow_mut();
        let (mut placed, mut far) = (Vec::with_capacity(new.rows() * dims), Vec::new());
        let size = if index.is_some() { BATCH } else { WIDE_BATCH };
        for start in (0..new.rows()).step_by(size) {
            let batch: Vec<usize> = (start..(start + size).min(new.rows())).collect();
            let batch = new.select(&batch);
            let own = own.map(|own| &own[start..start + batch.rows()]);
            let near = known.nearest(index.as_ref(), &batch, own)?;
            let mut rows = place(&Batch { rows: &batch, near: &near, k: known.k })?;
            if let (Some(index), true) = (index, self.corrected) {
                let pulls = pulls(&near, known.k);
                add_offsets(known, place, index, &pulls, &mut offsets)?;
                for (i, j, weight) in pulls {
                    rows[i]
                        .iter_mut()
                        .zip(&offsets[&j])
                        .for_each(|(y, offset): (&mut f64, &f64)| *y += weight * offset);
                }
            }
            for (i, row) in rows.into_iter().enumerate() {
                let home = match homes {
                    Some(homes) => homes.home(batch.row(i), own.map(|own| own[i])),
                    None => known.at_no_distance(&near, i),
                };
                placed.extend(home.map_or(row, |j| known.map.row(j).to_vec()));
                far.extend((near.deviation(i, known.k) > self.reach).then_some(start + i));
            }
        }
        Ok(Transformed { coordinates: Points::computed(new.rows(), dims, placed)?, far, deviations: None })
    }
}

/// The corrections that are not zero: row, training point and weight. In many dimensions they are few.
fn pulls(near: &Near, k: usize) -> Vec<(usize, u32, f64)> {
    let of_row = |(i, &reach): (usize, &f64)| {
        let list = i * k..(i + 1) * k;
        let lengths = &near.lengths[list.clone()];
        let some = taper::corrects(lengths, reach);
        let weights = if some { taper::corrections(lengths, reach) } else { Vec::new() };
        let pulls = near.rows[list].iter().zip(weights).filter(|(_, weight)| *weight > 0.0);
        pulls.map(|(&j, weight)| (i, j, weight)).collect::<Vec<_>>()
    };
    near.reaches.iter().enumerate().flat_map(of_row).collect()
}

/// y[j] − r(x[j]) of all training points that correct a row, for which it is not known yet.
fn add_offsets(
    known: &Known<'_>,
    place: &TransformFn<'_>,
    index: &Index<'_>,
    pulls: &[(usize, u32, f64)],
    offsets: &mut BTreeMap<u32, Vec<f64>>,
) -> Result<()> {
    let mut rows: Vec<u32> = pulls.iter().map(|pull| pull.1).filter(|j| !offsets.contains_key(j)).collect();
    rows.sort_unstable();
    rows.dedup();
    if rows.is_empty() {
        return Ok(());
    }
    let numbers: Vec<usize> = rows.iter().map(|&j| j as usize).collect();
    let batch = index.points().select(&numbers);
    let near = known.nearest(Some(index), &batch, None)?;
    for (j, row) in rows.into_iter().zip(place(&Batch { rows: &batch, near: &near, k: known.k })?) {
        let own = known.map.row(j as usize);
        offsets.insert(j, own.iter().zip(row).map(|(y, r)| y - r).collect());
    }
    Ok(())
}

impl Known<'_> {
    /// The largest standard deviation of a new point that is not far: a multiple of the usual one among training
    /// points, each left out.
    fn reach(&self, index: &Index<'_>) -> Result<f64> {
        let n = index.points().rows();
        let sampled: Vec<usize> = (0..n.min(SAMPLED)).map(|i| i * n / n.min(SAMPLED)).collect();
        if n < 2 {
            return Ok(f64::INFINITY);
        }
        let own: Vec<u32> = sampled.iter().map(|&i| i as u32).collect();
        let known = Known { k: self.k.min(n - 1), ..*self };
        let near = known.nearest(Some(index), &index.points().select(&sampled), Some(&own))?;
        let mut deviations: Vec<f64> = (0..sampled.len()).map(|i| near.deviation(i, known.k)).collect();
        deviations.sort_unstable_by(f64::total_cmp);
        let usual = deviations[(deviations.len() - 1) * 95 / 100];
        let most = deviations[deviations.len() - 1];
        let reach = if usual > 0.0 { usual } else { most };
        Ok(if reach > 0.0 { FAR * reach } else { f64::INFINITY })
    }

    /// The k nearest training points of every row, other than itself if it is one of them.
    pub(super) fn nearest(&self, index: Option<&Index<'_>>, rows: &Points, own: Option<&[u32]>) -> Result<Near> {
        let n = self.map.rows();
        // One more gives the distance of the first point that is not a neighbor.
        let width = (self.k + 1 + usize::from(own.is_some())).min(n);
        let (all, lengths) = match index {
            Some(index) => index.nearest(rows, width)?,
            None => nearest_of(rows, width)?,
        };
        let mut near = Near { rows: Vec::new(), lengths: Vec::new(), shares: Vec::new(), reaches: Vec::new() };
        for i in 0..rows.rows() {
            let list = i * width..(i + 1) * width;
            let list = all[list.clone()].iter().copied().zip(lengths[list].iter().copied());
            let mut others = list.filter(|(j, _)| own.is_none_or(|own| own[i] != *j));
            let first = near.lengths.len();
            for (j, length) in others.by_ref().take(self.k) {
                near.rows.push(j);
                near.lengths.push(length);
            }
            let reach = others.next().map_or(f64::INFINITY, |(_, d)| d);
            let own_lengths = &near.lengths[first..];
            let reach = self.radius.map_or(reach, |radius| taper::within(own_lengths, radius).min(reach));
            taper::add_shares(own_lengths, reach, &mut near.shares);
            near.reaches.push(reach);
        }
        Ok(near)
    }

    /// The training point at distance zero in a row of distances.
    fn at_no_distance(&self, near: &Near, i: usize) -> Option<usize> {
        (near.lengths[i * self.k] == 0.0).then_some(near.rows[i * self.k] as usize)
    }
}

/// The nearest by rows that hold distances to all training points.
fn nearest_of(rows: &Points, width: usize) -> Result<Lists> {
    let lists = parallel::collect(rows.rows(), |i| {
        let mut list: Vec<(u32, f64)> = rows.row(i).iter().enumerate().map(|(j, &d)| (j as u32, d)).collect();
        list.sort_unstable_by(sort::by_distance);
        list.truncate(width);
        list
    });
    if let Some(i) = lists.iter().position(|list| list[0].1 < 0.0) {
        let fact = format!("row {} has a negative distance", i + 1);
        return Err(Error::data(fact, "distances are not negative").at_row(i));
    }
    Ok(lists.concat().into_iter().unzip())
}

//! The neighbor distance ratio of a map.
//!
//! Every row i has its ten nearest rows in the data, N[i], and its ten nearest on the map, M[i]:
//!
//! ```text
//! r[i] = ½ log (mean of d²[i,j] over j in M[i] / mean of d²[i,j] over j in N[i]) ≥ 0       neighbor_ratio = exp(mean r[i])
//! ```
//!
//! and r[i] is at most what average rows would give, ½ log (median of d²[i,j] over all j / mean of d²[i,j] over j in
//! N[i]). So the neighbor distance ratio of a map is how many times as far from a row its neighbors on the map are as
//! its true nearest neighbors: 1 is perfect. Each row is measured on its own scale, whether it lies in a dense or in a
//! sparse part of the data, and a row that has lost its neighbors altogether counts by a logarithm, so that a few of
//! them do not dominate. Nor does a small component of the graph far away: where its few points land among the others
//! on the map, these have lost a neighbor, however far away it came from.

use crate::model::Model;
use crate::preparation::Whitening;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use serde::Serialize;
use std::borrow::Cow;

/// The number of neighbors of a row.
pub(crate) const NEAREST: usize = 10;
/// The number of sampled rows, evenly spaced.
const SAMPLED: usize = 2000;

/// The number of rows, evenly spaced, for the median distance.
const ALL: usize = 201;
/// For the report of every map, this many rows are sampled, ...
const FEW: usize = 500;
/// ... among this many, evenly spaced.
const AMONG: usize = 5000;

/// The nearest rows in the data, to compare maps with.
pub(crate) struct NearestRows<'a> {
    points: Cow<'a, Points>,
    metric: Metric,
    sampled: Vec<SampledRow>,
}

/// A sampled row.
struct SampledRow {
    row: usize,
    scale: Scale,
}

/// The scale of a row.
pub(crate) struct Scale {
    /// The logarithm of its root mean square distance to its nearest.
    own: f64,
    /// The maximum of r.
    most: f64,
}

impl Scale {
    /// From the distances of a row to its nearest, and to rows all over the data; `None` for a row that has as many
    /// duplicates as neighbors.
    pub(crate) fn new(nearest: impl Iterator<Item = f64>, mut all: Vec<f64>) -> Option<Scale> {
        let (own, middle) = (log_size(nearest)?, all.len() / 2);
        let median = *all.select_nth_unstable_by(middle, f64::total_cmp).1;
        Some(Scale { own, most: (median.ln() - own).max(0.0) })
    }

    /// r, from the distances in the data to the nearest on a map. Up to rounding, none are nearer than the nearest.
    pub(crate) fn lost(&self, found: impl Iterator<Item = f64>) -> f64 {
        log_size(found).map_or(0.0, |size| (size - self.own).clamp(0.0, self.most))
    }
}

/// The rows all over the data for the median distance.
pub(crate) fn all_over(n: usize) -> impl Iterator<Item = usize> {
    let count = n.min(ALL);
    (0..count).map(move |at| at * n / count)
}

impl<'a> NearestRows<'a> {
    pub(crate) fn new(points: &'a Points, metric: Metric) -> Result<NearestRows<'a>> {
        NearestRows::sampling(points, metric, SAMPLED)
    }

    /// As [`NearestRows::new`], with this many sampled rows.
    fn sampling(points: &'a Points, metric: Metric, sampled: usize) -> Result<NearestRows<'a>> {
        let (points, metric) = match metric {
            Metric::Mahalanobis => (Cow::Owned(Whitening::learn(points, None)?.apply(points)?), Metric::Euclidean),
            other => (Cow::Borrowed(points), other),
        };
        let n = points.rows();
        let rows = spaced(n, sampled);
        let k = NEAREST.min(n - 1);
        let (near, lengths) = Index::new(&points, metric)?.nearest(&points.select(&rows), k + 1)?;
        let sampled = parallel::collect(rows.len(), |at| {
            let (row, list) = (rows[at], at * (k + 1)..(at + 1) * (k + 1));
            let nearest = near[list.clone()].iter().zip(&lengths[list]).filter(|(j, _)| **j as usize != row);
            let others = all_over(n).filter(|&j| j != row);
            let all = others.map(|j| metric.between(&points, row, j)).collect();
            Some(SampledRow { row, scale: Scale::new(nearest.take(k).map(|(_, d)| *d), all)? })
        });
        Ok(NearestRows { points, metric, sampled: sampled.into_iter().flatten().collect() })
    }

    /// r of every sampled row.
    pub(crate) fn of(&self, map: &Points) -> Result<Vec<f64>> {
        let k = NEAREST.min(map.rows() - 1);
        let rows: Vec<usize> = self.sampled.iter().map(|sampled| sampled.row).collect();
        let (near, _) = Index::new(map, Metric::Euclidean)?.nearest(&map.select(&rows), k + 1)?;
        Ok(parallel::collect(rows.len(), |at| {
            let &SampledRow { row, ref scale } = &self.sampled[at];
            let others = near[at * (k + 1)..(at + 1) * (k + 1)].iter().map(|&j| j as usize).filter(|&j| j != row);
            let distances = others.take(k).map(|j| self.metric.between(&self.points, row, j));
            scale.lost(distances)
        }))
    }
}

/// At most `most` of n rows, evenly spaced.
fn spaced(n: usize, most: usize) -> Vec<usize> {
    (0..n.min(most)).map(|at| at * n / n.min(most)).collect()
}

/// The neighbor distance ratio of a map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NeighborRatio {
    /// How many times as far from a row its ten nearest on the map are, in the data, as the ten nearest there; 1 is
    /// perfect.
    pub neighbor_ratio: f64,
    /// The value of a random embedding, on which average rows are neighbors.
    pub random: f64,
}

impl NeighborRatio {
    /// The share of the neighborhoods that is lost, log neighbor distance ratio / log random: 0 is none, 1 is all.
    pub fn lost(&self) -> f64 {
        let most = self.random.ln();
        if most > 0.0 { self.neighbor_ratio.ln() / most } else { 0.0 }
    }
}

impl Model {
    /// How well the map preserves neighborhoods, by 500 rows among 5,000, both evenly spaced; in the columns and the
    /// metric of the fit. `None` for a model without points, with fewer than twelve, with missing cells, or if all rows
    /// are duplicates.
    ///
    /// # Errors
    ///
    /// If the metric is not defined on the points, which cannot happen for those of a fit.
    pub fn neighborhoods(&self) -> Result<Option<NeighborRatio>> {
        let suitable = |points: &&Points| points.rows() > NEAREST + 1 && points.missing().is_empty();
        let Some(points) = self.seen_points().filter(suitable) else { return Ok(None) };
        let rows = spaced(points.rows(), AMONG);
        let (points, map) = match rows.len() == points.rows() {
            true => (Cow::Borrowed(points), Cow::Borrowed(&self.embedding)),
            false => (Cow::Owned(points.select(&rows)), Cow::Owned(self.embedding.select(&rows))),
        };
        let neighbor_ratio = NearestRows::sampling(&points, self.metric(), FEW)?;
        let r = neighbor_ratio.of(&map)?;
        if r.is_empty() {
            return Ok(None);
        }
        let mean = |sum: f64| (sum / r.len() as f64).exp();
        let most = neighbor_ratio.sampled.iter().map(|sampled| sampled.scale.most).sum();
        Ok(Some(NeighborRatio { neighbor_ratio: mean(r.iter().sum()), random: mean(most) }))
    }
}

/// The neighbor distance ratio of a map of the points: 1 is perfect.
///
/// # Errors
///
/// If the metric is not defined on the points, or the map has another number of rows.
pub fn neighbor_ratio(points: &Points, metric: Metric, map: &Points) -> Result<f64> {
    let (n, rows) = (points.rows(), map.rows());
    if n != rows || n < 2 {
        let (fact, way_out) =
            (format!("the map has {rows} rows and the data {n}"), "give one row per point, of two points at least");
        return Err(match n == rows {
            true => Error::too_small(n, 2, fact, way_out),
            false => Error::mismatch("rows", (rows, n), fact, way_out),
        });
    }
    let r = NearestRows::new(points, metric)?.of(map)?;
    Ok(if r.is_empty() { 1.0 } else { (r.iter().sum::<f64>() / r.len() as f64).exp() })
}

/// The logarithm of the root mean square, without overflow; `None` if all are zero.
fn log_size(lengths: impl Iterator<Item = f64>) -> Option<f64> {
    let lengths: Vec<f64> = lengths.collect();
    let largest = lengths.iter().copied().fold(0.0, f64::max);
    let squares: f64 = lengths.iter().map(|d| (d / largest).powi(2)).sum();
    (largest > 0.0).then(|| largest.ln() + 0.5 * (squares / lengths.len() as f64).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_keeps_the_neighbors_is_perfect_and_one_that_folds_is_not() {
        let line = Points::from_rows(&(0..60).map(|i| [i as f64, 0.0]).collect::<Vec<_>>()).unwrap();
        for unit in [1e-55, 1.0, 1e55] {
            let scaled = Points::new(60, 2, line.values().iter().map(|x| x * unit).collect()).unwrap();
            let neighbor_ratio = NearestRows::new(&scaled, Metric::Euclidean).unwrap();
            let straight = Points::from_rows(&(0..60).map(|i| [-3.0 * i as f64]).collect::<Vec<_>>()).unwrap();
            assert!(neighbor_ratio.of(&straight).unwrap().iter().all(|&r| r.abs() < 1e-12));
            // Folded in the middle: half of the neighbors of row 0 are of the other end.
            let folded =
                Points::from_rows(&(0..60).map(|i| [f64::from(i).min(59.5 - f64::from(i))]).collect::<Vec<_>>());
            let r = neighbor_ratio.of(&folded.unwrap()).unwrap();
            assert!(r[0] > 1.5 && r[29] < 0.3, "{} {}", r[0], r[29]);
        }
    }

    /// Three points far away land in the middle of 200 others: 30 rows have one of them for a neighbor, and a distance
    /// of a million counts for no more than one of a hundred.
    #[test]
    fn a_small_component_does_not_decide_however_far_it_is() {
        let spot = |i: usize| [(i as f64 * 0.618_034).fract(), (i as f64 * 0.754_878).fract()];
        let neighbor_ratio = |far: f64| {
            let row = |i: usize| if i < 200 { spot(i) } else { [far, 0.01 * i as f64] };
            let points = Points::from_rows(&(0..203).map(row).collect::<Vec<_>>()).unwrap();
            let lost = |i: usize| if i < 200 { spot(i) } else { [0.5, 0.5 + 1e-3 * (i - 200) as f64] };
            let map = Points::from_rows(&(0..203).map(lost).collect::<Vec<_>>()).unwrap();
            let logs = NearestRows::new(&points, Metric::Euclidean).unwrap().of(&map).unwrap();
            (logs.iter().sum::<f64>() / logs.len() as f64).exp()
        };
        let (near, far) = (neighbor_ratio(1e2), neighbor_ratio(1e6));
        assert!(far < 1.35 && (far / near - 1.0).abs() < 0.01, "{near} {far}");
        assert!(far > 1.02, "the neighbors that were lost count: {far}");
    }

    /// Two components of the same shape, one a thousandth of the size of the other. A map that scrambles the small one
    /// is as bad as one that scrambles the large one; squared errors would see a millionth of it. A map that enlarges a
    /// component, with its neighborhoods preserved, is perfect.
    #[test]
    fn a_component_counts_by_its_rows_whatever_its_size() {
        // No two distances are equal, as they would be on a lattice.
        let spot = |i: usize| [12.9898, 78.233].map(|by| (43_758.545 * (by * (i + 1) as f64).sin()).fract());
        let size = |component: usize| [1.0, 1e-3][component];
        let place = |component: usize, i: usize| {
            [500.0 * component as f64 + size(component) * spot(i)[0], size(component) * spot(i)[1]]
        };
        let all = |of: &dyn Fn(usize, usize) -> [f64; 2]| {
            let row = |at: usize| of(at / 100, at % 100);
            Points::from_rows(&(0..200).map(row).collect::<Vec<_>>()).unwrap()
        };
        let points = all(&place);
        let neighbor_ratio = NearestRows::new(&points, Metric::Euclidean).unwrap();
        let neighbor_ratio = |map: &Points| (neighbor_ratio.of(map).unwrap().iter().sum::<f64>() / 200.0).exp();
        let scrambled =
            |which: usize| all(&|component, i| place(component, if component == which { i * 37 % 100 } else { i }));
        let [large, small] = [0, 1].map(|which| neighbor_ratio(&scrambled(which)));
        assert!(large > 1.5 && (small / large - 1.0).abs() < 1e-6, "{large} {small}");
        let blown_up = all(&|component, i| place(component, i).map(|x| x * if component == 1 { 1e6 } else { 1.0 }));
        assert!((neighbor_ratio(&blown_up) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn rows_with_many_copies_are_not_sampled() {
        let rows: Vec<[f64; 1]> = (0..40).map(|i| [if i < 20 { 0.0 } else { i as f64 }]).collect();
        let points = Points::from_rows(&rows).unwrap();
        assert_eq!(NearestRows::new(&points, Metric::Euclidean).unwrap().sampled.len(), 20);
    }
}

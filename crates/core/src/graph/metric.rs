//! How far apart two points are.
//!
//! A search compares *ranks*, numbers that grow with the distance and cost less: Σ(a − b)² for the Euclidean
//! distance, the distance itself for Manhattan, and ‖u − v‖² of the unit vectors for cosine, since
//! 1 − u·v = ‖u − v‖² / 2. What a search returns is always [`Metric::distance`] of the points as given.

use crate::error::{Error, Result};
use crate::points::Points;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// From this many features on, sums run in eight lanes; below, in order.
const LANES_FROM: usize = 16;

/// A cosine needs Σa² to keep its digits; below this it would be rounded away.
const SMALLEST_NORM2: f64 = 1e-303;

/// A distance between two points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// √Σ(a − b)².
    #[default]
    Euclidean,
    /// Σ|a − b|.
    Manhattan,
    /// 1 − a·b / (‖a‖‖b‖); points must not be zero.
    Cosine,
}

impl Metric {
    /// The distance between two points of equal length; the same bits in either order.
    #[inline(always)]
    pub fn distance(self, a: &[f64], b: &[f64]) -> f64 {
        debug_assert_eq!(a.len(), b.len());
        match self {
            Metric::Euclidean => sum(a, b, |x, y| (x - y) * (x - y)).sqrt(),
            Metric::Manhattan => sum(a, b, |x, y| (x - y).abs()),
            Metric::Cosine if a == b => 0.0,
            Metric::Cosine => {
                let norms = sum(a, a, |x, y| x * y).sqrt() * sum(b, b, |x, y| x * y).sqrt();
                (1.0 - sum(a, b, |x, y| x * y) / norms).max(0.0)
            }
        }
    }

    /// Whether the metric is defined on these points.
    ///
    /// # Errors
    ///
    /// For [`Metric::Cosine`], if a point is zero (it has no direction) or too small to square.
    pub fn check(self, points: &Points) -> Result<()> {
        if self != Metric::Cosine {
            return Ok(());
        }
        for i in 0..points.rows() {
            let row = points.row(i);
            if row.iter().all(|&v| v == 0.0) {
                return Err(Error::data(format!(
                    "row {} is all zeros and has no direction; remove it or use `metric` euclidean",
                    i + 1
                )));
            }
            if sum(row, row, |x, y| x * y) < SMALLEST_NORM2 {
                return Err(Error::data(format!(
                    "row {} is too small to find its direction; multiply the data by a constant",
                    i + 1
                )));
            }
        }
        Ok(())
    }

    /// An upper bound on the rank of every pair of points whose computed distance is at most `distance`.
    pub(super) fn rank_limit(self, distance: f64, dims: usize) -> f64 {
        let slack = (8 * dims + 32) as f64 * f64::EPSILON;
        match self {
            Metric::Euclidean => distance * distance * (1.0 + slack) + 1e-321,
            Metric::Manhattan => distance * (1.0 + slack),
            Metric::Cosine => 2.0 * distance + 4.0 * slack,
        }
    }

    /// The distance of two points whose rank was summed in order of the features, without summing again if possible.
    #[inline(always)]
    pub(super) fn of_rank(self, rank: f64, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Metric::Euclidean if a.len() < LANES_FROM => rank.sqrt(),
            Metric::Manhattan if a.len() < LANES_FROM => rank,
            _ => self.distance(a, b),
        }
    }

    /// The point in which ranks are taken: itself, or its direction for [`Metric::Cosine`].
    pub(super) fn ranked(self, row: &[f64], out: &mut Vec<f64>) {
        out.clear();
        if self == Metric::Cosine {
            // Scaled first, so that the norm neither overflows nor vanishes.
            let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let norm = row.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt();
            out.extend(row.iter().map(|v| v / largest / norm));
        } else {
            out.extend_from_slice(row);
        }
    }

    /// All points in which ranks are taken, row after row.
    pub(super) fn ranked_rows(self, points: &Points) -> Cow<'_, [f64]> {
        if self != Metric::Cosine {
            return points.values().into();
        }
        let mut row = Vec::with_capacity(points.cols());
        let mut all = Vec::with_capacity(points.values().len());
        for i in 0..points.rows() {
            self.ranked(points.row(i), &mut row);
            all.extend_from_slice(&row);
        }
        all.into()
    }
}

/// Σ f(a, b), in a fixed order.
#[inline(always)]
fn sum(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    if a.len() < LANES_FROM {
        let mut total = 0.0;
        for (&x, &y) in a.iter().zip(b) {
            total += f(x, y);
        }
        return total;
    }
    let (a_lanes, a_rest) = a.as_chunks::<8>();
    let (b_lanes, b_rest) = b.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (x, y) in a_lanes.iter().zip(b_lanes) {
        for l in 0..8 {
            lanes[l] += f(x[l], y[l]);
        }
    }
    let mut total = 0.0;
    for (&x, &y) in a_rest.iter().zip(b_rest) {
        total += f(x, y);
    }
    lanes.iter().fold(total, |total, lane| total + lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_triangle_measures_five_seven_and_one() {
        assert_eq!(Metric::Euclidean.distance(&[0.0, 0.0], &[3.0, 4.0]), 5.0);
        assert_eq!(Metric::Manhattan.distance(&[0.0, 0.0], &[3.0, 4.0]), 7.0);
        assert_eq!(Metric::Cosine.distance(&[1.0, 0.0], &[0.0, 2.0]), 1.0);
    }

    #[test]
    fn lanes_and_order_agree_on_integers() {
        let a: Vec<f64> = (0..37).map(f64::from).collect();
        let b = vec![0.0; 37];
        assert_eq!(Metric::Manhattan.distance(&a, &b), 666.0);
        assert_eq!(Metric::Euclidean.distance(&a, &b), 16206f64.sqrt());
    }

    #[test]
    fn a_direction_does_not_depend_on_the_length() {
        assert!(Metric::Cosine.distance(&[1e150, 1e150], &[1e-140, 1e-140]) < 1e-15);
        let small = Points::from_rows(&[[1e-160, 0.0]]).unwrap();
        assert!(Metric::Cosine.check(&small).unwrap_err().to_string().starts_with("row 1 is too small"));
    }
}

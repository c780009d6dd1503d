//! Ranks: numbers that grow with the distance and cost less to compare.
//!
//! | metric | rank of a and b |
//! |---|---|
//! | euclidean | Σ(a − b)² |
//! | manhattan, chebyshev | the distance |
//! | minkowski | Σ|a − b|ᵖ |
//! | cosine, correlation | ‖u − v‖² of the unit vectors, since 1 − u·v = ‖u − v‖² / 2 |
//! | haversine | ‖u − v‖² of the places in space, since ‖u − v‖ = 2 sin(δ/2) |
//!
//! Those of shares and quotients have none, and are measured one by one; mahalanobis is euclidean in other columns.

use super::{LANES_FROM, Metric, deviations, radians};
use crate::points::Points;
use std::borrow::Cow;

/// |x|ᵖ of a number that is not negative; whole powers by products.
#[inline(always)]
pub(crate) fn power(x: f64, p: f64) -> f64 {
    if p.fract() == 0.0 && p <= 16.0 { x.powi(p as i32) } else { x.powf(p) }
}

impl Metric {
    /// Whether the rank is a sum or maximum over single features, as the boxes of a tree need it.
    pub(crate) fn has_rank(self) -> bool {
        !matches!(self, Metric::Hamming | Metric::Jaccard | Metric::Canberra | Metric::BrayCurtis)
    }

    /// Whether blocks of ranks in single precision are known to be near enough: those of squares and of absolute values.
    pub(crate) fn has_blocks(self) -> bool {
        matches!(self, Metric::Euclidean | Metric::Manhattan | Metric::Cosine | Metric::Correlation)
    }

    /// Whether the rank is of unit vectors, whose rounding does not shrink with the distance.
    pub fn is_angle(self) -> bool {
        matches!(self, Metric::Cosine | Metric::Correlation | Metric::Haversine | Metric::HaversineDegrees)
    }

    /// An upper bound on the rank of every pair of points whose computed distance is at most `distance`.
    pub(crate) fn rank_limit(self, distance: f64, dims: usize) -> f64 {
        let slack = (8 * dims + 32) as f64 * f64::EPSILON;
        match self {
            Metric::Euclidean | Metric::Mahalanobis => distance * distance * (1.0 + slack) + 1e-321,
            Metric::Manhattan => distance * (1.0 + slack),
            Metric::Cosine | Metric::Correlation => 2.0 * distance + 4.0 * slack,
            Metric::Haversine | Metric::HaversineDegrees => {
                4.0 * (0.5 * distance.min(std::f64::consts::PI)).sin().powi(2) + 4.0 * slack
            }
            Metric::Minkowski(p) => power(distance, p) * (1.0 + p * slack) + 1e-321,
            Metric::Chebyshev | Metric::Hamming | Metric::Jaccard | Metric::Canberra | Metric::BrayCurtis => distance,
        }
    }

    /// The distance of two points whose rank was summed in order of the features, without summing again if possible.
    #[inline(always)]
    pub(crate) fn of_rank(self, rank: f64, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Metric::Euclidean if a.len() < LANES_FROM => rank.sqrt(),
            Metric::Manhattan if a.len() < LANES_FROM => rank,
            Metric::Chebyshev => rank,
            _ => self.distance(a, b),
        }
    }

    /// How many coordinates the points have in which ranks are taken.
    pub fn ranked_cols(self, cols: usize) -> usize {
        if matches!(self, Metric::Haversine | Metric::HaversineDegrees) { 3 } else { cols }
    }

    /// The point in which ranks are taken: itself, its direction, or its place on a sphere.
    #[inline(always)]
    pub(crate) fn ranked(self, row: &[f64], out: &mut Vec<f64>) {
        out.clear();
        match self {
            Metric::Cosine => {
                // Scaled first, so that the norm neither overflows nor vanishes.
                let (eights, rest) = row.as_chunks::<8>();
                let mut largest = [0.0f64; 8];
                eights.iter().for_each(|eight| (0..8).for_each(|l| largest[l] = largest[l].max(eight[l].abs())));
                let largest = largest.iter().chain(rest).fold(0.0f64, |most, v| most.max(v.abs()));
                out.extend(row.iter().map(|v| v / largest));
                let norm = out.iter().map(|v| v * v).sum::<f64>().sqrt();
                out.iter_mut().for_each(|v| *v /= norm);
            }
            Metric::Correlation => {
                let (from_mean, norm, _) = deviations(row);
                out.extend(from_mean.iter().map(|v| v / norm));
            }
            Metric::Haversine => out.extend(in_space([row[0], row[1]])),
            Metric::HaversineDegrees => out.extend(in_space(radians(row))),
            _ => out.extend_from_slice(row),
        }
    }

    /// The same of point `i`, without a copy if it is that itself.
    #[inline(always)]
    pub fn ranked_point<'a>(self, points: &'a Points, i: usize, out: &'a mut Vec<f64>) -> &'a [f64] {
        if !self.is_angle() {
            return points.read(i, out);
        }
        self.ranked(&points.point(i), out);
        out
    }

    /// All points in which ranks are taken, row after row.
    pub fn ranked_rows(self, points: &Points) -> Cow<'_, [f64]> {
        if !self.is_angle() && points.singles().is_none() {
            return points.values().into();
        }
        let cols = self.ranked_cols(points.cols());
        let mut row = Vec::with_capacity(cols);
        let mut all = Vec::with_capacity(points.rows() * cols);
        for i in 0..points.rows() {
            all.extend_from_slice(self.ranked_point(points, i, &mut row));
        }
        all.into()
    }
}

/// The place of latitude and longitude on the unit sphere.
fn in_space([latitude, longitude]: [f64; 2]) -> [f64; 3] {
    let around = latitude.cos();
    [around * longitude.cos(), around * longitude.sin(), latitude.sin()]
}

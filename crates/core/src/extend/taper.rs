//! Taper weights of the neighbors of a new point: nearly one for near ones, decreasing with distance, and zero at the
//! distance R of the first point that is not a neighbor.
//!
//! ```text
//! t[j] = 1 − (d[j]/R)⁴
//! ```
//!
//! When a new point moves, one neighbor replaces another where both are at R and have weight zero, so that functions of
//! the neighbors are continuous.

use std::ops::Range;

/// The minimum number of neighbors with positive weight if a radius limits them.
const LEAST: usize = 2;

/// Appends the weights t of the neighbors, given their distances in ascending order and R.
pub(super) fn add_shares(lengths: &[f64], reach: f64, shares: &mut Vec<f64>) {
    // If all are at one distance, they have equal weights.
    let equal = lengths[0] >= reach || !reach.is_finite();
    shares.extend(lengths.iter().map(|d| if equal { 1.0 } else { 1.0 - (d / reach).min(1.0).powi(4) }));
}

/// R if the graph is built by a radius alone: that radius, so that a new point has no edge across a gap that training
/// points do not cross. It is the third distance if there are fewer than three within it, so that two of them count
/// when the nearest changes.
pub(super) fn within(lengths: &[f64], radius: f64) -> f64 {
    lengths.get(LEAST).copied().unwrap_or(f64::INFINITY).max(radius)
}

/// Whether any neighbor is near enough for a correction.
pub(super) fn corrects(lengths: &[f64], reach: f64) -> bool {
    lengths[0] < correction_reach(lengths, reach)
}

/// ρ, where the corrections end.
fn correction_reach(lengths: &[f64], reach: f64) -> f64 {
    0.25 * if reach.is_finite() { reach } else { lengths[lengths.len() - 1] }
}

/// The weight of the correction towards each neighbor: φ[j] b[j], with φ ∝ 1/d² summing to one (D. Shepard. A
/// two-dimensional interpolation function for irregularly-spaced data. ACM 1968) and b = (1 − (d/ρ)²)² up to a quarter
/// of R, ρ = R/4, and zero beyond. It is one at a training point.
pub(super) fn corrections(lengths: &[f64], reach: f64) -> Vec<f64> {
    // In units of the nearest, so that nothing overflows.
    let nearest = lengths[0];
    let rho = correction_reach(lengths, reach);
    let weights: Vec<f64> = lengths.iter().map(|&d| if d > nearest { (nearest / d).powi(2) } else { 1.0 }).collect();
    let total: f64 = weights.iter().sum();
    let bump = |d: f64| if d < rho { (1.0 - (d / rho).powi(2)).powi(2) } else { 0.0 };
    lengths.iter().zip(&weights).map(|(&d, weight)| weight / total * bump(d)).collect()
}

/// The weights w ∝ t/d² of an interpolation between the neighbors, which sum to one (Shepard, as above): where the new point is
/// a neighbor, that has all of the weight.
pub(super) fn interpolation(lengths: &[f64], shares: &[f64]) -> Vec<f64> {
    let nearest = lengths[0];
    // In units of the nearest, so that nothing overflows.
    let weight = |(&d, share): (&f64, &f64)| if d > nearest { share * (nearest / d).powi(2) } else { *share };
    let mut weights: Vec<f64> = lengths.iter().zip(shares).map(weight).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    weights
}

/// The standard deviation of an intrinsic Gaussian field at the new point, given its neighbors, with precision
/// t[j]/d[j]² per neighbor: (Σⱼ t[j]/d[j]²)^−½. It has the unit of the distances; zero at a training point.
pub(super) fn deviation(lengths: &[f64], shares: &[f64]) -> f64 {
    let nearest = lengths[0];
    if nearest <= 0.0 {
        return 0.0;
    }
    let stiffness: f64 = lengths.iter().zip(shares).map(|(d, share)| share * (nearest / d).powi(2)).sum();
    nearest / stiffness.sqrt()
}

/// The nearest training points of every row, one list after the other.
pub(super) struct Near {
    pub(super) rows: Vec<u32>,
    pub(super) lengths: Vec<f64>,
    /// The taper weight of each.
    pub(super) shares: Vec<f64>,
    /// R, one per row.
    pub(super) reaches: Vec<f64>,
}

impl Near {
    /// The neighbors of some rows, of k each.
    pub(super) fn part(&self, rows: &Range<usize>, k: usize) -> Near {
        let lists = rows.start * k..rows.end * k;
        Near {
            rows: self.rows[lists.clone()].to_vec(),
            lengths: self.lengths[lists.clone()].to_vec(),
            shares: self.shares[lists].to_vec(),
            reaches: self.reaches[rows.clone()].to_vec(),
        }
    }

    /// The standard deviation of row i, of k neighbors.
    pub(super) fn deviation(&self, i: usize, k: usize) -> f64 {
        deviation(&self.lengths[i * k..(i + 1) * k], &self.shares[i * k..(i + 1) * k])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(lengths: &[f64], reach: f64) -> Vec<f64> {
        let mut shares = Vec::new();
        add_shares(lengths, reach, &mut shares);
        shares
    }

    #[test]
    fn neighbors_fade_out_at_the_first_that_is_none() {
        let lengths = [0.0, 1.0, 2.0];
        assert_eq!(shares(&lengths, 4.0), [1.0, 1.0 - 1.0 / 256.0, 1.0 - 1.0 / 16.0]);
        assert_eq!(shares(&lengths, 2.0)[2], 0.0);
        assert_eq!(shares(&lengths, f64::INFINITY), [1.0; 3]);
        assert_eq!(shares(&[2.0; 3], 2.0), [1.0; 3]);
    }

    #[test]
    fn a_radius_ends_the_neighbors_where_two_are_within_it() {
        assert_eq!(within(&[0.1, 0.2, 0.3, 0.7], 0.5), 0.5);
        assert_eq!(shares(&[0.1, 0.2, 0.3, 0.7], 0.5)[3], 0.0);
        assert_eq!(within(&[0.1, 0.6, 0.7, 0.8], 0.5), 0.7);
        assert_eq!(within(&[0.1, 0.6], 0.5), f64::INFINITY);
    }

    #[test]
    fn an_interpolation_weighs_by_the_inverse_square_and_keeps_what_is_there() {
        assert_eq!(interpolation(&[1.0, 2.0, 4.0], &[1.0, 1.0, 0.0]), [0.8, 0.2, 0.0]);
        assert_eq!(interpolation(&[0.0, 0.0, 4.0], &[1.0, 1.0, 0.5]), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn the_standard_deviation_is_that_of_the_summed_precisions() {
        // Two precisions of 1/4 add up to 1/2.
        assert!((deviation(&[2.0, 2.0], &[1.0, 1.0]) - 2f64.sqrt()).abs() < 1e-15);
        assert_eq!(deviation(&[0.0, 2.0], &[1.0, 1.0]), 0.0);
        assert_eq!(corrections(&[0.0, 2.0], 3.0), [1.0, 0.0]);
        assert_eq!(corrections(&[1.0, 2.0], 4.0), [0.0, 0.0]);
        assert_eq!(corrections(&[1.0, 2.0], 8.0), [0.8 * 0.5625, 0.0]);
        assert!((deviation(&[1e-200, 1e-200], &[1.0, 1.0]) * 1e200 - 0.5f64.sqrt()).abs() < 1e-12);
    }
}

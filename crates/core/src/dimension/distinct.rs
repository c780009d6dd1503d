//! The distinct points of an input, in units in which no distance overflows or vanishes.
//!
//! Every estimate uses ratios of distances, and a pair of equal points has the distance 0, whose ratio does not come
//! from a density. So each location counts once. The values are multiplied by a power of two that brings the largest to
//! about 1, which changes no ratio, and are rounded to multiples of 2⁻⁵⁰⁰, so that distinct points have a distance that
//! can be squared. Features that are constant are left out.

use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use std::collections::HashMap;

/// The exponent of the rounding grid, in units of the largest value.
const GRID: i32 = 500;

/// The distinct points.
pub(super) struct Distinct {
    /// Each location once, in the order of its first row; only features that vary.
    pub(super) points: Points,
    /// The location of every row of the input.
    pub(super) of_row: Vec<u32>,
    /// Lengths here are 2^`exponent` times those of the input.
    exponent: i32,
}

impl Distinct {
    /// The distinct points of an input.
    ///
    /// # Errors
    ///
    /// If there are fewer than three.
    pub(super) fn of(points: &Points) -> Result<Distinct> {
        let (n, p) = (points.rows(), points.cols());
        let varying: Vec<usize> = (0..p).filter(|&f| (1..n).any(|i| points.row(i)[f] != points.row(0)[f])).collect();
        let cols = varying.len();
        let cells = || (0..n).flat_map(|i| varying.iter().map(move |&f| points.row(i)[f]));
        let largest = cells().fold(0.0, |a: f64, b| a.max(b.abs()));
        let exponent = if largest > 0.0 { -(largest.log2().floor() as i32) - 1 } else { 0 };
        let bits: Vec<u64> = cells().map(|value| rounded(scaled(value, exponent)).to_bits()).collect();
        let (mut known, mut kept, mut of_row) = (HashMap::new(), Vec::new(), vec![0; n]);
        for (i, row) in bits.chunks_exact(cols.max(1)).enumerate() {
            of_row[i] = *known.entry(row).or_insert_with(|| {
                kept.extend(row.iter().map(|&cell| f64::from_bits(cell)));
                (kept.len() / cols - 1) as u32
            });
        }
        match known.len() {
            0 | 1 if n == 1 => {
                Err(Error::too_small(n, 3, "there is only one point", "give at least three different ones"))
            }
            0 | 1 => Err(Error::too_small(
                1,
                3,
                format!("all {n} points coincide, so they have no dimension"),
                "give at least three different points",
            )),
            2 => Err(Error::too_small(
                2,
                3,
                format!("the {n} points have only 2 distinct positions, and a ratio of distances needs three"),
                "give more different points",
            )),
            count => Ok(Distinct { points: Points::new(count, cols, kept)?, of_row, exponent }),
        }
    }

    /// The number of duplicate rows.
    pub(super) fn duplicates(&self) -> usize {
        self.of_row.len() - self.points.rows()
    }

    /// A length in the units of the input.
    pub(super) fn in_units(&self, length: f64) -> f64 {
        scaled(length, -self.exponent)
    }
}

/// A value times 2^exponent, in two steps because the power itself may overflow.
fn scaled(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2f64.powi(half) * 2f64.powi(exponent - half)
}

/// The nearest multiple of 2^−GRID; zero has no sign.
fn rounded(value: f64) -> f64 {
    (value * 2f64.powi(GRID)).round() * 2f64.powi(-GRID) + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_counts_once_and_constant_features_not_at_all() {
        let rows = [[0.0, 7.0, 1.0], [-0.0, 7.0, 1.0], [2.0, 7.0, 1.0], [0.0, 7.0, 3.0], [2.0, 7.0, 1.0]];
        let distinct = Distinct::of(&Points::from_rows(&rows).unwrap()).unwrap();
        assert_eq!(distinct.of_row, [0, 0, 1, 2, 1]);
        assert_eq!((distinct.points.cols(), distinct.duplicates()), (2, 2));
        assert_eq!(distinct.points.values(), [0.0, 0.25, 0.5, 0.25, 0.0, 0.75]);
        assert_eq!(distinct.in_units(0.25), 1.0);
    }

    #[test]
    fn the_unit_of_the_data_does_not_matter() {
        let rows: Vec<[f64; 2]> = (0..9).map(|i| [f64::from(i * i % 7), f64::from(i)]).collect();
        let plain = Distinct::of(&Points::from_rows(&rows).unwrap()).unwrap();
        for exponent in [-1020, -500, 190] {
            let scaled: Vec<[f64; 2]> = rows.iter().map(|row| row.map(|x| super::scaled(x, exponent))).collect();
            let other = Distinct::of(&Points::from_rows(&scaled).unwrap()).unwrap();
            assert_eq!(other.points, plain.points);
        }
    }
}

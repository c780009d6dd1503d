//! Alignment of one map with another: orthogonal Procrustes analysis.
//!
//! Maps by different methods, or of the same data with one more row, differ by rotations, reflections, shifts and
//! scales without meaning. With both maps centered, Y and Z, the rotation R (reflections allowed) and the scale s that
//! bring Y closest are
//!
//! ```text
//! min ‖s Y R − Z‖²:   Yᵀ Z = U S Vᵀ,   R = U Vᵀ,   s = tr S / ‖Y‖²
//! disparity = 1 − (tr S)² / (‖Y‖² ‖Z‖²)                from 0, the same shape, to 1
//! ```
//!
//! P. H. Schönemann. A generalized solution of the orthogonal Procrustes problem. Psychometrika 31, 1966. J. C. Gower.
//! Generalized Procrustes analysis. Psychometrika 40, 1975.

use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::small;
use eigenfold_linalg::error::{Error, Result};

/// A map aligned with another by rotation, reflection and translation.
#[derive(Clone, Debug, PartialEq)]
pub struct Aligned {
    /// The aligned map; its scale is unchanged.
    pub map: Points,
    /// The disparity of the shapes, whatever their scales: from 0 (equal) to 1.
    pub disparity: f64,
}

/// Aligns a map with a reference of the same points; its scale is unchanged.
///
/// # Errors
///
/// If the maps do not have the same numbers of rows and columns.
pub fn align(map: &Points, reference: &Points) -> Result<Aligned> {
    let (n, d) = (map.rows(), map.cols());
    if (reference.rows(), reference.cols()) != (n, d) {
        let (rows, cols) = (reference.rows(), reference.cols());
        return Err(Error::other_shape(
            &[("rows", n, rows), ("columns", d, cols)],
            format!("the reference has {rows} rows of {cols} coordinates and the map {n} of {d}"),
            "give a map of the same points",
        ));
    }
    let onto = Onto::turn(map, reference);
    Ok(Aligned { map: onto.applied(map)?, disparity: onto.disparity })
}

/// The alignment of one map with another: a rotation (or reflection), a scale and a translation.
#[derive(Clone, Debug, PartialEq)]
pub struct Onto {
    from: Vec<f64>,
    to: Vec<f64>,
    /// R, row-major.
    turn: Vec<f64>,
    /// s.
    length: f64,
    pub(crate) disparity: f64,
}

impl Onto {
    /// For two maps of the same rows with the same number of coordinates.
    pub(crate) fn new(map: &Points, reference: &Points) -> Onto {
        let (d, y, z) = (map.cols(), centered(map), centered(reference));
        let mut cross = vec![0.0; d * d];
        for (y, z) in y.chunks_exact(d).zip(z.chunks_exact(d)) {
            (0..d * d).for_each(|at| cross[at] += y[at / d] * z[at % d]);
        }
        let (turn, sum) = nearest_turn(&cross, d);
        let square = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
        let (own, other) = (square(&y).sqrt(), square(&z).sqrt());
        let disparity = if own * other > 0.0 { (1.0 - (sum / (own * other)).powi(2)).clamp(0.0, 1.0) } else { 1.0 };
        let length = if own > 0.0 { sum / own / own } else { 1.0 };
        Onto { from: map.column_means(), to: reference.column_means(), turn, length, disparity }
    }

    /// As [`Onto::new`], without scaling.
    pub(crate) fn turn(map: &Points, reference: &Points) -> Onto {
        Onto { length: 1.0, ..Onto::new(map, reference) }
    }

    /// The disparity of the shapes, whatever their scales: from 0 (equal) to 1.
    pub fn disparity(&self) -> f64 {
        self.disparity
    }

    /// The aligned rows of the map.
    ///
    /// # Errors
    ///
    /// If they overflow.
    pub fn applied(&self, map: &Points) -> Result<Points> {
        let values = (0..map.rows()).flat_map(|i| self.place(map.row(i))).collect();
        Points::new(map.rows(), map.cols(), values)
    }

    /// An aligned row of the map.
    pub fn place(&self, row: &[f64]) -> Vec<f64> {
        let d = row.len();
        let along = |q: usize| (0..d).map(|r| (row[r] - self.from[r]) * self.turn[r * d + q]).sum::<f64>();
        (0..d).map(|q| self.to[q] + self.length * along(q)).collect()
    }

    /// The inverse of the alignment.
    pub fn undone(&self, place: &[f64]) -> Vec<f64> {
        let d = place.len();
        let along =
            |r: usize| (0..d).map(|q| (place[q] - self.to[q]) / self.length * self.turn[r * d + q]).sum::<f64>();
        (0..d).map(|r| self.from[r] + along(r)).collect()
    }

    /// The standard deviations of the aligned coordinates, if these are independent.
    pub(crate) fn width(&self, deviations: &[f64]) -> Vec<f64> {
        let d = deviations.len();
        let along = |q: usize| (0..d).map(|r| deviations[r] * self.turn[r * d + q]).fold(0.0, f64::hypot);
        (0..d).map(|q| self.length * along(q)).collect()
    }
}

/// The rows minus their mean.
fn centered(points: &Points) -> Vec<f64> {
    let (means, d) = (points.column_means(), points.cols());
    points.values().iter().enumerate().map(|(at, value)| value - means[at % d]).collect()
}

/// U Vᵀ and tr S of a small matrix U S Vᵀ (row-major). Where a singular value is zero, any direction is valid.
fn nearest_turn(matrix: &[f64], d: usize) -> (Vec<f64>, f64) {
    let unit = matrix.iter().fold(f64::MIN_POSITIVE, |most: f64, value| most.max(value.abs()));
    let m = |r: usize, q: usize| matrix[r * d + q] / unit;
    let mut square: Vec<f64> = (0..d * d).map(|at| (0..d).map(|q| m(at / d, q) * m(at % d, q)).sum()).collect();
    let (_, left) = small::symmetric_eigen(&mut square, d);
    let (mut right, mut sum) = (Vec::with_capacity(d * d), 0.0);
    for u in left.chunks_exact(d) {
        let mut v: Vec<f64> = (0..d).map(|q| (0..d).map(|r| m(r, q) * u[r]).sum()).collect();
        let length = v.iter().map(|value| value * value).sum::<f64>().sqrt();
        let mut found = length > f64::EPSILON && small::orthonormalize(&mut v, &right, 1e-8);
        sum += if found { length } else { 0.0 };
        let mut axis = 0;
        while !found && axis < d {
            v.iter_mut().enumerate().for_each(|(q, value)| *value = f64::from(u8::from(q == axis)));
            (found, axis) = (small::orthonormalize(&mut v, &right, 1e-3), axis + 1);
        }
        right.extend(v);
    }
    let turn = (0..d * d).map(|at| (0..d).map(|q| left[q * d + at / d] * right[q * d + at % d]).sum()).collect();
    (turn, sum * unit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// Points without structure.
    fn cloud(n: usize, d: usize) -> Points {
        Points::new(n, d, (0..n * d).map(|at| (at as f64 * 0.754_877_666).fract()).collect()).unwrap()
    }

    #[test]
    fn a_map_that_was_turned_reflected_shifted_and_scaled_is_recovered() {
        let reference = cloud(40, 3);
        let (sin, cos) = 0.7_f64.sin_cos();
        let moved = |row: &[f64]| {
            [2.0 * (cos * row[0] - sin * row[1]) + 5.0, -2.0 * (sin * row[0] + cos * row[1]), 2.0 * row[2] - 1.0]
        };
        let map = Points::from_rows(&reference.values().chunks_exact(3).map(moved).collect::<Vec<_>>()).unwrap();
        let Aligned { map: aligned, disparity } = align(&map, &reference).unwrap();
        assert!(disparity < 1e-12, "{disparity}");
        let means = reference.column_means();
        for (at, (a, b)) in aligned.values().iter().zip(reference.values()).enumerate() {
            assert!((a - (means[at % 3] + 2.0 * (b - means[at % 3]))).abs() < 1e-12, "{a} {b}");
        }
    }

    #[test]
    fn lengths_come_back_too_and_deviations_follow() {
        let reference = cloud(30, 2);
        let moved: Vec<[f64; 2]> = reference.values().chunks_exact(2).map(|y| [1.0 - 4.0 * y[1], 4.0 * y[0]]).collect();
        let onto = Onto::new(&Points::from_rows(&moved).unwrap(), &reference);
        let back = onto.place(&moved[7]);
        assert!(back.iter().zip(reference.row(7)).all(|(a, b)| (a - b).abs() < 1e-12), "{back:?}");
        let there = onto.undone(&back);
        assert!(there.iter().zip(moved[7]).all(|(a, b)| (a - b).abs() < 1e-12), "{there:?}");
        let widths = onto.width(&[0.4, 0.8]);
        assert!((widths[0] - 0.2).abs() < 1e-12 && (widths[1] - 0.1).abs() < 1e-12, "{widths:?}");
    }

    #[test]
    fn no_turn_brings_a_map_closer() {
        let (map, reference) = (cloud(30, 2), cloud(60, 1));
        let reference =
            Points::new(30, 2, reference.values().iter().map(|value| (9.0 * value).sin()).collect()).unwrap();
        let far = |a: &Points| a.values().iter().zip(reference.values()).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let best = align(&map, &reference).unwrap();
        for step in 0..36 {
            let (sin, cos) = (f64::from(step) * 0.1745).sin_cos();
            let (means, centers) = (map.column_means(), reference.column_means());
            for side in [1.0, -1.0] {
                let turned = |row: &[f64]| {
                    let (x, y) = (row[0] - means[0], side * (row[1] - means[1]));
                    [centers[0] + cos * x - sin * y, centers[1] + sin * x + cos * y]
                };
                let turned = Points::from_rows(&map.values().chunks_exact(2).map(turned).collect::<Vec<_>>()).unwrap();
                assert!(far(&best.map) <= far(&turned) + 1e-12);
            }
        }
    }

    #[test]
    fn flat_maps_and_points_are_turned_too_and_other_shapes_are_refused() {
        let line = Points::from_rows(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]).unwrap();
        let upright = Points::from_rows(&[[0.0, 0.0], [0.0, -1.0], [0.0, -3.0]]).unwrap();
        let Aligned { map, disparity } = align(&line, &upright).unwrap();
        assert!(disparity < 1e-12 && (map.row(2)[1] + 3.0).abs() < 1e-12, "{map:?}");
        let point = Points::from_rows(&[[2.0, 2.0]; 3]).unwrap();
        assert_eq!(align(&point, &line).unwrap().disparity, 1.0);
        let refused = align(&line, &cloud(4, 2)).unwrap_err().to_string();
        assert!(refused.starts_with("the reference has 4 rows of 2 coordinates and the map 3 of 2; "), "{refused}");
    }
}

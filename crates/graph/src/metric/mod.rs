//! How far apart two points are.
//!
//! A search compares ranks, which grow with the distance and cost less ([`rank`]). What a search returns is always
//! [`Metric::distance`] of the points as given.

mod name;
mod rank;

pub(super) use rank::power;

use crate::points::Points;
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// From this many features on, sums run in eight lanes; below, in order.
const LANES_FROM: usize = 16;

/// A cosine needs Σa² to keep its digits; below this it would be rounded away.
const SMALLEST_NORM2: f64 = 1e-303;

/// A row that varies by less than this part of its size has rounding in the place of a direction.
const FLAT: f64 = 1e-13;

/// A number of a precision in which points are kept.
trait Real: Copy + PartialEq + Into<f64> {
    /// Numbers in double precision.
    fn wide(all: &[Self]) -> Cow<'_, [f64]>;
}

impl Real for f64 {
    fn wide(all: &[f64]) -> Cow<'_, [f64]> {
        all.into()
    }
}

impl Real for f32 {
    fn wide(all: &[f32]) -> Cow<'_, [f64]> {
        all.iter().map(|&x| f64::from(x)).collect()
    }
}

/// A distance between two points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Metric {
    /// √Σ(a − b)².
    #[default]
    Euclidean,
    /// Σ|a − b|.
    Manhattan,
    /// 1 − a·b / (‖a‖‖b‖); points must not be zero.
    Cosine,
    /// The cosine distance of the rows less their own means: 1 − the correlation of the two rows.
    Correlation,
    /// max |a − b|.
    Chebyshev,
    /// (Σ|a − b|ᵖ)^(1/p), with a power p of 1 or more.
    Minkowski(f64),
    /// The share of the features in which the rows differ.
    Hamming,
    /// Of the features that are not zero in both, the share in which the rows differ; zero if all are zero in both.
    Jaccard,
    /// The angle between two places on a sphere, in radians, of latitude and longitude in radians.
    Haversine,
    /// The angle between two places on a sphere, in radians, of latitude and longitude in degrees.
    HaversineDegrees,
    /// Σ |a − b| / (|a| + |b|), where terms 0/0 count as zero.
    Canberra,
    /// Σ|a − b| / Σ(a + b), of numbers that are not negative; zero if all are.
    BrayCurtis,
    /// √((a − b)ᵀ C⁻¹ (a − b)), C the covariance of all points. A fit learns C, and everything is measured in the columns that it
    /// makes of the points (`Whitening`), where this is the Euclidean distance.
    Mahalanobis,
}

impl Metric {
    /// The distance between two points of equal length; the same bits in either order.
    #[inline(always)]
    pub fn distance(self, a: &[f64], b: &[f64]) -> f64 {
        self.of(a, b)
    }

    /// The distance between two of the points.
    #[inline(always)]
    pub fn between(self, points: &Points, i: usize, j: usize) -> f64 {
        match (points.single_row(i), points.single_row(j)) {
            (Some(a), Some(b)) => self.of(a, b),
            _ => self.of(points.row(i), points.row(j)),
        }
    }

    /// The distance between two rows of either precision, computed in double precision.
    #[inline(always)]
    fn of<T: Real>(self, a: &[T], b: &[T]) -> f64 {
        debug_assert!(a.len() == b.len());
        match self {
            Metric::Euclidean => sum(a, b, |x, y| (x - y) * (x - y)).sqrt(),
            Metric::Manhattan => sum(a, b, |x, y| (x - y).abs()),
            Metric::Cosine if a == b => 0.0,
            Metric::Cosine => {
                let norms = sum(a, a, |x, y| x * y).sqrt() * sum(b, b, |x, y| x * y).sqrt();
                (1.0 - sum(a, b, |x, y| x * y) / norms).max(0.0)
            }
            other => other.rarer_distance(&T::wide(a), &T::wide(b)),
        }
    }

    /// Those that would only make the loops of the others longer.
    #[inline(never)]
    fn rarer_distance(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Metric::Correlation => correlation(a, b),
            Metric::Chebyshev => largest(a, b),
            Metric::Minkowski(power) => minkowski(a, b, power),
            Metric::Hamming => count(a, b, |x, y| x != y) / a.len() as f64,
            Metric::Jaccard => {
                let (differ, any) = (count(a, b, |x, y| x != y), count(a, b, |x, y| x != 0.0 || y != 0.0));
                if any == 0.0 { 0.0 } else { differ / any }
            }
            Metric::Haversine => haversine([a[0], a[1]], [b[0], b[1]]),
            Metric::HaversineDegrees => haversine(radians(a), radians(b)),
            Metric::Canberra => sum(a, b, |x, y| if x == y { 0.0 } else { (x - y).abs() / (x.abs() + y.abs()) }),
            Metric::BrayCurtis => {
                let (apart, all) = (sum(a, b, |x, y| (x - y).abs()), sum(a, b, |x, y| x + y));
                if all == 0.0 { 0.0 } else { apart / all }
            }
            // Of rows that are white already.
            Metric::Mahalanobis => Metric::Euclidean.distance(a, b),
            Metric::Euclidean | Metric::Manhattan | Metric::Cosine => self.distance(a, b),
        }
    }

    /// Whether distances follow the unit of the data: twice the numbers, twice the distance. The others are angles and
    /// shares, which have no unit.
    pub fn has_unit(self) -> bool {
        matches!(self, Metric::Euclidean | Metric::Manhattan | Metric::Chebyshev | Metric::Minkowski(_))
    }

    /// Whether the metric is defined on these points.
    ///
    /// # Errors
    ///
    /// The first row on which it is not, and why.
    pub fn check(self, points: &Points) -> Result<()> {
        match self {
            Metric::Minkowski(power) if !self.is_sound() => Err(Error::parameter(
                "metric",
                format!("the power of minkowski is {power}"),
                "give a number from 1 to 1000",
            )),
            Metric::Haversine | Metric::HaversineDegrees if points.cols() != 2 => Err(Error::mismatch(
                "columns",
                (points.cols(), 2),
                format!("`metric` {self} takes 2 columns, latitude and longitude, and there are {}", points.cols()),
                "leave the others out",
            )),
            Metric::Correlation if points.cols() < 2 => {
                Err(Error::data("one column has no correlation", "give 2 columns or more, or use `metric` euclidean"))
            }
            Metric::Mahalanobis => Err(Error::parameter(
                "metric",
                "`metric` mahalanobis is measured in whitened columns",
                "whiten the points and use `metric` euclidean",
            )),
            Metric::Cosine
            | Metric::Correlation
            | Metric::Haversine
            | Metric::HaversineDegrees
            | Metric::BrayCurtis => {
                let mut row = Vec::new();
                let mut check = |i| self.check_row(points.read(i, &mut row)).map_err(|refusal| refused(i, refusal));
                (0..points.rows()).try_for_each(&mut check)
            }
            _ => Ok(()),
        }
    }

    /// What is wrong with a row, and the way out.
    fn check_row(self, row: &[f64]) -> std::result::Result<(), Refusal> {
        let refused = |fact: &str, way_out: &'static str| Err((fact.to_string(), way_out));
        match self {
            Metric::Cosine => {
                if row.iter().all(|&v| v == 0.0) {
                    return refused("is all zeros and has no direction", "remove it or use `metric` euclidean");
                }
                if sum(row, row, |x, y| x * y) < SMALLEST_NORM2 {
                    return refused("is too small to find its direction", "multiply the data by a constant");
                }
            }
            Metric::Correlation => {
                let (_, spread, size) = deviations(row);
                if spread <= FLAT * size {
                    let fact = "has the same number in all columns, and so no correlation";
                    return refused(fact, "remove it or use `metric` euclidean");
                }
            }
            Metric::Haversine if row[0].abs() > std::f64::consts::FRAC_PI_2 => {
                let ways = "`metric` haversine takes radians, haversine-degrees takes degrees";
                return refused(&format!("has latitude {}, which is beyond pi/2", row[0]), ways);
            }
            Metric::HaversineDegrees if row[0].abs() > 90.0 => {
                let fact = format!("has latitude {}, which is beyond 90", row[0]);
                return refused(&fact, "give latitude, then longitude");
            }
            Metric::BrayCurtis => {
                if let Some(x) = row.iter().find(|x| **x < 0.0) {
                    let fact = format!("holds {x}, and braycurtis is for counts");
                    return refused(&fact, "use `metric` canberra or manhattan");
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// What is wrong with a row, and the way out.
type Refusal = (String, &'static str);

fn refused(i: usize, (fact, way_out): Refusal) -> Error {
    Error::data(format!("row {} {fact}", i + 1), way_out).at_row(i)
}

/// A row less its mean in units of its largest number, with the norm of that; and how large the numbers are, in the same unit.
fn deviations(row: &[f64]) -> (Vec<f64>, f64, f64) {
    let unit = row.iter().fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
    let mut from_mean: Vec<f64> = row.iter().map(|v| v / unit).collect();
    let size = from_mean.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mean = from_mean.iter().sum::<f64>() / row.len() as f64;
    from_mean.iter_mut().for_each(|v| *v -= mean);
    let norm = from_mean.iter().map(|v| v * v).sum::<f64>().sqrt();
    (from_mean, norm, size)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    if a == b {
        return 0.0;
    }
    let ((x, x_norm, _), (y, y_norm, _)) = (deviations(a), deviations(b));
    (1.0 - sum(&x, &y, |x, y| x * y) / (x_norm * y_norm)).max(0.0)
}

/// max |a − b|.
fn largest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

/// In units of the largest difference, so that no power overflows.
fn minkowski(a: &[f64], b: &[f64], p: f64) -> f64 {
    let unit = largest(a, b);
    if unit == 0.0 {
        return 0.0;
    }
    unit * sum(a, b, |x, y| power((x - y).abs() / unit, p)).powf(1.0 / p)
}

fn count(a: &[f64], b: &[f64], is: impl Fn(f64, f64) -> bool) -> f64 {
    a.iter().zip(b).filter(|(x, y)| is(**x, **y)).count() as f64
}

fn radians(degrees: &[f64]) -> [f64; 2] {
    [degrees[0].to_radians(), degrees[1].to_radians()]
}

/// The angle between two places, each a latitude and a longitude.
fn haversine(a: [f64; 2], b: [f64; 2]) -> f64 {
    let half = |x: f64| (0.5 * x).sin().powi(2);
    let square = half(a[0] - b[0]) + a[0].cos() * b[0].cos() * half(a[1] - b[1]);
    2.0 * square.sqrt().min(1.0).asin()
}

/// Σ f(a, b), in a fixed order.
#[inline(always)]
fn sum<T: Real>(a: &[T], b: &[T], f: impl Fn(f64, f64) -> f64) -> f64 {
    if a.len() < LANES_FROM {
        let mut total = 0.0;
        for (&x, &y) in a.iter().zip(b) {
            total += f(x.into(), y.into());
        }
        return total;
    }
    let (a_lanes, a_rest) = a.as_chunks::<8>();
    let (b_lanes, b_rest) = b.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (x, y) in a_lanes.iter().zip(b_lanes) {
        for l in 0..8 {
            lanes[l] += f(x[l].into(), y[l].into());
        }
    }
    let mut total = 0.0;
    for (&x, &y) in a_rest.iter().zip(b_rest) {
        total += f(x.into(), y.into());
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

    #[test]
    fn a_right_triangle_in_the_other_metrics() {
        let of = |metric: Metric| metric.distance(&[0.0, 0.0], &[3.0, 4.0]);
        assert_eq!((of(Metric::Chebyshev), of(Metric::Minkowski(1.0))), (4.0, 7.0));
        assert!((of(Metric::Minkowski(3.0)) - 91f64.cbrt()).abs() < 1e-14);
        assert_eq!((of(Metric::Canberra), of(Metric::BrayCurtis), of(Metric::Hamming)), (2.0, 1.0, 1.0));
        assert_eq!(Metric::Jaccard.distance(&[1.0, 0.0, 1.0, 0.0], &[1.0, 0.0, 0.0, 1.0]), 2.0 / 3.0);
        // A quarter of the way around, along the equator and to the pole.
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!((Metric::HaversineDegrees.distance(&[0.0, 0.0], &[0.0, 90.0]) - quarter).abs() < 1e-15);
        assert!((Metric::Haversine.distance(&[0.0, 1.0], &[quarter, 0.0]) - quarter).abs() < 1e-15);
        // A row and a multiple of it, moved: they correlate fully; mirrored, not at all the same.
        let (a, b) = ([1.0, 2.0, 4.0], [12.0, 14.0, 18.0]);
        assert!(Metric::Correlation.distance(&a, &b) < 1e-15);
        assert!((Metric::Correlation.distance(&a, &b.map(|x| -x)) - 2.0).abs() < 1e-15);
    }

    #[test]
    fn rows_that_a_metric_is_not_defined_on_are_named() {
        let message = |metric: Metric, row: &[f64]| {
            let points = Points::new(2, row.len(), [&vec![1.0; row.len() - 1], &[0.5][..], row].concat()).unwrap();
            metric.check(&points).unwrap_err().to_string()
        };
        assert!(message(Metric::Correlation, &[2.0, 2.0]).starts_with("row 2 has the same number in all columns"));
        assert!(message(Metric::Haversine, &[47.3, 8.5]).starts_with("row 2 has latitude 47.3, which is beyond pi/2"));
        assert!(message(Metric::HaversineDegrees, &[97.0, 8.5]).starts_with("row 2 has latitude 97"));
        assert!(message(Metric::HaversineDegrees, &[1.0, 2.0, 3.0]).contains("takes 2 columns"));
        assert!(message(Metric::BrayCurtis, &[1.0, -2.0]).starts_with("row 2 holds -2"));
        assert!(message(Metric::Minkowski(0.5), &[1.0, 2.0]).starts_with("the power of minkowski is 0.5"));
    }
}

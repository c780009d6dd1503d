//! How far apart two points are.

use crate::error::{Error, Result};
use crate::points::Points;
use serde::{Deserialize, Serialize};

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
    /// The distance between two points of equal length.
    pub fn distance(self, a: &[f64], b: &[f64]) -> f64 {
        debug_assert_eq!(a.len(), b.len());
        let pairs = a.iter().zip(b);
        match self {
            Metric::Euclidean => pairs.map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt(),
            Metric::Manhattan => pairs.map(|(x, y)| (x - y).abs()).sum(),
            Metric::Cosine => {
                let (mut dot, mut aa, mut bb) = (0.0, 0.0, 0.0);
                for (x, y) in pairs {
                    dot += x * y;
                    aa += x * x;
                    bb += y * y;
                }
                if a == b { 0.0 } else { (1.0 - dot / (aa * bb).sqrt()).max(0.0) }
            }
        }
    }

    /// Whether the metric is defined on these points.
    ///
    /// # Errors
    ///
    /// For [`Metric::Cosine`], if a point is zero: it has no direction.
    pub fn check(self, points: &Points) -> Result<()> {
        if self == Metric::Cosine {
            if let Some(i) = (0..points.rows()).find(|&i| points.row(i).iter().all(|&v| v == 0.0)) {
                return Err(Error::data(format!(
                    "row {} is all zeros and has no direction; remove it or use --metric euclidean",
                    i + 1
                )));
            }
        }
        Ok(())
    }
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
}

//! Kernels: inner products in a feature space.

use crate::parameter::{FieldValue, Kind, Named, Value};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A kernel k(x, y), with its parameters resolved or still to be chosen from the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kernel {
    /// x·y.
    Linear,
    /// exp(−‖x − y‖² / 2σ²); Zhang & Jordan's θ is 2σ².
    Gaussian {
        /// σ; by default the root mean square distance of the points from their mean.
        bandwidth: Option<f64>,
    },
    /// (scale · x·y + offset)^degree; Zhang & Jordan's has scale = offset = 1.
    Polynomial {
        /// The power.
        degree: u32,
        /// Added to the inner product.
        offset: f64,
        /// Multiplies the inner product.
        scale: f64,
    },
    /// tanh(scale · x·y + offset); not positive semidefinite in general.
    Sigmoid {
        /// Added to the inner product.
        offset: f64,
        /// Multiplies the inner product; by default one over the mean squared norm of the points.
        scale: Option<f64>,
    },
    /// x·y / (‖x‖‖y‖).
    Cosine,
}

impl Default for Kernel {
    fn default() -> Kernel {
        Kernel::Gaussian { bandwidth: None }
    }
}

impl Kernel {
    /// The name of every kernel.
    pub const NAMES: &[Named] = &[
        Named { name: "linear", aliases: &[], help: "x.y" },
        Named { name: "gaussian", aliases: &["rbf"], help: "exp(-|x - y|^2 / 2 sigma^2)" },
        Named { name: "polynomial", aliases: &["poly"], help: "(scale x.y + offset)^degree" },
        Named { name: "sigmoid", aliases: &[], help: "tanh(scale x.y + offset)" },
        Named { name: "cosine", aliases: &[], help: "x.y / (|x| |y|)" },
    ];

    /// One lower-case word.
    pub fn name(&self) -> &'static str {
        match self {
            Kernel::Linear => "linear",
            Kernel::Gaussian { .. } => "gaussian",
            Kernel::Polynomial { .. } => "polynomial",
            Kernel::Sigmoid { .. } => "sigmoid",
            Kernel::Cosine => "cosine",
        }
    }

    /// The kernel of this name with its defaults.
    ///
    /// # Errors
    ///
    /// If there is none of this name.
    pub fn from_name(name: &str) -> Result<Kernel> {
        let known = Self::NAMES.iter().find(|named| named.name == name || named.aliases.contains(&name));
        Ok(match known.map_or(name, |named| named.name) {
            "linear" => Kernel::Linear,
            "gaussian" => Kernel::Gaussian { bandwidth: None },
            "polynomial" => Kernel::Polynomial { degree: 3, offset: 1.0, scale: 1.0 },
            "sigmoid" => Kernel::Sigmoid { offset: 0.0, scale: None },
            "cosine" => Kernel::Cosine,
            _ => {
                let wanted = Kind::Choice(Self::NAMES).wanted();
                return Err(Error::value("kernel", format_args!("{name:?}"), wanted));
            }
        })
    }

    /// The kernel with every parameter chosen.
    pub(crate) fn resolve(self, points: &Points) -> Result<Kernel> {
        match self {
            Kernel::Gaussian { bandwidth: None } => Ok(Kernel::Gaussian { bandwidth: Some(typical_distance(points)?) }),
            Kernel::Sigmoid { offset, scale: None } => {
                let mean = points.values().iter().map(|v| v * v).sum::<f64>() / points.rows() as f64;
                Ok(Kernel::Sigmoid { offset, scale: Some(if mean > 0.0 { 1.0 / mean } else { 1.0 }) })
            }
            Kernel::Cosine => {
                eigenfold_graph::Metric::Cosine.check(points)?;
                Ok(Kernel::Cosine)
            }
            resolved => Ok(resolved),
        }
    }

    /// Whether its parameters are chosen, and valid.
    pub(crate) fn is_sound(&self) -> bool {
        match *self {
            Kernel::Linear | Kernel::Cosine => true,
            Kernel::Gaussian { bandwidth } => bandwidth.is_some_and(|width| width > 0.0 && width.is_finite()),
            Kernel::Polynomial { degree, offset, scale } => {
                i32::try_from(degree).is_ok() && offset.is_finite() && scale.is_finite()
            }
            Kernel::Sigmoid { offset, scale } => offset.is_finite() && scale.is_some_and(f64::is_finite),
        }
    }

    /// k(x, y).
    pub(crate) fn of(&self, x: &[f64], y: &[f64]) -> f64 {
        match *self {
            Kernel::Linear => dot(x, y),
            Kernel::Gaussian { bandwidth } => self.of_square(square_distance(x, y), bandwidth.unwrap_or(1.0)),
            Kernel::Polynomial { degree, offset, scale } => (scale * dot(x, y) + offset).powi(degree as i32),
            Kernel::Sigmoid { offset, scale } => (scale.unwrap_or(1.0) * dot(x, y) + offset).tanh(),
            Kernel::Cosine => dot(x, y) / (dot(x, x) * dot(y, y)).sqrt(),
        }
    }

    fn of_square(&self, square: f64, bandwidth: f64) -> f64 {
        (-square / (2.0 * bandwidth * bandwidth)).exp()
    }

    /// ‖φ(x) − φ(y)‖² = k(x, x) − 2 k(x, y) + k(y, y), the squared distance in the feature space. A kernel that is not
    /// positive semidefinite can make it negative, and it stays so: −½ H S H = H K H holds for any kernel.
    pub(crate) fn square(&self, x: &[f64], y: &[f64]) -> f64 {
        match self {
            Kernel::Linear => square_distance(x, y),
            Kernel::Gaussian { bandwidth } => {
                2.0 - 2.0 * self.of_square(square_distance(x, y), bandwidth.unwrap_or(1.0))
            }
            _ => self.of(x, x) - 2.0 * self.of(x, y) + self.of(y, y),
        }
    }

    /// Whether every matrix of the kernel's values is positive semidefinite.
    pub(crate) fn is_positive(&self) -> bool {
        match *self {
            Kernel::Linear | Kernel::Gaussian { .. } | Kernel::Cosine => true,
            Kernel::Polynomial { offset, .. } => offset >= 0.0,
            Kernel::Sigmoid { .. } => false,
        }
    }
}

impl FieldValue for Kernel {
    fn value(&self) -> Value {
        Value::Choice(self.name())
    }

    fn from_value(value: Value) -> Result<Kernel> {
        Kernel::from_name(if let Value::Choice(name) = value { name } else { "" })
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(|| x.iter().zip(y).map(|(a, b)| a * b).sum())
}

fn square_distance(x: &[f64], y: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(|| x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum())
}

/// The root mean square distance of the points from their mean.
fn typical_distance(points: &Points) -> Result<f64> {
    let mean = points.column_means();
    let largest = points.magnitude().max(f64::MIN_POSITIVE);
    let mut total = 0.0;
    points.each_row(|_, row| total += row.iter().zip(&mean).map(|(x, m)| ((x - m) / largest).powi(2)).sum::<f64>());
    if total > 0.0 {
        return Ok(largest * (total / points.rows() as f64).sqrt());
    }
    Err(Error::data("all points are equal, so no bandwidth can be chosen", "give `bandwidth` or other data"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_unit_vectors_are_known() {
        let (x, y) = ([1.0, 0.0], [0.0, 1.0]);
        assert_eq!(Kernel::Linear.square(&x, &y), 2.0);
        assert_eq!(Kernel::Gaussian { bandwidth: Some(1.0) }.of(&x, &y), (-1.0f64).exp());
        assert_eq!(Kernel::Polynomial { degree: 2, offset: 1.0, scale: 1.0 }.of(&x, &x), 4.0);
        assert_eq!(Kernel::Cosine.square(&x, &y), 2.0);
        let sigmoid = Kernel::Sigmoid { offset: 0.0, scale: Some(1.0) };
        assert_eq!(sigmoid.of(&x, &y), 0.0);
        // tanh 1 − 2 tanh 3 + tanh 9: a negative squared distance.
        assert!((sigmoid.square(&[1.0], &[3.0]) - (1f64.tanh() - 2.0 * 3f64.tanh() + 9f64.tanh())).abs() < 1e-15);
        assert!(sigmoid.square(&[1.0], &[3.0]) < 0.0);
    }
}

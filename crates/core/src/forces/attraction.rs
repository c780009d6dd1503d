//! Attraction of two points.

use super::Real;
use serde::{Deserialize, Serialize};

/// How two points attract each other, by the square of their distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum AttractionKernel {
    /// s.
    Square,
    /// ½ (ν + 1) log(1 + s/ν).
    Student(f64),
    /// log(1 + a sᵇ).
    Umap(f64, f64),
}

impl AttractionKernel {
    #[inline(always)]
    pub(crate) fn value<T: Real>(self, square: T) -> T {
        match self {
            AttractionKernel::Square => square,
            AttractionKernel::Student(degrees) => {
                T::round(0.5 * (degrees + 1.0)) * (square * T::round(1.0 / degrees)).log_of_one_and()
            }
            AttractionKernel::Umap(a, b) => {
                let least = T::round(1e-30);
                (T::round(a) * (if square > least { square } else { least }).power(b)).log_of_one_and()
            }
        }
    }

    /// The derivative with respect to the square; finite where two points meet.
    #[inline(always)]
    pub(crate) fn derivative<T: Real>(self, square: T) -> T {
        match self {
            AttractionKernel::Square => T::one(),
            AttractionKernel::Student(degrees) => {
                T::round(0.5 * (1.0 + 1.0 / degrees)) / (T::one() + square * T::round(1.0 / degrees))
            }
            AttractionKernel::Umap(a, b) => {
                let least = T::round(1e-12);
                let square = if square > least { square } else { least };
                let power = square.power(b);
                T::round(a * b) * power / square / (T::one() + T::round(a) * power)
            }
        }
    }
}

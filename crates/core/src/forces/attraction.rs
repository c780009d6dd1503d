//! Attraction of two points.

use super::Real;
use super::repulsion::{exp, log};
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

    /// Values, derivatives with respect to the squared distance, and second derivatives, side by side.
    #[inline(always)]
    pub(crate) fn bent_lanes<const L: usize>(self, squares: &[f64; L]) -> [[f64; L]; 3] {
        let (mut values, mut derivatives, mut seconds) = (*squares, [1.0; L], [0.0; L]);
        match self {
            AttractionKernel::Square => {}
            AttractionKernel::Student(degrees) => {
                let inverse = 1.0 / degrees;
                for l in 0..L {
                    let grown = 1.0 + squares[l] * inverse;
                    values[l] = 0.5 * (degrees + 1.0) * log(grown);
                    derivatives[l] = 0.5 * (1.0 + inverse) / grown;
                    seconds[l] = -derivatives[l] * inverse / grown;
                }
            }
            AttractionKernel::Umap(a, b) => {
                for l in 0..L {
                    let square = squares[l].max(1e-12);
                    let power = a * exp(b * log(square));
                    values[l] = log(1.0 + power);
                    derivatives[l] = b * power / (square * (1.0 + power));
                    seconds[l] = derivatives[l] * ((b - 1.0) / square - derivatives[l]);
                }
            }
        }
        [values, derivatives, seconds]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_central_differences_for_every_kernel() {
        let umap = AttractionKernel::Umap(1.576_943_460_311_307_7, 0.895_060_877_910_973_3);
        for kernel in [AttractionKernel::Square, AttractionKernel::Student(1.0), AttractionKernel::Student(4.0), umap] {
            for square in [1e-3, 0.1, 1.0, 3.0, 20.0] {
                let h = 1e-5 * square;
                let [value, derivative, second] = kernel.bent_lanes(&[square; 8]).map(|lanes| lanes[5]);
                let about = |of: &dyn Fn(f64) -> f64| (of(square + h) - of(square - h)) / (2.0 * h);
                let (once, twice) = (about(&|s| kernel.value(s)), about(&|s| kernel.derivative(s)));
                // Of 1 + s, which is rounded.
                assert!((value - kernel.value(square)).abs() < 1e-15 + 1e-14 * value, "{kernel:?} {square}");
                assert!((derivative - kernel.derivative(square)).abs() < 1e-14 * derivative, "{kernel:?} {square}");
                assert!((once - derivative).abs() < 1e-6 * derivative, "{kernel:?} {square}: {once} {derivative}");
                assert!((twice - second).abs() <= 1e-6 * second.abs() + 1e-12, "{kernel:?} {square}: {twice} {second}");
            }
        }
    }
}

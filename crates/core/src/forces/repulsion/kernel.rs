//! Radial kernels, as functions of the squared distance.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A kernel by its name and numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// exp(−s).
    Gaussian,
    /// (1 + s/ν)^(−(ν+1)/2).
    Student(f64),
    /// UMAP's, with a and b.
    Umap(f64, f64),
}

/// How strongly two points push, by the square of their distance.
#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    /// exp(−s).
    Gaussian,
    /// (1 + s/ν)^(−(ν+1)/2), ν the degrees of freedom.
    Student(f64),
    /// ∫ₛ^∞ b / ((ε + u)(1 + a uᵇ)) du: UMAP's −log(1 − 1/(1 + a sᵇ)), but for ε.
    Umap(Arc<Umap>),
}

impl Kernel {
    pub(crate) fn of(shape: Shape) -> Kernel {
        match shape {
            Shape::Gaussian => Kernel::Gaussian,
            Shape::Student(degrees) => Kernel::Student(degrees),
            Shape::Umap(a, b) => Kernel::Umap(Arc::new(Umap::new(a, b))),
        }
    }

    pub(crate) fn value(&self, square: f64) -> f64 {
        match self {
            Kernel::Gaussian => (-square).exp(),
            Kernel::Student(degrees) if *degrees == 1.0 => 1.0 / (1.0 + square),
            Kernel::Student(degrees) => (1.0 + square / degrees).powf(-0.5 * (degrees + 1.0)),
            Kernel::Umap(umap) => umap.value(square),
        }
    }

    /// The derivative by the squared distance.
    pub(crate) fn slope(&self, square: f64) -> f64 {
        match self {
            Kernel::Gaussian => -(-square).exp(),
            Kernel::Student(degrees) => {
                -0.5 * (1.0 + 1.0 / degrees) * (1.0 + square / degrees).powf(-0.5 * (degrees + 3.0))
            }
            Kernel::Umap(umap) => umap.slope(square),
        }
    }

    /// Values and slopes side by side.
    #[inline(always)]
    pub(super) fn lanes<const L: usize>(&self, squares: &[f64; L]) -> ([f64; L], [f64; L]) {
        let (mut values, mut slopes) = ([0.0; L], [0.0; L]);
        match self {
            Kernel::Gaussian => {
                for l in 0..L {
                    values[l] = exp_of_negative(-squares[l]);
                    slopes[l] = -values[l];
                }
            }
            Kernel::Student(1.0) => {
                for l in 0..L {
                    values[l] = 1.0 / (1.0 + squares[l]);
                    slopes[l] = -values[l] * values[l];
                }
            }
            kernel => {
                for l in 0..L {
                    values[l] = kernel.value(squares[l]);
                    slopes[l] = kernel.slope(squares[l]);
                }
            }
        }
        (values, slopes)
    }
}

/// eˣ for x ≤ 0 to the last digits, without branches, so that lanes run side by side: 2ⁿ times a Taylor series.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    /// Adding it rounds to a whole number, which then stands in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = x.max(-700.0);
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let r = x - whole * LN2_HIGH - whole * LN2_LOW;
    let mut sum = 1.0 / 479_001_600.0;
    for factorial in [39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = sum * r + 1.0 / factorial;
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// The two shape parameters of UMAP, and its repulsive potential in a table.
#[derive(Clone, Debug)]
pub(crate) struct Umap {
    a: f64,
    b: f64,
    /// Values at equal steps of log s, from `LOW` to `HIGH`.
    table: Vec<f64>,
}

/// What keeps the force finite where two points meet. McInnes et al. use 0.001 and clip the force; this needs no clipping.
const EPSILON: f64 = 0.02;
const LOW: f64 = -14.0;
const HIGH: f64 = 16.0;
const STEPS: usize = 6000;

impl Umap {
    fn new(a: f64, b: f64) -> Umap {
        let mut umap = Umap { a, b, table: vec![0.0; STEPS + 1] };
        let step = (HIGH - LOW) / STEPS as f64;
        let part = |log: f64| -umap.slope(log.exp()) * log.exp();
        // Beyond the table the potential is that of a pure power: 1/(a s^b).
        let mut sum = (-b * HIGH).exp() / a;
        let mut table = vec![sum; STEPS + 1];
        for at in (0..STEPS).rev() {
            let log = LOW + at as f64 * step;
            sum += step / 6.0 * (part(log) + 4.0 * part(log + 0.5 * step) + part(log + step));
            table[at] = sum;
        }
        umap.table = table;
        umap
    }

    fn slope(&self, square: f64) -> f64 {
        -self.b / ((EPSILON + square) * (1.0 + self.a * square.powf(self.b)))
    }

    /// Cubic between the steps, by the values and the slopes that are known.
    fn value(&self, square: f64) -> f64 {
        let log = square.max(1e-300).ln();
        if log <= LOW {
            return self.table[0] + self.slope(0.0) * (square - LOW.exp());
        }
        if log >= HIGH {
            return (-self.b * log).exp() / self.a;
        }
        let step = (HIGH - LOW) / STEPS as f64;
        let at = (((log - LOW) / step) as usize).min(STEPS - 1);
        let (from, t) = (LOW + at as f64 * step, (log - LOW) / step - at as f64);
        let rise = |log: f64| self.slope(log.exp()) * log.exp() * step;
        let (y0, y1, d0, d1) = (self.table[at], self.table[at + 1], rise(from), rise(from + step));
        let (t2, t3) = (t * t, t * t * t);
        (2.0 * t3 - 3.0 * t2 + 1.0) * y0 + (t3 - 2.0 * t2 + t) * d0 + (3.0 * t2 - 2.0 * t3) * y1 + (t3 - t2) * d1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_exact_to_the_last_digits() {
        for step in 0..7000 {
            let x = -f64::from(step) * 0.099_7;
            let (own, right) = (exp_of_negative(x), x.exp());
            assert!((own - right).abs() <= 4e-16 * right, "{x}: {own} {right}");
        }
        assert!(exp_of_negative(-1e300) < 1e-300);
    }

    #[test]
    fn slopes_are_central_differences_for_every_kernel() {
        let umap = Kernel::Umap(Arc::new(Umap::new(1.576_943_460_311_307_7, 0.895_060_877_910_973_3)));
        for kernel in [Kernel::Gaussian, Kernel::Student(1.0), Kernel::Student(0.5), Kernel::Student(4.0), umap] {
            for square in [1e-3, 0.1, 1.0, 3.0, 20.0] {
                let h = 1e-5 * square;
                let difference = (kernel.value(square + h) - kernel.value(square - h)) / (2.0 * h);
                let slope = kernel.slope(square);
                assert!(
                    (difference - slope).abs() < 1e-6 * slope.abs() + 1e-12,
                    "{kernel:?} {square}: {difference} {slope}"
                );
                let (values, slopes) = kernel.lanes(&[square; 8]);
                assert!((values[3] - kernel.value(square)).abs() < 1e-15 * values[3].abs().max(1.0));
                assert!((slopes[5] - slope).abs() <= 1e-14 * slope.abs());
            }
        }
    }
}

//! Radial kernels, as functions of the squared distance.

use super::spline::Real;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A kernel by its name and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// exp(−s).
    Gaussian,
    /// (1 + s/ν)^(−(ν+1)/2).
    Student(f64),
    /// UMAP's, with a and b.
    Umap(f64, f64),
}

/// The strength of the repulsion of two points, by the square of their distance.
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
            Kernel::Umap(umap) => umap.at(square).0,
        }
    }

    /// The derivative with respect to the squared distance.
    pub(crate) fn derivative(&self, square: f64) -> f64 {
        match self {
            Kernel::Gaussian => -(-square).exp(),
            Kernel::Student(degrees) => {
                -0.5 * (1.0 + 1.0 / degrees) * (1.0 + square / degrees).powf(-0.5 * (degrees + 3.0))
            }
            Kernel::Umap(umap) => umap.at(square).1,
        }
    }

    /// Values and derivatives side by side.
    #[inline(always)]
    pub(super) fn lanes<const L: usize>(&self, squares: &[f64; L]) -> ([f64; L], [f64; L]) {
        let (mut values, mut derivatives) = ([0.0; L], [0.0; L]);
        match self {
            Kernel::Gaussian => {
                for l in 0..L {
                    values[l] = exp_of_negative(-squares[l]);
                    derivatives[l] = -values[l];
                }
            }
            Kernel::Student(1.0) => {
                for l in 0..L {
                    values[l] = 1.0 / (1.0 + squares[l]);
                    derivatives[l] = -values[l] * values[l];
                }
            }
            Kernel::Umap(umap) => {
                for l in 0..L {
                    (values[l], derivatives[l]) = umap.at(squares[l]);
                }
            }
            kernel => {
                for l in 0..L {
                    values[l] = kernel.value(squares[l]);
                    derivatives[l] = kernel.derivative(squares[l]);
                }
            }
        }
        (values, derivatives)
    }
}

impl Kernel {
    /// Values, derivatives with respect to the squared distance, and second derivatives, side by side.
    #[inline(always)]
    pub(crate) fn bent_lanes<const L: usize>(&self, squares: &[f64; L]) -> [[f64; L]; 3] {
        let (values, derivatives) = self.lanes(squares);
        let mut seconds = [0.0; L];
        match self {
            Kernel::Gaussian => seconds = values,
            Kernel::Student(degrees) => {
                let rate = -0.5 * (degrees + 3.0) / degrees;
                (0..L).for_each(|l| seconds[l] = rate * derivatives[l] / (1.0 + squares[l] / degrees));
            }
            Kernel::Umap(umap) => (0..L).for_each(|l| seconds[l] = umap.second(squares[l], derivatives[l])),
        }
        [values, derivatives, seconds]
    }
}

/// eˣ for x ≤ 0 to full precision, without branches, so that it vectorizes: 2ⁿ times a Taylor series.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    exp(x.min(0.0))
}

/// log x for x > 0 to full precision, without branches, so that it vectorizes: by the series of log((1 + z)/(1 − z)).
#[inline(always)]
pub(crate) fn log(x: f64) -> f64 {
    /// The bits of √½: the mantissa is taken between it and √2.
    const LEAST: u64 = 0x3fe6_a09e_667f_3bcd;
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    /// The bits of 1.5 · 2⁵²: a small integer added to them is one added to the number.
    const ROUND: u64 = 0x4338_0000_0000_0000;
    let bits = x.to_bits();
    let shifted = bits.wrapping_sub(LEAST);
    // An arithmetic shift of 64 bits is no vector instruction everywhere, so the exponent is counted from −1024.
    let above = shifted.wrapping_add(1 << 62) >> 52;
    let exponent = f64::from_bits(ROUND + above) - f64::from_bits(ROUND) - 1024.0;
    let mantissa = f64::from_bits(bits.wrapping_sub(shifted & 0xfff0_0000_0000_0000));
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let s = z * z;
    let mut sum = 1.0 / 23.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = sum * s + 1.0 / odd;
    }
    exponent * LN2_HIGH + (2.0 * z + (2.0 * z * s * sum + exponent * LN2_LOW))
}

/// eˣ to full precision, as long as it is neither huge nor tiny, without branches.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    /// Adding it rounds to an integer, which is then in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = x.clamp(-700.0, 700.0);
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
    /// Between two knots a cubic with the exact values and derivatives at both: its coefficients in the fraction t of
    /// the interval, and the inverse length of the interval. The knots are the numbers whose bits end in zeros, so that
    /// the bits of s give the index.
    table: Vec<[f64; 5]>,
}

/// Keeps the force finite where two points meet. McInnes et al. use 0.001 and clip the force; this needs no clipping.
const EPSILON: f64 = 0.02;
/// The range of the table, as powers of two.
const LOW: i32 = -24;
const HIGH: i32 = 26;
/// Bits of s below those of the knot; six of the others are between two powers of two.
const REST: u32 = 52 - 6;

impl Umap {
    fn new(a: f64, b: f64) -> Umap {
        let mut umap = Umap { a, b, table: Vec::new() };
        let count = ((HIGH - LOW) as u64) << 6;
        let knot = |at: u64| f64::from_bits(((f64::from(LOW).exp2().to_bits() >> REST) + at) << REST);
        // Beyond the table the potential is that of a pure power.
        let mut above = umap.power(f64::from(HIGH).exp2());
        for at in (0..count).rev() {
            let (low, high) = (knot(at), knot(at + 1));
            let width = high - low;
            let (from, middle, to) = (umap.force(low), umap.force(0.5 * (low + high)), umap.force(high));
            let here = above + width / 6.0 * (from + 4.0 * middle + to);
            let (d0, d1) = (-from * width, -to * width);
            let rise = above - here;
            umap.table.push([here, d0, 3.0 * rise - 2.0 * d0 - d1, d0 + d1 - 2.0 * rise, 1.0 / width]);
            above = here;
        }
        umap.table.reverse();
        umap
    }

    /// The negative derivative: b / ((ε + s)(1 + a sᵇ)).
    fn force(&self, square: f64) -> f64 {
        self.b / ((EPSILON + square) * (1.0 + self.a * square.powf(self.b)))
    }

    /// As [`Umap::force`] in single precision, without branches, so that it vectorizes.
    #[inline(always)]
    pub(super) fn forces<const L: usize>(&self, squares: &[f32; L]) -> [f32; L] {
        let (a, b) = (self.a as f32, self.b as f32);
        let mut forces = [0.0; L];
        for l in 0..L {
            let power = squares[l].max(1e-30).power(self.b);
            forces[l] = b / ((EPSILON as f32 + squares[l]) * (1.0 + a * power));
        }
        forces
    }

    /// 1/(a sᵇ).
    fn power(&self, square: f64) -> f64 {
        square.powf(-self.b) / self.a
    }

    /// The second derivative, from the first.
    #[inline(always)]
    fn second(&self, square: f64, derivative: f64) -> f64 {
        // Of −b / ((ε + s)(1 + a sᵇ)).
        let least = square.max(1e-12);
        let power = self.a * exp(self.b * log(least));
        -derivative * (1.0 / (EPSILON + square) + self.b * power / (least * (1.0 + power)))
    }

    /// The potential and its derivative.
    #[inline(always)]
    pub(super) fn at(&self, square: f64) -> (f64, f64) {
        let bits = square.to_bits();
        let at = (bits >> REST).wrapping_sub(f64::from(LOW).exp2().to_bits() >> REST);
        match self.table.get(at as usize) {
            Some(&[c0, c1, c2, c3, inverse]) => {
                let t = (bits & ((1 << REST) - 1)) as f64 * (1.0 / (1u64 << REST) as f64);
                (c0 + t * (c1 + t * (c2 + t * c3)), (c1 + t * (2.0 * c2 + t * 3.0 * c3)) * inverse)
            }
            None if square < 1.0 => {
                (self.table[0][0] + self.force(0.0) * (f64::from(LOW).exp2() - square), -self.force(square))
            }
            None => (self.power(square), -self.b * self.power(square) / square),
        }
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
        for step in 0..7000 {
            let x = f64::from(step) * 0.099_7;
            assert!((exp(x) - x.exp()).abs() <= 4e-16 * x.exp(), "{x}");
        }
    }

    #[test]
    fn the_logarithm_is_exact_to_the_last_digits() {
        for step in -7000..7000 {
            let x = (f64::from(step) * 0.099_7).exp();
            assert!((log(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0), "{x}: {} {}", log(x), x.ln());
        }
        for step in 1..1000 {
            let x = 1.0 + f64::from(step) * 1e-9;
            assert!((log(x) - x.ln()).abs() <= 4e-16 * x.ln(), "{x}: {} {}", log(x), x.ln());
        }
        assert_eq!(log(1.0), 0.0);
    }

    /// Simpson's rule over many short steps.
    #[test]
    fn umaps_table_is_the_integral_of_its_force() {
        let umap = Umap::new(1.576_943_460_311_307_7, 0.895_060_877_910_973_3);
        for square in [1e-9, 1e-5, 3e-3, 0.5, 2.0, 77.0, 1e5] {
            let (steps, mut sum, mut from) = (4000, 0.0, square);
            let ratio = (1e7f64 / square).powf(1.0 / f64::from(steps));
            for _ in 0..steps {
                let to = from * ratio;
                sum += (to - from) / 6.0 * (umap.force(from) + 4.0 * umap.force(0.5 * (from + to)) + umap.force(to));
                from = to;
            }
            let (value, derivative) = umap.at(square);
            assert!((value - umap.at(1e7).0 - sum).abs() < 1e-7 * value, "{square}: {value} {sum}");
            assert!((derivative + umap.force(square)).abs() < 1e-6 * derivative.abs(), "{square}: {derivative}");
        }
        let (low, high) = (f64::from(LOW).exp2(), f64::from(HIGH).exp2());
        for edge in [low, high] {
            let (below, above) = (umap.at(edge * (1.0 - 1e-12)), umap.at(edge));
            assert!((below.0 / above.0 - 1.0).abs() < 1e-9, "{below:?} {above:?}");
        }
        assert!(umap.at(0.0).0.is_finite() && umap.at(0.0).1 < 0.0);
    }

    #[test]
    fn derivatives_are_central_differences_for_every_kernel() {
        let umap = Kernel::Umap(Arc::new(Umap::new(1.576_943_460_311_307_7, 0.895_060_877_910_973_3)));
        for kernel in [Kernel::Gaussian, Kernel::Student(1.0), Kernel::Student(0.5), Kernel::Student(4.0), umap] {
            for square in [1e-3, 0.1, 1.0, 3.0, 20.0] {
                let h = 1e-5 * square;
                let difference = (kernel.value(square + h) - kernel.value(square - h)) / (2.0 * h);
                let derivative = kernel.derivative(square);
                assert!(
                    (difference - derivative).abs() < 1e-6 * derivative.abs() + 1e-12,
                    "{kernel:?} {square}: {difference} {derivative}"
                );
                let (values, derivatives) = kernel.lanes(&[square; 8]);
                assert!((values[3] - kernel.value(square)).abs() < 1e-15 * values[3].abs().max(1.0));
                assert!((derivatives[5] - derivative).abs() <= 1e-14 * derivative.abs());
                let second = kernel.bent_lanes(&[square; 8])[2][6];
                let difference = (kernel.derivative(square + h) - kernel.derivative(square - h)) / (2.0 * h);
                // Of UMAP's table the derivative is a quadratic in pieces.
                assert!(
                    (difference - second).abs() < 3e-3 * second.abs(),
                    "{kernel:?} {square}: {difference} {second}"
                );
            }
        }
    }
}

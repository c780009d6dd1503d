//! Cardinal B-splines: how a point is distributed to the nodes of a grid, and how the grid is interpolated.
//!
//! I. J. Schoenberg. Contributions to the problem of approximation of equidistant data by analytic functions. Quarterly of
//! Applied Mathematics 4, 1946. As smooth charges on a grid: U. Essmann, L. Perera, M. L. Berkowitz, T. Darden, H. Lee,
//! L. G. Pedersen. A smooth particle mesh Ewald method. Journal of Chemical Physics 103, 1995.

use eigenfold_fft::Transformed;

/// The number type of the grid: `f32` or `f64`.
pub(crate) trait Real: Transformed + Default + PartialOrd + std::ops::AddAssign {
    fn round(value: f64) -> Self;
    fn widen(self) -> f64;
    /// A positive number to a power.
    fn power(self, exponent: f64) -> Self;
    /// log(1 + x) of a number that is not negative.
    fn log_of_one_and(self) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn round(value: f64) -> f32 {
        value as f32
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn power(self, exponent: f64) -> f32 {
        power(self, exponent as f32)
    }
    #[inline(always)]
    fn log_of_one_and(self) -> f32 {
        std::f32::consts::LN_2 * binary_logarithm(1.0 + self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn round(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
    #[inline(always)]
    fn power(self, exponent: f64) -> f64 {
        self.powf(exponent)
    }
    #[inline(always)]
    fn log_of_one_and(self) -> f64 {
        self.ln_1p()
    }
}

/// log₂ x for x > 0 to six digits or more, without branches, so that it vectorizes: by the series of log((1 + z)/(1 −
/// z)).
#[inline(always)]
fn binary_logarithm(x: f32) -> f32 {
    /// The bits of √½: the mantissa is taken between it and √2.
    const LEAST: u32 = 0x3f35_04f3;
    let bits = x.to_bits();
    let shifted = bits.wrapping_sub(LEAST);
    let exponent = ((shifted as i32) >> 23) as f32;
    let mantissa = f32::from_bits(bits.wrapping_sub(shifted & 0xff80_0000));
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let s = z * z;
    let series = 2.885_39 + s * (0.961_796_7 + s * (0.577_078 + s * (0.412_198_6 + s * 0.320_598_9)));
    exponent + z * series
}

/// xᵖ for x > 0 to five digits or more: 2 to the p log₂ x, by Taylor's series.
#[inline(always)]
fn power(x: f32, p: f32) -> f32 {
    /// Adding it rounds to an integer, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³
    let y = (p * binary_logarithm(x)).clamp(-126.0, 126.0);
    let shifted = y + ROUND;
    let whole = shifted - ROUND;
    let r = y - whole;
    let rest = r * (0.055_504_11 + r * (0.009_618_129 + r * (0.001_333_355_8 + r * 0.000_154_035_3)));
    let two = 1.0 + r * (std::f32::consts::LN_2 + r * (0.240_226_5 + rest));
    two * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23)
}

/// The values of the W nonzero splines (of degree W − 1) at `t` past a node, with their derivatives.
#[inline(always)]
pub(super) fn spline<T: Real, const W: usize>(t: T) -> ([T; W], [T; W]) {
    let [value, derivative, _] = bent_spline(t);
    (value, derivative)
}

/// As [`spline`], with the second derivatives.
#[inline(always)]
pub(super) fn bent_spline<T: Real, const W: usize>(t: T) -> [[T; W]; 3] {
    let (mut value, mut derivative, mut second) = ([T::default(); W], [T::default(); W], [T::default(); W]);
    (value[0], value[1]) = (T::one() - t, t);
    for order in 3..=W {
        if order + 1 == W {
            for k in 0..W {
                let below = |back: usize| if k >= back && k - back < W - 2 { value[k - back] } else { T::default() };
                second[k] = (below(2) - below(1)) + (below(0) - below(1));
            }
        }
        if order == W {
            // The derivative of a spline is a difference of two of the order below.
            derivative[0] = T::default() - value[0];
            for k in 1..W - 1 {
                derivative[k] = value[k - 1] - value[k];
            }
            derivative[W - 1] = value[W - 2];
        }
        let factor = T::round(1.0 / (order as f64 - 1.0));
        value[order - 1] = factor * t * value[order - 2];
        for k in (1..order - 1).rev() {
            let (below, above) = (T::round((order - 1 - k) as f64), T::round((k + 1) as f64));
            value[k] = factor * ((t + below) * value[k - 1] + (above - t) * value[k]);
        }
        value[0] = factor * (T::one() - t) * value[0];
    }
    [value, derivative, second]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_right_to_five_digits() {
        for step in -600..600 {
            let x = (f64::from(step) * 0.045).exp();
            for p in [0.2, 0.895_061, 1.0, 1.7] {
                let (own, right) = (f64::from(power(x as f32, p as f32)), f64::from(x as f32).powf(p));
                assert!((own / right - 1.0).abs() < 1e-5, "{x} {p}: {own} {right}");
            }
        }
    }

    #[test]
    fn logarithms_are_right_to_six_digits() {
        for step in -300..600 {
            let x = (f64::from(step) * 0.045).exp() as f32;
            let (own, right) = (f64::from(x.log_of_one_and()), f64::from(x).ln_1p());
            assert!((own - right).abs() < 1e-6 * right.max(1e-1), "{x}: {own} {right}");
        }
    }

    #[test]
    fn splines_add_up_to_one_and_their_derivatives_are_differences() {
        for step in 0..20 {
            let t = f64::from(step) / 20.0;
            let (value, derivative) = spline::<f64, 8>(t);
            assert!((value.iter().sum::<f64>() - 1.0).abs() < 1e-15 && derivative.iter().sum::<f64>().abs() < 1e-15);
            let (after, before) = (spline::<f64, 8>(t + 1e-6).0, spline::<f64, 8>(t - 1e-6).0);
            for k in 0..8 {
                assert!(((after[k] - before[k]) / 2e-6 - derivative[k]).abs() < 1e-9);
            }
            let second = bent_spline::<f64, 8>(t)[2];
            let (after, before) = (spline::<f64, 8>(t + 1e-6).1, spline::<f64, 8>(t - 1e-6).1);
            for k in 0..8 {
                assert!(((after[k] - before[k]) / 2e-6 - second[k]).abs() < 1e-8);
            }
        }
    }
}

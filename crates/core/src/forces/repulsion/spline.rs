//! Cardinal B-splines: how a point is shared among the nodes of a grid, and how the grid is read between its nodes.
//!
//! I. J. Schoenberg. Contributions to the problem of approximation of equidistant data by analytic functions. Quarterly of
//! Applied Mathematics 4, 1946. As smooth charges on a grid: U. Essmann, L. Perera, M. L. Berkowitz, T. Darden, H. Lee,
//! L. G. Pedersen. A smooth particle mesh Ewald method. Journal of Chemical Physics 103, 1995.

use eigenfold_fft::Transformed;

/// A number of the grid: `f32` or `f64`.
pub(crate) trait Real: Transformed + Default + PartialOrd + std::ops::AddAssign {
    fn round(value: f64) -> Self;
    fn widen(self) -> f64;
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
}

/// The values of the W splines (of degree W − 1) that are not zero at `t` past a node, with their slopes.
#[inline(always)]
pub(super) fn spline<T: Real, const W: usize>(t: T) -> ([T; W], [T; W]) {
    let (mut value, mut slope) = ([T::default(); W], [T::default(); W]);
    (value[0], value[1]) = (T::one() - t, t);
    for order in 3..=W {
        if order == W {
            // The slope of a spline is a difference of two of the order below.
            slope[0] = T::default() - value[0];
            for k in 1..W - 1 {
                slope[k] = value[k - 1] - value[k];
            }
            slope[W - 1] = value[W - 2];
        }
        let factor = T::round(1.0 / (order as f64 - 1.0));
        value[order - 1] = factor * t * value[order - 2];
        for k in (1..order - 1).rev() {
            let (below, above) = (T::round((order - 1 - k) as f64), T::round((k + 1) as f64));
            value[k] = factor * ((t + below) * value[k - 1] + (above - t) * value[k]);
        }
        value[0] = factor * (T::one() - t) * value[0];
    }
    (value, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splines_add_up_to_one_and_their_slopes_are_differences() {
        for step in 0..20 {
            let t = f64::from(step) / 20.0;
            let (value, slope) = spline::<f64, 8>(t);
            assert!((value.iter().sum::<f64>() - 1.0).abs() < 1e-15 && slope.iter().sum::<f64>().abs() < 1e-15);
            let (after, before) = (spline::<f64, 8>(t + 1e-6).0, spline::<f64, 8>(t - 1e-6).0);
            for k in 0..8 {
                assert!(((after[k] - before[k]) / 2e-6 - slope[k]).abs() < 1e-9);
            }
        }
    }
}

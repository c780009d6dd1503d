//! Plans for fast Fourier transforms in single and double precision.
//!
//! The transforms are generic, and a crate that plans them compiles every algorithm they may choose, for each precision:
//! a quarter of the whole library. Here that is done once, and not again whenever the library or its tests are built.

use realfft::RealFftPlanner;
use rustfft::FftPlanner;
use std::sync::Arc;

pub use realfft::{ComplexToReal, RealToComplex};
pub use rustfft::num_complex::Complex;
pub use rustfft::{Fft, FftNum};

/// Transforms from real numbers, and back to them.
pub type RealPlans<T> = (Arc<dyn RealToComplex<T>>, Arc<dyn ComplexToReal<T>>);
/// Transforms of complex numbers, forward and back.
pub type ComplexPlans<T> = (Arc<dyn Fft<T>>, Arc<dyn Fft<T>>);

/// A number that can be transformed.
pub trait Transformed: FftNum {
    /// Transforms of `length` real numbers.
    fn real_plans(length: usize) -> RealPlans<Self>;

    /// Transforms of `length` complex numbers.
    fn complex_plans(length: usize) -> ComplexPlans<Self>;
}

impl Transformed for f32 {
    fn real_plans(length: usize) -> RealPlans<f32> {
        let mut planner = RealFftPlanner::new();
        (planner.plan_fft_forward(length), planner.plan_fft_inverse(length))
    }

    fn complex_plans(length: usize) -> ComplexPlans<f32> {
        let mut planner = FftPlanner::new();
        (planner.plan_fft_forward(length), planner.plan_fft_inverse(length))
    }
}

impl Transformed for f64 {
    fn real_plans(length: usize) -> RealPlans<f64> {
        let mut planner = RealFftPlanner::new();
        (planner.plan_fft_forward(length), planner.plan_fft_inverse(length))
    }

    fn complex_plans(length: usize) -> ComplexPlans<f64> {
        let mut planner = FftPlanner::new();
        (planner.plan_fft_forward(length), planner.plan_fft_inverse(length))
    }
}

//! The likelihood of a Gaussian process over a map, with its gradients in the parameters and in the positions: exact,
//! and bounded by inducing points. Predictions of the process at any position.
//!
//! ```text
//! K[i,j] = v exp(−‖y[i] − y[j]‖² / 2ℓ²) + b + w [i = j]        one covariance for all p features
//! log likelihood = −½ p log det K − ½ tr K⁻¹ X̃X̃ᵀ − ½ n p log 2π
//! ```

pub(crate) mod ard;
pub(crate) mod exact;
pub(crate) mod line;
pub(crate) mod moving;
pub(crate) mod predict;
pub(crate) mod problem;
pub(crate) mod simd;
pub(crate) mod sparse;

use eigenfold_linalg::dense::cholesky::Positive;
use faer::Mat;

/// The smallest noise, as a fraction of the data's variance.
pub const NOISE_FLOOR: f64 = 1e-6;

/// The bounds of variance, length scale, bias and noise, in units of the data's variance and of the median distance on
/// the map.
pub(crate) const BOX: [(f64, f64); 4] = [(1e-8, 1e6), (1e-3, 1e3), (1e-8, 1e6), (NOISE_FLOOR, 1e3)];

/// The covariance of the process, in the units of the data and of the map after scaling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpParameters {
    /// v: the variance that depends on the position.
    pub variance: f64,
    /// ℓ: the length scale on the map.
    pub length: f64,
    /// b: the variance that all points share.
    pub bias: f64,
    /// w: the variance of the noise.
    pub noise: f64,
}

impl GpParameters {
    /// The start of N. D. Lawrence's own program: inverse width 1, variance 1, bias and white noise e⁻².
    pub const LAWRENCE: GpParameters =
        GpParameters { variance: 1.0, length: 1.0, bias: 0.135_335_283_236_612_7, noise: 0.135_335_283_236_612_7 };
}

/// The negative log likelihood, or its bound, of a problem in its own units.
pub(crate) trait Process: Sync {
    /// At these variances and this length scale; `None` if the covariance is singular. Without a bias the optimal one
    /// is used.
    fn negative(
        &self,
        space: &mut Option<Space>,
        variance: f64,
        length: f64,
        bias: Option<f64>,
        noise: f64,
    ) -> Option<Negative>;

    /// Whether an evaluation uses one thread, so that optimizations can run in parallel.
    fn one_thread(&self) -> bool {
        false
    }
}

/// The matrices of an optimization, reused between evaluations: allocating them anew takes as long as the computation.
pub(crate) struct Space {
    /// R.
    pub(crate) near: Vec<f64>,
    /// K₀ and its factor.
    pub(crate) positive: Positive,
    /// K₀⁻¹ of the data.
    pub(crate) solved: Mat<f64>,
    /// K₀⁻¹.
    pub(crate) inverse: Mat<f64>,
}

/// The negative log likelihood at some parameters.
pub(crate) struct Negative {
    pub(crate) value: f64,
    /// The bias, given or optimal.
    pub(crate) bias: f64,
    /// The gradients along log v, log ℓ, log b and log w.
    pub(crate) gradient: [f64; 4],
}

/// The effect of a bias on a covariance K₀ without it, in closed form: with u = K₀⁻¹1, s = 1ᵀu and q = ‖X̃ᵀu‖²
///
/// ```text
/// −log likelihood = that of K₀ + ½ p log(1 + b s) − ½ c q,   c = b / (1 + b s),   best at 1 + b s = q / p s
/// ```
///
/// and the gradients along K₀ are those without a bias for the data X̃ − c 1 (X̃ᵀu)ᵀ and one more column √(pc) 1.
pub(crate) struct Biased {
    pub(crate) bias: f64,
    /// c.
    pub(crate) shrink: f64,
    /// Its contribution to the negative log likelihood.
    pub(crate) value: f64,
    /// The gradient along log b.
    pub(crate) derivative: f64,
}

impl Biased {
    pub(crate) fn new(p: f64, s: f64, q: f64, given: Option<f64>) -> Biased {
        let best = || ((q / (p * s) - 1.0) / s).max(BOX[2].0).min(BOX[2].1);
        let bias = given.unwrap_or_else(best);
        let grown = 1.0 + bias * s;
        let value = 0.5 * (p * grown.ln() - bias * q / grown);
        Biased { bias, shrink: bias / grown, value, derivative: 0.5 * bias * (p * s - q / grown) / grown }
    }
}

//! The likelihood of a sparse precision: one factor for every ratio of noise to signal.
//!
//! With B = CᵀAC, C an orthonormal basis of the directions orthogonal to the constants, τ = σ²/α² and κ = 1/τ:
//!
//! ```text
//! log det (α² B⁻¹ + σ² I) = (n − 1) log α²τ + log det (B + κI) − log det B
//! zᵀ(B⁻¹ + τI)⁻¹z         = κ zᵀB(B + κI)⁻¹z        z = Cᵀx
//! ```
//!
//! C is never formed: with S = (A + κI)⁻¹ and u = 1/√n, det (B + κI) = det (A + κI) uᵀSu, and (B + κI)⁻¹ is S minus its
//! part along Su. If constants are in the null space, uᵀSu = 1/κ; the quotient computed from the factor itself cancels
//! the rounding error in the pivot of the constants. Then det B = n det A / ρ with ρ added to one diagonal entry of A,
//! which grounds that point. α² has a closed form, q/((n − 1) p) with q the sum of the quadratic forms at α = 1; τ is
//! found by a line search. No noise, τ = 0, and no signal are tried as well, without a factor.
//!
//! A is divided by Gershgorin's bound on its largest eigenvalue, so that every eigenvalue of K is at least one.

use crate::likelihood::peak::{Ladder, peak};
use crate::likelihood::{Columns, FLOOR, Observation};
use eigenfold_linalg::Operator;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Stage};
use eigenfold_linalg::sparse::cholesky::{Analysis, Symbolic};
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use faer::Mat;

/// The tolerance of A1, relative to A, for constants in the null space.
const FREE: f64 = 1e-9;
/// The number of factors of a search, for the prediction of its cost.
const EVALUATIONS: f64 = 14.0;

/// A precision divided by the bound on its norm, with its analysis.
pub(crate) struct Precision {
    matrix: SparseSymmetric,
    norm: f64,
    /// Whether constants are in the null space.
    free: bool,
    /// log det B, where it is known without a factor.
    log_det: Option<f64>,
    analysis: Analysis,
}

/// The quantities that a ratio τ determines: log det (B + κI), and q.
struct Shape {
    log_det: f64,
    quadratic: f64,
}

/// Factors of one pattern after each other.
struct Factors<'a> {
    precision: &'a Precision,
    symbolic: Symbolic<'a>,
    /// log det B.
    log_det: f64,
}

impl Precision {
    /// A precision; `grounded` is the log determinant without one of the points, if constants are in the null space and
    /// it is known.
    pub(super) fn new(matrix: &SparseSymmetric, grounded: Option<f64>) -> Result<Precision> {
        let n = matrix.dim();
        let norm = matrix.norm_bound().max(f64::MIN_POSITIVE);
        let matrix = matrix.scaled(&vec![1.0 / norm.sqrt(); n]);
        let free = (0..n).all(|i| matrix.row(i).map(|(_, v)| v).sum::<f64>().abs() <= FREE);
        let log_det = grounded.map(|value| value + (n as f64).ln() - (n as f64 - 1.0) * norm.ln());
        let analysis = Analysis::new(&matrix)?;
        Ok(Precision { matrix, norm, free, log_det, analysis })
    }

    /// The peak memory of a search in bytes.
    pub(super) fn memory(&self, features: usize) -> u64 {
        self.analysis.memory() + 32 * (self.matrix.dim() * (features + 1) + self.matrix.entry_count()) as u64
    }

    /// The flops of a search.
    pub(super) fn flops(&self, features: usize) -> f64 {
        // A solve is memory-bound; it counts as four times its flops.
        EVALUATIONS * (self.analysis.flops + 16.0 * self.analysis.fill * (features + 1) as f64)
    }

    fn factors(&self) -> Result<Option<Factors<'_>>> {
        let symbolic = self.analysis.symbolic()?;
        let log_det = match self.log_det {
            Some(known) => Some(known),
            None => self.own_log_det(&symbolic)?,
        };
        Ok(log_det.map(|log_det| Factors { precision: self, symbolic, log_det }))
    }

    /// log det B. Eigenvalues at the level of rounding are lifted to it.
    fn own_log_det(&self, symbolic: &Symbolic<'_>) -> Result<Option<f64>> {
        let n = self.matrix.dim() as f64;
        let grounded = if self.free { self.matrix.with_added(0, 1.0) } else { self.matrix.clone() };
        for shift in [0.0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12] {
            let Some(factor) = symbolic.factor(&grounded, shift)? else { continue };
            if self.free {
                return Ok(Some(factor.log_determinant() + n.ln()));
            }
            let mut constant = Mat::from_fn(self.matrix.dim(), 1, |_, _| 1.0 / n.sqrt());
            factor.solve(constant.as_mut());
            let along = constant.col(0).iter().sum::<f64>() / n.sqrt();
            return Ok(Some(factor.log_determinant() + along.ln()));
        }
        Ok(None)
    }

    pub(super) fn fit(&self, columns: &Columns, observer: &dyn Observer) -> Result<Option<Observation>> {
        let Some(factors) = self.factors()? else { return Ok(None) };
        let image = self.image(columns);
        let mut evaluations = 0;
        let value = |log_tau: f64| {
            if observer.stop() {
                return Err(Error::Stopped);
            }
            evaluations += 1;
            observer.progress(Stage::Likelihood, (f64::from(evaluations) / EVALUATIONS).min(1.0));
            let tau = 10f64.powf(log_tau);
            Ok(factors.at(tau, columns, &image)?.map(|shape| factors.density(tau, &shape, columns).0))
        };
        let bare = Shape { log_det: factors.log_det, quadratic: dot(&image, &columns.values) };
        let (silent, signal) = factors.density(0.0, &bare, columns);
        let end = (silent, self.rises(columns, &image));
        let ladder = Ladder { start: 0.0, step: 2.0, low: -8.0, high: 16.0, flat: 1e-10 * columns.count(), end };
        let best = peak(&ladder, value)?;
        let tau = best.filter(|best| best.1 > silent).map_or(0.0, |best| 10f64.powf(best.0));
        let (log_likelihood, signal) = if tau > 0.0 {
            let Some(shape) = factors.at(tau, columns, &image)? else { return Ok(None) };
            factors.density(tau, &shape, columns)
        } else {
            (silent, signal)
        };
        let squared = columns.size * columns.size;
        let noise_at_floor = signal * (1.0 + tau) <= FLOOR * (1.0 + 1e-9);
        let fitted = Observation {
            log_likelihood,
            signal: signal * self.norm * squared,
            noise: signal * tau * squared,
            noise_at_floor,
            features: columns.values.ncols(),
            directions: columns.values.nrows() - 1,
            evaluations: evaluations as usize + usize::from(tau > 0.0),
        };
        let alone = columns.of_noise(squared);
        if log_likelihood.is_nan() || log_likelihood < alone {
            let alone =
                Observation { log_likelihood: alone, signal: 0.0, noise: squared, noise_at_floor: false, ..fitted };
            return Ok(Some(alone));
        }
        Ok(Some(fitted))
    }

    pub(super) fn of(&self, columns: &Columns, fitted: &Observation) -> Result<Option<f64>> {
        let Some(factors) = self.factors()? else { return Ok(None) };
        let (tau, image) = (fitted.noise / fitted.signal * self.norm, self.image(columns));
        let shape = if tau > 0.0 {
            factors.at(tau, columns, &image)?
        } else {
            Some(Shape { log_det: factors.log_det, quadratic: dot(&image, &columns.values) })
        };
        let signal = fitted.signal / self.norm / columns.size / columns.size;
        Ok(shape.map(|shape| factors.density_at(signal, tau, &shape, columns)))
    }

    /// Whether some noise is better than none: the derivative of the log density in τ at zero,
    /// ½ (n − 1) p ‖A X̃‖² / tr X̃ᵀAX̃ − ½ p tr B.
    fn rises(&self, columns: &Columns, image: &Mat<f64>) -> bool {
        let n = columns.values.nrows() as f64;
        let sum: f64 = (0..self.matrix.dim()).flat_map(|i| self.matrix.row(i)).map(|(_, v)| v).sum();
        let trace = self.matrix.diagonal().iter().sum::<f64>() - sum / n;
        columns.directions() * dot(image, image) > trace * dot(image, &columns.values)
    }

    /// A X̃.
    fn image(&self, columns: &Columns) -> Mat<f64> {
        let mut image = Mat::zeros(columns.values.nrows(), columns.values.ncols());
        self.matrix.apply(columns.values.as_ref(), image.as_mut());
        image
    }
}

impl Factors<'_> {
    /// One factor and p + 1 solves; `None` if the matrix is not positive definite in floating point.
    fn at(&self, tau: f64, columns: &Columns, image: &Mat<f64>) -> Result<Option<Shape>> {
        let (n, p, kappa) = (columns.values.nrows(), columns.values.ncols(), 1.0 / tau);
        let Some(factor) = self.symbolic.factor(&self.precision.matrix, kappa)? else { return Ok(None) };
        let unit = 1.0 / (n as f64).sqrt();
        let mut solved = Mat::from_fn(n, p + 1, |i, f| if f < p { columns.values[(i, f)] } else { unit });
        factor.solve(solved.as_mut());
        let along = |f: usize| solved.col(f).iter().sum::<f64>() * unit;
        let own = along(p);
        let quadratic: Vec<f64> = parallel::collect(p, |f| {
            let share = along(f) / own;
            (0..n).map(|i| image[(i, f)] * (solved[(i, f)] - share * solved[(i, p)])).sum::<f64>()
        });
        let log_det = factor.log_determinant() + own.ln();
        Ok(Some(Shape { log_det, quadratic: kappa * quadratic.iter().sum::<f64>() }))
    }

    /// The log density at the best α² for this τ, and that α².
    fn density(&self, tau: f64, shape: &Shape, columns: &Columns) -> (f64, f64) {
        let signal = (shape.quadratic / columns.count()).max(FLOOR / (1.0 + tau));
        (self.density_at(signal, tau, shape, columns), signal)
    }

    fn density_at(&self, signal: f64, tau: f64, shape: &Shape, columns: &Columns) -> f64 {
        let scale = if tau > 0.0 { signal * tau } else { signal };
        let noisy = if tau > 0.0 { shape.log_det } else { 0.0 };
        let log_det = columns.directions() * scale.ln() + noisy - self.log_det;
        columns.constant() - 0.5 * (columns.features() * log_det + shape.quadratic / signal)
    }
}

fn dot(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    a.col_iter().zip(b.col_iter()).map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>()).sum()
}

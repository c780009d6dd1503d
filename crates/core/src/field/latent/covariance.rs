//! The maximum-likelihood latent model of complete rows by their moments alone: the likelihood of a Gaussian is a function
//! of the mean and the covariance of the rows.
//!
//! With S = 1/n Σᵢ (x[i] − μ)(x[i] − μ)ᵀ about the mean μ of the model, A = C WᵀΨ⁻¹ and m[i] = A (x[i] − μ), the sums of
//! [`Sums`](super::sums::Sums) over the rows are, with the residuals r[i] = x[i] − μ − W m[i],
//!
//! ```text
//! 1/n Σ m mᵀ = A S Aᵀ        1/n Σ r mᵀ = S Aᵀ − W A S Aᵀ        1/n Σ r[j]² = S[j,j] − 2 (S Aᵀ)[j] W[j]ᵀ + W[j] A S Aᵀ W[j]ᵀ
//! log likelihood = −n/2 (log det 2π(WWᵀ + Ψ) + tr Ψ⁻¹S − tr WᵀΨ⁻¹S Aᵀ)
//! ```
//!
//! T. W. Anderson. An introduction to multivariate statistical analysis. 3rd edition, 2003, section 14.3.

use super::fit::{Fit, Fitted, regression};
use super::scaled::Units;
use super::sums::Sums;
use crate::extend::{Latent, Observed};
use crate::input::moments::Moments;
use eigenfold_linalg::Eigenpairs;
use eigenfold_linalg::dense::{dense_product, product, small_product};
use eigenfold_linalg::eigen::top::matrix_top;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;
use faer::Mat;

/// The covariance of features in units in which their variances are about one; their means are zero.
pub(super) struct Covariance {
    /// n.
    rows: f64,
    matrix: Mat<f64>,
    pub(super) units: Units,
}

/// A, and the second moments of the rows and their posterior means about a model.
struct About {
    observed: Observed,
    /// Aᵀ, one row per feature.
    weights: Mat<f64>,
    /// S Aᵀ, and the diagonal of S.
    across: Mat<f64>,
    variances: Vec<f64>,
    /// A S Aᵀ.
    among: Mat<f64>,
}

impl Fit {
    /// [`Fit::of`] for rows that are elsewhere, by their moments.
    ///
    /// # Errors
    ///
    /// As [`Fit::of`].
    pub(crate) fn of_moments(&self, moments: &Moments, observer: &dyn Observer) -> Result<Fitted> {
        let covariance = Covariance::new(moments, &moments.variances(), self.own_noise)?;
        let cells = covariance.rows * moments.cols() as f64;
        let start = self.start_of(&covariance, observer)?;
        let fitted = if self.em {
            let sums = |latent: &Latent| covariance.sums(latent);
            let step = |latent: &Latent| self.em_step_of(latent, &covariance);
            self.by_em(cells, (&sums, &step), start, observer)?
        } else {
            let mut sums = |latent: &Latent| Ok(covariance.sums(latent).ok());
            self.by_descent(cells, &mut sums, start, observer)?
        };
        let shift = covariance.rows * covariance.units.units.iter().map(|unit| unit.ln()).sum::<f64>();
        Ok(fitted.in_units(&covariance.units, shift))
    }

    /// [`Fit::closed`] for rows that are elsewhere, by their moments.
    ///
    /// # Errors
    ///
    /// As [`Fit::of`].
    pub(crate) fn closed_of_moments(&self, moments: &Moments, observer: &dyn Observer) -> Result<(Fitted, Eigenpairs)> {
        let covariance = Covariance::new(moments, &moments.variances(), false)?;
        let (n, p) = (covariance.rows, moments.cols());
        let mut pairs = covariance.top(self, observer)?;
        let variance = |k: usize| pairs.values.get(k).copied().unwrap_or(0.0).max(0.0);
        let noise = self.closed_noise(covariance.total(), p, &variance);
        let latent = model(&pairs, self.dims, |k| (variance(k) - noise).max(0.0), noise);
        let unit = covariance.units.units[0];
        let log_likelihood = covariance.sums(&latent)?.log_likelihood - n * p as f64 * unit.ln();
        pairs.values.iter_mut().for_each(|value| *value *= n * (unit * unit));
        Ok((Fitted::closed(covariance.units.undo(latent), log_likelihood, &pairs), pairs))
    }

    /// The start of [`Fit::of`].
    pub(super) fn start_of(&self, covariance: &Covariance, observer: &dyn Observer) -> Result<Latent> {
        let pairs = covariance.top(self, observer)?;
        let variance = |k: usize| pairs.values.get(k).copied().unwrap_or(0.0).max(0.0);
        let noise = self.start_noise(covariance.total(), covariance.matrix.nrows(), &variance);
        let mut latent = model(&pairs, self.dims, |k| (variance(k) - noise).max(1e-2 * variance(k)), noise);
        // A constant feature shares nothing. What rounding leaves of its loadings would be divided by its noise, which vanishes.
        for (j, loadings) in latent.loadings.chunks_exact_mut(self.dims).enumerate() {
            if covariance.matrix[(j, j)] == 0.0 {
                loadings.fill(0.0);
            }
        }
        Ok(self.with_noise(latent))
    }

    /// One step of EM.
    fn em_step_of(&self, latent: &Latent, covariance: &Covariance) -> Result<Latent> {
        let (n, q) = (covariance.rows, self.dims);
        let wide = q + 1;
        let about = covariance.about(latent)?;
        let offset = Mat::from_fn(latent.mean.len(), 1, |j, _| -latent.mean[j]);
        let mean = small_product(about.weights.transpose(), offset.as_ref());
        let moment = |at: usize| match (at / wide, at % wide) {
            (a, b) if a < q && b < q => about.among[(a, b)] + about.observed.covariance[(a, b)],
            (a, b) if a < q || b < q => mean[(a.min(b), 0)],
            _ => 1.0,
        };
        let everyone: Vec<f64> = (0..wide * wide).map(|at| n * moment(at)).collect();
        // S about the mean of the rows, times Aᵀ.
        let along = |j: usize, a: usize| n * (about.across[(j, a)] + latent.mean[j] * mean[(a, 0)]);
        let one = |j: usize| {
            let right = (0..q).map(|a| along(j, a)).chain([0.0]).collect();
            regression(j, everyone.clone(), right, n * covariance.matrix[(j, j)], n as usize)
        };
        Ok(self.regressed(&(0..latent.mean.len()).map(one).collect::<Result<Vec<_>>>()?))
    }
}

/// W = U s^½.
fn model(pairs: &Eigenpairs, q: usize, signal: impl Fn(usize) -> f64, noise: f64) -> Latent {
    let p = pairs.vectors.nrows();
    let known = pairs.values.len();
    let loading = |j: usize, k: usize| if k < known { signal(k).sqrt() * pairs.vectors[(j, k)] } else { 0.0 };
    let loadings = (0..p * q).map(|at| loading(at / q, at % q)).collect();
    Latent { mean: vec![0.0; p], loadings, noise: vec![noise; p] }
}

impl Covariance {
    /// Of moments with the mean in the place of every missing cell; the variances are those of what was observed.
    pub(super) fn new(moments: &Moments, variances: &[f64], own: bool) -> Result<Covariance> {
        let (p, rows) = (moments.cols(), moments.count as f64);
        let deviations: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
        // Where the variation is rounding, the mean is as large as all numbers.
        let sizes: Vec<f64> = moments.mean.iter().map(|mean| mean.abs()).collect();
        let units = Units::of(moments.mean.clone(), &deviations, &sizes, own)?;
        let entry = |j: usize, k: usize| moments.covariance[j * p + k] / units.units[j] / units.units[k];
        Ok(Covariance { rows, matrix: Mat::from_fn(p, p, |j, k| entry(j.max(k), j.min(k))), units })
    }

    fn total(&self) -> f64 {
        (0..self.matrix.nrows()).map(|j| self.matrix[(j, j)]).sum()
    }

    fn top(&self, fit: &Fit, observer: &dyn Observer) -> Result<Eigenpairs> {
        matrix_top(self.matrix.clone(), fit.dims, fit.seed, observer)
    }

    fn about(&self, latent: &Latent) -> Result<About> {
        let (p, q) = (latent.mean.len(), latent.dims());
        let observed = latent.observing_all()?;
        let along = |j: usize, a: usize| {
            (0..q).map(|b| observed.covariance[(a, b)] * latent.loading(j)[b]).sum::<f64>() / latent.noise[j]
        };
        let weights = Mat::from_fn(p, q, along);
        let off = Mat::from_fn(p, 1, |j, _| -latent.mean[j]);
        let mean = small_product(weights.transpose(), off.as_ref());
        let centered = dense_product(self.matrix.as_ref(), weights.as_ref());
        let across = Mat::from_fn(p, q, |j, a| centered[(j, a)] + off[(j, 0)] * mean[(a, 0)]);
        let variances = (0..p).map(|j| self.matrix[(j, j)] + off[(j, 0)] * off[(j, 0)]).collect();
        let among = small_product(weights.transpose(), across.as_ref());
        Ok(About { observed, weights, across, variances, among })
    }

    /// The sums over all rows, of which no cell is missing.
    pub(super) fn sums(&self, latent: &Latent) -> Result<Sums> {
        let (n, p, q) = (self.rows, latent.mean.len(), latent.dims());
        let about = self.about(latent)?;
        let loadings = Mat::from_fn(p, q, |j, a| latent.loading(j)[a]);
        let off = Mat::from_fn(p, 1, |j, _| -latent.mean[j]);
        let mean = small_product(about.weights.transpose(), off.as_ref());
        let shared = product(loadings.as_ref(), about.among.as_ref());
        let spread = product(loadings.as_ref(), about.observed.covariance.as_ref());
        let mut sums = Sums::zero(p, q);
        let mut square = 0.0;
        for j in 0..p {
            let (w, psi) = (latent.loading(j), latent.noise[j]);
            let with = |row: &dyn Fn(usize) -> f64| w.iter().enumerate().map(|(a, w)| w * row(a)).sum::<f64>();
            let explained = with(&|a| about.across[(j, a)]);
            let residual = about.variances[j] - 2.0 * explained + with(&|a| shared[(j, a)]);
            square += (about.variances[j] - explained) / psi;
            sums.mean[j] = n * (off[(j, 0)] - with(&|a| mean[(a, 0)])) / psi;
            sums.noise[j] = 0.5 * n * ((residual + with(&|a| spread[(j, a)])) / psi - 1.0);
            for a in 0..q {
                sums.loadings[j * q + a] = n * (about.across[(j, a)] - shared[(j, a)] - spread[(j, a)]) / psi;
            }
        }
        sums.log_likelihood = -0.5 * n * (about.observed.log_det + square);
        Ok(sums)
    }
}

//! The maximum-likelihood linear latent model of points, some of whose cells may be missing, by quasi-Newton steps or
//! by EM.
//!
//! The log likelihood is that of the observed cells, row by row. With the posterior mean m[i] and covariance C[i] of a
//! row's latent coordinates ([`Latent`]) and its residual r[i,j] = x[i,j] − μ[j] − W[j] m[i], its gradients are sums over the
//! observed cells (Fisher's identity):
//!
//! ```text
//! ∂/∂μ[j] = Σᵢ r[i,j] / ψ[j]        ∂/∂W[j] = Σᵢ (r[i,j] m[i] − C[i] W[j]ᵀ) / ψ[j]
//! ∂/∂log ψ[j] = ½ Σᵢ ((r[i,j]² + W[j] C[i] W[j]ᵀ) / ψ[j] − 1)
//! ```
//!
//! A step of EM instead solves, for every feature, the regression of its observed cells on (z, 1) in expectation, and
//! takes the mean squared residual as its noise. It never lowers the likelihood, and takes many more steps.

use super::scaled::{Gone, Scaled, Units};
use super::sums::Sums;
use crate::extend::{Latent, Posterior};
use eigenfold_graph::points::Points;
use eigenfold_linalg::Eigenpairs;
use eigenfold_linalg::dense::sign;
use eigenfold_linalg::dense::small::{solve_positive_definite, symmetric_eigen};
use eigenfold_linalg::eigen::top::factor_top;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Stage};
use faer::Mat;

/// The minimum noise, as a fraction of the variance of all features, or of its own feature.
pub(crate) const FLOOR: f64 = 1e-12;
pub(crate) const OWN_FLOOR: f64 = 1e-6;

/// How the model is fitted.
#[derive(Clone, Copy)]
pub(crate) struct Fit {
    /// q.
    pub(crate) dims: usize,
    /// Whether every feature has its own noise variance.
    pub(crate) own_noise: bool,
    /// Whether to use EM instead of quasi-Newton steps.
    pub(crate) em: bool,
    /// The fit stops when a step improves the log likelihood per cell by less than this fraction.
    pub(crate) tolerance: f64,
    /// The maximum number of passes over the data.
    pub(crate) max_iterations: usize,
    /// The seed of the eigen-solver that computes the start.
    pub(crate) seed: u64,
}

/// The fitted maximum-likelihood model.
#[derive(Clone)]
pub(crate) struct Fitted {
    pub(crate) latent: Latent,
    /// The log likelihood of all observed cells.
    pub(crate) log_likelihood: f64,
    /// The log likelihood after each step of EM.
    pub(crate) curve: Vec<f64>,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
    /// The largest entry of the gradient at the end, per cell.
    pub(crate) gradient: f64,
}

impl Fit {
    /// Fits the model.
    ///
    /// # Errors
    ///
    /// If the points do not vary, or the observer stops the run before there was a start.
    pub(crate) fn of(&self, points: &Points, observer: &dyn Observer) -> Result<Fitted> {
        let scaled = Scaled::new(points, self.own_noise)?;
        let start = self.start(&scaled, observer)?;
        let fitted = if self.em {
            let sums = |latent: &Latent| Sums::of(latent, &scaled.points);
            let step = |latent: &Latent| self.em_step(latent, &scaled.points);
            self.by_em(scaled.cells, (&sums, &step), start, observer)?
        } else {
            let mut sums = |latent: &Latent| Ok(Sums::of(latent, &scaled.points).ok());
            self.by_descent(scaled.cells, &mut sums, start, observer)?
        };
        let logs: Vec<f64> = scaled.units.units.iter().map(|unit| unit.ln()).collect();
        let gone: f64 = points.missing().iter().map(|at| logs[at % logs.len()]).sum();
        let shift = points.rows() as f64 * logs.iter().sum::<f64>() - gone;
        Ok(fitted.in_units(&scaled.units, shift))
    }

    /// The maximum-likelihood model with one noise variance for all features, for points without missing cells, in
    /// closed form: with the largest eigenvalues w of the covariance and its eigenvectors U,
    ///
    /// ```text
    /// σ² = (tr S − Σ w) / (p − q),   W = U (w − σ²)^½
    /// ```
    ///
    /// and the eigenvalues of X̃X̃ᵀ with their residuals.
    ///
    /// # Errors
    ///
    /// As [`Fit::of`].
    pub(crate) fn closed(&self, points: &Points, observer: &dyn Observer) -> Result<(Fitted, Eigenpairs)> {
        let scaled = Scaled::new(points, false)?;
        let (n, p, q) = (points.rows(), points.cols(), self.dims);
        let x = Mat::from_fn(n, p, |i, j| scaled.points.row(i)[j]);
        let mut pairs = factor_top(&x, q, self.seed, observer)?;
        let total: f64 = scaled.points.values().iter().map(|x| x * x).sum::<f64>() / n as f64;
        let variance = |k: usize| pairs.values.get(k).copied().unwrap_or(0.0).max(0.0) / n as f64;
        let noise = self.closed_noise(total, p, &variance);
        let latent = scaled.model(&pairs, q, |k| (variance(k) - noise).max(0.0), noise);
        let log_likelihood = Sums::of(&latent, &scaled.points)?.log_likelihood;
        let unit = scaled.units.units[0];
        let log_likelihood = log_likelihood - (n * p) as f64 * unit.ln();
        let square = unit * unit;
        pairs.values.iter_mut().for_each(|value| *value *= square);
        Ok((Fitted::closed(scaled.units.undo(latent), log_likelihood, &pairs), pairs))
    }

    /// The principal directions of the points, with missing cells replaced by the mean.
    fn start(&self, scaled: &Scaled, observer: &dyn Observer) -> Result<Latent> {
        let (points, q) = (&scaled.points, self.dims);
        let (n, p) = (points.rows(), points.cols());
        let pairs = factor_top(&Mat::from_fn(n, p, |i, j| points.row(i)[j]), q, self.seed, observer)?;
        let total: f64 = points.values().iter().map(|x| x * x).sum::<f64>() / n as f64;
        let variance = |k: usize| pairs.values.get(k).copied().unwrap_or(0.0).max(0.0) / n as f64;
        let noise = self.start_noise(total, p, &variance);
        let latent = scaled.model(&pairs, q, |k| (variance(k) - noise).max(1e-2 * variance(k)), noise);
        Ok(self.with_noise(latent))
    }

    /// σ² of the closed form, of p features of this total variance and with these largest eigenvalues.
    pub(super) fn closed_noise(&self, total: f64, p: usize, variance: &dyn Fn(usize) -> f64) -> f64 {
        ((total - (0..self.dims).map(variance).sum::<f64>()) / (p - self.dims) as f64).max(FLOOR)
    }

    /// The noise of the start.
    pub(super) fn start_noise(&self, total: f64, p: usize, variance: &dyn Fn(usize) -> f64) -> f64 {
        ((total - (0..self.dims).map(variance).sum::<f64>()) / (p - self.dims) as f64).max(1e-3 * total / p as f64)
    }

    /// A start, with what it leaves of the variance of each feature as its noise if every feature has its own.
    pub(super) fn with_noise(&self, mut latent: Latent) -> Latent {
        if self.own_noise {
            let shared = |j: usize| latent.loading(j).iter().map(|w| w * w).sum::<f64>();
            latent.noise = (0..latent.mean.len()).map(|j| (1.0 - shared(j)).max(0.05)).collect();
        }
        latent
    }

    /// Quasi-Newton steps from a start, over so many cells; the sums are those of all rows under a model, where it is
    /// defined.
    pub(super) fn by_descent(
        &self,
        cells: f64,
        sums_of: &mut SumsOf<'_>,
        start: Latent,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let (p, q) = (start.mean.len(), self.dims);
        let noises = if self.own_noise { p } else { 1 };
        let unpack = |x: &[f64]| {
            let noise = |j: usize| x[p + p * q + if self.own_noise { j } else { 0 }].exp();
            Latent { mean: x[..p].to_vec(), loadings: x[p..p + p * q].to_vec(), noise: (0..p).map(noise).collect() }
        };
        let logs = start.noise.iter().take(noises).map(|psi| psi.ln());
        let x: Vec<f64> = start.mean.iter().chain(&start.loadings).copied().chain(logs).collect();
        let floor = if self.own_noise { OWN_FLOOR } else { FLOOR };
        let mut lower = vec![f64::NEG_INFINITY; x.len()];
        lower[p + p * q..].fill(floor.ln());
        let mut value = |x: &[f64], gradient: &mut [f64]| {
            let latent = unpack(x);
            let Some(sums) = sums_of(&latent)? else { return Ok(None) };
            let minus = -1.0 / cells;
            let (mean, rest) = gradient.split_at_mut(p);
            let (loadings, noise) = rest.split_at_mut(p * q);
            mean.iter_mut().zip(&sums.mean).for_each(|(out, s)| *out = minus * s);
            loadings.iter_mut().zip(&sums.loadings).for_each(|(out, s)| *out = minus * s);
            noise.fill(0.0);
            sums.noise.iter().enumerate().for_each(|(j, s)| noise[j.min(noises - 1)] += minus * s);
            Ok(Some(minus * sums.log_likelihood))
        };
        let descent = Descent {
            bounds: Bounds::Box { lower, upper: vec![f64::INFINITY; x.len()] },
            memory: 30,
            scale: None,
            cautious: false,
            stop: Stop { gradient: 1e-9, decrease: self.tolerance, evaluations: self.max_iterations },
            stage: Some(Stage::Field),
        };
        let (x, report) = descent.minimize(&x, &mut value, observer)?;
        Ok(Fitted {
            latent: unpack(&x),
            log_likelihood: -report.value * cells,
            curve: Vec::new(),
            iterations: report.evaluations,
            converged: report.converged(),
            gradient: report.gradient,
        })
    }

    /// Steps of EM from a start, over so many cells, by the sums of all rows under a model and the model one step after it.
    pub(super) fn by_em(
        &self,
        cells: f64,
        (sums_of, step_of): (&Of<'_, Sums>, &Of<'_, Latent>),
        start: Latent,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let (mut latent, mut curve, mut converged) = (start, Vec::new(), false);
        let mut sums = sums_of(&latent)?;
        for step in 0..self.max_iterations {
            observer.progress(Stage::Field, step as f64 / self.max_iterations as f64);
            if observer.stop() {
                break;
            }
            let next = step_of(&latent)?;
            let found = sums_of(&next)?;
            let gain = (found.log_likelihood - sums.log_likelihood) / cells;
            (latent, sums) = (next, found);
            curve.push(sums.log_likelihood);
            if gain <= self.tolerance * (sums.log_likelihood / cells).abs() {
                converged = true;
                break;
            }
        }
        let gradient = sums.mean.iter().chain(&sums.loadings).map(|s| s / cells);
        let gradient = gradient.fold(0.0f64, |most, s| most.max(s.abs()));
        let (log_likelihood, iterations) = (sums.log_likelihood, curve.len());
        Ok(Fitted { latent, log_likelihood, curve, iterations, converged, gradient })
    }

    /// One step of EM.
    fn em_step(&self, latent: &Latent, points: &Points) -> Result<Latent> {
        let (n, p, q) = (points.rows(), points.cols(), self.dims);
        let wide = q + 1;
        let posteriors = latent.posteriors(points)?;
        let gone = Gone::of(points);
        // A row of the regression of a feature: E[(z, 1)(z, 1)ᵀ].
        let moment = |posterior: &Posterior, a: usize, b: usize| {
            let part = |a: usize| if a < q { posterior.mean[a] } else { 1.0 };
            part(a) * part(b) + if a < q && b < q { posterior.covariance[a * q + b] } else { 0.0 }
        };
        let everyone: Vec<f64> = (0..wide * wide)
            .map(|at| posteriors.iter().map(|posterior| moment(posterior, at / wide, at % wide)).sum())
            .collect();
        let rows = parallel::try_collect(p, |j| {
            let (mut matrix, mut right, mut square) = (everyone.clone(), vec![0.0; wide], 0.0);
            for &i in &gone.rows[j] {
                for (at, entry) in matrix.iter_mut().enumerate() {
                    *entry -= moment(&posteriors[i], at / wide, at % wide);
                }
            }
            let mut left_out = gone.rows[j].iter().peekable();
            for i in 0..n {
                if left_out.next_if(|&&gone| gone == i).is_some() {
                    continue;
                }
                let x = points.row(i)[j];
                (0..q).for_each(|a| right[a] += x * posteriors[i].mean[a]);
                right[q] += x;
                square += x * x;
            }
            regression(j, matrix, right, square, n - gone.rows[j].len())
        })?;
        Ok(self.regressed(&rows))
    }

    /// The model of the regressions of all features.
    pub(super) fn regressed(&self, rows: &[Regression]) -> Latent {
        let q = self.dims;
        let (floor, all) = (if self.own_noise { OWN_FLOOR } else { FLOOR }, rows.iter());
        let together = all.clone().map(|row| row.1).sum::<f64>() / all.clone().map(|row| row.2 as f64).sum::<f64>();
        let noise = all.clone().map(|row| if self.own_noise { row.1 / row.2 as f64 } else { together }.max(floor));
        Latent {
            mean: all.clone().map(|row| row.0[q]).collect(),
            loadings: all.clone().flat_map(|row| row.0[..q].iter().copied()).collect(),
            noise: noise.collect(),
        }
    }
}

/// What follows from a model and all rows.
pub(super) type Of<'a, T> = dyn Fn(&Latent) -> Result<T> + 'a;

/// The sums of all rows under a model; nothing where the model is not defined.
pub(super) type SumsOf<'a> = dyn FnMut(&Latent) -> Result<Option<Sums>> + 'a;

/// The coefficients of (z, 1) for a feature, the sum of its squared residuals, and the number of its cells.
pub(super) type Regression = (Vec<f64>, f64, usize);

/// Regresses feature `j` on (z, 1), by the sums of (z, 1)(z, 1)ᵀ, x (z, 1) and x² over its cells.
pub(super) fn regression(
    j: usize,
    mut matrix: Vec<f64>,
    right: Vec<f64>,
    square: f64,
    cells: usize,
) -> Result<Regression> {
    let mut solved = right.clone();
    if !solve_positive_definite(&mut matrix, &mut solved) {
        let fact = format!("column {} is observed too rarely for its regression", j + 1);
        return Err(Error::numerical(fact, ""));
    }
    let explained: f64 = solved.iter().zip(&right).map(|(a, b)| a * b).sum();
    Ok((solved, square - explained, cells))
}

impl Fitted {
    /// A model in closed form.
    pub(super) fn closed(latent: Latent, log_likelihood: f64, pairs: &Eigenpairs) -> Fitted {
        Fitted {
            latent,
            log_likelihood,
            curve: Vec::new(),
            iterations: pairs.iterations,
            converged: pairs.converged,
            gradient: 0.0,
        }
    }

    /// The fit of scaled features as one of the features; the shift is the sum of the logarithms of the units of all cells.
    pub(super) fn in_units(mut self, units: &Units, shift: f64) -> Fitted {
        self.latent = units.undo(self.latent);
        self.log_likelihood -= shift;
        self.curve.iter_mut().for_each(|value| *value -= shift);
        self
    }
}

/// Rotates the latent coordinates so that WᵀΨ⁻¹W is diagonal, the largest first, and returns the diagonal.
pub(crate) fn turned(latent: &mut Latent) -> Vec<f64> {
    let (p, q) = (latent.mean.len(), latent.dims());
    let mut products = vec![0.0; q * q];
    for j in 0..p {
        let w = latent.loading(j);
        for (at, sum) in products.iter_mut().enumerate() {
            *sum += w[at / q] * w[at % q] / latent.noise[j];
        }
    }
    let (values, vectors) = symmetric_eigen(&mut products, q);
    let turned = |j: usize, k: usize| (0..q).map(|a| latent.loading(j)[a] * vectors[k * q + a]).sum::<f64>();
    latent.loadings = (0..p * q).map(|at| turned(at / q, at % q)).collect();
    values.into_iter().map(|value| value.max(0.0)).collect()
}

/// The map: the posterior mean of every point, each coordinate and its loadings with the sign convention of the
/// project.
pub(crate) fn map_of(latent: &mut Latent, points: &Points) -> Result<Points> {
    let (n, q) = (points.rows(), latent.dims());
    let posteriors = latent.posteriors(points)?;
    let coordinates = Mat::from_fn(n, q, |i, k| posteriors[i].mean[k]);
    let signs: Vec<f64> = (0..q).map(|k| sign(coordinates.as_ref(), k)).collect();
    latent.loadings.iter_mut().enumerate().for_each(|(at, w)| *w *= signs[at % q]);
    Points::computed(n, q, (0..n * q).map(|at| signs[at % q] * coordinates[(at / q, at % q)]).collect())
}

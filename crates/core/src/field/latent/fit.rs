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

use crate::extend::{Latent, Observed, Posterior};
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

/// The minimum number of rows per partial sum, and the maximum number of partial sums; they are added in order.
const ROWS: usize = 256;
const CHUNKS: usize = 32;

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

/// Points in units in which their features have variances of about one.
struct Scaled {
    points: Points,
    center: Vec<f64>,
    units: Vec<f64>,
    cells: f64,
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
        let mut fitted =
            if self.em { self.by_em(&scaled, start, observer)? } else { self.by_descent(&scaled, start, observer)? };
        fitted.latent = scaled.in_units(fitted.latent);
        let logs: Vec<f64> = scaled.units.iter().map(|unit| unit.ln()).collect();
        let gone: f64 = points.missing().iter().map(|at| logs[at % logs.len()]).sum();
        let shift = points.rows() as f64 * logs.iter().sum::<f64>() - gone;
        fitted.log_likelihood -= shift;
        fitted.curve.iter_mut().for_each(|value| *value -= shift);
        Ok(fitted)
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
        let noise = ((total - (0..q).map(variance).sum::<f64>()) / (p - q) as f64).max(FLOOR);
        let latent = scaled.model(&pairs, q, |k| (variance(k) - noise).max(0.0), noise);
        let log_likelihood = Sums::of(&latent, &scaled.points)?.log_likelihood;
        let log_likelihood = log_likelihood - (n * p) as f64 * scaled.units[0].ln();
        let square = scaled.units[0] * scaled.units[0];
        pairs.values.iter_mut().for_each(|value| *value *= square);
        let (latent, converged) = (scaled.in_units(latent), pairs.converged);
        let fitted = Fitted {
            latent,
            log_likelihood,
            curve: Vec::new(),
            iterations: pairs.iterations,
            converged,
            gradient: 0.0,
        };
        Ok((fitted, pairs))
    }

    /// The principal directions of the points, with missing cells replaced by the mean.
    fn start(&self, scaled: &Scaled, observer: &dyn Observer) -> Result<Latent> {
        let (points, q) = (&scaled.points, self.dims);
        let (n, p) = (points.rows(), points.cols());
        let pairs = factor_top(&Mat::from_fn(n, p, |i, j| points.row(i)[j]), q, self.seed, observer)?;
        let total: f64 = points.values().iter().map(|x| x * x).sum::<f64>() / n as f64;
        let variance = |k: usize| pairs.values.get(k).copied().unwrap_or(0.0).max(0.0) / n as f64;
        let noise = ((total - (0..q).map(variance).sum::<f64>()) / (p - q) as f64).max(1e-3 * total / p as f64);
        let mut latent = scaled.model(&pairs, q, |k| (variance(k) - noise).max(1e-2 * variance(k)), noise);
        if self.own_noise {
            let shared = |j: usize| latent.loading(j).iter().map(|w| w * w).sum::<f64>();
            latent.noise = (0..p).map(|j| (1.0 - shared(j)).max(0.05)).collect();
        }
        Ok(latent)
    }

    fn by_descent(&self, scaled: &Scaled, start: Latent, observer: &dyn Observer) -> Result<Fitted> {
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
            let Ok(sums) = Sums::of(&latent, &scaled.points) else { return Ok(None) };
            let minus = -1.0 / scaled.cells;
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
            log_likelihood: -report.value * scaled.cells,
            curve: Vec::new(),
            iterations: report.evaluations,
            converged: report.converged(),
            gradient: report.gradient,
        })
    }

    fn by_em(&self, scaled: &Scaled, start: Latent, observer: &dyn Observer) -> Result<Fitted> {
        let (mut latent, mut curve, mut converged) = (start, Vec::new(), false);
        let mut sums = Sums::of(&latent, &scaled.points)?;
        for step in 0..self.max_iterations {
            observer.progress(Stage::Field, step as f64 / self.max_iterations as f64);
            if observer.stop() {
                break;
            }
            let next = self.em_step(&latent, &scaled.points)?;
            let found = Sums::of(&next, &scaled.points)?;
            let gain = (found.log_likelihood - sums.log_likelihood) / scaled.cells;
            (latent, sums) = (next, found);
            curve.push(sums.log_likelihood);
            if gain <= self.tolerance * (sums.log_likelihood / scaled.cells).abs() {
                converged = true;
                break;
            }
        }
        let gradient = sums.mean.iter().chain(&sums.loadings).map(|s| s / scaled.cells);
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
            let mut solved = right.clone();
            if !solve_positive_definite(&mut matrix, &mut solved) {
                return Err(Error::numerical(
                    format!("column {} is observed too rarely for its regression", j + 1),
                    "",
                ));
            }
            let explained: f64 = solved.iter().zip(&right).map(|(a, b)| a * b).sum();
            Ok((solved, square - explained, n - gone.rows[j].len()))
        })?;
        let (floor, all) = (if self.own_noise { OWN_FLOOR } else { FLOOR }, rows.iter());
        let together = all.clone().map(|row| row.1).sum::<f64>() / all.clone().map(|row| row.2 as f64).sum::<f64>();
        let noise = all.clone().map(|row| if self.own_noise { row.1 / row.2 as f64 } else { together }.max(floor));
        Ok(Latent {
            mean: all.clone().map(|row| row.0[q]).collect(),
            loadings: all.clone().flat_map(|row| row.0[..q].iter().copied()).collect(),
            noise: noise.collect(),
        })
    }
}

/// For every feature, the rows in which it is missing.
struct Gone {
    rows: Vec<Vec<usize>>,
}

impl Gone {
    fn of(points: &Points) -> Gone {
        let mut rows = vec![Vec::new(); points.cols()];
        points.missing().iter().for_each(|at| rows[at % points.cols()].push(at / points.cols()));
        Gone { rows }
    }
}

impl Scaled {
    fn new(points: &Points, own: bool) -> Result<Scaled> {
        let (n, p) = (points.rows(), points.cols());
        let gone = Gone::of(points);
        let (mut center, mut units, mut sizes, mut largest) = (vec![0.0; p], vec![0.0; p], vec![0.0; p], 0.0f64);
        for j in 0..p {
            let seen = || (0..n).filter(|i| gone.rows[j].binary_search(i).is_err()).map(|i| points.row(i)[j]);
            let count = (n - gone.rows[j].len()) as f64;
            if count == 0.0 {
                return Err(
                    Error::data(format!("column {} has no observed cell", j + 1), "leave the column out").at_column(j)
                );
            }
            center[j] = seen().map(|x| x / count).sum();
            let far = seen().fold(f64::MIN_POSITIVE, |most, x| most.max((x - center[j]).abs()));
            units[j] = far * (seen().map(|x| ((x - center[j]) / far).powi(2)).sum::<f64>() / count).sqrt();
            sizes[j] = seen().fold(0.0f64, |most, x| most.max(x.abs()));
            largest = largest.max(units[j]);
        }
        if largest <= 1e-300 {
            return Err(Error::data("all points are equal, so there is no variance to explain", "give other data"));
        }
        let mean_square = units.iter().map(|u| (u / largest).powi(2)).sum::<f64>() / p as f64;
        let whole = largest * mean_square.sqrt();
        // The variation of a constant column is rounding.
        let own_unit = |j: usize| own && units[j] > 1e-14 * sizes[j];
        let units: Vec<f64> = (0..p).map(|j| if own_unit(j) { units[j] } else { whole }).collect();
        let values = (0..n * p).map(|at| (points.values()[at] - center[at % p]) / units[at % p]).collect();
        let missing = points.missing();
        let mut values: Vec<f64> = values;
        missing.iter().for_each(|&at| values[at] = f64::NAN);
        let cells = (n * p - missing.len()) as f64;
        let mut points = Points::with_missing(n, p, values)?;
        if !missing.is_empty() {
            points = points.with_guesses(&vec![0.0; missing.len()])?;
        }
        Ok(Scaled { points, center, units, cells })
    }

    /// W = U s^½ with the eigenvectors U = X̃ᵀ v / √λ of the covariance.
    fn model(&self, pairs: &Eigenpairs, q: usize, signal: impl Fn(usize) -> f64, noise: f64) -> Latent {
        let (n, p) = (self.points.rows(), self.points.cols());
        let mut loadings = vec![0.0; p * q];
        for k in 0..q.min(pairs.values.len()) {
            let long = (signal(k) / pairs.values[k].max(f64::MIN_POSITIVE)).sqrt();
            for i in 0..n {
                let v = long * pairs.vectors[(i, k)];
                self.points.row(i).iter().enumerate().for_each(|(j, x)| loadings[j * q + k] += x * v);
            }
        }
        Latent { mean: vec![0.0; p], loadings, noise: vec![noise; p] }
    }

    fn in_units(&self, latent: Latent) -> Latent {
        let q = latent.dims();
        let mean = latent.mean.iter().zip(&self.center).zip(&self.units).map(|((m, c), unit)| c + m * unit);
        let loadings = latent.loadings.iter().enumerate().map(|(at, w)| w * self.units[at / q]);
        let noise = latent.noise.iter().zip(&self.units).map(|(psi, unit)| psi * unit * unit);
        Latent { mean: mean.collect(), loadings: loadings.collect(), noise: noise.collect() }
    }
}

/// The log likelihood of all rows, and its gradient.
pub(super) struct Sums {
    pub(super) log_likelihood: f64,
    pub(super) mean: Vec<f64>,
    pub(super) loadings: Vec<f64>,
    /// With respect to log ψ.
    pub(super) noise: Vec<f64>,
    /// Σ C[i] over all rows, and for every feature over the rows that miss it.
    spread: Vec<f64>,
    unseen: Vec<f64>,
}

impl Sums {
    fn zero(p: usize, q: usize, missing: bool) -> Sums {
        let unseen = vec![0.0; if missing { p * q * q } else { 0 }];
        let (mean, loadings, noise) = (vec![0.0; p], vec![0.0; p * q], vec![0.0; p]);
        Sums { log_likelihood: 0.0, mean, loadings, noise, spread: vec![0.0; q * q], unseen }
    }

    pub(super) fn of(latent: &Latent, points: &Points) -> Result<Sums> {
        let (n, p, q) = (points.rows(), latent.mean.len(), latent.dims());
        let whole = latent.observing_all()?;
        let missing = !points.missing().is_empty();
        let rows = ROWS.max(n.div_ceil(CHUNKS));
        let parts = parallel::try_collect(n.div_ceil(rows), |chunk| {
            let mut sums = Sums::zero(p, q, missing);
            for i in chunk * rows..((chunk + 1) * rows).min(n) {
                sums.add(latent, points, i, &whole)?;
            }
            Ok::<Sums, Error>(sums)
        })?;
        let mut all = Sums::zero(p, q, missing);
        for part in &parts {
            all.log_likelihood += part.log_likelihood;
            let sums = [
                (&mut all.mean, &part.mean),
                (&mut all.loadings, &part.loadings),
                (&mut all.noise, &part.noise),
                (&mut all.spread, &part.spread),
                (&mut all.unseen, &part.unseen),
            ];
            for (sum, part) in sums {
                sum.iter_mut().zip(part).for_each(|(sum, s)| *sum += s);
            }
        }
        // The contribution of the covariances C, for all rows of a feature together.
        for j in 0..p {
            let (w, psi) = (latent.loading(j), latent.noise[j]);
            for a in 0..q {
                let less = |at: usize| all.unseen.get(j * q * q + at).copied().unwrap_or(0.0);
                let along: f64 = (0..q).map(|b| (all.spread[a * q + b] - less(a * q + b)) * w[b]).sum();
                all.loadings[j * q + a] -= along / psi;
                all.noise[j] += 0.5 * w[a] * along / psi;
            }
        }
        Ok(all)
    }

    /// Adds the terms of row `i`.
    fn add(&mut self, latent: &Latent, points: &Points, i: usize, whole: &Observed) -> Result<()> {
        let q = latent.dims();
        let part;
        let mut observed = whole;
        let gone = points.missing_of(i);
        if gone.clone().next().is_some() {
            part = latent.observing_of(points, i, whole)?;
            observed = &part;
        }
        let row = points.row(i);
        let (m, log_density) = latent.mean_and_density(row, observed);
        self.log_likelihood += log_density;
        let c = |at: usize| observed.covariance[(at / q, at % q)];
        self.spread.iter_mut().enumerate().for_each(|(at, sum)| *sum += c(at));
        for j in gone {
            self.unseen[j * q * q..(j + 1) * q * q].iter_mut().enumerate().for_each(|(at, sum)| *sum += c(at));
        }
        for &j in &observed.features {
            let (w, psi) = (latent.loading(j), latent.noise[j]);
            let r = row[j] - latent.mean[j] - w.iter().zip(&m).map(|(w, m)| w * m).sum::<f64>();
            let weighted = r / psi;
            self.loadings[j * q..(j + 1) * q].iter_mut().zip(&m).for_each(|(sum, m)| *sum += weighted * m);
            self.mean[j] += weighted;
            self.noise[j] += 0.5 * (r * weighted - 1.0);
        }
        Ok(())
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

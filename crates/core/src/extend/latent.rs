//! A linear latent model: every feature is a linear function of a few latent coordinates, plus independent noise.
//!
//! ```text
//! x = μ + W z + ε,   z ~ N(0, I),   ε ~ N(0, Ψ),   Ψ diagonal
//! z given the observed features o:   C = (I + W[o]ᵀΨ[o]⁻¹W[o])⁻¹,   m = C W[o]ᵀΨ[o]⁻¹(x[o] − μ[o])
//! ```
//!
//! A point is embedded at m, the posterior mean of its latent coordinates; C is their posterior covariance. Features
//! that were not observed are integrated out.
//!
//! M. E. Tipping, C. M. Bishop. Probabilistic principal component analysis. Journal of the Royal Statistical Society B 61,
//! 1999. D. B. Rubin, D. T. Thayer. EM algorithms for ML factor analysis. Psychometrika 47, 1982.

use super::checks::{all_finite, is_positive};
use super::linear::far_from;
use super::{Extension, Inverse, Known, Sizes, Traits, TransformFn, Transformed};
use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// A linear latent model of p features and q latent coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latent {
    /// μ.
    pub mean: Vec<f64>,
    /// W, one row per feature.
    pub loadings: Vec<f64>,
    /// The diagonal of Ψ.
    pub noise: Vec<f64>,
}

/// The posterior of the latent coordinates of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// m.
    pub mean: Vec<f64>,
    /// C, row after row.
    pub covariance: Vec<f64>,
    /// The log density of the observed features of the row; zero if there are none.
    pub log_density: f64,
}

/// The part of the posterior that does not depend on the values.
pub(crate) struct Observed {
    /// The features, ascending.
    pub(crate) features: Vec<usize>,
    /// C⁻¹, its lower triangle.
    precision: Mat<f64>,
    /// C.
    pub(crate) covariance: Mat<f64>,
    /// log det C⁻¹ + Σ log ψ + d log 2π over the d observed features.
    pub(crate) log_det: f64,
}

impl Latent {
    /// q.
    pub(crate) fn dims(&self) -> usize {
        self.loadings.len() / self.mean.len()
    }

    /// The row of W of a feature.
    pub(crate) fn loading(&self, feature: usize) -> &[f64] {
        let q = self.dims();
        &self.loadings[feature * q..(feature + 1) * q]
    }

    /// The posterior if every feature is observed.
    pub(crate) fn observing_all(&self) -> Result<Observed> {
        let precision = Mat::identity(self.dims(), self.dims());
        self.observing((0..self.mean.len()).collect(), self.with(precision, 0..self.mean.len(), 1.0))
    }

    /// The posterior if the features of point `i` that are not missing are observed; `whole` is that of all features.
    /// The missing ones are subtracted from it, unless they are the majority.
    pub(crate) fn observing_of(&self, points: &Points, i: usize, whole: &Observed) -> Result<Observed> {
        self.observing_some(Latent::observed_of(points, i), points.missing_of(i), whole)
    }

    /// The same for a row of which these features are observed and those are missing.
    pub(crate) fn observing_some(
        &self,
        features: Vec<usize>,
        missing: impl Iterator<Item = usize>,
        whole: &Observed,
    ) -> Result<Observed> {
        let precision = if 2 * features.len() > self.mean.len() {
            self.with(whole.precision.clone(), missing, -1.0)
        } else {
            self.with(Mat::identity(self.dims(), self.dims()), features.iter().copied(), 1.0)
        };
        self.observing(features, precision)
    }

    /// A precision with wᵀw / ψ of some features added this many times.
    fn with(&self, mut precision: Mat<f64>, features: impl Iterator<Item = usize>, times: f64) -> Mat<f64> {
        for j in features {
            let w = self.loading(j);
            for (a, w_a) in w.iter().enumerate() {
                let scaled = times * w_a / self.noise[j];
                w[..=a].iter().enumerate().for_each(|(b, w_b)| precision[(a, b)] += scaled * w_b);
            }
        }
        precision
    }

    /// The posterior if these features are observed; the lower triangle of C⁻¹ is given.
    fn observing(&self, features: Vec<usize>, precision: Mat<f64>) -> Result<Observed> {
        let q = self.dims();
        let log_det: f64 = features.iter().map(|&j| (std::f64::consts::TAU * self.noise[j]).ln()).sum();
        let singular =
            || Error::numerical("the noise variance of a feature is too small relative to its shared variance", "");
        let mut factor = Positive::factor(precision.clone()).ok_or_else(singular)?;
        let log_det = log_det + factor.log_det();
        let lower = factor.inverse();
        let covariance = Mat::from_fn(q, q, |a, b| lower[(a.max(b), a.min(b))]);
        Ok(Observed { features, precision, covariance, log_det })
    }

    /// m and the log density of a row with these observed features.
    pub(crate) fn mean_and_density(&self, row: &[f64], observed: &Observed) -> (Vec<f64>, f64) {
        let q = self.dims();
        let (mut along, mut square) = (vec![0.0; q], 0.0);
        for &j in &observed.features {
            let off = row[j] - self.mean[j];
            let weighted = off / self.noise[j];
            square += off * weighted;
            along.iter_mut().zip(self.loading(j)).for_each(|(sum, w)| *sum += w * weighted);
        }
        let c = &observed.covariance;
        let mean: Vec<f64> = (0..q).map(|a| (0..q).map(|b| c[(a, b)] * along[b]).sum()).collect();
        let explained: f64 = mean.iter().zip(&along).map(|(m, b)| m * b).sum();
        (mean, -0.5 * (observed.log_det + square - explained))
    }

    /// The observed features of point `i`.
    pub(crate) fn observed_of(points: &Points, i: usize) -> Vec<usize> {
        let gone: Vec<usize> = points.missing_of(i).collect();
        (0..points.cols()).filter(|j| gone.binary_search(j).is_err()).collect()
    }

    /// The posterior of every row, with missing cells integrated out.
    ///
    /// # Errors
    ///
    /// If the rows do not have the model's features.
    pub fn posteriors(&self, points: &Points) -> Result<Vec<Posterior>> {
        if points.cols() != self.mean.len() {
            let (given, wanted) = (points.cols(), self.mean.len());
            return Err(Error::mismatch(
                "columns",
                (given, wanted),
                format!("the rows have {given} columns and the model has {wanted} features"),
                "",
            ));
        }
        let whole = self.observing_all()?;
        let flat = |c: &Mat<f64>| (0..c.nrows()).flat_map(|a| (0..c.ncols()).map(move |b| c[(a, b)])).collect();
        parallel::try_collect(points.rows(), |i| {
            let part;
            let mut observed = &whole;
            if points.missing_of(i).next().is_some() {
                part = self.observing_of(points, i, &whole)?;
                observed = &part;
            }
            let (mean, log_density) = self.mean_and_density(points.row(i), observed);
            Ok(Posterior { mean, covariance: flat(&observed.covariance), log_density })
        })
    }

    /// The value and the standard deviation of every missing feature of a row, given the observed ones: μ[j] + W[j] m
    /// and √(ψ[j] + W[j] C W[j]ᵀ), in the order of the columns.
    pub(crate) fn guesses<'a>(
        &'a self,
        missing: impl Iterator<Item = usize> + 'a,
        posterior: &'a Posterior,
    ) -> impl Iterator<Item = (f64, f64)> + 'a {
        let q = self.dims();
        missing.map(move |j| {
            let w = self.loading(j);
            let value = self.mean[j] + w.iter().zip(&posterior.mean).map(|(w, m)| w * m).sum::<f64>();
            let along = |a: usize| (0..q).map(|b| posterior.covariance[a * q + b] * w[b]).sum::<f64>();
            (value, (self.noise[j] + (0..q).map(|a| w[a] * along(a)).sum::<f64>()).sqrt())
        })
    }

    /// The rows with missing cells replaced by their expectations, and the standard deviations of these, in the order
    /// of [`Points::missing`].
    ///
    /// # Errors
    ///
    /// If the rows do not have the model's features.
    pub fn complete(&self, points: &Points) -> Result<(Points, Vec<f64>)> {
        let posteriors = self.posteriors(points)?;
        let of_row = |i: usize| self.guesses(points.missing_of(i), &posteriors[i]).collect::<Vec<_>>();
        let found = parallel::collect(points.rows(), of_row).concat();
        let guesses: Vec<f64> = found.iter().map(|&(guess, _)| guess).collect();
        Ok((points.with_guesses(&guesses)?, found.into_iter().map(|(_, deviation)| deviation).collect()))
    }

    /// The linear inverse transform at an embedding point m: the mean of rows with these posterior means, and the
    /// standard deviations of their entries,
    ///
    /// ```text
    /// E[x | m] = μ + W (I − C)⁻¹ m,   var[x | m] = Ψ + W Wᵀ − W (I − C)⁻¹ Wᵀ
    /// ```
    ///
    /// since cov(x, m) = W and cov(m) = I − C. It returns W (I − C)⁻¹, one row per feature, and the standard deviations.
    pub(crate) fn back(&self) -> Result<(Vec<f64>, Vec<f64>)> {
        let q = self.dims();
        let c = self.observing_all()?.covariance;
        let spread = Mat::from_fn(q, q, |a, b| f64::from(u8::from(a == b)) - c[(a, b)]);
        let (values, vectors) = eigenfold_linalg::dense::symmetric_eigen(spread.as_ref())?;
        // A coordinate without loadings is always zero, and is ignored.
        let inverse = |value: f64| if value > 1e-12 { 1.0 / value } else { 0.0 };
        let inverted =
            |a: usize, b: usize| (0..q).map(|k| vectors[(a, k)] * inverse(values[k]) * vectors[(b, k)]).sum::<f64>();
        let (mut axes, mut deviations) = (Vec::with_capacity(self.loadings.len()), Vec::new());
        for (j, psi) in self.noise.iter().enumerate() {
            let w = self.loading(j);
            let axis: Vec<f64> = (0..q).map(|b| (0..q).map(|a| w[a] * inverted(a, b)).sum()).collect();
            let rest: f64 = w.iter().zip(&axis).map(|(w, axis)| w * (w - axis)).sum();
            deviations.push((psi + rest).max(0.0).sqrt());
            axes.extend(axis);
        }
        Ok((axes, deviations))
    }

    pub(super) fn inverse(&self) -> Result<Inverse<'_>> {
        let (axes, deviations) = self.back()?;
        Ok(Inverse::Linear { mean: &self.mean, axes, deviations: Some(deviations) })
    }
}

impl Extension for Latent {
    fn traits(&self) -> Traits {
        Traits::OF_FEATURES
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let fitting = [self.mean.len(), self.noise.len()] == [sizes.features; 2]
            && sizes.features.checked_mul(sizes.dims) == Some(self.loadings.len());
        fitting
            && all_finite(&self.mean)
            && all_finite(&self.loadings)
            && self.noise.iter().all(|&psi| is_positive(psi))
    }

    fn prepare<'a>(&'a self, _known: Known<'a>) -> Result<TransformFn<'a>> {
        let mean = |posterior: Posterior| posterior.mean;
        Ok(Box::new(move |batch| Ok(self.posteriors(batch.rows)?.into_iter().map(mean).collect())))
    }

    fn place(&self, known: &Known<'_>, new: &Points) -> Result<Option<Transformed>> {
        let posteriors = self.posteriors(new)?;
        let means = posteriors.iter().flat_map(|posterior| posterior.mean.iter().copied()).collect();
        let coordinates = Points::computed(new.rows(), known.map.cols(), means)?;
        Ok(Some(Transformed { coordinates, far: far_from(&self.mean, known, new), deviations: None }))
    }
}

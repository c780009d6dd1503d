//! The maximum-likelihood latent model of rows that are elsewhere, some of whose cells may be missing: every evaluation of
//! the likelihood is one pass over the rows, and adds up one vector of terms per row.
//!
//! A row's terms are its log density and its part of the gradients of [`fit`](super::fit), of row i with the observed
//! features o, with m, C and r as there:
//!
//! ```text
//! log p(x[o]);   r[j] / ψ[j];   (r[j] m − C W[j]ᵀ) / ψ[j];   ½ ((r[j]² + W[j] C W[j]ᵀ) / ψ[j] − 1)        j in o, else 0
//! ```
//!
//! They depend on the row and on the model alone, so that an exact sum of them does not depend on how the rows are divided.

use super::covariance::Covariance;
use super::fit::{Fit, Fitted};
use super::scaled::Units;
use super::sums::Sums;
use crate::extend::{Latent, Observed};
use crate::input::moments::IncompleteMoments;
use crate::preparation::Prepared;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;
use serde::{Deserialize, Serialize};

/// The sums of the terms of all rows: one pass over them.
pub type Pass<'a> = dyn FnMut(&RowTerms) -> Result<Vec<f64>> + 'a;

/// The terms of rows under a latent model: what a pass over rows that are elsewhere adds up
/// ([`Recipe::fit_by_passes`](crate::Recipe::fit_by_passes)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowTerms {
    /// What is subtracted from every column, and what divides it then.
    center: Vec<f64>,
    units: Vec<f64>,
    /// The model of the columns after that.
    latent: Latent,
}

impl RowTerms {
    /// Of rows as they are before they are prepared: (x − c) / s for the prepared columns, then the units of the fit.
    pub(super) fn new(units: &Units, prepared: Option<&Prepared>, latent: Latent) -> RowTerms {
        let column = |j: usize| prepared.map_or((0.0, 1.0), |p| (p.columns()[j].center, p.columns()[j].scale));
        let center = |j: usize| column(j).0 + column(j).1 * units.center[j];
        let unit = |j: usize| column(j).1 * units.units[j];
        let all = 0..units.units.len();
        RowTerms { center: all.clone().map(center).collect(), units: all.map(unit).collect(), latent }
    }

    /// The number of terms of a row: 2 p + p q + 1.
    pub fn count(&self) -> usize {
        1 + 2 * self.latent.mean.len() + self.latent.loadings.len()
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.latent.mean.len()
    }

    /// The terms of rows, row after row. The values are row after row too, after the logarithm of the recipe if there is
    /// one ([`Preparation::logarithms`](crate::Preparation::logarithms)), and cells that were not observed are NaN.
    ///
    /// # Errors
    ///
    /// If the values are not complete rows, or a value is infinite.
    pub fn of(&self, values: &[f64]) -> Result<Vec<f64>> {
        let p = self.cols();
        if !values.len().is_multiple_of(p) {
            let fact = format!("{} values do not fill rows of {p} columns", values.len());
            return Err(Error::mismatch("values", (values.len(), p), fact, "give complete rows"));
        }
        if let Some(at) = values.iter().position(|x| x.is_infinite()) {
            let fact = format!("row {}, column {} is infinite", at / p + 1, at % p + 1);
            return Err(Error::data(fact, "correct the cell").at_row(at / p).at_column(at % p));
        }
        let whole = self.latent.observing_all()?;
        let every: Vec<usize> = (0..p).collect();
        let spread = self.spread(&every, &whole);
        let mut terms = Vec::with_capacity(values.len() / p * self.count());
        let mut row = vec![0.0; p];
        for values in values.chunks_exact(p) {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = (values[j] - self.center[j]) / self.units[j]);
            self.add(&row, (&whole, &spread), &mut terms)?;
        }
        Ok(terms)
    }

    /// C W[j]ᵀ of some features, one after the other.
    fn spread(&self, features: &[usize], observed: &Observed) -> Vec<f64> {
        let q = self.latent.dims();
        let along = |j: usize, a: usize| {
            self.latent.loading(j).iter().enumerate().map(|(b, w)| observed.covariance[(a, b)] * w).sum()
        };
        features.iter().flat_map(|&j| (0..q).map(move |a| along(j, a))).collect()
    }

    /// Adds the terms of one row; `whole` is what holds if no cell is missing.
    fn add(&self, row: &[f64], whole: (&Observed, &[f64]), terms: &mut Vec<f64>) -> Result<()> {
        let (latent, first) = (&self.latent, terms.len());
        let (p, q) = (latent.mean.len(), latent.dims());
        let (missing, features): (Vec<usize>, Vec<usize>) = (0..p).partition(|&j| row[j].is_nan());
        let part;
        let (mut observed, mut spread) = whole;
        if !missing.is_empty() {
            let some = latent.observing_some(features, missing.into_iter(), whole.0)?;
            part = (self.spread(&some.features, &some), some);
            (spread, observed) = (&part.0, &part.1);
        }
        let (m, log_density) = latent.mean_and_density(row, observed);
        terms.resize(first + self.count(), 0.0);
        let (density, rest) = terms[first..].split_at_mut(1);
        let (mean, rest) = rest.split_at_mut(p);
        let (loadings, noise) = rest.split_at_mut(p * q);
        density[0] = log_density;
        for (&j, along) in observed.features.iter().zip(spread.chunks_exact(q)) {
            let (w, psi) = (latent.loading(j), latent.noise[j]);
            let r = row[j] - latent.mean[j] - w.iter().zip(&m).map(|(w, m)| w * m).sum::<f64>();
            let uncertain: f64 = w.iter().zip(along).map(|(w, along)| w * along).sum();
            for (a, along) in along.iter().enumerate() {
                loadings[j * q + a] = (r * m[a] - along) / psi;
            }
            mean[j] = r / psi;
            noise[j] = 0.5 * ((r * r + uncertain) / psi - 1.0);
        }
        Ok(())
    }

    /// The bytes of the model, for the processes that have the rows.
    ///
    /// # Errors
    ///
    /// If there is no memory for them.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let failed = |error| Error::numerical(format!("the latent model could not be encoded ({error})"), "");
        postcard::to_extend(self, Vec::new()).map_err(failed)
    }

    /// The model of these bytes.
    ///
    /// # Errors
    ///
    /// If they are not those of a model.
    pub fn from_bytes(bytes: &[u8]) -> Result<RowTerms> {
        let damaged = || Error::data("the bytes are not those of a latent model", "pass them on as they were given");
        let terms: RowTerms = postcard::from_bytes(bytes).map_err(|_| damaged())?;
        if terms.is_sound() { Ok(terms) } else { Err(damaged()) }
    }

    /// Whether sizes and numbers are those of a model.
    fn is_sound(&self) -> bool {
        let RowTerms { center, units, latent } = self;
        let p = center.len();
        let numbers = [center, units, &latent.mean, &latent.loadings, &latent.noise];
        p > 0
            && [units.len(), latent.mean.len(), latent.noise.len()] == [p; 3]
            && latent.loadings.len() >= p
            && latent.loadings.len().is_multiple_of(p)
            && numbers.into_iter().flatten().all(|x| x.is_finite())
            && units.iter().chain(&latent.noise).all(|&x| x > 0.0)
    }

    /// The sums as those of [`Sums::of`]; nothing if one of them is not finite.
    pub(super) fn sums(&self, found: &[f64]) -> Result<Option<Sums>> {
        let (p, all) = (self.cols(), self.count());
        if found.len() != all {
            let fact = format!("a pass gave {} sums, and a row has {all} terms", found.len());
            return Err(Error::mismatch("values", (found.len(), all), fact, "add the terms of all rows"));
        }
        let noise = found[all - p..].to_vec();
        let (mean, loadings) = (found[1..=p].to_vec(), found[1 + p..all - p].to_vec());
        let finite = found.iter().all(|x| x.is_finite());
        Ok(finite.then_some(Sums { log_likelihood: found[0], mean, loadings, noise }))
    }
}

impl Fit {
    /// [`Fit::of`] for rows that are elsewhere, by passes over them. The rows are those of the moments before they were
    /// prepared.
    ///
    /// # Errors
    ///
    /// As [`Fit::of`], if a pass fails, or if EM is asked for.
    pub(crate) fn by_passes(
        &self,
        given: &IncompleteMoments,
        prepared: Option<&Prepared>,
        pass: &mut Pass<'_>,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        if self.em {
            let fact = "`solver` em adds up a matrix for every column in each of its many passes";
            return Err(Error::inapplicable("solver", fact, "use `solver` direct"));
        }
        let covariance = Covariance::new(&given.moments, &given.variances(), self.own_noise)?;
        let start = self.start_of(&covariance, observer)?;
        let units = &covariance.units;
        let cells: f64 = given.counts.iter().map(|&count| count as f64).sum();
        let mut sums = |latent: &Latent| {
            let terms = RowTerms::new(units, prepared, latent.clone());
            if !terms.is_sound() || latent.observing_all().is_err() {
                return Ok(None);
            }
            terms.sums(&pass(&terms)?)
        };
        let fitted = self.by_descent(cells, &mut sums, start, observer)?;
        let shift = given.counts.iter().zip(&units.units).map(|(&count, unit)| count as f64 * unit.ln()).sum();
        Ok(fitted.in_units(units, shift))
    }
}

//! Nyström extension: the eigen-equation of a weighted graph, solved for the new point, y = Σⱼ w[j] y[j] / Σⱼ w[j] (1 −
//! λ).
//!
//! Y. Bengio, J.-F. Paiement, P. Vincent et al. Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral
//! clustering. NIPS 16, 2004.

use super::checks::is_positive;
use super::{Extension, Known, Newcomer, Sizes, Traits, TransformFn};
use crate::kernel::heat::Widths;
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// The weights of a new point, and the eigenproblem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Nystrom {
    /// The widths of the heat kernel; all weights are one if absent.
    pub(crate) widths: Option<Widths>,
    /// The factors by which the density of each training point is divided out.
    pub(crate) density: Option<Vec<f64>>,
    /// The eigenproblem.
    pub(crate) form: Form,
}

/// An eigenproblem of a weighted graph. A new point has only the weights of its own list; `added` is the mean ratio of
/// all weights to those of the own list over the training points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Form {
    /// L y = λ D y.
    Normalized,
    /// The same, with the coordinates u = D^½ y.
    Symmetric {
        /// D of the training points.
        degrees: Vec<f64>,
        /// All weights over those of a point's own list.
        added: f64,
    },
    /// L y = λ y.
    Unnormalized {
        /// All weights over those of a point's own list.
        added: f64,
    },
}

impl Extension for Nystrom {
    fn traits(&self) -> Traits {
        Traits { needs_points: false, ..Traits::OF_NEIGHBORS }
    }

    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>> {
        Ok(Box::new(move |batch| Ok(batch.each(|new| self.row(&known, new)))))
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let rows = sizes.rows;
        let all_positive = |list: &[f64]| list.len() == rows && list.iter().all(|&value| is_positive(value));
        let form = match &self.form {
            Form::Normalized => true,
            Form::Symmetric { degrees, added } => all_positive(degrees) && is_positive(*added),
            Form::Unnormalized { added } => is_positive(*added),
        };
        self.widths.as_ref().is_none_or(|widths| widths.fits(rows))
            && self.density.as_deref().is_none_or(all_positive)
            && form
            && sizes.eigenvalues == sizes.dims
    }
}

impl Nystrom {
    fn row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        let exponents = match &self.widths {
            Some(widths) => widths.exponents(new.near, new.lengths),
            None => vec![0.0; new.near.len()],
        };
        // Relative to the largest, so that weights far from all data do not vanish.
        let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let full: Vec<f64> = exponents.iter().map(|exponent| (exponent - largest).exp()).collect();
        let density = |j: u32| self.density.as_ref().map_or(1.0, |density| density[j as usize]);
        let mut weights: Vec<f64> = full
            .iter()
            .zip(new.shares)
            .zip(new.near)
            .map(|((weight, share), &j)| share * weight * density(j))
            .collect();
        let total: f64 = weights.iter().sum();
        // The degree counts the neighbors in full: where one replaces another they weigh the same.
        let degree: f64 = full.iter().sum();
        let heat = largest.exp().max(f64::MIN_POSITIVE);
        let whole = |added: f64| added * degree * heat;
        let mut root = 1.0;
        if let Form::Symmetric { degrees, added } = &self.form {
            weights.iter_mut().zip(new.near).for_each(|(weight, &j)| *weight /= degrees[j as usize].sqrt());
            root = whole(*added).sqrt();
        }
        known.mean_of(new.near, &weights, |q, sum| {
            let lambda = known.eigenvalues[q];
            let drag = match &self.form {
                Form::Normalized | Form::Symmetric { .. } => lambda,
                Form::Unnormalized { added } => lambda / whole(*added),
            };
            // Beyond half a wavelength the equation is not applicable; the plain mean is used.
            root * sum / total / if drag < 0.5 { 1.0 - drag } else { 1.0 }
        })
    }
}

//! Out-of-sample extension: every method embeds new points, row by row, by the rule that follows from its definition.
//!
//! A row that equals a training row gets that row's coordinates (those of the first such row, if there are several).
//!
//! | rule | methods | the coordinates of a new point x |
//! |---|---|---|
//! | `Linear` | pca, mds of points | `(x − x̄) U` |
//! | `Gower` | mds, kernel-pca, isomap, ppco, pkpca | `½ Σᵢ (r[i] − δ²[i]) y[i] / λ`, δ the distances from x (Gower 1968) |
//! | `Features` | ppco, pkpca with landmarks | `Σⱼ k(x, z[j]) a[j] − b`, z the landmarks |
//! | `Latent` | ppca, fa | `E[z | x]`, its latent coordinates given what was observed of it |
//! | `Barycenter` | lle, modified-lle, alle, meu, mvu, drill | `Σⱼ w[j] y[j]`, w the weights that reconstruct x from
//! its neighbors |
//! | `Tangent` | ltsa, hessian-lle | the affine map of the neighbors' tangent space that fits their coordinates |
//! | `Nystrom` | laplacian-eigenmaps, diffusion-maps | `Σⱼ w[j] y[j] / Σⱼ w[j] (1 − λ)`, its own eigen-equation (Nyström) |
//! | `Process` | gplvm | where its row is most likely, given the rows and the positions of all training points |
//! | `OnLine` | gplvm with the kernel ou | where on the line its row is most likely, given the rows on both sides |
//! | `Attracted` | tsne, sne, symmetric-sne, umap, elastic | `argmin` of the objective with all other points fixed |
//! | `Stress` | smacof, sammon | `argmin Σᵢ w[i] (δ[i] − ‖y − y[i]‖)²`, the objective with all other points fixed |
//!
//! A rule is one file with one implementation of [`Extension`], and one word in the list of `rule.rs`.

mod attracted;
mod barycenter;
mod batches;
mod checks;
mod features;
mod gower;
mod homes;
mod latent;
mod linear;
mod nystrom;
mod on_line;
mod process;
mod reference;
mod rule;
mod standard_deviation;
mod stress;
mod tangent;
mod taper;

pub(crate) use attracted::{AffinityRule, Attracted, RepulsionForm};
pub(crate) use barycenter::Barycenter;
pub use batches::{Batch, Newcomer};
pub(crate) use features::Features;
pub(crate) use gower::Gower;
pub(crate) use latent::Observed;
pub use latent::{Latent, Posterior};
pub(crate) use linear::Linear;
pub(crate) use nystrom::{Form, Nystrom};
pub(crate) use on_line::OnLine;
pub(crate) use process::{Mapping, Process};
pub(crate) use reference::{Away, Measure};
pub use rule::Rule;
pub(crate) use stress::Stress;
pub(crate) use tangent::Tangent;

use crate::coordinates::Map;
use crate::input::Data;
use eigenfold_graph::Metric;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// The number of training points whose neighbor distances are sampled.
const SAMPLED: usize = 256;
/// A new point is far if it is beyond this many times the usual distance among the training points.
const FAR: f64 = 2.0;
/// The number of training rows that are embedded anew if each requires an optimization.
const DESCENTS: usize = 300;

/// New points on a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Transformed {
    /// Their coordinates, one row per new row.
    pub coordinates: Points,
    /// The rows that are far from all training points: their coordinates are extrapolated and unreliable.
    ///
    /// A row is far if the standard deviation of a Gaussian field over the data, given the neighbors, (Σ t/d²)^−½, is
    /// more than twice the 95 % quantile over training points, each left out; for linear maps, if it is more than twice
    /// as far from the mean as any training point.
    pub far: Vec<usize>,
    /// The standard deviation of every coordinate, if it was requested ([`Model::transform_with_std`](crate::Model))
    /// and the rule has one: 68 % of training rows embedded by the others miss their own coordinates by no more. It
    /// covers the error of the extension on this map, not how much the map itself would change with the new rows
    /// (docs/transform.md).
    pub deviations: Option<Points>,
}

/// The training data of a rule.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Their features and the metric; if absent, new rows hold distances to all of them.
    pub points: Option<(&'a Points, Metric)>,
    /// How many neighbors a new point gets.
    pub k: usize,
    /// Their coordinates.
    pub map: &'a Points,
    /// The eigenvalues of the coordinates, if they are eigenvectors.
    pub eigenvalues: &'a [f64],
    /// The radius of the graph, if it was built by one: no new point has a neighbor beyond it.
    pub radius: Option<f64>,
}

/// The sizes of the model that a rule belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The training points.
    pub rows: usize,
    /// Their features; 0 if there are none.
    pub features: usize,
    /// The coordinates.
    pub dims: usize,
    /// The eigenvalues of the coordinates.
    pub eigenvalues: usize,
}

/// What a rule depends on.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// Whether it needs the features of the training points.
    pub needs_points: bool,
    /// Whether it depends on the metric: kernels, processes and linear maps do not.
    pub uses_metric: bool,
    /// Whether a training row that is embedded by the others may differ from its own coordinates.
    pub uses_others: bool,
    /// Whether every row requires an optimization.
    pub optimizes: bool,
    /// Whether it is corrected near training points (`batches.rs`). The other rules interpolate by themselves, or minimize
    /// an objective that need not be continuous.
    pub corrected: bool,
}

impl Traits {
    /// Of a rule that embeds a point by its neighbors.
    pub const OF_NEIGHBORS: Traits =
        Traits { needs_points: true, uses_metric: true, uses_others: true, optimizes: false, corrected: true };
    /// Of a rule that embeds a point by distances alone.
    pub const OF_DISTANCES: Traits = Traits { needs_points: false, corrected: false, ..Traits::OF_NEIGHBORS };
    /// Of a function of the features.
    pub const OF_FEATURES: Traits =
        Traits { uses_metric: false, uses_others: false, corrected: false, ..Traits::OF_NEIGHBORS };
}

/// The coordinates of every row of a batch, from what was prepared for all batches.
pub type TransformFn<'a> = Box<dyn Fn(&Batch<'_>) -> Result<Vec<Vec<f64>>> + 'a>;

/// How the inverse transform of a rule is found.
pub(crate) enum Inverse<'a> {
    /// By kriging, whatever the rule is.
    Kriging,
    /// x̄ + U y, with the standard deviations of the model, or those of its residuals.
    Linear { mean: &'a [f64], axes: Vec<f64>, deviations: Option<Vec<f64>> },
    /// By the process over the map.
    Process(&'a Process),
    /// By the process along the line.
    OnLine(&'a OnLine),
}

/// How a fitted method embeds new points.
pub trait Extension: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// What the rule depends on.
    fn traits(&self) -> Traits;

    /// Prepares for any number of new rows.
    ///
    /// # Errors
    ///
    /// If the training data do not have what the rule needs.
    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>>;

    /// Whether the numbers of the rule are valid in a model of these sizes; what is read from a file is checked by it.
    fn fits(&self, sizes: Sizes) -> bool {
        let _ = sizes;
        true
    }

    /// All new rows at once, for a rule that does without their neighbors.
    ///
    /// # Errors
    ///
    /// If the rows are not those of the rule.
    fn place(&self, known: &Known<'_>, new: &Points) -> Result<Option<Transformed>> {
        let _ = (known, new);
        Ok(None)
    }

    /// The training points that may be neighbors; all if absent.
    fn candidates(&self) -> Option<&[u32]> {
        None
    }

    /// Learns what is not known before the coordinates are.
    fn learn(&mut self, data: Data<'_>, map: &Map) {
        let _ = (data, map);
    }

    /// The coordinates of all training points from those of the landmarks, if the rule measures from landmarks; by
    /// their geodesics if these are known.
    ///
    /// # Errors
    ///
    /// If the points cannot be placed.
    fn place_all(
        &self,
        known: &Known<'_>,
        data: Data<'_>,
        geodesics: Option<LandmarkGeodesics>,
    ) -> Result<Option<Points>> {
        let _ = (known, data, geodesics);
        Ok(None)
    }

    /// The standard deviations of new rows by the density of the rule, where it has one; those of other rules are found
    /// by leaving training rows out (`standard_deviation.rs`).
    ///
    /// # Errors
    ///
    /// If the training data do not have what the rule needs.
    fn own_deviations(&self, known: &Known<'_>, new: &Points, placed: &Points) -> Result<Option<Points>> {
        let _ = (known, new, placed);
        Ok(None)
    }
}

/// A rule from outside of this library.
#[derive(Clone, Debug)]
pub struct Own(Arc<dyn Extension>);

impl Own {
    fn new(rule: impl Extension + 'static) -> Own {
        Own(Arc::new(rule))
    }

    fn inner(&self) -> &dyn Extension {
        self.0.as_ref()
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Extension> {
        Arc::get_mut(&mut self.0).map(|rule| rule as &mut dyn Extension)
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Rule {
    pub(crate) fn traits(&self) -> Traits {
        self.inner().traits()
    }

    /// The coordinates of new rows.
    pub(crate) fn place(&self, known: &Known<'_>, new: &Points) -> Result<Transformed> {
        let rule = self.inner();
        match rule.place(known, new)? {
            Some(placed) => Ok(placed),
            None => known.among(rule.candidates(), |known| batches::place_rows(rule, known, new, None)),
        }
    }

    /// The coordinates of training rows as if they were new: each is embedded by the others, without itself among its
    /// neighbors. The influence of the row on the whole map (on means and eigenvectors) remains.
    pub(crate) fn place_without(&self, known: &Known<'_>, rows: &[usize]) -> Result<Points> {
        let rule = self.inner();
        let Some((points, _)) = known.points.filter(|_| rule.traits().uses_others && known.map.rows() > 1) else {
            return Ok(known.map.select(rows));
        };
        let new = points.select(rows);
        let number = |&row: &usize| match rule.candidates() {
            Some(all) => all.iter().position(|&i| i as usize == row).map_or(u32::MAX, |at| at as u32),
            None => row as u32,
        };
        let own: Vec<u32> = rows.iter().map(number).collect();
        let placed = known.among(rule.candidates(), |known| {
            let k = known.k.min(known.map.rows() - 1).max(1);
            batches::place_rows(rule, &Known { k, ..*known }, &new, Some(&own))
        })?;
        Ok(placed.coordinates)
    }

    /// The number of rows that may be embedded anew: fewer if each requires an optimization.
    pub(crate) fn affordable(&self) -> usize {
        if self.traits().optimizes { DESCENTS } else { usize::MAX }
    }

    /// The coordinates of all training points from those of the landmarks.
    pub(crate) fn place_all(
        &self,
        known: &Known<'_>,
        data: Data<'_>,
        geodesics: Option<LandmarkGeodesics>,
    ) -> Result<Points> {
        if let Some(placed) = self.inner().place_all(known, data, geodesics)? {
            return Ok(placed);
        }
        match data.table() {
            Some(rows) => Ok(self.place(known, rows)?.coordinates),
            None => {
                let fact = "the points of a graph cannot be placed by landmarks";
                Err(Error::input_kind(&["points", "distances"], fact, ""))
            }
        }
    }

    /// How the inverse transform is found.
    pub(crate) fn inverse(&self) -> Result<Inverse<'_>> {
        Ok(match self {
            Rule::Linear(linear) => linear.inverse(),
            Rule::Latent(latent) => latent.inverse()?,
            Rule::Process(process) => Inverse::Process(process),
            Rule::OnLine(line) => Inverse::OnLine(line),
            _ => Inverse::Kriging,
        })
    }
}

impl Known<'_> {
    /// Passes the training data of the candidates alone to `work`.
    fn among<R>(&self, candidates: Option<&[u32]>, work: impl FnOnce(&Known<'_>) -> Result<R>) -> Result<R> {
        let Some(candidates) = candidates else { return work(self) };
        let rows: Vec<usize> = candidates.iter().map(|&i| i as usize).collect();
        let points = self.points.map(|(points, metric)| (points.select(&rows), metric));
        // During a fit only the candidates have coordinates.
        let map = if self.map.rows() == rows.len() { self.map.clone() } else { self.map.select(&rows) };
        let points = points.as_ref().map(|(points, metric)| (points, *metric));
        // They are farther apart than the points whose neighbors a radius found.
        work(&Known { points, map: &map, k: self.k.min(rows.len()), radius: None, ..*self })
    }

    /// `Σⱼ w[j] y[j]` over the neighbors, finished coordinate by coordinate.
    pub fn mean_of(&self, near: &[u32], weights: &[f64], finish: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let sum = |q: usize| near.iter().zip(weights).map(|(&j, w)| w * self.map.row(j as usize)[q]).sum();
        (0..self.map.cols()).map(|q| finish(q, sum(q))).collect()
    }
}

//! The contract of a rule for new points: what it is given, and what it answers.

use super::batches::Batch;
use crate::coordinates::Map;
use crate::input::Data;
use eigenfold_graph::Metric;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

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
    /// (docs/guide/new-data.md).
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
    pub(super) fn new(rule: impl Extension + 'static) -> Own {
        Own(Arc::new(rule))
    }

    pub(super) fn inner(&self) -> &dyn Extension {
        self.0.as_ref()
    }

    pub(super) fn inner_mut(&mut self) -> Option<&mut dyn Extension> {
        Arc::get_mut(&mut self.0).map(|rule| rule as &mut dyn Extension)
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

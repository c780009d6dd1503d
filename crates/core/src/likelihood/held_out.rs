//! The likelihood of features that the field has not seen.
//!
//! The model is independent over features, so that features can be left out: in every fold the graph, the field, α²
//! and σ² come from the kept columns, and the log density of the left-out columns is summed over the folds.

use super::{Budget, Columns, Density, Likelihood};
use crate::error::{Error, Result};
use crate::graph::{Graph, Pieces};
use crate::points::Points;
use crate::progress::{Observer, Silent};
use crate::recipe::Recipe;
use crate::stages::Stages;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Folds where there are enough features.
const FOLDS: usize = 5;

/// The likelihood of left-out features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The log density of all columns, each left out once: of (n − 1) p numbers.
    pub log_likelihood: f64,
    /// The part of every fold.
    pub by_fold: Vec<f64>,
    /// The columns of every fold.
    pub folds: Vec<Vec<usize>>,
}

impl Recipe {
    /// The likelihood of features that are left out, fold by fold.
    ///
    /// # Errors
    ///
    /// If there is only one feature, if pieces are to be kept separate, or as [`Recipe::fit`] for a fold.
    pub fn held_out(&self, points: &Points) -> Result<HeldOut> {
        self.held_out_watched(points, &Silent)
    }

    /// As [`Recipe::held_out`], with an observer that may stop it.
    ///
    /// # Errors
    ///
    /// As [`Recipe::held_out`], and [`Error::Stopped`].
    pub fn held_out_watched(&self, points: &Points, observer: &dyn Observer) -> Result<HeldOut> {
        if points.cols() < 2 {
            return Err(Error::parameter("there is one feature and none can be left out; give at least two"));
        }
        if self.pieces == Pieces::Separate {
            return Err(Error::parameter("separate pieces differ from fold to fold; use --pieces join"));
        }
        let folds = folds(points.cols(), self.seed);
        let mut by_fold = Vec::with_capacity(folds.len());
        for left in &folds {
            let kept: Vec<usize> = (0..points.cols()).filter(|f| !left.contains(f)).collect();
            by_fold.push(self.fold(points, &kept, left, observer)?);
        }
        Ok(HeldOut { log_likelihood: by_fold.iter().sum(), by_fold, folds })
    }

    fn fold(&self, points: &Points, kept: &[usize], left: &[usize], observer: &dyn Observer) -> Result<f64> {
        let seen = points.select_columns(kept);
        let dims = self.dims;
        self.check_dims(points.rows(), Some(&seen))?;
        let all = std::env::var("LK_GRAPH").is_ok_and(|v| v == "all");
        let found = if self.method.info().needs_graph {
            if all {
                let mut found = self.graph(Some(points), None, None, observer)?;
                let lists = (0..points.rows())
                    .map(|i| {
                        found.graph.neighbors(i).iter().map(|&j| (j, self.metric.distance(seen.row(i), seen.row(j as usize)))).collect()
                    })
                    .collect();
                found.graph = Graph::from_lists(lists)?;
                Some(found)
            } else {
                Some(self.graph(Some(&seen), None, None, observer)?)
            }
        } else {
            None
        };
        let stages = Stages { recipe: self, points: Some(&seen), distances: None, metric: self.metric, observer };
        let graph = found.as_ref().map(|found| &found.graph);
        let mut built = stages.built(graph, dims)?;
        let map = match built.field {
            crate::field::Field::Factor(_) | crate::field::Field::Covariance(_) => {
                let spectrum = stages.spectrum(&built.field, dims)?;
                stages.embedding(points.rows(), &spectrum, &mut built.rule)?
            }
            _ => Points::new(1, 1, vec![0.0])?,
        };
        let budget = Budget { likelihood: Likelihood::Always, memory: stages.memory() };
        let none = || Error::Numerical("the kept features have no likelihood: they coincide, or the field is singular; use another -k".into());
        let density = Density::new(&built.field, &map, kept.len(), &budget)?.ok_or_else(none)?;
        let columns = Columns::all(&seen);
        let fitted = density.fit(&columns, observer)?.ok_or_else(none)?;
        let left = Columns::in_units(points, left, columns.size);
        density.of(&left, &fitted)?.ok_or_else(none)
    }
}

/// The columns dealt out at random into folds of nearly equal size, each sorted.
fn folds(features: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..features).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let count = FOLDS.min(features);
    let mut folds = vec![Vec::new(); count];
    for (at, feature) in order.into_iter().enumerate() {
        folds[at % count].push(feature);
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    folds
}

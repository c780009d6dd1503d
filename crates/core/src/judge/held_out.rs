//! The likelihood of features that the field has not seen.
//!
//! The model is independent over features, so that features can be left out: in every fold the graph, the field, α²
//! and σ² come from the kept columns, and the log density of the left-out columns is summed over the folds. One α² and
//! one σ² serve all features, which therefore need comparable scales.

use crate::error::{Error, Result};
use crate::fit::Stages;
use crate::graph::Pieces;
use crate::ground::Ground;
use crate::likelihood::Columns;
use crate::points::Points;
use crate::progress::{Observer, Silent};
use crate::recipe::Recipe;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// Folds where there are enough features.
const FOLDS: usize = 5;

/// The likelihood of left-out features.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HeldOut {
    /// The log density of all columns, each left out once: of (n − 1) p numbers.
    pub log_likelihood: f64,
    /// The part of every fold.
    pub by_fold: Vec<f64>,
    /// The columns of every fold, counted from 0.
    pub folds: Vec<Vec<usize>>,
    /// In how many folds the kept features had no largest likelihood, so that the floor decided.
    pub at_floor: usize,
}

impl Recipe {
    /// The likelihood of features that are left out, fold by fold; the same seed deals the same folds.
    ///
    /// ```
    /// use eigenfold::{LaplacianEigenmaps, Recipe, io};
    ///
    /// let iris = io::read("iris", &io::ReadOptions::default())?.points;
    /// let recipe = Recipe { method: LaplacianEigenmaps::default().into(), ..Recipe::default() };
    /// let held_out = recipe.held_out(&iris)?;
    /// assert_eq!(held_out.folds.len(), 4);
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If so few features would be kept that the map has as many coordinates, if pieces are to be kept separate, or as
    /// [`Recipe::fit`] for a fold.
    pub fn held_out(&self, points: &Points) -> Result<HeldOut> {
        self.held_out_watched(points, &Silent)
    }

    /// As [`Recipe::held_out`], with an observer that may stop it.
    ///
    /// # Errors
    ///
    /// As [`Recipe::held_out`], and [`Error::Stopped`].
    pub fn held_out_watched(&self, points: &Points, observer: &dyn Observer) -> Result<HeldOut> {
        let p = points.cols();
        if p < 2 {
            return Err(Error::parameter("there is one feature and none can be left out; give at least two"));
        }
        if self.pieces == Pieces::Separate {
            return Err(Error::parameter("separate pieces differ from fold to fold; use `pieces` join"));
        }
        let folds = folds(p, self.seed);
        let kept = p - folds.iter().map(Vec::len).max().unwrap_or(0);
        if kept <= self.dims {
            return Err(Error::parameter(format!(
                "of {p} features {kept} are kept at a time, and a map of {} dimensions folds nothing of them; \
                 use more features or `dims` {}",
                self.dims,
                (kept - 1).max(1)
            )));
        }
        let mut all = HeldOut { log_likelihood: 0.0, by_fold: Vec::new(), folds: Vec::new(), at_floor: 0 };
        for left in folds {
            let kept: Vec<usize> = (0..p).filter(|f| !left.contains(f)).collect();
            let (value, at_floor) = self.fold(points, &kept, &left, observer)?;
            all.log_likelihood += value;
            all.by_fold.push(value);
            all.folds.push(left);
            all.at_floor += usize::from(at_floor);
        }
        Ok(all)
    }

    /// The log density of the left columns under the field of the kept ones, and whether that is at the floor.
    fn fold(&self, points: &Points, kept: &[usize], left: &[usize], observer: &dyn Observer) -> Result<(f64, bool)> {
        let seen = points.select_columns(kept);
        let none = || {
            let fact = "the kept features have no likelihood (they coincide, or their field is singular)";
            Error::Numerical(format!("{fact}; use another `neighbors`"))
        };
        let density = Stages::new(self, Ground::from(&seen), observer)?.density()?.ok_or_else(none)?;
        let columns = Columns::all(&seen);
        let fitted = density.fit(&columns, observer)?.ok_or_else(none)?;
        let left = Columns::in_units(points, left, columns.size);
        Ok((density.of(&left, &fitted)?.ok_or_else(none)?, fitted.noise_at_floor))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_is_left_out_once() {
        for (features, count) in [(2, 2), (5, 5), (13, 5)] {
            let dealt = folds(features, 7);
            assert_eq!(dealt.len(), count);
            let mut all = dealt.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..features));
            assert_eq!(dealt, folds(features, 7));
        }
    }
}

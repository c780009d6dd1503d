//! Cross-validation over features: the held-out log likelihood of a field.
//!
//! The model is independent over features, so that features can be left out:
//!
//! ```text
//! x̃[f] ~ N(0, α² K + σ² I)        K from the features A, α² and σ² from the features B, evaluated on the features C
//! ```
//!
//! The seed divides the features into five folds. Each is C once, the next one is B, and A are all others: graph,
//! weights and field come from A alone. A field that overfits its own features does not predict B, gets no signal
//! there, and ends as noise. Signal and noise fitted to A itself would not reveal that. By Gibbs' inequality the
//! expected log density of C is at most that of the density it was drawn from, whatever was done with A and B.

use crate::fit::stages::Stages;
use crate::input::{Data, Input};
use crate::likelihood::Columns;
use crate::preparation::Whitening;
use crate::recipe::Recipe;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Disconnected, Metric};
use eigenfold_linalg::error::{Error, Result, plural};
use eigenfold_linalg::progress::{Observer, Share};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// The number of folds if there are enough features.
const FOLDS: usize = 5;

/// The held-out log likelihood of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HeldOut {
    /// The log density of all features that vary, each held out once: of n − 1 numbers per feature.
    pub log_likelihood: f64,
    /// The same for noise alone, its variance from the same features: the baseline that a field must exceed.
    pub noise_alone: f64,
    /// The result of every fold.
    pub by_fold: Vec<f64>,
    /// The columns of every fold, counted from 0.
    pub folds: Vec<Vec<usize>>,
    /// The number of folds in which the field was useless, so that noise alone was left.
    pub only_noise: usize,
    /// The number of folds in which the noise was at its lower bound.
    pub at_floor: usize,
}

/// The density of features under the field of others.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeldOutFeature {
    /// The log density.
    pub log_density: f64,
    /// The same of noise alone.
    pub noise_alone: f64,
    /// α² is zero: the field was useless.
    pub only_noise: bool,
    /// σ² is at its lower bound.
    pub at_floor: bool,
}

impl Recipe {
    /// The held-out log likelihood of features, fold by fold; the same seed gives the same folds.
    ///
    /// ```
    /// use eigenfold::{LaplacianEigenmaps, Recipe, io};
    ///
    /// let iris = io::read("iris", &io::ReadOptions::default())?.points;
    /// let recipe = Recipe { method: LaplacianEigenmaps::default().into(), ..Recipe::default() };
    /// let held_out = recipe.held_out(&iris, &eigenfold::Silent)?;
    /// assert_eq!(held_out.folds.len(), 4);
    /// assert!(held_out.log_likelihood > held_out.noise_alone);
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are fewer features for the field than coordinates of the map, if components are kept separate, or as
    /// [`Recipe::fit`] for a fold.
    pub fn held_out<'a>(&self, input: impl Into<Input<'a>>, observer: &dyn Observer) -> Result<HeldOut> {
        let input: Input<'a> = input.into();
        let (points, labels) = (input.points()?, input.labels);
        if self.disconnected == Disconnected::Separate {
            return Err(Error::parameter(
                "disconnected",
                "separate components differ from fold to fold",
                "use `disconnected` join",
            ));
        }
        let (recipe, points) = self.after_preparation(points)?;
        let varies = |&f: &usize| (1..points.rows()).any(|i| points.row(i)[f] != points.row(0)[f]);
        let varying: Vec<usize> = (0..points.cols()).filter(varies).collect();
        let (p, folds) = (varying.len(), folds(&varying, self.seed));
        let least = p.saturating_sub(2 * folds.iter().map(Vec::len).max().unwrap_or(0));
        if least < self.dims.max(1) {
            return Err(Error::out_of_range(
                "dims",
                self.dims,
                1..=least,
                format!(
                    "of {p} features that vary {least} make the field at a time, one part of the others its signal and \
                     noise, and the last is evaluated, which is too few for a map of {}",
                    plural(self.dims, "dimension")
                ),
                format!("use more features{}", if least > 0 { format!(" or `dims` {least}") } else { String::new() }),
            ));
        }
        let mut all = HeldOut {
            log_likelihood: 0.0,
            noise_alone: 0.0,
            by_fold: Vec::new(),
            folds: Vec::new(),
            only_noise: 0,
            at_floor: 0,
        };
        let observer = &Share::all(observer);
        for (at, left) in folds.iter().enumerate() {
            let tuned = &folds[(at + 1) % folds.len()];
            let made: Vec<usize> = (0..points.cols()).filter(|f| !left.contains(f) && !tuned.contains(f)).collect();
            let [made, tuned, evaluated] = [&made, tuned, left].map(|which| points.select_columns(which));
            observer.trial(&format!("diagnostics, fold {} of {}", at + 1, folds.len()));
            if at > 0 {
                observer.steady(false);
            }
            let share = Share::one_of(observer, at, folds.len());
            let found = recipe.evaluate(&made, labels, &tuned, &evaluated, &share)?;
            all.log_likelihood += found.log_density;
            all.noise_alone += found.noise_alone;
            all.by_fold.push(found.log_density);
            all.only_noise += usize::from(found.only_noise);
            all.at_floor += usize::from(found.at_floor);
        }
        observer.trial("");
        observer.finish();
        Ok(HeldOut { folds, ..all })
    }

    /// The log density of features of the same points that were not used in the fit: the field comes from the features
    /// `made`, signal and noise from `tuned`, and `evaluated` are evaluated.
    ///
    /// # Errors
    ///
    /// If the numbers of points differ, `tuned` do not vary, as [`Recipe::fit`] of the features `made`, or if the
    /// observer stops the run.
    pub fn evaluate_features(
        &self,
        made: &Points,
        tuned: &Points,
        evaluated: &Points,
        observer: &dyn Observer,
    ) -> Result<HeldOutFeature> {
        self.evaluate(made, None, tuned, evaluated, observer)
    }

    /// As [`Recipe::evaluate_features`], with the classes of the points.
    fn evaluate(
        &self,
        made: &Points,
        labels: Option<&[Option<u32>]>,
        tuned: &Points,
        evaluated: &Points,
        observer: &dyn Observer,
    ) -> Result<HeldOutFeature> {
        if made.rows() != tuned.rows() || made.rows() != evaluated.rows() {
            let (a, b, c) = (made.rows(), tuned.rows(), evaluated.rows());
            return Err(Error::data(format!("the features are of {a}, {b} and {c} points"), "give the same points"));
        }
        let none = || {
            let fact = "the features have no likelihood (they do not vary, or their precision matrix is singular)";
            Error::numerical(fact, "use another `neighbors`")
        };
        // The factor of the field is fitted to the features `tuned`, so that its unit does not matter.
        if self.used_metric() == Metric::Mahalanobis {
            let white = Whitening::learn(made, None)?.apply(made)?;
            let recipe = Recipe { metric: Metric::Euclidean, ..self.clone() };
            return recipe.evaluate(&white, labels, tuned, evaluated, observer);
        }
        let data = Data::from(made).measured_by(self.used_metric());
        let input = Input { labels, ..data.into() };
        input.check()?;
        self.check(data)?;
        data.check_range()?;
        let [making, fitting] = Share::split(observer, [3.0, 1.0]);
        let density = Stages::new(self, input, &making)?.density()?.ok_or_else(none)?;
        let columns = Columns::all(tuned);
        let fitted = density.fit(&columns, &fitting)?.ok_or_else(none)?;
        let evaluated = Columns::in_units(evaluated, &(0..evaluated.cols()).collect::<Vec<_>>(), columns.size);
        Ok(HeldOutFeature {
            log_density: density.of(&evaluated, &fitted)?.ok_or_else(none)?,
            noise_alone: evaluated.of_noise(columns.size * columns.size),
            only_noise: fitted.signal == 0.0,
            at_floor: fitted.noise_at_floor,
        })
    }
}

/// The features divided at random into folds of nearly equal size, each sorted.
fn folds(features: &[usize], seed: u64) -> Vec<Vec<usize>> {
    let mut order = features.to_vec();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let count = FOLDS.min(features.len());
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
    fn every_feature_is_evaluated_once() {
        for (features, count) in [(2, 2), (5, 5), (13, 5)] {
            let named: Vec<usize> = (3..features + 3).collect();
            let dealt = folds(&named, 7);
            assert_eq!(dealt.len(), count);
            let mut all = dealt.concat();
            all.sort_unstable();
            assert_eq!(all, named);
            assert_eq!(dealt, folds(&named, 7));
        }
    }
}

//! Cross-validation of the reconstruction: the error of held-out rows, and the calibration of their intervals.
//!
//! The rows are divided into folds. For every fold the map is fitted to the other rows alone, the rows of the fold are
//! embedded on it as new points ([`Model::transform`](crate::Model::transform)), and their coordinates are
//! reconstructed ([`Model::reconstruct`](crate::Model::reconstruct)). So the error has three parts, of the map, of the
//! extension and of the inverse transform, where the error of [`Diagnostics`](crate::reconstruct::Diagnostics) lacks
//! the first: its rows contributed to the map.
//!
//! Intervals that are calibrated on such rows are too narrow, because the map follows single rows. The held-out rows
//! show by how much, by a calibration factor of all standard deviations and one of all 95 % half-widths:
//!
//! ```text
//! calibration_factor = the least s with |x[i,j] − x̂[i,j]| ≤ s width[i,j] for 0.68 (0.95) of the entries of rows i held out
//! ```
//!
//! where x̂ and width are those of the map without row i. Widths are compared with errors on the same map, so that it
//! does not matter that a fold's map has fewer rows: the factor measures how optimistic its own widths were, the
//! optimism of Efron (1986), and the count makes it conformal (cross-conformal prediction, Vovk 2015).
//!
//! B. Efron. How biased is the apparent error rate of a prediction rule? JASA 81, 1986. V. Vovk. Cross-conformal predictors.
//! Annals of Mathematics and Artificial Intelligence 74, 2015.

use crate::input::Input;
use crate::likelihood::Likelihood;
use crate::preparation::Preparation;
use crate::recipe::Recipe;
use crate::reconstruct::{At, LEVELS, counted};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Share};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// The number of folds if there are enough rows.
const FOLDS: usize = 5;
/// The minimum number of rows that a fold must leave for the map.
const LEAST: usize = 4;
/// The number of rows reconstructed at a time, so that large tables need little memory.
const BATCH: usize = 1024;
/// Rows of a fold whose entries are counted; where there are more, evenly spaced ones.
const COUNTED: usize = 2000;

/// The reconstruction error of held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HeldOutRows {
    /// How many rows were held out, each once.
    pub rows: usize,
    /// In how many folds.
    pub folds: usize,
    /// The root of their squared error over their squared distance from the mean of the others; the contribution of a
    /// row is limited to the mean squared distance.
    pub error: f64,
    /// The error of every fold.
    pub by_fold: Vec<f64>,
    /// The calibration factors ([`InverseTransform::calibrated`](crate::InverseTransform::calibrated)) of
    /// standard deviations and 95 % half-widths, for which 0.68 and 0.95 of the entries are within them.
    pub calibration_factor: [f64; 2],
    /// The share of entries within the standard deviation (nominal 0.68) and within the 95 % half-width (0.95), each
    /// fold with the calibration factor of the other folds; for features that are not exact.
    pub within: Option<[f64; 2]>,
    /// The same shares without a calibration factor.
    pub uncalibrated: Option<[f64; 2]>,
    /// The number of features that are reconstructed exactly in 68 % (95 %) of the rows or more, such as a pixel that
    /// is nearly always black. Any interval covers that many of their entries, however narrow it is, so they are not
    /// counted.
    pub exact: [usize; 2],
    /// How many of them were reported as far from all others.
    pub far: usize,
}

/// The results of a fold.
#[derive(Default)]
struct Fold {
    wrong: f64,
    total: f64,
    far: usize,
    /// The features of the entries that follow, those that vary.
    varying: Vec<usize>,
    /// The calibration factor that each entry needs for its standard deviation, and for its 95 % half-width, row after row.
    needed: [Vec<f64>; 2],
    /// How many rows were reconstructed exactly, feature by feature, and how many rows there are.
    exact: Vec<usize>,
    rows: usize,
}

impl Recipe {
    /// Holds rows out fold by fold: fits the map to the others, embeds the rows and reconstructs them. The same seed
    /// gives the same folds.
    ///
    /// ```
    /// use eigenfold::{Isomap, Recipe, io};
    ///
    /// let iris = io::read("iris", &io::ReadOptions::default())?.points;
    /// let held_out = Recipe { method: Isomap::default().into(), ..Recipe::default() }.held_out_rows(&iris, &eigenfold::Silent)?;
    /// assert_eq!((held_out.rows, held_out.folds), (150, 5));
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are too few rows, or as [`Recipe::fit`] for a fold.
    pub fn held_out_rows<'a>(&self, input: impl Into<Input<'a>>, observer: &dyn Observer) -> Result<HeldOutRows> {
        let input: Input<'a> = input.into();
        input.check()?;
        let (points, labels) = (input.points()?, input.labels);
        let n = points.rows();
        if n < LEAST + 1 {
            return Err(Error::too_small(
                n,
                LEAST + 1,
                format!("{n} points are too few to hold rows out"),
                format!("give {} or more", LEAST + 1),
            ));
        }
        let (dealt, observer) = (dealt(n, self.seed), &Share::all(observer));
        let count = dealt.len();
        let mut folds = Vec::with_capacity(count);
        for (fold, (left, kept)) in dealt.iter().enumerate() {
            observer.trial(&format!("fold {} of {count}", fold + 1));
            if fold > 0 {
                observer.steady(false);
            }
            let share = Share::one_of(observer, fold, count);
            let labels: Option<Vec<_>> = labels.map(|labels| kept.iter().map(|&i| labels[i]).collect());
            folds.push(self.fold_of_rows(&points.select(kept), labels.as_deref(), &points.select(left), &share)?);
        }
        observer.trial("");
        observer.finish();
        let counted = Counted::new(&folds, points.cols());
        let within = |calibration_factor: &dyn Fn(usize) -> [f64; 2]| counted.shares(&folds, calibration_factor);
        let sum = |of: fn(&Fold) -> f64| folds.iter().map(of).sum::<f64>();
        Ok(HeldOutRows {
            rows: n,
            folds: count,
            error: ratio(sum(|fold| fold.wrong), sum(|fold| fold.total)),
            by_fold: folds.iter().map(|fold| ratio(fold.wrong, fold.total)).collect(),
            calibration_factor: counted.calibration_factor(&folds, None),
            within: within(&|at| counted.calibration_factor(&folds, Some(at))),
            uncalibrated: within(&|_| [1.0; 2]),
            exact: counted.exact(&folds),
            far: folds.iter().map(|fold| fold.far).sum(),
        })
    }

    /// Fits the kept rows, and finds what their way onto the map and back did to those left out.
    fn fold_of_rows(
        &self,
        kept: &Points,
        labels: Option<&[Option<u32>]>,
        left: &Points,
        observer: &dyn Observer,
    ) -> Result<Fold> {
        // What is counted is about the columns as they are prepared, by the kept rows alone.
        if !self.preparation.is_none() {
            let prepared = self.preparation.learn(kept, None)?.0;
            let recipe = Recipe { preparation: Preparation::default(), ..self.clone() };
            return recipe.fold_of_rows(&prepared.apply(kept, None)?, labels, &prepared.apply(left, None)?, observer);
        }
        let recipe = Recipe { likelihood: Likelihood::Never, snapshots: 0, ..self.clone() };
        let model = recipe.fit(Input { labels, ..kept.into() }, observer)?;
        if observer.stop() {
            return Err(Error::Stopped);
        }
        let placed = model.transform_detailed(left)?;
        let way = model.inverse_transform()?;
        let (means, p) = (kept.column_means(), kept.cols());
        let away =
            |x: &[f64], y: &[f64], unit: f64| x.iter().zip(y).map(|(x, y)| ((x - y) / unit).powi(2)).sum::<f64>();
        let largest = |points: &Points| {
            let away = |(at, x): (usize, &f64)| (x - means[at % p]).abs();
            points.values().iter().enumerate().map(away).fold(f64::MIN_POSITIVE, f64::max)
        };
        let unit = largest(kept).max(largest(left));
        let total: f64 = (0..left.rows()).map(|i| away(left.row(i), &means, unit)).sum();
        let most = total / left.rows() as f64;
        let varies = |&j: &usize| (1..kept.rows()).any(|i| kept.row(i)[j] != kept.row(0)[j]);
        let varying: Vec<usize> = (0..p).filter(varies).collect();
        let exact = vec![0; varying.len()];
        let mut fold = Fold { total, far: placed.far.len(), varying, exact, ..Fold::default() };
        let every = left.rows().div_ceil(COUNTED);
        for start in (0..left.rows()).step_by(BATCH) {
            let batch: Vec<usize> = (start..(start + BATCH).min(left.rows())).collect();
            let (back, _) = way.answers(&placed.coordinates.select(&batch))?;
            for (i, at) in batch.into_iter().zip(&back) {
                fold.wrong += away(left.row(i), &at.row, unit).min(most);
                if i % every == 0 {
                    fold.count(at, left.row(i));
                }
            }
        }
        Ok(fold)
    }
}

impl Fold {
    /// Adds the entries of a row.
    fn count(&mut self, at: &At, row: &[f64]) {
        self.rows += 1;
        for (number, &j) in self.varying.iter().enumerate() {
            self.exact[number] += usize::from(row[j] == at.row[j]);
            for level in 0..2 {
                self.needed[level].push(at.needed(level, j, row[j]));
            }
        }
    }
}

/// Which features are counted, for standard deviations and for 95 % half-widths: those that are not exact.
struct Counted([Vec<bool>; 2]);

impl Counted {
    fn new(folds: &[Fold], features: usize) -> Counted {
        let (mut exact, mut rows) = (vec![0; features], vec![0; features]);
        for fold in folds {
            for (&j, count) in fold.varying.iter().zip(&fold.exact) {
                exact[j] += count;
                rows[j] += fold.rows;
            }
        }
        let counted = |level: f64| (0..features).map(|j| (exact[j] as f64) < level * rows[j] as f64).collect();
        Counted(LEVELS.map(counted))
    }

    /// How many features that vary are exact; constant ones are not counted.
    fn exact(&self, folds: &[Fold]) -> [usize; 2] {
        let varies = |j: usize| folds.iter().any(|fold| fold.varying.contains(&j));
        [0, 1].map(|level| (0..self.0[level].len()).filter(|&j| !self.0[level][j] && varies(j)).count())
    }

    /// The calibration factors of the counted entries of a fold.
    fn needed<'a>(&'a self, fold: &'a Fold, level: usize) -> impl Iterator<Item = f64> + 'a {
        let features = fold.varying.iter().cycle();
        fold.needed[level].iter().zip(features).filter(move |(_, j)| self.0[level][**j]).map(|(needed, _)| *needed)
    }

    /// The calibration factor by the entries of all folds, or of all but one; 1 if there are none, and at most the
    /// largest finite one.
    fn calibration_factor(&self, folds: &[Fold], but: Option<usize>) -> [f64; 2] {
        [0, 1].map(|level| {
            let others = folds.iter().enumerate().filter(|(at, _)| Some(*at) != but);
            let all: Vec<f64> = others.flat_map(|(_, fold)| self.needed(fold, level)).collect();
            let most = all.iter().copied().filter(|needed| needed.is_finite()).fold(0.0, f64::max);
            if most > 0.0 { counted(all, LEVELS[level]).min(most) } else { 1.0 }
        })
    }

    /// The shares of entries that need at most the calibration factor of their fold; `None` if there are no entries.
    fn shares(&self, folds: &[Fold], calibration_factor: &dyn Fn(usize) -> [f64; 2]) -> Option<[f64; 2]> {
        let (mut within, mut entries) = ([0.0; 2], [0.0; 2]);
        for (at, fold) in folds.iter().enumerate() {
            let calibration_factor = calibration_factor(at);
            for level in 0..2 {
                for needed in self.needed(fold, level) {
                    within[level] += f64::from(u8::from(needed <= calibration_factor[level]));
                    entries[level] += 1.0;
                }
            }
        }
        (entries[0] > 0.0).then(|| [0, 1].map(|level| within[level] / entries[level]))
    }
}

/// The rows divided at random into folds of nearly equal size: those of the fold and the others, both sorted.
pub(super) fn dealt(n: usize, seed: u64) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let count = FOLDS.min(n);
    let fold = |fold: usize| {
        let (mut left, mut kept): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for (at, &row) in order.iter().enumerate() {
            if at % count == fold { &mut left } else { &mut kept }.push(row);
        }
        left.sort_unstable();
        kept.sort_unstable();
        (left, kept)
    };
    (0..count).map(fold).collect()
}

fn ratio(wrong: f64, total: f64) -> f64 {
    if total > 0.0 { (wrong / total).sqrt() } else { 0.0 }
}

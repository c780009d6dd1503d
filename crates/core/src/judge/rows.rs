//! Rows that had no part in the map: how well they come back from it, and whether their intervals hold them.
//!
//! The rows are dealt out into folds. For every fold the map is made of the other rows alone, the rows of the fold are placed
//! on it as new points are ([`Model::transform`](crate::Model::transform)), and their places are led back to data
//! ([`Model::reconstruct`](crate::Model::reconstruct)). So the error has three parts, of the map, of the placing and of the way
//! back, where the error of [`Evidence`](crate::back::Evidence) lacks the first: its rows took part in making the map.

use crate::error::{Error, Result};
use crate::likelihood::Likelihood;
use crate::points::Points;
use crate::progress::{Observer, Silent};
use crate::recipe::Recipe;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// Folds where there are enough rows.
const FOLDS: usize = 5;
/// What a fold must leave to make a map of.
const LEAST: usize = 4;

/// How well rows come back that had no part in the map.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HeldOutRows {
    /// How many rows were held out, each once.
    pub rows: usize,
    /// In how many folds.
    pub folds: usize,
    /// The root of their squared error over their squared distance from the mean of the others; a row counts at most as
    /// much as that mean would on average.
    pub error: f64,
    /// The error of every fold.
    pub by_fold: Vec<f64>,
    /// The share of entries within one deviation (0.68 if the deviations are right), and within the margin (0.95).
    pub within: Option<[f64; 2]>,
    /// How many of them were called far from all others.
    pub far: usize,
}

/// Sums over the rows of a fold.
#[derive(Default)]
struct Sums {
    wrong: f64,
    total: f64,
    within: [f64; 2],
    entries: f64,
    far: usize,
}

impl Recipe {
    /// Holds rows out fold by fold: makes the map of the others, places the rows and leads them back. The same seed deals
    /// the same folds.
    ///
    /// ```
    /// use eigenfold::{Isomap, Recipe, io};
    ///
    /// let iris = io::read("iris", &io::ReadOptions::default())?.points;
    /// let held_out = Recipe { method: Isomap::default().into(), ..Recipe::default() }.held_out_rows(&iris)?;
    /// assert_eq!((held_out.rows, held_out.folds), (150, 5));
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are too few rows, or as [`Recipe::fit`] for a fold.
    pub fn held_out_rows(&self, points: &Points) -> Result<HeldOutRows> {
        self.held_out_rows_watched(points, &Silent)
    }

    /// As [`Recipe::held_out_rows`], with an observer that may stop it.
    ///
    /// # Errors
    ///
    /// As [`Recipe::held_out_rows`], and [`Error::Stopped`].
    pub fn held_out_rows_watched(&self, points: &Points, observer: &dyn Observer) -> Result<HeldOutRows> {
        let n = points.rows();
        if n < LEAST + 1 {
            return Err(Error::parameter(format!(
                "{n} points are too few to hold rows out; give {} or more",
                LEAST + 1
            )));
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(self.seed));
        let folds = FOLDS.min(n);
        let mut all = Sums::default();
        let mut by_fold = Vec::with_capacity(folds);
        for fold in 0..folds {
            let (mut left, mut kept): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            order
                .iter()
                .enumerate()
                .for_each(|(at, &row)| if at % folds == fold { &mut left } else { &mut kept }.push(row));
            left.sort_unstable();
            kept.sort_unstable();
            let sums = self.fold_of_rows(&points.select(&kept), &points.select(&left), observer)?;
            by_fold.push(ratio(sums.wrong, sums.total));
            all.add(&sums);
        }
        let within = (all.entries > 0.0).then(|| all.within.map(|count| count / all.entries));
        Ok(HeldOutRows { rows: n, folds, error: ratio(all.wrong, all.total), by_fold, within, far: all.far })
    }

    /// Fits the kept rows, and sums over those left out what their way onto the map and back did to them.
    fn fold_of_rows(&self, kept: &Points, left: &Points, observer: &dyn Observer) -> Result<Sums> {
        let recipe = Recipe { likelihood: Likelihood::Never, snapshots: 0, ..self.clone() };
        let model = recipe.fit_watched(kept, observer)?;
        if observer.stop() {
            return Err(Error::Stopped);
        }
        let placed = model.place(left)?;
        let back = model.way_back()?.reconstruct(&placed.coordinates)?;
        let (means, p) = (kept.column_means(), kept.cols());
        let away = |points: &Points, other: &dyn Fn(usize, usize) -> f64, unit: f64, i: usize| -> f64 {
            (0..p).map(|j| ((points.row(i)[j] - other(i, j)) / unit).powi(2)).sum()
        };
        let largest = |points: &Points| {
            let away = |(at, x): (usize, &f64)| (x - means[at % p]).abs();
            points.values().iter().enumerate().map(away).fold(f64::MIN_POSITIVE, f64::max)
        };
        let unit = largest(kept).max(largest(left));
        let total: f64 = (0..left.rows()).map(|i| away(left, &|_, j| means[j], unit, i)).sum();
        let most = total / left.rows() as f64;
        let wrong = (0..left.rows()).map(|i| away(left, &|i, j| back.points.row(i)[j], unit, i).min(most)).sum();
        let mut sums = Sums { wrong, total, far: placed.far.len(), ..Sums::default() };
        let varies: Vec<bool> = (0..p).map(|j| (1..kept.rows()).any(|i| kept.row(i)[j] != kept.row(0)[j])).collect();
        for (at, x) in left.values().iter().enumerate().filter(|(at, _)| varies[at % p]) {
            let off = (x - back.points.values()[at]).abs();
            sums.entries += 1.0;
            sums.within[0] += f64::from(u8::from(off <= back.deviations.values()[at]));
            sums.within[1] += f64::from(u8::from(off <= back.margins.values()[at]));
        }
        Ok(sums)
    }
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.wrong += other.wrong;
        self.total += other.total;
        self.entries += other.entries;
        self.far += other.far;
        (0..2).for_each(|level| self.within[level] += other.within[level]);
    }
}

fn ratio(wrong: f64, total: f64) -> f64 {
    if total > 0.0 { (wrong / total).sqrt() } else { 0.0 }
}

//! Missing values: imputation before points are compared.
//!
//! Three ways to impute a cell are tried, and the one that predicts held-out cells of a sample best is used:
//!
//! - by components: probabilistic principal components of the observed cells ([`Ppca`](crate::Ppca)), with the number
//!   of components that predicts best;
//! - by neighbors: the mean over the ten nearest rows that have the cell, weighted by inverse distance; distances use
//!   the cells that both rows have;
//! - by both: the same, with distances between rows completed by the components.
//!
//! `docs/internals/measured-missing.md` has a comparison with other imputation methods.
//!
//! PPCA and factor analysis do not need imputation: they integrate missing cells out. Tables of distances and of
//! similarities are completed by a separate fit ([`complete_distances`], [`complete_similarities`]).
//!
//! O. Troyanskaya, M. Cantor, G. Sherlock et al. Missing value estimation methods for DNA microarrays. Bioinformatics 17,
//! 2001 (the second step).

mod dissimilarities;

pub use dissimilarities::{complete_distances, complete_similarities};

use crate::extend::Latent;
use crate::field::latent::fit::Fit;
use crate::preparation::Preparation;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Silent};
use eigenfold_linalg::sort;

/// The number of neighbors that impute a cell, and the number of candidates among which rows with that cell are
/// searched.
const NEAREST: usize = 10;
const LOOKED_AT: usize = 60;

/// Candidate numbers of components, the number of cells on which they are compared, the number of passes over these
/// cells, and the inverse of the fraction that is held out.
const COMPONENTS: [usize; 8] = [1, 2, 3, 5, 8, 13, 21, 34];
const TRIED: usize = 60_000;
const MOST_ROWS: usize = 1_500;
const PASSES: usize = 40;
const HELD_OUT: usize = 10;

/// The maximum product of rows, rows and features for which rows are compared by the cells that both have.
const PARTIAL_WORK: f64 = 2e11;

/// The number of passes over all data.
const ALL_PASSES: usize = 100;

/// How missing cells are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are an error.
    #[default]
    Error,
    /// Their rows are dropped, and stay empty in the output.
    Drop,
    /// They are replaced by the mean of their column.
    Mean,
    /// They are imputed from similar rows, by a model of all columns.
    Model,
}

/// The same points with every missing cell imputed.
///
/// ```
/// use eigenfold::Points;
/// use eigenfold::missing::complete;
///
/// let line = |i: usize| [i as f64, 2.0 * i as f64, if i == 4 { f64::NAN } else { 3.0 * i as f64 }];
/// let points = Points::with_missing(12, 3, (0..12).flat_map(line).collect())?;
/// let guess = complete(&points, &eigenfold::Silent)?.row(4)[2];
/// assert!((guess - 12.0).abs() < 1.0);
/// # Ok::<(), eigenfold::Error>(())
/// ```
///
/// # Errors
///
/// If the run was stopped.
pub fn complete(points: &Points, observer: &dyn Observer) -> Result<Points> {
    if points.missing().is_empty() {
        return Ok(points.clone());
    }
    let (way, components) = best_way(points)?;
    by(way, points, &|| match components {
        0 => Ok(points.clone()),
        q => guessed(&model(points, q, ALL_PASSES, observer)?, points),
    })
}

/// As [`complete`], with rows compared by prepared columns; the imputed values are in the units of the points.
///
/// # Errors
///
/// As [`complete`], and if the preparation is not defined on the points.
pub fn complete_prepared(points: &Points, preparation: &Preparation, observer: &dyn Observer) -> Result<Points> {
    if preparation.is_none() || points.missing().is_empty() {
        return complete(points, observer);
    }
    let prepared = preparation.learn(points, None)?.0;
    let back = prepared.undo(&complete(&prepared.apply(points, None)?, observer)?)?;
    points.with_guesses(&points.missing().iter().map(|&at| back.values()[at]).collect::<Vec<f64>>())
}

/// A way to impute.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Components,
    Neighbors,
    Both,
}

/// The points imputed in one way; `modeled` has the values of the components.
fn by(way: Way, points: &Points, modeled: &dyn Fn() -> Result<Points>) -> Result<Points> {
    match way {
        Way::Components => modeled(),
        Way::Neighbors => by_partial_neighbors(points),
        Way::Both => by_neighbors(&modeled()?),
    }
}

/// The way that predicts held-out cells best, and its number of components; 0 stands for the column means.
fn best_way(points: &Points) -> Result<(Way, usize)> {
    let (n, p) = (points.rows(), points.cols());
    let tried = (TRIED / p).clamp(MOST_ROWS / 10, MOST_ROWS).min(n);
    let rows: Vec<usize> = (0..tried).map(|at| at * n / tried).collect();
    let sample = points.select(&rows);
    let mut values = sample.values().to_vec();
    sample.missing().iter().for_each(|&at| values[at] = f64::NAN);
    let seen: Vec<usize> = (0..values.len()).filter(|&at| !values[at].is_nan()).collect();
    // Not the same columns in every row.
    let step = HELD_OUT + usize::from(p.is_multiple_of(HELD_OUT));
    let held: Vec<usize> = seen.iter().copied().skip(step / 2).step_by(step).collect();
    held.iter().for_each(|&at| values[at] = f64::NAN);
    let Ok(without) = Points::with_missing(tried, p, values) else { return Ok((Way::Neighbors, 0)) };
    let unit = sample.values().iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let error = |guessed: &Points| {
        held.iter().map(|&at| ((guessed.values()[at] - sample.values()[at]) / unit).powi(2)).sum::<f64>()
    };
    let (mut components, mut modeled) = (0, without.clone());
    for q in COMPONENTS.into_iter().filter(|&q| q < p.min(tried)) {
        let Ok(latent) = model(&without, q, PASSES, &Silent) else { break };
        let found = guessed(&latent, &without)?;
        if error(&found) < error(&modeled) {
            (components, modeled) = (q, found);
        } else if error(&found) > 1.1 * error(&modeled) {
            break;
        }
    }
    let mut best = (Way::Components, error(&modeled));
    // All pairs of rows are compared cell by cell.
    let affordable = (n * n) as f64 * p as f64 <= PARTIAL_WORK;
    for way in [Way::Both, Way::Neighbors].into_iter().filter(|&way| way == Way::Both || affordable) {
        let found = error(&by(way, &without, &|| Ok(modeled.clone()))?);
        if found < best.1 {
            best = (way, found);
        }
    }
    Ok((best.0, components))
}

/// Probabilistic principal components of the observed cells.
fn model(points: &Points, dims: usize, max_iterations: usize, observer: &dyn Observer) -> Result<Latent> {
    let fit = Fit { dims, own_noise: false, em: false, tolerance: 1e-6, max_iterations, seed: 0 };
    Ok(fit.of(points, observer)?.latent)
}

/// The predictions of a latent model for the missing cells.
fn guessed(latent: &Latent, points: &Points) -> Result<Points> {
    Ok(latent.complete(points)?.0)
}

/// Imputes a cell from the nearest rows that have it; keeps the current value if none of the candidates has it.
fn by_neighbors(points: &Points) -> Result<Points> {
    let rows: Vec<usize> = (0..points.rows()).filter(|&i| points.missing_of(i).next().is_some()).collect();
    let k = (LOOKED_AT + 1).min(points.rows());
    let (near, lengths) = Index::new(points, Metric::Euclidean)?.nearest(&points.select(&rows), k)?;
    let found = parallel::collect(rows.len(), |at| {
        let i = rows[at];
        let list = || near[at * k..(at + 1) * k].iter().map(|&a| a as usize).zip(&lengths[at * k..(at + 1) * k]);
        let of_cell = |j: usize| {
            let having = list().filter(|&(a, _)| a != i && !points.missing_of(a).any(|gone| gone == j));
            mean_of(having.take(NEAREST).map(|(a, &d)| (points.row(a)[j], d))).unwrap_or(points.row(i)[j])
        };
        points.missing_of(i).map(of_cell).collect::<Vec<f64>>()
    });
    points.with_guesses(&found.concat())
}

/// The same, with distances over the cells that both rows have: the mean square of their differences.
fn by_partial_neighbors(points: &Points) -> Result<Points> {
    let (n, p) = (points.rows(), points.cols());
    let mut here = vec![1.0; n * p];
    points.missing().iter().for_each(|&at| here[at] = 0.0);
    let has = |i: usize| &here[i * p..(i + 1) * p];
    let found = parallel::collect(n, |i| {
        if points.missing_of(i).next().is_none() {
            return Vec::new();
        }
        let away = |a: usize| {
            let (mut square, mut both) = (0.0, 0.0);
            for j in 0..p {
                let shared = has(i)[j] * has(a)[j];
                square += shared * (points.row(i)[j] - points.row(a)[j]).powi(2);
                both += shared;
            }
            if both > 0.0 { (square / both).sqrt() } else { f64::INFINITY }
        };
        let mut apart: Vec<(f64, usize)> = (0..n).filter(|&a| a != i).map(|a| (away(a), a)).collect();
        apart.retain(|one| one.0.is_finite());
        apart.sort_unstable_by(sort::by_key);
        let of_cell = |j: usize| {
            let having = apart.iter().filter(|&&(_, a)| has(a)[j] > 0.0);
            mean_of(having.take(NEAREST).map(|&(d, a)| (points.row(a)[j], d))).unwrap_or(points.row(i)[j])
        };
        points.missing_of(i).map(of_cell).collect()
    });
    points.with_guesses(&found.concat())
}

/// The mean of values, weighted by inverse distance; the mean of those at distance zero, if there are any.
fn mean_of(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let values: Vec<(f64, f64)> = values.collect();
    let nearest = values.iter().map(|value| value.1).fold(f64::INFINITY, f64::min);
    let weight = |d: f64| if nearest > 0.0 { nearest / d } else { f64::from(u8::from(d == 0.0)) };
    let total: f64 = values.iter().map(|&(_, d)| weight(d)).sum();
    (!values.is_empty()).then(|| values.iter().map(|&(x, d)| weight(d) / total * x).sum())
}

/// New rows with missing cells imputed from the nearest training rows, with distances over the observed cells.
pub(crate) fn filled_from(training: &Points, new: &Points) -> Result<Points> {
    let rows = parallel::collect(new.rows(), |i| {
        let gone: Vec<usize> = new.missing_of(i).collect();
        if gone.is_empty() {
            return Vec::new();
        }
        let seen: Vec<usize> = (0..new.cols()).filter(|j| gone.binary_search(j).is_err()).collect();
        let x = new.row(i);
        let away = |a: usize| seen.iter().map(|&j| (training.row(a)[j] - x[j]).powi(2)).sum::<f64>();
        let mut apart: Vec<(f64, usize)> = (0..training.rows()).map(|a| (away(a), a)).collect();
        apart.sort_unstable_by(sort::by_key);
        let near = || apart.iter().take(NEAREST);
        gone.iter().filter_map(|&j| mean_of(near().map(|&(d, a)| (training.row(a)[j], d.sqrt())))).collect()
    });
    new.with_guesses(&rows.concat())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use eigenfold_io::ReadOptions;

    fn hidden(points: &Points, share: f64, salt: u64) -> Points {
        let mut state = salt;
        let mut gone = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 11) as f64 / (1u64 << 53) as f64) < share
        };
        let values = points.values().iter().map(|&x| if gone() { f64::NAN } else { x }).collect();
        Points::with_missing(points.rows(), points.cols(), values).unwrap()
    }

    fn error(guess: &Points, truth: &Points) -> f64 {
        guess.missing().iter().map(|&at| (guess.values()[at] - truth.values()[at]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn guesses_are_far_better_than_means_and_nothing_else_changes() {
        let digits = eigenfold_io::read("digits", &ReadOptions::default()).unwrap().points;
        let rows: Vec<usize> = (0..250).collect();
        for (truth, share) in [(digits.select(&rows), 0.1), (digits.select(&rows), 0.3)] {
            let points = hidden(&truth, share, 5);
            let full = complete(&points, &Silent).unwrap();
            assert!(
                error(&full, &truth) < 0.7 * error(&points, &truth),
                "{}",
                error(&full, &truth) / error(&points, &truth)
            );
            assert_eq!(full.missing(), points.missing());
            let same = |at: usize| full.missing().binary_search(&at).is_ok() || full.values()[at] == truth.values()[at];
            assert!((0..full.values().len()).all(same));
        }
    }

    #[test]
    fn rows_without_anything_and_twins_are_completed() {
        let nan = f64::NAN;
        let values = vec![1.0, 2.0, 1.0, nan, nan, nan, 1.0, 2.0, 9.0, 4.0];
        let full = complete(&Points::with_missing(5, 2, values).unwrap(), &Silent).unwrap();
        assert!(full.values().iter().all(|x| x.is_finite()));
        let one = Points::with_missing(2, 1, vec![nan, 3.0]).unwrap();
        assert_eq!(complete(&one, &Silent).unwrap().values(), [3.0, 3.0]);
    }
}

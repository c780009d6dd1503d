//! The inverse transform of the Gaussian process latent variable model: the prediction of its process at an embedding
//! point.
//!
//! The mean and the variance are those of `gp/predict.rs`, or on a line of `gp/line.rs`, in the units of the data. All
//! features that vary have the same variance, as in the model; a constant feature is certain. The positions of the
//! training rows were fitted to these rows, so that the figures of left-out rows are slightly better than those of new
//! ones.

use crate::extend::{OnLine, Process};
use crate::gp::line::Line;
use crate::gp::predict::Prediction;
use crate::gp::problem::{Problem, spaced};
use crate::reconstruct::draws::Errors;
use crate::reconstruct::kriging::CrossValidated;
use crate::reconstruct::{DRAWN, MARGIN};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;

/// The maximum number of training rows that evaluate it.
const EVALUATED: usize = 2000;

/// The process, its training rows, and its prediction quality.
pub(crate) struct ByProcess {
    /// A training row, for the constant features.
    first: Vec<f64>,
    predicts: Predicts,
    pub(crate) evaluated: CrossValidated,
}

/// The predictor.
enum Predicts {
    Process(Problem, Prediction),
    Line(Line),
}

impl Predicts {
    fn problem(&self) -> &Problem {
        match self {
            Predicts::Process(problem, _) => problem,
            Predicts::Line(line) => &line.problem,
        }
    }

    /// The mean of the features that vary, and the variance of each.
    fn at(&self, place: &[f64]) -> (Vec<f64>, f64) {
        match self {
            Predicts::Process(_, prediction) => {
                let at = prediction.at(place);
                (at.mean, at.variance)
            }
            Predicts::Line(line) => line.at(place[0]),
        }
    }

    /// The leave-one-out error of a training row, its variance, and the row.
    fn left_out(&self, i: usize, places: &Points) -> (Vec<f64>, f64, &[f64]) {
        match self {
            Predicts::Process(problem, prediction) => {
                let row = problem.data_row(i);
                let (off, variance) = prediction.left_out(i, places.row(i), row);
                (off, variance, row)
            }
            Predicts::Line(line) => line.left_out(i),
        }
    }
}

impl ByProcess {
    pub(crate) fn new(process: &Process, points: &Points, places: &Points) -> Result<ByProcess> {
        let (problem, prediction) = process.prediction(points, places)?;
        Ok(ByProcess::of(Predicts::Process(problem, prediction), points, places))
    }

    pub(crate) fn on_line(line: &OnLine, points: &Points, places: &Points) -> Result<ByProcess> {
        Ok(ByProcess::of(Predicts::Line(line.line(points, places)?), points, places))
    }

    fn of(predicts: Predicts, points: &Points, places: &Points) -> ByProcess {
        let evaluated = evaluate(&predicts, places);
        ByProcess { first: points.row(0).to_vec(), predicts, evaluated }
    }

    /// A variance in squared units of the data.
    pub(crate) fn in_units(&self, variance: f64) -> f64 {
        variance * self.predicts.problem().unit() * self.predicts.problem().unit()
    }

    /// The data row at an embedding point and the standard deviation of each of its entries.
    pub(crate) fn at(&self, place: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mean, variance) = self.predicts.at(place);
        let problem = self.predicts.problem();
        let (mut row, mut deviations) = (self.first.clone(), vec![0.0; self.first.len()]);
        let deviation = problem.unit() * variance.sqrt();
        for (&(j, center), mean) in problem.varying.iter().zip(&mean) {
            (row[j], deviations[j]) = (center + problem.unit() * mean, deviation);
        }
        (row, deviations)
    }

    /// Training rows with their leave-one-out errors, in units of the standard deviations.
    pub(crate) fn errors(&self, places: &Points) -> Errors {
        let problem = self.predicts.problem();
        let rows = spaced(problem.n, problem.n.min(DRAWN));
        let one = |at: usize| {
            let (off, variance, _) = self.predicts.left_out(rows[at], places);
            let mut errors = vec![0.0; self.first.len()];
            problem.varying.iter().zip(off).for_each(|(&(j, _), off)| errors[j] = off / variance.sqrt());
            errors
        };
        Errors { places: places.select(&rows), errors: parallel::collect(rows.len(), one) }
    }
}

/// The leave-one-out prediction quality, on at most [`EVALUATED`] training rows, evenly spaced in their order.
fn evaluate(predicts: &Predicts, places: &Points) -> CrossValidated {
    let problem = predicts.problem();
    let rows = spaced(problem.n, problem.n.min(EVALUATED));
    let mut spread = vec![0.0; problem.features];
    for row in problem.data.chunks_exact(problem.features) {
        spread.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x / problem.n as f64);
    }
    let left = parallel::collect(rows.len(), |at| {
        let (off, variance, row) = predicts.left_out(rows[at], places);
        let (mut wrong, mut total, mut within, mut logs) = (0.0, 0.0, [0.0; 2], 0.0);
        for ((off, x), spread) in off.iter().zip(row).zip(&spread) {
            let square = off * off;
            (wrong, total) = (wrong + square, total + x * x);
            within[0] += f64::from(u8::from(square <= variance));
            within[1] += f64::from(u8::from(square <= MARGIN * MARGIN * variance));
            logs -= 0.5 * ((std::f64::consts::TAU * variance / spread).ln() + square / variance);
        }
        [wrong, total, within[0], within[1], logs]
    });
    let sums = left.iter().fold([0.0; 5], |sums, one| std::array::from_fn(|at| sums[at] + one[at]));
    let entries = (rows.len() * problem.features) as f64;
    CrossValidated {
        rows: rows.len(),
        error: if sums[1] > 0.0 { (sums[0] / sums[1]).sqrt() } else { 0.0 },
        within: [sums[2] / entries, sums[3] / entries],
        log_density: sums[4] / entries,
    }
}

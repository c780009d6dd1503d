//! Stage 3: coordinates by the minimization of an objective.
//!
//! A stop returns the best coordinates so far, marked as not converged. The conventions of the map are those of
//! eigenvectors: columns of mean zero along the principal axes of the map, most variance first, the entry of largest
//! magnitude positive. An objective of distances alone is invariant to all of that.

use super::snapshots::{Passed, SnapshotCollector};
use super::{Diagnostics, Map, Snapshot};
use crate::field::{Descend, Energy, Way};
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::{self, sign};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Bounds, Descent, Emphasized, Ended, Metric, Objective, Passing, Report, Stop};
use eigenfold_linalg::progress::{Observer, Share, Stage};
use faer::Mat;

/// Pairs of steps and gradients that the optimizer stores.
const MEMORY: usize = 10;

/// The map at the end of the optimization.
///
/// # Errors
///
/// If the objective has no value at the start, or its gradient is not finite at some step.
pub(crate) fn map(task: &mut Descend, observer: &dyn Observer) -> Result<Map> {
    observer.descends();
    let (n, dims) = (task.start.rows(), task.start.cols());
    let start: Vec<f64> = task.start.values().iter().map(|y| y / task.unit).collect();
    let path = matches!(&task.way, Way::Fixed { fixed, .. } if fixed.path.len() > 1);
    let mut album = SnapshotCollector::new(task.snapshots, path);
    let unit = task.unit;
    let mut see = |passing: &Passing<'_>, steps: usize| {
        album.see(passing, steps);
        if observer.watches() {
            let coordinates: Vec<f64> = passing.x.iter().map(|y| y * unit).collect();
            observer.passes(steps + passing.step, &coordinates, dims);
        }
    };
    let mut reported = Reported { energy: task.objective.as_mut(), observer };
    let (y, report) = match &task.way {
        Way::QuasiNewton { diagonal } => {
            let of = |diagonal: &Vec<f64>| diagonal.iter().flat_map(|&d| std::iter::repeat_n(d, dims)).collect();
            let diagonal = diagonal.as_ref().map(|diagonal| Diagonal(of(diagonal)));
            let metric = diagonal.as_ref().map(|metric| metric as &dyn Metric);
            let descent = quasi_newton(task.tolerance, task.max_iterations);
            let mut function = Function { reported: &mut reported, metric };
            descent.minimize_watched(&start, &mut function, observer, &mut |passing| see(passing, 0))?
        }
        Way::Momentum(momentum) => {
            momentum.minimize(&start, &mut reported, observer, &mut |passing| see(passing, 0))?
        }
        Way::Fixed { fixed, metric } => {
            // The two optimizations share the maximum number of evaluations, and the observer sees them as one.
            let steps = fixed.path.iter().map(|(_, steps)| steps).sum::<usize>();
            let efforts = [steps, task.max_iterations.saturating_sub(steps)].map(|count| count as f64);
            let [before, after] = Share::split(observer, efforts);
            let first = &mut |passing: &Passing<'_>| see(passing, 0);
            let (y, report) = fixed.minimize(&start, &mut reported, metric.as_ref(), &before, first)?;
            // Close to a minimum, learning the curvature on top of the metric pays off.
            let evaluations = task.max_iterations.saturating_sub(report.evaluations);
            if report.ended != Ended::Evaluations || evaluations == 0 {
                (y, report)
            } else {
                let mut function = Function { reported: &mut reported, metric: Some(metric.as_ref()) };
                let descent = quasi_newton(task.tolerance, evaluations);
                let then = &mut |passing: &Passing<'_>| see(passing, report.iterations);
                let (y, last) = descent.minimize_watched(&y, &mut function, &after, then)?;
                let (iterations, evaluations) =
                    (report.iterations + last.iterations, report.evaluations + last.evaluations);
                (y, Report { iterations, evaluations, ..last })
            }
        }
    };
    if !report.value.is_finite() && report.ended != Ended::Stopped {
        return Err(Error::numerical(
            "the objective is not finite: the data or a parameter are too large or too small",
            "rescale the columns, or leave the parameters at their defaults",
        ));
    }
    let converged = report.converged() || (report.ended == Ended::Stuck && report.gradient <= task.tolerance);
    let ended = if converged { crate::Ended::Converged } else { unmet(report.ended) };
    let objective = &mut task.objective;
    let figures = objective.figures(&y, report.value);
    let mut warnings = objective.warnings();
    if !ended.is_converged() {
        warnings.push(unfinished(&report));
    }
    let in_units = |y: &[f64]| Points::computed(n, dims, y.iter().map(|y| y * task.unit).collect());
    let map = in_units(&y)?;
    let turn = Turn::of(&map)?;
    let (passed, curve) = album.closed();
    let snapshot = |passed: &Passed| {
        Ok(Snapshot {
            step: passed.step,
            lambda: objective.strength(passed.emphasis),
            objective: passed.value.map(|value| objective.in_units(value)),
            coordinates: turn.turned(&in_units(&passed.x)?)?,
        })
    };
    Ok(Map {
        coordinates: turn.turned(&map)?,
        diagnostics: Diagnostics {
            objective: Some(objective.in_units(report.value)),
            gradient: Some(report.gradient),
            curve: curve.iter().map(|&(step, value)| (step, objective.in_units(value))).collect(),
            snapshots: passed.iter().map(snapshot).collect::<Result<_>>()?,
            disparities: objective.disparities(),
            figures,
            solver: objective.solver(),
            iterations: report.evaluations,
            ended,
            warnings,
            ..Diagnostics::default()
        },
    })
}

fn quasi_newton(decrease: f64, evaluations: usize) -> Descent {
    let stop = Stop { gradient: 0.0, decrease, evaluations };
    let stage = Some(Stage::Coordinates);
    Descent { bounds: Bounds::None, memory: MEMORY, scale: Some(1.0), cautious: false, stop, stage }
}

/// An objective that reports its values to the observer.
struct Reported<'a> {
    energy: &'a mut dyn Energy,
    observer: &'a dyn Observer,
}

impl Emphasized for Reported<'_> {
    fn value(&mut self, x: &[f64], emphasis: f64, gradient: &mut [f64]) -> f64 {
        let value = self.energy.value(x, emphasis, gradient);
        if emphasis == 1.0 {
            self.observer.objective(self.energy.in_units(value));
        }
        value
    }

    fn gradient(&mut self, x: &[f64], emphasis: f64, gradient: &mut [f64]) {
        self.energy.gradient(x, emphasis, gradient);
    }
}

/// The same as a function for the optimizer, with its known curvature.
struct Function<'a, 'b> {
    reported: &'a mut Reported<'b>,
    metric: Option<&'a dyn Metric>,
}

impl Objective for Function<'_, '_> {
    fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<Option<f64>> {
        Ok(Some(self.reported.value(x, 1.0, gradient)))
    }

    fn metric(&self) -> Option<&dyn Metric> {
        self.metric
    }
}

/// A number for every variable.
struct Diagonal(Vec<f64>);

impl Metric for Diagonal {
    fn solve(&self, v: &mut [f64]) {
        v.iter_mut().zip(&self.0).for_each(|(v, d)| *v /= d);
    }
}

/// The end of a run that did not meet its tolerance.
pub(crate) fn unmet(ended: Ended) -> crate::Ended {
    match ended {
        Ended::Stopped => crate::Ended::Stopped,
        Ended::Stuck => crate::Ended::Stuck,
        Ended::Evaluations | Ended::Enough | Ended::Gradient | Ended::Decrease => crate::Ended::Iterations,
    }
}

/// Why a descent did not converge.
pub(crate) fn unfinished(report: &Report) -> Warning {
    let (steps, gradient) = (report.iterations, report.gradient);
    match report.ended {
        Ended::Stopped => Warning::Stopped(format!(
            "the optimization was stopped after {steps} iterations (largest gradient entry {gradient:.1e})"
        )),
        Ended::Stuck => Warning::NotConverged(format!(
            "no step lowers the objective any more after {steps} iterations (largest gradient entry {gradient:.1e})"
        )),
        _ => Warning::NotConverged(format!(
            "the optimization ended after its {steps} iterations with the objective still falling (largest gradient entry \
             {gradient:.1e}); more `max-iterations` may help"
        )),
    }
}

/// The transformation of coordinates to the principal axes of a map, and its signs.
pub(crate) struct Turn {
    mean: Vec<f64>,
    axes: Mat<f64>,
}

impl Turn {
    pub(crate) fn of(map: &Points) -> Result<Turn> {
        let (mean, unit) = (map.column_means(), map.values().iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs())));
        let y = Mat::from_fn(map.rows(), map.cols(), |i, q| (map.row(i)[q] - mean[q]) / unit);
        let (_, axes) = dense::symmetric_eigen(dense::inner(y.as_ref(), y.as_ref()).as_ref())?;
        let along = dense::product(y.as_ref(), axes.as_ref());
        let signs: Vec<f64> = (0..map.cols()).map(|q| sign(along.as_ref(), q)).collect();
        Ok(Turn { mean, axes: Mat::from_fn(map.cols(), map.cols(), |p, q| signs[q] * axes[(p, q)]) })
    }

    pub(crate) fn turned(&self, map: &Points) -> Result<Points> {
        let y = Mat::from_fn(map.rows(), map.cols(), |i, q| map.row(i)[q] - self.mean[q]);
        Points::try_from(&dense::product(y.as_ref(), self.axes.as_ref()))
    }
}

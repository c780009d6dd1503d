//! Stage 3: coordinates by the descent of an objective.
//!
//! A stop gives the best coordinates so far, marked as not converged. The rules of the map, as for eigenvectors: columns of
//! mean zero along the principal axes of the map, most variance first, the entry of largest magnitude positive. An
//! objective that knows distances alone does not see any of that.

use super::{Evidence, Map};
use crate::error::Result;
use crate::field::{Descend, Energy, Way};
use crate::linalg::dense::{self, sign};
use crate::optimize::{Bounds, Descent, Ended, Mark, Metric, Objective, Report, Stop};
use crate::points::Points;
use crate::progress::{Observer, Stage};
use faer::Mat;

/// Pairs of steps and slopes that the descent remembers.
const MEMORY: usize = 10;

/// The map where the descent ends.
///
/// # Errors
///
/// If the objective has no value at the start, or its slope is not finite on the way.
pub fn map(task: &mut Descend, observer: &dyn Observer) -> Result<Map> {
    let (n, dims) = (task.start.rows(), task.start.cols());
    let start: Vec<f64> = task.start.values().iter().map(|y| y / task.unit).collect();
    let objective = task.objective.as_mut();
    let (y, report, curve) = match &task.way {
        Way::QuasiNewton { diagonal } => {
            let of = |diagonal: &Vec<f64>| diagonal.iter().flat_map(|&d| std::iter::repeat_n(d, dims)).collect();
            let diagonal = diagonal.as_ref().map(|diagonal| Diagonal(of(diagonal)));
            let mut function = Function { objective, metric: diagonal.as_ref().map(|metric| metric as &dyn Metric) };
            let descent = quasi_newton(task.tolerance, task.max_iterations);
            let (y, report) = descent.minimize(&start, &mut function, observer)?;
            (y, report, Vec::new())
        }
        Way::Momentum(momentum) => momentum.minimize(&start, objective, observer, &mut |_, _| {})?,
        Way::Fixed { fixed, metric } => {
            let (y, report, mut curve) =
                fixed.minimize(&start, objective, metric.as_ref(), observer, &mut |_, _| {})?;
            // Close to a minimum the curvature that is learned on top of the metric pays.
            let evaluations = task.max_iterations.saturating_sub(report.evaluations);
            if report.ended != Ended::Evaluations || evaluations == 0 {
                (y, report, curve)
            } else {
                let mut function = Function { objective, metric: Some(metric.as_ref()) };
                let (y, last) = quasi_newton(task.tolerance, evaluations).minimize(&y, &mut function, observer)?;
                let (iterations, evaluations) =
                    (report.iterations + last.iterations, report.evaluations + last.evaluations);
                curve.push(Mark { step: iterations, value: last.value });
                (y, Report { iterations, evaluations, ..last }, curve)
            }
        }
    };
    let converged = report.converged() || (report.ended == Ended::Stuck && report.gradient <= task.tolerance);
    let mut warnings = objective.warnings();
    if !converged {
        warnings.push(unfinished(&report));
    }
    let figures = objective.figures(&y, report.value);
    let values = y.iter().map(|y| y * task.unit).collect();
    Ok(Map {
        coordinates: turned(&Points::new(n, dims, values)?)?,
        evidence: Evidence {
            objective: Some(objective.in_units(report.value)),
            gradient: Some(report.gradient),
            curve: curve.iter().map(|mark| (mark.step, objective.in_units(mark.value))).collect(),
            figures,
            solver: objective.solver(),
            iterations: report.evaluations,
            converged,
            warnings,
            ..Evidence::default()
        },
    })
}

fn quasi_newton(decrease: f64, evaluations: usize) -> Descent {
    let stop = Stop { gradient: 0.0, decrease, evaluations };
    let stage = Some(Stage::Coordinates);
    Descent { bounds: Bounds::None, memory: MEMORY, scale: Some(1.0), cautious: false, stop, stage }
}

/// An objective as the optimizer knows functions, with what is known of its curvature.
struct Function<'a> {
    objective: &'a mut dyn Energy,
    metric: Option<&'a dyn Metric>,
}

impl Objective for Function<'_> {
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<Option<f64>> {
        Ok(Some(self.objective.value(x, 1.0, slope)))
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

/// Why a descent did not converge.
fn unfinished(report: &Report) -> String {
    let (steps, slope) = (report.iterations, report.gradient);
    match report.ended {
        Ended::Stopped => format!("the descent was stopped after {steps} steps (largest slope {slope:.1e})"),
        Ended::Stuck => {
            format!("no step lowers the objective any more after {steps} steps (largest slope {slope:.1e})")
        }
        _ => format!(
            "the descent ended after the {steps} steps it was given, the objective still falling (largest slope {slope:.1e}); \
             more `max-iterations` may help"
        ),
    }
}

/// The map along its principal axes.
fn turned(map: &Points) -> Result<Points> {
    let (mean, unit) = (map.column_means(), map.values().iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs())));
    let y = Mat::from_fn(map.rows(), map.cols(), |i, q| (map.row(i)[q] - mean[q]) / unit);
    let (_, axes) = dense::symmetric_eigen(dense::inner(y.as_ref(), y.as_ref()).as_ref())?;
    let along = dense::product(y.as_ref(), axes.as_ref());
    let signs: Vec<f64> = (0..map.cols()).map(|q| unit * sign(along.as_ref(), q)).collect();
    let values = (0..map.rows()).flat_map(|i| (0..map.cols()).map(move |q| (i, q)));
    Points::new(map.rows(), map.cols(), values.map(|(i, q)| signs[q] * along[(i, q)]).collect())
}

//! Stage 3: coordinates by the descent of an objective.
//!
//! A stop gives the best coordinates so far, marked as not converged. The rules of the map, as for eigenvectors: columns of
//! mean zero along the principal axes of the map, most variance first, the entry of largest magnitude positive. An
//! objective that knows distances alone does not see any of that.

use super::{Evidence, Map};
use crate::error::Result;
use crate::field::Descend;
use crate::linalg::dense::{self, sign};
use crate::optimize::{Bounds, Descent, Ended, Stop};
use crate::points::Points;
use crate::progress::{Observer, Stage};
use faer::Mat;

/// Pairs of steps and slopes that the descent remembers.
const MEMORY: usize = 10;

/// The map where the descent ends.
///
/// # Errors
///
/// If the objective has no value at the start.
pub fn map(task: &Descend, observer: &dyn Observer) -> Result<Map> {
    let (n, dims) = (task.start.rows(), task.start.cols());
    let start: Vec<f64> = task.start.values().iter().map(|y| y / task.unit).collect();
    let stop = Stop { gradient: 0.0, decrease: task.tolerance, evaluations: task.max_iterations };
    let stage = Some(Stage::Coordinates);
    let descent = Descent { bounds: Bounds::None, memory: MEMORY, scale: Some(1.0), cautious: false, stop, stage };
    let mut objective = |y: &[f64], slope: &mut [f64]| Ok(Some(task.objective.value(y, slope)));
    let (y, report) = descent.minimize(&start, &mut objective, observer)?;
    let converged = report.converged() || (report.ended == Ended::Stuck && report.gradient <= task.tolerance);
    let mut warnings = Vec::new();
    if !converged {
        let why = match report.ended {
            Ended::Stopped => "the descent was stopped".to_string(),
            _ => format!("the descent did not converge in {} evaluations", report.evaluations),
        };
        warnings.push(format!("{why} (largest slope {:.1e}); more `max-iterations` may help", report.gradient));
    }
    let values = y.iter().map(|y| y * task.unit).collect();
    Ok(Map {
        coordinates: turned(&Points::new(n, dims, values)?)?,
        evidence: Evidence {
            objective: Some(task.objective.in_units(report.value)),
            gradient: Some(report.gradient),
            figures: task.objective.figures(report.value),
            solver: task.objective.solver().into(),
            iterations: report.evaluations,
            converged,
            warnings,
            ..Evidence::default()
        },
    })
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

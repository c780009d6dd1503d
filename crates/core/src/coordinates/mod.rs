//! Stage 3: a map of the points with its diagnostics, by eigenvectors of a field, by the minimization of an objective,
//! or from the fit of the field.
//!
//! Later steps see only a [`Map`], and do not depend on how it was computed.

mod degenerate;
pub(crate) mod descend;
mod rescale;
mod snapshots;
pub(crate) mod spectral;

pub(crate) use rescale::rescale;

use crate::ended::Ended;
use crate::field::{Explained, Field, Solved, Task};
use crate::figure::Figure;
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::RESIDUAL;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;
use serde::{Deserialize, Serialize};

/// Coordinates and their diagnostics.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// One row per point that the task is over: all points, or the landmarks.
    pub coordinates: Points,
    /// The diagnostics.
    pub diagnostics: Diagnostics,
}

/// The diagnostics of a map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostics {
    /// The eigenvalues of the coordinates, then some further ones with lower accuracy; empty for an optimization.
    pub eigenvalues: Vec<f64>,
    /// The backward error of each eigenpair.
    pub residuals: Vec<f64>,
    /// The explained variance of the coordinates, if the field defines it.
    pub explained: Option<Explained>,
    /// The value of the objective; `None` for eigenvectors.
    pub objective: Option<f64>,
    /// The largest entry of its gradient, in the units of the optimization.
    pub gradient: Option<f64>,
    /// The objective along the way: number of steps, value; empty if the solver did not record it.
    pub curve: Vec<(usize, f64)>,
    /// Snapshots of the optimization, if requested; [`Model::snapshots`](crate::Model::snapshots) has them.
    #[serde(skip)]
    pub snapshots: Vec<Snapshot>,
    /// The transformation of the given distances, as (given, on the map), if the objective chose it.
    pub disparities: Vec<(f64, f64)>,
    /// What else the solver has to show for itself, by name.
    pub figures: Vec<(Figure, f64)>,
    /// What gave the coordinates.
    pub solver: String,
    /// Applications of the solver's operator to a block of vectors, or evaluations of the objective.
    pub iterations: usize,
    /// The predicted bytes of the solver, where it can take many; not kept in saved models.
    #[serde(skip)]
    pub memory: u64,
    /// How the solver ended.
    pub ended: Ended,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

/// A snapshot of an optimization, aligned with the last one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The number of steps.
    pub step: usize,
    /// The strength of the repulsion there, if it is a parameter.
    pub lambda: Option<f64>,
    /// The objective there, if it is known.
    pub objective: Option<f64>,
    /// One row per point.
    pub coordinates: Points,
}

/// The first `dims` coordinates of a task; `memory` limits the allocations of a solver.
///
/// # Errors
///
/// If no solver could run, or the observer stopped the run before there was a result.
pub fn map(task: &mut Task, dims: usize, seed: u64, memory: u64, observer: &dyn Observer) -> Result<Map> {
    let (mut map, tolerance) = match task {
        Task::Spectral(field) => (spectral::map(field, dims, seed, memory, observer)?, RESIDUAL),
        Task::Descend(task) => (descend::map(task, observer)?, RESIDUAL),
        Task::Solved(solved) => (solved.map(), solved.tolerance),
    };
    map.diagnostics.hold_to(tolerance, dims);
    // A spectral map knows from its own field in which directions it varies.
    if let Task::Descend(_) = task {
        map.diagnostics.warnings.extend(degenerate::flat(&map.coordinates).map(Warning::FewDirections));
    }
    let held = held_by(task);
    map.diagnostics
        .warnings
        .extend(degenerate::warning(&map.coordinates, &map.diagnostics.eigenvalues, held).map(Warning::Degenerate));
    Ok(map)
}

/// The eigenvalue below which the groups of points that a coordinate separates are connected only by rounding, if the
/// eigenvalues show it: those of a weighted graph, of which the largest is between one and two.
fn held_by(task: &Task) -> Option<f64> {
    matches!(task, Task::Spectral(Field::Precision { normalization: Some(_), .. })).then_some(degenerate::ROUNDING)
}

impl Solved {
    /// The map from the fit of the field.
    fn map(&self) -> Map {
        Map {
            coordinates: self.coordinates.clone(),
            diagnostics: Diagnostics {
                eigenvalues: self.eigenvalues.clone(),
                residuals: self.residuals.clone(),
                objective: self.objective.map(|(value, _)| value),
                gradient: self.objective.map(|(_, gradient)| gradient),
                curve: self.curve.clone(),
                solver: self.solver.clone(),
                iterations: self.iterations,
                ..Diagnostics::default()
            },
        }
    }
}

impl Diagnostics {
    /// A map whose eigenpairs have larger residuals than this has not converged.
    fn hold_to(&mut self, tolerance: f64, dims: usize) {
        let held = || self.residuals.iter().take(dims);
        if self.ended.is_converged() && !held().all(|&residual| residual <= tolerance) {
            let (worst, solver) = (held().fold(0.0, |worst: f64, &residual| worst.max(residual)), &self.solver);
            self.ended = Ended::Iterations;
            self.warnings.push(Warning::NotConverged(format!(
                "the eigenpairs are not exact ({solver}: the largest residual is {worst:.1e}, and {tolerance:.0e} was asked \
                 for); rescaling the columns or another `neighbors` may help"
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_residual_above_the_tolerance_is_not_converged() {
        for (residuals, converged) in
            [(vec![1e-12, 1e-9, 1e-3], true), (vec![1e-12, 1e-7, 0.0], false), (vec![f64::NAN, 0.0], false)]
        {
            let mut diagnostics = Diagnostics { residuals, ..Diagnostics::default() };
            diagnostics.hold_to(RESIDUAL, 2);
            assert_eq!(
                (diagnostics.ended.is_converged(), diagnostics.warnings.is_empty()),
                (converged, converged),
                "{diagnostics:?}"
            );
        }
    }
}

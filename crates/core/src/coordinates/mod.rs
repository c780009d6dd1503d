//! Stage 3: a map of the points, with its diagnostics, by eigenvectors of a field, by the descent of an objective, or as the
//! fit of the field gave it.
//!
//! A [`Map`] is all that comes after stage 3 ever sees; it need not ask which of them made it.

mod degenerate;
pub mod descend;
mod rescale;
mod snapshots;
pub mod spectral;

pub(crate) use rescale::rescale;

use crate::field::{Explained, Field, Solved, Task};
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::RESIDUAL;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;

/// Coordinates, and what speaks for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// One row per point that the task is over: all points, or the landmarks.
    pub coordinates: Points,
    /// What speaks for them.
    pub diagnostics: Diagnostics,
}

/// How well a map answers to its task.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Diagnostics {
    /// The eigenvalues of the coordinates, then some further ones as well as they are known; none of a descent.
    pub eigenvalues: Vec<f64>,
    /// The backward error of each eigenpair.
    pub residuals: Vec<f64>,
    /// How much of the variance the coordinates have, where the field says so.
    pub explained: Option<Explained>,
    /// The value of the objective; nothing of eigenvectors.
    pub objective: Option<f64>,
    /// The largest entry of its slope, in the units of the descent.
    pub gradient: Option<f64>,
    /// The objective on the way: after how many steps, and its value; empty if the solver did not look.
    pub curve: Vec<(usize, f64)>,
    /// Some of the maps on the way, if they were asked for.
    pub snapshots: Vec<Snapshot>,
    /// What the map makes of a given distance, as (given, on the map), where the objective chose it.
    pub disparities: Vec<(f64, f64)>,
    /// What else the solver has to show for itself, by name.
    pub figures: Vec<(&'static str, f64)>,
    /// What gave the coordinates.
    pub solver: String,
    /// Applications of the solver's operator to a block of vectors, or evaluations of the objective.
    pub iterations: usize,
    /// Whether the solver met its tolerance.
    pub converged: bool,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

/// A map on the way of a descent, turned as the last one is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// After so many steps.
    pub step: usize,
    /// The strength of the repulsion there, where it is a parameter.
    pub lambda: Option<f64>,
    /// The objective there, where it is known.
    pub objective: Option<f64>,
    /// One row per point.
    pub coordinates: Points,
}

/// The first `dims` coordinates that a task gives; `memory` bounds what a solver may allocate.
///
/// # Errors
///
/// If no solver could run, or the observer stopped before there was anything to return.
pub fn map(task: &mut Task, dims: usize, seed: u64, memory: u64, observer: &dyn Observer) -> Result<Map> {
    let (mut map, tolerance) = match task {
        Task::Spectral(field) => (spectral::map(field, dims, seed, memory, observer)?, RESIDUAL),
        Task::Descend(task) => (descend::map(task, observer)?, RESIDUAL),
        Task::Solved(solved) => (solved.map(), solved.tolerance),
    };
    map.diagnostics.hold_to(tolerance, dims);
    // Of its own field a spectral map says itself which directions it varies in.
    if let Task::Descend(_) = task {
        map.diagnostics.warnings.extend(degenerate::flat(&map.coordinates).map(Warning::FewDirections));
    }
    let held = held_by(task);
    map.diagnostics
        .warnings
        .extend(degenerate::warning(&map.coordinates, &map.diagnostics.eigenvalues, held).map(Warning::Degenerate));
    Ok(map)
}

/// The eigenvalue below which nothing but rounding holds the groups of points together that a coordinate sets apart, where
/// the eigenvalues say so: those of a weighted graph, of which the largest is between one and two.
fn held_by(task: &Task) -> Option<f64> {
    matches!(task, Task::Spectral(Field::Precision { mass: Some(_), .. })).then_some(degenerate::ROUNDING)
}

impl Solved {
    /// The map as the fit gave it.
    fn map(&self) -> Map {
        Map {
            coordinates: self.coordinates.clone(),
            diagnostics: Diagnostics {
                eigenvalues: self.eigenvalues.clone(),
                residuals: self.residuals.clone(),
                objective: self.objective.map(|(value, _)| value),
                gradient: self.objective.map(|(_, slope)| slope),
                curve: self.curve.clone(),
                solver: self.solver.clone(),
                iterations: self.iterations,
                converged: true,
                ..Diagnostics::default()
            },
        }
    }
}

impl Diagnostics {
    /// A map whose eigenpairs have larger residuals than this has not converged, whatever its solver says.
    fn hold_to(&mut self, tolerance: f64, dims: usize) {
        let held = || self.residuals.iter().take(dims);
        if self.converged && !held().all(|&residual| residual <= tolerance) {
            let (worst, solver) = (held().fold(0.0, |worst: f64, &residual| worst.max(residual)), &self.solver);
            self.converged = false;
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
            let mut diagnostics = Diagnostics { residuals, converged: true, ..Diagnostics::default() };
            diagnostics.hold_to(RESIDUAL, 2);
            assert_eq!(
                (diagnostics.converged, diagnostics.warnings.is_empty()),
                (converged, converged),
                "{diagnostics:?}"
            );
        }
    }
}

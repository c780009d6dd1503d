//! The learned state of the inverse transform, separate from points and map, so that it can be stored beside the model.
//!
//! For kriging it is the length scale, the noise and the widths, learned by leaving rows out one by one; for a process
//! its factors; for a linear rule its residuals. Using it then needs only an index of the map.

use super::energy::Energy;
use super::kriging::Kriging;
use super::linear::{ByAxes, discarded, whitened};
use super::map_neighbors::MapNeighbors;
use super::process::ByProcess;
use super::{InverseTransform, ReconstructionDiagnostics, ReconstructionRule};
use crate::extend::{Inverse, Rule};
use crate::model::Model;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use std::sync::Arc;

/// The rule; copies share the learned state.
#[derive(Clone)]
pub(super) enum Ready<'a> {
    Linear(Arc<ByAxes>),
    Energy(Arc<Energy<'a>>),
    Process(Arc<ByProcess>),
    Kriging(Arc<Kriging>),
}

/// The learned state of a model's inverse transform, for [`Model::inverse_from`]. It holds neither the points nor the
/// map, and copies are cheap.
#[derive(Clone)]
pub struct LearnedInverse {
    pub(super) rule: Ready<'static>,
    pub(super) diagnostics: ReconstructionDiagnostics,
    /// Rows, features and coordinates of the model.
    shape: [usize; 3],
}

impl LearnedInverse {
    fn new(
        rule: Ready<'static>,
        diagnostics: ReconstructionDiagnostics,
        points: &Points,
        near: &MapNeighbors<'_>,
    ) -> LearnedInverse {
        LearnedInverse { rule, diagnostics, shape: shape(points, near) }
    }

    pub(super) fn by_kriging(kriging: Kriging, points: &Points, near: &MapNeighbors<'_>) -> LearnedInverse {
        let rule = ReconstructionRule::Kriging { neighbors: near.most(), length: kriging.length, noise: kriging.noise };
        let diagnostics = ReconstructionDiagnostics::of(rule, kriging.evaluated);
        LearnedInverse::new(Ready::Kriging(Arc::new(kriging)), diagnostics, points, near)
    }

    /// Refuses points and maps of another shape.
    fn check(&self, points: &Points, near: &MapNeighbors<'_>) -> Result<()> {
        let described =
            |[rows, features, dims]: [usize; 3]| format!("{rows} points, {features} features and {dims} coordinates");
        match shape(points, near) {
            own if own == self.shape => Ok(()),
            own => Err(Error::other_shape(
                &[0, 1, 2].map(|at| (["points", "features", "coordinates"][at], self.shape[at], own[at])),
                format!(
                    "the inverse transform was learned from {} and the model has {}",
                    described(self.shape),
                    described(own)
                ),
                "learn it from this model",
            )),
        }
    }
}

fn shape(points: &Points, near: &MapNeighbors<'_>) -> [usize; 3] {
    [points.rows(), points.cols(), near.index.points().cols()]
}

impl Model {
    /// As [`Model::inverse_transform`], from a given state or a newly learned one.
    pub(super) fn inverse_by(&self, learned: Option<&LearnedInverse>) -> Result<InverseTransform<'_>> {
        let points = self.data()?;
        let near = MapNeighbors::new(&self.embedding, self.components())?;
        let learned = match learned {
            Some(learned) => {
                learned.check(points, &near)?;
                learned.clone()
            }
            None => self.learn_from(points, &near)?,
        };
        Ok(self.inverse_of(points, near, learned.rule, learned.diagnostics))
    }

    /// As [`Model::learn_inverse`].
    pub(super) fn learned_inverse(&self) -> Result<LearnedInverse> {
        self.learn_from(self.data()?, &MapNeighbors::new(&self.embedding, self.components())?)
    }

    fn learn_from(&self, points: &Points, near: &MapNeighbors<'_>) -> Result<LearnedInverse> {
        let process = |by: ByProcess, noise: f64, inducing: Option<usize>| {
            let diagnostics =
                ReconstructionDiagnostics::of(ReconstructionRule::Process { noise, inducing }, Some(by.evaluated));
            Ok(LearnedInverse::new(Ready::Process(Arc::new(by)), diagnostics, points, near))
        };
        let rule = self.parts.first().and_then(|part| part.rule.as_ref());
        match rule.map_or(Ok(Inverse::Kriging), Rule::inverse)? {
            Inverse::Linear { mean, axes, deviations } => {
                let (mean, axes) = match &self.frame.whitening {
                    Some(whitening) => whitened(whitening, mean, &axes),
                    None => (mean.to_vec(), axes),
                };
                Ok(self.learn_linear(points, near, mean, axes, deviations))
            }
            Inverse::Process(rule) => {
                let by = ByProcess::new(rule, points, &self.embedding)?;
                let noise = by.in_units(rule.noise);
                process(by, noise, rule.inducing.as_ref().map(Points::rows))
            }
            Inverse::OnLine(line) => process(ByProcess::on_line(line, points, &self.embedding)?, 0.0, None),
            Inverse::Kriging => {
                let most = self.parts.iter().filter_map(|part| part.rule.as_ref()).map(Rule::affordable).min();
                let placed = |rows: &[usize]| self.place_without(rows);
                let kriging = Kriging::new(points, near, most.unwrap_or(usize::MAX), placed)?;
                Ok(LearnedInverse::by_kriging(kriging, points, near))
            }
        }
    }

    /// The linear rule, with its own standard deviations or those of its residuals.
    fn learn_linear(
        &self,
        points: &Points,
        near: &MapNeighbors<'_>,
        mean: Vec<f64>,
        axes: Vec<f64>,
        deviations: Option<Vec<f64>>,
    ) -> LearnedInverse {
        let (discarded, error) = discarded(points, &self.embedding, &mean, &axes);
        let (rule, rows) = (ReconstructionRule::Linear, points.rows());
        let diagnostics = ReconstructionDiagnostics { rule, rows, error: Some(error), within: None, log_density: None };
        let by = ByAxes { mean, axes, deviations: deviations.unwrap_or(discarded) };
        LearnedInverse::new(Ready::Linear(Arc::new(by)), diagnostics, points, near)
    }
}

//! What the way back of a model learned from its points and its map, apart from both, so that it can be kept beside the model.
//!
//! For kriging that is the length, the noise and the widths, found by leaving rows out one by one; for a process its factors; for a
//! linear rule what it discards. Following the way then needs an index of the map alone.

use super::energy::Energy;
use super::kriging::Kriging;
use super::linear::{ByAxes, discarded};
use super::map_neighbors::MapNeighbors;
use super::process::ByProcess;
use super::{BackRule, Evidence, WayBack};
use crate::extend::{Linear, Rule};
use crate::model::Model;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use std::sync::Arc;

/// What leads back; copies share what was learned.
#[derive(Clone)]
pub(super) enum Ready<'a> {
    Linear(Arc<ByAxes>),
    Energy(Arc<Energy<'a>>),
    Process(Arc<ByProcess>),
    Kriging(Arc<Kriging>),
}

/// What a model's way back learned, for [`Model::way_back_as`]. It holds neither the points nor the map, and a copy of it costs nothing.
#[derive(Clone)]
pub struct Learned {
    pub(super) rule: Ready<'static>,
    pub(super) evidence: Evidence,
    /// Rows, features and coordinates of the model.
    shape: [usize; 3],
}

impl Learned {
    fn new(rule: Ready<'static>, evidence: Evidence, points: &Points, near: &MapNeighbors<'_>) -> Learned {
        Learned { rule, evidence, shape: shape(points, near) }
    }

    pub(super) fn by_kriging(kriging: Kriging, points: &Points, near: &MapNeighbors<'_>) -> Learned {
        let rule = BackRule::Kriging { neighbors: near.most(), length: kriging.length, noise: kriging.noise };
        let evidence = Evidence::of(rule, kriging.judged);
        Learned::new(Ready::Kriging(Arc::new(kriging)), evidence, points, near)
    }

    /// Refuses points and maps of another shape.
    fn check(&self, points: &Points, near: &MapNeighbors<'_>) -> Result<()> {
        let told =
            |[rows, features, dims]: [usize; 3]| format!("{rows} points, {features} features and {dims} coordinates");
        match shape(points, near) {
            own if own == self.shape => Ok(()),
            own => Err(Error::parameter(format!(
                "the way back was learned from {} and the model has {}; learn it from this model",
                told(self.shape),
                told(own)
            ))),
        }
    }
}

fn shape(points: &Points, near: &MapNeighbors<'_>) -> [usize; 3] {
    [points.rows(), points.cols(), near.index.points().cols()]
}

impl Model {
    /// As [`Model::way_back`], in the unit of the stages, by what was learned before or is learned now.
    pub(super) fn way_back_inside(&self, learned: Option<&Learned>) -> Result<WayBack<'_>> {
        let points = self.data()?;
        let near = MapNeighbors::new(&self.embedding, self.components())?;
        let learned = match learned {
            Some(learned) => {
                learned.check(points, &near)?;
                learned.clone()
            }
            None => self.learn_from(points, &near)?,
        };
        Ok(WayBack::by(points, &self.embedding, near, learned.rule, learned.evidence))
    }

    /// As [`Model::learn_way_back`], in the unit of the stages.
    pub(super) fn learned_inside(&self) -> Result<Learned> {
        self.learn_from(self.data()?, &MapNeighbors::new(&self.embedding, self.components())?)
    }

    fn learn_from(&self, points: &Points, near: &MapNeighbors<'_>) -> Result<Learned> {
        let process = |by: ByProcess, noise: f64, inducing: Option<usize>| {
            let evidence = Evidence::of(BackRule::Process { noise, inducing }, Some(by.judged));
            Ok(Learned::new(Ready::Process(Arc::new(by)), evidence, points, near))
        };
        match self.parts.first().and_then(|part| part.rule.as_ref()) {
            Some(Rule::Linear(Linear { mean, axes })) => {
                let observed = self.observed.as_ref();
                let (mean, axes) = observed.map_or_else(|| (mean.clone(), axes.clone()), |all| all.linear(mean, axes));
                Ok(self.learn_linear(points, near, mean, axes, None))
            }
            Some(Rule::Latent(latent)) => {
                let (axes, deviations) = latent.back()?;
                Ok(self.learn_linear(points, near, latent.mean.clone(), axes, Some(deviations)))
            }
            Some(Rule::Process(rule)) => {
                let by = ByProcess::new(rule, points, &self.embedding)?;
                let noise = by.in_units(rule.noise);
                process(by, noise, rule.inducing.as_ref().map(Points::rows))
            }
            Some(Rule::OnLine(line)) => process(ByProcess::on_line(line, points, &self.embedding)?, 0.0, None),
            _ => {
                let most = self.parts.iter().filter_map(|part| part.rule.as_ref()).map(Rule::affordable).min();
                let placed = |rows: &[usize]| self.place_without(rows);
                let kriging = Kriging::new(points, near, most.unwrap_or(usize::MAX), placed)?;
                Ok(Learned::by_kriging(kriging, points, near))
            }
        }
    }

    /// The linear rule, with deviations of its own or those of what it discards.
    fn learn_linear(
        &self,
        points: &Points,
        near: &MapNeighbors<'_>,
        mean: Vec<f64>,
        axes: Vec<f64>,
        deviations: Option<Vec<f64>>,
    ) -> Learned {
        let (discarded, error) = discarded(points, &self.embedding, &mean, &axes);
        let (rule, rows) = (BackRule::Linear, points.rows());
        let evidence = Evidence { rule, rows, error: Some(error), within: None, log_density: None };
        let by = ByAxes { mean, axes, deviations: deviations.unwrap_or(discarded) };
        Learned::new(Ready::Linear(Arc::new(by)), evidence, points, near)
    }
}

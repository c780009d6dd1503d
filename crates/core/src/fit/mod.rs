//! The door of a fit: columns are prepared ([`preparation`](crate::preparation)), what comes in is charged to the memory and
//! brought to a unit of its own, and what comes out is brought back ([`unit`](crate::fit::unit)).

mod change;
pub(crate) mod input;
pub(crate) mod stages;
pub(crate) mod unit;

pub use input::Beside;

use crate::field::Lengths;
use crate::fit::stages::Stages;
use crate::fit::unit::Unit;
use crate::ground::Ground;
use crate::method::Method;
use crate::model::Model;
use crate::preparation::{Preparation, Whitening, one_alone};
use crate::recipe::Recipe;
use change::Change;
use eigenfold_graph::distances::mistaken;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Metric, Neighbors};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use eigenfold_linalg::power::times_two_to;
use eigenfold_linalg::progress::{Observer, Share, Silent};

/// How often the points are in memory at most: as they are given, in the search, in the field or the likelihood, and in the
/// model.
const COPIES: u64 = 4;
/// The same without a search.
const FEW_COPIES: u64 = 3;

impl Recipe {
    /// Runs the three stages.
    ///
    /// # Errors
    ///
    /// If the input or a parameter does not fit, or the work would not fit into memory.
    pub fn fit<'a>(&self, ground: impl Into<Ground<'a>>) -> Result<Model> {
        self.fit_watched(ground, &Silent)
    }

    /// Runs the three stages, reporting to an observer that may stop them. What an iterative method or solver has by then
    /// is returned, marked as not converged.
    ///
    /// # Errors
    ///
    /// As [`Recipe::fit`], and [`Error::Stopped`] if the observer stopped the work before there was a result.
    pub fn fit_watched<'a>(&self, ground: impl Into<Ground<'a>>, observer: &dyn Observer) -> Result<Model> {
        self.fit_from(ground, Beside::default(), observer)
    }

    /// As [`Recipe::fit_watched`], with what else is given of the points.
    ///
    /// # Errors
    ///
    /// As [`Recipe::fit_watched`], and if the start does not fit the map or the labels do not fit the points.
    pub fn fit_from<'a>(
        &self,
        ground: impl Into<Ground<'a>>,
        beside: Beside<'_>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        let ground = ground.into().measured_by(self.metric);
        self.check(ground)?;
        beside.check(ground)?;
        let wrong = |names: &&[String]| ground.points().map(Points::cols) != Some(names.len());
        if let Some(names) = beside.names.filter(wrong) {
            let (count, features) = (names.len(), ground.points().map_or(0, Points::cols));
            let fact = format!("{count} names do not fit {features} features");
            return Err(Error::parameter(format!("{fact}; give one name per feature")));
        }
        let plain = Recipe { preparation: Preparation::default(), ..self.clone() };
        let (mut model, prepared) = match ground.points() {
            _ if self.preparation.is_none() => (plain.fit_whitened(ground, 0, beside, observer)?, None),
            Some(points) => {
                let (prepared, notes) = self.preparation.learn(points, beside.names)?;
                let seen = prepared.apply(points, beside.names)?;
                let ground = Ground::from(&seen).measured_by(self.metric);
                let mut model = plain.fit_whitened(ground, 1, beside, observer)?;
                model.report.warnings.extend(notes);
                (model, Some(prepared))
            }
            None => {
                let fact = format!("only points have columns to prepare, and the input is {}", ground.kind().phrase());
                return Err(Error::parameter(format!("{fact}; leave out `standardize`, `scale-columns` and `log`")));
            }
        };
        model.recipe = self.clone();
        model.points = ground.points().cloned();
        model.prepared = prepared;
        beside.names.map_or(Ok(()), |names| model.set_names(names.to_vec()))?;
        Ok(model)
    }

    /// Runs the stages over columns in which the metric is one of two rows: those of Mahalanobis distances are whitened.
    fn fit_whitened(
        &self,
        ground: Ground<'_>,
        more: u64,
        beside: Beside<'_>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        if self.metric != Metric::Mahalanobis {
            return self.fit_prepared(ground, more, beside, observer);
        }
        let recipe = Recipe { metric: Metric::Euclidean, ..self.clone() };
        let ground = ground.measured_by(recipe.metric);
        let Some(points) = ground.points().filter(|_| self.method.info().uses_metric) else {
            return recipe.fit_prepared(ground, more, beside, observer);
        };
        let whitening = Whitening::learn(points, beside.names)?;
        let white = whitening.apply(points)?;
        let mut model = recipe.fit_prepared(Ground::from(&white), more + 1, beside, observer)?;
        model.certificates.iter_mut().for_each(|certificate| certificate.metric = self.metric);
        if matches!(self.method, Method::Mds(_)) && self.dims < points.cols() {
            let fact =
                format!("Mahalanobis distances have the same variance in all of their {} directions", points.cols());
            let rest = format!("so that nothing tells which {} the map shows", self.dims);
            model.report.warnings.push(format!("{fact}, {rest}; use isomap, or another `metric`"));
        }
        model.whitening = Some(whitening);
        Ok(model)
    }

    /// Runs the stages over columns as they are, with so many more copies of them in memory.
    fn fit_prepared(
        &self,
        ground: Ground<'_>,
        more: u64,
        beside: Beside<'_>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        let budget = Budget::new(self, ground, more)?;
        let observer = &Share::all(observer);
        let mut recipe = Recipe { memory: Some(budget.left), ..self.clone() };
        let fitted = match self.unit(ground) {
            None => Stages::new(&recipe, ground, observer).and_then(|stages| stages.run(beside)),
            Some((power, lengths)) => {
                recipe = recipe.in_unit(-power, &lengths)?;
                // A map that is rescaled has the lengths of the graph.
                let map = power * if self.rescale.is_some() { 1 } else { lengths.map };
                let start = beside.start.map(|start| start.times_two_to(-map));
                let beside = Beside { start: start.as_ref(), ..beside };
                let fitted = ground.times_two_to(-power, |ground| Stages::new(&recipe, ground, observer)?.run(beside));
                fitted.and_then(|model| model.brought_out(Unit { data: power, map }, self, &lengths))
            }
        };
        let mut model = fitted.map_err(|error| budget.told(error))?;
        observer.finish();
        // Factor analysis scales columns itself.
        let scales = matches!(self.method, Method::Fa(_));
        let alone = ground.points().filter(|_| !scales).and_then(|points| one_alone(points, beside.names));
        model.report.warnings.extend(alone);
        model.report.warnings.extend(ground.points().and_then(mistaken));
        Ok(model)
    }

    /// The power of two of the unit that the stages see the data in, and how the answers follow it; nothing if that is the
    /// data's own.
    pub(crate) fn unit(&self, ground: Ground<'_>) -> Option<(i32, Lengths)> {
        let power = Unit::power_of(ground.numbers(), ground.points().map_or(1, Points::cols));
        // Angles and shares have no unit, and tell themselves what is too small for them.
        let without = self.method.info().uses_metric && !self.metric.has_unit() && ground.points().is_some();
        if power == 0 || without {
            return None;
        }
        self.method.lengths(ground).map(|lengths| (power, lengths))
    }

    /// The recipe for data that are 2^power times as large.
    pub(crate) fn in_unit(&self, power: i32, lengths: &Lengths) -> Result<Recipe> {
        let kept: &[&str] = if lengths.strength == 0 { &["lambda"] } else { &[] };
        let method = self.method.in_unit(power, kept)?;
        let mut learned = self.learned;
        if let Some(drill) = &mut learned {
            crate::parameter::Parameters::in_unit(drill, power, &[])?;
        }
        let neighbors = match self.neighbors {
            Neighbors::Within(radius) => Neighbors::Within(times_two_to(radius, power)),
            other => other,
        };
        Ok(Recipe { neighbors, method, learned, ..self.clone() })
    }
}

impl Model {
    /// The model of data in their own unit, from that in the unit of the stages. Its parts stay in the latter.
    fn brought_out(mut self, unit: Unit, asked: &Recipe, lengths: &Lengths) -> Result<Model> {
        let change = Change {
            power: unit.data,
            lengths: if asked.rescale.is_some() { Lengths { map: 1, eigenvalues: 2, ..*lengths } } else { *lengths },
            method: &asked.method,
            missing: self.report.missing_cells(),
        };
        self.report.brought_out(&change);
        self.embedding = unit.map_out(&self.embedding)?;
        let (length, weight) = (unit.data, unit.data * lengths.weights);
        // Learned affinities have distances on the map.
        let on_map = asked.affinities && asked.method.info().stage == "objective";
        let length = if on_map { unit.map } else { length };
        for edge in self.weights.iter_mut().flatten() {
            (edge.distance, edge.weight) = (times_two_to(edge.distance, length), times_two_to(edge.weight, weight));
        }
        for certificate in &mut self.certificates {
            certificate.coordinates = unit.data_out(&certificate.coordinates)?;
            certificate.weights.iter_mut().for_each(|edge| edge.distance = times_two_to(edge.distance, unit.data));
            change.bracket(&mut certificate.claimed);
        }
        for snapshot in &mut self.snapshots {
            snapshot.coordinates = unit.map_out(&snapshot.coordinates)?;
            snapshot.lambda = snapshot.lambda.map(|lambda| times_two_to(lambda, unit.data * lengths.strength));
            snapshot.objective = snapshot.objective.map(|value| change.objective(value));
        }
        self.unit = unit;
        Ok(self)
    }
}

/// What there is to spend, of a limit for everything.
struct Budget {
    limit: u64,
    /// What the points leave of it.
    left: u64,
}

impl Budget {
    /// Takes what the input takes, with so many more copies of it.
    ///
    /// # Errors
    ///
    /// If that is more than there is.
    fn new(recipe: &Recipe, ground: Ground<'_>, more: u64) -> Result<Budget> {
        let copies = match ground {
            Ground::Points(..) if recipe.needs_graph(ground) => COPIES,
            Ground::Points(..) => FEW_COPIES,
            Ground::Distances(_) | Ground::Graph(_) => 2,
        };
        // Where no limit is given, the points as they are given are not among what is free.
        let (limit, held) = recipe.memory.map_or_else(|| (memory::available(), 1 + more), |limit| (limit, 0));
        let needed = (copies + more - held) * 8 * ground.numbers().len() as u64;
        if needed > limit.max(memory::NEGLIGIBLE) {
            let what = format!("the work on {} points", ground.len());
            let way_out = "use fewer rows or columns, or raise `memory`".into();
            return Err(Error::Memory { what, needed, limit, way_out });
        }
        Ok(Budget { limit, left: limit.saturating_sub(needed) })
    }

    /// A refusal in terms of the whole limit: what is needed beside the points, and with them.
    fn told(&self, error: Error) -> Error {
        match error {
            Error::Memory { what, needed, limit, way_out } if limit <= self.limit => {
                Error::Memory { what, needed: needed.saturating_add(self.limit - limit), limit: self.limit, way_out }
            }
            other => other,
        }
    }
}

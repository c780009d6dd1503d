//! The frame of a fit: the transformations of the data around the stages.
//!
//! ```text
//! input -> prepared columns -> whitened columns -> unit of length near 1 -> stages -> model in the user's units
//! ```
//!
//! [`Frame::enter`] learns the transformations and applies them to the input; [`Frame::leave`] undoes them on the model.
//! New rows enter a fitted model through the same frame.

use crate::field::{Basis, Lengths};
use crate::fit::change::Change;
use crate::fit::unit::Unit;
use crate::input::{Data, Input, Owned};
use crate::model::Model;
use crate::preparation::{Preparation, Prepared, Whitening};
use crate::recipe::Recipe;
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Metric, Neighbors};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::power::times_two_to;

/// The transformations of the data, as they were learned from the input.
pub(crate) struct Frame {
    prepared: Option<Prepared>,
    whitening: Option<Whitening>,
    /// The power of two that was taken out of the data, and how the results of the method follow it.
    power: Option<(i32, Lengths)>,
    /// Warnings about the preparation.
    notes: Vec<String>,
}

/// What the stages see.
pub(crate) struct Entered {
    /// The recipe in the frame: without a preparation, and with parameters in the unit of the data that the stages see.
    pub(crate) recipe: Recipe,
    /// The transformed columns, before the change of the unit; `None` if they are those of the input.
    columns: Option<Owned>,
    /// The same in the unit of the stages; `None` if the unit is the data's own.
    scaled: Option<Owned>,
    init: Option<Points>,
}

impl Entered {
    /// The input as the stages see it.
    pub(crate) fn input<'a>(&'a self, given: Input<'a>) -> Input<'a> {
        let data = self.scaled.as_ref().or(self.columns.as_ref()).map_or(given.data, Data::from);
        let init = self.init.as_ref().or(given.init);
        Input { data: data.measured_by(self.recipe.metric), init, ..given }
    }

    /// The columns that the stages see, in the unit of the user.
    pub(crate) fn columns<'a>(&'a self, given: Input<'a>) -> Data<'a> {
        self.columns.as_ref().map_or(given.data, Data::from).measured_by(self.recipe.metric)
    }
}

impl Frame {
    /// Learns the transformations that a recipe asks for, and applies them.
    ///
    /// # Errors
    ///
    /// If the input has no columns to prepare, or a transformation is not defined on them.
    pub(crate) fn enter(recipe: &Recipe, given: Input<'_>) -> Result<(Frame, Entered)> {
        let mut frame = Frame { prepared: None, whitening: None, power: None, notes: Vec::new() };
        let mut inner = Recipe { preparation: Preparation::default(), ..recipe.clone() };
        let mut columns = None;
        if !recipe.preparation.is_none() {
            let points = given.data.points().ok_or_else(|| no_columns(given.data))?;
            let (prepared, notes) = recipe.preparation.learn(points, given.names)?;
            columns = Some(Owned::Points(prepared.apply(points, given.names)?));
            (frame.prepared, frame.notes) = (Some(prepared), notes);
        }
        if recipe.metric == Metric::Mahalanobis {
            inner.metric = Metric::Euclidean;
            let points = columns.as_ref().map_or(given.data, Data::from).points();
            if let Some(points) = points.filter(|_| recipe.method.info().uses_metric) {
                let whitening = Whitening::learn(points, given.names)?;
                columns = Some(Owned::Points(whitening.apply(points)?));
                frame.whitening = Some(whitening);
            }
        }
        let data = columns.as_ref().map_or(given.data, Data::from).measured_by(inner.metric);
        let (mut scaled, mut init) = (None, None);
        if let Some((power, lengths)) = inner.unit(data) {
            frame.power = Some((power, lengths));
            scaled = Some(data.times_two_to(-power));
            init = given.init.map(|init| init.times_two_to(-map_power(recipe, power, &lengths)));
            inner = inner.in_unit(-power, &lengths)?;
        }
        Ok((frame, Entered { recipe: inner, columns, scaled, init }))
    }

    /// Copies of the input that the frame has made, beside that of the unit.
    pub(crate) fn copies(&self) -> u64 {
        u64::from(self.prepared.is_some()) + u64::from(self.whitening.is_some())
    }

    /// The model in the units of the user, from that of the stages.
    ///
    /// # Errors
    ///
    /// If its numbers would leave the range of floating point.
    pub(crate) fn leave(self, model: Model, recipe: &Recipe, given: Input<'_>) -> Result<Model> {
        let mut model = match &self.power {
            None => model,
            Some((power, lengths)) => {
                let unit = Unit { data: *power, map: map_power(recipe, *power, lengths) };
                model.in_user_units(unit, recipe, lengths)?
            }
        };
        if recipe.metric == Metric::Mahalanobis && self.whitening.is_some() {
            model.certificates.iter_mut().for_each(|certificate| certificate.metric = recipe.metric);
            let features = given.data.points().map_or(0, Points::cols);
            if recipe.method.keeps_largest_variance() && recipe.dims < features {
                let fact =
                    format!("Mahalanobis distances have the same variance in all of their {features} directions");
                let rest = format!("so that nothing tells which {} the map shows", recipe.dims);
                model
                    .report
                    .warnings
                    .push(Warning::NotDetermined(format!("{fact}, {rest}; use isomap, or another `metric`")));
            }
        }
        model.report.warnings.extend(self.notes.into_iter().map(Warning::Data));
        model.recipe = recipe.clone();
        model.points = given.data.points().cloned();
        (model.prepared, model.whitening) = (self.prepared, self.whitening);
        if let Some(names) = given.names {
            model.set_names(names.to_vec())?;
        }
        if let Some(schema) = given.schema {
            model.set_schema(schema.clone())?;
        }
        Ok(model)
    }
}

/// The power of two of the embedding for that of the data. A rescaled embedding has the lengths of the graph.
fn map_power(recipe: &Recipe, power: i32, lengths: &Lengths) -> i32 {
    power * if recipe.rescale.is_some() { 1 } else { lengths.map }
}

fn no_columns(data: Data<'_>) -> Error {
    let fact = format!("only points have columns to prepare, and the input is {}", data.kind().phrase());
    Error::inapplicable("standardize", fact, "leave out `standardize`, `scale-columns` and `log`")
}

impl Recipe {
    /// The power of two that is taken out of the data before the stages, and how the results follow it; `None` if the
    /// stages see the data as they are.
    pub(crate) fn unit(&self, data: Data<'_>) -> Option<(i32, Lengths)> {
        let power = Unit::power_of(data.numbers(), data.points().map_or(1, Points::cols));
        // Angles and shares have no unit, and their metrics refuse data that are too small for them.
        let without = self.method.info().uses_metric && !self.metric.has_unit() && data.points().is_some();
        if power == 0 || without {
            return None;
        }
        self.method.lengths(data).map(|lengths| (power, lengths))
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
    /// The model of data in the user's unit, from that in the unit of the stages. Its parts stay in the latter.
    fn in_user_units(mut self, unit: Unit, recipe: &Recipe, lengths: &Lengths) -> Result<Model> {
        let change = Change {
            power: unit.data,
            lengths: if recipe.rescale.is_some() { Lengths { map: 1, eigenvalues: 2, ..*lengths } } else { *lengths },
            method: &recipe.method,
            missing: self.report.missing_cells(),
        };
        self.report.in_user_units(&change);
        self.embedding = unit.map_out(&self.embedding)?;
        let (length, weight) = (unit.data, unit.data * lengths.weights);
        // Learned affinities have distances on the map.
        let on_map = recipe.affinities && recipe.method.info().basis == Basis::Objective;
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

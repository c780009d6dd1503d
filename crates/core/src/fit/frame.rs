//! The frame of a fit: the transformations of the columns around the stages.
//!
//! ```text
//! input -> prepared columns -> whitened columns -> stages -> model
//! ```
//!
//! [`Frame::enter`] learns the transformations and applies them to the input; [`Frame::leave`] hands them to the model,
//! through whose frame new rows enter as the training rows did.

use crate::input::moments::IncompleteMoments;
use crate::input::{Data, Input};
use crate::missing::filled_from;
use crate::model::{Ground, Model};
use crate::preparation::{Preparation, Prepared, Whitening};
use crate::recipe::Recipe;
use crate::warning::Warning;
use eigenfold_graph::Metric;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The transformations of the columns, as they were learned from the input.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    /// The preparation, if the recipe asks for one.
    pub(crate) prepared: Option<Prepared>,
    /// The whitening after it, for Mahalanobis distances.
    pub(crate) whitening: Option<Whitening>,
}

/// What the stages see.
pub(crate) struct Entered {
    /// The recipe in the frame: without a preparation, and with the metric of whitened columns.
    pub(crate) recipe: Recipe,
    /// The transformed columns; `None` if they are those of the input.
    columns: Option<Points>,
    /// Warnings about the preparation.
    notes: Vec<String>,
}

impl Entered {
    /// The input as the stages see it.
    pub(crate) fn input<'a>(&'a self, given: Input<'a>) -> Input<'a> {
        let data = self.columns.as_ref().map_or(given.data, Data::from);
        Input { data: data.measured_by(self.recipe.metric), ..given }
    }
}

impl Frame {
    /// Learns the transformations that a recipe asks for, and applies them.
    ///
    /// # Errors
    ///
    /// If the input has no columns to prepare, a transformation is not defined on them, or their numbers are too small
    /// to compute with.
    pub(crate) fn enter(recipe: &Recipe, given: Input<'_>) -> Result<(Frame, Entered)> {
        let mut frame = Frame::default();
        let inner = Recipe { preparation: Preparation::default(), ..recipe.clone() };
        let mut entered = Entered { recipe: inner, columns: None, notes: Vec::new() };
        if !recipe.preparation.is_none() {
            let points = given.data.points().ok_or_else(|| no_columns(given.data))?;
            let (prepared, notes) = recipe.preparation.learn(points, given.names)?;
            entered.columns = Some(prepared.apply(points, given.names)?);
            entered.notes = notes;
            frame.prepared = Some(prepared);
        }
        entered.recipe.metric = recipe.used_metric();
        if entered.recipe.metric == Metric::Mahalanobis {
            entered.recipe.metric = Metric::Euclidean;
            if let Some(points) = entered.columns.as_ref().or(given.data.points()) {
                let whitening = Whitening::learn(points, given.names)?;
                entered.columns = Some(whitening.apply(points)?);
                frame.whitening = Some(whitening);
            }
        }
        entered.input(given).data.check_range()?;
        Ok((frame, entered))
    }

    /// As [`Frame::enter`], for rows that are elsewhere: learned from their moments, and applied to these and to the sample.
    ///
    /// # Errors
    ///
    /// As [`Frame::enter`], and if the preparation does not follow from moments.
    pub(crate) fn of_moments(
        recipe: &Recipe,
        moments: &IncompleteMoments,
        given: Input<'_>,
    ) -> Result<(Frame, Entered, IncompleteMoments)> {
        let mut frame = Frame::default();
        let inner = Recipe { preparation: Preparation::default(), metric: recipe.used_metric(), ..recipe.clone() };
        let mut entered = Entered { recipe: inner, columns: None, notes: Vec::new() };
        let mut of_columns = moments.clone();
        if !recipe.preparation.is_none() {
            let points = given.data.points().ok_or_else(|| no_columns(given.data))?;
            let (mean, variances) = (&moments.moments.mean, moments.variances());
            let (prepared, notes) = recipe.preparation.learn_moments((mean, &variances), given.names)?;
            entered.columns = Some(prepared.apply(points, given.names)?);
            entered.notes = notes;
            of_columns = moments.prepared(&prepared);
            frame.prepared = Some(prepared);
        }
        entered.input(given).data.check_range()?;
        Ok((frame, entered, of_columns))
    }

    /// Copies of the input that the frame has made.
    pub(crate) fn copies(&self) -> u64 {
        u64::from(self.prepared.is_some()) + u64::from(self.whitening.is_some())
    }

    /// The model of the user's recipe and input, from that of the stages.
    ///
    /// # Errors
    ///
    /// If names or columns do not fit the points.
    pub(crate) fn leave(self, mut model: Model, entered: Entered, recipe: &Recipe, given: Input<'_>) -> Result<Model> {
        if self.whitening.is_some() {
            model.certificates.iter_mut().for_each(|certificate| certificate.metric = recipe.metric);
            let features = given.data.points().map_or(0, Points::cols);
            if recipe.method.keeps_largest_variance() && recipe.dims < features {
                let fact =
                    format!("Mahalanobis distances have the same variance in all of their {features} directions");
                let rest = format!("so the choice of {} of them is arbitrary", recipe.dims);
                let message = format!("{fact}, {rest}; use isomap, or another `metric`");
                model.report.warnings.push(Warning::NotDetermined(message));
            }
        }
        model.report.warnings.extend(entered.notes.into_iter().map(Warning::Data));
        model.recipe = recipe.clone();
        model.points = given.data.points().cloned();
        model.frame = self;
        if let Some(names) = given.names {
            model.set_names(names.to_vec())?;
        }
        if let Some(schema) = given.schema {
            model.set_schema(schema.clone())?;
        }
        Ok(model)
    }
}

fn no_columns(data: Data<'_>) -> Error {
    let fact = format!("only points have columns to prepare, and the input is {}", data.kind().phrase());
    Error::inapplicable("standardize", fact, "leave out `standardize`, `scale-columns` and `log`")
}

/// The training points as the stages saw them, computed when they are first needed. Equality ignores them, and a clone
/// starts without them.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    prepared: OnceLock<Points>,
    whitened: OnceLock<Points>,
    /// What new rows are compared with.
    pub(crate) grounds: OnceLock<Vec<Ground>>,
}

impl Clone for Seen {
    fn clone(&self) -> Seen {
        Seen::default()
    }
}

impl PartialEq for Seen {
    fn eq(&self, _other: &Seen) -> bool {
        true
    }
}

impl Model {
    /// The training points with their columns prepared.
    pub(crate) fn prepared_points(&self) -> Option<&Points> {
        let points = self.points.as_ref()?;
        let Some(prepared) = &self.frame.prepared else { return Some(points) };
        Some(self.seen.prepared.get_or_init(|| prepared.applied(points)))
    }

    /// The training points as the stages saw them: prepared, then whitened.
    pub(crate) fn seen_points(&self) -> Option<&Points> {
        let points = self.prepared_points()?;
        let Some(whitening) = &self.frame.whitening else { return Some(points) };
        Some(self.seen.whitened.get_or_init(|| whitening.applied(points)))
    }

    /// New rows as the stages would see them. Rows with another number of columns stay as they are, to be refused.
    pub(crate) fn entered<'a>(&self, rows: &'a Points) -> Result<Cow<'a, Points>> {
        let mut seen = Cow::Borrowed(rows);
        if let Some(prepared) = self.frame.prepared.as_ref().filter(|prepared| prepared.columns().len() == rows.cols())
        {
            seen = Cow::Owned(prepared.apply(rows, self.names())?);
        }
        if let Some(whitening) = self.frame.whitening.as_ref().filter(|whitening| whitening.columns() == rows.cols()) {
            seen = Cow::Owned(match self.prepared_points() {
                Some(points) if !seen.missing().is_empty() => whitening.apply(&filled_from(points, &seen)?)?,
                _ => whitening.apply(&seen)?,
            });
        }
        Ok(seen)
    }
}

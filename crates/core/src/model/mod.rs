//! A fitted model: what the stages answered, and the points they are about.

pub(crate) mod file;
mod transform;
mod validate;

pub(crate) use transform::Ground;
pub use transform::Transformer;

use crate::coordinates::Snapshot;
use crate::extend::{Latent, Posterior, Rule};
use crate::field::unfolding::Certificate;
use crate::fit::{Frame, Seen};
use crate::input::InputKind;
use crate::preparation::Prepared;
use crate::recipe::Recipe;
use crate::report::Report;
use eigenfold_graph::Weight;
use eigenfold_graph::points::Points;
use eigenfold_io::schema::Schema;
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What one component of the input was fitted to; there is one component unless they were kept separate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Its rows in the input; all if empty.
    pub(crate) rows: Vec<u32>,
    /// What was added to its first coordinate to set it beside the others.
    pub(crate) shift: f64,
    /// How many neighbors a new point gets.
    pub(crate) k: usize,
    /// How many coordinates it has: fewer than the map where it has too few points for more.
    pub(crate) width: usize,
    /// The eigenvalues of its coordinates; none of a descent.
    pub(crate) eigenvalues: Vec<f64>,
    /// How new points are placed; a point that is a component of its own has no rule.
    pub(crate) rule: Option<Rule>,
}

impl Part {
    /// A single point.
    pub(crate) fn alone() -> Part {
        Part { rows: Vec::new(), shift: 0.0, k: 1, width: 1, eigenvalues: Vec::new(), rule: None }
    }
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub(crate) recipe: Recipe,
    pub(crate) report: Report,
    /// What kind of input it was fitted to.
    pub(crate) kind: InputKind,
    pub(crate) points: Option<Points>,
    /// The names of the points' features, if they are known.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) embedding: Points,
    pub(crate) parts: Vec<Part>,
    /// The transformations of the columns before the stages; the points are as they were given. Saved models have it at
    /// their end.
    #[serde(skip)]
    pub(crate) frame: Frame,
    /// What the columns of the table of the points were for. Saved models have it at their end.
    #[serde(skip)]
    pub(crate) schema: Option<Schema>,
    /// The training points in the frame.
    #[serde(skip)]
    pub(crate) seen: Seen,
    /// Not kept in saved models.
    #[serde(skip)]
    pub(crate) weights: Option<Vec<Weight>>,
    /// Not kept in saved models.
    #[serde(skip)]
    pub(crate) certificates: Vec<Certificate>,
    /// Not kept in saved models.
    #[serde(skip)]
    pub(crate) snapshots: Vec<Snapshot>,
}

impl Model {
    pub(crate) fn new(embedding: Points, parts: Vec<Part>, report: Report) -> Model {
        Model {
            recipe: Recipe::default(),
            report,
            kind: InputKind::Points,
            points: None,
            names: None,
            embedding,
            parts,
            frame: Frame::default(),
            schema: None,
            seen: Seen::default(),
            weights: None,
            certificates: Vec::new(),
            snapshots: Vec::new(),
        }
    }

    /// The coordinates, one row per input row, in the input's order.
    pub fn embedding(&self) -> &Points {
        &self.embedding
    }

    /// The points that it was fitted to, if it was fitted to points.
    pub fn points(&self) -> Option<&Points> {
        self.points.as_ref()
    }

    /// What kind of input it was fitted to.
    pub fn kind(&self) -> InputKind {
        self.kind
    }

    /// The eigenvalues behind the coordinates; none if a descent gave them.
    pub fn spectrum(&self) -> &[f64] {
        &self.report.coordinates.eigenvalues
    }

    /// The log likelihood of the points: of the method's own model, where it has one ([`Report::own_log_likelihood`]), else
    /// under the field that was made of them and noise (docs/guide/likelihood.md; nothing if the input had no features or
    /// [`Likelihood`](crate::Likelihood) left it out). To compare methods there is [`Recipe::held_out`].
    pub fn log_likelihood(&self) -> Option<f64> {
        self.report.log_likelihood()
    }

    /// The fitted edges, sorted by their ends, where the method has a weight for each; not kept in saved models.
    pub fn weights(&self) -> Option<&[Weight]> {
        self.weights.as_deref()
    }

    /// Bounds that anyone can check, one certificate per component, where the method has them; not kept in saved models.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// Intermediate maps of an optimization, as many as [`Recipe::snapshots`]; not kept in saved models.
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    /// What the fit did and how well.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The recipe that was fitted.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The component of every row, counted from 0, the largest first; nothing unless there are several, each on its own.
    pub fn components(&self) -> Option<Vec<u32>> {
        if self.parts.len() < 2 {
            return None;
        }
        let mut components = vec![0; self.embedding.rows()];
        for (component, part) in self.parts.iter().enumerate() {
            part.rows.iter().for_each(|&i| components[i as usize] = component as u32);
        }
        Some(components)
    }

    /// The names of the features, if the model knows them.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Tells the model what its features are called, so that data rows can be written under their own names.
    ///
    /// # Errors
    ///
    /// If the model has no features, or another number of them.
    pub fn set_names(&mut self, names: Vec<String>) -> Result<()> {
        let features = self.points.as_ref().map_or(0, Points::cols);
        if names.len() != features {
            let count = names.len();
            return Err(Error::mismatch(
                "names",
                (count, features),
                format!("{count} names do not fit {features} features"),
                "give one name per feature",
            ));
        }
        self.names = Some(names);
        Ok(())
    }

    /// What the columns of the table were for that the points came from, if the model knows it; else its features by their
    /// names, if it knows them. [`ReadOptions::like`](eigenfold_io::ReadOptions) reads new rows in the same way.
    pub fn schema(&self) -> Option<Schema> {
        self.schema.clone().or_else(|| self.names().map(Schema::of_features))
    }

    /// Tells the model what the columns of the table were for that the points came from.
    ///
    /// # Errors
    ///
    /// If they make another number of features than the model has.
    pub fn set_schema(&mut self, schema: Schema) -> Result<()> {
        let (given, features) = (schema.features(), self.points.as_ref().map_or(0, Points::cols));
        if given != features {
            let fact = format!("the columns make {given} features and the model has {features}");
            return Err(Error::mismatch("features", (given, features), fact, "give those of the points"));
        }
        self.schema = Some(schema);
        Ok(())
    }

    /// What was done to the columns of the points before the fit, if [`Recipe::preparation`] is set.
    pub fn prepared(&self) -> Option<&Prepared> {
        self.frame.prepared.as_ref()
    }

    /// The latent model that was fitted, of a method that fits one; it is about the columns as they were prepared.
    pub fn latent(&self) -> Option<&Latent> {
        match self.parts.first().and_then(|part| part.rule.as_ref()) {
            Some(Rule::Latent(latent)) => Some(latent),
            _ => None,
        }
    }

    /// The mean and the axes, one row per feature, of a method whose map is linear: a row x is embedded at (x − mean) axes.
    /// They are about the columns as they were prepared.
    pub fn axes(&self) -> Option<(&[f64], &[f64])> {
        match self.parts.first().and_then(|part| part.rule.as_ref()) {
            Some(Rule::Linear(linear)) => Some((&linear.mean, &linear.axes)),
            _ => None,
        }
    }

    /// What every row says of its hidden coordinates: mean, covariance and log density, what is missing integrated out.
    ///
    /// # Errors
    ///
    /// If the method fits no latent model, or the rows do not have its features.
    pub fn posteriors(&self, rows: &Points) -> Result<Vec<Posterior>> {
        let method = &self.report.method;
        let none = || {
            Error::parameter(
                "method",
                format!("{method} has no posterior of the latent coordinates"),
                "ppca and fa have one",
            )
        };
        let latent = self.latent().ok_or_else(none)?;
        let mut posteriors = latent.posteriors(&*self.entered(rows)?)?;
        for (i, posterior) in posteriors.iter_mut().enumerate() {
            let derivative = |prepared: &Prepared| prepared.log_derivative(rows.row(i), rows.missing_of(i));
            posterior.log_density += self.frame.prepared.as_ref().map_or(0.0, derivative);
        }
        Ok(posteriors)
    }

    /// The rows with what the latent model expects in their missing cells, and the deviations of these, in the order of
    /// [`Points::missing`].
    ///
    /// # Errors
    ///
    /// If the method fits no latent model, or the rows do not have its features.
    pub fn complete(&self, rows: &Points) -> Result<(Points, Vec<f64>)> {
        let method = &self.report.method;
        let none =
            || Error::parameter("method", format!("{method} has no model of missing cells"), "ppca and fa have one");
        let latent = self.latent().ok_or_else(none)?;
        let (full, deviations) = latent.complete(&*self.entered(rows)?)?;
        let cols = rows.cols();
        let back = self.frame.prepared.as_ref().map_or(Ok(Cow::Borrowed(&full)), |p| p.undo(&full).map(Cow::Owned))?;
        let guesses: Vec<f64> = rows.missing().iter().map(|&at| back.values()[at]).collect();
        let carried = |(&at, deviation)| {
            let of_column = |p: &Prepared| p.deviation_back(at % cols, full.values()[at], deviation);
            self.frame.prepared.as_ref().map_or(deviation, of_column)
        };
        Ok((rows.with_guesses(&guesses)?, rows.missing().iter().zip(deviations).map(carried).collect()))
    }
}

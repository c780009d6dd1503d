//! A fitted model: what the stages answered, and the points they are about.

pub(crate) mod file;
mod placing;
mod validate;

use crate::coordinates::Snapshot;
use crate::extend::{Latent, Posterior, Rule};
use crate::field::unfolding::Certificate;
use crate::fit::unit::Unit;
use crate::input::InputKind;
use crate::missing::filled_from;
use crate::preparation::{Preparation, Prepared, Whitening};
use crate::recipe::Recipe;
use crate::report::Report;
use eigenfold_graph::Weight;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Metric, Neighbors};
use eigenfold_io::schema::Schema;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::power::times_two_to;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::OnceLock;

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

/// A model in the unit in which the stages saw the data; one that has not been made is as good as one that has.
#[derive(Debug, Default)]
pub(crate) struct Inside(OnceLock<Box<Model>>);

impl Clone for Inside {
    fn clone(&self) -> Inside {
        Inside::default()
    }
}

impl PartialEq for Inside {
    fn eq(&self, _other: &Inside) -> bool {
        true
    }
}

/// The points as they were before they were whitened, divided by a power of two.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Observed {
    pub(crate) points: Points,
    pub(crate) whitening: Whitening,
    pub(crate) power: i32,
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
    /// The unit in which the stages saw the data. The points and the map are in those of the user, the parts in this one.
    pub(crate) unit: Unit,
    /// What was done to the columns before, if anything; the points are as they were given. Saved models have it at their end.
    #[serde(skip)]
    pub(crate) prepared: Option<Prepared>,
    /// How the columns were whitened after that, of Mahalanobis distances. Saved models have it at their end.
    #[serde(skip)]
    pub(crate) whitening: Option<Whitening>,
    /// What the columns of the table of the points were for. Saved models have it at their end.
    #[serde(skip)]
    pub(crate) schema: Option<Schema>,
    /// The whole model in that unit, once it is needed.
    #[serde(skip)]
    pub(crate) inside: Inside,
    /// In that unit: the points before they were whitened.
    #[serde(skip)]
    pub(crate) observed: Option<Observed>,
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
            unit: Unit::default(),
            prepared: None,
            whitening: None,
            schema: None,
            inside: Inside::default(),
            observed: None,
            weights: None,
            certificates: Vec::new(),
            snapshots: Vec::new(),
        }
    }

    /// The model in the unit in which the stages saw the data, where its rules work.
    pub(crate) fn inside(&self) -> &Model {
        if self.is_as_given() {
            return self;
        }
        self.inside.0.get_or_init(|| {
            let mut inside = self.clone();
            let seen = self.points.as_ref().map(|points| self.seen(points));
            inside.points = match (&self.whitening, seen) {
                (Some(whitening), Some(seen)) => {
                    let white = whitening.applied(&seen);
                    let power = Unit::power_of(seen.values(), seen.cols());
                    let points = seen.times_two_to(-power);
                    inside.observed = Some(Observed { points, whitening: whitening.clone(), power });
                    inside.recipe.metric = Metric::Euclidean;
                    Some(white)
                }
                (_, seen) => seen.map(|seen| seen.times_two_to(-self.unit.data)),
            };
            (inside.prepared, inside.recipe.preparation) = (None, Preparation::default());
            inside.whitening = None;
            inside.embedding = self.embedding.times_two_to(-self.unit.map);
            if let Neighbors::Within(radius) = &mut inside.recipe.neighbors {
                *radius = times_two_to(*radius, -self.unit.data);
            }
            inside.unit = Unit::default();
            Box::new(inside)
        })
    }

    /// Whether the stages saw the data as they were given.
    pub(crate) fn is_as_given(&self) -> bool {
        self.unit.is_one() && self.prepared.is_none() && self.whitening.is_none()
    }

    /// The training points as they were prepared.
    fn seen<'a>(&self, points: &'a Points) -> Cow<'a, Points> {
        self.prepared.as_ref().map_or(Cow::Borrowed(points), |prepared| Cow::Owned(prepared.applied(points)))
    }

    /// New rows as the stages would see them. Those with other columns are left to be refused.
    fn brought_in(&self, rows: &Points) -> Result<Points> {
        let seen = match self.prepared.as_ref().filter(|prepared| prepared.columns().len() == rows.cols()) {
            Some(prepared) => Cow::Owned(prepared.apply(rows, self.names())?),
            None => Cow::Borrowed(rows),
        };
        let Some(whitening) = self.whitening.as_ref().filter(|whitening| whitening.columns() == rows.cols()) else {
            return Ok(seen.times_two_to(-self.unit.data));
        };
        match &self.points {
            Some(points) if !seen.missing().is_empty() => whitening.apply(&filled_from(&self.seen(points), &seen)?),
            _ => whitening.apply(&seen),
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
        &self.report.eigenvalues
    }

    /// The log likelihood of the points: of the method's own model, where it has one ([`Report::own_log_likelihood`]), else
    /// under the field that was made of them and noise ([`crate::likelihood`]; nothing if the input had no features or
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

    /// The maps on the way of a descent, as many as [`Recipe::snapshots`] asked for; not kept in saved models.
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

    /// The names of the features, if the model was told.
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

    /// What the columns of the table were for that the points came from, if the model was told; else its features by their
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

    /// What was done to the columns of the points before the fit, if [`Recipe::preparation`] asked for something.
    pub fn prepared(&self) -> Option<&Prepared> {
        self.prepared.as_ref()
    }

    /// The latent model that was fitted, of a method that fits one; it is about the columns as they were prepared, in the
    /// unit of the data, where the noise, which is a square, may vanish.
    pub fn latent(&self) -> Option<Cow<'_, Latent>> {
        let latent = self.latent_inside()?;
        Some(if self.unit.is_one() { Cow::Borrowed(latent) } else { Cow::Owned(latent.times_two_to(self.unit.data)) })
    }

    /// The same in the unit in which the stages saw the data.
    pub(crate) fn latent_inside(&self) -> Option<&Latent> {
        match self.parts.first().and_then(|part| part.rule.as_ref()) {
            Some(Rule::Latent(latent)) => Some(latent),
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
        let none = || Error::parameter("method", format!("{method} has no hidden coordinates"), "ppca and fa have");
        let latent = self.latent_inside().ok_or_else(none)?;
        let mut posteriors = latent.posteriors(&self.brought_in(rows)?)?;
        for (i, posterior) in posteriors.iter_mut().enumerate() {
            let seen = (rows.cols() - rows.missing_of(i).count()) as f64;
            posterior.log_density -= seen * f64::from(self.unit.data) * std::f64::consts::LN_2;
            let slope = |prepared: &Prepared| prepared.log_slope(rows.row(i), rows.missing_of(i));
            posterior.log_density += self.prepared.as_ref().map_or(0.0, slope);
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
        let none = || Error::parameter("method", format!("{method} has no model of missing cells"), "ppca and fa have");
        let latent = self.latent_inside().ok_or_else(none)?;
        let (full, deviations) = latent.complete(&self.brought_in(rows)?)?;
        let (full, cols) = (self.unit.data_out(&full)?, rows.cols());
        let back = self.prepared.as_ref().map_or(Ok(Cow::Borrowed(&full)), |p| p.undo(&full).map(Cow::Owned))?;
        let guesses: Vec<f64> = rows.missing().iter().map(|&at| back.values()[at]).collect();
        let carried = |(&at, deviation)| {
            let deviation = times_two_to(deviation, self.unit.data);
            let of_column = |p: &Prepared| p.deviation_back(at % cols, full.values()[at], deviation);
            self.prepared.as_ref().map_or(deviation, of_column)
        };
        Ok((rows.with_guesses(&guesses)?, rows.missing().iter().zip(deviations).map(carried).collect()))
    }
}

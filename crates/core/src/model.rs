//! A fitted model: what the stages answered, and the points they are about.

use crate::error::{Error, Result};
use crate::field::unfolding::{Bracket, Certificate, Rescaling};
use crate::field::{Learned, PathStep, Weight};
use crate::graph::Index;
use crate::likelihood::Observation;
use crate::place::{Known, Placed, Rule};
use crate::points::Points;
use crate::recipe::Recipe;
use serde::{Deserialize, Serialize};

/// What a fit did and how well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The method's name.
    pub method: String,
    /// The number of points.
    pub n: usize,
    /// The number of features, if the input had them.
    pub features: Option<usize>,
    /// The number of coordinates.
    pub dims: usize,
    /// Every parameter as it was asked for and as it was used.
    pub parameters: Vec<Used>,
    /// How long the stages took; not kept in saved models, so that equal fits give equal files.
    #[serde(skip)]
    pub seconds: Seconds,
    /// The eigenvalues of the coordinates, then some further ones that show how the spectrum goes on, each as good as
    /// its residual says.
    pub eigenvalues: Vec<f64>,
    /// The backward error of each eigenpair.
    pub residuals: Vec<f64>,
    /// The points as observations of the field, if they have features and the likelihood was computed.
    pub likelihood: Option<Observation>,
    /// Whether the likelihood was left out because it would have taken long.
    pub likelihood_left_out: bool,
    /// What the method's own optimizer has to show for itself, by name; of the largest of separate pieces.
    pub figures: Vec<(String, f64)>,
    /// Bounds on the largest variance, where the method has them; the sums over separate pieces.
    pub certificate: Option<Bracket>,
    /// The penalties that were tried, where a path of them was asked for; of the largest of separate pieces.
    pub path: Vec<PathStep>,
    /// The sizes of the pieces of the graph before they were joined, largest first; empty without a graph.
    pub pieces: Vec<usize>,
    /// How many bridges joined them.
    pub bridges: usize,
    /// The smallest number of neighbors that connects the graph, if it was not connected and this is known.
    pub connecting_k: Option<usize>,
    /// The estimated part of the true neighbors that an approximate search found.
    pub recall: Option<f64>,
    /// How the neighbors were searched.
    pub graph_route: Option<String>,
    /// Which solver gave the coordinates.
    pub solver: String,
    /// Whether it met its tolerance.
    pub converged: bool,
    /// Applications of the solver's operator to a block of vectors.
    pub iterations: usize,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// How much of the variance that the distances allow the map has, if it was rescaled; of the largest of separate
    /// pieces. `eigenvalues` are then those of the unfolding, and `residuals` those of the coordinates that it started
    /// from.
    pub rescale: Option<Rescaling>,
}

impl Report {
    /// Adds how the graph was learned, if it was.
    pub(crate) fn add_learning(&mut self, learned: Option<Learned>) {
        let Some(Learned { penalty, candidates, kept, gap, converged }) = learned else { return };
        let figures = [
            ("graph_penalty", penalty),
            ("graph_candidates", candidates as f64),
            ("graph_kept", kept as f64),
            ("graph_gap", gap),
        ];
        self.figures.extend(figures.map(|(name, value)| (name.to_string(), value)));
        self.converged &= converged;
        if !converged {
            self.warnings.push(format!(
                "the graph was learned to a duality gap of {gap:.1e} per point only; a larger `ridge` helps"
            ));
        }
    }

    /// Adds what another piece of the same input took.
    pub(crate) fn merge(&mut self, other: Report) {
        self.seconds.field += other.seconds.field;
        self.seconds.coordinates += other.seconds.coordinates;
        self.seconds.likelihood += other.seconds.likelihood;
        self.likelihood_left_out |= other.likelihood_left_out;
        self.likelihood = self.likelihood.zip(other.likelihood).map(|(mut sum, other)| {
            sum.merge(&other);
            sum
        });
        if let (Some(sum), Some(other)) = (&mut self.certificate, &other.certificate) {
            sum.merge(other);
        }
        self.converged &= other.converged;
        self.iterations += other.iterations;
        self.warnings.extend(other.warnings);
    }
}

/// A parameter as asked for and as used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The parameter's name.
    pub name: String,
    /// What was asked for; `auto` if it was left to the method.
    pub asked: String,
    /// What was used.
    pub used: String,
}

/// Wall time of the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Stage 1.
    pub graph: f64,
    /// Stage 2.
    pub field: f64,
    /// Stage 3.
    pub coordinates: f64,
    /// The likelihood.
    pub likelihood: f64,
}

/// What one piece of the input was fitted to; there is one piece unless they were kept separate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Its rows in the input; all if empty.
    pub(crate) rows: Vec<u32>,
    /// What was added to its first coordinate to set it beside the others.
    pub(crate) shift: f64,
    /// How many neighbors a new point gets.
    pub(crate) k: usize,
    pub(crate) eigenvalues: Vec<f64>,
    /// How new points are placed; a point that is a piece of its own has no rule.
    pub(crate) rule: Option<Rule>,
}

impl Part {
    /// A single point.
    pub(crate) fn alone() -> Part {
        Part { rows: Vec::new(), shift: 0.0, k: 1, eigenvalues: Vec::new(), rule: None }
    }
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub(crate) recipe: Recipe,
    pub(crate) report: Report,
    /// What kind of input it was fitted to.
    pub(crate) kind: String,
    pub(crate) points: Option<Points>,
    /// The names of the points' features, if they are known.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) embedding: Points,
    pub(crate) parts: Vec<Part>,
    /// Not kept in saved models.
    #[serde(skip)]
    pub(crate) weights: Option<Vec<Weight>>,
    /// Not kept in saved models.
    #[serde(skip)]
    pub(crate) certificates: Vec<Certificate>,
}

impl Model {
    pub(crate) fn new(embedding: Points, parts: Vec<Part>, report: Report) -> Model {
        let (recipe, kind) = (Recipe::default(), String::new());
        Model {
            recipe,
            report,
            kind,
            points: None,
            names: None,
            embedding,
            parts,
            weights: None,
            certificates: Vec::new(),
        }
    }

    /// The coordinates, one row an input row, in the input's order.
    pub fn embedding(&self) -> &Points {
        &self.embedding
    }

    /// The eigenvalues behind the coordinates.
    pub fn spectrum(&self) -> &[f64] {
        &self.report.eigenvalues
    }

    /// The log likelihood of the points under the fitted field and noise, the same model for every method
    /// ([`crate::likelihood`]); nothing if the input had no features or [`Likelihood`](crate::Likelihood) left it out.
    pub fn log_likelihood(&self) -> Option<f64> {
        self.report.likelihood.map(|observation| observation.log_likelihood)
    }

    /// The fitted edges, sorted by their ends, where the method has a weight for each; not kept in saved models.
    pub fn weights(&self) -> Option<&[Weight]> {
        self.weights.as_deref()
    }

    /// Bounds that anyone can check, one certificate a piece, where the method has them; not kept in saved models.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// What the fit did and how well.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The recipe that was fitted.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
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
            return Err(Error::parameter(format!(
                "{count} names do not fit {features} features; give one name a feature"
            )));
        }
        self.names = Some(names);
        Ok(())
    }

    /// Places new points, each row on its own: `transform(X)[i]` is `transform(X[i..i+1])`, and a training row gets its
    /// own coordinates. A model of distances takes, for every new point, its distances to all training points.
    ///
    /// # Errors
    ///
    /// If the rows do not have the columns the model was fitted to, or the model knows no points: one fitted to a bare
    /// graph, or a method of the locally linear family fitted to distances.
    pub fn transform(&self, new: &Points) -> Result<Points> {
        Ok(self.place(new)?.coordinates)
    }

    /// Places new points as [`Model::transform`] does, and says which of them are far from all training points.
    ///
    /// # Errors
    ///
    /// As [`Model::transform`].
    pub fn place(&self, new: &Points) -> Result<Placed> {
        let columns = self.columns()?;
        if new.cols() != columns {
            let what = if self.points.is_some() { "features" } else { "training points (one distance each)" };
            return Err(Error::data(format!(
                "the new rows have {} columns and the model was fitted to {columns} {what}; give the same columns in the same order",
                new.cols()
            )));
        }
        if self.points.is_some() && self.uses_metric() {
            self.recipe.metric.check(new)?;
        }
        match self.parts.as_slice() {
            [part] => self.place_on(part, self.points.as_ref(), &self.embedding, new),
            _ => self.place_by_piece(new),
        }
    }

    fn uses_metric(&self) -> bool {
        !matches!(self.parts.first().and_then(|p| p.rule.as_ref()), Some(Rule::Linear { .. }))
    }

    /// The columns new rows must have.
    fn columns(&self) -> Result<usize> {
        let local = |part: &Part| matches!(part.rule, Some(Rule::Barycenter { .. } | Rule::Tangent));
        match &self.points {
            Some(points) => Ok(points.cols()),
            None if self.kind == "graph" || self.parts.iter().any(local) || self.kind == "similarities" => {
                Err(Error::parameter(format!(
                    "this {} model was fitted to {} and cannot place new points; fit it to points",
                    self.report.method,
                    if self.kind == "graph" { "a graph" } else { self.kind.as_str() }
                )))
            }
            None => Ok(self.embedding.rows()),
        }
    }

    fn place_on(&self, part: &Part, points: Option<&Points>, embedding: &Points, new: &Points) -> Result<Placed> {
        let Some(rule) = &part.rule else {
            let row = embedding.row(0);
            let coordinates = Points::new(new.rows(), row.len(), row.repeat(new.rows()))?;
            return Ok(Placed { coordinates, far: Vec::new() });
        };
        let known = Known {
            points,
            distances: None,
            metric: self.recipe.metric,
            k: part.k.min(embedding.rows()),
            embedding,
            eigenvalues: &part.eigenvalues,
        };
        rule.place(&known, new)
    }

    /// Every new point goes to the piece of its nearest training point.
    fn place_by_piece(&self, new: &Points) -> Result<Placed> {
        let dims = self.embedding.cols();
        let nearest: Vec<u32> = match &self.points {
            Some(points) => Index::new(points, self.recipe.metric)?.nearest(new, 1)?.0,
            None => (0..new.rows())
                .map(|i| {
                    let row = new.row(i);
                    let least = (0..row.len()).min_by(|&a, &b| row[a].total_cmp(&row[b]));
                    least.unwrap_or_default() as u32
                })
                .collect(),
        };
        let (mut values, mut far) = (vec![0.0; new.rows() * dims], Vec::new());
        for part in &self.parts {
            let rows: Vec<usize> = part.rows.iter().map(|&i| i as usize).collect();
            let ours: Vec<usize> = (0..new.rows()).filter(|&i| part.rows.binary_search(&nearest[i]).is_ok()).collect();
            if ours.is_empty() {
                continue;
            }
            let width = part.eigenvalues.len().max(1);
            let own = |&i: &usize| {
                let mut row = self.embedding.row(i)[..width].to_vec();
                row[0] -= part.shift;
                row
            };
            let embedding = Points::new(rows.len(), width, rows.iter().flat_map(own).collect())?;
            let points = self.points.as_ref().map(|points| points.select(&rows));
            let mut queries = new.select(&ours);
            if points.is_none() {
                let columns = ours.iter().flat_map(|&i| rows.iter().map(move |&j| new.row(i)[j]));
                queries = Points::new(ours.len(), rows.len(), columns.collect())?;
            }
            let placed = self.place_on(part, points.as_ref(), &embedding, &queries)?;
            far.extend(placed.far.iter().map(|&at| ours[at]));
            for (at, &i) in ours.iter().enumerate() {
                values[i * dims..i * dims + width].copy_from_slice(placed.coordinates.row(at));
                values[i * dims] += part.shift;
            }
        }
        far.sort_unstable();
        Ok(Placed { coordinates: Points::new(new.rows(), dims, values)?, far })
    }

    /// Whether all sizes and indices fit together, as they must in a model that was not tampered with.
    pub(crate) fn is_consistent(&self) -> bool {
        let n = self.embedding.rows();
        let features = self.points.as_ref().map_or(0, Points::cols);
        let sound = |part: &Part| {
            let rows = if part.rows.is_empty() { n } else { part.rows.len() };
            let dims = part.eigenvalues.len();
            part.k >= 1
                && (dims == self.embedding.cols() || (!part.rows.is_empty() && dims < self.embedding.cols()))
                && part.rows.iter().all(|&i| (i as usize) < n)
                && part.rule.as_ref().is_none_or(|rule| rule.fits(rows, features, dims))
        };
        self.points.as_ref().is_none_or(|points| points.rows() == n && points.is_sound())
            && self.names.as_ref().is_none_or(|names| names.len() == features)
            && self.embedding.is_sound()
            && !self.parts.is_empty()
            && self.parts.iter().all(sound)
    }
}

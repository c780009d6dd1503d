//! New points onto the map of a model, by the rules of its parts.

use crate::extend::{Among, Known, PreparedRule, Transformed};
use crate::input::InputKind;
use crate::missing::filled_from;
use crate::model::{Model, Part};
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric, Neighbors};
use eigenfold_linalg::error::{Error, Result};
use std::borrow::Cow;
use std::cell::OnceCell;

/// Training data of one component that are copies of a part of the model's.
#[derive(Debug)]
pub(crate) struct Ground {
    /// Its coordinates and features, if it is not the only component.
    map: Option<Points>,
    points: Option<Points>,
    /// Those of the points that may be neighbors of new points, if not all may be.
    among: Option<Among>,
}

/// A model that is prepared to embed any number of new points: the indexes, shortest paths, grids and calibrations that
/// [`Model::transform`] makes at every call are made once, when the first rows need them.
///
/// Rows can come in any batches: every row is embedded on its own, and gets the same bits whatever comes with it.
///
/// ```
/// use eigenfold::{Isomap, Points, Recipe, io};
///
/// let iris = io::read("iris", &io::ReadOptions::default())?.points;
/// let model = Recipe { method: Isomap::default().into(), ..Recipe::default() }.fit(&iris, &eigenfold::Silent)?;
/// let transformer = model.transformer()?;
/// for batch in [[5.0, 3.4, 1.5, 0.2], [6.1, 2.9, 4.7, 1.4]] {
///     let coordinates = transformer.transform(&Points::new(1, 4, batch.to_vec())?)?;
///     assert_eq!((coordinates.rows(), coordinates.cols()), (1, 2));
/// }
/// # Ok::<(), eigenfold::Error>(())
/// ```
pub struct Transformer<'a> {
    model: &'a Model,
    /// The columns new rows must have.
    columns: usize,
    /// The components with their rules; a component of a single point has no rule.
    parts: Vec<(&'a Part, &'a Points, Option<PreparedRule<'a>>)>,
    /// An index of all training points.
    index: OnceCell<Option<Index<'a>>>,
}

impl std::fmt::Debug for Transformer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transformer").field("method", &self.model.report.method).finish_non_exhaustive()
    }
}

impl Transformer<'_> {
    /// The model.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// Embeds new points as [`Model::transform`] does.
    ///
    /// # Errors
    ///
    /// If the rows do not have the columns the model was fitted to.
    pub fn transform(&self, new: &Points) -> Result<Points> {
        Ok(self.transform_detailed(new)?.coordinates)
    }

    /// Embeds new points as [`Model::transform_detailed`] does.
    ///
    /// # Errors
    ///
    /// As [`Transformer::transform`].
    pub fn transform_detailed(&self, new: &Points) -> Result<Transformed> {
        self.placed(&*self.model.entered(new)?, false)
    }

    /// Embeds new points with standard deviations, as [`Model::transform_with_std`] does.
    ///
    /// # Errors
    ///
    /// As [`Transformer::transform`].
    pub fn transform_with_std(&self, new: &Points) -> Result<Transformed> {
        self.placed(&*self.model.entered(new)?, true)
    }

    fn placed(&self, new: &Points, deviations: bool) -> Result<Transformed> {
        let (model, columns) = (self.model, self.columns);
        if new.cols() != columns {
            let what = if model.points.is_some() { "features" } else { "training points (one distance each)" };
            return Err(Error::mismatch(
                "columns",
                (new.cols(), columns),
                format!("the new rows have {} columns and the model was fitted to {columns} {what}", new.cols()),
                "give the same columns in the same order",
            ));
        }
        if model.points.is_some() {
            model.metric().check(new)?;
        }
        if let Some(&at) = new.missing().first().filter(|_| model.points.is_none()) {
            let (row, column) = (at / columns + 1, at % columns + 1);
            return Err(Error::data(
                format!("row {row}, column {column} is missing, and a new point needs its distances to all"),
                "fill it in",
            )
            .at_row(row - 1)
            .at_column(column - 1));
        }
        let full;
        let mut new = new;
        if let Some(points) = model.seen_points().filter(|_| !new.missing().is_empty() && model.latent().is_none()) {
            full = filled_from(points, new)?;
            new = &full;
        }
        match self.parts.as_slice() {
            [(_, map, rule)] => place_on(rule.as_ref(), map, new, deviations),
            _ => self.place_by_component(new, deviations),
        }
    }

    /// An index of all training points, if the model has their features.
    fn index(&self) -> Result<Option<&Index<'_>>> {
        if self.index.get().is_none() {
            let model = self.model;
            let index = model.seen_points().map(|points| Index::new(points, model.metric())).transpose()?;
            // The cell is empty, and is no thread's but this one's.
            let _ = self.index.set(index);
        }
        Ok(self.index.get().and_then(Option::as_ref))
    }

    /// The nearest training rows of new rows, k each.
    pub(crate) fn nearest_rows(&self, new: &Points, k: usize) -> Result<Vec<u32>> {
        let (Some(points), Some(index)) = (self.model.seen_points(), self.index()?) else { return Ok(Vec::new()) };
        let mut new = self.model.entered(new)?;
        if !new.missing().is_empty() {
            new = Cow::Owned(filled_from(points, &new)?);
        }
        Ok(index.nearest(&new, k)?.0)
    }

    /// Every new point goes to the component of its nearest training point.
    fn place_by_component(&self, new: &Points, deviations: bool) -> Result<Transformed> {
        let dims = self.model.embedding.cols();
        let nearest: Vec<u32> = match self.index()? {
            Some(index) => index.nearest(new, 1)?.0,
            None => (0..new.rows())
                .map(|i| {
                    let row = new.row(i);
                    let least = (0..row.len()).min_by(|&a, &b| row[a].total_cmp(&row[b]));
                    least.unwrap_or_default() as u32
                })
                .collect(),
        };
        let (mut values, mut far) = (vec![0.0; new.rows() * dims], Vec::new());
        let mut sure = deviations.then(|| vec![0.0; new.rows() * dims]);
        for (part, map, rule) in &self.parts {
            let ours: Vec<usize> = (0..new.rows()).filter(|&i| part.rows.binary_search(&nearest[i]).is_ok()).collect();
            if ours.is_empty() {
                continue;
            }
            let width = part.width;
            let mut queries = new.select(&ours);
            if self.model.points.is_none() {
                let columns = ours.iter().flat_map(|&i| part.rows.iter().map(move |&j| new.row(i)[j as usize]));
                queries = Points::new(ours.len(), part.rows.len(), columns.collect())?;
            }
            let placed = place_on(rule.as_ref(), map, &queries, deviations)?;
            // A component of a single point says nothing of how sure it is.
            sure = sure.filter(|_| placed.deviations.is_some());
            far.extend(placed.far.iter().map(|&at| ours[at]));
            for (at, &i) in ours.iter().enumerate() {
                values[i * dims..i * dims + width].copy_from_slice(placed.coordinates.row(at));
                values[i * dims] += part.shift;
                if let (Some(sure), Some(own)) = (&mut sure, &placed.deviations) {
                    sure[i * dims..i * dims + width].copy_from_slice(own.row(at));
                }
            }
        }
        far.sort_unstable();
        let deviations = sure.map(|values| Points::computed(new.rows(), dims, values)).transpose()?;
        Ok(Transformed { coordinates: Points::computed(new.rows(), dims, values)?, far, deviations })
    }
}

/// New points on the map of one component.
fn place_on(rule: Option<&PreparedRule<'_>>, map: &Points, new: &Points, deviations: bool) -> Result<Transformed> {
    let Some(rule) = rule else {
        let row = map.row(0);
        let coordinates = Points::new(new.rows(), row.len(), row.repeat(new.rows()))?;
        return Ok(Transformed { coordinates, far: Vec::new(), deviations: None });
    };
    let placed = rule.place(new)?;
    let deviations = if deviations { rule.deviations(new, &placed.coordinates)? } else { None };
    Ok(Transformed { deviations, ..placed })
}

impl Model {
    /// Prepares the embedding of new points once for any number of batches.
    ///
    /// # Errors
    ///
    /// If the model knows no points: one fitted to a bare graph, or a method of the locally linear family fitted to
    /// distances.
    pub fn transformer(&self) -> Result<Transformer<'_>> {
        let columns = self.columns()?;
        let grounds = self.grounds()?;
        let parts = self.parts.iter().zip(grounds).map(|(part, ground)| {
            let map = ground.map.as_ref().unwrap_or(&self.embedding);
            let points = if ground.map.is_some() { ground.points.as_ref() } else { self.seen_points() };
            let rule =
                part.rule.as_ref().map(|rule| rule.prepare(&self.known(part, points, map), ground.among.as_ref()));
            (part, map, rule)
        });
        Ok(Transformer { model: self, columns, parts: parts.collect(), index: OnceCell::new() })
    }

    /// Embeds new points, each row on its own: `transform(X)[i]` is `transform(X[i..i+1])`, and a training row gets its
    /// own coordinates (of several equal ones, those of the first). A model of distances takes, for every new point, its
    /// distances to all training points. For many batches of rows there is [`Model::transformer`].
    ///
    /// # Errors
    ///
    /// If the rows do not have the columns the model was fitted to, or the model knows no points: one fitted to a bare
    /// graph, or a method of the locally linear family fitted to distances.
    pub fn transform(&self, new: &Points) -> Result<Points> {
        self.transformer()?.transform(new)
    }

    /// Transforms new points as [`Model::transform`] does, and reports which of them are far from all training points.
    ///
    /// # Errors
    ///
    /// As [`Model::transform`].
    pub fn transform_detailed(&self, new: &Points) -> Result<Transformed> {
        self.transformer()?.transform_detailed(new)
    }

    /// Transforms new points as [`Model::transform_detailed`] does, with standard deviations of their coordinates, estimated
    /// from up to 256 training rows that are placed by the others.
    ///
    /// # Errors
    ///
    /// As [`Model::transform`].
    pub fn transform_with_std(&self, new: &Points) -> Result<Transformed> {
        self.transformer()?.transform_with_std(new)
    }

    /// The training data of one component, as its rule takes them.
    fn known<'a>(&'a self, part: &'a Part, points: Option<&'a Points>, map: &'a Points) -> Known<'a> {
        let points = points.map(|points| (points, self.metric()));
        let (k, radius) = (part.k.min(map.rows()), self.radius());
        Known { points, k, map, eigenvalues: &part.eigenvalues, radius }
    }

    /// The training data of every component that are copies of a part of the model's.
    fn grounds(&self) -> Result<&[Ground]> {
        if let Some(grounds) = self.seen.grounds.get() {
            return Ok(grounds);
        }
        let ground = |part: &Part| {
            let (map, points) = match self.parts.len() {
                1 => (None, None),
                _ => self.component(part).map(|(map, points)| (Some(map), points))?,
            };
            let known = match &map {
                Some(map) => self.known(part, points.as_ref(), map),
                None => self.known(part, self.seen_points(), &self.embedding),
            };
            let among = part.rule.as_ref().and_then(|rule| known.among(rule.candidates()));
            Ok(Ground { among, map, points })
        };
        let grounds = self.parts.iter().map(ground).collect::<Result<Vec<_>>>()?;
        Ok(self.seen.grounds.get_or_init(|| grounds))
    }

    /// How far new points are from training points: by the metric of the recipe, unless the method does without it.
    pub(crate) fn metric(&self) -> Metric {
        let uses = self.parts.first().and_then(|part| part.rule.as_ref()).is_none_or(|rule| rule.traits().uses_metric);
        // Rows are whitened already where this is used.
        if uses && self.recipe.metric != Metric::Mahalanobis { self.recipe.metric } else { Metric::Euclidean }
    }

    /// The distance within which the graph of the fit has edges, if it has one that a radius made.
    fn radius(&self) -> Option<f64> {
        match self.recipe.neighbors {
            Neighbors::Within(radius) if self.recipe.method.info().needs_graph => Some(radius),
            _ => None,
        }
    }

    /// The columns new rows must have.
    fn columns(&self) -> Result<usize> {
        if let Some(points) = &self.points {
            return Ok(points.cols());
        }
        let local = || self.parts.iter().filter_map(|part| part.rule.as_ref()).any(|rule| rule.traits().needs_points);
        if self.kind != InputKind::Distances || local() {
            let (method, what) = (&self.report.method, self.kind.phrase());
            return Err(Error::input_kind(
                &["points"],
                format!("this {method} model was fitted to {what} and cannot embed new points"),
                "fit it to points",
            ));
        }
        Ok(self.embedding.rows())
    }

    /// How many components were kept separate; one if they were not.
    pub(crate) fn components_kept(&self) -> usize {
        self.parts.len()
    }

    /// Where training rows would go if they were new, each placed by the others of its component.
    pub(crate) fn place_without(&self, rows: &[usize]) -> Result<Points> {
        let dims = self.embedding.cols();
        let (Some(points), metric) = (self.seen_points(), self.metric()) else {
            return Ok(self.embedding.select(rows));
        };
        if let [Part { rule: Some(rule), k, eigenvalues, .. }] = self.parts.as_slice() {
            let (map, points) = (&self.embedding, Some((points, metric)));
            let known = Known { points, k: (*k).min(map.rows()), map, eigenvalues, radius: self.radius() };
            return rule.place_without(&known, rows);
        }
        let mut values = self.embedding.select(rows).values().to_vec();
        for part in &self.parts {
            let Some(rule) = &part.rule else { continue };
            let (at, own): (Vec<usize>, Vec<usize>) = (rows.iter().enumerate())
                .filter_map(|(at, &row)| Some((at, part.rows.binary_search(&(row as u32)).ok()?)))
                .unzip();
            if own.is_empty() {
                continue;
            }
            let (map, points) = self.component(part)?;
            let points = points.as_ref().map(|points| (points, metric));
            let (k, radius) = (part.k.min(map.rows()), self.radius());
            let known = Known { points, k, map: &map, eigenvalues: &part.eigenvalues, radius };
            let placed = rule.place_without(&known, &own)?;
            for (&at, row) in at.iter().zip(0..) {
                values[at * dims..at * dims + part.width].copy_from_slice(placed.row(row));
                values[at * dims] += part.shift;
            }
        }
        Points::computed(rows.len(), dims, values)
    }

    /// The coordinates and the features of one component alone.
    fn component(&self, part: &Part) -> Result<(Points, Option<Points>)> {
        let rows: Vec<usize> = part.rows.iter().map(|&i| i as usize).collect();
        let own = |&i: &usize| {
            let mut row = self.embedding.row(i)[..part.width].to_vec();
            row[0] -= part.shift;
            row
        };
        let map = Points::new(rows.len(), part.width, rows.iter().flat_map(own).collect())?;
        Ok((map, self.seen_points().map(|points| points.select(&rows))))
    }
}

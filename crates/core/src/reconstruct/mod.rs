//! The inverse transform: from embedding points to rows of data, with a standard deviation for every entry.
//!
//! | model | rule | the data row at y |
//! |---|---|---|
//! | pca, mds of points | linear | `x̄ + U y`, exact; the standard deviation of a feature is the root of its discarded variance |
//! | ppca, fa | linear | the mean of rows with these posterior means, by the model (`extend/latent.rs`) |
//! | gplvm | process | the prediction of its own process at y (`process.rs`) |
//! | elastic, on request | energy | the minimum of the objective with one more point (`energy.rs`) |
//! | every other model of points | kriging | a weighted mean of the data rows of the nearest map points (`kriging.rs`) |
//!
//! The weights and the standard deviations of kriging come from a Gaussian process over the map, so that an embedding
//! point without map points around it has a large standard deviation. Every point is reconstructed independently:
//! `reconstruct(Y)[i]` is `reconstruct(Y[i..i+1])`, bit for bit. `docs/guide/inverse-transform.md` has examples and
//! limits, `docs/internals/calibration.md` the coverage of the intervals.

mod calibration;
mod diagnostics;
mod draws;
mod energy;
mod export;
mod kriging;
mod linear;
mod map_neighbors;
mod neighborhood;
mod prediction;
mod process;
mod state;

use crate::model::Model;
use crate::preparation::Prepared;
pub(crate) use calibration::{LEVELS, counted};
pub use diagnostics::{ReconstructionDiagnostics, ReconstructionRule};
use draws::Errors;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result, plural};
use eigenfold_linalg::parallel;
use energy::Energy;
pub use export::Portable;
pub(crate) use kriging::Kriging;
pub(crate) use map_neighbors::MapNeighbors;
use neighborhood::Neighborhood;
pub(crate) use prediction::At;
pub use state::LearnedInverse;
use state::Ready;
use std::sync::Arc;

/// The number of training rows whose errors the samples of a linear rule follow.
const DRAWN: usize = 2000;

/// The range of training set sizes for which holding rows out is cheap and informative.
pub(crate) const HELD_OUT: std::ops::RangeInclusive<usize> = 20..=1000;

/// The 97.5 % quantile of a standard Gaussian: mean ± this holds 95 %.
const MARGIN: f64 = 1.959_963_984_540_054;

/// Reconstructed data rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconstruction {
    /// One data row per embedding point, in their order.
    pub points: Points,
    /// The standard deviation of each entry, or the half-width of its 68 % interval if errors are not Gaussian: 68 % of
    /// rows observed at such embedding points are within it.
    pub deviations: Points,
    /// The half-width of the 95 % interval of each entry: 95 % of rows observed at such embedding points are within it.
    pub margins: Points,
    /// The rule, and its error on the training rows.
    pub diagnostics: ReconstructionDiagnostics,
    /// The embedding points (counted from 0) that are farther from all map points than these are from each other.
    pub far: Vec<usize>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// The inverse transform of a map, learned once for any number of embedding points.
pub struct InverseTransform<'a> {
    /// The training rows with their columns prepared, and their coordinates.
    points: &'a Points,
    map: &'a Points,
    near: MapNeighbors<'a>,
    /// Whether the map can be refitted without some of the rows.
    renewable: bool,
    /// The preparation of the columns.
    prepared: Option<&'a Prepared>,
    rule: Ready<'a>,
    diagnostics: ReconstructionDiagnostics,
    /// The calibration factors of standard deviations and 95 % half-widths.
    calibration_factor: [f64; 2],
}

impl Model {
    /// Data rows at embedding points, each reconstructed independently, with the standard deviation of every entry.
    ///
    /// # Errors
    ///
    /// If the model was not fitted to points, or the embedding points do not have one column per coordinate of the map.
    pub fn reconstruct(&self, coordinates: &Points) -> Result<Reconstruction> {
        self.check_coordinates(coordinates)?;
        self.inverse_transform()?.reconstruct(coordinates)
    }

    /// Learns the inverse transform of the map; [`Model::reconstruct`] does so at every call.
    ///
    /// # Errors
    ///
    /// If the model was not fitted to points.
    pub fn inverse_transform(&self) -> Result<InverseTransform<'_>> {
        self.inverse_by(None)
    }

    /// The learned state of the inverse transform, for callers that keep it and call [`Model::inverse_from`] many
    /// times.
    ///
    /// # Errors
    ///
    /// If the model was not fitted to points.
    pub fn learn_inverse(&self) -> Result<LearnedInverse> {
        self.learned_inverse()
    }

    /// The inverse transform from a state learned before: that of [`Model::inverse_transform`] bit for bit, without its
    /// cost.
    ///
    /// # Errors
    ///
    /// If it was learned from a model with another number of points, features or coordinates.
    pub fn inverse_from(&self, learned: &LearnedInverse) -> Result<InverseTransform<'_>> {
        self.inverse_by(Some(learned))
    }

    /// The inverse transform by the objective of elastic embedding (Carreira-Perpiñán 2010, equation 13) in place of
    /// kriging.
    ///
    /// # Errors
    ///
    /// If the model is not one of elastic embedding with squared repulsion, fitted to points in one component.
    pub fn inverse_by_energy(&self) -> Result<InverseTransform<'_>> {
        if self.frame.whitening.is_some() {
            let fact = "the inverse transform by the objective gives whitened columns only";
            return Err(Error::inapplicable("by", fact, "leave out `by`, or use another `metric` than mahalanobis"));
        }
        let points = self.data()?;
        let near = MapNeighbors::new(&self.embedding, self.components())?;
        let energy = Energy::new(self, points, &near)?;
        let diagnostics = ReconstructionDiagnostics {
            rule: ReconstructionRule::Energy,
            rows: energy.rows,
            error: Some(energy.error),
            within: Some(energy.within),
            log_density: None,
        };
        Ok(self.inverse_of(points, near, Ready::Energy(Arc::new(energy)), diagnostics))
    }

    /// A supervised map used classes, which a model does not store, so that it cannot be refitted.
    fn is_renewable(&self) -> bool {
        !self.recipe().method.is_supervised()
    }

    /// An inverse transform of this model.
    fn inverse_of<'a>(
        &'a self,
        points: &'a Points,
        near: MapNeighbors<'a>,
        rule: Ready<'a>,
        diagnostics: ReconstructionDiagnostics,
    ) -> InverseTransform<'a> {
        let by = InverseTransform::by(points, &self.embedding, near, rule, diagnostics);
        InverseTransform { prepared: self.prepared(), renewable: self.is_renewable(), ..by }
    }

    /// The training points before whitening, or the reason why there are none.
    fn data(&self) -> Result<&Points> {
        self.prepared_points().ok_or_else(|| {
            let (method, what) = (&self.report.method, self.kind.phrase());
            Error::input_kind(
                &["points"],
                format!("this {method} model was fitted to {what} and has no data space to reconstruct"),
                "fit it to points",
            )
        })
    }

    /// Checks that embedding points have one column per coordinate of the map, and that there is a data space.
    ///
    /// # Errors
    ///
    /// If not.
    pub fn check_coordinates(&self, places: &Points) -> Result<()> {
        self.data()?;
        check_columns(places, &self.embedding)
    }
}

fn check_columns(places: &Points, map: &Points) -> Result<()> {
    let (given, dims) = (places.cols(), map.cols());
    if given != dims {
        let (columns, coordinates) = (plural(given, "column"), plural(dims, "coordinate"));
        return Err(Error::mismatch(
            "columns",
            (given, dims),
            format!("the embedding points have {columns} and the map has {coordinates}"),
            "give one column for each coordinate",
        ));
    }
    Ok(())
}

impl<'a> InverseTransform<'a> {
    /// The inverse transform of any map of the points, by local kriging.
    ///
    /// ```
    /// use eigenfold::{Points, InverseTransform};
    ///
    /// let points = Points::from_rows(&(0..30).map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect::<Vec<_>>())?;
    /// let map = points.select_columns(&[0]);
    /// let back = InverseTransform::of_map(&points, &map)?.reconstruct(&Points::from_rows(&[[7.5]])?)?;
    /// assert!((back.points.row(0)[1] - 15.0).abs() < 0.01);
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the map does not have one row per point.
    pub fn of_map(points: &'a Points, map: &'a Points) -> Result<InverseTransform<'a>> {
        if points.rows() != map.rows() {
            let fact = format!("the data have {} rows and the map has {}", points.rows(), map.rows());
            return Err(Error::mismatch(
                "rows",
                (map.rows(), points.rows()),
                fact,
                "give one row per point, in the same order",
            ));
        }
        let all: Vec<usize> = (0..points.rows()).collect();
        let near = MapNeighbors::new(map, None)?;
        let learned = LearnedInverse::by_kriging(Kriging::of_map(points, &near, &all, 0)?, points, &near);
        Ok(InverseTransform::by(points, map, near, learned.rule, learned.diagnostics))
    }

    /// An inverse transform with the standard deviations and 95 % half-widths of the rule.
    fn by(
        points: &'a Points,
        map: &'a Points,
        near: MapNeighbors<'a>,
        rule: Ready<'a>,
        diagnostics: ReconstructionDiagnostics,
    ) -> InverseTransform<'a> {
        InverseTransform {
            points,
            map,
            near,
            renewable: false,
            prepared: None,
            rule,
            diagnostics,
            calibration_factor: [1.0; 2],
        }
    }
}

impl InverseTransform<'_> {
    /// The rule and its diagnostics.
    pub fn diagnostics(&self) -> &ReconstructionDiagnostics {
        &self.diagnostics
    }

    /// Data rows at embedding points, each reconstructed independently.
    ///
    /// # Errors
    ///
    /// If the embedding points do not have one column per coordinate of the map.
    pub fn reconstruct(&self, coordinates: &Points) -> Result<Reconstruction> {
        let (at, far) = self.answers(coordinates)?;
        let back = self.reconstruction(&at, far)?;
        let Some(prepared) = self.prepared else { return Ok(back) };
        let [points, deviations, margins] = prepared.undo_widths([&back.points, &back.deviations, &back.margins])?;
        Ok(Reconstruction { points, deviations, margins, ..back })
    }

    fn reconstruction(&self, at: &[At], far: Vec<usize>) -> Result<Reconstruction> {
        let cols = self.points.cols();
        let all = |of: &dyn Fn(&At) -> Vec<f64>| Points::computed(at.len(), cols, at.iter().flat_map(of).collect());
        Ok(Reconstruction {
            points: all(&|at| at.row.clone())?,
            deviations: all(&|at| at.calibrated(0, self.calibration_factor[0]))?,
            margins: all(&|at| at.calibrated(1, self.calibration_factor[1]))?,
            diagnostics: self.diagnostics.clone(),
            warnings: self.warning(far.len(), at.len()).into_iter().collect(),
            far,
        })
    }

    /// The predictions at all embedding points, for the prepared columns, and which points are far.
    pub(crate) fn answers(&self, coordinates: &Points) -> Result<(Vec<At>, Vec<usize>)> {
        check_columns(coordinates, self.map)?;
        let around = self.near.around(coordinates)?;
        let at = parallel::try_collect(around.len(), |i| self.at(coordinates.row(i), &around[i]))?;
        Ok((at, (0..around.len()).filter(|&i| around[i].is_far()).collect()))
    }

    /// Whether rows should be held out to calibrate standard deviations and 95 % half-widths
    /// ([`Recipe::held_out_rows`](crate::Recipe::held_out_rows)): the rule is kriging, few rows make it cheap, and the
    /// map can be refitted.
    pub fn holds_out_rows(&self) -> bool {
        let kriging = matches!(self.diagnostics.rule, ReconstructionRule::Kriging { .. });
        kriging && self.renewable && HELD_OUT.contains(&self.map.rows())
    }

    /// The same inverse transform with all standard deviations and all 95 % half-widths multiplied by a calibration
    /// factor each, so that held-out rows are within them with the nominal probability
    /// ([`HeldOutRows::calibration_factor`](crate::HeldOutRows)).
    #[must_use]
    pub fn calibrated(mut self, calibration_factor: [f64; 2]) -> Self {
        self.calibration_factor = calibration_factor;
        self
    }

    /// Joint samples of the data rows at embedding points, `count` per point, one point after the other: the errors of
    /// entries follow the standard deviations and 95 % half-widths, and the features of a row are correlated as their
    /// errors around the point are. Different points are sampled independently. The same seed gives the same rows.
    ///
    /// # Errors
    ///
    /// If the embedding points do not have one column per coordinate of the map, if `count` is zero, or if the inverse
    /// transform is by the objective of elastic embedding, which has no errors to sample from.
    pub fn draw(&self, coordinates: &Points, count: usize, seed: u64) -> Result<Points> {
        if count == 0 {
            return Err(Error::out_of_range(
                "samples",
                0,
                1..=usize::MAX,
                "`samples` is 0",
                "draw at least one row per embedding point",
            ));
        }
        let (at, far) = self.answers(coordinates)?;
        let back = self.reconstruction(&at, far)?;
        let drawn = self.errors()?.draw(coordinates, &back, count, seed)?;
        match self.prepared {
            Some(prepared) => prepared.undo(&drawn),
            None => Ok(drawn),
        }
    }

    /// Training rows with their errors, in units of their standard deviations.
    fn errors(&self) -> Result<Errors> {
        match &self.rule {
            Ready::Kriging(kriging) => Ok(kriging.errors(self.map)),
            Ready::Linear(by) => Ok(by.errors(self.points, self.map)),
            Ready::Process(by) => Ok(by.errors(self.map)),
            Ready::Energy(_) => Err(Error::inapplicable(
                "by",
                "there are no `samples` of the inverse transform by the objective",
                "leave out `by`",
            )),
        }
    }

    fn at(&self, y: &[f64], around: &Neighborhood) -> Result<At> {
        match &self.rule {
            Ready::Linear(by) => Ok(At::gaussian(by.row(y).collect(), by.deviations.clone())),
            Ready::Energy(energy) => energy.at(y, around),
            Ready::Process(by) => {
                let (row, deviations) = by.at(y);
                Ok(At::gaussian(row, deviations))
            }
            Ready::Kriging(kriging) => Ok(kriging.at(self.points, around)),
        }
    }

    /// The warning about `far` of `places` embedding points ([`Reconstruction::far`]), for callers that reconstruct in batches.
    pub fn warning(&self, far: usize, places: usize) -> Option<String> {
        if far == 0 {
            return None;
        }
        let verb = if far == 1 { "is" } else { "are" };
        let advice = match self.rule {
            Ready::Linear(_) => "the linear inverse extrapolates there",
            Ready::Energy(_) | Ready::Process(_) | Ready::Kriging(_) => "their standard deviations are large there",
        };
        Some(format!("{far} of {} {verb} far from all points of the map; {advice}", plural(places, "embedding point")))
    }
}

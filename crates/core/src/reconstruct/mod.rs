//! The way back: from places on the map to rows of data, with a deviation for every entry.
//!
//! | model | rule | the data row at y |
//! |---|---|---|
//! | pca, mds of points | linear | `x̄ + U y`, exact; the deviation of a feature is the root of its discarded variance |
//! | ppca, fa | linear | what rows with these posterior means are on average, by the model (`place/latent.rs`) |
//! | gplvm | process | what its own process predicts at y (`process.rs`) |
//! | elastic, if asked for | energy | where the objective with one more point is least (`energy.rs`) |
//! | every other model of points | kriging | a weighted mean of the data rows of the nearest map points (`kriging.rs`) |
//!
//! The weights and the deviations of kriging come from a Gaussian process over the map, so that a place without map
//! points around it has a large deviation. Every place is answered on its own: `reconstruct(Y)[i]` is
//! `reconstruct(Y[i..i+1])`, bit for bit. `docs/reconstruct.md` has examples, figures and limits.

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

use crate::fit::unit::Unit;
use crate::model::Model;
use crate::preparation::Prepared;
pub(crate) use calibration::{LEVELS, counted};
pub use diagnostics::{BackRule, Evidence};
use draws::Errors;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result, plural};
use eigenfold_linalg::parallel;
use eigenfold_linalg::power::times_two_to;
use energy::Energy;
pub use export::Portable;
pub(crate) use kriging::Kriging;
pub(crate) use map_neighbors::MapNeighbors;
use neighborhood::Neighborhood;
pub(crate) use prediction::At;
pub use state::Learned;
use state::Ready;
use std::sync::Arc;

/// Training rows whose errors the draws of a linear rule follow.
const DRAWN: usize = 2000;

/// Between so many training rows holding some out is cheap, and says enough.
pub(crate) const HELD_OUT: std::ops::RangeInclusive<usize> = 20..=1000;

/// Standard deviations on either side of the mean that hold 95 of 100 draws of a Gaussian.
const MARGIN: f64 = 1.959_963_984_540_054;

/// Data rows at places of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconstruction {
    /// One data row a place, in the order of the places.
    pub points: Points,
    /// The deviation of each entry: 68 of 100 rows observed at such places would be no further off. Where errors are
    /// Gaussian it is their standard deviation.
    pub deviations: Points,
    /// The margin of each entry: 95 of 100 rows observed at such places would be no further off.
    pub margins: Points,
    /// The rule, and how well it does on the training rows.
    pub evidence: Evidence,
    /// The places (counted from 0) that are further from all map points than these are from each other.
    pub far: Vec<usize>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// The way back from a map, learned once for any number of places.
pub struct WayBack<'a> {
    /// The training rows and their places, in the unit of the stages.
    points: &'a Points,
    map: &'a Points,
    near: MapNeighbors<'a>,
    /// Whether the map can be made again without some of the rows.
    renewable: bool,
    /// The unit of the stages.
    unit: Unit,
    /// What was done to the columns before.
    prepared: Option<&'a Prepared>,
    rule: Ready<'a>,
    evidence: Evidence,
    /// What deviations and margins are multiplied by.
    stretch: [f64; 2],
}

impl Model {
    /// Data rows at places of the map, each place on its own, with the deviation of every entry.
    ///
    /// # Errors
    ///
    /// If the model was not fitted to points, or the places do not have one column for each coordinate of the map.
    pub fn reconstruct(&self, coordinates: &Points) -> Result<Reconstruction> {
        self.check_places(coordinates)?;
        self.way_back()?.reconstruct(coordinates)
    }

    /// Learns the way back from the map; [`Model::reconstruct`] does it anew at every call.
    ///
    /// # Errors
    ///
    /// If the model was not fitted to points.
    pub fn way_back(&self) -> Result<WayBack<'_>> {
        Ok(self.outside(self.inside().way_back_inside(None)?))
    }

    /// What the way back learns, for callers that keep it and follow the way at many times by [`Model::way_back_as`].
    ///
    /// # Errors
    ///
    /// If the model was not fitted to points.
    pub fn learn_way_back(&self) -> Result<Learned> {
        self.inside().learned_inside()
    }

    /// The way back as it was learned from this model before: that of [`Model::way_back`] bit for bit, without its work.
    ///
    /// # Errors
    ///
    /// If it was learned from a model with another number of points, features or coordinates.
    pub fn way_back_as(&self, learned: &Learned) -> Result<WayBack<'_>> {
        Ok(self.outside(self.inside().way_back_inside(Some(learned))?))
    }

    /// A way in the unit of the stages as one in that of the user.
    fn outside<'a>(&'a self, inside: WayBack<'a>) -> WayBack<'a> {
        let (unit, renewable) = (self.back_unit(), self.is_renewable());
        WayBack { unit, prepared: self.prepared(), renewable, ..inside }.told()
    }

    /// The way back by the objective of elastic embedding (Carreira-Perpiñán 2010, equation 13) in place of kriging.
    ///
    /// # Errors
    ///
    /// If the model is not one of elastic embedding with squared repulsion, fitted to points in one component.
    pub fn way_back_by_energy(&self) -> Result<WayBack<'_>> {
        let inside = self.inside().way_back_by_energy_inside()?;
        Ok(WayBack { unit: self.unit, prepared: self.prepared(), renewable: self.is_renewable(), ..inside })
    }

    fn way_back_by_energy_inside(&self) -> Result<WayBack<'_>> {
        if self.observed.is_some() {
            let fact = "the objective leads back to whitened columns only";
            return Err(Error::parameter(format!("{fact}; leave out `by`, or use another `metric` than mahalanobis")));
        }
        let points = self.data()?;
        let near = MapNeighbors::new(&self.embedding, self.components())?;
        let energy = Energy::new(self, points, &near)?;
        let evidence = Evidence {
            rule: BackRule::Energy,
            rows: energy.rows,
            error: Some(energy.error),
            within: Some(energy.within),
            log_density: None,
        };
        Ok(WayBack::by(points, &self.embedding, near, Ready::Energy(Arc::new(energy)), evidence))
    }

    /// A supervised map went by classes, which a model does not keep, so that it cannot be made again.
    fn is_renewable(&self) -> bool {
        !self.recipe().method.is_supervised()
    }

    /// The powers of two by which places and data differ from those of the way back.
    fn back_unit(&self) -> Unit {
        self.inside().observed.as_ref().map_or(self.unit, |observed| Unit { data: observed.power, ..self.unit })
    }

    /// The training points, or why there are none; those before they were whitened.
    fn data(&self) -> Result<&Points> {
        self.observed.as_ref().map(|observed| &observed.points).or(self.points.as_ref()).ok_or_else(|| {
            let (method, what) = (&self.report.method, self.kind.phrase());
            Error::parameter(format!(
                "this {method} model was fitted to {what} and has no data space to go back to; fit it to points"
            ))
        })
    }

    /// Whether places have one column for each coordinate of the map, and there is a data space to go back to.
    ///
    /// # Errors
    ///
    /// If not.
    pub fn check_places(&self, places: &Points) -> Result<()> {
        self.data()?;
        check_columns(places, &self.embedding)
    }
}

fn check_columns(places: &Points, map: &Points) -> Result<()> {
    let (given, dims) = (places.cols(), map.cols());
    if given != dims {
        let (columns, coordinates) = (plural(given, "column"), plural(dims, "coordinate"));
        return Err(Error::data(format!(
            "the places have {columns} and the map has {coordinates}; give one column for each coordinate"
        )));
    }
    Ok(())
}

impl<'a> WayBack<'a> {
    /// The way back from any map of the points, whoever made it, by local kriging.
    ///
    /// ```
    /// use eigenfold::{Points, back::WayBack};
    ///
    /// let points = Points::from_rows(&(0..30).map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect::<Vec<_>>())?;
    /// let map = points.select_columns(&[0]);
    /// let back = WayBack::of_map(&points, &map)?.reconstruct(&Points::from_rows(&[[7.5]])?)?;
    /// assert!((back.points.row(0)[1] - 15.0).abs() < 0.01);
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the map does not have one row per point.
    pub fn of_map(points: &'a Points, map: &'a Points) -> Result<WayBack<'a>> {
        if points.rows() != map.rows() {
            let fact = format!("the data have {} rows and the map has {}", points.rows(), map.rows());
            return Err(Error::data(format!("{fact}; give one row per point, in the same order")));
        }
        let all: Vec<usize> = (0..points.rows()).collect();
        let near = MapNeighbors::new(map, None)?;
        let learned = Learned::by_kriging(Kriging::of_map(points, &near, &all, 0)?, points, &near);
        Ok(WayBack::by(points, map, near, learned.rule, learned.evidence))
    }

    /// A way in the unit of the points, with deviations and margins as the rule has them.
    fn by(
        points: &'a Points,
        map: &'a Points,
        near: MapNeighbors<'a>,
        rule: Ready<'a>,
        evidence: Evidence,
    ) -> WayBack<'a> {
        let (unit, stretch) = (Unit::default(), [1.0; 2]);
        WayBack { points, map, near, renewable: false, unit, prepared: None, rule, evidence, stretch }
    }
}

impl WayBack<'_> {
    /// With the noise of a process in the unit of the user.
    fn told(mut self) -> Self {
        if let BackRule::Process { noise, .. } = &mut self.evidence.rule {
            *noise = times_two_to(*noise, 2 * self.unit.data);
        }
        self
    }

    /// What predicts, and how well.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Data rows at places of the map, each place on its own.
    ///
    /// # Errors
    ///
    /// If the places do not have one column for each coordinate of the map.
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
            deviations: all(&|at| at.stretched(0, self.stretch[0]))?,
            margins: all(&|at| at.stretched(1, self.stretch[1]))?,
            evidence: self.evidence.clone(),
            warnings: self.warning(far.len(), at.len()).into_iter().collect(),
            far,
        })
    }

    /// What is said of every place, about the columns as they were prepared, and which places are far.
    pub(crate) fn answers(&self, coordinates: &Points) -> Result<(Vec<At>, Vec<usize>)> {
        check_columns(coordinates, self.map)?;
        if self.unit.is_one() {
            return self.answers_inside(coordinates);
        }
        let (at, far) = self.answers_inside(&coordinates.times_two_to(-self.unit.map))?;
        Ok((at.into_iter().map(|at| at.times_two_to(self.unit.data)).collect(), far))
    }

    /// As [`WayBack::answers`], in the unit of the stages.
    fn answers_inside(&self, coordinates: &Points) -> Result<(Vec<At>, Vec<usize>)> {
        let around = self.near.around(coordinates)?;
        let at = parallel::try_collect(around.len(), |i| self.at(coordinates.row(i), &around[i]))?;
        Ok((at, (0..around.len()).filter(|&i| around[i].is_far()).collect()))
    }

    /// Whether rows are better held out to set deviations and margins ([`Recipe::held_out_rows`](crate::Recipe::held_out_rows)):
    /// where kriging leads back, few rows make that cheap, and the map can be made again.
    pub fn holds_out_rows(&self) -> bool {
        let kriging = matches!(self.evidence.rule, BackRule::Kriging { .. });
        kriging && self.renewable && HELD_OUT.contains(&self.map.rows())
    }

    /// The same way with all deviations and all margins multiplied by a number each: those for which rows that had no part in
    /// the map are within them as often as they say ([`HeldOutRows::stretch`](crate::HeldOutRows)).
    #[must_use]
    pub fn stretched(mut self, stretch: [f64; 2]) -> Self {
        self.stretch = stretch;
        self
    }

    /// Joint draws of the data rows at places, `count` per place, one place after the other: entries are as far off as the
    /// deviations and margins say, and the features of a row go together as their errors do around the place. Different
    /// places are drawn independently. The same seed gives the same rows.
    ///
    /// # Errors
    ///
    /// If the places do not have one column for each coordinate of the map, if `count` is zero, or if the way back is by the
    /// objective of elastic embedding, which has no errors to draw from.
    pub fn draw(&self, coordinates: &Points, count: usize, seed: u64) -> Result<Points> {
        if count == 0 {
            return Err(Error::parameter("`samples` is 0; draw at least one row per place"));
        }
        check_columns(coordinates, self.map)?;
        let coordinates = coordinates.times_two_to(-self.unit.map);
        let (at, far) = self.answers_inside(&coordinates)?;
        let back = self.reconstruction(&at, far)?;
        let drawn = self.unit.data_out(&self.errors()?.draw(&coordinates, &back, count, seed)?)?;
        match self.prepared {
            Some(prepared) => prepared.undo(&drawn),
            None => Ok(drawn),
        }
    }

    /// Training rows with their errors, in units of their deviations.
    fn errors(&self) -> Result<Errors> {
        match &self.rule {
            Ready::Kriging(kriging) => Ok(kriging.errors(self.map)),
            Ready::Linear(by) => Ok(by.errors(self.points, self.map)),
            Ready::Process(by) => Ok(by.errors(self.map)),
            Ready::Energy(_) => {
                Err(Error::parameter("there are no `samples` of the way back by the objective; leave out `by`"))
            }
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

    fn warning(&self, far: usize, places: usize) -> Option<String> {
        if far == 0 {
            return None;
        }
        let verb = if far == 1 { "is" } else { "are" };
        let advice = match self.rule {
            Ready::Linear(_) => "the linear rule answers there too, but nothing supports it",
            Ready::Energy(_) | Ready::Process(_) | Ready::Kriging(_) => {
                "their deviations say how little is known there"
            }
        };
        Some(format!("{far} of {} {verb} far from all points of the map; {advice}", plural(places, "place")))
    }
}

//! The most likely position of a new row on a line under the Ornstein-Uhlenbeck process through the training rows.

use super::Known;
use crate::gp::line::Line;
use crate::gp::problem::Problem;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The process, in the units of the fit: the training rows have mean square one, and the length is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OnLine {
    /// v.
    pub(crate) variance: f64,
}

impl OnLine {
    pub(super) fn fits(&self, dims: usize) -> bool {
        self.variance.is_finite() && self.variance > 0.0 && dims == 1
    }

    /// The process with its training rows.
    pub(crate) fn line(&self, points: &Points, map: &Points) -> Result<Line> {
        Ok(Line::new(Problem::new(points, map, true)?, map, self.variance))
    }

    pub(super) fn prepared(&self, known: &Known<'_>) -> Result<Line> {
        let (points, _) =
            known.points.ok_or_else(|| Error::input_kind(&["points"], "gplvm embeds points only", "give points"))?;
        self.line(points, known.map)
    }
}

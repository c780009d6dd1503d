//! The most likely position of a new row on a line under the Ornstein-Uhlenbeck process through the training rows.

use super::{Extension, Known, Sizes, Traits, TransformFn};
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

impl Extension for OnLine {
    fn traits(&self) -> Traits {
        Traits::OF_FEATURES
    }

    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>> {
        let (points, _) =
            known.points.ok_or_else(|| Error::input_kind(&["points"], "gplvm embeds points only", "give points"))?;
        let line = self.line(points, known.map)?;
        Ok(Box::new(move |batch| Ok(batch.each(|new| vec![line.place(&line.problem.row(new.row))]))))
    }

    fn fits(&self, sizes: Sizes) -> bool {
        self.variance.is_finite() && self.variance > 0.0 && sizes.dims == 1
    }
}

impl OnLine {
    /// The process with its training rows.
    pub(crate) fn line(&self, points: &Points, map: &Points) -> Result<Line> {
        Ok(Line::new(Problem::new(points, map, true)?, map, self.variance))
    }
}

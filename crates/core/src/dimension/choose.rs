//! The choice of the number of coordinates by the intrinsic dimension.

use super::{Dimension, Dimensions, Recommendation};
use crate::dimension::near::evenly_spaced;
use crate::likelihood::Likelihood;
use crate::recipe::Recipe;
use eigenfold_graph::Neighbors;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::{Observer, Silent};
use serde::Serialize;

/// The number of points on which a method is tried with this many coordinates.
const TRIAL: usize = 60;

/// The number of coordinates, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DimsChoice {
    /// The number.
    pub chosen: usize,
    /// The dimension of the points, its reason, and its caveats.
    pub recommended: Recommendation,
    /// Why the method cannot compute this many coordinates, if so.
    pub lowered: Option<String>,
    /// Warnings about the points.
    pub warnings: Vec<String>,
}

impl Recipe {
    /// Estimates the dimension of the points. The recipe keeps its own number: set `dims` to [`DimsChoice::chosen`] and
    /// fit.
    ///
    /// ```
    /// use eigenfold::{Isomap, Recipe, Silent, sample::Sample};
    ///
    /// let helix = Sample::Helix.draw(500, 0.0, 1)?.points;
    /// let mut recipe = Recipe { method: Isomap::default().into(), ..Recipe::default() };
    /// recipe.dims = recipe.choose_dims(&helix, &Silent)?.chosen;
    /// assert_eq!(recipe.dims, 1);
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Dimension::of`].
    pub fn choose_dims(&self, points: &Points, observer: &dyn Observer) -> Result<DimsChoice> {
        let estimators = Dimension { global: false, seed: self.seed, ..Dimension::default() };
        let (recipe, points) = self.after_preparation(points)?;
        let Dimensions { recommended, warnings, .. } = estimators.of(&points, observer)?;
        let (chosen, lowered) = recipe.possible(recommended.dims, &points);
        Ok(DimsChoice { chosen, recommended, lowered, warnings })
    }

    /// The maximum number of coordinates up to `dims` that the method accepts, and its error for one more. Errors of
    /// other kinds are left to the fit, which reports them.
    fn possible(&self, dims: usize, points: &Points) -> (usize, Option<String>) {
        let k = match self.neighbors {
            Neighbors::Nearest(k) | Neighbors::Mutual(k) => k,
            Neighbors::Within(_) | Neighbors::All => 0,
        };
        let count = TRIAL.max(2 * k).max(dims + 2);
        let rows: Vec<usize> = evenly_spaced(points.rows(), count).iter().map(|&i| i as usize).collect();
        let some = points.select(&rows);
        let mut refusal = None;
        for fewer in (1..=dims).rev() {
            let trial = Recipe { dims: fewer, likelihood: Likelihood::Never, snapshots: 0, ..self.clone() };
            match trial.fit(&some, &Silent) {
                Err(error) if error.is_parameter() => refusal = refusal.or(Some(error.to_string())),
                _ => return (fewer, refusal),
            }
        }
        (dims, None)
    }
}

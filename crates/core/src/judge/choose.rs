//! The number of neighbors, chosen by how well every point's data are predicted from its place on the map.
//!
//! A ladder of k is tried. Each map is judged by the way back ([`crate::back`]): rows are left out and predicted
//! from their nearest neighbors on the map, and the root mean square error, relative to the data's standard deviation, is
//! the criterion; the least wins, the smaller k if two tie. Where too many neighbors join sheets that are far apart
//! along the data, points from both lie side by side on the map and the error jumps; where there are too few, the map is
//! creased and it grows. Graphs in one piece go before all others, and then fits that converged.
//! docs/decisions/0009-choosing-k.md compares this with the likelihood, in sample and held out.

use crate::error::{Error, Result};
use crate::graph::{Neighbors, Pieces};
use crate::likelihood::Likelihood;
use crate::points::Points;
use crate::progress::Observer;
use crate::recipe::Recipe;
use serde::Serialize;

/// The numbers of neighbors that are tried.
const LADDER: [usize; 10] = [4, 5, 6, 8, 10, 12, 15, 20, 30, 50];

/// One number of neighbors that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The number.
    pub k: usize,
    /// The error of left-out rows predicted from the map, relative to the data's standard deviation; nothing if there
    /// is no map for this k.
    pub value: Option<f64>,
    /// In how many pieces the graph is, before they are joined.
    pub pieces: usize,
    /// Whether the fit met its tolerances.
    pub converged: bool,
}

/// The number of neighbors, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The number.
    pub chosen: usize,
    /// Every number that was tried, ascending.
    pub tried: Vec<Tried>,
}

impl Recipe {
    /// Tries a ladder of numbers of neighbors, of the recipe's kind of graph. The recipe keeps its own number: set
    /// `neighbors` to [`Choice::neighbors`] and fit.
    ///
    /// ```
    /// use eigenfold::{Isomap, Recipe, progress::Silent, sample::Sample};
    ///
    /// let roll = Sample::SwissRoll.draw(500, 0.0, 1)?.points;
    /// let mut recipe = Recipe { method: Isomap::default().into(), ..Recipe::default() };
    /// let choice = recipe.choose_neighbors(&roll, &Silent)?;
    /// recipe.neighbors = choice.neighbors(recipe.neighbors);
    /// assert!(choice.chosen < 15, "with 15 the turns of this roll are joined");
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the method has no graph or the graph no number of neighbors, if no number gives a map, or as [`Recipe::fit`].
    pub fn choose_neighbors(&self, points: &Points, observer: &dyn Observer) -> Result<Choice> {
        let info = self.method.info();
        if !info.needs_graph {
            return Err(Error::parameter(format!(
                "{} has no neighbors to choose; leave out `neighbors` auto",
                info.name
            )));
        }
        if !matches!(self.neighbors, Neighbors::Nearest(_) | Neighbors::Mutual(_)) {
            return Err(Error::parameter(
                "`neighbors` auto goes with `graph` nearest or mutual only; leave one of them out",
            ));
        }
        let mut tried = Vec::new();
        let mut refused = None;
        for k in LADDER.into_iter().filter(|&k| k < points.rows()) {
            match self.tried(k, points, observer) {
                Ok(one) => tried.push(one),
                // Some methods need more neighbors, or cannot afford so many.
                Err(error) if error.is_parameter() || matches!(error, Error::Numerical(_)) => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        match best(&tried) {
            Some(chosen) => Ok(Choice { chosen, tried }),
            None => Err(refused.unwrap_or_else(|| {
                Error::parameter(format!(
                    "{} points are too few to choose k by; give `neighbors` a number",
                    points.rows()
                ))
            })),
        }
    }

    fn tried(&self, k: usize, points: &Points, observer: &dyn Observer) -> Result<Tried> {
        let pieces = if self.pieces == Pieces::Error { Pieces::Join } else { self.pieces };
        let neighbors = with_number(self.neighbors, k);
        let recipe = Recipe { neighbors, pieces, likelihood: Likelihood::Never, ..self.clone() };
        let model = recipe.fit_watched(points, observer)?;
        if observer.stop() {
            return Err(Error::Stopped);
        }
        let value = model.way_back()?.evidence().error.filter(|error| error.is_finite());
        Ok(Tried { k, value, pieces: model.report().pieces.len(), converged: model.report().converged })
    }
}

impl Choice {
    /// The chosen number, in a graph of the kind of `neighbors`.
    pub fn neighbors(&self, neighbors: Neighbors) -> Neighbors {
        with_number(neighbors, self.chosen)
    }
}

/// Graphs in one piece first, then fits that converged, then the least error, then the least number.
fn best(tried: &[Tried]) -> Option<usize> {
    let known = tried.iter().filter_map(|one| one.value.map(|value| ((one.pieces > 1, !one.converged), value, one.k)));
    known.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))).map(|(_, _, k)| k)
}

fn with_number(neighbors: Neighbors, k: usize) -> Neighbors {
    match neighbors {
        Neighbors::Nearest(_) => Neighbors::Nearest(k),
        Neighbors::Mutual(_) => Neighbors::Mutual(k),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_piece_goes_before_convergence_and_that_before_the_error() {
        let one = |k, value, pieces, converged| Tried { k, value, pieces, converged };
        let mut tried = vec![one(4, Some(0.1), 2, true), one(5, Some(0.2), 1, false)];
        assert_eq!(best(&tried), Some(5));
        tried.extend([one(6, None, 1, true), one(8, Some(0.4), 1, true), one(10, Some(0.4), 1, true)]);
        assert_eq!(best(&tried), Some(8));
        tried.push(one(12, Some(0.3), 1, true));
        assert_eq!(best(&tried), Some(12));
        assert_eq!(best(&[]), None);
    }
}

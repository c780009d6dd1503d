//! The number of neighbors, chosen by how well every point's data are predicted from its place on the map.
//!
//! A ladder of k is tried. Each map is judged by the way back ([`crate::back`]): rows are left out, placed by the others
//! and predicted from their nearest neighbors on the map, and the root mean square error, relative to the data's standard
//! deviation, is the criterion; no row counts for more than the mean of the data would be off on average. Where too many
//! neighbors join sheets that are far apart along the data, points from both lie side by side on the map and the error
//! jumps; where there are too few, the map is creased and it grows.
//!
//! Fits that converged go before the others. Among them the least error wins, unless its graph is in several pieces and a
//! graph in one piece has an error that is comparable, at most a quarter more; the smaller k if two tie.
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
/// A graph in one piece wins over one in several if its error is at most so many times as large.
const COMPARABLE: f64 = 1.25;

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
    /// Why, in a few words.
    pub reason: String,
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
            Some((chosen, reason)) => Ok(Choice { chosen, reason, tried }),
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

/// The number of neighbors by the rule above, and what decided.
fn best(tried: &[Tried]) -> Option<(usize, String)> {
    let converged = tried.iter().any(|one| one.value.is_some() && one.converged);
    let judged = tried.iter().filter(|one| one.converged == converged).filter_map(|one| Some((one, one.value?)));
    let least = |all: &mut dyn Iterator<Item = (&'_ Tried, f64)>| {
        all.map(|(one, value)| (one.k, value, one.pieces)).min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
    };
    let (k, error, pieces) = least(&mut judged.clone())?;
    let whole = least(&mut judged.filter(|(one, value)| one.pieces == 1 && *value <= COMPARABLE * error));
    let mut reason = match whole {
        Some((chosen, value, _)) if chosen != k => {
            return Some((
                chosen,
                format!(
                    "the least error, {value:.3}, of graphs in one piece; k = {k} has {error:.3} in {pieces} pieces"
                ),
            ));
        }
        _ if pieces > 1 => {
            format!("the least error of left-out rows, {error:.3}, although the graph is in {pieces} pieces")
        }
        _ => format!("the least error of left-out rows, {error:.3}"),
    };
    if !converged {
        reason.push_str("; no fit converged");
    }
    Some((k, reason))
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
    fn one_piece_wins_only_at_a_comparable_error_and_the_reason_says_so() {
        let one = |k, value, pieces, converged| Tried { k, value, pieces, converged };
        let chosen = |tried: &[Tried]| best(tried).map(|(k, _)| k);
        let mut tried = vec![one(4, Some(0.30), 8, true), one(5, Some(0.67), 1, true)];
        let (k, reason) = best(&tried).unwrap();
        assert_eq!(k, 4);
        assert_eq!(reason, "the least error of left-out rows, 0.300, although the graph is in 8 pieces");
        tried.push(one(6, Some(0.36), 1, true));
        let (k, reason) = best(&tried).unwrap();
        assert_eq!(k, 6);
        assert_eq!(reason, "the least error, 0.360, of graphs in one piece; k = 4 has 0.300 in 8 pieces");
        // A fit that did not converge has no say where others did.
        tried.extend([one(8, Some(0.1), 1, false), one(10, None, 1, true), one(12, Some(0.36), 1, true)]);
        assert_eq!(chosen(&tried), Some(6));
        assert_eq!(
            best(&[one(8, Some(0.1), 1, false)]).unwrap().1,
            "the least error of left-out rows, 0.100; no fit converged"
        );
        assert_eq!(chosen(&[one(8, None, 1, true)]), None);
        assert_eq!(chosen(&[]), None);
    }
}

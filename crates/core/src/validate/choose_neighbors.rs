//! The choice of the number of neighbors by the neighbor distance ratio.
//!
//! A ladder of k is tried. Each map is evaluated by its neighbor distance ratio (`neighbor_ratio.rs`): how many times
//! as far from a row, on a geometric mean over rows, its neighbors on the map are as the nearest in the data. Too many
//! neighbors connect surfaces that are far apart along the data, points from both then coincide on the map, and the
//! ratio jumps; with too few, the map is creased and the ratio grows.
//!
//! Fits that converged are preferred. Among them the smallest neighbor distance ratio is best, and every k counts as
//! equally good that is worse by at most two standard errors of the difference, row by row. Among these, connected
//! graphs are preferred; then the default of ten neighbors, if it is among them; then the smallest neighbor distance
//! ratio, and the smaller k in a tie.
//! Decision 71 in docs/decisions compares this with the error of left-out rows, and
//! docs/internals/measured-neighbors.md has the table.

use crate::input::Input;
use crate::likelihood::Likelihood;
use crate::recipe::Recipe;
use crate::validate::neighbor_ratio::NearestRows;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Disconnected, Neighbors};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Share};
use serde::Serialize;

/// The numbers of neighbors that are tried.
const LADDER: [usize; 10] = [4, 5, 6, 8, 10, 12, 15, 20, 30, 50];
/// A k is as good as the best if it is worse by at most this many standard errors.
const COMPARABLE: f64 = 2.0;
/// The preferred number among equals: the default of [`Neighbors`].
const USUAL: usize = 10;

/// One number of neighbors that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TriedNeighbors {
    /// The number.
    pub k: usize,
    /// The neighbor distance ratio of the map: how many times as far from a row its ten nearest on the map are as the
    /// ten nearest in the data, 1 at best; `None` if it is undefined for all rows.
    pub value: Option<f64>,
    /// The number of connected components of the graph, before they are joined.
    pub components: usize,
    /// Whether the fit converged.
    pub converged: bool,
}

/// The number of neighbors, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NeighborsChoice {
    /// The number.
    pub chosen: usize,
    /// The reason, in a few words.
    pub reason: String,
    /// Every number that was tried, ascending.
    pub tried: Vec<TriedNeighbors>,
}

impl Recipe {
    /// Tries a ladder of numbers of neighbors, for the recipe's kind of graph. The recipe is unchanged: set `neighbors`
    /// to [`NeighborsChoice::neighbors`] and fit.
    ///
    /// ```
    /// use eigenfold::{Isomap, Recipe, Silent, sample::Sample};
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
    pub fn choose_neighbors<'a>(
        &self,
        input: impl Into<Input<'a>>,
        observer: &dyn Observer,
    ) -> Result<NeighborsChoice> {
        let input: Input<'a> = input.into();
        let (points, labels) = (input.points()?, input.labels);
        let info = self.method.info();
        if !info.needs_graph {
            return Err(Error::inapplicable(
                "neighbors",
                format!("{} has no neighbors to choose", info.name),
                "leave out `neighbors` auto",
            ));
        }
        if !matches!(self.neighbors, Neighbors::Nearest(_) | Neighbors::Mutual(_)) {
            return Err(Error::inapplicable(
                "neighbors",
                "`neighbors` auto goes with `graph` nearest or mutual only",
                "leave one of them out",
            ));
        }
        let observer = &Share::all(observer);
        let ladder: Vec<usize> = LADDER.into_iter().filter(|&k| k < points.rows()).collect();
        let (recipe, points) = self.after_preparation(points)?;
        let nearness = NearestRows::new(&points, self.metric)?;
        let mut tried = Vec::new();
        let mut refused = None;
        for (at, &k) in ladder.iter().enumerate() {
            observer.trial(&format!("k = {k}, {} of {}", at + 1, ladder.len()));
            // Larger graphs take a little longer, and a solver may take much longer for some: two are more informative
            // than one.
            if at == 2 {
                observer.steady(false);
            }
            match recipe.tried(k, &points, labels, &nearness, &Share::one_of(observer, at, ladder.len())) {
                Ok(one) => tried.push(one),
                // Some methods need more neighbors, or cannot afford this many.
                Err(error) if error.is_parameter() || matches!(error, Error::Numerical { .. }) => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        observer.trial("");
        observer.finish();
        match best(&tried) {
            Some((chosen, reason)) => {
                Ok(NeighborsChoice { chosen, reason, tried: tried.into_iter().map(|one| one.tried).collect() })
            }
            None => Err(refused.unwrap_or_else(|| {
                Error::parameter(
                    "neighbors",
                    format!("{} points are too few to choose k by", points.rows()),
                    "give `neighbors` a number",
                )
            })),
        }
    }

    fn tried(
        &self,
        k: usize,
        points: &Points,
        labels: Option<&[Option<u32>]>,
        nearness: &NearestRows<'_>,
        observer: &dyn Observer,
    ) -> Result<Trial> {
        let disconnected =
            if self.disconnected == Disconnected::Error { Disconnected::Join } else { self.disconnected };
        let neighbors = with_number(self.neighbors, k);
        let recipe = Recipe { neighbors, disconnected, likelihood: Likelihood::Never, ..self.clone() };
        let model = recipe.fit(Input { labels, ..points.into() }, observer)?;
        if observer.stop() {
            return Err(Error::Stopped);
        }
        let logs = nearness.of(model.embedding())?;
        let value = (!logs.is_empty()).then(|| mean(&logs).exp());
        let (components, converged) = (model.report().graph.components.len(), model.report().ended.is_converged());
        Ok(Trial { tried: TriedNeighbors { k, value, components, converged }, logs })
    }
}

/// A number that was tried, with the logarithm of every row.
struct Trial {
    tried: TriedNeighbors,
    logs: Vec<f64>,
}

impl NeighborsChoice {
    /// The chosen number, in a graph of the kind of `neighbors`.
    pub fn neighbors(&self, neighbors: Neighbors) -> Neighbors {
        with_number(neighbors, self.chosen)
    }
}

/// The number of neighbors by the rule above, and the reason.
fn best(tried: &[Trial]) -> Option<(usize, String)> {
    let known = |one: &&Trial| one.tried.value.is_some();
    let converged = tried.iter().filter(known).any(|one| one.tried.converged);
    let evaluated: Vec<&Trial> = tried.iter().filter(known).filter(|one| one.tried.converged == converged).collect();
    let least = |all: &mut dyn Iterator<Item = &&'_ Trial>| -> Option<(usize, f64)> {
        let values = all.filter_map(|one| Some((one.tried.k, one.tried.value?)));
        values.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
    };
    let (k, neighbor_ratio) = least(&mut evaluated.iter())?;
    let first = evaluated.iter().find(|one| one.tried.k == k)?;
    let mut good: Vec<&Trial> = evaluated.iter().copied().filter(|one| one.is_as_good_as(first)).collect();
    let components = first.tried.components;
    let whole = components > 1 && good.iter().any(|one| one.tried.components == 1);
    if good.iter().any(|one| one.tried.components == 1) {
        good.retain(|one| one.tried.components == 1);
    }
    let usual = least(&mut good.iter().filter(|one| one.tried.k == USUAL));
    let (chosen, value) = usual.or_else(|| least(&mut good.iter()))?;
    let in_components =
        |components: usize| if components > 1 { format!(" in {components} components") } else { String::new() };
    let rest =
        format!("k = {k} has {neighbor_ratio:.3}{}, which is not significantly better", in_components(components));
    let mut reason = match usual {
        _ if chosen == k && components > 1 => {
            format!(
                "the smallest neighbor distance ratio, {neighbor_ratio:.3}, although the graph has {components} connected components"
            )
        }
        _ if chosen == k => format!("the smallest neighbor distance ratio, {neighbor_ratio:.3}"),
        Some(_) if whole => {
            format!("default among connected graphs, with a neighbor distance ratio of {value:.3}; {rest}")
        }
        Some(_) => format!("default, with a neighbor distance ratio of {value:.3}; {rest}"),
        None => format!("the smallest neighbor distance ratio, {value:.3}, of connected graphs; {rest}"),
    };
    if !converged {
        reason.push_str("; no fit converged");
    }
    Some((chosen, reason))
}

impl Trial {
    /// Whether it is worse by no more than sampling error, row by row.
    fn is_as_good_as(&self, other: &Trial) -> bool {
        let differences: Vec<f64> = self.logs.iter().zip(&other.logs).map(|(a, b)| a - b).collect();
        let (average, n) = (mean(&differences), differences.len() as f64);
        let variance = differences.iter().map(|d| (d - average).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        average <= COMPARABLE * (variance / n).sqrt()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
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
    use crate::Isomap;
    use crate::sample::Sample;
    use eigenfold_linalg::progress::Silent;

    /// A roll beside a flat sheet, each in a different unit. With more than six neighbors the turns of the roll are
    /// connected, and its part of the map is lost, while the sheet is equally good with any number.
    #[test]
    fn a_small_component_has_its_say_whether_components_are_kept_apart_or_joined() {
        let roll = Sample::SwissRoll.draw(300, 0.0, 1).unwrap().points;
        let chosen = |size: f64, disconnected: Disconnected| {
            let row = |i: usize| match i < 300 {
                true => [0, 1, 2].map(|j| size * roll.row(i)[j]),
                false => [1e5 + (i as f64 * 0.618_034).fract(), (i as f64 * 0.754_878).fract(), 0.0],
            };
            let points = Points::from_rows(&(0..500).map(row).collect::<Vec<_>>()).unwrap();
            let recipe = Recipe { method: Isomap::default().into(), disconnected, ..Recipe::default() };
            let choice = recipe.choose_neighbors(&points, &Silent).unwrap();
            let of = |k: usize| choice.tried.iter().find(|tried| tried.k == k).unwrap().value.unwrap();
            (choice.chosen, of(choice.chosen), of(50))
        };
        // Much smaller than the sheet, and much larger.
        let [small, large] = [1e-4, 1.0].map(|size| chosen(size, Disconnected::Separate));
        for (k, value, with_many) in [small, large] {
            assert!(k == 6 && with_many > 1.2 * value, "{k} {value} {with_many}");
        }
        // Joined to a sheet far away, a small roll is a dot on the map; the ratio shows that its rows have lost each
        // other.
        let (_, joined, _) = chosen(1e-4, Disconnected::Join);
        assert!(joined > 1.5 * small.1, "{joined} {small:?}");
    }

    /// Forty rows: half of them are off by the logarithm and a little more, half by a little less.
    fn trial(k: usize, log: Option<f64>, components: usize, converged: bool) -> Trial {
        let row = |i: usize| log.unwrap_or_default() + if (i + k).is_multiple_of(2) { 0.05 } else { -0.05 };
        let logs: Vec<f64> = (0..40).map(row).collect();
        Trial { tried: TriedNeighbors { k, value: log.map(|_| mean(&logs).exp()), components, converged }, logs }
    }

    #[test]
    fn one_component_wins_only_if_it_is_as_good_and_the_reason_says_so() {
        let chosen = |tried: &[Trial]| best(tried).map(|(k, _)| k);
        let mut tried = vec![trial(4, Some(0.30), 8, true), trial(5, Some(0.67), 1, true)];
        let (k, reason) = best(&tried).unwrap();
        assert_eq!(
            (k, reason.as_str()),
            (4, "the smallest neighbor distance ratio, 1.350, although the graph has 8 connected components")
        );
        // Rows differ by 0.1 up and down, so that the difference has a standard error of 0.1 / 40^½ = 0.016, twice that
        // is 0.032.
        tried.push(trial(7, Some(0.31), 1, true));
        let (k, reason) = best(&tried).unwrap();
        assert_eq!(k, 7);
        let wanted = "the smallest neighbor distance ratio, 1.363, of connected graphs; k = 4 has 1.350 in 8 components, which is not significantly better";
        assert_eq!(reason, wanted);
        // A fit that did not converge is ignored if others did.
        tried.extend([trial(8, Some(0.1), 1, false), trial(10, None, 1, true), trial(13, Some(0.31), 1, true)]);
        assert_eq!(chosen(&tried), Some(7));
        // The default number stays if no other is significantly better.
        tried.push(trial(10, Some(0.29), 8, true));
        assert_eq!(chosen(&tried), Some(7), "a graph in one component goes first");
        let tried = [trial(5, Some(0.30), 1, true), trial(10, Some(0.32), 1, true)];
        let wanted =
            "default, with a neighbor distance ratio of 1.377; k = 5 has 1.350, which is not significantly better";
        assert_eq!(best(&tried).unwrap(), (10, wanted.to_string()));
        assert_eq!(chosen(&[trial(5, Some(0.30), 1, true), trial(10, Some(0.34), 1, true)]), Some(5));
        assert_eq!(
            best(&[trial(8, Some(0.1), 1, false)]).unwrap().1,
            "the smallest neighbor distance ratio, 1.105; no fit converged"
        );
        assert_eq!(chosen(&[trial(8, None, 1, true)]), None);
        assert_eq!(chosen(&[]), None);
    }
}

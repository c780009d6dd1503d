//! The neighbors that stochastic neighbor embeddings hold on to: their number follows from a perplexity.

use crate::field::Site;
use crate::forces::perplexity::affinities;
use crate::forces::{Pairs, Real};
use crate::input::Data;
use crate::parameter::{Held, Value};
use eigenfold_graph::{Disconnected, Graph, Neighbors, Search};
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Neighbors for each of the effective ones: those beyond have next to no weight.
const PER_EFFECTIVE: f64 = 3.0;
/// The usual perplexity.
pub(crate) const USUAL: f64 = 30.0;
/// The share of true neighbors that will do: each pulls a little, and none decides.
pub(super) const ALMOST_ALL: f64 = 0.99;
/// The most perplexities whose mean is taken.
const MOST: usize = 20;
/// What a perplexity looks like.
pub(crate) const FORM: &str = "a number from 1 on, or several as in 30,300";
/// What is done if none is given.
pub(crate) const AUTO: &str = "30, or a third of the other points if they are fewer than 90";

/// The effective number of neighbors, or several of which the mean affinity is taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Perplexity(pub Vec<f64>);

impl Perplexity {
    /// The perplexities to use for n points.
    fn of(&self, n: usize) -> Result<Vec<f64>> {
        let most = n as f64 - 1.0;
        if self.0.is_empty() {
            return Ok(vec![USUAL.min(most / PER_EFFECTIVE).max(1.0)]);
        }
        match self.0.iter().find(|&&perplexity| perplexity > most) {
            Some(asked) => Err(Error::parameter(format!(
                "`perplexity` {asked} asks for more neighbors than {n} points have; the largest possible is {most}, and \
                 {} is large for so few",
                (most / PER_EFFECTIVE).max(1.0).floor()
            ))),
            None => Ok(self.0.clone()),
        }
    }
}

impl fmt::Display for Perplexity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.0.iter().map(f64::to_string).collect();
        write!(out, "{}", if shown.is_empty() { "auto".into() } else { shown.join(",") })
    }
}

impl FromStr for Perplexity {
    type Err = Error;

    fn from_str(text: &str) -> Result<Perplexity> {
        let number = |text: &str| text.trim().parse().ok().filter(|x: &f64| x.is_finite() && *x >= 1.0);
        let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
        let numbers = numbers.filter(|numbers| numbers.len() <= MOST);
        numbers
            .map(Perplexity)
            .ok_or_else(|| Error::parameter(format!("`perplexity` is {text:?}; give {FORM}, or auto")))
    }
}

impl Held for Perplexity {
    fn value(&self) -> Value {
        if self.0.is_empty() { Value::Auto } else { Value::Text(self.to_string()) }
    }

    fn held(value: Value) -> Result<Perplexity> {
        match value {
            Value::Text(text) => text.parse(),
            _ => Ok(Perplexity::default()),
        }
    }
}

/// A refusal that names what the number of neighbors follows from.
fn by_perplexity(error: Error) -> Error {
    match error {
        Error::Memory { what, needed, limit, .. } => {
            Error::Memory { what, needed, limit, way_out: "use a smaller `perplexity`, or raise `memory`".into() }
        }
        other => other,
    }
}

/// Neighbor lists with the affinity p[j|i] of every entry.
pub(crate) struct Affinities {
    pub(crate) graph: Graph,
    pub(crate) weights: Vec<f64>,
    /// The perplexities, as they were used.
    pub(crate) perplexity: Perplexity,
    /// The part of the true neighbors that was found, where some may have been missed.
    pub(crate) recall: Option<f64>,
}

impl Affinities {
    /// The entropic affinities of what is known of the points.
    pub(crate) fn new(site: &Site<'_>, perplexity: &Perplexity) -> Result<Affinities> {
        let n = site.len();
        let perplexities = perplexity.of(n)?;
        let most = perplexities.iter().copied().fold(1.0, f64::max);
        let k = ((PER_EFFECTIVE * most).ceil() as usize).clamp(1, n - 1);
        let (graph, recall) = match (site.data, site.graph) {
            (Data::Graph(graph), _) => (graph.clone(), None),
            (data, _) => {
                let neighbors = Neighbors::Nearest(k);
                let search = Search {
                    neighbors,
                    metric: site.metric(),
                    disconnected: Disconnected::Separate,
                    seed: site.seed,
                    recall: site.recall,
                    memory: Some(site.memory),
                };
                let found = data.neighbors(&search, site.observer).map_err(by_perplexity)?;
                (found.graph, found.recall)
            }
        };
        let weights = affinities(&graph, &perplexities);
        Ok(Affinities { graph, weights, perplexity: Perplexity(perplexities), recall })
    }

    /// P = (p[j|i] + p[i|j]) / 2n, which sums to one, with Σ p log p.
    pub(crate) fn joint<T: Real>(&self) -> (Pairs<T>, f64) {
        let half = 0.5 / self.graph.len() as f64;
        let pairs = Pairs::symmetric(&self.graph, &self.weights, |a, b| half * (a + b));
        let entropy = pairs.sum(|p| if p > 0.0 { p * p.ln() } else { 0.0 });
        (pairs, entropy)
    }
}

//! The neighbors of stochastic neighbor embeddings: their number follows from a perplexity.

use crate::field::{Nearest, Site};
use crate::forces::perplexity::affinities;
use crate::forces::{Pairs, Real};
use crate::input::Data;
use crate::parameter::{FieldValue, Value};
use eigenfold_graph::Graph;
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Neighbors per effective neighbor: those beyond have negligible weight.
const PER_EFFECTIVE: f64 = 3.0;
/// The default perplexity.
pub(crate) const USUAL: f64 = 30.0;
/// The recall that the neighbor search must reach: no single neighbor matters much.
pub(super) const ALMOST_ALL: f64 = 0.99;
/// The maximum number of perplexities whose mean is taken.
const MOST: usize = 20;
/// The accepted forms of a perplexity.
pub(crate) const FORM: &str = "a number >= 1, or several as in 30,300";
/// The default, in words.
pub(crate) const AUTO: &str = "30, or a third of the other points if there are fewer than 90";

/// The effective number of neighbors, or several whose affinities are averaged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Perplexity(pub Vec<f64>);

impl Perplexity {
    /// The neighbors that the affinities of these perplexities need; those of a given graph are its own.
    pub(super) fn nearest(&self, data: Data<'_>) -> Result<Option<Nearest>> {
        let n = data.len();
        if matches!(data, Data::Graph(_)) {
            return Ok(None);
        }
        let most = self.of(n)?.into_iter().fold(1.0, f64::max);
        let k = ((PER_EFFECTIVE * most).ceil() as usize).clamp(1, n - 1);
        Ok(Some(Nearest { k, parameter: "perplexity" }))
    }

    /// The perplexities to use for n points.
    fn of(&self, n: usize) -> Result<Vec<f64>> {
        let most = n as f64 - 1.0;
        if self.0.is_empty() {
            return Ok(vec![USUAL.min(most / PER_EFFECTIVE).max(1.0)]);
        }
        match self.0.iter().find(|&&perplexity| perplexity > most) {
            Some(perplexity) => Err(Error::parameter(
                "perplexity",
                format!("`perplexity` {perplexity} needs more neighbors than {n} points have"),
                format!("use {most} or less; {} suits {n} points", (most / PER_EFFECTIVE).max(1.0).floor()),
            )),
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
            .ok_or_else(|| Error::value("perplexity", format_args!("{text:?}"), format!("{FORM}, or auto")))
    }
}

impl FieldValue for Perplexity {
    fn value(&self) -> Value {
        if self.0.is_empty() { Value::Auto } else { Value::Text(self.to_string()) }
    }

    fn from_value(value: Value) -> Result<Perplexity> {
        match value {
            Value::Text(text) => text.parse(),
            _ => Ok(Perplexity::default()),
        }
    }
}

/// Neighbor lists with the affinity p[j|i] of every entry.
pub(crate) struct Affinities<'a> {
    pub(crate) graph: Cow<'a, Graph>,
    pub(crate) weights: Vec<f64>,
    /// The perplexities, as they were used.
    pub(crate) perplexity: Perplexity,
}

impl<'a> Affinities<'a> {
    /// The entropic affinities of what is known of the points.
    pub(crate) fn new(site: &Site<'a>, perplexity: &Perplexity) -> Result<Affinities<'a>> {
        let perplexities = perplexity.of(site.len())?;
        let graph = match (perplexity.nearest(site.data)?, site.data) {
            (Some(request), _) => site.nearest(request)?,
            (None, Data::Graph(graph)) => Cow::Borrowed(graph),
            (None, _) => Cow::Borrowed(site.graph()?),
        };
        let weights = affinities(&graph, &perplexities);
        Ok(Affinities { graph, weights, perplexity: Perplexity(perplexities) })
    }

    /// P = (p[j|i] + p[i|j]) / 2n, which sums to one, with Σ p log p.
    pub(crate) fn joint<T: Real>(&self) -> (Pairs<T>, f64) {
        let half = 0.5 / self.graph.len() as f64;
        let pairs = Pairs::symmetric(&self.graph, &self.weights, |a, b| half * (a + b));
        let entropy = pairs.sum(|p| if p > 0.0 { p * p.ln() } else { 0.0 });
        (pairs, entropy)
    }
}

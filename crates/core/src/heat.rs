//! The heat kernel: how much two points count for each other, by the distance δ between them.
//!
//! ```text
//! w[i,j] = exp(−δ² / 2σ²)            one width σ for all points
//! w[i,j] = exp(−δ² / 2σ[i]σ[j])      a width for each: the root mean square distance of its own neighbors
//! ```
//!
//! With one width, a point whose neighbors are ten times as far away as is usual has weights of exp(−50), and hangs free of
//! the others but for rounding. With a width for each, it holds on to its neighbors as the others do to theirs.
//!
//! L. Zelnik-Manor, P. Perona. Self-tuning spectral clustering. NIPS 17, 2004, section 2.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::parameter::{Held, Named, Value};
use serde::{Deserialize, Serialize};

/// σ of the heat kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Bandwidth {
    /// As the method does it on its own: [`Bandwidth::Local`].
    #[default]
    Auto,
    /// One for all points.
    Sigma(f64),
    /// One for every point: the root mean square distance of its neighbors.
    Local,
    /// One for all points: the root mean square distance of neighbors.
    Global,
}

impl Bandwidth {
    /// What [`Bandwidth::Auto`] is.
    pub(crate) const AUTO: &'static str = "local";

    /// The words that stand beside numbers.
    pub(crate) const WORDS: &'static [Named] = &[
        Named { name: "local", aliases: &["self-tuning"], help: "of each point, that of its own neighbors" },
        Named { name: "global", aliases: &[], help: GLOBAL },
    ];

    /// The widths over a graph.
    ///
    /// # Errors
    ///
    /// If they are to be chosen and all neighbors are at distance zero.
    pub(crate) fn widths(self, graph: &Graph) -> Result<Widths> {
        match self {
            Bandwidth::Sigma(width) => Ok(Widths::One(width)),
            Bandwidth::Auto | Bandwidth::Local => Widths::local(graph),
            Bandwidth::Global => typical_length(graph).map(Widths::One),
        }
    }
}

impl Held for Bandwidth {
    fn value(&self) -> Value {
        match *self {
            Bandwidth::Auto => Value::Auto,
            Bandwidth::Sigma(width) => Value::Number(width),
            Bandwidth::Local => Value::Choice("local"),
            Bandwidth::Global => Value::Choice("global"),
        }
    }

    fn held(value: Value) -> Result<Bandwidth> {
        match value {
            Value::Auto => Ok(Bandwidth::Auto),
            Value::Choice("local") => Ok(Bandwidth::Local),
            Value::Choice("global") => Ok(Bandwidth::Global),
            other => f64::held(other).map(Bandwidth::Sigma),
        }
    }
}

/// What [`typical_length`] is.
pub(crate) const GLOBAL: &str = "the root mean square distance of neighbors";

/// The widths of all points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Widths {
    /// The same.
    One(f64),
    /// One for each.
    Each(Vec<f64>),
}

impl Widths {
    /// Of every point the root mean square length of its own list.
    ///
    /// A point all of whose neighbors coincide with it takes its longest edge, which others have to it.
    ///
    /// # Errors
    ///
    /// If all lengths are zero.
    fn local(graph: &Graph) -> Result<Widths> {
        let typical = typical_length(graph)?;
        let mut widths: Vec<f64> = (0..graph.len()).map(|i| root_mean_square(graph.lengths(i))).collect();
        if widths.contains(&0.0) {
            let union = graph.union();
            for (i, width) in widths.iter_mut().enumerate().filter(|(_, width)| **width == 0.0) {
                let longest = union.lengths(i).iter().copied().fold(0.0, f64::max);
                *width = if longest > 0.0 { longest } else { typical };
            }
        }
        Ok(Widths::Each(widths))
    }

    /// w[i,j] at a distance.
    pub(crate) fn weight(&self, i: usize, j: usize, distance: f64) -> f64 {
        match self {
            Widths::One(width) => heat(distance, *width),
            Widths::Each(widths) => exponent(distance, widths[i], widths[j]).exp(),
        }
    }

    /// The logarithms of the weights of a new point, given its nearest points and their distances.
    pub(crate) fn exponents(&self, near: &[u32], lengths: &[f64]) -> Vec<f64> {
        match self {
            Widths::One(width) => lengths.iter().map(|&d| exponent(d, *width, *width)).collect(),
            Widths::Each(widths) => {
                let own = root_mean_square(lengths);
                near.iter().zip(lengths).map(|(&j, &d)| exponent(d, own, widths[j as usize])).collect()
            }
        }
    }

    /// Whether there is a positive one for each of so many points.
    pub(crate) fn fits(&self, rows: usize) -> bool {
        let positive = |width: &f64| *width > 0.0 && width.is_finite();
        match self {
            Widths::One(width) => positive(width),
            Widths::Each(widths) => widths.len() == rows && widths.iter().all(positive),
        }
    }
}

/// The root mean square length of the directed edges: the scale of a neighborhood.
///
/// # Errors
///
/// If all lengths are zero.
pub(crate) fn typical_length(graph: &Graph) -> Result<f64> {
    let length = root_mean_square(graph.all_lengths());
    if length == 0.0 {
        return Err(Error::data("all neighbors are at distance zero, so no width can be chosen; give `bandwidth`"));
    }
    Ok(length)
}

/// In units of the longest, so that no square overflows; zero if all are.
fn root_mean_square(lengths: &[f64]) -> f64 {
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    if longest == 0.0 {
        return 0.0;
    }
    let mean = lengths.iter().map(|l| (l / longest).powi(2)).sum::<f64>() / lengths.len() as f64;
    longest * mean.sqrt()
}

/// exp(−length² / 2 width²).
pub(crate) fn heat(length: f64, width: f64) -> f64 {
    exponent(length, width, width).exp()
}

/// −δ² / 2σσ′; zero at distance zero, whatever the widths.
fn exponent(distance: f64, own: f64, other: f64) -> f64 {
    if distance == 0.0 { 0.0 } else { -0.5 * (distance / own) * (distance / other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three points at 0, 1 and 3, each with its nearest.
    #[test]
    fn a_width_per_point_is_the_distance_of_its_own_neighbors() {
        let graph = Graph::from_lists(vec![vec![(1, 1.0)], vec![(0, 1.0)], vec![(1, 2.0)]]).unwrap();
        let local = Bandwidth::Local.widths(&graph).unwrap();
        assert_eq!(local, Widths::Each(vec![1.0, 1.0, 2.0]));
        assert_eq!((local.weight(0, 1, 1.0), local.weight(2, 1, 2.0)), ((-0.5f64).exp(), (-1.0f64).exp()));
        assert_eq!(Bandwidth::Global.widths(&graph).unwrap(), Widths::One(2f64.sqrt()));
    }

    #[test]
    fn points_that_coincide_with_all_their_neighbors_take_the_longest_edge_that_others_have_to_them() {
        let graph = Graph::from_lists(vec![vec![(1, 0.0)], vec![(0, 0.0)], vec![(1, 3.0)], vec![(2, 4.0)]]).unwrap();
        assert_eq!(Bandwidth::Local.widths(&graph).unwrap(), Widths::Each(vec![2.5, 3.0, 3.0, 4.0]));
        assert!(Bandwidth::Local.widths(&Graph::from_lists(vec![vec![(1, 0.0)], vec![(0, 0.0)]]).unwrap()).is_err());
    }
}

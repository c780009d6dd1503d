//! The heat kernel: the weight of two points, by the distance δ between them.
//!
//! ```text
//! w[i,j] = exp(−δ² / 2σ²)                  one width σ for all points
//! w[i,j] = exp(−δ² / (σ[i]² + σ[j]²))      a width for each point: the root mean square distance of its own neighbors
//! ```
//!
//! With one width, a point whose neighbors are ten times as far away as usual has weights of exp(−50), and is
//! disconnected from the others but for rounding. With a width for each point, no neighbor of a list of k has a weight
//! below exp(−k), since δ² ≤ k σᵢ². If all widths are equal, the two are the same.
//!
//! After L. Zelnik-Manor, P. Perona. Self-tuning spectral clustering. NIPS 17, 2004, section 2, who use the product of
//! the two widths in place of their mean square (docs/decisions/0095-local-bandwidth.md).

use crate::parameter::{FieldValue, Named, Value};
use eigenfold_graph::Graph;
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// σ of the heat kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Bandwidth {
    /// The default of the method: [`Bandwidth::Local`].
    #[default]
    Auto,
    /// One width for all points.
    Sigma(f64),
    /// One width for every point: the root mean square distance of its neighbors.
    Local,
    /// One width for all points: the root mean square distance of neighbors.
    Global,
}

impl Bandwidth {
    /// The description of [`Bandwidth::Auto`].
    pub(crate) const AUTO: &'static str = "local";

    /// The words accepted in place of a number.
    pub(crate) const WORDS: &'static [Named] = &[
        Named { name: "local", aliases: &["self-tuning"], help: "per point, from the distances of its own neighbors" },
        Named { name: "global", aliases: &[], help: GLOBAL },
    ];

    /// The widths over a graph.
    ///
    /// # Errors
    ///
    /// If the widths are to be chosen and all neighbors are at distance zero.
    pub(crate) fn widths(self, graph: &Graph) -> Result<Widths> {
        match self {
            Bandwidth::Sigma(width) => Ok(Widths::One(width)),
            Bandwidth::Auto | Bandwidth::Local => Widths::local(graph),
            Bandwidth::Global => typical_length(graph).map(Widths::One),
        }
    }
}

impl FieldValue for Bandwidth {
    fn value(&self) -> Value {
        match *self {
            Bandwidth::Auto => Value::Auto,
            Bandwidth::Sigma(width) => Value::Number(width),
            Bandwidth::Local => Value::Choice("local"),
            Bandwidth::Global => Value::Choice("global"),
        }
    }

    fn from_value(value: Value) -> Result<Bandwidth> {
        match value {
            Value::Auto => Ok(Bandwidth::Auto),
            Value::Choice("local") => Ok(Bandwidth::Local),
            Value::Choice("global") => Ok(Bandwidth::Global),
            other => f64::from_value(other).map(Bandwidth::Sigma),
        }
    }
}

/// The description of [`typical_length`].
pub(crate) const GLOBAL: &str = "the root mean square distance of neighbors";

/// The widths of all points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Widths {
    /// One for all.
    One(f64),
    /// One for each.
    Each(Vec<f64>),
}

impl Widths {
    /// For every point the root mean square length of its own list; zero where all its neighbors coincide with it.
    ///
    /// # Errors
    ///
    /// If all lengths are zero.
    fn local(graph: &Graph) -> Result<Widths> {
        typical_length(graph)?;
        Ok(Widths::Each((0..graph.len()).map(|i| root_mean_square(graph.lengths(i))).collect()))
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
            Widths::One(width) => lengths.iter().map(|d| -0.5 * (d / width).powi(2)).collect(),
            Widths::Each(widths) => {
                let own = root_mean_square(lengths);
                near.iter().zip(lengths).map(|(&j, &d)| exponent(d, own, widths[j as usize])).collect()
            }
        }
    }

    /// Whether there is one for all points, or one for each of `rows` points.
    pub(crate) fn fits(&self, rows: usize) -> bool {
        match self {
            Widths::One(width) => *width > 0.0 && width.is_finite(),
            Widths::Each(widths) => {
                widths.len() == rows && widths.iter().all(|width| (0.0..f64::INFINITY).contains(width))
            }
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
        return Err(Error::data("all neighbors are at distance zero, so no width can be chosen", "give `bandwidth`"));
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
    (-0.5 * (length / width).powi(2)).exp()
}

/// −δ² / (σ² + σ′²), in units of the larger width, so that no square overflows; zero at distance zero, whatever the widths.
fn exponent(distance: f64, own: f64, other: f64) -> f64 {
    if distance == 0.0 {
        return 0.0;
    }
    let (small, large) = if own < other { (own, other) } else { (other, own) };
    -(distance / large).powi(2) / (1.0 + (small / large).powi(2))
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
        assert_eq!((local.weight(0, 1, 1.0), local.weight(2, 1, 2.0)), ((-0.5f64).exp(), (-0.8f64).exp()));
        assert_eq!(Bandwidth::Global.widths(&graph).unwrap(), Widths::One(2f64.sqrt()));
    }

    #[test]
    fn no_neighbor_is_lost_to_one_that_is_far_denser_and_points_that_coincide_have_weight_one() {
        let graph = Graph::from_lists(vec![vec![(1, 0.0)], vec![(0, 0.0)], vec![(1, 1e-9)], vec![(2, 1e9)]]).unwrap();
        let local = Bandwidth::Local.widths(&graph).unwrap();
        assert_eq!(local, Widths::Each(vec![0.0, 0.0, 1e-9, 1e9]));
        let weights = [(0, 1, 0.0), (2, 1, 1e-9), (3, 2, 1e9)].map(|(i, j, d)| local.weight(i, j, d));
        assert_eq!(weights, [1.0, (-1f64).exp(), (-1f64).exp()]);
        assert_eq!(local.exponents(&[3, 2], &[2.0, 2.0]), [-4e-18 / (1.0 + 4e-18), -1.0]);
        assert!(Bandwidth::Local.widths(&Graph::from_lists(vec![vec![(1, 0.0)], vec![(0, 0.0)]]).unwrap()).is_err());
    }
}

//! What is embedded: points, distances, similarities or a graph.

use crate::error::{Error, Result};
use crate::field::InputKind;
use crate::graph::Graph;
use crate::points::Points;

/// What is embedded.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// One row of features a point.
    Points(&'a Points),
    /// A square matrix of distances.
    Distances(&'a Points),
    /// A square positive semidefinite matrix of inner products.
    Similarities(&'a Points),
    /// Edges with lengths.
    Graph(&'a Graph),
}

impl<'a> From<&'a Points> for Input<'a> {
    fn from(points: &'a Points) -> Input<'a> {
        Input::Points(points)
    }
}

impl<'a> From<&'a Graph> for Input<'a> {
    fn from(graph: &'a Graph) -> Input<'a> {
        Input::Graph(graph)
    }
}

impl Input<'_> {
    /// Which kind of input this is.
    pub fn kind(&self) -> InputKind {
        match self {
            Input::Points(_) => InputKind::Points,
            Input::Distances(_) => InputKind::Distances,
            Input::Similarities(_) => InputKind::Similarities,
            Input::Graph(_) => InputKind::Graph,
        }
    }
}

/// √(k[i,i] − 2 k[i,j] + k[j,j]): the distances in the feature space of a similarity.
pub(crate) fn distances_of(similarities: &Points) -> Result<Points> {
    let n = similarities.rows();
    if similarities.cols() != n {
        return Err(Error::data(format!(
            "the similarities have {n} rows and {} columns; give a square matrix",
            similarities.cols()
        )));
    }
    let k = |i: usize, j: usize| similarities.row(i)[j];
    let largest = similarities.values().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut values = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..i {
            if (k(i, j) - k(j, i)).abs() > 1e-9 * largest {
                return Err(Error::data(format!(
                    "row {}, column {} is {} and its mirror {}; give a symmetric matrix",
                    i + 1,
                    j + 1,
                    k(i, j),
                    k(j, i)
                )));
            }
            let square = k(i, i) - k(i, j) - k(j, i) + k(j, j);
            if square < -1e-9 * largest {
                return Err(Error::data(format!(
                    "points {} and {} are more similar to each other than to themselves; give inner products, or distances",
                    i + 1,
                    j + 1
                )));
            }
            values[i * n + j] = square.max(0.0).sqrt();
            values[j * n + i] = values[i * n + j];
        }
    }
    Points::new(n, n, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_of_orthogonal_unit_vectors_are_at_distance_root_two() {
        let identity = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        assert_eq!(distances_of(&identity).unwrap().row(0)[1], 2f64.sqrt());
        let odd = Points::from_rows(&[[1.0, 2.0], [2.0, 1.0]]).unwrap();
        assert!(distances_of(&odd).is_err());
    }
}

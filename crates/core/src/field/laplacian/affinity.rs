//! Affinities: edge weights that decrease with the distance of the neighbors.

use crate::field::{Weight, shown};
use crate::kernel::heat::Widths;
use eigenfold_graph::Graph;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::sparse::matrix::{SparseSymmetric, by_rows};
use serde::{Deserialize, Serialize};

/// How an edge counts that is in the lists of both its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mutual {
    /// Like any other: W is the larger of A and Aᵀ, with A the weights of the directed lists.
    #[default]
    Once,
    /// With twice the weight: W = A + Aᵀ.
    Twice,
}

/// Symmetric weights on the edges of a graph (an edge either way is an edge), with the sum of each point's weights.
#[derive(Clone, Debug)]
pub struct Affinity {
    graph: eigenfold_graph::Undirected,
    weights: Vec<f64>,
    degrees: Vec<f64>,
}

impl Affinity {
    /// The weight of every edge from its ends and its length.
    pub fn new(graph: &Graph, weight: impl Fn(usize, usize, f64) -> f64 + Sync) -> Affinity {
        let graph = graph.union();
        let mut weights = vec![0.0; graph.edge_count()];
        parallel::each_of(by_rows(graph.offsets(), &mut weights), |_, (rows, weights)| {
            let edges = rows.flat_map(|i| graph.edges(i).map(move |(j, length)| (i, j, length)));
            weights.iter_mut().zip(edges).for_each(|(own, (i, j, length))| *own = weight(i, j, length));
        });
        let mut affinity = Affinity { graph, weights, degrees: Vec::new() };
        affinity.degrees = affinity.sums(|_| 0.0);
        affinity
    }

    /// Supplied weights, sorted by their ends, each of the first point at its location (`first`). Edges between the
    /// same two locations share their weight; edges between coinciding points get the largest weight, to hold them
    /// together.
    pub(crate) fn of_weights(graph: &Graph, given: &[Weight], first: impl Fn(u32) -> u32) -> Affinity {
        let graph = graph.union();
        let largest = given.iter().fold(0.0, |most: f64, edge| most.max(edge.weight));
        let between = |i: usize, j: u32| {
            let (a, b) = (first(i as u32), first(j));
            given.binary_search_by_key(&(a.min(b), a.max(b)), |edge| (edge.i, edge.j)).ok()
        };
        let edges = || (0..graph.len()).flat_map(|i| graph.neighbors(i).iter().map(move |&j| (i, j)));
        let mut sharing = vec![0.0; given.len()];
        edges().filter_map(|(i, j)| between(i, j)).for_each(|at| sharing[at] += 0.5);
        let weight = |(i, j)| between(i, j).map_or(largest, |at| given[at].weight / sharing[at]);
        let weights = edges().map(weight).collect();
        let mut affinity = Affinity { graph, weights, degrees: Vec::new() };
        affinity.degrees = affinity.sums(|_| 0.0);
        affinity
    }

    /// The weight of every edge from its ends and its length, doubled for edges in both lists if they count twice.
    pub fn counting(graph: &Graph, mutual: Mutual, weight: impl Fn(usize, usize, f64) -> f64 + Sync) -> Affinity {
        let mut affinity = Affinity::new(graph, weight);
        if mutual == Mutual::Twice {
            let lists: Vec<Vec<u32>> = (0..graph.len())
                .map(|i| {
                    let mut list = graph.neighbors(i).to_vec();
                    list.sort_unstable();
                    list
                })
                .collect();
            let lists_it = |i: usize, j: u32| lists[i].binary_search(&j).is_ok();
            let mut at = 0;
            for i in 0..affinity.graph.len() {
                for &j in affinity.graph.neighbors(i) {
                    if lists_it(i, j) && lists_it(j as usize, i as u32) {
                        affinity.weights[at] *= 2.0;
                    }
                    at += 1;
                }
            }
            affinity.degrees = affinity.sums(|_| 0.0);
        }
        affinity
    }

    /// As [`Affinity::counting`], with its rows in another order: row i stands for the point `order[i]`.
    pub(crate) fn in_order(
        graph: &Graph,
        order: &[u32],
        mutual: Mutual,
        weight: impl Fn(usize, usize, f64) -> f64 + Sync,
    ) -> Affinity {
        let point = |row: usize| order[row] as usize;
        Affinity::counting(&graph.reordered(order), mutual, |i, j, length| weight(point(i), point(j), length))
    }

    /// Multiplies the weight of every edge by `s[i] s[j]`, and adds `own` to every point's sum.
    pub fn rescale(&mut self, s: &[f64], own: impl Fn(usize) -> f64) {
        let mut at = 0;
        for i in 0..self.graph.len() {
            for &j in self.graph.neighbors(i) {
                self.weights[at] *= s[i] * s[j as usize];
                at += 1;
            }
        }
        self.degrees = self.sums(own);
    }

    /// The weights of each point's edges and something of its own.
    fn sums(&self, own: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut weights = self.weights.iter();
        let sum = |i: usize| own(i) + weights.by_ref().take(self.graph.neighbors(i).len()).sum::<f64>();
        (0..self.graph.len()).map(sum).collect()
    }

    /// The sum of each point's weights.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// D − W, where the diagonal holds the sums over the edges alone: constants are in its null space whatever the
    /// self-loops.
    ///
    /// # Errors
    ///
    /// If the weights of some point are all zero, so that it is disconnected.
    pub fn laplacian(&self) -> Result<SparseSymmetric> {
        self.laplacian_in_order(None)
    }

    /// As [`laplacian`](Affinity::laplacian), where row i stands for the point `order[i]`.
    pub(crate) fn laplacian_in_order(&self, order: Option<&[u32]>) -> Result<SparseSymmetric> {
        let sums = self.sums(|_| 0.0);
        let lost = sums.iter().position(|sum| sum.is_nan() || *sum <= 0.0);
        if let Some(i) = lost.map(|row| order.map_or(row, |order| order[row] as usize)) {
            return Err(Error::parameter(
                "bandwidth",
                format!("all weights of point {} vanish", i + 1),
                "use a larger `bandwidth`, `bandwidth` local or a smaller `neighbors`",
            ));
        }
        let mut rest = self.weights.as_slice();
        Ok(SparseSymmetric::with_diagonal(&sums, self.weights.len(), |i| {
            let neighbors = self.graph.neighbors(i);
            let (own, others) = rest.split_at(neighbors.len());
            rest = others;
            (neighbors, own.iter().map(|w| -w))
        }))
    }
}

/// The widths of the heat kernel as reported.
pub(super) fn description(widths: Option<&Widths>) -> String {
    match widths {
        None => "none".into(),
        Some(Widths::One(width)) => shown(*width),
        Some(Widths::Each(_)) => "local".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::by_points;

    #[test]
    fn three_points_in_a_line_have_the_path_laplacian() {
        let graph = Graph::from_lists(vec![vec![(1, 1.0)], vec![(0, 1.0), (2, 1.0)], vec![(1, 1.0)]]).unwrap();
        let affinity = Affinity::new(&graph, |_, _, _| 1.0);
        assert_eq!(affinity.degrees(), [1.0, 2.0, 1.0]);
        let expected = faer::mat![[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]];
        assert_eq!(affinity.laplacian().unwrap().to_dense(), expected);
    }

    #[test]
    fn rows_in_another_order_have_the_same_laplacian() {
        let n = 40usize;
        let list = |i: usize| (1..4).map(move |step| (((i * 7 + step * 11) % n) as u32, (1 + step + i % 3) as f64));
        let graph = Graph::from_lists((0..n).map(|i| list(i).filter(|edge| edge.0 as usize != i).collect()).collect());
        let graph = graph.unwrap();
        let order: Vec<u32> = (0..n as u32).map(|i| i * 13 % n as u32).collect();
        let weight = |i: usize, j: usize, length: f64| length + (i * j) as f64;
        for mutual in [Mutual::Once, Mutual::Twice] {
            let plain = Affinity::counting(&graph, mutual, weight);
            let other = Affinity::in_order(&graph, &order, mutual, weight);
            let laplacian = other.laplacian_in_order(Some(&order)).unwrap();
            assert_ne!(laplacian, plain.laplacian().unwrap());
            let back = by_points(&laplacian, Some(&order)).to_dense();
            assert!((back - plain.laplacian().unwrap().to_dense()).norm_max() < 1e-12);
            assert!((0..n).all(|row| (other.degrees()[row] - plain.degrees()[order[row] as usize]).abs() < 1e-12));
        }
        let vanishing = Affinity::in_order(&graph, &order, Mutual::Once, |_, _, _| 0.0);
        let error = vanishing.laplacian_in_order(Some(&order)).unwrap_err().to_string();
        assert!(error.contains(&format!("point {} ", order[0] + 1)), "{error}");
    }

    #[test]
    fn an_edge_in_both_lists_counts_once_or_twice() {
        let graph = Graph::from_lists(vec![vec![(1, 1.0)], vec![(0, 1.0)], vec![(1, 2.0)]]).unwrap();
        let degrees = |mutual| Affinity::counting(&graph, mutual, |_, _, length| length).degrees().to_vec();
        assert_eq!(degrees(Mutual::Once), [1.0, 3.0, 2.0]);
        assert_eq!(degrees(Mutual::Twice), [2.0, 4.0, 2.0]);
    }
}

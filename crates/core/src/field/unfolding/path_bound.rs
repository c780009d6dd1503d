//! Weights along the shortest paths to one point: an upper bound that needs no factorization.
//!
//! Let g be the length of the shortest path from a point to a center c, over the pairs. The path bounds the distance of
//! the point from c, so by Cauchy and Schwarz, with the sum over the pairs of the path,
//!
//! ```text
//! |y[i] − y[c]|² ≤ g[i] Σ |δ[e]|² / d[e]        Σᵢ m[i] |y[i] − y[c]|² ≤ Σ_e W[e] |δ[e]|²,   W[e] = Σ_{i below e} m[i] g[i] / d[e]
//! ```
//!
//! The left side is at least the variance, so λ(L(W)) ≥ 1, and the bound is Σ D W = Σ m g²: the variance of the graph
//! distances to the center. The weights are on a tree, whose Laplacian has a factor without fill.

use crate::field::unfolding::Pairs;
use eigenfold_graph::Undirected;
use eigenfold_graph::paths::dijkstra::settle;

/// The shortest paths from one point, which is their root.
struct Rooted {
    length: Vec<f64>,
    /// The next point towards the root.
    towards: Vec<Option<u32>>,
    /// The points, the nearest first.
    order: Vec<u32>,
}

impl Rooted {
    fn at(root: u32, graph: &Undirected) -> Rooted {
        let n = graph.len();
        let (mut length, mut towards, mut order) = (vec![0.0; n], vec![None; n], Vec::with_capacity(n));
        settle(graph, &[(root, 0.0)], &mut length, |i| order.push(i), |i, from| towards[i as usize] = Some(from));
        Rooted { length, towards, order }
    }

    fn farthest(&self) -> u32 {
        self.order.last().copied().unwrap_or(0)
    }
}

/// W along the shortest paths to the middle of a longest path; zero for the other pairs.
pub(crate) fn tree_weights(pairs: &Pairs) -> Vec<f64> {
    let n = pairs.len();
    let lengths = pairs.ends.iter().zip(&pairs.squares).map(|(&(i, j), square)| (i, j, square.sqrt()));
    let graph = Undirected::from_pairs(n, lengths);
    // The point farthest from any point is one end of a long path, and the point farthest from there its other end.
    let across = Rooted::at(Rooted::at(0, &graph).farthest(), &graph);
    let mut middle = across.farthest();
    let half = 0.5 * across.length[middle as usize];
    while let Some(next) = across.towards[middle as usize].filter(|_| across.length[middle as usize] > half) {
        middle = next;
    }
    let paths = Rooted::at(middle, &graph);
    let mut w = vec![0.0; pairs.ends.len()];
    let mut below: Vec<f64> = (0..n).map(|i| pairs.counts[i] * paths.length[i]).collect();
    for &i in paths.order.iter().rev() {
        let Some(parent) = paths.towards[i as usize] else { continue };
        if let Ok(e) = pairs.ends.binary_search(&(i.min(parent), i.max(parent))) {
            w[e] = below[i as usize] / pairs.squares[e].sqrt();
            below[parent as usize] += below[i as usize];
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::unfolding::Constraints;
    use eigenfold_graph::Graph;

    #[test]
    fn a_line_is_bound_by_the_distances_from_its_middle() {
        let lists = vec![vec![(1, 1.0)], vec![(2, 2.0)], vec![(3, 2.0)], vec![(4, 1.0)], vec![]];
        let pairs = Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap();
        let w = tree_weights(&pairs);
        let bound: f64 = w.iter().zip(&pairs.squares).map(|(w, d)| w * d).sum::<f64>() * pairs.unit.powi(2);
        // The middle is at 3; the line itself has this variance, so the bound is sharp.
        assert!((bound - (9.0 + 4.0 + 4.0 + 9.0)).abs() < 1e-12, "{bound}");
        // The longest side of a triangle is on no shortest path from the corner across.
        let lists = vec![vec![(1, 3.0), (2, 4.0)], vec![(2, 5.0)], vec![]];
        let pairs = Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap();
        assert_eq!(tree_weights(&pairs).iter().filter(|&&w| w == 0.0).count(), 1);
    }
}

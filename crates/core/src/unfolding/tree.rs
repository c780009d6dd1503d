//! Weights along the shortest paths to one point: an upper bound without any factor.
//!
//! Let g be the length of the shortest path from a point to a center c, over the pairs. The steps of the path bound the way that
//! the point can be from c, so by Cauchy and Schwarz, with the sum over the pairs of the path,
//!
//! ```text
//! |y[i] − y[c]|² ≤ g[i] Σ |δ[e]|² / d[e]        Σᵢ m[i] |y[i] − y[c]|² ≤ Σ_e W[e] |δ[e]|²,   W[e] = Σ_{i below e} m[i] g[i] / d[e]
//! ```
//!
//! The left side is at least the variance, so λ(L(W)) ≥ 1, and the bound is Σ D W = Σ m g²: the variance of the distances to
//! the center along the graph. The weights sit on a tree, whose Laplacian has a factor without fill.

use super::Pairs;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A length, ordered.
#[derive(Clone, Copy, PartialEq)]
struct Length(f64);

impl Eq for Length {}

impl PartialOrd for Length {
    fn partial_cmp(&self, other: &Length) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Length {
    fn cmp(&self, other: &Length) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// W, zero for the pairs that are on no shortest path to the center.
pub(crate) fn tree_weights(pairs: &Pairs, center: usize) -> Vec<f64> {
    let n = pairs.len();
    let mut around: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
    for (e, &(i, j)) in pairs.ends.iter().enumerate() {
        around[i as usize].push((j, e as u32));
        around[j as usize].push((i, e as u32));
    }
    let mut length = vec![f64::INFINITY; n];
    // The pair towards the center, and the point at its other end.
    let mut towards: Vec<Option<(usize, usize)>> = vec![None; n];
    let (mut heap, mut order, mut done) = (BinaryHeap::new(), Vec::with_capacity(n), vec![false; n]);
    length[center] = 0.0;
    heap.push((Reverse(Length(0.0)), center));
    while let Some((_, i)) = heap.pop() {
        if std::mem::replace(&mut done[i], true) {
            continue;
        }
        order.push(i);
        for &(j, e) in &around[i] {
            let (j, through) = (j as usize, length[i] + pairs.squares[e as usize].sqrt());
            if through < length[j] {
                (length[j], towards[j]) = (through, Some((e as usize, i)));
                heap.push((Reverse(Length(through)), j));
            }
        }
    }
    let mut w = vec![0.0; pairs.ends.len()];
    let mut below: Vec<f64> = (0..n).map(|i| pairs.mass[i] * length[i]).collect();
    for &i in order.iter().rev() {
        if let Some((e, parent)) = towards[i] {
            w[e] = below[i] / pairs.squares[e].sqrt();
            below[parent] += below[i];
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::unfolding::Constraints;

    #[test]
    fn a_star_is_bound_by_its_arms_and_a_triangle_by_two_sides() {
        let lists = vec![vec![(1, 1.0), (2, 2.0)], vec![], vec![(3, 2.0)], vec![]];
        let pairs = Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap();
        let w = tree_weights(&pairs, 0);
        let bound: f64 = w.iter().zip(&pairs.squares).map(|(w, d)| w * d).sum::<f64>() * pairs.unit.powi(2);
        assert!((bound - (1.0 + 4.0 + 16.0)).abs() < 1e-12, "{bound}");
        let lists = vec![vec![(1, 3.0), (2, 4.0)], vec![(2, 5.0)], vec![]];
        let pairs = Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap();
        assert_eq!(tree_weights(&pairs, 0)[2], 0.0);
    }
}

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

use crate::field::unfolding::Pairs;
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

/// The shortest paths from one point.
struct Paths {
    length: Vec<f64>,
    /// The pair towards that point, and the point at its other end.
    towards: Vec<Option<(usize, usize)>>,
    /// The points, the nearest first.
    order: Vec<usize>,
}

impl Paths {
    fn new(pairs: &Pairs, around: &[Vec<(u32, u32)>], from: usize) -> Paths {
        let n = pairs.len();
        let (mut length, mut towards, mut order) = (vec![f64::INFINITY; n], vec![None; n], Vec::with_capacity(n));
        let (mut heap, mut done) = (BinaryHeap::new(), vec![false; n]);
        length[from] = 0.0;
        heap.push((Reverse(Length(0.0)), from));
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
        Paths { length, towards, order }
    }

    fn farthest(&self) -> usize {
        self.order.last().copied().unwrap_or(0)
    }
}

/// W along the shortest paths to the middle of a longest path; zero for the other pairs.
pub(crate) fn tree_weights(pairs: &Pairs) -> Vec<f64> {
    let n = pairs.len();
    let mut around: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
    for (e, &(i, j)) in pairs.ends.iter().enumerate() {
        around[i as usize].push((j, e as u32));
        around[j as usize].push((i, e as u32));
    }
    // The point farthest from any one is an end of a long path, and the point farthest from there its other end.
    let one_end = Paths::new(pairs, &around, 0).farthest();
    let across = Paths::new(pairs, &around, one_end);
    let mut middle = across.farthest();
    let half = 0.5 * across.length[middle];
    while let Some((_, next)) = across.towards[middle].filter(|_| across.length[middle] > half) {
        middle = next;
    }
    let paths = Paths::new(pairs, &around, middle);
    let mut w = vec![0.0; pairs.ends.len()];
    let mut below: Vec<f64> = (0..n).map(|i| pairs.mass[i] * paths.length[i]).collect();
    for &i in paths.order.iter().rev() {
        if let Some((e, parent)) = paths.towards[i] {
            w[e] = below[i] / pairs.squares[e].sqrt();
            below[parent] += below[i];
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::unfolding::Constraints;
    use crate::graph::Graph;

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

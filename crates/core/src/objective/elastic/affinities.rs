//! The affinities that elastic embedding learns: the attractive minus the repulsive weights at the minimum.
//!
//! ```text
//! w[n,m] = w⁺[n,m] − λ w⁻[n,m] exp(−‖x[n] − x[m]‖²)                     (9), (10)
//! ```
//!
//! At a minimum the map is in the null space of their Laplacian. Pairs that are not neighbors and are so far apart on
//! the map that their weight is negligible are left out.
//!
//! M. Á. Carreira-Perpiñán. The elastic embedding algorithm for dimensionality reduction. ICML 2010, section 4.

use crate::forces::repulsion::Charges;
use crate::forces::{Pairs, Real};
use eigenfold_graph::Weight;
use eigenfold_linalg::parallel;

/// Repulsions below this fraction of the strongest attraction are left out.
const LEAST: f64 = 1e-3;

/// The learned affinities of a map, sorted by their ends.
pub(crate) fn learned<T: Real>(pairs: &Pairs<T>, charges: &Charges, lambda: f64, y: &[f64]) -> Vec<Weight> {
    let (n, dims) = (pairs.len(), y.len() / pairs.len());
    let row = |i: usize| &y[i * dims..(i + 1) * dims];
    let square = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let strongest = pairs.weights.iter().fold(0.0, |most: f64, w| most.max(w.widen()));
    let reach = (lambda * charges.most() / (LEAST * strongest).max(f64::MIN_POSITIVE)).ln().max(0.0).sqrt();
    // In the order of the first coordinate, candidates within reach are contiguous.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_unstable_by(|&a, &b| row(a)[0].total_cmp(&row(b)[0]).then(a.cmp(&b)));
    let all = parallel::collect(n, |at| -> Vec<Weight> {
        let i = order[at];
        let near = order[at + 1..].iter().copied().take_while(|&j| row(j)[0] - row(i)[0] <= reach);
        let counted = near.filter_map(|j| {
            let square = square(i, j);
            let repulsion = lambda * charges.weight(i, j) * (-square).exp();
            let attraction = pairs.weight(i, j);
            let (i, j) = (i.min(j) as u32, i.max(j) as u32);
            let counts = attraction > 0.0 || repulsion >= LEAST * strongest;
            counts.then(|| Weight { i, j, distance: square.sqrt(), weight: attraction - repulsion })
        });
        counted.collect()
    });
    let mut all: Vec<Weight> = all.into_iter().flatten().collect();
    // Neighbors beyond the reach of the repulsion.
    for i in 0..n {
        let (targets, _) = pairs.row(i);
        for &j in targets.iter().filter(|&&j| i < j as usize && (row(i)[0] - row(j as usize)[0]).abs() > reach) {
            let distance = square(i, j as usize).sqrt();
            all.push(Weight { i: i as u32, j, distance, weight: pairs.weight(i, j as usize) });
        }
    }
    all.sort_unstable_by_key(|w| (w.i, w.j));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_graph::Graph;

    /// Three points in a line at distances 1 and 2, neighbors along the line.
    #[test]
    fn by_hand() {
        let graph = Graph::from_lists(vec![vec![(1, 1.0)], vec![(2, 2.0)], vec![]]).unwrap();
        let pairs: Pairs<f64> = Pairs::symmetric(&graph, &[0.5, 0.25], f64::max);
        let all = learned(&pairs, &Charges::One(3), 0.1, &[0.0, 1.0, 3.0]);
        let bell = |d: f64| 0.1 * (-d * d).exp();
        let wanted = [(0, 1, 1.0, 0.5 - bell(1.0)), (1, 2, 2.0, 0.25 - bell(2.0))];
        assert_eq!(all.len(), 2, "the repulsion across three is left out: {all:?}");
        for (weight, (i, j, distance, value)) in all.iter().zip(wanted) {
            assert_eq!((weight.i, weight.j, weight.distance), (i, j, distance));
            assert!((weight.weight - value).abs() < 1e-15);
        }
        let far = learned(&pairs, &Charges::One(3), 0.1, &[0.0, 100.0, 3.0]);
        assert_eq!(far.len(), 2, "{far:?}");
        assert_eq!(far[0].weight, 0.5);
    }
}

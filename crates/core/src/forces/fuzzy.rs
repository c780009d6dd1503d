//! The fuzzy graph of UMAP: the degree to which two points are neighbors.
//!
//! ```text
//! w[j|i] = exp(−max(0, d[i,j] − ρ[i]) / σ[i]),   ρ[i] the distance to the nearest,   σ[i] such that  Σⱼ w[j|i] = log₂(k + 1)
//! w[i,j] = w[j|i] + w[i|j] − w[j|i] w[i|j]
//! ```
//!
//! The reference implementation counts a point among its own neighbors: its `n_neighbors` is our k + 1.
//!
//! L. McInnes, J. Healy, J. Melville. UMAP: uniform manifold approximation and projection for dimension reduction.
//! arXiv:1802.03426, 2018, algorithms 2 and 3.

use super::Pairs;
use eigenfold_graph::Graph;
use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Silent;

/// The maximum number of steps for σ; about six are made.
const STEPS: usize = 100;
/// The tolerance of log σ.
const TOLERANCE: f64 = 1e-14;
/// σ is at least this fraction of the mean distance, as in the reference implementation.
const LEAST: f64 = 1e-3;
/// The exponents of the class penalty: its minimum and maximum between two classes, and for a point without a class.
const APART: f64 = 2.5;
const MOST_APART: f64 = 50.0;
const UNKNOWN: f64 = 1.0;

/// w[j|i] of every entry of the lists.
pub(crate) fn weights(graph: &Graph) -> Vec<f64> {
    parallel::collect(graph.len(), |i| row(graph.lengths(i))).concat()
}

/// The weights of one point's neighbors, by their distances.
pub(crate) fn row(lengths: &[f64]) -> Vec<f64> {
    let nearest = lengths.iter().copied().filter(|&d| d > 0.0).fold(f64::INFINITY, f64::min);
    if !nearest.is_finite() {
        return vec![1.0; lengths.len()];
    }
    let over: Vec<f64> = lengths.iter().map(|d| (d - nearest).max(0.0)).collect();
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let target = (lengths.len() as f64 + 1.0).log2();
    // Newton's method in log σ within bounds, in units of the mean; the sum grows with σ.
    let (mut low, mut high, mut log) = (LEAST.ln(), 1e3f64.ln(), 0.0f64);
    let mut weights = vec![0.0; over.len()];
    for _ in 0..STEPS {
        let inverse = (-log).exp() / mean;
        let (mut sum, mut slope) = (0.0, 0.0);
        for (weight, d) in weights.iter_mut().zip(&over) {
            let exponent = d * inverse;
            *weight = (-exponent).exp();
            sum += *weight;
            slope += *weight * exponent;
        }
        let off = sum - target;
        if off > 0.0 {
            high = log
        } else {
            low = log
        }
        let newton = log - off / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - log).abs() <= TOLERANCE {
            break;
        }
        log = next;
    }
    weights
}

/// The memberships of pairs with known classes: memberships between two classes shrink, those of points without a class
/// shrink a little, and then every point is again fully a neighbor of its nearest.
///
/// ```text
/// w′[i,j] = w[i,j] exp(−c),   c = 2.5/(1 − s) between two classes,  1 if one is not known,  0 within a class
/// u[j|i]  = w′[i,j] / maxⱼ w′[i,j],     u[i,j] = u[j|i] + u[i|j] − u[j|i] u[i|j]
/// ```
///
/// (The intersection with a categorical set of the reference implementation; s is its `target_weight`.)
pub(crate) fn supervised(mut pairs: Pairs<f64>, classes: &[Option<u32>], supervision: f64) -> Pairs<f64> {
    let apart = (-(APART / (1.0 - supervision)).min(MOST_APART)).exp();
    let unknown = (-UNKNOWN).exp();
    let shrunk = |i: usize| -> Vec<f64> {
        let (targets, weights) = pairs.row(i);
        let factor = |j: u32| match (classes[i], classes[j as usize]) {
            (Some(one), Some(other)) => {
                if one == other {
                    1.0
                } else {
                    apart
                }
            }
            _ => unknown,
        };
        targets.iter().zip(weights).map(|(&j, w)| w * factor(j)).collect()
    };
    let shrunk: Vec<Vec<f64>> = parallel::collect(pairs.len(), shrunk);
    let most: Vec<f64> = shrunk.iter().map(|row| row.iter().copied().fold(f64::MIN_POSITIVE, f64::max)).collect();
    let union = |i: usize| -> Vec<f64> {
        let both = |(&j, w): (&u32, &f64)| {
            let (own, other) = (w / most[i], w / most[j as usize]);
            own + other - own * other
        };
        pairs.row(i).0.iter().zip(&shrunk[i]).map(both).collect()
    };
    pairs.weights = parallel::collect(pairs.len(), union).concat();
    pairs
}

/// a and b for which 1/(1 + a x^2b) is closest to 1 up to the minimum distance and to exp(−(x − least)/spread) beyond,
/// at 300 distances up to three spreads.
pub(crate) fn shape(least: f64, spread: f64) -> (f64, f64) {
    let wanted: Vec<(f64, f64)> = (0..300)
        .map(|at| {
            let x = 3.0 * spread * f64::from(at) / 299.0;
            (x, if x < least { 1.0 } else { (-(x - least) / spread).exp() })
        })
        .collect();
    // Over log a and log b.
    let mut sum = |p: &[f64], gradient: &mut [f64]| {
        let (a, b) = (p[0].exp(), p[1].exp());
        gradient.fill(0.0);
        let mut value = 0.0;
        for &(x, y) in wanted.iter().filter(|(x, _)| *x > 0.0) {
            let power = a * x.powf(2.0 * b);
            let q = 1.0 / (1.0 + power);
            value += (q - y).powi(2);
            let along = -2.0 * (q - y) * q * q * power;
            gradient[0] += along;
            gradient[1] += along * 2.0 * b * x.ln();
        }
        Ok(Some(value))
    };
    let stop = Stop { gradient: 1e-12, decrease: -1.0, evaluations: 500 };
    let descent = Descent { bounds: Bounds::None, memory: 5, scale: None, cautious: false, stop, stage: None };
    let start = [-2.0 * spread.ln(), 0.0];
    descent.minimize(&start, &mut sum, &Silent).map_or((1.0, 1.0), |(p, _)| (p[0].exp(), p[1].exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that umap-learn 0.5 uses for its defaults, min_dist 0.1 and spread 1.
    #[test]
    fn the_shape_is_that_of_the_reference() {
        let (a, b) = shape(0.1, 1.0);
        assert!((a - 1.576_943_46).abs() < 1e-5 && (b - 0.895_060_88).abs() < 1e-5, "{a} {b}");
    }

    #[test]
    fn weights_add_up_to_the_logarithm_of_their_number() {
        let lengths: Vec<f64> = (1..=15).map(|j| f64::from(j).sqrt()).collect();
        for scale in [1e-100, 1.0, 1e100] {
            let weights = row(&lengths.iter().map(|d| d * scale).collect::<Vec<_>>());
            assert!((weights.iter().sum::<f64>() - 16f64.log2()).abs() < 1e-9, "{weights:?}");
            assert_eq!(weights[0], 1.0);
        }
        assert_eq!(row(&[0.0; 4]), [1.0; 4]);
    }

    /// Points 0 and 1 of one class, 2 of another, 3 of none, in a ring: the largest membership of each point is one
    /// again, a pair of two classes has exp(−5) at a supervision of one half, and one whose ends have nothing else is
    /// whole.
    #[test]
    fn classes_part_pairs_and_leave_every_point_a_neighbor() {
        let lists = vec![
            vec![(1, 1.0), (3, 1.0)],
            vec![(0, 1.0), (2, 1.0)],
            vec![(1, 1.0), (3, 1.0)],
            vec![(0, 1.0), (2, 1.0)],
        ];
        let graph = Graph::from_lists(lists).unwrap();
        let pairs: Pairs<f64> = Pairs::symmetric(&graph, &[0.5; 8], f64::max);
        let known = supervised(pairs.clone(), &[Some(0), Some(0), Some(1), None], 0.5);
        let (apart, unknown) = ((-5f64).exp(), (-1f64).exp());
        let union = |a: f64, b: f64| a + b - a * b;
        assert!((known.weight(0, 1) - 1.0).abs() < 1e-15);
        assert!((known.weight(1, 2) - union(apart, apart / unknown)).abs() < 1e-15);
        assert!((known.weight(2, 3) - 1.0).abs() < 1e-15 && (known.weight(3, 0) - 1.0).abs() < 1e-15);
        assert_eq!(known.weight(1, 2), known.weight(2, 1));
        // One class leaves all memberships unchanged, the largest of each point being one.
        let whole: Pairs<f64> = Pairs::symmetric(&graph, &[1.0; 8], f64::max);
        assert_eq!(supervised(whole.clone(), &[Some(7); 4], 0.9), whole);
        // Classes that share no pair at all: all pairs are whole again.
        let all = supervised(pairs, &[Some(0), Some(1), Some(0), Some(1)], 1.0);
        assert!(all.weights.iter().all(|&w| w == 1.0), "{:?}", all.weights);
    }
}

//! The cost of an unfolding: the factors of its path, which have about as many columns as the neighborhoods have
//! dimensions.

use eigenfold_graph::Graph;
use eigenfold_linalg::cost::Cost;

/// CPU seconds of the whole path, per flop of a factor of the Laplacian and per cube of the columns: some fifty
/// factors at 5e-11 each, most of them with fewer columns than the last.
const PACE: f64 = 8.5e-10;

/// Some fifty factors with a column more than the neighborhoods have dimensions are usual; a path of ten times that
/// cost is refused, ...
const PATIENCE: f64 = 10.0 * 50.0;
/// ... unless that is at most this many flops: about a minute.
const LITTLE: f64 = 2e12;

/// The maximum work of a path: the sum of the third powers of the columns of its factors, each of which takes this many
/// flops.
pub(super) fn most_work(flops: f64, dimension: f64) -> f64 {
    (PATIENCE * (dimension + 1.0).powi(3)).max(LITTLE / flops.max(1.0))
}

/// The cost of the path if neighborhoods have this dimension: it ends with about one more column.
pub(super) fn predicted_cost(flops: f64, dimension: f64, most: usize) -> Cost {
    Cost::About(PACE * flops * (dimension + 1.0).min(most as f64).powi(3))
}

/// The dimension of the neighborhoods by the lengths of their edges:
///
/// ```text
/// Σᵢ (kᵢ − 1) / Σᵢ Σⱼ log r[i]/d[i,j],        r[i] the longest of kᵢ edges, j over the others
/// ```
///
/// E. Levina, P. J. Bickel. Maximum likelihood estimation of intrinsic dimension. NIPS 17, 2004; all points together.
pub(super) fn dimension(graph: &Graph) -> f64 {
    let (mut count, mut logs) = (0.0, 0.0);
    for i in 0..graph.len() {
        let lengths = || graph.lengths(i).iter().copied().filter(|&length| length > 0.0);
        let longest = lengths().fold(0.0, f64::max);
        count += (lengths().count() as f64 - 1.0).max(0.0);
        logs += lengths().map(|length| (longest / length).ln()).sum::<f64>();
    }
    if logs > 0.0 { count / logs } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured CPU seconds; for runs that were stopped early, the seconds until then
    /// (docs/decisions/0143-predicted-run-time.md).
    #[test]
    fn a_price_is_within_a_factor_of_three_of_what_it_took() {
        for (name, flops, dimension, took, done) in [
            ("digits", 1.87e7, 7.42, 9.5, true),
            ("optdigits", 1.48e8, 8.62, 88.8, true),
            ("optdigits, k = 12", 2.98e8, 8.48, 96.3, false),
            ("letter", 5.46e8, 4.55, 113.7, false),
            ("noise in 50 dimensions", 6.45e6, 25.4, 61.5, false),
        ] {
            let Cost::About(seconds) = predicted_cost(flops, dimension, 40) else { panic!("{name}") };
            assert!(seconds > took / 3.0 && (!done || seconds < 3.0 * took), "{name}: {seconds} for {took}");
            // The usual cost is far below the maximum.
            assert!(most_work(flops, dimension) * flops * PACE / 50.0 > 9.0 * seconds, "{name}");
        }
        // With few dimensions every run is short: the Swiss roll took half a second.
        assert!(matches!(predicted_cost(4.99e6, 1.96, 40), Cost::About(seconds) if seconds < 1.0));
    }

    /// Points on a line at the lengths that a cube in d dimensions has: the j-th of k neighbors at (j/k)^(1/d).
    #[test]
    fn the_dimension_of_edges_is_that_of_the_ball_they_fill() {
        for d in [1.0, 2.0, 8.0] {
            let lists = |i: u32| (1..=40).map(|j| ((i + j) % 200, (f64::from(j) / 40.0).powf(1.0 / d))).collect();
            let found = dimension(&Graph::from_lists((0..200).map(lists).collect()).unwrap());
            assert!((found / d - 1.0).abs() < 0.06, "{found} for {d}");
        }
        let alike = Graph::from_lists(vec![vec![(1, 1.0), (2, 1.0)], vec![(0, 1.0)], vec![(0, 0.0)]]).unwrap();
        assert_eq!(dimension(&alike), 1.0);
    }
}

//! Entropic affinities: every point's neighbors get weights of the same entropy, so that all points have the same
//! effective number of neighbors.
//!
//! ```text
//! p[j|i] = exp(−β[i] d²[i,j]) / Σ,    β[i] such that  −Σⱼ p log p = log(perplexity)
//! ```
//!
//! G. E. Hinton, S. T. Roweis. Stochastic neighbor embedding. NIPS 15, 2002. M. Vladymyrov, M. Á. Carreira-Perpiñán. Entropic
//! affinities: properties and efficient numerical computation. ICML 2013 (Newton's method in log β, with bounds).

use eigenfold_graph::Graph;
use eigenfold_linalg::parallel;

/// The tolerance of the entropy.
const TOLERANCE: f64 = 1e-13;
const MOST_STEPS: usize = 200;
/// Rows that are calibrated together.
const ROWS: usize = 16_384;

/// p[j|i] of every entry of the lists, which sum to one for every point; the mean of several perplexities.
pub(crate) fn affinities(graph: &Graph, perplexities: &[f64]) -> Vec<f64> {
    let mut all = Vec::with_capacity(graph.edge_count());
    // Some rows at a time: all of them would take twice the memory.
    for some in (0..graph.len()).collect::<Vec<_>>().chunks(ROWS) {
        let row = |at: usize| {
            let squares: Vec<f64> = graph.lengths(some[at]).iter().map(|d| d * d).collect();
            mean(&squares, perplexities)
        };
        parallel::collect(some.len(), row).into_iter().for_each(|row| all.extend(row));
    }
    all
}

/// The weights of one point's neighbors, by their squared distances: the mean over several perplexities.
pub(crate) fn mean(squares: &[f64], perplexities: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; squares.len()];
    for &perplexity in perplexities {
        let row = calibrated(squares, perplexity).0;
        mean.iter_mut().zip(row).for_each(|(mean, p)| *mean += p / perplexities.len() as f64);
    }
    mean
}

/// The weights of one point's neighbors, and β.
pub(crate) fn calibrated(squares: &[f64], perplexity: f64) -> (Vec<f64>, f64) {
    let k = squares.len();
    let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = squares.iter().map(|s| s - least).sum::<f64>() / k as f64;
    // All equally far, or too few to choose from: equal weights.
    if k as f64 <= perplexity || mean <= 0.0 || !mean.is_finite() {
        return (vec![1.0 / k as f64; k], 0.0);
    }
    let over: Vec<f64> = squares.iter().map(|s| (s - least) / mean).collect();
    let target = perplexity.ln();
    let (mut low, mut high, mut log) = (-60.0_f64, 60.0_f64, 0.0_f64);
    let mut weights = vec![0.0; k];
    for _ in 0..MOST_STEPS {
        let beta = log.exp();
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (weight, &s) in weights.iter_mut().zip(&over) {
            *weight = (-beta * s).exp();
            sum += *weight;
            first += *weight * s;
            second += *weight * s * s;
        }
        let (mean, square) = (first / sum, second / sum);
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let off = sum.ln() + beta * mean - target;
        if off.abs() <= TOLERANCE {
            break;
        }
        if off > 0.0 {
            low = log
        } else {
            high = log
        }
        // d entropy / d log β = −β² variance.
        let newton = log + off / (beta * beta * (square - mean * mean));
        let inside = newton > low && newton < high && newton.is_finite();
        let next = if inside { newton } else { 0.5 * (low + high) };
        if next == log || high - low <= f64::EPSILON * log.abs() {
            break;
        }
        log = next;
    }
    (weights, log.exp() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entropy(weights: &[f64]) -> f64 {
        -weights.iter().filter(|&&w| w > 0.0).map(|w| w * w.ln()).sum::<f64>()
    }

    #[test]
    fn the_perplexity_is_met() {
        let squares: Vec<f64> = (0..90).map(|i| 3.0 + f64::from(i * i % 37) + 0.01 * f64::from(i)).collect();
        for perplexity in [1.01, 2.0, 30.0, 89.0] {
            for scale in [1e-200, 1e-6, 1.0, 1e100] {
                let scaled: Vec<f64> = squares.iter().map(|s| s * scale).collect();
                let (weights, beta) = calibrated(&scaled, perplexity);
                assert!((entropy(&weights) - f64::ln(perplexity)).abs() < 1e-11, "{perplexity} {scale}");
                assert!(beta > 0.0);
            }
        }
    }

    #[test]
    fn points_that_coincide_share_equally() {
        assert_eq!(calibrated(&[0.0; 5], 3.0).0, vec![0.2; 5]);
        assert_eq!(calibrated(&[1.0, 2.0], 30.0).0, vec![0.5; 2]);
        // More duplicates than the perplexity: all of the weight, shared equally among them.
        let (weights, _) = calibrated(&[0.0, 0.0, 0.0, 0.0, 1.0, 2.0], 2.0);
        assert!((weights[0] - 0.25).abs() < 1e-12 && weights[5] < 1e-12, "{weights:?}");
    }
}

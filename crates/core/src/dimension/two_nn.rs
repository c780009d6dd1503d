//! The dimension from two neighbors: how much farther away the second one is than the first.
//!
//! If the density is constant up to the second neighbor, the distribution of the ratio μ = r₂/r₁ of the two distances
//! depends on the dimension alone:
//!
//! ```text
//! P(μ > x) = x^−d,   so d log μ is exponential with mean 1
//! d = (n − 1) / Σ log μᵢ                                   unbiased; the headline
//! d = n / Σ log μᵢ                                         the maximum likelihood
//! d = m / (m − 1),  m the mean of μ                        the moment; for d ≤ 2 its variance is infinite
//! d = Σ xᵢyᵢ / Σ xᵢ²  over the smallest 90 %,  xᵢ = log μ₍ᵢ₎,  yᵢ = −log(1 − i/n)      the fit through 0
//! ```
//!
//! Ratios of 1, two neighbors at one distance, are kept: in data with rounded values they are valid.
//!
//! E. Facco, M. d'Errico, A. Rodriguez, A. Laio. Estimating the intrinsic dimension of datasets by a minimal neighborhood
//! information. Scientific Reports 7, 2017.

use super::near::{Clusters, Near};
use super::{Estimate, Name};

/// The fraction of the ratios, smallest first, that the fit uses.
const FITTED: f64 = 0.9;

/// √n times the Kolmogorov-Smirnov distance beyond which ratios are not those of a smooth density: lattices are at 16,
/// and about 1 % of random samples exceed it.
pub const FLAGGED: f64 = 1.35;

/// log r₂/r₁ of every point.
pub(super) fn log_ratios(near: &Near) -> Vec<f64> {
    (0..near.len()).map(|at| (near.lengths(at)[1] / near.lengths(at)[0]).ln()).collect()
}

/// (n − 1) / Σ log μ, with its interval; `None` if every ratio is 1.
pub(super) fn unbiased(logs: &[f64], near: &Near, clusters: &Clusters) -> Option<Estimate> {
    let (n, sum) = (logs.len() as f64, logs.iter().sum::<f64>());
    let value = ((n - 1.0) / sum).is_finite().then_some((n - 1.0) / sum)?;
    let terms: Vec<f64> = logs.iter().map(|log| 1.0 / value - log).collect();
    let error = clusters.deviation(&near.rows, &terms).map(|deviation| value * value / n * deviation);
    Some(Estimate::new(Name::TwoNn, value, logs.len()).with_error(error))
}

/// n / Σ log μ.
pub(super) fn likeliest(logs: &[f64]) -> Option<Estimate> {
    let value = logs.len() as f64 / logs.iter().sum::<f64>();
    value.is_finite().then(|| Estimate::new(Name::TwoNnMle, value, logs.len()))
}

/// m / (m − 1).
pub(super) fn moment(logs: &[f64]) -> Option<Estimate> {
    let mean = logs.iter().map(|log| log.exp()).sum::<f64>() / logs.len() as f64;
    let value = mean / (mean - 1.0);
    value.is_finite().then(|| Estimate::new(Name::TwoNnMean, value, logs.len()))
}

/// The line through 0 and the smallest ratios.
pub(super) fn fit(logs: &[f64]) -> Option<Estimate> {
    let n = logs.len() as f64;
    let mut sorted = logs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let kept = (FITTED * n) as usize;
    let (mut xy, mut xx) = (0.0, 0.0);
    for (i, x) in sorted[..kept].iter().enumerate() {
        xy -= x * (-((i + 1) as f64) / n).ln_1p();
        xx += x * x;
    }
    let value = xy / xx;
    (value.is_finite() && value > 0.0).then(|| Estimate::new(Name::TwoNnFit, value, logs.len()))
}

/// √n times the largest distance between the distribution of d log μ and the exponential one.
pub(super) fn departure(logs: &[f64], dimension: f64) -> f64 {
    let n = logs.len() as f64;
    let mut sorted = logs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let distance = sorted.iter().enumerate().fold(0.0, |most: f64, (i, log)| {
        let expected = -(-dimension * log).exp_m1();
        most.max((i + 1) as f64 / n - expected).max(expected - i as f64 / n)
    });
    n.sqrt() * distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_two_and_four_are_dimension_one_half_to_one() {
        let logs = [2f64.ln(), 4f64.ln()];
        let sum = 8f64.ln();
        assert!((likeliest(&logs).unwrap().value - 2.0 / sum).abs() < 1e-15);
        // The mean is 3.
        assert!((moment(&logs).unwrap().value - 1.5).abs() < 1e-15);
        // The smaller of the two alone: log 2 against −log(1 − 1/2).
        assert!((fit(&logs).unwrap().value - 1.0).abs() < 1e-15);
        // At the first, 1/2 against 1 − 2^−1; at the second, 1 against 1 − 4^−1.
        assert!((departure(&logs, 1.0) - 2f64.sqrt() * 0.5).abs() < 1e-15);
    }

    #[test]
    fn ratios_that_are_all_one_have_no_dimension() {
        let logs = [0.0; 5];
        assert_eq!((likeliest(&logs), moment(&logs), fit(&logs)), (None, None, None));
    }
}

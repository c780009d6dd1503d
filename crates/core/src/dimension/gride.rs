//! The dimension by scale: how much farther away the 2k-th neighbor is than the k-th.
//!
//! With μ = r₂ₖ/rₖ the likelihood of the dimension over n points is
//!
//! ```text
//! f(μ) = d (μ^d − 1)^(k−1) / (B(k, k) μ^((2k−1)d + 1))
//! Σᵢ ψᵢ(d) = 0,   ψᵢ = 1/d + (k − 1) lᵢ / (1 − e^(−d lᵢ)) − (2k − 1) lᵢ,   lᵢ = log μᵢ
//! ```
//!
//! The sum decreases strictly with d, from ∞ to −k Σl, so that its root is unique; it is found by Newton's method with
//! bounds. k = 1 is the likelihood of two neighbors. Noise thickens a surface: at small k the estimate is that of the
//! noise, and it falls to that of the surface as k grows. If there are many points, the same estimate among a subset of
//! evenly spaced points reaches larger scales.
//!
//! F. Denti, D. Doimo, A. Laio, A. Mira. The generalized ratios intrinsic dimension estimator. Scientific Reports 12, 2022.

use super::near::{Clusters, Near, interval};
use serde::Serialize;

/// The scales, doubled from one to the next.
pub(super) const SCALES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The estimate at one scale.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScaleEstimate {
    /// The 2k-th neighbor is compared with the k-th.
    pub k: usize,
    /// The number of points: all distinct ones, or evenly spaced ones for scales beyond the reach of k.
    pub among: usize,
    /// The dimension.
    pub value: f64,
    /// Its standard error, over clusters of near points; bias is not included.
    pub standard_error: Option<f64>,
    /// The lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// The mean distance to the 2k-th neighbor, in the units of the data.
    pub distance: f64,
}

/// The estimate at every scale that the neighbors reach, except where all ratios are 1.
pub(super) fn scales(near: &Near, among: usize, clusters: &Clusters) -> Vec<ScaleEstimate> {
    SCALES.into_iter().filter(|k| 2 * k <= near.k).filter_map(|k| scale(near, among, clusters, k)).collect()
}

fn scale(near: &Near, among: usize, clusters: &Clusters, k: usize) -> Option<ScaleEstimate> {
    let n = near.len();
    let logs: Vec<f64> = (0..n).map(|at| (near.lengths(at)[2 * k - 1] / near.lengths(at)[k - 1]).ln()).collect();
    let value = root(&logs, k)?;
    let terms: Vec<f64> = logs.iter().map(|&log| score(log, k, value).0).collect();
    let derivative: f64 = logs.iter().map(|&log| score(log, k, value).1).sum();
    let standard_error = clusters.deviation(&near.rows, &terms).map(|deviation| deviation / -derivative);
    let ends = standard_error.map(|error| interval(value, error));
    let distance = (0..n).map(|at| near.lengths(at)[2 * k - 1]).sum::<f64>() / n as f64;
    Some(ScaleEstimate { k, among, value, standard_error, low: ends.map(|e| e.0), high: ends.map(|e| e.1), distance })
}

/// ψ of one point, and its derivative in d.
fn score(log: f64, k: usize, d: f64) -> (f64, f64) {
    let (m, rest) = ((k - 1) as f64, (2 * k - 1) as f64 * log);
    let gap = -(-d * log).exp_m1();
    // The limits where two distances are equal.
    let (pull, bend) =
        if gap > 0.0 { (log / gap, (log / gap).powi(2) * (1.0 - gap)) } else { (1.0 / d, 1.0 / (d * d)) };
    (1.0 / d + m * pull - rest, -1.0 / (d * d) - m * bend)
}

/// The root of the sum of ψ; `None` if every ratio is 1.
fn root(logs: &[f64], k: usize) -> Option<f64> {
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    // The mean of l is ψ(2k) − ψ(k) over d, a sum of reciprocals.
    let expected: f64 = (k..2 * k).map(|j| 1.0 / j as f64).sum();
    let mut d = (expected / mean).is_finite().then_some(expected / mean)?;
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..200 {
        let (sum, derivative) = logs.iter().fold((0.0, 0.0), |(sum, derivative), &log| {
            let (value, bend) = score(log, k, d);
            (sum + value, derivative + bend)
        });
        if sum > 0.0 {
            low = d
        } else {
            high = d
        }
        let newton = d - sum / derivative;
        let inside = newton > low && newton < high;
        let next = match (inside, high.is_finite(), low > 0.0) {
            (true, _, _) => newton,
            (_, false, _) => 2.0 * d,
            (_, _, false) => d / 2.0,
            _ => (low * high).sqrt(),
        };
        let done = (next - d).abs() <= 1e-14 * d;
        d = next;
        if done {
            break;
        }
    }
    Some(d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_scale_is_the_likelihood_of_two_neighbors() {
        let logs = [0.3, 0.0, 1.7, 0.2];
        assert!((root(&logs, 1).unwrap() - 4.0 / 2.2).abs() < 1e-13);
        assert_eq!(root(&[0.0; 3], 4), None);
    }

    #[test]
    fn the_root_is_where_the_likelihood_is_largest() {
        let logs: [f64; 5] = [0.21, 0.05, 0.4, 0.11, 0.3];
        for k in [2, 8, 64] {
            let likelihood = |d: f64| -> f64 {
                let one =
                    |l: &f64| d.ln() + (k - 1) as f64 * (d * l).exp_m1().ln() - ((2 * k - 1) as f64 * d + 1.0) * l;
                logs.iter().map(one).sum()
            };
            let d = root(&logs, k).unwrap();
            let best = likelihood(d);
            assert!(likelihood(d * 1.001) < best && likelihood(d * 0.999) < best, "k = {k}, d = {d}");
            let sum: f64 = logs.iter().map(|&log| score(log, k, d).0).sum();
            assert!(sum.abs() < 1e-9, "k = {k}: {sum}");
        }
    }
}

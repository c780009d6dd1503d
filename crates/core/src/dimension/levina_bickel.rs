//! The maximum-likelihood dimension, with the neighbors of each point as a Poisson process.
//!
//! In a small ball the neighbors of a point follow a Poisson process, and the likelihood of their distances is maximal
//! at
//!
//! ```text
//! dᵢ = (k − 1) / sᵢ,   sᵢ = Σ over j < k of log rₖ/rⱼ
//! Levina and Bickel:         the mean of dᵢ over the points
//! MacKay and Ghahramani:     n (k − 1) / Σᵢ sᵢ, the likelihood of all points together
//! of one point:              (k − 2) / sᵢ, which is unbiased
//! ```
//!
//! The first two are means over k/2, ..., k.
//!
//! E. Levina, P. J. Bickel. Maximum likelihood estimation of intrinsic dimension. NIPS 17, 2004. D. J. C. MacKay,
//! Z. Ghahramani. Comments on "Maximum likelihood estimation of intrinsic dimension", 2005.

use super::near::{Clusters, Near};
use super::{Estimate, Name};

/// The numbers of neighbors over which the means run.
fn range(near: &Near, neighbors: usize) -> std::ops::RangeInclusive<usize> {
    let most = neighbors.min(near.k);
    most.div_ceil(2).max(2)..=most
}

/// Σ over j < k of log rₖ/rⱼ.
fn sum_of_logs(lengths: &[f64], k: usize) -> f64 {
    lengths[..k - 1].iter().map(|length| (lengths[k - 1] / length).ln()).sum()
}

/// Levina and Bickel's mean of reciprocals; `None` if all neighbors of a point are at one distance.
pub(super) fn mean_of_points(near: &Near, neighbors: usize, clusters: &Clusters) -> Option<Estimate> {
    let (n, range) = (near.len(), range(near, neighbors));
    let count = range.clone().count() as f64;
    let one = |at: usize| -> f64 {
        let lengths = near.lengths(at);
        range.clone().map(|k| (k - 1) as f64 / sum_of_logs(lengths, k)).sum::<f64>() / count
    };
    let all: Vec<f64> = (0..n).map(one).collect();
    let value = all.iter().sum::<f64>() / n as f64;
    let terms: Vec<f64> = all.iter().map(|one| one - value).collect();
    let error = clusters.deviation(&near.rows, &terms).map(|deviation| deviation / n as f64);
    value.is_finite().then(|| Estimate::new(Name::LevinaBickel, value, n).with_error(error))
}

/// MacKay and Ghahramani's reciprocal of the mean; `None` if at every point all neighbors are at one distance.
pub(super) fn all_together(near: &Near, neighbors: usize, clusters: &Clusters) -> Option<Estimate> {
    let (n, range) = (near.len(), range(near, neighbors));
    let count = range.clone().count() as f64;
    let (mut value, mut terms) = (0.0, vec![0.0; n]);
    for k in range {
        let sums: Vec<f64> = (0..n).map(|at| sum_of_logs(near.lengths(at), k) / (k - 1) as f64).collect();
        let d = n as f64 / sums.iter().sum::<f64>();
        value += d / count;
        terms.iter_mut().zip(&sums).for_each(|(term, sum)| *term += (d - d * d * sum) / count);
    }
    let error = clusters.deviation(&near.rows, &terms).map(|deviation| deviation / n as f64);
    value.is_finite().then(|| Estimate::new(Name::MacKayGhahramani, value, n).with_error(error))
}

/// The dimension at every point; `None` where all its neighbors are at one distance, or there are fewer than three.
pub(super) fn of_each_point(near: &Near) -> Vec<Option<f64>> {
    let one = |at: usize| {
        let value = (near.k as f64 - 2.0) / sum_of_logs(near.lengths(at), near.k);
        (near.k > 2 && value.is_finite()).then_some(value)
    };
    (0..near.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_ratios_add_up() {
        // log 4/1 + log 4/2 = log 8.
        assert!((sum_of_logs(&[1.0, 2.0, 4.0, 9.0], 3) - 8f64.ln()).abs() < 1e-15);
    }
}

//! One point written by others: the local regression that all of the locally linear family share.
//!
//! ```text
//! w = C⁻¹1 / 1ᵀC⁻¹1,   C = Z Zᵀ + r tr(ZZᵀ) I,   Z the differences x[j] − x, one a row
//! ```

use crate::input::cloud::Cloud;
use eigenfold_linalg::dense::small::{add_outer, solve_positive_definite};

/// r unless another is asked for: the part of the local trace that is added to the diagonal.
pub(crate) const REGULARIZATION: f64 = 1e-3;

/// The weights of one point over others, and the squared residual a feature; all of it where only distances are known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Regression {
    pub(crate) weights: Vec<f64>,
    pub(crate) residual: f64,
}

impl Cloud {
    /// The weights that write the origin by the `size` points of the cloud.
    pub(crate) fn regression(&self, size: usize, regularization: f64) -> Regression {
        match self {
            Cloud::Rows(rows) if size > rows.len() / size => by_features(rows, rows.len() / size, regularization),
            Cloud::Rows(rows) => {
                let weights = barycentric_weights(&self.gram(size), regularization);
                let residual = residual(rows, &weights);
                Regression { weights, residual }
            }
            Cloud::Gram(gram) => {
                let weights = barycentric_weights(gram, regularization);
                let row = |a: usize| (0..size).map(|b| gram[a * size + b] * weights[b]).sum::<f64>();
                let residual = (0..size).map(|a| weights[a] * row(a)).sum::<f64>().max(0.0);
                Regression { weights, residual }
            }
        }
    }

    /// The part of the variance that lies beyond the first `dims` directions; nothing if there are no more points.
    pub(crate) fn share_beyond(&self, size: usize, dims: usize) -> Option<f64> {
        let pairs = self.principal(size, size);
        let total: f64 = pairs.iter().map(|pair| pair.0).sum();
        (size > dims && total > 0.0).then(|| pairs.iter().skip(dims).map(|pair| pair.0 / total).sum())
    }
}

/// C⁻¹1 / 1ᵀC⁻¹1 for the regularized local Gram matrix; equal weights where it vanishes or cannot be inverted.
fn barycentric_weights(gram: &[f64], regularization: f64) -> Vec<f64> {
    let k = gram.len().isqrt();
    let trace: f64 = (0..k).map(|a| gram[a * k + a]).sum();
    let mut weights = vec![1.0; k];
    if trace > 0.0 {
        // In units of the trace, so that no scale of the data can underflow.
        let mut c: Vec<f64> = gram.iter().map(|v| v / trace).collect();
        for a in 0..k {
            c[a * k + a] += regularization;
        }
        if !solve_positive_definite(&mut c, &mut weights) {
            weights = vec![1.0; k];
        }
    }
    let sum: f64 = weights.iter().sum();
    if sum.is_normal() { weights.iter().map(|w| w / sum).collect() } else { vec![1.0 / k as f64; k] }
}

/// ‖Σⱼ w[j] z[j]‖² / p.
fn residual(away: &[f64], weights: &[f64]) -> f64 {
    let p = away.len() / weights.len();
    let mean = |f: usize| weights.iter().enumerate().map(|(j, w)| w * away[j * p + f]).sum::<f64>();
    (0..p).map(|f| mean(f).powi(2)).sum::<f64>() / p as f64
}

/// With more parents than features, by the p x p matrix of the differences Z instead of C = Z Zᵀ + ρI (Woodbury):
///
/// ```text
/// C⁻¹1 = (1 − Z a) / ρ,   (ZᵀZ + ρI) a = Zᵀ1;     the residual is −ρ a / 1ᵀ(1 − Z a)
/// ```
fn by_features(away: &[f64], p: usize, regularization: f64) -> Regression {
    let k = away.len() / p;
    let trace: f64 = away.iter().map(|z| z * z).sum();
    let equal = || {
        let weights = vec![1.0 / k as f64; k];
        let residual = residual(away, &weights);
        Regression { weights, residual }
    };
    if trace == 0.0 {
        return equal();
    }
    // In units of the trace, so that no scale of the data can underflow.
    let length = trace.sqrt();
    let away: Vec<f64> = away.iter().map(|z| z / length).collect();
    let mut moment = vec![0.0; p * p];
    add_outer(&away, p, 1.0, &mut moment);
    let mut a = vec![0.0; p];
    for z in away.chunks_exact(p) {
        a.iter_mut().zip(z).for_each(|(sum, z)| *sum += z);
    }
    for f in 0..p {
        moment[f * p + f] += regularization;
    }
    if !solve_positive_definite(&mut moment, &mut a) {
        return equal();
    }
    let mut weights: Vec<f64> =
        away.chunks_exact(p).map(|z| 1.0 - z.iter().zip(&a).map(|(z, a)| z * a).sum::<f64>()).collect();
    let sum: f64 = weights.iter().sum();
    if !sum.is_normal() {
        return equal();
    }
    weights.iter_mut().for_each(|w| *w /= sum);
    let rest = regularization * length / sum;
    Regression { weights, residual: a.iter().map(|a| (rest * a).powi(2)).sum::<f64>() / p as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::cloud::products;

    #[test]
    fn more_parents_than_features_have_the_weights_of_the_gram_matrix() {
        // Six parents in a plane, none of them symmetric to another.
        let away = [1.0, 0.5, -0.25, 2.0, 0.75, -1.5, 2.0, 2.0, -1.0, -0.5, 0.125, 3.0];
        for regularization in [1e-6, 1e-3, 10.0] {
            let short = by_features(&away, 2, regularization);
            let long = barycentric_weights(&products(&away, 6), regularization);
            for (a, b) in short.weights.iter().zip(&long) {
                assert!((a - b).abs() < 1e-9, "{:?} {long:?}", short.weights);
            }
            let expected = residual(&away, &short.weights);
            assert!((short.residual - expected).abs() < 1e-6 * expected.max(1e-12), "{short:?} {expected}");
        }
    }

    #[test]
    fn parents_at_the_point_itself_weigh_the_same() {
        assert_eq!(by_features(&[0.0; 6], 2, 1e-3), Regression { weights: vec![1.0 / 3.0; 3], residual: 0.0 });
    }

    /// From the origin: 3 along x and 4 along x, and 5 across. The trace is 50, and 25 of it lie across.
    #[test]
    fn the_share_beyond_the_first_direction_is_what_lies_across_it() {
        let rows = [3.0, 0.0, 4.0, 0.0, 0.0, 5.0];
        for cloud in [Cloud::Rows(rows.to_vec()), Cloud::Gram(products(&rows, 3))] {
            assert!((cloud.share_beyond(3, 1).unwrap() - 0.5).abs() < 1e-14);
            assert!(cloud.share_beyond(3, 2).unwrap() < 1e-14);
        }
        assert_eq!(Cloud::Rows(rows[..4].to_vec()).share_beyond(2, 2), None);
    }

    #[test]
    fn coinciding_points_get_equal_weights() {
        assert_eq!(barycentric_weights(&[0.0; 9], 1e-3), [1.0 / 3.0; 3]);
        assert_eq!(Cloud::Rows(vec![0.0; 6]).regression(3, 1e-3).weights, [1.0 / 3.0; 3]);
    }
}

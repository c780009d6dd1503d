//! Out-of-sample extension by local weights: the weights that reconstruct a point from its neighbors apply to its
//! coordinates, y = Σⱼ w[j] y[j].

use super::{Extension, Known, Newcomer, Sizes, Traits, TransformFn};
use crate::input::{Cloud, differences};
use eigenfold_linalg::dense::small::solve_positive_definite;
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// The regularization of the weights, and the candidate neighbors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Barycenter {
    /// The fraction of the local trace added to the diagonal.
    pub(crate) regularization: f64,
    /// The candidate neighbors; all if absent.
    pub(crate) landmarks: Option<Vec<u32>>,
}

impl Extension for Barycenter {
    fn traits(&self) -> Traits {
        Traits::OF_NEIGHBORS
    }

    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>> {
        Ok(Box::new(move |batch| Ok(batch.each(|new| self.row(&known, new)))))
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let (rows, landmarks) = (sizes.rows, self.landmarks.as_ref());
        (0.0..f64::INFINITY).contains(&self.regularization)
            && landmarks.is_none_or(|l| (1..=rows).contains(&l.len()) && l.iter().all(|&i| (i as usize) < rows))
    }

    fn candidates(&self) -> Option<&[u32]> {
        self.landmarks.as_deref()
    }
}

impl Barycenter {
    fn row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        let mut away = known.points.map_or(Vec::new(), |(points, _)| differences(points, new.near, new.row));
        let roots: Vec<f64> = new.shares.iter().map(|share| share.sqrt()).collect();
        let p = away.len() / roots.len();
        away.iter_mut().enumerate().for_each(|(at, z)| *z *= roots[at / p]);
        let gram = Cloud::Rows(away).gram(roots.len()).into_owned();
        let weights = faded_weights(gram, &roots, self.regularization);
        known.mean_of(new.near, &weights, |_, sum| sum)
    }
}

/// The weights that reconstruct a point from neighbors, with a penalty that grows as they are tapered:
///
/// ```text
/// least ‖Σⱼ w[j] z[j]‖² + ρ tr Σⱼ w[j]²/t[j],  Σ w = 1        w = √t ∘ u,  (G̃ + ρ tr G̃) u ∝ √t,  G̃[a,b] = √(t[a]t[b]) z[a]·z[b]
/// ```
///
/// Without tapering these are the weights of LLE.
fn faded_weights(gram: Vec<f64>, roots: &[f64], regularization: f64) -> Vec<f64> {
    let k = roots.len();
    let trace: f64 = (0..k).map(|a| gram[a * k + a]).sum();
    let mut u = roots.to_vec();
    if trace > 0.0 {
        // In units of the trace, so that nothing underflows.
        let mut c: Vec<f64> = gram.iter().map(|v| v / trace).collect();
        (0..k).for_each(|a| c[a * k + a] += regularization);
        if !solve_positive_definite(&mut c, &mut u) {
            u = roots.to_vec();
        }
    }
    let weights: Vec<f64> = u.iter().zip(roots).map(|(u, root)| u * root).collect();
    let sum: f64 = weights.iter().sum();
    if sum.is_normal() { weights.iter().map(|w| w / sum).collect() } else { vec![1.0 / k as f64; k] }
}

//! The weights that write a point by its neighbors also write its coordinates: y = Σⱼ w[j] y[j].

use super::{Known, Newcomer, Rule};
use crate::input::{Cloud, differences};
use eigenfold_linalg::dense::small::solve_positive_definite;
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// How the weights are found, and among whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Barycenter {
    /// The part of the local trace added to the diagonal.
    pub(crate) regularization: f64,
    /// The points that have neighbors; all if absent.
    pub(crate) landmarks: Option<Vec<u32>>,
}

impl Barycenter {
    pub(super) fn fits(&self, rows: usize) -> bool {
        let landmarks = self.landmarks.as_ref();
        (0.0..f64::INFINITY).contains(&self.regularization)
            && landmarks.is_none_or(|l| (1..=rows).contains(&l.len()) && l.iter().all(|&i| (i as usize) < rows))
    }

    /// Hands the rule without landmarks, and what is known of the landmarks alone, to `work`.
    pub(super) fn among<R>(&self, known: &Known<'_>, work: impl FnOnce(&Rule, &Known<'_>) -> Result<R>) -> Result<R> {
        let plain = Rule::Barycenter(Barycenter { regularization: self.regularization, landmarks: None });
        let Some(landmarks) = &self.landmarks else { return work(&plain, known) };
        let rows: Vec<usize> = landmarks.iter().map(|&i| i as usize).collect();
        let points = known.points.map(|(points, metric)| (points.select(&rows), metric));
        // While a fit is under way only the landmarks have coordinates.
        let map = if known.map.rows() == rows.len() { known.map.clone() } else { known.map.select(&rows) };
        let points = points.as_ref().map(|(points, metric)| (points, *metric));
        // They are further apart than the points whose neighbors a radius found.
        work(&plain, &Known { points, map: &map, k: known.k.min(rows.len()), radius: None, ..*known })
    }

    /// The number of a training row among those that have neighbors; none of theirs if it is not one of them.
    pub(super) fn number(&self, row: usize) -> u32 {
        let at = |landmarks: &Vec<u32>| landmarks.iter().position(|&i| i as usize == row).unwrap_or(usize::MAX);
        self.landmarks.as_ref().map_or(row, at) as u32
    }

    pub(super) fn row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        let mut away = known.points.map_or(Vec::new(), |(points, _)| differences(points, new.near, new.row));
        let roots: Vec<f64> = new.shares.iter().map(|share| share.sqrt()).collect();
        let p = away.len() / roots.len();
        away.iter_mut().enumerate().for_each(|(at, z)| *z *= roots[at / p]);
        let gram = Cloud::Rows(away).gram(roots.len()).into_owned();
        let weights = faded_weights(gram, &roots, self.regularization);
        known.mean_of(new.near, &weights, |_, sum| sum)
    }
}

/// The weights that write a point by neighbors whose penalty grows as they fade out:
///
/// ```text
/// least ‖Σⱼ w[j] z[j]‖² + ρ tr Σⱼ w[j]²/t[j],  Σ w = 1        w = √t ∘ u,  (G̃ + ρ tr G̃) u ∝ √t,  G̃[a,b] = √(t[a]t[b]) z[a]·z[b]
/// ```
///
/// Without fading these are the weights of lle.
fn faded_weights(gram: Vec<f64>, roots: &[f64], regularization: f64) -> Vec<f64> {
    let k = roots.len();
    let trace: f64 = (0..k).map(|a| gram[a * k + a]).sum();
    let mut u = roots.to_vec();
    if trace > 0.0 {
        // In units of the trace, so that no scale of the data can underflow.
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

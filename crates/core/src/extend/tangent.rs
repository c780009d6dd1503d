//! Out-of-sample extension by tangent spaces: the affine map from the tangent space of the neighbors to their
//! coordinates.

use super::{Extension, Known, Newcomer, Traits, TransformFn};
use crate::input::cloud::{Cloud, differences};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// The rule, which has no numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tangent;

impl Extension for Tangent {
    fn traits(&self) -> Traits {
        Traits::OF_NEIGHBORS
    }

    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>> {
        let dims = known.map.cols();
        Ok(Box::new(move |batch| {
            Ok(batch.each(|new| {
                let weights = known.points.map_or(Vec::new(), |(points, _)| tangent_weights(points, new, dims));
                known.mean_of(new.near, &weights, |_, sum| sum)
            }))
        }))
    }
}

/// The weights on the neighbors that extend any function on them to x: the affine function of their tangent coordinates
/// that fits it best, with the taper weights, evaluated at x in the tangent space.
///
/// ```text
/// w[j] = t[j]/T + Σ_q √t[j] u[j,q] (Σ_l √t[l] u[l,q] (x[l] − x̄)·(x − x̄)) / λ_q
/// x̄ = Σ t[j] x[j] / T,   T = Σ t[j],   u_q, λ_q the principal pairs of the rows √t[j] (x[j] − x̄)
/// ```
fn tangent_weights(points: &Points, new: &Newcomer<'_>, dims: usize) -> Vec<f64> {
    let (size, shares) = (new.near.len(), new.shares);
    let mut rows = differences(points, new.near, new.row);
    let p = rows.len() / size;
    let total: f64 = shares.iter().sum();
    // From x̄ to x, as the rows are relative to x.
    let step: Vec<f64> = (0..p).map(|f| -(0..size).map(|j| shares[j] * rows[j * p + f]).sum::<f64>() / total).collect();
    for (row, share) in rows.chunks_exact_mut(p).zip(shares) {
        row.iter_mut().zip(&step).for_each(|(x, step)| *x = share.sqrt() * (*x + step));
    }
    let along: Vec<f64> = rows.chunks_exact(p).map(|row| row.iter().zip(&step).map(|(a, b)| a * b).sum()).collect();
    let mut weights: Vec<f64> = shares.iter().map(|share| share / total).collect();
    for (square, u) in Cloud::Rows(rows).principal(size, dims) {
        let slope = u.iter().zip(&along).map(|(u, c)| u * c).sum::<f64>() / square;
        weights.iter_mut().zip(u.iter().zip(shares)).for_each(|(w, (u, share))| *w += slope * u * share.sqrt());
    }
    weights
}

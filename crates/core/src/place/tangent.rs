//! The affine map from the tangent space of a point's neighbors to their coordinates.

use super::{Known, Newcomer};
use crate::ground::cloud::{Cloud, center, differences};
use crate::points::Points;

pub(super) fn row(known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
    let dims = known.map.cols();
    let weights = known.points.map_or(Vec::new(), |(points, _)| tangent_weights(points, new.near, new.row, dims));
    known.mean_of(new.near, &weights, |_, sum| sum)
}

/// The weights on the members of a patch that continue any function on it to x: the affine function of the patch's
/// tangent coordinates that fits it best, read where x is seen in the tangent space.
///
/// ```text
/// w[j] = 1/m + Σ_q u[j,q] (Σ_l u[l,q] (x[l] − x̄)·(x − x̄)) / λ_q      u_q, λ_q the patch's principal pairs
/// ```
fn tangent_weights(points: &Points, members: &[u32], x: &[f64], dims: usize) -> Vec<f64> {
    let size = members.len();
    let mut rows = differences(points, members, x);
    let p = rows.len() / size;
    // From x̄ to x, as the rows are seen from x.
    let step: Vec<f64> = (0..p).map(|f| -(0..size).map(|j| rows[j * p + f]).sum::<f64>() / size as f64).collect();
    center(&mut rows, size);
    let along: Vec<f64> = rows.chunks_exact(p).map(|row| row.iter().zip(&step).map(|(a, b)| a * b).sum()).collect();
    let mut weights = vec![1.0 / size as f64; size];
    for (square, u) in Cloud::Rows(rows).principal(size, dims) {
        let slope = u.iter().zip(&along).map(|(u, c)| u * c).sum::<f64>() / square;
        weights.iter_mut().zip(&u).for_each(|(w, u)| *w += slope * u);
    }
    weights
}

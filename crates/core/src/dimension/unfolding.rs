//! The spectrum of maximum variance unfolding: the number of directions that an unfolded sheet fills.
//!
//! ```text
//! K* = the largest variance under the distances to neighbors, λ its eigenvalues
//! d = the number before the largest drop λᵢ/λᵢ₊₁
//! ```
//!
//! K. Q. Weinberger, L. K. Saul. Unsupervised learning of image manifolds by semidefinite programming. International
//! Journal of Computer Vision 70(1), 2006.

use crate::field::unfolding::mvu::Mvu;
use crate::likelihood::Likelihood;
use crate::recipe::Recipe;
use eigenfold_graph::Neighbors;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;
use serde::Serialize;

/// The most points that are unfolded.
pub(super) const MOST: usize = 300;
/// The neighbors of each point.
const NEIGHBORS: usize = 6;
/// Beside the first, an eigenvalue below this is what the solver's tolerance leaves.
const NOTHING: f64 = 1e-4;

/// So many eigenvalues are listed of a longer spectrum: those of the coordinates and eight more.
const LISTED: usize = 10;

/// The eigenvalues of the unfolded points.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Unfolded {
    /// λᵢ/λ₁ of the first coordinates.
    pub ratios: Vec<f64>,
    /// The dimension before the largest drop.
    pub dimension: usize,
}

/// Unfolds the points.
///
/// # Errors
///
/// As [`Recipe::fit`].
pub(super) fn unfolded(points: &Points, observer: &dyn Observer) -> Result<Unfolded> {
    let neighbors = Neighbors::Nearest(NEIGHBORS.min(points.rows() - 1));
    let (method, dims) = (Mvu::default().into(), 2.min(points.rows() - 1));
    let recipe = Recipe { method, neighbors, dims, likelihood: Likelihood::Never, ..Recipe::default() };
    let eigenvalues = recipe.fit(points, observer)?.spectrum().to_vec();
    let ratios: Vec<f64> = eigenvalues.iter().map(|value| value / eigenvalues[0]).collect();
    let dimension = before_the_drop(&ratios);
    Ok(Unfolded { ratios, dimension })
}

/// The number before the largest drop, where what is below the tolerance is all alike. A short list is the whole spectrum,
/// and drops to nothing at its end; of a long one the rest is not known.
fn before_the_drop(ratios: &[f64]) -> usize {
    let value = |at: usize| ratios.get(at).copied().unwrap_or(0.0).max(NOTHING);
    let ends = if ratios.len() < LISTED { ratios.len() } else { ratios.len() - 1 };
    let drops = (0..ends).map(|at| (at + 1, value(at) / value(at + 1)));
    drops.reduce(|a, b| if b.1 > a.1 { b } else { a }).map_or(1, |drop| drop.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drop_to_nothing_counts() {
        assert_eq!(before_the_drop(&[1.0, 0.05, 1e-7, 1e-12]), 2);
        assert_eq!(before_the_drop(&[1.0, 1e-9]), 1);
        assert_eq!(before_the_drop(&[1.0, 0.8, 0.7]), 3);
    }
}

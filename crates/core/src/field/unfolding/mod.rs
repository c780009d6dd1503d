//! Maximum variance unfolding: the largest variance of the points that the distances within neighborhoods allow.
//!
//! ```text
//! primal   maximize tr K                 K ⪰ 0, K1 = 0, b[e]ᵀ K b[e] ≤ D[e]        b[e] = e[i] − e[j]
//! dual     minimize Σ D[e] W[e]          W ≥ 0, λ(L(W)) ≥ 1                         L(W) = Σ W[e] b[e] b[e]ᵀ
//! ```
//!
//! λ is the smallest eigenvalue of the weighted Laplacian beyond that of the constant vector. Any W ≥ 0 bounds the variance
//! from above by Σ D W / λ(L(W)), any K that keeps its distances bounds the optimum from below; at the optimum the two meet, and
//! L(W) K = K. With equal signs in place of ≤ the weights may be negative.
//!
//! L. Xiao, J. Sun, S. Boyd. A duality view of spectral methods for dimensionality reduction. ICML 2006, (7), (8), (11).
//! K. Q. Weinberger, L. K. Saul. Unsupervised learning of image manifolds by semidefinite programming. CVPR 2004.

mod bound;
mod central_path;
mod certificate;
mod cost;
mod facial_reduction;
mod full;
mod interior;
pub(crate) mod mvu;
mod newton;
mod pairs;
mod path_bound;
mod rescale;
mod subspace;
mod weighted_laplacian;

pub use bound::mvu_upper_bound;
pub(crate) use central_path::{PathOptions, Unfolded, follow};
pub use certificate::{Bracket, Certificate, MvuVariant};
pub(crate) use certificate::{bracket, bracket_of_some};
pub(crate) use full::{Sense, cost, solve};
pub use pairs::Constraints;
pub(crate) use pairs::{Distance, Pairs};
pub(crate) use path_bound::tree_weights;
pub use rescale::Rescaling;
pub(crate) use rescale::{MOST, rescale};
pub(crate) use weighted_laplacian::Web;

#[cfg(test)]
mod tests;

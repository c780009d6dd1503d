//! Sparse symmetric matrices: factors, inverses on their pattern, and what is built on them.

pub(crate) mod centered_inverse;
pub(crate) mod cholesky;
pub(crate) mod chordal;
pub(crate) mod fronts;
pub(crate) mod matrix;
pub(crate) mod root;
pub(crate) mod rows;
pub(crate) mod selected;

pub use matrix::SparseSymmetric;
pub use root::Root;

//! Sparse symmetric matrices: factors, inverses on their pattern, and what is built on them.

pub mod centered_inverse;
pub mod cholesky;
pub mod chordal;
pub mod fronts;
pub mod locality;
pub mod matrix;
pub mod root;
pub mod rows;
pub mod selected;

pub use matrix::SparseSymmetric;
pub use root::Root;

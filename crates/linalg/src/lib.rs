//! The only place that calls the matrix library's algorithms.
//!
//! Everything here gives the same bytes for any number of threads: work is cut into chunks whose size depends on the
//! problem alone, and partial sums are added in the order of the chunks.
#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::private_intra_doc_links,
    reason = "formulas index as x[i]; internal crate"
)]

pub mod buffers;
pub mod cost;
pub mod dense;
pub mod eigen;
pub mod error;
pub mod exact;
pub mod memory;
pub mod optimize;
pub mod parallel;
pub mod power;
pub mod progress;
pub mod simd;
pub mod sort;
pub mod sparse;

pub use error::{Error, Result};
pub use simd::widest;
pub use sparse::{Root, SparseSymmetric};

use faer::{MatMut, MatRef};

/// How many pairs beyond the wanted ones a solver returns if it has them: enough to see how the spectrum goes on.
pub const FURTHER: usize = 8;

/// An eigenpair whose backward error is larger than this has not converged, whatever solver gave it.
pub const RESIDUAL: f64 = 1e-8;

/// A symmetric linear operator known by what it does to a block of vectors.
pub trait Operator: Sync {
    /// The number of rows, which is the number of columns.
    fn dim(&self) -> usize;

    /// `out = A x`, column by column; the result must not depend on the number of threads.
    fn apply(&self, x: MatRef<'_, f64>, out: MatMut<'_, f64>);

    /// The sum of all eigenvalues, where it is known.
    fn trace(&self) -> Option<f64> {
        None
    }
}

/// Eigenpairs as a solver found them, with their residuals.
#[derive(Clone, Debug)]
pub struct Eigenpairs {
    /// The eigenvalues, in the requested order; after the requested ones come some that are less exact.
    pub values: Vec<f64>,
    /// The eigenvectors, one a column, in the same order.
    pub vectors: faer::Mat<f64>,
    /// For every pair, the backward error ‖A v − λ M v‖ / (‖A‖ ‖v‖), computed from the answer alone.
    pub residuals: Vec<f64>,
    /// The rung of the ladder that gave the answer.
    pub solver: String,
    /// Applications of the solver's operator to a block of vectors.
    pub iterations: usize,
    /// Whether every wanted pair met the solver's tolerance.
    pub converged: bool,
    /// The predicted bytes of a sparse factor, if there is one; otherwise 0.
    pub factor: u64,
}

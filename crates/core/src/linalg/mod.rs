//! The only place that calls the matrix library's algorithms.

mod centered;
mod triangle;

pub use centered::Centered;

use faer::{MatMut, MatRef};

/// A symmetric linear operator known by what it does to a block of vectors.
pub trait Operator: Sync {
    /// The number of rows, which is the number of columns.
    fn dim(&self) -> usize;

    /// `out = A x`, column by column; the result must not depend on the number of threads.
    fn apply(&self, x: MatRef<'_, f64>, out: MatMut<'_, f64>);
}

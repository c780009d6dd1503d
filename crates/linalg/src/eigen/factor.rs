//! A tall factor F of a covariance F Fᵀ, known by blocks of its rows, so that it need not be in memory as a whole.

use crate::dense::{self, ROWS};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use std::ops::Range;

/// A factor with one row per point.
pub trait Factor: Send + Sync {
    /// The number of rows.
    fn nrows(&self) -> usize;

    /// The number of columns.
    fn ncols(&self) -> usize;

    /// Some of the rows.
    fn rows(&self, range: Range<usize>) -> Mat<f64>;

    /// The sum of the squares of all entries, column by column.
    fn square(&self) -> f64 {
        let mut sums = vec![0.0; self.ncols()];
        for chunk in 0..self.nrows().div_ceil(ROWS) {
            for (sum, column) in sums.iter_mut().zip(self.chunk(chunk).col_iter()) {
                column.iter().for_each(|x| *sum += x * x);
            }
        }
        sums.iter().sum()
    }

    /// The rows that make a unit of parallel work.
    fn chunk(&self, chunk: usize) -> Mat<f64> {
        self.rows(chunk * ROWS..((chunk + 1) * ROWS).min(self.nrows()))
    }
}

impl Factor for Mat<f64> {
    fn nrows(&self) -> usize {
        self.nrows()
    }

    fn ncols(&self) -> usize {
        self.ncols()
    }

    fn rows(&self, range: Range<usize>) -> Mat<f64> {
        self.as_ref().subrows(range.start, range.len()).to_owned()
    }
}

/// FᵀF.
pub(crate) fn gram(factor: &dyn Factor) -> Mat<f64> {
    let p = factor.ncols();
    dense::sum_of_chunks(factor.nrows(), (p, p), |chunk| {
        let rows = factor.chunk(chunk);
        let mut part = Mat::zeros(p, p);
        matmul(part.as_mut(), Accum::Replace, rows.transpose(), rows.as_ref(), 1.0, Par::Seq);
        part
    })
}

/// F S for a small S.
pub(crate) fn image(factor: &dyn Factor, s: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(factor.nrows(), s.ncols());
    dense::each_chunk(out.as_mut(), |chunk, out| {
        matmul(out, Accum::Add, factor.chunk(chunk).as_ref(), s, 1.0, Par::Seq);
    });
    out
}

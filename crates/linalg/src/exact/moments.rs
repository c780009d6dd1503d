//! The exact first and second moments of the columns of a table, in one pass over blocks of rows.
//!
//! ```text
//! S[j] = Σᵢ x[i,j],   Q[j,k] = Σᵢ x[i,j] x[i,k]
//! mean[j] = S[j] / n,   covariance[j,k] = (n Q[j,k] − S[j] S[k]) / n²
//! ```
//!
//! All sums are exact, and a mean or a covariance is rounded once, so that nothing cancels and the result does not depend
//! on the order of the rows. Most of the work is a matrix product of slices of the columns; what the slices leave is added
//! product by product. Which slices there are follows from the data and changes the time alone.

use super::dyadic::Dyadic;
use super::gram::{BLOCKS, Gram, ROWS};
use super::slices::Window;
use super::split::{Remainder, Split};
use super::sums::{ExactSums, SUM_BYTES, enough_memory, whole_rows};
use crate::error::{Error, Result};
use faer::Mat;
use std::ops::Range;

/// The exact sums of the columns of a table and of the products of its columns.
#[derive(Clone, Debug)]
pub struct ExactMoments {
    columns: usize,
    count: u64,
    /// S, then the lower triangle of Q row by row; without what is in `gram`.
    sums: ExactSums,
    split: Split,
    gram: Gram,
    /// The products that were added one by one since the windows were chosen.
    single: usize,
}

impl ExactMoments {
    /// Of no rows with this number of columns.
    ///
    /// # Errors
    ///
    /// If the number of columns is zero, or memory for their products is short.
    pub fn new(columns: usize) -> Result<ExactMoments> {
        if columns == 0 {
            let fact = "moments of 0 columns were requested";
            return Err(Error::out_of_range("columns", columns, 1..=usize::MAX, fact, "use at least one column"));
        }
        let length = columns.saturating_add(1).saturating_mul(columns) / 2;
        let length = length.saturating_add(columns);
        enough_memory(length, 2 * SUM_BYTES, &format!("the sum of every product of {columns} columns"))?;
        let (split, gram) = Split::new(&vec![Window::NONE; columns]);
        Ok(ExactMoments { columns, count: 0, sums: ExactSums::new(length)?, split, gram, single: 0 })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of sums.
    pub fn length(&self) -> usize {
        self.sums.len()
    }

    /// Adds rows of double or single precision, one after the other.
    ///
    /// # Errors
    ///
    /// If the values are not whole rows, or not all finite; then nothing is added.
    pub fn add<T: Copy + Into<f64>>(&mut self, rows: &[T]) -> Result<()> {
        whole_rows(rows, self.columns)?;
        let mut left = Vec::new();
        for block in rows.chunks(ROWS * self.columns) {
            if self.gram.blocks == BLOCKS {
                self.choose_windows(block);
            }
            self.split.apply(block, &mut self.gram.slices, &mut left);
            self.single += left.len() * self.columns;
            if self.single > 4 * self.length() {
                self.choose_windows(block);
                self.split.apply(block, &mut self.gram.slices, &mut left);
            }
            let rows = block.len() / self.columns;
            self.gram.multiply(rows);
            self.add_products(block, &mut left);
            self.count += rows as u64;
        }
        Ok(())
    }

    /// Chooses the windows of the columns by a block of rows.
    fn choose_windows<T: Copy + Into<f64>>(&mut self, block: &[T]) {
        self.settle();
        let column = |j: usize| block[j..].iter().step_by(self.columns).map(|&x| x.into());
        let windows: Vec<Window> = (0..self.columns).map(|j| Window::of(column(j))).collect();
        (self.split, self.gram) = Split::new(&windows);
        self.single = 0;
    }

    /// Adds the products that the slices y of a block leave: for x = y + r, x[j] x[k] − y[j] y[k] = x[j] r[k] + r[j] y[k].
    fn add_products<T: Copy + Into<f64>>(&mut self, block: &[T], left: &mut [Remainder]) {
        if left.is_empty() {
            return;
        }
        left.sort_unstable_by_key(|one| (one.column, one.row));
        let start = |column: usize| left.partition_point(|one| one.column < column);
        let starts: Vec<usize> = (0..=self.columns).map(start).collect();
        let of = |column: usize| &left[starts[column]..starts[column + 1]];
        let x = |row: usize, column: usize| -> f64 { block[row * self.columns + column].into() };
        let mut r = [0.0; ROWS];
        for k in 0..self.columns {
            of(k).iter().for_each(|one| r[one.row] = one.value);
            of(k).iter().for_each(|one| self.sums.at(k).add(one.value));
            for j in 0..=k {
                let sum = self.sums.at(product(self.columns, k, j));
                of(k).iter().for_each(|one| sum.add_product(x(one.row, j), one.value));
                of(j).iter().for_each(|one| sum.add_product(one.value, x(one.row, k) - r[one.row]));
            }
            of(k).iter().for_each(|one| r[one.row] = 0.0);
        }
    }

    /// Adds the sums of products of slices to the sums.
    fn settle(&mut self) {
        let (columns, sums) = (self.columns, &mut self.sums);
        self.gram.take(|a, b, value| {
            let (j, k) = (a.column.max(b.column), a.column.min(b.column));
            // Two slices of one column are met once, and count twice in the square.
            let twice = i32::from(j == k && a.power != b.power);
            if k < columns {
                let at = if j == columns { k } else { product(columns, j, k) };
                sums.at(at).add_scaled(value.into(), a.power + b.power + twice);
            }
        });
    }

    /// All sums: S, then the lower triangle of Q row by row.
    pub fn sums(&mut self) -> &ExactSums {
        self.settle();
        &self.sums
    }

    /// The bytes of some of the sums; the same values have the same bytes.
    ///
    /// # Errors
    ///
    /// If the range is not one of these sums.
    pub fn to_bytes(&mut self, range: Range<usize>) -> Result<Vec<u8>> {
        self.sums().to_bytes(range)
    }

    /// Adds sums of other rows from their bytes, the first of them to the sum with the index `first`, and `count` to the number of
    /// rows: that of the other rows for one of the slices of their sums, and zero for the others.
    ///
    /// # Errors
    ///
    /// If the bytes are not those of sums, or of more sums than there are; then nothing is added.
    pub fn merge_bytes(&mut self, first: usize, bytes: &[u8], count: u64) -> Result<()> {
        let total = self.count.checked_add(count);
        let total = total.ok_or_else(|| Error::data("there are more than 2^64 rows", "merge every part once"))?;
        self.sums.merge_bytes(first, bytes)?;
        self.count = total;
        Ok(())
    }

    /// The mean of every column, correctly rounded.
    ///
    /// # Errors
    ///
    /// If there are no rows.
    pub fn mean(&mut self) -> Result<Vec<f64>> {
        let n = self.some_rows()?;
        self.settle();
        Ok((0..self.columns).map(|j| self.sums.value(j).quotient(n, 1)).collect())
    }

    /// The covariance matrix with divisor n, correctly rounded.
    ///
    /// # Errors
    ///
    /// If there are no rows.
    pub fn covariance(&mut self) -> Result<Mat<f64>> {
        let n = self.some_rows()?;
        self.settle();
        let s: Vec<Dyadic> = (0..self.columns).map(|j| self.sums.value(j)).collect();
        let mut covariance = Mat::zeros(self.columns, self.columns);
        for (j, k) in (0..self.columns).flat_map(|j| (0..=j).map(move |k| (j, k))) {
            let q = self.sums.value(product(self.columns, j, k));
            let value = Dyadic::natural(n).times(&q).minus(&s[j].times(&s[k])).quotient(n, 2);
            covariance[(j, k)] = value;
            covariance[(k, j)] = value;
        }
        Ok(covariance)
    }

    fn some_rows(&self) -> Result<u64> {
        match self.count {
            0 => Err(Error::too_small(0, 1, "there are no rows", "add rows first")),
            n => Ok(n),
        }
    }
}

/// The index of Q[j,k], k ≤ j.
#[inline(always)]
fn product(columns: usize, j: usize, k: usize) -> usize {
    columns + j * (j + 1) / 2 + k
}

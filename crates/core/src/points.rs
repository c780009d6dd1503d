//! Points: n rows of d finite numbers, one point a row, checked once.

use crate::error::{Error, Result};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Numbers beyond this would overflow when squared and summed.
const LARGEST: f64 = 1e150;

/// n points of d numbers each, row-major, all finite.
///
/// Everything downstream relies on the checks made here and does not repeat them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Points {
    rows: usize,
    cols: usize,
    values: Vec<f64>,
}

impl TryFrom<MatRef<'_, f64>> for Points {
    type Error = Error;

    /// Points from a matrix with one row per point.
    fn try_from(matrix: MatRef<'_, f64>) -> Result<Points> {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        Points::new(rows, cols, (0..rows * cols).map(|at| matrix[(at / cols, at % cols)]).collect())
    }
}

impl TryFrom<&Mat<f64>> for Points {
    type Error = Error;

    /// Points from a matrix with one row per point.
    fn try_from(matrix: &Mat<f64>) -> Result<Points> {
        Points::try_from(matrix.as_ref())
    }
}

impl Points {
    /// Points from row-major values.
    ///
    /// # Errors
    ///
    /// If the length is not `rows * cols`, if there is no row or no column, or if a value is not finite or so large
    /// that its square would overflow; the message names the first such cell (row and column counted from 1).
    pub fn new(rows: usize, cols: usize, values: Vec<f64>) -> Result<Points> {
        if rows == 0 {
            return Err(Error::data("there are no points; give at least two rows"));
        }
        if cols == 0 {
            return Err(Error::data("the points have no columns; give at least one column of numbers"));
        }
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(Error::data(format!(
                "{} values do not fill {rows} rows of {cols} columns; every row needs the same number of values",
                values.len()
            )));
        }
        if let Some(at) = values.iter().position(|v| v.is_nan() || v.abs() > LARGEST) {
            return Err(bad_cell(values[at], at / cols + 1, at % cols + 1));
        }
        Ok(Points { rows, cols, values })
    }

    /// Points from rows of equal length; for examples and tests.
    ///
    /// # Errors
    ///
    /// As [`Points::new`].
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Points> {
        let cols = rows.first().map_or(0, |row| row.as_ref().len());
        let values: Vec<f64> = rows.iter().flat_map(|row| row.as_ref().iter().copied()).collect();
        if let Some(at) = rows.iter().position(|row| row.as_ref().len() != cols) {
            return Err(Error::data(format!(
                "row {} has {} values and the first has {cols}; every row needs the same number of values",
                at + 1,
                rows[at].as_ref().len()
            )));
        }
        Points::new(rows.len(), cols, values)
    }

    /// The number of points.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of features of each point.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Point `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.cols..(i + 1) * self.cols]
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, row after row, without a copy.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The n x d matrix, without a copy.
    pub fn as_mat(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.rows, self.cols)
    }

    /// The given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Points {
        let values = rows.iter().flat_map(|&i| self.row(i).iter().copied()).collect();
        Points { rows: rows.len(), cols: self.cols, values }
    }

    /// The given columns, in the given order.
    pub fn select_columns(&self, columns: &[usize]) -> Points {
        let values = (0..self.rows).flat_map(|i| columns.iter().map(move |&f| self.row(i)[f])).collect();
        Points { rows: self.rows, cols: columns.len(), values }
    }

    /// The first columns.
    pub(crate) fn first_columns(&self, count: usize) -> Points {
        self.select_columns(&(0..count).collect::<Vec<_>>())
    }

    /// Whether the sizes agree and every value is finite, as [`Points::new`] would have it.
    pub(crate) fn is_sound(&self) -> bool {
        self.rows > 0
            && self.cols > 0
            && self.rows.checked_mul(self.cols) == Some(self.values.len())
            && self.values.iter().all(|v| v.is_finite())
    }

    /// The mean of each column.
    pub fn column_means(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.cols];
        for row in self.values.chunks_exact(self.cols) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
        sums.iter().map(|sum| sum / self.rows as f64).collect()
    }
}

fn bad_cell(value: f64, row: usize, column: usize) -> Error {
    if value.is_nan() {
        Error::data(format!(
            "row {row}, column {column} is not a number (NaN); remove the row, fill the cell in, or leave the column out"
        ))
    } else {
        Error::data(format!(
            "row {row}, column {column} is {value:e}, too large to square; rescale the column or leave it out"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_cell_is_named() {
        let error = Points::new(2, 2, vec![0.0, 1.0, f64::NAN, 3.0]).unwrap_err();
        assert!(error.to_string().starts_with("row 2, column 1 is not a number"), "{error}");
        let error = Points::new(2, 2, vec![0.0, 1.0, 2.0, 1e300]).unwrap_err();
        assert!(error.to_string().starts_with("row 2, column 2 is 1e300"), "{error}");
        assert!(Points::new(0, 3, vec![]).is_err());
        assert!(Points::from_rows(&[vec![1.0], vec![1.0, 2.0]]).is_err());
    }

    #[test]
    fn rows_and_means_are_what_was_given() {
        let points = Points::from_rows(&[[1.0, 2.0], [3.0, 6.0]]).unwrap();
        assert_eq!(points.row(1), [3.0, 6.0]);
        assert_eq!(points.column_means(), [2.0, 4.0]);
        assert_eq!(points.as_mat()[(1, 0)], 3.0);
        assert_eq!(points.select(&[1, 1]).values(), [3.0, 6.0, 3.0, 6.0]);
    }
}

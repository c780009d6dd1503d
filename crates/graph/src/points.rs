//! Points: n rows of d finite numbers, one point a row, checked once.

use crate::values::Values;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// The largest number of a result: its square can be summed.
const LARGEST_RESULT: f64 = 1e150;

/// n points of d numbers each, row-major, all finite. They are kept in single precision if they came so, and computed with in
/// double precision. A clone shares the numbers.
///
/// Everything downstream relies on the checks made here and does not repeat them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Points {
    rows: usize,
    cols: usize,
    values: Values,
    /// The cells that were not observed, as positions in `values`, ascending; their values are imputed.
    missing: Vec<usize>,
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
    /// The largest number of an input: methods compute fourth powers and sum them. Every number of single precision is below.
    pub const LARGEST: f64 = 1e60;

    /// Points from row-major values.
    ///
    /// # Errors
    ///
    /// If the length is not `rows * cols`, if there is no row or no column, or if a value is not finite or so large
    /// that its powers would overflow; the message names the first such cell (row and column counted from 1).
    pub fn new(rows: usize, cols: usize, values: Vec<f64>) -> Result<Points> {
        Points::of(rows, cols, values.into())
    }

    /// Points from row-major values in single precision, which are kept so.
    ///
    /// # Errors
    ///
    /// As [`Points::new`].
    pub fn single(rows: usize, cols: usize, values: Vec<f32>) -> Result<Points> {
        Points::of(rows, cols, values.into())
    }

    fn of(rows: usize, cols: usize, values: Values) -> Result<Points> {
        let points = Points::of_shape(rows, cols, values)?;
        match points.values.position(|x| x.is_nan() || x.abs() > Points::LARGEST) {
            Some(at) => Err(bad_cell(points.values.at(at), at / cols + 1, at % cols + 1)),
            None => Ok(points),
        }
    }

    /// Points from as many values as rows and columns require.
    fn of_shape(rows: usize, cols: usize, values: Values) -> Result<Points> {
        if rows == 0 {
            return Err(Error::too_small(0, 2, "there are no points", "give at least two rows"));
        }
        if cols == 0 {
            return Err(Error::data("the points have no columns", "give at least one column of numbers"));
        }
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(Error::mismatch(
                "values",
                (values.len(), rows.saturating_mul(cols)),
                format!("{} values do not fill {rows} rows of {cols} columns", values.len()),
                "every row needs the same number of values",
            ));
        }
        Ok(Points { rows, cols, values, missing: Vec::new() })
    }

    /// Points of which some cells were not observed: those that are NaN. The mean of what was observed of its column
    /// stands in such a cell until it is completed.
    ///
    /// # Errors
    ///
    /// As [`Points::new`], NaN apart, and if nothing at all was observed of a column.
    pub fn with_missing(rows: usize, cols: usize, mut values: Vec<f64>) -> Result<Points> {
        let missing: Vec<usize> = (0..values.len()).filter(|&at| values[at].is_nan()).collect();
        if missing.is_empty() || rows.checked_mul(cols) != Some(values.len()) {
            return Points::new(rows, cols, values);
        }
        let (mut means, mut counts) = (vec![0.0; cols], vec![0.0f64; cols]);
        for (at, value) in values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            counts[at % cols] += 1.0;
            means[at % cols] += (value - means[at % cols]) / counts[at % cols];
        }
        if let Some(column) = counts.iter().position(|&count| count == 0.0) {
            let column = column + 1;
            return Err(Error::data(format!("column {column} has no observed cell"), "leave the column out")
                .at_column(column - 1));
        }
        missing.iter().for_each(|&at| values[at] = means[at % cols]);
        Ok(Points { missing, ..Points::new(rows, cols, values)? })
    }

    /// New rows for a model, of which some cells were not observed: those that are NaN. Zero stands in such a cell until the model
    /// completes it, so that a row does not depend on the rows beside it, and a column may have no observed cell.
    ///
    /// # Errors
    ///
    /// As [`Points::new`], NaN apart.
    pub fn new_rows(rows: usize, cols: usize, mut values: Vec<f64>) -> Result<Points> {
        let missing: Vec<usize> = (0..values.len()).filter(|&at| values[at].is_nan()).collect();
        missing.iter().for_each(|&at| values[at] = 0.0);
        Ok(Points { missing, ..Points::new(rows, cols, values)? })
    }

    /// Points that were computed: as [`Points::new`], but what is wrong is a result, and no cell of the input is named for it.
    pub fn computed(rows: usize, cols: usize, values: Vec<f64>) -> Result<Points> {
        let Some(at) = values.iter().position(|v| v.is_nan() || v.abs() > LARGEST_RESULT) else {
            return Points::of_shape(rows, cols, values.into());
        };
        let (value, row, column) = (values[at], at / cols.max(1) + 1, at % cols.max(1) + 1);
        let what = if value.is_nan() { "no number".into() } else { format!("{value:e}") };
        let fact = format!("number {column} of the result for row {row} is {what}, beyond what can be computed with");
        Err(Error::data(fact, "bring the data to a smaller scale, or leave out rows that are far from all others")
            .at_row(row - 1)
            .at_column(column - 1))
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
            return Err(Error::data(
                format!("row {} has {} values and the first has {cols}", at + 1, rows[at].as_ref().len()),
                "every row needs the same number of values",
            )
            .at_row(at));
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

    /// Point `i`. Points in single precision are all widened for it, as for [`Points::values`]; work over many of them uses
    /// [`Points::read`].
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values.wide()[i * self.cols..(i + 1) * self.cols]
    }

    /// Point `i`, widened into `buffer` if it is in single precision.
    #[inline]
    pub fn read<'a>(&'a self, i: usize, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        self.read_columns(i, 0..self.cols, buffer)
    }

    /// Some features of point `i`, widened into `buffer` if they are in single precision.
    #[inline]
    pub fn read_columns<'a>(&'a self, i: usize, columns: Range<usize>, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        let cells = i * self.cols + columns.start..i * self.cols + columns.end;
        let Some(all) = self.values.single() else { return &self.values()[cells] };
        buffer.clear();
        buffer.extend(all[cells].iter().map(|&x| f64::from(x)));
        buffer
    }

    /// Point `i`; a copy of it if the points are in single precision.
    pub fn point(&self, i: usize) -> Cow<'_, [f64]> {
        match self.single_row(i) {
            Some(row) => row.iter().map(|&x| f64::from(x)).collect(),
            None => self.row(i).into(),
        }
    }

    /// Point `i` in single precision, if that is how the points are kept.
    #[inline]
    pub(crate) fn single_row(&self, i: usize) -> Option<&[f32]> {
        self.values.single().map(|all| &all[i * self.cols..(i + 1) * self.cols])
    }

    /// Hands every point to `work`, in order.
    pub fn each_row(&self, mut work: impl FnMut(usize, &[f64])) {
        let mut buffer = Vec::new();
        (0..self.rows).for_each(|i| work(i, self.read(i, &mut buffer)));
    }

    /// The number of one cell.
    #[inline]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values.at(row * self.cols + column)
    }

    /// All numbers in single precision, row after row, if that is how they are kept.
    pub fn singles(&self) -> Option<&[f32]> {
        self.values.single()
    }

    /// Whether points in single precision have been widened together.
    pub fn is_widened(&self) -> bool {
        self.values.is_widened()
    }

    /// The cells that were not observed, as places in [`Points::values`], ascending.
    pub fn missing(&self) -> &[usize] {
        &self.missing
    }

    /// The columns that were not observed of point `i`, ascending.
    pub fn missing_of(&self, i: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let range = |at: usize| self.missing.partition_point(|&cell| cell < at * self.cols);
        self.missing[range(i)..range(i + 1)].iter().map(move |cell| cell - i * self.cols)
    }

    /// Whether a cell was not observed.
    pub fn is_missing(&self, row: usize, column: usize) -> bool {
        !self.missing.is_empty() && self.missing.binary_search(&(row * self.cols + column)).is_ok()
    }

    /// The rows of which every cell was observed.
    pub fn complete_rows(&self) -> Vec<usize> {
        (0..self.rows).filter(|&i| self.missing_of(i).next().is_none()).collect()
    }

    /// A larger table in which these points are the given rows, in ascending order, and all other rows are missing.
    ///
    /// # Errors
    ///
    /// If there is not one row for every point.
    pub fn spread(&self, places: &[usize], rows: usize) -> Result<Points> {
        let ascending = places.is_sorted_by(|a, b| a < b) && places.last().is_none_or(|&last| last < rows);
        if places.len() != self.rows || !ascending {
            let (count, points) = (places.len(), self.rows);
            let fact = format!("{count} places in {rows} rows do not fit {points} points");
            return Err(Error::mismatch("places", (count, points), fact, "give one per point, ascending"));
        }
        let (mut values, mut missing) = (vec![0.0; rows * self.cols], Vec::new());
        let mut points = places.iter().enumerate().peekable();
        for row in 0..rows {
            let cells = row * self.cols..(row + 1) * self.cols;
            match points.next_if(|(_, place)| **place == row) {
                Some((i, _)) => {
                    missing.extend(self.missing_of(i).map(|column| cells.start + column));
                    values[cells].copy_from_slice(self.row(i));
                }
                None => missing.extend(cells),
            }
        }
        Ok(Points { rows, cols: self.cols, values: values.into(), missing })
    }

    /// The same points with every imputed value taken as observed.
    #[must_use]
    pub fn guessed(&self) -> Points {
        Points { missing: Vec::new(), ..self.clone() }
    }

    /// The same points with other guesses for what was not observed, in the order of [`Points::missing`].
    ///
    /// # Errors
    ///
    /// As [`Points::new`], and if there are not as many.
    pub fn with_guesses(&self, guesses: &[f64]) -> Result<Points> {
        let (count, cells) = (guesses.len(), self.missing.len());
        if count != cells {
            return Err(Error::mismatch(
                "values",
                (count, cells),
                format!("{count} values do not fill {cells} missing cells"),
                "give one for each",
            ));
        }
        let mut values = self.to_values();
        self.missing.iter().zip(guesses).for_each(|(&at, &guess)| values[at] = guess);
        Ok(Points { missing: self.missing.clone(), ..Points::new(self.rows, self.cols, values)? })
    }

    /// All values, row after row. Those in single precision are widened when they are first asked for, and that is kept.
    #[inline]
    pub fn values(&self) -> &[f64] {
        self.values.wide()
    }

    /// A copy of all values, row after row.
    pub fn to_values(&self) -> Vec<f64> {
        self.values.to_wide()
    }

    /// How many bytes the values take.
    pub fn bytes(&self) -> u64 {
        let size = if self.values.single().is_some() { size_of::<f32>() } else { size_of::<f64>() };
        (size * self.values.len()) as u64
    }

    /// The largest magnitude of the values.
    pub fn magnitude(&self) -> f64 {
        match self.values.single() {
            Some(all) => parallel::largest(all.len(), |at| f64::from(all[at].abs())),
            None => parallel::largest(self.values.len(), |at| self.values()[at].abs()),
        }
    }

    /// Whether all values are finite.
    pub fn is_finite(&self) -> bool {
        self.values.position(|x| !x.is_finite()).is_none()
    }

    /// All values, row after row, without a copy unless they are shared or in single precision.
    pub fn into_values(self) -> Vec<f64> {
        self.values.into_wide()
    }

    /// The n x d matrix, without a copy but that of [`Points::values`].
    pub fn as_mat(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(self.values(), self.rows, self.cols)
    }

    /// The given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Points {
        let cells = |&i: &usize| i * self.cols..(i + 1) * self.cols;
        let values = match self.values.single() {
            Some(all) => rows.iter().flat_map(|i| all[cells(i)].iter().copied()).collect::<Vec<f32>>().into(),
            None => rows.iter().flat_map(|i| self.values()[cells(i)].iter().copied()).collect::<Vec<f64>>().into(),
        };
        let gone = |(at, &i): (usize, &usize)| self.missing_of(i).map(move |column| at * self.cols + column);
        let missing = if self.missing.is_empty() { vec![] } else { rows.iter().enumerate().flat_map(gone).collect() };
        Points { rows: rows.len(), cols: self.cols, values, missing }
    }

    /// The given columns, in the given order.
    pub fn select_columns(&self, columns: &[usize]) -> Points {
        let cells = (0..self.rows).flat_map(|i| columns.iter().map(move |&f| i * self.cols + f));
        let values = match self.values.single() {
            Some(all) => cells.map(|at| all[at]).collect::<Vec<f32>>().into(),
            None => cells.map(|at| self.values()[at]).collect::<Vec<f64>>().into(),
        };
        let mut missing = Vec::new();
        for i in (0..self.rows).filter(|_| !self.missing.is_empty()) {
            let gone: Vec<usize> = self.missing_of(i).collect();
            let kept = columns.iter().enumerate().filter(|(_, column)| gone.binary_search(column).is_ok());
            missing.extend(kept.map(|(at, _)| i * columns.len() + at));
        }
        Points { rows: self.rows, cols: columns.len(), values, missing }
    }

    /// The first columns.
    pub fn first_columns(&self, count: usize) -> Points {
        self.select_columns(&(0..count).collect::<Vec<_>>())
    }

    /// Other values in the same cells; what is not observed stays so. Values may be what [`Points::new`] does not allow.
    pub fn with_values(&self, values: Vec<f64>) -> Points {
        debug_assert!(values.len() == self.values.len());
        Points { values: values.into(), missing: self.missing.clone(), ..*self }
    }

    /// The same, if every value is one that [`Points::new`] allows.
    pub fn checked(self) -> Result<Points> {
        let missing = self.missing;
        Ok(Points { missing, ..Points::of(self.rows, self.cols, self.values)? })
    }

    /// Whether the sizes agree and every value is finite and not too large, as [`Points::new`] would have it.
    pub fn is_sound(&self) -> bool {
        self.is_sound_within(Points::LARGEST)
    }

    /// The same of a result, as [`Points::computed`] would have it.
    pub fn is_sound_result(&self) -> bool {
        self.is_sound_within(LARGEST_RESULT)
    }

    fn is_sound_within(&self, largest: f64) -> bool {
        self.rows > 0
            && self.cols > 0
            && self.rows.checked_mul(self.cols) == Some(self.values.len())
            && self.values.position(|x| x.is_nan() || x.abs() > largest).is_none()
            && self.missing.is_sorted_by(|a, b| a < b)
            && self.missing.last().is_none_or(|&last| last < self.values.len())
    }

    /// The mean of each column.
    pub fn column_means(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.cols];
        self.each_row(|_, row| sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value));
        sums.iter().map(|sum| sum / self.rows as f64).collect()
    }
}

fn bad_cell(value: f64, row: usize, column: usize) -> Error {
    if value.is_nan() {
        Error::data(
            format!("row {row}, column {column} is not a number (NaN)"),
            "remove the row, fill the cell in, or leave the column out",
        )
        .at_row(row - 1)
        .at_column(column - 1)
    } else {
        let fact = format!("row {row}, column {column} is {value:e}, beyond {:e}", Points::LARGEST);
        Error::data(fact, "rescale the column or leave it out").at_row(row - 1).at_column(column - 1)
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
        let error = Points::computed(2, 2, vec![0.0, 1.0, 1e152, 3.0]).unwrap_err().to_string();
        assert!(error.starts_with("number 1 of the result for row 2 is 1e152, beyond"), "{error}");
        assert!(Points::computed(1, 1, vec![f64::NAN]).is_err() && Points::computed(1, 1, vec![1.0]).is_ok());
        assert!(Points::from_rows(&[vec![1.0], vec![1.0, 2.0]]).is_err());
    }

    #[test]
    fn missing_cells_are_known_through_every_selection() {
        let nan = f64::NAN;
        let points = Points::with_missing(3, 2, vec![1.0, nan, nan, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(points.values(), [1.0, 5.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(points.missing(), [1, 2]);
        let turned = points.select(&[2, 1, 0]);
        assert_eq!(
            (turned.missing(), turned.values()),
            ([3 - 1, 5].as_slice(), [5.0, 6.0, 3.0, 4.0, 1.0, 5.0].as_slice())
        );
        assert_eq!(points.select_columns(&[1]).missing(), [0]);
        assert_eq!(points.with_guesses(&[7.0, 8.0]).unwrap().values(), [1.0, 7.0, 8.0, 4.0, 5.0, 6.0]);
        assert!(points.with_guesses(&[nan, 8.0]).is_err() && points.with_guesses(&[1.0]).is_err());
        let error = Points::with_missing(2, 2, vec![1.0, nan, 2.0, nan]).unwrap_err().to_string();
        assert!(error.starts_with("column 2 has no observed cell"), "{error}");
        assert_eq!(Points::with_missing(1, 2, vec![1.0, 2.0]).unwrap(), Points::new(1, 2, vec![1.0, 2.0]).unwrap());
        let new = Points::new_rows(2, 2, vec![1.0, nan, 2.0, nan]).unwrap();
        assert_eq!((new.missing(), new.row(1)), (&[1, 3][..], &[2.0, 0.0][..]));
    }

    #[test]
    fn rows_are_dropped_and_spread_again() {
        let nan = f64::NAN;
        let points = Points::with_missing(4, 2, vec![1.0, 2.0, nan, 3.0, 4.0, 5.0, 6.0, nan]).unwrap();
        let rows = points.complete_rows();
        assert_eq!(rows, [0, 2]);
        let spread = points.select(&rows).spread(&rows, 4).unwrap();
        assert_eq!((spread.rows(), spread.missing()), (4, [2, 3, 6, 7].as_slice()));
        assert_eq!((spread.row(0), spread.row(2)), ([1.0, 2.0].as_slice(), [4.0, 5.0].as_slice()));
        assert!(spread.is_missing(1, 0) && !spread.is_missing(2, 1));
        assert!(points.spread(&[0, 1, 2], 9).is_err() && points.spread(&[0, 1, 3, 2], 9).is_err());
        assert_eq!(points.guessed().missing(), []);
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

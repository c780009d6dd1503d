//! Exact sums, and exact moments of columns, whose bytes do not depend on the order of the additions.

use crate::errors::raised;
use eigenfold::{Error, Result};
use eigenfold_linalg::exact;
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The rows of a matrix, one after the other, in the precision that they have.
enum Rows<'a> {
    Double(&'a [f64]),
    Single(&'a [f32]),
}

/// Calls `work` with the rows of a matrix of float64 or float32, which has so many columns; without the interpreter's lock.
/// Copies only what is not in C order.
fn with_rows(
    matrix: &Bound<'_, PyAny>,
    columns: usize,
    work: impl FnOnce(Rows<'_>) -> Result<()> + Send,
) -> PyResult<()> {
    let py = matrix.py();
    let in_order = |shape: &[usize]| match shape[1] == columns {
        true => Ok(()),
        false => {
            let fact = format!("the matrix has {} columns and {columns} are expected", shape[1]);
            Err(raised(Error::mismatch("columns", (shape[1], columns), fact, "give the same columns in every call")))
        }
    };
    if let Ok(array) = matrix.extract::<PyReadonlyArray2<'_, f64>>() {
        in_order(array.as_array().shape())?;
        return contiguous(py, &array, |values| work(Rows::Double(values)));
    }
    let Ok(array) = matrix.extract::<PyReadonlyArray2<'_, f32>>() else {
        return Err(PyTypeError::new_err("a matrix of float64 or float32 is wanted"));
    };
    in_order(array.as_array().shape())?;
    contiguous(py, &array, |values| work(Rows::Single(values)))
}

/// Calls `work` with the values of a matrix in C order, without the interpreter's lock.
fn contiguous<T: Element + Copy + Sync>(
    py: Python<'_>,
    array: &PyReadonlyArray2<'_, T>,
    work: impl FnOnce(&[T]) -> Result<()> + Send,
) -> PyResult<()> {
    let view = array.as_array();
    match view.as_slice() {
        Some(values) => py.detach(|| work(values)),
        None => {
            let values: Vec<T> = view.iter().copied().collect();
            py.detach(|| work(&values))
        }
    }
    .map_err(raised)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sums of float64 values, each exact for every order of the additions.
///
/// ``ExactSums(length)`` has ``length`` sums. A sum is an integer in fixed point, so that sums of parts can be merged in any
/// order: the same values always have the same bytes.
#[pyclass(frozen, module = "eigenfold._eigenfold")]
pub(crate) struct ExactSums(Mutex<exact::ExactSums>);

#[pymethods]
impl ExactSums {
    #[new]
    fn new(length: usize) -> PyResult<ExactSums> {
        Ok(ExactSums(Mutex::new(exact::ExactSums::new(length).map_err(raised)?)))
    }

    /// The number of sums.
    #[getter]
    fn length(&self) -> usize {
        locked(&self.0).len()
    }

    /// Adds every row of a matrix of ``length`` columns, float64 or float32.
    fn add(&self, matrix: &Bound<'_, PyAny>) -> PyResult<()> {
        with_rows(matrix, self.length(), |rows| match rows {
            Rows::Double(values) => locked(&self.0).add(values),
            Rows::Single(values) => locked(&self.0).add(&values.iter().map(|&x| x.into()).collect::<Vec<f64>>()),
        })
    }

    /// The sums, correctly rounded.
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        py.detach(|| locked(&self.0).values()).into_pyarray(py)
    }

    /// The bytes of the sums from ``first`` to before ``last``.
    fn to_bytes<'py>(&self, py: Python<'py>, first: usize, last: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| locked(&self.0).to_bytes(first..last)).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Adds the sums of ``bytes``, the first of them to the sum ``first``.
    fn merge(&self, py: Python<'_>, first: usize, bytes: &[u8]) -> PyResult<()> {
        py.detach(|| locked(&self.0).merge_bytes(first, bytes)).map_err(raised)
    }
}

/// The exact sums of the columns of a table and of the products of its columns, in one pass.
///
/// ``ExactMoments(columns)`` has the sums of the columns, then the lower triangle of the sums of products, row by row. Neither
/// the order of the rows nor their division into batches and parts changes a byte. ``mean()`` and ``covariance()`` (divisor n)
/// are the correctly rounded results.
#[pyclass(frozen, module = "eigenfold._eigenfold")]
pub(crate) struct ExactMoments {
    columns: usize,
    length: usize,
    moments: Mutex<exact::ExactMoments>,
}

#[pymethods]
impl ExactMoments {
    #[new]
    fn new(columns: usize) -> PyResult<ExactMoments> {
        let moments = exact::ExactMoments::new(columns).map_err(raised)?;
        Ok(ExactMoments { columns, length: moments.length(), moments: Mutex::new(moments) })
    }

    /// The number of columns.
    #[getter]
    fn columns(&self) -> usize {
        self.columns
    }

    /// The number of sums.
    #[getter]
    fn length(&self) -> usize {
        self.length
    }

    /// The number of rows.
    #[getter]
    fn count(&self, py: Python<'_>) -> u64 {
        py.detach(|| locked(&self.moments).count())
    }

    /// Adds the rows of a matrix, float64 or float32.
    fn add(&self, matrix: &Bound<'_, PyAny>) -> PyResult<()> {
        with_rows(matrix, self.columns, |rows| match rows {
            Rows::Double(values) => locked(&self.moments).add(values),
            Rows::Single(values) => locked(&self.moments).add(values),
        })
    }

    /// The bytes of the sums from ``first`` to before ``last``.
    fn to_bytes<'py>(&self, py: Python<'py>, first: usize, last: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| locked(&self.moments).to_bytes(first..last)).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Adds the sums of ``bytes``, the first of them to the sum ``first``, and ``count`` to the number of rows. If the sums of the
    /// same rows come in several slices, ``count`` is the number of rows for one slice and 0 for the others.
    fn merge(&self, py: Python<'_>, first: usize, bytes: &[u8], count: u64) -> PyResult<()> {
        py.detach(|| locked(&self.moments).merge_bytes(first, bytes, count)).map_err(raised)
    }

    /// The mean of every column.
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(py.detach(|| locked(&self.moments).mean()).map_err(raised)?.into_pyarray(py))
    }

    /// The covariance matrix with divisor n.
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let covariance = py.detach(|| locked(&self.moments).covariance()).map_err(raised)?;
        // Symmetric: the order of the entries does not matter.
        let values: Vec<f64> = covariance.col_iter().flat_map(|column| column.iter().copied()).collect();
        values.into_pyarray(py).reshape([self.columns, self.columns])
    }
}

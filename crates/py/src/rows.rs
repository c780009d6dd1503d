//! What is computed of rows one by one, so that it does not depend on the other rows of a batch.

use crate::arrays::{Numbers, matrix};
use crate::errors::raised;
use eigenfold::{Metric, Points, io};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;

/// The hash of every row and a seed, by which samples of rows are drawn.
#[pyfunction]
pub(crate) fn row_hashes<'py>(py: Python<'py>, rows: Numbers, seed: u64) -> Bound<'py, PyArray1<u64>> {
    let hashes = py.detach(|| {
        let mut hashes = Vec::with_capacity(rows.rows());
        rows.each_row(|row| hashes.push(io::row_hash(row, seed)));
        hashes
    });
    hashes.into_pyarray(py)
}

/// The distance from every one of some rows to every row of a batch, in double precision.
#[pyfunction]
pub(crate) fn distances<'py>(
    py: Python<'py>,
    some: Numbers,
    rows: Numbers,
    metric: &str,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let metric: Metric = metric.parse().map_err(raised)?;
    let (some, count) = (some.points().map_err(raised)?, rows.rows());
    let mut values = vec![0.0; some.rows() * count];
    py.detach(|| {
        let mut at = 0;
        rows.each_row(|row| {
            for i in 0..some.rows() {
                values[i * count + at] = metric.distance(&some.point(i), row);
            }
            at += 1;
        });
    });
    matrix(py, &Points::new(some.rows(), count, values).map_err(raised)?)
}

//! Fits to rows that Python does not hand over: by sums over them, about a sample of them.

use crate::arrays::Numbers;
use crate::errors::raised;
use crate::model::Model;
use crate::request;
use crate::watch::{run, run_asking};
use eigenfold::{Error, IncompleteMoments, Input, Missing, Moments, Recipe, Request, RowTerms};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// The number of rows, their mean and their covariance.
type GivenMoments<'py> = (u64, PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>);

/// Fits what a request says to rows of these moments, about a sample of them.
#[pyfunction]
pub(crate) fn fit_moments(
    py: Python<'_>,
    request: &str,
    moments: GivenMoments<'_>,
    sample: Numbers,
    names: Option<Vec<String>>,
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let recipe = recipe(&request::read(request).map_err(raised)?).map_err(raised)?;
    let (moments, sample) = (given(&moments), sample.points().map_err(raised)?);
    let model = run(py, threads, listener, move |observer| {
        recipe.fit_moments(&moments, Input { names: names.as_deref(), ..(&sample).into() }, observer)
    })?;
    Ok(Model::new(model))
}

/// The number of rows, the observed cells of every column, their mean, the covariance with the mean in the place of every
/// missing cell, and the number of rows without any observed cell.
type GivenIncomplete<'py> = (u64, Vec<u64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>, u64);

/// Fits what a request says to rows with missing cells, about a sample of them. Every evaluation calls `evaluate` with bytes,
/// which are for [`latent_terms`], and takes the sums of the terms of all rows.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_latent_by_passes(
    py: Python<'_>,
    request: &str,
    statistics: GivenIncomplete<'_>,
    evaluate: &Bound<'_, PyAny>,
    sample: Numbers,
    names: Option<Vec<String>>,
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let recipe = recipe(&request::read(request).map_err(raised)?).map_err(raised)?;
    let (count, counts, mean, covariance, empty_rows) = statistics;
    let moments = IncompleteMoments { moments: given(&(count, mean, covariance)), counts, empty_rows };
    let sample = sample.points_with(Missing::Model, names.as_deref()).map_err(raised)?;
    let model = run_asking(py, threads, (listener, Some(evaluate)), move |observer, ask| {
        let input = Input { names: names.as_deref(), ..(&sample).into() };
        recipe.fit_by_passes(&moments, input, &mut |terms| ask(terms.to_bytes()?), observer)
    })?;
    Ok(Model::new(model))
}

/// The terms of every row under the latent model of these bytes, one row of terms each; cells that were not observed are NaN.
#[pyfunction]
pub(crate) fn latent_terms<'py>(
    py: Python<'py>,
    model: &[u8],
    rows: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let terms = RowTerms::from_bytes(model).map_err(raised)?;
    let view = rows.as_array();
    let (count, cols) = (view.nrows(), view.ncols());
    if cols != terms.cols() {
        let fact = format!("the rows have {cols} columns and the model has {} features", terms.cols());
        let error = Error::mismatch("columns", (cols, terms.cols()), fact, "give the same columns in the same order");
        return Err(raised(error));
    }
    let values: Vec<f64> = view.iter().copied().collect();
    let found = py.detach(|| terms.of(&values)).map_err(raised)?;
    found.into_pyarray(py).reshape([count, terms.count()])
}

/// Rows with the logarithms that a request asks for; cells that were not observed are NaN and stay so.
#[pyfunction]
pub(crate) fn logarithms<'py>(
    py: Python<'py>,
    request: &str,
    rows: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let preparation = request::read(request).and_then(|request| request.preparation()).map_err(raised)?;
    let view = rows.as_array();
    let (count, cols) = (view.nrows(), view.ncols());
    let values: Vec<f64> = view.iter().copied().collect();
    let found = py.detach(|| preparation.logarithms(&values, cols)).map_err(raised)?;
    found.into_pyarray(py).reshape([count, cols])
}

/// The recipe of a request that leaves nothing to be chosen from the rows.
fn recipe(request: &Request) -> eigenfold::Result<Recipe> {
    if request.chooses_dims() {
        let fact = "`dims` auto looks at all rows, and only a sample of them is here";
        return Err(Error::inapplicable("dims", fact, "give `dims` a number"));
    }
    request.recipe()
}

/// The moments as the library takes them.
fn given((count, mean, covariance): &GivenMoments<'_>) -> Moments {
    let (mean, covariance) = (mean.as_array(), covariance.as_array());
    Moments { count: *count, mean: mean.iter().copied().collect(), covariance: covariance.iter().copied().collect() }
}

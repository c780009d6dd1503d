//! The library's errors as Python's: what the caller can fix is a `ValueError`, what the system refused an `OSError`, and
//! the rest one class of its own.

use crate::names;
use eigenfold::Error;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    eigenfold,
    EigenfoldError,
    PyRuntimeError,
    "The work could not be done, and neither the data nor a parameter is at fault."
);

/// The error that Python raises, its parameters by their Python names. A `ValueError` has the attributes `parameter`, `row` and
/// `column`, which are None where the error is not about one.
pub(crate) fn raised(error: Error) -> PyErr {
    let message = error.message_with(names::python);
    let (parameter, at) = (error.parameter_name().map(names::python), error.at());
    match error {
        Error::Io { path, source } => {
            let code = source.raw_os_error();
            let text = source.to_string();
            match code {
                Some(code) => pyo3::exceptions::PyOSError::new_err((code, text, path)),
                None => pyo3::exceptions::PyOSError::new_err(message),
            }
        }
        Error::Stopped => EigenfoldError::new_err("stopped before there was a map; let it run longer"),
        error if error.is_input() => {
            let raised = PyValueError::new_err(message);
            // An exception that takes no attributes still has its message.
            let _ = Python::attach(|py| {
                let value = raised.value(py);
                value.setattr("parameter", parameter)?;
                value.setattr("row", at.row)?;
                value.setattr("column", at.column)
            });
            raised
        }
        _ => EigenfoldError::new_err(message),
    }
}

/// A message of the library with Python's names. What the library calls a kind of input is a metric or a kernel there.
pub(crate) fn message(text: &str) -> String {
    eigenfold::rename_parameters(text, names::python)
        .replace("use input_kind distances", "use metric='precomputed'")
        .replace("use input_kind similarities", "use KernelPCA(kernel='precomputed')")
}

/// What a panic had to say.
pub(crate) fn panicked(cause: &(dyn std::any::Any + Send)) -> PyErr {
    let text = cause.downcast_ref::<String>().cloned();
    let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_string())).unwrap_or_default();
    EigenfoldError::new_err(format!("a defect of eigenfold: {text}; please report it"))
}

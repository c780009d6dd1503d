//! The program's pictures, for Python without matplotlib.

use crate::arrays::Numbers;
use crate::errors::raised;
use crate::watch::run;
use eigenfold_plot::{Coloring, Format, Picture, Theme};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// The bytes of a picture of a map: of the kind that the name of a file asks for, colored by classes (their names, and that of every
/// point) or by values.
#[pyfunction]
pub(crate) fn picture<'py>(
    py: Python<'py>,
    map: Numbers,
    classes: Option<(Vec<String>, Vec<Option<u32>>)>,
    values: Option<Vec<f64>>,
    title: String,
    file: PathBuf,
) -> PyResult<Bound<'py, PyBytes>> {
    let map = map.points().map_err(raised)?;
    let format = Format::of(&file).map_err(raised)?;
    let coloring = match (classes, values) {
        (Some((names, of)), _) => Coloring::Classes { title: "label".into(), names, of },
        (None, Some(values)) => Coloring::Values { title: "label".into(), values },
        (None, None) => Coloring::One,
    };
    let bytes = run(py, None, None, move |_| {
        let subtitle = format!("{} points", eigenfold_plot::grouped(map.rows()));
        let picture = Picture {
            points: &map,
            behind: 0,
            coloring: &coloring,
            ringed: None,
            names: None,
            images: None,
            shade: None,
            eigenvalues: &[],
            title: &title,
            subtitle: &subtitle,
            size: None,
            theme: Theme::Light,
        };
        picture.rendered(format)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

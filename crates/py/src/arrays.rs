//! Arrays of numpy as what the library takes, and back.

use crate::errors::raised;
use eigenfold::{Error, Graph, Missing, Observer, Owned, Points, Request};
use numpy::{Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The numbers of a matrix in any memory order, copied once: row after row, in the precision that they have.
pub(crate) struct Numbers {
    rows: usize,
    cols: usize,
    values: Values,
}

enum Values {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

impl FromPyObject<'_, '_> for Numbers {
    type Error = PyErr;

    fn extract(array: Borrowed<'_, '_, PyAny>) -> PyResult<Numbers> {
        if let Ok(array) = array.extract::<PyReadonlyArray2<'_, f64>>() {
            return Ok(Numbers::of(&array, Values::Double));
        }
        match array.extract::<PyReadonlyArray2<'_, f32>>() {
            Ok(array) => Ok(Numbers::of(&array, Values::Single)),
            Err(_) => Err(PyTypeError::new_err("a matrix of float64 or float32 is wanted")),
        }
    }
}

impl Numbers {
    fn of<T: Element + Copy>(array: &PyReadonlyArray2<'_, T>, values: impl FnOnce(Vec<T>) -> Values) -> Numbers {
        let view = array.as_array();
        let copied = match view.as_slice() {
            Some(slice) => slice.to_vec(),
            None => view.iter().copied().collect(),
        };
        Numbers { rows: view.nrows(), cols: view.ncols(), values: values(copied) }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Calls a function with every row, in double precision.
    pub(crate) fn each_row(&self, mut work: impl FnMut(&[f64])) {
        let mut wide = Vec::with_capacity(self.cols);
        for i in 0..self.rows {
            let range = i * self.cols..(i + 1) * self.cols;
            match &self.values {
                Values::Double(values) => work(&values[range]),
                Values::Single(values) => {
                    wide.clear();
                    wide.extend(values[range].iter().map(|&x| f64::from(x)));
                    work(&wide);
                }
            }
        }
    }

    /// Points all of whose cells are known.
    pub(crate) fn points(self) -> eigenfold::Result<Points> {
        match self.values {
            Values::Double(values) => Points::new(self.rows, self.cols, values),
            Values::Single(values) => Points::single(self.rows, self.cols, values),
        }
    }

    /// Points some of whose cells may be missing, as requested; not yet completed. The columns may have names.
    pub(crate) fn points_with(self, missing: Missing, names: Option<&[String]>) -> eigenfold::Result<Points> {
        self.incomplete(missing, names, Points::with_missing)
    }

    /// New rows for a model, some of whose cells may be missing, as requested.
    pub(crate) fn new_rows(self, missing: Missing, names: Option<&[String]>) -> eigenfold::Result<Points> {
        self.incomplete(missing, names, Points::new_rows)
    }

    fn incomplete(
        self,
        missing: Missing,
        names: Option<&[String]>,
        make: impl FnOnce(usize, usize, Vec<f64>) -> eigenfold::Result<Points>,
    ) -> eigenfold::Result<Points> {
        let first = match &self.values {
            Values::Double(values) => values.iter().position(|value| value.is_nan()),
            Values::Single(values) => values.iter().position(|value| value.is_nan()),
        };
        let Some(first) = first else { return self.points() };
        let Numbers { rows, cols, values } = self;
        let values = match values {
            Values::Double(values) => values,
            Values::Single(values) => values.into_iter().map(f64::from).collect(),
        };
        match missing {
            Missing::Error => Err(missing_cells(&values, cols, first, names)),
            _ => make(rows, cols, values),
        }
    }
}

/// The error where a cell is missing and nothing is to take its place; `first` is the place of the first one.
fn missing_cells(values: &[f64], cols: usize, first: usize, names: Option<&[String]>) -> Error {
    let gone = |row: &[f64]| row.iter().filter(|value| value.is_nan()).count();
    let (cells, rows) = (gone(values), values.chunks(cols).filter(|row| gone(row) > 0).count());
    let (row, column) = (first / cols, first % cols);
    let title = names.and_then(|all| all.get(column)).map_or((column + 1).to_string(), |name| format!("{name:?}"));
    let plural = if rows == 1 { "row" } else { "rows" };
    let more = if cells == 1 { String::new() } else { format!(", the first of {cells} in {rows} {plural}") };
    let way_out = "use missing='model' or 'mean', remove the row, or leave the column out";
    let fact = format!("row {}, column {title} is not a number (NaN){more}", row + 1);
    Error::data(fact, way_out).at_row(row).at_column(column)
}

/// What is known of the points, as it was given.
pub(crate) enum RawInput {
    Points(Points),
    /// A table of distances, or of similarities.
    Square(Points, bool),
    Graph(Graph),
}

impl RawInput {
    /// From a matrix of the kind `points`, `distances` or `similarities`, or from the three arrays of a sparse `graph`; `missing`
    /// is nothing where it cannot be requested.
    pub(crate) fn new(
        kind: &str,
        data: &Bound<'_, PyAny>,
        missing: Option<Missing>,
        names: Option<&[String]>,
    ) -> PyResult<RawInput> {
        if kind == "graph" {
            return Ok(RawInput::Graph(graph(data)?));
        }
        let numbers = data.extract::<Numbers>()?;
        let points = match missing {
            Some(missing) => numbers.points_with(missing, names),
            None => numbers.points(),
        };
        let points = points.map_err(raised)?;
        Ok(match kind {
            "points" => RawInput::Points(points),
            kind => RawInput::Square(points, kind == "similarities"),
        })
    }

    /// Checked, with missing cells completed as requested.
    pub(crate) fn completed(self, request: &Request, observer: &dyn Observer) -> eigenfold::Result<Owned> {
        Ok(match self {
            RawInput::Points(points) => Owned::Points(request.complete(points, observer)?),
            RawInput::Square(table, true) => Owned::Distances(request.similarities(&table, observer)?),
            RawInput::Square(table, false) => Owned::Distances(request.distances(table, observer)?),
            RawInput::Graph(graph) => Owned::Graph(graph),
        })
    }
}

/// The points among data, for a parameter that is chosen by them.
///
/// # Errors
///
/// If the data are something else.
pub(crate) fn points<'a>(data: &'a Owned, what: &str) -> eigenfold::Result<&'a Points> {
    match data {
        Owned::Points(points) => Ok(points),
        _ => {
            let fact = format!("`{what}` auto needs points with features");
            Err(eigenfold::Error::input_kind(&["points"], fact, format!("give `{what}` a number")))
        }
    }
}

/// A graph from the three arrays of a matrix in compressed sparse rows; its entries are lengths.
pub(crate) fn graph(data: &Bound<'_, PyAny>) -> PyResult<Graph> {
    type Csr<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);
    let (starts, targets, lengths): Csr<'_> = data.extract()?;
    let (starts, targets, lengths) = (starts.as_array(), targets.as_array(), lengths.as_array());
    let list = |i: usize| {
        let (from, to) = (starts[i] as usize, starts[i + 1] as usize);
        // A point is not its own neighbor; the diagonal is ignored.
        let edges = (from..to).map(|at| (targets[at] as u32, lengths[at]));
        edges.filter(|&(j, _)| j as usize != i).collect()
    };
    Graph::from_lists((0..starts.len().saturating_sub(1)).map(list).collect()).map_err(raised)
}

/// Points as an array of one row each.
pub(crate) fn matrix<'py>(py: Python<'py>, points: &Points) -> PyResult<Bound<'py, PyArray2<f64>>> {
    points.to_values().into_pyarray(py).reshape([points.rows(), points.cols()])
}

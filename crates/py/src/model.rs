//! A fitted model as Python holds it.

use crate::arrays::{Numbers, matrix};
use crate::asked::missing;
use crate::errors::{raised, told};
use crate::watch::run;
use eigenfold::{Neighbors, Points};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Vector<'py, T> = Bound<'py, PyArray1<T>>;
/// Mean, loadings and noise.
type Latent<'py> = (Vector<'py, f64>, Matrix<'py>, Vector<'py, f64>);
/// Both ends of edges, lengths and weights.
type Edges<'py> = (Vector<'py, u32>, Vector<'py, u32>, Vector<'py, f64>, Vector<'py, f64>);
/// Rows, deviations, margins, far places and warnings.
type Back<'py> = (Matrix<'py>, Matrix<'py>, Matrix<'py>, Vec<usize>, Vec<String>);

/// A fitted model of the library.
#[pyclass(frozen, module = "eigenfold._eigenfold")]
pub(crate) struct Model {
    inner: Arc<eigenfold::Model>,
    /// What intervals of the way back are multiplied by, once rows have been held out to find it.
    stretch: Arc<OnceLock<[f64; 2]>>,
}

impl Model {
    pub(crate) fn new(model: eigenfold::Model) -> Model {
        Model { inner: Arc::new(model), stretch: Arc::default() }
    }
}

#[pymethods]
impl Model {
    /// The coordinates, one row per point.
    #[getter]
    fn embedding<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        matrix(py, self.inner.embedding())
    }

    /// The points it was fitted to, if they were points.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Option<Matrix<'py>>> {
        self.inner.points().map(|points| matrix(py, points)).transpose()
    }

    /// The names of the features, if they are known.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.inner.names().map(<[String]>::to_vec)
    }

    /// What the fit did and how well, as JSON.
    #[getter]
    fn report(&self) -> String {
        let report = self.inner.report();
        let mut all = json!(report);
        all["seconds"] = json!(report.seconds);
        all["warnings"] = report.warnings.iter().map(|warning| told(warning)).collect();
        all["log_likelihood"] = json!(self.inner.log_likelihood());
        all.to_string()
    }

    /// The recipe by the library's names, as JSON.
    #[getter]
    fn recipe(&self) -> String {
        let recipe = self.inner.recipe();
        let (graph, neighbors, radius) = match recipe.neighbors {
            Neighbors::Nearest(k) if recipe.learned.is_some() => ("learned", Some(k), None),
            Neighbors::Nearest(k) => ("nearest", Some(k), None),
            Neighbors::Mutual(k) => ("mutual", Some(k), None),
            Neighbors::Within(radius) => ("within", None, Some(radius)),
            Neighbors::All => ("all", None, None),
        };
        let parameters = recipe.method.parameters();
        let changed = parameters.iter().filter(|p| p.value != p.default);
        let changed: Vec<Value> = changed.map(|p| json!([p.name, p.value])).collect();
        json!({
            "method": recipe.method.info().name,
            "kind": self.inner.kind().name(),
            "parameters": changed,
            "dims": recipe.dims,
            "neighbors": neighbors,
            "radius": radius,
            "graph": graph,
            "metric": format!("{:?}", recipe.metric).to_lowercase(),
            "approximate": recipe.approximate,
            "pieces": format!("{:?}", recipe.pieces).to_lowercase(),
            "seed": recipe.seed,
            "memory": recipe.memory,
            "rescale": recipe.rescale,
        })
        .to_string()
    }

    /// Mean, loadings (one row per feature) and noise of a latent model.
    #[getter]
    fn latent<'py>(&self, py: Python<'py>) -> PyResult<Option<Latent<'py>>> {
        let Some(latent) = self.inner.latent() else { return Ok(None) };
        let features = latent.mean.len();
        let loadings =
            latent.loadings.clone().into_pyarray(py).reshape([features, latent.loadings.len() / features])?;
        Ok(Some((latent.mean.clone().into_pyarray(py), loadings, latent.noise.clone().into_pyarray(py))))
    }

    /// The fitted edges: both ends, length and weight.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Option<Edges<'py>> {
        let weights = self.inner.weights()?;
        Some((
            weights.iter().map(|w| w.i).collect::<Vec<_>>().into_pyarray(py),
            weights.iter().map(|w| w.j).collect::<Vec<_>>().into_pyarray(py),
            weights.iter().map(|w| w.distance).collect::<Vec<_>>().into_pyarray(py),
            weights.iter().map(|w| w.weight).collect::<Vec<_>>().into_pyarray(py),
        ))
    }

    /// Places new rows: coordinates, the rows that are far from all training points, and deviations if asked for.
    #[pyo3(signature = (rows, missing_cells, deviations, threads))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        rows: Numbers,
        missing_cells: &str,
        deviations: bool,
        threads: Option<usize>,
    ) -> PyResult<(Matrix<'py>, Vec<usize>, Option<Matrix<'py>>)> {
        let rows = rows.points_with(missing(missing_cells).map_err(raised)?).map_err(raised)?;
        let model = Arc::clone(&self.inner);
        let placed = run(py, threads, None, move |_| match deviations {
            true => model.place_with_deviations(&rows),
            false => model.place(&rows),
        })?;
        let sure = placed.deviations.as_ref().map(|all| matrix(py, all)).transpose()?;
        Ok((matrix(py, &placed.coordinates)?, placed.far, sure))
    }

    /// From places of the map back to data: rows, deviations, margins, the places far from all points, and warnings. Rows
    /// are held out to set the intervals if these are asked for and few rows make that cheap.
    fn reconstruct<'py>(
        &self,
        py: Python<'py>,
        places: Numbers,
        intervals: bool,
        threads: Option<usize>,
    ) -> PyResult<Back<'py>> {
        let places = places.points().map_err(raised)?;
        let (model, known) = (Arc::clone(&self.inner), Arc::clone(&self.stretch));
        let back = run(py, threads, None, move |observer| {
            let way = model.way_back()?;
            model.check_places(&places)?;
            let stretch = match (known.get(), model.points().filter(|_| way.holds_out_rows())) {
                (Some(stretch), _) if intervals => *stretch,
                (None, Some(points)) if intervals => {
                    let stretch = model.recipe().held_out_rows_watched(points, observer)?.stretch;
                    *known.get_or_init(|| stretch)
                }
                _ => [1.0; 2],
            };
            way.stretched(stretch).reconstruct(&places)
        })?;
        let warnings = back.warnings.iter().map(|warning| told(warning)).collect();
        Ok((matrix(py, &back.points)?, matrix(py, &back.deviations)?, matrix(py, &back.margins)?, back.far, warnings))
    }

    /// The log density of every row under a latent model.
    fn log_densities<'py>(
        &self,
        py: Python<'py>,
        rows: Numbers,
        missing_cells: &str,
        threads: Option<usize>,
    ) -> PyResult<Vector<'py, f64>> {
        let rows: Points = rows.points_with(missing(missing_cells).map_err(raised)?).map_err(raised)?;
        let model = Arc::clone(&self.inner);
        let posteriors = run(py, threads, None, move |_| model.posteriors(&rows))?;
        Ok(posteriors.iter().map(|posterior| posterior.log_density).collect::<Vec<_>>().into_pyarray(py))
    }

    /// Writes the file that the program reads.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.save(path)).map_err(raised)
    }

    /// Reads a file that the program or `save` wrote.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        py.detach(|| eigenfold::Model::load(path)).map(Model::new).map_err(raised)
    }

    /// The bytes of that file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.to_bytes()).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A model from the bytes of a file.
    #[new]
    fn from_bytes(bytes: &[u8]) -> PyResult<Model> {
        eigenfold::Model::from_bytes(bytes)
            .map(Model::new)
            .map_err(|fact| PyValueError::new_err(format!("this {fact}")))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Model>(), (self.to_bytes(py)?,)))
    }
}

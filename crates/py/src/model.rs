//! A fitted model as Python holds it.

use crate::arrays::{Numbers, matrix};
use crate::errors::{message, raised};
use crate::request::missing;
use crate::transformer::Transformer;
use crate::watch::run;
use eigenfold::{
    HeldOutExtension, InverseTransform, LearnedInverse, Log, Neighbors, Observer, ParameterInfo, Points, Posterior,
    Transformed, contract::Parameters,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Vector<'py, T> = Bound<'py, PyArray1<T>>;
/// Mean, loadings and noise.
type Latent<'py> = (Vector<'py, f64>, Matrix<'py>, Vector<'py, f64>);
/// Mean and axes.
type Axes<'py> = (Vector<'py, f64>, Matrix<'py>);
/// Both ends of edges, lengths and weights.
type Edges<'py> = (Vector<'py, u32>, Vector<'py, u32>, Vector<'py, f64>, Vector<'py, f64>);
/// Rows, deviations, margins, far places and warnings.
type Reconstructed<'py> = (Matrix<'py>, Matrix<'py>, Matrix<'py>, Vec<usize>, Vec<String>);

/// A fitted model of the library.
#[pyclass(frozen, module = "eigenfold._eigenfold")]
pub(crate) struct Model {
    inner: Arc<eigenfold::Model>,
    /// The inverse transform, once it has been fitted.
    inverse: Arc<KeptInverse>,
    /// The calibration factor of the intervals of the inverse transform, once rows have been held out.
    calibration_factor: Arc<OnceLock<[f64; 2]>>,
    /// The uncertainty of new rows, once the embedding has been fitted without some rows.
    extension: Arc<OnceLock<HeldOutExtension>>,
}

impl Model {
    pub(crate) fn new(model: eigenfold::Model) -> Model {
        Model {
            inner: Arc::new(model),
            inverse: Arc::default(),
            calibration_factor: Arc::default(),
            extension: Arc::default(),
        }
    }
}

/// The inverse transform of a model, fitted by the first call that needs it and kept as long as the model; files and pickles do not contain it.
#[derive(Default)]
struct KeptInverse {
    learned: OnceLock<LearnedInverse>,
    /// How many times it was learned.
    times: AtomicUsize,
}

impl KeptInverse {
    /// Calls that come at the same time each learn it, to the same last bit: were one to wait for the other here, it would hold a
    /// thread of the pool that the other needs.
    fn of<'a>(&self, model: &'a eigenfold::Model) -> eigenfold::Result<InverseTransform<'a>> {
        if let Some(learned) = self.learned.get() {
            return model.inverse_from(learned);
        }
        let learned = model.learn_inverse()?;
        self.times.fetch_add(1, Ordering::Relaxed);
        model.inverse_from(self.learned.get_or_init(|| learned))
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

    /// The same points as the stages saw them: their columns prepared.
    #[getter]
    fn seen<'py>(&self, py: Python<'py>) -> PyResult<Option<Matrix<'py>>> {
        let Some(points) = self.inner.points() else { return Ok(None) };
        match self.inner.prepared() {
            Some(prepared) => matrix(py, &prepared.apply(points, self.inner.names()).map_err(raised)?).map(Some),
            None => matrix(py, points).map(Some),
        }
    }

    /// What was taken off every column and what it was divided by, if columns were prepared.
    #[getter]
    fn prepared<'py>(&self, py: Python<'py>) -> Option<(Vector<'py, f64>, Vector<'py, f64>)> {
        let columns = self.inner.prepared()?.columns();
        let (centers, scales): (Vec<f64>, Vec<f64>) = columns.iter().map(|one| (one.center, one.scale)).unzip();
        Some((centers.into_pyarray(py), scales.into_pyarray(py)))
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
        // The parts of the report side by side, as in the JSON of the program.
        let own = ["figures", "warnings", "ended"];
        for part in ["coordinates", "graph"] {
            let Value::Object(inside) = all[part].take() else { continue };
            inside
                .into_iter()
                .filter(|(key, _)| !own.contains(&key.as_str()))
                .for_each(|(key, value)| all[key] = value);
        }
        if let Some(fields) = all.as_object_mut() {
            fields.remove("coordinates");
            fields.remove("graph");
            let route = fields.remove("route").unwrap_or_default();
            fields.insert("graph_route".into(), route);
        }
        all["converged"] = json!(report.ended.is_converged());
        all["ended"] = json!(report.ended.name());
        all["seconds"] = json!(report.seconds);
        all["warnings"] = report.warnings.iter().map(|warning| message(warning.message())).collect();
        all["warning_kinds"] = report.warnings.iter().map(|warning| warning.kind()).collect();
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
        let changed = |all: Vec<ParameterInfo>| -> Vec<Value> {
            all.iter().filter(|p| p.value != p.default).map(|p| json!([p.name, p.value])).collect()
        };
        json!({
            "method": recipe.method.info().name,
            "kind": self.inner.kind().name(),
            "parameters": changed(recipe.method.parameters()),
            "learned": recipe.learned.as_ref().map(|drill| changed(drill.parameters())),
            "dims": recipe.dims,
            "neighbors": neighbors,
            "radius": radius,
            "graph": graph,
            "metric": recipe.metric.to_string(),
            "log": recipe.preparation.log.map(Log::name),
            "scale": recipe.preparation.scale.name(),
            "approximate": recipe.approximate,
            "disconnected": format!("{:?}", recipe.disconnected).to_lowercase(),
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

    /// Mean and axes (one row per feature) of a linear map.
    #[getter]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Option<Axes<'py>>> {
        let Some((mean, axes)) = self.inner.axes() else { return Ok(None) };
        let axes = axes.to_vec().into_pyarray(py).reshape([mean.len(), axes.len() / mean.len()])?;
        Ok(Some((mean.to_vec().into_pyarray(py), axes)))
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

    /// Places new rows: coordinates, the rows that are far from all training points, and standard deviations if requested. Then the map
    /// is fitted again without some rows if `held_out` is true, or absent and few rows make that cheap.
    #[pyo3(signature = (rows, missing_cells, deviations, held_out, threads))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        rows: Numbers,
        missing_cells: &str,
        deviations: bool,
        held_out: Option<bool>,
        threads: Option<usize>,
    ) -> PyResult<(Matrix<'py>, Vec<usize>, Option<Matrix<'py>>)> {
        let rows = rows.new_rows(missing(Some(missing_cells)).map_err(raised)?, self.inner.names()).map_err(raised)?;
        let (model, extension) = (Arc::clone(&self.inner), Arc::clone(&self.extension));
        let placed = run(py, threads, None, move |observer| match deviations {
            true => transformed_with_std(&model.transformer()?, &extension, &rows, held_out, observer),
            false => model.transform_detailed(&rows),
        })?;
        let deviations = placed.deviations.as_ref().map(|all| matrix(py, all)).transpose()?;
        Ok((matrix(py, &placed.coordinates)?, placed.far, deviations))
    }

    /// The model prepared to place one batch of rows after the other, with standard deviations if requested.
    fn transformer(&self, deviations: bool, held_out: Option<bool>, threads: Option<usize>) -> PyResult<Transformer> {
        Transformer::new(Arc::clone(&self.inner), Arc::clone(&self.extension), deviations, held_out, threads)
    }

    /// How many times the inverse transform was fitted.
    #[getter]
    fn ways_learned(&self) -> usize {
        self.inverse.times.load(Ordering::Relaxed)
    }

    /// From coordinates of the map to data: rows, standard deviations, 95 % half-widths, the places far from all points, and warnings. Rows
    /// are held out to calibrate the intervals if these are requested and few rows make that cheap.
    fn reconstruct<'py>(
        &self,
        py: Python<'py>,
        places: Numbers,
        intervals: bool,
        held_out: Option<bool>,
        threads: Option<usize>,
    ) -> PyResult<Reconstructed<'py>> {
        let places = places.points().map_err(raised)?;
        let (model, inverse, known_factor) =
            (Arc::clone(&self.inner), Arc::clone(&self.inverse), Arc::clone(&self.calibration_factor));
        let reconstructed = run(py, threads, None, move |observer| {
            model.check_coordinates(&places)?;
            let inverse = inverse.of(&model)?;
            let holds_out = intervals && held_out.unwrap_or_else(|| inverse.holds_out_rows());
            if holds_out && held_out == Some(true) {
                with_classes(&model)?;
            }
            let calibration_factor = match (known_factor.get(), model.points().filter(|_| holds_out)) {
                (Some(calibration_factor), Some(_)) => *calibration_factor,
                (None, Some(points)) => {
                    let calibration_factor = model.recipe().held_out_rows(points, observer)?.calibration_factor;
                    *known_factor.get_or_init(|| calibration_factor)
                }
                (_, None) => [1.0; 2],
            };
            inverse.calibrated(calibration_factor).reconstruct(&places)
        })?;
        let warnings = reconstructed.warnings.iter().map(|warning| message(warning)).collect();
        Ok((
            matrix(py, &reconstructed.points)?,
            matrix(py, &reconstructed.deviations)?,
            matrix(py, &reconstructed.margins)?,
            reconstructed.far,
            warnings,
        ))
    }

    /// The log density of every row under a latent model.
    fn log_densities<'py>(
        &self,
        py: Python<'py>,
        rows: Numbers,
        missing_cells: &str,
        threads: Option<usize>,
    ) -> PyResult<Vector<'py, f64>> {
        let rows: Points =
            rows.new_rows(missing(Some(missing_cells)).map_err(raised)?, self.inner.names()).map_err(raised)?;
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
            .map_err(|error| PyValueError::new_err(format!("this {error}")))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Model>(), (self.to_bytes(py)?,)))
    }
}

/// New rows with the deviations of their coordinates: of their posterior, by maps without some rows (made once), or of the placing alone.
pub(crate) fn transformed_with_std(
    transformer: &eigenfold::Transformer<'_>,
    extension: &OnceLock<HeldOutExtension>,
    rows: &Points,
    held_out: Option<bool>,
    observer: &dyn Observer,
) -> eigenfold::Result<Transformed> {
    let model = transformer.model();
    if model.latent().is_some() {
        return by_posterior(transformer, rows);
    }
    if !held_out.unwrap_or_else(|| model.holds_out_extension()) {
        return transformer.transform_with_std(rows);
    }
    if let Some(held_out) = extension.get() {
        return transformer.transform_held_out(rows, held_out);
    }
    with_classes(model)?;
    let held_out = model.held_out_extension(observer)?;
    transformer.transform_held_out(rows, extension.get_or_init(|| held_out))
}

/// New rows of a latent model, each with the deviations of its hidden coordinates given what was observed of it.
fn by_posterior(transformer: &eigenfold::Transformer<'_>, rows: &Points) -> eigenfold::Result<Transformed> {
    let model = transformer.model();
    let dims = model.embedding().cols();
    let deviation = |one: &Posterior, q: usize| one.covariance[q * dims + q].sqrt();
    let all = model.posteriors(rows)?;
    let values = all.iter().flat_map(|one| (0..dims).map(move |q| deviation(one, q))).collect();
    let deviations = Some(Points::new(rows.rows(), dims, values)?);
    Ok(Transformed { deviations, ..transformer.transform_detailed(rows)? })
}

/// Refuses a map that went by classes, which the model does not keep: it cannot be made again.
fn with_classes(model: &eigenfold::Model) -> eigenfold::Result<()> {
    match model.recipe().method.is_supervised() {
        true => Err(eigenfold::Error::parameter(
            "held-out",
            "the map went by classes, which the model does not keep, and cannot be made again",
            "use `held-out` False",
        )),
        false => Ok(()),
    }
}

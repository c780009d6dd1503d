//! The functions that Python calls without a fitted model.

use crate::arrays::{self, Numbers, RawInput, matrix, points};
use crate::errors::{message, raised};
use crate::model::Model;
use crate::request::{self, missing};
use crate::watch::run;
use eigenfold::{
    Dimension, Error, Input, Owned,
    gp_likelihood::{GpLikelihood, LengthRule, Starts},
    io,
    io::{Labels, ReadOptions},
    sample::Sample,
};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Vector<'py, T> = Bound<'py, PyArray1<T>>;
/// The three arrays of a sparse matrix, and JSON.
type Rows<'py> = (Vector<'py, i64>, Vector<'py, i64>, Vector<'py, f64>, String);
/// Points, true coordinates and colors.
type Drawn<'py> = (Matrix<'py>, Matrix<'py>, Vector<'py, f64>);
/// Points, classes, and the names of classes and features.
type Loaded<'py> = (Matrix<'py>, Vector<'py, i64>, Vec<String>, Option<Vec<String>>);

/// Fits what a request says: the model, and how numbers that are `auto` were chosen, as JSON.
#[pyfunction]
#[pyo3(signature = (kind, data, request, start, labels, names, neighbors, threads, listener))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit(
    py: Python<'_>,
    kind: &str,
    data: &Bound<'_, PyAny>,
    request: &str,
    start: Option<Numbers>,
    labels: Option<Vec<Option<u32>>>,
    names: Option<Vec<String>>,
    neighbors: Option<&Bound<'_, PyAny>>,
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Model, String)> {
    let request = request::read(request).map_err(raised)?;
    let mut recipe = request.recipe().map_err(raised)?;
    let missing = missing(request.missing.as_deref()).map_err(raised)?;
    let start = start.map(Numbers::points).transpose().map_err(raised)?;
    let input = RawInput::new(kind, data, Some(missing), names.as_deref())?;
    let known = neighbors.map(arrays::graph).transpose()?;
    if known.is_some() && request.chooses_neighbors() {
        let fact = "`neighbors` auto searches for up to 50 neighbors, and neighbors are given";
        return Err(raised(Error::inapplicable("neighbors", fact, "give `neighbors` a number")));
    }
    let (model, chosen) = run(py, threads, listener, move |observer| {
        let data = input.completed(&request, observer)?;
        let mut chosen = Map::new();
        if request.chooses_dims() {
            let choice = recipe.choose_dims(points(&data, "dims")?, observer)?;
            recipe.dims = choice.chosen;
            chosen.insert("n_components".into(), json!(choice));
        }
        if request.chooses_neighbors() {
            let choice = recipe.choose_neighbors(
                Input { labels: labels.as_deref(), ..points(&data, "neighbors")?.into() },
                observer,
            )?;
            recipe.neighbors = choice.neighbors(recipe.neighbors);
            chosen.insert("n_neighbors".into(), json!(choice));
        }
        let names = names.as_deref().filter(|_| matches!(data, Owned::Points(_)));
        let (labels, init, neighbors) = (labels.as_deref(), start.as_ref(), known.as_ref());
        let input = Input { labels, names, init, neighbors, ..data.view().into() };
        Ok((recipe.fit(input, observer)?, chosen))
    })?;
    Ok((Model::new(model), Value::Object(chosen).to_string()))
}

/// The neighborhood graph, by a search or of given neighbors: the three arrays of its sparse rows, and what is known of it as JSON.
#[pyfunction]
pub(crate) fn graph<'py>(
    py: Python<'py>,
    kind: &str,
    data: &Bound<'_, PyAny>,
    request: &str,
    neighbors: Option<&Bound<'_, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Rows<'py>> {
    let request = request::read(request).map_err(raised)?;
    let (search, drill) = (request.search().map_err(raised)?, request.learned_graph().map_err(raised)?);
    let input = RawInput::new(kind, data, None, None)?;
    let known = neighbors.map(arrays::graph).transpose()?;
    let found = run(py, threads, None, move |observer| {
        let data = input.completed(&request, observer)?;
        let measured = data.view().measured_by(search.metric);
        match (drill, known) {
            (Some(drill), _) => Ok(drill.graph(&search, measured, search.memory, observer)?.0),
            (None, Some(known)) => measured.given_neighbors(&known, &search, observer),
            (None, None) => measured.neighbors(&search, observer),
        }
    })?;
    let graph = &found.graph;
    let (mut starts, mut targets) = (vec![0i64], Vec::with_capacity(graph.edge_count()));
    for i in 0..graph.len() {
        targets.extend(graph.neighbors(i).iter().map(|&j| i64::from(j)));
        starts.push(targets.len() as i64);
    }
    let about = json!({
        "components": found.sizes,
        "linking_edges": found.linking_edges.len(),
        "connecting_k": found.connecting_k,
        "recall": found.recall,
    });
    let lengths = graph.all_lengths().to_vec();
    Ok((starts.into_pyarray(py), targets.into_pyarray(py), lengths.into_pyarray(py), about.to_string()))
}

/// How many coordinates the points need, as JSON.
#[pyfunction]
pub(crate) fn dimension(
    py: Python<'_>,
    data: Numbers,
    neighbors: Option<usize>,
    quick: bool,
    pointwise: bool,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<String> {
    let points = data.points().map_err(raised)?;
    let dimension = Dimension { neighbors, global: !quick, pointwise, seed };
    let found = run(py, threads, None, move |observer| dimension.of(&points, observer))?;
    let estimates: Map<String, Value> =
        found.estimates.iter().map(|one| (one.name.key().to_string(), json!(one))).collect();
    let left_out: Map<String, Value> =
        found.left_out.iter().map(|(name, why)| (name.key().to_string(), json!(message(why)))).collect();
    let warnings: Vec<String> = found.warnings.iter().map(|warning| message(warning)).collect();
    Ok(json!({
        "recommended": found.recommended,
        "estimates": estimates,
        "left_out": left_out,
        "scales": found.scales,
        "check": found.check,
        "neighbors": found.neighbors,
        "pointwise": found.pointwise,
        "warnings": warnings,
    })
    .to_string())
}

/// The log likelihood of data under a Gaussian process over an embedding, as JSON.
#[pyfunction]
pub(crate) fn gp_likelihood(
    py: Python<'_>,
    data: Numbers,
    map: Numbers,
    length_rule: &str,
    one_start: bool,
    inducing: Option<usize>,
    threads: Option<usize>,
) -> PyResult<String> {
    let starts = if one_start { Starts::One } else { Starts::All };
    let likelihood = GpLikelihood { lengths: lengths(length_rule).map_err(raised)?, starts, inducing };
    let (data, map) = (data.points().map_err(raised)?, map.points().map_err(raised)?);
    let found = run(py, threads, None, move |observer| likelihood.of(&data, &map, observer))?;
    let parameters = &found.parameters;
    Ok(json!({
        "value": found.log_likelihood,
        "variance": parameters.variance,
        "length": found.by_coordinate.as_ref().map_or_else(|| json!(parameters.length), |all| json!(all)),
        "bias": parameters.bias,
        "noise": parameters.noise,
        "noise_floor": found.noise_floor,
        "inducing": found.inducing,
        "starts": found.starts,
        "converged": found.converged,
    })
    .to_string())
}

/// How the lengths of a GP likelihood are chosen.
fn lengths(name: &str) -> eigenfold::Result<LengthRule> {
    let all = [LengthRule::Ard, LengthRule::Unit, LengthRule::Raw];
    all.into_iter().find(|lengths| lengths.name() == name).ok_or_else(|| {
        let ways = all.map(LengthRule::name).join(", ");
        Error::value("lengths", format_args!("{name:?}"), format!("one of {ways}"))
    })
}

/// The library's own name of a metric, if it is one of the library's.
#[pyfunction]
pub(crate) fn metric(name: &str) -> Option<String> {
    name.parse::<eigenfold::Metric>().ok().map(|metric| metric.to_string())
}

/// The names of the data sets that can be drawn.
#[pyfunction]
pub(crate) fn samples() -> Vec<&'static str> {
    Sample::ALL.map(Sample::name).to_vec()
}

/// Draws a data set: points, true coordinates and what colors the points.
#[pyfunction]
pub(crate) fn sample<'py>(py: Python<'py>, name: &str, n: usize, noise: f64, seed: u64) -> PyResult<Drawn<'py>> {
    let drawn = Sample::from_name(name).and_then(|sample| sample.draw(n, noise, seed)).map_err(raised)?;
    let labels = match drawn.labels {
        Labels::Values(values) => values,
        Labels::Classes { of, .. } => of.into_iter().map(|class| class.map_or(f64::NAN, f64::from)).collect(),
    };
    Ok((matrix(py, &drawn.points)?, matrix(py, &drawn.truth)?, labels.into_pyarray(py)))
}

/// A set of real data: points, the class of each, the names of the classes and of the features.
#[pyfunction]
pub(crate) fn builtin<'py>(py: Python<'py>, name: &str) -> PyResult<Loaded<'py>> {
    let table = io::read(name, &ReadOptions::default()).map_err(raised)?;
    let (names, of) = match table.labels {
        Some(Labels::Classes { names, of }) => (names, of),
        _ => (Vec::new(), Vec::new()),
    };
    // No row of these sets is without a class; -1 would say so, as in scikit-learn.
    let of: Vec<i64> = of.into_iter().map(|class| class.map_or(-1, i64::from)).collect();
    Ok((matrix(py, &table.points)?, of.into_pyarray(py), names, table.columns))
}

//! How good maps are, by every measure.

use crate::arrays::{Numbers, RawInput};
use crate::errors::raised;
use crate::watch::run;
use eigenfold::{
    Metric, Request,
    quality::{Evaluation, MEASURES, MeasureInfo, MeasureValue, Quality, QualityInput as Evaluated},
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// JSON, the rows that were sampled, a row of numbers for each measure, and pairs of distances.
type Found<'py> = (String, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// How good a map is by every measure.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn quality<'py>(
    py: Python<'py>,
    kind: &str,
    data: &Bound<'_, PyAny>,
    map: Numbers,
    labels: Option<Vec<Option<u32>>>,
    truth: Option<Numbers>,
    neighbors: Option<usize>,
    rows: Option<usize>,
    metric: &str,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Found<'py>> {
    let metric: Metric = metric.parse().map_err(raised)?;
    let (map, truth) = (map.points().map_err(raised)?, truth.map(Numbers::points).transpose().map_err(raised)?);
    let input = RawInput::new(kind, data, None, None)?;
    let evaluated = run(py, threads, None, move |observer| {
        let data = input.completed(&Request::default(), observer)?;
        let points = data.view().measured_by(metric);
        let given = Evaluated { data: points, labels: labels.as_deref(), truth: truth.as_ref() };
        Quality { neighbors, rows, seed }.evaluate(&given, &[&map], observer)
    })?;
    let Evaluation { rows, shepard, pointwise, .. } = &evaluated[0];
    let sampled: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    let each: Vec<f64> = pointwise.iter().flat_map(|(_, each)| each.iter().copied()).collect();
    let pairs: Vec<f64> = shepard.iter().flatten().copied().collect();
    Ok((
        about(&evaluated[0]).to_string(),
        sampled.into_pyarray(py),
        each.into_pyarray(py).reshape([pointwise.len(), rows.len()])?,
        pairs.into_pyarray(py).reshape([shepard.len(), 2])?,
    ))
}

fn about(evaluated: &Evaluation) -> Value {
    let of = |what: &dyn Fn(&MeasureValue) -> Value| -> Map<String, Value> {
        evaluated.values.iter().map(|score| (score.measure.key().to_string(), what(score))).collect()
    };
    let (k, value): (Vec<usize>, Vec<f64>) = evaluated.curve.iter().copied().unzip();
    json!({
        "values": of(&|score| json!(score.value)),
        "errors": of(&|score| json!(score.error)),
        "neighbors": evaluated.neighbors,
        "curve": [json!(k), json!(value)],
    })
}

/// Every measure: its name, what it means, which way is better and its limits, as JSON.
#[pyfunction]
pub(crate) fn measures() -> String {
    let one = |of: &MeasureInfo| {
        json!({
            "key": of.key,
            "title": of.title,
            "explain": of.explain,
            "group": of.group.title(),
            "better": of.better.name(),
            "low": of.low,
            "high": of.high,
        })
    };
    Value::Array(MEASURES.iter().map(one).collect()).to_string()
}

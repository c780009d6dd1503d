//! Comparisons of maps, for Python.

use crate::arrays::{Numbers, matrix};
use crate::errors::{message, raised};
use crate::request;
use crate::watch::run;
use eigenfold::{
    Data, Error, Input, Metric, Points, Share,
    compare::{Compare, Meter, Outcome, RULE, Sweep, entrants},
    io::Labels,
    quality::{Quality, QualityInput},
};
use eigenfold_page::{ANIMATED, FRAMES, Page};
use numpy::PyArray2;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// The name of labels, those of the classes if they are classes, and a number for every row.
type Labeled = (String, Option<Vec<String>>, Vec<f64>);

/// What a comparison found.
#[pyclass(frozen)]
pub(crate) struct Comparison {
    outcomes: Vec<Outcome>,
    points: Points,
    metric: Metric,
    labels: Vec<(String, Labels)>,
}

#[pymethods]
impl Comparison {
    /// The names of those that have a map, best first.
    fn ranking(&self) -> Vec<String> {
        self.outcomes.iter().filter(|one| one.model.is_some()).map(|one| one.entrant.name.clone()).collect()
    }

    /// Everything but the maps, as JSON.
    fn about(&self) -> String {
        let one = |one: &Outcome| {
            let info = one.entrant.recipe.method.info();
            let quality: Map<String, Value> = one
                .evaluated
                .iter()
                .flat_map(|evaluated| &evaluated.values)
                .map(|score| (score.measure.key().into(), json!({"value": score.value, "error": score.error})))
                .collect();
            json!({
                "name": one.entrant.name,
                "method": info.name,
                "status": one.status.name(),
                "reason": one.status.reason().map(message),
                "seconds": one.seconds,
                "memory_mb": one.memory.map(|bytes| bytes as f64 / 1e6),
                "quality": quality,
                "good_for": info.good_for,
                "caution": message(info.caution),
                "warnings": one.model.iter().flat_map(|model| &model.report().warnings).map(|warning| message(warning.message())).collect::<Vec<_>>(),
            })
        };
        json!({"methods": self.outcomes.iter().map(one).collect::<Vec<_>>(), "rule": RULE}).to_string()
    }

    /// A map, turned onto the best one; nothing if there is none.
    fn map<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(one) = self.outcomes.iter().find(|one| one.entrant.name == name) else { return Ok(None) };
        one.map().map_err(raised)?.map(|map| matrix(py, &map)).transpose()
    }

    /// The page as text.
    #[pyo3(signature = (title, columns, names, image))]
    fn html(
        &self,
        py: Python<'_>,
        title: &str,
        columns: Option<Vec<String>>,
        names: Option<Vec<String>>,
        image: Option<(usize, usize)>,
    ) -> PyResult<String> {
        let page = Page {
            title,
            source: title,
            rows: self.points.rows(),
            points: &self.points,
            row_ids: None,
            metric: self.metric,
            columns: columns.as_deref(),
            prepared: None,
            labels: &self.labels,
            names: names.as_deref(),
            image,
            notes: &[],
            outcomes: &self.outcomes,
        };
        py.detach(|| page.html()).map_err(raised)
    }
}

/// Fits and evaluates them all.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compare(
    py: Python<'_>,
    data: Numbers,
    methods: Vec<String>,
    request: &str,
    sweep: Option<(String, Vec<String>)>,
    labels: Option<Labeled>,
    seconds: f64,
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<Comparison> {
    let points = data.points().map_err(raised)?;
    let mut base = request::read(request).map_err(raised)?;
    base.snapshots = if points.rows() > ANIMATED { 0 } else { FRAMES };
    let (metric, seed) = (base.search().map_err(raised)?.metric, base.seed);
    let sweep = sweep.map(|(parameter, values)| Sweep { parameter, values });
    let all = entrants(&methods, &base, sweep.as_ref()).map_err(raised)?;
    let labels: Vec<(String, Labels)> = labels.into_iter().map(labeled).collect();
    run(py, threads, listener, move |observer| {
        let classes = labels.first().and_then(|(_, labels)| labels.classes());
        let meter = Meter {
            reset: || crate::ALLOCATED.reset_peak_usage(),
            now: || crate::ALLOCATED.current_usage(),
            peak: || crate::ALLOCATED.peak_usage(),
        };
        let quality = Quality { seed, ..Quality::default() };
        let compare = Compare { seconds: Some(seconds), quality, meter: Some(meter) };
        let input = Input { labels: classes.as_deref(), ..(&points).into() };
        let [fitting, evaluating] = Share::split(observer, [1.0, 0.2]);
        let count = all.len();
        let mut outcomes = Vec::with_capacity(count);
        for (at, entrant) in all.into_iter().enumerate() {
            let share = Share::one_of(&fitting, at, count);
            outcomes.push(compare.fit(entrant, input, &share)?);
        }
        if let Some(one) = outcomes.first().filter(|_| outcomes.iter().all(|one| one.model.is_none())) {
            let reason = one.status.reason().unwrap_or_default();
            return Err(Error::parameter("methods", "no method gave a map", format!("{}: {reason}", one.entrant.name)));
        }
        let given = QualityInput { data: Data::Points(&points, metric), labels: classes.as_deref(), truth: None };
        compare.evaluate(&mut outcomes, &given, &evaluating)?;
        Ok(Comparison { outcomes, points, metric, labels })
    })
}

fn labeled((name, classes, of): Labeled) -> (String, Labels) {
    let labels = match classes {
        Some(names) => {
            let class = |&value: &f64| (value >= 0.0 && value < names.len() as f64).then_some(value as u32);
            Labels::Classes { of: of.iter().map(class).collect(), names }
        }
        None => Labels::Values(of),
    };
    (name, labels)
}

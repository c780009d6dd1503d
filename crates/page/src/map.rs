//! One map of a page.

use crate::block::Block;
use crate::facts::facts;
use crate::shade::shade;
use eigenfold::{
    InverseTransform, Model, ParameterInfo, Points, Portable, Result, Snapshot,
    compare::{Entrant, Outcome},
    quality::Evaluation,
    rename_parameters,
};
use serde_json::{Map, Value, json};

/// Maps of more points are kept to seven digits.
const EXACT: usize = 20_000;
/// Values of the spectrum and of the objective's curve.
const MOST: usize = 200;

/// An outcome with its map, or with the reason why there is none.
pub(crate) fn map(outcome: &Outcome, points: &Points, holds_rows: bool, block: &mut Block) -> Result<Value> {
    let info = outcome.entrant.recipe.method.info();
    let mut out = json!({
        "id": outcome.entrant.name,
        "method": info.name,
        "title": title(&outcome.entrant),
        "sweep": outcome.entrant.sweep.as_ref().map(|(name, value)| json!({"parameter": name, "value": value})),
        "status": outcome.status.name(),
        "reason": outcome.status.reason().map(plain),
        "good_for": sentence(info.good_for),
        "caution": plain(info.caution),
        "seconds": outcome.seconds,
        "memory_mb": outcome.memory.map(|bytes| bytes as f64 / 1e6),
        "parameters": [], "facts": [], "warnings": [], "quality": {}, "pointwise": {},
        "dims": outcome.entrant.recipe.dims, "converged": null, "map": null, "spectrum": null, "curve": null,
        "rnx": null, "shepard": null, "inverse_transform": null, "shade": null, "animation": null,
    });
    let Some((model, map)) = outcome.model.as_ref().zip(outcome.map()?) else { return Ok(out) };
    let (report, shape) = (model.report(), [map.rows(), map.cols()]);
    let values = map.values().iter().copied();
    out["converged"] = json!(report.ended.is_converged());
    out["dims"] = json!(map.cols());
    out["map"] = if map.rows() <= EXACT { block.f64(&shape, values) } else { block.f32(&shape, values) };
    out["parameters"] = report
        .parameters
        .iter()
        .map(|used| json!({"name": used.name, "requested": used.requested, "used": used.used}))
        .collect();
    out["facts"] = facts(report).into();
    out["warnings"] = report.warnings.iter().map(|warning| plain(warning.message())).collect();
    if !report.coordinates.eigenvalues.is_empty() {
        out["spectrum"] = json!(report.coordinates.eigenvalues.iter().take(MOST).collect::<Vec<_>>());
    }
    if !report.coordinates.curve.is_empty() {
        out["curve"] = json!(report.coordinates.curve);
    }
    if let Some(evaluated) = &outcome.evaluated {
        add_quality(&mut out, evaluated, map.rows(), block);
    }
    out["animation"] = animation(outcome, model, block)?.unwrap_or(Value::Null);
    add_inverse_transform(&mut out, outcome, model, &map, points, holds_rows, block)?;
    Ok(out)
}

/// The method; with what sets it apart from others by the same method, unless a slider shows that.
fn title(entrant: &Entrant) -> String {
    let info = entrant.recipe.method.info();
    match entrant.name.strip_prefix(info.name).map(str::trim) {
        Some(apart) if !apart.is_empty() && entrant.sweep.is_none() => {
            format!("{}, {}", info.title, apart.replace(' ', ", ").replace('=', " "))
        }
        _ => info.title.to_string(),
    }
}

/// A message without the backticks around names of parameters.
fn plain(text: &str) -> String {
    rename_parameters(text, str::to_string)
}

/// The end of a sentence as a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).chain(['.']).collect())
}

fn add_quality(out: &mut Value, evaluated: &Evaluation, n: usize, block: &mut Block) {
    let quality: Map<String, Value> = evaluated
        .values
        .iter()
        .map(|score| (score.measure.key().to_string(), json!({"value": score.value, "error": score.error})))
        .collect();
    let mut pointwise = Map::new();
    for score in &evaluated.values {
        if let Some(values) = evaluated.per_point(score.measure) {
            pointwise.insert(score.measure.key().into(), block.f32(&[n], values));
        }
    }
    let (k, value): (Vec<usize>, Vec<f64>) = evaluated.curve.iter().copied().unzip();
    let pairs = evaluated.shepard.iter().copied().flatten();
    out["quality"] = quality.into();
    out["pointwise"] = pointwise.into();
    out["rnx"] = json!({"k": k, "value": value});
    out["shepard"] = block.f32(&[evaluated.shepard.len(), 2], pairs);
}

/// The maps that an optimization passed.
fn animation(outcome: &Outcome, model: &Model, block: &mut Block) -> Result<Option<Value>> {
    let frames = model.snapshots();
    let n = model.embedding().rows();
    if frames.len() < 2 || model.embedding().cols() != 2 {
        return Ok(None);
    }
    let mut values = Vec::with_capacity(frames.len() * n * 2);
    for frame in frames {
        values.extend(outcome.turned(&frame.coordinates)?.into_values());
    }
    // On a path of lambda the label is lambda, elsewhere the number of steps.
    let is_path = |one: &ParameterInfo| one.name == "lambda" && one.value.contains(':');
    let along_a_path = model.recipe().method.parameters().iter().any(is_path);
    let label = |frame: &Snapshot| match frame.lambda.filter(|_| along_a_path) {
        Some(lambda) => format!("lambda {lambda:.3e}"),
        None => format!("step {}", frame.step),
    };
    let labels: Vec<String> = frames.iter().map(label).collect();
    Ok(Some(json!({"frames": block.f32(&[frames.len(), n, 2], values), "labels": labels})))
}

/// The inverse transform, as far as a page can compute it, and its uncertainty.
fn add_inverse_transform(
    out: &mut Value,
    outcome: &Outcome,
    model: &Model,
    map: &Points,
    points: &Points,
    holds_rows: bool,
    block: &mut Block,
) -> Result<()> {
    let own = model.inverse_transform()?;
    // A process has no few numbers to say; kriging over its map is what a page can do.
    let inverse = if own.portable().is_some() { own } else { InverseTransform::of_map(points, model.embedding())? };
    let Some(portable) = inverse.portable() else { return Ok(()) };
    let (n, p, d) = (points.rows(), points.cols(), map.cols());
    let of_page = |place: &[f64]| outcome.turn.as_ref().map_or_else(|| place.to_vec(), |turn| turn.undone(place));
    out["inverse_transform"] = match portable {
        Portable::Linear { mean, axes, deviations } => {
            // x̄ + U y with y of the page: the origin of the page, and the steps along its axes.
            let at = |place: &[f64]| -> Vec<f64> {
                let y = of_page(place);
                (0..p).map(|j| mean[j] + (0..d).map(|q| axes[j * d + q] * y[q]).sum::<f64>()).collect()
            };
            let origin = at(&vec![0.0; d]);
            let steps: Vec<Vec<f64>> =
                (0..d).map(|q| at(&(0..d).map(|r| f64::from(u8::from(r == q))).collect::<Vec<_>>())).collect();
            let axes = (0..p).flat_map(|j| steps.iter().map(|step| step[j] - origin[j]).collect::<Vec<_>>());
            json!({
                "rule": "linear",
                "axes": block.f64(&[p, d], axes.collect::<Vec<_>>()),
                "mean": block.f64(&[p], origin.iter().copied()),
                "deviations": block.f64(&[p], deviations),
            })
        }
        Portable::Kriging { .. } if !holds_rows => Value::Null, // its predictions are means of rows
        Portable::Kriging { neighbors, length, noise, unit, roughness, means, spread, bases, widths, components } => {
            json!({
                "rule": "kriging",
                "neighbors": neighbors,
                "length": length,
                "noise": noise,
                "unit": unit,
                "roughness": roughness,
                "means": block.f64(&[p], means),
                "spread": block.f64(&[p], spread),
                "bases": block.f64(&[p], bases),
                "widths": block.f64(&[p, 2], widths.into_iter().flatten()),
                "components": components.map(|components| block.u32(&[n], components)),
            })
        }
        // A rule that the page does not support.
        _ => Value::Null,
    };
    let spread = spread(points);
    out["shade"] = shade(&inverse, map, spread, &of_page, block)?.unwrap_or(Value::Null);
    Ok(())
}

/// The root of the variance of all columns together, without overflow.
fn spread(points: &Points) -> f64 {
    let means = points.column_means();
    let p = means.len();
    let away = |(at, x): (usize, &f64)| (x - means[at % p]).abs();
    let largest = points.values().iter().enumerate().map(away).fold(0.0, f64::max);
    let square = |(at, x): (usize, &f64)| ((x - means[at % p]) / largest).powi(2);
    let sum: f64 = points.values().iter().enumerate().map(square).sum();
    largest * (sum / points.rows() as f64).sqrt()
}

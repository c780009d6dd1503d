//! The measures of a map as JSON, as a block of text, as a table per point and as a picture.

use crate::drawing::title_of;
use crate::report::{grouped, plural};
use eigenfold::{
    Error, Points, Result, io,
    quality::{Evaluation, Group, MEASURES, Measure, MeasureValue},
};
use eigenfold_plot::{Coloring, Format, Picture, Shepard, Theme};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The width of the column of names.
const WIDTH: usize = 28;

/// Every measure by its key: its value, its standard error if rows were drawn, and k if it follows the neighbors.
pub(super) fn json(evaluated: &Evaluation) -> Map<String, Value> {
    let one = |MeasureValue { measure, value, error, .. }: &MeasureValue| {
        let mut entry = json!({"value": value});
        if let Some(object) = entry.as_object_mut() {
            if measure.described().of_neighbors {
                object.insert("k".into(), json!(evaluated.neighbors));
            }
            object.insert("error".into(), json!(error));
        }
        (measure.key().to_string(), entry)
    };
    let mut all: Map<String, Value> = evaluated.values.iter().map(one).collect();
    let (k, value): (Vec<usize>, Vec<f64>) = evaluated.curve.iter().copied().unzip();
    all.insert("rnx".into(), json!({"k": k, "value": value}));
    all
}

/// The measures of one kind, a line each, below a heading; nothing if there are none.
pub(super) fn lines(evaluated: &Evaluation, group: Group) -> Vec<String> {
    let ours: Vec<&MeasureValue> =
        evaluated.values.iter().filter(|score| score.measure.described().group == group).collect();
    if ours.is_empty() {
        return Vec::new();
    }
    let looked = match group {
        Group::Neighborhoods | Group::Labels => format!(", {}", plural(evaluated.neighbors, "neighbor")),
        _ => String::new(),
    };
    let heading = format!("  {}{looked}", group.title());
    std::iter::once(heading).chain(ours.into_iter().map(line)).collect()
}

fn line(MeasureValue { measure, value, error, .. }: &MeasureValue) -> String {
    let (title, better) = (measure.described().title, measure.described().better.name());
    let error = error.map_or(String::new(), |error| format!(" ± {}", figure(error)));
    let value = format!("{}{error}", figure(*value));
    format!("    {title:<WIDTH$} {value:<20} {better} is better")
}

/// Four digits after the point, or as many as a number far from one needs.
fn figure(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) { format!("{value:.2e}") } else { format!("{value:.4}") }
}

/// How many rows were sampled, if not all.
pub(super) fn sampled(evaluated: &Evaluation) -> Option<String> {
    let (some, all) = (grouped(evaluated.rows.len()), plural(evaluated.points, "row"));
    evaluated.is_sample().then(|| format!("  sample of {some} of {all}, drawn by --seed; ± is a standard error"))
}

/// One row per point and one column per measure; what was not sampled is missing.
pub(super) fn table(evaluated: &Evaluation) -> Result<(Vec<String>, Points)> {
    let names: Vec<String> = evaluated.pointwise.iter().map(|(measure, _)| measure.key().to_string()).collect();
    let (n, cols) = (evaluated.points, names.len());
    let mut values = vec![f64::NAN; n * cols];
    for (at, (_, each)) in evaluated.pointwise.iter().enumerate() {
        evaluated.rows.iter().zip(each).for_each(|(row, &value)| values[row * cols + at] = value);
    }
    Ok((names, Points::with_missing(n, cols, values)?))
}

/// Tries a name for the table.
pub(super) fn try_table(target: &Path) -> Result<()> {
    io::write(target, &["trustworthiness".to_string()], &Points::new(1, 1, vec![1.0])?, &[])
}

/// The refusal of a measure that these data do not have, and what it needs.
pub(super) fn missing(measure: Measure) -> Error {
    let way_out = match measure.described().group {
        Group::Labels => "give labels of two or more classes by --label or --labels, or choose another measure",
        Group::Truth => "give --truth, or choose another measure",
        Group::InverseTransform => "give points that vary, or choose another measure",
        _ => "choose another measure",
    };
    Error::parameter("pointwise-by", format!("--pointwise-by {} is not defined for these data", measure.key()), way_out)
}

/// The map colored by a measure.
pub(super) fn picture(
    evaluated: &Evaluation,
    map: &Points,
    by: Measure,
    source: &Path,
    (format, theme): (Format, Theme),
) -> Result<Vec<u8>> {
    let values = evaluated.per_point(by).ok_or_else(|| missing(by))?;
    let described = &MEASURES[by as usize];
    let mut facts = vec![plural(evaluated.points, "point"), format!("{} is better", described.better.name())];
    facts.extend(evaluated.value(by).map(|score| format!("{} in total", figure(score.value))));
    if evaluated.is_sample() {
        facts.push(format!("grey: not sampled ({} were)", grouped(evaluated.rows.len())));
    }
    let picture = Picture {
        points: map,
        behind: 0,
        coloring: &Coloring::Values { title: described.title.into(), values },
        ringed: None,
        names: None,
        images: None,
        shade: None,
        eigenvalues: &[],
        title: &format!("{}: {} of each point", title_of(source), described.title),
        subtitle: &facts.join(" · "),
        size: None,
        theme,
    };
    picture.rendered(format)
}

/// The distances of pairs in the embedding against those in the data.
pub(super) fn shepard(evaluated: &Evaluation, source: &Path, (format, theme): (Format, Theme)) -> Result<Vec<u8>> {
    let mut facts =
        vec![plural(evaluated.points, "point"), format!("{} of points", plural(evaluated.shepard.len(), "pair"))];
    facts.extend([Measure::Spearman, Measure::ScaledStress].into_iter().filter_map(|measure| {
        let title = measure.described().title;
        evaluated.value(measure).map(|found| format!("{title} {:.2}", found.value))
    }));
    let title = format!("{}: Shepard diagram", title_of(source));
    Shepard { pairs: &evaluated.shepard, title: &title, subtitle: &facts.join(" · "), theme }.rendered(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits_or_a_power_of_ten() {
        assert_eq!([0.0, 0.98764, 123.45678, 1e-9, 2e7].map(figure).join(" "), "0.0000 0.9876 123.4568 1.00e-9 2.00e7");
    }
}

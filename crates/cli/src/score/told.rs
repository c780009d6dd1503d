//! The measures of a map as JSON, as a block of text, as a table per point and as a picture.

use crate::drawing::name_of;
use crate::report::{grouped, plural};
use eigenfold::Points;
use eigenfold::error::{Error, Result};
use eigenfold::io;
use eigenfold::quality::{Group, Judged, MEASURES, Measure, Score};
use eigenfold_plot::{Coloring, Format, Picture, SIZE};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The width of the column of names.
const WIDTH: usize = 28;

/// Every measure by its key: its value, its standard error if rows were drawn, and k if it follows the neighbors.
pub(super) fn json(judged: &Judged) -> Map<String, Value> {
    let one = |Score { measure, value, error, .. }: &Score| {
        let mut told = json!({"value": value});
        if let Some(object) = told.as_object_mut() {
            if measure.described().of_neighbors {
                object.insert("k".into(), json!(judged.neighbors));
            }
            object.insert("error".into(), json!(error));
        }
        (measure.key().to_string(), told)
    };
    let mut all: Map<String, Value> = judged.scores.iter().map(one).collect();
    let (k, value): (Vec<usize>, Vec<f64>) = judged.curve.iter().copied().unzip();
    all.insert("rnx".into(), json!({"k": k, "value": value}));
    all
}

/// The measures of one kind, a line each, below a heading; nothing if there are none.
pub(super) fn lines(judged: &Judged, group: Group) -> Vec<String> {
    let ours: Vec<&Score> = judged.scores.iter().filter(|score| score.measure.described().group == group).collect();
    if ours.is_empty() {
        return Vec::new();
    }
    let looked = match group {
        Group::Neighborhoods | Group::Labels => format!(", {}", plural(judged.neighbors, "neighbor")),
        _ => String::new(),
    };
    let heading = format!("  {}{looked}", group.title());
    std::iter::once(heading).chain(ours.into_iter().map(line)).collect()
}

fn line(Score { measure, value, error, .. }: &Score) -> String {
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

/// How many rows were asked, if not all.
pub(super) fn asked(judged: &Judged) -> Option<String> {
    let (some, all) = (grouped(judged.rows.len()), plural(judged.points, "row"));
    judged.is_sample().then(|| format!("  asked {some} of {all}, drawn by --seed; ± is a standard error"))
}

/// One row per point and one column per measure; what was not asked is missing.
pub(super) fn table(judged: &Judged) -> Result<(Vec<String>, Points)> {
    let names: Vec<String> = judged.pointwise.iter().map(|(measure, _)| measure.key().to_string()).collect();
    let (n, cols) = (judged.points, names.len());
    let mut values = vec![f64::NAN; n * cols];
    for (at, (_, each)) in judged.pointwise.iter().enumerate() {
        judged.rows.iter().zip(each).for_each(|(row, &value)| values[row * cols + at] = value);
    }
    Ok((names, Points::with_missing(n, cols, values)?))
}

/// Tries a name for the table.
pub(super) fn try_table(target: &Path) -> Result<()> {
    io::write(target, &["trustworthiness".to_string()], &Points::new(1, 1, vec![1.0])?, &[])
}

/// What could not be told, and what it would need.
pub(super) fn missing(measure: Measure) -> Error {
    let way_out = match measure.described().group {
        Group::Labels => "give labels of two or more classes by --label or --labels, or choose another measure",
        Group::Truth => "give --truth, or choose another measure",
        Group::WayBack => "give points that vary, or choose another measure",
        _ => "choose another measure",
    };
    Error::Parameter(format!("--pointwise-by {} cannot be told of these data; {way_out}", measure.key()))
}

/// The map colored by a measure.
pub(super) fn picture(judged: &Judged, map: &Points, by: Measure, source: &Path, format: Format) -> Result<Vec<u8>> {
    let values = judged.per_point(by).ok_or_else(|| missing(by))?;
    let described = &MEASURES[by as usize];
    let mut facts = vec![plural(judged.points, "point"), format!("{} is better", described.better.name())];
    facts.extend(judged.score(by).map(|score| format!("{} over all", figure(score.value))));
    if judged.is_sample() {
        facts.push(format!("grey: not asked ({} were)", grouped(judged.rows.len())));
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
        title: &format!("{} of a map of {}", described.title, name_of(source)),
        subtitle: &facts.join(" · "),
        size: SIZE,
    };
    picture.rendered(format).map_err(Error::Numerical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits_or_a_power_of_ten() {
        assert_eq!([0.0, 0.98764, 123.45678, 1e-9, 2e7].map(figure).join(" "), "0.0000 0.9876 123.4568 1.00e-9 2.00e7");
    }
}

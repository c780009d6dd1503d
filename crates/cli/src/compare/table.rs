//! What a comparison found, for people and for programs.

use super::{Compared, Subject};
use crate::drawing::name_of;
use crate::flags::with_flags;
use crate::one_line;
use crate::report::plural;
use eigenfold::{
    Points, Result,
    compare::{Outcome, RULE, Status},
    quality::{Measure, MeasureValue},
};
use eigenfold_plot::Thumbnail;
use serde_json::{Map, Value, json};

/// The measures in the table of the terminal, and their titles there.
const SHOWN: [(Measure, &str); 8] = [
    (Measure::RnxAuc, "R_NX"),
    (Measure::Trustworthiness, "trust"),
    (Measure::Continuity, "contin."),
    (Measure::KnnAccuracy, "k-NN"),
    (Measure::Spearman, "rho"),
    (Measure::ScaledStress, "stress"),
    (Measure::ReconstructionError, "recon."),
    (Measure::Disparity, "truth"),
];

/// One line when a method has ended.
pub(super) fn ended(outcome: &Outcome) -> String {
    let seconds = outcome.seconds.map_or(String::new(), |seconds| format!("{seconds:.2} s"));
    let name = &outcome.entrant.name;
    match outcome.status.reason() {
        None => format!("  {name:<24} {seconds:>9}"),
        Some(reason) => {
            format!("  {name:<24} {seconds:>9}  {}: {}", outcome.status.name(), one_line(&with_flags(reason)))
        }
    }
}

/// The ranking as a table, and a sentence for every method.
pub(super) fn summary(args: &Compared, subject: &Subject, outcomes: &[Outcome], seconds: f64) -> String {
    let (n, p) = (plural(subject.points.rows(), "point"), plural(subject.points.cols(), "feature"));
    let maps = plural(outcomes.iter().filter(|one| one.model.is_some()).count(), "map");
    let mut lines = vec![format!("compare: {} ({n} of {p}), {maps} in {seconds:.1} s", name_of(&args.input.source))];
    lines.extend(subject.notes.iter().map(|note| format!("  note: {}", one_line(note))));
    let shown: Vec<(Measure, &str)> =
        SHOWN.into_iter().filter(|(measure, _)| outcomes.iter().any(|one| one.value(*measure).is_some())).collect();
    let width = outcomes.iter().map(|one| one.entrant.name.chars().count()).max().unwrap_or(0).max(6);
    let titles: String = shown.iter().map(|(_, title)| format!(" {title:>8}")).collect();
    lines.push(format!("  rank  {:<width$}{titles} {:>9} {:>8}", "method", "seconds", "MB"));
    for (at, one) in outcomes.iter().enumerate() {
        lines.push(row(at + 1, one, &shown, width));
    }
    lines.push(format!("  ranked by {RULE}"));
    lines.push("  what each is good for, and what it does not show:".to_string());
    let mut listed: Vec<&str> = Vec::new();
    for one in outcomes.iter().filter(|one| one.model.is_some()) {
        let info = one.entrant.recipe.method.info();
        if !listed.contains(&info.name) {
            listed.push(info.name);
            lines.push(format!("    {}: {}. {}", info.title, info.good_for, with_flags(info.caution)));
        }
    }
    lines.join("\n")
}

fn row(rank: usize, one: &Outcome, shown: &[(Measure, &str)], width: usize) -> String {
    let name = &one.entrant.name;
    if one.model.is_none() {
        let reason = one_line(&with_flags(one.status.reason().unwrap_or_default()));
        return format!("     -  {name:<width$}  {}: {reason}", one.status.name());
    }
    let values: String = shown
        .iter()
        .map(|(measure, _)| one.value(*measure).map_or(format!(" {:>8}", "-"), |value| format!(" {value:>8.3}")))
        .collect();
    let seconds = one.seconds.map_or("-".into(), |seconds| format!("{seconds:.2}"));
    let memory = one.memory.map_or("-".into(), |bytes| format!("{:.0}", bytes as f64 / 1e6));
    let ended = one.status.reason().map_or(String::new(), |reason| format!("  {}", with_flags(reason)));
    format!("  {rank:>4}  {name:<width$}{values} {seconds:>9} {memory:>8}{ended}")
}

/// The subtitle of a contact sheet.
pub(super) fn subtitle(subject: &Subject) -> String {
    let (n, p) = (plural(subject.points.rows(), "point"), plural(subject.points.cols(), "feature"));
    let all = subject.notes.iter().map(|note| one_line(note));
    [n, p].into_iter().chain(all).collect::<Vec<_>>().join(" · ")
}

/// A map of a contact sheet.
pub(super) fn thumbnail(one: &Outcome) -> Result<Thumbnail> {
    let info = one.entrant.recipe.method.info();
    let title = one
        .entrant
        .sweep
        .as_ref()
        .map_or(info.title.to_string(), |(name, value)| format!("{}, {name} {value}", info.title));
    let reason = || with_flags(one.status.reason().unwrap_or("it has no embedding"));
    let score = |measure: Measure, name: &str| one.value(measure).map(|value| format!("{name} {value:.2}"));
    let mut facts: Vec<String> = [(Measure::RnxAuc, "R_NX"), (Measure::Trustworthiness, "trust")]
        .into_iter()
        .filter_map(|(measure, name)| score(measure, name))
        .collect();
    facts.extend(one.seconds.map(|seconds| format!("{seconds:.1} s")));
    facts.extend(matches!(one.status, Status::Stopped(_)).then(|| "stopped".to_string()));
    Ok(Thumbnail { title, facts: facts.join(" · "), map: one.map()?.ok_or_else(reason) })
}

/// Everything, the maps included.
pub(super) fn json(
    args: &Compared,
    subject: &Subject,
    outcomes: &[Outcome],
    seconds: f64,
    stopped: bool,
) -> Result<Value> {
    let mut methods = Map::new();
    for one in outcomes {
        methods.insert(one.entrant.name.clone(), method(one)?);
    }
    let ranking: Vec<&String> =
        outcomes.iter().filter(|one| one.model.is_some()).map(|one| &one.entrant.name).collect();
    Ok(json!({
        "input": {
            "source": name_of(&args.input.source),
            "n": subject.rows.all,
            "compared": subject.points.rows(),
            "features": subject.points.cols(),
            "rows": subject.rows.is_part().then_some(&subject.rows.of_input),
        },
        "methods": methods,
        "ranking": ranking,
        "rule": RULE,
        "seconds": seconds,
        "stopped": stopped,
        "warnings": subject.notes,
    }))
}

fn method(one: &Outcome) -> Result<Value> {
    let info = one.entrant.recipe.method.info();
    let rows = |map: Points| (0..map.rows()).map(|i| map.row(i).to_vec()).collect::<Vec<_>>();
    let mut value = json!({
        "method": info.name,
        "status": one.status.name(),
        "reason": one.status.reason().map(with_flags),
        "seconds": one.seconds,
        "memory_mb": one.memory.map(|bytes| bytes as f64 / 1e6),
        "good_for": info.good_for,
        "caution": with_flags(info.caution),
    });
    if let Some((parameter, setting)) = &one.entrant.sweep {
        value["sweep"] = json!({"parameter": parameter, "value": setting});
    }
    if let Some(evaluated) = &one.evaluated {
        let score = |score: &MeasureValue| {
            (score.measure.key().to_string(), json!({"value": score.value, "error": score.error}))
        };
        value["quality"] = evaluated.values.iter().map(score).collect::<Map<String, Value>>().into();
    }
    if let Some(model) = &one.model {
        value["converged"] = json!(model.report().ended.is_converged());
        value["warnings"] = model.report().warnings.iter().map(|warning| with_flags(warning.message())).collect();
        value["disparity"] = json!(one.turn.as_ref().map(|turn| turn.disparity()));
    }
    value["embedding"] = json!(one.map()?.map(rows));
    Ok(value)
}

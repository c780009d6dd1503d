//! The facts about a fit, as names and values for people.

use eigenfold::Report;
use serde_json::{Value, json};

/// A fact with a sentence that explains it.
fn fact(name: &str, value: String, explain: &str) -> Value {
    json!({"name": name, "value": value, "explain": explain})
}

/// The facts of a report, in the order of their importance to a reader.
pub(crate) fn facts(report: &Report) -> Vec<Value> {
    let mut facts = Vec::new();
    let ended = if report.ended.is_converged() { "converged" } else { "not converged" };
    let mut say = |name: &str, value: String, explain: &str| facts.push(fact(name, value, explain));
    if let Some(objective) = report.coordinates.objective {
        let value = format!("{objective:.6e} after {} evaluations, {ended}", report.coordinates.iterations);
        say("objective", value, "The value that the optimization minimized.");
    }
    if let Some(worst) = report.coordinates.residuals.iter().take(report.dims).copied().reduce(f64::max) {
        let value = format!("{worst:.1e} at most, {ended} ({})", report.coordinates.solver);
        say(
            "residual",
            value,
            "How far the coordinates are from exact eigenvectors; 1e-8 and less is exact for all purposes.",
        );
    }
    if let Some(explained) = &report.coordinates.explained {
        let shares: Vec<String> = explained.ratio.iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
        say("variance", format!("{} %", shares.join(", ")), "The share of all variance that each coordinate has.");
    }
    if let Some(bracket) = &report.certificate {
        let value = format!("{:.6e} to {:.6e}, gap {:.1e}", bracket.primal, bracket.dual, bracket.gap);
        say(
            "certificate",
            value,
            "The largest variance of any map that keeps these distances is proved to lie between the two numbers.",
        );
    }
    for (figure, value) in &report.figures {
        let shown = if value.fract() == 0.0 && value.abs() < 1e9 { format!("{value}") } else { format!("{value:.3e}") };
        say(&figure.name().replace('_', " "), shown, figure.sentence());
    }
    if let Some(fit) = &report.likelihood {
        let value = format!("{:.6e}", fit.log_likelihood);
        say(
            "in-sample log likelihood",
            value,
            "The log likelihood of the points under the field that was fitted to them: not comparable between methods.",
        );
    }
    if report.graph.components.len() > 1 {
        let shown: Vec<String> = report.graph.components.iter().take(5).map(usize::to_string).collect();
        let more = if report.graph.components.len() > 5 { ", ..." } else { "" };
        let value = format!(
            "{} ({}{more} points), {} linking edges",
            report.graph.components.len(),
            shown.join(", "),
            report.graph.linking_edges
        );
        say("components of the graph", value, "Where the graph falls apart, the shortest linking edges join it.");
    }
    if let Some(recall) = report.graph.recall {
        let value = format!("{:.1} %", (1000.0 * recall).floor() / 10.0);
        say("neighbors found", value, "The share of true neighbors that the search found, measured on a sample.");
    }
    if let Some(rescale) = &report.rescale {
        say("rescaled variance", format!("{:.4e}", rescale.primal), "The variance after the lengths were put right.");
    }
    facts
}

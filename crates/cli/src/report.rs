//! What a fit reports: as JSON for programs, as a few lines for people.

use crate::flags::with_flags;
use eigenfold::{
    Bracket, DimsChoice, Explained, Figure, GraphReport, HeldOut, NeighborRatio, NeighborsChoice, PathStep, Report,
    Rescaling, Result, TriedNeighbors,
    io::{write_bytes_atomically, write_error},
};
pub(crate) use eigenfold_plot::{grouped, plural};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The seconds that the program itself spent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// Reading the input.
    pub(crate) read: f64,
    /// Choosing the numbers of neighbors and coordinates, if requested.
    pub(crate) choose: f64,
    /// Holding out features, if requested.
    pub(crate) held_out: f64,
    /// Writing the outputs.
    pub(crate) write: f64,
}

/// A parameter as the user gave it, if at all, and as it was used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EffectiveParameter {
    /// The flag without its dashes.
    pub(crate) name: String,
    /// What stood on the command line.
    pub(crate) requested: Option<String>,
    /// What was used.
    pub(crate) used: String,
}

impl EffectiveParameter {
    /// Whether people want to read it: it was requested, or is not what everyone gets.
    pub(crate) fn is_telling(&self) -> bool {
        let usual = ["nearest", "euclidean", "join", "false", "auto", "none"];
        self.requested.is_some() || (self.name != "paths" && !usual.contains(&self.used.as_str()))
    }
}

/// All that is known about a fit.
pub(crate) struct Story<'a> {
    /// What the library says.
    pub(crate) report: &'a Report,
    /// Every parameter, those of the graph first.
    pub(crate) parameters: &'a [EffectiveParameter],
    /// How the number of neighbors was chosen, if it was.
    pub(crate) choice: Option<&'a NeighborsChoice>,
    /// How the number of coordinates was chosen, if it was.
    pub(crate) dims: Option<&'a DimsChoice>,
    /// The log likelihood of held-out features, if requested.
    pub(crate) held_out: Option<&'a HeldOut>,
    /// How well the map keeps neighborhoods, where that can be known.
    pub(crate) near: Option<NeighborRatio>,
    /// The library's warnings and ours.
    pub(crate) warnings: &'a [String],
    /// The program's own time.
    pub(crate) spent: Spent,
}

/// The bytes of this program itself.
const PROGRAM: u64 = 14_000_000;

/// The predicted memory, with this program, and the peak of the process so far, in units of 10⁶ bytes.
pub(crate) fn memory_mb(predicted: u64) -> Value {
    let mb = |bytes: u64| (bytes as f64 / 1e5).round() / 10.0;
    let peak = eigenfold::peak_memory().unwrap_or_else(|| crate::ALLOCATED.peak_usage() as u64);
    json!({"predicted": mb(PROGRAM + predicted), "peak": mb(peak)})
}

/// The report of `embed` as JSON; what is not known is null or left out, never invented.
pub(crate) fn json(story: &Story) -> Value {
    let Story { report, parameters, choice, dims: chosen_dims, held_out, near, warnings, spent } = story;
    let chosen =
        |p: &EffectiveParameter| json!({"requested": p.requested.as_deref().map(typed), "used": typed(&p.used)});
    let parameters: Map<String, Value> = parameters.iter().map(|p| (p.name.clone(), chosen(p))).collect();
    let seconds = &report.seconds;
    let mut out = json!({
        "method": report.method,
        "n": report.n,
        "features": report.features,
        "dims": report.dims,
        "parameters": parameters,
        "seconds": {
            "read": spent.read,
            "choose": spent.choose,
            "graph": seconds.graph,
            "field": seconds.field,
            "coordinates": seconds.coordinates,
            "likelihood": seconds.likelihood,
            "held_out": spent.held_out,
            "write": spent.write,
        },
        "memory_mb": memory_mb(report.predicted_memory),
        "eigenvalues": report.coordinates.eigenvalues,
        "residuals": report.coordinates.residuals,
        "components": report.graph.components,
        "linking_edges": report.graph.linking_edges,
        "converged": report.ended.is_converged(),
        "ended": report.ended.name(),
        "iterations": report.coordinates.iterations,
        "solver": report.coordinates.solver,
        "warnings": warnings,
    });
    if let Some(object) = out.as_object_mut() {
        object.extend(
            report
                .coordinates
                .explained
                .as_ref()
                .map(|explained| ("explained_variance".to_string(), shares(explained))),
        );
        object.extend(report.coordinates.objective.map(|value| ("objective".to_string(), json!(value))));
        object.extend(report.coordinates.gradient.map(|value| ("gradient".to_string(), json!(value))));
        if !report.coordinates.curve.is_empty() {
            object.insert("curve".into(), json!(report.coordinates.curve));
        }
        if !report.coordinates.disparities.is_empty() {
            object.insert("disparities".into(), json!(report.coordinates.disparities));
        }
        object.extend(report.graph.connecting_k.map(|k| ("connecting_k".to_string(), json!(k))));
        object.extend(report.figures.iter().map(|(figure, value)| (figure.name().to_string(), json!(value))));
        object.extend(report.certificate.map(|certificate| ("certificate".to_string(), json!(certificate))));
        if !report.path.is_empty() {
            object.insert("path".into(), json!(report.path));
        }
        object.extend(report.log_likelihood().map(|value| ("log_likelihood".to_string(), json!(value))));
        object.extend(held_out.map(|held_out| ("held_out".to_string(), held_out_json(held_out))));
        if let Some(fit) = &report.likelihood {
            object.insert("in_sample_fit".into(), json!(fit));
        }
        object.extend(near.map(|near| ("neighbor_ratio".to_string(), ratio_json(&near))));
        object.extend(report.rescale.as_ref().map(|rescale| ("rescale".to_string(), json!(rescale))));
        object.extend(choice.map(|choice| ("neighbors".to_string(), json!(choice))));
        object.extend(chosen_dims.map(|choice| ("dimension".to_string(), json!(choice))));
        object.extend(report.graph.recall.map(|recall| ("recall".to_string(), json!(recall))));
        object.extend(report.graph.route.as_ref().map(|route| ("search".to_string(), json!(route))));
    }
    out
}

/// The shares of the variance as JSON.
fn shares(explained: &Explained) -> Value {
    json!({"ratio": explained.ratio, "cumulative": explained.cumulative(), "total": explained.total})
}

/// A parameter's text as the number or the truth value it is, where it is one.
pub(crate) fn typed(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_string()),
    }
}

/// Writes JSON to a file or to standard output.
pub(crate) fn write_json(target: &Path, value: &Value) -> Result<()> {
    write_bytes_atomically(target, |out| {
        let text = format!("{value:#}\n");
        out.write_all(text.as_bytes()).map_err(|source| write_error(target, source))
    })
}

/// The report of `embed` for people.
pub(crate) fn summary(story: &Story) -> String {
    let Story { report, parameters, choice, dims: chosen_dims, held_out, near, warnings, spent } = story;
    let mut lines = Vec::new();
    let features = report.features.map_or(String::new(), |d| format!(" of {}", plural(d, "feature")));
    let (points, dims) = (plural(report.n, "point"), plural(report.dims, "dimension"));
    lines.push(format!("{}: {points}{features} in {dims}", report.method));
    let used: Vec<String> =
        parameters.iter().filter(|p| p.is_telling()).map(|p| format!("{} {}", p.name, p.used)).collect();
    if !used.is_empty() {
        lines.push(format!("  parameters   {}", used.join(", ")));
    }
    if report.graph.components.len() > 1 {
        lines.push(format!(
            "  components   {}{}",
            sizes(&report.graph.components),
            linking_edges(report.graph.linking_edges)
        ));
    }
    lines.extend(report.graph.route.as_ref().map(|route| search(route, report.graph.recall)));
    if !report.coordinates.eigenvalues.is_empty() {
        let shown: Vec<String> = report.coordinates.eigenvalues.iter().take(8).map(|v| format!("{v:.4e}")).collect();
        let more = if report.coordinates.eigenvalues.len() > 8 { ", ..." } else { "" };
        lines.push(format!("  eigenvalues  {}{more}", shown.join(", ")));
    }
    lines.extend(report.coordinates.explained.as_ref().map(variance));
    if let Some(worst) = report.coordinates.residuals.iter().take(report.dims).copied().reduce(f64::max) {
        let stopped = if report.ended.is_converged() { "" } else { ", not converged" };
        lines.push(format!("  residual     {worst:.1e} at most ({}{stopped})", report.coordinates.solver));
    }
    if let Some((objective, gradient)) = report.coordinates.objective.zip(report.coordinates.gradient) {
        let stopped = if report.ended.is_converged() { "" } else { ", not converged" };
        let (solver, evaluations) = (&report.coordinates.solver, grouped(report.coordinates.iterations));
        lines.push(format!(
            "  objective    {objective:.6e}, largest gradient {gradient:.1e} after {evaluations} evaluations ({solver}{stopped})"
        ));
    }
    lines.extend(report.rescale.as_ref().map(rescaled));
    let figures = || report.figures.iter().filter(|(figure, _)| *figure != Figure::LogLikelihood);
    if figures().next().is_some() {
        let shown: Vec<String> = figures().map(|(of, value)| figure(of.name(), *value)).collect();
        lines.push(format!("  optimizer    {}", shown.join(", ")));
    }
    lines.extend(report.certificate.as_ref().map(certificate));
    for step in &report.path {
        let PathStep { penalty, edges, gap, held_out } = step;
        lines.push(format!(
            "  penalty      {penalty:.4e}: {} edges, gap {gap:.1e}, held-out log likelihood {held_out:.6e}",
            grouped(*edges)
        ));
    }
    lines.extend(near.as_ref().map(neighbor_ratio));
    lines.extend(chosen_dims.map(dimension));
    lines.extend(choice.map(tried));
    lines.extend(held_out.map(held_out_line));
    lines.extend(report.own_log_likelihood().map(|own| format!("  likelihood   {own:.6e}, of the method's own model")));
    lines.extend(in_sample(report, held_out.is_some()));
    let s = &report.seconds;
    let all = [
        ("read", spent.read),
        ("choose", spent.choose),
        ("graph", s.graph),
        ("field", s.field),
        ("coordinates", s.coordinates),
        ("likelihood", s.likelihood),
        ("held out", spent.held_out),
        ("write", spent.write),
    ];
    // Stages that were not run took no time.
    let shown = all.iter().filter(|(_, seconds)| *seconds > 0.0);
    let shown: Vec<String> = shown.map(|(what, seconds)| format!("{what} {seconds:.2}")).collect();
    lines.push(format!("  seconds      {}", shown.join(", ")));
    lines.extend(warnings.iter().map(|warning| format!("  warning: {warning}")));
    lines.join("\n")
}

/// How much of the variance the coordinates have.
fn variance(explained: &Explained) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let shown: Vec<String> = explained.ratio.iter().take(8).map(|&share| percent(share)).collect();
    let more = if explained.ratio.len() > 8 { ", ..." } else { "" };
    let all = explained.ratio.iter().sum::<f64>();
    let together = if shown.len() > 1 { format!(", {} % together", percent(all)) } else { String::new() };
    let odd = if all > 1.0 + 1e-6 { " (negative eigenvalues count against the total)" } else { "" };
    format!("  variance     {}{more} % of {:.4e} by coordinate{together}{odd}", shown.join(", "), explained.total)
}

/// What is proved about the variance.
fn certificate(bracket: &Bracket) -> String {
    let Bracket { primal, dual, gap, kkt, rank, multiplicity, violation, pairs, confirmed } = bracket;
    let proved = if *confirmed { "" } else { "; the eigenvalue behind the bound is not confirmed by inertia" };
    format!(
        "  certificate  the largest variance is between {primal:.7e} and {dual:.7e} (gap {gap:.1e}); \
         rank {rank}, multiplicity {multiplicity}, |LK - K| {kkt:.1e}, {} distances, violation {violation:.1e}{proved}",
        grouped(*pairs)
    )
}

/// The variance of a rescaled map between its bounds, and by dimension.
fn rescaled(rescale: &Rescaling) -> String {
    let Rescaling { primal, bound, part, spectrum, .. } = rescale;
    let known = bound.zip(*part).map(|(bound, part)| {
        let percent = (1000.0 * part).floor() / 10.0;
        format!("; the largest is between that and {bound:.4e}, so it has at least {percent:.1} % of it")
    });
    let parts: Vec<String> = spectrum.iter().take(5).map(|part| format!("{:.1}", 100.0 * part)).collect();
    let more = if spectrum.len() > 5 { ", ..." } else { "" };
    format!(
        "  rescaled     variance {primal:.4e}{}; {}{more} % by dimension",
        known.unwrap_or_default(),
        parts.join(", ")
    )
}

/// The neighbor distance ratio beside that of a random embedding, as JSON.
fn ratio_json(near: &NeighborRatio) -> Value {
    json!({"value": near.neighbor_ratio, "random": near.random})
}

/// The distance to the ten nearest points of the embedding, over that to the ten nearest points of the data.
fn neighbor_ratio(near: &NeighborRatio) -> String {
    let NeighborRatio { neighbor_ratio, random } = near;
    format!("  neighbors    10-NN distance ratio {neighbor_ratio:.2} (1 = perfect, {random:.2} = random embedding)")
}

/// The number of coordinates, why, and what speaks against it.
fn dimension(choice: &DimsChoice) -> String {
    let lowered = choice
        .lowered
        .as_ref()
        .map(|why| format!("; the points have {}, but {}", choice.recommended.dims, with_flags(why)));
    format!(
        "  dimension    {}: {}{}; caveat: {}",
        plural(choice.chosen, "coordinate"),
        choice.recommended.reason,
        lowered.unwrap_or_default(),
        choice.recommended.caveat
    )
}

/// The numbers of neighbors that were tried, each with its error.
fn tried(choice: &NeighborsChoice) -> String {
    let one = |tried: &TriedNeighbors| {
        let value = tried.value.map_or("none".to_string(), |value| format!("{value:.4}"));
        let components =
            if tried.components > 1 { format!(" ({} components)", tried.components) } else { String::new() };
        let lost = if tried.converged { "" } else { " (not converged)" };
        format!("{}: {value}{components}{lost}", tried.k)
    };
    let all: Vec<String> = choice.tried.iter().map(one).collect();
    format!("  chosen k     {} by {}; {}", choice.chosen, choice.reason, all.join(", "))
}

/// The log likelihood of held-out features as JSON.
fn held_out_json(held_out: &HeldOut) -> Value {
    let HeldOut { log_likelihood, noise_alone, by_fold, folds, only_noise, at_floor, .. } = held_out;
    json!({
        "log_likelihood": log_likelihood,
        "noise_alone": noise_alone,
        "by_fold": by_fold,
        "folds": folds,
        "only_noise": only_noise,
        "at_floor": at_floor,
    })
}

/// The log likelihood of held-out features.
fn held_out_line(held_out: &HeldOut) -> String {
    let HeldOut { log_likelihood, noise_alone, folds, only_noise, at_floor, .. } = held_out;
    let useless = match only_noise {
        0 => String::new(),
        count => format!("; in {count} the model is no better than noise"),
    };
    let floor = match at_floor {
        0 => String::new(),
        count => format!("; in {count} the noise is at its floor, so the value is not reliable"),
    };
    format!(
        "  held out     log likelihood of features {log_likelihood:.6e}, {:+.1} over noise alone ({} folds{useless}{floor})",
        log_likelihood - noise_alone,
        folds.len()
    )
}

/// How well the field fits the features that it was made of, or how to get that.
fn in_sample(report: &Report, evaluated: bool) -> Option<String> {
    let hint = if evaluated { "" } else { "; to compare methods use --held-out features" };
    match &report.likelihood {
        Some(found) => Some(format!(
            "  in sample    log likelihood {:.6e} (signal {:.3e}, noise {:.3e}{hint})",
            found.log_likelihood, found.signal, found.noise
        )),
        None if report.likelihood_left_out => {
            Some("  in sample    log likelihood not computed, since it takes long; add --likelihood".to_string())
        }
        None => None,
    }
}

/// A figure of the optimizer: counts as counts, the rest by its magnitude.
fn figure(name: &str, value: f64) -> String {
    let name = name.replace('_', " ");
    if value >= 1.0 && value.fract() == 0.0 {
        format!("{name} {}", grouped(value as usize))
    } else {
        format!("{name} {value:.1e}")
    }
}

/// How the neighbors were found.
fn search(route: &str, recall: Option<f64>) -> String {
    if route == GraphReport::GIVEN {
        return format!("  search       none ({route})");
    }
    let found = recall.map_or("exact".to_string(), recalled);
    format!("  search       {found} ({route})")
}

/// How many neighbors an approximate search found; never rounded up to all of them.
pub(crate) fn recalled(recall: f64) -> String {
    format!("{:.1} % of the true neighbors found, measured on a sample", (1000.0 * recall).floor() / 10.0)
}

/// The sizes of at most five components.
pub(crate) fn sizes(components: &[usize]) -> String {
    let shown: Vec<String> = components.iter().take(5).map(|&s| grouped(s)).collect();
    let more = if components.len() > 5 { ", ..." } else { "" };
    format!("{} ({}{more} points)", components.len(), shown.join(", "))
}

/// How many edges join the components.
pub(crate) fn linking_edges(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", joined by 1 linking edge".to_string(),
        n => format!(", joined by {n} linking edges"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_typed() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(typed("10"), json!(10));
        assert_eq!(typed("auto"), json!("auto"));
        assert_eq!(typed("true"), json!(true));
    }
}

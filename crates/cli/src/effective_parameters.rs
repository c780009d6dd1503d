//! Requested and effective parameters side by side, and parameters without effect.

use crate::args::Embed;
use crate::flags::{DisconnectedName, GraphKind, Kind};
use crate::preparing;
use crate::report::EffectiveParameter;
use crate::request::word;
use eigenfold::{Disconnected, Model, Neighbors, Recipe};

/// Every parameter that had a part in the result: those of the columns and of the graph, then the method's own.
pub(crate) fn parameters(args: &Embed, model: &Model) -> Vec<EffectiveParameter> {
    let mut all = preparing::parameters(&args.preparing, &model.recipe().preparation);
    if searches(args, model.recipe()) {
        all.extend(graph_parameters(args, model));
    }
    if measures(args, model.recipe()) {
        all.push(metric_parameter(args, model.recipe()));
    }
    for p in &model.report().parameters {
        let requested = args.parameters.iter().find(|(name, _)| *name == p.name).map(|(_, value)| value.clone());
        all.push(EffectiveParameter { name: p.name.clone(), requested, used: p.used.clone() });
    }
    let rescale = args.rescale.map(|count| count.to_string());
    all.extend(rescale.map(|used| EffectiveParameter { name: "rescale".into(), requested: Some(used.clone()), used }));
    all
}

/// Whether neighbors are searched for.
fn searches(args: &Embed, recipe: &Recipe) -> bool {
    recipe.method.info().needs_graph && args.input_kind != Kind::Graph
}

/// Whether the method looks for neighbors by itself: as many as a perplexity asks for.
fn searches_itself(args: &Embed, recipe: &Recipe) -> bool {
    args.input_kind != Kind::Graph && recipe.method.parameters().iter().any(|p| p.name == "perplexity")
}

/// Whether points are measured by the metric.
fn measures(args: &Embed, recipe: &Recipe) -> bool {
    recipe.method.info().uses_metric && args.input_kind == Kind::Points
}

fn metric_parameter(args: &Embed, recipe: &Recipe) -> EffectiveParameter {
    let requested = args.neighbors.metric.map(|metric| metric.to_string());
    EffectiveParameter { name: "metric".into(), requested, used: recipe.metric.to_string() }
}

fn graph_parameters(args: &Embed, model: &Model) -> Vec<EffectiveParameter> {
    let (flags, recipe) = (&args.neighbors, model.recipe());
    let chosen = |name: &str, requested: Option<String>, used: String| EffectiveParameter {
        name: name.to_string(),
        requested,
        used,
    };
    let k = |k: usize| Some(chosen("neighbors", flags.k.map(|k| k.to_string()), k.to_string()));
    let learned = recipe.learned.is_some();
    let (size, kind) = match recipe.neighbors {
        Neighbors::Nearest(count) if learned => (k(count), GraphKind::Learned),
        Neighbors::Nearest(count) => (k(count), GraphKind::Nearest),
        Neighbors::Mutual(count) => (k(count), GraphKind::Mutual),
        Neighbors::Within(radius) => {
            (Some(chosen("radius", flags.radius.map(|r| r.to_string()), radius.to_string())), GraphKind::Within)
        }
        Neighbors::All => (None, GraphKind::All),
    };
    let disconnected = match recipe.disconnected {
        Disconnected::Join => DisconnectedName::Join,
        Disconnected::Error => DisconnectedName::Error,
        Disconnected::Separate => DisconnectedName::Separate,
    };
    let approximate = flags.approximate.map(|approximate| approximate.to_string());
    let mut all: Vec<EffectiveParameter> = size.into_iter().collect();
    all.push(chosen("graph", flags.graph.map(word), word(kind)));
    all.push(chosen("approximate", approximate, model.report().graph.recall.is_some().to_string()));
    all.push(chosen("disconnected", flags.disconnected.map(word), word(disconnected)));
    all
}

/// A warning that mistakes were allowed and none were made, of a method that searches by itself; of a graph the library
/// says it.
pub(crate) fn exact_anyway(args: &Embed, model: &Model) -> Option<String> {
    let searched = args.neighbors_from.is_none() && searches_itself(args, model.recipe());
    let allowed = args.neighbors.approximate == Some(true) && searched;
    (allowed && model.report().graph.recall.is_none())
        .then(|| "--approximate was not used, the neighbors are exact: an exact search is as fast here".into())
}

/// A warning that names the flags which had no part in the result.
pub(crate) fn unused_flags(args: &Embed, recipe: &Recipe) -> Option<String> {
    let flags = &args.neighbors;
    let graph_flags = [
        ("-k", flags.k.is_some() && !searches(args, recipe)),
        ("--radius", flags.radius.is_some() && !searches(args, recipe)),
        ("--graph", flags.graph.is_some() && !searches(args, recipe)),
        ("--approximate", flags.approximate.is_some() && !searches(args, recipe) && !searches_itself(args, recipe)),
        ("--metric", flags.metric.is_some() && !measures(args, recipe)),
        (
            "--disconnected",
            flags.disconnected.is_some() && !recipe.method.info().needs_graph && args.input_kind != Kind::Graph,
        ),
        ("--likelihood", args.likelihood && args.input_kind != Kind::Points),
    ];
    let given: Vec<&str> = graph_flags.into_iter().filter(|flag| flag.1).map(|flag| flag.0).collect();
    if given.is_empty() {
        return None;
    }
    let info = recipe.method.info();
    let why = match (info.needs_graph, args.input_kind) {
        (true, Kind::Graph) => "the graph is given".to_string(),
        (_, Kind::Distances | Kind::Similarities) if info.uses_metric => "the distances are given".to_string(),
        _ => format!("{} does not use {}", info.name, if given.len() == 1 { "it" } else { "them" }),
    };
    Some(format!("{} had no effect: {why}", given.join(", ")))
}

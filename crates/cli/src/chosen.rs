//! What was asked for and what was used, side by side; and what was asked for in vain.

use crate::args::Embed;
use crate::flags::{GraphKind, Kind, MetricName, PiecesName};
use crate::report::Chosen;
use clap::ValueEnum;
use eigenfold::graph::{Metric, Neighbors, Pieces};
use eigenfold::model::Model;
use eigenfold::recipe::Recipe;

/// Every parameter that had a part in the result: those of the graph, then the method's own.
pub(crate) fn parameters(args: &Embed, model: &Model) -> Vec<Chosen> {
    let mut all = if searches(args, model.recipe()) { graph_parameters(args, model.recipe()) } else { Vec::new() };
    for p in &model.report().parameters {
        let asked = args.parameters.iter().find(|(name, _)| *name == p.name).map(|(_, value)| value.clone());
        all.push(Chosen { name: p.name.clone(), asked, used: p.used.clone() });
    }
    all
}

/// Whether neighbors are searched for.
fn searches(args: &Embed, recipe: &Recipe) -> bool {
    recipe.method.info().needs_graph && args.input_kind != Kind::Graph
}

fn graph_parameters(args: &Embed, recipe: &Recipe) -> Vec<Chosen> {
    let flags = &args.neighbors;
    let chosen = |name: &str, asked: Option<String>, used: String| Chosen { name: name.to_string(), asked, used };
    let k = |k: usize| Some(chosen("neighbors", flags.k.map(|k| k.to_string()), k.to_string()));
    let (size, kind) = match recipe.neighbors {
        Neighbors::Nearest(count) => (k(count), GraphKind::Nearest),
        Neighbors::Mutual(count) => (k(count), GraphKind::Mutual),
        Neighbors::Within(radius) => {
            (Some(chosen("radius", flags.radius.map(|r| r.to_string()), radius.to_string())), GraphKind::Within)
        }
        Neighbors::All => (None, GraphKind::All),
    };
    let metric = match recipe.metric {
        Metric::Euclidean => MetricName::Euclidean,
        Metric::Manhattan => MetricName::Manhattan,
        Metric::Cosine => MetricName::Cosine,
    };
    let pieces = match recipe.pieces {
        Pieces::Join => PiecesName::Join,
        Pieces::Error => PiecesName::Error,
        Pieces::Separate => PiecesName::Separate,
    };
    let approximate = flags.approximate.then(|| "true".to_string());
    let mut all: Vec<Chosen> = size.into_iter().collect();
    all.push(chosen("graph", flags.graph.map(name_of), name_of(kind)));
    all.push(chosen("metric", flags.metric.map(name_of), name_of(metric)));
    all.push(chosen("approximate", approximate, recipe.approximate.to_string()));
    all.push(chosen("pieces", flags.pieces.map(name_of), name_of(pieces)));
    all
}

/// A value as it is written on the command line.
fn name_of(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}

/// A warning that names the flags which had no part in the result.
pub(crate) fn unused_flags(args: &Embed, recipe: &Recipe) -> Option<String> {
    let flags = &args.neighbors;
    let graph_flags = [
        ("-k", flags.k.is_some()),
        ("--radius", flags.radius.is_some()),
        ("--graph", flags.graph.is_some()),
        ("--approximate", flags.approximate),
    ];
    let given: Vec<&str> = graph_flags.into_iter().filter(|flag| flag.1).map(|flag| flag.0).collect();
    if searches(args, recipe) || given.is_empty() {
        return None;
    }
    let info = recipe.method.info();
    let why = if info.needs_graph { "the graph is given".to_string() } else { format!("{} has no graph", info.name) };
    Some(format!("{} had no effect: {why}", given.join(", ")))
}

//! The quality of the maps of several methods, by known labels or values.
//!
//! ```text
//! cargo run --release -p eigenfold --example maps -- oil.csv:1000 classes labels.csv isomap le,bandwidth=global le,bandwidth=local
//! cargo run --release -p eigenfold --example maps -- faces.npy values labels.csv isomap,k=6 isomap,components=separate
//! ```
//!
//! Data and labels are as in the example `auto_k`. A method has its parameters after commas, also k and components. Prints a
//! line per method: data, rows, method, the share of rows whose five nearest neighbors on the map vote for their label (or R² of
//! known values), trustworthiness for ten neighbors, neighbor distance ratio (docs/guide/neighbors.md), connected components of the
//! graph, seconds, and whether the report warns that the map is degenerate or not determined.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

mod truth;

use eigenfold::{Disconnected, Error, Likelihood, Method, Metric, Neighbors, Recipe, Silent, neighbor_ratio};
use std::time::Instant;
use truth::{read, trust};

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, kind, labels, methods @ ..] = args.as_slice() else {
        return Err(Error::parameter(
            "arguments",
            "the arguments are incomplete",
            "give data, classes, values or none, a file of labels, and methods",
        ));
    };
    let (points, truth) = read(data, kind, labels)?;
    let title = data.rsplit('/').nth(1).unwrap_or(data.split(':').next().unwrap_or(data));
    for method in methods {
        let start = Instant::now();
        let model = match recipe(method)?.fit(&points, &Silent) {
            Ok(model) => model,
            Err(error) => {
                println!("| {title} | {} | {method} | {error} |", points.rows());
                continue;
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let shown = truth.shown_by(model.embedding())?.map_or("".to_string(), |value| format!("{value:.3}"));
        let (report, trust) = (model.report(), trust(&points, model.embedding())?);
        let far = neighbor_ratio(&points, Metric::Euclidean, model.embedding())?;
        let lost = report
            .warnings
            .iter()
            .any(|warning| warning.message().contains("apart") || warning.message().contains("not determined"));
        println!(
            "| {title} | {} | {method} | {shown} | {trust:.3} | {far:.3} | {} | {seconds:.1} | {} |",
            points.rows(),
            report.graph.components.len(),
            if lost { "warns" } else { "" }
        );
    }
    Ok(())
}

/// A method with its parameters after commas.
fn recipe(method: &str) -> Result<Recipe, Error> {
    let mut parts = method.split(',');
    let mut recipe = Recipe { likelihood: Likelihood::Never, ..Recipe::default() };
    recipe.method = Method::from_name(parts.next().unwrap_or_default())?;
    for part in parts {
        match part.split_once('=') {
            Some(("k", k)) => recipe.neighbors = Neighbors::Nearest(k.parse().unwrap_or(10)),
            Some(("components", "separate")) => recipe.disconnected = Disconnected::Separate,
            Some((name, value)) => recipe.method.set(name, value)?,
            None => return Err(Error::parameter("arguments", format!("{part} is no parameter"), "give name=value")),
        }
    }
    Ok(recipe)
}

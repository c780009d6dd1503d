//! The number of neighbors that `-k auto` chooses, compared with the default of ten on data with known labels or values.
//!
//! ```text
//! cargo run --release -p eigenfold --example auto_k -- oil.csv:1000 classes labels.csv isomap lle
//! cargo run --release -p eigenfold --example auto_k -- faces.npy values labels.csv
//! cargo run --release -p eigenfold --example auto_k -- frey.npy none -
//! ```
//!
//! A map is compared with known labels or values. `classes`: the share of rows whose five nearest neighbors on the map vote for
//! their label. `values`: the mean R² of known values predicted by the mean of the five nearest. `none`: the trustworthiness
//! for ten neighbors. Labels are in a file of numbers, one row per row of the data; `own` is the label column of a built-in
//! set. `:N` after the data takes N evenly spaced rows. Prints a line per method: data, method, the measure for ten neighbors
//! and for the chosen number of neighbors, that number, the connected components of its graph, and the best measure of all
//! numbers that were tried.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

mod truth;

use eigenfold::{Error, Likelihood, Method, Neighbors, Points, Recipe, Silent};
use truth::{Truth, read, trust};

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
    let title = data.rsplit('/').nth(1).unwrap_or(data);
    let usual = ["isomap", "lle", "laplacian-eigenmaps", "ltsa"].map(String::from);
    for name in if methods.is_empty() { &usual[..] } else { methods } {
        let recipe = Recipe { method: Method::from_name(name)?, likelihood: Likelihood::Never, ..Recipe::default() };
        let choice = recipe.choose_neighbors(&points, &Silent)?;
        let value = |k: usize| -> Result<f64, Error> {
            let recipe = Recipe { neighbors: Neighbors::Nearest(k), ..recipe.clone() };
            evaluated(&points, recipe.fit(&points, &Silent)?.embedding(), &truth)
        };
        let (ten, chosen) = (value(10)?, value(choice.chosen)?);
        let all = choice.tried.iter().map(|tried| value(tried.k)).collect::<Result<Vec<f64>, Error>>()?;
        let best = all.into_iter().fold(f64::MIN, f64::max);
        let components = choice.tried.iter().find(|tried| tried.k == choice.chosen).map_or(0, |tried| tried.components);
        println!(
            "| {title} | {name} | {ten:.3} | {chosen:.3} | {:+.3} | {} | {components} | {best:.3} |",
            chosen - ten,
            choice.chosen
        );
    }
    Ok(())
}

/// How well the map shows the known labels or values; its trustworthiness if there are none.
fn evaluated(points: &Points, map: &Points, truth: &Truth) -> Result<f64, Error> {
    truth.shown_by(map)?.map_or_else(|| trust(points, map), Ok)
}

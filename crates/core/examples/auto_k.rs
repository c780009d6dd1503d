//! What `-k auto` chooses, beside the default of ten neighbors, by what is known of the data.
//!
//! ```text
//! cargo run --release -p eigenfold --example auto_k -- oil.csv:1000 classes labels.csv isomap lle
//! cargo run --release -p eigenfold --example auto_k -- faces.npy values labels.csv
//! cargo run --release -p eigenfold --example auto_k -- frey.npy none -
//! ```
//!
//! The truth that a map is judged by is the share of rows with the label of most of their five nearest on it (`classes`), the
//! mean R² of known values predicted by the mean of the five nearest (`values`), or the trustworthiness for ten neighbors
//! where nothing is known (`none`). The labels are in a file of numbers, one row per row of the data, or `own` for the label
//! column of a built-in set. `:N` behind the data takes every so many-th row, N in all. Prints a line per method: data,
//! method, truth with ten neighbors, with those that are chosen, how many these are, the pieces of their graph, and the best
//! truth of all numbers that were tried.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use eigenfold::graph::{Index, Metric};
use eigenfold::io::{self, Labels, ReadOptions};
use eigenfold::progress::Silent;
use eigenfold::{Error, Likelihood, Method, Neighbors, Points, Recipe};

/// How many of the nearest on the map have a say.
const VOTES: usize = 5;

enum Truth {
    Classes(Vec<f64>),
    Values(Points),
    None,
}

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, kind, labels, methods @ ..] = args.as_slice() else {
        return Err(Error::Parameter("give data, classes, values or none, a file of labels, and methods".into()));
    };
    let (points, truth) = read(data, kind, labels)?;
    let title = data.rsplit('/').nth(1).unwrap_or(data);
    let usual = ["isomap", "lle", "laplacian-eigenmaps", "ltsa"].map(String::from);
    for name in if methods.is_empty() { &usual[..] } else { methods } {
        let recipe = Recipe { method: Method::from_name(name)?, likelihood: Likelihood::Never, ..Recipe::default() };
        let choice = recipe.choose_neighbors(&points, &Silent)?;
        let value = |k: usize| -> Result<f64, Error> {
            let recipe = Recipe { neighbors: Neighbors::Nearest(k), ..recipe.clone() };
            judged(&points, recipe.fit(&points)?.embedding(), &truth)
        };
        let (ten, chosen) = (value(10)?, value(choice.chosen)?);
        let all = choice.tried.iter().map(|tried| value(tried.k)).collect::<Result<Vec<f64>, Error>>()?;
        let best = all.into_iter().fold(f64::MIN, f64::max);
        let pieces = choice.tried.iter().find(|tried| tried.k == choice.chosen).map_or(0, |tried| tried.pieces);
        println!(
            "| {title} | {name} | {ten:.3} | {chosen:.3} | {:+.3} | {} | {pieces} | {best:.3} |",
            chosen - ten,
            choice.chosen
        );
    }
    Ok(())
}

fn read(data: &str, kind: &str, labels: &str) -> Result<(Points, Truth), Error> {
    let (file, wanted) = data.split_once(':').unwrap_or((data, ""));
    let table = io::read(file, &ReadOptions::default())?;
    let n = table.points.rows();
    let wanted = wanted.parse().unwrap_or(n).min(n);
    let rows: Vec<usize> = (0..wanted).map(|i| i * n / wanted).collect();
    let own = match table.labels {
        Some(Labels::Classes { of, .. }) => of.iter().map(|class| class.map_or(-1.0, f64::from)).collect(),
        Some(Labels::Values(values)) => values,
        None => Vec::new(),
    };
    let truth = match kind {
        "classes" if labels == "own" => Truth::Classes(rows.iter().map(|&i| own[i]).collect()),
        "classes" => {
            let file = io::read(labels, &ReadOptions::default())?.points;
            Truth::Classes(rows.iter().map(|&i| file.row(i)[0]).collect())
        }
        "values" => Truth::Values(io::read(labels, &ReadOptions::default())?.points.select(&rows)),
        _ => Truth::None,
    };
    Ok((table.points.select(&rows), truth))
}

fn judged(points: &Points, map: &Points, truth: &Truth) -> Result<f64, Error> {
    let n = map.rows();
    let (near, _) = Index::new(map, Metric::Euclidean)?.nearest(map, VOTES + 1)?;
    let around = |i: usize| -> Vec<usize> {
        let list = near[(VOTES + 1) * i..(VOTES + 1) * (i + 1)].iter().map(|&j| j as usize);
        list.filter(|&j| j != i).take(VOTES).collect()
    };
    match truth {
        Truth::Classes(of) => {
            let right = |&i: &usize| {
                let list = around(i);
                let votes = |j: usize| list.iter().filter(|&&other| of[other] == of[j]).count();
                let most = list.iter().map(|&j| votes(j)).max();
                // Of classes with equal votes the one with the nearest.
                list.iter().find(|&&j| Some(votes(j)) == most).is_some_and(|&j| of[j] == of[i])
            };
            Ok((0..n).filter(right).count() as f64 / n as f64)
        }
        Truth::Values(values) => {
            let means = values.column_means();
            let r2 = |q: usize| {
                let guess = |i: usize| around(i).iter().map(|&j| values.row(j)[q]).sum::<f64>() / VOTES as f64;
                let wrong: f64 = (0..n).map(|i| (values.row(i)[q] - guess(i)).powi(2)).sum();
                let total: f64 = (0..n).map(|i| (values.row(i)[q] - means[q]).powi(2)).sum();
                1.0 - wrong / total
            };
            Ok((0..values.cols()).map(r2).sum::<f64>() / values.cols() as f64)
        }
        Truth::None => trust(points, map, 10.min(n / 4)),
    }
}

/// Venna and Kaski's trustworthiness: how rarely the k nearest on the map are far in the data.
fn trust(points: &Points, map: &Points, k: usize) -> Result<f64, Error> {
    let n = points.rows();
    let (near, _) = Index::new(map, Metric::Euclidean)?.nearest(map, k + 1)?;
    let mut penalty = 0.0;
    for i in 0..n {
        let distances: Vec<f64> = (0..n).map(|j| Metric::Euclidean.distance(points.row(i), points.row(j))).collect();
        let mut order: Vec<f64> = (0..n).filter(|&j| j != i).map(|j| distances[j]).collect();
        order.sort_unstable_by(f64::total_cmp);
        for &j in near[(k + 1) * i..(k + 1) * (i + 1)].iter().filter(|&&j| j as usize != i).take(k) {
            let rank = order.partition_point(|&d| d < distances[j as usize]);
            penalty += (rank as f64 + 1.0 - k as f64).max(0.0);
        }
    }
    let (n, k) = (n as f64, k as f64);
    Ok(1.0 - penalty * 2.0 / (n * k * (2.0 * n - 3.0 * k - 1.0)))
}

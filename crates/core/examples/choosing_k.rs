//! Criteria for the number of neighbors, compared with known coordinates or labels.
//!
//! ```text
//! cargo run --release -p eigenfold --example choosing_k -- swiss-roll:2000:0.5:1 isomap
//! cargo run --release -p eigenfold --example choosing_k -- digits lle
//! cargo run --release -p eigenfold --example choosing_k -- data.csv meu
//! ```
//!
//! For every k: the connected components of the graph, the likelihood, the held-out likelihood, the (negative) reconstruction
//! error and the log density of left-out rows, and the trustworthiness. They are compared with the least R² of a true
//! coordinate on the map (samples), the share of points whose five nearest neighbors on the map vote for their label (labels),
//! or the GP likelihood of the map.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use eigenfold::{
    Disconnected, Error, GpLikelihood, Index, Likelihood, Method, Metric, Neighbors, Points, Recipe, Search, Silent,
    gp_likelihood::LengthRule,
    io,
    io::{Labels, ReadOptions},
    sample::Sample,
};
use faer::Mat;

const TRIED: [usize; 10] = [4, 5, 6, 8, 10, 12, 15, 20, 30, 50];
const CRITERIA: [&str; 5] = ["likelihood", "held-out", "-error", "density", "trust"];

enum Truth {
    Coordinates(Points),
    Labels(Vec<u32>),
    GpEvaluation,
}

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |at: usize, default: &'static str| args.get(at).map_or(default, |text| text.as_str());
    let (points, truth) = data(arg(0, "digits"))?;
    let mut rows = Vec::new();
    for k in TRIED.into_iter().filter(|&k| k < points.rows()) {
        let recipe = Recipe {
            method: Method::from_name(arg(1, "isomap"))?,
            neighbors: Neighbors::Nearest(k),
            likelihood: Likelihood::Always,
            ..Recipe::default()
        };
        let search = Search { neighbors: recipe.neighbors, disconnected: Disconnected::Separate, ..Search::default() };
        let components = search.of_points(&points, &Silent)?.sizes.len();
        let Ok(model) = recipe.fit(&points, &Silent) else { continue };
        let held_out = recipe.held_out(&points, &Silent).map_or(f64::NAN, |held| held.log_likelihood);
        let back = model.inverse_transform()?;
        let diagnostics = back.diagnostics();
        let criteria = [
            model.log_likelihood().unwrap_or(f64::NAN),
            held_out,
            -diagnostics.error.unwrap_or(f64::NAN),
            diagnostics.log_density.unwrap_or(f64::NAN),
            trust(&points, model.embedding(), 12)?,
        ];
        let value = evaluated(&points, model.embedding(), &truth)?;
        println!(
            "{:>3} {components:>3} {:>10.0} {:>10.0} {:>8.4} {:>8.3} {:>7.4} | {value:.4}",
            k, criteria[0], criteria[1], criteria[2], criteria[3], criteria[4]
        );
        rows.push((k, components, criteria, value));
    }
    let connected = rows.iter().any(|row| row.1 == 1);
    rows.retain(|row| row.1 == 1 || !connected);
    let best = rows.iter().map(|row| row.3).fold(f64::MIN, f64::max);
    print!("{} {}: best {best:.4}", arg(0, ""), arg(1, ""));
    for (at, name) in CRITERIA.iter().enumerate() {
        let value = |row: &(usize, usize, [f64; 5], f64)| if row.2[at].is_nan() { f64::MIN } else { row.2[at] };
        if let Some(row) = rows.iter().max_by(|a, b| value(a).total_cmp(&value(b))) {
            print!(", {name} k={} {:.4}", row.0, row.3);
        }
    }
    if let Some(row) = rows.iter().find(|row| row.0 == 10).or(rows.last()) {
        print!(", default k={} {:.4}", row.0, row.3);
    }
    println!();
    Ok(())
}

fn data(name: &str) -> Result<(Points, Truth), Error> {
    if let [sample, n, noise, seed] = name.split(':').collect::<Vec<_>>()[..] {
        let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
        let drawn = Sample::from_name(sample)?.draw(number(n) as usize, number(noise), number(seed) as u64)?;
        return Ok((drawn.points, Truth::Coordinates(drawn.truth)));
    }
    let table = io::read(name, &ReadOptions::default())?;
    let truth = match table.labels {
        Some(Labels::Classes { of, .. }) => Truth::Labels(of.into_iter().flatten().collect()),
        Some(Labels::Values(values)) => Truth::Labels(values.iter().map(|&v| v as u32).collect()),
        None => Truth::GpEvaluation,
    };
    Ok((table.points, truth))
}

fn evaluated(points: &Points, map: &Points, truth: &Truth) -> Result<f64, Error> {
    match truth {
        Truth::Coordinates(truth) => Ok(least_r2(truth, map)),
        Truth::Labels(of) => {
            let (near, _) = Index::new(map, Metric::Euclidean)?.nearest(map, 6)?;
            let right = |i: usize| {
                let list: Vec<u32> = near[6 * i..6 * i + 6].iter().copied().filter(|&j| j as usize != i).collect();
                let votes = |class: u32| list.iter().take(5).filter(|&&j| of[j as usize] == class).count();
                list.iter().map(|&j| of[j as usize]).max_by_key(|&class| votes(class)) == Some(of[i])
            };
            Ok((0..map.rows()).filter(|&i| right(i)).count() as f64 / map.rows() as f64)
        }
        Truth::GpEvaluation => Ok(GpLikelihood { lengths: LengthRule::Unit, ..GpLikelihood::default() }
            .of(points, map, &Silent)?
            .log_likelihood),
    }
}

/// The least R² of a true coordinate regressed on the map.
fn least_r2(truth: &Points, map: &Points) -> f64 {
    let centered = |points: &Points| {
        let mean = points.column_means();
        Mat::from_fn(points.rows(), points.cols(), |i, j| points.row(i)[j] - mean[j])
    };
    let (t, y) = (centered(truth), centered(map));
    let basis = y.qr().compute_thin_Q();
    let along = basis.transpose() * &t;
    let r2 = |j: usize| along.col(j).squared_norm_l2() / t.col(j).squared_norm_l2();
    (0..t.ncols()).map(r2).fold(1.0, f64::min)
}

/// Venna and Kaski's trustworthiness: how rarely the k nearest on the map are far in the data.
fn trust(points: &Points, map: &Points, k: usize) -> Result<f64, Error> {
    let n = points.rows();
    let (near, _) = Index::new(map, Metric::Euclidean)?.nearest(map, k + 1)?;
    let mut penalty = 0.0;
    for i in 0..n {
        let distance = |j: usize| Metric::Euclidean.distance(points.row(i), points.row(j));
        let mut order: Vec<f64> = (0..n).filter(|&j| j != i).map(distance).collect();
        order.sort_unstable_by(f64::total_cmp);
        for &j in near[(k + 1) * i..(k + 1) * (i + 1)].iter().filter(|&&j| j as usize != i).take(k) {
            let rank = order.partition_point(|&d| d < distance(j as usize));
            penalty += (rank as f64 + 1.0 - k as f64).max(0.0);
        }
    }
    let (n, k) = (n as f64, k as f64);
    Ok(1.0 - penalty * 2.0 / (n * k * (2.0 * n - 3.0 * k - 1.0)))
}

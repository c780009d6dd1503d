//! Whether the held-out log-likelihood is biased: the two tables of docs/internals/measured-likelihood.md.
//!
//! ```sh
//! cargo run --release -p eigenfold --example held_out_likelihood
//! ```
//!
//! **Noise.** 500 points of 10 independent normal features, ten seeds. The true density is known, and an unbiased estimate
//! exceeds it by sampling error alone. The table has the in-sample likelihood and the held-out log-likelihood, less the log of
//! the true density.
//!
//! **Known truth.** Features that are drawn one by one, so that any number of fresh ones can be drawn. The field comes from the
//! features that the held-out log-likelihood has seen, its signal and noise from 100 fresh features, and its density from
//! another 100. Methods are ranked by that density and by the held-out log-likelihood, and the ranks are compared. For the
//! digits, half of the pixels are kept as fresh features.

#![allow(clippy::print_stdout, reason = "an example shows its result")]

use eigenfold::{Likelihood, Method, Points, Recipe, Result, Silent, io, io::ReadOptions, sample::Sample};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const METHODS: [&str; 11] = [
    "pca",
    "kernel-pca",
    "isomap",
    "laplacian-eigenmaps",
    "diffusion-maps",
    "lle",
    "modified-lle",
    "hessian-lle",
    "ltsa",
    "alle",
    "meu",
];
const SEEDS: u64 = 10;
/// Fresh features to estimate signal and noise, and as many to test.
const FRESH: usize = 100;

fn recipe(name: &str) -> Result<Recipe> {
    Ok(Recipe { method: Method::from_name(name)?, likelihood: Likelihood::Always, ..Recipe::default() })
}

fn main() -> Result<()> {
    noise()?;
    truth()
}

/// Independent normal features.
fn noise() -> Result<()> {
    let (n, p) = (500, 10);
    println!(
        "| method | in-sample fit, mean | diagnostics, mean | diagnostics, lowest | diagnostics, highest | folds of noise alone |"
    );
    println!("|---|---|---|---|---|---|");
    let mut alone = Vec::new();
    for name in METHODS {
        let recipe = recipe(name)?;
        let (mut fits, mut found, mut useless) = (Vec::new(), Vec::new(), 0);
        alone.clear();
        for seed in 0..SEEDS {
            let points = normal(n, p, seed)?;
            let truth = standard_density(&points);
            let evaluated = recipe.held_out(&points, &Silent)?;
            found.push(evaluated.log_likelihood - truth);
            alone.push(evaluated.noise_alone - truth);
            useless += evaluated.only_noise;
            fits.extend(recipe.fit(&points, &Silent)?.log_likelihood().map(|fit| fit - truth));
        }
        let fit = fits.iter().sum::<f64>() / fits.len() as f64;
        println!("| {name} | {fit:+.0} | {} | {useless} of {} |", spread(&found), 5 * SEEDS);
    }
    println!("| noise alone | | {} | |", spread(&alone));
    println!();
    Ok(())
}

/// Mean, lowest and highest.
fn spread(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
    format!("{mean:+.1} | {low:+.1} | {high:+.1}")
}

/// The held-out log-likelihood in nats per number above noise alone, beside the density of fresh features.
fn truth() -> Result<()> {
    let sets: Vec<Set> =
        vec![plane(400)?, rolled(Sample::SwissRoll, 400)?, rolled(Sample::SCurve, 400)?, sheet(400)?, digits(500)?];
    let mut lines: Vec<String> = METHODS.iter().map(|name| format!("| {name} |")).collect();
    let mut ranks = Vec::new();
    for set in &sets {
        let (mut diagnostics, mut fresh) = (Vec::new(), Vec::new());
        for (name, line) in METHODS.iter().zip(&mut lines) {
            let recipe = recipe(name)?;
            let found = recipe.held_out(&set.seen, &Silent)?;
            let evaluated = recipe.evaluate_features(&set.seen, &set.tuned, &set.evaluated, &Silent)?;
            let (n, seen, left) = (set.seen.rows() as f64 - 1.0, set.seen.cols() as f64, set.evaluated.cols() as f64);
            diagnostics.push((found.log_likelihood - found.noise_alone) / (n * seen));
            fresh.push((evaluated.log_density - evaluated.noise_alone) / (n * left));
            let [a, b] = [&diagnostics, &fresh].map(|values| values[values.len() - 1]);
            line.push_str(&format!(" {a:.3} / {b:.3} |"));
        }
        ranks.push(spearman(&diagnostics, &fresh));
    }
    let names: Vec<&str> = sets.iter().map(|set| set.name).collect();
    println!("| method | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(sets.len()));
    lines.iter().for_each(|line| println!("{line}"));
    let ranks: Vec<String> = ranks.iter().map(|rank| format!("{rank:.2}")).collect();
    println!("| rank correlation | {} |", ranks.join(" | "));
    Ok(())
}

/// Features that the held-out log-likelihood sees, and fresh ones.
struct Set {
    name: &'static str,
    seen: Points,
    tuned: Points,
    evaluated: Points,
}

impl Set {
    /// Twelve features to see; the others are fresh.
    fn new(name: &'static str, n: usize, mut feature: impl FnMut() -> Vec<f64>) -> Result<Set> {
        let mut some = |count: usize| {
            let columns: Vec<Vec<f64>> = (0..count).map(|_| feature()).collect();
            Points::new(n, count, (0..n * count).map(|at| columns[at % count][at / count]).collect())
        };
        Ok(Set { name, seen: some(12)?, tuned: some(FRESH)?, evaluated: some(FRESH)? })
    }
}

/// Linear functions of two normal coordinates: what pca is made for.
fn plane(n: usize) -> Result<Set> {
    linear("a plane", &normal(n, 2, 1)?, 0.5)
}

/// Linear functions of the three coordinates of a Swiss roll.
fn rolled(sample: Sample, n: usize) -> Result<Set> {
    let drawn = sample.draw(n, 0.0, 1)?.points;
    linear(if sample == Sample::SwissRoll { "a roll" } else { "an S" }, &drawn, 0.1)
}

/// Random linear functions of coordinates of unit variance, with noise.
fn linear(name: &'static str, places: &Points, noise: f64) -> Result<Set> {
    let (n, d, mean) = (places.rows(), places.cols(), places.column_means());
    let spread: Vec<f64> =
        (0..d).map(|q| ((0..n).map(|i| (places.row(i)[q] - mean[q]).powi(2)).sum::<f64>() / n as f64).sqrt()).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    Set::new(name, n, || {
        let weights: Vec<f64> = (0..d).map(|_| StandardNormal.sample(&mut rng)).collect();
        let value = |i: usize| (0..d).map(|q| weights[q] * (places.row(i)[q] - mean[q]) / spread[q]).sum::<f64>();
        (0..n).map(|i| value(i) + noise * Distribution::<f64>::sample(&StandardNormal, &mut rng)).collect()
    })
}

/// Smooth random functions over a square: sums of 200 waves, which are draws from a field with a Gaussian covariance.
fn sheet(n: usize) -> Result<Set> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let places: Vec<[f64; 2]> = (0..n).map(|_| [rng.random(), rng.random()]).collect();
    Set::new("a field over a square", n, || {
        let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
        let waves: Vec<[f64; 3]> = (0..200).map(|_| [4.0 * draw(), 4.0 * draw(), 20.0 * draw()]).collect();
        let value = |y: &[f64; 2]| waves.iter().map(|w| (w[0] * y[0] + w[1] * y[1] + w[2]).cos()).sum::<f64>() / 10.0;
        places.iter().map(|y| value(y) + 0.2 * draw()).collect()
    })
}

/// Half of the pixels that vary, and the others.
fn digits(n: usize) -> Result<Set> {
    let digits = io::read("digits", &ReadOptions::default())?.points.select(&(0..n).collect::<Vec<_>>());
    let varies = |&f: &usize| (1..n).any(|i| digits.row(i)[f] != digits.row(0)[f]);
    let mut pixels: Vec<usize> = (0..digits.cols()).filter(varies).collect();
    pixels.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(4));
    let (seen, rest) = pixels.split_at(pixels.len() / 2);
    let (tuned, evaluated) = rest.split_at(rest.len() / 2);
    let [seen, tuned, evaluated] = [seen, tuned, evaluated].map(|which| digits.select_columns(which));
    Ok(Set { name: "digits", seen, tuned, evaluated })
}

fn normal(n: usize, p: usize, seed: u64) -> Result<Points> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    Points::new(n, p, (0..n * p).map(|_| StandardNormal.sample(&mut rng)).collect())
}

/// The log density of the centered columns under N(0, 1), on the n − 1 directions that are left.
fn standard_density(points: &Points) -> f64 {
    let (n, p, mean) = (points.rows(), points.cols(), points.column_means());
    let square: f64 = points.values().iter().enumerate().map(|(at, x)| (x - mean[at % p]).powi(2)).sum();
    -0.5 * (((n - 1) * p) as f64 * std::f64::consts::TAU.ln() + square)
}

/// The correlation of the ranks.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let below = |x: f64| values.iter().filter(|&&y| y < x).count() as f64;
        let same = |x: f64| values.iter().filter(|&&y| y == x).count() as f64;
        values.iter().map(|&x| below(x) + 0.5 * (same(x) - 1.0)).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

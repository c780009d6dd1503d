//! Data that are unlike any drawn by hand: heavy tails, columns of other scales, copies, lines, clusters too narrow for the digits.
use crate::support::*;
use eigenfold::{Error, Method, Neighbors, Points, Recipe, Silent};
use std::time::Instant;

/// Numbers of a linear congruential generator.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.uniform() * count as f64) as usize
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A set of up to `most` points of up to five features, of one of eight kinds.
fn hostile(seed: u64, most: usize) -> Points {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    dice.uniform();
    let (n, p) = (3 + dice.below(most - 2), 1 + dice.below(5));
    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..p).map(|_| dice.normal()).collect()).collect();
    match dice.below(8) {
        // Tails without a mean.
        0 => rows.iter_mut().flatten().for_each(|x| *x = x.signum() * x.abs().powf(-3.0).min(1e12)),
        1 => rows.iter_mut().flatten().for_each(|x| *x = (8.0 * *x).exp()),
        2 => {
            let powers: Vec<i32> = (0..p).map(|_| dice.below(40) as i32 - 20).collect();
            rows.iter_mut().for_each(|row| row.iter_mut().zip(&powers).for_each(|(x, p)| *x *= 10f64.powi(*p)));
        }
        3 => (0..n).for_each(|i| rows[i] = rows[i % (1 + n / 3)].clone()),
        // On a line, or within a few digits of it.
        4 => {
            let width = 10f64.powi(-(dice.below(18) as i32));
            let bent = |i: usize, row: &[f64]| row.iter().map(|x| i as f64 + width * x).collect();
            rows = rows.iter().enumerate().map(|(i, row)| bent(i, row)).collect();
        }
        // Clusters that are points but for the last digits.
        5 => {
            let width = 10f64.powi(-(dice.below(18) as i32));
            let near = |i: usize, row: &[f64]| row.iter().map(|x| (i % 3) as f64 + width * x).collect();
            rows = rows.iter().enumerate().map(|(i, row)| near(i, row)).collect();
        }
        // One point far off.
        6 => rows[n - 1].iter_mut().for_each(|x| *x = 10f64.powi(dice.below(16) as i32)),
        // Whole numbers, many of them equal.
        _ => rows.iter_mut().flatten().for_each(|x| *x = (2.0 * *x).round()),
    }
    if dice.below(4) == 0 {
        let power = 10f64.powi(dice.below(116) as i32 - 58);
        rows.iter_mut().flatten().for_each(|x| *x = (*x * power).clamp(-1e59, 1e59));
    }
    Points::from_rows(&rows).unwrap()
}

/// A fit gives a finite map whose `converged` follows from its residuals, or an error that says why.
fn survives(method: &Method, seed: u64, most: usize) {
    let points = hostile(seed, most);
    let n = points.rows();
    let neighbors = Neighbors::Nearest([2, 3, 6, 10][seed as usize % 4].min(n - 1));
    let recipe = Recipe { method: method.clone(), neighbors, dims: 1 + seed as usize % 2, ..Recipe::default() };
    let what = format!("{} of set {seed} ({n} points)", method.info().name);
    match recipe.fit(&points, &Silent) {
        Ok(model) => {
            assert!(model.embedding().values().iter().all(|y| y.is_finite()), "{what}");
            let report = model.report();
            let exact = report.coordinates.residuals.iter().take(report.dims).all(|&residual| residual <= SOLVED);
            assert!(exact || !report.ended.is_converged(), "{what}: {:?}", report.coordinates.residuals);
            assert!(report.ended.is_converged() || !report.warnings.is_empty(), "{what}");
            assert!(
                report.coordinates.eigenvalues.iter().all(|value| value.is_finite()),
                "{what}: {:?}",
                report.coordinates.eigenvalues
            );
        }
        Err(Error::Numerical { fact, .. }) => assert!(!fact.is_empty(), "{what}"),
        Err(error) => assert!(error.to_string().contains("; "), "{what}: {error}"),
    }
}

#[test]
fn no_method_breaks_on_hostile_data() {
    for method in methods() {
        (0..if method.info().name == "gplvm" { 4 } else { 16 }).for_each(|seed| survives(&method, seed, 16));
    }
}

/// As many sets as EIGENFOLD_TRIALS says, from EIGENFOLD_FIRST on, of up to 60 points; prints the slowest fits.
#[test]
#[ignore = "long; scripts/hostile.sh runs it"]
fn no_method_breaks_on_much_hostile_data() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, trials) = (number("EIGENFOLD_FIRST", 0), number("EIGENFOLD_TRIALS", 1000));
    let only = std::env::var("EIGENFOLD_METHOD").ok();
    let (mut slowest, mut failed) = (Vec::new(), Vec::new());
    for seed in first..first + trials {
        for method in methods().into_iter().filter(|method| only.as_ref().is_none_or(|name| name == method.info().name))
        {
            let start = Instant::now();
            let kept = std::panic::catch_unwind(|| survives(&method, seed, 60)).is_ok();
            let name = method.info().name;
            if !kept {
                failed.push((name, seed));
            }
            slowest.push((start.elapsed().as_secs_f64(), name, seed));
        }
    }
    slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
    eprintln!("{} fits; the slowest: {:?}", slowest.len(), &slowest[..slowest.len().min(10)]);
    assert!(failed.is_empty(), "{} of {}: {failed:?}", failed.len(), slowest.len());
}

//! Three inverse transforms, compared alike: the mean of the nearest neighbors, a local linear regression, and kriging.
//!
//! ```text
//! cargo run --release -p eigenfold --example inverse_transforms -- digits isomap 2
//! ```
//!
//! Every row is predicted from its nearest neighbors on the map. A rule gives weights, a variance relative to the variance of one
//! row, and the squared residuals of the neighbors themselves. The standard deviations of all rules are computed from these in
//! the same way (one scale per feature and embedding point). The number of neighbors of the first two rules is the best of a
//! list. The columns are the error relative to the standard deviation of the data, the shares of entries within one and two
//! standard deviations, and the mean log density.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use eigenfold::{Error, Index, Method, Metric, Points, Recipe, Silent, io};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// The prediction of one row by a rule.
struct Said {
    /// The weights of the neighbors' rows in the prediction.
    weights: Vec<f64>,
    /// The weights in the prediction of each neighbor.
    fits: Vec<Vec<f64>>,
    variance: f64,
    freedom: f64,
}

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |at: usize, default: &'static str| args.get(at).map_or(default, |text| text.as_str());
    let points = io::read(arg(0, "digits"), &io::ReadOptions::default())?.points;
    let dims = arg(2, "2").parse().unwrap_or(2);
    let model =
        Recipe { method: Method::from_name(arg(1, "isomap"))?, dims, ..Recipe::default() }.fit(&points, &Silent)?;
    let map = model.embedding();

    let sizes = [2, 3, 5, 8, 12, 20, 32];
    let of = |rule: fn(&Points, usize, &[u32]) -> Option<Said>| -> Result<(usize, [f64; 4]), Error> {
        let mut best = (0, [f64::NAN, 0.0, 0.0, f64::NEG_INFINITY]);
        for size in sizes.into_iter().filter(|&size| size < points.rows()) {
            let evaluated = evaluate(&points, map, size, rule)?;
            if evaluated[3] > best.1[3] {
                best = (size, evaluated);
            }
        }
        Ok(best)
    };
    let (k, nearest) = of(mean_of_nearest)?;
    show(&format!("mean of {k} nearest"), nearest);
    let (k, regression) = of(local_regression)?;
    show(&format!("linear regression of {k}"), regression);
    let inverse_transform = model.inverse_transform()?;
    let diagnostics = inverse_transform.diagnostics();
    let [one, two] = diagnostics.within.unwrap_or([f64::NAN; 2]);
    let error = diagnostics.error.unwrap_or(f64::NAN);
    show("eigenfold", [error, one, two, diagnostics.log_density.unwrap_or(f64::NAN)]);
    println!("{:?}", diagnostics.rule);
    Ok(())
}

fn show(name: &str, [error, one, two, density]: [f64; 4]) {
    println!("{name:24} error {error:.4}   within {one:.2} {two:.3}   log density {density:7.3}");
}

/// 1/k each.
fn mean_of_nearest(_: &Points, _: usize, near: &[u32]) -> Option<Said> {
    let k = near.len() as f64;
    let weights = vec![1.0 / k; near.len()];
    Some(Said { fits: vec![weights.clone(); near.len()], weights, variance: 1.0 + 1.0 / k, freedom: k - 1.0 })
}

/// The value at the embedding point of the plane through the neighbors, with a small ridge.
fn local_regression(map: &Points, row: usize, near: &[u32]) -> Option<Said> {
    let p = map.cols() + 1;
    let away = |a: u32| map.row(a as usize).iter().zip(map.row(row)).map(|(y, o)| y - o);
    let scale = near.iter().flat_map(|&a| away(a)).fold(f64::MIN_POSITIVE, |m: f64, d| m.max(d.abs()));
    let design: Vec<Vec<f64>> =
        near.iter().map(|&a| std::iter::once(1.0).chain(away(a).map(|d| d / scale)).collect()).collect();
    let mut gram = vec![0.0; p * p];
    for f in &design {
        (0..p * p).for_each(|at| gram[at] += f[at / p] * f[at % p]);
    }
    (1..p).for_each(|q| gram[q * p + q] += 1e-6 * near.len() as f64);
    if near.len() <= p {
        return None;
    }
    let at = |place: &[f64]| -> Option<Vec<f64>> {
        let solved = Mat::from_fn(p, p, |i, j| gram[i * p + j]).llt(Side::Lower).ok()?;
        let solved = solved.solve(Mat::from_fn(p, 1, |i, _| place[i]));
        let product = |f: &Vec<f64>| f.iter().enumerate().map(|(i, f)| f * solved[(i, 0)]).sum();
        Some(design.iter().map(product).collect())
    };
    let weights = at(&[&[1.0][..], &vec![0.0; p - 1]].concat())?;
    let fits = design.iter().map(|f| at(f)).collect::<Option<Vec<_>>>()?;
    let variance = 1.0 + weights.iter().map(|w| w * w).sum::<f64>();
    Some(Said { weights, fits, variance, freedom: (near.len() - p) as f64 })
}

/// Error, shares within one and two standard deviations, and log density of a rule.
fn evaluate(
    points: &Points,
    map: &Points,
    size: usize,
    rule: fn(&Points, usize, &[u32]) -> Option<Said>,
) -> Result<[f64; 4], Error> {
    let (n, p) = (points.rows(), points.cols());
    let (near, _) = Index::new(map, Metric::Euclidean)?.nearest(map, size + 1)?;
    let (mut residuals, mut said, mut rough) = (Vec::new(), Vec::new(), Vec::new());
    for (row, list) in near.chunks(size + 1).enumerate() {
        let list: Vec<u32> = list.iter().copied().filter(|&a| a as usize != row).take(size).collect();
        let Some(one) = rule(map, row, &list) else { return Ok([f64::NAN; 4]) };
        let sum = |weights: &[f64], j: usize| -> f64 {
            list.iter().zip(weights).map(|(&a, w)| w * points.row(a as usize)[j]).sum()
        };
        residuals.push((0..p).map(|j| points.row(row)[j] - sum(&one.weights, j)).collect::<Vec<f64>>());
        let off = |(&a, fit): (&u32, &Vec<f64>)| -> f64 {
            (0..p).map(|j| (points.row(a as usize)[j] - sum(fit, j)).powi(2)).sum()
        };
        rough.push(list.iter().zip(&one.fits).map(off).sum::<f64>());
        said.push(one);
    }
    let freedom: f64 = said.iter().map(|said| said.freedom).sum();
    let average = rough.iter().sum::<f64>() / freedom;
    let place = |i: usize| said[i].variance * (4.0 * average + rough[i]) / (4.0 + said[i].freedom);
    let means = points.column_means();
    let spread = |j: usize| (0..n).map(|i| (points.row(i)[j] - means[j]).powi(2)).sum::<f64>() / n as f64;
    let spread: Vec<f64> = (0..p).map(spread).collect();
    let own = |j: usize| (0..n).map(|i| residuals[i][j].powi(2) / place(i)).sum::<f64>();
    let own: Vec<f64> = (0..p).map(own).collect();
    let common = own.iter().sum::<f64>() / n as f64 / spread.iter().sum::<f64>();
    let (mut wrong, mut entries, mut sums) = (0.0, 0.0, [0.0; 3]);
    for (i, residual) in residuals.iter().enumerate() {
        for j in (0..p).filter(|&j| spread[j] > 1e-20) {
            let square = residual[j].powi(2);
            let variance = (own[j] + 20.0 * common * spread[j]) / (n as f64 + 20.0) * place(i);
            wrong += square;
            entries += 1.0;
            sums[0] += f64::from(u8::from(square <= variance));
            sums[1] += f64::from(u8::from(square <= 4.0 * variance));
            sums[2] -= 0.5 * ((std::f64::consts::TAU * variance / spread[j]).ln() + square / variance);
        }
    }
    let error = (wrong / n as f64 / spread.iter().sum::<f64>()).sqrt();
    Ok([error, sums[0] / entries, sums[1] / entries, sums[2] / entries])
}

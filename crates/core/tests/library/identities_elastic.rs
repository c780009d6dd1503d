//! Claims of Carreira-Perpinan's paper on elastic embedding (ICML 2010), named by their ids in docs/claims.md.

use crate::support::*;
use eigenfold::objective::{ElasticInit, Lambda, Pushes};
use eigenfold::{Elastic, Model, Neighbors, Points, Recipe};

fn fit(method: Elastic, neighbors: Neighbors, dims: usize, points: &Points) -> Model {
    Recipe { method: method.into(), neighbors, dims, ..Recipe::default() }.fit(points).unwrap()
}

fn figure(model: &Model, name: &str) -> f64 {
    model.report().figures.iter().find(|(other, _)| other == name).unwrap().1
}

fn elastic(bandwidth: f64, lambda: f64) -> Elastic {
    Elastic { bandwidth: Some(bandwidth), lambda: Lambda::Value(lambda), ..Elastic::default() }
}

/// The square of the widest distance on a map.
fn diameter(map: &Points) -> f64 {
    let square = |i: usize, j: usize| map.row(i).iter().zip(map.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    (0..map.rows()).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| square(i, j)).fold(0.0, f64::max)
}

#[test]
fn e01_two_points_part_by_the_root_of_the_logarithm() {
    let points = Points::from_rows(&[[0.0], [2.0]]).unwrap();
    // w+ = exp(-4/2), w- = 4.
    let critical = (-2f64).exp() / 4.0;
    for factor in [0.5, 2.0, 10.0, 1000.0] {
        let model = fit(elastic(1.0, factor * critical), Neighbors::Nearest(1), 1, &points);
        assert!((figure(&model, "critical_lambda") / critical - 1.0).abs() < 1e-12);
        let right = f64::max(0.0, f64::ln(factor));
        let found = diameter(model.embedding());
        assert!((found - right).abs() < 1e-3, "{factor}: {found} {right}");
    }
}

#[test]
fn e02_scaling_the_data_scales_lambda() {
    let points = swiss(200);
    let scaled = Points::new(200, 3, points.values().iter().map(|v| 10.0 * v).collect()).unwrap();
    let plain = fit(elastic(3.0, 1.0), Neighbors::Nearest(8), 2, &points);
    let other = fit(elastic(30.0, 0.01), Neighbors::Nearest(8), 2, &scaled);
    let (a, b) = (plain.report().objective.unwrap(), other.report().objective.unwrap());
    assert!((a / b - 1.0).abs() < 1e-7, "{a} {b}");
    assert!(distance_mismatch(plain.embedding(), other.embedding()) < 1e-3);
}

#[test]
fn e03_the_critical_lambda_is_within_its_bounds_and_the_map_leaves_the_origin_there() {
    let points = swiss(300);
    for repulsion in [Pushes::Squared, Pushes::One] {
        let of = |lambda: f64| {
            let method = Elastic { repulsion, init: ElasticInit::Random, ..elastic(5.0, lambda) };
            fit(method, Neighbors::Nearest(10), 2, &points)
        };
        let model = of(1.0);
        let names = ["critical_lambda_lower", "critical_lambda", "critical_lambda_upper"];
        let [lower, value, upper] = names.map(|name| figure(&model, name));
        assert!(lower <= value * (1.0 + 1e-9) && value <= upper * (1.0 + 1e-9), "{lower} {value} {upper}");
        assert!(diameter(of(0.8 * value).embedding()) < 1e-2);
        assert!(diameter(of(1.5 * value).embedding()) > 0.1);
    }
}

#[test]
fn e04_the_descent_converges_downhill_from_random_starts() {
    let points = swiss(150);
    for seed in 0..3 {
        let method = Elastic { init: ElasticInit::Random, ..elastic(5.0, 1.0) };
        let recipe = Recipe { method: method.into(), neighbors: Neighbors::Nearest(10), seed, ..Recipe::default() };
        let report = recipe.fit(&points).unwrap().report().clone();
        assert!(report.converged && report.curve.windows(2).all(|pair| pair[1].1 <= pair[0].1 * (1.0 + 1e-12)));
    }
}

/// The roll of 2000 points, k = 12, sigma = 15, lambda = 1: the minimum and the critical value that three other routes and a
/// dense solver gave.
#[test]
fn e06_the_roll_has_its_known_minimum_and_unrolls() {
    let points = swiss(2000);
    let model = fit(elastic(15.0, 1.0), Neighbors::Nearest(12), 2, &points);
    let report = model.report();
    assert!((report.objective.unwrap() - 51_867.393).abs() < 2e-3, "{:?}", report.objective);
    assert!((figure(&model, "critical_lambda") / 1.772_455_147_592e-8 - 1.0).abs() < 1e-9);
    let arc = |t: f64| 0.5 * (t * (1.0 + t * t).sqrt() + t.asinh());
    let row = |i: usize| [arc(points.row(i)[0].hypot(points.row(i)[2])), points.row(i)[1]];
    let truth = Points::from_rows(&(0..2000).map(row).collect::<Vec<_>>()).unwrap();
    assert!(affine_error(&truth, model.embedding()) < 0.01, "{}", affine_error(&truth, model.embedding()));
}

#[test]
fn e10_the_squared_scale_grows_like_the_logarithm_of_lambda() {
    let points = swiss(120);
    let scale =
        |lambda: f64| diameter(fit(elastic(15.0, lambda), Neighbors::Nearest(10), 2, &points).embedding()).sqrt();
    let sizes: Vec<f64> = [1e2, 1e3, 1e4, 1e5].map(scale).to_vec();
    // Equal steps of the logarithm add nearly equal squares: the second differences are small against the first.
    let squares: Vec<f64> = sizes.iter().map(|s| s * s).collect();
    let steps: Vec<f64> = squares.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| *step > 0.0), "{squares:?}");
    assert!((steps[2] / steps[1] - 1.0).abs() < 0.5, "{squares:?}");
}

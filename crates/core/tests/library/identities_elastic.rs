//! Claims of Carreira-Perpinan's paper on elastic embedding (ICML 2010), named by their ids in docs/internals/claims.md.

use crate::support::*;
use eigenfold::{Elastic, ElasticInit, Lambda, Model, Neighbors, Points, Recipe, Repulsion, Silent};

fn fit(method: Elastic, neighbors: Neighbors, dims: usize, points: &Points) -> Model {
    Recipe { method: method.into(), neighbors, dims, ..Recipe::default() }.fit(points, &Silent).unwrap()
}

fn figure(model: &Model, name: &str) -> f64 {
    model.report().figures.iter().find(|(other, _)| other.name() == name).unwrap().1
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

/// Powers of two change no digit, however far they go.
#[test]
fn e02_data_of_any_size_have_the_same_map() {
    for (points, powers) in [(swiss(120), [180, -180]), (cloud(90, 12, 4), [100, -100])] {
        let plain = fit(Elastic::default(), Neighbors::Nearest(8), 2, &points);
        assert!(plain.report().coordinates.objective.unwrap().is_finite());
        for power in powers {
            let scaled = points.values().iter().map(|x| x * 2f64.powi(power)).collect();
            let scaled = Points::new(points.rows(), points.cols(), scaled).unwrap();
            let model = fit(Elastic::default(), Neighbors::Nearest(8), 2, &scaled);
            same_shape(plain.embedding(), model.embedding(), power);
            let ratio = figure(&model, "critical_lambda") / figure(&plain, "critical_lambda");
            assert!((ratio * 4f64.powi(power) - 1.0).abs() < 1e-9, "{power}: {ratio}");
        }
    }
    let huge = Points::new(120, 3, swiss(120).values().iter().map(|x| x * 1e55).collect()).unwrap();
    let far = Elastic { lambda: Lambda::Path { from: None, to: 1e3, count: 5 }, ..Elastic::default() };
    let recipe = Recipe { method: far.into(), neighbors: Neighbors::Nearest(8), ..Recipe::default() };
    match recipe.fit(&huge, &Silent) {
        Ok(model) => assert!(model.report().coordinates.objective.unwrap().is_finite()),
        Err(error) => assert!(error.to_string().contains("too large or too small"), "{error}"),
    }
}

fn same_shape(a: &Points, b: &Points, power: i32) {
    let mismatch = distance_mismatch(a, b);
    assert!(mismatch < 1e-9, "2^{power}: {mismatch}");
}

#[test]
fn e02_scaling_the_data_scales_lambda() {
    let points = swiss(200);
    let scaled = Points::new(200, 3, points.values().iter().map(|v| 10.0 * v).collect()).unwrap();
    let plain = fit(elastic(3.0, 1.0), Neighbors::Nearest(8), 2, &points);
    let other = fit(elastic(30.0, 0.01), Neighbors::Nearest(8), 2, &scaled);
    let (a, b) = (plain.report().coordinates.objective.unwrap(), other.report().coordinates.objective.unwrap());
    assert!((a / b - 1.0).abs() < 1e-7, "{a} {b}");
    assert!(distance_mismatch(plain.embedding(), other.embedding()) < 1e-3);
}

#[test]
fn e03_the_critical_lambda_is_within_its_bounds_and_the_map_leaves_the_origin_there() {
    let points = swiss(300);
    for repulsion in [Repulsion::Squared, Repulsion::One] {
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
        let report = recipe.fit(&points, &Silent).unwrap().report().clone();
        assert!(
            report.ended.is_converged()
                && report.coordinates.curve.windows(2).all(|pair| pair[1].1 <= pair[0].1 * (1.0 + 1e-12))
        );
    }
}

/// One turn of the spiral r = θ to a radius of 0.93, 200 points at equal arc lengths.
fn spiral() -> Points {
    let tau = std::f64::consts::TAU;
    let arc = |t: f64| 0.5 * (t * (1.0 + t * t).sqrt() + t.asinh());
    let row = |i: usize| {
        let wanted = arc(tau) * i as f64 / 199.0;
        let (mut low, mut high) = (0.0, tau);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if arc(middle) < wanted { low = middle } else { high = middle }
        }
        let r = 0.93 * low / tau;
        [r * low.cos(), r * low.sin()]
    };
    Points::from_rows(&(0..200).map(row).collect::<Vec<_>>()).unwrap()
}

/// Only the order of the paper's interval for λ₁* is met: its spiral is not stated.
#[test]
fn e05_homotopy_unrolls_the_spiral_into_an_evenly_spaced_line() {
    let points = spiral();
    let method = Elastic {
        bandwidth: Some(0.05),
        lambda: Lambda::Path { from: Some(1e-2), to: 1e2, count: 40 },
        init: ElasticInit::Random,
        ..Elastic::default()
    };
    let recipe = Recipe {
        method: method.into(),
        neighbors: Neighbors::All,
        dims: 1,
        snapshots: 100,
        affinities: true,
        ..Recipe::default()
    };
    let model = recipe.fit(&points, &Silent).unwrap();
    for (name, known) in
        [("critical_lambda_lower", 3.861_740_754_573_8e-5), ("critical_lambda", 4.450_228_590_423_8e-5)]
    {
        let found = figure(&model, name);
        assert!((found / known - 1.0).abs() < 1e-6, "{name}: {found} {known}");
    }
    // The bound of (12) by eigenvalues alone is 1.198e-4; the quotient of the slowest vector is nearer.
    let upper = figure(&model, "critical_lambda_upper");
    assert!((4.45e-5..1.2e-4).contains(&upper), "{upper}");
    // The minimum that homotopy in two dimensions finds as well.
    assert!(
        (model.report().coordinates.objective.unwrap() - 1152.7907).abs() < 1e-3,
        "{:?}",
        model.report().coordinates.objective
    );
    assert_eq!(model.snapshots().len(), 40);
    assert!((model.snapshots()[0].lambda.unwrap() - 1e-2).abs() < 1e-12);
    let gaps = |map: &Points| -> Vec<f64> { (1..200).map(|i| map.row(i)[0] - map.row(i - 1)[0]).collect() };
    let last = gaps(model.embedding());
    assert!(last.iter().all(|gap| gap.signum() == last[0].signum()), "the order along the spiral is kept");
    // But for both ends.
    let inner: Vec<f64> = last[10..189].iter().map(|gap| gap.abs()).collect();
    let mean = inner.iter().sum::<f64>() / inner.len() as f64;
    let widest = inner.iter().map(|gap| (gap / mean - 1.0).abs()).fold(0.0, f64::max);
    assert!(widest < 0.1, "{widest}");
}

/// The learned affinities of a point in the middle of the spiral, by how many points away, both ways.
fn profile(model: &Model) -> Vec<f64> {
    let mut sums = vec![0.0; 60];
    for weight in model.weights().unwrap() {
        let away = weight.j.abs_diff(weight.i) as usize;
        if (weight.i == 100 || weight.j == 100) && away < sums.len() {
            sums[away] += weight.weight;
        }
    }
    sums
}

#[test]
fn e07_learned_affinities_turn_from_a_bell_to_a_mexican_hat() {
    let of = |lambda: Lambda| {
        let recipe = Recipe {
            method: Elastic { lambda, ..elastic(0.05, 1.0) }.into(),
            neighbors: Neighbors::All,
            dims: 1,
            affinities: true,
            ..Recipe::default()
        };
        recipe.fit(&spiral(), &Silent).unwrap()
    };
    let bell = profile(&of(Lambda::Value(1e-6)));
    assert!(bell[1..13].iter().all(|w| *w > 0.0), "{bell:?}");
    let path = |to: f64| Lambda::Path { from: Some(1e-2), to, count: 20 };
    let (little, model) = (profile(&of(path(1.0))), of(path(100.0)));
    let hat = profile(&model);
    let lowest = hat[1..].iter().copied().fold(0.0, f64::min);
    let at = hat.iter().position(|w| *w == lowest).unwrap();
    assert!(hat[1] > 0.0 && at > 2 && hat[50..].iter().all(|w| w.abs() < 1e-2 * hat[1]), "{hat:?}");
    // The lobes grow with lambda.
    assert!(lowest < 2.0 * little.iter().copied().fold(0.0, f64::min) && lowest < -0.02 * hat[1], "{little:?} {hat:?}");
    // At a minimum the map is in the null space of their Laplacian (section 4).
    let mut pulls = vec![0.0; 200];
    let map = model.embedding();
    for weight in model.weights().unwrap() {
        let pull = weight.weight * (map.row(weight.i as usize)[0] - map.row(weight.j as usize)[0]);
        (pulls[weight.i as usize], pulls[weight.j as usize]) =
            (pulls[weight.i as usize] + pull, pulls[weight.j as usize] - pull);
    }
    let (off, all) = (pulls.iter().map(|p| p * p).sum::<f64>().sqrt(), hat[1] * diameter(map).sqrt());
    assert!(off < 1e-2 * all, "{off} {all}");
}

/// The roll of 2000 points, k = 12, sigma = 15, lambda = 1: the minimum and the critical value that three other routes and a
/// dense solver gave.
#[test]
fn e06_the_roll_has_its_known_minimum_and_unrolls() {
    let points = swiss(2000);
    let model = fit(elastic(15.0, 1.0), Neighbors::Nearest(12), 2, &points);
    let report = model.report();
    assert!((report.coordinates.objective.unwrap() - 51_867.393).abs() < 2e-3, "{:?}", report.coordinates.objective);
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

//! The unit of the data, constant columns and duplicate points must not change a result.
use crate::support::*;
use eigenfold::{
    Dimension, Distances, Graph, Likelihood, Method, Metric, Model, Neighbors, Points, Recipe, Silent,
    gp_likelihood::GpLikelihood,
    missing::{complete, complete_distances},
};

/// x · 2^power in two steps, since one factor may be beyond the range.
fn times(x: f64, power: i32) -> f64 {
    x * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)
}

fn scaled(points: &Points, power: i32) -> Points {
    let values = points.values().iter().map(|&x| times(x, power)).collect();
    Points::new(points.rows(), points.cols(), values).unwrap()
}

/// The powers of the unit of length in the results of a method: data c times as large have results c to this power times
/// as large.
#[derive(Clone, Copy, Default)]
struct LengthRule {
    map: i32,
    eigenvalues: i32,
    /// Of the covariance K of the field, where that is not the square of the coordinates'.
    field: i32,
    /// Whether the objective is a negative log density per cell of the data.
    density: bool,
    weights: i32,
}

const COVARIANCE: LengthRule = LengthRule { map: 1, eigenvalues: 2, field: 2, density: false, weights: 0 };

fn lengths(method: &Method) -> LengthRule {
    match method.info().name {
        "pca" | "mds" | "isomap" | "mvu" | "smacof" | "sammon" => COVARIANCE,
        "meu" => LengthRule { eigenvalues: -2, weights: -2, ..COVARIANCE },
        "drill" => LengthRule { weights: -2, ..COVARIANCE },
        "alle" => LengthRule { eigenvalues: -2, field: 2, ..LengthRule::default() },
        "ppca" | "fa" => LengthRule { eigenvalues: 2, density: true, ..LengthRule::default() },
        "gplvm" => LengthRule { density: true, ..LengthRule::default() },
        _ => LengthRule::default(),
    }
}

/// The objective of raw stress is a sum of squares.
fn objective_length(model: &Model) -> i32 {
    if model.report().method == "smacof" { 2 } else { 0 }
}

/// Whether a model is that of the same data in a unit 2^power times as small, byte for byte.
fn same_in_another_unit(plain: &Model, there: &Model, lengths: LengthRule, power: i32, what: &str) {
    assert_eq!(&scaled(plain.embedding(), power * lengths.map), there.embedding(), "{what}");
    let (a, b) = (plain.report(), there.report());
    let eigenvalues: Vec<f64> =
        a.coordinates.eigenvalues.iter().map(|&x| times(x, power * lengths.eigenvalues)).collect();
    assert_eq!(eigenvalues, b.coordinates.eigenvalues, "{what}");
    assert_eq!(
        (&a.coordinates.residuals, a.ended, a.coordinates.iterations),
        (&b.coordinates.residuals, b.ended, b.coordinates.iterations),
        "{what}"
    );
    assert_eq!(a.warnings, b.warnings, "{what}");
    let shift = f64::from(power) * std::f64::consts::LN_2;
    match a.coordinates.objective.zip(b.coordinates.objective) {
        Some((a, b)) if lengths.density => assert!((a + shift - b).abs() < 1e-9, "{what}: {a} {b}"),
        Some((a, b)) => assert_eq!(times(a, power * objective_length(plain)), b, "{what}"),
        None => assert_eq!(a.coordinates.objective, b.coordinates.objective, "{what}"),
    }
    if let Some((a, b)) = a.likelihood.zip(b.likelihood) {
        let moved = a.log_likelihood - (a.directions * a.features) as f64 * shift;
        assert!((moved - b.log_likelihood).abs() < 1e-9 * moved.abs().max(1e3), "{what}: {moved} {}", b.log_likelihood);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs();
        assert!(near(times(a.noise, 2 * power), b.noise), "{what}: {a:?} {b:?}");
        assert!(near(times(a.signal, power * (2 - lengths.field)), b.signal), "{what}: {a:?} {b:?}");
    }
}

/// Data from 1e-60 to 1e60 are computed with, about 2^-199 to 2^199.
#[test]
fn a_power_of_two_changes_no_digit_of_any_map() {
    let (points, fresh) = (swiss(32), rotated(&swiss(9)));
    for (at, method) in methods().into_iter().enumerate() {
        let (name, lengths) = (method.info().name, lengths(&method));
        let plain = fitted(&method, 32);
        let plain = plain.wait();
        let (placed, back) = (plain.transform(&fresh).unwrap(), plain.reconstruct(&placed_of(plain)).unwrap());
        for power in [if at % 2 == 0 { -190 } else { 190 }, if at % 2 == 0 { 40 } else { -40 }] {
            let there =
                Recipe { method: method.clone(), ..Recipe::default() }.fit(&scaled(&points, power), &Silent).unwrap();
            let what = format!("{name} times 2^{power}");
            same_in_another_unit(plain, &there, lengths, power, &what);
            let placed_there = there.transform(&scaled(&fresh, power)).unwrap();
            assert_eq!(scaled(&placed, power * lengths.map), placed_there, "{what}");
            let places = scaled(&placed_of(plain), power * lengths.map);
            let back_there = there.reconstruct(&places).unwrap();
            assert_eq!(scaled(&back.points, power), back_there.points, "{what}");
            assert_eq!(scaled(&back.margins, power), back_there.margins, "{what}");
        }
    }
}

/// Beyond the range there is an error that states it, for points, distances and graphs alike.
#[test]
fn numbers_beyond_the_range_are_refused() {
    let points = swiss(32);
    for method in methods() {
        let recipe = Recipe { method, ..Recipe::default() };
        let name = recipe.method.info().name;
        let error = recipe.fit(&scaled(&points, -220), &Silent).unwrap_err().to_string();
        assert!(error.contains("data must be between 1e-60 and 1e60; multiply them by a constant"), "{name}: {error}");
    }
    let error = Points::new(1, 1, vec![2e60]).unwrap_err().to_string();
    assert_eq!(error, "row 1, column 1 is 2e60, beyond 1e60; rescale the column or leave it out");
    let recipe = Recipe { method: Method::from_name("isomap").unwrap(), ..Recipe::default() };
    let few = Distances::new(scaled(&distances(&points), -220)).unwrap();
    assert!(recipe.fit(&few, &Silent).unwrap_err().to_string().contains("data must be between"));
    for length in [1e-70, 1e70] {
        let ring = |i: u32| vec![((i + 1) % 9, length), ((i + 8) % 9, length)];
        let graph = Graph::from_lists((0..9).map(ring).collect()).unwrap();
        assert!(recipe.fit(&graph, &Silent).unwrap_err().to_string().contains("data must be between"), "{length:e}");
    }
}

/// Some embedding points between the points of a map.
fn placed_of(model: &Model) -> Points {
    let map = model.embedding();
    let middle = |i: usize| map.row(i).iter().zip(map.row(i + 10)).map(|(a, b)| 0.5 * (a + b)).collect::<Vec<f64>>();
    Points::from_rows(&[middle(3), middle(20), map.row(7).to_vec()]).unwrap()
}

#[test]
fn parameters_distances_and_saved_models_follow_the_unit() {
    let points = swiss(80);
    let power = -180;
    let given = |method: &str, set: &[(&str, f64, i32)], power: i32| {
        let mut method = Method::from_name(method).unwrap();
        for &(name, value, length) in set {
            method.set(name, &times(value, power * length).to_string()).unwrap();
        }
        method
    };
    for (name, set) in [
        ("le", vec![("bandwidth", 2.5, 1)]),
        ("dm", vec![("bandwidth", 2.5, 1)]),
        ("kpca", vec![("bandwidth", 7.0, 1)]),
        ("meu", vec![("noise", 0.01, 2)]),
        ("drill", vec![("penalty", 0.5, 2)]),
        ("elastic", vec![("bandwidth", 3.0, 1), ("lambda", 0.02, -2)]),
    ] {
        let likelihood = Likelihood::Never;
        let recipe = |power| Recipe { method: given(name, &set, power), likelihood, ..Recipe::default() };
        let (plain, there) =
            (recipe(0).fit(&points, &Silent).unwrap(), recipe(power).fit(&scaled(&points, power), &Silent).unwrap());
        let lengths = lengths(&recipe(0).method);
        same_in_another_unit(&plain, &there, lengths, power, name);
        for (a, b) in plain.weights().unwrap_or_default().iter().zip(there.weights().unwrap_or_default()) {
            assert_eq!((times(a.distance, power), times(a.weight, power * lengths.weights)), (b.distance, b.weight));
        }
        // Requested and used parameters are reported in the unit of the data.
        for p in there.report().parameters.iter().filter(|p| set.iter().any(|s| s.0 == p.name)) {
            let [requested, used] = [&p.requested, &p.used].map(|text| text.parse::<f64>().unwrap());
            assert!((used / requested - 1.0).abs() < 1e-4, "{name}: {p:?}");
        }
        let loaded = Model::from_bytes(&there.to_bytes().unwrap()).unwrap();
        let fresh = scaled(&rotated(&points), power);
        assert_eq!(loaded.transform(&fresh).unwrap(), there.transform(&fresh).unwrap(), "{name}");
    }
    let radius = |power| Recipe {
        neighbors: Neighbors::Within(times(6.0, power)),
        method: Method::from_name("isomap").unwrap(),
        ..Recipe::default()
    };
    let (plain, there) =
        (radius(0).fit(&points, &Silent).unwrap(), radius(power).fit(&scaled(&points, power), &Silent).unwrap());
    same_in_another_unit(&plain, &there, COVARIANCE, power, "a radius");
    for name in ["mds", "isomap", "lle", "mvu", "smacof", "tsne"] {
        let recipe = Recipe { method: Method::from_name(name).unwrap(), ..Recipe::default() };
        let at = |power| recipe.fit(&Distances::new(scaled(&distances(&points), power)).unwrap(), &Silent).unwrap();
        same_in_another_unit(&at(0), &at(190), lengths(&recipe.method), 190, name);
    }
    let held_out = |power| Recipe::default().held_out(&scaled(&wide(), power), &Silent).unwrap();
    let (a, b) = (held_out(0), held_out(-190));
    let shift = 190.0 * std::f64::consts::LN_2 * (39 * 6) as f64;
    assert!((a.log_likelihood + shift - b.log_likelihood).abs() < 1e-6, "{a:?} {b:?}");
}

#[test]
fn dimensions_and_scores_follow_the_unit() {
    let points = wide();
    let map = Recipe { method: Method::from_name("pca").unwrap(), ..Recipe::default() }.fit(&points, &Silent).unwrap();
    let dimension = |power| Dimension::default().of(&scaled(&points, power), &Silent).unwrap();
    let score = |power| GpLikelihood::default().of(&scaled(&points, power), map.embedding(), &Silent).unwrap();
    let (plain, scored) = (dimension(0), score(0));
    for power in [-190, 190] {
        let there = dimension(power);
        assert_eq!((&plain.estimates, &plain.left_out), (&there.estimates, &there.left_out), "2^{power}");
        assert_eq!((&plain.recommended, &plain.warnings), (&there.recommended, &there.warnings), "2^{power}");
        let there = score(power);
        let moved = scored.log_likelihood - f64::from(power) * std::f64::consts::LN_2 * (40 * 6) as f64;
        assert!((moved / there.log_likelihood - 1.0).abs() < EXACT, "2^{power}: {scored:?} {there:?}");
        assert_eq!(scored.by_coordinate, there.by_coordinate, "2^{power}");
        assert_eq!(times(scored.parameters.noise, 2 * power), there.parameters.noise, "2^{power}");
    }
}

/// Guesses of missing cells, linear kernels and angles.
#[test]
fn guesses_and_inner_products_follow_the_unit() {
    let cells = |power| {
        let value = |(at, &x): (usize, &f64)| if at % 7 == 3 { f64::NAN } else { times(x, power) };
        Points::with_missing(40, 6, wide().values().iter().enumerate().map(value).collect()).unwrap()
    };
    let table = |power| {
        let mut values: Vec<f64> = distances(&wide()).values().iter().map(|&d| times(d, power)).collect();
        (0..30).for_each(|i| (values[i * 40 + i + 9], values[(i + 9) * 40 + i]) = (f64::NAN, f64::NAN));
        Points::with_missing(40, 40, values).unwrap()
    };
    let recipe = |name: &str, metric| {
        let mut method = Method::from_name(name).unwrap();
        if metric == Metric::Euclidean {
            method.set("kernel", "linear").unwrap();
        }
        Recipe { method, metric, ..Recipe::default() }
    };
    for power in [-190, 190] {
        let (plain, there) = (complete(&cells(0), &Silent).unwrap(), complete(&cells(power), &Silent).unwrap());
        assert_eq!(scaled(&plain, power).values(), there.values(), "2^{power}");
        let guessed = |power| complete_distances(&table(power), &Silent).unwrap();
        assert_eq!(scaled(guessed(0).matrix(), power).values(), guessed(power).matrix().values(), "2^{power}");
        for (name, metric, length) in [
            ("ppco", Metric::Euclidean, 1),
            ("pkpca", Metric::Euclidean, 1),
            ("kernel-pca", Metric::Euclidean, 1),
            ("mds", Metric::Cosine, 0),
            ("isomap", Metric::Cosine, 0),
        ] {
            let of = |power| recipe(name, metric).fit(&scaled(&wide(), power), &Silent).unwrap();
            assert_eq!(&scaled(of(0).embedding(), power * length), of(power).embedding(), "{name} times 2^{power}");
        }
    }
}

/// Six features that go together.
fn wide() -> Points {
    let row = |i: usize| (0..6).map(|f| ((i * (f + 1)) as f64 * 0.37).sin() + 0.1 * f as f64).collect::<Vec<f64>>();
    Points::from_rows(&(0..40).map(row).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_constant_column_changes_no_map() {
    let points = swiss(180);
    let rows: Vec<Vec<f64>> = (0..180).map(|i| [points.row(i), &[7.0]].concat()).collect();
    let more = Points::from_rows(&rows).unwrap();
    for method in methods() {
        let name = method.info().name;
        // One more feature without variance is less noise for the models with noise in every feature, and none for that of
        // a feature; sums of squares in another order lead optimizations to another of many minima.
        if ["ppca", "fa", "gplvm", "elastic", "sne", "symmetric-sne", "tsne", "umap"].contains(&name) {
            continue;
        }
        let plain = fitted(&method, 180);
        let there = Recipe { method, ..Recipe::default() }.fit(&more, &Silent).unwrap();
        let mismatch = distance_mismatch(plain.wait().embedding(), there.embedding());
        assert!(mismatch < 1e-6, "{name}: {mismatch}");
    }
}

#[test]
fn points_at_one_place_have_one_place_on_the_map() {
    let base = swiss(60);
    let order: Vec<usize> = (0..80).map(|i| i % 60).collect();
    let points = base.select(&order);
    for name in ["pca", "mds", "kernel-pca", "ppca", "fa", "ppco", "pkpca", "isomap", "mvu", "smacof"] {
        let recipe = Recipe { method: Method::from_name(name).unwrap(), ..Recipe::default() };
        let model = recipe.fit(&points, &Silent).unwrap();
        let scale = model.embedding().values().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for i in 0..20 {
            let (a, b) = (model.embedding().row(i), model.embedding().row(60 + i));
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4 * scale), "{name}: {a:?} {b:?}");
        }
    }
}

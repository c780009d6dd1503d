//! Metric stress: its minimum, against plain majorization, exact distances and classical scaling.
use crate::support::*;
use eigenfold::{
    Disconnected, Distances, Graph, Mds, Neighbors, Observer, Points, Recipe, Sammon, Silent, Smacof, Stage,
    StressDistances, StressInit, StressVariant, StressWeight,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Σ_{i<j} (δ − d)² by the definition.
fn stress(wanted: &Points, map: &Points) -> f64 {
    let own = distances(map);
    let n = map.rows();
    let off = |(i, j): (usize, usize)| (wanted.row(i)[j] - own.row(i)[j]).powi(2);
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(off).sum()
}

/// de Leeuw's majorization, one step: every point to the mean of where the others want it.
fn majorized(wanted: &Points, y: &Points) -> Points {
    let (n, own) = (y.rows(), distances(y));
    let place = |i: usize, q: usize| {
        let others = (0..n).filter(|&j| j != i);
        let wish = |j: usize| {
            let ratio = if own.row(i)[j] > 0.0 { wanted.row(i)[j] / own.row(i)[j] } else { 0.0 };
            y.row(j)[q] + ratio * (y.row(i)[q] - y.row(j)[q])
        };
        (others.map(wish).sum::<f64>() + y.row(i)[q]) / n as f64
    };
    Points::new(n, y.cols(), (0..n * y.cols()).map(|at| place(at / y.cols(), at % y.cols())).collect()).unwrap()
}

#[test]
fn the_descent_ends_where_majorization_ends() {
    for (points, dims) in [(swiss(60), 2), (cloud(50, 6, 3), 2), (cloud(40, 5, 8), 3)] {
        let wanted = distances(&points);
        let recipe = Recipe { method: Mds::default().into(), dims, ..Recipe::default() };
        let mut slow = recipe.fit(&points, &Silent).unwrap().embedding().clone();
        for _ in 0..3000 {
            slow = majorized(&wanted, &slow);
        }
        let method = Smacof { tolerance: 1e-12, ..Smacof::default() };
        let model = Recipe { method: method.into(), dims, ..Recipe::default() }.fit(&points, &Silent).unwrap();
        let (ours, theirs) = (model.report().coordinates.objective.unwrap(), stress(&wanted, &slow));
        assert!((ours / stress(&wanted, model.embedding()) - 1.0).abs() < SOLVED, "the report says what the map has");
        assert!((ours / theirs - 1.0).abs() < 1e-5, "{ours} {theirs}");
        assert!(distance_mismatch(model.embedding(), &slow) < 1e-2);
        assert!(
            model.report().ended.is_converged() && model.report().coordinates.iterations < 300,
            "{:?}",
            model.report()
        );
    }
}

#[test]
fn distances_of_a_plane_are_met_exactly_from_any_start() {
    let points = cloud(80, 2, 5);
    for init in [StressInit::Scaling, StressInit::Random] {
        let method = Smacof { init, tolerance: 1e-14, ..Smacof::default() };
        let model = Recipe { method: method.into(), ..Recipe::default() }.fit(&points, &Silent).unwrap();
        let relative = model.report().coordinates.objective.unwrap() / stress(&distances(&points), &cloud(80, 2, 6));
        assert!(relative < 1e-8, "{init:?}: {relative}");
        assert!(distance_mismatch(model.embedding(), &points) < FITTED, "{init:?}");
    }
}

#[test]
fn stress_is_never_above_that_of_its_start() {
    for points in [swiss(150), cloud(120, 8, 1)] {
        let wanted = distances(&points);
        let scaled = fit(Mds::default(), &points);
        let ours = fit(Smacof::default(), &points);
        assert!(stress(&wanted, ours.embedding()) < stress(&wanted, scaled.embedding()));
    }
}

#[test]
fn points_and_their_distances_have_one_map_and_new_points_find_their_places() {
    let points = cloud(90, 3, 2);
    let (a, square) = (fit(Smacof::default(), &points), Distances::new(distances(&points)).unwrap());
    let b = Recipe { method: Smacof::default().into(), ..Recipe::default() }.fit(&square, &Silent).unwrap();
    assert!(distance_mismatch(a.embedding(), b.embedding()) < FITTED);
    // A point of the plane that is embedded by its distances to the others keeps its coordinates.
    let plane = cloud(60, 2, 9);
    let model = Recipe { method: Smacof { tolerance: 1e-15, ..Smacof::default() }.into(), ..Recipe::default() };
    let model = model.fit(&plane, &Silent).unwrap();
    let new = cloud(5, 2, 77);
    let placed = model.transform(&new).unwrap();
    for i in 0..5 {
        for j in 0..60 {
            let (wanted, own) = ((new.row(i), plane.row(j)), (placed.row(i), model.embedding().row(j)));
            let distance = |(a, b): (&[f64], &[f64])| eigenfold::Metric::Euclidean.distance(a, b);
            assert!((distance(wanted) - distance(own)).abs() < 1e-4, "{i} {j}");
        }
    }
}

/// A graph in two rings: each is drawn on its own, and every ring is round.
#[test]
fn the_components_of_a_graph_are_drawn_one_by_one() {
    let ring = |first: u32, n: u32| (0..n).map(move |i| vec![(first + (i + 1) % n, 1.0)]);
    let graph = Graph::from_lists(ring(0, 12).chain(ring(12, 9)).collect()).unwrap();
    let recipe = Recipe { method: Smacof::default().into(), disconnected: Disconnected::Separate, ..Recipe::default() };
    let model = recipe.fit(&graph, &Silent).unwrap();
    assert_eq!(model.report().graph.components, [12, 9]);
    for rows in [0..12, 12..21] {
        let component = model.embedding().select(&rows.collect::<Vec<_>>());
        let mean = component.column_means();
        let radius = |i: usize| eigenfold::Metric::Euclidean.distance(component.row(i), &mean);
        let all: Vec<f64> = (0..component.rows()).map(radius).collect();
        let (low, high) = all.iter().fold((f64::MAX, 0.0f64), |(low, high), r| (low.min(*r), high.max(*r)));
        assert!(high / low < 1.001, "{low} {high}");
    }
    let direct = Smacof { distances: Some(StressDistances::Direct), ..Smacof::default() };
    let error = Recipe { method: direct.into(), ..recipe }.fit(&graph, &Silent).unwrap_err().to_string();
    assert!(error.contains("along its edges only"), "{error}");
}

#[test]
fn distances_along_the_graph_unroll_the_roll() {
    let method = Smacof { distances: Some(StressDistances::Geodesic), ..Smacof::default() };
    let recipe = Recipe { method: method.into(), neighbors: Neighbors::Nearest(8), ..Recipe::default() };
    let points = swiss(1000);
    let model = recipe.fit(&points, &Silent).unwrap();
    let truth = {
        let g = 1.324_717_957_244_746_f64;
        let at = |i: usize| ((0.5 + i as f64 / g).fract(), (0.5 + i as f64 / (g * g)).fract());
        // The length along the spiral r = t: ½ (t √(1 + t²) + asinh t).
        let along = |u: f64| {
            let t = 1.5 * std::f64::consts::PI * (1.0 + 2.0 * u);
            0.5 * (t * (1.0 + t * t).sqrt() + t.asinh())
        };
        Points::from_rows(&(1..=1000).map(|i| [along(at(i).0), 21.0 * at(i).1]).collect::<Vec<_>>()).unwrap()
    };
    assert!(affine_error(&truth, model.embedding()) < 0.01);
    let placed = model.transform(&points).unwrap();
    assert_eq!(placed.values(), model.embedding().values());
}

/// Asks to stop after some questions.
struct Impatient(AtomicUsize);

impl Observer for Impatient {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn progress(&self, _stage: Stage, _fraction: f64) {}

    fn stop(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) > 25
    }
}

#[test]
fn a_stop_gives_the_best_map_so_far() {
    let points = cloud(150, 10, 4);
    let recipe = Recipe { method: Smacof { tolerance: 1e-10, ..Smacof::default() }.into(), ..Recipe::default() };
    let whole = recipe.fit(&points, &Silent).unwrap();
    let stopped = recipe.fit(&points, &Impatient(AtomicUsize::new(0))).unwrap();
    assert!(whole.report().ended.is_converged() && !stopped.report().ended.is_converged());
    assert!(
        stopped.report().warnings.iter().any(|w| w.message().contains("stopped")),
        "{:?}",
        stopped.report().warnings
    );
    let start = stress(&distances(&points), fit(Mds::default(), &points).embedding());
    let (end, here) = (whole.report().coordinates.objective.unwrap(), stopped.report().coordinates.objective.unwrap());
    assert!(end < here && here < start, "{end} {here} {start}");
}

/// tests/scripts/stress.py.
#[test]
fn stress_is_what_scikit_learns_majorization_reaches() {
    let iris = eigenfold::io::read("iris", &eigenfold::io::ReadOptions::default()).unwrap().points;
    for (points, known) in [(iris, 109.38631637882476), (swiss(200), 230821.12068645138)] {
        let method = Smacof { tolerance: 1e-12, ..Smacof::default() };
        let ours = fit(method, &points).report().coordinates.objective.unwrap();
        assert!((ours / known - 1.0).abs() < 1e-8, "{ours} {known}");
    }
}

/// Σ_{i<j} (δ − d)²/δ / Σ_{i<j} δ by the definition.
fn sammons(wanted: &Points, map: &Points) -> f64 {
    let (own, n) = (distances(map), map.rows());
    let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| wanted.row(i)[j] > 0.0);
    let off = |(i, j): (usize, usize)| (wanted.row(i)[j] - own.row(i)[j]).powi(2) / wanted.row(i)[j];
    pairs().map(off).sum::<f64>() / pairs().map(|(i, j)| wanted.row(i)[j]).sum::<f64>()
}

#[test]
fn sammons_stress_is_his_and_is_least_where_the_map_ends() {
    for points in [swiss(120), cloud(100, 6, 3)] {
        let model = fit(Sammon { tolerance: 1e-12, ..Sammon::default() }, &points);
        let (wanted, ours) = (distances(&points), model.report().coordinates.objective.unwrap());
        let by_hand = sammons(&wanted, model.embedding());
        assert!((ours / by_hand - 1.0).abs() < SOLVED, "{ours} {by_hand}");
        let figure = model.report().figures.iter().find(|(name, _)| name.name() == "normalized_stress").unwrap().1;
        assert!((figure * figure / ours - 1.0).abs() < SOLVED);
        // No map next to it is better, and neither is the one of plain stress.
        assert!(sammons(&wanted, fit(Smacof::default(), &points).embedding()) > ours);
        for seed in 0..5 {
            let nudge = cloud(points.rows(), 2, seed);
            let moved = model.embedding().values().iter().zip(nudge.values()).map(|(y, e)| y + 1e-3 * e).collect();
            assert!(sammons(&wanted, &Points::new(points.rows(), 2, moved).unwrap()) > ours);
        }
    }
}

#[test]
fn weighted_distances_of_a_plane_are_met_too() {
    let points = cloud(70, 2, 5);
    for weight in [StressWeight::Inverse, StressWeight::InverseSquare] {
        let method = Smacof { weight, tolerance: 1e-14, ..Smacof::default() };
        let model = fit(method, &points);
        assert!(distance_mismatch(model.embedding(), &points) < FITTED, "{weight:?}");
    }
    // Points that coincide have no weight, and stay together.
    let mut rows: Vec<Vec<f64>> = (0..40).map(|i| points.row(i).to_vec()).collect();
    rows.push(rows[3].clone());
    let model = fit(Sammon::default(), &Points::from_rows(&rows).unwrap());
    assert_eq!(model.embedding().row(3), model.embedding().row(40));
}

/// Distances, their cubes and their ranks are one and the same to the order: the plane is recovered, up to scale.
#[test]
fn the_order_of_the_distances_is_enough() {
    let points = cloud(60, 2, 5);
    let cubes = distances(&points).values().iter().map(|d| d.powi(3)).collect();
    let square = Distances::new(Points::new(60, 60, cubes).unwrap()).unwrap();
    let method = Smacof { variant: StressVariant::Nonmetric, tolerance: 1e-10, ..Smacof::default() };
    let model = Recipe { method: method.into(), ..Recipe::default() }.fit(&square, &Silent).unwrap();
    assert!(model.report().coordinates.objective.unwrap() < 2e-3, "{:?}", model.report().coordinates.objective);
    assert!(affine_error(&points, model.embedding()) < 1e-3);
    let metric = Recipe { method: Smacof::default().into(), ..Recipe::default() }.fit(&square, &Silent).unwrap();
    assert!(affine_error(&points, metric.embedding()) > 1e-2);
    // The curve of disparities is the cube root, up to scale, and new points go by it.
    let curve = &model.report().coordinates.disparities;
    assert!(curve.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1));
    let row = Points::from_rows(&[square.matrix().row(7)]).unwrap();
    let placed = model.transform(&row).unwrap();
    assert_eq!(placed.row(0), model.embedding().row(7));
    let between: Vec<f64> =
        (0..60).map(|j| eigenfold::Metric::Euclidean.distance(&[0.1, -0.2], points.row(j)).powi(3)).collect();
    let placed = model.transform(&Points::from_rows(&[between]).unwrap()).unwrap();
    let all = Points::from_rows(&(0..60).map(|j| points.row(j).to_vec()).chain([vec![0.1, -0.2]]).collect::<Vec<_>>())
        .unwrap();
    let map: Vec<Vec<f64>> =
        (0..60).map(|j| model.embedding().row(j).to_vec()).chain([placed.row(0).to_vec()]).collect();
    assert!(affine_error(&all, &Points::from_rows(&map).unwrap()) < 2e-3);
}

#[test]
fn landmarks_draw_nearly_the_same_map() {
    let points = cloud(600, 2, 5);
    for method in [
        Smacof { landmarks: Some(80), ..Smacof::default() },
        Smacof { landmarks: Some(80), weight: StressWeight::Inverse, ..Smacof::default() },
    ] {
        let model = fit(method, &points);
        assert!(distance_mismatch(model.embedding(), &points) < 1e-3);
        assert_eq!(model.transform(&points).unwrap().values(), model.embedding().values());
    }
    let roll = swiss(800);
    let method = Smacof { landmarks: Some(100), distances: Some(StressDistances::Geodesic), ..Smacof::default() };
    let recipe = Recipe { method: method.into(), neighbors: Neighbors::Nearest(8), ..Recipe::default() };
    let some = recipe.fit(&roll, &Silent).unwrap();
    let whole = Recipe { method: Smacof { landmarks: None, ..method }.into(), ..recipe }.fit(&roll, &Silent).unwrap();
    assert!(distance_mismatch(some.embedding(), whole.embedding()) < 0.05);
}

#[test]
fn snapshots_lead_from_the_start_to_the_map() {
    let points = cloud(90, 6, 2);
    let recipe = Recipe { method: Smacof::default().into(), snapshots: 6, ..Recipe::default() };
    let model = recipe.fit(&points, &Silent).unwrap();
    let maps = model.snapshots();
    assert!((3..=6).contains(&maps.len()), "{}", maps.len());
    assert!(
        maps[0].step == 0
            && maps.windows(2).all(|two| two[0].step < two[1].step && two[0].objective > two[1].objective)
    );
    assert_eq!(&maps[maps.len() - 1].coordinates, model.embedding());
    let start = fit(Mds::default(), &points);
    assert!(distance_mismatch(&maps[0].coordinates, start.embedding()) < EXACT);
    let spectral = Recipe { method: Mds::default().into(), ..recipe }.fit(&points, &Silent).unwrap_err().to_string();
    assert!(spectral.contains("is not an iterative optimization"), "{spectral}");
}

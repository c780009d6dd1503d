//! Tests of DRILL: reference optima, scaling, the duality gap, early stops and the path of penalties.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::field::entropy::drill::fit::afford_dense;
use eigenfold_graph::Neighbors;
use eigenfold_graph::points::Points;
use eigenfold_io::{ReadOptions, read};
use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::dense::symmetric_eigen;
use eigenfold_linalg::progress::{Silent, StopsAfter};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

fn every(name: &str, step: usize, count: usize) -> Points {
    let points = read(name, &ReadOptions::default()).unwrap().points;
    points.select(&(0..points.rows()).step_by(step).take(count).collect::<Vec<_>>())
}

fn graph(points: &Points, neighbors: Neighbors) -> Graph {
    let disconnected = eigenfold_graph::Disconnected::Separate;
    Search { neighbors, disconnected, ..Search::default() }.of_points(points, &Silent).unwrap().graph
}

fn fitted(drill: &Drill, points: &Points, graph: &Graph) -> (Support, Fitted) {
    let support = Support::new(&graph.union());
    let fitted = drill
        .fit(Measured::Points(points, eigenfold_graph::Metric::Euclidean), &support, None, u64::MAX, &Silent)
        .unwrap();
    (support, fitted)
}

/// The mean variance of the points.
fn mean_variance(points: &Points) -> f64 {
    Measured::Points(points, eigenfold_graph::Metric::Euclidean).variance()
}

/// Optima by alternating directions and then Newton's method on dense matrices, to a gap of 1e-12.
#[test]
fn small_problems_have_the_optima_that_alternating_directions_find() {
    let sets = [every("iris", 3, 50), every("digits", 1, 50)];
    let cases = [
        (0, Neighbors::All, 0.02, -98.426311170585, Some(344)),
        (0, Neighbors::All, 0.1, -45.147574944382, Some(342)),
        (0, Neighbors::Nearest(6), 0.0, -112.523967338044, Some(188)),
        (0, Neighbors::Nearest(6), 0.02, -76.239880381975, Some(136)),
        (0, Neighbors::Nearest(6), 0.1, -31.079184341508, Some(149)),
        (1, Neighbors::All, 0.02, 140.155321565746, Some(763)),
        (1, Neighbors::All, 0.1, 163.977651400881, Some(414)),
    ];
    for (set, neighbors, part, value, edges) in cases {
        let points = &sets[set];
        let penalty = Penalty::Value(part * mean_variance(points));
        let drill = Drill { penalty, ridge: 0.01, tolerance: 1e-9, ..Drill::default() };
        let (support, Fitted { minimum: found, .. }) = fitted(&drill, points, &graph(points, neighbors));
        assert!(found.gap <= 1e-9, "{set} {neighbors:?} {part}: gap {} after {}", found.gap, found.steps);
        let per_point = (found.value - value) / support.n as f64;
        assert!(per_point.abs() < 1e-8, "{set} {neighbors:?} {part}: {} {value}", found.value);
        let active = found.values[support.n..].iter().filter(|t| **t != 0.0).count();
        assert_eq!(Some(active), edges, "{set} {neighbors:?} {part}");
    }
}

/// Lawrence 2012, section 3: without a penalty the covariance agrees with the data on every edge, and so do the
/// expected distances; the ridge adds twice its variance to each.
#[test]
fn l11_without_a_penalty_the_expected_distances_are_those_of_the_data() {
    for (points, ridge) in [(every("iris", 3, 50), 0.01), (every("digits", 1, 60), 0.01)] {
        let drill = Drill { penalty: Penalty::Value(0.0), ridge, tolerance: 1e-12, ..Drill::default() };
        let graph = graph(&points, Neighbors::Nearest(5));
        let (support, Fitted { minimum: found, .. }) = fitted(&drill, &points, &graph);
        assert!(found.gap <= 1e-12, "{}", found.gap);
        let covariance = Positive::factor(support.matrix(&found.values).to_dense()).unwrap().inverse();
        let own = 2.0 * ridge * mean_variance(&points);
        for &(i, j) in &support.ends {
            let (i, j) = (i as usize, j as usize);
            let expected = covariance[(i, i)] + covariance[(j, j)] - 2.0 * covariance[(j, i)];
            let (a, b) = (points.row(i), points.row(j));
            let observed = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / points.cols() as f64;
            assert!((expected - observed - own).abs() < 1e-6 * (observed + own), "{i} {j}");
        }
    }
}

/// Lawrence 2012, section 2.8: where isomap's similarity has negative eigenvalues, this one has none.
#[test]
fn l10_the_covariance_of_drill_has_no_negative_eigenvalue() {
    let at = |i: usize| std::f64::consts::TAU * i as f64 / 60.0;
    let ring = Points::from_rows(&(0..60).map(|i| [at(i).cos(), at(i).sin()]).collect::<Vec<_>>()).unwrap();
    let (support, Fitted { minimum: found, .. }) =
        fitted(&Drill::default(), &ring, &graph(&ring, Neighbors::Nearest(4)));
    let (values, _) = symmetric_eigen(support.matrix(&found.values).to_dense().as_ref()).unwrap();
    assert!(values.iter().all(|&value| value > 0.0));
}

/// Scaling the data by s scales the penalty by s², and nothing else changes.
#[test]
fn the_automatic_penalty_follows_the_units() {
    let points = every("iris", 3, 50);
    let of = |points: &Points| fitted(&Drill::default(), points, &graph(points, Neighbors::Nearest(6))).1;
    let plain = of(&points);
    for scale in [2f64.powi(10), 2f64.powi(180), 2f64.powi(-180)] {
        let scaled = Points::new(50, 4, points.values().iter().map(|x| scale * x).collect()).unwrap();
        let other = of(&scaled);
        assert_eq!(other.penalty, plain.penalty * scale * scale);
        let unscaled: Vec<f64> = other.minimum.values.iter().map(|t| t * scale * scale).collect();
        assert_eq!(unscaled, plain.minimum.values);
    }
}

/// The bound is never below the true distance from the optimum, wherever the optimization stops.
#[test]
fn the_gap_bounds_the_distance_from_the_optimum_at_every_step() {
    let points = every("digits", 1, 50);
    let drill = |max_iterations| Drill {
        penalty: Penalty::Value(0.1 * mean_variance(&points)),
        tolerance: 1e-10,
        max_iterations,
        ..Drill::default()
    };
    let graph = graph(&points, Neighbors::Nearest(6));
    let best = fitted(&drill(200), &points, &graph).1.minimum.value;
    let mut known = 0;
    for steps in 1..25 {
        let found = fitted(&drill(steps), &points, &graph).1.minimum;
        assert!(found.gap >= 0.0 && found.value >= best - 1e-9);
        assert!(found.value - best <= 50.0 * found.gap + 1e-9, "{steps}: {} {}", found.value - best, found.gap);
        known += usize::from(found.gap.is_finite());
    }
    assert!(known > 5, "{known}");
}

#[test]
fn a_path_is_evaluated_by_features_that_were_left_out() {
    let points = every("iris", 5, 30);
    let drill = Drill { penalty: "0.005:0.5:3".parse().unwrap(), ..Drill::default() };
    let (_, fitted) = fitted(&drill, &points, &graph(&points, Neighbors::Nearest(6)));
    assert_eq!(fitted.path.len(), 3);
    let best = fitted.path.iter().max_by(|a, b| a.held_out.total_cmp(&b.held_out)).unwrap();
    assert_eq!(best.penalty, fitted.penalty);
    assert!(fitted.path.iter().all(|step| step.gap <= 1e-6 && step.held_out.is_finite()));
    let line = Points::new(30, 1, (0..30).map(f64::from).collect()).unwrap();
    let support = Support::new(&graph(&line, Neighbors::Nearest(2)).union());
    let error = drill
        .fit(Measured::Points(&line, eigenfold_graph::Metric::Euclidean), &support, None, u64::MAX, &Silent)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("at least two features"), "{error}");
}

#[test]
fn all_pairs_of_many_points_are_refused_before_the_work() {
    assert!(afford_dense(500, u64::MAX).is_ok());
    assert!(afford_dense(5000, u64::MAX).unwrap_err().to_string().contains("give `neighbors`"));
    assert!(afford_dense(500, 1_000_000).unwrap_err().to_string().contains("give `neighbors`"));
}

/// Wherever it stops after its first step, the result is a precision with a value above the optimum, and the gap is
/// valid where it is known.
#[test]
fn a_stop_gives_the_best_precision_so_far() {
    let points = every("digits", 1, 50);
    let graph = graph(&points, Neighbors::Nearest(6));
    let support = Support::new(&graph.union());
    let drill = Drill { penalty: Penalty::Value(0.1 * mean_variance(&points)), tolerance: 1e-10, ..Drill::default() };
    let stopped = |drill: &Drill, questions: usize| {
        drill.fit(
            Measured::Points(&points, eigenfold_graph::Metric::Euclidean),
            &support,
            None,
            u64::MAX,
            &StopsAfter::questions(questions),
        )
    };
    let best = fitted(&drill, &points, &graph).1.minimum;
    assert!(matches!(stopped(&drill, 0), Err(Error::Stopped)));
    let mut known = 0;
    for part in [0.3, 0.5, 0.7, 0.9] {
        let fitted = stopped(&drill, (part * best.products as f64) as usize).unwrap();
        let found = &fitted.minimum;
        assert!(fitted.stopped && found.steps > 0 && found.value >= best.value - 1e-9, "{part}");
        assert!(found.value - best.value <= 50.0 * found.gap, "{part}: {} {}", found.value - best.value, found.gap);
        known += usize::from(found.gap.is_finite());
    }
    assert!(known > 1, "{known}");
    // A path is cut short: the fitted penalties are compared on the folds that are done.
    let path = Drill { penalty: "0.005:0.5:3".parse().unwrap(), ..Drill::default() };
    let mut lengths = Vec::new();
    for questions in [60, 200, 600] {
        let fitted = stopped(&path, questions).unwrap();
        assert!(fitted.stopped && fitted.path.iter().any(|step| step.penalty == fitted.penalty));
        lengths.push(fitted.path.len());
    }
    assert!(lengths.is_sorted() && lengths[0] >= 1, "{lengths:?}");
}

/// Points without any structure have no edges to learn. A graph built from all features would leak the left-out ones,
/// and the path would choose eight hundred edges.
#[test]
fn a_path_finds_no_edges_in_noise() {
    let drill = Drill { penalty: "0.05:2:6".parse().unwrap(), ..Drill::default() };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let noise = Points::new(150, 60, (0..9000).map(|_| StandardNormal.sample(&mut rng)).collect()).unwrap();
    let search = Search { neighbors: Neighbors::Nearest(10), ..Search::default() };
    let (_, learned) = drill.graph(&search, &noise, None, &Silent).unwrap();
    assert!(learned.candidates > 900 && learned.kept <= 10, "{learned:?}");
}

#[test]
fn a_path_leaves_out_only_features_that_vary() {
    let points = every("iris", 5, 30);
    let rows: Vec<[f64; 3]> = (0..30).map(|i| [points.row(i)[0], 7.0, points.row(i)[2]]).collect();
    let drill = Drill { penalty: "0.005:0.5:3".parse().unwrap(), ..Drill::default() };
    let (_, fitted) = fitted(&drill, &Points::from_rows(&rows).unwrap(), &graph(&points, Neighbors::Nearest(6)));
    assert!(fitted.path.iter().all(|step| step.held_out.is_finite()));
}

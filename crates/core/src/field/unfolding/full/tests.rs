//! Tests of the dense problem against closed forms and other solvers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::field::unfolding::Constraints;
use crate::sample::r2_swiss_roll;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Metric, Neighbors, Search};
use eigenfold_linalg::progress::{Silent, StopsAfter};

fn pairs_of(points: &Points, k: usize, constraints: Constraints) -> Pairs {
    let search = Search { neighbors: Neighbors::Nearest(k), ..Search::default() };
    let graph = search.of_points(points, &Silent).unwrap().graph;
    let distance = |i: usize, j: usize| Metric::Euclidean.distance(points.row(i), points.row(j));
    Pairs::new(&graph, constraints, Some(&distance)).unwrap()
}

/// tr K in the units of the points.
fn variance(pairs: &Pairs, full: &Full) -> f64 {
    let row = |i: usize| (0..full.y.ncols()).map(|q| full.y[(i, q)].powi(2)).sum::<f64>();
    pairs.unit.powi(2) * (0..pairs.len()).map(|i| pairs.counts[i] * row(i)).sum::<f64>()
}

/// A bracket [trace, bound] of the optimum, in the units of the points.
fn bracket(pairs: &Pairs, full: &Full) -> [f64; 2] {
    let trace = variance(pairs, full);
    [trace, trace / (1.0 - full.gap)]
}

/// The smallest eigenvalue of M^-½ L(W) M^-½ over the centered directions.
fn connectivity(pairs: &Pairs, w: &[f64]) -> f64 {
    let (n, total) = (pairs.len(), pairs.counts.iter().sum::<f64>());
    let root: Vec<f64> = pairs.counts.iter().map(|counts| counts.sqrt()).collect();
    let most = w.iter().fold(1.0, |most: f64, w| most.max(w.abs()));
    let mut matrix = Mat::from_fn(n, n, |i, j| most * root[i] * root[j] / total);
    for (&(i, j), w) in pairs.ends.iter().zip(w) {
        let (i, j) = (i as usize, j as usize);
        matrix[(i, i)] += w / pairs.counts[i];
        matrix[(j, j)] += w / pairs.counts[j];
        matrix[(j, i)] -= w / (root[i] * root[j]);
    }
    *symmetric_eigen(matrix.as_ref()).unwrap().0.last().unwrap()
}

fn bound(pairs: &Pairs, w: &[f64], band: f64) -> f64 {
    let cost = |(square, w): (&f64, &f64)| square * (w + band * w.abs());
    pairs.squares.iter().zip(w).map(cost).sum::<f64>() / connectivity(pairs, w)
}

fn of_lists(lists: Vec<Vec<(u32, f64)>>) -> Pairs {
    Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap()
}

#[test]
fn a_path_is_pulled_straight_by_known_forces() {
    let n = 12;
    let next = |i: u32| if i < 11 { vec![(i + 1, 3.0)] } else { vec![] };
    let pairs = of_lists((0..n).map(next).collect());
    for sense in [Sense::Equal, Sense::AtMost] {
        let full = solve(&pairs, sense, 1e-8, 100, &Silent).unwrap();
        assert!(full.converged, "{} {}", full.gap, full.violation);
        let spaced: f64 = (0..n).map(|i| (3.0 * (f64::from(i) - 5.5)).powi(2)).sum();
        assert!((variance(&pairs, &full) / spaced - 1.0).abs() < 1e-8);
        // The points on one side of a linking edge enter with the sum of their coordinates. Along the curved boundary
        // of the cone the dual rises with the square of the step: a gap of 1e-8 leaves W free by 1e-4.
        for (e, w) in full.w.iter().enumerate() {
            let force = (e + 1) as f64 * (11 - e) as f64 / 2.0;
            assert!((w / force - 1.0).abs() < 1e-4, "{w} for {force}");
        }
    }
}

#[test]
fn a_triangle_is_itself_and_a_heavy_point_counts_as_often_as_it_is_there() {
    let triangle = of_lists(vec![vec![(1, 3.0), (2, 4.0)], vec![(2, 5.0)], vec![]]);
    let full = solve(&triangle, Sense::Equal, 1e-10, 100, &Silent).unwrap();
    assert!(full.converged && full.y.ncols() == 2);
    assert!((variance(&triangle, &full) - 50.0 / 3.0).abs() < 1e-9);
    // Two points at 0, one at 1, one at 3: the mean is 1.
    let heavy = of_lists(vec![vec![(1, 0.0), (2, 1.0)], vec![], vec![(3, 2.0)], vec![]]);
    let full = solve(&heavy, Sense::Equal, 1e-10, 100, &Silent).unwrap();
    assert!(full.converged && (variance(&heavy, &full) - 6.0).abs() < 1e-8);
    let mean: f64 = (0..3).map(|i| heavy.counts[i] * full.y[(i, 0)]).sum();
    assert!(mean.abs() < 1e-12, "{mean}");
}

/// The brackets are those of another solver, a dual scaling.
#[test]
fn the_swiss_roll_has_the_variance_another_solver_found() {
    let golds = [
        (50, Sense::Equal, [6491.640920308, 6491.640925162]),
        (100, Sense::Equal, [13735.811809, 13735.837281]),
        (50, Sense::AtMost, [6590.723465046, 6590.723469920]),
        (100, Sense::AtMost, [14191.274333948, 14191.274347198]),
    ];
    for (n, sense, gold) in golds {
        let pairs = pairs_of(&r2_swiss_roll(n), 5, Constraints::Edges);
        let full = solve(&pairs, sense, 1e-8, 100, &Silent).unwrap();
        let [low, high] = bracket(&pairs, &full);
        assert!(full.converged && full.gap < 1e-8 && full.violation < 1e-8, "{n}: {} {}", full.gap, full.violation);
        assert!(low <= gold[1] && high >= gold[0], "{n}: {low} {high} for {gold:?}");
        // W bounds the variance independently of the solver. On a face it needs a large multiple of the flat weights.
        let on_face = full.flat.iter().any(|&flat| flat != 0.0);
        assert_eq!(on_face, n == 100 && sense == Sense::Equal);
        let held: Vec<f64> = full.w.iter().zip(&full.flat).map(|(w, flat)| w + 1e8 * flat).collect();
        let above = bound(&pairs, &held, 0.0) * pairs.unit.powi(2) / low - 1.0;
        let allowed = if on_face { 1e-4 } else { 1.1e-8 };
        assert!((-1e-9..allowed).contains(&above), "{n}: {above}");
        assert!(sense == Sense::Equal || full.w.iter().all(|&w| w > 0.0));
    }
}

/// Seven points of space in a neighborhood are rigid, and so are neighborhoods that share four points: only the data
/// themselves have the distances.
#[test]
fn rigid_neighborhoods_leave_the_data_as_they_are() {
    let points = r2_swiss_roll(60);
    let pairs = pairs_of(&points, 6, Constraints::Angles);
    let full = solve(&pairs, Sense::Equal, 1e-9, 100, &Silent).unwrap();
    assert!(full.converged && full.y.ncols() == 3, "{} {}", full.gap, full.y.ncols());
    for i in 0..60 {
        for j in 0..i {
            let distance = (0..3).map(|q| (full.y[(i, q)] - full.y[(j, q)]).powi(2)).sum::<f64>().sqrt();
            let own = Metric::Euclidean.distance(points.row(i), points.row(j));
            assert!((distance * pairs.unit / own - 1.0).abs() < 1e-9);
        }
    }
}

/// A band constrains more than inequalities and less than equalities, and needs no facial reduction: W stays small
/// where that of equalities is unbounded.
#[test]
fn a_band_is_between_equalities_and_bounds() {
    let pairs = pairs_of(&r2_swiss_roll(100), 5, Constraints::Edges);
    let mut least = 13735.8357;
    for band in [1e-3, 1e-2, 1e-1] {
        let full = solve(&pairs, Sense::Within(band), 1e-7, 100, &Silent).unwrap();
        assert!(full.converged && full.violation < 1e-8, "{band}: {} {}", full.gap, full.violation);
        let [low, high] = bracket(&pairs, &full);
        assert!(low > least && high < 14191.2744 * (1.0 + band), "{band}: {low} {high}");
        least = low;
        let above = bound(&pairs, &full.w, band) * pairs.unit.powi(2) / low - 1.0;
        assert!((-1e-9..1.1e-7).contains(&above), "{band}: {above}");
    }
}

#[test]
fn distances_of_no_points_are_an_error_or_not_converged() {
    let triangle = of_lists(vec![vec![(1, 1.0), (2, 1.0)], vec![(2, 3.0)], vec![]]);
    let error = solve(&triangle, Sense::Equal, 1e-8, 100, &Silent).err().unwrap().to_string();
    assert_eq!(error, "no points have the distances of points 1, 2, 3; constrain them from above only");
    let square = of_lists(vec![vec![(1, 1.0), (3, 5.0)], vec![(2, 1.0)], vec![(3, 1.0)], vec![]]);
    let full = solve(&square, Sense::Equal, 1e-8, 100, &Silent).unwrap();
    assert!(!full.converged && full.violation > 0.1, "{}", full.violation);
    assert!(solve(&square, Sense::AtMost, 1e-8, 100, &Silent).unwrap().converged);
    let apart = of_lists(vec![vec![(1, 1.0)], vec![], vec![(3, 1.0)], vec![]]);
    assert!(solve(&apart, Sense::Equal, 1e-8, 100, &Silent).is_err());
}

#[test]
fn the_solution_is_the_same_for_any_number_of_threads() {
    let pairs = pairs_of(&r2_swiss_roll(150), 5, Constraints::Edges);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let full = pool.install(|| solve(&pairs, Sense::Equal, 1e-6, 6, &Silent).unwrap());
        (full.y, full.w)
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

/// Nothing is returned until the points are feasible; from then on all bounds hold.
#[test]
fn a_stop_gives_points_with_the_distances_or_nothing() {
    let pairs = pairs_of(&r2_swiss_roll(60), 5, Constraints::Edges);
    let all = solve(&pairs, Sense::Equal, 1e-7, 100, &Silent).unwrap();
    let [low, high] = bracket(&pairs, &all);
    let mut given = 0;
    for questions in 0..all.iterations {
        match solve(&pairs, Sense::Equal, 1e-7, 100, &StopsAfter::questions(questions)) {
            Err(Error::Stopped) => assert_eq!(given, 0, "{questions}"),
            found => {
                let full = found.unwrap();
                assert!(full.stopped && full.violation <= 2e-7, "{questions}: {}", full.violation);
                let [lower, upper] = bracket(&pairs, &full);
                assert!(lower <= high * (1.0 + 1e-6) && low <= upper * (1.0 + 1e-6), "{questions}");
                given += 1;
            }
        }
    }
    assert!(given > 1 && given < all.iterations, "{given}");
}

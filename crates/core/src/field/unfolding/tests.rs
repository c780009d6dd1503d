//! Tests of unfoldings: invariants, closed forms and results of other solvers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::field::unfolding::central_path::{Path, follow_from};
use crate::field::unfolding::full::{Sense, solve};
use crate::sample::r2_swiss_roll as swiss;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Metric, Neighbors, Search};
use eigenfold_linalg::dense::symmetric_eigen;
use eigenfold_linalg::progress::{Silent, StopsAfter};
use eigenfold_linalg::sparse::cholesky::Analysis;
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use proptest::prelude::*;

fn nearest(points: &Points, k: usize) -> Graph {
    let search = Search { neighbors: Neighbors::Nearest(k), ..Search::default() };
    search.of_points(points, &Silent).unwrap().graph
}

fn pairs_of(points: &Points, k: usize, constraints: Constraints) -> Pairs {
    let distance = |i: usize, j: usize| Metric::Euclidean.distance(points.row(i), points.row(j));
    Pairs::new(&nearest(points, k), constraints, Some(&distance)).unwrap()
}

/// Runs a function with a weighted Laplacian over some pairs.
fn with_web<T>(pairs: &Pairs, act: impl FnOnce(&Web<'_>) -> T) -> T {
    let ones = vec![1.0; pairs.ends.len()];
    let analysis = Analysis::new(&SparseSymmetric::laplacian(pairs.len(), &pairs.ends, &ones, 0.0)).unwrap();
    act(&Web::new(pairs, &analysis, u64::MAX).unwrap())
}

fn options(tolerance: f64) -> PathOptions {
    PathOptions { tolerance: 0.9 * tolerance, max_iterations: 300, max_rank: 20, max_work: f64::INFINITY }
}

fn unfolded(pairs: &Pairs, tolerance: f64) -> (Unfolded, Bracket) {
    with_web(pairs, |web| {
        let found = follow(web, &options(tolerance), &Silent).unwrap();
        let bracket =
            bracket((web, web), (MvuVariant::Inequality, 0.0), (found.r, &found.y), &found.w, &Silent).unwrap();
        (found, bracket)
    })
}

fn of_edges(n: usize, edges: &[(usize, usize, f64)]) -> Pairs {
    let mut lists = vec![Vec::new(); n];
    for &(i, j, d) in edges {
        lists[i].push((j as u32, d));
    }
    Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap()
}

/// Bounds of the optimum by two dense interior-point methods (dual scaling to a gap below 1e-9, and another).
#[test]
fn small_rolls_have_the_known_optima() {
    for (n, k, low, high, rank) in [
        (50, 5, 6590.723465046, 6590.723469920, 3),
        (100, 5, 14191.274333948, 14191.274347198, 3),
        (200, 6, 30623.294019434, 30623.294028508, 4),
    ] {
        let (_, bracket) = unfolded(&pairs_of(&swiss(n), k, Constraints::Edges), 1e-6);
        assert!(bracket.gap <= 1e-6 && bracket.confirmed, "{bracket:?}");
        assert!(bracket.primal <= high && low <= bracket.dual, "{bracket:?}");
        assert_eq!(bracket.rank, rank);
        assert_eq!(bracket.violation, 0.0);
    }
}

#[test]
fn the_dense_problem_agrees_with_the_path() {
    let pairs = pairs_of(&swiss(60), 5, Constraints::Angles);
    let (_, bracket) = unfolded(&pairs, 1e-7);
    let full = solve(&pairs, Sense::AtMost, 1e-8, 100, &Silent).unwrap();
    let variance = (0..60).map(|i| full.y.row(i).squared_norm_l2()).sum::<f64>() * pairs.unit.powi(2);
    assert!((variance / bracket.primal - 1.0).abs() < 2e-7, "{variance} {bracket:?}");
}

#[test]
fn x04_a_path_is_a_line_as_long_as_its_edges() {
    let lengths = [1.0, 0.3, 2.0, 0.7, 1.1, 0.2];
    let edges: Vec<_> = lengths.iter().enumerate().map(|(i, &d)| (i, i + 1, d)).collect();
    let x: Vec<f64> = (0..7).map(|i| lengths[..i].iter().sum()).collect();
    let mean = x.iter().sum::<f64>() / 7.0;
    let variance: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
    let (found, bracket) = unfolded(&of_edges(7, &edges), 1e-8);
    assert!(bracket.primal <= variance * (1.0 + 1e-12) && variance <= bracket.dual * (1.0 + 1e-12), "{bracket:?}");
    assert!(bracket.gap <= 1e-8);
    assert_eq!((found.r, bracket.rank), (1, 1));
}

#[test]
fn x04_a_ring_is_a_regular_polygon() {
    for n in [3, 5, 9, 50] {
        let edges: Vec<_> = (0..n).map(|i| (i.min((i + 1) % n), i.max((i + 1) % n), 1.0)).collect();
        let (_, bracket) = unfolded(&of_edges(n, &edges), 1e-8);
        let variance = n as f64 / (2.0 * (std::f64::consts::PI / n as f64).sin()).powi(2);
        assert!(bracket.primal <= variance * (1.0 + 1e-12) && variance <= bracket.dual * (1.0 + 1e-12), "{bracket:?}");
        assert!(bracket.gap <= 1e-8, "{bracket:?}");
        assert_eq!(bracket.rank, 2);
    }
}

#[test]
fn x04_a_tree_is_at_most_a_plane() {
    // Three arms at angles of 120 degrees: the hub is the mean, every arm adds its squared length.
    let (_, star) = unfolded(&of_edges(4, &[(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)]), 1e-8);
    assert!((star.primal - 3.0).abs() < 1e-7 && star.rank == 2, "{star:?}");
    // One long arm against two short ones: a line.
    let (_, line) = unfolded(&of_edges(4, &[(0, 1, 5.0), (0, 2, 1.0), (0, 3, 1.0)]), 1e-8);
    let x = [0.0, 5.0, -1.0, -1.0];
    let variance: f64 = x.iter().map(|x| x * x).sum::<f64>() - x.iter().sum::<f64>().powi(2) / 4.0;
    assert!((line.primal - variance).abs() < 1e-6 && line.rank == 1, "{line:?} {variance}");
    // A binary tree with edges of three lengths.
    let edges: Vec<_> = (1..63).map(|j| ((j - 1) / 2, j, 1.0 + (j % 3) as f64)).collect();
    let (_, tree) = unfolded(&of_edges(63, &edges), 1e-6);
    assert!(tree.gap <= 1e-6 && tree.rank <= 2, "{tree:?}");
}

#[test]
fn two_and_three_points_are_as_far_apart_as_they_may_be() {
    let (_, two) = unfolded(&of_edges(2, &[(0, 1, 3.0)]), 1e-8);
    assert!((two.primal - 4.5).abs() < 1e-6, "{two:?}");
    let (_, three) = unfolded(&of_edges(3, &[(0, 1, 3.0), (1, 2, 4.0), (0, 2, 5.0)]), 1e-8);
    assert!((three.primal - 50.0 / 3.0).abs() < 1e-5 && three.rank == 2, "{three:?}");
}

#[test]
fn x02_x03_x05_the_optimum_satisfies_the_conditions_of_the_optimum() {
    for (n, constraints) in [(150, Constraints::Edges), (300, Constraints::Angles), (800, Constraints::Edges)] {
        let pairs = pairs_of(&swiss(n), 6, constraints);
        with_web(&pairs, |web| {
            let found = follow(web, &options(1e-7), &Silent).unwrap();
            let (r, y) = (found.r, &found.y);
            let bracket = bracket((web, web), (MvuVariant::Inequality, 0.0), (r, y), &found.w, &Silent).unwrap();
            assert!(bracket.gap <= 1e-7 && bracket.kkt < 1e-3, "{bracket:?}");
            assert!(bracket.rank <= bracket.multiplicity, "{bracket:?}");
            // Every column lies in the span of the eigenvectors whose eigenvalues are about one.
            let eigen = web.bottom(&found.w, (bracket.multiplicity + 1, 1e-8), None, &Silent).unwrap();
            for q in 0..bracket.rank {
                let norm: f64 = (0..n).map(|i| y[i * r + q].powi(2)).sum();
                let inside = |k: usize| (0..n).map(|i| y[i * r + q] * eigen.vectors[(i, k)]).sum::<f64>().powi(2);
                let part: f64 = (0..bracket.multiplicity).map(inside).sum::<f64>() / norm;
                assert!(part > 1.0 - 1e-5, "n {n} column {q}: {part}");
            }
            // (18): every point is a combination of its neighbors.
            let laplacian = SparseSymmetric::laplacian(n, &pairs.ends, &found.w, 0.0);
            let off = |i: usize, q: usize| {
                let sum: f64 = laplacian
                    .row(i)
                    .map(|(j, l)| if i == j { (l - 1.0) * y[i * r + q] } else { l * y[j * r + q] })
                    .sum();
                sum.powi(2)
            };
            let residual: f64 = (0..n).flat_map(|i| (0..r).map(move |q| (i, q))).map(|(i, q)| off(i, q)).sum();
            let scale: f64 = y.iter().map(|y| y * y).sum();
            assert!((residual / scale).sqrt() < 1e-3, "{}", (residual / scale).sqrt());
        });
    }
}

#[test]
fn a_saddle_of_rank_one_is_left() {
    let pairs = pairs_of(&swiss(400), 6, Constraints::Edges);
    let (_, straight) = unfolded(&pairs, 1e-5);
    with_web(&pairs, |web| {
        // Scaled along one direction until a pair is tight: a point that no single column can leave.
        let inverse = web.each(|e| 1.0 / pairs.squares[e]);
        let eigen = web.bottom(&inverse, (1, 1e-8), None, &Silent).unwrap();
        let v: Vec<f64> = (0..pairs.len()).map(|i| eigen.vectors[(i, 0)]).collect();
        let steps = web.differences(1, &v);
        let longest = web.least(|e| pairs.squares[e] / steps[e].powi(2).max(1e-300)).sqrt();
        let start = v.iter().map(|v| 0.999 * longest * v).collect();
        let found = follow_from(Path::from(web, 1, start).unwrap(), &options(1e-5), &Silent).unwrap();
        let bracket =
            bracket((web, web), (MvuVariant::Inequality, 0.0), (found.r, &found.y), &found.w, &Silent).unwrap();
        assert!(found.r > 1 && bracket.gap <= 1e-5, "{bracket:?}");
        assert!((bracket.primal / straight.primal - 1.0).abs() < 2e-5, "{bracket:?} {straight:?}");
    });
}

#[test]
fn points_that_coincide_weigh_as_many() {
    // Two points at one end of a path of three: the same as a heavy end.
    let pairs = of_edges(4, &[(0, 1, 0.0), (1, 2, 1.0), (2, 3, 1.0)]);
    let (_, bracket) = unfolded(&pairs, 1e-8);
    let x = [0.0, 0.0, 1.0, 2.0];
    let variance: f64 = x.iter().map(|x| x * x).sum::<f64>() - x.iter().sum::<f64>().powi(2) / 4.0;
    assert!((bracket.primal - variance).abs() < 1e-7, "{bracket:?} {variance}");
}

/// Numbers between −1 and 1.
fn drawn(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// tr K of a map of r numbers per point after centering and scaling until no pair is too long; for pairs without
/// counts.
fn feasible_variance(pairs: &Pairs, r: usize, y: &[f64]) -> f64 {
    let n = pairs.len();
    let square = |i: usize, j: usize| (0..r).map(|q| (y[i * r + q] - y[j * r + q]).powi(2)).sum::<f64>();
    let longest = pairs.ends.iter().zip(&pairs.squares).map(|(&(i, j), d)| square(i as usize, j as usize) / d);
    let all = (0..n * n).map(|at| square(at / n, at % n)).sum::<f64>() / (2 * n) as f64;
    all / longest.fold(f64::MIN_POSITIVE, f64::max)
}

/// Σ D W / λ, λ by a dense decomposition.
fn dense_bound(pairs: &Pairs, w: &[f64]) -> f64 {
    let laplacian = SparseSymmetric::laplacian(pairs.len(), &pairs.ends, w, 0.0).to_dense();
    let (values, _) = symmetric_eigen(laplacian.as_ref()).unwrap();
    let cost: f64 = pairs.squares.iter().zip(w).map(|(d, w)| d * w).sum();
    cost / values[pairs.len() - 2]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// X01: no embedding that keeps the distances has more variance than any weights allow. Maps and weights are the
    /// optimal ones, perturbed at random by relative amounts between a tenth and a millionth, then made feasible: so
    /// close to each other that a bound too low by that amount would be detected.
    #[test]
    fn x01_weak_duality(seed in any::<u64>(), map in 1.0..6.0f64, weights in 1.0..6.0f64) {
        let pairs = pairs_of(&swiss(40), 5, Constraints::Angles);
        let (found, bracket) = unfolded(&pairs, 1e-8);
        let (map, weights) = (10f64.powf(-map), 10f64.powf(-weights));
        let typical = (found.y.iter().map(|y| y * y).sum::<f64>() / found.y.len() as f64).sqrt();
        let moved = found.y.iter().zip(drawn(found.y.len(), seed)).map(|(y, t)| y + map * typical * t).collect::<Vec<_>>();
        let other = found.w.iter().zip(drawn(found.w.len(), !seed)).map(|(w, t)| w * (weights * t).exp()).collect::<Vec<_>>();
        let (variance, bound) = (feasible_variance(&pairs, found.r, &moved), dense_bound(&pairs, &other));
        prop_assert!(variance <= bound, "{variance} {bound}");
        let optimum = bracket.dual / pairs.unit.powi(2);
        let (short, above) = (1.0 - variance / optimum, bound / optimum - 1.0);
        prop_assert!(short < 20.0 * map + 1e-7 && above < 20.0 * weights + 1e-7, "{short} of {map}, {above} of {weights}");
    }

    /// X01 far from the optimum: weights that have nothing to do with the map.
    #[test]
    fn x01_weak_duality_of_any_pair(seed in any::<u64>(), values in prop::collection::vec(-1.0..1.0f64, 120), spread in 0.1..3.0f64) {
        let pairs = pairs_of(&swiss(40), 5, Constraints::Angles);
        let w: Vec<f64> =
            pairs.squares.iter().zip(drawn(pairs.squares.len(), seed)).map(|(d, t)| (spread * t).exp() / d).collect();
        let (variance, bound) = (feasible_variance(&pairs, 3, &values), dense_bound(&pairs, &w));
        prop_assert!(variance <= bound, "{variance} {bound}");
        // The solver's own bracket agrees.
        let found = with_web(&pairs, |web| {
            bracket((web, web), (MvuVariant::Inequality, 0.0), (3, &values), &w, &Silent).unwrap()
        });
        prop_assert!((found.dual / pairs.unit.powi(2) / bound - 1.0).abs() < 1e-6, "{found:?} {bound}");
        prop_assert!(found.primal / pairs.unit.powi(2) <= variance * (1.0 + 1e-9), "{found:?} {variance}");
    }
}

/// Every point of the path keeps its distances, and its bound holds.
#[test]
fn a_stop_gives_a_bracket_of_the_optimum() {
    let pairs = pairs_of(&swiss(200), 6, Constraints::Edges);
    let stopped = |web: &Web<'_>, questions| follow(web, &options(1e-6), &StopsAfter::questions(questions));
    with_web(&pairs, |web| {
        assert!(matches!(stopped(web, 0), Err(crate::Error::Stopped)));
        let mut last = f64::INFINITY;
        for questions in [1, 4, 8, 16] {
            let found = stopped(web, questions).unwrap();
            let map = (found.r, found.y.as_slice());
            let bracket = bracket((web, web), (MvuVariant::Inequality, 0.0), map, &found.w, &Silent).unwrap();
            assert!(found.stopped && bracket.confirmed && bracket.violation == 0.0, "{questions}: {bracket:?}");
            assert!(0.0 < bracket.primal && bracket.primal <= 30623.294028508, "{questions}: {bracket:?}");
            assert!(
                30623.294019434 <= bracket.dual && 1e-6 < bracket.gap && bracket.gap < last,
                "{questions}: {bracket:?}"
            );
            last = bracket.gap;
        }
    });
}

/// The rank is never above the multiplicity, at the optimum or short of it.
#[test]
fn x03_the_rank_is_at_most_the_multiplicity_wherever_the_solver_ends() {
    for tolerance in [1e-1, 1e-2, 1e-3, 1e-5] {
        let (_, bracket) = unfolded(&pairs_of(&swiss(150), 6, Constraints::Edges), tolerance);
        assert!((1..=bracket.multiplicity).contains(&bracket.rank), "{tolerance}: {bracket:?}");
    }
}

/// A run that reaches the maximum work ends with a feasible map and a valid bound.
#[test]
fn a_path_that_may_not_go_on_ends_with_a_bound() {
    let edges: Vec<(usize, usize, f64)> = (0..40)
        .flat_map(|i| (1..6).map(move |step| (i, (i + step * step) % 40, 1.0 + ((i * step) % 7) as f64)))
        .collect();
    let pairs = of_edges(40, &edges);
    let (whole, exact) = unfolded(&pairs, 1e-6);
    assert!(!whole.spent && exact.gap <= 1e-6, "{exact:?}");
    with_web(&pairs, |web| {
        for max_work in [1.0, 30.0, 300.0] {
            let found = follow(web, &PathOptions { max_work, ..options(1e-6) }, &Silent).unwrap();
            let bracket =
                bracket((web, web), (MvuVariant::Inequality, 0.0), (found.r, &found.y), &found.w, &Silent).unwrap();
            assert!(found.spent && found.factorizations < whole.factorizations, "{max_work}");
            assert!(bracket.violation <= 1e-12 && bracket.gap > 1e-6 && bracket.gap < 1.0, "{bracket:?}");
            // The optimum is between the two.
            assert!(bracket.primal <= exact.dual && bracket.dual >= exact.primal, "{bracket:?} {exact:?}");
        }
    });
}

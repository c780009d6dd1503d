//! Theorems of L. Xiao, J. Sun and S. Boyd (ICML 2006) about maximum variance unfolding, by closed forms and by the
//! solver. docs/internals/claims.md lists them by their ids; X01 to X04 stand beside the solver, X06 and X10 in `unfolding.rs`,
//! X07 and X08 in `rescale.rs`.
use crate::support::*;
use eigenfold::{Certificate, Constraints, Graph, Model, Mvu, Neighbors, Recipe, Search, Silent};
use faer::Mat;

fn unfolded(tolerance: f64) -> Recipe {
    let mvu = Mvu { constraints: Some(Constraints::Edges), tolerance, ..Mvu::default() };
    Recipe { neighbors: Neighbors::Nearest(6), method: mvu.into(), ..Recipe::default() }
}

/// A path of edges of length one; a ring if it is closed.
fn chain(n: usize, closed: bool) -> Graph {
    let mut lists: Vec<Vec<(u32, f64)>> = (1..n).map(|j| vec![(j as u32, 1.0)]).collect();
    lists.push(if closed { vec![(0, 1.0)] } else { Vec::new() });
    Graph::from_lists(lists).unwrap()
}

/// The Laplacian of a certificate's weights with its smallest eigenvalue beside zero scaled to one, and that eigenvalue.
fn laplacian(n: usize, weights: &[(usize, usize, f64)]) -> (Mat<f64>, f64) {
    let mut laplacian = Mat::<f64>::zeros(n, n);
    for &(i, j, w) in weights {
        laplacian[(i, i)] += w;
        laplacian[(j, j)] += w;
        laplacian[(i, j)] -= w;
        laplacian[(j, i)] -= w;
    }
    let least = symmetric_eigen(laplacian.as_ref()).0[n - 2];
    (laplacian * faer::Scale(1.0 / least), least)
}

fn weights(certificate: &Certificate) -> Vec<(usize, usize, f64)> {
    certificate.weights.iter().map(|w| (w.i as usize, w.j as usize, w.weight)).collect()
}

/// How far (18), (L[i,i] − 1) y[i] = Σⱼ w[i,j] y[j], is from true over all points, as a part of Y.
fn imbalance(laplacian: &Mat<f64>, y: &Mat<f64>) -> f64 {
    let n = y.nrows();
    let off = Mat::from_fn(n, y.ncols(), |i, q| {
        let own = (laplacian[(i, i)] - 1.0) * y[(i, q)];
        own - (0..n).filter(|&j| j != i).map(|j| -laplacian[(i, j)] * y[(j, q)]).sum::<f64>()
    });
    off.norm_l2() / y.norm_l2()
}

/// X05 in closed form. A path of n points with edges of length one is stretched into a line, with the dual weight
/// j(n − j)/2 on its j-th edge; a ring becomes a regular polygon, with one weight for all edges. In both L y = y, the least
/// eigenvalue of L beside zero is one, and the dual value Σ w d² is the variance. The solver finds both: its weights, its
/// variance and its balance at every point.
#[test]
fn x05_at_the_optimum_of_unfolding_each_point_is_a_combination_of_its_neighbors() {
    let n = 12;
    let path: Vec<(usize, usize, f64)> = (1..n).map(|j| (j - 1, j, (j * (n - j)) as f64 / 2.0)).collect();
    let line = Mat::from_fn(n, 1, |i, _| i as f64 - 0.5 * (n - 1) as f64);
    let angle = 2.0 * std::f64::consts::PI / n as f64;
    let weight = 1.0 / (2.0 - 2.0 * angle.cos());
    let ring: Vec<(usize, usize, f64)> = (0..n).map(|j| (j.min((j + 1) % n), j.max((j + 1) % n), weight)).collect();
    let radius = 0.5 / (0.5 * angle).sin();
    let turn = |i: usize, q: usize| if q == 0 { (angle * i as f64).cos() } else { (angle * i as f64).sin() };
    let polygon = Mat::from_fn(n, 2, |i, q| radius * turn(i, q));
    for (closed, mut edges, y) in [(false, path, line), (true, ring, polygon)] {
        let (matrix, least) = laplacian(n, &edges);
        assert!((least - 1.0).abs() < 1e-11, "{least}");
        assert!(imbalance(&matrix, &y) < 1e-11, "{}", imbalance(&matrix, &y));
        let dual: f64 = edges.iter().map(|edge| edge.2).sum();
        assert!((dual - y.squared_norm_l2()).abs() < 1e-10 * dual, "strong duality: {dual}");

        let model = unfolded(1e-8).fit(&chain(n, closed), &Silent).unwrap();
        let found = weights(&model.certificates()[0]);
        let (matrix, least) = laplacian(n, &found);
        edges.sort_by_key(|edge| (edge.0, edge.1));
        for (known, found) in edges.iter().zip(&found) {
            assert_eq!((known.0, known.1), (found.0, found.1));
            assert!((found.2 / least / known.2 - 1.0).abs() < 1e-5, "closed {closed}: {found:?} for {known:?}");
        }
        let (off, variance) = (balance(&model, &matrix), model.report().certificate.unwrap().primal);
        println!("closed {closed}: off by {off:.1e}");
        assert!(off < 1e-5 && (variance / dual - 1.0).abs() < SOLVED, "closed {closed}: {off} {variance} {dual}");
    }
}

/// X05 on rolled sheets, by what the model hands out alone.
#[test]
fn x05_the_points_of_an_unfolded_roll_are_combinations_of_their_neighbors() {
    for n in [100, 250] {
        let model = unfolded(1e-8).fit(&swiss(n), &Silent).unwrap();
        let (matrix, _) = laplacian(n, &weights(&model.certificates()[0]));
        let off = balance(&model, &matrix);
        println!("{n} points: off by {off:.1e}");
        assert!(off < 1e-6, "{n} points: {off}");
    }
}

/// The imbalance of a model's own coordinates.
fn balance(model: &Model, laplacian: &Mat<f64>) -> f64 {
    let y = &model.certificates()[0].coordinates;
    imbalance(laplacian, &Mat::from_fn(y.rows(), y.cols(), |i, q| y.row(i)[q]))
}

/// X09: the dual, (9), is solved for 100,000 points. A path has the optimum n(n² − 1)/12, and both sides of the
/// certificate, computed anew from its weights, are next to it.
#[test]
fn x09_the_dual_is_solved_for_a_path_of_100_000_points() {
    let n = 100_000;
    let graph = chain(n, false);
    let model = unfolded(1e-4).fit(&graph, &Silent).unwrap();
    let bracket = model.certificates()[0].verify(&graph, &graph).unwrap();
    let optimum = n as f64 * ((n as f64).powi(2) - 1.0) / 12.0;
    println!("{bracket:?} {optimum}");
    assert!(bracket.confirmed && bracket.gap <= 1e-4 && bracket.violation == 0.0, "{bracket:?}");
    assert!(bracket.primal <= optimum && optimum <= bracket.dual, "{bracket:?} {optimum}");
    assert_eq!(bracket.rank, 1);
}

/// X09 on a rolled sheet.
#[test]
#[ignore = "takes a minute; cargo test --test library -- --ignored"]
fn x09_the_dual_is_solved_for_a_roll_of_100_000_points() {
    let points = swiss(100_000);
    let model = unfolded(1e-3).fit(&points, &Silent).unwrap();
    let search = Search { neighbors: Neighbors::Nearest(6), ..Search::default() };
    let graph = search.of_points(&points, &Silent).unwrap().graph;
    let bracket = model.certificates()[0].verify(&points, &graph).unwrap();
    println!("{bracket:?}");
    assert!(bracket.confirmed && bracket.gap <= 1e-3 && bracket.violation == 0.0, "{bracket:?}");
}

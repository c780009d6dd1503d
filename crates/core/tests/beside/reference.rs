//! Numbers from other programs, in files or of data that are not part of the repository.
use crate::support::*;
use crate::{DRILL, UNFOLDED_RUN};
use eigenfold::{
    Constraints, Distances, Drill, Graph, Metric, Mvu, MvuVariant, Neighbors, Penalty, Points, Recipe, Search, Silent,
    contract::{Build, Site},
    gp_likelihood::{GpLikelihood, GpParameters, LengthRule},
    io,
};

/// Digits on the reference's own graph (their neighbors tie, so that graphs differ between programs): the objective and
/// the number of edges by alternating directions and Newton's method on dense matrices, to a gap of 1e-12.
pub(crate) fn drill_of_digits_has_the_optima_of_the_reference() {
    let reference = shared(DRILL);
    let digits = io::read("digits", &io::ReadOptions::default()).unwrap().points.select(&(0..50).collect::<Vec<_>>());
    let joined = |i: usize| (0..50).filter(move |&j| j != i);
    let length = |i: usize, j: usize| Metric::Euclidean.distance(digits.row(i), digits.row(j));
    let list = |i: usize| joined(i).filter(|&j| reference.row(i)[j] != 0.0).map(|j| (j as u32, length(i, j))).collect();
    let graph = Graph::from_lists((0..50).map(list).collect()).unwrap();
    let mean = digits.column_means();
    let variance = digits.values().iter().enumerate().map(|(at, x)| (x - mean[at % 64]).powi(2)).sum::<f64>() / 3200.0;
    for (part, value, edges) in
        [(0.0, 154.460994322728, 182.0), (0.02, 159.228569444630, 155.0), (0.1, 169.796843494269, 129.0)]
    {
        let penalty = Penalty::Value(part * variance);
        let drill = Drill { penalty, ridge: 0.01, tolerance: 1e-9, ..Drill::default() };
        let site = Site { graph: Some(&graph), ..Site::of((&digits).into()) };
        let built = drill.build(&site).unwrap();
        let figure = |name: &str| built.figures.iter().find(|(other, _)| other.name() == name).unwrap().1;
        assert!((figure("objective") - value).abs() < 1e-6, "{part}: {}", figure("objective"));
        assert_eq!(figure("active_edges"), edges, "{part}");
        assert!(figure("gap") <= 1e-9 && built.ended.is_converged());
    }
}

/// L-BFGS-B from seven starts in NumPy; GPy and scikit-learn agree to 1e-8 at its optimum.
pub(crate) fn digits_and_iris_have_the_likelihoods_of_the_reference_files() {
    let cases =
        [("iris150", 198.794_361_84, -625.362_092_216_1), ("digits100", -14_534.316_509_45, -35_414.361_079_992_1)];
    for (name, best, at_ones) in cases {
        let file = |which: &str| shared(&format!("gold/gplvm_{name}_PCA2_{which}.csv"));
        let (map, data) = (file("X"), file("Y"));
        let likelihood = GpLikelihood { lengths: LengthRule::Raw, ..GpLikelihood::default() };
        let ones = GpParameters { variance: 1.0, length: 1.0, bias: 1.0, noise: 1.0 };
        let there = likelihood.at(&data, &map, &ones).unwrap();
        assert!((there / at_ones - 1.0).abs() < EXACT, "{name}: {there} for {at_ones}");
        let score = likelihood.of(&data, &map, &Silent).unwrap();
        assert!((score.log_likelihood / best - 1.0).abs() < SOLVED, "{name}: {score:?}");
        assert!(score.converged, "{name}: {score:?}");
    }
}

fn unfolding(k: usize, mvu: Mvu) -> Recipe {
    Recipe { neighbors: Neighbors::Nearest(k), method: mvu.into(), ..Recipe::default() }
}

/// What is left of one planar map after the best rotation, reflection and scaling of the other, both of unit size.
fn disparity(a: &Points, b: &Points) -> f64 {
    let unit = |points: &Points| {
        let mean = points.column_means();
        let values: Vec<f64> = points.values().iter().enumerate().map(|(at, v)| v - mean[at % 2]).collect();
        let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        values.iter().map(|v| v / norm).collect::<Vec<f64>>()
    };
    let (a, b) = (unit(a), unit(b));
    let inner = |p: usize, q: usize| (0..a.len() / 2).map(|i| a[2 * i + p] * b[2 * i + q]).sum::<f64>();
    let m = [inner(0, 0), inner(0, 1), inner(1, 0), inner(1, 1)];
    // The squared sum of the singular values.
    1.0 - (m.iter().map(|m| m * m).sum::<f64>() + 2.0 * (m[0] * m[3] - m[1] * m[2]).abs())
}

/// The variants of Lawrence's experiments: the largest variance by two other solvers, and his own map.
pub(crate) fn lawrences_data_have_the_known_variances() {
    let cases = [
        ("osu_run1", 6, [1220.2715, 854.1350, 1437.3046, 346.0890]),
        ("robot_wireless", 7, [15218.7533, 8962.8294, 16978.4371, 4668.6014]),
    ];
    for (name, k, known) in cases {
        let points = shared(&format!("data/{name}/data.csv"));
        let graph =
            Search { neighbors: Neighbors::Nearest(k), ..Search::default() }.of_points(&points, &Silent).unwrap().graph;
        let variants = [
            (Constraints::Edges, MvuVariant::Equality),
            (Constraints::Angles, MvuVariant::Equality),
            (Constraints::Edges, MvuVariant::Inequality),
        ];
        for ((constraints, variant), known) in variants.into_iter().zip(known) {
            let mvu = Mvu { constraints: Some(constraints), variant, tolerance: 1e-6, ..Mvu::default() };
            let model = unfolding(k, mvu).fit(&points, &Silent).unwrap();
            let bracket = model.certificates()[0].verify(&points, &graph).unwrap();
            assert!(model.report().ended.is_converged(), "{bracket:?}");
            // Equality is solved to a gap of 1e-7, inequality to the requested one.
            let digits = if variant == MvuVariant::Equality { 1e-6 } else { 1e-5 };
            assert!((bracket.primal / known - 1.0).abs() < digits, "{bracket:?} {known}");
        }
        // His program took plain distances for squared ones: the same as edges of length √d.
        let roots = distances(&points).values().iter().map(|d| d.sqrt()).collect();
        let roots = Points::new(points.rows(), points.rows(), roots).unwrap();
        let mvu = Mvu { variant: MvuVariant::Equality, tolerance: 1e-6, ..Mvu::default() };
        let model = unfolding(k, mvu).fit(&Distances::new(roots.clone()).unwrap(), &Silent).unwrap();
        let primal = model.report().certificate.unwrap().primal;
        assert!((primal / known[3] - 1.0).abs() < 1e-6, "{primal} {}", known[3]);
        // There is a map of his for the run alone.
        if name == "osu_run1" {
            let disparity = disparity(model.embedding(), &shared(UNFOLDED_RUN));
            assert!(disparity < 1e-5, "{disparity}");
        }
    }
}

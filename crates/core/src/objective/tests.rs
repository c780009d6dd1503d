//! Tests of all objectives: gradients by central differences, and reference values.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::interaction::{Form, Interaction};
use super::neighborhood::Affinities;
use super::umap::Umap;
use super::*;
use crate::field::Site;
use crate::forces::repulsion::{Charges, RepulsionSum};
use crate::forces::{AttractionKernel, Kernel, Pairs, Shape, perplexity};
use crate::{Input, Method, Recipe};
use eigenfold_graph::points::Points;
use eigenfold_graph::{Neighbors, Search};
use eigenfold_io::{ReadOptions, read};
use eigenfold_linalg::optimize::Emphasized;
use eigenfold_linalg::progress::Silent;

fn digits() -> Points {
    read("digits", &ReadOptions::default()).unwrap().points
}

fn some(n: usize, cols: usize) -> Points {
    let value = |at: usize| ((at * at * 31 + at * 17) % 101) as f64 / 50.0;
    Points::new(n, cols, (0..n * cols).map(value).collect()).unwrap()
}

/// One objective of every kind, over this many points in this many dimensions.
fn objectives(n: usize, dims: usize) -> Vec<(&'static str, Interaction<f64>)> {
    let points = some(n, 3);
    let search = Search { neighbors: Neighbors::Nearest(5), ..Search::default() };
    let graph = search.of_points(&points, &Silent).unwrap().graph;
    let pairs = || {
        let weights = perplexity::affinities(&graph, &[3.0]);
        let pairs: Pairs<f64> = Pairs::symmetric(&graph, &weights, |a, b| 0.5 * (a + b) / n as f64);
        pairs
    };
    let of = |attraction, shape, form| {
        let repulsion = RepulsionSum::of(Kernel::of(shape), n, dims, 0.5, Accuracy::Exact);
        Interaction::new(pairs(), attraction, repulsion, form, dims)
    };
    let mut elastic = of(AttractionKernel::Square, Shape::Gaussian, Form::Sum(0.3));
    elastic.charges = Charges::squares(&points, &points);
    vec![
        ("elastic", elastic),
        ("elastic one", of(AttractionKernel::Square, Shape::Gaussian, Form::Sum(0.3))),
        ("sne", of(AttractionKernel::Square, Shape::Gaussian, Form::LogSumRows(1.3))),
        ("symmetric sne", of(AttractionKernel::Square, Shape::Gaussian, Form::LogSum(0.7))),
        ("uni-sne", of(AttractionKernel::Square, Shape::Gaussian, Form::Uniform(0.2))),
        ("t-sne", of(AttractionKernel::Student(1.0), Shape::Student(1.0), Form::LogSum(1.0))),
        ("t-sne of 3 degrees", of(AttractionKernel::Student(3.0), Shape::Student(3.0), Form::LogSum(1.0))),
        ("umap", of(AttractionKernel::Umap(1.5, 0.9), Shape::Umap(1.5, 0.9), Form::Sum(0.01))),
    ]
}

#[test]
fn gradients_are_central_differences_for_every_objective_in_any_dimension() {
    for dims in 1..=4 {
        for (name, mut objective) in objectives(24, dims) {
            let y: Vec<f64> = some(24, dims).into_values();
            let (mut gradient, mut unused) = (vec![0.0; y.len()], vec![0.0; y.len()]);
            for emphasis in [1.0, 4.0] {
                if emphasis > 1.0 && name == "uni-sne" {
                    continue;
                }
                objective.value(&y, emphasis, &mut gradient);
                for at in (0..y.len()).step_by(7) {
                    let mut moved = |step: f64| {
                        let mut y = y.clone();
                        y[at] += step;
                        objective.value(&y, emphasis, &mut unused)
                    };
                    let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let size = gradient.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
                    assert!(
                        (gradient[at] - difference).abs() < 1e-6 * size,
                        "{name} {dims}: {} {difference}",
                        gradient[at]
                    );
                }
            }
        }
    }
}

/// Values by NumPy: affinities of perplexity 30 (k = 90, ties by index) on the digits, and three objectives at a spiral
/// of points, r = 10 √((i + ½)/n) at angle i π (3 − √5).
#[test]
fn affinities_and_objectives_of_the_digits_are_the_known_ones() {
    let points = digits();
    let n = points.rows();
    let site = Site::of((&points).into());
    let affinities = Affinities::new(&site, &Perplexity(vec![30.0])).unwrap();
    let (pairs, entropy) = affinities.joint::<f64>();
    assert_eq!(pairs.targets.len(), 203_680);
    assert!((entropy + 11.013_588_801_563_0).abs() < 1e-11, "{entropy}");
    for (i, right) in [(0, 1.356_373_645_239e-2), (1, 7.991_186_409_088e-3), (1000, 2.789_869_737_638e-3)] {
        let squares: Vec<f64> = affinities.graph.lengths(i).iter().map(|d| d * d).collect();
        let beta = perplexity::calibrated(&squares, 30.0).1;
        assert!((beta / right - 1.0).abs() < 1e-11, "{i}: {beta}");
    }
    let place = |at: usize| {
        let (i, turn) = ((at / 2) as f64, std::f64::consts::PI * (3.0 - 5f64.sqrt()));
        let (r, t) = (10.0 * ((i + 0.5) / n as f64).sqrt(), i * turn);
        if at.is_multiple_of(2) { r * t.cos() } else { r * t.sin() }
    };
    let y: Vec<f64> = (0..2 * n).map(place).collect();
    let cases = [
        (
            AttractionKernel::Student(1.0),
            Shape::Student(1.0),
            Form::LogSum(1.0),
            entropy,
            4.787_828_288_332_4,
            5.503_463_753_200_5e-3,
        ),
        (
            AttractionKernel::Square,
            Shape::Gaussian,
            Form::LogSum(1.0),
            entropy,
            99.704_988_212_607_7,
            7.005_403_810_894_6e-1,
        ),
        (
            AttractionKernel::Square,
            Shape::Gaussian,
            Form::Sum(1.0 / (20.0 * n as f64)),
            0.0,
            101.252_633_820_646_5,
            7.018_177_872_613_6e-1,
        ),
    ];
    for (attraction, shape, form, constant, value, length) in cases {
        let repulsion = RepulsionSum::of(Kernel::of(shape), n, 2, 0.5, Accuracy::Exact);
        let mut objective = Interaction::new(pairs.clone(), attraction, repulsion, form, 2);
        objective.constant = constant;
        let mut gradient = vec![0.0; 2 * n];
        let found = objective.value(&y, 1.0, &mut gradient);
        assert!((found / value - 1.0).abs() < 1e-11, "{form:?}: {found}");
        let norm = gradient.iter().map(|s| s * s).sum::<f64>().sqrt();
        assert!((norm / length - 1.0).abs() < 1e-10, "{form:?}: {norm}");
    }
}

/// With all points at one location the divergence is Σᵢ (log(n − 1) − Hᵢ), or log n(n − 1) − H of all pairs: any result
/// of an optimization is lower. With few points, steps along the gradient over the degree are too long and are
/// rejected.
#[test]
fn few_points_do_not_end_above_the_point_they_start_from() {
    for n in 3..=12 {
        let points = some(n, 4);
        let most = (n as f64 - 1.0).ln();
        let methods = [
            (Method::from_name("sne").unwrap(), n as f64 * most),
            (Method::from_name("symmetric-sne").unwrap(), (n as f64).ln() + most),
        ];
        for (method, most) in methods {
            let recipe = Recipe { method, ..Recipe::default() };
            let model = recipe.fit(&points, &eigenfold_linalg::progress::Silent).unwrap();
            let report = model.report();
            assert!(
                report.coordinates.objective.unwrap() <= most,
                "{n}: {:?} above {most}",
                report.coordinates.objective
            );
        }
    }
}

/// Known classes separate points that distances do not: without them half of the nearest neighbors are of the other
/// class.
#[test]
fn classes_part_a_map_if_they_count() {
    let (n, points) = (120, some(120, 3));
    let classes: Vec<Option<u32>> = (0..n).map(|i| Some((i / 5 % 2) as u32)).collect();
    let of_own_class = |supervision: f64| {
        let method = Umap { supervision, max_iterations: 150, ..Umap::default() };
        let recipe = Recipe { method: method.into(), neighbors: Neighbors::Nearest(15), ..Recipe::default() };
        let model = recipe.fit(Input { labels: Some(&classes), ..(&points).into() }, &Silent).unwrap();
        let nearest = Search { neighbors: Neighbors::Nearest(5), ..Search::default() };
        let graph = nearest.of_points(model.embedding(), &Silent).unwrap().graph;
        let own = |i: usize| graph.neighbors(i).iter().filter(|&&j| classes[j as usize] == classes[i]).count();
        (0..n).map(own).sum::<usize>() as f64 / (5 * n) as f64
    };
    let (blind, half, full) = (of_own_class(0.0), of_own_class(0.5), of_own_class(1.0));
    assert!(blind < 0.75 && half > 0.9 && full > 0.95, "{blind} {half} {full}");
    let recipe = Recipe { method: Umap { supervision: 0.5, ..Umap::default() }.into(), ..Recipe::default() };
    assert!(
        recipe.fit(&points, &eigenfold_linalg::progress::Silent).unwrap_err().to_string().contains("none were given")
    );
    let few = Input { labels: Some(&classes[1..]), ..(&points).into() };
    assert!(recipe.fit(few, &Silent).unwrap_err().to_string().contains("119 labels for 120 points"));
}

/// Functions that refit a supervised method pass it the classes; without them it would fail.
#[test]
fn a_supervised_map_is_evaluated_with_its_classes() {
    let (n, points) = (60, some(60, 6));
    let classes: Vec<Option<u32>> = (0..n).map(|i| Some((i / 5 % 2) as u32)).collect();
    let method = Umap { supervision: 0.9, max_iterations: 30, ..Umap::default() };
    let recipe = Recipe { method: method.into(), dims: 1, ..Recipe::default() };
    let chosen = recipe.choose_neighbors(Input { labels: Some(&classes), ..(&points).into() }, &Silent).unwrap();
    assert_eq!(chosen.tried.len(), 10);
    let other: Vec<Option<u32>> = (0..n).map(|i| Some((i % 2) as u32)).collect();
    let [first, second] =
        [&classes, &other].map(|of| recipe.held_out(Input { labels: Some(of), ..(&points).into() }, &Silent).unwrap());
    assert_ne!(first.by_fold, second.by_fold, "the field follows the classes");
    let rows = recipe.held_out_rows(Input { labels: Some(&classes), ..(&points).into() }, &Silent).unwrap();
    assert_eq!((rows.rows, rows.folds), (60, 5));
    let few =
        recipe.held_out(Input { labels: Some(&classes[1..]), ..(&points).into() }, &Silent).unwrap_err().to_string();
    assert!(few.contains("59 labels for 60 points"), "{few}");
}

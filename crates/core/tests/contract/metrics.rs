//! Metrics other than the Euclidean one, each by a formula that is written out here.
use crate::properties::tolerance;
use crate::support::*;
use eigenfold::{
    Distances, Method, Metric, Points, Recipe, Silent,
    contract::{Field, Task},
};
use faer::Mat;

const POINTS: usize = 120;
/// Two maps that differ by this part of their size are different maps.
const DIFFERENT: f64 = 0.05;

/// A distance between two rows, as a textbook has it.
type Formula = fn(&[f64], &[f64]) -> f64;

fn metrics() -> [(Metric, Formula); 6] {
    let named = |name: &str| name.parse::<Metric>().unwrap();
    [
        (named("manhattan"), |a, b| differences(a, b).sum()),
        (named("chebyshev"), |a, b| differences(a, b).fold(0.0, f64::max)),
        (named("minkowski:3"), |a, b| differences(a, b).map(|d| d * d * d).sum::<f64>().cbrt()),
        (named("canberra"), |a, b| a.iter().zip(b).map(|(x, y)| (x - y).abs() / (x.abs() + y.abs())).sum()),
        (named("cosine"), cosine),
        (named("correlation"), |a, b| cosine(&centered(a), &centered(b))),
    ]
}

fn differences(a: &[f64], b: &[f64]) -> impl Iterator<Item = f64> {
    a.iter().zip(b).map(|(x, y)| (x - y).abs())
}

/// 1 − cos of the angle, which is half the squared distance of the two rows brought to unit length.
fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let length = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (a_length, b_length) = (length(a), length(b));
    0.5 * a.iter().zip(b).map(|(x, y)| (x / a_length - y / b_length).powi(2)).sum::<f64>()
}

fn centered(row: &[f64]) -> Vec<f64> {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    row.iter().map(|v| v - mean).collect()
}

fn square(points: &Points, formula: Formula) -> Points {
    let n = points.rows();
    let distance = |i: usize, j: usize| if i == j { 0.0 } else { formula(points.row(i), points.row(j)) };
    Points::new(n, n, (0..n * n).map(|at| distance(at / n, at % n)).collect()).unwrap()
}

/// Methods that fit patches of features: the metric chooses the neighbors, and what is fitted to them is Euclidean.
const OF_PATCHES: [&str; 6] = ["lle", "alle", "ltsa", "hessian-lle", "modified-lle", "drill"];

pub(crate) fn sees_distances_alone(method: &Method) -> bool {
    method.info().uses_metric && !OF_PATCHES.contains(&method.info().name)
}

pub(crate) fn fits_patches(method: &Method) -> bool {
    OF_PATCHES.contains(&method.info().name)
}

/// Methods of features or kernels.
pub(crate) fn has_no_metric(method: &Method) -> bool {
    !method.info().uses_metric
}

/// The points with a metric have the map of the matrix of their distances, and not the Euclidean map.
pub(crate) fn a_metric_gives_the_map_of_its_distances(method: &Method) {
    let points = cloud(POINTS, 3, 8);
    // Optimizations start from other coordinates if only distances are known, and rounding grows along them: the same start
    // and few evaluations.
    let mut method = method.clone();
    let start = cloud(POINTS, 2, 4);
    let descends = method.set("init", "random").is_ok() && method.set("max-iterations", "20").is_ok();
    let start = descends.then_some(&start);
    for (metric, formula) in metrics() {
        let recipe = Recipe { metric, ..recipe(&method) };
        let ours = fit_recipe(&recipe, &points, start);
        let given = Distances::new(square(&points, formula)).unwrap();
        let given = fit_recipe(&recipe, &given, start);
        let off = distance_mismatch(ours.embedding(), given.embedding());
        let euclidean = fit_recipe(&crate::support::recipe(&method), &points, start);
        let same = distance_mismatch(ours.embedding(), euclidean.embedding());
        assert!(off < tolerance(method.info().name), "{metric}: {off}");
        assert!(same > DIFFERENT, "{metric}: the Euclidean map but for {same}");
    }
}

/// The map is the one of the nearest neighbors by the metric, found by sorting all of them; its eigenvectors are found by a dense
/// solver.
pub(crate) fn a_metric_chooses_the_neighbors(method: &Method) {
    let (points, k) = (cloud(POINTS, 3, 8), 10);
    for (metric, formula) in metrics() {
        let ours = Recipe { metric, ..recipe(method) }.fit(&points, &Silent).unwrap();
        let all = square(&points, formula);
        let nearest = |i: usize| {
            let mut others: Vec<usize> = (0..POINTS).filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| all.row(i)[a].total_cmp(&all.row(i)[b]));
            others[..k].iter().map(|&j| (j as u32, all.row(i)[j])).collect::<Vec<_>>()
        };
        // The parents of alle are the nearest of more points than its neighbors, by the metric too.
        let own = if method.info().name == "alle" { metric } else { Metric::Euclidean };
        let built = built_on(method, &points, own, (0..POINTS).map(nearest).collect());
        let wanted = first_coordinates(built, 2);
        let off = subspace_angle(ours.embedding(), &wanted);
        let euclidean = subspace_angle(ours.embedding(), recipe(method).fit(&points, &Silent).unwrap().embedding());
        assert!(off < SOLVED, "{metric}: {off}");
        assert!(euclidean > DIFFERENT, "{metric}: the Euclidean map but for {euclidean}");
    }
}

/// The directions of most variance under a field, constants excluded, from dense matrices.
fn first_coordinates(task: Task, dims: usize) -> Points {
    let (precision, proper) = match task {
        Task::Spectral(Field::Precision { matrix, normalization: None, .. }) => (matrix.to_dense(), false),
        Task::Spectral(Field::Root(root)) => (root.precision().to_dense(), false),
        Task::Spectral(Field::Definite { matrix, .. }) => (matrix.to_dense(), true),
        _ => panic!("the field is a precision"),
    };
    let n = precision.nrows();
    // The first is the constant one where it is free, at the end of all.
    let (vectors, last) = if proper {
        let center = Mat::from_fn(n, n, |i, j| f64::from(i == j) - 1.0 / n as f64);
        (symmetric_eigen((&center * inverse(&precision) * &center).as_ref()).1, None)
    } else {
        (symmetric_eigen(precision.as_ref()).1, Some(n - 2))
    };
    let column = |q: usize| last.map_or(q, |last| last - q);
    Points::new(n, dims, (0..n * dims).map(|at| vectors[(at / dims, column(at % dims))]).collect()).unwrap()
}

pub(crate) fn a_metric_changes_nothing_where_there_is_none(method: &Method) {
    let points = cloud(POINTS, 3, 8);
    let euclidean = fit(method.clone(), &points);
    for (metric, _) in metrics() {
        let other = Recipe { metric, ..recipe(method) }.fit(&points, &Silent).unwrap();
        assert_eq!(other.embedding(), euclidean.embedding(), "{metric}");
    }
}

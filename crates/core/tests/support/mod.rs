//! Data, fits and comparisons that the test programs share.
#![allow(dead_code, reason = "no test program uses all of it")]

pub(crate) mod circle;

use eigenfold::{
    Data, Graph, Input, Method, Metric, Model, Neighbors, Points, Recipe, Search, Silent,
    contract::{Build, Built, Site, Task},
    io,
    io::ReadOptions,
};
use faer::{Mat, MatRef, Side};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

/// Identities that hold to rounding.
pub(crate) const EXACT: f64 = 1e-12;
/// What an iterative solver must reach.
pub(crate) const SOLVED: f64 = 1e-8;
/// What a fit must reach.
pub(crate) const FITTED: f64 = 1e-4;

/// The R2 swiss roll: a low-discrepancy sample, the same on every machine.
pub(crate) fn swiss(n: usize) -> Points {
    let g = 1.324_717_957_244_746_f64;
    let row = |i: usize| {
        let (u, v) = ((0.5 + i as f64 / g).fract(), (0.5 + i as f64 / (g * g)).fract());
        let t = 1.5 * std::f64::consts::PI * (1.0 + 2.0 * u);
        [t * t.cos(), 21.0 * v, t * t.sin()]
    };
    Points::from_rows(&(1..=n).map(row).collect::<Vec<_>>()).unwrap()
}

/// Every method with its default parameters; gplvm with few evaluations, since the likelihood of a roll without noise grows for
/// thousands of them.
pub(crate) fn methods() -> Vec<Method> {
    let few = |mut method: Method| {
        if method.info().name == "gplvm" {
            // After 40 a row of the larger roll is still far from its neighbors.
            method.set("max-iterations", "60").unwrap();
        }
        method
    };
    Method::all().into_iter().map(few).collect()
}

/// A model that several tests use.
pub(crate) type Shared = Arc<OnceLock<Model>>;

/// A method fitted to a roll of n points: once for all tests of this process.
pub(crate) fn fitted(method: &Method, n: usize) -> Shared {
    static MODELS: Mutex<BTreeMap<(&str, usize), Shared>> = Mutex::new(BTreeMap::new());
    let model = MODELS.lock().unwrap().entry((method.info().name, n)).or_default().clone();
    model.get_or_init(|| Recipe { method: method.clone(), ..Recipe::default() }.fit(&swiss(n), &Silent).unwrap());
    model
}

/// Iris as the UCI repository has it, with its two wrong rows.
pub(crate) fn iris_of_uci() -> Points {
    let iris = io::read("iris", &ReadOptions::default()).unwrap().points;
    let wrong = |i: usize| if i == 34 || i == 37 { vec![4.9, 3.1, 1.5, 0.1] } else { iris.row(i).to_vec() };
    Points::from_rows(&(0..150).map(wrong).collect::<Vec<_>>()).unwrap()
}

/// Points without structure: a linear congruential generator's.
pub(crate) fn cloud(n: usize, p: usize, seed: u64) -> Points {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    Points::new(n, p, (0..n * p).map(|_| next()).collect()).unwrap()
}

/// Where a file is that is too large or not free enough to be kept here: in the directory that the environment variable
/// EIGENFOLD_SHARED names, or in `shared` next to the workspace.
fn beside(name: &str) -> PathBuf {
    let next_to_workspace = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    std::env::var_os("EIGENFOLD_SHARED").map_or_else(next_to_workspace, PathBuf::from).join(name)
}

/// Whether [`shared`] has this file.
pub(crate) fn is_shared(name: &str) -> bool {
    beside(name).exists()
}

/// A file of numbers from beside the project.
pub(crate) fn shared(name: &str) -> Points {
    let path = beside(name);
    assert!(path.exists(), "there is no {}; set EIGENFOLD_SHARED to the directory that has {name}", path.display());
    if name.ends_with(".npy") {
        return io::read(path.to_str().unwrap(), &ReadOptions::default()).unwrap().points;
    }
    // The first line of some files is a comment.
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("numbers.csv");
    std::fs::write(&copy, lines.join("\n")).unwrap();
    io::read(copy.to_str().unwrap(), &ReadOptions::default()).unwrap().points
}

/// A method with the defaults of all else.
pub(crate) fn recipe(method: &Method) -> Recipe {
    Recipe { method: method.clone(), ..Recipe::default() }
}

pub(crate) fn fit(method: impl Into<Method>, points: &Points) -> Model {
    recipe(&method.into()).fit(points, &Silent).unwrap()
}

/// A fit whose optimization begins at the given coordinates, if there are any.
pub(crate) fn fit_recipe<'a>(recipe: &Recipe, input: impl Into<Data<'a>>, start: Option<&'a Points>) -> Model {
    let data: Data<'a> = input.into();
    recipe.fit(Input { init: start, ..data.into() }, &Silent).unwrap()
}

pub(crate) fn all_finite(points: &Points) -> bool {
    points.values().iter().all(|v| v.is_finite())
}

/// What a method builds on the given graph.
pub(crate) fn built(method: &dyn Build, points: &Points, neighbors: Neighbors) -> Built {
    let found = Search { neighbors, ..Search::default() }.of_points(points, &Silent).unwrap();
    let site = Site { graph: Some(&found.graph), ..Site::of(points.into()) };
    method.build(&site).unwrap()
}

/// What a method builds on the given lists of neighbors, for two coordinates.
pub(crate) fn built_on(method: &Method, points: &Points, metric: Metric, lists: Vec<Vec<(u32, f64)>>) -> Task {
    let graph = Graph::from_lists(lists).unwrap();
    let site = Site { graph: Some(&graph), dims: 2, ..Site::of(Data::from(points).measured_by(metric)) };
    method.build(&site).unwrap().task
}

/// The dense matrix of Euclidean distances.
pub(crate) fn distances(points: &Points) -> Points {
    let n = points.rows();
    let distance = |i: usize, j: usize| eigenfold::Metric::Euclidean.distance(points.row(i), points.row(j));
    Points::new(n, n, (0..n * n).map(|at| distance(at / n, at % n)).collect()).unwrap()
}

/// AᵀB.
pub(crate) fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    a.transpose() * b
}

/// All eigenpairs of a symmetric matrix by the matrix library itself, largest eigenvalue first.
pub(crate) fn symmetric_eigen(matrix: MatRef<'_, f64>) -> (Vec<f64>, Mat<f64>) {
    let found = matrix.self_adjoint_eigen(Side::Lower).unwrap();
    let n = matrix.nrows();
    let values = (0..n).rev().map(|q| found.S()[q]).collect();
    (values, Mat::from_fn(n, n, |i, q| found.U()[(i, n - 1 - q)]))
}

/// The inverse of a symmetric matrix that is positive definite.
pub(crate) fn inverse(matrix: &Mat<f64>) -> Mat<f64> {
    use faer::linalg::solvers::DenseSolveCore;
    matrix.llt(Side::Lower).unwrap().inverse()
}

/// Columns centered and orthonormalized.
fn basis(points: &Points) -> Mat<f64> {
    let mean = points.column_means();
    let centered = Mat::from_fn(points.rows(), points.cols(), |i, j| points.row(i)[j] - mean[j]);
    let (values, vectors) = symmetric_eigen(inner(centered.as_ref(), centered.as_ref()).as_ref());
    let rotated = &centered * &vectors;
    Mat::from_fn(points.rows(), points.cols(), |i, q| rotated[(i, q)] / values[q].sqrt())
}

/// The sine of the largest angle between the column spaces, both centered.
pub(crate) fn subspace_angle(a: &Points, b: &Points) -> f64 {
    let (a, b) = (basis(a), basis(b));
    let projected = inner(a.as_ref(), b.as_ref());
    let rest = &b - &a * &projected;
    let (values, _) = symmetric_eigen(inner(rest.as_ref(), rest.as_ref()).as_ref());
    values[0].max(0.0).sqrt()
}

/// The largest difference of pairwise distances, relative to the largest distance.
pub(crate) fn distance_mismatch(a: &Points, b: &Points) -> f64 {
    let (a, b) = (distances(a), distances(b));
    let largest = a.values().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    a.values().iter().zip(b.values()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / largest
}

/// 1 − R² of the truth regressed on the map.
pub(crate) fn affine_error(truth: &Points, map: &Points) -> f64 {
    let b = basis(map);
    let mean = truth.column_means();
    let t = Mat::from_fn(truth.rows(), truth.cols(), |i, j| truth.row(i)[j] - mean[j]);
    let rest = &t - &b * inner(b.as_ref(), t.as_ref());
    (rest.norm_l2() / t.norm_l2()).powi(2)
}

/// A rotation of p dimensions: the product of plane rotations by growing angles.
pub(crate) fn rotated(points: &Points) -> Points {
    let p = points.cols();
    let mut rows: Vec<Vec<f64>> = (0..points.rows()).map(|i| points.row(i).to_vec()).collect();
    for row in &mut rows {
        for j in 1..p {
            let (sin, cos) = (0.3 + j as f64).sin_cos();
            let (x, y) = (row[j - 1], row[j]);
            (row[j - 1], row[j]) = (cos * x - sin * y, sin * x + cos * y);
        }
    }
    Points::from_rows(&rows).unwrap()
}

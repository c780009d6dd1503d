//! Where a descent starts.

use crate::coordinates;
use crate::error::{Error, Result};
use crate::field::laplacian::eigenmaps::LaplacianEigenmaps;
use crate::field::scaling::isomap::Isomap;
use crate::field::scaling::mds::Mds;
use crate::field::scaling::pca::Pca;
use crate::field::{Build, Field, Site};
use crate::forces::Pairs;
use crate::graph::{Graph, Neighbors, Search};
use crate::ground::Ground;
use crate::heat::Bandwidth;
use crate::linalg::dense::sign;
use crate::linalg::eigen::pencil;
use crate::linalg::parallel;
use crate::parameter::choices;
use crate::place::Known;
use crate::points::Points;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Where a descent starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Init {
    /// The first principal components; classical scaling of distances, Laplacian eigenmaps of a graph.
    #[default]
    Pca,
    /// Laplacian eigenmaps of the neighborhood graph; of 15 neighbors, if the method has none.
    Spectral,
    /// At random, by the seed.
    Random,
}

choices! {
    Init {
        Pca: "pca", "the first principal components (of distances classical scaling, of a graph spectral)";
        Spectral: "spectral", "Laplacian eigenmaps of the graph, or of 15 neighbors";
        Random: "random", "at random, by the seed";
    }
}

/// The least weight of an edge in a spectral start: what holds pieces together must be seen.
const LEAST_WEIGHT: f64 = 1e-6;

/// Neighbors of the spectral start.
const NEIGHBORS: usize = 15;

/// Of more points than this the principal components are those of so many of them: a start need not be more exact.
const SAMPLED: usize = 10_000;

/// The landmarks of isomap, if there are more points than that.
const LANDMARKS: usize = 200;
const LANDMARKS_ABOVE: usize = 2500;

impl Init {
    /// A start for every point whose first coordinate has the given standard deviation; the site's own, if it has one.
    pub(crate) fn start(self, site: &Site<'_>, size: f64) -> Result<Points> {
        let dims = site.dims;
        let found = match (given(site)?, self, site.ground) {
            (Some(given), ..) => given,
            (None, Init::Random, _) => return random(site, size),
            (None, Init::Pca, Ground::Points(points, _)) if points.cols() >= dims => principal(points, site)?,
            (None, Init::Pca, Ground::Distances(_)) => mapped(&Mds::default(), site)?,
            _ => spectral(site)?,
        };
        sized(&found, site, size)
    }

    /// As [`Init::start`], with Laplacian eigenmaps by the weights of the pairs themselves.
    pub(crate) fn start_by(self, pairs: &Pairs<f64>, site: &Site<'_>, size: f64) -> Result<Points> {
        if self != Init::Spectral || site.start.is_some() {
            return self.start(site, size);
        }
        // A heat kernel of width one has the weight w at the length √(−2 log w).
        let mut lists = vec![Vec::new(); site.len()];
        for (i, j, _) in site.graph()?.union().pairs() {
            let length = (-2.0 * pairs.weight(i as usize, j as usize).clamp(LEAST_WEIGHT, 1.0).ln()).sqrt();
            lists[i as usize].push((j, length));
            lists[j as usize].push((i, length));
        }
        let graph = Graph::from_lists(lists)?;
        let method = LaplacianEigenmaps { bandwidth: Bandwidth::Sigma(1.0), ..LaplacianEigenmaps::default() };
        sized(&roughly(&method, &Site { graph: Some(&graph), ..*site })?, site, size)
    }
}

/// A start, centered, with that standard deviation along its first coordinate.
pub(super) fn sized(found: &Points, site: &Site<'_>, size: f64) -> Result<Points> {
    let (n, dims) = (site.len(), site.dims);
    let means = found.column_means();
    let spread = (0..n).map(|i| (found.row(i)[0] - means[0]).powi(2)).sum::<f64>() / n as f64;
    let factor = if spread > 0.0 { size / spread.sqrt() } else { 0.0 };
    // Directions in which the start has no variance would stay empty: they get a little.
    let noise = random(site, 1e-3 * size)?;
    let empty: Vec<bool> = (0..dims).map(|q| (0..n).all(|i| found.row(i)[q] == found.row(0)[q])).collect();
    let value = |i: usize, q: usize| {
        if empty[q] { noise.row(i)[q] } else { factor * (found.row(i)[q] - means[q]) }
    };
    Points::new(n, dims, (0..n).flat_map(|i| (0..dims).map(move |q| (i, q))).map(|(i, q)| value(i, q)).collect())
}

/// The start that the site has, if it fits the map.
pub(super) fn given(site: &Site<'_>) -> Result<Option<Points>> {
    let (n, dims) = (site.len(), site.dims);
    match site.start {
        Some(given) if given.rows() != n || given.cols() != dims => Err(Error::data(format!(
            "the start has {} rows and {} columns where the map has {n} and {dims}; give one row per point",
            given.rows(),
            given.cols()
        ))),
        start => Ok(start.cloned()),
    }
}

/// What is told of the start, if it was given.
pub(super) fn told(site: &Site<'_>) -> Option<(&'static str, String)> {
    site.start.map(|_| ("init", "given".to_string()))
}

fn mapped(method: &dyn Build, site: &Site<'_>) -> Result<Points> {
    let mut built = method.build(site)?;
    Ok(coordinates::map(&mut built.task, site.dims, site.seed, site.memory, site.observer)?.coordinates)
}

/// The first principal components.
fn principal(points: &Points, site: &Site<'_>) -> Result<Points> {
    let n = points.rows();
    if n <= SAMPLED {
        return mapped(&Pca::default(), site);
    }
    let some = points.select(&(0..SAMPLED).map(|i| i * n / SAMPLED).collect::<Vec<_>>());
    let map = mapped(&Pca::default(), &Site { ground: Ground::from(&some), ..*site })?;
    let mean = some.column_means();
    // X̃ᵀY has the directions of the components; in units of the map, so that no square overflows.
    let unit = map.values().iter().fold(f64::MIN_POSITIVE, |most, y| most.max(y.abs()));
    let mut axes = vec![vec![0.0; points.cols()]; site.dims];
    for (row, place) in some.values().chunks_exact(points.cols()).zip(map.values().chunks_exact(site.dims)) {
        for (axis, y) in axes.iter_mut().zip(place) {
            axis.iter_mut().zip(row.iter().zip(&mean)).for_each(|(a, (x, m))| *a += (x - m) / unit * (y / unit));
        }
    }
    for axis in &mut axes {
        let length = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
        axis.iter_mut().for_each(|a| *a = if length > 0.0 { *a / length } else { 0.0 });
    }
    let along =
        |row: &[f64], axis: &[f64]| -> f64 { row.iter().zip(&mean).zip(axis).map(|((x, m), a)| (x - m) * a).sum() };
    let coordinates = |i: usize| -> Vec<f64> { axes.iter().map(|axis| along(points.row(i), axis)).collect() };
    let values = parallel::collect(n, coordinates);
    Points::new(n, site.dims, values.concat())
}

fn spectral(site: &Site<'_>) -> Result<Points> {
    let method = LaplacianEigenmaps::default();
    if site.graph.is_some() {
        return roughly(&method, site);
    }
    let graph = usual_graph(site)?;
    roughly(&method, &Site { graph: Some(&graph), ..*site })
}

/// Laplacian eigenmaps in a bounded time: a start need not be exact.
fn roughly(method: &LaplacianEigenmaps, site: &Site<'_>) -> Result<Points> {
    let built = method.build(site)?;
    let Some(Field::Precision { matrix, mass, .. }) = built.field() else { return mapped(method, site) };
    let dims = site.dims;
    let pairs = pencil::bottom_roughly(matrix, mass.as_deref(), dims, site.seed, site.memory, site.observer)?;
    let signs: Vec<f64> = (0..dims).map(|q| sign(pairs.vectors.as_ref(), q)).collect();
    let value = |(i, q): (usize, usize)| signs[q] * pairs.vectors[(i, q)];
    let places = (0..site.len()).flat_map(|i| (0..dims).map(move |q| (i, q)));
    Points::new(site.len(), dims, places.map(value).collect())
}

/// The graph of a start where the method has none.
pub(super) fn usual_graph(site: &Site<'_>) -> Result<Graph> {
    let neighbors = Neighbors::Nearest(NEIGHBORS.min(site.len() - 1));
    let search = Search { neighbors, metric: site.metric(), seed: site.seed, recall: site.recall, ..Search::default() };
    Ok(site.ground.neighbors(&search, site.observer)?.graph)
}

/// Isomap, with landmarks if there are many points.
pub(super) fn isomap(site: &Site<'_>, graph: &Graph) -> Result<Points> {
    let n = site.len();
    let method = Isomap { landmarks: (n > LANDMARKS_ABOVE).then_some(LANDMARKS) };
    let site = Site { graph: Some(graph), ..*site };
    let mut built = method.build(&site)?;
    let map = coordinates::map(&mut built.task, site.dims, site.seed, site.memory, site.observer)?;
    if map.coordinates.rows() == n {
        return Ok(map.coordinates);
    }
    let known =
        Known { points: None, k: 1, map: &map.coordinates, eigenvalues: &map.evidence.eigenvalues, radius: None };
    built.rule.place_all(&known, site.ground, built.geodesics.take())
}

fn random(site: &Site<'_>, size: f64) -> Result<Points> {
    let (n, dims) = (site.len(), site.dims);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(site.seed);
    let values = (0..n * dims).map(|_| size * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng));
    Points::new(n, dims, values.collect())
}

#[cfg(any(test, feature = "unit-tests"))]
mod tests {
    use super::*;
    use eigenfold_unit_test::test;

    #[test]
    fn the_components_of_some_are_nearly_those_of_all() {
        let n = SAMPLED + 2000;
        let value = |i: usize, c: usize| {
            let noise = ((i * 5 + c) as f64 * 0.754_877_666).fract() - 0.5;
            3.0 + noise * [1.0, 8.0, 0.1, 4.0, 0.5][c]
        };
        let points = Points::new(n, 5, (0..5 * n).map(|at| value(at / 5, at % 5)).collect()).unwrap();
        let site = Site::of(Ground::from(&points));
        let (some, all) = (principal(&points, &site).unwrap(), mapped(&Pca::default(), &site).unwrap());
        for q in 0..2 {
            let (mut both, mut one, mut other) = (0.0, 0.0, 0.0);
            for i in 0..n {
                let (a, b) = (some.row(i)[q], all.row(i)[q]);
                (both, one, other) = (both + a * b, one + a * a, other + b * b);
            }
            let cosine = both.abs() / (one * other).sqrt();
            assert!(cosine > 0.9999, "component {q}: {cosine}");
        }
    }
}

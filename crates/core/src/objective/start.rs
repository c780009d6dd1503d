//! Starts of an optimization.

use crate::extend::Known;
use crate::field::laplacian::eigenmaps::LaplacianEigenmaps;
use crate::field::scaling::isomap::Isomap;
use crate::field::scaling::mds::Mds;
use crate::field::scaling::pca::Pca;
use crate::field::{Build, Field, Site};
use crate::forces::Pairs;
use crate::input::Data;
use crate::kernel::heat::Bandwidth;
use crate::parameter::choices;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Metric, Neighbors, Search};
use eigenfold_linalg::dense::sign;
use eigenfold_linalg::eigen::pencil::{self, Pencil};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel::{self, Scratch};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The start of an optimization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Init {
    /// The first principal components; classical scaling of distances, Laplacian eigenmaps of a graph.
    #[default]
    Pca,
    /// Laplacian eigenmaps of the neighborhood graph; of 15 neighbors, if the method has none.
    Spectral,
    /// Random, by the seed.
    Random,
}

choices! {
    Init {
        Pca: "pca", "the first principal components (for distances classical scaling, for a graph spectral)";
        Spectral: "spectral", "Laplacian eigenmaps of the graph, or of 15 nearest neighbors";
        Random: "random", "random, by the seed";
    }
}

/// The minimum weight of an edge in a spectral start: linking edges between components must not vanish.
const LEAST_WEIGHT: f64 = 1e-6;

/// How many times principal components are averaged over neighbors.
const AVERAGED: usize = 4;

/// No point starts farther from the median than this many median distances.
const REACH: f64 = 3.0;

/// Neighbors of the spectral start.
const NEIGHBORS: usize = 15;

/// Above this many points the principal components are those of a sample of this size: a start need not be more
/// accurate.
const SAMPLED: usize = 10_000;

/// The landmarks of Isomap, if there are more points than that.
const LANDMARKS: usize = 200;
const LANDMARKS_ABOVE: usize = 2500;

impl Init {
    /// A start whose first coordinate has the given standard deviation; the start supplied by the user, if there is
    /// one.
    pub(crate) fn start(self, site: &Site<'_>, size: f64) -> Result<Points> {
        let dims = site.dims;
        let found = match (supplied(site)?, self, site.data) {
            (Some(given), ..) => given,
            (None, Init::Random, _) => return random(site, size),
            (None, Init::Pca, Data::Points(points, _)) if points.cols() >= dims => principal(points, site)?,
            (None, Init::Pca, Data::Distances(_)) => mapped(&Mds::default(), site)?,
            _ => spectral(site)?,
        };
        sized(&found, site, size)
    }

    /// As [`Init::start`], for a method that attracts these pairs and cannot bring back points that start far away. A
    /// point's principal components are averaged with those of its neighbors, so that neighbors start near each other.
    /// Eigenvectors of a graph may be zero except for a few points, which would start far from all others: only their
    /// ranks are used.
    pub(crate) fn start_by(self, pairs: &Pairs<f64>, site: &Site<'_>, size: f64) -> Result<Points> {
        let found = match (self, site.data) {
            (Init::Random, _) => return self.start(site, size),
            _ if site.start.is_some() => return self.start(site, size),
            (Init::Pca, Data::Points(points, _)) if points.cols() >= site.dims => {
                within_reach(&averaged(&principal(points, site)?, pairs)?)?
            }
            (Init::Pca, Data::Distances(_)) => within_reach(&averaged(&mapped(&Mds::default(), site)?, pairs)?)?,
            _ => ranks(&spectral_by(pairs, site)?)?,
        };
        sized(&found, site, size)
    }
}

/// The points themselves, or their directions if the metric depends on angles.
fn directions(points: &Points, metric: Metric) -> Result<Cow<'_, Points>> {
    if !metric.is_angle() {
        return Ok(Cow::Borrowed(points));
    }
    let (rows, cols) = (points.rows(), metric.ranked_cols(points.cols()));
    Ok(Cow::Owned(Points::new(rows, cols, metric.ranked_rows(points).into_owned())?))
}

/// ½ (y[i] + Σⱼ w[i,j] y[j] / Σⱼ w[i,j]), repeatedly.
fn averaged(start: &Points, pairs: &Pairs<f64>) -> Result<Points> {
    let (degrees, mut points) = (pairs.degrees(), start.clone());
    for _ in 0..AVERAGED {
        let rows: Vec<Vec<f64>> = parallel::collect(points.rows(), |i| {
            let (targets, weights) = pairs.row(i);
            let share = |weight: f64| if degrees[i] > 0.0 { 0.5 * weight / degrees[i] } else { 0.0 };
            let own = if degrees[i] > 0.0 { 0.5 } else { 1.0 };
            let mut row: Vec<f64> = points.row(i).iter().map(|y| own * y).collect();
            for (&j, &weight) in targets.iter().zip(weights) {
                row.iter_mut().zip(points.row(j as usize)).for_each(|(sum, y)| *sum += share(weight) * y);
            }
            row
        });
        points = Points::new(points.rows(), points.cols(), rows.concat())?;
    }
    Ok(points)
}

/// The points around their median, outliers moved inward to three times the median distance from it.
fn within_reach(start: &Points) -> Result<Points> {
    let (n, dims) = (start.rows(), start.cols());
    let middle: Vec<f64> = (0..dims).map(|q| median((0..n).map(|i| start.row(i)[q]).collect())).collect();
    let away = |i: usize| start.row(i).iter().zip(&middle).map(|(y, m)| y - m);
    let radii: Vec<f64> = (0..n).map(|i| away(i).map(|y| y * y).sum::<f64>().sqrt()).collect();
    let reach = REACH * median(radii.clone());
    // If most points coincide, the others are not outliers.
    let inward = |radius: f64| if reach > 0.0 && radius > reach { reach / radius } else { 1.0 };
    let values = (0..n).flat_map(|i| away(i).map(move |y| (i, y))).map(|(i, y)| inward(radii[i]) * y);
    Points::new(n, dims, values.collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The rank of every coordinate among those of all points, from −½ to ½; ties share their mean rank.
fn ranks(start: &Points) -> Result<Points> {
    let (n, dims) = (start.rows(), start.cols());
    let mut values = vec![0.0; n * dims];
    for q in 0..dims {
        let at = |i: usize| start.row(i)[q];
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| at(a).total_cmp(&at(b)));
        for equal in order.chunk_by(|&a, &b| at(a) == at(b)) {
            let before = order.partition_point(|&i| at(i) < at(equal[0]));
            let middle = before as f64 + 0.5 * equal.len() as f64;
            equal.iter().for_each(|&i| values[i * dims + q] = middle / n as f64 - 0.5);
        }
    }
    Points::new(n, dims, values)
}

/// Laplacian eigenmaps by the weights of the pairs themselves.
fn spectral_by(pairs: &Pairs<f64>, site: &Site<'_>) -> Result<Points> {
    // A heat kernel of width one has the weight w at the length √(−2 log w).
    let mut lists = vec![Vec::new(); site.len()];
    for (i, j, _) in site.graph()?.union().pairs() {
        let length = (-2.0 * pairs.weight(i as usize, j as usize).clamp(LEAST_WEIGHT, 1.0).ln()).sqrt();
        lists[i as usize].push((j, length));
        lists[j as usize].push((i, length));
    }
    let graph = Graph::from_lists(lists)?;
    let method = LaplacianEigenmaps { bandwidth: Bandwidth::Sigma(1.0), ..LaplacianEigenmaps::default() };
    roughly(&method, &Site { graph: Some(&graph), ..*site })
}

/// A start, centered, with this standard deviation along its first coordinate.
pub(super) fn sized(found: &Points, site: &Site<'_>, size: f64) -> Result<Points> {
    let (n, dims) = (site.len(), site.dims);
    let means = found.column_means();
    let spread = (0..n).map(|i| (found.row(i)[0] - means[0]).powi(2)).sum::<f64>() / n as f64;
    let factor = if spread > 0.0 { size / spread.sqrt() } else { 0.0 };
    // Directions without variance in the start would stay empty: they get small random values.
    let noise = random(site, 1e-3 * size)?;
    let empty: Vec<bool> = (0..dims).map(|q| (0..n).all(|i| found.row(i)[q] == found.row(0)[q])).collect();
    let value = |i: usize, q: usize| {
        if empty[q] { noise.row(i)[q] } else { factor * (found.row(i)[q] - means[q]) }
    };
    Points::new(n, dims, (0..n).flat_map(|i| (0..dims).map(move |q| (i, q))).map(|(i, q)| value(i, q)).collect())
}

/// The start supplied by the user, if its shape is that of the map.
pub(super) fn supplied(site: &Site<'_>) -> Result<Option<Points>> {
    let (n, dims) = (site.len(), site.dims);
    match site.start {
        Some(given) if given.rows() != n || given.cols() != dims => Err(Error::other_shape(
            &[("rows", given.rows(), n), ("columns", given.cols(), dims)],
            format!(
                "the start has {} rows and {} columns where the map has {n} and {dims}",
                given.rows(),
                given.cols()
            ),
            "give one row per point",
        )),
        start => Ok(start.cloned()),
    }
}

/// The report on a start supplied by the user.
pub(super) fn reported(site: &Site<'_>) -> Option<(&'static str, String)> {
    site.start.map(|_| ("init", "given".to_string()))
}

fn mapped(method: &dyn Build, site: &Site<'_>) -> Result<Points> {
    let mut built = method.build(site)?;
    Ok(site.map(&mut built.task, site.dims)?.coordinates)
}

/// The first principal components, of the directions of the points if the metric depends on angles.
fn principal(points: &Points, site: &Site<'_>) -> Result<Points> {
    let (n, metric) = (points.rows(), site.metric());
    if n <= SAMPLED {
        return mapped(&Pca::default(), &Site { data: Data::from(&*directions(points, metric)?), ..*site });
    }
    let some = points.select(&(0..SAMPLED).map(|i| i * n / SAMPLED).collect::<Vec<_>>());
    let some = directions(&some, metric)?;
    let map = mapped(&Pca::default(), &Site { data: Data::from(&*some), ..*site })?;
    let mean = some.column_means();
    // X̃ᵀY has the directions of the components; in units of the map, so that no square overflows.
    let unit = map.values().iter().fold(f64::MIN_POSITIVE, |most, y| most.max(y.abs()));
    let mut axes = vec![vec![0.0; some.cols()]; site.dims];
    for (row, place) in some.values().chunks_exact(some.cols()).zip(map.values().chunks_exact(site.dims)) {
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
    let buffers = Scratch::new(Vec::new);
    let coordinates = |row: &[f64]| -> Vec<f64> { axes.iter().map(|axis| along(row, axis)).collect() };
    let values = parallel::collect(n, |i| buffers.lend(|buffer| coordinates(metric.ranked_point(points, i, buffer))));
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

/// Laplacian eigenmaps in bounded time: a start need not be exact.
fn roughly(method: &LaplacianEigenmaps, site: &Site<'_>) -> Result<Points> {
    let built = method.build(site)?;
    let Some(Field::Precision { matrix, order, normalization, .. }) = built.field() else {
        return mapped(method, site);
    };
    let dims = site.dims;
    let pencil = Pencil { matrix, order: order.as_deref(), normalization: normalization.as_deref() };
    let pairs = pencil::bottom_roughly(pencil, dims, site.seed, site.memory, site.observer)?;
    site.predict(pairs.factor);
    let signs: Vec<f64> = (0..dims).map(|q| sign(pairs.vectors.as_ref(), q)).collect();
    let value = |(i, q): (usize, usize)| signs[q] * pairs.vectors[(i, q)];
    let places = (0..site.len()).flat_map(|i| (0..dims).map(move |q| (i, q)));
    Points::new(site.len(), dims, places.map(value).collect())
}

/// The graph of a start if the method has none.
pub(super) fn usual_graph(site: &Site<'_>) -> Result<Graph> {
    let neighbors = Neighbors::Nearest(NEIGHBORS.min(site.len() - 1));
    let search = Search { neighbors, metric: site.metric(), recall: site.recall, ..Search::default() };
    Ok(site.data.neighbors(&search, site.observer)?.graph)
}

/// Isomap, with landmarks if there are many points.
pub(super) fn isomap(site: &Site<'_>, graph: &Graph) -> Result<Points> {
    let n = site.len();
    let method = Isomap { landmarks: (n > LANDMARKS_ABOVE).then_some(LANDMARKS) };
    let site = Site { graph: Some(graph), ..*site };
    let mut built = method.build(&site)?;
    let map = site.map(&mut built.task, site.dims)?;
    if map.coordinates.rows() == n {
        return Ok(map.coordinates);
    }
    let known =
        Known { points: None, k: 1, map: &map.coordinates, eigenvalues: &map.diagnostics.eigenvalues, radius: None };
    built.rule.place_all(&known, site.data, built.geodesics.take())
}

fn random(site: &Site<'_>, size: f64) -> Result<Points> {
    let (n, dims) = (site.len(), site.dims);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(site.seed);
    let values = (0..n * dims).map(|_| size * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng));
    Points::new(n, dims, values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_components_of_some_are_nearly_those_of_all() {
        let n = SAMPLED + 2000;
        let value = |i: usize, c: usize| {
            let noise = ((i * 5 + c) as f64 * 0.754_877_666).fract() - 0.5;
            3.0 + noise * [1.0, 8.0, 0.1, 4.0, 0.5][c]
        };
        let points = Points::new(n, 5, (0..5 * n).map(|at| value(at / 5, at % 5)).collect()).unwrap();
        let site = Site::of(Data::from(&points));
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

    #[test]
    fn ranks_keep_the_order_and_share_ties() {
        let start = Points::from_rows(&[[5.0, 1.0], [1e9, 1.0], [-3.0, 0.0], [5.0, 2.0]]).unwrap();
        let found = ranks(&start).unwrap();
        assert_eq!(found.values(), [0.0, 0.0, 0.375, 0.0, -0.375, -0.375, 0.0, 0.375]);
    }

    #[test]
    fn outliers_of_a_start_are_moved_inward_and_nothing_else_is() {
        let start = Points::from_rows(&[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [3e6, 4e6]]).unwrap();
        let found = within_reach(&start).unwrap();
        assert_eq!(&found.values()[..8], &start.values()[..8]);
        assert!((found.row(4)[0] - 1.8).abs() < 1e-12 && (found.row(4)[1] - 2.4).abs() < 1e-12, "{found:?}");
        let coinciding = Points::from_rows(&[[2.0], [2.0], [2.0], [7.0]]).unwrap();
        assert_eq!(within_reach(&coinciding).unwrap().values(), [0.0, 0.0, 0.0, 5.0]);
    }

    /// A point halfway to the mean of its neighbors, by their weights.
    #[test]
    fn components_are_averaged_over_neighbors() {
        let graph = Graph::from_lists(vec![vec![(1, 1.0), (2, 1.0)], vec![(0, 1.0)], vec![(0, 1.0)]]).unwrap();
        let pairs: Pairs<f64> = Pairs::symmetric(&graph, &[3.0, 1.0, 3.0, 1.0], f64::max);
        let mut expected = [0.0, 1.0, 5.0];
        for _ in 0..AVERAGED {
            let [a, b, c] = expected;
            expected = [0.5 * a + 0.375 * b + 0.125 * c, 0.5 * (a + b), 0.5 * (a + c)];
        }
        let found = averaged(&Points::from_rows(&[[0.0], [1.0], [5.0]]).unwrap(), &pairs).unwrap();
        assert!(found.values().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?} {expected:?}");
    }
}

//! Local kriging from the map to the data: every place is predicted from the map points nearest to it.
//!
//! A place i has the variance u[i] = v[i] τ[i] in units that are common to all places, and feature j the scale a[j]:
//!
//! ```text
//! τ[i] = (ν q̄ + q[i]) / (ν + m − 1)          how rough the data are around the place, drawn to the average q̄
//! a[j] = Σᵢ (x[i,j] − x̂[i,j])² / u[i] / N     over N training rows, each predicted from the others
//! deviation of feature j at place i = √(a[j] u[i]), at least (1 − 1ᵀC⁻¹c) times the feature's standard deviation
//! ```
//!
//! so that left-out rows have a mean square of one in units of their deviations, feature by feature, and a place with
//! nothing near it is no surer than a guess without the map. The bound is idle where there are points. The length ℓ and
//! the noise ratio η (`neighborhood.rs`) are those of a grid with the largest leave-one-out log density, all features
//! in the data's own units and with one scale between them, which is profiled out:
//!
//! ```text
//! −mean log u[i] − log mean (‖x[i] − x̂[i]‖² / u[i])
//! ```
//!
//! Nothing is stored: rows, length, noise and scales follow from the points and the map.
//!
//! A. V. Vecchia. Estimation and model identification for continuous spatial processes. Journal of the Royal
//! Statistical Society B 50, 1988 (neighbors instead of all points). T. C. Haas. Kriging and automated variogram
//! modeling within a moving window. Atmospheric Environment 24A, 1990. S. Sundararajan, S. S. Keerthi. Predictive
//! approaches for choosing hyperparameters in Gaussian processes. Neural Computation 13, 2001.

use crate::back::neighborhood::{Kriged, Neighborhood, quadratic};
use crate::error::Result;
use crate::graph::{Index, Metric};
use crate::linalg::parallel;
use crate::points::Points;
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The map points that a place is predicted from (docs/decisions/0008 has the comparison).
const NEIGHBORS: usize = 32;
/// Training rows that choose the length and the noise.
const CHOOSING: usize = 300;
/// Training rows that set the scale of each feature.
const JUDGING: usize = 2000;
/// ℓ, in units of the median distance of the neighbors.
const LENGTHS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// η, in units of the process variance.
const NOISES: [f64; 8] = [1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];
/// ν: how many neighbors the average roughness counts for.
const PRIOR: f64 = 4.0;
/// How many rows the scale of the average feature counts for in that of each feature.
const PSEUDO_ROWS: f64 = 20.0;

/// The map, the data, and everything that was learned about the way between them.
pub(crate) struct Kriging<'a> {
    points: &'a Points,
    map: MapNeighbors<'a>,
    /// What the values are divided by before they are squared.
    unit: f64,
    pub(crate) length: f64,
    pub(crate) noise: f64,
    /// q̄ by its degrees of freedom.
    roughness: f64,
    /// a[j].
    scales: Vec<f64>,
    /// The variance of each feature.
    spread: Vec<f64>,
    pub(crate) judged: Option<Judged>,
}

/// How well left-out rows were predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judged {
    /// How many there were.
    pub(crate) rows: usize,
    /// The root of their squared error over their squared distance from the mean.
    pub(crate) error: f64,
    /// The share of their entries within one and within two deviations, constant features apart.
    pub(crate) within: [f64; 2],
    /// The mean log density of their entries, each in units of its feature's standard deviation.
    pub(crate) log_density: f64,
}

/// A training row to be predicted from the others.
struct Left {
    row: usize,
    around: Neighborhood,
    /// The inner products of the neighbors as seen from the row itself.
    gram: Vec<f64>,
}

/// Finds the neighbors of places, within one piece of the map.
pub(crate) struct MapNeighbors<'a> {
    index: Index<'a>,
    /// The piece of every map point, if they were kept separate.
    pieces: Option<Vec<u32>>,
}

impl<'a> MapNeighbors<'a> {
    pub(crate) fn new(map: &'a Points, pieces: Option<Vec<u32>>) -> Result<MapNeighbors<'a>> {
        Ok(MapNeighbors { index: Index::new(map, Metric::Euclidean)?, pieces })
    }

    /// The neighborhoods of places; those of map points, given by their rows, leave the points themselves out.
    pub(crate) fn of(&self, places: &Points, rows: Option<&[usize]>) -> Result<Vec<Neighborhood>> {
        let map = self.index.points();
        let k = (NEIGHBORS + usize::from(rows.is_some())).min(map.rows());
        let (near, to) = self.index.nearest(places, k)?;
        Ok(parallel::collect(places.rows(), |i| {
            let own = rows.map(|rows| rows[i] as u32);
            let (near, to) = (&near[i * k..(i + 1) * k], &to[i * k..(i + 1) * k]);
            let list = near.iter().copied().zip(to.iter().copied());
            let mut list: Vec<(u32, f64)> = list.filter(|(a, _)| Some(*a) != own).take(NEIGHBORS).collect();
            if let (Some(pieces), Some(&(first, _))) = (&self.pieces, list.first()) {
                let home = pieces[own.unwrap_or(first) as usize];
                list.retain(|(a, _)| pieces[*a as usize] == home);
            }
            let (near, to) = list.into_iter().unzip();
            Neighborhood::new(map, near, to)
        }))
    }

    /// The neighborhoods of new places.
    pub(crate) fn around(&self, places: &Points) -> Result<Vec<Neighborhood>> {
        self.of(places, None)
    }
}

impl<'a> Kriging<'a> {
    /// Learns the way from the map to the data.
    pub(crate) fn new(points: &'a Points, map: MapNeighbors<'a>) -> Result<Kriging<'a>> {
        let means = points.column_means();
        let away = |(at, x): (usize, &f64)| (x - means[at % means.len()]).abs();
        let unit = points.values().iter().enumerate().map(away).fold(f64::MIN_POSITIVE, f64::max);
        let spread = spread(points, &means, unit);
        let scales = spread.clone();
        let mut kriging =
            Kriging { points, map, unit, length: 1.0, noise: 1.0, roughness: 0.0, scales, spread, judged: None };
        let left = kriging.left_out()?;
        kriging.choose(&left[..left.len().min(CHOOSING)]);
        kriging.judge(&left, &means);
        Ok(kriging)
    }

    /// A draw of training rows, each with the neighborhood it would have if it were new.
    fn left_out(&self) -> Result<Vec<Left>> {
        let n = self.points.rows();
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(0);
        let rows: Vec<usize> = index::sample(&mut draw, n, n.min(JUDGING)).into_vec();
        let around = self.map.of(&self.map.index.points().select(&rows), Some(&rows))?;
        let left = rows.into_iter().zip(around).filter(|(_, around)| !around.near.is_empty());
        Ok(parallel::collect_of(left, |_, (row, around)| {
            let gram = around.gram(self.points, self.points.row(row), self.unit);
            Left { row, around, gram }
        }))
    }

    /// Takes the length and the noise of largest leave-one-out log density.
    fn choose(&mut self, left: &[Left]) {
        let mut best = f64::NEG_INFINITY;
        for length in LENGTHS {
            for noise in NOISES {
                let kriged = solve(left, length, noise);
                let roughness = mean_roughness(left, &kriged);
                let (mut logs, mut squares) = (0.0, 0.0);
                for (left, kriged) in left.iter().zip(&kriged) {
                    let variance = place_variance(left.around.near.len(), kriged, roughness);
                    logs += variance.ln();
                    squares += quadratic(&left.gram, left.around.near.len(), &kriged.weights).max(0.0) / variance;
                }
                let n = left.len() as f64;
                let density = -logs / n - (squares / n).ln();
                if density > best {
                    (best, self.length, self.noise) = (density, length, noise);
                }
            }
        }
    }

    /// Sets the scale of each feature, and finds how good the predictions are.
    fn judge(&mut self, left: &[Left], means: &[f64]) {
        let kriged = solve(left, self.length, self.noise);
        self.roughness = mean_roughness(left, &kriged);
        if left.is_empty() || self.roughness <= 0.0 {
            // Nothing to learn from: a single point, or data that are the same everywhere.
            return;
        }
        let residual = |at: usize| -> Vec<f64> {
            let (left, kriged) = (&left[at], &kriged[at]);
            let predicted = self.predicted(&left.around, kriged, self.points.row(left.row));
            self.points.row(left.row).iter().zip(predicted).map(|(x, p)| (x - p) / self.unit).collect()
        };
        let residuals = parallel::collect(left.len(), residual);
        let variances: Vec<f64> = left
            .iter()
            .zip(&kriged)
            .map(|(left, kriged)| place_variance(left.around.near.len(), kriged, self.roughness))
            .collect();
        let mut sums = vec![0.0; self.spread.len()];
        for (residual, variance) in residuals.iter().zip(&variances) {
            sums.iter_mut().zip(residual).for_each(|(sum, r)| *sum += r * r / variance);
        }
        let rows = left.len() as f64;
        let average = sums.iter().sum::<f64>() / rows / self.spread.iter().sum::<f64>();
        let shrunk = |(sum, spread): (&f64, &f64)| match *spread {
            0.0 => 0.0,
            spread => (sum + PSEUDO_ROWS * average * spread) / (rows + PSEUDO_ROWS),
        };
        self.scales = sums.iter().zip(&self.spread).map(shrunk).collect();
        self.judged = Some(self.judgement(left, &residuals, &variances, means));
    }

    fn judgement(&self, left: &[Left], residuals: &[Vec<f64>], variances: &[f64], means: &[f64]) -> Judged {
        let (mut wrong, mut total, mut within, mut logs, mut entries) = (0.0, 0.0, [0.0; 2], 0.0, 0.0);
        for ((left, residual), variance) in left.iter().zip(residuals).zip(variances) {
            for (j, r) in residual.iter().enumerate() {
                wrong += r * r;
                total += ((self.points.row(left.row)[j] - means[j]) / self.unit).powi(2);
                let predicted = self.scales[j] * variance;
                if predicted > 0.0 {
                    entries += 1.0;
                    within[0] += f64::from(u8::from(r * r <= predicted));
                    within[1] += f64::from(u8::from(r * r <= 4.0 * predicted));
                    logs -= 0.5 * ((std::f64::consts::TAU * predicted / self.spread[j]).ln() + r * r / predicted);
                }
            }
        }
        Judged {
            rows: left.len(),
            error: if total > 0.0 { (wrong / total).sqrt() } else { 0.0 },
            within: within.map(|count| if entries > 0.0 { count / entries } else { 1.0 }),
            log_density: if entries > 0.0 { logs / entries } else { 0.0 },
        }
    }

    /// The data row at a place and the deviation of each of its entries.
    pub(crate) fn at(&self, around: &Neighborhood) -> (Vec<f64>, Vec<f64>) {
        let center = self.points.row(around.near[0] as usize);
        let gram = around.gram(self.points, center, self.unit);
        let kriged = around.kriged(self.length, self.noise, &gram);
        let variance = if self.judged.is_some() {
            place_variance(around.near.len(), &kriged, self.roughness)
        } else {
            kriged.variance
        };
        let least = kriged.missing * kriged.missing;
        let deviation = |(scale, spread): (&f64, &f64)| self.unit * (scale * variance).max(least * spread).sqrt();
        let deviations = self.scales.iter().zip(&self.spread).map(deviation).collect();
        (self.predicted(around, &kriged, center), deviations)
    }

    /// Σ α[a] x[a], summed as differences from a center so that a constant feature keeps its value to the last bit.
    fn predicted(&self, around: &Neighborhood, kriged: &Kriged, center: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; center.len()];
        for (&a, weight) in around.near.iter().zip(&kriged.weights) {
            let row = self.points.row(a as usize);
            sums.iter_mut().zip(row).zip(center).for_each(|((sum, x), c)| *sum += weight * (x - c));
        }
        sums.iter().zip(center).map(|(sum, c)| c + sum).collect()
    }

    /// The neighborhoods of new places.
    pub(crate) fn around(&self, places: &Points) -> Result<Vec<Neighborhood>> {
        self.map.around(places)
    }

    /// The most neighbors that a place has.
    pub(crate) fn neighbors(&self) -> usize {
        NEIGHBORS.min(self.points.rows())
    }
}

/// The variance of each feature in squared units; exactly zero for one that is the same everywhere.
fn spread(points: &Points, means: &[f64], unit: f64) -> Vec<f64> {
    let first = points.row(0);
    let mut sums = vec![0.0; means.len()];
    let mut varies = vec![false; means.len()];
    for row in points.values().chunks_exact(means.len()) {
        for (j, x) in row.iter().enumerate() {
            sums[j] += ((x - means[j]) / unit).powi(2);
            varies[j] |= *x != first[j];
        }
    }
    let n = points.rows() as f64;
    sums.iter().zip(varies).map(|(sum, varies)| if varies { sum / n } else { 0.0 }).collect()
}

fn solve(left: &[Left], length: f64, noise: f64) -> Vec<Kriged> {
    parallel::collect(left.len(), |at| left[at].around.kriged(length, noise, &left[at].gram))
}

/// q̄: the roughness by its degrees of freedom, over all rows.
fn mean_roughness(left: &[Left], kriged: &[Kriged]) -> f64 {
    let freedoms: usize = left.iter().map(|left| left.around.near.len() - 1).sum();
    let total: f64 = kriged.iter().map(|kriged| kriged.roughness).sum();
    // Pairs of points are not enough to say how rough the data are; then only ratios count.
    if freedoms > 0 { total / freedoms as f64 } else { 1.0 }
}

/// u = v τ.
fn place_variance(neighbors: usize, kriged: &Kriged, roughness: f64) -> f64 {
    kriged.variance * (PRIOR * roughness + kriged.roughness) / (PRIOR + neighbors as f64 - 1.0)
}

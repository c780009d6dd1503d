//! Local kriging from the map to the data: every embedding point is predicted from its nearest map points.
//!
//! All parameters are learned from left-out training rows: each is embedded by the others, as a new row would be, and
//! predicted from the map points around that position. So their errors include the error of the extension and that of
//! the inverse transform. A point i has the variance u[i] = v[i] τ[i] in units that are common to all points:
//!
//! ```text
//! τ[i] = (ν q̄ + q[i]) / (ν + m − 1)          how rough the data are around the point, shrunk to the average q̄
//! f[i,j]² = (1 − s)² Σ p[a] (x[a,j] − x̂[i,j])² + (1 − 1ᵀC⁻¹c)² σ[j]²
//!                                             off the map: how much the nearest differ, or all where nothing is near
//! width[i,j] = w[j] √(b[j]² u[i] + f[i,j]²)   w[j] the least with |x[i,j] − x̂[i,j]| ≤ width[i,j] for a share of the rows
//! ```
//!
//! The share is 0.68 for standard deviations (g = 1) and 0.95 for 95 % half-widths (g = 1.96), counted for every
//! feature j, whatever its distribution: a conformal interval with a local scale, with the lower bound g (1 − 1ᵀC⁻¹c)
//! σ[j]. b[j] is the same count for rows with unlimited weights (s = 1) and f = 0. No interval is wider than g √2 σ[j],
//! the difference of two random rows. The length scale ℓ and the noise ratio η (`neighborhood.rs`) maximize, over a
//! grid, the density of the left-out rows, all features in the data's own units and with one common scale, which is
//! profiled out; a Laplace density is used, so that a few outliers do not dominate:
//!
//! ```text
//! −mean log u[i] − 2 log mean (‖x[i] − x̂[i]‖ / √u[i])
//! ```
//!
//! Nothing is stored in the model: rows, length scale, noise and widths follow from the points and the map. Callers
//! that reconstruct often can keep them ([`LearnedInverse`](super::LearnedInverse)).
//!
//! A. V. Vecchia. Estimation and model identification for continuous spatial processes. Journal of the Royal
//! Statistical Society B 50, 1988 (neighbors instead of all points). T. C. Haas. Kriging and automated variogram
//! modeling within a moving window. Atmospheric Environment 24A, 1990. S. Sundararajan, S. S. Keerthi. Predictive
//! approaches for choosing hyperparameters in Gaussian processes. Neural Computation 13, 2001. J. Lei, M. G'Sell, A. Rinaldo,
//! R. J. Tibshirani, L. Wasserman. Distribution-free predictive inference for regression. JASA 113, 2018, section 5.2.

use crate::reconstruct::calibration::{GAUSSIAN, Row, bases, widths};
use crate::reconstruct::draws::Errors;
use crate::reconstruct::map_neighbors::MapNeighbors;
use crate::reconstruct::neighborhood::{Kriged, Neighborhood, Values};
use crate::reconstruct::{At, MARGIN, Portable};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Training rows that choose the length scale and the noise.
const CHOOSING: usize = 300;
/// Training rows that set the scale of each feature.
const EVALUATED: usize = 2000;
/// ℓ, in units of the median distance of the neighbors.
const LENGTHS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// η, in units of the process variance.
const NOISES: [f64; 8] = [1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];
/// ν: the prior weight of the average roughness, in neighbors.
const PRIOR: f64 = 4.0;

/// The learned state of the inverse transform; the points and the map are passed in again where it is used.
pub(crate) struct Kriging {
    /// The unit of the values before they are squared.
    unit: f64,
    means: Vec<f64>,
    pub(crate) length: f64,
    pub(crate) noise: f64,
    /// q̄ by its degrees of freedom.
    roughness: f64,
    /// b[j].
    bases: Vec<f64>,
    /// w[j] of the standard deviations and of the 95 % half-widths.
    widths: Vec<[f64; 2]>,
    /// The variance of each feature.
    spread: Vec<f64>,
    pub(crate) evaluated: Option<CrossValidated>,
    left: Vec<Row>,
}

/// The prediction quality of left-out rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CrossValidated {
    /// How many there were.
    pub(crate) rows: usize,
    /// The root of their squared error over their squared distance from the mean, with the contribution of a row
    /// limited to that of an average row.
    pub(crate) error: f64,
    /// The share of their entries within their standard deviations and within their 95 % half-widths, each half of the
    /// rows by the widths of the other half; without constant features.
    pub(crate) within: [f64; 2],
    /// The mean log density of their entries, each in units of its feature's standard deviation.
    pub(crate) log_density: f64,
}

/// A training row to be predicted from the others.
struct Left {
    row: usize,
    around: Neighborhood,
    /// The neighbors relative to the row itself.
    values: Values,
}

impl Kriging {
    /// Learns the inverse transform by a sample of at most this many left-out rows: `placed` are their positions on the
    /// map as new rows.
    pub(crate) fn new(
        points: &Points,
        map: &MapNeighbors<'_>,
        most: usize,
        placed: impl Fn(&[usize]) -> Result<Points>,
    ) -> Result<Kriging> {
        let n = points.rows();
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(0);
        let rows = index::sample(&mut draw, n, n.min(EVALUATED).min(most)).into_vec();
        Kriging::by(points, map, rows, placed)
    }

    /// The same for a map without a model, by a sample of the given rows: each stays at its own position.
    pub(crate) fn of_map(points: &Points, map: &MapNeighbors<'_>, rows: &[usize], seed: u64) -> Result<Kriging> {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        let drawn = index::sample(&mut draw, rows.len(), rows.len().min(EVALUATED));
        let rows = drawn.into_iter().map(|at| rows[at]).collect();
        Kriging::by(points, map, rows, |rows| Ok(map.index.points().select(rows)))
    }

    fn by(
        points: &Points,
        map: &MapNeighbors<'_>,
        rows: Vec<usize>,
        placed: impl Fn(&[usize]) -> Result<Points>,
    ) -> Result<Kriging> {
        let means = points.column_means();
        let mut unit = f64::MIN_POSITIVE;
        points.each_row(|_, row| unit = row.iter().zip(&means).map(|(x, m)| (x - m).abs()).fold(unit, f64::max));
        let spread = spread(points, &means, unit);
        let (bases, widths) = (spread.iter().map(|square| square.sqrt()).collect(), vec![GAUSSIAN; spread.len()]);
        let mut kriging = Kriging {
            unit,
            means,
            length: 1.0,
            noise: 1.0,
            roughness: 0.0,
            bases,
            widths,
            spread,
            evaluated: None,
            left: Vec::new(),
        };
        let left = kriging.left_out(points, map, rows, placed)?;
        kriging.choose(&left[..left.len().min(CHOOSING)]);
        kriging.evaluate(points, &left);
        Ok(kriging)
    }

    /// Some training rows, each with the neighborhood it would have if it were new.
    fn left_out(
        &self,
        points: &Points,
        map: &MapNeighbors<'_>,
        rows: Vec<usize>,
        placed: impl Fn(&[usize]) -> Result<Points>,
    ) -> Result<Vec<Left>> {
        let around = map.of(&placed(&rows)?, Some(&rows))?;
        let left = rows.into_iter().zip(around).filter(|(_, around)| !around.near.is_empty());
        Ok(parallel::collect_of(left, |_, (row, around)| {
            let values = around.values(points, &points.point(row), self.unit);
            Left { row, around, values }
        }))
    }

    /// Chooses the length scale and the noise of largest density of the left-out rows.
    fn choose(&mut self, left: &[Left]) {
        let mut best = f64::NEG_INFINITY;
        for length in LENGTHS {
            for (noise, kriged) in NOISES.into_iter().zip(solve(left, length, NOISES)) {
                let roughness = mean_roughness(left, &kriged);
                let (mut logs, mut sizes) = (0.0, 0.0);
                for (left, kriged) in left.iter().zip(&kriged) {
                    let variance = place_variance(left.around.near.len(), kriged, roughness);
                    let square = left.values.square(&kriged.weights);
                    logs += variance.ln();
                    sizes += (square / variance).sqrt();
                }
                let n = left.len() as f64;
                let density = -logs / n - 2.0 * (sizes / n).ln();
                if density > best {
                    (best, self.length, self.noise) = (density, length, noise);
                }
            }
        }
    }

    /// Sets the widths of each feature, and evaluates the predictions.
    fn evaluate(&mut self, points: &Points, left: &[Left]) {
        let [kriged] = solve(left, self.length, [self.noise]);
        self.roughness = mean_roughness(left, &kriged);
        if left.is_empty() || self.roughness <= 0.0 {
            // Nothing to learn from: a single point, or constant data.
            return;
        }
        let evaluated: Vec<Row> = parallel::collect(left.len(), |at| self.row(points, &left[at], &kriged[at]));
        self.bases = bases(&evaluated, &self.spread);
        self.widths = widths(&evaluated, &self.bases);
        self.evaluated = Some(self.judgement(points, &evaluated));
        self.left = evaluated;
    }

    /// The left-out rows with their positions on the map and their errors, in units of their standard deviations.
    pub(crate) fn errors(&self, map: &Points) -> Errors {
        let rows: Vec<usize> = self.left.iter().map(|row| row.row).collect();
        let one = |row: &Row| -> Vec<f64> {
            let off = |(j, off): (usize, &f64)| match self.widths[j][0] * row.scale(&self.bases, j) {
                0.0 => 0.0,
                width => off / width,
            };
            row.off.iter().enumerate().map(off).collect()
        };
        Errors { places: map.select(&rows), errors: self.left.iter().map(one).collect() }
    }

    /// The error of a left-out row, in internal units.
    fn row(&self, points: &Points, left: &Left, kriged: &Kriged) -> Row {
        let row = points.point(left.row);
        let predicted = predicted(points, &left.around, kriged, &row);
        let floors = self.floors(points, &left.around, kriged, &predicted);
        Row {
            row: left.row,
            off: row.iter().zip(predicted).map(|(x, p)| (x - p) / self.unit).collect(),
            floors,
            free: kriged.lost <= 0.0,
            deviation: place_variance(left.around.near.len(), kriged, self.roughness).sqrt(),
        }
    }

    /// The lower bound of the standard deviations, in internal units: the differences of the nearest rows from the
    /// prediction, as far as it is their mean, and the spread of the data, as far as nothing is near.
    fn floors(&self, points: &Points, around: &Neighborhood, kriged: &Kriged, predicted: &[f64]) -> Vec<f64> {
        let mut squares: Vec<f64> = self.spread.iter().map(|spread| kriged.missing.powi(2) * spread).collect();
        if kriged.lost > 0.0 {
            for (&a, weight) in around.near.iter().zip(&around.closeness) {
                let row = points.point(a as usize);
                let weight = weight * kriged.lost.powi(2);
                let away = row.iter().zip(predicted).map(|(x, p)| (x - p) / self.unit);
                squares.iter_mut().zip(away).for_each(|(sum, away)| *sum += weight * away * away);
            }
        }
        squares.iter().map(|square| square.sqrt()).collect()
    }

    /// The squared error of every row as a share of the mean squared distance from the mean, at most 1.
    fn shares(&self, points: &Points, rows: &[Row]) -> Vec<f64> {
        let square = |row: &Row| row.off.iter().map(|off| off * off).sum::<f64>();
        let from_mean = |row: &Row| -> f64 {
            points.point(row.row).iter().zip(&self.means).map(|(x, m)| ((x - m) / self.unit).powi(2)).sum()
        };
        let most = rows.iter().map(from_mean).sum::<f64>() / rows.len() as f64;
        rows.iter().map(|row| if most > 0.0 { (square(row) / most).min(1.0) } else { 0.0 }).collect()
    }

    /// The left-out rows, each with its error: the root of their mean square is that of all.
    pub(crate) fn error_of_rows(&self, points: &Points) -> impl Iterator<Item = (usize, f64)> {
        self.left.iter().map(|row| row.row).zip(self.shares(points, &self.left)).map(|(row, share)| (row, share.sqrt()))
    }

    fn judgement(&self, points: &Points, rows: &[Row]) -> CrossValidated {
        let shares = self.shares(points, rows);
        let halves: [Vec<&Row>; 2] = [0, 1].map(|half| rows.iter().skip(half).step_by(2).collect());
        let (mut within, mut entries) = ([0.0; 2], 0.0);
        for (own, other) in [(0, 1), (1, 0)] {
            if halves[other].is_empty() {
                continue;
            }
            let widths = widths(&halves[other], &self.bases);
            for row in &halves[own] {
                for j in (0..row.off.len()).filter(|&j| self.spread[j] > 0.0) {
                    entries += 1.0;
                    let inside = |level: usize| row.off[j].abs() <= widths[j][level] * row.scale(&self.bases, j);
                    (0..2).for_each(|level| within[level] += f64::from(u8::from(inside(level))));
                }
            }
        }
        CrossValidated {
            rows: rows.len(),
            error: (shares.iter().sum::<f64>() / rows.len() as f64).sqrt(),
            within: within.map(|count| if entries > 0.0 { count / entries } else { 1.0 }),
            log_density: self.log_density(rows),
        }
    }

    /// The mean log density of all entries, as Gaussians with these 95 % half-widths, in units of each feature's standard deviation.
    fn log_density(&self, rows: &[Row]) -> f64 {
        let (mut logs, mut entries) = (0.0, 0.0);
        for row in rows {
            for (j, spread) in self.spread.iter().enumerate().filter(|(_, spread)| **spread > 0.0) {
                // A feature that is nearly constant may have a 95 % half-width of zero; the lower bound is a
                // thousandth.
                let deviation = self.widths[j][1] * row.scale(&self.bases, j) / MARGIN / spread.sqrt();
                let deviation = deviation.max(1e-3);
                let off = row.off[j] / spread.sqrt() / deviation;
                logs -= 0.5 * ((std::f64::consts::TAU * deviation * deviation).ln() + off * off);
                entries += 1.0;
            }
        }
        if entries > 0.0 { logs / entries } else { 0.0 }
    }

    /// The data row at an embedding point, with the standard deviation and the 95 % half-width of every entry.
    pub(crate) fn at(&self, points: &Points, around: &Neighborhood) -> At {
        let center = &*points.point(around.near[0] as usize);
        let values = around.values(points, center, self.unit);
        let kriged = around.kriged(&around.covariances(self.length), self.noise, &values);
        let predicted = predicted(points, around, &kriged, center);
        let deviation = if self.evaluated.is_some() {
            place_variance(around.near.len(), &kriged, self.roughness).sqrt()
        } else {
            kriged.variance.sqrt()
        };
        let floors = self.floors(points, around, &kriged, &predicted);
        let row = Row { row: 0, off: Vec::new(), floors, free: true, deviation };
        let width = |level: usize| {
            let one = |j: usize| self.unit * self.widths[j][level] * row.scale(&self.bases, j);
            (0..predicted.len()).map(one).collect()
        };
        let limits = |j: usize| {
            // The mean distance of two random rows.
            [kriged.missing, std::f64::consts::SQRT_2].map(|limit| self.unit * limit * self.spread[j].sqrt())
        };
        let limits = (0..predicted.len()).map(limits).collect();
        At { widths: [width(0), width(1)], limits, row: predicted }
    }

    /// What a prediction needs besides the rows and the map, with the widths multiplied by the calibration factor.
    pub(crate) fn portable(&self, map: &MapNeighbors<'_>, calibration_factor: [f64; 2]) -> Portable {
        Portable::Kriging {
            neighbors: map.most(),
            length: self.length,
            noise: self.noise,
            unit: self.unit,
            roughness: self.evaluated.map(|_| self.roughness),
            means: self.means.clone(),
            spread: self.spread.clone(),
            bases: self.bases.clone(),
            widths: self
                .widths
                .iter()
                .map(|[one, two]| [calibration_factor[0] * one, calibration_factor[1] * two])
                .collect(),
            components: map.components.clone(),
        }
    }
}

/// The variance of each feature in squared units; exactly zero for a constant feature.
fn spread(points: &Points, means: &[f64], unit: f64) -> Vec<f64> {
    let first = points.point(0);
    let mut sums = vec![0.0; means.len()];
    let mut varies = vec![false; means.len()];
    points.each_row(|_, row| {
        for (j, x) in row.iter().enumerate() {
            sums[j] += ((x - means[j]) / unit).powi(2);
            varies[j] |= *x != first[j];
        }
    });
    let n = points.rows() as f64;
    sums.iter().zip(varies).map(|(sum, varies)| if varies { sum / n } else { 0.0 }).collect()
}

/// Σ α[a] x[a], summed as differences from a center so that a constant feature keeps its value exactly.
fn predicted(points: &Points, around: &Neighborhood, kriged: &Kriged, center: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; center.len()];
    for (&a, weight) in around.near.iter().zip(&kriged.weights) {
        let row = points.point(a as usize);
        sums.iter_mut().zip(&*row).zip(center).for_each(|((sum, x), c)| *sum += weight * (x - c));
    }
    sums.iter().zip(center).map(|(sum, c)| c + sum).collect()
}

/// The kriging results of every row, for each of the noises.
fn solve<const NOISES: usize>(left: &[Left], length: f64, noises: [f64; NOISES]) -> [Vec<Kriged>; NOISES] {
    let by_row = parallel::collect(left.len(), |at| {
        let Left { around, values, .. } = &left[at];
        let covariances = around.covariances(length);
        noises.map(|noise| around.kriged(&covariances, noise, values))
    });
    let mut by_noise = noises.map(|_| Vec::with_capacity(left.len()));
    for row in by_row {
        by_noise.iter_mut().zip(row).for_each(|(all, kriged)| all.push(kriged));
    }
    by_noise
}

/// q̄: the roughness by its degrees of freedom, over all rows.
fn mean_roughness(left: &[Left], kriged: &[Kriged]) -> f64 {
    let freedoms: usize = left.iter().map(|left| left.around.near.len() - 1).sum();
    let total: f64 = kriged.iter().map(|kriged| kriged.roughness).sum();
    // Pairs of points do not determine the roughness; then only ratios count.
    if freedoms > 0 { total / freedoms as f64 } else { 1.0 }
}

/// u = v τ.
fn place_variance(neighbors: usize, kriged: &Kriged, roughness: f64) -> f64 {
    kriged.variance * (PRIOR * roughness + kriged.roughness) / (PRIOR + neighbors as f64 - 1.0)
}

//! The inverse transform of elastic embedding by its own objective: the data row at an embedding point minimizes the
//! objective with one more point, all others fixed.
//!
//! ```text
//! f(x) = argmin over y of  Σₙ w⁺(y, y[n]) ‖x − x[n]‖² + λ ‖y − y[n]‖² exp(−‖x − x[n]‖²)                 (13)
//! w⁺(y, y[n]) = c exp(−β ‖y − y[n]‖²)
//! ```
//!
//! over the map points nearest to x, starting from the data row of the nearest. The second sum attracts y to the rows
//! whose map points are near; the first keeps it away from rows whose map points are not. With heat-kernel affinities β
//! = 1/2σ² and c = 1; entropic affinities use those of the nearest point. Standard deviations are the root mean square
//! error of left-out training rows, feature by feature, with the lower bound of [`Kriging`](super::kriging::Kriging)
//! where there is nothing near.
//!
//! M. Á. Carreira-Perpiñán. The elastic embedding algorithm for dimensionality reduction. ICML 2010, section 4.5.

use super::map_neighbors::MapNeighbors;
use super::neighborhood::Neighborhood;
use super::{At, MARGIN};
use crate::extend::{AffinityRule, Attracted, RepulsionForm, Rule};
use crate::forces::perplexity::calibrated;
use crate::model::Model;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Silent;
use std::borrow::Cow;

/// The number of training rows that are left out to measure the prediction error.
const EVALUATED: usize = 300;
/// The tolerance of the optimization, in units in which the affinities are one wide.
const STOP: Stop = Stop { gradient: 1e-8, decrease: 1e-12, evaluations: 100 };
/// Pairs of steps and gradients that it stores.
const MEMORY: usize = 5;

/// The objective of one more point.
pub(crate) struct Energy<'a> {
    points: &'a Points,
    map: &'a Points,
    lambda: f64,
    weights: AttractiveWeights<'a>,
    /// The mean square error of each feature.
    errors: Vec<f64>,
    /// The variance of each feature.
    spread: Vec<f64>,
    pub(crate) rows: usize,
    pub(crate) error: f64,
    pub(crate) within: [f64; 2],
}

/// How the affinities of a new row follow from its distances.
enum AttractiveWeights<'a> {
    Heat(f64),
    /// By perplexity, of this many neighbors among the data.
    Entropic {
        perplexity: f64,
        neighbors: usize,
        index: Index<'a>,
    },
}

impl<'a> Energy<'a> {
    /// For a model of elastic embedding with Euclidean points, heat kernel or one perplexity, and squared repulsion, in
    /// one component.
    pub(crate) fn new(model: &'a Model, points: &'a Points, near: &MapNeighbors<'_>) -> Result<Energy<'a>> {
        let unfit = || {
            Error::inapplicable(
                "by",
                "the inverse transform by the objective is that of elastic embedding with squared repulsion, \
                 in one component",
                "leave out `by`",
            )
        };
        let [part] = model.parts.as_slice() else { return Err(unfit()) };
        let Some(Rule::Attracted(Attracted { affinity, repulsion: RepulsionForm::Squares(lambda), .. })) = &part.rule
        else {
            return Err(unfit());
        };
        let weights = match affinity {
            AffinityRule::Heat(width) => AttractiveWeights::Heat(0.5 / (width * width)),
            AffinityRule::Perplexity(perplexities) if perplexities.len() == 1 => AttractiveWeights::Entropic {
                perplexity: perplexities[0],
                neighbors: part.k,
                index: Index::new(points, Metric::Euclidean)?,
            },
            AffinityRule::Perplexity(_) | AffinityRule::Fuzzy => return Err(unfit()),
        };
        let (means, n) = (points.column_means(), points.rows() as f64);
        let mut spread = vec![0.0; means.len()];
        points.each_row(|_, row| {
            spread.iter_mut().zip(row.iter().zip(&means)).for_each(|(sum, (x, m))| *sum += (x - m).powi(2) / n);
        });
        let (lambda, errors) = (*lambda, spread.clone());
        let mut energy = Energy {
            points,
            map: &model.embedding,
            lambda,
            weights,
            errors,
            spread,
            rows: 0,
            error: 1.0,
            within: [0.0; 2],
        };
        energy.evaluate(near)?;
        Ok(energy)
    }

    /// Leaves training rows out one by one.
    fn evaluate(&mut self, near: &MapNeighbors<'_>) -> Result<()> {
        let n = self.points.rows();
        let sampled: Vec<usize> = (0..n.min(EVALUATED)).map(|at| at * n / n.min(EVALUATED)).collect();
        let around = near.of(&self.map.select(&sampled), Some(&sampled))?;
        let left: Vec<(usize, Neighborhood)> =
            sampled.into_iter().zip(around).filter(|(_, around)| !around.near.is_empty()).collect();
        let off = |(row, around): &(usize, Neighborhood)| -> Result<Vec<f64>> {
            let predicted = self.predicted(self.map.row(*row), around)?;
            Ok(self.points.point(*row).iter().zip(predicted).map(|(x, p)| x - p).collect())
        };
        let residuals = parallel::try_collect(left.len(), |at| off(&left[at]))?;
        self.rows = residuals.len();
        if self.rows == 0 {
            return Ok(());
        }
        let mut sums = vec![0.0; self.spread.len()];
        for residual in &residuals {
            sums.iter_mut().zip(residual).for_each(|(sum, r)| *sum += r * r / self.rows as f64);
        }
        self.errors = sums;
        let total: f64 = self.spread.iter().sum();
        self.error = if total > 0.0 { (self.errors.iter().sum::<f64>() / total).sqrt() } else { 0.0 };
        let entries =
            residuals.iter().flat_map(|residual| residual.iter().zip(&self.errors)).filter(|(_, e)| **e > 0.0);
        let (mut within, mut count) = ([0.0; 2], 0.0);
        for (r, error) in entries {
            count += 1.0;
            within[0] += f64::from(u8::from(r * r <= *error));
            within[1] += f64::from(u8::from(r.abs() <= MARGIN * error.sqrt()));
        }
        self.within = within.map(|w| if count > 0.0 { w / count } else { 1.0 });
        Ok(())
    }

    /// The data row at an embedding point and the standard deviation of each of its entries.
    pub(crate) fn at(&self, x: &[f64], around: &Neighborhood) -> Result<At> {
        let center = &*self.points.point(around.near[0] as usize);
        let largest = self.spread.iter().fold(f64::MIN_POSITIVE, |most: f64, s| most.max(*s)).sqrt();
        let values = around.values(self.points, center, largest);
        let missing = around.kriged(&around.covariances(1.0), 1e-2, &values).missing;
        let deviation = |(error, spread): (&f64, &f64)| error.max(missing * missing * spread).sqrt();
        let deviations = self.errors.iter().zip(&self.spread).map(deviation).collect();
        Ok(At::gaussian(self.predicted(x, around)?, deviations))
    }

    /// c and β of the affinities around an embedding point.
    fn attraction(&self, nearest: usize) -> Result<(f64, f64)> {
        match &self.weights {
            AttractiveWeights::Heat(beta) => Ok((1.0, *beta)),
            AttractiveWeights::Entropic { perplexity, neighbors, index } => {
                let k = (neighbors + 1).min(self.points.rows());
                let (_, lengths) = index.nearest(&self.points.select(&[nearest]), k)?;
                // Its own nearest is itself.
                let squares: Vec<f64> = lengths[1..].iter().map(|d| d * d).collect();
                let (weights, beta) = calibrated(&squares, *perplexity);
                let first = squares.iter().zip(&weights).find(|(_, weight)| **weight > 0.0);
                let scale = first.map_or(1.0, |(square, weight)| weight * (beta * square).exp());
                Ok((if scale.is_finite() { scale } else { 1.0 }, beta))
            }
        }
    }

    /// f(x).
    fn predicted(&self, x: &[f64], around: &Neighborhood) -> Result<Vec<f64>> {
        let nearest = around.near[0] as usize;
        let (scale, beta) = self.attraction(nearest)?;
        // In units in which the affinities are one wide.
        let unit = if beta > 0.0 { beta.sqrt().recip() } else { 1.0 };
        let rows: Vec<(Cow<'_, [f64]>, f64, f64)> = around
            .near
            .iter()
            .map(|&n| {
                let square: f64 = x.iter().zip(self.map.row(n as usize)).map(|(a, b)| (a - b) * (a - b)).sum();
                (self.points.point(n as usize), scale * square, self.lambda * unit * unit * (-square).exp())
            })
            .collect();
        let weight: f64 =
            rows.iter().map(|(_, attraction, repulsion)| attraction + repulsion).sum::<f64>().max(f64::MIN_POSITIVE);
        let center = self.points.point(nearest);
        let mut objective = |z: &[f64], gradient: &mut [f64]| {
            gradient.fill(0.0);
            let mut value = 0.0;
            for (row, attraction, repulsion) in &rows {
                let away = |j: usize| z[j] + (center[j] - row[j]) / unit;
                let square: f64 = (0..z.len()).map(|j| away(j) * away(j)).sum();
                let attracted = attraction * (-square).exp();
                value += (attracted + repulsion * square) / weight;
                let factor = 2.0 * (repulsion - attracted) / weight;
                gradient.iter_mut().enumerate().for_each(|(j, gradient)| *gradient += factor * away(j));
            }
            Ok(Some(value))
        };
        let (bounds, scale) = (Bounds::None, Some(0.5));
        let descent = Descent { bounds, memory: MEMORY, scale, cautious: false, stop: STOP, stage: None };
        let start = vec![0.0; center.len()];
        let (z, _) = descent.minimize(&start, &mut objective, &Silent)?;
        Ok(z.iter().zip(&*center).map(|(z, c)| c + z * unit).collect())
    }
}

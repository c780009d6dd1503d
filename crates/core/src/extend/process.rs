//! The most likely position of a new row under a Gaussian process over the map, given all training rows.
//!
//! ```text
//! y = argmin ½ p log s² + ½ ‖x − m‖² / s²        (+ ½ ‖y‖² under the Gaussian prior)
//! ```
//!
//! m(y) and s²(y) are the mean and the variance that the process predicts (`gp/predict.rs`). x is in the units of the
//! fit: centered, and the training rows have mean square one. The density has many maxima, so that the optimization
//! starts from the position of the nearby training row with the highest density.
//!
//! The uncertainty of the position follows from the density (Laplace's approximation): its covariance is H⁻¹, with H
//! the second derivatives of −log p(x | y) there. A direction in which the density hardly falls has a standard
//! deviation of one length scale of the process, beyond which the training rows are uninformative.
//!
//! N. D. Lawrence. Probabilistic non-linear principal component analysis with Gaussian process latent variable models.
//! Journal of Machine Learning Research 6, 2005, section 3.

use super::checks::{all_finite, is_positive};
use super::{Extension, Known, Sizes, Traits, TransformFn};
use crate::gp::predict::Prediction;
use crate::gp::problem::Problem;
use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::small;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Silent;
use serde::{Deserialize, Serialize};

/// The tolerance of the optimization.
const STOP: Stop = Stop { gradient: 1e-9, decrease: 1e-12, evaluations: 100 };
/// The length of its first step, in units of the length scale of the process.
const FIRST: f64 = 0.05;

/// Half the difference for second derivatives, in units of the length scale of the process.
const STEP: f64 = 1e-4;

/// A process over the map, in the units of the fit: the training rows have mean square one, and the length scale is
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Process {
    /// v.
    pub(crate) variance: f64,
    /// b.
    pub(crate) bias: f64,
    /// w.
    pub(crate) noise: f64,
    /// Whether positions have a standard normal prior.
    pub(crate) prior: bool,
    /// The inducing points, on the map; the process is exact without them.
    pub(crate) inducing: Option<Points>,
    /// Back-constraints: positions as a function of the data.
    pub(crate) mapping: Option<Mapping>,
}

/// y(x) = Σⱼ exp(−‖x − x[j]‖² / 2h²) a[j] + b over the training rows, x in the units of the fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mapping {
    /// h.
    pub(crate) width: f64,
    /// a, one row per training row.
    pub(crate) weights: Points,
    /// b.
    pub(crate) origin: Vec<f64>,
}

impl Mapping {
    fn fits(&self, rows: usize, dims: usize) -> bool {
        let Mapping { width, weights, origin } = self;
        let sizes = (weights.rows(), weights.cols(), origin.len()) == (rows, dims, dims);
        is_positive(*width) && weights.is_sound() && sizes && all_finite(origin)
    }

    fn row(&self, row: &[f64], problem: &Problem) -> Vec<f64> {
        let mut place = self.origin.clone();
        for j in 0..problem.n {
            let squared: f64 = row.iter().zip(problem.data_row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
            let near = (-0.5 * squared / (self.width * self.width)).exp();
            place.iter_mut().zip(self.weights.row(j)).for_each(|(y, a)| *y += near * a);
        }
        place
    }
}

/// A process with its training rows, prepared for any new row.
pub(super) struct Fitted<'a> {
    process: &'a Process,
    map: &'a Points,
    problem: Problem,
    prediction: Prediction,
}

impl Process {
    /// The predictions of the process on the map of these points, in the units of the problem that comes with it.
    pub(crate) fn prediction(&self, points: &Points, map: &Points) -> Result<(Problem, Prediction)> {
        let problem = Problem::new(points, map, true)?;
        let parameters = [self.variance, self.bias, self.noise];
        let prediction = match &self.inducing {
            None => Prediction::exact(&problem, map.values(), parameters),
            Some(inducing) => Prediction::bounded(&problem, map.values(), inducing.values(), parameters),
        };
        let singular = || Error::numerical("the covariance of the training points is singular to rounding", "");
        Ok((problem, prediction.ok_or_else(singular)?))
    }

    fn fitted<'a>(&'a self, known: &Known<'a>) -> Result<Fitted<'a>> {
        let (points, _) =
            known.points.ok_or_else(|| Error::input_kind(&["points"], "gplvm embeds points only", "give points"))?;
        let (problem, prediction) = self.prediction(points, known.map)?;
        Ok(Fitted { process: self, map: known.map, problem, prediction })
    }
}

impl Extension for Process {
    /// Leaving a row out would require another factor for every row, so that no row is.
    fn traits(&self) -> Traits {
        Traits::OF_FEATURES
    }

    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>> {
        let fitted = self.fitted(&known)?;
        Ok(Box::new(move |batch| Ok(batch.each(|new| fitted.row(new.row, new.near)))))
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let (rows, dims) = (sizes.rows, sizes.dims);
        let inducing = self.inducing.as_ref().is_none_or(|inducing| inducing.is_sound() && inducing.cols() == dims);
        is_positive(self.variance)
            && is_positive(self.bias)
            && is_positive(self.noise)
            && inducing
            && self.mapping.as_ref().is_none_or(|mapping| mapping.fits(rows, dims))
    }

    /// None if a back-constraint gives the position.
    fn own_deviations(&self, known: &Known<'_>, new: &Points, placed: &Points) -> Result<Option<Points>> {
        if self.mapping.is_some() {
            return Ok(None);
        }
        let fitted = self.fitted(known)?;
        let rows = parallel::collect(new.rows(), |i| fitted.deviations(new.row(i), placed.row(i)));
        Ok(Some(Points::computed(new.rows(), placed.cols(), rows.concat())?))
    }
}

impl Fitted<'_> {
    /// The position of a new row, from those of the training rows near it; by the back-constraint, if there is one.
    pub(super) fn row(&self, row: &[f64], near: &[u32]) -> Vec<f64> {
        let row = self.problem.row(row);
        if let Some(mapping) = &self.process.mapping {
            return mapping.row(&row, &self.problem);
        }
        let mut gradient = vec![0.0; self.map.cols()];
        let mut best = (f64::INFINITY, self.map.row(near[0] as usize).to_vec(), 1.0);
        for &i in near {
            let place = self.map.row(i as usize);
            let value = self.negative(&row, place, &mut gradient);
            if value < best.0 {
                let steep = gradient.iter().map(|s| s * s).sum::<f64>().sqrt();
                best = (value, place.to_vec(), FIRST / steep.max(f64::MIN_POSITIVE));
            }
        }
        let (_, start, scale) = best;
        let descent = Descent {
            bounds: Bounds::None,
            memory: start.len() + 2,
            scale: Some(scale.min(1.0)),
            cautious: false,
            stop: STOP,
            stage: None,
        };
        let mut objective = |y: &[f64], gradient: &mut [f64]| Ok(Some(self.negative(&row, y, gradient)));
        descent.minimize(&start, &mut objective, &Silent).map_or(start, |(place, _)| place)
    }

    /// The roots of the diagonal of H⁻¹.
    fn deviations(&self, row: &[f64], place: &[f64]) -> Vec<f64> {
        let (row, d) = (self.problem.row(row), place.len());
        let gradient = |q: usize, step: f64| {
            let (mut moved, mut gradient) = (place.to_vec(), vec![0.0; d]);
            moved[q] += step;
            self.negative(&row, &moved, &mut gradient);
            gradient
        };
        let columns: Vec<Vec<f64>> = (0..d)
            .map(|q| gradient(q, STEP).iter().zip(gradient(q, -STEP)).map(|(a, b)| (a - b) / (2.0 * STEP)).collect())
            .collect();
        let p = row.len() as f64;
        let mut second: Vec<f64> =
            (0..d * d).map(|at| 0.5 * p * (columns[at / d][at % d] + columns[at % d][at / d])).collect();
        let (values, vectors) = small::symmetric_eigen(&mut second, d);
        let variance = |q: usize| (0..d).map(|r| vectors[r * d + q].powi(2) / values[r].max(1.0)).sum::<f64>();
        (0..d).map(|q| variance(q).sqrt()).collect()
    }

    /// The negative log density of a row at a position, up to a constant and per feature, with its gradient.
    fn negative(&self, row: &[f64], place: &[f64], gradient: &mut [f64]) -> f64 {
        let (at, p) = (self.prediction.at(place), row.len() as f64);
        let off: Vec<f64> = row.iter().zip(&at.mean).map(|(x, mean)| x - mean).collect();
        let square: f64 = off.iter().map(|off| off * off).sum();
        let spread = at.variance;
        let along_mean: Vec<f64> = off.iter().map(|off| -off / (spread * p)).collect();
        let along_variance = 0.5 * (1.0 - square / (spread * p)) / spread;
        gradient.copy_from_slice(&self.prediction.gradient(place, &at, &along_mean, along_variance));
        let mut value = 0.5 * (spread.ln() + square / (spread * p));
        if self.process.prior {
            value += 0.5 * place.iter().map(|y| y * y).sum::<f64>() / p;
            gradient.iter_mut().zip(place).for_each(|(s, y)| *s += y / p);
        }
        value
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use eigenfold_graph::Metric;

    /// Points on a curved strip, one row each, and their position along it.
    fn strip(n: usize) -> (Points, Points) {
        let place = |i: usize| [4.0 * i as f64 / n as f64, (i as f64 * 0.618_034).fract()];
        let row = |[a, b]: [f64; 2]| [a.sin(), a.cos() + b, 0.3 * a * b, 2.0, 0.5 * a];
        let rows: Vec<[f64; 5]> = (0..n).map(|i| row(place(i))).collect();
        (Points::from_rows(&rows).unwrap(), Points::from_rows(&(0..n).map(place).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn the_gradient_of_the_density_is_that_of_central_differences() {
        let (points, map) = strip(40);
        let inducing = map.select(&(0..40).step_by(4).collect::<Vec<_>>());
        for (prior, inducing) in [(false, None), (true, None), (false, Some(inducing))] {
            let process = Process { variance: 1.3, bias: 0.2, noise: 0.05, prior, inducing, mapping: None };
            let known =
                Known { points: Some((&points, Metric::Euclidean)), k: 3, map: &map, eigenvalues: &[], radius: None };
            let fitted = process.fitted(&known).unwrap();
            let row = fitted.problem.row(&[0.3, 0.4, 0.1, 2.0, 0.0]);
            let (place, mut gradient, mut unused) = ([1.1, 0.4], [0.0; 2], [0.0; 2]);
            fitted.negative(&row, &place, &mut gradient);
            for q in 0..2 {
                let mut value = |step: f64| {
                    let mut moved = place;
                    moved[q] += step;
                    fitted.negative(&row, &moved, &mut unused)
                };
                let h = 1e-3;
                let known = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
                assert!((known - gradient[q]).abs() < 1e-8 * (1.0 + known.abs()), "{q}: {known} {}", gradient[q]);
            }
        }
    }

    #[test]
    fn the_deviation_is_that_of_the_density_along_each_coordinate() {
        let (points, map) = strip(60);
        let process = Process { variance: 1.0, bias: 0.1, noise: 1e-3, prior: true, inducing: None, mapping: None };
        let known =
            Known { points: Some((&points, Metric::Euclidean)), k: 3, map: &map, eigenvalues: &[], radius: None };
        let fitted = process.fitted(&known).unwrap();
        let mut moved = points.row(20).to_vec();
        moved[0] += 0.02;
        let row = fitted.problem.row(&moved);
        let place = fitted.row(&moved, &[20, 21, 19]);
        let deviations = fitted.deviations(&moved, &place);
        // The density itself, summed over a grid around its maximum.
        let mut unused = [0.0; 2];
        let p = row.len() as f64;
        let top = fitted.negative(&row, &place, &mut unused);
        let (mut total, mut squares) = (0.0, [0.0; 2]);
        for a in -60..=60 {
            for b in -60..=60 {
                let off = [f64::from(a) / 10.0 * deviations[0], f64::from(b) / 10.0 * deviations[1]];
                let here = [place[0] + off[0], place[1] + off[1]];
                let density = (p * (top - fitted.negative(&row, &here, &mut unused))).exp();
                total += density;
                squares.iter_mut().zip(off).for_each(|(sum, off)| *sum += density * off * off);
            }
        }
        for q in 0..2 {
            let summed = (squares[q] / total).sqrt();
            assert!((deviations[q] / summed - 1.0).abs() < 0.1, "{q}: {} {summed}", deviations[q]);
        }
    }

    #[test]
    fn a_point_between_others_goes_between_them() {
        let (points, map) = strip(80);
        let kept: Vec<usize> = (0..80).filter(|i| i % 9 != 4).collect();
        let (rows, places) = (points.select(&kept), map.select(&kept));
        for inducing in [None, Some(places.select(&(0..places.rows()).step_by(2).collect::<Vec<_>>()))] {
            let process = Process { variance: 1.0, bias: 0.1, noise: 1e-3, prior: false, inducing, mapping: None };
            let known =
                Known { points: Some((&rows, Metric::Euclidean)), k: 3, map: &places, eigenvalues: &[], radius: None };
            let fitted = process.fitted(&known).unwrap();
            let index = eigenfold_graph::Index::new(&rows, Metric::Euclidean).unwrap();
            for i in (4..80).step_by(9) {
                let near = index.nearest(&points.select(&[i]), 3).unwrap().0;
                let found = fitted.row(points.row(i), &near);
                let off = Metric::Euclidean.distance(&found, map.row(i));
                assert!(off < 0.15, "row {i} is {off} away from its place");
            }
        }
    }
}

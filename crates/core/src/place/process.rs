//! The position at which a new row is likeliest under a Gaussian process over the map, given all training rows.
//!
//! ```text
//! k[i] = v exp(−½‖y − y[i]‖²) + b,   m(y) = X̃ᵀK⁻¹k,   s²(y) = v + b + w − kᵀK⁻¹k
//! y = argmin ½ p log s² + ½ ‖x − m‖² / s²        (+ ½ ‖y‖² under the Gaussian prior)
//! ```
//!
//! x is in the units of the fit: centered, and the training rows have mean square one. The density has many maxima, so that
//! the descent starts from the position of that near training row at which it is highest.
//!
//! N. D. Lawrence. Probabilistic non-linear principal component analysis with Gaussian process latent variable models.
//! Journal of Machine Learning Research 6, 2005, section 3.

use super::Known;
use crate::error::{Error, Result};
use crate::gp::problem::Problem;
use crate::linalg::dense::cholesky::Positive;
use crate::linalg::{parallel, widest};
use crate::optimize::{Bounds, Descent, Stop};
use crate::points::Points;
use crate::progress::Silent;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Where a descent ends.
const STOP: Stop = Stop { gradient: 1e-9, decrease: 1e-12, evaluations: 100 };
/// How long its first step is, in units of the length of the process.
const FIRST: f64 = 0.05;

/// A process over the map, in the units of the fit: the training rows have mean square one, and the length is one.
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
}

/// A process with its training rows, ready for any new row.
pub(super) struct Fitted<'a> {
    process: &'a Process,
    map: &'a Points,
    problem: Problem,
    /// K⁻¹X̃.
    solved: Mat<f64>,
    /// K⁻¹.
    inverse: Mat<f64>,
}

impl Process {
    pub(super) fn fits(&self) -> bool {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        positive(self.variance) && positive(self.bias) && positive(self.noise)
    }

    pub(super) fn fitted<'a>(&'a self, known: &Known<'a>) -> Result<Fitted<'a>> {
        let (points, _) = known.points.ok_or_else(|| Error::parameter("gplvm places points alone; give points"))?;
        let (map, n) = (known.map, points.rows());
        let problem = Problem::new(points, map, true)?;
        let mut covariance = vec![0.0; n * n];
        parallel::chunks_mut(&mut covariance, n, |j, column| {
            self.covariances(map, map.row(j), column);
            column[j] += self.noise;
        });
        let covariance = Mat::from_fn(n, n, |i, j| covariance[j * n + i]);
        let singular = || Error::Numerical("the covariance of the training points is singular to rounding".into());
        let mut factor = Positive::factor(covariance).ok_or_else(singular)?;
        let mut solved = MatRef::from_row_major_slice(&problem.data, n, problem.features).to_owned();
        factor.solve(solved.as_mut());
        let mut inverse = factor.inverse();
        for j in 1..n {
            (0..j).for_each(|i| inverse[(i, j)] = inverse[(j, i)]);
        }
        Ok(Fitted { process: self, map, problem, solved, inverse })
    }

    /// k of a position.
    fn covariances(&self, map: &Points, place: &[f64], out: &mut [f64]) {
        for (out, other) in out.iter_mut().zip(map.values().chunks_exact(map.cols())) {
            let squared: f64 = place.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
            *out = self.variance * (-0.5 * squared).exp() + self.bias;
        }
    }
}

impl Fitted<'_> {
    /// The position of a new row, from those of the training rows near it.
    pub(super) fn row(&self, row: &[f64], near: &[u32]) -> Vec<f64> {
        let row = self.problem.row(row);
        let mut slope = vec![0.0; self.map.cols()];
        let mut best = (f64::INFINITY, self.map.row(near[0] as usize).to_vec(), 1.0);
        for &i in near {
            let place = self.map.row(i as usize);
            let value = self.negative(&row, place, &mut slope);
            if value < best.0 {
                let steep = slope.iter().map(|s| s * s).sum::<f64>().sqrt();
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
        let mut objective = |y: &[f64], slope: &mut [f64]| Ok(Some(self.negative(&row, y, slope)));
        descent.minimize(&start, &mut objective, &Silent).map_or(start, |(place, _)| place)
    }

    /// The negative log density of a row at a position, up to a constant and per feature, with its slope.
    fn negative(&self, row: &[f64], place: &[f64], slope: &mut [f64]) -> f64 {
        let Process { variance, bias, noise, prior } = *self.process;
        let (n, p) = (self.map.rows(), row.len() as f64);
        let mut k = vec![0.0; n];
        self.process.covariances(self.map, place, &mut k);
        let mut u = vec![0.0; n];
        let mut off = vec![0.0; row.len()];
        let mut along = vec![0.0; n];
        widest(
            #[inline(always)]
            || {
                (0..n).for_each(|j| add(&mut u, k[j], self.inverse.col_as_slice(j)));
                for (j, off) in off.iter_mut().enumerate() {
                    let column = self.solved.col_as_slice(j);
                    *off = row[j] - dot(column, &k);
                    add(&mut along, *off, column);
                }
            },
        );
        let spread = (variance + bias + noise - dot(&k, &u)).max(0.5 * noise);
        let square = dot(&off, &off);
        slope.fill(0.0);
        for i in 0..n {
            let along = -along[i] / spread - (p - square / spread) * u[i] / spread;
            // dk/dy = −(k − b)(y − y[i]).
            let pull = -along * (k[i] - bias) / p;
            slope
                .iter_mut()
                .zip(place.iter().zip(self.map.row(i)))
                .for_each(|(s, (y, other))| *s += pull * (y - other));
        }
        let mut value = 0.5 * (spread.ln() + square / (spread * p));
        if prior {
            value += 0.5 * dot(place, place) / p;
            slope.iter_mut().zip(place).for_each(|(s, y)| *s += y / p);
        }
        value
    }
}

#[inline(always)]
fn add(out: &mut [f64], factor: f64, column: &[f64]) {
    out.iter_mut().zip(column).for_each(|(out, x)| *out += factor * x);
}

/// Σ a∘b, eight entries at a time.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    a.iter().zip(b).for_each(|(a, b)| (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]));
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Metric;

    /// Points on a bent strip, one row each, and their place along it.
    fn strip(n: usize) -> (Points, Points) {
        let place = |i: usize| [4.0 * i as f64 / n as f64, (i as f64 * 0.618_034).fract()];
        let row = |[a, b]: [f64; 2]| [a.sin(), a.cos() + b, 0.3 * a * b, 2.0, 0.5 * a];
        let rows: Vec<[f64; 5]> = (0..n).map(|i| row(place(i))).collect();
        (Points::from_rows(&rows).unwrap(), Points::from_rows(&(0..n).map(place).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn the_slope_of_the_density_is_that_of_central_differences() {
        let (points, map) = strip(40);
        for prior in [false, true] {
            let process = Process { variance: 1.3, bias: 0.2, noise: 0.05, prior };
            let known = Known { points: Some((&points, Metric::Euclidean)), k: 3, map: &map, eigenvalues: &[] };
            let fitted = process.fitted(&known).unwrap();
            let row = fitted.problem.row(&[0.3, 0.4, 0.1, 2.0, 0.0]);
            let (place, mut slope, mut unused) = ([1.1, 0.4], [0.0; 2], [0.0; 2]);
            fitted.negative(&row, &place, &mut slope);
            for q in 0..2 {
                let mut value = |step: f64| {
                    let mut moved = place;
                    moved[q] += step;
                    fitted.negative(&row, &moved, &mut unused)
                };
                let h = 1e-3;
                let known = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
                assert!((known - slope[q]).abs() < 1e-8 * (1.0 + known.abs()), "{q}: {known} {}", slope[q]);
            }
        }
    }

    #[test]
    fn a_point_between_others_goes_between_them() {
        let (points, map) = strip(80);
        let kept: Vec<usize> = (0..80).filter(|i| i % 9 != 4).collect();
        let (rows, places) = (points.select(&kept), map.select(&kept));
        let process = Process { variance: 1.0, bias: 0.1, noise: 1e-3, prior: false };
        let known = Known { points: Some((&rows, Metric::Euclidean)), k: 3, map: &places, eigenvalues: &[] };
        let fitted = process.fitted(&known).unwrap();
        let index = crate::graph::Index::new(&rows, Metric::Euclidean).unwrap();
        for i in (4..80).step_by(9) {
            let near = index.nearest(&points.select(&[i]), 3).unwrap().0;
            let found = fitted.row(points.row(i), &near);
            let off = Metric::Euclidean.distance(&found, map.row(i));
            assert!(off < 0.15, "row {i} is {off} away from its place");
        }
    }
}

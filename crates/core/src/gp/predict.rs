//! Predictions of a process over the map at any position, given the training rows and positions.
//!
//! With features φ of the position, weights G and a matrix M, for the exact process and for the bound:
//!
//! ```text
//! mean(y) = Gᵀφ(y)        variance(y) = v + b + w − φ(y)ᵀ M φ(y)        c[a] = v exp(−½‖y − z[a]‖²)
//! exact:     z all training places      φ = c + b            M = K⁻¹            G = K⁻¹X̃
//! bounded:   z the inducing points      φ = (L⁻¹c, √b)       M = I − B⁻¹        G = B⁻¹ Ψ X̃ / w
//! ```
//!
//! where Ψ has the features of the training positions as its columns, C[mm] = L Lᵀ and B = I + ΨΨᵀ/w. The second is the
//! optimal Gaussian posterior of the inducing values and the bias together. Leaving out training row i needs no new
//! fit: with its leverage h = ψ[i]ᵀB⁻¹ψ[i]/w (exactly 1 − w K⁻¹[i,i])
//!
//! ```text
//! x[i] − mean without i = (x[i] − mean(y[i])) / (1 − h)      variance without i = variance(y[i]) + w h² / (1 − h)
//! ```
//!
//! C. E. Rasmussen, C. K. I. Williams. Gaussian processes for machine learning. MIT Press, 2006, sections 2.2 and 5.4.2.
//! M. K. Titsias. Variational learning of inducing variables in sparse Gaussian processes. AISTATS 2009, equation 6.

use crate::gp::problem::Problem;
use crate::gp::simd::{add_times, dot, moved, squared_distances};
use crate::gp::sparse::{Scene, complete};
use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::{parallel, widest};
use faer::{Mat, MatMut, MatRef, Par};

/// A process with its training rows, in the units of the problem and with the length scale one.
pub(crate) struct Prediction {
    /// z, coordinate after coordinate.
    columns: Vec<f64>,
    count: usize,
    /// v, b and w.
    parameters: [f64; 3],
    /// L, if there are inducing points.
    whitening: Option<Positive>,
    /// G, one column per feature.
    weights: Mat<f64>,
    /// M.
    inner: Mat<f64>,
}

/// The prediction at a position.
pub(crate) struct Predicted {
    pub(crate) mean: Vec<f64>,
    /// The variance of a row observed there, noise included.
    pub(crate) variance: f64,
    /// c, φ and M φ.
    covariance: Vec<f64>,
    features: Vec<f64>,
    inner: Vec<f64>,
}

impl Prediction {
    /// By all training positions, one row each; `None` if their covariance is singular.
    pub(crate) fn exact(problem: &Problem, places: &[f64], [v, b, w]: [f64; 3]) -> Option<Prediction> {
        let (n, p) = (problem.n, problem.features);
        let columns = by_coordinate(places, problem.dims);
        let mut covariance = vec![0.0; n * n];
        parallel::chunks_mut(&mut covariance, n, |j, out| {
            covariances(&columns, &places[j * problem.dims..(j + 1) * problem.dims], v, out);
            out.iter_mut().for_each(|out| *out += b);
            out[j] += w;
        });
        let mut factor = Positive::factor(MatRef::from_column_major_slice(&covariance, n, n).to_owned())?;
        let mut weights = MatRef::from_row_major_slice(&problem.data, n, p).to_owned();
        factor.solve(weights.as_mut());
        let mut inner = factor.inverse();
        complete(&mut inner);
        Some(Prediction { columns, count: n, parameters: [v, b, w], whitening: None, weights, inner })
    }

    /// By inducing points, one row each; `None` if their covariance is singular in spite of the jitter.
    pub(crate) fn bounded(
        problem: &Problem,
        places: &[f64],
        inducing: &[f64],
        [v, b, w]: [f64; 3],
    ) -> Option<Prediction> {
        let (n, p, m) = (problem.n as f64, problem.features, inducing.len() / problem.dims);
        let scene = Scene::new(problem, places, inducing, v, 1.0)?;
        let seen = scene.seen();
        let root = b.sqrt();
        // ΨΨᵀ from Φ and V 1, and Ψ X̃ from V X̃ and 1ᵀX̃.
        let mut sums = vec![0.0; p];
        problem.data.chunks_exact(p).for_each(|row| add_times(&mut sums, 1.0, row));
        let product_of = |a: usize, c: usize| match (a < m, c < m) {
            (true, true) => seen.gram[(a, c)],
            (true, false) => root * seen.data[(a, p)],
            (false, true) => root * seen.data[(c, p)],
            (false, false) => b * n,
        };
        let identity = |a: usize, c: usize| f64::from(u8::from(a == c));
        let noisy = Mat::from_fn(m + 1, m + 1, |a, c| identity(a, c) + product_of(a, c) / w);
        let mut noisy = Positive::factor(noisy)?;
        let mut weights = Mat::from_fn(m + 1, p, |a, j| if a < m { seen.data[(a, j)] / w } else { root * sums[j] / w });
        noisy.solve(weights.as_mut());
        let mut inverse = noisy.inverse();
        complete(&mut inverse);
        let inner = Mat::from_fn(m + 1, m + 1, |a, c| identity(a, c) - inverse[(a, c)]);
        let columns = by_coordinate(inducing, problem.dims);
        let whitening = Some(scene.factor);
        Some(Prediction { columns, count: m, parameters: [v, b, w], whitening, weights, inner })
    }

    /// The prediction at a position.
    pub(crate) fn at(&self, place: &[f64]) -> Predicted {
        let [v, b, w] = self.parameters;
        let mut covariance = vec![0.0; self.count];
        covariances(&self.columns, place, v, &mut covariance);
        let mut features = covariance.clone();
        match &self.whitening {
            None => features.iter_mut().for_each(|k| *k += b),
            Some(factor) => {
                factor.solve_lower(MatMut::from_column_major_slice_mut(&mut features, self.count, 1), Par::Seq);
                features.push(b.sqrt());
            }
        }
        let (mut inner, mut mean) = (vec![0.0; features.len()], vec![0.0; self.weights.ncols()]);
        widest(
            #[inline(always)]
            || {
                for (j, feature) in features.iter().enumerate() {
                    add_times(&mut inner, *feature, self.inner.col_as_slice(j));
                }
                mean.iter_mut().enumerate().for_each(|(j, mean)| *mean = dot(self.weights.col_as_slice(j), &features));
            },
        );
        // Rounding may make the variance negative.
        let variance = (v + b + w - dot(&features, &inner)).max(0.5 * w);
        Predicted { mean, variance, covariance, features, inner }
    }

    /// The gradient in the position of a function of the mean and the variance there, whose gradients in both are
    /// given.
    pub(crate) fn gradient(&self, place: &[f64], at: &Predicted, along_mean: &[f64], along_variance: f64) -> Vec<f64> {
        let mut along: Vec<f64> = at.inner.iter().map(|inner| -2.0 * along_variance * inner).collect();
        widest(
            #[inline(always)]
            || {
                along_mean
                    .iter()
                    .enumerate()
                    .for_each(|(j, s)| add_times(&mut along, *s, self.weights.col_as_slice(j)));
            },
        );
        along.truncate(self.count);
        if let Some(factor) = &self.whitening {
            factor.solve_upper(MatMut::from_column_major_slice_mut(&mut along, self.count, 1), Par::Seq);
        }
        // dc/dy = c (z − y).
        along.iter_mut().zip(&at.covariance).for_each(|(s, c)| *s *= c);
        let mut unused = vec![0.0; self.count];
        let columns = self.columns.chunks_exact(self.count).zip(place);
        columns.map(|(column, here)| moved(&along, *here, column, &mut unused)).collect()
    }

    /// The leave-one-out error of training row i, and its variance.
    pub(crate) fn left_out(&self, i: usize, place: &[f64], row: &[f64]) -> (Vec<f64>, f64) {
        let (at, w) = (self.at(place), self.parameters[2]);
        let leverage = match self.whitening {
            None => 1.0 - w * self.inner[(i, i)],
            Some(_) => (dot(&at.features, &at.features) - dot(&at.features, &at.inner)) / w,
        };
        let rest = (1.0 - leverage).max(1e-12);
        let off = row.iter().zip(&at.mean).map(|(x, mean)| (x - mean) / rest).collect();
        (off, at.variance + w * leverage * leverage / rest)
    }
}

/// c.
fn covariances(columns: &[f64], place: &[f64], v: f64, out: &mut [f64]) {
    squared_distances(columns, place, out);
    out.iter_mut().for_each(|out| *out = v * (-0.5 * *out).exp());
}

/// Positions, one row each, coordinate after coordinate.
fn by_coordinate(places: &[f64], dims: usize) -> Vec<f64> {
    let n = places.len() / dims;
    (0..n * dims).map(|at| places[at % n * dims + at / n]).collect()
}

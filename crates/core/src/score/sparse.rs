//! A lower bound of the likelihood for many points: everything is seen through m inducing points.
//!
//! The inducing points are m of the points, evenly spaced in their order. With C the covariance without its noise
//! (v R + b) between all points (nn), between inducing and all (mn) and among the inducing (mm):
//!
//! ```text
//! bound = log N(X̃; 0, Q + w I) − p/2w tr(C[nn] − Q),   Q = C[nm] C[mm]⁻¹ C[mn]
//! ```
//!
//! It is below the likelihood for any parameters and reaches it as the inducing points become all points. With
//! C[mm] = L Lᵀ, V = L⁻¹ C[mn], Φ = V Vᵀ, B = I + Φ/w and e = B⁻¹ V X̃, all of it costs O(n m²):
//!
//! ```text
//! log det (Q + w I) = n log w + log det B          tr (Q + w I)⁻¹X̃X̃ᵀ = ‖X̃‖²/w − tr (V X̃)ᵀe / w²
//! ∂/∂C[mm] = L⁻ᵀ (½p (I − B⁻¹) − ½ e eᵀ/w² − ½p Φ/w) L⁻¹
//! ∂/∂C[mn] = L⁻ᵀ ((p/w (I − B⁻¹) − e eᵀ/w³) V + e X̃ᵀ/w²)
//! ```
//!
//! C[mm] has 1e-10 of v + b added to its diagonal, so that inducing points may coincide. That is a bound too: the
//! inducing values are then noisy ones. Memory does not grow with n: V is made again for the gradient, block by block.
//!
//! M. K. Titsias. Variational learning of inducing variables in sparse Gaussian processes. AISTATS 2009.

use super::Likelihood;
use super::problem::{Problem, spaced};
use crate::linalg::dense::product;
use crate::linalg::positive::{Positive, add_gram};
use faer::{Mat, MatRef, Par};
use rayon::prelude::*;

/// What is added to the diagonal of C[mm], as a part of v + b.
const JITTER: f64 = 1e-10;
/// The fewest points in a block.
const POINTS: usize = 512;
/// The most blocks, each of which holds an m x (m + p) sum.
const BLOCKS: usize = 64;

/// The bound of a problem.
pub(super) struct Sparse<'a> {
    problem: &'a Problem,
    inducing: Vec<usize>,
    /// ‖X̃‖².
    total: f64,
}

/// Squared distances from the inducing points to some points, and exp(−s/2ℓ²).
struct Near {
    squared: Mat<f64>,
    near: Mat<f64>,
}

/// What the points say to the inducing points: Φ, its lower triangle until it is complete, and V X̃.
struct Seen {
    gram: Mat<f64>,
    data: Mat<f64>,
}

/// The slopes of the bound as the gradient needs them.
struct Slopes {
    /// p/w (I − B⁻¹) − e eᵀ/w³.
    through: Mat<f64>,
    /// e / w².
    data: Mat<f64>,
}

impl<'a> Sparse<'a> {
    pub(super) fn new(problem: &'a Problem, m: usize) -> Sparse<'a> {
        let total = problem.data.iter().map(|x| x * x).sum();
        Sparse { problem, inducing: spaced(problem.n, m), total }
    }

    /// The first point and the number of points of every block.
    fn blocks(&self) -> Vec<(usize, usize)> {
        let n = self.problem.n;
        let size = POINTS.max(n.div_ceil(BLOCKS));
        (0..n).step_by(size).map(|start| (start, size.min(n - start))).collect()
    }

    fn near(&self, length: f64, count: usize, row: impl Fn(usize) -> usize) -> Near {
        let m = self.inducing.len();
        let squared = Mat::from_fn(m, count, |a, i| self.problem.squared_distance(self.inducing[a], row(i)));
        let scale = -0.5 / (length * length);
        let near = Mat::from_fn(m, count, |a, i| (scale * squared[(a, i)]).exp());
        Near { squared, near }
    }

    /// V of a block.
    fn whitened(&self, near: &Near, factor: &Positive, v: f64, b: f64) -> Mat<f64> {
        let mut covariance = Mat::from_fn(near.near.nrows(), near.near.ncols(), |a, i| v * near.near[(a, i)] + b);
        factor.solve_lower(covariance.as_mut(), Par::Seq);
        covariance
    }

    /// The centered data of a block, one point a row.
    fn data(&self, (start, count): (usize, usize)) -> MatRef<'_, f64> {
        let p = self.problem.features;
        MatRef::from_row_major_slice(&self.problem.data[start * p..(start + count) * p], count, p)
    }

    /// Φ and V X̃ over all points.
    fn seen(&self, factor: &Positive, [v, length, b, _]: [f64; 4]) -> Seen {
        let (m, p) = (self.inducing.len(), self.problem.features);
        let one = |block: (usize, usize)| {
            let near = self.near(length, block.1, |i| block.0 + i);
            let whitened = self.whitened(&near, factor, v, b);
            let mut gram = Mat::zeros(m, m);
            add_gram(gram.as_mut(), whitened.as_ref(), 1.0, Par::Seq);
            Seen { gram, data: product(whitened.as_ref(), self.data(block)) }
        };
        let parts: Vec<Seen> = self.blocks().into_par_iter().map(one).collect();
        let mut sum = Seen { gram: Mat::zeros(m, m), data: Mat::zeros(m, p) };
        for part in &parts {
            sum.gram += &part.gram;
            sum.data += &part.data;
        }
        complete(&mut sum.gram);
        sum
    }

    /// Σ ∂∘R, Σ ∂∘R∘S and Σ ∂ over C[mn].
    fn slopes_to_points(&self, factor: &Positive, slopes: &Slopes, [v, length, b, _]: [f64; 4]) -> [f64; 3] {
        let one = |block: (usize, usize)| {
            let near = self.near(length, block.1, |i| block.0 + i);
            let whitened = self.whitened(&near, factor, v, b);
            let mut slope = product(slopes.through.as_ref(), whitened.as_ref());
            slope += product(slopes.data.as_ref(), self.data(block).transpose());
            factor.solve_upper(slope.as_mut(), Par::Seq);
            contracted(&slope, &near)
        };
        let parts: Vec<[f64; 3]> = self.blocks().into_par_iter().map(one).collect();
        parts.iter().fold([0.0; 3], |sum, part| [sum[0] + part[0], sum[1] + part[1], sum[2] + part[2]])
    }
}

impl Likelihood for Sparse<'_> {
    fn negative(&self, logs: &[f64], gradient: &mut [f64]) -> Option<f64> {
        let theta @ [v, length, b, w] = [0, 1, 2, 3].map(|i| logs[i].exp());
        let (n, p, m) = (self.problem.n as f64, self.problem.features as f64, self.inducing.len());
        let among = self.near(length, m, |i| self.inducing[i]);
        let jitter = |a: usize, c: usize| if a == c { JITTER * (v + b) } else { 0.0 };
        let factor = Positive::factor(Mat::from_fn(m, m, |a, c| v * among.near[(a, c)] + b + jitter(a, c)))?;
        let seen = self.seen(&factor, theta);
        let identity = |a: usize, c: usize| f64::from(u8::from(a == c));
        let noisy = Positive::factor(Mat::from_fn(m, m, |a, c| identity(a, c) + seen.gram[(a, c)] / w))?;
        let mut e = seen.data.clone();
        noisy.solve(e.as_mut());
        let (explained, known) = (inner(&seen.data, &e), (0..m).map(|a| seen.gram[(a, a)]).sum::<f64>());
        let missing = n * (v + b) - known;
        let log_det = n * w.ln() + noisy.log_det();
        let quadratic = self.total / w - explained / (w * w);
        let value = 0.5 * (p * (n * std::f64::consts::TAU.ln() + log_det + missing / w) + quadratic);

        let mut inverse = noisy.inverse()?;
        complete(&mut inverse);
        let outer = product(e.as_ref(), e.transpose());
        let through = Mat::from_fn(m, m, |a, c| p / w * (identity(a, c) - inverse[(a, c)]) - outer[(a, c)] / w.powi(3));
        // ½ w (through) is what C[mm] and C[mn] have in common.
        let mut slope = Mat::from_fn(m, m, |a, c| 0.5 * (w * through[(a, c)] - p / w * seen.gram[(a, c)]));
        factor.solve_upper(slope.as_mut(), Par::Seq);
        let mut slope = slope.transpose().to_owned();
        factor.solve_upper(slope.as_mut(), Par::Seq);
        let slopes = Slopes { through, data: Mat::from_fn(m, e.ncols(), |a, j| e[(a, j)] / (w * w)) };
        let (mn, mm) = (self.slopes_to_points(&factor, &slopes, theta), contracted(&slope, &among));
        let diagonal = JITTER * (0..m).map(|a| slope[(a, a)]).sum::<f64>() - 0.5 * p * n / w;
        let seen_again = inner(&e, &product(seen.gram.as_ref(), e.as_ref()));
        let along_noise = 0.5 * p * (inner(&inverse, &seen.gram) / w - n) + 0.5 * self.total / w - explained / (w * w)
            + 0.5 * seen_again / w.powi(3)
            + 0.5 * p * missing / w;
        gradient[0] = -v * (mm[0] + mn[0] + diagonal);
        gradient[1] = -v / (length * length) * (mm[1] + mn[1]);
        gradient[2] = -b * (mm[2] + mn[2] + diagonal);
        gradient[3] = -along_noise;
        Some(value)
    }
}

/// Σ ∂∘R, Σ ∂∘R∘S and Σ ∂.
fn contracted(slope: &Mat<f64>, near: &Near) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for j in 0..slope.ncols() {
        let columns = slope.col_as_slice(j).iter().zip(near.near.col_as_slice(j)).zip(near.squared.col_as_slice(j));
        for ((slope, near), squared) in columns {
            sums[0] += slope * near;
            sums[1] += slope * near * squared;
            sums[2] += slope;
        }
    }
    sums
}

/// Σ A∘B.
fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    let column = |j: usize| a.col_as_slice(j).iter().zip(b.col_as_slice(j)).map(|(a, b)| a * b).sum::<f64>();
    (0..a.ncols()).map(column).sum()
}

/// Copies the lower triangle to the upper.
fn complete(matrix: &mut Mat<f64>) {
    for j in 1..matrix.ncols() {
        for i in 0..j {
            matrix[(i, j)] = matrix[(j, i)];
        }
    }
}

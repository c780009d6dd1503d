//! The exact likelihood: one dense Cholesky factor per evaluation.
//!
//! The covariance without its bias is K₀ = v R + w I, R[i,j] = exp(−s[i,j] / 2ℓ²). With A = K₀⁻¹ X̃ and M = p K₀⁻¹ − A Aᵀ,
//! twice the gradient of the negative log likelihood along K₀:
//!
//! ```text
//! log v: ½ v Σ M∘R     log ℓ: ½ v/ℓ² Σ M∘R∘S     log w: ½ w tr M
//! ```
//!
//! The bias is added in closed form ([`Biased`]).
//!
//! More features than points are replaced by n columns with the same X̃X̃ᵀ, on which alone the likelihood depends.

use crate::gp::problem::Problem;
use crate::gp::{Biased, Negative, Process, Space};
use eigenfold_linalg::dense::cholesky::{Positive, add_gram};
use eigenfold_linalg::dense::{parts, symmetric_eigen};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use faer::{ColMut, Mat, MatMut, MatRef, Par};

/// Up to this many points an evaluation uses one thread: its matrices are too small to share, and several optimizations
/// can run in parallel.
const ONE_THREAD: usize = 512;

/// Squared distances and data, precomputed for any parameters.
pub(crate) struct Exact {
    pub(super) n: usize,
    /// p, whatever the number of columns that represent the features.
    pub(super) features: f64,
    /// The lower triangle of S, column after column.
    pub(super) squared: Vec<f64>,
    /// Columns with the products X̃X̃ᵀ, and a last column of ones.
    data: Mat<f64>,
}

/// The negative log likelihood at some parameters, and the effect of the bias.
pub(super) struct Evaluated {
    pub(super) value: f64,
    pub(super) biased: Biased,
}

impl Exact {
    pub(crate) fn new(problem: &Problem) -> Result<Exact> {
        let (n, p) = (problem.n, problem.features);
        let mut squared = vec![0.0; n * n];
        parallel::chunks_mut(&mut squared, n, |j, column| {
            (j + 1..n).for_each(|i| column[i] = problem.squared_distance(i, j));
        });
        let rows = MatRef::from_row_major_slice(&problem.data, n, p);
        let columns = if p > n { same_products(rows)? } else { rows.to_owned() };
        let k = columns.ncols();
        let data = Mat::from_fn(n, k + 1, |i, j| if j < k { columns[(i, j)] } else { 1.0 });
        Ok(Exact { n, features: p as f64, squared, data })
    }

    /// The lower triangles of R and K₀.
    fn covariance(&self, near: &mut [f64], covariance: MatMut<'_, f64>, [v, length, w]: [f64; 3]) {
        let n = self.n;
        let scale = -0.5 / (length * length);
        let column = |(j, (near, mut column)): (usize, (&mut [f64], ColMut<'_, f64>))| {
            let squared = &self.squared[j * n + j..(j + 1) * n];
            let below = near[j..n].iter_mut().zip(squared).zip(column.as_mut().subrows_mut(j, n - j).iter_mut());
            for ((near, square), entry) in below {
                *near = (scale * square).exp();
                *entry = v * *near;
            }
            column[j] += w;
        };
        if self.one_thread() {
            near.chunks_mut(n).zip(covariance.col_iter_mut()).enumerate().for_each(column);
        } else {
            parallel::each_of(near.chunks_mut(n).zip(covariance.col_iter_mut()), |j, both| column((j, both)));
        }
    }

    /// Σ M∘R, Σ M∘R∘S and tr M.
    fn contracted(&self, m: &Mat<f64>, near: &[f64]) -> [f64; 3] {
        let n = self.n;
        let column_sums = |j: usize| {
            // Eight sums at a time, so that they fit into one register.
            let mut sums = [[0.0; 8]; 2];
            let column = &m.col_as_slice(j)[j + 1..n];
            let (near, squared) = (&near[j * n + j + 1..(j + 1) * n], &self.squared[j * n + j + 1..(j + 1) * n]);
            let eights = column.chunks(8).zip(near.chunks(8)).zip(squared.chunks(8));
            for ((m, r), s) in eights {
                for lane in 0..m.len() {
                    let weighted = m[lane] * r[lane];
                    sums[0][lane] += weighted;
                    sums[1][lane] += weighted * s[lane];
                }
            }
            let [near, far] = sums.map(|sums| 2.0 * sums.iter().sum::<f64>());
            let diagonal = m[(j, j)];
            [near + diagonal, far, diagonal]
        };
        let columns: Vec<[f64; 3]> =
            if self.one_thread() { (0..n).map(column_sums).collect() } else { parallel::collect(n, column_sums) };
        columns.iter().fold([0.0; 3], |sum, c| [sum[0] + c[0], sum[1] + c[1], sum[2] + c[2]])
    }

    /// The value at some parameters; R and the lower triangle of M / p are left in the workspace.
    pub(super) fn at(
        &self,
        space: &mut Option<Space>,
        [v, length, w]: [f64; 3],
        bias: Option<f64>,
        par: Par,
    ) -> Option<Evaluated> {
        let n = self.n;
        if space.is_none() {
            *space = Some(Space {
                near: vec![0.0; n * n],
                positive: Positive::with_room(Mat::zeros(n, n), par)?,
                solved: Mat::zeros(n, self.data.ncols()),
                inverse: Mat::zeros(n, n),
            });
        }
        let Some(Space { near, positive, solved, inverse }) = space else { return None };
        self.covariance(near, positive.matrix_mut(), [v, length, w]);
        if !positive.refactor() {
            return None;
        }
        solved.copy_from(&self.data);
        positive.solve(solved.as_mut());
        let (k, p) = (self.data.ncols() - 1, self.features);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let quadratic: f64 = (0..k).map(|j| dot(self.data.col_as_slice(j), solved.col_as_slice(j))).sum();

        // u = K₀⁻¹1 is the last column.
        let u = solved.col_as_slice(k).to_vec();
        let along: Vec<f64> = (0..k).map(|j| dot(self.data.col_as_slice(j), &u)).collect();
        let biased = Biased::new(p, u.iter().sum(), dot(&along, &along), bias);
        for j in 0..k {
            let shift = biased.shrink * along[j];
            solved.col_as_slice_mut(j).iter_mut().zip(&u).for_each(|(a, u)| *a -= shift * u);
        }
        let last = (p * biased.shrink).sqrt();
        solved.col_as_slice_mut(k).iter_mut().for_each(|a| *a *= last);

        // M / p.
        positive.inverse_into(inverse.as_mut());
        add_gram(inverse.as_mut(), solved.as_ref(), -1.0 / p, par);
        let constant = self.n as f64 * std::f64::consts::TAU.ln();
        let value = 0.5 * (quadratic + p * (positive.log_det() + constant)) + biased.value;
        Some(Evaluated { value, biased })
    }
}

impl Process for Exact {
    fn one_thread(&self) -> bool {
        self.n <= ONE_THREAD
    }

    fn negative(&self, space: &mut Option<Space>, v: f64, length: f64, bias: Option<f64>, w: f64) -> Option<Negative> {
        let par = if self.one_thread() { Par::Seq } else { parts(self.n) };
        let at = self.at(space, [v, length, w], bias, par)?;
        let Some(Space { near, inverse, .. }) = space else { return None };
        let [near, far, trace] = self.contracted(inverse, near).map(|sum| self.features * sum);
        let gradient = [0.5 * v * near, 0.5 * v / (length * length) * far, at.biased.derivative, 0.5 * w * trace];
        Some(Negative { value: at.value, bias: at.biased.bias, gradient })
    }
}

/// n columns with the same products between rows: U √Λ of X̃X̃ᵀ = U Λ Uᵀ.
fn same_products(rows: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let n = rows.nrows();
    let mut products = Mat::zeros(n, n);
    add_gram(products.as_mut(), rows, 1.0, parts(n));
    let (values, mut vectors) = symmetric_eigen(products.as_ref())?;
    for (j, value) in values.iter().enumerate() {
        vectors.col_mut(j).iter_mut().for_each(|x| *x *= value.max(0.0).sqrt());
    }
    Ok(vectors)
}

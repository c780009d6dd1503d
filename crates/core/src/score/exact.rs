//! The exact likelihood: one dense Cholesky factor an evaluation.
//!
//! With A = K⁻¹ X̃ and M = p K⁻¹ − A Aᵀ, twice the slope of the negative log likelihood along K, and R the part of K that
//! depends on the map, R[i,j] = exp(−s[i,j] / 2ℓ²):
//!
//! ```text
//! log v: ½ v Σ M∘R     log ℓ: ½ v/ℓ² Σ M∘R∘S     log b: ½ b Σ M     log w: ½ w tr M
//! ```
//!
//! More features than points are replaced by n columns with the same X̃X̃ᵀ, which is all that the likelihood knows of them.

use super::Likelihood;
use super::problem::Problem;
use crate::error::Result;
use crate::linalg::dense::{parts, symmetric_eigen};
use crate::linalg::positive::{Positive, add_gram};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Squared distances and data, ready for any parameters.
pub(super) struct Exact {
    n: usize,
    /// p, whatever the number of columns that stand for the features.
    features: f64,
    /// The lower triangle of S, column after column.
    squared: Vec<f64>,
    /// Columns with the products X̃X̃ᵀ.
    data: Mat<f64>,
}

impl Exact {
    pub(super) fn new(problem: &Problem) -> Result<Exact> {
        let (n, p) = (problem.n, problem.features);
        let mut squared = vec![0.0; n * n];
        squared.par_chunks_mut(n).enumerate().for_each(|(j, column)| {
            (j + 1..n).for_each(|i| column[i] = problem.squared_distance(i, j));
        });
        let rows = MatRef::from_row_major_slice(&problem.data, n, p);
        let data = if p > n { same_products(rows)? } else { rows.to_owned() };
        Ok(Exact { n, features: p as f64, squared, data })
    }

    /// R and K, their lower triangles.
    fn covariance(&self, [v, length, b, w]: [f64; 4]) -> (Vec<f64>, Mat<f64>) {
        let n = self.n;
        let mut near = vec![0.0; n * n];
        let mut covariance = Mat::zeros(n, n);
        let scale = -0.5 / (length * length);
        let columns = near.par_chunks_mut(n).zip(covariance.as_mut().par_col_iter_mut()).enumerate();
        columns.for_each(|(j, (near, mut column))| {
            for i in j..n {
                near[i] = (scale * self.squared[j * n + i]).exp();
                column[i] = v * near[i] + b;
            }
            column[j] += w;
        });
        (near, covariance)
    }

    /// Σ M∘R, Σ M∘R∘S, Σ M and tr M.
    fn contracted(&self, m: &Mat<f64>, near: &[f64]) -> [f64; 4] {
        let n = self.n;
        let column_sums = |j: usize| {
            // Eight sums at a time, so that they can be made in one register.
            let mut sums = [[0.0; 8]; 3];
            let column = &m.col_as_slice(j)[j + 1..n];
            let (near, squared) = (&near[j * n + j + 1..(j + 1) * n], &self.squared[j * n + j + 1..(j + 1) * n]);
            let eights = column.chunks(8).zip(near.chunks(8)).zip(squared.chunks(8));
            for ((m, r), s) in eights {
                for lane in 0..m.len() {
                    let weighted = m[lane] * r[lane];
                    sums[0][lane] += weighted;
                    sums[1][lane] += weighted * s[lane];
                    sums[2][lane] += m[lane];
                }
            }
            let [near, far, all] = sums.map(|sums| 2.0 * sums.iter().sum::<f64>());
            let diagonal = m[(j, j)];
            [near + diagonal, far, all + diagonal, diagonal]
        };
        let columns: Vec<[f64; 4]> = (0..n).into_par_iter().map(column_sums).collect();
        columns.iter().fold([0.0; 4], |sum, c| [sum[0] + c[0], sum[1] + c[1], sum[2] + c[2], sum[3] + c[3]])
    }
}

impl Likelihood for Exact {
    fn negative(&self, logs: &[f64], gradient: &mut [f64]) -> Option<f64> {
        let theta @ [v, length, b, w] = [0, 1, 2, 3].map(|i| logs[i].exp());
        let (near, covariance) = self.covariance(theta);
        let positive = Positive::factor(covariance)?;
        let mut solved = self.data.clone();
        positive.solve(solved.as_mut());
        let quadratic: f64 = (0..solved.ncols())
            .map(|j| self.data.col_as_slice(j).iter().zip(solved.col_as_slice(j)).map(|(x, a)| x * a).sum::<f64>())
            .sum();
        let mut m = positive.inverse()?;
        m *= faer::Scale(self.features);
        add_gram(m.as_mut(), solved.as_ref(), -1.0, parts(self.n));
        let [near, far, all, trace] = self.contracted(&m, &near);
        gradient.copy_from_slice(&[v * near, v / (length * length) * far, b * all, w * trace].map(|slope| 0.5 * slope));
        let constant = self.n as f64 * std::f64::consts::TAU.ln();
        Some(0.5 * (quadratic + self.features * (positive.log_det() + constant)))
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

//! Back-constraints: the positions are a smooth function of the data, so that similar rows stay together on the map.
//!
//! ```text
//! y(x) = Σⱼ k(x, x[j]) a[j],   k(x, x') = exp(−‖x − x'‖² / 2h²)        h² = a tenth of the median squared distance
//! ```
//!
//! The optimization moves B with Y = L B, where K + 1e-6 I = L Lᵀ is the matrix of k: in B the function is equally
//! rough in every direction, and a = L⁻ᵀB. Any map can be written in this form, but a step along the gradient in B
//! moves similar rows together. The 1e-6 keeps K positive definite when rows are equal.
//!
//! N. D. Lawrence, J. Quiñonero-Candela. Local distance preservation in the GP-LVM through back constraints. ICML 2006.

use crate::gp::problem::{Problem, spaced};
use crate::gp::simd::squared_distances;
use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use faer::{Mat, MatRef};

/// h², in units of the median squared distance.
const WIDTH: f64 = 0.1;
/// What is added to the diagonal of K.
const JITTER: f64 = 1e-6;
/// The maximum number of points whose distances give the median.
const MEDIAN_POINTS: usize = 1000;

/// The function of the data, without its weights.
pub(super) struct Constraint {
    /// h, in units of the problem's data.
    pub(super) width: f64,
    /// L.
    factor: Positive,
    dims: usize,
}

impl Constraint {
    pub(super) fn new(problem: &Problem) -> Result<Constraint> {
        let (n, p) = (problem.n, problem.features);
        let square = |i: usize, j: usize| -> f64 {
            problem.data_row(i).iter().zip(problem.data_row(j)).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let some = spaced(n, n.min(MEDIAN_POINTS));
        let pairs = some.iter().enumerate().flat_map(|(at, &i)| some[..at].iter().map(move |&j| (i, j)));
        let mut squares: Vec<f64> = pairs.map(|(i, j)| square(i, j)).filter(|s| *s > 0.0).collect();
        let middle = squares.len() / 2;
        let median = if squares.is_empty() { 1.0 } else { *squares.select_nth_unstable_by(middle, f64::total_cmp).1 };
        let width = (WIDTH * median).sqrt();
        let columns: Vec<f64> = (0..n * p).map(|at| problem.data[at % n * p + at / n]).collect();
        let mut near = vec![0.0; n * n];
        parallel::chunks_mut(&mut near, n, |j, out| {
            squared_distances(&columns, problem.data_row(j), out);
            out.iter_mut().for_each(|s| *s = (-0.5 * *s / (width * width)).exp());
            out[j] += JITTER;
        });
        let singular = || Error::numerical("the kernel of the back-constraints is singular", "leave them out");
        let factor = Positive::factor(MatRef::from_column_major_slice(&near, n, n).to_owned()).ok_or_else(singular)?;
        Ok(Constraint { width, factor, dims: problem.dims })
    }

    fn matrix(&self, rows: &[f64]) -> Mat<f64> {
        MatRef::from_row_major_slice(rows, rows.len() / self.dims, self.dims).to_owned()
    }

    fn rows(&self, matrix: &Mat<f64>) -> Vec<f64> {
        (0..matrix.nrows() * self.dims).map(|at| matrix[(at / self.dims, at % self.dims)]).collect()
    }

    /// B of positions, one row per point.
    pub(super) fn variables(&self, places: &[f64]) -> Vec<f64> {
        let mut b = self.matrix(places);
        self.factor.solve_lower(b.as_mut(), faer::Par::Seq);
        self.rows(&b)
    }

    /// Y of B.
    pub(super) fn places(&self, b: &[f64]) -> Vec<f64> {
        self.rows(&self.factor.lower_times(self.matrix(b).as_ref()))
    }

    /// The gradient in B of a gradient in Y.
    pub(super) fn transposed(&self, gradient: &[f64]) -> Vec<f64> {
        self.rows(&self.factor.upper_times(self.matrix(gradient).as_ref()))
    }

    /// a of B, one row per point.
    pub(super) fn weights(&self, b: &[f64]) -> Vec<f64> {
        let mut a = self.matrix(b);
        self.factor.solve_upper(a.as_mut(), faer::Par::Seq);
        self.rows(&a)
    }
}

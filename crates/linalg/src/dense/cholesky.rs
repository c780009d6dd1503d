//! Dense symmetric positive definite matrices by their Cholesky factor, A = L Lᵀ.

use crate::dense::parts;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// The factor L of a positive definite matrix, with room to factor others of its size.
pub struct Positive {
    factor: Mat<f64>,
    par: Par,
    memory: MemBuffer,
}

impl Positive {
    /// Factors a matrix in place (lower triangle read); None if it is not positive definite to working precision.
    pub fn factor(matrix: Mat<f64>) -> Option<Positive> {
        let n = matrix.nrows();
        let mut positive = Positive::with_room(matrix, parts(n))?;
        positive.refactor().then_some(positive)
    }

    /// Room for matrices of the size of this one, which is not factored yet; None if there is no memory.
    pub fn with_room(matrix: Mat<f64>, par: Par) -> Option<Positive> {
        let n = matrix.nrows();
        let factoring = llt::factor::cholesky_in_place_scratch::<f64>(n, par, faer::Spec::default());
        let memory = MemBuffer::try_new(factoring.or(llt::inverse::inverse_scratch::<f64>(n, par))).ok()?;
        Some(Positive { factor: matrix, par, memory })
    }

    /// Where the lower triangle of the next matrix goes.
    pub fn matrix_mut(&mut self) -> MatMut<'_, f64> {
        self.factor.as_mut()
    }

    /// Factors what was written there; whether it is positive definite to working precision.
    pub fn refactor(&mut self) -> bool {
        let (plain, stack) = (llt::factor::LltRegularization::default(), MemStack::new(&mut self.memory));
        let (matrix, params) = (self.factor.as_mut(), faer::Spec::default());
        let factored = llt::factor::cholesky_in_place(matrix, plain, self.par, stack, params).is_ok();
        // A number that is none passes the library's check of the pivots.
        let positive = |i: usize| self.factor[(i, i)].is_finite() && self.factor[(i, i)] > 0.0;
        factored && (0..self.factor.nrows()).all(positive)
    }

    /// log det A.
    pub fn log_det(&self) -> f64 {
        2.0 * (0..self.factor.nrows()).map(|i| self.factor[(i, i)].ln()).sum::<f64>()
    }

    /// `b ← L⁻¹ b`.
    pub fn solve_lower(&self, b: MatMut<'_, f64>, par: Par) {
        solve_lower_triangular_in_place(self.factor.as_ref(), b, par);
    }

    /// `b ← L⁻ᵀ b`.
    pub fn solve_upper(&self, b: MatMut<'_, f64>, par: Par) {
        solve_upper_triangular_in_place(self.factor.transpose(), b, par);
    }

    /// `b ← A⁻¹ b`.
    pub fn solve(&self, mut b: MatMut<'_, f64>) {
        self.solve_lower(b.as_mut(), self.par);
        self.solve_upper(b, self.par);
    }

    /// L b.
    pub fn lower_times(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(b.nrows(), b.ncols());
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        matmul(out.as_mut(), full, Accum::Replace, self.factor.as_ref(), lower, b, full, 1.0, self.par);
        out
    }

    /// Lᵀ b.
    pub fn upper_times(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(b.nrows(), b.ncols());
        let (upper, full) = (BlockStructure::TriangularUpper, BlockStructure::Rectangular);
        matmul(out.as_mut(), full, Accum::Replace, self.factor.transpose(), upper, b, full, 1.0, self.par);
        out
    }

    /// A⁻¹, its lower triangle; zero above.
    pub fn inverse(&mut self) -> Mat<f64> {
        let n = self.factor.nrows();
        let mut out = Mat::zeros(n, n);
        self.inverse_into(out.as_mut());
        out
    }

    /// The lower triangle of A⁻¹, written over another.
    pub fn inverse_into(&mut self, out: MatMut<'_, f64>) {
        llt::inverse::inverse(out, self.factor.as_ref(), self.par, MemStack::new(&mut self.memory));
    }
}

/// `out ← out + scale · A Aᵀ`, the lower triangle alone, with the matrix library's own division of work.
pub fn add_gram(out: MatMut<'_, f64>, a: MatRef<'_, f64>, scale: f64, par: Par) {
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    matmul(out, lower, Accum::Add, a, full, a.transpose(), full, scale, par);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_two_by_two_is_factored_solved_and_inverted() {
        let mut positive = Positive::factor(faer::mat![[2.0, 9.0], [1.0, 2.0]]).unwrap();
        assert!((positive.log_det() - 3f64.ln()).abs() < 1e-15);
        let mut b = faer::mat![[3.0], [0.0]];
        positive.solve(b.as_mut());
        assert!((b - faer::mat![[2.0], [-1.0]]).norm_max() < 1e-15);
        // [[2, 1], [1, 2]] has the factor [[√2, 0], [1/√2, √(3/2)]].
        let b = faer::mat![[1.0], [2.0]];
        let (root, last) = (2f64.sqrt(), 1.5f64.sqrt());
        assert!((positive.lower_times(b.as_ref()) - faer::mat![[root], [1.0 / root + 2.0 * last]]).norm_max() < 1e-15);
        assert!((positive.upper_times(b.as_ref()) - faer::mat![[root + root], [2.0 * last]]).norm_max() < 1e-15);
        let inverse = positive.inverse();
        assert!((inverse[(0, 0)] - 2.0 / 3.0).abs() < 1e-15 && (inverse[(1, 0)] + 1.0 / 3.0).abs() < 1e-15);
        positive.matrix_mut().copy_from(faer::mat![[4.0, 0.0], [0.0, 1.0]]);
        assert!(positive.refactor() && (positive.log_det() - 4f64.ln()).abs() < 1e-15);
        assert!(Positive::factor(faer::mat![[1.0, 0.0], [2.0, 1.0]]).is_none());
        assert!(Positive::factor(faer::mat![[f64::NAN]]).is_none());
    }

    #[test]
    fn a_large_one_is_the_same_for_any_number_of_threads() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let at = |i: usize, j: usize| (-0.01 * (i as f64 - j as f64).powi(2)).exp() + f64::from(u8::from(i == j));
            pool.install(|| {
                let mut positive = Positive::factor(Mat::from_fn(600, 600, at)).unwrap();
                let mut b = Mat::from_fn(600, 70, |i, j| ((i * 31 + j * 17) % 101) as f64);
                positive.solve(b.as_mut());
                let mut inverse = positive.inverse();
                add_gram(inverse.as_mut(), b.as_ref(), -1.0, parts(600));
                (b, inverse, positive.log_det())
            })
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(3));
    }
}

//! The covariance of a sparse positive definite precision, read centered: s H T⁻¹ H by the factor of T.

use crate::Operator;
use crate::error::{Error, Result};
use crate::sparse::cholesky::{Analysis, Cholesky};
use crate::sparse::matrix::SparseSymmetric;
use faer::{MatMut, MatRef};

/// s H T⁻¹ H.
pub struct CenteredInverse {
    factor: Cholesky,
    n: usize,
    scale: f64,
}

impl CenteredInverse {
    /// Factors the precision.
    ///
    /// # Errors
    ///
    /// If it is not positive definite, or its factor does not fit into memory.
    pub fn new(precision: &SparseSymmetric, scale: f64) -> Result<CenteredInverse> {
        let factor = Analysis::new(precision)?.factor(precision, 0.0)?;
        let singular = || Error::numerical("the precision is singular", "use a larger `ridge`");
        Ok(CenteredInverse { factor: factor.ok_or_else(singular)?, n: precision.dim(), scale })
    }
}

impl Operator for CenteredInverse {
    fn dim(&self) -> usize {
        self.n
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        out.copy_from(x);
        center(out.as_mut());
        self.factor.solve(out.as_mut());
        center(out.as_mut());
        out *= faer::Scale(self.scale);
    }
}

fn center(mut x: MatMut<'_, f64>) {
    for q in 0..x.ncols() {
        let mean = (0..x.nrows()).map(|i| x[(i, q)]).sum::<f64>() / x.nrows() as f64;
        (0..x.nrows()).for_each(|i| x[(i, q)] -= mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn it_is_the_centered_inverse() {
        // T = [2 −1; −1 3], T⁻¹ = [3 1; 1 2]/5; H T⁻¹ H = (3 + 2 − 2)/4/5 [1 −1; −1 1].
        let precision = SparseSymmetric::from_parts(vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 3.0]);
        let operator = CenteredInverse::new(&precision, 10.0).unwrap();
        let mut out = Mat::zeros(2, 2);
        operator.apply(Mat::<f64>::identity(2, 2).as_ref(), out.as_mut());
        let expected = 10.0 * 0.75 / 5.0;
        assert!((out - faer::mat![[expected, -expected], [-expected, expected]]).norm_max() < 1e-14);
    }
}

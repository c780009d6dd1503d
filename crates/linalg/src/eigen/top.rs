//! The largest eigenpairs of a covariance that is known by its products or by a factor.

use crate::dense::{self, DenseSymmetric};
use crate::eigen::factor::{Factor, gram, image};
use crate::eigen::lanczos::{Ask, largest};
use crate::error::Result;
use crate::progress::Observer;
use crate::{Eigenpairs, Operator};
use faer::{Mat, MatMut, MatRef};

/// Up to this many rows the dense solver takes a covariance whole.
const DENSE: usize = 400;
/// Up to this many rows the small side of a factor is multiplied out.
const SMALL_SIDE: usize = 2000;
/// Relative residual required of an operator's eigenpairs.
const TOLERANCE: f64 = 1e-10;

/// The top of a covariance known by its products, constants kept out.
pub fn operator_top(operator: &dyn Operator, dims: usize, seed: u64, observer: &dyn Observer) -> Result<Eigenpairs> {
    let n = operator.dim();
    if n <= DENSE {
        let mut matrix = Mat::zeros(n, n);
        operator.apply(Mat::<f64>::identity(n, n).as_ref(), matrix.as_mut());
        return dense::checked_eigen(matrix.as_ref(), dims);
    }
    let constant = Mat::from_fn(n, 1, |_, _| 1.0 / (n as f64).sqrt());
    lanczos_top(operator, constant.as_ref(), dims, seed, observer)
}

fn lanczos_top(
    operator: &dyn Operator,
    kept_out: MatRef<'_, f64>,
    dims: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    let block = if dims <= 4 { 8 } else { dims.next_multiple_of(8) };
    let ask = Ask { wanted: dims, block, tolerance: TOLERANCE, max_steps: 400, seed };
    let ritz = largest(operator, kept_out, None, &ask, observer)?;
    let mut image = Mat::zeros(operator.dim(), ritz.vectors.ncols());
    operator.apply(ritz.vectors.as_ref(), image.as_mut());
    let norm = ritz.values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    let off = |i: usize, q: usize| (image[(i, q)] - ritz.values[q] * ritz.vectors[(i, q)]) / norm;
    let residuals =
        (0..ritz.values.len()).map(|q| (0..operator.dim()).map(|i| off(i, q).powi(2)).sum::<f64>().sqrt()).collect();
    Ok(Eigenpairs {
        values: ritz.values,
        vectors: ritz.vectors,
        residuals,
        solver: "lanczos".into(),
        iterations: ritz.steps,
        converged: ritz.converged,
        factor: 0,
    })
}

/// The top of F Fᵀ through its smaller side.
pub fn factor_top(factor: &dyn Factor, dims: usize, seed: u64, observer: &dyn Observer) -> Result<Eigenpairs> {
    let (n, p) = (factor.nrows(), factor.ncols());
    if p > n {
        let factor = factor.rows(0..n);
        return if n <= SMALL_SIDE {
            let gram = dense::inner(factor.transpose(), factor.transpose());
            matrix_top(gram, dims, seed, observer)
        } else {
            operator_top(&Product { a: factor.as_ref() }, dims, seed, observer)
        };
    }
    let mut pairs = if p <= SMALL_SIDE {
        matrix_top(gram(factor), dims, seed, observer)?
    } else {
        let factor = factor.rows(0..n);
        lanczos_top(&Product { a: factor.transpose() }, Mat::zeros(p, 0).as_ref(), dims, seed, observer)?
    };
    // v = F u / √λ; where λ vanishes the direction carries no variance and is left zero.
    let largest = pairs.values.first().copied().unwrap_or(0.0);
    let scale = |lambda: f64| if lambda > 1e-13 * largest { 1.0 / lambda.sqrt() } else { 0.0 };
    let images = image(factor, pairs.vectors.as_ref());
    pairs.vectors = Mat::from_fn(n, pairs.values.len(), |i, q| images[(i, q)] * scale(pairs.values[q]));
    Ok(pairs)
}

/// The top of a symmetric positive semidefinite matrix, such as FᵀF.
pub fn matrix_top(matrix: Mat<f64>, dims: usize, seed: u64, observer: &dyn Observer) -> Result<Eigenpairs> {
    if matrix.nrows() <= DENSE {
        return dense::checked_eigen(matrix.as_ref(), dims);
    }
    let nothing = Mat::zeros(matrix.nrows(), 0);
    lanczos_top(&DenseSymmetric(matrix), nothing.as_ref(), dims, seed, observer)
}

/// A Aᵀ.
struct Product<'a> {
    a: MatRef<'a, f64>,
}

impl Operator for Product<'_> {
    fn dim(&self) -> usize {
        self.a.nrows()
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        out.fill(0.0);
        let inside = dense::inner(self.a, x);
        dense::add_product(out, self.a, inside.as_ref(), 1.0);
    }
}

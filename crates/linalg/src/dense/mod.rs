//! Dense symmetric eigenproblems, and products of tall matrices with a fixed order of summation.

pub mod cholesky;
pub(crate) mod partial;
pub mod small;

use crate::error::{Error, Result};
use crate::parallel;
use crate::power::{exponent, times_two_to};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Rows to a chunk of a tall product: the unit of parallel work and of summation.
pub(crate) const ROWS: usize = 4096;

/// The matrix library splits its work in this many parts, whatever the number of threads, so that the order of its
/// sums does not depend on them.
fn fixed_parts() -> Par {
    Par::rayon(8)
}

/// How the work on a dense matrix of n rows is divided: not at all if it is small.
pub fn parts(n: usize) -> Par {
    if n < 128 { Par::Seq } else { fixed_parts() }
}

/// A matrix cut into chunks of `size` rows; the last chunk may have fewer.
pub(crate) fn row_chunks_mut(mut rest: MatMut<'_, f64>, size: usize) -> Vec<MatMut<'_, f64>> {
    let mut chunks = Vec::with_capacity(rest.nrows().div_ceil(size));
    while rest.nrows() > 0 {
        let rows = size.min(rest.nrows());
        let (chunk, after) = rest.split_at_row_mut(rows);
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

/// A matrix cut into chunks of `size` columns; the last chunk may have fewer.
pub fn col_chunks_mut(matrix: MatMut<'_, f64>, size: usize) -> impl Iterator<Item = MatMut<'_, f64>> {
    row_chunks_mut(matrix.transpose_mut(), size).into_iter().map(MatMut::transpose_mut)
}

/// All eigenpairs of a symmetric matrix (lower triangle read), largest eigenvalue first.
///
/// # Errors
///
/// If the matrix library's iteration does not converge, which needs a matrix that is not finite.
pub fn symmetric_eigen(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let mut vectors = Mat::<f64>::zeros(matrix.nrows(), matrix.nrows());
    let values = decomposed(matrix, Some(vectors.as_mut()))?;
    // The library's order is ascending.
    Ok((values, vectors.reverse_cols().to_owned()))
}

/// All eigenvalues of a symmetric matrix (lower triangle read), largest first.
///
/// # Errors
///
/// As of [`symmetric_eigen`].
pub fn symmetric_eigenvalues(matrix: MatRef<'_, f64>) -> Result<Vec<f64>> {
    decomposed(matrix, None)
}

/// The only call of the matrix library's symmetric eigen-decomposition: the eigenvalues, largest first, and the vectors,
/// that of the smallest first.
///
/// The library loses digits of matrices whose norm is far from one (docs/decisions/0065), so that it gets this one with
/// its largest entry between one half and one, by a power of two.
fn decomposed(matrix: MatRef<'_, f64>, vectors: Option<MatMut<'_, f64>>) -> Result<Vec<f64>> {
    use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
    let (n, params) = (matrix.nrows(), faer::Spec::default());
    let lower = (0..n).flat_map(|j| (j..n).map(move |i| matrix[(i, j)].abs()));
    let power = exponent(lower.fold(0.0, f64::max)) + 1;
    let unit = Mat::from_fn(n, n, |i, j| times_two_to(matrix[(i.max(j), i.min(j))], -power));
    let (par, mut values) = (parts(n), faer::Col::<f64>::zeros(n));
    let wanted = if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut memory = faer::dyn_stack::MemBuffer::try_new(self_adjoint_evd_scratch::<f64>(n, wanted, par, params))
        .map_err(|_| Error::numerical(format!("there is no memory for a dense eigenproblem of {n} rows"), ""))?;
    let stack = faer::dyn_stack::MemStack::new(&mut memory);
    self_adjoint_evd(unit.as_ref(), values.as_diagonal_mut(), vectors, par, stack, params)
        .map_err(|_| Error::numerical(format!("the dense eigenproblem of {n} rows did not converge"), ""))?;
    Ok((0..n).rev().map(|j| times_two_to(values[j], power)).collect())
}

/// AᵀB for tall A and B with the same number of rows.
pub fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let n = a.nrows();
    sum_of_chunks(n, (a.ncols(), b.ncols()), |chunk| {
        let (start, rows) = (chunk * ROWS, ROWS.min(n - chunk * ROWS));
        let mut product = Mat::<f64>::zeros(a.ncols(), b.ncols());
        let (a, b) = (a.subrows(start, rows), b.subrows(start, rows));
        matmul(product.as_mut(), Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
        product
    })
}

/// The sum of what is made of every chunk of `n` rows, in the order of the chunks; few of the parts are in memory together.
pub(crate) fn sum_of_chunks(n: usize, (rows, cols): (usize, usize), of: impl Fn(usize) -> Mat<f64> + Sync) -> Mat<f64> {
    let (count, together) = (n.div_ceil(ROWS), 2 * rayon::current_num_threads());
    let mut total = Mat::zeros(rows, cols);
    for first in (0..count).step_by(together) {
        for part in parallel::collect(together.min(count - first), |at| of(first + at)) {
            total += part;
        }
    }
    total
}

/// As [`sum_of_chunks`], of what is made of every chunk of rows of a tall matrix that may change in the same pass.
pub(crate) fn sum_of_changed_chunks(
    mut matrix: MatMut<'_, f64>,
    (rows, cols): (usize, usize),
    of: impl Fn(usize, MatMut<'_, f64>) -> Mat<f64> + Sync,
) -> Mat<f64> {
    let together = 2 * rayon::current_num_threads();
    let mut total = Mat::zeros(rows, cols);
    for (first, some) in row_chunks_mut(matrix.as_mut(), together * ROWS).into_iter().enumerate() {
        for part in parallel::collect_of(row_chunks_mut(some, ROWS), |at, chunk| of(first * together + at, chunk)) {
            total += part;
        }
    }
    total
}

/// Calls `work` with every chunk of rows of a tall matrix.
pub(crate) fn each_chunk(matrix: MatMut<'_, f64>, work: impl Fn(usize, MatMut<'_, f64>) + Sync) {
    parallel::each_of(row_chunks_mut(matrix, ROWS), work);
}

/// `out ← out + scale · A S` for a tall A and a small S.
pub(crate) fn add_product(out: MatMut<'_, f64>, a: MatRef<'_, f64>, s: MatRef<'_, f64>, scale: f64) {
    each_chunk(out, |chunk, out| {
        let a = a.subrows(chunk * ROWS, out.nrows());
        matmul(out, Accum::Add, a, s, scale, Par::Seq);
    });
}

/// A S for a tall A and a small S.
pub fn product(a: MatRef<'_, f64>, s: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), s.ncols());
    add_product(out.as_mut(), a, s, 1.0);
    out
}

/// A B of small matrices, on one thread.
pub fn small_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// A B of matrices of about the same size in both directions.
pub fn dense_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, parts(a.nrows().min(b.ncols())));
    out
}

/// A B A of square symmetric matrices, the lower triangle alone.
pub fn symmetric_sandwich(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangle_of};
    let (n, par) = (a.nrows(), parts(a.nrows()));
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    let (mut half, mut out) = (Mat::zeros(n, n), Mat::zeros(n, n));
    matmul(half.as_mut(), Accum::Replace, a, b, 1.0, par);
    triangle_of(out.as_mut(), lower, Accum::Replace, half.as_ref(), full, a, full, 1.0, par);
    out
}

/// L⁻¹ of a lower triangle; what stands above the diagonal is not read.
pub(crate) fn inverse_of_triangle(l: MatRef<'_, f64>) -> Mat<f64> {
    let mut inverse = Mat::identity(l.nrows(), l.nrows());
    faer::linalg::triangular_solve::solve_lower_triangular_in_place(l, inverse.as_mut(), Par::Seq);
    inverse
}

/// A full symmetric matrix as an operator.
#[derive(Clone, Debug)]
pub struct DenseSymmetric(pub Mat<f64>);

impl crate::Operator for DenseSymmetric {
    fn dim(&self) -> usize {
        self.0.nrows()
    }

    fn apply(&self, x: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        parallel::each_of(row_chunks_mut(out, 256), |chunk, out| {
            let rows = self.0.as_ref().subrows(chunk * 256, out.nrows());
            matmul(out, Accum::Replace, rows, x, 1.0, Par::Seq);
        });
    }
}

/// The `wanted` largest eigenpairs of a symmetric matrix and [`crate::FURTHER`] more, as an answer with residuals. The
/// last pair of all is never among those: where the constant vector was lifted out of the way, it is that one.
pub(crate) fn checked_eigen(matrix: MatRef<'_, f64>, wanted: usize) -> Result<crate::Eigenpairs> {
    let (values, vectors) = symmetric_eigen(matrix)?;
    let norm = values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    let further = (wanted + crate::FURTHER).min(values.len() - 1);
    let found = wanted.min(values.len()).max(further);
    let vectors = vectors.subcols(0, found).to_owned();
    let full = matrix.nrows();
    let symmetric = Mat::from_fn(full, full, |i, j| matrix[(i.max(j), i.min(j))]);
    let image = product(symmetric.as_ref(), vectors.as_ref());
    let residuals: Vec<f64> = (0..found)
        .map(|q| {
            // In units of the largest entry, so that no square vanishes or overflows.
            let off = |i: usize| (image[(i, q)] - values[q] * vectors[(i, q)]) / norm;
            (0..full).map(|i| off(i).powi(2)).sum::<f64>().sqrt()
        })
        .collect();
    Ok(crate::Eigenpairs {
        values: values[..found].to_vec(),
        vectors,
        converged: residuals.iter().take(wanted).all(|&residual| residual <= crate::RESIDUAL),
        residuals,
        solver: "dense".into(),
        iterations: 1,
        factor: 0,
    })
}

/// What makes the entry of largest magnitude of a column positive.
pub fn sign(vectors: MatRef<'_, f64>, q: usize) -> f64 {
    let mut best = 0.0f64;
    for i in 0..vectors.nrows() {
        if vectors[(i, q)].abs() > best.abs() {
            best = vectors[(i, q)];
        }
    }
    if best < 0.0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_two_by_two_has_eigenvalues_three_and_one() {
        let a = faer::mat![[2.0, 1.0], [1.0, 2.0]];
        let (values, vectors) = symmetric_eigen(a.as_ref()).unwrap();
        assert!((values[0] - 3.0).abs() < 1e-14 && (values[1] - 1.0).abs() < 1e-14);
        assert!((vectors[(0, 0)] - vectors[(1, 0)]).abs() < 1e-14);
        assert!(symmetric_eigenvalues(a.as_ref()).unwrap().iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-14));
    }

    /// The matrix of docs/decisions/0065, whose eigenvectors the library loses at 2^-60.
    #[test]
    fn the_scale_of_a_matrix_changes_no_digit_of_its_eigenpairs() {
        let n = 450;
        let entry = |i: usize, j: usize| (((i * 7919 + j * 104_729) % 10_007) as f64 / 10_007.0 - 0.5).powi(3);
        let plain = Mat::from_fn(n, n, |i, j| entry(i.min(j), i.max(j)));
        let (values, vectors) = symmetric_eigen(plain.as_ref()).unwrap();
        let residual = &plain * &vectors - Mat::from_fn(n, n, |i, q| vectors[(i, q)] * values[q]);
        assert!(residual.norm_max() < 1e-12 * values[0], "{:e}", residual.norm_max() / values[0]);
        for power in [-900, -60, 30, 900] {
            let scaled = Mat::from_fn(n, n, |i, j| times_two_to(plain[(i, j)], power));
            let (values_there, vectors_there) = symmetric_eigen(scaled.as_ref()).unwrap();
            assert_eq!(vectors, vectors_there, "{power}");
            assert!(values.iter().zip(&values_there).all(|(&a, &b)| times_two_to(a, power) == b), "{power}");
            let pairs = checked_eigen(scaled.as_ref(), 3).unwrap();
            assert!(pairs.converged && pairs.residuals.iter().all(|&r| r < 1e-12), "{power}: {:?}", pairs.residuals);
        }
        let not_finite = Mat::from_fn(3, 3, |_, _| f64::NAN);
        assert!(checked_eigen(not_finite.as_ref(), 1).map_or(true, |pairs| !pairs.converged));
    }

    #[test]
    fn tall_products_match_the_plain_ones() {
        let a = Mat::from_fn(10_000, 3, |i, j| ((i * 7 + j * 13) % 17) as f64 - 8.0);
        let b = Mat::from_fn(10_000, 2, |i, j| ((i * 5 + j * 3) % 11) as f64 - 5.0);
        let c = inner(a.as_ref(), b.as_ref());
        let plain = a.transpose() * &b;
        assert!((c - plain).norm_max() < 1e-9);
        let s = faer::mat![[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]];
        assert!((product(a.as_ref(), s.as_ref()) - &a * &s).norm_max() < 1e-12);
    }
}

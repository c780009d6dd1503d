//! Linear algebra of a few rows, on slices: what has to be done once for every point.

use crate::dense;
use faer::Mat;

/// Up to this many rows rotations are at least as quick as the matrix library.
const ROTATE: usize = 32;
/// Sweeps of rotations; a handful suffices.
const SWEEPS: usize = 30;

/// A⁻¹ b for a symmetric positive definite A of a few rows (lower triangle read, row-major), in place; false if A is
/// not positive definite.
pub fn solve_positive_definite(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    debug_assert!(a.len() == n * n);
    for i in 0..n {
        for j in 0..=i {
            let (row_i, row_j) = (&a[i * n..i * n + j], &a[j * n..j * n + j]);
            let value = a[i * n + j] - row_i.iter().zip(row_j).map(|(x, y)| x * y).sum::<f64>();
            if i > j {
                a[i * n + j] = value / a[j * n + j];
            } else if value > 0.0 {
                a[i * n + i] = value.sqrt();
            } else {
                return false;
            }
        }
    }
    for i in 0..n {
        let known: f64 = (0..i).map(|k| a[i * n + k] * b[k]).sum();
        b[i] = (b[i] - known) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        b[i] = (b[i] - known) / a[i * n + i];
    }
    true
}

/// All eigenpairs of a symmetric matrix (row-major), largest eigenvalue first; row q of the second is vector q.
///
/// Cyclic Jacobi rotations: every one zeroes an off-diagonal pair, until all of them vanish beside the diagonal. Small
/// eigenvalues keep the accuracy that the matrix gives them (G. Golub, C. Van Loan. Matrix computations, section 8.5).
pub fn symmetric_eigen(a: &mut [f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    debug_assert!(a.len() == n * n);
    let mut vectors = vec![0.0; n * n];
    if n > ROTATE
        && let Ok((values, columns)) = dense::symmetric_eigen(Mat::from_fn(n, n, |i, j| a[i * n + j]).as_ref())
    {
        vectors.iter_mut().enumerate().for_each(|(at, v)| *v = columns[(at % n, at / n)]);
        return (values, vectors);
    }
    for q in 0..n {
        vectors[q * n + q] = 1.0;
    }
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (app, aqq, apq) = (a[p * n + p], a[q * n + q], a[p * n + q]);
                if apq.abs() > f64::EPSILON * 0.5 * (app * aqq).abs().sqrt().max(f64::MIN_POSITIVE) {
                    rotate(a, &mut vectors, n, (p, q));
                    rotated = true;
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&p, &q| a[q * n + q].total_cmp(&a[p * n + p]));
    let values = order.iter().map(|&q| a[q * n + q]).collect();
    let sorted = order.iter().flat_map(|&q| vectors[q * n..(q + 1) * n].iter().copied()).collect();
    (values, sorted)
}

/// The rotation of rows and columns p and q that zeroes a[p,q]; the vectors turn along.
fn rotate(a: &mut [f64], vectors: &mut [f64], n: usize, (p, q): (usize, usize)) {
    let apq = a[p * n + q];
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    let tan = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cos = 1.0 / (tan * tan + 1.0).sqrt();
    let sin = tan * cos;
    a[p * n + p] -= tan * apq;
    a[q * n + q] += tan * apq;
    for i in (0..n).filter(|&i| i != p && i != q) {
        let (x, y) = (a[p * n + i], a[q * n + i]);
        let (x, y) = (cos * x - sin * y, sin * x + cos * y);
        (a[p * n + i], a[i * n + p]) = (x, x);
        (a[q * n + i], a[i * n + q]) = (y, y);
    }
    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
    let (head, tail) = vectors.split_at_mut(q * n);
    for (x, y) in head[p * n..(p + 1) * n].iter_mut().zip(&mut tail[..n]) {
        (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
    }
}

/// Makes `v` orthogonal to the orthonormal rows of `basis` and of length one, by Gram-Schmidt twice; false if less than
/// a `negligible` part of it is left.
pub fn orthonormalize(v: &mut [f64], basis: &[f64], negligible: f64) -> bool {
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let before = length(v);
    for _ in 0..2 {
        for direction in basis.chunks_exact(v.len()) {
            let along: f64 = v.iter().zip(direction).map(|(x, b)| x * b).sum();
            v.iter_mut().zip(direction).for_each(|(x, b)| *x -= along * b);
        }
        let left = length(v);
        if left.is_nan() || left <= negligible * before {
            return false;
        }
        v.iter_mut().for_each(|x| *x /= left);
    }
    true
}

/// Adds a multiple of Bᵀ B of rows stored one after the other: the projector on their span where they are orthonormal.
pub fn add_outer(rows: &[f64], size: usize, scale: f64, form: &mut [f64]) {
    for row in rows.chunks_exact(size) {
        for (x, sums) in row.iter().zip(form.chunks_exact_mut(size)) {
            let x = scale * x;
            sums.iter_mut().zip(row).for_each(|(sum, y)| *sum += x * y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system_is_solved_and_an_indefinite_one_refused() {
        let mut b = [8.0, 7.0];
        assert!(solve_positive_definite(&mut [4.0, 2.0, 2.0, 3.0], &mut b));
        assert!((b[0] - 1.25).abs() < 1e-14 && (b[1] - 1.5).abs() < 1e-14);
        assert!(!solve_positive_definite(&mut [1.0, 2.0, 2.0, 1.0], &mut [1.0, 1.0]));
    }

    #[test]
    fn rotations_find_the_pairs_of_small_and_large_matrices() {
        let (values, vectors) = symmetric_eigen(&mut [2.0, 1.0, 1.0, 2.0], 2);
        assert!((values[0] - 3.0).abs() < 1e-15 && (values[1] - 1.0).abs() < 1e-15);
        assert!((vectors[0] - vectors[1]).abs() < 1e-15 && (vectors[2] + vectors[3]).abs() < 1e-15);
        for n in [1, 5, 12, 40] {
            let entry = |i: usize, j: usize| ((i * j + 3 * (i + j)) % 11) as f64 - if i == j { 4.0 } else { 1.0 };
            let a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
            let (values, vectors) = symmetric_eigen(&mut a.clone(), n);
            assert!(values.is_sorted_by(|x, y| x >= y));
            for (value, v) in values.iter().zip(vectors.chunks_exact(n)) {
                for i in 0..n {
                    let image: f64 = (0..n).map(|j| a[i * n + j] * v[j]).sum();
                    assert!((image - value * v[i]).abs() < 1e-12 * n as f64 * 11.0);
                }
            }
        }
        assert_eq!(symmetric_eigen(&mut [0.0; 9], 3).0, [0.0; 3]);
    }

    #[test]
    fn what_lies_in_the_span_is_refused() {
        let basis = [1.0, 0.0, 0.0];
        let mut v = [3.0, 0.0, 4.0];
        assert!(orthonormalize(&mut v, &basis, 1e-12));
        assert_eq!(v, [0.0, 0.0, 1.0]);
        assert!(!orthonormalize(&mut [2.0, 0.0, 0.0], &basis, 1e-12));
        assert!(!orthonormalize(&mut [0.0; 3], &basis, 1e-12));
    }
}

//! A precision that is its own Cholesky factor.
//!
//! ```text
//! A = M Mᵀ        M[·, a] = (e[a] − Σ_b w[a,b] e[b]) / √v[a]    every b after a,  Σ_b w[a,b] = 1
//! ```
//!
//! In the order of its columns M is lower triangular, and its last column is zero. Constants are free, Mᵀ1 = 0, so that
//! the last position is grounded (its coordinate fixed at zero) and two triangular sweeps solve A x = y for every y that
//! sums to zero; nothing is factored and nothing fills in.

use crate::Operator;
use crate::dense::col_chunks_mut;
use crate::parallel;
use crate::sparse::matrix::SparseSymmetric;
use faer::{MatMut, MatRef};

/// Columns solved together, side by side in a vector register; a fixed number, so that the arithmetic of a column
/// never depends on the threads.
const LANES: usize = 4;

/// The triangular root M of a precision. As an [`Operator`] it is the centered covariance H A⁺ H, in its own unit.
#[derive(Clone, Debug)]
pub struct Root {
    /// The point at each position.
    order: Vec<u32>,
    /// The entries of position `a` are `offsets[a]..offsets[a + 1]`.
    offsets: Vec<usize>,
    /// The positions after `a` that its column reaches.
    later: Vec<u32>,
    weights: Vec<f64>,
    /// v of every position but the last, in units of `unit`.
    variances: Vec<f64>,
    unit: f64,
}

impl Root {
    /// From the columns in their order: the later positions, their weights, and the variance of every position but the last.
    /// Variances are kept in units of `unit`, so that no scale of the data can overflow a product.
    pub fn new(
        order: Vec<u32>,
        (offsets, later): (Vec<usize>, Vec<u32>),
        weights: Vec<f64>,
        variances: &[f64],
        unit: f64,
    ) -> Root {
        debug_assert!(offsets.len() == order.len() + 1 && later.len() == weights.len());
        debug_assert!((0..order.len()).all(|a| later[offsets[a]..offsets[a + 1]].iter().all(|&b| b as usize > a)));
        let variances: Vec<f64> = variances.iter().map(|v| v / unit).collect();
        debug_assert!(variances.len() + 1 == order.len() && variances.iter().all(|&v| v > 0.0));
        Root { order, offsets, later, weights, variances, unit }
    }

    /// What the eigenvalues of this operator are multiples of.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The point at each position of the order, the grounded one last.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// log det of A without the row and column of the last position: −Σ log v.
    pub fn log_determinant(&self) -> f64 {
        -self.variances.iter().map(|v| v.ln() + self.unit.ln()).sum::<f64>()
    }

    /// A = M Mᵀ over the points, multiplied out.
    pub fn precision(&self) -> SparseSymmetric {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (a, v) in self.variances.iter().enumerate() {
            let m = 1.0 / (v.sqrt() * self.unit.sqrt());
            columns.push(self.order[a]);
            values.push(m);
            for (b, w) in self.column(a) {
                columns.push(self.order[b]);
                values.push(-m * w);
            }
            offsets.push(columns.len());
        }
        // The last column is zero; its diagonal entry is kept so that the pattern is square.
        columns.push(self.order[self.order.len() - 1]);
        values.push(0.0);
        offsets.push(columns.len());
        SparseSymmetric::gram(&offsets, &columns, &values)
    }

    fn column(&self, a: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[a]..self.offsets[a + 1];
        self.later[range.clone()].iter().map(|&b| b as usize).zip(self.weights[range].iter().copied())
    }
}

impl Operator for Root {
    fn dim(&self) -> usize {
        self.order.len()
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        out.copy_from(x);
        parallel::each_of(col_chunks_mut(out, LANES), |_, mut columns| {
            let mut x = vec![[0.0; LANES]; self.order.len()];
            for (place, &i) in x.iter_mut().zip(&self.order) {
                (0..columns.ncols()).for_each(|q| place[q] = columns[(i as usize, q)]);
            }
            pulp::Arch::new().dispatch(Sweeps { root: self, x: &mut x });
            for (place, &i) in x.iter().zip(&self.order) {
                (0..columns.ncols()).for_each(|q| columns[(i as usize, q)] = place[q]);
            }
        });
    }
}

/// x ← H A⁺ H x: centered, M z = x downwards, Mᵀ x = z upwards with the last position at zero, and centered again.
struct Sweeps<'a> {
    root: &'a Root,
    x: &'a mut [[f64; LANES]],
}

impl pulp::WithSimd for Sweeps<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Sweeps { root, x } = self;
        center(x);
        for a in 0..root.variances.len() {
            let here = x[a];
            for (b, w) in root.column(a) {
                let there = &mut x[b];
                (0..LANES).for_each(|lane| there[lane] += w * here[lane]);
            }
        }
        if let Some(grounded) = x.last_mut() {
            *grounded = [0.0; LANES];
        }
        for (a, v) in root.variances.iter().enumerate().rev() {
            let mut sum = x[a].map(|z| v * z);
            for (b, w) in root.column(a) {
                (0..LANES).for_each(|lane| sum[lane] += w * x[b][lane]);
            }
            x[a] = sum;
        }
        center(x);
    }
}

#[inline(always)]
fn center(x: &mut [[f64; LANES]]) {
    let mut sum = [0.0; LANES];
    for place in x.iter() {
        (0..LANES).for_each(|lane| sum[lane] += place[lane]);
    }
    let n = x.len() as f64;
    for place in x.iter_mut() {
        (0..LANES).for_each(|lane| place[lane] -= sum[lane] / n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    /// Three points in the order 2, 0, 1: each written by the next one, with variances 1 and 4.
    fn chain(unit: f64) -> Root {
        Root::new(vec![2, 0, 1], (vec![0, 1, 2, 2], vec![1, 2]), vec![1.0, 1.0], &[1.0, 4.0], unit)
    }

    #[test]
    fn a_chain_has_a_path_laplacian_weighted_by_its_precisions() {
        // M = [e2 − e0, (e0 − e1)/2, 0] in points, so that A joins 2 and 0 by 1, and 0 and 1 by a quarter.
        let expected = faer::mat![[1.25, -0.25, -1.0], [-0.25, 0.25, 0.0], [-1.0, 0.0, 1.0]];
        for unit in [1.0, 4.0] {
            assert!((chain(unit).precision().to_dense() - &expected).norm_max() < 1e-15);
            assert!((chain(unit).log_determinant() - 0.25f64.ln()).abs() < 1e-15);
        }
    }

    #[test]
    fn the_sweeps_invert_the_precision_on_vectors_that_sum_to_zero() {
        for columns in [1, 4, 6] {
            let y = Mat::from_fn(3, columns, |i, q| [1.0, -3.0, 2.0][i] * (q + 1) as f64);
            let root = chain(4.0);
            let mut image = Mat::zeros(3, columns);
            root.precision().apply(y.as_ref(), image.as_mut());
            let mut back = Mat::zeros(3, columns);
            root.apply(image.as_ref(), back.as_mut());
            // The operator is in units of 4, and y has mean zero.
            assert!((back * faer::Scale(4.0) - y).norm_max() < 1e-14 * columns as f64);
        }
    }
}

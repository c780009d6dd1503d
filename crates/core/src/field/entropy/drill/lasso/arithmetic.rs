//! Linear algebra for a precision T on a support: whether T is positive definite, its determinant, its inverse W on the
//! support, the products W V W and T R T there, and an approximate inverse of V ↦ W V W.
//!
//! A support that is nearly full uses dense matrices, and R ↦ T R T approximately inverts V ↦ W V W; the inverse is
//! exact if the support is full. A sparse support uses a sparse factor and the inverse on its pattern, and V ↦ W V W is
//! inverted on the pattern of the factor, which is a little larger than the support.

use crate::field::entropy::drill::lasso::support::Support;
use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::dense::symmetric_sandwich;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::sparse::cholesky::{Analysis, Cholesky, Symbolic};
use eigenfold_linalg::sparse::chordal::Curvature;
use eigenfold_linalg::sparse::selected::{Selected, Slot, Tree};
use faer::Mat;

/// From this fraction of all pairs on, a support is treated as full.
const NEARLY_FULL: f64 = 0.2;

/// The arithmetic of a support.
pub(crate) enum Arithmetic<'a> {
    Dense(&'a Support),
    Sparse { support: &'a Support, symbolic: Symbolic<'a>, tree: Tree, places: Vec<Slot> },
}

/// Whether the share of pairs that are edges is so high that dense matrices are cheaper.
pub(crate) fn is_nearly_full(support: &Support) -> bool {
    let n = support.n as f64;
    support.ends.len() as f64 >= NEARLY_FULL * 0.5 * n * (n - 1.0)
}

/// A positive definite matrix, factored.
pub(crate) enum Factor {
    Dense(Positive),
    Sparse(Cholesky),
}

impl Factor {
    pub(crate) fn log_determinant(&self) -> f64 {
        match self {
            Factor::Dense(factor) => factor.log_det(),
            Factor::Sparse(factor) => factor.log_determinant(),
        }
    }
}

/// The inverse on the support, with the intermediate results.
pub(crate) struct Inverse {
    pub(crate) values: Vec<f64>,
    whole: Whole,
}

enum Whole {
    Dense(Mat<f64>),
    Sparse(Selected),
}

/// V ↦ W V W and its approximate inverse, at one matrix.
pub(crate) enum Congruence<'a> {
    Dense { support: &'a Support, t: Mat<f64>, w: &'a Mat<f64> },
    Sparse { places: &'a [Slot], curvature: Curvature<'a> },
}

impl Congruence<'_> {
    /// W V W.
    pub(crate) fn apply(&self, v: &[f64]) -> Result<Vec<f64>> {
        match self {
            Congruence::Dense { support, w, .. } => {
                Ok(on_support(support, &symmetric_sandwich(w.as_ref(), full(support, v).as_ref())))
            }
            Congruence::Sparse { places, curvature } => curvature.apply(places, v).ok_or_else(too_close),
        }
    }

    /// An approximate V with W V W = R.
    pub(crate) fn solve(&self, r: &[f64]) -> Result<Vec<f64>> {
        match self {
            Congruence::Dense { support, t, .. } => {
                Ok(on_support(support, &symmetric_sandwich(t.as_ref(), full(support, r).as_ref())))
            }
            Congruence::Sparse { places, curvature } => curvature.solve(places, r).ok_or_else(too_close),
        }
    }
}

fn too_close() -> Error {
    Error::numerical("a precision is too close to singular", "use a larger `ridge`")
}

impl<'a> Arithmetic<'a> {
    /// Dense matrices.
    pub(crate) fn dense(support: &'a Support) -> Arithmetic<'a> {
        Arithmetic::Dense(support)
    }

    /// Sparse factors of the analyzed pattern.
    pub(crate) fn sparse(support: &'a Support, analysis: &'a Analysis) -> Result<Arithmetic<'a>> {
        let lost = || Error::numerical("the graph's pattern could not be factored", "use a smaller `neighbors`");
        let symbolic = analysis.symbolic()?;
        let unit: Vec<f64> = (0..support.len()).map(|at| f64::from(u8::from(at < support.n))).collect();
        let factor = symbolic.factor(&support.matrix(&unit), 0.0)?.ok_or_else(lost)?;
        let tree = Tree::new(&factor).ok_or_else(lost)?;
        let diagonal = (0..support.n).map(|i| (i, i));
        let edges = support.ends.iter().map(|&(i, j)| (i as usize, j as usize));
        let place = |(i, j)| tree.place(&factor, i, j).ok_or_else(lost);
        let places = diagonal.chain(edges).map(place).collect::<Result<_>>()?;
        Ok(Arithmetic::Sparse { support, symbolic, tree, places })
    }

    /// The factor of T; `None` if T is not positive definite.
    pub(crate) fn factor(&self, t: &[f64]) -> Result<Option<Factor>> {
        match self {
            Arithmetic::Dense(support) => Ok(Positive::factor(full(support, t)).map(Factor::Dense)),
            Arithmetic::Sparse { support, symbolic, .. } => {
                Ok(symbolic.factor(&support.matrix(t), 0.0)?.map(Factor::Sparse))
            }
        }
    }

    /// W = T⁻¹ of a factored T.
    pub(crate) fn inverse(&self, factor: &mut Factor) -> Result<Inverse> {
        let lost =
            || Error::numerical("there is no memory for the inverse of a precision", "use a smaller `neighbors`");
        match (self, factor) {
            (Arithmetic::Dense(support), Factor::Dense(factor)) => {
                let mut inverse = factor.inverse();
                for j in 0..support.n {
                    (0..j).for_each(|i| inverse[(i, j)] = inverse[(j, i)]);
                }
                Ok(Inverse { values: on_support(support, &inverse), whole: Whole::Dense(inverse) })
            }
            (Arithmetic::Sparse { tree, places, .. }, Factor::Sparse(factor)) => {
                let inverse = tree.inverse(factor).ok_or_else(lost)?;
                let values = places.iter().map(|&place| inverse.at(place)).collect();
                Ok(Inverse { values, whole: Whole::Sparse(inverse) })
            }
            _ => Err(lost()),
        }
    }

    /// T R T.
    pub(crate) fn sandwich(&self, t: &[f64], r: &[f64]) -> Vec<f64> {
        match self {
            Arithmetic::Dense(support) => {
                on_support(support, &symmetric_sandwich(full(support, t).as_ref(), full(support, r).as_ref()))
            }
            Arithmetic::Sparse { support, .. } => support.sandwich(t, r),
        }
    }

    /// The second derivative of −log det at T.
    pub(crate) fn congruence<'b>(&'b self, t: &[f64], factor: &'b Factor, w: &'b Inverse) -> Result<Congruence<'b>> {
        match (self, factor, &w.whole) {
            (Arithmetic::Dense(support), _, Whole::Dense(w)) => {
                Ok(Congruence::Dense { support, t: full(support, t), w })
            }
            (Arithmetic::Sparse { tree, places, .. }, Factor::Sparse(factor), Whole::Sparse(inverse)) => {
                let curvature = Curvature::new(tree, factor, inverse).ok_or_else(too_close)?;
                Ok(Congruence::Sparse { places, curvature })
            }
            _ => Err(too_close()),
        }
    }
}

/// All of a matrix on a support, both triangles.
fn full(support: &Support, a: &[f64]) -> Mat<f64> {
    let mut matrix = Mat::zeros(support.n, support.n);
    (0..support.n).for_each(|i| matrix[(i, i)] = a[i]);
    for (&(i, j), &value) in support.ends.iter().zip(&a[support.n..]) {
        matrix[(i as usize, j as usize)] = value;
        matrix[(j as usize, i as usize)] = value;
    }
    matrix
}

/// The entries of a full matrix that a support has, from its lower triangle.
fn on_support(support: &Support, matrix: &Mat<f64>) -> Vec<f64> {
    let edges = support.ends.iter().map(|&(i, j)| matrix[(j as usize, i as usize)]);
    (0..support.n).map(|i| matrix[(i, i)]).chain(edges).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use eigenfold_graph::Graph;

    /// A ring with chords: sparse enough for both arithmetics.
    fn ring(n: u32) -> Support {
        let lists = (0..n).map(|i| vec![((i + 1) % n, 1.0), ((i + 5) % n, 1.0)]).collect();
        Support::new(&Graph::from_lists(lists).unwrap().union())
    }

    #[test]
    fn dense_and_sparse_arithmetic_agree() {
        let support = ring(40);
        let n = support.n;
        let t: Vec<f64> =
            (0..support.len()).map(|at| if at < n { 3.0 } else { 0.6 * (at as f64 * 1.7).sin() }).collect();
        let v: Vec<f64> = (0..support.len()).map(|at| (at as f64 * 0.9).cos()).collect();
        let analysis = Analysis::new(&support.matrix(&t)).unwrap();
        let both = [Arithmetic::dense(&support), Arithmetic::sparse(&support, &analysis).unwrap()];
        let answers = both.map(|arithmetic| {
            let mut factor = arithmetic.factor(&t).unwrap().unwrap();
            let inverse = arithmetic.inverse(&mut factor).unwrap();
            let curved = arithmetic.congruence(&t, &factor, &inverse).unwrap().apply(&v).unwrap();
            (factor.log_determinant(), inverse.values, arithmetic.sandwich(&t, &v), curved)
        });
        let near = |a: &[f64], b: &[f64], by: f64| a.iter().zip(b).all(|(a, b)| (a - b).abs() < by);
        let [dense, sparse] = answers;
        assert!((dense.0 - sparse.0).abs() < 1e-12);
        assert!(near(&dense.1, &sparse.1, 1e-13) && near(&dense.2, &sparse.2, 1e-12));
        assert!(near(&dense.3, &sparse.3, 1e-12));
        let mut indefinite = t;
        indefinite[0] = -1.0;
        assert!(Arithmetic::dense(&support).factor(&indefinite).unwrap().is_none());
    }
}

//! The critical λ₁* at which the map leaves the origin, and its bounds.
//!
//! The Hessian of the objective at X = 0 is 4 (L⁺ − λ L⁻), so that λ₁* is the smallest eigenvalue of L⁺ u = λ L⁻ u
//! among vectors of mean zero. Inverse iteration with the factor of L⁺ finds it; each step takes the best vector in the
//! span of the last two and the new one, as in conjugate gradients. (The paper notes that λ₁* has no explicit form.)
//!
//! ```text
//! l₁ = max(λ₂⁺/λ_N⁻, min w⁺/w⁻)                       (11), printed with λ_N⁺ for λ_N⁻, which is no lower bound
//! u₁ = min over i of λᵢ⁺/λᵢ⁻ and L⁺ᵢᵢ/L⁻ᵢᵢ             (12); of many points L⁺ᵢᵢ/L⁻ᵢᵢ and the quotient of L⁺'s own slowest vector
//! ```

use crate::forces::repulsion::Charges;
use eigenfold_linalg::Operator;
use eigenfold_linalg::SparseSymmetric;
use eigenfold_linalg::dense;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::sparse::cholesky::Cholesky;
use faer::{Mat, MatRef};

/// The tolerance of the iteration, and the maximum number of steps.
const TOLERANCE: f64 = 1e-14;
const MOST: usize = 300;
/// Up to this many points all eigenvalues are computed.
const DENSE: usize = 1000;

/// The critical λ with its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Critical {
    pub(crate) value: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Critical {
    /// For weights that are the squares of lengths in another unit.
    pub(super) fn in_units_of(self, unit: f64) -> Critical {
        let [value, lower, upper] = [self.value, self.lower, self.upper].map(|lambda| lambda / unit / unit);
        Critical { value, lower, upper }
    }
}

/// λ₁* by the factor of L⁺ with one point grounded.
pub(super) fn critical(attraction: &SparseSymmetric, held: &Cholesky, charges: &Charges) -> Result<Critical> {
    let n = attraction.dim();
    let solve = |x: &[f64]| {
        let mut out = Mat::from_fn(n, 1, |i, _| x[i]);
        held.solve(out.as_mut());
        centered((0..n).map(|i| out[(i, 0)]).collect())
    };
    let product = |x: &[f64]| {
        let mut out = Mat::zeros(n, 1);
        attraction.apply(MatRef::from_column_major_slice(x, n, 1), out.as_mut());
        (0..n).map(|i| out[(i, 0)]).collect::<Vec<f64>>()
    };
    let identity = |x: &[f64]| x.to_vec();
    let repulsion = |x: &[f64]| charges.laplacian(x);
    let (value, _) = slowest(n, &solve, &product, &repulsion);
    let (second, slow) = slowest(n, &solve, &product, &identity);
    let quotient = second * dot(&slow, &slow) / dot(&slow, &repulsion(&slow));
    let diagonal = charges.degrees();
    let ratios = attraction.diagonal().into_iter().zip(&diagonal).map(|(plus, minus)| plus / minus);
    let upper = ratios.fold(quotient, f64::min);
    if n > DENSE {
        let largest = fastest(n, &repulsion);
        return Ok(Critical { value, lower: second / largest, upper });
    }
    let dense_minus = Mat::from_fn(n, n, |i, j| if i == j { diagonal[i] } else { -charges.weight(i, j) });
    let plus = attraction.to_dense();
    let least = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| -plus[(i, j)] / charges.weight(i, j));
    let least = least.filter(|ratio| ratio.is_finite()).fold(f64::INFINITY, f64::min);
    let plus = dense::symmetric_eigen(plus.as_ref())?.0;
    let minus = dense::symmetric_eigen(dense_minus.as_ref())?.0;
    // Largest first; the last belongs to the constants.
    let upper = (0..n - 1).map(|i| plus[i] / minus[i]).fold(upper, f64::min);
    Ok(Critical { value, lower: (plus[n - 2] / minus[0]).max(least), upper })
}

/// The smallest eigenvalue of A x = λ M x over vectors of mean zero, and its vector: inverse iteration that takes the
/// best vector in the span of the new one, the last one, and the last direction.
///
/// A. V. Knyazev. Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate gradient
/// method. SIAM J. Sci. Comput. 23(2), 2001.
fn slowest(
    n: usize,
    solve: &dyn Fn(&[f64]) -> Vec<f64>,
    product: &dyn Fn(&[f64]) -> Vec<f64>,
    normalization: &dyn Fn(&[f64]) -> Vec<f64>,
) -> (f64, Vec<f64>) {
    let with_products = |v: Vec<f64>| WithProducts { a: product(&v), m: normalization(&v), v };
    let start =
        with_products(centered((0..n).map(|i| (1.0 + i as f64 * 0.618_033_988_749_895).fract() - 0.5).collect()));
    // Where A has lost all significant digits along the best vector, the previous one is returned.
    let mut found = (dot(&start.v, &start.a) / dot(&start.v, &start.m), start.v.clone());
    let mut plane: Vec<WithProducts> = start.beside(&[]).into_iter().collect();
    for _ in 0..MOST {
        let Some(x) = plane.first() else { break };
        let step = with_products(solve(&centered(x.m.clone())));
        plane.extend(step.beside(&plane));
        // The vectors are orthonormal in A, so that the best is the first eigenvector of M among them.
        let among = Mat::from_fn(plane.len(), plane.len(), |i, j| dot(&plane[i].v, &plane[j].m));
        let Ok((largest, by)) = dense::symmetric_eigen(among.as_ref()) else { break };
        let along = WithProducts::sum(&plane, |i| if i == 0 { 0.0 } else { by[(i, 0)] });
        let Some(best) = WithProducts::sum(&plane, |i| by[(i, 0)]).beside(&[]) else { break };
        let next = 1.0 / largest[0];
        let done = (found.0 - next).abs() <= TOLERANCE * next;
        found = (next, best.v.clone());
        plane = vec![best];
        plane.extend(along.beside(&plane));
        if done {
            break;
        }
    }
    found
}

/// A vector with its products.
struct WithProducts {
    v: Vec<f64>,
    a: Vec<f64>,
    m: Vec<f64>,
}

impl WithProducts {
    /// Σ by(i) of the vectors.
    fn sum(of: &[WithProducts], by: impl Fn(usize) -> f64) -> WithProducts {
        let n = of[0].v.len();
        let sum = |part: fn(&WithProducts) -> &Vec<f64>| {
            let mut sum = vec![0.0; n];
            for (i, one) in of.iter().enumerate() {
                sum.iter_mut().zip(part(one)).for_each(|(sum, x)| *sum += by(i) * x);
            }
            sum
        };
        WithProducts { v: sum(|one| &one.v), a: sum(|one| &one.a), m: sum(|one| &one.m) }
    }

    /// The component of the vector that is A-orthogonal to others, of length one in A; `None` if that is only rounding.
    fn beside(mut self, others: &[WithProducts]) -> Option<WithProducts> {
        let before = dot(&self.v, &self.a);
        // Two passes are enough.
        for other in others.iter().chain(others) {
            let along = dot(&self.v, &other.a);
            for (mine, theirs) in [(&mut self.v, &other.v), (&mut self.a, &other.a), (&mut self.m, &other.m)] {
                mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine -= along * theirs);
            }
        }
        let square = dot(&self.v, &self.a);
        if square.is_nan() || square <= 1e-24 * before {
            return None;
        }
        let length = square.sqrt();
        [&mut self.v, &mut self.a, &mut self.m].into_iter().flatten().for_each(|x| *x /= length);
        // A does not see the rounding errors along the constants, but M may.
        self.v = centered(self.v);
        Some(self)
    }
}

/// An upper bound of the largest eigenvalue: the iteration's own, plus the length of its residual.
fn fastest(n: usize, product: &dyn Fn(&[f64]) -> Vec<f64>) -> f64 {
    let mut x = centered((0..n).map(|i| (1.0 + i as f64 * 0.618_033_988_749_895).fract() - 0.5).collect());
    let (mut value, mut rest) = (0.0, 0.0);
    for _ in 0..MOST {
        let length = dot(&x, &x).sqrt().max(f64::MIN_POSITIVE);
        x.iter_mut().for_each(|x| *x /= length);
        let next = product(&x);
        let quotient = dot(&x, &next);
        rest = next.iter().zip(&x).map(|(a, b)| (a - quotient * b).powi(2)).sum::<f64>().sqrt();
        let done = (quotient - value).abs() <= 1e-10 * quotient;
        value = quotient;
        if done {
            break;
        }
        x = next;
    }
    value + rest
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn centered(mut x: Vec<f64>) -> Vec<f64> {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter_mut().for_each(|x| *x -= mean);
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_linalg::sparse::cholesky::Analysis;

    #[test]
    fn the_slowest_vector_of_a_path_is_its_first_cosine() {
        let n = 40;
        let ends: Vec<(u32, u32)> = (1..n as u32).map(|i| (i - 1, i)).collect();
        let path = SparseSymmetric::laplacian(n, &ends, &vec![1.0; ends.len()], 0.0);
        let held = path.with_added(0, 1.0);
        let factor = Analysis::new(&held).unwrap().factor(&held, 0.0).unwrap().unwrap();
        let solve = |x: &[f64]| {
            let mut out = Mat::from_fn(n, 1, |i, _| x[i]);
            factor.solve(out.as_mut());
            centered((0..n).map(|i| out[(i, 0)]).collect())
        };
        let product = |x: &[f64]| {
            let mut out = Mat::zeros(n, 1);
            path.apply(MatRef::from_column_major_slice(x, n, 1), out.as_mut());
            (0..n).map(|i| out[(i, 0)]).collect::<Vec<f64>>()
        };
        let (value, vector) = slowest(n, &solve, &product, &|x: &[f64]| x.to_vec());
        let truth = 2.0 - 2.0 * (std::f64::consts::PI / n as f64).cos();
        assert!((value / truth - 1.0).abs() < 1e-9, "{value} {truth}");
        assert!(vector.iter().sum::<f64>().abs() < 1e-9 * dot(&vector, &vector).sqrt());
    }

    #[test]
    fn an_operator_without_digits_ends_the_search_and_nothing_else() {
        let nothing = |x: &[f64]| vec![0.0; x.len()];
        let (value, vector) = slowest(5, &nothing, &nothing, &|x: &[f64]| x.to_vec());
        assert_eq!((value, vector.len()), (0.0, 5));
    }
}

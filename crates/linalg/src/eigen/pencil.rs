//! The bottom of a sparse precision: A y = λ M y for the smallest λ, with the constant vector kept out.
//!
//! With M = diag(normalization) the pencil is read as the symmetric B = M^(−1/2) A M^(−1/2), whose vectors are z = M^(1/2) y
//! and whose kept-out direction is M^(1/2) 1. Keeping the constant out reads the field centered, whether constants are
//! free in it (a Laplacian) or not.
//!
//! The ladder, from the top:
//!
//! 1. `dense`: all eigenpairs, for a few hundred points;
//! 2. `shift-invert`: block Lanczos on (B + σI)⁻¹ through a sparse factor, where its predicted cost is small;
//! 3. `filter`: Lanczos on a Chebyshev polynomial of B, where the factor would fill in, first with a bounded budget;
//! 4. `shift-invert` after all, if 3 did not converge and the factor fits, else 3 to the end of its full budget.
//!
//! A rung is chosen by its predicted cost alone: the filter is tried before a factor only where the factor costs more than the
//! products that a filter needs at least, as on graphs of many dimensions. On graphs of two or three dimensions the gaps shrink
//! as the points become more, and a filter would take its whole budget for nothing.
//!
//! From [`LARGE`] rows on the matrix is put into an order in which neighbors are close in memory ([`breadth_first`]), unless it
//! is in such an order; the order of elimination is found in half the time, and factor and products are faster.
//!
//! Where a descent starts need not be exact ([`bottom_roughly`]): then 3 has a loose tolerance, and what it has at the end of
//! a small budget is the answer.

use crate::eigen::chebyshev;
use crate::eigen::lanczos::{Ask, Ritz, largest};
use crate::error::{Error, Result, bytes};
use crate::parallel;
use crate::progress::Observer;
use crate::sparse::cholesky::{Analysis, Cholesky, LANES, Symbolic};
use crate::sparse::locality::{LARGE, breadth_first};
use crate::sparse::matrix::SparseSymmetric;
use crate::{Eigenpairs, Operator, dense};
use faer::{Mat, MatMut, MatRef};

/// Up to this many rows the dense solver is at least as quick.
const DENSE: usize = 500;
/// A factor predicted below this many flops is computed without looking at the alternative (about two seconds).
const CHEAP_FLOPS: f64 = 4e10;
/// A factor predicted above this many flops is never computed (about five minutes).
const DEAR_FLOPS: f64 = 5e12;
/// Flops of a factor that take as long as one flop of a sparse product.
const FACTOR_SPEED: f64 = 15.0;
/// The fewest block products that are worth a try of the filter.
const FEW_PRODUCTS: f64 = 60.0;
/// The total number of block products that the filter may use.
const FULL_BUDGET: usize = 12_000;
/// Relative residual required of the transformed operator.
const TOLERANCE: f64 = 1e-8;
/// The same where a rough answer will do, and the block products that the filter may take for it.
const ROUGH: f64 = 1e-3;
const ROUGH_BUDGET: usize = 300;

/// A rung of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// All eigenpairs of the dense matrix.
    Dense,
    /// Block Lanczos on the shifted inverse.
    ShiftInvert,
    /// Lanczos on a Chebyshev polynomial.
    Filter,
}

impl Rung {
    fn name(self) -> &'static str {
        match self {
            Rung::Dense => "dense",
            Rung::ShiftInvert => "shift-invert",
            Rung::Filter => "filter",
        }
    }
}

/// The two matrices.
#[derive(Clone, Copy)]
pub struct Pencil<'a> {
    /// A.
    pub matrix: &'a SparseSymmetric,
    /// The point of each row of A, if that is in an order of locality; else row i is point i.
    pub order: Option<&'a [u32]>,
    /// The diagonal of M, point by point; the identity if absent.
    pub normalization: Option<&'a [f64]>,
}

impl<'a> Pencil<'a> {
    /// A matrix in the order of the points, and the diagonal of M.
    pub fn new(matrix: &'a SparseSymmetric, normalization: Option<&'a [f64]>) -> Pencil<'a> {
        Pencil { matrix, order: None, normalization }
    }
}

/// The `wanted` smallest eigenpairs, smallest first, yᵀ M y = 1, over the points in their order; `limit` bounds the memory of
/// a factor in bytes.
///
/// # Errors
///
/// If no rung of the ladder could run.
pub fn bottom(pencil: Pencil<'_>, wanted: usize, seed: u64, limit: u64, observer: &dyn Observer) -> Result<Eigenpairs> {
    Ok(bottom_and_rung(pencil, wanted, seed, limit, observer)?.0)
}

/// As [`bottom`], with the rung that gave the answer.
///
/// # Errors
///
/// If no rung of the ladder could run.
pub fn bottom_and_rung(
    pencil: Pencil<'_>,
    wanted: usize,
    seed: u64,
    limit: u64,
    observer: &dyn Observer,
) -> Result<(Eigenpairs, Rung)> {
    by(pencil, wanted, &|b, constant| {
        let ask = Ask { wanted, block: block(b.dim(), wanted), tolerance: TOLERANCE, max_steps: 300, seed };
        climb(b, constant, &ask, limit, observer)
    })
}

/// As [`bottom`], as well as a bounded time allows: the last digits, and vectors of eigenvalues close to each other, may be
/// wrong.
///
/// # Errors
///
/// If no rung of the ladder could run.
pub fn bottom_roughly(
    pencil: Pencil<'_>,
    wanted: usize,
    seed: u64,
    limit: u64,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    let solve = |b: &SparseSymmetric, constant: MatRef<'_, f64>| {
        let ask = Ask { wanted, block: block(b.dim(), wanted), tolerance: ROUGH, max_steps: 300, seed };
        let analysis = Analysis::new(b)?;
        if analysis.memory() <= limit && analysis.flops <= CHEAP_FLOPS {
            // With a factor at hand exact vectors cost little more, and do not depend on the order of the points.
            let exact = Ask { tolerance: TOLERANCE, ..ask };
            let pairs = shift_invert(b, &analysis.symbolic()?, constant, None, &exact, observer)?;
            return Ok((Eigenpairs { factor: analysis.memory(), ..pairs }, Rung::ShiftInvert));
        }
        let narrow = Ask { block: wanted.next_multiple_of(4).max(4), ..ask };
        let ritz = chebyshev::bottom(b, constant, &narrow, ROUGH_BUDGET, observer)?;
        Ok((answer(ritz, Rung::Filter, "roughly"), Rung::Filter))
    };
    Ok(by(pencil, wanted, &solve)?.0)
}

/// Vectors to a block of the shifted inverse: a few more than are wanted. A factor is read once for four columns, and for many
/// rows the reading is the work.
fn block(n: usize, wanted: usize) -> usize {
    if n < LARGE { (wanted + 4).next_multiple_of(2) } else { (wanted + 1).next_multiple_of(LANES) }
}

/// Solves the symmetric form of a pencil; the second matrix is its constant vector.
type Solve<'a> = dyn Fn(&SparseSymmetric, MatRef<'_, f64>) -> Result<(Eigenpairs, Rung)> + 'a;

/// The answer of a solver for the symmetric form of the pencil, as vectors of the pencil itself; few points have the dense
/// solver.
fn by(pencil: Pencil<'_>, wanted: usize, solve: &Solve<'_>) -> Result<(Eigenpairs, Rung)> {
    let (matrix, n) = (pencil.matrix, pencil.matrix.dim());
    let order = (n >= LARGE && pencil.order.is_none()).then(|| breadth_first(n, |i| matrix.row_columns(i)));
    in_order(pencil, wanted, order.as_deref(), solve)
}

/// As [`by`], with the rows put into another order first.
fn in_order(pencil: Pencil<'_>, wanted: usize, other: Option<&[u32]>, solve: &Solve<'_>) -> Result<(Eigenpairs, Rung)> {
    let Pencil { matrix, normalization, .. } = pencil;
    let (n, order) = (matrix.dim(), other.or(pencil.order));
    let point = |row: usize| order.map_or(row, |order| order[row] as usize);
    let scale: Vec<f64> =
        normalization.map_or(vec![1.0; n], |m| (0..n).map(|row| 1.0 / m[point(row)].sqrt()).collect());
    let own;
    let b = match other {
        Some(other) => {
            own = matrix.reordered(other, normalization.map(|_| scale.as_slice()));
            &own
        }
        None if normalization.is_some() => {
            own = matrix.scaled(&scale);
            &own
        }
        None => matrix,
    };
    let length = scale.iter().map(|s| 1.0 / (s * s)).sum::<f64>().sqrt();
    let constant = Mat::from_fn(n, 1, |i, _| 1.0 / (scale[i] * length));

    let (mut pairs, rung) = if n <= DENSE {
        (dense_bottom(b, constant.as_ref(), wanted)?, Rung::Dense)
    } else {
        solve(b, constant.as_ref())?
    };
    pairs.residuals = residuals(b, &pairs);
    for q in 0..pairs.values.len() {
        for i in 0..n {
            pairs.vectors[(i, q)] *= scale[i];
        }
    }
    if order.is_some() {
        let mut vectors = Mat::zeros(n, pairs.vectors.ncols());
        for q in 0..vectors.ncols() {
            for row in 0..n {
                vectors[(point(row), q)] = pairs.vectors[(row, q)];
            }
        }
        pairs.vectors = vectors;
    }
    Ok((pairs, rung))
}

fn climb(
    b: &SparseSymmetric,
    constant: MatRef<'_, f64>,
    ask: &Ask,
    limit: u64,
    observer: &dyn Observer,
) -> Result<(Eigenpairs, Rung)> {
    let by_factor = |analysis: &Analysis| {
        let pairs = shift_invert(b, &analysis.symbolic()?, constant, None, ask, observer)?;
        Ok((Eigenpairs { factor: analysis.memory(), ..pairs }, Rung::ShiftInvert))
    };
    let analysis = Analysis::new(b)?;
    let fits = analysis.memory() <= limit && analysis.flops <= DEAR_FLOPS;
    if fits && analysis.flops <= CHEAP_FLOPS {
        return by_factor(&analysis);
    }
    let narrow = Ask { block: ask.wanted.next_multiple_of(4).max(4), tolerance: 1e-8, ..ask.clone() };
    let (budget, worth_it) = first_budget(analysis.flops, b.entry_count() * narrow.block);
    if fits && !worth_it {
        return by_factor(&analysis);
    }
    let tried = chebyshev::bottom(b, constant, &narrow, budget, observer)?;
    let tried = if tried.converged || observer.stop() {
        tried
    } else if fits {
        return by_factor(&analysis);
    } else {
        chebyshev::bottom(b, constant, &narrow, FULL_BUDGET, observer)?
    };
    let why = format!("a factor would need {:.1e} flops and {}", analysis.flops, bytes(analysis.memory()));
    Ok((answer(tried, Rung::Filter, &why), Rung::Filter))
}

/// The block products that the filter may use at first, half as long as the factor would take, and whether so few are worth a
/// try; from the flops of the factor and the multiplications of a block product.
fn first_budget(flops: f64, multiplications: usize) -> (usize, bool) {
    let budget = 0.5 * flops / (2.0 * multiplications as f64 * FACTOR_SPEED);
    (budget.clamp(FEW_PRODUCTS, 600.0) as usize, budget >= FEW_PRODUCTS)
}

fn answer(ritz: Ritz, rung: Rung, remark: &str) -> Eigenpairs {
    Eigenpairs {
        values: ritz.values,
        vectors: ritz.vectors,
        residuals: Vec::new(),
        solver: format!("{} ({remark})", rung.name()),
        iterations: ritz.steps,
        converged: ritz.converged,
        factor: 0,
    }
}

/// (B + σI)⁻¹.
struct Inverse<'a> {
    factor: &'a Cholesky,
    n: usize,
}

impl Operator for Inverse<'_> {
    fn dim(&self) -> usize {
        self.n
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        out.copy_from(x);
        self.factor.solve(out);
    }
}

/// The smallest eigenpairs of a matrix of known structure, the constant kept out, from some vectors if there are any; its
/// residuals are left to the caller.
pub fn shift_invert(
    b: &SparseSymmetric,
    symbolic: &Symbolic<'_>,
    constant: MatRef<'_, f64>,
    start: Option<MatRef<'_, f64>>,
    ask: &Ask,
    observer: &dyn Observer,
) -> Result<Eigenpairs> {
    // The shift only has to make the free direction of a Laplacian positive; it stays far below the eigenvalues
    // sought, and grows if rounding makes the matrix indefinite.
    let norm = b.norm_bound();
    for exponent in [-14, -13, -12, -11, -10, -8] {
        let shift = norm * 10f64.powi(exponent);
        if let Some(factor) = symbolic.factor(b, shift)? {
            let inverse = Inverse { factor: &factor, n: b.dim() };
            let mut ritz = largest(&inverse, constant, start, ask, observer)?;
            for value in &mut ritz.values {
                *value = 1.0 / *value - shift;
            }
            return Ok(answer(ritz, Rung::ShiftInvert, &format!("shift 1e{exponent} of the norm")));
        }
    }
    Err(Error::numerical("the matrix is not positive semidefinite", "another k may help"))
}

/// All eigenpairs of the dense matrix with the constant lifted out of the way.
pub fn dense_bottom(b: &SparseSymmetric, constant: MatRef<'_, f64>, wanted: usize) -> Result<Eigenpairs> {
    let n = b.dim();
    let lift = 2.0 * b.norm_bound() + f64::MIN_POSITIVE;
    let mut negated = b.to_dense();
    for j in 0..n {
        for i in 0..n {
            negated[(i, j)] = -(negated[(i, j)] + lift * constant[(i, 0)] * constant[(j, 0)]);
        }
    }
    let mut pairs = dense::checked_eigen(negated.as_ref(), wanted)?;
    for value in &mut pairs.values {
        *value = -*value;
    }
    pairs.solver = Rung::Dense.name().into();
    Ok(pairs)
}

/// ‖B z − λ z‖ / ‖B‖ for every pair.
fn residuals(b: &SparseSymmetric, pairs: &Eigenpairs) -> Vec<f64> {
    let mut image = Mat::zeros(b.dim(), pairs.vectors.ncols());
    b.apply(pairs.vectors.as_ref(), image.as_mut());
    let norm = b.norm_bound().max(f64::MIN_POSITIVE);
    parallel::collect(image.ncols(), |q| {
        let off = |i: usize| (image[(i, q)] - pairs.values[q] * pairs.vectors[(i, q)]) / norm;
        (0..b.dim()).map(|i| off(i).powi(2)).sum::<f64>().sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    /// The Laplacian of a ring of n nodes: eigenvalues 2 − 2 cos(2πk/n), each twice.
    fn ring(n: usize) -> SparseSymmetric {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            let mut row = [((i + n - 1) % n, -1.0), (i, 2.0), ((i + 1) % n, -1.0)];
            row.sort_by_key(|entry| entry.0);
            columns.extend(row.map(|entry| entry.0 as u32));
            values.extend(row.map(|entry| entry.1));
            offsets.push(columns.len());
        }
        SparseSymmetric::from_parts(offsets, columns, values)
    }

    #[test]
    fn a_ring_has_its_cosine_spectrum_on_every_rung() {
        for n in [60, 700] {
            let exact = |k: f64| 2.0 - 2.0 * (2.0 * std::f64::consts::PI * k / n as f64).cos();
            let pairs = bottom(Pencil::new(&ring(n), None), 4, 0, u64::MAX, &Silent).unwrap();
            assert!(pairs.converged);
            for (q, k) in [1.0, 1.0, 2.0, 2.0].into_iter().enumerate() {
                assert!((pairs.values[q] - exact(k)).abs() < 1e-12, "{} {:?}", pairs.solver, pairs.values);
                assert!(pairs.residuals[q] < TOLERANCE, "{:?}", pairs.residuals);
            }
        }
        let b = ring(700);
        let constant = Mat::from_fn(700, 1, |_, _| 1.0 / 700f64.sqrt());
        let ask = Ask { wanted: 4, block: 4, tolerance: 1e-9, max_steps: 300, seed: 0 };
        let ritz = chebyshev::bottom(&b, constant.as_ref(), &ask, FULL_BUDGET, &Silent).unwrap();
        let direct = bottom(Pencil::new(&b, None), 4, 0, u64::MAX, &Silent).unwrap();
        assert!(ritz.converged, "{:?}", ritz.misses);
        for q in 0..4 {
            assert!((ritz.values[q] - direct.values[q]).abs() < 1e-12);
        }
    }

    #[test]
    fn eigenpairs_are_the_same_in_an_order_of_locality() {
        let n = 900;
        // A ring whose neighbors are far from each other in memory.
        let at = |i: usize| (i * 7) % n;
        let mut ends: Vec<(u32, u32)> =
            (0..n).map(|i| (at(i).min(at(i + 1)) as u32, at(i).max(at(i + 1)) as u32)).collect();
        ends.sort_unstable();
        let weights: Vec<f64> = (0..n).map(|e| 1.0 + (e % 5) as f64).collect();
        let a = SparseSymmetric::laplacian(n, &ends, &weights, 0.0);
        let degrees = a.diagonal();
        let order = breadth_first(n, |i| a.row_columns(i));
        assert_ne!(order, (0..n as u32).collect::<Vec<_>>());
        let ask = Ask { wanted: 3, block: block(LARGE, 3), tolerance: TOLERANCE, max_steps: 300, seed: 0 };
        let solve = |b: &SparseSymmetric, constant: MatRef<'_, f64>| climb(b, constant, &ask, u64::MAX, &Silent);
        for normalization in [None, Some(degrees.as_slice())] {
            let pencil = Pencil::new(&a, normalization);
            let (plain, _) = in_order(pencil, 3, None, &solve).unwrap();
            let (local, _) = in_order(pencil, 3, Some(&order), &solve).unwrap();
            let reordered = a.reordered(&order, None);
            let pencil = Pencil { matrix: &reordered, order: Some(&order), normalization };
            let (given, _) = in_order(pencil, 3, None, &solve).unwrap();
            assert!((&given.vectors - &local.vectors).norm_max() < 1e-12 && given.values == local.values);
            for q in 0..3 {
                assert!((plain.values[q] - local.values[q]).abs() < 1e-12);
                assert!(local.residuals[q] < TOLERANCE);
                let (one, other) = (plain.vectors.col(q), local.vectors.col(q));
                let mass = |i: usize| normalization.map_or(1.0, |m| m[i]);
                let overlap: f64 = (0..n).map(|i| mass(i) * one[i] * other[i]).sum();
                assert!((overlap.abs() - 1.0).abs() < 1e-7, "pair {q}: {overlap}");
            }
        }
    }

    /// Tangent spaces of a swiss roll of a million points, and neighbors of 100,000 points in fifty dimensions.
    #[test]
    fn the_filter_is_tried_where_the_factor_costs_more_than_its_first_products() {
        assert_eq!(first_budget(2.1e11, 30_000_000 * 4), (60, false));
        assert_eq!(first_budget(7.8e11, 1_500_000 * 4), (600, true));
    }

    /// Each point of a random graph has six others: a factor of it fills, and the first eigenvalues are far from zero.
    #[test]
    fn a_rough_answer_takes_few_products_where_a_factor_would_fill() {
        let n = 800;
        let mut ends = Vec::new();
        let mut state = 1u64;
        for i in 0..n as u32 {
            for _ in 0..6 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let j = ((state >> 33) % n as u64) as u32;
                if i != j {
                    ends.push((i.min(j), i.max(j)));
                }
            }
        }
        ends.sort_unstable();
        ends.dedup();
        let matrix = SparseSymmetric::laplacian(n, &ends, &vec![1.0; ends.len()], 0.0);
        let normalization = matrix.diagonal();
        let exact = bottom(Pencil::new(&matrix, Some(&normalization)), 2, 0, u64::MAX, &Silent).unwrap();
        // A factor that does not fit into memory, as one that is too dear.
        let rough = bottom_roughly(Pencil::new(&matrix, Some(&normalization)), 2, 0, 0, &Silent).unwrap();
        assert!(rough.iterations <= ROUGH_BUDGET + 300, "{}", rough.iterations);
        for q in 0..2 {
            assert!((rough.values[q] / exact.values[q] - 1.0).abs() < 0.05, "{:?} {:?}", rough.values, exact.values);
        }
    }

    #[test]
    fn a_mass_makes_the_problem_generalized() {
        let n = 600;
        let normalization: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        let pairs = bottom(Pencil::new(&ring(n), Some(&normalization)), 2, 0, u64::MAX, &Silent).unwrap();
        let mut image = Mat::zeros(n, pairs.vectors.ncols());
        ring(n).apply(pairs.vectors.as_ref(), image.as_mut());
        for q in 0..2 {
            let moment: f64 = (0..n).map(|i| normalization[i] * pairs.vectors[(i, q)].powi(2)).sum();
            assert!((moment - 1.0).abs() < 1e-10);
            let mean: f64 = (0..n).map(|i| normalization[i] * pairs.vectors[(i, q)]).sum();
            assert!(mean.abs() < 1e-8);
            for i in 0..n {
                let off = image[(i, q)] - pairs.values[q] * normalization[i] * pairs.vectors[(i, q)];
                assert!(off.abs() < 1e-9);
            }
        }
    }
}

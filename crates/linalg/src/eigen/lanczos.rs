//! The largest eigenvalues of a symmetric operator by block Lanczos with thick restarts.
//!
//! A block of vectors is multiplied at a time (one pass over a sparse factor or a distance matrix serves them all), the
//! new block is orthogonalized twice against the whole basis and against the vectors to be kept out, and when the
//! basis is full it shrinks to its best Ritz vectors. Full orthogonalization makes the projected matrix VᵀAV the
//! truth, so the arrowhead of a restart needs no case of its own.
//!
//! K. Wu, H. Simon. Thick-restart Lanczos method for large symmetric eigenvalue problems. SIAM J. Matrix Anal. Appl.
//! 22(2), 2000; in blocks as in G. Golub, R. Underwood. The block Lanczos method for computing eigenvalues, 1977.

use crate::dense::{
    ROWS, add_product, each_chunk, inner, product, small_product, sum_of_changed_chunks, symmetric_eigen,
};
use crate::error::{Error, Result};
use crate::progress::{Observer, Stage};
use crate::{FURTHER, Operator};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;

/// How small the relative residual of a pair beyond the wanted ones must be.
const ROUGHLY: f64 = 1e-3;

/// The parameters of [`largest`].
#[derive(Clone, Debug)]
pub struct Ask {
    /// Eigenpairs that must converge.
    pub wanted: usize,
    /// Vectors to a block.
    pub block: usize,
    /// A pair has converged when its residual is below this fraction of its eigenvalue.
    pub tolerance: f64,
    /// Block applications of the operator before giving up.
    pub max_steps: usize,
    /// Seed of the starting block.
    pub seed: u64,
}

/// Approximate eigenpairs, largest first.
#[derive(Clone, Debug)]
pub(crate) struct Ritz {
    /// Ritz values: the wanted ones, then at most eight more as far as they are known to three digits.
    pub values: Vec<f64>,
    /// Orthonormal Ritz vectors, one a column.
    pub vectors: Mat<f64>,
    /// Estimated residual of each pair relative to the criterion: converged at 1 or below.
    pub misses: Vec<f64>,
    /// Block applications done.
    pub steps: usize,
    /// Whether all wanted pairs met the tolerance.
    pub converged: bool,
}

/// The `wanted` largest eigenvalues of `operator` on the complement of the orthonormal columns of `kept_out`.
///
/// Progress is reported as the third stage; if the observer stops it, the present eigenpairs are returned. A fit of
/// a field, which has a progress of its own and needs eigenvalues that have converged, passes
/// [`Silent`](crate::progress::Silent).
///
/// # Errors
///
/// If the operator returns something that is not finite, or the observer stops before the first Ritz values exist.
pub(crate) fn largest(
    operator: &dyn Operator,
    kept_out: MatRef<'_, f64>,
    start: Option<MatRef<'_, f64>>,
    ask: &Ask,
    observer: &dyn Observer,
) -> Result<Ritz> {
    let n = operator.dim();
    let room = n - kept_out.ncols();
    let block = ask.block.min(room);
    let wanted = ask.wanted.min(room);
    let capacity = (4 * (wanted + block)).max(48).min(room);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(ask.seed);
    // It grows step by step, so that memory is only touched when it is needed.
    let mut basis = Mat::<f64>::with_capacity(n, capacity + block);
    let mut projected = Mat::<f64>::zeros(capacity + block, capacity + block);
    let mut image = Mat::<f64>::zeros(n, block);
    for q in 0..block {
        match start.filter(|s| q < s.ncols()) {
            Some(start) => image.col_mut(q).copy_from(start.col(q)),
            None => fill_random(image.as_mut().subcols_mut(q, 1), &mut rng),
        }
    }
    extend(image.as_mut(), Mat::zeros(n, 0).as_ref(), kept_out, &mut rng);
    put(&mut basis, 0, image.as_ref());

    let mut size = block; // columns of the basis; the last `last` of them have not been multiplied yet
    let mut last = block;
    let mut steps = 0;
    let mut best_miss = f64::INFINITY;
    loop {
        let known = size;
        let mut w = image.as_mut().subcols_mut(0, last);
        operator.apply(basis.as_ref().subcols(size - last, last), w.as_mut());
        steps += 1;
        let (coupling, border) = extend(w.as_mut(), basis.as_ref().subcols(0, size), kept_out, &mut rng);
        if !coupling.norm_max().is_finite() {
            return Err(Error::numerical("the eigen-solver met a value that is not finite", ""));
        }
        for q in 0..last {
            for i in 0..size {
                projected[(i, size - last + q)] = coupling[(i, q)];
                projected[(size - last + q, i)] = coupling[(i, q)];
            }
        }
        let next = last.min(room - size);
        let (values, rotation) = symmetric_eigen(projected.as_ref().submatrix(0, 0, known, known))?;
        let misses = miss(&values, rotation.as_ref(), border.as_ref(), last, next, ask.tolerance);
        let worst = misses.iter().take(wanted).fold(0.0, |a: f64, &b| a.max(b));
        let converged = misses.len() >= wanted && worst <= 1.0;
        best_miss = best_miss.min(worst.max(1.0));
        observer.progress(Stage::Coordinates, 1.0 - best_miss.ln() / (best_miss.ln() + 20.0));
        if converged || next == 0 || steps >= ask.max_steps || observer.stop() {
            let mut count = wanted.min(known);
            while count < known && count < wanted + FURTHER && misses[count] * ask.tolerance <= ROUGHLY {
                count += 1;
            }
            let vectors = product(basis.as_ref().subcols(0, known), rotation.as_ref().subcols(0, count));
            return Ok(Ritz {
                values: values[..count].to_vec(),
                vectors,
                misses: misses[..count].to_vec(),
                steps,
                converged: converged || next == 0,
            });
        }
        if size + next > capacity {
            let keep = (wanted + block).min(capacity.saturating_sub(next)).max(1).min(known);
            let kept = product(basis.as_ref().subcols(0, known), rotation.as_ref().subcols(0, keep));
            basis.as_mut().subcols_mut(0, keep).copy_from(&kept);
            projected.fill(0.0);
            for q in 0..keep {
                projected[(q, q)] = values[q];
            }
            size = keep;
        }
        put(&mut basis, size, image.as_ref().subcols(0, next));
        size += next;
        last = next;
    }
}

/// How far each Ritz pair is from its tolerance: ‖R s‖ / (tolerance · |θ|), s the last block of its coefficients.
fn miss(
    values: &[f64],
    rotation: MatRef<'_, f64>,
    border: MatRef<'_, f64>,
    last: usize,
    next: usize,
    tolerance: f64,
) -> Vec<f64> {
    let known = values.len();
    // An eigenvalue far below the largest cannot have more digits than the arithmetic of the largest.
    let floor = 1e-4 * values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    (0..known)
        .map(|q| {
            let mut sum = 0.0;
            for row in 0..next {
                let entry: f64 = (0..last).map(|c| border[(row, c)] * rotation[(known - last + c, q)]).sum();
                sum += entry * entry;
            }
            let scale = tolerance * values[q].abs().max(floor);
            if sum == 0.0 { 0.0 } else { sum.sqrt() / scale.max(f64::MIN_POSITIVE) }
        })
        .collect()
}

/// Sets the columns of the basis from `at` on.
fn put(basis: &mut Mat<f64>, at: usize, columns: MatRef<'_, f64>) {
    let ncols = basis.ncols().max(at + columns.ncols());
    basis.resize_with(columns.nrows(), ncols, |_, _| 0.0);
    basis.as_mut().subcols_mut(at, columns.ncols()).copy_from(columns);
}

/// w ← w − Q Qᵀ w.
fn project_out(mut w: MatMut<'_, f64>, q: MatRef<'_, f64>) {
    if q.ncols() > 0 {
        let coefficients = inner(q, w.as_ref());
        add_product(w.as_mut(), q, coefficients.as_ref(), -1.0);
    }
}

/// Splits w = V C + Q R with Q orthonormal and outside V and `kept_out`; w becomes Q, and (C, R) is returned.
///
/// Block Gram-Schmidt twice, with an orthonormalization of the block each time: normalizing a short column magnifies
/// what rounding left of V and of the kept-out directions in it, and the second round removes that. All that can be done
/// with a chunk of rows is done while it is in the cache.
fn extend(
    mut w: MatMut<'_, f64>,
    basis: MatRef<'_, f64>,
    kept_out: MatRef<'_, f64>,
    rng: &mut Xoshiro256PlusPlus,
) -> (Mat<f64>, Mat<f64>) {
    let (kept, size) = (kept_out.ncols(), basis.ncols());
    let outside = pass(w.as_mut(), &[kept_out], |_, _| ());
    let products =
        pass(w.as_mut(), &[basis], |rows, w| take_away(w, rows, kept_out, outside.as_ref().subrows(0, kept)));
    let scale = longest(products.as_ref());
    let mut coupling = products.subrows(0, size).to_owned();
    let gram = pass(w.as_mut(), &[], |rows, w| take_away(w, rows, basis, coupling.as_ref()));
    let (first, inverse) = orthonormal(w.as_mut(), gram.as_ref(), 1e-13 * scale, rng);
    let again = pass(w.as_mut(), &[kept_out, basis], |_, w| turn(w, inverse.as_ref()));
    let (outside, inside) = again.as_ref().subrows(0, kept + size).split_at_row(kept);
    let gram = pass(w.as_mut(), &[], |rows, mut w| {
        take_away(w.as_mut(), rows.clone(), kept_out, outside);
        take_away(w, rows, basis, inside);
    });
    let (second, inverse) = orthonormal(w.as_mut(), gram.as_ref(), 1e-13, rng);
    each_chunk(w, |_, w| turn(w, inverse.as_ref()));
    coupling += inside * &first;
    (coupling, second * first)
}

/// Changes `w` chunk by chunk, and returns its products with the columns of some tall matrices and then those with its own
/// columns, one below the other.
fn pass(
    w: MatMut<'_, f64>,
    with: &[MatRef<'_, f64>],
    change: impl Fn(Range<usize>, MatMut<'_, f64>) + Sync,
) -> Mat<f64> {
    let (n, columns) = (w.nrows(), w.ncols());
    let height = with.iter().map(MatRef::ncols).sum::<usize>() + columns;
    sum_of_changed_chunks(w, (height, columns), |chunk, mut w| {
        let rows = chunk * ROWS..((chunk + 1) * ROWS).min(n);
        change(rows.clone(), w.as_mut());
        let mut products = Mat::zeros(height, columns);
        let mut at = 0;
        for a in with.iter().map(|a| a.subrows(rows.start, rows.len())).chain([w.as_ref()]) {
            let part = products.as_mut().subrows_mut(at, a.ncols());
            matmul(part, Accum::Replace, a.transpose(), w.as_ref(), 1.0, Par::Seq);
            at += a.ncols();
        }
        products
    })
}

/// w ← w − A S in some rows of A.
fn take_away(w: MatMut<'_, f64>, rows: Range<usize>, a: MatRef<'_, f64>, s: MatRef<'_, f64>) {
    matmul(w, Accum::Add, a.subrows(rows.start, rows.len()), s, -1.0, Par::Seq);
}

/// w ← w S.
fn turn(mut w: MatMut<'_, f64>, s: MatRef<'_, f64>) {
    let turned = small_product(w.as_ref(), s);
    w.copy_from(&turned);
}

/// The length of the longest column of a block, from what [`pass`] returned.
fn longest(products: MatRef<'_, f64>) -> f64 {
    let columns = products.ncols();
    let gram = products.subrows(products.nrows() - columns, columns);
    (0..columns).map(|q| gram[(q, q)].max(0.0).sqrt()).fold(0.0, f64::max)
}

/// R of w = Q R for the block with the given products with itself, and what is still to be multiplied to w to make it Q.
fn orthonormal(
    w: MatMut<'_, f64>,
    gram: MatRef<'_, f64>,
    negligible: f64,
    rng: &mut Xoshiro256PlusPlus,
) -> (Mat<f64>, Mat<f64>) {
    match cholesky_of(gram, negligible) {
        Some(pair) => pair,
        None => (orthonormalize(w, negligible, rng), Mat::identity(gram.ncols(), gram.ncols())),
    }
}

/// Makes the columns of `w` orthonormal, one after the other, and returns R of w = Q R.
///
/// A column no longer than `negligible` is replaced by a random direction, with a zero row in R.
fn orthonormalize(mut w: MatMut<'_, f64>, negligible: f64, rng: &mut Xoshiro256PlusPlus) -> Mat<f64> {
    let columns = w.ncols();
    let mut r = Mat::zeros(columns, columns);
    for q in 0..columns {
        let (before, rest) = w.as_mut().split_at_col_mut(q);
        let mut column = rest.subcols_mut(0, 1);
        for _ in 0..2 {
            let coefficients = inner(before.as_ref(), column.as_ref());
            add_product(column.as_mut(), before.as_ref(), coefficients.as_ref(), -1.0);
            for i in 0..q {
                r[(i, q)] += coefficients[(i, 0)];
            }
        }
        let length = largest_norm(column.as_ref());
        if length > negligible {
            r[(q, q)] = length;
            column *= faer::Scale(1.0 / length);
        } else {
            fill_random(column.as_mut(), rng);
            project_out(column.as_mut(), before.as_ref());
            let length = largest_norm(column.as_ref()).max(f64::MIN_POSITIVE);
            column *= faer::Scale(1.0 / length);
        }
    }
    r
}

/// The factor R of wᵀw = RᵀR and its inverse; nothing if columns are short or nearly dependent.
fn cholesky_of(gram: MatRef<'_, f64>, negligible: f64) -> Option<(Mat<f64>, Mat<f64>)> {
    let columns = gram.ncols();
    let mut r = Mat::<f64>::zeros(columns, columns);
    for j in 0..columns {
        for i in 0..=j {
            let known: f64 = (0..i).map(|k| r[(k, i)] * r[(k, j)]).sum();
            let rest = gram[(i, j)] - known;
            if i < j {
                r[(i, j)] = rest / r[(i, i)];
            } else if rest > 1e-10 * gram[(j, j)] && rest > negligible * negligible {
                r[(j, j)] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    let mut inverse = Mat::<f64>::zeros(columns, columns);
    for j in 0..columns {
        inverse[(j, j)] = 1.0 / r[(j, j)];
        for i in (0..j).rev() {
            let known: f64 = (i + 1..=j).map(|k| r[(i, k)] * inverse[(k, j)]).sum();
            inverse[(i, j)] = -known / r[(i, i)];
        }
    }
    Some((r, inverse))
}

/// The length of the longest column.
fn largest_norm(w: MatRef<'_, f64>) -> f64 {
    (0..w.ncols()).map(|q| inner(w.subcols(q, 1), w.subcols(q, 1))[(0, 0)].sqrt()).fold(0.0, f64::max)
}

fn fill_random(mut column: MatMut<'_, f64>, rng: &mut Xoshiro256PlusPlus) {
    for i in 0..column.nrows() {
        column[(i, 0)] = rng.random::<f64>() - 0.5;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::DenseSymmetric;
    use crate::progress::Silent;

    fn ask(wanted: usize) -> Ask {
        Ask { wanted, block: 4, tolerance: 1e-11, max_steps: 500, seed: 1 }
    }

    fn none(n: usize) -> Mat<f64> {
        Mat::zeros(n, 0)
    }

    #[test]
    fn the_largest_eigenvalues_match_the_dense_solver_across_restarts() {
        let n = 400;
        let a =
            Mat::from_fn(n, n, |i, j| 1.0 / (1.0 + i.abs_diff(j) as f64) + if i == j { (i as f64).sin() } else { 0.0 });
        let (values, vectors) = symmetric_eigen(a.as_ref()).unwrap();
        let ritz = largest(&DenseSymmetric(a), none(n).as_ref(), None, &ask(6), &Silent).unwrap();
        assert!(ritz.converged);
        for q in 0..6 {
            assert!((ritz.values[q] - values[q]).abs() < 1e-10 * values[0]);
            let overlap = inner(ritz.vectors.as_ref().subcols(q, 1), vectors.as_ref().subcols(q, 1))[(0, 0)];
            assert!(overlap.abs() > 1.0 - 1e-9, "pair {q}: {overlap}");
        }
    }

    #[test]
    fn a_low_rank_operator_ends_by_itself_and_kept_out_vectors_stay_out() {
        // diag(3, 2, 2, 0, ...) without its first vector.
        let n = 120;
        let a = Mat::from_fn(n, n, |i, j| if i == j { [3.0, 2.0, 2.0].get(i).copied().unwrap_or(0.0) } else { 0.0 });
        let out = Mat::from_fn(n, 1, |i, _| if i == 0 { 1.0 } else { 0.0 });
        let ritz = largest(&DenseSymmetric(a), out.as_ref(), None, &ask(4), &Silent).unwrap();
        assert!(ritz.converged);
        for (value, expected) in ritz.values.iter().zip([2.0, 2.0, 0.0, 0.0]) {
            assert!((value - expected).abs() < 1e-12, "{:?}", ritz.values);
        }
        assert!((0..4).all(|q| ritz.vectors[(0, q)].abs() < 1e-12));
    }

    /// A diagonal matrix of more rows than are swept together.
    struct Powers(usize);

    impl Operator for Powers {
        fn dim(&self) -> usize {
            self.0
        }

        fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
            for q in 0..x.ncols() {
                (0..self.0).for_each(|i| out[(i, q)] = 0.8f64.powi((i / 2) as i32) * x[(i, q)]);
            }
        }
    }

    #[test]
    fn many_rows_are_swept_in_chunks_and_the_vectors_are_orthonormal() {
        let n = 5 * ROWS / 2;
        let out = Mat::from_fn(n, 1, |i, _| if i == 3 { 1.0 } else { 0.0 });
        let ritz = largest(&Powers(n), out.as_ref(), None, &ask(8), &Silent).unwrap();
        assert!(ritz.converged);
        for (q, power) in [0, 0, 1, 2, 2, 3, 3, 4].into_iter().enumerate() {
            let expected = 0.8f64.powi(power);
            assert!((ritz.values[q] - expected).abs() < 1e-12, "{:?}", ritz.values);
            assert!(ritz.vectors[(3, q)].abs() < 1e-12);
        }
        let vectors = ritz.vectors.as_ref().subcols(0, 8);
        let off = inner(vectors, vectors) - Mat::<f64>::identity(8, 8);
        assert!(off.norm_max() < 1e-12, "{off:?}");
    }

    #[test]
    fn every_dimension_can_be_requested() {
        let n = 7;
        let a = Mat::from_fn(n, n, |i, j| if i == j { i as f64 } else { 0.0 });
        let ritz = largest(&DenseSymmetric(a), none(n).as_ref(), None, &ask(7), &Silent).unwrap();
        assert!(ritz.converged);
        assert!((0..7).all(|q| (ritz.values[q] - (6 - q) as f64).abs() < 1e-12));
    }
}

//! The first columns of a dense symmetric matrix, eliminated: what a front of a sparse factor does.
//!
//! ```text
//! ⎡A₁₁    ⎤   ⎡L₁₁  ⎤⎡D  ⎤⎡L₁₁ᵀ L₂₁ᵀ⎤
//! ⎣A₂₁ A₂₂⎦ = ⎣L₂₁ I⎦⎣  S⎦⎣       I ⎦        S = A₂₂ − L₂₁ D L₂₁ᵀ
//! ```
//!
//! Blocks of columns are eliminated one after the other. Where that is worth it, their rows and what they change are done in
//! parallel, in chunks of a fixed size.

use crate::dense::{col_chunks_mut, row_chunks_mut};
use crate::parallel;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns eliminated together.
const BLOCK: usize = 128;
/// Rows or columns to a chunk of parallel work.
const CHUNK: usize = 96;
/// An elimination with fewer multiplications than this is not divided.
const DIVIDED: f64 = 4e6;

/// Eliminates the columns of `panel`, the first columns of a lower triangle; the rest of the triangle is in `rest`. Then
/// `panel` has L, with D on the diagonal, and `rest` has S. False where a pivot is zero or not finite.
pub(crate) fn eliminate(mut panel: MatMut<'_, f64>, mut rest: MatMut<'_, f64>) -> bool {
    let (height, width) = (panel.nrows(), panel.ncols());
    let divided = (height as f64).powi(2) * width as f64 > DIVIDED;
    for start in (0..width).step_by(BLOCK) {
        let w = BLOCK.min(width - start);
        let (block, later) = panel.as_mut().subrows_mut(start, height - start).split_at_col_mut(start + w);
        let (mut triangle, mut rows) = block.subcols_mut(start, w).split_at_row_mut(w);
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(w, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut memory);
        if cholesky_in_place(triangle.as_mut(), Default::default(), Par::Seq, stack, Default::default()).is_err() {
            return false;
        }
        let pivots: Vec<f64> = (0..w).map(|c| triangle[(c, c)]).collect();
        if pivots.iter().any(|pivot| !pivot.is_finite() || *pivot == 0.0) {
            return false;
        }
        if rows.nrows() == 0 {
            continue;
        }
        let solve = |rows: MatMut<'_, f64>| {
            solve_unit_lower_triangular_in_place(triangle.as_ref(), rows.transpose_mut(), Par::Seq);
        };
        if divided {
            parallel::each_of(row_chunks_mut(rows.as_mut(), CHUNK), |_, rows| solve(rows));
        } else {
            solve(rows.as_mut());
        }
        let unscaled = rows.to_owned();
        for (c, pivot) in pivots.iter().enumerate() {
            rows.as_mut().col_mut(c).iter_mut().for_each(|value| *value /= pivot);
        }
        let inside = width - start - w;
        let later = later.subrows_mut(w, height - start - w);
        subtract(later, unscaled.as_ref(), rows.as_ref().subrows(0, inside), divided);
        let (below, scaled) =
            (unscaled.as_ref().subrows(inside, rest.nrows()), rows.as_ref().subrows(inside, rest.nrows()));
        subtract(rest.as_mut(), below, scaled, divided);
    }
    true
}

/// `target ← target − a bᵀ`, the part on and below its diagonal.
fn subtract(target: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>, divided: bool) {
    if target.ncols() == 0 {
        return;
    }
    if !divided && target.nrows() == target.ncols() {
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular::matmul(target, lower, Accum::Add, a, full, b.transpose(), full, -1.0, Par::Seq);
        return;
    }
    parallel::each_of(col_chunks_mut(target, CHUNK), |at, target| {
        let (start, columns, rows) = (at * CHUNK, target.ncols(), target.nrows());
        let (a, b) = (a.subrows(start, rows - start), b.subrows(start, columns));
        matmul(target.subrows_mut(start, rows - start), Accum::Add, a, b.transpose(), -1.0, Par::Seq);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn the_parts_multiply_to_the_matrix() {
        for (height, width) in [(7, 7), (40, 13), (300, 150), (420, 420), (500, 200)] {
            let below = height - width;
            let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1013) as f64 / 1013.0 - 0.5;
            let entry = |i: usize, j: usize| {
                let own = if i.is_multiple_of(3) { -1.0 } else { 1.0 } * height as f64;
                noise(i.max(j), i.min(j)) + if i == j { own } else { 0.0 }
            };
            let mut panel = Mat::from_fn(height, width, |i, j| if i >= j { entry(i, j) } else { f64::NAN });
            let mut rest = Mat::from_fn(below, below, |i, j| entry(i + width, j + width));
            assert!(eliminate(panel.as_mut(), rest.as_mut()));
            let l = |i: usize, k: usize| {
                if i == k {
                    1.0
                } else if i > k {
                    panel[(i, k)]
                } else {
                    0.0
                }
            };
            for i in 0..height {
                for j in (0..=i).step_by(5) {
                    let sum: f64 = (0..width).map(|k| l(i, k) * panel[(k, k)] * l(j, k)).sum();
                    let left = if j >= width { rest[(i - width, j - width)] } else { 0.0 };
                    assert!((sum + left - entry(i, j)).abs() < 1e-10 * height as f64, "{height} {width} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn a_pivot_that_vanishes_is_noticed() {
        let mut panel = Mat::from_fn(3, 2, |_, _| 1.0);
        let mut rest = Mat::zeros(1, 1);
        assert!(!eliminate(panel.as_mut(), rest.as_mut()));
    }
}

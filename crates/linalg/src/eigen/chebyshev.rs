//! The bottom of a sparse positive semidefinite matrix without a factor: Lanczos on a Chebyshev polynomial of it.
//!
//! ```text
//! p(B) = T_d( ((high + low) I − 2 B) / (high − low) )
//! ```
//!
//! maps the unwanted part [low, high] of the spectrum into [−1, 1] and lifts what lies below `low` like
//! cosh(2 d √((low − λ)/high)). The cut `low` is read off the Ritz values of earlier rounds. Graphs of high intrinsic
//! dimension, whose factors fill in, have wide gaps and need low degrees; that is why the two routes complement each
//! other.
//!
//! Y. Zhou, Y. Saad. A Chebyshev-Davidson algorithm for large symmetric eigenproblems. SIAM J. Matrix Anal. Appl.
//! 29(3), 2007.

use crate::eigen::lanczos::{Ask, Ritz, largest};
use crate::error::Result;
use crate::parallel;
use crate::progress::{Observer, Silent};
use crate::sort;
use crate::sparse::matrix::{SparseSymmetric, from_rows, to_rows};
use crate::{Operator, dense};
use faer::{Mat, MatMut, MatRef};

/// Values to a chunk of an element-wise pass.
const CHUNK: usize = 8192;

struct Chebyshev<'a> {
    matrix: &'a SparseSymmetric,
    degree: usize,
    low: f64,
    high: f64,
}

impl Operator for Chebyshev<'_> {
    fn dim(&self) -> usize {
        self.matrix.dim()
    }

    fn apply(&self, x: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        let lanes = x.ncols();
        let (center, scale) = ((self.high + self.low) / (self.high - self.low), -2.0 / (self.high - self.low));
        let mut before = to_rows(x);
        let mut image = vec![0.0; before.len()];
        // T₁ = t, then T₍d₊₁₎ = 2 t T_d − T₍d₋₁₎ with t = center · I + scale · B.
        self.matrix.apply_rows(lanes, &before, &mut image);
        let mut current: Vec<f64> = image.iter().zip(&before).map(|(bx, x)| center * x + scale * bx).collect();
        for _ in 1..self.degree {
            self.matrix.apply_rows(lanes, &current, &mut image);
            parallel::chunks_mut(&mut before, CHUNK, |chunk, before| {
                let (current, image) = (&current[chunk * CHUNK..], &image[chunk * CHUNK..]);
                for ((b, c), m) in before.iter_mut().zip(current).zip(image) {
                    *b = 2.0 * (center * c + scale * m) - *b;
                }
            });
            std::mem::swap(&mut before, &mut current);
        }
        from_rows(&current, out);
    }
}

/// high · I − B: its largest eigenvalues are the smallest of B.
struct Reversed<'a> {
    matrix: &'a SparseSymmetric,
    high: f64,
}

impl Operator for Reversed<'_> {
    fn dim(&self) -> usize {
        self.matrix.dim()
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        self.matrix.apply(x, out.as_mut());
        faer::zip!(out, x).for_each(|faer::unzip!(o, x)| *o = self.high * *x - *o);
    }
}

/// The smallest eigenpairs of `matrix` outside `kept_out`, smallest first; `budget` bounds the block products.
///
/// # Errors
///
/// As [`largest`].
pub(crate) fn bottom(
    matrix: &SparseSymmetric,
    kept_out: MatRef<'_, f64>,
    ask: &Ask,
    budget: usize,
    observer: &dyn Observer,
) -> Result<Ritz> {
    let nothing = Mat::zeros(matrix.dim(), 0);
    let probe = Ask { wanted: 1, block: 2, tolerance: 1e-3, max_steps: 12, seed: ask.seed };
    let top = largest(matrix, nothing.as_ref(), None, &probe, &Silent)?;
    // The top Ritz value plus its residual bounds the spectrum near it; a little room for what was missed.
    let high = (top.values[0] * (1.0 + 0.01 + 1e-3 * top.misses[0])).min(matrix.norm_bound());
    let mut spent = top.steps;

    let rough = Ask { max_steps: 10, ..ask.clone() };
    let mut ritz = largest(&Reversed { matrix, high }, kept_out, None, &rough, observer)?;
    spent += ritz.steps;
    let mut values = rayleigh(matrix, &ritz);
    while !ritz.converged && spent < budget && !observer.stop() {
        // Everything above the last Ritz value of the round may be damped.
        let low = values.iter().fold(0.0, |m: f64, v| m.max(*v)).clamp(1e-12 * high, 0.5 * high);
        let degree = (3.0 * (high / low).sqrt()).ceil().clamp(4.0, 300.0) as usize;
        let affordable = ((budget - spent) / degree).max(1);
        let round = Ask { max_steps: affordable.min(12), ..ask.clone() };
        let filter = Chebyshev { matrix, degree, low, high };
        ritz = largest(&filter, kept_out, Some(ritz.vectors.as_ref()), &round, observer)?;
        spent += ritz.steps * degree;
        values = rayleigh(matrix, &ritz);
    }
    sort_ascending(&mut ritz, values);
    ritz.steps = spent;
    Ok(ritz)
}

/// zᵀ B z for every Ritz vector.
fn rayleigh(matrix: &SparseSymmetric, ritz: &Ritz) -> Vec<f64> {
    let mut image = Mat::zeros(matrix.dim(), ritz.vectors.ncols());
    matrix.apply(ritz.vectors.as_ref(), image.as_mut());
    let products = dense::inner(ritz.vectors.as_ref(), image.as_ref());
    (0..products.ncols()).map(|q| products[(q, q)]).collect()
}

fn sort_ascending(ritz: &mut Ritz, values: Vec<f64>) {
    let order = sort::ascending(&values);
    ritz.values = order.iter().map(|&q| values[q]).collect();
    ritz.misses = order.iter().map(|&q| ritz.misses[q]).collect();
    ritz.vectors = Mat::from_fn(ritz.vectors.nrows(), order.len(), |i, q| ritz.vectors[(i, order[q])]);
}

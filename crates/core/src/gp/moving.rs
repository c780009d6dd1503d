//! The exact likelihood as a function of the positions: its gradients in the positions and in the parameters.
//!
//! The length scale is one: positions c times as large with a length scale c times as large are the same process, so
//! that one of them has to be fixed. With M = p K⁻¹ − A Aᵀ, twice the gradient of the negative log likelihood along K,
//! and R without v:
//!
//! ```text
//! ∂/∂y[i] = −v Σⱼ M[i,j] R[i,j] (y[i] − y[j])        log v: ½ v Σ M∘R     log w: ½ w tr M
//! ```
//!
//! The bias is the optimal one for these positions, in closed form ([`Biased`](super::Biased)), so that it has no
//! gradient.
//!
//! N. D. Lawrence. Probabilistic non-linear principal component analysis with Gaussian process latent variable models.
//! Journal of Machine Learning Research 6, 2005.

use crate::gp::Space;
use crate::gp::exact::Exact;
use crate::gp::problem::Problem;
use crate::gp::simd::{lanes, moved};
use eigenfold_linalg::dense::parts;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::{parallel, widest};
use faer::Mat;

/// Columns of M whose contributions are summed together; the sums are added in order.
const COLUMNS: usize = 64;

/// The likelihood of a problem whose positions are variables.
pub(crate) struct Moving {
    exact: Exact,
    dims: usize,
    space: Option<Space>,
}

/// The negative log likelihood at some positions and parameters.
pub(crate) struct Moved {
    pub(crate) value: f64,
    /// The optimal bias.
    pub(crate) bias: f64,
    /// The gradients along log v and log w.
    pub(crate) gradient: [f64; 2],
}

/// Sums over some columns of M: Σ M∘R, tr M, and Σⱼ M[i,j] R[i,j] (y[i] − y[j]) coordinate after coordinate.
struct GradientSums {
    near: f64,
    trace: f64,
    away: Vec<f64>,
}

impl Moving {
    pub(crate) fn new(problem: &Problem) -> Result<Moving> {
        Ok(Moving { exact: Exact::new(problem)?, dims: problem.dims, space: None })
    }

    /// At these positions, one row per point, and with this variance and noise; the gradient in the positions is
    /// written. `None` if the covariance is singular. Without a bias the optimal one is used.
    pub(crate) fn negative(
        &mut self,
        places: &[f64],
        [v, w]: [f64; 2],
        bias: Option<f64>,
        along_points: &mut [f64],
    ) -> Option<Moved> {
        let (n, dims) = (self.exact.n, self.dims);
        let columns: Vec<f64> = (0..n * dims).map(|at| places[at % n * dims + at / n]).collect();
        parallel::chunks_mut(&mut self.exact.squared, n, |j, out| squares(&columns, n, j, out));
        let at = self.exact.at(&mut self.space, [v, 1.0, w], bias, parts(n))?;
        let Some(Space { near, inverse, .. }) = &self.space else { return None };
        let parts = parallel::collect(n.div_ceil(COLUMNS), |block| gradient_sums(block, inverse, near, &columns));
        let mut all = GradientSums { near: 0.0, trace: 0.0, away: vec![0.0; n * dims] };
        for part in &parts {
            all.near += part.near;
            all.trace += part.trace;
            all.away.iter_mut().zip(&part.away).for_each(|(sum, away)| *sum += away);
        }
        let p = self.exact.features;
        along_points.iter_mut().enumerate().for_each(|(at, s)| *s = -v * p * all.away[at % dims * n + at / dims]);
        let gradient = [0.5 * v * p * all.near, 0.5 * w * p * all.trace];
        Some(Moved { value: at.value, bias: at.biased.bias, gradient })
    }
}

/// The squared distances from point j to those after it; `columns` has the positions coordinate after coordinate.
fn squares(columns: &[f64], n: usize, j: usize, out: &mut [f64]) {
    let out = &mut out[j + 1..];
    widest(
        #[inline(always)]
        || {
            out.fill(0.0);
            for column in columns.chunks_exact(n) {
                let here = column[j];
                out.iter_mut().zip(&column[j + 1..]).for_each(|(out, y)| *out += (y - here) * (y - here));
            }
        },
    );
}

/// The sums over a block of columns, from the lower triangles of M and R.
fn gradient_sums(block: usize, m: &Mat<f64>, near: &[f64], columns: &[f64]) -> GradientSums {
    let n = m.nrows();
    let mut total = GradientSums { near: 0.0, trace: 0.0, away: vec![0.0; columns.len()] };
    let mut weights = vec![0.0; n];
    for j in block * COLUMNS..((block + 1) * COLUMNS).min(n) {
        let below = j + 1..n;
        let (m, near) = (m.col_as_slice(j), &near[j * n..(j + 1) * n]);
        let weights = &mut weights[below.clone()];
        let sum = widest(
            #[inline(always)]
            || {
                weights.iter_mut().zip(&m[below.clone()]).zip(&near[below.clone()]).for_each(|((w, m), r)| *w = m * r);
                for (column, away) in columns.chunks_exact(n).zip(total.away.chunks_exact_mut(n)) {
                    let moved = moved(weights, column[j], &column[below.clone()], &mut away[below.clone()]);
                    away[j] -= moved;
                }
                lanes(weights)
            },
        );
        total.near += 2.0 * sum + m[j];
        total.trace += m[j];
    }
    total
}

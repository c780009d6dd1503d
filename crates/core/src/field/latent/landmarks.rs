//! Q by landmarks, without a matrix over all pairs of points (Nyström).
//!
//! With z the landmarks, C = k(x, z) and W = k(z, z) = U Ω Uᵀ,
//!
//! ```text
//! K ≈ C W⁺ Cᵀ = G Gᵀ,   G = C T,   T = U Ω^(−½)        (H G)ᵀ(H G) = V Γ Vᵀ,   Ψ = H G V Γ^(−½)
//! ```
//!
//! so that ψ of any point x is linear in its kernel values at the landmarks. G is computed twice, a few rows at a time,
//! and never stored. The difference of K and G Gᵀ is measured on exact rows of K, for a sample of the points.
//!
//! C. K. I. Williams, M. Seeger. Using the Nyström method to speed up kernel machines. NIPS 13, 2001.

use crate::extend::{Features, Rule};
use crate::field::Site;
use crate::field::latent::k_means::centers;
use crate::field::latent::pairs::indefinite_by;
use crate::field::latent::principal::Principal;
use crate::field::scaling::feature_space::{chosen_of, overflow};
use crate::figure::Figure;
use crate::kernel::mercer::Kernel;
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::{product, small_product, symmetric_eigen};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Stage};
use eigenfold_linalg::{Eigenpairs, FURTHER, parallel};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// Rows per chunk of work.
const ROWS: usize = 1024;
/// Chunks whose sums are kept at a time.
const CHUNKS: usize = 32;
/// The number of exact rows of K that are compared.
const LOOKED_AT: usize = 100;
/// An eigenvalue of W below this fraction of the largest is dropped.
const RANK: f64 = 1e-12;

/// The largest eigenpairs of Q by this many landmarks.
///
/// # Errors
///
/// If the kernel cannot be evaluated, or the observer stops the run.
pub(super) fn principal(points: &Points, kernel: Kernel, count: usize, site: &Site<'_>) -> Result<Principal> {
    let kernel = kernel.resolve(points)?;
    let places = centers(points, count, site.seed, site.observer)?;
    let w = Mat::from_fn(count, count, |i, j| kernel.of(places.row(i), places.row(j)));
    if !w.norm_max().is_finite() {
        return Err(overflow());
    }
    let (omega, u) = symmetric_eigen(w.as_ref())?;
    let rank = omega.iter().take_while(|&&value| value > RANK * omega[0]).count();
    let root = Mat::from_fn(count, rank, |i, j| u[(i, j)] / omega[j].sqrt());
    let low = Low { points, kernel, places: &places, root: root.as_ref(), observer: site.observer };
    let Sums { gram, sum, diagonal } = low.sums()?;

    let n = points.rows() as f64;
    let centered = Mat::from_fn(rank, rank, |i, j| gram[(i, j)] - sum[i] * sum[j] / n);
    let (values, v) = symmetric_eigen(centered.as_ref())?;
    let known = values.iter().take_while(|&&value| value > 1e-13 * values[0]).count();
    let width = known.min(site.dims + FURTHER);
    let unit = Mat::from_fn(rank, width, |i, q| v[(i, q)] / values[q].sqrt());
    let axes = product(root.as_ref(), unit.as_ref());
    let origin: Vec<f64> = (0..width).map(|q| (0..rank).map(|i| sum[i] * unit[(i, q)]).sum::<f64>() / n).collect();
    let Looked { vectors, error, residuals } = low.look(axes.as_ref(), &origin, &values[..width])?;

    let mean: f64 = sum.iter().map(|s| s * s).sum::<f64>() / n;
    let most = -omega[count - 1];
    let axes = Points::new(count, width, (0..count * width).map(|at| axes[(at / width, at % width)]).collect())?;
    Ok(Principal {
        pairs: Eigenpairs {
            values: values[..width].to_vec(),
            vectors,
            residuals,
            solver: format!("nystrom of {count} landmarks"),
            iterations: 2,
            converged: true,
            factor: 0,
        },
        trace: diagonal - mean,
        rule: Rule::Features(Features { kernel, places, axes, origin }),
        figures: vec![(Figure::KernelError, error)],
        warnings: (most > 1e-6 * omega[0])
            .then(|| Warning::NotEuclidean(indefinite_by(most, omega[0])))
            .into_iter()
            .collect(),
        used: chosen_of(kernel),
    })
}

/// The points with the precomputed parts of their kernel values.
struct Low<'a> {
    points: &'a Points,
    kernel: Kernel,
    places: &'a Points,
    /// T.
    root: MatRef<'a, f64>,
    observer: &'a dyn Observer,
}

/// Sums over all points.
struct Sums {
    /// GᵀG.
    gram: Mat<f64>,
    /// Gᵀ1.
    sum: Vec<f64>,
    /// tr K.
    diagonal: f64,
}

/// The results of the second pass.
struct Looked {
    /// Ψ.
    vectors: Mat<f64>,
    /// ‖K − G Gᵀ‖ / ‖K‖ over the sampled rows.
    error: f64,
    /// ‖Q ψ − γ ψ‖ / γ[1] of every pair, over the sampled rows and scaled up to all.
    residuals: Vec<f64>,
}

impl Low<'_> {
    /// C of some rows.
    fn kernel_rows(&self, first: usize, rows: usize) -> Mat<f64> {
        let (points, places) = (self.points, self.places);
        Mat::from_fn(rows, places.rows(), |i, j| self.kernel.of(points.row(first + i), places.row(j)))
    }

    /// Calls a function for every chunk of rows, given by its first row and its size, and passes the results on in
    /// order.
    fn chunks<T: Send>(
        &self,
        half: f64,
        of: impl Fn(usize, usize) -> T + Sync,
        mut take: impl FnMut(usize, T),
    ) -> Result<()> {
        let n = self.points.rows();
        let all = n.div_ceil(ROWS);
        for start in (0..all).step_by(CHUNKS) {
            if self.observer.stop() {
                return Err(Error::Stopped);
            }
            self.observer.progress(Stage::Field, half + 0.5 * start as f64 / all as f64);
            let found = parallel::collect(CHUNKS.min(all - start), |at| {
                let first = (start + at) * ROWS;
                of(first, ROWS.min(n - first))
            });
            found.into_iter().enumerate().for_each(|(at, found)| take((start + at) * ROWS, found));
        }
        Ok(())
    }

    /// The first pass over the points.
    fn sums(&self) -> Result<Sums> {
        let rank = self.root.ncols();
        let (mut gram, mut sum, mut diagonal) = (Mat::<f64>::zeros(rank, rank), vec![0.0; rank], 0.0);
        let chunk = |first: usize, rows: usize| {
            let g = small_product(self.kernel_rows(first, rows).as_ref(), self.root);
            let mut gram = Mat::<f64>::zeros(rank, rank);
            matmul(gram.as_mut(), Accum::Replace, g.transpose(), g.as_ref(), 1.0, Par::Seq);
            let sum: Vec<f64> = (0..rank).map(|j| g.col(j).iter().sum()).collect();
            let own = |i: usize| self.kernel.of(self.points.row(i), self.points.row(i));
            (gram, sum, (first..first + rows).map(own).sum::<f64>())
        };
        self.chunks(0.0, chunk, |_, (part, own, trace)| {
            gram += part;
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            diagonal += trace;
        })?;
        if !(diagonal.is_finite() && gram.norm_max().is_finite()) {
            return Err(overflow());
        }
        Ok(Sums { gram, sum, diagonal })
    }

    /// The second pass: ψ = k(x, z) A − b of all points, and exact rows of K.
    fn look(&self, axes: MatRef<'_, f64>, origin: &[f64], gammas: &[f64]) -> Result<Looked> {
        let (n, width) = (self.points.rows(), origin.len());
        let looked: Vec<usize> = (0..LOOKED_AT.min(n)).map(|s| s * n / LOOKED_AT.min(n)).collect();
        let m = looked.len();
        let c =
            Mat::from_fn(m, self.places.rows(), |s, j| self.kernel.of(self.points.row(looked[s]), self.places.row(j)));
        // T Tᵀ k(z, x[s]): the approximate row s of K is C of these.
        let through = small_product(self.root, small_product(c.as_ref(), self.root).transpose());
        let mut vectors = Mat::<f64>::zeros(n, width);
        let (mut off, mut all, mut images) = (0.0, 0.0, Mat::<f64>::zeros(m, width));
        let chunk = |first: usize, rows: usize| {
            let c = self.kernel_rows(first, rows);
            let mut psi = small_product(c.as_ref(), axes);
            for (q, b) in origin.iter().enumerate() {
                psi.col_mut(q).iter_mut().for_each(|value| *value -= b);
            }
            let approximate = small_product(c.as_ref(), through.as_ref());
            let exact =
                Mat::from_fn(rows, m, |i, s| self.kernel.of(self.points.row(first + i), self.points.row(looked[s])));
            let off = (&approximate - &exact).squared_norm_l2();
            let images = small_product(exact.transpose(), psi.as_ref());
            (psi, off, exact.squared_norm_l2(), images)
        };
        self.chunks(0.5, chunk, |first, (psi, own_off, own_all, own_images)| {
            vectors.as_mut().subrows_mut(first, psi.nrows()).copy_from(&psi);
            off += own_off;
            all += own_all;
            images += own_images;
        })?;
        let residuals = (0..width)
            .map(|q| {
                // H K ψ by the mean of the known rows.
                let gap: Vec<f64> = (0..m).map(|s| images[(s, q)] - gammas[q] * vectors[(looked[s], q)]).collect();
                let mean = gap.iter().sum::<f64>() / m as f64;
                let square: f64 = gap.iter().map(|gap| (gap - mean).powi(2)).sum();
                (square * n as f64 / m as f64).sqrt() / gammas[0]
            })
            .collect();
        Ok(Looked { vectors, error: (off / f64::max(all, f64::MIN_POSITIVE)).sqrt(), residuals })
    }
}

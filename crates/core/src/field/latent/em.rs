//! Expectation maximization for probabilistic principal coordinates, with the axes W as the missing data.
//!
//! With Σ = λ I + YᵀY (their equations (10) and (11)):
//!
//! ```text
//! Y₊ = Q Y (λ I + Σ⁻¹ YᵀQY)⁻¹ = Q Y (λ Σ + YᵀQY)⁻¹ Σ        λ₊ = (tr Q − tr(Y₊ Σ⁻¹ YᵀQ)) / (n − 1)
//! ```
//!
//! The span of Y₊ is that of Q Y, so the subspace converges like an orthogonal iteration: its error shrinks by
//! γ[q+1]/γ[q] per step. The error of the lengths shrinks by 1 − 2 (λ/γ)(1 − λ/γ) only, which is next to one where the
//! noise is small. Once the subspace has converged, the closed form within it (Rayleigh and Ritz) is exact.
//!
//! Z. Zhang, M. I. Jordan. Latent variable models for dimensionality reduction. AISTATS 2009, sections 3.3 and 5.

use crate::field::latent::pairs::Pairs;
use crate::field::latent::ppco::{Estimate, Ppco, PpcoSolver};
use crate::field::latent::principal::Principal;
use crate::field::scaling::centered::Centered;
use crate::field::scaling::mds::choose_landmarks;
use crate::field::{Site, needs_points};
use crate::parameter::choices;
use eigenfold_linalg::dense::{inner, product, small_product, symmetric_eigen};
use eigenfold_linalg::eigen::top::{factor_top, operator_top};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Stage;
use eigenfold_linalg::{Eigenpairs, Operator, parallel};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// The minimum number of points of a start by a sample.
const SAMPLE: usize = 200;
/// A direction of Y shorter than this fraction of the longest one is lost.
const LOST: f64 = 1e-14;
/// The noise has vanished below this fraction of the mean eigenvalue.
const VANISHED: f64 = 1e-14;

/// Where the iteration starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EmStart {
    /// Probabilistic kernel PCA of a sample, extended to all points (section 5.3).
    #[default]
    Sample,
    /// The principal components of the points themselves (section 5.1).
    Pca,
}

choices!(EmStart {
    Sample: "sample", "the axes of a sample of the points, extended to all points";
    Pca: "pca", "the principal components of the points";
});

/// Y, Q Y and λ.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) y: Mat<f64>,
    image: Mat<f64>,
    pub(super) noise: f64,
}

/// The model: Q and its trace.
pub(super) struct Em<'a> {
    q: &'a dyn Operator,
    trace: f64,
}

impl<'a> Em<'a> {
    pub(super) fn new(q: &'a dyn Operator, trace: f64) -> Em<'a> {
        Em { q, trace }
    }

    pub(super) fn state(&self, y: Mat<f64>, noise: f64) -> State {
        let mut image = Mat::zeros(y.nrows(), y.ncols());
        self.q.apply(y.as_ref(), image.as_mut());
        State { y, image, noise }
    }

    /// Equations (10) and (11).
    pub(super) fn step(&self, state: &State) -> Result<State> {
        let State { y, image, noise } = state;
        let (sigma, form) = (sigma(state), inner(y.as_ref(), image.as_ref()));
        let q = y.ncols();
        let both = Mat::from_fn(q, q, |i, j| noise * sigma[(i, j)] + 0.5 * (form[(i, j)] + form[(j, i)]));
        let after = small_product(inverse(&both)?.as_ref(), sigma.as_ref());
        let next = product(image.as_ref(), after.as_ref());
        let kept = small_product(inverse(&sigma)?.as_ref(), inner(image.as_ref(), next.as_ref()).as_ref());
        let kept: f64 = (0..q).map(|j| kept[(j, j)]).sum();
        Ok(self.state(next, (self.trace - kept) / (y.nrows() - 1) as f64))
    }

    /// f(Y, λ) by (Y Yᵀ + λ H)⁺ = (H − Y Σ⁻¹ Yᵀ) / λ.
    pub(super) fn loss(&self, state: &State) -> Result<f64> {
        let State { y, image, noise } = state;
        let (n, q) = (y.nrows(), y.ncols());
        let sigma = sigma(state);
        let logarithms: f64 = symmetric_eigen(sigma.as_ref())?.0.iter().map(|eta| eta.ln()).sum();
        let kept = small_product(inverse(&sigma)?.as_ref(), inner(y.as_ref(), image.as_ref()).as_ref());
        let kept: f64 = (0..q).map(|j| kept[(j, j)]).sum();
        Ok(logarithms + (n - 1 - q) as f64 * noise.ln() + (self.trace - kept) / noise)
    }

    /// Whether the noise has vanished.
    fn vanished(&self, state: &State) -> bool {
        state.noise <= VANISHED * self.trace / state.y.nrows() as f64
    }
}

impl State {
    /// The closed form within the span of Y: Ritz values and vectors with their residuals, largest first.
    pub(super) fn ritz(&self) -> Result<Ritz> {
        let Axes { vectors, image, .. } = self.axes()?;
        let form = inner(vectors.as_ref(), image.as_ref());
        let (values, turn) = symmetric_eigen(form.as_ref())?;
        let (vectors, image) = (product(vectors.as_ref(), turn.as_ref()), product(image.as_ref(), turn.as_ref()));
        Ok(Ritz::of(values, vectors, &image))
    }

    /// The eigenvalues of YᵀY with orthonormal axes of the span of Y, and Q of those.
    fn axes(&self) -> Result<Axes> {
        let (squares, turn) = symmetric_eigen(inner(self.y.as_ref(), self.y.as_ref()).as_ref())?;
        let kept = squares.iter().take_while(|&&square| square > LOST * squares[0]).count();
        let unit = Mat::from_fn(self.y.ncols(), kept, |i, j| turn[(i, j)] / squares[j].sqrt());
        let (vectors, image) = (product(self.y.as_ref(), unit.as_ref()), product(self.image.as_ref(), unit.as_ref()));
        Ok(Axes { squares: squares[..kept].to_vec(), vectors, image })
    }

    /// The relative change of Y since `before`, or that of λ if it is larger.
    fn change(&self, before: &State) -> f64 {
        let moved = (&self.y - &before.y).norm_l2() / self.y.norm_l2().max(f64::MIN_POSITIVE);
        moved.max((self.noise - before.noise).abs() / self.noise.max(f64::MIN_POSITIVE))
    }
}

struct Axes {
    squares: Vec<f64>,
    vectors: Mat<f64>,
    image: Mat<f64>,
}

/// Approximate eigenpairs of Q.
pub(super) struct Ritz {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Mat<f64>,
    /// ‖Q v − γ v‖ / γ[1].
    pub(super) residuals: Vec<f64>,
}

impl Ritz {
    fn of(values: Vec<f64>, vectors: Mat<f64>, image: &Mat<f64>) -> Ritz {
        let largest = values.first().copied().unwrap_or(0.0).abs().max(f64::MIN_POSITIVE);
        let off = |i: usize, q: usize| image[(i, q)] - values[q] * vectors[(i, q)];
        let norm = |q: usize| (0..vectors.nrows()).map(|i| off(i, q).powi(2)).sum::<f64>().sqrt();
        let residuals = (0..values.len()).map(|q| norm(q) / largest).collect();
        Ritz { values, vectors, residuals }
    }
}

/// Iterates with these parameters; returns the estimate too where it differs from the closed form.
///
/// # Errors
///
/// If the input or the start is not suitable, or the observer stops the run before the first step.
pub(super) fn fit(method: &str, ppco: &Ppco, site: &Site<'_>) -> Result<(Principal, Option<Estimate>)> {
    if ppco.landmarks.is_some_and(|count| count < site.len()) {
        let name = if ppco.solver == PpcoSolver::Em { "em" } else { "em-plain" };
        return Err(Error::inapplicable(
            "landmarks",
            format!("`solver` {name} works on all pairs"),
            "leave out `landmarks`, or use `solver` eigen",
        ));
    }
    let pairs = Pairs::of(method, ppco.kernel, site)?;
    let em = Em::new(&pairs.q, pairs.trace());
    let mut state = start(ppco.start, &pairs, &em, site)?;
    let (mut steps, mut converged, mut best) = (0, em.vanished(&state), None);
    while !converged && steps < ppco.max_iterations && !site.observer.stop() {
        site.observer.progress(Stage::Field, steps as f64 / ppco.max_iterations as f64);
        let next = em.step(&state)?;
        steps += 1;
        if ppco.solver == PpcoSolver::Em {
            let ritz = next.ritz()?;
            converged = ritz.residuals.iter().all(|&residual| residual <= ppco.tolerance);
            best = Some(ritz);
        } else {
            converged = next.change(&state) <= ppco.tolerance;
        }
        state = next;
        converged |= em.vanished(&state);
    }
    let pair = |ritz: Ritz, solver: &str| Eigenpairs {
        values: ritz.values,
        vectors: ritz.vectors,
        residuals: ritz.residuals,
        solver: solver.into(),
        iterations: steps,
        converged,
        factor: 0,
    };
    if ppco.solver == PpcoSolver::Em {
        let ritz = best.map_or_else(|| state.ritz(), Ok)?;
        return Ok((Principal::of_pairs(&pairs, pair(ritz, "em"), site)?, None));
    }
    // γ = yᵀy + λ, as in section 5.2.
    let Axes { squares, vectors, image } = state.axes()?;
    let values = squares.iter().map(|square| square + state.noise).collect();
    let estimate =
        Estimate { noise: state.noise.max(0.0), loss: if em.vanished(&state) { None } else { Some(em.loss(&state)?) } };
    Ok((Principal::of_pairs(&pairs, pair(Ritz::of(values, vectors, &image), "em-plain"), site)?, Some(estimate)))
}

/// The first Y and λ.
fn start(start: EmStart, pairs: &Pairs<'_>, em: &Em<'_>, site: &Site<'_>) -> Result<State> {
    let (n, dims) = (site.len(), site.dims);
    let whole = em.trace / (n - 1) as f64;
    if start == EmStart::Pca {
        let points = site.data.points().ok_or_else(|| needs_points("the `start` pca", "use `start` sample instead"))?;
        if points.cols() < dims {
            return Err(Error::parameter(
                "start",
                format!("{} features have fewer than {dims} principal components", points.cols()),
                format!("use `start` sample, or `dims` {}", points.cols()),
            ));
        }
        let mean = points.column_means();
        let centered = Mat::from_fn(n, points.cols(), |i, j| points.row(i)[j] - mean[j]);
        let top = factor_top(&centered, dims, site.seed, site.observer)?;
        let y = Mat::from_fn(n, dims, |i, q| top.values[q].max(0.0).sqrt() * top.vectors[(i, q)]);
        return Ok(em.state(y, whole));
    }
    let drawn = choose_landmarks(Some(SAMPLE.max(4 * dims).min(n)), n, site.seed)?;
    let drawn: Vec<usize> = drawn.map_or((0..n).collect(), |drawn| drawn.iter().map(|&i| i as usize).collect());
    let m = drawn.len();
    let few = Centered::from_squares(m, |i, j| pairs.square(drawn[i], drawn[j]), site.observer)?;
    let top = operator_top(&few, dims, site.seed, site.observer)?;
    // ½ Γ^(−½) Ψᵀ (r − δ²), Gower's formula, for all points; the noise is the remainder of the sample's trace.
    let rows = parallel::collect(n, |i| {
        let mut row = vec![0.0; dims];
        for (at, &j) in drawn.iter().enumerate() {
            let away = 0.5 * (few.row_means()[at] - pairs.square(i, j));
            row.iter_mut().enumerate().for_each(|(q, y)| *y += away * top.vectors[(at, q)]);
        }
        row
    });
    let length = |q: usize| if top.values[q] > LOST * top.values[0] { 1.0 / top.values[q].sqrt() } else { 0.0 };
    let means: Vec<f64> = (0..dims).map(|q| rows.iter().map(|row| row[q]).sum::<f64>() / n as f64).collect();
    let y = Mat::from_fn(n, dims, |i, q| (rows[i][q] - means[q]) * length(q));
    let rest = 0.5 * m as f64 * few.grand_mean() - top.values.iter().take(dims).sum::<f64>();
    let noise = if m > dims + 1 { rest / (m - 1 - dims) as f64 } else { 0.0 };
    Ok(em.state(y, if noise > 0.0 { noise } else { whole }))
}

/// Σ = λ I + YᵀY.
fn sigma(state: &State) -> Mat<f64> {
    let mut sigma = inner(state.y.as_ref(), state.y.as_ref());
    (0..sigma.nrows()).for_each(|j| sigma[(j, j)] += state.noise);
    sigma
}

/// The inverse of a small symmetric matrix that is positive definite.
fn inverse(matrix: &Mat<f64>) -> Result<Mat<f64>> {
    let (values, vectors) = symmetric_eigen(matrix.as_ref())?;
    let least = f64::MIN_POSITIVE.max(1e-300 * values.first().copied().unwrap_or(0.0));
    let scaled = Mat::from_fn(vectors.nrows(), values.len(), |i, j| vectors[(i, j)] / values[j].max(least));
    Ok(small_product(scaled.as_ref(), vectors.transpose()))
}

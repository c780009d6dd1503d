//! The central path of maximum variance unfolding, in coordinates: K = Y Yᵀ with as few columns as possible.
//!
//! ```text
//! minimize φ(Y) = −|Y|² − μ Σ log s[e],        s[e] = D[e] − |δ[e]|²,   δ[e] = y[i] − y[j],   |Y|² = Σ counts |y|²
//! ```
//!
//! Without a log det of K the minimum has few columns. It is stationary where L(W) Y = M Y for W = μ/s, and it is the global one
//! where also λ(L(W)) ≥ 1; then the duality gap is μ times the number of pairs. For μ above 1/λ(L(1/D)) it is Y = 0, from where
//! one column grows along the Fiedler vector; whenever a further eigenvalue of L(W) falls below one, a column is added.
//!
//! A step is Newton's with the multipliers linearized too, corrected to second order (Mehrotra), by a factor of
//!
//! ```text
//! H = Σ (2 W[e] I + 4 W[e]/s[e] δ δᵀ) ⊗ b bᵀ − 2 (1 − shift) M ⊗ I
//! ```
//!
//! whose inertia is known: r translations are negative, and r (r − 1)/2 rotations may be; if there are more, the shift
//! grows. Every Y on the path satisfies its distance bounds strictly, so its variance is a lower bound, and every W
//! with its λ gives an upper one.
//!
//! S. Burer, R. Monteiro. A nonlinear programming algorithm for solving semidefinite programs via low-rank factorization.
//! Math. Programming 95, 2003. S. Mehrotra. On the implementation of a primal-dual interior point method. SIAM J. Optim.
//! 2(4), 1992.

mod columns;

use crate::field::unfolding::weighted_laplacian::Web;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Silent, Stage};
use eigenfold_linalg::sparse::fronts::{Blocks, Factor, Fronts};
use faer::Mat;

/// μ shrinks by this factor, ...
const SHRINK: f64 = 0.3;
/// (or by up to half of it, to a gap of this fraction of the tolerance,)
const NEARLY: f64 = 0.8;
/// ... once the Newton decrement is below this fraction of μ times the number of pairs.
const CENTERED: f64 = 0.2;
/// The fraction of the way to the nearest bound that a step may go.
const REACH: f64 = 0.95;
/// The minimum shift of the curvature.
const SHIFT: f64 = 1e-7;
/// How far below one an eigenvalue must be to add a direction, as a fraction of the relative gap.
const OPENS: f64 = 0.3;
/// The requested residual of the eigenvectors; eigenvalues are accurate to its square.
const RESIDUAL: f64 = 1e-5;

/// The options of [`follow`].
pub(crate) struct PathOptions {
    /// The relative duality gap at which to stop.
    pub(crate) tolerance: f64,
    /// The maximum number of factorizations.
    pub(crate) max_iterations: usize,
    /// The maximum number of columns that fit into memory.
    pub(crate) max_rank: usize,
    /// The maximum work: the sum of the third powers of the columns over all factors.
    pub(crate) max_work: f64,
}

/// The end of the path.
pub(crate) struct Unfolded {
    pub(crate) r: usize,
    /// One row of r numbers per point, columns by decreasing variance.
    pub(crate) y: Vec<f64>,
    /// The weights that gave the best bound.
    pub(crate) w: Vec<f64>,
    pub(crate) factorizations: usize,
    /// Whether the observer stopped it.
    pub(crate) stopped: bool,
    /// Whether the maximum work was reached.
    pub(crate) spent: bool,
}

/// Follows the path until the relative gap is small enough, or the observer stops the run: every point of it satisfies
/// its distance bounds, and its weights have a bound.
///
/// Eigenvalues of weights are always computed to convergence, since inaccurate ones give no bound.
///
/// # Errors
///
/// [`Error::Stopped`] if the observer stops the run before the first step; if a matrix does not fit into memory.
pub(crate) fn follow(web: &Web<'_>, options: &PathOptions, observer: &dyn Observer) -> Result<Unfolded> {
    if observer.stop() {
        return Err(Error::Stopped);
    }
    follow_from(Path::from_nothing(web)?, options, observer)
}

/// As [`follow`], from any start.
pub(super) fn follow_from(mut path: Path<'_>, options: &PathOptions, observer: &dyn Observer) -> Result<Unfolded> {
    let mut stopped = false;
    let (mut work, mut known) = (0.0, 0);
    while path.factorizations < options.max_iterations && work < options.max_work {
        stopped = observer.stop();
        if stopped {
            break;
        }
        let factored = path.factor()?;
        work += (path.factorizations - known) as f64 * (path.r as f64).powi(3);
        known = path.factorizations;
        if !factored {
            break;
        }
        let Some(step) = path.step() else { break };
        path.iterations += 1;
        if !(step.decrement < CENTERED * path.mu * path.m() && step.length > 0.3 && step.dual_length > 0.3) {
            continue;
        }
        let below = path.bound()?;
        let gap = path.gap();
        observer.gap(gap);
        observer.progress(Stage::Field, (gap.min(1.0).ln() / options.tolerance.ln()).clamp(0.0, 1.0));
        if gap <= options.tolerance {
            break;
        }
        let relative = path.mu * path.m() / path.variance;
        let opens = (OPENS * relative.min(1.0)).max(0.05 * options.tolerance);
        if below > opens {
            if path.iterations < 30 && path.open(opens, below, options.max_rank) {
                continue;
            }
            // Not yet at a minimum of second order: stay until the shift is gone.
            if path.iterations < 40 && step.shift > 2.0 * SHIFT {
                continue;
            }
        }
        path.drop_columns(relative, opens);
        if relative < 0.01 * options.tolerance {
            break;
        }
        // A last stage that would just miss the tolerance is extended a little.
        let enough = NEARLY * options.tolerance / relative;
        path.mu *= if (SHRINK / 2.0..SHRINK).contains(&enough) { enough } else { SHRINK };
        path.iterations = 0;
    }
    let spent = work >= options.max_work && path.gap() > options.tolerance;
    if stopped || spent || path.best.is_infinite() {
        path.bound()?;
    }
    if path.best_w.is_empty() {
        return Err(Error::numerical("the unfolding found no upper bound", "another k may help"));
    }
    path.rotate();
    Ok(Unfolded { r: path.r, y: path.y, w: path.best_w, factorizations: path.factorizations, stopped, spent })
}

/// A point on the path.
pub(super) struct Path<'a> {
    web: &'a Web<'a>,
    fronts: &'a Fronts,
    r: usize,
    y: Vec<f64>,
    /// δ, r numbers per pair.
    differences: Vec<f64>,
    slack: Vec<f64>,
    w: Vec<f64>,
    mu: f64,
    shift: f64,
    /// |Y|².
    variance: f64,
    factor: Factor,
    factorizations: usize,
    /// Steps at this μ.
    iterations: usize,
    /// Whether pivots that belong to rotations may be negative.
    rotations: bool,
    /// The least upper bound, its weights, and the last eigenvectors.
    best: f64,
    best_w: Vec<f64>,
    eigen: Option<(Vec<f64>, Mat<f64>)>,
}

/// The outcome of a step.
struct Step {
    length: f64,
    dual_length: f64,
    decrement: f64,
    shift: f64,
}

/// A direction of Y and W: δ of it, and how fast the squared lengths change, to first and second order.
struct Direction {
    d: Vec<f64>,
    differences: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    dw: Vec<f64>,
    longest: f64,
}

impl Direction {
    /// Gives its vectors back.
    fn keep(self, web: &Web<'_>) {
        web.keep([self.d, self.differences, self.first, self.second, self.dw]);
    }
}

impl<'a> Path<'a> {
    /// A strictly feasible point and the μ that fits it.
    pub(super) fn from(web: &'a Web<'a>, r: usize, y: Vec<f64>) -> Result<Path<'a>> {
        let mut path = Path {
            web,
            fronts: web.fronts()?,
            r,
            y,
            differences: Vec::new(),
            slack: Vec::new(),
            w: Vec::new(),
            mu: 0.0,
            shift: SHIFT,
            variance: 0.0,
            factor: Factor::default(),
            factorizations: 0,
            iterations: 0,
            rotations: true,
            best: f64::INFINITY,
            best_w: Vec::new(),
            eigen: None,
        };
        path.refresh();
        let squares = &path.web.pairs.squares;
        path.mu = path.variance / path.web.sum(|e| squares[e] / path.slack[e] - 1.0).max(f64::MIN_POSITIVE);
        path.w = path.barrier_weights();
        Ok(path)
    }

    /// The first column, just after it has left Y = 0.
    fn from_nothing(web: &'a Web<'a>) -> Result<Path<'a>> {
        let inverse = web.each(|e| 1.0 / web.pairs.squares[e]);
        let eigen = web.bottom(&inverse, (1, RESIDUAL), None, &Silent)?;
        let mut path = Path::from(web, 1, vec![0.0; web.pairs.len()])?;
        path.mu = 0.7 / eigen.values[0];
        let v: Vec<f64> = (0..web.pairs.len()).map(|i| eigen.vectors[(i, 0)]).collect();
        let (length, _) = path.search_column(0, &v);
        path.y = v.iter().map(|v| length * v).collect();
        path.refresh();
        path.w = path.barrier_weights();
        Ok(path)
    }

    /// The number of pairs.
    fn m(&self) -> f64 {
        self.slack.len() as f64
    }

    /// What follows from Y.
    fn refresh(&mut self) {
        let (web, r) = (self.web, self.r);
        center(r, &mut self.y, &web.pairs.counts);
        web.keep([std::mem::take(&mut self.differences), std::mem::take(&mut self.slack)]);
        self.differences = web.differences(r, &self.y);
        self.slack = slack(web, r, &self.y, &self.differences);
        self.variance = variance(r, &self.y, &web.pairs.counts);
    }

    /// μ/s.
    fn barrier_weights(&self) -> Vec<f64> {
        self.web.each(|e| self.mu / self.slack[e])
    }

    /// How far the lower bound is from the best upper one, relative to that.
    fn gap(&self) -> f64 {
        (self.best - self.variance) / self.best
    }

    /// Factors the curvature, shifted until it has no more negative directions than symmetry explains; returns whether
    /// there is a factor in the end: there is none if the distances differ by more than the precision of a number.
    fn factor(&mut self) -> Result<bool> {
        let r = self.r;
        loop {
            let mut factor = std::mem::take(&mut self.factor);
            let curvature = PathHessian { path: self, ratio: self.web.each(|e| self.w[e] / self.slack[e]) };
            let done = self.fronts.factor(r, &curvature, &mut factor)?;
            self.web.keep([curvature.ratio]);
            self.factor = factor;
            self.factorizations += 1;
            let allowed = r + if self.rotations { r * (r - 1) / 2 } else { 0 };
            if (done && self.factor.negative <= allowed) || self.shift >= 1.0 {
                return Ok(done);
            }
            self.shift = (4.0 * self.shift).clamp(1e-3, 1.001);
        }
    }

    /// Newton's direction for a gradient, with its effect on the weights; `curved` is the known second-order part.
    fn direction(&self, mut d: Vec<f64>, barrier: &[f64], curved: Option<&[f64]>) -> Direction {
        let (web, r) = (self.web, self.r);
        d.iter_mut().for_each(|d| *d = -*d);
        self.fronts.solve(&self.factor, &mut d);
        center(r, &mut d, &web.pairs.counts);
        let differences = web.differences(r, &d);
        let (a, b) = (&self.differences, &differences);
        let first = web.each(|e| 2.0 * dot(&a[e * r..][..r], &b[e * r..][..r]));
        let second = web.each(|e| dot(&b[e * r..][..r], &b[e * r..][..r]));
        let dw = web.each(|e| {
            let curved = curved.map_or(0.0, |curved| curved[e]);
            barrier[e] - self.w[e] + self.w[e] / self.slack[e] * first[e] + curved
        });
        // The largest a with s − a first − a² second ≥ (1 − REACH) s.
        let longest = web.least(|e| {
            let room = REACH * self.slack[e];
            2.0 * room / (first[e] + (first[e].powi(2) + 4.0 * second[e] * room).sqrt()).max(f64::MIN_POSITIVE)
        });
        Direction { d, differences, first, second, dw, longest: longest.min(1.0) }
    }

    /// One step of Y and W; `None` if it is not finite.
    fn step(&mut self) -> Option<Step> {
        let (web, r) = (self.web, self.r);
        let counts = &web.pairs.counts;
        let barrier = self.barrier_weights();
        let pull = |mut gradient: Vec<f64>| {
            for (gradient, (y, m)) in gradient.chunks_exact_mut(r).zip(self.y.chunks_exact(r).zip(counts)) {
                (0..r).for_each(|q| gradient[q] = 2.0 * gradient[q] - 2.0 * m * y[q]);
            }
            gradient
        };
        let gradient = pull(web.laplacian(r, &barrier, &self.differences));
        let mut way = self.direction(gradient.clone(), &barrier, None);
        let curved = web.each(|e| (self.w[e] * way.second[e] + way.dw[e] * way.first[e]) / self.slack[e]);
        let (bent, pushed) =
            (web.laplacian(r, &way.dw, &way.differences), web.laplacian(r, &curved, &self.differences));
        let corrected = (0..gradient.len()).map(|at| gradient[at] + 2.0 * (bent[at] + pushed[at])).collect();
        let corrected = self.direction(corrected, &barrier, Some(&curved));
        web.keep([curved, bent, pushed]);
        let other = if corrected.longest >= way.longest && dot(&gradient, &corrected.d) < 0.0 {
            std::mem::replace(&mut way, corrected)
        } else {
            corrected
        };
        other.keep(web);
        let descent = dot(&gradient, &way.d);
        let before = barrier_value(web, self.variance, self.mu, &self.slack)?;
        let mut length = way.longest;
        let after = loop {
            let y: Vec<f64> = self.y.iter().zip(&way.d).map(|(y, d)| y + length * d).collect();
            let differences = web.differences(r, &y);
            let slack = slack(web, r, &y, &differences);
            let value = barrier_value(web, variance(r, &y, counts), self.mu, &slack);
            web.keep([differences, slack]);
            let enough = |value: f64| value <= before + 1e-4 * length * descent + 1e-12 * before.abs();
            if value.is_some_and(enough) {
                break Some(y);
            }
            if length < 1e-12 {
                break None;
            }
            length *= 0.5;
        };
        let negative = self.factor.negative;
        if let Some(y) = after {
            self.y = y;
        } else {
            length = 0.0;
        }
        let dual_length = (0.95 / -web.least(|e| way.dw[e] / self.w[e]).min(-0.95)).min(1.0);
        self.refresh();
        let (w, slack, mu) = (&self.w, &self.slack, self.mu);
        let w = web.each(|e| (w[e] + dual_length * way.dw[e]).max(1e-4 * mu / slack[e]).min(1e4 * mu / slack[e]));
        web.keep([std::mem::replace(&mut self.w, w), barrier, gradient]);
        way.keep(web);
        self.rotations = !(negative > r && (length < 0.3 || descent >= 0.0));
        let shift = self.shift;
        if length > 0.3 {
            self.shift = if 0.4 * shift > 5e-4 { 0.4 * shift } else { SHIFT };
        } else if length < 0.01 {
            self.shift = (6.0 * shift).clamp(2e-3, 1.001);
        }
        let finite = self.variance.is_finite() && self.w.iter().all(|w| w.is_finite());
        finite.then_some(Step { length, dual_length, decrement: -0.5 * descent, shift })
    }

    /// Updates the upper bound by the current weights; returns how far their λ is below one.
    fn bound(&mut self) -> Result<f64> {
        let start = self.eigen.take().map(|(_, vectors)| vectors);
        let start = start.as_ref().map(|start| start.as_ref());
        let eigen = self.web.bottom(&self.w, (self.r + 2, RESIDUAL), start, &Silent)?;
        let lambda = eigen.values[0];
        let squares = &self.web.pairs.squares;
        let bound = self.web.sum(|e| squares[e] * self.w[e]) / lambda;
        if lambda > 0.0 && bound < self.best {
            self.best = bound;
            self.best_w = self.w.iter().map(|w| w / lambda).collect();
        }
        self.eigen = Some((eigen.values, eigen.vectors));
        Ok(1.0 - lambda)
    }
}

/// H.
struct PathHessian<'a> {
    path: &'a Path<'a>,
    /// W/s.
    ratio: Vec<f64>,
}

impl Blocks for PathHessian<'_> {
    fn edge(&self, edge: usize, block: &mut [f64]) {
        let r = self.path.r;
        let delta = &self.path.differences[edge * r..][..r];
        let ratio = 4.0 * self.ratio[edge];
        for (a, row) in block.chunks_exact_mut(r).enumerate() {
            let along = ratio * delta[a];
            row.iter_mut().zip(delta).for_each(|(value, delta)| *value = along * delta);
            row[a] += 2.0 * self.path.w[edge];
        }
    }

    fn own(&self, point: usize) -> f64 {
        2.0 * (self.path.shift - 1.0) * self.path.web.pairs.counts[point]
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// D − |δ|². A difference of coordinates is accurate to the last digit of the coordinates, and so a square near D to
/// about √D times that: values within that distance of zero are raised to it.
fn slack(web: &Web<'_>, r: usize, y: &[f64], differences: &[f64]) -> Vec<f64> {
    let digit = 4.0 * f64::EPSILON * y.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    web.each(|e| {
        let delta = &differences[e * r..][..r];
        let (left, known) = (web.pairs.squares[e] - dot(delta, delta), digit * web.pairs.squares[e].sqrt());
        if left > -known { left.max(known) } else { left }
    })
}

/// φ; `None` outside the domain.
fn barrier_value(web: &Web<'_>, variance: f64, mu: f64, slack: &[f64]) -> Option<f64> {
    web.log_sum(|e| slack[e]).map(|logs| -variance - mu * logs)
}

fn variance(r: usize, y: &[f64], counts: &[f64]) -> f64 {
    y.chunks_exact(r).zip(counts).map(|(row, m)| m * dot(row, row)).sum()
}

pub(crate) fn center(r: usize, y: &mut [f64], counts: &[f64]) {
    let total: f64 = counts.iter().sum();
    for q in 0..r {
        let mean = y.chunks_exact(r).zip(counts).map(|(row, m)| m * row[q]).sum::<f64>() / total;
        y.chunks_exact_mut(r).for_each(|row| row[q] -= mean);
    }
}

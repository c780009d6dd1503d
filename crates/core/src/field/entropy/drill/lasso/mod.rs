//! The sparse precision of a Gaussian, by an L1 penalty on its entries (the graphical lasso), on a support of choice.
//!
//! ```text
//! minimize f(T) = −log det T + tr S T + α Σ_{i≠j} |T[i,j]|        over positive definite T on the support
//! ```
//!
//! The absolute value is smoothed, |t| ≈ √(t² + μ²), and μ is taken to zero. For each μ a Newton step solves
//!
//! ```text
//! W V W + c ∘ V = −(S − W + α ψ),    W = T⁻¹,   ψ = T/q,   c = α (1 − u ψ)/q,   q = √(T² + μ²)
//! ```
//!
//! on the support by conjugate gradients. u ∈ [−1, 1] is the dual of the absolute value, linearized along with T, so that the
//! steps stay long as μ shrinks (Chan, Golub, Mulet 1999; for L1 problems Fountoulakis, Gondzio 2016). Without c the inverse
//! of V ↦ W V W is known: on a full support it is R ↦ T R T, on the pattern of a sparse factor it runs along the
//! elimination tree. That inverse, blended into the diagonal where c is large, is the preconditioner. Steps are
//! shortened until T is positive definite and f falls.
//!
//! Which entries are zero follows from primal and dual together: T vanishes where W − S stays inside [−α, α], and an
//! entry is set to zero where its size relative to T is less than the slack of W − S.
//!
//! **The gap** needs no second problem. Let U be W − S cut to [−α, α] (to 0 on the diagonal), and E = W − S − U what was cut
//! off, zero outside the support. S + U agrees with W − E wherever it must, so W − E is a point of the dual if it is positive
//! definite, and with M = T^½ E T^½
//!
//! ```text
//! gap = α Σ|T| − tr U T − tr M − log det (I − M)  ≤  α Σ|T| − tr U T + ‖M‖² / 2(1 − ‖M‖),    ‖M‖² = tr T E T E < 1
//! ```
//!
//! The bound is a sum of terms that are not negative, so it has no cancellation, and it is rigorous.
//!
//! J. Friedman, T. Hastie, R. Tibshirani. Sparse inverse covariance estimation with the graphical lasso. Biostatistics 9(3),
//! 2008. T. F. Chan, G. H. Golub, P. Mulet. A nonlinear primal-dual method for total variation-based image restoration.
//! SIAM J. Sci. Comput. 20(6), 1999. K. Fountoulakis, J. Gondzio. A second-order method for strongly convex l1-regularization
//! problems. Math. Programming 156, 2016.

mod arithmetic;
mod support;

pub(crate) use arithmetic::{Arithmetic, is_nearly_full};
pub(crate) use support::Support;

use arithmetic::{Congruence, Factor, Inverse};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Stage};

/// Conjugate gradients stop at this fraction of the gradient, ...
const REDUCTION: f64 = 0.03;
/// ... or after this many products.
const MOST_PRODUCTS: usize = 300;
/// After this many products most of the optimization is done; further products count for at most this fraction of the
/// progress.
const USUAL_PRODUCTS: f64 = 1000.0;
const NEARLY_ALL: f64 = 0.9;
/// The fraction of μ that remains after a full step.
const SHRINK: f64 = 0.2;
/// The fraction of the predicted decrease that a step must reach.
const ENOUGH: f64 = 1e-4;

/// The problem.
pub(crate) struct Lasso<'a> {
    pub(crate) support: &'a Support,
    pub(crate) arithmetic: &'a Arithmetic<'a>,
    /// S on the support.
    pub(crate) moments: &'a [f64],
    /// α.
    pub(crate) penalty: f64,
    /// The duality gap per point to stop at.
    pub(crate) tolerance: f64,
    /// The maximum number of Newton steps.
    pub(crate) max_steps: usize,
}

/// The minimum and its duality gap.
pub(crate) struct Minimum {
    /// T on the support, with exact zeros.
    pub(crate) values: Vec<f64>,
    pub(crate) log_determinant: f64,
    /// f(T).
    pub(crate) value: f64,
    /// The bound on the duality gap, per point; infinite if it is unknown.
    pub(crate) gap: f64,
    pub(crate) steps: usize,
    /// Products with the second derivative.
    pub(crate) products: usize,
    /// Whether the observer stopped the optimization.
    pub(crate) stopped: bool,
}

/// A matrix with what was computed of it.
struct At {
    t: Vec<f64>,
    log_determinant: f64,
    factor: Factor,
    w: Inverse,
}

impl Lasso<'_> {
    /// From the diagonal that matches the variances down to the tolerance, or until the observer stops the run.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the observer stops the run before the first step; if a matrix is singular.
    pub(crate) fn minimize(&self, observer: &dyn Observer) -> Result<Minimum> {
        let n = self.support.n;
        let own = |at: usize| if at < n { 1.0 / self.moments[at] } else { 0.0 };
        let singular = || Error::numerical("a point has no variance", "use a larger `ridge`");
        let mut at = self.at((0..self.support.len()).map(own).collect())?.ok_or_else(singular)?;
        let mut u = vec![0.0; self.support.len()];
        let (mut mu, mut products, mut first_gap) = (1.0, 0, None);
        let mut best = self.cut(&at)?;
        while best.steps < self.max_steps && best.gap > self.tolerance {
            let rounded = self.rounded(mu);
            let curvature = LassoCurvature::new(self, &at, &u, &rounded);
            let Some(step) = self.newton_step(&at, &curvature, observer, &mut products)? else {
                best.stopped = true;
                break;
            };
            let (found, t) = self.search(&at, &step.v, step.derivative, &rounded)?;
            let Some(found) = found else { break };
            // The dual of the absolute value moves along: u + δu solves u q = T to first order.
            for (e, u) in u.iter_mut().enumerate().skip(n) {
                let along = curvature.own[e] * step.v[e] - (*u - curvature.psi[e]);
                *u = (*u + t * along).clamp(-1.0, 1.0);
            }
            at = found;
            let steps = best.steps + 1;
            let cut = self.cut(&at)?;
            if cut.gap <= best.gap || best.gap.is_infinite() {
                best = cut;
            }
            (best.steps, best.products) = (steps, products);
            // Once a step promises less than the smoothing costs, μ is what remains to be improved.
            let worth = self.cost_of_rounding(&at.t, &rounded).max(0.1 * self.tolerance * n as f64);
            if -step.derivative < worth && t > 0.5 {
                mu *= SHRINK;
            }
            // A gap is known only near the end; before that, progress is estimated from the usual number of products.
            let mut done = NEARLY_ALL * (1.0 - (-(products as f64) / USUAL_PRODUCTS).exp());
            if best.gap.is_finite() {
                let first = *first_gap.get_or_insert(best.gap.max(10.0 * self.tolerance));
                done = done.max((first / best.gap).ln() / (first / self.tolerance).ln());
                observer.gap(best.gap);
            }
            observer.progress(Stage::Field, done.clamp(0.0, 1.0));
        }
        if best.stopped && best.steps == 0 { Err(Error::Stopped) } else { Ok(best) }
    }

    fn at(&self, t: Vec<f64>) -> Result<Option<At>> {
        let Some(mut factor) = self.arithmetic.factor(&t)? else { return Ok(None) };
        let w = self.arithmetic.inverse(&mut factor)?;
        Ok(Some(At { log_determinant: factor.log_determinant(), factor, w, t }))
    }

    /// μ of every edge, in units of what the variances of its ends make of a precision; zero on the diagonal.
    fn rounded(&self, mu: f64) -> Vec<f64> {
        let unit = |&(i, j): &(u32, u32)| mu / (self.moments[i as usize] * self.moments[j as usize]).sqrt();
        std::iter::repeat_n(0.0, self.support.n).chain(self.support.ends.iter().map(unit)).collect()
    }

    /// V with W V W + c ∘ V = −(S − W + α ψ), by conjugate gradients; `None` if the observer stops the run.
    fn newton_step(
        &self,
        at: &At,
        curvature: &LassoCurvature,
        observer: &dyn Observer,
        products: &mut usize,
    ) -> Result<Option<Step>> {
        let gradient_of = |e: usize| self.moments[e] - at.w.values[e] + self.penalty * curvature.psi[e];
        let gradient: Vec<f64> = (0..at.t.len()).map(gradient_of).collect();
        let metric = self.arithmetic.congruence(&at.t, &at.factor, &at.w)?;
        let mut r: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut v = vec![0.0; r.len()];
        let mut y = precondition(&metric, curvature, &r)?;
        let (mut p, mut left) = (y.clone(), self.support.inner(&r, &y));
        let first = left;
        for _ in 0..MOST_PRODUCTS {
            if observer.stop() {
                return Ok(None);
            }
            if left <= 0.0 {
                break;
            }
            *products += 1;
            let mut image = metric.apply(&p)?;
            image.iter_mut().zip(&curvature.added).zip(&p).for_each(|((image, c), p)| *image += c * p);
            let bend = self.support.inner(&p, &image);
            if bend <= 0.0 {
                break;
            }
            let length = left / bend;
            v.iter_mut().zip(&p).for_each(|(v, p)| *v += length * p);
            r.iter_mut().zip(&image).for_each(|(r, image)| *r -= length * image);
            y = precondition(&metric, curvature, &r)?;
            let next = self.support.inner(&r, &y);
            if next < REDUCTION * REDUCTION * first {
                break;
            }
            p.iter_mut().zip(&y).for_each(|(p, y)| *p = y + next / left * *p);
            left = next;
        }
        Ok(Some(Step { derivative: self.support.inner(&gradient, &v), v }))
    }

    /// The smoothed objective.
    fn rounded_value(&self, t: &[f64], log_determinant: f64, rounded: &[f64]) -> f64 {
        let n = self.support.n;
        let sum: f64 = t[n..].iter().zip(&rounded[n..]).map(|(t, mu)| t.hypot(*mu)).sum();
        self.support.inner(self.moments, t) - log_determinant + 2.0 * self.penalty * sum
    }

    /// α Σ (|T| − ψ T): the duality gap at the optimum of the smoothed objective.
    fn cost_of_rounding(&self, t: &[f64], rounded: &[f64]) -> f64 {
        let n = self.support.n;
        let of_edge = |(t, mu): (&f64, &f64)| t.abs() * (1.0 - t.abs() / t.hypot(*mu).max(f64::MIN_POSITIVE));
        2.0 * self.penalty * t[n..].iter().zip(&rounded[n..]).map(of_edge).sum::<f64>()
    }

    /// The longest of the steps 1, ½, ¼, ... that keeps T positive definite and decreases f.
    fn search(&self, at: &At, v: &[f64], derivative: f64, rounded: &[f64]) -> Result<(Option<At>, f64)> {
        let here = self.rounded_value(&at.t, at.log_determinant, rounded);
        let mut t = 1.0;
        while t > 1e-10 {
            let moved: Vec<f64> = at.t.iter().zip(v).map(|(x, v)| x + t * v).collect();
            if let Some(mut factor) = self.arithmetic.factor(&moved)? {
                let log_determinant = factor.log_determinant();
                let there = self.rounded_value(&moved, log_determinant, rounded);
                // Below this, rounding hides a decrease; any step that does not increase f is then accepted.
                if there <= here + ENOUGH * t * derivative + 1e-13 * here.abs() {
                    let w = self.arithmetic.inverse(&mut factor)?;
                    return Ok((Some(At { t: moved, log_determinant, factor, w }), t));
                }
            }
            t *= 0.5;
        }
        Ok((None, t))
    }

    /// The matrix without the entries that are zero at the optimum, and the bound on its gap.
    fn cut(&self, at: &At) -> Result<Minimum> {
        let (n, units) = (self.support.n, self.rounded(1.0));
        let room = |e: usize| 1.0 - (at.w.values[e] - self.moments[e]).abs() / self.penalty;
        let small = |e: usize| e >= n && self.penalty > 0.0 && at.t[e].abs() < room(e) * units[e];
        let values: Vec<f64> = (0..at.t.len()).map(|e| if small(e) { 0.0 } else { at.t[e] }).collect();
        if values == at.t {
            return Ok(self.measured(at));
        }
        let without = self.at(values)?.map(|cut| self.measured(&cut));
        Ok(without.unwrap_or_else(|| Minimum { gap: f64::INFINITY, ..self.measured(at) }))
    }

    /// The objective and the bound on the gap.
    fn measured(&self, at: &At) -> Minimum {
        let absolute: f64 = at.t[self.support.n..].iter().map(|t| t.abs()).sum();
        Minimum {
            value: self.support.inner(self.moments, &at.t) - at.log_determinant + 2.0 * self.penalty * absolute,
            values: at.t.clone(),
            log_determinant: at.log_determinant,
            gap: self.gap(at),
            steps: 0,
            products: 0,
            stopped: false,
        }
    }

    /// The bound on the duality gap, per point.
    fn gap(&self, at: &At) -> f64 {
        let n = self.support.n;
        let (mut slack, mut excess) = (0.0, vec![0.0; at.t.len()]);
        for (e, excess) in excess.iter_mut().enumerate() {
            let beyond = at.w.values[e] - self.moments[e];
            let u = if e < n { 0.0 } else { beyond.clamp(-self.penalty, self.penalty) };
            *excess = beyond - u;
            slack += if e < n { 0.0 } else { 2.0 * (self.penalty * at.t[e].abs() - u * at.t[e]) };
        }
        let norm = self.support.inner(&excess, &self.arithmetic.sandwich(&at.t, &excess)).max(0.0).sqrt();
        if norm < 1.0 { (slack + 0.5 * norm * norm / (1.0 - norm)) / n as f64 } else { f64::INFINITY }
    }
}

/// √k ∘ H⁻¹(√k ∘ R) + (1 − k)/(h + c) ∘ R,   k = h/(h + c),   H the second derivative of −log det and h its diagonal.
fn precondition(metric: &Congruence<'_>, curvature: &LassoCurvature, r: &[f64]) -> Result<Vec<f64>> {
    let weighted: Vec<f64> = r.iter().zip(&curvature.coupled).map(|(r, k)| k * r).collect();
    let mut out = metric.solve(&weighted)?;
    for (e, out) in out.iter_mut().enumerate() {
        *out = *out * curvature.coupled[e] + curvature.alone[e] * r[e];
    }
    Ok(out)
}

struct Step {
    v: Vec<f64>,
    /// ⟨gradient, v⟩.
    derivative: f64,
}

/// The second derivative of the smoothed absolute value, and its part in the preconditioner.
struct LassoCurvature {
    psi: Vec<f64>,
    /// (1 − u ψ)/q.
    own: Vec<f64>,
    /// c = α (1 − u ψ)/q.
    added: Vec<f64>,
    /// √(h/(h + c)).
    coupled: Vec<f64>,
    /// (1 − h/(h + c))/(h + c).
    alone: Vec<f64>,
}

impl LassoCurvature {
    fn new(lasso: &Lasso<'_>, at: &At, u: &[f64], rounded: &[f64]) -> LassoCurvature {
        let (n, count, w) = (lasso.support.n, at.t.len(), &at.w.values);
        let mut made = LassoCurvature {
            psi: vec![0.0; count],
            own: vec![0.0; count],
            added: vec![0.0; count],
            coupled: vec![1.0; count],
            alone: vec![0.0; count],
        };
        for (e, &(i, j)) in (n..).zip(&lasso.support.ends) {
            let q = at.t[e].hypot(rounded[e]).max(f64::MIN_POSITIVE);
            made.psi[e] = at.t[e] / q;
            made.own[e] = (1.0 - u[e] * made.psi[e]).max(0.0) / q;
            let c = lasso.penalty * made.own[e];
            let h = w[i as usize] * w[j as usize] + w[e] * w[e];
            made.added[e] = c;
            made.coupled[e] = (h / (h + c)).sqrt();
            made.alone[e] = c / (h + c).powi(2);
        }
        made
    }
}

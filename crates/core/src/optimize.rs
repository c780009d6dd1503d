//! Descent of a smooth function inside a box: projected limited-memory BFGS.
//!
//! Variables at a bound that the gradient presses against stay there; the others take the quasi-Newton step of their
//! own curvature pairs, and the path is bent back into the box:
//!
//! ```text
//! x(t) = P(x + t d),   d = −H g over the free variables,   d = −g over those close to a bound that it presses against
//! ```
//!
//! The step t is found by bisection between a step that is too long (too little decrease, or f not defined there) and
//! one that is too short (the slope is still steep), both measured as Wolfe did. Nothing here runs in parallel, so the
//! answer is the same for any number of threads if the function is.
//!
//! D. P. Bertsekas. Projected Newton methods for optimization problems with simple constraints. SIAM Journal on Control
//! and Optimization 20, 1982. J. Nocedal. Updating quasi-Newton matrices with limited storage. Mathematics of
//! Computation 35, 1980. A. S. Lewis, M. L. Overton. Nonsmooth optimization via quasi-Newton methods. Mathematical
//! Programming 141, 2013 (the bisection).

use crate::error::{Error, Result};
use crate::progress::Observer;
use std::collections::VecDeque;

/// The part of the predicted decrease that a step must give.
const DECREASE: f64 = 1e-4;
/// The part of the slope that may be left after a step.
const SLOPE: f64 = 0.9;
/// Trials of one line search.
const TRIALS: usize = 40;
/// A variable is close to its bound if nearer than this.
const CLOSE: f64 = 1e-3;

/// The box: a lower and an upper bound for every variable, infinite where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// The smallest values.
    pub lower: Vec<f64>,
    /// The largest values.
    pub upper: Vec<f64>,
}

impl Bounds {
    /// `n` variables that are at least `lower`.
    pub fn at_least(lower: f64, n: usize) -> Bounds {
        Bounds { lower: vec![lower; n], upper: vec![f64::INFINITY; n] }
    }

    /// `n` variables without bounds.
    pub fn none(n: usize) -> Bounds {
        Bounds::at_least(f64::NEG_INFINITY, n)
    }

    fn project(&self, i: usize, x: f64) -> f64 {
        x.max(self.lower[i]).min(self.upper[i])
    }

    /// Whether variable `i` is at most `close` away from a bound that a step along −g would cross.
    fn presses(&self, i: usize, x: f64, g: f64, close: f64) -> bool {
        (g > 0.0 && x - self.lower[i] <= close) || (g < 0.0 && self.upper[i] - x <= close)
    }
}

/// When a descent is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The largest entry of the projected gradient is at most this.
    pub gradient: f64,
    /// Two steps in a row lowered the value by at most this part of it.
    pub decrease: f64,
    /// So many evaluations have been made.
    pub evaluations: usize,
}

/// Why a descent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The projected gradient met its tolerance.
    Gradient,
    /// The value hardly changed any more.
    Decrease,
    /// No step lowers the value: rounding, or a wrong gradient.
    Stuck,
    /// The evaluations are spent.
    Evaluations,
    /// The observer asked for it.
    Stopped,
}

/// How a descent went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The value at the end.
    pub value: f64,
    /// The largest entry of the projected gradient there: how far each variable could still go, in units of its slope.
    pub gradient: f64,
    /// Steps taken.
    pub iterations: usize,
    /// Evaluations of the function, those of the line searches included.
    pub evaluations: usize,
    /// Why it ended.
    pub ended: Ended,
}

impl Report {
    /// Whether a tolerance was met.
    pub fn converged(&self) -> bool {
        matches!(self.ended, Ended::Gradient | Ended::Decrease)
    }
}

/// A descent as it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// The box.
    pub bounds: Bounds,
    /// How many pairs of steps and gradient changes are remembered.
    pub memory: usize,
    /// When to end.
    pub stop: Stop,
}

impl Descent {
    /// Minimizes `f` from `start` (moved into the box).
    ///
    /// `f` writes the gradient and returns the value, or None where it is not defined: the step is shortened then. It
    /// is only called inside the box.
    ///
    /// # Errors
    ///
    /// Those of `f`; if `f` is not defined at the start; if the bounds do not fit the variables.
    pub fn minimize<F>(&self, start: &[f64], observer: &dyn Observer, f: F) -> Result<(Vec<f64>, Report)>
    where
        F: FnMut(&[f64], &mut [f64]) -> Result<Option<f64>>,
    {
        let n = start.len();
        if self.bounds.lower.len() != n || self.bounds.upper.len() != n {
            return Err(Error::parameter(format!("the bounds do not fit {n} variables; give one pair for each")));
        }
        let x: Vec<f64> = (0..n).map(|i| self.bounds.project(i, start[i])).collect();
        let mut run = Run { asked: self, f, x, g: vec![0.0; n], value: 0.0, evaluations: 1, pairs: VecDeque::new() };
        let first = (run.f)(&run.x, &mut run.g)?.filter(|value| value.is_finite());
        run.value =
            first.ok_or_else(|| Error::Numerical("the function has no value at the start; start elsewhere".into()))?;
        let (mut iterations, mut small) = (0, 0);
        let ended = loop {
            if run.projected_gradient() <= self.stop.gradient {
                break Ended::Gradient;
            }
            if small == 2 {
                break Ended::Decrease;
            }
            if observer.stop() {
                break Ended::Stopped;
            }
            if run.evaluations >= self.stop.evaluations {
                break Ended::Evaluations;
            }
            let before = run.value;
            if !run.step()? {
                break Ended::Stuck;
            }
            iterations += 1;
            small = if before - run.value <= self.stop.decrease * before.abs() { small + 1 } else { 0 };
        };
        let (gradient, evaluations) = (run.projected_gradient(), run.evaluations);
        Ok((run.x, Report { value: run.value, gradient, iterations, evaluations, ended }))
    }
}

/// A step s and the change y of the gradient along it.
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
}

/// Where a descent is.
struct Run<'a, F> {
    asked: &'a Descent,
    f: F,
    x: Vec<f64>,
    g: Vec<f64>,
    value: f64,
    evaluations: usize,
    pairs: VecDeque<Pair>,
}

/// What a line search found.
struct Found {
    x: Vec<f64>,
    g: Vec<f64>,
    value: f64,
}

impl<F: FnMut(&[f64], &mut [f64]) -> Result<Option<f64>>> Run<'_, F> {
    /// max |x − P(x − g)|.
    fn projected_gradient(&self) -> f64 {
        let bounds = &self.asked.bounds;
        let entry = |i: usize| (self.x[i] - bounds.project(i, self.x[i] - self.g[i])).abs();
        (0..self.x.len()).map(entry).fold(0.0, f64::max)
    }

    /// One step; false if none lowers the value.
    fn step(&mut self) -> Result<bool> {
        let close = self.projected_gradient().min(CLOSE);
        let bounds = &self.asked.bounds;
        let free: Vec<bool> = (0..self.x.len()).map(|i| !bounds.presses(i, self.x[i], self.g[i], close)).collect();
        let mut found = self.search(&self.direction(&free))?;
        if found.is_none() && !self.pairs.is_empty() {
            // The remembered curvature misleads: forget it.
            self.pairs.clear();
            found = self.search(&self.direction(&free))?;
        }
        let Some(found) = found else { return Ok(false) };
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let pair = Pair { s: difference(&found.x, &self.x), y: difference(&found.g, &self.g) };
        if dot(&pair.s, &pair.y) > f64::EPSILON * dot(&pair.y, &pair.y) {
            self.pairs.push_back(pair);
            if self.pairs.len() > self.asked.memory {
                self.pairs.pop_front();
            }
        }
        (self.x, self.g, self.value) = (found.x, found.g, found.value);
        Ok(true)
    }

    /// −H g by the two loops of Nocedal over the free variables, −g over the others.
    fn direction(&self, free: &[bool]) -> Vec<f64> {
        let masked = |a: &[f64]| a.iter().zip(free).map(|(a, free)| if *free { *a } else { 0.0 }).collect::<Vec<f64>>();
        let mut q = masked(&self.g);
        let size = dot(&q, &q).sqrt();
        let mut kept: Vec<(Vec<f64>, Vec<f64>, f64, f64)> = Vec::new();
        for pair in self.pairs.iter().rev() {
            let (s, y) = (masked(&pair.s), masked(&pair.y));
            let sy = dot(&s, &y);
            if sy > f64::EPSILON * dot(&y, &y) {
                let a = dot(&s, &q) / sy;
                add(&mut q, &y, -a);
                kept.push((s, y, sy, a));
            }
        }
        // Without curvature the first step has length one at most.
        let scale = kept.first().map_or(1.0 / size.max(1.0), |(_, y, sy, _)| sy / dot(y, y));
        q.iter_mut().for_each(|q| *q *= scale);
        for (s, y, sy, a) in kept.iter().rev() {
            let b = dot(y, &q) / sy;
            add(&mut q, s, a - b);
        }
        let slope = dot(&q, &masked(&self.g));
        let downhill = slope > 0.0 && slope.is_finite();
        let step = |i: usize| match free[i] {
            true if downhill => -q[i],
            // What lies on its bound cannot move and must not count as slope.
            false if self.asked.bounds.presses(i, self.x[i], self.g[i], 0.0) => 0.0,
            _ => -self.g[i],
        };
        (0..q.len()).map(step).collect()
    }

    /// A step along P(x + t d) that lowers the value enough and, if it meets no bound, leaves no steep slope.
    fn search(&mut self, d: &[f64]) -> Result<Option<Found>> {
        let (mut short, mut long, mut t) = (0.0, f64::INFINITY, 1.0);
        let mut best: Option<Found> = None;
        let slope = dot(&self.g, d);
        for _ in 0..TRIALS {
            let (x, bent) = self.at(d, t);
            if x == self.x {
                break;
            }
            let moved: f64 = (0..x.len()).map(|i| self.g[i] * (x[i] - self.x[i])).sum();
            let mut g = vec![0.0; x.len()];
            self.evaluations += 1;
            let value = (self.f)(&x, &mut g)?.filter(|v| v.is_finite() && g.iter().all(|g| g.is_finite()));
            let lowered = value.filter(|v| moved < 0.0 && *v <= self.value + DECREASE * moved && *v < self.value);
            match (lowered, value) {
                (Some(value), _) => {
                    let steep = !bent && dot(&g, d) < SLOPE * slope;
                    if best.as_ref().is_none_or(|best| value < best.value) {
                        best = Some(Found { x, g, value });
                    }
                    if !steep {
                        break;
                    }
                    short = t;
                    t = if long.is_finite() { 0.5 * (short + long) } else { 2.0 * t };
                }
                (None, value) => {
                    long = t;
                    // The lowest point of the parabola through what is known, kept away from both ends.
                    let drop = value.map_or(f64::NAN, |value| -0.5 * slope * t * t / (value - self.value - slope * t));
                    let fraction = if short == 0.0 && drop.is_finite() { drop / t } else { 0.5 };
                    t = short + fraction.clamp(0.1, 0.6) * (long - short);
                }
            }
            if self.evaluations >= self.asked.stop.evaluations && best.is_some() {
                break;
            }
        }
        Ok(best)
    }

    /// P(x + t d), and whether the box changed it.
    fn at(&self, d: &[f64], t: f64) -> (Vec<f64>, bool) {
        let mut bent = false;
        let entry = |i: usize| {
            let straight = self.x[i] + t * d[i];
            let x = self.asked.bounds.project(i, straight);
            bent |= x != straight && x != self.x[i];
            x
        };
        ((0..d.len()).map(entry).collect(), bent)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a ← a + scale b`.
fn add(a: &mut [f64], b: &[f64], scale: f64) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += scale * b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    const STOP: Stop = Stop { gradient: 1e-8, decrease: 0.0, evaluations: 2000 };

    fn rosenbrock(x: &[f64], g: &mut [f64]) -> Result<Option<f64>> {
        let mut value = 0.0;
        g.fill(0.0);
        for i in 0..x.len() - 1 {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            value += a * a + 100.0 * b * b;
            g[i] += -2.0 * a - 400.0 * x[i] * b;
            g[i + 1] += 200.0 * b;
        }
        Ok(Some(value))
    }

    #[test]
    fn rosenbrocks_valley_is_followed_to_its_end() {
        for n in [2, 10, 50] {
            let descent = Descent { bounds: Bounds::none(n), memory: 10, stop: STOP };
            let (x, report) = descent.minimize(&vec![-1.2; n], &Silent, rosenbrock).unwrap();
            assert_eq!(report.ended, Ended::Gradient, "{report:?}");
            // From −1.2 everywhere long valleys have a second minimum near x₁ = −1.
            assert!(x[1..].iter().all(|x| (x - 1.0).abs() < 1e-6), "{x:?}");
        }
    }

    #[test]
    fn a_valley_cut_by_a_bound_ends_on_it() {
        // On x₁ ≤ ½ the smallest value is at (½, ¼).
        let bounds = Bounds { lower: vec![-2.0; 2], upper: vec![0.5, 3.0] };
        let descent = Descent { bounds, memory: 5, stop: STOP };
        let (x, report) = descent.minimize(&[-1.0, 2.0], &Silent, rosenbrock).unwrap();
        assert!(report.converged() && x[0] == 0.5 && (x[1] - 0.25).abs() < 1e-8, "{x:?} {report:?}");
    }

    #[test]
    fn nonnegative_least_squares_meets_its_optimality_conditions() {
        // ½ xᵀ A x − bᵀx with A = tridiag(−1, 2, −1), x ≥ 0.
        let n = 300;
        let b: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
        let f = |x: &[f64], g: &mut [f64]| {
            for i in 0..n {
                let side = if i > 0 { x[i - 1] } else { 0.0 } + if i + 1 < n { x[i + 1] } else { 0.0 };
                g[i] = 2.0 * x[i] - side - b[i];
            }
            Ok(Some(0.5 * x.iter().zip(g.iter()).zip(&b).map(|((x, g), b)| x * (g - b)).sum::<f64>()))
        };
        // Below this rounding of the value hides the slope.
        let stop = Stop { gradient: 1e-6, ..STOP };
        let descent = Descent { bounds: Bounds::at_least(0.0, n), memory: 20, stop };
        let (x, report) = descent.minimize(&vec![1.0; n], &Silent, f).unwrap();
        let mut g = vec![0.0; n];
        f(&x, &mut g).unwrap();
        assert!(report.converged(), "{report:?}");
        assert!((0..n).all(|i| x[i] >= 0.0 && g[i] > -1e-6 && (x[i] * g[i]).abs() < 1e-4));
        assert!(x.contains(&0.0) && x.iter().any(|x| *x > 0.0));
    }

    #[test]
    fn where_the_function_ends_the_step_is_shortened() {
        // x − log x is not defined for x ≤ 0; the first step from 5 along the slope must stop before.
        let f = |x: &[f64], g: &mut [f64]| {
            g[0] = 40.0 * (1.0 - 1.0 / x[0]);
            Ok((x[0] > 0.0).then(|| 40.0 * (x[0] - x[0].ln())))
        };
        let descent = Descent { bounds: Bounds::none(1), memory: 5, stop: STOP };
        let (x, report) = descent.minimize(&[5.0], &Silent, f).unwrap();
        assert!(report.converged() && (x[0] - 1.0).abs() < 1e-8, "{x:?} {report:?}");
        assert!(descent.minimize(&[-1.0], &Silent, f).is_err());
        assert!(descent.minimize(&[1.0, 1.0], &Silent, f).is_err());
    }

    #[test]
    fn the_observer_and_the_budget_end_it_with_what_there_is() {
        struct Halt;
        impl Observer for Halt {
            fn stop(&self) -> bool {
                true
            }
        }
        let mut descent = Descent { bounds: Bounds::none(2), memory: 5, stop: STOP };
        let (x, report) = descent.minimize(&[-1.2, 1.0], &Halt, rosenbrock).unwrap();
        assert_eq!((x, report.ended, report.evaluations), (vec![-1.2, 1.0], Ended::Stopped, 1));
        descent.stop.evaluations = 7;
        let (_, report) = descent.minimize(&[-1.2, 1.0], &Silent, rosenbrock).unwrap();
        assert_eq!(report.ended, Ended::Evaluations);
        assert!(report.value < 24.2 && report.evaluations <= 7 + TRIALS);
    }
}

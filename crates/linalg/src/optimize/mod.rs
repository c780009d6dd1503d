//! Descent of a smooth function, with bounds on its variables or without: projected limited-memory BFGS.
//!
//! Variables at a bound that the gradient presses against stay there; the others take a quasi-Newton step, and the path is
//! bent back into the bounds:
//!
//! ```text
//! x(t) = P(x + t d),   d = −H g over the free variables,   d = −g over those close to a bound that it presses against
//! ```
//!
//! H starts from the known curvature of the function ([`Objective::curvature`]), or from a multiple of the identity,
//! and learns from the last steps. Where the curvature is known, a variable that the step would take across its bound is
//! set to the bound, and the step of the other variables is computed again, a few times. Otherwise a long step would be
//! bent at many bounds and no longer descend.
//!
//! The step t is found by bisection between a step that is too long (too little decrease, or f not defined there) and
//! one that is too short (the gradient is still steep), both measured as Wolfe did; where rounding hides the decrease, the
//! gradients show it. Sums run over chunks of a fixed size, so that the answer is the same for any number of threads if the
//! function is.
//!
//! D. P. Bertsekas. Projected Newton methods for optimization problems with simple constraints. SIAM Journal on Control
//! and Optimization 20, 1982. J. Nocedal. Updating quasi-Newton matrices with limited storage. Mathematics of
//! Computation 35, 1980. A. S. Lewis, M. L. Overton. Nonsmooth optimization via quasi-Newton methods. Mathematical
//! Programming 141, 2013 (the bisection). W. W. Hager, H. Zhang. A new conjugate gradient method with guaranteed descent
//! and an efficient line search. SIAM J. Optim. 16(1), 2005 (the decrease that rounding hides).

mod fixed;
mod momentum;
mod run;
mod sums;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::progress::{Observer, Stage};
use run::Run;

pub use fixed::{Fixed, Metric};
pub use momentum::{Emphasized, Momentum, Phase};

/// A function to be minimized. Closures of the form of [`Objective::value`] are objectives.
pub trait Objective {
    /// Writes the gradient at `x` and returns the value, or None where the function is not defined: the step is shortened
    /// then. It is only called inside the bounds.
    ///
    /// # Errors
    ///
    /// What ends the descent with nothing to show.
    fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<Option<f64>>;

    /// The function's own stopping test, such as a duality gap, at the last point evaluated.
    fn enough(&self) -> bool {
        false
    }

    /// How much rounding may change the value. Two values nearer to each other than this are compared by their gradients. A
    /// function whose tolerance is near its rounding returns it; otherwise a descent ends where rounding hides the decrease.
    fn rounding(&self, value: f64) -> f64 {
        let _ = value;
        0.0
    }

    /// How much of the way is done by that test, from 0 to 1; if it is not known, it is estimated from the gradient and the
    /// evaluations.
    fn done(&self) -> Option<f64> {
        None
    }

    /// A metric in which the function is less curved along some directions than along others, the same everywhere; for
    /// functions without bounds.
    fn metric(&self) -> Option<&dyn Metric> {
        None
    }

    /// What is known of the curvature at `x`, where the descent is now, over the free variables. `x` has been evaluated,
    /// but other points may have been since.
    ///
    /// # Errors
    ///
    /// What ends the descent with nothing to show.
    fn curvature(&mut self, x: &[f64], free: &[bool]) -> Result<Option<Box<dyn Preconditioner>>> {
        let _ = (x, free);
        Ok(None)
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> Result<Option<f64>>> Objective for F {
    fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<Option<f64>> {
        self(x, gradient)
    }
}

/// A positive definite matrix B that is near the second derivative.
pub trait Preconditioner {
    /// B v.
    fn product(&self, v: &[f64]) -> Vec<f64>;

    /// B⁻¹ v over the variables that are inside, B being that of those variables alone; v is zero over the others, and
    /// so is the answer.
    fn solve(&self, v: &[f64], inside: &[bool]) -> Vec<f64>;
}

/// Where the variables may be.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Bounds {
    /// Anywhere.
    #[default]
    None,
    /// All of them at this value or above.
    AtLeast(f64),
    /// In a box: a smallest and a largest value for every variable, infinite where there is none.
    Box {
        /// The smallest values.
        lower: Vec<f64>,
        /// The largest values.
        upper: Vec<f64>,
    },
}

impl Bounds {
    fn fit(&self, n: usize) -> bool {
        match self {
            Bounds::None | Bounds::AtLeast(_) => true,
            Bounds::Box { lower, upper } => lower.len() == n && upper.len() == n,
        }
    }

    /// The smallest and the largest value of variable `i`.
    fn of(&self, i: usize) -> (f64, f64) {
        match self {
            Bounds::None => (f64::NEG_INFINITY, f64::INFINITY),
            Bounds::AtLeast(lower) => (*lower, f64::INFINITY),
            Bounds::Box { lower, upper } => (lower[i], upper[i]),
        }
    }

    fn project(&self, i: usize, x: f64) -> f64 {
        let (lower, upper) = self.of(i);
        x.max(lower).min(upper)
    }

    /// Whether variable `i` is at most `close` away from a bound that a step along −g would cross.
    fn presses(&self, i: usize, x: f64, g: f64, close: f64) -> bool {
        let (lower, upper) = self.of(i);
        (g > 0.0 && x - lower <= close) || (g < 0.0 && upper - x <= close)
    }
}

/// When a descent is over, besides by the function's own test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The largest entry of the projected gradient is at most this.
    pub gradient: f64,
    /// Two steps in a row lowered the value by at most this part of it; a negative number asks for no such test.
    pub decrease: f64,
    /// So many evaluations have been made.
    pub evaluations: usize,
}

/// Why a descent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The function's own test was met.
    Enough,
    /// The projected gradient met its tolerance.
    Gradient,
    /// The value hardly changed any more.
    Decrease,
    /// No step lowers the value: rounding, or a wrong gradient.
    Stuck,
    /// The evaluations are spent.
    Evaluations,
    /// The observer stopped it.
    Stopped,
}

/// Where a descent goes by.
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a> {
    /// The number of steps taken.
    pub step: usize,
    /// How strong the emphasized part of the function is here; 1 if there is none.
    pub emphasis: f64,
    /// The value, where it is known.
    pub value: Option<f64>,
    /// The variables.
    pub x: &'a [f64],
}

/// Sees where a descent goes by.
pub type Watch<'a> = dyn FnMut(&Passing<'_>) + 'a;

/// How a descent went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The value at the end.
    pub value: f64,
    /// The largest entry of the projected gradient there: how far each variable could still go, in units of its gradient.
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
        matches!(self.ended, Ended::Enough | Ended::Gradient | Ended::Decrease)
    }
}

/// The parameters of a descent.
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// Where the variables may be.
    pub bounds: Bounds,
    /// How many pairs of steps and gradient changes are remembered.
    pub memory: usize,
    /// The first step is this many times the gradient, where no curvature is known; if not given, as many as make it one
    /// long at most.
    pub scale: Option<f64>,
    /// Whether no step is made longer than it was, and variables at their bounds count where the length of a step is learned
    /// from the last one: the steps are shorter then and meet fewer bounds. That pays where thousands of variables have them (a third fewer evaluations in
    /// maximum entropy unfolding), and not where a few have (twice as many in a score whose noise is at its floor).
    pub cautious: bool,
    /// When to end.
    pub stop: Stop,
    /// The stage whose progress is reported; none if the caller reports it itself.
    pub stage: Option<Stage>,
}

impl Descent {
    /// Minimizes a function from `start` (moved into the bounds). When the observer asks to stop, what has been reached
    /// is returned; the function is evaluated once at least.
    ///
    /// ```
    /// use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
    /// use eigenfold_linalg::progress::Silent;
    ///
    /// let stop = Stop { gradient: 1e-9, decrease: -1.0, evaluations: 100 };
    /// let descent = Descent { bounds: Bounds::AtLeast(0.0), memory: 5, scale: None, cautious: false, stop, stage: None };
    /// let mut bowl = |x: &[f64], gradient: &mut [f64]| {
    ///     (gradient[0], gradient[1]) = (x[0] - 3.0, x[1] + 1.0);
    ///     Ok(Some(0.5 * (gradient[0] * gradient[0] + gradient[1] * gradient[1])))
    /// };
    /// let (x, report) = descent.minimize(&[1.0, 1.0], &mut bowl, &Silent)?;
    /// assert!(report.converged() && (x[0] - 3.0).abs() < 1e-9 && x[1] == 0.0);
    /// # Ok::<(), eigenfold_linalg::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the function; [`Error::Numerical`] if it is not defined at the start; if the bounds do not fit the
    /// variables.
    pub fn minimize(
        &self,
        start: &[f64],
        objective: &mut dyn Objective,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, Report)> {
        self.minimize_watched(start, objective, observer, &mut |_| {})
    }

    /// As [`Descent::minimize`]; `watch` sees the start and every step.
    ///
    /// # Errors
    ///
    /// As [`Descent::minimize`].
    pub fn minimize_watched(
        &self,
        start: &[f64],
        objective: &mut dyn Objective,
        observer: &dyn Observer,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<f64>, Report)> {
        if !self.bounds.fit(start.len()) {
            let n = start.len();
            return Err(Error::parameter(
                "bounds",
                format!("the bounds do not fit {n} variables"),
                "give one pair for each",
            ));
        }
        let mut run = Run::new(self, start, objective, observer)?;
        let (mut iterations, mut small, mut reported, mut lowest) = (0, 0, 0.0, run.value);
        let first = run.projected_gradient();
        let ended = loop {
            let gradient = run.projected_gradient();
            watch(&Passing { step: iterations, emphasis: 1.0, value: Some(run.value), x: &run.x });
            reported = f64::max(reported, self.fraction_done(&run, first, gradient));
            if let Some(stage) = self.stage {
                observer.progress(stage, reported);
            }
            if run.enough {
                break Ended::Enough;
            }
            if gradient <= self.stop.gradient {
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
            if !run.step()? {
                let spent = run.evaluations >= self.stop.evaluations;
                break if observer.stop() {
                    Ended::Stopped
                } else if spent {
                    Ended::Evaluations
                } else {
                    Ended::Stuck
                };
            }
            iterations += 1;
            // Below the lowest value so far: where gradients decide, values may go up and down by their rounding.
            small = if lowest - run.value <= self.stop.decrease * lowest.abs() { small + 1 } else { 0 };
            lowest = lowest.min(run.value);
        };
        let (gradient, evaluations) = (run.projected_gradient(), run.evaluations);
        Ok((run.x, Report { value: run.value, gradient, iterations, evaluations, ended }))
    }

    /// How much of the way is done: by the function's own test, or by the digits of the gradient or the evaluations.
    fn fraction_done(&self, run: &Run<'_>, first: f64, gradient: f64) -> f64 {
        let digits = || {
            let by_gradient = (first / gradient).ln() / (first / self.stop.gradient).ln();
            let by_count = run.evaluations as f64 / self.stop.evaluations as f64;
            if by_gradient.is_finite() { by_gradient.max(by_count) } else { by_count }
        };
        run.objective.done().unwrap_or_else(digits).clamp(0.0, 1.0)
    }
}

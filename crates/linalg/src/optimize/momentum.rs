//! Descent with momentum: short steps along the gradient that add up, by a schedule.
//!
//! ```text
//! v ← m v − rate s ∘ gradient,    x ← x + v,    no point moving farther than the cap
//! ```
//!
//! For functions whose gradient is cheap and whose value is not, with more valleys than a line search would leave: B. T. Polyak.
//! Some methods of speeding up the convergence of iteration methods. USSR Computational Mathematics 4(5), 1964.

use super::{Ended, Passing, Report, Watch};
use crate::error::{Error, Result};
use crate::progress::{Observer, Stage};

/// Steps between two looks at the value.
const LOOK: usize = 25;

/// A function with a part that can be emphasized.
pub trait Emphasized {
    /// The value, with the gradient written, the one part being `emphasis` times as strong; a function without such a part
    /// ignores it.
    fn value(&mut self, x: &[f64], emphasis: f64, gradient: &mut [f64]) -> f64;

    /// Writes the gradient alone.
    fn gradient(&mut self, x: &[f64], emphasis: f64, gradient: &mut [f64]) {
        self.value(x, emphasis, gradient);
    }
}

/// Some steps of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// How many.
    pub steps: usize,
    /// The emphasis at its first and at its last step, changing geometrically.
    pub emphasis: (f64, f64),
    /// The part of the last step that is taken again.
    pub inertia: f64,
}

/// The parameters of a descent with momentum.
#[derive(Clone, Debug, PartialEq)]
pub struct Momentum {
    /// One after the other.
    pub phases: Vec<Phase>,
    /// A step is this many times the gradient, divided by the emphasis.
    pub rate: f64,
    /// The rate at the end, reached evenly over all steps.
    pub last_rate: f64,
    /// What the gradient of each point is multiplied by; 1 if empty.
    pub scales: Vec<f64>,
    /// The farthest that a point moves in a step.
    pub cap: f64,
    /// How many variables belong to a point.
    pub dims: usize,
    /// The last phase is over where 25 steps lowered the value by at most this part of it. Where they raised it by more,
    /// they are taken back, and the rate is halved, if it is to stay the same.
    pub decrease: f64,
}

impl Momentum {
    /// How many steps there are at most.
    pub fn steps(&self) -> usize {
        self.phases.iter().map(|phase| phase.steps).sum()
    }

    /// Descends from `start`; `watch` sees every step. When the observer asks to stop, it ends where it is.
    ///
    /// # Errors
    ///
    /// [`Error::Numerical`] if the gradient is not finite.
    pub fn minimize(
        &self,
        start: &[f64],
        function: &mut (impl Emphasized + ?Sized),
        observer: &dyn Observer,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<f64>, Report)> {
        let (mut x, mut v, mut gradient) = (start.to_vec(), vec![0.0; start.len()], vec![0.0; start.len()]);
        let (mut looked, mut step, total) = (None::<(usize, f64)>, 0, self.steps());
        let (mut kept, mut shorter, steady) = (start.to_vec(), 1.0, self.last_rate == self.rate);
        let mut ended = Ended::Evaluations;
        observer.steady(steady);
        'descent: for (at, phase) in self.phases.iter().enumerate() {
            let last = at + 1 == self.phases.len();
            for own in 0..phase.steps {
                if observer.stop() {
                    ended = Ended::Stopped;
                    break 'descent;
                }
                let part = own as f64 / (phase.steps.max(2) - 1) as f64;
                let emphasis = phase.emphasis.0 * (phase.emphasis.1 / phase.emphasis.0).powf(part);
                // A rate that falls to nothing needs no first look: its steps get short enough by themselves.
                let look = last && own.is_multiple_of(LOOK) && (steady || own > 0);
                let value = if look {
                    Some(function.value(&x, 1.0, &mut gradient))
                } else {
                    function.gradient(&x, emphasis, &mut gradient);
                    None
                };
                watch(&Passing { step, emphasis, value, x: &x });
                if let Some(value) = value {
                    let before = looked.map_or(f64::INFINITY, |(_, value)| value);
                    // A value that has risen tells of steps that are too long: back, and on with shorter ones.
                    let risen = value.is_nan() || value - before > self.decrease * before.abs();
                    if steady && risen && looked.is_some() {
                        x.copy_from_slice(&kept);
                        v.fill(0.0);
                        shorter *= 0.5;
                        continue;
                    }
                    looked = Some((step, value));
                    kept.copy_from_slice(&x);
                    if steady && before - value <= self.decrease * value.abs() {
                        ended = Ended::Decrease;
                        break 'descent;
                    }
                }
                let rate = shorter * (self.rate + (self.last_rate - self.rate) * step as f64 / total as f64);
                self.push(&mut x, &mut v, &gradient, phase.inertia, rate / emphasis)?;
                step += 1;
                observer.progress(Stage::Coordinates, step as f64 / total as f64);
            }
        }
        let mut value = function.value(&x, 1.0, &mut gradient);
        if steady && looked.is_some_and(|(_, before)| value.is_nan() || value > before) {
            x = kept;
            value = function.value(&x, 1.0, &mut gradient);
        }
        if let Some((at, before)) = looked.filter(|&(at, _)| at < step) {
            // The last steps, however many, count as a look's.
            let fall = (before - value) * LOOK as f64 / (step - at) as f64;
            if ended == Ended::Evaluations && fall.abs() <= self.decrease * value.abs() {
                ended = Ended::Decrease;
            }
        }
        if looked.is_none_or(|(at, _)| at < step) {
            watch(&Passing { step, emphasis: 1.0, value: Some(value), x: &x });
        }
        let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        let evaluations = step + 1;
        Ok((x, Report { value, gradient: largest, iterations: step, evaluations, ended }))
    }

    /// One step of every point.
    fn push(&self, x: &mut [f64], v: &mut [f64], gradient: &[f64], inertia: f64, rate: f64) -> Result<()> {
        let rows =
            x.chunks_exact_mut(self.dims).zip(v.chunks_exact_mut(self.dims)).zip(gradient.chunks_exact(self.dims));
        let mut sum = 0.0;
        for (i, ((x, v), gradient)) in rows.enumerate() {
            let rate = rate * self.scales.get(i).unwrap_or(&1.0);
            v.iter_mut().zip(gradient).for_each(|(v, gradient)| *v = inertia * *v - rate * gradient);
            let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            if length > self.cap {
                v.iter_mut().for_each(|v| *v *= self.cap / length);
            }
            x.iter_mut().zip(v.iter()).for_each(|(x, v)| *x += v);
            sum += length;
        }
        if sum.is_finite() { Ok(()) } else { Err(Error::numerical("the gradient of the objective is not finite", "")) }
    }
}

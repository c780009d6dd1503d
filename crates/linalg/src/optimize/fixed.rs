//! Descent along the gradient in a fixed metric: every direction is −B⁻¹ g with the same positive definite B.
//!
//! The step that was taken last is tried first, and a longer one now and then; it is halved until the value falls enough
//! (Armijo). M. Vladymyrov, M. Á. Carreira-Perpiñán. Partial-Hessian strategies for fast learning of nonlinear embeddings.
//! ICML 2012 (the spectral direction: B from the Laplacian of the attraction).

use super::momentum::Emphasized;
use super::sums::dot;
use super::{Ended, Passing, Report, Watch};
use crate::error::Result;
use crate::progress::{Observer, Stage};

/// The part of the predicted decrease that must come.
const ENOUGH: f64 = 1e-4;
/// A step size is doubled after this many steps.
const PATIENCE: usize = 8;
/// Shorter steps than this are none.
const LEAST: f64 = 1e-10;

/// What lengths and directions are measured by: a positive definite matrix B.
pub trait Metric: Send + Sync {
    /// Replaces v by B⁻¹ v.
    fn solve(&self, v: &mut [f64]);
}

/// The parameters of a descent in a fixed metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// Emphases to be descended one after the other, and how many steps each gets at most.
    pub path: Vec<(f64, usize)>,
    /// A descent is over where a step moves the variables by at most this part of their length.
    pub step: f64,
}

impl Fixed {
    /// Descends from `start` through all emphases; `watch` sees every step.
    ///
    /// # Errors
    ///
    /// None of its own.
    pub fn minimize(
        &self,
        start: &[f64],
        function: &mut (impl Emphasized + ?Sized),
        metric: &dyn Metric,
        observer: &dyn Observer,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<f64>, Report)> {
        let n = start.len();
        let (mut x, mut gradient, mut next, mut other) = (start.to_vec(), vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut iterations, mut evaluations, mut ended) = (0, 0, Ended::Evaluations);
        let total: usize = self.path.iter().map(|(_, steps)| steps).sum();
        let (mut value, mut t) = (f64::NAN, 1.0_f64);
        'path: for (at, &(emphasis, steps)) in self.path.iter().enumerate() {
            value = function.value(&x, emphasis, &mut gradient);
            evaluations += 1;
            watch(&Passing { step: iterations, emphasis, value: Some(value), x: &x });
            let mut taken = 0;
            ended = Ended::Evaluations;
            for _ in 0..steps {
                if observer.stop() {
                    ended = Ended::Stopped;
                    break 'path;
                }
                observer.progress(
                    Stage::Coordinates,
                    (iterations as f64 / total as f64).max(at as f64 / self.path.len() as f64),
                );
                let mut direction: Vec<f64> = gradient.iter().map(|g| -g / emphasis).collect();
                metric.solve(&mut direction);
                let along = dot(&gradient, &direction);
                let longest = direction.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
                let (low, high) = x.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
                if taken >= PATIENCE {
                    (t, taken) = (2.0 * t, 0);
                }
                // No wild step: at most half as far as the map is wide.
                t = t.min((0.5 * (high - low) + 1.0) / longest.max(f64::MIN_POSITIVE));
                let lower = loop {
                    next.iter_mut().zip(x.iter().zip(&direction)).for_each(|(next, (x, d))| *next = x + t * d);
                    let lower = function.value(&next, emphasis, &mut other);
                    evaluations += 1;
                    if lower <= value + ENOUGH * t * along {
                        break Some(lower);
                    }
                    (t, taken) = (0.5 * t, 0);
                    if t < LEAST {
                        break None;
                    }
                };
                let Some(lower) = lower else {
                    t = 1.0;
                    ended = Ended::Stuck;
                    break;
                };
                taken += 1;
                let moved = t * dot(&direction, &direction).sqrt();
                std::mem::swap(&mut x, &mut next);
                std::mem::swap(&mut gradient, &mut other);
                value = lower;
                iterations += 1;
                watch(&Passing { step: iterations, emphasis, value: Some(value), x: &x });
                if moved <= self.step * dot(&x, &x).sqrt() {
                    ended = Ended::Decrease;
                    break;
                }
            }
        }
        let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        Ok((x, Report { value, gradient: largest, iterations, evaluations, ended }))
    }
}

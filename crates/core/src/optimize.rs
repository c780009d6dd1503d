//! Descent over variables that are not negative, by gradients.
//!
//! A quasi-Newton step on the variables that are free (not at zero with a slope that would push them below it), projected
//! on what is allowed, with a search for enough descent along the projected path:
//!
//! ```text
//! x(t) = max(x + t d, 0),    d = −B⁻¹ slope on the free variables, 0 on the others
//! ```
//!
//! D. P. Bertsekas. Projected Newton methods for optimization problems with simple constraints. SIAM J. Control Optim.
//! 20(2), 1982; B⁻¹ by limited memory: J. Nocedal. Updating quasi-Newton matrices with limited storage. Math. Comp. 35,
//! 1980.

use crate::error::{Error, Result};
use std::collections::VecDeque;

/// The part of the predicted descent that a step must reach.
const ENOUGH: f64 = 1e-4;
/// Steps shorter than this part of the full one are not tried.
const SHORTEST: f64 = 1e-12;

/// What is asked of [`minimize`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Steps that are remembered.
    pub(crate) memory: usize,
    /// How often the objective may be evaluated.
    pub(crate) max_evaluations: usize,
}

/// From `x` down to where the objective says that it is enough, no step descends any more, or the evaluations are used
/// up. The objective writes its slope and answers its value and whether that is enough; nothing where it is not defined.
pub(crate) fn minimize(
    ask: &Ask,
    mut x: Vec<f64>,
    mut objective: impl FnMut(&[f64], &mut [f64]) -> Result<Option<(f64, bool)>>,
) -> Result<Vec<f64>> {
    let mut slope = vec![0.0; x.len()];
    let mut evaluations = 1;
    let undefined = || Error::Numerical("the objective is not defined where the descent starts".into());
    let (mut value, mut enough) = objective(&x, &mut slope)?.ok_or_else(undefined)?;
    let mut memory = Memory { pairs: VecDeque::new(), most: ask.memory };
    let mut next_slope = vec![0.0; x.len()];
    while !enough && evaluations < ask.max_evaluations {
        let free: Vec<bool> = x.iter().zip(&slope).map(|(&x, &g)| x > 0.0 || g < 0.0).collect();
        let mut direction = memory.direction(&slope, &free);
        if dot(&direction, &slope) >= 0.0 {
            memory.pairs.clear();
            direction = memory.direction(&slope, &free);
        }
        let mut t = 1.0;
        let found = loop {
            let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| (x + t * d).max(0.0)).collect();
            let predicted: f64 = moved.iter().zip(&x).zip(&slope).map(|((m, x), g)| (m - x) * g).sum();
            if t < SHORTEST || evaluations >= ask.max_evaluations || predicted >= 0.0 {
                break None;
            }
            evaluations += 1;
            match objective(&moved, &mut next_slope)? {
                // Rounding hides descent below this; a step that does not climb is then as good as any.
                Some((next, done)) if next <= value + ENOUGH * predicted + 1e-15 * value.abs() => {
                    break Some((moved, next, done));
                }
                Some((next, _)) => {
                    // The minimum of the parabola through the value, the slope and the new value.
                    let parabola = -0.5 * predicted / (next - value - predicted);
                    t *= parabola.clamp(0.1, 0.5);
                }
                None => t *= 0.25,
            }
        };
        let Some((moved, next, done)) = found else {
            if memory.pairs.is_empty() {
                break;
            }
            // What is remembered may be all wrong here; the plain slope gets one try.
            memory.pairs.clear();
            continue;
        };
        let step: Vec<f64> = moved.iter().zip(&x).map(|(m, x)| m - x).collect();
        let turn: Vec<f64> = next_slope.iter().zip(&slope).map(|(next, g)| next - g).collect();
        memory.learn(step, turn);
        (x, value, enough) = (moved, next, done);
        slope.copy_from_slice(&next_slope);
    }
    Ok(x)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The last steps and how the slope turned over them.
struct Memory {
    pairs: VecDeque<(Vec<f64>, Vec<f64>)>,
    most: usize,
}

impl Memory {
    fn learn(&mut self, step: Vec<f64>, turn: Vec<f64>) {
        let curvature = dot(&step, &turn);
        if curvature > 1e-12 * dot(&turn, &turn).sqrt() * dot(&step, &step).sqrt() {
            self.pairs.push_back((step, turn));
            if self.pairs.len() > self.most {
                self.pairs.pop_front();
            }
        }
    }

    /// −B⁻¹ slope over the free variables: the two loops of limited memory, seeing the free parts of steps and turns.
    fn direction(&self, slope: &[f64], free: &[bool]) -> Vec<f64> {
        let masked = |v: &[f64]| -> Vec<f64> { v.iter().zip(free).map(|(v, &f)| if f { *v } else { 0.0 }).collect() };
        let mut d: Vec<f64> = masked(slope).iter().map(|g| -g).collect();
        let inside = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(free).map(|((x, y), &f)| if f { x * y } else { 0.0 }).sum()
        };
        let mut known = Vec::with_capacity(self.pairs.len());
        for (step, turn) in self.pairs.iter().rev() {
            let curvature = inside(step, turn);
            if curvature <= 0.0 {
                known.push(None);
                continue;
            }
            let along = inside(step, &d) / curvature;
            add(&mut d, turn, -along, free);
            known.push(Some((curvature, along)));
        }
        if let Some((step, turn)) = self.pairs.back() {
            let (curvature, square) = (inside(step, turn), inside(turn, turn));
            if curvature > 0.0 && square > 0.0 {
                d.iter_mut().for_each(|d| *d *= curvature / square);
            }
        }
        for ((step, turn), known) in self.pairs.iter().zip(known.iter().rev()) {
            if let Some((curvature, along)) = known {
                let back = inside(turn, &d) / curvature;
                add(&mut d, step, along - back, free);
            }
        }
        d
    }
}

fn add(d: &mut [f64], v: &[f64], scale: f64, free: &[bool]) {
    for ((d, v), &free) in d.iter_mut().zip(v).zip(free) {
        if free {
            *d += scale * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ½ Σ c (x − a)² with curvatures from 1 to 100: the minimum is max(a, 0).
    #[test]
    fn a_bowl_ends_at_its_bottom_or_at_the_wall() {
        let a: Vec<f64> = (0..50).map(|i| (i as f64 * 0.7).sin()).collect();
        let c: Vec<f64> = (0..50).map(|i| 1.0 + 2.0 * i as f64).collect();
        let ask = Ask { memory: 10, max_evaluations: 200 };
        let x = minimize(&ask, vec![1.0; 50], |x, slope| {
            let mut value = 0.0;
            for i in 0..50 {
                slope[i] = c[i] * (x[i] - a[i]);
                value += 0.5 * c[i] * (x[i] - a[i]).powi(2);
            }
            let largest = (0..50).map(|i| if x[i] > 0.0 { slope[i].abs() } else { -slope[i] }).fold(0.0, f64::max);
            Ok(Some((value, largest < 1e-10)))
        })
        .unwrap();
        for (x, a) in x.iter().zip(&a) {
            assert!((x - a.max(0.0)).abs() < 1e-9, "{x} {a}");
        }
    }

    /// x − log x, not defined at zero and below, from far away on the flat side.
    #[test]
    fn where_the_objective_is_not_defined_the_step_is_shortened() {
        let ask = Ask { memory: 5, max_evaluations: 100 };
        let x = minimize(&ask, vec![50.0], |x, slope| {
            slope[0] = 1.0 - 1.0 / x[0];
            Ok((x[0] > 0.0).then(|| (x[0] - x[0].ln(), slope[0].abs() < 1e-9)))
        })
        .unwrap();
        assert!((x[0] - 1.0).abs() < 1e-8, "{x:?}");
    }
}

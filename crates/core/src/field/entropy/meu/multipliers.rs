//! Descent over many multipliers, bounded below or not, by gradients and what is known of the curvature.
//!
//! A quasi-Newton step on the variables that are free (not at their bound with a slope that would push them below it),
//! projected on what is allowed, with a search for enough descent along the projected path:
//!
//! ```text
//! x(t) = max(x + t d, lower),    d = −B⁻¹ slope on the free variables, 0 on the others
//! ```
//!
//! B starts from the curvature that the objective knows ([`Curvature`]), or a multiple of the identity, and learns from
//! the last steps. A variable that the step would take across its bound is taken to it, and the others' step is found
//! again with that given, a few times: else a long step is bent at so many bounds that it no longer descends.
//!
//! D. P. Bertsekas. Projected Newton methods for optimization problems with simple constraints. SIAM J. Control Optim.
//! 20(2), 1982. J. Nocedal. Updating quasi-Newton matrices with limited storage. Mathematics of Computation 35, 1980.
//! The descent that rounding hides: W. W. Hager, H. Zhang. A new conjugate gradient method with guaranteed descent and an
//! efficient line search. SIAM J. Optim. 16(1), 2005.

use crate::error::{Error, Result};
use crate::field::entropy::meu::curvature::Curvature;
use rayon::prelude::*;
use std::collections::VecDeque;

/// The part of the predicted descent that a step must reach.
const ENOUGH: f64 = 1e-4;
/// Values nearer to each other than this part of them are told apart by their slopes.
const ROUNDING: f64 = 1e-11;
/// Variables to a piece of parallel work.
const PIECE: usize = 16_384;
/// Steps shorter than this part of the full one are not tried.
const SHORTEST: f64 = 1e-12;
/// How often a step is found again with the variables at their bounds that it would have taken across.
const PASSES: usize = 3;

/// What is asked of [`minimize`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Steps that are remembered.
    pub(crate) memory: usize,
    /// How often the objective may be evaluated.
    pub(crate) max_evaluations: usize,
    /// The smallest value of every variable.
    pub(crate) lower: f64,
}

/// A convex function to be minimized.
pub(crate) trait Objective {
    /// The value and whether it is low enough to stop, with the slope written; nothing where it is not defined.
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<Option<(f64, bool)>>;

    /// What is known of the curvature at the last point, over the free variables.
    fn curvature(&self, x: &[f64], free: &[bool]) -> Option<Curvature>;
}

/// From `x` down to where the objective says that it is enough, no step descends any more, or the evaluations are used
/// up.
pub(crate) fn minimize(ask: &Ask, mut x: Vec<f64>, objective: &mut impl Objective) -> Result<Vec<f64>> {
    let mut slope = vec![0.0; x.len()];
    let mut evaluations = 1;
    let undefined = || Error::Numerical("the objective is not defined where the descent starts".into());
    let (mut value, mut enough) = objective.value(&x, &mut slope)?.ok_or_else(undefined)?;
    let mut memory = Memory { pairs: VecDeque::new(), most: ask.memory };
    let mut next_slope = vec![0.0; x.len()];
    while !enough && evaluations < ask.max_evaluations {
        let free: Vec<bool> = x.iter().zip(&slope).map(|(&x, &g)| x > ask.lower || g < 0.0).collect();
        let curvature = objective.curvature(&x, &free);
        let mut direction = memory.direction(&x, &slope, &free, curvature.as_ref(), ask.lower);
        if dot(&direction, &slope) >= 0.0 {
            memory.pairs.clear();
            direction = slope.iter().zip(&free).map(|(g, &free)| if free { -g } else { 0.0 }).collect();
        }
        let mut t = 1.0;
        let found = loop {
            let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| (x + t * d).max(ask.lower)).collect();
            let step: Vec<f64> = moved.iter().zip(&x).map(|(m, x)| m - x).collect();
            let predicted = dot(&step, &slope);
            if t < SHORTEST || evaluations >= ask.max_evaluations || predicted >= 0.0 {
                break None;
            }
            evaluations += 1;
            match objective.value(&moved, &mut next_slope)? {
                Some((next, done)) => {
                    // A convex function is nowhere above where it was by more than its slope there allows.
                    let level = (next - value).abs() <= ROUNDING * (value.abs() + x.len() as f64);
                    let sloped = dot(&step, &next_slope) <= (2.0 * ENOUGH - 1.0) * predicted;
                    if done || next <= value + ENOUGH * predicted || (level && sloped) {
                        break Some((moved, step, next, done));
                    }
                    // The minimum of the parabola through the value, the slope and the new value.
                    let parabola = -0.5 * predicted / (next - value - predicted);
                    t *= parabola.clamp(0.1, 0.5);
                }
                None => t *= 0.25,
            }
        };
        let Some((moved, step, next, done)) = found else {
            if memory.pairs.is_empty() {
                break;
            }
            // What is remembered may be all wrong here; a step without it gets one try.
            memory.pairs.clear();
            continue;
        };
        let turn: Vec<f64> = next_slope.iter().zip(&slope).map(|(next, g)| next - g).collect();
        memory.learn(step, turn);
        (x, value, enough) = (moved, next, done);
        slope.copy_from_slice(&next_slope);
    }
    Ok(x)
}

/// The last steps s and how the slope turned over them, y.
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

    /// The step over the free variables, those that it would take across their bound taken to it.
    fn direction(
        &self,
        x: &[f64],
        slope: &[f64],
        free: &[bool],
        curvature: Option<&Curvature>,
        lower: f64,
    ) -> Vec<f64> {
        let (mut inside, mut fixed) = (free.to_vec(), vec![0.0; x.len()]);
        for pass in 1.. {
            let pull = curvature.filter(|_| pass > 1).map(|curvature| curvature.product(&fixed));
            let slope_here = |e: usize| slope[e] + pull.as_ref().map_or(0.0, |pull| pull[e]);
            let rest = (0..x.len()).map(|e| if inside[e] { slope_here(e) } else { 0.0 }).collect();
            let down = self.solve(rest, &inside, curvature);
            let step = |e: usize| if inside[e] { -down[e] } else { fixed[e] };
            let direction: Vec<f64> = (0..x.len()).map(step).collect();
            let crosses = |e: usize| inside[e] && x[e] + direction[e] < lower;
            let across: Vec<usize> = (0..x.len()).filter(|&e| crosses(e)).collect();
            if across.is_empty() || pass == PASSES || curvature.is_none() {
                return direction;
            }
            for e in across {
                (inside[e], fixed[e]) = (false, lower - x[e]);
            }
        }
        fixed
    }

    /// B⁻¹ q over the variables inside, by Nocedal's two loops.
    fn solve(&self, mut q: Vec<f64>, inside: &[bool], curvature: Option<&Curvature>) -> Vec<f64> {
        let over = |a: &[f64], b: &[f64]| sum_of(a.len(), |e| if inside[e] { a[e] * b[e] } else { 0.0 });
        let mut learned = Vec::new();
        for (step, turn) in self.pairs.iter().rev() {
            let curved = over(step, turn);
            if curved > 1e-10 * over(turn, turn) {
                let part = over(step, &q) / curved;
                add(&mut q, -part, turn, inside);
                learned.push((step, turn, curved, part));
            }
        }
        let mut found = match (curvature, self.pairs.back()) {
            (Some(curvature), _) => curvature.solve(&q, inside),
            (None, Some((step, turn))) => {
                let scale = dot(step, turn) / dot(turn, turn);
                q.iter().map(|q| scale * q).collect()
            }
            (None, None) => q,
        };
        for (step, turn, curved, part) in learned.into_iter().rev() {
            let back = over(turn, &found) / curved;
            add(&mut found, part - back, step, inside);
        }
        found
    }
}

/// `to ← to + scale · x` over the variables inside.
fn add(to: &mut [f64], scale: f64, x: &[f64], inside: &[bool]) {
    to.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE)).zip(inside.par_chunks(PIECE)).for_each(|((to, x), inside)| {
        for ((to, x), &inside) in to.iter_mut().zip(x).zip(inside) {
            *to += if inside { scale * x } else { 0.0 };
        }
    });
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum_of(a.len(), |at| a[at] * b[at])
}

/// Σ term(at), in eight sums side by side within pieces of a fixed size, whatever the number of threads.
fn sum_of(count: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let piece = |piece: usize| {
        let (start, end) = (piece * PIECE, ((piece + 1) * PIECE).min(count));
        let mut sums = [0.0; 8];
        let whole = start + (end - start) / 8 * 8;
        for at in (start..whole).step_by(8) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum += term(at + lane);
            }
        }
        sums.iter().sum::<f64>() + (whole..end).map(&term).sum::<f64>()
    };
    let pieces: Vec<f64> = (0..count.div_ceil(PIECE)).into_par_iter().map(piece).collect();
    pieces.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An objective that knows its slope alone.
    struct Plain<F>(F);

    impl<F: FnMut(&[f64], &mut [f64]) -> Option<(f64, bool)>> Objective for Plain<F> {
        fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<Option<(f64, bool)>> {
            Ok(self.0(x, slope))
        }

        fn curvature(&self, _x: &[f64], _free: &[bool]) -> Option<Curvature> {
            None
        }
    }

    /// ½ Σ c (x − a)² with curvatures from 1 to 100: the minimum is max(a, 0).
    #[test]
    fn a_bowl_ends_at_its_bottom_or_at_the_wall() {
        let a: Vec<f64> = (0..50).map(|i| (i as f64 * 0.7).sin()).collect();
        let c: Vec<f64> = (0..50).map(|i| 1.0 + 2.0 * i as f64).collect();
        for lower in [0.0, -0.5, f64::NEG_INFINITY] {
            let ask = Ask { memory: 10, max_evaluations: 200, lower };
            let mut bowl = Plain(|x: &[f64], slope: &mut [f64]| {
                let mut value = 0.0;
                for i in 0..50 {
                    slope[i] = c[i] * (x[i] - a[i]);
                    value += 0.5 * c[i] * (x[i] - a[i]).powi(2);
                }
                let off = |i: usize| if x[i] > lower { slope[i].abs() } else { -slope[i] };
                Some((value, (0..50).map(off).fold(0.0, f64::max) < 1e-10))
            });
            let x = minimize(&ask, vec![1.0; 50], &mut bowl).unwrap();
            for (x, a) in x.iter().zip(&a) {
                assert!((x - a.max(lower)).abs() < 1e-9, "{x} {a}");
            }
        }
    }

    /// x − log x, not defined at zero and below, from far away on the flat side.
    #[test]
    fn where_the_objective_is_not_defined_the_step_is_shortened() {
        let ask = Ask { memory: 5, max_evaluations: 100, lower: 0.0 };
        let mut objective = Plain(|x: &[f64], slope: &mut [f64]| {
            slope[0] = 1.0 - 1.0 / x[0];
            (x[0] > 0.0).then(|| (x[0] - x[0].ln(), slope[0].abs() < 1e-9))
        });
        let x = minimize(&ask, vec![50.0], &mut objective).unwrap();
        assert!((x[0] - 1.0).abs() < 1e-8, "{x:?}");
    }
}

//! Descent over many multipliers that are not negative, by gradients.
//!
//! A quasi-Newton step on the variables that are free (not at zero with a slope that would push them below it), projected
//! on what is allowed, with a search for enough descent along the projected path:
//!
//! ```text
//! x(t) = max(x + t d, 0),    d = −B⁻¹ slope on the free variables, 0 on the others
//! ```
//!
//! D. P. Bertsekas. Projected Newton methods for optimization problems with simple constraints. SIAM J. Control Optim.
//! 20(2), 1982; B from the last few steps, restricted to the free variables as in R. Byrd, P. Lu, J. Nocedal, C. Zhu. A
//! limited memory algorithm for bound constrained optimization. SIAM J. Sci. Comput. 16(5), 1995.

use crate::error::{Error, Result};
use crate::linalg::dense::{inner, product, solve_general};
use faer::Mat;
use rayon::prelude::*;
use std::collections::VecDeque;

/// The part of the predicted descent that a step must reach.
const ENOUGH: f64 = 1e-4;
/// Variables to a piece of parallel work.
const PIECE: usize = 16_384;
/// Steps shorter than this part of the full one are not tried.
const SHORTEST: f64 = 1e-12;

/// What is asked of [`minimize`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// Steps that are remembered.
    pub(super) memory: usize,
    /// How often the objective may be evaluated.
    pub(super) max_evaluations: usize,
}

/// From `x` down to where the objective says that it is enough, no step descends any more, or the evaluations are used
/// up. The objective writes its slope and answers its value and whether that is enough; nothing where it is not defined.
pub(super) fn minimize(
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

/// The last steps S and how the slope turned over them, Y.
///
/// ```text
/// B = θI − W M Wᵀ,   W = [Y, θS],   M⁻¹ = [−D, Lᵀ; L, θSᵀS],   D + L the diagonal and what is below it of SᵀY
/// ```
///
/// R. Byrd, J. Nocedal, R. Schnabel. Representations of quasi-Newton matrices and their use in limited memory methods.
/// Math. Programming 63, 1994.
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

    /// −B⁻¹ slope over the free variables, B restricted to them:
    ///
    /// ```text
    /// d = −g/θ − W (M⁻¹ − WᵀW/θ)⁻¹ Wᵀg / θ²        rows of W and g of the free variables only
    /// ```
    fn direction(&self, slope: &[f64], free: &[bool]) -> Vec<f64> {
        let mut d: Vec<f64> = slope.iter().zip(free).map(|(g, &free)| if free { -g } else { 0.0 }).collect();
        let Some((step, turn)) = self.pairs.back() else { return d };
        let theta = dot(turn, turn) / dot(step, turn);
        let k = self.pairs.len();
        let column = |c: usize| if c < k { &self.pairs[c].1 } else { &self.pairs[c - k].0 };
        let scale = |c: usize| if c < k { 1.0 } else { theta };
        let full = Mat::from_fn(slope.len(), 2 * k, |i, c| scale(c) * column(c)[i]);
        let masked = Mat::from_fn(slope.len(), 2 * k, |i, c| if free[i] { full[(i, c)] } else { 0.0 });
        // θSᵀY in the lower left, θ²SᵀS in the lower right.
        let products = inner(full.as_ref(), full.as_ref());
        let inside = inner(masked.as_ref(), masked.as_ref());
        let middle = Mat::from_fn(2 * k, 2 * k, |r, c| {
            let known = match (r < k, c < k) {
                (true, true) => {
                    if r == c {
                        -products[(k + r, c)] / theta
                    } else {
                        0.0
                    }
                }
                (false, true) => {
                    if r - k > c {
                        products[(r, c)] / theta
                    } else {
                        0.0
                    }
                }
                (true, false) => {
                    if c - k > r {
                        products[(c, r)] / theta
                    } else {
                        0.0
                    }
                }
                (false, false) => products[(r, c)] / theta,
            };
            known - inside[(r, c)] / theta
        });
        let g = Mat::from_fn(slope.len(), 1, |i, _| d[i]);
        let along = solve_general(middle, inner(masked.as_ref(), g.as_ref()));
        let back = product(masked.as_ref(), along.as_ref());
        for (i, d) in d.iter_mut().enumerate() {
            *d = *d / theta + back[(i, 0)] / (theta * theta);
        }
        d
    }
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

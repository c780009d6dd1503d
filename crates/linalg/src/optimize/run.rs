//! A descent on its way: where it is, what it remembers, the next direction and how far to go.

use crate::error::{Error, Result};
use crate::optimize::sums::{add_inside, difference, dot, dot_inside, sum_of};
use crate::optimize::{Descent, Objective, Preconditioner};
use crate::progress::Observer;
use std::collections::VecDeque;

/// The part of the predicted decrease that a step must give.
const DECREASE: f64 = 1e-4;
/// The part of the directional derivative that may be left after a step.
const STEEPNESS: f64 = 0.9;
/// Trials of one line search.
pub(super) const TRIALS: usize = 40;
/// A variable is close to its bound if nearer than this.
const CLOSE: f64 = 1e-6;
/// The part of a step that is tried next where the function is not defined, or the step met what is too long.
const SHORTER: (f64, f64) = (0.25, 0.5);
/// A step is remembered if the gradient turned along it by more than this, as a cosine.
const TURNED: f64 = 1e-12;
/// A cautious descent leaves out what is left of a step among the free variables if it is shorter than this, over the turn
/// of the gradient.
const LONG: f64 = 1e-10;
/// How often a step is found again with the variables at their bounds that it would have taken across.
const PASSES: usize = 3;

/// A step s and the change y of the gradient along it.
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
}

/// Where a descent is.
pub(super) struct Run<'a> {
    options: &'a Descent,
    pub(super) objective: &'a mut dyn Objective,
    observer: &'a dyn Observer,
    pub(super) x: Vec<f64>,
    g: Vec<f64>,
    pub(super) value: f64,
    /// Whether the function's own test is met here.
    pub(super) enough: bool,
    pub(super) evaluations: usize,
    pairs: VecDeque<Pair>,
}

/// A point that a line search tried.
struct Trial {
    x: Vec<f64>,
    g: Vec<f64>,
    value: f64,
    enough: bool,
}

impl<'a> Run<'a> {
    /// At the start, moved into the bounds.
    pub(super) fn new(
        options: &'a Descent,
        start: &[f64],
        objective: &'a mut dyn Objective,
        observer: &'a dyn Observer,
    ) -> Result<Run<'a>> {
        let x: Vec<f64> = start.iter().enumerate().map(|(i, &x)| options.bounds.project(i, x)).collect();
        let mut g = vec![0.0; x.len()];
        let undefined = || Error::numerical("the function has no value at the start", "start elsewhere");
        let value = objective.value(&x, &mut g)?.filter(|value| value.is_finite()).ok_or_else(undefined)?;
        let enough = objective.enough();
        Ok(Run { options, objective, observer, x, g, value, enough, evaluations: 1, pairs: VecDeque::new() })
    }

    /// max |x − P(x − g)|.
    pub(super) fn projected_gradient(&self) -> f64 {
        let bounds = &self.options.bounds;
        let entry = |i: usize| (self.x[i] - bounds.project(i, self.x[i] - self.g[i])).abs();
        (0..self.x.len()).map(entry).fold(0.0, f64::max)
    }

    /// One step; false if none lowers the value, or the observer or the evaluations ended the search for one.
    pub(super) fn step(&mut self) -> Result<bool> {
        let close = if self.options.cautious { 0.0 } else { self.projected_gradient().min(CLOSE) };
        let bounds = &self.options.bounds;
        let free: Vec<bool> = (0..self.x.len()).map(|i| !bounds.presses(i, self.x[i], self.g[i], close)).collect();
        let curvature = self.objective.curvature(&self.x, &free)?;
        let known = curvature.is_some();
        let mut found = self.search(&self.direction(&free, curvature.as_deref()), known)?;
        if found.is_none() && !self.pairs.is_empty() && !self.interrupted() {
            // The remembered curvature misleads: forget it.
            self.pairs.clear();
            found = self.search(&self.direction(&free, curvature.as_deref()), known)?;
        }
        let Some(found) = found else { return Ok(false) };
        let pair = Pair { s: difference(&found.x, &self.x), y: difference(&found.g, &self.g) };
        if dot(&pair.s, &pair.y) > TURNED * (dot(&pair.s, &pair.s) * dot(&pair.y, &pair.y)).sqrt() {
            self.pairs.push_back(pair);
            if self.pairs.len() > self.options.memory {
                self.pairs.pop_front();
            }
        }
        (self.x, self.g, self.value, self.enough) = (found.x, found.g, found.value, found.enough);
        Ok(true)
    }

    fn interrupted(&self) -> bool {
        self.evaluations >= self.options.stop.evaluations || self.observer.stop()
    }

    /// The quasi-Newton step over the free variables, −g over the others; where the curvature is known, variables that
    /// it would take across their bounds are taken to them.
    fn direction(&self, free: &[bool], curvature: Option<&dyn Preconditioner>) -> Vec<f64> {
        let (n, bounds) = (self.x.len(), &self.options.bounds);
        let aside = |i: usize| match free[i] {
            true => 0.0,
            // What lies on its bound cannot move and must not count as gradient.
            false if bounds.presses(i, self.x[i], self.g[i], 0.0) => 0.0,
            false => -self.g[i],
        };
        let (mut inside, mut fixed) = (free.to_vec(), (0..n).map(aside).collect::<Vec<f64>>());
        for pass in 1.. {
            let change = curvature.filter(|_| pass > 1).map(|curvature| curvature.product(&fixed));
            let gradient = |i: usize| self.g[i] + change.as_ref().map_or(0.0, |change| change[i]);
            let rest = (0..n).map(|i| if inside[i] { gradient(i) } else { 0.0 }).collect();
            let down = self.solve(rest, &inside, curvature);
            let direction: Vec<f64> = (0..n).map(|i| if inside[i] { -down[i] } else { fixed[i] }).collect();
            let crosses =
                |&i: &usize| inside[i] && bounds.project(i, self.x[i] + direction[i]) != self.x[i] + direction[i];
            let across: Vec<usize> = match curvature {
                Some(_) if pass < PASSES => (0..n).filter(crosses).collect(),
                _ => Vec::new(),
            };
            if across.is_empty() {
                let derivative = dot(&direction, &self.g);
                let downhill = derivative < 0.0 && derivative.is_finite();
                return if downhill {
                    direction
                } else {
                    (0..n).map(|i| if free[i] { -self.g[i] } else { fixed[i] }).collect()
                };
            }
            for i in across {
                (inside[i], fixed[i]) = (false, bounds.project(i, self.x[i] + direction[i]) - self.x[i]);
            }
        }
        fixed
    }

    /// H q over the variables inside, by Nocedal's two loops; q is zero over the others.
    fn solve(&self, mut q: Vec<f64>, inside: &[bool], curvature: Option<&dyn Preconditioner>) -> Vec<f64> {
        let over = |a: &[f64], b: &[f64]| dot_inside(a, b, inside);
        let size = dot(&q, &q).sqrt();
        let mut kept = Vec::new();
        for Pair { s, y } in self.pairs.iter().rev() {
            let (turn, square) = (over(s, y), over(y, y));
            let long = !self.options.cautious || turn > LONG * square;
            if long && turn > TURNED * (over(s, s) * square).sqrt() {
                let part = over(s, &q) / turn;
                add_inside(&mut q, -part, y, inside);
                kept.push((s, y, turn, square, part));
            }
        }
        if let Some(curvature) = curvature {
            q = curvature.solve(&q, inside);
        } else if let Some(metric) = self.objective.metric() {
            let scale = kept.first().map_or(1.0, |(_, y, turn, _, _)| {
                let mut measured = y.to_vec();
                metric.solve(&mut measured);
                turn / dot(y, &measured)
            });
            metric.solve(&mut q);
            q.iter_mut().for_each(|q| *q *= scale);
        } else {
            // Without curvature the first step has length one at most.
            let first = || self.options.scale.unwrap_or(1.0 / size.max(1.0));
            let scale = match (kept.first(), self.pairs.back()) {
                (_, Some(Pair { s, y })) if self.options.cautious => dot(s, y) / dot(y, y),
                (Some((_, _, turn, square, _)), _) => turn / square,
                (None, _) => first(),
            };
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for (s, y, turn, _, part) in kept.into_iter().rev() {
            let back = over(y, &q) / turn;
            add_inside(&mut q, part - back, s, inside);
        }
        q
    }

    /// A step along P(x + t d) that lowers the value enough and, if it meets no bound, leaves no steep gradient. One by known
    /// curvature, or of a cautious descent, is long enough as it is.
    fn search(&mut self, d: &[f64], known: bool) -> Result<Option<Trial>> {
        let (mut short, mut long, mut t) = (0.0, f64::INFINITY, 1.0);
        let mut best: Option<Trial> = None;
        let derivative = dot(&self.g, d);
        for _ in 0..TRIALS {
            let (x, bent) = self.at(d, t);
            if x == self.x || self.interrupted() {
                break;
            }
            let predicted = sum_of(x.len(), |i| self.g[i] * (x[i] - self.x[i]));
            let mut g = vec![0.0; x.len()];
            self.evaluations += 1;
            let value = self.objective.value(&x, &mut g)?;
            let value = value.filter(|value| value.is_finite() && g.iter().all(|g| g.is_finite()));
            let enough = value.is_some() && self.objective.enough();
            let lowered = |value: f64| {
                let level = (value - self.value).abs() < self.objective.rounding(self.value);
                // Where rounding hides the decrease, the gradient must have turned as for a parabola that has it.
                let turned = || sum_of(x.len(), |i| g[i] * (x[i] - self.x[i])) <= (2.0 * DECREASE - 1.0) * predicted;
                let enough = value <= self.value + DECREASE * predicted && value < self.value;
                predicted < 0.0 && (enough || (level && turned()))
            };
            match value {
                Some(value) if enough || lowered(value) => {
                    let steep =
                        !enough && !known && !self.options.cautious && !bent && dot(&g, d) < STEEPNESS * derivative;
                    if enough || best.as_ref().is_none_or(|best| value < best.value) {
                        best = Some(Trial { x, g, value, enough });
                    }
                    if !steep {
                        break;
                    }
                    short = t;
                    t = if long.is_finite() { 0.5 * (short + long) } else { 2.0 * t };
                }
                value => {
                    long = t;
                    // The lowest point of the parabola through what is known, kept away from both ends.
                    let predicted = if bent { predicted } else { derivative * t };
                    let parabola = |value: f64| -0.5 * predicted / (value - self.value - predicted);
                    let fraction = match value.map(parabola) {
                        None if short == 0.0 => SHORTER.0,
                        Some(part) if short == 0.0 && part.is_finite() => {
                            part.clamp(0.1, if self.options.cautious { 0.5 } else { 0.6 })
                        }
                        _ => SHORTER.1,
                    };
                    t = short + fraction * (long - short);
                }
            }
        }
        Ok(best)
    }

    /// P(x + t d), and whether a bound changed it.
    fn at(&self, d: &[f64], t: f64) -> (Vec<f64>, bool) {
        let mut bent = false;
        let entry = |i: usize| {
            let straight = self.x[i] + t * d[i];
            let x = self.options.bounds.project(i, straight);
            bent |= x != straight && x != self.x[i];
            x
        };
        ((0..d.len()).map(entry).collect(), bent)
    }
}

//! The dense semidefinite problem of maximum variance unfolding, by a primal-dual interior point.
//!
//! ```text
//! maximize tr X     X ⪰ 0, a[e]ᵀ X a[e] = D[e]                K = V X Vᵀ, a[e] = Vᵀ b[e]
//! minimize Σ D W    S = Σ W[e] a[e] a[e]ᵀ − I ⪰ 0              W of any sign; W ≥ 0 where ≤ stands for =
//! ```
//!
//! Squares that may differ from D by a fraction ε add ε Σ D |W| to the dual, so that W is bounded and the optimum does
//! not depend on insignificant digits of D.
//!
//! V spans the centered K, or the face of them that the equalities leave ([`super::facial_reduction`]). S is feasible
//! from the start, X only after a full step. Every iteration is a predictor and a corrector with one factor of the
//! Schur complement. With equalities the optimum is not unique: the path ends at the analytic center of the optimal
//! face, and the last steps only center.
//!
//! S. Mehrotra. On the implementation of a primal-dual interior point method. SIAM J. Optimization 2(4), 1992. K. C. Toh,
//! M. J. Todd, R. H. Tütüncü. SDPT3, a Matlab software package for semidefinite programming. Optimization Methods and
//! Software 11, 1999 (the lengths of the steps and the power of the centering).

use crate::field::unfolding::Pairs;
use crate::field::unfolding::facial_reduction::Face;
use crate::field::unfolding::newton::{Bounds, Direction, Place, Program, Variables};
use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::dense::{dense_product, parts, symmetric_eigen, symmetric_eigenvalues};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Stage};
use faer::Mat;

/// The minimum tolerance of the distances, by rounding.
const FEASIBLE: f64 = 1e-8;
/// The smallest variances are dropped while their sum is below this fraction of the shortest square.
const LEFT_OUT: f64 = 1e-10;
/// The smallest eigenvalue of a Laplacian is zero if it is below this fraction of the largest.
const APART: f64 = 1e-14;
/// The maximum number of iterations without progress, and of centering iterations at the end.
const PATIENCE: usize = 10;
const CENTERING: usize = 4;
/// Steps shorter than this make no progress.
const SHORT: f64 = 1e-4;
/// The minimum centering parameter.
const LEAST_CENTERING: f64 = 1e-4;

/// How the squares are constrained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sense {
    /// Equal to the squared distances.
    Equal,
    /// At most the squared distances.
    #[cfg_attr(not(test), expect(dead_code, reason = "the path solves this; tests compare the two"))]
    AtMost,
    /// Equal up to this fraction of them.
    Within(f64),
}

impl Sense {
    /// ε.
    fn band(self) -> f64 {
        if let Sense::Within(band) = self { band } else { 0.0 }
    }
}

/// The solution, in the units of the pairs.
pub(crate) struct Full {
    /// K = y yᵀ, a row for each point, columns by decreasing variance; Σ counts y = 0.
    pub(crate) y: Mat<f64>,
    /// W, one number per pair; zero where a distance follows from others.
    pub(crate) w: Vec<f64>,
    /// Weights of no cost, Σ D flat = 0, that keep flat sets flat: with any large multiple of them added to W, the
    /// bound D·W/λ holds with λ over all centered directions, and not only over those of a feasible K. All zero if no
    /// clique is flat.
    pub(crate) flat: Vec<f64>,
    /// The number of iterations.
    pub(crate) iterations: usize,
    /// The largest violation of a squared distance or of its bounds, as a fraction of D.
    pub(crate) violation: f64,
    /// (D·W/λ − tr) / |D·W/λ|, λ = 1 + the smallest eigenvalue of S; D·W and ε D·|W| within ε.
    pub(crate) gap: f64,
    /// Whether the observer stopped it.
    pub(crate) stopped: bool,
    /// Whether gap and violation are as small as requested.
    pub(crate) converged: bool,
}

/// The flops of one iteration, and the bytes.
pub(crate) fn cost(pairs: &Pairs) -> (f64, u64) {
    let (n, m) = (pairs.len() as f64, pairs.ends.len() as f64);
    // About thirty products or the equivalent in eigenvalues, and thirty matrices.
    (m.powi(3) / 3.0 + 60.0 * n.powi(3) + 30.0 * m * n, (8.0 * (m * m + 30.0 * n * n)) as u64)
}

/// Solves the problem to a relative gap, or until the observer stops the run and X is feasible.
///
/// # Errors
///
/// [`Error::Stopped`] if X is not feasible yet; if the pairs do not connect all points, no points have the distances,
/// or there is not enough memory.
pub(crate) fn solve(
    pairs: &Pairs,
    sense: Sense,
    tolerance: f64,
    max_iterations: usize,
    observer: &dyn Observer,
) -> Result<Full> {
    let face = match sense {
        Sense::Equal => Face::of_equal_distances(pairs)?,
        Sense::AtMost | Sense::Within(_) => Face::whole(pairs)?,
    };
    let ends = face.kept.iter().map(|&e| (pairs.ends[e].0 as usize, pairs.ends[e].1 as usize)).collect();
    let squares = face.kept.iter().map(|&e| pairs.squares[e]).collect();
    let program = Program { basis: face.basis, ends, squares };
    let m = program.ends.len();
    let room = Positive::with_room(Mat::zeros(m, m), parts(m));
    let mut room = room.ok_or_else(|| Error::numerical(format!("there is no memory for {m} pairs at once"), ""))?;
    let mut at = start(&program, sense)?;
    let (mut best, mut least, mut at_best, mut off) = (at.clone(), f64::INFINITY, 0, f64::INFINITY);
    let (mut iterations, mut centered, mut reached, mut stopped) = (0, 0, 0.0, false);
    while iterations < max_iterations && centered < CENTERING {
        let Some(place) = program.place(&at) else { break };
        let (gap, violation) = errors(&program, sense, &at, &place);
        let error = (gap.abs() / tolerance).max(violation / tolerance.max(FEASIBLE));
        // Centering may increase the gap a little.
        let done = error <= if centered > 0 { 1.0 } else { 0.5 };
        if error < least || done {
            (best, least, at_best, off) = (at.clone(), error, iterations, violation);
        } else if iterations - at_best > PATIENCE || centered > 0 {
            break;
        }
        reached = f64::max(reached, (gap.abs().ln() / tolerance.ln()).clamp(0.0, 1.0));
        observer.gap(gap.abs());
        observer.progress(Stage::Field, reached);
        if observer.stop() {
            if off > tolerance.max(FEASIBLE) {
                return Err(Error::Stopped);
            }
            stopped = true;
            break;
        }
        let Some((direction, [primal, dual])) = step(&place, &mut room, done)? else { break };
        if primal.max(dual) < SHORT {
            break;
        }
        if done {
            centered += if primal.min(dual) == 1.0 { 2 } else { 1 };
        }
        at = at.moved(&direction, primal, dual);
        iterations += 1;
    }
    observer.progress(Stage::Field, 1.0);
    let (y, gap) = ended(&program, sense, &best)?;
    let mut w = vec![0.0; pairs.ends.len()];
    face.kept.iter().zip(&best.w).for_each(|(&e, &value)| w[e] = value);
    let violation = violation(pairs, sense, &y);
    let converged = gap.abs() <= tolerance && violation <= tolerance.max(FEASIBLE);
    Ok(Full { y, w, flat: face.flat, iterations, violation, gap, stopped, converged })
}

/// X a multiple of the identity, W a multiple of 1/D that makes S definite.
fn start(program: &Program, sense: Sense) -> Result<Variables> {
    let inverse: Vec<f64> = program.squares.iter().map(|square| 1.0 / square).collect();
    let values = symmetric_eigenvalues(program.stress(&inverse).as_ref())?;
    let (p, least) = (values.len(), values[values.len() - 1]);
    if least <= APART * values[0] {
        return Err(Error::data("the pairs do not connect all points", "use more neighbors"));
    }
    let w: Vec<f64> = inverse.iter().map(|inverse| 2.0 * inverse / least).collect();
    let bounds = |sign: f64, part: f64, times: f64| Bounds {
        sign,
        slack: program.squares.iter().map(|square| part * square).collect(),
        weight: w.iter().map(|w| times * w).collect(),
    };
    let (aim, bounds) = match sense {
        Sense::Equal => (1.0, Vec::new()),
        Sense::AtMost => (0.0, vec![bounds(1.0, 1.0, 1.0)]),
        Sense::Within(band) => (1.0, vec![bounds(1.0, band, 2.0), bounds(-1.0, band, 1.0)]),
    };
    let aims = program.squares.iter().map(|square| aim * square).collect();
    // D·W distributed over all directions: an upper bound of the sum of X over them.
    let x = 2.0 * program.squares.len() as f64 / least / p as f64;
    Ok(Variables { x: faer::Scale(x) * Mat::<f64>::identity(p, p), w, aims, bounds })
}

/// Σ D W + ε Σ D |W|.
fn objective(program: &Program, sense: Sense, w: &[f64]) -> f64 {
    program.squares.iter().zip(w).map(|(square, w)| square * (w + sense.band() * w.abs())).sum()
}

/// The relative gap and the largest relative violation so far.
fn errors(program: &Program, sense: Sense, at: &Variables, place: &Place<'_>) -> (f64, f64) {
    let bound = objective(program, sense, &at.w);
    let trace: f64 = (0..at.x.nrows()).map(|q| at.x[(q, q)]).sum();
    let off = |e: usize| (place.measured[e] - at.aims[e]) / program.squares[e];
    let violation = (0..at.w.len()).map(|e| off(e).abs()).fold(0.0, f64::max);
    ((bound - trace) / bound, violation)
}

/// The next direction and the step length: centering if the path is reached, else predictor and corrector.
fn step(place: &Place<'_>, room: &mut Positive, center: bool) -> Result<Option<(Direction, [f64; 2])>> {
    let Some(schur) = place.schur(room) else { return Ok(None) };
    let mu = place.mu();
    let direction = if center {
        schur.direction(mu, None)
    } else {
        let predicted = schur.direction(0.0, None);
        if !predicted.is_finite() {
            return Ok(None);
        }
        let [primal, dual] = place.to_boundary(&predicted)?.map(|step| step.min(1.0));
        let power = f64::max(1.0, 3.0 * primal.min(dual).powi(2));
        let ratio = (place.mu_after(&predicted, primal, dual) / mu).clamp(0.0, 1.0);
        schur.direction(mu * ratio.powf(power).max(LEAST_CENTERING), Some(&predicted))
    };
    if !direction.is_finite() {
        return Ok(None);
    }
    let steps = place.to_boundary(&direction)?;
    let fraction = 0.9 + 0.09 * steps[0].min(steps[1]).min(1.0);
    Ok(Some((direction, steps.map(|step| (fraction * step).min(1.0)))))
}

/// y, and the relative gap.
fn ended(program: &Program, sense: Sense, at: &Variables) -> Result<(Mat<f64>, f64)> {
    let (values, vectors) = symmetric_eigen(at.x.as_ref())?;
    let shortest = program.squares.iter().copied().fold(f64::INFINITY, f64::min);
    let sums = values.iter().rev().scan(0.0, |sum, value| {
        *sum += value;
        Some(*sum)
    });
    let rank = values.len() - sums.take_while(|&sum| sum < LEFT_OUT * shortest).count();
    let scaled = Mat::from_fn(vectors.nrows(), rank, |i, q| vectors[(i, q)] * values[q].sqrt());
    let least = symmetric_eigenvalues(program.stress(&at.w).as_ref())?.last().copied().unwrap_or(1.0);
    let bound = objective(program, sense, &at.w) / least;
    let trace: f64 = values[..rank].iter().sum();
    Ok((dense_product(program.basis.as_ref(), scaled.as_ref()), (bound - trace) / bound.abs()))
}

/// The largest violation of a pair by the points themselves.
fn violation(pairs: &Pairs, sense: Sense, y: &Mat<f64>) -> f64 {
    let off = |(&(i, j), square): (&(u32, u32), &f64)| {
        let distance: f64 = (0..y.ncols()).map(|q| (y[(i as usize, q)] - y[(j as usize, q)]).powi(2)).sum();
        let off = distance / square - 1.0;
        match sense {
            Sense::Equal => off.abs(),
            Sense::AtMost => off.max(0.0),
            Sense::Within(band) => (off.abs() - band).max(0.0),
        }
    };
    pairs.ends.iter().zip(&pairs.squares).map(off).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;

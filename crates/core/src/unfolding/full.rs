//! The dense semidefinite problem of maximum variance unfolding, by a primal-dual interior point.
//!
//! ```text
//! maximize tr X     X ⪰ 0, a[e]ᵀ X a[e] = D[e]                K = V X Vᵀ, a[e] = Vᵀ b[e]
//! minimize Σ D W    S = Σ W[e] a[e] a[e]ᵀ − I ⪰ 0              W of any sign; W ≥ 0 where ≤ stands for =
//! ```
//!
//! V spans the centered K, or the face of them that equal distances leave ([`super::face`]). S is feasible from the start,
//! X is not until a full step. Every iteration is a predictor and a corrector with one factor of the Schur complement.
//! With equal signs the optimum is not unique: the path ends at the center of the optimal face, and its last steps
//! go to the path and not on.
//!
//! S. Mehrotra. On the implementation of a primal-dual interior point method. SIAM J. Optimization 2(4), 1992. K. C. Toh,
//! M. J. Todd, R. H. Tütüncü. SDPT3, a Matlab software package for semidefinite programming. Optimization Methods and
//! Software 11, 1999 (the lengths of the steps and the power of the centering).

use super::Pairs;
use super::face::Face;
use super::newton::{Direction, Place, Program, Variables};
use crate::error::{Error, Result};
use crate::linalg::dense::{dense_product, parts, symmetric_eigen, symmetric_eigenvalues};
use crate::linalg::positive::Positive;
use crate::progress::{Observer, Stage};
use faer::Mat;

/// No tolerance of the distances is smaller than what rounding leaves.
const FEASIBLE: f64 = 1e-8;
/// Variances below this part of the largest are zero.
const RANK: f64 = 1e-12;
/// Most iterations without gain, and most at the end that only center.
const PATIENCE: usize = 10;
const CENTERING: usize = 4;
/// Steps shorter than this lead nowhere.
const SHORT: f64 = 1e-4;
/// The smallest centering.
const LEAST_CENTERING: f64 = 1e-4;

/// What the squares are to the distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    /// Their values.
    Equal,
    /// Their bounds from above.
    AtMost,
}

/// The solution, in the units of the pairs.
pub(crate) struct Full {
    /// K = y yᵀ, a row for each point, columns by falling variance; Σ mass y = 0.
    pub(crate) y: Mat<f64>,
    /// W, one a pair; zero where a distance follows from others.
    pub(crate) w: Vec<f64>,
    /// Weights of no cost, Σ D flat = 0, that hold flat what must be flat: with any large multiple of them added to W, the
    /// bound D·W/λ holds with λ over all centered directions, and not only over those a feasible K can have. All zero
    /// if no clique is flat.
    pub(crate) flat: Vec<f64>,
    /// The iterations done.
    pub(crate) iterations: usize,
    /// The largest difference of a squared distance to its value or above its bound, as a part of it.
    pub(crate) violation: f64,
    /// (D·W/λ − tr) / |D·W/λ|, λ = 1 + the smallest eigenvalue of S.
    pub(crate) gap: f64,
    /// Whether gap and violation are as small as asked for.
    pub(crate) converged: bool,
}

/// The operations of one iteration, and the bytes.
pub(crate) fn cost(pairs: &Pairs) -> (f64, u64) {
    let (n, m) = (pairs.len() as f64, pairs.ends.len() as f64);
    // About thirty products or as much in eigenvalues, and thirty matrices.
    (m.powi(3) / 3.0 + 60.0 * n.powi(3) + 30.0 * m * n, (8.0 * (m * m + 30.0 * n * n)) as u64)
}

/// Solves the problem to a relative gap.
///
/// # Errors
///
/// If the pairs do not hold all points together, no points have the distances, the observer says stop, or there is no
/// memory.
pub(crate) fn solve(
    pairs: &Pairs,
    sense: Sense,
    tolerance: f64,
    max_iterations: usize,
    observer: &dyn Observer,
) -> Result<Full> {
    let face = match sense {
        Sense::Equal => Face::of_equal_distances(pairs)?,
        Sense::AtMost => Face::whole(pairs)?,
    };
    let ends = face.kept.iter().map(|&e| (pairs.ends[e].0 as usize, pairs.ends[e].1 as usize)).collect();
    let squares = face.kept.iter().map(|&e| pairs.squares[e]).collect();
    let program = Program { basis: face.basis, ends, squares };
    let m = program.ends.len();
    let room = Positive::with_room(Mat::zeros(m, m), parts(m));
    let mut room = room.ok_or_else(|| Error::Numerical(format!("there is no memory for {m} pairs at once")))?;
    let mut at = start(&program, sense)?;
    let (mut best, mut least, mut at_best) = (at.clone(), f64::INFINITY, 0);
    let (mut iterations, mut centered, mut reached) = (0, 0, 0.0);
    while iterations < max_iterations && centered < CENTERING {
        if observer.stop() {
            return Err(Error::Stopped);
        }
        let Some(place) = program.place(&at) else { break };
        let (gap, violation) = errors(&program, &at, &place);
        let error = (gap.abs() / tolerance).max(violation / tolerance.max(FEASIBLE));
        let done = error <= 1.0;
        if error < least || done {
            (best, least, at_best) = (at.clone(), error, iterations);
        } else if iterations - at_best > PATIENCE || centered > 0 {
            break;
        }
        reached = f64::max(reached, (gap.abs().ln() / tolerance.ln()).clamp(0.0, 1.0));
        observer.progress(Stage::Field, reached);
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
    let (y, gap) = ended(&program, &best)?;
    let mut w = vec![0.0; pairs.ends.len()];
    face.kept.iter().zip(&best.w).for_each(|(&e, &value)| w[e] = value);
    let violation = violation(pairs, sense, &y);
    let converged = gap.abs() <= tolerance && violation <= tolerance.max(FEASIBLE);
    Ok(Full { y, w, flat: face.flat, iterations, violation, gap, converged })
}

/// X a multiple of the identity, W a multiple of 1/D that makes S definite.
fn start(program: &Program, sense: Sense) -> Result<Variables> {
    let inverse: Vec<f64> = program.squares.iter().map(|square| 1.0 / square).collect();
    let values = symmetric_eigenvalues(program.stress(&inverse).as_ref())?;
    let (p, least) = (values.len(), values[values.len() - 1]);
    if least <= RANK * values[0] {
        return Err(Error::data("the pairs do not hold all points together; use more neighbors"));
    }
    let w: Vec<f64> = inverse.iter().map(|inverse| 2.0 * inverse / least).collect();
    let slack = if sense == Sense::AtMost { program.squares.clone() } else { Vec::new() };
    // D·W spread over all directions: what X can have in all of them together.
    let x = 2.0 * program.squares.len() as f64 / least / p as f64;
    Ok(Variables { x: faer::Scale(x) * Mat::<f64>::identity(p, p), w, slack })
}

/// The relative gap and the largest relative violation on the way.
fn errors(program: &Program, at: &Variables, place: &Place<'_>) -> (f64, f64) {
    let bound: f64 = program.squares.iter().zip(&at.w).map(|(square, w)| square * w).sum();
    let trace: f64 = (0..at.x.nrows()).map(|q| at.x[(q, q)]).sum();
    let off = |e: usize| (place.measured[e] + at.slack.get(e).unwrap_or(&0.0)) / program.squares[e] - 1.0;
    let violation = (0..at.w.len()).map(|e| off(e).abs()).fold(0.0, f64::max);
    ((bound - trace) / bound, violation)
}

/// The next direction, and how far to go: to the path where it is, or predictor and corrector.
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
fn ended(program: &Program, at: &Variables) -> Result<(Mat<f64>, f64)> {
    let (values, vectors) = symmetric_eigen(at.x.as_ref())?;
    let rank = values.iter().take_while(|&&value| value > RANK * values[0]).count();
    let scaled = Mat::from_fn(vectors.nrows(), rank, |i, q| vectors[(i, q)] * values[q].sqrt());
    let least = symmetric_eigenvalues(program.stress(&at.w).as_ref())?.last().copied().unwrap_or(1.0);
    let bound = program.squares.iter().zip(&at.w).map(|(square, w)| square * w).sum::<f64>() / least;
    let trace: f64 = values[..rank].iter().sum();
    Ok((dense_product(program.basis.as_ref(), scaled.as_ref()), (bound - trace) / bound.abs()))
}

/// The largest violation of a pair by the points themselves.
fn violation(pairs: &Pairs, sense: Sense, y: &Mat<f64>) -> f64 {
    let off = |(&(i, j), square): (&(u32, u32), &f64)| {
        let distance: f64 = (0..y.ncols()).map(|q| (y[(i as usize, q)] - y[(j as usize, q)]).powi(2)).sum();
        let off = distance / square - 1.0;
        if sense == Sense::Equal { off.abs() } else { off.max(0.0) }
    };
    pairs.ends.iter().zip(&pairs.squares).map(off).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Metric, Neighbors, Search};
    use crate::points::Points;
    use crate::progress::Silent;
    use crate::sample::r2_swiss_roll;
    use crate::unfolding::Constraints;

    fn pairs_of(points: &Points, k: usize, constraints: Constraints) -> Pairs {
        let search = Search { neighbors: Neighbors::Nearest(k), ..Search::default() };
        let graph = search.of_points(points, &Silent).unwrap().graph;
        let distance = |i: usize, j: usize| Metric::Euclidean.distance(points.row(i), points.row(j));
        Pairs::new(&graph, constraints, Some(&distance)).unwrap()
    }

    /// tr K in the units of the points.
    fn variance(pairs: &Pairs, full: &Full) -> f64 {
        let row = |i: usize| (0..full.y.ncols()).map(|q| full.y[(i, q)].powi(2)).sum::<f64>();
        pairs.unit.powi(2) * (0..pairs.len()).map(|i| pairs.mass[i] * row(i)).sum::<f64>()
    }

    #[test]
    fn explore() {
        let name = std::env::var("CASE").unwrap();
        let parts: Vec<&str> = name.split_whitespace().collect();
        let k: usize = parts[1].parse().unwrap();
        let constraints = if parts[2] == "a" { Constraints::Angles } else { Constraints::Edges };
        let points = if let Ok(n) = parts[0].parse::<usize>() {
            r2_swiss_roll(n)
        } else {
            let path = format!("/work/shared/data/{}/data.csv", parts[0]);
            crate::io::read(&path, &Default::default()).unwrap().points
        };
        let mut pairs = pairs_of(&points, k, constraints);
        if parts[3] == "r" {
            pairs.squares.iter_mut().for_each(|square| *square = square.sqrt());
            pairs.unit = pairs.unit.sqrt();
        }
        let sense = if parts[4] == "<" { Sense::AtMost } else { Sense::Equal };
        let start = std::time::Instant::now();
        let full = solve(&pairs, sense, 1e-9, 100, &Silent).unwrap();
        let flat = full.flat.iter().filter(|f| **f != 0.0).count();
        eprintln!("CASE {name}: n {} m {} flat pairs {flat} kept {} rank {} tr {:.9} gap {:.2e} viol {:.2e} it {} conv {} in {:.2?}", pairs.len(), pairs.ends.len(), full.w.iter().filter(|w| **w != 0.0).count(), full.y.ncols(), variance(&pairs, &full), full.gap, full.violation, full.iterations, full.converged, start.elapsed());
    }
}

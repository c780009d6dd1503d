//! The dense semidefinite problem of maximum variance unfolding, by a primal-dual interior point.
//!
//! ```text
//! maximize tr X     X ⪰ 0, a[e]ᵀ X a[e] = D[e]                K = V X Vᵀ, a[e] = Vᵀ b[e]
//! minimize Σ D W    S = Σ W[e] a[e] a[e]ᵀ − I ⪰ 0              W of any sign; W ≥ 0 where ≤ stands for =
//! ```
//!
//! Squares that may differ from D by a part ε of it add ε Σ D |W| to the dual, so that W is bounded, and the optimum does
//! not hang on digits of D that nobody knows.
//!
//! V spans the centered K, or the face of them that equal distances leave ([`super::face`]). S is feasible from the start,
//! X is not until a full step. Every iteration is a predictor and a corrector with one factor of the Schur complement.
//! With equal signs the optimum is not unique: the path ends at the center of the optimal face, and its last steps
//! go to the path and not on.
//!
//! S. Mehrotra. On the implementation of a primal-dual interior point method. SIAM J. Optimization 2(4), 1992. K. C. Toh,
//! M. J. Todd, R. H. Tütüncü. SDPT3, a Matlab software package for semidefinite programming. Optimization Methods and
//! Software 11, 1999 (the lengths of the steps and the power of the centering).

use crate::error::{Error, Result};
use crate::field::unfolding::Pairs;
use crate::field::unfolding::face::Face;
use crate::field::unfolding::newton::{Bounds, Direction, Place, Program, Variables};
use crate::linalg::dense::cholesky::Positive;
use crate::linalg::dense::{dense_product, parts, symmetric_eigen, symmetric_eigenvalues};
use crate::progress::{Observer, Stage};
use faer::Mat;

/// No tolerance of the distances is smaller than what rounding leaves.
const FEASIBLE: f64 = 1e-8;
/// The smallest variances are left out while their sum is below this part of the shortest square.
const LEFT_OUT: f64 = 1e-10;
/// The smallest eigenvalue of a Laplacian is zero if it is below this part of the largest.
const APART: f64 = 1e-14;
/// Most iterations without gain, and most at the end that only center.
const PATIENCE: usize = 10;
const CENTERING: usize = 4;
/// Steps shorter than this lead nowhere.
const SHORT: f64 = 1e-4;
/// The smallest centering.
const LEAST_CENTERING: f64 = 1e-4;

/// What the squares are to the distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sense {
    /// Their values.
    Equal,
    /// Their bounds from above.
    #[cfg_attr(not(test), expect(dead_code, reason = "the path solves this; tests compare the two"))]
    AtMost,
    /// Their values, give or take this part of them.
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
    /// The most that a squared distance differs from its value, or is outside its bounds, as a part of D.
    pub(crate) violation: f64,
    /// (D·W/λ − tr) / |D·W/λ|, λ = 1 + the smallest eigenvalue of S; D·W and ε D·|W| within ε.
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
        Sense::AtMost | Sense::Within(_) => Face::whole(pairs)?,
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
        let (gap, violation) = errors(&program, sense, &at, &place);
        let error = (gap.abs() / tolerance).max(violation / tolerance.max(FEASIBLE));
        // Centering may raise the gap a little.
        let done = error <= if centered > 0 { 1.0 } else { 0.5 };
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
    observer.progress(Stage::Field, 1.0);
    let (y, gap) = ended(&program, sense, &best)?;
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
    if least <= APART * values[0] {
        return Err(Error::data("the pairs do not hold all points together; use more neighbors"));
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
    // D·W spread over all directions: what X can have in all of them together.
    let x = 2.0 * program.squares.len() as f64 / least / p as f64;
    Ok(Variables { x: faer::Scale(x) * Mat::<f64>::identity(p, p), w, aims, bounds })
}

/// Σ D W + ε Σ D |W|.
fn objective(program: &Program, sense: Sense, w: &[f64]) -> f64 {
    program.squares.iter().zip(w).map(|(square, w)| square * (w + sense.band() * w.abs())).sum()
}

/// The relative gap and the largest relative violation on the way.
fn errors(program: &Program, sense: Sense, at: &Variables, place: &Place<'_>) -> (f64, f64) {
    let bound = objective(program, sense, &at.w);
    let trace: f64 = (0..at.x.nrows()).map(|q| at.x[(q, q)]).sum();
    let off = |e: usize| (place.measured[e] - at.aims[e]) / program.squares[e];
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
#[allow(clippy::print_stderr, reason = "a test without its file says so")]
mod tests {
    use super::*;
    use crate::field::unfolding::Constraints;
    use crate::graph::{Graph, Metric, Neighbors, Search};
    use crate::points::Points;
    use crate::progress::Silent;
    use crate::sample::r2_swiss_roll;

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

    /// A bracket [trace, bound] of the optimum, in the units of the points.
    fn bracket(pairs: &Pairs, full: &Full) -> [f64; 2] {
        let trace = variance(pairs, full);
        [trace, trace / (1.0 - full.gap)]
    }

    /// The smallest eigenvalue of M^-½ L(W) M^-½ over the centered directions.
    fn connectivity(pairs: &Pairs, w: &[f64]) -> f64 {
        let (n, total) = (pairs.len(), pairs.mass.iter().sum::<f64>());
        let root: Vec<f64> = pairs.mass.iter().map(|mass| mass.sqrt()).collect();
        let most = w.iter().fold(1.0, |most: f64, w| most.max(w.abs()));
        let mut matrix = Mat::from_fn(n, n, |i, j| most * root[i] * root[j] / total);
        for (&(i, j), w) in pairs.ends.iter().zip(w) {
            let (i, j) = (i as usize, j as usize);
            matrix[(i, i)] += w / pairs.mass[i];
            matrix[(j, j)] += w / pairs.mass[j];
            matrix[(j, i)] -= w / (root[i] * root[j]);
        }
        *symmetric_eigen(matrix.as_ref()).unwrap().0.last().unwrap()
    }

    fn bound(pairs: &Pairs, w: &[f64], band: f64) -> f64 {
        let cost = |(square, w): (&f64, &f64)| square * (w + band * w.abs());
        pairs.squares.iter().zip(w).map(cost).sum::<f64>() / connectivity(pairs, w)
    }

    fn of_lists(lists: Vec<Vec<(u32, f64)>>) -> Pairs {
        Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap()
    }

    #[test]
    fn a_path_is_pulled_straight_by_known_forces() {
        let n = 12;
        let next = |i: u32| if i < 11 { vec![(i + 1, 3.0)] } else { vec![] };
        let pairs = of_lists((0..n).map(next).collect());
        for sense in [Sense::Equal, Sense::AtMost] {
            let full = solve(&pairs, sense, 1e-8, 100, &Silent).unwrap();
            assert!(full.converged, "{} {}", full.gap, full.violation);
            let spaced: f64 = (0..n).map(|i| (3.0 * (f64::from(i) - 5.5)).powi(2)).sum();
            assert!((variance(&pairs, &full) / spaced - 1.0).abs() < 1e-8);
            // What is on one side of a link pulls with the sum of its places. Along the curved boundary of the cone the
            // dual rises with the square of the way: a gap of 1e-8 leaves W free by 1e-4.
            for (e, w) in full.w.iter().enumerate() {
                let force = (e + 1) as f64 * (11 - e) as f64 / 2.0;
                assert!((w / force - 1.0).abs() < 1e-4, "{w} for {force}");
            }
        }
    }

    #[test]
    fn a_triangle_is_itself_and_a_heavy_point_counts_as_often_as_it_is_there() {
        let triangle = of_lists(vec![vec![(1, 3.0), (2, 4.0)], vec![(2, 5.0)], vec![]]);
        let full = solve(&triangle, Sense::Equal, 1e-10, 100, &Silent).unwrap();
        assert!(full.converged && full.y.ncols() == 2);
        assert!((variance(&triangle, &full) - 50.0 / 3.0).abs() < 1e-9);
        // Two points at 0, one at 1, one at 3: the mean is 1.
        let heavy = of_lists(vec![vec![(1, 0.0), (2, 1.0)], vec![], vec![(3, 2.0)], vec![]]);
        let full = solve(&heavy, Sense::Equal, 1e-10, 100, &Silent).unwrap();
        assert!(full.converged && (variance(&heavy, &full) - 6.0).abs() < 1e-8);
        let mean: f64 = (0..3).map(|i| heavy.mass[i] * full.y[(i, 0)]).sum();
        assert!(mean.abs() < 1e-12, "{mean}");
    }

    /// The brackets are those of another solver, a dual scaling.
    #[test]
    fn the_swiss_roll_has_the_variance_another_solver_found() {
        let golds = [
            (50, Sense::Equal, [6491.640920308, 6491.640925162]),
            (100, Sense::Equal, [13735.811809, 13735.837281]),
            (50, Sense::AtMost, [6590.723465046, 6590.723469920]),
            (100, Sense::AtMost, [14191.274333948, 14191.274347198]),
        ];
        for (n, sense, gold) in golds {
            let pairs = pairs_of(&r2_swiss_roll(n), 5, Constraints::Edges);
            let full = solve(&pairs, sense, 1e-8, 100, &Silent).unwrap();
            let [low, high] = bracket(&pairs, &full);
            assert!(full.converged && full.gap < 1e-8 && full.violation < 1e-8, "{n}: {} {}", full.gap, full.violation);
            assert!(low <= gold[1] && high >= gold[0], "{n}: {low} {high} for {gold:?}");
            // W bounds the variance whatever the solver says of it. On a face it takes a large multiple of what holds it.
            let on_face = full.flat.iter().any(|&flat| flat != 0.0);
            assert_eq!(on_face, n == 100 && sense == Sense::Equal);
            let held: Vec<f64> = full.w.iter().zip(&full.flat).map(|(w, flat)| w + 1e8 * flat).collect();
            let above = bound(&pairs, &held, 0.0) * pairs.unit.powi(2) / low - 1.0;
            let allowed = if on_face { 1e-4 } else { 1.1e-8 };
            assert!((-1e-9..allowed).contains(&above), "{n}: {above}");
            assert!(sense == Sense::Equal || full.w.iter().all(|&w| w > 0.0));
        }
    }

    /// Seven points of space in a neighborhood are rigid, and neighborhoods that share four points are so together: only the
    /// data themselves have the distances.
    #[test]
    fn rigid_neighborhoods_leave_the_data_as_they_are() {
        let points = r2_swiss_roll(60);
        let pairs = pairs_of(&points, 6, Constraints::Angles);
        let full = solve(&pairs, Sense::Equal, 1e-9, 100, &Silent).unwrap();
        assert!(full.converged && full.y.ncols() == 3, "{} {}", full.gap, full.y.ncols());
        for i in 0..60 {
            for j in 0..i {
                let distance = (0..3).map(|q| (full.y[(i, q)] - full.y[(j, q)]).powi(2)).sum::<f64>().sqrt();
                let own = Metric::Euclidean.distance(points.row(i), points.row(j));
                assert!((distance * pairs.unit / own - 1.0).abs() < 1e-9);
            }
        }
    }

    /// A band holds more than equalities and less than bounds, and needs no face: W stays small where that of equalities has no
    /// bound.
    #[test]
    fn a_band_is_between_equalities_and_bounds() {
        let pairs = pairs_of(&r2_swiss_roll(100), 5, Constraints::Edges);
        let mut least = 13735.8357;
        for band in [1e-3, 1e-2, 1e-1] {
            let full = solve(&pairs, Sense::Within(band), 1e-7, 100, &Silent).unwrap();
            assert!(full.converged && full.violation < 1e-8, "{band}: {} {}", full.gap, full.violation);
            let [low, high] = bracket(&pairs, &full);
            assert!(low > least && high < 14191.2744 * (1.0 + band), "{band}: {low} {high}");
            least = low;
            let above = bound(&pairs, &full.w, band) * pairs.unit.powi(2) / low - 1.0;
            assert!((-1e-9..1.1e-7).contains(&above), "{band}: {above}");
        }
    }

    #[test]
    fn distances_of_no_points_are_an_error_or_not_converged() {
        let triangle = of_lists(vec![vec![(1, 1.0), (2, 1.0)], vec![(2, 3.0)], vec![]]);
        let error = solve(&triangle, Sense::Equal, 1e-8, 100, &Silent).err().unwrap().to_string();
        assert_eq!(error, "no points have the distances of points 1, 2, 3; bind them from above alone");
        let square = of_lists(vec![vec![(1, 1.0), (3, 5.0)], vec![(2, 1.0)], vec![(3, 1.0)], vec![]]);
        let full = solve(&square, Sense::Equal, 1e-8, 100, &Silent).unwrap();
        assert!(!full.converged && full.violation > 0.1, "{}", full.violation);
        assert!(solve(&square, Sense::AtMost, 1e-8, 100, &Silent).unwrap().converged);
        let apart = of_lists(vec![vec![(1, 1.0)], vec![], vec![(3, 1.0)], vec![]]);
        assert!(solve(&apart, Sense::Equal, 1e-8, 100, &Silent).is_err());
    }

    #[test]
    fn the_solution_is_the_same_for_any_number_of_threads() {
        let pairs = pairs_of(&r2_swiss_roll(150), 5, Constraints::Edges);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let full = pool.install(|| solve(&pairs, Sense::Equal, 1e-6, 6, &Silent).unwrap());
            (full.y, full.w)
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(3));
    }

    #[test]
    fn an_observer_stops_it() {
        struct Stop;
        impl Observer for Stop {
            fn stop(&self) -> bool {
                true
            }
        }
        let pairs = of_lists(vec![vec![(1, 1.0)], vec![]]);
        assert!(matches!(solve(&pairs, Sense::Equal, 1e-6, 6, &Stop), Err(Error::Stopped)));
    }
}

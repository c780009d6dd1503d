//! The Ornstein-Uhlenbeck process on a line: covariance v exp(−|t − t'|), without noise.
//!
//! Its inverse covariance is tridiagonal in the order of the positions: given its two neighbors, a position is
//! independent of all others. So the likelihood is a sum over neighbors. For two rows a and b at a gap g apart, ρ =
//! exp(−g):
//!
//! ```text
//! log p(a, b) = −p log 2πv − ½ p log(1 − ρ²) − (‖a − b‖² + 2 (1 − ρ) aᵀb) / 2v(1 − ρ²)
//! best where  p v ρ (1 − ρ²) + (1 − ρ)² aᵀb − ρ ‖a − b‖² = 0
//! ```
//!
//! and given the order every gap has a separate optimum, a root of that cubic. Between two rows, at ρ₁ and ρ₂ from them
//! and ρ = ρ₁ρ₂, a row has
//!
//! ```text
//! mean = (ρ₁(1 − ρ₂²) a + ρ₂(1 − ρ₁²) b) / (1 − ρ²)      variance = v (1 − ρ₁²)(1 − ρ₂²) / (1 − ρ²)
//! ```
//!
//! Two equal rows would be infinitely likely at the same position: 1 − ρ² is at least 1e-6 between neighbors. And ρ is
//! at least 1e-9: rows that far apart are practically independent.
//!
//! N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction. Journal of Machine Learning
//! Research 13, 2012, section 5.1 (the tridiagonal inverse).

use crate::gp::NOISE_FLOOR;
use crate::gp::problem::Problem;
use eigenfold_graph::points::Points;
use eigenfold_linalg::sort;

/// The smallest ρ.
const FAINT: f64 = 1e-9;
/// Bisection steps for a root.
const ROOT: usize = 60;
/// Positions that are tried in every gap before the best is refined.
const TRIED: usize = 12;
/// Steps of the golden-section search, each of which keeps 0.62 of an interval.
const REFINED: usize = 50;

/// The largest ρ.
pub(crate) fn tight() -> f64 {
    (1.0 - NOISE_FLOOR).sqrt()
}

/// The products of two rows: aᵀb and ‖a − b‖².
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) product: f64,
    pub(crate) square: f64,
}

impl Pair {
    pub(crate) fn of(a: &[f64], b: &[f64]) -> Pair {
        let product = a.iter().zip(b).map(|(a, b)| a * b).sum();
        Pair { product, square: a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() }
    }

    /// log p(a, b) of p features at this ρ.
    pub(crate) fn joint(&self, rho: f64, p: f64, v: f64) -> f64 {
        let rest = (1.0 - rho) * (1.0 + rho);
        let off = (self.square + 2.0 * (1.0 - rho) * self.product) / (2.0 * v * rest);
        -p * (std::f64::consts::TAU * v).ln() - 0.5 * p * rest.ln() - off
    }

    /// The maximum-likelihood ρ, and log p(a, b) there.
    pub(crate) fn best(&self, p: f64, v: f64) -> (f64, f64) {
        let Pair { product: c, square: d } = *self;
        let derivative = |r: f64| p * v * r * (1.0 - r) * (1.0 + r) + (1.0 - r) * (1.0 - r) * c - r * d;
        // Between the turning points of the cubic, and the ends, there is at most one root; a falling one is a maximum.
        let (a, b, e) = (-3.0 * p * v, 2.0 * c, p * v - 2.0 * c - d);
        let root = (b * b - 4.0 * a * e).max(0.0).sqrt();
        let mut ends = [FAINT, (-b + root) / (2.0 * a), (-b - root) / (2.0 * a), tight()];
        ends.iter_mut().for_each(|end| *end = end.clamp(FAINT, tight()));
        ends.sort_unstable_by(f64::total_cmp);
        let mut best = (FAINT, self.joint(FAINT, p, v));
        let mut keep = |rho: f64| {
            let value = self.joint(rho, p, v);
            if value > best.1 {
                best = (rho, value);
            }
        };
        keep(tight());
        for two in ends.windows(2) {
            if derivative(two[0]) > 0.0 && derivative(two[1]) < 0.0 {
                keep(falling_root(derivative, two[0], two[1]));
            }
        }
        best
    }
}

/// The root of a decreasing function, by bisection.
fn falling_root(of: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..ROOT {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if of(middle) > 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// log p of a row alone: −½ p log 2πv − ‖a‖²/2v.
pub(crate) fn alone(square: f64, p: f64, v: f64) -> f64 {
    -0.5 * p * (std::f64::consts::TAU * v).ln() - square / (2.0 * v)
}

/// The process with its training rows, in the order of their positions.
pub(crate) struct Line {
    v: f64,
    pub(crate) problem: Problem,
    /// The rows along the line, and their positions, ascending.
    order: Vec<usize>,
    places: Vec<f64>,
    /// Each row and the next along the line, and the squares of all.
    pairs: Vec<Pair>,
    squares: Vec<f64>,
}

/// The conditional distribution of a row given the rows on both sides.
struct Between {
    before: f64,
    after: f64,
    variance: f64,
}

impl Line {
    /// The variance is in units of the problem's data; the map has one coordinate.
    pub(crate) fn new(problem: Problem, map: &Points, v: f64) -> Line {
        let order = sort::ascending(map.values());
        let places = order.iter().map(|&i| map.row(i)[0]).collect();
        let pairs = order.windows(2).map(|two| Pair::of(problem.data_row(two[0]), problem.data_row(two[1]))).collect();
        let square = |&i: &usize| problem.data_row(i).iter().map(|x| x * x).sum();
        let squares = order.iter().map(square).collect();
        Line { v, problem, order, places, pairs, squares }
    }

    /// The weights of the previous and the next row at a position, where they exist, and the variance.
    fn between(&self, t: f64, before: Option<f64>, after: Option<f64>) -> Between {
        // 1 − exp(−2g), without cancellation.
        let rest = |gap: f64| -(-2.0 * gap).exp_m1();
        let gap = |other: f64| (t - other).abs();
        let [weights, variance] = match (before.map(gap), after.map(gap)) {
            (None, None) => [[0.0; 2], [1.0; 2]],
            (Some(first), None) => [[(-first).exp(), 0.0], [rest(first); 2]],
            (None, Some(second)) => [[0.0, (-second).exp()], [rest(second); 2]],
            (Some(first), Some(second)) => {
                let all = rest(first + second).max(f64::MIN_POSITIVE);
                let weights = [(-first).exp() * rest(second) / all, (-second).exp() * rest(first) / all];
                [weights, [rest(first) * rest(second) / all; 2]]
            }
        };
        Between { before: weights[0], after: weights[1], variance: self.v * variance[0].max(NOISE_FLOOR) }
    }

    /// The mean of a row at a position between two rows along the line, and the variance of each of its entries.
    fn predicted(&self, t: f64, before: Option<usize>, after: Option<usize>) -> (Vec<f64>, f64) {
        let place = |at: usize| self.places[at];
        let between = self.between(t, before.map(place), after.map(place));
        let mut mean = vec![0.0; self.problem.features];
        for (at, weight) in [(before, between.before), (after, between.after)] {
            let row = at.map(|at| self.problem.data_row(self.order[at]));
            row.into_iter().for_each(|row| mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += weight * x));
        }
        (mean, between.variance)
    }

    /// The mean row and the variance of each of its entries at a position.
    pub(crate) fn at(&self, t: f64) -> (Vec<f64>, f64) {
        let after = self.places.partition_point(|&place| place < t);
        self.predicted(t, after.checked_sub(1), (after < self.places.len()).then_some(after))
    }

    /// The leave-one-out error of a training row, given by its number along the line, its variance, and the row.
    pub(crate) fn left_out(&self, at: usize) -> (Vec<f64>, f64, &[f64]) {
        let after = (at + 1 < self.places.len()).then_some(at + 1);
        let (mean, variance) = self.predicted(self.places[at], at.checked_sub(1), after);
        let row = self.problem.data_row(self.order[at]);
        (row.iter().zip(&mean).map(|(x, mean)| x - mean).collect(), variance, row)
    }

    /// The most likely position of a row, in the units of the problem: the best of every gap and of both ends.
    pub(crate) fn place(&self, row: &[f64]) -> f64 {
        let (n, p) = (self.places.len(), row.len() as f64);
        let square: f64 = row.iter().map(|x| x * x).sum();
        let products: Vec<f64> = {
            let product = |&i: &usize| self.problem.data_row(i).iter().zip(row).map(|(a, x)| a * x).sum();
            self.order.iter().map(product).collect()
        };
        // Beyond an end a gap is like that of a pair.
        let beyond = |at: usize| {
            let pair =
                Pair { product: products[at], square: (square + self.squares[at] - 2.0 * products[at]).max(0.0) };
            let (rho, joint) = pair.best(p, self.v);
            (-rho.ln(), joint - alone(self.squares[at], p, self.v))
        };
        let density = |gap: usize, t: f64| {
            let b = self.between(t, Some(self.places[gap]), Some(self.places[gap + 1]));
            let own = b.before * b.before * self.squares[gap] + b.after * b.after * self.squares[gap + 1];
            let across = b.before * products[gap] + b.after * products[gap + 1];
            let both = b.before * b.after * self.pairs[gap].product;
            let off = (square + own - 2.0 * across + 2.0 * both).max(0.0);
            -0.5 * (p * (std::f64::consts::TAU * b.variance).ln() + off / b.variance)
        };
        let ((first, low), (last, high)) = (beyond(0), beyond(n - 1));
        let mut best = if low >= high { (low, self.places[0] - first) } else { (high, self.places[n - 1] + last) };
        for gap in 0..n - 1 {
            let (start, step) = (self.places[gap], (self.places[gap + 1] - self.places[gap]) / TRIED as f64);
            let tried = (0..=TRIED).map(|at| (density(gap, start + at as f64 * step), at));
            let Some((_, at)) = tried.reduce(|best, one| if one.0 > best.0 { one } else { best }) else { continue };
            let around = |at: usize| start + at as f64 * step;
            let t = highest(|t| density(gap, t), around(at.saturating_sub(1)), around((at + 1).min(TRIED)));
            let value = density(gap, t);
            if value > best.0 {
                best = (value, t);
            }
        }
        best.1
    }
}

/// The maximum of a unimodal function in an interval, by golden sections.
pub(crate) fn highest(of: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let mut inside = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    let mut values = inside.map(&of);
    for _ in 0..REFINED {
        if values[0] >= values[1] {
            (high, inside[1], values[1]) = (inside[1], inside[0], values[0]);
            inside[0] = high - GOLDEN * (high - low);
            values[0] = of(inside[0]);
        } else {
            (low, inside[0], values[0]) = (inside[0], inside[1], values[1]);
            inside[1] = low + GOLDEN * (high - low);
            values[1] = of(inside[1]);
        }
    }
    if values[0] >= values[1] { inside[0] } else { inside[1] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_linalg::dense::cholesky::Positive;
    use faer::Mat;

    /// Fifty positions of a low-discrepancy sequence on [0, 3]; v = 1.7, length 0.8. The numbers are from an
    /// independent program (numpy's inverse of the dense matrix).
    #[test]
    fn the_inverse_covariance_is_tridiagonal() {
        let g = 1.324_717_957_244_746_f64;
        let mut x: Vec<f64> = (1..=50).map(|i| 3.0 * (0.5 + f64::from(i) / g).fract() / 0.8).collect();
        x.sort_unstable_by(f64::total_cmp);
        let mut factor = Positive::factor(Mat::from_fn(50, 50, |i, j| 1.7 * (-(x[i] - x[j]).abs()).exp())).unwrap();
        let inverse = factor.inverse();
        let rho = |i: usize| (x[i] - x[i + 1]).exp();
        let part = |i: usize| rho(i).powi(2) / (1.0 - rho(i).powi(2));
        let largest = (0..50).fold(0.0f64, |most, i| most.max(inverse[(i, i)]));
        for j in 0..50 {
            let before = if j > 0 { part(j - 1) } else { 0.0 };
            let after = if j < 49 { part(j) } else { 0.0 };
            let known = |i: usize| match i - j {
                0 => (1.0 + before + after) / 1.7,
                1 => -rho(j) / (1.0 - rho(j).powi(2)) / 1.7,
                _ => 0.0,
            };
            for i in j..50 {
                assert!(
                    (inverse[(i, j)] - known(i)).abs() < 1e-12 * largest,
                    "{i} {j}: {} {}",
                    inverse[(i, j)],
                    known(i)
                );
            }
        }
        let log_det: f64 = 50.0 * 1.7f64.ln() + (0..49).map(|i| (1.0 - rho(i).powi(2)).ln()).sum::<f64>();
        assert!((factor.log_det() - log_det).abs() < 1e-10);
    }

    #[test]
    fn the_best_gap_is_that_of_a_fine_grid() {
        for (product, square) in [(3.0, 0.5), (-1.0, 9.0), (0.0, 4.0), (8.0, 1e-9), (0.2, 0.7), (5.0, 0.0)] {
            for v in [0.3, 1.0, 20.0] {
                let pair = Pair { product, square };
                let (rho, value) = pair.best(4.0, v);
                let grid = (1..200_000).map(|i| f64::from(i) / 200_000.0).filter(|r| *r <= tight());
                let most = grid.map(|r| pair.joint(r, 4.0, v)).fold(f64::NEG_INFINITY, f64::max);
                assert!(value >= most - 1e-9 * most.abs(), "{product} {square} {v}: {rho} {value} {most}");
                assert!((FAINT..=tight()).contains(&rho));
            }
        }
    }

    /// Rows on a line: transform and inverse transform agree with the dense process.
    #[test]
    fn what_is_predicted_is_what_the_dense_process_predicts() {
        let row = |i: usize| [(0.3 * i as f64).sin(), (0.2 * i as f64).cos(), 0.1 * i as f64];
        let points = Points::from_rows(&(0..12).map(row).collect::<Vec<_>>()).unwrap();
        let places: Vec<f64> = (0..12).map(|i| f64::from(i * 7 % 12) * 0.4).collect();
        let map = Points::new(12, 1, places.clone()).unwrap();
        let v = 1.3;
        let line = Line::new(Problem::new(&points, &map, true).unwrap(), &map, v);
        let factor = Positive::factor(Mat::from_fn(12, 12, |i, j| v * (-(places[i] - places[j]).abs()).exp())).unwrap();
        for t in [-1.0, 0.13, 2.0, 3.3, 5.5] {
            let mut solved = Mat::from_fn(12, 1, |i, _| v * (-(places[i] - t).abs()).exp());
            let k = solved.clone();
            factor.solve(solved.as_mut());
            let (mean, variance) = line.at(t);
            for (j, mean) in mean.iter().enumerate() {
                let known: f64 = (0..12).map(|i| solved[(i, 0)] * line.problem.data_row(i)[j]).sum();
                assert!((mean - known).abs() < 1e-12, "{t} {j}: {mean} {known}");
            }
            let known = v - (0..12).map(|i| k[(i, 0)] * solved[(i, 0)]).sum::<f64>();
            // At a training position only the lower bound of the variance is left.
            assert!((variance - known.max(v * NOISE_FLOOR)).abs() < 1e-9, "{t}: {variance} {known}");
        }
        // No position of a fine grid is more likely than the result.
        let density = |row: &[f64], t: f64| {
            let (mean, variance) = line.at(t);
            let off: f64 = row.iter().zip(&mean).map(|(x, mean)| (x - mean).powi(2)).sum();
            -0.5 * (3.0 * (std::f64::consts::TAU * variance).ln() + off / variance)
        };
        for row in [[0.3, 0.9, -1.0], [-0.5, 0.1, 0.8], [1.5, -1.5, 0.0]] {
            let found = density(&row, line.place(&row));
            let most = (-400..1000).map(|i| density(&row, 0.01 * f64::from(i) + 0.0037)).fold(f64::MIN, f64::max);
            assert!(found >= most - 1e-6, "{row:?}: {found} {most}");
        }
    }
}

//! The Ornstein-Uhlenbeck process in one dimension: the maximum-likelihood order of the rows, and the gaps between
//! them.
//!
//! Given the order, the likelihood is a sum over neighbors, and every gap has a separate optimum (`gp/line.rs`). So the
//! maximum-likelihood map is a shortest path through all rows, with the value of a pair of neighbors in place of a
//! length:
//!
//! ```text
//! log likelihood = Σ over neighbors (log p(a, b) − ½ log p(a) − ½ log p(b)) + ½ log p(first) + ½ log p(last)
//! ```
//!
//! The path is improved by reversing segments of it (2-opt) and by moving segments of up to three rows (or-opt) until
//! neither helps, from several starts. The variance v is then set to its optimum for the path, and both are repeated
//! until the path is unchanged. That is a local maximum: the global one is as hard to find as a shortest tour.
//!
//! G. A. Croes. A method for solving traveling-salesman problems. Operations Research 6, 1958. I. Or. Traveling
//! salesman-type combinatorial problems. PhD thesis, Northwestern University, 1976.

use crate::gp::line::{Pair, alone, highest, tight};
use crate::gp::problem::Problem;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Stage};

/// How often path and variance are optimized in turn.
const ROUNDS: usize = 20;
/// The maximum number of rows that are moved together.
const CHUNK: usize = 3;
/// A gain below this fraction of the value is rounding.
const ROUNDING: f64 = 1e-12;
/// The search interval of log v, in units of the data's variance, and the size of the initial grid.
const LOGS: (f64, f64, usize) = (-7.0, 14.0, 21);

/// The best path.
pub(super) struct Ordered {
    /// Which start it came from.
    pub(super) start: &'static str,
    /// One position per row.
    pub(super) places: Vec<f64>,
    /// v, in units of the data's variance.
    pub(super) variance: f64,
    /// The log likelihood of the data in their units.
    pub(super) log_likelihood: f64,
    /// The log likelihood after every round.
    pub(super) curve: Vec<f64>,
    /// How many gaps are at their lower bound.
    pub(super) tight: usize,
    /// Whether the path has converged.
    pub(super) converged: bool,
}

/// The value of every pair of rows as neighbors, and of every row as an end: row and column n.
pub(super) struct Worth {
    size: usize,
    values: Vec<f64>,
}

impl Worth {
    pub(super) fn of(problem: &Problem, v: f64) -> Worth {
        let (n, p) = (problem.n, problem.features as f64);
        let size = n + 1;
        let own: Vec<f64> = (0..n).map(|i| 0.5 * alone(square(problem.data_row(i)), p, v)).collect();
        let mut values = vec![0.0; size * size];
        parallel::chunks_mut(&mut values, size, |i, out| {
            for (j, out) in out.iter_mut().enumerate() {
                *out = match (i < n, j < n) {
                    (true, true) if i != j => {
                        // The same number for both orders of the pair.
                        let (a, b) = (problem.data_row(i.min(j)), problem.data_row(i.max(j)));
                        Pair::of(a, b).best(p, v).1 - own[i] - own[j]
                    }
                    (true, false) => own[i],
                    (false, true) => own[j],
                    _ => 0.0,
                };
            }
        });
        Worth { size, values }
    }

    fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.size + j]
    }

    /// The value of a whole path.
    pub(super) fn total(&self, path: &[usize]) -> f64 {
        let end = self.size - 1;
        let inside: f64 = path.windows(2).map(|two| self.get(two[0], two[1])).sum();
        inside + self.get(end, path[0]) + self.get(end, path[path.len() - 1])
    }

    /// The greedy path: always on to the best next row, from the row that is best as an end.
    fn greedy(&self) -> Vec<usize> {
        let n = self.size - 1;
        let (mut path, mut free) = (Vec::with_capacity(n), vec![true; n]);
        let mut last = n;
        while path.len() < n {
            let left = (0..n).filter(|&i| free[i]);
            let Some(next) = left.reduce(|a, b| if self.get(last, b) > self.get(last, a) { b } else { a }) else {
                break;
            };
            free[next] = false;
            path.push(next);
            last = next;
        }
        path
    }

    /// The path after 2-opt and or-opt.
    pub(super) fn improved(&self, path: &[usize], observer: &dyn Observer) -> Vec<usize> {
        // As a cycle through the row that represents the ends.
        let mut cycle: Vec<usize> = std::iter::once(self.size - 1).chain(path.iter().copied()).collect();
        let least = ROUNDING * self.total(path).abs();
        while !observer.stop() && (self.turns(&mut cycle, least) | self.moves(&mut cycle, least)) {}
        cycle.split_off(1)
    }

    /// One sweep of 2-opt; returns whether it helped.
    fn turns(&self, cycle: &mut [usize], least: f64) -> bool {
        let (size, mut helped) = (cycle.len(), false);
        for i in 1..size {
            for j in i + 1..size {
                let (before, after) = (cycle[i - 1], cycle[(j + 1) % size]);
                let (first, last) = (cycle[i], cycle[j]);
                let old = self.get(before, first) + self.get(last, after);
                if self.get(before, last) + self.get(first, after) - old > least {
                    cycle[i..=j].reverse();
                    helped = true;
                }
            }
        }
        helped
    }

    /// One sweep of or-opt; returns whether it helped.
    fn moves(&self, cycle: &mut Vec<usize>, least: f64) -> bool {
        let (size, mut helped) = (cycle.len(), false);
        for length in 1..=CHUNK.min(size - 2) {
            for i in 1..=size - length {
                let (first, last) = (cycle[i], cycle[i + length - 1]);
                let (before, after) = (cycle[i - 1], cycle[(i + length) % size]);
                let freed = self.get(before, after) - self.get(before, first) - self.get(last, after);
                // Between k and the next, where neither is in the segment.
                let gain = |k: usize| {
                    let (a, b) = (cycle[k], cycle[(k + 1) % size]);
                    let straight = self.get(a, first) + self.get(last, b);
                    let turned = self.get(a, last) + self.get(first, b);
                    (straight.max(turned) - self.get(a, b) + freed, turned > straight)
                };
                let places = (0..size).filter(|&k| k + 1 < i || k >= i + length).map(|k| (gain(k), k));
                let Some(((won, turned), k)) = places.reduce(|a, b| if b.0.0 > a.0.0 { b } else { a }) else {
                    continue;
                };
                if won > least {
                    let mut segment: Vec<usize> = cycle.drain(i..i + length).collect();
                    if turned {
                        segment.reverse();
                    }
                    let at = if k < i { k + 1 } else { k + 1 - length };
                    cycle.splice(at..at, segment);
                    helped = true;
                }
            }
        }
        helped
    }
}

/// The log likelihood of a path at its optimal gaps, in the problem's units.
pub(super) fn along(problem: &Problem, path: &[usize], v: f64) -> f64 {
    let p = problem.features as f64;
    let own = |i: usize| alone(square(problem.data_row(i)), p, v);
    let step = |two: &[usize]| Pair::of(problem.data_row(two[0]), problem.data_row(two[1])).best(p, v).1 - own(two[0]);
    own(path[0]) + path.windows(2).map(step).sum::<f64>()
}

/// The best v of a path.
fn best_variance(problem: &Problem, path: &[usize]) -> f64 {
    let (low, high, count) = LOGS;
    let step = (high - low) / count as f64;
    let value = |log: f64| along(problem, path, log.exp());
    let tried = parallel::collect(count + 1, |at| value(low + at as f64 * step));
    let at = (0..=count).reduce(|a, b| if tried[b] > tried[a] { b } else { a }).unwrap_or(0);
    let around = |at: usize| low + at as f64 * step;
    highest(value, around(at.saturating_sub(1)), around((at + 1).min(count))).exp()
}

/// The best path from these starts, which have one coordinate; optionally also from the order of the rows and a greedy
/// path.
pub(super) fn ordered(
    problem: &Problem,
    starts: Vec<(&'static str, Vec<usize>)>,
    more: bool,
    observer: &dyn Observer,
) -> Result<Ordered> {
    let mut variance = 1.0;
    let mut worth = Worth::of(problem, variance);
    let own = more.then(|| [("rows", (0..problem.n).collect()), ("greedy", worth.greedy())]);
    let starts: Vec<(&'static str, Vec<usize>)> = starts.into_iter().chain(own.into_iter().flatten()).collect();
    let paths = parallel::collect_of(starts, |_, (name, path)| (name, worth.improved(&path, observer)));
    let best = paths.into_iter().map(|(name, path)| (worth.total(&path), name, path));
    let best = best.reduce(|best, one| if one.0 > best.0 { one } else { best });
    let (_, start, mut path) = best.ok_or_else(|| Error::parameter("init", "there is no start", "give one"))?;
    let (mut converged, mut curve) = (false, Vec::new());
    for round in 0..ROUNDS {
        variance = best_variance(problem, &path);
        let value = problem.log_likelihood(-along(problem, &path, variance));
        curve.push(value);
        observer.objective(-value / problem.cells());
        observer.progress(Stage::Field, (round + 1) as f64 / ROUNDS as f64);
        if observer.stop() {
            break;
        }
        worth = Worth::of(problem, variance);
        let next = worth.improved(&path, observer);
        converged = worth.total(&next) <= worth.total(&path);
        if converged {
            break;
        }
        path = next;
    }
    let (mut places, mut place, mut at_floor) = (vec![0.0; problem.n], 0.0, 0);
    for two in path.windows(2) {
        let (a, b) = (problem.data_row(two[0]), problem.data_row(two[1]));
        let (rho, _) = Pair::of(a, b).best(problem.features as f64, variance);
        place -= rho.ln();
        places[two[1]] = place;
        at_floor += usize::from(rho >= tight());
    }
    let log_likelihood = problem.log_likelihood(-along(problem, &path, variance));
    Ok(Ordered { start, places, variance, log_likelihood, curve, tight: at_floor, converged })
}

fn square(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use eigenfold_graph::points::Points;
    use eigenfold_linalg::progress::Silent;

    /// Rows along a curve, out of order.
    fn curve(n: usize) -> Problem {
        let row = |i: usize| {
            let t = 0.2 * ((i * 7) % n) as f64;
            [t.cos(), t.sin(), 0.3 * t, (0.5 * t).sin()]
        };
        let points = Points::from_rows(&(0..n).map(row).collect::<Vec<_>>()).unwrap();
        let map = Points::new(n, 1, (0..n).map(|i| i as f64).collect()).unwrap();
        Problem::new(&points, &map, true).unwrap()
    }

    #[test]
    fn the_worth_of_a_path_is_its_likelihood() {
        let problem = curve(30);
        let worth = Worth::of(&problem, 0.8);
        let path: Vec<usize> = (0..30).map(|i| (i * 11) % 30).collect();
        let (total, along) = (worth.total(&path), along(&problem, &path, 0.8));
        assert!((total - along).abs() < 1e-9 * along.abs(), "{total} {along}");
        let backwards: Vec<usize> = path.iter().rev().copied().collect();
        assert!((worth.total(&backwards) - total).abs() < 1e-9 * total.abs());
    }

    #[test]
    fn five_rows_have_the_best_of_all_orders() {
        let problem = curve(5);
        let worth = Worth::of(&problem, 1.0);
        let mut best = f64::NEG_INFINITY;
        for code in 0..3125usize {
            let path: Vec<usize> = (0..5).map(|at| code / 5usize.pow(at) % 5).collect();
            if (0..5).all(|i| path.contains(&i)) {
                best = best.max(worth.total(&path));
            }
        }
        for start in [[0, 1, 2, 3, 4], [3, 0, 4, 1, 2]] {
            let found = worth.total(&worth.improved(&start, &Silent));
            assert!((found - best).abs() < 1e-9 * best.abs(), "{found} {best}");
        }
    }

    #[test]
    fn rows_of_a_curve_come_in_their_order() {
        let n = 60;
        let problem = curve(n);
        let start = vec![("rows", (0..n).collect())];
        let found = ordered(&problem, start, true, &Silent).unwrap();
        assert!(found.converged && found.curve.windows(2).all(|two| two[1] >= two[0]), "{:?}", found.curve);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| found.places[i].total_cmp(&found.places[j]));
        let along: Vec<usize> = order.iter().map(|&i| (i * 7) % n).collect();
        let forwards = along.windows(2).all(|two| two[1] == two[0] + 1);
        let backwards = along.windows(2).all(|two| two[0] == two[1] + 1);
        assert!(forwards || backwards, "{along:?}");
    }

    /// 55 frames of a run, in the order of time. The numbers are from an independent program: in the order of time at v = the
    /// mean square, and 2-opt from there.
    #[test]
    #[ignore = "needs data/osu_run1/data.csv beside the project"]
    fn motion_capture_has_the_likelihood_of_an_independent_program() {
        let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
        let directory = std::env::var("EIGENFOLD_SHARED").unwrap_or_else(|_| beside.into());
        let path = format!("{directory}/data/osu_run1/data.csv");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let number = |cell: &str| cell.trim().parse::<f64>();
        let rows = text.lines().filter(|line| line.split(',').all(|cell| number(cell).is_ok()));
        let rows: Vec<Vec<f64>> =
            rows.map(|line| line.split(',').map(|cell| number(cell).unwrap()).collect()).collect();
        let points = Points::from_rows(&rows).unwrap();
        let map = Points::new(55, 1, (0..55).map(f64::from).collect()).unwrap();
        let problem = Problem::new(&points, &map, true).unwrap();
        let time: Vec<usize> = (0..55).collect();
        let in_time = problem.log_likelihood(-along(&problem, &time, 1.0));
        assert!((in_time - 5_398.471_898_308_4).abs() < 1e-6, "{in_time}");
        let worth = Worth::of(&problem, 1.0);
        let better = problem.log_likelihood(-worth.total(&worth.improved(&time, &Silent)));
        assert!(better > 5_414.17, "{better}");
        let found = ordered(&problem, vec![("rows", time)], true, &Silent).unwrap();
        assert!(found.log_likelihood > better && found.converged, "{} {}", found.log_likelihood, found.variance);
    }
}

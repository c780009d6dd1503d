//! Symmetric weights that reconstruct every point from its neighbors: the variant of locally linear embedding that
//! maximum variance unfolding suggests.
//!
//! ```text
//! minimize ½ Σᵢ ‖x[i] − Σⱼ w[i,j] x[j]‖² + r tr(Cᵢ) Σⱼ w[i,j]²    w[i,j] = w[j,i] on the edges of the union graph
//! subject to Σⱼ w[i,j] = 1
//! ```
//!
//! One weight per edge couples all points: with H the Hessian over the edges and B the n × |E| incidence of points and
//! edges it is min ½ wᵀHw, Bw = 1. Conjugate gradients stay in Bw = 1 by a projection in the metric of P = diag H, whose
//! B P⁻¹ Bᵀ has the sparsity of the graph and is factored once (N. Gould, M. Hribar, J. Nocedal. On the solution of
//! equality constrained quadratic programming problems arising in optimization. SIAM J. Sci. Comput. 23(4), 2001).
//!
//! L. Xiao, J. Sun, S. Boyd. A duality view of spectral methods for dimensionality reduction. ICML 2006, section 5.1.

use crate::field::Site;
use crate::input::Measured;
use eigenfold_graph::{Graph, Undirected};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;
use eigenfold_linalg::sparse::cholesky::{Analysis, Cholesky};
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use faer::Mat;

/// The projected gradient must fall to this fraction of what it was at the start.
const TOLERANCE: f64 = 1e-10;
/// Steps of conjugate gradients; about the root of the condition number, 1/r, times ten is usual.
const MAX_STEPS: usize = 5000;

/// The weights, and whether the solver met its tolerance.
pub(crate) struct Symmetric {
    /// The union graph that the weights are on.
    pub(crate) graph: Undirected,
    /// One weight for every entry of every list, symmetric.
    pub(crate) weights: Vec<Vec<f64>>,
    /// Whether the solver met its tolerance.
    pub(crate) converged: bool,
    /// Whether the observer stopped it.
    pub(crate) stopped: bool,
}

/// The weights of a graph; if the observer stops the run, those that have been reached, which sum to one as well.
///
/// # Errors
///
/// [`Error::Stopped`] if the observer stops the run before the first step; if the graph has no such weights, or the
/// memory limit is exceeded.
pub(crate) fn symmetric_weights(
    site: &Site<'_>,
    graph: &Graph,
    data: Measured<'_>,
    regularization: f64,
) -> Result<Symmetric> {
    let problem = Problem::new(site, graph, data, regularization)?;
    let projection = Projection::new(&problem)?;
    let ones = vec![1.0; problem.graph.len()];
    let mut w = vec![0.0; problem.ends.len()];
    for _ in 0..3 {
        // Once, and twice more against rounding.
        let missing: Vec<f64> = ones.iter().zip(problem.sums(&w)).map(|(one, sum)| one - sum).collect();
        let step = projection.lift(&projection.multipliers(missing));
        w.iter_mut().zip(step).for_each(|(w, step)| *w += step);
    }
    if problem.sums(&w).iter().any(|sum| (sum - 1.0).abs() > 1e-6) {
        return Err(Error::parameter(
            "neighbors",
            "no symmetric weights sum to one at every point of this graph (it is bipartite, like a tree or a star)",
            "use a larger `neighbors`, or `variant` standard",
        ));
    }
    let ended = problem.descend(&projection, &mut w, site.observer);
    if ended == (CgEnd::Stopped { steps: 0 }) {
        return Err(Error::Stopped);
    }
    let (converged, stopped) = (ended == CgEnd::Converged, matches!(ended, CgEnd::Stopped { .. }));
    let lists = |i: usize| problem.edges[i].iter().map(|&e| w[e as usize]).collect();
    let weights = (0..problem.graph.len()).map(lists).collect();
    Ok(Symmetric { graph: problem.graph, weights, converged, stopped })
}

/// min ½ wᵀHw over the edges, Bw = 1.
struct Problem {
    graph: Undirected,
    /// For every point the numbers of its edges, in the order of its list.
    edges: Vec<Vec<u32>>,
    /// The two ends of every edge.
    ends: Vec<(u32, u32)>,
    /// For every point its share of H, over its own edges.
    shares: Vec<Vec<f64>>,
}

impl Problem {
    fn new(site: &Site<'_>, graph: &Graph, data: Measured<'_>, regularization: f64) -> Result<Problem> {
        let graph = graph.union();
        let entries: u64 = (0..graph.len()).map(|i| (graph.neighbors(i).len() as u64).pow(2)).sum();
        site.afford("the coupled regressions", 8 * entries, "use a smaller `neighbors`, or `variant` standard")?;
        let mut ends = Vec::with_capacity(graph.edge_count() / 2);
        let mut edges: Vec<Vec<u32>> = vec![Vec::new(); graph.len()];
        for (i, j, _) in graph.pairs() {
            // Lists ascend, so the edges of a point are numbered in the order of its list.
            edges[i as usize].push(ends.len() as u32);
            edges[j as usize].push(ends.len() as u32);
            ends.push((i, j));
        }
        let share = |i: usize| {
            let k = graph.neighbors(i).len();
            let mut share = data.around(i, graph.neighbors(i)).gram(k).into_owned();
            let trace: f64 = (0..k).map(|a| share[a * k + a]).sum();
            // Coinciding points leave the weights undetermined; equal ones are used.
            let added = regularization * if trace > 0.0 { trace } else { f64::MIN_POSITIVE.sqrt() };
            (0..k).for_each(|a| share[a * k + a] += added);
            share
        };
        let shares = parallel::collect(graph.len(), share);
        Ok(Problem { graph, edges, ends, shares })
    }

    /// H w, and its part at every point: the two shares of an edge are added in the order of its ends.
    fn hessian(&self, w: &[f64]) -> Vec<f64> {
        let product = |i: usize| -> Vec<f64> {
            let own: Vec<f64> = self.edges[i].iter().map(|&e| w[e as usize]).collect();
            let rows = self.shares[i].chunks_exact(own.len().max(1));
            rows.map(|row| row.iter().zip(&own).map(|(h, w)| h * w).sum()).collect()
        };
        let products: Vec<Vec<f64>> = parallel::collect(self.graph.len(), product);
        self.scatter(|i, place| products[i][place])
    }

    /// The sum over the two ends of every edge of something that each end has at the place of the edge in its list.
    fn scatter(&self, value: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.ends.len()];
        for (i, edges) in self.edges.iter().enumerate() {
            for (place, &e) in edges.iter().enumerate() {
                sums[e as usize] += value(i, place);
            }
        }
        sums
    }

    /// B w.
    fn sums(&self, w: &[f64]) -> Vec<f64> {
        self.edges.iter().map(|edges| edges.iter().map(|&e| w[e as usize]).sum()).collect()
    }

    /// Conjugate gradients from a w with Bw = 1, which every step keeps and brings nearer to the minimum.
    fn descend(&self, projection: &Projection<'_>, w: &mut [f64], observer: &dyn Observer) -> CgEnd {
        let mut gradient = self.hessian(w);
        let mut projected = projection.apply(&mut gradient);
        let mut direction: Vec<f64> = projected.iter().map(|g| -g).collect();
        let mut size = dot(&gradient, &projected);
        let enough = size * TOLERANCE * TOLERANCE;
        for steps in 0..MAX_STEPS {
            if size <= enough {
                return CgEnd::Converged;
            }
            if observer.stop() {
                return CgEnd::Stopped { steps };
            }
            let image = self.hessian(&direction);
            let step = size / dot(&direction, &image);
            w.iter_mut().zip(&direction).for_each(|(w, d)| *w += step * d);
            gradient.iter_mut().zip(&image).for_each(|(g, h)| *g += step * h);
            projected = projection.apply(&mut gradient);
            let next = dot(&gradient, &projected);
            direction.iter_mut().zip(&projected).for_each(|(d, g)| *d = next / size * *d - g);
            size = next;
        }
        if size <= enough { CgEnd::Converged } else { CgEnd::Spent }
    }
}

/// How the conjugate gradients ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CgEnd {
    /// The tolerance was met.
    Converged,
    /// The maximum number of steps was reached.
    Spent,
    /// The observer stopped the run after this many steps.
    Stopped { steps: usize },
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The projection on Bw = 0 in the metric of P = diag H.
struct Projection<'a> {
    problem: &'a Problem,
    /// P⁻¹.
    inverse: Vec<f64>,
    /// The diagonal S that makes the diagonal of S B P⁻¹ Bᵀ S one.
    scale: Vec<f64>,
    /// The factor of S B P⁻¹ Bᵀ S.
    factor: Cholesky,
}

impl Projection<'_> {
    fn new(problem: &Problem) -> Result<Projection<'_>> {
        let diagonal = problem.scatter(|i, place| problem.shares[i][place * problem.edges[i].len() + place]);
        let inverse: Vec<f64> = diagonal.iter().map(|d| 1.0 / d).collect();
        let matrix = SparseSymmetric::with_diagonal(&problem.sums(&inverse), problem.graph.edge_count(), |i| {
            (problem.graph.neighbors(i), problem.edges[i].iter().map(|&e| inverse[e as usize]))
        });
        // Relative to each row's own size, since the weights of far and near edges differ widely.
        let scale: Vec<f64> = matrix.diagonal().iter().map(|d| 1.0 / d.sqrt()).collect();
        let scaled = matrix.scaled(&scale);
        let factor = Analysis::new(&scaled)?.factor(&scaled, 1e-13)?;
        let factor = factor.ok_or_else(|| {
            Error::numerical("the constraints of the weights could not be factored", "use `variant` standard")
        })?;
        Ok(Projection { problem, inverse, scale, factor })
    }

    /// (B P⁻¹ Bᵀ)⁻¹ of something at every point.
    fn multipliers(&self, at_points: Vec<f64>) -> Vec<f64> {
        let mut v = Mat::from_fn(at_points.len(), 1, |i, _| at_points[i] * self.scale[i]);
        self.factor.solve(v.as_mut());
        (0..at_points.len()).map(|i| v[(i, 0)] * self.scale[i]).collect()
    }

    /// P⁻¹ Bᵀ v.
    fn lift(&self, v: &[f64]) -> Vec<f64> {
        let ends = self.problem.ends.iter().zip(&self.inverse);
        ends.map(|(&(i, j), inverse)| inverse * (v[i as usize] + v[j as usize])).collect()
    }

    /// The projected gradient, without the component along the constraints, so that rounding errors do not grow.
    fn apply(&self, gradient: &mut [f64]) -> Vec<f64> {
        for _ in 0..2 {
            let scaled: Vec<f64> = gradient.iter().zip(&self.inverse).map(|(g, p)| g * p).collect();
            let v = self.multipliers(self.problem.sums(&scaled));
            for (g, &(i, j)) in gradient.iter_mut().zip(&self.problem.ends) {
                *g -= v[i as usize] + v[j as usize];
            }
        }
        gradient.iter().zip(&self.inverse).map(|(g, p)| g * p).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_graph::points::Points;
    use eigenfold_graph::{Metric, Search};
    use eigenfold_linalg::progress::{Silent, StopsAfter};

    fn solve(points: &Points, graph: &Graph, observer: &dyn Observer) -> Result<Symmetric> {
        let site = Site { graph: Some(graph), dims: 1, observer, ..Site::of(points.into()) };
        symmetric_weights(&site, graph, Measured::Points(points, eigenfold_graph::Metric::Euclidean), 1e-3)
    }

    /// At the minimum the gradient of every edge is a sum of two multipliers, one per end; on a graph with odd cycles
    /// these exist and are unique, so the residual of that least-squares fit must vanish.
    #[test]
    fn the_weights_are_symmetric_sum_to_one_and_cannot_be_improved() {
        let row = |i: usize| [(i as f64 * 0.7).sin(), (i as f64 * 1.3).cos(), (i * i % 17) as f64 / 9.0];
        let points = Points::from_rows(&(0..40).map(row).collect::<Vec<_>>()).unwrap();
        let search = Search { neighbors: eigenfold_graph::Neighbors::Nearest(4), ..Search::default() };
        let graph = search.of_points(&points, &Silent).unwrap().graph;
        let found = solve(&points, &graph, &Silent).unwrap();
        assert!(found.converged);
        let weight = |i: usize, j: usize| {
            found.graph.neighbors(i).iter().position(|&o| o as usize == j).map_or(0.0, |at| found.weights[i][at])
        };
        let energy = |w: &dyn Fn(usize, usize) -> f64| -> f64 {
            let share = |i: usize| {
                let neighbors: Vec<usize> = found.graph.neighbors(i).iter().map(|&j| j as usize).collect();
                let square = |f: usize| {
                    let mean: f64 = neighbors.iter().map(|&j| w(i, j) * (points.row(j)[f] - points.row(i)[f])).sum();
                    mean * mean
                };
                let away = |j: usize| Metric::Euclidean.distance(points.row(i), points.row(j)).powi(2);
                let trace: f64 = neighbors.iter().map(|&j| away(j)).sum();
                (0..3).map(square).sum::<f64>() + 1e-3 * trace * neighbors.iter().map(|&j| w(i, j).powi(2)).sum::<f64>()
            };
            (0..40).map(share).sum()
        };
        let least = energy(&weight);
        for i in 0..40 {
            assert!((found.weights[i].iter().sum::<f64>() - 1.0).abs() < 1e-10);
            for &j in found.graph.neighbors(i) {
                assert_eq!(weight(i, j as usize), weight(j as usize, i));
            }
        }
        // Around a ring of four edges weights may move by +t, −t, +t, −t without changing a sum.
        let mut rings = 0;
        for (a, b, c, d) in rings_of_four(&found.graph) {
            rings += 1;
            let moved = |t: f64| {
                let shifted = move |i: usize, j: usize| {
                    let on = |x: usize, y: usize| (i, j) == (x, y) || (i, j) == (y, x);
                    let sign = f64::from(on(a, b) || on(c, d)) - f64::from(on(b, c) || on(d, a));
                    weight(i, j) + t * sign
                };
                energy(&shifted)
            };
            let derivative = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            assert!(derivative.abs() < 1e-7 * least.max(1.0), "ring {a} {b} {c} {d}: {derivative}");
            assert!(moved(0.1) > least && moved(-0.1) > least);
        }
        assert!(rings > 20, "{rings}");
    }

    fn rings_of_four(graph: &Graph) -> Vec<(usize, usize, usize, usize)> {
        let n = graph.len();
        let joined = |i: usize, j: usize| graph.neighbors(i).contains(&(j as u32));
        let mut rings = Vec::new();
        for a in 0..n {
            for b in (a + 1..n).filter(|&b| joined(a, b)) {
                for c in (a + 1..n).filter(|&c| c != b && joined(b, c)) {
                    rings.extend((b + 1..n).filter(|&d| d != c && joined(c, d) && joined(d, a)).map(|d| (a, b, c, d)));
                }
            }
        }
        rings
    }

    #[test]
    fn a_star_has_no_such_weights() {
        let points = Points::from_rows(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]).unwrap();
        let lists = vec![vec![(1, 1.0), (2, 1.0), (3, 1.4)], vec![(0, 1.0)], vec![(0, 1.0)], vec![(0, 1.4)]];
        let Err(error) = solve(&points, &Graph::from_lists(lists).unwrap(), &Silent) else {
            panic!("a star is bipartite")
        };
        assert!(error.to_string().contains("bipartite"), "{error}");
    }

    #[test]
    fn a_stop_gives_weights_that_sum_to_one() {
        let row = |i: usize| [(i as f64 * 0.7).sin(), (i as f64 * 1.3).cos(), (i * i % 17) as f64 / 9.0];
        let points = Points::from_rows(&(0..40).map(row).collect::<Vec<_>>()).unwrap();
        let search = Search { neighbors: eigenfold_graph::Neighbors::Nearest(4), ..Search::default() };
        let graph = search.of_points(&points, &Silent).unwrap().graph;
        assert!(matches!(solve(&points, &graph, &StopsAfter::questions(0)), Err(Error::Stopped)));
        for questions in [1, 5] {
            let found = solve(&points, &graph, &StopsAfter::questions(questions)).unwrap();
            assert!(found.stopped && !found.converged);
            assert!(found.weights.iter().all(|list| (list.iter().sum::<f64>() - 1.0).abs() < 1e-10));
        }
    }
}

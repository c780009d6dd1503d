//! Upper bounds of the variance: every weighting of the graph gives one.
//!
//! ```text
//! tr K ≤ Σ D[e] W[e] / λ(L(W))      for every K ⪰ 0, K1 = 0 with b[e]ᵀ K b[e] ≤ D[e], and every W ≥ 0
//! ```
//!
//! since λ tr K ≤ tr L(W) K = Σ W[e] b[e]ᵀ K b[e]. The best bound is the largest variance itself, and its weights are
//! the rates W[e] of the fastest mixing random walk on the graph with fixed Σ D W: (9) is that problem, maximize
//! λ(L(W)) over Σ D W = 1.
//!
//! [`best_bound`] improves the weights for a few rounds. In the shares p = D W, with b/√D as rows, this is the search
//! for an E-optimal design, and the update is the multiplicative one for a smooth approximation of λ, (Σ
//! λ[q]^(1−t))^(1/(1−t)) of the smallest eigenvalues:
//!
//! ```text
//! W[e] ← W[e] √(x[e] / mean x)      x[e] = Σ_q λ[q]^(−t) (b[e]ᵀ v[q])² / D[e],   the mean by the shares
//! ```
//!
//! so edges along which the lowest eigenvectors vary most get more weight. Every round gives a bound, and the best one
//! is kept.
//!
//! L. Xiao, J. Sun, S. Boyd. A duality view of spectral methods for dimensionality reduction. ICML 2006, (8), (9),
//! section 6.1. J. Sun, S. Boyd, L. Xiao, P. Diaconis. The fastest mixing Markov process on a graph and a connection to
//! a maximum variance unfolding problem. SIAM Review 48(4), 2006. S. D. Silvey, D. M. Titterington, B. Torsney. An
//! algorithm for optimal designs on a finite design space. Communications in Statistics A 7(14), 1978.

use crate::field::unfolding::certificate::{MARGINS, bound_at, confirmed};
use crate::field::unfolding::{Constraints, Pairs, Web};
use eigenfold_graph::Graph;
use eigenfold_graph::Weight;
use eigenfold_linalg::eigen::pencil::{Pencil, Rung, bottom_and_rung};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;
use eigenfold_linalg::sparse::cholesky::Analysis;
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use faer::Mat;

/// The relative accuracy of λ is better than this.
const ACCURACY: f64 = 1e-7;
/// Rounds of updates.
const ROUNDS: usize = 12;
/// How many of the smallest eigenvalues the smooth approximation requests; it uses all that the solver returns.
const SMALLEST: usize = 4;
/// t of the smooth approximation: larger values are closer to λ and less smooth.
const SHARPNESS: i32 = 9;

/// The variance of every embedding, of any dimension, in which no edge of the graph is longer than it is there is at
/// most this: the sum of its squared distances from the mean, bounded by the weights. Only the ends and the weight of a
/// [`Weight`] are read; the lengths are the graph's.
///
/// That no eigenvalue is smaller than the λ of the bound is confirmed by the signs of the pivots of a factor.
///
/// ```
/// use eigenfold::{Graph, Weight, Silent, mvu_upper_bound};
///
/// // Three points in a row, one apart: pulled straight they have the variance 2, and the weights 1, 1 prove it.
/// let graph = Graph::from_lists(vec![vec![(1, 1.0)], vec![(2, 1.0)], vec![]])?;
/// let weight = |i| Weight { i, j: i + 1, distance: 1.0, weight: 1.0 };
/// let bound = mvu_upper_bound(&graph, &[weight(0), weight(1)], None, &Silent)?;
/// assert!((bound - 2.0).abs() < 1e-6);
/// # Ok::<(), eigenfold::Error>(())
/// ```
///
/// # Errors
///
/// If a weight is negative, not finite or not of an edge, if the edges with weights do not connect the graph, so that
/// they bound nothing, or the eigenvalue could not be computed and confirmed within the memory (bytes; if not given, most
/// of what is free).
pub fn mvu_upper_bound(graph: &Graph, weights: &[Weight], memory: Option<u64>, observer: &dyn Observer) -> Result<f64> {
    let pairs = Pairs::new(graph, Constraints::Edges, None)?;
    let union = graph.union();
    let mut w = vec![0.0; pairs.ends.len()];
    for &Weight { i, j, weight, .. } in weights {
        let is_edge = (i as usize) < union.len() && union.neighbors(i as usize).binary_search(&j).is_ok();
        if !is_edge || !(0.0..f64::INFINITY).contains(&weight) {
            return Err(Error::parameter(
                "weights",
                format!("the weight {weight} of {i} and {j} bounds nothing"),
                "give nonnegative weights of edges",
            ));
        }
        if let Some(e) = pairs.place(i, j) {
            w[e] += weight;
        }
    }
    let memory = memory.unwrap_or_else(memory::available);
    let web = Web::bare(&pairs, memory);
    let found = slowest(&web, &w, 1, memory, observer)?;
    if found.bound(&web, &w).is_none() {
        return Err(Error::parameter(
            "weights",
            "the edges with weights do not connect the points",
            "give more of them weights",
        ));
    }
    match found.confirmed(&pairs, &w, memory)? {
        Confirmation::Holds(bound) => Ok(bound),
        Confirmation::Fails => Err(Error::numerical(
            "rounding hides whether the weights bound anything",
            "give weights of more similar size",
        )),
        Confirmation::Dear { flops, needed } => Err(Error::Memory {
            what: format!("the factor of {flops:.1e} flops that confirms the bound"),
            needed,
            limit: memory,
            way_out: "raise `memory`, or give weights of fewer edges".into(),
        }),
    }
}

/// The best bound from the weights 1/D, from those of a method if there are any, and from rounds of updates, in the
/// units of the input; `None` if no eigenvalue could be computed, or the observer stopped the run before. It is
/// confirmed like that of [`mvu_upper_bound`], unless the factor takes too long.
pub(crate) fn best_bound(pairs: &Pairs, own: Option<Vec<f64>>, memory: u64, observer: &dyn Observer) -> Option<f64> {
    let web = Web::bare(pairs, memory);
    let known = |w: Vec<f64>| {
        let found = slowest(&web, &w, SMALLEST, memory, observer).ok()?;
        found.bound(&web, &w).map(|bound| Bounding { bound, w, slowest: found })
    };
    let plain: Vec<f64> = pairs.squares.iter().map(|square| 1.0 / square).collect();
    let first = [Some(plain), own].into_iter().flatten().filter_map(known);
    let mut last = first.reduce(|best, next| if next.bound < best.bound { next } else { best })?;
    let mut best = last.clone();
    // Without a factor an eigenvalue takes long, so only the first bounds are used.
    let mut rounds = 0..ROUNDS;
    while last.slowest.rung != Rung::Filter && rounds.next().is_some() {
        let Some(next) = known(reweighted(pairs, &last)) else { break };
        if next.bound < best.bound {
            best = next.clone();
        }
        last = next;
    }
    if best.slowest.rung == Rung::Filter {
        return Some(best.bound);
    }
    match best.slowest.confirmed(pairs, &best.w, memory).ok()? {
        Confirmation::Holds(bound) => Some(bound),
        Confirmation::Fails => None,
        Confirmation::Dear { .. } => Some(best.bound),
    }
}

/// Weights and the bound they give.
#[derive(Clone)]
struct Bounding {
    bound: f64,
    w: Vec<f64>,
    slowest: Slowest,
}

/// The smallest eigenpairs of L(W) beyond the constant.
#[derive(Clone)]
struct Slowest {
    values: Vec<f64>,
    vectors: Mat<f64>,
    rung: Rung,
    norm: f64,
}

/// The result of checking the signs of the pivots.
enum Confirmation {
    /// Confirmed.
    Holds(f64),
    /// Not conclusive.
    Fails,
    /// Not computed.
    Dear { flops: f64, needed: u64 },
}

fn slowest(web: &Web<'_>, w: &[f64], count: usize, memory: u64, observer: &dyn Observer) -> Result<Slowest> {
    let pairs = web.pairs;
    let matrix = SparseSymmetric::laplacian(pairs.len(), &pairs.ends, w, 0.0);
    let wanted = count.min(pairs.len() - 1);
    let (found, rung) = bottom_and_rung(Pencil::new(&matrix, Some(&pairs.counts)), wanted, 0, memory, observer)?;
    if !found.converged {
        let fact = "the smallest eigenvalue of the weights could not be computed";
        return Err(if observer.stop() { Error::Stopped } else { Error::numerical(fact, "use another k") });
    }
    Ok(Slowest { values: found.values, vectors: found.vectors, rung, norm: matrix.norm_bound() })
}

impl Slowest {
    /// The bound, with λ reduced slightly for safety; `None` if it is zero.
    fn bound(&self, web: &Web<'_>, w: &[f64]) -> Option<f64> {
        let lambda = self.values[0];
        let bound = bound_at(web, w, 0.0, lambda * (1.0 - ACCURACY)) * web.pairs.unit.powi(2);
        (lambda > 1e-13 * self.norm && bound.is_finite()).then_some(bound)
    }

    /// The bound with the largest λ that the signs of the pivots confirm, no larger than that of [`Slowest::bound`].
    fn confirmed(&self, pairs: &Pairs, w: &[f64], memory: u64) -> Result<Confirmation> {
        let analysis = Analysis::new(&SparseSymmetric::laplacian(pairs.len(), &pairs.ends, w, 0.0))?;
        let web = Web::new(pairs, &analysis, memory)?;
        if web.fronts().is_err() {
            return Ok(Confirmation::Dear { flops: analysis.flops, needed: 2 * analysis.memory() });
        }
        let margins = MARGINS.into_iter().filter(|&margin| margin >= ACCURACY);
        let bound = |lambda: f64| bound_at(&web, w, 0.0, lambda) * pairs.unit.powi(2);
        let sure = confirmed(&web, w, self.values[0], margins)?;
        Ok(sure.map_or(Confirmation::Fails, |lambda| Confirmation::Holds(bound(lambda))))
    }
}

/// One round of updates.
fn reweighted(pairs: &Pairs, Bounding { w, slowest: found, .. }: &Bounding) -> Vec<f64> {
    let share: Vec<f64> = found.values.iter().map(|value| (found.values[0] / value).powi(SHARPNESS)).collect();
    let ratio = |e: usize| {
        let (i, j) = (pairs.ends[e].0 as usize, pairs.ends[e].1 as usize);
        let along = |(q, share): (usize, &f64)| share * (found.vectors[(i, q)] - found.vectors[(j, q)]).powi(2);
        share.iter().enumerate().map(along).sum::<f64>() / pairs.squares[e]
    };
    let mut ratios = vec![0.0; w.len()];
    parallel::fill(&mut ratios, ratio);
    let shares = || pairs.squares.iter().zip(w).map(|(d, w)| d * w);
    let mean = shares().zip(&ratios).map(|(share, x)| share * x).sum::<f64>() / shares().sum::<f64>();
    // No weight falls by more than a factor of ten per round, so that none vanishes.
    w.iter().zip(&ratios).map(|(w, x)| w * (x / mean).max(0.01).sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_linalg::progress::Silent;

    #[test]
    fn weights_that_bound_nothing_are_refused() {
        let graph = Graph::from_lists(vec![vec![(1, 1.0)], vec![(2, 1.0)], vec![]]).unwrap();
        let weight = |i, j, weight| Weight { i, j, distance: 1.0, weight };
        let refused = |weights: &[Weight]| mvu_upper_bound(&graph, weights, None, &Silent).unwrap_err().to_string();
        assert!(refused(&[weight(0, 2, 1.0)]).contains("0 and 2 bounds nothing"));
        assert!(refused(&[weight(0, 9, 1.0)]).contains("weights of edges"));
        assert!(refused(&[weight(0, 1, -1.0)]).contains("nonnegative"));
        assert!(refused(&[weight(0, 1, 1.0)]).contains("do not connect"));
    }
}

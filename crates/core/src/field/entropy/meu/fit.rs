//! The fit of maximum entropy unfolding: the multipliers of a graph's edges ([`super::Meu`] has the formulas).
//!
//! A few multiplicative updates w ← w R/s, each of which increases the likelihood (they are those of D-optimal design),
//! then quasi-Newton steps preconditioned by the curvature over small blocks of the graph.
//!
//! D. M. Titterington. Algorithms for computing D-optimal designs on a finite design space. Conf. on Information Science
//! and Systems, Johns Hopkins, 1976.

use crate::field::entropy::meu::curvature::Blocks;
use crate::field::entropy::meu::resistances::{Edges, Oracle};
use crate::field::entropy::meu::{Meu, MeuVariant};
use crate::figure::Figure;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Descent, Ended, Objective, Preconditioner, Stop};
use eigenfold_linalg::progress::{Observer, Stage};
use eigenfold_linalg::sparse::cholesky::Analysis;
use eigenfold_linalg::sparse::matrix::SparseSymmetric;

/// Pairs of steps and gradients that the optimizer stores.
const MEMORY: usize = 10;
/// Multiplicative updates before the optimization: they pass the region where quasi-Newton steps fail.
const UPDATES: usize = 5;
/// The gap per point below which the standard variant preconditions its steps by the curvature.
const NEAR: f64 = 0.1;
/// The fraction of that gap that is added to the curvature, besides what rounding requires.
const DAMPING: (f64, f64) = (0.1, 1e-7);
/// The number of points in a block of the graph over which the curvature is computed.
const CHUNK: usize = 64;
/// Up to this many points, the free variant, whose curvature is not local, uses the full curvature.
const WHOLE: usize = 300;
/// The relative rounding error of the value.
const ROUNDING: f64 = 1e-11;
/// Multipliers beyond this, in units of 1/s, indicate a likelihood without a maximum.
const UNBOUNDED: f64 = 1e8;

/// The fitted multipliers and their diagnostics.
pub(crate) struct Multipliers {
    pub(crate) w: Vec<f64>,
    pub(crate) log_determinant: f64,
    /// The quantity that the tolerance bounds: the duality gap per point, or for the free variant the mismatch.
    pub(crate) off: f64,
    /// The largest relative difference of the expected from the observed squared distances, over the active edges.
    pub(crate) mismatch: f64,
    pub(crate) evaluations: usize,
    /// Whether the observer stopped the fit.
    pub(crate) stopped: bool,
}

impl Multipliers {
    /// What the report shows.
    pub(crate) fn figures(&self, variant: MeuVariant) -> Vec<(Figure, f64)> {
        let count = |which: &dyn Fn(f64) -> bool| self.w.iter().filter(|&&w| which(w)).count() as f64;
        let mut figures = vec![(Figure::Evaluations, self.evaluations as f64), (Figure::Edges, self.w.len() as f64)];
        match variant {
            MeuVariant::Standard => {
                figures.insert(0, (Figure::Gap, self.off));
                figures.push((Figure::ActiveEdges, count(&|w| w > 0.0)));
            }
            MeuVariant::Free => figures.push((Figure::NegativeEdges, count(&|w| w < 0.0))),
        }
        figures.push((Figure::DistanceMismatch, self.mismatch));
        figures
    }
}

/// The multipliers of the edges; the pattern is that of their Laplacian. If the observer stops the run, the current
/// ones: the likelihood and the gap are defined at each of them.
///
/// # Errors
///
/// [`Error::Stopped`] if the observer stops the run before the first evaluation; if the field is singular.
pub(crate) fn fit(
    meu: &Meu,
    observer: &dyn Observer,
    edges: &Edges,
    (pattern, analysis): (&SparseSymmetric, &Analysis),
) -> Result<Multipliers> {
    if observer.stop() {
        return Err(Error::Stopped);
    }
    let mut oracle = Oracle::new(edges, meu.gamma, pattern, analysis)?;
    let most = if meu.variant == MeuVariant::Free && edges.n <= WHOLE { edges.n } else { CHUNK };
    let blocks = oracle.blocks(pattern, analysis, most)?;
    let m = edges.ends.len();
    let mut w = vec![(edges.n as f64 - 1.0) / m as f64; m];
    if meu.variant == MeuVariant::Standard {
        for _ in 0..UPDATES.min(meu.max_iterations - 1) {
            oracle.value(&w)?.ok_or_else(singular)?;
            w.iter_mut().zip(&oracle.ratios).for_each(|(w, ratio)| *w *= ratio);
            if observer.stop() {
                break;
            }
        }
    }
    let descent = Descent {
        bounds: meu.variant.bounds(),
        memory: MEMORY,
        scale: Some(1.0),
        cautious: true,
        stop: Stop { gradient: 0.0, decrease: -1.0, evaluations: meu.max_iterations - oracle.evaluations },
        stage: Some(Stage::Field),
    };
    let mut search = Search { meu, edges, oracle, blocks, observer, at: Vec::new(), off: f64::INFINITY, first: 0.0 };
    let (w, report) = descent.minimize(&w, &mut search, observer)?;
    let evaluations = search.oracle.evaluations;
    search.go_to(&w)?;
    let Search { oracle, off, .. } = search;
    let mismatch = mismatch(&w, &oracle.ratios);
    let stopped = report.ended == Ended::Stopped;
    Ok(Multipliers { log_determinant: oracle.log_determinant, off, mismatch, evaluations, stopped, w })
}

fn singular() -> Error {
    Error::numerical("the model of the neighbors' distances is singular", "try `gamma` 1e-4")
}

/// The distance of the last evaluated point from the optimum, in the measure of the variant.
fn off(variant: MeuVariant, edges: &Edges, oracle: &Oracle<'_>, w: &[f64]) -> f64 {
    match variant {
        MeuVariant::Standard => oracle.gap(w) / (edges.n as f64 - 1.0).max(1.0),
        MeuVariant::Free => oracle.ratios.iter().map(|ratio| (ratio - 1.0).abs()).fold(0.0, f64::max),
    }
}

/// The largest relative difference of expected and observed squares; for an inactive edge, the excess.
fn mismatch(w: &[f64], ratios: &[f64]) -> f64 {
    let off = |(w, ratio): (&f64, &f64)| if *w == 0.0 { (ratio - 1.0).max(0.0) } else { (ratio - 1.0).abs() };
    w.iter().zip(ratios).map(off).fold(0.0, f64::max)
}

/// The objective −log det (L + γI) + Σ w, as the optimizer needs it.
struct Search<'a> {
    meu: &'a Meu,
    edges: &'a Edges,
    oracle: Oracle<'a>,
    blocks: Option<Blocks>,
    observer: &'a dyn Observer,
    /// The last point, ...
    at: Vec<f64>,
    /// ... its distance from the optimum, and that of the first point.
    off: f64,
    first: f64,
}

impl Search<'_> {
    /// Evaluates w, unless it was evaluated last.
    fn go_to(&mut self, w: &[f64]) -> Result<()> {
        if self.at != w {
            self.oracle.value(w)?.ok_or_else(singular)?;
            self.arrive(w);
        }
        Ok(())
    }

    /// Stores where the oracle was evaluated last.
    fn arrive(&mut self, w: &[f64]) {
        self.at.clear();
        self.at.extend_from_slice(w);
        self.off = off(self.meu.variant, self.edges, &self.oracle, w);
        if self.meu.variant == MeuVariant::Standard {
            self.observer.gap(self.off);
        }
    }
}

impl Objective for Search<'_> {
    fn value(&mut self, w: &[f64], gradient: &mut [f64]) -> Result<Option<f64>> {
        // The best nonnegative multipliers sum to at most n − 1: a step beyond that was too long.
        if self.meu.variant == MeuVariant::Standard && w.iter().any(|&w| w > self.edges.n as f64) {
            return Ok(None);
        }
        if w.iter().any(|w| w.abs() > UNBOUNDED) {
            let fact =
                "the multipliers grow without bound, as they do where the distances leave no variance in a direction";
            return Err(Error::numerical(fact, "use a larger `noise`, or `variant` standard"));
        }
        self.at.clear();
        let Some(value) = self.oracle.value(w)? else { return Ok(None) };
        for (gradient, ratio) in gradient.iter_mut().zip(&self.oracle.ratios) {
            *gradient = 1.0 - ratio;
        }
        self.arrive(w);
        self.first = self.first.max(self.off);
        Ok(Some(value))
    }

    fn enough(&self) -> bool {
        self.off <= self.meu.tolerance
    }

    /// The value is the sum of about as many terms of order one as there are edges, minus another sum of the same size.
    fn rounding(&self, value: f64) -> f64 {
        ROUNDING * (value.abs() + self.edges.ends.len() as f64)
    }

    /// On a logarithmic scale of the gap.
    fn done(&self) -> Option<f64> {
        let digits = (self.first / self.meu.tolerance).ln().max(1e-9);
        Some((self.first / self.off.max(1e-300)).ln() / digits)
    }

    fn curvature(&mut self, w: &[f64], free: &[bool]) -> Result<Option<Box<dyn Preconditioner>>> {
        self.go_to(w)?;
        let damping = match self.meu.variant {
            MeuVariant::Standard if self.off > NEAR => return Ok(None),
            MeuVariant::Standard => DAMPING.0 * self.off + DAMPING.1,
            MeuVariant::Free => DAMPING.1,
        };
        let Some(blocks) = &self.blocks else { return Ok(None) };
        let curvature = self.oracle.curvature(blocks, w, free, damping);
        Ok(curvature.map(|curvature| Box::new(curvature) as Box<dyn Preconditioner>))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::field::{Build, Site};
    use crate::sample::r2_swiss_roll;
    use eigenfold_graph::points::Points;
    use eigenfold_graph::{Graph, Neighbors};
    use eigenfold_linalg::progress::{Silent, StopsAfter};

    fn nearest(points: &Points) -> Graph {
        let search = eigenfold_graph::Search { neighbors: Neighbors::Nearest(6), ..Default::default() };
        search.of_points(points, &Silent).unwrap().graph
    }

    /// Wherever it stops, the gap bounds how far the objective is from its optimum.
    #[test]
    fn a_stop_gives_multipliers_with_a_gap_that_holds() {
        let points = r2_swiss_roll(200);
        let graph = nearest(&points);
        let edges = Edges::new(&graph.union(), 3);
        let pattern = edges.laplacian(&vec![1.0; edges.ends.len()], 0.0);
        let analysis = Analysis::new(&pattern).unwrap();
        let stopped =
            |questions| fit(&Meu::default(), &StopsAfter::questions(questions), &edges, (&pattern, &analysis));
        assert!(matches!(stopped(0), Err(Error::Stopped)));
        let mut last = f64::INFINITY;
        for questions in [1, 3, 6, 12, 24] {
            let found = stopped(questions).unwrap();
            assert!(found.stopped && found.off > 1e-6 && found.off.is_finite(), "{questions}: {}", found.off);
            assert!(found.w.iter().all(|&w| w >= 0.0));
            let off = found.w.iter().sum::<f64>() - found.log_determinant - 230.300516716393;
            assert!(off > 0.0 && off <= 199.0 * found.off, "{questions}: {off} {}", found.off);
            assert!(off < last);
            last = off;
        }
    }

    #[test]
    fn a_stopped_field_says_so() {
        let points = r2_swiss_roll(200);
        let graph = nearest(&points);
        let observer = StopsAfter::questions(9);
        let site = Site { graph: Some(&graph), dims: 2, observer: &observer, ..Site::of((&points).into()) };
        let built = Meu::default().build(&site).unwrap();
        assert!(!built.ended.is_converged());
        assert!(
            built.warnings.iter().any(|w| w.message().starts_with("stopped before it converged")),
            "{:?}",
            built.warnings
        );
    }
}

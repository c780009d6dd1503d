//! The fit of maximum entropy unfolding: the multipliers of a graph's edges ([`super::Meu`] has the formulas).
//!
//! A few multiplicative updates w ← w R/s, each of which climbs (they are those of D-optimal design), then a descent whose
//! steps are led by the curvature over small pieces of the graph.
//!
//! D. M. Titterington. Algorithms for computing D-optimal designs on a finite design space. Conf. on Information Science
//! and Systems, Johns Hopkins, 1976.

use crate::error::{Error, Result};
use crate::field::entropy::meu::curvature::{Curvature, Pieces};
use crate::field::entropy::meu::multipliers::{Ask, Objective, minimize};
use crate::field::entropy::meu::resistances::{Edges, Oracle};
use crate::field::entropy::meu::{Meu, MeuVariant};
use crate::linalg::sparse::cholesky::Analysis;
use crate::linalg::sparse::matrix::SparseSymmetric;
use crate::progress::{Observer, Stage};

/// Pairs of steps and slopes that the descent remembers.
const MEMORY: usize = 10;
/// Multiplicative updates before the descent: they lead past where a quasi-Newton step is lost.
const UPDATES: usize = 5;
/// The gap per point below which the curvature leads the steps of the standard variant.
const NEAR: f64 = 0.1;
/// The part of that gap that is added to the curvature, with what rounding needs.
const DAMPING: (f64, f64) = (0.1, 1e-7);
/// The points of a piece of the graph over which the curvature is known.
const PIECE: usize = 64;
/// Up to so many points the free variant, whose curvature reaches far, has it whole.
const WHOLE: usize = 300;
/// Multipliers beyond this, in units of 1/s, are those of a likelihood without a maximum.
const UNBOUNDED: f64 = 1e8;

/// What the fit found.
pub(crate) struct Found {
    pub(crate) w: Vec<f64>,
    pub(crate) log_determinant: f64,
    /// What the tolerance is about: the duality gap per point, or for the free variant the mismatch.
    pub(crate) off: f64,
    /// The largest relative difference of the expected from the observed squared distances, over the active edges.
    pub(crate) mismatch: f64,
    pub(crate) evaluations: usize,
}

impl Found {
    /// What the report shows.
    pub(crate) fn figures(&self, variant: MeuVariant) -> Vec<(&'static str, f64)> {
        let count = |which: &dyn Fn(f64) -> bool| self.w.iter().filter(|&&w| which(w)).count() as f64;
        let mut figures = vec![("evaluations", self.evaluations as f64), ("edges", self.w.len() as f64)];
        match variant {
            MeuVariant::Standard => {
                figures.insert(0, ("gap", self.off));
                figures.push(("active_edges", count(&|w| w > 0.0)));
            }
            MeuVariant::Free => figures.push(("negative_edges", count(&|w| w < 0.0))),
        }
        figures.push(("distance_mismatch", self.mismatch));
        figures
    }
}

/// The multipliers of the edges; the pattern is that of their Laplacian.
pub(crate) fn fit(
    meu: &Meu,
    observer: &dyn Observer,
    edges: &Edges,
    (pattern, analysis): (&SparseSymmetric, &Analysis),
) -> Result<Found> {
    let mut oracle = Oracle::new(edges, meu.gamma, pattern, analysis)?;
    let most = if meu.variant == MeuVariant::Free && edges.n <= WHOLE { edges.n } else { PIECE };
    let pieces = oracle.pieces(pattern, analysis, most)?;
    let m = edges.ends.len();
    let mut w = vec![(edges.n as f64 - 1.0) / m as f64; m];
    if meu.variant == MeuVariant::Standard {
        for _ in 0..UPDATES.min(meu.max_iterations - 1) {
            oracle.value(&w)?.ok_or_else(singular)?;
            w.iter_mut().zip(&oracle.ratios).for_each(|(w, ratio)| *w *= ratio);
        }
    }
    let ask =
        Ask { memory: MEMORY, max_evaluations: meu.max_iterations - oracle.evaluations, lower: meu.variant.lower() };
    let mut search = Search { meu, observer, edges, oracle, pieces, off: f64::INFINITY, first: 0.0 };
    let w = minimize(&ask, w, &mut search)?;
    let evaluations = search.oracle.evaluations;
    let mut oracle = search.oracle;
    oracle.value(&w)?.ok_or_else(singular)?;
    let mismatch = mismatch(&w, &oracle.ratios);
    let off = off(meu.variant, edges, &oracle, &w);
    Ok(Found { log_determinant: oracle.log_determinant, off, mismatch, evaluations, w })
}

fn singular() -> Error {
    Error::Numerical("the field of the neighbors' distances is singular; try `gamma` 1e-4".into())
}

/// How far the last point that was evaluated is from the optimum, as the variant measures it.
fn off(variant: MeuVariant, edges: &Edges, oracle: &Oracle<'_>, w: &[f64]) -> f64 {
    match variant {
        MeuVariant::Standard => oracle.gap(w) / (edges.n as f64 - 1.0).max(1.0),
        MeuVariant::Free => oracle.ratios.iter().map(|ratio| (ratio - 1.0).abs()).fold(0.0, f64::max),
    }
}

/// The largest relative difference of expected and observed squares; for a slack edge, the excess.
fn mismatch(w: &[f64], ratios: &[f64]) -> f64 {
    let off = |(w, ratio): (&f64, &f64)| if *w == 0.0 { (ratio - 1.0).max(0.0) } else { (ratio - 1.0).abs() };
    w.iter().zip(ratios).map(off).fold(0.0, f64::max)
}

/// The objective −log det (L + γI) + Σ w with what the descent asks of it.
struct Search<'a> {
    meu: &'a Meu,
    observer: &'a dyn Observer,
    edges: &'a Edges,
    oracle: Oracle<'a>,
    pieces: Option<Pieces>,
    /// How far the last point is from the optimum, and the first was.
    off: f64,
    first: f64,
}

impl Objective for Search<'_> {
    fn value(&mut self, w: &[f64], slope: &mut [f64]) -> Result<Option<(f64, bool)>> {
        if self.observer.stop() {
            return Err(Error::Stopped);
        }
        if w.iter().any(|w| w.abs() > UNBOUNDED) {
            let fact = "the multipliers grow without bound, as they do where distances leave a direction no variance";
            return Err(Error::Numerical(format!("{fact}; use a larger `noise`, or `variant` standard")));
        }
        let Some(value) = self.oracle.value(w)? else { return Ok(None) };
        for (slope, ratio) in slope.iter_mut().zip(&self.oracle.ratios) {
            *slope = 1.0 - ratio;
        }
        self.off = off(self.meu.variant, self.edges, &self.oracle, w);
        self.first = self.first.max(self.off);
        let tolerance = self.meu.tolerance;
        let done = (self.first / self.off.max(1e-300)).ln() / (self.first / tolerance).ln().max(1e-9);
        self.observer.progress(Stage::Field, done.clamp(0.0, 1.0));
        Ok(Some((value, self.off <= tolerance)))
    }

    fn curvature(&self, w: &[f64], free: &[bool]) -> Option<Curvature> {
        let damping = match self.meu.variant {
            MeuVariant::Standard if self.off > NEAR => return None,
            MeuVariant::Standard => DAMPING.0 * self.off + DAMPING.1,
            MeuVariant::Free => DAMPING.1,
        };
        self.oracle.curvature(self.pieces.as_ref()?, w, free, damping)
    }
}

//! Effective resistances: a graph with a multiplier on every edge, its log determinant, and how far apart its field
//! expects the ends of each edge to be.

use crate::field::entropy::meu::curvature::{Blocks, EdgeCurvature};
use eigenfold_graph::Undirected;
use eigenfold_graph::Weight;
use eigenfold_linalg::Operator;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::power::{exponent, times_two_to};
use eigenfold_linalg::sparse::cholesky::{Analysis, Symbolic};
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use eigenfold_linalg::sparse::selected::{Selected, Slot, Tree};

/// A squared length below this fraction of the mean counts as zero: coinciding points would need an infinite
/// multiplier.
const SHORTEST: f64 = 1e-8;

/// The edges of a graph with their squared lengths.
pub(crate) struct Edges {
    pub(crate) n: usize,
    pub(crate) features: usize,
    pub(crate) ends: Vec<(u32, u32)>,
    /// d.
    lengths: Vec<f64>,
    /// s = d²/p.
    pub(crate) squares: Vec<f64>,
    /// How many of them were indistinguishable from zero.
    pub(crate) coincident: usize,
}

impl Edges {
    pub(crate) fn new(graph: &Undirected, features: usize) -> Edges {
        let (ends, lengths): (Vec<(u32, u32)>, Vec<f64>) = graph.pairs().map(|(i, j, d)| ((i, j), d)).unzip();
        let mut squares: Vec<f64> = lengths.iter().map(|d| d * d / features as f64).collect();
        let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        // Points that all coincide stay together: the map of edges of no length has no length.
        let least = if mean > 0.0 { SHORTEST * mean } else { f64::MIN_POSITIVE.sqrt() };
        let coincident = squares.iter().filter(|&&s| s < least).count();
        squares.iter_mut().for_each(|s| *s = s.max(least));
        Edges { n: graph.len(), features, ends, lengths, squares, coincident }
    }

    /// The same edges with noise of that variance at both ends of each.
    pub(crate) fn with_noise(mut self, noise: f64) -> Edges {
        self.squares.iter_mut().for_each(|s| *s += 2.0 * noise);
        self
    }

    /// The power of two of the mean square.
    pub(crate) fn power(&self) -> i32 {
        exponent(self.squares.iter().sum::<f64>() / self.squares.len().max(1) as f64)
    }

    /// Multiplies the squares by a power of two.
    pub(crate) fn times_two_to(&mut self, power: i32) {
        self.squares.iter_mut().for_each(|s| *s = times_two_to(*s, power));
    }

    /// The edges with their multipliers w/s.
    pub(crate) fn weights(&self, w: &[f64]) -> Vec<Weight> {
        let weight = |(e, &(i, j)): (usize, &(u32, u32))| Weight {
            i,
            j,
            distance: self.lengths[e],
            weight: w[e] / self.squares[e],
        };
        self.ends.iter().enumerate().map(weight).collect()
    }

    /// The rows that are kept: all, or all but the last if it is grounded.
    fn kept(&self, gamma: f64) -> usize {
        if gamma > 0.0 { self.n } else { self.n - 1 }
    }

    /// L + γI of the kept rows for the multipliers w/s.
    pub(crate) fn laplacian(&self, w: &[f64], gamma: f64) -> SparseSymmetric {
        self.assembled(w, self.kept(gamma), gamma)
    }

    /// L + γI of all rows.
    pub(crate) fn precision(&self, w: &[f64], gamma: f64) -> SparseSymmetric {
        self.assembled(w, self.n, gamma)
    }

    fn assembled(&self, w: &[f64], rows: usize, gamma: f64) -> SparseSymmetric {
        let weights: Vec<f64> = w.iter().zip(&self.squares).map(|(w, s)| w / s).collect();
        SparseSymmetric::laplacian(rows, &self.ends, &weights, gamma)
    }
}

/// The objective and its state after an evaluation.
pub(crate) struct Oracle<'a> {
    edges: &'a Edges,
    gamma: f64,
    symbolic: Symbolic<'a>,
    tree: Tree,
    /// The index of the diagonal in the inverse.
    diagonal: Vec<Slot>,
    /// The index of every edge that is not at the grounded point.
    across: Vec<Option<Slot>>,
    pub(crate) log_determinant: f64,
    /// R/s of every edge.
    pub(crate) ratios: Vec<f64>,
    trace: f64,
    /// The inverse on the factor's pattern.
    inverse: Option<Selected>,
    pub(crate) evaluations: usize,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(
        edges: &'a Edges,
        gamma: f64,
        pattern: &SparseSymmetric,
        analysis: &'a Analysis,
    ) -> Result<Oracle<'a>> {
        let lost = || Error::numerical("the graph's Laplacian could not be factored", "try `gamma` 1e-4");
        let symbolic = analysis.symbolic()?;
        let factor = symbolic.factor(pattern, 0.0)?.ok_or_else(lost)?;
        let tree = Tree::new(&factor).ok_or_else(lost)?;
        let place = |i: usize, j: usize| tree.place(&factor, i, j).ok_or_else(lost);
        let diagonal = (0..pattern.dim()).map(|i| place(i, i)).collect::<Result<_>>()?;
        let kept = edges.kept(gamma);
        let of_edge = |&(i, j): &(u32, u32)| {
            if (j as usize) < kept { place(i as usize, j as usize).map(Some) } else { Ok(None) }
        };
        let across = edges.ends.iter().map(of_edge).collect::<Result<_>>()?;
        let ratios = vec![0.0; edges.ends.len()];
        Ok(Oracle {
            edges,
            gamma,
            symbolic,
            tree,
            diagonal,
            across,
            log_determinant: 0.0,
            ratios,
            trace: 0.0,
            inverse: None,
            evaluations: 0,
        })
    }

    /// −log det (L + γI) + Σ w; `None` where the matrix is singular.
    pub(crate) fn value(&mut self, w: &[f64]) -> Result<Option<f64>> {
        self.evaluations += 1;
        self.inverse = None;
        let matrix = self.edges.laplacian(w, self.gamma);
        let Some(factor) = self.symbolic.factor(&matrix, 0.0)? else { return Ok(None) };
        let Some(inverse) = self.tree.inverse(&factor) else { return Ok(None) };
        self.log_determinant = factor.log_determinant();
        let own: Vec<f64> = self.diagonal.iter().map(|&place| inverse.at(place)).collect();
        self.trace = own.iter().sum();
        let (Edges { ends, squares, .. }, across) = (self.edges, &self.across);
        self.ratios.resize(ends.len(), 0.0);
        parallel::fill(&mut self.ratios, |e| match (across[e], ends[e]) {
            (Some(place), (i, j)) => (own[i as usize] + own[j as usize] - 2.0 * inverse.at(place)) / squares[e],
            (None, (i, _)) => own[i as usize] / squares[e],
        });
        self.inverse = Some(inverse);
        let value = w.iter().sum::<f64>() - self.log_determinant;
        Ok(value.is_finite().then_some(value))
    }

    /// The blocks of the graph over which the curvature is known, of at most `most` points each.
    pub(crate) fn blocks(&self, pattern: &SparseSymmetric, analysis: &Analysis, most: usize) -> Result<Option<Blocks>> {
        let Some(factor) = self.symbolic.factor(pattern, 0.0)? else { return Ok(None) };
        Blocks::new(self.edges, analysis, most, |i, j| self.tree.place(&factor, i, j))
    }

    /// The curvature at the last point that was evaluated.
    pub(crate) fn curvature(&self, blocks: &Blocks, w: &[f64], wanted: &[bool], damping: f64) -> Option<EdgeCurvature> {
        let inverse = self.inverse.as_ref()?;
        Some(blocks.curvature((self.edges, self.gamma), inverse, w, wanted, damping))
    }

    /// The duality gap at the last point that was evaluated.
    pub(crate) fn gap(&self, w: &[f64]) -> f64 {
        let rank = self.edges.n as f64 - 1.0;
        let c = 1.0 / self.ratios.iter().fold(f64::MIN_POSITIVE, |m, &r| m.max(r));
        let own = if self.gamma > 0.0 { c * (self.gamma * self.trace - 1.0) } else { 0.0 };
        (w.iter().sum::<f64>() - rank - rank * c.ln() + own).max(0.0)
    }
}

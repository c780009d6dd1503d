//! The weighted Laplacian of pairs of points: its products, and its smallest eigenpairs.

use crate::field::unfolding::Pairs;
use eigenfold_linalg::Eigenpairs;
use eigenfold_linalg::buffers::Room;
use eigenfold_linalg::eigen::lanczos::Ask;
use eigenfold_linalg::eigen::pencil::{self, Pencil};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;
use eigenfold_linalg::sparse::cholesky::{Analysis, Symbolic};
use eigenfold_linalg::sparse::fronts::{Blocks, Factor, Fronts};
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use eigenfold_linalg::sparse::rows::Counted;
use faer::{Mat, MatRef};

/// Pairs per chunk of parallel work, and of summation.
const CHUNK: usize = 8192;
/// A factor of more flops than this is not computed.
const DEAR_FLOPS: f64 = 2e12;
/// Up to this many points all eigenpairs are computed.
const DENSE: usize = 60;
/// A pooled vector is reused for one number per pair if it has at most this many times the size.
const SPARE: usize = 4;

/// Points connected by pairs.
pub(crate) struct Web<'a> {
    pub(crate) pairs: &'a Pairs,
    /// How matrices on the pairs are factored, if that is affordable.
    factored: Option<(Fronts, Symbolic<'a>)>,
    /// How many bytes may be allocated.
    memory: u64,
    /// For each point, where its pairs begin.
    offsets: Vec<usize>,
    /// Pair and sign: whether the point is the first end.
    around: Vec<(u32, bool)>,
    /// A pool of vectors for the steps.
    free: Room,
}

impl<'a> Web<'a> {
    /// A weighted Laplacian with factors, unless that would exceed the memory limit or take too long.
    pub(crate) fn new(pairs: &'a Pairs, analysis: &'a Analysis, memory: u64) -> Result<Web<'a>> {
        let mut web = Web::bare(pairs, memory);
        if analysis.flops <= DEAR_FLOPS && 2 * analysis.memory() <= memory {
            web.factored = Some((Fronts::new(analysis, &pairs.ends)?, analysis.symbolic()?));
        }
        Ok(web)
    }

    /// A weighted Laplacian without factors.
    pub(crate) fn bare(pairs: &'a Pairs, memory: u64) -> Web<'a> {
        let mut rows = Counted::rows(pairs.len(), pairs.ends.iter().flat_map(|&(i, j)| [i as usize, j as usize]));
        let mut around = vec![(0u32, false); rows.entries()];
        for (e, &(i, j)) in pairs.ends.iter().enumerate() {
            around[rows.place(i as usize)] = (e as u32, true);
            around[rows.place(j as usize)] = (e as u32, false);
        }
        Web { pairs, factored: None, memory, offsets: rows.offsets, around, free: Room::default() }
    }

    /// The fronts of matrices on the pairs.
    ///
    /// # Errors
    ///
    /// If they are not affordable.
    pub(crate) fn fronts(&self) -> Result<&Fronts> {
        let dear = || {
            Error::parameter(
                "landmarks",
                "the factor of the graph's Laplacian would take too long",
                "use `landmarks` or a smaller `neighbors`",
            )
        };
        self.factored.as_ref().map(|(fronts, _)| fronts).ok_or_else(dear)
    }

    /// Returns vectors to the pool.
    pub(crate) fn keep(&self, vectors: impl IntoIterator<Item = Vec<f64>>) {
        self.free.take_back(vectors);
    }

    /// A number for every pair.
    pub(crate) fn each(&self, of: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let m = self.pairs.ends.len();
        let mut out = self.free.vector(m, SPARE);
        out.resize(m, 0.0);
        parallel::fill(&mut out, of);
        out
    }

    /// The sum of something over all pairs, in a fixed order.
    pub(crate) fn sum(&self, of: impl Fn(usize) -> f64 + Sync) -> f64 {
        self.chunks(|pairs| pairs.map(&of).sum()).iter().sum()
    }

    /// Σ log x over all pairs; `None` where one is not positive. Eight factors share a logarithm.
    pub(crate) fn log_sum(&self, of: impl Fn(usize) -> f64 + Sync) -> Option<f64> {
        let of_chunk = |pairs: std::ops::Range<usize>| {
            let mut sum = 0.0;
            for start in pairs.clone().step_by(8) {
                let mut product = 1.0;
                for e in start..(start + 8).min(pairs.end) {
                    let x = of(e);
                    if x.is_nan() || x <= 0.0 {
                        return f64::NAN;
                    }
                    product *= x;
                }
                sum += product.ln();
            }
            sum
        };
        let total: f64 = self.chunks(of_chunk).iter().sum();
        total.is_finite().then_some(total)
    }

    /// The smallest of something over all pairs; NaN counts as −∞.
    pub(crate) fn least(&self, of: impl Fn(usize) -> f64 + Sync) -> f64 {
        let least = |a: f64, b: f64| if b.is_nan() { f64::NEG_INFINITY } else { a.min(b) };
        self.chunks(|pairs| pairs.map(&of).fold(f64::INFINITY, least)).into_iter().fold(f64::INFINITY, least)
    }

    fn chunks(&self, of: impl Fn(std::ops::Range<usize>) -> f64 + Sync) -> Vec<f64> {
        let m = self.pairs.ends.len();
        let chunk = |at: usize| of(at * CHUNK..((at + 1) * CHUNK).min(m));
        parallel::collect(m.div_ceil(CHUNK), chunk)
    }

    /// y[i] − y[j] for every pair, r numbers each.
    pub(crate) fn differences(&self, r: usize, y: &[f64]) -> Vec<f64> {
        let size = r * self.pairs.ends.len();
        let mut out = self.free.vector(size, SPARE);
        out.resize(size, 0.0);
        parallel::chunks_mut(&mut out, CHUNK * r, |chunk, out| {
            for (&(i, j), out) in self.pairs.ends[chunk * CHUNK..].iter().zip(out.chunks_exact_mut(r)) {
                let (a, b) = (&y[i as usize * r..][..r], &y[j as usize * r..][..r]);
                (0..r).for_each(|q| out[q] = a[q] - b[q]);
            }
        });
        out
    }

    /// L(weights) y, of the differences of y.
    pub(crate) fn laplacian(&self, r: usize, weights: &[f64], differences: &[f64]) -> Vec<f64> {
        let size = r * self.pairs.len();
        let mut out = self.free.zeros(size, SPARE);
        parallel::chunks_mut(&mut out, 1024 * r, |chunk, out| {
            for (at, out) in out.chunks_exact_mut(r).enumerate() {
                let i = chunk * 1024 + at;
                for &(e, first) in &self.around[self.offsets[i]..self.offsets[i + 1]] {
                    let weight = if first { weights[e as usize] } else { -weights[e as usize] };
                    let difference = &differences[e as usize * r..][..r];
                    (0..r).for_each(|q| out[q] += weight * difference[q]);
                }
            }
        });
        out
    }

    /// The smallest eigenpairs of L(weights) v = λ M v beyond that of the constant vector, vᵀ M v = 1; `start` has vectors
    /// to start from, in the same normalization.
    pub(crate) fn bottom(
        &self,
        weights: &[f64],
        (wanted, tolerance): (usize, f64),
        start: Option<MatRef<'_, f64>>,
        observer: &dyn Observer,
    ) -> Result<Eigenpairs> {
        let (n, counts) = (self.pairs.len(), &self.pairs.counts);
        let laplacian = SparseSymmetric::laplacian(n, &self.pairs.ends, weights, 0.0);
        let root: Vec<f64> = counts.iter().map(|m| m.sqrt()).collect();
        let inverse: Vec<f64> = root.iter().map(|root| 1.0 / root).collect();
        let uniform = counts.iter().all(|&m| m == 1.0);
        let Some((_, symbolic)) = &self.factored else {
            return pencil::bottom(Pencil::new(&laplacian, Some(counts)), wanted.min(n - 1), 0, self.memory, observer);
        };
        let matrix = if uniform { laplacian } else { laplacian.scaled(&inverse) };
        let length = counts.iter().sum::<f64>().sqrt();
        let constant = Mat::from_fn(n, 1, |i, _| root[i] / length);
        let wanted = wanted.min(n - 1);
        let mut pairs = if n <= DENSE || 4 * wanted >= n {
            pencil::dense_bottom(&matrix, constant.as_ref(), wanted)?
        } else {
            let start = start.map(|v| Mat::from_fn(n, v.ncols(), |i, q| v[(i, q)] * root[i]));
            let block = (wanted + 2).next_multiple_of(4);
            let ask = Ask { wanted, block, tolerance, max_steps: 60, seed: 0 };
            let start = start.as_ref().map(|start| start.as_ref());
            pencil::shift_invert(&matrix, symbolic, constant.as_ref(), start, &ask, observer)?
        };
        if !uniform {
            for q in 0..pairs.vectors.ncols() {
                (0..n).for_each(|i| pairs.vectors[(i, q)] *= inverse[i]);
            }
        }
        Ok(pairs)
    }

    /// Whether L(weights) v = λ M v has no eigenvalue below `level` but that of the constant vector: exactly one pivot of
    /// L(weights) − level · M is negative.
    pub(crate) fn is_bottom(&self, weights: &[f64], level: f64, factor: &mut Factor) -> Result<bool> {
        let shifted = Shifted { weights, counts: &self.pairs.counts, level };
        let Some((fronts, _)) = &self.factored else { return Ok(false) };
        Ok(fronts.factor(1, &shifted, factor)? && factor.negative == 1)
    }
}

/// L(weights) − level · M.
struct Shifted<'a> {
    weights: &'a [f64],
    counts: &'a [f64],
    level: f64,
}

impl Blocks for Shifted<'_> {
    fn edge(&self, edge: usize, block: &mut [f64]) {
        block[0] = self.weights[edge];
    }

    fn own(&self, point: usize) -> f64 {
        -self.level * self.counts[point]
    }
}

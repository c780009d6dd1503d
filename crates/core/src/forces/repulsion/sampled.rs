//! Sums of UMAP's repulsion over a sample of the points, drawn anew at every step, in any number of dimensions.
//!
//! ```text
//! Σⱼ k(‖y[i] − y[j]‖²)  ≈  (n − 1)/m  Σ over the m drawn points other than i
//! ```
//!
//! The samples run through a random permutation of all points, chunk by chunk, and then through another one: over n/m
//! steps every point is drawn once. All points share a sample, so that the drawn points are contiguous in memory, and
//! the sample depends only on the seed and the number of the step, so that the sums are the same for any number of
//! threads. Momentum averages over the last steps. Values, which are evaluated occasionally, use one larger fixed
//! sample, so that they can be compared.
//!
//! Negative samples for UMAP: L. McInnes, J. Healy, J. Melville. UMAP. arXiv:1802.03426, 2018, section 3.2.

use super::radial::Umap;
use super::{Kernel, Real, Sums};
use eigenfold_linalg::parallel;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// Points drawn for a step.
pub(super) const DRAWN: usize = 128;
/// Points in the fixed sample for values.
const LOOKED_AT: usize = 4 * DRAWN;
/// Drawn points that are added in SIMD lanes.
const LANES: usize = 16;
/// Points per chunk of parallel work.
const ROWS: usize = 64;

/// The points drawn for a step.
pub(crate) struct Sampled {
    umap: Arc<Umap>,
    dims: usize,
    draw: Xoshiro256PlusPlus,
    /// All points in a random order, and how many of them have been drawn.
    order: Vec<u32>,
    next: usize,
    /// The fixed sample for values.
    looked_at: Vec<u32>,
    /// The last sample, in blocks of sixteen points, each stored coordinate by coordinate.
    blocks: Vec<[f32; LANES]>,
    /// Whether a point is among them.
    is_drawn: Vec<bool>,
}

impl Sampled {
    /// Samples from this many points in this many dimensions.
    pub(crate) fn new(umap: Arc<Umap>, points: usize, dims: usize, seed: u64) -> Sampled {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut order: Vec<u32> = (0..points as u32).collect();
        order.shuffle(&mut draw);
        let looked_at = order[..points.min(LOOKED_AT)].to_vec();
        Sampled { umap, dims, draw, next: points, order, looked_at, blocks: Vec::new(), is_drawn: vec![false; points] }
    }

    /// The kernel.
    pub(super) fn kernel(&self) -> Kernel {
        Kernel::Umap(self.umap.clone())
    }

    /// Draws the next sample of the points, given row after row.
    pub(crate) fn take(&mut self, points: &[f64]) {
        if self.next + DRAWN > self.order.len() {
            self.order.shuffle(&mut self.draw);
            self.next = 0;
        }
        let drawn = &self.order[self.next..self.next + DRAWN];
        self.next += DRAWN;
        self.is_drawn.fill(false);
        self.blocks.clear();
        for some in drawn.as_chunks::<LANES>().0 {
            self.blocks.extend((0..self.dims).map(|q| some.map(|j| points[j as usize * self.dims + q] as f32)));
            some.iter().for_each(|&j| self.is_drawn[j as usize] = true);
        }
    }

    /// Adds the gradients of all points, by the last sample.
    pub(crate) fn add_gradients(&self, points: &[f64], sums: &mut Sums) {
        let (dims, others) = (self.dims, points.len() / self.dims - 1);
        parallel::chunks_mut(&mut sums.gradients, ROWS * dims, |chunk, gradients| {
            let first = chunk * ROWS;
            let own = &points[first * dims..][..gradients.len()];
            let weight = |at: usize| others as f64 / (DRAWN - usize::from(self.is_drawn[first + at])) as f64;
            pulp::Arch::new().dispatch(Chunk { sampled: self, own, weight, gradients });
        });
    }

    /// Adds the values of all points, by the fixed sample.
    pub(crate) fn add_values(&self, points: &[f64], sums: &mut Sums) {
        let (dims, n) = (self.dims, points.len() / self.dims);
        let row = |i: usize| &points[i * dims..(i + 1) * dims];
        let rows: Vec<f64> = parallel::collect(n, |i| {
            let (mut sum, mut count) = (0.0, 0);
            for j in self.looked_at.iter().map(|&j| j as usize).filter(|&j| j != i) {
                let square = row(i).iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
                sum += self.umap.at(square).0;
                count += 1;
            }
            sum * (n - 1) as f64 / f64::from(count)
        });
        sums.values.iter_mut().zip(rows).for_each(|(value, row)| *value += row);
    }
}

/// Some points, and where their gradients go.
struct Chunk<'a, W> {
    sampled: &'a Sampled,
    own: &'a [f64],
    /// The weight of each of the drawn points, for the point at an index of the chunk.
    weight: W,
    gradients: &'a mut [f64],
}

impl<W: Fn(usize) -> f64> pulp::WithSimd for Chunk<'_, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let dims = self.sampled.dims;
        let (mut x, mut sums) = (vec![0f32; dims], vec![[0f32; LANES]; dims]);
        for (at, (own, gradient)) in self.own.chunks_exact(dims).zip(self.gradients.chunks_exact_mut(dims)).enumerate()
        {
            x.iter_mut().zip(own).for_each(|(x, &own)| *x = own as f32);
            sums.fill([0.0; LANES]);
            for block in self.sampled.blocks.chunks_exact(dims) {
                let mut square = [0f32; LANES];
                for (&x, other) in x.iter().zip(block) {
                    for l in 0..LANES {
                        square[l] += (x - other[l]) * (x - other[l]);
                    }
                }
                let force = self.sampled.umap.forces(&square);
                for ((&x, other), sum) in x.iter().zip(block).zip(&mut sums) {
                    let mut added = *sum;
                    for l in 0..LANES {
                        added[l] += force[l] * (x - other[l]);
                    }
                    *sum = added;
                }
            }
            let weight = -2.0 * (self.weight)(at);
            for (gradient, lanes) in gradient.iter_mut().zip(&sums) {
                *gradient += weight * lanes.iter().map(|lane| lane.widen()).sum::<f64>();
            }
        }
    }
}

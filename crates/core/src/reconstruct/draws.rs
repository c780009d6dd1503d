//! Joint samples of the data rows at an embedding point: the errors of the features are correlated as for left-out rows
//! nearby.
//!
//! ```text
//! z[j] = Σₐ g[a] e[a,j] / (Σₐ e[a,j]²)^½       g ~ N(0, I), e[a] the errors of the left-out rows a nearest to the point,
//!                                              in units of their standard deviations
//! x[j] = x̂[j] + sign(z[j]) h[j](|z[j]|)        h[j] is linear from 0 to the SD at 1, to the 95 % half-width at 1.96, and on
//! ```
//!
//! So every z[j] is standard normal, two features are correlated as their errors around the point are, and the entries
//! of many samples are within their standard deviations and 95 % half-widths with the nominal probability: a Gaussian
//! copula of the local errors with the marginal distributions of the inverse transform. Features without errors nearby
//! are sampled independently.
//!
//! R. B. Nelsen. An introduction to copulas. Springer, 2006.

use super::{MARGIN, Reconstruction};
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of left-out rows whose errors a point samples from.
const NEAREST: usize = 32;
/// Separates the random numbers of one point from those of the next.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Left-out rows: their positions on the map, and their errors in units of their standard deviations.
pub(crate) struct Errors {
    pub(crate) places: Points,
    pub(crate) errors: Vec<Vec<f64>>,
}

impl Errors {
    /// `count` rows per point, one point after the other.
    pub(crate) fn draw(&self, at: &Points, back: &Reconstruction, count: usize, seed: u64) -> Result<Points> {
        let k = NEAREST.min(self.errors.len());
        let near = if k > 0 { Index::new(&self.places, Metric::Euclidean)?.nearest(at, k)?.0 } else { Vec::new() };
        let cols = back.points.cols();
        let rows = parallel::collect(at.rows(), |i| {
            let near: Vec<&[f64]> = near[i * k..(i + 1) * k].iter().map(|&a| &self.errors[a as usize][..]).collect();
            let sizes: Vec<f64> = (0..cols).map(|j| near.iter().map(|e| e[j] * e[j]).sum::<f64>().sqrt()).collect();
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(STRIDE.wrapping_mul(i as u64 + 1)));
            let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
            let mut drawn = Vec::with_capacity(count * cols);
            for _ in 0..count {
                let weights: Vec<f64> = near.iter().map(|_| normal()).collect();
                for j in 0..cols {
                    let together = || near.iter().zip(&weights).map(|(e, g)| g * e[j]).sum::<f64>() / sizes[j];
                    let z = if sizes[j] > 0.0 { together() } else { normal() };
                    let [x, deviation, margin] =
                        [&back.points, &back.deviations, &back.margins].map(|points| points.row(i)[j]);
                    drawn.push(x + z.signum() * size(z.abs(), deviation, margin));
                }
            }
            drawn
        });
        Points::computed(at.rows() * count, cols, rows.concat())
    }
}

/// h: the error of an entry at this Gaussian quantile.
fn size(z: f64, deviation: f64, margin: f64) -> f64 {
    if z <= 1.0 {
        z * deviation
    } else if z <= MARGIN {
        deviation + (z - 1.0) / (MARGIN - 1.0) * (margin - deviation)
    } else {
        z / MARGIN * margin
    }
}

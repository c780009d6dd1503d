//! Joint draws of the data rows at a place: the errors of the features go together as they did for left-out rows nearby.
//!
//! ```text
//! z[j] = Σₐ g[a] e[a,j] / (Σₐ e[a,j]²)^½       g ~ N(0, I), e[a] the errors of the left-out rows a nearest to the place,
//!                                              in units of their deviations
//! x[j] = x̂[j] + sign(z[j]) h[j](|z[j]|)        h[j] runs straight from 0 to the deviation at 1, to the margin at 1.96, and on
//! ```
//!
//! So every z[j] is standard normal, two features correlate as their errors do around the place, and the entries of many
//! draws are within their standard deviations and 95 % half-widths as often as these say: a Gaussian copula of the local errors with the
//! 95 % half-widths of the way back. Features that were never off nearby are drawn on their own.
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

/// The left-out rows whose errors a place draws from.
const NEAREST: usize = 32;
/// What separates the random numbers of one place from those of the next.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Left-out rows: where they are on the map, and their errors in units of their standard deviations.
pub(crate) struct Errors {
    pub(crate) places: Points,
    pub(crate) errors: Vec<Vec<f64>>,
}

impl Errors {
    /// `count` rows per place, one place after the other.
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

/// h: how far off an entry is that is this many standard deviations off.
fn size(z: f64, deviation: f64, margin: f64) -> f64 {
    if z <= 1.0 {
        z * deviation
    } else if z <= MARGIN {
        deviation + (z - 1.0) / (MARGIN - 1.0) * (margin - deviation)
    } else {
        z / MARGIN * margin
    }
}

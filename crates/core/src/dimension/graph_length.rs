//! The dimension from the length of the nearest-neighbor graph: how it grows with the number of points.
//!
//! ```text
//! L(m) = Σ of the distances from m points to their k nearest among them  ~  c m^((d − 1)/d)
//! d = 1 / (1 − a),   a the slope of log L against log m
//! ```
//!
//! Subsets of several sizes are drawn several times, and the line is fitted by least squares.
//!
//! J. A. Costa, A. O. Hero. Geodesic entropic graphs for dimension and entropy estimation in manifold learning. IEEE
//! Transactions on Signal Processing 52(8), 2004.

use super::{Estimate, Name};
use eigenfold_graph::points::Points;
use eigenfold_graph::search::watch::Watch;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The neighbors whose distances are summed.
const NEIGHBORS: usize = 4;
/// The sizes of the subsets, as fractions of all points.
const PARTS: [f64; 7] = [0.25, 0.315, 0.397, 0.5, 0.63, 0.794, 1.0];
/// The number of subsets of each size, except the whole.
const DRAWS: usize = 6;
/// The minimum number of points of a subset.
const FEWEST: usize = 10;

/// The dimension; `None` if there are too few points, or the length grows as fast as their number.
///
/// # Errors
///
/// [`crate::Error::Stopped`].
pub(super) fn dimension(points: &Points, seed: u64, observer: &dyn Observer) -> Result<Option<Estimate>> {
    let n = points.rows();
    if (PARTS[0] * n as f64) < FEWEST as f64 {
        return Ok(None);
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..n).collect();
    let mut line = Vec::new();
    for part in PARTS {
        let size = (part * n as f64).round() as usize;
        let draws = if size < n { DRAWS } else { 1 };
        let mut sum = 0.0;
        for _ in 0..draws {
            order.shuffle(&mut random);
            let subset = points.select(&order[..size]);
            let index = Index::new(&subset, Metric::Euclidean)?;
            sum += index.nearest_others(NEIGHBORS, &Watch::new(observer, size))?.1.iter().sum::<f64>();
        }
        line.push(((size as f64).ln(), (sum / draws as f64).ln()));
    }
    let value = 1.0 / (1.0 - slope(&line));
    Ok((value.is_finite() && value > 0.0).then(|| Estimate::new(Name::GraphLength, value, n)))
}

/// The slope of the least-squares line.
fn slope(line: &[(f64, f64)]) -> f64 {
    let mean = |of: fn(&(f64, f64)) -> f64| line.iter().map(of).sum::<f64>() / line.len() as f64;
    let (x, y) = (mean(|at| at.0), mean(|at| at.1));
    let (xy, xx) =
        line.iter().fold((0.0, 0.0), |(xy, xx), at| (xy + (at.0 - x) * (at.1 - y), xx + (at.0 - x) * (at.0 - x)));
    xy / xx
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_line_is_its_own() {
        assert!((slope(&[(0.0, 1.0), (1.0, 1.5), (3.0, 2.5)]) - 0.5).abs() < 1e-15);
    }
}

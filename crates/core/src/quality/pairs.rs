//! Pairs of points, all of them or a sample, for the Shepard diagram and the rank correlation.
//!
//! The ranks are those of the distances among all pairs, ties having their mean rank, so that they need all pairs at
//! once: up to 1,000 points all are used, beyond that 500,000 are sampled without replacement. A sample of m pairs of a
//! large number has about the standard error
//!
//! ```text
//! (1 − ρ²) √(1 + ρ²/2) / √m
//! ```
//!
//! R. N. Shepard. The analysis of proximities: multidimensional scaling with an unknown distance function. Psychometrika 27, 1962.
//! D. G. Bonett, T. A. Wright. Sample size requirements for estimating Pearson, Kendall and Spearman correlations. Psychometrika
//! 65, 2000 (the standard error).

use super::distances::Reference;
use crate::input::Measured;
use eigenfold_graph::Metric;
use eigenfold_graph::points::Points;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The maximum number of pairs whose distances are ranked.
const RANKED: usize = 500_000;
/// The maximum number of pairs that are shown.
const SHOWN: usize = 2000;

/// Some pairs, with their distances in the data.
pub(super) struct Pairs {
    pairs: Vec<(u32, u32)>,
    data: Vec<f64>,
    ranks: Vec<f64>,
    all: bool,
    /// The indices of those that are shown.
    shown: Vec<usize>,
}

/// The rank correlation and its standard error.
pub(super) type Correlation = Option<(f64, Option<f64>)>;

impl Pairs {
    pub(super) fn new(data: Measured<'_>, n: usize, seed: u64) -> Pairs {
        let total = n * (n - 1) / 2;
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        let count = total.min(RANKED);
        let mut numbers: Vec<usize> =
            if count == total { (0..total).collect() } else { index::sample(&mut draw, total, count).into_vec() };
        // In the order of the rows, so that consecutive pairs share a row.
        numbers.sort_unstable();
        let pairs: Vec<(u32, u32)> = numbers.into_iter().map(pair).collect();
        let mut distances = vec![0.0; count];
        parallel::fill(&mut distances, |at| data.distance(pairs[at].0 as usize, pairs[at].1 as usize));
        let mut shown = index::sample(&mut draw, count, count.min(SHOWN)).into_vec();
        shown.sort_unstable();
        Pairs { ranks: mean_ranks(&distances), pairs, data: distances, all: count == total, shown }
    }

    /// The distances of the same pairs on a map.
    pub(super) fn on(&self, map: &Points) -> Vec<f64> {
        let mut found = vec![0.0; self.pairs.len()];
        let row = |i: u32| map.row(i as usize);
        parallel::fill(&mut found, |at| Metric::Euclidean.distance(row(self.pairs[at].0), row(self.pairs[at].1)));
        found
    }

    /// The reference values of the distances: their means and the best scale over these pairs.
    pub(super) fn reference(&self, map: &[f64]) -> Reference {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let across: f64 = self.data.iter().zip(map).map(|(delta, d)| delta * d).sum();
        let square: f64 = map.iter().map(|d| d * d).sum();
        let scale = if square > 0.0 { across / square } else { 0.0 };
        Reference { means: [mean(&self.data), mean(map)], scale }
    }

    /// ρ; `None` if the distances in the data are all equal, and zero if those on the map are.
    pub(super) fn spearman(&self, map: &[f64]) -> Correlation {
        let rho = correlation(&self.ranks, &mean_ranks(map))?;
        let error = (1.0 - rho * rho) * (1.0 + 0.5 * rho * rho).sqrt() / (self.data.len() as f64).sqrt();
        Some((rho, (!self.all).then_some(error)))
    }

    /// The pairs that are shown: distance in the data, distance on the map.
    pub(super) fn shown(&self, map: &[f64]) -> Vec<[f64; 2]> {
        self.shown.iter().map(|&at| [self.data[at], map[at]]).collect()
    }
}

/// The pair of this number: (1, 0), (2, 0), (2, 1), (3, 0), ...
fn pair(number: usize) -> (u32, u32) {
    let mut i = ((1.0 + (1.0 + 8.0 * number as f64).sqrt()) / 2.0) as usize;
    // Rounding may lead to the previous or the next row.
    while i * (i - 1) / 2 > number {
        i -= 1;
    }
    while i * (i + 1) / 2 <= number {
        i += 1;
    }
    (i as u32, (number - i * (i - 1) / 2) as u32)
}

/// The rank of every value, counted from 1; ties have their mean rank.
fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let sorted = sort::ascending(values);
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in sorted.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = before as f64 + (equal.len() + 1) as f64 / 2.0;
        equal.iter().for_each(|&at| ranks[at] = mean);
        before += equal.len();
    }
    ranks
}

/// `None` if the first are all equal, zero if the second are.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = a.len() as f64;
    let (mean_a, mean_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        (aa, bb, ab) = (aa + a * a, bb + b * b, ab + a * b);
    }
    (aa > 0.0).then(|| if bb > 0.0 { (ab / (aa * bb).sqrt()).clamp(-1.0, 1.0) } else { 0.0 })
}

/// ρ of the ranks of one row, both doubled, where the row itself has zero. `None` if those of the data are all equal,
/// zero if those of the map are.
pub(super) fn within_row(data: &[u32], map: &[u32]) -> Option<f64> {
    // The mean of the doubled ranks from 1 to n − 1 is n.
    let mean = data.len() as f64;
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (&a, &b) in data.iter().zip(map).filter(|(a, _)| **a > 0) {
        let (a, b) = (f64::from(a) - mean, f64::from(b) - mean);
        (aa, bb, ab) = (aa + a * a, bb + b * b, ab + a * b);
    }
    (aa > 0.0).then(|| if bb > 0.0 { (ab / (aa * bb).sqrt()).clamp(-1.0, 1.0) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_one_number() {
        let pairs: Vec<(u32, u32)> = (0..10).map(pair).collect();
        assert_eq!(pairs, [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2), (4, 3)]);
        // The last pair of the largest row and the first of the next, where squares are beyond 53 bits.
        for i in [70_000usize, 94_906_267, 3_000_000_000] {
            assert_eq!(pair(i * (i - 1) / 2 - 1), ((i - 1) as u32, (i - 2) as u32));
            assert_eq!(pair(i * (i - 1) / 2), (i as u32, 0));
        }
    }

    #[test]
    fn equal_values_share_their_places() {
        assert_eq!(mean_ranks(&[5.0, 1.0, 5.0, 0.0]), [3.5, 2.0, 3.5, 1.0]);
        assert_eq!(correlation(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]), Some(-1.0));
        assert_eq!((correlation(&[1.0, 1.0], &[1.0, 2.0]), correlation(&[1.0, 2.0], &[1.0, 1.0])), (None, Some(0.0)));
        assert_eq!(within_row(&[2, 0, 4, 6], &[6, 0, 4, 2]), Some(-1.0));
        assert_eq!(within_row(&[3, 0, 3, 6], &[3, 0, 3, 6]), Some(1.0));
    }
}

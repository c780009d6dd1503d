//! The sample of rows, and its standard errors.
//!
//! Rows are sampled without replacement, all with the same probability, so that the mean over m of n rows has the
//! standard error
//!
//! ```text
//! √((1 − m/n) s² / m)         s² the variance over the sampled rows, with m − 1
//! ```
//!
//! W. G. Cochran. Sampling techniques. Wiley, 3rd edition 1977, sections 2.6 and 6.4 (ratios: the residuals in place of the
//! values).

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Up to this many points all rows are used.
const ALL: usize = 5000;
/// The minimum and the maximum size of a sample.
const DRAWN: [usize; 2] = [500, 2000];
/// Distances ranked for one map, and numbers compared for all, if rows are sampled.
const RANKED: f64 = 1.5e8;
const COMPARED: f64 = 1.2e11;

/// The default number of rows for n points with p features.
pub(super) fn rows(n: usize, p: usize) -> usize {
    let (points, features) = (n as f64, p as f64);
    if n <= ALL && points * points * features <= COMPARED {
        return n;
    }
    let most = (RANKED / points).min(COMPARED / (points * features)) as usize;
    most.clamp(DRAWN[0], DRAWN[1]).min(n)
}

/// `count` of `n` rows, drawn by the seed, ascending.
pub(super) fn drawn(n: usize, count: usize, seed: u64) -> Vec<usize> {
    if count >= n {
        return (0..n).collect();
    }
    let mut rows = index::sample(&mut Xoshiro256PlusPlus::seed_from_u64(seed), n, count).into_vec();
    rows.sort_unstable();
    rows
}

/// The size of the sample and of the population.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    pub(super) sampled: usize,
    pub(super) of: usize,
}

impl Sampling {
    /// The standard error of a mean over the sampled rows; `None` if all rows are used, or too few.
    pub(super) fn error(&self, values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
        let (m, n) = (self.sampled as f64, self.of as f64);
        if self.sampled >= self.of || self.sampled < 2 {
            return None;
        }
        let mean = values.clone().sum::<f64>() / m;
        let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (m - 1.0);
        Some(((1.0 - m / n) * variance / m).sqrt())
    }
}

//! Centers of k-means, used as landmarks.
//!
//! S. P. Lloyd. Least squares quantization in PCM. IEEE Transactions on Information Theory 28(2), 1982. As landmarks of
//! a kernel: K. Zhang, I. W. Tsang, J. T. Kwok. Improved Nyström low-rank approximation and error analysis. ICML 2008.

use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The number of sampled points per center.
const SAMPLE: usize = 50;
/// The number of iterations.
const ROUNDS: usize = 10;

/// The given number of centers, from a seeded sample of the points.
///
/// # Errors
///
/// [`Error::Stopped`] if the observer stops the run.
pub(crate) fn centers(points: &Points, count: usize, seed: u64, observer: &dyn Observer) -> Result<Points> {
    let (n, p) = (points.rows(), points.cols());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let drawn = index::sample(&mut rng, n, n.min(SAMPLE * count)).into_vec();
    let sample = points.select(&drawn);
    let mut centers = sample.select(&(0..count).collect::<Vec<_>>());
    for _ in 0..ROUNDS {
        if observer.stop() {
            return Err(Error::Stopped);
        }
        let (nearest, _) = Index::new(&centers, Metric::Euclidean)?.nearest(&sample, 1)?;
        let (mut sums, mut members) = (vec![0.0; count * p], vec![0usize; count]);
        for (i, &center) in nearest.iter().enumerate() {
            let center = center as usize;
            members[center] += 1;
            let sum = &mut sums[center * p..(center + 1) * p];
            sum.iter_mut().zip(sample.row(i)).for_each(|(sum, x)| *sum += x);
        }
        // A center without any points stays where it is.
        for (at, sum) in sums.iter_mut().enumerate() {
            let (center, feature) = (at / p, at % p);
            *sum = match members[center] {
                0 => centers.row(center)[feature],
                count => *sum / count as f64,
            };
        }
        centers = Points::new(count, p, sums)?;
    }
    Ok(centers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_linalg::progress::Silent;

    /// Two clumps on a line: 0, 1, 2 around 1, and 10, 11, 12 around 11.
    #[test]
    fn two_clumps_have_their_means_for_centers() {
        let points = Points::new(6, 1, vec![0.0, 10.0, 1.0, 11.0, 2.0, 12.0]).unwrap();
        for seed in 0..10 {
            let mut found = centers(&points, 2, seed, &Silent).unwrap().into_values();
            found.sort_by(f64::total_cmp);
            assert_eq!(found, [1.0, 11.0], "seed {seed}");
        }
    }
}

//! The dimension from the skewness of simplices: the angles between the neighbors as seen from their center.
//!
//! The vectors from the center of a neighborhood to its points are compared in pairs. Two of them, v and w, span a
//! parallelogram, and the ratio of its area to the largest that the lengths allow measures their skewness. Over all
//! pairs of a neighborhood,
//!
//! ```text
//! s = Σ |v||w| sin(v, w) / Σ |v||w|
//! E s = Γ(d/2)² / (Γ((d+1)/2) Γ((d−1)/2))     for random directions in d dimensions: 0, 2/π, π/4, 8/3π, ...
//! ```
//!
//! The dimension of a neighborhood is where that expectation equals s, by linear interpolation between whole
//! dimensions, and the estimate is its mean over the points. It has little bias in many dimensions; curvature makes it
//! too large.
//!
//! **The interval.** Neighborhoods overlap, and s is a mean over pairs of points in which the direction of one alone is
//! uninformative (E sin(v, w) is the same for every v). So two neighborhoods are correlated by the pairs of points that
//! they share, the square of their fraction w of shared points, and
//!
//! ```text
//! cov(s[i], s[j]) = σ² w[i,j]²        σ² = Σ w² ψ[i] ψ[j] / Σ w⁴ over all i, j       var Σᵢ ψ[i] = σ² Σ w²
//! ```
//!
//! by least squares, with ψ the deviations of the dimensions of the neighborhoods from their mean.
//!
//! K. Johnsson, C. Soneson, M. Fontes. Low bias local intrinsic dimension estimation from expected simplex skewness. IEEE
//! Transactions on Pattern Analysis and Machine Intelligence 37(1), 2015 (their version a, with simplices of dimension 1).

use super::near::Near;
use super::{Estimate, Name};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Stage};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_4};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of neighbors of a point.
const NEIGHBORS: usize = 30;
/// The budget of products, over all points.
const WORK: usize = 10_000_000_000;
/// The minimum number of points, whatever the cost.
const FEWEST: usize = 500;

/// The mean over the points; `None` if there are too few neighbors.
///
/// # Errors
///
/// [`Error::Stopped`].
pub(super) fn dimension(points: &Points, near: &Near, observer: &dyn Observer) -> Result<Option<Estimate>> {
    let k = NEIGHBORS.min(near.k);
    if k < 3 {
        return Ok(None);
    }
    let most = (WORK / (k * k / 2 * points.cols())).max(FEWEST);
    let some = super::near::evenly_spaced(near.len(), most);
    let reference = expected(k * k);
    let done = AtomicUsize::new(0);
    let one = |at: usize| {
        if at.is_multiple_of(64) {
            if observer.stop() {
                return Err(Error::Stopped);
            }
            let share = (64 * done.fetch_add(1, Ordering::Relaxed)) as f64 / some.len() as f64;
            observer.progress(Stage::Dimension, share);
        }
        Ok(between(&reference, skewness(points, &near.neighbors(some[at] as usize)[..k])))
    };
    let found = parallel::try_collect(some.len(), one)?;
    let value = found.iter().sum::<f64>() / found.len() as f64;
    let lists: Vec<&[u32]> = some.iter().map(|&at| &near.neighbors(at as usize)[..k]).collect();
    let terms: Vec<f64> = found.iter().map(|one| one - value).collect();
    let error = deviation(&lists, points.rows(), &terms) / found.len() as f64;
    Ok(Some(Estimate::new(Name::Ess, value, found.len()).with_error((found.len() > 1).then_some(error))))
}

/// The standard deviation of a sum with a term for each of these neighborhoods among `n` points.
fn deviation(lists: &[&[u32]], n: usize, terms: &[f64]) -> f64 {
    // The neighborhoods that contain each point.
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (at, list) in lists.iter().enumerate() {
        list.iter().for_each(|&i| members[i as usize].push(at as u32));
    }
    // Σⱼ w², Σⱼ w⁴ and Σⱼ w² ψ[i] ψ[j].
    let sums = parallel::collect(lists.len(), |at| {
        let mut met: Vec<u32> = lists[at].iter().flat_map(|&i| members[i as usize].iter().copied()).collect();
        met.sort_unstable();
        let mut sums = [0.0; 3];
        for same in met.chunk_by(|a, b| a == b) {
            let square = (same.len() as f64 / lists[at].len() as f64).powi(2);
            let terms = [square, square * square, square * terms[at] * terms[same[0] as usize]];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
        sums
    });
    let [twice, four_times, together] = [0, 1, 2].map(|which| sums.iter().map(|sums| sums[which]).sum::<f64>());
    // The squared fractions form a positive semidefinite matrix, so that only rounding is negative.
    (together.max(0.0) / four_times * twice).sqrt()
}

/// s of the given points.
fn skewness(points: &Points, rows: &[u32]) -> f64 {
    let (k, p) = (rows.len(), points.cols());
    let mut ways: Vec<f64> = rows.iter().flat_map(|&i| points.row(i as usize).iter().copied()).collect();
    let mut center = vec![0.0; p];
    ways.chunks_exact(p).for_each(|way| center.iter_mut().zip(way).for_each(|(sum, x)| *sum += x / k as f64));
    ways.chunks_exact_mut(p).for_each(|way| way.iter_mut().zip(&center).for_each(|(x, mean)| *x -= mean));
    // In units of the longest, because areas are squared twice.
    let largest = ways.iter().fold(f64::MIN_POSITIVE, |a, b| a.max(b.abs()));
    ways.iter_mut().for_each(|x| *x /= largest);
    let way = |i: usize| &ways[i * p..(i + 1) * p];
    let inner = |i: usize, j: usize| product(way(i), way(j));
    let squares: Vec<f64> = (0..k).map(|i| inner(i, i)).collect();
    let (mut areas, mut sizes) = (0.0, 0.0);
    for i in 0..k {
        for j in 0..i {
            let size = squares[i] * squares[j];
            areas += (size - inner(i, j).powi(2)).max(0.0).sqrt();
            sizes += size.sqrt();
        }
    }
    if sizes > 0.0 { areas / sizes } else { 0.0 }
}

/// The inner product, in eight independent sums.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0; 8];
    for (x, y) in a.iter().zip(b) {
        lanes.iter_mut().zip(x.iter().zip(y)).for_each(|(lane, (x, y))| *lane += x * y);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    lanes.iter().sum::<f64>() + rest
}

/// E s for the dimensions 1, 2, ..., `most`: in steps of two, s(d + 2) = s(d) d² / (d² − 1).
fn expected(most: usize) -> Vec<f64> {
    let mut all = vec![0.0, FRAC_2_PI, FRAC_PI_4];
    for d in 4..=most {
        let before = ((d - 2) * (d - 2)) as f64;
        all.push(all[d - 3] * before / (before - 1.0));
    }
    all
}

/// The dimension whose expectation is `s`.
fn between(expected: &[f64], s: f64) -> f64 {
    let above = expected.partition_point(|&e| e <= s);
    match expected.get(above) {
        Some(high) => above as f64 + (s - expected[above - 1]) / (high - expected[above - 1]),
        None => expected.len() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_square_and_the_formula() {
        let line = Points::new(4, 2, vec![0.0, 0.0, 1.0, 2.0, 2.0, 4.0, 5.0, 10.0]).unwrap();
        assert!(between(&expected(16), skewness(&line, &[0, 1, 2, 3])) < 1.0 + 1e-6);
        // From the center of a square four of six pairs of vectors are at right angles, and two are parallel.
        let square = Points::new(4, 2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
        assert!((skewness(&square, &[0, 1, 2, 3]) - 4.0 / 6.0).abs() < 1e-15);
        // Γ(2)² / (Γ(5/2) Γ(3/2)) = 8/3π and Γ(5/2)² / (Γ(3) Γ(2)) = 9π/32.
        let reference = expected(900);
        assert!((reference[3] - 8.0 / (3.0 * std::f64::consts::PI)).abs() < 1e-15);
        assert!((reference[4] - 9.0 * std::f64::consts::PI / 32.0).abs() < 1e-15);
        assert!(reference.windows(2).all(|pair| pair[0] < pair[1]) && reference[899] < 1.0);
        assert!((between(&reference, 0.5 * (reference[6] + reference[7])) - 7.5).abs() < 1e-9);
    }

    /// Two neighborhoods that share half of their points, and one apart: w² is 1/4 between the first two.
    #[test]
    fn neighborhoods_vary_together_by_the_pairs_they_share() {
        let lists: [&[u32]; 3] = [&[0, 1], &[1, 2], &[3, 4]];
        let together = 1.0 + 4.0 + 9.0 - 2.0 * 0.25 * 2.0;
        let wanted = (together / (3.0 + 2.0 / 16.0) * (3.0 + 2.0 / 4.0f64)).sqrt();
        assert!((deviation(&lists, 5, &[1.0, -2.0, 3.0]) - wanted).abs() < 1e-14);
        assert_eq!(deviation(&lists, 5, &[0.0; 3]), 0.0);
    }

    #[test]
    fn neighbors_all_at_right_angles_are_within_the_table() {
        let corners =
            Points::new(30, 30, (0..900).map(|at| f64::from(u8::from(at / 30 == at % 30))).collect()).unwrap();
        let found = between(&expected(900), skewness(&corners, &(0..30).collect::<Vec<_>>()));
        assert!(found > 200.0 && found < 900.0, "{found}");
    }
}

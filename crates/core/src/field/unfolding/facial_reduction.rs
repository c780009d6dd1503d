//! Facial reduction: the face of the semidefinite cone that contains all K with given distances.
//!
//! Where all distances within a set C of points are fixed and the points lie in fewer dimensions than |C| − 1, every K
//! that keeps the distances is singular: there is a v on C with vᵀ1 = 0 and
//!
//! ```text
//! vᵀ K v = Σ Ω[e] D[e] = 0        Ω[e] = −v[i] v[j] over the pairs of C,   L(Ω) = v vᵀ ⪰ 0
//! ```
//!
//! so K v = 0. Then no K is positive definite, and the multipliers are unbounded: adding a multiple of Ω costs nothing.
//! With the variables of such directions eliminated,
//!
//! ```text
//! K = V X Vᵀ        Vᵀ M V = I,  Vᵀ M 1 = 0,  Vᵀ v = 0 for all v        M = diag(counts)
//! ```
//!
//! some distances follow from the others; only the independent ones are kept.
//!
//! N. Krislock, H. Wolkowicz. Explicit sensor network localization using semidefinite representations and facial
//! reductions. SIAM J. Optimization 20(5), 2010.

use crate::field::unfolding::Pairs;
use eigenfold_linalg::dense::{dense_product, symmetric_eigen};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use faer::Mat;
use std::collections::{BTreeMap, BTreeSet};

/// A set of points is flat in directions whose fraction of its variance is below this: distances then err by less than
/// the square root, and squares by less than what a solver can distinguish from zero.
const FLAT: f64 = 1e-11;
/// Distances are not Euclidean if they require a negative variance below minus this fraction of the total.
const IMPOSSIBLE: f64 = 1e-6;
/// Eigenvalues below this fraction of the largest are zero.
const ZERO: f64 = 1e-12;
/// A distance follows from others if the squared part of it that is independent of them is below this.
const IMPLIED: f64 = 1e-9;
/// Pairs per chunk of parallel work.
const CHUNK: usize = 64;

/// The reduced K and pairs.
pub(crate) struct Face {
    /// V, a row for each point.
    pub(crate) basis: Mat<f64>,
    /// Σ Ω over all flat sets, one number per pair: weights that cost nothing and keep the sets flat.
    pub(crate) flat: Vec<f64>,
    /// The pairs whose distances do not follow from those of others, ascending.
    pub(crate) kept: Vec<usize>,
}

impl Face {
    /// All centered K, and all pairs.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub(crate) fn whole(pairs: &Pairs) -> Result<Face> {
        let (basis, kept) = (basis(pairs, &[])?, (0..pairs.ends.len()).collect());
        Ok(Face { basis, flat: vec![0.0; pairs.ends.len()], kept })
    }

    /// The face that the flat cliques of the pairs leave.
    ///
    /// # Errors
    ///
    /// If no points have the distances of a clique, or there is not enough memory.
    pub(crate) fn of_equal_distances(pairs: &Pairs) -> Result<Face> {
        let flat = flat(pairs)?;
        if flat.iter().all(|&omega| omega == 0.0) {
            return Face::whole(pairs);
        }
        let basis = basis(pairs, &flat)?;
        let kept = independent(pairs, &basis);
        Ok(Face { basis, flat, kept })
    }
}

/// V: the eigenvectors to eigenvalue zero of M^-½ (L(Ω) + M 1 1ᵀ M / Σ counts) M^-½, times M^-½.
fn basis(pairs: &Pairs, flat: &[f64]) -> Result<Mat<f64>> {
    let (n, total) = (pairs.len(), pairs.counts.iter().sum::<f64>());
    let root: Vec<f64> = pairs.counts.iter().map(|counts| counts.sqrt()).collect();
    let mut matrix = Mat::from_fn(n, n, |i, j| root[i] * root[j] / total);
    for (&(i, j), omega) in pairs.ends.iter().zip(flat) {
        let (i, j) = (i as usize, j as usize);
        matrix[(i, i)] += omega / pairs.counts[i];
        matrix[(j, j)] += omega / pairs.counts[j];
        matrix[(j, i)] -= omega / (root[i] * root[j]);
    }
    let (values, vectors) = symmetric_eigen(matrix.as_ref())?;
    let rank = values.iter().take_while(|&&value| value > ZERO * values[0]).count();
    Ok(Mat::from_fn(n, n - rank, |i, q| vectors[(i, rank + q)] / root[i]))
}

/// Σ Ω over the flat cliques, one number per pair.
fn flat(pairs: &Pairs) -> Result<Vec<f64>> {
    let of_ends: BTreeMap<(u32, u32), usize> = pairs.ends.iter().enumerate().map(|(e, &ends)| (ends, e)).collect();
    let mut sum = vec![0.0; pairs.ends.len()];
    for clique in cliques(pairs) {
        let size = clique.len();
        let pair = |x: usize, y: usize| of_ends[&(clique[x.min(y)], clique[x.max(y)])];
        let square = |x: usize, y: usize| if x == y { 0.0 } else { pairs.squares[pair(x, y)] };
        let mean: Vec<f64> = (0..size).map(|x| (0..size).map(|y| square(x, y)).sum::<f64>() / size as f64).collect();
        let variance = 0.5 * mean.iter().sum::<f64>();
        // Centered, with the constant vector lifted by the variance.
        let gram = Mat::from_fn(size, size, |x, y| 0.5 * (mean[x] + mean[y] - square(x, y)));
        let (values, vectors) = symmetric_eigen(gram.as_ref())?;
        if values[size - 1] < -IMPOSSIBLE * variance {
            let names: Vec<String> = clique.iter().map(|&i| (pairs.first[i as usize] + 1).to_string()).collect();
            let names = names.join(", ");
            return Err(Error::data(
                format!("no points have the distances of points {names}"),
                "constrain them from above only",
            ));
        }
        for q in (0..size).filter(|&q| values[q] < FLAT * variance) {
            for x in 0..size {
                for y in 0..x {
                    sum[pair(x, y)] -= vectors[(x, q)] * vectors[(y, q)];
                }
            }
        }
    }
    Ok(sum)
}

/// Maximal cliques of three points and more: one around every pair, greedily extended by the point that leaves the most
/// candidates.
fn cliques(pairs: &Pairs) -> BTreeSet<Vec<u32>> {
    let words = pairs.len().div_ceil(64);
    let mut near = vec![vec![0u64; words]; pairs.len()];
    for &(i, j) in &pairs.ends {
        near[i as usize][j as usize / 64] |= 1 << (j % 64);
        near[j as usize][i as usize / 64] |= 1 << (i % 64);
    }
    let both = |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(a, b)| a & b).collect() };
    let common = |a: &[u64], b: &[u64]| -> u32 { a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum() };
    let members =
        |set: &[u64]| -> Vec<usize> { (0..pairs.len()).filter(|i| set[i / 64] >> (i % 64) & 1 == 1).collect() };
    let around = |&(i, j): &(u32, u32)| {
        let mut clique = vec![i, j];
        let mut rest = both(&near[i as usize], &near[j as usize]);
        while let Some(next) = members(&rest).into_iter().rev().max_by_key(|&x| common(&near[x], &rest)) {
            clique.push(next as u32);
            rest = both(&rest, &near[next]);
        }
        clique.sort_unstable();
        clique
    };
    let cliques = parallel::collect(pairs.ends.len(), |e| around(&pairs.ends[e]));
    cliques.into_iter().filter(|clique| clique.len() > 2).collect()
}

/// The pairs of a pivoted Cholesky factor of the Gram matrix of V-images of the pairs,
/// `(a[e]ᵀ a[f])² / (|a[e]|² |a[f]|²)`, `a[e] = Vᵀ b[e]`.
fn independent(pairs: &Pairs, basis: &Mat<f64>) -> Vec<usize> {
    let gram = dense_product(basis.as_ref(), basis.transpose());
    let inner = |&(i, j): &(u32, u32), &(k, l): &(u32, u32)| {
        let [i, j, k, l] = [i, j, k, l].map(|x| x as usize);
        (gram[(i, k)] - gram[(j, k)]) - (gram[(i, l)] - gram[(j, l)])
    };
    let squares: Vec<f64> = pairs.ends.iter().map(|ends| inner(ends, ends)).collect();
    let longest = squares.iter().copied().fold(0.0, f64::max);
    let inverse = |&square: &f64| if square > ZERO * longest { 1.0 / square } else { 0.0 };
    let inverses: Vec<f64> = squares.iter().map(inverse).collect();
    let mut rows = vec![Vec::<f64>::new(); pairs.ends.len()];
    let mut left: Vec<f64> = inverses.iter().map(|&inverse| if inverse > 0.0 { 1.0 } else { 0.0 }).collect();
    let mut kept = Vec::new();
    loop {
        let pivot = (0..left.len()).fold(0, |most, e| if left[e] > left[most] { e } else { most });
        if left[pivot] < IMPLIED {
            kept.sort_unstable();
            return kept;
        }
        kept.push(pivot);
        let (own, ends, root) = (rows[pivot].clone(), pairs.ends[pivot], left[pivot].sqrt());
        parallel::each_of(rows.chunks_mut(CHUNK).zip(left.chunks_mut(CHUNK)), |chunk, (rows, left)| {
            for ((row, left), e) in rows.iter_mut().zip(left).zip(chunk * CHUNK..) {
                let cosine = inner(&pairs.ends[e], &ends).powi(2) * inverses[e] * inverses[pivot];
                let entry = (cosine - row.iter().zip(&own).map(|(a, b)| a * b).sum::<f64>()) / root;
                row.push(entry);
                *left -= entry * entry;
            }
        });
        left[pivot] = 0.0;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::field::unfolding::Constraints;
    use eigenfold_graph::Graph;

    fn of_points(points: &[[f64; 2]], ends: &[(usize, usize)]) -> Pairs {
        let mut lists = vec![Vec::new(); points.len()];
        for &(i, j) in ends {
            let [x, y] = [0, 1].map(|q| points[i][q] - points[j][q]);
            lists[i].push((j as u32, x.hypot(y)));
        }
        Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap()
    }

    #[test]
    fn four_points_of_a_plane_lose_a_direction_and_three_distances() {
        let points = [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 4.0]];
        let clique = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let pairs = of_points(&points, &[&clique[..], &[(3, 4)]].concat());
        let face = Face::of_equal_distances(&pairs).unwrap();
        // A quadrilateral has two directions, and three products of them.
        assert_eq!((face.basis.ncols(), face.kept.len()), (3, 4));
        let cost: f64 = pairs.squares.iter().zip(&face.flat).map(|(square, flat)| square * flat).sum();
        assert!(cost.abs() < 1e-15 && face.flat[6] == 0.0, "{cost}");
        // The points themselves are on the face: V (Vᵀ M y) = y for centered y.
        for q in 0..2 {
            let mean = points.iter().map(|point| point[q]).sum::<f64>() / 5.0;
            let y = Mat::from_fn(5, 1, |i, _| points[i][q] - mean);
            let inside = &face.basis * (face.basis.transpose() * &y);
            assert!((inside - y).norm_max() < 1e-14);
        }
    }

    #[test]
    fn what_is_not_flat_keeps_everything() {
        let pairs =
            of_points(&[[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [3.0, 2.0]], &[(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(cliques(&pairs), BTreeSet::from([vec![0, 1, 2], vec![1, 2, 3]]));
        let face = Face::of_equal_distances(&pairs).unwrap();
        assert_eq!((face.basis.ncols(), face.kept.len()), (3, 5));
        assert_eq!(face.flat, [0.0; 5]);
    }
}

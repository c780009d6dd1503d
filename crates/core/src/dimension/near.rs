//! The distances from points to their nearest neighbors, and clusters of points close together.

use eigenfold_graph::components::Sets;
use eigenfold_graph::search::watch::Watch;
use eigenfold_graph::{Index, Lists};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;

/// The 97.5 % quantile of a Gaussian.
const Z: f64 = 1.959_963_984_540_054;

/// Some points with their nearest others among all points.
pub(super) struct Near {
    /// Which points.
    pub(super) rows: Vec<u32>,
    /// The number of neighbors of each.
    pub(super) k: usize,
    lists: Lists,
}

impl Near {
    /// The `k` nearest others of every point, or of at most `most` evenly spaced ones.
    pub(super) fn search(index: &Index<'_>, k: usize, most: usize, observer: &dyn Observer) -> Result<Near> {
        let n = index.points().rows();
        let (k, rows) = (k.min(n - 1), evenly_spaced(n, most));
        let watch = Watch::new(observer, rows.len());
        let lists =
            if rows.len() == n { index.nearest_others(k, &watch)? } else { index.some_others(&rows, k, &watch)? };
        Ok(Near { rows, k, lists })
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The distances from a point to its neighbors, ascending.
    pub(super) fn lengths(&self, at: usize) -> &[f64] {
        &self.lists.1[at * self.k..][..self.k]
    }

    /// The neighbors of a point.
    pub(super) fn neighbors(&self, at: usize) -> &[u32] {
        &self.lists.0[at * self.k..][..self.k]
    }
}

/// At most this many of `n` indices, evenly spaced.
pub(super) fn evenly_spaced(n: usize, most: usize) -> Vec<u32> {
    let count = n.min(most);
    (0..count).map(|at| (at * n / count) as u32).collect()
}

/// The components of the nearest-neighbor graph: points whose ratios of distances share a pair of points.
///
/// Estimates that are sums over points have dependent terms where points are close together, and a standard error that
/// assumed independence would be too small. It is computed from the sums over clusters instead, as in a regression with
/// clustered errors (K.-Y. Liang, S. L. Zeger. Longitudinal data analysis using generalized linear models. Biometrika
/// 73(1), 1986):
///
/// ```text
/// var(Σᵢ ψᵢ) ≈ G/(G − 1) Σ over clusters c of (Σ over i in c of ψᵢ)²      G clusters
/// ```
pub(super) struct Clusters {
    of: Vec<u32>,
}

impl Clusters {
    /// The components over `n` points, some of which have a known nearest neighbor.
    pub(super) fn new(n: usize, near: &Near) -> Clusters {
        let mut sets = Sets::new(n);
        for (at, &i) in near.rows.iter().enumerate() {
            sets.merge(i, near.neighbors(at)[0]);
        }
        Clusters { of: (0..n as u32).map(|i| sets.root(i)).collect() }
    }

    /// The standard deviation of a sum with a term for each of the rows; `None` if all are in one cluster.
    pub(super) fn deviation(&self, rows: &[u32], terms: &[f64]) -> Option<f64> {
        let (mut sums, mut met) = (vec![0.0; self.of.len()], vec![false; self.of.len()]);
        for (&i, term) in rows.iter().zip(terms) {
            let cluster = self.of[i as usize] as usize;
            sums[cluster] += term;
            met[cluster] = true;
        }
        let count = met.iter().filter(|&&met| met).count() as f64;
        let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
        (count > 1.0).then(|| (count / (count - 1.0) * squares).sqrt())
    }
}

/// The 95 % interval of an estimate, on a logarithmic scale: a dimension is positive.
pub(super) fn interval(value: f64, error: f64) -> (f64, f64) {
    let factor = (Z * error / value).exp();
    (value / factor, value * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_graph::Metric;
    use eigenfold_graph::points::Points;
    use eigenfold_linalg::progress::Silent;

    #[test]
    fn clusters_are_the_components_of_the_nearest_neighbors() {
        let points = Points::new(6, 1, vec![0.0, 1.0, 1.9, 10.0, 10.5, 30.0]).unwrap();
        let index = Index::new(&points, Metric::Euclidean).unwrap();
        let near = Near::search(&index, 2, 10, &Silent).unwrap();
        let clusters = Clusters::new(6, &near);
        assert_eq!(clusters.of, [0, 0, 0, 3, 3, 3]);
        let deviation = clusters.deviation(&near.rows, &[1.0, 2.0, 3.0, -1.0, -1.0, -2.0]).unwrap();
        assert!((deviation - (2.0 * (36.0 + 16.0f64)).sqrt()).abs() < 1e-12);
        assert_eq!(clusters.deviation(&[0, 1], &[1.0, 2.0]), None);
    }

    #[test]
    fn some_points_have_the_neighbors_that_all_have() {
        let points = Points::new(200, 2, (0..400).map(|i| f64::from(i * i % 397)).collect()).unwrap();
        let index = Index::new(&points, Metric::Euclidean).unwrap();
        let all = Near::search(&index, 5, 200, &Silent).unwrap();
        let some = Near::search(&index, 5, 30, &Silent).unwrap();
        assert_eq!((some.len(), some.rows[0], some.rows[29]), (30, 0, 193));
        for (at, &i) in some.rows.iter().enumerate() {
            assert_eq!(some.neighbors(at), all.neighbors(i as usize));
            assert_eq!(some.lengths(at), all.lengths(i as usize));
        }
    }
}

//! Points with all pairwise distances, and neighborhoods of them.

use crate::input::cloud::{Cloud, center, differences};
use eigenfold_graph::Metric;
use eigenfold_graph::distances::Distances;
use eigenfold_graph::points::Points;

/// Points by their features, or by their distances alone.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Measured<'a> {
    /// Their features and the metric.
    Points(&'a Points, Metric),
    /// Their distances.
    Distances(&'a Distances),
}

impl Measured<'_> {
    /// p, where it is known.
    pub(crate) fn features(self) -> Option<usize> {
        match self {
            Measured::Points(points, _) => Some(points.cols()),
            Measured::Distances(_) => None,
        }
    }

    /// The distance of two points.
    #[inline(always)]
    pub(crate) fn distance(self, i: usize, j: usize) -> f64 {
        match self {
            Measured::Points(points, metric) => metric.between(points, i, j),
            Measured::Distances(distances) => distances.between(i, j),
        }
    }

    /// The mean variance of a feature; the total variance if only distances are known.
    pub(crate) fn variance(self) -> f64 {
        match self {
            Measured::Points(points, _) => {
                let mean = points.column_means();
                mean_square(
                    points.to_values().into_iter().enumerate().map(|(at, x)| x - mean[at % mean.len()]).collect(),
                )
            }
            Measured::Distances(distances) => 0.5 * mean_square(distances.matrix().values().to_vec()),
        }
    }

    /// The neighbors of point i relative to it.
    pub(crate) fn around(self, i: usize, neighbors: &[u32]) -> Cloud {
        match self {
            Measured::Points(points, _) => Cloud::Rows(differences(points, neighbors, &points.point(i))),
            // ½ (d²[i,j] + d²[i,k] − d²[j,k])
            Measured::Distances(distances) => {
                let square = |a: usize, b: usize| distances.between(a, b).powi(2);
                let pairs = neighbors.iter().flat_map(|&j| neighbors.iter().map(move |&k| (j as usize, k as usize)));
                Cloud::Gram(pairs.map(|(j, k)| 0.5 * (square(i, j) + square(i, k) - square(j, k))).collect())
            }
        }
    }

    /// The members of a patch relative to their mean.
    pub(crate) fn centered(self, members: &[u32]) -> Cloud {
        let size = members.len();
        match self {
            Measured::Points(points, _) => {
                let mut rows = differences(points, members, &points.point(members[0] as usize));
                center(&mut rows, size);
                Cloud::Rows(rows)
            }
            Measured::Distances(distances) => {
                let square = |a: u32, b: u32| -0.5 * distances.between(a as usize, b as usize).powi(2);
                let entries = members.iter().flat_map(|&a| members.iter().map(move |&b| square(a, b)));
                let mut gram: Vec<f64> = entries.collect();
                center(&mut gram, size);
                let mut turned: Vec<f64> = (0..size * size).map(|at| gram[at % size * size + at / size]).collect();
                center(&mut turned, size);
                Cloud::Gram(turned)
            }
        }
    }
}

/// The mean of the squares, in units of the largest so that none overflows.
fn mean_square(values: Vec<f64>) -> f64 {
    let largest = values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    let sum: f64 = values.iter().map(|v| (v / largest).powi(2)).sum();
    largest * (sum / values.len() as f64) * largest
}

//! What the local methods stand on: points, or only their distances, and the few of them around a point.

use crate::error::Result;
use crate::field::{InputKind, Site, needs_points};
use crate::graph::Metric;
use crate::linalg::dense::small::{add_outer, symmetric_eigen};
use crate::points::Points;
use std::borrow::Cow;

/// What these methods start from.
pub(crate) const INPUTS: &[InputKind] = &[InputKind::Points, InputKind::Distances, InputKind::Similarities];

/// A principal direction below this part of the longest one is rounding (a ratio of lengths).
const FLAT: f64 = 1e-7;

/// What is known of the points.
#[derive(Clone, Copy)]
pub(crate) enum Ground<'a> {
    /// Their features.
    Points(&'a Points),
    /// Their distances from each other.
    Distances(&'a Points),
}

impl<'a> Ground<'a> {
    /// The ground of a method.
    pub(crate) fn new(site: &Site<'a>, method: &str) -> Result<Ground<'a>> {
        match (site.points, site.distances) {
            (Some(points), _) => Ok(Ground::Points(points)),
            (None, Some(distances)) => Ok(Ground::Distances(distances)),
            (None, None) => Err(needs_points(method, "laplacian-eigenmaps and isomap embed a graph")),
        }
    }

    /// p, where it is known.
    pub(crate) fn features(self) -> Option<usize> {
        match self {
            Ground::Points(points) => Some(points.cols()),
            Ground::Distances(_) => None,
        }
    }

    /// How far two points are from each other.
    pub(crate) fn distance(self, metric: Metric, i: usize, j: usize) -> f64 {
        match self {
            Ground::Points(points) => metric.distance(points.row(i), points.row(j)),
            Ground::Distances(distances) => distances.row(i)[j],
        }
    }

    /// The mean variance of a feature; that of all of them together where only distances are known.
    pub(crate) fn variance(self) -> f64 {
        match self {
            Ground::Points(points) => {
                let mean = points.column_means();
                mean_square(points.values().iter().enumerate().map(|(at, x)| x - mean[at % mean.len()]).collect())
            }
            Ground::Distances(distances) => 0.5 * mean_square(distances.values().to_vec()),
        }
    }

    /// The neighbors of point i as seen from it.
    pub(crate) fn around(self, i: usize, neighbors: &[u32]) -> Cloud {
        match self {
            Ground::Points(points) => Cloud::Rows(differences(points, neighbors, points.row(i))),
            // ½ (d²[i,j] + d²[i,k] − d²[j,k])
            Ground::Distances(distances) => {
                let square = |a: usize, b: usize| distances.row(a)[b].powi(2);
                let pairs = neighbors.iter().flat_map(|&j| neighbors.iter().map(move |&k| (j as usize, k as usize)));
                Cloud::Gram(pairs.map(|(j, k)| 0.5 * (square(i, j) + square(i, k) - square(j, k))).collect())
            }
        }
    }

    /// The members of a patch as seen from their mean.
    pub(crate) fn centered(self, members: &[u32]) -> Cloud {
        let size = members.len();
        match self {
            Ground::Points(points) => {
                let mut rows = differences(points, members, points.row(members[0] as usize));
                center(&mut rows, size);
                Cloud::Rows(rows)
            }
            Ground::Distances(distances) => {
                let square = |a: u32, b: u32| -0.5 * distances.row(a as usize)[b as usize].powi(2);
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

/// A few points about an origin: their rows, or where only distances are known their inner products.
pub(crate) enum Cloud {
    Rows(Vec<f64>),
    Gram(Vec<f64>),
}

impl Cloud {
    /// The inner products of its `size` points.
    pub(crate) fn gram(&self, size: usize) -> Cow<'_, [f64]> {
        match self {
            Cloud::Rows(rows) => Cow::Owned(products(rows, size)),
            Cloud::Gram(gram) => Cow::Borrowed(gram),
        }
    }

    /// The first principal coordinates of its `size` points, longest first, each of length one and with the square of
    /// its true length; those that are rounding beside the longest are left out.
    pub(crate) fn principal(&self, size: usize, dims: usize) -> Vec<(f64, Vec<f64>)> {
        let (values, vectors) = match self {
            // Through the smaller of the two matrices of second moments.
            Cloud::Rows(rows) if rows.len() / size < size => {
                let p = rows.len() / size;
                let mut moments = vec![0.0; p * p];
                add_outer(rows, p, 1.0, &mut moments);
                let (values, axes) = symmetric_eigen(&mut moments, p);
                let mut coordinates = Vec::with_capacity(dims.min(p) * size);
                for (axis, value) in axes.chunks_exact(p).zip(&values).take(dims) {
                    let length = value.sqrt();
                    let along = |x: &[f64]| x.iter().zip(axis).map(|(x, u)| x * u).sum::<f64>() / length;
                    coordinates.extend(rows.chunks_exact(p).map(along));
                }
                (values, coordinates)
            }
            cloud => symmetric_eigen(&mut cloud.gram(size).into_owned(), size),
        };
        let longest = values[0];
        let pairs = values.into_iter().zip(vectors.chunks_exact(size)).take(dims);
        let pairs = pairs.take_while(|&(square, _)| square > FLAT * FLAT * longest);
        pairs.map(|(square, coordinate)| (square, coordinate.to_vec())).collect()
    }
}

/// The members' rows less `from`, one after the other.
pub(crate) fn differences(points: &Points, members: &[u32], from: &[f64]) -> Vec<f64> {
    let mut rows = Vec::with_capacity(members.len() * from.len());
    for &j in members {
        rows.extend(points.row(j as usize).iter().zip(from).map(|(x, o)| x - o));
    }
    rows
}

/// The inner products of `count` vectors stored one after the other.
pub(crate) fn products(vectors: &[f64], count: usize) -> Vec<f64> {
    let p = vectors.len() / count;
    let mut gram = vec![0.0; count * count];
    pulp::Arch::new().dispatch(|| {
        for a in 0..count {
            for b in 0..=a {
                let (x, y) = (&vectors[a * p..(a + 1) * p], &vectors[b * p..(b + 1) * p]);
                let product = x.iter().zip(y).map(|(x, y)| x * y).sum();
                gram[a * count + b] = product;
                gram[b * count + a] = product;
            }
        }
    });
    gram
}

/// Takes the mean row from every row.
pub(crate) fn center(rows: &mut [f64], count: usize) {
    let p = rows.len() / count;
    for f in 0..p {
        let mean = (0..count).map(|a| rows[a * p + f]).sum::<f64>() / count as f64;
        (0..count).for_each(|a| rows[a * p + f] -= mean);
    }
}

/// The mean of the squares, in units of the largest so that none overflows.
fn mean_square(values: Vec<f64>) -> f64 {
    let largest = values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    let sum: f64 = values.iter().map(|v| (v / largest).powi(2)).sum();
    largest * (sum / values.len() as f64) * largest
}

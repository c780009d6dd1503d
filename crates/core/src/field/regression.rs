//! One point written by others: the local regressions of acyclic LLE, by features or by distances.

use super::lle::{barycentric_weights, local_gram};
use super::{Site, needs_points};
use crate::error::Result;
use crate::graph::Metric;
use crate::linalg::dense::{inner, product, solve_positive_definite, symmetric_eigen};
use crate::points::Points;
use faer::Mat;

/// What is known of the points.
#[derive(Clone, Copy)]
pub(super) enum Data<'a> {
    /// Their features.
    Points(&'a Points),
    /// Their distances from each other.
    Distances(&'a Points),
}

/// The weights of one point over its parents, and the squared residual a feature.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Regression {
    pub(super) weights: Vec<f64>,
    pub(super) residual: f64,
}

impl<'a> Data<'a> {
    pub(super) fn of(site: &Site<'a>) -> Result<Data<'a>> {
        match (site.points, site.distances) {
            (Some(points), _) => Ok(Data::Points(points)),
            (None, Some(distances)) => Ok(Data::Distances(distances)),
            (None, None) => Err(needs_points("alle", "laplacian-eigenmaps and isomap embed a graph")),
        }
    }

    /// p, where it is known.
    pub(super) fn features(self) -> Option<usize> {
        match self {
            Data::Points(points) => Some(points.cols()),
            Data::Distances(_) => None,
        }
    }

    pub(super) fn distance(self, metric: Metric, i: usize, j: usize) -> f64 {
        match self {
            Data::Points(points) => metric.distance(points.row(i), points.row(j)),
            Data::Distances(distances) => distances.row(i)[j],
        }
    }

    /// The mean variance of a feature; that of all of them together where only distances are known.
    pub(super) fn variance(self) -> f64 {
        let mean_square = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.collect();
            let largest = values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
            let sum: f64 = values.iter().map(|v| (v / largest).powi(2)).sum();
            largest * (sum / values.len() as f64) * largest
        };
        match self {
            Data::Points(points) => {
                let mean = points.column_means();
                mean_square(&mut points.values().iter().enumerate().map(|(at, x)| x - mean[at % mean.len()]))
            }
            Data::Distances(distances) => 0.5 * mean_square(&mut distances.values().iter().copied()),
        }
    }

    /// The first principal component of every point.
    pub(super) fn first_component(self) -> Result<Vec<f64>> {
        let Data::Points(points) = self else {
            return Err(needs_points("--ordering principal", "geodesic orders distances as well"));
        };
        let (mean, unit) = (points.column_means(), self.variance().sqrt().max(f64::MIN_POSITIVE));
        let x = Mat::from_fn(points.rows(), points.cols(), |i, f| (points.row(i)[f] - mean[f]) / unit);
        // An order asks for few digits: power iteration, from the point farthest from the mean.
        let length = |v: &Mat<f64>| v.norm_l2().max(f64::MIN_POSITIVE);
        let far = (0..x.nrows())
            .map(|i| (i, x.row(i).squared_norm_l2()))
            .fold((0, -1.0), |a, b| if b.1 > a.1 { b } else { a });
        let mut axis = Mat::from_fn(x.ncols(), 1, |f, _| x[(far.0, f)]);
        for _ in 0..60 {
            axis /= faer::Scale(length(&axis));
            axis = inner(x.as_ref(), product(x.as_ref(), axis.as_ref()).as_ref());
        }
        axis /= faer::Scale(length(&axis));
        let along = product(x.as_ref(), axis.as_ref());
        Ok((0..x.nrows()).map(|i| along[(i, 0)]).collect())
    }

    /// The weights that write point `i` by its parents.
    pub(super) fn regression(self, i: usize, parents: &[usize], regularization: f64) -> Regression {
        match self {
            Data::Points(points) if parents.len() > points.cols() => {
                by_features(&away(points, i, parents), points.cols(), regularization)
            }
            Data::Points(points) => {
                let away = away(points, i, parents);
                let weights = barycentric_weights(&local_gram(parents.len(), &away), regularization);
                let residual = residual(&away, &weights);
                Regression { weights, residual }
            }
            Data::Distances(_) => {
                let (gram, k) = (self.gram(i, parents), parents.len());
                let weights = barycentric_weights(&gram, regularization);
                let row = |a: usize| (0..k).map(|b| gram[a * k + b] * weights[b]).sum::<f64>();
                let residual = (0..k).map(|a| weights[a] * row(a)).sum::<f64>().max(0.0);
                Regression { weights, residual }
            }
        }
    }

    /// The part of the local trace that lies beyond the first `dims` directions; nothing if the parents span no more.
    pub(super) fn share_beyond(self, i: usize, parents: &[usize], dims: usize) -> Result<Option<f64>> {
        let k = parents.len();
        if k <= dims {
            return Ok(None);
        }
        let gram = match self {
            Data::Points(points) if k > points.cols() => second_moment(&away(points, i, parents), points.cols()),
            _ => self.gram(i, parents),
        };
        let rows = gram.len().isqrt();
        let trace: f64 = (0..rows).map(|a| gram[a * rows + a]).sum();
        if trace == 0.0 {
            return Ok(None);
        }
        let (values, _) = symmetric_eigen(Mat::from_fn(rows, rows, |a, b| gram[a * rows + b] / trace).as_ref())?;
        Ok(Some(values.iter().skip(dims).map(|v| v.max(0.0)).sum()))
    }

    /// (x[j] − x[i])·(x[k] − x[i]) for all parents j and k; from distances ½ (δ²[i,j] + δ²[i,k] − δ²[j,k]).
    fn gram(self, i: usize, parents: &[usize]) -> Vec<f64> {
        match self {
            Data::Points(points) => local_gram(parents.len(), &away(points, i, parents)),
            Data::Distances(distances) => {
                let square = |a: usize, b: usize| distances.row(a)[b].powi(2);
                let pairs = parents.iter().flat_map(|&j| parents.iter().map(move |&k| (j, k)));
                pairs.map(|(j, k)| 0.5 * (square(i, j) + square(i, k) - square(j, k))).collect()
            }
        }
    }
}

/// The differences x[j] − x[i], one after the other.
fn away(points: &Points, i: usize, parents: &[usize]) -> Vec<f64> {
    let x = points.row(i);
    parents.iter().flat_map(|&j| points.row(j).iter().zip(x).map(|(y, x)| y - x)).collect()
}

/// ‖Σⱼ w[j] z[j]‖² / p.
fn residual(away: &[f64], weights: &[f64]) -> f64 {
    let p = away.len() / weights.len();
    let mean = |f: usize| weights.iter().enumerate().map(|(j, w)| w * away[j * p + f]).sum::<f64>();
    (0..p).map(|f| mean(f).powi(2)).sum::<f64>() / p as f64
}

/// ZᵀZ of the differences, p x p.
fn second_moment(away: &[f64], p: usize) -> Vec<f64> {
    let mut moment = vec![0.0; p * p];
    for z in away.chunks_exact(p) {
        for a in 0..p {
            for b in 0..=a {
                moment[a * p + b] += z[a] * z[b];
            }
        }
    }
    for a in 0..p {
        for b in a + 1..p {
            moment[a * p + b] = moment[b * p + a];
        }
    }
    moment
}

/// With more parents than features, by the p x p matrix of the differences Z instead of C = Z Zᵀ + ρI (Woodbury):
///
/// ```text
/// C⁻¹1 = (1 − Z a) / ρ,   (ZᵀZ + ρI) a = Zᵀ1;     the residual is −ρ a / 1ᵀ(1 − Z a)
/// ```
fn by_features(away: &[f64], p: usize, regularization: f64) -> Regression {
    let k = away.len() / p;
    let trace: f64 = away.iter().map(|z| z * z).sum();
    let equal = || {
        let weights = vec![1.0 / k as f64; k];
        let residual = residual(away, &weights);
        Regression { weights, residual }
    };
    if trace == 0.0 {
        return equal();
    }
    // In units of the trace, so that no scale of the data can underflow.
    let length = trace.sqrt();
    let away: Vec<f64> = away.iter().map(|z| z / length).collect();
    let mut moment = second_moment(&away, p);
    let mut a = vec![0.0; p];
    for z in away.chunks_exact(p) {
        a.iter_mut().zip(z).for_each(|(sum, z)| *sum += z);
    }
    for f in 0..p {
        moment[f * p + f] += regularization;
    }
    if !solve_positive_definite(&mut moment, &mut a) {
        return equal();
    }
    let mut weights: Vec<f64> =
        away.chunks_exact(p).map(|z| 1.0 - z.iter().zip(&a).map(|(z, a)| z * a).sum::<f64>()).collect();
    let sum: f64 = weights.iter().sum();
    if !sum.is_normal() {
        return equal();
    }
    weights.iter_mut().for_each(|w| *w /= sum);
    let rest = regularization * length / sum;
    Regression { weights, residual: a.iter().map(|a| (rest * a).powi(2)).sum::<f64>() / p as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_parents_than_features_have_the_weights_of_the_gram_matrix() {
        // Six parents in a plane, none of them symmetric to another.
        let away = [1.0, 0.5, -0.25, 2.0, 0.75, -1.5, 2.0, 2.0, -1.0, -0.5, 0.125, 3.0];
        for regularization in [1e-6, 1e-3, 10.0] {
            let short = by_features(&away, 2, regularization);
            let long = barycentric_weights(&local_gram(6, &away), regularization);
            for (a, b) in short.weights.iter().zip(&long) {
                assert!((a - b).abs() < 1e-9, "{:?} {long:?}", short.weights);
            }
            let expected = residual(&away, &short.weights);
            assert!((short.residual - expected).abs() < 1e-6 * expected.max(1e-12), "{short:?} {expected}");
        }
    }

    #[test]
    fn parents_at_the_point_itself_weigh_the_same() {
        assert_eq!(by_features(&[0.0; 6], 2, 1e-3), Regression { weights: vec![1.0 / 3.0; 3], residual: 0.0 });
    }

    /// From the origin: 3 along x and 4 along x, and 5 across. The trace is 50, and 25 of it lie across.
    #[test]
    fn the_share_beyond_the_first_direction_is_what_lies_across_it() {
        let points = Points::from_rows(&[[0.0, 0.0], [3.0, 0.0], [4.0, 0.0], [0.0, 5.0]]).unwrap();
        for data in [Data::Points(&points), Data::Distances(&distances_of(&points))] {
            assert!((data.share_beyond(0, &[1, 2, 3], 1).unwrap().unwrap() - 0.5).abs() < 1e-14);
            assert!(data.share_beyond(0, &[1, 2, 3], 2).unwrap().unwrap() < 1e-14);
            assert_eq!(data.share_beyond(0, &[1, 2], 2).unwrap(), None);
        }
    }

    fn distances_of(points: &Points) -> Points {
        let n = points.rows();
        let distance = |at: usize| Metric::Euclidean.distance(points.row(at / n), points.row(at % n));
        Points::new(n, n, (0..n * n).map(distance).collect()).unwrap()
    }

    #[test]
    fn the_first_component_of_points_on_a_line_is_their_place_on_it() {
        let points = Points::from_rows(&[[0.0, 0.0], [2.0, 1.0], [-4.0, -2.0], [6.0, 3.0]]).unwrap();
        let along = Data::Points(&points).first_component().unwrap();
        let mut order = [0, 1, 2, 3];
        order.sort_by(|&a: &usize, &b| along[a].total_cmp(&along[b]));
        assert!(order == [2, 0, 1, 3] || order == [3, 1, 0, 2], "{along:?}");
    }
}

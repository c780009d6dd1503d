//! The elbow of Isomap: with how many coordinates its map keeps the distances along the graph.
//!
//! ```text
//! v(q) = 1 − R²(g[i,j], ‖y[i] − y[j]‖)       over all pairs, q coordinates;   v(0) = 1
//! r(q) = v(q)/v(q − 1)                       the part of what was left that coordinate q leaves
//! d = the q of largest r(q + 1)/r(q), of those with r(q + 1) > 4/5 and r(q + 1)/r(q) > 1.15
//! ```
//!
//! In words: after d coordinates the next takes less than a fifth of what is left, and the fall breaks off there more than
//! anywhere else. The second half is needed in many dimensions, where every coordinate takes less than a fifth: of a cube of
//! eight dimensions the first takes a tenth. If the fall never breaks off, all coordinates count where there are as many as
//! features, and else there is no elbow.
//!
//! J. B. Tenenbaum, V. de Silva, J. C. Langford. A global geometric framework for nonlinear dimensionality reduction.
//! Science 290, 2000 (figure 2; they read the elbow by eye).

use crate::field::scaling::isomap::Isomap;
use crate::likelihood::Likelihood;
use crate::recipe::Recipe;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Neighbors, Paths, Search};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;
use serde::Serialize;

/// The neighbors of each point.
const NEIGHBORS: usize = 10;
/// The most coordinates that are tried.
const MOST: usize = 10;
/// A coordinate that leaves more than this part of the residual variance helps little.
const LEFT: f64 = 0.8;
/// A residual variance below this is none.
const ROUNDING: f64 = 1e-12;
/// How many times the part that the coordinate before it left.
const BREAK: f64 = 1.15;

/// The residual variances.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Elbow {
    /// For 1, 2, ... coordinates.
    pub residual_variances: Vec<f64>,
    /// Where the elbow is; nothing if every coordinate still helps.
    pub dimension: Option<usize>,
    /// The number of points, evenly spaced.
    pub points: usize,
}

/// The residual variances of Isomap's maps of the points.
///
/// # Errors
///
/// As [`Recipe::fit`].
pub(super) fn elbow(points: &Points, observer: &dyn Observer) -> Result<Elbow> {
    let n = points.rows();
    let neighbors = Neighbors::Nearest(NEIGHBORS.min(n - 1));
    let graph = Search { neighbors, ..Search::default() }.of_points(points, observer)?.graph;
    let dims = MOST.min(points.cols()).min(n - 1);
    let recipe = Recipe { method: Isomap::default().into(), dims, likelihood: Likelihood::Never, ..Recipe::default() };
    let map = recipe.fit(&graph, observer)?;
    let geodesics = Paths::new(&graph.union(), n).from_sources(&(0..n).collect::<Vec<_>>(), observer)?;
    let residual_variances = residual_variances(&geodesics, map.embedding());
    let dimension = after(&residual_variances, points.cols());
    Ok(Elbow { residual_variances, dimension, points: n })
}

/// v(1), v(2), ... of a map, given all distances.
fn residual_variances(distances: &[f64], map: &Points) -> Vec<f64> {
    let (n, dims) = (map.rows(), map.cols());
    let largest = distances.iter().fold(f64::MIN_POSITIVE, |a: f64, b| a.max(*b));
    let mean = distances.iter().sum::<f64>() / (largest * (n * (n - 1)) as f64);
    // Σx, Σx², Σy, Σy², Σxy for every number of coordinates, in units of the largest distance and about its mean.
    let sums = parallel::collect(n, |i| {
        let mut sums = vec![[0.0; 5]; dims];
        for j in 0..i {
            let x = distances[i * n + j] / largest - mean;
            let mut square = 0.0;
            for q in 0..dims {
                square += ((map.row(i)[q] - map.row(j)[q]) / largest).powi(2);
                let y = square.sqrt() - mean;
                let terms = [x, x * x, y, y * y, x * y];
                sums[q].iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
        }
        sums
    });
    let pairs = (n * (n - 1) / 2) as f64;
    let one = |q: usize| {
        let mut total = [0.0; 5];
        sums.iter().for_each(|row| total.iter_mut().zip(row[q]).for_each(|(sum, term)| *sum += term));
        let [x, xx, y, yy, xy] = total.map(|sum| sum / pairs);
        let correlated = (xy - x * y).powi(2) / ((xx - x * x) * (yy - y * y));
        if correlated.is_finite() { (1.0 - correlated).max(0.0) } else { 1.0 }
    };
    (0..dims).map(one).collect()
}

/// Where the fall of the residual variances breaks off.
fn after(variances: &[f64], features: usize) -> Option<usize> {
    let variance = |q: usize| if q == 0 { 1.0 } else { variances[q - 1].max(ROUNDING) };
    let left = |q: usize| variance(q) / variance(q - 1);
    let breaks = |q: usize| left(q + 1) / left(q);
    let helps_little = |&q: &usize| left(q + 1) > LEFT && breaks(q) > BREAK;
    let elbows = (1..variances.len()).filter(helps_little);
    let most = elbows.max_by(|&a, &b| breaks(a).total_cmp(&breaks(b)).then(b.cmp(&a)));
    most.or((variances.len() == features).then_some(features))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_linalg::progress::Silent;

    #[test]
    fn the_elbow_is_where_the_fall_breaks_off() {
        assert_eq!(after(&[0.0157, 0.000595, 0.000619], 3), Some(2));
        assert_eq!(after(&[0.6, 0.4, 0.2, 0.19], 9), Some(3));
        assert_eq!(after(&[1e-9], 1), Some(1));
        // A cube of eight dimensions: every coordinate takes little, and none that comes after them takes anything.
        let cube = [0.903, 0.799, 0.706, 0.593, 0.479, 0.378, 0.260, 0.157, 0.153, 0.150];
        assert_eq!((after(&cube, 20), after(&cube[..8], 8), after(&cube[..6], 20)), (Some(8), Some(8), None));
        assert_eq!(after(&(1..=10).map(|q| 0.5f64.powi(q)).collect::<Vec<_>>(), 20), None);
        // No variance is left at all.
        assert_eq!(after(&[0.5, 0.0, 0.0], 9), Some(2));
    }

    #[test]
    fn a_rectangle_takes_two_coordinates() {
        let cell = |at: usize| {
            if at.is_multiple_of(2) { 3.0 * (at as f64 * 0.31).fract() } else { (at as f64 * 0.17).fract() }
        };
        let points = Points::new(300, 2, (0..600).map(cell).collect()).unwrap();
        let found = elbow(&points, &Silent).unwrap();
        assert_eq!((found.residual_variances.len(), found.dimension, found.points), (2, Some(2), 300));
        assert!(found.residual_variances[1] < 0.05, "{found:?}");
    }
}

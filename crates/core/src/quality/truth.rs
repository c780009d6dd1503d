//! The map against coordinates that are known to be right (`procrustes.rs`): how far off each row is once the map is turned,
//! stretched and moved onto them, as a share of their mean square distance from their mean. The mean over all rows is the disparity.

use crate::quality::procrustes::Onto;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;

/// The disparity, and what it is row by row; nothing if the true coordinates are all the same.
pub(super) fn disparity(map: &Points, truth: &Points) -> Result<Option<(f64, Vec<f64>)>> {
    let dims = map.cols().max(truth.cols());
    let (map, truth) = (widened(map, dims)?, widened(truth, dims)?);
    let means = truth.column_means();
    let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let n = truth.rows();
    let total: f64 = (0..n).map(|i| square(truth.row(i), &means)).sum();
    let onto = Onto::new(&map, &truth);
    let each = |i: usize| square(&onto.place(map.row(i)), truth.row(i)) / total * n as f64;
    Ok((total > 0.0).then(|| (onto.disparity, (0..n).map(each).collect())))
}

/// The same points with columns of zeros after their own.
fn widened(points: &Points, dims: usize) -> Result<Points> {
    let wide = |i: usize| points.row(i).iter().copied().chain(vec![0.0; dims - points.cols()]);
    Points::new(points.rows(), dims, (0..points.rows()).flat_map(wide).collect())
}

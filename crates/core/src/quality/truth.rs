//! The map against true coordinates (`procrustes.rs`): the error of each row after rotation, scaling and translation of
//! the map, as a share of the mean squared distance of the true coordinates from their mean. The mean over all rows is
//! the disparity.

use crate::quality::procrustes::Onto;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;

/// The disparity, and its row by row values; `None` if the true coordinates are all equal.
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

/// The same points, padded with columns of zeros.
fn widened(points: &Points, dims: usize) -> Result<Points> {
    let wide = |i: usize| points.row(i).iter().copied().chain(vec![0.0; dims - points.cols()]);
    Points::new(points.rows(), dims, (0..points.rows()).flat_map(wide).collect())
}

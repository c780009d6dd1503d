//! Uncertainty shading: the uncertainty of the inverse transform over the background of a map.

use crate::block::Block;
use eigenfold::{InverseTransform, Points, Result};
use serde_json::{Value, json};

/// Grid points along a side.
const SIDE: usize = 48;
/// The width of the background around the points, in widths of the map.
const AROUND: f64 = 0.08;

/// The standard deviation of the data rows at every point of a grid over the map, all features together, relative to the spread
/// of the data: 0 is certain, 1 is as uncertain as the mean. `turn` maps coordinates of the page to those of the inverse
/// transform.
pub(crate) fn shade(
    inverse: &InverseTransform<'_>,
    map: &Points,
    spread: f64,
    turn: &dyn Fn(&[f64]) -> Vec<f64>,
    block: &mut Block,
) -> Result<Option<Value>> {
    if map.cols() != 2 || spread <= 0.0 || !spread.is_finite() {
        return Ok(None);
    }
    let extent = |axis: usize| {
        let values = || (0..map.rows()).map(|i| map.row(i)[axis]);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let room = AROUND * (high - low).max(f64::MIN_POSITIVE);
        [low - room, high + room]
    };
    let (x, y) = (extent(0), extent(1));
    let at = |range: [f64; 2], step: usize| range[0] + (range[1] - range[0]) * (step as f64 + 0.5) / SIDE as f64;
    let places = (0..SIDE * SIDE).flat_map(|cell| turn(&[at(x, cell % SIDE), at(y, cell / SIDE)])).collect();
    let reconstructed = inverse.reconstruct(&Points::new(SIDE * SIDE, 2, places)?)?;
    let share =
        |cell: usize| reconstructed.deviations.row(cell).iter().map(|d| (d / spread).powi(2)).sum::<f64>().sqrt();
    let shares: Vec<f64> = (0..SIDE * SIDE).map(share).collect();
    let (low, high) = shares.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &s| (low.min(s), high.max(s)));
    let width = if high > low { high - low } else { 1.0 };
    let values = block.u8(&[SIDE, SIDE], shares.iter().map(|s| (255.0 * (s - low) / width).round() as u8));
    Ok(Some(json!({"extent": [x[0], x[1], y[0], y[1]], "values": values, "low": low, "high": high})))
}

//! Fitted edges: the columns `i`, `j`, `distance`, `weight`, points counted from 0.

use crate::write::{Column, Outgoing};
use eigenfold_graph::Weight;
use eigenfold_linalg::error::Result;
use std::path::Path;

/// Writes fitted edges in their order as `i,j,distance,weight`, in the format that the extension names; `-` is CSV on
/// standard output. [`crate::read_graph`] reads the graph back.
///
/// # Errors
///
/// If the extension is unknown or the system refuses; no partial file is left behind.
pub fn write_weights(target: impl AsRef<Path>, weights: &[Weight]) -> Result<()> {
    let (from, to): (Vec<u32>, Vec<u32>) = weights.iter().map(|edge| (edge.i, edge.j)).unzip();
    let (distances, weights): (Vec<f64>, Vec<f64>) = weights.iter().map(|edge| (edge.distance, edge.weight)).unzip();
    let columns = vec![
        ("i", Column::Indices(&from)),
        ("j", Column::Indices(&to)),
        ("distance", Column::Numbers(&distances)),
        ("weight", Column::Numbers(&weights)),
    ];
    Outgoing { rows: from.len(), columns }.write(target.as_ref())
}

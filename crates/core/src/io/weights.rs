//! Fitted edges: one a line, `i,j,distance,weight`, points counted from 0.

use crate::error::Result;
use crate::field::Weight;
use crate::io::{csv, write_bytes_atomically, write_error};
use std::path::Path;

/// Writes fitted edges in their order as `i,j,distance,weight`; `-` is standard output. [`super::read_graph`] reads the
/// graph back.
///
/// # Errors
///
/// If the system refuses; no partial file is left behind.
pub fn write_weights(target: &str, weights: &[Weight]) -> Result<()> {
    let path = Path::new(target);
    write_bytes_atomically(path, |out| {
        let mut write = || -> std::io::Result<()> {
            writeln!(out, "i,j,distance,weight")?;
            for Weight { i, j, distance, weight } in weights {
                writeln!(out, "{i},{j},{},{}", csv::number(*distance), csv::number(*weight))?;
            }
            Ok(())
        };
        write().map_err(|source| write_error(path, source))
    })
}

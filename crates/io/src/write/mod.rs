//! Writes tables in any format: named columns of one length.

pub(crate) mod atomic;
pub(crate) mod stream;
pub(crate) mod target;

use crate::compress::Compression;
use crate::text::csv;
use crate::{Carried, Cells, Format, KNOWN, Target, by_extension, format_error, npy};
use crate::{write_bytes_atomically, write_error};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use std::io::Write;
use std::path::Path;

/// The columns of a file to be written.
pub(crate) struct Outgoing<'a> {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<(&'a str, Column<'a>)>,
}

/// The neighbors of every row: `k` of them one after the other, nearest first.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    /// How many each row has.
    pub k: usize,
    /// Their rows, counted from 0.
    pub ids: &'a [u32],
    /// Their distances.
    pub distances: &'a [f64],
}

/// Rows that wait until they fill a group: points, and the columns that go with them.
#[derive(Default)]
pub(crate) struct Waiting {
    names: Vec<String>,
    rows: usize,
    columns: Vec<(Cells, bool)>,
}

impl Waiting {
    /// Adds rows, and hands over all groups of this size that are full.
    pub(crate) fn push(
        &mut self,
        path: &Path,
        outgoing: &Outgoing,
        size: usize,
        mut full: impl FnMut(&Outgoing) -> Result<()>,
    ) -> Result<()> {
        if self.columns.is_empty() {
            self.names = outgoing.columns.iter().map(|(name, _)| name.to_string()).collect();
            let empty = |column: &Column| match column {
                Column::Carried(Cells::Texts(_)) => Cells::Texts(Vec::new()),
                _ => Cells::Numbers(Vec::new()),
            };
            let columns = outgoing.columns.iter().map(|(_, column)| (empty(column), column.may_be_missing()));
            self.columns = columns.collect();
        }
        let mut start = 0;
        while start < outgoing.rows {
            let end = outgoing.rows.min(start + size - self.rows);
            for ((_, column), (cells, missing)) in outgoing.columns.iter().zip(&mut self.columns) {
                match (cells, column) {
                    (Cells::Texts(cells), Column::Carried(Cells::Texts(texts))) => {
                        cells.extend_from_slice(&texts[start..end]);
                    }
                    (Cells::Numbers(cells), column) if !matches!(column, Column::Carried(Cells::Texts(_))) => {
                        cells.extend((start..end).map(|i| column.number(i)));
                        if column.may_be_missing() && !*missing {
                            let fact = "cells are missing and none was in the rows before";
                            return Err(format_error(path, fact, "write .csv or .npy"));
                        }
                    }
                    _ => {
                        let fact = "a column holds texts and numbers";
                        return Err(format_error(path, fact, "write .csv, which has no types"));
                    }
                }
            }
            self.rows += end - start;
            start = end;
            if self.rows == size {
                self.rest(&mut full)?;
            }
        }
        Ok(())
    }

    /// Hands over what is left.
    pub(crate) fn rest(&mut self, mut write: impl FnMut(&Outgoing) -> Result<()>) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let columns = self.columns.iter().map(|(cells, missing)| match cells {
            Cells::Numbers(numbers) if !missing => Column::Numbers(numbers),
            cells => Column::Carried(cells),
        });
        let columns = self.names.iter().map(String::as_str).zip(columns).collect();
        write(&Outgoing { rows: self.rows, columns })?;
        self.rows = 0;
        self.columns.iter_mut().for_each(|(cells, _)| match cells {
            Cells::Numbers(numbers) => numbers.clear(),
            Cells::Texts(texts) => texts.clear(),
        });
        Ok(())
    }
}

/// The content of a column.
#[derive(Clone, Copy)]
pub(crate) enum Column<'a> {
    /// A column of points, by its number from 0.
    Of(&'a Points, usize),
    /// Lengths or weights.
    Numbers(&'a [f64]),
    /// Rows of another table, counted from 0.
    Indices(&'a [u32]),
    /// A column that is carried along with the points.
    Carried(&'a Cells),
}

impl Column<'_> {
    /// Whether cells may be missing.
    pub(crate) fn may_be_missing(&self) -> bool {
        match self {
            Column::Of(points, _) => !points.missing().is_empty(),
            Column::Numbers(_) | Column::Indices(_) => false,
            Column::Carried(_) => true,
        }
    }

    /// The number in a row; NaN where there is none.
    pub(crate) fn number(&self, row: usize) -> f64 {
        match self {
            Column::Of(points, column) if points.is_missing(row, *column) => f64::NAN,
            Column::Of(points, column) => points.row(row)[*column],
            Column::Numbers(numbers) => numbers[row],
            Column::Indices(indices) => f64::from(indices[row]),
            Column::Carried(Cells::Numbers(numbers)) => numbers[row],
            Column::Carried(Cells::Texts(_)) => f64::NAN,
        }
    }
}

impl<'a> Outgoing<'a> {
    /// Points, and after them the columns that go with them.
    pub(crate) fn of_points(names: &'a [String], points: &'a Points, carried: &'a [Carried]) -> Result<Outgoing<'a>> {
        let (cols, rows) = (points.cols(), points.rows());
        if names.len() != cols {
            let names = names.len();
            return Err(Error::mismatch(
                "names",
                (names, cols),
                format!("{names} names do not fit {cols} columns"),
                "give one name per column",
            ));
        }
        if let Some(other) = carried.iter().find(|column| column.cells.len() != rows) {
            let count = other.cells.len();
            return Err(Error::mismatch(
                "labels",
                (count, rows),
                format!("{count} labels do not fit {rows} points"),
                "give one label per point",
            ));
        }
        let data = names.iter().enumerate().map(|(c, name)| (name.as_str(), Column::Of(points, c)));
        let carried = carried.iter().map(|column| (column.name.as_str(), Column::Carried(&column.cells)));
        Ok(Outgoing { rows, columns: data.chain(carried).collect() })
    }

    /// Writes the file completely or not at all, in the format that its extension names; `-`, and devices and pipes without one,
    /// get CSV.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let device = !matches!(Target::of(path)?, Target::File(_));
        let (compression, stem) = Compression::named(path);
        let format = by_extension(&stem).or(device.then_some(Format::Text(None)));
        match format {
            Some(Format::Text(delimiter)) => {
                written(path, compression, |out| csv::write(out, delimiter.unwrap_or(b','), self))
            }
            Some(Format::Npy) if self.columns.iter().any(|(_, column)| matches!(column, Column::Carried(_))) => {
                let fact = "an NPY file holds coordinates and no other columns";
                Err(format_error(path, fact, "write .csv, .tsv, .parquet or .arrow"))
            }
            Some(Format::Npy) => written(path, compression, |out| npy::write(out, self)),
            Some(Format::Parquet) => {
                let bytes = crate::encode_parquet(path, self, None)?;
                written(path, compression, |out| out.write_all(&bytes))
            }
            Some(Format::Arrow) => {
                let bytes = crate::encode_arrow(path, self)?;
                written(path, compression, |out| out.write_all(&bytes))
            }
            Some(Format::Npz) => Err(format_error(path, "an archive of arrays is not written", "write .npy")),
            None if path.is_dir() => Err(format_error(path, "is a directory", "name a file in it")),
            None => Err(format_error(path, "the extension is not that of a known format", format!("use {KNOWN}"))),
        }
    }
}

/// Writes what `fill` writes, compressed as the name requests.
fn written(
    path: &Path,
    compression: Option<Compression>,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    write_bytes_atomically(path, |out| {
        let done = match compression {
            Some(compression) => compression.compress(out, fill),
            None => fill(out),
        };
        done.map_err(|source| write_error(path, source))
    })
}

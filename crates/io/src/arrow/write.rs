//! Arrow files out: numbers as float64, indices as int64, texts as large texts, null where a cell is missing.

use crate::columns::carried::Cells;
use crate::format_error;
use crate::write::{Column, Outgoing, Waiting};
use arrow_array::{ArrayRef, Float64Array, Int64Array, LargeStringArray, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use eigenfold_linalg::error::{self, Error};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The rows of a batch.
const GROUP: usize = 1 << 17;

/// The bytes of a file.
pub(super) fn encode(outgoing: &Outgoing) -> Result<Vec<u8>, ArrowError> {
    let mut writer = begin(Vec::new(), outgoing)?;
    for start in (0..outgoing.rows).step_by(GROUP) {
        write_batch(&mut writer, outgoing, start..(start + GROUP).min(outgoing.rows))?;
    }
    writer.into_inner()
}

/// Begins a file with such columns.
fn begin<W: Write>(out: W, outgoing: &Outgoing) -> Result<FileWriter<W>, ArrowError> {
    let field = |(name, column): &(&str, Column)| {
        let kind = match column {
            Column::Indices(_) => DataType::Int64,
            Column::Carried(Cells::Texts(_)) => DataType::LargeUtf8,
            Column::Of(..) | Column::Numbers(_) | Column::Carried(_) => DataType::Float64,
        };
        Field::new(*name, kind, column.may_be_missing())
    };
    FileWriter::try_new(out, &Schema::new(outgoing.columns.iter().map(field).collect::<Vec<_>>()))
}

/// Writes some rows as one record batch.
fn write_batch<W: Write>(
    writer: &mut FileWriter<W>,
    outgoing: &Outgoing,
    rows: Range<usize>,
) -> Result<(), ArrowError> {
    let columns = outgoing.columns.iter().map(|(_, column)| array(column, rows.clone())).collect();
    writer.write(&RecordBatch::try_new(Arc::clone(writer.schema()), columns)?)
}

/// Rows that are written in record batches of one size, so that their bytes do not depend on how they come.
pub(crate) struct Rows<W: Write> {
    /// What comes before the first row.
    out: Option<W>,
    writer: Option<FileWriter<W>>,
    /// Rows that do not fill a record batch yet.
    waiting: Waiting,
}

impl<W: Write> Rows<W> {
    pub(crate) fn new(out: W) -> Rows<W> {
        Rows { out: Some(out), writer: None, waiting: Waiting::default() }
    }

    /// Writes further rows.
    pub(crate) fn write(&mut self, path: &Path, outgoing: &Outgoing) -> error::Result<()> {
        if let Some(out) = self.out.take() {
            self.writer = Some(begin(out, outgoing).map_err(|error| unwritten(path, error))?);
        }
        let Rows { writer, waiting, .. } = self;
        waiting.push(path, outgoing, GROUP, |batch| match writer {
            Some(writer) => write_batch(writer, batch, 0..batch.rows).map_err(|error| unwritten(path, error)),
            None => Ok(()),
        })
    }

    /// Completes the file.
    pub(crate) fn end(mut self, path: &Path) -> error::Result<W> {
        let none = || format_error(path, "no row was written", "give at least one");
        let mut writer = self.writer.take().ok_or_else(none)?;
        self.waiting
            .rest(|batch| write_batch(&mut writer, batch, 0..batch.rows).map_err(|error| unwritten(path, error)))?;
        writer.into_inner().map_err(|error| unwritten(path, error))
    }
}

/// The error of a table that the crate cannot write.
pub(super) fn unwritten(path: &Path, error: ArrowError) -> Error {
    match error {
        // A full disk or a closed pipe is no defect of the table.
        ArrowError::IoError(_, source) => crate::write_error(path, source),
        error => format_error(path, format!("cannot be written as Arrow ({error})"), "use .csv or .npy"),
    }
}

/// Some rows of a column.
fn array(column: &Column, rows: Range<usize>) -> ArrayRef {
    match column {
        Column::Carried(Cells::Texts(texts)) => {
            let text = |text: &String| (!text.is_empty()).then(|| text.clone());
            Arc::new(texts[rows].iter().map(text).collect::<LargeStringArray>())
        }
        Column::Indices(indices) => Arc::new(Int64Array::from_iter_values(indices[rows].iter().map(|&i| i64::from(i)))),
        column if column.may_be_missing() => {
            let number = |i: usize| Some(column.number(i)).filter(|number| !number.is_nan());
            Arc::new(rows.map(number).collect::<Float64Array>())
        }
        column => Arc::new(Float64Array::from_iter_values(rows.map(|i| column.number(i)))),
    }
}

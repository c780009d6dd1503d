//! Arrow files out: numbers as float64, indices as int64, texts as large texts, null where a cell is missing.

use crate::columns::carried::Cells;
use crate::write::{Column, Outgoing};
use arrow_array::{ArrayRef, Float64Array, Int64Array, LargeStringArray, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::ops::Range;
use std::sync::Arc;

/// The rows of a batch.
const GROUP: usize = 1 << 17;

/// The bytes of a file.
pub(super) fn encode(outgoing: &Outgoing) -> Result<Vec<u8>, ArrowError> {
    let field = |(name, column): &(&str, Column)| {
        let kind = match column {
            Column::Indices(_) => DataType::Int64,
            Column::Carried(Cells::Texts(_)) => DataType::LargeUtf8,
            Column::Of(..) | Column::Numbers(_) | Column::Carried(_) => DataType::Float64,
        };
        Field::new(*name, kind, column.may_be_missing())
    };
    let schema = Arc::new(Schema::new(outgoing.columns.iter().map(field).collect::<Vec<_>>()));
    let mut writer = FileWriter::try_new(Vec::new(), &schema)?;
    for start in (0..outgoing.rows).step_by(GROUP) {
        let rows = start..(start + GROUP).min(outgoing.rows);
        let columns = outgoing.columns.iter().map(|(_, column)| array(column, rows.clone())).collect();
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    writer.into_inner()
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

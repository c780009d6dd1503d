//! Parquet files: columns of numbers in, columns of float64 out.
//!
//! Flat tables only. Every column of numbers or booleans is data unless the options say otherwise; text can be the
//! label.

use crate::error::{Error, Result};
use crate::io::columns::{Columns, Role};
use crate::io::parquet_guard::{Chunk, check_footer, check_pages};
use crate::io::{
    Labels, ReadOptions, Table, check_memory, format_error, is_unusable, read_error, room_for, write_bytes_atomically,
    write_error,
};
use crate::memory;
use crate::points::Points;
use ::parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{ColumnDescriptor, Type};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// The records read at a time, so that a false count in the file allocates nothing.
const BATCH: usize = 1 << 16;

/// The rows of a row group on writing.
const GROUP: usize = 1 << 17;

/// Reads a table from an open file.
pub(super) fn read(path: &Path, file: File, options: &ReadOptions) -> Result<Table> {
    // The Parquet library asserts what it believes of a file, so a damaged one can make it panic.
    let table = catch_unwind(AssertUnwindSafe(|| read_columns(path, file, options)));
    table.unwrap_or_else(|_| Err(unreadable(path, ParquetError::General("the file is damaged".into()))))
}

fn read_columns(path: &Path, mut file: File, options: &ReadOptions) -> Result<Table> {
    let fail = |error| unreadable(path, error);
    let limit = options.memory.unwrap_or_else(memory::available);
    let length = file.metadata().map_err(|error| read_error(path, error))?.len();
    check_footer(&mut file, length, limit).map_err(fail)?;
    let pages = file.try_clone().map_err(|error| read_error(path, error))?;
    let reader = SerializedFileReader::new(file).map_err(fail)?;
    let rows = checked_rows(reader.metadata(), length).map_err(fail)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let columns = Columns::named(schema.columns().iter().map(|column| column.path().parts().join(".")).collect());
    let roles = columns.roles(path, options)?;
    check_room(path, rows, &roles, options)?;
    let (mut numbers, mut labels) = (Vec::new(), None);
    for (c, role) in roles.iter().enumerate().filter(|(_, role)| **role != Role::Ignored) {
        let what = check_type(path, &columns, c, &schema.column(c), *role)?;
        let values = if what == What::Text { Vec::new() } else { room_for(path, rows)? };
        let mut column = Column { what, numbers: values, texts: Vec::new(), first_null: None };
        for group in 0..reader.num_row_groups() {
            let chunk = chunk_of(reader.metadata().row_group(group).column(c));
            check_pages(&mut &pages, &chunk, limit).map_err(fail)?;
            let group = reader.get_row_group(group).map_err(fail)?;
            column.read(group.get_column_reader(c).map_err(fail)?, schema.column(c).max_def_level()).map_err(fail)?;
        }
        if let Some(row) = column.first_null.filter(|_| *role == Role::Label || !options.missing) {
            return Err(match role {
                Role::Label => columns.unlabeled(path, row, None, c),
                _ => columns.missing(path, row, c),
            });
        }
        let held = column.numbers.len() + column.texts.len();
        if held != rows {
            let title = columns.title(c);
            let fact = format!("it claims {rows} rows, and {title} holds {held}");
            return Err(fail(ParquetError::General(fact)));
        }
        if *role == Role::Label {
            let made =
                if what == What::Text { Labels::from_text(column.texts) } else { Labels::from_numbers(column.numbers) };
            labels = Some(made.map_err(|row| columns.unlabeled(path, row, None, c))?);
        } else {
            if let Some(at) = column.numbers.iter().position(|&value| is_unusable(value, options)) {
                return Err(columns.bad_number(path, at + 1, None, c, column.numbers[at]));
            }
            numbers.push(column.numbers);
        }
    }
    let points = interleave(path, numbers, rows)?;
    Ok(Table { points, columns: columns.data_names(&roles), labels, notes: Vec::new() })
}

/// Refuses more rows than there is room for.
fn check_room(path: &Path, rows: usize, roles: &[Role], options: &ReadOptions) -> Result<()> {
    let count = |wanted: Role| roles.iter().filter(|&&role| role == wanted).count() as u64;
    let data = count(Role::Data);
    // The columns are put together in the end, when all of them are there; a single one is taken as it is.
    let copies = if data == 1 { 1 } else { 2 };
    check_memory(path, (rows as u64).saturating_mul(8 * data * copies + 40 * count(Role::Label)), options.memory)
}

/// The column as its pages are checked.
fn chunk_of(column: &ColumnChunkMetaData) -> Chunk {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let text = column.column_type() == Physical::BYTE_ARRAY;
    let least = match column.column_type() {
        Physical::BOOLEAN => 1,
        Physical::INT32 | Physical::FLOAT | Physical::BYTE_ARRAY => 4,
        Physical::INT64 | Physical::DOUBLE => 8,
        Physical::INT96 => 12,
        Physical::FIXED_LEN_BYTE_ARRAY => column.column_descr().type_length().max(1) as u64,
    };
    // They are known not to be negative.
    let (start, size, values) = (start as u64, column.compressed_size() as u64, column.num_values() as u64);
    Chunk { start, size, values, least, text }
}

/// The number of rows, if all columns lie within the file and all counts agree.
fn checked_rows(metadata: &ParquetMetaData, length: u64) -> std::result::Result<usize, ParquetError> {
    let mut rows = 0i64;
    for group in metadata.row_groups() {
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            let inside = start >= 0 && end.is_some_and(|end| end >= start && end as u64 <= length);
            let flat = column.column_descr().max_rep_level() == 0;
            if !inside || column.num_values() < 0 || (flat && column.num_values() != group.num_rows()) {
                return Err(ParquetError::General("its columns do not lie where it says".into()));
            }
        }
        rows = if group.num_rows() < 0 { i64::MIN } else { rows.saturating_add(group.num_rows()) };
    }
    let claimed = metadata.file_metadata().num_rows();
    if rows != claimed || rows < 0 {
        return Err(ParquetError::General(format!("it claims {claimed} rows, and its row groups have {rows}")));
    }
    usize::try_from(rows).map_err(|_| ParquetError::General("it has more rows than memory".into()))
}

/// What the values of a column stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Number,
    /// An integer whose largest bit is not a sign.
    Unsigned,
    /// An integer to be multiplied by this power of ten.
    Decimal(i32),
    Text,
}

/// What a column holds, or why it cannot be read.
fn check_type(path: &Path, columns: &Columns, c: usize, column: &ColumnDescriptor, role: Role) -> Result<What> {
    let (title, flag) = (columns.title(c), columns.flag(c));
    let refuse = |what: &str| Err(format_error(path, format!("{title} {what}; use `ignore` {flag}")));
    let dates = || {
        let way_out = format!("use `ignore` {flag}, or write numbers, such as days since the first of them");
        Err(format_error(path, format!("{title} holds dates or times, which are no numbers; {way_out}")))
    };
    if column.max_rep_level() > 0 {
        return refuse("holds lists, not one value a row");
    }
    if columns.title(c).contains("__index_level_") {
        return refuse("is a row index that pandas wrote");
    }
    if matches!(column.logical_type_ref(), Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_))) {
        return dates();
    }
    use ConvertedType as Meaning;
    match (column.physical_type(), column.converted_type()) {
        (Physical::INT96, _)
        | (_, Meaning::DATE | Meaning::TIME_MILLIS | Meaning::TIME_MICROS)
        | (_, Meaning::TIMESTAMP_MILLIS | Meaning::TIMESTAMP_MICROS) => dates(),
        (Physical::INT32 | Physical::INT64, Meaning::DECIMAL) => Ok(What::Decimal(-column.type_scale())),
        (_, Meaning::DECIMAL) => refuse("holds long decimals"),
        (_, Meaning::UINT_8 | Meaning::UINT_16 | Meaning::UINT_32 | Meaning::UINT_64) => Ok(What::Unsigned),
        (Physical::BYTE_ARRAY, _) if role == Role::Label => Ok(What::Text),
        (Physical::BYTE_ARRAY, _) => {
            Err(format_error(path, format!("{title} holds text; use `label` {flag} or `ignore` {flag}")))
        }
        (Physical::FIXED_LEN_BYTE_ARRAY, _) => refuse("holds bytes, not numbers"),
        _ => Ok(What::Number),
    }
}

/// A column on its way in.
struct Column {
    what: What,
    numbers: Vec<f64>,
    texts: Vec<String>,
    /// Counted from 1.
    first_null: Option<usize>,
}

impl Column {
    /// Appends what one row group holds of the column.
    fn read(&mut self, reader: ColumnReader, full_level: i16) -> std::result::Result<(), ParquetError> {
        let what = self.what;
        let scale = if let What::Decimal(power) = what { 10f64.powi(power) } else { 1.0 };
        let unsigned = what == What::Unsigned;
        match reader {
            ColumnReader::BoolColumnReader(r) => self.append(r, full_level, |v| f64::from(*v)),
            ColumnReader::FloatColumnReader(r) => self.append(r, full_level, |v| f64::from(*v)),
            ColumnReader::DoubleColumnReader(r) => self.append(r, full_level, |v| *v),
            ColumnReader::Int32ColumnReader(r) if unsigned => self.append(r, full_level, |v| f64::from(*v as u32)),
            ColumnReader::Int64ColumnReader(r) if unsigned => self.append(r, full_level, |v| *v as u64 as f64),
            ColumnReader::Int32ColumnReader(r) => self.append(r, full_level, |v| f64::from(*v) * scale),
            ColumnReader::Int64ColumnReader(r) => self.append(r, full_level, |v| *v as f64 * scale),
            ColumnReader::ByteArrayColumnReader(r) => self.each_batch(r, full_level, |column, texts, _| {
                let text = |text: &ByteArray| String::from_utf8_lossy(text.data()).trim().to_string();
                column.texts.extend(texts.iter().map(text));
            }),
            _ => Err(ParquetError::General("a column changes its type".into())),
        }
    }

    fn append<T: DataType>(
        &mut self,
        reader: ColumnReaderImpl<T>,
        full_level: i16,
        number: impl Fn(&T::T) -> f64,
    ) -> std::result::Result<(), ParquetError> {
        self.each_batch(reader, full_level, |column, values, levels| {
            let mut values = values.iter().map(&number);
            if levels.is_empty() {
                column.numbers.extend(values);
            } else {
                let cell = |&level: &i16| if level < full_level { Some(f64::NAN) } else { values.next() };
                column.numbers.extend(levels.iter().map_while(cell));
            }
        })
    }

    /// Hands the values of one row group that are not null, and the levels that tell where the others are, to `take`, some
    /// at a time; notes the first null.
    fn each_batch<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        full_level: i16,
        take: impl Fn(&mut Column, &[T::T], &[i16]),
    ) -> std::result::Result<(), ParquetError> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        loop {
            values.clear();
            levels.clear();
            let (records, ..) = reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
            if records == 0 {
                return Ok(());
            }
            if let (None, Some(at)) = (self.first_null, levels.iter().position(|&level| level < full_level)) {
                self.first_null = Some(self.numbers.len() + self.texts.len() + at + 1);
            }
            take(self, &values, &levels);
        }
    }
}

/// Points from one list a column, all of the same length; a single one is taken as it is.
fn interleave(path: &Path, mut columns: Vec<Vec<f64>>, rows: usize) -> Result<Points> {
    let cols = columns.len();
    let values = if cols == 1 {
        columns.remove(0)
    } else {
        let mut values = room_for(path, rows * cols)?;
        values.extend((0..rows).flat_map(|i| columns.iter().map(move |column| column[i])));
        values
    };
    drop(columns);
    Points::with_missing(rows, cols, values).map_err(|error| format_error(path, error.to_string()))
}

/// Writes float64 columns, and a label column (text for classes) if there are labels.
pub(super) fn write(path: &Path, columns: &[String], points: &Points, labels: Option<(&str, &Labels)>) -> Result<()> {
    let bytes = encode(columns, points, labels)
        .map_err(|error| format_error(path, format!("cannot be written as Parquet ({error}); use .csv or .npy")))?;
    write_bytes_atomically(path, |out| out.write_all(&bytes).map_err(|source| write_error(path, source)))
}

fn encode(
    columns: &[String],
    points: &Points,
    labels: Option<(&str, &Labels)>,
) -> std::result::Result<Vec<u8>, ParquetError> {
    let field = |name: &str, physical, meaning| {
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        field.with_logical_type(meaning).build().map(Arc::new)
    };
    let mut fields = Vec::new();
    for name in columns {
        fields.push(field(name, Physical::DOUBLE, None)?);
    }
    match labels {
        Some((name, Labels::Values(_))) => fields.push(field(name, Physical::DOUBLE, None)?),
        Some((name, Labels::Classes { .. })) => {
            fields.push(field(name, Physical::BYTE_ARRAY, Some(LogicalType::String))?);
        }
        None => {}
    }
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    // Measured numbers hardly repeat, so a dictionary of them only costs.
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_dictionary_enabled(labels.is_some());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    for start in (0..points.rows()).step_by(GROUP) {
        let rows = start..(start + GROUP).min(points.rows());
        let mut group = writer.next_row_group()?;
        let mut c = 0;
        while let Some(mut column) = group.next_column()? {
            match labels {
                Some((_, Labels::Classes { names, of })) if c == points.cols() => {
                    let names: Vec<ByteArray> = names.iter().map(|name| ByteArray::from(name.as_str())).collect();
                    let texts: Vec<ByteArray> = rows.clone().map(|i| names[of[i] as usize].clone()).collect();
                    column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                }
                Some((_, Labels::Values(values))) if c == points.cols() => {
                    column.typed::<DoubleType>().write_batch(&values[rows.clone()], None, None)?;
                }
                _ => {
                    let values: Vec<f64> = rows.clone().map(|i| points.row(i)[c]).collect();
                    column.typed::<DoubleType>().write_batch(&values, None, None)?;
                }
            }
            column.close()?;
            c += 1;
        }
        group.close()?;
    }
    writer.into_inner()
}

/// The error of a file that the Parquet library cannot read.
fn unreadable(path: &Path, error: ParquetError) -> Error {
    let reason = error.to_string().replace('\n', " ");
    format_error(path, format!("cannot be read as Parquet ({reason}); write it again, or as .csv or .npy"))
}

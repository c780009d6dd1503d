//! Parquet files: columns of numbers in, columns of float64 out (int64 for indices).
//!
//! Flat tables, or vectors in one column (`list.rs`). Every column of numbers or booleans is data unless the options say
//! otherwise; text can only be carried along.

pub(crate) mod groups;
mod guard;
mod kind;
mod list;
mod shapes;

use crate::columns::carried::Cells;
use crate::columns::vectors::Block;
use crate::columns::{Role, Roles, Want};
use crate::numbers::Numbers;
use crate::parquet::guard::{Chunk, check_footer, check_pages};
use crate::parquet::kind::{What, check_type, is_single};
use crate::parquet::list::{Lengths, Vectors, columns_of};
use crate::sheet::{Extent, Gathered, Sheet};
use crate::source::Content;
use crate::write::{Column as Outgoes, Lists, Outgoing, Waiting};
use crate::{ReadOptions, check_memory, format_error, read_error};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;
use bytes::Bytes;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use std::io::{Cursor, Read, Seek, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// The records read at a time, so that a false count in the file allocates nothing.
const BATCH: usize = 1 << 16;

/// The rows of a row group on writing.
const GROUP: usize = 1 << 17;

/// Reads a table from a file or from memory.
pub(crate) fn read(path: &Path, content: Content, options: &ReadOptions, want: Want) -> Result<Sheet> {
    let (length, in_memory) = (content.len(), content.in_memory());
    // The crate asserts its assumptions about a file, so that a damaged one can make it panic.
    let sheet = catch_unwind(AssertUnwindSafe(|| match content {
        Content::File(file, _) => {
            let pages = file.try_clone().map_err(|error| read_error(path, error))?;
            read_columns(path, file, pages, (length, in_memory), options, want)
        }
        Content::Bytes(bytes) => {
            let bytes = Bytes::from(bytes);
            read_columns(path, bytes.clone(), Cursor::new(bytes), (length, in_memory), options, want)
        }
    }));
    sheet.unwrap_or_else(|_| Err(unreadable(path, ParquetError::General("the file is damaged".into()))))
}

/// Reads a table of `length` bytes, `in_memory` of which are in memory already; `pages` are the same bytes.
fn read_columns(
    path: &Path,
    file: impl ChunkReader + 'static,
    mut pages: impl Read + Seek,
    (length, in_memory): (u64, u64),
    options: &ReadOptions,
    want: Want,
) -> Result<Sheet> {
    let fail = |error| unreadable(path, error);
    let limit = options.memory.unwrap_or_else(memory::available);
    check_footer(&mut pages, length, limit).map_err(fail)?;
    let reader = SerializedFileReader::new(file).map_err(fail)?;
    let rows = checked_rows(reader.metadata(), length).map_err(fail)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let columns = columns_of(&schema);
    let roles = columns.roles(path, options, want)?;
    check_room(path, rows, in_memory, &roles, options)?;
    let mut gathered = Vec::new();
    for (c, role) in roles.of.iter().enumerate().filter(|(_, role)| **role != Role::Ignored) {
        let what = check_type(path, &columns, c, &schema.column(c), *role)?;
        if roles.vector == Some(c) {
            let in_memory =
                (rows as u64).saturating_mul(40 * roles.count(Role::Carried) as u64).saturating_add(in_memory);
            let block = Block::new(path, &columns, c, is_single(&schema.column(c)), (rows, in_memory), options);
            let lengths = Lengths::new(limit);
            let mut vectors = Vectors::new(what, &schema.column(c), block, &lengths);
            for group in 0..reader.num_row_groups() {
                let chunk = chunk_of(reader.metadata().row_group(group).column(c));
                check_pages(&mut pages, &chunk, limit).map_err(fail)?;
                let group = reader.get_row_group(group).map_err(fail)?;
                let pages = group.get_column_page_reader(c).map_err(fail)?;
                vectors.read(&mut lengths.reader(&schema.column(c), pages), usize::MAX, &fail)?;
            }
            gathered.push(vectors.finished()?);
            continue;
        }
        let (room, single) = (if what.is_text() { 0 } else { rows }, is_single(&schema.column(c)));
        let values = Numbers::with_room(path, room, single)?;
        let mut column = Column { what, gathered: Gathered { numbers: values, ..Gathered::default() }, limit };
        for group in 0..reader.num_row_groups() {
            let chunk = chunk_of(reader.metadata().row_group(group).column(c));
            check_pages(&mut pages, &chunk, limit).map_err(fail)?;
            let group = reader.get_row_group(group).map_err(fail)?;
            let mut values = group.get_column_reader(c).map_err(fail)?;
            column.read(&mut values, schema.column(c).max_def_level(), usize::MAX).map_err(fail)?;
        }
        let count = column.gathered.numbers.len() + column.gathered.texts.len();
        if count != rows {
            let title = columns.title(c);
            let fact = format!("it claims {rows} rows, and {title} holds {count}");
            return Err(fail(ParquetError::General(fact)));
        }
        gathered.push(column.gathered);
    }
    Sheet::of_columns(path, columns, roles, rows, gathered, options, Extent::default())
}

/// Refuses more rows than the memory limit allows.
fn check_room(path: &Path, rows: usize, in_memory: u64, roles: &Roles, options: &ReadOptions) -> Result<()> {
    let (data, carried) = (roles.count(Role::Data) as u64, roles.count(Role::Carried) as u64);
    // Vectors are checked when their length is known.
    let data = if roles.vector.is_some() { 0 } else { data };
    // The columns are interleaved at the end, when all are in memory; a single one is not copied.
    let copies = if data == 1 { 1 } else { 2 };
    let table = (rows as u64).saturating_mul(8 * data * copies + 40 * carried);
    check_memory(path, table.saturating_add(in_memory), options.memory)
}

/// The column as its pages are checked.
fn chunk_of(column: &ColumnChunkMetaData) -> Chunk {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let text = matches!(column.column_type(), Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY);
    let least = match column.column_type() {
        Physical::BOOLEAN => 1,
        Physical::INT32 | Physical::FLOAT | Physical::BYTE_ARRAY => 4,
        Physical::INT64 | Physical::DOUBLE => 8,
        Physical::INT96 => 12,
        Physical::FIXED_LEN_BYTE_ARRAY => column.column_descr().type_length().max(1) as u64,
    };
    // They are known not to be negative.
    let (start, size, values) = (start as u64, column.compressed_size() as u64, column.num_values() as u64);
    Chunk { start, size, values, least, text, codec: column.compression() }
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

/// A column that is being read.
struct Column {
    what: What,
    gathered: Gathered,
    /// The bytes that its texts may take.
    limit: u64,
}

impl Column {
    /// Appends up to `most` rows of what one row group holds of the column.
    fn read(
        &mut self,
        reader: &mut ColumnReader,
        full_level: i16,
        most: usize,
    ) -> std::result::Result<(), ParquetError> {
        let what = self.what;
        match reader {
            ColumnReader::BoolColumnReader(r) => self.append(r, (full_level, most), |v| f64::from(*v)),
            ColumnReader::FloatColumnReader(r) => self.append(r, (full_level, most), |v| f64::from(*v)),
            ColumnReader::DoubleColumnReader(r) => self.append(r, (full_level, most), |v| *v),
            ColumnReader::Int32ColumnReader(r) if what.is_text() => {
                self.append_text(r, (full_level, most), |v| what.text(i64::from(*v)))
            }
            ColumnReader::Int64ColumnReader(r) if what.is_text() => {
                self.append_text(r, (full_level, most), |v| what.text(*v))
            }
            ColumnReader::Int32ColumnReader(r) => self.append(r, (full_level, most), |v| what.short(*v)),
            ColumnReader::Int64ColumnReader(r) => self.append(r, (full_level, most), |v| what.long(*v)),
            ColumnReader::ByteArrayColumnReader(r) if what == What::Text => {
                self.append_text(r, (full_level, most), |text| String::from_utf8_lossy(text.data()).trim().to_string())
            }
            ColumnReader::ByteArrayColumnReader(r) if what.is_text() => {
                self.append_text(r, (full_level, most), |bytes| what.text_of_bytes(bytes.data()))
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                self.append(r, (full_level, most), |bytes| what.of_bytes(bytes.data()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(r) if what.is_text() => {
                self.append_text(r, (full_level, most), |bytes| what.text_of_bytes(bytes.data()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(r) => {
                self.append(r, (full_level, most), |bytes| what.of_bytes(bytes.data()))
            }
            ColumnReader::Int96ColumnReader(_) => Err(ParquetError::General("a column changes its type".into())),
        }
    }

    fn append<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        (full_level, most): (i16, usize),
        number: impl Fn(&T::T) -> f64,
    ) -> std::result::Result<(), ParquetError> {
        self.each_batch(reader, (full_level, most), |column, values, levels| {
            let mut values = values.iter().map(&number);
            if levels.is_empty() {
                column.gathered.numbers.extend(values);
            } else {
                let cell = |&level: &i16| if level < full_level { Some(f64::NAN) } else { values.next() };
                column.gathered.numbers.extend(levels.iter().map_while(cell));
            }
            Ok(())
        })
    }

    fn append_text<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        (full_level, most): (i16, usize),
        text: impl Fn(&T::T) -> String,
    ) -> std::result::Result<(), ParquetError> {
        self.each_batch(reader, (full_level, most), |column, values, levels| {
            let mut values = values.iter().map(&text);
            let there = |i: usize| levels.get(i).is_none_or(|&level| level >= full_level);
            let count = if levels.is_empty() { values.len() } else { levels.len() };
            let cells = (0..count).map_while(|i| if there(i) { values.next() } else { Some(String::new()) });
            for cell in cells {
                // One long text of a dictionary may be that of many rows.
                column.gathered.length += cell.len() as u64;
                if column.gathered.length > column.limit {
                    return Err(ParquetError::General("its texts take more than the memory limit".into()));
                }
                column.gathered.texts.push(cell);
            }
            Ok(())
        })
    }

    /// Hands the values of one row group that are not null, and the levels that locate the others, to `take`, some
    /// at a time; notes the first null.
    fn each_batch<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        (full_level, most): (i16, usize),
        take: impl Fn(&mut Column, &[T::T], &[i16]) -> std::result::Result<(), ParquetError>,
    ) -> std::result::Result<(), ParquetError> {
        let (mut values, mut levels, mut left) = (Vec::new(), Vec::new(), most);
        while left > 0 {
            values.clear();
            levels.clear();
            let (records, ..) = reader.read_records(BATCH.min(left), Some(&mut levels), None, &mut values)?;
            if records == 0 {
                break;
            }
            left -= records.min(left);
            let gathered = &mut self.gathered;
            if let (None, Some(at)) = (gathered.first_null, levels.iter().position(|&level| level < full_level)) {
                gathered.first_null = Some(gathered.numbers.len() + gathered.texts.len() + at + 1);
            }
            take(self, &values, &levels)?;
        }
        Ok(())
    }
}

/// The bytes of a file: numbers as float64, indices as int64, texts as text, null where there is nothing; lists of neighbors
/// last, as one column `neighbors` of two lists, `ids` and `distances`.
pub(crate) fn encoded(path: &Path, outgoing: &Outgoing, lists: Option<&Lists>) -> Result<Vec<u8>> {
    encode(outgoing, lists).map_err(|error| unwritten(path, error))
}

/// The error of a table that the crate cannot write.
fn unwritten(path: &Path, error: ParquetError) -> Error {
    match error {
        // A full disk or a closed pipe is no defect of the table.
        ParquetError::External(source) if source.is::<std::io::Error>() => match source.downcast::<std::io::Error>() {
            Ok(source) => crate::write_error(path, *source),
            Err(other) => format_error(path, format!("cannot be written as Parquet ({other})"), "use .csv or .npy"),
        },
        error => format_error(path, format!("cannot be written as Parquet ({error})"), "use .csv or .npy"),
    }
}

/// Rows that are written group by group, so that their bytes do not depend on how they come.
pub(crate) struct Rows<W: Write + Send> {
    /// What comes before the first row.
    out: Option<W>,
    writer: Option<SerializedFileWriter<W>>,
    /// Rows that do not fill a group yet.
    waiting: Waiting,
}

impl<W: Write + Send> Rows<W> {
    pub(crate) fn new(out: W) -> Rows<W> {
        Rows { out: Some(out), writer: None, waiting: Waiting::default() }
    }

    /// Writes further rows.
    pub(crate) fn write(&mut self, path: &Path, outgoing: &Outgoing) -> Result<()> {
        if let Some(out) = self.out.take() {
            self.writer = Some(writer(out, outgoing, false).map_err(|error| unwritten(path, error))?);
        }
        let Rows { writer, waiting, .. } = self;
        waiting.push(path, outgoing, GROUP, |group| match writer {
            Some(writer) => write_group(writer, group, 0..group.rows, None).map_err(|error| unwritten(path, error)),
            None => Ok(()),
        })
    }

    /// Completes the file.
    pub(crate) fn end(mut self, path: &Path) -> Result<W> {
        let none = || format_error(path, "no row was written", "give at least one");
        let mut writer = self.writer.take().ok_or_else(none)?;
        self.waiting.rest(|group| {
            write_group(&mut writer, group, 0..group.rows, None).map_err(|error| unwritten(path, error))
        })?;
        writer.into_inner().map_err(|error| unwritten(path, error))
    }
}

fn encode(outgoing: &Outgoing, lists: Option<&Lists>) -> std::result::Result<Vec<u8>, ParquetError> {
    let mut writer = writer(Vec::new(), outgoing, lists.is_some())?;
    for start in (0..outgoing.rows).step_by(GROUP) {
        write_group(&mut writer, outgoing, start..(start + GROUP).min(outgoing.rows), lists)?;
    }
    writer.into_inner()
}

/// Begins a file with such columns.
fn writer<W: Write + Send>(
    out: W,
    outgoing: &Outgoing,
    has_lists: bool,
) -> std::result::Result<SerializedFileWriter<W>, ParquetError> {
    let field = |(name, column): &(&str, Outgoes)| {
        let (physical, meaning) = match column {
            Outgoes::Carried(Cells::Texts(_)) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Outgoes::Indices(_) => (Physical::INT64, None),
            Outgoes::Of(..) | Outgoes::Numbers(_) | Outgoes::Carried(_) => (Physical::DOUBLE, None),
        };
        let repetition = if column.may_be_missing() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        field.with_logical_type(meaning).build().map(Arc::new)
    };
    let mut fields: Vec<_> = outgoing.columns.iter().map(field).collect::<std::result::Result<_, _>>()?;
    if has_lists {
        fields.push(neighbors_field()?);
    }
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    // Measured numbers hardly repeat, so a dictionary of them only costs.
    let repeats = |(_, column): &(&str, Outgoes)| matches!(column, Outgoes::Carried(_) | Outgoes::Indices(_));
    let repeating = outgoing.columns.iter().any(repeats);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).set_dictionary_enabled(repeating);
    SerializedFileWriter::new(out, schema, Arc::new(properties.build()))
}

/// Writes some rows as one row group.
fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    outgoing: &Outgoing,
    rows: Range<usize>,
    lists: Option<&Lists>,
) -> std::result::Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (_, outgoes) in &outgoing.columns {
        let Some(mut column) = group.next_column()? else { break };
        match outgoes {
            Outgoes::Carried(Cells::Texts(texts)) => {
                let there = texts[rows.clone()].iter().map(|text| !text.is_empty());
                let texts = texts[rows.clone()].iter().filter(|text| !text.is_empty());
                let texts: Vec<ByteArray> = texts.map(|text| ByteArray::from(text.as_str())).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels(there)), None)?;
            }
            outgoes if outgoes.may_be_missing() => {
                let numbers: Vec<f64> = rows.clone().map(|i| outgoes.number(i)).collect();
                let there = numbers.iter().map(|number| !number.is_nan());
                let levels = levels(there);
                let numbers: Vec<f64> = numbers.into_iter().filter(|number| !number.is_nan()).collect();
                column.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None)?;
            }
            Outgoes::Indices(indices) => {
                let indices: Vec<i64> = indices[rows.clone()].iter().map(|&index| i64::from(index)).collect();
                column.typed::<Int64Type>().write_batch(&indices, None, None)?;
            }
            outgoes => {
                let values: Vec<f64> = rows.clone().map(|i| outgoes.number(i)).collect();
                column.typed::<DoubleType>().write_batch(&values, None, None)?;
            }
        }
        column.close()?;
    }
    if let Some(Lists { k, ids, distances }) = lists {
        // The first of a row begins a list, the others go on with it, and none is missing.
        let cells = rows.start * k..rows.end * k;
        let goes_on: Vec<i16> = cells.clone().map(|at| i16::from(at % k > 0)).collect();
        let there = vec![1; cells.len()];
        let ids: Vec<i64> = ids[cells.clone()].iter().map(|&id| i64::from(id)).collect();
        if let Some(mut column) = group.next_column()? {
            column.typed::<Int64Type>().write_batch(&ids, Some(&there), Some(&goes_on))?;
            column.close()?;
        }
        if let Some(mut column) = group.next_column()? {
            column.typed::<DoubleType>().write_batch(&distances[cells], Some(&there), Some(&goes_on))?;
            column.close()?;
        }
    }
    group.close()?;
    Ok(())
}

/// `neighbors`: a list of rows and a list of their distances.
fn neighbors_field() -> std::result::Result<Arc<Type>, ParquetError> {
    let list = |name: &str, physical: Physical| {
        let element = Type::primitive_type_builder("element", physical).with_repetition(Repetition::REQUIRED);
        let inner = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
        let inner = inner.with_fields(vec![Arc::new(element.build()?)]).build()?;
        let outer = Type::group_type_builder(name).with_repetition(Repetition::REQUIRED);
        let outer = outer.with_logical_type(Some(LogicalType::List)).with_fields(vec![Arc::new(inner)]);
        outer.build().map(Arc::new)
    };
    let fields = vec![list("ids", Physical::INT64)?, list("distances", Physical::DOUBLE)?];
    let group = Type::group_type_builder("neighbors").with_repetition(Repetition::REQUIRED);
    group.with_fields(fields).build().map(Arc::new)
}

/// The level of each cell: 1 where there is one, 0 where there is none.
fn levels(there: impl Iterator<Item = bool>) -> Vec<i16> {
    there.map(i16::from).collect()
}

/// The error of a file that the crate cannot read.
fn unreadable(path: &Path, error: ParquetError) -> Error {
    let reason = error.to_string().replace('\n', " ");
    format_error(path, format!("cannot be read as Parquet ({reason})"), "write it again, or as .csv or .npy")
}

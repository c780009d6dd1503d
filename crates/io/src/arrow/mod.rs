//! Arrow files and streams (Feather, version 2): columns of numbers in, columns of float64 out.
//!
//! Flat tables and columns of vectors, as with Parquet. The `arrow-ipc` crate decodes and encodes; what it would believe of a
//! damaged file is checked before (`message.rs`).

mod message;
pub(crate) mod parts;
mod values;
mod write;

use crate::columns::vectors::Block;
use crate::columns::{Columns, Role, Roles, Want};
use crate::numbers::Numbers;
use crate::sheet::{Extent, Gathered, Sheet};
use crate::source::{ARROW as MAGIC, ARROW_STREAM as MARK, FEATHER_1};
use crate::write::Outgoing;
use crate::{ReadOptions, check_memory, format_error};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_schema::{DataType, Schema, SchemaRef};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use message::{Part, messages};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use values::{Cells, cells, is_single, push_vectors, vector};
pub(crate) use write::Rows;

/// The fact about dates and times.
const DATES: &str = "holds dates or times, which are not numbers";

/// Reads a table from the bytes of a file or a stream.
pub(super) fn read(path: &Path, bytes: Vec<u8>, options: &ReadOptions, want: Want) -> Result<Sheet> {
    let fail = |reason: String| unreadable(path, &reason);
    if bytes.starts_with(FEATHER_1) {
        return Err(format_error(path, "is Feather of version 1", "write it again as version 2, or as .parquet"));
    }
    let length = bytes.len() as u64;
    let bytes = Buffer::from_vec(bytes);
    let (schema, parts) = messages(&bytes).map_err(fail)?;
    let fields = schema.fields();
    let (columns, roles) = columns_of(path, &schema, options, want)?;
    let limit = options.memory.unwrap_or_else(memory::available).saturating_sub(length);
    let kinds: Vec<&DataType> = fields.iter().map(|field| field.data_type()).collect();
    let mut rows = 0usize;
    for part in &parts {
        let Some(batch) = part.message.header_as_record_batch() else { continue };
        part.check(batch, &kinds, limit).map_err(fail)?;
        let more = usize::try_from(batch.length()).ok().and_then(|count| rows.checked_add(count));
        rows = more.ok_or_else(|| unreadable(path, "it has more rows than memory"))?;
    }
    check_room(path, rows, length, &roles, options)?;
    let held = (rows as u64).saturating_mul(40 * roles.count(Role::Carried) as u64).saturating_add(length);
    let vectors = roles.vector.map(|column| {
        let single = is_single(schema.field(column).data_type());
        Block::new(path, &columns, column, single, (rows, held), options)
    });
    let (schema, known) = (Arc::new(schema), &mut Dictionaries::default());
    let (gathered, _) = Reading { schema, roles: &roles, limit, fail: &fail, vectors, known }.gathered(&parts)?;
    Sheet::of_columns(path, columns, roles, rows, gathered, options, Extent::default())
}

/// The columns of a schema and their roles.
fn columns_of(path: &Path, schema: &Schema, options: &ReadOptions, want: Want) -> Result<(Columns, Roles)> {
    let fields = schema.fields();
    let columns = Columns::named(fields.iter().map(|field| field.name().clone()).collect());
    let is_vector = |&c: &usize| vector(fields[c].data_type()).is_some();
    let columns = columns.with_vectors((0..fields.len()).filter(is_vector).collect());
    let roles = columns.roles(path, options, want)?;
    for (c, field) in fields.iter().enumerate() {
        check_kind(path, &columns, c, field.data_type(), roles.of[c])?;
    }
    Ok((columns, roles))
}

/// Refuses more rows than there is room for beside the file.
fn check_room(path: &Path, rows: usize, held: u64, roles: &Roles, options: &ReadOptions) -> Result<()> {
    let (data, carried) = (roles.count(Role::Data) as u64, roles.count(Role::Carried) as u64);
    // Vectors are checked when their length is known.
    let data = if roles.vector.is_some() { 0 } else { data };
    // The columns are interleaved at the end, when all of them are in memory.
    let table = (rows as u64).saturating_mul(16 * data + 40 * carried);
    check_memory(path, table.saturating_add(held), options.memory)
}

/// Refuses a column that is wanted and cannot be read.
fn check_kind(path: &Path, columns: &Columns, c: usize, kind: &DataType, role: Role) -> Result<()> {
    let (title, flag) = (columns.title(c), columns.flag(c));
    let refuse =
        |what: &str| Err(format_error(path, format!("{title} {what}"), format!("use `ignore` {flag}")).at_column(c));
    let is_list = matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..));
    // The values of a dictionary are those of the column.
    let values = if let DataType::Dictionary(_, values) = kind { values } else { kind };
    match (role, unread(values)) {
        (Role::Ignored, _) => Ok(()),
        (Role::Data, _) if title.contains("__index_level_") => refuse("is a row index that pandas wrote"),
        (Role::Data, _) if is_text(values) => {
            Err(format_error(path, format!("{title} holds text"), format!("use `label` {flag} or `ignore` {flag}"))
                .at_column(c))
        }
        (Role::Data, _) if vector(kind).is_some() => Ok(()),
        (Role::Carried, _) if is_list => {
            Err(format_error(path, format!("{title} holds lists, not one value a row"), "name another column")
                .at_column(c))
        }
        (_, Some(DATES)) => {
            let way_out = format!("use `ignore` {flag}, or write numbers, such as days since the first of them");
            Err(format_error(path, format!("{title} {DATES}"), way_out).at_column(c))
        }
        (_, Some(what)) => refuse(what),
        (_, None) => Ok(()),
    }
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// What a column holds that is not read as one value a row, if it does.
fn unread(kind: &DataType) -> Option<&'static str> {
    use DataType::*;
    Some(match kind {
        Boolean | Decimal128(..) | Utf8 | LargeUtf8 | Utf8View => return None,
        kind if values::number(kind).is_some() => return None,
        Null => "holds nothing but nulls",
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => "holds bytes, not numbers",
        Decimal32(..) | Decimal64(..) | Decimal256(..) => "holds decimals of another size than 128 bits",
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) | Duration(_) | Interval(_) => DATES,
        List(entry) | LargeList(entry) | FixedSizeList(entry, _) => match entry.data_type() {
            List(_) | LargeList(_) | FixedSizeList(..) => "holds lists of lists, not vectors of numbers",
            kind if is_text(kind) => "holds lists of texts, not vectors of numbers",
            _ => "holds lists, not vectors of numbers",
        },
        ListView(_) | LargeListView(_) => "holds views of lists, which are not read",
        Map(..) => "holds maps, not one value a row",
        Struct(_) => "holds records, not one value a row",
        Union(..) => "holds values of several types",
        RunEndEncoded(..) => "holds runs of values, which are not read",
        _ => "holds values of a type that is not read",
    })
}

/// The state of reading batches.
struct Reading<'a> {
    schema: SchemaRef,
    roles: &'a Roles,
    /// The bytes that all texts, or a buffer of a column, may take.
    limit: u64,
    /// Makes an error of a reason.
    fail: &'a dyn Fn(String) -> Error,
    /// The vectors, if the points are in a column of them.
    vectors: Option<Block<'a>>,
    /// The dictionaries until now.
    known: &'a mut Dictionaries,
}

/// The values of columns that are in dictionaries.
#[derive(Default)]
struct Dictionaries {
    values: HashMap<i64, ArrayRef>,
    /// The bytes that they took when they were decompressed.
    held: u64,
}

/// The first vector of a column: its row counted from 1, and its length.
type First = Option<(usize, usize)>;

impl Reading<'_> {
    /// The wanted columns, in the order of the file; and the first vector.
    fn gathered(mut self, parts: &[Part]) -> Result<(Vec<Gathered>, First)> {
        let fail = self.fail;
        let wanted: Vec<usize> = (0..self.roles.of.len()).filter(|&c| self.roles.of[c] != Role::Ignored).collect();
        let kind = |c: usize| self.schema.field(c).data_type();
        let empty = |&c: &usize| Gathered { numbers: Numbers::empty(is_single(kind(c))), ..Gathered::default() };
        let mut gathered: Vec<Gathered> = wanted.iter().map(empty).collect();
        let used = self.schema.project(&wanted).map_err(|error| fail(error.to_string()))?;
        for part in parts {
            if let Some(batch) = part.message.header_as_dictionary_batch() {
                if let Some(DataType::Dictionary(_, kind)) = user(&used, batch.id()) {
                    let values = batch.data().ok_or_else(|| fail("a dictionary has no values".into()))?;
                    let held = part.check(values, &[&**kind], self.limit).map_err(fail)?;
                    self.known.held = self.known.held.saturating_add(held);
                    if self.known.held > self.limit {
                        return Err(fail(values::NO_ROOM.into()));
                    }
                    let (values, version) = (&mut self.known.values, part.message.version());
                    let read = read_dictionary(&part.body, batch, &used, values, &version);
                    read.map_err(|error| fail(error.to_string()))?;
                }
            } else if part.message.header_as_record_batch().is_some() {
                for (&c, column) in wanted.iter().zip(&mut gathered) {
                    self.push(part, c, column)?;
                }
            } else {
                return Err(fail("it has two schemas, or holds tensors".into()));
            }
        }
        let mut first = None;
        if let Some(vectors) = self.vectors {
            first = vectors.first();
            let at = wanted.iter().position(|&c| c == vectors.column);
            if let Some(column) = at.and_then(|at| gathered.get_mut(at)) {
                *column = vectors.finished()?;
            }
        }
        Ok((gathered, first))
    }

    /// Adds the rows of a batch to a column; one column is decompressed at a time.
    fn push(&mut self, part: &Part, c: usize, column: &mut Gathered) -> Result<()> {
        let fail = self.fail;
        let Some(batch) = part.message.header_as_record_batch() else { return Ok(()) };
        let (schema, version) = (Arc::clone(&self.schema), part.message.version());
        let read = read_record_batch(&part.body, batch, schema, &self.known.values, Some(&[c]), &version);
        let read = read.map_err(|error| fail(error.to_string()))?;
        let array = read.column(0);
        if let Some(vectors) = self.vectors.as_mut().filter(|vectors| vectors.column == c) {
            return push_vectors(array.as_ref(), vectors, fail);
        }
        let exact = self.roles.of[c] == Role::Carried;
        let before = column.numbers.len() + column.texts.len();
        let null = match cells(array.as_ref(), exact, self.limit).map_err(fail)? {
            Cells::Numbers(numbers) => {
                // A dictionary may hold a null that rows refer to.
                let by_key = matches!(array.data_type(), DataType::Dictionary(..));
                let null = (0..numbers.len()).find(|&i| array.is_null(i) || (by_key && numbers[i].is_nan()));
                column.numbers.extend(numbers.into_iter());
                null
            }
            Cells::Texts(texts) => {
                column.length += texts.iter().map(|text| text.len() as u64).sum::<u64>();
                column.texts.extend(texts);
                (0..array.len()).find(|&i| array.is_null(i))
            }
        };
        column.first_null = column.first_null.or(null.map(|null| before + null + 1));
        if column.length > self.limit { Err(fail(values::NO_ROOM.into())) } else { Ok(()) }
    }
}

/// The type of the first column that has its values in this dictionary.
#[allow(deprecated, reason = "the id of a dictionary is known only to the schema that was read")]
fn user(schema: &Schema, id: i64) -> Option<&DataType> {
    schema.fields_with_dict_id(id).first().map(|field| field.data_type())
}

/// The bytes of a file.
pub(super) fn encoded(path: &Path, outgoing: &Outgoing) -> Result<Vec<u8>> {
    write::encode(outgoing).map_err(|error| write::unwritten(path, error))
}

/// The error of a file that cannot be read.
fn unreadable(path: &Path, reason: &str) -> Error {
    let reason = reason.replace('\n', " ");
    format_error(path, format!("cannot be read as Arrow ({reason})"), "write it again, or as .csv or .npy")
}

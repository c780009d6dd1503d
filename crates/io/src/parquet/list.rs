//! Vectors in a column of a Parquet file.
//!
//! Lists are values with two levels each. The first marks where a list begins (0) and continues (1); the second how much of the value
//! is present: the list, an entry in it, the value of the entry. In the schema a list is a group around a repeated group around the
//! entry, or less than that; the column has the name of the outermost.
//!
//! Apache Parquet, "Nested encoding" and "LogicalTypes: lists".

use crate::columns::Columns;
use crate::columns::vectors::Block;
use crate::parquet::kind::{What, is_date, is_half};
use crate::sheet::Gathered;
use ::parquet::basic::{ConvertedType as Meaning, Encoding, LogicalType, Repetition, Type as Physical};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, SchemaDescriptor, Type};
use eigenfold_linalg::error::{Error, Result, bytes as shown_bytes};
use std::sync::{Arc, Mutex, PoisonError};

/// The values read at a time, unless one vector has more.
const BATCH: usize = 1 << 16;
/// The bytes that a value takes while it is read, at most: its levels, the value, and its number.
const BESIDE: u64 = 56;

type Read<T> = std::result::Result<T, ParquetError>;

/// The columns of a file by their names, and which of them hold vectors of numbers.
pub(crate) fn columns_of(schema: &SchemaDescriptor) -> Columns {
    let names = schema.columns().iter().map(|column| name(schema.root_schema(), column.path().parts()));
    let is_vector = |&c: &usize| is_list(schema.get_column_root(c)) && entries(&schema.column(c)).is_some();
    Columns::named(names.collect()).with_vectors((0..schema.num_columns()).filter(is_vector).collect())
}

/// The name of a value by the names of the groups around it, without those that only make a list or a map of it.
fn name(root: &Type, parts: &[String]) -> String {
    let (mut node, mut hidden, mut shown) = (root, false, Vec::new());
    for part in parts {
        let Some(child) = node.is_group().then(|| node.get_fields().iter().find(|field| field.name() == part)) else {
            break;
        };
        let Some(child) = child else { break };
        let repeats =
            is_repeated(child) && matches!(node.get_basic_info().converted_type(), Meaning::LIST | Meaning::MAP);
        // The entry of a list has no name of its own; the key and the value of a map do.
        let entry = hidden && node.get_fields().len() == 1;
        if !repeats && !entry {
            shown.push(part.as_str());
        }
        (hidden, node) = (repeats, child);
    }
    shown.join(".")
}

fn is_repeated(node: &Type) -> bool {
    let info = node.get_basic_info();
    info.has_repetition() && info.repetition() == Repetition::REPEATED
}

/// Whether a column of the table is a list of plain values.
fn is_list(node: &Type) -> bool {
    if node.is_primitive() {
        return is_repeated(node);
    }
    let marked = node.get_basic_info().converted_type() == Meaning::LIST
        || matches!(node.get_basic_info().logical_type_ref(), Some(LogicalType::List));
    match node.get_fields() {
        [repeated] if marked && is_repeated(repeated) => {
            repeated.is_primitive()
                || matches!(repeated.get_fields(), [entry] if entry.is_primitive() && !is_repeated(entry))
        }
        _ => false,
    }
}

/// What the entries of a list are, if they are numbers.
pub(crate) fn entries(column: &ColumnDescriptor) -> Option<What> {
    let unsigned = [Meaning::UINT_8, Meaning::UINT_16, Meaning::UINT_32, Meaning::UINT_64];
    match (column.physical_type(), column.converted_type()) {
        _ if column.max_rep_level() != 1 || is_date(column) => None,
        (_, Meaning::DECIMAL) => None,
        (Physical::INT32 | Physical::INT64, meaning) if unsigned.contains(&meaning) => Some(What::Unsigned),
        (Physical::FLOAT | Physical::DOUBLE | Physical::INT32 | Physical::INT64, _) => Some(What::Number),
        (Physical::FIXED_LEN_BYTE_ARRAY, _) if is_half(column) => Some(What::Half),
        _ => None,
    }
}

/// The vectors of a column that is being read.
pub(crate) struct Vectors<'a> {
    what: What,
    column: ColumnDescPtr,
    /// The level of a list that has an entry; below it there is an empty list, and below that none.
    entry: i16,
    block: Block<'a>,
    measured: Arc<Mutex<Measured>>,
}

impl<'a> Vectors<'a> {
    /// Nothing of a column yet; `lengths` are those of its vectors.
    pub(crate) fn new(what: What, column: &ColumnDescPtr, block: Block<'a>, lengths: &Lengths) -> Vectors<'a> {
        let (entry, measured) = (column.repeated_ancestor_def_level(), Arc::clone(&lengths.0));
        Vectors { what, column: column.clone(), entry, block, measured }
    }

    /// Appends up to `most` rows of what one row group holds of the column; `fail` makes an error of a reason.
    pub(crate) fn read(
        &mut self,
        reader: &mut ColumnReader,
        most: usize,
        fail: &dyn Fn(ParquetError) -> Error,
    ) -> Result<()> {
        let what = self.what;
        match reader {
            ColumnReader::FloatColumnReader(r) => self.append(r, most, fail, |v| f64::from(*v)),
            ColumnReader::DoubleColumnReader(r) => self.append(r, most, fail, |v| *v),
            ColumnReader::Int32ColumnReader(r) => self.append(r, most, fail, |v| what.short(*v)),
            ColumnReader::Int64ColumnReader(r) => self.append(r, most, fail, |v| what.long(*v)),
            ColumnReader::FixedLenByteArrayColumnReader(r) => {
                self.append(r, most, fail, |bytes| what.of_bytes(bytes.data()))
            }
            _ => Err(fail(ParquetError::General("a column changes its type".into()))),
        }
    }

    /// The first vector: its row counted from 1, and its length.
    pub(crate) fn first(&self) -> Option<(usize, usize)> {
        self.block.first()
    }

    /// The column, when all of its rows are there.
    pub(crate) fn finished(self) -> Result<Gathered> {
        self.block.finished()
    }

    fn append<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        most: usize,
        fail: &dyn Fn(ParquetError) -> Error,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<()> {
        let (mut values, mut there, mut goes_on) = (Vec::new(), Vec::new(), Vec::new());
        let mut left = most;
        while left > 0 {
            values.clear();
            there.clear();
            goes_on.clear();
            // One at a time until their length is known.
            let some = self.block.width().map_or(1, |width| (BATCH / width.max(1)).max(1)).min(left);
            let read = reader.read_records(some, Some(&mut there), Some(&mut goes_on), &mut values);
            let (records, ..) = read.map_err(|error| self.longer().unwrap_or_else(|| fail(error)))?;
            if records == 0 {
                break;
            }
            left -= records.min(left);
            self.take(&values, &there, &goes_on, &number)?;
        }
        Ok(())
    }

    /// Adds whole vectors: their values, and the two levels of every entry.
    fn take<V>(&mut self, values: &[V], there: &[i16], goes_on: &[i16], number: &impl Fn(&V) -> f64) -> Result<()> {
        let width = self.block.width().unwrap_or(0);
        let is_one = |levels: &[i16]| levels[0] == 0 && levels[1..].iter().all(|&level| level == 1);
        // Almost always: nothing is missing, and all are of one length.
        if width > 0
            && values.len() == goes_on.len()
            && values.len().is_multiple_of(width)
            && goes_on.chunks_exact(width).all(is_one)
        {
            let places = self.block.push(values.len() / width, width)?;
            places.put(values.iter().map(number));
            return Ok(());
        }
        let (mut values, full) = (values.iter().map(number), self.column.max_def_level());
        let mut start = 0;
        while start < goes_on.len() {
            let length = 1 + goes_on[start + 1..].iter().take_while(|&&level| level == 1).count();
            let levels = &there[start..start + length];
            start += length;
            match levels[0] {
                level if level < self.entry - 1 => self.block.push_null()?,
                level if level < self.entry => self.block.push(1, 0).map(|_| ())?,
                _ => {
                    let places = self.block.push(1, length)?;
                    let mut next = || values.next().unwrap_or(f64::NAN);
                    places.put(levels.iter().map(|&level| if level == full { next() } else { f64::NAN }));
                    if levels.iter().any(|&level| level < full) {
                        self.block.mark_null();
                    }
                }
            }
        }
        Ok(())
    }

    /// The error of a vector that is longer than the first, if there is one.
    fn longer(&self) -> Option<Error> {
        let measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, row) = measured.first.zip(measured.longer)?;
        Some(self.block.unequal(first, row, first.1, "more than "))
    }
}

/// The lengths of the vectors of a column, measured as its pages are read.
pub(crate) struct Lengths(Arc<Mutex<Measured>>);

impl Lengths {
    /// None yet; `limit` is the memory that there is.
    pub(crate) fn new(limit: u64) -> Lengths {
        Lengths(Arc::new(Mutex::new(Measured { limit, ..Measured::default() })))
    }

    /// Reads the pages of a column, and measures its vectors.
    pub(crate) fn reader(&self, column: &ColumnDescPtr, pages: Box<dyn PageReader>) -> ColumnReader {
        get_column_reader(column.clone(), Box::new(Pages { inner: pages, measured: Arc::clone(&self.0) }))
    }
}

/// The lengths of vectors, measured before they are read: a file of a few hundred bytes may have one of a thousand million entries.
#[derive(Default)]
struct Measured {
    /// The memory that there is.
    limit: u64,
    /// The vectors that have begun.
    rows: usize,
    /// How many entries the last of them has until now.
    current: usize,
    /// The first vector with more than one entry: its row, counted from 1, and its length.
    first: Option<(usize, usize)>,
    /// The row of a vector that is longer.
    longer: Option<usize>,
}

impl Measured {
    /// Measures `count` entries, which begin vectors or continue one.
    fn pass(&mut self, count: usize, begins: bool) -> Read<()> {
        if begins && count > 0 {
            self.end();
            (self.rows, self.current) = (self.rows + count, 1);
        } else {
            self.current = self.current.saturating_add(count);
        }
        match self.first {
            Some((_, width)) if self.current > width => {
                self.longer = Some(self.rows);
                Err(ParquetError::General("its vectors differ in length".into()))
            }
            None if (self.current as u64).saturating_mul(BESIDE) > self.limit => {
                let needed = shown_bytes((self.current as u64).saturating_mul(BESIDE));
                Err(ParquetError::General(format!("a vector that takes {needed} exceeds the memory limit")))
            }
            _ => Ok(()),
        }
    }

    /// Notes the length of the last vector.
    fn end(&mut self) {
        if self.first.is_none() && self.current > 1 {
            self.first = Some((self.rows, self.current));
        }
        self.current = 0;
    }

    /// Measures the entries of a page.
    fn page(&mut self, page: &Page) -> Read<()> {
        let cut = || ParquetError::General("the levels of a page are cut short".into());
        let (levels, count) = match page {
            Page::DictionaryPage { .. } => return Ok(()),
            Page::DataPage { buf, num_values, rep_level_encoding: Encoding::RLE, .. } => {
                let (size, rest) = buf.split_first_chunk().ok_or_else(cut)?;
                (rest.get(..u32::from_le_bytes(*size) as usize).ok_or_else(cut)?, *num_values)
            }
            Page::DataPage { .. } => return Err(ParquetError::General("levels are encoded in an old way".into())),
            Page::DataPageV2 { buf, num_values, rep_levels_byte_len, .. } => {
                (buf.get(..*rep_levels_byte_len as usize).ok_or_else(cut)?, *num_values)
            }
        };
        self.levels(levels, count as usize).ok_or_else(cut)?
    }

    /// Measures levels of one bit in runs: of one level, or of eight levels in every byte. Nothing if they are cut short.
    fn levels(&mut self, mut bytes: &[u8], mut left: usize) -> Option<Read<()>> {
        while left > 0 {
            let (head, rest) = variable(bytes)?;
            let count = usize::try_from(head >> 1).ok()?;
            if count == 0 {
                return None;
            }
            bytes = rest;
            if head & 1 == 0 {
                let (level, rest) = bytes.split_first()?;
                let passed = self.pass(count.min(left), level & 1 == 0);
                if passed.is_err() {
                    return Some(passed);
                }
                (bytes, left) = (rest, left.saturating_sub(count));
                continue;
            }
            let packed = bytes.get(..count.min(bytes.len()))?;
            for &byte in packed {
                for bit in 0..left.min(8) {
                    let passed = self.pass(1, byte >> bit & 1 == 0);
                    if passed.is_err() {
                        return Some(passed);
                    }
                }
                left = left.saturating_sub(8);
            }
            // The last run may have fewer bytes than it claims.
            if packed.len() < count && left > 0 {
                return None;
            }
            bytes = &bytes[packed.len()..];
        }
        Some(Ok(()))
    }
}

/// A number of seven bits per byte, the least first, and what comes after it.
fn variable(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

/// The pages of a column, measured as they pass.
struct Pages {
    inner: Box<dyn PageReader>,
    measured: Arc<Mutex<Measured>>,
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Read<Option<Page>> {
        let page = self.inner.get_next_page()?;
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        match &page {
            Some(page) => measured.page(page)?,
            None => measured.end(),
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Read<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Read<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Read<bool> {
        self.inner.at_record_boundary()
    }
}

impl Iterator for Pages {
    type Item = Read<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_measured_by_their_levels() {
        let measure = |bytes: &[u8], left: usize, limit: u64| {
            let mut measured = Measured { limit, ..Measured::default() };
            let read = measured.levels(bytes, left).map(|read| read.map_err(|error| error.to_string()));
            measured.end();
            (read, measured.first, measured.longer)
        };
        // 0 1 1 1, 0 1 1 1 in one byte, then a run of one 0 and a run of three 1.
        let three = [0x03, 0b1110_1110, 0x02, 0x00, 0x06, 0x01];
        assert_eq!(measure(&three, 12, 10_000), (Some(Ok(())), Some((1, 4)), None));
        // Nulls before, which have one level each.
        assert_eq!(measure(&[0x0a, 0x00, 0x04, 0x01], 7, 10_000), (Some(Ok(())), Some((5, 3)), None));
        let (read, first, longer) = measure(&[0x03, 0b1110_1110, 0x02, 0x00, 0x08, 0x01], 13, 10_000);
        assert!(read.is_some_and(|read| read.is_err()));
        assert_eq!((first, longer), (Some((1, 4)), Some(3)));
        // Six bytes that are one vector of a thousand million entries.
        let (read, ..) = measure(&[0x80, 0xa8, 0xd6, 0xb9, 0x07, 0x01], 1_000_000_000, 1_000_000);
        assert!(read.is_some_and(|read| read.is_err_and(|error| error.contains("exceeds the memory limit"))));
        for cut in [&[0x80][..], &[0x06], &[0x05, 0xff], &[0x00, 0x01], &[]] {
            assert_eq!(measure(cut, 20, 10_000).0, None, "{cut:?}");
        }
    }
}

//! The values of one column of one batch.

use super::flat::Result;
use super::message::{Batch, Codec, Field, Kind};
use crate::decimal;
use crate::npy;
use crate::npy_header::Kind as Number;
use std::borrow::Cow;

/// How many columns, chunks and view counts of a batch were passed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    nodes: usize,
    buffers: usize,
    views: usize,
}

/// What a column holds; nulls are NaN, or empty.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub(super) cells: Cells,
    /// The first null, counted from 0.
    pub(super) null: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Cells {
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

impl Passed {
    /// Passes over a column that is not wanted.
    pub(super) fn skip(&mut self, field: &Field, batch: &Batch) -> Result<()> {
        self.nodes += 1;
        let kind = field.dictionary.map_or(field.kind, |(_, index)| index);
        self.buffers += match kind {
            Kind::Number(..) | Kind::Bool | Kind::Decimal(_) | Kind::List(_) => 2,
            Kind::FixedList(_) => 1,
            Kind::Text(_) => 3,
            Kind::Other(_, chunks) => chunks,
            Kind::View | Kind::OtherView => 2 + self.chunks_of_view(batch)?,
        };
        // What lies within a dictionary is in its own batch.
        let children = if field.dictionary.is_some() { &[][..] } else { &field.children };
        children.iter().try_for_each(|child| self.skip(child, batch))
    }

    fn chunks_of_view(&mut self, batch: &Batch) -> Result<usize> {
        let count = batch.views.get(self.views).and_then(|&count| usize::try_from(count).ok());
        self.views += 1;
        count.filter(|&count| count <= batch.buffers.len()).ok_or_else(|| "a column of texts has no chunks".into())
    }

    /// How many values the next column has, and the marks of those that are not null: none if all are there.
    pub(super) fn node<'b>(&mut self, batch: &'b Batch, limit: u64) -> Result<(usize, Cow<'b, [u8]>)> {
        let &(length, nulls) = batch.nodes.get(self.nodes).ok_or("a batch has fewer columns than the schema")?;
        self.nodes += 1;
        let length = usize::try_from(length).map_err(|_| "a column has a negative number of values")?;
        let valid = if nulls == 0 { Cow::Borrowed(&[][..]) } else { batch.buffer(self.buffers, limit)? };
        self.buffers += 1;
        if !valid.is_empty() && valid.len() < length.div_ceil(8) {
            return Err("a column has fewer marks of nulls than rows".into());
        }
        Ok((length, valid))
    }

    /// The next chunk of a column.
    pub(super) fn buffer<'b>(&mut self, batch: &'b Batch, limit: u64) -> Result<Cow<'b, [u8]>> {
        self.buffers += 1;
        batch.buffer(self.buffers - 1, limit)
    }

    /// Reads a column of this kind; `limit` is how many bytes it may take. Whole numbers that a float may not hold become
    /// texts, if they are to be exact.
    pub(super) fn read(&mut self, kind: Kind, batch: &Batch, exact: bool, limit: u64) -> Result<Values> {
        let (rows, valid) = self.node(batch, limit)?;
        if rows != batch.rows {
            return Err("a column has another number of rows than its batch".into());
        }
        let is_there = |i: usize| is_there(&valid, i);
        let short = || "a column has fewer values than rows".to_string();
        let values = self.buffer(batch, limit)?;
        let cells = match kind {
            Kind::Bool => {
                if values.len() < rows.div_ceil(8) {
                    return Err(short());
                }
                Cells::Numbers((0..rows).map(|i| f64::from(values[i / 8] >> (i % 8) & 1)).collect())
            }
            Kind::Number(number, size) => {
                let bytes = rows.checked_mul(size).and_then(|length| values.get(..length)).ok_or_else(short)?;
                match (number, size) {
                    (Number::Int, 8) if exact => {
                        let (eights, _) = bytes.as_chunks();
                        Cells::Texts(eights.iter().map(|eight| i64::from_le_bytes(*eight).to_string()).collect())
                    }
                    _ => {
                        let mut numbers = vec![0.0; rows];
                        npy::convert((number, size), false, bytes, &mut numbers);
                        Cells::Numbers(numbers)
                    }
                }
            }
            Kind::Text(width) => {
                let texts = self.buffer(batch, limit)?;
                Cells::Texts(told_apart(&values, &texts, width, rows).ok_or_else(short)?)
            }
            Kind::View => {
                let first = self.buffers;
                self.buffers += self.chunks_of_view(batch)?;
                let chunks = (first..self.buffers).map(|at| batch.buffer(at, limit)).collect::<Result<Vec<_>>>()?;
                Cells::Texts(views(&values, &chunks, (rows, limit), is_there).ok_or_else(short)?)
            }
            Kind::Decimal(scale) => {
                let (sixteens, _) = values.as_chunks();
                let whole = sixteens.get(..rows).ok_or_else(short)?.iter().map(|bytes| i128::from_le_bytes(*bytes));
                match exact {
                    true => Cells::Texts(whole.map(|whole| decimal::text(whole, scale)).collect()),
                    false => Cells::Numbers(whole.map(|whole| decimal::number(whole, scale)).collect()),
                }
            }
            Kind::List(_) | Kind::FixedList(_) | Kind::Other(..) | Kind::OtherView => {
                return Err("a column is of a kind that is not read".into());
            }
        };
        let null = (0..rows).find(|&i| !is_there(i));
        Ok(Values { cells: cells.without(null, is_there), null })
    }
}

/// Whether a value is there, by the marks of those that are.
pub(super) fn is_there(valid: &[u8], i: usize) -> bool {
    valid.is_empty() || valid[i / 8] >> (i % 8) & 1 == 1
}

impl Cells {
    /// The same with nothing where there is nothing.
    fn without(self, null: Option<usize>, is_there: impl Fn(usize) -> bool) -> Cells {
        if null.is_none() {
            return self;
        }
        match self {
            Cells::Numbers(numbers) => {
                let number = |(i, number): (usize, f64)| if is_there(i) { number } else { f64::NAN };
                Cells::Numbers(numbers.into_iter().enumerate().map(number).collect())
            }
            Cells::Texts(texts) => {
                let text = |(i, text): (usize, String)| if is_there(i) { text } else { String::new() };
                Cells::Texts(texts.into_iter().enumerate().map(text).collect())
            }
        }
    }
}

impl Batch<'_> {
    /// A chunk of a column, unpacked.
    fn buffer(&self, at: usize, limit: u64) -> Result<Cow<'_, [u8]>> {
        let &(start, length) = self.buffers.get(at).ok_or("a batch has fewer chunks than the schema")?;
        let range = usize::try_from(start).ok().zip(usize::try_from(length).ok());
        let bytes = range.and_then(|(start, length)| self.body.get(start..start.checked_add(length)?));
        let bytes = bytes.ok_or("a chunk does not lie within its batch")?;
        let (Some(codec), Some((size, packed))) = (self.codec, bytes.split_first_chunk()) else {
            return Ok(Cow::Borrowed(bytes));
        };
        match i64::from_le_bytes(*size) {
            -1 => Ok(Cow::Borrowed(packed)),
            size => match u64::try_from(size) {
                Ok(size) if size <= limit => codec.unpacked(packed, size).map(Cow::Owned),
                _ => Err(format!("a chunk of {size} bytes has no room")),
            },
        }
    }
}

impl Codec {
    /// Unpacks a chunk that says how long it will be; no more is taken than it turns out to be.
    #[cfg(feature = "compressed")]
    fn unpacked(self, packed: &[u8], size: u64) -> Result<Vec<u8>> {
        use std::io::Read;
        let mut bytes = Vec::new();
        let read = match self {
            Codec::Lz4 => lz4_flex::frame::FrameDecoder::new(packed).take(size + 1).read_to_end(&mut bytes),
            Codec::Zstd => zstd::stream::read::Decoder::with_buffer(packed)
                .and_then(|decoder| decoder.take(size + 1).read_to_end(&mut bytes)),
        };
        read.map_err(|error| format!("a chunk cannot be unpacked: {error}"))?;
        match bytes.len() as u64 == size {
            true => Ok(bytes),
            false => Err("a chunk has another length than it says".into()),
        }
    }

    #[cfg(not(feature = "compressed"))]
    fn unpacked(self, _packed: &[u8], _size: u64) -> Result<Vec<u8>> {
        Err(format!("it is packed by {self:?}, and this build is without the feature `compressed`"))
    }
}

/// Texts that lie one after the other, by the offsets where each begins and the last ends.
fn told_apart(offsets: &[u8], texts: &[u8], width: usize, rows: usize) -> Option<Vec<String>> {
    if rows == 0 {
        return Some(Vec::new());
    }
    let offset = |i: usize| -> Option<usize> {
        let bytes = offsets.get(i * width..(i + 1) * width)?;
        let mut eight = [0; 8];
        eight[..width].copy_from_slice(bytes);
        usize::try_from(u64::from_le_bytes(eight)).ok()
    };
    let mut end = offset(0)?;
    let mut found = Vec::new();
    for i in 0..rows {
        let start = end;
        end = offset(i + 1)?;
        found.push(text(texts.get(start..end)?));
    }
    Some(found)
}

/// Texts by views of 16 bytes: the length, then up to 12 bytes, or 4 of them and where the text is. What stands in the place of
/// a null means nothing.
fn views(
    views: &[u8],
    chunks: &[Cow<[u8]>],
    (rows, limit): (usize, u64),
    is_there: impl Fn(usize) -> bool,
) -> Option<Vec<String>> {
    let (views, _) = views.as_chunks::<16>();
    let number = |view: &[u8; 16], at: usize| {
        usize::try_from(i32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]])).ok()
    };
    let (mut found, mut held) = (Vec::new(), 0);
    for (i, view) in views.get(..rows)?.iter().enumerate() {
        let length = if is_there(i) { number(view, 0)? } else { 0 };
        // Many views may show the same long text.
        held += length as u64;
        let bytes = match length {
            0..=12 => &view[4..4 + length],
            _ => chunks.get(number(view, 8)?)?.get(number(view, 12)?..)?.get(..length)?,
        };
        found.push((held <= limit).then(|| text(bytes))?);
    }
    Some(found)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_string()
}

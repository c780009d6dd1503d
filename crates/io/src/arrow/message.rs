//! The messages of an Arrow file or stream, checked before the `arrow-ipc` crate decodes them.
//!
//! ```text
//! stream:  [FFFFFFFF, i32 size of the metadata, metadata (a FlatBuffer), body] ...  FFFFFFFF 00000000
//! file:    ARROW1 00 00, a stream, a footer (a FlatBuffer), i32 its size, ARROW1
//! ```
//!
//! A stream is read from front to back, and a file by its footer, which has the schema and lists dictionaries and batches:
//! not every program writes a file as a whole stream, with dictionaries before the batches that use them.
//!
//! The crate verifies FlatBuffers and arrays. It panics if a buffer does not lie within its message, if a buffer ends within a
//! value, or if a column claims an absurd number of lists, and it allocates what a compressed buffer claims:
//! [`Part::check`] refuses all four.
//!
//! Apache Arrow, "Arrow columnar format", section "Serialization and interprocess communication".

use super::{MAGIC, MARK};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{Block, CompressionType, Endianness, Message, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::{DataType, Schema, UnionMode};

/// A result whose error is the reason, as a message shows it.
pub(super) type Result<T> = std::result::Result<T, String>;

/// The largest factor by which LZ4 can shorten a buffer, and that of Zstandard: blocks of 128 kB in 4 bytes.
const LZ4: u64 = 255;
const ZSTD: u64 = 1 << 15;

/// A message with its body.
pub(super) struct Part<'a> {
    pub(super) message: Message<'a>,
    pub(super) body: Buffer,
}

/// The schema of a file or a stream, and its other messages: dictionaries before the batches that use them.
pub(super) fn messages(bytes: &Buffer) -> Result<(Schema, Vec<Part<'_>>)> {
    if bytes.starts_with(MAGIC) {
        return of_file(bytes);
    }
    let (mut parts, mut at) = (Vec::new(), 0);
    while let Some((part, end)) = next(bytes, at, bytes.len())? {
        parts.push(part);
        at = end;
    }
    let mut parts = parts.into_iter();
    let schema = parts.next().and_then(|part| part.message.header_as_schema());
    Ok((checked(schema.ok_or("it does not begin with a schema")?)?, parts.collect()))
}

/// The messages that the footer of a file lists.
fn of_file(bytes: &Buffer) -> Result<(Schema, Vec<Part<'_>>)> {
    let cut = "it does not end as such files do, it may be cut short";
    let rest = bytes.strip_suffix(MAGIC).filter(|rest| rest.len() >= 12).ok_or(cut)?;
    let (rest, size) = rest.split_last_chunk().ok_or(cut)?;
    let start = usize::try_from(i32::from_le_bytes(*size)).ok().and_then(|size| rest.len().checked_sub(size));
    let start = start.filter(|&start| start >= 8).ok_or("its footer is larger than the file")?;
    let footer = root_as_footer(&rest[start..]).map_err(|error| error.to_string())?;
    let schema = checked(footer.schema().ok_or("its footer has no schema")?)?;
    let (mut parts, mut total) = (Vec::new(), 0);
    for (blocks, are_batches) in [(footer.dictionaries(), false), (footer.recordBatches(), true)] {
        for block in blocks.iter().flat_map(|blocks| blocks.iter()) {
            let lost = "a batch is not where its footer says";
            let at = usize::try_from(Block::offset(block)).ok().filter(|&at| at < start).ok_or(lost)?;
            let (part, end) = next(bytes, at, start)?.ok_or(lost)?;
            total += end - at;
            // Each message has its own bytes, so that their sum cannot be more than the file.
            if total > start || are_batches != part.message.header_as_record_batch().is_some() {
                return Err(lost.into());
            }
            parts.push(part);
        }
    }
    Ok((schema, parts))
}

/// Where a message of a file lies: its place, its bytes, and whether it is a batch.
pub(super) type Place = (u64, u64, bool);

/// Where the messages of a file lie, by its footer without what comes after it; dictionaries come first. `end` is where the footer begins.
pub(super) fn places(footer: &[u8], end: u64) -> Result<(Schema, Vec<Place>)> {
    let footer = root_as_footer(footer).map_err(|error| error.to_string())?;
    let schema = checked(footer.schema().ok_or("its footer has no schema")?)?;
    let (mut places, mut total) = (Vec::new(), 0u64);
    for (blocks, are_batches) in [(footer.dictionaries(), false), (footer.recordBatches(), true)] {
        for block in blocks.iter().flat_map(|blocks| blocks.iter()) {
            let lost = "a batch is not where its footer says";
            let size = i64::from(Block::metaDataLength(block)).checked_add(Block::bodyLength(block));
            let at = u64::try_from(Block::offset(block)).map_err(|_| lost)?;
            let size = size.and_then(|size| u64::try_from(size).ok()).ok_or(lost)?;
            total = total.saturating_add(size);
            // Each message has its own bytes, so that their sum cannot be more than the file.
            if at.saturating_add(size) > end || total > end {
                return Err(lost.into());
            }
            places.push((at, size, are_batches));
        }
    }
    Ok((schema, places))
}

/// The only message in some bytes.
pub(super) fn only(bytes: &Buffer) -> Result<Part<'_>> {
    next(bytes, 0, bytes.len())?.map(|(part, _)| part).ok_or_else(|| "it is cut short".into())
}

/// The schema in the first message of a stream.
pub(super) fn schema_in(bytes: &Buffer) -> Result<Schema> {
    let schema = only(bytes)?.message.header_as_schema().ok_or("it does not begin with a schema")?;
    checked(schema)
}

/// How many bytes the body of a message has, by its metadata.
pub(super) fn body_length(metadata: &[u8]) -> Result<u64> {
    let message = root_as_message(metadata).map_err(|error| error.to_string())?;
    u64::try_from(message.bodyLength()).map_err(|_| "a message has a body of a negative size".into())
}

/// The message at a position, and where it ends; nothing at the end of a stream.
fn next(bytes: &Buffer, at: usize, end: usize) -> Result<Option<(Part<'_>, usize)>> {
    let all = &bytes[at..end];
    if all.is_empty() {
        return Ok(None);
    }
    // Before 2019 messages began with their size at once.
    let rest = all.strip_prefix(MARK).unwrap_or(all);
    let (size, rest) = rest.split_first_chunk().ok_or("it is cut short")?;
    let size = usize::try_from(i32::from_le_bytes(*size)).map_err(|_| "a message has a negative size")?;
    if size == 0 {
        return Ok(None);
    }
    let message = root_as_message(rest.get(..size).ok_or("it is cut short")?).map_err(|error| error.to_string())?;
    let length = usize::try_from(message.bodyLength()).map_err(|_| "a message has a body of a negative size")?;
    rest[size..].get(..length).ok_or("it is cut short")?;
    let body = end - rest.len() + size;
    Ok(Some((Part { message, body: bytes.slice_with_length(body, length) }, body + length)))
}

/// The schema, if it is one that can be read.
fn checked(schema: arrow_ipc::Schema) -> Result<Schema> {
    if schema.endianness() != Endianness::Little {
        return Err("its numbers begin with their largest byte".into());
    }
    try_fb_to_schema(schema).map_err(|error| error.to_string())
}

impl Part<'_> {
    /// Checks the counts and buffers of a batch of this message with columns of these types; how many bytes are allocated to
    /// decompress its buffers.
    pub(super) fn check(&self, batch: RecordBatch, kinds: &[&DataType], limit: u64) -> Result<u64> {
        if batch.length() < 0 {
            return Err("a batch has a negative number of rows".into());
        }
        for node in batch.nodes().iter().flat_map(|nodes| nodes.iter()) {
            // The crate multiplies the number of lists by their length.
            if node.null_count() < 0 || !(node.null_count()..=i64::from(u32::MAX)).contains(&node.length()) {
                return Err(format!("a column claims {} values, {} of them null", node.length(), node.null_count()));
            }
        }
        let codec = batch.compression().map(|compression| compression.codec());
        let (buffers, views) = (batch.buffers().unwrap_or_default(), batch.variadicBufferCounts());
        let mut views = views.into_iter().flatten().map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let mut sizes = Vec::new();
        kinds.iter().for_each(|kind| push_sizes(kind, &mut views, buffers.len(), &mut sizes));
        let mut total = 0u64;
        for (at, buffer) in buffers.iter().enumerate() {
            let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let bytes = range.and_then(|(start, length)| self.body.get(start..start.checked_add(length)?));
            let bytes = bytes.ok_or("a buffer does not lie within its batch")?;
            let (length, allocated) = decompressed(bytes, codec)?;
            if !length.is_multiple_of(sizes.get(at).copied().unwrap_or(1)) {
                return Err("a buffer ends within a value".into());
            }
            if allocated > limit {
                return Err(format!("a buffer takes {allocated} bytes, more than the memory limit"));
            }
            total = total.saturating_add(allocated);
        }
        Ok(total)
    }
}

/// Adds the sizes of the values in each buffer of a column, 1 where any length will do; `views` are the numbers of buffers
/// with the texts of views, of `most` buffers in total.
fn push_sizes(kind: &DataType, views: &mut impl Iterator<Item = usize>, most: usize, sizes: &mut Vec<u64>) {
    use DataType::*;
    match kind {
        Null => {}
        Utf8 | Binary => sizes.extend([1, 4, 1]),
        LargeUtf8 | LargeBinary => sizes.extend([1, 8, 1]),
        Utf8View | BinaryView => {
            sizes.extend([1, 16]);
            sizes.extend(vec![1; views.next().unwrap_or(0).min(most)]);
        }
        List(_) | Map(..) => sizes.extend([1, 4]),
        LargeList(_) => sizes.extend([1, 8]),
        ListView(_) => sizes.extend([1, 4, 4]),
        LargeListView(_) => sizes.extend([1, 8, 8]),
        FixedSizeList(..) | Struct(_) | Union(_, UnionMode::Sparse) => sizes.push(1),
        Union(_, UnionMode::Dense) => sizes.extend([1, 4]),
        RunEndEncoded(..) => {}
        Dictionary(keys, _) => sizes.extend([1, keys.primitive_width().unwrap_or(1) as u64]),
        kind => sizes.extend([1, kind.primitive_width().unwrap_or(1) as u64]),
    }
    match kind {
        List(entry)
        | Map(entry, _)
        | LargeList(entry)
        | ListView(entry)
        | LargeListView(entry)
        | FixedSizeList(entry, _) => push_sizes(entry.data_type(), views, most, sizes),
        Struct(fields) => fields.iter().for_each(|field| push_sizes(field.data_type(), views, most, sizes)),
        Union(fields, _) => fields.iter().for_each(|(_, field)| push_sizes(field.data_type(), views, most, sizes)),
        RunEndEncoded(ends, values) => {
            [ends, values].into_iter().for_each(|field| push_sizes(field.data_type(), views, most, sizes));
        }
        _ => {}
    }
}

/// The length of a buffer when it is decompressed, as it claims if that is possible, and how many bytes that allocates.
fn decompressed(bytes: &[u8], codec: Option<CompressionType>) -> Result<(u64, u64)> {
    let (Some(codec), false) = (codec, bytes.is_empty()) else { return Ok((bytes.len() as u64, 0)) };
    let (size, compressed) = bytes.split_first_chunk().ok_or("a compressed buffer is cut short")?;
    let length = compressed.len() as u64;
    let ratio = if codec == CompressionType::LZ4_FRAME { LZ4 } else { ZSTD };
    match i64::from_le_bytes(*size) {
        -1 => Ok((length, 0)),
        size => match u64::try_from(size) {
            Ok(size) if size <= length.saturating_mul(ratio) => Ok((size, size)),
            _ => Err(format!("a buffer claims {size} bytes and has {length}")),
        },
    }
}

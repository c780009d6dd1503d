//! An Arrow file or stream in batches: a record batch at a time, with the dictionaries that were read before it.

use super::message::{Part, Place, body_length, only, places, schema_in};
use super::values::is_single;
use super::{Dictionaries, Reading, columns_of, unreadable};
use crate::batches::Blocks;
use crate::columns::vectors::Block;
use crate::columns::{Columns, Role, Roles, Want};
use crate::sheet::{Extent, Sheet};
use crate::source::{ARROW as MAGIC, ARROW_STREAM as MARK, Reader};
use crate::{ReadOptions, check_memory, read_error};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, SchemaRef};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::memory;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where messages come from.
enum Input {
    /// A file, and the places of its messages: where, how many bytes, and whether it is a batch.
    File(File, std::vec::IntoIter<Place>),
    Stream(Reader),
}

/// A file or a stream.
pub(crate) struct Parts {
    path: PathBuf,
    input: Input,
    schema: SchemaRef,
    columns: Columns,
    roles: Roles,
    options: ReadOptions,
    limit: u64,
    known: Dictionaries,
    /// The message after those that were read.
    coming: Option<Vec<u8>>,
    /// The first vector: its row counted from 1, and its length.
    first: Option<(usize, usize)>,
}

impl Parts {
    /// Opens a file or a stream; the reader again if it is neither, or a file that comes from a pipe.
    pub(crate) fn open(
        path: PathBuf,
        mut reader: Reader,
        file: Option<(File, u64)>,
        options: &ReadOptions,
        want: Want,
    ) -> Result<std::result::Result<Parts, Reader>> {
        let mut head = Vec::new();
        reader.take_up_to(8, &mut head)?;
        let fail = |reason: String| unreadable(&path, &reason);
        let limit = options.memory.unwrap_or_else(memory::available);
        let (schema, input) = match file {
            Some((mut file, length)) if head.starts_with(MAGIC) => {
                let (footer, end) = footer_of(&path, &mut file, length)?;
                let (schema, places) = places(&footer, end).map_err(fail)?;
                (schema, Input::File(file, places.into_iter()))
            }
            _ if head.starts_with(MARK) && head.len() == 8 => {
                let first = message(&path, &mut reader, head, options)?;
                let first = first.ok_or_else(|| fail("it does not begin with a schema".into()))?;
                (schema_in(&Buffer::from_vec(first)).map_err(fail)?, Input::Stream(reader))
            }
            _ => return Ok(Err(reader.after(head))),
        };
        let (columns, roles) = columns_of(&path, &schema, options, want)?;
        let (options, schema, known) = (options.clone(), Arc::new(schema), Dictionaries::default());
        let mut parts = Parts { path, input, schema, columns, roles, options, limit, known, coming: None, first: None };
        parts.coming = parts.following()?;
        Ok(Ok(parts))
    }

    /// The bytes of the message that follows.
    fn following(&mut self) -> Result<Option<Vec<u8>>> {
        match &mut self.input {
            Input::File(file, places) => {
                let Some((at, size, _)) = places.next() else { return Ok(None) };
                check_memory(&self.path, size, self.options.memory)?;
                let mut bytes = vec![0; size as usize];
                let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
                read.map_err(|error| read_error(&self.path, error))?;
                Ok(Some(bytes))
            }
            Input::Stream(reader) => {
                let mut head = Vec::new();
                // Before 2019 messages began with their size at once.
                let wanted = if reader.take_up_to(4, &mut head)? == 4 && head == MARK { 4 } else { 0 };
                reader.take_up_to(wanted, &mut head)?;
                if head.is_empty() { Ok(None) } else { message(&self.path, reader, head, &self.options) }
            }
        }
    }

    /// The sheet of one record batch; of a dictionary, nothing.
    fn sheet(&mut self, part: &Part, extent: Extent) -> Result<Option<Sheet>> {
        let path = self.path.clone();
        let fail = |reason: String| unreadable(&path, &reason);
        let rows = match part.message.header_as_record_batch() {
            Some(batch) => {
                let kinds: Vec<&DataType> = self.schema.fields().iter().map(|field| field.data_type()).collect();
                part.check(batch, &kinds, self.limit).map_err(fail)?;
                usize::try_from(batch.length()).map_err(|_| fail("it has more rows than memory".into()))?
            }
            None => 0,
        };
        let is_batch = rows > 0;
        let vectors = self.roles.vector.filter(|_| is_batch).map(|column| {
            let single = is_single(self.schema.field(column).data_type());
            let block = Block::new(&path, &self.columns, column, single, (rows, 0), &self.options);
            block.below(extent.above, self.first)
        });
        let (schema, roles, limit) = (Arc::clone(&self.schema), &self.roles, self.limit);
        let reading = Reading { schema, roles, limit, fail: &fail, vectors, known: &mut self.known };
        if part.message.header_as_record_batch().is_some() && !is_batch {
            return Ok(None);
        }
        let (gathered, first) = reading.gathered(std::slice::from_ref(part))?;
        if !is_batch {
            return Ok(None);
        }
        self.first = first;
        let (columns, roles) = (self.columns.clone(), self.roles.clone());
        Sheet::of_columns(&path, columns, roles, rows, gathered, &self.options, extent).map(Some)
    }
}

impl Blocks for Parts {
    fn next(&mut self, _most: usize, extent: Extent) -> Result<Option<Sheet>> {
        while let Some(bytes) = self.coming.take() {
            self.coming = self.following()?;
            let bytes = Buffer::from_vec(bytes);
            let part = only(&bytes).map_err(|reason| unreadable(&self.path, &reason))?;
            let extent = Extent { partial: extent.above > 0 || self.coming.is_some(), ..extent };
            if let Some(sheet) = self.sheet(&part, extent)? {
                return Ok(Some(sheet));
            }
        }
        Ok(None)
    }

    fn width(&self) -> usize {
        self.roles.count(Role::Data)
    }

    fn fraction(&self) -> Option<f64> {
        match &self.input {
            Input::File(..) => None,
            Input::Stream(reader) => reader.fraction(),
        }
    }
}

/// The message that begins with these bytes: its mark, if it has one, and its size; nothing at the end of a stream.
fn message(path: &Path, reader: &mut Reader, head: Vec<u8>, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
    let fail = |reason: &str| unreadable(path, reason);
    let size = head.last_chunk::<4>().ok_or_else(|| fail("it is cut short"))?;
    let size = usize::try_from(i32::from_le_bytes(*size)).map_err(|_| fail("a message has a negative size"))?;
    if size == 0 {
        return Ok(None);
    }
    let (mut bytes, start) = (head.clone(), head.len());
    if reader.take_up_to(size, &mut bytes)? < size {
        return Err(fail("it is cut short"));
    }
    let length = body_length(&bytes[start..]).map_err(|reason| unreadable(path, &reason))?;
    check_memory(path, length, options.memory)?;
    if (reader.take_up_to(length as usize, &mut bytes)? as u64) < length {
        return Err(fail("it is cut short"));
    }
    Ok(Some(bytes))
}

/// The footer of a file, and where it begins.
fn footer_of(path: &Path, file: &mut File, length: u64) -> Result<(Vec<u8>, u64)> {
    let cut = || unreadable(path, "it does not end as such files do, it may be cut short");
    let mut tail = [0; 10];
    if length < 22 {
        return Err(cut());
    }
    let fail = |error| read_error(path, error);
    file.seek(SeekFrom::Start(length - 10)).and_then(|_| file.read_exact(&mut tail)).map_err(fail)?;
    if !tail.ends_with(MAGIC) {
        return Err(cut());
    }
    let size = i32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let larger = || unreadable(path, "its footer is larger than the file");
    let end = u64::try_from(size).ok().and_then(|size| (length - 10).checked_sub(size)).filter(|&end| end >= 8);
    let end = end.ok_or_else(larger)?;
    let mut footer = vec![0; size as usize];
    file.seek(SeekFrom::Start(end)).and_then(|_| file.read_exact(&mut footer)).map_err(fail)?;
    Ok((footer, end))
}

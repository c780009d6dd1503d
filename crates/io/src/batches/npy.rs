//! Blocks of rows of an NPY array.
//!
//! Rows that lie one after the other are read from front to back. Where the numbers of a column lie together, every column of
//! a block is read at its place, which takes a file.

use super::Blocks;
use crate::columns::{Columns, Role, Roles, Want};
use crate::npy::header::Header;
use crate::npy::is_single;
use crate::numbers::Numbers;
use crate::sheet::{Extent, Sheet};
use crate::source::{Content, Reader};
use crate::{Format, ReadOptions, check_memory, format_error, read_error, sheet_from};
use eigenfold_linalg::error::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// An array, or all of it where it cannot be read in blocks.
pub(super) enum Opened {
    Rows(Box<dyn Blocks>),
    Whole(Box<Sheet>),
}

/// An array.
pub(super) struct Npy {
    path: PathBuf,
    header: Header,
    columns: Columns,
    roles: Roles,
    options: ReadOptions,
    reader: Reader,
    /// The file and its length, if it is not compressed.
    file: Option<(File, u64)>,
    /// The rows that were read.
    done: usize,
}

impl Npy {
    pub(super) fn open(
        path: PathBuf,
        reader: Reader,
        file: Option<(File, u64)>,
        options: &ReadOptions,
        want: Want,
    ) -> Result<Opened> {
        let mut reader = reader;
        let mut kept = Kept { reader: &mut reader, bytes: Vec::new() };
        let header = Header::read(&path, &mut kept)?;
        let mut bytes = kept.bytes;
        match &file {
            Some((_, length)) => header.checked_count(&path, *length).map(|_| ())?,
            None if header.fortran => {
                bytes.extend(reader.rest(options.memory)?);
                let content = Content::Bytes(bytes);
                return Ok(Opened::Whole(Box::new(sheet_from(&path, Format::Npy, content, None, options, want)?)));
            }
            None => {}
        }
        let columns = Columns::counted(header.cols);
        let roles = columns.roles(&path, options, want)?;
        let options = options.clone();
        Ok(Opened::Rows(Box::new(Npy { path, header, columns, roles, options, reader, file, done: 0 })))
    }

    /// The bytes of the next rows, row by row.
    fn bytes(&mut self, rows: usize) -> Result<Vec<u8>> {
        let (cols, size) = (self.header.cols, self.header.size);
        let count = rows.saturating_mul(cols).saturating_mul(size);
        // A header may promise rows of any length.
        check_memory(&self.path, (rows as u64).saturating_mul(cols as u64).saturating_mul(16), self.options.memory)?;
        let mut bytes = Vec::new();
        let Some((file, _)) = self.file.as_mut().filter(|_| self.header.fortran) else {
            if self.reader.take_up_to(count, &mut bytes)? < count {
                return Err(self.shrunk());
            }
            return Ok(bytes);
        };
        bytes.resize(count, 0);
        let mut column = vec![0; rows * size];
        for c in 0..cols {
            let at = self.header.start + ((c * self.header.rows + self.done) * size) as u64;
            let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut column));
            read.map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => changed(&self.path, "ends before its last row"),
                _ => read_error(&self.path, error),
            })?;
            for (i, number) in column.chunks_exact(size).enumerate() {
                let to = (i * cols + c) * size;
                bytes[to..to + size].copy_from_slice(number);
            }
        }
        Ok(bytes)
    }

    /// The error of an array that ends too early.
    fn shrunk(&self) -> Error {
        let (rows, cols) = (self.header.rows, self.header.cols);
        let fact = format!("the header promises {rows} x {cols} numbers and the file ends before the last row");
        format_error(&self.path, fact, "save it again, one array a file")
    }

    /// Refuses a file that is longer than its header promises, or that changed while it was read.
    fn check_end(&mut self) -> Result<()> {
        if let Some((file, length)) = &self.file {
            let now = file.metadata().map_err(|error| read_error(&self.path, error))?.len();
            return match now == *length {
                true => Ok(()),
                false => Err(changed(&self.path, &format!("had {length} bytes and has {now} now"))),
            };
        }
        if self.reader.take_up_to(1, &mut Vec::new())? > 0 {
            let (rows, cols) = (self.header.rows, self.header.cols);
            let fact = format!("the header promises {rows} x {cols} numbers and the file holds more bytes");
            return Err(format_error(&self.path, fact, "save it again, one array a file"));
        }
        Ok(())
    }
}

/// The error of a file that is not what it was when it was opened.
fn changed(path: &Path, what: &str) -> Error {
    format_error(path, format!("changed while it was read: it {what}"), "wait until it is complete, and read it again")
}

impl Blocks for Npy {
    fn next(&mut self, most: usize, extent: Extent) -> Result<Option<Sheet>> {
        let rows = most.min(self.header.rows - self.done);
        if rows == 0 {
            return self.check_end().map(|()| None);
        }
        let bytes = self.bytes(rows)?;
        let kind = (self.header.kind, self.header.size);
        let count = rows * self.header.cols;
        let mut values = Numbers::with_room(&self.path, count, is_single(kind))?;
        values.resize(count, 0.0);
        values.places(0).convert(kind, self.header.big_endian, &bytes);
        self.done += rows;
        let extent = Extent { partial: rows < self.header.rows, ..extent };
        let (columns, roles) = (self.columns.clone(), self.roles.clone());
        Sheet::of_rows(&self.path, columns, roles, values, &self.options, extent).map(Some)
    }

    fn rows(&self) -> Option<usize> {
        Some(self.header.rows)
    }

    fn width(&self) -> usize {
        self.roles.count(Role::Data)
    }
}

/// Keeps what it reads.
struct Kept<'a> {
    reader: &'a mut Reader,
    bytes: Vec<u8>,
}

impl Read for Kept<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = Read::read(self.reader, buffer)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

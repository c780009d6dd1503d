//! A Parquet file in batches: some rows of a row group at a time, from the pages of all wanted columns.

use crate::ReadOptions;
use crate::batches::Blocks;
use crate::columns::vectors::Block;
use crate::columns::{Columns, Role, Roles, Want};
use crate::numbers::Numbers;
use crate::parquet::guard::{check_footer, check_pages};
use crate::parquet::kind::{What, check_type, is_single};
use crate::parquet::list::{Lengths, Vectors, columns_of};
use crate::parquet::{Column, checked_rows, chunk_of, unreadable};
use crate::read_error;
use crate::sheet::{Extent, Gathered, Sheet};
use ::parquet::column::reader::ColumnReader;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::SchemaDescPtr;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::memory;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// A file.
pub(crate) struct Groups {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    /// The same file, for the headers of its pages.
    pages: File,
    schema: SchemaDescPtr,
    columns: Columns,
    roles: Roles,
    /// The columns that are read.
    wanted: Vec<(usize, What)>,
    options: ReadOptions,
    limit: u64,
    rows: usize,
    /// The next row group, the columns of this one, and its rows that are left.
    group: usize,
    open: Vec<ColumnReader>,
    left: usize,
    /// The lengths of vectors, and the first of them: its row counted from 1, and its length.
    lengths: Lengths,
    first: Option<(usize, usize)>,
}

impl Groups {
    pub(crate) fn open(path: PathBuf, file: File, length: u64, options: &ReadOptions, want: Want) -> Result<Groups> {
        let mut pages = file.try_clone().map_err(|error| read_error(&path, error))?;
        let limit = options.memory.unwrap_or_else(memory::available);
        let fail = |error| unreadable(&path, error);
        check_footer(&mut pages, length, limit).map_err(fail)?;
        let opened = catch_unwind(AssertUnwindSafe(|| SerializedFileReader::new(file)));
        let reader = opened.unwrap_or_else(|_| Err(damaged())).map_err(fail)?;
        let rows = checked_rows(reader.metadata(), length).map_err(fail)?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let columns = columns_of(&schema);
        let roles = columns.roles(&path, options, want)?;
        let kept = (0..roles.of.len()).filter(|&c| roles.of[c] != Role::Ignored);
        let kind = |c: usize| Ok((c, check_type(&path, &columns, c, &schema.column(c), roles.of[c])?));
        let wanted = kept.map(kind).collect::<Result<Vec<_>>>()?;
        let (options, lengths) = (options.clone(), Lengths::new(limit));
        let (group, open, left, first) = (0, Vec::new(), 0, None);
        Ok(Groups {
            path,
            reader,
            pages,
            schema,
            columns,
            roles,
            wanted,
            options,
            limit,
            rows,
            group,
            open,
            left,
            lengths,
            first,
        })
    }

    /// Opens the next row group that has rows; false at the end.
    fn next_group(&mut self) -> std::result::Result<bool, ParquetError> {
        while self.left == 0 {
            if self.group == self.reader.num_row_groups() {
                return Ok(false);
            }
            let group = self.reader.get_row_group(self.group)?;
            self.open.clear();
            for &(c, _) in &self.wanted {
                check_pages(&mut self.pages, &chunk_of(group.metadata().column(c)), self.limit)?;
                self.open.push(match self.roles.vector == Some(c) {
                    true => self.lengths.reader(&self.schema.column(c), group.get_column_page_reader(c)?),
                    false => group.get_column_reader(c)?,
                });
            }
            self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            self.group += 1;
        }
        Ok(true)
    }

    fn read(&mut self, most: usize, extent: Extent) -> Result<Option<Sheet>> {
        let path = self.path.clone();
        let fail = |error| unreadable(&path, error);
        if !self.next_group().map_err(fail)? {
            return Ok(None);
        }
        let rows = most.min(self.left);
        let mut gathered = Vec::new();
        for (&(c, what), reader) in self.wanted.iter().zip(&mut self.open) {
            let column = self.schema.column(c);
            if self.roles.vector == Some(c) {
                let block = Block::new(&path, &self.columns, c, is_single(&column), (rows, 0), &self.options);
                let block = block.below(extent.above, self.first);
                let mut vectors = Vectors::new(what, &column, block, &self.lengths);
                vectors.read(reader, rows, &fail)?;
                self.first = vectors.first();
                gathered.push(vectors.finished()?);
                continue;
            }
            let numbers = Numbers::empty(is_single(&column));
            let mut values = Column { what, gathered: Gathered { numbers, ..Gathered::default() }, limit: self.limit };
            values.read(reader, column.max_def_level(), rows).map_err(fail)?;
            let count = values.gathered.numbers.len() + values.gathered.texts.len();
            if count != rows {
                let (title, claimed) = (self.columns.title(c), self.rows);
                let held = extent.above + count;
                let fact = format!("it claims {claimed} rows, and {title} ends after {held}");
                return Err(fail(ParquetError::General(fact)));
            }
            gathered.push(values.gathered);
        }
        self.left -= rows;
        let extent = Extent { partial: rows < self.rows, ..extent };
        let (columns, roles) = (self.columns.clone(), self.roles.clone());
        Sheet::of_columns(&path, columns, roles, rows, gathered, &self.options, extent).map(Some)
    }
}

impl Blocks for Groups {
    fn next(&mut self, most: usize, extent: Extent) -> Result<Option<Sheet>> {
        // The crate asserts its assumptions about a file, so that a damaged one can make it panic.
        let sheet = catch_unwind(AssertUnwindSafe(|| self.read(most, extent)));
        sheet.unwrap_or_else(|_| Err(unreadable(&self.path, damaged())))
    }

    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }

    fn width(&self) -> usize {
        // The width of vectors is known when the first of them is read.
        if self.roles.vector.is_some() { 1 << 10 } else { self.roles.count(Role::Data) }
    }
}

fn damaged() -> ParquetError {
    ParquetError::General("the file is damaged".into())
}

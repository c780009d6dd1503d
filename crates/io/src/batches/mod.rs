//! Tables in batches: blocks of rows one after the other, in memory that does not depend on the number of rows.
//!
//! [`read_batches`] reads what [`read`](crate::read) reads, by the same rules: what decides about the columns (the delimiter,
//! the header, the schema of a model) is in the first rows, and messages count rows and lines over the whole file.
//!
//! | input | a batch is |
//! |---|---|
//! | text, also compressed or from a pipe | a block of whole lines |
//! | NPY, also compressed or from a pipe | rows; of an array in Fortran order, only from a file |
//! | Parquet file | a part of a row group |
//! | Arrow file, Arrow stream | a record batch |
//! | NPZ, built-in sets, Parquet and Arrow files from a pipe or compressed | the whole table |

mod npy;
mod sample;
mod text;

pub use sample::{Offer, RowSample, row_hash};

use crate::columns::Want;
use crate::columns::carried::Cells;
use crate::labels::Tally;
use crate::sheet::{Extent, Sheet};
use crate::source::{Content, Stream};
use crate::{Format, ReadOptions, Table, format_error, sheet_from, sheet_of};
use eigenfold_linalg::error::Result;
use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};

/// The numbers of a batch, if the caller does not set the number of rows, and the least and the most rows of such a batch.
const NUMBERS: usize = 1 << 18;
pub(crate) const LEAST: usize = 256;
const MOST: usize = 1 << 16;

/// Reads one block of rows after the other.
pub(crate) trait Blocks: Send {
    /// The next rows, at most about `most`; nothing at the end.
    fn next(&mut self, most: usize, extent: Extent) -> Result<Option<Sheet>>;

    /// How many rows there are in total, if that is known before they are read.
    fn rows(&self) -> Option<usize> {
        None
    }

    /// How many numbers a row has.
    fn width(&self) -> usize;

    /// How much of the file was read, if that is known.
    fn fraction(&self) -> Option<f64> {
        None
    }
}

/// The batches of a file, in the order of its rows.
pub struct Batches {
    path: PathBuf,
    blocks: Box<dyn Blocks>,
    options: ReadOptions,
    rows: Option<usize>,
    /// The rows until now.
    above: usize,
    /// Rows that were read after those.
    waiting: VecDeque<Sheet>,
    labels: Option<Tally>,
    /// The data columns in which something was observed.
    observed: Vec<bool>,
    ended: bool,
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("path", &self.path).field("above", &self.above).finish_non_exhaustive()
    }
}

/// Reads points in batches of about `rows` rows (if not given, of about 2 MB), by the rules of [`read`](crate::read). In a
/// batch, [`Table::labels`] are those of its own rows: the classes of another batch may have other numbers.
///
/// What [`read`](crate::read) can only refuse when it has seen all rows is an error after the last batch: a label column
/// without a label, a data column without a number, and a first column that only counts the rows.
///
/// # Errors
///
/// As [`read`](crate::read); an error in a row comes as an item, and is the last. Categories ([`ReadOptions::one_hot`]) need
/// the levels of a schema ([`ReadOptions::like`]).
pub fn read_batches(source: impl AsRef<Path>, options: &ReadOptions, rows: Option<usize>) -> Result<Batches> {
    Batches::open(source.as_ref(), options, Want::Table, rows)
}

/// Reads an embedding in batches, by the rules of [`read_map`](crate::read_map).
///
/// # Errors
///
/// As [`read_batches`].
pub fn read_map_batches(source: impl AsRef<Path>, options: &ReadOptions, rows: Option<usize>) -> Result<Batches> {
    Batches::open(source.as_ref(), options, Want::Map, rows)
}

impl Batches {
    fn open(source: &Path, options: &ReadOptions, want: Want, rows: Option<usize>) -> Result<Batches> {
        let (path, blocks) = opened(source, options, want)?;
        let width = blocks.width().max(1);
        let rows = rows.map_or_else(|| (NUMBERS / width).clamp(LEAST, MOST), |rows| rows.max(1));
        let like = options.like.clone().filter(|_| want == Want::Table);
        let options = ReadOptions { like, ..options.clone() };
        let (waiting, labels, observed) = (VecDeque::new(), None, Vec::new());
        Ok(Batches { path, blocks, options, rows: Some(rows), above: 0, waiting, labels, observed, ended: false })
    }

    /// The number of rows of the file, if it is known before all of them are read.
    pub fn rows(&self) -> Option<usize> {
        self.blocks.rows()
    }

    /// How much of the file was read, from 0 to 1, if that is known.
    pub fn fraction(&self) -> Option<f64> {
        let by_rows = || self.blocks.rows().map(|rows| self.above as f64 / rows.max(1) as f64);
        self.blocks.fraction().or_else(by_rows)
    }

    /// Of the rows until now without a missing cell: how many have no label, and how many there are; if there is a label
    /// column.
    pub fn rows_without_label(&self) -> Option<(usize, usize)> {
        self.labels.as_ref().map(Tally::complete)
    }

    /// The next rows. Rows without a vector at the top of a file wait for the first vector, which tells the length of theirs.
    fn sheet(&mut self) -> Result<Option<Sheet>> {
        if let Some(sheet) = self.waiting.pop_front() {
            return Ok(Some(sheet));
        }
        let mut above = self.above;
        while let Some(sheet) = self.blocks.next(self.rows.unwrap_or(MOST), Extent { above, partial: true })? {
            above += sheet.rows;
            let (length, waits) = (sheet.width, sheet.without_length().is_some());
            self.waiting.push_back(sheet);
            if !waits {
                let all = self.waiting.drain(..).map(|sheet| match sheet.without_length() {
                    Some(_) => sheet.with_length(length),
                    None => sheet,
                });
                self.waiting = all.collect();
                return Ok(self.waiting.pop_front());
            }
        }
        match self.waiting.front().and_then(|sheet| Some((sheet, sheet.without_length()?))) {
            Some((sheet, column)) => Err(sheet.columns.no_numbers(&self.path, column)),
            None => Ok(None),
        }
    }

    fn read(&mut self) -> Result<Option<Table>> {
        let Some(sheet) = self.sheet()? else {
            return self.finish().map(|()| None);
        };
        let (above, partial) = (self.above, sheet.extent.partial);
        self.above += sheet.rows;
        let labels = sheet.label_cells().filter(|_| partial).cloned();
        let table = sheet.table(&self.path, self.options.like.as_ref())?;
        if let Some(labels) = labels {
            let complete = (!table.points.missing().is_empty()).then(|| table.points.complete_rows());
            self.labels.get_or_insert_default().pass(&labels, complete.as_deref());
        }
        if above == 0 {
            self.observed = vec![false; table.points.cols()];
        }
        if table.points.cols() != self.observed.len() {
            let (now, first) = (table.points.cols(), self.observed.len());
            let fact = format!("row {} has {now} features and row 1 has {first}", above + 1);
            return Err(format_error(&self.path, fact, "give every row a vector of one length").at_row(above));
        }
        self.observe(&table);
        Ok(Some(table))
    }

    /// Notes which columns have something observed.
    fn observe(&mut self, table: &Table) {
        let (points, rows) = (&table.points, table.points.rows());
        if points.missing().is_empty() {
            self.observed.fill(true);
            return;
        }
        let mut counts = vec![0; points.cols()];
        points.missing().iter().for_each(|at| counts[at % points.cols()] += 1);
        self.observed.iter_mut().zip(counts).for_each(|(observed, missing)| *observed |= missing < rows);
    }

    /// What can only be refused now.
    fn finish(&mut self) -> Result<()> {
        if self.above == 0 {
            return Err(format_error(&self.path, "holds no rows", "give at least two points"));
        }
        if let Some(column) = self.observed.iter().position(|observed| !observed) {
            let fact = format!("column {} has no observed cell", column + 1);
            return Err(format_error(&self.path, fact, "leave the column out").at_column(column));
        }
        let unlabeled = self.labels.as_ref().is_some_and(|labels| labels.missing() == self.above);
        if unlabeled && self.options.like.is_none() {
            return Err(format_error(&self.path, "no row has a label", "name another column, or leave out `label`"));
        }
        Ok(())
    }
}

impl Iterator for Batches {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        if self.ended {
            return None;
        }
        let next = self.read().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// What reads the blocks of an input, and its name in messages.
fn opened(source: &Path, options: &ReadOptions, want: Want) -> Result<(PathBuf, Box<dyn Blocks>)> {
    let built_in = !source.exists() && source.to_str().is_some_and(|name| crate::builtin::NAMES.contains(&name));
    let (name, array) = crate::source::array_in(source);
    if built_in || array.is_some() {
        return whole_file(source, options, want);
    }
    let Stream { path, format, reader, file } = Stream::open(name)?;
    let blocks: Box<dyn Blocks> = match (format, file) {
        // A comma before decimals is only replaced where all cells of a kept column are numbers.
        (Format::Text(_), _)
            if options.has_decimal_comma() && (!options.keep.is_empty() || options.label.is_some()) =>
        {
            return rest_of(path, format, reader, options, want);
        }
        (Format::Text(delimiter), _) => Box::new(text::Text::open(path.clone(), reader, delimiter, options, want)?),
        (Format::Npy, file) => match npy::Npy::open(path.clone(), reader, file, options, want)? {
            npy::Opened::Rows(npy) => npy,
            npy::Opened::Whole(sheet) => Box::new(Once { width: sheet.width, rows: sheet.rows, sheet: Some(*sheet) }),
        },
        #[cfg(feature = "parquet")]
        (Format::Parquet, Some((file, length))) => {
            Box::new(crate::parquet::groups::Groups::open(path.clone(), file, length, options, want)?)
        }
        #[cfg(feature = "arrow")]
        (Format::Arrow, file) => match crate::arrow::parts::Parts::open(path.clone(), reader, file, options, want)? {
            Ok(parts) => Box::new(parts),
            Err(reader) => return rest_of(path, format, reader, options, want),
        },
        (format, None) => return rest_of(path, format, reader, options, want),
        (_, Some(_)) => return whole_file(source, options, want),
    };
    Ok((path, blocks))
}

/// All rows of a file at once.
fn whole_file(source: &Path, options: &ReadOptions, want: Want) -> Result<(PathBuf, Box<dyn Blocks>)> {
    let (path, sheet) = sheet_of(source, options, want)?;
    Ok((path, Box::new(Once { width: sheet.width, rows: sheet.rows, sheet: Some(sheet) })))
}

/// All rows of an input that cannot be read from front to back.
fn rest_of(
    path: PathBuf,
    format: Format,
    reader: crate::source::Reader,
    options: &ReadOptions,
    want: Want,
) -> Result<(PathBuf, Box<dyn Blocks>)> {
    let bytes = Content::Bytes(reader.rest(options.memory)?);
    let sheet = sheet_from(&path, format, bytes, None, options, want)?;
    Ok((path, Box::new(Once { width: sheet.width, rows: sheet.rows, sheet: Some(sheet) })))
}

/// A table that was read as a whole.
struct Once {
    sheet: Option<Sheet>,
    width: usize,
    rows: usize,
}

impl Blocks for Once {
    fn next(&mut self, _most: usize, _extent: Extent) -> Result<Option<Sheet>> {
        Ok(self.sheet.take())
    }

    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }

    fn width(&self) -> usize {
        self.width
    }
}

/// The cells of the label column, where there is one.
impl Sheet {
    fn label_cells(&self) -> Option<&Cells> {
        self.cells(self.roles.label?)
    }
}

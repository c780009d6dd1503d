//! Files in and out: CSV, NPY, Parquet, edge lists, saved models, and the two built-in data sets.
//!
//! [`read`] turns a file, standard input or a built-in name into a [`Table`]: points, and the labels that color them.
//! [`write()`] is its inverse. Whatever writes a file goes through [`write_bytes_atomically`], so that an output is
//! either complete or absent.

mod atomic;
mod builtin;
mod columns;
mod csv;
mod dialect;
mod graph;
mod header;
mod labels;
mod model;
mod npy;
mod npy_header;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_guard;
#[cfg(feature = "parquet")]
mod parquet_shapes;
mod quotes;
mod target;
mod weights;

pub use atomic::{check_replaceable, keep_owner_and_permissions, sync_directory, write_bytes_atomically, write_error};
pub use graph::{read_graph, write_graph};
pub use labels::Labels;
pub use target::Target;
pub use weights::write_weights;

use crate::error::{Error, Result, bytes as shown_bytes};
use crate::memory;
use crate::points::Points;
use columns::{Columns, Role};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The extensions that name a format, as messages list them.
const KNOWN: &str = ".csv, .tsv, .txt, .npy or .parquet";

/// What a file of points holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The data columns, one point a row, in the file's order.
    pub points: Points,
    /// The names of the data columns, where the file names them.
    pub columns: Option<Vec<String>>,
    /// The label column, where one was asked for (built-in sets always have theirs).
    pub labels: Option<Labels>,
    /// What was guessed about the file and may be wrong, a sentence each; parameters stand between backticks, as in
    /// [`crate::error`].
    pub notes: Vec<String>,
}

/// How to read a file of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The column that labels the points and is not data: a name, or a number counted from 1.
    pub label: Option<String>,
    /// The columns to leave out: names, or numbers counted from 1.
    pub ignore: Vec<String>,
    /// The delimiter of a text file; if not given, it is detected (comma, tab, semicolon or spaces).
    pub delimiter: Option<u8>,
    /// Whether the first row of a text file names the columns; if not given, it is detected.
    pub header: Option<bool>,
    /// Whether data cells may be missing ([`Points::missing`]); else the first one is an error.
    pub missing: bool,
    /// How many bytes the file and what is made of it may take; if not given, most of what the machine has free.
    pub memory: Option<u64>,
}

/// The formats that hold points.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    /// Text with this delimiter, or with one to be detected.
    Text(Option<u8>),
    Npy,
    Parquet,
}

/// Reads points from a file, from standard input (`-`, CSV), or a built-in set (`digits`, `iris`).
///
/// The extension decides the format, in any case of letters; a file with another extension is known by its first
/// bytes. A file called `digits` or `iris` goes before the built-in set.
///
/// # Errors
///
/// If the file cannot be read, is not a table of numbers, or does not have the columns that `options` name. The
/// message names the row, the line and the column, and the way out.
pub fn read(source: &str, options: &ReadOptions) -> Result<Table> {
    if source == "-" {
        let path = Path::new("standard input");
        return csv::read(path, &contents(path, std::io::stdin().lock(), 0, options.memory)?, None, options);
    }
    let path = Path::new(source);
    if !path.exists()
        && let Some(table) = builtin::read(source, options)
    {
        return table;
    }
    let mut file = open(path)?;
    let length = file.metadata().map_err(|error| read_error(path, error))?.len();
    match format_of(path, &mut file)? {
        Format::Text(delimiter) => csv::read(path, &contents(path, file, length, options.memory)?, delimiter, options),
        Format::Npy => npy::read(path, &mut file, length, None, options),
        Format::Parquet => read_parquet(path, file, options),
    }
}

/// Writes points, and a label column after them if there is one (its name, and the labels).
///
/// The extension decides the format; `-` is CSV on standard output, as is a device or pipe without one. Numbers are written so that reading them gives
/// the same bits. NPY holds neither the column names nor labels.
///
/// # Errors
///
/// If the extension is unknown, if the number of names or labels does not fit the points, or if the system refuses.
/// No partial file is left behind.
pub fn write(target: &str, columns: &[String], points: &Points, labels: Option<(&str, &Labels)>) -> Result<()> {
    let path = Path::new(target);
    if columns.len() != points.cols() {
        let (names, cols) = (columns.len(), points.cols());
        return Err(Error::parameter(format!("{names} names do not fit {cols} columns; give one name a column")));
    }
    if let Some((_, labels)) = labels
        && labels.len() != points.rows()
    {
        let (count, rows) = (labels.len(), points.rows());
        return Err(Error::parameter(format!("{count} labels do not fit {rows} points; give one label a point")));
    }
    // Devices and pipes have no extension; like standard output, they are given CSV.
    let device = !matches!(Target::of(path)?, Target::File(_));
    let format = by_extension(path).or(device.then_some(Format::Text(None)));
    match format {
        Some(Format::Text(delimiter)) => write_bytes_atomically(path, |out| {
            csv::write(out, delimiter.unwrap_or(b','), columns, points, labels)
                .map_err(|source| write_error(path, source))
        }),
        Some(Format::Npy) if labels.is_some() => {
            Err(format_error(path, "an NPY file holds no labels; write .csv or .parquet, or leave the labels out"))
        }
        Some(Format::Npy) => {
            write_bytes_atomically(path, |out| npy::write(out, points).map_err(|source| write_error(path, source)))
        }
        Some(Format::Parquet) => write_parquet(path, columns, points, labels),
        None if path.is_dir() => Err(format_error(path, "is a directory; name a file in it")),
        None => Err(format_error(path, format!("the extension names no known format; use {KNOWN}"))),
    }
}

#[cfg(feature = "parquet")]
use parquet::{read as read_parquet, write as write_parquet};

#[cfg(not(feature = "parquet"))]
const NO_PARQUET: &str = "this build does not include Parquet; build with `--features parquet`, or use .csv or .npy";

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _file: File, _options: &ReadOptions) -> Result<Table> {
    Err(format_error(path, NO_PARQUET))
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(path: &Path, _: &[String], _: &Points, _: Option<(&str, &Labels)>) -> Result<()> {
    Err(format_error(path, NO_PARQUET))
}

/// The format that the extension names.
fn by_extension(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" | "txt" => Some(Format::Text(None)),
        "tsv" => Some(Format::Text(Some(b'\t'))),
        "npy" => Some(Format::Npy),
        "parquet" => Some(Format::Parquet),
        _ => None,
    }
}

/// The format of an open file: by its extension, or else by its first bytes.
fn format_of(path: &Path, file: &mut File) -> Result<Format> {
    if let Some(format) = by_extension(path) {
        return Ok(format);
    }
    use std::io::{Seek, SeekFrom};
    // A pipe has no beginning to go back to; what comes out of one is text.
    if file.seek(SeekFrom::Start(0)).is_err() {
        return Ok(Format::Text(None));
    }
    let mut head = Vec::new();
    file.take(8192).read_to_end(&mut head).map_err(|error| read_error(path, error))?;
    file.seek(SeekFrom::Start(0)).map_err(|error| read_error(path, error))?;
    if head.starts_with(npy_header::MAGIC) {
        Ok(Format::Npy)
    } else if head.starts_with(b"PAR1") {
        Ok(Format::Parquet)
    } else {
        dialect::check_text(path, &head)?;
        Ok(Format::Text(None))
    }
}

/// Opens a file for reading, with a message that says what is wrong with the name.
fn open(path: &Path) -> Result<File> {
    if path.is_dir() {
        return Err(format_error(path, "is a directory; name a file in it"));
    }
    if path.is_symlink() && !path.exists() {
        return Err(format_error(path, "is a link that leads to no file; name the file itself"));
    }
    File::open(path).map_err(|error| read_error(path, error))
}

/// Everything that comes out of an open file or pipe, if there is room for it; `length` is what is known of its length.
fn contents(path: &Path, source: impl Read, length: u64, limit: Option<u64>) -> Result<Vec<u8>> {
    check_memory(path, length, limit)?;
    let most = limit.unwrap_or_else(memory::available);
    let mut bytes = Vec::new();
    // One more, so that the end is seen without asking for more room.
    let reserved = bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX).saturating_add(1));
    reserved.map_err(|_| format_error(path, format!("there is no room for its {}; {SMALLER}", shown_bytes(length))))?;
    // Some files have no end, so no more is read than there may be.
    source.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| read_error(path, error))?;
    if bytes.len() as u64 > most {
        return Err(format_error(path, format!("is larger than the limit of {}; {SMALLER}", shown_bytes(most))));
    }
    Ok(bytes)
}

/// What can be done about a file that is too large.
const SMALLER: &str = "give fewer rows or columns, or allow more `memory`";

/// Refuses what a file claims if that has no room.
fn check_memory(path: &Path, needed: u64, limit: Option<u64>) -> Result<()> {
    let limit = limit.unwrap_or_else(memory::available);
    if needed <= limit {
        return Ok(());
    }
    Err(Error::Memory { what: format!("{}: the file", path.display()), needed, limit, way_out: SMALLER.into() })
}

/// Room for so many numbers, or why there is none.
fn room_for(path: &Path, count: usize) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => {
            let size = shown_bytes(8 * count as u64);
            Err(format_error(path, format!("there is no room for its numbers ({size}); give fewer rows or columns")))
        }
    }
}

/// A failed read, with the way out where there is a common one.
fn read_error(path: &Path, source: std::io::Error) -> Error {
    let source = match source.kind() {
        ErrorKind::NotFound => std::io::Error::new(
            ErrorKind::NotFound,
            format!("there is no such file; check the name, or use {}", builtin::NAMES.join(" or ")),
        ),
        ErrorKind::PermissionDenied => std::io::Error::new(
            ErrorKind::PermissionDenied,
            "reading is not permitted; change the file's permissions or read a copy",
        ),
        kind => std::io::Error::new(kind, format!("{source}; read a copy of it, from another disk if this one fails")),
    };
    Error::Io { path: path.into(), source }
}

/// A file whose content is not what it should be.
fn format_error(path: &Path, message: impl Into<String>) -> Error {
    Error::Format { path: path.into(), message: message.into() }
}

/// Whether [`Points`] would refuse this number.
fn is_unusable(value: f64, options: &ReadOptions) -> bool {
    // Only numbers that are far out are worth asking about one by one.
    let usual = value.abs() <= 1e100 || (value.is_nan() && options.missing);
    !usual && Points::new(1, 1, vec![value]).is_err()
}

/// The table that the columns of a whole matrix make: its data columns and its label column.
///
/// `values` is row-major and has all the columns that `columns` names.
fn table_of(path: &Path, columns: &Columns, values: Vec<f64>, options: &ReadOptions) -> Result<Table> {
    let roles = columns.roles(path, options)?;
    let width = columns.count();
    let pick = |role: Role| -> Vec<f64> {
        let kept: Vec<usize> = (0..width).filter(|&c| roles[c] == role).collect();
        values.chunks_exact(width).flat_map(|row| kept.iter().map(|&c| row[c])).collect()
    };
    let labels = match roles.iter().position(|&role| role == Role::Label) {
        Some(column) => {
            Some(Labels::from_numbers(pick(Role::Label)).map_err(|row| columns.unlabeled(path, row, None, column))?)
        }
        None => None,
    };
    let values = if roles.iter().all(|&role| role == Role::Data) { values } else { pick(Role::Data) };
    let cols = roles.iter().filter(|&&role| role == Role::Data).count();
    let table_columns = columns.data_names(&roles);
    if let Some(at) = values.iter().position(|&value| is_unusable(value, options)) {
        let column = (0..width).filter(|&c| roles[c] == Role::Data).nth(at % cols).unwrap_or(0);
        return Err(columns.bad_number(path, at / cols + 1, None, column, values[at]));
    }
    let rows = values.len().checked_div(cols).unwrap_or(0);
    let points = Points::with_missing(rows, cols, values).map_err(|error| format_error(path, error.to_string()))?;
    Ok(Table { points, columns: table_columns, labels, notes: Vec::new() })
}

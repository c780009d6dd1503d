//! Reads and writes files: CSV, NPY, NPZ, Parquet, Arrow, edge lists, saved models, and the two built-in data sets.
//!
//! [`read`] turns a file, standard input or a built-in name into a [`Table`]: points, and the labels that color them.
//! [`write()`] is its inverse. Every writer uses [`write_bytes_atomically`], so that an output is
//! either complete or absent.
#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::private_intra_doc_links,
    reason = "formulas index as x[i]; internal crate"
)]
// Parquet and Arrow are the formats with typed columns.
#![cfg_attr(not(any(feature = "arrow", feature = "parquet")), allow(dead_code, reason = "no reader of typed columns"))]

#[cfg(feature = "arrow")]
mod arrow;
mod batches;
mod builtin;
mod columns;
mod compress;
mod concatenate;
mod decimal;
mod gather;
mod graph;
mod labels;
mod npy;
#[cfg(feature = "compressed")]
mod npz;
mod numbers;
#[cfg(feature = "parquet")]
mod parquet;
pub mod schema;
mod sheet;
mod source;
mod text;
mod weights;
mod write;

pub use batches::{Batches, Offer, RowSample, read_batches, read_map_batches, row_hash};
pub use columns::carried::{Carried, Cells};
pub use concatenate::read_all;
pub use graph::{read_graph, read_neighbors, write_graph};
pub use labels::Labels;
pub use schema::Schema;
pub use weights::write_weights;
pub use write::Lists;
pub use write::atomic::{
    check_replaceable, keep_owner_and_permissions, sync_directory, write_bytes_atomically, write_error,
};
pub use write::stream::Writer;
pub use write::target::Target;

use columns::Want;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result, bytes as shown_bytes};
use eigenfold_linalg::memory;
use gather::gathered;
use sheet::Sheet;
use source::{Content, Source};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use text::csv;
use write::Outgoing;

/// The extensions that name a format, as messages list them.
const KNOWN: &str = ".csv, .tsv, .txt, .npy, .parquet or .arrow, alone or with .gz or .zst after it";

/// What a file of points holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The data columns, one point a row, in the file's order.
    pub points: Points,
    /// The names of the data columns, where the file names them.
    pub columns: Option<Vec<String>>,
    /// The role of every column of the file.
    pub schema: Schema,
    /// The label column, if one was requested (built-in sets always have one).
    pub labels: Option<Labels>,
    /// The columns that [`ReadOptions::keep`] names, in that order.
    pub kept: Vec<Carried>,
    /// Uncertain guesses about the file, one sentence each; parameters stand between backticks, as in
    /// [`eigenfold_linalg::error`].
    pub notes: Vec<String>,
}

/// How to read a file of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The column that labels the points and is not data: a name, or a number counted from 1.
    pub label: Option<String>,
    /// The columns to leave out: names, or numbers counted from 1; also several with commas between, or patterns with stars.
    pub ignore: Vec<String>,
    /// The columns that go with the points and are not data ([`Table::kept`]): names, or numbers counted from 1. The label may
    /// be one of them.
    pub keep: Vec<String>,
    /// The columns that are categories: a feature of 0 and 1 for each of their levels, after all other features.
    pub one_hot: Vec<String>,
    /// The column that holds a vector in every row, which are the points; if not given, the only such column of a file.
    pub vector: Option<String>,
    /// The columns that a model was fitted to (`Model::schema`): those of the file are matched by name, or by position if
    /// they have no names.
    pub like: Option<Schema>,
    /// The delimiter of a text file; if not given, it is detected (comma, tab, semicolon or spaces).
    pub delimiter: Option<u8>,
    /// Whether the first row of a text file names the columns; if not given, it is detected.
    pub header: Option<bool>,
    /// The decimal separator of a text file, a point or a comma; if not given, a point.
    pub decimal: Option<u8>,
    /// Texts and numbers that mark a cell as missing, in addition to the usual ones.
    pub na: Vec<String>,
    /// Whether data cells may be missing ([`Points::missing`]); else the first one is an error.
    pub missing: bool,
    /// The memory limit in bytes for the file and its table; if not given, most of the free memory of the machine.
    pub memory: Option<u64>,
}

/// The formats that hold points.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    /// Text with this delimiter, or with one to be detected.
    Text(Option<u8>),
    Npy,
    Npz,
    Parquet,
    /// Also as a stream.
    Arrow,
}

/// Reads points from a file, from standard input (`-`), or a built-in set (`digits`, `iris`).
///
/// The extension decides the format, in any case of letters; standard input and files with another extension are known by
/// their first bytes. Files compressed by gzip or Zstandard are decompressed. `x.npz:name` is one array of an archive. A file called
/// `digits` or `iris` goes before the built-in set.
///
/// # Errors
///
/// If the file cannot be read, is not a table of numbers, or does not have the columns that `options` name. The
/// message names the row, the line and the column, and the way out.
pub fn read(source: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
    let (path, sheet) = sheet_of(source.as_ref(), options, Want::Table)?;
    sheet.table(&path, options.like.as_ref())
}

/// Reads an embedding as [`read`] reads points; if it has columns called `y1`, `y2`, ..., as the embeddings that [`write()`]
/// writes, all others are left out.
///
/// # Errors
///
/// As [`read`].
pub fn read_map(source: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
    let (path, sheet) = sheet_of(source.as_ref(), options, Want::Map)?;
    sheet.table(&path, None)
}

/// Reads the columns that [`ReadOptions::keep`] names and nothing else, from any file that [`read`] reads; if it names none, the
/// file must have one column.
///
/// # Errors
///
/// As [`read`], except that cells need not be numbers.
pub fn read_kept(source: impl AsRef<Path>, options: &ReadOptions) -> Result<Vec<Carried>> {
    Ok(sheet_of(source.as_ref(), options, Want::Kept)?.1.kept())
}

/// The content of the file of this name, and its name in messages.
fn sheet_of(source: &Path, options: &ReadOptions, want: Want) -> Result<(PathBuf, Sheet)> {
    if let Some(name) = source.to_str()
        && !is_standard(source)
        && !source.exists()
        && let Some(sheet) = builtin::read(name, options, want)
    {
        return Ok((source.into(), sheet?));
    }
    let (name, array) = source::array_in(source);
    let Source { path, format, content } = Source::open(name, options.memory)?;
    let sheet = sheet_from(&path, format, content, array, options, want)?;
    Ok((path, sheet))
}

/// The content of a file of this format; of an archive, the content of one of its arrays.
fn sheet_from(
    path: &Path,
    format: Format,
    content: Content,
    array: Option<&str>,
    options: &ReadOptions,
    want: Want,
) -> Result<Sheet> {
    match format {
        Format::Text(delimiter) => csv::read(path, &content.bytes(path, options.memory)?, delimiter, options, want),
        Format::Npy => {
            let sizes = (content.len(), content.in_memory());
            npy::read(path, &mut content.place(), sizes, None, options, want)
        }
        Format::Npz => read_npz(path, content, array, options, want),
        Format::Parquet => read_parquet(path, content, options, want),
        Format::Arrow => read_arrow(path, content.bytes(path, options.memory)?, options, want),
    }
}

/// Writes points, and after them the columns that go with them.
///
/// The extension decides the format; `-` is CSV on standard output, as is a device or pipe without one. Numbers are written so that reading them gives
/// the same bits. NPY holds neither column names nor other columns.
///
/// # Errors
///
/// If the extension is unknown, if the number of names or cells does not fit the points, or if the system refuses.
/// No partial file is left behind.
pub fn write(target: impl AsRef<Path>, columns: &[String], points: &Points, carried: &[Carried]) -> Result<()> {
    Outgoing::of_points(columns, points, carried)?.write(target.as_ref())
}

/// Whether a name stands for standard input or output.
fn is_standard(name: &Path) -> bool {
    name.as_os_str() == "-"
}

/// Writes points with their other columns and their neighbors as a Parquet file that Embedding Atlas opens.
///
/// # Errors
///
/// As [`write()`]; also if the lists do not fit the points, or this build does not include Parquet.
pub fn write_atlas(
    target: impl AsRef<Path>,
    columns: &[String],
    points: &Points,
    carried: &[Carried],
    neighbors: &Lists<'_>,
) -> Result<()> {
    let (target, cells) = (target.as_ref(), points.rows() * neighbors.k);
    if neighbors.k == 0 || neighbors.ids.len() != cells || neighbors.distances.len() != cells {
        return Err(Error::parameter(
            "neighbors",
            format!("the lists of neighbors do not fit {} points", points.rows()),
            "",
        ));
    }
    let bytes = encode_parquet(target, &Outgoing::of_points(columns, points, carried)?, Some(neighbors))?;
    write_bytes_atomically(target, |out| out.write_all(&bytes).map_err(|source| write_error(target, source)))
}

#[cfg(feature = "parquet")]
use parquet::{encoded as encode_parquet, read as read_parquet};

#[cfg(not(feature = "parquet"))]
fn no_parquet(path: &Path) -> Error {
    let fact = "this build does not include Parquet";
    format_error(path, fact, "build with `--features parquet`, or use .csv or .npy")
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _content: Content, _options: &ReadOptions, _want: Want) -> Result<Sheet> {
    Err(no_parquet(path))
}

#[cfg(not(feature = "parquet"))]
fn encode_parquet(path: &Path, _: &Outgoing, _: Option<&Lists>) -> Result<Vec<u8>> {
    Err(no_parquet(path))
}

#[cfg(feature = "arrow")]
use arrow::{encoded as encode_arrow, read as read_arrow};

#[cfg(not(feature = "arrow"))]
fn no_arrow(path: &Path) -> Error {
    format_error(path, "this build does not include Arrow", "build with `--features arrow`, or use .csv or .npy")
}

#[cfg(not(feature = "arrow"))]
fn read_arrow(path: &Path, _bytes: Vec<u8>, _options: &ReadOptions, _want: Want) -> Result<Sheet> {
    Err(no_arrow(path))
}

#[cfg(not(feature = "arrow"))]
fn encode_arrow(path: &Path, _: &Outgoing) -> Result<Vec<u8>> {
    Err(no_arrow(path))
}

#[cfg(feature = "compressed")]
use npz::read as read_npz;

#[cfg(not(feature = "compressed"))]
fn read_npz(path: &Path, _: Content, _: Option<&str>, _: &ReadOptions, _: Want) -> Result<Sheet> {
    let fact = "is an archive of arrays, and this build does not include that";
    Err(format_error(path, fact, "build with `--features compressed`, or save it as .npy"))
}

/// The format that the extension names.
fn by_extension(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" | "txt" => Some(Format::Text(None)),
        "tsv" => Some(Format::Text(Some(b'\t'))),
        "npy" => Some(Format::Npy),
        "npz" => Some(Format::Npz),
        "parquet" => Some(Format::Parquet),
        "arrow" | "feather" | "ipc" => Some(Format::Arrow),
        _ => None,
    }
}

/// Opens a file for reading; the error explains what is wrong with the name.
pub fn open(path: &Path) -> Result<File> {
    if path.is_dir() {
        return Err(format_error(path, "is a directory", "name a file in it"));
    }
    if path.is_symlink() && !path.exists() {
        return Err(format_error(path, "is a link that leads to no file", "name the file itself"));
    }
    File::open(path).map_err(|error| read_error(path, error))
}

/// Reads all of an open file or pipe, up to the memory limit; `length` is its length, 0 if that is not known.
pub fn contents(path: &Path, mut source: impl Read, length: u64, limit: Option<u64>) -> Result<Vec<u8>> {
    check_memory(path, length, limit)?;
    let most = limit.unwrap_or_else(memory::available);
    let larger = || format_error(path, format!("is larger than the limit of {}", shown_bytes(most)), SMALLER);
    // Pipes have no length, and neither have some files of the system.
    if length == 0 {
        return gathered(&mut source, most).map_err(|error| read_error(path, error))?.ok_or_else(larger);
    }
    let mut bytes = Vec::new();
    // One more byte, so that reading the end allocates nothing.
    let reserved = bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX).saturating_add(1));
    reserved.map_err(|_| format_error(path, format!("there is no room for its {}", shown_bytes(length)), SMALLER))?;
    // Some files have no end, so reading stops at the limit.
    source.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| read_error(path, error))?;
    if bytes.len() as u64 > most { Err(larger()) } else { Ok(bytes) }
}

/// What can be done about a file that is too large.
const SMALLER: &str = "give fewer rows or columns, or allow more `memory`";

/// Refuses a file that needs more memory than the limit.
fn check_memory(path: &Path, needed: u64, limit: Option<u64>) -> Result<()> {
    let limit = limit.unwrap_or_else(memory::available);
    if needed <= limit {
        return Ok(());
    }
    Err(Error::Memory { what: format!("{}: the file", path.display()), needed, limit, way_out: SMALLER.into() })
}

/// An empty vector with room for `count` numbers, or the error that memory is short.
fn room_for<T>(path: &Path, count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => {
            let size = shown_bytes((size_of::<T>() * count) as u64);
            Err(format_error(path, format!("there is no room for its numbers ({size})"), "give fewer rows or columns"))
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
fn format_error(path: &Path, fact: impl Into<String>, way_out: impl Into<String>) -> Error {
    Error::format(path, fact, way_out)
}

/// Whether [`Points`] would refuse this number.
fn is_unusable(value: f64, options: &ReadOptions) -> bool {
    if value.is_nan() { !options.missing } else { value.abs() > Points::LARGEST }
}

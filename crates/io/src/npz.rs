//! NPZ archives: the arrays of `numpy.savez` and `numpy.savez_compressed`, by their names.
//!
//! `x.npz` is its only array, or the one that is left when the label is another; `x.npz:name` is the array of this name.
//!
//! The `zip` crate reads the archive. Its entries are listed one by one, so that a directory that claims millions of files
//! allocates nothing, and the length of an array is checked against what deflate could make of its bytes.

use crate::columns::{Columns, Want};
use crate::numbers::Numbers;
use crate::sheet::Sheet;
use crate::source::{Content, Place};
use crate::{ReadOptions, format_error, npy, room_for};
use eigenfold_linalg::error::{Error, Result};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use zip::read::{ArchiveOffset, Config, ZipFileEntry};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;
use zip::{CompressionMethod, ZipReadOptions};

/// A file that every spreadsheet has, which is a zip archive too.
const SPREADSHEET: &str = "[Content_Types].xml";
/// The most files that an archive may hold.
const MOST: usize = 100_000;
/// The largest factor by which deflate can shorten a file.
const RATIO: u64 = 1032;
/// The length of the record at the end without its comment, and of the longest comment.
const END: usize = 22;
const COMMENT: u64 = 65_535;

/// Reads one array, and another as its labels if the options name it.
pub(super) fn read(
    path: &Path,
    content: Content,
    wanted: Option<&str>,
    options: &ReadOptions,
    want: Want,
) -> Result<Sheet> {
    let (length, held) = (content.len(), content.in_memory());
    let mut archive = content.place();
    let (names, mut files) = files(&mut archive, length).map_err(|reason| unreadable(path, &reason))?;
    if files.contains_key(SPREADSHEET) {
        return Err(format_error(path, "is a spreadsheet", "save the table as .csv"));
    }
    let labeled = options.label.as_deref().filter(|label| names.iter().any(|name| name == label));
    let array = chosen(path, &names, wanted, labeled)?;
    let mut matrix = |name: &str| -> Result<(Numbers, usize)> {
        let missing = || unreadable(path, &format!("{name:?} is missing"));
        let file = files.remove(&format!("{name}.npy")).ok_or_else(missing)?;
        let (size, compressed) = (file.size(), file.compressed_size());
        let possible = match file.compression() {
            CompressionMethod::Stored => size == compressed,
            _ => size <= compressed.saturating_mul(RATIO),
        };
        if !possible || compressed > length {
            return Err(unreadable(path, &format!("{name:?} claims {size} bytes and has {compressed}")));
        }
        let fail = |error: ZipError| unreadable(path, &format!("{name:?}: {}", reason(&error)));
        let mut file = file.with_reader(&mut archive, ZipReadOptions::new()).map_err(fail)?;
        let values = npy::matrix(path, &mut file, (size, held), options, want).map_err(|error| match error {
            Error::Io { .. } => unreadable(path, &format!("{name:?} cannot be decompressed")),
            error => error,
        })?;
        // The array has the length of the file; the crate compares the checksum when it reads the end.
        file.read(&mut [0; 1]).map_err(|error| fail(error.into()))?;
        Ok(values)
    };
    let (values, cols) = matrix(array)?;
    let Some(name) = labeled.filter(|labels| *labels != array) else {
        return Sheet::of_matrix(path, Columns::counted(cols), values, options, want);
    };
    let (labels, width) = matrix(name)?;
    if width != 1 || labels.len() * cols != values.len() {
        let (count, rows) = (labels.len() / width, values.len() / cols);
        let fact = format!("the array {name:?} is {count} x {width} and there are {rows} points");
        return Err(format_error(path, fact, "give one label per point, or leave out `label`"));
    }
    // As a last column, the labels are read as the labels of any file.
    let mut both = room_for(path, values.len() + labels.len())?;
    let (values, labels) = (values.into_double(), labels.into_double());
    let rows = values.chunks_exact(cols).zip(&labels);
    rows.for_each(|(row, label)| both.extend(row.iter().chain([label])));
    let options = ReadOptions { label: Some((cols + 1).to_string()), ..options.clone() };
    Sheet::of_matrix(path, Columns::counted(cols + 1), Numbers::Double(both), &options, want)
}

/// The names of the arrays of an archive of `length` bytes, in the order of its directory, and all of its files.
fn files(
    archive: &mut Box<dyn Place>,
    length: u64,
) -> std::result::Result<(Vec<String>, BTreeMap<String, ZipFileEntry<'static>>), String> {
    check_end(archive, length)?;
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let listed = ZipIterable::try_new(archive, config).map_err(|error| reason(&error))?;
    let (mut names, mut files) = (Vec::new(), BTreeMap::new());
    for file in listed.enforce_header_consistency(true).files().map_err(|error| reason(&error))? {
        let file = file.map_err(|error| reason(&error))?;
        let name = String::from_utf8_lossy(file.name_raw()).into_owned();
        if files.len() == MOST {
            return Err(format!("it holds more than {MOST} files"));
        }
        names.extend(name.strip_suffix(".npy").map(String::from));
        if files.insert(name.clone(), file).is_some() {
            return Err(format!("two of its files are called {name:?}"));
        }
    }
    Ok((names, files))
}

/// Checks that the archive ends with the record that ends a directory: other programs ignore what follows it.
fn check_end(archive: &mut Box<dyn Place>, length: u64) -> std::result::Result<(), String> {
    let mut tail = Vec::new();
    let start = archive.seek(SeekFrom::Start(length.saturating_sub(END as u64 + COMMENT)));
    start.and_then(|_| archive.read_to_end(&mut tail)).map_err(|error| error.to_string())?;
    let is_end = |record: &[u8]| {
        let comment = record.len() - END;
        record.starts_with(b"PK\x05\x06") && usize::from(u16::from_le_bytes([record[20], record[21]])) == comment
    };
    match (END..=tail.len()).any(|size| is_end(&tail[tail.len() - size..])) {
        true => Ok(()),
        false => Err("it has no directory at its end, it may be cut short".into()),
    }
}

/// What the `zip` crate found wrong.
fn reason(error: &ZipError) -> String {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => "it is encrypted".into(),
        ZipError::CompressionMethodNotSupported(method) => {
            format!("it is compressed by method {method}, not stored or deflated")
        }
        ZipError::Io(error) => error.to_string(),
        ZipError::InvalidArchive(fact) => fact.to_string(),
        error => error.to_string(),
    }
}

/// The array that is requested, or the only one beside the labels.
fn chosen<'a>(path: &Path, arrays: &'a [String], wanted: Option<&str>, labels: Option<&str>) -> Result<&'a str> {
    let shown: Vec<String> = arrays.iter().take(12).map(|name| format!("{name:?}")).collect();
    let more = if arrays.len() > 12 { ", ..." } else { "" };
    let list = format!("{}{more}", shown.join(", "));
    if let Some(wanted) = wanted {
        let missing =
            || format_error(path, format!("it does not hold the array {wanted:?}"), format!("use one of {list}"));
        return arrays.iter().find(|name| *name == wanted).map(String::as_str).ok_or_else(missing);
    }
    let rest: Vec<&String> = arrays.iter().filter(|name| Some(name.as_str()) != labels).collect();
    match (&rest[..], arrays) {
        (_, []) => Err(format_error(path, "is a zip archive without an array", "unpack it, or save an array as .npy")),
        ([one], _) => Ok(one),
        (_, [one]) => Ok(one),
        _ => {
            // A name with line ends or the like in it cannot be typed as it is shown.
            let typed = arrays.iter().find(|name| name.escape_debug().eq(name.chars()));
            let way_out = typed.map_or("save them under plain names".to_string(), |name| {
                format!("name one of them, as in {}:{name}", path.display())
            });
            Err(format_error(path, format!("holds {} arrays ({list})", arrays.len()), way_out))
        }
    }
}

/// The error of an archive that cannot be read.
fn unreadable(path: &Path, reason: &str) -> Error {
    let reason = reason.replace('\n', " ");
    format_error(path, format!("cannot be read as an archive of arrays ({reason})"), "save it again, or as .npy")
}

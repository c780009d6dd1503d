//! NPZ archives: the arrays of `numpy.savez` and `numpy.savez_compressed`, by their names.
//!
//! `x.npz` is its only array, or the one that is left when the label is another; `x.npz:name` is the array of this name.

use crate::columns::{Columns, Want};
use crate::sheet::Sheet;
use crate::source::Content;
use crate::zip::{Member, members};
use crate::{ReadOptions, format_error, npy, room_for};
use eigenfold_linalg::error::{Error, Result};
use std::path::Path;

/// What every spreadsheet has, which is a zip archive too.
const SPREADSHEET: &str = "[Content_Types].xml";

/// Reads one array, and another as its labels if the options name it.
pub(super) fn read(
    path: &Path,
    content: Content,
    wanted: Option<&str>,
    options: &ReadOptions,
    want: Want,
) -> Result<Sheet> {
    let fail = |reason: String| unreadable(path, &reason);
    let (length, held) = (content.len(), content.held());
    let mut archive = content.place();
    let files = members(&mut archive, length).map_err(fail)?;
    if files.iter().any(|file| file.name == SPREADSHEET) {
        return Err(format_error(path, "is a spreadsheet; save the table as .csv"));
    }
    let arrays: Vec<&Member> = files.iter().filter(|file| file.name.ends_with(".npy")).collect();
    let labeled = options.label.as_deref().and_then(|label| named(&arrays, label));
    let array = chosen(path, &arrays, wanted, labeled)?;
    let mut matrix = |member: &Member| -> Result<(Vec<f64>, usize)> {
        let mut unpacking = member.open(&mut archive).map_err(fail)?;
        let found = npy::matrix(path, &mut unpacking, (member.length, held), options, want);
        let found = found.map_err(|error| match error {
            Error::Io { .. } => unreadable(path, &format!("{:?} cannot be unpacked", member.name)),
            error => error,
        })?;
        unpacking.check_end().map_err(fail)?;
        Ok(found)
    };
    let (values, cols) = matrix(array)?;
    let Some(labels) = labeled.filter(|labels| *labels != array) else {
        return Sheet::of_matrix(path, Columns::counted(cols), values, options, want);
    };
    let (name, (labels, width)) = (title(labels), matrix(labels)?);
    if width != 1 || labels.len() * cols != values.len() {
        let (count, rows) = (labels.len() / width, values.len() / cols);
        let fact = format!("the array {name:?} is {count} x {width} and there are {rows} points");
        return Err(format_error(path, format!("{fact}; give one label per point, or leave out `label`")));
    }
    // As a last column, the labels are read as those of any file.
    let mut both = room_for(path, values.len() + labels.len())?;
    let rows = values.chunks_exact(cols).zip(&labels);
    rows.for_each(|(row, label)| both.extend(row.iter().chain([label])));
    let options = ReadOptions { label: Some((cols + 1).to_string()), ..options.clone() };
    Sheet::of_matrix(path, Columns::counted(cols + 1), both, &options, want)
}

/// The name of an array: that of its file without the extension.
fn title(member: &Member) -> &str {
    member.name.strip_suffix(".npy").unwrap_or(&member.name)
}

fn named<'a>(arrays: &[&'a Member], name: &str) -> Option<&'a Member> {
    arrays.iter().find(|member| title(member) == name).copied()
}

/// The array that is asked for, or the only one beside the labels.
fn chosen<'a>(path: &Path, arrays: &[&'a Member], wanted: Option<&str>, labels: Option<&Member>) -> Result<&'a Member> {
    let shown: Vec<String> = arrays.iter().take(12).map(|member| format!("{:?}", title(member))).collect();
    let more = if arrays.len() > 12 { ", ..." } else { "" };
    let list = format!("{}{more}", shown.join(", "));
    if let Some(name) = wanted {
        let missing = || format_error(path, format!("there is no array {name:?} in it; use one of {list}"));
        return named(arrays, name).ok_or_else(missing);
    }
    let rest: Vec<&Member> = arrays.iter().copied().filter(|member| Some(*member) != labels).collect();
    match (&rest[..], arrays) {
        (_, []) => Err(format_error(path, "is a zip archive without an array; unpack it, or save an array as .npy")),
        ([one], _) | (_, [one]) => Ok(one),
        _ => {
            // A name with line ends or the like in it cannot be typed as it is shown.
            let typed = arrays.iter().map(|member| title(member)).find(|name| name.escape_debug().eq(name.chars()));
            let way_out = typed.map_or("save them under plain names".to_string(), |name| {
                format!("name one of them, as in {}:{name}", path.display())
            });
            Err(format_error(path, format!("holds {} arrays ({list}); {way_out}", arrays.len())))
        }
    }
}

/// The error of an archive that cannot be read.
fn unreadable(path: &Path, reason: &str) -> Error {
    let reason = reason.replace('\n', " ");
    format_error(path, format!("cannot be read as an archive of arrays ({reason}); save it again, or as .npy"))
}

//! Several files of the same columns as one table: the rows of each below those of the file before.

use crate::columns::Role;
use crate::columns::carried::Cells;
use crate::sheet::Sheet;
use crate::{ReadOptions, Table, Want, format_error, sheet_of};
use eigenfold_linalg::error::{Error, Result, plural};
use std::path::{Path, PathBuf};

/// Reads files as [`crate::read`] does, and puts their rows one below the other, in this order.
///
/// All must have as many columns of data, under the same names; a file without names goes by the order of the columns,
/// which [`Table::notes`] reports.
///
/// # Errors
///
/// As [`crate::read`]; if a file has other columns than the first, is given twice, or if none is given.
pub fn read_all(sources: &[impl AsRef<Path>], options: &ReadOptions) -> Result<Table> {
    let sources: Vec<&Path> = sources.iter().map(AsRef::as_ref).collect();
    if let Some((_, source)) = sources.iter().enumerate().find(|(i, source)| sources[..*i].contains(source)) {
        return Err(Error::parameter("input", format!("{} is given twice", source.display()), "give every file once"));
    }
    let mut stacked: Option<(PathBuf, Sheet)> = None;
    for source in sources {
        let held = stacked.as_ref().map_or(0, |(_, sheet)| sheet.values.bytes());
        let options =
            ReadOptions { memory: options.memory.map(|memory| memory.saturating_sub(held)), ..options.clone() };
        let (path, sheet) = sheet_of(source, &options, Want::Table)?;
        stacked = Some(match stacked {
            None => (path, sheet),
            Some((first, above)) => (first.clone(), above.followed_by(&first, sheet, &path)?),
        });
    }
    let (path, sheet) = stacked.ok_or_else(|| Error::parameter("input", "no file is given", "name at least one"))?;
    sheet.table(&path, options.like.as_ref())
}

impl Sheet {
    /// The same rows, and those of another file below them; `path` is the first file.
    fn followed_by(mut self, path: &Path, below: Sheet, other: &Path) -> Result<Sheet> {
        let (ours, theirs) = (self.width, below.width);
        let first = path.display();
        if ours != theirs {
            let what = if below.roles.vector.is_some() { "number" } else { "column" };
            let fact = format!("has {} of data and {first} has {ours}", plural(theirs, what));
            return Err(format_error(other, fact, "give files with the same columns"));
        }
        let names = |sheet: &Sheet| sheet.columns.feature_names(&sheet.roles, sheet.width);
        match (names(&self), names(&below)) {
            (Some(ours), Some(theirs)) => {
                let places = match below.roles.vector {
                    Some(vector) => vec![vector; theirs.len()],
                    None => below.roles.columns(Role::Data),
                };
                let differs = places.into_iter().zip(ours.iter().zip(&theirs));
                if let Some((column, (ours, theirs))) = differs.into_iter().find(|(_, (ours, theirs))| ours != theirs) {
                    let fact = format!("column {} is called {theirs:?} and in {first} {ours:?}", column + 1);
                    return Err(format_error(other, fact, "give files with the same columns in one order"));
                }
            }
            (None, None) => {}
            (ours, _) => {
                let (named, unnamed) = if ours.is_some() { (path, other) } else { (other, path) };
                let (named, unnamed) = (named.display(), unnamed.display());
                self.notes.push(format!("{unnamed} has no names of columns; they were taken in the order of {named}"));
            }
        }
        // Names are better than none.
        if self.columns.data_names(&self.roles).is_none() && below.roles.of == self.roles.of {
            self.columns = below.columns;
        }
        self.values = self.values.followed_by(below.values).ok_or_else(|| {
            format_error(other, "there is no room for its numbers beside those before it", "give fewer rows or columns")
        })?;
        self.carried = self.carried.into_iter().zip(below.carried).map(|(above, below)| above.joined(below)).collect();
        self.rows += below.rows;
        self.notes.extend(below.notes);
        Ok(self)
    }
}

impl Cells {
    /// The same cells, and more below them: texts, unless all are numbers.
    fn joined(self, below: Cells) -> Cells {
        let texts = |cells: &Cells| (0..cells.len()).map(|i| cells.text(i)).collect::<Vec<String>>();
        match (self, below) {
            (Cells::Numbers(above), Cells::Numbers(below)) => Cells::Numbers([above, below].concat()),
            (Cells::Texts(above), Cells::Texts(below)) => Cells::Texts([above, below].concat()),
            (above, below) => Cells::Texts([texts(&above), texts(&below)].concat()),
        }
    }
}

//! Categories as features: a column of 0 and 1 for every level.

use crate::columns::Columns;
use crate::columns::carried::Cells;
use crate::format_error;
use crate::text::dialect::is_missing;
use eigenfold_linalg::error::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// The most levels of a category.
const MOST: usize = 1000;
/// The levels that a message lists.
const LISTED: usize = 12;

/// A category that becomes indicators.
pub(crate) struct Category<'a> {
    pub(crate) columns: &'a Columns,
    pub(crate) column: usize,
    pub(crate) cells: &'a Cells,
    /// Whether cells may be missing.
    pub(crate) missing: bool,
    /// The rows of the file above its cells.
    pub(crate) above: usize,
}

impl Category<'_> {
    /// The levels that a column has, sorted.
    ///
    /// # Errors
    ///
    /// If there are too many, or none.
    pub(crate) fn levels(&self, path: &Path) -> Result<Vec<String>> {
        let texts = (0..self.cells.len()).map(|i| self.cells.text(i)).filter(|text| !is_missing(text.as_bytes()));
        let levels: BTreeSet<String> = texts.collect();
        let (title, flag) = (self.columns.title(self.column), self.columns.flag(self.column));
        if levels.is_empty() {
            return Err(format_error(path, format!("{title} has no observed cell"), format!("use `ignore` {flag}"))
                .at_column(self.column));
        }
        if levels.len() > MOST {
            let (count, rows) = (levels.len(), self.cells.len());
            let fact =
                format!("{title} has {count} different values in {rows} rows, too many to be levels of a category");
            return Err(format_error(path, fact, format!("use `ignore` {flag}")).at_column(self.column));
        }
        Ok(levels.into_iter().collect())
    }

    /// The level of every row; nothing where it is missing.
    ///
    /// # Errors
    ///
    /// If a row has a level that is not among these, or none where there must be one.
    pub(crate) fn of(&self, path: &Path, levels: &[String]) -> Result<Vec<Option<usize>>> {
        let (title, flag) = (self.columns.title(self.column), self.columns.flag(self.column));
        let level = |i: usize| {
            let text = self.cells.text(i);
            if is_missing(text.as_bytes()) {
                let way_out = format!("use `missing` model, fill it in, or use `ignore` {flag}");
                let empty = || {
                    format_error(path, format!("row {}, {title} is missing", self.above + i + 1), way_out)
                        .at_row(self.above + i)
                        .at_column(self.column)
                };
                return if self.missing { Ok(None) } else { Err(empty()) };
            }
            levels.binary_search(&text).map(Some).map_err(|_| {
                let shown: String = text.chars().take(40).collect();
                let known: Vec<String> = levels.iter().take(LISTED).map(|level| format!("{level:?}")).collect();
                let more = levels.len().saturating_sub(LISTED);
                let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
                let fact = format!(
                    "row {}, {title} is {shown:?}, and the model knows {}{rest} only",
                    self.above + i + 1,
                    known.join(", ")
                );
                format_error(path, fact, "correct the cell, or fit the model with such rows, too")
                    .at_row(self.above + i)
                    .at_column(self.column)
            })
        };
        (0..self.cells.len()).map(level).collect()
    }
}

/// The names of the indicators of a category.
pub(crate) fn names(category: &str, levels: &[String]) -> Vec<String> {
    levels.iter().map(|level| format!("{category}={level}")).collect()
}

//! The columns of a table: how messages name them, and which are data, label, or left out.

pub(crate) mod carried;
mod match_schema;
pub(crate) mod one_hot;
pub(crate) mod vectors;

use crate::numbers::Real;
use crate::schema::{self, Schema};
use crate::{ReadOptions, format_error};
use eigenfold_linalg::error::{Error, Result};
use std::path::Path;

/// The role of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    Data,
    /// It goes with the points: the label, or a column that is kept.
    Carried,
    Ignored,
}

/// The part of a file that is requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Want {
    /// Points, and what goes with them.
    Table,
    /// An embedding: the columns y1, y2, ... alone, if there are any.
    Map,
    /// The kept columns alone; of a file with one column, that one.
    Kept,
}

/// The roles of all columns.
#[derive(Clone, Debug)]
pub(crate) struct Roles {
    /// One per column.
    pub(crate) of: Vec<Role>,
    /// The column that labels the points.
    pub(crate) label: Option<usize>,
    /// The columns that are kept, in the order of the options.
    pub(crate) kept: Vec<usize>,
    /// The columns that are categories.
    pub(crate) one_hot: Vec<usize>,
    /// The data columns in the order of a model, where it is known.
    pub(crate) order: Option<Vec<usize>>,
    /// The column of vectors, if the points are in one: it is all of the data.
    pub(crate) vector: Option<usize>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

impl Roles {
    /// How many columns have this role.
    pub(crate) fn count(&self, wanted: Role) -> usize {
        self.of.iter().filter(|&&role| role == wanted).count()
    }

    /// Whether they are those of the table of a model: as many features of numbers, which are given, and as many categories.
    pub(crate) fn follows(&self, like: &Schema, width: usize) -> bool {
        let is_category = |column: &&schema::Column| matches!(column.role, schema::Role::OneHot(_));
        let categories = like.columns.iter().filter(is_category).count();
        width == like.indicators().start && self.one_hot.len() == categories
    }

    /// The columns of this role.
    pub(crate) fn columns(&self, wanted: Role) -> Vec<usize> {
        (0..self.of.len()).filter(|&column| self.of[column] == wanted).collect()
    }
}

/// The columns of a file, named or only counted.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    names: Option<Vec<String>>,
    count: usize,
    /// Those that hold a vector of numbers in every row.
    vectors: Vec<usize>,
    /// Whether they are the entries of vectors, which cannot be left out one by one.
    entries: bool,
    /// Whether it was only guessed that the first row names them or does not.
    detected: bool,
}

impl Columns {
    /// Columns that have names.
    pub(crate) fn named(names: Vec<String>) -> Columns {
        Columns { count: names.len(), names: Some(names), vectors: Vec::new(), entries: false, detected: false }
    }

    /// Columns that are only counted.
    pub(crate) fn counted(count: usize) -> Columns {
        Columns { names: None, count, vectors: Vec::new(), entries: false, detected: false }
    }

    /// The same, where the file does not say whether its first row names them.
    pub(crate) fn detected(self) -> Columns {
        Columns { detected: true, ..self }
    }

    /// The same, where these hold a vector of numbers in every row.
    pub(crate) fn with_vectors(self, vectors: Vec<usize>) -> Columns {
        Columns { vectors, ..self }
    }

    /// The entries of a vector.
    pub(crate) fn entries(names: Vec<String>) -> Columns {
        Columns { entries: true, ..Columns::named(names) }
    }

    /// Whether a column holds vectors.
    pub(crate) fn is_vector(&self, column: usize) -> bool {
        self.vectors.contains(&column)
    }

    /// What else may be done about a cell of this row, if it may be a name: the end of a message.
    pub(crate) fn header_way_out(&self, row: usize) -> &'static str {
        let unnamed = self.detected && self.names.is_none() && row == 1;
        if unnamed { ", or `header` yes if this row names the columns" } else { "" }
    }

    /// Their names, if they have any.
    pub(crate) fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The number of columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The role of each column.
    pub(crate) fn roles(&self, path: &Path, options: &ReadOptions, want: Want) -> Result<Roles> {
        let flag = if want == Want::Kept { &format!("{}:COLUMN", path.display()) } else { "`keep`" };
        let kept = options.keep.iter().map(|wanted| self.find_one(path, flag, wanted));
        let mut kept = kept.collect::<Result<Vec<usize>>>()?;
        if want == Want::Kept {
            if kept.is_empty() && self.count == 1 {
                kept.push(0);
            }
            if kept.is_empty() {
                let (count, listed) = (self.count, self.listed());
                return Err(format_error(
                    path,
                    format!("it has {count} columns and one is wanted"),
                    format!("use {flag} with {listed}"),
                ));
            }
            let role = |column: usize| if kept.contains(&column) { Role::Carried } else { Role::Ignored };
            let of = (0..self.count).map(role).collect();
            let (one_hot, notes) = (Vec::new(), Vec::new());
            return Ok(Roles { of, label: None, kept, one_hot, order: None, vector: None, notes });
        }
        if let Some(like) = options.like.as_ref().filter(|_| want == Want::Table)
            && let Some(roles) = self.roles_like(path, like, options, kept.clone())?
        {
            return Ok(roles);
        }
        let mut roles = vec![Role::Data; self.count];
        let coordinates = if want == Want::Map && options.vector.is_none() { self.coordinates() } else { Vec::new() };
        if !coordinates.is_empty() {
            roles =
                (0..self.count).map(|c| if coordinates.contains(&c) { Role::Data } else { Role::Ignored }).collect();
        }
        let ignored = options.ignore.iter().map(|wanted| self.find_all(path, "`ignore`", wanted));
        let ignored = ignored.collect::<Result<Vec<_>>>()?.concat();
        ignored.iter().for_each(|&column| roles[column] = Role::Ignored);
        let vector = self.vector(path, options, &roles)?;
        let aside = vector.map_or(Vec::new(), |vector| self.left_aside(vector, &mut roles));
        let label = options.label.as_ref().map(|wanted| self.find_one(path, "`label`", wanted)).transpose()?;
        if let Some(label) = label.filter(|label| ignored.contains(label)) {
            let fact = format!("{} is both the label and left out", self.title(label));
            return Err(format_error(path, fact, "use one of the two").at_column(label));
        }
        let one_hot = options.one_hot.iter().map(|wanted| self.find_all(path, "`one-hot`", wanted));
        let mut one_hot = one_hot.collect::<Result<Vec<_>>>()?.concat();
        one_hot.sort_unstable();
        one_hot.dedup();
        let otherwise = |&&c: &&usize| ignored.contains(&c) || label == Some(c);
        if let Some(&column) = one_hot.iter().find(otherwise) {
            let (title, what) = (self.title(column), if label == Some(column) { "the label" } else { "left out" });
            return Err(format_error(path, format!("{title} is both a category and {what}"), "use one of the two")
                .at_column(column));
        }
        let carried = || label.iter().chain(&kept).chain(&one_hot);
        if let Some(&column) = carried().find(|column| self.is_vector(**column)) {
            let fact = format!("{} holds vectors, which can only be the points", self.title(column));
            return Err(format_error(path, fact, "name another column").at_column(column));
        }
        carried().for_each(|&column| roles[column] = Role::Carried);
        let notes = vector.filter(|_| options.vector.is_none());
        let notes = notes.map(|vector| self.vector_note(vector, &aside, &roles)).into_iter().collect();
        if !roles.contains(&Role::Data) && one_hot.is_empty() {
            return Err(format_error(
                path,
                format!("none of the {} columns is left for the data", self.count),
                "keep at least one",
            ));
        }
        Ok(Roles { of: roles, label, kept, one_hot, order: None, vector, notes })
    }

    /// The columns y1, y2, ... of an embedding.
    fn coordinates(&self) -> Vec<usize> {
        let names = self.names.as_deref().unwrap_or_default();
        (1..).map_while(|q| names.iter().position(|name| *name == format!("y{q}"))).collect()
    }

    /// The column of this name or number, where only one can be meant.
    pub(crate) fn find_one(&self, path: &Path, flag: &str, wanted: &str) -> Result<usize> {
        let found = self.find(path, flag, wanted)?;
        if found.len() > 1 {
            let numbers: Vec<String> = found.iter().map(|c| (c + 1).to_string()).collect();
            let (count, numbers) = (found.len(), numbers.join(" or "));
            let way_out = format!("use {flag} with a number ({numbers})");
            return Err(format_error(path, format!("{count} columns are called {wanted:?}"), way_out));
        }
        Ok(found[0])
    }

    /// The columns of this name or, if no column has it, of this number counted from 1.
    fn find(&self, path: &Path, flag: &str, wanted: &str) -> Result<Vec<usize>> {
        let names = self.names.as_deref().unwrap_or_default();
        let named: Vec<usize> = (0..names.len()).filter(|&c| names[c] == wanted).collect();
        if !named.is_empty() {
            return Ok(named);
        }
        match wanted.parse::<usize>() {
            Ok(number) if (1..=self.count).contains(&number) => Ok(vec![number - 1]),
            _ => Err(format_error(
                path,
                format!("column {wanted:?} was not found"),
                format!("use {flag} with {}", self.listed()),
            )),
        }
    }

    /// The columns of this name or number; else of each of the names between its commas; else of all names that it matches,
    /// with stars for anything.
    pub(crate) fn find_all(&self, path: &Path, flag: &str, wanted: &str) -> Result<Vec<usize>> {
        let names = self.names.as_deref().unwrap_or_default();
        if names.iter().any(|name| name == wanted) || !wanted.contains([',', '*']) {
            return self.find(path, flag, wanted);
        }
        if wanted.contains(',') {
            let parts = wanted.split(',').map(str::trim).filter(|part| !part.is_empty());
            let found = parts.map(|part| self.find_all(path, flag, part)).collect::<Result<Vec<_>>>()?;
            return Ok(found.concat());
        }
        let found: Vec<usize> = (0..names.len()).filter(|&c| matches(wanted, &names[c])).collect();
        if found.is_empty() {
            let fact = format!("no column matches {wanted:?}");
            return Err(format_error(path, fact, format!("use {flag} with {}", self.listed())));
        }
        Ok(found)
    }

    /// The columns that a user can name.
    fn listed(&self) -> String {
        match &self.names {
            None if self.detected => {
                let count = self.count;
                format!("a number from 1 to {count}, or `header` yes if the first row names the columns")
            }
            None => format!("a number from 1 to {} (the file has no header)", self.count),
            Some(names) if names.len() <= 12 => format!("one of {}", quoted(names)),
            // Labels stand in the first or in the last columns.
            Some(names) => {
                let (first, last) = (quoted(&names[..6]), quoted(&names[names.len() - 4..]));
                format!("one of {first}, {last}, and {} more", names.len() - 10)
            }
        }
    }

    /// The names of the data columns.
    pub(crate) fn data_names(&self, roles: &Roles) -> Option<Vec<String>> {
        let names = self.names.as_ref()?;
        Some(roles.columns(Role::Data).into_iter().map(|column| names[column].clone()).collect())
    }

    /// The name of a carried column, made up if it has none.
    pub(crate) fn carried_name(&self, column: usize) -> String {
        self.name(column).map_or_else(|| format!("column{}", column + 1), String::from)
    }

    /// The column as a message names it: `column "mass"`, or `column 3`.
    pub(crate) fn title(&self, column: usize) -> String {
        match self.name(column) {
            Some(name) => format!("column {name:?}"),
            None => format!("column {}", column + 1),
        }
    }

    /// The column as a user types it after `--ignore`.
    pub(crate) fn flag(&self, column: usize) -> String {
        match self.name(column) {
            Some(name) if name.contains(|c: char| !c.is_alphanumeric() && !"_-.".contains(c)) => format!("{name:?}"),
            Some(name) => name.into(),
            None => (column + 1).to_string(),
        }
    }

    fn name(&self, column: usize) -> Option<&str> {
        self.names.as_ref().and_then(|names| names.get(column)).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The error of a number that [`crate::Points`] refuses; `row` counts from 1.
    pub(crate) fn bad_number(&self, path: &Path, row: usize, line: Option<usize>, column: usize, value: f64) -> Error {
        let (place, title) = (place(row, line), self.title(column));
        let ignore = self.ignore_way_out(column);
        let (what, way_out) = if value.is_infinite() {
            ("infinite".into(), format!("replace it, remove the row{ignore}"))
        } else {
            let way_out = format!("rescale the column{}", ignore.trim_start_matches(','));
            (format!("{value:e}, beyond {:e}", crate::Points::LARGEST), way_out)
        };
        let error = format_error(path, format!("{place}, {title} is {what}"), way_out);
        error.at_row(row - 1).at_column(column)
    }

    /// The error of the first of `all` missing values; `place` names its row, as the function [`place`] does.
    pub(crate) fn missing(&self, path: &Path, place: &str, column: usize, what: &str, all: Gone) -> Error {
        let (title, ignore) = (self.title(column), self.ignore_way_out(column));
        let rows = if all.rows == 1 { "row" } else { "rows" };
        let first = format!(", the first of {} missing cells in {} {rows}", all.cells, all.rows);
        let first = if all.cells > 1 { first } else { String::new() };
        let way_out = format!("use `missing` model, mean or drop, fill it in{ignore}");
        format_error(path, format!("{place}, {title} {what}{first}"), way_out).at_column(column)
    }

    /// That a column may be left out, if it may: the end of a message.
    fn ignore_way_out(&self, column: usize) -> String {
        if self.entries { String::new() } else { format!(", or use `ignore` {}", self.flag(column)) }
    }

    /// The error of a label column whose cells are all missing.
    pub(crate) fn unlabeled(&self, path: &Path, column: usize) -> Error {
        let (title, flag) = (self.title(column), self.flag(column));
        let way_out = format!("name another column, or use `ignore` {flag} instead of `label`");
        format_error(path, format!("no row has a label in {title}"), way_out).at_column(column)
    }
}

/// How much is missing of a table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gone {
    pub(crate) cells: usize,
    pub(crate) rows: usize,
}

impl Gone {
    /// Counts the NaN in rows of `width` numbers.
    pub(crate) fn of<T: Real>(values: &[T], width: usize) -> Gone {
        let in_row = |row: &[T]| row.iter().filter(|&&x| x.into().is_nan()).count();
        values
            .chunks_exact(width.max(1))
            .map(in_row)
            .filter(|&cells| cells > 0)
            .fold(Gone::default(), |all, cells| Gone { cells: all.cells + cells, rows: all.rows + 1 })
    }
}

/// Whether a name matches a pattern, in which a star stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Names in a message, each between quotes.
pub(crate) fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// The row as a message names it; rows of data count from 1, and lines as an editor counts them.
pub(crate) fn place(row: usize, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("row {row} (line {line})"),
        None => format!("row {row}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name) in [("meta_*", "meta_id"), ("*", ""), ("*_id", "a_id"), ("a*b*c", "a-b-b-c"), ("a*a", "aa")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("meta_*", "metaid"), ("*_id", "a_id2"), ("a*b*c", "acb"), ("a*a", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn an_exact_name_goes_before_a_list_and_a_pattern() {
        let names = ["a", "b", "a,b", "m*", "m1", "m2"].map(String::from);
        let columns = Columns::named(names.to_vec());
        let found = |wanted: &str| columns.find_all(Path::new("t"), "`ignore`", wanted).map_err(|e| e.to_string());
        assert_eq!(found("a,b"), Ok(vec![2]));
        assert_eq!(found("b, a"), Ok(vec![1, 0]));
        assert_eq!(found("m*"), Ok(vec![3]));
        assert_eq!(found("m*,"), Ok(vec![3]));
        assert_eq!(found("*1,2"), Ok(vec![4, 1]));
        assert!(found("x*").unwrap_err().contains("no column matches \"x*\"; use `ignore` with one of"));
        assert!(found("a,x").unwrap_err().contains("column \"x\" was not found"));
    }
}

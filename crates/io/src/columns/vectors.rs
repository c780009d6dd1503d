//! Columns of vectors: which of them holds the points, and the notes about the other columns.
//!
//! A vector in every row, as models of text and images give them, is one block of features. If a file has one such column, it
//! holds the points, and the other columns describe them: ids, texts, years. They are features only if the vectors are left
//! out by name.

use crate::columns::{Columns, Role, Roles, quoted};
use crate::numbers::{Numbers, Places};
use crate::schema;
use crate::sheet::Gathered;
use crate::{ReadOptions, check_memory, format_error};
use eigenfold_linalg::error::{Error, Result, plural};
use std::path::Path;

/// The names that a message lists.
const LISTED: usize = 5;

impl Columns {
    /// The column of vectors that holds the points: the requested one, or the only one.
    pub(crate) fn vector(&self, path: &Path, options: &ReadOptions, roles: &[Role]) -> Result<Option<usize>> {
        let open: Vec<usize> = (0..self.count()).filter(|&c| self.is_vector(c) && roles[c] == Role::Data).collect();
        if let Some(wanted) = &options.vector {
            let column = self.find_one(path, "`vector`", wanted)?;
            if !self.is_vector(column) {
                return Err(self.no_vector(path, column));
            }
            if !open.contains(&column) {
                let fact = format!("{} is both the points and left out", self.title(column));
                return Err(format_error(path, fact, "use one of the two").at_column(column));
            }
            return Ok(Some(column));
        }
        match open[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            [first, ..] => {
                let titles: Vec<String> = open.iter().map(|&c| self.carried_name(c)).collect();
                let (listed, flag) = (listed(&titles), self.flag(first));
                let fact = format!("columns {listed} hold vectors, and the points can be in one of them");
                Err(format_error(path, fact, format!("use `vector` with its name, as in `vector` {flag}")))
            }
        }
    }

    /// The error of a column that was requested as vectors and holds none.
    pub(crate) fn no_vector(&self, path: &Path, column: usize) -> Error {
        let vectors: Vec<String> = (0..self.count()).filter(|&c| self.is_vector(c)).map(|c| self.flag(c)).collect();
        let way_out = match vectors.first() {
            Some(vector) => format!("use `vector` {vector}"),
            None => "leave out `vector`: the file has no column of vectors of numbers".into(),
        };
        format_error(path, format!("{} holds no vectors of numbers", self.title(column)), way_out).at_column(column)
    }

    /// The error of a column of vectors in which there is not a single number.
    pub(crate) fn no_numbers(&self, path: &Path, column: usize) -> Error {
        let fact = format!("no row of {} has a vector with a number", self.title(column));
        format_error(path, fact, format!("use `ignore` {}", self.flag(column))).at_column(column)
    }

    /// Ignores all columns but the vectors; the columns that were data until now.
    pub(crate) fn left_aside(&self, vector: usize, roles: &mut [Role]) -> Vec<usize> {
        let aside: Vec<usize> = (0..self.count()).filter(|&c| c != vector && roles[c] == Role::Data).collect();
        aside.iter().for_each(|&column| roles[column] = Role::Ignored);
        aside
    }

    /// The note about vectors that were detected and not requested.
    pub(crate) fn vector_note(&self, vector: usize, aside: &[usize], roles: &[Role]) -> String {
        let (title, flag) = (self.title(vector), self.flag(vector));
        let aside = aside.iter().filter(|&&column| roles[column] == Role::Ignored);
        let aside: Vec<String> = aside.map(|&column| self.carried_name(column)).collect();
        let rest = match aside.len() {
            0 => String::new(),
            1 => format!(" and column {} left aside", listed(&aside)),
            _ => format!(" and columns {} left aside", listed(&aside)),
        };
        let fact = format!("the vectors of {title} were taken for the points{rest}");
        format!("{fact}; use `vector` {flag} if that is right, or `ignore` {flag} if not")
    }

    /// The names of the features: those of the data columns, or of the `width` entries of a vector.
    pub(crate) fn feature_names(&self, roles: &Roles, width: usize) -> Option<Vec<String>> {
        match roles.vector {
            Some(vector) => {
                let name = self.carried_name(vector);
                Some((0..width).map(|at| schema::entry(&name, at)).collect())
            }
            None => self.data_names(roles),
        }
    }
}

/// The vectors of a column on their way in, all of one length.
pub(crate) struct Block<'a> {
    path: &'a Path,
    columns: &'a Columns,
    pub(crate) column: usize,
    options: &'a ReadOptions,
    /// How many rows the file claims.
    rows: usize,
    /// The bytes that are in memory beside the vectors.
    in_memory: u64,
    /// The first vector: its row counted from 1, and its length.
    first: Option<(usize, usize)>,
    /// The rows that were seen.
    seen: usize,
    /// The rows of the file above them.
    above: usize,
    /// The least number of rows that there must be room for: one row of a batch may hold a vector of any length.
    least: usize,
    gathered: Gathered,
}

impl<'a> Block<'a> {
    /// An empty block for a column of `rows` rows, in single or double precision; `in_memory` bytes are in memory already.
    pub(crate) fn new(
        path: &'a Path,
        columns: &'a Columns,
        column: usize,
        single: bool,
        (rows, in_memory): (usize, u64),
        options: &'a ReadOptions,
    ) -> Block<'a> {
        let (first, gathered) = (None, Gathered { numbers: Numbers::empty(single), ..Gathered::default() });
        Block { path, columns, column, options, rows, in_memory, first, seen: 0, above: 0, least: 0, gathered }
    }

    /// The same for rows that have others above them: how many, and the first vector among those, by its row counted from 1
    /// and its length.
    pub(crate) fn below(self, above: usize, first: Option<(usize, usize)>) -> Block<'a> {
        Block { above, first, least: crate::batches::LEAST, ..self }
    }

    /// The first vector of the file: its row counted from 1, and its length.
    pub(crate) fn first(&self) -> Option<(usize, usize)> {
        self.first
    }

    /// The length of all vectors, if one was seen.
    pub(crate) fn width(&self) -> Option<usize> {
        self.first.map(|(_, width)| width)
    }

    /// Adds a row without a vector.
    pub(crate) fn push_null(&mut self) -> Result<()> {
        self.pass(1)?;
        self.mark_null();
        let numbers = &mut self.gathered.numbers;
        numbers.resize(numbers.len() + self.first.map_or(0, |(_, width)| width), f64::NAN);
        Ok(())
    }

    /// Notes that an entry of the last row is null.
    pub(crate) fn mark_null(&mut self) {
        self.gathered.first_null.get_or_insert(self.seen);
    }

    /// Replaces the missing entries of the last row, which has `length` of them, by NaN.
    pub(crate) fn mark_missing(&mut self, is_missing: impl Fn(usize) -> bool, length: usize) {
        let missing: Vec<usize> = (0..length).filter(|&entry| is_missing(entry)).collect();
        let start = self.gathered.numbers.len() - length;
        if !missing.is_empty() {
            self.mark_null();
        }
        missing.into_iter().for_each(|entry| self.gathered.numbers.set(start + entry, f64::NAN));
    }

    /// Adds rows with vectors of this length; the numbers are to be put where they have their place.
    pub(crate) fn push(&mut self, count: usize, length: usize) -> Result<Places<'_>> {
        match self.first {
            None => self.learn(length)?,
            Some(first) if first.1 != length => {
                return Err(self.unequal(first, self.above + self.seen + 1, length, ""));
            }
            Some(_) => {}
        }
        self.pass(count)?;
        let numbers = &mut self.gathered.numbers;
        let start = numbers.len();
        // There is room for all rows that the file claims.
        numbers.resize(start + count * length, 0.0);
        Ok(numbers.places(start))
    }

    /// The column, when all of its rows are there.
    pub(crate) fn finished(self) -> Result<Gathered> {
        let (path, title) = (self.path, self.columns.title(self.column));
        if self.seen != self.rows {
            let fact = format!("it claims {} rows, and {title} holds {}", self.rows, self.seen);
            return Err(format_error(path, fact, "write it again"));
        }
        if self.rows == 0 {
            return Err(format_error(path, "holds no rows", "give at least two points"));
        }
        // In a batch, the length may be that of a vector below it.
        if self.least == 0 && self.width().unwrap_or(0) == 0 {
            return Err(self.columns.no_numbers(path, self.column));
        }
        Ok(self.gathered)
    }

    /// The error of a vector of another length than the first, whose row and length are given; `more` stands before the length.
    pub(crate) fn unequal(&self, (first, width): (usize, usize), row: usize, length: usize, more: &str) -> Error {
        let (title, numbers) = (self.columns.title(self.column), plural(length, "number"));
        let fact = format!("row {row}, {title} has {more}{numbers} and row {first} has {width}");
        let way_out =
            format!("give every row a vector of one length, or use `ignore` {}", self.columns.flag(self.column));
        format_error(self.path, fact, way_out).at_row(row.saturating_sub(1)).at_column(self.column)
    }

    /// Counts rows, of which there may be no more than the file claims.
    fn pass(&mut self, count: usize) -> Result<()> {
        self.seen += count;
        if self.seen > self.rows {
            let (rows, title) = (self.rows, self.columns.title(self.column));
            let fact = format!("it claims {rows} rows, and {title} holds more");
            return Err(format_error(self.path, fact, "write it again"));
        }
        Ok(())
    }

    /// Makes room for all vectors when the first of them tells their length.
    fn learn(&mut self, length: usize) -> Result<()> {
        self.first = Some((self.above + self.seen + 1, length));
        self.check_room(length)?;
        let numbers = &mut self.gathered.numbers;
        *numbers = Numbers::with_room(self.path, self.rows.saturating_mul(length), numbers.is_single())?;
        numbers.resize(self.seen * length, f64::NAN);
        Ok(())
    }

    /// Refuses vectors of a length that all rows have no room for.
    fn check_room(&self, length: usize) -> Result<()> {
        let rows = self.rows.max(self.least) as u64;
        // Where a number is missing, all of them are widened.
        let single = self.gathered.numbers.is_single() && !self.options.missing;
        let size = if single { size_of::<f32>() } else { size_of::<f64>() };
        let numbers = rows.saturating_mul(length as u64).saturating_mul(size as u64);
        check_memory(self.path, numbers.saturating_add(self.in_memory), self.options.memory)
    }
}

/// Names in a message, the first few of them.
pub(crate) fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", quoted(&names[..names.len().min(LISTED)]))
}

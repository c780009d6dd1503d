//! The content of a file before it becomes a table: the roles of its columns, and their values.

use crate::columns::carried::{Carried, Cells};
use crate::columns::one_hot::{self, Category};
use crate::columns::{Columns, Gone, Role, Roles, Want, place};
use crate::labels::Labels;
use crate::numbers::Numbers;
use crate::schema::{self, Column, Schema};
use crate::{ReadOptions, Table, format_error, is_unusable};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Result, plural};
use std::path::Path;

/// What is said of a cell or a vector that is null.
const NULL: &str = "is missing (null)";

/// The content of a file.
pub(super) struct Sheet {
    pub(super) columns: Columns,
    pub(super) roles: Roles,
    /// The data, row by row.
    pub(super) values: Numbers,
    /// How many numbers a row of the data has.
    pub(super) width: usize,
    /// The carried columns, in the file's order.
    pub(super) carried: Vec<Cells>,
    /// The number of rows.
    pub(super) rows: usize,
    /// Uncertain guesses.
    pub(super) notes: Vec<String>,
    /// Whether cells may be missing.
    pub(super) missing: bool,
    /// The rows of the file that it has.
    pub(super) extent: Extent,
}

/// Which rows of a file a sheet has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// How many rows of the file are above.
    pub(super) above: usize,
    /// Whether there may be others, so that what is true of all rows cannot be known.
    pub(super) partial: bool,
}

impl Extent {
    /// How much is missing of these values, if they are all of the file's.
    pub(super) fn gone(self, values: &Numbers, width: usize) -> Gone {
        if self.partial { Gone::default() } else { values.gone(width) }
    }
}

/// A column that is being read: numbers or texts.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) numbers: Numbers,
    pub(super) texts: Vec<String>,
    /// The bytes of all texts.
    pub(super) length: u64,
    /// Counted from 1.
    pub(super) first_null: Option<usize>,
}

impl Sheet {
    /// The sheet of columns that were read one by one: those that are not left out, in the file's order. A column of vectors
    /// has them one after the other.
    pub(super) fn of_columns(
        path: &Path,
        columns: Columns,
        roles: Roles,
        rows: usize,
        gathered: Vec<Gathered>,
        options: &ReadOptions,
        extent: Extent,
    ) -> Result<Sheet> {
        let (mut data, mut nulls, mut carried) = (Vec::new(), Vec::new(), Vec::new());
        let wanted = (0..roles.of.len()).filter(|&c| roles.of[c] != Role::Ignored);
        for (c, Gathered { mut numbers, texts, first_null, .. }) in wanted.zip(gathered) {
            if roles.of[c] == Role::Carried {
                let cells =
                    if texts.is_empty() { Cells::Numbers(numbers.into_double()) } else { Cells::from_texts(texts) };
                carried.push(cells.without_marks(options));
                continue;
            }
            numbers.unmark(options);
            nulls.push(first_null);
            data.push(numbers);
        }
        let width = match (roles.vector, &data[..]) {
            (Some(_), [numbers]) => numbers.len().checked_div(rows).unwrap_or(0),
            _ => data.len(),
        };
        let values = Numbers::interleaved(path, data, rows)?;
        let (notes, missing) = (Vec::new(), options.missing);
        let sheet = Sheet { columns, roles, values, width, carried, rows, notes, missing, extent };
        let first_null = nulls.first().copied().flatten();
        if let Some(null) = first_null.filter(|_| sheet.without_length().is_some() && !options.missing) {
            let (row, of, column) = sheet.with_length(1).place(null - 1);
            let gone = Gone::default();
            return Err(of.missing(path, &place(row, None), column, NULL, gone).at_row(row - 1));
        }
        if let Some(at) = sheet.values.position(|value| !value.is_nan() && is_unusable(value, options)) {
            let (row, of, column) = sheet.place(at);
            return Err(of.bad_number(path, row, None, column, sheet.values.at(at)));
        }
        if let Some(at) = sheet.values.position(f64::is_nan).filter(|_| !options.missing) {
            let (row, of, column) = sheet.place(at);
            let is_null = nulls.get(at % width.min(nulls.len())).is_some_and(|&null| null == Some(at / width + 1));
            let what = if is_null { NULL } else { "is not a number (NaN)" };
            let gone = extent.gone(&sheet.values, width);
            return Err(of.missing(path, &place(row, None), column, what, gone).at_row(row - 1));
        }
        Ok(sheet)
    }

    /// The vector column of rows that all have no vector, so that their length is that of a vector below them.
    pub(super) fn without_length(&self) -> Option<usize> {
        self.roles.vector.filter(|_| self.width == 0)
    }

    /// The same rows, with the length of the first vector below them.
    pub(super) fn with_length(mut self, length: usize) -> Sheet {
        self.width = length;
        self.values.resize(self.rows * length, f64::NAN);
        self
    }

    /// Where a value is in the file: its row counted from 1, and its column among those that messages name, which are the
    /// entries of vectors.
    fn place(&self, at: usize) -> (usize, Columns, usize) {
        let (row, feature) = (self.extent.above + at / self.width + 1, at % self.width);
        match self.roles.vector {
            Some(_) => {
                let names = self.columns.feature_names(&self.roles, self.width).unwrap_or_default();
                (row, Columns::entries(names), feature)
            }
            None => (row, self.columns.clone(), self.roles.columns(Role::Data)[feature]),
        }
    }

    /// The sheet of a whole matrix: `values` is row-major and has all the columns that `columns` names.
    pub(super) fn of_matrix(
        path: &Path,
        columns: Columns,
        values: Numbers,
        options: &ReadOptions,
        want: Want,
    ) -> Result<Sheet> {
        let roles = columns.roles(path, options, want)?;
        Sheet::of_rows(path, columns, roles, values, options, Extent::default())
    }

    /// The sheet of some rows of a matrix.
    pub(super) fn of_rows(
        path: &Path,
        columns: Columns,
        roles: Roles,
        mut values: Numbers,
        options: &ReadOptions,
        extent: Extent,
    ) -> Result<Sheet> {
        values.unmark(options);
        let width = columns.count();
        let rows = values.len().checked_div(width).unwrap_or(0);
        let cells = |c: usize| Cells::Numbers(values.picked(width, &[c]).into_double());
        let carried = roles.columns(Role::Carried).into_iter().map(cells).collect();
        let data = roles.columns(Role::Data);
        let values = if data.len() == width { values } else { values.picked(width, &data) };
        if let Some(at) = values.position(|value| is_unusable(value, options)) {
            let (row, column) = (extent.above + at / data.len() + 1, data[at % data.len()]);
            if values.at(at).is_nan() {
                let gone = extent.gone(&values, data.len());
                let what = "is not a number (NaN)";
                return Err(columns.missing(path, &place(row, None), column, what, gone).at_row(row - 1));
            }
            return Err(columns.bad_number(path, row, None, column, values.at(at)));
        }
        let (width, notes, missing) = (data.len(), Vec::new(), options.missing);
        Ok(Sheet { columns, roles, values, width, carried, rows, notes, missing, extent })
    }

    /// Points, labels and carried columns; the columns as `like` has them, if it is given.
    pub(super) fn table(mut self, path: &Path, like: Option<&Schema>) -> Result<Table> {
        self.check_length(path, like)?;
        let labels = match self.roles.label {
            Some(label) => match self.cells(label).and_then(Labels::from_cells) {
                // The label column of a model may be empty in new rows, and other rows may have labels.
                None if like.is_none() && !self.extent.partial => return Err(self.columns.unlabeled(path, label)),
                found => found,
            },
            None => None,
        };
        let kept = self.kept();
        let named = self.columns.names().is_some();
        let mut names = self.names();
        let schema = self.schema(path, like)?;
        self.put_in_order();
        names.extend(self.add_indicators(path, &schema)?);
        let said = self.roles.notes.iter().map(|note| format!("{}: {note}", path.display()));
        let notes = self.notes.drain(..).chain(said).collect();
        let points =
            points_of(self.rows, names.len(), self.values, self.extent).map_err(|error| error.in_file(path))?;
        let columns = named.then_some(names);
        Ok(Table { points, columns, schema, labels, kept, notes })
    }

    /// Refuses vectors of another length than those of the model.
    fn check_length(&self, path: &Path, like: Option<&Schema>) -> Result<()> {
        let length = like.and_then(Schema::vector_length).filter(|&length| length != self.width);
        let Some((column, length)) = self.roles.vector.zip(length) else { return Ok(()) };
        let (title, numbers) = (self.columns.title(column), plural(self.width, "number"));
        let fact = format!("the vectors of {title} have {numbers} and those of the model {length}");
        let way_out = "use `vector` with the column that it is, or fit the model to such vectors";
        Err(format_error(path, fact, way_out).at_column(column))
    }

    /// The names of the features, in the order of the model where it is known; empty where there are none.
    fn names(&self) -> Vec<String> {
        if self.roles.vector.is_some() {
            return self.columns.feature_names(&self.roles, self.width).unwrap_or_default();
        }
        let name = |c: usize| self.columns.names().map_or(String::new(), |names| names[c].clone());
        self.data().into_iter().map(name).collect()
    }

    /// The data columns, in the order of the model where it is known.
    fn data(&self) -> Vec<usize> {
        self.roles.order.clone().unwrap_or_else(|| self.roles.columns(Role::Data))
    }

    /// The roles of the columns, and the levels of categories.
    fn schema(&self, path: &Path, like: Option<&Schema>) -> Result<Schema> {
        if let Some(like) = like.filter(|like| self.roles.follows(like, self.width)) {
            return Ok(like.clone());
        }
        let role = |c: usize| match self.roles.of[c] {
            Role::Data if self.roles.vector == Some(c) => Ok(schema::Role::Vector(self.width)),
            Role::Data => Ok(schema::Role::Data),
            _ if self.roles.label == Some(c) => Ok(schema::Role::Label),
            Role::Carried | Role::Ignored => match self.category(c) {
                Some(category) => Ok(schema::Role::OneHot(category.levels(path)?)),
                None => Ok(schema::Role::Ignored),
            },
        };
        let name = |c: usize| self.columns.names().map(|names| names[c].clone());
        let column = |c: usize| Ok(Column { name: name(c), role: role(c)? });
        Ok(Schema { columns: (0..self.columns.count()).map(column).collect::<Result<_>>()? })
    }

    /// Puts the data columns in the order of the model.
    fn put_in_order(&mut self) {
        if self.roles.vector.is_some() {
            return;
        }
        let there = self.roles.columns(Role::Data);
        let order: Vec<usize> = self.data().iter().filter_map(|c| there.iter().position(|other| other == c)).collect();
        if !order.is_sorted() {
            self.values = self.values.picked(there.len(), &order);
        }
    }

    /// Adds a column of 0 and 1 for every level of every category after the data; their names.
    fn add_indicators(&mut self, path: &Path, schema: &Schema) -> Result<Vec<String>> {
        let levels = schema.columns.iter().filter_map(|column| match &column.role {
            schema::Role::OneHot(levels) => Some(levels.as_slice()),
            _ => None,
        });
        let (mut names, mut all) = (Vec::new(), Vec::new());
        for (&c, levels) in self.roles.one_hot.iter().zip(levels) {
            let Some(category) = self.category(c) else { continue };
            names.extend(one_hot::names(&self.columns.carried_name(c), levels));
            all.push((category.of(path, levels)?, levels.len()));
        }
        if all.is_empty() {
            return Ok(names);
        }
        let data = self.width;
        let before = std::mem::take(&mut self.values).into_double();
        let mut values = Vec::with_capacity(self.rows * (data + names.len()));
        for i in 0..self.rows {
            values.extend_from_slice(&before[i * data..(i + 1) * data]);
            for (of, count) in &all {
                let cell = |level: usize| of[i].map_or(f64::NAN, |own| f64::from(u8::from(own == level)));
                values.extend((0..*count).map(cell));
            }
        }
        self.values = Numbers::Double(values);
        Ok(names)
    }

    /// The column as a category, if it is one.
    fn category(&self, column: usize) -> Option<Category<'_>> {
        let cells = self.cells(column).filter(|_| self.roles.one_hot.contains(&column))?;
        Some(Category { columns: &self.columns, column, cells, missing: self.missing, above: self.extent.above })
    }

    /// The columns that are kept, in the order of the options.
    pub(super) fn kept(&self) -> Vec<Carried> {
        let column = |&c: &usize| {
            self.cells(c).map(|cells| Carried { name: self.columns.carried_name(c), cells: cells.clone() })
        };
        self.roles.kept.iter().filter_map(column).collect()
    }

    pub(super) fn cells(&self, column: usize) -> Option<&Cells> {
        let at = self.roles.columns(Role::Carried).iter().position(|&carried| carried == column)?;
        self.carried.get(at)
    }
}

/// The points of some rows. A column of which nothing is observed is an error only if these are all rows.
fn points_of(rows: usize, cols: usize, values: Numbers, extent: Extent) -> Result<Points> {
    let unobserved = |c: usize| (0..rows).all(|i| values.at(i * cols + c).is_nan());
    if !extent.partial || values.len() != rows * cols || !(0..cols).any(unobserved) {
        return values.into_points(rows, cols);
    }
    let mut values = values.into_double();
    // A row that is complete, and left out again: guesses replace what stands in the missing cells.
    values.extend(vec![1.0; cols]);
    Ok(Points::with_missing(rows + 1, cols, values)?.select(&(0..rows).collect::<Vec<_>>()))
}

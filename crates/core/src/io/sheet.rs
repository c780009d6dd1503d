//! A file as its reader found it: what its columns are for, and what is in them.

use super::carried::{Carried, Cells};
use super::columns::{Columns, Role, Roles, Want};
use super::labels::Labels;
use super::{ReadOptions, Table, format_error, is_unusable, room_for};
use crate::error::Result;
use crate::points::Points;
use std::path::Path;

/// A file on its way to a table.
pub(super) struct Sheet {
    pub(super) columns: Columns,
    pub(super) roles: Roles,
    /// The data, row by row.
    pub(super) values: Vec<f64>,
    /// The carried columns, in the file's order.
    pub(super) carried: Vec<Cells>,
    /// The number of rows.
    pub(super) rows: usize,
    /// What was guessed.
    pub(super) notes: Vec<String>,
}

/// A column on its way in: numbers or texts.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) numbers: Vec<f64>,
    pub(super) texts: Vec<String>,
    /// The bytes of all texts.
    pub(super) length: u64,
    /// Counted from 1.
    pub(super) first_null: Option<usize>,
}

impl Sheet {
    /// The sheet of columns that were read one by one: those that are not left out, in the file's order.
    pub(super) fn of_columns(
        path: &Path,
        columns: Columns,
        roles: Roles,
        rows: usize,
        gathered: Vec<Gathered>,
        options: &ReadOptions,
    ) -> Result<Sheet> {
        let (mut data, mut carried) = (Vec::new(), Vec::new());
        let wanted = (0..roles.of.len()).filter(|&c| roles.of[c] != Role::Ignored);
        for (c, Gathered { numbers, texts, first_null, .. }) in wanted.zip(gathered) {
            if roles.of[c] == Role::Carried {
                carried.push(if texts.is_empty() { Cells::Numbers(numbers) } else { Cells::from_texts(texts) });
                continue;
            }
            if let Some(row) = first_null.filter(|_| !options.missing) {
                return Err(columns.missing(path, row, c));
            }
            if let Some(at) = numbers.iter().position(|&value| is_unusable(value, options)) {
                return Err(columns.bad_number(path, at + 1, None, c, numbers[at]));
            }
            data.push(numbers);
        }
        let values = interleave(path, data, rows)?;
        Ok(Sheet { columns, roles, values, carried, rows, notes: Vec::new() })
    }

    /// The sheet of a whole matrix: `values` is row-major and has all the columns that `columns` names.
    pub(super) fn of_matrix(
        path: &Path,
        columns: Columns,
        values: Vec<f64>,
        options: &ReadOptions,
        want: Want,
    ) -> Result<Sheet> {
        let roles = columns.roles(path, options, want)?;
        let width = columns.count();
        let rows = values.len().checked_div(width).unwrap_or(0);
        let pick = |kept: &[usize]| -> Vec<f64> {
            values.chunks_exact(width).flat_map(|row| kept.iter().map(|&c| row[c])).collect()
        };
        let carried = roles.columns(Role::Carried).into_iter().map(|c| Cells::Numbers(pick(&[c]))).collect();
        let data = roles.columns(Role::Data);
        let values = if data.len() == width { values } else { pick(&data) };
        if let Some(at) = values.iter().position(|&value| is_unusable(value, options)) {
            return Err(columns.bad_number(path, at / data.len() + 1, None, data[at % data.len()], values[at]));
        }
        Ok(Sheet { columns, roles, values, carried, rows, notes: Vec::new() })
    }

    /// Points, labels and whatever goes with them.
    pub(super) fn table(self, path: &Path) -> Result<Table> {
        let labels = match self.roles.label {
            Some(label) => {
                let found = self.cells(label).and_then(Labels::from_cells);
                Some(found.ok_or_else(|| self.columns.unlabeled(path, label))?)
            }
            None => None,
        };
        let (columns, kept) = (self.columns.data_names(&self.roles), self.kept());
        let points = Points::with_missing(self.rows, self.roles.count(Role::Data), self.values)
            .map_err(|error| format_error(path, error.to_string()))?;
        Ok(Table { points, columns, labels, kept, notes: self.notes })
    }

    /// The columns that are kept, as they were asked for.
    pub(super) fn kept(&self) -> Vec<Carried> {
        let column = |&c: &usize| {
            self.cells(c).map(|cells| Carried { name: self.columns.carried_name(c), cells: cells.clone() })
        };
        self.roles.kept.iter().filter_map(column).collect()
    }

    fn cells(&self, column: usize) -> Option<&Cells> {
        let at = self.roles.columns(Role::Carried).iter().position(|&carried| carried == column)?;
        self.carried.get(at)
    }
}

/// The rows of lists, one per column, all of the same length; a single one is taken as it is.
fn interleave(path: &Path, mut columns: Vec<Vec<f64>>, rows: usize) -> Result<Vec<f64>> {
    let cols = columns.len();
    if cols == 1 {
        return Ok(columns.remove(0));
    }
    let mut values = room_for(path, rows * cols)?;
    values.extend((0..rows).flat_map(|i| columns.iter().map(move |column| column[i])));
    Ok(values)
}

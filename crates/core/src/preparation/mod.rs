//! Preparation of columns: logarithms, centering and scaling before any other step, and their inverse.
//!
//! ```text
//! z[i,j] = (g(x[i,j]) − c[j]) / s[j]        g(x) = x, log x or log(1 + x)
//! ```
//!
//! c and s are learned from the points that a recipe is fitted to: mean and standard deviation, or median and
//! interquartile range. The model stores them. New points are prepared with them, and the inverse transform undoes them
//! (`back.rs`). [`Recipe::preparation`](crate::Recipe) selects it; everything in a [`Report`](crate::report::Report)
//! then refers to z.
//!
//! s follows the unit of the data exactly, so that a power of two in the data changes no digit of a map of scaled columns.

mod column;
mod inverse;
mod whitening;

use crate::input::moments::Moments;
use column::Spread;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use serde::{Deserialize, Serialize};
pub use whitening::Whitening;

/// Columns per task: a row of them is one or two cache lines.
const BLOCK: usize = 16;
/// The fraction of the total variance above which a column dominates: the first principal component u is then nearly
/// that column, since u[j]² ≥ (2s − 1) / s = 0.947 for the fraction s, and all others together contribute a twentieth
/// of a squared distance.
const ALONE: f64 = 0.95;
/// The maximum number of names in a message.
const LISTED: usize = 5;

/// How the columns of points are prepared before they are compared.
///
/// ```
/// use eigenfold::{Preparation, ColumnScale};
/// use eigenfold::{Recipe, io};
///
/// let iris = io::read("iris", &io::ReadOptions::default())?.points;
/// let preparation = Preparation { scale: ColumnScale::Unit, ..Preparation::default() };
/// let model = Recipe { preparation, ..Recipe::default() }.fit(&iris, &eigenfold::Silent)?;
/// let back = model.reconstruct(model.embedding())?; // centimeters again
/// assert!((back.points.row(0)[0] - iris.row(0)[0]).abs() < 0.5);
/// # Ok::<(), eigenfold::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preparation {
    /// The logarithm that is applied to every value first, if any.
    pub log: Option<Log>,
    /// The center that is subtracted from every column and the scale that divides it, after the logarithm.
    pub scale: ColumnScale,
    /// The columns, counted from 0, that are not changed, such as the indicators of categories.
    pub kept: Vec<usize>,
}

/// A logarithm, to base e.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Log {
    /// log(1 + x), of numbers above −1.
    OnePlus,
    /// log x, of positive numbers.
    Plain,
}

impl Log {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Log::OnePlus => "log1p",
            Log::Plain => "log",
        }
    }
}

/// How columns are centered and scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnScale {
    /// Not at all.
    #[default]
    None,
    /// The mean and the standard deviation (divided by n).
    Unit,
    /// The median and the interquartile range.
    Robust,
}

impl ColumnScale {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            ColumnScale::None => "none",
            ColumnScale::Unit => "unit",
            ColumnScale::Robust => "robust",
        }
    }
}

/// The preparation of one column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreparedColumn {
    /// The logarithm, if any.
    pub log: Option<Log>,
    /// The center.
    pub center: f64,
    /// The scale.
    pub scale: f64,
}

impl PreparedColumn {
    /// A column that is not changed.
    const AS_IT_IS: PreparedColumn = PreparedColumn { log: None, center: 0.0, scale: 1.0 };

    fn of(&self, x: f64) -> f64 {
        (logarithm(self.log, x) - self.center) / self.scale
    }
}

fn logarithm(log: Option<Log>, x: f64) -> f64 {
    match log {
        None => x,
        Some(Log::OnePlus) => x.ln_1p(),
        Some(Log::Plain) => x.ln(),
    }
}

/// A preparation learned from points, one entry per column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    columns: Vec<PreparedColumn>,
}

impl Preparation {
    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        self.log.is_none() && self.scale == ColumnScale::None
    }

    /// Learns centers and scales from points, ignoring missing cells. The second result is the warnings: columns that
    /// do not vary or have no interquartile range. `names` are those of the columns, if known.
    ///
    /// # Errors
    ///
    /// If the logarithm of a cell is not defined.
    pub fn learn(&self, points: &Points, names: Option<&[String]>) -> Result<(Prepared, Vec<String>)> {
        let blocks = parallel::try_collect(points.cols().div_ceil(BLOCK), |block| {
            let columns = block * BLOCK..((block + 1) * BLOCK).min(points.cols());
            self.observed(points, columns, names)
        })?;
        let found: Vec<(PreparedColumn, Spread)> = blocks.into_iter().flatten().collect();
        let which = |spread: Spread| -> Vec<usize> { (0..found.len()).filter(|&j| found[j].1 == spread).collect() };
        let (constant, narrow) = (which(Spread::Constant), which(Spread::Narrow));
        let mut notes: Vec<String> = constant_columns(&constant, names).into_iter().collect();
        if !narrow.is_empty() {
            let (columns, one) = (listed(&narrow, names), narrow.len() == 1);
            let (verb, what) = if one { ("has", "it was") } else { ("have", "they were") };
            let fact = format!("{columns} {verb} an interquartile range of 0, since half of the numbers are equal");
            notes.push(format!("{fact}; {what} divided by the standard deviation"));
        }
        Ok((Prepared { columns: found.into_iter().map(|(column, _)| column).collect() }, notes))
    }

    /// As [`Preparation::learn`], from mean and variance of the columns of rows to which [`Preparation::logarithms`] were applied.
    ///
    /// # Errors
    ///
    /// If the columns are scaled by medians.
    pub(crate) fn learn_moments(
        &self,
        (mean, variances): (&[f64], &[f64]),
        names: Option<&[String]>,
    ) -> Result<(Prepared, Vec<String>)> {
        if self.scale == ColumnScale::Robust {
            let fact = "`scale-columns` robust needs the medians of all rows, and their moments are given";
            return Err(Error::inapplicable("scale-columns", fact, "use `scale-columns` unit, or leave it out"));
        }
        let kept = |j: &usize| self.kept.contains(j) || self.scale == ColumnScale::None;
        let is_constant = |&j: &usize| column::is_constant(mean[j], variances[j]);
        let constant: Vec<usize> = (0..mean.len()).filter(|j| !kept(j) && is_constant(j)).collect();
        let one = |j: usize| {
            let logarithm = self.logarithm(j);
            if kept(&j) {
                return logarithm;
            }
            let scale = if is_constant(&j) { 1.0 } else { variances[j].sqrt() };
            PreparedColumn { center: mean[j], scale, ..logarithm }
        };
        let notes = constant_columns(&constant, names).into_iter().collect();
        Ok((Prepared { columns: (0..mean.len()).map(one).collect() }, notes))
    }

    /// Rows with the logarithm of every column that has one, before their moments are added up. The values are row after
    /// row, and cells that were not observed are NaN.
    ///
    /// # Errors
    ///
    /// If the logarithm of a cell is not defined, or the values are not complete rows.
    pub fn logarithms(&self, values: &[f64], cols: usize) -> Result<Vec<f64>> {
        if !values.len().is_multiple_of(cols) {
            let fact = format!("{} values do not fill rows of {cols} columns", values.len());
            return Err(Error::mismatch("values", (values.len(), cols), fact, "give complete rows"));
        }
        let columns: Vec<PreparedColumn> = (0..cols).map(|j| self.logarithm(j)).collect();
        let one = |(at, &x): (usize, &f64)| {
            let (row, column) = (at / cols, at % cols);
            let z = columns[column].of(x);
            let defined = z.is_finite() || x.is_nan() || columns[column].log.is_none();
            if defined { Ok(z) } else { Err(undefined(self.log, x, row, column, None)) }
        };
        values.iter().enumerate().map(one).collect()
    }

    /// A column with nothing but its logarithm.
    fn logarithm(&self, column: usize) -> PreparedColumn {
        let log = self.log.filter(|_| !self.kept.contains(&column));
        PreparedColumn { log, ..PreparedColumn::AS_IT_IS }
    }

    /// The preparation of some columns, and their spread.
    fn observed(
        &self,
        points: &Points,
        columns: std::ops::Range<usize>,
        names: Option<&[String]>,
    ) -> Result<Vec<(PreparedColumn, Spread)>> {
        let kept: Vec<bool> = columns.clone().map(|j| self.kept.contains(&j)).collect();
        let mut values: Vec<Vec<f64>> = columns.clone().map(|_| Vec::with_capacity(points.rows())).collect();
        let mut buffer = Vec::new();
        for i in 0..points.rows() {
            let mut gone = points.missing_of(i).peekable();
            for (at, &x) in points.read_columns(i, columns.clone(), &mut buffer).iter().enumerate() {
                let j = columns.start + at;
                while gone.next_if(|&missing| missing < j).is_some() {}
                if kept[at] || gone.peek() == Some(&j) {
                    continue;
                }
                let z = logarithm(self.log, x);
                if !z.is_finite() {
                    return Err(undefined(self.log, x, i, j, names));
                }
                values[at].push(z);
            }
        }
        let one = |(at, values): (usize, Vec<f64>)| {
            if kept[at] {
                return (PreparedColumn::AS_IT_IS, Spread::Varies);
            }
            let (center, scale, spread) = column::learned(self.scale, values);
            (PreparedColumn { log: self.log, center, scale }, spread)
        };
        Ok(values.into_iter().enumerate().map(one).collect())
    }
}

impl Prepared {
    /// The preparation of every column.
    pub fn columns(&self) -> &[PreparedColumn] {
        &self.columns
    }

    /// Points prepared like those that this was learned from; missing cells stay missing. `names` are those of the
    /// columns, if known.
    ///
    /// # Errors
    ///
    /// If the number of columns differs, the logarithm of a cell is not defined, or a result is too large.
    pub fn apply(&self, points: &Points, names: Option<&[String]>) -> Result<Points> {
        let (cols, given) = (self.columns.len(), points.cols());
        if cols != given {
            let fact = format!("the rows have {given} columns and {cols} were prepared");
            return Err(Error::mismatch("columns", (given, cols), fact, "give the same columns in the same order"));
        }
        let prepared = self.applied(points);
        match prepared.values().iter().position(|z| z.is_nan() || (z.is_infinite() && self.has_log())) {
            Some(at) => {
                let (i, j) = (at / cols, at % cols);
                Err(undefined(self.columns[j].log, points.at(i, j), i, j, names))
            }
            None => prepared.checked(),
        }
    }

    fn has_log(&self) -> bool {
        self.columns.iter().any(|column| column.log.is_some())
    }

    /// As [`Prepared::apply`], for points on which it is known to be defined.
    pub(crate) fn applied(&self, points: &Points) -> Points {
        let cols = self.columns.len();
        let mut values = points.to_values();
        parallel::chunks_mut(&mut values, cols, |_, row| {
            row.iter_mut().zip(&self.columns).for_each(|(x, column)| *x = column.of(*x));
        });
        points.with_values(values)
    }

    /// log |dz/dx| over the observed columns of a row: the difference between log densities of z and of x.
    pub(crate) fn log_derivative(&self, row: &[f64], missing: impl Iterator<Item = usize>) -> f64 {
        let gone: Vec<usize> = missing.collect();
        let derivative = |(j, column): (usize, &PreparedColumn)| {
            let inner = match column.log {
                None => 0.0,
                Some(Log::OnePlus) => row[j].ln_1p(),
                Some(Log::Plain) => row[j].ln(),
            };
            if gone.binary_search(&j).is_ok() { 0.0 } else { -column.scale.ln() - inner }
        };
        self.columns.iter().enumerate().map(derivative).sum()
    }

    /// Whether it could have been learned from points, and is defined on these.
    pub(crate) fn is_sound(&self, points: &Points) -> bool {
        let sound = |c: &PreparedColumn| c.center.is_finite() && c.scale > 0.0 && c.scale.is_finite();
        self.columns.len() == points.cols() && self.columns.iter().all(sound) && self.applied(points).is_sound()
    }
}

/// The column that has nearly all of the variance, as a sentence with a suggestion; `None` if there is none, or if it
/// is the only one that varies.
pub(crate) fn one_alone(points: &Points, names: Option<&[String]>) -> Option<String> {
    alone(&column::variances(points), names)
}

/// The same of rows that are elsewhere.
pub(crate) fn one_alone_of(moments: &Moments, names: Option<&[String]>) -> Option<String> {
    let variance = |j: usize| (moments.variance(j), !column::is_constant(moments.mean[j], moments.variance(j)));
    alone(&(0..moments.cols()).map(variance).collect::<Vec<_>>(), names)
}

/// The same by the variance of every column, and whether it varies at all.
fn alone(variances: &[(f64, bool)], names: Option<&[String]>) -> Option<String> {
    let total: f64 = variances.iter().map(|(variance, _)| variance).sum();
    let (column, (most, _)) = variances.iter().enumerate().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let part = most / total;
    if variances.iter().filter(|(_, varies)| *varies).count() < 2 || part.is_nan() || part < ALONE {
        return None;
    }
    let (title, percent) = (title(column, names), (1000.0 * part).floor() / 10.0);
    let fact = format!("{title} has {percent:.1} % of the variance of all {} columns", variances.len());
    Some(format!("{fact} and dominates the map; use `standardize` if the columns have different units"))
}

/// The note about columns that do not vary.
fn constant_columns(constant: &[usize], names: Option<&[String]>) -> Option<String> {
    if constant.is_empty() {
        return None;
    }
    let (columns, one) = (listed(constant, names), constant.len() == 1);
    let (verb, what) = if one { ("is", "it was") } else { ("are", "they were") };
    Some(format!("{columns} {verb} constant; {what} centered but not scaled"))
}

/// The column as a message names it: `column "mass"`, or `column 3`.
fn title(column: usize, names: Option<&[String]>) -> String {
    match names.and_then(|names| names.get(column)).filter(|name| !name.is_empty()) {
        Some(name) => format!("column {name:?}"),
        None => format!("column {}", column + 1),
    }
}

/// The first columns of a list.
fn listed(columns: &[usize], names: Option<&[String]>) -> String {
    if let [only] = columns {
        return title(*only, names);
    }
    let bare = |&j: &usize| title(j, names).trim_start_matches("column ").to_string();
    let shown: Vec<String> = columns.iter().take(LISTED).map(bare).collect();
    let more = columns.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("columns {}{rest}", shown.join(", "))
}

/// The error of a cell that has no logarithm.
fn undefined(log: Option<Log>, x: f64, row: usize, column: usize, names: Option<&[String]>) -> Error {
    let cell = format!("row {}, {} is {x}", row + 1, title(column, names));
    let (domain, other) = match log {
        Some(Log::Plain) if x == 0.0 => ("log is defined for positive numbers only", "use `log` log1p, or leave out"),
        Some(Log::Plain) => ("log is defined for positive numbers only", "correct the cell, or leave out"),
        _ => ("log1p is defined for numbers above -1 only", "correct the cell, or leave out"),
    };
    Error::data(format!("{cell}, and {domain}"), format!("{other} the column or `log`")).at_row(row).at_column(column)
}

#[cfg(test)]
mod tests;

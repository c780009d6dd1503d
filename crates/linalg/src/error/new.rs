//! Errors in one line: the fact, then the way out, as two texts.

use super::{At, Error, Name, plural};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

impl Error {
    /// An error of the data.
    pub fn data(fact: impl Into<String>, way_out: impl Into<String>) -> Error {
        Error::Data { fact: fact.into(), way_out: way_out.into(), at: At::default() }
    }

    /// An error of a parameter.
    pub fn parameter(parameter: impl Into<Name>, fact: impl Into<String>, way_out: impl Into<String>) -> Error {
        Error::Parameter { parameter: parameter.into(), fact: fact.into(), way_out: way_out.into() }
    }

    /// A text that is none of the values of a parameter.
    pub fn value(parameter: impl Into<Name>, value: impl Display, wanted: impl Into<String>) -> Error {
        Error::Value { parameter: parameter.into(), value: value.to_string(), wanted: wanted.into() }
    }

    /// A count outside its range.
    pub fn out_of_range(
        parameter: impl Into<Name>,
        value: usize,
        range: RangeInclusive<usize>,
        fact: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Error {
        let (parameter, least, most) = (parameter.into(), *range.start(), *range.end());
        Error::OutOfRange { parameter, value, least, most, fact: fact.into(), way_out: way_out.into() }
    }

    /// A parameter that has nothing to do here.
    pub fn inapplicable(parameter: impl Into<Name>, fact: impl Into<String>, way_out: impl Into<String>) -> Error {
        Error::Inapplicable { parameter: parameter.into(), fact: fact.into(), way_out: way_out.into() }
    }

    /// Another number of rows, columns or the like than there has to be.
    pub fn mismatch(
        what: &'static str,
        (given, expected): (usize, usize),
        fact: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Error {
        Error::Mismatch { what, given, expected, fact: fact.into(), way_out: way_out.into() }
    }

    /// Another shape than there has to be: of what is counted, the number and the expected one, the first that differs.
    pub fn other_shape(
        counts: &[(&'static str, usize, usize)],
        fact: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Error {
        let differs = counts.iter().find(|(_, given, expected)| given != expected).or(counts.first());
        let &(what, given, expected) = differs.unwrap_or(&("", 0, 0));
        Error::mismatch(what, (given, expected), fact, way_out)
    }

    /// An input of another kind than these.
    pub fn input_kind(accepts: &[&'static str], fact: impl Into<String>, way_out: impl Into<String>) -> Error {
        Error::InputKind { accepts: accepts.to_vec(), fact: fact.into(), way_out: way_out.into() }
    }

    /// Fewer points than the work needs.
    pub fn too_small(points: usize, least: usize, fact: impl Into<String>, way_out: impl Into<String>) -> Error {
        Error::TooSmall { points, least, fact: fact.into(), way_out: way_out.into() }
    }

    /// Work that would take too long.
    pub fn too_long(flops: f64, fact: impl Into<String>, way_out: impl Into<String>) -> Error {
        Error::TooLong { flops, fact: fact.into(), way_out: way_out.into() }
    }

    /// The failure of a solver; the way out is empty if there is none.
    pub fn numerical(fact: impl Into<String>, way_out: impl Into<String>) -> Error {
        Error::Numerical { fact: fact.into(), way_out: way_out.into() }
    }

    /// An error of the content of a file.
    pub fn format(path: impl AsRef<Path>, fact: impl Into<String>, way_out: impl Into<String>) -> Error {
        Error::Format { path: path.as_ref().into(), fact: fact.into(), way_out: way_out.into(), at: At::default() }
    }

    /// More dimensions than features.
    pub fn features(requested: usize, features: usize) -> Error {
        let (dims, verb) = (plural(requested, "dimension"), if requested == 1 { "was" } else { "were" });
        let fact = format!("{dims} {verb} requested for {}", plural(features, "feature"));
        Error::Dims { requested, most: features, fact }
    }

    /// The same error of this row, counted from 0. Only [`Error::Data`] and [`Error::Format`] have rows.
    pub fn at_row(mut self, row: usize) -> Error {
        if let Error::Data { at, .. } | Error::Format { at, .. } = &mut self {
            at.row = Some(row);
        }
        self
    }

    /// The same error of this column, counted from 0. Only [`Error::Data`] and [`Error::Format`] have columns.
    pub fn at_column(mut self, column: usize) -> Error {
        if let Error::Data { at, .. } | Error::Format { at, .. } = &mut self {
            at.column = Some(column);
        }
        self
    }

    /// The same fact and way out as an error of the content of this file.
    pub fn in_file(self, path: impl AsRef<Path>) -> Error {
        let way_out = self.way_out().unwrap_or_default().into_owned();
        Error::Format { path: path.as_ref().into(), fact: self.fact().into_owned(), way_out, at: self.at() }
    }
}

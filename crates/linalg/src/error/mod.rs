//! Errors, as values that a caller can act on.
//!
//! Every error states a fact with its numbers and, where there is one, the way out; a message is both on one line, with
//! a semicolon between them. Beside the text a variant has what the text is made of: the parameter at fault, the range,
//! the row and the column. [`Error::parameter_name`], [`Error::way_out`] and [`Error::at`] answer for all variants at once.
//! Parameters stand between backticks by the names they have here; a program puts its own words for them with
//! [`Error::message_with`].
//!
//! ```
//! use eigenfold_linalg::Error;
//!
//! let error = Error::out_of_range("landmarks", 2, 3..=100, "2 `landmarks` span too few dimensions", "use 3 or more");
//! assert_eq!(error.to_string(), "2 `landmarks` span too few dimensions; use 3 or more");
//! assert_eq!((error.parameter_name(), error.way_out().as_deref()), (Some("landmarks"), Some("use 3 or more")));
//! assert!(matches!(error, Error::OutOfRange { least: 3, .. }));
//! ```

mod new;
mod text;

pub use text::{bytes, did_you_mean, guess, plural, rename_parameters, sizes_text};

use std::borrow::Cow;
use std::fmt::{Display, Formatter};
use std::io::ErrorKind;
use std::path::PathBuf;

/// The result of every fallible call of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// The name of a parameter, as it stands between backticks.
pub type Name = Cow<'static, str>;

/// A row and a column of the data, counted from 0, where the error is about them. (Messages count from 1.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// The row.
    pub row: Option<usize>,
    /// The column.
    pub column: Option<usize>,
}

/// What went wrong.
///
/// The field `fact` is the message up to its semicolon, and `way_out` what comes after it; it is empty if there is none.
#[derive(Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "`fact` and `way_out` are the same in all variants")]
pub enum Error {
    /// The data cannot be embedded as they are.
    Data {
        fact: String,
        way_out: String,
        /// The cell, row or column at fault.
        at: At,
    },

    /// There are too few points for the work.
    TooSmall {
        /// The number of points.
        points: usize,
        /// The least number that will do.
        least: usize,
        fact: String,
        way_out: String,
    },

    /// There are more or fewer rows, columns, labels or names than there have to be.
    Mismatch {
        /// What is counted, in the plural.
        what: &'static str,
        /// Their number.
        given: usize,
        /// The number that there has to be.
        expected: usize,
        fact: String,
        way_out: String,
    },

    /// The method or the model cannot use this kind of input.
    InputKind {
        /// The kinds that it can use.
        accepts: Vec<&'static str>,
        fact: String,
        way_out: String,
    },

    /// A parameter does not fit the data or the other parameters.
    Parameter {
        /// Its name.
        parameter: Name,
        fact: String,
        way_out: String,
    },

    /// The text of a parameter is none of its values.
    Value {
        /// Its name.
        parameter: Name,
        /// The text, between quotes unless it is a number.
        value: String,
        /// What it takes.
        wanted: String,
    },

    /// A count is too small or too large.
    OutOfRange {
        /// The name of the parameter.
        parameter: Name,
        /// Its value.
        value: usize,
        /// The least value that will do.
        least: usize,
        /// The largest value that will do; `usize::MAX` if there is none.
        most: usize,
        fact: String,
        way_out: String,
    },

    /// The method, the input or another parameter leaves nothing for this parameter to do: the call would pass without it.
    Inapplicable {
        /// Its name.
        parameter: Name,
        fact: String,
        way_out: String,
    },

    /// A name that is not known.
    Unknown {
        /// The parameter that was given the name, or the name itself if it should be one of a parameter.
        parameter: Name,
        /// The name that was probably meant.
        guess: Option<&'static str>,
        /// The names that are known.
        choices: Vec<&'static str>,
        fact: String,
        way_out: String,
    },

    /// A file's content is not what its name or its header promises.
    Format {
        /// The file.
        path: PathBuf,
        fact: String,
        way_out: String,
        /// The cell, row or column at fault.
        at: At,
    },

    /// The operating system refused to read or write.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },

    /// The graph has several connected components, and the caller wants an error in that case.
    Disconnected {
        /// The number of points in each component, largest first.
        sizes: Vec<usize>,
        /// A number of neighbors that connects the graph, where it is known.
        connecting_k: Option<usize>,
    },

    /// As many neighbors were requested as there are points, or more.
    TooFewPoints {
        /// The requested number of neighbors.
        k: usize,
        /// The number of points.
        n: usize,
    },

    /// More dimensions were requested than the data have.
    Dims {
        /// The requested number of dimensions.
        requested: usize,
        /// The most there can be.
        most: usize,
        fact: String,
    },

    /// The work would need more memory than the limit.
    Memory {
        /// What would be allocated.
        what: String,
        /// The estimate in bytes.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
        way_out: String,
    },

    /// The work would take hours or days.
    TooLong {
        /// The estimate in floating-point operations.
        flops: f64,
        fact: String,
        way_out: String,
    },

    /// A solver failed on every rung of its ladder.
    Numerical { fact: String, way_out: String },

    /// The observer stopped the work before there was a result.
    Stopped,
}

impl Error {
    /// What is wrong, with its numbers: the message up to its semicolon, without the name of a file.
    pub fn fact(&self) -> Cow<'_, str> {
        match self {
            Error::Data { fact, .. }
            | Error::TooSmall { fact, .. }
            | Error::Mismatch { fact, .. }
            | Error::InputKind { fact, .. }
            | Error::Parameter { fact, .. }
            | Error::OutOfRange { fact, .. }
            | Error::Inapplicable { fact, .. }
            | Error::Unknown { fact, .. }
            | Error::Format { fact, .. }
            | Error::Dims { fact, .. }
            | Error::TooLong { fact, .. }
            | Error::Numerical { fact, .. } => fact.into(),
            Error::Value { parameter, value, .. } => format!("`{parameter}` is {value}").into(),
            Error::Io { source, .. } => source.to_string().into(),
            Error::Disconnected { sizes, .. } => {
                format!("the graph has {} connected components ({})", sizes.len(), sizes_text(sizes)).into()
            }
            Error::TooFewPoints { k, n } => format!("k is {k} and there are only {n} points").into(),
            Error::Memory { what, needed, limit, .. } => {
                format!("{what} needs about {} and the limit is {}", bytes(*needed), bytes(*limit)).into()
            }
            Error::Stopped => "stopped before the result was ready".into(),
        }
    }

    /// What to do instead: the message after its semicolon.
    pub fn way_out(&self) -> Option<Cow<'_, str>> {
        let way_out: Cow<'_, str> = match self {
            Error::Data { way_out, .. }
            | Error::TooSmall { way_out, .. }
            | Error::Mismatch { way_out, .. }
            | Error::InputKind { way_out, .. }
            | Error::Parameter { way_out, .. }
            | Error::OutOfRange { way_out, .. }
            | Error::Inapplicable { way_out, .. }
            | Error::Unknown { way_out, .. }
            | Error::Format { way_out, .. }
            | Error::Memory { way_out, .. }
            | Error::TooLong { way_out, .. }
            | Error::Numerical { way_out, .. } => way_out.into(),
            Error::Value { wanted, .. } => format!("give {wanted}").into(),
            Error::Disconnected { connecting_k, .. } => {
                let more = connecting_k.map_or(String::new(), |k| format!("`neighbors` {k}, "));
                format!("use {more}`disconnected` join, or `disconnected` separate").into()
            }
            Error::TooFewPoints { n, .. } => format!("use `neighbors` {} or less", n.saturating_sub(1)).into(),
            Error::Dims { most, .. } => format!("use `dims` {most} or less").into(),
            Error::Io { .. } | Error::Stopped => "".into(),
        };
        (!way_out.is_empty()).then_some(way_out)
    }

    /// The parameter at fault, by the name it has in this library.
    pub fn parameter_name(&self) -> Option<&str> {
        match self {
            Error::Parameter { parameter, .. }
            | Error::Value { parameter, .. }
            | Error::OutOfRange { parameter, .. }
            | Error::Inapplicable { parameter, .. }
            | Error::Unknown { parameter, .. } => Some(parameter),
            Error::Disconnected { .. } => Some("disconnected"),
            Error::TooFewPoints { .. } => Some("neighbors"),
            Error::Dims { .. } => Some("dims"),
            _ => None,
        }
    }

    /// The row and the column of the data at fault, counted from 0.
    pub fn at(&self) -> At {
        match self {
            Error::Data { at, .. } | Error::Format { at, .. } => *at,
            _ => At::default(),
        }
    }

    /// Whether the caller's data or parameters are at fault, rather than the machine or the mathematics.
    pub fn is_input(&self) -> bool {
        match self {
            Error::Numerical { .. } | Error::Stopped => false,
            Error::Io { source, .. } => is_name_at_fault(source.kind()),
            _ => true,
        }
    }

    /// Whether other parameters might do with the same data.
    pub fn is_parameter(&self) -> bool {
        match self {
            Error::InputKind { .. } | Error::Memory { .. } | Error::TooLong { .. } => true,
            // Whether the components may be joined or kept separate is the caller's decision.
            Error::Disconnected { .. } => false,
            _ => self.parameter_name().is_some(),
        }
    }

    /// The message with every parameter by the name that the caller's users know, as [`rename_parameters`] puts it.
    pub fn message_with(&self, name: impl Fn(&str) -> String) -> String {
        match self {
            // The name of a file is not the name of a parameter.
            Error::Format { path, .. } => format!("{}: {}", path.display(), rename_parameters(&self.sentence(), name)),
            Error::Io { .. } => self.to_string(),
            _ => rename_parameters(&self.sentence(), name),
        }
    }

    /// The fact and the way out on one line, without the name of a file.
    fn sentence(&self) -> String {
        let fact = self.fact();
        self.way_out().map_or_else(|| fact.to_string(), |way_out| format!("{fact}; {way_out}"))
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        if let Error::Format { path, .. } | Error::Io { path, .. } = self {
            write!(f, "{}: ", path.display())?;
        }
        f.write_str(&self.sentence())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Error::Io { source, .. } = self { Some(source) } else { None }
    }
}

/// Whether the system refused because of what was named, so that another name or other permissions help; else the machine
/// is at fault, as with a full or a broken disk.
fn is_name_at_fault(kind: ErrorKind) -> bool {
    use ErrorKind as E;
    let name = matches!(kind, E::NotFound | E::AlreadyExists | E::InvalidFilename | E::InvalidInput);
    let place = matches!(kind, E::IsADirectory | E::NotADirectory | E::NotSeekable | E::UnexpectedEof);
    name || place || matches!(kind, E::PermissionDenied | E::ReadOnlyFilesystem | E::ExecutableFileBusy)
}

#[cfg(test)]
mod tests;

//! Errors, with the numbers that explain them.
//!
//! A message states the fact first and the way out after the semicolon, on one line. Parameters stand between backticks
//! by the names they have here; a program puts its own words for them with [`told`].

use std::io::ErrorKind;
use std::path::PathBuf;

/// The result of every fallible call of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data cannot be embedded as they are.
    #[error("{0}")]
    Data(String),

    /// A parameter is out of its range, or does not fit the data or the other parameters.
    #[error("{0}")]
    Parameter(String),

    /// A file's content is not what its name or its header promises.
    #[error("{}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, where, and the way out.
        message: String,
    },

    /// The operating system refused to read or write.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },

    /// The graph has several connected components, and the caller wants an error in that case.
    #[error(
        "the graph has {} connected components ({}); use {}`disconnected` join, or `disconnected` separate",
        sizes.len(),
        sizes_text(sizes),
        connecting_k.map_or(String::new(), |k| format!("`neighbors` {k}, "))
    )]
    Disconnected {
        /// The number of points in each component, largest first.
        sizes: Vec<usize>,
        /// A number of neighbors that connects the graph, where it is known.
        connecting_k: Option<usize>,
    },

    /// As many neighbors were requested as there are points, or more.
    #[error("k is {k} and there are only {n} points; use `neighbors` {} or less", n.saturating_sub(1))]
    TooFewPoints {
        /// The requested number of neighbors.
        k: usize,
        /// The number of points.
        n: usize,
    },

    /// More dimensions were requested than the data have.
    #[error("{fact}; use `dims` {most} or less")]
    Dims {
        /// The requested number of dimensions.
        asked: usize,
        /// The most there can be.
        most: usize,
        /// Why there cannot be more.
        fact: String,
    },

    /// The work would need more memory than the limit.
    #[error("{what} needs about {} and the limit is {}; {way_out}", bytes(*needed), bytes(*limit))]
    Memory {
        /// What would be allocated.
        what: String,
        /// The estimate in bytes.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
        /// What to do instead.
        way_out: String,
    },

    /// A solver failed on every rung of its ladder.
    #[error("{0}")]
    Numerical(String),

    /// The observer stopped the work before there was a result.
    #[error("stopped before the result was ready; nothing was written")]
    Stopped,
}

impl Error {
    /// Whether the caller's data or parameters are at fault, rather than the machine or the mathematics.
    pub fn is_input(&self) -> bool {
        match self {
            Error::Numerical(_) | Error::Stopped => false,
            Error::Io { source, .. } => is_name_at_fault(source.kind()),
            _ => true,
        }
    }

    /// Whether other parameters might do with the same data.
    pub fn is_parameter(&self) -> bool {
        matches!(self, Error::Parameter(_) | Error::TooFewPoints { .. } | Error::Dims { .. } | Error::Memory { .. })
    }

    /// The message with every parameter as the caller's users know it, as [`told`] does.
    pub fn told(&self, name: impl Fn(&str) -> String) -> String {
        match self {
            // The name of a file is not the name of a parameter.
            Error::Format { path, message } => format!("{}: {}", path.display(), told(message, name)),
            Error::Io { .. } => self.to_string(),
            _ => told(&self.to_string(), name),
        }
    }

    /// More dimensions than features.
    pub fn features(asked: usize, features: usize) -> Error {
        let (dims, verb) = (plural(asked, "dimension"), if asked == 1 { "was" } else { "were" });
        let fact = format!("{dims} {verb} asked of {}", plural(features, "feature"));
        Error::Dims { asked, most: features, fact }
    }

    /// An error of the data.
    pub fn data(message: impl Into<String>) -> Error {
        Error::Data(message.into())
    }

    /// An error of a parameter.
    pub fn parameter(message: impl Into<String>) -> Error {
        Error::Parameter(message.into())
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

/// Rewrites the names of parameters in a message. This library writes them between backticks, as `neighbors`; a program
/// knows its users' words for them, such as `-k`. Text between double quotes comes from the user and stays.
///
/// ```
/// use eigenfold_linalg::error::told;
///
/// let message = "`landmarks` is 2; give a whole number of 3 or more";
/// assert_eq!(told(message, |name| format!("--{name}")), "--landmarks is 2; give a whole number of 3 or more");
/// ```
pub fn told(message: &str, name: impl Fn(&str) -> String) -> String {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
    };
    let (mut out, mut rest) = (String::with_capacity(message.len()), message);
    while let Some(at) = rest.find(['`', '"']) {
        out += &rest[..at];
        let (mark, after) = rest[at..].split_at(1);
        rest = match (mark, after.split_once(mark)) {
            ("`", Some((word, after))) if is_name(word) => {
                out += &name(word);
                after
            }
            ("\"", Some((quoted, after))) => {
                out += mark;
                out += quoted;
                out += mark;
                after
            }
            _ => {
                out += mark;
                after
            }
        };
    }
    out + rest
}

/// A byte count as people read it: `1.5 GB`, `640 MB`, `12 kB`.
pub fn bytes(count: u64) -> String {
    let count = count as f64;
    match count {
        c if c >= 1e9 => format!("{:.1} GB", c / 1e9),
        c if c >= 1e6 => format!("{:.0} MB", c / 1e6),
        c => format!("{:.0} kB", (c / 1e3).ceil()),
    }
}

/// A count and what is counted: `1 column`, `2 columns`.
pub fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The sizes of at most five components in points, then how many more components there are.
pub fn sizes_text(sizes: &[usize]) -> String {
    let shown: Vec<String> = sizes.iter().take(5).map(|s| s.to_string()).collect();
    let rest =
        if sizes.len() > 5 { format!(" and {}", plural(sizes.len() - 5, "smaller component")) } else { String::new() };
    shown.join(", ") + " points" + &rest
}

/// `did you mean NAME? ` where one of the names is a slip away from what was typed, else nothing.
pub fn guess(names: &[&str], typed: &str) -> String {
    let nearest = names.iter().min_by_key(|name| edit_distance(name, typed)).copied().unwrap_or_default();
    let slip = edit_distance(nearest, typed) <= typed.len().min(9) / 3;
    if slip { format!("did you mean {nearest}? ") } else { String::new() }
}

/// How many letters to insert, delete or exchange.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let exchange = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = exchange.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_backticks_are_told_as_the_user_knows_them() {
        let flag = |name: &str| if name == "neighbors" { "-k".to_string() } else { format!("--{name}") };
        let as_flags = |message: &str| told(message, flag);
        assert_eq!(as_flags("use `neighbors` 14, or `max-iterations`"), "use -k 14, or --max-iterations");
        for plain in ["", "no name", "`eigenfold embed --save` made it", "a ` alone", "`Upper`", "``", "it's `5`"] {
            assert_eq!(as_flags(plain), plain);
        }
        assert_eq!(as_flags("column \"`a`\" holds text; use `label`"), "column \"`a`\" holds text; use --label");
        assert_eq!(as_flags("`two words` and `dims`"), "`two words` and --dims");
        let (path, message) = ("a `b`.csv".into(), "bad; use `ignore` 1".to_string());
        assert_eq!(Error::Format { path, message }.told(flag), "a `b`.csv: bad; use --ignore 1");
    }

    #[test]
    fn a_broken_or_full_disk_is_not_the_users_fault() {
        let io = |source: std::io::Error| Error::Io { path: "a".into(), source }.is_input();
        // EIO and ENOSPC of Linux, and then names that are wrong: ENOENT, EACCES, EISDIR, EROFS.
        assert!([5, 28].iter().all(|&code| !io(std::io::Error::from_raw_os_error(code))));
        assert!([2, 13, 21, 30].iter().all(|&code| io(std::io::Error::from_raw_os_error(code))));
        assert!(!Error::Stopped.is_input() && Error::data("").is_input());
    }

    #[test]
    fn five_components_have_their_sizes_and_the_rest_are_counted() {
        assert_eq!(sizes_text(&[9, 8]), "9, 8 points");
        assert_eq!(sizes_text(&[9, 8, 7, 6, 5, 4]), "9, 8, 7, 6, 5 points and 1 smaller component");
        assert_eq!(sizes_text(&[9, 8, 7, 6, 5, 4, 3]), "9, 8, 7, 6, 5 points and 2 smaller components");
    }

    #[test]
    fn messages_state_the_fact_then_the_way_out() {
        let error = Error::Disconnected { sizes: vec![1200, 30, 2], connecting_k: Some(14) };
        assert_eq!(
            error.to_string(),
            "the graph has 3 connected components (1200, 30, 2 points); use `neighbors` 14, `disconnected` join, or `disconnected` separate"
        );
        let error = Error::Memory {
            what: "the distance matrix".into(),
            needed: 40_000_000_000,
            limit: 8_000_000_000,
            way_out: "use `landmarks` 1000".into(),
        };
        assert_eq!(
            error.to_string(),
            "the distance matrix needs about 40.0 GB and the limit is 8.0 GB; use `landmarks` 1000"
        );
    }
}

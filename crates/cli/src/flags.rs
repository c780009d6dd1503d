//! The flags that several commands share, and the values they take.

use clap::{Args, ValueEnum};
use eigenfold::{
    Count, Error, Metric, Result,
    quality::{MEASURES, Measure},
    rename_parameters,
};
use std::path::{Path, PathBuf};

/// The flag of a parameter that the library names.
pub(crate) fn flag(name: &str) -> String {
    match name {
        "neighbors" => "-k".into(),
        "dims" => "-d".into(),
        name => format!("--{name}"),
    }
}

/// A message of the library with flags in place of the names of parameters.
pub(crate) fn with_flags(message: &str) -> String {
    rename_parameters(message, flag)
}

/// A file of points and how to read it.
#[derive(Debug, Args)]
pub(crate) struct Input {
    /// A file, `-` for standard input, or a built-in set: digits, iris
    ///
    /// Formats: .csv, .tsv, .npy, .npz (FILE.npz:NAME for one of several arrays), .parquet, .arrow, .feather; each also
    /// compressed, with .gz or .zst after it.
    #[arg(value_name = "INPUT")]
    pub(crate) source: PathBuf,
    /// More files of the same columns, for commands that take them, filled in by [`crate::command::parsed`].
    #[arg(skip)]
    pub(crate) more: Vec<PathBuf>,
    /// Column that colors the points and is not data (name or number)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Columns to leave out: a,b or a pattern such as 'meta_*'
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) ignore: Vec<String>,
    /// Column of vectors that holds the points (Parquet, Arrow)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) vector: Option<String>,
    /// Column separator: one character, or `tab` [default: detected]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Decimal mark of a text file: . or , [default: .]
    #[arg(long, value_name = "MARK", value_parser = decimal)]
    pub(crate) decimal: Option<u8>,
    /// Whether the first row of a text file is a header [default: detected]
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) header: Option<YesNo>,
    /// Mark of a missing cell, such as - or -999; may be repeated
    #[arg(long, value_name = "MARK", allow_hyphen_values = true)]
    pub(crate) na: Vec<String>,
    /// Missing cells: error, drop, mean or model [default: error]
    ///
    /// Empty cells, NA, NaN, null, ? and the marks of --na are missing. error refuses them, drop drops their rows, mean imputes
    /// the mean of the column, and model imputes from similar rows.
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true)]
    pub(crate) missing: Option<MissingName>,
}

impl Input {
    /// What is done about missing cells: by default the first one is an error.
    pub(crate) fn missing(&self) -> MissingName {
        self.missing.unwrap_or(MissingName::Error)
    }

    /// All files, in their order.
    pub(crate) fn sources(&self) -> Vec<&Path> {
        std::iter::once(&self.source).chain(&self.more).map(PathBuf::as_path).collect()
    }
}

/// What is done about missing cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissingName {
    /// The first one is an error
    Error,
    /// Its row is dropped, and its output row is empty
    Drop,
    /// The mean of its column
    Mean,
    /// What similar rows have; ppca and fa integrate it out
    Model,
}

/// How columns are brought to a common scale before they are compared.
#[derive(Debug, Args)]
pub(crate) struct Preparing {
    /// Categorical column, encoded as 0/1 columns; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub(crate) one_hot: Vec<String>,
    /// Scale every column to zero mean and unit variance
    #[arg(long, conflicts_with = "scale_columns")]
    pub(crate) standardize: bool,
    /// Center and scale every column: unit, robust or none [default: none]
    ///
    /// unit is --standardize; robust uses the median and the interquartile range.
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true)]
    pub(crate) scale_columns: Option<ScaleName>,
    /// Take logarithms: log1p = log(1 + x) (if KIND is not given), or log
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, default_missing_value = "log1p")]
    #[arg(hide_possible_values = true)]
    pub(crate) log: Option<LogName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleName {
    /// The mean and the standard deviation
    Unit,
    /// The median and the interquartile range, which a few far numbers do not move
    Robust,
    /// Nothing
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogName {
    /// log(1 + x), of numbers above -1
    Log1p,
    /// log x, of positive numbers
    Log,
    /// No logarithm
    None,
}

/// Which points are neighbors.
#[derive(Debug, Args)]
pub(crate) struct Neighbors {
    /// Number of neighbors, or `auto` to try several [default: 10]
    ///
    /// auto takes the best of ten values by the neighbor distance ratio.
    #[arg(short = 'k', long = "neighbors", value_name = "K", allow_negative_numbers = true)]
    #[arg(value_parser = count)]
    pub(crate) k: Option<Count>,
    /// Distance within which points are neighbors; implies --graph within
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    pub(crate) radius: Option<f64>,
    /// Kind: nearest, mutual, within, all or learned [default: nearest]
    ///
    /// mutual keeps edges between mutual neighbors, within joins points within --radius, all joins all pairs, and learned
    /// selects among the k nearest (20 by default) by the graphical lasso (drill).
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true)]
    pub(crate) graph: Option<GraphKind>,
    /// Distance between points: euclidean, cosine, ... [default: euclidean]
    ///
    /// Also manhattan, correlation, chebyshev, minkowski:P, hamming, jaccard, haversine (latitude and longitude in radians),
    /// haversine-degrees, canberra, braycurtis, mahalanobis.
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub(crate) metric: Option<Metric>,
    /// Whether the search may miss up to 10 % of the neighbors for speed
    ///
    /// The recall is reported. Default: 1 % for tsne, umap, sne and symmetric-sne, exact for all others.
    #[arg(long, value_name = "yes|no", num_args = 0..=1, require_equals = true, default_missing_value = "yes")]
    #[arg(value_parser = clap::builder::BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) approximate: Option<bool>,
    /// Several components: join, error or separate [default: join]
    ///
    /// join adds the shortest linking edges, error refuses the graph, separate embeds each component on its own.
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true)]
    pub(crate) disconnected: Option<DisconnectedName>,
}

/// Flags of every command that computes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Seed of the random numbers; the same seed gives the same bytes [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) seed: u64,
    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = thread_count, allow_hyphen_values = true)]
    pub(crate) threads: Option<u16>,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

pub(crate) fn metric(text: &str) -> Result<Metric> {
    text.parse()
}

/// A measure of a map by its name in files.
pub(crate) fn measure(text: &str) -> Result<Measure> {
    Measure::named(text).ok_or_else(|| {
        let choices: Vec<&'static str> = MEASURES.iter().map(|described| described.key).collect();
        let (fact, way_out) = ("this is not a measure".into(), format!("use one of {}", choices.join(", ")));
        Error::Unknown { parameter: "measure".into(), guess: None, choices, fact, way_out }
    })
}

fn count(text: &str) -> Result<Count> {
    match text {
        "auto" => Ok(Count::Auto),
        _ => text
            .parse()
            .map(Count::Number)
            .map_err(|_| Error::parameter("neighbors", "this is not a number of neighbors", "use 1 or more, or auto")),
    }
}

/// A number of coordinates.
pub(crate) fn dims(text: &str) -> Result<Count> {
    match text {
        "auto" => Ok(Count::Auto),
        _ => text
            .parse()
            .map(Count::Number)
            .map_err(|_| Error::parameter("dims", "this is not a number of coordinates", "use 1 or more, or auto")),
    }
}

/// The rule of reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The inverse of a linear embedding, local kriging for all others
    Auto,
    /// The objective of elastic with squared repulsion, with one more point
    Energy,
}

/// What is held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeldOutWhat {
    /// Features, each once, in folds (embed)
    Features,
    /// Rows, each once, in five folds (transform, reconstruct)
    Rows,
    /// Nothing
    #[value(alias = "no")]
    None,
}

impl HeldOutWhat {
    /// Whether rows are held out, for a command that cannot hold out features.
    pub(crate) fn is_rows(self, command: &str) -> Result<bool> {
        match self {
            HeldOutWhat::Rows => Ok(true),
            HeldOutWhat::None => Ok(false),
            HeldOutWhat::Features => Err(Error::parameter(
                "held-out",
                format!("{command} holds out rows, not features"),
                "use --held-out rows or none",
            )),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// One point a row
    Points,
    /// A square matrix of distances
    Distances,
    /// A square matrix of similarities
    Similarities,
    /// A list of edges: from, to, length
    Graph,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphKind {
    /// The k nearest of each point
    Nearest,
    /// Those that are among each other's k nearest
    Mutual,
    /// All within --radius
    Within,
    /// Everyone
    All,
    /// Those of the k nearest [default: 20] that a sparse precision over the points keeps (drill's --penalty, --ridge)
    Learned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DisconnectedName {
    Join,
    Error,
    Separate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StartsName {
    /// Seven starts, the best of which counts
    All,
    /// Lawrence's start alone
    One,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LengthsName {
    /// A length for every coordinate
    Ard,
    /// One length, every column scaled to unit variance
    Unit,
    /// One length, the embedding in its own units
    Raw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

/// The most threads: more than the largest machines have cores, and few enough to be started in a moment.
const MOST_THREADS: u16 = 1024;

/// A number of threads.
fn thread_count(text: &str) -> Result<u16> {
    let refused = |fact: String, way_out: String| Err(Error::parameter("threads", fact, way_out));
    match text.parse::<f64>() {
        Ok(count) if (1.0..=f64::from(MOST_THREADS)).contains(&count) && count.fract() == 0.0 => Ok(count as u16),
        Ok(count) if count > f64::from(MOST_THREADS) => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let fact = format!("more than {MOST_THREADS} threads are never started");
            refused(fact, format!("use {cores}, one per core, or leave it out"))
        }
        _ => refused("this is not a number of threads".into(), format!("use an integer from 1 to {MOST_THREADS}")),
    }
}

/// A number of bytes: `4GB`, `512MiB`, `1e9`.
pub(crate) fn memory_size(text: &str) -> Result<u64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(text.len());
    let (number, unit) = (text[..at].trim(), text[at..].trim().to_ascii_lowercase());
    let factor: f64 = match unit.as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        "tib" => 1024f64.powi(4),
        _ => {
            let fact = format!("{unit} is not a unit of memory");
            return Err(Error::parameter("memory", fact, "use kB, MB, GB or TB"));
        }
    };
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * factor) as u64),
        _ => Err(Error::parameter("memory", "this is not a size", "use a positive number and a unit, as in 4GB")),
    }
}

/// What stands before decimals.
fn decimal(text: &str) -> Result<u8> {
    match text {
        "." => Ok(b'.'),
        "," => Ok(b','),
        _ => Err(Error::parameter("decimal", "the decimal mark is a point or a comma", "use . or ,")),
    }
}

fn delimiter(text: &str) -> Result<u8> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err(Error::parameter("delimiter", "this is not a delimiter", "use one character, or tab")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_a_number_or_auto() {
        for text in ["7", "auto"] {
            assert_eq!(count(text).unwrap().to_string(), text);
        }
        assert!(count("-3").is_err() && count("few").is_err());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(memory_size("4GB").unwrap(), 4_000_000_000);
        assert_eq!(memory_size("1.5 MiB").unwrap(), 1_572_864);
        assert_eq!(memory_size("1e9").unwrap(), 1_000_000_000);
        assert!(memory_size("4XB").is_err() && memory_size("-1GB").is_err() && memory_size("GB").is_err());
    }
}

//! The command line: every command, every flag, and what each means.
//!
//! The first paragraph of a flag is its line in `-h`; all paragraphs are in `--help`. [`command`](crate::command::command) adds the
//! flags of the methods (`--landmarks`, `--kernel`, ...) from the methods' own tables, and arranges all flags under headings.

use crate::compare::Compared;
use crate::completions::{Completions, Man};
use crate::drawing::{Drawing, Paper};
use crate::flags::{
    By, Common, HeldOutWhat, Input, Kind, LengthsName, Neighbors, Preparing, StartsName, YesNo, dims, measure,
    memory_size, metric,
};
use crate::labels::Carry;
use crate::serve::Serve;
use crate::view::View;
use clap::{Args, Parser, Subcommand};
use eigenfold::{Count, Metric, quality::Measure};
use std::path::PathBuf;

const ABOUT: &str = "Dimensionality reduction: embeds high-dimensional points in a few coordinates";

#[derive(Debug, Parser)]
#[command(name = "eigenfold", version, about = ABOUT, arg_required_else_help = true, subcommand_required = true)]
#[command(after_help = "EXAMPLES
  eigenfold embed digits -o map.csv --plot map.png
  eigenfold embed data.csv --label species -m pca -d 3 -o map.csv --save map.model
  eigenfold transform map.model new.csv -o new-map.csv
  eigenfold compare data.csv --label species --report report.html
  eigenfold methods umap

Exit codes: 0 done; 2 bad usage or bad input, nothing written; 1 anything else, nothing written.
`eigenfold COMMAND -h` is a short help, `eigenfold COMMAND --help` the full one.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Cmd,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Cmd {
    Embed(Box<Embed>),
    Transform(Transform),
    Reconstruct(Reconstruct),
    Compare(Box<Compared>),
    Serve(Box<Serve>),
    View(View),
    #[command(alias = "score")]
    Quality(Quality),
    Dimension(Dimension),
    Graph(Graph),
    Sample(Sample),
    Methods(Methods),
    Completions(Completions),
    Man(Man),
}

/// Embed the points of a file in a few coordinates.
///
/// Writes one row for every row of the input, in the same order, with the columns y1, y2, ... Without a flag that names an output,
/// the rows go to standard output as CSV. Files are written whole or not at all, and all of them or none. Ctrl-C ends an
/// optimization early: its current embedding is written, marked as not converged. A second Ctrl-C exits at once, with nothing
/// written.
#[derive(Debug, Args)]
#[command(after_help = "Method parameters (--perplexity, --landmarks, ...): see `eigenfold methods NAME`.

EXAMPLES
  eigenfold embed digits -o map.csv --plot map.png
  eigenfold embed digits -m tsne --perplexity 50 -o map.csv --save map.model
  eigenfold embed cells.parquet --label type --ignore id --standardize -m isomap -k auto -o map.csv
  eigenfold embed distances.npy --input-kind distances -m mds -d 3 -o map.npy --json report.json
  cat points.csv | eigenfold embed - -m pca | head")]
pub(crate) struct Embed {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Kind: points, distances, similarities or graph [default: points]
    ///
    /// distances and similarities are square matrices; graph is a list of edges: from, to, length.
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Points)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) input_kind: Kind,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    /// Method; `eigenfold methods` lists them [default: umap]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) method: Option<String>,
    /// Number of coordinates, or `auto` (`eigenfold dimension`) [default: 2]
    #[arg(short, long, value_name = "N", value_parser = dims, allow_negative_numbers = true)]
    pub(crate) dims: Option<Count>,
    /// Rescale to the lengths of the graph, within M (or 10) coordinates
    ///
    /// The result has the largest variance that moves no neighbors farther apart than in the data.
    #[arg(long, value_name = "M", num_args = 0..=1, default_missing_value = "10", allow_negative_numbers = true)]
    pub(crate) rescale: Option<usize>,
    #[command(flatten)]
    pub(crate) neighbors: Neighbors,
    /// Neighbors from an edge list instead of a search: i, j, length
    ///
    /// Each row gives point i (from 0) the neighbor j, as `eigenfold graph -o` writes them. The first K (-k) are used.
    #[arg(long, value_name = "FILE")]
    pub(crate) neighbors_from: Option<PathBuf>,
    /// Coordinates: .csv, .tsv, .npy, .parquet, .arrow, or - for stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Model, for `eigenfold transform`, `reconstruct` and `view`
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Report as JSON; - for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Input with imputed missing cells (--missing mean or model)
    #[arg(long, value_name = "FILE")]
    pub(crate) completed: Option<PathBuf>,
    /// Standard deviations of the imputed cells (ppca, fa)
    #[arg(long, value_name = "FILE")]
    pub(crate) completed_std: Option<PathBuf>,
    /// Fitted edge weights as CSV (meu, drill, mvu, elastic)
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    /// Snapshots of the optimization: 20 files in DIR, or N in --json
    #[arg(long, value_name = "DIR|N")]
    pub(crate) snapshots: Option<String>,
    /// Embeddings along a path of --lambda (elastic)
    #[arg(long, value_name = "FILE")]
    pub(crate) path: Option<PathBuf>,
    /// Picture of the embedding: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) carry: Carry,
    #[command(flatten)]
    pub(crate) drawing: Drawing,
    /// Align -o and --plot with an earlier embedding of the same rows
    ///
    /// The alignment is a rotation, a reflection and a translation; a saved model is not changed.
    #[arg(long, value_name = "FILE")]
    pub(crate) align: Option<PathBuf>,
    /// Picture of the values that -k auto tried: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot_neighbors: Option<PathBuf>,
    /// Held-out log likelihood of `features`, to compare methods, or `none`
    ///
    /// Held-out features take no part in the fit. This takes as long as five fits.
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) held_out: Option<HeldOutWhat>,
    /// Compute the in-sample log likelihood even if it takes long
    #[arg(long)]
    pub(crate) likelihood: bool,
    /// Fit a sample of N rows, and embed the others with its model
    ///
    /// The file is read in batches and may be larger than the memory. The sample depends on row numbers and --seed alone.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) fit_rows: Option<usize>,
    /// The rows of a batch, for the tests of streams
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) batch_rows: Option<usize>,
    /// Memory limit, as in 4GB or 512MiB; a job that needs more is refused
    #[arg(long, value_name = "SIZE", value_parser = memory_size, allow_hyphen_values = true)]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The method's own parameters that were given, filled in by [`parsed`].
    #[arg(skip)]
    pub(crate) parameters: Vec<(String, String)>,
}

/// Embed new points with a saved model.
///
/// The model comes from `eigenfold embed --save`. Each row is embedded independently of the others, and training rows get their
/// own coordinates. A model that was fitted to rows with missing cells accepts such rows by default (--missing error refuses
/// them).
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold embed old.csv -m isomap -o old-map.csv --save map.model
  eigenfold transform map.model new.csv -o new-map.csv
  eigenfold transform map.model new.csv --label species --keep id -o new-map.csv --plot new.png
  eigenfold transform map.model new.csv -o new-map.csv --std std.csv --json far.json")]
pub(crate) struct Transform {
    /// Model of `eigenfold embed --save`
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: Input,
    /// Coordinates: .csv, .tsv, .npy, .parquet, .arrow, or - for stdout [default: -]
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
    /// Standard deviation of each coordinate
    ///
    /// For 68 % of new rows, an embedding that was fitted with the row has it within one standard deviation (docs/guide/new-data.md).
    #[arg(long, value_name = "FILE")]
    pub(crate) std: Option<PathBuf>,
    /// Posterior SD of each coordinate, and log density of each row (ppca, fa)
    #[arg(long, value_name = "FILE")]
    pub(crate) posterior: Option<PathBuf>,
    /// Report as JSON, with the rows far from all training points
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Picture of the new over the training points: .png, .svg, .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) carry: Carry,
    #[command(flatten)]
    pub(crate) drawing: Drawing,
    /// Calibration of --std: rows or none
    ///
    /// rows fits the embedding again without some rows, which takes as long as five fits; none uses the error on this embedding
    /// alone, which is too narrow. The default is rows for 20 to 1,000 training rows.
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) held_out: Option<HeldOutWhat>,
    /// The rows of a batch, for the tests of streams
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) batch_rows: Option<usize>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Reconstruct data rows from embedding points (inverse transform).
///
/// Reads one embedding point a row (a column for each coordinate) and writes one data row for each, with the column names of the
/// training data. Linear methods (pca, mds) are inverted; all others use local kriging, whose intervals grow where the
/// embedding has no points. Each row is reconstructed independently.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold embed data.csv -m isomap -o map.csv --save map.model
  printf 'y1,y2\\n0,0\\n10,-5\\n' > coords.csv
  eigenfold reconstruct map.model coords.csv -o rows.csv --std std.csv --interval interval.csv
  eigenfold reconstruct map.model map.csv -o rows.csv --held-out rows --json report.json")]
pub(crate) struct Reconstruct {
    /// Model of `eigenfold embed --save`, fitted to points
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: Input,
    /// Data rows: .csv, .tsv, .npy, .parquet, .arrow, or - for stdout [default: -]
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
    /// Half-widths of 68 % intervals (standard deviations if errors are Gaussian)
    #[arg(long, value_name = "FILE")]
    pub(crate) std: Option<PathBuf>,
    /// Half-widths of 95 % intervals
    #[arg(long, alias = "margin", value_name = "FILE")]
    pub(crate) interval: Option<PathBuf>,
    /// Report as JSON; - for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Draw N joint samples per embedding point instead of the mean
    ///
    /// Entries spread as the intervals do, with the correlations that the features have nearby.
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Rule of reconstruction: auto or energy
    ///
    /// auto inverts linear methods and uses local kriging for all others; energy minimizes the objective of elastic (with squared
    /// repulsion) with one more point.
    #[arg(long, value_enum, value_name = "RULE", default_value_t = By::Auto, hide_possible_values = true)]
    pub(crate) by: By,
    /// Calibration of the intervals: rows or none
    ///
    /// rows fits the embedding again without some rows, fold by fold, and reconstructs those; this takes as long as five fits. The
    /// default is rows for --std, --interval and --samples with kriging of up to 1,000 rows, none otherwise.
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) held_out: Option<HeldOutWhat>,
    /// The rows of a batch, for the tests of streams
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) batch_rows: Option<usize>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measure the quality of an embedding, made by eigenfold or by another program.
///
/// Reports how well neighborhoods and distances are preserved, how well classes are separated, the reconstruction error, and the
/// log likelihood of the data under a Gaussian process over the embedding. Each measure is also available per point. Up to 5,000
/// points all rows are used; beyond that a random sample is used, and the values have standard errors.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold embed iris -m isomap -o map.csv
  eigenfold quality iris map.csv
  eigenfold quality data.csv umap.npy --label species --json quality.json
  eigenfold quality iris map.csv --pointwise each.csv --plot-pointwise torn.png
  eigenfold quality roll.csv roll-map.csv --truth truth.csv -k 20 --gp-likelihood no")]
pub(crate) struct Quality {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Embedding: one row for every row of the input, in the same order; or -
    #[arg(value_name = "EMBEDDING")]
    pub(crate) embedding: PathBuf,
    /// Kind: points, distances, similarities or graph
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Points, hide_possible_values = true)]
    pub(crate) input_kind: Kind,
    /// Labels from another file: FILE with one column, or FILE:COLUMN
    #[arg(long, value_name = "FILE[:COLUMN]", conflicts_with = "label")]
    pub(crate) labels: Option<String>,
    /// True coordinates, one row for every row of the input
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    /// Number of neighbors of the neighborhood measures [default: 10]
    #[arg(short = 'k', long = "neighbors", value_name = "K", allow_negative_numbers = true)]
    pub(crate) neighbors: Option<usize>,
    /// Distance between points of the input, as for `eigenfold embed` [default: euclidean]
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub(crate) metric: Option<Metric>,
    /// Number of rows to sample [default: all of up to 5,000, 500 to 2,000 of more]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rows: Option<usize>,
    /// Report as JSON; - for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Every measure per point, one row for every row of the input
    ///
    /// Rows that were not sampled are empty.
    #[arg(long, value_name = "FILE")]
    pub(crate) pointwise: Option<PathBuf>,
    /// Picture of the embedding colored by a measure: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot_pointwise: Option<PathBuf>,
    /// Picture of the Shepard diagram, distances in the embedding against those in the data: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot_shepard: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) paper: Paper,
    /// Measure that colors --plot-pointwise, by its column in --pointwise
    #[arg(long, value_name = "MEASURE", value_parser = measure, default_value = "trustworthiness")]
    pub(crate) pointwise_by: Measure,
    /// Whether to compute the GP likelihood [default: yes up to 5,000 points]
    #[arg(long, alias = "gplvm", value_enum, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) gp_likelihood: Option<YesNo>,
    /// Length scales of the Gaussian process: ard, unit or raw
    ///
    /// ard has one length for each coordinate, so that their scales do not matter; unit has one length for all coordinates, scaled
    /// to unit variance; raw has one length for the coordinates as they are.
    #[arg(long, value_enum, value_name = "KIND", default_value_t = LengthsName::Ard, hide_possible_values = true)]
    pub(crate) lengths: LengthsName,
    /// Starting values of its optimization: all seven, or one (Lawrence's)
    #[arg(long, value_enum, value_name = "all|one", default_value_t = StartsName::All, hide_possible_values = true)]
    pub(crate) starts: StartsName,
    /// Number of its inducing points [default: exact up to 2,000 points, else 200 to 800]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub(crate) inducing: Option<usize>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Estimate the intrinsic dimension of the points.
///
/// Several estimators are reported. The main one uses the ratios of distances to two neighbors (2NN), the second the skewness of
/// simplices. Estimates at larger scales show noise, and a check reports whether the points look like a sample of a smooth
/// density. The intervals are statistical and do not include bias. One number is recommended, with its reason and its caveat.
/// Equal points count once. Slow estimators use a subset of the points, which is reported.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold dimension digits
  eigenfold dimension data.csv --label species --json dimension.json --plot scales.png
  eigenfold dimension data.csv --pointwise each.csv -k 30
  eigenfold embed data.csv -d auto -o map.csv         as many coordinates as recommended")]
pub(crate) struct Dimension {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    /// Largest neighborhood of the local estimates [default: 20]
    ///
    /// For the estimate of Levina and Bickel, the correlation dimension and --pointwise.
    #[arg(short = 'k', long = "neighbors", value_name = "K", allow_negative_numbers = true)]
    pub(crate) neighbors: Option<usize>,
    /// Leave out the slow estimators, which use all points at once
    #[arg(long)]
    pub(crate) quick: bool,
    /// Report as JSON; - for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Dimension at each point, one row for every row of the input
    ///
    /// .csv, .tsv, .npy, .parquet, .arrow, or - for standard output; 0 where all neighbors are equally far.
    #[arg(long, value_name = "FILE")]
    pub(crate) pointwise: Option<PathBuf>,
    /// Picture of the dimension against the scale: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) paper: Paper,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Build the neighborhood graph and report its connected components.
///
/// Writes one line for each edge: from, to, length (rows counted from 0).
#[derive(Debug, Args)]
#[command(after_help = "Parameters of a learned graph (--penalty, ...): see `eigenfold methods drill`.

EXAMPLES
  eigenfold graph digits -k 10 -o edges.csv
  eigenfold graph data.csv --radius 0.5 --disconnected separate --json -
  eigenfold graph iris --learned -k 15 --penalty 0.01 -o learned.csv
  eigenfold embed edges.csv --input-kind graph -m isomap -o map.csv")]
pub(crate) struct Graph {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Kind: points, distances, similarities or graph
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Points, hide_possible_values = true)]
    pub(crate) input_kind: Kind,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    #[command(flatten)]
    pub(crate) neighbors: Neighbors,
    /// Neighbors from an edge list instead of a search: i, j, length
    ///
    /// Each row gives point i (from 0) the neighbor j, as -o writes them. The first K (-k) are used.
    #[arg(long, value_name = "FILE")]
    pub(crate) neighbors_from: Option<PathBuf>,
    /// Learn the graph by a sparse precision matrix over the points (--graph learned)
    #[arg(long)]
    pub(crate) learned: bool,
    /// Edges as CSV; - for stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Report as JSON; - for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// How the graph is learned, as far as it was given, filled in by [`parsed`].
    #[arg(skip)]
    pub(crate) learning: Vec<(String, String)>,
}

/// Write a data set to try methods on.
///
/// Synthetic sets have true coordinates (--truth); digits and iris are real data with a label column.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold sample swiss-roll -n 2000 -o roll.csv --truth truth.csv
  eigenfold sample swiss-roll --with-label -o roll.csv
  eigenfold embed roll.csv --label label --plot roll.png
  eigenfold sample iris -o iris.csv")]
pub(crate) struct Sample {
    /// Data set: NAMES
    pub(crate) name: String,
    /// Number of points of a synthetic set [default: 1000]
    #[arg(short, long = "points", value_name = "N", allow_negative_numbers = true)]
    pub(crate) n: Option<usize>,
    /// Standard deviation of the noise of a synthetic set [default: 0]
    #[arg(long, value_name = "SD", allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// Seed of the random draw [default: 0]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Add a last column, label: the position on the manifold
    ///
    /// digits and iris always have their own.
    #[arg(long)]
    pub(crate) with_label: bool,
    /// True coordinates of a synthetic set
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Points: .csv, .tsv, .npy, .parquet, .arrow, or - for stdout [default: -]
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// List the methods, or one method with its parameters.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold methods
  eigenfold methods isomap
  eigenfold methods --json methods.json")]
pub(crate) struct Methods {
    /// Method, by its name or an alias
    pub(crate) name: Option<String>,
    /// Print the parameters as a Markdown table
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// List as JSON; - for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

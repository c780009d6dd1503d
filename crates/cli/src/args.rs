//! The command line: every command, every flag, and what each means.
//!
//! The flags of the methods (`--landmarks`, `--kernel`, ...) are not listed here: [`command`](crate::command::command) takes them from the
//! methods' own tables, so that the help cannot differ from what the library knows.

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

const ABOUT: &str = "Unfolds data: finds the few coordinates that many-dimensional points really have";

#[derive(Debug, Parser)]
#[command(name = "eigenfold", version, about = ABOUT, arg_required_else_help = true, subcommand_required = true)]
#[command(after_help = "EXAMPLES
  eigenfold embed digits -m isomap -o map.csv --plot map.png
  eigenfold embed data.csv --label species -m pca -d 3 -o map.csv --save map.model
  eigenfold transform map.model new.csv -o new-map.csv
  eigenfold reconstruct map.model coords.csv -o rows.csv --std std.csv
  eigenfold compare data.csv --label species --report report.html
  eigenfold serve data.csv --label species
  eigenfold quality digits map.csv
  eigenfold dimension digits
  eigenfold sample swiss-roll -n 2000 -o roll.csv

Exit codes: 0 done; 2 bad usage or bad input, nothing written; 1 anything else, nothing written.")]
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
/// Writes one row for every row of the input, in the input's order, with the columns y1, y2, ... Without -o, --plot,
/// --save, --weights, --snapshots, --path, --completed or --json the rows go to standard output as CSV. Files are written whole or not at
/// all, and all of them or none. Ctrl-C ends an optimization early: its current embedding is written, marked as not
/// converged. A second Ctrl-C exits at once, with nothing written.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold embed digits -m isomap -k 10 -o map.csv --plot map.png
  eigenfold embed cells.parquet --label type --ignore id -m le -o map.parquet --json map.json
  eigenfold embed distances.npy --input-kind distances -m mds -d 3 -o map.npy
  eigenfold embed roll.csv -m isomap -k auto -o map.csv --plot-neighbors tried.png
  eigenfold embed roll.csv -m isomap -d auto -o map.csv
  eigenfold embed digits -m lle --held-out features --json report.json
  eigenfold embed roll.csv -m ltsa -k 8 --rescale -o map.csv
  eigenfold embed digits -m tsne -o map.csv --snapshots frames
  eigenfold embed roll.csv -m elastic --lambda auto:1:40 -o map.csv --path maps.csv
  eigenfold embed digits -m umap -o new.csv --align map.csv --plot new.png
  eigenfold embed cells.csv --labels types.csv --keep id -m umap -o map.csv --plot map.svg
  eigenfold embed animals.csv --names animal -m isomap --plot animals.png --size 1200x900
  eigenfold embed digits -m tsne --image 8x8 --plot images.png
  eigenfold embed roll.csv -m gplvm --shade --plot unsure.png
  eigenfold embed holes.csv --missing model -m ppca -o map.csv --completed full.csv
  cat points.csv | eigenfold embed - -m pca | head")]
pub(crate) struct Embed {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) carry: Carry,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    /// What the input holds
    #[arg(long, value_enum, default_value_t = Kind::Points)]
    pub(crate) input_kind: Kind,
    /// The method; `eigenfold methods` lists them [default: umap]
    #[arg(short, long)]
    pub(crate) method: Option<String>,
    /// The number of coordinates, or `auto` for the dimension of the points (`eigenfold dimension`) [default: 2]
    #[arg(short, long, value_parser = dims, allow_negative_numbers = true)]
    pub(crate) dims: Option<Count>,
    #[command(flatten)]
    pub(crate) neighbors: Neighbors,
    /// The most memory to use, as in 4GB or 512MiB; more is refused before it is allocated
    #[arg(long, value_name = "SIZE", value_parser = memory_size, allow_hyphen_values = true)]
    pub(crate) memory: Option<u64>,
    /// Rescale the embedding to the lengths of the graph: the largest variance within the method's first M coordinates that
    /// moves no neighbors farther apart than they are in the data; M is 10 if not given
    #[arg(long, value_name = "M", num_args = 0..=1, default_missing_value = "10", allow_negative_numbers = true)]
    pub(crate) rescale: Option<usize>,
    /// Compute the in-sample likelihood even if it takes long
    #[arg(long)]
    pub(crate) likelihood: bool,
    /// Hold out features and report their log likelihood, to compare methods: they have no part in graph, weights, signal and
    /// noise. Takes as long as five fits [default: none]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) held_out: Option<HeldOutWhat>,
    /// Where to write the coordinates: .csv, .tsv, .npy, .parquet, .arrow, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Where to draw them: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) drawing: Drawing,
    /// Where to draw what -k auto tried: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot_neighbors: Option<PathBuf>,
    /// Align the embedding with an earlier one of the same rows (rotation, reflection, translation; no scaling), for -o and
    /// --plot
    #[arg(long, value_name = "MAP")]
    pub(crate) align: Option<PathBuf>,
    /// Where to save the model, for `eigenfold transform` and `eigenfold reconstruct`
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Where to write the fitted edges of a method that has them (meu, drill, mvu), or the learned affinities of elastic, as
    /// CSV; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    /// Snapshots of the optimization: a new directory for 20 files, or a number of snapshots to keep in the report of --json
    #[arg(long, value_name = "DIR|N")]
    pub(crate) snapshots: Option<String>,
    /// Where to write the embeddings of a path of lambda (elastic), one after the other, with the columns lambda, point, y1, ...
    #[arg(long, value_name = "FILE")]
    pub(crate) path: Option<PathBuf>,
    /// Where to write the input with imputed missing cells (with --missing): by the model itself for ppca and fa
    #[arg(long, value_name = "FILE")]
    pub(crate) completed: Option<PathBuf>,
    /// Where to write the standard deviations of the imputed cells (ppca, fa); 0 in cells that were not missing
    #[arg(long, value_name = "FILE")]
    pub(crate) completed_std: Option<PathBuf>,
    /// Where to write the report as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The method's own parameters that were given, filled in by [`parsed`].
    #[arg(skip)]
    pub(crate) parameters: Vec<(String, String)>,
}

/// Embed new points with a model that `eigenfold embed --save` wrote.
///
/// Each row is embedded independently of the others, and training rows get their own coordinates. A model that was fitted to
/// rows with missing cells accepts such rows by default (--missing error refuses them).
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold embed old.csv -m isomap -o old-map.csv --save map.model
  eigenfold transform map.model new.csv -o new-map.csv
  eigenfold transform map.model new.csv --label species --keep id -o new-map.csv --plot new.png
  eigenfold transform map.model new.csv -o new-map.csv --std std.csv --json far.json")]
pub(crate) struct Transform {
    /// The saved model
    pub(crate) model: PathBuf,
    /// The new points, with the columns that the model was made from
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) carry: Carry,
    /// Where to write the coordinates: .csv, .tsv, .npy, .parquet, .arrow, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Where to write the uncertainty of each coordinate: for 68 % of new rows, an embedding fitted with the row has it no
    /// further away (docs/guide/new-data.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) std: Option<PathBuf>,
    /// What calibrates --std: rows fits the embedding again without some rows, which takes as long as five fits; none uses the
    /// error on this embedding alone, which is too narrow [default: rows for --std of 20 to 1,000 training rows]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) held_out: Option<HeldOutWhat>,
    /// Where to write the posterior of ppca and fa: the standard deviation of every coordinate, and the log density of the row
    #[arg(long, value_name = "FILE")]
    pub(crate) posterior: Option<PathBuf>,
    /// Where to draw the new points over the training points, which are grey: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) drawing: Drawing,
    /// Where to write the report as JSON, with the rows that are far from all training points; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Reconstruct data from coordinates of the embedding (the inverse transform), with an interval for every number.
///
/// Reads one embedding point a row (a column for each coordinate) and writes one data row for each, under the column names of the
/// training data. Linear methods (pca, mds) are inverted; all others use local kriging, whose intervals grow where
/// the embedding has no points. Each row is reconstructed independently.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold embed data.csv -m isomap -o map.csv --save map.model
  printf 'y1,y2\\n0,0\\n10,-5\\n' > coords.csv
  eigenfold reconstruct map.model coords.csv -o rows.csv --std std.csv --interval interval.csv
  eigenfold reconstruct map.model map.csv -o rows.npy --json report.json
  eigenfold reconstruct map.model map.csv -o rows.csv --held-out rows")]
pub(crate) struct Reconstruct {
    /// The saved model; it must have been made from points
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: Input,
    /// Where to write the data rows: .csv, .tsv, .npy, .parquet, .arrow, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// The rule of reconstruction
    #[arg(long, value_enum, default_value_t = By::Auto)]
    pub(crate) by: By,
    /// Where to write the half-widths of 68 % intervals, one for each entry of the data rows (the standard deviation where errors
    /// are Gaussian)
    #[arg(long, value_name = "FILE")]
    pub(crate) std: Option<PathBuf>,
    /// Where to write the half-widths of 95 % intervals, one for each entry of the data rows
    #[arg(long, alias = "margin", value_name = "FILE")]
    pub(crate) interval: Option<PathBuf>,
    /// Draw N joint samples per embedding point instead of the mean: entries spread as the intervals, with the correlations that
    /// the features have nearby
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// What calibrates the intervals: rows fits the embedding again without some rows, fold by fold, and reconstructs those, which
    /// takes as long as five fits [default: rows for --std, --interval and --samples of up to 1,000 rows and kriging, none
    /// otherwise]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) held_out: Option<HeldOutWhat>,
    /// Where to write the report as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measure the quality of an embedding, made by eigenfold or by another program.
///
/// Reports whether neighborhoods and distances are preserved, how well classes are separated, the reconstruction error, and the log
/// likelihood of the data under a Gaussian process over the embedding. Each measure is also available per point. Up to 5,000 points
/// all rows are used; beyond that a random sample is used, and the values have standard errors.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold embed iris -m isomap -o map.csv && eigenfold quality iris map.csv
  eigenfold quality data.csv --label species umap.npy --json quality.json
  eigenfold quality digits map.csv --pointwise each.csv --plot-pointwise torn.png --pointwise-by continuity
  eigenfold quality roll.csv map.csv --truth truth.csv -k 20 --gp-likelihood no
  eigenfold quality data.csv map.csv --lengths unit --starts one       as in Lawrence's tables")]
pub(crate) struct Quality {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    /// The embedding: one row for every row of the input, in the same order; .csv, .tsv, .npy, .parquet, .arrow, or -
    #[arg(value_name = "EMBEDDING")]
    pub(crate) embedding: PathBuf,
    /// What the input holds
    #[arg(long, value_enum, default_value_t = Kind::Points)]
    pub(crate) input_kind: Kind,
    /// Labels from another file, one for every row of INPUT, in the same order: a file with one column, or FILE:COLUMN
    #[arg(long, value_name = "FILE[:COLUMN]", conflicts_with = "label")]
    pub(crate) labels: Option<String>,
    /// Coordinates that are known to be right, one row for every row of the input
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// How far apart two points of the input are, as for `embed` [default: euclidean]
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub(crate) metric: Option<Metric>,
    /// The number of neighbors of the neighborhood measures [default: 10]
    #[arg(short = 'k', long = "neighbors", value_name = "K", allow_negative_numbers = true)]
    pub(crate) neighbors: Option<usize>,
    /// The number of rows to sample [default: all of up to 5,000, 500 to 2,000 of more]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rows: Option<usize>,
    /// Where to write every measure per point, one row for every row of the input, empty where it was not sampled
    #[arg(long, value_name = "FILE")]
    pub(crate) pointwise: Option<PathBuf>,
    /// Where to draw the embedding colored by a measure: .png or .svg
    #[arg(long, value_name = "FILE")]
    pub(crate) plot_pointwise: Option<PathBuf>,
    /// Where to draw the Shepard diagram, the distances of pairs in the embedding against those in the data: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot_shepard: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) paper: Paper,
    /// The measure that colors the embedding, by its name in the columns of --pointwise
    #[arg(long, value_name = "MEASURE", value_parser = measure, default_value = "trustworthiness")]
    pub(crate) pointwise_by: Measure,
    /// Whether to compute the log likelihood under a Gaussian process [default: yes up to 5,000 points]
    #[arg(long, alias = "gplvm", value_enum, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) gp_likelihood: Option<YesNo>,
    /// The length scales of the Gaussian process: one for each coordinate, so that their scales do not matter; or one for all
    /// coordinates, scaled to unit variance or as they are
    #[arg(long, value_enum, default_value_t = LengthsName::Ard)]
    pub(crate) lengths: LengthsName,
    /// The starting values of its optimization: seven, or Lawrence's own alone
    #[arg(long, value_enum, default_value_t = StartsName::All)]
    pub(crate) starts: StartsName,
    /// The number of inducing points of its lower bound [default: exact up to 2,000 points, 200 to 800 for more]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub(crate) inducing: Option<usize>,
    /// Where to write the report as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Estimate the intrinsic dimension of the points, by several estimators.
///
/// The main estimate uses ratios of distances to two neighbors (2NN), the second the skewness of simplices. Estimates at larger
/// scales show noise, and a check reports whether the points look like a sample of a smooth density. The intervals are statistical
/// and do not include bias. One number is recommended, with its reason and its caveat. Equal points count once. Slow
/// estimators use a subset of the points, which is reported.
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
    /// The largest neighborhood of Levina and Bickel's estimate, of the correlation dimension and of --pointwise
    /// [default: 20]
    #[arg(short = 'k', long = "neighbors", value_name = "K", allow_negative_numbers = true)]
    pub(crate) neighbors: Option<usize>,
    /// Leave out the slower estimates, which use all points at once
    #[arg(long)]
    pub(crate) quick: bool,
    /// Where to write the dimension at each point, one row for every row of the input: .csv, .tsv, .npy, .parquet, .arrow, or -
    /// for standard output; 0 where all neighbors are at one distance
    #[arg(long, value_name = "FILE")]
    pub(crate) pointwise: Option<PathBuf>,
    /// Where to draw the dimension against the scale: .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) paper: Paper,
    /// Where to write the report as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Build the neighborhood graph and report its connected components.
///
/// Writes one line for each edge: from, to, length (rows counted from 0).
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold graph digits -k 10 -o edges.csv
  eigenfold graph digits --learned -k 15 --penalty 0.5 -o learned.csv
  eigenfold graph data.csv --radius 0.5 --disconnected separate --json -
  eigenfold graph data.csv -k 5 -o edges.csv && eigenfold embed edges.csv --input-kind graph -m isomap")]
pub(crate) struct Graph {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    /// What the input holds: points, distances, or a graph whose components are wanted
    #[arg(long, value_enum, default_value_t = Kind::Points)]
    pub(crate) input_kind: Kind,
    #[command(flatten)]
    pub(crate) neighbors: Neighbors,
    /// Learn the graph by a sparse precision over the points; as --graph learned
    #[arg(long)]
    pub(crate) learned: bool,
    /// Where to write the edges; - for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Where to write the report as JSON; - for standard output
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
/// The synthetic ones know their true coordinates (--truth); digits and iris are real and come with a label column.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold sample swiss-roll -n 2000 -o roll.csv --truth truth.csv
  eigenfold sample swiss-roll --with-label -o roll.csv && eigenfold embed roll.csv --label label --plot roll.png
  eigenfold sample iris -o iris.csv")]
pub(crate) struct Sample {
    /// The data set; an unknown name lists them all
    pub(crate) name: String,
    /// The number of points of a synthetic set
    #[arg(short, long = "points", value_name = "N", allow_negative_numbers = true)]
    pub(crate) n: Option<usize>,
    /// The standard deviation of the noise added to a synthetic set
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// The seed of the random draw
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Add a last column, label: the position on the surface (digits and iris always have theirs)
    #[arg(long)]
    pub(crate) with_label: bool,
    /// Where to write the true coordinates of a synthetic set
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Where to write the points: .csv, .tsv, .npy, .parquet, .arrow, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// List the methods, or one with its parameters.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold methods
  eigenfold methods isomap
  eigenfold methods isomap --markdown
  eigenfold methods --json methods.json")]
pub(crate) struct Methods {
    /// One method, by its name or an alias
    pub(crate) name: Option<String>,
    /// Print its parameters as the table of its page in docs/methods
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Where to write the list as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

//! `eigenfold compare`: the same points by many methods, evaluated alike, as a table, a page, a contact sheet and a file.

mod atlas;
mod entrants;
pub(crate) mod image;
mod sample;
mod subject;
mod table;

pub(crate) use subject::{Subject, SubjectFlags};

use crate::drawing::{Paper, name_of, title_of};
use crate::embed::{try_bytes, try_coordinates, write_bytes};
use crate::flags::{Common, Input, Neighbors, Preparing, memory_size, with_flags};
use crate::labels::Carry;
use crate::outputs::{self, Outputs, Trial, Wanted};
use crate::progress::{self, Bar};
use crate::{drawing, input, one_line, report, say};
use clap::Args;
use eigenfold::{
    Data, Error, Observer, Result, Share, Silent,
    compare::{Compare, Entrant, Meter, Outcome},
    quality,
    quality::Quality,
};
use eigenfold_plot::{ContactSheet, Format};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Compare the embeddings of several methods: one table, one page.
///
/// Runs the methods one after the other on the same points with the same time limit, evaluates all embeddings alike, ranks them and
/// aligns them with the best one. A method that fails or exceeds its time does not end the others. The page of --report is one
/// file that opens from disk: linked embeddings, quality measures, true neighbors, and the reconstruction under the pointer.
/// Ctrl-C ends the running method; the embeddings made so far are evaluated and written. A second Ctrl-C exits at once, with
/// nothing written.
#[derive(Debug, Args)]
#[command(after_help = "Method parameters (--perplexity, --landmarks, ...): see `eigenfold methods NAME`.

EXAMPLES
  eigenfold compare --report report.html                          the built-in digits
  eigenfold compare data.csv --label species --report report.html
  eigenfold compare roll.csv --truth truth.csv --methods all --seconds 20
  eigenfold compare faces.npy --methods isomap,umap --sweep neighbors=5,10,20,40 --report sweep.html
  eigenfold compare digits --contact-sheet sheet.png --atlas atlas.parquet")]
pub(crate) struct Compared {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Methods, separated by commas, or `all` [default: a dozen fast ones]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Number of coordinates
    #[arg(short, long, value_name = "N", default_value_t = 2, allow_negative_numbers = true)]
    pub(crate) dims: usize,
    /// Values of a parameter to compare, as in neighbors=5,10,20
    ///
    /// Every method that has the parameter is fitted once for each value.
    #[arg(long, value_name = "NAME=VALUES")]
    pub(crate) sweep: Option<String>,
    /// Time limit of each method in seconds
    ///
    /// An optimization stops early and is marked as stopped.
    #[arg(long, value_name = "S", default_value_t = 60.0, allow_negative_numbers = true)]
    pub(crate) seconds: f64,
    /// Maximum number of rows, drawn at random, or `all`
    #[arg(long, value_name = "N|all", default_value = "10000")]
    pub(crate) points: String,
    /// True coordinates, one row for every row of the input
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    #[command(flatten)]
    pub(crate) neighbors: Neighbors,
    /// Page: .html
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Contact sheet of all embeddings: .png, .svg or .pdf
    #[arg(long, alias = "plate", value_name = "FILE")]
    pub(crate) contact_sheet: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) paper: Paper,
    /// All results and embeddings as JSON; - for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Best embedding and the data, for Embedding Atlas: .parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) atlas: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) carry: Carry,
    /// Size of the images in the rows, or `none` [default: detected]
    #[arg(long, value_name = "WxH|none")]
    pub(crate) image: Option<String>,
    /// Memory limit, as in 4GB or 512MiB; a method that needs more is not run
    #[arg(long, value_name = "SIZE", value_parser = memory_size, allow_hyphen_values = true)]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The parameters of methods that were given, filled in by [`crate::command::parsed`].
    #[arg(skip)]
    pub(crate) parameters: Vec<(String, String)>,
}

/// Runs the command.
pub(crate) fn run(args: &Compared) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let entrants = entrants::entrants(args)?;
    check(args)?;
    let bar = Bar::new(args.common.quiet);
    let [reading, fitting, evaluating] = Share::split(&bar, [0.02, 1.0, 0.2]).map(Share::even);
    bar.say("reading");
    let start = Instant::now();
    let flags = SubjectFlags {
        input: &args.input,
        carry: &args.carry,
        preparing: &args.preparing,
        memory: args.memory,
        truth: args.truth.as_deref(),
        points: &args.points,
        seed: args.common.seed,
    };
    let subject = Subject::read(&flags, &reading)?;
    progress::go_on()?;
    let image = image::size(args.image.as_deref(), &subject.points)?;

    let compare = comparison(Some(args.seconds), args.common.seed);
    let classes = subject.along.labels.as_ref().and_then(|labeled| labeled.labels.classes());
    let mut outcomes = fit(&compare, entrants, &subject, classes.as_deref(), &bar, &fitting)?;
    bar.say("evaluating");
    let given = quality::QualityInput {
        data: Data::Points(&subject.points, args.neighbors.metric.unwrap_or_default()),
        labels: classes.as_deref(),
        truth: subject.truth.as_ref(),
    };
    // After Ctrl-C the embeddings that exist are evaluated and written.
    let stopped = progress::start_writing_what_there_is();
    let watch: &dyn Observer = if stopped { &Silent } else { &evaluating };
    compare.evaluate(&mut outcomes, &given, watch)?;
    let seconds = start.elapsed().as_secs_f64();
    bar.say("writing");
    write(args, &subject, &outcomes, image, seconds, stopped)?;
    bar.finish();
    say(args.common.quiet, &table::summary(args, &subject, &outcomes, seconds));
    Ok(())
}

/// How maps are made and evaluated, with memory as the program counts it.
pub(crate) fn comparison(seconds: Option<f64>, seed: u64) -> Compare {
    let meter = Meter {
        reset: || crate::ALLOCATED.reset_peak_usage(),
        now: || crate::ALLOCATED.current_usage(),
        peak: || crate::ALLOCATED.peak_usage(),
    };
    Compare { seconds, quality: Quality { seed, ..Quality::default() }, meter: Some(meter) }
}

/// Refuses invalid requests before any work.
fn check(args: &Compared) -> Result<()> {
    if args.seconds.is_nan() || args.seconds <= 0.0 {
        return Err(Error::parameter(
            "seconds",
            format!("--seconds {} is not a time", args.seconds),
            "give a positive number",
        ));
    }
    let ends = |target: &Path, ending: &str| target.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending));
    if let Some(target) = args.report.as_deref().filter(|target| !ends(target, "html") && !ends(target, "htm")) {
        return Err(Error::parameter(
            "report",
            format!("{}: the page is HTML", target.display()),
            "end its name in .html",
        ));
    }
    if let Some(target) = args.atlas.as_deref().filter(|target| !ends(target, "parquet")) {
        return Err(Error::parameter(
            "atlas",
            format!("{}: Embedding Atlas opens Parquet", target.display()),
            "end its name in .parquet",
        ));
    }
    if let Some(target) = &args.contact_sheet {
        Format::of(Path::new(target))?;
    }
    let inputs: Vec<&Path> =
        args.input.sources().into_iter().chain(args.truth.as_deref()).chain(args.carry.inputs()).collect();
    outputs::check(&inputs, &wanted(args))
}

/// The outputs that the flags name.
fn wanted(args: &Compared) -> Vec<Wanted<'_>> {
    let all: [(&'static str, Option<&Path>, Trial); 4] = [
        ("--report", args.report.as_deref(), try_bytes),
        ("--contact-sheet", args.contact_sheet.as_deref(), try_bytes),
        ("--atlas", args.atlas.as_deref(), try_coordinates),
        ("--json", args.json.as_deref(), try_bytes),
    ];
    let given = all.into_iter().filter_map(|(flag, target, trial)| target.map(|target| (flag, target, trial)));
    given.map(|(flag, target, trial)| Wanted { flag, target, trial }).collect()
}

/// Fits them all; each is said when it has ended.
pub(crate) fn fit(
    compare: &Compare,
    entrants: Vec<Entrant>,
    subject: &Subject,
    classes: Option<&[Option<u32>]>,
    bar: &Bar,
    share: &Share<'_>,
) -> Result<Vec<Outcome>> {
    let count = entrants.len();
    let input = eigenfold::Input { labels: classes, names: subject.names.as_deref(), ..(&subject.points).into() };
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(count);
    for (at, mut entrant) in entrants.into_iter().enumerate() {
        if subject.points.rows() > eigenfold_page::ANIMATED {
            entrant.recipe.snapshots = 0;
        }
        if progress::is_stopped() {
            outcomes.push(Outcome::skipped(entrant, "stopped by you before it began"));
            continue;
        }
        bar.trial(&format!("{}, {} of {count}", entrant.name, at + 1));
        let part = Share::one_of(share, at, count);
        let outcome = match compare.fit(entrant.clone(), input, &part) {
            Ok(outcome) => outcome,
            Err(Error::Stopped) => Outcome::skipped(entrant, "stopped by you before it had an embedding"),
            Err(error) => return Err(error),
        };
        part.finish();
        if bar.is_visible() {
            bar.aside(|| say(false, &table::ended(&outcome)));
        }
        outcomes.push(outcome);
    }
    bar.trial("");
    if outcomes.iter().all(|outcome| outcome.model.is_none()) {
        let reasons: Vec<String> = outcomes
            .iter()
            .filter_map(|one| Some(format!("{}: {}", one.entrant.name, with_flags(one.status.reason()?))))
            .collect();
        let reasons = one_line(&reasons.join("; "));
        let none = Error::parameter("methods", "no method gave an embedding", reasons);
        return Err(if progress::is_stopped() { Error::Stopped } else { none });
    }
    Ok(outcomes)
}

/// Writes the requested outputs, all or none.
fn write(
    args: &Compared,
    subject: &Subject,
    outcomes: &[Outcome],
    image: Option<(usize, usize)>,
    seconds: f64,
    stopped: bool,
) -> Result<()> {
    let title = name_of(&args.input.source);
    let mut outputs = Outputs::default();
    if let Some(target) = &args.report {
        let labels = subject.labels();
        let page = subject.page(&title, args.neighbors.metric.unwrap_or_default(), image, &labels, outcomes);
        let html = page.html()?;
        outputs.stage(target, move |name| write_bytes(name, html.as_bytes()))?;
    }
    if let Some(target) = &args.contact_sheet {
        let format = Format::of(Path::new(target))?;
        let coloring = drawing::coloring(subject.along.labels.clone(), 0);
        let thumbnails = outcomes.iter().map(table::thumbnail).collect::<Result<Vec<_>>>()?;
        let subtitle = table::subtitle(subject);
        let (title, theme) = (title_of(&args.input.source), args.paper.theme());
        let sheet =
            ContactSheet { title: &title, subtitle: &subtitle, thumbnails: &thumbnails, coloring: &coloring, theme };
        let bytes = sheet.rendered(format)?;
        outputs.stage(target, move |name| write_bytes(name, &bytes))?;
    }
    if let Some(target) = &args.atlas {
        let rows = atlas::rows(subject, outcomes, args.neighbors.metric.unwrap_or_default())?;
        outputs.stage(target, move |name| rows.write(name))?;
    }
    if let Some(target) = &args.json {
        let value = table::json(args, subject, outcomes, seconds, stopped)?;
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    outputs.commit()
}

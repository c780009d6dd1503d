//! `eigenfold view`: a saved model, or a page that is there already, in the browser.

use crate::compare::image;
use crate::drawing::name_of;
use crate::embed::{try_bytes, write_bytes};
use crate::flags::Common;
use crate::labels::{Along, Carry, Labeled};
use crate::outputs::{self, Outputs, Wanted};
use crate::progress::{self, Bar};
use crate::{input, say};
use clap::Args;
use eigenfold::{
    Data, Error, Model, Result,
    compare::{Compare, Entrant, Outcome},
    io::Labels,
    quality::QualityInput,
};
use eigenfold_page::Page;
use std::ffi::OsStr;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the page of a model ends with, by which it is known when it is to be written again.
const MARK: &str = "<!-- the page of a model, by eigenfold view -->\n";

/// Open a saved model, or a page of `eigenfold compare --report`, in the browser.
///
/// A model is written as a page first: the embedding, its quality, the true neighbors, and the reconstruction under the pointer. The
/// page is written beside the model unless -o names another file. An HTML file is opened as it is.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold embed digits -m tsne --save digits.model
  eigenfold view digits.model --labels digits:label
  eigenfold view report.html
  eigenfold view map.model -o map.html --no-open")]
pub(crate) struct View {
    /// Model of `eigenfold embed --save`, or an .html file
    #[arg(value_name = "MODEL|REPORT")]
    pub(crate) file: PathBuf,
    /// Labels that color the points: FILE with one column, or FILE:COLUMN
    #[arg(long, value_name = "FILE[:COLUMN]")]
    pub(crate) labels: Option<String>,
    /// Names of the points: FILE with one column, or FILE:COLUMN
    #[arg(long, value_name = "FILE[:COLUMN]")]
    pub(crate) names: Option<String>,
    /// Size of the images in the rows, or `none` [default: detected]
    #[arg(long, value_name = "WxH|none")]
    pub(crate) image: Option<String>,
    /// Page to write [default: the name of the model with .html]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the page and do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Runs the command.
pub(crate) fn run(args: &View) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let is_page =
        args.file.extension().is_some_and(|end| ["html", "htm"].iter().any(|html| end.eq_ignore_ascii_case(html)));
    if is_page {
        if args.output.is_some() {
            return Err(Error::inapplicable("output", "a page is opened as it is", "leave out -o, or name a model"));
        }
        if !args.file.is_file() {
            let fact = format!("{} is not a file", args.file.display());
            return Err(Error::parameter("file", fact, "name a page of `eigenfold compare --report`, or a model"));
        }
        return open(args, &args.file);
    }
    let target = match &args.output {
        Some(target) => target.clone(),
        None => own_page(&args.file)?,
    };
    outputs::check(&[&args.file], &[Wanted { flag: "-o", target: &target, trial: try_bytes }])?;
    let model = Model::load(&args.file)?;
    let bar = Bar::new(args.common.quiet);
    let html = page(args, model, &bar)?;
    progress::start_writing()?;
    let mut outputs = Outputs::default();
    let html = html + MARK;
    outputs.stage(&target, move |name| write_bytes(name, html.as_bytes()))?;
    outputs.commit()?;
    bar.finish();
    open(args, &target)
}

/// Where the page of a model goes that was given no name: beside the model, in the place of nothing but such a page.
fn own_page(model: &Path) -> Result<PathBuf> {
    let page = model.with_extension("html");
    let there = std::fs::symlink_metadata(&page).is_ok();
    if there && !is_own_page(&page) {
        let (page, fact) = (page.display(), "already exists, and is not the page of a model");
        return Err(Error::parameter(
            "output",
            format!("{page} {fact}"),
            "name the page with -o, or move the file away",
        ));
    }
    Ok(page)
}

/// Whether a file ends as the pages do that are written here.
fn is_own_page(page: &Path) -> bool {
    let end = || -> std::io::Result<Vec<u8>> {
        let (mut file, mut end) = (std::fs::File::open(page)?, Vec::new());
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(MARK.len() as u64)))?;
        file.take(MARK.len() as u64).read_to_end(&mut end)?;
        Ok(end)
    };
    page.is_file() && end().is_ok_and(|end| end == MARK.as_bytes())
}

/// The page of one model.
fn page(args: &View, model: Model, bar: &Bar) -> Result<String> {
    let Some(points) = model.points().cloned() else {
        let fact = format!("{} was made from {}", args.file.display(), model.kind().name());
        return Err(Error::input_kind(
            &["points"],
            format!("{fact}, and a page shows points with features"),
            "embed such a file",
        ));
    };
    let carry = Carry { labels: args.labels.clone(), names: args.names.clone(), keep: Vec::new() };
    if let Some(name) = carry.columns().first() {
        return Err(Error::parameter(
            "names",
            format!("--names {name} is not a file"),
            "give a file of names; a model does not keep them",
        ));
    }
    let Along { labels, names, .. } = carry.along(None, None, Vec::new(), points.rows())?;
    // What was prepared before the fit is compared as it was prepared.
    let prepared = model.prepared().cloned();
    let seen = prepared.as_ref().map_or(Ok(points.clone()), |prepared| prepared.apply(&points, model.names()))?;
    let (metric, columns) = (model.recipe().metric, model.names().map(<[String]>::to_vec));
    let image = image::size(args.image.as_deref(), &points)?;
    let classes = labels.as_ref().and_then(|labeled| labeled.labels.classes());
    let entrant = Entrant { name: model.report().method.clone(), recipe: model.recipe().clone(), sweep: None };
    let mut outcomes = [Outcome::of(entrant, model)];
    let given = QualityInput { data: Data::Points(&seen, metric), labels: classes.as_deref(), truth: None };
    Compare::default().evaluate(&mut outcomes, &given, bar)?;
    let labels: Vec<(String, Labels)> = labels.into_iter().map(|Labeled { title, labels }| (title, labels)).collect();
    let title = name_of(&args.file);
    Page {
        title: &title,
        source: &title,
        rows: seen.rows(),
        points: &seen,
        row_ids: None,
        metric,
        columns: columns.as_deref(),
        prepared: prepared.as_ref(),
        labels: &labels,
        names: names.as_deref(),
        image,
        notes: &[],
        outcomes: &outcomes,
    }
    .html()
}

/// Opens a page by whatever opens web pages here; if nothing does, says where it is.
fn open(args: &View, page: &Path) -> Result<()> {
    let place = page.canonicalize().unwrap_or_else(|_| page.to_path_buf());
    let shown = place.display();
    if args.no_open {
        say(args.common.quiet, &format!("the page is {shown}"));
        return Ok(());
    }
    match opens(place.as_os_str()) {
        true => say(args.common.quiet, &format!("opened {shown}")),
        false => say(args.common.quiet, &format!("nothing here opens web pages; open this file in a browser: {shown}")),
    }
    Ok(())
}

/// Opens a file or an address by whatever opens web pages here; whether there is such a thing.
pub(crate) fn opens(place: &OsStr) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(place).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

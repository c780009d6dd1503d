//! `eigenfold embed`: read, fit, and write whatever was asked for, all or nothing.

use crate::args::Embed;
use crate::input::Given;
use crate::outputs::{self, Outputs, Trial, Wanted};
use crate::plot::{Coloring, Format, Picture};
use crate::progress::{self, Bar};
use crate::report::{self, Chosen, Spent, Story};
use crate::{chosen, input, say};
use eigenfold::{Likelihood, Points};
use eigenfold::error::{Error, Result};
use eigenfold::io::{self, Labels, write_bytes_atomically, write_error};
use eigenfold::model::Model;
use eigenfold::recipe::{Method, Recipe};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &Embed) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let recipe = recipe(args)?;
    if let Some(plot) = &args.plot {
        Format::of(Path::new(plot)).map_err(Error::Parameter)?;
    }
    if args.save.as_deref() == Some("-") {
        return Err(Error::Parameter("a model cannot go to standard output; give --save a file".into()));
    }
    outputs::check(&[&args.input.source], &wanted(args))?;

    let bar = Bar::new(args.common.quiet);
    bar.say("reading");
    let start = Instant::now();
    let Given { data, labels, names } = input::read(&args.input, args.input_kind)?;
    let read = start.elapsed().as_secs_f64();
    progress::go_on()?;

    let mut model = recipe.fit_watched(data.as_input(), &bar)?;
    if let Some(names) = names {
        model.set_names(names)?;
    }
    progress::start_writing()?;
    bar.finish();
    write(args, &model, labels, read)
}

/// Writes what was asked for, or the coordinates to standard output if nothing was.
fn write(args: &Embed, model: &Model, labels: Option<Labels>, read: f64) -> Result<()> {
    let silent = args.output.is_none() && args.plot.is_none() && args.save.is_none() && args.json.is_none();
    let output = if silent { Some("-") } else { args.output.as_deref() };
    let parameters = chosen::parameters(args, model);
    let mut warnings = model.report().warnings.clone();
    warnings.extend(chosen::unused_flags(args, model.recipe()));
    let story = |spent| Story { report: model.report(), parameters: &parameters, warnings: &warnings, spent };

    let start = Instant::now();
    let mut outputs = Outputs::default();
    if let Some(target) = output {
        outputs.stage(target, |name| write_coordinates(name, model.embedding()))?;
    }
    if let Some(target) = &args.plot {
        let bytes =
            picture(args, model, labels, &parameters, Format::of(Path::new(target)).map_err(Error::Parameter)?)?;
        outputs.stage(target, move |name| write_bytes(name, &bytes))?;
    }
    if let Some(target) = &args.save {
        outputs.stage(target, |name| model.save(Path::new(name)))?;
    }
    if let Some(target) = &args.json {
        let value = report::json(&story(Spent { read, write: start.elapsed().as_secs_f64() }));
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    progress::go_on()?;
    outputs.commit()?;
    say(args.common.quiet, &report::summary(&story(Spent { read, write: start.elapsed().as_secs_f64() })));
    Ok(())
}

/// The method with its parameters, and the graph, as asked for.
fn recipe(args: &Embed) -> Result<Recipe> {
    let mut method = Method::from_name(&args.method)?;
    // The kernel decides which other parameters there are.
    let (kernel, others): (Vec<_>, Vec<_>) = args.parameters.iter().partition(|(name, _)| name == "kernel");
    for (name, value) in kernel.into_iter().chain(others) {
        method.set(name, value)?;
    }
    Ok(Recipe {
        neighbors: input::neighbors(&args.neighbors)?,
        metric: input::metric(&args.neighbors),
        approximate: args.neighbors.approximate,
        pieces: input::pieces(&args.neighbors),
        method,
        dims: args.dims,
        seed: args.common.seed,
        memory: args.memory,
        likelihood: if args.likelihood { Likelihood::Always } else { Likelihood::Cheap },
    })
}

/// The outputs that the flags name, each with a way to try it.
fn wanted(args: &Embed) -> Vec<Wanted<'_>> {
    let all: [(&'static str, Option<&str>, Trial); 4] = [
        ("-o", args.output.as_deref(), try_coordinates),
        ("--plot", args.plot.as_deref(), try_bytes),
        ("--save", args.save.as_deref(), try_bytes),
        ("--json", args.json.as_deref(), try_bytes),
    ];
    let given = all.into_iter().filter_map(|(flag, target, trial)| target.map(|target| (flag, target, trial)));
    given.map(|(flag, target, trial)| Wanted { flag, target, trial }).collect()
}

/// Writes an embedding; also what `transform` writes.
pub(crate) fn write_coordinates(target: &str, points: &Points) -> Result<()> {
    io::write(target, &input::numbered("y", points.cols()), points, None)
}

/// Writes one point, to see whether a file of points can be written there.
pub(crate) fn try_coordinates(target: &str) -> Result<()> {
    write_coordinates(target, &Points::new(1, 1, vec![0.0])?)
}

/// Writes nothing, to see whether a file can be there.
pub(crate) fn try_bytes(target: &str) -> Result<()> {
    write_bytes(target, &[])
}

fn write_bytes(target: &str, bytes: &[u8]) -> Result<()> {
    write_bytes_atomically(target, |out| out.write_all(bytes).map_err(|source| write_error(target, source)))
}

fn picture(
    args: &Embed,
    model: &Model,
    labels: Option<Labels>,
    parameters: &[Chosen],
    format: Format,
) -> Result<Vec<u8>> {
    let report = model.report();
    let title = args.input.label.clone().unwrap_or_else(|| "label".to_string());
    let coloring = match labels {
        None => Coloring::One,
        Some(Labels::Values(values)) => Coloring::Values { title, values },
        Some(Labels::Classes { names, of }) => Coloring::Classes { title, names, of },
    };
    let name = match args.input.source.as_str() {
        "-" => "standard input".into(),
        source => Path::new(source).file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let mut facts = vec![format!("{} points", report::grouped(report.n))];
    facts.extend(report.features.map(|d| format!("{} features", report::grouped(d))));
    facts.extend(parameters.iter().filter(|p| p.is_telling()).map(|p| format!("{} {}", p.name, p.used)));
    let picture = Picture {
        points: model.embedding(),
        coloring: &coloring,
        eigenvalues: &report.eigenvalues,
        title: &format!("{} of {name}", report.method),
        subtitle: &facts.join(" · "),
    };
    picture.rendered(format).map_err(Error::Numerical)
}

//! `eigenfold transform`: new points embedded with a saved model.

use crate::args::Transform;
use crate::drawing::{self, Added};
use crate::dropped_rows::Kept;
use crate::embed::{try_bytes, try_coordinates, try_kept, write_bytes, write_coordinates, write_map};
use crate::flags::HeldOutWhat;
use crate::outputs::{self, Outputs, Trial, Wanted};
use crate::progress::{self, Bar};
use crate::reconstruct::without_classes;
use crate::report::{self, grouped, plural};
use crate::stream::{self, Begun};
use crate::{input, one_line, say};
use eigenfold::{Error, HeldOutExtension, Model, Points, Posterior, Result, Transformed, io, io::ReadOptions};
use eigenfold_plot::Format;
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &Transform) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let trial: Trial = if args.carry.keep.is_empty() { try_coordinates } else { try_kept };
    let mut wanted = vec![Wanted { flag: "-o", target: &args.output, trial }];
    wanted.extend(args.std.iter().map(|target| Wanted { flag: "--std", target, trial: try_coordinates }));
    wanted.extend(args.posterior.iter().map(|target| Wanted { flag: "--posterior", target, trial: try_coordinates }));
    wanted.extend(args.plot.iter().map(|target| Wanted { flag: "--plot", target, trial: try_bytes }));
    wanted.extend(args.json.iter().map(|target| Wanted { flag: "--json", target, trial: try_bytes }));
    args.drawing.check(args.plot.as_deref(), args.carry.names.is_some())?;
    let mut inputs = args.input.sources();
    inputs.push(&args.model);
    inputs.extend(args.carry.inputs());
    outputs::check(&inputs, &wanted)?;
    let bar = Bar::new(args.common.quiet);
    bar.say("reading");
    let start = Instant::now();
    let model = load(&args.model)?;
    let options = input::options(&args.input);
    // A model of rows that had missing cells takes such rows.
    let lenient = args.input.missing.is_none() && model.points().is_some_and(|points| !points.missing().is_empty());
    let missing = options.missing || lenient;
    let options = ReadOptions { keep: args.carry.columns(), like: model.schema(), missing, ..options };
    let table = match stream::begin(args, &options)? {
        Begun::Batches(batches) => return stream::run(args, &model, batches, &bar, start),
        Begun::Whole(table) => {
            input::say_notes(&input::with_flag_names(&table.notes), args.common.quiet);
            *table
        }
        Begun::Nothing => input::table(&args.input, options, args.common.quiet)?,
    };
    let kept = Kept::of(args.input.missing(), &table.points)?;
    let along = args.carry.along(table.labels, args.input.label.as_deref(), table.kept, table.points.rows())?;
    let along = along.of_rows(kept.as_ref());
    let points = if let Some(kept) = &kept { table.points.select(&kept.rows) } else { table.points };
    progress::go_on()?;
    let features = model.points().map(Points::cols);
    args.drawing.check_data(features, model.embedding().cols(), along.names.is_some())?;
    let read = start.elapsed().as_secs_f64();
    bar.say("embedding new points");
    let start = Instant::now();
    let held_out = if holds_out(args, &model)? { Some(model.held_out_extension(&bar)?) } else { None };
    let Transformed { coordinates: placed, far, deviations } = match (&args.std, &held_out) {
        (Some(_), Some(held_out)) => model.transform_held_out(&points, held_out)?,
        (Some(_), None) => model.transform_with_std(&points)?,
        (None, _) => model.transform_detailed(&points)?,
    };
    if args.std.is_some() && deviations.is_none() {
        return Err(without_deviations(&model));
    }
    let posterior = args.posterior.as_ref().map(|target| Ok((target, posterior(&model, &points)?))).transpose()?;
    let place = start.elapsed().as_secs_f64();
    let spread = |found: &Points| kept.as_ref().map_or_else(|| Ok(found.clone()), |kept| kept.spread(found));
    let all = spread(&placed)?;
    // Rows as the file counts them.
    let in_file: Vec<usize> = far.iter().map(|&i| kept.as_ref().map_or(i, |kept| kept.rows[i])).collect();
    progress::start_writing()?;
    bar.say("writing");
    let start = Instant::now();
    let dropped = kept.as_ref().map(Kept::note);
    let notes: Vec<String> =
        dropped.into_iter().chain(along.note()).chain(far_message(in_file.len(), &in_file, placed.rows())).collect();
    let mut outputs = Outputs::default();
    outputs.stage(&args.output, |name| write_map(name, &all, &along.kept))?;
    if let (Some(target), Some(deviations)) = (&args.std, &deviations) {
        let deviations = spread(deviations)?;
        outputs.stage(target, move |name| write_coordinates(name, &deviations))?;
    }
    if let Some((target, (names, values))) = posterior {
        let values = spread(&values)?;
        outputs.stage(target, move |name| io::write(name, &names, &values, &[]))?;
    }
    if let Some(target) = &args.plot {
        let format = Format::of(Path::new(target))?;
        let (rows, names) = (&points, along.names.as_deref());
        let (labels, source) = (along.labels, args.input.source.as_path());
        let added = Added { model: &model, placed: &placed, rows, far: &far, labels, names, source };
        let bytes = drawing::picture_of_new(&args.drawing, added, format)?;
        outputs.stage(target, move |name| write_bytes(name, &bytes))?;
    }
    if let Some(target) = &args.json {
        let value = json!({
            "method": model.report().method,
            "n": placed.rows(),
            "features": features,
            "dims": placed.cols(),
            "training": model.embedding().rows(),
            "far": in_file.iter().map(|i| i + 1).collect::<Vec<_>>(),
            "dropped": kept.as_ref().map(Kept::json),
            "seconds": {"read": read, "transform": place, "write": start.elapsed().as_secs_f64()},
            "warnings": input::with_flag_names(&table.notes).iter().chain(&notes).map(|note| one_line(note)).collect::<Vec<_>>(),
        });
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    bar.finish();
    outputs.commit()?;
    let (points, dims) = (plural(placed.rows(), "new point"), plural(placed.cols(), "dimension"));
    say(args.common.quiet, &format!("{}: {points} embedded in {dims}", model.report().method));
    if args.std.is_some() {
        say(args.common.quiet, &uncertainty(&model, held_out.as_ref()));
    }
    notes.iter().for_each(|note| say(args.common.quiet, &format!("  warning: {note}")));
    Ok(())
}

/// Whether the embedding is fitted again without some rows: on request, or for --std if few rows make it cheap.
pub(crate) fn holds_out(args: &Transform, model: &Model) -> Result<bool> {
    match args.held_out {
        Some(what) if what.is_rows("transform").is_err() => what.is_rows("transform"),
        Some(_) if args.std.is_none() => {
            Err(Error::inapplicable("held-out", "--held-out calibrates what --std writes", "add --std FILE"))
        }
        Some(HeldOutWhat::Rows) if model.recipe().method.is_supervised() => {
            Err(Error::inapplicable("held-out", without_classes(model), "leave out --held-out"))
        }
        Some(HeldOutWhat::Rows) if model.latent().is_some() => Err(without_deviations(model)),
        Some(what) => what.is_rows("transform"),
        None => Ok(args.std.is_some() && model.holds_out_extension()),
    }
}

/// What --std contains.
pub(crate) fn uncertainty(model: &Model, held_out: Option<&HeldOutExtension>) -> String {
    match held_out {
        Some(HeldOutExtension { rows, folds, within: [one, two], .. }) => {
            let rows = grouped(*rows);
            format!(
                "  uncertainty  calibrated on {rows} held-out rows in {folds} folds; {one:.2} of their coordinates are within \
                 one --std, {two:.2} within 1.96"
            )
        }
        None if model.recipe().method.has_density() => {
            "  uncertainty  standard deviation of the posterior; the embedding is taken as fixed".to_string()
        }
        None => {
            let way = if model.can_hold_out_extension() { " (--held-out rows)" } else { "" };
            format!(
                "  uncertainty  of the position alone; the variability of the embedding itself is not included{way}"
            )
        }
    }
}

/// Why there is no uncertainty of new rows, and the way out.
pub(crate) fn without_deviations(model: &Model) -> Error {
    if let Some(fact) = model.recipe().method.without_standard_deviation() {
        return Error::parameter("std", fact, "use --held-out rows");
    }
    let method = &model.report().method;
    let way_out = if model.latent().is_some() { "use --posterior" } else { "use --held-out rows" };
    let fact = format!("the extension of {method} does not depend on nearby rows, so it has no uncertainty");
    Error::parameter("std", fact, way_out)
}

/// The deviation of every coordinate and the log density of every row, with the names of these columns.
pub(crate) fn posterior(model: &Model, rows: &Points) -> Result<(Vec<String>, Points)> {
    let posteriors = model.posteriors(rows)?;
    let dims = posteriors.first().map_or(0, |posterior| posterior.mean.len());
    let names = (1..=dims).map(|q| format!("y{q}_std")).chain(["log_density".into()]).collect();
    let deviation = |covariance: &[f64], q: usize| covariance[q * dims + q].sqrt();
    let row = |posterior: &Posterior| {
        let deviations = (0..dims).map(|q| deviation(&posterior.covariance, q));
        deviations.chain([posterior.log_density]).collect::<Vec<f64>>()
    };
    let values: Vec<f64> = posteriors.iter().flat_map(row).collect();
    Ok((names, Points::new(posteriors.len(), dims + 1, values)?))
}

/// One line: how many rows are far from all data, and the first of them as the file counts them.
pub(crate) fn far_message(count: usize, first: &[usize], rows: usize) -> Option<String> {
    if count == 0 {
        return None;
    }
    let shown: Vec<String> = first.iter().take(5).map(|&i| grouped(i + 1)).collect();
    let more = if count > 5 { ", ..." } else { "" };
    let (count, rows) = (grouped(count), grouped(rows));
    let rest = "their coordinates are extrapolated and mean little";
    let fact = format!("{count} of {rows} new points are far from all training points");
    Some(format!("{fact} (rows {}{more}); {rest}", shown.join(", ")))
}

/// The saved model, with the way out if the name is wrong.
pub(crate) fn load(path: &Path) -> Result<Model> {
    if !path.is_file() {
        let what = if path.is_dir() { "is a directory" } else { "there is no such file" };
        let path = path.display();
        return Err(Error::parameter(
            "model",
            format!("{path}: {what}"),
            "name a model that `eigenfold embed --save` made",
        ));
    }
    Model::load(path)
}

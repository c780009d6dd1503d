//! `eigenfold transform`: new points onto a saved map.

use crate::args::{HeldOutWhat, Transform};
use crate::embed::{try_coordinates, write_coordinates};
use crate::outputs::{self, Outputs, Wanted};
use crate::progress::{self, Bar};
use crate::reconstruct::without_classes;
use crate::report::{grouped, plural};
use crate::{columns, input, say};
use eigenfold::error::{Error, Result};
use eigenfold::{HeldOutPlaces, Method, Model, Placed, Points, Posterior, io};
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &Transform) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let mut wanted = vec![Wanted { flag: "-o", target: &args.output, trial: try_coordinates }];
    wanted.extend(args.std.iter().map(|target| Wanted { flag: "--std", target, trial: try_coordinates }));
    wanted.extend(args.posterior.iter().map(|target| Wanted { flag: "--posterior", target, trial: try_coordinates }));
    let inputs = [args.input.source.as_str(), args.model.to_str().unwrap_or_default()];
    outputs::check(&inputs, &wanted)?;
    let bar = Bar::new(args.common.quiet);
    bar.say("reading");
    let model = load(&args.model)?;
    let table = input::table(&args.input, args.common.quiet)?;
    progress::go_on()?;
    let warning = columns::compared(model.names(), table.columns.as_deref())?;
    bar.say("placing");
    let held_out = if holds_out(args, &model)? { Some(model.held_out_places_watched(&bar)?) } else { None };
    let Placed { coordinates: placed, far, deviations } = match (&args.std, &held_out) {
        (Some(_), Some(held_out)) => model.place_held_out(&table.points, held_out)?,
        (Some(_), None) => model.place_with_deviations(&table.points)?,
        (None, _) => model.place(&table.points)?,
    };
    if args.std.is_some() && deviations.is_none() {
        return Err(Error::Parameter(without_deviations(&model)));
    }
    let posterior =
        args.posterior.as_ref().map(|target| Ok((target, posterior(&model, &table.points)?))).transpose()?;
    progress::start_writing()?;
    let mut outputs = Outputs::default();
    outputs.stage(&args.output, |name| write_coordinates(name, &placed))?;
    if let (Some(target), Some(deviations)) = (&args.std, &deviations) {
        outputs.stage(target, |name| write_coordinates(name, deviations))?;
    }
    if let Some((target, (names, values))) = posterior {
        outputs.stage(target, move |name| io::write(name, &names, &values, None))?;
    }
    bar.finish();
    outputs.commit()?;
    let (points, dims) = (plural(placed.rows(), "new point"), plural(placed.cols(), "dimension"));
    say(args.common.quiet, &format!("{}: {points} placed in {dims}", model.report().method));
    if args.std.is_some() {
        say(args.common.quiet, &told(&model, held_out.as_ref()));
    }
    warning.iter().for_each(|warning| say(args.common.quiet, &format!("  warning: {warning}")));
    if !far.is_empty() {
        say(args.common.quiet, &far_message(&far, placed.rows()));
    }
    Ok(())
}

/// Whether the map is made again without some rows: if asked for, or if deviations are and few rows make it cheap.
fn holds_out(args: &Transform, model: &Model) -> Result<bool> {
    match args.held_out {
        Some(_) if args.std.is_none() => {
            Err(Error::Parameter("--held-out sets the deviations that --std writes; add --std FILE".into()))
        }
        Some(HeldOutWhat::Rows) if model.recipe().method.is_supervised() => {
            Err(Error::Parameter(format!("{}; leave out --held-out", without_classes(model))))
        }
        Some(HeldOutWhat::Rows) if model.latent().is_some() => Err(Error::Parameter(without_deviations(model))),
        Some(what) => Ok(what == HeldOutWhat::Rows),
        None => Ok(args.std.is_some() && model.holds_out_places()),
    }
}

/// What the deviations are.
fn told(model: &Model, held_out: Option<&HeldOutPlaces>) -> String {
    match held_out {
        Some(HeldOutPlaces { rows, folds, within: [one, two], .. }) => {
            let rows = grouped(*rows);
            format!(
                "  deviations   from a map made with such rows, by {folds} maps without some; of {rows} rows held out \
                 {one:.2} of the coordinates are within one deviation, {two:.2} within 1.96"
            )
        }
        None if matches!(model.recipe().method, Method::Gplvm(_)) => {
            "  deviations   of the model's own density around the place; the map stands still".to_string()
        }
        None => {
            let way = if model.can_hold_out_places() { " (--held-out rows)" } else { "" };
            format!(
                "  deviations   of the placing alone: how the map itself would change with the rows is not in them{way}"
            )
        }
    }
}

/// Why a model has no deviations of new rows, and the way out.
fn without_deviations(model: &Model) -> String {
    if let Method::Gplvm(gplvm) = &model.recipe().method {
        let fact = match gplvm.back_constraints {
            true => "this gplvm map is a function of the data (back-constraints), which places a row without a doubt",
            false => "the density of this gplvm map (kernel ou) has a corner at every row, and so no deviation",
        };
        return format!("{fact}; use --held-out rows");
    }
    let method = &model.report().method;
    let way = if model.latent().is_some() { "use --posterior" } else { "use --held-out rows" };
    format!("this {method} map places a row in the same way whatever is near it; {way}")
}

/// The deviation of every coordinate and the log density of every row, with the names of these columns.
fn posterior(model: &Model, rows: &Points) -> Result<(Vec<String>, Points)> {
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
fn far_message(far: &[usize], rows: usize) -> String {
    let shown: Vec<String> = far.iter().take(5).map(|&i| grouped(i + 1)).collect();
    let more = if far.len() > 5 { ", ..." } else { "" };
    let (count, rows) = (grouped(far.len()), grouped(rows));
    let rest = "their coordinates are extrapolated and mean little";
    format!(
        "  warning: {count} of {rows} new points are far from all training points (rows {}{more}); {rest}",
        shown.join(", ")
    )
}

/// The saved model, with the way out if the name is wrong.
pub(crate) fn load(path: &Path) -> Result<Model> {
    if !path.is_file() {
        let what = if path.is_dir() { "is a directory" } else { "there is no such file" };
        let path = path.display();
        return Err(Error::Parameter(format!("{path}: {what}; name a model that `eigenfold embed --save` made")));
    }
    Model::load(path)
}

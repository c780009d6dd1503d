//! `eigenfold sample`: data sets to try methods on.

use crate::args::Sample as Args;
use crate::embed::try_coordinates;
use crate::outputs::{self, Outputs, Wanted};
use crate::report::grouped;
use crate::{input, progress, say};
use eigenfold::{
    Error, Result, io,
    io::{ReadOptions, Schema, Table},
    sample::Sample,
};
use std::path::Path;

/// The sets that are real data.
const REAL: [&str; 2] = ["digits", "iris"];
/// The number of points of a synthetic set where none is given.
const DEFAULT_N: usize = 1000;
/// The name of the label column.
const LABEL: &str = "label";

/// The names of all sets.
pub(crate) fn names() -> Vec<&'static str> {
    Sample::ALL.map(Sample::name).into_iter().chain(REAL).collect()
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<()> {
    let truth = args.truth.as_deref().map(|target| Wanted { flag: "--truth", target, trial: try_coordinates });
    let mut wanted = vec![Wanted { flag: "-o", target: &args.output, trial: try_coordinates }];
    wanted.extend(truth);
    outputs::check(&[], &wanted)?;
    let (table, truth) = if REAL.contains(&args.name.as_str()) { (real(args)?, None) } else { synthetic(args)? };
    let columns = table.columns.clone().unwrap_or_else(|| input::numbered("x", table.points.cols()));
    let labels = table.labels.as_ref().map(|labels| labels.carried(LABEL));
    progress::start_writing()?;
    let mut outputs = Outputs::default();
    if let (Some(target), Some(truth)) = (&args.truth, &truth) {
        outputs.stage(target, |name| io::write(name, &input::numbered("t", truth.cols()), truth, &[]))?;
    }
    outputs.stage(&args.output, |name| io::write(name, &columns, &table.points, labels.as_slice()))?;
    outputs.commit()?;
    let hint = labels.as_ref().map_or("", |_| "; embed it with --label label");
    let (n, d) = (grouped(table.points.rows()), table.points.cols());
    say(args.quiet, &format!("{}: {n} points of {d} features{hint}", args.name));
    Ok(())
}

/// A built-in set, with its labels where the file can hold them.
fn real(args: &Args) -> Result<Table> {
    let given = [
        ("-n", args.n.is_some()),
        ("--noise", args.noise.is_some()),
        ("--seed", args.seed.is_some()),
        ("--truth", args.truth.is_some()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Error::inapplicable(
            flag.trim_start_matches('-'),
            format!("{} is real data and does not take {flag}", args.name),
            "leave it out",
        ));
    }
    let mut table = io::read(&args.name, &ReadOptions::default())?;
    let npy = Path::new(&args.output).extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    if npy && !args.with_label {
        table.labels = None;
    }
    Ok(table)
}

fn synthetic(args: &Args) -> Result<(Table, Option<eigenfold::Points>)> {
    let sample = Sample::from_name(&args.name).map_err(|error| match error {
        Error::Unknown { parameter, guess, mut choices, fact, way_out } => {
            choices.extend(REAL);
            let way_out = format!("{way_out}, or the real {}", REAL.join(" and "));
            Error::Unknown { parameter, guess, choices, fact, way_out }
        }
        error => error,
    })?;
    let drawn = sample.draw(args.n.unwrap_or(DEFAULT_N), args.noise.unwrap_or(0.0), args.seed.unwrap_or(0))?;
    let labels = args.with_label.then_some(drawn.labels);
    Ok((
        Table {
            points: drawn.points,
            columns: None,
            schema: Schema::default(),
            labels,
            kept: Vec::new(),
            notes: Vec::new(),
        },
        Some(drawn.truth),
    ))
}

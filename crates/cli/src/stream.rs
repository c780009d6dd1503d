//! `transform` and `reconstruct` of a table that is read, embedded and written batch by batch, in memory that does not depend on its rows.
//!
//! The output has the bytes that it has for all rows at once. Files get their names at the end, so that an error leaves
//! nothing; standard output and pipes get whole rows as they are embedded.

use crate::args::{Reconstruct, Transform};
use crate::dropped_rows::{Dropped, Kept};
use crate::flags::MissingName;
use crate::outputs::{Outputs, Streamed};
use crate::progress::{self, Bar};
use crate::report::{self, plural};
use crate::transform::{far_message, holds_out, posterior, uncertainty, without_deviations};
use crate::{input, one_line, say};
use eigenfold::{
    HeldOutExtension, Model, Points, Result, Transformed, Transformer, io,
    io::{Batches, Carried, ReadOptions, Table, Writer},
};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// The rows that a message about far rows lists.
const LISTED: usize = 5;

/// What the first rows of a table show about it.
pub(crate) enum Begun {
    /// It comes in several batches.
    Batches(Box<Started>),
    /// One batch has all rows.
    Whole(Box<Table>),
    /// It was not read, because all rows are needed at once.
    Nothing,
}

/// A table of several batches.
pub(crate) struct Started {
    first: Table,
    second: Table,
    rest: Batches,
}

/// Begins to read the new rows, if they can be embedded in batches.
pub(crate) fn begin(args: &Transform, options: &ReadOptions) -> Result<Begun> {
    let outputs = || [Some(&args.output), args.std.as_ref(), args.posterior.as_ref()].into_iter().flatten();
    let together = args.plot.is_some() || args.carry.labels.is_some() || args.carry.names.is_some();
    let drops = args.input.missing() == MissingName::Drop;
    // Formats with types need to know all cells before the first.
    let untyped = !drops && args.carry.keep.is_empty();
    if together || args.input.sources().len() > 1 || (!untyped && outputs().any(Writer::is_typed)) {
        return Ok(Begun::Nothing);
    }
    opened(&args.input.source, outputs(), || io::read_batches(&args.input.source, options, args.batch_rows))
}

/// Begins to read embedding points, if they can be reconstructed in batches.
pub(crate) fn begin_map(args: &Reconstruct) -> Result<Begun> {
    let outputs = || [Some(&args.output), args.std.as_ref(), args.interval.as_ref()].into_iter().flatten();
    let drops = args.input.missing() == MissingName::Drop;
    if args.samples.is_some() || (drops && outputs().any(Writer::is_typed)) {
        return Ok(Begun::Nothing);
    }
    let (source, options) = (&args.input.source, input::options(&args.input));
    opened(source, outputs(), || io::read_map_batches(source, &options, args.batch_rows))
}

/// Opens a table, unless an output must know the number of rows and the table does not tell it.
pub(crate) fn opened<'a>(
    source: &Path,
    outputs: impl Iterator<Item = &'a std::path::PathBuf>,
    read: impl FnOnce() -> Result<Batches>,
) -> Result<Begun> {
    let outputs: Vec<&std::path::PathBuf> = outputs.collect();
    let counted = outputs.iter().any(Writer::needs_rows);
    if (counted && !source.is_file()) || outputs.iter().any(Writer::is_whole) {
        return Ok(Begun::Nothing);
    }
    let mut batches = read()?;
    if counted && batches.rows().is_none() {
        return Ok(Begun::Nothing);
    }
    let Some(first) = batches.next().transpose()? else { return Ok(Begun::Nothing) };
    // The second shows whether there are more: a table of one batch is embedded as a whole.
    match batches.next().transpose()? {
        Some(second) => Ok(Begun::Batches(Box::new(Started { first, second, rest: batches }))),
        None => Ok(Begun::Whole(Box::new(first))),
    }
}

impl Started {
    /// What was guessed about the file.
    pub(crate) fn notes(&self) -> Vec<String> {
        input::with_flag_names(&self.first.notes)
    }

    /// Checks the first rows.
    pub(crate) fn check(&self, check: impl FnOnce(&Table) -> Result<()>) -> Result<()> {
        check(&self.first)
    }

    /// The number of rows, if it is known.
    pub(crate) fn rows(&self) -> Option<usize> {
        self.rest.rows()
    }

    /// Hands all batches to `take`, with the rows until then and how much of the file was read; until it returns false.
    pub(crate) fn each(
        self,
        mut take: impl FnMut(Table, usize, Option<f64>) -> Result<bool>,
    ) -> Result<Option<(usize, usize)>> {
        let Started { first, second, mut rest } = self;
        let mut above = 0;
        for table in [first, second] {
            let rows = table.points.rows();
            if !take(table, above, rest.fraction())? {
                return Ok(None);
            }
            above += rows;
        }
        while let Some(table) = rest.next().transpose()? {
            let rows = table.points.rows();
            if !take(table, above, rest.fraction())? {
                return Ok(None);
            }
            above += rows;
        }
        Ok(rest.rows_without_label())
    }
}

/// What is found for one batch: its coordinates, their deviations, the posterior, and the rows that are far.
struct Embedded {
    coordinates: Points,
    deviations: Option<Points>,
    posterior: Option<Points>,
    far: Vec<usize>,
}

/// How new rows are embedded.
struct Embedding<'a> {
    args: &'a Transform,
    model: &'a Model,
    transformer: Transformer<'a>,
    held_out: Option<HeldOutExtension>,
}

impl Embedding<'_> {
    fn of(&self, points: &Points) -> Result<Embedded> {
        let Transformed { coordinates, far, deviations } = match (&self.args.std, &self.held_out) {
            (Some(_), Some(held_out)) => self.transformer.transform_held_out(points, held_out)?,
            (Some(_), None) => self.transformer.transform_with_std(points)?,
            (None, _) => self.transformer.transform_detailed(points)?,
        };
        if self.args.std.is_some() && deviations.is_none() {
            return Err(without_deviations(self.model));
        }
        let posterior = self.args.posterior.as_ref().map(|_| posterior(self.model, points)).transpose()?;
        Ok(Embedded { coordinates, deviations, posterior: posterior.map(|(_, values)| values), far })
    }
}

/// Embeds all batches and writes the outputs.
pub(crate) fn run(args: &Transform, model: &Model, started: Box<Started>, bar: &Bar, start: Instant) -> Result<()> {
    let notes = started.notes();
    input::say_notes(&notes, args.common.quiet);
    let (dims, rows) = (model.embedding().cols(), started.rows());
    args.drawing.check_data(model.points().map(Points::cols), dims, false)?;
    let read = start.elapsed().as_secs_f64();
    bar.say("embedding new points");
    let begin = Instant::now();
    let held_out = if holds_out(args, model)? { Some(model.held_out_extension(bar)?) } else { None };
    let embedding = Embedding { args, model, transformer: model.transformer()?, held_out };
    let (listed, drops) = (args.json.is_some(), args.input.missing());
    let (mut far, mut far_rows, mut dropped) = (0, Vec::new(), Dropped::default());
    let [mut placed, mut written] = [begin.elapsed().as_secs_f64(), 0.0];
    let mut streams: Option<[Option<Streamed>; 3]> = None;
    bar.say("embedding new points");
    let labels = started.each(|table, above, fraction| {
        progress::go_on()?;
        let begin = Instant::now();
        let count = table.points.rows();
        let along = args.carry.along(None, args.input.label.as_deref(), table.kept, count)?;
        let kept = Kept::of_batch(drops, &table.points);
        let points = match &kept {
            Some(kept) => (!kept.rows.is_empty()).then(|| table.points.select(&kept.rows)),
            None => Some(table.points),
        };
        let found = points.as_ref().map(|points| embedding.of(points)).transpose()?;
        let in_file = |&i: &usize| above + kept.as_ref().map_or(i, |kept| kept.rows[i]);
        let far_now = found.iter().flat_map(|found| &found.far);
        far += found.as_ref().map_or(0, |found| found.far.len());
        let room = if listed { usize::MAX } else { (LISTED + 1).saturating_sub(far_rows.len()) };
        far_rows.extend(far_now.take(room).map(in_file));
        match &kept {
            Some(kept) => dropped.add(&kept.dropped(), listed),
            None => dropped.all += count,
        }
        placed += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let spread = |found: Option<Points>, width: usize| match (&kept, found) {
            (Some(kept), found) => kept.spread_batch(found.as_ref(), width),
            (None, Some(found)) => Ok(found),
            (None, None) => Points::new(1, width, vec![0.0; width]),
        };
        let open = match &mut streams {
            Some(open) => open,
            none => none.insert(outputs(args, dims, &along.kept, rows)?),
        };
        let (coordinates, deviations, posterior) = match found {
            Some(found) => (Some(found.coordinates), found.deviations, found.posterior),
            None => (None, None, None),
        };
        let tables = [(coordinates, dims), (deviations, dims), (posterior, dims + 1)];
        for (at, (stream, (found, width))) in open.iter_mut().zip(tables).enumerate() {
            let Some(stream) = stream else { continue };
            let found = spread(found, width)?;
            let carried: &[Carried] = if at == 0 { &along.kept } else { &[] };
            progress::uninterrupted(|| stream.write(&found, carried))?;
        }
        written += begin.elapsed().as_secs_f64();
        bar.passed(fraction, above + count);
        // Nobody reads the rest.
        let alone = args.json.is_none() && open.iter().flatten().all(Streamed::is_closed);
        Ok(!alone)
    })?;
    let Some(streams) = streams else { return Ok(()) };
    if args.json.is_none() && streams.iter().flatten().all(Streamed::is_closed) {
        bar.finish();
        return Ok(());
    }
    let count = dropped.all - dropped.count;
    Kept::check_some(count, dropped.all)?;
    progress::start_writing()?;
    bar.say("writing");
    let begin = Instant::now();
    let dropped = Some(dropped).filter(|dropped| dropped.count > 0);
    let title = args.input.label.as_deref().unwrap_or("label");
    let unlabeled = labels.filter(|(missing, _)| *missing > 0);
    let unlabeled = unlabeled.map(|(missing, all)| format!("{missing} of {all} rows have no label in {title:?}"));
    let said: Vec<String> =
        dropped.iter().map(Dropped::note).chain(unlabeled).chain(far_message(far, &far_rows, count)).collect();
    let mut outputs = Outputs::default();
    for stream in streams.into_iter().flatten() {
        outputs.finish(stream)?;
    }
    written += begin.elapsed().as_secs_f64();
    if let Some(target) = &args.json {
        let total = start.elapsed().as_secs_f64();
        let value = json!({
            "method": model.report().method,
            "n": count,
            "features": model.points().map(Points::cols),
            "dims": dims,
            "training": model.embedding().rows(),
            "far": far_rows.iter().map(|i| i + 1).collect::<Vec<_>>(),
            "dropped": dropped.as_ref().map(Dropped::json),
            "seconds": {"read": (total - placed - written).max(read), "transform": placed, "write": written},
            "warnings": notes.iter().chain(&said).map(|note| one_line(note)).collect::<Vec<_>>(),
        });
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    bar.finish();
    outputs.commit()?;
    let (points, shown) = (plural(count, "new point"), plural(dims, "dimension"));
    say(args.common.quiet, &format!("{}: {points} embedded in {shown}", model.report().method));
    if args.std.is_some() {
        say(args.common.quiet, &uncertainty(model, embedding.held_out.as_ref()));
    }
    said.iter().for_each(|note| say(args.common.quiet, &format!("  warning: {note}")));
    Ok(())
}

/// Opens the coordinates, their deviations and the posterior, as far as they are requested.
fn outputs(args: &Transform, dims: usize, kept: &[Carried], rows: Option<usize>) -> Result<[Option<Streamed>; 3]> {
    let names = input::numbered("y", dims);
    let open = |target: &Path, names: &[String], carries| Streamed::open(target, names, carries, rows);
    let posterior: Vec<String> = (1..=dims).map(|q| format!("y{q}_std")).chain(["log_density".into()]).collect();
    Ok([
        Some(open(&args.output, &names, !kept.is_empty())?),
        args.std.as_ref().map(|target| open(target, &names, false)).transpose()?,
        args.posterior.as_ref().map(|target| open(target, &posterior, false)).transpose()?,
    ])
}

//! `embed --fit-rows N`: a fit of a sample of rows, and all other rows embedded by its model.
//!
//! The file is read twice, in batches: once for the sample, once to embed every row. The rows of the sample are those with
//! the smallest hashes of their numbers (`RowSample`), in the order of the hashes, so that neither the order of the file nor
//! its format decides about them or about their model.

use crate::args::Embed;
use crate::dropped_rows::{Dropped, Kept};
use crate::flags::{DisconnectedName, Kind, MissingName};
use crate::input::LoadedInput;
use crate::labels::{Along, Labeled};
use crate::outputs::Streamed;
use crate::progress::{self, Bar};
use crate::transform::far_message;
use crate::{input, request};
use eigenfold::{
    Error, Model, Observer, Owned, Points, Result, io,
    io::{Batches, Cells, Labels, ReadOptions, RowSample, Writer},
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// The rows that a message about far rows lists.
const LISTED: usize = 5;

/// The rows that were fitted.
pub(crate) struct Sampled {
    requested: usize,
    /// The row of the model of every row of the file in the sample, both counted from 0.
    of: HashMap<usize, usize>,
    /// The rows of the file.
    all: usize,
}

/// What was found in the second pass.
#[derive(Default)]
pub(crate) struct Passed {
    far: usize,
    far_rows: Vec<usize>,
    dropped: Dropped,
}

/// A row that is a candidate for the sample.
struct Candidate {
    values: Vec<f64>,
    label: Option<String>,
}

/// Refuses what needs all rows at once.
pub(crate) fn check(args: &Embed) -> Result<()> {
    let Some(requested) = args.fit_rows else { return Ok(()) };
    let refuse = |fact: &str, way_out: &str| Err(Error::parameter("fit-rows", fact, way_out));
    if requested < 2 {
        return refuse(&format!("{requested} is too few rows to fit"), "use 2 or more");
    }
    if args.input_kind != Kind::Points {
        return refuse("distances, similarities and graphs have no rows to sample", "use --landmarks, or give points");
    }
    if args.input.source == Path::new("-") {
        return refuse("the input is read twice, and standard input cannot be", "give a file");
    }
    if !args.input.more.is_empty() {
        return refuse("a sample is drawn from one file", "concatenate the files");
    }
    if args.disconnected_separately() {
        return refuse("components that are kept separate have no place for other rows", "use --disconnected join");
    }
    if matches!(args.input.missing(), MissingName::Mean | MissingName::Model) {
        return refuse("cells are imputed from all rows, which are not in memory", "use --missing drop");
    }
    if !args.preparing.one_hot.is_empty() {
        return refuse(
            "the levels of a category are not known before all rows are read",
            "encode the column, or --ignore it",
        );
    }
    let whole = [
        ("--plot", args.plot.is_some()),
        ("--labels", args.carry.labels.is_some()),
        ("--names", args.carry.names.is_some()),
        ("--align", args.align.is_some()),
        ("--snapshots", args.snapshots.is_some()),
        ("--weights", args.weights.is_some()),
        ("--path", args.path.is_some()),
        ("--completed", args.completed.is_some() || args.completed_std.is_some()),
    ];
    if let Some((flag, _)) = whole.iter().find(|(_, given)| *given) {
        return refuse(
            &format!("{flag} is about all rows, and the model has a sample of them"),
            &format!("leave out {flag}"),
        );
    }
    if args.output.as_deref().is_some_and(|target| {
        Writer::is_typed(target) && (!args.carry.keep.is_empty() || args.input.missing() == MissingName::Drop)
    }) {
        let fact = "the types of kept columns and missing cells are not known before all rows are read";
        return refuse(fact, "write .csv or .npy");
    }
    Ok(())
}

impl Embed {
    fn disconnected_separately(&self) -> bool {
        self.neighbors.disconnected == Some(DisconnectedName::Separate)
    }
}

/// How the file is read, in both passes.
fn options(args: &Embed, keep: Vec<String>) -> ReadOptions {
    ReadOptions { keep, memory: args.memory, ..input::options(&args.input) }
}

fn batches(args: &Embed, options: &ReadOptions) -> Result<Batches> {
    io::read_batches(&args.input.source, options, args.batch_rows)
}

/// Reads the sample.
pub(crate) fn sample(
    args: &Embed,
    requested: usize,
    bar: &Bar,
    share: &dyn Observer,
) -> Result<(LoadedInput, Sampled)> {
    let mut sample = RowSample::new(requested, args.common.seed);
    let mut candidates: HashMap<usize, Candidate> = HashMap::new();
    let (mut names, mut schema, mut notes, mut above) = (None, None, Vec::new(), 0);
    // As in a file that is read whole.
    let mut single = true;
    let keep = args.input.label.clone().into_iter().collect();
    let mut batches = batches(args, &options(args, keep))?;
    while let Some(table) = batches.next().transpose()? {
        progress::go_on()?;
        if above == 0 {
            notes = input::with_flag_names(&table.notes);
            (names, schema) = (table.columns, Some(table.schema));
        }
        let kept = Kept::of_batch(args.input.missing(), &table.points);
        single &= table.points.singles().is_some();
        let complete = |i: &usize| kept.as_ref().is_none_or(|kept| kept.rows.binary_search(i).is_ok());
        for i in (0..table.points.rows()).filter(complete) {
            let values = table.points.row(i);
            let offer = sample.offer_row(values, above + i);
            if offer.taken {
                let label = table.kept.first().map(|column| column.cells.text(i));
                candidates.insert(above + i, Candidate { values: values.to_vec(), label });
            }
            offer.dropped.map(|row| candidates.remove(&row));
        }
        above += table.points.rows();
        bar.passed(batches.fraction(), above);
    }
    Kept::check_some(sample.offered(), above)?;
    let chosen = sample.rows_by_hash();
    let candidates: Vec<Candidate> = chosen.iter().filter_map(|row| candidates.remove(row)).collect();
    let cols = candidates.first().map_or(0, |candidate| candidate.values.len());
    let values = candidates.iter().flat_map(|candidate| candidate.values.iter().copied());
    let points = match single {
        true => Points::single(candidates.len(), cols, values.map(|x| x as f32).collect())?,
        false => Points::new(candidates.len(), cols, values.collect())?,
    };
    let labels: Option<Vec<String>> = candidates.into_iter().map(|candidate| candidate.label).collect();
    let title = args.input.label.clone().unwrap_or("label".into());
    let labels = labels.and_then(|texts| Labels::from_cells(&Cells::Texts(texts)));
    let labels = labels.map(|labels| Labeled { title, labels });
    let schema = schema.unwrap_or_default();
    let request = request::of_columns(&args.input, &args.preparing, &schema);
    let data = Owned::Points(request.complete(points, share)?);
    let of = chosen.into_iter().enumerate().map(|(at, row)| (row, at)).collect();
    let along = Along { labels, ..Along::default() };
    let loaded = LoadedInput { data, along, names, schema, rows: None, notes };
    Ok((loaded, Sampled { requested, of, all: above }))
}

impl Sampled {
    /// The requested and the used number, for programs.
    pub(crate) fn json(&self) -> Value {
        json!({"requested": self.requested, "used": self.of.len(), "of": self.all})
    }

    /// What is said of it.
    pub(crate) fn note(&self) -> String {
        let (used, all) = (crate::report::grouped(self.of.len()), crate::report::grouped(self.all));
        format!("  sample       {used} of {all} rows fitted, the others embedded by the model (--fit-rows)")
    }

    /// Embeds all rows of the file, those of the sample at their own coordinates.
    pub(crate) fn embed_all(
        &self,
        args: &Embed,
        model: &Model,
        target: &Path,
        bar: &Bar,
    ) -> Result<(Option<Streamed>, Passed)> {
        let keep = args.carry.keep.clone();
        // The file is read as it was for the sample.
        let options = ReadOptions { like: None, ..options(args, keep) };
        let (transformer, dims) = (model.transformer()?, model.embedding().cols());
        let mut batches = batches(args, &options)?;
        let (mut stream, mut passed, mut above): (Option<Streamed>, _, usize) = (None, Passed::default(), 0);
        let names = input::numbered("y", dims);
        let listed = args.json.is_some();
        while let Some(table) = batches.next().transpose()? {
            progress::go_on()?;
            let count = table.points.rows();
            let along = args.carry.along(None, None, table.kept, count)?;
            let kept = Kept::of_batch(args.input.missing(), &table.points);
            let points = match &kept {
                Some(kept) => (!kept.rows.is_empty()).then(|| table.points.select(&kept.rows)),
                None => Some(table.points),
            };
            let row_of = |i: usize| above + kept.as_ref().map_or(i, |kept| kept.rows[i]);
            let placed = points.as_ref().map(|points| transformer.transform_detailed(points)).transpose()?;
            let placed = placed.map(|placed| {
                let mut values = placed.coordinates.into_values();
                for (i, own) in values.chunks_exact_mut(dims).enumerate() {
                    if let Some(&at) = self.of.get(&row_of(i)) {
                        own.copy_from_slice(model.embedding().row(at));
                    }
                }
                let rows = values.len() / dims;
                Points::computed(rows, dims, values).map(|coordinates| (coordinates, placed.far))
            });
            let placed = placed.transpose()?;
            if let Some((_, far)) = &placed {
                passed.far += far.len();
                let room = if listed { usize::MAX } else { (LISTED + 1).saturating_sub(passed.far_rows.len()) };
                passed.far_rows.extend(far.iter().take(room).map(|&i| row_of(i)));
            }
            match &kept {
                Some(kept) => passed.dropped.add(&kept.dropped(), listed),
                None => passed.dropped.all += count,
            }
            let coordinates = placed.map(|(coordinates, _)| coordinates);
            let found = match (&kept, coordinates) {
                (Some(kept), found) => kept.spread_batch(found.as_ref(), dims)?,
                (None, Some(found)) => found,
                (None, None) => return Err(self.changed(args)),
            };
            if stream.is_none() {
                // The first pass counted the rows.
                stream = Some(Streamed::open(target, &names, !along.kept.is_empty(), Some(self.all))?);
            }
            if let Some(stream) = &mut stream {
                progress::uninterrupted(|| stream.write(&found, &along.kept))?;
                if stream.is_closed() {
                    break;
                }
            }
            above += count;
            bar.passed(batches.fraction(), above);
        }
        if above != self.all && !stream.as_ref().is_some_and(Streamed::is_closed) {
            return Err(self.changed(args));
        }
        Ok((stream, passed))
    }

    fn changed(&self, args: &Embed) -> Error {
        let fact = format!("changed while it was read: it had {} rows", self.all);
        Error::format(&args.input.source, fact, "wait until it is complete, and read it again")
    }
}

impl Passed {
    /// What is said of it.
    pub(crate) fn notes(&self) -> Vec<String> {
        let count = self.dropped.all - self.dropped.count;
        let dropped = (self.dropped.count > 0).then(|| self.dropped.note());
        dropped.into_iter().chain(far_message(self.far, &self.far_rows, count)).collect()
    }

    /// The rows that are far, counted from 1, for programs; and those that were dropped.
    pub(crate) fn json(&self) -> (Value, Option<Value>) {
        let far = self.far_rows.iter().map(|i| i + 1).collect();
        (far, (self.dropped.count > 0).then(|| self.dropped.json()))
    }
}

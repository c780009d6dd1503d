//! From the flags to what the library takes: points, and a neighborhood.

use crate::dropped_rows::Kept;
use crate::flags::{self, Kind, MissingName, Preparing, YesNo};
use crate::labels::{Along, Carry};
use crate::{request, warn};
use eigenfold::{
    Error, Observer, Owned, Result, io,
    io::{ReadOptions, Schema, Table},
};

/// The most threads that share a core, ...
const THREADS_PER_CORE: usize = 4;
/// ... and as many as are started on the smallest machine.
const LEAST_THREADS: usize = 16;

/// What an input holds.
/// An input with what is known about it.
pub(crate) struct LoadedInput {
    pub(crate) data: Owned,
    /// What goes with the points.
    pub(crate) along: Along,
    /// The names of the features of points.
    pub(crate) names: Option<Vec<String>>,
    /// The rows that were kept, if some were dropped.
    pub(crate) rows: Option<Kept>,
    /// What its columns were for.
    pub(crate) schema: Schema,
    /// What was guessed about the file, with our flags.
    pub(crate) notes: Vec<String>,
}

/// Reads an input of the given kind; missing cells are guessed as the flags ask for it, by columns that are prepared so.
pub(crate) fn read(
    input: &flags::Input,
    carry: &Carry,
    kind: Kind,
    preparing: &Preparing,
    memory: Option<u64>,
    observer: &dyn Observer,
) -> Result<LoadedInput> {
    let (keep, one_hot) = (carry.columns(), preparing.one_hot.clone());
    let options = ReadOptions { memory, keep, one_hot, ..options(input) };
    if kind != Kind::Points && !input.more.is_empty() {
        let fact = "several files are read as points, one below the other";
        return Err(Error::inapplicable("input-kind", fact, "leave out --input-kind, or give one file"));
    }
    if kind == Kind::Graph {
        if !carry.columns().is_empty() {
            let fact = "a list of edges has no columns of points";
            return Err(Error::inapplicable("keep", fact, "leave out --keep and --names"));
        }
        let (graph, notes) = io::read_graph(&input.source, &options)?;
        let along = carry.along(None, None, Vec::new(), graph.len())?;
        let (names, schema) = (None, Schema::default());
        return Ok(LoadedInput {
            data: Owned::Graph(graph),
            along,
            names,
            schema,
            rows: None,
            notes: with_flag_names(&notes),
        });
    }
    let Table { points, labels, kept, columns, schema, notes } = io::read_all(&input.sources(), &options)?;
    let along = carry.along(labels, input.label.as_deref(), kept, points.rows())?;
    let rows = Kept::of(input.missing(), &points)?.filter(|_| kind == Kind::Points);
    let points = if let Some(kept) = &rows { points.select(&kept.rows) } else { points };
    let along = along.of_rows(rows.as_ref());
    let request = request::of_columns(input, preparing, &schema);
    let data = match kind {
        Kind::Distances => Owned::Distances(request.distances(points, observer)?),
        Kind::Similarities => Owned::Distances(request.similarities(&points, observer)?),
        Kind::Points | Kind::Graph => Owned::Points(request.complete(points, observer)?),
    };
    let names = columns.filter(|_| kind == Kind::Points);
    let notes = with_flag_names(&notes).into_iter().chain(rows.as_ref().map(Kept::note)).collect();
    Ok(LoadedInput { data, along, names, schema, rows, notes })
}

/// Reads points and their labels; what was guessed about the file is said.
pub(crate) fn table(input: &flags::Input, options: ReadOptions, quiet: bool) -> Result<Table> {
    let table = io::read_all(&input.sources(), &options)?;
    say_notes(&with_flag_names(&table.notes), quiet);
    Ok(table)
}

/// Reads places on a map: y1, y2, ... alone, if there are such columns.
pub(crate) fn map(input: &flags::Input, quiet: bool) -> Result<Table> {
    let table = io::read_map(&input.source, &options(input))?;
    say_notes(&with_flag_names(&table.notes), quiet);
    Ok(table)
}

/// Warns of what was guessed about a file.
pub(crate) fn say_notes(notes: &[String], quiet: bool) {
    notes.iter().for_each(|note| warn(quiet, note));
}

/// Notes of the library with our flags.
pub(crate) fn with_flag_names(notes: &[String]) -> Vec<String> {
    notes.iter().map(|note| flags::with_flags(note)).collect()
}

/// How to read a file, as far as the flags say.
pub(crate) fn options(input: &flags::Input) -> ReadOptions {
    ReadOptions {
        label: input.label.clone(),
        ignore: input.ignore.clone(),
        vector: input.vector.clone(),
        delimiter: input.delimiter,
        decimal: input.decimal,
        na: input.na.clone(),
        header: input.header.map(|header| header == YesNo::Yes),
        missing: input.missing() != MissingName::Error,
        ..ReadOptions::default()
    }
}

/// Makes this many threads do the work of the whole program, but no more than may be of use: those that share a core have to
/// be woken for every chunk of work, and the result does not depend on their number.
pub(crate) fn use_threads(threads: Option<u16>) -> Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let some = usize::from(threads).min(LEAST_THREADS.max(THREADS_PER_CORE * cores));
    let built = rayon::ThreadPoolBuilder::new().num_threads(some).build_global();
    built.map_err(|error| Error::numerical(format!("{threads} threads could not be started ({error})"), "use fewer"))
}

/// `y1`, `y2`, ... for the prefix `y`.
pub(crate) fn numbered(prefix: &str, dims: usize) -> Vec<String> {
    (1..=dims).map(|i| format!("{prefix}{i}")).collect()
}

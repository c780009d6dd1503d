//! `--neighbors-from`: neighbors that were found elsewhere, read from an edge list.

use crate::args::{Embed, Graph as GraphArgs};
use crate::dropped_rows::Kept;
use crate::flags::HeldOutWhat;
use crate::input;
use eigenfold::{Count, Error, Graph, Result, io, io::ReadOptions};
use std::path::Path;

/// Refuses flags of `embed` that need other neighbors than those of all rows.
pub(crate) fn check_embed(args: &Embed) -> Result<()> {
    if args.neighbors_from.is_none() {
        return Ok(());
    }
    let refused = [
        (args.fit_rows.is_some(), "--fit-rows", "fits a sample of the rows"),
        (args.held_out == Some(HeldOutWhat::Features), "--held-out", "fits the other features"),
        (args.neighbors.k == Some(Count::Auto), "-k auto", "tries up to 50 neighbors"),
    ];
    let found = refused.into_iter().find(|(given, ..)| *given);
    found.map_or_else(
        || check_streams(args.neighbors_from.as_deref(), &args.input.sources()),
        |(_, flag, does)| {
            let fact = format!("{flag} {does}, and --neighbors-from has neighbors of all rows and features");
            let way_out = if flag == "-k auto" { "give -k a number".into() } else { format!("leave out {flag}") };
            Err(Error::inapplicable("neighbors-from", fact, way_out))
        },
    )
}

/// Refuses flags of `graph` that search for neighbors.
pub(crate) fn check_graph(args: &GraphArgs, learns: bool) -> Result<()> {
    if args.neighbors_from.is_some() && learns {
        let fact = "a learned graph searches for its candidates itself";
        return Err(Error::inapplicable("neighbors-from", fact, "leave out --neighbors-from"));
    }
    check_streams(args.neighbors_from.as_deref(), &args.input.sources())
}

/// Refuses to read standard input twice.
fn check_streams(from: Option<&Path>, sources: &[&Path]) -> Result<()> {
    let standard = Path::new("-");
    if from == Some(standard) && sources.contains(&standard) {
        let fact = "the points and their neighbors cannot both come from standard input";
        return Err(Error::parameter("neighbors-from", fact, "give one of them as a file"));
    }
    Ok(())
}

/// The neighbors of a file, of `n` points; if rows were dropped, those of the kept ones. With them comes what was guessed about
/// the file.
pub(crate) fn read(from: &Path, n: usize, rows: Option<&Kept>, memory: Option<u64>) -> Result<(Graph, Vec<String>)> {
    let all = rows.map_or(n, |kept| kept.all);
    let (graph, notes) = io::read_neighbors(from, all, &ReadOptions { memory, ..ReadOptions::default() })?;
    let graph = match rows {
        Some(kept) => kept.neighbors(&graph)?,
        None => graph,
    };
    // A file of fewer points has no lists for the last ones.
    let named = (0..n).rev().find(|&i| !graph.neighbors(i).is_empty()).map_or(0, |last| last + 1);
    if named < n {
        let fact = format!("{} has neighbors of {named} points, and there are {n}", from.display());
        return Err(Error::mismatch("neighbors", (named, n), fact, "give the neighbors of every point"));
    }
    Ok((graph, input::with_flag_names(&notes)))
}

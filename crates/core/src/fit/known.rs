//! Neighbors that are given beside the data: what refuses them, and what stage 1 takes of them.

use crate::input::{Data, Input, InputKind};
use crate::recipe::Recipe;
use crate::report::GraphReport;
use eigenfold_graph::{Found, Graph, Neighbors, Search};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;

impl Recipe {
    /// Refuses given neighbors of which the fit would take nothing.
    pub(crate) fn check_known(&self, input: Input<'_>) -> Result<()> {
        if input.neighbors.is_none() {
            return Ok(());
        }
        if input.data.kind() == InputKind::Graph {
            let (fact, way_out) = ("a graph has its neighbors already, and others are given", "leave one of them out");
            return Err(Error::input_kind(&["points", "distances"], fact, way_out));
        }
        let name = self.method.info().name;
        if !self.needs_graph(input.data) && self.method.nearest(input.data)?.is_none() {
            let fact = format!("{name} does not use neighbors, and neighbors are given");
            return Err(Error::inapplicable("neighbors", fact, "leave them out, or use umap, tsne or isomap"));
        }
        if self.learned.is_some() {
            let fact = "a learned graph searches for its candidates itself, and neighbors are given";
            return Err(Error::inapplicable("graph", fact, "leave out one of them"));
        }
        Ok(())
    }
}

impl Data<'_> {
    /// Stage 1 without a search: the graph of neighbors that are given, nearest first. Its components are joined as
    /// [`Search::disconnected`] says.
    ///
    /// # Errors
    ///
    /// If the neighbors are those of another number of points, or a point has fewer than the search asks for; if all points
    /// within a radius are wanted, or all pairs; and as [`Search::joined`].
    pub fn given_neighbors(self, known: &Graph, search: &Search, observer: &dyn Observer) -> Result<Found> {
        check_count(known, self.len())?;
        let graph = match search.neighbors {
            Neighbors::Nearest(k) => first(known, k, "neighbors")?,
            Neighbors::Mutual(k) => first(known, k, "neighbors")?.mutual(),
            Neighbors::Within(_) => return Err(incomplete("radius", "`radius` needs all points within it")),
            Neighbors::All => return Err(incomplete("graph", "`graph` all needs all pairs")),
        };
        Ok(Found { route: GraphReport::GIVEN, ..self.joined(search, graph, observer)? })
    }
}

/// Refuses neighbors of another number of points.
pub(crate) fn check_count(known: &Graph, n: usize) -> Result<()> {
    if known.len() == n {
        return Ok(());
    }
    let fact = format!("neighbors are given for {} points, and there are {n}", known.len());
    Err(Error::mismatch("neighbors", (known.len(), n), fact, "give the neighbors of every point"))
}

/// The first k of the given neighbors of every point; the parameter is the one that k follows from.
pub(crate) fn first(known: &Graph, k: usize, parameter: &'static str) -> Result<Graph> {
    if k == 0 || k >= known.len() {
        // As where the neighbors are searched.
        return Err(match k {
            0 => Error::out_of_range(
                parameter,
                0,
                1..=known.len().saturating_sub(1),
                "k is 0 and every point needs a neighbor",
                "use `neighbors` 1 or more",
            ),
            _ => Error::TooFewPoints { k, n: known.len() },
        });
    }
    known.first(k).ok_or_else(|| {
        // That of the fewest, so that its number is one that all rows have.
        let short = (0..known.len()).min_by_key(|&i| known.neighbors(i).len()).unwrap_or_default();
        let (row, count) = (short + 1, known.neighbors(short).len());
        let (plural, more) = (if count == 1 { "" } else { "s" }, format!("give at least {k} for every row"));
        let fact = format!("row {row} has {count} given neighbor{plural}, and `{parameter}` needs {k}");
        let less = match parameter {
            "neighbors" if count > 0 => format!("use `neighbors` {count} or less"),
            _ => format!("use a smaller `{parameter}`"),
        };
        Error::parameter(parameter, fact, format!("{more}, or {less}"))
    })
}

fn incomplete(parameter: &'static str, fact: &str) -> Error {
    let fact = format!("{fact}, and nearest neighbors are given");
    Error::inapplicable(parameter, fact, "give `neighbors` instead, or leave the given ones out")
}

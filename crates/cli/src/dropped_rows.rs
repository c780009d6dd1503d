//! Rows that were dropped for their missing cells: they stay in the output, empty.

use crate::flags::MissingName;
use crate::report::{grouped, plural};
use eigenfold::{Error, Graph, Points, Result, Weight, io::Labels};
use serde_json::{Value, json};

/// The rows that a note lists.
const LISTED: usize = 5;

/// The rows that were kept, of all.
pub(crate) struct Kept {
    pub(crate) rows: Vec<usize>,
    pub(crate) all: usize,
}

impl Kept {
    /// The complete rows, if incomplete ones are to be dropped and there are some.
    pub(crate) fn of(missing: MissingName, points: &Points) -> Result<Option<Kept>> {
        if missing != MissingName::Drop || points.missing().is_empty() {
            return Ok(None);
        }
        let (rows, all) = (points.complete_rows(), points.rows());
        if rows.is_empty() {
            let fact = format!("each of the {} has a missing cell, so none is left", plural(all, "row"));
            return Err(Error::parameter("missing", fact, "use --missing model, or --ignore the columns they are in"));
        }
        Ok(Some(Kept { rows, all }))
    }

    /// What is said of it.
    pub(crate) fn note(&self) -> String {
        let gone = self.gone();
        let shown: Vec<String> = gone.iter().take(LISTED).map(|i| grouped(i + 1)).collect();
        let more = if gone.len() > LISTED { ", ..." } else { "" };
        let (count, all) = (grouped(gone.len()), plural(self.all, "row"));
        let rows = if gone.len() == 1 { "row" } else { "rows" };
        format!("{count} of {all} dropped for missing cells ({rows} {}{more}): empty in the output", shown.join(", "))
    }

    /// The rows that were dropped, counted from 0.
    fn gone(&self) -> Vec<usize> {
        (0..self.all).filter(|i| self.rows.binary_search(i).is_err()).collect()
    }

    /// The same for programs: how many of how many, and which, counted from 1.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<usize> = self.gone().iter().map(|i| i + 1).collect();
        json!({"count": rows.len(), "of": self.all, "rows": rows})
    }

    /// What was found for the kept rows, with the others empty.
    pub(crate) fn spread(&self, points: &Points) -> Result<Points> {
        points.spread(&self.rows, self.all)
    }

    /// The kept rows of a table that has all of them; one that has no others is taken as it is.
    pub(crate) fn pick(&self, points: Points) -> Result<Points> {
        let picked = if points.rows() == self.all { points.select(&self.rows) } else { points };
        match picked.missing().first() {
            None => Ok(picked),
            Some(at) => {
                let row = at / picked.cols() + 1;
                let fact = format!("row {row} is kept and has no coordinates in the given embedding");
                Err(Error::data(fact, "give an embedding of the same rows").at_row(row - 1))
            }
        }
    }

    /// Edges between the kept rows, by the numbers that these have among all.
    pub(crate) fn weights(&self, weights: &[Weight]) -> Vec<Weight> {
        let row = |i: u32| self.rows[i as usize] as u32;
        weights.iter().map(|edge| Weight { i: row(edge.i), j: row(edge.j), ..*edge }).collect()
    }

    /// The graph of the kept rows as one of all; the others have no edges.
    pub(crate) fn graph(&self, graph: &Graph) -> Result<Graph> {
        let mut lists = vec![Vec::new(); self.all];
        for (i, &row) in self.rows.iter().enumerate() {
            let edges = graph.neighbors(i).iter().zip(graph.lengths(i));
            lists[row] = edges.map(|(&j, &length)| (self.rows[j as usize] as u32, length)).collect();
        }
        Graph::from_lists(lists)
    }

    /// What is known of each kept row, with nothing for the others.
    pub(crate) fn among_all<T: Clone>(&self, of: &[T]) -> Vec<Option<T>> {
        let mut all = vec![None; self.all];
        self.rows.iter().zip(of).for_each(|(&row, one)| all[row] = Some(one.clone()));
        all
    }

    /// The labels of the kept rows.
    pub(crate) fn labels(&self, labels: Labels) -> Labels {
        match labels {
            Labels::Values(values) => Labels::Values(self.rows.iter().map(|&i| values[i]).collect()),
            Labels::Classes { names, of } => Labels::Classes { names, of: self.rows.iter().map(|&i| of[i]).collect() },
        }
    }
}

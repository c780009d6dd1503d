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
        let kept = Kept::of_batch(missing, points);
        if let Some(kept) = &kept {
            Kept::check_some(kept.rows.len(), kept.all)?;
        }
        Ok(kept)
    }

    /// The same of some rows, of which none may be left.
    pub(crate) fn of_batch(missing: MissingName, points: &Points) -> Option<Kept> {
        let drops = missing == MissingName::Drop && !points.missing().is_empty();
        drops.then(|| Kept { rows: points.complete_rows(), all: points.rows() })
    }

    /// Refuses a table of which no row is left.
    pub(crate) fn check_some(kept: usize, all: usize) -> Result<()> {
        if kept == 0 {
            let fact = format!("each of the {} has a missing cell, so none is left", plural(all, "row"));
            return Err(Error::parameter("missing", fact, "use --missing model, or --ignore the columns they are in"));
        }
        Ok(())
    }

    /// What is said of it.
    pub(crate) fn note(&self) -> String {
        self.dropped().note()
    }

    /// The rows that were dropped.
    pub(crate) fn dropped(&self) -> Dropped {
        let rows: Vec<usize> = (0..self.all).filter(|i| self.rows.binary_search(i).is_err()).collect();
        Dropped { count: rows.len(), rows, all: self.all }
    }

    /// The same for programs: how many of how many, and which, counted from 1.
    pub(crate) fn json(&self) -> Value {
        self.dropped().json()
    }

    /// What was found for the kept rows, with the others empty.
    pub(crate) fn spread(&self, points: &Points) -> Result<Points> {
        points.spread(&self.rows, self.all)
    }

    /// The same of rows of which none may be left: `dims` columns.
    pub(crate) fn spread_batch(&self, points: Option<&Points>, dims: usize) -> Result<Points> {
        match points {
            Some(points) => self.spread(points),
            None => {
                let empty = Points::new(1, dims, vec![0.0; dims])?.spread(&[self.all], self.all + 1)?;
                Ok(empty.select(&(0..self.all).collect::<Vec<_>>()))
            }
        }
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

    /// The lists of the kept rows, from those of all; none may name a dropped row.
    pub(crate) fn neighbors(&self, graph: &Graph) -> Result<Graph> {
        let mut lists = Vec::with_capacity(self.rows.len());
        for &row in &self.rows {
            let mut list = Vec::with_capacity(graph.neighbors(row).len());
            for (&j, &length) in graph.neighbors(row).iter().zip(graph.lengths(row)) {
                let at = self.rows.binary_search(&(j as usize)).map_err(|_| {
                    let fact = format!("row {} has the neighbor in row {}, which was dropped", row + 1, j + 1);
                    Error::data(fact, "give neighbors among the rows without missing cells").at_row(row)
                })?;
                list.push((at as u32, length));
            }
            lists.push(list);
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

/// The rows that were dropped, of all.
#[derive(Default)]
pub(crate) struct Dropped {
    pub(crate) count: usize,
    /// Counted from 0; the first few, or all of them where a list is requested.
    pub(crate) rows: Vec<usize>,
    pub(crate) all: usize,
}

impl Dropped {
    /// Adds the rows of the next batch; only the first few are kept unless `listed`.
    pub(crate) fn add(&mut self, batch: &Dropped, listed: bool) {
        let room = if listed { usize::MAX } else { (LISTED + 1).saturating_sub(self.rows.len()) };
        self.rows.extend(batch.rows.iter().take(room).map(|row| self.all + row));
        self.count += batch.count;
        self.all += batch.all;
    }

    /// What is said of it.
    pub(crate) fn note(&self) -> String {
        let shown: Vec<String> = self.rows.iter().take(LISTED).map(|i| grouped(i + 1)).collect();
        let more = if self.count > LISTED { ", ..." } else { "" };
        let (count, all) = (grouped(self.count), plural(self.all, "row"));
        let rows = if self.count == 1 { "row" } else { "rows" };
        format!("{count} of {all} dropped for missing cells ({rows} {}{more}): empty in the output", shown.join(", "))
    }

    /// The same for programs: how many of how many, and which, counted from 1.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<usize> = self.rows.iter().map(|i| i + 1).collect();
        json!({"count": self.count, "of": self.all, "rows": rows})
    }
}

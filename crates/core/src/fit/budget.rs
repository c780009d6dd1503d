//! The memory that a fit may use, and what it is predicted to use: the copies of the input come off first, and every stage sees what
//! is left.

use crate::input::Data;
use crate::recipe::Recipe;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows of a matrix of all features that a thread has in memory beside it.
const CHUNK: usize = 4096;

/// What a fit may allocate, under one limit for everything.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: u64,
    /// What the copies of the input leave of the limit.
    pub(crate) left: u64,
    /// The bytes of the input, where the limit does not count them.
    present: u64,
    /// The most that was predicted so far.
    predicted: AtomicU64,
}

impl MemoryBudget {
    /// Reserves the copies of the input, of which the frame has made `more`: the input itself, which the model shares, and features in
    /// double precision, which are all of them where a method computes without a graph.
    ///
    /// # Errors
    ///
    /// If they exceed the limit.
    pub(crate) fn new(recipe: &Recipe, data: Data<'_>, more: u64) -> Result<MemoryBudget> {
        let own = match data {
            Data::Points(points, _) => {
                let all = if recipe.needs_graph(data) { 0 } else { points.rows() };
                let rows = all + points.rows().min(CHUNK * rayon::current_num_threads());
                8 * (rows * points.cols()) as u64
            }
            Data::Distances(_) | Data::Graph(_) => data.bytes(),
        };
        let input = (1 + more) * data.bytes();
        // Without a limit of the user the memory that is free is counted, and the input is in memory already.
        let (limit, present) = recipe.memory.map_or_else(|| (memory::available(), input), |limit| (limit, 0));
        let needed = input - present + own;
        if needed > limit.max(memory::NEGLIGIBLE) {
            let what = format!("the work on {} points", data.len());
            let way_out = "use fewer rows or columns, or raise `memory`".into();
            return Err(Error::Memory { what, needed, limit, way_out });
        }
        let left = limit.saturating_sub(needed);
        Ok(MemoryBudget { limit, left, present, predicted: (present + needed).into() })
    }

    /// Counts what a stage is predicted to take, of what is left to it.
    pub(crate) fn predict(&self, needed: u64, left: u64) {
        let held = self.present + self.limit.saturating_sub(left);
        self.predicted.fetch_max(held.saturating_add(needed), Ordering::Relaxed);
    }

    /// The most that was predicted.
    pub(crate) fn predicted(&self) -> u64 {
        self.predicted.load(Ordering::Relaxed)
    }

    /// The error of a stage, with a refusal restated in terms of the whole limit.
    pub(crate) fn of_whole(&self, error: Error) -> Error {
        match error {
            Error::Memory { what, needed, limit, way_out } if limit <= self.limit => {
                Error::Memory { what, needed: needed.saturating_add(self.limit - limit), limit: self.limit, way_out }
            }
            other => other,
        }
    }
}

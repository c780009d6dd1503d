//! The memory that a fit may use: the copies of the input come off first, and every stage sees what is left.

use crate::input::Data;
use crate::recipe::Recipe;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;

/// Copies of the points in memory at most: the input, those of the search, of the field or the likelihood, and of the model.
const COPIES: u64 = 4;
/// The same without a search.
const FEW_COPIES: u64 = 3;

/// What a fit may allocate, under one limit for everything.
pub(crate) struct Budget {
    limit: u64,
    /// What the copies of the input leave of the limit.
    pub(crate) left: u64,
}

impl Budget {
    /// Reserves the copies of the input, of which the frame has made `more`.
    ///
    /// # Errors
    ///
    /// If they exceed the limit.
    pub(crate) fn new(recipe: &Recipe, data: Data<'_>, more: u64) -> Result<Budget> {
        let copies = match data {
            Data::Points(..) if recipe.needs_graph(data) => COPIES,
            Data::Points(..) => FEW_COPIES,
            Data::Distances(_) | Data::Graph(_) => 2,
        };
        // Without a limit of the user the memory that is free is counted, and the input is in memory already.
        let (limit, present) = recipe.memory.map_or_else(|| (memory::available(), 1 + more), |limit| (limit, 0));
        let needed = (copies + more - present) * data.bytes();
        if needed > limit.max(memory::NEGLIGIBLE) {
            let what = format!("the work on {} points", data.len());
            let way_out = "use fewer rows or columns, or raise `memory`".into();
            return Err(Error::Memory { what, needed, limit, way_out });
        }
        Ok(Budget { limit, left: limit.saturating_sub(needed) })
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

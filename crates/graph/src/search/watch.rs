//! Counts the work done by several threads and passes it to the observer.

use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Stage};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Work of a known total, reported as a fraction of the graph stage.
pub struct Watch<'a> {
    observer: &'a dyn Observer,
    done: AtomicUsize,
    total: usize,
}

impl<'a> Watch<'a> {
    /// Progress of `total` units of work.
    pub fn new(observer: &'a dyn Observer, total: usize) -> Watch<'a> {
        Watch { observer, done: AtomicUsize::new(0), total: total.max(1) }
    }

    /// Another count for the same observer.
    pub(crate) fn again(&self, total: usize) -> Watch<'a> {
        Watch::new(self.observer, total)
    }

    /// Announces some units of work about to be done.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the observer stopped the search.
    pub(crate) fn step(&self, units: usize) -> Result<()> {
        if self.observer.stop() {
            return Err(Error::Stopped);
        }
        let done = self.done.fetch_add(units, Ordering::Relaxed);
        self.observer.progress(Stage::Graph, (done as f64 / self.total as f64).min(1.0));
        Ok(())
    }
}

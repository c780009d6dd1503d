//! Where distances come from: points, or a matrix the user brought.

use crate::search::approximate::Attempt;
use crate::search::index::{Index, Lists};
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;

/// A shortest way out of a component: (distance, from, to).
pub(crate) type WayOut = (f64, u32, u32);

/// Distances between n points, searchable.
pub(crate) trait Source: Sync {
    /// The number of points.
    fn len(&self) -> usize;

    /// What does the work, in words.
    fn route(&self) -> &'static str;

    /// The distance between two points.
    fn distance(&self, i: usize, j: usize) -> f64;

    /// The `k` nearest other points of every point, sorted by (distance, index).
    fn nearest_others(&self, k: usize, watch: &Watch) -> Result<Lists>;

    /// The same of some points, in the order in which these are named.
    fn some_others(&self, rows: &[u32], k: usize, watch: &Watch) -> Result<Lists>;

    /// Approximate search with at least this recall, or the reason it would not be faster.
    fn nearly_nearest_others(&self, k: usize, recall: f64, watch: &Watch) -> Result<Attempt> {
        let _ = (k, recall, watch);
        Ok(Err("the distances are given"))
    }

    /// All other points within `radius` of each point, sorted by (distance, index).
    fn within(&self, radius: f64, watch: &Watch) -> Result<Vec<Vec<(u32, f64)>>>;

    /// Ways from points of every label but `skipped` to points of another one; the shortest of each label by
    /// (distance, smaller index, larger index) is among them.
    fn ways_out(&self, labels: &[u32], skipped: u32, watch: &Watch) -> Result<Vec<WayOut>>;

    /// Does something with some of the points alone.
    fn among(&self, rows: &[u32], work: &mut dyn FnMut(&dyn Source) -> Result<()>) -> Result<()>;

    /// Roughly how many nanoseconds of one processor `nearest_others` takes.
    fn work(&self, k: usize) -> f64;

    /// The bytes of what a search prepares, at most; a search that may make mistakes is `approximate`.
    fn prepares(&self, approximate: bool) -> u64;
}

impl Source for Index<'_> {
    fn len(&self) -> usize {
        self.points().rows()
    }

    fn route(&self) -> &'static str {
        Index::route(self)
    }

    fn distance(&self, i: usize, j: usize) -> f64 {
        self.metric().between(self.points(), i, j)
    }

    fn nearest_others(&self, k: usize, watch: &Watch) -> Result<Lists> {
        Index::nearest_others(self, k, watch)
    }

    fn some_others(&self, rows: &[u32], k: usize, watch: &Watch) -> Result<Lists> {
        Index::some_others(self, rows, k, watch)
    }

    fn nearly_nearest_others(&self, k: usize, recall: f64, watch: &Watch) -> Result<Attempt> {
        Index::nearly_nearest_others(self, k, recall, watch)
    }

    fn within(&self, radius: f64, watch: &Watch) -> Result<Vec<Vec<(u32, f64)>>> {
        Index::within(self, radius, watch)
    }

    fn ways_out(&self, labels: &[u32], skipped: u32, watch: &Watch) -> Result<Vec<WayOut>> {
        Index::ways_out(self, labels, skipped, watch)
    }

    fn among(&self, rows: &[u32], work: &mut dyn FnMut(&dyn Source) -> Result<()>) -> Result<()> {
        let rows: Vec<usize> = rows.iter().map(|&i| i as usize).collect();
        work(&Index::new(&self.points().select(&rows), self.metric())?)
    }

    fn work(&self, k: usize) -> f64 {
        Index::work(self, k)
    }

    fn prepares(&self, approximate: bool) -> u64 {
        Index::prepares(self, approximate)
    }
}

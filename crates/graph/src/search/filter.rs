//! The pairs of points that may be neighbors in a search.

use std::sync::atomic::{AtomicU64, Ordering};

/// Decides for a query, named by its row, what it may find.
pub(crate) trait Filter: Sync {
    /// Whether every point may be found by every query.
    const EVERYONE: bool = false;

    /// Whether point `j` may be found.
    fn allows(&self, query: u32, j: u32) -> bool;

    /// Whether a node of the tree holds nothing that may be found.
    #[inline(always)]
    fn rules_out(&self, query: u32, node: usize) -> bool {
        let _ = (query, node);
        false
    }

    /// Nothing farther than this is of use.
    #[inline(always)]
    fn limit(&self, query: u32) -> f64 {
        let _ = query;
        f64::INFINITY
    }

    /// Hears how far the best of the query is, once it is known.
    #[inline(always)]
    fn record(&self, query: u32, distance: f64) {
        let _ = (query, distance);
    }
}

/// Anything may be found: the queries are not among the points.
pub(crate) struct Anyone;

impl Filter for Anyone {
    const EVERYONE: bool = true;

    #[inline(always)]
    fn allows(&self, _query: u32, _j: u32) -> bool {
        true
    }
}

/// Anything but the query itself.
pub(crate) struct Others;

impl Filter for Others {
    #[inline(always)]
    fn allows(&self, query: u32, j: u32) -> bool {
        query != j
    }
}

/// Points of another label than the query's, and only the nearest of all that its label has found so far: after the
/// search, the best over the queries of one label is exact, ties included, but a single query may come back empty.
pub(crate) struct Elsewhere<'a> {
    labels: &'a [u32],
    /// For each node of the tree the label that all its points share, or `u32::MAX`.
    pub(crate) uniform: Vec<u32>,
    /// For each label the bits of the shortest distance found; nonnegative floats sort as their bits do.
    shortest: Vec<AtomicU64>,
}

impl<'a> Elsewhere<'a> {
    pub(crate) fn new(labels: &'a [u32]) -> Elsewhere<'a> {
        let count = labels.iter().max().map_or(0, |&most| most as usize + 1);
        let shortest = (0..count).map(|_| AtomicU64::new(f64::INFINITY.to_bits())).collect();
        Elsewhere { labels, uniform: Vec::new(), shortest }
    }
}

impl Filter for Elsewhere<'_> {
    #[inline(always)]
    fn allows(&self, query: u32, j: u32) -> bool {
        self.labels[query as usize] != self.labels[j as usize]
    }

    #[inline(always)]
    fn rules_out(&self, query: u32, node: usize) -> bool {
        self.uniform.get(node) == Some(&self.labels[query as usize])
    }

    #[inline(always)]
    fn limit(&self, query: u32) -> f64 {
        f64::from_bits(self.shortest[self.labels[query as usize] as usize].load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn record(&self, query: u32, distance: f64) {
        self.shortest[self.labels[query as usize] as usize].fetch_min(distance.to_bits(), Ordering::Relaxed);
    }
}

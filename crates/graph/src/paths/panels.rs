//! All pairs of distances, block by block, in the layout of a lower triangle.
//!
//! Distances are symmetric, and with the points counted in the order of elimination the half that is needed is also the
//! cheaper one to find: the sweep for a block of sources ends where the block begins.

use crate::paths::dijkstra::dijkstra;
use crate::paths::sweep::{LANES, Real};
use crate::paths::{Paths, Route};

/// The largest power of two that is not above the value; 1 for zero.
pub fn power_of_two(value: f64) -> f64 {
    if value > 0.0 { value.log2().floor().clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}

/// Fills the lower triangle of the distance matrix, panel by panel: the distances between [`LANES`] consecutive
/// sources and all points from the first source on, all in [`Paths::order`].
pub struct Panels<'a, R> {
    paths: &'a Paths,
    arcs: Vec<R>,
}

impl<'a, R: Real> Panels<'a, R> {
    /// Prepares the panels of all pairs, in units of [`Paths::unit`].
    pub fn new(paths: &'a Paths) -> Panels<'a, R> {
        let arcs = match &paths.route {
            Route::Elimination(elimination) => elimination.rounded_arcs(1.0 / paths.unit()),
            Route::Dijkstra(_) => Vec::new(),
        };
        Panels { paths, arcs }
    }

    /// Fills the panel of the sources `first..first + LANES`: row `i`, lane `j` is the distance between the points
    /// `first + i` and `first + j`. Lanes beyond the last point have no meaning.
    pub fn fill(&self, first: usize, panel: &mut [R]) {
        let n = self.paths.len();
        let lanes = LANES.min(n - first);
        debug_assert!(panel.len() == (n - first) * LANES);
        panel.fill(R::INFINITY);
        match &self.paths.route {
            Route::Elimination(elimination) => {
                (0..lanes).for_each(|lane| panel[lane * LANES + lane] = R::ZERO);
                let seeds: Vec<u32> = (first..first + lanes).map(|v| v as u32).collect();
                elimination.sweep(&self.arcs, first, &seeds, panel);
            }
            Route::Dijkstra(graph) => {
                let mut d = vec![0.0; n];
                let factor = 1.0 / self.paths.unit();
                for lane in 0..lanes {
                    dijkstra(graph, &[((first + lane) as u32, 0.0)], &mut d);
                    for (row, value) in panel.chunks_exact_mut(LANES).zip(&d[first..]) {
                        row[lane] = R::round(value * factor);
                    }
                }
            }
        }
    }
}

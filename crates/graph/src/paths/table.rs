//! The distances from some points to all in single precision, those of each point side by side.

use crate::Paths;
use crate::paths::dijkstra::dijkstra;
use crate::paths::sweep::{LANES, Real};
use crate::paths::{Route, in_blocks};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;
use std::sync::{Mutex, PoisonError};

/// Distances from some sources: one row a point, one column a source, in a unit.
#[derive(Clone, Debug)]
pub struct DistanceTable {
    values: Vec<f32>,
    sources: usize,
    unit: f64,
}

impl Paths {
    /// The distances from each source to every point in single precision; infinite where there is no path.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`](eigenfold_linalg::Error::Stopped) if the observer stops the work.
    pub fn table(&self, sources: &[u32], observer: &dyn Observer) -> Result<DistanceTable> {
        let (n, m, unit) = (self.len(), sources.len(), self.unit());
        let blocks: Vec<Mutex<Vec<f32>>> = sources.chunks(LANES).map(|_| Mutex::default()).collect();
        let arcs = match &self.route {
            Route::Elimination(elimination) => elimination.rounded_arcs::<f32>(1.0 / unit),
            Route::Dijkstra(_) => Vec::new(),
        };
        in_blocks(sources.chunks(LANES).zip(&blocks).collect::<Vec<_>>(), observer, |(sources, block)| {
            let mut d = vec![f32::INFINITY; n * LANES];
            match &self.route {
                Route::Elimination(elimination) => {
                    let started: Vec<u32> = sources.iter().map(|&i| elimination.position[i as usize]).collect();
                    started.iter().enumerate().for_each(|(lane, &v)| d[v as usize * LANES + lane] = 0.0);
                    elimination.sweep(&arcs, 0, &started, &mut d);
                }
                Route::Dijkstra(graph) => {
                    let mut lengths = vec![0.0; n];
                    for (lane, &source) in sources.iter().enumerate() {
                        dijkstra(graph, &[(source, 0.0)], &mut lengths);
                        let cells = d.iter_mut().skip(lane).step_by(LANES);
                        cells.zip(&lengths).for_each(|(cell, length)| *cell = <f32 as Real>::round(length / unit));
                    }
                }
            }
            *block.lock().unwrap_or_else(PoisonError::into_inner) = d;
        })?;
        let blocks: Vec<Vec<f32>> =
            blocks.into_iter().map(|block| block.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
        let position = |point: usize| match &self.route {
            Route::Elimination(elimination) => elimination.position[point] as usize,
            Route::Dijkstra(_) => point,
        };
        let mut values = vec![0.0f32; n * m];
        parallel::chunks_mut(&mut values, m, |point, row| {
            let start = position(point) * LANES;
            for (cells, block) in row.chunks_mut(LANES).zip(&blocks) {
                cells.copy_from_slice(&block[start..start + cells.len()]);
            }
        });
        Ok(DistanceTable { values, sources: m, unit })
    }
}

impl DistanceTable {
    /// The bytes that a table takes, with those that are needed to make it.
    pub fn memory(sources: usize, points: usize) -> u64 {
        8 * (sources.next_multiple_of(LANES) * points) as u64
    }

    /// The unit of the distances, a power of two.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The distances of a point from the sources.
    #[inline(always)]
    pub fn row(&self, point: usize) -> &[f32] {
        &self.values[point * self.sources..(point + 1) * self.sources]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::elimination::{Budget, Elimination};
    use crate::{Graph, Undirected};
    use eigenfold_linalg::progress::Silent;
    use std::sync::Arc;

    #[test]
    fn both_routes_give_the_distances_that_single_sources_have() {
        let edges = |i: u32| [7, 31, 90].map(|step| ((i + step) % 300, 0.25 + f64::from((i * step) % 11)));
        let graph: Undirected = Graph::from_lists((0..300).map(|i| edges(i).to_vec()).collect()).unwrap().union();
        let budget = Budget { arc: 0.0, pair: 0.0, limit: 0.0, most_arcs: usize::MAX };
        let routes =
            [Route::Elimination(Arc::new(Elimination::new(&graph, budget).unwrap())), Route::Dijkstra(graph.clone())];
        let sources: Vec<u32> = (0..70).map(|i| i * 4 + 1).collect();
        for route in routes {
            let paths = Paths::with_route(&graph, route);
            let table = paths.table(&sources, &Silent).unwrap();
            let rows: Vec<usize> = sources.iter().map(|&i| i as usize).collect();
            let right = paths.from_sources(&rows, &Silent).unwrap();
            for point in 0..300 {
                for (at, length) in table.row(point).iter().enumerate() {
                    let length = f64::from(*length) * table.unit();
                    assert!((length - right[at * 300 + point]).abs() <= 1e-6 * length, "{at} {point}");
                }
            }
        }
    }
}

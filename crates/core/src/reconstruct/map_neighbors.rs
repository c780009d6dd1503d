//! The map points around embedding points.

use super::neighborhood::Neighborhood;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Index, Metric};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;

/// The number of map points that a point is predicted from (docs/decisions/0008 has the comparison).
const NEIGHBORS: usize = 32;

/// Finds the neighbors of embedding points, within one component of the map.
pub(crate) struct MapNeighbors<'a> {
    pub(crate) index: Index<'a>,
    /// The component of every map point, if they were kept separate.
    pub(crate) components: Option<Vec<u32>>,
}

impl<'a> MapNeighbors<'a> {
    pub(crate) fn new(map: &'a Points, components: Option<Vec<u32>>) -> Result<MapNeighbors<'a>> {
        Ok(MapNeighbors { index: Index::new(map, Metric::Euclidean)?, components })
    }

    /// The neighborhoods of embedding points; those of map points, given by their rows, leave the points themselves
    /// out.
    pub(crate) fn of(&self, places: &Points, rows: Option<&[usize]>) -> Result<Vec<Neighborhood>> {
        let map = self.index.points();
        let lists = self.lists(places, rows)?;
        let nearest: Vec<usize> = lists.iter().map(|list| list.first().map_or(0, |&(a, _)| a as usize)).collect();
        let there = self.lists(&map.select(&nearest), rows)?;
        Ok(parallel::collect_of(lists.into_iter().zip(there), |_, (list, there)| {
            let (near, to) = list.into_iter().unzip();
            let (there, _): (Vec<u32>, Vec<f64>) = there.into_iter().unzip();
            Neighborhood::new(map, near, to, &there)
        }))
    }

    /// The map points nearest to embedding points with their distances, within one component.
    fn lists(&self, places: &Points, rows: Option<&[usize]>) -> Result<Vec<Vec<(u32, f64)>>> {
        let k = (NEIGHBORS + usize::from(rows.is_some())).min(self.index.points().rows());
        let (near, to) = self.index.nearest(places, k)?;
        Ok(parallel::collect(places.rows(), |i| {
            let own = rows.map(|rows| rows[i] as u32);
            let (near, to) = (&near[i * k..(i + 1) * k], &to[i * k..(i + 1) * k]);
            let list = near.iter().copied().zip(to.iter().copied());
            let mut list: Vec<(u32, f64)> = list.filter(|(a, _)| Some(*a) != own).take(NEIGHBORS).collect();
            if let (Some(components), Some(&(first, _))) = (&self.components, list.first()) {
                let home = components[own.unwrap_or(first) as usize];
                list.retain(|(a, _)| components[*a as usize] == home);
            }
            list
        }))
    }

    /// The maximum number of neighbors of an embedding point.
    pub(crate) fn most(&self) -> usize {
        NEIGHBORS.min(self.index.points().rows())
    }

    /// The neighborhoods of new embedding points.
    pub(crate) fn around(&self, places: &Points) -> Result<Vec<Neighborhood>> {
        self.of(places, None)
    }
}

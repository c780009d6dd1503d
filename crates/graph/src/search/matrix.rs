//! Distances that the user brought as a matrix.

use crate::distances::Distances;
use crate::search::best::Best;
use crate::search::index::{Lists, concat};
use crate::search::source::{Source, WayOut};
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;

/// Distances as a source of neighbors.
pub(crate) struct Matrix<'a>(pub(crate) &'a Distances);

impl Matrix<'_> {
    /// The distances of point `i` to the others.
    fn others(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        (0..self.len()).filter(move |&j| j != i).map(move |j| (j as u32, self.distance(i, j)))
    }
}

impl Source for Matrix<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn route(&self) -> &'static str {
        "given distances"
    }

    fn distance(&self, i: usize, j: usize) -> f64 {
        self.0.between(i, j)
    }

    fn nearest_others(&self, k: usize, watch: &Watch) -> Result<Lists> {
        self.some_others(&(0..self.len() as u32).collect::<Vec<_>>(), k, watch)
    }

    fn some_others(&self, rows: &[u32], k: usize, watch: &Watch) -> Result<Lists> {
        let list = |at: usize| {
            watch.step(1)?;
            let mut best = Best::new(k);
            self.others(rows[at] as usize).for_each(|(j, distance)| {
                best.offer(distance, j);
            });
            let mut lists = Lists::default();
            best.write(&mut lists);
            Ok(lists)
        };
        Ok(concat(parallel::try_collect(rows.len(), list)?))
    }

    fn within(&self, radius: f64, watch: &Watch) -> Result<Vec<Vec<(u32, f64)>>> {
        let list = |i: usize| {
            watch.step(1)?;
            let mut list: Vec<(u32, f64)> = self.others(i).filter(|edge| edge.1 <= radius).collect();
            list.sort_unstable_by(sort::by_distance);
            Ok(list)
        };
        parallel::try_collect(self.len(), list)
    }

    fn ways_out(&self, labels: &[u32], skipped: u32, watch: &Watch) -> Result<Vec<WayOut>> {
        let way = |i: usize| {
            watch.step(1)?;
            let mut best = Best::new(1);
            for (j, distance) in self.others(i).filter(|&(j, _)| labels[j as usize] != labels[i]) {
                best.offer(distance, j);
            }
            Ok(best.worst().map(|(distance, j)| (distance, i as u32, j)))
        };
        let rows: Vec<usize> = (0..self.len()).filter(|&i| labels[i] != skipped).collect();
        Ok(parallel::try_collect(rows.len(), |at| way(rows[at]))?.into_iter().flatten().collect())
    }

    fn among(&self, rows: &[u32], work: &mut dyn FnMut(&dyn Source) -> Result<()>) -> Result<()> {
        let rows: Vec<usize> = rows.iter().map(|&i| i as usize).collect();
        work(&Matrix(&self.0.select(&rows)))
    }

    fn work(&self, _k: usize) -> f64 {
        (self.len() * self.len()) as f64 * 2.0
    }

    fn prepares(&self, _approximate: bool) -> u64 {
        0
    }
}

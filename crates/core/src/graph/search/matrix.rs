//! Distances that the user brought as a matrix.

use crate::error::{Error, Result};
use crate::graph::search::best::Best;
use crate::graph::search::index::{Lists, concat};
use crate::graph::search::source::{Source, WayOut};
use crate::graph::search::watch::Watch;
use crate::points::Points;
use rayon::prelude::*;

/// Entries may differ from their mirror images by this much of the largest distance, as printed numbers do.
const ASYMMETRY: f64 = 1e-9;

/// Whether the rows are the distances between as many points.
///
/// # Errors
///
/// If the matrix is not square, its diagonal not zero, an entry negative, or an entry differs from its mirror image;
/// the message names the first such cell (row and column counted from 1).
pub fn check_distances(distances: &Points) -> Result<()> {
    let n = distances.rows();
    if distances.cols() != n {
        return Err(Error::data(format!(
            "the distances have {n} rows and {} columns; give one row and one column for each point",
            distances.cols()
        )));
    }
    let largest = distances.values().iter().fold(0.0f64, |most, d| most.max(d.abs()));
    for i in 0..n {
        for (j, &d) in distances.row(i).iter().enumerate() {
            let cell = format_args!("row {}, column {}", i + 1, j + 1);
            if i == j && d != 0.0 {
                return Err(Error::data(format!(
                    "{cell} is {d} and the distance of a point to itself is 0; give distances, not similarities"
                )));
            }
            if d < 0.0 {
                return Err(Error::data(format!("{cell} is {d} and no distance is negative; correct the cell")));
            }
            let mirrored = distances.row(j)[i];
            if (d - mirrored).abs() > ASYMMETRY * largest {
                return Err(Error::data(format!(
                    "{cell} is {d} and its mirror image {mirrored}; give the same distance both ways"
                )));
            }
        }
    }
    Ok(())
}

/// A checked matrix of distances.
pub(crate) struct Matrix<'a>(pub(crate) &'a Points);

impl Matrix<'_> {
    /// The distances of point `i` to the others.
    fn others(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        (0..self.len()).filter(move |&j| j != i).map(move |j| (j as u32, self.distance(i, j)))
    }
}

impl Source for Matrix<'_> {
    fn len(&self) -> usize {
        self.0.rows()
    }

    fn route(&self) -> &'static str {
        "given distances"
    }

    fn distance(&self, i: usize, j: usize) -> f64 {
        // The upper triangle counts, so that both ways are the same to the last bit.
        self.0.row(i.min(j))[i.max(j)]
    }

    fn nearest_others(&self, k: usize, watch: &Watch) -> Result<Lists> {
        let list = |i: usize| {
            watch.step(1)?;
            let mut best = Best::new(k);
            self.others(i).for_each(|(j, distance)| {
                best.offer(distance, j);
            });
            let mut lists = Lists::default();
            best.write(&mut lists);
            Ok(lists)
        };
        Ok(concat((0..self.len()).into_par_iter().map(list).collect::<Result<_>>()?))
    }

    fn within(&self, radius: f64, watch: &Watch) -> Result<Vec<Vec<(u32, f64)>>> {
        let list = |i: usize| {
            watch.step(1)?;
            let mut list: Vec<(u32, f64)> = self.others(i).filter(|edge| edge.1 <= radius).collect();
            list.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            Ok(list)
        };
        (0..self.len()).into_par_iter().map(list).collect()
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
        let rows = (0..self.len()).into_par_iter().filter(|&i| labels[i] != skipped);
        Ok(rows.map(way).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn work(&self, _k: usize) -> f64 {
        (self.len() * self.len()) as f64 * 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_not_being_a_distance_is_named() {
        let wrong = |rows: &[[f64; 2]]| check_distances(&Points::from_rows(rows).unwrap()).unwrap_err().to_string();
        assert!(wrong(&[[0.0, 1.0]]).starts_with("the distances have 1 rows and 2 columns"));
        assert!(wrong(&[[1.0, 0.5], [0.5, 1.0]]).starts_with("row 1, column 1 is 1 and"));
        assert!(wrong(&[[0.0, -1.0], [-1.0, 0.0]]).starts_with("row 1, column 2 is -1 and no"));
        assert!(wrong(&[[0.0, 1.0], [2.0, 0.0]]).starts_with("row 1, column 2 is 1 and its mirror image 2"));
        assert!(check_distances(&Points::from_rows(&[[0.0, 1.0], [1.0, 0.0]]).unwrap()).is_ok());
    }
}

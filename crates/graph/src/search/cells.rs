//! An order of points in which neighbors are mostly close to each other: by cells.
//!
//! Some points from all over the data are centers, and a point belongs to the center nearest to it. Cells keep together what
//! every plane would cut, such as many groups in many dimensions. A center is looked for in two steps, so that the time grows like
//! n^1.5: among the centers of centers, then among the centers that have one of the nearest of these as theirs.

use crate::metric::Metric;
use crate::search::pca_bound::sort_by_halves;
use crate::search::rank_block::{BLOCK, Tile};
use crate::search::spread::spread;
use eigenfold_linalg::parallel;

/// Centers of centers among which a point looks for its own.
const NEAREST: usize = 3;

/// The points of `rows`, of `width` numbers each, in an order in which neighbors are mostly close to each other; a cell has about
/// `size` points.
pub(crate) fn order(rows: &[f32], width: usize, metric: Metric, size: usize) -> Vec<u32> {
    let n = rows.len() / width;
    let row = |i: u32| &rows[i as usize * width..][..width];
    let mut centers: Vec<u32> = spread((n / size).max(1), n, 0).collect();
    sort_by_halves(rows, width, (1, 1), &mut centers);
    let values = |ids: &[u32]| -> Vec<f32> { ids.iter().flat_map(|&i| row(i)).copied().collect() };
    let heads: Vec<u32> = spread((2 * centers.len().isqrt()).min(centers.len()), centers.len(), 0)
        .map(|at| centers[at as usize])
        .collect();
    let heads = Set::new(values(&heads), width, metric);
    // The centers of every head.
    let mut members = vec![Vec::new(); heads.len()];
    for (at, near) in heads.nearest(&values(&centers), NEAREST).chunks_exact(NEAREST.min(heads.len())).enumerate() {
        near.iter().for_each(|&head| members[head as usize].push(at as u32));
    }
    let of_head: Vec<u32> = parallel::collect_of(rows.chunks(BLOCK * width), |_, rows| heads.nearest(rows, 1)).concat();
    let mut by_head = vec![Vec::new(); heads.len()];
    of_head.iter().zip(0..).for_each(|(&head, i)| by_head[head as usize].push(i));
    let jobs: Vec<(usize, &[u32])> = by_head
        .iter()
        .enumerate()
        .flat_map(|(head, points)| points.chunks(BLOCK).map(move |points| (head, points)))
        .collect();
    let found = parallel::collect_of(&jobs, |_, &(head, points)| {
        let ids: Vec<u32> = members[head].iter().map(|&at| centers[at as usize]).collect();
        let near = Set::new(values(&ids), width, metric).nearest(&values(points), 1);
        near.into_iter().map(|at| members[head][at as usize]).collect::<Vec<u32>>()
    });
    let mut cell = vec![0u32; n];
    for ((_, points), found) in jobs.iter().zip(found) {
        points.iter().zip(found).for_each(|(&i, at)| cell[i as usize] = at);
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&i| cell[i as usize]);
    let mut cells: Vec<&mut [u32]> = order.chunk_by_mut(|a, b| cell[*a as usize] == cell[*b as usize]).collect();
    parallel::each_of(cells.iter_mut(), |_, points| sort_by_halves(rows, width, (1, size / 2), points));
    order
}

/// Points to find the nearest of.
struct Set {
    values: Vec<f32>,
    sizes: Vec<f32>,
    width: usize,
    metric: Metric,
}

impl Set {
    fn new(values: Vec<f32>, width: usize, metric: Metric) -> Set {
        let size = |row: &[f32]| if metric == Metric::Manhattan { 0.0 } else { row.iter().map(|x| x * x).sum() };
        let sizes = values.chunks_exact(width).map(size).collect();
        Set { values, sizes, width, metric }
    }

    fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The `count` nearest of these to each of some rows, row after row.
    fn nearest(&self, rows: &[f32], count: usize) -> Vec<u32> {
        let count = count.min(self.len());
        let mut near = Vec::with_capacity(rows.len() / self.width * count);
        let mut tile = Tile::default();
        for rows in rows.chunks(BLOCK * self.width) {
            tile.fill(self.metric, self.width, &self.values, rows);
            for at in 0..rows.len() / self.width {
                let ranks = || tile.column(at).iter().zip(&self.sizes).map(|(value, size)| value + size);
                let from = near.len();
                for _ in 0..count {
                    let left = || ranks().zip(0u32..).filter(|(_, j)| !near[from..].contains(j));
                    let least = left().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |item| item.1);
                    near.push(least);
                }
            }
        }
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::pca_bound::tests::noise;

    #[test]
    fn every_point_is_in_the_order_once_and_groups_stay_together() {
        let (n, width, groups) = (600, 40, 12);
        let value = |i: usize, c: usize| 10.0 * noise(i % groups * width + c) + 0.1 * noise(i * width + c + 9_999);
        let rows: Vec<f32> = (0..n * width).map(|at| value(at / width, at % width) as f32).collect();
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let order = order(&rows, width, metric, 8);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n as u32).collect::<Vec<_>>());
            let changes =
                order.windows(2).filter(|pair| pair[0] as usize % groups != pair[1] as usize % groups).count();
            assert!(changes < n / 8, "{metric:?}: {changes}");
        }
    }

    #[test]
    fn few_points_and_points_that_coincide_have_an_order_too() {
        for n in [1, 2, 7, 300] {
            let order = order(&vec![0.5; 3 * n], 3, Metric::Euclidean, 16);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n as u32).collect::<Vec<_>>());
        }
    }
}

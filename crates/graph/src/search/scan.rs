//! Every distance, one by one in double precision: for metrics that have no ranks, or too many features for a tree.

use crate::metric::Metric;
use crate::points::Points;
use crate::search::best::Best;
use crate::search::filter::Filter;
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort::by_distance;

/// Finds the `k` nearest of each of the given rows of `queries`, one list after the other.
pub(crate) fn nearest<F: Filter>(
    metric: Metric,
    points: &Points,
    (queries, rows): (&Points, &[u32]),
    k: usize,
    filter: &F,
    write: &mut impl FnMut(&Best),
) {
    let mut best = Best::new(k);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for &query in rows {
        let row = queries.read(query as usize, &mut own);
        best.clear();
        for j in (0..points.rows() as u32).filter(|&j| filter.allows(query, j)) {
            best.offer(metric.distance(row, points.read(j as usize, &mut other)), j);
        }
        if let Some((distance, _)) = best.worst() {
            filter.record(query, distance);
        }
        write(&best);
    }
}

/// All other points within `radius` of each point, sorted by (distance, index).
pub(crate) fn within(metric: Metric, points: &Points, radius: f64, watch: &Watch) -> Result<Vec<Vec<(u32, f64)>>> {
    parallel::try_collect(points.rows(), |i| {
        watch.step(1)?;
        let measured = |j: usize| (j as u32, metric.between(points, i, j));
        let others = (0..points.rows()).filter(|&j| j != i).map(measured);
        let mut list: Vec<(u32, f64)> = others.filter(|&(_, distance)| distance <= radius).collect();
        list.sort_unstable_by(by_distance);
        Ok(list)
    })
}

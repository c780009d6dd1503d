//! Patches: every point with its neighbors, flattened separately and aligned where they overlap.
//!
//! The alignment methods differ in the quadratic form Q[i] that penalizes the coordinates over the patch of point i;
//! the precision of the field is their sum,
//!
//! ```text
//! A = Σᵢ Sᵢ Qᵢ Sᵢᵀ        Sᵢ picks the patch {i} ∪ neighbors of i
//! ```
//!
//! The point is part of its own patch, so that a point that is in no other list has a row in A too.

use crate::field::Site;
use crate::input::Measured;
use eigenfold_graph::Graph;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::sparse::locality::{LARGE, breadth_first, positions};
use eigenfold_linalg::sparse::matrix::{SparseSymmetric, by_rows};

/// The data of a method that flattens patches, after checking that every point has at least `least`
/// neighbors.
pub(crate) fn data<'a>(site: &Site<'a>, graph: &Graph, method: &str, least: usize) -> Result<Measured<'a>> {
    let dims = site.dims;
    if let Some(p) = site.data.points().map(Points::cols).filter(|&p| dims > p) {
        return Err(Error::features(dims, p));
    }
    let count = |i: &usize| graph.neighbors(*i).len();
    let poorest = (0..graph.len()).min_by_key(count).unwrap_or_default();
    if count(&poorest) < least {
        let (n, has) = (graph.len(), count(&poorest));
        let way_out =
            if least < n { format!("use `neighbors` {least} or more, or fewer dimensions") } else { "use pca".into() };
        return Err(Error::out_of_range(
            "neighbors",
            has,
            least..=n - 1,
            format!(
                "{method} with `dims` {dims} needs {least} neighbors of every point and point {} of {n} has {has}",
                poorest + 1
            ),
            way_out,
        ));
    }
    site.measured(method)
}

/// The sum of the quadratic forms of all patches, written row-major over the point and its neighbors in the order of
/// the list; and the point of each of its rows, if they are in an order of locality.
pub(crate) fn glue(
    site: &Site<'_>,
    graph: &Graph,
    form: impl Fn(usize, &[u32], &mut [f64]) + Sync,
) -> Result<(SparseSymmetric, Option<Vec<u32>>)> {
    // Of many, those that overlap are put close in memory.
    let order = (graph.len() >= LARGE).then(|| breadth_first(graph.len(), |i| graph.neighbors(i)));
    Ok((glue_in_order(site, graph, order.as_deref(), form)?, order))
}

/// As [`glue`], with the patches, and the rows of the sum, in an order that is given.
fn glue_in_order(
    site: &Site<'_>,
    graph: &Graph,
    order: Option<&[u32]>,
    form: impl Fn(usize, &[u32], &mut [f64]) + Sync,
) -> Result<SparseSymmetric> {
    let n = graph.len();
    let point = |row: usize| order.map_or(row, |order| order[row] as usize);
    let (mut offsets, mut members) = (Vec::with_capacity(n + 1), Vec::with_capacity(graph.edge_count() + n));
    let mut blocks = Vec::with_capacity(n + 1);
    offsets.push(0);
    blocks.push(0);
    for row in 0..n {
        let i = point(row);
        members.push(i as u32);
        members.extend_from_slice(graph.neighbors(i));
        offsets.push(members.len());
        let size = graph.neighbors(i).len() + 1;
        blocks.push(blocks[row] + size * (size + 1) / 2);
    }
    let way_out = "use a smaller `neighbors` or `radius`, or raise `memory`";
    site.afford("the patches", 32 * blocks[n] as u64, way_out)?;
    let mut forms = vec![0.0; blocks[n]];
    parallel::try_collect_of(by_rows(&blocks, &mut forms), |_, (rows, mut forms)| {
        let mut whole = Vec::new();
        for row in rows {
            let members = &members[offsets[row]..offsets[row + 1]];
            whole.clear();
            whole.resize(members.len().pow(2), 0.0);
            form(point(row), members, &mut whole);
            for (at, values) in whole.chunks_exact(members.len()).enumerate() {
                let (own, rest) = forms.split_at_mut(at + 1);
                own.copy_from_slice(&values[..=at]);
                forms = rest;
            }
        }
        if site.observer.stop() { Err(Error::Stopped) } else { Ok(()) }
    })?;
    if let Some(position) = order.map(positions) {
        members.iter_mut().for_each(|member| *member = position[*member as usize]);
    }
    Ok(SparseSymmetric::of_patches(&offsets, &members, &blocks, &forms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::by_points;

    #[test]
    fn patches_in_an_order_of_locality_have_the_same_sum() {
        let n = 60usize;
        let lists = (0..n).map(|i| (1..4).map(|step| (((i * 7 + step * 11) % n) as u32, step as f64)).collect());
        let mut lists: Vec<Vec<(u32, f64)>> = lists.collect();
        lists.iter_mut().enumerate().for_each(|(i, list)| list.retain(|edge| edge.0 as usize != i));
        let graph = Graph::from_lists(lists).unwrap();
        let points = Points::from_rows(&(0..n).map(|i| [i as f64]).collect::<Vec<_>>()).unwrap();
        let site = Site::of((&points).into());
        let form = |i: usize, members: &[u32], form: &mut [f64]| {
            for (at, value) in form.iter_mut().enumerate() {
                let (a, b) = (members[at / members.len()], members[at % members.len()]);
                *value = 1.0 / (1 + i + (a * b) as usize) as f64;
            }
        };
        let order = breadth_first(n, |i| graph.neighbors(i));
        assert!(!order.is_sorted());
        let (plain, local) = (
            glue_in_order(&site, &graph, None, form).unwrap(),
            glue_in_order(&site, &graph, Some(&order), form).unwrap(),
        );
        let local = by_points(&local, Some(&order));
        assert!((plain.to_dense() - local.to_dense()).norm_max() < 1e-14);
    }
}

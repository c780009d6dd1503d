//! Acyclic graphs: the points in an order, and for each its parents among the points after it.
//!
//! A point's parents are near it: the walk goes outwards along the edges of the undirected graph, hop by hop, until it
//! has met enough later points, but not further than [`HOPS`]. A point that meets none takes the one nearest later
//! point that a longer walk finds, since a point without parents would be a second root.

use crate::Undirected;
use crate::paths::dijkstra::settle;
use crate::points::Points;
use eigenfold_linalg::dense::{inner, product};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use eigenfold_linalg::sparse::cholesky::Analysis;
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use faer::Mat;

/// How far a point looks for parents; with two hops some points of a large sheet still find too few to span it.
const HOPS: usize = 3;
/// So many parents are enough to stop looking further, however many more are allowed.
const ENOUGH: usize = 32;
/// Points to a component of parallel work.
const CHUNK: usize = 4096;

/// An order of the points, and the parents of every place among the places after it; the last place has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered {
    /// The point at each place.
    pub order: Vec<u32>,
    /// The parents of place `a` are `offsets[a]..offsets[a + 1]`.
    pub offsets: Vec<usize>,
    /// Later places, ascending.
    pub parents: Vec<u32>,
}

impl Ordered {
    /// The nearest of the later points within [`HOPS`], `most` of them at most; `distance` is that of two points.
    pub fn nearest(
        graph: &Undirected,
        order: Vec<u32>,
        most: usize,
        distance: &(dyn Fn(usize, usize) -> f64 + Sync),
    ) -> Ordered {
        let place = inverse(&order);
        let lists = parallel::collect(order.len().div_ceil(CHUNK), |component| {
            let mut walk = Walk { graph, place: &place, met: vec![u32::MAX; order.len()], enough: most.min(ENOUGH) };
            let places = component * CHUNK..((component + 1) * CHUNK).min(order.len());
            let list = |i: u32| {
                let (later, hops) = walk.later(i as usize);
                let mut later: Vec<(f64, u32)> =
                    later.into_iter().map(|j| (distance(i as usize, j as usize), place[j as usize])).collect();
                later.sort_unstable_by(sort::by_key);
                let most = if hops > HOPS { 1 } else { most };
                let mut parents: Vec<u32> = later.into_iter().take(most).map(|(_, b)| b).collect();
                parents.sort_unstable();
                parents
            };
            order[places].iter().copied().map(list).collect::<Vec<Vec<u32>>>()
        });
        let lists: Vec<Vec<u32>> = lists.into_iter().flatten().collect();
        Ordered::from_lists(order, &lists)
    }

    /// The pattern of the graph's Cholesky factor in a fill-reducing order, fill included: as many parents as that has.
    ///
    /// # Errors
    ///
    /// If the pattern does not fit into memory.
    pub fn elimination(graph: &Undirected) -> Result<Ordered> {
        let row = |i: usize| (graph.neighbors(i), graph.neighbors(i).iter().map(|_| 1.0));
        let pattern = SparseSymmetric::with_diagonal(&vec![1.0; graph.len()], graph.edge_count(), row);
        let (order, lists) = Analysis::new(&pattern)?.pattern()?;
        Ok(Ordered::from_lists(order, &lists))
    }

    fn from_lists(order: Vec<u32>, lists: &[Vec<u32>]) -> Ordered {
        let mut offsets = vec![0];
        offsets.extend(lists.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        }));
        Ordered { order, offsets, parents: lists.concat() }
    }

    /// The parents of a place, as places.
    pub fn parents(&self, place: usize) -> &[u32] {
        &self.parents[self.offsets[place]..self.offsets[place + 1]]
    }
}

/// The points from the far end of the graph towards one of its peripheral points, which comes last: every other point
/// has its predecessor on the shortest path from there after it.
pub fn geodesic_order(graph: &Undirected) -> Vec<u32> {
    // From the point with the longest edges, which no numbering of the points changes, twice to the farthest point.
    let length = |i: usize| graph.lengths(i).iter().sum::<f64>();
    let mut source = first_largest((0..graph.len()).map(length));
    let mut d = vec![0.0; graph.len()];
    let mut order = Vec::new();
    for _ in 0..3 {
        order.clear();
        settle(graph, &[(source as u32, 0.0)], &mut d, |i| order.push(i), |_, _| ());
        source = first_largest(d.iter().copied());
    }
    order.reverse();
    order
}

/// The points along their first principal component.
pub fn principal_order(points: &Points) -> Vec<u32> {
    let mean = points.column_means();
    let largest = points.values().iter().enumerate().map(|(at, x)| (x - mean[at % mean.len()]).abs());
    let unit = largest.fold(f64::MIN_POSITIVE, f64::max);
    let x = Mat::from_fn(points.rows(), points.cols(), |i, f| (points.row(i)[f] - mean[f]) / unit);
    // An order needs few digits: power iteration, from the point farthest from the mean.
    let length = |v: &Mat<f64>| v.norm_l2().max(f64::MIN_POSITIVE);
    let far = first_largest((0..x.nrows()).map(|i| x.row(i).squared_norm_l2()));
    let mut axis = Mat::from_fn(x.ncols(), 1, |f, _| x[(far, f)]);
    for _ in 0..60 {
        axis /= faer::Scale(length(&axis));
        axis = inner(x.as_ref(), product(x.as_ref(), axis.as_ref()).as_ref());
    }
    let along = product(x.as_ref(), axis.as_ref());
    let mut order: Vec<u32> = (0..points.rows() as u32).collect();
    order.sort_by(|&i, &j| along[(i as usize, 0)].total_cmp(&along[(j as usize, 0)]));
    order
}

fn first_largest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, value) in values.enumerate() {
        if value > best.1 {
            best = (i, value);
        }
    }
    best.0
}

fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (at, &i) in order.iter().enumerate() {
        place[i as usize] = at as u32;
    }
    place
}

/// The walk outwards from a point, and the points that it met.
struct Walk<'a> {
    graph: &'a Undirected,
    place: &'a [u32],
    /// The last point that met each.
    met: Vec<u32>,
    /// The number of later points that ends the walk.
    enough: usize,
}

impl Walk<'_> {
    /// The later points met, and in how many hops: at most [`HOPS`] unless there is none within them.
    fn later(&mut self, i: usize) -> (Vec<u32>, usize) {
        self.met[i] = i as u32;
        let (mut later, mut hops, mut count) = (Vec::new(), 0, 1);
        let (mut front, mut next) = (vec![i as u32], Vec::new());
        // The walk also ends when all points have been met.
        while !front.is_empty() && count < self.met.len() {
            next.clear();
            for &from in &front {
                for &j in self.graph.neighbors(from as usize) {
                    if self.met[j as usize] != i as u32 {
                        self.met[j as usize] = i as u32;
                        next.push(j);
                    }
                }
            }
            later.extend(next.iter().copied().filter(|&j| self.place[j as usize] > self.place[i]));
            hops += 1;
            count += next.len();
            if later.len() >= self.enough || (hops >= HOPS && !later.is_empty()) {
                break;
            }
            std::mem::swap(&mut front, &mut next);
        }
        (later, hops)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::Graph;

    /// n points on a line at the whole numbers, each joined to the next.
    fn line(n: u32) -> Undirected {
        Graph::from_lists((0..n).map(|i| if i + 1 < n { vec![(i + 1, 1.0)] } else { vec![] }).collect())
            .unwrap()
            .union()
    }

    fn apart(i: usize, j: usize) -> f64 {
        i.abs_diff(j) as f64
    }

    fn parents(ordered: &Ordered) -> Vec<Vec<u32>> {
        let points = |a: usize| ordered.parents(a).iter().map(|&b| ordered.order[b as usize]).collect();
        (0..ordered.order.len()).map(points).collect()
    }

    #[test]
    fn on_a_line_the_parents_are_the_next_ones() {
        let ordered = Ordered::nearest(&line(5), vec![0, 1, 2, 3, 4], 2, &apart);
        assert_eq!(parents(&ordered), [vec![1, 2], vec![2, 3], vec![3, 4], vec![4], vec![]]);
    }

    #[test]
    fn a_point_whose_later_points_are_far_takes_one_of_them_only() {
        // Point 0 comes when all but the far end have gone.
        let ordered = Ordered::nearest(&line(7), vec![1, 2, 3, 4, 0, 5, 6], 3, &apart);
        assert_eq!(parents(&ordered)[4], [5], "five hops away, and one parent although there are two");
        assert_eq!(parents(&ordered)[3], [5, 6]);
        assert!((0..6).all(|a| !ordered.parents(a).is_empty()), "there is one root");
    }

    #[test]
    fn the_geodesic_order_ends_at_an_end_of_the_line_and_every_point_has_its_predecessor_after_it() {
        let order = geodesic_order(&line(6));
        assert!(order == [0, 1, 2, 3, 4, 5] || order == [5, 4, 3, 2, 1, 0], "{order:?}");
        let ordered = Ordered::nearest(&line(6), order, 1, &apart);
        assert!((0..5).all(|a| ordered.parents(a) == [a as u32 + 1]));
    }

    #[test]
    fn points_on_a_line_are_ordered_along_it() {
        let points = Points::from_rows(&[[0.0, 0.0], [2.0, 1.0], [-4.0, -2.0], [6.0, 3.0]]).unwrap();
        let order = principal_order(&points);
        assert!(order == [2, 0, 1, 3] || order == [3, 1, 0, 2], "{order:?}");
    }

    #[test]
    fn elimination_gives_one_root_and_the_fill() {
        let ring = Graph::from_lists((0..6).map(|i| vec![((i + 1) % 6, 1.0)]).collect()).unwrap().union();
        let ordered = Ordered::elimination(&ring).unwrap();
        let sizes: Vec<usize> = (0..6).map(|a| ordered.parents(a).len()).collect();
        assert_eq!(sizes, [2, 2, 2, 2, 1, 0]);
    }
}

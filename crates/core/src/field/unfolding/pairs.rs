//! The pairs of points whose distance is constrained.

use crate::parameter::{Choice, choices};
use eigenfold_graph::Graph;
use eigenfold_graph::components::Sets;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Which distances are constrained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Constraints {
    /// Those between neighbors.
    Edges,
    /// Those between all members of a neighborhood, a point and its neighbors: the angles between neighbors as well.
    #[default]
    Angles,
}

impl Constraints {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        self.word()
    }
}

choices! {
    Constraints {
        Edges: "edges", "between neighbors";
        Angles: "angles", "also between the neighbors of the same point";
    }
}

/// Pairs of points and their squared distances, in units in which the longest is one.
///
/// Points at distance zero are merged, with the sum of their counts: holding them together costs nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pairs {
    /// The ends of each pair, `i < j`, ascending.
    pub(crate) ends: Vec<(u32, u32)>,
    /// D > 0, in internal units.
    pub(crate) squares: Vec<f64>,
    /// How many points of the input are merged into each point.
    pub(crate) counts: Vec<f64>,
    /// The first of them.
    pub(crate) first: Vec<u32>,
    /// The point of each point of the input.
    pub(crate) of: Vec<u32>,
    /// The longest distance.
    pub(crate) unit: f64,
}

impl Pairs {
    /// The pairs of a graph; `distance` measures those that are not edges of it.
    ///
    /// # Errors
    ///
    /// If angles are requested and only the distances of the edges are known, or all distances are zero.
    pub(crate) fn new(graph: &Graph, constraints: Constraints, distance: Option<&Distance<'_>>) -> Result<Pairs> {
        let mut pairs: Vec<Pair> = graph.union().pairs().collect();
        if constraints == Constraints::Angles {
            let Some(distance) = distance else {
                return Err(Error::parameter(
                    "constraints",
                    "a graph does not contain the distances between the neighbors of a point",
                    "use `constraints` edges",
                ));
            };
            pairs.extend(angles(graph));
            pairs.par_sort_unstable_by(ascending);
            pairs.dedup_by_key(|pair| (pair.0, pair.1));
            parallel::chunks_mut(&mut pairs, 1024, |_, pairs| {
                let unknown = pairs.iter_mut().filter(|pair| pair.2.is_nan());
                unknown.for_each(|pair| pair.2 = distance(pair.0 as usize, pair.1 as usize));
            });
        }
        merged(graph.len(), pairs)
    }

    /// The number of points.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The index of the pair of two points of the input; `None` if they coincide or are not a pair.
    pub(crate) fn place(&self, i: u32, j: u32) -> Option<usize> {
        let (a, b) = (self.of[i as usize], self.of[j as usize]);
        self.ends.binary_search(&(a.min(b), a.max(b))).ok()
    }
}

/// Measures the distance of two points.
pub(crate) type Distance<'a> = dyn Fn(usize, usize) -> f64 + Sync + 'a;

type Pair = (u32, u32, f64);

fn ascending(a: &Pair, b: &Pair) -> std::cmp::Ordering {
    (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
}

/// The pairs of neighbors of each point, without distances.
fn angles(graph: &Graph) -> Vec<Pair> {
    let around = |i: usize| {
        let near = graph.neighbors(i);
        let pair = |(a, b): (u32, u32)| (a.min(b), a.max(b), f64::NAN);
        (0..near.len()).flat_map(move |x| near[..x].iter().map(move |&y| pair((near[x], y))))
    };
    (0..graph.len()).flat_map(around).collect()
}

/// The pairs between points that do not coincide.
fn merged(n: usize, mut pairs: Vec<Pair>) -> Result<Pairs> {
    let unit = pairs.iter().fold(0.0, |most: f64, pair| most.max(pair.2));
    if unit == 0.0 {
        return Err(Error::data("all neighbors coincide, so there is nothing to unfold", "remove the duplicates"));
    }
    let square = |d: f64| (d / unit).powi(2);
    let mut sets = Sets::new(n);
    for &(i, j, _) in pairs.iter().filter(|pair| square(pair.2) == 0.0) {
        sets.merge(i, j);
    }
    let (mut of, mut first, mut counts) = (vec![0u32; n], Vec::new(), Vec::<f64>::new());
    for i in 0..n as u32 {
        let r = sets.root(i);
        if r == i {
            of[i as usize] = first.len() as u32;
            first.push(i);
            counts.push(0.0);
        } else {
            of[i as usize] = of[r as usize];
        }
        counts[of[i as usize] as usize] += 1.0;
    }
    if first.len() < n {
        for pair in &mut pairs {
            let (a, b) = (of[pair.0 as usize], of[pair.1 as usize]);
            *pair = (a.min(b), a.max(b), pair.2);
        }
        pairs.retain(|pair| pair.0 < pair.1);
        pairs.par_sort_unstable_by(ascending);
        pairs.dedup_by_key(|pair| (pair.0, pair.1));
    }
    let ends = pairs.iter().map(|&(i, j, _)| (i, j)).collect();
    let squares = pairs.iter().map(|pair| square(pair.2)).collect();
    Ok(Pairs { ends, squares, counts, first, of, unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_the_pairs_inside_every_neighborhood() {
        let x = [0.0, 1.0, 3.0, 7.0f64];
        let distance = |i: usize, j: usize| (x[i] - x[j]).abs();
        let graph =
            Graph::from_lists(vec![vec![(1, 1.0), (2, 3.0)], vec![(0, 1.0), (2, 2.0)], vec![(1, 2.0)], vec![(2, 4.0)]])
                .unwrap();
        let edges = Pairs::new(&graph, Constraints::Edges, None).unwrap();
        assert_eq!(edges.ends, [(0, 1), (0, 2), (1, 2), (2, 3)]);
        assert_eq!(edges.squares, [1.0 / 16.0, 9.0 / 16.0, 4.0 / 16.0, 1.0]);
        let star = Graph::from_lists(vec![vec![], vec![(0, 1.0), (2, 2.0), (3, 6.0)], vec![], vec![]]).unwrap();
        let angles = Pairs::new(&star, Constraints::Angles, Some(&distance)).unwrap();
        assert_eq!(angles.ends, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(angles.unit, 7.0);
        assert!(Pairs::new(&star, Constraints::Angles, None).unwrap_err().to_string().contains("`constraints` edges"));
    }

    #[test]
    fn points_that_coincide_are_one_point_of_their_joint_mass() {
        let lists = vec![vec![(1, 0.0)], vec![(3, 0.0)], vec![(0, 2.0)], vec![(2, 2.0)]];
        let pairs = Pairs::new(&Graph::from_lists(lists).unwrap(), Constraints::Edges, None).unwrap();
        assert_eq!((pairs.len(), pairs.ends.as_slice()), (2, &[(0, 1)][..]));
        assert_eq!(pairs.counts, [3.0, 1.0]);
        assert_eq!(pairs.of, [0, 0, 1, 0]);
        let all = Graph::from_lists(vec![vec![(1, 0.0)], vec![]]).unwrap();
        assert!(Pairs::new(&all, Constraints::Edges, None).is_err());
    }
}

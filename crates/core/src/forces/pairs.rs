//! Symmetric weights of pairs of points: the attraction.

use super::Real;
use eigenfold_graph::Graph;
use eigenfold_linalg::parallel;

/// Rows that are merged together.
const ROWS: usize = 16_384;

/// Symmetric weights, each pair in the rows of both its ends; rows are sorted by target, unless they were reordered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pairs<T> {
    pub(crate) offsets: Vec<usize>,
    pub(crate) targets: Vec<u32>,
    pub(crate) weights: Vec<T>,
}

impl<T: Real> Pairs<T> {
    /// From a weight for every entry of directed lists: `both(w[i,j], w[j,i])` is the weight of the pair, with zero for
    /// an entry that is in no list.
    pub(crate) fn symmetric(graph: &Graph, weights: &[f64], both: impl Fn(f64, f64) -> f64 + Sync) -> Pairs<T> {
        let n = graph.len();
        // The reverse lists, in the order of their sources, each with the index of its weight.
        let mut starts = vec![0; n + 1];
        (0..n).flat_map(|i| graph.neighbors(i)).for_each(|&j| starts[j as usize + 1] += 1);
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let (mut next, mut named) = (starts.clone(), vec![(0u32, 0u32); graph.edge_count()]);
        let mut first = vec![0; n + 1];
        (0..n).for_each(|i| first[i + 1] = first[i] + graph.neighbors(i).len());
        for i in 0..n {
            for (place, &j) in graph.neighbors(i).iter().enumerate() {
                named[next[j as usize]] = (i as u32, place as u32);
                next[j as usize] += 1;
            }
        }
        let row = |i: usize| {
            let own = graph.neighbors(i).iter().copied().zip(weights[first[i]..first[i + 1]].iter().copied());
            let mut own: Vec<(u32, f64)> = own.collect();
            own.sort_unstable_by_key(|entry| entry.0);
            let theirs = named[starts[i]..starts[i + 1]].iter();
            let theirs: Vec<(u32, f64)> =
                theirs.map(|&(j, place)| (j, weights[first[j as usize] + place as usize])).collect();
            merged(&own, &theirs, &both)
        };
        let mut pairs = Pairs { offsets: vec![0], targets: Vec::new(), weights: Vec::new() };
        // Some rows at a time: all of them would take twice the memory.
        for some in (0..n).collect::<Vec<_>>().chunks(ROWS) {
            for row in parallel::collect(some.len(), |at| row(some[at])) {
                pairs.targets.extend(row.iter().map(|entry| entry.0));
                pairs.weights.extend(row.iter().map(|entry| T::round(entry.1)));
                pairs.offsets.push(pairs.targets.len());
            }
        }
        pairs
    }

    /// The same in single precision.
    pub(crate) fn rounded(&self) -> Pairs<f32> {
        let weights = self.weights.iter().map(|w| w.widen() as f32).collect();
        Pairs { offsets: self.offsets.clone(), targets: self.targets.clone(), weights }
    }

    /// The same with the points in another order; `from` has their previous indices.
    pub(crate) fn reordered(&self, from: &[u32]) -> Pairs<T> {
        let mut to = vec![0u32; from.len()];
        from.iter().enumerate().for_each(|(at, &old)| to[old as usize] = at as u32);
        let (mut offsets, mut targets) = (vec![0], Vec::with_capacity(self.targets.len()));
        let mut weights = Vec::with_capacity(self.weights.len());
        for &old in from {
            let row = self.row(old as usize);
            targets.extend(row.0.iter().map(|&j| to[j as usize]));
            weights.extend_from_slice(row.1);
            offsets.push(targets.len());
        }
        Pairs { offsets, targets, weights }
    }

    /// The number of points.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The entries of a row.
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.targets[range.clone()], &self.weights[range])
    }

    /// The weight of a pair; zero if it has none.
    pub(crate) fn weight(&self, i: usize, j: usize) -> f64 {
        let (targets, weights) = self.row(i);
        targets.binary_search(&(j as u32)).map_or(0.0, |at| weights[at].widen())
    }

    /// The sum of each point's weights.
    pub(crate) fn degrees(&self) -> Vec<f64> {
        parallel::collect(self.len(), |i| self.row(i).1.iter().map(|w| w.widen()).sum())
    }

    /// Σ of a function of every entry, in a fixed order.
    pub(crate) fn sum(&self, term: impl Fn(f64) -> f64 + Sync) -> f64 {
        let row = |i: usize| self.row(i).1.iter().map(|w| term(w.widen())).sum::<f64>();
        parallel::collect(self.len(), row).iter().sum()
    }
}

/// Two sorted lists as one.
fn merged(own: &[(u32, f64)], named: &[(u32, f64)], both: &impl Fn(f64, f64) -> f64) -> Vec<(u32, f64)> {
    let mut row = Vec::with_capacity(own.len() + named.len());
    let (mut a, mut b) = (0, 0);
    while a < own.len() || b < named.len() {
        let (left, right) = (own.get(a), named.get(b));
        let (j, weight) = match (left, right) {
            (Some(&(i, mine)), Some(&(j, theirs))) if i == j => (i, both(mine, theirs)),
            (Some(&(i, mine)), Some(&(j, _))) if i < j => (i, both(mine, 0.0)),
            (Some(&(i, mine)), None) => (i, both(mine, 0.0)),
            (_, Some(&(j, theirs))) => (j, both(0.0, theirs)),
            (None, None) => break,
        };
        a += usize::from(left.is_some_and(|entry| entry.0 == j));
        b += usize::from(right.is_some_and(|entry| entry.0 == j));
        if weight > 0.0 {
            row.push((j, weight));
        }
    }
    row
}

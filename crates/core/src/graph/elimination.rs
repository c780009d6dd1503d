//! Shortest paths as Gaussian elimination in the (min, +) algebra.
//!
//! The points are put into an order of small fill (approximate minimum degree, as for a sparse Cholesky factor) and
//! eliminated once: removing `v` keeps every distance among the points after it if each two of its later neighbors are
//! joined by the way through `v`,
//!
//! ```text
//! arc(u, w) ← min(arc(u, w), arc(v, u) + arc(v, w))    v < u < w,  u, w ∈ up(v)
//! ```
//!
//! where `up(v)` are the neighbors after `v`, those that fill created included. A shortest path then climbs the order
//! and descends again, so that any number of sources need two sweeps over the arcs and no heap:
//!
//! ```text
//! up,    v ascending:   d[u] ← min(d[u], d[v] + arc(v, u))    u ∈ up(v)
//! down,  v descending:  d[v] ← min(d[v], d[u] + arc(v, u))    u ∈ up(v)
//! ```
//!
//! The upward sweep touches only the ancestors of the sources in the elimination tree, where the parent of `v` is the
//! first point of `up(v)`. Distances are kept as one row of lanes a point, one lane a source, so that each arc is a few
//! vector instructions.
//!
//! B. Carré. An algebra for network routing problems. IMA Journal of Applied Mathematics 7(3), 1971.
//! J. Dibbelt, B. Strasser, D. Wagner. Customizable contraction hierarchies. Journal of Experimental Algorithmics 21,
//! 2016. D. Delling, A. Goldberg, A. Nowatzyk, R. Werneck. PHAST: hardware-accelerated shortest path trees. Journal of
//! Parallel and Distributed Computing 73(7), 2013.

use super::Undirected;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use pulp::{Simd, WithSimd};
use std::ops::{Add, Mul};

/// The number of sources that are swept together.
pub(crate) const LANES: usize = 64;

/// The two kinds of numbers that distances are kept in.
pub(crate) trait Real:
    Copy + Send + Sync + PartialOrd + Add<Output = Self> + Mul<Output = Self> + 'static
{
    const ZERO: Self;
    const INFINITY: Self;
    fn round(value: f64) -> Self;
    fn widen(self) -> f64;
    /// `to = min(to, from + arc)` in every lane. Left to the compiler this becomes masked stores, which are slow.
    fn relax<S: Simd>(simd: S, to: &mut [Self; LANES], from: &[Self; LANES], arc: Self);
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const INFINITY: f32 = f32::INFINITY;
    #[inline(always)]
    fn round(value: f64) -> f32 {
        value as f32
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn relax<S: Simd>(simd: S, to: &mut [f32; LANES], from: &[f32; LANES], arc: f32) {
        let arc = simd.splat_f32s(arc);
        for (to, &from) in S::as_mut_simd_f32s(to).0.iter_mut().zip(S::as_simd_f32s(from).0) {
            *to = simd.min_f32s(*to, simd.add_f32s(from, arc));
        }
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const INFINITY: f64 = f64::INFINITY;
    #[inline(always)]
    fn round(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
    #[inline(always)]
    fn relax<S: Simd>(simd: S, to: &mut [f64; LANES], from: &[f64; LANES], arc: f64) {
        let arc = simd.splat_f64s(arc);
        for (to, &from) in S::as_mut_simd_f64s(to).0.iter_mut().zip(S::as_simd_f64s(from).0) {
            *to = simd.min_f64s(*to, simd.add_f64s(from, arc));
        }
    }
}

/// What an elimination may cost before it is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Time for one arc: to find it and to sweep it for all sources.
    pub(crate) arc: f64,
    /// Time for one pair of later neighbors in the elimination.
    pub(crate) pair: f64,
    /// The time that must not be passed.
    pub(crate) limit: f64,
}

/// The eliminated graph: for each point, in elimination order, the arcs to later points.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    /// The point at each position.
    pub(crate) order: Vec<u32>,
    /// The position of each point.
    pub(crate) position: Vec<u32>,
    /// The arcs of position v are `starts[v]..starts[v + 1]`.
    starts: Vec<usize>,
    /// The later position each arc leads to, ascending within `up(v)`.
    heads: Vec<u32>,
    /// The length of each arc.
    arcs: Vec<f64>,
}

impl Elimination {
    /// Eliminates the graph, or gives up as soon as the work is known to pass the budget.
    pub(crate) fn new(graph: &Undirected, budget: Budget) -> Option<Elimination> {
        let (order, position) = ordering(graph)?;
        let (starts, heads) = fill(graph, &order, &position, budget)?;
        let mut arcs = vec![f64::INFINITY; heads.len()];
        for (v, &point) in order.iter().enumerate() {
            let up = &heads[starts[v]..starts[v + 1]];
            for (neighbor, length) in graph.edges(point as usize) {
                if let Ok(at) = up.binary_search(&position[neighbor]) {
                    arcs[starts[v] + at] = length;
                }
            }
        }
        eliminate(&starts, &heads, &mut arcs);
        Some(Elimination { order, position, starts, heads, arcs })
    }

    /// The number of points.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The lengths of the arcs times `factor`, in the kind of number a sweep needs.
    pub(crate) fn arcs<R: Real>(&self, factor: f64) -> Vec<R> {
        self.arcs.iter().map(|&arc| R::round(arc * factor)).collect()
    }

    /// Completes `d`, rows of lanes for the positions `first..`, from the start values it holds: afterwards each lane
    /// is the distance from that lane's seeds. `seeds` are the positions with a start value, none before `first`.
    pub(crate) fn sweep<R: Real>(&self, arcs: &[R], first: usize, seeds: &[u32], d: &mut [R]) {
        let climb = self.ancestors(first, seeds);
        pulp::Arch::new().dispatch(Sweep { elimination: self, arcs, first, climb: &climb, d });
    }

    /// The seeds and all their ancestors in the elimination tree, ascending: where the upward sweep goes.
    fn ancestors(&self, first: usize, seeds: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; self.len() - first];
        let mut found = Vec::new();
        for &seed in seeds {
            let mut next = Some(&seed);
            while let Some(&v) = next {
                if std::mem::replace(&mut seen[v as usize - first], true) {
                    break;
                }
                found.push(v);
                let arcs = self.starts[v as usize]..self.starts[v as usize + 1];
                next = self.heads[arcs].first();
            }
        }
        found.sort_unstable();
        found
    }
}

/// Both sweeps over one block of sources, compiled for each instruction set and chosen at run time.
struct Sweep<'a, R> {
    elimination: &'a Elimination,
    arcs: &'a [R],
    first: usize,
    climb: &'a [u32],
    d: &'a mut [R],
}

impl<R: Real> WithSimd for Sweep<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sweep { elimination: Elimination { starts, heads, .. }, arcs, first, climb, d } = self;
        let (rows, _) = d.as_chunks_mut::<LANES>();
        for &v in climb {
            let v = v as usize;
            let from = rows[v - first];
            let range = starts[v]..starts[v + 1];
            for (&u, &arc) in heads[range.clone()].iter().zip(&arcs[range]) {
                R::relax(simd, &mut rows[u as usize - first], &from, arc);
            }
        }
        for v in (first..starts.len() - 1).rev() {
            let mut to = rows[v - first];
            let range = starts[v]..starts[v + 1];
            for (&u, &arc) in heads[range.clone()].iter().zip(&arcs[range]) {
                R::relax(simd, &mut to, &rows[u as usize - first], arc);
            }
            rows[v - first] = to;
        }
    }
}

/// An order of small fill and its inverse, or nothing if the ordering fails.
fn ordering(graph: &Undirected) -> Option<(Vec<u32>, Vec<u32>)> {
    let n = graph.len();
    let mut starts = vec![0u32; n + 1];
    let mut rows = Vec::with_capacity(graph.edge_count());
    for i in 0..n {
        rows.extend_from_slice(graph.neighbors(i));
        starts[i + 1] = u32::try_from(rows.len()).ok()?;
    }
    let pattern = SymbolicSparseColMatRef::<'_, u32>::new_checked(n, n, &starts, None, &rows);
    let (mut order, mut position) = (vec![0u32; n], vec![0u32; n]);
    let mut scratch = MemBuffer::try_new(amd::order_scratch::<u32>(n, rows.len())).ok()?;
    let control = amd::Control::default();
    amd::order(&mut order, &mut position, pattern, control, MemStack::new(&mut scratch)).ok()?;
    Some((order, position))
}

/// `up(v)` of every position: its own later neighbors and those of its children in the elimination tree.
fn fill(graph: &Undirected, order: &[u32], position: &[u32], budget: Budget) -> Option<(Vec<usize>, Vec<u32>)> {
    const NONE: u32 = u32::MAX;
    let n = order.len();
    let (mut starts, mut heads) = (vec![0usize], Vec::<u32>::new());
    let (mut first_child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    let mut seen = vec![NONE; n];
    let mut time = 0.0;
    for v in 0..n {
        let begin = heads.len();
        seen[v] = v as u32;
        for &neighbor in graph.neighbors(order[v] as usize) {
            let u = position[neighbor as usize];
            if u > v as u32 && std::mem::replace(&mut seen[u as usize], v as u32) != v as u32 {
                heads.push(u);
            }
        }
        let mut child = first_child[v];
        while child != NONE {
            for at in starts[child as usize]..starts[child as usize + 1] {
                let u = heads[at];
                if std::mem::replace(&mut seen[u as usize], v as u32) != v as u32 {
                    heads.push(u);
                }
            }
            child = sibling[child as usize];
        }
        heads[begin..].sort_unstable();
        if let Some(&parent) = heads[begin..].first() {
            sibling[v] = std::mem::replace(&mut first_child[parent as usize], v as u32);
        }
        let count = (heads.len() - begin) as f64;
        time += budget.arc * count + budget.pair * count * count / 2.0;
        if time > budget.limit {
            return None;
        }
        starts.push(heads.len());
    }
    Some((starts, heads))
}

/// Shortens every arc by the ways through earlier points.
fn eliminate(starts: &[usize], heads: &[u32], arcs: &mut [f64]) {
    for v in 0..starts.len() - 1 {
        let end = starts[v + 1];
        for x in starts[v]..end {
            let to_u = arcs[x];
            // up(v) after u is contained in up(u), so that one pass over both finds every place.
            let mut at = starts[heads[x] as usize];
            for y in x + 1..end {
                while heads[at] != heads[y] {
                    at += 1;
                }
                arcs[at] = arcs[at].min(to_u + arcs[y]);
            }
        }
    }
}

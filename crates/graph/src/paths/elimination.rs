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
//! where `up(v)` are the neighbors after `v`, those that fill created included. What is left serves any number of
//! sources, see [`super::sweep`].
//!
//! Consecutive points `v, v + 1, ...` with `up(v) = {v + 1} ∪ up(v + 1)` form a run (a supernode): beyond the run they
//! have the same later neighbors in the same places, so that their arcs are combined as vectors.
//!
//! B. Carré. An algebra for network routing problems. IMA Journal of Applied Mathematics 7(3), 1971.
//! J. Dibbelt, B. Strasser, D. Wagner. Customizable contraction hierarchies. Journal of Experimental Algorithmics 21,
//! 2016. C. Ashcraft, R. Grimes. The influence of relaxed supernode partitions on the multifrontal method. ACM
//! Transactions on Mathematical Software 15(4), 1989.

use crate::Undirected;
use crate::paths::sweep::Real;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sparse::locality::{LARGE, breadth_first, positions};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// No point.
const NONE: u32 = u32::MAX;

/// What an elimination may cost before it is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Time for one arc: to find it and to sweep it for all sources.
    pub(crate) arc: f64,
    /// Time for one pair of later neighbors in the elimination.
    pub(crate) pair: f64,
    /// The time that must not be passed.
    pub(crate) limit: f64,
    /// The number of arcs that must not be passed.
    pub(crate) most_arcs: usize,
}

/// The eliminated graph: for each point, in elimination order, the arcs to later points.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    /// The point at each position.
    pub(crate) order: Vec<u32>,
    /// The position of each point.
    pub(crate) position: Vec<u32>,
    /// The arcs of position v are `starts[v]..starts[v + 1]`.
    pub(crate) starts: Vec<usize>,
    /// The later position each arc leads to, ascending within `up(v)`.
    pub(crate) heads: Vec<u32>,
    /// The length of each arc.
    pub(crate) arcs: Vec<f64>,
}

impl Elimination {
    /// Eliminates the graph, or gives up as soon as the work is known to pass the budget.
    pub(crate) fn new(graph: &Undirected, budget: Budget) -> Option<Elimination> {
        if budget.limit < 0.0 {
            return None;
        }
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

    /// The arcs of some positions, ascending, that have all their ancestors among them; `row` is the number of each.
    pub(crate) fn among(&self, members: &[u32], row: &[u32]) -> Elimination {
        let (mut starts, mut heads, mut arcs) = (vec![0], Vec::new(), Vec::new());
        for &v in members {
            let range = self.starts[v as usize]..self.starts[v as usize + 1];
            heads.extend(self.heads[range.clone()].iter().map(|&u| row[u as usize]));
            arcs.extend_from_slice(&self.arcs[range]);
            starts.push(heads.len());
        }
        let order = members.iter().map(|&v| self.order[v as usize]).collect();
        Elimination { order, position: Vec::new(), starts, heads, arcs }
    }

    /// The lengths of the arcs times `factor`, in the kind of number a sweep needs.
    pub(crate) fn rounded_arcs<R: Real>(&self, factor: f64) -> Vec<R> {
        self.arcs.iter().map(|&arc| R::round(arc * factor)).collect()
    }
}

/// An order of small fill and its inverse, or nothing if the ordering fails.
fn ordering(graph: &Undirected) -> Option<(Vec<u32>, Vec<u32>)> {
    let n = graph.len();
    // The search for it is faster where neighbors are close in memory.
    let local = (n >= LARGE).then(|| breadth_first(n, |i| graph.neighbors(i)));
    let place = local.as_ref().map(|local| positions(local));
    let mut starts = vec![0u32; n + 1];
    let mut rows = Vec::with_capacity(graph.edge_count());
    for at in 0..n {
        let begin = rows.len();
        match (&local, &place) {
            (Some(local), Some(place)) => {
                rows.extend(graph.neighbors(local[at] as usize).iter().map(|&j| place[j as usize]));
                rows[begin..].sort_unstable();
            }
            _ => rows.extend_from_slice(graph.neighbors(at)),
        }
        starts[at + 1] = u32::try_from(rows.len()).ok()?;
    }
    let pattern = SymbolicSparseColMatRef::<'_, u32>::new_checked(n, n, &starts, None, &rows);
    let (mut order, mut position) = (vec![0u32; n], vec![0u32; n]);
    let mut scratch = MemBuffer::try_new(amd::order_scratch::<u32>(n, rows.len())).ok()?;
    let control = amd::Control::default();
    amd::order(&mut order, &mut position, pattern, control, MemStack::new(&mut scratch)).ok()?;
    if let Some(local) = local {
        order.iter_mut().for_each(|at| *at = local[*at as usize]);
        position = positions(&order);
    }
    Some((order, position))
}

/// `up(v)` of every position: its own later neighbors and those of its children in the elimination tree.
fn fill(graph: &Undirected, order: &[u32], position: &[u32], budget: Budget) -> Option<(Vec<usize>, Vec<u32>)> {
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
        if time > budget.limit || heads.len() > budget.most_arcs {
            return None;
        }
        starts.push(heads.len());
    }
    Some((starts, heads))
}

/// Points of a run that are eliminated together: their arcs stay in the cache while all later points use them.
const BLOCK: usize = 16;
/// Below this many pairs one thread is faster.
const WORTH_SHARING: usize = 200_000;

/// Shortens every arc by the ways through earlier points, run by run.
fn eliminate(starts: &[usize], heads: &[u32], arcs: &mut [f64]) {
    let n = starts.len() - 1;
    // Runs wait in a list at their next later neighbor, each under the name of its last point.
    let (mut waiting, mut next) = (vec![NONE; n], vec![NONE; n]);
    // How many of its later neighbors a run has reached, and where it starts.
    let (mut reached, mut firsts) = (vec![0usize; n], vec![0usize; n]);
    let (mut row, mut ways) = (vec![f64::INFINITY; n], vec![f64::INFINITY; n]);
    let mut first = 0;
    while first < n {
        let end = run_end(first, starts, heads);
        for u in first..end {
            let (before, own) = arcs.split_at_mut(starts[u]);
            let own_heads = &heads[starts[u]..starts[u + 1]];
            own_heads.iter().zip(own.iter()).for_each(|(&w, &arc)| row[w as usize] = arc);
            let mut last = waiting[u];
            while last != NONE {
                let name = last as usize;
                let later = &heads[starts[name] + reached[name] + 1..starts[name + 1]];
                let ways = &mut ways[..later.len()];
                ways.fill(f64::INFINITY);
                relax_through(ways, firsts[name]..name + 1, starts, before);
                for (&w, &way) in later.iter().zip(ways.iter()) {
                    row[w as usize] = row[w as usize].min(way);
                }
                reached[name] += 1;
                last = next[name];
                if let Some(&w) = later.first() {
                    next[name] = std::mem::replace(&mut waiting[w as usize], name as u32);
                }
            }
            own_heads.iter().zip(own.iter_mut()).for_each(|(&w, arc)| *arc = row[w as usize]);
        }
        eliminate_run(first..end, starts, arcs);
        firsts[end - 1] = first;
        if let Some(&w) = heads[starts[end - 1]..starts[end]].first() {
            next[end - 1] = std::mem::replace(&mut waiting[w as usize], end as u32 - 1);
        }
        first = end;
    }
}

/// Where the run that starts at a point ends.
fn run_end(first: usize, starts: &[usize], heads: &[u32]) -> usize {
    let count = |v: usize| starts[v + 1] - starts[v];
    let mut end = first + 1;
    while end + 1 < starts.len() && count(end - 1) == count(end) + 1 && heads[starts[end - 1]] as usize == end {
        end += 1;
    }
    end
}

/// The ways through the points of one run to later points of the same run.
fn eliminate_run(run: Range<usize>, starts: &[usize], arcs: &mut [f64]) {
    for first in run.clone().step_by(BLOCK) {
        let end = run.end.min(first + BLOCK);
        for u in first + 1..end {
            let (before, own) = arcs.split_at_mut(starts[u]);
            relax_through(&mut own[..starts[u + 1] - starts[u]], first..u, starts, before);
        }
        let (before, mut rest) = arcs[..starts[run.end]].split_at_mut(starts[end]);
        let shared = rest.len() * BLOCK > WORTH_SHARING;
        let mut rows = Vec::with_capacity(run.end - end);
        for u in end..run.end {
            let (own, after) = rest.split_at_mut(starts[u + 1] - starts[u]);
            rows.push(own);
            rest = after;
        }
        let relax = |own: &mut [f64]| relax_through(own, first..end, starts, before);
        if shared {
            parallel::each_of(rows, |_, own| relax(own));
        } else {
            rows.into_iter().for_each(relax);
        }
    }
}

/// `to[w] = min(to[w], arc(v, u) + arc(v, w))` over some points v of one run. Their arcs to u and to the w after it are
/// the last of each.
fn relax_through(to: &mut [f64], points: Range<usize>, starts: &[usize], arcs: &[f64]) {
    pulp::Arch::new().dispatch(Through { to, points, starts, arcs });
}

struct Through<'a> {
    to: &'a mut [f64],
    points: Range<usize>,
    starts: &'a [usize],
    arcs: &'a [f64],
}

impl WithSimd for Through<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Through { to, points, starts, arcs } = self;
        let length = to.len() + 1;
        let tail = |v: usize| &arcs[starts[v + 1] - length..starts[v + 1]];
        let mut v = points.start;
        while v + 4 <= points.end {
            relax_each(simd, to, [tail(v), tail(v + 1), tail(v + 2), tail(v + 3)]);
            v += 4;
        }
        (v..points.end).for_each(|v| relax_each(simd, to, [tail(v)]));
    }
}

/// Some points at a time, to go over `to` less often.
#[inline(always)]
fn relax_each<S: Simd, const K: usize>(simd: S, to: &mut [f64], tails: [&[f64]; K]) {
    let (to, to_rest) = S::as_mut_simd_f64s(to);
    let (whole, part) = (to.len(), to_rest.len());
    let first = tails.map(|tail| tail[0]);
    let arcs = first.map(|arc| simd.splat_f64s(arc));
    let tails = tails.map(|tail| S::as_simd_f64s(&tail[1..]));
    let (wide, rest) = (tails.map(|tail| &tail.0[..whole]), tails.map(|tail| &tail.1[..part]));
    for at in 0..whole {
        let mut least = to[at];
        for k in 0..K {
            least = simd.min_f64s(least, simd.add_f64s(wide[k][at], arcs[k]));
        }
        to[at] = least;
    }
    for at in 0..part {
        for k in 0..K {
            to_rest[at] = to_rest[at].min(rest[k][at] + first[k]);
        }
    }
}

//! L D Lᵀ of symmetric matrices of r × r blocks on the pattern of a graph, indefinite ones too, by dense fronts along the
//! elimination tree.
//!
//! A front is a block of columns J with the rows I below it, as a dense matrix. It gathers its part of A and what its
//! children left over, eliminates J, and leaves the rest to its parent:
//!
//! ```text
//! F = A[J∪I, J] + Σ children        F[J,J] = L D Lᵀ        L[I,J] = F[I,J] L⁻ᵀ D⁻¹        left over: F[I,I] − L[I,J] D L[I,J]ᵀ
//! ```
//!
//! There is no pivoting: the signs of D tell the inertia (Sylvester), and a pivot of zero is an error. The order and the
//! fronts are found once, for points; r only widens them. Subtrees of the elimination tree are done in parallel, then the
//! fronts above them, each depth in parallel; children are added in their order, so the bytes do not depend on threads.
//!
//! I. S. Duff, J. K. Reid. The multifrontal solution of indefinite sparse symmetric linear equations. ACM Trans. Math. Softw.
//! 9(3), 1983. J. W. H. Liu. The multifrontal method for sparse matrix solution. SIAM Review 34(1), 1992.

use crate::error::{Error, Result};
use crate::linalg::dense::partial::eliminate;
use crate::linalg::sparse::cholesky::Analysis;
use crate::linalg::sparse::rows::Counted;
use faer::MatMut;
use faer::sparse::linalg::cholesky::SymbolicCholeskyRaw;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Subtrees with less than this part of the work each are done by one thread.
const SUBTREE: f64 = 1.0 / 48.0;

/// What an entry of a front is made of.
#[derive(Clone, Copy)]
struct Incident {
    edge: u32,
    /// The row of the other end in the front; [`EARLIER`] if it was eliminated before.
    row: u32,
}

const EARLIER: u32 = u32::MAX;

/// A block of columns and the rows below it, in points.
struct Front {
    start: usize,
    width: usize,
    /// The places of the rows below, ascending.
    rows: Vec<u32>,
    /// Where those rows are in the front of the parent.
    into_parent: Vec<u32>,
    children: Vec<u32>,
}

/// The elimination tree of a graph and its fronts.
pub(crate) struct Fronts {
    /// The point at each place of the order of elimination.
    point: Vec<u32>,
    fronts: Vec<Front>,
    /// For each place, where its edges begin.
    offsets: Vec<usize>,
    incident: Vec<Incident>,
    /// Subtrees, as ranges of fronts.
    subtrees: Vec<Range<usize>>,
    /// The fronts above them, in waves of fronts that do not depend on each other.
    waves: Vec<Vec<usize>>,
    /// Entries of the factor for r = 1.
    fill: f64,
}

/// A matrix of r × r blocks: an edge adds its block B to the diagonal at both ends and −B between them.
pub(crate) trait Blocks: Sync {
    /// Writes the block of an edge, row-major.
    fn edge(&self, edge: usize, block: &mut [f64]);
    /// What is added to the diagonal at a point.
    fn own(&self, point: usize) -> f64;
}

impl Fronts {
    /// The fronts of a graph with these edges, in the order of the analysis of its Laplacian.
    ///
    /// # Errors
    ///
    /// If the structure does not fit into memory.
    pub(crate) fn new(analysis: &Analysis, ends: &[(u32, u32)]) -> Result<Fronts> {
        let symbolic = analysis.symbolic()?.symbolic;
        let no_tree = || Error::Numerical("the graph's elimination tree was not found".into());
        let SymbolicCholeskyRaw::Supernodal(nodes) = symbolic.raw() else { return Err(no_tree()) };
        let (_, inverse) = symbolic.perm().ok_or_else(no_tree)?.arrays();
        let blocks: Vec<Range<usize>> = nodes
            .supernode_begin()
            .iter()
            .zip(nodes.supernode_end())
            .map(|(&begin, &end)| begin as usize..end as usize)
            .collect();
        let rows: Vec<&[u32]> = (0..blocks.len()).map(|s| nodes.supernode(s).pattern()).collect();
        let mut of_column = vec![0u32; inverse.len()];
        for (s, block) in blocks.iter().enumerate() {
            of_column[block.clone()].fill(s as u32);
        }
        let parent: Vec<Option<usize>> =
            rows.iter().map(|rows| rows.first().map(|&row| of_column[row as usize] as usize)).collect();
        // Postorder makes subtrees contiguous; it keeps the order along every path to the root, so rows stay ascending.
        let order = postorder(&parent);
        let (mut moved, mut start) = (vec![0u32; inverse.len()], 0);
        let mut at = vec![0u32; blocks.len()];
        for (new, &s) in order.iter().enumerate() {
            at[s] = new as u32;
            for (offset, column) in blocks[s].clone().enumerate() {
                moved[column] = (start + offset) as u32;
            }
            start += blocks[s].len();
        }
        let mut fronts: Vec<Front> = Vec::with_capacity(order.len());
        let mut start = 0;
        for &s in &order {
            let rows = rows[s].iter().map(|&row| moved[row as usize]).collect();
            fronts.push(Front { start, width: blocks[s].len(), rows, into_parent: Vec::new(), children: Vec::new() });
            start += blocks[s].len();
        }
        for (new, &s) in order.iter().enumerate() {
            let Some(parent) = parent[s].map(|parent| at[parent] as usize) else { continue };
            let above = &fronts[parent];
            let into = fronts[new].rows.iter().map(|&row| above.row(row)).collect::<Option<Vec<u32>>>();
            fronts[new].into_parent = into.ok_or_else(no_tree)?;
            fronts[parent].children.push(new as u32);
        }
        let place: Vec<u32> = inverse.iter().map(|&column| moved[column as usize]).collect();
        let mut point = vec![0u32; place.len()];
        place.iter().enumerate().for_each(|(i, &at)| point[at as usize] = i as u32);
        let (offsets, incident) = incidence(&fronts, &place, ends).ok_or_else(no_tree)?;
        let (subtrees, waves) = schedule(&fronts);
        let fill = fronts.iter().map(|front| (front.width * front.height()) as f64).sum();
        Ok(Fronts { point, fronts, offsets, incident, subtrees, waves, fill })
    }

    /// The factor of a matrix of r × r blocks, written over another one; false where a pivot vanishes.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub(crate) fn factor(&self, r: usize, matrix: &impl Blocks, factor: &mut Factor) -> Result<bool> {
        let entries = self.fill * (r * r) as f64;
        let no_memory = || Error::Numerical(format!("there is no memory for a factor of {entries:.1e} entries"));
        if factor.r != r {
            *factor = Factor { r, ..Factor::default() };
        }
        factor.negative = 0;
        factor.panels.resize_with(self.fronts.len(), Vec::new);
        for (panel, front) in factor.panels.iter_mut().zip(&self.fronts) {
            panel.clear();
            panel.try_reserve_exact(front.height() * front.width * r * r).map_err(|_| no_memory())?;
        }
        let mut left: Vec<Option<Vec<f64>>> = vec![None; self.fronts.len()];
        let room = &factor.room;
        let (subtrees, mut tops) = self.divide(&mut factor.panels, |_| 1);
        let eliminated: Vec<Option<Vec<f64>>> = subtrees
            .into_par_iter()
            .map(|(range, panels)| {
                let mut stack: Vec<Vec<f64>> = Vec::new();
                for (f, panel) in range.zip(panels) {
                    let children = stack.split_off(stack.len() - self.fronts[f].children.len());
                    let left = room.zeros(self.fronts[f].left(r));
                    stack.push(self.eliminate(f, r, matrix, &children, (panel, left))?);
                    room.take_back(children);
                }
                stack.pop()
            })
            .collect();
        for (range, found) in self.subtrees.iter().zip(eliminated) {
            left[range.end - 1] = found;
        }
        for wave in &self.waves {
            let mut work = Vec::with_capacity(wave.len());
            for &f in wave {
                let children = self.fronts[f].children.iter().map(|&child| left[child as usize].take());
                let (Some(children), Some([panel])) = (children.collect::<Option<Vec<_>>>(), tops[f].take()) else {
                    return Ok(false);
                };
                let left = room.zeros(self.fronts[f].left(r));
                work.push((f, children, panel, left));
            }
            let eliminate = |(f, children, panel, left): (usize, Vec<Vec<f64>>, &mut Vec<f64>, Vec<f64>)| {
                let found = self.eliminate(f, r, matrix, &children, (panel, left));
                room.take_back(children);
                found
            };
            let found: Vec<Option<Vec<f64>>> = work.into_par_iter().map(eliminate).collect();
            for (&f, found) in wave.iter().zip(found) {
                left[f] = found;
            }
        }
        // What failed below is missing above, up to the root.
        let sound = (0..self.fronts.len()).filter(|&f| self.fronts[f].rows.is_empty()).all(|f| left[f].is_some());
        for (panel, front) in factor.panels.iter().zip(&self.fronts).filter(|_| sound) {
            let height = front.height() * r;
            factor.negative += (0..front.width * r).filter(|c| panel[c * height + c] < 0.0).count();
        }
        Ok(sound)
    }

    /// Solves A x = b for one right-hand side of r numbers a point, written over it.
    pub(crate) fn solve(&self, factor: &Factor, x: &mut [f64]) {
        let r = factor.r;
        let mut z = vec![0.0; x.len()];
        for (z, &point) in z.chunks_exact_mut(r).zip(&self.point) {
            z.copy_from_slice(&x[point as usize * r..][..r]);
        }
        self.forward(factor, &mut z);
        self.backward(factor, &mut z);
        for (z, &point) in z.chunks_exact(r).zip(&self.point) {
            x[point as usize * r..][..r].copy_from_slice(z);
        }
    }

    /// z ← L⁻¹ z.
    fn forward(&self, factor: &Factor, z: &mut [f64]) {
        let mut left: Vec<Vec<f64>> = vec![Vec::new(); self.fronts.len()];
        let (subtrees, mut tops) = self.divide(z, |front| front.width * factor.r);
        let swept: Vec<Vec<f64>> = subtrees
            .into_par_iter()
            .map(|(range, z)| pulp::Arch::new().dispatch(Forward { fronts: self, factor, range, left: Vec::new(), z }))
            .collect();
        for (range, found) in self.subtrees.iter().zip(swept) {
            left[range.end - 1] = found;
        }
        for &f in self.waves.iter().flatten() {
            let children = &self.fronts[f].children;
            let stack = children.iter().map(|&child| std::mem::take(&mut left[child as usize])).collect();
            let Some(z) = tops[f].take() else { continue };
            let sweep = Forward { fronts: self, factor, range: f..f + 1, left: stack, z };
            left[f] = pulp::Arch::new().dispatch(sweep);
        }
    }

    /// z ← L⁻ᵀ D⁻¹ z.
    fn backward(&self, factor: &Factor, z: &mut [f64]) {
        for &f in self.waves.iter().flatten().rev() {
            let front = &self.fronts[f];
            let (own, later) = z.split_at_mut((front.start + front.width) * factor.r);
            let (z, base) = (&mut own[front.start * factor.r..], front.start + front.width);
            pulp::Arch::new().dispatch(Backward { fronts: self, factor, range: f..f + 1, z, later, base });
        }
        let done = z.to_vec();
        let (subtrees, _) = self.divide(z, |front| front.width * factor.r);
        subtrees.into_par_iter().for_each(|(range, z)| {
            pulp::Arch::new().dispatch(Backward { fronts: self, factor, range, z, later: &done, base: 0 });
        });
    }

    /// A list with so many items a front, cut into the parts of the subtrees and of every other front.
    fn divide<'a, T>(&self, mut items: &'a mut [T], size: impl Fn(&Front) -> usize) -> Division<'a, T> {
        let (mut subtrees, mut tops) = (Vec::with_capacity(self.subtrees.len()), Vec::new());
        tops.resize_with(self.fronts.len(), || None);
        let mut ranges = self.subtrees.iter().peekable();
        let mut f = 0;
        while f < self.fronts.len() {
            let subtree = ranges.next_if(|range| range.start == f);
            let range = subtree.map_or(f..f + 1, Range::clone);
            let count = self.fronts[range.clone()].iter().map(&size).sum();
            let (own, rest) = items.split_at_mut(count);
            items = rest;
            f = range.end;
            match subtree {
                Some(_) => subtrees.push((range, own)),
                None => tops[range.start] = Some(own),
            }
        }
        (subtrees, tops)
    }

    /// Eliminates the columns of a front; what is left over for its parent, or nothing where a pivot vanishes.
    fn eliminate(
        &self,
        f: usize,
        r: usize,
        matrix: &impl Blocks,
        children: &[Vec<f64>],
        (panel, mut left): (&mut Vec<f64>, Vec<f64>),
    ) -> Option<Vec<f64>> {
        let front = &self.fronts[f];
        let (width, below) = (front.width * r, front.rows.len() * r);
        let height = width + below;
        panel.resize(height * width, 0.0);
        self.gather(front, r, matrix, panel);
        for (&child, update) in front.children.iter().zip(children) {
            add_child(&self.fronts[child as usize].into_parent, r, update, (panel, width, height), (&mut left, below));
        }
        let columns = MatMut::from_column_major_slice_mut(panel.as_mut_slice(), height, width);
        let rest = MatMut::from_column_major_slice_mut(&mut left, below, below);
        eliminate(columns, rest).then_some(left)
    }

    /// Adds the matrix's own entries to the columns of a front.
    fn gather(&self, front: &Front, r: usize, matrix: &impl Blocks, panel: &mut [f64]) {
        let height = front.height() * r;
        let (mut block, mut diagonal) = (vec![0.0; r * r], vec![0.0; r * r]);
        for column in 0..front.width {
            let place = front.start + column;
            diagonal.fill(0.0);
            for incident in &self.incident[self.offsets[place]..self.offsets[place + 1]] {
                matrix.edge(incident.edge as usize, &mut block);
                diagonal.iter_mut().zip(&block).for_each(|(sum, value)| *sum += value);
                if incident.row != EARLIER {
                    for c in 0..r {
                        let at = (column * r + c) * height + incident.row as usize * r;
                        panel[at..at + r].iter_mut().zip(&block[c * r..]).for_each(|(sum, value)| *sum -= value);
                    }
                }
            }
            let own = matrix.own(self.point[place] as usize);
            for c in 0..r {
                diagonal[c * r + c] += own;
                let at = (column * r + c) * height + column * r;
                panel[at..at + r].iter_mut().zip(&diagonal[c * r..]).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

/// The parts of the subtrees, and those of each other front.
type Division<'a, T> = (Vec<(Range<usize>, &'a mut [T])>, Vec<Option<&'a mut [T]>>);

impl Front {
    /// Columns and rows below.
    fn height(&self) -> usize {
        self.width + self.rows.len()
    }

    /// The size of what it leaves over.
    fn left(&self, r: usize) -> usize {
        (self.rows.len() * r).pow(2)
    }

    /// The row of the front at a place.
    fn row(&self, place: u32) -> Option<u32> {
        let own = (place as usize).wrapping_sub(self.start);
        if own < self.width {
            return Some(own as u32);
        }
        self.rows.binary_search(&place).ok().map(|at| (self.width + at) as u32)
    }
}

/// An L D Lᵀ factor, and room for the next one.
#[derive(Default)]
pub(crate) struct Factor {
    r: usize,
    /// For every front its columns of L, with D on the diagonal.
    panels: Vec<Vec<f64>>,
    /// Room for what fronts leave over.
    room: Room,
    /// How many pivots are negative.
    pub(crate) negative: usize,
}

/// Vectors that were used before, so that their memory need not be asked for again.
#[derive(Default)]
struct Room(Mutex<Vec<Vec<f64>>>);

impl Room {
    /// A vector of zeros, in the memory of one that was not much larger.
    fn zeros(&self, size: usize) -> Vec<f64> {
        let fits = |vector: &Vec<f64>| (size..=2 * size).contains(&vector.capacity());
        let free = self.0.lock().ok().and_then(|mut free| free.iter().rposition(fits).map(|at| free.swap_remove(at)));
        let mut vector = free.unwrap_or_else(|| Vec::with_capacity(size));
        vector.clear();
        vector.resize(size, 0.0);
        vector
    }

    fn take_back(&self, vectors: impl IntoIterator<Item = Vec<f64>>) {
        if let Ok(mut free) = self.0.lock() {
            free.extend(vectors);
        }
    }
}

/// Adds what a child left over to the columns of a front and to its rest.
fn add_child(
    into: &[u32],
    r: usize,
    update: &[f64],
    (panel, width, height): (&mut [f64], usize, usize),
    (rest, below): (&mut [f64], usize),
) {
    let size = into.len() * r;
    for (q, &column) in into.iter().enumerate() {
        for c in 0..r {
            let source = &update[(q * r + c) * size..][..size];
            let column = column as usize * r + c;
            let (target, shift) = match column < width {
                true => (&mut panel[column * height..][..height], 0),
                false => (&mut rest[(column - width) * below..][..below], width),
            };
            // From the diagonal on; runs of rows that stay together are added together.
            let mut p = q;
            while p < into.len() {
                let mut end = p + 1;
                while end < into.len() && into[end] == into[end - 1] + 1 {
                    end += 1;
                }
                let (run, at) = ((end - p) * r, into[p] as usize * r - shift);
                target[at..at + run].iter_mut().zip(&source[p * r..end * r]).for_each(|(sum, value)| *sum += value);
                p = end;
            }
        }
    }
}

/// The fronts with children before parents, every subtree contiguous.
fn postorder(parent: &[Option<usize>]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parent.len()];
    let mut stack = Vec::new();
    for s in (0..parent.len()).rev() {
        match parent[s] {
            Some(parent) => children[parent].push(s),
            None => stack.push(s),
        }
    }
    // A node is put down when it comes up for the second time, after its children.
    let mut order = Vec::with_capacity(parent.len());
    let mut open = vec![false; parent.len()];
    while let Some(&s) = stack.last() {
        if open[s] {
            stack.pop();
            order.push(s);
        } else {
            open[s] = true;
            stack.extend(&children[s]);
        }
    }
    order
}

/// For each place its edges, with the row of the other end in the front.
fn incidence(fronts: &[Front], place: &[u32], ends: &[(u32, u32)]) -> Option<(Vec<usize>, Vec<Incident>)> {
    let mut front_of = vec![0u32; place.len()];
    for (f, front) in fronts.iter().enumerate() {
        front_of[front.start..front.start + front.width].fill(f as u32);
    }
    let at = |i: u32| place[i as usize];
    let mut rows = Counted::rows(place.len(), ends.iter().flat_map(|&(i, j)| [at(i) as usize, at(j) as usize]));
    let mut incident = vec![Incident { edge: 0, row: EARLIER }; rows.len()];
    for (edge, &(i, j)) in ends.iter().enumerate() {
        let (a, b) = (at(i).min(at(j)), at(i).max(at(j)));
        let row = fronts[front_of[a as usize] as usize].row(b)?;
        for (end, row) in [(a, row), (b, EARLIER)] {
            incident[rows.place(end as usize)] = Incident { edge: edge as u32, row };
        }
    }
    Some((rows.offsets, incident))
}

/// Subtrees of little work, and the fronts above them in waves.
fn schedule(fronts: &[Front]) -> (Vec<Range<usize>>, Vec<Vec<usize>>) {
    let own = |front: &Front| front.width as f64 * (front.height() as f64).powi(2);
    let (mut work, mut size) = (vec![0.0; fronts.len()], vec![1usize; fronts.len()]);
    for (f, front) in fronts.iter().enumerate() {
        let children = || front.children.iter().map(|&child| child as usize);
        work[f] = own(front) + children().map(|child| work[child]).sum::<f64>();
        size[f] += children().map(|child| size[child]).sum::<usize>();
    }
    let total: f64 = fronts.iter().map(own).sum();
    let is_small = |f: usize| work[f] <= SUBTREE * total;
    let (mut subtrees, mut waves) = (Vec::new(), Vec::<Vec<usize>>::new());
    let mut height = vec![0usize; fronts.len()];
    for (f, front) in fronts.iter().enumerate().filter(|&(f, _)| !is_small(f)) {
        for &child in &front.children {
            let child = child as usize;
            if is_small(child) {
                subtrees.push(child + 1 - size[child]..child + 1);
            } else {
                height[f] = height[f].max(height[child] + 1);
            }
        }
        if waves.len() <= height[f] {
            waves.resize(height[f] + 1, Vec::new());
        }
        waves[height[f]].push(f);
    }
    // A root may be small itself, in a graph of several pieces.
    let roots = (0..fronts.len()).filter(|&f| fronts[f].rows.is_empty() && is_small(f));
    subtrees.extend(roots.map(|root| root + 1 - size[root]..root + 1));
    subtrees.sort_unstable_by_key(|range| range.start);
    (subtrees, waves)
}

/// z ← L⁻¹ z over a range of fronts; returns what the last of them leaves to its parent.
struct Forward<'a> {
    fronts: &'a Fronts,
    factor: &'a Factor,
    range: Range<usize>,
    /// What fronts that are done left to parents that are not.
    left: Vec<Vec<f64>>,
    /// The columns of the range.
    z: &'a mut [f64],
}

impl pulp::WithSimd for Forward<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Vec<f64> {
        let (r, mut stack) = (self.factor.r, self.left);
        let base = self.fronts.fronts[self.range.start].start;
        for f in self.range {
            let front = &self.fronts.fronts[f];
            let (width, height) = (front.width * r, front.height() * r);
            let own = &mut self.z[(front.start - base) * r..][..width];
            let mut below = vec![0.0; height - width];
            let first = stack.len() - front.children.len();
            for (&child, update) in front.children.iter().zip(&stack[first..]) {
                let into = &self.fronts.fronts[child as usize].into_parent;
                for (&row, update) in into.iter().zip(update.chunks_exact(r)) {
                    let row = row as usize * r;
                    let target = if row < width { &mut own[row..row + r] } else { &mut below[row - width..][..r] };
                    target.iter_mut().zip(update).for_each(|(sum, value)| *sum += value);
                }
            }
            stack.truncate(first);
            let panel = &self.factor.panels[f];
            for c in 0..width {
                let column = &panel[c * height..(c + 1) * height];
                let y = own[c];
                own[c + 1..].iter_mut().zip(&column[c + 1..width]).for_each(|(x, l)| *x -= l * y);
                below.iter_mut().zip(&column[width..]).for_each(|(x, l)| *x -= l * y);
            }
            stack.push(below);
        }
        stack.pop().unwrap_or_default()
    }
}

/// z ← L⁻ᵀ D⁻¹ z over a range of fronts, what is above them being done.
struct Backward<'a> {
    fronts: &'a Fronts,
    factor: &'a Factor,
    range: Range<usize>,
    /// The columns of the range.
    z: &'a mut [f64],
    /// The numbers from the place `base` on.
    later: &'a [f64],
    base: usize,
}

impl pulp::WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let r = self.factor.r;
        let start = self.fronts.fronts[self.range.start].start;
        let end = start + self.z.len() / r;
        let mut below = Vec::new();
        for f in self.range.rev() {
            let front = &self.fronts.fronts[f];
            let (width, height) = (front.width * r, front.height() * r);
            below.clear();
            for &row in &front.rows {
                let row = row as usize;
                let known = if row < end { &self.z[(row - start) * r..] } else { &self.later[(row - self.base) * r..] };
                below.extend_from_slice(&known[..r]);
            }
            let own = &mut self.z[(front.start - start) * r..][..width];
            let panel = &self.factor.panels[f];
            for c in (0..width).rev() {
                let column = &panel[c * height..(c + 1) * height];
                let within = dot(&column[c + 1..width], &own[c + 1..]);
                own[c] = own[c] / column[c] - within - dot(&column[width..], &below);
            }
        }
    }
}

/// Σ a b, in eight running sums that fit vector registers.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::sparse::matrix::SparseSymmetric;
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    struct Random {
        r: usize,
        blocks: Vec<f64>,
        own: f64,
    }

    impl Blocks for Random {
        fn edge(&self, edge: usize, block: &mut [f64]) {
            block.copy_from_slice(&self.blocks[edge * self.r * self.r..][..self.r * self.r]);
        }

        fn own(&self, point: usize) -> f64 {
            self.own * (1.0 + (point % 3) as f64)
        }
    }

    /// A grid with diagonals, and the Laplacian's pattern.
    fn grid(side: usize) -> (Vec<(u32, u32)>, SparseSymmetric) {
        let n = side * side;
        let near = |i: usize, j: usize| (i / side).abs_diff(j / side) <= 1 && (i % side).abs_diff(j % side) <= 1;
        let mut ends = Vec::new();
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for i in 0..n {
            for j in (0..n).filter(|&j| near(i, j)) {
                columns.push(j as u32);
                if i < j {
                    ends.push((i as u32, j as u32));
                }
            }
            offsets.push(columns.len());
        }
        let count = columns.len();
        (ends, SparseSymmetric::from_parts(offsets, columns, vec![1.0; count]))
    }

    fn random(r: usize, edges: usize, own: f64) -> Random {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut blocks = Vec::new();
        for _ in 0..edges {
            let v: Vec<f64> = (0..r).map(|_| rng.random_range(-1.0..1.0)).collect();
            blocks.extend((0..r * r).map(|at| v[at / r] * v[at % r] + if at / r == at % r { 0.5 } else { 0.0 }));
        }
        Random { r, blocks, own }
    }

    fn dense(n: usize, ends: &[(u32, u32)], matrix: &Random) -> Mat<f64> {
        let r = matrix.r;
        let mut a = Mat::zeros(n * r, n * r);
        let mut block = vec![0.0; r * r];
        for (e, &(i, j)) in ends.iter().enumerate() {
            matrix.edge(e, &mut block);
            for (p, q, sign) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
                for at in 0..r * r {
                    a[(p as usize * r + at / r, q as usize * r + at % r)] += sign * block[at];
                }
            }
        }
        (0..n * r).for_each(|i| a[(i, i)] += matrix.own(i / r));
        a
    }

    #[test]
    fn solutions_and_inertia_are_those_of_the_dense_matrix() {
        for side in [2, 5, 12] {
            let (ends, pattern) = grid(side);
            let analysis = Analysis::new(&pattern).unwrap();
            let fronts = Fronts::new(&analysis, &ends).unwrap();
            let mut factor = Factor::default();
            for (r, own) in [(1, 0.3), (2, -0.4), (3, -0.05), (1, -1.0)] {
                let n = side * side;
                let matrix = random(r, ends.len(), own);
                assert!(fronts.factor(r, &matrix, &mut factor).unwrap());
                let a = dense(n, &ends, &matrix);
                let (values, _) = crate::linalg::dense::symmetric_eigen(a.as_ref()).unwrap();
                assert_eq!(factor.negative, values.iter().filter(|&&value| value < 0.0).count(), "{side} {r} {own}");
                let x: Vec<f64> = (0..n * r).map(|i| ((i * 7) % 11) as f64 - 5.0).collect();
                let mut b: Vec<f64> = (0..n * r).map(|i| (0..n * r).map(|j| a[(i, j)] * x[j]).sum()).collect();
                fronts.solve(&factor, &mut b);
                let off = b.iter().zip(&x).map(|(b, x)| (b - x).abs()).fold(0.0, f64::max);
                assert!(off < 1e-9, "{side} {r} {own}: {off}");
            }
        }
    }

    #[test]
    fn a_vanishing_pivot_is_noticed_and_the_bytes_do_not_depend_on_the_threads() {
        let (ends, pattern) = grid(30);
        let analysis = Analysis::new(&pattern).unwrap();
        let fronts = Fronts::new(&analysis, &ends).unwrap();
        let zero = Random { r: 1, blocks: vec![0.0; ends.len()], own: 0.0 };
        assert!(!fronts.factor(1, &zero, &mut Factor::default()).unwrap());
        let matrix = random(2, ends.len(), -0.1);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut factor = Factor::default();
                assert!(fronts.factor(2, &matrix, &mut factor).unwrap());
                let mut x: Vec<f64> = (0..1800).map(f64::from).collect();
                fronts.solve(&factor, &mut x);
                (factor.panels, x)
            })
        };
        assert_eq!(run(1), run(3));
    }
}

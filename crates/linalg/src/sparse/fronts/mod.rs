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
//! There is no pivoting: the signs of D give the inertia (Sylvester), and a pivot of zero is an error. The order and the
//! fronts are found once, for points; r only widens them. Subtrees of the elimination tree are done in parallel, then the
//! fronts above them, each depth in parallel; children are added in their order, so the bytes do not depend on threads.
//!
//! I. S. Duff, J. K. Reid. The multifrontal solution of indefinite sparse symmetric linear equations. ACM Trans. Math. Softw.
//! 9(3), 1983. J. W. H. Liu. The multifrontal method for sparse matrix solution. SIAM Review 34(1), 1992.

mod solve;
mod tree;

use crate::buffers::Room;
use crate::dense::partial::eliminate;
use crate::error::{Error, Result};
use crate::parallel;
use faer::MatMut;
use std::ops::Range;

/// What an entry of a front is made of.
#[derive(Clone, Copy)]
struct Incident {
    edge: u32,
    /// The row of the other end in the front; [`EARLIER`] if it was eliminated before.
    row: u32,
}

const EARLIER: u32 = u32::MAX;

/// Update matrices are put into vectors of at most this many times their size.
const SPARE: usize = 2;

/// A block of columns and the rows below it, in points.
struct Front {
    start: usize,
    width: usize,
    /// The positions of the rows below, ascending.
    rows: Vec<u32>,
    /// Where those rows are in the front of the parent.
    into_parent: Vec<u32>,
    children: Vec<u32>,
}

/// The elimination tree of a graph and its fronts.
pub struct Fronts {
    /// The point at each position of the order of elimination.
    point: Vec<u32>,
    fronts: Vec<Front>,
    /// For each position, where its edges begin.
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
pub trait Blocks: Sync {
    /// Writes the block of an edge, row-major.
    fn edge(&self, edge: usize, block: &mut [f64]);
    /// What is added to the diagonal at a point.
    fn own(&self, point: usize) -> f64;
}

impl Fronts {
    /// The factor of a matrix of r × r blocks, written over another one; false where a pivot vanishes.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub fn factor(&self, r: usize, matrix: &impl Blocks, factor: &mut Factor) -> Result<bool> {
        let entries = self.fill * (r * r) as f64;
        let no_memory = || Error::numerical(format!("there is no memory for a factor of {entries:.1e} entries"), "");
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
        let eliminated: Vec<Option<Vec<f64>>> = parallel::collect_of(subtrees, |_, (range, panels)| {
            let mut stack: Vec<Vec<f64>> = Vec::new();
            for (f, panel) in range.zip(panels) {
                let children = stack.split_off(stack.len() - self.fronts[f].children.len());
                let left = room.zeros(self.fronts[f].left(r), SPARE);
                stack.push(self.eliminate(f, r, matrix, &children, (panel, left))?);
                room.take_back(children);
            }
            stack.pop()
        });
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
                let left = room.zeros(self.fronts[f].left(r), SPARE);
                work.push((f, children, panel, left));
            }
            let found: Vec<Option<Vec<f64>>> = parallel::collect_of(work, |_, (f, children, panel, left)| {
                let found = self.eliminate(f, r, matrix, &children, (panel, left));
                room.take_back(children);
                found
            });
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

    /// A list with `size` items per front, cut into the parts of the subtrees and of every other front.
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

    /// The row of the front at a position.
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
pub struct Factor {
    r: usize,
    /// For every front its columns of L, with D on the diagonal.
    panels: Vec<Vec<f64>>,
    /// Vectors of what fronts left over before.
    room: Room,
    /// How many pivots are negative.
    pub negative: usize,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::cholesky::Analysis;
    use crate::sparse::matrix::SparseSymmetric;
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
                let (values, _) = crate::dense::symmetric_eigen(a.as_ref()).unwrap();
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

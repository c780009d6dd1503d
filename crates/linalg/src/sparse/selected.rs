//! The inverse of a sparse matrix where its factor has entries, and nowhere else.
//!
//! With A = L Lᵀ and Z = A⁻¹, a block of columns J of L with the rows I below its triangle has
//!
//! ```text
//! M = L[I,J] L[J,J]⁻¹        Z[I,J] = −Z[I,I] M        Z[J,J] = L[J,J]⁻ᵀ L[J,J]⁻¹ − Mᵀ Z[I,J]
//! ```
//!
//! and `Z[I,I]` lies in the blocks of its ancestors in the elimination tree. So the blocks are visited from the root down,
//! all of one depth in parallel; the cost is a small multiple of the factorization's.
//!
//! K. Takahashi, J. Fagan, M.-S. Chen. Formation of a sparse bus impedance matrix and its application to short circuit
//! study. PICA 1973; in blocks as in L. Lin et al. SelInv: an algorithm for selected inversion of a sparse symmetric
//! matrix. ACM Trans. Math. Softw. 37(4), 2011.

use crate::dense;
use crate::parallel;
use crate::sparse::cholesky::Cholesky;
use faer::sparse::linalg::cholesky::supernodal::SupernodalLltRef;
use faer::{Mat, MatMut};

/// Blocks of one depth that are worth sharing.
const SHARED: usize = 32;

/// Where an entry of the inverse is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub(crate) node: u32,
    pub(crate) at: u32,
}

/// The blocks of a factor's pattern as a tree, in depths; the same for every factor of one structure.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The block that has each column.
    node_of: Vec<u32>,
    /// The blocks of each depth, the roots first.
    depths: Vec<Vec<u32>>,
    /// The position of every row of A in the factor's order.
    places: Vec<u32>,
    /// The block above each block, and where the rows below it are in that one: its own columns first, then those below it.
    links: Vec<Option<(u32, Vec<u32>)>>,
    /// The blocks below each block, in their order.
    children: Vec<Vec<u32>>,
}

impl Tree {
    /// The tree of a factor.
    pub fn new(factor: &Cholesky) -> Option<Tree> {
        let (blocks, places) = (factor.blocks()?, factor.places()?);
        let count = blocks.symbolic().n_supernodes();
        let mut node_of = vec![0u32; places.len()];
        for s in 0..count {
            let node = blocks.supernode(s);
            node_of[node.start()..node.start() + node.val().ncols()].fill(s as u32);
        }
        let mut depth = vec![0usize; count];
        let mut depths: Vec<Vec<u32>> = Vec::new();
        for s in (0..count).rev() {
            // The parent is the block of the first row below; it comes later in the order.
            depth[s] =
                blocks.supernode(s).pattern().first().map_or(0, |&row| depth[node_of[row as usize] as usize] + 1);
            if depths.len() <= depth[s] {
                depths.resize(depth[s] + 1, Vec::new());
            }
            depths[depth[s]].push(s as u32);
        }
        let (mut links, mut children) = (Vec::with_capacity(count), vec![Vec::new(); count]);
        for s in 0..count {
            let rows = blocks.supernode(s).pattern();
            let Some(&first) = rows.first() else {
                links.push(None);
                continue;
            };
            let parent = node_of[first as usize];
            let node = blocks.supernode(parent as usize);
            let at = |&row: &u32| row_of(node.start(), node.val().ncols(), node.pattern(), row).map(|at| at as u32);
            links.push(Some((parent, rows.iter().map(at).collect::<Option<_>>()?)));
            children[parent as usize].push(s as u32);
        }
        Some(Tree { node_of, depths, places: places.to_vec(), links, children })
    }

    /// The block above a block, and where the rows below it are in that one; nothing for a root.
    pub(crate) fn link(&self, s: usize) -> Option<(usize, &[u32])> {
        self.links[s].as_ref().map(|(parent, at)| (*parent as usize, at.as_slice()))
    }

    /// The blocks below a block, in their order.
    pub(crate) fn children(&self, s: usize) -> &[u32] {
        &self.children[s]
    }

    /// Where the entry (i, j) of the inverse is kept, if the factor's pattern has it.
    pub fn place(&self, factor: &Cholesky, i: usize, j: usize) -> Option<Slot> {
        let (a, b) = (self.places[i].min(self.places[j]), self.places[i].max(self.places[j]));
        let node = self.node_of[a as usize];
        let block = factor.blocks()?.supernode(node as usize);
        let row = row_of(block.start(), block.val().ncols(), block.pattern(), b)?;
        let at = (a as usize - block.start()) * block.val().nrows() + row;
        Some(Slot { node, at: at as u32 })
    }

    /// The inverse of the factored matrix on the factor's pattern.
    pub fn inverse(&self, factor: &Cholesky) -> Option<Selected> {
        let blocks = factor.blocks()?;
        let mut selected = Selected { blocks: vec![Vec::new(); blocks.symbolic().n_supernodes()] };
        for nodes in &self.depths {
            let of_node = |at: usize| self.block(blocks, &selected, nodes[at] as usize);
            let found: Vec<Vec<f64>> = if nodes.len() < SHARED {
                (0..nodes.len()).map(of_node).collect()
            } else {
                parallel::collect(nodes.len(), of_node)
            };
            for (&s, block) in nodes.iter().zip(found) {
                selected.blocks[s as usize] = block;
            }
        }
        Some(selected)
    }

    /// The block of one node, its ancestors being known.
    fn block(&self, blocks: SupernodalLltRef<'_, u32, f64>, known: &Selected, s: usize) -> Vec<f64> {
        let node = blocks.supernode(s);
        let (l, rows) = (node.val(), node.pattern());
        let (width, below) = (l.ncols(), rows.len());
        let mut block = vec![0.0; (width + below) * width];
        let mut z = MatMut::from_column_major_slice_mut(&mut block, width + below, width);
        let (triangle, rest) = (l.subrows(0, width), l.subrows(width, below));
        let inverse = dense::inverse_of_triangle(triangle);
        let mut own = dense::small_product(inverse.transpose(), inverse.as_ref());
        if below > 0 {
            let m = dense::small_product(rest, inverse.as_ref());
            let mut across = dense::small_product(self.gather(blocks, known, rows).as_ref(), m.as_ref());
            across *= faer::Scale(-1.0);
            own -= dense::small_product(m.transpose(), across.as_ref());
            z.as_mut().subrows_mut(width, below).copy_from(&across);
        }
        z.subrows_mut(0, width).copy_from(&own);
        block
    }

    /// The blocks of each depth, the roots first.
    pub(crate) fn depths(&self) -> &[Vec<u32>] {
        &self.depths
    }

    /// Z[I,I], both triangles.
    pub(crate) fn gather(&self, blocks: SupernodalLltRef<'_, u32, f64>, known: &Selected, rows: &[u32]) -> Mat<f64> {
        let mut z = Mat::zeros(rows.len(), rows.len());
        let mut first = 0;
        while first < rows.len() {
            let t = self.node_of[rows[first] as usize] as usize;
            let node = blocks.supernode(t);
            let (start, width, height) = (node.start(), node.val().ncols(), node.val().nrows());
            let after = first + rows[first..].partition_point(|&row| (row as usize) < start + width);
            let at: Vec<usize> = rows[first..]
                .iter()
                .map(|&row| row_of(start, width, node.pattern(), row).unwrap_or_default())
                .collect();
            for a in first..after {
                let column = &known.blocks[t][(rows[a] as usize - start) * height..][..height];
                for b in a..rows.len() {
                    let value = column[at[b - first]];
                    z[(b, a)] = value;
                    z[(a, b)] = value;
                }
            }
            first = after;
        }
        z
    }
}

/// The row of a block that belongs to a row of the matrix.
fn row_of(start: usize, width: usize, pattern: &[u32], row: u32) -> Option<usize> {
    let row_here = row as usize;
    if row_here < start + width {
        Some(row_here - start)
    } else {
        pattern.binary_search(&row).ok().map(|at| width + at)
    }
}

/// The inverse on the factor's pattern.
#[derive(Clone, Debug)]
pub struct Selected {
    pub(crate) blocks: Vec<Vec<f64>>,
}

impl Selected {
    /// The entry that is kept at a position.
    pub fn at(&self, place: Slot) -> f64 {
        self.blocks[place.node as usize][place.at as usize]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::Operator;
    use crate::sparse::cholesky::Analysis;
    use crate::sparse::matrix::SparseSymmetric;

    /// A grid of points joined to their neighbors, with weights that differ, plus the identity.
    fn grid(side: usize) -> SparseSymmetric {
        let n = side * side;
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let joined = |i: usize, j: usize| (i / side).abs_diff(j / side) + (i % side).abs_diff(j % side) == 1;
        let weight = |i: usize, j: usize| 1.0 + ((i + j) % 5) as f64;
        for i in 0..n {
            let others = (0..n).filter(|&j| joined(i, j));
            let degree: f64 = others.clone().map(|j| weight(i, j)).sum();
            for j in (0..n).filter(|&j| j == i || joined(i, j)) {
                columns.push(j as u32);
                values.push(if i == j { degree + 0.1 } else { -weight(i, j) });
            }
            offsets.push(columns.len());
        }
        SparseSymmetric::from_parts(offsets, columns, values)
    }

    fn check(a: &SparseSymmetric) {
        let factor = Analysis::new(a).unwrap().factor(a, 0.0).unwrap().unwrap();
        let tree = Tree::new(&factor).unwrap();
        let selected = tree.inverse(&factor).unwrap();
        let mut dense = Mat::<f64>::identity(a.dim(), a.dim());
        factor.solve(dense.as_mut());
        let largest = dense.norm_max();
        let mut found = 0;
        for i in 0..a.dim() {
            for (j, _) in a.row(i) {
                let place = tree.place(&factor, i, j).expect("the pattern of the matrix is in that of its factor");
                assert!((selected.at(place) - dense[(i, j)]).abs() < 1e-12 * largest, "{i} {j}");
                found += 1;
            }
        }
        assert_eq!(found, a.entry_count());
        let (values, _) = dense::symmetric_eigen(a.to_dense().as_ref()).unwrap();
        let determinant: f64 = values.iter().map(|value| value.ln()).sum();
        assert!((factor.log_determinant() - determinant).abs() < 1e-9 * determinant.abs().max(1.0));
    }

    #[test]
    fn the_entries_are_those_of_the_dense_inverse() {
        for side in [1, 2, 7, 20] {
            check(&grid(side));
        }
        // Two chunks have two roots.
        let both = SparseSymmetric::from_parts(vec![0, 1, 3, 5], vec![0, 1, 2, 1, 2], vec![2.0, 3.0, 1.0, 1.0, 4.0]);
        check(&both);
    }

    #[test]
    fn the_bytes_do_not_depend_on_the_number_of_threads() {
        let a = grid(30);
        let factor = Analysis::new(&a).unwrap().factor(&a, 0.0).unwrap().unwrap();
        let tree = Tree::new(&factor).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| tree.inverse(&factor).unwrap().blocks)
        };
        assert_eq!(run(1), run(3));
    }
}

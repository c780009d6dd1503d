//! The second derivative of −log det T over the matrices on a factor's pattern, V ↦ W V W there (W = T⁻¹), and its inverse.
//!
//! The pattern of a factor is chordal, and there both maps factor along the elimination tree. With T = L Lᵀ, a block of
//! columns J, the rows I below it, R = L[I,J] L[J,J]⁻¹ and D = L[J,J] L[J,J]ᵀ:
//!
//! ```text
//! up the tree     F = V + Σ U of the children      K[J,J] = F[J,J],   K[I,J] = F[I,J] − R F[J,J]
//!                                                  U = F[I,I] − R K[I,J]ᵀ − F[I,J] Rᵀ
//! at every block  M[J,J] = D⁻¹ K[J,J] D⁻¹,         M[I,J] = W[I,I] K[I,J] D⁻¹
//! down the tree   Y[I,J] = M[I,J] − Y[I,I] R,      Y[J,J] = M[J,J] − Rᵀ M[I,J] − Y[I,J]ᵀ R
//! ```
//!
//! Every line can be undone, which gives the inverse at the same cost. Blocks of one depth are visited in parallel.
//!
//! J. Dahl, L. Vandenberghe, V. Roychowdhury. Covariance selection for nonchordal graphs via chordal embedding. Optim.
//! Methods Softw. 23(4), 2008. M. S. Andersen, J. Dahl, L. Vandenberghe. Logarithmic barriers for sparse matrix cones. Optim.
//! Methods Softw. 28(3), 2013.

use crate::dense::cholesky::Positive;
use crate::dense::{inverse_of_triangle, small_product};
use crate::parallel;
use crate::sparse::cholesky::Cholesky;
use crate::sparse::selected::{Selected, Slot, Tree};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Blocks to a chunk of parallel work.
const BLOCKS: usize = 8;

/// The second derivative at one matrix.
pub struct Curvature<'a> {
    tree: &'a Tree,
    nodes: Vec<Node>,
}

/// The data of a block of columns.
struct Node {
    r: Mat<f64>,
    d: Mat<f64>,
    d_inverse: Mat<f64>,
    /// W[I,I] and its factor.
    below: Mat<f64>,
    below_factor: Option<Positive>,
}

impl Node {
    /// The columns of the block, and the rows below its triangle.
    fn sizes(&self) -> (usize, usize) {
        (self.d.nrows(), self.r.nrows())
    }

    /// How many rows its blocks have.
    fn height(&self) -> usize {
        self.d.nrows() + self.r.nrows()
    }
}

/// A symmetric matrix over the columns of a block and the rows below it, by columns. Going up, only the lower triangle counts.
type Front = Vec<f64>;

impl<'a> Curvature<'a> {
    /// From a factor and the inverse on its pattern; nothing if the inverse is not positive definite to working precision.
    pub fn new(tree: &'a Tree, factor: &Cholesky, inverse: &Selected) -> Option<Curvature<'a>> {
        let blocks = factor.blocks()?;
        let node = |s: usize| {
            let (l, rows) = (blocks.supernode(s).val(), blocks.supernode(s).pattern());
            let width = l.ncols();
            let root = inverse_of_triangle(l.subrows(0, width));
            let triangle = Mat::from_fn(width, width, |i, j| if i >= j { l[(i, j)] } else { 0.0 });
            let below = tree.gather(blocks, inverse, rows);
            let below_factor = if rows.is_empty() { None } else { Some(Positive::factor(below.clone())?) };
            Some(Node {
                r: small_product(l.subrows(width, rows.len()), root.as_ref()),
                d: small_product(triangle.as_ref(), triangle.transpose()),
                d_inverse: small_product(root.transpose(), root.as_ref()),
                below,
                below_factor,
            })
        };
        let nodes = parallel::try_collect(blocks.symbolic().n_supernodes(), |s| node(s).ok_or(())).ok()?;
        Some(Curvature { tree, nodes })
    }

    /// A matrix given on some entries of the pattern, zero on the others.
    fn spread(&self, places: &[Slot], values: &[f64]) -> Selected {
        let size = |node: &Node| node.height() * node.d.nrows();
        let mut matrix = Selected { blocks: self.nodes.iter().map(|node| vec![0.0; size(node)]).collect() };
        for (place, &value) in places.iter().zip(values) {
            let (node, block) = (&self.nodes[place.node as usize], &mut matrix.blocks[place.node as usize]);
            let (height, width) = (node.height(), node.d.nrows());
            let (row, column) = (place.at as usize % height, place.at as usize / height);
            block[place.at as usize] = value;
            if row < width {
                block[row * height + column] = value;
            }
        }
        matrix
    }

    /// W V W at the entries where V is given.
    pub fn apply(&self, places: &[Slot], v: &[f64]) -> Option<Vec<f64>> {
        let v = self.spread(places, v);
        let scaled = self.up(|s, front| {
            let node = &self.nodes[s];
            let (width, below) = node.sizes();
            front[..v.blocks[s].len()].iter_mut().zip(&v.blocks[s]).for_each(|(f, v)| *f += v);
            mirror(front, node.height(), width);
            let mut k = Mat::zeros(below, width);
            {
                let f = MatRef::from_column_major_slice(front, node.height(), node.height());
                let (own, f_below) = (f.submatrix(0, 0, width, width), f.submatrix(width, 0, below, width));
                k.copy_from(f_below);
                less(k.as_mut(), node.r.as_ref(), own);
            }
            self.update(s, front, &k);
            let own = MatRef::from_column_major_slice(front, node.height(), node.height());
            let m_own = small_product(node.d_inverse.as_ref(), own.submatrix(0, 0, width, width));
            let right = small_product(k.as_ref(), node.d_inverse.as_ref());
            stacked(
                small_product(m_own.as_ref(), node.d_inverse.as_ref()).as_ref(),
                small_product(node.below.as_ref(), right.as_ref()).as_ref(),
            )
        })?;
        let blocks = self.down(
            |s, around| {
                let (node, mut y) = (&self.nodes[s], scaled[s].clone());
                let width = node.d.nrows();
                let y_all = MatMut::from_column_major_slice_mut(&mut y, node.height(), width);
                let (mut y_own, mut y_below) = y_all.split_at_row_mut(width);
                less(y_own.as_mut(), node.r.transpose(), y_below.as_ref());
                less(y_below.as_mut(), around, node.r.as_ref());
                less(y_own.as_mut(), y_below.as_ref().transpose(), node.r.as_ref());
                y
            },
            |_, y: &Vec<f64>, front| front.copy_from_slice(y),
        )?;
        let y = Selected { blocks };
        Some(places.iter().map(|&place| y.at(place)).collect())
    }

    /// The V on the whole pattern for which W V W is Y there, at the entries where Y is given; Y is zero on the others.
    pub fn solve(&self, places: &[Slot], y: &[f64]) -> Option<Vec<f64>> {
        let y = self.spread(places, y);
        // K of every block, its own rows above those below.
        let k = self.down(
            |s, around| {
                let node = &self.nodes[s];
                let (width, below) = node.sizes();
                let given = MatRef::from_column_major_slice(&y.blocks[s], node.height(), width);
                let (y_own, y_below) = (given.subrows(0, width), given.subrows(width, below));
                let (mut m_own, mut m_below) = (y_own.to_owned(), y_below.to_owned());
                more(m_below.as_mut(), around, node.r.as_ref());
                more(m_own.as_mut(), node.r.transpose(), m_below.as_ref());
                more(m_own.as_mut(), y_below.transpose(), node.r.as_ref());
                let k_own = small_product(small_product(node.d.as_ref(), m_own.as_ref()).as_ref(), node.d.as_ref());
                let mut k_below = small_product(m_below.as_ref(), node.d.as_ref());
                if let Some(factor) = &node.below_factor {
                    factor.solve(k_below.as_mut());
                }
                stacked(k_own.as_ref(), k_below.as_ref())
            },
            |s, _, front| front.copy_from_slice(&y.blocks[s]),
        )?;
        let v = self.up(|s, front| {
            let node = &self.nodes[s];
            let (width, below) = node.sizes();
            mirror(front, node.height(), width);
            let own = MatRef::from_column_major_slice(&k[s], node.height(), width);
            let (k_own, k_below) = (own.subrows(0, width), own.subrows(width, below));
            // F[I,J] = K[I,J] + R K[J,J]; what the children brought of it is not V's.
            let mut f = k[s].clone();
            let f_below = MatMut::from_column_major_slice_mut(&mut f, node.height(), width).subrows_mut(width, below);
            more(f_below, node.r.as_ref(), k_own);
            let v: Vec<f64> = f.iter().zip(front.iter()).map(|(f, brought)| f - brought).collect();
            front[..f.len()].copy_from_slice(&f);
            self.update(s, front, &k_below.to_owned());
            v
        })?;
        let v = Selected { blocks: v };
        Some(places.iter().map(|&place| v.at(place)).collect())
    }

    /// U = F[I,I] − R K[I,J]ᵀ − F[I,J] Rᵀ in place of F[I,I].
    fn update(&self, s: usize, front: &mut Front, k: &Mat<f64>) {
        let node = &self.nodes[s];
        let (width, below) = node.sizes();
        let (left, mut rest) =
            MatMut::from_column_major_slice_mut(front, node.height(), node.height()).split_at_col_mut(width);
        let mut u = rest.as_mut().subrows_mut(width, below);
        less(u.as_mut(), node.r.as_ref(), k.transpose());
        less(u, left.as_ref().subrows(width, below), node.r.transpose());
    }

    /// Visits the blocks from the leaves to the roots: each is given the sum of its children's updates as a front, leaves its own
    /// update in the part of it below the block, and answers what is wanted.
    fn up<T: Send>(&self, visit: impl Fn(usize, &mut Front) -> T + Sync) -> Option<Vec<T>> {
        let mut updates: Vec<Option<Front>> = self.nodes.iter().map(|_| None).collect();
        let mut answers: Vec<Option<T>> = self.nodes.iter().map(|_| None).collect();
        for depth in self.tree.depths().iter().rev() {
            let of_node = |&s: &u32| {
                let mut front = self.front(s as usize, &updates)?;
                let answer = visit(s as usize, &mut front);
                Some((answer, front))
            };
            for (&s, (answer, front)) in depth.iter().zip(each(depth, of_node)?) {
                self.tree.children(s as usize).iter().for_each(|&child| updates[child as usize] = None);
                answers[s as usize] = Some(answer);
                if self.tree.link(s as usize).is_some() {
                    updates[s as usize] = Some(front);
                }
            }
        }
        answers.into_iter().collect()
    }

    /// The sum of the updates of a block's children, in the order of the children; the lower triangle.
    fn front(&self, s: usize, updates: &[Option<Front>]) -> Option<Front> {
        let height = self.nodes[s].height();
        let mut front = vec![0.0; height * height];
        for &child in self.tree.children(s) {
            let (node, update) = (&self.nodes[child as usize], updates[child as usize].as_ref()?);
            let (width, below) = node.sizes();
            let at = self.tree.link(child as usize)?.1;
            for b in 0..below {
                let brought = &update[(width + b) * node.height() + width..][..below];
                let column = &mut front[at[b] as usize * height..][..height];
                for (&row, value) in at[b..].iter().zip(&brought[b..]) {
                    column[row as usize] += value;
                }
            }
        }
        Some(front)
    }

    /// Visits the blocks from the roots to the leaves: each is given its part of the front of the block above it, which `own` starts
    /// with that block's columns, and answers what is wanted.
    fn down<T: Send + Sync>(
        &self,
        visit: impl Fn(usize, MatRef<'_, f64>) -> T + Sync,
        own: impl Fn(usize, &T, &mut [f64]) + Sync,
    ) -> Option<Vec<T>> {
        let mut fronts: Vec<Option<Front>> = self.nodes.iter().map(|_| None).collect();
        let mut answers: Vec<Option<T>> = self.nodes.iter().map(|_| None).collect();
        let mut above: &[u32] = &[];
        for depth in self.tree.depths() {
            let of_node = |&s: &u32| {
                let s = s as usize;
                let (width, below) = self.nodes[s].sizes();
                let around = match self.tree.link(s) {
                    Some((parent, at)) => part(fronts[parent].as_ref()?, self.nodes[parent].height(), at),
                    None => Vec::new(),
                };
                let answer = visit(s, MatRef::from_column_major_slice(&around, below, below));
                // A leaf has no children that need it.
                let front = (!self.tree.children(s).is_empty()).then(|| {
                    let height = width + below;
                    let mut front = vec![0.0; height * height];
                    own(s, &answer, &mut front[..height * width]);
                    for j in width..height {
                        let (first, column) = front.split_at_mut(j * height);
                        (0..width).for_each(|i| column[i] = first[i * height + j]);
                        column[width..height].copy_from_slice(&around[(j - width) * below..][..below]);
                    }
                    front
                });
                Some((answer, front))
            };
            let found = each(depth, of_node)?;
            above.iter().for_each(|&s| fronts[s as usize] = None);
            for (&s, (answer, front)) in depth.iter().zip(found) {
                (answers[s as usize], fronts[s as usize]) = (Some(answer), front);
            }
            above = depth;
        }
        answers.into_iter().collect()
    }
}

/// Some rows and columns of a front, both triangles.
fn part(front: &[f64], height: usize, at: &[u32]) -> Vec<f64> {
    let size = at.len();
    let mut out = vec![0.0; size * size];
    for (b, &column) in at.iter().enumerate() {
        let from = &front[column as usize * height..][..height];
        for (out, &row) in out[b * size..][..size].iter_mut().zip(at) {
            *out = from[row as usize];
        }
    }
    out
}

/// The lower triangle of the first columns, above their diagonal too.
fn mirror(front: &mut [f64], height: usize, width: usize) {
    for j in 0..width {
        for i in 0..j {
            front[j * height + i] = front[i * height + j];
        }
    }
}

/// out − A B.
fn less(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul(out, Accum::Add, a, b, -1.0, Par::Seq);
}

/// out + A B.
fn more(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul(out, Accum::Add, a, b, 1.0, Par::Seq);
}

/// The answers of the blocks of one depth, in parallel where there are enough of them to be worth it.
fn each<T: Send>(nodes: &[u32], of_node: impl Fn(&u32) -> Option<T> + Send + Sync) -> Option<Vec<T>> {
    if nodes.len() < 2 * BLOCKS {
        nodes.iter().map(of_node).collect()
    } else {
        parallel::try_collect(nodes.len(), |at| of_node(&nodes[at]).ok_or(())).ok()
    }
}

/// A block by columns, its own rows above those below.
fn stacked(own: MatRef<'_, f64>, below: MatRef<'_, f64>) -> Vec<f64> {
    let (width, height) = (own.ncols(), own.nrows() + below.nrows());
    let mut block = vec![0.0; width * height];
    let (mut top, mut bottom) = MatMut::from_column_major_slice_mut(&mut block, height, width).split_at_row_mut(width);
    top.copy_from(own);
    bottom.copy_from(below);
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::cholesky::Analysis;
    use crate::sparse::matrix::SparseSymmetric;

    /// A ring with chords, whose factor fills in.
    fn ring(n: usize) -> SparseSymmetric {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let joined = |i: usize, j: usize| [1, 5, n - 1, n - 5].contains(&((i + n - j) % n));
        for i in 0..n {
            for j in (0..n).filter(|&j| j == i || joined(i, j)) {
                columns.push(j as u32);
                values.push(if i == j { 3.0 } else { 0.6 * ((i + j) as f64).sin() });
            }
            offsets.push(columns.len());
        }
        SparseSymmetric::from_parts(offsets, columns, values)
    }

    #[test]
    fn it_is_the_sandwich_of_the_dense_inverse_and_can_be_undone() {
        for n in [12, 40] {
            let t = ring(n);
            let factor = Analysis::new(&t).unwrap().factor(&t, 0.0).unwrap().unwrap();
            let tree = Tree::new(&factor).unwrap();
            let inverse = tree.inverse(&factor).unwrap();
            let curvature = Curvature::new(&tree, &factor, &inverse).unwrap();
            let mut w = Mat::<f64>::identity(n, n);
            factor.solve(w.as_mut());
            // Every entry of the factor's pattern once.
            let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).collect();
            let kept: Vec<(usize, usize, Slot)> =
                pairs.into_iter().filter_map(|(i, j)| Some((i, j, tree.place(&factor, i, j)?))).collect();
            assert!(kept.len() > t.entry_count() / 2 + n / 2, "there is fill");
            let places: Vec<Slot> = kept.iter().map(|entry| entry.2).collect();
            let values: Vec<f64> = (0..kept.len()).map(|at| (at as f64 * 0.7).cos()).collect();
            let mut v = Mat::zeros(n, n);
            for (&(i, j, _), &value) in kept.iter().zip(&values) {
                (v[(i, j)], v[(j, i)]) = (value, value);
            }
            let dense = &w * &v * &w;
            let image = curvature.apply(&places, &values).unwrap();
            for (&(i, j, _), &ours) in kept.iter().zip(&image) {
                assert!((ours - dense[(i, j)]).abs() < 1e-12, "{i} {j}: {ours} {}", dense[(i, j)]);
            }
            let back = curvature.solve(&places, &image).unwrap();
            assert!(back.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-10));
        }
    }
}

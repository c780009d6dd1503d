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
//! Every line can be undone, which gives the inverse at the same price. Blocks of one depth are visited in parallel.
//!
//! J. Dahl, L. Vandenberghe, V. Roychowdhury. Covariance selection for nonchordal graphs via chordal embedding. Optim.
//! Methods Softw. 23(4), 2008. M. S. Andersen, J. Dahl, L. Vandenberghe. Logarithmic barriers for sparse matrix cones. Optim.
//! Methods Softw. 28(3), 2013.

use crate::linalg::dense::cholesky::Positive;
use crate::linalg::dense::{inverse_of_triangle, small_product};
use crate::linalg::parallel;
use crate::linalg::sparse::cholesky::Cholesky;
use crate::linalg::sparse::selected::{Selected, Slot, Tree, row_of};
use faer::{Mat, MatRef};

/// Blocks to a piece of parallel work.
const BLOCKS: usize = 8;

/// The second derivative at one matrix.
pub(crate) struct Curvature<'a> {
    tree: &'a Tree,
    factor: &'a Cholesky,
    nodes: Vec<Node>,
    children: Vec<Vec<u32>>,
}

/// What a block of columns brings along.
struct Node {
    r: Mat<f64>,
    d: Mat<f64>,
    d_inverse: Mat<f64>,
    /// W[I,I] and its factor.
    below: Mat<f64>,
    below_factor: Option<Positive>,
}

impl<'a> Curvature<'a> {
    /// From a factor and the inverse on its pattern; nothing if the inverse is not positive definite to working precision.
    pub(crate) fn new(tree: &'a Tree, factor: &'a Cholesky, inverse: &Selected) -> Option<Curvature<'a>> {
        let blocks = factor.blocks()?;
        let count = blocks.symbolic().n_supernodes();
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
        let nodes = parallel::try_collect(count, |s| node(s).ok_or(())).ok()?;
        let mut children = vec![Vec::new(); count];
        for s in 0..count {
            if let Some(&row) = blocks.supernode(s).pattern().first() {
                children[tree.node_of(row)].push(s as u32);
            }
        }
        Some(Curvature { tree, factor, nodes, children })
    }

    /// A matrix given on some places, zero on the others.
    fn spread(&self, places: &[Slot], values: &[f64]) -> Option<Selected> {
        let blocks = self.factor.blocks()?;
        let size = |s: usize| blocks.supernode(s).val().nrows() * blocks.supernode(s).val().ncols();
        let mut matrix = Selected { blocks: (0..self.nodes.len()).map(|s| vec![0.0; size(s)]).collect() };
        for (place, &value) in places.iter().zip(values) {
            let s = place.node as usize;
            let (height, width) = (blocks.supernode(s).val().nrows(), blocks.supernode(s).val().ncols());
            let (row, column) = (place.at as usize % height, place.at as usize / height);
            matrix.blocks[s][place.at as usize] = value;
            if row < width {
                matrix.blocks[s][row * height + column] = value;
            }
        }
        Some(matrix)
    }

    /// W V W at the places where V is given.
    pub(crate) fn apply(&self, places: &[Slot], v: &[f64]) -> Option<Vec<f64>> {
        let v = self.spread(places, v)?;
        let scaled = self.up(|s, from| {
            let node = &self.nodes[s];
            let (own, below) = self.split(&v, s);
            let (f_own, f_below) = (own + &from.own, below + &from.below);
            let k_below = &f_below - small_product(node.r.as_ref(), f_own.as_ref());
            let up = update(from.rest, node, &k_below, &f_below);
            let right = small_product(k_below.as_ref(), node.d_inverse.as_ref());
            let m_own =
                small_product(small_product(node.d_inverse.as_ref(), f_own.as_ref()).as_ref(), node.d_inverse.as_ref());
            ((m_own, small_product(node.below.as_ref(), right.as_ref())), up)
        })?;
        let mut y = Selected { blocks: vec![Vec::new(); self.nodes.len()] };
        for depth in self.tree.depths() {
            let of_node = |&s: &u32| {
                let (m_own, m_below) = &scaled[s as usize];
                let node = &self.nodes[s as usize];
                let blocks = self.factor.blocks()?;
                let around = self.tree.gather(blocks, &y, blocks.supernode(s as usize).pattern());
                let y_below = m_below - small_product(around.as_ref(), node.r.as_ref());
                let y_own = m_own
                    - small_product(node.r.transpose(), m_below.as_ref())
                    - small_product(y_below.transpose(), node.r.as_ref());
                Some(stacked(&y_own, &y_below))
            };
            for (&s, block) in depth.iter().zip(each(depth, of_node)?) {
                y.blocks[s as usize] = block;
            }
        }
        Some(places.iter().map(|&place| y.at(place)).collect())
    }

    /// The V on the whole pattern for which W V W is Y there, at the places where Y is given; Y is zero on the others.
    pub(crate) fn solve(&self, places: &[Slot], y: &[f64]) -> Option<Vec<f64>> {
        let y = self.spread(places, y)?;
        let blocks = self.factor.blocks()?;
        let scaled = parallel::collect(self.nodes.len(), |s| {
            let node = &self.nodes[s];
            let (y_own, y_below) = self.split(&y, s);
            let around = self.tree.gather(blocks, &y, blocks.supernode(s).pattern());
            let m_below = &y_below + small_product(around.as_ref(), node.r.as_ref());
            let m_own = y_own
                + small_product(node.r.transpose(), m_below.as_ref())
                + small_product(y_below.transpose(), node.r.as_ref());
            let k_own = small_product(small_product(node.d.as_ref(), m_own.as_ref()).as_ref(), node.d.as_ref());
            let mut k_below = small_product(m_below.as_ref(), node.d.as_ref());
            if let Some(factor) = &node.below_factor {
                factor.solve(k_below.as_mut());
            }
            (k_own, k_below)
        });
        let v = self.up(|s, from| {
            let ((k_own, k_below), node) = (&scaled[s], &self.nodes[s]);
            let f_below = k_below + small_product(node.r.as_ref(), k_own.as_ref());
            let v = stacked(&(k_own - &from.own), &(&f_below - &from.below));
            (v, update(from.rest, node, k_below, &f_below))
        })?;
        let v = Selected { blocks: v };
        Some(places.iter().map(|&place| v.at(place)).collect())
    }

    /// A block of a matrix: what is on its own rows, and what is below.
    fn split(&self, matrix: &Selected, s: usize) -> (Mat<f64>, Mat<f64>) {
        let (width, height) = (self.nodes[s].d.nrows(), self.nodes[s].d.nrows() + self.nodes[s].r.nrows());
        let block = MatRef::from_column_major_slice(&matrix.blocks[s], height, width);
        (block.subrows(0, width).to_owned(), block.subrows(width, height - width).to_owned())
    }

    /// Visits the blocks from the leaves to the roots: each is given the sum of its children's updates, and answers what
    /// is wanted of it and its own.
    fn up<T: Send>(&self, visit: impl Fn(usize, Front) -> (T, Mat<f64>) + Sync) -> Option<Vec<T>> {
        let mut updates: Vec<Option<Mat<f64>>> = self.nodes.iter().map(|_| None).collect();
        let mut answers: Vec<Option<T>> = self.nodes.iter().map(|_| None).collect();
        for depth in self.tree.depths().iter().rev() {
            let of_node = |&s: &u32| Some(visit(s as usize, self.front(s as usize, &updates)?));
            for (&s, (answer, update)) in depth.iter().zip(each(depth, of_node)?) {
                self.children[s as usize].iter().for_each(|&child| updates[child as usize] = None);
                (answers[s as usize], updates[s as usize]) = (Some(answer), Some(update));
            }
        }
        answers.into_iter().collect()
    }

    /// The sum of the updates of a block's children, in the order of the children.
    fn front(&self, s: usize, updates: &[Option<Mat<f64>>]) -> Option<Front> {
        let blocks = self.factor.blocks()?;
        let node = blocks.supernode(s);
        let (start, width, below) = (node.start(), node.val().ncols(), node.pattern().len());
        let mut front =
            Front { own: Mat::zeros(width, width), below: Mat::zeros(below, width), rest: Mat::zeros(below, below) };
        for &child in &self.children[s] {
            let (rows, update) = (blocks.supernode(child as usize).pattern(), updates[child as usize].as_ref()?);
            let at: Option<Vec<usize>> = rows.iter().map(|&row| row_of(start, width, node.pattern(), row)).collect();
            let at = at?;
            for (b, &column) in at.iter().enumerate() {
                for (a, &row) in at.iter().enumerate() {
                    match (row < width, column < width) {
                        (true, true) => front.own[(row, column)] += update[(a, b)],
                        (false, true) => front.below[(row - width, column)] += update[(a, b)],
                        (false, false) => front.rest[(row - width, column - width)] += update[(a, b)],
                        (true, false) => {}
                    }
                }
            }
        }
        Some(front)
    }
}

/// The answers of the blocks of one depth, in parallel where there are enough of them to be worth it.
fn each<T: Send>(nodes: &[u32], of_node: impl Fn(&u32) -> Option<T> + Send + Sync) -> Option<Vec<T>> {
    if nodes.len() < 2 * BLOCKS {
        nodes.iter().map(of_node).collect()
    } else {
        parallel::try_collect(nodes.len(), |at| of_node(&nodes[at]).ok_or(())).ok()
    }
}

/// The sum of updates, by what a block's own rows, those below it, and the two together get.
struct Front {
    own: Mat<f64>,
    below: Mat<f64>,
    rest: Mat<f64>,
}

/// U = F[I,I] − R K[I,J]ᵀ − F[I,J] Rᵀ.
fn update(rest: Mat<f64>, node: &Node, k_below: &Mat<f64>, f_below: &Mat<f64>) -> Mat<f64> {
    rest - small_product(node.r.as_ref(), k_below.transpose()) - small_product(f_below.as_ref(), node.r.transpose())
}

/// A block by columns, its own rows above those below.
fn stacked(own: &Mat<f64>, below: &Mat<f64>) -> Vec<f64> {
    let (width, height) = (own.ncols(), own.nrows() + below.nrows());
    let entry = |at: usize| {
        let (row, column) = (at % height, at / height);
        if row < width { own[(row, column)] } else { below[(row - width, column)] }
    };
    (0..width * height).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::sparse::cholesky::Analysis;
    use crate::linalg::sparse::matrix::SparseSymmetric;

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

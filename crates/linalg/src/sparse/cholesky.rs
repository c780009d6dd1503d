//! Sparse Cholesky factors: the symbolic phase first, so that the cost is known before the factor is computed.

use crate::Operator;
use crate::dense::col_chunks_mut;
use crate::error::{Error, Result};
use crate::parallel;
use crate::sparse::matrix::{SparseSymmetric, by_rows};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::supernodal::SupernodalLltRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{MatMut, MatRef, Par, Side};
use std::sync::Arc;

/// Right-hand sides solved together, side by side in a vector register; a fixed number, so that the arithmetic of a
/// column never depends on the threads.
pub(crate) const LANES: usize = 4;

/// A fill-reducing order (approximate minimum degree) and what a factor in that order would cost.
pub struct Analysis {
    lower: Lower,
    forward: Vec<u32>,
    inverse: Vec<u32>,
    /// Entries of the factor.
    pub fill: f64,
    /// Multiplications and additions of the factorization.
    pub flops: f64,
}

/// The lower triangle by columns, as the matrix library expects it.
struct Lower {
    offsets: Vec<u32>,
    rows: Vec<u32>,
}

impl Analysis {
    /// Orders the matrix and predicts fill and flops.
    ///
    /// # Errors
    ///
    /// If the matrix has more entries than 32-bit indices can count.
    pub fn new(matrix: &SparseSymmetric) -> Result<Analysis> {
        let n = matrix.dim();
        let too_large = || Error::numerical(format!("a sparse matrix of {n} rows is too large to order"), "");
        if matrix.entry_count() > i32::MAX as usize {
            return Err(too_large());
        }
        let mut lower = Lower { offsets: vec![0], rows: Vec::with_capacity(matrix.entry_count() / 2 + n) };
        for j in 0..n {
            lower.rows.extend(matrix.row_columns(j).iter().filter(|&&i| i as usize >= j));
            lower.offsets.push(lower.rows.len() as u32);
        }
        let (mut forward, mut inverse) = (vec![0u32; n], vec![0u32; n]);
        let scratch = amd::order_scratch::<u32>(n, lower.rows.len());
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| too_large())?;
        let count = amd::order(
            &mut forward,
            &mut inverse,
            lower.pattern(n),
            amd::Control::default(),
            MemStack::new(&mut memory),
        )
        .map_err(|_| too_large())?;
        let flops = 2.0 * count.n_mult_subs_ldl + count.n_div;
        Ok(Analysis { lower, forward, inverse, fill: count.n_div + n as f64, flops })
    }

    /// The bytes a factor would hold while it is computed.
    pub fn memory(&self) -> u64 {
        // Values and their assembly area, plus the pattern; supernodes share row indices.
        (self.fill * 20.0) as u64
    }

    /// The pattern of the factor in the fill-reducing order: the point at each position, and for every position the later
    /// positions of its column, ascending, those that fill creates included.
    ///
    /// # Errors
    ///
    /// If the pattern does not fit into memory.
    pub fn pattern(&self) -> Result<(Vec<u32>, Vec<Vec<u32>>)> {
        let n = self.forward.len();
        let no_memory =
            || Error::numerical(format!("there is no memory for a sparse pattern of {:.1e} entries", self.fill), "");
        let order = faer::perm::PermRef::new_checked(&self.forward, &self.inverse, n);
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
            ..CholeskySymbolicParams::default()
        };
        let order = SymmetricOrdering::Custom(order);
        let symbolic =
            factorize_symbolic_cholesky(self.lower.pattern(n), Side::Lower, order, params).map_err(|_| no_memory())?;
        let SymbolicCholeskyRaw::Simplicial(columns) = symbolic.raw() else { return Err(no_memory()) };
        let (starts, rows) = (columns.col_ptr(), columns.row_idx());
        let later = |a: usize| {
            let rows = &rows[starts[a] as usize..starts[a + 1] as usize];
            let mut later: Vec<u32> = rows.iter().copied().filter(|&b| b as usize > a).collect();
            later.sort_unstable();
            later
        };
        Ok((self.forward.clone(), (0..n).map(later).collect()))
    }

    /// The structure of the factor, for matrices of this pattern to be factored one after the other.
    ///
    /// # Errors
    ///
    /// If it does not fit into memory.
    pub fn symbolic(&self) -> Result<Symbolic<'_>> {
        let n = self.forward.len();
        let order = faer::perm::PermRef::new_checked(&self.forward, &self.inverse, n);
        let symbolic = factorize_symbolic_cholesky(
            self.lower.pattern(n),
            Side::Lower,
            SymmetricOrdering::Custom(order),
            // One layout for all factors, and one solve for it.
            CholeskySymbolicParams {
                supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
                ..CholeskySymbolicParams::default()
            },
        )
        .map_err(|_| self.no_memory())?;
        Ok(Symbolic { analysis: self, symbolic: Arc::new(symbolic) })
    }

    /// The factor of A + shift · I; `None` if that is not numerically positive definite.
    ///
    /// # Errors
    ///
    /// If the factor does not fit into memory.
    pub fn factor(&self, matrix: &SparseSymmetric, shift: f64) -> Result<Option<Cholesky>> {
        self.symbolic()?.factor(matrix, shift)
    }

    fn no_memory(&self) -> Error {
        Error::numerical(format!("there is no memory for a sparse factor of {:.1e} entries", self.fill), "")
    }
}

/// The structure of the factor of every matrix with one pattern.
pub struct Symbolic<'a> {
    analysis: &'a Analysis,
    pub(crate) symbolic: Arc<SymbolicCholesky<u32>>,
}

impl Symbolic<'_> {
    /// The factor of A + shift · I; `None` if that is not numerically positive definite.
    ///
    /// # Errors
    ///
    /// If the factor does not fit into memory.
    pub fn factor(&self, matrix: &SparseSymmetric, shift: f64) -> Result<Option<Cholesky>> {
        let (n, pattern) = (matrix.dim(), &self.analysis.lower);
        let mut lower = vec![0.0; pattern.rows.len()];
        let offsets: Vec<usize> = pattern.offsets.iter().map(|&o| o as usize).collect();
        parallel::each_of(by_rows(&offsets, &mut lower), |_, (columns, values)| {
            let entries =
                columns.flat_map(|j| matrix.row(j).filter(move |&(i, _)| i >= j).map(move |(i, v)| (i == j, v)));
            for (value, (diagonal, entry)) in values.iter_mut().zip(entries) {
                *value = if diagonal { entry + shift } else { entry };
            }
        });
        let lower = SparseColMatRef::new(pattern.pattern(n), lower.as_slice());
        let (par, symbolic) = (Par::Seq, &self.symbolic);
        let no_memory = || self.analysis.no_memory();
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(par, Default::default());
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| no_memory())?;
        let mut values = Vec::new();
        values.try_reserve_exact(symbolic.len_val()).map_err(|_| no_memory())?;
        values.resize(symbolic.len_val(), 0.0);
        let stack = MemStack::new(&mut memory);
        let done = symbolic
            .factorize_numeric_llt(&mut values, lower, Side::Lower, Default::default(), par, stack, Default::default())
            .is_ok();
        Ok(done.then(|| Cholesky { symbolic: symbolic.clone(), values }))
    }
}

impl Lower {
    fn pattern(&self, n: usize) -> SymbolicSparseColMatRef<'_, u32> {
        SymbolicSparseColMatRef::new_checked(n, n, &self.offsets, None, &self.rows)
    }
}

/// A sparse factor LLᵀ.
pub struct Cholesky {
    symbolic: Arc<SymbolicCholesky<u32>>,
    values: Vec<f64>,
}

impl Cholesky {
    /// log det A, from the diagonal of the factor.
    pub fn log_determinant(&self) -> f64 {
        let Some(factor) = self.blocks() else { return 0.0 };
        let nodes = 0..factor.symbolic().n_supernodes();
        let of_node = |s: usize| {
            let block = factor.supernode(s).val();
            (0..block.ncols()).map(|c| block[(c, c)].ln()).sum::<f64>()
        };
        2.0 * nodes.map(of_node).sum::<f64>()
    }

    /// The factor as blocks of columns.
    pub(crate) fn blocks(&self) -> Option<SupernodalLltRef<'_, u32, f64>> {
        match self.symbolic.raw() {
            SymbolicCholeskyRaw::Supernodal(symbolic) => Some(SupernodalLltRef::new(symbolic, &self.values)),
            SymbolicCholeskyRaw::Simplicial(_) => None,
        }
    }

    /// The position of every row of A in the factor's order.
    pub(crate) fn places(&self) -> Option<&[u32]> {
        self.symbolic.perm().map(|order| order.arrays().1)
    }

    /// Replaces the columns of `rhs` by the solutions.
    pub fn solve(&self, rhs: MatMut<'_, f64>) {
        parallel::each_of(col_chunks_mut(rhs, LANES), |_, mut columns| {
            let Some(factor) = self.blocks() else { return };
            let order = self.symbolic.perm().map(|order| order.arrays().0);
            let point = |row: usize| order.map_or(row, |order| order[row] as usize);
            let mut x = vec![[0.0; LANES]; columns.nrows()];
            for (row, x) in x.iter_mut().enumerate() {
                (0..columns.ncols()).for_each(|q| x[q] = columns[(point(row), q)]);
            }
            pulp::Arch::new().dispatch(Solve { factor, supernodes: factor.symbolic().n_supernodes(), x: &mut x });
            for (row, x) in x.iter().enumerate() {
                (0..columns.ncols()).for_each(|q| columns[(point(row), q)] = x[q]);
            }
        });
    }
}

/// L y = x, then Lᵀ x = y, supernode by supernode. A supernode is a dense block of columns: a lower triangle, and below
/// it the rows of its pattern, which are gathered and scattered once for all its columns.
struct Solve<'a> {
    factor: SupernodalLltRef<'a, u32, f64>,
    supernodes: usize,
    x: &'a mut [Row],
}

/// One row of the right-hand sides that are solved together.
type Row = [f64; LANES];

/// Columns of a supernode that are swept together: a row is read and written once for all of them, and their sums do not
/// wait for each other.
const TOGETHER: usize = 4;

impl pulp::WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let x = self.x;
        let mut rows: Vec<Row> = Vec::new();
        for s in 0..self.supernodes {
            let node = self.factor.supernode(s);
            let (start, pattern, block) = (node.start(), node.pattern(), node.val());
            let width = block.ncols();
            rows.clear();
            rows.extend_from_slice(&x[start..start + width]);
            rows.resize(width + pattern.len(), [0.0; LANES]);
            for first in (0..width).step_by(TOGETHER) {
                match width - first {
                    1 => forward::<1>(block, first, &mut rows),
                    2 => forward::<2>(block, first, &mut rows),
                    3 => forward::<3>(block, first, &mut rows),
                    _ => forward::<TOGETHER>(block, first, &mut rows),
                }
            }
            let (own, below) = rows.split_at(width);
            x[start..start + width].copy_from_slice(own);
            for (&row, sum) in pattern.iter().zip(below) {
                let x = &mut x[row as usize];
                (0..LANES).for_each(|lane| x[lane] += sum[lane]);
            }
        }
        for s in (0..self.supernodes).rev() {
            let node = self.factor.supernode(s);
            let (start, block) = (node.start(), node.val());
            let width = block.ncols();
            rows.clear();
            rows.extend_from_slice(&x[start..start + width]);
            rows.extend(node.pattern().iter().map(|&row| x[row as usize]));
            for first in (0..width).step_by(TOGETHER).rev() {
                match width - first {
                    1 => backward::<1>(block, first, &mut rows),
                    2 => backward::<2>(block, first, &mut rows),
                    3 => backward::<3>(block, first, &mut rows),
                    _ => backward::<TOGETHER>(block, first, &mut rows),
                }
            }
            x[start..start + width].copy_from_slice(&rows[..width]);
        }
    }
}

/// Some columns of a block from the row `first` on, the first of them that of the same number.
#[inline(always)]
fn columns<const W: usize>(block: MatRef<'_, f64>, first: usize) -> [&[f64]; W] {
    std::array::from_fn(|at| {
        block.col(first + at).try_as_col_major().map_or(&[][..], |column| &column.as_slice()[first..])
    })
}

/// a − l b.
#[inline(always)]
fn less(a: Row, l: f64, b: Row) -> Row {
    std::array::from_fn(|lane| a[lane] - l * b[lane])
}

/// The step of L y = x for W columns; `rows` are those of the block.
#[inline(always)]
fn forward<const W: usize>(block: MatRef<'_, f64>, first: usize, rows: &mut [Row]) {
    let columns = columns::<W>(block, first);
    let (own, below) = rows[first..].split_at_mut(W);
    for at in 0..W {
        let known = (0..at).fold(own[at], |y, before| less(y, columns[before][at], own[before]));
        own[at] = known.map(|y| y / columns[at][at]);
    }
    let columns = columns.map(|column| &column[W..W + below.len()]);
    for (row, x) in below.iter_mut().enumerate() {
        for at in 0..W {
            *x = less(*x, columns[at][row], own[at]);
        }
    }
}

/// The step of Lᵀ x = y for W columns; `rows` are those of the block.
#[inline(always)]
fn backward<const W: usize>(block: MatRef<'_, f64>, first: usize, rows: &mut [Row]) {
    let columns = columns::<W>(block, first);
    let (own, below) = rows[first..].split_at_mut(W);
    let beside = columns.map(|column| &column[W..W + below.len()]);
    let mut left: [Row; W] = std::array::from_fn(|at| own[at]);
    for row in 0..below.len() {
        for at in 0..W {
            left[at] = less(left[at], beside[at][row], below[row]);
        }
    }
    own.copy_from_slice(&left);
    for at in (0..W).rev() {
        let known = (at + 1..W).fold(own[at], |x, later| less(x, columns[at][later], own[later]));
        own[at] = known.map(|x| x / columns[at][at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of n nodes plus the identity.
    fn path(n: usize) -> SparseSymmetric {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            for j in i.saturating_sub(1)..(i + 2).min(n) {
                columns.push(j as u32);
                values.push(if i == j { 3.0 } else { -1.0 });
            }
            offsets.push(columns.len());
        }
        SparseSymmetric::from_parts(offsets, columns, values)
    }

    #[test]
    fn a_path_factors_without_fill_and_solves_exactly() {
        let a = path(1000);
        let analysis = Analysis::new(&a).unwrap();
        assert_eq!(analysis.fill, 1999.0);
        let factor = analysis.factor(&a, 0.0).unwrap().unwrap();
        let x = faer::Mat::from_fn(1000, 6, |i, q| ((i * 3 + q) % 7) as f64);
        let mut b = faer::Mat::zeros(1000, 6);
        a.apply(x.as_ref(), b.as_mut());
        factor.solve(b.as_mut());
        assert!((b - x).norm_max() < 1e-13);
    }

    /// A ring of six needs one chord for every point but the last three, whatever the order.
    #[test]
    fn the_pattern_of_a_ring_has_its_edges_and_its_fill() {
        let n = 6;
        let columns: Vec<u32> = (0..n)
            .flat_map(|i| {
                let mut row = [(i + n - 1) % n, i, (i + 1) % n];
                row.sort_unstable();
                row.map(|j| j as u32)
            })
            .collect();
        let ring = SparseSymmetric::from_parts((0..=n).map(|i| 3 * i).collect(), columns, vec![1.0; 3 * n]);
        let (order, later) = Analysis::new(&ring).unwrap().pattern().unwrap();
        let sizes: Vec<usize> = later.iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 2, 2, 2, 1, 0]);
        let joined = |i: u32, j: u32| (i + 1) % 6 == j || (j + 1) % 6 == i;
        let edges = (0..n).flat_map(|a| later[a].iter().map(move |&b| (a, b as usize)));
        assert_eq!(edges.filter(|&(a, b)| joined(order[a], order[b])).count(), 6);
    }

    /// Grids have supernodes of one column and of many, and the columns of a triangle are swept in fours.
    #[test]
    fn blocks_of_every_width_are_solved() {
        for side in [2, 3, 5, 12, 30] {
            let n = side * side;
            let near = |i: usize, j: usize| (i / side).abs_diff(j / side) <= 1 && (i % side).abs_diff(j % side) <= 1;
            let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..n {
                for j in (0..n).filter(|&j| near(i, j)) {
                    columns.push(j as u32);
                    values.push(if i == j { 9.0 } else { -1.0 / (1.0 + ((i * j) % 3) as f64) });
                }
                offsets.push(columns.len());
            }
            let a = SparseSymmetric::from_parts(offsets, columns, values);
            let factor = Analysis::new(&a).unwrap().factor(&a, 0.0).unwrap().unwrap();
            let x = faer::Mat::from_fn(n, 6, |i, q| ((i * 7 + q * 5) % 11) as f64 - 5.0);
            let mut solved = faer::Mat::zeros(n, 6);
            a.apply(x.as_ref(), solved.as_mut());
            factor.solve(solved.as_mut());
            assert!((solved - x).norm_max() < 1e-12, "{side}");
        }
    }

    #[test]
    fn a_shift_that_makes_the_matrix_indefinite_is_noticed() {
        let a = path(10);
        assert!(Analysis::new(&a).unwrap().factor(&a, -3.0).unwrap().is_none());
    }
}

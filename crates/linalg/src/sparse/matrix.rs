//! Sparse symmetric matrices: rows of sorted columns, both triangles kept, so that a product runs over rows in
//! parallel and never has to scatter.

use crate::Operator;
use crate::dense::row_chunks_mut;
use crate::parallel::{self, Scratch};
use crate::sparse::locality::positions;
use crate::sparse::rows::{Counted, SomeRows, joined};
use faer::{MatMut, MatRef};
use std::ops::Range;

/// Rows to a chunk of parallel work.
const ROWS: usize = 1024;

/// A symmetric matrix with both triangles stored, every diagonal entry present.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseSymmetric {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseSymmetric {
    /// From rows sorted by column, with the diagonal present and both triangles equal.
    pub fn from_parts(offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f64>) -> SparseSymmetric {
        let matrix = SparseSymmetric { offsets, columns, values };
        debug_assert!((0..matrix.dim()).all(|i| matrix.row(i).any(|(j, _)| j == i)));
        debug_assert!((0..matrix.dim()).all(|i| matrix.row_columns(i).is_sorted()));
        matrix
    }

    /// AᵀA for a sparse square A given by rows of `(column, value)`: row i of the product is Σᵣ a[r,i] a[r,·].
    pub fn gram(offsets: &[usize], columns: &[u32], values: &[f64]) -> SparseSymmetric {
        let n = offsets.len() - 1;
        let (starts, rows, transposed) = transpose(n, offsets, columns, |at, _| values[at]);
        gathered(n, |i, sum| {
            for at in starts[i]..starts[i + 1] {
                let (r, a) = (rows[at] as usize, transposed[at]);
                for entry in offsets[r]..offsets[r + 1] {
                    sum.add(columns[entry], a * values[entry]);
                }
            }
        })
    }

    /// Σᵣ Sᵣ Qᵣ Sᵣᵀ over n patches of points: patch r couples its `members` (no point twice, every point in its own)
    /// by the symmetric block Qᵣ, its lower triangle row by row in `forms` from `blocks[r]` on.
    pub fn of_patches(offsets: &[usize], members: &[u32], blocks: &[usize], forms: &[f64]) -> SparseSymmetric {
        let n = offsets.len() - 1;
        let (starts, patches, places) = transpose(n, offsets, members, |at, r| (at - offsets[r]) as u32);
        gathered(n, |i, sum| {
            for at in starts[i]..starts[i + 1] {
                let (r, place) = (patches[at] as usize, places[at] as usize);
                let members = &members[offsets[r]..offsets[r + 1]];
                let block = &forms[blocks[r]..blocks[r + 1]];
                for (other, &j) in members.iter().enumerate() {
                    let (row, column) = (place.max(other), place.min(other));
                    sum.add(j, block[row * (row + 1) / 2 + column]);
                }
            }
        })
    }

    /// Σ w[e] b[e] b[e]ᵀ + added · I over pairs of ends `i < j` in ascending order, its first `rows` rows and columns.
    pub fn laplacian(rows: usize, ends: &[(u32, u32)], weights: &[f64], added: f64) -> SparseSymmetric {
        let mut diagonal = vec![added; rows];
        for (&(i, j), w) in ends.iter().zip(weights) {
            for at in [i as usize, j as usize].into_iter().filter(|&at| at < rows) {
                diagonal[at] += w;
            }
        }
        let inside = || ends.iter().zip(weights).filter(|(ends, _)| (ends.1 as usize) < rows);
        let of_pairs = inside().flat_map(|(&(i, j), _)| [i as usize, j as usize]);
        let mut rows_of = Counted::rows(rows, of_pairs.chain(0..rows));
        let (mut columns, mut values) = (vec![0u32; rows_of.entries()], vec![0.0; rows_of.entries()]);
        let mut put = |row: usize, column: u32, value: f64| {
            let at = rows_of.place(row);
            (columns[at], values[at]) = (column, value);
        };
        // What is left of the diagonal comes by ascending columns, then the diagonal, then what is right of it.
        inside().for_each(|(&(i, j), w)| put(j as usize, i, -w));
        (0..rows).for_each(|i| put(i, i as u32, diagonal[i]));
        inside().for_each(|(&(i, j), w)| put(i as usize, j, -w));
        SparseSymmetric::from_parts(rows_of.offsets, columns, values)
    }

    /// From the diagonal, and for every row the columns beside it, ascending, and their values; `entries` is the number of
    /// those.
    pub fn with_diagonal<'a, V: Iterator<Item = f64>>(
        diagonal: &[f64],
        entries: usize,
        mut row: impl FnMut(usize) -> (&'a [u32], V),
    ) -> SparseSymmetric {
        let n = diagonal.len();
        let (mut offsets, mut columns) = (Vec::with_capacity(n + 1), Vec::with_capacity(entries + n));
        let mut values = Vec::with_capacity(entries + n);
        offsets.push(0);
        for (i, &own) in diagonal.iter().enumerate() {
            let (beside, mut entries) = row(i);
            let before = beside.partition_point(|&j| (j as usize) < i);
            columns.extend_from_slice(&beside[..before]);
            values.extend(entries.by_ref().take(before));
            columns.push(i as u32);
            values.push(own);
            columns.extend_from_slice(&beside[before..]);
            values.extend(entries);
            offsets.push(columns.len());
        }
        SparseSymmetric::from_parts(offsets, columns, values)
    }

    /// The number of stored entries.
    pub fn entry_count(&self) -> usize {
        self.columns.len()
    }

    /// The columns of the entries of row `i`, ascending.
    pub fn row_columns(&self, i: usize) -> &[u32] {
        &self.columns[self.offsets[i]..self.offsets[i + 1]]
    }

    /// The entries of row `i`, by ascending column.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.columns[range.clone()].iter().map(|&j| j as usize).zip(self.values[range].iter().copied())
    }

    /// The diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.dim()).map(|i| self.row(i).find(|&(j, _)| j == i).map_or(0.0, |(_, v)| v)).collect()
    }

    /// Gershgorin's bound on the largest eigenvalue.
    pub fn norm_bound(&self) -> f64 {
        let sum = |i: usize| self.row(i).map(|(_, v)| v.abs()).sum::<f64>();
        parallel::largest(self.dim(), sum)
    }

    /// S A S for the diagonal S.
    pub fn scaled(&self, s: &[f64]) -> SparseSymmetric {
        let mut values = vec![0.0; self.values.len()];
        parallel::each_of(by_rows(&self.offsets, &mut values), |_, (rows, values)| {
            let entries = rows.flat_map(|i| self.row(i).map(move |(j, value)| value * s[i] * s[j]));
            values.iter_mut().zip(entries).for_each(|(value, entry)| *value = entry);
        });
        SparseSymmetric { offsets: self.offsets.clone(), columns: self.columns.clone(), values }
    }

    /// S P A Pᵀ S: rows and columns in another order, `order[i]` becoming row i, and then scaled.
    pub fn reordered(&self, order: &[u32], scale: Option<&[f64]>) -> SparseSymmetric {
        let position = positions(order);
        let mut offsets = Vec::with_capacity(order.len() + 1);
        offsets.push(0);
        for (row, &i) in order.iter().enumerate() {
            offsets.push(offsets[row] + self.row_columns(i as usize).len());
        }
        let (mut columns, mut values) = (vec![0u32; self.columns.len()], vec![0.0; self.values.len()]);
        let rows = by_rows(&offsets, &mut columns).into_iter().zip(by_rows(&offsets, &mut values));
        parallel::each_of(rows, |_, ((rows, mut columns), (_, mut values))| {
            let mut list: Vec<(u32, f64)> = Vec::new();
            for row in rows {
                list.clear();
                list.extend(self.row(order[row] as usize).map(|(j, value)| (position[j], value)));
                list.sort_unstable_by_key(|entry| entry.0);
                let (own_columns, other_columns) = columns.split_at_mut(list.len());
                let (own_values, other_values) = values.split_at_mut(list.len());
                for ((column, value), &(j, entry)) in own_columns.iter_mut().zip(own_values).zip(&list) {
                    *column = j;
                    *value = scale.map_or(entry, |scale| entry * scale[row] * scale[j as usize]);
                }
                (columns, values) = (other_columns, other_values);
            }
        });
        SparseSymmetric { offsets, columns, values }
    }

    /// The matrix with `value` added to diagonal entry `i`.
    pub fn with_added(&self, i: usize, value: f64) -> SparseSymmetric {
        let mut sum = self.clone();
        let place = self.row_columns(i).iter().position(|&j| j as usize == i);
        if let Some(place) = place {
            sum.values[self.offsets[i] + place] += value;
        }
        sum
    }

    /// The dense matrix.
    pub fn to_dense(&self) -> faer::Mat<f64> {
        let mut dense = faer::Mat::zeros(self.dim(), self.dim());
        for i in 0..self.dim() {
            for (j, value) in self.row(i) {
                dense[(i, j)] = value;
            }
        }
        dense
    }

    /// One block product with the block's rows contiguous: `out[i, ·] = Σⱼ a[i,j] x[j, ·]`.
    pub(crate) fn apply_rows(&self, lanes: usize, x: &[f64], out: &mut [f64]) {
        debug_assert!(x.len() == out.len() && x.len() == lanes * self.dim());
        parallel::chunks_mut(out, ROWS * lanes, |chunk, out| {
            let kernel = RowsKernel { matrix: self, first: chunk * ROWS, lanes, x, out };
            pulp::Arch::new().dispatch(kernel);
        });
    }
}

struct RowsKernel<'a> {
    matrix: &'a SparseSymmetric,
    first: usize,
    lanes: usize,
    x: &'a [f64],
    out: &'a mut [f64],
}

impl pulp::WithSimd for RowsKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        match self.lanes {
            1 => self.run::<1>(),
            2 => self.run::<2>(),
            4 => self.run::<4>(),
            8 => self.run::<8>(),
            _ => self.run_any(),
        }
    }
}

impl RowsKernel<'_> {
    #[inline(always)]
    fn run<const LANES: usize>(self) {
        let (x, _) = self.x.as_chunks::<LANES>();
        let (out, _) = self.out.as_chunks_mut::<LANES>();
        for (row, out) in out.iter_mut().enumerate() {
            let mut sum = [0.0; LANES];
            for (j, value) in self.matrix.row(self.first + row) {
                let x = &x[j];
                for lane in 0..LANES {
                    sum[lane] += value * x[lane];
                }
            }
            *out = sum;
        }
    }

    #[inline(always)]
    fn run_any(self) {
        for (row, out) in self.out.chunks_exact_mut(self.lanes).enumerate() {
            out.fill(0.0);
            for (j, value) in self.matrix.row(self.first + row) {
                for (sum, x) in out.iter_mut().zip(&self.x[j * self.lanes..]) {
                    *sum += value * x;
                }
            }
        }
    }
}

impl Operator for SparseSymmetric {
    fn dim(&self) -> usize {
        self.offsets.len() - 1
    }

    fn apply(&self, x: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        // In groups of columns that the kernel keeps in registers.
        let mut first = 0;
        while first < x.ncols() {
            let rest = x.ncols() - first;
            let lanes = if rest >= 8 { 8 } else { 1 << rest.ilog2() };
            let rows = to_rows(x.subcols(first, lanes));
            let mut image = vec![0.0; rows.len()];
            self.apply_rows(lanes, &rows, &mut image);
            from_rows(&image, out.as_mut().subcols_mut(first, lanes));
            first += lanes;
        }
    }
}

/// The entries of a matrix cut at row ends into chunks for parallel work, each with its rows.
pub fn by_rows<'a, T>(offsets: &[usize], mut entries: &'a mut [T]) -> Vec<(Range<usize>, &'a mut [T])> {
    let n = offsets.len() - 1;
    let mut chunks = Vec::with_capacity(n.div_ceil(ROWS));
    for start in (0..n).step_by(ROWS) {
        let end = (start + ROWS).min(n);
        let (chunk, rest) = entries.split_at_mut(offsets[end] - offsets[start]);
        chunks.push((start..end, chunk));
        entries = rest;
    }
    chunks
}

/// A block of vectors with its rows contiguous.
pub(crate) fn to_rows(x: MatRef<'_, f64>) -> Vec<f64> {
    let lanes = x.ncols();
    let mut rows = vec![0.0; x.nrows() * lanes];
    parallel::chunks_mut(&mut rows, ROWS * lanes, |chunk, rows| {
        for (q, column) in x.col_iter().enumerate() {
            for (i, row) in rows.chunks_exact_mut(lanes).enumerate() {
                row[q] = column[chunk * ROWS + i];
            }
        }
    });
    rows
}

/// The inverse of [`to_rows`].
pub(crate) fn from_rows(rows: &[f64], out: MatMut<'_, f64>) {
    let lanes = out.ncols();
    parallel::each_of(row_chunks_mut(out, ROWS), |chunk, mut out| {
        for (i, row) in rows[chunk * ROWS * lanes..].chunks_exact(lanes).enumerate().take(out.nrows()) {
            for (q, &value) in row.iter().enumerate() {
                out[(i, q)] = value;
            }
        }
    });
}

/// A matrix whose rows are sums: each output row is gathered on its own, so the rows are computed in parallel and the
/// sums have one order.
fn gathered(n: usize, contribute: impl Fn(usize, &mut RowSum) + Sync) -> SparseSymmetric {
    // A row is told by its number, so that the sums need not be cleared from one chunk to the next: with sums of its own for
    // every chunk the time would grow as n².
    let sums = Scratch::new(|| RowSum {
        row: 0,
        sums: vec![0.0; n],
        seen: vec![u32::MAX; n],
        pattern: Vec::with_capacity(64),
    });
    let chunks = parallel::collect(n.div_ceil(ROWS), |chunk| {
        sums.lend(|sum| {
            let mut part = SomeRows::default();
            for i in chunk * ROWS..((chunk + 1) * ROWS).min(n) {
                sum.row = i as u32;
                sum.pattern.clear();
                contribute(i, sum);
                sum.pattern.sort_unstable();
                part.columns.extend_from_slice(&sum.pattern);
                part.values.extend(sum.pattern.iter().map(|&j| sum.sums[j as usize]));
                part.ends.push(part.columns.len());
            }
            part
        })
    });
    let (offsets, columns, values) = joined(chunks);
    SparseSymmetric { offsets, columns, values }
}

/// One row of a matrix as its entries come in.
struct RowSum {
    row: u32,
    sums: Vec<f64>,
    /// The last row that had an entry in each column.
    seen: Vec<u32>,
    pattern: Vec<u32>,
}

impl RowSum {
    #[inline(always)]
    fn add(&mut self, column: u32, value: f64) {
        let j = column as usize;
        if self.seen[j] == self.row {
            self.sums[j] += value;
        } else {
            self.seen[j] = self.row;
            self.sums[j] = value;
            self.pattern.push(column);
        }
    }
}

/// The transposed pattern, with a value of each entry from its place and row; rows of the transpose ascend because the
/// source rows are visited in order.
fn transpose<T: Copy + Default>(
    n: usize,
    offsets: &[usize],
    columns: &[u32],
    value: impl Fn(usize, usize) -> T,
) -> (Vec<usize>, Vec<u32>, Vec<T>) {
    let mut turned = Counted::rows(n, columns.iter().map(|&j| j as usize));
    let (mut rows, mut transposed) = (vec![0u32; columns.len()], vec![T::default(); columns.len()]);
    for i in 0..n {
        for at in offsets[i]..offsets[i + 1] {
            let to = turned.place(columns[at] as usize);
            (rows[to], transposed[to]) = (i as u32, value(at, i));
        }
    }
    (turned.offsets, rows, transposed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    /// A = [[1, −1, 0], [0, 1, −1], [0, 0, 1]] has AᵀA = [[1, −1, 0], [−1, 2, −1], [0, −1, 2]].
    fn path() -> SparseSymmetric {
        SparseSymmetric::gram(&[0, 2, 4, 5], &[0, 1, 1, 2, 2], &[1.0, -1.0, 1.0, -1.0, 1.0])
    }

    #[test]
    fn the_gram_of_a_bidiagonal_matrix_is_tridiagonal() {
        let expected = faer::mat![[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]];
        assert_eq!(path().to_dense(), expected);
        assert_eq!(path().diagonal(), [1.0, 2.0, 2.0]);
        assert_eq!(path().norm_bound(), 4.0);
    }

    #[test]
    fn the_weights_of_a_triangle_make_its_laplacian() {
        let ends = [(0, 1), (0, 2), (1, 2)];
        let expected = faer::mat![[4.0, -1.0, -3.0], [-1.0, 6.0, -5.0], [-3.0, -5.0, 8.0]];
        assert_eq!(SparseSymmetric::laplacian(3, &ends, &[1.0, 3.0, 5.0], 0.0).to_dense(), expected);
        let cut = SparseSymmetric::laplacian(2, &ends, &[1.0, 3.0, 5.0], 0.5);
        assert_eq!(cut.to_dense(), faer::mat![[4.5, -1.0], [-1.0, 6.5]]);
    }

    #[test]
    fn patches_add_up_where_they_overlap() {
        // Two edges between 0 and 1, one between 1 and 2.
        let spring = [1.0, -1.0, 1.0];
        let sum = SparseSymmetric::of_patches(&[0, 2, 4, 6], &[0, 1, 1, 0, 2, 1], &[0, 3, 6, 9], &spring.repeat(3));
        assert_eq!(sum.to_dense(), faer::mat![[2.0, -2.0, 0.0], [-2.0, 3.0, -1.0], [0.0, -1.0, 1.0]]);
    }

    #[test]
    fn products_with_any_number_of_columns_match_the_dense_one() {
        for lanes in [1, 2, 3, 4, 8] {
            let x = Mat::from_fn(3, lanes, |i, q| (i * 5 + q * 3) as f64 - 4.0);
            let mut out = Mat::zeros(3, lanes);
            path().apply(x.as_ref(), out.as_mut());
            assert_eq!(out, path().to_dense() * x);
        }
    }
}

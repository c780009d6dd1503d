//! Symmetric matrices that are zero outside the diagonal and the edges of a graph.
//!
//! Such a matrix is kept as one vector: its diagonal, then the entry of every edge once.

use eigenfold_graph::Undirected;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use eigenfold_linalg::sparse::rows::Counted;

/// Rows per chunk of parallel work.
const ROWS: usize = 256;

/// The sparsity pattern of a matrix.
pub(crate) struct Support {
    pub(crate) n: usize,
    /// The edges (i, j), i < j, ascending.
    pub(crate) ends: Vec<(u32, u32)>,
    /// Row by row the columns, ascending and with the diagonal, ...
    offsets: Vec<usize>,
    columns: Vec<u32>,
    /// ... and the index of the entry in the vector.
    places: Vec<u32>,
}

impl Support {
    /// The diagonal and the edges of a graph.
    pub(crate) fn new(graph: &Undirected) -> Support {
        Support::of_edges(graph.len(), graph.pairs().map(|(i, j, _)| (i, j)).collect())
    }

    fn of_edges(n: usize, ends: Vec<(u32, u32)>) -> Support {
        let mut rows = Counted::rows(n, ends.iter().flat_map(|&(i, j)| [i as usize, j as usize]).chain(0..n));
        let (mut columns, mut places) = (vec![0u32; rows.entries()], vec![0u32; rows.entries()]);
        let mut put = |row: u32, column: u32, place: usize| {
            let at = rows.place(row as usize);
            (columns[at], places[at]) = (column, place as u32);
        };
        // Edges ascend: what is left of the diagonal comes by columns, then the diagonal, then what is right of it.
        for (e, &(i, j)) in ends.iter().enumerate() {
            put(j, i, n + e);
        }
        (0..n as u32).for_each(|i| put(i, i, i as usize));
        for (e, &(i, j)) in ends.iter().enumerate() {
            put(i, j, n + e);
        }
        Support { n, ends, offsets: rows.offsets, columns, places }
    }

    /// The length of the vector that stores a matrix.
    pub(crate) fn len(&self) -> usize {
        self.n + self.ends.len()
    }

    /// ⟨A, B⟩ = tr AB.
    pub(crate) fn inner(&self, a: &[f64], b: &[f64]) -> f64 {
        let sum =
            |range: std::ops::Range<usize>| a[range.clone()].iter().zip(&b[range]).map(|(a, b)| a * b).sum::<f64>();
        sum(0..self.n) + 2.0 * sum(self.n..self.len())
    }

    /// The matrix itself; edges with the entry zero are kept.
    pub(crate) fn matrix(&self, a: &[f64]) -> SparseSymmetric {
        let values = self.places.iter().map(|&place| a[place as usize]).collect();
        SparseSymmetric::from_parts(self.offsets.clone(), self.columns.clone(), values)
    }

    /// The matrix without the edges whose entry is zero.
    pub(crate) fn sparsest(&self, a: &[f64]) -> SparseSymmetric {
        let kept = self.ends.iter().enumerate().filter(|(e, _)| a[self.n + e] != 0.0);
        let (numbers, ends): (Vec<usize>, Vec<(u32, u32)>) = kept.map(|(e, &ends)| (e, ends)).unzip();
        let values: Vec<f64> = a[..self.n].iter().copied().chain(numbers.iter().map(|e| a[self.n + e])).collect();
        Support::of_edges(self.n, ends).matrix(&values)
    }

    /// A B A on the support: row i of A B is spread over the points two steps away, and gathered by the rows of A.
    pub(crate) fn sandwich(&self, a: &[f64], b: &[f64]) -> Vec<f64> {
        let row = |i: usize| {
            let range = self.offsets[i]..self.offsets[i + 1];
            self.columns[range.clone()].iter().zip(&self.places[range]).map(|(&j, &place)| (j as usize, place as usize))
        };
        let components: Vec<Vec<(usize, f64)>> = parallel::collect(self.n.div_ceil(ROWS), |component| {
            let (mut spread, mut out) = (vec![0.0; self.n], Vec::new());
            for i in component * ROWS..((component + 1) * ROWS).min(self.n) {
                for (k, place) in row(i) {
                    row(k).for_each(|(l, at)| spread[l] += a[place] * b[at]);
                }
                for (j, place) in row(i).filter(|&(j, _)| j >= i) {
                    out.push((place, row(j).map(|(l, at)| spread[l] * a[at]).sum()));
                }
                for (k, _) in row(i) {
                    row(k).for_each(|(l, _)| spread[l] = 0.0);
                }
            }
            out
        });
        let mut product = vec![0.0; self.len()];
        for (place, value) in components.into_iter().flatten() {
            product[place] = value;
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_graph::Graph;
    use eigenfold_linalg::Operator;

    #[test]
    fn a_sandwich_is_that_of_the_dense_matrices() {
        let lists = vec![vec![(1, 1.0), (3, 1.0)], vec![(2, 1.0)], vec![(3, 1.0)], vec![(4, 1.0)], vec![]];
        let support = Support::new(&Graph::from_lists(lists).unwrap().union());
        let number = |at: usize, by: f64| ((at as f64 + 1.0) * by).sin() + 0.1;
        let a: Vec<f64> = (0..support.len()).map(|at| number(at, 1.3)).collect();
        let b: Vec<f64> = (0..support.len()).map(|at| number(at, 2.7)).collect();
        let (dense_a, dense_b) = (support.matrix(&a).to_dense(), support.matrix(&b).to_dense());
        let dense = &dense_a * &dense_b * &dense_a;
        let ours = support.sandwich(&a, &b);
        for i in 0..support.n {
            assert!((ours[i] - dense[(i, i)]).abs() < 1e-14);
        }
        for (e, &(i, j)) in support.ends.iter().enumerate() {
            assert!((ours[support.n + e] - dense[(i as usize, j as usize)]).abs() < 1e-14);
        }
        let trace: f64 = (0..support.n).map(|i| (&dense_a * &dense_b)[(i, i)]).sum();
        assert!((support.inner(&a, &b) - trace).abs() < 1e-13);
        let mut cut = a;
        cut[support.n] = 0.0;
        assert_eq!(support.sparsest(&cut).entry_count(), support.matrix(&cut).entry_count() - 2);
        assert_eq!(support.sparsest(&cut).dim(), 5);
        assert_eq!(support.sparsest(&cut).to_dense(), support.matrix(&cut).to_dense());
    }
}

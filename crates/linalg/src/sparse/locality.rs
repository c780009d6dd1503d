//! An order of the rows in which neighbors are close in memory: breadth first along the graph of the matrix.
//!
//! Rows come in the order of a file, and if that is a random one, every entry of a large matrix is a miss of the cache: in
//! products, in the search for an order of elimination, and in solves. Breadth first, the neighbors of a row are within the
//! width of two levels.
//!
//! E. Cuthill, J. McKee. Reducing the bandwidth of sparse symmetric matrices. Proc. 24th ACM National Conference, 1969.

/// From this many rows on the order of the rows in memory matters.
pub const LARGE: usize = 100_000;

/// The row at each position of the order; every component starts at its first row. What a row leads to is in `beside`.
pub fn breadth_first<'a>(n: usize, beside: impl Fn(usize) -> &'a [u32]) -> Vec<u32> {
    let mut order = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    for start in 0..n {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut next = order.len();
        order.push(start as u32);
        while next < order.len() {
            for &j in beside(order[next] as usize) {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    order.push(j);
                }
            }
            next += 1;
        }
    }
    order
}

/// The position of each row in an order.
pub fn positions(order: &[u32]) -> Vec<u32> {
    let mut position = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(row, &i)| position[i as usize] = row as u32);
    position
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operator;
    use crate::sparse::matrix::SparseSymmetric;
    use faer::Mat;

    /// Two paths, 0 - 2 - 4 - 1 and 3 - 5.
    fn paths() -> SparseSymmetric {
        let ends = [(0, 2), (1, 4), (2, 4), (3, 5)];
        SparseSymmetric::laplacian(6, &ends, &[1.0, 2.0, 3.0, 4.0], 0.5)
    }

    fn locality(a: &SparseSymmetric) -> Vec<u32> {
        breadth_first(a.dim(), |i| a.row_columns(i))
    }

    #[test]
    fn every_component_is_walked_from_its_first_row() {
        assert_eq!(locality(&paths()), [0, 2, 4, 1, 3, 5]);
    }

    #[test]
    fn a_matrix_in_another_order_is_the_same_operator() {
        let (a, scale) = (paths(), [1.0, 0.5, 2.0, 3.0, 0.25, 1.5]);
        let order = locality(&a);
        let b = a.reordered(&order, Some(&scale));
        let dense = a.to_dense();
        let expected = Mat::from_fn(6, 6, |i, j| dense[(order[i] as usize, order[j] as usize)] * scale[i] * scale[j]);
        assert_eq!(b.to_dense(), expected);
        assert_eq!(a.reordered(&order, None).diagonal(), [1.5, 4.5, 5.5, 2.5, 4.5, 4.5]);
        assert_eq!(a.reordered(&order, None).reordered(&positions(&order), None), a);
        assert_eq!(b.dim(), 6);
        assert!((0..6).all(|i| b.row_columns(i).is_sorted()));
    }
}

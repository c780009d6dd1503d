//! What a field expects: how far each point is from the mean, and the ends of each edge from each other.
//!
//! With K the field's covariance, read centered (K ← H K H),
//!
//! ```text
//! variance of point i = K[i,i]        squared distance of i and j = K[i,i] − 2 K[i,j] + K[j,j]
//! ```
//!
//! Both need K on the diagonal and on the edges alone: the selected inverse of the precision has them, at the price of
//! about two factors. Where constants are free one point is grounded, which changes no distance; with G the inverse then,
//! K = H G H.

use super::Field;
use crate::error::{Error, Result};
use crate::graph::Undirected;
use crate::linalg::Operator;
use crate::linalg::cholesky::Analysis;
use crate::linalg::selected::Tree;
use crate::linalg::sparse::SparseSymmetric;
use faer::Mat;
use std::borrow::Cow;

/// What A1 may be, relative to A, where constants are free.
const FREE: f64 = 1e-9;

/// Expectations of one feature under a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The variance of each point about the mean of all.
    pub variances: Vec<f64>,
    /// The squared distance of the ends of each edge (i, j), i < j, ascending.
    pub squares: Vec<(u32, u32, f64)>,
}

impl Field {
    /// The variances of the points and the squared distances along the edges of a graph that the field expects, of one
    /// feature; nothing if the field is a covariance, whose coordinates say it.
    ///
    /// # Errors
    ///
    /// If the graph is not over the field's points, the precision is singular beyond its constants, or its factor does
    /// not fit into memory.
    pub fn expected(&self, graph: &Undirected) -> Result<Option<Expected>> {
        let matrix = match self {
            Field::Precision { matrix, .. } | Field::Definite { matrix, .. } => Cow::Borrowed(matrix),
            Field::Root(root) => Cow::Owned(root.precision()),
            Field::Factor(_) | Field::Covariance(_) => return Ok(None),
        };
        let n = matrix.dim();
        if graph.len() != n {
            let count = graph.len();
            return Err(Error::parameter(format!(
                "the graph has {count} points and the field {n}; give its own graph"
            )));
        }
        // Grounding by a large entry on the diagonal keeps the pattern; its size cancels in what is read off.
        let norm = matrix.norm_bound().max(f64::MIN_POSITIVE);
        let free = (0..n).all(|i| matrix.row(i).map(|(_, v)| v).sum::<f64>().abs() <= FREE * norm);
        let ground = if free { norm } else { 0.0 };
        let proper = joined(&matrix, graph, ground);
        let singular = || Error::Numerical("the field's precision is singular; use more regularization".into());
        let factor = Analysis::new(&proper)?.factor(&proper, 0.0)?.ok_or_else(singular)?;
        let tree = Tree::new(&factor).ok_or_else(singular)?;
        let inverse = tree.inverse(&factor).ok_or_else(singular)?;
        let at = |i: usize, j: usize| Ok(inverse.at(tree.place(&factor, i, j).ok_or_else(singular)?));
        let own = (0..n).map(|i| at(i, i)).collect::<Result<Vec<f64>>>()?;
        let mut sums = Mat::from_fn(n, 1, |_, _| 1.0);
        factor.solve(sums.as_mut());
        let all = (0..n).map(|i| sums[(i, 0)]).sum::<f64>() / n as f64;
        let variances = (0..n).map(|i| own[i] - (2.0 * sums[(i, 0)] - all) / n as f64).collect();
        let mut squares = Vec::new();
        for i in 0..n {
            for &j in graph.neighbors(i).iter().filter(|&&j| j as usize > i) {
                squares.push((i as u32, j, own[i] + own[j as usize] - 2.0 * at(i, j as usize)?));
            }
        }
        Ok(Some(Expected { variances, squares }))
    }
}

/// A matrix with `ground` added to its first diagonal entry, and with the edges of a graph in its pattern.
fn joined(matrix: &SparseSymmetric, graph: &Undirected, ground: f64) -> SparseSymmetric {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut row: Vec<(u32, f64)> = Vec::new();
    for i in 0..matrix.dim() {
        row.clear();
        row.extend(matrix.row(i).map(|(j, value)| (j as u32, value)));
        row.extend(graph.neighbors(i).iter().map(|&j| (j, 0.0)));
        row.push((i as u32, if i == 0 { ground } else { 0.0 }));
        row.sort_unstable_by_key(|entry| entry.0);
        for &(j, value) in &row {
            if columns.len() > offsets[i] && columns.last() == Some(&j) {
                if let Some(last) = values.last_mut() {
                    *last += value;
                }
            } else {
                columns.push(j);
                values.push(value);
            }
        }
        offsets.push(columns.len());
    }
    SparseSymmetric::from_parts(offsets, columns, values)
}

//! Rescaling of a map: the unfolding within the span of its first coordinates, and a bound of its distance from the
//! largest variance.

use crate::field::unfolding::bound::best_bound;
use crate::field::unfolding::{Constraints, Pairs, subspace};
use eigenfold_graph::Graph;
use eigenfold_graph::points::Points;
use eigenfold_linalg::Operator;
use eigenfold_linalg::dense::sign;
use eigenfold_linalg::dense::{product, symmetric_eigen};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// The maximum number of coordinates: the work grows with their fourth power and more.
pub(crate) const MOST: usize = 40;
/// The relative gap of the two bounds within the subspace.
const TOLERANCE: f64 = 1e-6;

/// The share of the largest possible variance that a rescaled map has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rescaling {
    /// The variance of the unfolding within the first coordinates of the method, all of them.
    pub primal: f64,
    /// An upper bound of the variance within their span.
    pub dual: f64,
    /// An upper bound over all embeddings, in any number of dimensions, that keep the distances of the graph; the best
    /// of the weights that were tried ([`mvu_upper_bound`](super::mvu_upper_bound)), where its eigenvalue could be computed.
    pub bound: Option<f64>,
    /// `primal / bound`: the map has at least this fraction of the largest variance.
    pub part: Option<f64>,
    /// The eigenvalues of the unfolding as fractions of their sum, largest first: an indication of its dimension.
    pub spectrum: Vec<f64>,
    /// Interior-point steps.
    pub steps: usize,
}

impl Rescaling {
    /// A warning, if the share is low or unknown.
    pub(crate) fn warning(&self) -> Option<String> {
        let way_out = "a larger `rescale` or the coordinates of another method may have more";
        match self.part {
            None => Some(
                "the fraction of the largest possible variance that the rescaled map has could not be computed".into(),
            ),
            Some(part) if part < 0.5 => Some(format!(
                "the rescaled map may have only {:.0} % of the variance that its distances allow; {way_out}",
                (100.0 * part).floor()
            )),
            Some(_) => None,
        }
    }
}

/// A rescaled map and its diagnostics.
pub(crate) struct Rescaled {
    /// One row per point of the input, in as many dimensions as there were columns.
    pub(crate) coordinates: Mat<f64>,
    /// The eigenvalues of K, largest first.
    pub(crate) eigenvalues: Vec<f64>,
    pub(crate) rescaling: Rescaling,
    pub(crate) converged: bool,
}

/// The unfolding within the columns of a map; `own` is the precision of the method, if it has one over all points.
///
/// # Errors
///
/// If all neighbors coincide, or the map does not vary.
pub(crate) fn rescale(
    graph: &Graph,
    map: &Points,
    own: Option<&SparseSymmetric>,
    memory: u64,
    observer: &dyn Observer,
) -> Result<Rescaled> {
    let pairs = Pairs::new(graph, Constraints::Edges, None)?;
    let map = Mat::from_fn(map.rows(), map.cols(), |i, q| map.row(i)[q]);
    let basis = subspace::orthonormal(&pairs, map.as_ref())?;
    let found = subspace::solve(&pairs, basis.as_ref(), TOLERANCE, observer)?;
    let (values, vectors) = symmetric_eigen(found.q.as_ref())?;
    let values: Vec<f64> = values.iter().map(|value| value.max(0.0)).collect();
    let turned = product(basis.as_ref(), vectors.as_ref());
    let length = |q: usize| sign(turned.as_ref(), q) * values[q].sqrt() * pairs.unit;
    let lengths: Vec<f64> = (0..values.len()).map(length).collect();
    let coordinates = Mat::from_fn(map.nrows(), map.ncols(), |i, q| {
        if q < lengths.len() { lengths[q] * turned[(pairs.of[i] as usize, q)] } else { 0.0 }
    });
    let square = pairs.unit.powi(2);
    let bound = best_bound(&pairs, own.and_then(|own| weights_of(&pairs, own)), memory, observer);
    let primal = found.primal * square;
    let total: f64 = values.iter().sum();
    let rescaling = Rescaling {
        primal,
        dual: found.dual * square,
        bound,
        part: bound.map(|bound| primal / bound),
        spectrum: values.iter().map(|value| value / total).collect(),
        steps: found.iterations,
    };
    let eigenvalues = values.iter().map(|value| value * square).collect();
    Ok(Rescaled { coordinates, eigenvalues, rescaling, converged: found.converged })
}

/// The weights of a precision that is a Laplacian; `None` if an off-diagonal entry is positive.
fn weights_of(pairs: &Pairs, precision: &SparseSymmetric) -> Option<Vec<f64>> {
    let mut w = vec![0.0; pairs.ends.len()];
    for i in 0..precision.dim() {
        for (j, value) in precision.row(i).filter(|&(j, _)| j > i) {
            if value > 0.0 {
                return None;
            }
            if let Some(e) = pairs.place(i as u32, j as u32) {
                w[e] -= value;
            }
        }
    }
    Some(w)
}

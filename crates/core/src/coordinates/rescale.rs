//! After stage 3: the lengths of a map corrected, see [`Rescaling`].

use super::Map;
use crate::ended::Ended;
use crate::field::unfolding::{self, Rescaling};
use crate::field::{Field, by_points};
use crate::warning::Warning;
use eigenfold_graph::Graph;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::Observer;

/// The first `dims` coordinates of the largest variance in the span of the map that makes no neighbors farther apart.
/// They are no longer eigenvectors of the field, and the eigenvalues are those of the unfolding.
pub(crate) fn rescale(
    map: &mut Map,
    dims: usize,
    graph: &Graph,
    field: Option<&Field>,
    memory: u64,
    observer: &dyn Observer,
) -> Result<Rescaling> {
    let n = map.coordinates.rows();
    let own = match field {
        Some(field @ Field::Precision { matrix, order, .. }) => {
            field.is_precision_of(n).then(|| by_points(matrix, order.as_deref()))
        }
        _ => None,
    };
    let found = unfolding::rescale(graph, &map.coordinates, own.as_deref(), memory, observer)?;
    let diagnostics = &mut map.diagnostics;
    diagnostics.eigenvalues = found.eigenvalues;
    diagnostics.eigenvalues.resize(diagnostics.eigenvalues.len().max(dims), 0.0);
    diagnostics.residuals.resize(diagnostics.eigenvalues.len(), 0.0);
    diagnostics.ended = diagnostics.ended.max(Ended::of(found.converged, observer.stop()));
    diagnostics.warnings.extend(found.rescaling.warning().map(Warning::NotConverged));
    let values = (0..n).flat_map(|i| (0..dims).map(move |q| (i, q))).map(|at| found.coordinates[at]);
    map.coordinates = Points::computed(n, dims, values.collect())?;
    Ok(found.rescaling)
}

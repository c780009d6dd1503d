//! Hessian locally linear embedding: over every patch the coordinates have no second derivatives in its tangent space.
//!
//! ```text
//! [1, θ₁, ..., θ_d]              orthonormal, as in tangent space alignment
//! Hᵢ = the products θ_a θ_b (a ≤ b), orthonormalized against those and each other: d(d+1)/2 rows
//! precision Σᵢ Sᵢ [(1 − r) HᵢᵀHᵢ + r (I − BᵢᵀBᵢ)] Sᵢᵀ        Bᵢ the rows 1, θ₁, ..., θ_d
//! ```
//!
//! A row of Hᵢ estimates a second derivative of the function it is applied to; these rows are the method. The small
//! multiple r of the complement of the tangent space determines what they leave open: a cluster of points that share
//! one patch has d(d+1)/2 rows for all of them together, and on a curve (d = 1) every segment is such a cluster. With r
//! = 0 the method is as published, with r = 1 it would be tangent space alignment.
//!
//! D. L. Donoho, C. Grimes. Hessian eigenmaps: locally linear embedding techniques for high-dimensional data. PNAS
//! 100(10), 2003.

use crate::extend;
use crate::field::local::patches::{data, glue};
use crate::field::{Basis, Build, Built, CoordinateScale, Field, Info, InputKind, Site};
use crate::input::tangent::Tangent;
use crate::parameter::{Kind, Parameter, Table, field};
use crate::warning::Warning;
use eigenfold_linalg::dense::small::{add_outer, orthonormalize};
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A product that lies in the span of the others up to this fraction of its length is dropped.
const DEPENDENT: f64 = 1e-6;

/// Hessian locally linear embedding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HessianLle {
    /// r: the weight of the LTSA penalty mixed into the Hessian penalty; 0 = the published method, 1 = LTSA.
    pub regularization: f64,
}

impl Default for HessianLle {
    fn default() -> HessianLle {
        HessianLle { regularization: 1e-3 }
    }
}

impl Table for HessianLle {
    const METHOD: &'static str = "hessian-lle";
    const TABLE: &'static [Parameter<HessianLle>] = &[Parameter::new(
        "regularization",
        "the weight of the LTSA penalty mixed into the Hessian penalty; 0 = the published method, 1 = LTSA",
        Kind::number(0.0, 1.0),
        field!(regularization),
    )];
}

impl Build for HessianLle {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["hlle", "hessian-eigenmaps", "hessian-locally-linear-embedding"],
            summary: "LLE with a local Hessian penalty, which is zero for coordinates that are linear along the manifold",
            title: "Hessian LLE",
            good_for: "the shape of a smooth manifold, also with holes, up to an affine map",
            caution: "Axes are scaled to unit variance: lengths and the aspect ratio are not those of the data. It needs an even, dense sample.",
            basis: Basis::Precision,
            paper: "Donoho & Grimes 2003",
            accepts: InputKind::MEASURED,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let (graph, d) = (site.graph()?, site.dims);
        let data = data(site, graph, self.info().name, d * (d + 3) / 2)?;
        let degenerate = AtomicUsize::new(0);
        let (matrix, order) = glue(site, graph, |_, members, form| {
            let tangent = Tangent::new(data, members, d);
            tangent.bending(form);
            if let Some(rows) = hessian(&tangent, d) {
                form.iter_mut().for_each(|v| *v *= self.regularization);
                add_outer(&rows, tangent.size, 1.0 - self.regularization, form);
            } else {
                degenerate.fetch_add(1, Ordering::Relaxed);
            }
        })?;
        let mut warnings = Vec::new();
        let count = degenerate.into_inner();
        if count > 0 {
            warnings.push(Warning::Approximate(format!(
                "{count} patches do not determine second derivatives (coinciding points, or points on a line or a \
                 grid) and were aligned by their tangent spaces; a larger `neighbors` may help"
            )));
        }
        let field = Field::Precision { matrix, order, normalization: None, scale: CoordinateScale::Unit };
        Ok(Built { warnings, ..Built::new(field, extend::Tangent) })
    }
}

/// The rows that estimate the second derivatives over a patch, orthonormal; `None` if they are not independent.
fn hessian(tangent: &Tangent, dims: usize) -> Option<Vec<f64>> {
    if tangent.rank() < dims {
        return None;
    }
    let mut basis = tangent.basis.clone();
    for a in 0..dims {
        for b in a..dims {
            let (x, y) = (tangent.coordinate(a), tangent.coordinate(b));
            let mut product: Vec<f64> = x.iter().zip(y).map(|(x, y)| x * y).collect();
            if !orthonormalize(&mut product, &basis, DEPENDENT) {
                return None;
            }
            basis.extend(product);
        }
    }
    Some(basis.split_off(tangent.basis.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Measured;
    use eigenfold_graph::points::Points;

    #[test]
    fn quadratics_are_seen_linear_functions_and_cubics_across_are_not() {
        // A square grid of 25 points: x³ − its linear part is orthogonal to all quadratics by symmetry.
        let at = |i: usize| [(i % 5) as f64 - 2.0, (i / 5) as f64 - 2.0];
        let points = Points::from_rows(&(0..25).map(at).collect::<Vec<_>>()).unwrap();
        let members: Vec<u32> = (0..25).collect();
        let rows =
            hessian(&Tangent::new(Measured::Points(&points, eigenfold_graph::Metric::Euclidean), &members, 2), 2)
                .unwrap();
        let size = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            let dot = |row: &[f64]| (0..25).map(|i| row[i] * f(at(i)[0], at(i)[1])).sum::<f64>();
            rows.chunks_exact(25).map(|row| dot(row).powi(2)).sum()
        };
        assert!(size(&|x, y| 3.0 + x - 2.0 * y) < 1e-24);
        assert!(size(&|x, _| x * x * x) < 1e-24);
        assert!(size(&|x, y| x * y) > 1.0 && size(&|x, _| x * x) > 1.0);
    }

    #[test]
    fn a_patch_on_a_line_has_no_hessian_in_two_dimensions() {
        let points = Points::from_rows(&(0..9).map(|i| [i as f64, 2.0 * i as f64]).collect::<Vec<_>>()).unwrap();
        let members: Vec<u32> = (0..9).collect();
        assert!(
            hessian(&Tangent::new(Measured::Points(&points, eigenfold_graph::Metric::Euclidean), &members, 2), 2)
                .is_none()
        );
    }
}

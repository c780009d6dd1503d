//! Local tangent space alignment: over every patch the coordinates are affine in those of the patch's tangent space.
//!
//! ```text
//! Bᵢ = [1/√m, θ₁, ..., θ_d]      the patch's first principal coordinates over its m = k + 1 points, orthonormal
//! precision Σᵢ Sᵢ (I − Bᵢ Bᵢᵀ) Sᵢᵀ
//! ```
//!
//! Z. Zhang, H. Zha. Principal manifolds and nonlinear dimensionality reduction via tangent space alignment. SIAM J.
//! Sci. Comput. 26(1), 2004.

use crate::extend;
use crate::field::local::patches::{data, glue};
use crate::field::{Basis, Build, Built, CoordinateScale, Field, Info, InputKind, Site};
use crate::input::tangent::Tangent;
use crate::parameter::{Parameter, Table};
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// Local tangent space alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ltsa;

impl Table for Ltsa {
    const METHOD: &'static str = "ltsa";
    const TABLE: &'static [Parameter<Ltsa>] = &[];
}

impl Build for Ltsa {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["local-tangent-space-alignment"],
            summary: "aligns the local tangent spaces (local PCA) of overlapping neighborhoods",
            title: "LTSA",
            good_for: "the shape of a smooth manifold, up to an affine map",
            caution: "Axes are scaled to unit variance: lengths and the aspect ratio are not those of the data.",
            basis: Basis::Precision,
            paper: "Zhang & Zha 2004",
            accepts: InputKind::MEASURED,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let graph = site.graph()?;
        let data = data(site, graph, self.info().name, site.dims + 1)?;
        let (matrix, order) = glue(site, graph, |_, members, form| {
            Tangent::new(data, members, site.dims).bending(form);
        })?;
        let field = Field::Precision { matrix, order, normalization: None, scale: CoordinateScale::Unit };
        Ok(Built::new(field, extend::Tangent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_graph::Graph;
    use eigenfold_graph::points::Points;
    use eigenfold_linalg::progress::Silent;

    /// Three points on a line, each with the two others: the form is that of the second difference (1, −2, 1)/√6.
    #[test]
    fn three_points_on_a_line_must_stay_on_a_line() {
        let points = Points::from_rows(&[[0.0], [1.0], [2.0]]).unwrap();
        let others = |i: u32| (0..3).filter(|&j| j != i).map(|j| (j, f64::from(i.abs_diff(j)))).collect();
        let graph = Graph::from_lists((0..3).map(others).collect()).unwrap();
        let site = Site { graph: Some(&graph), dims: 1, observer: &Silent, ..Site::of((&points).into()) };
        let built = Ltsa.build(&site).unwrap();
        let Some(Field::Precision { matrix, .. }) = built.field() else { panic!("it is a precision") };
        let second = faer::mat![[1.0], [-2.0], [1.0]];
        let expected = faer::Scale(0.5) * (&second * second.transpose());
        assert!((matrix.to_dense() - expected).norm_max() < 1e-14);
    }
}

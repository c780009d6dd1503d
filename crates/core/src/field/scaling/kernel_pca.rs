//! Kernel PCA: classical scaling of the distances in a feature space.
//!
//! ```text
//! d²[i,j] = k(x[i], x[i]) − 2 k(x[i], x[j]) + k(x[j], x[j])        −½ H d² H = H K H
//! ```
//!
//! This holds for any symmetric k. One that is not positive semidefinite, like the sigmoid, has negative d² and negative
//! eigenvalues; the coordinates are those of the positive ones, and the least eigenvalue is reported.
//!
//! B. Schölkopf, A. Smola, K.-R. Müller. Nonlinear component analysis as a kernel eigenvalue problem. Neural
//! Computation 10(5), 1998. As scaling: Z. Zhang, M. I. Jordan. Latent variable models for dimensionality reduction.
//! AISTATS 2009, section 2.

use crate::extend::{Away, Gower, Measure, Rule};
use crate::field::scaling::centered::Centered;
use crate::field::scaling::feature_space::{FeatureSpace, chosen_of, kernel_rows, names_of};
use crate::field::scaling::mds::Mds;
use crate::field::{Basis, Build, Built, Field, Info, InputKind, Site, landmarks_instead, needs_points};
use crate::figure::Figure;
use crate::input::Data;
use crate::kernel::mercer::Kernel;
use crate::parameter::{Kind, Parameter, Table};
use crate::warning::Warning;
use eigenfold_linalg::eigen::top::operator_top;
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// Below this fraction of the largest eigenvalue a negative one is rounding.
const NEGLIGIBLE: f64 = 1e-6;

/// Kernel PCA.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelPca {
    /// The kernel.
    pub kernel: Kernel,
}

impl Table for KernelPca {
    const METHOD: &'static str = "kernel-pca";
    const TABLE: &'static [Parameter<KernelPca>] = kernel_rows![];
}

impl Build for KernelPca {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["kpca"],
            summary: "principal components in the feature space of a kernel",
            title: "Kernel PCA",
            good_for: "data whose similarities are described by a kernel of your choice",
            caution: "Distances are those of the kernel's feature space; beyond its bandwidth all points are equally far apart.",
            basis: Basis::Covariance,
            paper: "Schölkopf, Smola & Müller 1998",
            accepts: &[InputKind::Points, InputKind::Similarities],
            needs_graph: false,
            uses_metric: false,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        // Similarities arrive as the distances of their feature space: scaling those is kernel PCA.
        let points = match site.data {
            Data::Points(points, _) => points,
            Data::Distances(_) => {
                let mut built = Mds::default().build(site)?;
                built.used = names_of(self.kernel).iter().map(|&name| (name, "given".into())).collect();
                return Ok(built);
            }
            Data::Graph(_) => return Err(needs_points("kernel-pca", "laplacian-eigenmaps embeds a graph")),
        };
        let n = points.rows();
        site.afford(
            "the kernel matrix",
            Centered::memory(n),
            &landmarks_instead(n).replace("`landmarks`", "a sample of"),
        )?;
        let FeatureSpace { kernel, centered } = FeatureSpace::of(self.kernel, points, site.observer)?;
        let row_means = centered.row_means().to_vec();
        let rule = Rule::Gower(Gower { away: Away { measure: Measure::Kernel(kernel), landmarks: None }, row_means });
        let (mut figures, mut warnings) = (Vec::new(), Vec::new());
        if !kernel.is_positive() {
            let top = operator_top(&centered, 1, site.seed, site.observer)?;
            let largest = top.values.first().copied().unwrap_or(0.0);
            let below = centered.below_zero(site.seed, site.observer)?;
            figures.push((Figure::LeastEigenvalue, -below));
            warnings.extend(
                (below > NEGLIGIBLE * largest.abs()).then(|| Warning::NotEuclidean(indefinite(below, largest))),
            );
        }
        let field = Field::Covariance(Box::new(centered));
        Ok(Built { used: chosen_of(kernel), figures, warnings, ..Built::new(field, rule) })
    }
}

/// The warning about an eigenvalue −`below` relative to the largest one.
fn indefinite(below: f64, largest: f64) -> String {
    let percent = if largest > 0.0 { 100.0 * below / largest } else { f64::INFINITY };
    format!(
        "the kernel is not positive semidefinite on these points: the least eigenvalue of H K H is {:.3e}, {percent:.2} % \
         of the largest; directions of negative eigenvalues are left out of the map",
        -below
    )
}

//! Kernel PCA: classical scaling of the distances in a feature space.
//!
//! ```text
//! d²[i,j] = k(x[i], x[i]) − 2 k(x[i], x[j]) + k(x[j], x[j])        −½ H d² H = H K H
//! ```
//!
//! B. Schölkopf, A. Smola, K.-R. Müller. Nonlinear component analysis as a kernel eigenvalue problem. Neural
//! Computation 10(5), 1998. As scaling: Z. Zhang, M. I. Jordan. Latent variable models for dimensionality reduction.
//! AISTATS 2009, section 2.

use crate::error::{Error, Result};
use crate::field::scaling::centered::Centered;
use crate::field::scaling::mds::Mds;
use crate::field::{Build, Built, Field, Info, InputKind, Site, landmarks_instead, needs_points, shown};
use crate::ground::Ground;
use crate::kernel::Kernel;
use crate::parameter::{Access, Held, Kind, Parameter, Parameters, Table, field};
use crate::place::{Away, Measure, Rule, Squares};
use serde::{Deserialize, Serialize};

/// Kernel PCA.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelPca {
    /// The kernel.
    pub kernel: Kernel,
}

/// How a number of the kernel is read and set, where the kernel is of the variant that has it.
macro_rules! of_kernel {
    ($variant:ident, $name:ident) => {
        Access {
            get: |method: &Self| match &method.kernel {
                Kernel::$variant { $name, .. } => Some($name.value()),
                _ => None,
            },
            set: |method: &mut Self, value| {
                if let Kernel::$variant { $name, .. } = &mut method.kernel {
                    *$name = Held::held(value)?;
                }
                Ok(())
            },
        }
    };
}

const OFFSET: &str = "what is added to the scaled inner product";
const SCALE: &str = "what multiplies the inner product";

impl Table for KernelPca {
    const METHOD: &'static str = "kernel-pca";
    const TABLE: &'static [Parameter<KernelPca>] = &[
        Parameter::new("kernel", "the inner product in the feature space", Kind::Choice(Kernel::NAMES), field!(kernel)),
        Parameter::new("bandwidth", "sigma of the gaussian", Kind::positive(), of_kernel!(Gaussian, bandwidth))
            .auto("the root mean square distance from the mean")
            .with("kernel", &["gaussian"]),
        Parameter::new("degree", "the power", Kind::count(1, 20), of_kernel!(Polynomial, degree))
            .with("kernel", &["polynomial"]),
        Parameter::new("offset", OFFSET, Kind::number(-1e150, 1e150), of_kernel!(Polynomial, offset))
            .with("kernel", &["polynomial"]),
        Parameter::new("offset", OFFSET, Kind::number(-1e150, 1e150), of_kernel!(Sigmoid, offset))
            .with("kernel", &["sigmoid"]),
        Parameter::new("scale", SCALE, Kind::positive(), of_kernel!(Polynomial, scale)).with("kernel", &["polynomial"]),
        Parameter::new("scale", SCALE, Kind::positive(), of_kernel!(Sigmoid, scale))
            .auto("one over the mean squared norm")
            .with("kernel", &["sigmoid"]),
    ];
}

impl Build for KernelPca {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["kpca"],
            summary: "principal components in the feature space of a kernel",
            stage: "covariance",
            paper: "Schölkopf, Smola & Müller 1998",
            accepts: &[InputKind::Points, InputKind::Similarities],
            needs_graph: false,
            uses_metric: false,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        // Similarities arrive as the distances of their feature space: scaling those is kernel PCA.
        let points = match site.ground {
            Ground::Points(points, _) => points,
            Ground::Distances(_) => {
                let mut built = Mds::default().build(site)?;
                built.used = self.parameters().iter().map(|p| (p.name, "given".into())).collect();
                return Ok(built);
            }
            Ground::Graph(_) => return Err(needs_points("kernel-pca", "laplacian-eigenmaps embeds a graph")),
        };
        let n = points.rows();
        site.afford(
            "the kernel matrix",
            Centered::memory(n),
            &landmarks_instead(n).replace("`landmarks`", "a sample of"),
        )?;
        let kernel = self.kernel.resolve(points)?;
        let centered = match kernel {
            Kernel::Gaussian { bandwidth: Some(b) } => {
                // exp(−s) for s = d² / 2σ², and 2 − 2 k the squared distance.
                let square = |s: f64| 2.0 - 2.0 * (-s).exp();
                Centered::from_euclidean(points, b * std::f64::consts::SQRT_2, 1.0, square, site.observer)?
            }
            _ => Centered::from_squares(n, |i, j| kernel.square(points.row(i), points.row(j)), site.observer)?,
        };
        if !centered.grand_mean().is_finite() {
            return Err(Error::parameter("the kernel's values overflow; use a smaller `scale` or `degree`"));
        }
        let mut used = Vec::new();
        match kernel {
            Kernel::Gaussian { bandwidth: Some(b) } => used.push(("bandwidth", shown(b))),
            Kernel::Sigmoid { scale: Some(s), .. } => used.push(("scale", shown(s))),
            _ => {}
        }
        let row_means = centered.row_means().to_vec();
        let rule =
            Rule::Squares(Squares { away: Away { measure: Measure::Kernel(kernel), landmarks: None }, row_means });
        Ok(Built { used, ..Built::new(Field::Covariance(Box::new(centered)), rule) })
    }
}

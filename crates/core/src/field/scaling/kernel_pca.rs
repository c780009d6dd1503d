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
use crate::field::{
    Build, Built, Field, Info, InputKind, Parameter, Site, landmarks_instead, needs_points, no_such_parameter, number,
    shown,
};
use crate::ground::Ground;
use crate::kernel::Kernel;
use crate::place::{Away, Measure, Rule, Squares};
use serde::{Deserialize, Serialize};

/// Kernel PCA.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelPca {
    /// The kernel.
    pub kernel: Kernel,
}

impl Build for KernelPca {
    fn info(&self) -> Info {
        Info {
            name: "kernel-pca",
            aliases: &["kpca"],
            summary: "principal components in the feature space of a kernel",
            stage: "covariance",
            paper: "Schölkopf, Smola & Müller 1998",
            accepts: &[InputKind::Points, InputKind::Similarities],
            needs_graph: false,
            uses_metric: false,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut list =
            vec![Parameter::new("kernel", self.kernel.name(), "linear, gaussian, polynomial, sigmoid or cosine")];
        match &self.kernel {
            Kernel::Gaussian { bandwidth } => {
                list.push(Parameter::auto(
                    "bandwidth",
                    bandwidth,
                    "sigma of the gaussian (auto = rms distance from the mean)",
                ));
            }
            Kernel::Polynomial { degree, offset, scale } => {
                list.push(Parameter::new("degree", degree, "power of the polynomial"));
                list.push(Parameter::new("offset", offset, "added to the scaled inner product"));
                list.push(Parameter::new("scale", scale, "multiplies the inner product"));
            }
            Kernel::Sigmoid { offset, scale } => {
                list.push(Parameter::new("offset", offset, "added to the scaled inner product"));
                list.push(Parameter::auto(
                    "scale",
                    scale,
                    "multiplies the inner product (auto = 1 / mean squared norm)",
                ));
            }
            Kernel::Linear | Kernel::Cosine => {}
        }
        list
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match (name, &mut self.kernel) {
            ("kernel", kernel) => *kernel = Kernel::from_name(value)?,
            ("bandwidth", Kernel::Gaussian { bandwidth }) => *bandwidth = Some(number(name, value, 1e-150..1e150)?),
            ("degree", Kernel::Polynomial { degree, .. }) => *degree = number(name, value, 1..=20)?,
            ("offset", Kernel::Polynomial { offset, .. } | Kernel::Sigmoid { offset, .. }) => {
                *offset = number(name, value, -1e150..1e150)?;
            }
            ("scale", Kernel::Polynomial { scale, .. }) => *scale = number(name, value, 1e-150..1e150)?,
            ("scale", Kernel::Sigmoid { scale, .. }) => *scale = Some(number(name, value, 1e-150..1e150)?),
            _ => return Err(no_such_parameter(self, name)),
        }
        Ok(())
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
            &landmarks_instead(n).replace("--landmarks", "a sample of"),
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
            return Err(Error::parameter("the kernel's values overflow; use a smaller --scale or --degree"));
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

//! Diffusion maps: coordinates in which distances are those of a random walk after time t.
//!
//! ```text
//! w[i,j] = exp(−‖x[i] − x[j]‖² / (σ[i]² + σ[j]²))  on the graph, w[i,i] = 1      q[i] = Σⱼ w[i,j]
//! w̃[i,j] = w[i,j] / (q[i] q[j])^α      D = diag(Σⱼ w̃[i,j])           P = D⁻¹ W̃
//! P ψ = μ ψ                            Y = μᵗ ψ,  ψᵀDψ = tr D
//! ```
//!
//! P ψ = μ ψ is L ψ = (1 − μ) D ψ with L = D − W̃, so the field is a Laplacian as in Laplacian eigenmaps; with α = 0
//! and t = 0 the two differ only by the self-loops in D.
//! α = 1 removes the density of the sample, α = ½ gives the Fokker-Planck diffusion.
//!
//! R. R. Coifman, S. Lafon. Diffusion maps. Applied and Computational Harmonic Analysis 21(1), 2006.

use crate::extend::{Form, Nystrom, Rule};
use crate::field::laplacian::affinity::{Affinity, description};
use crate::field::{Basis, Build, Built, CoordinateScale, Field, Info, InputKind, Site};
use crate::kernel::heat::Bandwidth;
use crate::parameter::{Kind, Parameter, Table, field};
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// Diffusion maps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiffusionMaps {
    /// σ of the kernel.
    pub bandwidth: Bandwidth,
    /// The time t of the diffusion.
    pub time: f64,
    /// The exponent α by which the density is removed.
    pub alpha: f64,
}

impl Default for DiffusionMaps {
    fn default() -> DiffusionMaps {
        DiffusionMaps { bandwidth: Bandwidth::Auto, time: 1.0, alpha: 1.0 }
    }
}

impl Table for DiffusionMaps {
    const METHOD: &'static str = "diffusion-maps";
    const TABLE: &'static [Parameter<DiffusionMaps>] = &[
        Parameter::new("bandwidth", "sigma of the kernel", Kind::positive(), field!(bandwidth))
            .auto(Bandwidth::AUTO)
            .or(Bandwidth::WORDS),
        Parameter::new(
            "time",
            "the diffusion time: the number of steps of the random walk",
            Kind::number(0.0, 1e6),
            field!(time),
        ),
        Parameter::new(
            "alpha",
            "the exponent of the density normalization; 1 removes the influence of the sampling density",
            Kind::number(0.0, 1.0),
            field!(alpha),
        ),
    ];
}

impl Build for DiffusionMaps {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["dm", "diffusion", "diffusion-map"],
            summary: "spectral embedding by the diffusion distances of a random walk over the points",
            title: "Diffusion maps",
            good_for: "the slow directions of a random walk, robust to uneven sampling",
            caution: "Distances are those of the random walk, not of the data; ends and edges are compressed.",
            basis: Basis::Precision,
            paper: "Coifman & Lafon 2006",
            accepts: InputKind::ALL,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let graph = site.graph()?;
        let widths = self.bandwidth.widths(graph)?;
        let mut affinity = Affinity::new(graph, |i, j, length| widths.weight(i, j, length));
        let density: Vec<f64> = affinity.degrees().iter().map(|q| (q + 1.0).powf(-self.alpha)).collect();
        affinity.rescale(&density, |i| density[i] * density[i]);
        let normalization = Some(affinity.degrees().to_vec());
        let field = Field::Precision {
            matrix: affinity.laplacian()?,
            order: None,
            normalization,
            scale: CoordinateScale::Diffusion(self.time),
        };
        let used = vec![("bandwidth", description(Some(&widths)))];
        let rule = Rule::Nystrom(Nystrom { widths: Some(widths), density: Some(density), form: Form::Normalized });
        Ok(Built { used, ..Built::new(field, rule) })
    }
}

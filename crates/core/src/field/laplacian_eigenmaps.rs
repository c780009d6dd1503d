//! Laplacian eigenmaps: neighbors pull on each other with a heat-kernel weight.
//!
//! The field's precision is the graph Laplacian, and the eigenproblem carries the degrees:
//!
//! ```text
//! w[i,j] = exp(−‖x[i] − x[j]‖² / 2σ²)    i, j neighbors either way
//! L = D − W,   D = diag(Σⱼ w[i,j])       L y = λ D y
//! ```
//!
//! The unnormalized variant solves L y = λ y (Lawrence 2012, section 2.6.2: the constraint yᵀy instead of yᵀDy).
//!
//! M. Belkin, P. Niyogi. Laplacian eigenmaps for dimensionality reduction and data representation. Neural Computation
//! 15(6), 2003, section 2. (Their t is our 2σ².)

use super::affinity::{Affinity, heat, typical_length};
use super::{Built, Field, FieldModel, Info, InputKind, Parameter, Scale, Site, no_such_parameter, number, shown};
use crate::error::{Error, Result};
use crate::extend::Rule;
use serde::{Deserialize, Serialize};

/// The weight of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeWeight {
    /// exp(−d² / 2σ²).
    #[default]
    Heat,
    /// 1.
    Simple,
}

/// Laplacian eigenmaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaplacianEigenmaps {
    /// The weight of an edge.
    pub kernel: EdgeWeight,
    /// σ of the heat kernel; if not given, the root mean square neighbor distance.
    pub bandwidth: Option<f64>,
    /// Whether the degrees are the mass of the eigenproblem.
    pub normalized: bool,
}

impl Default for LaplacianEigenmaps {
    fn default() -> LaplacianEigenmaps {
        LaplacianEigenmaps { kernel: EdgeWeight::Heat, bandwidth: None, normalized: true }
    }
}

impl FieldModel for LaplacianEigenmaps {
    fn info(&self) -> Info {
        Info {
            name: "laplacian-eigenmaps",
            aliases: &["le", "la", "spectral", "spectral-embedding"],
            summary: "neighbors pull on each other; the slowest vibrations of the graph",
            stage: "precision",
            paper: "Belkin & Niyogi 2003",
            accepts: &[InputKind::Points, InputKind::Distances, InputKind::Similarities, InputKind::Graph],
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        let kernel = if self.kernel == EdgeWeight::Heat { "heat" } else { "simple" };
        let variant = if self.normalized { "normalized" } else { "unnormalized" };
        vec![
            Parameter::new("kernel", kernel, "weight of an edge: heat, or simple (all 1)"),
            Parameter::auto("bandwidth", &self.bandwidth, "sigma of the heat kernel (auto = rms neighbor distance)"),
            Parameter::new("variant", variant, "normalized (y'Dy = 1) or unnormalized (y'y = 1)"),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match (name, value) {
            ("kernel", "heat" | "gaussian") => self.kernel = EdgeWeight::Heat,
            ("kernel", "simple") => self.kernel = EdgeWeight::Simple,
            ("kernel", _) => return Err(Error::parameter(format!("--kernel is {value:?}; give heat or simple"))),
            ("bandwidth", _) => self.bandwidth = Some(number(name, value, 1e-150..1e150)?),
            ("variant", "normalized") => self.normalized = true,
            ("variant", "unnormalized") => self.normalized = false,
            ("variant", _) => {
                return Err(Error::parameter(format!("--variant is {value:?}; give normalized or unnormalized")));
            }
            _ => return Err(no_such_parameter(self, name)),
        }
        Ok(())
    }

    fn field(&self, site: &Site<'_>) -> Result<Built> {
        let graph = site.graph()?;
        let width = match self.kernel {
            EdgeWeight::Heat => Some(self.bandwidth.map_or_else(|| typical_length(graph), Ok)?),
            EdgeWeight::Simple => None,
        };
        let affinity = Affinity::new(graph, |length| width.map_or(1.0, |width| heat(length, width)));
        let mass = self.normalized.then(|| affinity.degrees().to_vec());
        let field = Field::Precision { matrix: affinity.laplacian()?, mass, scale: Scale::Unit };
        let rule = Rule::Affinity { width, density: None, normalized: self.normalized };
        Ok(Built { used: vec![("bandwidth", width.map_or("none".into(), shown))], ..Built::new(field, rule) })
    }
}

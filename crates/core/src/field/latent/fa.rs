//! Factor analysis: a few latent coordinates, and a separate noise variance for every feature.
//!
//! ```text
//! x = μ + W z + ε,   z ~ N(0, I),   ε ~ N(0, Ψ),   Ψ diagonal
//! ```
//!
//! Unlike PCA, the map does not depend on the units of the features: the noise of a feature is separated from what it
//! shares with the others, whatever its variance. There is no closed form; the likelihood of the observed cells is
//! maximized by quasi-Newton steps or by EM ([`fit`](super::fit)). The coordinates are rotated so that WᵀΨ⁻¹W is
//! diagonal.
//!
//! D. N. Lawley, A. E. Maxwell. Factor analysis as a statistical method. 2nd edition, 1971. D. B. Rubin, D. T. Thayer. EM
//! algorithms for ML factor analysis. Psychometrika 47, 1982.

use super::fit::{Fit, Fitted, OWN_FLOOR, turned};
use super::ppca::{LatentMethod, LatentSolver, Rows, built, fit_rows, points_for};
use crate::field::{Basis, Build, Built, Info, InputKind, Site};
use crate::figure::Figure;
use crate::input::moments::Moments;
use crate::parameter::{Choice, Kind, Parameter, Table, field};
use crate::warning::Warning;
use eigenfold_linalg::Eigenpairs;
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// Factor analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fa {
    /// The optimizer.
    pub solver: LatentSolver,
    /// The fit stops when a step improves the log likelihood by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of passes over the data.
    pub max_iterations: usize,
}

impl Default for Fa {
    fn default() -> Fa {
        Fa { solver: LatentSolver::Direct, tolerance: 1e-12, max_iterations: 5000 }
    }
}

impl Table for Fa {
    const METHOD: &'static str = "fa";
    const TABLE: &'static [Parameter<Fa>] = fit_rows![];
}

impl Build for Fa {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["factor-analysis"],
            summary: "latent factors with a separate noise variance per feature; missing cells are integrated out",
            title: "Factor analysis",
            good_for: "features with noise of very different sizes, and data with missing cells",
            caution: "The map is linear: a curved manifold stays folded. Factors are determined up to a rotation.",
            basis: Basis::Covariance,
            paper: "Lawley & Maxwell 1971",
            accepts: &[InputKind::Points],
            needs_graph: false,
            uses_metric: false,
        }
    }

    fn scales_columns(&self) -> bool {
        true
    }

    /// The field is fitted.
    fn efforts(&self) -> [f64; 3] {
        [1.0, 9.0, 1.0]
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let points = points_for(site, Self::METHOD)?;
        let fitted = self.fit(site.dims, site.seed).of(points, site.observer)?;
        self.built(fitted, None, &Rows::of(points))
    }
}

impl LatentMethod for Fa {
    fn fit(&self, dims: usize, seed: u64) -> Fit {
        let em = self.solver == LatentSolver::Em;
        Fit { dims, own_noise: true, em, tolerance: self.tolerance, max_iterations: self.max_iterations, seed }
    }

    fn of_moments(&self, moments: &Moments, site: &Site<'_>) -> Result<Built> {
        let points = points_for(site, Self::METHOD)?;
        let fitted = self.fit(site.dims, site.seed).of_moments(moments, site.observer)?;
        self.built(fitted, None, &Rows::about(points, moments.count))
    }

    fn built(&self, mut fitted: Fitted, _pairs: Option<Eigenpairs>, rows: &Rows<'_>) -> Result<Built> {
        turned(&mut fitted.latent);
        let latent = &fitted.latent;
        let (features, dims) = (latent.mean.len(), latent.dims());
        let (p, q) = (features as f64, dims as f64);
        let free = 0.5 * ((p - q) * (p - q) - (p + q));
        let shared = |j: usize| latent.loading(j).iter().map(|w| w * w).sum::<f64>();
        let alone = (0..features).filter(|&j| latent.noise[j] <= 2.0 * OWN_FLOOR * (shared(j) + latent.noise[j]));
        let alone = alone.count();
        let own = latent.noise.iter().enumerate().map(|(j, psi)| psi / (psi + shared(j))).sum::<f64>() / p;
        let em = self.solver == LatentSolver::Em;
        let mut built = built(fitted, rows, if em { "em" } else { "quasi-newton" })?;
        built.figures.extend([(Figure::OwnShare, own), (Figure::DegreesOfFreedom, free)]);
        if free < 0.0 {
            built.warnings.push(Warning::NotDetermined(format!(
                "{dims} factors of {features} features are not identified: other maps are equally likely"
            )));
        }
        if alone > 0 {
            let (features, have) = if alone == 1 { ("feature", "has") } else { ("features", "have") };
            let fact = format!("{alone} {features} {have} almost no noise left (a Heywood case)");
            built.warnings.push(Warning::NotDetermined(format!("{fact}; fewer `dims` may fit better")));
        }
        Ok(built)
    }
}

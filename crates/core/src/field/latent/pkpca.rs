//! Probabilistic kernel PCA: orthonormal principal components in the feature space of a kernel, with noise.
//!
//! ```text
//! f = Wᵀ y + u + e,   W Wᵀ = I,  y ~ N(0, I),  e ~ N(0, λ I)        y | f ~ N(W (f − u) / (1 + λ), λ/(1 + λ) I)
//! ```
//!
//! The maximum-likelihood components are W = Γ^(−½) Ψᵀ H F, γ and Ψ the largest eigenpairs of Q = H K H, whatever λ is, so
//!
//! ```text
//! (1 + λ) E[y | x] = Γ^(−½) Ψᵀ (k(x) − K 1/n)        of all training points: Ψ Γ^½
//! ```
//!
//! is the coordinate of a point: that of kernel PCA and of classical scaling. The posterior covariance of y is the same
//! for all points. The paper leaves λ aside, because it needs the number of features r. Here r is n − 1, the number of
//! directions in which n points can vary; with α = Σⱼ γ[j]/n and β = (tr Q − Σⱼ γ[j])/n, λ is the minimum of
//!
//! ```text
//! q log(1 + λ) + α/(1 + λ) + (n − 1 − q) log λ + β/λ
//! ```
//!
//! Without the feature vectors this model has no EM of its own. Its components span the subspace of principal
//! coordinates, whose EM needs no feature vectors; it is started from the components of a sample, extended to all
//! points (section 5.3).
//!
//! Z. Zhang, M. I. Jordan. Latent variable models for dimensionality reduction. AISTATS 2009, sections 4
//! and 5.3.

use crate::field::latent::em;
use crate::field::latent::ppco::{Ppco, PpcoSolver};
use crate::field::latent::principal::{LANDMARKS_AUTO, LANDMARKS_HELP, Principal};
use crate::field::scaling::feature_space::kernel_rows;
use crate::field::{Basis, Build, Built, Info, InputKind, Site};
use crate::figure::Figure;
use crate::kernel::mercer::Kernel;
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// Probabilistic kernel PCA.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pkpca {
    /// The kernel, for an input of points.
    pub kernel: Kernel,
    /// The number of landmarks.
    pub landmarks: Option<usize>,
    /// The solver.
    pub solver: PkpcaSolver,
}

/// The solver of probabilistic kernel PCA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PkpcaSolver {
    /// A partial eigen-solve.
    #[default]
    Eigen,
    /// The iteration of probabilistic principal coordinates, from the components of a sample.
    Em,
}

choices!(PkpcaSolver {
    Eigen: "eigen", "a partial eigen-solve";
    Em: "em", "the iteration of ppco, started from the components of a sample of the points";
});

impl Table for Pkpca {
    const METHOD: &'static str = "pkpca";
    const TABLE: &'static [Parameter<Pkpca>] = kernel_rows![
        Parameter::new("landmarks", LANDMARKS_HELP, Kind::at_least(2), field!(landmarks)).auto(LANDMARKS_AUTO),
        Parameter::new("solver", "the solver", Kind::Choice(PkpcaSolver::NAMES), field!(solver)),
    ];
}

impl Build for Pkpca {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["probabilistic-kernel-pca"],
            summary: "kernel PCA as a latent variable model with noise: the same map, with its uncertainty",
            title: "PKPCA",
            good_for: "kernel PCA with an estimate of its noise",
            caution: "Distances are those of the kernel's feature space; beyond its bandwidth all points are equally far apart.",
            basis: Basis::Covariance,
            paper: "Zhang & Jordan 2009, section 4",
            accepts: InputKind::MEASURED,
            needs_graph: false,
            uses_metric: false,
        }
    }

    /// The field is fitted.
    fn efforts(&self) -> [f64; 3] {
        [1.0, 9.0, 1.0]
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let &Pkpca { kernel, landmarks, solver } = self;
        let principal = match solver {
            PkpcaSolver::Eigen => Principal::of(Self::METHOD, kernel, landmarks, site)?,
            PkpcaSolver::Em => {
                let solver = PpcoSolver::Em;
                em::fit(Self::METHOD, &Ppco { kernel, landmarks, solver, ..Ppco::default() }, site)?.0
            }
        };
        let gammas = principal.gammas(site.dims);
        let n = principal.len();
        let (kept, rest) = (gammas.iter().sum::<f64>() / n as f64, principal.rest(site.dims) / n as f64);
        let noise = noise(gammas.len(), n - 1 - gammas.len(), kept, rest);
        let lengths: Vec<f64> = gammas.iter().map(|gamma| gamma.sqrt()).collect();
        principal.built(
            &lengths,
            site.dims,
            &[(Figure::Noise, noise), (Figure::PosteriorVariance, noise / (1.0 + noise))],
        )
    }
}

/// Steps between the ends of the search interval on a logarithmic scale.
const STEPS: usize = 400;

/// The λ that minimizes q log(1 + λ) + α/(1 + λ) + m log λ + β/λ; zero if nothing remains beyond the coordinates.
fn noise(q: usize, m: usize, alpha: f64, beta: f64) -> f64 {
    if m == 0 || beta <= 0.0 {
        return 0.0;
    }
    let (q, m) = (q as f64, m as f64);
    let loss = |l: f64| q * (1.0 + l).ln() + alpha / (1.0 + l) + m * l.ln() + beta / l;
    let derivative = |l: f64| q / (1.0 + l) - alpha / (1.0 + l).powi(2) + m / l - beta / l / l;
    // At the lower end the derivative is negative, at the upper end positive; between them there may be two minima.
    let (first, last) = (1e-3 * beta / (m + q + alpha + beta), 1e3 * (1.0 + alpha + beta));
    let at = |step: usize| first * (last / first).powf(step as f64 / STEPS as f64);
    let turns = (0..STEPS).filter(|&step| derivative(at(step)) < 0.0 && derivative(at(step + 1)) >= 0.0);
    let refined = turns.map(|step| {
        let (mut low, mut high) = (at(step), at(step + 1));
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if derivative(middle) < 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    });
    refined.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(beta / m)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without coordinates λ = β/m; with the signal's own variance, α = q (1 + λ), it is β/m too.
    #[test]
    fn the_noise_is_known_where_the_signal_has_its_variance() {
        assert!((noise(0, 7, 0.0, 3.5) - 0.5).abs() < 1e-14);
        assert!((noise(2, 7, 3.0, 3.5) - 0.5).abs() < 1e-14);
        assert_eq!(noise(2, 0, 3.0, 0.0), 0.0);
    }

    /// No other noise has a lower loss.
    #[test]
    fn the_noise_is_the_least_loss() {
        for (q, m, alpha, beta) in [(2, 147, 0.4, 0.6), (1, 3, 900.0, 1e-3), (5, 40, 1e-6, 2e5), (3, 1, 80.0, 0.3)] {
            let loss = |l: f64| q as f64 * (1.0 + l).ln() + alpha / (1.0 + l) + m as f64 * l.ln() + beta / l;
            let found = noise(q, m, alpha, beta);
            for step in -4000..4000 {
                let other = 10f64.powf(f64::from(step) / 400.0);
                assert!(loss(found) <= loss(other) + 1e-9 * loss(other).abs(), "{q} {m}: {found} {other}");
            }
        }
    }
}

//! Probabilistic principal coordinates: classical scaling as a latent variable model, fitted by maximum likelihood.
//!
//! The points have unknown feature vectors F, of which only the inner products K or the squared distances Δ are known.
//! With one row of coordinates per point in Y, random axes W and noise of variance λ,
//!
//! ```text
//! H F = Y W + E,   W ~ N(0, I/r),  E ~ N(0, λ H/r)        Q = H K H  or  −½ H Δ H
//! f(Y, λ) = Σᵢ log η[i] + tr((Y Yᵀ + λ H)⁺ Q),   η the n − 1 eigenvalues of Y Yᵀ + λ H off the constants
//! ```
//!
//! is minus twice the log likelihood per feature, up to constants. It is least (their Theorem 1) at
//!
//! ```text
//! λ = (tr Q − Σⱼ γ[j]) / (n − 1 − q),   Y = Ψ (Γ − λ)^½,   f = Σⱼ log γ[j] + (n − 1 − q) log λ + n − 1
//! ```
//!
//! γ and Ψ the q largest eigenpairs of Q. A new point x is embedded at its posterior mean under the fitted model, with
//! E[W | F] fixed: y = Γ⁻¹ (Γ − λ)^½ Ψᵀ (k(x) − K 1/n), which is Gower's formula.
//!
//! Z. Zhang, M. I. Jordan. Latent variable models for dimensionality reduction. AISTATS 2009, section 3. (In their
//! experiments the kernel is divided by n, which divides γ and λ by n, and Y by √n.)

use crate::field::latent::em::{self, EmStart};
use crate::field::latent::principal::{LANDMARKS_AUTO, LANDMARKS_HELP, Principal};
use crate::field::scaling::feature_space::kernel_rows;
use crate::field::{Basis, Build, Built, Info, InputKind, Site, Task};
use crate::figure::Figure;
use crate::kernel::mercer::Kernel;
use crate::parameter::{Access, Choice, FieldValue, Kind, Parameter, Table, choices, field};
use crate::warning::Warning;
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// Probabilistic principal coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ppco {
    /// The kernel, for an input of points.
    pub kernel: Kernel,
    /// The number of landmarks.
    pub landmarks: Option<usize>,
    /// The solver.
    pub solver: PpcoSolver,
    /// The start of the iteration.
    pub start: EmStart,
    /// The tolerance of the iteration.
    pub tolerance: f64,
    /// The maximum number of iterations.
    pub max_iterations: usize,
}

impl Default for Ppco {
    fn default() -> Ppco {
        Ppco {
            kernel: Kernel::default(),
            landmarks: None,
            solver: PpcoSolver::default(),
            start: EmStart::default(),
            tolerance: 1e-8,
            max_iterations: 1000,
        }
    }
}

/// The solver of the maximum likelihood problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PpcoSolver {
    /// The closed form, by a partial eigen-solve.
    #[default]
    Eigen,
    /// Expectation maximization until its subspace has converged, then the closed form within it.
    Em,
    /// Expectation maximization as published.
    EmPlain,
}

choices!(PpcoSolver {
    Eigen: "eigen", "the closed form, by a partial eigendecomposition";
    Em: "em", "expectation maximization until its subspace converges, then the closed form within it";
    EmPlain: "em-plain", "expectation maximization as published, whose lengths converge slowly";
});

/// How a field of the iteration is read and set; the closed form has none.
macro_rules! of_iteration {
    ($name:ident) => {
        Access {
            get: |method: &Self| (method.solver != PpcoSolver::Eigen).then(|| method.$name.value()),
            set: |method: &mut Self, value| {
                method.$name = FieldValue::from_value(value)?;
                Ok(())
            },
        }
    };
}

impl Table for Ppco {
    const METHOD: &'static str = "ppco";
    const TABLE: &'static [Parameter<Ppco>] = kernel_rows![
        Parameter::new("landmarks", LANDMARKS_HELP, Kind::at_least(2), field!(landmarks)).auto(LANDMARKS_AUTO),
        Parameter::new("solver", "how the likelihood is maximized", Kind::Choice(PpcoSolver::NAMES), field!(solver)),
        Parameter::new("start", "the start of the iteration", Kind::Choice(EmStart::NAMES), of_iteration!(start))
            .with("solver", &["em", "em-plain"]),
        Parameter::new(
            "tolerance",
            "stop at this largest residual of an eigenpair; with `solver` em-plain, at this relative change of the \
             coordinates and the noise",
            Kind::number(1e-14, 0.1),
            of_iteration!(tolerance)
        )
        .with("solver", &["em", "em-plain"]),
        Parameter::new(
            "max-iterations",
            "the maximum number of iterations",
            Kind::count(1, 1_000_000),
            of_iteration!(max_iterations)
        )
        .with("solver", &["em", "em-plain"]),
    ];
}

impl Build for Ppco {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["probabilistic-pco", "probabilistic-principal-coordinates"],
            summary: "classical scaling as a latent variable model with noise, fitted by maximum likelihood",
            title: "PPCO",
            good_for: "estimating how much of a dissimilarity matrix is noise",
            caution: "With a kernel, distances are those of the kernel's feature space, not of the data.",
            basis: Basis::Covariance,
            paper: "Zhang & Jordan 2009, section 3",
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
        let (principal, found) = match self.solver {
            PpcoSolver::Eigen => (Principal::of(Self::METHOD, self.kernel, self.landmarks, site)?, None),
            PpcoSolver::Em | PpcoSolver::EmPlain => em::fit(Self::METHOD, self, site)?,
        };
        let gammas = principal.gammas(site.dims);
        let Estimate { noise, loss } = found.unwrap_or_else(|| Estimate::closed_form(&principal, &gammas, site.dims));
        let lengths: Vec<f64> = gammas.iter().map(|gamma| (gamma - noise).max(0.0).sqrt()).collect();
        let figures: Vec<_> =
            [(Figure::Noise, noise)].into_iter().chain(loss.map(|loss| (Figure::Loss, loss))).collect();
        let mut built = principal.built(&lengths, site.dims, &figures)?;
        if let (Task::Solved(solved), false) = (&mut built.task, self.solver == PpcoSolver::Eigen) {
            solved.tolerance = solved.tolerance.max(self.tolerance);
        }
        if loss.is_none() && site.len() > site.dims + 1 {
            built.warnings.push(Warning::Likelihood(
                "the coordinates leave no noise, so the likelihood has no maximum; they are those of mds".into(),
            ));
        }
        Ok(built)
    }
}

/// λ and the objective.
pub(super) struct Estimate {
    /// λ.
    pub(super) noise: f64,
    /// f; `None` where there is no noise.
    pub(super) loss: Option<f64>,
}

impl Estimate {
    /// Theorem 1.
    fn closed_form(principal: &Principal, gammas: &[f64], dims: usize) -> Estimate {
        let n = principal.len();
        let left = (n - 1 - gammas.len().min(dims)) as f64;
        let noise = if left > 0.0 { principal.rest(dims) / left } else { 0.0 };
        let logarithms: f64 = gammas.iter().map(|gamma| gamma.ln()).sum();
        let loss = (noise > 0.0).then(|| logarithms + left * noise.ln() + (n - 1) as f64);
        Estimate { noise, loss }
    }
}

#[cfg(test)]
mod tests;

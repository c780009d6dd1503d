//! Probabilistic principal component analysis: a few latent coordinates, and the same noise variance in every feature.
//!
//! ```text
//! x = μ + W z + ε,   z ~ N(0, I),   ε ~ N(0, σ²I)
//! W = U (w − σ²)^½,   σ² = the mean of the discarded eigenvalues of the covariance        (nothing missing)
//! ```
//!
//! with the largest eigenvalues w of the covariance and their eigenvectors U. A point is embedded at E[z | x]. Missing
//! cells are integrated out: the likelihood is that of the observed cells, and it is maximized by quasi-Newton steps or
//! by EM ([`fit`](super::fit)).
//!
//! M. E. Tipping, C. M. Bishop. Probabilistic principal component analysis. Journal of the Royal Statistical Society B 61,
//! 1999.

use super::fit::{FLOOR, Fit, Fitted, map_of, turned};
use crate::ended::Ended;
use crate::extend::{Latent, Rule};
use crate::field::{Basis, Build, Built, Explained, Info, InputKind, Site, Solved, Task, needs_points};
use crate::figure::Figure;
use crate::input::moments::Moments;
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::{Eigenpairs, RESIDUAL};
use serde::{Deserialize, Serialize};

/// A coordinate with a smaller share of the variance counts as zero.
const NOTHING: f64 = 1e-9;

/// The optimizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LatentSolver {
    /// The fastest: the closed form where there is one, else quasi-Newton.
    #[default]
    Direct,
    /// Expectation maximization.
    Em,
}

choices! {
    LatentSolver {
        Direct: "direct", "the closed form where there is one, else quasi-Newton";
        Em: "em", "expectation maximization, monotone but slow";
    }
}

/// The parameter rows of a method whose likelihood is maximized by [`Fit`], followed by further ones of the method.
macro_rules! fit_rows {
    ($($more:expr),* $(,)?) => {
        &[
            Parameter::new(
                "solver",
                "the optimizer",
                Kind::Choice(LatentSolver::NAMES),
                field!(solver)
            ),
            Parameter::new(
                "tolerance",
                "stop when a step improves the log likelihood by less than this fraction",
                Kind::number(1e-15, 1.0),
                field!(tolerance)
            ),
            Parameter::new(
                "max-iterations",
                "the maximum number of passes over the data",
                Kind::count(1, 1_000_000),
                field!(max_iterations)
            ),
            $($more),*
        ]
    };
}
pub(super) use fit_rows;

/// Probabilistic principal component analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ppca {
    /// The optimizer.
    pub solver: LatentSolver,
    /// The fit stops when a step improves the log likelihood by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of passes over the data.
    pub max_iterations: usize,
}

impl Default for Ppca {
    fn default() -> Ppca {
        Ppca { solver: LatentSolver::Direct, tolerance: 1e-12, max_iterations: 5000 }
    }
}

impl Table for Ppca {
    const METHOD: &'static str = "ppca";
    const TABLE: &'static [Parameter<Ppca>] = fit_rows![];
}

impl Build for Ppca {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["probabilistic-pca"],
            summary: "PCA as a latent variable model with isotropic noise; missing cells are integrated out",
            title: "PPCA",
            good_for: "a first look with an estimate of the noise, and data with missing cells",
            caution: "The map is linear: a curved manifold stays folded, and groups may overlap.",
            basis: Basis::Covariance,
            paper: "Tipping & Bishop 1999",
            accepts: &[InputKind::Points],
            needs_graph: false,
            uses_metric: false,
        }
    }

    /// The field is fitted.
    fn efforts(&self) -> [f64; 3] {
        [1.0, 9.0, 1.0]
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let points = points_for(site, Self::METHOD)?;
        let fit = self.fit(site.dims, site.seed);
        let closed = points.missing().is_empty() && !fit.em;
        let (fitted, pairs) = if closed {
            let (fitted, pairs) = fit.closed(points, site.observer)?;
            (fitted, Some(pairs))
        } else {
            (fit.of(points, site.observer)?, None)
        };
        self.built(fitted, pairs, &Rows::of(points))
    }
}

impl LatentMethod for Ppca {
    fn fit(&self, dims: usize, seed: u64) -> Fit {
        let em = self.solver == LatentSolver::Em;
        Fit { dims, own_noise: false, em, tolerance: self.tolerance, max_iterations: self.max_iterations, seed }
    }

    fn of_moments(&self, moments: &Moments, site: &Site<'_>) -> Result<Built> {
        let (points, fit) = (points_for(site, Self::METHOD)?, self.fit(site.dims, site.seed));
        let (fitted, pairs) = if fit.em {
            (fit.of_moments(moments, site.observer)?, None)
        } else {
            let (fitted, pairs) = fit.closed_of_moments(moments, site.observer)?;
            (fitted, Some(pairs))
        };
        self.built(fitted, pairs, &Rows::about(points, moments.count))
    }

    fn built(&self, mut fitted: Fitted, pairs: Option<Eigenpairs>, rows: &Rows<'_>) -> Result<Built> {
        turned(&mut fitted.latent);
        let (noise, dims) = (fitted.latent.noise[0], fitted.latent.dims());
        let variance = total_variance(&fitted);
        let em = self.solver == LatentSolver::Em;
        let mut built = built(fitted, rows, if em { "em" } else { "quasi-newton" })?;
        if let (Some(pairs), Task::Solved(solved)) = (pairs, &mut built.task) {
            solved.solver = format!("closed form, {}", pairs.solver);
            (solved.eigenvalues, solved.residuals, solved.objective) = (pairs.values, pairs.residuals, None);
        }
        built.figures.insert(0, (Figure::Noise, noise));
        if noise <= 2.0 * FLOOR * variance {
            let fact = "the noise variance was set to its lower limit";
            built.warnings.push(Warning::Likelihood(format!(
                "the points lie in {dims} directions, so that the likelihood has no maximum; {fact}"
            )));
        }
        Ok(built)
    }
}

/// The mean variance of a feature under the model.
fn total_variance(fitted: &Fitted) -> f64 {
    let latent = &fitted.latent;
    let all: f64 = latent.loadings.iter().map(|w| w * w).sum::<f64>() + latent.noise.iter().sum::<f64>();
    all / latent.mean.len() as f64
}

/// The share of the variance under the model that the latent coordinates explain; the rest is noise.
fn explained(latent: &Latent, n: u64) -> Option<Explained> {
    let dims = latent.loadings.len() / latent.mean.len();
    let squares = |q: usize| latent.loadings.iter().skip(q).step_by(dims).map(|w| w * w).sum::<f64>();
    let variances: Vec<f64> = (0..dims).map(|q| n as f64 * squares(q)).collect();
    let noise = n as f64 * latent.noise.iter().sum::<f64>();
    Explained::new(&variances, variances.iter().sum::<f64>() + noise)
}

/// The warning about coordinates without variance, from this one on.
fn idle_coordinates(first: usize, dims: usize) -> String {
    let fact = "noise alone explains the data equally well, as if the variance were the same in every direction";
    match first {
        0 => format!("all points coincide on the map: {fact}; use pca"),
        _ => {
            let which = if first + 1 == dims {
                format!("coordinate {dims} is")
            } else {
                format!("coordinates {} to {dims} are", first + 1)
            };
            format!("{which} the same for all points: given the others, {fact}; use `dims` {first}, or pca")
        }
    }
}

/// A method that maximizes the likelihood of a linear latent model.
pub(crate) trait LatentMethod {
    /// How the model is fitted.
    fn fit(&self, dims: usize, seed: u64) -> Fit;

    /// The result for complete rows that are elsewhere, about the sample of them that the site has.
    ///
    /// # Errors
    ///
    /// As [`Build::build`].
    fn of_moments(&self, moments: &Moments, site: &Site<'_>) -> Result<Built>;

    /// The result of a fitted model, with the eigenpairs of its closed form, if that was used.
    ///
    /// # Errors
    ///
    /// If the rows cannot be embedded.
    fn built(&self, fitted: Fitted, pairs: Option<Eigenpairs>, rows: &Rows<'_>) -> Result<Built>;
}

/// The rows that a model was fitted to, and those of them that are here.
pub(crate) struct Rows<'a> {
    /// The rows that are embedded.
    pub(crate) points: &'a Points,
    /// The number of all rows, of their observed cells, and of the rows without any.
    pub(crate) count: u64,
    pub(crate) cells: f64,
    pub(crate) empty: u64,
}

impl<'a> Rows<'a> {
    /// All of them are here.
    pub(super) fn of(points: &'a Points) -> Rows<'a> {
        let empty = (0..points.rows()).filter(|&i| points.missing_of(i).count() == points.cols()).count();
        let cells = (points.values().len() - points.missing().len()) as f64;
        Rows { points, count: points.rows() as u64, cells, empty: empty as u64 }
    }

    /// A sample of so many complete rows.
    pub(super) fn about(points: &'a Points, count: u64) -> Rows<'a> {
        Rows { points, count, cells: count as f64 * points.cols() as f64, empty: 0 }
    }
}

/// The points, checked to have enough features for a noise variance.
pub(super) fn points_for<'a>(site: &Site<'a>, method: &str) -> Result<&'a Points> {
    let instead = "ppco embeds distances and similarities as a model with noise";
    let points = site.data.points().ok_or_else(|| needs_points(method, instead))?;
    check_features(points.cols(), site.dims, method)?;
    Ok(points)
}

/// Refuses so many coordinates of so few features that nothing is left for the noise.
pub(crate) fn check_features(p: usize, dims: usize, method: &str) -> Result<()> {
    if dims >= p {
        let fact = format!("{dims} coordinates of {p} features leave no noise, which {method} needs");
        let way_out = if p > 1 { format!("use `dims` {} or less", p - 1) } else { "use another method".into() };
        return Err(Error::out_of_range("dims", dims, 1..=p - 1, fact, way_out));
    }
    Ok(())
}

/// The result of a fitted model: the posterior means of all points, and the rule for new ones.
pub(super) fn built(fitted: Fitted, rows: &Rows<'_>, solver: &str) -> Result<Built> {
    let &Rows { points, count, cells, empty } = rows;
    let explained = explained(&fitted.latent, count);
    let Fitted { mut latent, log_likelihood, curve, iterations, converged, gradient } = fitted;
    let coordinates = map_of(&mut latent, points)?;
    let solved = Solved {
        coordinates,
        eigenvalues: Vec::new(),
        residuals: Vec::new(),
        tolerance: RESIDUAL,
        objective: Some((-log_likelihood / cells, gradient)),
        curve: (1..).zip(curve.iter().map(|value| -value / cells)).collect(),
        solver: solver.into(),
        iterations,
    };
    let mut built = Built::of(Task::Solved(solved), Rule::Latent(latent));
    (built.log_likelihood, built.explained) = (Some(log_likelihood), explained);
    built.ended = Ended::of(converged, false);
    if empty > 0 {
        built
            .warnings
            .push(Warning::Data(format!("{empty} rows have no observed cell; they are put at the mean of all others")));
    }
    let ratios = built.explained.as_ref().map_or(&[][..], |explained| &explained.ratio);
    if let Some(idle) = ratios.iter().position(|&ratio| ratio < NOTHING) {
        built.warnings.push(Warning::FewDirections(idle_coordinates(idle, ratios.len())));
    }
    if !converged {
        built.warnings.push(Warning::NotConverged(format!(
            "the fit did not converge in {iterations} passes; raise `max-iterations`"
        )));
    }
    Ok(built)
}

//! The largest eigenpairs of Q, by all pairs of points or by landmarks, and the coordinates of the models built on
//! them.

use crate::ended::Ended;
use crate::extend::{Features, Rule};
use crate::field::latent::landmarks;
use crate::field::latent::pairs::Pairs;
use crate::field::scaling::centered::Centered;
use crate::field::scaling::mds::too_many_landmarks;
use crate::field::{Built, Explained, Site, Solved, Task, needs_points};
use crate::figure::Figure;
use crate::kernel::mercer::Kernel;
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::sign;
use eigenfold_linalg::eigen::top::operator_top;
use eigenfold_linalg::error::{Error, Result, plural};
use eigenfold_linalg::{Eigenpairs, RESIDUAL};

/// Up to this many points Q is taken over all pairs by default.
const ALL_PAIRS: usize = 5000;
/// The default number of landmarks for more points than that.
const LANDMARKS: usize = 300;
/// A remainder of the trace below this fraction of it is rounding.
const ROUNDING: f64 = 1e-13;
/// The same where the pairs are stored in single precision.
const SINGLE_ROUNDING: f64 = 1e-7;

/// The meaning and the default of the parameter `landmarks`.
pub(super) const LANDMARKS_HELP: &str =
    "the number of landmarks (k-means centers); the number of points selects the exact method";
pub(super) const LANDMARKS_AUTO: &str = "exact up to 5,000 points if their matrix fits into memory, else 300";

/// The largest eigenpairs of Q, and what comes with them.
pub(super) struct Principal {
    /// γ and Ψ: the requested pairs, then some further ones.
    pub(super) pairs: Eigenpairs,
    /// tr Q.
    pub(super) trace: f64,
    /// How new points are embedded; the rule of landmarks is for coordinates of length one.
    pub(super) rule: Rule,
    /// What else there is to show, by name.
    pub(super) figures: Vec<(Figure, f64)>,
    /// What the user should know.
    pub(super) warnings: Vec<Warning>,
    /// Parameters that were left to the method, as it chose them.
    pub(super) used: Vec<(&'static str, String)>,
}

impl Principal {
    /// By a partial eigen-solve of Q, or of its landmark approximation.
    ///
    /// # Errors
    ///
    /// If the input or a parameter is not suitable, the matrix would exceed the memory limit, or the observer stops the
    /// run.
    pub(super) fn of(method: &str, kernel: Kernel, requested: Option<usize>, site: &Site<'_>) -> Result<Principal> {
        if let Some(count) = landmark_count(method, requested, site)? {
            let points = site.data.points().ok_or_else(|| needs_points(method, "leave out `landmarks`"))?;
            let mut found = landmarks::principal(points, kernel, count, site)?;
            found.used.push(("landmarks", count.to_string()));
            if requested.is_none() {
                let error = found
                    .figures
                    .iter()
                    .find(|(name, _)| *name == Figure::KernelError)
                    .map_or(0.0, |(_, error)| *error);
                found.warnings.push(Warning::Approximate(format!(
                    "{count} landmarks stand for the points, with an error of {error:.1e} in the kernel; use more \
                     `landmarks`, or as many as points for none"
                )));
            }
            return Ok(found);
        }
        let pairs = Pairs::of(method, kernel, site)?;
        let top = operator_top(&pairs.q, site.dims, site.seed, site.observer)?;
        Principal::of_pairs(&pairs, top, site)
    }

    /// All pairs, with known eigenpairs.
    pub(super) fn of_pairs(pairs: &Pairs<'_>, top: Eigenpairs, site: &Site<'_>) -> Result<Principal> {
        let largest = top.values.first().copied().unwrap_or(0.0);
        let mut used = pairs.used();
        used.push(("landmarks", "none".into()));
        Ok(Principal {
            trace: pairs.trace(),
            rule: pairs.rule(),
            figures: Vec::new(),
            warnings: pairs
                .indefinite(largest, site.seed, site.observer)?
                .map(Warning::NotEuclidean)
                .into_iter()
                .collect(),
            used,
            pairs: top,
        })
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.pairs.vectors.nrows()
    }

    /// γ[1..q] that are positive beyond rounding.
    pub(super) fn gammas(&self, dims: usize) -> Vec<f64> {
        let all = &self.pairs.values;
        let least = ROUNDING * all.first().copied().unwrap_or(0.0).max(0.0);
        all.iter().take(dims).copied().take_while(|&gamma| gamma > least).collect()
    }

    /// tr Q − Σ γ[1..q]: the sum of the eigenvalues beyond the coordinates; zero if that is rounding or negative.
    pub(super) fn rest(&self, dims: usize) -> f64 {
        let rest = self.trace - self.gammas(dims).iter().sum::<f64>();
        let rounding = if self.len() > Centered::SINGLE_ABOVE { SINGLE_ROUNDING } else { ROUNDING };
        if rest > rounding * self.trace { rest } else { 0.0 }
    }

    /// Coordinates of these lengths along the eigenvectors; those without one are zero.
    pub(super) fn built(mut self, lengths: &[f64], dims: usize, figures: &[(Figure, f64)]) -> Result<Built> {
        let pairs = self.pairs;
        let variances: Vec<f64> = (0..dims).map(|q| lengths.get(q).map_or(0.0, |length| length * length)).collect();
        let explained = Explained::new(&variances, self.trace);
        if lengths.len() < dims {
            let count = lengths.len();
            self.warnings.push(Warning::FewDirections(format!(
                "the map varies in only {count} directions; the other coordinates are zero"
            )));
        }
        if !pairs.converged {
            let worst = pairs.residuals.iter().take(dims).fold(0.0, |a: f64, &b| a.max(b));
            let (solver, steps) = (&pairs.solver, pairs.iterations);
            self.warnings.push(Warning::NotConverged(format!(
                "{solver} did not converge in {steps} steps (largest residual {worst:.1e})"
            )));
        }
        let signed: Vec<f64> =
            (0..dims).map(|q| lengths.get(q).map_or(0.0, |length| sign(pairs.vectors.as_ref(), q) * length)).collect();
        let along = |i: usize, q: usize| if signed[q] == 0.0 { 0.0 } else { signed[q] * pairs.vectors[(i, q)] };
        let n = pairs.vectors.nrows();
        let values = (0..n * dims).map(|at| along(at / dims, at % dims)).collect();
        let rule = match self.rule {
            Rule::Features(features) => Rule::Features(rescaled(features, &signed)?),
            rule => rule,
        };
        let (mut eigenvalues, mut residuals) = (pairs.values, pairs.residuals);
        eigenvalues.resize(eigenvalues.len().max(dims), 0.0);
        residuals.resize(eigenvalues.len(), 0.0);
        let solved = Solved {
            coordinates: Points::computed(n, dims, values)?,
            eigenvalues,
            residuals,
            // The warning that they did not converge is there already.
            tolerance: if pairs.converged { RESIDUAL } else { f64::INFINITY },
            objective: None,
            curve: Vec::new(),
            solver: pairs.solver,
            iterations: pairs.iterations,
        };
        let figures = figures.iter().chain(&self.figures).copied().collect();
        let (ended, warnings, used) = (Ended::of(pairs.converged, false), self.warnings, self.used);
        Ok(Built { figures, warnings, used, ended, explained, ..Built::of(Task::Solved(solved), rule) })
    }
}

/// The rule of unit coordinates, rescaled to the given lengths.
fn rescaled(features: Features, lengths: &[f64]) -> Result<Features> {
    let dims = lengths.len();
    let Features { kernel, places, axes, origin } = features;
    let columns = axes.cols();
    let value = |at: usize| if at % dims < columns { lengths[at % dims] * axes.row(at / dims)[at % dims] } else { 0.0 };
    let rescaled = Points::new(axes.rows(), dims, (0..axes.rows() * dims).map(value).collect())?;
    let origin = (0..dims).map(|q| origin.get(q).map_or(0.0, |b| lengths[q] * b)).collect();
    Ok(Features { kernel, places, axes: rescaled, origin })
}

/// The number of landmarks; `None` if all pairs are used.
fn landmark_count(method: &str, requested: Option<usize>, site: &Site<'_>) -> Result<Option<usize>> {
    let n = site.len();
    let has_points = site.data.points().is_some();
    match requested {
        Some(count) if count > n => Err(too_many_landmarks(count, n)),
        Some(_) if !has_points => {
            Err(Error::inapplicable("landmarks", format!("{method} with `landmarks` needs points"), "leave them out"))
        }
        Some(count) if count < n && count <= site.dims => {
            let least = site.dims + 1;
            Err(Error::out_of_range(
                "landmarks",
                count,
                least..=n,
                format!("{count} `landmarks` span at most {}", plural(count.saturating_sub(1), "dimension")),
                format!("use `landmarks` {least} or more"),
            ))
        }
        Some(count) => Ok((count < n).then_some(count)),
        None if !has_points => Ok(None),
        None if n <= ALL_PAIRS && Centered::memory(n) <= site.memory => Ok(None),
        None => Ok(Some(LANDMARKS.max(4 * site.dims)).filter(|&count| count < n)),
    }
}

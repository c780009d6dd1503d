//! The GP likelihood of a map: the likelihood of the data under a Gaussian process over any embedding.
//!
//! A good map explains the data as a smooth function of its coordinates, with little noise. In the symbols of
//! `docs/reference/notation.md` (data X, map Y), with one covariance for all p features:
//!
//! ```text
//! K[i,j] = v exp(−‖y[i] − y[j]‖² / 2ℓ²) + b + w [i = j]
//! score = max over v, ℓ, b, w of  −½ p log det K − ½ tr K⁻¹ X̃X̃ᵀ − ½ n p log 2π
//! ```
//!
//! The features are centered and not scaled, and constant ones are left out: they have no density. By default every
//! coordinate of the map has its own length scale, `‖y[i] − y[j]‖² / ℓ²` becoming `Σ_q (y[i,q] − y[j,q])² / ℓ[q]²`, so
//! that no convention of scale favors a method ([`LengthRule`]). The likelihood is maximized from several starts, because
//! a single start may end in a poor local maximum; all results are reported. Noise stays above 1e-6 of the data's
//! variance, since the likelihood of a map that explains everything would be unbounded.
//!
//! Up to 2,000 points the likelihood is exact (`gp/exact.rs`), beyond that it is a lower bound (`gp/sparse.rs`).
//!
//! N. D. Lawrence. Probabilistic non-linear principal component analysis with Gaussian process latent variable models.
//! JMLR 6, 2005. N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction: insights
//! and new models. JMLR 13, 2012, section 4 (the score of other methods' maps).

mod search;

pub use crate::gp::{GpParameters, NOISE_FLOOR};
pub use search::MOST_INDUCING;

use crate::gp::Process;
use crate::gp::exact::Exact;
use crate::gp::problem::Problem;
use crate::gp::sparse::Sparse;
use crate::gp_likelihood::search::{End, Lengthwise, best_of, descend, refine, search};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Share, Stage};

/// The maximum number of points for which the likelihood is computed exactly by default.
pub const EXACT_POINTS: usize = 2000;
/// The default number of inducing points of the first bound.
pub const INDUCING: usize = 200;

/// The length scales on the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LengthRule {
    /// A length scale for every coordinate: no scaling of single columns changes the result.
    #[default]
    Ard,
    /// One length scale, every column scaled to unit variance.
    Unit,
    /// One length scale, the map in its own units.
    Raw,
}

impl LengthRule {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            LengthRule::Ard => "ard",
            LengthRule::Unit => "unit",
            LengthRule::Raw => "raw",
        }
    }
}

/// The starts of the optimization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Starts {
    /// Length scales of 0.1, 0.3 and 1 median distances with noises of 0.01 and 0.3 of the data's variance, and
    /// Lawrence's.
    #[default]
    All,
    /// [`GpParameters::LAWRENCE`] alone, as for his published scores.
    One,
}

/// The options of the GP likelihood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpLikelihood {
    /// The length scales on the map.
    pub lengths: LengthRule,
    /// The starts of the optimization.
    pub starts: Starts,
    /// The inducing points of the bound; by default the likelihood is exact up to 2,000 points, and beyond that uses
    /// 200 inducing points, or more, up to 800, as long as they add to the bound.
    pub inducing: Option<usize>,
}

/// The GP likelihood of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct GpEvaluation {
    /// The log likelihood, or its lower bound; larger is better. Only values for the same data are comparable.
    pub log_likelihood: f64,
    /// The parameters at the maximum; the length is the geometric mean if every coordinate has its own.
    pub parameters: GpParameters,
    /// The length scale of every coordinate, in the map's own units, if each has its own.
    pub by_coordinate: Option<Vec<f64>>,
    /// The result of each start, in the order of [`Starts`], before the bound was refined; `None` where the likelihood
    /// could not be computed. With [`LengthRule::Ard`] the starts are the best parameters with one length scale: of unit
    /// columns, and of the map as it is.
    pub starts: Vec<Option<f64>>,
    /// Whether the noise is at its lower bound: the map explains the data as well as can be measured, and less
    /// noise would increase the likelihood.
    pub noise_floor: bool,
    /// The number of inducing points if the value is the lower bound, `None` if it is exact.
    pub inducing: Option<usize>,
    /// The length scales on the map.
    pub lengths: LengthRule,
    /// The number of features that vary.
    pub features: usize,
    /// The number of constant features, which were left out.
    pub constant: usize,
    /// Evaluations of the likelihood and its gradient, over all starts.
    pub evaluations: usize,
    /// Whether the best start converged, and the observer did not stop the run.
    pub converged: bool,
}

impl GpLikelihood {
    /// The GP likelihood of a map of the data: one row per point in both.
    ///
    /// # Errors
    ///
    /// If the numbers of rows differ, no feature varies, or the number of inducing points is out of range;
    /// [`Error::Stopped`] if the observer stops the run before a start has ended; [`Error::Numerical`] if no start has
    /// a likelihood.
    pub fn of(&self, data: &Points, map: &Points, observer: &dyn Observer) -> Result<GpEvaluation> {
        let problem = Problem::new(data, map, self.lengths == LengthRule::Raw)?;
        let inducing = self.inducing(problem.n)?;
        let all = Share::all(observer).of_stage(Stage::Quality);
        all.progress(Stage::Quality, 0.0);
        let refines = inducing.is_some() && self.inducing.is_none();
        let [searching, refining] = Share::split(&all, [1.0, if refines { 1.0 } else { 0.0 }]);
        let raw = match self.lengths {
            LengthRule::Ard => Some(Problem::new(data, map, true)?),
            LengthRule::Unit | LengthRule::Raw => None,
        };
        let SearchResults { ends, before } = match &raw {
            None => SearchResults { ends: self.search(&problem, inducing, (0.0, 1.0), &searching)?, before: 0 },
            Some(raw) => self.search_lengthwise(&problem, raw, inducing, &searching)?,
        };
        let Some(best) = best_of(&ends) else {
            let (fact, way_out) =
                ("the covariance is singular at every start", "give a map with fewer points at the same place");
            return Err(if observer.stop() { Error::Stopped } else { Error::numerical(fact, way_out) });
        };
        let (best, inducing) = match inducing {
            Some(m) if refines => refine(&problem, best, m, &refining)?,
            requested => (End { evaluations: 0, ..best.clone() }, requested),
        };
        let evaluations = before + ends.iter().map(|end| end.evaluations).sum::<usize>() + best.evaluations;
        all.finish();
        let in_units = |value: f64| problem.log_likelihood(value);
        let by_coordinate = raw.as_ref().map(|_| in_own_units(&problem, map, &best));
        let mut parameters = problem.in_units(&best.parameters());
        if let Some(lengths) = &by_coordinate {
            parameters.length = (lengths.iter().map(|length| length.ln()).sum::<f64>() / lengths.len() as f64).exp();
        }
        Ok(GpEvaluation {
            log_likelihood: in_units(best.value),
            parameters,
            by_coordinate,
            starts: ends.iter().map(|end| end.value.is_finite().then(|| in_units(end.value))).collect(),
            noise_floor: best.log_noise() <= NOISE_FLOOR.ln() + 1e-9,
            inducing,
            lengths: self.lengths,
            features: problem.features,
            constant: data.cols() - problem.features,
            evaluations,
            converged: best.converged && !ends.iter().any(|end| end.stopped),
        })
    }

    /// The result of every start with one length scale.
    fn search(
        &self,
        problem: &Problem,
        inducing: Option<usize>,
        progress: (f64, f64),
        observer: &dyn Observer,
    ) -> Result<Vec<End>> {
        search(problem, inducing, &self.starts(problem), progress, observer)
    }

    /// With a length scale for every coordinate, from the best parameters with one: of unit columns and of the map as
    /// it is. So the value is at least as large as either.
    fn search_lengthwise(
        &self,
        unit: &Problem,
        raw: &Problem,
        inducing: Option<usize>,
        observer: &dyn Observer,
    ) -> Result<SearchResults> {
        let tried =
            [self.search(unit, inducing, (0.0, 0.3), observer)?, self.search(raw, inducing, (0.3, 0.6), observer)?];
        let before = tried.iter().flatten().map(|end| end.evaluations).sum();
        let stopped = tried.iter().flatten().any(|end| end.stopped);
        let from = |(own, ends): (&Problem, &Vec<End>)| {
            let best = best_of(ends)?;
            let [variance, length, noise] = [best.logs[0], best.logs[1], best.log_noise()];
            let lengths = ratios(own, unit).into_iter().map(|ratio| length - ratio.ln());
            let logs = [variance].into_iter().chain(lengths).chain([noise]).collect();
            Some(End { logs, evaluations: 0, ..best.clone() })
        };
        let from: Vec<End> = [unit, raw].into_iter().zip(&tried).filter_map(from).collect();
        let starts: Vec<Vec<f64>> = from.iter().map(|end| end.logs.clone()).collect();
        let mut ends = descend(&Lengthwise { problem: unit, inducing }, unit, &starts, (0.6, 1.0), observer)?;
        for (end, from) in ends.iter_mut().zip(from) {
            end.stopped |= stopped;
            if end.value.is_nan() || end.value > from.value {
                // It was stopped before its first step, or a length scale is out of bounds.
                *end = End { stopped: end.stopped, converged: false, evaluations: end.evaluations, ..from };
            }
        }
        Ok(SearchResults { ends, before })
    }

    /// The log likelihood (or its bound) at given parameters, without optimization. The length scale is one for all
    /// coordinates, in the units of the map, or of its columns scaled to unit variance with [`LengthRule::Unit`].
    ///
    /// # Errors
    ///
    /// As [`GpLikelihood::of`]; [`Error::Parameter`] if a parameter is not positive and finite.
    pub fn at(&self, data: &Points, map: &Points, parameters: &GpParameters) -> Result<f64> {
        let GpParameters { variance, length, bias, noise } = *parameters;
        if [variance, length, bias, noise].iter().any(|x| !x.is_finite() || *x <= 0.0) {
            return Err(Error::parameter(
                "parameters",
                format!("{parameters:?} are not valid parameters"),
                "give positive finite numbers",
            ));
        }
        let problem = Problem::new(data, map, self.lengths != LengthRule::Unit)?;
        let GpParameters { variance, length, bias, noise } = problem.to_own_units(parameters);
        let value = match self.inducing(problem.n)? {
            None => Exact::new(&problem)?.negative(&mut None, variance, length, Some(bias), noise),
            Some(m) => Sparse::new(&problem, m).negative(&mut None, variance, length, Some(bias), noise),
        };
        let singular = || Error::numerical("the covariance is singular there", "give more noise");
        value.map(|negative| problem.log_likelihood(negative.value)).ok_or_else(singular)
    }

    /// The number of inducing points, `None` for the exact likelihood.
    fn inducing(&self, n: usize) -> Result<Option<usize>> {
        match self.inducing {
            None => Ok((n > EXACT_POINTS).then_some(INDUCING)),
            Some(0) => {
                Err(Error::out_of_range("inducing", 0, 1..=n, "0 inducing points bound nothing", "give at least 1"))
            }
            Some(m) if m > n => Err(Error::out_of_range(
                "inducing",
                m,
                1..=n,
                format!("{m} inducing points are more than the {n} points"),
                format!("give at most {n}"),
            )),
            Some(m) => Ok(Some(m)),
        }
    }

    /// The logarithms of variance, length scale and noise of the starts in the problem's units, where the data have
    /// variance 1 and the median distance is 1. The bias has no start: it follows from the others.
    fn starts(&self, problem: &Problem) -> Vec<Vec<f64>> {
        let lawrence = problem.to_own_units(&GpParameters::LAWRENCE);
        let lawrence = [lawrence.variance, lawrence.length, lawrence.noise].map(f64::ln).to_vec();
        if self.starts == Starts::One {
            return vec![lawrence];
        }
        let own = |length: f64, noise: f64| [1.0, length, noise].map(f64::ln).to_vec();
        let grid = [0.1, 0.3, 1.0].into_iter().flat_map(|length| [0.01, 0.3].map(|noise| own(length, noise)));
        grid.chain([lawrence]).collect()
    }
}

/// The results of a search, and the evaluations before it.
struct SearchResults {
    ends: Vec<End>,
    before: usize,
}

/// The ratio of the widths of every coordinate in two problems; one where it has no width.
fn ratios(problem: &Problem, other: &Problem) -> Vec<f64> {
    let widths = problem.spreads().into_iter().zip(other.spreads());
    widths.map(|(a, b)| if b > 0.0 { (a / b).max(f64::MIN_POSITIVE) } else { 1.0 }).collect()
}

/// The length scales of a result in the problem of unit columns, in the units of the map.
fn in_own_units(unit: &Problem, map: &Points, end: &End) -> Vec<f64> {
    let (n, mean) = (map.rows(), map.column_means());
    let width = |q: usize| {
        let column = || (0..n).map(|i| map.row(i)[q] - mean[q]);
        let largest = column().fold(0.0, |largest: f64, y| largest.max(y.abs())).max(f64::MIN_POSITIVE);
        largest * column().map(|y| (y / largest).powi(2)).sum::<f64>().sqrt()
    };
    let widths = unit.spreads().into_iter().enumerate();
    let own = widths.map(|(q, spread)| if spread > 0.0 { width(q) / spread } else { 1.0 });
    end.lengths().iter().zip(own).map(|(log, own)| log.exp() * own).collect()
}

#[cfg(test)]
mod tests;

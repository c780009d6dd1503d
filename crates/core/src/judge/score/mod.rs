//! How good is a map, whoever made it: the likelihood of the data under a Gaussian process over the map.
//!
//! A good map explains the data as a smooth function of its coordinates, with little noise. In the symbols of
//! `docs/notation.md` (data X, map Y), with one covariance for all p features:
//!
//! ```text
//! K[i,j] = v exp(−‖y[i] − y[j]‖² / 2ℓ²) + b + w [i = j]
//! score = max over v, ℓ, b, w of  −½ p log det K − ½ tr K⁻¹ X̃X̃ᵀ − ½ n p log 2π
//! ```
//!
//! The features are centered and not scaled, and those that are the same for all points are left out: they have no
//! density. The map's columns are scaled to unit variance unless that is declined. The largest likelihood is sought
//! from several starts, because one start ranks maps by luck; all ends are reported. Noise stays above 1e-6 of the
//! data's variance, since a map that explains everything would have no largest likelihood.
//!
//! Up to 2,000 points the likelihood is exact (`gp/exact.rs`), beyond that a lower bound is (`gp/sparse.rs`).
//!
//! N. D. Lawrence. Probabilistic non-linear principal component analysis with Gaussian process latent variable models.
//! JMLR 6, 2005. N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction: insights
//! and new models. JMLR 13, 2012, section 4 (the score of other methods' maps).

pub use crate::gp::{NOISE_FLOOR, Parameters};

use crate::error::{Error, Result};
use crate::gp::exact::Exact;
use crate::gp::problem::Problem;
use crate::gp::sparse::Sparse;
use crate::gp::{BOX, Process};
use crate::linalg::parallel;
use crate::optimize::{Bounds, Descent, Ended, Report, Stop};
use crate::points::Points;
use crate::progress::{Observer, Stage};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most points for which the likelihood is computed exactly unless something else is asked for.
pub const EXACT_POINTS: usize = 2000;
/// The inducing points of the first bound unless something else is asked for.
pub const INDUCING: usize = 200;
/// The most inducing points to which that bound is refined.
pub const MOST_INDUCING: usize = 800;
/// What twice as many inducing points must add to the bound to be worth a descent.
const GAIN: f64 = 1.0;
/// The fewest and the most points on which every start is tried.
const TRIAL_POINTS: (usize, usize) = (200, 500);

/// From where the largest likelihood is sought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Starts {
    /// Lengths of 0.1, 0.3 and 1 median distances with noises of 0.01 and 0.3 of the data's variance, and Lawrence's.
    #[default]
    All,
    /// [`Parameters::LAWRENCE`] alone, as for his published scores.
    One,
}

/// The score as it is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GplvmScore {
    /// Whether the map is scored in its own units instead of with unit variance in every column.
    pub raw: bool,
    /// From where the largest likelihood is sought.
    pub starts: Starts,
    /// The inducing points of the bound; if not given, up to 2,000 points are scored exactly, and more by 200 of them or
    /// as many more, up to 800, as add to the bound.
    pub inducing: Option<usize>,
}

/// How good a map is.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The log likelihood, or its lower bound; larger is better. Compare only scores of the same data.
    pub log_likelihood: f64,
    /// Where it was found.
    pub parameters: Parameters,
    /// What each start led to, in the order of [`Starts`], before the bound was refined; None where the likelihood could
    /// not be computed.
    pub starts: Vec<Option<f64>>,
    /// Whether the noise is at its smallest: the map explains the data as well as can be told, and more would count.
    pub noise_floor: bool,
    /// The number of inducing points if the score is the lower bound, None if it is exact.
    pub inducing: Option<usize>,
    /// Whether the map's columns were scaled to unit variance.
    pub scaled: bool,
    /// Features that vary and count.
    pub features: usize,
    /// Features that are the same for all points and were left out.
    pub constant: usize,
    /// Evaluations of the likelihood and its gradient, over all starts.
    pub evaluations: usize,
    /// Whether the best start met its tolerance, and the observer let all starts come to their ends.
    pub converged: bool,
}

impl GplvmScore {
    /// The score of a map of the data: one row a point in both.
    ///
    /// # Errors
    ///
    /// If the rows do not match, no feature varies, or the inducing points do not fit; [`Error::Stopped`] if the
    /// observer stops it before a start has ended; [`Error::Numerical`] if no start has a likelihood.
    pub fn of(&self, data: &Points, map: &Points, observer: &dyn Observer) -> Result<Score> {
        let problem = Problem::new(data, map, self.raw)?;
        let inducing = self.inducing(problem.n)?;
        let starts = self.starts(&problem);
        observer.progress(Stage::Score, 0.0);
        let ends = match inducing {
            None => search(&Exact::new(&problem)?, &problem, &starts, observer)?,
            Some(m) => search(&Sparse::new(&problem, m), &problem, &starts, observer)?,
        };
        let best = ends.iter().filter(|end| end.value.is_finite()).reduce(|a, b| if b.value < a.value { b } else { a });
        let Some(best) = best else {
            let fact = "the covariance is singular at every start; give a map with fewer points at the same place";
            return Err(if observer.stop() { Error::Stopped } else { Error::Numerical(fact.into()) });
        };
        let (best, inducing) = match inducing {
            Some(m) if self.inducing.is_none() => refine(&problem, best, m, observer)?,
            asked => (End { evaluations: 0, ..best.clone() }, asked),
        };
        let evaluations = ends.iter().map(|end| end.evaluations).sum::<usize>() + best.evaluations;
        observer.progress(Stage::Score, 1.0);
        let in_units = |value: f64| problem.log_likelihood(value);
        Ok(Score {
            log_likelihood: in_units(best.value),
            parameters: problem.in_units(&best.parameters()),
            starts: ends.iter().map(|end| end.value.is_finite().then(|| in_units(end.value))).collect(),
            noise_floor: best.logs[2] <= NOISE_FLOOR.ln() + 1e-9,
            inducing,
            scaled: !self.raw,
            features: problem.features,
            constant: data.cols() - problem.features,
            evaluations,
            converged: best.converged && !ends.iter().any(|end| end.stopped),
        })
    }

    /// The log likelihood (or its bound) at given parameters, without a search.
    ///
    /// # Errors
    ///
    /// As [`GplvmScore::of`]; [`Error::Parameter`] if a parameter is not positive and finite.
    pub fn at(&self, data: &Points, map: &Points, parameters: &Parameters) -> Result<f64> {
        let Parameters { variance, length, bias, noise } = *parameters;
        if [variance, length, bias, noise].iter().any(|x| !x.is_finite() || *x <= 0.0) {
            return Err(Error::parameter(format!("{parameters:?} are no parameters; give positive finite numbers")));
        }
        let problem = Problem::new(data, map, self.raw)?;
        let Parameters { variance, length, bias, noise } = problem.to_own_units(parameters);
        let value = match self.inducing(problem.n)? {
            None => Exact::new(&problem)?.negative(&mut None, variance, length, Some(bias), noise),
            Some(m) => Sparse::new(&problem, m).negative(&mut None, variance, length, Some(bias), noise),
        };
        let singular = || Error::Numerical("the covariance is singular there; give more noise".into());
        value.map(|negative| problem.log_likelihood(negative.value)).ok_or_else(singular)
    }

    /// The number of inducing points, None for the exact likelihood.
    fn inducing(&self, n: usize) -> Result<Option<usize>> {
        match self.inducing {
            None => Ok((n > EXACT_POINTS).then_some(INDUCING)),
            Some(0) => Err(Error::parameter("0 inducing points bound nothing; give at least 1")),
            Some(m) if m > n => {
                Err(Error::parameter(format!("{m} inducing points are more than the {n} points; give at most {n}")))
            }
            Some(m) => Ok(Some(m)),
        }
    }

    /// The logarithms of variance, length and noise of the starts in the problem's units, where the data have variance 1
    /// and the median distance is 1. The bias has no start: it follows from the others.
    fn starts(&self, problem: &Problem) -> Vec<[f64; 3]> {
        let lawrence = problem.to_own_units(&Parameters::LAWRENCE);
        let lawrence = [lawrence.variance, lawrence.length, lawrence.noise].map(f64::ln);
        if self.starts == Starts::One {
            return vec![lawrence];
        }
        let own = |length: f64, noise: f64| [1.0, length, noise].map(f64::ln);
        let grid = [0.1, 0.3, 1.0].into_iter().flat_map(|length| [0.01, 0.3].map(|noise| own(length, noise)));
        grid.chain([lawrence]).collect()
    }
}

/// Where a start led.
#[derive(Clone, Debug)]
struct End {
    /// log v, log ℓ and log w.
    logs: [f64; 3],
    bias: f64,
    /// The smallest negative log likelihood; infinite if there is none.
    value: f64,
    evaluations: usize,
    converged: bool,
    /// Whether the observer stopped it, or kept it from starting.
    stopped: bool,
}

impl End {
    fn nowhere(start: &[f64; 3], stopped: bool) -> End {
        End { logs: *start, bias: BOX[2].0, value: f64::INFINITY, evaluations: 1, converged: false, stopped }
    }

    fn parameters(&self) -> Parameters {
        let [variance, length, noise] = self.logs.map(f64::exp);
        Parameters { variance, length, bias: self.bias, noise }
    }
}

/// Descends from every start while the progress goes from one fraction to another.
fn descend(
    likelihood: &dyn Process,
    problem: &Problem,
    starts: &[[f64; 3]],
    progress: (f64, f64),
    observer: &dyn Observer,
) -> Result<Vec<End>> {
    let free = [BOX[0], BOX[1], BOX[3]];
    let bounds = Bounds::Box {
        lower: free.iter().map(|(low, _)| low.ln()).collect(),
        upper: free.iter().map(|(_, high)| high.ln()).collect(),
    };
    let entries = (problem.n * problem.features) as f64;
    // The likelihood is a sum over all entries, and its slopes and curvatures grow with their number: what is left
    // below the best is about (1e-7)² of it.
    let stop = Stop { gradient: 1e-7 * entries, decrease: 1e-12, evaluations: 300 };
    let descent = Descent { bounds, memory: 8, scale: None, cautious: false, stop, stage: None };
    let done = AtomicUsize::new(0);
    let one = |start: &[f64; 3]| {
        if observer.stop() {
            return Ok(End::nowhere(start, true));
        }
        let (mut space, mut biases) = (None, Vec::<(f64, f64)>::new());
        let mut negative = |logs: &[f64], gradient: &mut [f64]| {
            let [variance, length, noise] = [logs[0], logs[1], logs[2]].map(f64::exp);
            let Some(here) = likelihood.negative(&mut space, variance, length, None, noise) else { return Ok(None) };
            biases.push((here.value, here.bias));
            gradient.copy_from_slice(&[here.slopes[0], here.slopes[1], here.slopes[3]]);
            Ok(Some(here.value))
        };
        let end = match descent.minimize(start, &mut negative, observer) {
            Ok((logs, report)) => End {
                logs: [logs[0], logs[1], logs[2]],
                bias: biases.iter().find(|(value, _)| *value == report.value).map_or(BOX[2].0, |(_, bias)| *bias),
                value: report.value,
                evaluations: report.evaluations,
                converged: settled(&report, entries),
                stopped: report.ended == Ended::Stopped,
            },
            // The covariance is singular at the start itself.
            Err(Error::Numerical(_)) => End::nowhere(start, false),
            Err(error) => return Err(error),
        };
        let share = (1 + done.fetch_add(1, Ordering::Relaxed)) as f64 / starts.len() as f64;
        observer.progress(Stage::Score, progress.0 + share * (progress.1 - progress.0));
        Ok(end)
    };
    if likelihood.one_thread() {
        parallel::try_collect(starts.len(), |at| one(&starts[at]))
    } else {
        starts.iter().map(one).collect()
    }
}

/// Whether a descent met its tolerance, or came so close that rounding ended it.
fn settled(report: &Report, entries: f64) -> bool {
    report.converged() || (report.ended == Ended::Stuck && report.gradient <= 1e-4 * entries)
}

/// The bound with twice as many inducing points, again and again, each followed from the best parameters of the last, as
/// long as that adds to it.
fn refine(problem: &Problem, best: &End, m: usize, observer: &dyn Observer) -> Result<(End, Option<usize>)> {
    let (mut best, mut m) = (End { evaluations: 0, ..best.clone() }, m);
    while 2 * m <= MOST_INDUCING && !observer.stop() {
        let finer = Sparse::new(problem, 2 * m);
        let [variance, length, noise] = best.logs.map(f64::exp);
        let Some(here) = finer.negative(&mut None, variance, length, None, noise) else { break };
        (best.evaluations, m) = (best.evaluations + 1, 2 * m);
        let gain = best.value - here.value;
        (best.value, best.bias) = (here.value, here.bias);
        if gain < GAIN {
            break;
        }
        for end in descend(&finer, problem, &[best.logs], (1.0, 1.0), observer)? {
            let evaluations = best.evaluations + end.evaluations;
            best = if end.value < best.value { end } else { best };
            best.evaluations = evaluations;
        }
    }
    Ok((best, Some(m)))
}

/// Where every start leads. With many points each start is first followed on some of them, exactly, and the different
/// ends are where the descents on all points begin: starts that end alike on the trial share one descent. A single start
/// is followed on all points from the beginning if they are not too many.
fn search(
    likelihood: &dyn Process,
    problem: &Problem,
    starts: &[[f64; 3]],
    observer: &dyn Observer,
) -> Result<Vec<End>> {
    let few = (2 * problem.n / 5).clamp(TRIAL_POINTS.0, TRIAL_POINTS.1);
    if problem.n <= few || (starts.len() == 1 && problem.n <= TRIAL_POINTS.1) {
        return descend(likelihood, problem, starts, (0.0, 1.0), observer);
    }
    let trial = problem.subset(few);
    let tried = descend(&Exact::new(&trial)?, &trial, starts, (0.0, 0.3), observer)?;
    let alike = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.01);
    let mut different: Vec<[f64; 3]> = Vec::new();
    let mut which = Vec::new();
    for end in &tried {
        let known = different.iter().position(|other| alike(other, &end.logs));
        which.push(known.unwrap_or(different.len()));
        if known.is_none() {
            different.push(end.logs);
        }
    }
    let ends = descend(likelihood, problem, &different, (0.3, 1.0), observer)?;
    let mut counted = vec![false; ends.len()];
    let all = which.iter().zip(&tried).map(|(&at, trial)| {
        let again = std::mem::replace(&mut counted[at], true);
        let evaluations = trial.evaluations + if again { 0 } else { ends[at].evaluations };
        End { evaluations, ..ends[at].clone() }
    });
    Ok(all.collect())
}

#[cfg(test)]
mod tests;

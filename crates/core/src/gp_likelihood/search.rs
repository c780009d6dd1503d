//! The optimization of the parameters from several starts, with one length scale or one per coordinate.

use crate::gp::ard::Ard;
use crate::gp::exact::Exact;
use crate::gp::problem::Problem;
use crate::gp::sparse::Sparse;
use crate::gp::{BOX, GpParameters, Process};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Bounds, Descent, Ended, Report, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Stage};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of inducing points to which the bound is refined.
pub const MOST_INDUCING: usize = 800;
/// The improvement of the bound by twice as many inducing points that justifies another optimization.
pub(super) const GAIN: f64 = 1.0;
/// The minimum and maximum number of points on which every start is tried.
const TRIAL_POINTS: (usize, usize) = (200, 500);
/// The largest length scale of a single coordinate, in median distances: one that is irrelevant.
const LONGEST: f64 = 1e6;

/// A likelihood of logarithms: of v, of one length scale or of one per coordinate, and of w.
pub(super) trait Likelihood: Sync {
    /// A function that reuses its matrices between evaluations.
    fn evaluator(&self) -> Result<Evaluator<'_>>;

    /// Whether an evaluation uses one thread, so that optimizations can run in parallel.
    fn one_thread(&self) -> bool {
        false
    }

    /// The largest length scale.
    fn longest(&self) -> f64 {
        BOX[1].1
    }
}

/// The value, the optimal bias and the gradient; `None` where the covariance is singular.
pub(super) type Evaluator<'a> = Box<dyn FnMut(&[f64]) -> Option<(f64, f64, Vec<f64>)> + 'a>;

/// One length scale for all coordinates.
pub(super) struct OneLength<P>(pub(super) P);

impl<P: Process> Likelihood for OneLength<P> {
    fn evaluator(&self) -> Result<Evaluator<'_>> {
        let mut space = None;
        Ok(Box::new(move |logs| {
            let [variance, length, noise] = [logs[0], logs[1], logs[2]].map(f64::exp);
            let here = self.0.negative(&mut space, variance, length, None, noise)?;
            Some((here.value, here.bias, vec![here.gradient[0], here.gradient[1], here.gradient[3]]))
        }))
    }

    fn one_thread(&self) -> bool {
        self.0.one_thread()
    }
}

/// A length scale for every coordinate: exact, or by this many inducing points.
pub(super) struct Lengthwise<'a> {
    pub(super) problem: &'a Problem,
    pub(super) inducing: Option<usize>,
}

impl Likelihood for Lengthwise<'_> {
    fn evaluator(&self) -> Result<Evaluator<'_>> {
        let mut ard = Ard::new(self.problem, self.inducing)?;
        Ok(Box::new(move |logs| {
            let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            let last = values.len() - 1;
            let here = ard.negative(values[0], &values[1..last], values[last])?;
            Some((here.value, here.bias, here.gradient))
        }))
    }

    fn longest(&self) -> f64 {
        LONGEST
    }
}

/// The result of a start.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// log v, log ℓ (one or several) and log w.
    pub(super) logs: Vec<f64>,
    pub(super) bias: f64,
    /// The smallest negative log likelihood; infinite if there is none.
    pub(super) value: f64,
    pub(super) evaluations: usize,
    pub(super) converged: bool,
    /// Whether the observer stopped it, before or after its start.
    pub(super) stopped: bool,
}

impl End {
    fn nowhere(start: &[f64], stopped: bool) -> End {
        End { logs: start.to_vec(), bias: BOX[2].0, value: f64::INFINITY, evaluations: 1, converged: false, stopped }
    }

    /// The length scale is the geometric mean if there are several.
    pub(super) fn parameters(&self) -> GpParameters {
        let last = self.logs.len() - 1;
        let length = self.logs[1..last].iter().sum::<f64>() / (last - 1) as f64;
        let [variance, length, noise] = [self.logs[0], length, self.logs[last]].map(f64::exp);
        GpParameters { variance, length, bias: self.bias, noise }
    }

    /// The logarithms of the length scales.
    pub(super) fn lengths(&self) -> &[f64] {
        &self.logs[1..self.logs.len() - 1]
    }

    /// log w.
    pub(super) fn log_noise(&self) -> f64 {
        self.logs[self.logs.len() - 1]
    }
}

/// The best of several results.
pub(super) fn best_of(ends: &[End]) -> Option<&End> {
    ends.iter().filter(|end| end.value.is_finite()).reduce(|a, b| if b.value < a.value { b } else { a })
}

/// Optimizes from every start while the progress goes from one fraction to another.
pub(super) fn descend(
    likelihood: &dyn Likelihood,
    problem: &Problem,
    starts: &[Vec<f64>],
    progress: (f64, f64),
    observer: &dyn Observer,
) -> Result<Vec<End>> {
    let entries = (problem.n * problem.features) as f64;
    // The likelihood is a sum over all entries, and its gradients and curvatures grow with their number: the remaining
    // distance from the maximum is about (1e-7)² of it.
    let stop = Stop { gradient: 1e-7 * entries, decrease: 1e-12, evaluations: 300 };
    let done = AtomicUsize::new(0);
    let one = |start: &Vec<f64>| {
        if observer.stop() {
            return Ok(End::nowhere(start, true));
        }
        let bounds = boxed(start.len() - 2, likelihood.longest());
        let descent = Descent { bounds, memory: 8, scale: None, cautious: false, stop, stage: None };
        let (mut evaluate, mut biases) = (likelihood.evaluator()?, Vec::<(f64, f64)>::new());
        let mut negative = |logs: &[f64], gradient: &mut [f64]| {
            let Some((value, bias, along)) = evaluate(logs) else { return Ok(None) };
            biases.push((value, bias));
            gradient.copy_from_slice(&along);
            Ok(Some(value))
        };
        let end = match descent.minimize(start, &mut negative, observer) {
            Ok((logs, report)) => End {
                logs,
                bias: biases.iter().find(|(value, _)| *value == report.value).map_or(BOX[2].0, |(_, bias)| *bias),
                value: report.value,
                evaluations: report.evaluations,
                converged: settled(&report, entries),
                stopped: report.ended == Ended::Stopped,
            },
            // The covariance is singular at the start itself.
            Err(Error::Numerical { .. }) => End::nowhere(start, false),
            Err(error) => return Err(error),
        };
        let share = (1 + done.fetch_add(1, Ordering::Relaxed)) as f64 / starts.len() as f64;
        observer.progress(Stage::Quality, progress.0 + share * (progress.1 - progress.0));
        Ok(end)
    };
    if likelihood.one_thread() {
        parallel::try_collect(starts.len(), |at| one(&starts[at]))
    } else {
        starts.iter().map(one).collect()
    }
}

/// The bounds of the logarithms.
fn boxed(lengths: usize, longest: f64) -> Bounds {
    let free = || {
        let length = (BOX[1].0, longest);
        [BOX[0]].into_iter().chain(std::iter::repeat_n(length, lengths)).chain([BOX[3]])
    };
    Bounds::Box { lower: free().map(|(low, _)| low.ln()).collect(), upper: free().map(|(_, high)| high.ln()).collect() }
}

/// Whether an optimization met its tolerance, or was ended by rounding close to it.
fn settled(report: &Report, entries: f64) -> bool {
    report.converged() || (report.ended == Ended::Stuck && report.gradient <= 1e-4 * entries)
}

/// The bound with twice as many inducing points, repeatedly, each optimized from the best parameters of the last, as
/// long as that improves it; with one length scale, or with as many as the best result has.
pub(super) fn refine(problem: &Problem, best: &End, m: usize, observer: &dyn Observer) -> Result<(End, Option<usize>)> {
    let (mut best, mut m) = (End { evaluations: 0, ..best.clone() }, m);
    let several = best.lengths().len() > 1;
    while 2 * m <= MOST_INDUCING && !observer.stop() {
        let (one, each);
        let finer: &dyn Likelihood = if several {
            each = Lengthwise { problem, inducing: Some(2 * m) };
            &each
        } else {
            one = OneLength(Sparse::new(problem, 2 * m));
            &one
        };
        let Some((value, bias, _)) = finer.evaluator()?(&best.logs) else { break };
        (best.evaluations, m) = (best.evaluations + 1, 2 * m);
        let gain = best.value - value;
        (best.value, best.bias) = (value, bias);
        if gain < GAIN {
            break;
        }
        for end in descend(finer, problem, &[best.logs.clone()], (1.0, 1.0), observer)? {
            let evaluations = best.evaluations + end.evaluations;
            best = if end.value < best.value { end } else { best };
            best.evaluations = evaluations;
        }
    }
    Ok((best, Some(m)))
}

/// The result of every start, with one length scale. With many points each start is first optimized on a subset of
/// them, exactly, and the optimizations on all points begin at the distinct results: starts that agree on the subset
/// share one optimization. A single start is optimized on all points from the beginning if there are not too many.
pub(super) fn search(
    problem: &Problem,
    inducing: Option<usize>,
    starts: &[Vec<f64>],
    (from, to): (f64, f64),
    observer: &dyn Observer,
) -> Result<Vec<End>> {
    let (exact, sparse);
    let likelihood: &dyn Likelihood = match inducing {
        None => {
            exact = OneLength(Exact::new(problem)?);
            &exact
        }
        Some(m) => {
            sparse = OneLength(Sparse::new(problem, m));
            &sparse
        }
    };
    let few = (2 * problem.n / 5).clamp(TRIAL_POINTS.0, TRIAL_POINTS.1);
    if problem.n <= few || (starts.len() == 1 && problem.n <= TRIAL_POINTS.1) {
        return descend(likelihood, problem, starts, (from, to), observer);
    }
    let (trial, middle) = (problem.subset(few), from + 0.3 * (to - from));
    let tried = descend(&OneLength(Exact::new(&trial)?), &trial, starts, (from, middle), observer)?;
    let alike = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.01);
    let mut different: Vec<Vec<f64>> = Vec::new();
    let mut which = Vec::new();
    for end in &tried {
        let known = different.iter().position(|other| alike(other, &end.logs));
        which.push(known.unwrap_or(different.len()));
        if known.is_none() {
            different.push(end.logs.clone());
        }
    }
    let ends = descend(likelihood, problem, &different, (middle, to), observer)?;
    let mut counted = vec![false; ends.len()];
    let all = which.iter().zip(&tried).map(|(&at, trial)| {
        let again = std::mem::replace(&mut counted[at], true);
        let evaluations = trial.evaluations + if again { 0 } else { ends[at].evaluations };
        End { evaluations, ..ends[at].clone() }
    });
    Ok(all.collect())
}

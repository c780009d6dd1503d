//! The joint optimization of the negative log likelihood, or of its bound, over positions, inducing points, variance
//! and noise.

use super::constraint::Constraint;
use super::negative::{self, Negative};
use crate::field::latent::k_means;
use crate::gp::problem::Problem;
use crate::gp::{BOX, GpParameters};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Bounds, Descent, Ended, Passing, Report, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Stage};

/// Variance and noise at the start, in units of the data's variance.
const START: [f64; 2] = [1.0, 0.3];
/// The median distance at the start, in units of the length scale. This and the noise were the best of six pairs on one
/// data set, the first 500 digits, after 52 evaluations of another L-BFGS; the worst was 1.2 % behind.
const SPREAD: f64 = 2.0;
/// Evaluations of each start before the best one continues.
const PROBE: usize = 20;
/// The optimization stops when the largest gradient entry per cell is below this.
const GRADIENT: f64 = 1e-7;
/// The number of steps that the optimizer stores.
const MEMORY: usize = 20;

/// How the model is fitted.
#[derive(Clone, Copy)]
pub(super) struct Fit {
    /// Whether positions have a standard normal prior.
    pub(super) prior: bool,
    /// How many inducing points bound the likelihood; `None` for the exact likelihood.
    pub(super) inducing: Option<usize>,
    /// Whether positions are a smooth function of the data.
    pub(super) constrained: bool,
    /// The seed of the sample from which the inducing points start.
    pub(super) seed: u64,
    /// The improvement of the log likelihood per cell required over twenty evaluations.
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
}

/// The fitted maximum-likelihood model.
pub(super) struct Fitted {
    /// Which start it came from.
    pub(super) start: &'static str,
    /// One row per point, in units of the length scale.
    pub(super) places: Vec<f64>,
    /// The inducing points, one row each; empty if the likelihood is exact.
    pub(super) inducing: Vec<f64>,
    /// The back-constraint, if there is one: its width and its weights, one row per point.
    pub(super) mapping: Option<(f64, Vec<f64>)>,
    /// The process in units of the data's variance, and of the data.
    pub(super) own: GpParameters,
    pub(super) in_units: GpParameters,
    /// The log likelihood of the data in their units, without the prior; its lower bound if there are inducing points.
    pub(super) log_likelihood: f64,
    /// The minimum of the objective: the negative log likelihood, with the prior.
    pub(super) objective: f64,
    /// The objective per cell along the way: number of steps, value.
    pub(super) curve: Vec<(usize, f64)>,
    /// n p.
    pub(super) cells: f64,
    pub(super) report: Report,
    /// The evaluations of all starts.
    pub(super) evaluations: usize,
    pub(super) converged: bool,
}

/// The state of an optimization from one start.
struct Run {
    name: &'static str,
    objective: Negative,
    x: Vec<f64>,
    curve: Vec<(usize, f64)>,
    report: Report,
}

/// Stops when another observer does, and reports nothing to it: several optimizations run side by side.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn stop(&self) -> bool {
        self.0.stop()
    }
}

impl Fit {
    /// Optimizes from each start for a while, and continues the best one to convergence.
    ///
    /// # Errors
    ///
    /// If the points do not vary, or a covariance is singular at its start.
    pub(super) fn of(
        &self,
        points: &Points,
        starts: Vec<(&'static str, Points)>,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let several = starts.len() > 1;
        let probe = if several { PROBE.min(self.max_iterations.div_ceil(2 * starts.len())) } else { 0 };
        let runs = parallel::try_collect_of(starts, |_, (name, start)| {
            let mut run = self.begin(name, points, &start, observer)?;
            if several {
                self.go_on(&mut run, probe, &Quiet(observer))?;
            }
            Ok(run)
        })?;
        let spent: usize = runs.iter().map(|run| run.report.evaluations).sum();
        let best = runs.into_iter().reduce(|best, run| if run.report.value < best.report.value { run } else { best });
        let no_start = || Error::parameter("init", "there is no start", "give one");
        let mut run = best.ok_or_else(no_start)?;
        let left = self.max_iterations.saturating_sub(spent);
        if left > 0 {
            self.go_on(&mut run, left, observer)?;
        }
        let evaluations = if left > 0 { spent + run.report.evaluations } else { spent };
        self.fitted(run, evaluations)
    }

    fn begin(&self, name: &'static str, points: &Points, start: &Points, observer: &dyn Observer) -> Result<Run> {
        let problem = Problem::new(points, start, true)?;
        let places: Vec<f64> = problem.map.iter().map(|y| SPREAD * y).collect();
        let centers = |m: usize| {
            let map = Points::new(problem.n, problem.dims, places.clone())?;
            k_means::centers(&map, m, self.seed, observer).map(Points::into_values)
        };
        let inducing = self.inducing.map(centers).transpose()?.unwrap_or_default();
        let start: Vec<f64> = places.into_iter().chain(inducing).chain(START.map(f64::ln)).collect();
        let constraint = self.constrained.then(|| Constraint::new(&problem)).transpose()?;
        let least = self.tolerance * problem.cells();
        let objective = Negative::new(problem, self.inducing, constraint, self.prior, least)?;
        let x = objective.variables(&start);
        let report = Report {
            value: f64::INFINITY,
            gradient: f64::INFINITY,
            iterations: 0,
            evaluations: 0,
            ended: Ended::Stuck,
        };
        Ok(Run { name, objective, x, curve: Vec::new(), report })
    }

    fn go_on(&self, run: &mut Run, evaluations: usize, observer: &dyn Observer) -> Result<()> {
        let cells = run.objective.problem.cells();
        let free_ones = run.x.len() - 2;
        let stiff = run.objective.stiff[1];
        let all = |of: fn((f64, f64)) -> f64, free: f64| {
            let bounds = [BOX[0], BOX[3]].map(|both| stiff * of(both).ln());
            std::iter::repeat_n(free, free_ones).chain(bounds).collect()
        };
        let descent = Descent {
            bounds: Bounds::Box {
                lower: all(|both| both.0, f64::NEG_INFINITY),
                upper: all(|both| both.1, f64::INFINITY),
            },
            memory: MEMORY,
            scale: None,
            cautious: false,
            stop: Stop { gradient: GRADIENT * cells, decrease: -1.0, evaluations },
            stage: Some(Stage::Field),
        };
        let (done, curve, shift) = (run.report.iterations, &mut run.curve, run.objective.problem.log_likelihood(0.0));
        // The variables begin with the positions, or with the weights of the back-constraint.
        let dims = run.objective.problem.dims;
        let places = run.objective.constraint.is_none().then_some(run.objective.problem.n * dims);
        let mut see = |passing: &Passing<'_>| {
            let value = passing.value.map(|value| (value - shift) / cells);
            value.into_iter().for_each(|value| {
                observer.objective(value);
                if passing.step > 0 || done == 0 {
                    curve.push((done + passing.step, value));
                }
            });
            if let Some(places) = places.filter(|_| observer.watches()) {
                observer.passes(done + passing.step, &passing.x[..places], dims);
            }
        };
        let (x, report) = descent.minimize_watched(&run.x, &mut run.objective, observer, &mut see)?;
        run.x = x;
        run.report = Report { iterations: done + report.iterations, ..report };
        Ok(())
    }

    fn fitted(&self, run: Run, evaluations: usize) -> Result<Fitted> {
        let Run { name, mut objective, x, curve, report } = run;
        let natural = objective.natural(&x);
        let found = objective.likelihood(&natural, &mut vec![0.0; x.len()]);
        let (value, bias) = found.unwrap_or((report.value, BOX[2].0));
        let problem = &objective.problem;
        let [places, inducing, logs] = negative::parts(&natural, problem);
        let own = GpParameters { variance: logs[0].exp(), length: 1.0, bias, noise: logs[1].exp() };
        let cells = problem.cells();
        // If no step lowers the value any more, the limit of rounding is reached.
        let still = report.ended == Ended::Stuck && report.gradient <= self.tolerance * cells;
        Ok(Fitted {
            start: name,
            own,
            in_units: problem.in_units(&own),
            log_likelihood: problem.log_likelihood(value),
            objective: report.value - problem.log_likelihood(0.0),
            curve,
            cells,
            evaluations,
            converged: report.converged() || still,
            report,
            places: places.to_vec(),
            inducing: inducing.to_vec(),
            mapping: objective.constraint.as_ref().map(|by| (by.width, by.weights(&x[..places.len()]))),
        })
    }
}

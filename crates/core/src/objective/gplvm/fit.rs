//! The descent of the negative log likelihood over positions, variance and noise together.

use crate::error::{Error, Result};
use crate::gp::moving::Moving;
use crate::gp::problem::Problem;
use crate::gp::{BOX, Parameters};
use crate::linalg::parallel;
use crate::optimize::{Bounds, Descent, Ended, Objective, Passing, Report, Stop};
use crate::points::Points;
use crate::progress::{Observer, Stage};

/// Variance and noise at the start, in units of the data's variance.
const START: [f64; 2] = [1.0, 0.3];
/// The median distance at the start, in units of the length. This and the noise were the best of six pairs on one set of
/// data, the first 500 digits, after 52 evaluations of another L-BFGS; the worst was 1.2 % behind.
const SPREAD: f64 = 2.0;
/// Evaluations of each start before the likelier goes on.
const PROBE: usize = 20;
/// So many evaluations must gain the tolerance.
const WINDOW: usize = 20;
/// The largest slope per cell at which a descent is over.
const SLOPE: f64 = 1e-7;
/// What a descent remembers of its steps.
const MEMORY: usize = 20;

/// How the model is fitted.
#[derive(Clone, Copy)]
pub(super) struct Fit {
    /// Whether positions have a standard normal prior.
    pub(super) prior: bool,
    /// The log likelihood per cell that [`WINDOW`] evaluations must gain.
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
}

/// The likeliest model that was found.
pub(super) struct Fitted {
    /// Which start it came from.
    pub(super) start: &'static str,
    /// One row per point, in units of the length.
    pub(super) places: Vec<f64>,
    /// The process in units of the data's variance, and of the data.
    pub(super) own: Parameters,
    pub(super) in_units: Parameters,
    /// Of the data in their units, without the prior.
    pub(super) log_likelihood: f64,
    /// What was minimized: its negative, with the prior.
    pub(super) objective: f64,
    /// The objective per cell on the way, after how many steps.
    pub(super) curve: Vec<(usize, f64)>,
    /// n p.
    pub(super) cells: f64,
    pub(super) report: Report,
    /// Those of all starts.
    pub(super) evaluations: usize,
    pub(super) converged: bool,
}

/// A descent from one start: where it is, and what it has seen.
struct Run {
    name: &'static str,
    problem: Problem,
    objective: Negative,
    x: Vec<f64>,
    curve: Vec<(usize, f64)>,
    report: Report,
}

/// The negative log likelihood, with the prior, of positions, log v and log w in one vector.
pub(super) struct Negative {
    moving: Moving,
    prior: bool,
    /// The decrease that the window must have.
    least: f64,
    /// The lowest value after each evaluation, and whether the last was it.
    lowest: Vec<f64>,
    at_lowest: bool,
}

/// Asks to stop when another does, and tells nothing: several descents run side by side.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn stop(&self) -> bool {
        self.0.stop()
    }
}

impl Negative {
    pub(super) fn new(problem: &Problem, prior: bool, least: f64) -> Result<Negative> {
        Ok(Negative { moving: Moving::new(problem)?, prior, least, lowest: Vec::new(), at_lowest: false })
    }
}

impl Objective for Negative {
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<Option<f64>> {
        let (places, logs) = x.split_at(x.len() - 2);
        let (along, rest) = slope.split_at_mut(places.len());
        let Some(moved) = self.moving.negative(places, [logs[0].exp(), logs[1].exp()], None, along) else {
            return Ok(None);
        };
        rest.copy_from_slice(&moved.slopes);
        let mut value = moved.value;
        if self.prior {
            value += 0.5 * places.iter().map(|y| y * y + std::f64::consts::TAU.ln()).sum::<f64>();
            along.iter_mut().zip(places).for_each(|(s, y)| *s += y);
        }
        let lowest = self.lowest.last().copied().unwrap_or(f64::INFINITY);
        self.at_lowest = value < lowest;
        self.lowest.push(value.min(lowest));
        Ok(Some(value))
    }

    /// Whether the last evaluations gained next to nothing.
    fn enough(&self) -> bool {
        let seen = self.lowest.len();
        self.at_lowest && seen > WINDOW && self.lowest[seen - 1 - WINDOW] - self.lowest[seen - 1] <= self.least
    }
}

impl Fit {
    /// Descends from each start for a while, and from the likelier to the end.
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
            let mut run = self.begin(name, points, &start)?;
            if several {
                self.go_on(&mut run, probe, &Quiet(observer))?;
            }
            Ok(run)
        })?;
        let spent: usize = runs.iter().map(|run| run.report.evaluations).sum();
        let best = runs.into_iter().reduce(|best, run| if run.report.value < best.report.value { run } else { best });
        let no_start = || Error::parameter("there is no start; give one");
        let mut run = best.ok_or_else(no_start)?;
        let left = self.max_iterations.saturating_sub(spent);
        if left > 0 {
            self.go_on(&mut run, left, observer)?;
        }
        let evaluations = if left > 0 { spent + run.report.evaluations } else { spent };
        self.fitted(run, evaluations)
    }

    fn begin(&self, name: &'static str, points: &Points, start: &Points) -> Result<Run> {
        let problem = Problem::new(points, start, true)?;
        let cells = (problem.n * problem.features) as f64;
        let objective = Negative::new(&problem, self.prior, self.tolerance * cells)?;
        let x = problem.map.iter().map(|y| SPREAD * y).chain(START.map(f64::ln)).collect();
        let report = Report {
            value: f64::INFINITY,
            gradient: f64::INFINITY,
            iterations: 0,
            evaluations: 0,
            ended: Ended::Stuck,
        };
        Ok(Run { name, problem, objective, x, curve: Vec::new(), report })
    }

    fn go_on(&self, run: &mut Run, evaluations: usize, observer: &dyn Observer) -> Result<()> {
        let cells = (run.problem.n * run.problem.features) as f64;
        let places = run.x.len() - 2;
        let bounds = [BOX[0], BOX[3]];
        let all = |of: fn((f64, f64)) -> f64, free: f64| {
            std::iter::repeat_n(free, places).chain(bounds.map(|both| of(both).ln())).collect()
        };
        let descent = Descent {
            bounds: Bounds::Box {
                lower: all(|both| both.0, f64::NEG_INFINITY),
                upper: all(|both| both.1, f64::INFINITY),
            },
            memory: MEMORY,
            scale: None,
            cautious: false,
            stop: Stop { gradient: SLOPE * cells, decrease: -1.0, evaluations },
            stage: Some(Stage::Field),
        };
        let (done, curve, shift) = (run.report.iterations, &mut run.curve, run.problem.log_likelihood(0.0));
        let mut see = |passing: &Passing<'_>| {
            let value = passing.value.map(|value| (value - shift) / cells);
            value.into_iter().for_each(|value| {
                observer.objective(value);
                if passing.step > 0 || done == 0 {
                    curve.push((done + passing.step, value));
                }
            });
        };
        let (x, report) = descent.minimize_watched(&run.x, &mut run.objective, observer, &mut see)?;
        run.x = x;
        run.report = Report { iterations: done + report.iterations, ..report };
        Ok(())
    }

    fn fitted(&self, run: Run, evaluations: usize) -> Result<Fitted> {
        let Run { name, problem, objective: mut negative, x, curve, report } = run;
        let (places, logs) = x.split_at(x.len() - 2);
        let [variance, noise] = [logs[0].exp(), logs[1].exp()];
        let mut slope = vec![0.0; places.len()];
        let moved = negative.moving.negative(places, [variance, noise], None, &mut slope);
        let (value, bias) = moved.map_or((report.value, BOX[2].0), |moved| (moved.value, moved.bias));
        let own = Parameters { variance, length: 1.0, bias, noise };
        let cells = (problem.n * problem.features) as f64;
        // Where no step lowers the value any more, rounding has ended the descent.
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
        })
    }
}

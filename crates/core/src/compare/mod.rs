//! Maps of the same points by several methods, under the same conditions and limits.
//!
//! Every entrant is a recipe under a name. Entrants are fitted one after the other, each with all threads, so that
//! their seconds and their memory can be compared (docs/decisions/0136). If one fails, its reason is reported and the
//! others go on; one that exceeds its time limit is stopped, and an optimization then returns its current map.
//! Afterwards all maps are evaluated on the same points ([`quality`](crate::quality)), ranked, and aligned with the
//! best one.

mod entrants;

pub use entrants::{Sweep, USUAL, entrants};

use crate::input::Input;
use crate::model::Model;
use crate::quality::procrustes::Onto;
use crate::quality::{Evaluation, Measure, Quality, QualityInput};
use crate::recipe::Recipe;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Share};
use std::cmp::Ordering;
use std::time::{Duration, Instant};

/// Residuals beyond this mean that the vectors are not eigenvectors.
const UNSOLVED: f64 = 1e-6;

/// The measure by which maps are ranked, and the tie-breaker.
pub const RANKED_BY: [Measure; 2] = [Measure::RnxAuc, Measure::Trustworthiness];

/// The ranking, as the end of a sentence.
pub const RULE: &str = "the area under R_NX(k) over log k: the share of neighbors that an embedding keeps, \
                        compared with a random embedding, over neighborhoods of all sizes, with more weight on small ones";

/// An entrant.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// Its name; names are unique.
    pub name: String,
    /// The recipe that is fitted.
    pub recipe: Recipe,
    /// The parameter that distinguishes it from others of its method, and its value.
    pub sweep: Option<(String, String)>,
}

/// The status of an entrant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done: it has a map.
    Done,
    /// Stopped: it has its current map; the reason.
    Stopped(String),
    /// Failed: it has no map; the reason.
    Failed(String),
    /// Skipped; the reason.
    Skipped(String),
}

impl Status {
    /// One lower-case word.
    pub fn name(&self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Stopped(_) => "stopped",
            Status::Failed(_) => "failed",
            Status::Skipped(_) => "skipped",
        }
    }

    /// The reason, if it is not done.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Status::Done => None,
            Status::Stopped(reason) | Status::Failed(reason) | Status::Skipped(reason) => Some(reason),
        }
    }
}

/// An entrant and its result.
pub struct Outcome {
    /// The entrant.
    pub entrant: Entrant,
    /// Its status.
    pub status: Status,
    /// The wall time of its fit.
    pub seconds: Option<f64>,
    /// The peak memory of the fit in bytes beyond that before it, if it is measured.
    pub memory: Option<u64>,
    /// The fitted model.
    pub model: Option<Model>,
    /// The evaluation of its map.
    pub evaluated: Option<Evaluation>,
    /// The alignment of its map with that of the best, if both have the same number of coordinates; without scaling.
    pub turn: Option<Onto>,
}

impl Outcome {
    /// A model that was fitted before.
    pub fn of(entrant: Entrant, model: Model) -> Outcome {
        Outcome { status: Status::Done, model: Some(model), ..Outcome::skipped(entrant, "") }
    }

    /// A skipped entrant.
    pub fn skipped(entrant: Entrant, reason: impl Into<String>) -> Outcome {
        let status = Status::Skipped(reason.into());
        Outcome { entrant, status, seconds: None, memory: None, model: None, evaluated: None, turn: None }
    }

    /// The map, aligned with the best one.
    ///
    /// # Errors
    ///
    /// None in practice: an aligned map is finite.
    pub fn map(&self) -> Result<Option<Points>> {
        let Some(model) = &self.model else { return Ok(None) };
        self.turned(model.embedding()).map(Some)
    }

    /// Points of its map, aligned with the best one.
    ///
    /// # Errors
    ///
    /// As [`Outcome::map`].
    pub fn turned(&self, places: &Points) -> Result<Points> {
        match &self.turn {
            Some(onto) => onto.applied(places),
            None => Ok(places.clone()),
        }
    }

    /// Aligns its map with another of the same points, if both have the same number of coordinates.
    pub fn turn_onto(&mut self, other: &Points) {
        let map = self.model.as_ref().map(Model::embedding);
        self.turn = map.filter(|map| map.cols() == other.cols()).map(|map| Onto::turn(map, other));
    }

    /// The value of a measure.
    pub fn value(&self, measure: Measure) -> Option<f64> {
        self.evaluated.as_ref()?.value(measure).map(|score| score.value)
    }
}

/// The options that all entrants share.
#[derive(Clone, Debug, Default)]
pub struct Compare {
    /// The time limit of a fit in seconds; none by default.
    pub seconds: Option<f64>,
    /// How maps are evaluated.
    pub quality: Quality,
    /// How memory is measured; not at all by default.
    pub meter: Option<Meter>,
}

/// Measures the memory that the program has allocated.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// Resets the peak to the current size.
    pub reset: fn(),
    /// The current size in bytes.
    pub now: fn() -> usize,
    /// The peak since the last reset, in bytes.
    pub peak: fn() -> usize,
}

impl Compare {
    /// Fits one entrant.
    ///
    /// # Errors
    ///
    /// Only [`Error::Stopped`], if the observer itself requested a stop before there was a map; every other failure is a status.
    pub fn fit(&self, entrant: Entrant, input: Input<'_>, observer: &dyn Observer) -> Result<Outcome> {
        let deadline = Deadline::new(observer, self.seconds);
        let before = self.meter.map(|meter| {
            (meter.reset)();
            (meter.now)()
        });
        let start = Instant::now();
        let fitted = entrant.recipe.fit(input, &deadline);
        let seconds = Some(start.elapsed().as_secs_f64());
        let memory = self.meter.zip(before).map(|(meter, before)| (meter.peak)().saturating_sub(before) as u64);
        let late = || format!("stopped after {} s, the time limit of each method", self.seconds.unwrap_or_default());
        let by_user = observer.stop();
        let status = match &fitted {
            Err(Error::Stopped) if by_user => return Err(Error::Stopped),
            Err(Error::Stopped) => Status::Failed(format!("{}, before it had an embedding", late())),
            Err(error) => Status::Failed(error.to_string()),
            Ok(model) if deadline.passed() || by_user => match unsolved(model) {
                true if by_user => return Err(Error::Stopped),
                true => Status::Failed(format!("{}, before its eigenvectors were found", late())),
                false if model.report().ended.is_converged() => Status::Done,
                false if by_user => Status::Stopped("stopped by you".into()),
                false => Status::Stopped(late()),
            },
            Ok(_) => Status::Done,
        };
        let model = fitted.ok().filter(|_| matches!(status, Status::Done | Status::Stopped(_)));
        Ok(Outcome { entrant, status, seconds, memory, model, evaluated: None, turn: None })
    }

    /// Evaluates all maps on the same points, sorts the outcomes by rank, and aligns the maps with the best.
    ///
    /// # Errors
    ///
    /// If the measures are not defined on the points, or the observer stopped the run.
    pub fn evaluate(&self, outcomes: &mut [Outcome], input: &QualityInput<'_>, observer: &dyn Observer) -> Result<()> {
        let maps: Vec<&Points> = outcomes.iter().filter_map(|one| Some(one.model.as_ref()?.embedding())).collect();
        let mut evaluated = self.quality.evaluate(input, &maps, observer)?.into_iter();
        outcomes.iter_mut().filter(|one| one.model.is_some()).for_each(|one| one.evaluated = evaluated.next());
        rank(outcomes);
        let best = outcomes.first().and_then(|one| one.model.as_ref()).map(|model| model.embedding().clone());
        if let Some(best) = best {
            outcomes.iter_mut().for_each(|one| one.turn_onto(&best));
        }
        Ok(())
    }
}

/// Sorts evaluated outcomes by rank: those without a map are last, ties keep their order.
pub fn rank(outcomes: &mut [Outcome]) {
    let key = |one: &Outcome, measure: Measure| one.value(measure).unwrap_or(f64::NEG_INFINITY);
    outcomes.sort_by(|a, b| {
        RANKED_BY
            .into_iter()
            .fold(Ordering::Equal, |order, measure| order.then_with(|| key(b, measure).total_cmp(&key(a, measure))))
    });
}

/// Whether the solver ended before the coordinates were eigenvectors of the field.
pub fn unsolved(model: &Model) -> bool {
    let report = model.report();
    report.coordinates.residuals.iter().take(report.dims).any(|&residual| residual > UNSOLVED)
}

/// Forwards progress, and stops the run when the time is over.
struct Deadline<'a> {
    whole: Share<'a>,
    end: Option<Instant>,
}

impl<'a> Deadline<'a> {
    fn new(observer: &'a dyn Observer, seconds: Option<f64>) -> Deadline<'a> {
        let end =
            seconds.filter(|seconds| *seconds < 1e9).map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        Deadline { whole: Share::all(observer), end }
    }

    fn passed(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

impl Observer for Deadline<'_> {
    fn inner(&self) -> Option<&dyn Observer> {
        Some(&self.whole)
    }

    fn stop(&self) -> bool {
        self.whole.stop() || self.passed()
    }
}

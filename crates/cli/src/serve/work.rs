//! The work behind the page: one fit at a time, seen while it goes on, stopped on request, and kept when pinned.

use super::request;
use super::watch::{Seen, Watch};
use crate::compare::{Subject, comparison};
use crate::guarded;
use eigenfold::{
    Data, Error, Input, Metric, Points, Recipe, Request, Result,
    compare::{Entrant, Outcome, Status, rank},
    io::Labels,
    quality::QualityInput,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Everything that the page is about, and what is being done.
pub(super) struct Work {
    pub(super) subject: Subject,
    pub(super) title: String,
    pub(super) classes: Option<Vec<Option<u32>>>,
    pub(super) labels: Vec<(String, Labels)>,
    pub(super) metric: Metric,
    pub(super) image: Option<(usize, usize)>,
    /// What the flags request, and every fit has unless the page requests something else.
    pub(super) request: Request,
    /// The recipe of that request.
    pub(super) usual: Recipe,
    /// The map that all others are turned onto.
    pub(super) first: Points,
    /// The maps of the page, best first.
    pub(super) maps: Mutex<Vec<Outcome>>,
    /// The page with these maps, once it was requested.
    pub(super) page: Mutex<Option<Arc<String>>>,
    pub(super) run: Mutex<Run>,
    pub(super) stop: AtomicBool,
}

/// Where the last fit is.
#[derive(Default)]
pub(super) struct Run {
    /// Counts fits.
    number: u64,
    phase: Phase,
    /// What it is called.
    name: String,
    reason: Option<String>,
    began: Option<Instant>,
    seconds: f64,
    pub(super) seen: Seen,
    /// What it ended with, until it is pinned.
    outcome: Option<Outcome>,
}

/// What is being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// No fit yet.
    #[default]
    Idle,
    Running,
    /// A map that was pinned is evaluated.
    Evaluating,
    Done,
    /// Stopped, with the map it had.
    Stopped,
    /// No map.
    Failed,
    /// The map stands among the others of the page.
    Pinned,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Idle => "idle",
            Phase::Running => "running",
            Phase::Evaluating => "evaluating",
            Phase::Done => "done",
            Phase::Stopped => "stopped",
            Phase::Failed => "failed",
            Phase::Pinned => "pinned",
        }
    }
}

/// Why something cannot be done now.
pub(super) enum Refusal {
    /// The request is wrong.
    Wrong(String),
    /// It is not the time for it.
    NotNow(String),
    /// It failed.
    Failed(String),
}

pub(super) fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Work {
    /// The page with the maps that are there now.
    pub(super) fn page(&self) -> Result<Arc<String>> {
        let mut held = locked(&self.page);
        if let Some(page) = held.as_ref() {
            return Ok(Arc::clone(page));
        }
        let maps = locked(&self.maps);
        let page = self.subject.page(&self.title, self.metric, self.image, &self.labels, &maps);
        let page = Arc::new(page.live(&request::form(&self.usual))?);
        *held = Some(Arc::clone(&page));
        Ok(page)
    }

    /// Begins a fit; its number.
    pub(super) fn begin(self: &Arc<Work>, body: &[u8]) -> std::result::Result<Value, Refusal> {
        let entrant = request::entrant(body, &self.request).map_err(|error| Refusal::Wrong(shown(&error)))?;
        let mut run = self.free("wait until it ends, or stop it")?;
        let number = run.number + 1;
        let seen = run.seen.anew();
        let (phase, name, began) = (Phase::Running, entrant.name.clone(), Some(Instant::now()));
        *run = Run { number, phase, name, began, seen, ..Run::default() };
        drop(run);
        self.stop.store(false, Ordering::Relaxed);
        let work = Arc::clone(self);
        match std::thread::Builder::new().spawn(move || work.fit(entrant)) {
            Ok(_) => Ok(json!({"run": number})),
            Err(error) => {
                let fact = format!("no thread can be started ({error}); try again when there is more memory");
                let mut run = locked(&self.run);
                (run.phase, run.reason) = (Phase::Failed, Some(fact.clone()));
                Err(Refusal::Failed(fact))
            }
        }
    }

    /// The last fit, if nothing is going on.
    fn free(&self, way_out: &str) -> std::result::Result<MutexGuard<'_, Run>, Refusal> {
        let run = locked(&self.run);
        match run.phase {
            Phase::Running => Err(Refusal::NotNow(format!("{} is running; {way_out}", run.name))),
            Phase::Evaluating => Err(Refusal::NotNow(format!("{} is being evaluated; wait until it is", run.name))),
            _ => Ok(run),
        }
    }

    fn fit(&self, entrant: Entrant) {
        let watch = Watch::new(self);
        let compare = comparison(None, self.usual.seed);
        let (labels, names) = (self.classes.as_deref(), self.subject.names.as_deref());
        let input = Input { labels, names, ..(&self.subject.points).into() };
        let fitted = guarded(|| {
            let mut outcome = compare.fit(entrant, input, &watch)?;
            outcome.turn_onto(&watch.reference(outcome.model.as_ref().map_or(0, |model| model.embedding().cols())));
            let map = outcome.map()?;
            Ok((outcome, map))
        });
        let mut run = locked(&self.run);
        run.seconds = run.began.take().map_or(0.0, |began| began.elapsed().as_secs_f64());
        let (outcome, map) = match fitted {
            Ok(both) => both,
            Err(error) => {
                run.phase = Phase::Failed;
                let early = || "stopped before there was an embedding; let it run longer".to_string();
                run.reason = Some(if matches!(error, Error::Stopped) { early() } else { shown(&error) });
                return;
            }
        };
        run.reason = outcome.status.reason().map(request::plain);
        run.phase = match outcome.status {
            Status::Done => Phase::Done,
            Status::Stopped(_) => Phase::Stopped,
            Status::Failed(_) | Status::Skipped(_) => Phase::Failed,
        };
        if let Some(map) = map {
            run.seen.last(map);
            run.outcome = Some(outcome);
        }
    }

    /// Where the last fit is, with its map if that is another than the page has seen.
    pub(super) fn state(&self, after: u64) -> Value {
        let run = locked(&self.run);
        let report = run.outcome.as_ref().and_then(|outcome| outcome.model.as_ref()).map(|model| model.report());
        let mut state = json!({
            "run": run.number,
            "status": run.phase.name(),
            "name": run.name,
            "reason": run.reason,
            "seconds": run.began.map_or(run.seconds, |began| began.elapsed().as_secs_f64()),
            "converged": report.map(|report| report.ended.is_converged()),
            "warnings": report.map(|report| report.warnings.iter().map(|warning| request::plain(warning.message())).collect::<Vec<_>>()),
        });
        run.seen.add_to(&mut state, after);
        state
    }

    /// Asks the fit to stop where it is.
    pub(super) fn stop(&self) -> Value {
        self.stop.store(true, Ordering::Relaxed);
        json!({"status": locked(&self.run).phase.name()})
    }

    /// Evaluates the last map and puts it among the others of the page: its entry for the page, and the ranking.
    pub(super) fn pin(&self) -> std::result::Result<Value, Refusal> {
        let (mut outcome, before) = {
            let mut run = self.free("pin it when it is done")?;
            let none = || Refusal::NotNow("there is no embedding to pin; run a method first".into());
            let outcome = run.outcome.take().ok_or_else(none)?;
            (outcome, std::mem::replace(&mut run.phase, Phase::Evaluating))
        };
        self.stop.store(false, Ordering::Relaxed);
        let evaluated = guarded(|| self.evaluated(&mut outcome));
        let mut run = locked(&self.run);
        match evaluated {
            Ok(mut entry) => {
                run.phase = Phase::Pinned;
                entry["order"] = self.add(outcome).into();
                // What is written of the page by now lacks the map.
                *locked(&self.page) = None;
                Ok(entry)
            }
            Err(error) => {
                run.outcome = Some(outcome);
                run.phase = before;
                Err(Refusal::Failed(shown(&error)))
            }
        }
    }

    /// Puts a map among the others; the names of all, best first.
    fn add(&self, outcome: Outcome) -> Vec<String> {
        let mut maps = locked(&self.maps);
        maps.push(outcome);
        rank(&mut maps);
        maps.iter().filter(|one| one.model.is_some()).map(|one| one.entrant.name.clone()).collect()
    }

    fn evaluated(&self, outcome: &mut Outcome) -> Result<Value> {
        let given = QualityInput {
            data: Data::Points(&self.subject.points, self.metric),
            labels: self.classes.as_deref(),
            truth: None,
        };
        let turn = outcome.turn.take();
        comparison(None, self.usual.seed).evaluate(std::slice::from_mut(outcome), &given, &Watch::new(self))?;
        outcome.turn = turn;
        outcome.entrant.name = self.unused(&outcome.entrant.name);
        eigenfold_page::alone(outcome, &self.subject.points)
    }

    /// A name that no map of the page has.
    fn unused(&self, name: &str) -> String {
        let maps = locked(&self.maps);
        let taken = |name: &str| maps.iter().any(|one| one.entrant.name == name);
        let numbered = (2..).map(|number| format!("{name} #{number}"));
        std::iter::once(name.to_string()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
    }
}

/// An error as the page shows it.
fn shown(error: &Error) -> String {
    error.message_with(str::to_string)
}

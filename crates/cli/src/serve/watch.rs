//! What is seen of a fit while it goes on.
//!
//! A descent shows its map some ten times per second at most. Maps have no direction of their own, so each is turned onto the
//! first map of the page, or onto the one before if that has other coordinates: what moves is the shape, not the paper.

use super::work::{Work, locked};
use crate::progress;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use eigenfold::{Observer, Points, Stage, quality::procrustes::align};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The least time between two maps.
const PAUSE: Duration = Duration::from_millis(80);

/// What was seen last.
#[derive(Default)]
pub(super) struct Seen {
    stage: Option<&'static str>,
    fraction: f64,
    objective: Option<f64>,
    gap: Option<f64>,
    step: Option<usize>,
    note: Option<String>,
    /// The map, and how many there were before it, over all fits.
    map: Option<Points>,
    version: u64,
    /// Whether it is the end of the fit, to all its digits.
    is_last: bool,
}

impl Seen {
    /// Nothing seen yet, after all that was.
    pub(super) fn anew(&self) -> Seen {
        Seen { version: self.version, ..Seen::default() }
    }

    /// The map that the fit ended with.
    pub(super) fn last(&mut self, map: Points) {
        self.map = Some(map);
        self.version += 1;
        self.is_last = true;
    }

    /// Adds it to a state; the map only if the page has not seen it.
    pub(super) fn add_to(&self, state: &mut Value, after: u64) {
        state["stage"] = json!(self.stage);
        state["fraction"] = json!(self.fraction);
        state["objective"] = json!(self.objective);
        state["gap"] = json!(self.gap);
        state["step"] = json!(self.step);
        state["note"] = json!(self.note);
        state["version"] = json!(self.version);
        let map = self.map.as_ref().filter(|_| self.version != after);
        state["map"] = map.map_or(Value::Null, |map| {
            let values = map.values().iter();
            let (kind, bytes): (_, Vec<u8>) = match self.is_last {
                true => ("f64", values.flat_map(|y| y.to_le_bytes()).collect()),
                false => ("f32", values.flat_map(|y| (*y as f32).to_le_bytes()).collect()),
            };
            json!({"dims": map.cols(), "type": kind, "values": STANDARD.encode(bytes)})
        });
    }
}

/// Hears a fit for the page.
pub(super) struct Watch<'a> {
    work: &'a Work,
    /// When a map was shown last.
    shown: Mutex<Option<Instant>>,
    /// The stage and thousandths reported last, so that inner loops cost one comparison.
    reported: AtomicU32,
}

impl Watch<'_> {
    pub(super) fn new(work: &Work) -> Watch<'_> {
        Watch { work, shown: Mutex::default(), reported: AtomicU32::new(u32::MAX) }
    }

    /// The embedding that one with this number of coordinates is aligned with.
    pub(super) fn reference(&self, dims: usize) -> Points {
        let before = locked(&self.work.run).seen.map.clone();
        before
            .filter(|map| map.cols() == dims && dims != self.work.first.cols())
            .unwrap_or_else(|| self.work.first.clone())
    }
}

impl Observer for Watch<'_> {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn progress(&self, stage: Stage, fraction: f64) {
        let now = stage as u32 * 10_000 + (fraction.clamp(0.0, 1.0) * 1000.0) as u32;
        if self.reported.swap(now, Ordering::Relaxed) == now {
            return;
        }
        let mut run = locked(&self.work.run);
        run.seen.stage = Some(stage.name());
        run.seen.fraction = fraction;
    }

    fn objective(&self, value: f64) {
        locked(&self.work.run).seen.objective = value.is_finite().then_some(value);
    }

    fn gap(&self, value: f64) {
        locked(&self.work.run).seen.gap = value.is_finite().then_some(value);
    }

    fn takes_long(&self, sentence: &str) {
        locked(&self.work.run).seen.note = Some(super::request::plain(sentence));
    }

    fn watches(&self) -> bool {
        let mut shown = locked(&self.shown);
        let due = shown.is_none_or(|last| last.elapsed() >= PAUSE);
        if due {
            *shown = Some(Instant::now());
        }
        due
    }

    fn passes(&self, step: usize, coordinates: &[f64], dims: usize) {
        let n = self.work.subject.points.rows();
        // A part of the points is no map of them.
        if coordinates.len() != n * dims {
            return;
        }
        let Ok(map) = Points::new(n, dims, coordinates.to_vec()) else { return };
        let turned = align(&map, &self.reference(dims)).map_or(map, |aligned| aligned.map);
        let seen = &mut locked(&self.work.run).seen;
        seen.step = Some(step);
        seen.map = Some(turned);
        seen.version += 1;
    }

    fn stop(&self) -> bool {
        self.work.stop.load(Ordering::Relaxed) || progress::is_stopped()
    }
}

//! One observer for progress and for stopping.
//!
//! Every job reports the fraction of its own work that is done, from 0 to 1. A longer job gives a [`Share`] of itself to each
//! part, and the fractions of the parts become fractions of the whole. So the observer of a fit, of a search for parameters or
//! of a likelihood gets one fraction that goes from 0 to 1 and never falls, from any number of threads.

use std::sync::Mutex;

/// The three stages, the likelihood and the score, as they are reported to the observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Who is whose neighbor.
    Graph,
    /// The precision or covariance over the points.
    Field,
    /// Eigenvectors or a descent.
    Coordinates,
    /// How good a map is; no stage of a fit.
    Score,
    /// How many coordinates the points need; no stage of a fit.
    Dimension,
    /// The likelihood of the points under the field, after the three stages.
    Likelihood,
}

impl Stage {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Graph => "graph",
            Stage::Field => "field",
            Stage::Coordinates => "coordinates",
            Stage::Score => "score",
            Stage::Dimension => "dimension",
            Stage::Likelihood => "likelihood",
        }
    }
}

/// Receives the progress of a fit and may stop it.
///
/// All calls must be cheap: they come from inner loops and from several threads.
pub trait Observer: Sync {
    /// The work stands in `stage`, and `fraction` (0 to 1) of all of it is done. The observer of a fit, of a choice, of
    /// evidence or of a score never hears less than before.
    fn progress(&self, stage: Stage, fraction: f64) {
        let _ = (stage, fraction);
    }

    /// One of several fits begins, named in a few words (`k = 12, 6 of 10`); none of them if the text is empty.
    fn trial(&self, what: &str) {
        let _ = what;
    }

    /// From here to the end the fraction grows in proportion to time, so that the remaining time can be estimated; `at_most` if
    /// the work may end before. Without this call it cannot be estimated: the number of iterations of a solver is not known.
    fn steady(&self, at_most: bool) {
        let _ = at_most;
    }

    /// A descent has begun: a stop from here on gives the map that it has by then.
    fn descends(&self) {}

    /// A descent has evaluated its objective, in the units of the report.
    fn objective(&self, value: f64) {
        let _ = value;
    }

    /// Whether to receive the present map of a descent. This is called at every step: an observer that returns true a few times
    /// per second costs no more maps than that, and an observer that returns false costs none.
    fn watches(&self) -> bool {
        false
    }

    /// The present map of a descent after `step` steps, if [`Observer::watches`] returned true: `dims` coordinates per point, one
    /// point after the other, not rotated to their principal axes. A part of the work may have fewer points than the whole.
    fn passes(&self, step: usize, coordinates: &[f64], dims: usize) {
        let _ = (step, coordinates, dims);
    }

    /// An upper bound of a solver's distance from the optimum: its relative duality gap, or the gap per point.
    fn gap(&self, value: f64) {
        let _ = value;
    }

    /// The next step may take minutes: a sentence with the reason, and what would take less.
    fn takes_long(&self, sentence: &str) {
        let _ = sentence;
    }

    /// Whether to stop at the next opportunity. The fit then returns what it has, marked as not converged, or
    /// [`Error::Stopped`](crate::Error::Stopped) if that is nothing yet.
    fn stop(&self) -> bool {
        false
    }
}

/// Ignores all reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// A share of a longer job, as its part sees it: an observer that passes reports on, with the fraction as one of the whole
/// that never falls.
///
/// ```
/// use eigenfold::progress::{Observer, Share, Stage};
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Heard(Mutex<Vec<f64>>);
/// impl Observer for Heard {
///     fn progress(&self, _: Stage, fraction: f64) {
///         self.0.lock().unwrap().push(fraction);
///     }
/// }
///
/// let heard = Heard::default();
/// let [first, second] = Share::split(&heard, [1.0, 3.0]);
/// first.progress(Stage::Graph, 0.5);
/// first.progress(Stage::Graph, 0.2); // less than before: not passed on
/// second.progress(Stage::Field, 1.0);
/// assert_eq!(*heard.0.lock().unwrap(), [0.125, 1.0]);
/// ```
pub struct Share<'a> {
    whole: &'a dyn Observer,
    /// The name of the share, whatever its parts are.
    stage: Option<Stage>,
    from: f64,
    to: f64,
    /// Whether the next step takes time in proportion to its share of the whole.
    even: bool,
    /// What was passed on last.
    told: Mutex<Option<(Stage, f64)>>,
}

/// What follows a share that ends here takes next to no time.
const NEARLY_ALL: f64 = 0.9;

impl<'a> Share<'a> {
    /// All of the work: the fractions of the parts are reported to its observer.
    pub fn all(whole: &'a dyn Observer) -> Share<'a> {
        Share { whole, stage: None, from: 0.0, to: 1.0, even: true, told: Mutex::default() }
    }

    /// Parts that follow one another, with a guess of their effort each, in any unit; what takes none has no share.
    pub fn split<const N: usize>(whole: &'a dyn Observer, efforts: [f64; N]) -> [Share<'a>; N] {
        let total = efforts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut done = 0.0;
        efforts.map(|effort| {
            let from = done;
            done += effort;
            let to = (done / total).min(1.0);
            Share { from: (from / total).min(1.0), to, even: false, ..Share::all(whole) }
        })
    }

    /// One of `count` parts that take about as long each.
    pub fn one_of(whole: &'a dyn Observer, at: usize, count: usize) -> Share<'a> {
        let (at, count) = (at as f64, count.max(1) as f64);
        Share { from: at / count, to: ((at + 1.0) / count).min(1.0), ..Share::all(whole) }
    }

    /// The share under one name: what its parts call themselves is not passed on. Parts that are earlier stages fill the
    /// first half of it, later ones the second.
    #[must_use]
    pub fn of_stage(self, stage: Stage) -> Share<'a> {
        Share { stage: Some(stage), ..self }
    }

    /// The share of a whole whose parts take as long as they were guessed to.
    #[must_use]
    pub fn even(self) -> Share<'a> {
        Share { even: true, ..self }
    }

    /// The part is done.
    pub fn finish(&self) {
        let last = self.told.lock().ok().and_then(|told| *told).map(|(stage, _)| stage);
        if let Some(stage) = self.stage.or(last) {
            self.progress(stage, 1.0);
        }
    }
}

impl Observer for Share<'_> {
    fn progress(&self, stage: Stage, fraction: f64) {
        // While another thread reports, this one has nothing new to report.
        let Ok(mut told) = self.told.try_lock() else { return };
        let fraction = match self.stage {
            Some(own) if own as u8 > stage as u8 => 0.5 * fraction,
            Some(own) if own != stage => 0.5 + 0.5 * fraction,
            _ => fraction,
        };
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        let now = (self.stage.unwrap_or(stage), told.map_or(0.0, |(_, reached)| reached).max(fraction));
        if *told != Some(now) {
            *told = Some(now);
            self.whole.progress(now.0, self.from + now.1 * (self.to - self.from));
        }
    }

    fn trial(&self, what: &str) {
        self.whole.trial(what);
    }

    fn steady(&self, at_most: bool) {
        if self.even || self.to >= NEARLY_ALL {
            self.whole.steady(at_most);
        }
    }

    fn descends(&self) {
        self.whole.descends();
    }

    fn objective(&self, value: f64) {
        self.whole.objective(value);
    }

    fn watches(&self) -> bool {
        self.whole.watches()
    }

    fn passes(&self, step: usize, coordinates: &[f64], dims: usize) {
        self.whole.passes(step, coordinates, dims);
    }

    fn gap(&self, value: f64) {
        self.whole.gap(value);
    }

    fn takes_long(&self, sentence: &str) {
        self.whole.takes_long(sentence);
    }

    fn stop(&self) -> bool {
        self.whole.stop()
    }
}

/// Requests a stop once [`Observer::stop`] has been called this many times; for tests of what a stop leaves.
#[derive(Debug)]
pub struct StopsAfter {
    left: std::sync::atomic::AtomicUsize,
}

impl StopsAfter {
    /// An observer whose first `count` answers are "go on".
    pub fn questions(count: usize) -> StopsAfter {
        StopsAfter { left: count.into() }
    }
}

impl Observer for StopsAfter {
    fn stop(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

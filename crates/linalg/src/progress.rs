//! One observer for progress and for stopping.
//!
//! Every job reports the fraction of its own work that is done, from 0 to 1. A longer job gives a [`Share`] of itself to each
//! part, and the fractions of the parts become fractions of the whole. So the observer of a fit, of a search for parameters or
//! of a likelihood gets one fraction that goes from 0 to 1 and never falls, from any number of threads.

use std::sync::Mutex;

/// The three stages, the likelihood and the quality measures, as they are reported to the observer.
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
    Quality,
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
            Stage::Quality => "quality",
            Stage::Dimension => "dimension",
            Stage::Likelihood => "likelihood",
        }
    }
}

/// Receives the progress of a fit and may stop it.
///
/// Every method but [`Observer::inner`] passes its call on to the inner observer. So an observer that wraps another one
/// implements what it changes, and whatever is added here later reaches the wrapped one without its help.
///
/// All calls must be cheap: they come from inner loops and from several threads.
pub trait Observer: Sync {
    /// The observer that this one wraps, which receives every call that is not overridden; `None` if there is none.
    fn inner(&self) -> Option<&dyn Observer>;

    /// The work stands in `stage`, and `fraction` (0 to 1) of all of it is done. The fraction never falls.
    fn progress(&self, stage: Stage, fraction: f64) {
        if let Some(inner) = self.inner() {
            inner.progress(stage, fraction);
        }
    }

    /// One of several fits begins, described in a few words (`k = 12, 6 of 10`); an empty text ends the last one.
    fn trial(&self, what: &str) {
        if let Some(inner) = self.inner() {
            inner.trial(what);
        }
    }

    /// From here to the end the fraction grows in step with time, so that the time left can be estimated from it; `at_most`
    /// if the work may end earlier. Without this call it cannot: how long a solver takes to converge is not known.
    fn steady(&self, at_most: bool) {
        if let Some(inner) = self.inner() {
            inner.steady(at_most);
        }
    }

    /// An iterative optimization has begun: a stop from here on returns the embedding reached by then.
    fn descends(&self) {
        if let Some(inner) = self.inner() {
            inner.descends();
        }
    }

    /// An optimization has evaluated its objective, in the units of the report.
    fn objective(&self, value: f64) {
        if let Some(inner) = self.inner() {
            inner.objective(value);
        }
    }

    /// Whether [`Observer::passes`] should be called now. This is checked at every iteration, so that an observer that
    /// returns true a few times per second pays for no more embeddings than that.
    fn watches(&self) -> bool {
        self.inner().is_some_and(Observer::watches)
    }

    /// The embedding of an optimization after `step` iterations, if [`Observer::watches`] has just returned true: `dims`
    /// coordinates per point, one point after the other, not rotated onto their principal axes. A part of the work may
    /// optimize fewer points than the whole has.
    fn passes(&self, step: usize, coordinates: &[f64], dims: usize) {
        if let Some(inner) = self.inner() {
            inner.passes(step, coordinates, dims);
        }
    }

    /// A solver's bound on its distance from the optimum: its relative duality gap, or the gap per point.
    fn gap(&self, value: f64) {
        if let Some(inner) = self.inner() {
            inner.gap(value);
        }
    }

    /// The next part of the work may take minutes: a sentence with the reason and a faster way.
    fn takes_long(&self, sentence: &str) {
        if let Some(inner) = self.inner() {
            inner.takes_long(sentence);
        }
    }

    /// Whether to stop at the next opportunity. The fit then returns what it has, marked as not converged, or
    /// [`Error::Stopped`](crate::Error::Stopped) if there is nothing to return yet.
    fn stop(&self) -> bool {
        self.inner().is_some_and(Observer::stop)
    }
}

/// Ignores everything and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }
}

/// A share of a longer job, as its part sees it: an observer that passes reports on, with the fraction as one of the whole
/// that never falls.
///
/// ```
/// use eigenfold_linalg::progress::{Observer, Share, Stage};
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Recorder(Mutex<Vec<f64>>);
/// impl Observer for Recorder {
///     fn inner(&self) -> Option<&dyn Observer> {
///         None
///     }
///
///     fn progress(&self, _: Stage, fraction: f64) {
///         self.0.lock().unwrap().push(fraction);
///     }
/// }
///
/// let recorder = Recorder::default();
/// let [first, second] = Share::split(&recorder, [1.0, 3.0]);
/// first.progress(Stage::Graph, 0.5);
/// first.progress(Stage::Graph, 0.2); // less than before: not passed on
/// second.progress(Stage::Field, 1.0);
/// assert_eq!(*recorder.0.lock().unwrap(), [0.125, 1.0]);
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
    reported: Mutex<Option<(Stage, f64)>>,
}

/// What follows a share that ends here takes next to no time.
const NEARLY_ALL: f64 = 0.9;

impl<'a> Share<'a> {
    /// All of the work: the fractions of the parts are reported to its observer.
    pub fn all(whole: &'a dyn Observer) -> Share<'a> {
        Share { whole, stage: None, from: 0.0, to: 1.0, even: true, reported: Mutex::default() }
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
        let last = self.reported.lock().ok().and_then(|reported| *reported).map(|(stage, _)| stage);
        if let Some(stage) = self.stage.or(last) {
            self.progress(stage, 1.0);
        }
    }
}

impl Observer for Share<'_> {
    fn inner(&self) -> Option<&dyn Observer> {
        Some(self.whole)
    }

    fn progress(&self, stage: Stage, fraction: f64) {
        // While another thread reports, this one has nothing new to report.
        let Ok(mut reported) = self.reported.try_lock() else { return };
        let fraction = match self.stage {
            Some(own) if own as u8 > stage as u8 => 0.5 * fraction,
            Some(own) if own != stage => 0.5 + 0.5 * fraction,
            _ => fraction,
        };
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        let now = (self.stage.unwrap_or(stage), reported.map_or(0.0, |(_, reached)| reached).max(fraction));
        if *reported != Some(now) {
            *reported = Some(now);
            self.whole.progress(now.0, self.from + now.1 * (self.to - self.from));
        }
    }

    fn steady(&self, at_most: bool) {
        if self.even || self.to >= NEARLY_ALL {
            self.whole.steady(at_most);
        }
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
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn stop(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Counts every call.
    #[derive(Default)]
    struct Counts([AtomicUsize; 10]);

    impl Counts {
        fn add(&self, at: usize) {
            self.0[at].fetch_add(1, Relaxed);
        }
    }

    impl Observer for Counts {
        fn inner(&self) -> Option<&dyn Observer> {
            None
        }

        fn progress(&self, _: Stage, _: f64) {
            self.add(0);
        }

        fn trial(&self, _: &str) {
            self.add(1);
        }

        fn steady(&self, _: bool) {
            self.add(2);
        }

        fn descends(&self) {
            self.add(3);
        }

        fn objective(&self, _: f64) {
            self.add(4);
        }

        fn watches(&self) -> bool {
            self.add(5);
            true
        }

        fn passes(&self, _: usize, _: &[f64], _: usize) {
            self.add(6);
        }

        fn gap(&self, _: f64) {
            self.add(7);
        }

        fn takes_long(&self, _: &str) {
            self.add(8);
        }

        fn stop(&self) -> bool {
            self.add(9);
            true
        }
    }

    /// Overrides nothing.
    struct Wrapper<'a>(&'a dyn Observer);

    impl Observer for Wrapper<'_> {
        fn inner(&self) -> Option<&dyn Observer> {
            Some(self.0)
        }
    }

    #[test]
    fn a_wrapper_passes_every_call_on() {
        let counts = Counts::default();
        let share = Share::all(&counts);
        let wrapper = Wrapper(&share);
        wrapper.progress(Stage::Graph, 0.5);
        wrapper.trial("k = 5");
        wrapper.steady(true);
        wrapper.descends();
        wrapper.objective(1.0);
        assert!(wrapper.watches() && wrapper.stop());
        wrapper.passes(1, &[0.0], 1);
        wrapper.gap(0.1);
        wrapper.takes_long("minutes");
        assert!(counts.0.iter().all(|count| count.load(Relaxed) == 1), "{:?}", counts.0);
    }
}

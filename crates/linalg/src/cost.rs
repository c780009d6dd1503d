//! Predicted CPU time of a job, reported before it starts.
//!
//! A method that may take long predicts its seconds from what it knows by then (points, edges, the flops of a factor), by rates
//! that were measured on one machine (docs/decisions/0143-predicted-run-time.md). Another machine has other rates: a time is a guess within a factor of
//! three or so, which is enough for a choice between waiting and another method.

use crate::progress::Observer;

/// Estimates from this many seconds on are reported. An estimate may be three times too small, so every job of a minute is
/// reported.
const LONG: f64 = 20.0;
/// The same for upper bounds.
const LONG_AT_MOST: f64 = 40.0;

/// CPU seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// An estimate, in CPU seconds.
    About(f64),
    /// Work that may end long before.
    AtMost(f64),
}

impl Cost {
    /// Tells the observer if it is long: what the work is, and what would take less.
    pub fn announce(self, observer: &dyn Observer, what: &str, way_out: &str) {
        if self.is_long() {
            observer.takes_long(&format!("{what} takes {}; {way_out}", self.in_words()));
        }
    }

    fn is_long(self) -> bool {
        match self {
            Cost::About(seconds) => seconds >= LONG,
            Cost::AtMost(seconds) => seconds >= LONG_AT_MOST,
        }
    }

    /// In words: no more digits than a guess has.
    pub(crate) fn in_words(self) -> String {
        let (how, seconds) = match self {
            Cost::About(seconds) => ("about", seconds),
            Cost::AtMost(seconds) => ("at most about", seconds),
        };
        let (count, unit) = match seconds {
            ..90.0 => (10.0 * (seconds / 10.0).round().max(1.0), "seconds"),
            ..5400.0 => ((seconds / 60.0).round(), "minutes"),
            ..172_800.0 => ((seconds / 3600.0).round(), "hours"),
            _ => ((seconds / 86_400.0).round(), "days"),
        };
        // Two minutes, not 118 seconds; 20 minutes, not 19.
        let count = if count >= 20.0 { 10.0 * (count / 10.0).round() } else { count };
        format!("{how} {count} {unit} of CPU time")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Recorder(Mutex<Vec<String>>);

    impl Observer for Recorder {
        fn inner(&self) -> Option<&dyn Observer> {
            None
        }

        fn takes_long(&self, sentence: &str) {
            self.0.lock().unwrap().push(sentence.into());
        }
    }

    #[test]
    fn a_time_is_written_in_words_with_the_digits_of_a_guess() {
        let in_words = |seconds| Cost::About(seconds).in_words();
        assert_eq!(in_words(23.0), "about 20 seconds of CPU time");
        assert_eq!(in_words(118.0), "about 2 minutes of CPU time");
        assert_eq!(in_words(1140.0), "about 19 minutes of CPU time");
        assert_eq!(in_words(2040.0), "about 30 minutes of CPU time");
        assert_eq!(in_words(7000.0), "about 2 hours of CPU time");
        assert_eq!(in_words(400_000.0), "about 5 days of CPU time");
        assert_eq!(Cost::AtMost(48.0).in_words(), "at most about 50 seconds of CPU time");
    }

    #[test]
    fn only_long_work_is_reported_and_with_the_way_out() {
        let recorder = Recorder::default();
        for cost in [Cost::About(19.0), Cost::AtMost(39.0), Cost::About(f64::NAN)] {
            cost.announce(&recorder, "work", "do less");
        }
        Cost::About(60.0).announce(&recorder, "work", "do less");
        assert_eq!(*recorder.0.lock().unwrap(), ["work takes about 60 seconds of CPU time; do less"]);
    }
}

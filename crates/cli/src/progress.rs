//! What the user sees while a fit runs, and how Ctrl-C reaches it.
//!
//! One bar is drawn for the whole command, on standard error and only if that is a terminal (`meter.rs` has the line). The first Ctrl-C (or TERM, or HUP) asks the fit to stop,
//! and what a descent or an optimizer has by then is written, marked as not converged; the second leaves at once, and so does
//! the first if the fit does not listen. Whoever leaves takes unfinished files away first, and then ends by the signal, so that
//! the shell knows (130 for Ctrl-C).

use crate::progress_line::ProgressLine;
use crate::{outputs, signals};
use eigenfold::{Error, Observer, Result, Stage};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Set by the first Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// Set when the first output is written: from then on leaving at once could leave a part of it.
static WRITING: AtomicBool = AtomicBool::new(false);

/// Set when the program is about to end at once.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// Set when a descent has begun: it listens, and brings what it has to an end.
static DESCENDING: AtomicBool = AtomicBool::new(false);

/// How long a fit may take to notice that it should stop, and to bring what it has to an end.
const PATIENCE: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(30)];

/// Lets Ctrl-C stop the work from here on.
pub(crate) fn listen_for_ctrl_c() {
    signals::listen(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            leave();
        }
        if std::thread::Builder::new().spawn(leave_if_deaf).is_err() {
            leave();
        }
    });
}

/// Ends the program at once, without unfinished files; not if all files are finished, since then it ends by itself.
fn leave() {
    LEAVING.store(true, Ordering::Relaxed);
    if outputs::abandon() {
        signals::end();
        std::process::exit(1);
    }
}

/// Whether the program is about to end at once.
pub(crate) fn is_leaving() -> bool {
    LEAVING.load(Ordering::Relaxed)
}

/// Ends the program if the work goes on regardless, unless it has come to writing.
fn leave_if_deaf() {
    std::thread::sleep(PATIENCE[0]);
    if DESCENDING.load(Ordering::Relaxed) {
        std::thread::sleep(PATIENCE[1]);
    }
    if !WRITING.load(Ordering::Relaxed) {
        crate::complain(&crate::shown(&Error::Stopped));
        leave();
    }
}

/// From here on outputs are written: an error if Ctrl-C was pressed, else it no longer ends the program by itself.
pub(crate) fn start_writing() -> Result<()> {
    WRITING.store(true, Ordering::Relaxed);
    go_on()
}

/// From here on outputs are written, also if Ctrl-C was pressed: the fit heard it and gave what it had. Whether it was.
pub(crate) fn start_writing_what_there_is() -> bool {
    WRITING.store(true, Ordering::Relaxed);
    is_stopped()
}

/// Does work that must not be cut off by the first Ctrl-C, such as writing rows to a pipe.
pub(crate) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    WRITING.store(true, Ordering::Relaxed);
    let done = work();
    WRITING.store(false, Ordering::Relaxed);
    done
}

/// Whether Ctrl-C was pressed.
pub(crate) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// An error if Ctrl-C was pressed, for work that is of no use unfinished.
pub(crate) fn go_on() -> Result<()> {
    if is_stopped() { Err(Error::Stopped) } else { Ok(()) }
}

/// Hears the work and shows where the command is, in one line for all of it.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    start: Instant,
    meter: Arc<Mutex<ProgressLine>>,
    /// The thousandths shown last, so that inner loops cost one comparison.
    shown: AtomicU32,
    quiet: bool,
}

impl Bar {
    /// A bar, or nothing to see if `quiet` or if standard error is no terminal.
    pub(crate) fn new(quiet: bool) -> Bar {
        let (start, meter) = (Instant::now(), Arc::<Mutex<ProgressLine>>::default());
        let visible = !quiet && std::io::stderr().is_terminal();
        let bar = visible.then(|| {
            let (bar, shown) = (ProgressBar::no_length(), Arc::clone(&meter));
            let line = move |_: &ProgressState, out: &mut dyn Write| {
                let width = usize::from(console::Term::stderr().size().1);
                let line = locked(&shown).line(start.elapsed().as_secs_f64(), width);
                let _ = out.write_str(&line);
            };
            if let Ok(style) = ProgressStyle::with_template("{line}") {
                bar.set_style(style.with_key("line", line));
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Bar { bar, start, meter, shown: AtomicU32::new(u32::MAX), quiet }
    }

    /// Whether there is something to see.
    pub(crate) fn is_visible(&self) -> bool {
        self.bar.is_some()
    }

    /// Announces something that is not a stage of the fit.
    pub(crate) fn say(&self, what: &str) {
        let mut meter = locked(&self.meter);
        meter.what = what.to_string();
        meter.figure.clear();
    }

    /// Shows how much of a stream has passed, or how many rows where its length is not known.
    pub(crate) fn passed(&self, fraction: Option<f64>, rows: usize) {
        let (mut meter, seconds) = (locked(&self.meter), self.seconds());
        match fraction {
            Some(fraction) => {
                meter.pace.steady(0.0, 0.0, false);
                meter.fraction = Some(fraction);
                meter.pace.reached(seconds, fraction);
            }
            None => meter.figure = format!("{} rows", crate::report::grouped(rows)),
        }
    }

    /// Says something while the bar is there.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

fn locked(meter: &Mutex<ProgressLine>) -> MutexGuard<'_, ProgressLine> {
    meter.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Observer for Bar {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn progress(&self, stage: Stage, fraction: f64) {
        let now = stage as u32 * 10_000 + (fraction.clamp(0.0, 1.0) * 1000.0) as u32;
        if self.bar.is_none() || self.shown.swap(now, Ordering::Relaxed) == now {
            return;
        }
        let (mut meter, seconds) = (locked(&self.meter), self.seconds());
        if meter.what != stage.name() {
            meter.what = stage.name().into();
            meter.figure.clear();
        }
        meter.fraction = Some(fraction);
        meter.pace.reached(seconds, fraction);
    }

    fn trial(&self, what: &str) {
        locked(&self.meter).trial = what.to_string();
    }

    fn steady(&self, at_most: bool) {
        let (mut meter, seconds) = (locked(&self.meter), self.seconds());
        let fraction = meter.fraction.unwrap_or_default();
        meter.pace.steady(seconds, fraction, at_most);
    }

    fn descends(&self) {
        DESCENDING.store(true, Ordering::Relaxed);
    }

    fn objective(&self, value: f64) {
        if self.bar.is_some() {
            locked(&self.meter).figure = format!("objective {value:.4e}");
        }
    }

    fn gap(&self, value: f64) {
        if self.bar.is_some() {
            locked(&self.meter).figure = format!("gap {value:.1e}");
        }
    }

    fn takes_long(&self, sentence: &str) {
        self.aside(|| crate::say(self.quiet, &format!("note: {}", crate::flags::with_flags(sentence))));
    }

    fn stop(&self) -> bool {
        is_stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_names_the_fit_that_a_stage_belongs_to() {
        let mut bar = Bar::new(true);
        bar.bar = Some(ProgressBar::hidden());
        let line = || locked(&bar.meter).line(3.0, 80);
        bar.say("reading");
        assert_eq!(line(), "reading  3 s");
        bar.trial("k = 12, 6 of 10");
        bar.progress(Stage::Coordinates, 0.5);
        bar.objective(12.5);
        assert!(line().starts_with("k = 12, 6 of 10, coordinates, objective 1.2500e1 "), "{}", line());
        bar.trial("");
        bar.progress(Stage::Likelihood, 0.9);
        bar.gap(0.001);
        assert!(line().starts_with("likelihood, gap 1.0e-3 "), "{}", line());
        assert!(line().ends_with("  90 %  3 s spent"), "{}", line());
    }
}

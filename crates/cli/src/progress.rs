//! What the user sees while a fit runs, and how Ctrl-C reaches it.
//!
//! The bar is drawn on standard error, only if that is a terminal. The first Ctrl-C (or TERM, or HUP) asks the fit to stop,
//! and what a descent or an optimizer has by then is written, marked as not converged; the second leaves at once, and so does
//! the first if the fit does not listen. Whoever leaves takes unfinished files away first.

use crate::outputs;
use eigenfold::error::{Error, Result};
use eigenfold::progress::{Observer, Stage};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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
    // Without a handler Ctrl-C ends the program as usual, which is no reason to refuse the work.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            leave();
        }
        std::thread::spawn(leave_if_deaf);
    });
}

/// Ends the program at once, without unfinished files; not if all files are finished, since then it ends by itself.
fn leave() {
    LEAVING.store(true, Ordering::Relaxed);
    if outputs::abandon() {
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
        crate::complain(&Error::Stopped.to_string());
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

/// Whether Ctrl-C was pressed.
fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// An error if Ctrl-C was pressed, for work that is of no use unfinished.
pub(crate) fn go_on() -> Result<()> {
    if is_stopped() { Err(Error::Stopped) } else { Ok(()) }
}

/// Hears the fit and shows where it is.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    /// The stage and the thousandths shown last, so that inner loops cost one comparison.
    shown: AtomicU32,
    /// Which of several fits this is.
    trial: Mutex<String>,
    quiet: bool,
}

impl Bar {
    /// A bar, or nothing to see if `quiet` or if standard error is no terminal.
    pub(crate) fn new(quiet: bool) -> Bar {
        let visible = !quiet && std::io::stderr().is_terminal();
        let bar = visible.then(|| {
            let bar = ProgressBar::new(1000);
            let template = "{msg:<24} {wide_bar:.blue/white.dim} {percent:>3} %  {elapsed} spent, {eta} left";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Bar { bar, shown: AtomicU32::new(u32::MAX), trial: Mutex::default(), quiet }
    }

    /// Announces something that is not a stage of the fit.
    pub(crate) fn say(&self, what: &'static str) {
        if let Some(bar) = &self.bar {
            bar.reset();
            bar.set_message(self.named(what));
        }
    }

    /// What is being done, behind the fit that it is done for.
    fn named(&self, what: &str) -> String {
        let trial = self.trial.lock().unwrap_or_else(PoisonError::into_inner);
        if trial.is_empty() { what.to_string() } else { format!("{trial}: {what}") }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Observer for Bar {
    fn progress(&self, stage: Stage, fraction: f64) {
        let Some(bar) = &self.bar else { return };
        let thousandths = (fraction.clamp(0.0, 1.0) * 1000.0) as u32;
        let now = stage as u32 * 10_000 + thousandths;
        let before = self.shown.swap(now, Ordering::Relaxed);
        if now / 10_000 != before / 10_000 {
            self.say(stage.name());
        }
        if now != before {
            bar.set_position(u64::from(thousandths));
        }
    }

    fn trial(&self, what: &str) {
        *self.trial.lock().unwrap_or_else(PoisonError::into_inner) = what.to_string();
        // The stage is announced anew.
        self.shown.store(u32::MAX, Ordering::Relaxed);
    }

    fn descends(&self) {
        DESCENDING.store(true, Ordering::Relaxed);
    }

    fn objective(&self, value: f64) {
        if let Some(bar) = &self.bar {
            bar.set_message(self.named(&format!("descent {value:.6e}")));
        }
    }

    fn takes_long(&self, sentence: &str) {
        let say = || crate::say(self.quiet, &format!("note: {}", crate::flags::with_flags(sentence)));
        self.bar.as_ref().map_or_else(say, |bar| bar.suspend(say));
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
        let bar = Bar::new(true);
        assert_eq!(bar.named("graph"), "graph");
        bar.trial("k = 12, 6 of 10");
        assert_eq!(bar.named("graph"), "k = 12, 6 of 10: graph");
        bar.trial("");
        assert_eq!(bar.named("field"), "field");
    }
}

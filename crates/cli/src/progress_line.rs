//! The line that shows where a command is: what it does, a bar, the share that is done, and time.
//!
//! The time left is shown only while the work is steady, and estimated from the steady part alone.

use console::style;

/// Columns for what is being done, so that the bar does not jump.
const NAME: usize = 30;
/// A bar with fewer columns than this shows nothing.
const SHORTEST: usize = 8;
/// The least seconds of steady work, and the least share of the whole done in them, before the time left is estimated.
const LEAST: (f64, f64) = (1.0, 0.02);
/// The most estimates per second, and the weight of a new estimate.
const GUESSES: (f64, f64) = (4.0, 0.2);

/// When the work will end, if that can be estimated; times are seconds from its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// When the work began to be steady, and how much was done then.
    since: Option<(f64, f64)>,
    /// When it is expected to end, and when that was said.
    end: Option<(f64, f64)>,
    /// Whether it may end before.
    at_most: bool,
}

impl Pace {
    /// From here on the work is steady; whether it may end before its time.
    pub(crate) fn steady(&mut self, now: f64, fraction: f64, at_most: bool) {
        if self.since.is_none() {
            (self.since, self.at_most) = (Some((now, fraction)), at_most);
        }
    }

    /// This fraction is done now.
    pub(crate) fn reached(&mut self, now: f64, fraction: f64) {
        let Some((start, before)) = self.since else { return };
        let (took, done) = (now - start, fraction - before);
        let lately = self.end.is_some_and(|(_, said)| now - said < 1.0 / GUESSES.0);
        if took < LEAST.0 || done < LEAST.1 || lately {
            return;
        }
        let next = now + took * (1.0 - fraction) / done;
        let end = self.end.map_or(next, |(end, _)| end + GUESSES.1 * (next - end));
        self.end = Some((end, now));
    }

    /// The seconds that are left.
    pub(crate) fn left(&self, now: f64) -> Option<f64> {
        self.end.map(|(end, _)| end - now).filter(|&left| left > 0.5)
    }
}

/// What there is to show.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgressLine {
    /// Which of several fits, what stage of it, and a figure of it.
    pub(crate) trial: String,
    pub(crate) what: String,
    pub(crate) figure: String,
    /// How much of the command is done; nothing before that is known.
    pub(crate) fraction: Option<f64>,
    pub(crate) pace: Pace,
}

impl ProgressLine {
    /// The line at this time in a terminal of `width` columns.
    pub(crate) fn line(&self, now: f64, width: usize) -> String {
        let what: Vec<&str> =
            [&self.trial, &self.what, &self.figure].into_iter().map(String::as_str).filter(|s| !s.is_empty()).collect();
        let what = what.join(", ");
        let width = width.saturating_sub(1);
        let Some(fraction) = self.fraction else { return cut(&format!("{what}  {}", time(now)), width) };
        let percent = format!("{:>3} %", (100.0 * fraction.clamp(0.0, 1.0)).floor());
        let about = if self.pace.at_most { "at most" } else { "about" };
        let left = self.pace.left(now).map_or(String::new(), |left| format!(", {about} {} left", time(left)));
        let clock = format!("{percent}  {} spent{left}", time(now));
        let after = format!(" {clock}");
        let name = format!("{what:<0$} ", NAME.min(width / 3));
        let room = width.saturating_sub(name.chars().count() + after.chars().count());
        if room < SHORTEST {
            return cut(&format!("{clock}  {what}"), width);
        }
        let filled = ((room as f64 * fraction.clamp(0.0, 1.0)).floor() as usize).min(room);
        let (done, rest) = ("━".repeat(filled), "─".repeat(room - filled));
        format!("{name}{}{}{after}", style(done).blue().for_stderr(), style(rest).dim().for_stderr())
    }
}

/// As much of a text as fits.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Seconds as people say them.
fn time(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_shown_once_the_work_is_steady() {
        let mut pace = Pace::default();
        pace.reached(10.0, 0.5);
        assert_eq!(pace.left(10.0), None);
        // The first half took ten seconds, the second takes forty.
        pace.steady(10.0, 0.5, false);
        pace.steady(20.0, 0.6, true); // said again: the first time counts
        for at in 1..40 {
            let now = 10.0 + f64::from(at);
            pace.reached(now, 0.5 + 0.0125 * f64::from(at));
            let (left, truth) = (pace.left(now), 40.0 - f64::from(at));
            assert_eq!(left.is_some(), at >= 2, "{at}");
            assert!(left.is_none_or(|left| (left - truth).abs() < 1e-9), "{at}: {left:?}");
        }
    }

    #[test]
    fn a_burst_does_not_throw_the_time_left_about() {
        let mut pace = Pace::default();
        pace.steady(0.0, 0.0, true);
        pace.reached(10.0, 0.1);
        assert!((pace.left(10.0).unwrap() - 90.0).abs() < 1e-9);
        // By itself, this says fifteen seconds.
        pace.reached(10.5, 0.4);
        let left = pace.left(10.5).unwrap();
        assert!((70.0..80.0).contains(&left), "{left}");
    }

    #[test]
    fn a_line_fits_its_terminal_and_keeps_what_matters() {
        let pace = Pace { since: Some((0.0, 0.0)), end: Some((100.0, 70.0)), at_most: true };
        let meter = ProgressLine {
            trial: "k = 12, 6 of 10".into(),
            what: "coordinates".into(),
            figure: "objective 1.2345e2".into(),
            fraction: Some(0.4567),
            pace,
        };
        for width in [10, 30, 50, 80, 120, 200] {
            let line = console::strip_ansi_codes(&meter.line(70.0, width)).into_owned();
            assert!(line.chars().count() < width, "{width}: {line}");
            assert!(line.contains("45 %"), "{width}: {line}");
        }
        let line = console::strip_ansi_codes(&meter.line(70.0, 120)).into_owned();
        assert!(line.starts_with("k = 12, 6 of 10, coordinates, objective 1.2345e2 ━"), "{line}");
        assert!(line.ends_with("─  45 %  1 min 10 s spent, at most 30 s left"), "{line}");
        let unknown = ProgressLine { what: "reading".into(), ..ProgressLine::default() };
        assert_eq!(unknown.line(3.2, 80), "reading  3 s");
    }
}

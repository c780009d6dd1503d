//! The eigenfold program: reads the command line, runs one command, and says in one line what went wrong.

// Printing is this crate's purpose; everything goes through `print`, `say` and `complain`.
#![allow(clippy::print_stdout, clippy::print_stderr)]
// A test that cannot go on has failed.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod args;
mod command;
mod compare;
mod completions;
mod dimension;
mod drawing;
mod dropped_rows;
mod effective_parameters;
mod embed;
mod fit_rows;
mod flags;
mod graph;
mod headings;
mod hints;
mod imputed;
mod input;
mod labels;
mod methods;
mod outputs;
mod own_neighbors;
mod parameters;
mod preparing;
mod progress;
mod progress_line;
mod quality;
mod reconstruct;
mod report;
mod request;
mod sample;
mod serve;
mod signals;
mod snapshots;
mod stream;
mod transform;
mod usage;
mod view;

use args::Cmd;
use eigenfold::{Error, Result};
use peak_alloc::PeakAlloc;
use std::io::{ErrorKind, Write};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Counts what is allocated: two additions to every allocation.
#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    let cli = match command::command().try_get_matches().and_then(|matches| command::parsed(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error),
    };
    progress::listen_for_ctrl_c();
    let done = guarded(|| run(&cli.command));
    match done {
        Ok(()) => {
            say_warnings();
            // Ctrl-C is how one leaves the server. Any other command was cut short, even if it wrote what it had.
            if !matches!(cli.command, Cmd::Serve(_)) {
                let _ = std::io::stdout().flush();
                signals::end();
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&shown(&error));
            if let Error::Stopped = error {
                signals::end();
            }
            ExitCode::from(code(&error))
        }
    }
}

fn run(command: &Cmd) -> Result<()> {
    match command {
        Cmd::Embed(args) => embed::run(args),
        Cmd::Transform(args) => transform::run(args),
        Cmd::Reconstruct(args) => reconstruct::run(args),
        Cmd::Compare(args) => compare::run(args),
        Cmd::Serve(args) => serve::run(args),
        Cmd::View(args) => view::run(args),
        Cmd::Quality(args) => quality::run(args),
        Cmd::Dimension(args) => dimension::run(args),
        Cmd::Graph(args) => graph::run(args),
        Cmd::Sample(args) => sample::run(args),
        Cmd::Methods(args) => methods::run(args),
        Cmd::Completions(args) => completions::completions(args),
        Cmd::Man(args) => completions::man(args),
    }
}

/// Runs the work; if it panics, which is a defect of ours, that is said in one line too, and files are cleaned up.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::set_hook(Box::new(|_| {}));
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no details");
        Err(Error::numerical(format!("an internal check failed ({text})"), "this is a defect, please report it"))
    })
}

/// An error as the program prints it.
fn shown(error: &Error) -> String {
    let message = error.message_with(flags::flag);
    if let Error::Stopped = error { format!("{message}; nothing was written") } else { message }
}

/// 2 if other data or flags help, 1 if not.
fn code(error: &Error) -> u8 {
    if error.is_input() { 2 } else { 1 }
}

/// One line on standard error, whatever the message holds.
fn complain(message: &str) {
    // A closed standard error cannot be reported anywhere.
    let _ = writeln!(std::io::stderr(), "eigenfold: {}", one_line(message));
}

/// A report for people, on standard error.
fn say(quiet: bool, text: &str) {
    if !quiet {
        let lines: Vec<String> = text.split('\n').map(one_line).collect();
        let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
    }
}

/// What is to be warned of when the command has succeeded.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Warns of something, when the command has succeeded: one that is refused says that alone.
fn warn(quiet: bool, note: &str) {
    if !quiet {
        WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).push(format!("  warning: {}", one_line(note)));
    }
}

/// Says what there is to be warned of.
fn say_warnings() {
    std::mem::take(&mut *WARNINGS.lock().unwrap_or_else(PoisonError::into_inner))
        .iter()
        .for_each(|warning| say(false, warning));
}

/// Text as it can be shown on a terminal: whatever a file calls its columns, its labels or itself, nothing of it moves the
/// cursor, changes colors, or turns the direction of writing. Everything for people goes through here.
fn one_line(text: &str) -> String {
    let directs =
        |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || directs(c) { ' ' } else { c }).collect()
}

/// The result, on standard output.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader of our output has seen enough of it.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|source| eigenfold::io::write_error("-", source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_a_command_to_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31mb\u{9b}2J\rc\td\u{202e}e\u{7f}\u{85}"), "a [31mb 2J c d e  ");
        assert_eq!(one_line("plain, ünïcödé 数"), "plain, ünïcödé 数");
    }
}

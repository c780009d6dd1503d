//! The eigenfold program: reads the command line, runs one command, and says in one line what went wrong.

// Printing is this crate's purpose; everything goes through `print`, `say` and `complain`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod completions;
mod embed;
mod flags;
mod graph;
mod input;
mod methods;
mod outputs;
mod plot;
mod progress;
mod report;
mod sample;
mod transform;
mod usage;

use args::Cmd;
use eigenfold::error::{Error, Result};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match args::command().try_get_matches().and_then(|matches| args::parsed(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error),
    };
    progress::listen_for_ctrl_c();
    let result = match &cli.command {
        Cmd::Embed(args) => embed::run(args),
        Cmd::Transform(args) => transform::run(args),
        Cmd::Graph(args) => graph::run(args),
        Cmd::Sample(args) => sample::run(args),
        Cmd::Methods(args) => methods::run(args),
        Cmd::Completions(args) => completions::completions(args),
        Cmd::Man(args) => completions::man(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(code(&error))
        }
    }
}

/// 2 if the user can mend it by other data or flags, 1 if not.
fn code(error: &Error) -> u8 {
    match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::StorageFull => 1,
        error if error.is_input() => 2,
        _ => 1,
    }
}

/// One line on standard error, whatever the message holds.
fn complain(message: &str) {
    let line: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // If nobody listens there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "eigenfold: {line}");
}

/// A report for people, on standard error.
fn say(quiet: bool, text: &str) {
    if !quiet {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// What was asked for, on standard output.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads our output has seen enough of it.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|source| eigenfold::io::write_error("-", source)),
    }
}

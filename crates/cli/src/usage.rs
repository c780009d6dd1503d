//! What is said about a command line that cannot be understood: one line, the fact and the way out.

use crate::command::command;
use crate::complain;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::process::ExitCode;

/// Prints help and version as they are, and an error as one line.
pub(crate) fn answer(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader who has seen enough of the help is no failure.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            // Our own value parsers name the way out themselves.
            let is_ours = error.source().is_some_and(|source| source.is::<eigenfold::Error>());
            let way_out = if is_ours { String::new() } else { format!("; {}", way_out(error)) };
            complain(&(fact(error) + &way_out));
            ExitCode::from(2)
        }
    }
}

/// The first paragraph of clap's message, without its `error:`.
fn fact(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect::<Vec<_>>();
    let known = lines.iter().position(|line| line.starts_with("[possible values")).unwrap_or(lines.len());
    lines[..known].join(" ").trim_start_matches("error: ").to_string()
}

/// The nearest name, the possible values, or where to look.
fn way_out(error: &clap::Error) -> String {
    let suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand];
    for kind in suggested {
        match error.get(kind) {
            Some(ContextValue::String(name)) => return format!("did you mean {name}?"),
            Some(ContextValue::Strings(names)) if !names.is_empty() => {
                return format!("did you mean {}?", names.join(" or "));
            }
            _ => {}
        }
    }
    if let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue)
        && !values.is_empty()
    {
        return format!("use {}", values.join(", "));
    }
    let named = std::env::args_os().nth(1).unwrap_or_default().to_string_lossy().into_owned();
    match command().find_subcommand(&named) {
        Some(_) => format!("see eigenfold {named} --help"),
        None => "see eigenfold --help".to_string(),
    }
}

//! The command line as a whole: the flags of [`args`](crate::args), the parameters of the methods, and further files.

use crate::args::{Cli, Cmd};
use crate::parameters;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, value_parser};
use std::path::PathBuf;

/// The name of the argument that takes more files.
const MORE: &str = "MORE";

/// The whole command line, with the parameters of all methods as flags of `embed` and `compare`, and drill's as flags of `graph`.
pub(crate) fn command() -> Command {
    let places = |reconstruct: Command| {
        reconstruct.mut_arg("source", |source| {
            source.value_name("COORDS").help("The places: .csv, .tsv, .npy, .parquet, .arrow, or - for standard input")
        })
    };
    Cli::command()
        .mut_subcommand("reconstruct", places)
        .mut_subcommand("embed", |embed| more(embed).args(parameters::of_methods()))
        .mut_subcommand("compare", |compare| {
            let digits = |source: Arg| source.required(false).default_value("digits");
            compare.mut_arg("source", digits).args(parameters::of_methods())
        })
        .mut_subcommand("transform", more)
        .mut_subcommand("dimension", more)
        .mut_subcommand("graph", |graph| more(graph).args(parameters::of_learning()))
}

/// The same command for several files.
fn more(command: Command) -> Command {
    let help = "More files of points with the same columns: their rows follow those of INPUT, file by file";
    command.arg(Arg::new(MORE).value_name(MORE).num_args(1..).value_parser(value_parser!(PathBuf)).help(help))
}

/// The command line that was given.
pub(crate) fn parsed(matches: &ArgMatches) -> Result<Cli, clap::Error> {
    let mut cli = Cli::from_arg_matches(matches)?;
    let more = |given: &ArgMatches| given.get_many::<PathBuf>(MORE).unwrap_or_default().cloned().collect();
    match (&mut cli.command, matches.subcommand()) {
        (Cmd::Embed(embed), Some((_, given))) => {
            embed.parameters = parameters::values(&parameters::of_methods(), given);
            embed.input.more = more(given);
        }
        (Cmd::Compare(compare), Some((_, given))) => {
            compare.parameters = parameters::values(&parameters::of_methods(), given);
        }
        (Cmd::Graph(graph), Some((_, given))) => {
            graph.learning = parameters::values(&parameters::of_learning(), given);
            graph.input.more = more(given);
        }
        (Cmd::Transform(transform), Some((_, given))) => transform.input.more = more(given),
        (Cmd::Dimension(dimension), Some((_, given))) => dimension.input.more = more(given),
        _ => {}
    }
    Ok(cli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}

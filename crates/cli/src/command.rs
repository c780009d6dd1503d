//! The command line as a whole: the flags of [`args`](crate::args), the parameters of the methods, further files, and the headings of
//! the help.

use crate::args::{Cli, Cmd};
use crate::{headings, parameters, sample};
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches, value_parser};
use std::path::PathBuf;

/// The name of the argument that takes more files.
const MORE: &str = "MORE";

/// The flags of `embed`, `compare`, ... whose meaning differs from command to command: the command, the flag, its line, and what
/// `--help` adds to it.
const MEANINGS: &[(&str, &str, &str, &str)] = &[
    ("transform", "source", "New points, with the columns of the training data", FORMATS),
    ("transform", "missing", "Missing cells: error, drop, mean or model [default: as fitted]", MISSING),
    ("reconstruct", "source", "Embedding points, a column for each coordinate", FORMATS),
    ("reconstruct", "label", "Column that is not a coordinate (name or number)", ""),
    ("reconstruct", "missing", "Missing cells: error or drop [default: error]", ""),
    ("quality", "label", "Column of class labels, which is not data (name or number)", ""),
    ("dimension", "label", "Column that is not data (name or number)", ""),
    ("graph", "label", "Column that is not data (name or number)", ""),
    ("graph", "k", "Number of neighbors [default: 10]", ""),
    ("serve", "k", "Number of neighbors, unless the page sets another [default: 10]", ""),
    ("compare", "k", "Number of neighbors [default: 10]", ""),
    ("compare", "keep", "Columns that can color the points of the page and are not data", KEPT),
    ("serve", "keep", "Columns that can color the points of the page and are not data", KEPT),
    ("compare", "names", "Names of the points on the page", NAMED),
    ("serve", "names", "Names of the points on the page", NAMED),
    ("embed", "size", "Size of the picture in units of 1/96 inch, as in 1200x900", PIXELS),
    ("transform", "size", "Size of the picture in units of 1/96 inch, as in 1200x900", PIXELS),
    ("embed", "image", "Draw rows as images of WxH pixels where they fit", IMAGES),
    ("transform", "image", "Draw rows as images of WxH pixels where they fit", IMAGES),
    ("embed", "shade", "Shade the background by the uncertainty of reconstruction", SHADE),
    ("transform", "shade", "Shade the background by the uncertainty of reconstruction", SHADE),
];
const FORMATS: &str = "A file, or - for standard input. Formats: .csv, .tsv, .npy, .npz (FILE.npz:NAME for one of several arrays), \
                       .parquet, .arrow, .feather; each also compressed, with .gz or .zst after it.";
const MISSING: &str = "Empty cells, NA, NaN, null, ? and the marks of --na are missing. error refuses them, drop leaves the rows of the output \
                       empty, mean imputes the mean of the column, and model imputes from similar rows.";
const KEPT: &str = "As in id,species.";
const NAMED: &str = "A column of the input that is not data, or another file as for --labels.";
const PIXELS: &str = "A PNG has two pixels to a unit.";
const IMAGES: &str = "Each row holds the gray levels of the pixels, line by line from the top.";
const SHADE: &str = "The darker, the larger is the value of `eigenfold reconstruct --std` there, over all features.";

/// The whole command line, with the parameters of all methods as flags of `embed` and `compare`, and drill's as flags of `graph`.
pub(crate) fn command() -> Command {
    // First, since an argument that is changed goes behind all others.
    let whole = MEANINGS.iter().fold(Cli::command(), meaning);
    let whole = whole
        .mut_subcommand("reconstruct", |reconstruct| {
            reconstruct.mut_arg("source", |source| source.value_name("COORDS"))
        })
        .mut_subcommand("embed", |embed| more(embed).args(parameters::of_methods()))
        .mut_subcommand("compare", |compare| {
            let digits = |source: Arg| source.required(false).default_value("digits");
            compare.mut_arg("source", digits).args(parameters::of_methods())
        })
        .mut_subcommand("transform", more)
        .mut_subcommand("dimension", more)
        .mut_subcommand("graph", |graph| more(graph).args(parameters::of_learning()))
        .mut_subcommand("sample", |made| {
            made.mut_arg("name", |name| name.help(format!("Data set: {}", sample::names().join(", "))))
        });
    headings::arrange(whole.mut_subcommands(with_help)).mut_subcommands(|command| command.mut_args(one_paragraph))
}

/// The flag of a command with its own meaning.
fn meaning(whole: Command, &(command, flag, line, more): &(&'static str, &str, &'static str, &str)) -> Command {
    let all = if more.is_empty() { line.to_string() } else { format!("{line}\n\n{more}") };
    whole.mut_subcommand(command, |of| of.mut_arg(flag, |arg| arg.help(line).long_help(all)))
}

/// The help of `--help` without an empty line behind its first sentence.
fn one_paragraph(arg: Arg) -> Arg {
    match arg.get_long_help().map(|long| long.to_string().replacen("\n\n", ". ", 1)) {
        Some(long) => arg.long_help(long),
        None => arg,
    }
}

/// The flag for help as one of the command's own, so that it stands under a heading.
fn with_help(command: Command) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    command.disable_help_flag(true).arg(help.help("Print help: -h in short, --help in full"))
}

/// The same command for several files.
fn more(command: Command) -> Command {
    let help = "More files with the same columns; their rows follow those of INPUT";
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

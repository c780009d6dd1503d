//! The headings of the help: which flags of a command stand under which.

use clap::Command;

const INPUT: &str = "Input";
const PREPROCESSING: &str = "Preprocessing";
const METHOD: &str = "Method";
const NEIGHBORS: &str = "Neighbors";
const OUTPUT: &str = "Output";
const PLOT: &str = "Plot";
const UNCERTAINTY: &str = "Uncertainty";
const RUN: &str = "Run";

const READ: &[&str] =
    &["label", "labels", "ignore", "input_kind", "missing", "na", "header", "delimiter", "decimal", "vector"];
const SCALED: &[&str] = &["standardize", "scale_columns", "log", "one_hot"];
const GRAPH: &[&str] = &["k", "radius", "graph", "metric", "approximate", "neighbors_from", "disconnected", "learned"];
const DRAWN: &[&str] = &["plot", "names", "image", "shade", "size", "theme", "align", "plot_neighbors"];
const RUNNING: &[&str] = &["memory", "seed", "threads", "quiet", "help"];

/// A heading and the flags under it, by their identifiers.
type Heading = (&'static str, &'static [&'static str]);

/// The headings of each command, in their order; those of other commands are clap's own.
const HEADINGS: &[(&str, &[Heading])] = &[
    (
        "embed",
        &[
            (INPUT, READ),
            (PREPROCESSING, SCALED),
            (METHOD, &["method", "dims", "rescale"]),
            (NEIGHBORS, GRAPH),
            (OUTPUT, &["output", "save", "json", "keep", "completed", "completed_std", "weights", "snapshots", "path"]),
            (PLOT, DRAWN),
            ("Diagnostics", &["held_out", "likelihood"]),
            (RUN, &["fit_rows", "memory", "seed", "threads", "quiet", "help"]),
        ],
    ),
    (
        "transform",
        &[
            (INPUT, READ),
            (OUTPUT, &["output", "json", "keep"]),
            (UNCERTAINTY, &["std", "held_out", "posterior"]),
            (PLOT, DRAWN),
            (RUN, RUNNING),
        ],
    ),
    (
        "reconstruct",
        &[
            (INPUT, READ),
            (OUTPUT, &["output", "json", "by"]),
            (UNCERTAINTY, &["std", "interval", "samples", "held_out"]),
            (RUN, RUNNING),
        ],
    ),
    (
        "compare",
        &[
            (INPUT, READ),
            ("Comparison", &["methods", "dims", "sweep", "seconds", "points", "truth"]),
            (PREPROCESSING, SCALED),
            (NEIGHBORS, GRAPH),
            (OUTPUT, &["report", "contact_sheet", "theme", "json", "atlas", "keep", "names", "image"]),
            (RUN, RUNNING),
        ],
    ),
    (
        "serve",
        &[
            (INPUT, READ),
            (METHOD, &["methods", "dims", "points"]),
            (PREPROCESSING, SCALED),
            (NEIGHBORS, GRAPH),
            ("Page", &["keep", "names", "image", "port", "no_open"]),
            (RUN, RUNNING),
        ],
    ),
    ("view", &[("Page", &["labels", "names", "image", "output", "no_open"]), (RUN, RUNNING)]),
    (
        "quality",
        &[
            (
                INPUT,
                &[
                    "label",
                    "labels",
                    "ignore",
                    "input_kind",
                    "truth",
                    "missing",
                    "na",
                    "header",
                    "delimiter",
                    "decimal",
                    "vector",
                ],
            ),
            (PREPROCESSING, SCALED),
            ("Measures", &["neighbors", "metric", "rows"]),
            (OUTPUT, &["json", "pointwise", "plot_pointwise", "pointwise_by", "plot_shepard", "theme"]),
            ("GP likelihood", &["gp_likelihood", "lengths", "starts", "inducing"]),
            (RUN, RUNNING),
        ],
    ),
    (
        "dimension",
        &[
            (INPUT, READ),
            (PREPROCESSING, SCALED),
            ("Estimators", &["neighbors", "quick"]),
            (OUTPUT, &["json", "pointwise", "plot", "theme"]),
            (RUN, RUNNING),
        ],
    ),
    (
        "graph",
        &[(INPUT, READ), (PREPROCESSING, SCALED), (NEIGHBORS, GRAPH), (OUTPUT, &["output", "json"]), (RUN, RUNNING)],
    ),
];

/// The commands with their flags under headings.
pub(crate) fn arrange(whole: Command) -> Command {
    HEADINGS.iter().fold(whole, |whole, (name, headings)| {
        whole.mut_subcommand(name, |command| {
            let order = headings.iter().flat_map(|(heading, flags)| flags.iter().map(move |flag| (heading, flag)));
            order.enumerate().fold(command, |command, (at, (heading, flag))| {
                // A heading has flags that not every command has.
                let is_there = command.get_arguments().any(|arg| arg.get_id() == flag);
                if !is_there {
                    return command;
                }
                command.mut_arg(flag, |arg| arg.help_heading(*heading).display_order(at))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::command;
    use clap::Arg;

    fn is_shown(arg: &Arg) -> bool {
        !arg.is_hide_set() && !arg.is_hide_long_help_set() && !arg.is_positional()
    }

    #[test]
    fn every_flag_stands_under_a_heading_and_headings_in_their_order() {
        let whole = command();
        for (name, headings) in HEADINGS {
            let own = whole.find_subcommand(name).unwrap();
            let mut seen: Vec<&str> = Vec::new();
            for arg in own.get_arguments().filter(|arg| is_shown(arg)) {
                let heading = arg.get_help_heading();
                assert!(heading.is_some(), "{name} {}", arg.get_id());
                seen.extend(heading.filter(|heading| !seen.contains(heading)));
            }
            let wanted: Vec<&str> = headings.iter().map(|(heading, _)| *heading).collect();
            assert_eq!(seen, wanted, "{name}: the fields of the command are not in this order");
        }
    }

    /// The texts of a command's help, as one names them.
    fn texts(command: &Command) -> Vec<String> {
        let of_command = [command.get_about(), command.get_long_about(), command.get_after_help()];
        let of_args = command
            .get_arguments()
            .filter(|arg| !arg.is_hide_long_help_set())
            .flat_map(|arg| [arg.get_help(), arg.get_long_help()]);
        of_command.into_iter().chain(of_args).flatten().map(ToString::to_string).collect()
    }

    /// The parts of a text with the command that each is about: what is between backticks, or a line of an example, may begin with the
    /// name of another one.
    fn parts<'a>(text: &'a str, own: &'a str, names: &[&'a str]) -> Vec<(&'a str, &'a str)> {
        let split = text.lines().flat_map(|line| line.split('`')).flat_map(|part| part.split("&&"));
        let split = split.flat_map(|part| part.split(" | "));
        let about = |part: &str| {
            let first = part.trim().trim_start_matches("eigenfold ").split_whitespace().next().unwrap_or_default();
            names.iter().find(|name| **name == first).copied().unwrap_or(own)
        };
        split.map(|part| (part, about(part))).collect()
    }

    #[test]
    fn a_help_names_no_flag_that_its_command_does_not_have() {
        let whole = command();
        let names: Vec<&str> = whole.get_subcommands().map(Command::get_name).collect();
        let has = |command: &str, flag: &str| {
            let all = |arg: &Arg| arg.get_long_and_visible_aliases().unwrap_or_default().contains(&flag);
            whole.find_subcommand(command).is_some_and(|command| command.get_arguments().any(all))
        };
        for command in whole.get_subcommands() {
            for text in texts(command) {
                for (part, about) in parts(&text, command.get_name(), &names) {
                    for at in part.match_indices("--").map(|(at, _)| at + 2) {
                        let end = part[at..].find(|c: char| !(c.is_ascii_lowercase() || c == '-'));
                        let flag = &part[at..end.map_or(part.len(), |end| at + end)];
                        let known = flag.is_empty() || has(about, flag);
                        assert!(known, "{}: {about} has no --{flag}\n{text}", command.get_name());
                    }
                }
            }
        }
    }
}

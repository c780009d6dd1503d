//! What is seen on a terminal while a command runs.

use crate::Bench;
use std::process::Command;

/// What a command shows on a terminal of 100 columns, escape sequences and all; nothing if there is no `script` to make one.
#[allow(clippy::print_stderr)]
fn shown(bench: &Bench, line: &str) -> Option<String> {
    let inner = format!("stty cols 100; '{}' {line}", env!("CARGO_BIN_EXE_eigenfold"));
    let mut script = Command::new("script");
    script.args(["-qec", &inner, "/dev/null"]).env("TERM", "xterm").current_dir(bench.path(""));
    let output = script.stdin(std::process::Stdio::null()).output().ok().filter(|output| output.status.success());
    if output.is_none() {
        eprintln!("skipped: there is no util-linux script to make a terminal with");
    }
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The numbers before a word.
fn before(text: &str, word: &str) -> Vec<f64> {
    let heads = text.match_indices(word).filter_map(|(at, _)| text[..at].split_whitespace().next_back());
    heads.filter_map(|head| head.parse().ok()).collect()
}

#[test]
fn a_command_has_one_bar_that_never_falls_and_one_clock() {
    let bench = Bench::new();
    // Large enough for several pictures of the bar on a fast machine.
    bench.does("sample swiss-roll -n 4000 -q -o roll.npy");
    let Some(seen) = shown(&bench, "embed roll.npy -m isomap -k auto -o map.csv") else { return };
    for clock in [" %  ", " s spent"] {
        let numbers = before(&seen, clock);
        assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]), "{clock}: {numbers:?}\n{seen}");
    }
    assert!(before(&seen, " %  ").len() > 1, "{seen}");
    assert!(seen.contains(" of 10, "), "{seen}");
    // What is said at the end stands on a line of its own.
    assert!(
        seen.lines().any(|line| line.trim_end().ends_with("isomap: 4,000 points of 3 features in 2 dimensions")),
        "{seen}"
    );
    assert!(bench.path("map.csv").is_file());
}

//! The sources of the front ends: none branches on the text of an error or a warning, which may be reworded at any time.

use std::path::{Path, PathBuf};

/// What compares a text with a literal.
const COMPARISONS: [&str; 7] =
    [".contains(\"", ".starts_with(\"", ".ends_with(\"", ".find(\"", ".split_once(\"", " == \"", " != \""];
/// What the texts of errors and warnings are called.
const TEXTS: [&str; 6] = ["message", "error", "warning", "fact", "reason", "way_out"];

/// Whether a line compares a text of the library with a literal: what stands before the comparison, up to a space, is such a
/// text.
fn branches_on_text(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let before = |comparison: &&str| code.find(comparison).map(|at| code[..at].rsplit(' ').next().unwrap_or_default());
    COMPARISONS.iter().filter_map(before).any(|receiver| TEXTS.iter().any(|text| receiver.contains(text)))
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "rs") && !entry.ends_with("tests.rs") {
            found.push(entry);
        }
    }
}

#[test]
fn no_front_end_branches_on_the_text_of_an_error() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    ["cli", "py", "page", "plot"].iter().for_each(|name| sources(&crates.join(name).join("src"), &mut all));
    assert!(all.len() > 50, "{} sources", all.len());
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        if let Some((at, line)) = code.lines().enumerate().find(|(_, line)| branches_on_text(line)) {
            panic!("{}:{}: {}: match on the variant of the error instead", path.display(), at + 1, line.trim());
        }
    }
}

#[test]
fn a_comparison_of_a_message_is_recognized() {
    assert!(branches_on_text("if error.to_string().contains(\"singular\") {"));
    assert!(branches_on_text("    Err(error) if error.message_with(flag).starts_with(\"k is\") => 3,"));
    assert!(branches_on_text("warning.message() == \"stopped\""));
    assert!(!branches_on_text("let error = name.contains(\"x\"); // error.contains(\"y\")"));
    assert!(!branches_on_text("parameter.name == \"lambda\""));
}

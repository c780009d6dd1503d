//! The program from outside: each test runs the binary in a fresh directory.
#![allow(missing_docs, clippy::unwrap_used)]

mod bad_data;
mod bad_flags;
mod bad_models;
mod bad_outputs;
mod commands;
mod compare;
mod descents;
mod dimension;
mod documented;
mod embedding;
mod extremes;
mod files;
mod front_ends;
mod hostile;
mod labels;
mod likelihood;
mod limits;
mod metrics;
mod missing;
mod mvu;
mod own_neighbors;
mod parameters;
mod pictures;
mod preparing;
mod quality;
mod reconstruct;
mod rescale;
mod safe_outputs;
mod serve;
mod stopping;
mod streams;
mod terminal;
mod vectors;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A fresh directory to run the program in.
pub(crate) struct Bench(TempDir);

/// What a run answered.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Bench {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program with the words of `line` as its arguments, not started yet.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenfold"));
        command.args(line.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Answer {
        answer(self.command(line).output().unwrap())
    }

    pub(crate) fn run_with_input(&self, line: &str, input: &[u8]) -> Answer {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The program may refuse before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input);
        answer(child.wait_with_output().unwrap())
    }

    /// Runs something that must succeed.
    pub(crate) fn does(&self, line: &str) -> Answer {
        let answer = self.run(line);
        assert_eq!(answer.code, 0, "eigenfold {line}\n{}", answer.err);
        assert!(!answer.err.contains("panicked"), "eigenfold {line}\n{}", answer.err);
        answer
    }

    /// Runs something that must fail with this code and one line that contains `fact`, and leave no new file.
    pub(crate) fn refuses(&self, line: &str, code: i32, fact: &str) -> String {
        let before = self.files();
        let answer = self.run(line);
        assert_eq!(self.files(), before, "eigenfold {line} left a file");
        answer.is_one_line(line, code, fact)
    }
}

impl Answer {
    /// Checks that this is a refusal of one line with the fact and the way out.
    pub(crate) fn is_one_line(&self, line: &str, code: i32, fact: &str) -> String {
        let err = &self.err;
        assert!(!err.contains("panicked") && !err.contains("this is a defect"), "eigenfold {line}\n{err}");
        assert_eq!(self.code, code, "eigenfold {line}\n{err}");
        assert_eq!(err.lines().count(), 1, "eigenfold {line}\n{err}");
        assert!(err.starts_with("eigenfold: ") && err.contains("; "), "eigenfold {line}\n{err}");
        assert!(err.contains(fact), "eigenfold {line}\nexpected: {fact}\n{err}");
        assert_eq!(self.out, "", "eigenfold {line}");
        err.trim_end().to_string()
    }
}

pub(crate) fn answer(output: Output) -> Answer {
    Answer {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// `rows` lines of `cols` numbers that fill a box.
pub(crate) fn cloud(rows: usize, cols: usize) -> String {
    let number = |i: usize| ((i as f64 * 0.754_877_666).fract() * 1e6).round() / 1e6;
    let row = |i: usize| (0..cols).map(|j| number(i * cols + j * j + 1).to_string()).collect::<Vec<_>>().join(",");
    (0..rows).map(|i| row(i) + "\n").collect()
}

/// The coordinates of an embedding that was written as CSV.
pub(crate) fn coordinates(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|v| v.parse().unwrap()).collect()).collect()
}

/// Whether the first bytes are those of a PNG file.
pub(crate) fn is_png(path: &Path) -> bool {
    std::fs::read(path).unwrap().starts_with(b"\x89PNG\r\n")
}

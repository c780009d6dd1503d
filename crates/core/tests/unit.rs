//! The unit tests, which stand beside the code in `src` and are built into the library by its feature `unit-tests`: so the
//! library is compiled once for all tests. `cargo test -p eigenfold --lib` runs them the usual way, from a second copy.

use eigenfold::unit_tests;
use libtest_mimic::{Arguments, Trial};
use std::{fs, io, path::Path, process::ExitCode};

fn main() -> io::Result<ExitCode> {
    let mut arguments = Arguments::from_args();
    // As many at once as the usual way has: all processors.
    arguments.test_threads =
        arguments.test_threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into));
    let tests = unit_tests::all();
    let (entered, written) = (tests.len(), written(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))?);
    let none_is_lost = Trial::test("every_test_in_the_source_is_entered", move || {
        if entered == written {
            Ok(())
        } else {
            Err(format!("{written} tests are written in src, {entered} are entered").into())
        }
    });
    let trials = tests.into_iter().map(|test| {
        Trial::test(test.name.trim_start_matches("eigenfold::"), || {
            (test.run)();
            Ok(())
        })
    });
    let trials = trials.chain([none_is_lost]).collect();
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

/// How many tests the files of a directory hold: lines that say `#[test]`.
fn written(directory: &Path) -> io::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            count += written(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            count += fs::read_to_string(path)?.lines().filter(|line| line.trim() == "#[test]").count();
        }
    }
    Ok(count)
}

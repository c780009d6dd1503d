//! All outputs or none, whatever fails.

use super::system::fault;
use super::*;
use tempfile::TempDir;

fn save(name: &Path) -> Result<()> {
    std::fs::write(name, "new").map_err(|source| write_error(name, source))
}

/// The names and contents of a directory.
fn listing(directory: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let content = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let mut all: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), content(entry.path()))).collect();
    all.sort();
    all
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, content)| (name.to_string(), content.to_string())).collect()
}

/// A directory with two files of which both are to be replaced, and one that is to be new.
fn three() -> (TempDir, impl Fn(&str) -> String) {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_path_buf();
    let name = move |file: &str| place.join(file).to_str().unwrap().to_string();
    std::fs::write(name("a"), "old a").unwrap();
    std::fs::write(name("c"), "old c").unwrap();
    (directory, name)
}

fn write_three(name: impl Fn(&str) -> String) -> Result<()> {
    let mut outputs = Outputs::default();
    for file in ["a", "b", "c"] {
        outputs.stage(name(file), save)?;
    }
    outputs.commit()
}

#[test]
fn nothing_appears_before_all_are_ready() {
    let directory = tempfile::tempdir().unwrap();
    let name = |file: &str| directory.path().join(file).to_str().unwrap().to_string();
    let mut outputs = Outputs::default();
    outputs.stage(name("a"), save).unwrap();
    assert!(!Path::new(&name("a")).exists());
    assert!(outputs.stage(name("b"), |_| Err(Error::Stopped)).is_err());
    drop(outputs);
    assert_eq!(listing(directory.path()), []);
    let mut outputs = Outputs::default();
    outputs.stage(name("a"), save).unwrap();
    outputs.stage(name("b"), save).unwrap();
    outputs.commit().unwrap();
    assert_eq!(listing(directory.path()), named(&[("a", "new"), ("b", "new")]));
}

/// A lock on a directory is one of the file system, so that another run is held up as a thread is here.
#[cfg(unix)]
#[test]
fn names_change_in_one_run_at_a_time() {
    let (directory, name) = three();
    let other = std::fs::File::open(directory.path()).unwrap();
    other.try_lock().unwrap();
    let content = |file: &str| std::fs::read_to_string(directory.path().join(file)).unwrap_or_default();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| write_three(name));
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!((content("a"), content("b")), ("old a".to_string(), String::new()));
        drop(other);
        writing.join().unwrap().unwrap();
    });
    assert_eq!((content("a"), content("b"), content("c")), ("new".into(), "new".into(), "new".into()));
}

#[test]
fn one_file_cannot_be_two_outputs_or_an_input() {
    let directory = tempfile::tempdir().unwrap();
    let a = directory.path().join("a");
    let dotted = directory.path().join("./a");
    let both =
        [Wanted { flag: "-o", target: &a, trial: save }, Wanted { flag: "--json", target: &dotted, trial: save }];
    let message = check(&[], &both).unwrap_err().to_string();
    assert!(message.contains("requested by both -o and --json"), "{message}");
    std::fs::write(&a, "old").unwrap();
    assert!(check(&[&dotted], &both[..1]).is_err());
    assert_eq!(std::fs::read_to_string(&a).unwrap(), "old");
}

#[test]
fn every_system_call_that_fails_leaves_all_as_it_was() {
    let mut calls = 0;
    loop {
        let (directory, name) = three();
        let before = listing(directory.path());
        fault::set(calls, 1);
        let result = write_three(name);
        if !fault::is_over() {
            // No call failed: there are no more calls.
            result.unwrap();
            assert_eq!(listing(directory.path()), named(&[("a", "new"), ("b", "new"), ("c", "new")]));
            break;
        }
        // One fault may be got over, as that of a hard link; then all is new.
        match result {
            Ok(()) => assert!(listing(directory.path()).iter().all(|(_, content)| content == "new"), "call {calls}"),
            Err(error) => {
                assert!(!error.is_input(), "call {calls}: a broken disk is not the user's fault");
                assert_eq!(listing(directory.path()), before, "call {calls}: {error}");
            }
        }
        calls += 1;
    }
    assert!(calls > 10, "only {calls} calls");
}

#[test]
fn a_disk_that_goes_on_failing_loses_no_old_content() {
    for calls in 0..20 {
        for some in 2..6 {
            let (directory, name) = three();
            fault::set(calls, some);
            let result = write_three(name);
            fault::is_over();
            let Err(error) = result else { continue };
            for (file, content) in [("a", "old a"), ("c", "old c")] {
                let there = std::fs::read_to_string(directory.path().join(file)).is_ok_and(|text| text == content);
                let entries = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
                let kept: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
                let in_kept = |path: &PathBuf| {
                    let old = std::fs::read_to_string(path.join("old").join(file));
                    old.is_ok_and(|text| text == content) && error.to_string().contains(path.to_str().unwrap())
                };
                assert!(there || kept.iter().any(in_kept), "call {calls}, {some} faults: {file} is lost: {error}");
            }
        }
    }
}

#[test]
fn a_new_file_that_vanishes_before_its_turn_takes_the_others_back() {
    let (directory, name) = three();
    let before = listing(directory.path());
    let mut outputs = Outputs::default();
    outputs.stage(name("a"), save).unwrap();
    outputs.stage(name("d"), save).unwrap();
    std::fs::remove_file(&outputs.staged[1].temporary).unwrap();
    assert!(outputs.commit().is_err());
    assert_eq!(listing(directory.path()), before);
}

//! Nothing is lost: not the input, not what was in an output's place, and no scratch directory stays.

use crate::{Bench, answer, cloud};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Someone without rights.
const NOBODY: u32 = 65534;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("in.csv", cloud(30, 3));
    bench
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// The program as someone without rights would run it in the bench; nothing where this user cannot be anyone else, or
/// the other could not reach the program.
fn as_nobody(bench: &Bench, line: &str) -> Option<crate::Answer> {
    let mut reach = Command::new("test");
    reach.args(["-x", env!("CARGO_BIN_EXE_eigenfold")]).uid(NOBODY).gid(NOBODY);
    if !is_root() || !reach.status().is_ok_and(|status| status.success()) {
        return None;
    }
    std::fs::set_permissions(bench.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = bench.command(line);
    command.uid(NOBODY).gid(NOBODY);
    Some(answer(command.output().unwrap()))
}

#[test]
fn files_in_memory_are_files() {
    let Ok(directory) = tempfile::Builder::new().prefix("eigenfold-test-").tempdir_in("/dev/shm") else { return };
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let files = || std::fs::read_dir(directory.path()).unwrap().count();
    let bench = bench();
    std::fs::write(at("in.csv"), cloud(30, 3)).unwrap();
    let (input, output) = (at("in.csv"), at("a.csv"));
    bench.refuses(&format!("embed {input} -m pca -q -o {input}"), 2, "would replace the input");
    bench.refuses(&format!("embed {input} -m pca -q -o {output} --json {output}"), 2, "requested by both");
    bench.refuses(&format!("embed {input} -m pca -q -o {output} --json {}", at("no/b.json")), 2, "no directory");
    bench.refuses(
        &format!("embed {input} -m pca -q -o {}", at("a.xyz")),
        2,
        "the extension is not that of a known format",
    );
    assert_eq!((std::fs::read_to_string(&input).unwrap(), files()), (cloud(30, 3), 1));
    bench.does(&format!("embed {input} -m pca -q -o {output} --json {}", at("b.json")));
    assert_eq!(files(), 3);
}

#[test]
fn standard_output_that_is_a_file_counts_as_that_file() {
    let bench = bench();
    let open = |name: &str| std::fs::OpenOptions::new().append(true).create(true).open(bench.path(name)).unwrap();
    let onto = |line: &str, name: &str| answer(bench.command(line).stdout(open(name)).output().unwrap());
    onto("embed in.csv -m pca -q", "in.csv").is_one_line("onto the input", 2, "would replace the input");
    onto("embed in.csv -m pca -q -o - --json a.csv", "a.csv").is_one_line("twice", 2, "requested by both");
    bench.refuses("embed in.csv -m pca -q -o - --json /dev/stdout", 2, "standard output is requested by both");
    assert_eq!(bench.read("in.csv"), cloud(30, 3));
    // What the file held before stays, whichever name standard output goes by.
    for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        bench.write("log", "before\n");
        assert_eq!(onto(&format!("embed in.csv -m pca -q -o {name}"), "log").code, 0, "{name}");
        let log = bench.read("log");
        assert!(log.starts_with("before\ny1,y2\n") && log.lines().count() == 32, "{name}: {log}");
    }
    let input = std::fs::File::open(bench.path("in.csv")).unwrap();
    let again = answer(bench.command("embed - -m pca -q -o in.csv").stdin(input).output().unwrap());
    again.is_one_line("from and to one file", 2, "would replace the input");
}

#[test]
fn links_stay_links_and_other_names_keep_the_old_content() {
    let bench = bench();
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    bench.write("elsewhere/a.csv", "old");
    symlink("elsewhere/a.csv", bench.path("link.csv")).unwrap();
    symlink("elsewhere/new.csv", bench.path("dangling.csv")).unwrap();
    symlink("circle.csv", bench.path("circle.csv")).unwrap();
    std::fs::hard_link(bench.path("elsewhere/a.csv"), bench.path("second.csv")).unwrap();
    bench.does("embed in.csv -m pca -q -o link.csv");
    bench.does("embed in.csv -m pca -q -o dangling.csv");
    assert!(bench.path("link.csv").is_symlink() && bench.path("dangling.csv").is_symlink());
    assert!(bench.read("elsewhere/a.csv").starts_with("y1,y2") && bench.read("elsewhere/new.csv").starts_with("y1,y2"));
    assert_eq!(bench.read("second.csv"), "old");
    bench.refuses("embed in.csv -m pca -q -o circle.csv", 2, "its links lead in a circle");
    bench.refuses("embed circle.csv -m pca -q -o b.csv", 2, "is a link that leads to no file");
}

#[test]
fn a_replaced_file_keeps_its_owner_and_group() {
    let bench = bench();
    if !is_root() {
        return;
    }
    bench.write("a.csv", "old");
    std::os::unix::fs::chown(bench.path("a.csv"), Some(NOBODY), Some(NOBODY)).unwrap();
    std::fs::set_permissions(bench.path("a.csv"), std::fs::Permissions::from_mode(0o640)).unwrap();
    bench.does("embed in.csv -m pca -q -o a.csv");
    let metadata = std::fs::metadata(bench.path("a.csv")).unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o7777), (NOBODY, NOBODY, 0o640));
    assert!(bench.read("a.csv").starts_with("y1,y2"));
}

#[test]
fn files_of_others_are_kept_before_any_work_is_done() {
    let bench = bench();
    for (name, mode) in [("shared", 0o1777), ("closed", 0o755)] {
        std::fs::create_dir(bench.path(name)).unwrap();
        bench.write(&format!("{name}/j.json"), "old");
        let open = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(bench.path(&format!("{name}/j.json")), open).unwrap();
        std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    for line in [
        "embed in.csv -m pca -q -o shared/a.csv --json shared/j.json",
        "embed in.csv -m pca -q -o shared/a.csv --json closed/j.json",
        "embed in.csv -m pca -q -o shared/a.csv --json closed/new.json",
    ] {
        let Some(refused) = as_nobody(&bench, line) else { return };
        refused.is_one_line(line, 2, "writing is not permitted");
        assert_eq!(std::fs::read_dir(bench.path("shared")).unwrap().count(), 1, "{line}");
        assert_eq!((bench.read("shared/j.json"), bench.read("closed/j.json")), ("old".into(), "old".into()));
    }
    let fine = as_nobody(&bench, "embed in.csv -m pca -q -o shared/a.csv").unwrap();
    assert_eq!(fine.code, 0, "{}", fine.err);
}

/// A file that cannot be renamed or written; nothing where this user may not make one.
struct Immutable(std::path::PathBuf);

impl Immutable {
    fn made(path: &Path) -> Option<Immutable> {
        let made = Command::new("chattr").arg("+i").arg(path).output();
        made.is_ok_and(|output| output.status.success()).then(|| Immutable(path.to_path_buf()))
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        let _ = Command::new("chattr").arg("-i").arg(&self.0).status();
    }
}

#[test]
fn an_output_that_cannot_be_replaced_leaves_the_others_unwritten() {
    let bench = bench();
    bench.write("j.json", "old");
    let Some(_immutable) = Immutable::made(&bench.path("j.json")) else { return };
    bench.refuses("embed in.csv -m pca -q -o first.csv --json j.json", 2, "j.json");
    assert_eq!(bench.read("j.json"), "old");
}

#[test]
fn a_broken_disk_is_no_fault_of_the_user() {
    // The first page of a program's memory is not there: reading it is an input/output error.
    let bench = bench();
    bench.refuses("embed /proc/self/mem -m pca -q -o a.csv", 1, "/proc/self/mem: ");
}

/// Starts a run whose standard output is not read yet.
fn started(bench: &Bench, line: &str) -> Child {
    let mut command = bench.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn has_scratch(bench: &Bench) -> bool {
    bench.files().iter().any(|name| name.starts_with(".eigenfold-"))
}

/// Whether a run has written both of its files, which have no names yet: names are tried one after the other before.
fn has_staged(bench: &Bench, run: &Child) -> bool {
    let own = format!(".eigenfold-{}-", run.id());
    bench.files().iter().filter(|name| name.starts_with(&own)).count() == 2
}

/// Waits for what should come soon.
fn wait_for(mut what: impl FnMut() -> bool) -> bool {
    (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(if what() { return true } else { 10 }));
        false
    })
}

#[test]
fn signals_while_writing_leave_no_scratch_directory() {
    let bench = Bench::new();
    bench.write("in.csv", cloud(20_000, 3));
    // Nobody reads the pipe, so that the program stands still with all its outputs written and none of them named.
    let line = "embed in.csv -m pca -d 3 -q -o - --save m.model --json m.json";
    for (signals, last) in [(["INT", "INT"], 2), (["TERM", "TERM"], 15), (["HUP", "HUP"], 1), (["TERM", "INT"], 2)] {
        let mut child = started(&bench, line);
        assert!(wait_for(|| has_staged(&bench, &child)), "nothing was staged");
        std::thread::sleep(Duration::from_millis(100));
        for name in signals {
            signal(&child, name);
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(wait_for(|| child.try_wait().unwrap().is_some()), "{signals:?} do not end it");
        assert_eq!(child.wait().unwrap().signal(), Some(last), "{signals:?}");
        assert_eq!(bench.files(), ["in.csv"], "{signals:?}");
    }
}

#[test]
fn what_a_kill_leaves_is_taken_away_by_the_next_run_and_nothing_of_a_live_one() {
    let bench = Bench::new();
    bench.write("in.csv", cloud(20_000, 3)).write("small.csv", cloud(20, 3));
    let line = "embed in.csv -m pca -d 3 -q -o - --save m.model --json m.json";
    let mut killed = started(&bench, line);
    assert!(wait_for(|| has_staged(&bench, &killed)), "nothing was staged");
    signal(&killed, "KILL");
    killed.wait().unwrap();
    assert!(has_scratch(&bench), "a kill leaves it");
    let mut alive = started(&bench, line);
    assert!(wait_for(|| has_staged(&bench, &alive)), "nothing was staged");
    bench.does("embed small.csv -m pca -q -o small-map.csv");
    let own = format!(".eigenfold-{}-", alive.id());
    let left: Vec<String> = bench.files().into_iter().filter(|name| name.starts_with(".eigenfold-")).collect();
    assert!(!left.is_empty() && left.iter().all(|name| name.starts_with(&own)), "{left:?}");
    // The live one ends well once its output is read.
    let done = answer(alive.stdout.take().map_or_else(
        || unreachable!(),
        |mut out| {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut out, &mut text).unwrap();
            let status = alive.wait().unwrap();
            std::process::Output { status, stdout: text, stderr: Vec::new() }
        },
    ));
    assert_eq!((done.code, done.out.lines().count()), (0, 20_001));
    assert_eq!(bench.files(), ["in.csv", "m.json", "m.model", "small-map.csv", "small.csv"]);
}

#[test]
fn two_runs_on_the_same_outputs_leave_those_of_one_of_them() {
    let bench = bench();
    bench.write("other.csv", cloud(50, 4));
    let line = |input: &str| format!("embed {input} -m pca -q -o a.csv --save a.model --json a.json");
    let (mut one, mut two) = (started(&bench, &line("in.csv")), started(&bench, &line("other.csv")));
    assert!(one.wait().unwrap().success() && two.wait().unwrap().success());
    assert_eq!(bench.files(), ["a.csv", "a.json", "a.model", "in.csv", "other.csv"]);
    let rows = bench.read("a.csv").lines().count() - 1;
    assert!([30, 50].contains(&rows));
    bench.json("a.json");
}

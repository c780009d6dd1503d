//! Ctrl-C stops the work quickly: it leaves nothing, or the map that a descent has by then.

use crate::Bench;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The number of Ctrl-C.
const SIGINT: i32 = 2;

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Starts a long job, interrupts it after a while, and returns how long it then took to end.
fn interrupted(bench: &Bench, line: &str) -> Duration {
    let before = bench.files();
    let mut child = bench.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none(), "{line} ended before it could be interrupted");
    let start = Instant::now();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let took = start.elapsed();
    // It ends by the signal, so that its caller knows.
    assert_eq!(output.status.signal(), Some(SIGINT), "{line}");
    crate::answer(output).is_one_line(line, -1, "stopped");
    assert_eq!(bench.files(), before, "{line}");
    took
}

#[test]
fn ctrl_c_stops_each_stage_and_leaves_no_file() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 60000 -q -o roll.npy");
    let outputs = "-o m.csv --plot m.png --save m.model --json m.json";
    for method in ["isomap --landmarks 2000", "lle -k 40", "laplacian-eigenmaps -k 60"] {
        let took = interrupted(&bench, &format!("embed roll.npy -m {method} {outputs}"));
        assert!(took < Duration::from_secs(4), "{method} took {took:?} to stop");
    }
}

#[test]
fn ctrl_c_ends_a_descent_early_and_its_map_is_written() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 400 -q -o roll.npy");
    let line = "embed roll.npy -m tsne --accuracy exact --tolerance 0 --max-iterations 1000000 -o m.csv --save m.model --json m.json";
    let mut child = bench.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The descent has begun by then: four hundred points are ready for it within a tenth of a second.
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none(), "the descent ended by itself");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(SIGINT), "its caller knows that it was cut short");
    let answer = crate::answer(output);
    assert!(answer.err.contains("the optimization was stopped after"), "{}", answer.err);
    assert_eq!(bench.json("m.json")["converged"], false);
    assert_eq!(bench.read("m.csv").lines().count(), 401);
    bench.does("transform m.model roll.npy -q -o again.csv");
}

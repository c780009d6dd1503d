//! Outputs that cannot be written: all or none, and known before the work starts.

use crate::{Bench, cloud};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(30, 3));
    bench
}

#[test]
fn places_where_no_file_can_be_are_refused() {
    let bench = bench();
    std::fs::create_dir(bench.path("folder")).unwrap();
    for flag in ["-o", "--plot", "--save", "--json"] {
        let name = if flag == "--plot" { "no/a.png" } else { "no/a.csv" };
        bench.refuses(&format!("embed cloud.csv -m pca {flag} {name}"), 2, "there is no directory no");
    }
    bench.refuses("embed cloud.csv -m pca -o folder", 2, "is a directory");
    bench.refuses("embed cloud.csv -m pca --json folder", 2, "is a directory");
    bench.refuses("embed cloud.csv -m pca -o cloud.csv/a.csv", 2, "cloud.csv/a.csv");
    bench.refuses("graph cloud.csv -k 3 -o no/edges.csv", 2, "there is no directory no");
    bench.refuses("sample iris -o no/iris.csv", 2, "there is no directory no");
    bench.refuses("methods --json no/m.json", 2, "there is no directory no");
}

#[test]
fn one_bad_output_leaves_none_of_the_good_ones() {
    let bench = bench();
    bench.refuses("embed cloud.csv -m pca -o a.csv --save a.model --json a.json --plot no/a.png", 2, "no/a.png");
    bench.refuses(
        "embed cloud.csv -m pca -o a.csv --save a.model --plot a.png --json /dev/full",
        1,
        "the disk is full",
    );
}

#[test]
fn unknown_kinds_of_file_are_refused_before_the_work() {
    let bench = bench();
    bench.refuses("embed nowhere.csv -m pca -o a.xlsx", 2, "a.xlsx: ");
    bench.refuses("embed nowhere.csv -m pca --plot a.jpg", 2, "use .png, .svg or .pdf");
    bench.refuses("embed nowhere.csv -m pca --plot a", 2, "end it in .png, .svg or .pdf");
    bench.refuses("embed nowhere.csv -m pca --plot -", 2, "end it in .png, .svg or .pdf");
    bench.refuses("embed nowhere.csv -m pca --save -", 2, "give --save a file");
}

#[test]
fn no_file_is_written_twice_or_over_the_input() {
    let bench = bench();
    bench.refuses("embed cloud.csv -m pca -o - --json -", 2, "standard output is requested by both -o and --json");
    bench.refuses("embed cloud.csv -m pca -o a.csv --json ./a.csv", 2, "requested by both");
    bench.refuses("embed cloud.csv -m pca -o ./cloud.csv", 2, "would replace the input");
    bench.refuses("sample swiss-roll -o a.csv --truth a.csv", 2, "requested by both");
    assert_eq!(bench.read("cloud.csv"), cloud(30, 3));
}

#[test]
fn a_read_only_file_is_kept() {
    let bench = bench();
    bench.write("kept.csv", "precious");
    std::fs::set_permissions(bench.path("kept.csv"), std::fs::Permissions::from_mode(0o444)).unwrap();
    bench.refuses("embed cloud.csv -m pca -o kept.csv --json a.json", 2, "writing is not permitted");
    assert_eq!(bench.read("kept.csv"), "precious");
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_a_failed_one_its_content() {
    let bench = bench();
    bench.write("a.csv", "old");
    std::fs::set_permissions(bench.path("a.csv"), std::fs::Permissions::from_mode(0o640)).unwrap();
    bench.refuses("embed cloud.csv -m pca -d 9 -o a.csv", 2, "9");
    assert_eq!(bench.read("a.csv"), "old");
    bench.does("embed cloud.csv -m pca -o a.csv");
    assert!(bench.read("a.csv").starts_with("y1,y2\n"));
    let mode = std::fs::metadata(bench.path("a.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn a_full_standard_output_is_an_error() {
    let bench = bench();
    for line in ["embed cloud.csv -m pca", "methods", "sample iris", "completions bash"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = bench.command(line).stdout(full).output().unwrap();
        crate::answer(output).is_one_line(line, 1, "the disk is full");
    }
}

/// A file system of 64 kB; nothing where this user may not mount one.
struct Tiny<'a>(&'a Path);

impl Tiny<'_> {
    fn mounted(at: &Path) -> Option<Tiny<'_>> {
        std::fs::create_dir(at).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(at).output();
        mount.is_ok_and(|output| output.status.success()).then_some(Tiny(at))
    }
}

impl Drop for Tiny<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_disk_that_fills_up_leaves_no_file_anywhere() {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(5000, 3));
    let place = bench.path("tiny");
    let Some(_tiny) = Tiny::mounted(&place) else { return };
    bench.refuses("embed cloud.csv -m pca -q --json a.json -o tiny/a.csv", 1, "tiny/a.csv: the disk is full");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

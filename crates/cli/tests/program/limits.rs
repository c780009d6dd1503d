//! Limits of the machine and of the system: few open files, small files, little address space, many threads, names that
//! are no text. Whatever cannot be done is said in one line, and nothing is left behind.

use crate::{Answer, Bench, answer, cloud};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs the program under a limit of the shell.
fn under(bench: &Bench, limit: &str, line: &str) -> Answer {
    let program = env!("CARGO_BIN_EXE_eigenfold");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limit}; exec {program} {line}")]);
    command.current_dir(bench.path("")).stdin(Stdio::null());
    answer(command.output().unwrap())
}

#[test]
fn few_open_files_leave_no_scratch_directory() {
    let bench = Bench::new();
    bench.write("x.csv", cloud(20, 3)).write("o.csv", "old").write("m.model", "old");
    let mut done = 0;
    for files in 5..14 {
        let before = bench.files();
        let answer = under(&bench, &format!("-n {files}"), "embed x.csv -m pca -q -o o.csv --save m.model --threads 2");
        assert_eq!(bench.files(), before, "{files} files: {}", answer.err);
        done += usize::from(answer.code == 0);
    }
    assert!(done >= 5, "only {done} runs ended well");
    assert_eq!(bench.read("o.csv").lines().count(), 21);
}

#[test]
fn a_file_that_may_not_be_so_large_is_a_failed_write() {
    let bench = Bench::new();
    bench.write("x.csv", cloud(3000, 3));
    let line = "embed x.csv -m pca -q -o o.csv --json j.json";
    let refused = under(&bench, "-f 20", line);
    refused.is_one_line(line, 1, "o.csv: the file would be larger than is allowed (ulimit -f)");
    assert_eq!(bench.files(), ["x.csv"]);
}

#[test]
fn little_address_space_is_no_abort() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 20000 -q -o roll.csv");
    for line in ["digits -m pca", "digits -m isomap", "roll.csv -m pca", "roll.csv -m umap"] {
        for kilobytes in [100_000, 150_000, 200_000] {
            let line = format!("embed {line} --threads 2 -q -o o.csv");
            let answer = under(&bench, &format!("-v {kilobytes}"), &line);
            // What there is need not do for the program itself.
            let loader = answer.code == 127;
            assert!(
                loader || [0, 1, 2].contains(&answer.code),
                "{line} in {kilobytes}: {} {}",
                answer.code,
                answer.err
            );
        }
    }
}

#[test]
fn names_that_are_no_text_are_names() {
    let bench = Bench::new();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    std::fs::write(bench.path("").join(name(b"in\xff.csv")), cloud(30, 3)).unwrap();
    let run = |line: &str, names: &[(&str, &'static [u8])]| {
        let mut command = bench.command(line);
        for (flag, bytes) in names {
            if !flag.is_empty() {
                command.arg(flag);
            }
            command.arg(name(bytes));
        }
        answer(command.output().unwrap())
    };
    let there =
        |bytes: &'static [u8]| std::fs::read(bench.path("").join(name(bytes))).map_or(0, |content| content.len());
    let outputs: &[(&str, &[u8])] = &[
        ("", b"in\xff.csv"),
        ("-o", b"out\xfe.csv"),
        ("--save", b"m\xff.model"),
        ("--json", b"j\xff.json"),
        ("--plot", b"p\xff.svg"),
    ];
    let made = run("embed -m pca -q", outputs);
    assert_eq!((made.code, made.err.as_str()), (0, ""));
    for (_, bytes) in outputs {
        assert!(there(bytes) > 0, "{:?}", name(bytes));
    }
    let placed = run("transform -q", &[("", b"m\xff.model"), ("", b"in\xff.csv"), ("-o", b"t\xff.csv")]);
    assert_eq!((placed.code, placed.err.as_str()), (0, ""));
    assert!(there(b"t\xff.csv") > 30);
    let page = run("view -q --no-open", &[("", b"m\xff.model"), ("-o", b"page\xff.html")]);
    assert_eq!((page.code, page.err.as_str()), (0, ""));
    let again = run("embed -m pca -q", &[("", b"in\xff.csv"), ("-o", b"in\xff.csv")]);
    again.is_one_line("onto the input", 2, "would replace the input");
    let none = run("embed -m pca -q", &[("", b"no\xff.csv")]);
    none.is_one_line("no such file", 2, "there is no such file");
}

#[test]
fn an_output_without_a_name_is_refused() {
    let bench = Bench::new();
    for flag in ["-o", "--save", "--json"] {
        let output = bench.command("embed iris -m pca -q").args([flag, ""]).output().unwrap();
        answer(output).is_one_line(flag, 2, "a value is required for");
    }
    assert!(bench.files().is_empty());
}

#[test]
fn a_thousand_threads_for_a_few_points_are_no_wait() {
    let bench = Bench::new();
    bench.write("x.csv", cloud(25, 3));
    bench.does("embed x.csv -m umap -k 5 -q -o one.csv --threads 1");
    let start = Instant::now();
    bench.does("embed x.csv -m umap -k 5 -q -o many.csv --threads 1000");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(bench.read("one.csv"), bench.read("many.csv"));
}

#[test]
fn view_replaces_no_file_that_it_did_not_write() {
    let bench = Bench::new();
    bench.does("embed iris -m pca -q -o o.csv --save map.model");
    bench.write("map.html", "precious");
    bench.refuses("view map.model --no-open -q", 2, "map.html already exists");
    assert_eq!(bench.read("map.html"), "precious");
    bench.does("compare iris --methods pca -q --report map.html");
    let report = bench.read("map.html");
    bench.refuses("view map.model --no-open -q", 2, "map.html already exists");
    assert_eq!(bench.read("map.html"), report);
    std::fs::remove_file(bench.path("map.html")).unwrap();
    // Its own page is written again.
    for _ in 0..2 {
        bench.does("view map.model --no-open -q");
    }
    bench.write("named.html", "old");
    bench.does("view map.model --no-open -q -o named.html");
    assert!(bench.read("named.html").starts_with("<!doctype html>"));
}

#[test]
fn a_refusal_is_one_line_whatever_there_was_to_warn_of() {
    let bench = Bench::new();
    bench.write("x.csv", "a,b\n1,\n2,3\n4,5\n1,7\n").write("map.csv", "y1\n1\n2\n3\n4\n5\n");
    bench.refuses("dimension x.csv --missing drop -k 10", 2, "k is 10");
    bench.refuses("graph x.csv --missing drop -k 10", 2, "k is 10");
    bench.refuses("quality x.csv map.csv --missing drop", 2, "rows");
    bench.write("guess.csv", "1,2,3\n0.5,0.25,0.125\n0.1,0.2,0.3\n0.3,0.2,0.9\n");
    bench.refuses("dimension guess.csv -k 10", 2, "k is 10");
    bench.refuses("graph guess.csv -k 10 --standardize", 2, "k is 10");
    // What succeeds still warns.
    bench.write("y.csv", format!("a,b,c\n1,,2\n{}", cloud(40, 3)));
    let said = bench.does("dimension y.csv --missing drop");
    assert!(said.err.contains("warning: 1 of 41 rows dropped"), "{}", said.err);
}

/// A gzip file whose content is stored without compression, repeated `times` times.
fn stored(content: &[u8], times: usize) -> Vec<u8> {
    let table: Vec<u32> =
        (0..256u32).map(|i| (0..8).fold(i, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 })).collect();
    let sum = content.iter().fold(!0u32, |c, &b| table[((c ^ u32::from(b)) & 0xff) as usize] ^ (c >> 8));
    let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let blocks = content.chunks(65_535).count();
    for (at, block) in content.chunks(65_535).enumerate() {
        let length = block.len() as u16;
        member.push(u8::from(at + 1 == blocks));
        member.extend(length.to_le_bytes());
        member.extend((!length).to_le_bytes());
        member.extend(block);
    }
    member.extend((!sum).to_le_bytes());
    member.extend((content.len() as u32).to_le_bytes());
    member.repeat(times)
}

/// The largest part of the memory that a program has held, in bytes.
fn peak(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// What is unpacked and what is made of it are within the limit and 64 MB: the program stands still at its first output,
/// that is not read, with its peak behind it.
#[test]
fn unpacking_keeps_to_the_limit_of_memory() {
    let bench = Bench::new();
    let row = |i: usize| {
        let number = |j: usize| format!("0.{:018}", (i * 7 + j) as u64 * 123_456_789_123 % 999_999_999_999_989);
        (0..6).map(number).collect::<Vec<_>>().join(",") + "\n"
    };
    let rows: String = (0..8000).map(row).collect();
    bench.write("x.csv.gz", stored(rows.as_bytes(), 138));
    let unpacked = 138 * rows.len() as u64;
    assert!((136_000_000..142_000_000).contains(&unpacked), "{unpacked}");
    let limit = 210_000_000;
    let line = format!("embed x.csv.gz --header no -m pca -d 1 -q -o - --threads 2 --memory {limit}");
    let mut child = bench.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 1];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    let peak = peak(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    // Some systems do not count.
    assert!(peak.is_none_or(|peak| peak < limit + 64_000_000), "{peak:?} of {limit}");
    let line = "embed x.csv.gz --header no -m pca -d 1 -q -o m.csv --memory 100MB";
    bench.refuses(line, 2, "is larger than the limit of 100 MB when it is decompressed by gzip");
}

/// The predicted memory of a fit is near the peak of its process, and below a limit that is not refused.
#[test]
fn memory_is_predicted_and_reported() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 30000 -q -o roll.npy");
    let memory = |line: &str| {
        bench.does(&format!("{line} --threads 2 -q -o o.npy --json j.json"));
        let report: serde_json::Value = serde_json::from_str(&bench.read("j.json")).unwrap();
        let of = |name: &str| report["memory_mb"][name].as_f64().unwrap();
        (of("predicted"), of("peak"))
    };
    for line in ["graph roll.npy -k 60", "embed roll.npy -m lle", "embed roll.npy -m laplacian-eigenmaps -k 15"] {
        let (predicted, peak) = memory(line);
        assert!((0.5..2.0).contains(&(predicted / peak)), "{line}: {predicted} predicted, {peak} taken");
    }
    let (predicted, _) = memory("embed roll.npy -m laplacian-eigenmaps -k 40");
    let line = format!("embed roll.npy -m laplacian-eigenmaps -k 40 -q -o m.npy --memory {}MB", predicted / 3.0);
    bench.refuses(&line, 2, "and the limit is");
}

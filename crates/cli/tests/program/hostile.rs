//! Files made to do harm: a few hundred bytes that claim to be much, and text that would rule the terminal. The program
//! runs with 2 GB of address space, so that whatever believes them is seen.

use crate::{Answer, Bench, answer, cloud};
use std::process::{Command, Stdio};

/// Runs the program in little memory.
fn capped(bench: &Bench, line: &str) -> Answer {
    let program = env!("CARGO_BIN_EXE_eigenfold");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v 2000000; exec {program} {line}")]);
    command.current_dir(bench.path("")).stdin(Stdio::null());
    answer(command.output().unwrap())
}

fn corpus(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/corpus");
    std::fs::read(folder.join(name)).unwrap()
}

fn npy(order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\0".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend(data);
    file
}

#[test]
fn arrays_that_claim_to_be_large_are_refused() {
    let bench = Bench::new();
    for (order, shape, fact) in [
        ("False", "(0, 1000000000000000000)", "holds no rows"),
        ("False", "(0, 18446744073709551615)", "holds no rows"),
        ("True", "(0, 1000000000000000000)", "holds no rows"),
        ("False", "(4294967296, 4294967296)", "the header promises"),
        ("False", "(2305843009213693952, 8)", "the header promises"),
        ("False", "(3000000000, 1)", "the header promises"),
        ("Perhaps", "(1, 1)", "neither True nor False"),
    ] {
        bench.write("a.npy", npy(order, shape, &[0; 8]));
        capped(&bench, "embed a.npy -m pca -q -o m.csv").is_one_line(shape, 2, fact);
    }
}

#[test]
fn columns_that_claim_to_be_many_or_deep_are_refused() {
    let bench = Bench::new();
    for (name, fact) in [
        ("fewer_rows.parquet", "its row groups have 40"),
        ("dict_count.parquet", "a dictionary of"),
        ("schema_children.parquet", "its schema has other members than it says"),
    ] {
        bench.write("a.parquet", corpus(name));
        capped(&bench, "embed a.parquet -m pca -d 1 -q -o m.csv").is_one_line(name, 2, fact);
    }
    bench.write("many.parquet", corpus("rle_1e8_rows.parquet"));
    let line = "embed many.parquet -m pca -d 1 --memory 100MB -q -o m.csv";
    capped(&bench, line).is_one_line(line, 2, "needs about 800 MB and the limit is 100 MB");
    bench.write("deep.parquet", deep(20_000));
    capped(&bench, "embed deep.parquet -m pca -q -o m.csv").is_one_line("deep", 2, "levels deep");
}

#[test]
fn what_unpacks_to_more_than_the_limit_is_refused() {
    let bench = Bench::new();
    for name in ["iris.csv.gz", "iris.csv.zst"] {
        bench.does(&format!("sample iris -q -o {name}"));
        // Packed files one after the other are one.
        bench.write(name, std::fs::read(bench.path(name)).unwrap().repeat(1000));
        let line = format!("embed {name} -m pca --memory 3MB -q -o m.csv");
        capped(&bench, &line).is_one_line(&line, 2, "is larger than the limit of 3 MB when it is decompressed by ");
    }
}

/// A Parquet file whose schema nests groups to this number of levels, written in Thrift's compact protocol.
fn deep(levels: usize) -> Vec<u8> {
    // FileMetaData { 1: version = 1, 2: list of SchemaElement }
    let mut footer = vec![0x15, 0x02, 0x19, 0xfc];
    let mut count = levels + 1;
    while count >= 0x80 {
        footer.push((count & 0x7f) as u8 | 0x80);
        count >>= 7;
    }
    footer.push(count as u8);
    for level in 0..=levels {
        // SchemaElement { 3: repetition = required, 4: name = "a", 5: num_children = 1 }, or 1: type for the last.
        if level == levels {
            footer.extend([0x15, 0x0a, 0x25, 0x00, 0x18, 0x01, b'a', 0x00]);
        } else {
            footer.extend([0x35, 0x00, 0x18, 0x01, b'a', 0x15, 0x02, 0x00]);
        }
    }
    // 3: num_rows = 0, 4: no row groups.
    footer.extend([0x16, 0x00, 0x19, 0x0c, 0x00]);
    let mut file = b"PAR1".to_vec();
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    file
}

#[test]
fn edges_that_name_many_points_are_refused_within_the_limit() {
    let bench = Bench::new();
    let edges: String = (0..50_000).map(|i| format!("{i},{}\n", i + 1)).collect();
    bench.write("edges.csv", edges + "0,49000000\n");
    let line = "embed edges.csv --input-kind graph -m isomap --memory 100MB -q -o m.csv";
    capped(&bench, line).is_one_line(line, 2, "and the limit is 100 MB");
    for (edge, fact) in [("0,-1", "has the index -1"), ("0,1e18", "has the index"), ("0,4294967295", "has the index")] {
        bench.write("bad.csv", format!("0,1\n1,2\n{edge}\n"));
        capped(&bench, "embed bad.csv --input-kind graph -m isomap -q -o m.csv").is_one_line(edge, 2, fact);
    }
}

#[test]
fn a_file_without_end_is_refused_when_the_limit_is_reached() {
    let bench = Bench::new();
    let line = "embed /dev/zero -m pca --memory 50MB -q -o m.csv";
    let refused = capped(&bench, line);
    assert_eq!(refused.code, 2, "{}", refused.err);
}

#[test]
fn rows_are_not_lost_to_a_quote_or_a_guess() {
    let bench = Bench::new();
    let row = |i: usize| format!("{}.5,{}.25,n{}\n", i, i * 7 % 11, i % 3);
    let rows: String = (0..60).map(row).collect();
    bench.write("open.csv", format!("a,b,name\n{}", rows.replacen(",n0", ",\"n0", 1)));
    for flag in ["--label name", "--ignore name", "--label 3", "--ignore 3 --header yes"] {
        bench.refuses(&format!("embed open.csv {flag} -m pca -q -o m.csv"), 2, "the quote that opens in line 2");
    }
    bench.write("open.tsv", format!("a\tb\tname\n{}", rows.replace(',', "\t").replacen("\tn0", "\t\"n0", 1)));
    bench.refuses("embed open.tsv --label name -m pca -q -o m.csv", 2, "the quote that opens in line 2");
    bench.write("edges.csv", "i,j,length\n0,1,1\n1,2,\"1\n2,3,1\n");
    bench.refuses("embed edges.csv --input-kind graph -m isomap -q -o m.csv", 2, "the quote that opens in line 3");
    bench.write("table.csv", "0,1,2\n1,0,1\n\"2,1,0\n");
    bench.refuses("embed table.csv --input-kind distances -m mds -q -o m.csv", 2, "the quote that opens in line 3");

    let numbers: String = (0..40).map(|i| format!("0.{i:02}1,0.{:02}1,-0.{:02}1\n", i * 7 % 40, i * 3 % 40)).collect();
    bench.write("first.csv", format!("1,2,3\n{numbers}"));
    let said = bench.does("embed first.csv -m pca -o m.csv --json m.json");
    assert!(said.err.contains("was taken for a point; use --header yes"), "{}", said.err);
    assert_eq!(bench.read("m.csv").lines().count(), 42);
    assert!(bench.json("m.json")["warnings"][0].as_str().unwrap().contains("--header yes"));
    bench.write("typo.csv", format!("O.5,0.25,0.125\n{numbers}"));
    let typo = bench.refuses("embed typo.csv -m pca -q -o n.csv", 2, "column 1 holds text (\"O.5\" in row 1 (line 1))");
    assert!(typo.contains("--header yes"), "{typo}");
    let country = |line: &str, i: usize| format!("{line},land{}\n", i % 7);
    let labeled: String = numbers.lines().enumerate().map(|(i, line)| country(line, i)).collect();
    bench.write("years.csv", format!("1990,2000,2010,country\n{labeled}"));
    for flag in ["--label country", "--ignore country", "--label 4", "--ignore 4"] {
        bench.does(&format!("embed years.csv {flag} -m pca -o m.csv"));
        assert_eq!(bench.read("m.csv").lines().count(), 41, "{flag}");
    }
    let none = bench.refuses("embed first.csv --label phase -m pca -q -o n.csv", 2, "column \"phase\" was not found");
    assert!(none.contains("--header yes"), "{none}");
}

#[test]
fn nothing_in_a_file_rules_the_terminal() {
    let bench = Bench::new();
    let calm = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n') && !text.contains('\u{202e}');
    let names = "\u{1b}[31mred,\u{9b}2J,\u{202e}c\u{7}";
    bench.write("names.csv", format!("{names}\n{}", cloud(20, 3)));
    bench.does("embed names.csv -m pca --save m.model -q");
    for line in [
        "embed names.csv --label none -m pca -o m.csv".to_string(),
        "transform m.model names.csv -o t.csv".to_string(),
        "embed names.csv -m pca -d 9 -o m.csv".to_string(),
        "embed names.csv -m pca --plot p.svg".to_string(),
    ] {
        let answer = bench.run(&line);
        assert!(calm(&answer.err), "{line}: {:?}", answer.err);
    }
    assert!(calm(&bench.read("p.svg")));
    bench.write("other.csv", format!("a,\u{1b}]0;title\u{7},c\n{}", cloud(5, 3)));
    let answer = bench.run("transform m.model other.csv -o t.csv");
    assert!(answer.code == 2 && calm(&answer.err), "{:?}", answer.err);
    bench.write("more.csv", format!("{names},\u{1b}]0;title\u{7}\n{}", cloud(5, 4)));
    let answer = bench.does("transform m.model more.csv -o t.csv");
    assert!(answer.err.contains("was left out") && calm(&answer.err), "{:?}", answer.err);
    let odd = "odd\u{1b}[2J.csv";
    bench.write(odd, "1,2,3\n0.5,0.25,0.125\n0.1,0.2,0.3\n0.3,0.2,0.9\n");
    let answer = crate::answer(bench.command("embed -m pca -d 1 -o m.csv").arg(odd).output().unwrap());
    assert!(answer.err.contains("taken for a point") && calm(&answer.err), "{:?}", answer.err);
}

#[test]
fn nothing_in_a_file_turns_the_text_of_a_page_or_runs_in_it() {
    let bench = Bench::new();
    let label = |i: usize| ["good\u{202e}", "\u{2066}<script>alert(1)</script>", "plain"][i % 3];
    let rows: String = cloud(30, 3).lines().enumerate().map(|(i, line)| format!("{line},{}\n", label(i))).collect();
    bench.write("x.csv", format!("a,\u{202e}b,c,kind\n{rows}"));
    bench.does("compare x.csv --label kind --methods pca -q --report page.html");
    bench.does("embed x.csv --label kind -m pca -q --save m.model -o o.csv");
    bench.does("view m.model --no-open -q -o view.html --labels x.csv:kind");
    for page in ["page.html", "view.html"] {
        let page = bench.read(page);
        assert!(!page.contains(['\u{202e}', '\u{2066}']) && page.contains("good\u{fffd}"));
        assert!(!page.contains("<script>alert"));
        let policy = page.split("Content-Security-Policy").nth(1).unwrap().split('>').next().unwrap();
        assert!(!policy.contains("unsafe") && policy.contains("script-src 'sha256-"), "{policy}");
    }
}

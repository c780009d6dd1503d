//! Streams: batches of any size give the bytes of all rows at once, errors leave nothing, and a sample of rows is fitted.

use crate::{Bench, cloud};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("old.csv", format!("a,b,c\n{}", cloud(40, 3)));
    let rows: Vec<String> = cloud(60, 3).lines().enumerate().map(|(i, row)| format!("{row},n{i}\n")).collect();
    bench.write("new.csv", format!("a,b,c,id\n{}", rows.concat()));
    for method in ["pca", "isomap", "umap"] {
        bench.does(&format!("embed old.csv -m {method} -k 6 -q -o {method}.csv --save {method}.model"));
    }
    bench
}

#[test]
fn batches_have_the_bytes_of_all_rows_at_once() {
    let bench = bench();
    for (command, outputs) in [
        ("transform pca.model new.csv", "-o OUT.csv"),
        ("transform isomap.model new.csv --keep id --label id", "-o OUT.tsv --std OUT-std.csv"),
        ("transform umap.model new.csv", "-o OUT.npy"),
        ("transform pca.model new.csv", "-o OUT.arrow"),
        ("transform pca.model new.csv", "-o OUT.parquet"),
        ("transform pca.model new.csv", "-o OUT.csv.gz"),
        ("reconstruct isomap.model isomap.csv", "-o OUT.csv --std OUT-std.csv --interval OUT-interval.npy"),
    ] {
        let run = |name: &str, rows: usize| {
            let outputs = outputs.replace("OUT", name);
            let answer = bench.does(&format!("{command} {outputs} --json {name}.json --batch-rows {rows}"));
            let mut report = bench.json(&format!("{name}.json"));
            report["seconds"] = serde_json::Value::Null;
            let files: Vec<String> =
                outputs.split_whitespace().filter(|word| word.contains(name)).map(String::from).collect();
            (files.iter().map(|file| std::fs::read(bench.path(file)).unwrap()).collect::<Vec<_>>(), report, answer.err)
        };
        let all = run("all", 1_000_000);
        for rows in [1, 7, 59] {
            assert!(run("batch", rows) == all, "{command} {outputs} by {rows}");
        }
    }
}

#[test]
fn rows_are_counted_over_the_whole_file() {
    let bench = bench();
    let text = bench.read("new.csv");
    let mut rows: Vec<&str> = text.lines().collect();
    (rows[21], rows[50]) = ("1e9,1e9,1e9,x", ",2,3,y");
    bench.write("holes.csv", rows.join("\n"));
    let line = "transform pca.model holes.csv --missing drop --json far.json --batch-rows 4";
    let answer = bench.does(&format!("{line} -o far.csv"));
    assert!(answer.err.contains("1 of 60 rows dropped for missing cells (row 50)"), "{}", answer.err);
    let report = bench.json("far.json");
    assert_eq!((report["far"].to_string(), report["dropped"]["rows"].to_string()), ("[21]".into(), "[50]".into()));
    assert_eq!(bench.read("far.csv").lines().nth(50), Some(","));
    bench.refuses("transform pca.model holes.csv -o no.csv --std no-std.csv --batch-rows 4", 2, "row 50 (line 51)");
    rows[50] = "1,2";
    bench.write("ragged.csv", rows.join("\n"));
    let fact = "row 50 (line 51) has 2 values and the first has 4";
    bench.refuses("transform pca.model ragged.csv -o no.csv --batch-rows 4", 2, fact);
}

#[test]
fn a_pipe_gets_whole_rows_as_they_are_embedded() {
    let bench = bench();
    let text = bench.read("new.csv");
    bench.does("transform pca.model new.csv -o all.csv -q");
    let answer = bench.run_with_input("transform pca.model - --batch-rows 5 -q", text.as_bytes());
    assert_eq!((answer.code, answer.out), (0, bench.read("all.csv")));
    let broken = text.replacen("n40", "n40,1", 1);
    let answer = bench.run_with_input("transform pca.model - --batch-rows 5 -q", broken.as_bytes());
    assert_eq!(answer.code, 2, "{}", answer.err);
    assert!(answer.out.ends_with('\n') && bench.read("all.csv").starts_with(&answer.out), "{}", answer.out);
}

#[test]
fn a_sample_is_fitted_and_all_rows_are_embedded() {
    let bench = Bench::new();
    let text = cloud(300, 3);
    let mut rows: Vec<&str> = text.lines().collect();
    bench.write("rows.csv", &text);
    rows.reverse();
    bench.write("reversed.csv", rows.join("\n"));
    let line = "-m isomap -k 8 --fit-rows 80 --header no --batch-rows 17";
    let answer = bench.does(&format!("embed rows.csv {line} -o map.csv --json map.json --save map.model"));
    assert!(answer.err.contains("sample       80 of 300 rows fitted"), "{}", answer.err);
    assert_eq!(bench.json("map.json")["fit_rows"].to_string(), r#"{"requested":80,"used":80,"of":300}"#);
    // Neither the order of the rows nor the number of a batch matters.
    bench.does(&format!("embed reversed.csv {line} -o reversed-map.csv -q"));
    let map = bench.read("map.csv");
    let mut back: Vec<&str> = map.lines().skip(1).collect();
    back.reverse();
    let reversed = bench.read("reversed-map.csv");
    assert_eq!(reversed.lines().skip(1).collect::<Vec<_>>(), back);
    bench.does("transform map.model rows.csv --header no -o again.csv -q");
    assert_eq!(bench.read("again.csv"), map);
    for (flags, fact) in [
        ("- --fit-rows 10", "standard input cannot be"),
        ("rows.csv --fit-rows 1", "too few rows"),
        ("rows.csv --fit-rows 10 --input-kind distances", "no rows to sample"),
        ("rows.csv --fit-rows 10 --plot a.png", "--plot is about all rows"),
    ] {
        bench.refuses(&format!("embed {flags} -o no.csv"), 2, fact);
    }
}

//! The formats of inputs and outputs, as the program reads and writes them.

use crate::{Bench, cloud};

#[test]
fn edges_are_written_in_the_format_of_their_name() {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(30, 3));
    for name in ["e.csv", "e.tsv", "e.parquet", "e.npy"] {
        bench.does(&format!("graph cloud.csv -k 4 -q -o {name}"));
        bench.does(&format!("embed {name} --input-kind graph -m isomap -q -o map-{name}.csv"));
        assert_eq!(bench.read(&format!("map-{name}.csv")), bench.read("map-e.csv.csv"), "{name}");
    }
    let head = |name: &str| std::fs::read(bench.path(name)).unwrap()[..4].to_vec();
    assert_eq!(head("e.parquet"), b"PAR1");
    assert_eq!(head("e.npy"), b"\x93NUM");
    bench.does("embed cloud.csv -m meu -k 6 -q -o map.csv --weights w.parquet");
    assert_eq!(head("w.parquet"), b"PAR1");
    bench.does("embed w.parquet --input-kind graph -m isomap -q -o again.csv");
    let said = "the extension is not that of a known format";
    bench.refuses("graph cloud.csv -k 4 -o e.xyz", 2, said);
    bench.refuses("embed cloud.csv -m meu -k 6 -o map.csv --weights w.xyz", 2, said);
}

#[test]
fn an_approximation_that_was_not_needed_is_reported_with_its_reason() {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(60, 4));
    bench.write("wide.csv", cloud(60, 40));
    let said = "warning: --approximate was not used, the neighbors are exact: ";
    for (line, why) in [
        ("embed cloud.csv -m isomap -k 8 --approximate -o m.csv", "in so few dimensions an exact search is as fast"),
        ("embed wide.csv -m isomap -k 8 --approximate -o m.csv", "below 12,000 points an exact search is as fast"),
        ("embed wide.csv -m isomap --radius 9 --approximate -o m.csv", "only a search for k nearest neighbors"),
        ("embed wide.csv -m tsne --perplexity 5 --approximate -o m.csv", "an exact search is as fast here"),
        ("graph wide.csv -k 8 --approximate -o e.csv", "below 12,000 points an exact search is as fast"),
    ] {
        let answer = bench.does(line);
        assert!(answer.err.contains(&format!("{said}{why}")), "{line}\n{}", answer.err);
    }
    assert!(!bench.does("embed wide.csv -m isomap -k 8 -o m.csv").err.contains("--approximate"));
}

#[test]
fn numbers_are_shown_by_the_digits_that_count() {
    let bench = Bench::new();
    let row = |i: usize| format!("{}e-9,{}e-9,{}e-9\n", i % 7, (i * i) % 5, (3 * i) % 11);
    bench.write("tiny.csv", (0..40).map(row).collect::<String>());
    bench.does("embed tiny.csv -m meu -k 6 -q -o map.csv --json meu.json --weights w.csv");
    let answer = bench.does("embed tiny.csv -m isomap --graph learned -k 6 --penalty 1e-12 -o map.csv");
    assert!(!answer.err.contains("0.000000"), "{}", answer.err);
    let used = bench.json("meu.json")["parameters"]["noise"]["used"].clone();
    assert!(used.as_f64().is_some_and(|noise| noise == 0.0 || noise.abs() < 1e-6), "{used}");
    let answer = bench.does("embed iris -m meu -k 6 -o map.csv");
    assert!(!answer.err.contains("noise 0.000000") && !answer.err.contains("000,"), "{}", answer.err);
    let answer = bench.does("embed iris -m meu -k 6 --noise 1e-12 -o map.csv");
    assert!(answer.err.contains("noise 1e-12"), "{}", answer.err);
}

#[test]
fn what_comes_through_a_pipe_is_known_by_its_first_bytes() {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(30, 3));
    bench.does("embed cloud.csv -m pca -q -o map.csv");
    let expected = bench.read("map.csv");
    for name in ["map.npy", "map.parquet", "map.arrow", "map.csv.gz", "map.npy.zst", "map.tsv"] {
        bench.does(&format!("embed cloud.csv -m pca -q -o {name}"));
        let bytes = std::fs::read(bench.path(name)).unwrap();
        let answer = bench.run_with_input("embed - -m pca -q", &bytes);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{name}");
        // The map of a map is the map itself, up to the last digits.
        for (line, same) in answer.out.lines().zip(expected.lines()).skip(1) {
            let numbers = |line: &str| line.split(',').map(|n| n.parse::<f64>().unwrap()).collect::<Vec<_>>();
            assert!(numbers(line).iter().zip(numbers(same)).all(|(a, b)| (a - b).abs() < 1e-12), "{name}: {line}");
        }
    }
    let answer = bench.run_with_input("embed - -m pca -q", b"\x1f\x8b\x08nothing");
    answer.is_one_line("a broken pipe of gzip", 2, "standard input: cannot be decompressed by gzip");
}

#[test]
fn several_files_are_one_input() {
    let bench = Bench::new();
    let rows: Vec<String> = cloud(40, 3).lines().map(String::from).collect();
    let file = |of: &[String]| format!("a,b,c\n{}\n", of.join("\n"));
    bench.write("all.csv", file(&rows)).write("one.csv", file(&rows[..15])).write("two.csv", file(&rows[15..]));
    bench.does("embed all.csv -m isomap -q -o map.csv --save all.model");
    bench.does("embed one.csv two.csv -m isomap -q -o both.csv");
    assert_eq!(bench.read("both.csv"), bench.read("map.csv"));
    bench.does("transform all.model one.csv two.csv -q -o placed.csv");
    assert_eq!(bench.read("placed.csv"), bench.read("map.csv"));
    bench.does("graph one.csv two.csv -k 4 -q -o e.csv");
    bench.refuses("embed one.csv two.csv -m pca -o two.csv", 2, "would replace the input");
    bench.refuses("embed one.csv one.csv -m pca -o m.csv", 2, "one.csv is given twice");
    bench.write("bad.csv", "a,b,d\n1,2,3\n");
    let said = "bad.csv: column 3 is called \"d\" and in one.csv \"c\"; give files with the same columns";
    bench.refuses("embed one.csv bad.csv -m pca -o m.csv", 2, said);
    bench.write("bad.csv", "a,b,c\n1,2,3\n1,x,3\n");
    bench.refuses(
        "embed one.csv bad.csv -m pca -o m.csv",
        2,
        "bad.csv: column \"b\" holds text (\"x\" in row 2 (line 3))",
    );
    bench.refuses("embed one.csv two.csv --input-kind distances -o m.csv", 2, "several files are read as points");
}

#[test]
fn a_flag_without_its_value_is_blamed_and_not_what_follows() {
    let bench = Bench::new();
    for flag in ["--scale", "--landmarks", "--label", "--ignore", "--method", "--perplexity"] {
        let line = format!("embed iris {flag} -o x.csv");
        bench.refuses(&line, 2, &format!("a value is required for '{flag}"));
    }
    let message = bench.refuses("embed iris -m isomap --landmarks 2 -o x.csv", 2, "--landmarks is 2");
    assert_eq!(message, "eigenfold: --landmarks is 2; give an integer >= 3, or none");
}

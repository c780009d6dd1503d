//! Every command but `embed` and `transform`, and the ways to ask for help.

use crate::Bench;

#[test]
fn help_and_version_are_no_errors() {
    let bench = Bench::new();
    assert!(bench.does("--version").out.starts_with("eigenfold "));
    for command in [
        "",
        "embed",
        "transform",
        "reconstruct",
        "compare",
        "serve",
        "view",
        "quality",
        "dimension",
        "graph",
        "sample",
        "methods",
        "completions",
        "man",
    ] {
        let help = bench.does(&format!("{command} --help")).out;
        assert!(help.contains("EXAMPLES") && help.contains("Usage: eigenfold"), "{command}\n{help}");
    }
    assert_eq!(bench.run("").code, 2);
}

/// Those of the methods alone would be four hundred lines.
#[test]
fn help_is_short_and_says_where_the_parameters_of_methods_are() {
    let bench = Bench::new();
    for command in ["embed", "transform", "reconstruct", "compare", "serve", "view", "quality", "dimension", "graph"] {
        let [short, long] = ["-h", "--help"].map(|flag| bench.does(&format!("{command} {flag}")).out);
        let lines = (short.lines().count(), long.lines().count());
        assert!(lines.0 < 90 && lines.1 < 200, "{command}: {lines:?} lines\n{long}");
        assert!(!short.contains("--landmarks <") && !long.contains("--landmarks <"), "{command}\n{long}");
        let named = long.contains("`eigenfold methods ");
        assert_eq!(named, ["embed", "compare", "graph"].contains(&command), "{command}\n{long}");
    }
}

#[test]
fn methods_are_listed_for_people_and_for_programs() {
    let bench = Bench::new();
    let table = bench.does("methods").out;
    assert!(table.contains("isomap") && table.contains("laplacian-eigenmaps"), "{table}");
    let details = bench.does("methods isomap").out;
    assert!(details.contains("--landmarks") && details.contains("default"), "{details}");
    assert!(details.contains("\ngood for:   ") && details.contains("\ncaution:    "), "{details}");
    bench.does("methods --json methods.json");
    let list = bench.json("methods.json");
    let methods = list.as_array().unwrap();
    assert!(methods.len() >= 7);
    for method in methods {
        for key in ["name", "aliases", "stage", "parameters", "paper"] {
            assert!(method.get(key).is_some(), "{key} of {method}");
        }
        let name = method["name"].as_str().unwrap();
        assert!(table.contains(name));
        for alias in method["aliases"].as_array().unwrap() {
            let details = bench.does(&format!("methods {}", alias.as_str().unwrap())).out;
            assert!(details.starts_with(name), "{alias}: {details}");
        }
    }
    bench.refuses("methods isomop", 2, "isomap");
}

#[test]
fn the_example_of_every_method_runs() {
    let bench = Bench::new();
    bench.does("methods --json methods.json");
    for method in bench.json("methods.json").as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        let details = bench.does(&format!("methods {name}")).out;
        let example = details.lines().find_map(|line| line.strip_prefix("  eigenfold ")).unwrap_or_default();
        assert!(example.contains(&format!("-m {name} ")), "{details}");
        bench.does(&format!("{example} -q"));
    }
}

/// Those that need nothing but a few small files.
#[test]
fn the_examples_of_the_help_run() {
    let bench = Bench::new();
    let row = |i: usize| format!("{},{},{},{}\n", 100 + i, i + 1, i * i % 17, i % 2);
    let rows: String = (0..40).map(row).collect();
    bench.write("data.csv", format!("id,x,y,species\n{rows}")).write("new.csv", format!("id,x,y,species\n{rows}"));
    bench.write("old.csv", "x,y\n".to_string() + &(0..40).map(|i| format!("{i},{}\n", i * i % 13)).collect::<String>());
    bench.write("coords.csv", "y1,y2\n0,0\n10,-5\n");
    bench.does("sample swiss-roll -n 200 -q -o roll.csv --truth truth.csv");
    bench.does("embed roll.csv -m pca -q -o roll-map.csv");
    let mut run = 0;
    for command in ["embed", "transform", "reconstruct", "quality", "dimension", "graph", "sample", "methods"] {
        let help = bench.does(&format!("{command} -h")).out;
        for line in help.lines().filter_map(|line| line.strip_prefix("  eigenfold ")) {
            // What the example is about stands behind it.
            let line = line.split("   ").next().unwrap_or_default();
            if !["cells.parquet", "distances.npy", "umap.npy"].iter().any(|other| line.contains(other)) {
                bench.does(line);
                run += 1;
            }
        }
    }
    assert!(run > 20, "{run} examples");
}

#[test]
fn samples_are_drawn_with_their_truth() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 50 -o roll.csv --truth truth.csv");
    assert_eq!(bench.read("roll.csv").lines().count(), 51);
    assert!(bench.read("roll.csv").starts_with("x1,x2,x3\n"));
    assert_eq!(bench.read("truth.csv").lines().count(), 51);
    bench.does("sample swiss-roll -n 50 --with-label --noise 0.1 --seed 3 -o other.csv");
    assert!(bench.read("other.csv").starts_with("x1,x2,x3,label\n"));
    let piped = bench.does("sample swiss-roll -n 50 -q");
    assert_eq!((piped.out, piped.err), (bench.read("roll.csv"), String::new()));
    bench.refuses("sample swiss-rol -o a.csv", 2, "swiss-roll");
    bench.refuses("sample swiss-roll -n 0 -o a.csv", 2, "0");
    bench.refuses("sample swiss-roll --noise -1 -o a.csv", 2, "-1");
}

#[test]
fn real_samples_have_labels() {
    let bench = Bench::new();
    bench.does("sample digits -o digits.csv");
    let digits = bench.read("digits.csv");
    assert_eq!(digits.lines().count(), 1798);
    assert!(digits.lines().next().unwrap().ends_with(",label"));
    bench.does("sample iris -o iris.tsv").err.contains("--label label");
    assert!(bench.read("iris.tsv").contains("setosa"));
    bench.does("sample iris -o iris.npy");
    bench.refuses("sample iris -n 10 -o a.csv", 2, "-n");
    bench.refuses("sample iris --truth t.csv -o a.csv", 2, "--truth");
}

#[test]
fn the_number_of_neighbors_that_connects_is_the_smallest() {
    let bench = Bench::new();
    let answer = bench.does("graph iris -k 5 -o edges.csv");
    assert!(answer.err.contains("; -k 25 connects it"), "{}", answer.err);
    for (k, components) in [(24, 2), (25, 1)] {
        bench.does(&format!("graph iris -k {k} -q -o edges.csv --json graph.json"));
        assert_eq!(bench.json("graph.json")["components"].as_array().unwrap().len(), components, "{k}");
    }
}

#[test]
fn the_graph_has_edges_and_components() {
    let bench = Bench::new();
    // Two squares far apart.
    let square = |x: f64| format!("{x},0\n{x},1\n{0},0\n{0},1\n", x + 1.0);
    bench.write("squares.csv", square(0.0) + &square(100.0));
    bench.does("graph squares.csv -k 2 --disconnected separate -o edges.csv --json graph.json");
    let report = bench.json("graph.json");
    assert_eq!(report["n"], 8);
    assert_eq!(report["components"], serde_json::json!([4, 4]));
    assert_eq!(report["edges"], 16);
    assert!(report["connecting_k"].as_u64().is_none_or(|k| k == 4), "{report}");
    assert!(bench.read("edges.csv").lines().count() >= 16);
    let joined = bench.does("graph squares.csv -k 2");
    assert!(joined.err.contains("connected components: 2 (4, 4 points), joined by 1 linking edge"), "{}", joined.err);
    let message = bench.refuses(
        "graph squares.csv -k 2 --disconnected error -o e.csv",
        2,
        "the graph has 2 connected components",
    );
    assert!(message.contains("(4, 4 points)"), "{message}");
    bench.does("embed edges.csv --input-kind graph -m laplacian-eigenmaps -d 1 --disconnected separate -o map.csv");
    assert_eq!(bench.read("map.csv").lines().count(), 9);
}

#[test]
fn shells_and_man_get_what_they_need() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(bench.does(&format!("completions {shell}")).out.contains("landmarks"), "{shell}");
    }
    assert!(bench.does("man").out.contains(".TH eigenfold"));
    std::fs::create_dir(bench.path("man1")).unwrap();
    bench.does("man --dir man1");
    assert!(bench.read("man1/eigenfold-embed.1").contains("landmarks"));
    bench.does("man --dir new/man1");
    assert!(bench.path("new/man1/eigenfold-embed.1").is_file());
    bench.refuses("completions csh", 2, "zsh");
}

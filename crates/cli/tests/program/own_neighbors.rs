//! `--neighbors-from`: neighbors that were found elsewhere, beside the points.

use crate::{Bench, coordinates};
use serde_json::json;

/// The bytes of an embedding do not tell who found its neighbors.
#[test]
fn neighbors_that_graph_wrote_give_the_embedding_of_a_search() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 300 -o roll.csv");
    for name in ["edges.csv", "edges.npy", "edges.parquet"] {
        bench.does(&format!("graph roll.csv -k 15 -o {name}"));
    }
    for (method, from) in [
        ("umap -k 15", "edges.csv"),
        ("isomap -k 15", "edges.npy"),
        ("laplacian-eigenmaps -k 15", "edges.parquet"),
        ("lle -k 15", "edges.csv"),
        // The first of each list.
        ("isomap -k 8", "edges.csv"),
        ("isomap -k 12 --graph mutual", "edges.csv"),
        ("elastic -k 10", "edges.npy"),
        // Three neighbors per effective neighbor.
        ("tsne --perplexity 5", "edges.csv"),
        ("symmetric-sne --perplexity 5", "edges.csv"),
        ("sne --perplexity 4", "edges.csv"),
    ] {
        bench.does(&format!("embed roll.csv -m {method} -o searched.csv"));
        let said = bench
            .does(&format!("embed roll.csv -m {method} --neighbors-from {from} -o given.csv --json given.json"))
            .err;
        assert_eq!(bench.read("searched.csv"), bench.read("given.csv"), "{method}");
        assert_eq!(bench.json("given.json")["search"], json!("given neighbors"), "{method}");
        assert!(said.contains("none (given neighbors)"), "{said}");
    }
}

/// Two components, of which `graph` writes the linking edge too; it is no neighbor.
#[test]
fn components_are_joined_by_the_distances_of_the_points() {
    let bench = Bench::new();
    bench.does("graph iris -k 10 -o edges.csv");
    bench.does("embed iris -m isomap -k 10 -o searched.csv");
    bench.does("embed iris -m isomap -k 10 --neighbors-from edges.csv -o given.csv --json given.json");
    assert_eq!(bench.read("searched.csv"), bench.read("given.csv"));
    assert_eq!(bench.json("given.json")["components"], json!([100, 50]));
    let said = bench.does("graph iris --neighbors-from edges.csv -k 5").err;
    assert!(said.contains("connected components: 2 (100, 50 points)") && said.contains("(given neighbors)"), "{said}");
}

#[test]
fn new_rows_are_embedded_by_the_points_of_the_model() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 300 -o roll.csv");
    bench.does("sample swiss-roll -n 20 --seed 5 -o new.csv");
    bench.does("graph roll.csv -k 15 -o edges.csv");
    for method in ["umap -k 15", "isomap -k 15", "tsne --perplexity 5"] {
        bench.does(&format!("embed roll.csv -m {method} -o map.csv --save searched.model"));
        bench.does(&format!("embed roll.csv -m {method} --neighbors-from edges.csv -o map.csv --save given.model"));
        bench.does("transform searched.model new.csv -o searched.csv");
        bench.does("transform given.model new.csv -o given.csv");
        assert_eq!(coordinates(&bench.read("given.csv")).len(), 20);
        assert_eq!(bench.read("searched.csv"), bench.read("given.csv"), "{method}");
    }
}

#[test]
fn rows_that_were_dropped_keep_their_numbers() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 200 -o roll.csv");
    let mut lines: Vec<String> = bench.read("roll.csv").lines().map(String::from).collect();
    lines[3] = "NA,1,2".into();
    bench.write("holes.csv", lines.join("\n"));
    bench.does("graph holes.csv --missing drop -k 10 -o edges.csv");
    bench.does("embed holes.csv --missing drop -m isomap -o searched.csv");
    bench.does("embed holes.csv --missing drop -m isomap --neighbors-from edges.csv -o given.csv");
    assert_eq!(bench.read("searched.csv"), bench.read("given.csv"));
    bench.does("graph roll.csv -k 10 -o all.csv");
    let says = "has the neighbor in row 3, which was dropped";
    bench.refuses("embed holes.csv --missing drop -m isomap --neighbors-from all.csv -o a.csv", 2, says);
}

#[test]
fn neighbors_that_do_not_fit_are_refused() {
    let bench = Bench::new();
    bench.does("graph iris -k 10 --disconnected separate -o edges.csv");
    let edges = bench.read("edges.csv");
    let lines: Vec<&str> = edges.lines().collect();
    let with = |name: &str, row: &str| {
        let changed: Vec<&str> = lines.iter().enumerate().map(|(at, line)| if at == 4 { row } else { line }).collect();
        bench.write(name, changed.join("\n"));
    };
    with("beyond.csv", "0,150,0.5");
    with("before.csv", "0,-1,0.5");
    with("fraction.csv", "0,1.5,0.5");
    with("negative.csv", "0,7,-0.5");
    with("nan.csv", "0,7,NaN");
    with("infinite.csv", "0,7,inf");
    with("loop.csv", "0,0,0");
    bench.write("fewer.csv", lines[..1201].join("\n"));
    let without: Vec<&str> = lines.iter().enumerate().filter(|(at, _)| *at != 15).map(|(_, line)| *line).collect();
    bench.write("short.csv", without.join("\n"));
    let pairs: Vec<String> = lines.iter().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect();
    bench.write("pairs.csv", pairs.join("\n"));
    bench.does("sample iris -o iris.csv");
    for (flags, says) in [
        (
            "iris -m isomap --neighbors-from beyond.csv",
            "names point 150, and there are 150 points; number the points from 0 to 149",
        ),
        ("iris -m isomap --neighbors-from before.csv", "has the index -1"),
        ("iris -m isomap --neighbors-from fraction.csv", "has the index 1.5"),
        ("iris -m isomap --neighbors-from negative.csv", "has the length -0.5"),
        ("iris -m isomap --neighbors-from nan.csv", "nan.csv"),
        ("iris -m isomap --neighbors-from infinite.csv", "infinite.csv"),
        ("iris -m isomap --neighbors-from loop.csv", "joins point 0 to itself; remove the row"),
        ("iris -m isomap --neighbors-from fewer.csv", "fewer.csv has neighbors of 120 points, and there are 150"),
        (
            "iris -m isomap --neighbors-from short.csv",
            "row 2 has 9 given neighbors, and -k needs 10; give at least 10 for every row, or use -k 9 or less",
        ),
        ("iris -m isomap --neighbors-from pairs.csv", "an edge list has 2 columns; give i,j,length"),
        ("iris -m isomap --neighbors-from none.csv", "none.csv"),
        ("iris -m umap -k 11 --neighbors-from edges.csv", "row 1 has 10 given neighbors, and -k needs 11"),
        ("iris -m isomap -k 0 --neighbors-from edges.csv", "k is 0"),
        ("iris -m tsne --neighbors-from edges.csv", "row 1 has 10 given neighbors, and --perplexity needs 90"),
        (
            "iris -m pca --neighbors-from edges.csv",
            "pca does not use neighbors, and neighbors are given; leave them out",
        ),
        ("iris -m mds --neighbors-from edges.csv", "mds does not use neighbors"),
        ("iris -m kernel-pca --neighbors-from edges.csv", "kernel-pca does not use neighbors"),
        (
            "iris -m isomap --radius 1 --neighbors-from edges.csv",
            "--radius needs all points within it, and nearest neighbors are given",
        ),
        ("iris -m isomap --graph all --neighbors-from edges.csv", "--graph all needs all pairs"),
        (
            "iris -m isomap --graph learned --neighbors-from edges.csv",
            "a learned graph searches for its candidates itself",
        ),
        ("iris -m isomap -k auto --neighbors-from edges.csv", "-k auto tries up to 50 neighbors"),
        ("iris -m isomap --held-out features --neighbors-from edges.csv", "leave out --held-out"),
        ("iris.csv --label label -m isomap --fit-rows 50 --neighbors-from edges.csv", "leave out --fit-rows"),
        ("edges.csv --input-kind graph -m isomap --neighbors-from edges.csv", "a graph has its neighbors already"),
        ("- -m isomap --neighbors-from -", "cannot both come from standard input"),
    ] {
        bench.refuses(&format!("embed {flags} -o map.csv"), 2, says);
    }
    bench.refuses("graph iris --learned --neighbors-from edges.csv", 2, "a learned graph searches for its candidates");
    let said = bench.does("embed iris -m tsne --perplexity 3 --approximate --neighbors-from edges.csv -o map.csv").err;
    assert!(said.contains("--approximate was not used: the neighbors are given"), "{said}");
    assert!(!said.contains("an exact search is as fast"), "{said}");
}

//! `embed` and `transform` on data that can be embedded.

use crate::{Bench, cloud, coordinates, is_png};
use serde_json::json;
use std::process::Stdio;

#[test]
fn every_output_is_written_and_the_report_keeps_its_keys() {
    let bench = Bench::new();
    let answer = bench.does("embed iris -m isomap -k 12 -o map.csv --plot map.png --save map.model --json map.json");
    assert_eq!(bench.files(), ["map.csv", "map.json", "map.model", "map.png"]);
    assert_eq!(answer.out, "");
    assert!(answer.err.contains("150 points") && answer.err.contains("eigenvalues"), "{}", answer.err);
    let map = bench.read("map.csv");
    assert!(map.starts_with("y1,y2\n"));
    assert_eq!(map.lines().count(), 151);
    assert!(is_png(&bench.path("map.png")));
    let report = bench.json("map.json");
    assert_eq!((&report["method"], &report["n"]), (&json!("isomap"), &json!(150)));
    assert_eq!((&report["features"], &report["dims"]), (&json!(4), &json!(2)));
    for key in
        ["parameters", "seconds", "eigenvalues", "residuals", "components", "converged", "iterations", "warnings"]
    {
        assert!(report.get(key).is_some(), "{key} of {report}");
    }
    for key in ["read", "graph", "field", "coordinates", "write"] {
        assert!(report["seconds"][key].as_f64().is_some(), "{key} of {report}");
    }
    for (name, parameter) in report["parameters"].as_object().unwrap() {
        assert!(parameter.get("requested").is_some() && parameter.get("used").is_some(), "{name} of {report}");
    }
}

#[test]
fn every_method_runs_and_gives_training_points_their_own_coordinates() {
    let bench = Bench::new();
    bench.does("methods --json methods.json");
    // No point of a roll is there twice, as one of iris is: of two such, only one can get its own coordinates.
    bench.does("sample swiss-roll -n 100 --with-label -o roll.csv");
    for method in bench.json("methods.json").as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        bench.does(&format!("embed roll.csv --label label -m {name} -d 2 -q -o map.csv --save map.model"));
        bench.does("transform map.model roll.csv --label label -q -o again.csv");
        let (map, again) = (coordinates(&bench.read("map.csv")), coordinates(&bench.read("again.csv")));
        assert_eq!(map.len(), 100, "{name}");
        let largest = map.iter().flatten().fold(0.0f64, |a, v| a.max(v.abs()));
        for (a, b) in map.iter().flatten().zip(again.iter().flatten()) {
            assert!((a - b).abs() <= 1e-8 * largest, "{name}: {a} came back as {b}");
        }
    }
}

#[test]
fn one_new_point_is_placed_as_among_many() {
    let bench = Bench::new();
    bench.write("old.csv", cloud(80, 3)).write("new.csv", cloud(90, 3));
    let last = cloud(90, 3).lines().last().unwrap().to_string() + "\n";
    bench.write("one.csv", last);
    bench.does("embed old.csv -m isomap -k 8 --save m --quiet");
    bench.does("transform m new.csv -o new-map.csv");
    bench.does("transform m one.csv -o one-map.csv --header no");
    let (many, one) = (bench.read("new-map.csv"), bench.read("one-map.csv"));
    assert_eq!(many.lines().last(), one.lines().last());
}

#[test]
fn points_far_from_all_data_are_placed_and_named() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 200 -o roll.csv");
    let near = bench.read("roll.csv").lines().nth(1).unwrap().to_string();
    bench.write("new.csv", format!("{near}\n900,0,0\n{near}\n0,-900,0\n"));
    bench.does("embed roll.csv -m ltsa --save m -q -o map.csv");
    let answer = bench.does("transform m new.csv --header no -o out.csv");
    let said = "2 of 4 new points are far from all training points (rows 2, 4)";
    assert!(answer.err.contains(said), "{}", answer.err);
    assert_eq!(coordinates(&bench.read("out.csv")).len(), 4);
    let quiet = bench.does("transform m new.csv --header no -q -o out.csv");
    assert_eq!(quiet.err, "");
}

#[test]
fn too_few_neighbors_for_a_method_are_refused_with_the_least_number() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 100 -o roll.csv -q");
    bench.refuses("embed roll.csv -m hlle -k 4 -o m.csv", 2, "use -k 5 or more");
    bench.refuses("embed roll.csv -m hlle -d 3 -k 8 -o m.csv", 2, "needs 9 neighbors");
    bench.refuses("embed roll.csv -m lle --variant sideways -o m.csv", 2, "give standard, free or symmetric");
}

#[test]
fn standard_input_and_output_are_csv() {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(40, 3));
    bench.does("embed cloud.csv -m pca -o map.csv");
    let piped = bench.run_with_input("embed - -m pca --quiet", cloud(40, 3).as_bytes());
    assert_eq!((piped.code, piped.err.as_str()), (0, ""));
    assert_eq!(piped.out, bench.read("map.csv"));
    let report = bench.does("embed cloud.csv -m pca --quiet --json -");
    assert!(serde_json::from_str::<serde_json::Value>(&report.out).is_ok(), "only JSON: {}", report.out);
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(20_000, 3));
    for line in ["embed cloud.csv -m pca -q --save m", "methods", "completions zsh", "sample swiss-roll -n 20000 -q"] {
        let mut child = bench.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let answer = crate::answer(child.wait_with_output().unwrap());
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{line}");
    }
}

#[test]
fn every_format_is_written_and_read_back() {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(30, 4));
    bench.does("embed cloud.csv -m pca -d 3 -o a.csv");
    let formats: &[&str] = if cfg!(feature = "parquet") { &["tsv", "npy", "parquet"] } else { &["tsv", "npy"] };
    for format in formats {
        bench.does(&format!("embed cloud.csv -m pca -d 3 -o a.{format}"));
        bench.does(&format!("embed a.{format} -m pca -d 3 -o from-{format}.csv"));
        bench.does("embed a.csv -m pca -d 3 -o from-csv.csv");
        assert_eq!(bench.read(&format!("from-{format}.csv")), bench.read("from-csv.csv"), "{format}");
    }
    bench.does("embed cloud.csv -m pca --plot a.svg");
    assert!(bench.read("a.svg").starts_with("<svg"));
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 600 -o roll.csv");
    for method in ["isomap", "lle", "laplacian-eigenmaps"] {
        bench.does(&format!("embed roll.csv -m {method} --threads 1 -o one.csv"));
        bench.does(&format!("embed roll.csv -m {method} --threads 2 -o two.csv"));
        assert_eq!(bench.read("one.csv"), bench.read("two.csv"), "{method}");
    }
}

#[test]
fn duplicates_and_constant_columns_are_harmless() {
    let bench = Bench::new();
    bench.write("twice.csv", cloud(25, 3).repeat(2));
    let constant: String = cloud(40, 2).lines().map(|line| format!("{line},5\n")).collect();
    bench.write("constant.csv", constant);
    bench.does("methods --json methods.json");
    for method in bench.json("methods.json").as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        for (file, rows) in [("twice.csv", 50), ("constant.csv", 40)] {
            bench.does(&format!("embed {file} -m {name} -k 8 -q -o map.csv"));
            let map = coordinates(&bench.read("map.csv"));
            assert_eq!(map.len(), rows, "{name} of {file}");
            assert!(map.iter().flatten().all(|v| v.is_finite()), "{name} of {file}");
        }
    }
}

#[test]
fn a_kernel_brings_its_parameters_in_any_order() {
    let bench = Bench::new();
    bench.does("embed iris -m kernel-pca --degree 2 --kernel polynomial -q -o a.csv --json a.json");
    let parameters = &bench.json("a.json")["parameters"];
    assert_eq!(parameters["degree"], json!({"requested": 2, "used": 2}));
    assert_eq!(parameters["kernel"], json!({"requested": "polynomial", "used": "polynomial"}));
    assert_eq!(parameters["offset"]["requested"], json!(null));
    bench.refuses("embed iris -m kernel-pca --degree 2 -o b.csv", 2, "degree");
}

#[test]
fn columns_are_left_out_and_labels_color() {
    let bench = Bench::new();
    let mut rows: Vec<String> = cloud(40, 2).lines().map(|line| format!("a{},{line}", line.len() % 3)).collect();
    rows.insert(0, "kind,u,v".into());
    bench.write("kinds.csv", rows.join("\n"));
    bench.refuses("embed kinds.csv -m pca -o m.csv", 2, "kind");
    bench.does("embed kinds.csv -m pca --label kind --plot m.svg");
    assert!(bench.read("m.svg").contains(">kind<"));
    bench.does("embed kinds.csv -m pca --ignore kind -o m.csv");
    bench.refuses("embed kinds.csv -m pca --label color -o n.csv", 2, "color");
}

#[test]
fn distances_are_embedded_by_mds() {
    let bench = Bench::new();
    // Three points in a line, at 0, 1 and 3.
    bench.write("d.csv", "0,1,3\n1,0,2\n3,2,0\n");
    bench.does("embed d.csv --input-kind distances --header no -m mds -d 1 -o line.csv");
    let mut line: Vec<f64> = coordinates(&bench.read("line.csv")).into_iter().map(|row| row[0]).collect();
    line.sort_by(f64::total_cmp);
    let gaps = [line[1] - line[0], line[2] - line[1]];
    assert!((gaps[0] + gaps[1] - 3.0).abs() < 1e-8 && (gaps[0].min(gaps[1]) - 1.0).abs() < 1e-8, "{line:?}");
    bench.write("bad.csv", "0,1,3\n1,0,2\n");
    bench.refuses("embed bad.csv --input-kind distances --header no -m mds -d 1 -o a.csv", 2, "2");
}

#[test]
fn fitted_edges_are_written_and_read_back_as_their_graph() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 120 -o roll.csv -q");
    bench.does("embed roll.csv -m meu -k 6 -q -o map.csv --weights weights.csv --json report.json");
    let text = bench.read("weights.csv");
    assert!(text.starts_with("i,j,distance,weight\n"), "{text}");
    let edges = coordinates(&text);
    let (report, points) = (bench.json("report.json"), coordinates(&bench.read("roll.csv")));
    assert_eq!(edges.len() as u64, report["edges"].as_f64().unwrap() as u64);
    assert!(edges.windows(2).all(|pair| (pair[0][0], pair[0][1]) < (pair[1][0], pair[1][1])));
    for edge in &edges {
        let (i, j) = (edge[0] as usize, edge[1] as usize);
        let distance = points[i].iter().zip(&points[j]).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(i < j && (edge[2] / distance - 1.0).abs() < 1e-12 && edge[3] >= 0.0, "{edge:?}");
    }
    // At the optimum Σ λ d²/p is the number of points less one.
    let pull: f64 = edges.iter().map(|edge| edge[3] * edge[2] * edge[2] / 3.0).sum();
    assert!((pull - 119.0).abs() < 1e-3, "{pull}");
    bench.does("embed weights.csv --input-kind graph -m isomap -q -o again.csv");
    bench.does("embed roll.csv -m isomap -k 6 -q -o direct.csv");
    let (again, direct) = (coordinates(&bench.read("again.csv")), coordinates(&bench.read("direct.csv")));
    for (a, b) in again.iter().flatten().zip(direct.iter().flatten()) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
    let said = "isomap fits no weights to edges; --weights is for meu, drill, mvu";
    bench.refuses("embed roll.csv -m isomap -k 6 -o m.csv --weights w.csv", 2, said);
    bench.refuses("embed roll.csv -m meu -o m.csv --weights m.csv", 2, "requested by both -o and --weights");
}

/// Two rolls far apart, row by row in turn.
#[test]
fn fitted_edges_of_separate_components_name_the_rows_of_the_input() {
    let bench = Bench::new();
    let rows = |i: usize| (i % 2 * 1000 + i / 2, (i * i) % 17);
    let text: String = (0..60).map(rows).map(|(x, y)| format!("{x}.0,{y}.5\n")).collect();
    bench.write("two.csv", text);
    bench.does("embed two.csv -m meu -k 4 --disconnected separate -q -o map.csv --weights weights.csv");
    let edges = coordinates(&bench.read("weights.csv"));
    assert!(edges.windows(2).all(|pair| (pair[0][0], pair[0][1]) < (pair[1][0], pair[1][1])));
    assert!(edges.iter().all(|edge| (edge[1] - edge[0]) % 2.0 == 0.0 && edge[0] < edge[1]));
    assert!((0..60).all(|i| edges.iter().any(|edge| edge[0] == i as f64 || edge[1] == i as f64)));
}

#[test]
fn a_graph_is_learned_written_and_used() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 100 -q -o roll.csv");
    bench.does("graph roll.csv --learned -k 8 --penalty 5 -q -o learned.csv --json graph.json");
    let graph = bench.json("graph.json");
    let candidates = graph["learned"]["candidates"].as_f64().unwrap();
    let lines = bench.read("learned.csv").lines().count();
    assert!(graph["learned"]["gap"].as_f64().unwrap() <= 1e-6 && graph["search"] == "learned");
    assert!(lines > 100 && lines as f64 <= 2.0 * candidates + 1.0, "{lines} {candidates}");
    bench.does("embed roll.csv -m isomap --graph learned -k 8 --penalty 5 -q -o map.csv --json map.json");
    let map = bench.json("map.json");
    assert_eq!(map["parameters"]["graph"]["used"], "learned");
    assert_eq!(map["graph_penalty"], 5.0);
    bench.does("embed learned.csv --input-kind graph --disconnected separate -m le -q -o again.csv");
    bench.does("embed roll.csv -m drill -k 8 --penalty 0.5:50:3 -q -o drill.csv --json drill.json --weights w.csv");
    let drill = bench.json("drill.json");
    assert_eq!(drill["path"].as_array().unwrap().len(), 3);
    assert!(drill["gap"].as_f64().unwrap() <= 1e-6 && drill["in_sample_fit"]["log_likelihood"].is_number());
    assert_eq!(bench.read("w.csv").lines().count() as f64, drill["edges"].as_f64().unwrap() + 1.0);
    let said = "--penalty is a parameter of learned graphs; use --graph learned, or leave it out";
    bench.refuses("graph roll.csv --penalty 5 -o g.csv", 2, said);
    let said = "--penalty is \"x\"; give a number >= 0 or a path FROM:TO:COUNT as in 0.001:0.1:10, or auto";
    bench.refuses("embed roll.csv -m drill --penalty x -o g.csv", 2, said);
}

#[test]
fn a_map_is_turned_onto_an_earlier_one() {
    let bench = Bench::new();
    bench.does("embed iris -m pca -o map.csv");
    let turned: String =
        coordinates(&bench.read("map.csv")).iter().map(|row| format!("{},{}\n", 3.0 - row[1], row[0])).collect();
    bench.write("turned.csv", turned.clone());
    bench.does("embed iris -m pca -o again.csv --align turned.csv --json again.json");
    let again = coordinates(&bench.read("again.csv"));
    for (line, row) in turned.lines().zip(&again) {
        for (a, b) in line.split(',').zip(row) {
            assert!((a.parse::<f64>().unwrap() - b).abs() < 1e-9, "{line} {row:?}");
        }
    }
    assert!(bench.json("again.json")["alignment"]["disparity"].as_f64().unwrap() < 1e-9);
    bench.write("few.csv", "y1,y2\n1,2\n3,4\n");
    bench.refuses("embed iris -m pca -o b.csv --align few.csv", 2, "the reference has 2 rows of 2 coordinates");
    bench.refuses("embed iris -m pca -o b.csv --align few.csv --save m", 2, "leave out --save");
    bench.refuses("embed iris -m pca -o few.csv --align few.csv", 2, "would replace the input");
}

//! What optimizations leave behind: snapshots, the path of a homotopy, learned affinities, the inverse transform.

use crate::{Bench, coordinates};

#[test]
fn snapshots_go_into_a_directory_or_into_the_report() {
    let bench = Bench::new();
    bench.does("embed iris -m tsne -o map.csv --snapshots frames -q");
    let mut frames: Vec<String> = std::fs::read_dir(bench.path("frames"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    frames.sort();
    assert!((10..=20).contains(&frames.len()) && frames[0] == "step-000000.csv", "{frames:?}");
    assert_eq!(bench.read(&format!("frames/{}", frames[frames.len() - 1])), bench.read("map.csv"));
    bench.does("embed iris -m smacof --snapshots 5 --json map.json -q");
    let report = bench.json("map.json");
    let maps = report["snapshots"].as_array().unwrap();
    assert!((2..=5).contains(&maps.len()) && maps[0]["step"] == 0, "{report}");
    assert_eq!(maps[0]["coordinates"].as_array().unwrap().len(), 150);
    assert!(report["curve"].as_array().unwrap().len() > 5);

    bench.refuses("embed iris -m tsne -o m.csv --snapshots frames", 2, "is not empty; give a new directory");
    bench.refuses("embed iris -m tsne -o m.csv --snapshots 5", 2, "add --json FILE");
    bench.refuses("embed iris -m tsne -o m.csv --snapshots 1 --json r.json", 2, "is not a number of snapshots");
    bench.refuses(
        "embed iris -m isomap -o m.csv --snapshots new",
        2,
        "isomap is not an iterative optimization; leave out --snapshots",
    );
    assert!(!bench.path("new").exists(), "a directory that stays empty is taken away again");
}

#[test]
fn the_path_of_a_homotopy_is_one_table() {
    let bench = Bench::new();
    bench.does("embed iris -m elastic --lambda 0.01:1:4 -d 1 -o map.csv --path path.csv -q");
    let path = bench.read("path.csv");
    assert!(path.starts_with("lambda,point,y1\n"), "{path}");
    let rows = coordinates(&path);
    assert_eq!(rows.len(), 4 * 150);
    assert_eq!((rows[0][0], rows[0][1], rows[151][1]), (0.01, 0.0, 1.0));
    let last: Vec<f64> = rows[450..].iter().map(|row| row[2]).collect();
    let map: Vec<f64> = coordinates(&bench.read("map.csv")).iter().map(|row| row[0]).collect();
    assert_eq!(last, map);
    bench.refuses("embed iris -m elastic --lambda 1 -o m.csv --path p.csv", 2, "--lambda FROM:TO:COUNT");
    bench.refuses("embed iris -m pca -o m.csv --path p.csv", 2, "--path writes the embeddings along a path of lambda");
}

#[test]
fn elastic_writes_what_it_learned_and_leads_back_by_its_own_objective() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 400 -q -o roll.csv");
    bench.does("embed roll.csv -m elastic -k 10 -o map.csv --weights learned.csv --save map.model -q");
    let learned = coordinates(&bench.read("learned.csv"));
    assert!(learned.iter().any(|row| row[3] > 0.0) && learned.iter().any(|row| row[3] < 0.0));
    let answer = bench.does("reconstruct map.model map.csv --by energy -o back.csv --json back.json");
    assert!(answer.err.contains("the objective with one more point"), "{}", answer.err);
    assert!(bench.json("back.json")["error"].as_f64().unwrap() < 0.3);
    bench.does("embed roll.csv -m isomap -k 10 -o map.csv --save map.model -q");
    bench.refuses("reconstruct map.model map.csv --by energy -o b.csv", 2, "leave out --by");
}

#[test]
fn non_metric_stress_reports_its_disparities() {
    let bench = Bench::new();
    bench.does("embed iris -m smacof --variant nonmetric -o map.csv --json map.json --save map.model");
    let report = bench.json("map.json");
    assert!(report["objective"].as_f64().unwrap() < 0.05 && !report["disparities"].as_array().unwrap().is_empty());
    bench.does("transform map.model iris -o again.csv -q");
    bench.refuses(
        "embed iris -m smacof --variant nonmetric --weight inverse -o m.csv",
        2,
        "--weight is for --variant metric",
    );
    bench.refuses("embed iris -m smacof --landmarks 2 -d 3 -o m.csv", 2, "landmarks");
}

//! The score of a map: what is said, what is written, what is refused.

use crate::Bench;

/// Iris and its map by PCA.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.does("embed iris -m pca -q -o map.csv");
    bench
}

#[test]
fn the_score_of_iris_on_its_principal_components_is_the_reference() {
    let bench = bench();
    let answer = bench.does("score iris map.csv --lengths raw --json score.json");
    // From GPy and scikit-learn (crates/core/src/score/tests.rs).
    assert!(answer.err.starts_with("score: 198.794 (1.3253 per point), exact\n"), "{}", answer.err);
    assert!(answer.err.contains("  starts       ") && answer.err.contains("in its own units"), "{}", answer.err);
    let report = bench.json("score.json");
    let gplvm = &report["gplvm"];
    assert!((gplvm["score"].as_f64().unwrap() - 198.794_361_84).abs() < 1e-6, "{report}");
    assert!((gplvm["parameters"]["length"].as_f64().unwrap() - 4.226).abs() < 0.01, "{report}");
    assert_eq!(gplvm["starts"].as_array().unwrap().len(), 7);
    assert_eq!(
        (&gplvm["exact"], &gplvm["lengths"], &gplvm["noise_floor"]),
        (&true.into(), &"raw".into(), &false.into())
    );
    assert!(gplvm["inducing"].is_null() && report["seconds"]["score"].is_number());
    assert_eq!((&report["n"], &report["features"], &report["dims"]), (&150.into(), &4.into(), &2.into()));
}

#[test]
fn one_start_a_bound_and_the_input_by_a_pipe() {
    let bench = bench();
    let ard = bench.does("score iris map.csv --json ard.json");
    assert!(ard.err.contains("2 dimensions, a length for each"), "{}", ard.err);
    let ard = bench.json("ard.json");
    assert_eq!((&ard["gplvm"]["lengths"], ard["gplvm"]["starts"].as_array().unwrap().len()), (&"ard".into(), 2));
    assert_eq!(ard["gplvm"]["parameters"]["length"].as_array().unwrap().len(), 2);
    assert!(ard["gplvm"]["score"].as_f64().unwrap() > 198.79, "{ard}");
    bench.does("score iris map.csv --lengths unit --starts one -q --json one.json");
    let one = bench.json("one.json");
    assert_eq!(one["gplvm"]["starts"].as_array().unwrap().len(), 1);
    assert_eq!(one["gplvm"]["lengths"], "unit");
    let answer = bench.does("score iris map.csv --lengths unit --starts one --inducing 150 --json bound.json");
    assert!(answer.err.contains("a lower bound by 150 inducing points, as asked"), "{}", answer.err);
    let bound = bench.json("bound.json");
    assert_eq!((&bound["gplvm"]["exact"], &bound["gplvm"]["inducing"]), (&false.into(), &150.into()));
    let [exact, bound] = [&one, &bound].map(|report| report["gplvm"]["score"].as_f64().unwrap());
    assert!((exact - bound).abs() < 1e-4 * exact.abs(), "all points as inducing points: {exact}, {bound}");
    let map = bench.read("map.csv");
    let piped =
        bench.run_with_input("score iris - --lengths unit --starts one -q --json - --threads 1", map.as_bytes());
    let piped: serde_json::Value = serde_json::from_str(&piped.out).unwrap();
    assert_eq!(piped["gplvm"]["score"], one["gplvm"]["score"], "the same for one thread and two");
}

#[test]
fn columns_of_the_input_are_chosen_and_constant_ones_reported() {
    let bench = bench();
    bench.does("sample iris -q -o iris.csv");
    let rows = bench.read("iris.csv");
    let padded: String =
        rows.lines().enumerate().map(|(i, l)| format!("{l},{}\n", if i == 0 { "one" } else { "1" })).collect();
    bench.write("padded.csv", padded);
    let answer = bench.does("score padded.csv --label label map.csv --starts one");
    assert!(answer.err.contains("warning: 1 feature is the same for all points and was left out"), "{}", answer.err);
    let plain = bench.does("score iris map.csv --starts one");
    assert_eq!(answer.err.lines().next(), plain.err.lines().next());
    let ignored = bench.does("score padded.csv --ignore label --ignore one map.csv --starts one");
    assert_eq!(ignored.err, plain.err);
}

#[test]
fn a_map_that_explains_everything_is_told_so() {
    let bench = Bench::new();
    bench.write("line.csv", (0..40).map(|i| format!("{},{}\n", i, 2 * i)).collect::<String>());
    bench.write("map.csv", (0..40).map(|i| format!("{i}\n")).collect::<String>());
    let answer = bench.does("score line.csv map.csv --json score.json");
    assert!(answer.err.contains("the noise is at its floor"), "{}", answer.err);
    assert_eq!(bench.json("score.json")["gplvm"]["noise_floor"], true);
}

#[test]
fn what_cannot_be_scored_is_one_line() {
    let bench = bench();
    bench.write("short.csv", "y1,y2\n1,2\n3,4\n").write("flat.csv", "1,1\n1,1\n");
    let refuses = |line: &str, fact: &str| bench.refuses(line, 2, fact);
    refuses("score iris short.csv", "the data have 150 rows and the map has 2");
    refuses("score flat.csv short.csv", "no feature of the data varies");
    refuses("score iris nowhere.csv", "nowhere.csv: there is no such file");
    refuses("score iris", "EMBEDDING");
    refuses("score - -", "standard input is asked for twice");
    refuses("score iris map.csv --inducing 0", "0 inducing points");
    refuses("score iris map.csv --inducing 151", "more than the 150 points");
    refuses("score iris map.csv --inducing -3", "-3");
    refuses("score iris map.csv --starts two", "two");
    refuses("score iris map.csv --json no/s.json", "there is no directory no");
    refuses("score iris map.csv --json map.csv", "would replace the input");
}

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
    assert!(answer.err.starts_with("score: a map of 150 points of 4 features in 2 dimensions\n"), "{}", answer.err);
    assert!(answer.err.contains("198.794 (1.3253 per point), exact\n"), "{}", answer.err);
    assert!(answer.err.contains("    starts  ") && answer.err.contains("in its own units"), "{}", answer.err);
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
    assert!(ard.err.contains("a length for each coordinate"), "{}", ard.err);
    let ard = bench.json("ard.json");
    assert_eq!((&ard["gplvm"]["lengths"], ard["gplvm"]["starts"].as_array().unwrap().len()), (&"ard".into(), 2));
    assert_eq!(ard["gplvm"]["parameters"]["length"].as_array().unwrap().len(), 2);
    assert!(ard["gplvm"]["score"].as_f64().unwrap() > 198.79, "{ard}");
    bench.does("score iris map.csv --rows 10 --lengths unit --starts one -q --json one.json");
    let one = bench.json("one.json");
    assert_eq!(one["gplvm"]["starts"].as_array().unwrap().len(), 1);
    assert_eq!(one["gplvm"]["lengths"], "unit");
    let answer =
        bench.does("score iris map.csv --rows 10 --lengths unit --starts one --inducing 150 --json bound.json");
    assert!(answer.err.contains("a lower bound by 150 inducing points, as asked"), "{}", answer.err);
    let bound = bench.json("bound.json");
    assert_eq!((&bound["gplvm"]["exact"], &bound["gplvm"]["inducing"]), (&false.into(), &150.into()));
    let [exact, bound] = [&one, &bound].map(|report| report["gplvm"]["score"].as_f64().unwrap());
    assert!((exact - bound).abs() < 1e-4 * exact.abs(), "all points as inducing points: {exact}, {bound}");
    let map = bench.read("map.csv");
    let piped = bench
        .run_with_input("score iris - --rows 10 --lengths unit --starts one -q --json - --threads 1", map.as_bytes());
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
    let answer = bench.does("score padded.csv --label label map.csv --rows 40 --starts one");
    assert!(answer.err.contains("warning: 1 feature is the same for all points and was left out"), "{}", answer.err);
    let plain = bench.does("score iris map.csv --rows 40 --starts one");
    let likelihood = |said: &str| said.lines().find(|line| line.contains("log likelihood")).map(str::to_string);
    assert!(likelihood(&answer.err).is_some() && likelihood(&answer.err) == likelihood(&plain.err));
    let ignored = bench.does("score padded.csv --ignore label --ignore one map.csv --rows 40 --starts one");
    let unlabeled = |said: &str| -> Vec<String> {
        let ours = |line: &&str| !["labels", "hit", "k-NN", "silhouette"].iter().any(|word| line.contains(word));
        said.lines().filter(ours).map(str::to_string).collect()
    };
    assert_eq!(unlabeled(&ignored.err), unlabeled(&plain.err), "iris has its own labels");
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
    refuses("score iris map.csv -k 150", "use -k 149 or less");
    refuses("score iris map.csv -k 0", "-k is 0");
    refuses("score iris map.csv --rows 1", "--rows is 1");
    refuses("score iris map.csv --truth short.csv", "the true coordinates have 2");
    refuses("score iris map.csv --pointwise-by beauty", "this is no measure; use one of trustworthiness, continuity");
    refuses("score iris map.csv --rows 10 --plot-pointwise p.png --pointwise-by disparity", "give --truth");
    refuses("score iris map.csv --plot-pointwise p.gif", "use .png, .svg or .pdf");
    refuses("score iris map.csv --pointwise map.csv", "would replace the input");
    refuses("score iris map.csv --pointwise x.csv --plot-pointwise x.csv", "use .png, .svg or .pdf");
    refuses("score iris map.csv --rows 10 --inducing 0", "0 inducing points");
    refuses("score iris map.csv --rows 10 --inducing 151", "more than the 150 points");
    refuses("score iris map.csv --inducing -3", "-3");
    refuses("score iris map.csv --starts two", "two");
    refuses("score iris map.csv --json no/s.json", "there is no directory no");
    refuses("score iris map.csv --json map.csv", "would replace the input");
}

#[test]
fn every_measure_is_said_written_and_drawn() {
    let bench = bench();
    let answer = bench.does(
        "score iris map.csv --truth map.csv -k 7 --gplvm no --json all.json --pointwise each.csv --plot-pointwise torn.svg \
         --pointwise-by continuity",
    );
    for line in [
        "  neighborhoods, 7 neighbors",
        "    trustworthiness ",
        "    neighbors kept at all sizes ",
        "  distances",
        "  labels, 7 neighbors",
        "  way back",
        "  truth",
    ] {
        assert!(answer.err.contains(line), "{line}: {}", answer.err);
    }
    assert!(!answer.err.contains("likelihood") && !answer.err.contains('±'), "{}", answer.err);
    let report = bench.json("all.json");
    assert!(report["gplvm"].is_null());
    assert_eq!((&report["trustworthiness"]["k"], &report["rows"]["asked"]), (&7.into(), &150.into()));
    assert!(report["disparity"]["value"].as_f64().unwrap() < 1e-12 && report["stress"]["error"].is_null());
    assert_eq!(report["rnx"]["k"].as_array().unwrap().len(), report["rnx"]["value"].as_array().unwrap().len());
    let table = bench.read("each.csv");
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    assert_eq!((header.len(), header[0], table.lines().count()), (15, "trustworthiness", 151));
    let at = header.iter().position(|name| *name == "silhouette").unwrap();
    let silhouettes = table.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse::<f64>().unwrap());
    let mean = silhouettes.sum::<f64>() / 150.0;
    assert!((mean - report["silhouette"]["value"].as_f64().unwrap()).abs() < 1e-12, "{mean}");
    assert!(bench.read("torn.svg").contains("continuity of a map of iris"));
}

#[test]
fn some_rows_are_asked_and_said_to_be() {
    let bench = bench();
    bench.does("score iris map.csv --gplvm no -q --json all.json");
    let answer = bench.does("score iris map.csv --gplvm no --rows 60 --json some.json --pointwise each.csv --seed 4");
    assert!(answer.err.contains("asked 60 of 150 rows") && answer.err.contains('±'), "{}", answer.err);
    let (all, some) = (bench.json("all.json"), bench.json("some.json"));
    let value = |report: &serde_json::Value, what: &str| report["trustworthiness"][what].as_f64();
    let error = value(&some, "error").unwrap();
    assert!((value(&all, "value").unwrap() - value(&some, "value").unwrap()).abs() < 5.0 * error);
    let empty = bench.read("each.csv").lines().skip(1).filter(|line| line.starts_with(',')).count();
    assert_eq!(empty, 90);
    // Distances have no way back and no likelihood.
    bench.write("d.csv", "0,1,2\n1,0,1.5\n2,1.5,0\n").write("m.csv", "0\n1\n2\n");
    bench.does("score d.csv m.csv --input-kind distances -q --json d.json");
    let report = bench.json("d.json");
    assert!(report["gplvm"].is_null() && report["reconstruction_error"].is_null() && report["features"].is_null());
    // Ranks 1, 3, 2 and 1.5, 3, 1.5.
    assert!((report["spearman"]["value"].as_f64().unwrap() - 0.75f64.sqrt()).abs() < 1e-12, "{report}");
    bench.refuses("score d.csv m.csv --input-kind distances --gplvm yes", 2, "leave out --gplvm");
}

#[test]
fn labels_come_from_a_file_and_numbers_are_no_classes() {
    let bench = bench();
    bench.write("kinds.csv", (0..150).map(|i| format!("{}\n", ["a", "b", "c"][i / 50])).collect::<String>());
    bench.write("sizes.csv", (0..150).map(|i| format!("{}\n", 0.5 + i as f64)).collect::<String>());
    bench.does("score iris map.csv --rows 40 --gplvm no -q --json own.json");
    bench.does("sample iris -q -o iris.csv");
    bench.does("score iris.csv --ignore label map.csv --rows 40 --labels kinds.csv --gplvm no -q --json kinds.json");
    let hit = |name: &str| bench.json(name)["neighborhood_hit"]["value"].as_f64().unwrap();
    assert_eq!(hit("own.json"), hit("kinds.json"));
    let answer =
        bench.does("score iris.csv --ignore label map.csv --rows 40 --labels sizes.csv --gplvm no --json sizes.json");
    assert!(answer.err.contains("the labels are numbers and no classes"), "{}", answer.err);
    assert!(bench.json("sizes.json")["silhouette"].is_null());
}

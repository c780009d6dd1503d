//! Quality measures of an embedding: what is printed, written and refused.

use crate::Bench;

/// Iris and its map by PCA.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.does("embed iris -m pca -q -o map.csv");
    bench
}

#[test]
fn the_likelihood_of_iris_on_its_principal_components_is_the_reference() {
    let bench = bench();
    let answer = bench.does("quality iris map.csv --lengths raw --json quality.json");
    // From GPy and scikit-learn (crates/core/src/score/tests.rs).
    assert!(
        answer.err.starts_with("quality: an embedding of 150 points of 4 features in 2 dimensions\n"),
        "{}",
        answer.err
    );
    assert!(answer.err.contains("198.794 (1.3253 per point), exact\n"), "{}", answer.err);
    assert!(answer.err.contains("    starts  ") && answer.err.contains("in its own units"), "{}", answer.err);
    let report = bench.json("quality.json");
    let likelihood = &report["gp_likelihood"];
    assert!((likelihood["value"].as_f64().unwrap() - 198.794_361_84).abs() < 1e-6, "{report}");
    assert!((likelihood["parameters"]["length"].as_f64().unwrap() - 4.226).abs() < 0.01, "{report}");
    assert_eq!(likelihood["starts"].as_array().unwrap().len(), 7);
    assert_eq!(
        (&likelihood["exact"], &likelihood["lengths"], &likelihood["noise_floor"]),
        (&true.into(), &"raw".into(), &false.into())
    );
    assert!(likelihood["inducing"].is_null() && report["seconds"]["gp_likelihood"].is_number());
    assert_eq!((&report["n"], &report["features"], &report["dims"]), (&150.into(), &4.into(), &2.into()));
}

#[test]
fn one_start_a_bound_and_the_input_by_a_pipe() {
    let bench = bench();
    let ard = bench.does("quality iris map.csv --json ard.json");
    assert!(ard.err.contains("one length per coordinate"), "{}", ard.err);
    let ard = bench.json("ard.json");
    assert_eq!(
        (&ard["gp_likelihood"]["lengths"], ard["gp_likelihood"]["starts"].as_array().unwrap().len()),
        (&"ard".into(), 2)
    );
    assert_eq!(ard["gp_likelihood"]["parameters"]["length"].as_array().unwrap().len(), 2);
    assert!(ard["gp_likelihood"]["value"].as_f64().unwrap() > 198.79, "{ard}");
    bench.does("quality iris map.csv --rows 10 --lengths unit --starts one -q --json one.json");
    let one = bench.json("one.json");
    assert_eq!(one["gp_likelihood"]["starts"].as_array().unwrap().len(), 1);
    assert_eq!(one["gp_likelihood"]["lengths"], "unit");
    let answer =
        bench.does("quality iris map.csv --rows 10 --lengths unit --starts one --inducing 150 --json bound.json");
    assert!(answer.err.contains("a lower bound by 150 inducing points, as requested"), "{}", answer.err);
    let bound = bench.json("bound.json");
    assert_eq!((&bound["gp_likelihood"]["exact"], &bound["gp_likelihood"]["inducing"]), (&false.into(), &150.into()));
    let [exact, bound] = [&one, &bound].map(|report| report["gp_likelihood"]["value"].as_f64().unwrap());
    assert!((exact - bound).abs() < 1e-4 * exact.abs(), "all points as inducing points: {exact}, {bound}");
    let map = bench.read("map.csv");
    let piped = bench
        .run_with_input("quality iris - --rows 10 --lengths unit --starts one -q --json - --threads 1", map.as_bytes());
    let piped: serde_json::Value = serde_json::from_str(&piped.out).unwrap();
    assert_eq!(piped["gp_likelihood"]["value"], one["gp_likelihood"]["value"], "the same for one thread and two");
}

#[test]
fn columns_of_the_input_are_chosen_and_constant_ones_reported() {
    let bench = bench();
    bench.does("sample iris -q -o iris.csv");
    let rows = bench.read("iris.csv");
    let padded: String =
        rows.lines().enumerate().map(|(i, l)| format!("{l},{}\n", if i == 0 { "one" } else { "1" })).collect();
    bench.write("padded.csv", padded);
    let answer = bench.does("quality padded.csv --label label map.csv --rows 40 --starts one");
    assert!(answer.err.contains("warning: 1 feature is the same for all points and was left out"), "{}", answer.err);
    let plain = bench.does("quality iris map.csv --rows 40 --starts one");
    let likelihood = |said: &str| said.lines().find(|line| line.contains("log likelihood")).map(str::to_string);
    assert!(likelihood(&answer.err).is_some() && likelihood(&answer.err) == likelihood(&plain.err));
    let ignored = bench.does("quality padded.csv --ignore label --ignore one map.csv --rows 40 --starts one");
    let unlabeled = |said: &str| -> Vec<String> {
        let ours = |line: &&str| !["labels", "hit", "k-NN", "silhouette"].iter().any(|word| line.contains(word));
        said.lines().filter(ours).map(str::to_string).collect()
    };
    assert_eq!(unlabeled(&ignored.err), unlabeled(&plain.err), "iris has its own labels");
}

#[test]
fn a_map_that_explains_everything_is_reported() {
    let bench = Bench::new();
    bench.write("line.csv", (0..40).map(|i| format!("{},{}\n", i, 2 * i)).collect::<String>());
    bench.write("map.csv", (0..40).map(|i| format!("{i}\n")).collect::<String>());
    let answer = bench.does("quality line.csv map.csv --json quality.json");
    assert!(answer.err.contains("the noise is at its floor"), "{}", answer.err);
    assert_eq!(bench.json("quality.json")["gp_likelihood"]["noise_floor"], true);
}

#[test]
fn what_cannot_be_measured_is_one_line() {
    let bench = bench();
    bench.write("short.csv", "y1,y2\n1,2\n3,4\n").write("flat.csv", "1,1\n1,1\n");
    let refuses = |line: &str, fact: &str| bench.refuses(line, 2, fact);
    refuses("quality iris short.csv", "the data have 150 rows and the map has 2");
    refuses("quality flat.csv short.csv", "no feature of the data varies");
    refuses("quality iris nowhere.csv", "nowhere.csv: there is no such file");
    refuses("quality iris", "EMBEDDING");
    refuses("quality - -", "standard input is named twice");
    refuses("quality iris map.csv -k 150", "use -k 149 or less");
    refuses("quality iris map.csv -k 0", "-k is 0");
    refuses("quality iris map.csv --rows 1", "--rows is 1");
    refuses("quality iris map.csv --truth short.csv", "the true coordinates have 2");
    refuses(
        "quality iris map.csv --pointwise-by beauty",
        "this is not a measure; use one of trustworthiness, continuity",
    );
    refuses("quality iris map.csv --rows 10 --plot-pointwise p.png --pointwise-by disparity", "give --truth");
    refuses("quality iris map.csv --plot-shepard p.gif", "use .png, .svg or .pdf");
    refuses("quality iris map.csv --plot-pointwise p.gif", "use .png, .svg or .pdf");
    refuses("quality iris map.csv --pointwise map.csv", "would replace the input");
    refuses("quality iris map.csv --pointwise x.csv --plot-pointwise x.csv", "use .png, .svg or .pdf");
    refuses("quality iris map.csv --rows 10 --inducing 0", "0 inducing points");
    refuses("quality iris map.csv --rows 10 --inducing 151", "more than the 150 points");
    refuses("quality iris map.csv --inducing -3", "-3");
    refuses("quality iris map.csv --starts two", "two");
    refuses("quality iris map.csv --json no/s.json", "there is no directory no");
    refuses("quality iris map.csv --json map.csv", "would replace the input");
}

#[test]
fn every_measure_is_said_written_and_drawn() {
    let bench = bench();
    let answer = bench.does(
        "quality iris map.csv --truth map.csv -k 7 --gp-likelihood no --json all.json --pointwise each.csv --plot-pointwise torn.svg --plot-shepard pairs.svg \
         --pointwise-by continuity",
    );
    for line in [
        "  neighborhoods, 7 neighbors",
        "    trustworthiness ",
        "    neighbors kept at all sizes ",
        "  distances",
        "  labels, 7 neighbors",
        "  inverse transform",
        "  truth",
    ] {
        assert!(answer.err.contains(line), "{line}: {}", answer.err);
    }
    assert!(!answer.err.contains("likelihood") && !answer.err.contains('±'), "{}", answer.err);
    let report = bench.json("all.json");
    assert!(report["gp_likelihood"].is_null());
    assert_eq!((&report["trustworthiness"]["k"], &report["rows"]["sampled"]), (&7.into(), &150.into()));
    assert!(report["disparity"]["value"].as_f64().unwrap() < 1e-12 && report["stress"]["error"].is_null());
    assert_eq!(report["rnx"]["k"].as_array().unwrap().len(), report["rnx"]["value"].as_array().unwrap().len());
    let table = bench.read("each.csv");
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    assert_eq!((header.len(), header[0], table.lines().count()), (15, "trustworthiness", 151));
    let at = header.iter().position(|name| *name == "silhouette").unwrap();
    let silhouettes = table.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse::<f64>().unwrap());
    let mean = silhouettes.sum::<f64>() / 150.0;
    assert!((mean - report["silhouette"]["value"].as_f64().unwrap()).abs() < 1e-12, "{mean}");
    assert!(bench.read("torn.svg").contains("Iris: continuity of each point"));
    let pairs = bench.read("pairs.svg");
    assert!(pairs.contains("Iris: Shepard diagram") && pairs.contains(">distance in the embedding<"), "{pairs}");
}

#[test]
fn some_rows_are_sampled_and_reported() {
    let bench = bench();
    bench.does("quality iris map.csv --gp-likelihood no -q --json all.json");
    let answer =
        bench.does("quality iris map.csv --gp-likelihood no --rows 60 --json some.json --pointwise each.csv --seed 4");
    assert!(answer.err.contains("sample of 60 of 150 rows") && answer.err.contains('±'), "{}", answer.err);
    let (all, some) = (bench.json("all.json"), bench.json("some.json"));
    let value = |report: &serde_json::Value, what: &str| report["trustworthiness"][what].as_f64();
    let error = value(&some, "error").unwrap();
    assert!((value(&all, "value").unwrap() - value(&some, "value").unwrap()).abs() < 5.0 * error);
    let empty = bench.read("each.csv").lines().skip(1).filter(|line| line.starts_with(',')).count();
    assert_eq!(empty, 90);
    // Distances have no inverse transform and no likelihood.
    bench.write("d.csv", "0,1,2\n1,0,1.5\n2,1.5,0\n").write("m.csv", "0\n1\n2\n");
    bench.does("quality d.csv m.csv --input-kind distances -q --json d.json");
    let report = bench.json("d.json");
    assert!(
        report["gp_likelihood"].is_null() && report["reconstruction_error"].is_null() && report["features"].is_null()
    );
    // Ranks 1, 3, 2 and 1.5, 3, 1.5.
    assert!((report["spearman"]["value"].as_f64().unwrap() - 0.75f64.sqrt()).abs() < 1e-12, "{report}");
    bench.refuses("quality d.csv m.csv --input-kind distances --gp-likelihood yes", 2, "leave out --gp-likelihood");
}

#[test]
fn labels_come_from_a_file_and_numbers_are_no_classes() {
    let bench = bench();
    bench.write("kinds.csv", (0..150).map(|i| format!("{}\n", ["a", "b", "c"][i / 50])).collect::<String>());
    bench.write("sizes.csv", (0..150).map(|i| format!("{}\n", 0.5 + i as f64)).collect::<String>());
    bench.does("quality iris map.csv --rows 40 --gp-likelihood no -q --json own.json");
    bench.does("sample iris -q -o iris.csv");
    bench.does(
        "quality iris.csv --ignore label map.csv --rows 40 --labels kinds.csv --gp-likelihood no -q --json kinds.json",
    );
    let hit = |name: &str| bench.json(name)["neighborhood_hit"]["value"].as_f64().unwrap();
    assert_eq!(hit("own.json"), hit("kinds.json"));
    let answer = bench.does(
        "quality iris.csv --ignore label map.csv --rows 40 --labels sizes.csv --gp-likelihood no --json sizes.json",
    );
    assert!(answer.err.contains("the labels are numbers, not classes"), "{}", answer.err);
    assert!(bench.json("sizes.json")["silhouette"].is_null());
}

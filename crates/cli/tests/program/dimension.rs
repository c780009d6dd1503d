//! `dimension`: what is said, written and refused; and `-d auto`.

use crate::{Bench, is_png};

#[test]
fn the_dimension_of_a_roll_is_printed_written_and_drawn() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 600 --seed 1 --with-label -q -o roll.csv");
    let line = "dimension roll.csv --label label --json d.json --plot d.png --pointwise each.csv";
    let answer = bench.does(line);
    assert!(answer.err.starts_with("dimension: 2 coordinates for 600 points of 3 features\n"), "{}", answer.err);
    for part in
        ["  because  ", "  caveat  ", "2NN, unbiased", "(ESS)", "by scale k   1: ", "  sampling  ", "linear only"]
    {
        assert!(answer.err.contains(part), "{part}: {}", answer.err);
    }
    let report = bench.json("d.json");
    assert_eq!((&report["recommended"], &report["n"], &report["distinct"]), (&2.into(), &600.into(), &600.into()));
    for name in ["two_nn", "two_nn_mean", "two_nn_mle", "ess", "levina_bickel", "correlation", "svd", "isomap"] {
        assert!(report["estimates"][name]["value"].as_f64().is_some_and(|v| v > 1.0 && v < 4.0), "{name}: {report}");
    }
    let two = &report["estimates"]["two_nn"];
    let [low, value, high] = ["low", "value", "high"].map(|end| two[end].as_f64().unwrap());
    assert!(low < value && value < high, "{two}");
    assert_eq!(report["scales"].as_array().unwrap().len(), 7);
    assert!(report["left_out"]["mvu"].is_string() && report["reason"].is_string() && report["caveat"].is_string());
    assert!(is_png(&bench.path("d.png")));
    let each = bench.read("each.csv");
    assert_eq!((each.lines().next(), each.lines().count()), (Some("dimension"), 601));
}

#[test]
fn flags_are_heard_and_threads_do_not_matter() {
    let bench = Bench::new();
    let of = |line: &str| {
        let mut report: serde_json::Value = serde_json::from_str(&bench.does(line).out).unwrap();
        report.as_object_mut().unwrap().remove("seconds");
        report
    };
    let one = of("dimension iris --quick -q --json - --threads 1");
    assert_eq!(one, of("dimension iris --quick -q --json - --threads 2"));
    assert_eq!((&one["distinct"], &one["neighbors"]), (&149.into(), &20.into()));
    assert!(one.get("svd").is_none() && one["estimates"].get("svd").is_none());
    assert!(one["warnings"][0].as_str().unwrap().contains("each counts once"), "{one}");
    let wide = of("dimension iris --quick -q --json - -k 30");
    assert_eq!(wide["neighbors"], 30);
    assert_ne!(wide["estimates"]["levina_bickel"], one["estimates"]["levina_bickel"]);
    assert_eq!(wide["estimates"]["two_nn"], one["estimates"]["two_nn"]);
}

#[test]
fn what_has_no_dimension_is_refused() {
    let bench = Bench::new();
    bench.write("same.csv", "1,2\n".repeat(5));
    bench.write("two.csv", "1,2\n1,2\n3,4\n");
    bench.refuses("dimension same.csv --json d.json", 2, "all 5 points coincide");
    bench.refuses("dimension two.csv", 2, "2 distinct positions");
    bench.refuses("dimension iris -k 2", 2, "use -k 3 or more");
    bench.refuses("dimension iris -k 200", 2, "use -k 148 or less");
    bench.refuses("dimension iris --plot d.gif", 2, "use .png, .svg or .pdf");
    bench.refuses("dimension iris --json x.json --pointwise x.json", 2, "x.json");
    bench.write("lattice.csv", (0..400).map(|i| format!("{},{}\n", i / 20, i % 20)).collect::<String>());
    let answer = bench.does("dimension lattice.csv --pointwise each.npy");
    assert!(answer.err.contains("  sampling     infinite, flagged"), "{}", answer.err);
    assert!(
        answer.err.contains("none   the two nearest neighbors of every point are at one distance"),
        "{}",
        answer.err
    );
}

#[test]
fn as_many_coordinates_as_the_points_have() {
    let bench = Bench::new();
    bench.does("sample helix -n 400 --seed 2 -q -o helix.npy");
    let answer = bench.does("embed helix.npy -m isomap -d auto -o map.csv --json report.json");
    assert!(answer.err.starts_with("isomap: 400 points of 3 features in 1 dimension\n"), "{}", answer.err);
    assert!(answer.err.contains("  dimension    1 coordinate: 2NN says "), "{}", answer.err);
    assert_eq!(bench.read("map.csv").lines().next(), Some("y1"));
    let report = bench.json("report.json");
    assert_eq!((&report["dims"], &report["dimension"]["chosen"]), (&1.into(), &1.into()));
    assert!(report["dimension"]["recommended"]["caveat"].is_string());
    let lowered = bench.does("embed digits -m ltsa -k 8 -d auto -o map.csv");
    assert!(
        lowered.err.contains("  dimension    7 coordinates: ") && lowered.err.contains("; the points have "),
        "{}",
        lowered.err
    );
    bench.write("d.csv", "0,1,2\n1,0,1\n2,1,0\n");
    bench.refuses("embed d.csv --input-kind distances -m mds -d auto -o m.csv", 2, "-d auto needs points");
    bench.refuses("embed iris -d few -o m.csv", 2, "use 1 or more, or auto");
}

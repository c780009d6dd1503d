//! Maximum variance unfolding: what is said of it, and what is refused.

use crate::{Bench, coordinates};

#[test]
fn the_certificate_is_reported_in_text_and_in_json() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 300 --seed 1 -q -o roll.csv");
    let answer = bench.does("embed roll.csv -m mvu -k 6 -o map.csv --json report.json --weights pairs.csv");
    let line = answer.err.lines().find(|line| line.starts_with("  certificate  ")).unwrap();
    assert!(line.contains("the largest variance is between ") && line.contains("rank "), "{line}");
    let report = bench.json("report.json");
    let figure = |key: &str| report["certificate"][key].as_f64().unwrap();
    assert!(figure("primal") <= figure("dual") && figure("gap") <= 1e-4 && figure("violation") == 0.0);
    assert_eq!(report["certificate"]["confirmed"].as_bool(), Some(true));
    // The weights written are those of the bound: Σ d² W is the dual, with λ = 1.
    let pairs = coordinates(&bench.read("pairs.csv"));
    assert_eq!(pairs.len() as f64, figure("pairs"));
    assert!(pairs.iter().all(|row| row[0] < row[1] && row[3] >= 0.0));
    let dual: f64 = pairs.iter().map(|row| row[2] * row[2] * row[3]).sum();
    assert!((dual / figure("dual") - 1.0).abs() < 1e-5, "{dual}");
    // The map has no more than the whole unfolding.
    let y = coordinates(&bench.read("map.csv"));
    let variance: f64 = y.iter().flatten().map(|y| y * y).sum();
    assert!(variance <= figure("primal") * (1.0 + 1e-9));
}

#[test]
fn a_stop_at_a_loose_gap_and_too_few_steps_is_said() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 300 --seed 1 -q -o roll.csv");
    let answer = bench.does("embed roll.csv -m mvu -k 6 --max-iterations 8 -o map.csv --json report.json");
    assert!(answer.err.contains("raise --max-iterations"), "{}", answer.err);
    let report = bench.json("report.json");
    assert_eq!(report["converged"].as_bool(), Some(false));
    assert!(report["certificate"]["gap"].as_f64().unwrap() > 1e-4);
}

#[test]
fn what_cannot_be_unfolded_is_refused() {
    let bench = Bench::new();
    bench.refuses("embed iris -m mvu --constraints faces -o m.csv", 2, "give edges or angles");
    bench.refuses("embed iris -m mvu --variant loose -o m.csv", 2, "give inequality or equality");
    bench.refuses("embed iris -m mvu --band 0.1 -o m.csv", 2, "--band is for --variant equality");
    bench.refuses("embed iris -m mvu --variant equality --landmarks 50 -o m.csv", 2, "use --variant inequality");
    bench.refuses("embed iris -m le --kernel dual --bandwidth 1 -o m.csv", 2, "--bandwidth is for --kernel heat");
    bench.write("graph.csv", "0,1,1\n1,2,1\n2,3,1\n");
    bench.refuses("embed graph.csv --input-kind graph -m mvu --constraints angles -o m.csv", 2, "--constraints edges");
    bench.does("embed graph.csv --input-kind graph -m mvu -q -o m.csv");
}

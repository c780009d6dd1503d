//! `--rescale`: the lengths of a map put right, and what is said of it.

use crate::{Bench, coordinates};

#[test]
fn a_rescaled_map_says_how_much_of_the_largest_variance_it_has() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 200 --seed 1 -q -o roll.csv");
    let answer = bench.does("embed roll.csv -m ltsa -k 10 --rescale --json report.json --save map.model -o map.csv");
    let line = answer.err.lines().find(|line| line.starts_with("  rescaled     variance ")).unwrap();
    assert!(line.contains("the largest is between that and ") && line.contains(" % of it; "), "{line}");
    assert!(answer.err.contains("rescale 10"), "{}", answer.err);
    let report = bench.json("report.json");
    let rescale = |key: &str| report["rescale"][key].as_f64().unwrap();
    assert!(rescale("primal") <= rescale("dual") && rescale("primal") <= rescale("bound"));
    assert!((rescale("part") - rescale("primal") / rescale("bound")).abs() < 1e-12);
    let spectrum: Vec<f64> =
        report["rescale"]["spectrum"].as_array().unwrap().iter().flat_map(|v| v.as_f64()).collect();
    assert_eq!((spectrum.len(), report["parameters"]["rescale"]["used"].as_u64()), (10, Some(10)));
    assert!((spectrum.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let y = coordinates(&bench.read("map.csv"));
    let first: f64 = y.iter().map(|row| row[0].powi(2)).sum();
    assert!((first / report["eigenvalues"][0].as_f64().unwrap() - 1.0).abs() < 1e-8);
    bench.does("transform map.model roll.csv -q -o again.csv");
    assert_eq!(bench.read("again.csv"), bench.read("map.csv"));
}

#[test]
fn a_basis_that_loses_most_of_the_variance_is_warned_of() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 600 --seed 1 -q -o roll.npy");
    let answer = bench.does("embed roll.npy -m laplacian-eigenmaps -k 8 --rescale 3 --json report.json");
    assert!(answer.err.contains("warning: the rescaled map may have only "), "{}", answer.err);
    assert!(bench.json("report.json")["rescale"]["part"].as_f64().unwrap() < 0.5);
    let plain = bench.does("embed roll.npy -m laplacian-eigenmaps -k 8 --json report.json");
    assert!(!plain.err.contains("rescale") && bench.json("report.json").get("rescale").is_none());
}

#[test]
fn what_cannot_be_rescaled_is_refused() {
    let bench = Bench::new();
    bench.refuses("embed iris -m pca --rescale -o m.csv", 2, "pca has no neighborhood graph");
    bench.refuses("embed iris -m isomap -d 3 --rescale 2 -o m.csv", 2, "use --rescale 3 or more");
    bench.refuses("embed iris -m isomap --rescale 1000 -o m.csv", 2, "use --rescale 40 or less");
    bench.refuses("embed iris -m isomap --rescale many -o m.csv", 2, "--rescale");
    bench.refuses("embed iris -m isomap --rescale -3 -o m.csv", 2, "--rescale");
}

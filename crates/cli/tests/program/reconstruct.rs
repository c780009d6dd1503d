//! The inverse transform: outputs under the user's own names, and refusals.

use crate::{Bench, coordinates};

/// A named table on a bent sheet, embedded and saved.
fn bench(method: &str) -> Bench {
    let bench = Bench::new();
    let row = |i: usize| {
        let (u, v) = ((i as f64 * 0.754_877_666).fract(), (i as f64 * 0.569_840_291).fract());
        format!("{},{},{}\n", 3.0 * u, 2.0 * v, u * u)
    };
    let rows: String = (1..=50).map(row).collect();
    bench.write("sheet.csv", format!("length,\"width, cm\",bend\n{rows}"));
    bench.does(&format!("embed sheet.csv -m {method} -k 8 -q -o map.csv --save map.model"));
    bench
}

#[test]
fn data_come_back_under_their_own_names_with_deviations_and_a_report() {
    for (method, rule) in [("isomap", "kriging"), ("lle", "kriging"), ("pca", "linear")] {
        let bench = bench(method);
        let answer = bench
            .does("reconstruct map.model map.csv -o back.csv --std std.csv --interval interval.csv --json back.json");
        assert!(
            answer.err.starts_with(&format!("{method}: 50 embedding points reconstructed in 3 features by ")),
            "{}",
            answer.err
        );
        // Kriging of few rows sets its intervals by rows held out; the linear rule has its own.
        let lines = if rule == "kriging" { 3 } else { 1 };
        assert!(answer.err.contains("0.") && answer.err.lines().count() == lines, "{}", answer.err);
        for name in ["back.csv", "std.csv", "interval.csv"] {
            assert!(bench.read(name).starts_with("length,\"width, cm\",bend\n"), "{}", bench.read(name));
        }
        let (data, back) = (coordinates(&bench.read("sheet.csv")), coordinates(&bench.read("back.csv")));
        let std = coordinates(&bench.read("std.csv"));
        assert_eq!((back.len(), std.len()), (50, 50));
        let far = |i: usize, j: usize| (data[i][j] - back[i][j]).abs() > 4.0 * std[i][j];
        let outside = (0..150).filter(|at| far(at / 3, at % 3)).count();
        assert!(outside <= 3, "{method}: {outside} of 150 entries are beyond four deviations");
        let report = bench.json("back.json");
        assert_eq!((&report["method"], &report["rule"]), (&method.into(), &rule.into()));
        assert_eq!((&report["n"], &report["features"], &report["dims"]), (&50.into(), &3.into(), &2.into()));
        assert_eq!(report["held_out"].is_null(), rule == "linear");
        assert!(report["evaluated_on"].as_str().unwrap().starts_with("training rows"));
        assert!(report["error"].as_f64().unwrap() < 0.3 && report["seconds"]["reconstruct"].is_number());
        assert_eq!(report["warnings"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn columns_without_names_are_numbered_and_places_come_through_a_pipe() {
    let bench = Bench::new();
    bench.write("cloud.csv", crate::cloud(40, 3));
    bench.does("embed cloud.csv -m isomap -k 8 -d 1 -q --save map.model -o map.npy");
    let answer = bench.run_with_input("reconstruct map.model - -q", b"0.1\n0.2\n");
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.out.starts_with("x1,x2,x3\n") && answer.out.lines().count() == 3, "{}", answer.out);
    let one = bench.run_with_input("reconstruct map.model - -q --threads 1", b"0.2\n");
    assert_eq!(one.out.lines().nth(1), answer.out.lines().nth(2), "a place alone is what it is among others");
}

#[test]
fn far_places_are_counted_and_numbered() {
    let bench = bench("isomap");
    bench.write("places.csv", "y1,y2\n0,0\n500,0\n0,-900\n");
    let answer = bench.does("reconstruct map.model places.csv -o back.csv --json back.json");
    let warning =
        "  warning: 2 of 3 places are far from all points of the map; their deviations say how little is known";
    assert!(answer.err.contains(warning), "{}", answer.err);
    assert_eq!(bench.json("back.json")["far"], serde_json::json!([2, 3]));
}

#[test]
fn what_cannot_be_done_is_one_line() {
    let bench = bench("isomap");
    bench.write("wide.csv", "1,2,3\n4,5,6\n").write("bad.model", "no model");
    let refuses = |line: &str, fact: &str| bench.refuses(line, 2, fact);
    refuses(
        "reconstruct map.model wide.csv -o b.csv",
        "the embedding points have 3 columns and the map has 2 coordinates",
    );
    refuses("reconstruct nowhere.model map.csv -o b.csv", "nowhere.model: there is no such file");
    refuses("reconstruct bad.model map.csv -o b.csv", "bad.model: is not an eigenfold model");
    refuses("reconstruct map.model nowhere.csv -o b.csv", "nowhere.csv: there is no such file");
    refuses("reconstruct map.model map.csv -o no/b.csv", "there is no directory no");
    refuses("reconstruct map.model map.csv -o b.csv --std no/s.csv", "there is no directory no");
    refuses("reconstruct map.model map.csv -o b.csv --std ./b.csv", "requested by both -o and --std");
    refuses("reconstruct map.model map.csv -o map.model", "would replace the input");
    refuses("reconstruct map.model map.csv -o b.docx", "b.docx");
    let mut damaged = std::fs::read(bench.path("map.model")).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    bench.write("bad.model", damaged);
    refuses("reconstruct bad.model map.csv -o b.csv", "bad.model: is damaged");
    bench.write("distances.csv", "0,1,2\n1,0,1\n2,1,0\n");
    bench.does("embed distances.csv --input-kind distances -m mds -q --save d.model -o dmap.csv");
    refuses("reconstruct d.model dmap.csv -o b.csv", "this mds model was fitted to distances and has no data space");
}

#[test]
fn transform_tells_columns_by_their_names() {
    let bench = bench("isomap");
    bench.write("new.csv", "length,\"width, cm\",bend\n1,1,0.1\n2,1.5,0.2\n");
    bench.does("transform map.model new.csv -q -o new-map.csv");
    bench.write("turned.csv", "bend,note,\"width, cm\",length\n0.1,x,1,1\n0.2,y,1.5,2\n");
    let answer = bench.does("transform map.model turned.csv -o turned-map.csv");
    assert_eq!(bench.read("turned-map.csv"), bench.read("new-map.csv"));
    assert!(answer.err.contains("the columns are in another order than those of the model"), "{}", answer.err);
    assert!(answer.err.contains("column \"note\" was left out: the model does not know it"), "{}", answer.err);
    bench.write("renamed.csv", "length,breadth,bend\n1,1,0.1\n");
    let missing = "renamed.csv: column \"width, cm\" of the model is missing; add it";
    bench.refuses("transform map.model renamed.csv -o out.csv", 2, missing);
    bench.write("plain.csv", "1,1,0.1\n2,1.5,0.2\n");
    let answer = bench.does("transform map.model plain.csv -o plain-map.csv");
    assert!(!answer.err.contains("column"), "{}", answer.err);
    assert_eq!(bench.read("plain-map.csv"), bench.read("new-map.csv"));
}

#[test]
fn rows_are_held_out_and_rows_are_drawn() {
    let bench = bench("isomap");
    let answer =
        bench.does("reconstruct map.model map.csv -o back.csv --std held.csv --held-out rows --json back.json");
    assert!(answer.err.contains("of 50 held-out rows (5 folds)\n"), "{}", answer.err);
    assert!(answer.err.contains("  intervals    calibrated on these rows (68 % x "), "{}", answer.err);
    let held_out = &bench.json("back.json")["held_out"];
    assert_eq!((&held_out["rows"], &held_out["folds"]), (&50.into(), &5.into()));
    assert!(held_out["error"].as_f64().unwrap() < 0.5 && held_out["within_interval"].as_f64().unwrap() > 0.8);
    // The intervals are those of training rows, times the calibration factor, but for their limits.
    bench.does("reconstruct map.model map.csv -q -o back.csv --std seen.csv --held-out none --json seen.json");
    let report = bench.json("seen.json");
    assert!(report["held_out"].is_null());
    assert_eq!(report["intervals"], "calibrated on training rows");
    let factor = held_out["calibration_factor"]["std"].as_f64().unwrap();
    let (held, seen) = (coordinates(&bench.read("held.csv")), coordinates(&bench.read("seen.csv")));
    let calibrated = |at: usize| (held[at / 3][at % 3] / seen[at / 3][at % 3] / factor - 1.0).abs() < 1e-9;
    assert!((0..150).filter(|&at| calibrated(at)).count() > 125, "{factor}");
    let answer = bench.does("reconstruct map.model map.csv -o draws.csv --samples 3 --seed 4 --held-out none");
    assert!(answer.err.contains("samples      150 rows, 3 per embedding point"), "{}", answer.err);
    assert_eq!(coordinates(&bench.read("draws.csv")).len(), 150);
    bench.refuses(
        "reconstruct map.model map.csv -o d.csv --samples 0",
        2,
        "--samples is 0; draw at least one row per embedding point",
    );
    bench.refuses("reconstruct map.model map.csv -o d.csv --held-out columns", 2, "columns");
    bench.refuses("reconstruct map.model map.csv -o d.csv --held-out features", 2, "use --held-out rows or none");
    bench.refuses("transform map.model sheet.csv -o d.csv --held-out features", 2, "use --held-out rows or none");
    bench.refuses("embed sheet.csv -o d.csv --held-out rows", 2, "use --held-out features");
}

#[test]
fn one_of_a_kind_is_not_many_and_a_latent_map_says_why_it_has_no_deviations() {
    let bench = Bench::new();
    bench.write("cloud.csv", crate::cloud(30, 3)).write("one.csv", "0.1,0.2,0.3\n").write("place.csv", "0.1\n");
    let answer = bench.does("embed cloud.csv -m isomap -k 8 -d 1 --save map.model -o map.npy");
    assert!(answer.err.starts_with("isomap: 30 points of 3 features in 1 dimension\n"), "{}", answer.err);
    let answer = bench.does("transform map.model one.csv -o new.csv");
    assert!(answer.err.starts_with("isomap: 1 new point embedded in 1 dimension\n"), "{}", answer.err);
    let answer = bench.does("reconstruct map.model place.csv -o back.csv");
    assert!(answer.err.starts_with("isomap: 1 embedding point reconstructed in 3 features by "), "{}", answer.err);
    let answer = bench.does("quality cloud.csv map.npy --starts one");
    assert!(answer.err.contains(" in 1 dimension\n"), "{}", answer.err);
    bench.does("embed cloud.csv -m gplvm --max-iterations 3 -q --save latent.model -o latent.csv");
    let answer = bench.does("transform latent.model one.csv -o new.csv --std s.csv");
    assert!(answer.err.contains("  uncertainty  standard deviation of the posterior"), "{}", answer.err);
    assert!(coordinates(&bench.read("s.csv"))[0].iter().all(|deviation| (1e-6..10.0).contains(deviation)));
    bench
        .does("embed cloud.csv -m gplvm --back-constraints true --max-iterations 3 -q --save tied.model -o latent.csv");
    let fact =
        "this gplvm map is a function of the data (back-constraints), which embeds a row without any uncertainty; ";
    bench.refuses("transform tied.model one.csv -o new.csv --std s.csv", 2, fact);
}

/// The uncertainty of new rows includes the variability of the embedding, by default where that is cheap.
#[test]
fn the_uncertainty_of_new_rows_includes_the_variability_of_the_embedding() {
    for method in ["isomap", "pca"] {
        let bench = bench(method);
        let answer = bench.does("transform map.model sheet.csv -o placed.csv --std held.csv");
        assert!(answer.err.contains("  uncertainty  calibrated on 50 held-out rows in 5 folds; 0."), "{}", answer.err);
        let held = coordinates(&bench.read("held.csv"));
        assert!(held.iter().flatten().all(|deviation| *deviation > 0.0), "training rows too: {held:?}");
        let alone = "transform map.model sheet.csv -o placed.csv --std alone.csv --held-out none";
        if method == "pca" {
            let fact = "the extension of pca does not depend on nearby rows, which leaves no uncertainty to compute; use --held-out rows";
            bench.refuses(alone, 2, fact);
        } else {
            let answer = bench.does(alone);
            assert!(answer.err.contains("  uncertainty  of the position alone"), "{}", answer.err);
            assert!(coordinates(&bench.read("alone.csv")).iter().flatten().all(|deviation| *deviation == 0.0));
        }
        bench.refuses("transform map.model sheet.csv -o p.csv --held-out rows", 2, "add --std FILE");
    }
    let bench = bench("ppca");
    bench.refuses("transform map.model sheet.csv -o p.csv --std s.csv --held-out rows", 2, "use --posterior");
}

/// A supervised map is chosen and evaluated with its classes, and its model says that it no longer has them.
#[test]
fn a_supervised_map_is_not_one_that_can_be_fitted_again() {
    let bench = Bench::new();
    let umap = "-m umap --supervision 0.5 --max-iterations 20";
    let answer = bench.does(&format!("embed iris {umap} -d 1 -k auto --held-out features --save map.model -o map.csv"));
    assert!(
        answer.err.contains("10-NN distance ratio") && answer.err.contains("log likelihood of features"),
        "{}",
        answer.err
    );
    let answer = bench.does("reconstruct map.model map.csv -o back.csv --std deviations.csv --json back.json");
    assert!(answer.err.contains("warning: this umap map used classes, which a model does not keep"), "{}", answer.err);
    assert_eq!(bench.json("back.json")["intervals"], "calibrated on training rows");
    bench.refuses(
        "reconstruct map.model map.csv -o again.csv --held-out rows",
        2,
        "this umap map used classes, which a model does not keep, so that it cannot be fitted without some rows; leave out --held-out",
    );
}

#[test]
fn places_without_coordinates_lead_to_empty_rows() {
    let bench = Bench::new();
    bench.does("embed iris -m pca -o map.csv --save iris.model");
    bench.write("holes.csv", "y1,y2\n1,2\n,\n");
    bench.refuses("reconstruct iris.model holes.csv -o back.csv --missing mean", 2, "use --missing drop, which leaves");
    bench.does("reconstruct iris.model holes.csv -o back.csv --missing drop");
    assert_eq!(bench.read("back.csv").lines().nth(2), Some(",,,"));
}

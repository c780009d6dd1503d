//! The likelihood, left-out features and `-k auto`.

use crate::{Bench, cloud, coordinates, is_png};
use serde_json::json;

#[test]
fn the_likelihood_is_in_the_report_of_every_method() {
    let bench = Bench::new();
    bench.does("methods --json methods.json");
    bench.write("cloud.csv", cloud(60, 4));
    for method in bench.json("methods.json").as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        let answer = bench.does(&format!("embed cloud.csv -m {name} -k 8 --json report.json"));
        assert!(answer.err.contains("  in sample    log likelihood "), "{name}: {}", answer.err);
        assert!(answer.err.contains("to compare methods use --held-out features"), "{name}: {}", answer.err);
        let report = bench.json("report.json");
        let value = report["in_sample_fit"]["log_likelihood"].as_f64();
        assert!(value.is_some_and(f64::is_finite), "{name}: {report}");
        // A method's own likelihood is its likelihood, and others have that of the field and noise.
        let own = ["ppca", "fa", "gplvm", "meu", "alle", "drill"].contains(&name);
        assert_eq!(report["log_likelihood"].as_f64() != value, own, "{name}: {report}");
        assert!(report["log_likelihood"].as_f64().is_some_and(f64::is_finite), "{name}: {report}");
        assert_eq!(answer.err.contains("  likelihood   "), own, "{name}: {}", answer.err);
        assert!(report.get("held_out").is_none() && report.get("field_log_likelihood").is_none(), "{name}: {report}");
        for key in ["signal", "noise", "noise_at_floor", "features", "directions", "evaluations"] {
            assert!(report["in_sample_fit"].get(key).is_some(), "{name}: {key} of {report}");
        }
        assert!(report["seconds"]["likelihood"].as_f64().is_some(), "{name}");
    }
}

/// What is missing is integrated out: the density of the rows as they are, and not that of guesses.
#[test]
fn the_likelihood_of_ppca_is_that_of_its_own_model_also_with_missing_cells() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 90 --seed 3 -q -o roll.csv");
    let rows: Vec<Vec<String>> =
        bench.read("roll.csv").lines().skip(1).map(|row| row.split(',').map(String::from).collect()).collect();
    let holed = rows.iter().enumerate().map(|(i, row)| {
        let cell = |j: usize| if (5 * i + 2 * j).is_multiple_of(11) { "" } else { row[j].as_str() };
        format!("{},{},{}\n", cell(0), cell(1), cell(2))
    });
    bench.write("holes.csv", format!("a,b,c\n{}", holed.collect::<String>()));
    for method in ["ppca -d 1", "fa -d 1"] {
        bench.does(&format!("embed holes.csv -m {method} --missing model -q -o m.csv --save m --json report.json"));
        bench.does("transform m holes.csv -q -o new.csv --posterior p.csv");
        let densities = coordinates(&bench.read("p.csv")).iter().map(|row| row[1]).sum::<f64>();
        let found = bench.json("report.json")["log_likelihood"].as_f64().unwrap();
        assert!((found / densities - 1.0).abs() < 1e-9, "{method}: {found} and {densities}");
    }
}

/// 25 points and 15 others far away: the likelihood is the sum of both, and in another unit it differs by the logarithm of that
/// for every number that has a density.
#[test]
fn the_likelihood_of_separate_components_is_their_sum_in_any_unit() {
    let bench = Bench::new();
    let rows: Vec<Vec<f64>> = coordinates(&format!("a,b,c\n{}", cloud(40, 3)));
    let table = |rows: &[Vec<f64>], beyond: f64, unit: f64| -> String {
        let cell = |x: &f64| (unit * (x + beyond)).to_string();
        rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n").collect()
    };
    let [here, there] = [&rows[..25], &rows[25..]];
    bench.write("here.csv", table(here, 0.0, 1.0)).write("there.csv", table(there, 128.0, 1.0));
    bench.write("both.csv", table(here, 0.0, 1.0) + &table(there, 128.0, 1.0));
    bench.write("large.csv", table(here, 0.0, 1024.0) + &table(there, 128.0, 1024.0));
    for (method, numbers) in [("alle", 38.0 * 3.0), ("meu", 38.0 * 3.0), ("drill", 40.0 * 3.0)] {
        let [here, there, both, large] = ["here", "there", "both", "large"].map(|file| {
            bench.does(&format!("embed {file}.csv -m {method} -k 6 --disconnected separate -q -o m.csv --json r.json"));
            bench.json("r.json")["log_likelihood"].as_f64().unwrap()
        });
        assert!((both - here - there).abs() < 1e-6 * both.abs(), "{method}: {here} {there} {both}");
        assert!((both - large - numbers * 1024f64.ln()).abs() < 1e-6 * both.abs(), "{method}: {both} {large}");
    }
}

#[test]
fn what_is_dear_is_left_out_and_the_flag_is_named() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 600 -q -o roll.npy");
    let answer = bench.does("embed roll.npy -m laplacian-eigenmaps --memory 60kB --json report.json");
    assert!(answer.err.contains("add --likelihood"), "{}", answer.err);
    assert!(bench.json("report.json").get("in_sample_fit").is_none());
    bench.refuses(
        "embed roll.npy -m laplacian-eigenmaps --memory 60kB --likelihood -o m.csv",
        2,
        "likelihood's factor",
    );
}

#[test]
fn left_out_features_are_reported_fold_by_fold() {
    let bench = Bench::new();
    let answer = bench.does("embed iris -m laplacian-eigenmaps -k 8 --held-out features --json report.json");
    assert!(answer.err.contains("over noise alone (4 folds"), "{}", answer.err);
    let held_out = &bench.json("report.json")["held_out"];
    assert_eq!(held_out["by_fold"].as_array().unwrap().len(), 4);
    let [found, alone] = ["log_likelihood", "noise_alone"].map(|key| held_out[key].as_f64().unwrap());
    assert!(found.is_finite() && found > alone, "{held_out}");
    bench.does("sample swiss-roll -n 100 -q -o roll.npy");
    bench.refuses(
        "embed roll.npy -m isomap --held-out features -o m.csv",
        2,
        "of 3 features that vary 1 make the field at a time",
    );
    bench.write("d.csv", "0,1,2\n1,0,1\n2,1,0\n");
    bench.refuses("embed d.csv --input-kind distances -m mds --held-out features -o m.csv", 2, "needs points");
}

#[test]
fn neighbors_are_chosen_reported_drawn_and_saved() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 400 --seed 1 -q -o roll.npy");
    let line =
        "embed roll.npy -m isomap -k auto --json report.json --plot-neighbors tried.png --save map.model -o a.csv";
    let answer = bench.does(line);
    assert!(answer.err.contains("  chosen k     ") && answer.err.contains("10-NN distance ratio"), "{}", answer.err);
    assert!(is_png(&bench.path("tried.png")));
    let report = bench.json("report.json");
    let chosen = report["neighbors"]["chosen"].as_u64().unwrap();
    assert_eq!(report["parameters"]["neighbors"], json!({"requested": "auto", "used": chosen}));
    let tried = report["neighbors"]["tried"].as_array().unwrap();
    let of = |k: u64| tried.iter().find(|one| one["k"].as_u64() == Some(k)).unwrap();
    // The least neighbor distance ratio, or one that is no worse for certain; turns that are joined are far worse.
    let least = tried.iter().map(|one| one["value"].as_f64().unwrap()).fold(f64::MAX, f64::min);
    assert!((1.0..1.1 * least).contains(&of(chosen)["value"].as_f64().unwrap()), "{tried:?}");
    assert!(of(50)["value"].as_f64().unwrap() > 1.5 * least, "{tried:?}");
    assert!(answer.err.contains(report["neighbors"]["reason"].as_str().unwrap()), "{}", answer.err);
    // The map is that of the chosen number, and so is the model.
    bench.does(&format!("embed roll.npy -m isomap -k {chosen} -q -o b.csv"));
    assert_eq!(bench.read("a.csv"), bench.read("b.csv"));
    bench.does("transform map.model roll.npy -q -o c.csv");
    bench.does("sample swiss-roll -n 100 -q -o few.npy");
    bench.does("embed few.npy -m isomap -k auto -q --plot-neighbors tried.svg --json few.json -o few.csv");
    let chosen = &bench.json("few.json")["neighbors"]["chosen"];
    assert!(bench.read("tried.svg").contains(&format!("k = {chosen} chosen")));
}

#[test]
fn neighbors_cannot_be_chosen_without_a_graph_or_points() {
    let bench = Bench::new();
    bench.refuses("embed iris -m pca -k auto -o m.csv", 2, "pca has no neighbors to choose");
    bench.refuses("embed iris -m isomap --graph all -k auto -o m.csv", 2, "takes no -k");
    bench.refuses("embed iris -m isomap --plot-neighbors t.png -o m.csv", 2, "add -k auto");
    bench.refuses("embed iris -m isomap -k auto --plot-neighbors t.jpg -o m.csv", 2, "use .png, .svg or .pdf");
    bench.refuses("graph iris -k auto -o m.csv", 2, "give -k a number");
    bench.refuses("embed iris -m isomap -k few -o m.csv", 2, "use 1 or more, or auto");
    bench.write("d.csv", "0,1,2\n1,0,1\n2,1,0\n");
    bench.refuses("embed d.csv --input-kind distances -m isomap -k auto -o m.csv", 2, "needs points");
}

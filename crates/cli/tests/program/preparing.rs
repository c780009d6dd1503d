//! Columns brought to a common scale, and back.
use crate::{Bench, coordinates};

/// Masses in grams beside lengths in meters.
fn mixed() -> String {
    let row = |i: usize| {
        let t = i as f64 / 7.0;
        format!("{},{},{}\n", 1000.0 + 800.0 * t.sin(), 1.0 + 0.1 * t.cos(), 2.0 + (0.3 * t).sin() / 5.0)
    };
    "mass,length,width\n".to_string() + &(0..60).map(row).collect::<String>()
}

#[test]
fn columns_are_standardized_and_the_way_back_undoes_it() {
    let bench = Bench::new();
    bench.write("t.csv", mixed());
    let plain = bench.does("embed t.csv -m pca -o plain.csv --json plain.json");
    let warning = "column \"mass\" has 99.9 % of the variance of all 3 columns and decides the map nearly alone; use \
                   --standardize if the columns have different units";
    assert!(plain.err.contains(warning), "{}", plain.err);
    let warnings = bench.json("plain.json")["warnings"].as_array().unwrap().clone();
    assert!(warnings.contains(&warning.into()), "{warnings:?}");
    assert!(bench.json("plain.json")["parameters"].get("scale-columns").is_none());

    let scaled = bench.does("embed t.csv -m pca -d 3 --standardize -o map.csv --json r.json --save m.model");
    assert!(!scaled.err.contains("variance of all"), "{}", scaled.err);
    let report = bench.json("r.json");
    assert_eq!(report["parameters"]["scale-columns"], serde_json::json!({"asked": "unit", "used": "unit"}));
    assert_eq!(report["prepared"]["columns"][0]["name"], "mass");
    assert!(report["prepared"]["columns"][0]["scale"].as_f64().unwrap() > 500.0);
    bench.does("transform m.model t.csv -o again.csv -q");
    let (again, map) = (coordinates(&bench.read("again.csv")), coordinates(&bench.read("map.csv")));
    assert!(
        again.concat().iter().zip(map.concat()).all(|(a, b)| (a - b).abs() < 1e-12),
        "a row of the map has its place"
    );
    bench.does("reconstruct m.model map.csv -o rows.csv --std d.csv --held-out no -q");
    let (rows, table) = (coordinates(&bench.read("rows.csv")), coordinates(&mixed()));
    for (row, own) in rows.iter().zip(&table) {
        assert!(row.iter().zip(own).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs()), "{row:?} {own:?}");
    }
    bench.does("embed t.csv -m pca -d 3 --scale-columns robust --log -o other.csv --save o.model -q");
    bench.does("reconstruct o.model other.csv -o rows.csv -q");
    assert!((coordinates(&bench.read("rows.csv"))[5][0] - table[5][0]).abs() < 1e-6);
    for command in ["graph", "dimension --quick", "score plain.csv"] {
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        bench.does(&format!("{name} t.csv {rest} --standardize"));
    }
}

#[test]
fn what_cannot_be_prepared_is_refused_with_the_cell_and_the_way_out() {
    let bench = Bench::new();
    bench.write("t.csv", "a,b\n1,0\n2,3\n3,-4\n");
    let none =
        "row 1, column \"b\" is 0, and log is defined for positive numbers only; use --log log1p, or leave out the";
    bench.refuses("embed t.csv -m pca -d 1 --log log -o map.csv", 2, none);
    bench.refuses("embed t.csv -m pca -d 1 --log -o map.csv", 2, "row 3, column \"b\" is -4, and log1p is defined");
    bench.refuses("embed t.csv -m pca --standardize --scale-columns robust -o map.csv", 2, "cannot be used with");
    bench.write("d.csv", "0,1,2\n1,0,1\n2,1,0\n");
    let points = "only points have columns to prepare, and the input is distances; leave out --standardize";
    bench.refuses("embed d.csv --input-kind distances -m mds -d 1 --standardize -o map.csv", 2, points);
    bench.write("good.csv", "a,b\n1,5\n2,3\n3,4\n");
    bench.does("embed good.csv -m pca -d 1 --log log -o map.csv --save m.model -q");
    bench.refuses("transform m.model t.csv -o new.csv", 2, "row 1, column \"b\" is 0, and log is defined");
}

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
fn columns_are_standardized_and_the_inverse_transform_undoes_it() {
    let bench = Bench::new();
    bench.write("t.csv", mixed());
    let plain = bench.does("embed t.csv -m pca -o plain.csv --json plain.json");
    let warning = "column \"mass\" has 99.9 % of the variance of all 3 columns and dominates the map; use \
                   --standardize if the columns have different units";
    assert!(plain.err.contains(warning), "{}", plain.err);
    let warnings = bench.json("plain.json")["warnings"].as_array().unwrap().clone();
    assert!(warnings.contains(&warning.into()), "{warnings:?}");
    assert!(bench.json("plain.json")["parameters"].get("scale-columns").is_none());

    let scaled = bench.does("embed t.csv -m pca -d 3 --standardize -o map.csv --json r.json --save m.model");
    assert!(!scaled.err.contains("variance of all"), "{}", scaled.err);
    let report = bench.json("r.json");
    assert_eq!(report["parameters"]["scale-columns"], serde_json::json!({"requested": "unit", "used": "unit"}));
    assert_eq!(report["prepared"]["columns"][0]["name"], "mass");
    assert!(report["prepared"]["columns"][0]["scale"].as_f64().unwrap() > 500.0);
    bench.does("transform m.model t.csv -o again.csv -q");
    let (again, map) = (coordinates(&bench.read("again.csv")), coordinates(&bench.read("map.csv")));
    assert!(
        again.concat().iter().zip(map.concat()).all(|(a, b)| (a - b).abs() < 1e-12),
        "a row of the map has its place"
    );
    bench.does("reconstruct m.model map.csv -o rows.csv --std d.csv --held-out none -q");
    let (rows, table) = (coordinates(&bench.read("rows.csv")), coordinates(&mixed()));
    for (row, own) in rows.iter().zip(&table) {
        assert!(row.iter().zip(own).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs()), "{row:?} {own:?}");
    }
    bench.does("embed t.csv -m pca -d 3 --scale-columns robust --log -o other.csv --save o.model -q");
    bench.does("reconstruct o.model other.csv -o rows.csv -q");
    assert!((coordinates(&bench.read("rows.csv"))[5][0] - table[5][0]).abs() < 1e-6);
    for command in ["graph", "dimension --quick", "quality plain.csv"] {
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

/// Two kinds of flowers at two sites, with an id and a flag.
fn flowers() -> String {
    let row = |i: usize| {
        let (site, kind) = (["north", "south"][i % 2], ["a", "b"][i / 2 % 2]);
        format!("{i},{},{site},{},{kind}\n", (i as f64 * 0.7).sin(), i.is_multiple_of(3))
    };
    "id,height,site,wet,kind\n".to_string() + &(0..24).map(row).collect::<String>()
}

#[test]
fn a_category_is_data_and_the_model_knows_what_every_column_is_for() {
    let bench = Bench::new();
    bench.write("t.csv", flowers());
    let text = "column \"site\" holds text (\"north\" in row 1 (line 2)); correct the cell, or use --one-hot site or --ignore site";
    bench.refuses("embed t.csv --label kind --ignore id -m pca -o map.csv", 2, text);
    let line = "embed t.csv --label kind --ignore id --one-hot site --standardize -m isomap -k 8 --save m.model";
    bench.does(&format!("{line} -o map.csv --json r.json -q"));
    let report = bench.json("r.json");
    assert_eq!(report["features"], 4);
    let names: Vec<&str> =
        report["prepared"]["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["height", "wet", "site=north", "site=south"]);
    assert_eq!(report["prepared"]["columns"][2]["scale"], 1.0);
    let site = serde_json::json!({"name": "site", "role": "category", "levels": ["north", "south"]});
    assert_eq!((&report["columns"][2], &report["columns"][4]["role"]), (&site, &"label".into()));
    // Nothing has to be named again: neither the label nor the category nor what was left out.
    let answer = bench.does("transform m.model t.csv -o again.csv");
    assert_eq!(answer.err.lines().count(), 1, "{}", answer.err);
    assert_eq!(bench.read("again.csv"), bench.read("map.csv"));
    bench.write("bare.csv", "site,wet,height\nnorth,true,0\nsouth,false,0.644217687237691\n");
    bench.does("transform m.model bare.csv -o bare-map.csv -q");
    assert_eq!(bench.read("bare-map.csv").lines().nth(2), bench.read("map.csv").lines().nth(2));
    bench.write("west.csv", "height,site,wet\n1,north,true\n1,west,true\n");
    let unseen =
        "west.csv: row 2, column \"site\" is \"west\", and the model knows \"north\", \"south\" only; correct the cell";
    bench.refuses("transform m.model west.csv -o out.csv", 2, unseen);
    bench.refuses(
        "transform m.model bare.csv --label height -o out.csv",
        2,
        "column \"height\" is a feature of the model",
    );
    bench.write("less.csv", "height,wet\n1,true\n");
    bench.refuses("transform m.model less.csv -o out.csv", 2, "column \"site\" of the model is missing");
    bench.does("reconstruct m.model map.csv -o rows.csv -q");
    assert!(bench.read("rows.csv").starts_with("height,wet,site=north,site=south\n"));
    bench.write("ids.csv", (0..1100).map(|i| format!("k{i},{i}\n")).collect::<String>());
    bench.refuses(
        "embed ids.csv --header no --one-hot 1 -m pca -o out.csv",
        2,
        "column 1 has 1100 different values in 1100 rows",
    );
    bench.refuses("embed t.csv --one-hot site --label site -m pca -o out.csv", 2, "is both a category and the label");
}

#[test]
fn without_a_header_columns_go_by_their_places() {
    let bench = Bench::new();
    let rows: String = flowers().lines().skip(1).map(|line| format!("{line}\n")).collect();
    bench.write("t.csv", &rows);
    bench.does("embed t.csv --header no --label 5 --ignore 1 --one-hot 3 -m isomap -k 8 -o map.csv --save m.model -q");
    bench.does("transform m.model t.csv --header no -o again.csv -q");
    assert_eq!(bench.read("again.csv"), bench.read("map.csv"));
    let features: String =
        rows.lines().map(|line| line.split(',').collect::<Vec<_>>()[1..4].join(",") + "\n").collect();
    bench.write("features.csv", features);
    bench.does("transform m.model features.csv --header no -o again.csv -q");
    assert_eq!(bench.read("again.csv"), bench.read("map.csv"));
}

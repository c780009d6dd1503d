//! `--metric`, and what `embed` tells of data that were perhaps meant otherwise.

use crate::{Bench, coordinates};
use serde_json::json;

#[test]
fn a_metric_with_its_power_is_reported_saved_and_used_for_new_points() {
    let bench = Bench::new();
    bench.does("embed iris -m mds --metric minkowski:3 -o map.csv --save map.model --json map.json");
    assert_eq!(
        bench.json("map.json")["parameters"]["metric"],
        json!({"requested": "minkowski:3", "used": "minkowski:3"})
    );
    bench.does("sample iris -o iris.csv");
    bench.does("transform map.model iris.csv --label label -o again.csv");
    let (map, again) = (coordinates(&bench.read("map.csv")), coordinates(&bench.read("again.csv")));
    assert!(map.iter().flatten().zip(again.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-9));
    bench.refuses("embed iris --metric minkowski -o a.csv", 2, "use minkowski:3");
    bench.refuses("embed iris --metric minkowski:0.5 -o a.csv", 2, "a power from 1 to 1000");
    bench.refuses("embed iris --metric haversine -o a.csv", 2, "takes 2 columns, latitude and longitude");
    let said = bench.does("embed iris -m pca --metric jaccard -o pca.csv").err;
    assert!(said.contains("--metric had no effect: pca does not use it"), "{said}");
}

/// Millimeters in one column and a mixture in another change nothing, in the map and for new rows.
#[test]
fn mahalanobis_distances_have_no_units_and_a_column_too_many_is_named() {
    let bench = Bench::new();
    bench.does("sample iris -o iris.csv");
    let text = bench.read("iris.csv");
    let changed: Vec<String> = (text.lines().enumerate())
        .map(|(at, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            if at == 0 {
                return format!("{line},sum");
            }
            let x: Vec<f64> = cells[..4].iter().map(|cell| cell.parse().unwrap()).collect();
            let (length, mixed) = (10.0 * x[0], x[1] - 3.0 * x[2]);
            format!("{length},{mixed},{},{},{},{}", x[2], x[3], cells[4], length + x[3])
        })
        .collect();
    bench.write("mixed.csv", &(changed.join("\n") + "\n"));
    // With all four coordinates, since white columns have no first two.
    let embed = "--label label -m mds -d 4 --metric mahalanobis";
    bench.does(&format!("embed iris.csv {embed} -o one.csv"));
    bench.does(&format!("embed mixed.csv --ignore sum {embed} -o two.csv --save map.model"));
    bench.does("transform map.model mixed.csv -o again.csv");
    bench.does("reconstruct map.model two.csv -o rows.csv");
    let [one, two, again] = ["one.csv", "two.csv", "again.csv"].map(|name| coordinates(&bench.read(name)));
    assert!(two.iter().flatten().zip(again.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-9));
    for i in 1..150 {
        let square = |map: &[Vec<f64>]| (0..4).map(|q| (map[i][q] - map[0][q]).powi(2)).sum::<f64>();
        let [a, b] = [&one, &two].map(|map| square(map).sqrt());
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    let said = bench.does("embed iris -m mds --metric mahalanobis -o plane.csv").err;
    assert!(
        said.contains("the same variance in all of their 4 directions, so the choice of 2 of them is arbitrary"),
        "{said}"
    );
    let message = "column \"sum\" is a linear combination of the columns before it";
    bench.refuses(&format!("embed mixed.csv {embed} -o a.csv"), 2, message);
    bench.does("graph mixed.csv --ignore sum,label --metric mahalanobis -k 5 -o two-edges.csv");
    bench.does("graph iris.csv --ignore label --metric mahalanobis -k 5 -o one-edges.csv");
    let ends = |name: &str| bench.read(name).lines().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect();
    let [one, two]: [Vec<String>; 2] = ["one-edges.csv", "two-edges.csv"].map(ends);
    let shared = one.iter().filter(|line| two.contains(line)).count();
    assert!(shared * 100 >= one.len() * 99, "{shared} of {}", one.len());
}

#[test]
fn cities_are_mapped_by_their_latitude_and_longitude() {
    let bench = Bench::new();
    bench.write("cities.csv", "latitude,longitude\n52.5,13.4\n48.9,2.4\n40.4,-3.7\n41.9,12.5\n59.3,18.1\n51.5,-0.1\n");
    bench.refuses("embed cities.csv -m mds --metric haversine -o a.csv", 2, "haversine-degrees takes degrees");
    bench.does("embed cities.csv -m mds --metric haversine-degrees -o map.csv");
    let map = coordinates(&bench.read("map.csv"));
    // Berlin to Rome, 1,185 km of a radius of 6,371.
    let distance = (map[0][0] - map[3][0]).hypot(map[0][1] - map[3][1]);
    assert!((6371.0 * distance - 1185.0).abs() < 15.0, "{}", 6371.0 * distance);
}

#[test]
fn a_table_of_distances_among_points_gets_a_hint_and_none_where_it_is_one() {
    let bench = Bench::new();
    bench.write("d.csv", "0,1,2,3\n1,0,2,4\n2,2,0,5\n3,4,5,0\n");
    for command in ["embed d.csv -m mds -o a.csv", "graph d.csv -k 2 -o e.csv"] {
        let said = bench.does(command).err;
        assert!(said.contains("if they are distances, use --input-kind distances"), "{said}");
    }
    let said = bench.does("embed d.csv -m mds --input-kind distances -o a.csv").err;
    assert!(!said.contains("--input-kind"), "{said}");
}

#[test]
fn the_shares_of_the_variance_are_reported() {
    let bench = Bench::new();
    let said = bench.does("embed iris -m pca -d 3 -o map.csv --json map.json").err;
    assert!(said.contains("variance     92.5, 5.3, 1.7 % of 6.8137e2 by coordinate, 99.5 % together"), "{said}");
    let explained = &bench.json("map.json")["explained_variance"];
    assert!((explained["ratio"][0].as_f64().unwrap() - 0.924618723201734).abs() < 1e-12, "{explained}");
    assert!((explained["cumulative"][2].as_f64().unwrap() - 0.9947878161267252).abs() < 1e-12, "{explained}");
    bench.does("embed iris -m le -o map.csv --json map.json");
    assert!(bench.json("map.json").get("explained_variance").is_none());
}

/// The default is a method that the program's own hints name, so that no hint names another one.
#[test]
fn without_a_method_umap_keeps_the_neighborhoods() {
    let bench = Bench::new();
    let said = bench.does("embed iris -o map.csv").err;
    assert!(said.starts_with("umap:") && !said.contains("-m "), "{said}");
    let said = bench.does("embed digits -o map.csv").err;
    assert!(said.starts_with("umap:") && !said.contains("warning"), "{said}");
}

/// A sheet whose first column is written twice, once in thousandths: standardized it is a sheet as before. By the columns as they
/// are, the nearest on its map would be far.
#[test]
fn neighborhoods_are_evaluated_in_the_columns_that_made_the_map() {
    let bench = Bench::new();
    let row = |i: i32| {
        let (x, y) = ((f64::from(i) * 0.618_034).fract(), (f64::from(i) * 0.754_878).fract());
        format!("{x},{y},{}\n", 1000.0 * x)
    };
    bench.write("sheet.csv", format!("x,y,z\n{}", (0..400).map(row).collect::<String>()));
    let said = bench.does("embed sheet.csv --standardize -o map.csv --json r.json").err;
    assert!(!said.contains("are lost"), "{said}");
    let near = &bench.json("r.json")["neighbor_ratio"];
    assert!(near["value"].as_f64().unwrap() < 1.1 && near["random"].as_f64().unwrap() > 3.0, "{near}");
    assert!(said.contains("  neighbors    10-NN distance ratio 1.0"), "{said}");
}

/// Fifty neighbors join the turns of a roll, whatever the method is that is named; ten do not.
#[test]
fn an_embedding_that_lost_the_neighborhoods_is_reported_with_a_way_out() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 1000 -o roll.csv");
    let said = bench.does("embed roll.csv -m isomap -k 50 -o map.csv").err;
    let lost = "% of the neighborhoods are lost: the 10-NN distance ratio is ";
    assert!(said.contains(lost) && said.contains("; try -k auto, more coordinates (-d), -m umap or -m tsne"), "{said}");
    let said = bench.does("embed roll.csv -m isomap -k 10 -o map.csv").err;
    assert!(!said.contains(lost), "{said}");
}

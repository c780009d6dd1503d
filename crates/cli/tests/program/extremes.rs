//! Numbers at the ends of the range, and data without a shape: a right answer, or one line that says why there is none.

use crate::{Bench, cloud, coordinates};

/// Rows of a cloud, each number multiplied.
fn scaled(rows: usize, cols: usize, by: f64) -> String {
    let number = |text: &str| format!("{:e}", (text.parse::<f64>().unwrap() - 0.3) * by);
    let line = |line: &str| line.split(',').map(number).collect::<Vec<_>>().join(",") + "\n";
    cloud(rows, cols).lines().map(line).collect()
}

/// The largest difference of two maps, beside the largest number of the first.
fn apart(one: &str, other: &str) -> f64 {
    let (one, other) = (coordinates(one).concat(), coordinates(other).concat());
    assert_eq!(one.len(), other.len());
    let largest = one.iter().fold(0.0f64, |most, y| most.max(y.abs()));
    one.iter().zip(&other).fold(0.0f64, |most, (a, b)| most.max((a - b).abs() / largest))
}

fn length(row: &[f64]) -> f64 {
    row.iter().fold(0.0f64, |sum, y| sum.hypot(*y))
}

#[test]
fn a_far_place_of_a_model_with_logarithms_is_refused() {
    let bench = Bench::new();
    let positive: String = scaled(20, 3, 1.0).replace('-', "").lines().map(|line| line.to_string() + "\n").collect();
    bench.write("positive.csv", positive);
    for log in ["log1p", "log"] {
        for method in ["pca", "ppca"] {
            bench.does(&format!("embed positive.csv --log {log} -m {method} -q --save m.model -o o.csv"));
            for place in ["2000,0", "-2000,0", "800,800", "0,1e59"] {
                bench.write("far.csv", format!("y1,y2\n{place}\n"));
                let line = "reconstruct m.model far.csv -q -o rows.csv";
                let answer = bench.run(line);
                if answer.code == 0 {
                    // All columns may lead towards zero.
                    assert!(coordinates(&bench.read("rows.csv")).concat().iter().all(|x| x.is_finite()));
                    std::fs::remove_file(bench.path("rows.csv")).unwrap();
                } else {
                    answer.is_one_line(&format!("{line} ({log}, {method}, {place})"), 2, "beyond what can be computed");
                }
            }
        }
    }
    bench.write("far.csv", "y1,y2\n1e5,1e5\n-1e5,-1e5\n1e5,-1e5\n-1e5,1e5\n");
    bench.refuses("reconstruct m.model far.csv -q -o rows.csv", 2, "beyond what can be computed with");
}

#[test]
fn a_path_of_penalties_may_have_all_sizes() {
    let bench = Bench::new();
    bench.write("x.csv", cloud(25, 3));
    for path in ["1e-200:1e200:3", "1e-300:1e300:4"] {
        bench.does(&format!("embed x.csv -m drill --penalty {path} -q -o o.csv --json j.json"));
        assert!(coordinates(&bench.read("o.csv")).concat().iter().all(|y| y.is_finite()), "{path}");
    }
}

#[test]
fn a_model_at_the_end_of_the_range_is_read_again_and_gives_its_rows_back() {
    let bench = Bench::new();
    bench.write("tiny.csv", scaled(30, 4, 1e-58)).write("small.csv", scaled(30, 4, 1e-55));
    bench.write("big.csv", scaled(60, 3, 1e59));
    for line in [
        "tiny.csv -m ppca",
        "tiny.csv -m fa",
        "small.csv -m ppca",
        "small.csv -m fa",
        "big.csv -m isomap -k 5",
        "big.csv -m smacof --distances geodesic -k 5",
        "big.csv -m sammon --distances geodesic -k 5",
    ] {
        let input = line.split(' ').next().unwrap();
        bench.does(&format!("embed {line} -q --save m.model -o o.csv"));
        bench.does(&format!("transform m.model {input} -q -o t.csv"));
        let off = apart(&bench.read("o.csv"), &bench.read("t.csv"));
        assert!(off < 1e-9, "{line}: {off:e}");
    }
    bench.write("least.csv", scaled(30, 2, 1e-310));
    let line = "embed least.csv -m kernel-pca --bandwidth 1e9 -q -o l.csv --save l.model";
    bench.refuses(line, 2, "data must be between 1e-60 and 1e60; multiply them by a constant");
}

#[test]
fn a_point_far_from_all_landmarks_is_far_on_the_map_or_refused() {
    let bench = Bench::new();
    // A cloud without lines and gaps, so that its graph is in one component without the far point.
    let number = |at: usize| ((at as f64 + 1.0).sin() * 43_758.545_3).fract();
    let rows: String =
        (0..80).map(|i| format!("{},{},{}\n", number(3 * i), number(3 * i + 1), number(3 * i + 2))).collect();
    let with = |far: &str| bench.write("x.csv", format!("{rows}{far},0,0\n"));
    for (far, right) in [("1e3", 1e3), ("1e8", 1e8), ("1e10", 1e10)] {
        with(far);
        for method in ["isomap -k 8", "mds"] {
            bench.does(&format!("embed x.csv -m {method} --landmarks 20 -q -o o.csv"));
            let map = coordinates(&bench.read("o.csv"));
            let (last, others) = map.split_last().unwrap();
            let part = length(last) / right;
            assert!((0.5..1.5).contains(&part), "{method} {far}: {last:?}");
            assert!(others.iter().all(|row| length(row) < 10.0), "{method} {far}");
        }
    }
    for far in ["1e30", "1e59"] {
        with(far);
        for method in ["isomap -k 8", "mds"] {
            let line = format!("embed x.csv -m {method} --landmarks 20 -q -o far.csv");
            bench.refuses(&line, 2, "row 81 is so far from all landmarks");
        }
    }
}

#[test]
fn rows_at_no_distance_that_differ_keep_their_own_places() {
    let bench = Bench::new();
    // Squares of the small ones vanish beside the large ones; and multiples of a row have no angle to it.
    let size = |i: usize| 10f64.powi((i as i32 * 37) % 113 - 57);
    let rows: String = (0..60)
        .map(|i| format!("{:e},{:e},{:e}\n", size(i), size(i + 7) * 0.5, -size(i + 3) * (i as f64 + 1.0)))
        .collect();
    bench.write("mixed.csv", rows);
    let multiples: String =
        (0..60).map(|i| format!("{},{},{}\n", i % 3 + 1, (i % 3) * 2 * (i / 3 + 1), i / 3 + 1)).collect();
    let along: String = (1..=40).map(|i| format!("{i},{},{}\n", 2 * i, 3 * i)).collect();
    bench.write("along.csv", along + &multiples);
    for line in ["mixed.csv -m umap", "mixed.csv -m lle -k 5", "along.csv -m umap --metric cosine -k 5"] {
        let input = line.split(' ').next().unwrap();
        bench.does(&format!("embed {line} -q --header no --save m.model -o o.csv"));
        bench.does(&format!("transform m.model {input} --header no -q -o t.csv"));
        let (map, again) = (bench.read("o.csv"), bench.read("t.csv"));
        let differ = map.lines().zip(again.lines()).filter(|(a, b)| a != b).count();
        assert_eq!(differ, 0, "{line}");
    }
}

#[test]
fn a_map_without_a_shape_is_warned_of() {
    let bench = Bench::new();
    bench.write("square.csv", "a,b\n0,0\n0,1\n1,0\n1,1\n");
    let line: String = (0..30).map(|i| format!("{i},{},{}\n", 2 * i, -i)).collect();
    bench.write("line.csv", line);
    let row =
        |i: usize| (0..7).map(|j| if j == i / 2 { ["1", "-1"][i % 2] } else { "0" }).collect::<Vec<_>>().join(",");
    bench.write("cross.csv", (0..14).map(|i| row(i) + "\n").collect::<String>());
    for (line, fact) in [
        ("square.csv -m ppca -d 1", "all points coincide on the map"),
        ("cross.csv --header no -m ppca -d 6", "all points coincide on the map"),
        ("line.csv --header no -m elastic -d 2", "coordinate 2 is the same for all points"),
    ] {
        bench.does(&format!("embed {line} -q -o o.csv --json j.json"));
        let warnings = bench.json("j.json")["warnings"].to_string();
        assert!(warnings.contains(fact), "{line}: {warnings}");
    }
    bench.does("embed iris -m ppca -q -o o.csv --json j.json");
    assert!(!bench.json("j.json")["warnings"].to_string().contains("coincide on the map"));
}

#[test]
fn distances_that_differ_by_more_digits_than_a_number_has_are_no_panic() {
    let bench = Bench::new();
    let answer = bench.run_with_input("embed - -m mvu -k 3 -d 1 -q --header no", b"0\n1\n2.5\n3\n7\n1e9\n");
    assert!([0, 1].contains(&answer.code) && !answer.err.contains("defect"), "{}", answer.err);
    assert!(answer.err.lines().count() <= 1, "{}", answer.err);
}

#[test]
fn the_unit_of_the_data_changes_no_map() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 150 -q -o roll.csv");
    let roll = coordinates(&bench.read("roll.csv"));
    for method in ["meu -k 8", "ltsa -k 8"] {
        let map = |by: f64| {
            let line =
                |row: &Vec<f64>| row.iter().map(|x| format!("{:e}", x * by)).collect::<Vec<_>>().join(",") + "\n";
            bench.write("x.csv", roll.iter().map(line).collect::<String>());
            bench.does(&format!("embed x.csv --header no -m {method} -q -o o.csv --json j.json"));
            assert_eq!(bench.json("j.json")["converged"], true, "{method} at {by:e}");
            bench.read("o.csv")
        };
        let one = map(1.0);
        // Powers of two change no digit.
        for power in [-190, -20, 30, 180] {
            let by = 2f64.powi(power);
            let sized = |text: &str| -> Vec<f64> {
                let all = coordinates(text).concat();
                let largest = all.iter().fold(0.0f64, |most, y| most.max(y.abs()));
                all.iter().map(|y| y / largest).collect()
            };
            let (a, b) = (sized(&one), sized(&map(by)));
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{method} at 2^{power}");
        }
    }
}

#[test]
fn a_metric_that_is_not_used_keeps_no_row_out() {
    let bench = Bench::new();
    bench.write("zero.csv", "0,0\n1,0\n0,1\n3,4\n");
    bench.does("embed zero.csv --header no -m kernel-pca --metric cosine -q --save m.model -o o.csv");
    bench.does("transform m.model zero.csv --header no -q -o t.csv");
    assert!(apart(&bench.read("o.csv"), &bench.read("t.csv")) < 1e-9);
}

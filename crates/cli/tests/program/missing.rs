//! Tables with empty cells.
use crate::Bench;

/// Three columns that hang together, every seventh cell empty in its own way.
fn table() -> String {
    let words = ["", "NA", "nan", "?"];
    let mut text = String::from("a,b,c\n");
    for i in 0..60usize {
        let cell = |j: usize| {
            if (3 * i + j).is_multiple_of(7) {
                words[i % 4].into()
            } else {
                format!("{}", (j + 1) as f64 * (i as f64 / 9.0).sin())
            }
        };
        text += &format!("{},{},{}\n", cell(0), cell(1), cell(2));
    }
    text
}

#[test]
fn empty_cells_are_an_error_until_they_are_allowed_and_then_no_row_is_lost() {
    let bench = Bench::new();
    bench.write("t.csv", table());
    let refused = bench.run("embed t.csv -m pca -o map.csv");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("row 1 (line 2), column \"a\" is empty, the first of 26 missing cells in 26 rows; use --missing model, mean or drop, fill it in"), "{}", refused.err);
    for method in ["pca", "ppca", "fa -d 1", "isomap", "tsne --perplexity 5"] {
        for how in ["mean", "model"] {
            let made =
                bench.run(&format!("embed t.csv -m {method} --missing {how} -o map.csv --json r.json --save m.model"));
            assert_eq!(made.code, 0, "{method} {how}: {}", made.err);
            assert_eq!(bench.read("map.csv").lines().count(), 61, "{method} {how}");
            assert!(bench.read("r.json").contains("\"missing_cells\""), "{method} {how}");
            let placed = bench.run(&format!("transform m.model t.csv --missing {how} -o new.csv"));
            assert_eq!(placed.code, 0, "{method} {how}: {}", placed.err);
            let written = bench.read("new.csv");
            assert_eq!(written.lines().count(), 61, "{method} {how}");
            // The model knows that its rows had missing cells.
            bench.does("transform m.model t.csv -o new.csv -q");
            assert_eq!(bench.read("new.csv"), written, "{method} {how}");
            bench.refuses("transform m.model t.csv --missing error -o none.csv -q", 2, "use --missing model");
        }
    }
    bench.does("embed t.csv -m ppca -d 1 --missing model -o map.csv --save m.model -q");
    bench.does("transform m.model t.csv --missing model -o new.csv --posterior p.csv -q");
    let posterior = bench.read("p.csv");
    assert_eq!((posterior.lines().next(), posterior.lines().count()), (Some("y1_std,log_density"), 61));
    assert_eq!(bench.read("new.csv"), bench.read("map.csv"));
    bench.write("d.csv", "0,1,\n1,0,2\n,2,0\n");
    let distances = bench.run("embed d.csv --input-kind distances -m mds --missing model -o map.csv");
    assert!(distances.code == 2 && distances.err.contains("only one cell of point 1 is known"), "{}", distances.err);
    let mean = bench.run("embed d.csv --input-kind distances -m mds --missing mean -o map.csv");
    assert!(mean.code == 2 && mean.err.contains("use --missing model, or give every distance"), "{}", mean.err);
    bench.write("e.csv", "a,b\n1,\n2,\n3,\n");
    let empty = bench.run("embed e.csv -m pca --missing model -o map.csv");
    assert!(empty.code == 2 && empty.err.contains("column 2 has no observed cell"), "{}", empty.err);
}

/// Places on a line and beside it, with some distances unknown; the same of inner products.
#[test]
fn tables_of_distances_and_of_similarities_are_completed() {
    let bench = Bench::new();
    let at = |i: usize| (i as f64, f64::from(u8::from(i.is_multiple_of(3))));
    let table = |cell: &dyn Fn(usize, usize) -> f64| {
        let text = |i: usize, j: usize| if i + j == 11 { String::new() } else { cell(i, j).to_string() };
        let row = |i: usize| (0..12).map(|j| text(i, j)).collect::<Vec<_>>().join(",");
        (0..12).map(|i| row(i) + "\n").collect::<String>()
    };
    let far = |i: usize, j: usize| (at(i).0 - at(j).0).hypot(at(i).1 - at(j).1);
    bench.write("d.csv", table(&far));
    bench.write("s.csv", table(&|i, j| at(i).0 * at(j).0 + at(i).1 * at(j).1));
    for method in ["ppco", "mds", "smacof", "isomap -k 4", "pkpca"] {
        bench.does(&format!(
            "embed d.csv --input-kind distances --missing model -m {method} -o map.csv --completed full.csv --json r.json -q"
        ));
        let report = bench.json("r.json");
        assert!(report["missing_columns"].is_f64() && report["missing_cells"] == 12.0, "{method}: {report}");
        let full = bench.read("full.csv");
        for (i, line) in full.lines().skip(1).enumerate() {
            let off = line.split(',').enumerate().map(|(j, d)| (d.parse::<f64>().unwrap() - far(i, j)).abs());
            assert!(off.fold(0.0, f64::max) < 1e-4, "{method}: row {i} {line}");
        }
        bench.does(&format!("embed s.csv --input-kind similarities --missing model -m {method} -o map.csv -q"));
    }
    let graph = bench.run("embed d.csv --input-kind graph --missing model -m isomap -o map.csv --completed full.csv");
    assert!(graph.code == 2 && graph.err.contains("a graph has no cells"), "{}", graph.err);
}

/// What stands in missing cells is written, with its deviation where the method is a model of the cells.
#[test]
fn the_completed_table_has_the_rows_and_the_names_of_the_input() {
    let bench = Bench::new();
    bench.write("t.csv", table());
    let cells = |text: &str| text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect();
    let given: Vec<Vec<String>> = cells(&table());
    for (method, how) in [("ppca -d 1", "model"), ("fa -d 1", "mean"), ("pca", "model"), ("isomap", "mean")] {
        bench.does(&format!("embed t.csv -m {method} --missing {how} --completed full.csv -q"));
        let full: Vec<Vec<String>> = cells(&bench.read("full.csv"));
        assert_eq!((full.len(), &full[0]), (given.len(), &given[0]), "{method}");
        for (mine, theirs) in full.iter().zip(&given).skip(1) {
            for (mine, theirs) in mine.iter().zip(theirs) {
                let (mine, theirs): (f64, Option<f64>) = (mine.parse().unwrap(), theirs.parse().ok());
                assert!(
                    mine.is_finite() && theirs.is_none_or(|theirs| theirs.is_nan() || theirs == mine),
                    "{method}: {mine} {theirs:?}"
                );
            }
        }
    }
    bench.does("embed t.csv -m ppca -d 1 --missing model --completed full.csv --completed-std std.csv -q");
    let deviations: Vec<Vec<String>> = cells(&bench.read("std.csv"));
    for (mine, theirs) in deviations.iter().zip(&given).skip(1) {
        for (mine, theirs) in mine.iter().zip(theirs) {
            assert_eq!(
                mine.parse::<f64>().unwrap() > 0.0,
                !theirs.parse::<f64>().is_ok_and(f64::is_finite),
                "{mine} {theirs}"
            );
        }
    }
    let refused = |flags: &str, message: &str| {
        let run = bench.run(&format!("embed t.csv {flags} --completed-std std2.csv"));
        assert!(run.code == 2 && run.err.contains(message), "{flags}: {}", run.err);
    };
    refused("-m ppca -d 1", "add --missing model or --missing mean");
    refused("-m pca --missing model", "--completed-std is for ppca and fa");
    // All files or none.
    let both = bench.run("embed t.csv -m pca --missing model -o map2.csv --completed no/full.csv");
    assert!(both.code != 0 && !bench.files().contains(&"map2.csv".to_string()), "{}", both.err);
}

#[test]
fn dropped_rows_stay_in_the_output_and_are_empty() {
    let bench = Bench::new();
    bench.write("t.csv", table());
    // The same rows without those that are not complete.
    let whole: Vec<String> = table()
        .lines()
        .enumerate()
        .filter(|(i, _)| *i == 0 || is_complete(i - 1))
        .map(|(_, line)| line.into())
        .collect();
    bench.write("whole.csv", whole.join("\n") + "\n");
    bench.does("embed whole.csv -m isomap -k 5 -q -o whole-map.csv");
    let answer = bench.does("embed t.csv -m isomap -k 5 --missing drop -o map.csv --json r.json --save m.model");
    let said = "26 of 60 rows dropped for missing cells (rows 1, 3, 5, 8, 10, ...): empty in the output";
    assert!(answer.err.contains(said), "{}", answer.err);
    let map = bench.read("map.csv");
    assert_eq!(map.lines().count(), 61);
    let full: Vec<&str> = map.lines().filter(|line| *line != ",").collect();
    assert_eq!(full.join("\n") + "\n", bench.read("whole-map.csv"));
    assert_eq!(map.lines().nth(1), Some(","));
    let report = bench.json("r.json");
    assert_eq!(
        (&report["n"], &report["dropped"]["count"], &report["dropped"]["of"]),
        (&34.into(), &26.into(), &60.into())
    );
    assert_eq!(report["dropped"]["rows"][1], 3);
    bench.does("transform m.model t.csv --missing drop -o again.csv -q");
    assert_eq!(bench.read("again.csv"), map);
    // NaN in NPY, null in Parquet; both are read as missing again, by the commands that compare maps.
    for name in ["map.npy", "map.parquet"] {
        bench.does(&format!("embed t.csv -m pca --missing drop -q -o {name}"));
        bench.refuses(&format!("embed {name} -m pca -d 1 -o x.csv"), 2, "the first of 52 missing cells in 26 rows");
        bench.does(&format!("quality t.csv {name} --missing drop --starts one -q"));
        bench.does(&format!("embed t.csv -m pca --missing drop --align {name} -q -o x.csv"));
    }
    bench.does("dimension t.csv --missing drop --quick --pointwise each.csv -q");
    assert_eq!(bench.read("each.csv").lines().count(), 61);
    // A cell alone in its row is written in quotes, so that the row is read again.
    bench.refuses("embed each.csv -m pca -d 1 -o x.csv", 2, "the first of 26 missing cells in 26 rows");
    bench.refuses("embed t.csv -m pca --missing drop --completed x.csv", 2, "--completed writes imputed cells");
    bench.write("none.csv", "a,b\n1,\n,2\n3,\n");
    bench.refuses("embed none.csv -m pca --missing drop -o x.csv", 2, "each of the 3 rows has a missing cell");
}

/// Edges and paths name the rows of the file, snapshots and reconstructed rows are empty where a row was dropped.
#[test]
fn outputs_that_count_the_points_count_the_rows_of_the_file() {
    let bench = Bench::new();
    bench.write("t.csv", table());
    let kept: Vec<usize> = (0..60).filter(|&i| is_complete(i)).collect();
    let lines: Vec<String> = table().lines().map(String::from).collect();
    let whole: Vec<&str> = std::iter::once(0).chain(kept.iter().map(|i| i + 1)).map(|at| lines[at].as_str()).collect();
    bench.write("whole.csv", whole.join("\n") + "\n");
    let renamed = |text: &str, columns: &[usize]| -> Vec<String> {
        let row = |line: &str| {
            let name = |(at, cell): (usize, &str)| match columns.contains(&at) {
                true => kept[cell.parse::<f64>().unwrap() as usize].to_string(),
                false => cell.to_string(),
            };
            line.split(',').enumerate().map(name).collect::<Vec<_>>().join(",")
        };
        text.lines().skip(1).map(row).collect()
    };
    let written = |name: &str| bench.read(name).lines().skip(1).map(String::from).collect::<Vec<_>>();
    for (input, missing) in [("whole", ""), ("t", "--missing drop")] {
        bench.does(&format!("graph {input}.csv {missing} -k 3 -o {input}-edges.csv --json {input}.json"));
        bench.does(&format!("embed {input}.csv {missing} -q -m meu -k 4 --weights {input}-weights.csv -o x.csv"));
        bench.does(&format!(
            "embed {input}.csv {missing} -q -m elastic --lambda 0.1:10:3 --path {input}-path.csv -o x.csv --save {input}.model"
        ));
        bench.does(&format!(
            "embed {input}.csv {missing} -q -m tsne --perplexity 5 --snapshots {input}-maps -o {input}-map.csv"
        ));
        bench.does(&format!(
            "embed {input}.csv {missing} -q -m tsne --perplexity 5 --snapshots 3 --json {input}-s.json -o x.csv"
        ));
        bench.does(&format!(
            "reconstruct {input}.model {input}-map.csv {missing} -q -o {input}-rows.csv --std {input}-std.csv --held-out none"
        ));
        bench.does(&format!(
            "reconstruct {input}.model {input}-map.csv {missing} -q --samples 2 -o {input}-draws.csv --held-out none"
        ));
    }
    assert_eq!(written("t-edges.csv"), renamed(&bench.read("whole-edges.csv"), &[0, 1]));
    assert_eq!(written("t-weights.csv"), renamed(&bench.read("whole-weights.csv"), &[0, 1]));
    assert_eq!(bench.json("t.json")["dropped"]["count"], 26);
    let whole_path = bench.read("whole-path.csv");
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let (ours, theirs) = (written("t-path.csv"), renamed(&whole_path, &[1]));
    let number = |line: &String| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>();
    assert_eq!(ours.iter().map(number).collect::<Vec<_>>(), theirs.iter().map(number).collect::<Vec<_>>());
    // Every other output has a row for every row of the file.
    for (name, empty) in [("map.csv", ","), ("rows.csv", ",,"), ("std.csv", ",,")] {
        let (all, full) = (written(&format!("t-{name}")), written(&format!("whole-{name}")));
        assert_eq!((all.len(), all[0].as_str()), (60, empty));
        assert_eq!(kept.iter().map(|&i| all[i].clone()).collect::<Vec<_>>(), full);
    }
    let draws = written("t-draws.csv");
    assert_eq!((draws.len(), draws[0].as_str(), draws[1].as_str()), (120, ",,", ",,"));
    let full: Vec<String> = kept.iter().flat_map(|&i| [draws[2 * i].clone(), draws[2 * i + 1].clone()]).collect();
    assert_eq!(full, written("whole-draws.csv"));
    let maps = bench.json("t-s.json");
    let first = maps["snapshots"][0]["coordinates"].as_array().unwrap();
    assert!(first.len() == 60 && first[0].is_null() && first[kept[0]].is_array());
    let names = |folder: &str| {
        let entries = std::fs::read_dir(bench.path(folder)).unwrap();
        sorted(entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
    };
    assert_eq!(names("t-maps"), names("whole-maps"));
    assert_eq!(written(&format!("t-maps/{}", names("t-maps")[0])).len(), 60);
    bench.refuses("reconstruct t.model t-map.csv --missing mean -o x.csv", 2, "use --missing drop, which leaves");
}

fn is_complete(i: usize) -> bool {
    (0..3).all(|j| !(3 * i + j).is_multiple_of(7))
}

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
    assert!(refused.err.contains("row 1 (line 2), column \"a\" is empty; use --missing model"), "{}", refused.err);
    for method in ["pca", "ppca", "fa -d 1", "isomap", "tsne --perplexity 5"] {
        for how in ["mean", "model"] {
            let made =
                bench.run(&format!("embed t.csv -m {method} --missing {how} -o map.csv --json r.json --save m.model"));
            assert_eq!(made.code, 0, "{method} {how}: {}", made.err);
            assert_eq!(bench.read("map.csv").lines().count(), 61, "{method} {how}");
            assert!(bench.read("r.json").contains("\"missing_cells\""), "{method} {how}");
            let placed = bench.run(&format!("transform m.model t.csv --missing {how} -o new.csv"));
            assert_eq!(placed.code, 0, "{method} {how}: {}", placed.err);
            assert_eq!(bench.read("new.csv").lines().count(), 61, "{method} {how}");
        }
    }
    bench.does("embed t.csv -m ppca -d 1 --missing model -o map.csv --save m.model -q");
    bench.does("transform m.model t.csv --missing model -o new.csv --posterior p.csv -q");
    let posterior = bench.read("p.csv");
    assert_eq!((posterior.lines().next(), posterior.lines().count()), (Some("y1_std,log_density"), 61));
    assert_eq!(bench.read("new.csv"), bench.read("map.csv"));
    bench.write("d.csv", "0,1,\n1,0,2\n,2,0\n");
    let distances = bench.run("embed d.csv --input-kind distances -m mds --missing model -o map.csv");
    assert!(distances.code == 2 && distances.err.contains("give every distance"), "{}", distances.err);
    bench.write("e.csv", "a,b\n1,\n2,\n3,\n");
    let empty = bench.run("embed e.csv -m pca --missing model -o map.csv");
    assert!(empty.code == 2 && empty.err.contains("nothing was observed of column 2"), "{}", empty.err);
}

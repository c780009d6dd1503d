//! Columns of vectors, decimals behind a comma, and marks of one's own for missing cells, as the program takes them.

use crate::Bench;

/// Twelve rows of four numbers in a column `embedding`, beside `id`, `text` and `year`; pyarrow wrote it.
fn with(names: &[&str]) -> Bench {
    let bench = Bench::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/corpus");
    for name in names {
        bench.write(name, std::fs::read(folder.join(name)).unwrap());
    }
    bench
}

/// The same numbers as text.
fn plain() -> String {
    let cell = |i: usize, j: usize| ((7 * i + 3 * j) % 16) as f64 / 4.0;
    let row = |i: usize| (0..4).map(|j| cell(i, j).to_string()).collect::<Vec<_>>().join(",") + "\n";
    (0..12).map(row).collect()
}

#[test]
fn every_command_that_reads_points_reads_vectors() {
    let bench = with(&["vectors.parquet", "vectors.arrow"]);
    bench.write("plain.csv", plain());
    bench.does("embed plain.csv --header no -m isomap -k 5 -q -o plain-map.csv");
    for name in ["vectors.parquet", "vectors.arrow"] {
        let said = "warning: NAME: the vectors of column \"embedding\" were taken for the points and columns \"id\", \"text\", \
                    \"year\" left aside; use --vector embedding if that is right, or --ignore embedding if not";
        let answer = bench.does(&format!("embed {name} -m isomap -k 5 -o map.csv --json map.json"));
        assert!(answer.err.contains(&said.replace("NAME", name)), "{}", answer.err);
        assert_eq!(bench.read("map.csv"), bench.read("plain-map.csv"), "{name}");
        let report = bench.json("map.json");
        assert_eq!(report["columns"][3].to_string(), r#"{"name":"embedding","role":"vector","features":4}"#);
        assert!(report["warnings"].to_string().contains("were taken for the points"), "{}", report["warnings"]);
        let line = format!("embed {name} --vector embedding --label year --keep id --names text -m isomap -k 5");
        let answer = bench.does(&format!("{line} -o kept.csv --plot map.png --save map.model"));
        assert!(!answer.err.contains("taken for the points"), "{}", answer.err);
        assert!(bench.read("kept.csv").starts_with("y1,y2,id\n"));
        bench.does(&format!("transform map.model {name} --keep id -q -o again.csv"));
        assert_eq!(bench.read("again.csv").lines().count(), 13);
        for line in [
            format!("quality {name} map.csv --vector embedding -q --json -"),
            format!("dimension {name} --vector embedding --quick -q --json -"),
            format!("graph {name} --vector embedding -k 4 -q -o edges.csv"),
            format!("compare {name} --vector embedding --label year --methods pca -k 5 -q --report compare.html"),
            format!("embed plain.csv -m pca -q -o other.csv --labels {name}:year"),
        ] {
            bench.does(&line);
        }
        bench.does("reconstruct map.model map.csv -q -o back.csv");
        assert!(bench.read("back.csv").starts_with("embedding[0],embedding[1],embedding[2],embedding[3]\n"));
        bench.does("transform map.model back.csv -q -o back-map.csv");
        bench.refuses(
            &format!("embed {name} --vector year -m pca -o x.csv"),
            2,
            "holds no vectors of numbers; use --vector embedding",
        );
        bench.refuses(&format!("embed {name} --ignore embedding -m pca -o x.csv"), 2, "column \"text\" holds text");
        bench.refuses(&format!("embed {name} --keep embedding -m pca -o x.csv"), 2, "can only be the points");
    }
    bench.refuses("embed iris --vector 1 -m pca -o x.csv", 2, "leave out --vector: the file has no column of vectors");
}

#[test]
fn several_columns_of_vectors_are_named_and_missing_ones_obey_the_flag() {
    let bench = with(&["vector_kinds.parquet", "vector_holes.arrow"]);
    let fact =
        "hold vectors, and the points can be in one of them; use --vector with its name, as in --vector list_halffloat";
    bench.refuses("embed vector_kinds.parquet -m pca -o x.csv", 2, fact);
    bench.does("embed vector_kinds.parquet --vector fixed_halffloat -m pca -q -o half.csv");
    bench.does("embed vector_kinds.parquet --vector large_double -m pca -q -o double.csv");
    assert_eq!(bench.read("half.csv"), bench.read("double.csv"));
    let holes = "embed vector_holes.arrow --vector fixed -m pca";
    bench.refuses(&format!("{holes} -o x.csv"), 2, "row 1, column \"fixed[0]\" is missing (null)");
    bench.does(&format!("{holes} --missing drop -q -o dropped.csv"));
    let empty = bench.read("dropped.csv").lines().filter(|line| *line == ",").count();
    assert_eq!((empty, bench.read("dropped.csv").lines().count()), (3, 13));
}

#[test]
fn a_vector_that_breaks_off_within_a_stream_leaves_no_file_and_whole_rows() {
    let bench = with(&["vector_breaks.parquet", "vector_breaks.arrow"]);
    bench.does("embed vector_breaks.parquet --vector whole -m pca -d 4 -q -o map.csv --save pca.model");
    let piped = |line: &str| bench.run(&format!("{line} --batch-rows 2 -q"));
    for name in ["vector_breaks.parquet", "vector_breaks.arrow"] {
        for command in ["transform", "reconstruct"] {
            let of = |column: &str| format!("{command} pca.model {name} --vector {column}");
            let whole = piped(&of("whole")).out;
            assert_eq!(whole.lines().count(), 13, "{name} {command}");
            for (column, fact) in [
                ("longer", "row 9, column \"longer\" has "),
                ("shorter", "row 9, column \"shorter\" has 3 numbers and row 1 has 4; "),
                ("nothing", "row 9, column \"nothing\" has 0 numbers and row 1 has 4; "),
                ("null", "row 9, column \"null[0]\" is missing (null)"),
                ("hole", "row 9, column \"hole[1]\" is missing (null)"),
                ("nan", "row 9, column \"nan[1]\" is not a number (NaN)"),
                ("head", "row 1, column \"head[0]\" is missing (null)"),
            ] {
                bench.refuses(&format!("{} -o no.csv --json no.json --batch-rows 2", of(column)), 2, fact);
                bench.refuses(&format!("embed {name} --vector {column} -m pca -o no.csv"), 2, fact);
                let sampled = format!("embed {name} --vector {column} -m pca --fit-rows 5 --batch-rows 2");
                bench.refuses(&format!("{sampled} -o no.csv"), 2, fact);
                let answer = piped(&of(column));
                assert_eq!(answer.code, 2, "{name} {command} {column}");
                let rows = answer.out.lines().count();
                assert_eq!(answer.out, whole.split_inclusive('\n').take(rows).collect::<String>(), "{column}");
                assert!(answer.out.is_empty() || answer.out.ends_with('\n'), "{name} {command} {column}");
            }
        }
    }
}

#[test]
fn vectors_of_another_length_than_the_models_are_refused() {
    let bench = with(&["vector_breaks.parquet", "vector_breaks.arrow"]);
    bench.does("embed vector_breaks.parquet --vector whole -m pca -q -o map.csv --save pca.model");
    for name in ["vector_breaks.parquet", "vector_breaks.arrow"] {
        let fact =
            "the vectors of column \"five\" have 5 numbers and those of the model 4; use --vector with the column";
        for rows in [2, 1000] {
            let line = format!("transform pca.model {name} --vector five --batch-rows {rows}");
            bench.refuses(&format!("{line} -o no.csv"), 2, fact);
        }
    }
}

#[test]
fn rows_without_a_vector_are_dropped_also_at_the_top_of_a_stream() {
    let bench = with(&["vector_breaks.parquet", "vector_breaks.arrow"]);
    bench.does("embed vector_breaks.parquet --vector whole -m pca -q -o map.csv --save pca.model");
    let header = |text: &str| text.lines().next().map(String::from);
    for name in ["vector_breaks.parquet", "vector_breaks.arrow"] {
        let transformed = |column: &str| {
            let line = format!("transform pca.model {name} --vector {column} --missing drop --batch-rows 2");
            bench.does(&format!("{line} -q -o new.csv"));
            bench.read("new.csv")
        };
        let whole = transformed("whole");
        for (column, gone) in [("null", 8..9), ("hole", 8..9), ("nan", 8..9), ("head", 0..6)] {
            let row = |(at, line): (usize, &str)| {
                (at > 0).then(|| if gone.contains(&(at - 1)) { "," } else { line }.to_string())
            };
            let rows: Vec<String> = whole.lines().enumerate().filter_map(row).collect();
            let new = transformed(column);
            assert_eq!(new.lines().skip(1).collect::<Vec<_>>(), rows, "{name} {column}");
            assert_eq!(header(&new), header(&whole));
            let line = format!("embed {name} --vector {column} --missing drop -m pca");
            bench.does(&format!("{line} -q -o all.csv"));
            bench.does(&format!("{line} --fit-rows 100 --batch-rows 2 -q -o sampled.csv"));
            let empty = |name: &str| bench.read(name).lines().filter(|line| *line == ",").count();
            assert_eq!((empty("all.csv"), empty("sampled.csv")), (gone.len(), gone.len()), "{name} {column}");
        }
        bench.does(&format!("transform pca.model {name} --vector head --missing mean --batch-rows 2 -q -o mean.csv"));
        assert_eq!(bench.read("mean.csv").lines().filter(|line| *line == ",").count(), 0);
    }
}

#[test]
fn a_column_of_half_precision_or_decimals_is_data_and_brotli_is_unpacked() {
    let bench = with(&["decimals.parquet", "decimals.arrow", "decimals_bytes.parquet"]);
    for name in ["decimals.parquet", "decimals.arrow", "decimals_bytes.parquet"] {
        bench.does(&format!("embed {name} --ignore when,hole,long -m pca -q -o {name}.csv"));
        assert_eq!(bench.read(&format!("{name}.csv")), bench.read("decimals.parquet.csv"), "{name}");
        bench.refuses(
            &format!("embed {name} --ignore hole -m pca -o x.csv"),
            2,
            "column \"when\" holds dates or times",
        );
    }
}

#[test]
fn decimals_may_stand_behind_a_comma() {
    let bench = Bench::new();
    let text = "a,b,c\n1.5,2,x\n-2.25,0.5,y\n3e1,7.125,x\n4,5.5,y\n";
    bench.write("point.csv", text).write("comma.csv", text.replace(',', ";").replace('.', ","));
    bench.write("tab.tsv", text.replace(',', "\t").replace('.', ","));
    bench.write("spaces.txt", text.replace(',', "   ").replace('.', ","));
    bench.does("embed point.csv --label c --keep b -m pca -d 1 -q -o point-map.csv");
    for name in ["comma.csv", "tab.tsv", "spaces.txt"] {
        bench.does(&format!("embed {name} --decimal , --label c --keep b -m pca -d 1 -q -o map.csv"));
        assert_eq!(bench.read("map.csv"), bench.read("point-map.csv"), "{name}");
    }
    for name in ["comma.csv", "tab.tsv"] {
        let line = format!("embed {name} --label c -m pca -o x.csv");
        bench.refuses(&line, 2, "a decimal comma; use --decimal , or write decimals");
    }
    bench.refuses(
        "embed comma.csv --decimal , --delimiter , --label c -m pca -o x.csv",
        2,
        "commas cannot both separate",
    );
    bench.refuses("embed comma.csv --decimal x --label c -m pca -o x.csv", 2, "use . or ,");
    bench.write("mixed.csv", "a;b\n1,5;2\n2.5;3\n4;5\n");
    bench.refuses("embed mixed.csv --decimal , -m pca -o x.csv", 2, "holds \"2.5\", and --decimal , is used");
    bench.write("edges.csv", "0;1;0,5\n1;2;0,25\n2;3;1\n");
    bench.does("embed edges.csv --decimal , --input-kind graph -m isomap -d 1 -q -o edges-map.csv");
}

#[test]
fn marks_of_ones_own_are_missing_cells() {
    let bench = Bench::new();
    bench.write("marked.csv", "a,b,kind\n1,2,x\n-,3,y\n4,-999.0,-\n7,8,x\n9,1,y\n");
    bench.write("usual.csv", "a,b,kind\n1,2,x\nNA,3,y\n4,,\n7,8,x\n9,1,y\n");
    let fact = "row 2 (line 3), column \"a\" is missing (\"-\"), the first of 2 missing cells in 2 rows; use --missing";
    bench.refuses("embed marked.csv --label kind --na - --na -999 -m pca -d 1 -o x.csv", 2, fact);
    bench.refuses("embed marked.csv --label kind -m pca -d 1 -o x.csv", 2, "column \"a\" holds text (\"-\"");
    bench.does(
        "embed marked.csv --label kind --keep kind --na - --na=-999 --missing mean -m pca -d 1 -q -o marked-map.csv",
    );
    bench.does("embed usual.csv --label kind --keep kind --missing mean -m pca -d 1 -q -o usual-map.csv");
    assert_eq!(bench.read("marked-map.csv"), bench.read("usual-map.csv"));
    // A number marks cells of every format.
    for (name, ignore) in [("marks.csv", "--ignore label"), ("marks.parquet", "--ignore label"), ("marks.npy", "")] {
        bench.does(&format!("sample iris -q -o {name}"));
        let line = format!("embed {name} {ignore} --na 1.4 -m pca -q");
        bench.refuses(&format!("{line} -o x.csv"), 2, "column ");
        bench.does(&format!("{line} --missing mean -o {name}.map.csv"));
        assert_eq!(bench.read(&format!("{name}.map.csv")), bench.read("marks.csv.map.csv"), "{name}");
    }
    bench.does("embed marks.csv --ignore label -m pca -q -o unmarked.csv");
    assert_ne!(bench.read("unmarked.csv"), bench.read("marks.csv.map.csv"));
}

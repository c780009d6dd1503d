//! Tables in batches: the rows, columns and errors of all rows at once, and files that change while they are read.

use eigenfold::{
    Points,
    io::{Carried, Cells, ReadOptions, Table, Writer, read, read_batches, read_map, read_map_batches, write},
};
use std::path::Path;
use tempfile::tempdir;

/// The tables of all batches.
fn batches(path: &Path, options: &ReadOptions, rows: usize) -> Result<Vec<Table>, String> {
    let batches = read_batches(path, options, Some(rows)).map_err(|error| error.to_string())?;
    batches.map(|table| table.map_err(|error| error.to_string())).collect()
}

/// Every number of a table, nothing where it is missing.
fn numbers(points: &Points) -> Vec<Option<u64>> {
    let cell = |i: usize, c: usize| (!points.is_missing(i, c)).then(|| points.row(i)[c].to_bits());
    (0..points.rows()).flat_map(|i| (0..points.cols()).map(move |c| (i, c))).map(|(i, c)| cell(i, c)).collect()
}

fn texts(tables: &[Table]) -> Vec<Vec<String>> {
    let of = |table: &Table| table.kept.iter().map(Carried::texts).collect::<Vec<_>>();
    tables.iter().map(of).fold(Vec::new(), |mut all: Vec<Vec<String>>, kept| {
        all.resize(kept.len(), Vec::new());
        all.iter_mut().zip(kept).for_each(|(all, kept)| all.extend(kept));
        all
    })
}

trait Texts {
    fn texts(&self) -> Vec<String>;
}

impl Texts for Carried {
    fn texts(&self) -> Vec<String> {
        (0..self.cells.len()).map(|i| self.cells.text(i)).collect()
    }
}

/// Compares the batches of a file with all rows at once; whether it could be read.
fn compare(path: &Path, options: &ReadOptions) -> bool {
    let whole = read(path, options).map_err(|error| error.to_string());
    for rows in [1, 2, 7, 1000] {
        let found = batches(path, options, rows);
        match (&whole, found) {
            (Ok(whole), Ok(tables)) => {
                let name = format!("{} by {rows}", path.display());
                let all: Vec<_> = tables.iter().flat_map(|table| numbers(&table.points)).collect();
                assert_eq!(all, numbers(&whole.points), "{name}");
                assert_eq!(texts(&tables), texts(std::slice::from_ref(whole)), "{name}");
                assert_eq!((&tables[0].columns, &tables[0].notes), (&whole.columns, &whole.notes), "{name}");
                assert!(tables.iter().all(|table| table.schema == whole.schema), "{name}");
            }
            (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => {
                panic!("{}: all rows at once are read, batches of {rows} are not: {error}", path.display())
            }
            (Err(error), Ok(_)) => panic!("{}: batches of {rows} are read, all rows are not: {error}", path.display()),
        }
    }
    whole.is_ok()
}

#[test]
fn every_file_of_the_corpus_has_the_rows_and_the_verdict_of_all_rows_at_once() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut count = [0, 0];
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        // A few bytes that stand for so many rows that all of them have no room: in batches they have.
        if ["vector_nulls.parquet", "rle_1e8_rows.parquet"].iter().any(|name| path.ends_with(name)) {
            continue;
        }
        for missing in [false, true] {
            let options = ReadOptions { missing, ..ReadOptions::default() };
            count[usize::from(compare(&path, &options))] += 1;
        }
    }
    assert!(count[0] > 10 && count[1] > 20, "{count:?}");
}

#[test]
fn texts_of_all_kinds_are_cut_between_rows() {
    let directory = tempdir().unwrap();
    let long: String =
        (0..400).map(|i| format!("{i},{},\"n, {i}\nx\",{}\n", i * 7 % 13, f64::from(i).sqrt())).collect();
    for (name, text) in [
        ("quoted.csv", format!("a,b,id,c\n{long}")),
        ("returns.csv", format!("a,b,id,c\n{long}").replace('\n', "\r\n")),
        ("old.csv", "a,b\r1,2\r3,4\r5,6\r7,8".into()),
        ("spaces.txt", "  1.5  2 \n 3\t4\n5   6\n 7 8 \n\n9 10\n".into()),
        ("comments.csv", "# one\n\n# two\na,b\n1,2\n\n3,4\n5,6\n".into()),
        ("semicolons.csv", "a;b\n1;2\n3;4\n5;6\n".into()),
        ("blank.csv", "a,b\n1,2\n\n\n\n3,4\n5,6\n\n".into()),
        ("trailing.csv", "a,b,\n1,2,\n3,4,\n5,6,\n".into()),
        ("counting.csv", ",a,b\n0,2,3\n1,4,5\n2,6,7\n".into()),
        ("not_counting.csv", ",a,b\n0,2,3\n1,4,5\n2,6,7\n9,1,1\n".into()),
        ("ragged.csv", "a,b\n1,2\n3,4\n5\n7,8\n".into()),
        ("unclosed.csv", "a,b\n1,2\n3,\"4\n5,6\n7,8\n".into()),
        ("holes.csv", "a,b\n1,\n2,\n3,\n4,5\n".into()),
        ("empty.csv", "a,b\n1,\n2,\n3,\n".into()),
    ] {
        let path = directory.path().join(name);
        std::fs::write(&path, &text).unwrap();
        for missing in [false, true] {
            compare(&path, &ReadOptions { missing, ..ReadOptions::default() });
        }
        if text.contains("id") {
            let keep = vec!["id".to_string()];
            assert!(compare(&path, &ReadOptions { keep, ..ReadOptions::default() }), "{name}");
        }
    }
}

#[test]
fn errors_name_the_row_and_the_line_of_the_whole_file() {
    let directory = tempdir().unwrap();
    let error = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        batches(&path, &ReadOptions::default(), 3).unwrap_err().replace(path.to_str().unwrap(), name)
    };
    let mut rows: Vec<String> = (0..20).map(|i| format!("{i}.5,{}", i * i)).collect();
    rows[14] = "1.5,oops".into();
    let message = error("text.csv", &format!("a,b\n{}\n", rows.join("\n")));
    assert!(message.contains("holds text (\"oops\" in row 15 (line 16))"), "{message}");
    rows[14] = "1.5".into();
    let message = error("ragged.csv", &format!("# x\na,b\n{}\n", rows.join("\n")));
    assert!(message.contains("row 15 (line 17) has 1 values and the first has 2"), "{message}");
    rows[14] = "1.5,".into();
    let message = error("missing.csv", &format!("a,b\n{}\n", rows.join("\n")));
    assert!(message.contains("row 15 (line 16), column \"b\" is empty; "), "{message}");

    let mut values: Vec<f64> = (0..40).map(f64::from).collect();
    let path = directory.path().join("nan.npy");
    write(&path, &["a".into(), "b".into()], &Points::new(20, 2, values.clone()).unwrap(), &[]).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 8 * 11;
    bytes[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let message = batches(&path, &ReadOptions::default(), 4).unwrap_err();
    assert!(message.contains("row 15, column 2 is not a number (NaN); "), "{message}");

    for extension in if cfg!(feature = "parquet") { &["arrow", "parquet"][..] } else { &["arrow"] } {
        values[29] = f64::NAN;
        let path = directory.path().join("null.").with_extension(extension);
        write(&path, &["a".into(), "b".into()], &Points::with_missing(20, 2, values.clone()).unwrap(), &[]).unwrap();
        let message = batches(&path, &ReadOptions::default(), 4).unwrap_err();
        assert!(message.contains("row 15, column \"b\" is missing (null)"), "{message}");
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("a.npy");
    let points = Points::new(50, 2, (0..100).map(f64::from).collect()).unwrap();
    let names = ["a".into(), "b".into()];
    for grows in [true, false] {
        write(&path, &names, &points, &[]).unwrap();
        let mut batches = read_batches(&path, &ReadOptions::default(), Some(10)).unwrap();
        assert_eq!((batches.rows(), batches.next().unwrap().unwrap().points.rows()), (Some(50), 10));
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(if grows { 5000 } else { 300 }).unwrap();
        let error = batches.by_ref().find_map(Result::err).unwrap().to_string();
        assert!(
            ["changed while it was read", "ends before the last row"].iter().any(|fact| error.contains(fact)),
            "{error}"
        );
        assert!(batches.next().is_none());
    }
}

#[test]
fn a_table_that_is_written_in_batches_has_the_bytes_of_all_rows_at_once() {
    let directory = tempdir().unwrap();
    let rows = 300_000;
    let points = Points::new(rows, 2, (0..2 * rows).map(|i| (i as f64).sin()).collect()).unwrap();
    let ids = Carried { name: "id".into(), cells: Cells::Texts((0..rows).map(|i| format!("r{}", i % 1000)).collect()) };
    let names = ["y1".to_string(), "y2".to_string()];
    for name in ["a.csv", "a.tsv", "a.csv.gz", "a.csv.zst", "a.npy", "a.npy.gz", "a.arrow", "a.parquet"] {
        if name.contains("parquet") && cfg!(not(feature = "parquet")) {
            continue;
        }
        let carried = if name.contains("npy") { &[][..] } else { std::slice::from_ref(&ids) };
        let (whole, batched) = (directory.path().join(format!("whole-{name}")), directory.path().join(name));
        write(&whole, &names, &points, carried).unwrap();
        let known = Writer::needs_rows(&batched).then_some(rows);
        assert_eq!(known.is_some(), name == "a.npy.gz");
        let mut writer = Writer::open(&batched, &names, !carried.is_empty(), known).unwrap();
        for start in (0..rows).step_by(70_001) {
            let some: Vec<usize> = (start..rows.min(start + 70_001)).collect();
            let cells = |column: &Carried| Carried {
                name: column.name.clone(),
                cells: Cells::Texts(some.iter().map(|&i| column.cells.text(i)).collect()),
            };
            writer.write(&points.select(&some), &carried.iter().map(cells).collect::<Vec<_>>()).unwrap();
            assert!(!batched.exists(), "{name}");
        }
        writer.finish().unwrap();
        assert!(std::fs::read(&whole).unwrap() == std::fs::read(&batched).unwrap(), "{name}");
    }
    // What is not finished leaves nothing.
    let gone = directory.path().join("gone.csv");
    let mut writer = Writer::open(&gone, &names, false, None).unwrap();
    writer.write(&points, &[]).unwrap();
    drop(writer);
    assert!(std::fs::read_dir(directory.path()).unwrap().all(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        !name.contains("gone") && !name.starts_with('.')
    }));
}

#[test]
fn an_embedding_in_batches_has_its_coordinates_alone() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("map.csv");
    std::fs::write(&path, "id,y1,y2\n7,1,2\n8,3,4\n9,5,6\n").unwrap();
    let whole = read_map(&path, &ReadOptions::default()).unwrap().points;
    let batches = read_map_batches(&path, &ReadOptions::default(), Some(1)).unwrap();
    let values: Vec<f64> = batches.flat_map(|table| table.unwrap().points.into_values()).collect();
    assert_eq!(values, whole.values());
}

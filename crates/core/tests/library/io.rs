//! Files: what is written is read back bit for bit, and no file, however broken, does worse than an error.

use eigenfold::{
    Graph, Points,
    io::{Labels, ReadOptions, Table, read, read_graph, write, write_graph},
};
use proptest::prelude::*;
use std::path::Path;
use tempfile::{TempDir, tempdir};

const FORMATS: &[&str] = if cfg!(feature = "parquet") {
    &["csv", "tsv", "txt", "npy", "arrow", "parquet"]
} else {
    &["csv", "tsv", "txt", "npy", "arrow"]
};

/// A fresh directory and the path of a file in it.
fn fresh(name: &str) -> (TempDir, String) {
    let directory = tempdir().unwrap();
    let path = directory.path().join(name).to_str().unwrap().to_string();
    (directory, path)
}

fn read_text(text: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, String> {
    let (_directory, path) = fresh("t.csv");
    std::fs::write(&path, text).unwrap();
    read(&path, options).map_err(|error| error.to_string().replace(&path, "t.csv"))
}

fn graph_in(path: &str) -> eigenfold::Result<Graph> {
    read_graph(path, &ReadOptions::default()).map(|(graph, _)| graph)
}

fn message(text: impl AsRef<[u8]>) -> String {
    read_text(text, &ReadOptions::default()).unwrap_err()
}

fn values(text: impl AsRef<[u8]>) -> Vec<f64> {
    read_text(text, &ReadOptions::default()).unwrap().points.values().to_vec()
}

fn label(column: &str) -> ReadOptions {
    ReadOptions { label: Some(column.into()), ..Default::default() }
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| name.to_string()).collect()
}

#[test]
fn every_way_to_write_the_same_table_reads_the_same() {
    let expected = [1.0, 2.5, -3e-7, 4.0];
    for text in [
        "1,2.5\n-3e-7,4\n",
        "x,y\n1,2.5\n-3e-7,4",
        "x;y\r\n1;2.5\r\n-3e-7;4\r\n",
        "x\ty\n1\t2.5\n-3e-7\t4\n",
        "\u{feff}x,y\n1,2.5\n-3e-7,4\n",
        "# made by hand\n#\n\nx,y\n1,2.5\n\n-3e-7,4\n\n",
        "\"x\",\"y\"\n\"1\",\"2.5\"\n\"-3e-7\",\"4\"\n",
        "x,y,\n1,2.5,\n-3e-7,4,\n",
        "1,2.5,\n-3e-7,4,\n",
        "x,y\n1,2.5,\n-3e-7,4,\n",
        " x , y\n 1 , 2.5\n -3e-7 ,4\n   \n",
        "  1.00e+00   2.5\n -3e-7 4\n",
    ] {
        assert_eq!(values(text), expected, "{text:?}");
    }
    assert_eq!(values("1\r2.5\r-3e-7\r4\r"), expected);
    assert_eq!(values("7"), [7.0]);
}

#[test]
fn labels_are_taken_out_of_the_data_by_name_or_number() {
    let text = "x,kind,\"a b\"\n1,\"cat, or \"\"dog\"\"\",2\n3,ant,4\n";
    let table = read_text(text, &label("kind")).unwrap();
    assert_eq!(table.points.values(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(table.columns.unwrap(), ["x", "a b"]);
    let classes = Labels::Classes { names: names(&["ant", "cat, or \"dog\""]), of: vec![Some(1), Some(0)] };
    assert_eq!(table.labels.unwrap(), classes);
    assert_eq!(read_text("1,a\n3,b\n", &label("2")).unwrap().points.values(), [1.0, 3.0]);
    let ignore = ReadOptions { ignore: names(&["kind"]), ..Default::default() };
    assert_eq!(read_text(text, &ignore).unwrap().points.cols(), 2);
}

#[test]
fn messages_say_where_and_what_to_do() {
    for (text, expected) in [
        ("", "t.csv: the file is empty; give at least two rows of numbers"),
        (
            "x,y\n",
            "t.csv: there is a header of 2 columns and no row of data; add rows below it, or use `header` no if it is a point",
        ),
        (
            "x,s\n1,a\n",
            "t.csv: column \"s\" holds text (\"a\" in row 1 (line 2)); correct the cell, or use `label` s, `one-hot` s or `ignore` s",
        ),
        (
            "1,a\n2,b\n",
            "t.csv: column 2 holds text (\"a\" in row 1 (line 1)); correct the cell, or use `label` 2, `one-hot` 2 or `ignore` 2, or `header` yes if this row names the columns",
        ),
        (
            "O.5,0.25\n1.5,2.5\n",
            "t.csv: column 1 holds text (\"O.5\" in row 1 (line 1)); correct the cell, or use `label` 1, `one-hot` 1 or `ignore` 1, or `header` yes if this row names the columns",
        ),
        ("x,s\n1,\"a\n2,b\n", "t.csv: the quote that opens in line 2 is never closed; close it or remove it"),
        (
            "#\n1,\"a\n2,\"b\"\n",
            "t.csv: the quote that opens in line 2 closes within a cell in line 3; close it where its cell ends, and double quotes inside a cell",
        ),
        (
            "x,y\n1,2\n\n3,\n",
            "t.csv: row 2 (line 4), column \"y\" is empty; use `missing` model, mean or drop, fill it in, or use `ignore` y",
        ),
        (
            "#\nx,y\n1,2\nNA,4\n",
            "t.csv: row 2 (line 4), column \"x\" is missing (\"NA\"); use `missing` model, mean or drop, fill it in, or use `ignore` x",
        ),
        (
            "1,2\n3\n",
            "t.csv: row 2 (line 2) has 1 values and the first has 2; give every row the same number, or name the delimiter",
        ),
        (
            "x;y\n1,5;2\n",
            "t.csv: row 1 (line 2), column \"x\" holds \"1,5\", a decimal comma; use `decimal` , or write decimals with a point",
        ),
        (
            "x,my y\n1,2\n3,-1e300\n",
            "t.csv: row 2 (line 3), column \"my y\" is -1e300, beyond 1e60; rescale the column or use `ignore` \"my y\"",
        ),
        (
            "x,y\n1,2\n3,inf\n",
            "t.csv: row 2 (line 3), column \"y\" is infinite; replace it, remove the row, or use `ignore` y",
        ),
        (",x\n0,5\n1,7\n", "t.csv: column 1 has no name and only counts the rows; use `ignore` 1"),
        ("\u{0}\u{1}", "t.csv: is not text; save the table as .csv, .npy or .parquet"),
    ] {
        assert_eq!(message(text), expected);
    }
    assert!(message(b"\xff\xfe1\0,\x002\0").contains("is UTF-16 text; save it as UTF-8"));
    assert!(message(b"PK\x03\x04").contains("zip archive"));
    let missing = read_text("x,y\n1,2\n", &label("z")).unwrap_err();
    assert_eq!(missing, "t.csv: column \"z\" was not found; use `label` with one of \"x\", \"y\"");
    let none = read_text("x,s\n1,\n2,NA\n", &label("s")).unwrap_err();
    assert!(none.contains("no row has a label in column \"s\"; name another column"), "{none}");
}

#[test]
fn booleans_are_numbers_and_dates_are_called_so() {
    assert_eq!(values("a,b\ntrue,1.5\nFALSE,2\n"), [1.0, 1.5, 0.0, 2.0]);
    assert_eq!(values("True,False\nFalse,True\n"), [1.0, 0.0, 0.0, 1.0]);
    let date = message("day,x\n2024-01-05,1\n2024-01-06,2\n");
    let expected = "column \"day\" holds dates or times (\"2024-01-05\" in row 1 (line 2)), which are not numbers; use `ignore` \
                    day, or write numbers, such as days since the first of them";
    assert!(date.contains(expected), "{date}");
    assert!(message("a,b\nyes,1\nno,2\n").contains("column \"a\" holds text (\"yes\""));
}

#[test]
fn columns_are_left_out_by_lists_and_patterns() {
    let text = "meta_a,x,meta_b,\"y,z\",id\n1,2,3,4,5\n6,7,8,9,10\n";
    let left = |ignore: &[&str]| {
        let options = ReadOptions { ignore: names(ignore), ..ReadOptions::default() };
        read_text(text, &options).map(|table| table.columns.unwrap())
    };
    assert_eq!(left(&["meta_*", "id"]), Ok(names(&["x", "y,z"])));
    assert_eq!(left(&["id,meta_*"]), Ok(names(&["x", "y,z"])));
    assert_eq!(left(&["y,z"]), Ok(names(&["meta_a", "x", "meta_b", "id"])));
    assert!(left(&["x,nothing"]).unwrap_err().contains("column \"nothing\" was not found"));
    assert!(left(&["none_*"]).unwrap_err().contains("no column matches \"none_*\""));
    // A name in a list proves a header, too.
    let options = ReadOptions { ignore: names(&["1990,2000"]), ..ReadOptions::default() };
    assert_eq!(read_text("1990,2000,2010\n1,2,3\n4,5,6\n", &options).unwrap().columns, Some(names(&["2010"])));
}

#[test]
fn a_first_row_that_may_be_either_is_reported() {
    let notes = |text: &str, options: &ReadOptions| read_text(text, options).unwrap().notes;
    let plain = ReadOptions::default();
    let point = notes("1,2,3\n-0.664,-0.613,-1.605\n0.729,0.806,-0.476\n", &plain);
    assert_eq!(point.len(), 1);
    let way_out = "was taken for a point; use `header` yes if it names the columns";
    assert!(point[0].ends_with(&format!("line 1 (\"1\", \"2\", \"3\") {way_out}")), "{point:?}");
    let years = "#\n1990,2000,2010,country\n0.5,0.6,0.7,France\n0.1,0.2,0.3,Peru\n0.2,0.1,0.3,Mali\n";
    let table = read_text(years, &label("4")).unwrap();
    assert_eq!((table.points.rows(), table.columns.unwrap()), (3, names(&["1990", "2000", "2010"])));
    assert!(table.notes[0].contains("line 2 (") && table.notes[0].contains("use `header` no"), "{:?}", table.notes);
    let table = read_text(years, &label("country")).unwrap();
    assert_eq!((table.points.rows(), table.notes.len()), (3, 0));
    for header in [true, false] {
        let given = ReadOptions { header: Some(header), ..label("4") };
        assert_eq!(read_text(years, &given).unwrap().points.rows(), if header { 3 } else { 4 });
        assert_eq!(notes(years, &given), [""; 0]);
    }
    assert_eq!(notes("x,y\n1,2\n", &plain), [""; 0]);
    let missing = read_text("1.5,a\n2.5,a\n", &label("phase")).unwrap_err();
    assert!(missing.ends_with("`label` with a number from 1 to 2, or `header` yes if the first row names the columns"));
}

#[test]
fn what_a_file_claims_is_held_against_the_limit_before_it_is_allocated() {
    let limited = |memory: u64| ReadOptions { memory: Some(memory), ..Default::default() };
    let text: String = (0..1000).map(|i| format!("{i},{i}\n")).collect();
    assert!(read_text(&text, &limited(30_000)).is_ok());
    for memory in [5_000, 20_000] {
        let refused = read_text(&text, &limited(memory)).unwrap_err();
        assert!(refused.contains("the limit is") && refused.contains("`memory`"), "{refused}");
    }
    let (_directory, path) = fresh("e.csv");
    std::fs::write(&path, (0..100).map(|i| format!("{i},{}\n", i + 1)).collect::<String>() + "0,90000\n").unwrap();
    assert!(read_graph(&path, &limited(10_000_000)).is_ok());
    let refused = read_graph(&path, &limited(1_000_000)).unwrap_err().to_string();
    assert!(refused.contains("the limit is 1 MB"), "{refused}");
    let (_directory, path) = fresh("a.npy");
    std::fs::write(&path, npy(1, "<f8", true, "(1000, 2)", &[0; 16_000])).unwrap();
    assert!(read(&path, &limited(40_000)).is_ok());
    assert!(read(&path, &limited(20_000)).unwrap_err().to_string().contains("the limit is 20 kB"));
}

#[test]
fn sources_are_known_by_name_extension_and_content() {
    assert_eq!(read("iris", &ReadOptions::default()).unwrap().points.rows(), 150);
    let error = |source: &str| read(source, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error("none.csv"), "none.csv: there is no such file; check the name, or use digits or iris");
    let (directory, path) = fresh("data");
    assert!(error(directory.path().to_str().unwrap()).ends_with("is a directory; name a file in it"));
    let folder = write(directory.path().to_str().unwrap(), &names(&["x"]), &Points::from_rows(&[[1.0]]).unwrap(), &[]);
    assert!(folder.unwrap_err().to_string().ends_with("is a directory; name a file in it"));
    std::fs::write(&path, "1,2\n3,4\n").unwrap();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().points.rows(), 2);
    let npy = format!("{path}.NPY");
    write(&npy, &names(&["x"]), &Points::from_rows(&[[1.0]]).unwrap(), &[]).unwrap();
    std::fs::rename(&npy, &path).unwrap();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().points.rows(), 1);
    let unknown = write(format!("{path}.xyz"), &names(&["x"]), &Points::from_rows(&[[1.0]]).unwrap(), &[]);
    assert!(unknown.unwrap_err().to_string().contains("use .csv, .tsv, .txt, .npy, .parquet or .arrow, alone or with"));
}

#[test]
fn a_large_table_is_read_in_order_and_its_errors_keep_their_rows() {
    let n = 200_000;
    let mut text: String = (0..n).map(|i| format!("{i},{}\n", -(i as f64))).collect();
    let expected: Vec<f64> = (0..n).flat_map(|i| [i as f64, -(i as f64)]).collect();
    assert!(text.len() > 2 << 20, "several components");
    assert_eq!(values(&text), expected);
    text.push_str("oops,1\n");
    assert!(message(&text).contains("(\"oops\" in row 200001 (line 200001))"));
}

#[test]
fn labels_are_written_and_read_back() {
    let points = Points::from_rows(&[[1.0], [2.0], [3.0]]).unwrap();
    let classes = Labels::Classes { names: names(&["a,b", "c"]), of: vec![Some(1), None, Some(0)] };
    for labels in [classes, Labels::Values(vec![0.5, 0.25, 1e-9])] {
        for format in FORMATS {
            let (_directory, path) = fresh(&format!("t.{format}"));
            let written = write(&path, &names(&["x"]), &points, &[labels.carried("kind")]);
            if *format == "npy" {
                assert!(written.unwrap_err().to_string().contains("no other columns"));
                continue;
            }
            written.unwrap();
            let table = read(&path, &label("kind")).unwrap();
            assert_eq!((table.points, table.labels.unwrap()), (points.clone(), labels.clone()));
        }
    }
}

#[test]
fn graphs_are_read_both_ways_and_written_as_they_are() {
    let (_directory, path) = fresh("edges.csv");
    std::fs::write(&path, "i,j,length\n0,1,2.5\n3,1,1\n").unwrap();
    let graph = graph_in(&path).unwrap();
    let expected = vec![vec![(1, 2.5)], vec![(3, 1.0), (0, 2.5)], vec![], vec![(1, 1.0)]];
    assert_eq!(graph, Graph::from_lists(expected).unwrap());
    write_graph(&path, &graph).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "i,j,length\n0,1,2.5\n1,3,1\n1,0,2.5\n3,1,1\n");
    assert_eq!(graph_in(&path).unwrap(), graph);
    for (text, part) in [
        ("0,1\n1,1\n", "row 2 joins point 1 to itself"),
        ("0,1,-1\n", "row 1 has the length -1"),
        ("0,1.5\n", "row 1 has the index 1.5"),
        ("0,4000000000\n", "without gaps"),
        ("0,1,2,3\n", "an edge list has 4 columns"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = graph_in(&path).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_full_device_is_an_error() {
    let points = Points::from_rows(&[[1.0]]).unwrap();
    let link = fresh("full.csv");
    std::os::unix::fs::symlink("/dev/full", &link.1).unwrap();
    let error = write(&link.1, &names(&["x"]), &points, &[]).unwrap_err().to_string();
    assert!(error.contains("the disk is full; free some space"), "{error}");
    let error = write("/dev/full", &names(&["x"]), &points, &[]).unwrap_err().to_string();
    assert!(error.starts_with("/dev/full: the disk is full"), "{error}");
    assert!(Path::new(&link.1).is_symlink());
}

/// An NPY file made by hand.
fn npy(version: u8, descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    if version == 1 {
        file.extend((header.len() as u16).to_le_bytes());
    } else {
        file.extend((header.len() as u32).to_le_bytes());
    }
    file.extend(header.bytes());
    file.extend(data);
    file
}

fn read_npy(bytes: &[u8]) -> Result<Table, String> {
    let (_directory, path) = fresh("a.npy");
    std::fs::write(&path, bytes).unwrap();
    read(&path, &ReadOptions::default()).map_err(|error| error.to_string().replace(&path, "a.npy"))
}

#[test]
fn all_types_orders_and_versions_of_npy_are_read() {
    macro_rules! check {
        ($($code:literal: $type:ty,)*) => {$(
            let numbers = [1, 2, 3, 4, 5, 100].map(|number: i8| number as $type);
            let little: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            let big: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
            for version in [1, 2, 3] {
                for (mark, data) in [('<', &little), ('>', &big)] {
                    let descr = format!("{mark}{}", $code);
                    let rows = read_npy(&npy(version, &descr, false, "(2, 3)", data)).unwrap().points;
                    assert_eq!(rows.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 100.0], "{descr}");
                    let columns = read_npy(&npy(version, &descr, true, "(2, 3)", data)).unwrap().points;
                    assert_eq!(columns.values(), [1.0, 3.0, 5.0, 2.0, 4.0, 100.0], "{descr}");
                }
            }
        )*};
    }
    check! { "i1": i8, "i2": i16, "i4": i32, "i8": i64, "u1": u8, "u2": u16, "u4": u32, "u8": u64, "f4": f32, "f8": f64, }
    assert_eq!(read_npy(&npy(1, "|b1", false, "(3,)", &[0, 1, 1])).unwrap().points.values(), [0.0, 1.0, 1.0]);
    assert_eq!(read_npy(&npy(1, "<f2", false, "(1, 2)", &[0, 0x3c, 0, 0xc0])).unwrap().points.values(), [1.0, -2.0]);
    assert_eq!(read_npy(&npy(1, "<i2", false, "(1,)", &[0xfe, 0xff])).unwrap().points.values(), [-2.0]);
}

#[test]
fn npy_files_that_break_their_promise_are_refused() {
    let short = read_npy(&npy(1, "<f8", false, "(1000, 64)", &[0; 100])).unwrap_err();
    let fact = "the header promises 1000 x 64 float64 (512,000 bytes) and the file holds 100 bytes";
    assert!(short.starts_with(&format!("a.npy: {fact}; ")), "{short}");
    assert!(read_npy(&npy(1, "<f8", false, "(4611686018427387904, 8)", &[0; 8])).is_err());
    assert!(read_npy(&npy(4, "<f8", false, "(1,)", &[0; 8])).unwrap_err().contains("is NPY version 4.0"));
    assert!(read_npy(&npy(1, "<f8", false, "(0, 5)", &[])).unwrap_err().contains("holds no rows"));
    assert!(read_npy(&npy(1, "<f8", false, "(5, 0)", &[])).is_err());
    let nan = read_npy(&npy(1, "<f8", false, "(1,)", &f64::NAN.to_le_bytes())).unwrap_err();
    assert!(nan.starts_with("a.npy: row 1, column 1 is not a number (NaN); "), "{nan}");
    assert!(read_npy(b"PK\x03\x04....").unwrap_err().contains(".npz"));
}

/// A usable number of any size.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("usable", |v| v.abs() <= 1e60), -1e6..1e6, Just(0.0), Just(-0.0), Just(5e-324)]
}

fn points() -> impl Strategy<Value = Points> {
    (1usize..20, 1usize..6).prop_flat_map(|(rows, cols)| {
        prop::collection::vec(number(), rows * cols).prop_map(move |v| Points::new(rows, cols, v).unwrap())
    })
}

/// Reads the bytes as every kind of file; the answers do not matter, that they come does.
fn read_every_way(bytes: &[u8]) {
    for extension in ["csv", "tsv", "npy", "parquet", "data"] {
        let (_directory, path) = fresh(&format!("t.{extension}"));
        std::fs::write(&path, bytes).unwrap();
        for options in [ReadOptions::default(), label("1"), ReadOptions { header: Some(true), ..Default::default() }] {
            if let Err(error) = read(&path, &options) {
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
        let _ = graph_in(&path);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_written_is_read_back_bit_for_bit(points in points()) {
        let columns: Vec<String> = (1..=points.cols()).map(|c| format!("y{c}")).collect();
        for format in FORMATS {
            let (_directory, path) = fresh(&format!("t.{format}"));
            write(&path, &columns, &points, &[]).unwrap();
            let table = read(&path, &ReadOptions::default()).unwrap();
            let bits = |p: &Points| p.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&table.points), bits(&points));
            prop_assert_eq!(table.points.cols(), points.cols());
            if *format != "npy" {
                prop_assert_eq!(table.columns.as_ref(), Some(&columns));
            }
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_every_way(&bytes);
    }

    #[test]
    fn random_text_does_no_harm(text in "[0-9a,;\t\"#.\r\n -]{0,120}") {
        read_every_way(text.as_bytes());
    }

    #[test]
    fn cut_and_flipped_files_do_no_harm(points in points(), cut in 0.0..1.0f64, at in any::<prop::sample::Index>(), bit in 0..8) {
        let columns: Vec<String> = (1..=points.cols()).map(|c| format!("y{c}")).collect();
        for format in FORMATS {
            let (_directory, path) = fresh(&format!("t.{format}"));
            write(&path, &columns, &points, &[]).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            let flipped = at.index(bytes.len());
            std::fs::write(&path, &bytes[..(cut * bytes.len() as f64) as usize]).unwrap();
            let _ = read(&path, &ReadOptions::default());
            bytes[flipped] ^= 1u8 << bit;
            std::fs::write(&path, &bytes).unwrap();
            let _ = read(&path, &ReadOptions::default());
            let _ = graph_in(&path);
        }
    }
}

//! Data that cannot be embedded: one line that says where and what to do, exit code 2, no file.

use crate::{Bench, cloud};

#[test]
fn numbers_that_are_none_are_named_by_row_and_column() {
    let bench = Bench::new();
    let message = bench.write("nan.csv", "a,b\n1,2\n3,NaN\n4,5\n").refuses("embed nan.csv -o m.csv", 2, "row 2");
    assert!(message.contains('b'), "{message}");
    bench.write("huge.csv", "1,2\n3,1e300\n4,5\n").refuses("embed huge.csv -o m.csv", 2, "1e300");
    bench.write("inf.csv", "1,2\n3,inf\n4,5\n").refuses("embed inf.csv -o m.csv", 2, "row 2");
    bench.write("text.csv", "a,b\n1,2\n3,four\n").refuses("embed text.csv -o m.csv", 2, "four");
    bench.write("gap.csv", "a,b\n1,2\n3,\n4,5\n").refuses("embed gap.csv -o m.csv", 2, "row 2");
    bench.write("ragged.csv", "1,2\n3,4,5\n6,7\n").refuses("embed ragged.csv -o m.csv", 2, "3");
}

#[test]
fn too_little_data_is_refused() {
    let bench = Bench::new();
    bench.write("empty.csv", "").refuses("embed empty.csv -o m.csv", 2, "empty");
    bench.write("blank.csv", "\n\n\n").refuses("embed blank.csv -o m.csv", 2, "blank.csv");
    bench.write("header.csv", "a,b,c\n").refuses("embed header.csv -o m.csv", 2, "header.csv");
    bench.write("one.csv", "a,b\n1,2\n").refuses("embed one.csv -m pca -o m.csv", 2, "only 1 point");
    bench.refuses("embed one.csv -m isomap -o m.csv", 2, "only 1 point");
    let answer = bench.run_with_input("embed - -m pca -o m.csv", b"");
    answer.is_one_line("embed -", 2, "standard input");
}

#[test]
fn files_that_are_not_what_they_seem_are_refused() {
    let bench = Bench::new();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0";
    bench.write("picture.npy", png).refuses("embed picture.npy -o m.csv", 2, "picture.npy");
    bench.write("text.npy", cloud(9, 2)).refuses("embed text.npy -o m.csv", 2, "text.npy");
    bench.write("short.npy", b"\x93NUMPY\x01\0v\0{'descr': '<f8'").refuses("embed short.npy -o m.csv", 2, "short.npy");
    bench.write("archive.npz", b"PK\x03\x04\x14\0\0\0\0\0").refuses("embed archive.npz -o m.csv", 2, "archive.npz");
    bench.write("sheet.xlsx", b"PK\x03\x04\x14\0\x06\0\x08").refuses("embed sheet.xlsx -o m.csv", 2, "sheet.xlsx");
    bench.write("text.parquet", cloud(9, 2)).refuses("embed text.parquet -o m.csv", 2, "text.parquet");
    bench.write("picture.csv", png).refuses("embed picture.csv -o m.csv", 2, "picture.csv");
    bench.write("latin1.csv", b"a,caf\xe9\n1,2\n3,\xff\n").refuses("embed latin1.csv -o m.csv", 2, "latin1.csv");
    bench.refuses("embed nowhere.csv -o m.csv", 2, "there is no such file");
    bench.refuses("embed . -o m.csv", 2, "is a directory");
    bench.refuses("embed nowhere.csv --input-kind graph -o m.csv", 2, "there is no such file");
}

#[test]
fn a_graph_in_components_is_refused_where_that_is_requested() {
    let bench = Bench::new();
    let far: String = (0..12).map(|i| format!("{},{}\n", (i % 6) + 1000 * (i / 6), (i * i) % 5)).collect();
    bench.write("far.csv", far);
    let line = "embed far.csv -m isomap -k 2 --disconnected error -o m.csv --plot m.png";
    let message = bench.refuses(line, 2, "the graph has 2 connected components");
    assert!(message.contains("--disconnected join"), "{message}");
    bench.does("embed far.csv -m isomap -k 2 --disconnected join -o m.csv");
    assert_eq!(bench.read("m.csv").lines().count(), 13, "rows never vanish");
    bench.does("embed far.csv -m isomap -k 2 --disconnected separate -o m.csv");
    assert_eq!(bench.read("m.csv").lines().count(), 13, "rows never vanish");
}

#[test]
fn parameters_that_do_not_fit_the_data_are_refused() {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(20, 3));
    bench.refuses("embed cloud.csv -m isomap -k 20 -o m.csv", 2, "19");
    bench.refuses("embed cloud.csv -m isomap -k 0 -o m.csv", 2, "0");
    bench.refuses("graph cloud.csv -k 0 -o m.csv", 2, "0");
    bench.refuses("embed cloud.csv -m pca -d 4 -o m.csv", 2, "3");
    bench.refuses("embed cloud.csv -m pca -d 0 -o m.csv", 2, "0");
    bench.refuses("embed cloud.csv -m isomap -k 5 -d 20 -o m.csv", 2, "20");
    bench.refuses("embed cloud.csv -m isomap --radius 0 -o m.csv", 2, "0");
    bench.refuses("embed cloud.csv -m isomap --radius nan -o m.csv", 2, "NaN");
    bench.write("zero.csv", "0,0\n1,0\n0,1\n1,1\n");
    bench.refuses("embed zero.csv -m isomap -k 2 --metric cosine -o m.csv", 2, "row 1");
}

#[test]
fn more_memory_than_allowed_is_refused_before_it_is_used() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 3000 -o roll.csv");
    let message = bench.refuses("embed roll.csv -m isomap --memory 1MB -o m.csv", 2, "the limit is 1 MB");
    assert!(message.contains("--landmarks"), "{message}");
}

#[test]
fn a_byte_order_mark_among_the_rows_is_refused() {
    let bench = Bench::new();
    bench.write("joined.csv", "a,b\n\u{feff}1,2\n3,4\n5,7\n");
    bench.refuses("embed joined.csv -m pca -o m.csv", 2, "row 1 (line 2) begins with a byte order mark");
    bench.write("marked.csv", "\u{feff}a,b\n1,2\n3,4\n5,7\n");
    bench.does("embed marked.csv -m pca -q -o m.csv");
}

//! Packed files, archives of arrays, Arrow, and several files in one: read as what they hold, or refused.
#![cfg(feature = "compressed")]

use eigenfold::{
    Points, Result,
    io::{Labels, ReadOptions, Table, read, read_all, write},
};
use std::path::Path;
use tempfile::{TempDir, tempdir};

fn corpus(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    folder.join(name).to_str().unwrap().to_string()
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| name.to_string()).collect()
}

/// A fresh directory with these files.
fn files(of: &[(&str, &[u8])]) -> (TempDir, impl Fn(&str) -> String + use<>) {
    let directory = tempdir().unwrap();
    let place = directory.path().to_path_buf();
    of.iter().for_each(|(name, content)| std::fs::write(place.join(name), content).unwrap());
    (directory, move |name: &str| place.join(name).to_str().unwrap().to_string())
}

/// What is said, without the directory.
fn message(result: Result<Table>) -> String {
    let text = result.unwrap_err().to_string();
    assert!(text.contains("; ") && !text.contains('\n'), "{text}");
    text.rsplit('/').next().unwrap().to_string()
}

#[test]
fn what_is_written_packed_or_as_arrow_is_read_back_bit_for_bit() {
    let points = Points::from_rows(&[[1.5, -1e-300], [0.1 + 0.2, 7e59], [3.0, f64::MIN_POSITIVE]]).unwrap();
    let classes = Labels::Classes { names: names(&["a,b", "c"]), of: vec![Some(1), None, Some(0)] };
    let plain = ReadOptions::default();
    let (_directory, at) = files(&[]);
    for name in ["a.csv.gz", "a.CSV.ZST", "a.tsv.zst", "a.npy.gz", "a.npy.zst", "a.arrow", "a.feather", "a.arrow.zst"] {
        write(at(name), &names(&["x", "y"]), &points, &[]).unwrap();
        assert_eq!(read(at(name), &plain).unwrap().points, points, "{name}");
        // By the first bytes too.
        std::fs::copy(at(name), at("unnamed")).unwrap();
        assert_eq!(read(at("unnamed"), &plain).unwrap().points, points, "{name}");
        if !name.contains("npy") {
            write(at(name), &names(&["x", "y"]), &points, &[classes.carried("kind")]).unwrap();
            let table = read(at(name), &ReadOptions { label: Some("kind".into()), ..plain.clone() }).unwrap();
            assert_eq!((table.points, table.labels.unwrap()), (points.clone(), classes.clone()), "{name}");
            assert_eq!(table.columns.unwrap(), ["x", "y"]);
        }
    }
    std::fs::write(at("plain.csv.gz"), "1,2\n3,4\n").unwrap();
    let refused = message(read(at("plain.csv.gz"), &plain));
    assert_eq!(refused, "plain.csv.gz: has the extension of gzip but is not compressed by it; give it its right name");
}

#[test]
fn what_is_unpacked_is_held_against_the_limit() {
    let (_directory, at) = files(&[]);
    let zeros = Points::new(100_000, 1, vec![0.0; 100_000]).unwrap();
    for name in ["a.csv.gz", "a.npy.zst", "a.arrow.gz"] {
        write(at(name), &names(&["x"]), &zeros, &[]).unwrap();
        assert!(std::fs::metadata(at(name)).unwrap().len() < 3_000);
        for memory in [100_000, 900_000] {
            let refused = message(read(at(name), &ReadOptions { memory: Some(memory), ..Default::default() }));
            assert!(refused.contains("the limit"), "{name}: {refused}");
        }
        assert!(read(at(name), &ReadOptions { memory: Some(3_000_000), ..Default::default() }).is_ok(), "{name}");
    }
}

#[test]
fn archives_of_arrays_are_read_by_name_and_labeled_by_another_array() {
    let plain = ReadOptions::default();
    let label = |name: &str| ReadOptions { label: Some(name.into()), ..ReadOptions::default() };
    // numpy.savez(X), and numpy.savez_compressed(data=X as float32, target=classes).
    let one = read(corpus("one.npz"), &plain).unwrap().points;
    assert_eq!((one.rows(), one.cols(), one.row(0)[0]), (30, 4, 0.9034701816518086));
    assert_eq!(one.values().iter().sum::<f64>(), 13.966021462777967);
    let two = corpus("two.npz");
    let table = read(&two, &label("target")).unwrap();
    assert_eq!((table.points.rows(), table.points.cols(), table.points.row(0)[3]), (30, 4, f64::from(-0.9217254f32)));
    let classes = (0..30).map(|i| Some(i % 3)).collect();
    assert_eq!(table.labels, Some(Labels::Classes { names: names(&["0", "1", "2"]), of: classes }));
    assert_eq!(read(format!("{two}:data"), &plain).unwrap().points, table.points);
    assert_eq!(read(format!("{two}:target"), &plain).unwrap().points.cols(), 1);
    assert_eq!(read(format!("{two}:data"), &label("2")).unwrap().points.cols(), 3);
    let several = read(&two, &plain).unwrap_err().to_string();
    assert!(several.contains("two.npz: holds 2 arrays (\"data\", \"target\"); name one of them, as in "), "{several}");
    let missing = message(read(format!("{two}:rows"), &plain));
    assert_eq!(missing, "two.npz: it does not hold the array \"rows\"; use one of \"data\", \"target\"");
    // Names are shown in one line, whatever is in them; one that can be typed is the example.
    let array = std::fs::read(corpus("plain.npy")).unwrap();
    for (names, way_out) in
        [(["a\nb.npy", "c.npy"], ".npz:c"), (["a\nb.npy", "\u{1b}c.npy"], "; save them under plain names")]
    {
        let (_directory, at) = files(&[("odd.npz", &zip(&names.map(|name| (name, &array[..], 0))))]);
        let odd = message(read(at("odd.npz"), &plain));
        assert!(odd.ends_with(way_out) && !odd.contains(char::is_control), "{odd:?}");
    }
    let (_directory, at) = files(&[("book.xlsx", &zip(&[("[Content_Types].xml", b"<x/>", 0)])), ("e.npz", &zip(&[]))]);
    assert_eq!(message(read(at("book.xlsx"), &plain)), "book.xlsx: is a spreadsheet; save the table as .csv");
    assert!(message(read(at("e.npz"), &plain)).contains("without an array"));
}

/// An archive of stored files: name, content, and what is added to the claimed length.
pub(crate) fn zip(of: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content, more) in of {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let (packed, length) = (content.len() as u32, content.len() as u32 + more);
        let at = file.len() as u32;
        let sizes: Vec<u8> = [crc.sum(), packed, length].iter().flat_map(|n| n.to_le_bytes()).collect();
        let lengths = [name.len() as u16, 0].map(u16::to_le_bytes).concat();
        file.extend([&b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0"[..], &sizes, &lengths, name.as_bytes(), content].concat());
        directory.extend([&b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0"[..], &sizes, &lengths].concat());
        directory.extend([&[0; 10][..], &at.to_le_bytes(), name.as_bytes()].concat());
    }
    let (count, at) = ((of.len() as u16).to_le_bytes(), (file.len() as u32).to_le_bytes());
    let size = (directory.len() as u32).to_le_bytes();
    file.extend(directory);
    file.extend([&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &size, &at, &[0, 0]].concat());
    file
}

/// The same archive with its sizes, its offset and its end in records of 64 bits, as Python writes them beyond 4 GB.
fn zip64(name: &str, content: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(content);
    let (full, length) = ([0xff; 4], (content.len() as u64).to_le_bytes());
    let names = (name.len() as u16).to_le_bytes();
    let sum = crc.sum().to_le_bytes();
    // Field 1: the length and the compressed length, and in the directory the offset of the file.
    let local = [&[1, 0, 16, 0][..], &length, &length].concat();
    let central = [&[1, 0, 24, 0][..], &length, &length, &[0; 8]].concat();
    let mut file = [b"PK\x03\x04\x2d\0\0\0\0\0\0\0\0\0", &sum[..], &full, &full, &names, &[20, 0]].concat();
    file.extend([name.as_bytes(), &local, content].concat());
    let start = file.len() as u64;
    file.extend([b"PK\x01\x02\x2d\0\x2d\0\0\0\0\0\0\0\0\0", &sum[..], &full, &full, &names, &[28, 0]].concat());
    file.extend([&[0; 10][..], &full, name.as_bytes(), &central].concat());
    let end = file.len() as u64;
    let counts = [1u64.to_le_bytes(), 1u64.to_le_bytes(), (end - start).to_le_bytes(), start.to_le_bytes()].concat();
    file.extend([b"PK\x06\x06", &44u64.to_le_bytes()[..], &[45, 0, 45, 0], &[0; 8], &counts].concat());
    file.extend([b"PK\x06\x07", &[0; 4][..], &end.to_le_bytes(), &[1, 0, 0, 0]].concat());
    file.extend([b"PK\x05\x06", &[0; 4][..], &full, &full, &full, &[0, 0]].concat());
    file
}

#[test]
fn archives_beyond_4_gb_are_read() {
    let array = std::fs::read(corpus("plain.npy")).unwrap();
    let (_directory, at) = files(&[("large.npz", &zip64("x.npy", &array))]);
    let large = read(at("large.npz"), &ReadOptions::default()).unwrap();
    assert_eq!(large.points, read(corpus("plain.npy"), &ReadOptions::default()).unwrap().points);
    // A directory that claims 10 million files, or a file that claims an exabyte, takes no memory.
    for (from, to) in [(1u64, 10_000_000u64), (array.len() as u64, 1 << 60)] {
        let mut bytes = zip64("x.npy", &array);
        for start in 0..bytes.len() - 8 {
            if bytes[start..start + 8] == from.to_le_bytes() {
                bytes[start..start + 8].copy_from_slice(&to.to_le_bytes());
            }
        }
        let (_directory, at) = files(&[("claims.npz", &bytes)]);
        let claims = message(read(at("claims.npz"), &ReadOptions { memory: Some(10_000_000), ..Default::default() }));
        assert!(claims.starts_with("claims.npz: cannot be read as an archive of arrays ("), "{claims}");
    }
}

#[test]
fn archives_that_are_not_what_they_say_are_refused() {
    let array = std::fs::read(corpus("plain.npy")).unwrap();
    let good = zip(&[("x.npy", &array, 0)]);
    let changed = |from: &[u8], to: &[u8]| {
        let at = good.windows(from.len()).rposition(|bytes| bytes == from).unwrap();
        [&good[..at], to, &good[at + from.len()..]].concat()
    };
    let mut damaged = good.clone();
    damaged[30 + 5 + array.len() - 1] ^= 1;
    let mut encrypted = changed(b"PK\x01\x02\x14\0\x14\0\0\0", b"PK\x01\x02\x14\0\x14\0\x01\0");
    encrypted[6] = 1;
    let cases: [(&str, Vec<u8>, &str); 10] = [
        ("good", good.clone(), ""),
        ("longer", zip(&[("x.npy", &array, 1)]), "claims"),
        ("twice", zip(&[("x.npy", &array, 0), ("x.npy", &array, 0)]), "two of its files are called \"x.npy\""),
        ("damaged", damaged, "\"x\": Invalid checksum"),
        ("renamed", changed(b"x.npy", b"y.npy"), "header inconsistency detected"),
        ("cut", good[..good.len() - 30].to_vec(), "no directory at its end"),
        ("followed", [&good[..], b"more"].concat(), "no directory at its end"),
        ("encrypted", encrypted, "\"x\": it is encrypted"),
        (
            "half encrypted",
            changed(b"PK\x01\x02\x14\0\x14\0\0\0", b"PK\x01\x02\x14\0\x14\0\x01\0"),
            "header inconsistency detected",
        ),
        ("count", changed(b"\x01\0\x01\0", b"\x09\0\x09\0"), "more entries than its size allows"),
    ];
    for (name, content, fact) in cases {
        let (_directory, at) = files(&[("a.npz", &content)]);
        match read(at("a.npz"), &ReadOptions::default()) {
            Ok(_) => assert_eq!(fact, "", "{name}"),
            error => assert!(message(error).contains(fact), "{name}"),
        }
    }
}

#[test]
fn arrow_as_other_programs_write_it_is_read() {
    // Twelve rows by pyarrow, in batches of five: whole, LZ4, Zstandard, as a stream, and with string views.
    for name in ["columns.feather", "columns_lz4.feather", "columns_zstd.feather", "stream.arrow", "views.arrow"] {
        let others = names(&["hole", "list", "when", "rec"]);
        let options = ReadOptions {
            label: Some("kind".into()),
            ignore: others,
            keep: names(&["cat", "k"]),
            ..Default::default()
        };
        let table = read(corpus(name), &options).unwrap();
        assert_eq!(table.columns.unwrap(), ["x", "small", "f", "b"], "{name}");
        let points = table.points;
        assert_eq!(points.row(0), [0.1257302210933933, 0.0, points.row(0)[2], 1.0], "{name}");
        assert_eq!(points.row(3)[1..], [3.0, -0.7322673797607422, 1.0], "{name}");
        assert_eq!(points.row(11)[..2], [0.0413259793472436, 1.0], "{name}");
        let classes = names(&["a longer name than twelve", "b", "setosa"]);
        let of = [2, 0, 1].repeat(4).into_iter().map(Some).collect();
        assert_eq!(table.labels, Some(Labels::Classes { names: classes, of }), "{name}");
        assert_eq!((0..4).map(|i| table.kept[0].cells.text(i)).collect::<Vec<_>>(), ["u", "v", "w", "u"], "{name}");
        assert_eq!(table.kept[1].cells.text(11), "11", "{name}");
        let refused =
            |ignore: &[&str]| message(read(corpus(name), &ReadOptions { ignore: names(ignore), ..Default::default() }));
        // The only column of lists of numbers, but they are no vectors of one length.
        let lists = refused(&[]);
        assert!(lists.contains("row 2, column \"list\" has 1 number and row 1 has 2; "), "{lists}");
        assert!(refused(&["list"]).contains("column \"kind\" holds text; use `label` kind"), "{name}");
        assert!(refused(&["list", "kind"]).contains("column \"cat\" holds text"), "{name}");
        let dates = refused(&["list", "kind", "cat", "hole", "rec"]);
        assert!(
            dates.contains("column \"when\" holds dates or times, which are not numbers; use `ignore` when"),
            "{dates}"
        );
        let hole = refused(&["kind", "cat", "list", "when", "rec"]);
        assert!(hole.contains("row 5, column \"hole\" is missing (null)"), "{hole}");
        let missing = ReadOptions {
            ignore: names(&["kind", "cat", "list", "when", "rec"]),
            missing: true,
            ..ReadOptions::default()
        };
        assert_eq!(read(corpus(name), &missing).unwrap().points.missing().len(), 1, "{name}");
    }
}

#[test]
fn a_long_text_counts_for_every_row_that_shows_it() {
    // 10,000 rows of one text of 40,000 letters, in a dictionary: a kilobyte that would be 400 MB.
    let names: &[&str] =
        if cfg!(feature = "parquet") { &["long_text.feather", "long_text.parquet"] } else { &["long_text.feather"] };
    for name in names {
        let options = ReadOptions { label: Some("t".into()), memory: Some(20_000_000), ..Default::default() };
        assert!(message(read(corpus(name), &options)).contains("its texts take more than the memory limit"), "{name}");
        let ignoring = ReadOptions { label: None, ignore: vec!["t".into()], ..options };
        assert_eq!(read(corpus(name), &ignoring).unwrap().points.rows(), 10_000, "{name}");
    }
}

#[test]
fn arrow_by_polars_has_its_dictionary_behind_the_rows_that_use_it() {
    let options = ReadOptions { label: Some("c".into()), keep: names(&["s"]), missing: true, ..Default::default() };
    let table = read(corpus("polars.arrow"), &options).unwrap();
    assert_eq!((table.columns.unwrap(), table.points.missing().len()), (names(&["a", "b", "t"]), 1));
    assert_eq!(table.points.row(4), [4.0, 5.0, 1.0]);
    let of = [0, 1, 0, 1, 0].map(Some).to_vec();
    assert_eq!(table.labels, Some(Labels::Classes { names: names(&["u", "v"]), of }));
    let texts: Vec<String> = (0..5).map(|i| table.kept[0].cells.text(i)).collect();
    assert_eq!(texts, ["x", "yy", "a long long string indeed", "x", ""]);
}

#[test]
fn files_of_the_same_columns_are_one_table_and_others_are_refused() {
    let (_directory, at) = files(&[
        ("a.csv", b"x,y,kind\n1,2,a\n3,4,b\n"),
        ("b.tsv", b"x\ty\tkind\n5\t6\t7\n"),
        ("bare.csv", b"8,9,c\n9,10,c\n"),
        ("other.csv", b"x,z,kind\n5,6,a\n"),
        ("wide.csv", b"x,y,z,kind\n5,6,7,a\n"),
        ("bad.csv", b"x,y,kind\n5,6,a\n7,oops,a\n"),
    ]);
    let options = ReadOptions { label: Some("3".into()), ..ReadOptions::default() };
    let all = |of: &[&str]| {
        let paths: Vec<String> = of.iter().map(|name| at(name)).collect();
        read_all(&paths.iter().map(String::as_str).collect::<Vec<_>>(), &options)
    };
    let table = all(&["a.csv", "b.tsv"]).unwrap();
    assert_eq!(table.points.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let classes = Labels::Classes { names: names(&["7", "a", "b"]), of: [1, 2, 0].map(Some).to_vec() };
    assert_eq!((table.labels, table.columns.unwrap()), (Some(classes), names(&["x", "y"])));
    for order in [["a.csv", "bare.csv"], ["bare.csv", "a.csv"]] {
        let table = all(&order).unwrap();
        assert_eq!((table.points.rows(), table.columns.unwrap()), (4, names(&["x", "y"])));
        assert!(table.notes.iter().any(|note| note.contains("has no names of columns")), "{:?}", table.notes);
    }
    assert!(
        message(all(&["a.csv", "bad.csv"])).contains("bad.csv: column \"y\" holds text (\"oops\" in row 2 (line 3))")
    );
    assert!(all(&["a.csv", "a.csv"]).unwrap_err().to_string().contains("a.csv is given twice"));
    let other = all(&["a.csv", "other.csv"]).unwrap_err().to_string();
    assert!(
        other.contains("other.csv: column 2 is called \"z\" and in ") && other.contains("a.csv \"y\"; "),
        "{other}"
    );
    let wide =
        read_all(&[&at("a.csv"), &at("wide.csv")], &ReadOptions { label: Some("kind".into()), ..options.clone() });
    assert!(wide.unwrap_err().to_string().contains("wide.csv: has 3 columns of data and "));
    let (one, two) = (at("a.csv"), at("bare.csv"));
    let limited = ReadOptions { memory: Some(200), ..options.clone() };
    assert!(read(&two, &limited).is_ok() && read_all(&[&one, &two], &limited).is_err());
}

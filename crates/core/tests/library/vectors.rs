//! Columns of vectors, half precision and decimals in Parquet and Arrow files, as `scripts/vectors.py` writes them: read as what
//! they hold, or refused.
#![cfg(all(feature = "compressed", feature = "parquet"))]

use crate::support::*;
use eigenfold::{
    Method, Points, Recipe, Result, Silent,
    io::schema::Role,
    io::{Labels, ReadOptions, Table, read, read_all, read_kept, write},
};
use std::path::Path;
use tempfile::tempdir;

fn corpus(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    folder.join(name).to_str().unwrap().to_string()
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| name.to_string()).collect()
}

fn of(vector: &str) -> ReadOptions {
    ReadOptions { vector: Some(vector.into()), ..ReadOptions::default() }
}

/// What is said, without the directory.
fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    let text = result.unwrap_err().to_string();
    assert!(text.contains("; ") && !text.contains('\n'), "{text}");
    text.rsplit('/').next().unwrap().to_string()
}

/// The numbers of every file: (7 i + 3 j) mod 16, divided by four where they are floats.
fn expected(divisor: f64) -> Points {
    Points::new(12, 4, (0..48).map(|at| f64::from((7 * (at / 4) + 3 * (at % 4)) % 16) / divisor).collect()).unwrap()
}

#[test]
fn the_only_column_of_vectors_holds_the_points_and_the_others_are_known_of_them() {
    for name in ["vectors.parquet", "vectors.arrow", "vectors_lz4.feather"] {
        let table = read(corpus(name), &ReadOptions::default()).unwrap();
        assert_eq!(table.points, expected(4.0), "{name}");
        let columns = table.columns.unwrap();
        assert_eq!(columns, names(&["embedding[0]", "embedding[1]", "embedding[2]", "embedding[3]"]), "{name}");
        let roles: Vec<Role> = table.schema.columns.iter().map(|column| column.role.clone()).collect();
        assert_eq!(roles, [Role::Ignored, Role::Ignored, Role::Ignored, Role::Vector(4)], "{name}");
        let [note] = &table.notes[..] else { panic!("{name}: {:?}", table.notes) };
        let fact = "the vectors of column \"embedding\" were taken for the points and columns \"id\", \"text\", \"year\" left \
                    aside; use `vector` embedding if that is right, or `ignore` embedding if not";
        assert!(note.ends_with(fact), "{note}");
        // By its name nothing is said, and what goes with the points is as in any table.
        let options = ReadOptions { label: Some("year".into()), keep: names(&["id", "text"]), ..of("embedding") };
        let table = read(corpus(name), &options).unwrap();
        assert_eq!((table.points, table.notes), (expected(4.0), vec![]), "{name}");
        let classes =
            Labels::Classes { names: names(&["2000", "2001", "2002"]), of: (0..12).map(|i| Some(i % 3)).collect() };
        assert_eq!(table.labels, Some(classes), "{name}");
        let kept = |at: usize| (0..2).map(|i| table.kept[at].cells.text(i)).collect::<Vec<_>>();
        assert_eq!((kept(0), kept(1)), (names(&["100", "101"]), names(&["sentence 0", "sentence 1"])), "{name}");
        let only = read_kept(corpus(name), &ReadOptions { keep: names(&["text"]), ..ReadOptions::default() }).unwrap();
        assert_eq!(only[0].cells.text(11), "sentence 11", "{name}");
        let indicators = ReadOptions { one_hot: names(&["year"]), ..ReadOptions::default() };
        let table = read(corpus(name), &indicators).unwrap();
        assert_eq!(
            table.columns.unwrap()[3..],
            names(&["embedding[3]", "year=2000", "year=2001", "year=2002"]),
            "{name}"
        );
        assert_eq!(table.points.row(1), [1.75, 2.5, 3.25, 0.0, 0.0, 1.0, 0.0], "{name}");
        // Without the vectors the others are data again.
        let others = ReadOptions { ignore: names(&["embedding,text"]), ..ReadOptions::default() };
        assert_eq!(read(corpus(name), &others).unwrap().columns.unwrap(), ["id", "year"], "{name}");
        for (options, fact) in [
            (of("year"), "column \"year\" holds no vectors of numbers; use `vector` embedding"),
            (of("vector"), "column \"vector\" was not found; use `vector` with one of \"id\""),
            (ReadOptions { ignore: names(&["embedding"]), ..of("embedding") }, "is both the points and left out"),
            (
                ReadOptions { keep: names(&["embedding"]), ..ReadOptions::default() },
                "holds vectors, which can only be the",
            ),
            (ReadOptions { ignore: names(&["embedding"]), ..ReadOptions::default() }, "column \"text\" holds text"),
        ] {
            let said = message(read(corpus(name), &options));
            assert!(said.contains(fact), "{name}: {said}");
        }
    }
    let said = message(read("iris", &of("petal_length")));
    assert!(said.contains("holds no vectors of numbers; leave out `vector`"), "{said}");
}

#[test]
fn every_kind_of_list_and_of_number_is_read() {
    for name in ["vector_kinds.parquet", "vector_kinds.arrow"] {
        for kind in ["list", "large", "fixed"] {
            for entries in ["halffloat", "float", "double", "int8", "uint16", "int32", "int64", "uint64"] {
                let divisor = if entries.contains("int") { 1.0 } else { 4.0 };
                let table = read(corpus(name), &of(&format!("{kind}_{entries}"))).unwrap();
                assert_eq!(table.points, expected(divisor), "{name} {kind} {entries}");
            }
        }
        let several = message(read(corpus(name), &ReadOptions::default()));
        let fact = "columns \"list_halffloat\", \"list_float\", \"list_double\", \"list_int8\", \"list_uint16\" and 19 more hold \
                    vectors, and the points can be in one of them; use `vector` with its name, as in `vector` list_halffloat";
        assert!(several.ends_with(fact), "{several}");
        let left = ReadOptions { ignore: names(&["l*", "*int*", "*half*", "*double"]), ..ReadOptions::default() };
        assert_eq!(read(corpus(name), &left).unwrap().points, expected(4.0), "{name}");
    }
}

#[test]
fn vectors_and_entries_that_are_null_are_missing() {
    for (name, column) in [
        ("vector_holes.parquet", "list"),
        ("vector_holes.parquet", "fixed"),
        ("vector_holes.arrow", "list"),
        ("vector_holes.arrow", "fixed"),
    ] {
        let said = message(read(corpus(name), &of(column)));
        let fact = format!(
            "row 1, column \"{column}[0]\" is missing (null), the first of 9 missing cells in 3 rows; use `missing` model, mean or drop, fill it in"
        );
        assert!(said.ends_with(&fact), "{said}");
        let points = read(corpus(name), &ReadOptions { missing: true, ..of(column) }).unwrap().points;
        assert_eq!(points.missing(), [0, 1, 2, 3, 20, 21, 22, 23, 29], "{name} {column}");
        assert_eq!((points.row(7)[2], points.row(6)), (0.75, expected(4.0).row(6)), "{name} {column}");
    }
}

#[test]
fn lists_that_are_no_vectors_of_one_length_are_refused_by_their_name() {
    for name in ["vector_odd.parquet", "vector_odd.arrow"] {
        let inside = if name.ends_with("arrow") { "inside" } else { "inside.v" };
        let longer = if name.ends_with("arrow") { "9 numbers" } else { "more than 4 numbers" };
        for (column, fact) in [
            ("ragged", "row 7, column \"ragged\" has 2 numbers and row 1 has 4; give every row a vector of one length"),
            ("longer", &format!("row 9, column \"longer\" has {longer} and row 1 has 4; ")),
            ("gone", "row 4, column \"gone\" has 0 numbers and row 1 has 4"),
            ("empty", "no row of column \"empty\" has a vector with a number; use `ignore` empty"),
            ("null", "no row of column \"null\" has a vector with a number"),
            ("nested", "column \"nested\" holds no vectors of numbers; use `vector` "),
            ("words", "column \"words\" holds no vectors of numbers"),
            ("flags", "column \"flags\" holds no vectors of numbers"),
            ("when", "column \"when\" holds no vectors of numbers"),
            ("plain", "column \"plain\" holds no vectors of numbers"),
            (inside, &format!("column \"{inside}\" holds no vectors of numbers")),
        ] {
            let said = message(read(corpus(name), &of(column)));
            assert!(said.contains(fact), "{name}: {said}");
        }
        let vectors = ["ragged", "longer", "gone", "empty", "null"];
        for (column, fact) in [
            ("nested", "column \"nested\" holds lists of lists, not vectors of numbers; use `ignore` nested"),
            ("words", "column \"words\" holds lists of texts, not vectors of numbers; use `ignore` words"),
            ("flags", "column \"flags\" holds lists, not vectors of numbers; use `ignore` flags"),
        ] {
            let others =
                ["nested", "words", "flags", "when", "inside*", "map*"].into_iter().filter(|other| *other != column);
            let ignore: Vec<String> = vectors.into_iter().chain(others).map(String::from).collect();
            let said = message(read(corpus(name), &ReadOptions { ignore: ignore.clone(), ..ReadOptions::default() }));
            assert!(said.contains(fact), "{name}: {said}");
            let kept = ReadOptions { keep: names(&[column]), ignore, ..ReadOptions::default() };
            let said = message(read(corpus(name), &kept));
            assert!(said.contains("holds lists, not one value a row; name another column"), "{name}: {said}");
        }
        let said = message(read(corpus(&name.replace("odd", "no_rows")), &ReadOptions::default()));
        assert!(said.ends_with("holds no rows; give at least two points"), "{said}");
    }
}

#[test]
fn vectors_that_would_be_gigabytes_are_refused_before_there_is_room_for_them() {
    let limited = |memory: u64| ReadOptions { memory: Some(memory), ..ReadOptions::default() };
    // 609 bytes that are one vector of three million numbers.
    let said = message(read(corpus("vector_long.parquet"), &limited(20_000_000)));
    assert!(said.contains("a vector that takes ") && said.contains(" exceeds the memory limit"), "{said}");
    assert_eq!(read(corpus("vector_long.parquet"), &limited(400_000_000)).unwrap().points.cols(), 3_000_000);
    // One vector of ten thousand numbers, and a million rows without.
    let said = message(read(corpus("vector_nulls.parquet"), &ReadOptions { missing: true, ..limited(500_000_000) }));
    assert!(said.contains("needs about 80") && said.contains(" GB and the limit is 500 MB"), "{said}");
    let said = message(read(corpus("vectors.arrow"), &limited(2_600)));
    assert!(said.contains("and the limit is"), "{said}");
}

#[test]
fn lists_that_lie_about_their_places_are_refused() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("a.arrow").to_str().unwrap().to_string();
    let good = std::fs::read(corpus("vectors.arrow")).unwrap();
    let offsets: Vec<u8> = (0..6i32).flat_map(|i| (4 * i).to_le_bytes()).collect();
    let at = good.windows(offsets.len()).position(|bytes| bytes == offsets).unwrap();
    for (place, offset, fact) in [
        (5, 1000i32, "cannot be read as Arrow (Invalid argument error: "),
        (2, 40, "cannot be read as Arrow (Invalid argument error: "),
        (3, -4, "cannot be read as Arrow (Invalid argument error: "),
        (1, 5, "row 1, column \"embedding\" has 5 numbers|row 2, column \"embedding\" has 3 numbers and row 1 has 5"),
    ] {
        let mut bytes = good.clone();
        bytes[at + 4 * place..at + 4 * place + 4].copy_from_slice(&offset.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
        let said = message(read(&path, &of("embedding")));
        assert!(fact.split('|').any(|fact| said.contains(fact)), "{said}");
    }
    for name in ["vectors.arrow", "vectors.parquet"] {
        let good = std::fs::read(corpus(name)).unwrap();
        let path = directory.path().join(name).to_str().unwrap().to_string();
        for length in (0..good.len()).step_by(7) {
            std::fs::write(&path, &good[..length]).unwrap();
            assert!(read(&path, &of("embedding")).is_err(), "{name} cut to {length}");
        }
    }
}

#[test]
fn several_files_of_vectors_are_one_and_go_with_the_same_numbers_in_columns() {
    let (parquet, arrow) = (corpus("vectors.parquet"), corpus("vectors.arrow"));
    let both = read_all(&[&parquet, &arrow], &of("embedding")).unwrap();
    assert_eq!((both.points.rows(), both.points.row(13)), (24, expected(4.0).row(1)));
    let other = read_all(&[&parquet, &corpus("vector_long.parquet")], &ReadOptions::default()).unwrap_err().to_string();
    assert!(
        other.contains("has 3000000 numbers of data and ") && other.contains(" has 4; give files with the same"),
        "{other}"
    );
}

#[test]
fn a_model_finds_its_vectors_by_their_name_or_by_the_names_of_their_entries() {
    let table = read(corpus("vectors.parquet"), &of("embedding")).unwrap();
    let recipe = Recipe { method: Method::from_name("pca").unwrap(), dims: 2, ..Recipe::default() };
    let mut model = recipe.fit(&table.points, &Silent).unwrap();
    model.set_names(table.columns.clone().unwrap()).unwrap();
    // Of a model from Python: features by their names alone.
    let by_names = ReadOptions { like: model.schema(), ..ReadOptions::default() };
    model.set_schema(table.schema.clone()).unwrap();
    let like = ReadOptions { like: model.schema(), ..ReadOptions::default() };
    for options in [&like, &by_names] {
        for name in ["vectors.parquet", "vectors.arrow"] {
            let again: Table = read(corpus(name), options).unwrap();
            assert_eq!(again.points, table.points, "{name}");
        }
    }
    let kinds =
        read(corpus("vector_kinds.arrow"), &ReadOptions { vector: Some("large_double".into()), ..like.clone() });
    assert_eq!(kinds.unwrap().points, table.points);
    let lost = message(read(corpus("vector_kinds.arrow"), &like));
    let fact = "column \"embedding\" of the model is missing; add it, or use `vector` with the column that it is";
    assert!(lost.contains(fact), "{lost}");
    // As the columns of a table, in any order, and of an array without names.
    let directory = tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let turned = Points::new(12, 4, (0..12).flat_map(|i| table.points.row(i).iter().rev().copied()).collect()).unwrap();
    write(at("turned.csv"), &names(&["embedding[3]", "embedding[2]", "embedding[1]", "embedding[0]"]), &turned, &[])
        .unwrap();
    write(at("plain.npy"), &names(&["a", "b", "c", "d"]), &table.points, &[]).unwrap();
    for name in ["turned.csv", "plain.npy"] {
        assert_eq!(read(at(name), &like).unwrap().points, table.points, "{name}");
    }
    let placed = model.transform_detailed(&read(corpus("vectors.arrow"), &like).unwrap().points).unwrap().coordinates;
    let differs =
        placed.values().iter().zip(model.embedding().values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(differs < SOLVED, "{differs}");
}

#[test]
fn half_precision_and_decimals_are_numbers_and_dates_are_called_so() {
    for name in ["decimals.parquet", "decimals.arrow", "decimals_bytes.parquet"] {
        let plain = ReadOptions { ignore: names(&["when", "hole"]), ..ReadOptions::default() };
        let table = read(corpus(name), &plain).unwrap();
        assert_eq!(table.columns.unwrap(), ["half", "cents", "long"], "{name}");
        for i in 0..12 {
            let cents = format!("{}e-2", 7 * i as i32 - 30).parse::<f64>().unwrap();
            let long = format!("{}12345678901234567890.123456789", i + 1).parse::<f64>().unwrap();
            assert_eq!(table.points.row(i), [expected(4.0).row(i)[0], cents, long], "{name}");
        }
        let kept =
            ReadOptions { keep: names(&["cents", "long", "hole"]), ignore: names(&["when"]), ..ReadOptions::default() };
        let kept = read(corpus(name), &kept).unwrap().kept;
        let texts = |at: usize| (0..2).map(|i| kept[at].cells.text(i)).collect::<Vec<_>>();
        assert_eq!(texts(0), ["-0.3", "-0.23"], "{name}");
        assert_eq!(texts(1), ["112345678901234567890.123456789", "212345678901234567890.123456789"], "{name}");
        assert_eq!(texts(2), ["", "-0.23"], "{name}");
        let hole = message(read(corpus(name), &ReadOptions { ignore: names(&["when"]), ..ReadOptions::default() }));
        assert!(hole.contains("row 1, column \"hole\" is missing (null)"), "{hole}");
        let when = message(read(corpus(name), &ReadOptions { ignore: names(&["hole"]), ..ReadOptions::default() }));
        assert!(
            when.contains("column \"when\" holds dates or times, which are not numbers; use `ignore` when"),
            "{when}"
        );
    }
}

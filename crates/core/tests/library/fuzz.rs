//! Files that are almost right: mutations of a small corpus, read in every way. No answer may be a panic, a hang, more
//! memory than allowed, or a table with other rows than the file.
//!
//! The test command makes a few hundred trials. `scripts/fuzz.sh` makes as many as its time allows, in a process whose
//! memory is capped: `EIGENFOLD_FUZZ_SECONDS` for each test here, `EIGENFOLD_FUZZ_SEED`, and `EIGENFOLD_FUZZ_LONGEST` for the
//! seconds that one trial may take where other work has the machine.

use eigenfold::{
    Distances, Error,
    io::{ReadOptions, Table, read, read_graph},
};
use std::path::Path;
use std::time::{Duration, Instant};

/// No trial may take more seconds; most take a millisecond, and the slowest models a second.
const LONGEST: u64 = 20;
/// What a file may take.
const MEMORY: u64 = 32_000_000;

/// A whole number that the long run sets.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Random numbers: splitmix64.
pub(crate) struct Dice(u64);

impl Dice {
    fn new() -> Dice {
        Dice(setting("EIGENFOLD_FUZZ_SEED").unwrap_or(1))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.number() % most.max(1) as u64) as usize
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

#[allow(clippy::print_stderr, reason = "a long run tells how long it was")]
/// Runs trials until there are enough of them, or for the requested time; tells how many there were.
pub(crate) fn trials(what: &str, count: usize, mut trial: impl FnMut(&mut Dice)) {
    let seconds = setting("EIGENFOLD_FUZZ_SECONDS");
    let longest = Duration::from_secs(setting("EIGENFOLD_FUZZ_LONGEST").unwrap_or(LONGEST));
    let (start, mut done, mut dice) = (Instant::now(), 0, Dice::new());
    while seconds.map_or(done < count, |seconds| start.elapsed().as_secs() < seconds) {
        let (began, seed) = (Instant::now(), dice.0);
        // A panic names the trial: its seed alone makes it again.
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| trial(&mut dice)));
        assert!(found.is_ok(), "{what}: EIGENFOLD_FUZZ_SEED={seed} panics in its first trial");
        // How long a trial takes is a matter of the machine, too: checked in a long run only.
        assert!(
            seconds.is_none() || began.elapsed() < longest,
            "{what}: EIGENFOLD_FUZZ_SEED={seed} takes {:?}",
            began.elapsed()
        );
        done += 1;
    }
    if seconds.is_some() {
        eprintln!("fuzz: {done} trials of {what} in {} s", start.elapsed().as_secs());
    }
}

/// Changes some of the bytes, in ways that matter to the formats read here.
pub(crate) fn mutated(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    const CHUNKS: [&[u8]; 24] = [
        b"\"",
        b",",
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b"#",
        b"-",
        b"NaN",
        b"1e999",
        b"1e-320",
        b"O.5",
        b"\xef\xbb\xbf",
        b"\0",
        b"\x1b[31m",
        b"True",
        b"False",
        b"(0, 10000000000)",
        b"18446744073709551615",
        b"\xff\xff\xff\xff\x0f",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\xff\xff\xff\x7f",
        b"\x7f",
        b"4294967295",
    ];
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + dice.below(3) {
        let (at, to) = (dice.below(bytes.len() + 1), dice.below(bytes.len() + 1));
        let (low, high) = (at.min(to), at.max(to).min(at.min(to) + 40));
        match dice.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 if at < bytes.len() => bytes[at] = dice.number() as u8,
            2 => drop(bytes.splice(at..at, dice.one(&CHUNKS).iter().copied())),
            3 => drop(bytes.drain(low..high)),
            4 => bytes.truncate(at),
            5 => {
                let copy = bytes[low..high].to_vec();
                drop(bytes.splice(to..to, copy));
            }
            // A number of eight bytes that is hard to bear.
            6 if at + 8 <= bytes.len() => {
                let hard = [f64::NAN, f64::INFINITY, -0.0, -1.0, 1e308, 5e-324, 1e59, 1e149, f64::from_bits(u64::MAX)];
                bytes[at..at + 8].copy_from_slice(&hard[dice.below(8)].to_le_bytes());
            }
            7 if at < bytes.len() => {
                let component = dice.one(&CHUNKS);
                let end = (at + component.len()).min(bytes.len());
                drop(bytes.splice(at..end, component.iter().copied()));
            }
            _ if at < bytes.len() => bytes[at] = [0, 1, 2, 0x7f, 0x80, 0xff][dice.below(6)],
            _ => {}
        }
    }
    bytes
}

/// The corpus: names and contents.
fn corpus(extensions: &[&str]) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let wanted = |path: &std::path::PathBuf| extensions.contains(&path.extension().unwrap().to_str().unwrap());
    let mut files: Vec<_> = entries.filter(wanted).collect();
    files.sort();
    let content = |path: &std::path::PathBuf| std::fs::read(path).unwrap();
    files.iter().map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), content(path))).collect()
}

/// Some options, the memory always limited.
fn options(dice: &mut Dice) -> ReadOptions {
    let column = |dice: &mut Dice| dice.one(&["1", "2", "3", "x", "kind", "country", "name"]).to_string();
    // Most names are those of other files.
    let picky = dice.below(2);
    ReadOptions {
        label: (picky > 0 && dice.below(3) == 0).then(|| column(dice)),
        ignore: (0..picky * dice.below(3)).map(|_| column(dice)).collect(),
        keep: (0..picky * dice.below(3)).map(|_| column(dice)).collect(),
        one_hot: Vec::new(),
        vector: (picky > 0 && dice.below(3) == 0)
            .then(|| dice.one(&["embedding", "list", "ragged", "list_float", "1"]).to_string()),
        like: None,
        decimal: [None, None, None, Some(b',')][dice.below(4)],
        na: (0..picky * dice.below(2)).map(|_| dice.one(&["-", "0", "1.5"]).to_string()).collect(),
        delimiter: [None, None, Some(b','), Some(b','), Some(b' ')][dice.below(5)],
        header: [None, Some(true), Some(false)][dice.below(3)],
        missing: dice.below(2) == 0,
        memory: Some(MEMORY),
    }
}

fn has_one_line(error: &Error) {
    let text = error.to_string();
    assert!(!text.contains('\n') && text.contains("; "), "{text:?}");
}

/// The number of records in a text with commas, by a reading of RFC 4180 that has nothing in common with the reader's;
/// nothing if the text breaks its rules, or its table is of one column, where an empty line may mean anything.
fn records(text: &[u8]) -> Option<usize> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n").replace('\r', "\n");
    let comment = |line: &&str| line.trim().is_empty() || line.trim().starts_with('#');
    let skipped: usize = text.split_inclusive('\n').take_while(comment).map(str::len).sum();
    let (mut rest, mut count, mut cells) = (&text[skipped..], 0, 0);
    let mut wide = false;
    while !rest.is_empty() {
        let blank = if let Some(quoted) = rest.strip_prefix('"') {
            let inside = quoted.replace("\"\"", "\u{1}\u{1}");
            rest = quoted[inside.find('"')? + 1..].trim_start_matches([' ', '\t']);
            false
        } else {
            let end = rest.find([',', '\n']).unwrap_or(rest.len());
            let blank = rest[..end].trim().is_empty();
            rest = &rest[end..];
            blank
        };
        cells += 1;
        if let Some(after) = rest.strip_prefix(',') {
            rest = after;
            if rest.is_empty() {
                cells += 1;
            }
            wide = true;
            if !rest.is_empty() {
                continue;
            }
        } else if !rest.is_empty() {
            rest = rest.strip_prefix('\n')?;
        }
        count += usize::from(cells > 1 || !blank);
        wide |= cells > 1;
        cells = 0;
    }
    wide.then_some(count)
}

#[test]
fn the_counter_of_records_counts() {
    for (text, expected) in [
        ("1,2\n3,4\n", Some(2)),
        ("1,2\n\n3,4", Some(2)),
        ("# a\n\n1,2\r\n3,4\r5,6", Some(3)),
        ("1,\"a\n2,b\"\n3,c\n", Some(2)),
        ("1,\"a\"\"\n\"\n3,c\n", Some(2)),
        ("1,\"a\n2,b\n", None),
        ("1,\"a\"b\n", None),
        ("1\n2\n", None),
        ("1,\n2,", Some(2)),
    ] {
        assert_eq!(records(text.as_bytes()), expected, "{text:?}");
    }
}

#[test]
fn mutated_texts_keep_all_their_rows_or_are_refused() {
    let files = corpus(&["csv", "tsv", "txt"]);
    let directory = tempfile::tempdir().unwrap();
    let mut read_whole = 0;
    trials("texts", 3000, |dice| {
        let (name, bytes) = &files[dice.below(files.len())];
        let bytes = mutated(bytes, dice);
        let path = directory.path().join(name).to_str().unwrap().to_string();
        std::fs::write(&path, &bytes).unwrap();
        let options = options(dice);
        match read(&path, &options) {
            Err(error) => has_one_line(&error),
            Ok(Table { points, labels, columns, kept, .. }) => {
                assert!(kept.iter().all(|column| column.cells.len() == points.rows()));
                assert!(labels.is_none_or(|labels| labels.len() == points.rows()));
                assert!(columns.as_ref().is_none_or(|columns| columns.len() == points.cols()));
                if let (Some(b','), Some(count)) = (options.delimiter, records(&bytes)) {
                    let header = usize::from(options.header.unwrap_or(columns.is_some()));
                    assert_eq!(points.rows() + header, count, "{:?}", String::from_utf8_lossy(&bytes));
                    read_whole += 1;
                }
                if points.rows() == points.cols() {
                    let _ = (Distances::new(points.clone()), Distances::from_similarities(&points));
                }
            }
        }
        if let Err(error) = read_graph(&path, &options) {
            has_one_line(&error);
        }
    });
    assert!(read_whole > 20, "only {read_whole} tables were compared");
}

#[test]
fn mutated_arrays_and_tables_of_columns_are_read_or_refused() {
    let mut files = corpus(&["npy", "feather", "arrow"]);
    if cfg!(feature = "parquet") {
        files.extend(corpus(&["parquet"]));
    }
    let directory = tempfile::tempdir().unwrap();
    files.extend(written(directory.path()));
    trials("arrays, Parquet and Arrow", 1800, |dice| {
        let (name, bytes) = &files[dice.below(files.len())];
        let path = directory.path().join(name).to_str().unwrap().to_string();
        std::fs::write(&path, mutated(bytes, dice)).unwrap();
        match read(&path, &options(dice)) {
            Err(error) => has_one_line(&error),
            Ok(table) => assert!(8 * table.points.values().len() as u64 <= MEMORY),
        }
    });
}

/// Every number of eight bytes in an Arrow file, one at a time: counts, offsets and lengths that are negative, absurd, or off by
/// one.
#[test]
fn no_number_in_an_arrow_file_is_believed() {
    let directory = tempfile::tempdir().unwrap();
    let vector = |name: &str| ReadOptions { vector: Some(name.into()), ..ReadOptions::default() };
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    let columns = |label: &str, keep: &[&str], ignore: &[&str]| ReadOptions {
        label: Some(label.into()),
        keep: names(keep),
        ignore: names(ignore),
        ..ReadOptions::default()
    };
    // The columns of every file that can be read.
    let options = |name: &str| match name {
        "polars.arrow" => vec![columns("c", &["s"], &[])],
        "vector_holes.arrow" => vec![vector("list"), vector("fixed")],
        "long_text.feather" => vec![columns("t", &[], &[])],
        "columns.feather" | "columns_lz4.feather" | "columns_zstd.feather" | "stream.arrow" | "views.arrow" => {
            vec![columns("kind", &["cat", "k"], &["list", "when", "rec"])]
        }
        _ => vec![ReadOptions::default()],
    };
    for (name, bytes) in corpus(&["arrow", "feather"]).iter().filter(|(_, bytes)| bytes.len() < 2600) {
        let path = directory.path().join(name).to_str().unwrap().to_string();
        for at in (0..bytes.len() - 8).step_by(8) {
            let own = i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            for hard in [-1, i64::MAX, 1 << 40, own.wrapping_add(1), own.wrapping_sub(1)] {
                let mut changed = bytes.clone();
                changed[at..at + 8].copy_from_slice(&hard.to_le_bytes());
                std::fs::write(&path, &changed).unwrap();
                for options in options(name) {
                    let options = ReadOptions { missing: true, memory: Some(MEMORY), ..options };
                    if let Err(error) = read(&path, &options) {
                        has_one_line(&error);
                    }
                }
            }
        }
    }
}

/// Packed files and archives: their own bytes changed, and the bytes of what is in them, which then is packed as it should be.
#[cfg(feature = "compressed")]
#[test]
fn mutated_packed_files_and_archives_are_read_or_refused() {
    use crate::formats::zip;
    use std::io::Write;
    let (texts, arrays, archives) = (corpus(&["csv"]), corpus(&["npy"]), corpus(&["npz"]));
    let directory = tempfile::tempdir().unwrap();
    let packed = |content: &[u8], gzip: bool| -> Vec<u8> {
        if !gzip {
            return zstd::encode_all(content, 1).unwrap();
        }
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(content).unwrap();
        packer.finish().unwrap()
    };
    let mut whole = 0;
    trials("packed files and archives", 800, |dice| {
        let (inside, outside) = (dice.below(2) == 0, dice.below(2) == 0);
        let (files, gzip) = (if dice.below(2) == 0 { &texts } else { &arrays }, dice.below(2) == 0);
        let (name, bytes) = &files[dice.below(files.len())];
        let content = if inside { mutated(bytes, dice) } else { bytes.clone() };
        let (name, file) = match dice.below(4) {
            0 => ("a.npz".to_string(), archives[dice.below(archives.len())].1.clone()),
            1 => ("a.npz".to_string(), zip(&[("x.npy", &content, 0)])),
            _ => (format!("{name}.{}", if gzip { "gz" } else { "zst" }), packed(&content, gzip)),
        };
        let file = if outside { mutated(&file, dice) } else { file };
        let path = directory.path().join(name).to_str().unwrap().to_string();
        std::fs::write(&path, file).unwrap();
        match read(&path, &options(dice)) {
            Err(error) => has_one_line(&error),
            Ok(table) => {
                whole += 1;
                assert!(8 * table.points.values().len() as u64 <= MEMORY);
            }
        }
    });
    assert!(whole > 40, "only {whole} files were read");
}

/// Columns as this library writes them: numbers, and text in a dictionary.
fn written(directory: &Path) -> Vec<(String, Vec<u8>)> {
    use eigenfold::{
        Points,
        io::{Carried, Labels},
    };
    let points = Points::from_rows(&[[1.0, 2.5], [3.0, 4.0], [5.0, -7.0], [1.0, 1.0]]).unwrap();
    let of = vec![Some(0), Some(1), None, Some(0)];
    let labels = Labels::Classes { names: vec!["a".into(), "b".into()], of }.carried("kind");
    let names = ["x".to_string(), "y".to_string()];
    let one = |name: &str, carried: &[Carried]| {
        let path = directory.join(name).to_str().unwrap().to_string();
        eigenfold::io::write(&path, &names, &points, carried).unwrap();
        (name.to_string(), std::fs::read(&path).unwrap())
    };
    let mut files = vec![one("labeled.arrow", std::slice::from_ref(&labels))];
    if cfg!(feature = "parquet") {
        files.extend([one("numbers.parquet", &[]), one("labeled.parquet", &[labels])]);
    }
    files
}

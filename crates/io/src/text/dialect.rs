//! Detects whether a file is text, its delimiter, and whether it has a header.

use crate::text::header;
use crate::{ReadOptions, format_error};
use ::csv::{ByteRecord, ReaderBuilder};
use eigenfold_linalg::error::Result;
use std::path::Path;

/// The number of rows that detection reads. Header detection reads more rows, up to this number of cells.
pub(crate) const SAMPLE: usize = 100;
pub(crate) const CELLS: usize = 50_000;

/// Stands for any run of spaces and tabs.
pub(crate) const SPACES: u8 = b' ';

/// The format of the rows of a text file.
#[derive(Debug, PartialEq)]
pub(crate) struct Dialect {
    /// The byte between two values, or [`SPACES`].
    pub(crate) delimiter: u8,
    /// The names in the first row, if it is a header.
    pub(crate) header: Option<Vec<String>>,
    /// The number of values in a row; a trailing delimiter adds none.
    pub(crate) width: usize,
    /// The note about an uncertain header; parameters between backticks.
    pub(crate) note: Option<String>,
}

/// Refuses what is not text, by its first bytes.
pub(crate) fn check_text(path: &Path, bytes: &[u8]) -> Result<()> {
    let head = &bytes[..bytes.len().min(8192)];
    let (fact, way_out) = if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        ("is UTF-16 text", "save it as UTF-8")
    } else if head.starts_with(crate::npy::header::MAGIC) {
        ("is not text but an NPY array", "give it the extension .npy")
    } else if head.starts_with(b"PAR1") {
        ("is not text but Parquet", "give it the extension .parquet")
    } else if head.starts_with(b"PK\x03\x04") {
        (
            "is not text but a zip archive (as .npz and .xlsx are)",
            "give it its right extension, or save the table as .csv",
        )
    } else if head.starts_with(&[0x1f, 0x8b]) {
        ("is compressed by gzip more than once", "unpack it with gunzip")
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        ("is compressed by Zstandard more than once", "unpack it with unzstd")
    } else if head.starts_with(b"BZh") && head.len() > 3 && head[3].is_ascii_digit() {
        ("is not text but compressed by bzip2", "unpack it with bunzip2")
    } else if head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        ("is not text but compressed by xz", "unpack it with unxz")
    } else if head.contains(&0) {
        ("is not text", "save the table as .csv, .npy or .parquet")
    } else {
        return Ok(());
    };
    Err(format_error(path, fact, way_out))
}

/// Where the table begins: after the byte order mark, and after empty lines and lines of comment (`#`).
pub(crate) fn start_of_table(bytes: &[u8]) -> usize {
    let mut start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    while start < bytes.len() {
        let ends = |b: &u8| *b == b'\n' || *b == b'\r';
        let length = bytes[start..].iter().position(ends).map_or(bytes.len() - start, |end| end + 1);
        let line = bytes[start..start + length].trim_ascii();
        if !line.is_empty() && line[0] != b'#' {
            break;
        }
        start += length;
    }
    start
}

/// The text with every run of spaces and tabs made one space, and none at the ends of lines.
pub(crate) fn squeeze(text: &[u8]) -> Vec<u8> {
    let mut squeezed = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|&b| b == b'\n' || b == b'\r') {
        let words = line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
        for (i, word) in words.enumerate() {
            if i > 0 {
                squeezed.push(SPACES);
            }
            squeezed.extend_from_slice(word);
        }
        // Line ends stay what they are, so that lines keep their numbers.
        squeezed.push(line.last().copied().filter(|&end| end == b'\r').unwrap_or(b'\n'));
    }
    squeezed
}

/// The delimiter: tab, semicolon or comma, the first of them that every line has equally often; else the most
/// frequent; else spaces, if every line has equally many words.
///
/// A comma is none where it stands before decimals.
pub(crate) fn delimiter_of(text: &[u8], decimal_comma: bool) -> u8 {
    let lines: Vec<&[u8]> =
        text.split(|&b| b == b'\n' || b == b'\r').filter(|line| !line.trim_ascii().is_empty()).take(SAMPLE).collect();
    // The last line may be cut off by a limit that the caller set; a table of one line has only that one.
    let counts = |wanted: u8| -> Vec<usize> { lines.iter().map(|line| count_unquoted(line, wanted)).collect() };
    let candidates = [b'\t', b';', b','].map(|candidate| (candidate, counts(candidate)));
    let candidates = if decimal_comma { &candidates[..2] } else { &candidates[..] };
    for (candidate, counts) in candidates {
        if counts.first().is_some_and(|&first| first > 0 && counts.iter().all(|&count| count == first)) {
            return *candidate;
        }
    }
    let frequent = candidates.iter().max_by_key(|(_, counts)| counts.iter().sum::<usize>());
    match frequent {
        Some((candidate, counts)) if counts.iter().any(|&count| count > 0) => *candidate,
        _ => {
            let words = |line: &&[u8]| line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty()).count();
            let first = lines.first().map_or(0, words);
            let last = if decimal_comma { b';' } else { b',' };
            if first > 1 && lines.iter().all(|line| words(line) == first) { SPACES } else { last }
        }
    }
}

fn count_unquoted(line: &[u8], wanted: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for &byte in line {
        quoted ^= byte == b'"';
        count += usize::from(byte == wanted && !quoted);
    }
    count
}

/// A reader of rows that leaves every judgment to its caller.
pub(crate) fn rows_of(text: &[u8], delimiter: u8) -> ::csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 16)
        .from_reader(text)
}

impl Dialect {
    /// The dialect of a table that begins at the first byte of `text`, in line `line` of its file.
    ///
    /// # Errors
    ///
    /// If there is no row of data.
    pub(crate) fn of(path: &Path, text: &[u8], line: usize, delimiter: u8, options: &ReadOptions) -> Result<Dialect> {
        let (mut sample, mut cells): (Vec<ByteRecord>, usize) = (Vec::new(), 0);
        for row in rows_of(text, delimiter).into_byte_records().flatten() {
            cells += row.len();
            sample.push(row);
            if sample.len() >= SAMPLE && cells > CELLS {
                break;
            }
        }
        let Some(first) = sample.first() else {
            return Err(format_error(path, "the file is empty", "give at least two rows of numbers"));
        };
        let rest = &sample[1..];
        let verdict = header::verdict(first, rest, options);
        let has_header = verdict.is_header;
        if has_header && rest.is_empty() {
            let fact = format!("there is a header of {} columns and no row of data", first.len());
            return Err(format_error(path, fact, "add rows below it, or use `header` no if it is a point"));
        }
        let body = if has_header { rest } else { &sample[..] };
        let ends_empty = |row: &ByteRecord| row.len() > 1 && row[row.len() - 1].trim_ascii().is_empty();
        let trailing = body.iter().all(|row| ends_empty(row) && row.len() >= first.len());
        let width = if trailing && (!has_header || ends_empty(first)) { first.len() - 1 } else { first.len() };
        let name = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
        let header = has_header.then(|| first.iter().take(width).map(name).collect());
        Ok(Dialect { delimiter, header, width, note: verdict.note(first, line) })
    }
}

/// The number in a cell: 1 and 0 for `true` and `false`, as booleans of other formats are read.
pub(crate) fn parse(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
    text.parse().ok().or(match text {
        "true" | "True" | "TRUE" => Some(1.0),
        "false" | "False" | "FALSE" => Some(0.0),
        _ => None,
    })
}

/// Whether a text is a date or a time of day: numbers of a day between dashes, slashes or points (2024-01-31, 31.1.2024,
/// 1/31/24), numbers of an hour between colons, or both.
pub(crate) fn is_date(text: &str) -> bool {
    let numbers = |part: &str, mark: char| -> Option<Vec<usize>> {
        let lengths = part.split(mark).map(|n| n.bytes().all(|b| b.is_ascii_digit()).then_some(n.len()));
        lengths.collect::<Option<Vec<usize>>>().filter(|lengths| lengths.len() > 1)
    };
    let is_day = |part: &str| {
        ['-', '/', '.'].into_iter().filter_map(|mark| numbers(part, mark)).any(|lengths| match lengths[..] {
            [year, month, day] => {
                let short = |length: usize| (1..=2).contains(&length);
                (year == 4 && short(month) && short(day)) || (short(year) && short(month) && (day == 4 || day == 2))
            }
            _ => false,
        })
    };
    let is_hour = |part: &str| {
        let clock = part.split(['.', '+', 'Z']).next().unwrap_or_default();
        numbers(clock, ':').is_some_and(|lengths| lengths.len() <= 3 && lengths.iter().all(|&l| (1..=2).contains(&l)))
    };
    match text.trim().split_once([' ', 'T']) {
        Some((day, hour)) => is_day(day) && is_hour(hour),
        None => is_day(text.trim()) || is_hour(text.trim()),
    }
}

/// Whether a cell marks its value as missing.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] = [b"", b"na", b"n/a", b"nan", b"null", b"none", b"missing", b"?", b"."];
    let cell = cell.trim_ascii();
    cell.len() <= 7 && WORDS.contains(&cell.to_ascii_lowercase().as_slice())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn header(text: &str) -> Option<Vec<String>> {
        let text = text.as_bytes();
        Dialect::of(Path::new("t"), text, 1, delimiter_of(text, false), &ReadOptions::default()).unwrap().header
    }

    #[test]
    fn delimiters_are_detected() {
        assert_eq!(delimiter_of(b"a,b\n1,2\n", false), b',');
        assert_eq!(delimiter_of(b"1;2\n3;4", false), b';');
        assert_eq!(delimiter_of(b"1,5;2,5\n3;4", false), b';');
        assert_eq!(delimiter_of(b"1\t2\n3\t4", false), b'\t');
        assert_eq!(delimiter_of(b"  1.0 2.0\n 3.0   4.0\n", false), SPACES);
        assert_eq!(delimiter_of(b"petal width\n3.0\n", false), b',');
        assert_eq!(delimiter_of(b"\"a;b\",c\n1,2\n", false), b',');
        assert_eq!(delimiter_of(b"1,5 2,5\n3,5 4,5\n", true), SPACES);
        assert_eq!(delimiter_of(b"1,5\n3,5\n", true), b';');
        assert_eq!(squeeze(b"  1.0\t 2.0 \r\n3 4"), b"1.0 2.0\r\n3 4\n");
        assert_eq!(squeeze(b"1  2\r3 4\r"), b"1 2\r3 4\r");
    }

    #[test]
    fn booleans_are_numbers_and_dates_are_known() {
        assert_eq!(
            ["True", " FALSE", "true", "yes", "T"].map(|cell| parse(cell.as_bytes())),
            [Some(1.0), Some(0.0), Some(1.0), None, None]
        );
        for date in
            ["2024-01-31", "31.1.2024", "1/31/24", "2024-01-31T12:00:05Z", "2024/1/2 8:30", "12:30", "08:30:01.5"]
        {
            assert!(is_date(date), "{date}");
        }
        for other in
            ["", "2024", "1-2", "192.168.1.10", "a-b-c", "2024-01", "12:", "v1.2.3", "1.000.000", "2024-01-31 noon"]
        {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn headers_are_detected() {
        assert_eq!(header("x,y\n1,2\n").unwrap(), ["x", "y"]);
        assert_eq!(header("x,species\n1,a\n").unwrap(), ["x", "species"]);
        assert_eq!(header("1,2\n3,4\n"), None);
        assert_eq!(header("x,y,\n1,2,\n").unwrap(), ["x", "y"]);
    }

    #[test]
    fn comments_marks_and_empty_lines_are_passed_over() {
        assert_eq!(start_of_table(b"\xef\xbb\xbf# one\r\n\n#two\nx"), 16);
        assert_eq!(start_of_table(b"# only"), 6);
    }
}

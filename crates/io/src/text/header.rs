//! Header detection in text files: whether the first row names the columns.
//!
//! Names are words as a rule, and data are numbers. What is left are names that are numbers (`1990,2000,2010,country`), a
//! first point whose numbers look like names (`1,2,3`), and a first point with a mistyped number (`O.5`). The rules, in
//! this order; "below" are the next rows, a hundred or more of them:
//!
//! | the first row has | it is | reported |
//! |---|---|---|
//! | a word that the options name as a column | names | |
//! | numbers only, counting 0, 1, 2, ... above nothing but decimals | names | yes |
//! | numbers only, all integers above nothing but decimals | a point | yes |
//! | numbers only, else | a point | |
//! | an empty cell above row numbers, then integers | names | |
//! | no number, a word that is no mistyped number above numbers | names | |
//! | no number, and only text below | names | |
//! | words above numbers, and integers that may be names | names | yes |
//! | words above numbers, else: a mistyped number, or numbers that are no names | a point, refused by its cell | |
//! | words above text only, one that recurs below | a point | |
//! | words above text only, that never recur, and integers unlike the numbers below | names | yes |
//! | words above text only, else | a point | yes |
//!
//! `docs/reference/formats.md` has an example of each.

use crate::ReadOptions;
use crate::schema::Schema;
use crate::text::dialect::parse;
use ::csv::ByteRecord;

/// The decision about the first row.
pub(crate) struct Verdict {
    pub(crate) is_header: bool,
    /// Whether it is uncertain, which is reported to the user.
    pub(crate) is_said: bool,
}

impl Verdict {
    fn sure(is_header: bool) -> Verdict {
        Verdict { is_header, is_said: false }
    }

    fn likely(is_header: bool) -> Verdict {
        Verdict { is_header, is_said: true }
    }

    /// The note for the user, if any; parameters between backticks.
    pub(crate) fn note(&self, first: &ByteRecord, line: usize) -> Option<String> {
        let cells: Vec<String> = first.iter().take(4).map(|cell| format!("{:?}", shortened(cell))).collect();
        let more = if first.len() > 4 { ", ..." } else { "" };
        let row = format!("line {line} ({}{more})", cells.join(", "));
        let text = match self.is_header {
            true => format!("{row} was taken for the names of the columns; use `header` no if it is a point"),
            false => format!("{row} was taken for a point; use `header` yes if it names the columns"),
        };
        self.is_said.then_some(text)
    }
}

fn shortened(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).chars().take(20).collect()
}

/// Whether the first row names the columns of the rest, by the table above.
pub(crate) fn verdict(first: &ByteRecord, rest: &[ByteRecord], options: &ReadOptions) -> Verdict {
    if let Some(given) = options.header {
        return Verdict::sure(given);
    }
    let row = Row { first, rest, options };
    if row.names_an_option() {
        return Verdict::sure(true);
    }
    let (words, numbers) = (row.words(), row.numbers());
    if words.is_empty() {
        return row.of_numbers(&numbers);
    }
    let above: Vec<usize> = words.iter().copied().filter(|&c| row.has_numbers_below(c)).collect();
    if numbers.is_empty() {
        let named = |&c: &usize| !is_number_like(&first[c]);
        return Verdict::sure(
            above.iter().any(named) || (above.is_empty() && !words.iter().all(|&c| is_number_like(&first[c]))),
        );
    }
    if !above.is_empty() {
        let names = row.may_be_names(&numbers)
            && !above.iter().any(|&c| is_mistyped(&first[c]))
            && !words.iter().any(|&c| row.recurs(c));
        return if names { Verdict::likely(true) } else { Verdict::sure(false) };
    }
    row.of_text(&words, &numbers)
}

/// The first row and those below.
struct Row<'a> {
    first: &'a ByteRecord,
    rest: &'a [ByteRecord],
    options: &'a ReadOptions,
}

impl Row<'_> {
    /// Whether a cell is a column that the options name.
    fn names_an_option(&self) -> bool {
        let options = self.options;
        let is_number = |name: &str| name.parse().is_ok_and(|number: usize| (1..=self.first.len()).contains(&number));
        let listed = options.ignore.iter().flat_map(|names| names.split(',').map(str::trim));
        let whole = options.ignore.iter().chain(&options.label).chain(&options.keep).map(String::as_str);
        let known = options.like.iter().flat_map(Schema::names);
        let hot = options.one_hot.iter().map(String::as_str);
        let mut names = whole.chain(listed).chain(known).chain(hot).filter(|name| !name.is_empty() && !is_number(name));
        names.any(|name| self.first.iter().any(|cell| cell.trim_ascii() == name.as_bytes()))
    }

    /// The columns whose first cell is neither a number nor missing.
    fn words(&self) -> Vec<usize> {
        let is_word = |cell: &[u8]| self.options.parse(cell).is_none() && !self.options.is_missing(cell);
        (0..self.first.len()).filter(|&c| is_word(&self.first[c])).collect()
    }

    /// The columns whose first cell is a number.
    fn numbers(&self) -> Vec<usize> {
        (0..self.first.len()).filter(|&c| self.options.parse(&self.first[c]).is_some_and(f64::is_finite)).collect()
    }

    fn below(&self, column: usize) -> impl Iterator<Item = &[u8]> {
        self.rest.iter().filter_map(move |row| row.get(column)).filter(|cell| !self.options.is_missing(cell))
    }

    /// Whether the column goes on with numbers and nothing else.
    fn has_numbers_below(&self, column: usize) -> bool {
        self.below(column).next().is_some() && self.below(column).all(|cell| self.options.parse(cell).is_some())
    }

    /// Whether the column goes on with numbers of which none is written as an integer.
    fn has_decimals_below(&self, column: usize) -> bool {
        self.has_numbers_below(column) && !self.below(column).any(is_integer)
    }

    /// Whether the first cell of a column stands below it again.
    fn recurs(&self, column: usize) -> bool {
        self.below(column).any(|cell| cell.trim_ascii() == self.first[column].trim_ascii())
    }

    /// Whether these cells are different integers, not negative.
    fn may_be_names(&self, numbers: &[usize]) -> bool {
        let mut cells: Vec<&[u8]> = numbers.iter().map(|&c| self.first[c].trim_ascii()).collect();
        let integers = cells.iter().all(|cell| is_integer(cell) && !cell.starts_with(b"-"));
        cells.sort_unstable();
        cells.dedup();
        integers && cells.len() == numbers.len()
    }

    /// Whether these cells are from, from + 1, from + 2, ...
    fn counts_from(&self, from: usize, columns: &[usize]) -> bool {
        columns.iter().enumerate().all(|(i, &c)| self.options.parse(&self.first[c]) == Some((from + i) as f64))
    }

    /// A first row without words.
    fn of_numbers(&self, numbers: &[usize]) -> Verdict {
        let width = self.first.len();
        let counts_rows = |from: usize| {
            let counted = self
                .rest
                .iter()
                .enumerate()
                .all(|(i, row)| row.get(0).and_then(|cell| self.options.parse(cell)) == Some((from + i) as f64));
            counted && !self.rest.is_empty()
        };
        let numbered = self.first[0].trim_ascii().is_empty() && (counts_rows(0) || counts_rows(1));
        if numbered && numbers.len() + 1 == width && width > 1 && self.may_be_names(numbers) {
            return Verdict::sure(true);
        }
        let unlike = numbers.len() == width && numbers.iter().all(|&c| self.has_decimals_below(c));
        if !unlike || !numbers.iter().all(|&c| is_integer(&self.first[c])) {
            return Verdict::sure(false);
        }
        Verdict::likely(width > 2 && self.counts_from(0, numbers))
    }

    /// A first row of numbers, and of words above text.
    fn of_text(&self, words: &[usize], numbers: &[usize]) -> Verdict {
        // `id7` above `id8` is one more of them.
        let alike = |&c: &usize| {
            let shape = shape_of(&self.first[c]);
            shape.contains(&b'0') && self.below(c).all(|cell| shape_of(cell) == shape)
        };
        if words.iter().any(|&c| self.recurs(c)) || words.iter().all(alike) {
            return Verdict::sure(false);
        }
        if !self.may_be_names(numbers) || self.rest.is_empty() {
            return Verdict::likely(false);
        }
        let decimals = numbers.iter().all(|&c| self.has_decimals_below(c));
        // Names that are numbers ascend, as years do, and rows of integers seldom do so all.
        let ascends = |row: &ByteRecord| {
            let cells: Vec<Option<f64>> =
                numbers.iter().map(|&c| row.get(c).and_then(|cell| self.options.parse(cell))).collect();
            cells.windows(2).all(|two| two[0] < two[1])
        };
        let ordered = numbers.len() > 1 && ascends(self.first) && !self.rest.iter().all(ascends);
        let classes = |&c: &usize| {
            let mut cells: Vec<&[u8]> = self.below(c).map(<[u8]>::trim_ascii).collect();
            let count = cells.len();
            cells.sort_unstable();
            cells.dedup();
            cells.len() < count
        };
        Verdict::likely(decimals || ordered || words.iter().any(classes))
    }
}

/// Whether a cell is a number without point and exponent.
fn is_integer(cell: &[u8]) -> bool {
    let digits = cell.trim_ascii();
    let digits = digits.strip_prefix(b"-").or_else(|| digits.strip_prefix(b"+")).unwrap_or(digits);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a cell becomes a number if letters that look like digits are read as these, and marks beside numbers left out.
pub(crate) fn is_number_like(cell: &[u8]) -> bool {
    let read = |byte: &u8| match byte {
        b'O' | b'o' => Some(b'0'),
        b'l' | b'I' => Some(b'1'),
        b',' | b';' | b':' => Some(b'.'),
        b' ' | b'_' | b'\'' | b'`' | b'"' | b'%' | b'$' | b'*' => None,
        byte if !byte.is_ascii() => None,
        byte => Some(*byte),
    };
    let text: Vec<u8> = cell.trim_ascii().iter().filter_map(read).collect();
    let digits = cell.iter().any(u8::is_ascii_digit);
    let commas = || text.iter().filter(|&&byte| byte != b'.').copied().collect::<Vec<u8>>();
    digits && (parse(&text).is_some() || parse(&commas()).is_some())
}

/// Whether a cell beside numbers is rather a mistyped number than a name.
fn is_mistyped(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let begins = cell.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
    begins || is_number_like(cell)
}

/// A text with every run of digits made one zero.
fn shape_of(cell: &[u8]) -> Vec<u8> {
    let mut shape: Vec<u8> = cell.trim_ascii().iter().map(|b| if b.is_ascii_digit() { b'0' } else { *b }).collect();
    shape.dedup_by(|a, b| *a == b'0' && *b == b'0');
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::dialect::rows_of;

    fn verdict(text: &str, options: &ReadOptions) -> (bool, bool) {
        let rows: Vec<ByteRecord> = rows_of(text.as_bytes(), b',').into_byte_records().flatten().collect();
        let found = super::verdict(&rows[0], &rows[1..], options);
        (found.is_header, found.is_said)
    }

    /// The table at the top of this file and in `docs/reference/formats.md`, a line at a time.
    #[test]
    fn every_case_of_the_table() {
        const NAMES: (bool, bool) = (true, false);
        const SAID_NAMES: (bool, bool) = (true, true);
        const POINT: (bool, bool) = (false, false);
        const SAID_POINT: (bool, bool) = (false, true);
        for (text, expected) in [
            // Numbers only.
            ("1,2\n3,4\n", POINT),
            ("1.5,2\n3,4\n", POINT),
            ("1,2,3\n-0.664,-0.613,-1.605\n0.729,0.806,-0.476\n", SAID_POINT),
            ("1990,2000\n0.5,0.25\n0.1,0.7\n", SAID_POINT),
            ("0,1,2\n0.5,1.5,2.5\n", SAID_NAMES),
            ("0,1,2\n0.5,1.5,2\n", POINT),
            ("0,1,2\n5,1,2\n", POINT),
            ("0,1\n0.5,1.5\n", SAID_POINT),
            ("0,1,1.5\n0,2,0.5\n", POINT),
            // Numbers and missing cells.
            (",0,1\n0,0.5,1.5\n1,0.5,1.5\n", NAMES),
            (",1990,2000\n1,5,1\n2,6,2\n", NAMES),
            (",0.5,1.5\n1,0.5,1.5\n2,0.5,1.5\n", POINT),
            ("NA,1,2\n3,4,5\n", POINT),
            (",1,2\n3,4,5\n", POINT),
            // Words without numbers.
            ("x,y\n1,2\n", NAMES),
            ("x,species\n1,a\n", NAMES),
            ("a\n1\n", NAMES),
            ("1st,2nd\n1,2\n", NAMES),
            ("Na,K\n1,2\n", NAMES),
            ("x,\n1,2\n", NAMES),
            ("a,b\nc,d\n", NAMES),
            ("O.5\n1\n", POINT),
            ("O.5,setosa\n1.5,setosa\n", POINT),
            ("x\n", NAMES),
            // Words above numbers, beside numbers.
            ("id,1990,2000\n1,0.5,0.6\n2,0.5,0.7\n", SAID_NAMES),
            ("O.5,0.7,0.2\n0.1,0.3,0.4\n", POINT),
            ("O.5,1,2\n0.1,0.3,0.4\n", POINT),
            ("1O,25,7\n12,30,9\n", POINT),
            ("0.5x,3,4\n0.1,0.3,0.4\n", POINT),
            ("bad,0.7,0.2\n0.1,0.3,0.4\n", POINT),
            ("bad,5,setosa\n1,2,setosa\n", POINT),
            ("time,0.1,0.2\n1,2,3\n", POINT),
            ("x,7,7\n1,2,3\n", POINT),
            ("x,-1,7\n1,2,3\n", POINT),
            // Words above text, beside numbers.
            ("1990,2000,2010,country\n0.5,0.6,0.7,France\n0.1,0.2,0.3,Peru\n", SAID_NAMES),
            ("1990,2000,2010,country\n5,3,9,France\n4,4,8,Peru\n", SAID_NAMES),
            ("0,1,2,label\n0.5,0.6,0.7,a\n0.1,0.2,0.3,b\n", SAID_NAMES),
            ("0,label\n5,a\n7,a\n3,b\n", SAID_NAMES),
            ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,2.5,virginica\n", POINT),
            ("5.1,3.5,setosa\n4.9,3.0,virginica\n", SAID_POINT),
            ("1,a\n3,b\n", SAID_POINT),
            ("12,7,id1\n3,9,id2\n4,9,id3\n", POINT),
            ("1,2,a\n3,4,b\n", SAID_POINT),
            ("1.5,a\n", SAID_POINT),
        ] {
            assert_eq!(verdict(text, &ReadOptions::default()), expected, "{text}");
        }
    }

    #[test]
    fn a_name_in_the_options_proves_a_header_and_a_number_does_not() {
        let text = "1.5,phase\n2.5,a\n";
        let named = |label: &str| ReadOptions { label: Some(label.into()), ..ReadOptions::default() };
        assert_eq!(verdict(text, &named("phase")), (true, false));
        assert_eq!(verdict(text, &named("2")), (false, true));
        let ignoring = ReadOptions { ignore: vec!["1990".into()], ..ReadOptions::default() };
        assert_eq!(verdict("1990,2000\n3,4\n", &ignoring), (true, false));
        for given in [true, false] {
            let options = ReadOptions { header: Some(given), ..named("phase") };
            assert_eq!(verdict(text, &options), (given, false));
        }
    }

    #[test]
    fn typing_errors_are_distinguished_from_names() {
        for slip in ["O.5", "1O", "0,5", "1 000", "12%", "l.5", "1.000.000", "0:5"] {
            assert!(is_number_like(slip.as_bytes()), "{slip}");
        }
        for name in ["x", "x1", "O", "oil", "2nd", "p50_ms", "y-1", ""] {
            assert!(!is_number_like(name.as_bytes()), "{name}");
        }
    }
}

//! The options for cells of text: a comma before decimals, and the user's marks of missing cells.

use crate::columns::carried::Cells;
use crate::numbers::Real;
use crate::text::dialect;
use crate::{ReadOptions, format_error};
use eigenfold_linalg::error::Result;
use std::borrow::Cow;
use std::path::Path;

impl ReadOptions {
    /// Refuses options that contradict each other, with this delimiter.
    pub(crate) fn check_decimal(&self, path: &Path, delimiter: u8) -> Result<()> {
        match self.decimal {
            None | Some(b'.') => Ok(()),
            Some(b',') if delimiter != b',' => Ok(()),
            Some(b',') => {
                let fact = "commas cannot both separate the columns and stand before decimals";
                Err(format_error(path, fact, "use `delimiter` with what separates the columns"))
            }
            Some(_) => Err(format_error(path, "the decimal mark is a point or a comma", "use `decimal` ,")),
        }
    }

    /// Whether decimals stand behind a comma.
    pub(crate) fn has_decimal_comma(&self) -> bool {
        self.decimal == Some(b',')
    }

    /// The number in a cell of a text file.
    pub(crate) fn parse(&self, cell: &[u8]) -> Option<f64> {
        if self.has_decimal_comma() { dialect::parse(&with_point(cell)?) } else { dialect::parse(cell) }
    }

    /// Whether a cell of a text file marks its value as missing.
    pub(crate) fn is_missing(&self, cell: &[u8]) -> bool {
        dialect::is_missing(cell) || self.is_marked(cell)
    }

    /// Whether a cell of a text file is one of the marks: the same text, or the same number.
    pub(crate) fn is_marked(&self, cell: &[u8]) -> bool {
        let cell = cell.trim_ascii();
        let same = |mark: &String| {
            let mark = mark.trim().as_bytes();
            mark == cell || self.parse(mark).is_some_and(|number| self.parse(cell) == Some(number))
        };
        self.na.iter().any(same)
    }

    /// The marks that are numbers, in whatever way they are written.
    fn marked_numbers(&self) -> Vec<f64> {
        self.na
            .iter()
            .filter_map(|mark| self.parse(mark.as_bytes()).or_else(|| dialect::parse(mark.as_bytes())))
            .collect()
    }

    /// Replaces numbers that are marks by NaN.
    pub(crate) fn unmark<T: Real>(&self, numbers: &mut [T]) {
        let marks = self.marked_numbers();
        let is_mark = |number: T| marks.contains(&number.into());
        if !marks.is_empty() {
            numbers.iter_mut().filter(|number| is_mark(**number)).for_each(|number| *number = T::of(f64::NAN));
        }
    }

    /// The cells of a column of a text file that goes with the points: numbers with a point, if all are numbers, and nothing
    /// where a mark stands.
    pub(crate) fn cells(&self, mut texts: Vec<String>) -> Cells {
        if !self.na.is_empty() {
            texts.iter_mut().filter(|text| self.is_marked(text.as_bytes())).for_each(String::clear);
        }
        let is_number = |text: &String| text.is_empty() || self.parse(text.as_bytes()).is_some();
        if self.has_decimal_comma() && texts.iter().all(is_number) {
            texts.iter_mut().for_each(|text| *text = text.replace(',', "."));
        }
        Cells::from_texts(texts)
    }
}

/// A number with a comma as one with a point; nothing if it has a point, too.
fn with_point(cell: &[u8]) -> Option<Cow<'_, [u8]>> {
    match cell.iter().position(|&byte| byte == b',') {
        _ if cell.contains(&b'.') => None,
        None => Some(Cow::Borrowed(cell)),
        Some(at) => {
            let mut cell = cell.to_vec();
            cell[at] = b'.';
            Some(Cow::Owned(cell))
        }
    }
}

impl Cells {
    /// The same with missing cells in place of marks.
    pub(crate) fn without_marks(mut self, options: &ReadOptions) -> Cells {
        match &mut self {
            _ if options.na.is_empty() => {}
            Cells::Numbers(numbers) => options.unmark(numbers),
            Cells::Texts(texts) => {
                let is_marked = |text: &&mut String| options.na.iter().any(|mark| mark.trim() == text.as_str());
                texts.iter_mut().filter(is_marked).for_each(String::clear);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_stands_before_decimals_if_it_is_requested() {
        let options = ReadOptions { decimal: Some(b','), ..ReadOptions::default() };
        let read = ["1,5", " -2,5e3 ", "7", ",5", "1.5", "1,2,3", "1.234,5", "true"];
        let expected = [Some(1.5), Some(-2500.0), Some(7.0), Some(0.5), None, None, None, Some(1.0)];
        assert_eq!(read.map(|cell| options.parse(cell.as_bytes())), expected);
        assert_eq!(ReadOptions::default().parse(b"1,5"), None);
        let texts = |of: &[&str]| of.iter().map(|text| text.to_string()).collect::<Vec<String>>();
        assert_eq!(options.cells(texts(&["1,5", "2"])), Cells::Numbers(vec![1.5, 2.0]));
        assert_eq!(options.cells(texts(&["1,50", "2"])), Cells::Texts(texts(&["1.50", "2"])));
        assert_eq!(options.cells(texts(&["1,5", "a,b"])), Cells::Texts(texts(&["1,5", "a,b"])));
    }

    #[test]
    fn a_mark_is_a_text_or_a_number_in_any_writing() {
        let options = ReadOptions { na: ["-", "-999", "n.d."].map(String::from).to_vec(), ..ReadOptions::default() };
        for missing in ["-", " - ", "-999", "-999.0", "-9.99e2", "n.d.", "", "NA"] {
            assert!(options.is_missing(missing.as_bytes()), "{missing}");
        }
        for there in ["--", "999", "N.D.", "0"] {
            assert!(!options.is_missing(there.as_bytes()), "{there}");
        }
        let mut numbers = [1.0f64, -999.0, 3.0];
        options.unmark(&mut numbers);
        assert!(numbers[1].is_nan() && numbers[0] == 1.0 && numbers[2] == 3.0);
    }
}

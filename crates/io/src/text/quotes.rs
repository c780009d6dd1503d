//! Checks that every quote in a text is closed.
//!
//! A quote that is not closed takes the rows below it into its cell, and they would be lost silently: to a reader of
//! CSV, everything between two quotes is one cell. So the quotes are checked before the rows are read,
//! in the states of RFC 4180, section 2: a cell that begins with a quote ends with one, quotes inside it are doubled, and
//! after the last there is a delimiter or the end of the line.

use crate::text::dialect::SPACES;

/// A fault of the quotes, with its line counted from 1.
#[derive(Debug, PartialEq)]
pub(crate) enum Fault {
    /// The file ends before the quote that was opened in this line is closed.
    Open(usize),
    /// Text follows the closing quote in the second line; it was opened in the first.
    Followed(usize, usize),
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// At the beginning of a cell.
    Start,
    /// In a cell without quotes.
    Plain,
    /// Between two quotes.
    Quoted,
    /// Behind a quote that closes the cell, unless another one follows.
    Closed,
}

/// Where a text is: in what state, and in which line.
struct Scan {
    delimiter: u8,
    state: State,
    line: usize,
    opened: usize,
    last: u8,
}

impl Scan {
    fn new(delimiter: u8) -> Scan {
        Scan { delimiter, state: State::Start, line: 1, opened: 0, last: 0 }
    }

    /// Passes one byte; the fault that it is.
    fn pass(&mut self, byte: u8) -> Option<Fault> {
        let ends = byte == b'\n' || byte == b'\r';
        // A line end of two bytes is one.
        self.line += usize::from(ends && !(byte == b'\n' && self.last == b'\r'));
        self.last = byte;
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::Closed,
            (State::Quoted, _) => State::Quoted,
            (State::Closed, b'"') => State::Quoted,
            (_, byte) if byte == self.delimiter || ends || (self.delimiter == SPACES && byte == b'\t') => State::Start,
            (State::Closed, b' ' | b'\t') => State::Closed,
            (State::Closed, _) => return Some(Fault::Followed(self.opened, self.line)),
            (State::Start, b'"') => {
                self.opened = self.line;
                State::Quoted
            }
            (State::Start | State::Plain, _) => State::Plain,
        };
        None
    }

    /// The fault of a text that ends here.
    fn end(&self) -> Option<Fault> {
        (self.state == State::Quoted).then_some(Fault::Open(self.opened))
    }
}

/// The first fault of the quotes in a text.
pub(crate) fn fault(text: &[u8], delimiter: u8) -> Option<Fault> {
    let mut scan = Scan::new(delimiter);
    text.iter().find_map(|&byte| scan.pass(byte)).or_else(|| scan.end())
}

/// Where a text that begins with a row can be cut between two rows: at the last such place among the first `most` bytes, else
/// at the first after them. Nothing if there is none in the text.
pub(crate) fn cut(text: &[u8], delimiter: u8, most: usize) -> Result<Option<usize>, Fault> {
    // A carriage return ends a row unless a line feed follows.
    let ends =
        |at: usize| text[at] == b'\n' || (text[at] == b'\r' && text.get(at + 1).is_some_and(|&next| next != b'\n'));
    let most = most.min(text.len());
    let first = &text[..most];
    if !first.contains(&b'"')
        && let Some(at) = first.iter().rposition(|&b| b == b'\n').or_else(|| (0..most).rev().find(|&at| ends(at)))
    {
        return Ok(Some(at + 1));
    }
    let (mut scan, mut last) = (Scan::new(delimiter), None);
    for (at, &byte) in text.iter().enumerate() {
        if at >= most && last.is_some() {
            break;
        }
        let within = scan.state == State::Quoted;
        if let Some(fault) = scan.pass(byte) {
            return Err(fault);
        }
        if !within && ends(at) {
            last = Some(at + 1);
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_that_are_not_closed_are_found_where_they_open() {
        for (text, expected) in [
            ("a,\"b\"\n", None),
            ("a,\"b\n", Some(Fault::Open(1))),
            ("1,a\n2,\"b\n3,c\n", Some(Fault::Open(2))),
            ("1,a\r\n2,\"b\r\n3,c", Some(Fault::Open(2))),
            ("1,a\r2,\"b\r3,c", Some(Fault::Open(2))),
            ("1,\"a\"\"\n2,b\n", Some(Fault::Open(1))),
            ("1,\"a\"\"b\"\n", None),
            ("1,\"a\nb\"\n", None),
            ("1,\"a\" ,2\n", None),
            ("1,\"a\n2,\"b\n", Some(Fault::Followed(1, 2))),
            ("\"a\"b,1\n", Some(Fault::Followed(1, 1))),
            ("5\" pipe,1\n6,2\n", None),
            ("\"", Some(Fault::Open(1))),
            ("\"\"", None),
            ("\"\"\"", Some(Fault::Open(1))),
            ("", None),
        ] {
            assert_eq!(fault(text.as_bytes(), b','), expected, "{text:?}");
        }
        assert_eq!(fault(b"1\t\"a\n2\tb\n", b'\t'), Some(Fault::Open(1)));
    }
    #[test]
    fn a_text_is_cut_between_rows() {
        for (text, most, expected) in [
            ("1,2\n3,4\n5", 5, Some(4)),
            ("1,2\n3,4\n5", 8, Some(8)),
            ("1,2\n3,4\n5", 100, Some(8)),
            ("1,2\n3,4\n5", 1, Some(4)),
            ("1,2\r\n3,4\r\n", 4, Some(5)),
            ("1,2\r3,4\r", 100, Some(4)),
            ("1,2", 100, None),
            ("1,\"a\nb\"\n3,c\n", 5, Some(8)),
            ("1,\"a\nb\"\n3,c\n", 100, Some(12)),
            ("1,\"a\nb", 100, None),
        ] {
            assert_eq!(cut(text.as_bytes(), b',', most), Ok(expected), "{text:?} {most}");
        }
        assert_eq!(cut(b"1,\"a\"b\n", b',', 100), Err(Fault::Followed(1, 1)));
    }
}

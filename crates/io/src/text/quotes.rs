//! Checks that every quote in a text is closed.
//!
//! A quote that is not closed takes the rows below it into its cell, and they would be lost silently: to a reader of
//! CSV, everything between two quotes is one cell. So the quotes are checked before the rows are read,
//! in the states of RFC 4180, section 2: a cell that begins with a quote ends with one, quotes inside it are doubled, and
//! after the last there is a delimiter or the end of the line.

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

/// The first fault of the quotes in a text.
pub(crate) fn fault(text: &[u8], delimiter: u8) -> Option<Fault> {
    let (mut state, mut line, mut opened, mut last) = (State::Start, 1, 0, 0);
    for &byte in text {
        let ends = byte == b'\n' || byte == b'\r';
        // A line end of two bytes is one.
        line += usize::from(ends && !(byte == b'\n' && last == b'\r'));
        last = byte;
        state = match (state, byte) {
            (State::Quoted, b'"') => State::Closed,
            (State::Quoted, _) => State::Quoted,
            (State::Closed, b'"') => State::Quoted,
            (_, byte) if byte == delimiter || ends => State::Start,
            (State::Closed, b' ' | b'\t') => State::Closed,
            (State::Closed, _) => return Some(Fault::Followed(opened, line)),
            (State::Start, b'"') => {
                opened = line;
                State::Quoted
            }
            (State::Start | State::Plain, _) => State::Plain,
        };
    }
    (state == State::Quoted).then_some(Fault::Open(opened))
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
}

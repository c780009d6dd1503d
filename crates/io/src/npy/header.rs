//! The header of an NPY file: the type of the numbers, their order, and the shape.
//!
//! ```text
//! \x93NUMPY  major minor  length (2 bytes in version 1, 4 after)  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}
//! ```
//!
//! NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays".

use crate::format_error;
use eigenfold_linalg::error::{Error, Result};
use std::io::Read;
use std::path::Path;

/// The first bytes of every NPY file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy itself refuses longer headers of untrusted files.
const LONGEST: usize = 10_000;

/// The type of the numbers in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Bool,
    Int,
    Uint,
    Float,
}

/// The type, order and shape of an array.
#[derive(Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// Bytes a number.
    pub(crate) size: usize,
    pub(crate) big_endian: bool,
    /// Whether a column's numbers lie together.
    pub(crate) fortran: bool,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Where the numbers begin in the file.
    pub(crate) start: u64,
}

impl Header {
    /// Reads the header; what is left to read are the numbers.
    pub(crate) fn read(path: &Path, file: &mut dyn Read) -> Result<Header> {
        let mut head = [0; 8];
        fill(path, file, &mut head)?;
        if !head.starts_with(MAGIC) {
            let zip = head.starts_with(b"PK\x03\x04");
            let (fact, way_out) = if zip {
                ("is a zip archive of arrays (.npz)", "unpack it first and give one .npy of it")
            } else {
                ("is not an NPY file, which begins with \"\\x93NUMPY\"", "save it with numpy.save")
            };
            return Err(format_error(path, fact, way_out));
        }
        let (mut short, mut long) = ([0; 2], [0; 4]);
        let (length, start) = match head[6] {
            1 => {
                fill(path, file, &mut short)?;
                (u16::from_le_bytes(short) as usize, 10)
            }
            2 | 3 => {
                fill(path, file, &mut long)?;
                (u32::from_le_bytes(long) as usize, 12)
            }
            major => {
                let fact = format!("is NPY version {major}.{}", head[7]);
                return Err(format_error(path, fact, "save it as version 1, 2 or 3"));
            }
        };
        if length > LONGEST {
            let fact = format!("the header is {length} bytes long, and none has more than {LONGEST}");
            return Err(format_error(path, fact, "save it again"));
        }
        let mut text = vec![0; length];
        fill(path, file, &mut text)?;
        Header::parse(path, &String::from_utf8_lossy(&text), start + length as u64)
    }

    fn parse(path: &Path, text: &str, start: u64) -> Result<Header> {
        let entry = |key: &str| {
            let after = ['\'', '"'].iter().find_map(|quote| text.split_once(&format!("{quote}{key}{quote}")))?.1;
            after.trim_start().strip_prefix(':').map(str::trim_start)
        };
        let (Some(descr), Some(order), Some(shape)) = (entry("descr"), entry("fortran_order"), entry("shape")) else {
            return Err(format_error(
                path,
                "the header lacks descr, fortran_order or shape",
                "save it with numpy.save",
            ));
        };
        let (kind, size, big_endian) = number_type(path, descr)?;
        let (rows, cols) = shape_of(path, shape)?;
        let word: String = order.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let fortran = match word.as_str() {
            "True" => true,
            "False" => false,
            _ => {
                let fact = "the header's fortran_order is neither True nor False";
                return Err(format_error(path, fact, "save it with numpy.save"));
            }
        };
        Ok(Header { kind, size, big_endian, fortran, rows, cols, start })
    }

    /// The number of values, if `file_length` bytes are exactly what the header promises.
    pub(crate) fn checked_count(&self, path: &Path, file_length: u64) -> Result<usize> {
        let count = self.rows.checked_mul(self.cols);
        let promised = count.and_then(|count| count.checked_mul(self.size));
        let held = file_length.saturating_sub(self.start);
        match (count, promised) {
            (Some(count), Some(promised)) if promised as u64 == held => Ok(count),
            (_, promised) => {
                let bytes =
                    promised.map_or("more than memory".into(), |bytes| format!("{} bytes", grouped(bytes as u64)));
                let (rows, cols, name) = (self.rows, self.cols, self.type_name());
                Err(format_error(
                    path,
                    format!(
                        "the header promises {rows} x {cols} {name} ({bytes}) and the file holds {} bytes",
                        grouped(held)
                    ),
                    "save it again, one array a file",
                ))
            }
        }
    }

    fn type_name(&self) -> String {
        match self.kind {
            Kind::Bool => "bool".into(),
            Kind::Int => format!("int{}", 8 * self.size),
            Kind::Uint => format!("uint{}", 8 * self.size),
            Kind::Float => format!("float{}", 8 * self.size),
        }
    }
}

/// The type that `descr` names: kind, bytes, and whether the largest byte comes first.
fn number_type(path: &Path, descr: &str) -> Result<(Kind, usize, bool)> {
    if !descr.starts_with(['\'', '"']) {
        return Err(format_error(path, "holds records of several fields", "save a plain array of numbers"));
    }
    let name: String = descr[1..].chars().take_while(|&c| c != '\'' && c != '"').collect();
    let (big_endian, rest) = match name.strip_prefix(['<', '=', '|', '>']) {
        Some(rest) => (name.starts_with('>'), rest),
        None => (false, name.as_str()),
    };
    let (kind, size) = match rest {
        "b1" | "?" => (Kind::Bool, 1),
        "i1" => (Kind::Int, 1),
        "i2" => (Kind::Int, 2),
        "i4" => (Kind::Int, 4),
        "i8" => (Kind::Int, 8),
        "u1" => (Kind::Uint, 1),
        "u2" => (Kind::Uint, 2),
        "u4" => (Kind::Uint, 4),
        "u8" => (Kind::Uint, 8),
        "f2" => (Kind::Float, 2),
        "f4" => (Kind::Float, 4),
        "f8" => (Kind::Float, 8),
        _ => {
            let what = match rest.chars().next() {
                Some('O') => "Python objects",
                Some('c') => "complex numbers",
                Some('S' | 'U' | 'a') => "text",
                Some('M' | 'm') => "dates or times",
                _ => "values",
            };
            let fact = format!("holds {what} (type {name:?}), not real numbers");
            return Err(format_error(path, fact, "save it as float64 (astype(float))"));
        }
    };
    Ok((kind, size, big_endian))
}

/// Rows and columns of a shape such as `(3, 2)`; a shape of one number is a column.
fn shape_of(path: &Path, shape: &str) -> Result<(usize, usize)> {
    let inside = shape.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inside, _)| inside);
    let numbers = |inside: &str| -> Option<Vec<usize>> {
        let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| item.trim_end_matches('L').parse().ok()).collect()
    };
    let Some(shape) = inside.and_then(numbers) else {
        return Err(format_error(path, "the header's shape is not a list of numbers", "save it with numpy.save"));
    };
    match shape[..] {
        [] => Err(format_error(path, "is a single number, not an array", "give a 2-D array, one point a row")),
        [0] | [0, _] => Err(format_error(path, "holds no rows", "give at least two points")),
        [_, 0] => Err(format_error(path, "holds no columns", "give at least one column of numbers")),
        [rows] => Ok((rows, 1)),
        [rows, cols] => Ok((rows, cols)),
        _ => {
            let dims = shape.len();
            let way_out = "reshape it to one point a row, a.reshape(len(a), -1), and save it again";
            Err(format_error(path, format!("is a {dims}-D array"), way_out))
        }
    }
}

fn fill(path: &Path, file: &mut dyn Read, bytes: &mut [u8]) -> Result<()> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => format_error(path, "ends within its NPY header", "copy or save it again"),
        _ => Error::Io { path: path.into(), source: error },
    })
}

/// A number with commas between the thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> std::result::Result<Header, String> {
        Header::parse(Path::new("a.npy"), text, 128).map_err(|error| error.to_string())
    }

    #[test]
    fn type_order_and_shape_are_understood() {
        let header = parse("{'descr': '>i4', 'fortran_order': True, 'shape': (3, 2), }").unwrap();
        let expected =
            Header { kind: Kind::Int, size: 4, big_endian: true, fortran: true, rows: 3, cols: 2, start: 128 };
        assert_eq!(header, expected);
        let header = parse("{\"descr\": \"|u1\", \"fortran_order\": False, \"shape\": (7L,)}").unwrap();
        assert_eq!((header.kind, header.rows, header.cols), (Kind::Uint, 7, 1));
    }

    #[test]
    fn what_is_no_matrix_of_numbers_is_refused_with_the_way_out() {
        let of = |descr: &str, shape: &str| {
            parse(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")).unwrap_err()
        };
        assert!(of("'|O'", "(1,)").contains("holds Python objects"));
        assert!(of("'<c16'", "(1,)").contains("holds complex numbers"));
        assert!(of("'<U5'", "(1,)").contains("holds text (type \"<U5\")"));
        assert!(of("[('x', '<f8')]", "(1,)").contains("records"));
        assert!(of("'<f8'", "(2, 3, 4)").contains("is a 3-D array; reshape it"));
        assert!(of("'<f8'", "()").contains("single number"));
        for empty in ["(0, 1000000000000000000)", "(0, 18446744073709551615)", "(0,)", "(0, 0)"] {
            assert!(of("'<f8'", empty).contains("holds no rows"), "{empty}");
        }
        assert!(of("'<f8'", "(5, 0)").contains("holds no columns"));
        for shape in ["(-1, 2)", "(1.5, 2)", "(1 2)", "[3, 2]", "(3, 2"] {
            assert!(of("'<f8'", shape).contains("not a list of numbers"), "{shape}");
        }
        for order in ["Maybe", "1", "'True'", "true", "Truely", ""] {
            let text = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (3, 2), }}");
            assert!(parse(&text).unwrap_err().contains("neither True nor False"), "{order}");
        }
        assert!(of("'<f8'", "(99999999999999999999,)").contains("not a list of numbers"));
        assert!(parse("{}").unwrap_err().contains("lacks descr"));
    }

    #[test]
    fn a_wrong_size_in_the_header_is_reported_with_both_numbers() {
        let of = |shape: &str| {
            let header = parse(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}")).unwrap();
            header.checked_count(Path::new("a.npy"), 228).unwrap_err().to_string()
        };
        let promise = "the header promises 1000 x 64 float64 (512,000 bytes) and the file holds 100 bytes";
        assert!(of("(1000, 64)").starts_with(&format!("a.npy: {promise}; ")));
        assert!(of("(9999999999999999999, 9999999999)").contains("more than memory"));
    }
}

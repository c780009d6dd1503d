//! NPY arrays: NumPy's own file format, versions 1 to 3, any type of real number, both byte orders, both layouts.
//!
//! The file is read a block at a time and each block converted in parallel, so that reading needs little more memory
//! than the points themselves. No more is allocated than the length of the file allows for.

pub(crate) mod header;

use crate::columns::{Columns, Want};
use crate::npy::header::{Header, Kind, MAGIC};
use crate::numbers::{Numbers, Real};
use crate::sheet::Sheet;
use crate::write::Outgoing;
use crate::{ReadOptions, check_memory, read_error, room_for};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use std::io::{Read, Write};
use std::path::Path;

/// The bytes read at a time, and the values that one task converts; a multiple of every size of number.
const BLOCK: usize = 1 << 22;
const TASK: usize = 1 << 15;

/// Reads the array in a file of `length` bytes, of which `held` are in memory already; `names` name the columns, since the
/// format does not.
pub(crate) fn read(
    path: &Path,
    file: &mut dyn Read,
    (length, held): (u64, u64),
    names: Option<Vec<String>>,
    options: &ReadOptions,
    want: Want,
) -> Result<Sheet> {
    let (values, cols) = matrix(path, file, (length, held), options, want)?;
    Sheet::of_matrix(path, names.map_or(Columns::counted(cols), Columns::named), values, options, want)
}

/// The numbers of an array, row by row, and how many columns there are.
pub(crate) fn matrix(
    path: &Path,
    file: &mut dyn Read,
    (length, held): (u64, u64),
    options: &ReadOptions,
    want: Want,
) -> Result<(Numbers, usize)> {
    let header = Header::read(path, file)?;
    let count = header.checked_count(path, length)?;
    // To transpose or to drop columns, the numbers are in memory twice.
    let picked =
        want == Want::Kept || options.label.is_some() || !options.ignore.is_empty() || !options.keep.is_empty();
    let copies = 1 + u64::from(header.fortran || picked);
    let single = is_single((header.kind, header.size));
    let size = if single { size_of::<f32>() } else { size_of::<f64>() } as u64;
    check_memory(path, held + copies * size * count as u64 + 2 * header.cols as u64, options.memory)?;
    let values = match single {
        true => Numbers::Single(values_of(path, file, &header, count)?),
        false => Numbers::Double(values_of(path, file, &header, count)?),
    };
    Ok((values, header.cols))
}

/// Whether single precision holds every number of this kind and `size` bytes.
pub(crate) fn is_single((kind, size): (Kind, usize)) -> bool {
    matches!((kind, size), (Kind::Bool, _) | (Kind::Int | Kind::Uint, 1 | 2) | (Kind::Float, 2 | 4))
}

/// The numbers of an array, row by row.
fn values_of<T: Real>(path: &Path, file: &mut dyn Read, header: &Header, count: usize) -> Result<Vec<T>> {
    let mut values = room_for(path, count)?;
    values.resize(count, T::default());
    let mut block = vec![0; BLOCK.min(count * header.size)];
    for part in values.chunks_mut(BLOCK / header.size) {
        let bytes = &mut block[..part.len() * header.size];
        file.read_exact(bytes).map_err(|error| read_error(path, error))?;
        parallel::each_of(part.chunks_mut(TASK).zip(bytes.chunks(TASK * header.size)), |_, (values, bytes)| {
            convert((header.kind, header.size), header.big_endian, bytes, values);
        });
    }
    if header.fortran { transposed(path, &values, header.rows, header.cols) } else { Ok(values) }
}

/// Converts the numbers in `bytes`, of this kind and `size` bytes each.
pub(crate) fn convert<T: Real>((kind, size): (Kind, usize), big_endian: bool, bytes: &[u8], values: &mut [T]) {
    macro_rules! numbers {
        ($($kind:pat, $size:literal => $from:expr;)*) => {
            match (kind, size) {
                $(($kind, $size) => {
                    let (numbers, _) = bytes.as_chunks::<$size>();
                    for (value, number) in values.iter_mut().zip(numbers) {
                        let mut number = *number;
                        if big_endian {
                            number.reverse();
                        }
                        *value = T::of($from(number));
                    }
                })*
                (kind, size) => debug_assert!(false, "{kind:?} of {size} bytes is not read"),
            }
        };
    }
    numbers! {
        Kind::Bool, 1 => |b: [u8; 1]| f64::from(b[0] != 0);
        Kind::Int, 1 => |b| f64::from(i8::from_le_bytes(b));
        Kind::Int, 2 => |b| f64::from(i16::from_le_bytes(b));
        Kind::Int, 4 => |b| f64::from(i32::from_le_bytes(b));
        Kind::Int, 8 => |b| i64::from_le_bytes(b) as f64;
        Kind::Uint, 1 => |b: [u8; 1]| f64::from(b[0]);
        Kind::Uint, 2 => |b| f64::from(u16::from_le_bytes(b));
        Kind::Uint, 4 => |b| f64::from(u32::from_le_bytes(b));
        Kind::Uint, 8 => |b| u64::from_le_bytes(b) as f64;
        Kind::Float, 2 => |b| half(u16::from_le_bytes(b));
        Kind::Float, 4 => |b| f64::from(f32::from_le_bytes(b));
        Kind::Float, 8 => f64::from_le_bytes;
    }
}

/// The value of a half-precision number: 1 bit of sign, 5 of exponent, 10 of fraction (IEEE 754 binary16).
pub(crate) fn half(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    let size = match (bits >> 10) & 0x1f {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + fraction) * 2f64.powi(i32::from(exponent) - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The row-major values of a matrix whose columns lie together.
fn transposed<T: Real>(path: &Path, values: &[T], rows: usize, cols: usize) -> Result<Vec<T>> {
    let mut turned = room_for(path, values.len())?;
    turned.resize(values.len(), T::default());
    if cols > 0 {
        parallel::chunks_mut(&mut turned, cols, |i, row| {
            for (c, value) in row.iter_mut().enumerate() {
                *value = values[c * rows + i];
            }
        });
    }
    Ok(turned)
}

/// Writes the columns as float64, row after row, NPY version 1.0, NaN where there is none; the format does not hold their names.
pub(crate) fn write(out: &mut dyn Write, outgoing: &Outgoing) -> std::io::Result<()> {
    write_header(out, outgoing.rows, outgoing.columns.len())?;
    write_rows(out, outgoing)
}

/// Writes the header of an array of float64. It has the same length for any number of rows that a file can have.
pub(crate) fn write_header(out: &mut dyn Write, rows: usize, cols: usize) -> std::io::Result<()> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    // The numbers begin at a multiple of 64 bytes, and the header ends with a line end.
    let length = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    header.push_str(&" ".repeat(length - 1 - header.len()));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(length as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}

/// Writes the numbers alone.
pub(crate) fn write_rows(out: &mut dyn Write, outgoing: &Outgoing) -> std::io::Result<()> {
    let mut block = Vec::new();
    for i in 0..outgoing.rows {
        block.extend(outgoing.columns.iter().flat_map(|(_, column)| column.number(i).to_le_bytes()));
        if block.len() >= BLOCK || i + 1 == outgoing.rows {
            out.write_all(&block)?;
            block.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_ieee() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 2f64.powi(-24)), (0x3555, 0.333251953125)]
        {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }

    #[test]
    fn columns_that_lie_together_are_turned() {
        let turned = transposed(Path::new("a.npy"), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, 2).unwrap();
        assert_eq!(turned, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}

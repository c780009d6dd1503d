//! The values of one column of one batch, as numbers or texts.

use super::message::Result;
use crate::columns::vectors::Block;
use crate::decimal;
use crate::npy;
use crate::npy::header::Kind as Number;
use crate::numbers::Places;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayAccessor, OffsetSizeTrait};
use arrow_schema::DataType;
use eigenfold_linalg::error::{self, Error};
use std::ops::Range;

/// The values of a column; nulls are NaN, or empty.
pub(super) enum Cells {
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

/// The format of the numbers of a column, and how many bytes each takes; nothing if it does not hold numbers.
pub(super) fn number(kind: &DataType) -> Option<(Number, usize)> {
    Some(match kind {
        DataType::Int8 => (Number::Int, 1),
        DataType::Int16 => (Number::Int, 2),
        DataType::Int32 => (Number::Int, 4),
        DataType::Int64 => (Number::Int, 8),
        DataType::UInt8 => (Number::Uint, 1),
        DataType::UInt16 => (Number::Uint, 2),
        DataType::UInt32 => (Number::Uint, 4),
        DataType::UInt64 => (Number::Uint, 8),
        DataType::Float16 => (Number::Float, 2),
        DataType::Float32 => (Number::Float, 4),
        DataType::Float64 => (Number::Float, 8),
        _ => return None,
    })
}

/// The format of the numbers in the vectors of a column, if it holds vectors of numbers.
pub(super) fn vector(kind: &DataType) -> Option<(Number, usize)> {
    match kind {
        DataType::List(entry) | DataType::LargeList(entry) | DataType::FixedSizeList(entry, 1..) => {
            number(entry.data_type())
        }
        _ => None,
    }
}

/// Whether single precision holds every number of a column, or of its vectors.
pub(super) fn is_single(kind: &DataType) -> bool {
    *kind == DataType::Boolean || number(kind).or_else(|| vector(kind)).is_some_and(npy::is_single)
}

/// The cells of a column, of which the texts may take `limit` bytes. If `exact`, integers that a float may round become texts.
pub(super) fn cells(array: &dyn Array, exact: bool, limit: u64) -> Result<Cells> {
    Ok(match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            Cells::Numbers((0..values.len()).map(|i| present(array, i, || f64::from(values.value(i)))).collect())
        }
        DataType::Int64 if exact => {
            let values = array.as_primitive::<Int64Type>();
            Cells::Texts((0..values.len()).map(|i| text(array, i, || values.value(i).to_string())).collect())
        }
        DataType::Decimal128(_, scale) => {
            let (values, scale) = (array.as_primitive::<Decimal128Type>(), i32::from(*scale));
            let rows = 0..values.len();
            match exact {
                true => Cells::Texts(rows.map(|i| text(array, i, || decimal::text(values.value(i), scale))).collect()),
                false => Cells::Numbers(
                    rows.map(|i| present(array, i, || decimal::number(values.value(i), scale))).collect(),
                ),
            }
        }
        DataType::Utf8 => texts(array.as_string::<i32>(), limit)?,
        DataType::LargeUtf8 => texts(array.as_string::<i64>(), limit)?,
        DataType::Utf8View => texts(array.as_string_view(), limit)?,
        DataType::Dictionary(..) => entries(array, exact, limit)?,
        kind => {
            let number = number(kind).ok_or("a column is of a kind that is not read")?;
            let mut values = vec![0.0; array.len()];
            fill(array, number, 0, Places::Double(&mut values));
            if array.null_count() > 0 {
                values
                    .iter_mut()
                    .enumerate()
                    .filter(|(i, _)| array.is_null(*i))
                    .for_each(|(_, value)| *value = f64::NAN);
            }
            Cells::Numbers(values)
        }
    })
}

fn present(array: &dyn Array, i: usize, value: impl Fn() -> f64) -> f64 {
    if array.is_null(i) { f64::NAN } else { value() }
}

fn text(array: &dyn Array, i: usize, value: impl Fn() -> String) -> String {
    if array.is_null(i) { String::new() } else { value() }
}

/// The texts of a column without the spaces around them; many views may show the same long text.
fn texts<'a>(array: impl ArrayAccessor<Item = &'a str>, limit: u64) -> Result<Cells> {
    let (mut found, mut held) = (Vec::new(), 0);
    for i in 0..array.len() {
        let text = if array.is_null(i) { "" } else { array.value(i).trim() };
        held += text.len() as u64;
        if held > limit {
            return Err(NO_ROOM.into());
        }
        found.push(text.to_string());
    }
    Ok(Cells::Texts(found))
}

/// The reason that more texts than the memory allows are refused.
pub(super) const NO_ROOM: &str = "its texts take more than the memory limit";

/// The cells of a column whose values are in a dictionary.
fn entries(array: &dyn Array, exact: bool, limit: u64) -> Result<Cells> {
    let dictionary = array.as_any_dictionary();
    let values = cells(dictionary.values().as_ref(), exact, limit)?;
    // The crate counts nothing if there are no values; then all rows are null.
    let keys = if dictionary.values().is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
    let keys = keys.iter().enumerate().map(|(i, &key)| (!array.is_null(i)).then_some(key));
    Ok(match &values {
        Cells::Numbers(values) => {
            Cells::Numbers(keys.map(|key| key.and_then(|key| values.get(key)).copied().unwrap_or(f64::NAN)).collect())
        }
        Cells::Texts(values) => {
            let texts = keys.map(|key| key.and_then(|key| values.get(key)).map_or("", String::as_str));
            // One long text may be that of many rows.
            if texts.clone().map(|text| text.len() as u64).sum::<u64>() > limit {
                return Err(NO_ROOM.into());
            }
            Cells::Texts(texts.map(String::from).collect())
        }
    })
}

/// Converts the numbers of a column from `start` on; null entries get any value.
fn fill(array: &dyn Array, number: (Number, usize), start: usize, places: Places<'_>) {
    let data = array.to_data();
    let start = (data.offset() + start) * number.1;
    let bytes = &data.buffers()[0][start..start + places.len() * number.1];
    places.convert(number, false, bytes);
}

/// Adds the vectors of a batch to those before them; `fail` makes an error of a reason.
pub(super) fn push_vectors(array: &dyn Array, block: &mut Block, fail: &dyn Fn(String) -> Error) -> error::Result<()> {
    match array.data_type() {
        DataType::List(_) => lists(array, array.as_list::<i32>().values().as_ref(), offsets::<i32>(array), block, fail),
        DataType::LargeList(_) => {
            lists(array, array.as_list::<i64>().values().as_ref(), offsets::<i64>(array), block, fail)
        }
        _ => {
            let list = array.as_fixed_size_list();
            let width = list.value_length() as usize;
            lists(array, list.values().as_ref(), |i| i * width..(i + 1) * width, block, fail)
        }
    }
}

/// Where the entries of a row lie among those of all rows.
fn offsets<T: OffsetSizeTrait>(array: &dyn Array) -> impl Fn(usize) -> Range<usize> {
    let offsets = array.as_list::<T>().value_offsets();
    move |i| offsets[i].as_usize()..offsets[i + 1].as_usize()
}

fn lists(
    array: &dyn Array,
    entries: &dyn Array,
    at: impl Fn(usize) -> Range<usize>,
    block: &mut Block,
    fail: &dyn Fn(String) -> Error,
) -> error::Result<()> {
    let rows = array.len();
    let number = vector(array.data_type()).ok_or_else(|| fail("a column changes its type".into()))?;
    if rows > 0 && array.null_count() == 0 && entries.null_count() == 0 {
        // Almost always: nothing is missing, and all are of one length.
        let first = at(0);
        if (0..rows).all(|i| at(i).len() == first.len()) {
            fill(entries, number, first.start, block.push(rows, first.len())?);
            return Ok(());
        }
    }
    for i in 0..rows {
        if array.is_null(i) {
            block.push_null()?;
            continue;
        }
        let range = at(i);
        fill(entries, number, range.start, block.push(1, range.len())?);
        block.mark_missing(|at| entries.is_null(range.start + at), range.len());
    }
    Ok(())
}

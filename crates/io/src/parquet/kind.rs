//! The meaning of the values of a Parquet column: numbers, decimals or text.

use crate::columns::{Columns, Role};
use crate::parquet::list::entries;
use crate::{decimal, format_error, npy};
use ::parquet::basic::{ConvertedType as Meaning, LogicalType, Type as Physical};
use ::parquet::schema::types::ColumnDescriptor;
use eigenfold_linalg::error::Result;
use std::path::Path;

/// The meaning of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    Number,
    /// An integer whose largest bit is not a sign.
    Unsigned,
    /// Two bytes of a number of half precision.
    Half,
    /// An integer to be divided by this power of ten.
    Decimal(i32),
    /// The same where it goes with the points: as text, since a float would round it.
    DecimalText(i32),
    /// A long integer that goes with the points: as text, since a float would round it.
    Id,
    Text,
}

impl What {
    pub(crate) fn is_text(self) -> bool {
        matches!(self, What::Text | What::Id | What::DecimalText(_))
    }

    /// The number of an integer of four bytes.
    pub(crate) fn short(self, value: i32) -> f64 {
        match self {
            What::Unsigned => f64::from(value as u32),
            _ => self.long(i64::from(value)),
        }
    }

    /// The number of an integer of eight bytes.
    pub(crate) fn long(self, value: i64) -> f64 {
        match self {
            What::Unsigned => value as u64 as f64,
            What::Decimal(scale) => decimal::number(i128::from(value), scale),
            _ => value as f64,
        }
    }

    /// The digits of an integer.
    pub(crate) fn text(self, value: i64) -> String {
        match self {
            What::DecimalText(scale) => decimal::text(i128::from(value), scale),
            _ => value.to_string(),
        }
    }

    /// The number in some bytes; NaN if it is longer than numbers are.
    pub(crate) fn of_bytes(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (What::Half, &[low, high]) => npy::half(u16::from_le_bytes([low, high])),
            (What::Decimal(scale), bytes) => {
                decimal::from_bytes(bytes).map_or(f64::NAN, |whole| decimal::number(whole, scale))
            }
            _ => f64::NAN,
        }
    }

    /// The digits of the decimal in some bytes.
    pub(crate) fn text_of_bytes(self, bytes: &[u8]) -> String {
        let What::DecimalText(scale) = self else { return String::new() };
        decimal::from_bytes(bytes).map_or(String::new(), |whole| decimal::text(whole, scale))
    }
}

/// The meaning of a column, or the error that it cannot be read.
pub(crate) fn check_type(
    path: &Path,
    columns: &Columns,
    c: usize,
    column: &ColumnDescriptor,
    role: Role,
) -> Result<What> {
    let (title, flag) = (columns.title(c), columns.flag(c));
    let refuse =
        |what: &str| Err(format_error(path, format!("{title} {what}"), format!("use `ignore` {flag}")).at_column(c));
    if columns.is_vector(c) && role == Role::Data {
        return entries(column).map_or_else(|| refuse("holds lists, not vectors of numbers"), Ok);
    }
    if column.max_rep_level() > 0 {
        return match (role, column.max_rep_level()) {
            (Role::Carried, _) => {
                Err(format_error(path, format!("{title} holds lists, not one value a row"), "name another column")
                    .at_column(c))
            }
            (_, 1) if is_text(column) => refuse("holds lists of texts, not vectors of numbers"),
            (_, 1) => refuse("holds lists, not vectors of numbers"),
            _ => refuse("holds lists of lists, not vectors of numbers"),
        };
    }
    if role == Role::Data && columns.title(c).contains("__index_level_") {
        return refuse("is a row index that pandas wrote");
    }
    if is_date(column) {
        let way_out = format!("use `ignore` {flag}, or write numbers, such as days since the first of them");
        return Err(
            format_error(path, format!("{title} holds dates or times, which are not numbers"), way_out).at_column(c)
        );
    }
    let carried = role == Role::Carried;
    match (column.physical_type(), column.converted_type()) {
        (_, Meaning::DECIMAL) if carried => Ok(What::DecimalText(column.type_scale())),
        (_, Meaning::DECIMAL) => Ok(What::Decimal(column.type_scale())),
        (_, Meaning::UINT_8 | Meaning::UINT_16 | Meaning::UINT_32 | Meaning::UINT_64) => Ok(What::Unsigned),
        (Physical::FIXED_LEN_BYTE_ARRAY, _) if is_half(column) => Ok(What::Half),
        (Physical::BYTE_ARRAY, _) if carried => Ok(What::Text),
        (Physical::INT64, _) if carried => Ok(What::Id),
        (Physical::BYTE_ARRAY, _) => Err(format_error(
            path,
            format!("{title} holds text"),
            format!("use `label` {flag}, `one-hot` {flag} or `ignore` {flag}"),
        )
        .at_column(c)),
        (Physical::FIXED_LEN_BYTE_ARRAY, _) => refuse("holds bytes, not numbers"),
        _ => Ok(What::Number),
    }
}

/// Whether the values are numbers of half precision.
pub(crate) fn is_half(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Float16)) && column.type_length() == 2
}

/// Whether single precision holds every value.
pub(crate) fn is_single(column: &ColumnDescriptor) -> bool {
    let short = [Meaning::INT_8, Meaning::INT_16, Meaning::UINT_8, Meaning::UINT_16];
    match column.physical_type() {
        Physical::BOOLEAN | Physical::FLOAT => true,
        Physical::INT32 => short.contains(&column.converted_type()),
        _ => is_half(column),
    }
}

fn is_text(column: &ColumnDescriptor) -> bool {
    column.physical_type() == Physical::BYTE_ARRAY && column.converted_type() != Meaning::DECIMAL
}

/// Whether the values are dates or times.
pub(crate) fn is_date(column: &ColumnDescriptor) -> bool {
    let times = [Meaning::DATE, Meaning::TIME_MILLIS, Meaning::TIME_MICROS, Meaning::TIMESTAMP_MILLIS];
    column.physical_type() == Physical::INT96
        || times.contains(&column.converted_type())
        || column.converted_type() == Meaning::TIMESTAMP_MICROS
        || matches!(
            column.logical_type_ref(),
            Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_))
        )
}

//! The types of a method's fields, and how the parameter table reads and sets them.

use super::{Named, Value};
use eigenfold_linalg::error::{Error, Result};

/// A type that a method's field may have.
pub trait FieldValue: Sized {
    /// The value as the table represents it.
    fn value(&self) -> Value;

    /// The value that the table parsed.
    ///
    /// # Errors
    ///
    /// If the text of a [`Kind::Text`](super::Kind::Text) does not have the expected form.
    fn from_value(value: Value) -> Result<Self>;
}

/// The error of a table whose kind differs from that of the field.
fn other_kind<T>() -> Result<T> {
    Err(Error::parameter("parameter", "this parameter has values of another kind", "give none"))
}

/// Implements [`FieldValue`] for a plain type.
macro_rules! field_value {
    ($type:ty, $variant:ident) => {
        impl FieldValue for $type {
            fn value(&self) -> Value {
                Value::$variant(*self)
            }

            fn from_value(value: Value) -> Result<$type> {
                if let Value::$variant(value) = value { Ok(value) } else { other_kind() }
            }
        }
    };
}

field_value!(f64, Number);
field_value!(usize, Count);
field_value!(bool, Switch);

impl FieldValue for u32 {
    fn value(&self) -> Value {
        Value::Count(*self as usize)
    }

    fn from_value(value: Value) -> Result<u32> {
        usize::from_value(value).and_then(|count| count.try_into().or_else(|_| other_kind()))
    }
}

impl<T: FieldValue> FieldValue for Option<T> {
    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Auto, T::value)
    }

    fn from_value(value: Value) -> Result<Option<T>> {
        if value == Value::Auto { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

/// An enum whose values have names, which the macro `choices` implements.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value.
    const ALL: &'static [Self];
    /// The name of each.
    const NAMES: &'static [Named];

    /// The name.
    fn word(self) -> &'static str {
        let at = Self::ALL.iter().position(|value| *value == self);
        at.map_or("", |at| Self::NAMES[at].name)
    }
}

impl<T: Choice> FieldValue for T {
    fn value(&self) -> Value {
        Value::Choice(self.word())
    }

    fn from_value(value: Value) -> Result<T> {
        let at = Self::NAMES.iter().position(|named| value == Value::Choice(named.name));
        at.map_or_else(other_kind, |at| Ok(Self::ALL[at]))
    }
}

/// Names the values of an enum: `Value: "name" or "alias", "what it means";`.
macro_rules! choices {
    ($type:ident { $($value:ident: $name:literal $(or $alias:literal)*, $help:literal;)* }) => {
        impl $crate::parameter::Choice for $type {
            const ALL: &'static [$type] = &[$($type::$value),*];
            const NAMES: &'static [$crate::parameter::Named] =
                &[$($crate::parameter::Named { name: $name, aliases: &[$($alias),*], help: $help }),*];
        }
    };
}
pub(crate) use choices;

/// How a field of the method is read and set, by its name; for use in its table.
macro_rules! field {
    ($name:ident) => {
        $crate::parameter::Access {
            get: |method: &Self| Some($crate::parameter::FieldValue::value(&method.$name)),
            set: |method: &mut Self, value| {
                method.$name = $crate::parameter::FieldValue::from_value(value)?;
                Ok(())
            },
        }
    };
}
pub(crate) use field;

//! The numbers of points, row after row: in double precision, or in single precision if they came so.
//!
//! Every number of single precision is one of double precision, so that results do not depend on which of the two is kept.
//! Work over many rows widens one row at a time ([`Points::read`](crate::points::Points::read)); other work asks for all
//! rows, which are widened together when they are first needed.

use serde::{Deserialize, Serialize, Serializer};
use std::sync::{Arc, OnceLock};

/// The numbers of points; a clone shares them.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Stored")]
pub(crate) enum Values {
    /// In double precision.
    Double(Arc<Vec<f64>>),
    /// In single precision.
    Single(Arc<Single>),
}

/// Numbers in single precision.
#[derive(Debug)]
pub(crate) struct Single {
    numbers: Vec<f32>,
    wide: OnceLock<Vec<f64>>,
}

/// As a file has them.
#[derive(Deserialize)]
enum Stored {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

impl From<Stored> for Values {
    fn from(stored: Stored) -> Values {
        match stored {
            Stored::Double(numbers) => numbers.into(),
            Stored::Single(numbers) => numbers.into(),
        }
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Values::Double(numbers) => serializer.serialize_newtype_variant("Stored", 0, "Double", &**numbers),
            Values::Single(single) => serializer.serialize_newtype_variant("Stored", 1, "Single", &single.numbers),
        }
    }
}

impl From<Vec<f64>> for Values {
    fn from(numbers: Vec<f64>) -> Values {
        Values::Double(Arc::new(numbers))
    }
}

impl From<Vec<f32>> for Values {
    fn from(numbers: Vec<f32>) -> Values {
        Values::Single(Arc::new(Single { numbers, wide: OnceLock::new() }))
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::Double(a), Values::Double(b)) => a == b,
            (Values::Single(a), Values::Single(b)) => a.numbers == b.numbers,
            (Values::Double(wide), Values::Single(single)) | (Values::Single(single), Values::Double(wide)) => {
                wide.iter().copied().eq(single.numbers.iter().map(|&x| f64::from(x)))
            }
        }
    }
}

impl Values {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Values::Double(numbers) => numbers.len(),
            Values::Single(single) => single.numbers.len(),
        }
    }

    /// The number at a position.
    pub(crate) fn at(&self, at: usize) -> f64 {
        match self {
            Values::Double(numbers) => numbers[at],
            Values::Single(single) => f64::from(single.numbers[at]),
        }
    }

    /// The first position whose number satisfies a condition.
    pub(crate) fn position(&self, is: impl Fn(f64) -> bool) -> Option<usize> {
        match self {
            Values::Double(numbers) => numbers.iter().position(|&x| is(x)),
            Values::Single(single) => single.numbers.iter().position(|&x| is(x.into())),
        }
    }

    /// All numbers in double precision.
    #[inline]
    pub(crate) fn wide(&self) -> &[f64] {
        match self {
            Values::Double(numbers) => numbers,
            Values::Single(single) => single.wide.get_or_init(|| single.numbers.iter().map(|&x| x.into()).collect()),
        }
    }

    /// The numbers in single precision, if that is how they are kept.
    #[inline]
    pub(crate) fn single(&self) -> Option<&[f32]> {
        match self {
            Values::Double(_) => None,
            Values::Single(single) => Some(&single.numbers),
        }
    }

    /// Whether numbers in single precision have been widened together.
    pub(crate) fn is_widened(&self) -> bool {
        matches!(self, Values::Single(single) if single.wide.get().is_some())
    }

    /// All numbers in double precision, without a copy unless they are shared.
    pub(crate) fn into_wide(self) -> Vec<f64> {
        match self {
            Values::Double(numbers) => Arc::unwrap_or_clone(numbers),
            Values::Single(_) => self.to_wide(),
        }
    }

    /// A copy of all numbers in double precision.
    pub(crate) fn to_wide(&self) -> Vec<f64> {
        match self {
            Values::Double(numbers) => numbers.to_vec(),
            Values::Single(single) => single.numbers.iter().map(|&x| x.into()).collect(),
        }
    }
}

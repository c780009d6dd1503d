//! The unit of length that the work is done in.
//!
//! Squares, fourth powers and quotients of numbers leave the range of floating point long before the numbers do. So data
//! whose largest number is far from one are multiplied by a power of two at the door, which makes it one to two and changes
//! no digit, and what comes out is multiplied back: an answer in length^k by the k-th power of the same factor. Then the map
//! of 2^p X is the map of X, times 2^p where it has lengths, byte for byte.
//!
//! Which power of the length an answer has is said by the method ([`Lengths`](crate::field::Lengths)), and that of a
//! parameter by its table (docs/decisions/0066-one-unit-at-the-door.md).

use crate::error::{Error, Result};
use crate::linalg::power::largest_exponent;
use crate::points::Points;
use serde::{Deserialize, Serialize};

/// Numbers between 2^−40 and 2^40 are ordinary: they stay as they are, and so do the digits of messages about them.
const ORDINARY: i32 = 40;

/// The powers of two by which the data and the map differ from what the stages see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// The data are 2^data times those that the stages see.
    pub(crate) data: i32,
    /// The map is 2^map times theirs.
    pub(crate) map: i32,
}

impl Unit {
    /// The power of two of the unit of such numbers: zero if they are ordinary.
    pub(crate) fn power_of(values: &[f64]) -> i32 {
        let power = largest_exponent(values);
        if power.abs() <= ORDINARY { 0 } else { power }
    }

    /// Whether the stages see the data as they are.
    pub(crate) fn is_one(self) -> bool {
        self == Unit::default()
    }

    /// A map or deviations on it, from the unit of the stages to that of the user.
    pub(crate) fn map_out(self, points: &Points) -> Result<Points> {
        out("the map", points, self.map)
    }

    /// Data or deviations of them, from the unit of the stages to that of the user.
    pub(crate) fn data_out(self, points: &Points) -> Result<Points> {
        out("the data rows", points, self.data)
    }
}

fn out(what: &str, points: &Points, power: i32) -> Result<Points> {
    let scaled = points.times_two_to(power);
    match scaled.values().iter().find(|x| !x.is_finite()) {
        None => Ok(scaled),
        Some(_) => {
            Err(Error::Numerical(format!("{what} would leave the range of numbers; divide the data by a constant")))
        }
    }
}

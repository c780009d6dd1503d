//! The unit of length that the work is done in.
//!
//! Squares, fourth powers and quotients of numbers leave the range of floating point long before the numbers do. So data
//! whose numbers are far from one are multiplied by a power of two at the door, which brings them near it and changes no
//! digit, and what comes out is multiplied back: an answer in length^k by the k-th power of the same factor. Then the map
//! of 2^p X is the map of X, times 2^p where it has lengths, byte for byte.
//!
//! Which power of the length an answer has is said by the method ([`Lengths`](crate::field::Lengths)), and that of a
//! parameter by its table (docs/decisions/0066-one-unit-at-the-door.md).

use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::power::exponent;
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
    /// The power of two of the unit of such rows of numbers: zero if they are ordinary. Where columns are of different
    /// sizes, it is in the middle between the largest and the smallest of them, so that the squares of both have room.
    pub(crate) fn power_of(values: &[f64], columns: usize) -> i32 {
        let mut largest = vec![0.0f64; columns];
        for row in values.chunks_exact(columns) {
            largest.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(x.abs()));
        }
        let powers = || largest.iter().filter(|&&most| most > 0.0).map(|&most| exponent(most));
        let (Some(low), Some(high)) = (powers().min(), powers().max()) else { return 0 };
        let power = (low + high).div_euclid(2);
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
            Err(Error::numerical(format!("{what} would leave the range of numbers"), "divide the data by a constant"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_lies_in_the_middle_of_the_columns() {
        let one = |values: &[f64], columns| Unit::power_of(values, columns);
        assert_eq!((one(&[1.0, -3.0, 0.1], 1), one(&[0.0; 4], 2), one(&[1e9, 1e-9], 1)), (0, 0, 0));
        assert_eq!(one(&[2f64.powi(300), 3.0], 1), 300);
        assert_eq!(one(&[2f64.powi(300), 2f64.powi(-100), 0.0, 0.0], 2), 100);
        assert_eq!(one(&[2f64.powi(301), 2f64.powi(-99), 0.0, 0.0], 2), 101);
    }
}

//! The numbers of a table, row after row: in single precision, if every one of them came with as few digits.

use crate::ReadOptions;
use crate::columns::Gone;
use crate::npy;
use crate::npy::header::Kind;
use crate::room_for;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use std::path::Path;

/// The numbers that one task converts.
const TASK: usize = 1 << 15;

/// A number of a precision, from one that it holds.
pub(crate) trait Real: Copy + Default + Send + Sync + Into<f64> {
    fn of(number: f64) -> Self;

    fn double(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(number: f64) -> f64 {
        number
    }
}

impl Real for f32 {
    #[inline(always)]
    fn of(number: f64) -> f32 {
        number as f32
    }
}

/// Numbers of one precision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Numbers {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

/// Numbers to be replaced.
pub(crate) enum Places<'a> {
    Double(&'a mut [f64]),
    Single(&'a mut [f32]),
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers::Double(Vec::new())
    }
}

/// Does the same with numbers of either precision.
macro_rules! either {
    ($numbers:expr, $values:ident => $work:expr) => {
        match $numbers {
            Numbers::Double($values) => $work,
            Numbers::Single($values) => $work,
        }
    };
}

/// The same, and the result has the precision of the numbers.
macro_rules! as_they_are {
    ($numbers:expr, $values:ident => $work:expr) => {
        match $numbers {
            Numbers::Double($values) => Numbers::Double($work),
            Numbers::Single($values) => Numbers::Single($work),
        }
    };
}

impl Numbers {
    /// None, of this precision.
    pub(crate) fn empty(single: bool) -> Numbers {
        if single { Numbers::Single(Vec::new()) } else { Numbers::default() }
    }

    /// None, with room for `count` in single or double precision.
    pub(crate) fn with_room(path: &Path, count: usize, single: bool) -> Result<Numbers> {
        Ok(if single { Numbers::Single(room_for(path, count)?) } else { Numbers::Double(room_for(path, count)?) })
    }

    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Numbers::Single(_))
    }

    pub(crate) fn len(&self) -> usize {
        either!(self, values => values.len())
    }

    /// The bytes that they take.
    pub(crate) fn bytes(&self) -> u64 {
        either!(self, values => size_of_val(values.as_slice()) as u64)
    }

    pub(crate) fn at(&self, at: usize) -> f64 {
        either!(self, values => values[at].double())
    }

    /// The first position whose number satisfies a condition.
    pub(crate) fn position(&self, is: impl Fn(f64) -> bool) -> Option<usize> {
        either!(self, values => values.iter().position(|&value| is(value.double())))
    }

    /// How many are missing in rows of `width` numbers.
    pub(crate) fn gone(&self, width: usize) -> Gone {
        either!(self, values => Gone::of(values, width))
    }

    /// Appends numbers of this precision.
    pub(crate) fn extend(&mut self, numbers: impl Iterator<Item = f64>) {
        match self {
            Numbers::Double(values) => values.extend(numbers),
            Numbers::Single(values) => values.extend(numbers.map(f32::of)),
        }
    }

    /// Changes how many there are.
    pub(crate) fn resize(&mut self, count: usize, number: f64) {
        either!(self, values => values.resize(count, Real::of(number)));
    }

    /// Replaces one number.
    pub(crate) fn set(&mut self, at: usize, number: f64) {
        either!(self, values => values[at] = Real::of(number));
    }

    /// Those from a position on.
    pub(crate) fn places(&mut self, start: usize) -> Places<'_> {
        match self {
            Numbers::Double(values) => Places::Double(&mut values[start..]),
            Numbers::Single(values) => Places::Single(&mut values[start..]),
        }
    }

    /// Replaces numbers that are marks by NaN.
    pub(crate) fn unmark(&mut self, options: &ReadOptions) {
        either!(self, values => options.unmark(values));
    }

    /// The given columns of rows of `width` numbers.
    pub(crate) fn picked(&self, width: usize, columns: &[usize]) -> Numbers {
        as_they_are!(self, values => {
            values.chunks_exact(width).flat_map(|row| columns.iter().map(|&c| row[c])).collect()
        })
    }

    /// All in double precision.
    pub(crate) fn into_double(self) -> Vec<f64> {
        match self {
            Numbers::Double(values) => values,
            Numbers::Single(values) => values.into_iter().map(f64::from).collect(),
        }
    }

    /// The rows of columns of `rows` numbers each: in single precision if all columns are; a single one is taken as it is.
    pub(crate) fn interleaved(path: &Path, mut columns: Vec<Numbers>, rows: usize) -> Result<Numbers> {
        if columns.len() == 1 {
            return Ok(columns.remove(0));
        }
        let single = columns.iter().all(Numbers::is_single);
        let mut numbers = Numbers::with_room(path, rows * columns.len(), single)?;
        numbers.extend((0..rows).flat_map(|i| columns.iter().map(move |column| column.at(i))));
        Ok(numbers)
    }

    /// These, and others after them; `None` if there is no room for them.
    pub(crate) fn followed_by(self, below: Numbers) -> Option<Numbers> {
        fn joined<T: Copy>(mut above: Vec<T>, below: &[T]) -> Option<Vec<T>> {
            above.try_reserve_exact(below.len()).ok()?;
            above.extend_from_slice(below);
            Some(above)
        }
        Some(match (self, below) {
            (Numbers::Single(above), Numbers::Single(below)) => Numbers::Single(joined(above, &below)?),
            (above, below) => Numbers::Double(joined(above.into_double(), &below.into_double())?),
        })
    }

    /// Points of these numbers; NaN is a missing cell.
    pub(crate) fn into_points(self, rows: usize, cols: usize) -> Result<Points> {
        match self {
            Numbers::Single(values) if values.iter().all(|x| !x.is_nan()) => Points::single(rows, cols, values),
            numbers => Points::with_missing(rows, cols, numbers.into_double()),
        }
    }
}

impl Places<'_> {
    /// Puts the numbers in `bytes` into them, of this kind and `size` bytes each.
    pub(crate) fn convert(self, (kind, size): (Kind, usize), big_endian: bool, bytes: &[u8]) {
        fn work<T: Real>(places: &mut [T], kind: (Kind, usize), big_endian: bool, bytes: &[u8]) {
            let tasks = places.chunks_mut(TASK).zip(bytes.chunks(TASK * kind.1));
            parallel::each_of(tasks, |_, (places, bytes)| npy::convert(kind, big_endian, bytes, places));
        }
        match self {
            Places::Double(places) => work(places, (kind, size), big_endian, bytes),
            Places::Single(places) => work(places, (kind, size), big_endian, bytes),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Places::Double(places) => places.len(),
            Places::Single(places) => places.len(),
        }
    }

    /// Puts numbers of this precision into them.
    #[cfg(feature = "parquet")]
    pub(crate) fn put(self, numbers: impl Iterator<Item = f64>) {
        match self {
            Places::Double(places) => places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number),
            Places::Single(places) => places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number as f32),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn columns_are_single_only_if_all_are() {
        let (short, long) = (Numbers::Single(vec![1.0, 3.0]), Numbers::Double(vec![2.0, 4.0]));
        let of = |columns: &[&Numbers]| {
            Numbers::interleaved(Path::new("t"), columns.iter().map(|&column| column.clone()).collect(), 2).unwrap()
        };
        assert_eq!(of(&[&short, &short]), Numbers::Single(vec![1.0, 1.0, 3.0, 3.0]));
        assert_eq!(of(&[&short, &long]), Numbers::Double(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(short.clone().followed_by(long).unwrap(), Numbers::Double(vec![1.0, 3.0, 2.0, 4.0]));
        assert_eq!(short.picked(2, &[1, 0]), Numbers::Single(vec![3.0, 1.0]));
    }

    #[test]
    fn points_with_missing_cells_are_double() {
        let whole = Numbers::Single(vec![1.0, 2.0]).into_points(2, 1).unwrap();
        assert_eq!(whole.singles(), Some([1.0, 2.0].as_slice()));
        let some = Numbers::Single(vec![1.0, f32::NAN, 2.0]).into_points(3, 1).unwrap();
        assert_eq!((some.singles(), some.values(), some.missing()), (None, [1.0, 1.5, 2.0].as_slice(), [1].as_slice()));
    }
}

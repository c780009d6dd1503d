//! Exact sums of many series of numbers, and their bytes.
//!
//! The bytes of a sum are the index of its first limb, the number of its limbs, and the limbs, lowest first and
//! little-endian. Zero limbs at the low end and limbs at the high end that only repeat the sign are left out, so that the
//! same values have the same bytes.

use super::dyadic::Dyadic;
use super::sum::{LIMBS, Sum, trimmed_above};
use crate::error::{Error, Result};
use crate::memory::{NEGLIGIBLE, available};
use std::ops::Range;

/// Sums of numbers of double precision, each exact for every order of the additions.
#[derive(Clone, Debug, Default)]
pub struct ExactSums {
    sums: Vec<Sum>,
}

impl ExactSums {
    /// `length` sums of nothing.
    ///
    /// # Errors
    ///
    /// If there is no memory for them.
    pub fn new(length: usize) -> Result<ExactSums> {
        enough_memory(length, SUM_BYTES, &format!("{length} exact sums"))?;
        Ok(ExactSums { sums: vec![Sum::default(); length] })
    }

    /// The number of sums.
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// Whether there are no sums.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Adds rows, one value for each sum in a row.
    ///
    /// # Errors
    ///
    /// If the values are not whole rows, or not all finite; then nothing is added.
    pub fn add(&mut self, values: &[f64]) -> Result<()> {
        whole_rows(values, self.len())?;
        if !self.is_empty() {
            for row in values.chunks_exact(self.len()) {
                row.iter().zip(&mut self.sums).for_each(|(&value, sum)| sum.add(value));
            }
        }
        Ok(())
    }

    /// Adds a value to one sum.
    ///
    /// # Errors
    ///
    /// If there is no such sum, or the value is not finite.
    pub fn add_at(&mut self, index: usize, value: f64) -> Result<()> {
        let length = self.len();
        if !value.is_finite() {
            return Err(not_finite(0, value));
        }
        self.sums.get_mut(index).ok_or_else(|| beyond(index + 1, length))?.add(value);
        Ok(())
    }

    /// The sum with this index, for what is exact by itself.
    #[inline]
    pub(super) fn at(&mut self, index: usize) -> &mut Sum {
        &mut self.sums[index]
    }

    /// The exact value of a sum.
    pub(super) fn value(&self, index: usize) -> Dyadic {
        self.sums[index].value()
    }

    /// Adds other sums, one to each.
    ///
    /// # Errors
    ///
    /// If their number differs.
    pub fn merge(&mut self, other: &ExactSums) -> Result<()> {
        if other.len() != self.len() {
            let fact = format!("{} sums cannot be added to {} sums", other.len(), self.len());
            return Err(Error::mismatch("sums", (other.len(), self.len()), fact, "merge sums of the same length"));
        }
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| sum.merge(other));
        Ok(())
    }

    /// The sums, each rounded to the nearest number of double precision.
    pub fn values(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum.value().to_f64()).collect()
    }

    /// The bytes of some of the sums; the same values have the same bytes.
    ///
    /// # Errors
    ///
    /// If the range is not one of these sums.
    pub fn to_bytes(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let sums = self.sums.get(range.clone()).ok_or_else(|| beyond(range.end.max(range.start), self.len()))?;
        let mut bytes = Vec::new();
        for (first, limbs) in sums.iter().map(Sum::canonical) {
            bytes.extend([first as u8, limbs.len() as u8]);
            limbs.iter().for_each(|limb| bytes.extend(limb.to_le_bytes()));
        }
        Ok(bytes)
    }

    /// Adds sums from their bytes, the first of them to the sum with the index `first`.
    ///
    /// # Errors
    ///
    /// If the bytes are not those of sums, or of more sums than there are from `first` on; then nothing is added.
    pub fn merge_bytes(&mut self, first: usize, bytes: &[u8]) -> Result<()> {
        let (mut rest, mut count, mut limbs) = (bytes, 0, Vec::new());
        while !rest.is_empty() {
            (_, rest) = next(rest, &mut limbs)?;
            count += 1;
        }
        let length = self.len();
        let end = first.saturating_add(count);
        let sums = self.sums.get_mut(first..end).ok_or_else(|| beyond(end, length))?;
        rest = bytes;
        for sum in sums {
            let at;
            (at, rest) = next(rest, &mut limbs)?;
            sum.add_limbs(at, &limbs);
        }
        Ok(())
    }
}

/// The index of the first limb of the first sum of these bytes, and the bytes after this sum; puts its limbs into `limbs`.
fn next<'a>(bytes: &'a [u8], limbs: &mut Vec<u64>) -> Result<(usize, &'a [u8])> {
    let broken = || Error::data("the bytes are not exact sums", "use the bytes that `to_bytes` returned, unchanged");
    let [first, count, rest @ ..] = bytes else { return Err(broken()) };
    let (first, count) = (usize::from(*first), usize::from(*count));
    let (own, rest) = rest.split_at_checked(8 * count).ok_or_else(broken)?;
    limbs.clear();
    limbs.extend(own.as_chunks().0.iter().map(|&limb| u64::from_le_bytes(limb)));
    let canonical = match trimmed_above(limbs) {
        Some(trimmed) => trimmed.len() == count && trimmed[0] != 0 && first + count <= LIMBS,
        None => first == 0,
    };
    if canonical { Ok((first, rest)) } else { Err(broken()) }
}

/// The bytes of a sum of ordinary numbers in memory.
pub(super) const SUM_BYTES: usize = 96;

/// Checks that there is memory for this many sums.
pub(super) fn enough_memory(length: usize, bytes: usize, what: &str) -> Result<()> {
    let needed = length.saturating_mul(bytes) as u64;
    if needed > NEGLIGIBLE {
        let limit = available();
        if needed > limit {
            let way_out = "use fewer columns, or a machine with more memory".into();
            return Err(Error::Memory { what: what.into(), needed, limit, way_out });
        }
    }
    Ok(())
}

/// Checks that values are rows of `length` finite numbers.
pub(super) fn whole_rows<T: Copy + Into<f64>>(values: &[T], length: usize) -> Result<()> {
    if length == 0 && !values.is_empty() || length > 0 && !values.len().is_multiple_of(length) {
        let fact = format!("{} values are not rows of {length} columns", values.len());
        return Err(Error::mismatch("values", (values.len(), length), fact, "give whole rows"));
    }
    let finite = crate::widest(|| values.iter().fold(true, |all, &value| all & value.into().is_finite()));
    match values.iter().position(|&value| !finite && !value.into().is_finite()) {
        Some(at) => Err(not_finite(at, values[at].into()).at_row(at / length).at_column(at % length)),
        None => Ok(()),
    }
}

fn not_finite(at: usize, value: f64) -> Error {
    Error::data(format!("value {} is not finite ({value})", at + 1), "remove or impute the value before it is added")
}

fn beyond(end: usize, length: usize) -> Error {
    let fact = format!("sum {end} was requested and there are {length}");
    Error::mismatch("sums", (end, length), fact, "use the length with which the sums were made")
}

//! The vectors of one column of one batch.
//!
//! A list has the offsets of its values among all values of the batch; a list of fixed size has none. What lies in the place of
//! a null means nothing.

use super::column::{Passed, is_there};
use super::flat;
use super::message::{Batch, Field, Kind};
use crate::npy;
use crate::vectors::Block;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use std::ops::Range;

/// The numbers that one task converts.
const TASK: usize = 1 << 15;

impl Passed {
    /// Adds the vectors of a batch to those before them; `limit` is how many bytes a chunk may take, and `fail` makes an error of
    /// what is wrong with the file.
    pub(super) fn read_vectors(
        &mut self,
        field: &Field,
        batch: &Batch,
        limit: u64,
        block: &mut Block,
        fail: &dyn Fn(String) -> Error,
    ) -> Result<()> {
        let Some(number) = field.vector() else { return Err(fail("a column changes its type".into())) };
        let (rows, valid) = self.node(batch, limit).map_err(fail)?;
        if rows != batch.rows {
            return Err(fail("a column has another number of rows than its batch".into()));
        }
        let offsets = match field.kind {
            Kind::List(_) => self.buffer(batch, limit).map_err(fail)?,
            _ => (&[][..]).into(),
        };
        let (count, full) = self.node(batch, limit).map_err(fail)?;
        let bytes = self.buffer(batch, limit).map_err(fail)?;
        let bytes = count.checked_mul(number.1).and_then(|length| bytes.get(..length));
        let bytes = bytes.ok_or_else(|| fail("a column has fewer values than it says".into()))?;
        let at = |i: usize| range(field.kind, &offsets, i, count).map_err(fail);
        if valid.is_empty() && full.is_empty() && rows > 0 {
            // Almost always: nothing is missing, and all are of one length.
            let first = at(0)?;
            let lengths = (0..rows).map(at).collect::<Result<Vec<Range<usize>>>>()?;
            if lengths.iter().all(|range| range.len() == first.len()) {
                let all = first.start * number.1..lengths[rows - 1].end * number.1;
                let values = block.push(rows, first.len())?;
                let tasks = values.chunks_mut(TASK).zip(bytes[all].chunks(TASK * number.1));
                parallel::each_of(tasks, |_, (values, bytes)| npy::convert(number, false, bytes, values));
                return Ok(());
            }
        }
        for i in 0..rows {
            if !is_there(&valid, i) {
                block.push_null()?;
                continue;
            }
            let range = at(i)?;
            let values = block.push(1, range.len())?;
            npy::convert(number, false, &bytes[range.start * number.1..range.end * number.1], values);
            let missing = values.iter_mut().zip(range).filter(|(_, at)| !is_there(&full, *at));
            if missing.map(|(value, _)| *value = f64::NAN).count() > 0 {
                block.mark_null();
            }
        }
        Ok(())
    }
}

/// Where the values of row `i` lie among `count`.
fn range(kind: Kind, offsets: &[u8], i: usize, count: usize) -> flat::Result<Range<usize>> {
    let offset = |i: usize, width: usize| {
        let mut eight = [0; 8];
        eight[..width].copy_from_slice(offsets.get(i.checked_mul(width)?..)?.get(..width)?);
        usize::try_from(u64::from_le_bytes(eight)).ok()
    };
    let range = match kind {
        Kind::List(width) => offset(i, width).zip(offset(i + 1, width)),
        Kind::FixedList(size) => i.checked_mul(size).zip((i + 1).checked_mul(size)),
        _ => None,
    };
    let inside = |&(start, end): &(usize, usize)| start <= end && end <= count;
    range.filter(inside).map(|(start, end)| start..end).ok_or_else(|| "a list does not lie within its values".into())
}

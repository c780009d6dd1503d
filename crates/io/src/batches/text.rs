//! Blocks of a text file: whole lines, cut where no quoted cell is open.

use super::Blocks;
use crate::columns::{Role, Want};
use crate::sheet::{Extent, Sheet};
use crate::source::Reader;
use crate::text::csv::{Counting, Plan, delimiter_of, lines_in, unclosed};
use crate::text::dialect::{self, CELLS, SAMPLE, SPACES};
use crate::text::quotes;
use crate::{ReadOptions, check_memory};
use eigenfold_linalg::error::Result;
use std::borrow::Cow;
use std::path::PathBuf;

/// The bytes that are read at a time.
const READ: usize = 1 << 20;

/// A text file.
pub(super) struct Text {
    path: PathBuf,
    reader: Reader,
    options: ReadOptions,
    plan: Plan,
    counting: Counting,
    /// What was read and not handed over, from `at` on.
    pending: Vec<u8>,
    at: usize,
    /// Whether all was read.
    ended: bool,
    /// The lines above what is pending.
    lines: usize,
    /// Where the rows begin in what is pending: after the header.
    first_row: usize,
    /// The usual bytes of a row.
    row_bytes: usize,
}

impl Text {
    /// Reads as much as decides about the columns.
    pub(super) fn open(
        path: PathBuf,
        mut reader: Reader,
        delimiter: Option<u8>,
        options: &ReadOptions,
        want: Want,
    ) -> Result<Text> {
        let (mut pending, mut wanted) = (Vec::new(), READ);
        loop {
            reader.take_up_to(wanted - pending.len(), &mut pending)?;
            let ended = pending.len() < wanted;
            dialect::check_text(&path, &pending)?;
            let start = dialect::start_of_table(&pending);
            let lines = lines_in(&pending[..start]);
            let head = &pending[start..];
            // What comes after the last line may go on.
            let whole =
                if ended { head.len() } else { head.iter().rposition(|&b| b == b'\n' || b == b'\r').unwrap_or(0) };
            let delimiter = delimiter_of(&path, &head[..whole], delimiter, options)?;
            let cut = match quotes::cut(head, delimiter, head.len()) {
                _ if ended => head.len(),
                Ok(cut) => cut.unwrap_or(0),
                Err(fault) => return Err(unclosed(&path, &fault, lines)),
            };
            let mut sample = Cow::Borrowed(&head[..cut]);
            if delimiter == SPACES {
                sample = Cow::Owned(dialect::squeeze(&sample));
            }
            if !ended && !is_enough(&sample, delimiter) {
                check_memory(&path, 2 * wanted as u64, options.memory)?;
                wanted *= 2;
                continue;
            }
            if let Some(fault) = quotes::fault(&sample, delimiter).filter(|_| ended) {
                return Err(unclosed(&path, &fault, lines));
            }
            let plan = Plan::of(&path, &sample, lines + 1, delimiter, options, want)?;
            let row_bytes = sample.len().div_ceil(lines_in(&sample).max(1)).max(1);
            let (counting, first_row) = (Counting::new(&plan), plan.first_row);
            drop(sample);
            let (options, at) = (options.clone(), start);
            return Ok(Text { path, reader, options, plan, counting, pending, at, ended, lines, first_row, row_bytes });
        }
    }

    /// The bytes of the next rows.
    fn block(&mut self, most: usize) -> Result<Option<Vec<u8>>> {
        let mut wanted = most.max(self.first_row + 1);
        loop {
            let left = self.pending.len() - self.at;
            // One byte more shows whether a carriage return ends a row.
            if !self.ended && left <= wanted {
                self.pending.drain(..self.at);
                self.at = 0;
                let more = (wanted + 1 - left).max(READ);
                self.ended = self.reader.take_up_to(more, &mut self.pending)? < more;
            }
            let text = &self.pending[self.at..];
            if text.is_empty() {
                return Ok(None);
            }
            let cut = quotes::cut(text, self.plan.delimiter, wanted);
            let cut = cut.map_err(|fault| unclosed(&self.path, &fault, self.lines))?;
            let end = match cut {
                Some(cut) => cut,
                None if self.ended => {
                    if let Some(fault) = quotes::fault(text, self.plan.delimiter) {
                        return Err(unclosed(&self.path, &fault, self.lines));
                    }
                    text.len()
                }
                None => {
                    wanted = 2 * text.len();
                    check_memory(&self.path, 2 * wanted as u64, self.options.memory)?;
                    continue;
                }
            };
            let block = text[..end].to_vec();
            self.at += end;
            return Ok(Some(block));
        }
    }
}

impl Blocks for Text {
    fn next(&mut self, most: usize, extent: Extent) -> Result<Option<Sheet>> {
        while let Some(block) = self.block(most.saturating_mul(self.row_bytes))? {
            let lines = lines_in(&block);
            let all = extent.above == 0 && self.ended && self.at == self.pending.len();
            let extent = Extent { partial: !all, ..extent };
            let block = if self.plan.delimiter == SPACES { dialect::squeeze(&block) } else { block };
            let from = self.first_row.min(block.len());
            let rows = self.plan.rows(&self.path, (&block, from), self.lines, &self.options, extent)?;
            self.lines += lines;
            self.first_row = 0;
            if rows.count > 0 {
                self.counting.pass(&rows);
                return Ok(Some(self.plan.sheet(&self.path, rows, &self.options, extent)));
            }
        }
        self.counting.refuse(&self.path).map(|()| None)
    }

    fn width(&self) -> usize {
        self.plan.roles.count(Role::Data)
    }

    fn fraction(&self) -> Option<f64> {
        self.reader.fraction()
    }
}

/// Whether these rows are as many as the detection of the header reads.
fn is_enough(text: &[u8], delimiter: u8) -> bool {
    let (mut rows, mut cells) = (0, 0);
    for row in dialect::rows_of(text, delimiter).into_byte_records().flatten() {
        rows += 1;
        cells += row.len();
        if rows > SAMPLE && cells > CELLS {
            return true;
        }
    }
    false
}

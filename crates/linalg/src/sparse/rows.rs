//! Rows of entries that stand one after the other, with where each row begins: the layout of sparse matrices, of neighbor
//! lists and of the pairs around a point.

/// Puts entries that come in any order into their rows, each row in the order its entries come: first the entries of
/// each row are counted, then each entry gets its position.
pub struct Counted {
    /// Where each row begins, and the last one ends.
    pub offsets: Vec<usize>,
    /// Where the next entry of each row goes.
    next: Vec<usize>,
}

impl Counted {
    /// The room of `n` rows for one entry each time a row is named.
    pub fn rows(n: usize, rows: impl Iterator<Item = usize>) -> Counted {
        let mut offsets = vec![0usize; n + 1];
        rows.for_each(|row| offsets[row + 1] += 1);
        for row in 0..n {
            offsets[row + 1] += offsets[row];
        }
        let next = offsets.clone();
        Counted { offsets, next }
    }

    /// The number of all entries.
    pub fn entries(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// The position of the next entry of a row.
    #[inline(always)]
    pub fn place(&mut self, row: usize) -> usize {
        let place = self.next[row];
        self.next[row] += 1;
        place
    }
}

/// Some rows: where each ends, and columns and values of their entries.
#[derive(Default)]
pub struct SomeRows {
    /// Where each row ends.
    pub ends: Vec<usize>,
    /// The columns of the entries.
    pub columns: Vec<u32>,
    /// The values of the entries.
    pub values: Vec<f64>,
}

/// The rows of all chunks, in their order: offsets, columns and values.
pub fn joined(chunks: Vec<SomeRows>) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let rows: usize = chunks.iter().map(|chunk| chunk.ends.len()).sum();
    let entries = chunks.iter().map(|chunk| chunk.columns.len()).sum();
    let (mut offsets, mut columns) = (Vec::with_capacity(rows + 1), Vec::with_capacity(entries));
    let mut values = Vec::with_capacity(entries);
    offsets.push(0);
    for chunk in chunks {
        let base = columns.len();
        offsets.extend(chunk.ends.iter().map(|end| base + end));
        columns.extend(chunk.columns);
        values.extend(chunk.values);
    }
    (offsets, columns, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_find_their_rows_in_the_order_they_come() {
        let entries = [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd'), (0, 'e')];
        let mut rows = Counted::rows(4, entries.iter().map(|entry| entry.0));
        assert_eq!(rows.offsets, [0, 2, 2, 4, 5]);
        let mut put = vec![' '; rows.entries()];
        entries.iter().for_each(|&(row, entry)| put[rows.place(row)] = entry);
        assert_eq!(put, ['b', 'e', 'a', 'c', 'd']);
    }
}

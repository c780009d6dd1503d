//! A sample of rows that depends on their content and on the seed alone.
//!
//! Every row has a hash of its numbers; the rows with the smallest hashes are the sample. So the sample does not depend on the
//! order of the rows, on how they are divided among files or machines, or on the format of the file, and the samples of two
//! parts of a table combine to that of the whole ([`RowSample::join`]).

use std::collections::BinaryHeap;

/// A hash of the numbers of a row and a seed: of their bits as float64, with one zero and one NaN.
pub fn row_hash(row: &[f64], seed: u64) -> u64 {
    // A round of SplitMix64 for every number: bits that differ little have hashes that differ much.
    let mix = |mut bits: u64| {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    let number = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { (x + 0.0).to_bits() };
    let next = |hash: u64, x: &f64| mix(hash.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ mix(number(x)));
    row.iter().fold(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)), next)
}

/// What became of a row that was offered to a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Whether it is in the sample, for now.
    pub taken: bool,
    /// The row that is no longer in the sample.
    pub dropped: Option<usize>,
}

/// The rows with the smallest hashes of all that were offered; of rows with equal hashes the first.
#[derive(Clone, Debug)]
pub struct RowSample {
    most: usize,
    seed: u64,
    offered: usize,
    /// The hash and the number of every chosen row, the largest on top.
    chosen: BinaryHeap<(u64, usize)>,
}

impl RowSample {
    /// An empty sample of at most this many rows.
    pub fn new(most: usize, seed: u64) -> RowSample {
        RowSample { most, seed, offered: 0, chosen: BinaryHeap::new() }
    }

    /// Offers the next row.
    pub fn offer(&mut self, row: &[f64]) -> Offer {
        self.offer_row(row, self.offered)
    }

    /// Offers a row under its own number, where not all rows are offered; numbers ascend.
    pub fn offer_row(&mut self, row: &[f64], number: usize) -> Offer {
        self.offered += 1;
        self.insert((row_hash(row, self.seed), number))
    }

    /// The rows that were offered.
    pub fn offered(&self) -> usize {
        self.offered
    }

    /// Adds the sample of rows that come after these.
    pub fn join(&mut self, below: &RowSample) {
        for &(hash, row) in &below.chosen {
            self.insert((hash, self.offered + row));
        }
        self.offered += below.offered;
    }

    /// The chosen rows, ascending, counted from 0 in the order in which they were offered.
    pub fn rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = self.chosen.iter().map(|&(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }

    /// The chosen rows in the order of their hashes, which does not depend on the order in which they were offered.
    pub fn rows_by_hash(&self) -> Vec<usize> {
        let mut chosen: Vec<(u64, usize)> = self.chosen.iter().copied().collect();
        chosen.sort_unstable();
        chosen.into_iter().map(|(_, row)| row).collect()
    }

    fn insert(&mut self, candidate: (u64, usize)) -> Offer {
        if self.chosen.len() < self.most {
            self.chosen.push(candidate);
            return Offer { taken: true, dropped: None };
        }
        match self.chosen.peek_mut() {
            Some(mut largest) if candidate < *largest => {
                let dropped = Some(largest.1);
                *largest = candidate;
                Offer { taken: true, dropped }
            }
            _ => Offer { taken: false, dropped: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Vec<[f64; 2]> {
        (0..500).map(|i| [f64::from(i % 400) * 0.25, f64::from(i % 400).sqrt()]).collect()
    }

    fn sample(rows: &[[f64; 2]], seed: u64) -> RowSample {
        let mut sample = RowSample::new(60, seed);
        for row in rows {
            let _ = sample.offer(row);
        }
        sample
    }

    /// The contents of the chosen rows, in an order that does not depend on that of the table.
    fn contents(rows: &[[f64; 2]], chosen: &[usize]) -> Vec<[u64; 2]> {
        let mut contents: Vec<[u64; 2]> = chosen.iter().map(|&i| rows[i].map(f64::to_bits)).collect();
        contents.sort_unstable();
        contents
    }

    #[test]
    fn the_order_of_the_rows_and_their_division_do_not_matter() {
        let rows = table();
        let chosen = sample(&rows, 7).rows();
        assert_eq!(chosen.len(), 60);
        let backwards: Vec<[f64; 2]> = rows.iter().rev().copied().collect();
        assert_eq!(contents(&rows, &chosen), contents(&backwards, &sample(&backwards, 7).rows()));
        let in_order =
            |rows: &[[f64; 2]]| sample(rows, 7).rows_by_hash().into_iter().map(|i| rows[i]).collect::<Vec<_>>();
        assert_eq!(in_order(&rows), in_order(&backwards));
        for at in [0, 1, 59, 60, 61, 250, 500] {
            let mut joined = sample(&rows[..at], 7);
            joined.join(&sample(&rows[at..], 7));
            assert_eq!((joined.rows(), joined.offered()), (chosen.clone(), 500), "{at}");
        }
    }

    #[test]
    fn equal_rows_are_chosen_by_occurrence_and_zero_has_one_sign() {
        let rows = [[1.0, -0.0]; 5];
        let mut sample = RowSample::new(3, 0);
        let offers: Vec<Offer> = rows.iter().map(|row| sample.offer(row)).collect();
        assert_eq!(offers.iter().filter(|offer| offer.taken).count(), 3);
        assert_eq!(sample.rows(), [0, 1, 2]);
        assert_eq!(row_hash(&[0.0, 1.0], 3), row_hash(&[-0.0, 1.0], 3));
        assert_ne!(row_hash(&[0.0, 1.0], 3), row_hash(&[1.0, 0.0], 3));
    }

    #[test]
    fn every_seed_draws_evenly() {
        // 500 rows, 60 of them: the count of a tenth of the rows has the mean 6 and the standard deviation 2.2.
        let rows: Vec<[f64; 2]> = (0..500).map(|i| [f64::from(i), 0.0]).collect();
        for seed in 0..10 {
            let chosen = sample(&rows, seed).rows();
            let counts: Vec<usize> = (0..10).map(|tenth| chosen.iter().filter(|&&i| i / 50 == tenth).count()).collect();
            assert!(counts.iter().all(|&count| count < 17), "{seed}: {counts:?}");
        }
        assert_ne!(sample(&rows, 0).rows(), sample(&rows, 1).rows());
    }
}

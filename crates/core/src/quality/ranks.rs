//! Ranks of the other points by distance from a row, ties by index.

use eigenfold_linalg::sort::by_key;

/// Below this many entries a plain sort is as fast.
const FEW: usize = 128;

/// The other points in the order of their distances from a row; the memory is reused for the next row.
#[derive(Default)]
pub(super) struct Ranks {
    /// The others, the nearest first.
    pub(super) order: Vec<u32>,
    /// The rank of every point, counted from 1; 0 for the row itself.
    pub(super) of: Vec<u32>,
    /// Twice that rank, with ties averaged; 0 for the row itself.
    pub(super) doubled: Vec<u32>,
    entries: Vec<(f64, u32)>,
    sorted: Vec<(f64, u32)>,
    ends: Vec<u32>,
}

impl Ranks {
    /// Ranks the others by their distances from row `own`.
    pub(super) fn rank(&mut self, distances: &[f64], own: usize) {
        let n = distances.len();
        self.entries.clear();
        self.entries.extend((0u32..).zip(distances).map(|(j, &d)| (d, j)));
        self.entries.remove(own);
        self.sort();
        self.order.clear();
        self.order.extend(self.sorted.iter().map(|(_, j)| j));
        self.of.resize(n, 0);
        self.doubled.resize(n, 0);
        (self.of[own], self.doubled[own]) = (0, 0);
        let mut place = 1u32;
        for equal in self.sorted.chunk_by(|a, b| a.0 == b.0) {
            let both = 2 * place + equal.len() as u32 - 1;
            for &(_, j) in equal {
                self.of[j as usize] = place;
                self.doubled[j as usize] = both;
                place += 1;
            }
        }
    }

    /// Sorts the entries: first into as many buckets of equal width as there are entries, then each bucket by itself.
    fn sort(&mut self) {
        let most = self.entries.iter().fold(0.0, |most: f64, (d, _)| most.max(*d));
        let least = self.entries.iter().fold(most, |least: f64, (d, _)| least.min(*d));
        let count = self.entries.len();
        // If the range is so small that the width of a bucket vanishes, there is one bucket.
        let per_width = count as f64 / (most - least);
        if count < FEW || !per_width.is_finite() {
            self.sorted.clone_from(&self.entries);
            return self.sorted.sort_unstable_by(by_key);
        }
        let bucket = |d: f64| (((d - least) * per_width) as usize).min(count - 1);
        self.ends.clear();
        self.ends.resize(count + 1, 0);
        self.entries.iter().for_each(|(d, _)| self.ends[bucket(*d) + 1] += 1);
        (0..count).for_each(|b| self.ends[b + 1] += self.ends[b]);
        self.sorted.resize(count, (0.0, 0));
        for &entry in &self.entries {
            let at = &mut self.ends[bucket(entry.0)];
            self.sorted[*at as usize] = entry;
            *at += 1;
        }
        let mut start = 0;
        for &end in &self.ends[..count] {
            let end = end as usize;
            if end > start + 1 {
                self.sorted[start..end].sort_unstable_by(by_key);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spread evenly, with ties, with a few far away, all equal, and too close to each other to have a width.
    fn cases() -> Vec<Vec<f64>> {
        let noise = |i: usize| (i as f64 * 0.618_033_988_75).fract();
        vec![
            (0..500).map(noise).collect(),
            (0..500).map(|i| (noise(i) * 9.0).floor()).collect(),
            (0..500).map(|i| if i % 100 == 7 { 1e300 * noise(i) } else { noise(i) }).collect(),
            vec![3.5; 300],
            (0..300).map(|i| 5e-324 * (i % 3) as f64).collect(),
            vec![2.0, 1.0],
        ]
    }

    #[test]
    fn the_order_is_that_of_a_plain_sort_and_ranks_are_its_places() {
        let mut ranks = Ranks::default();
        for distances in cases() {
            for own in [0, distances.len() / 2, distances.len() - 1] {
                ranks.rank(&distances, own);
                let mut others: Vec<u32> = (0..distances.len() as u32).filter(|&j| j as usize != own).collect();
                others.sort_by(|&a, &b| distances[a as usize].total_cmp(&distances[b as usize]));
                assert_eq!(ranks.order, others);
                assert!(others.iter().enumerate().all(|(at, &j)| ranks.of[j as usize] as usize == at + 1));
                assert_eq!((ranks.of[own], ranks.doubled[own]), (0, 0));
                for &j in &others {
                    let d = distances[j as usize];
                    let below = others.iter().filter(|&&i| distances[i as usize] < d).count();
                    let equal = others.iter().filter(|&&i| distances[i as usize] == d).count();
                    assert_eq!(ranks.doubled[j as usize] as usize, 2 * below + equal + 1);
                }
            }
        }
    }
}

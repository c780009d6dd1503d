//! The orders that lists are kept in. Each is stated once, and the compiler makes its sort once.

use std::cmp::Ordering;

/// A key with a total order of its own.
pub trait Key: Copy {
    /// The order of two keys.
    fn compare(self, other: Self) -> Ordering;
}

impl Key for f32 {
    fn compare(self, other: f32) -> Ordering {
        self.total_cmp(&other)
    }
}

impl Key for f64 {
    fn compare(self, other: f64) -> Ordering {
        self.total_cmp(&other)
    }
}

/// (key, what it belongs to): the smallest key first, equal keys by what they belong to.
pub fn by_key<K: Key, I: Ord>(a: &(K, I), b: &(K, I)) -> Ordering {
    a.0.compare(b.0).then_with(|| a.1.cmp(&b.1))
}

/// (neighbor, distance): the nearest first, equal distances by index.
pub fn by_distance(a: &(u32, f64), b: &(u32, f64)) -> Ordering {
    a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))
}

/// (neighbor, distance): by index, the nearest of equal ones first.
pub fn by_index(a: &(u32, f64), b: &(u32, f64)) -> Ordering {
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
}

/// Counts: the largest first.
pub fn largest_first(a: &usize, b: &usize) -> Ordering {
    b.cmp(a)
}

/// The positions of the keys from the smallest to the largest; equal keys stay in their order.
pub fn ascending(keys: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_broken_by_what_keys_belong_to() {
        let mut keyed = [(2.0, 7), (1.0, 9), (1.0, 3)];
        keyed.sort_unstable_by(by_key);
        assert_eq!(keyed, [(1.0, 3), (1.0, 9), (2.0, 7)]);
        let mut neighbors = [(4, 0.5), (1, 2.0), (4, 0.25), (0, 0.5)];
        neighbors.sort_unstable_by(by_distance);
        assert_eq!(neighbors, [(4, 0.25), (0, 0.5), (4, 0.5), (1, 2.0)]);
        neighbors.sort_unstable_by(by_index);
        assert_eq!(neighbors, [(0, 0.5), (1, 2.0), (4, 0.25), (4, 0.5)]);
        assert_eq!(ascending(&[3.0, 1.0, 2.0, 1.0]), [1, 3, 2, 0]);
    }
}

//! Training rows identified by their values. Distances cannot identify them: squares of small differences vanish, and
//! parallel rows have no angle between them.

use eigenfold_graph::points::Points;

/// An index of the training rows by their values.
pub(super) struct Homes<'a> {
    points: &'a Points,
    /// The rows with their hashes, sorted by hash and then by row.
    rows: Vec<(u64, u32)>,
    /// Where the hashes with each leading bits start.
    starts: Vec<u32>,
    /// The number of the other bits.
    rest: u32,
}

impl Homes<'_> {
    pub(super) fn of(points: &Points) -> Homes<'_> {
        let mut rows: Vec<(u64, u32)> = Vec::with_capacity(points.rows());
        points.each_row(|i, row| rows.push((digest(row), i as u32)));
        rows.sort_unstable();
        // As many parts as rows, so that a part has about one.
        let bits = rows.len().max(2).ilog2();
        let rest = u64::BITS - bits;
        let mut starts = vec![0; (1 << bits) + 1];
        rows.iter().for_each(|(digest, _)| starts[(digest >> rest) as usize + 1] += 1);
        (0..1 << bits).for_each(|part| starts[part + 1] += starts[part]);
        Homes { points, rows, starts, rest }
    }

    /// The first training row with these values, other than the row itself, if it is a training row.
    pub(super) fn home(&self, row: &[f64], own: Option<u32>) -> Option<usize> {
        let digest = digest(row);
        let part = (digest >> self.rest) as usize;
        let part = &self.rows[self.starts[part] as usize..self.starts[part + 1] as usize];
        let alike = part.iter().filter(|(other, _)| *other == digest).map(|&(_, j)| j);
        let same = |&j: &u32| Some(j) != own && *self.points.point(j as usize) == *row;
        alike.into_iter().find(same).map(|j| j as usize)
    }
}

/// A hash that equal rows share; zero has one sign.
fn digest(row: &[f64]) -> u64 {
    let mix = |sum: u64, x: &f64| (sum ^ (x + 0.0).to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let sum = row.iter().fold(0, mix);
    // Numbers of few digits end in zeros, and so do the leading bits then.
    (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_known_by_its_numbers_and_the_first_of_equal_ones_counts() {
        let points = Points::from_rows(&[[1e-200, 0.0], [2e-200, 0.0], [1.0, -0.0], [1.0, 0.0], [2.0, 0.0]]).unwrap();
        let homes = Homes::of(&points);
        let home = |row: [f64; 2]| homes.home(&row, None);
        assert_eq!((home([1e-200, 0.0]), home([2e-200, 0.0]), home([3e-200, 0.0])), (Some(0), Some(1), None));
        assert_eq!((home([1.0, 0.0]), home([1.0, -0.0]), home([2.0, -0.0])), (Some(2), Some(2), Some(4)));
        assert_eq!((homes.home(&[1.0, 0.0], Some(2)), homes.home(&[2.0, 0.0], Some(4))), (Some(3), None));
    }
}

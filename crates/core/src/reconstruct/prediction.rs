//! What is said of one place: a data row, and how far off each of its entries may be.
//!
//! ```text
//! width[j] = s w[j], at least g l[j] and at most g m[j]      g = 1 for deviations, 1.96 for margins; s the stretch
//! ```
//!
//! w is what the rule itself says. The stretch is one number for all deviations and one for all margins, 1 unless rows that
//! had no part in the map say otherwise (`judge/rows.rs`). l is the least where nothing is near, m that between two rows drawn at random.

use super::calibration::GAUSSIAN;
use eigenfold_linalg::power::times_two_to;

/// What is said of one place.
pub(crate) struct At {
    pub(crate) row: Vec<f64>,
    /// w of the deviations and of the margins.
    pub(crate) widths: [Vec<f64>; 2],
    /// l and m of every entry; 0 and infinity if there are none.
    pub(crate) limits: Vec<[f64; 2]>,
}

impl At {
    /// With margins as they are where errors are Gaussian.
    pub(crate) fn gaussian(row: Vec<f64>, deviations: Vec<f64>) -> At {
        let margins = deviations.iter().map(|deviation| GAUSSIAN[1] * deviation).collect();
        At { limits: vec![[0.0, f64::INFINITY]; row.len()], row, widths: [deviations, margins] }
    }

    /// The same in another unit.
    pub(crate) fn times_two_to(mut self, power: i32) -> At {
        let [deviations, margins] = &mut self.widths;
        for value in self.row.iter_mut().chain(deviations).chain(margins).chain(self.limits.iter_mut().flatten()) {
            *value = times_two_to(*value, power);
        }
        self
    }

    /// The deviation (level 0) or the margin (1) of every entry.
    pub(crate) fn stretched(&self, level: usize, stretch: f64) -> Vec<f64> {
        let limited = |(width, [least, most]): (&f64, &[f64; 2])| {
            (stretch * width).max(GAUSSIAN[level] * least).min(GAUSSIAN[level] * most)
        };
        self.widths[level].iter().zip(&self.limits).map(limited).collect()
    }

    /// The least stretch for which x is within the width of entry j; infinity if there is none.
    pub(crate) fn needed(&self, level: usize, j: usize, x: f64) -> f64 {
        let (off, width, [least, most]) = ((x - self.row[j]).abs(), self.widths[level][j], self.limits[j]);
        if off <= GAUSSIAN[level] * least.min(most) {
            return 0.0;
        }
        if width > 0.0 && off <= GAUSSIAN[level] * most { off / width } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stretch_that_is_needed_is_the_least_that_holds_the_entry() {
        let at =
            At { row: vec![1.0; 3], widths: [vec![2.0, 2.0, 0.0], vec![4.0, 4.0, 0.0]], limits: vec![[0.5, 3.0]; 3] };
        for level in 0..2 {
            for off in [0.2, 0.7, 1.9, 2.9, 5.5, 7.0] {
                let needed = at.needed(level, 0, 1.0 - off);
                let holds = |stretch: f64| off <= at.stretched(level, stretch)[0];
                assert!(needed.is_infinite() || holds(needed * (1.0 + 1e-12)), "{level} {off} {needed}");
                assert!(needed == 0.0 || !holds(needed.min(1e9) * (1.0 - 1e-12)), "{level} {off} {needed}");
            }
            assert_eq!((at.needed(level, 2, 1.0), at.needed(level, 2, -9.0)), (0.0, f64::INFINITY));
        }
        let at = At::gaussian(vec![0.0], vec![2.0]);
        assert_eq!((at.stretched(0, 1.5)[0], at.needed(0, 0, -3.0)), (3.0, 1.5));
    }
}

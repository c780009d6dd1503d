//! The prediction at one embedding point: a data row, and the interval widths of its entries.
//!
//! ```text
//! width[j] = s w[j], at least g l[j] and at most g m[j]      g = 1 for SDs, 1.96 for 95 % half-widths; s the calibration factor
//! ```
//!
//! w is the width of the rule itself. The calibration factor is one number for all standard deviations and one for all
//! 95 % half-widths, 1 unless it was estimated on held-out rows (`validate/reconstruction.rs`). l is the lower bound
//! where nothing is near, m the upper bound, the difference of two random rows.

use super::calibration::GAUSSIAN;

/// The prediction at one embedding point.
pub(crate) struct At {
    pub(crate) row: Vec<f64>,
    /// w of the standard deviations and of the 95 % half-widths.
    pub(crate) widths: [Vec<f64>; 2],
    /// l and m of every entry; 0 and infinity if there are none.
    pub(crate) limits: Vec<[f64; 2]>,
}

impl At {
    /// With 95 % half-widths for Gaussian errors.
    pub(crate) fn gaussian(row: Vec<f64>, deviations: Vec<f64>) -> At {
        let margins = deviations.iter().map(|deviation| GAUSSIAN[1] * deviation).collect();
        At { limits: vec![[0.0, f64::INFINITY]; row.len()], row, widths: [deviations, margins] }
    }

    /// The standard deviation (level 0) or the 95 % half-width (1) of every entry.
    pub(crate) fn calibrated(&self, level: usize, calibration_factor: f64) -> Vec<f64> {
        let limited = |(width, [least, most]): (&f64, &[f64; 2])| {
            (calibration_factor * width).max(GAUSSIAN[level] * least).min(GAUSSIAN[level] * most)
        };
        self.widths[level].iter().zip(&self.limits).map(limited).collect()
    }

    /// The smallest calibration factor for which x is within the width of entry j; infinity if there is none.
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
    fn the_needed_factor_is_the_least_that_holds_the_entry() {
        let at =
            At { row: vec![1.0; 3], widths: [vec![2.0, 2.0, 0.0], vec![4.0, 4.0, 0.0]], limits: vec![[0.5, 3.0]; 3] };
        for level in 0..2 {
            for off in [0.2, 0.7, 1.9, 2.9, 5.5, 7.0] {
                let needed = at.needed(level, 0, 1.0 - off);
                let holds = |calibration_factor: f64| off <= at.calibrated(level, calibration_factor)[0];
                assert!(needed.is_infinite() || holds(needed * (1.0 + 1e-12)), "{level} {off} {needed}");
                assert!(needed == 0.0 || !holds(needed.min(1e9) * (1.0 - 1e-12)), "{level} {off} {needed}");
            }
            assert_eq!((at.needed(level, 2, 1.0), at.needed(level, 2, -9.0)), (0.0, f64::INFINITY));
        }
        let at = At::gaussian(vec![0.0], vec![2.0]);
        assert_eq!((at.calibrated(0, 1.5)[0], at.needed(0, 0, -3.0)), (3.0, 1.5));
    }
}

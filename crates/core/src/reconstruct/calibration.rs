//! Calibration of the interval widths on left-out rows, by counting (the formulas are those of `kriging.rs`).

use crate::reconstruct::MARGIN;
use eigenfold_linalg::parallel;
use std::borrow::Borrow;

/// The nominal coverage of standard deviations and of 95 % half-widths.
pub(crate) const LEVELS: [f64; 2] = [0.68, 0.95];
/// The Gaussian quantiles of these.
pub(crate) const GAUSSIAN: [f64; 2] = [1.0, MARGIN];
/// The minimum number of rows with unlimited weights that determine b.
const LEAST: usize = 20;
/// The minimum of b, relative to the root mean square.
const TRACE: f64 = 1e-3;

/// The prediction error of a left-out row.
pub(crate) struct Row {
    pub(crate) row: usize,
    /// Its error, feature by feature and signed, in internal units.
    pub(crate) off: Vec<f64>,
    /// f.
    pub(crate) floors: Vec<f64>,
    /// Whether its weights are unlimited, s = 1.
    pub(crate) free: bool,
    /// √u.
    pub(crate) deviation: f64,
}

/// b: the 68 % quantile of the errors of rows with unlimited weights, in units of √u; slightly positive for features
/// that are nearly constant.
pub(crate) fn bases(rows: &[Row], spread: &[f64]) -> Vec<f64> {
    let free: Vec<&Row> = rows.iter().filter(|row| row.free).collect();
    let rows = if free.len() < LEAST { rows.iter().collect() } else { free };
    parallel::collect(spread.len(), |j| {
        if spread[j] <= 0.0 {
            return 0.0;
        }
        let sizes: Vec<f64> = rows.iter().map(|row| row.off[j].abs() / row.deviation).collect();
        let square = sizes.iter().map(|size| size * size).sum::<f64>() / rows.len() as f64;
        counted(sizes, LEVELS[0]).max(TRACE * square.sqrt())
    })
}

/// w: the smallest factors for which 68 % and 95 % of left-out rows are within their widths, for each feature.
pub(crate) fn widths(rows: &[impl Borrow<Row> + Sync], bases: &[f64]) -> Vec<[f64; 2]> {
    let width = |j: usize, level: usize| {
        let size = |row: &Row| if row.off[j] == 0.0 { 0.0 } else { row.off[j].abs() / row.scale(bases, j) };
        let sizes: Vec<f64> = rows.iter().map(|row| size(row.borrow())).collect();
        Some(counted(sizes, LEVELS[level])).filter(|width| width.is_finite()).unwrap_or(GAUSSIAN[level])
    };
    parallel::collect(bases.len(), |j| [0, 1].map(|level| width(j, level)))
}

/// The conformal quantile for a share: the n-th of N rows bounds a new one with probability n/(N + 1).
pub(crate) fn counted(mut sizes: Vec<f64>, share: f64) -> f64 {
    sizes.sort_unstable_by(f64::total_cmp);
    sizes[((share * (sizes.len() + 1) as f64).ceil() as usize).clamp(1, sizes.len()) - 1]
}

impl Row {
    /// √(b² u + f²) of feature j.
    pub(crate) fn scale(&self, bases: &[f64], j: usize) -> f64 {
        (bases[j] * self.deviation).hypot(self.floors[j])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_hold_the_share_of_rows_that_they_say() {
        let row = |i: usize| {
            let (floor, free) = if i.is_multiple_of(4) { (3.0, false) } else { (0.0, true) };
            Row { row: i, off: vec![i as f64, 0.0], floors: vec![floor, 0.0], free, deviation: 1.0 + (i % 3) as f64 }
        };
        let rows: Vec<Row> = (0..400).map(row).collect();
        let bases = bases(&rows, &[1.0, 0.0]);
        let widths = widths(&rows, &bases);
        for (level, share) in LEVELS.into_iter().enumerate() {
            let inside = rows.iter().filter(|row| row.off[0] <= widths[0][level] * row.scale(&bases, 0)).count();
            assert!((inside as f64 / 401.0 - share).abs() <= 1.0 / 400.0, "{inside}");
            assert_eq!(widths[1][level] * rows[0].scale(&bases, 1), 0.0, "a constant feature is certain");
        }
    }

    #[test]
    fn a_feature_that_is_nearly_always_the_same_has_a_margin() {
        let row = |i: usize| Row {
            row: i,
            off: vec![if i.is_multiple_of(10) { -5.0 } else { 0.0 }],
            floors: vec![0.0],
            free: true,
            deviation: 1.0,
        };
        let rows: Vec<Row> = (0..100).map(row).collect();
        let bases = bases(&rows, &[1.0]);
        let [deviation, margin] = widths(&rows, &bases)[0].map(|width| width * rows[0].scale(&bases, 0));
        assert!(deviation == 0.0 && (margin - 5.0).abs() < 1e-12, "{deviation} {margin}");
    }
}

//! Center and scale of one column.
//!
//! Everything is computed in a unit of the column, a power of two that brings its largest absolute value between one
//! and two, and scaled back: no square overflows, and multiplying the column by a power of two changes no digit.

use super::{BLOCK, ColumnScale};
use eigenfold_graph::points::Points;
use eigenfold_linalg::parallel;
use eigenfold_linalg::power::{exponent, times_two_to};

/// Numbers that differ by less than this fraction of the largest are equal up to rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The spread of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spread {
    Varies,
    /// All are equal, up to rounding.
    Constant,
    /// They vary, but the interquartile range is zero because most values are equal.
    Narrow,
}

/// Center and scale of the numbers that were observed.
pub(super) fn learned(scale: ColumnScale, mut values: Vec<f64>) -> (f64, f64, Spread) {
    if scale == ColumnScale::None || values.is_empty() {
        return (0.0, 1.0, Spread::Varies);
    }
    let power = to_unit(&mut values);
    let outside = |x: f64| times_two_to(x, power);
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
    if high - low <= ROUNDING * high.abs().max(low.abs()) {
        return (outside(low), 1.0, Spread::Constant);
    }
    let (mean, variance) = moments(&values);
    let deviation = outside(variance.sqrt());
    if scale == ColumnScale::Unit {
        return (outside(mean), deviation, Spread::Varies);
    }
    values.sort_unstable_by(f64::total_cmp);
    let range = outside(quantile(&values, 0.75) - quantile(&values, 0.25));
    let (scale, spread) = if range > 0.0 { (range, Spread::Varies) } else { (deviation, Spread::Narrow) };
    (outside(quantile(&values, 0.5)), scale, spread)
}

/// Whether a column of this mean and variance is constant up to rounding.
pub(super) fn is_constant(mean: f64, variance: f64) -> bool {
    variance.sqrt() <= ROUNDING * mean.abs()
}

/// The variance of every column, in a common unit, and whether the column varies at all.
pub(super) fn variances(points: &Points) -> Vec<(f64, bool)> {
    let power = exponent(points.magnitude());
    let blocks = parallel::collect(points.cols().div_ceil(BLOCK), |block| {
        let columns = block * BLOCK..((block + 1) * BLOCK).min(points.cols());
        let mut values: Vec<Vec<f64>> = columns.clone().map(|_| Vec::with_capacity(points.rows())).collect();
        let mut buffer = Vec::new();
        for i in 0..points.rows() {
            let row = points.read_columns(i, columns.clone(), &mut buffer);
            values.iter_mut().zip(row).for_each(|(column, &x)| column.push(times_two_to(x, -power)));
        }
        let varies = |column: &[f64]| column.iter().any(|x| *x != column[0]);
        values.iter().map(|column| (moments(column).1, varies(column))).collect::<Vec<_>>()
    });
    blocks.concat()
}

/// Scales values such that the largest is between one and two; returns the power of two that restores them.
fn to_unit(values: &mut [f64]) -> i32 {
    let power = exponent(values.iter().fold(0.0f64, |most, x| most.max(x.abs())));
    values.iter_mut().for_each(|x| *x = times_two_to(*x, -power));
    power
}

/// Mean and variance, divided by n; the mean is corrected once for the rounding of its sum.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let rough = values.iter().sum::<f64>() / n;
    let mean = rough + values.iter().map(|x| x - rough).sum::<f64>() / n;
    (mean, values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n)
}

/// A quantile of sorted numbers, by linear interpolation.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * (sorted.len() - 1) as f64;
    let (low, over) = (sorted[at as usize], at.fract());
    if over == 0.0 { low } else { low + over * (sorted[at as usize + 1] - low) }
}

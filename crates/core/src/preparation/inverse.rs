//! The inverse of the preparation: original values, with their standard deviations and 95 % half-widths.
//!
//! The inverse of a value is x = g⁻¹(c + s z). Where g is the identity, a width w of z is s w of x. Where it is a
//! logarithm, an interval that is symmetric in z is not symmetric in x. There the width of x is the D for which as many
//! rows are within x ± D as the width promises (0.6827 for a standard deviation, 0.95 for a 95 % half-width):
//!
//! ```text
//! Φ(h⁻¹(ζ(x + D) − z)) − Φ(−h⁻¹(z − ζ(x − D))) = level        ζ(x) = (g(x) − c) / s
//! ```
//!
//! h is the quantile function of the errors of z that samples follow (`reconstruct/draws.rs`): linear from 0 to the
//! standard deviation at one standard deviation of a Gaussian, to the 95 % half-width at 1.96, and beyond. For small
//! widths D is that of the delta method, w dx/dz. Since the inverse is monotone, x is the median of the samples, not
//! their mean.

use super::{Log, Prepared, PreparedColumn};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;

/// The Gaussian quantiles of the standard deviation and the 95 % half-width.
const LEVELS: [f64; 2] = [1.0, 1.959_963_984_540_054];
/// Bisection steps for a width: to 1e-12 of the interval.
const HALVINGS: usize = 40;
/// Terms of the series of Φ; at 8 standard deviations some 130 count.
const MOST_TERMS: usize = 300;

impl PreparedColumn {
    /// x of z.
    fn back(&self, z: f64) -> f64 {
        let g = self.center + self.scale * z;
        match self.log {
            None => g,
            Some(Log::OnePlus) => g.exp_m1(),
            Some(Log::Plain) => g.exp(),
        }
    }

    /// The widths of x from the widths of z.
    fn widths_back(&self, z: f64, widths: [f64; 2]) -> [f64; 2] {
        if self.log.is_none() {
            return widths.map(|width| self.scale * width);
        }
        let errors = Errors { deviation: widths[0], margin: widths[1].max(widths[0]) };
        let x = self.back(z);
        // Beyond the range of floating-point numbers the width is undefined.
        if !(x + (self.back(z + errors.margin) - x)).is_finite() {
            return [f64::INFINITY; 2];
        }
        [0, 1].map(|level| {
            let width = widths[level];
            let (mut low, mut high) = (x - self.back(z - width), self.back(z + width) - x);
            let promised = within(LEVELS[level]);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    break;
                }
                let above = normal(errors.standard(self.of(x + middle) - z));
                // Below the domain the probability is zero.
                let least = self.of(x - middle);
                let below = if least.is_finite() { normal(-errors.standard(z - least)) } else { 0.0 };
                if above - below < promised { low = middle } else { high = middle }
            }
            high
        })
    }
}

/// The errors of a prepared number.
struct Errors {
    deviation: f64,
    margin: f64,
}

impl Errors {
    /// h⁻¹: the Gaussian quantile of an error of this size.
    fn standard(&self, size: f64) -> f64 {
        let (deviation, margin, last) = (self.deviation, self.margin, LEVELS[1]);
        if size <= deviation {
            size / deviation
        } else if size <= margin {
            1.0 + (size - deviation) / (margin - deviation) * (last - 1.0)
        } else {
            size / margin * last
        }
    }
}

impl Prepared {
    /// The points in their original units.
    ///
    /// # Errors
    ///
    /// If a value is out of range.
    pub fn undo(&self, prepared: &Points) -> Result<Points> {
        let cols = self.columns.len();
        let back = |(at, &z): (usize, &f64)| self.columns[at % cols].back(z);
        let values = prepared.values().iter().enumerate().map(back).collect();
        Points::computed(prepared.rows(), cols, values)
    }

    /// Values with their standard deviations and 95 % half-widths in original units, entry by entry.
    ///
    /// # Errors
    ///
    /// If a value is out of range.
    pub(crate) fn undo_widths(&self, [points, deviations, margins]: [&Points; 3]) -> Result<[Points; 3]> {
        let (rows, cols) = (points.rows(), self.columns.len());
        let both: Vec<[f64; 2]> = eigenfold_linalg::parallel::collect(rows, |i| {
            let widths =
                |j: usize| self.columns[j].widths_back(points.row(i)[j], [deviations, margins].map(|w| w.row(i)[j]));
            (0..cols).map(widths).collect::<Vec<_>>()
        })
        .concat();
        let level = |level: usize| Points::computed(rows, cols, both.iter().map(|pair| pair[level]).collect());
        Ok([self.undo(points)?, level(0)?, level(1)?])
    }

    /// The standard deviation of a value in a column, from that of a prepared value with Gaussian errors.
    pub(crate) fn deviation_back(&self, column: usize, z: f64, deviation: f64) -> f64 {
        self.columns[column].widths_back(z, LEVELS.map(|level| level * deviation))[0]
    }
}

/// The probability that a Gaussian is within this many standard deviations of its mean.
fn within(z: f64) -> f64 {
    2.0 * normal(z) - 1.0
}

/// Φ, by its series: G. Marsaglia. Evaluating the normal distribution. Journal of Statistical Software 11(4), 2004. NaN
/// for NaN.
pub(super) fn normal(z: f64) -> f64 {
    if z.is_nan() {
        return z;
    }
    if z.abs() > 8.0 {
        return if z > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut sum, mut term, mut odd) = (z, z, 1.0);
    for _ in 0..MOST_TERMS {
        odd += 2.0;
        term *= z * z / odd;
        let more = sum + term;
        if more == sum {
            break;
        }
        sum = more;
    }
    0.5 + sum * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

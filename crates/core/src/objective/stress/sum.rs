//! The sum of squared differences, with its slope.

use crate::error::{Error, Result};
use crate::field::Energy;
use crate::graph::paths::sweep::Real;
use crate::optimize::Emphasized;
use rayon::prelude::*;

/// Sums run in so many lanes.
const LANES: usize = 8;

/// δ of every pair, both ways.
pub(super) enum Square {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// σ(Y)/2n, over coordinates in units of √n times the root mean square distance: then its curvature is about one, and the
/// coordinates less its slope are the majorization step.
pub(super) struct Raw {
    table: Square,
    n: usize,
    pub(super) unit: f64,
    /// Σ_{i<j} δ².
    total: f64,
}

impl Raw {
    pub(super) fn new(table: Square, n: usize) -> Result<Raw> {
        let rows = |i: usize| match &table {
            Square::Single(table) => table[i * n..(i + 1) * n].iter().map(|&d| f64::from(d).powi(2)).sum::<f64>(),
            Square::Double(table) => table[i * n..(i + 1) * n].iter().map(|d| d * d).sum(),
        };
        let sums: Vec<f64> = (0..n).into_par_iter().map(rows).collect();
        let both = sums.iter().sum::<f64>();
        if both <= 0.0 || !both.is_finite() {
            return Err(Error::data("all points coincide, so that any map has no stress; give points that differ"));
        }
        Ok(Raw { table, n, unit: (both / (n as f64 - 1.0)).sqrt(), total: 0.5 * both })
    }
}

impl Emphasized for Raw {
    fn value(&mut self, y: &[f64], _emphasis: f64, slope: &mut [f64]) -> f64 {
        match &self.table {
            Square::Single(table) => stress(table, 1.0 / self.unit, self.n, y, slope),
            Square::Double(table) => stress(table, 1.0 / self.unit, self.n, y, slope),
        }
    }
}

impl Energy for Raw {
    fn in_units(&self, value: f64) -> f64 {
        2.0 * self.n as f64 * value * self.unit * self.unit
    }

    fn figures(&mut self, _y: &[f64], value: f64) -> Vec<(&'static str, f64)> {
        vec![("normalized_stress", (self.in_units(value) / self.total).max(0.0).sqrt())]
    }

    fn solver(&self) -> String {
        "majorization, then L-BFGS".into()
    }
}

/// The value and the slope, row by row in parallel; every row in lanes, in a fixed order.
fn stress<R: Real>(table: &[R], factor: f64, n: usize, y: &[f64], slope: &mut [f64]) -> f64 {
    let dims = y.len() / n;
    // One coordinate after the other, so that the lanes are side by side; padded to whole lanes.
    let padded = n.next_multiple_of(LANES);
    let mut columns = vec![0.0; padded * dims];
    for (i, row) in y.chunks_exact(dims).enumerate() {
        row.iter().enumerate().for_each(|(q, &value)| columns[q * padded + i] = value);
    }
    let rows = slope.par_chunks_mut(dims).enumerate();
    let values: Vec<f64> = rows
        .map(|(i, slope)| {
            let row = Row { lengths: &table[i * n..(i + 1) * n], factor, columns: &columns, padded, at: i, slope };
            pulp::Arch::new().dispatch(row)
        })
        .collect();
    slope.iter_mut().for_each(|slope| *slope /= n as f64);
    0.25 * values.iter().sum::<f64>() / n as f64
}

/// One row of the sum.
struct Row<'a, R> {
    lengths: &'a [R],
    factor: f64,
    columns: &'a [f64],
    padded: usize,
    at: usize,
    slope: &'a mut [f64],
}

impl<R: Real> pulp::WithSimd for Row<'_, R> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> f64 {
        let Row { lengths, factor, columns, padded, at, slope } = self;
        match slope.len() {
            1 => row::<R, 1>(lengths, factor, columns, padded, at, slope),
            2 => row::<R, 2>(lengths, factor, columns, padded, at, slope),
            3 => row::<R, 3>(lengths, factor, columns, padded, at, slope),
            _ => row_of_many(lengths, factor, columns, padded, at, slope),
        }
    }
}

/// Σⱼ (δ − d)², with Σⱼ (1 − δ/d) (y[i] − y[j]) written.
#[inline(always)]
fn row<R: Real, const D: usize>(
    lengths: &[R],
    factor: f64,
    columns: &[f64],
    padded: usize,
    at: usize,
    slope: &mut [f64],
) -> f64 {
    let own: [f64; D] = std::array::from_fn(|q| columns[q * padded + at]);
    let (mut pulls, mut sums) = ([[0.0; LANES]; D], [0.0; LANES]);
    for (block, start) in lengths.chunks(LANES).zip((0..).step_by(LANES)) {
        let mut wanted = [0.0; LANES];
        wanted.iter_mut().zip(block).for_each(|(wanted, length)| *wanted = length.widen() * factor);
        let mut away = [[0.0; LANES]; D];
        let mut square = [0.0; LANES];
        for q in 0..D {
            for l in 0..LANES {
                away[q][l] = own[q] - columns[q * padded + start + l];
                square[l] += away[q][l] * away[q][l];
            }
        }
        // The padding and the point itself add nothing.
        let used = block.len();
        let mut pull = [0.0; LANES];
        for l in 0..LANES {
            let distance = square[l].sqrt();
            let off = wanted[l] - distance;
            let counts = if l < used { 1.0 } else { 0.0 };
            sums[l] += counts * off * off;
            pull[l] = if distance > 0.0 { counts * (1.0 - wanted[l] / distance) } else { 0.0 };
        }
        for q in 0..D {
            for l in 0..LANES {
                pulls[q][l] += pull[l] * away[q][l];
            }
        }
    }
    slope.iter_mut().zip(&pulls).for_each(|(slope, pulls)| *slope = pulls.iter().sum());
    sums.iter().sum()
}

/// As [`row`], in any number of dimensions.
#[inline(always)]
fn row_of_many<R: Real>(
    lengths: &[R],
    factor: f64,
    columns: &[f64],
    padded: usize,
    at: usize,
    slope: &mut [f64],
) -> f64 {
    let own: Vec<f64> = (0..slope.len()).map(|q| columns[q * padded + at]).collect();
    slope.fill(0.0);
    let mut sum = 0.0;
    for (j, length) in lengths.iter().enumerate() {
        let (wanted, mut square) = (length.widen() * factor, 0.0);
        for (q, own) in own.iter().enumerate() {
            square += (own - columns[q * padded + j]).powi(2);
        }
        let distance = square.sqrt();
        sum += (wanted - distance).powi(2);
        let pull = if distance > 0.0 { 1.0 - wanted / distance } else { 0.0 };
        for (q, (slope, own)) in slope.iter_mut().zip(&own).enumerate() {
            *slope += pull * (own - columns[q * padded + j]);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(n: usize) -> Raw {
        let distance = |at: usize| {
            let (i, j) = ((at / n).min(at % n), (at / n).max(at % n));
            if i == j { 0.0 } else { 1.0 + ((i * 7 + j * 13) % 11) as f64 / 5.0 }
        };
        Raw::new(Square::Double((0..n * n).map(distance).collect()), n).unwrap()
    }

    #[test]
    fn the_slope_is_the_central_difference_in_any_dimension() {
        let n = 19;
        let mut raw = objective(n);
        for dims in 1..=5 {
            let y: Vec<f64> = (0..n * dims).map(|at| ((at * 37 + at * at) % 23) as f64 / 40.0).collect();
            let (mut slope, mut unused) = (vec![0.0; y.len()], vec![0.0; y.len()]);
            raw.value(&y, 1.0, &mut slope);
            for at in (0..y.len()).step_by(5) {
                let mut moved = |step: f64| {
                    let mut y = y.clone();
                    y[at] += step;
                    raw.value(&y, 1.0, &mut unused)
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((slope[at] - difference).abs() < 1e-7, "{dims}: {} {difference}", slope[at]);
            }
        }
    }

    /// Two points at distance 3 are placed at distance 3: by hand, one majorization step from anywhere.
    #[test]
    fn one_majorization_step_puts_two_points_right() {
        let mut raw = Raw::new(Square::Double(vec![0.0, 3.0, 3.0, 0.0]), 2).unwrap();
        let start = [0.0, 0.1];
        let mut slope = [0.0; 2];
        raw.value(&start, 1.0, &mut slope);
        let step: Vec<f64> = start.iter().zip(slope).map(|(y, slope)| y - slope).collect();
        assert!(((step[1] - step[0]) * raw.unit - 3.0).abs() < 1e-12, "{step:?}");
        assert!(raw.value(&step, 1.0, &mut slope).abs() < 1e-24);
    }

    #[test]
    fn majorization_never_raises_the_stress() {
        let mut raw = objective(40);
        let mut y: Vec<f64> = (0..80).map(|at| ((at * 29 + at * at) % 31) as f64 / 90.0).collect();
        let mut slope = vec![0.0; 80];
        let mut last = raw.value(&y, 1.0, &mut slope);
        for _ in 0..50 {
            y.iter_mut().zip(&slope).for_each(|(y, slope)| *y -= slope);
            let next = raw.value(&y, 1.0, &mut slope);
            assert!(next <= last * (1.0 + 1e-14), "{next} {last}");
            last = next;
        }
    }
}

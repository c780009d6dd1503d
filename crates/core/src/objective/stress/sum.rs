//! The sum of weighted squared differences, with its gradient.

use super::table::{Dissimilarities, Square};
use crate::field::Energy;
use crate::figure::Figure;
use eigenfold_graph::paths::sweep::Real;
use eigenfold_linalg::optimize::Emphasized;
use eigenfold_linalg::parallel;

/// The number of SIMD lanes.
const LANES: usize = 8;

/// σ(Y)/2n, over coordinates in units of √n times the root mean square distance, with weights of mean one: then its
/// curvature is about one, and without weights the coordinates minus its gradient are the majorization step.
pub(super) struct Weighted {
    dissimilarities: Dissimilarities,
    /// The transformation of a row.
    scale: Scale,
    /// Σ_{i<j} w δ², in the units of the data, for w = δ⁻ᵖ.
    total: f64,
    /// Whether the value is reported as a fraction of that.
    relative: bool,
}

/// The transformation of a given distance δ: the target is `factor` δ, with weight `weight` (factor δ)⁻ᵖ.
#[derive(Clone, Copy)]
struct Scale {
    factor: f64,
    weight: f64,
    power: u8,
}

impl Weighted {
    pub(super) fn new(dissimilarities: Dissimilarities, power: u8, relative: bool) -> Weighted {
        let n = dissimilarities.len() as f64;
        let factor = 1.0 / dissimilarities.unit;
        let scale = Scale { factor, weight: 1.0, power };
        let all = dissimilarities.rows(|row| row.iter().map(|d| scale.of(d * factor)).sum());
        let weight = if power == 0 { 1.0 } else { n * (n - 1.0) / all };
        let total = 0.5 * dissimilarities.rows(|row| row.iter().map(|d| scale.of(*d) * d * d).sum());
        Weighted { dissimilarities, scale: Scale { weight, ..scale }, total, relative }
    }

    /// The mean weight of each point; `None` if all are one.
    pub(super) fn degrees(&self) -> Option<Vec<f64>> {
        let (n, Scale { factor, power, .. }) = (self.dissimilarities.len(), self.scale);
        let weight = |i: usize, j: usize| self.scale.of(self.dissimilarities.distance(i, j) * factor);
        let degree = |i: usize| ((0..n).map(|j| weight(i, j)).sum::<f64>() / n as f64).max(f64::MIN_POSITIVE);
        (power > 0).then(|| parallel::collect(n, degree))
    }

    /// σ in the units of the data.
    fn stress(&self, value: f64) -> f64 {
        let unit = self.dissimilarities.unit.powi(2 - i32::from(self.scale.power));
        2.0 * self.dissimilarities.len() as f64 * value * unit / self.scale.weight
    }
}

impl Scale {
    /// The weight of a target distance; zero where points coincide, unless all weights are equal.
    #[inline(always)]
    fn of(&self, wanted: f64) -> f64 {
        match self.power {
            0 => self.weight,
            _ if wanted <= 0.0 => 0.0,
            1 => self.weight / wanted,
            _ => self.weight / (wanted * wanted),
        }
    }
}

impl Emphasized for Weighted {
    fn value(&mut self, y: &[f64], _emphasis: f64, gradient: &mut [f64]) -> f64 {
        match &self.dissimilarities.square {
            Square::Single(table) => stress(table, self.scale, self.dissimilarities.len(), y, gradient),
            Square::Double(table) => stress(table, self.scale, self.dissimilarities.len(), y, gradient),
        }
    }
}

impl Energy for Weighted {
    fn in_units(&self, value: f64) -> f64 {
        self.stress(value) / if self.relative { self.total } else { 1.0 }
    }

    fn figures(&mut self, _y: &[f64], value: f64) -> Vec<(Figure, f64)> {
        vec![(Figure::NormalizedStress, (self.stress(value) / self.total).max(0.0).sqrt())]
    }

    fn solver(&self) -> String {
        if self.scale.power == 0 { "majorization, then L-BFGS" } else { "L-BFGS in the metric of the weights" }.into()
    }
}

/// The value and the gradient, row by row in parallel; every row in SIMD lanes, in a fixed order.
fn stress<R: Real>(table: &[R], scale: Scale, n: usize, y: &[f64], gradient: &mut [f64]) -> f64 {
    let dims = y.len() / n;
    // One coordinate after the other, so that the lanes are contiguous; padded to whole lanes.
    let padded = n.next_multiple_of(LANES);
    let mut columns = vec![0.0; padded * dims];
    for (i, row) in y.chunks_exact(dims).enumerate() {
        row.iter().enumerate().for_each(|(q, &value)| columns[q * padded + i] = value);
    }
    let values: Vec<f64> = parallel::collect_chunks_mut(gradient, dims, |i, gradient| {
        let row = Row { lengths: &table[i * n..(i + 1) * n], scale, columns: &columns, padded, at: i, gradient };
        pulp::Arch::new().dispatch(row)
    });
    gradient.iter_mut().for_each(|gradient| *gradient /= n as f64);
    0.25 * values.iter().sum::<f64>() / n as f64
}

/// One row of the sum.
struct Row<'a, R> {
    lengths: &'a [R],
    scale: Scale,
    columns: &'a [f64],
    padded: usize,
    at: usize,
    gradient: &'a mut [f64],
}

impl<R: Real> pulp::WithSimd for Row<'_, R> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> f64 {
        match self.gradient.len() {
            1 => self.sum::<1>(),
            2 => self.sum::<2>(),
            3 => self.sum::<3>(),
            _ => self.sum_of_many(),
        }
    }
}

impl<R: Real> Row<'_, R> {
    /// Σⱼ w (δ − d)², with Σⱼ w (1 − δ/d) (y[i] − y[j]) written.
    #[inline(always)]
    fn sum<const D: usize>(self) -> f64 {
        let Row { lengths, scale, columns, padded, at, gradient } = self;
        let own: [f64; D] = std::array::from_fn(|q| columns[q * padded + at]);
        let (mut forces, mut sums) = ([[0.0; LANES]; D], [0.0; LANES]);
        for (block, start) in lengths.chunks(LANES).zip((0..).step_by(LANES)) {
            let mut wanted = [0.0; LANES];
            wanted.iter_mut().zip(block).for_each(|(wanted, length)| *wanted = length.widen() * scale.factor);
            let mut away = [[0.0; LANES]; D];
            let mut square = [0.0; LANES];
            for q in 0..D {
                for l in 0..LANES {
                    away[q][l] = own[q] - columns[q * padded + start + l];
                    square[l] += away[q][l] * away[q][l];
                }
            }
            // The padding and the point itself add nothing.
            let mut counts = [scale.weight; LANES];
            counts[block.len()..].fill(0.0);
            if scale.power > 0 {
                let by = |wanted: f64| if scale.power == 1 { 1.0 / wanted } else { 1.0 / (wanted * wanted) };
                for l in 0..LANES {
                    counts[l] = if wanted[l] > 0.0 { counts[l] * by(wanted[l]) } else { 0.0 };
                }
            }
            let mut force = [0.0; LANES];
            for l in 0..LANES {
                let distance = square[l].sqrt();
                let off = wanted[l] - distance;
                sums[l] += counts[l] * off * off;
                force[l] = if distance > 0.0 { counts[l] * (1.0 - wanted[l] / distance) } else { 0.0 };
            }
            for q in 0..D {
                for l in 0..LANES {
                    forces[q][l] += force[l] * away[q][l];
                }
            }
        }
        gradient.iter_mut().zip(&forces).for_each(|(gradient, forces)| *gradient = forces.iter().sum());
        sums.iter().sum()
    }

    /// As [`Row::sum`], in any number of dimensions.
    #[inline(always)]
    fn sum_of_many(self) -> f64 {
        let Row { lengths, scale, columns, padded, at, gradient } = self;
        let own: Vec<f64> = (0..gradient.len()).map(|q| columns[q * padded + at]).collect();
        gradient.fill(0.0);
        let mut sum = 0.0;
        for (j, length) in lengths.iter().enumerate() {
            let (wanted, mut square) = (length.widen() * scale.factor, 0.0);
            for (q, own) in own.iter().enumerate() {
                square += (own - columns[q * padded + j]).powi(2);
            }
            let (distance, counts) = (square.sqrt(), scale.of(wanted));
            sum += counts * (wanted - distance).powi(2);
            let force = if distance > 0.0 { counts * (1.0 - wanted / distance) } else { 0.0 };
            for (q, (gradient, own)) in gradient.iter_mut().zip(&own).enumerate() {
                *gradient += force * (own - columns[q * padded + j]);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(n: usize, table: Vec<f64>, power: u8) -> Weighted {
        Weighted::new(Dissimilarities::of(table, n), power, false)
    }

    fn objective(n: usize, power: u8) -> Weighted {
        let distance = |at: usize| {
            let (i, j) = ((at / n).min(at % n), (at / n).max(at % n));
            if i == j { 0.0 } else { 1.0 + ((i * 7 + j * 13) % 11) as f64 / 5.0 }
        };
        weighted(n, (0..n * n).map(distance).collect(), power)
    }

    #[test]
    fn the_gradient_is_the_central_difference_in_any_dimension() {
        let n = 19;
        for (dims, power) in (1..=5).flat_map(|dims| (0..3).map(move |power| (dims, power))) {
            let mut raw = objective(n, power);
            let y: Vec<f64> = (0..n * dims).map(|at| ((at * 37 + at * at) % 23) as f64 / 40.0).collect();
            let (mut gradient, mut unused) = (vec![0.0; y.len()], vec![0.0; y.len()]);
            raw.value(&y, 1.0, &mut gradient);
            for at in (0..y.len()).step_by(5) {
                let mut moved = |step: f64| {
                    let mut y = y.clone();
                    y[at] += step;
                    raw.value(&y, 1.0, &mut unused)
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[at] - difference).abs() < 1e-7, "{dims} {power}: {} {difference}", gradient[at]);
            }
        }
    }

    /// Two points at distance 3 are embedded at distance 3: by hand, one majorization step from anywhere.
    #[test]
    fn one_majorization_step_puts_two_points_right() {
        let mut raw = weighted(2, vec![0.0, 3.0, 3.0, 0.0], 0);
        let start = [0.0, 0.1];
        let mut gradient = [0.0; 2];
        raw.value(&start, 1.0, &mut gradient);
        let step: Vec<f64> = start.iter().zip(gradient).map(|(y, gradient)| y - gradient).collect();
        assert!(((step[1] - step[0]) * raw.dissimilarities.unit - 3.0).abs() < 1e-12, "{step:?}");
        assert!(raw.value(&step, 1.0, &mut gradient).abs() < 1e-24);
    }

    #[test]
    fn majorization_never_raises_the_stress() {
        let mut raw = objective(40, 0);
        let mut y: Vec<f64> = (0..80).map(|at| ((at * 29 + at * at) % 31) as f64 / 90.0).collect();
        let mut gradient = vec![0.0; 80];
        let mut last = raw.value(&y, 1.0, &mut gradient);
        for _ in 0..50 {
            y.iter_mut().zip(&gradient).for_each(|(y, gradient)| *y -= gradient);
            let next = raw.value(&y, 1.0, &mut gradient);
            assert!(next <= last * (1.0 + 1e-14), "{next} {last}");
            last = next;
        }
    }
}

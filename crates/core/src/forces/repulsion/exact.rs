//! Sums of a radial kernel over all pairs of points, one by one.

use super::{Kernel, Sums};
use eigenfold_linalg::parallel;

/// Pairs that are added in SIMD lanes.
const LANES: usize = 8;

/// Weights of the pairs.
#[derive(Clone, Copy)]
pub(crate) enum Weights<'a> {
    /// 1.
    One,
    /// q[j], the charge of the other point.
    Charge(&'a [f64]),
    /// ‖y[i] − y[j]‖² of points with this many columns, stored one after the other.
    Squares(&'a [f64], usize),
    /// Given, row after row.
    Table(&'a [f32]),
}

/// Adds Σⱼ w[i,j] k(‖x[i] − x[j]‖²), j ≠ i, and its gradient for every point.
pub(crate) fn add(kernel: &Kernel, weights: Weights<'_>, points: &[f64], dims: usize, sums: &mut Sums) {
    let n = points.len() / dims;
    let padded = n.next_multiple_of(LANES);
    // One coordinate after the other, so that the lanes are contiguous.
    let mut columns = vec![0.0; padded * dims];
    for (i, row) in points.chunks_exact(dims).enumerate() {
        row.iter().enumerate().for_each(|(q, &x)| columns[q * padded + i] = x);
    }
    parallel::each_of(sums.values.iter_mut().zip(sums.gradients.chunks_mut(dims)), |i, (value, gradient)| {
        let row = Row { kernel, weights, columns: &columns, padded, n, i, gradient };
        *value += pulp::Arch::new().dispatch(row);
    });
}

/// Σⱼ k(‖x − y[j]‖²) at any position, with its gradient; optionally without one of the points.
pub(crate) fn one(kernel: &Kernel, points: &[f64], dims: usize, x: &[f64], without: Option<usize>) -> (f64, Vec<f64>) {
    let (mut value, mut gradient) = (0.0, vec![0.0; dims]);
    for (_, point) in points.chunks_exact(dims).enumerate().filter(|(j, _)| Some(*j) != without) {
        let square = x.iter().zip(point).map(|(a, b)| (a - b) * (a - b)).sum();
        value += kernel.value(square);
        let factor = 2.0 * kernel.derivative(square);
        gradient.iter_mut().zip(x.iter().zip(point)).for_each(|(gradient, (a, b))| *gradient += factor * (a - b));
    }
    (value, gradient)
}

/// One row of the sum.
struct Row<'a> {
    kernel: &'a Kernel,
    weights: Weights<'a>,
    columns: &'a [f64],
    padded: usize,
    n: usize,
    i: usize,
    gradient: &'a mut [f64],
}

impl pulp::WithSimd for Row<'_> {
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

impl Row<'_> {
    #[inline(always)]
    fn sum<const D: usize>(self) -> f64 {
        let own: [f64; D] = std::array::from_fn(|q| self.columns[q * self.padded + self.i]);
        let (mut values, mut gradients) = ([0.0; LANES], [[0.0; LANES]; D]);
        for start in (0..self.n).step_by(LANES) {
            let (mut away, mut square) = ([[0.0; LANES]; D], [0.0; LANES]);
            for q in 0..D {
                let other = &self.columns[q * self.padded + start..q * self.padded + start + LANES];
                for l in 0..LANES {
                    away[q][l] = own[q] - other[l];
                    square[l] += away[q][l] * away[q][l];
                }
            }
            let weight = self.weight(start);
            let (mut value, mut derivative) = self.kernel.lanes(&square);
            for l in 0..LANES {
                value[l] *= weight[l];
                derivative[l] *= weight[l];
                values[l] += value[l];
            }
            for q in 0..D {
                for l in 0..LANES {
                    gradients[q][l] += 2.0 * derivative[l] * away[q][l];
                }
            }
        }
        self.gradient.iter_mut().zip(&gradients).for_each(|(gradient, lanes)| *gradient += lanes.iter().sum::<f64>());
        values.iter().sum()
    }

    /// As [`Row::sum`], in any number of dimensions.
    #[inline(always)]
    fn sum_of_many(self) -> f64 {
        let dims = self.gradient.len();
        let mut values = [0.0; LANES];
        for start in (0..self.n).step_by(LANES) {
            let away =
                |q: usize, l: usize| self.columns[q * self.padded + self.i] - self.columns[q * self.padded + start + l];
            let mut square = [0.0; LANES];
            for q in 0..dims {
                for (l, square) in square.iter_mut().enumerate() {
                    *square += away(q, l) * away(q, l);
                }
            }
            let weight = self.weight(start);
            let (value, derivative) = self.kernel.lanes(&square);
            for l in 0..LANES {
                values[l] += weight[l] * value[l];
            }
            for q in 0..dims {
                self.gradient[q] += (0..LANES).map(|l| 2.0 * weight[l] * derivative[l] * away(q, l)).sum::<f64>();
            }
        }
        values.iter().sum()
    }

    /// The weights of a block of others: zero for the point itself and for the padding.
    #[inline(always)]
    fn weight(&self, start: usize) -> [f64; LANES] {
        let mut weight = [1.0; LANES];
        match self.weights {
            Weights::One => {}
            Weights::Charge(charges) => {
                for (weight, charge) in weight.iter_mut().zip(&charges[start..]) {
                    *weight = *charge;
                }
            }
            Weights::Table(table) => {
                let row = &table[self.i * self.n + start..(self.i + 1) * self.n];
                for (weight, given) in weight.iter_mut().zip(row) {
                    *weight = f64::from(*given);
                }
            }
            Weights::Squares(features, count) => {
                weight = [0.0; LANES];
                for c in 0..count {
                    let column = &features[c * self.n..(c + 1) * self.n];
                    let (own, rest) = (column[self.i], &column[start..]);
                    for (weight, other) in weight.iter_mut().zip(rest) {
                        *weight += (own - other) * (own - other);
                    }
                }
            }
        }
        let used = self.n - start;
        if used < LANES {
            weight[used..].fill(0.0);
        }
        if (start..start + LANES).contains(&self.i) {
            weight[self.i - start] = 0.0;
        }
        weight
    }
}

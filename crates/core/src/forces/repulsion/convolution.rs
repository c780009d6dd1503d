//! Convolution of values on a grid of one, two or three axes with a radial kernel, by fast Fourier transforms.
//!
//! There are always three axes; unused ones have one node. Every used axis is padded to twice its length, so that
//! nothing wraps around, and rows of padding are not transformed.

use super::spline::Real;
use eigenfold_fft::{Complex, ComplexPlans, RealPlans, Transformed};
use eigenfold_linalg::parallel::{self, Scratch};

/// Rows per chunk of parallel work, and columns that are transposed together.
const TILE: usize = 16;

/// A grid of this many nodes, and the kernel's transform over it.
pub(super) struct Convolution<T: Real> {
    /// Nodes along each axis.
    pub(super) used: [usize; 3],
    /// Nodes along each axis with the padding.
    pub(super) padded: [usize; 3],
    /// The transform of the kernel: real, and even along the first two axes, so
    /// that half of each is kept; the last axis is slowest, the first fastest.
    spectrum: Vec<T>,
    rows: RealPlans<T>,
    columns: ComplexPlans<T>,
    towers: ComplexPlans<T>,
    lines: Vec<Complex<T>>,
    turned: Vec<Complex<T>>,
    stood: Vec<Complex<T>>,
}

impl<T: Real> Convolution<T> {
    /// For at least this many nodes along each axis (1 for an unused axis), `spacing` apart, and a kernel of the
    /// squared distance.
    pub(super) fn new<const W: usize>(least: [usize; 3], spacing: f64, kernel: impl Fn(f64) -> f64 + Sync) -> Self {
        let padded = least.map(|nodes| if nodes == 1 { 1 } else { good_size(2 * nodes) });
        let used = padded.map(|nodes| (nodes / 2).max(1));
        let spectrum = spectrum::<W>(padded, spacing, kernel);
        let wide = padded[2] / 2 + 1;
        let columns = if padded[1] > 1 { used[0] * wide * padded[1] } else { 0 };
        let towers = if padded[0] > 1 { wide * padded[1] * padded[0] } else { 0 };
        Convolution {
            used,
            padded,
            spectrum: spectrum.into_iter().map(T::round).collect(),
            rows: T::real_plans(padded[2]),
            columns: T::complex_plans(padded[1]),
            towers: T::complex_plans(padded[0]),
            lines: vec![Complex::default(); used[0] * used[1] * wide],
            turned: vec![Complex::default(); columns],
            stood: vec![Complex::default(); towers],
        }
    }

    /// The number of values of a grid: its rows with their padding.
    pub(super) fn nodes(&self) -> usize {
        self.used[0] * self.used[1] * self.padded[2]
    }

    /// Convolves a grid in place.
    pub(super) fn apply(&mut self, grid: &mut [T]) {
        let (long, wide) = (self.padded[2], self.padded[2] / 2 + 1);
        let (forward, back) = self.rows.clone();
        let scratch = Scratch::new(|| forward.make_scratch_vec());
        let tiles = grid.chunks_mut(long * TILE).zip(self.lines.chunks_mut(wide * TILE));
        parallel::each_of(tiles, |_, (grid, lines)| {
            scratch.lend(|scratch| {
                for (row, line) in grid.chunks_exact_mut(long).zip(lines.chunks_exact_mut(wide)) {
                    // Lengths are those of the plan.
                    let _ = forward.process_with_scratch(row, line, scratch);
                }
            });
        });
        if self.padded[1] == 1 {
            self.lines.iter_mut().zip(&self.spectrum).for_each(|(wave, &factor)| *wave = *wave * factor);
        } else {
            self.across();
        }
        let scratch = Scratch::new(|| back.make_scratch_vec());
        let tiles = grid.chunks_mut(long * TILE).zip(self.lines.chunks_mut(wide * TILE));
        parallel::each_of(tiles, |_, (grid, lines)| {
            scratch.lend(|scratch| {
                for (row, line) in grid.chunks_exact_mut(long).zip(lines.chunks_exact_mut(wide)) {
                    // Real at both ends, up to rounding.
                    (line[0].im, line[wide - 1].im) = (T::default(), T::default());
                    let _ = back.process_with_scratch(line, row, scratch);
                }
            });
        });
    }

    /// Along the second axis, and the first.
    fn across(&mut self) {
        let (deep, wide) = (self.padded[1], self.padded[2] / 2 + 1);
        let half = deep / 2 + 1;
        let (used, flat) = (self.used[1], self.padded[0] == 1);
        let (forward, back) = &self.columns;
        let length = forward.get_inplace_scratch_len().max(back.get_inplace_scratch_len());
        let scratch = Scratch::new(|| vec![Complex::default(); length]);
        let (lines, spectrum) = (&self.lines, &self.spectrum);
        // Columns of one plane after those of another; each tile of columns lies in one plane.
        parallel::chunks_mut(&mut self.turned, deep * wide, |plane, turned| {
            let lines = &lines[plane * used * wide..(plane + 1) * used * wide];
            parallel::chunks_mut(turned, deep * TILE, |tile, columns| {
                let (first, count) = (tile * TILE, columns.len() / deep);
                for i in 0..used {
                    let line = &lines[i * wide + first..i * wide + first + count];
                    line.iter().enumerate().for_each(|(c, &wave)| columns[c * deep + i] = wave);
                }
                let transform = |(c, column): (usize, &mut [Complex<T>]), scratch: &mut [Complex<T>]| {
                    column[used..].fill(Complex::default());
                    forward.process_with_scratch(column, scratch);
                    if flat {
                        let factors = &spectrum[(first + c) * half..(first + c + 1) * half];
                        // Even: the second half mirrors the first.
                        let mirrored = factors.iter().chain(factors[1..deep - half + 1].iter().rev());
                        column.iter_mut().zip(mirrored).for_each(|(wave, &factor)| *wave = *wave * factor);
                        back.process_with_scratch(column, scratch);
                    }
                };
                let columns = columns.chunks_exact_mut(deep).enumerate();
                scratch.lend(|scratch| columns.for_each(|column| transform(column, scratch)));
            });
        });
        if !flat {
            self.upward();
            let back = &self.columns.1;
            let scratch = Scratch::new(|| vec![Complex::default(); back.get_inplace_scratch_len()]);
            parallel::chunks_mut(&mut self.turned, deep * TILE, |_, columns| {
                let columns = columns.chunks_exact_mut(deep);
                scratch.lend(|scratch| columns.for_each(|column| back.process_with_scratch(column, scratch)));
            });
        }
        let turned = &self.turned;
        parallel::chunks_mut(&mut self.lines, used * wide, |plane, lines| {
            let turned = &turned[plane * wide * deep..(plane + 1) * wide * deep];
            parallel::chunks_mut(lines, wide * TILE, |tile, lines| {
                let (first, count) = (tile * TILE, lines.len() / wide);
                for c in 0..wide {
                    let column = &turned[c * deep + first..c * deep + first + count];
                    column.iter().enumerate().for_each(|(i, &wave)| lines[i * wide + c] = wave);
                }
            });
        });
    }

    /// Along the first axis, with the kernel: through all planes.
    fn upward(&mut self) {
        let (high, deep, wide) = (self.padded[0], self.padded[1], self.padded[2] / 2 + 1);
        let (area, half, tall) = (wide * deep, deep / 2 + 1, high / 2 + 1);
        let used = self.used[0];
        let (forward, back) = &self.towers;
        let length = forward.get_inplace_scratch_len().max(back.get_inplace_scratch_len());
        let scratch = Scratch::new(|| vec![Complex::default(); length]);
        let (turned, spectrum) = (&self.turned, &self.spectrum);
        parallel::chunks_mut(&mut self.stood, high * TILE, |tile, towers| {
            let (first, count) = (tile * TILE, towers.len() / high);
            for plane in 0..used {
                let waves = &turned[plane * area + first..plane * area + first + count];
                waves.iter().enumerate().for_each(|(t, &wave)| towers[t * high + plane] = wave);
            }
            let transform = |(t, tower): (usize, &mut [Complex<T>]), scratch: &mut [Complex<T>]| {
                tower[used..].fill(Complex::default());
                forward.process_with_scratch(tower, scratch);
                let (column, row) = ((first + t) / deep, (first + t) % deep);
                let at = column * half + row.min(deep - row);
                let factors = &spectrum[at * tall..(at + 1) * tall];
                let mirrored = factors.iter().chain(factors[1..high - tall + 1].iter().rev());
                tower.iter_mut().zip(mirrored).for_each(|(wave, &factor)| *wave = *wave * factor);
                back.process_with_scratch(tower, scratch);
            };
            let towers = towers.chunks_exact_mut(high).enumerate();
            scratch.lend(|scratch| towers.for_each(|tower| transform(tower, scratch)));
        });
        let stood = &self.stood;
        parallel::chunks_mut(&mut self.turned, area, |plane, turned| {
            turned.iter_mut().enumerate().for_each(|(at, wave)| *wave = stood[at * high + plane]);
        });
    }
}

/// The smallest even 2^a 3^b 5^c (b up to 3, c up to 1) that is at least `least`: lengths whose transforms are fast.
fn good_size(least: usize) -> usize {
    let odd = (0..4).flat_map(|b| (0..2).map(move |c| 3usize.pow(b) * 5usize.pow(c)));
    odd.map(|odd| odd * (least.div_ceil(odd)).next_power_of_two().max(2)).min().unwrap_or(least)
}

/// The optimal transform of the kernel over the padded grid: of all factors for the waves, those closest to the kernel,
/// by least squares over all positions of points between the nodes.
///
/// ```text
/// K[k] = Σₘ K̂(k + m) Ŵ(k + m)² / (Σₘ Ŵ(k + m)²)²,    Ŵ(θ) = (sin(θ/2) / (θ/2))^W  along every axis
/// ```
///
/// over the waves k + m that are aliases at the nodes; the nearest two are used. The kernel is sampled twice as densely
/// for them. R. W. Hockney, J. W. Eastwood. Computer Simulation Using Particles, 1981, section 8-3.
fn spectrum<const W: usize>(padded: [usize; 3], spacing: f64, kernel: impl Fn(f64) -> f64 + Sync) -> Vec<f64> {
    let is_used = padded.map(|nodes| nodes > 1);
    let half = padded.map(|nodes| if nodes > 1 { nodes / 2 + 1 } else { 1 });
    let dense = padded.map(|nodes| if nodes > 1 { nodes + 1 } else { 1 });
    let h = 0.5 * spacing;
    // The first axis is fastest: the value at (i0, i1, i2) has index (i2 dense1 + i1) dense0 + i0.
    let mut values = vec![0.0; dense.iter().product()];
    parallel::chunks_mut(&mut values, dense[0], |at, line| {
        let (i1, i2) = (at % dense[1], at / dense[1]);
        let flat = ((i1 * i1 + i2 * i2) as f64) * h * h;
        line.iter_mut().enumerate().for_each(|(i0, value)| *value = kernel(flat + (i0 * i0) as f64 * h * h));
    });
    // Each axis in turn becomes the fastest; after three transpositions the order is restored.
    for axis in 0..3 {
        if is_used[axis] {
            even_transform(&mut values, dense[axis], 2 * padded[axis]);
        }
        values = turned(&values, dense[axis]);
    }
    let shares: Vec<Vec<[(usize, f64); 2]>> = (0..3).map(|axis| shares::<W>(padded[axis], half[axis])).collect();
    let mut spectrum = vec![0.0; half.iter().product()];
    parallel::chunks_mut(&mut spectrum, half[0], |at, line| {
        let (s1, s2) = (&shares[1][at % half[1]], &shares[2][at / half[1]]);
        for (value, s0) in line.iter_mut().zip(&shares[0]) {
            for (i2, w2) in s2 {
                for (i1, w1) in s1 {
                    for (i0, w0) in s0 {
                        *value += w0 * w1 * w2 * values[(i2 * dense[1] + i1) * dense[0] + i0];
                    }
                }
            }
        }
    });
    spectrum
}

/// The two waves of the dense transform that a wave of the grid represents, with their factors, including those of the
/// transform's size and of the dense sampling.
fn shares<const W: usize>(padded: usize, half: usize) -> Vec<[(usize, f64); 2]> {
    if padded == 1 {
        return vec![[(0, 1.0), (0, 0.0)]];
    }
    let response = |k: f64| {
        let angle = std::f64::consts::PI * k / padded as f64;
        if angle.abs() < 1e-12 { 1.0 } else { (angle.sin() / angle).powi(2 * W as i32) }
    };
    let share = |k: usize| {
        let (near, far) = (response(k as f64), response(k as f64 - padded as f64));
        let factor = 0.5 / (padded as f64 * (near + far).powi(2));
        [(k, near * factor), (padded - k, far * factor)]
    };
    (0..half).map(share).collect()
}

/// Replaces every line by the transform of the even sequence of `length` whose first half and middle it is.
fn even_transform(values: &mut [f64], line: usize, length: usize) {
    let plan = f64::real_plans(length).0;
    let space = Scratch::new(|| (plan.make_input_vec(), plan.make_output_vec(), plan.make_scratch_vec()));
    parallel::chunks_mut(values, line * TILE, |_, lines| {
        let transform = |line: &mut [f64], (input, output, scratch): &mut (Vec<f64>, Vec<_>, Vec<_>)| {
            let mirrored = line.iter().chain(line[1..line.len() - 1].iter().rev());
            input.iter_mut().zip(mirrored).for_each(|(input, value)| *input = *value);
            let _ = plan.process_with_scratch(input, output, scratch);
            line.iter_mut().zip(output.iter()).for_each(|(value, wave)| *value = wave.re);
        };
        space.lend(|space| lines.chunks_exact_mut(line).for_each(|line| transform(line, space)));
    });
}

/// The same numbers with the fastest axis, of that length, as the slowest.
fn turned(values: &[f64], fastest: usize) -> Vec<f64> {
    let rest = values.len() / fastest;
    let mut out = vec![0.0; values.len()];
    parallel::chunks_mut(&mut out, rest, |i, row| {
        row.iter_mut().enumerate().for_each(|(j, value)| *value = values[j * fastest + i]);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_sizes_are_even_and_close() {
        for least in 1..2000 {
            let size = good_size(least);
            assert!(size >= least && size.is_multiple_of(2) && size < 2 * least + 2, "{least} {size}");
        }
        assert_eq!((good_size(1000), good_size(257), good_size(1)), (1024, 270, 2));
    }
}

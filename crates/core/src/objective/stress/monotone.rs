//! Nonmetric stress: only the order of the given distances counts.
//!
//! ```text
//! minimize S(Y) = Σ_{i<j} (d[i,j] − d̂[i,j])² / Σ_{i<j} d[i,j]²,    d the distances on the map,
//! d̂ the numbers nearest to d that are in the order of the given distances (isotonic regression)
//! ```
//!
//! d̂ is optimal for every Y, so that the gradient of S in Y is that with d̂ fixed: S is smooth wherever no two points
//! meet, and is minimized like any other objective. √S is Kruskal's stress-1. Pairs whose given distances are equal may
//! have their d̂ in any order (his primary approach to ties).
//!
//! J. B. Kruskal. Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis. Psychometrika 29(1),
//! 1964, and Nonmetric multidimensional scaling: a numerical method, 29(2). The regression, by pooling adjacent violators:
//! M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid, E. Silverman. Annals of Mathematical Statistics 26(4), 1955.

use super::table::Dissimilarities;
use crate::field::Energy;
use crate::figure::Figure;
use crate::warning::Warning;
use eigenfold_linalg::optimize::Emphasized;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use rayon::prelude::*;

/// Pairs per chunk of parallel work.
const CHUNK: usize = 1 << 16;
/// The number of distances at which the regression is reported.
const KNOTS: usize = 200;
/// Below this stress any order is satisfied: the map is degenerate.
const DEGENERATE: f64 = 1e-6;

/// Nonmetric stress.
pub(super) struct Monotone {
    n: usize,
    unit: f64,
    /// The pairs by their given distances, smallest first.
    pairs: Vec<(u32, u32)>,
    dissimilarities: Vec<f64>,
    /// The ranges of pairs with equal given distances: the first, and the one after the last.
    ties: Vec<(usize, usize)>,
    /// d and d̂ of the pairs, in the same order.
    lengths: Vec<f64>,
    fitted: Vec<f64>,
}

impl Monotone {
    /// The bytes required beyond the table.
    pub(super) fn memory(n: usize) -> u64 {
        16 * (n as u64).saturating_mul(n as u64)
    }

    pub(super) fn new(dissimilarities: &Dissimilarities) -> Monotone {
        let n = dissimilarities.len();
        let row = |i: usize| -> Vec<(f64, (u32, u32))> {
            (0..i).map(|j| (dissimilarities.distance(i, j), (i as u32, j as u32))).collect()
        };
        let mut sorted = parallel::collect(n, row).concat();
        sorted.par_sort_unstable_by(sort::by_key);
        let (lengths, pairs): (Vec<f64>, Vec<(u32, u32)>) = sorted.into_iter().unzip();
        let (mut ties, mut first) = (Vec::new(), 0);
        for at in 1..=lengths.len() {
            if at == lengths.len() || lengths[at] != lengths[first] {
                if at - first > 1 {
                    ties.push((first, at));
                }
                first = at;
            }
        }
        let (unit, fitted) = (dissimilarities.unit, vec![0.0; pairs.len()]);
        Monotone { n, unit, pairs, dissimilarities: lengths.clone(), ties, lengths, fitted }
    }

    /// d and d̂ of a map, and Σ (d − d̂)² and Σ d².
    fn regress(&mut self, y: &[f64]) -> (f64, f64) {
        let dims = y.len() / self.n;
        let row = |i: u32| &y[i as usize * dims..(i as usize + 1) * dims];
        let length =
            |&(i, j): &(u32, u32)| row(i).iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        parallel::fill(&mut self.lengths, |at| length(&self.pairs[at]));
        for &(first, end) in &self.ties {
            let (lengths, pairs) = (&mut self.lengths[first..end], &mut self.pairs[first..end]);
            let mut both: Vec<(f64, (u32, u32))> = lengths.iter().copied().zip(pairs.iter().copied()).collect();
            both.sort_unstable_by(sort::by_key);
            for (at, (length, pair)) in both.into_iter().enumerate() {
                (lengths[at], pairs[at]) = (length, pair);
            }
        }
        isotonic(&self.lengths, &mut self.fitted);
        let chunk = |_: usize, (d, fitted): (&[f64], &[f64])| {
            let off = d.iter().zip(fitted).map(|(d, f)| (d - f) * (d - f)).sum::<f64>();
            (off, d.iter().map(|d| d * d).sum::<f64>())
        };
        let chunks: Vec<(f64, f64)> =
            parallel::collect_of(self.lengths.chunks(CHUNK).zip(self.fitted.chunks(CHUNK)), chunk);
        chunks.iter().fold((0.0, 0.0), |(off, all), chunk| (off + chunk.0, all + chunk.1))
    }

    /// The factor of S in the value: chosen such that its curvature is about one.
    fn level(&self) -> f64 {
        let n = self.n as f64;
        0.25 * (n - 1.0) / n
    }
}

impl Emphasized for Monotone {
    fn value(&mut self, y: &[f64], _emphasis: f64, gradient: &mut [f64]) -> f64 {
        let (off, all) = self.regress(y);
        let all = all.max(f64::MIN_POSITIVE);
        let (stress, dims) = (off / all, y.len() / self.n);
        // Every chunk has a separate gradient; there are so few that they are kept.
        let chunks = self.pairs.len().div_ceil(CHUNK).clamp(1, 8);
        let size = self.pairs.len().div_ceil(chunks).max(1);
        let parts: Vec<Vec<f64>> = parallel::collect(chunks, |chunk| {
            let mut gradient = vec![0.0; y.len()];
            for at in chunk * size..((chunk + 1) * size).min(self.pairs.len()) {
                let ((i, j), d) = (self.pairs[at], self.lengths[at]);
                let force = if d > 0.0 { 1.0 - self.fitted[at] / d - stress } else { 0.0 };
                let (i, j) = (i as usize * dims, j as usize * dims);
                for q in 0..dims {
                    let part = force * (y[i + q] - y[j + q]);
                    gradient[i + q] += part;
                    gradient[j + q] -= part;
                }
            }
            gradient
        });
        let factor = 2.0 * self.level() / all;
        gradient.fill(0.0);
        for part in parts {
            gradient.iter_mut().zip(part).for_each(|(gradient, part)| *gradient += factor * part);
        }
        self.level() * stress
    }
}

impl Energy for Monotone {
    /// Kruskal's stress-1.
    fn in_units(&self, value: f64) -> f64 {
        (value / self.level()).max(0.0).sqrt()
    }

    fn figures(&mut self, y: &[f64], _value: f64) -> Vec<(Figure, f64)> {
        let (off, all) = self.regress(y);
        vec![(Figure::NormalizedStress, (off / all.max(f64::MIN_POSITIVE)).sqrt())]
    }

    fn disparities(&self) -> Vec<(f64, f64)> {
        let last = self.pairs.len() - 1;
        let mut knots: Vec<usize> = (0..=KNOTS).map(|at| at * last / KNOTS).collect();
        knots.dedup();
        let mut curve: Vec<(f64, f64)> = Vec::new();
        for at in knots {
            if curve.last().is_none_or(|knot| knot.0 < self.dissimilarities[at]) {
                curve.push((self.dissimilarities[at], self.fitted[at] * self.unit));
            }
        }
        curve
    }

    fn warnings(&self) -> Vec<Warning> {
        let off: f64 = self.lengths.iter().zip(&self.fitted).map(|(d, f)| (d - f) * (d - f)).sum();
        let all: f64 = self.lengths.iter().map(|d| d * d).sum();
        if off > DEGENERATE * DEGENERATE * all {
            return Vec::new();
        }
        vec![Warning::NotDetermined(
            "the order of the distances is met exactly, so that the map is one of many that do, and clusters that lie \
             apart may have shrunk to points; use the metric variant"
                .into(),
        )]
    }

    fn solver(&self) -> String {
        "isotonic regression in L-BFGS".into()
    }
}

/// Isotonic regression: adjacent violators are replaced by their mean until none is left.
fn isotonic(values: &[f64], fitted: &mut [f64]) {
    // Blocks of equal numbers: the sum of the values there, and how many.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for &value in values {
        let mut block = (value, 1);
        while let Some(&(sum, count)) = blocks.last() {
            // The mean of the last block is at most that of this one.
            if sum * block.1 as f64 <= block.0 * count as f64 {
                break;
            }
            block = (block.0 + sum, block.1 + count);
            blocks.pop();
        }
        blocks.push(block);
    }
    let mut at = 0;
    for (sum, count) in blocks {
        fitted[at..at + count].fill(sum / count as f64);
        at += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_out_of_order_are_pooled() {
        let mut fitted = [0.0; 6];
        isotonic(&[1.0, 3.0, 2.0, 2.0, 5.0, 4.0], &mut fitted);
        let third = 7.0 / 3.0;
        assert_eq!(fitted, [1.0, third, third, third, 4.5, 4.5]);
        isotonic(&[3.0, 2.0, 1.0, 0.0, -1.0, -2.0], &mut fitted);
        assert_eq!(fitted, [0.5; 6]);
    }

    fn objective(n: usize) -> Monotone {
        let distance = |at: usize| {
            let (i, j) = ((at / n).min(at % n), (at / n).max(at % n));
            if i == j { 0.0 } else { 1.0 + ((i * 7 + j * 13) % 17) as f64 / 5.0 }
        };
        Monotone::new(&Dissimilarities::of((0..n * n).map(distance).collect(), n))
    }

    #[test]
    fn the_gradient_is_the_central_difference() {
        let n = 14;
        let mut monotone = objective(n);
        for dims in 1..=3 {
            let y: Vec<f64> =
                (0..n * dims).map(|at| ((at * 37 + at * at) % 23) as f64 / 40.0 + 1e-3 * at as f64).collect();
            let (mut gradient, mut unused) = (vec![0.0; y.len()], vec![0.0; y.len()]);
            monotone.value(&y, 1.0, &mut gradient);
            for at in 0..y.len() {
                let mut moved = |step: f64| {
                    let mut y = y.clone();
                    y[at] += step;
                    monotone.value(&y, 1.0, &mut unused)
                };
                let difference = (moved(1e-7) - moved(-1e-7)) / 2e-7;
                assert!((gradient[at] - difference).abs() < 1e-6, "{dims}: {} {difference}", gradient[at]);
            }
        }
    }

    /// Any increasing function of the distances has the same order, and so the same stress.
    #[test]
    fn only_the_order_counts() {
        let n = 20;
        let y: Vec<f64> = (0..2 * n).map(|at| ((at * 29 + at * at) % 31) as f64 / 90.0).collect();
        let distance = |i: usize, j: usize| (y[2 * i] - y[2 * j]).hypot(y[2 * i + 1] - y[2 * j + 1]);
        let table = (0..n * n).map(|at| distance(at / n, at % n).powi(3)).collect();
        let mut monotone = Monotone::new(&Dissimilarities::of(table, n));
        let mut gradient = vec![0.0; 2 * n];
        assert!(monotone.value(&y, 1.0, &mut gradient) < 1e-28);
        assert!(!monotone.warnings().is_empty());
    }
}

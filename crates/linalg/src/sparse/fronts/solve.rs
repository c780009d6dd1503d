//! Solves with a factor of fronts: L⁻¹ from the leaves to the root, L⁻ᵀ D⁻¹ back to the leaves.

use crate::parallel;
use crate::sparse::fronts::{Factor, Fronts};
use std::ops::Range;

impl Fronts {
    /// Solves A x = b for one right-hand side of r numbers a point, written over it.
    pub fn solve(&self, factor: &Factor, x: &mut [f64]) {
        let r = factor.r;
        let mut z = vec![0.0; x.len()];
        for (z, &point) in z.chunks_exact_mut(r).zip(&self.point) {
            z.copy_from_slice(&x[point as usize * r..][..r]);
        }
        self.forward(factor, &mut z);
        self.backward(factor, &mut z);
        for (z, &point) in z.chunks_exact(r).zip(&self.point) {
            x[point as usize * r..][..r].copy_from_slice(z);
        }
    }

    /// z ← L⁻¹ z.
    fn forward(&self, factor: &Factor, z: &mut [f64]) {
        let mut left: Vec<Vec<f64>> = vec![Vec::new(); self.fronts.len()];
        let (subtrees, mut tops) = self.divide(z, |front| front.width * factor.r);
        let swept: Vec<Vec<f64>> = parallel::collect_of(subtrees, |_, (range, z)| {
            pulp::Arch::new().dispatch(Forward { fronts: self, factor, range, left: Vec::new(), z })
        });
        for (range, found) in self.subtrees.iter().zip(swept) {
            left[range.end - 1] = found;
        }
        for &f in self.waves.iter().flatten() {
            let children = &self.fronts[f].children;
            let stack = children.iter().map(|&child| std::mem::take(&mut left[child as usize])).collect();
            let Some(z) = tops[f].take() else { continue };
            let sweep = Forward { fronts: self, factor, range: f..f + 1, left: stack, z };
            left[f] = pulp::Arch::new().dispatch(sweep);
        }
    }

    /// z ← L⁻ᵀ D⁻¹ z.
    fn backward(&self, factor: &Factor, z: &mut [f64]) {
        for &f in self.waves.iter().flatten().rev() {
            let front = &self.fronts[f];
            let (own, later) = z.split_at_mut((front.start + front.width) * factor.r);
            let (z, base) = (&mut own[front.start * factor.r..], front.start + front.width);
            pulp::Arch::new().dispatch(Backward { fronts: self, factor, range: f..f + 1, z, later, base });
        }
        let done = z.to_vec();
        let (subtrees, _) = self.divide(z, |front| front.width * factor.r);
        parallel::each_of(subtrees, |_, (range, z)| {
            pulp::Arch::new().dispatch(Backward { fronts: self, factor, range, z, later: &done, base: 0 });
        });
    }
}

/// z ← L⁻¹ z over a range of fronts; returns what the last of them leaves to its parent.
struct Forward<'a> {
    fronts: &'a Fronts,
    factor: &'a Factor,
    range: Range<usize>,
    /// What fronts that are done left to parents that are not.
    left: Vec<Vec<f64>>,
    /// The columns of the range.
    z: &'a mut [f64],
}

impl pulp::WithSimd for Forward<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Vec<f64> {
        let (r, mut stack) = (self.factor.r, self.left);
        let base = self.fronts.fronts[self.range.start].start;
        for f in self.range {
            let front = &self.fronts.fronts[f];
            let (width, height) = (front.width * r, front.height() * r);
            let own = &mut self.z[(front.start - base) * r..][..width];
            let mut below = vec![0.0; height - width];
            let first = stack.len() - front.children.len();
            for (&child, update) in front.children.iter().zip(&stack[first..]) {
                let into = &self.fronts.fronts[child as usize].into_parent;
                for (&row, update) in into.iter().zip(update.chunks_exact(r)) {
                    let row = row as usize * r;
                    let target = if row < width { &mut own[row..row + r] } else { &mut below[row - width..][..r] };
                    target.iter_mut().zip(update).for_each(|(sum, value)| *sum += value);
                }
            }
            stack.truncate(first);
            let panel = &self.factor.panels[f];
            for c in 0..width {
                let column = &panel[c * height..(c + 1) * height];
                let y = own[c];
                own[c + 1..].iter_mut().zip(&column[c + 1..width]).for_each(|(x, l)| *x -= l * y);
                below.iter_mut().zip(&column[width..]).for_each(|(x, l)| *x -= l * y);
            }
            stack.push(below);
        }
        stack.pop().unwrap_or_default()
    }
}

/// z ← L⁻ᵀ D⁻¹ z over a range of fronts, what is above them being done.
struct Backward<'a> {
    fronts: &'a Fronts,
    factor: &'a Factor,
    range: Range<usize>,
    /// The columns of the range.
    z: &'a mut [f64],
    /// The numbers from the position `base` on.
    later: &'a [f64],
    base: usize,
}

impl pulp::WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let r = self.factor.r;
        let start = self.fronts.fronts[self.range.start].start;
        let end = start + self.z.len() / r;
        let mut below = Vec::new();
        for f in self.range.rev() {
            let front = &self.fronts.fronts[f];
            let (width, height) = (front.width * r, front.height() * r);
            below.clear();
            for &row in &front.rows {
                let row = row as usize;
                let known = if row < end { &self.z[(row - start) * r..] } else { &self.later[(row - self.base) * r..] };
                below.extend_from_slice(&known[..r]);
            }
            let own = &mut self.z[(front.start - start) * r..][..width];
            let panel = &self.factor.panels[f];
            for c in (0..width).rev() {
                let column = &panel[c * height..(c + 1) * height];
                let within = dot(&column[c + 1..width], &own[c + 1..]);
                own[c] = own[c] / column[c] - within - dot(&column[width..], &below);
            }
        }
    }
}

/// Σ a b, in eight running sums that fit vector registers.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum::<f64>() + rest
}

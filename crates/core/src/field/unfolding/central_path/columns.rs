//! The columns of a point on the central path: when they are added, rotated and dropped.

use crate::field::unfolding::central_path::{Path, REACH, center};
use eigenfold_linalg::dense::symmetric_eigen;
use faer::Mat;

/// Directions are added together with the lowest one if they are at least this fraction as far below one.
const TOGETHER: f64 = 0.6;
/// And at most this many.
const AT_ONCE: usize = 4;
/// A direction gets its own column if φ then falls this many times as far as in an existing one: columns are expensive.
const NEW_COLUMN: f64 = 3.0;
/// A column with less than this fraction of the variance is dropped.
const DROPPED: f64 = 1e-11;

impl Path<'_> {
    /// Adds the eigenvectors with eigenvalues below one to the columns they belong to, or as new ones; returns whether
    /// φ fell.
    pub(super) fn open(&mut self, opens: f64, below: f64, max_rank: usize) -> bool {
        let Some((values, vectors)) = self.eigen.take() else { return false };
        self.rotate();
        let (n, counts) = (self.web.pairs.len(), &self.web.pairs.counts);
        let mut gained = 0.0;
        let low = |q: &usize| 1.0 - values[*q] > opens.max(TOGETHER * below);
        for q in (0..values.len()).filter(low).take(AT_ONCE) {
            let mut v: Vec<f64> = (0..n).map(|i| vectors[(i, q)]).collect();
            center(1, &mut v, counts);
            // Into the column where φ falls most; a new one only if the gain is clearly larger.
            let r = self.r;
            let tried = (1..r).map(|k| (k, self.search_column(k, &v)));
            let mut best = tried.fold((r, (0.0, 0.0)), |best, new| if new.1.1 < best.1.1 { new } else { best });
            if r < max_rank {
                let fresh = self.search_column(r, &v);
                if fresh.1 < NEW_COLUMN * best.1.1 {
                    best = (r, fresh);
                }
            }
            let (column, (length, gain)) = best;
            if gain >= 0.0 {
                continue;
            }
            if column == r {
                self.y = self.y.chunks_exact(r).flat_map(|row| row.iter().copied().chain([0.0])).collect();
                self.r += 1;
            }
            gained += gain;
            for (i, v) in v.iter().enumerate() {
                self.y[i * self.r + column] += length * v;
            }
            self.refresh();
        }
        let (slack, w, mu) = (&self.slack, &self.w, self.mu);
        self.w = self.web.each(|e| w[e].max(1e-2 * mu / slack[e]).min(1e2 * mu / slack[e]));
        let moved = gained < -1e-7 * mu * self.m();
        if moved {
            self.shift = self.shift.max((1.1 * below).min(1.0));
        } else {
            self.drop_columns(0.0, opens);
        }
        self.eigen = Some((values, vectors));
        moved
    }

    /// The minimum of φ along a vector added to a column, by trial, and the decrease of φ.
    pub(super) fn search_column(&self, column: usize, v: &[f64]) -> (f64, f64) {
        let (web, r, counts) = (self.web, self.r, &self.web.pairs.counts);
        let dv = web.differences(1, v);
        let own = |i: usize| if column < r { self.y[i * r + column] } else { 0.0 };
        let inner: f64 = (0..v.len()).map(|i| counts[i] * own(i) * v[i]).sum();
        let delta = |e: usize| if column < r { self.differences[e * r + column] } else { 0.0 };
        let norm: f64 = (0..v.len()).map(|i| counts[i] * v[i] * v[i]).sum();
        let nearest = web.least(|e| self.slack[e] / (dv[e] * dv[e]).max(f64::MIN_POSITIVE)).sqrt();
        let Some(logs) = web.log_sum(|e| self.slack[e]) else { return (0.0, 0.0) };
        let mut best = (0.0, 0.0);
        let signs: &[f64] = if inner.abs() < 1e-9 * (norm * self.variance).sqrt() { &[1.0] } else { &[1.0, -1.0] };
        for sign in signs {
            let mut length = 3.0 * REACH * nearest;
            for _ in 0..45 {
                let a = sign * length;
                let moved = |e: usize| self.slack[e] - a * dv[e] * (2.0 * delta(e) + a * dv[e]);
                if let Some(sum) = web.log_sum(moved) {
                    let value = -(2.0 * a * inner + a * a * norm) - self.mu * (sum - logs);
                    if value < best.1 {
                        best = (a, value);
                    } else if best.1 < 0.0 {
                        break;
                    }
                }
                length *= 0.75;
            }
        }
        best
    }

    /// Rotates the columns to principal axes, the largest variance first; returns the variances.
    pub(super) fn rotate(&mut self) -> Vec<f64> {
        let (r, counts) = (self.r, &self.web.pairs.counts);
        let moment = Mat::from_fn(r, r, |a, b| {
            self.y.chunks_exact(r).zip(counts).map(|(row, m)| m * row[a] * row[b]).sum::<f64>()
        });
        let Ok((values, axes)) = symmetric_eigen(moment.as_ref()) else { return vec![0.0; r] };
        for row in self.y.chunks_exact_mut(r) {
            let turned: Vec<f64> = (0..r).map(|q| (0..r).map(|k| row[k] * axes[(k, q)]).sum()).collect();
            row.copy_from_slice(&turned);
        }
        self.refresh();
        values
    }

    /// Drops columns without variance, and those with little variance that the weights contract.
    pub(super) fn drop_columns(&mut self, relative: f64, opens: f64) {
        let variances = self.rotate();
        let (n, r, counts) = (self.web.pairs.len(), self.r, &self.web.pairs.counts);
        let pulled = self.web.laplacian(r, &self.w, &self.differences);
        let pull = |k: usize| {
            let quotient: f64 = (0..n).map(|i| self.y[i * r + k] * pulled[i * r + k]).sum();
            quotient / (0..n).map(|i| counts[i] * self.y[i * r + k].powi(2)).sum::<f64>()
        };
        let idle = |k: usize| {
            let part = variances[k] / self.variance;
            part < DROPPED || (part < 1e-3 * relative.min(1e-2) && pull(k) > 1.0 + (10.0 * opens).max(1e-2))
        };
        let kept = (1..r).find(|&k| idle(k)).unwrap_or(r);
        if kept < r {
            self.y = self.y.chunks_exact(r).flat_map(|row| &row[..kept]).copied().collect();
            self.r = kept;
            self.refresh();
        }
    }
}

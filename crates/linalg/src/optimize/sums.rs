//! Sums and products of long vectors, in chunks of a fixed size, whatever the number of threads.

use crate::parallel;

/// Variables to a chunk of parallel work.
const CHUNK: usize = 16_384;

/// Σ a b.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum_of(a.len(), |i| a[i] * b[i])
}

/// Σ a b over the variables inside.
pub(super) fn dot_inside(a: &[f64], b: &[f64], inside: &[bool]) -> f64 {
    sum_of(a.len(), |i| if inside[i] { a[i] * b[i] } else { 0.0 })
}

/// `to ← to + scale x` over the variables inside.
pub(super) fn add_inside(to: &mut [f64], scale: f64, x: &[f64], inside: &[bool]) {
    parallel::chunks_mut(to, CHUNK, |chunk, to| {
        let (x, inside) = (&x[chunk * CHUNK..], &inside[chunk * CHUNK..]);
        for ((to, x), &inside) in to.iter_mut().zip(x).zip(inside) {
            *to += if inside { scale * x } else { 0.0 };
        }
    });
}

/// a − b.
pub(super) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Σ term(i), in eight sums side by side within each chunk.
pub(super) fn sum_of(count: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let chunk = |chunk: usize| {
        let (start, end) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(count));
        let mut sums = [0.0; 8];
        let whole = start + (end - start) / 8 * 8;
        for at in (start..whole).step_by(8) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum += term(at + lane);
            }
        }
        sums.iter().sum::<f64>() + (whole..end).map(&term).sum::<f64>()
    };
    if count <= CHUNK {
        return chunk(0);
    }
    parallel::collect(count.div_ceil(CHUNK), chunk).iter().sum()
}

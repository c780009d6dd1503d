//! The two sweeps that complete distances on an eliminated graph.
//!
//! On the arcs that [`Elimination`] leaves, a shortest path climbs the order and descends again, so that any number of
//! sources need two sweeps over the arcs and no heap:
//!
//! ```text
//! up,    v ascending:   d[u] ← min(d[u], d[v] + arc(v, u))    u ∈ up(v)
//! down,  v descending:  d[v] ← min(d[v], d[u] + arc(v, u))    u ∈ up(v)
//! ```
//!
//! The upward sweep touches only the ancestors of the sources in the elimination tree, where the parent of `v` is the
//! first point of `up(v)`. Distances are kept as one row of lanes a point, one lane a source, so that each arc is a few
//! vector instructions.
//!
//! D. Delling, A. Goldberg, A. Nowatzyk, R. Werneck. PHAST: hardware-accelerated shortest path trees. Journal of
//! Parallel and Distributed Computing 73(7), 2013.

use crate::paths::elimination::Elimination;
use pulp::{Simd, WithSimd};
use std::ops::{Add, Mul};

/// The number of sources that are swept together.
pub const LANES: usize = 64;

/// The two kinds of numbers that distances are kept in.
pub trait Real: Copy + Send + Sync + PartialOrd + Add<Output = Self> + Mul<Output = Self> + 'static {
    /// 0.
    const ZERO: Self;
    /// ∞.
    const INFINITY: Self;
    /// The nearest value of this type.
    fn round(value: f64) -> Self;
    /// The value in double precision.
    fn widen(self) -> f64;
    /// `to = min(to, from + arc)` in every lane. Left to the compiler this becomes masked stores, which are slow.
    fn relax<S: Simd>(simd: S, to: &mut [Self; LANES], from: &[Self; LANES], arc: Self);
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const INFINITY: f32 = f32::INFINITY;
    #[inline(always)]
    fn round(value: f64) -> f32 {
        value as f32
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn relax<S: Simd>(simd: S, to: &mut [f32; LANES], from: &[f32; LANES], arc: f32) {
        let arc = simd.splat_f32s(arc);
        for (to, &from) in S::as_mut_simd_f32s(to).0.iter_mut().zip(S::as_simd_f32s(from).0) {
            *to = simd.min_f32s(*to, simd.add_f32s(from, arc));
        }
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const INFINITY: f64 = f64::INFINITY;
    #[inline(always)]
    fn round(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
    #[inline(always)]
    fn relax<S: Simd>(simd: S, to: &mut [f64; LANES], from: &[f64; LANES], arc: f64) {
        let arc = simd.splat_f64s(arc);
        for (to, &from) in S::as_mut_simd_f64s(to).0.iter_mut().zip(S::as_simd_f64s(from).0) {
            *to = simd.min_f64s(*to, simd.add_f64s(from, arc));
        }
    }
}

impl Elimination {
    /// Completes `d`, rows of lanes for the positions `first..`, from the start values it holds: afterwards each lane
    /// is the distance from that lane's seeds. `seeds` are the positions with a start value, none before `first`.
    pub(crate) fn sweep<R: Real>(&self, arcs: &[R], first: usize, seeds: &[u32], d: &mut [R]) {
        let climb = self.ancestors(first, seeds);
        pulp::Arch::new().dispatch(Sweep { elimination: self, arcs, first, climb: &climb, d });
    }

    /// The seeds and all their ancestors in the elimination tree, ascending: where the upward sweep goes.
    pub(crate) fn ancestors(&self, first: usize, seeds: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; self.len() - first];
        let mut found = Vec::new();
        for &seed in seeds {
            let mut next = Some(&seed);
            while let Some(&v) = next {
                if std::mem::replace(&mut seen[v as usize - first], true) {
                    break;
                }
                found.push(v);
                let arcs = self.starts[v as usize]..self.starts[v as usize + 1];
                next = self.heads[arcs].first();
            }
        }
        found.sort_unstable();
        found
    }
}

/// Both sweeps over one block of sources, compiled for each instruction set and chosen at run time.
struct Sweep<'a, R> {
    elimination: &'a Elimination,
    arcs: &'a [R],
    first: usize,
    climb: &'a [u32],
    d: &'a mut [R],
}

impl<R: Real> WithSimd for Sweep<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sweep { elimination: Elimination { starts, heads, .. }, arcs, first, climb, d } = self;
        let (rows, _) = d.as_chunks_mut::<LANES>();
        for &v in climb {
            let v = v as usize;
            let from = rows[v - first];
            let range = starts[v]..starts[v + 1];
            for (&u, &arc) in heads[range.clone()].iter().zip(&arcs[range]) {
                R::relax(simd, &mut rows[u as usize - first], &from, arc);
            }
        }
        for v in (first..starts.len() - 1).rev() {
            let mut to = rows[v - first];
            let range = starts[v]..starts[v + 1];
            for (&u, &arc) in heads[range.clone()].iter().zip(&arcs[range]) {
                R::relax(simd, &mut to, &rows[u as usize - first], arc);
            }
            rows[v - first] = to;
        }
    }
}

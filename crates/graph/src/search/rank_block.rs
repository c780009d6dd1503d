//! One block of ranks in single precision: filled by a matrix product or a scan, then searched for small values.

use crate::metric::Metric;
use eigenfold_linalg::widest;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Points along either side of a tile: large enough for the products to run at full speed, small enough for the tile
/// to stay in the cache.
pub(crate) const BLOCK: usize = 384;

/// Rows of a scan that are held in cache.
const STRIP: usize = 16;

/// Lanes looked at together.
const LANES: usize = 16;

/// Ranks of some points (down) against others (across), stored column after column.
#[derive(Debug, Default)]
pub(crate) struct Tile {
    values: Vec<f32>,
    height: usize,
    /// Whether the ranks are those of a PCA bound.
    pub(crate) bounded: bool,
}

impl Tile {
    /// Computes −2 x[i]·x[j], or Σ|x[i] − x[j]| for Manhattan, for all rows of `down` against all of `across`.
    pub(crate) fn fill(&mut self, metric: Metric, dims: usize, down: &[f32], across: &[f32]) {
        let (height, width) = (down.len() / dims, across.len() / dims);
        self.height = height;
        self.values.resize(height * width, 0.0);
        if metric == Metric::Manhattan {
            widest(
                #[inline(always)]
                || {
                    // A few rows at a time stay in the innermost caches while all columns pass by.
                    for (strip, down) in down.chunks(STRIP * dims).enumerate() {
                        for (column, b) in self.values.chunks_exact_mut(height).zip(across.chunks_exact(dims)) {
                            for (value, a) in column[strip * STRIP..].iter_mut().zip(down.chunks_exact(dims)) {
                                *value = sum(a, b, |x, y| (x - y).abs());
                            }
                        }
                    }
                },
            );
        } else {
            matmul(
                MatMut::from_column_major_slice_mut(&mut self.values, height, width),
                Accum::Replace,
                MatRef::from_row_major_slice(down, height, dims),
                MatRef::from_row_major_slice(across, width, dims).transpose(),
                -2.0f32,
                Par::Seq,
            );
        }
    }

    /// Column `j`.
    pub(crate) fn column(&self, j: usize) -> &[f32] {
        &self.values[j * self.height..(j + 1) * self.height]
    }

    /// The (i, value + base) in column `j` that do not exceed `limits[i]`.
    #[inline(always)]
    pub(crate) fn down_within(&self, j: usize, base: f32, limits: &[f32], hits: &mut Vec<(u32, f32)>) {
        let column = self.column(j);
        hits.clear();
        for (at, (values, limits)) in column.chunks(LANES).zip(limits.chunks(LANES)).enumerate() {
            let mut any = false;
            for (value, limit) in values.iter().zip(limits) {
                any |= value + base <= *limit;
            }
            if any {
                for (place, (value, limit)) in values.iter().zip(limits).enumerate() {
                    if value + base <= *limit {
                        hits.push(((at * LANES + place) as u32, value + base));
                    }
                }
            }
        }
    }

    /// The (i, value + bases[i]) in column `j` that do not exceed `limit`.
    #[inline(always)]
    pub(crate) fn across_within(&self, j: usize, bases: &[f32], limit: f32, hits: &mut Vec<(u32, f32)>) {
        let column = self.column(j);
        hits.clear();
        for (at, (values, bases)) in column.chunks(LANES).zip(bases.chunks(LANES)).enumerate() {
            let mut any = false;
            for (value, base) in values.iter().zip(bases) {
                any |= value + base <= limit;
            }
            if any {
                for (place, (value, base)) in values.iter().zip(bases).enumerate() {
                    if value + base <= limit {
                        hits.push(((at * LANES + place) as u32, value + base));
                    }
                }
            }
        }
    }
}

/// Σ f(a, b) in single precision; many short chains of additions, since a long one waits for itself.
#[inline(always)]
pub(crate) fn sum(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let (a_wide, a_rest) = a.as_chunks::<32>();
    let (b_wide, b_rest) = b.as_chunks::<32>();
    let mut wide = [0.0f32; 32];
    for (x, y) in a_wide.iter().zip(b_wide) {
        for l in 0..32 {
            wide[l] += f(x[l], y[l]);
        }
    }
    let (a_narrow, a_rest) = a_rest.as_chunks::<8>();
    let (b_narrow, b_rest) = b_rest.as_chunks::<8>();
    let mut narrow = [0.0f32; 8];
    for (x, y) in a_narrow.iter().zip(b_narrow) {
        for l in 0..8 {
            narrow[l] += f(x[l], y[l]);
        }
    }
    for l in 0..8 {
        narrow[l] += (wide[l] + wide[l + 8]) + (wide[l + 16] + wide[l + 24]);
    }
    let mut total = 0.0;
    for (&x, &y) in a_rest.iter().zip(b_rest) {
        total += f(x, y);
    }
    let [a, b, c, d, e, f, g, h] = narrow;
    total + (((a + b) + (c + d)) + ((e + f) + (g + h)))
}

/// The inner products of one row with four others, in single precision.
#[inline(always)]
pub(crate) fn products(a: &[f32], others: [&[f32]; 4]) -> [f32; 4] {
    sums(a, others, |x, y| x * y)
}

/// The squared distances of one row from four others, in single precision.
#[inline(always)]
pub(crate) fn squares(a: &[f32], others: [&[f32]; 4]) -> [f32; 4] {
    sums(a, others, |x, y| (x - y) * (x - y))
}

/// Σ f(a, b) of one row and four others.
#[inline(always)]
fn sums(a: &[f32], others: [&[f32]; 4], f: impl Fn(f32, f32) -> f32) -> [f32; 4] {
    let (a_wide, a_rest) = a.as_chunks::<16>();
    let wide = others.map(|b| &b.as_chunks::<16>().0[..a_wide.len()]);
    let mut lanes = [[0.0f32; 16]; 4];
    for (at, x) in a_wide.iter().enumerate() {
        for (lanes, b) in lanes.iter_mut().zip(&wide) {
            for l in 0..16 {
                lanes[l] += f(x[l], b[at][l]);
            }
        }
    }
    let rest = others.map(|b| &b[a_wide.len() * 16..]);
    std::array::from_fn(|r| {
        let tail: f32 = a_rest.iter().zip(rest[r]).map(|(x, y)| f(*x, *y)).sum();
        let halves: [f32; 8] = std::array::from_fn(|l| lanes[r][l] + lanes[r][l + 8]);
        tail + halves.iter().sum::<f32>()
    })
}

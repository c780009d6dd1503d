//! The products of all slices of a block of rows, summed over the rows and over many blocks.
//!
//! Eight slots are a panel: one column of a matrix that has the slices of all columns side by side. The products of two
//! panels, summed over the rows, are 64 integers.

use pulp::{Simd, WithSimd};

/// The most rows of a block.
pub(super) const ROWS: usize = 512;

/// Rows whose products of slices have sums of at most 2^51 in magnitude.
const EXACT_ROWS: usize = 128;

/// Slots of a panel.
pub(super) const WIDTH: usize = 8;

/// Blocks whose sums, at most 2^53 each, are together less than 2^63.
pub(super) const BLOCKS: usize = 1023;

/// Panels that are multiplied with all others while they are in the cache.
const NEAR: usize = 24;

/// One slice of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The column.
    pub(super) column: usize,
    /// The power of two of the slice.
    pub(super) power: i32,
}

/// Sums of products of slices.
#[derive(Clone, Debug)]
pub(super) struct Gram {
    /// The slot of every slice; the slots that are not in use have none.
    pub(super) slots: Vec<Option<Slot>>,
    /// The slices of a block, panel after panel, and in it row after row.
    pub(super) slices: Vec<f64>,
    sums: Vec<i64>,
    /// The blocks in the sums.
    pub(super) blocks: usize,
}

impl Gram {
    /// Of these slots.
    pub(super) fn new(mut slots: Vec<Option<Slot>>) -> Gram {
        let panels = slots.len().div_ceil(WIDTH);
        slots.resize(panels * WIDTH, None);
        let slices = vec![0.0; panels * WIDTH * ROWS];
        Gram { slots, slices, sums: vec![0; panels * (panels + 1) / 2 * WIDTH * WIDTH], blocks: 0 }
    }

    /// Adds the products of the first `rows` rows of the slices.
    pub(super) fn multiply(&mut self, rows: usize) {
        let panels = self.slots.len() / WIDTH;
        let kernel = Kernel { slices: &self.slices, panels, rows, sums: &mut self.sums };
        pulp::Arch::new().dispatch(kernel);
        self.blocks += 1;
    }

    /// The sum of the products of every two slots, once for each two, and of every slot with itself; then the sums are zero.
    pub(super) fn take(&mut self, mut each: impl FnMut(Slot, Slot, i64)) {
        if self.blocks == 0 {
            return;
        }
        let panels = self.slots.len() / WIDTH;
        let (blocks, _) = self.sums.as_chunks::<{ WIDTH * WIDTH }>();
        for (i, j) in (0..panels).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            let block = &blocks[index(i, j)];
            for (b, a) in (0..WIDTH).flat_map(|b| (0..WIDTH).map(move |a| (b, a))) {
                let (value, at, by) = (block[b * WIDTH + a], i * WIDTH + a, j * WIDTH + b);
                if let (Some(first), Some(second)) = (self.slots[at], self.slots[by])
                    && value != 0
                    && at >= by
                {
                    each(first, second, value);
                }
            }
        }
        self.sums.fill(0);
        self.blocks = 0;
    }
}

/// The place of the products of panel i with panel j, j ≤ i.
fn index(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// The multiplication of panels.
struct Kernel<'a> {
    slices: &'a [f64],
    panels: usize,
    rows: usize,
    sums: &'a mut [i64],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.multiply::<S, 3, 1, 8>(simd),
            4 => self.multiply::<S, 1, 2, 4>(simd),
            2 => self.multiply::<S, 1, 4, 4>(simd),
            _ => self.multiply::<S, 1, 8, 1>(simd),
        }
    }
}

impl Kernel<'_> {
    /// P panels of V vectors times N slots at once, which are as many sums as the registers hold.
    #[inline(always)]
    fn multiply<S: Simd, const P: usize, const V: usize, const N: usize>(mut self, simd: S) {
        for near in (0..self.panels).step_by(NEAR) {
            let end = (near + NEAR).min(self.panels);
            for j in 0..end {
                let mut i = near.max(j);
                while i + P <= end {
                    self.tile::<S, P, V, N>(simd, i, j);
                    i += P;
                }
                match end - i {
                    0 => {}
                    2 => self.tile::<S, 2, V, N>(simd, i, j),
                    _ => self.tile::<S, 1, V, N>(simd, i, j),
                }
            }
        }
    }

    /// Adds the products of the panels i, …, i + P − 1 with panel j.
    #[inline(always)]
    fn tile<S: Simd, const P: usize, const V: usize, const N: usize>(&mut self, simd: S, i: usize, j: usize) {
        for part in 0..WIDTH / N {
            let mut integers = [[[0i64; WIDTH]; N]; P];
            for from in (0..self.rows).step_by(EXACT_ROWS) {
                let rows = EXACT_ROWS.min(self.rows - from);
                let panel = |at: usize| &self.slices[(at * ROWS + from) * WIDTH..][..rows * WIDTH];
                let left = std::array::from_fn(|p| S::as_simd_f64s(panel(i + p)).0.as_chunks::<V>().0);
                let products = products::<S, P, V, N>(simd, left, panel(j).as_chunks().0, part);
                for (integers, products) in integers.as_flattened_mut().iter_mut().zip(products.as_flattened()) {
                    let mut values = [0.0; WIDTH];
                    S::as_mut_simd_f64s(&mut values).0.copy_from_slice(products);
                    integers.iter_mut().zip(values).for_each(|(sum, value)| *sum += integer(value));
                }
            }
            for (p, integers) in integers.iter().enumerate() {
                let from = (index(i + p, j) * WIDTH + part * N) * WIDTH;
                let sums = &mut self.sums[from..][..N * WIDTH];
                sums.iter_mut().zip(integers.as_flattened()).for_each(|(sum, integer)| *sum += integer);
            }
        }
    }
}

/// The products of P panels with N slots of another one, summed over the rows.
#[inline(always)]
fn products<S: Simd, const P: usize, const V: usize, const N: usize>(
    simd: S,
    left: [&[[S::f64s; V]]; P],
    right: &[[f64; WIDTH]],
    part: usize,
) -> [[[S::f64s; V]; N]; P] {
    let mut sums = [[[simd.splat_f64s(0.0); V]; N]; P];
    let left = left.map(|panel| &panel[..right.len()]);
    for (row, right) in right.iter().enumerate() {
        let vectors: [[S::f64s; V]; P] = std::array::from_fn(|p| left[p][row]);
        let right = &right.as_chunks::<N>().0[part];
        for n in 0..N {
            let factor = simd.splat_f64s(right[n]);
            for p in 0..P {
                for v in 0..V {
                    sums[p][n][v] = simd.mul_add_e_f64s(vectors[p][v], factor, sums[p][n][v]);
                }
            }
        }
    }
    sums
}

/// An integer of at most 2^51 in magnitude: added to 1.5 · 2^52, it is the difference of the bits.
#[inline(always)]
fn integer(value: f64) -> i64 {
    const MIDDLE: f64 = 6755399441055744.0;
    (value + MIDDLE).to_bits().wrapping_sub(MIDDLE.to_bits()) as i64
}

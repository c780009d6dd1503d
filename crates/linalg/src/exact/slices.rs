//! The slices of a column: its numbers as sums of few integers of 23 bits times fixed powers of two.
//!
//! ```text
//! x = Σₛ mₛ 2^g(s) + r,   |mₛ| ≤ 2^22,   g(s) = top + 1 − 23 (s + 1)
//! mₛ 2^g(s) = (r + σₛ) − σₛ,   r ← r − mₛ 2^g(s),   σₛ = 1.5 · 2^(52 + g(s))
//! ```
//!
//! The sum of 512 products of two slices is at most 2^53, so that double precision holds it, and every partial sum, exactly. The
//! remainder r is zero for all but few numbers, if the window of the column fits its data.
//!
//! K. Ozaki, T. Ogita, S. Oishi, S. M. Rump. Error-free transformations of matrix multiplication by using fast routines of
//! matrix multiplication and its applications. Numerical Algorithms 59, 2012, section 3.

use super::sum::parts;

/// The bits of a slice, with its sign.
const BITS: i32 = 23;

/// The most slices to a column. Beyond, sums of single products are faster.
const MOST: i32 = 12;

/// The powers of two of a window stay between the negative of this and this, far from underflow and overflow.
const RANGE: i32 = 900;

/// From this many numbers on, the window may leave out the largest and the smallest one.
const MANY: usize = 64;

/// The slices of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// The numbers of the window are at most 2^top in magnitude.
    top: i32,
    /// The number of slices; if there are none, the window has no numbers.
    pub(super) slices: usize,
}

impl Window {
    /// A window without numbers.
    pub(super) const NONE: Window = Window { top: 0, slices: 0 };

    /// The window with the fewest slices for these numbers.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Window {
        // The two largest ends, and the two lowest bits.
        let (mut tops, mut lows, mut count) = ([-RANGE; 2], [RANGE; 2], 0);
        for (m, power) in values.map(parts).filter(|&(m, _)| m != 0) {
            let (top, low) = (power + 64 - m.unsigned_abs().leading_zeros() as i32, power + m.trailing_zeros() as i32);
            tops = [tops[0].max(top), tops[1].max(top.min(tops[0]))];
            lows = [lows[0].min(low), lows[1].min(low.max(lows[0]))];
            count += 1;
        }
        if count == 0 {
            return Window { top: BITS - 1, slices: 1 };
        }
        let needed = |top: i32, low: i32| ((top + 1 - low).max(1) + BITS - 1) / BITS;
        let ends = if count < MANY { vec![(0, 0)] } else { vec![(0, 0), (0, 1), (1, 0), (1, 1)] };
        let best = ends.into_iter().map(|(t, l)| (needed(tops[t], lows[l]), tops[t], lows[l]));
        let Some((slices, top, low)) = best.min_by_key(|&(slices, ..)| slices) else { return Window::NONE };
        if slices > MOST || top > RANGE || low < -RANGE {
            return Window::NONE;
        }
        // Half of the bits that are left over serve larger numbers.
        Window { top: top + (slices * BITS - (top + 1 - low)) / 2, slices: slices as usize }
    }

    /// The largest magnitude of the numbers of the window, negative if there are none.
    pub(super) fn limit(self) -> f64 {
        if self.slices == 0 { -1.0 } else { 2f64.powi(self.top) }
    }

    /// g(s), the power of two of a slice.
    pub(super) fn power(self, slice: usize) -> i32 {
        self.top + 1 - BITS * (slice as i32 + 1)
    }

    /// σₛ and 2^-g(s). From a slice that there is not, nothing is taken: it is a multiple of more than the remainder.
    pub(super) fn step(self, slice: usize) -> (f64, f64) {
        let power = self.power(if slice < self.slices { slice } else { 0 });
        (1.5 * 2f64.powi(52 + power), 2f64.powi(-power))
    }
}

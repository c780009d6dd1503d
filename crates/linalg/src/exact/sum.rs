//! One exact sum: an integer in fixed point, of which only the limbs that are in use are stored.
//!
//! ```text
//! s = Σ limb[i] 2^(64 (first + i) + LOWEST),   the last limb with its sign (two's complement)
//! ```
//!
//! The products of two numbers of double precision lie between 2^-2148 and 2^2048, so that every product, and every sum of
//! 2^64 products, is such an integer. U. W. Kulisch. Computer Arithmetic and Validity, second edition. De Gruyter, 2013,
//! chapter 8 (the complete register).

use super::dyadic::Dyadic;

/// The power of two of the lowest bit that a sum can hold; a multiple of 64, at most -2148.
pub(super) const LOWEST: i32 = -2176;

/// The number of limbs from the lowest bit to above the largest sum.
pub(super) const LIMBS: usize = 68;

/// An exact sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    first: usize,
    limbs: Vec<u64>,
}

/// A number as an integer and a power of two: x = m 2^e, |m| < 2^53. The number is finite.
#[inline(always)]
pub(super) fn parts(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, (bits & ((1 << 52) - 1)) as i64);
    let magnitude = if field == 0 { fraction } else { fraction | 1 << 52 };
    (if x.is_sign_negative() { -magnitude } else { magnitude }, field.max(1) - 1075)
}

/// The limb that continues a number in two's complement upward.
#[inline(always)]
fn sign(limb: u64) -> u64 {
    ((limb as i64) >> 63) as u64
}

impl Sum {
    /// s += x.
    #[inline]
    pub(super) fn add(&mut self, x: f64) {
        let (integer, power) = parts(x);
        self.add_scaled(integer.into(), power);
    }

    /// s += x y, exactly, also where the product is outside of the range of double precision.
    #[inline]
    pub(super) fn add_product(&mut self, x: f64, y: f64) {
        let ((m, a), (n, b)) = (parts(x), parts(y));
        self.add_scaled(i128::from(m) * i128::from(n), a + b);
    }

    /// s += m 2^power; the power is at least `LOWEST`.
    #[inline]
    pub(super) fn add_scaled(&mut self, m: i128, power: i32) {
        if m != 0 {
            let at = (power - LOWEST) as usize;
            let (limb, shift) = (at / 64, at % 64);
            let low = (m as u128) << shift;
            let high = (m >> (127 - shift)) >> 1;
            self.add_limbs(limb, &[low as u64, (low >> 64) as u64, high as u64]);
        }
    }

    /// Adds another sum.
    pub(super) fn merge(&mut self, other: &Sum) {
        self.add_limbs(other.first, &other.limbs);
    }

    /// Adds a number in two's complement, whose lowest limb has this index.
    #[inline]
    pub(super) fn add_limbs(&mut self, at: usize, limbs: &[u64]) {
        let Some(limbs) = trimmed_above(limbs) else { return };
        if at < self.first || at + limbs.len() > self.first + self.limbs.len() {
            self.grow(at, limbs.len());
        }
        let above = sign(limbs[limbs.len() - 1]);
        let (mut carry, mut overflow) = (false, false);
        for (i, limb) in self.limbs[at - self.first..].iter_mut().enumerate() {
            // Above the added limbs, their sign and the carry cancel or go on.
            if i >= limbs.len() && carry == (above != 0) {
                return;
            }
            let term = limbs.get(i).copied().unwrap_or(above);
            let (partial, first) = limb.overflowing_add(term);
            let (total, second) = partial.overflowing_add(carry.into());
            overflow = ((*limb ^ total) & (term ^ total)) >> 63 == 1;
            (*limb, carry) = (total, first | second);
        }
        if overflow {
            let top = self.limbs.last().map_or(0, |&limb| !sign(limb));
            self.limbs.push(top);
        }
    }

    /// Extends the limbs so that they have these indices.
    #[cold]
    fn grow(&mut self, at: usize, count: usize) {
        if self.limbs.is_empty() {
            self.first = at;
        }
        if at < self.first {
            let missing = self.first - at;
            self.limbs.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = at;
        }
        let missing = (at + count).saturating_sub(self.first + self.limbs.len());
        let top = self.limbs.last().map_or(0, |&limb| sign(limb));
        self.limbs.reserve_exact(missing);
        self.limbs.extend(std::iter::repeat_n(top, missing));
    }

    /// The first limb that is not zero, and the limbs from there on, without those that only repeat the sign: the same for
    /// the same value, and nothing for zero.
    pub(super) fn canonical(&self) -> (usize, &[u64]) {
        let Some(zeros) = self.limbs.iter().position(|&limb| limb != 0) else { return (0, &[]) };
        (self.first + zeros, trimmed_above(&self.limbs[zeros..]).unwrap_or(&[]))
    }

    /// The value, exactly.
    pub(super) fn value(&self) -> Dyadic {
        let (first, limbs) = self.canonical();
        Dyadic::from_signed(limbs, first as i32 + LOWEST / 64)
    }
}

/// Limbs without the last ones that only repeat the sign; nothing if there are none.
#[inline]
pub(super) fn trimmed_above(limbs: &[u64]) -> Option<&[u64]> {
    let mut limbs = limbs;
    while let [rest @ .., below, last] = limbs {
        if *last != sign(*below) {
            break;
        }
        limbs = &limbs[..rest.len() + 1];
    }
    if limbs.is_empty() { None } else { Some(limbs) }
}

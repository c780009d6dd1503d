//! Integers times powers of two, of any size: products, differences, and quotients that are rounded once.
//!
//! ```text
//! d = ± Σ limb[i] 2^(64 (first + i))
//! ```
//!
//! Numbers are rounded to the nearest of double precision, ties to the even one (IEEE 754-2019, section 4.3.1); what is too
//! large becomes infinite.

use crate::power::times_two_to;

/// An integer times a power of two.
#[derive(Clone, Debug)]
pub(super) struct Dyadic {
    negative: bool,
    first: i32,
    limbs: Vec<u64>,
}

impl Dyadic {
    /// A natural number.
    pub(super) fn natural(n: u64) -> Dyadic {
        Dyadic { negative: false, first: 0, limbs: vec![n] }
    }

    /// From limbs in two's complement.
    pub(super) fn from_signed(limbs: &[u64], first: i32) -> Dyadic {
        let negative = limbs.last().is_some_and(|&limb| limb >> 63 == 1);
        let mut carry = negative;
        let magnitude = |&limb: &u64| {
            let (limb, over) = (if negative { !limb } else { limb }).overflowing_add(carry.into());
            carry = over;
            limb
        };
        Dyadic { negative, first, limbs: limbs.iter().map(magnitude).collect() }
    }

    /// self · other.
    pub(super) fn times(&self, other: &Dyadic) -> Dyadic {
        let mut limbs = vec![0; self.limbs.len() + other.limbs.len()];
        for (i, &a) in self.limbs.iter().enumerate() {
            let mut carry = 0;
            for (limb, &b) in limbs[i..].iter_mut().zip(&other.limbs) {
                let total = u128::from(a) * u128::from(b) + u128::from(*limb) + carry;
                (*limb, carry) = (total as u64, total >> 64);
            }
            limbs[i + other.limbs.len()] = carry as u64;
        }
        Dyadic { negative: self.negative != other.negative, first: self.first + other.first, limbs }
    }

    /// self − other.
    pub(super) fn minus(&self, other: &Dyadic) -> Dyadic {
        let first = self.first.min(other.first);
        let end = |one: &Dyadic| one.first + one.limbs.len() as i32;
        let len = (end(self).max(end(other)) - first + 1) as usize;
        let (a, b) = (self.aligned(first, len), other.aligned(first, len));
        if self.negative != other.negative {
            return Dyadic { negative: self.negative, first, limbs: sum(&a, &b) };
        }
        match a.iter().rev().ge(b.iter().rev()) {
            true => Dyadic { negative: self.negative, first, limbs: difference(&a, &b) },
            false => Dyadic { negative: !self.negative, first, limbs: difference(&b, &a) },
        }
    }

    /// This number of limbs, from this index on.
    fn aligned(&self, first: i32, len: usize) -> Vec<u64> {
        let mut limbs = vec![0; (self.first - first) as usize];
        limbs.extend(&self.limbs);
        limbs.resize(len, 0);
        limbs
    }

    /// self / nᵗ for t = `times`, rounded once.
    pub(super) fn quotient(&self, n: u64, times: usize) -> f64 {
        // Two limbs more than the divisor takes away: the quotient has at least 64 bits.
        let mut limbs = vec![0; times + 2];
        limbs.extend(&self.limbs);
        let mut inexact = false;
        for _ in 0..times {
            let mut rest = 0;
            for limb in limbs.iter_mut().rev() {
                let part = u128::from(rest) << 64 | u128::from(*limb);
                *limb = (part / u128::from(n)) as u64;
                rest = (part % u128::from(n)) as u64;
            }
            inexact |= rest != 0;
        }
        Dyadic { negative: self.negative, first: self.first - times as i32 - 2, limbs }.rounded(inexact)
    }

    /// The nearest number of double precision.
    pub(super) fn to_f64(&self) -> f64 {
        self.rounded(false)
    }

    /// The nearest number of double precision; if `inexact`, the magnitude is larger by less than its lowest bit, and has
    /// more than 54 bits.
    fn rounded(&self, inexact: bool) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        let length = 64 * top as i32 + 64 - self.limbs[top].leading_zeros() as i32;
        let end = 64 * self.first + length;
        let sign = if self.negative { -1.0 } else { 1.0 };
        if end > 1024 {
            return sign * f64::INFINITY;
        }
        // The power of two of the last digit of the result, and its index among the bits.
        let last = (end - 53).max(-1074);
        let at = last - 64 * self.first;
        let bit = |i: i32| i >= 0 && self.limbs.get(i as usize / 64).is_some_and(|limb| limb >> (i % 64) & 1 == 1);
        let kept = (at..length).rev().fold(0u64, |kept, i| kept << 1 | u64::from(bit(i)));
        let below = || (0..at - 1).any(bit);
        let up = bit(at - 1) && (kept & 1 == 1 || inexact || below());
        sign * times_two_to((kept + u64::from(up)) as f64, last)
    }
}

/// a + b; the last limb of both is zero.
fn sum(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut carry = false;
    let add = |(&a, &b): (&u64, &u64)| {
        let ((partial, first), old) = (a.overflowing_add(b), carry);
        let (total, second) = partial.overflowing_add(old.into());
        carry = first | second;
        total
    };
    a.iter().zip(b).map(add).collect()
}

/// a − b for a ≥ b.
fn difference(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut borrow = false;
    let subtract = |(&a, &b): (&u64, &u64)| {
        let ((partial, first), old) = (a.overflowing_sub(b), borrow);
        let (total, second) = partial.overflowing_sub(old.into());
        borrow = first | second;
        total
    };
    a.iter().zip(b).map(subtract).collect()
}

//! Powers of two: factors that change no digit of a number.

/// The power of two of a number: ⌊log₂ |x|⌋; zero for zero and for what is not finite.
pub fn exponent(x: f64) -> i32 {
    let field = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32;
    match field(x) {
        0 if x == 0.0 => 0,
        0x7ff => 0,
        // Below the smallest normal number the exponent is in the leading digit.
        0 => field(x * two_to(64)) - 1023 - 64,
        normal => normal - 1023,
    }
}

/// x · 2^power, exact unless it leaves the range of normal numbers.
#[inline(always)]
pub fn times_two_to(x: f64, power: i32) -> f64 {
    let (mut x, mut power) = (x, power.clamp(-3000, 3000));
    while power > 1023 {
        (x, power) = (x * two_to(1023), power - 1023);
    }
    while power < -1022 {
        (x, power) = (x * two_to(-1022), power + 1022);
    }
    x * two_to(power)
}

/// 2^power of a normal number.
#[inline(always)]
fn two_to(power: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&power));
    f64::from_bits(((power + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_exact_over_the_whole_range() {
        for (x, power) in [(1.0, 0), (1.99, 0), (-2.0, 1), (0.75, -1), (f64::MAX, 1023), (f64::MIN_POSITIVE, -1022)] {
            assert_eq!(exponent(x), power, "{x:e}");
        }
        assert_eq!((exponent(5e-324), exponent(1.5e-310), exponent(0.0), exponent(f64::NAN)), (-1074, -1030, 0, 0));
        assert_eq!((times_two_to(3.0, 2), times_two_to(-3.0, -1)), (12.0, -1.5));
        assert_eq!(times_two_to(1.5, 1023), 1.5 * 2f64.powi(1023));
        assert_eq!(times_two_to(times_two_to(1.7, -1000), 1000), 1.7);
        assert_eq!((times_two_to(5e-324, 2097), times_two_to(f64::MAX, -2097)), (2f64.powi(1023), 1e-323));
        assert_eq!((times_two_to(1.0, 2000), times_two_to(1.0, -2000)), (f64::INFINITY, 0.0));
    }
}

//! Decimals as columnar formats have them: an integer, to be divided by a power of ten.

/// The largest power of ten, and the largest integers, that are exact as float64.
const EXACT_POWER: i32 = 22;
const EXACT_WHOLE: u128 = 1 << 53;

/// The number nearest to `whole` / 10^`scale`.
pub(super) fn number(whole: i128, scale: i32) -> f64 {
    if whole.unsigned_abs() <= EXACT_WHOLE && (0..=EXACT_POWER).contains(&scale) {
        return whole as f64 / 10f64.powi(scale);
    }
    // A text of digits and an exponent always parses.
    format!("{whole}e{}", -i64::from(scale)).parse().unwrap_or(f64::NAN)
}

/// The same in digits, without zeros at the end.
pub(super) fn text(whole: i128, scale: i32) -> String {
    let Some(places) = usize::try_from(scale).ok().filter(|places| (1..=100).contains(places)) else {
        return if scale == 0 { whole.to_string() } else { crate::text::csv::number(number(whole, scale)) };
    };
    let digits = format!("{:0>width$}", whole.unsigned_abs().to_string(), width = places + 1);
    let (integer, fraction) = digits.split_at(digits.len() - places);
    let fraction = fraction.trim_end_matches('0');
    let (sign, point) = (if whole < 0 { "-" } else { "" }, if fraction.is_empty() { "" } else { "." });
    format!("{sign}{integer}{point}{fraction}")
}

/// The integer of some bytes, the largest first, as a signed number; nothing if it has no room in 16 of them.
#[cfg(feature = "parquet")]
pub(super) fn from_bytes(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let (before, kept) = bytes.split_at(bytes.len().saturating_sub(16));
    let mut whole = [sign; 16];
    whole[16 - kept.len()..].copy_from_slice(kept);
    let fits = before.iter().all(|&byte| byte == sign) && (whole[0] & 0x80 != 0) == (sign == 0xff);
    (fits || before.is_empty()).then(|| i128::from_be_bytes(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_nearest_number_and_all_of_their_digits() {
        for (whole, scale, expected, digits) in [
            (3, 1, 0.3, "0.3"),
            (7, 2, 0.07, "0.07"),
            (-1250, 2, -12.5, "-12.5"),
            (-5, 1, -0.5, "-0.5"),
            (100, 2, 1.0, "1"),
            (12, 0, 12.0, "12"),
            (12, -3, 12000.0, "12000"),
            (
                123_456_789_012_345_678_901_234_567_i128,
                10,
                12_345_678_901_234_567.890_123,
                "12345678901234567.8901234567",
            ),
        ] {
            assert_eq!((number(whole, scale), text(whole, scale).as_str()), (expected, digits));
        }
        assert_eq!(number(i128::MAX, i32::MIN), f64::INFINITY);
        assert_eq!(number(1, i32::MAX), 0.0);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn bytes_are_signed_with_the_largest_first() {
        assert_eq!(from_bytes(&[0x04, 0xd2]), Some(1234));
        assert_eq!(from_bytes(&[0xff, 0xfe]), Some(-2));
        assert_eq!(from_bytes(&[]), Some(0));
        assert_eq!(from_bytes(&i128::MIN.to_be_bytes()), Some(i128::MIN));
        let mut long = [0xff; 20];
        long[19] = 0xfd;
        assert_eq!(from_bytes(&long), Some(-3));
        long[0] = 0;
        assert_eq!(from_bytes(&long), None);
    }
}

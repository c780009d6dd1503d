//! Validity checks for the numbers of a rule that was read from a file.

/// Whether all numbers are finite.
pub(super) fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// Whether a number is positive and finite.
pub(super) fn is_positive(value: f64) -> bool {
    value > 0.0 && value < f64::INFINITY
}

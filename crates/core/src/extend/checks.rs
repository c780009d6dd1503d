//! What numbers of a rule that was read from a file must be.

/// Whether there is nothing infinite and nothing undefined among them.
pub(super) fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// Whether a number is positive and finite.
pub(super) fn is_positive(value: f64) -> bool {
    value > 0.0 && value < f64::INFINITY
}

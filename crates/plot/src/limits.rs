//! Limits that a few far points do not set.

/// How many points may be drawn at the edge: three, or one in a hundred.
const FEW: (usize, usize) = (3, 100);
/// With fewer points, none is drawn at the edge.
const LEAST: usize = 10;
/// They are, if all others would take less than one part in this many of the range.
const SQUEEZED: f64 = 6.0;

/// The smallest and the largest of all values but those that would squeeze the others into a small part of the range.
pub(crate) fn of_most(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n == 0 {
        return (0.0, 0.0);
    }
    let median = sorted[n / 2];
    let (mut low, mut high) = (0, n - 1);
    let mut limits = (sorted[low], sorted[high]);
    let most = if n < LEAST { 0 } else { FEW.0.max(n / FEW.1) };
    for _ in 0..most {
        // Halves, since the whole of a difference may be beyond all numbers.
        if median / 2.0 - sorted[low] / 2.0 > sorted[high] / 2.0 - median / 2.0 {
            low += 1;
        } else {
            high -= 1;
        }
        if limits.1 / 2.0 - limits.0 / 2.0 > SQUEEZED * (sorted[high] / 2.0 - sorted[low] / 2.0) {
            limits = (sorted[low], sorted[high]);
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_few_that_squeeze_all_others_are_left_outside() {
        let even = || (0..100).map(f64::from);
        assert_eq!(of_most(even()), (0.0, 99.0));
        assert_eq!(of_most(even().chain([400.0])), (0.0, 400.0));
        assert_eq!(of_most(even().chain([1e9])), (0.0, 99.0));
        assert_eq!(of_most(even().chain([1e9, -1e5, 1e9])), (0.0, 99.0));
        assert_eq!(of_most(even().chain([1e9; 4])), (0.0, 1e9));
        assert_eq!(of_most([1.0; 20].into_iter().chain([1e9])), (1.0, 1.0));
        assert_eq!(of_most([0.0, 1.0, 1e9].into_iter()), (0.0, 1e9));
        assert_eq!(of_most([2.0].into_iter()), (2.0, 2.0));
    }
}

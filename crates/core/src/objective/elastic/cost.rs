//! The cost of the optimization of an elastic embedding: its evaluations of the repulsion of all points.

use crate::forces::repulsion::{Charges, RepulsionSum};
use eigenfold_linalg::cost::Cost;

/// CPU seconds of one evaluation, per ordered pair.
const PAIR: f64 = 9e-9;
/// The same by a grid or a tree, per point and charge.
const POINT: f64 = 1.5e-6;

/// The cost of this many evaluations; most optimizations use the maximum.
pub(super) fn cost(repulsion: &RepulsionSum, charges: &Charges, evaluations: usize) -> Cost {
    let n = charges.len() as f64;
    let one = match (repulsion, charges) {
        (RepulsionSum::Exact(_), _) | (RepulsionSum::Tree(_), Charges::Squares(_)) => PAIR * n * n,
        (_, Charges::Squares(squares)) => POINT * n * (squares.columns().1 + 2) as f64,
        (_, Charges::One(_)) => POINT * n,
    };
    Cost::AtMost(evaluations as f64 * one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forces::Kernel;
    use crate::forces::repulsion::Accuracy;
    use eigenfold_graph::points::Points;

    /// Measured CPU seconds (docs/decisions/0143-predicted-run-time.md).
    #[test]
    fn a_price_is_within_a_factor_of_three_of_what_it_took() {
        for (name, rows, columns, accuracy, evaluations, took) in [
            ("oil", 1000, 12, Accuracy::Exact, 1000, 9.3),
            ("digits", 1797, 64, Accuracy::Exact, 1000, 28.3),
            ("segmentation", 2310, 19, Accuracy::Exact, 1000, 44.4),
            ("swiss roll", 2000, 3, Accuracy::Exact, 83, 3.2),
            ("digits by a grid", 1797, 16, Accuracy::Fast, 100, 2.8),
            ("letter", 5000, 16, Accuracy::Fast, 46, 8.8),
        ] {
            let points = Points::new(rows, columns, vec![1.0; rows * columns]).unwrap();
            let (charges, repulsion) =
                (Charges::squares(&points, &points), RepulsionSum::of(Kernel::Gaussian, rows, 2, 0.5, accuracy));
            let Cost::AtMost(seconds) = cost(&repulsion, &charges, evaluations) else { panic!("{name}") };
            assert!((took / 3.0..3.0 * took).contains(&seconds), "{name}: {seconds} for {took}");
        }
    }
}

//! Coordinates that show a few points and hide all others.
//!
//! A map may follow its definition and still be of no use: where a few points hang on the rest by next to nothing, the
//! smoothest function over the graph is one that sets them apart, and a picture of it is two dots.

use crate::points::Points;

/// The share of the points that a picture is about.
const MOST: f64 = 0.98;
/// The share of a coordinate's length within which they are one dot.
const DOT: f64 = 0.01;
/// Fewer points than this are seen one by one.
const FEW: usize = 50;

/// A coordinate on which nearly all points are at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crowded {
    /// Counted from 1.
    coordinate: usize,
    /// How many points are elsewhere.
    apart: usize,
}

/// One sentence about the first coordinate on which nearly all points are at one place, if there is one.
pub(super) fn warning(map: &Points) -> Option<String> {
    let Crowded { coordinate, apart } = (0..map.cols()).find_map(|q| crowded(map, q))?;
    let (n, s) = (map.rows(), if apart == 1 { "" } else { "s" });
    Some(format!(
        "coordinate {coordinate} sets {apart} point{s} of {n} apart, and all others are within {:.0} % of its length; a \
         larger `bandwidth`, a larger `neighbors` or scaled columns may help, or leave out the point{s} apart",
        100.0 * DOT
    ))
}

/// Whether 98 of 100 points are within a hundredth of the coordinate's length around its median.
fn crowded(map: &Points, q: usize) -> Option<Crowded> {
    let n = map.rows();
    if n < FEW {
        return None;
    }
    let mut values: Vec<f64> = (0..n).map(|i| map.row(i)[q]).collect();
    values.sort_by(f64::total_cmp);
    let (median, length) = (values[n / 2], values[n - 1] - values[0]);
    let apart = values.iter().filter(|&&value| (value - median).abs() > 0.5 * DOT * length).count();
    let rare = apart as f64 <= (1.0 - MOST) * n as f64;
    (rare && length > 0.0).then_some(Crowded { coordinate: q + 1, apart })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(far: usize, spread: f64) -> Points {
        let value = |i: usize| if i < far { 1.0 + i as f64 } else { spread * (i as f64 * 0.618).fract() };
        Points::new(200, 1, (0..200).map(value).collect()).unwrap()
    }

    #[test]
    fn a_few_points_apart_from_a_dot_are_said_and_a_cloud_with_a_few_far_points_is_not() {
        let told = warning(&column(2, 1e-9)).unwrap();
        assert!(told.starts_with("coordinate 1 sets 2 points of 200 apart"), "{told}");
        assert!(warning(&column(1, 1e-9)).unwrap().contains("1 point of 200"));
        // Ten far points are a group, and a cloud of a tenth of the length is no dot.
        assert_eq!(warning(&column(10, 1e-9)), None);
        assert_eq!(warning(&column(2, 0.2)), None);
        assert_eq!(warning(&column(0, 1.0)), None);
        assert_eq!(warning(&Points::new(60, 1, vec![3.0; 60]).unwrap()), None);
    }
}

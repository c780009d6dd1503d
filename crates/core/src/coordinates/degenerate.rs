//! Degenerate maps: a few outliers that hide all other points, or a few dots with nothing within them.
//!
//! A map may follow its definition and still be useless. If a few points are weakly connected to the rest, the
//! smoothest function over the graph separates them from the rest, and a plot of it shows two dots.

use eigenfold_graph::points::Points;
use eigenfold_linalg::sort::largest_first;

/// The share of the points that must be in dots for a map to be degenerate.
const MOST: f64 = 0.98;
/// The share of a coordinate's length within which points are one dot.
const DOT: f64 = 0.01;
/// The minimum number of points for the check.
const FEW: usize = 50;
/// The maximum number of dots of a degenerate map.
const DOTS: usize = 4;
/// A coordinate is degenerate if its length is at most this fraction of that of the longest one.
const FLAT: f64 = 1e-9;
/// An eigenvalue of a graph below this is rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// The suggestion.
const HELP: &str = "a larger `neighbors`, `bandwidth` local or scaled columns may help";

/// The warning about a map that consists of a few dots: one sentence about the first coordinate whose eigenvalue is
/// below `zero`, about the first on which nearly all points coincide, or about all of them.
pub(super) fn warning(map: &Points, eigenvalues: &[f64], zero: Option<f64>) -> Option<String> {
    let n = map.rows();
    if n < FEW {
        return None;
    }
    let torn = zero.and_then(|zero| (0..map.cols()).find(|&q| eigenvalues.get(q).is_some_and(|value| *value < zero)));
    if let Some(q) = torn {
        let (coordinate, few) = (q + 1, few_of(map, q));
        let (them, s) = if few == 1 { ("it", "") } else { ("them", "s") };
        let rare = few as f64 <= (1.0 - MOST) * n as f64;
        let or = if rare { format!(", or leave out the point{s} apart") } else { String::new() };
        return Some(format!(
            "coordinate {coordinate} separates {few} of {n} points; its eigenvalue is numerically zero, since almost no \
             weight connects {them} to the others; {HELP}{or}"
        ));
    }
    if let Some((q, apart)) = (0..map.cols()).find_map(|q| Some((q, crowded(map, q)?))) {
        let (coordinate, s) = (q + 1, if apart == 1 { "" } else { "s" });
        return Some(format!(
            "coordinate {coordinate} sets {apart} point{s} of {n} apart, and all others are within {:.0} % of its length; \
             {HELP}, or leave out the point{s} apart",
            100.0 * DOT
        ));
    }
    let dots = dots(map)?;
    let sizes: Vec<String> = dots.iter().map(usize::to_string).collect();
    Some(format!(
        "the map collapses to {} dots ({} of {n} points): it separates groups and shows nothing within them; {HELP}, or umap",
        dots.len(),
        sizes.join(", ")
    ))
}

/// The warning about a map that is constant along a coordinate.
pub(super) fn flat(map: &Points) -> Option<String> {
    let lengths: Vec<f64> = (0..map.cols()).map(|q| length(&column(map, q))).collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    if longest == 0.0 {
        return Some("all points coincide on the map; use another method, or other parameters".into());
    }
    let q = lengths.iter().position(|&length| length <= FLAT * longest)?;
    let fewer = if q > 0 { format!("`dims` {q}, or ") } else { String::new() };
    Some(format!(
        "coordinate {} is the same for all points: the optimization found no variation along it; use {fewer}another method",
        q + 1
    ))
}

/// The length of a coordinate.
fn length(values: &[f64]) -> f64 {
    let (low, high) = ends(values);
    high - low
}

/// The lowest and the highest value.
fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((values[0], values[0]), |(low, high), &value| (low.min(value), high.max(value)))
}

/// The number of points beyond the widest gap of a coordinate, on the smaller side.
fn few_of(map: &Points, q: usize) -> usize {
    let mut values = column(map, q);
    values.sort_by(f64::total_cmp);
    let gap = |at: &usize| values[*at] - values[at - 1];
    let widest = (1..values.len()).max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
    widest.min(values.len() - widest)
}

/// The number of points elsewhere, if 98 % are within a hundredth of the coordinate's length around its median.
fn crowded(map: &Points, q: usize) -> Option<usize> {
    let mut values = column(map, q);
    let (n, length) = (values.len(), length(&values));
    let median = *values.select_nth_unstable_by(n / 2, f64::total_cmp).1;
    let apart = values.iter().filter(|&&value| (value - median).abs() > 0.5 * DOT * length).count();
    let rare = apart as f64 <= (1.0 - MOST) * n as f64;
    (rare && length > 0.0).then_some(apart)
}

fn column(map: &Points, q: usize) -> Vec<f64> {
    (0..map.rows()).map(|i| map.row(i)[q]).collect()
}

/// At least as many points as a dot can have that is as long as a dot along a coordinate.
fn fullest(values: &[f64]) -> usize {
    let (low, high) = ends(values);
    let scale = 1.0 / (DOT * (high - low)).max(f64::MIN_POSITIVE);
    let mut bins = vec![0usize; (1.0 / DOT) as usize + 1];
    let last = bins.len() - 1;
    values.iter().for_each(|value| bins[(((value - low) * scale) as usize).min(last)] += 1);
    // A dot is as long as a bin, and so within two of them, or three by rounding.
    bins.windows(3).map(|some| some.iter().sum()).max().unwrap_or(0)
}

/// The sizes of a few dots, largest first, if they hold 98 % of the points. A dot is all points within half a hundredth
/// of every coordinate's length around its first.
fn dots(map: &Points) -> Option<Vec<usize>> {
    // Points between the dots may come first; they are few.
    let spare = ((1.0 - MOST) * map.rows() as f64) as usize;
    let columns: Vec<Vec<f64>> = (0..map.cols()).map(|q| column(map, q)).collect();
    if columns.iter().any(|values| DOTS * fullest(values) < map.rows() - spare) {
        return None;
    }
    let lengths: Vec<f64> = columns.iter().map(|values| length(values)).collect();
    let near = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).zip(&lengths).all(|((a, b), length)| (a - b).abs() <= 0.5 * DOT * length)
    };
    let (mut left, mut sizes): (Vec<usize>, Vec<usize>) = ((0..map.rows()).collect(), Vec::new());
    let mut odd = 0;
    while let Some(&first) = left.first() {
        let (dot, rest): (Vec<usize>, Vec<usize>) = left.iter().partition(|&&i| near(map.row(i), map.row(first)));
        left = rest;
        if dot.len() <= spare {
            odd += dot.len();
        } else {
            sizes.push(dot.len());
        }
        if odd > spare || sizes.len() > DOTS {
            return None;
        }
    }
    sizes.sort_unstable_by(largest_first);
    (sizes.len() > 1).then_some(sizes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn column(far: usize, spread: f64) -> Points {
        let value = |i: usize| if i < far { 1.0 + i as f64 } else { spread * (i as f64 * 0.618).fract() };
        Points::new(200, 1, (0..200).map(value).collect()).unwrap()
    }

    fn message(map: &Points) -> Option<String> {
        warning(map, &[1e-3], Some(ROUNDING))
    }

    #[test]
    fn a_few_points_apart_from_a_dot_are_said_and_a_cloud_with_a_few_far_points_is_not() {
        let said = message(&column(2, 1e-9)).unwrap();
        assert!(said.starts_with("coordinate 1 sets 2 points of 200 apart"), "{said}");
        assert!(message(&column(1, 1e-9)).unwrap().contains("1 point of 200"));
        // Ten far points are a group, and a cloud of a tenth of the length is not a dot.
        assert_eq!(message(&column(10, 1e-9)), None);
        assert_eq!(message(&column(2, 0.2)), None);
        assert_eq!(message(&column(0, 1.0)), None);
        assert_eq!(message(&Points::new(60, 1, vec![3.0; 60]).unwrap()), None);
    }

    #[test]
    fn no_dot_has_more_points_than_the_fullest_stretch() {
        let dot = (0..50).map(|i| 0.495 + 0.01 * f64::from(i) / 49.0);
        assert!(fullest(&[0.0, 1.0].into_iter().chain(dot).collect::<Vec<f64>>()) >= 50);
        let even: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!((10..=40).contains(&fullest(&even)), "{}", fullest(&even));
        assert_eq!(fullest(&[3.0; 60]), 60);
    }

    #[test]
    fn a_coordinate_that_all_points_share_is_said_however_few_they_are() {
        let map = |last: f64| Points::from_rows(&[[0.0, 0.0], [1.0, last], [2.0, 0.0]]).unwrap();
        assert!(flat(&map(1e-12)).unwrap().starts_with("coordinate 2 is the same for all points"));
        assert_eq!(flat(&map(1e-3)), None);
        let turned = Points::from_rows(&[[0.0, 0.0], [0.0, 1.0]]).unwrap();
        assert!(flat(&turned).unwrap().starts_with("coordinate 1 is the same"));
        assert!(flat(&Points::new(3, 2, vec![4.0; 6]).unwrap()).unwrap().starts_with("all points coincide on the map"));
    }

    #[test]
    fn a_coordinate_without_a_spring_and_a_map_of_three_dots_are_said() {
        let group = |i: usize| if i < 9 { 5.0 } else { (i as f64 * 0.618).fract() };
        let group = Points::new(200, 1, (0..200).map(group).collect()).unwrap();
        let torn = warning(&group, &[-7e-17], Some(ROUNDING)).unwrap();
        assert!(
            torn.starts_with("coordinate 1 separates 9 of 200 points; its eigenvalue is numerically zero"),
            "{torn}"
        );
        assert_eq!(warning(&group, &[-7e-17], None), None);
        let place = |i: usize| [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]][(i % 10).saturating_sub(7)];
        let three = |spread: f64| {
            let row = |i: usize| place(i).map(|y| y + spread * (i as f64 * 0.618).fract());
            Points::from_rows(&(0..200).map(row).collect::<Vec<_>>()).unwrap()
        };
        let said = message(&three(1e-3)).unwrap();
        assert!(said.starts_with("the map collapses to 3 dots (160, 20, 20 of 200 points)"), "{said}");
        assert_eq!(message(&three(0.1)), None);
    }
}

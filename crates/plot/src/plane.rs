//! Where each point goes on paper: one, two or three coordinates, or more, onto two.

use super::{Coloring, axes, limits};
use eigenfold::Points;

/// How far a three-dimensional embedding is turned about its vertical axis, in degrees.
const TURN: f64 = 30.0;
/// How far it is then tilted towards the reader, in degrees.
const TILT: f64 = 20.0;

/// The points on paper, in the embedding's units, the second coordinate upwards.
pub(crate) struct Plane {
    /// One position a point.
    pub(crate) at: Vec<(f64, f64)>,
    /// Which point is drawn first, second, ...
    pub(crate) order: Vec<usize>,
    /// What the axes are.
    pub(crate) axes: Axes,
    /// Notes about this view.
    pub(crate) note: Option<String>,
}

/// What the axes are.
pub(crate) enum Axes {
    /// Two numbers, and what they are called; one unit may be as long on both.
    Numbers {
        /// The horizontal one.
        x: String,
        /// The vertical one.
        y: String,
        /// Whether they have the same unit.
        alike: bool,
    },
    /// A number, and a row of the picture for each class.
    Strips {
        /// The classes from bottom to top.
        names: Vec<String>,
    },
    /// Three axes seen from the side and above.
    Turned(Cube),
}

/// The box around three coordinates, as it is seen.
pub(crate) struct Cube {
    /// The corners on paper; the bits of an index are right, up and away.
    pub(crate) corners: [(f64, f64); 8],
    /// The corner that is nearest to the reader; its edges would lie before the points.
    pub(crate) nearest: usize,
    /// How far away each point is: 0 the nearest, 1 the farthest.
    pub(crate) away: Vec<f64>,
}

/// Lays the embedding out.
pub(crate) fn plane(points: &Points, coloring: &Coloring, behind: usize) -> Plane {
    match points.cols() {
        1 => line(points, coloring, behind),
        3 => turned(points),
        _ => pair(points),
    }
}

fn pair(points: &Points) -> Plane {
    let at = (0..points.rows()).map(|i| (points.row(i)[0], points.row(i)[1])).collect();
    let axes = Axes::Numbers { x: "dimension 1".into(), y: "dimension 2".into(), alike: true };
    Plane { at, order: scattered(points.rows()), axes, note: None }
}

/// The coordinate against the value that colors it, against its class, or against its row.
fn line(points: &Points, coloring: &Coloring, behind: usize) -> Plane {
    let n = points.rows();
    let spread = |i: usize| 0.7 * ((i as f64 * 0.618_033_988_75).fract() - 0.5);
    let numbers = |y: &str| Axes::Numbers { x: "dimension 1".into(), y: y.into(), alike: false };
    let (heights, axes, note): (Vec<f64>, _, _) = match coloring {
        Coloring::Values { title, values } => {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let note = values.iter().any(|v| v.is_nan()).then(|| "grey points have no value".to_string());
            (values.iter().map(|&v| if v.is_nan() { low } else { v }).collect(), numbers(title), note)
        }
        Coloring::Classes { names, of, .. } => {
            let mut names = names.clone();
            let none = names.len() as f64;
            if of[behind..].contains(&None) {
                names.push("no label".into());
            }
            let below = names.len() as f64;
            if behind > 0 {
                names.push("training".into());
            }
            let strip = |(i, class): (usize, &Option<u32>)| match class {
                _ if i < behind => below,
                class => class.map_or(none, f64::from),
            };
            let heights = of.iter().enumerate().map(|(i, class)| strip((i, class)) + spread(i)).collect();
            (heights, Axes::Strips { names }, Some("heights within a class mean nothing".to_string()))
        }
        Coloring::One if behind > 0 => {
            let heights = (0..n).map(|i| f64::from(i < behind) + spread(i)).collect();
            let names = vec!["new".to_string(), "training".to_string()];
            (heights, Axes::Strips { names }, Some("heights within a row mean nothing".to_string()))
        }
        Coloring::One => ((1..=n).map(|i| i as f64).collect(), numbers("row"), None),
    };
    let at = heights.into_iter().enumerate().map(|(i, height)| (points.row(i)[0], height)).collect();
    Plane { at, order: scattered(n), axes, note }
}

/// Three coordinates seen from a little to the side and above, far points first.
fn turned(points: &Points) -> Plane {
    let (turn, tilt) = (TURN.to_radians(), TILT.to_radians());
    let seen = |p: &[f64]| {
        let across = turn.cos() * p[0] + turn.sin() * p[2];
        let away = -turn.sin() * p[0] + turn.cos() * p[2];
        (across, tilt.cos() * p[1] + tilt.sin() * away, tilt.cos() * away - tilt.sin() * p[1])
    };
    let placed: Vec<_> = (0..points.rows()).map(|i| seen(points.row(i))).collect();
    let mut order: Vec<usize> = (0..points.rows()).collect();
    order.sort_by(|&a, &b| placed[b].2.total_cmp(&placed[a].2).then(a.cmp(&b)));
    let limits = [0, 1, 2].map(|q| {
        let (low, high) = limits::of_most((0..points.rows()).map(|i| points.row(i)[q]));
        axes::range([low, high].into_iter())
    });
    let corner = |bits: usize| [0, 1, 2].map(|q| if bits >> q & 1 == 0 { limits[q].0 } else { limits[q].1 });
    let corners: [_; 8] = std::array::from_fn(|bits| seen(&corner(bits)));
    let nearest = (0..8).fold(0, |near, bits| if corners[bits].2 < corners[near].2 { bits } else { near });
    let depths = corners.map(|corner| corner.2);
    let (near, far) = depths.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let depth =
        |place: &(f64, f64, f64)| if far > near { ((place.2 - near) / (far - near)).clamp(0.0, 1.0) } else { 0.5 };
    let away = placed.iter().map(depth).collect();
    let axes = Axes::Turned(Cube { corners: corners.map(|corner| (corner.0, corner.1)), nearest, away });
    Plane { at: placed.into_iter().map(|p| (p.0, p.1)).collect(), order, axes, note: None }
}

/// Every index once, in an order that is the same every time and lets no class cover another.
pub(crate) fn scattered(n: usize) -> Vec<usize> {
    let mut step = ((n as f64 * 0.618_033_988_75) as usize).max(1);
    while divisor(step, n) != 1 {
        step += 1;
    }
    (0..n).map(|i| (i as u128 * step as u128 % n as u128) as usize).collect()
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_once() {
        for n in 1..200 {
            let mut order = scattered(n);
            order.sort_unstable();
            assert!(order.iter().enumerate().all(|(i, &o)| i == o), "{n}");
        }
    }

    #[test]
    fn turning_keeps_the_nearest_point_last() {
        let points = Points::from_rows(&[[0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]).unwrap();
        assert_eq!(plane(&points, &Coloring::One, 0).order, [1, 2, 0]);
    }

    #[test]
    fn three_coordinates_are_projected_into_a_box_that_holds_them() {
        let row = |i: usize| [0, 1, 2].map(|q| ((i * (q + 2)) as f64 * 0.37).sin() * (q + 1) as f64);
        let points = Points::from_rows(&(0..100).map(row).collect::<Vec<_>>()).unwrap();
        let plane = plane(&points, &Coloring::One, 0);
        let Axes::Turned(cube) = &plane.axes else { panic!("three axes") };
        for (i, &(x, y)) in plane.at.iter().enumerate() {
            let within = |of: fn(&(f64, f64)) -> f64, value: f64| {
                let (low, high) =
                    cube.corners.iter().map(of).fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
                (low..=high).contains(&value)
            };
            assert!(within(|c| c.0, x) && within(|c| c.1, y) && (0.0..=1.0).contains(&cube.away[i]));
        }
        // To the right, up and away is to the right, up, and up and to the right on paper.
        let from = |bits: usize| (cube.corners[bits].0 - cube.corners[0].0, cube.corners[bits].1 - cube.corners[0].1);
        assert!(from(1).0 > 0.0 && from(2).1 > 0.0 && from(2).0.abs() < 1e-9 && from(4).0 > 0.0 && from(4).1 > 0.0);
        assert_eq!(cube.nearest, 3);
        // Drawn from the farthest to the nearest.
        assert!(plane.order.windows(2).all(|pair| cube.away[pair[0]] >= cube.away[pair[1]]));
    }
}

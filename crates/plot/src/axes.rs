//! Scales, ticks and the grid.

use super::font;
use super::limits;
use super::plane::{Axes, Cube, Plane};
use super::scene::{Anchor, Area, Scene};

/// Axes of one unit are drawn to one scale unless one range is this many times the other.
const MOST_UNEQUAL: f64 = 8.0;
/// Empty space around the points, as a part of their range.
const MARGIN: f64 = 0.04;

/// A straight map of a range of numbers onto paper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// `low` goes to `from` and `high` to `to`.
    pub(crate) fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Scale {
        Scale { low, high, from, to }
    }

    /// Where `value` is on paper.
    pub(crate) fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// What is at this place on paper.
    pub(crate) fn value(&self, at: f64) -> f64 {
        self.low + (at - self.from) / (self.to - self.from) * (self.high - self.low)
    }

    /// About `count` round numbers within the range, with their texts.
    pub(crate) fn ticks(&self, count: f64) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / count;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= rough).unwrap_or(10.0 * power);
        let first = (self.low / step).ceil();
        let last = (self.high / step).floor();
        let count = (last - first) as usize;
        (0..=count).map(|i| (first + i as f64) * step).map(|v| (v, number(v, step))).collect()
    }
}

/// A tick's text: as many decimals as the step needs, or an exponent where that is shorter.
fn number(value: f64, step: f64) -> String {
    let text = if value.abs() < step / 2.0 {
        "0".to_string()
    } else if !(1e-4..1e5).contains(&value.abs().max(step)) {
        let digits = (value.abs().log10().floor() - step.log10().floor()).max(0.0) as usize;
        format!("{value:.digits$e}")
    } else {
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        format!("{value:.decimals$}")
    };
    text.replace('-', "−")
}

/// The two ranges that are drawn, and whether a unit has the same length on both.
pub(crate) fn ranges(plane: &Plane) -> ((f64, f64), (f64, f64), bool) {
    let ends = |(low, high): (f64, f64)| [low, high].into_iter();
    let mut x = range(ends(limits::of_most(plane.at.iter().map(|p| p.0))));
    let mut y = range(ends(limits::of_most(plane.at.iter().map(|p| p.1))));
    if let Axes::Strips { names } = &plane.axes {
        y = (-0.6, names.len() as f64 - 0.4);
    }
    if let Axes::Turned(cube) = &plane.axes {
        // The whole box, with the names of its edges.
        x = range(cube.corners.iter().map(|corner| corner.0));
        y = range(cube.corners.iter().map(|corner| corner.1));
        y.0 -= 0.05 * (y.1 - y.0);
    }
    let ratio = (x.1 - x.0) / (y.1 - y.0);
    let alike = match plane.axes {
        Axes::Numbers { alike, .. } => alike && (1.0 / MOST_UNEQUAL..=MOST_UNEQUAL).contains(&ratio),
        Axes::Strips { .. } => false,
        Axes::Turned(_) => true,
    };
    (x, y, alike)
}

/// The two scales of the picture's main area, and whether a unit has the same length on both.
pub(crate) fn scales(plane: &Plane, area: Area) -> (Scale, Scale, bool) {
    let (mut x, mut y, alike) = ranges(plane);
    if alike {
        let unit = ((x.1 - x.0) / area.width).max((y.1 - y.0) / area.height);
        x = widened(x, unit * area.width);
        y = widened(y, unit * area.height);
    }
    (Scale::new(x, (area.x, area.right())), Scale::new(y, (area.bottom(), area.y)), alike)
}

/// The smallest and the largest number, a little apart from the edges; never empty.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let size = high - low;
    if !size.is_finite() {
        // Beyond all numbers: there is nothing to draw, or no difference of its ends.
        return if low.is_finite() && high.is_finite() { (low / 2.0, high / 2.0) } else { (0.0, 1.0) };
    }
    // A range that is rounding noise, or nothing, is drawn as a point in the middle.
    let floor = 1e-12 * low.abs().max(high.abs());
    if size <= floor || size == 0.0 {
        let half = if low == 0.0 { 1.0 } else { low.abs() };
        return (low - half, high + half);
    }
    (low - MARGIN * size, high + MARGIN * size)
}

fn widened((low, high): (f64, f64), size: f64) -> (f64, f64) {
    let more = (size - (high - low)) / 2.0;
    (low - more, high + more)
}

/// Draws the grid with its numbers and names, below the points.
pub(crate) fn draw(scene: &mut Scene, area: Area, axes: &Axes, x: &Scale, y: &Scale) {
    match axes {
        Axes::Turned(cube) => draw_box(scene, cube, x, y),
        Axes::Numbers { x: across, y: up, .. } => {
            columns(scene, area, x, &x.ticks(columns_of(area)), Some(across));
            rows(scene, area, y, &y.ticks((area.height / 75.0).clamp(3.0, 12.0)), Some(up));
        }
        Axes::Strips { names } => {
            columns(scene, area, x, &x.ticks(columns_of(area)), Some("dimension 1"));
            let ticks: Vec<_> = names.iter().enumerate().map(|(i, name)| (i as f64, name.clone())).collect();
            let every = ticks.len().div_ceil(30).max(1);
            let ticks: Vec<_> = ticks.into_iter().step_by(every).collect();
            rows(scene, area, y, &ticks, None);
        }
    }
}

/// About how many numbers an axis has room for.
fn columns_of(area: Area) -> f64 {
    (area.width / 75.0).clamp(2.0, 12.0)
}

/// Draws a grid line with its text for every tick, and the name of the axis below them.
pub(crate) fn columns(scene: &mut Scene, area: Area, scale: &Scale, ticks: &[(f64, String)], name: Option<&str>) {
    for (value, text) in ticks {
        let x = scale.at(*value);
        scene.line((x, area.y), (x, area.bottom()), 1.0, scene.colors.grid);
        scene.text((x, area.bottom() + 16.0), 11.0, Anchor::Middle, scene.colors.grey, text.clone());
    }
    if let Some(name) = name {
        scene.text((area.x + area.width / 2.0, area.bottom() + 33.0), 12.0, Anchor::Middle, scene.colors.ink, name);
    }
}

/// Draws a grid line with its text for every tick, and the name of the axis above them.
pub(crate) fn rows(scene: &mut Scene, area: Area, scale: &Scale, ticks: &[(f64, String)], name: Option<&str>) {
    for (value, text) in ticks {
        let y = scale.at(*value);
        scene.line((area.x, y), (area.right(), y), 1.0, scene.colors.grid);
        let text = font::fitted(text, 11.0, area.x - 12.0);
        scene.text((area.x - 7.0, y + 4.0), 11.0, Anchor::End, scene.colors.grey, text);
    }
    if let Some(name) = name {
        let long = font::width(name, 12.0) > area.x - 10.0;
        let (x, anchor) = if long { (24.0, Anchor::Start) } else { (area.x - 7.0, Anchor::End) };
        scene.text((x, area.y - 11.0), 12.0, anchor, scene.colors.ink, font::fitted(name, 12.0, area.width));
    }
}

/// The faces of the box behind the points, and the names of its edges.
fn draw_box(scene: &mut Scene, cube: &Cube, x: &Scale, y: &Scale) {
    let place = |corner: usize| (x.at(cube.corners[corner].0), y.at(cube.corners[corner].1));
    let edges = || (0..8usize).flat_map(|a| [1, 2, 4].map(|bit| (a, a | bit))).filter(|(a, b)| a != b);
    for (a, b) in edges().filter(|&(a, b)| a != cube.nearest && b != cube.nearest) {
        scene.line(place(a), place(b), 1.25, scene.colors.grid);
    }
    let middle = |a: usize, b: usize| {
        let ((x, y), (u, v)) = (place(a), place(b));
        ((x + u) / 2.0, (y + v) / 2.0)
    };
    // Bits: 1 right, 2 up, 4 away. Seen from the right and above, the lower edges to the left and right are free.
    let [across, up, away] = [middle(0, 1), middle(0, 2), middle(1, 5)];
    let (ink, size) = (scene.colors.ink, 12.0);
    scene.text((across.0 - 6.0, across.1 + 16.0), size, Anchor::Middle, ink, "dimension 1");
    scene.text((away.0 + 10.0, away.1 + 14.0), size, Anchor::Start, ink, "dimension 3");
    scene.text((up.0 - 8.0, up.1 + 4.0), size, Anchor::End, ink, "dimension 2");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> Vec<String> {
        Scale::new((low, high), (0.0, 1.0)).ticks(5.0).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(0.0, 10.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(-0.25, 0.25), ["−0.2", "−0.1", "0", "0.1", "0.2"]);
        assert_eq!(texts(0.0, 3e-6), ["0", "1e−6", "2e−6", "3e−6"]);
        assert_eq!(texts(0.0, 2.5e7), ["0", "5e6", "1.0e7", "1.5e7", "2.0e7", "2.5e7"]);
    }

    #[test]
    fn a_range_is_never_empty() {
        for value in [0.0, 3.0, -1e150, 1e-300] {
            let (low, high) = range([value, value].into_iter());
            assert!(low < value && value < high, "{value}: {low} {high}");
        }
    }
}

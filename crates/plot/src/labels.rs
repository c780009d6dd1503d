//! The names of the classes, written where their points are.

use super::font;
use super::room::Room;
use super::scene::{Anchor, Area, Mark, Rgb, Scene};

/// The most classes whose names are written.
const MOST: usize = 20;
/// The fewest points of a class whose name is written: fewer may be anywhere.
const FEWEST: usize = 15;
/// The widest name, as a part of the picture's width; with wider ones nothing is written.
const WIDEST: f64 = 0.3;
/// The side of a cell in which points are counted.
const CELL: f64 = 7.0;
/// How often the counts are smoothed: each time by the mean with the cells around.
const SMOOTHED: usize = 5;
/// A name may stand where its class has this part of the (smoothed) points.
const LEAST_SHARE: f64 = 0.5;
/// And where there are this many times as many of its points as where they are densest.
const LEAST_DENSITY: f64 = 0.25;
/// Free paper around a name.
const GAP: f64 = 3.0;
/// How wide a name may be to stand on the points, where it stands out among few; longer ones look for free paper beside them first.
const SHORT: f64 = 26.0;

/// The points of a picture and their classes.
pub(crate) struct Classes<'a> {
    /// What the classes are called.
    pub(crate) names: &'a [String],
    /// The class of each point.
    pub(crate) of: &'a [Option<u32>],
    /// Where each point is on paper.
    pub(crate) at: &'a [(f64, f64)],
    /// How far a dot reaches.
    pub(crate) radius: f64,
}

/// The name of a class with its place.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// Which class it is.
    pub(crate) class: usize,
    /// Where it stands.
    pub(crate) area: Area,
    /// The font's size.
    size: f64,
    text: String,
}

impl Label {
    pub(crate) fn draw(&self, scene: &mut Scene, color: Rgb) {
        let at = (self.area.x + self.area.width / 2.0, self.area.y + self.area.height / 2.0 + 0.36 * self.size);
        let (size, anchor, text) = (self.size, Anchor::Middle, self.text.clone());
        scene.marks.push(Mark::Text { at, size, anchor, color, text, halo: 3.0 });
    }
}

impl Classes<'_> {
    /// A place for the name of every class for which there is a good one; none lies on another.
    pub(crate) fn labels(&self, main: Area) -> Vec<Label> {
        let shown: Vec<usize> =
            (0..self.names.len()).filter(|&class| self.points(class, main).next().is_some()).collect();
        if shown.len() < 2 || shown.len() > MOST {
            return Vec::new();
        }
        let longest = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let size = match (shown.len(), longest) {
            (..=12, ..=2) => 22.0,
            (..=12, _) => 14.0,
            _ => 12.0,
        };
        let grid = Counts::new(main);
        let counted: Vec<Vec<f64>> = shown.iter().map(|&class| grid.smoothed(self.points(class, main))).collect();
        let total: Vec<f64> = (0..grid.cells()).map(|cell| counted.iter().map(|own| own[cell]).sum()).collect();
        let mut dots = Room::new(main);
        for &(x, y) in self.at.iter().filter(|at| inside(main, **at)) {
            let (x, y, side) = (x - self.radius, y - self.radius, 2.0 * self.radius);
            dots.take(Area { x, y, width: side, height: side });
        }
        // The places of a class, best first: the cells where it is dense and among itself.
        let mut wanted: Vec<(usize, Vec<Area>)> = Vec::new();
        for (&class, own) in shown.iter().zip(&counted) {
            let text = &self.names[class];
            let (width, height) = (font::width(text, size) + 2.0 * GAP, size + GAP);
            let few = self.points(class, main).count() < FEWEST;
            if few || text.trim().is_empty() || width > WIDEST * main.width {
                continue;
            }
            let around = |(x, y): (f64, f64)| Area { x: x - width / 2.0, y: y - height / 2.0, width, height };
            let densest = own.iter().copied().fold(0.0, f64::max);
            let score = |cell: usize| own[cell] * own[cell] / total[cell].max(f64::MIN_POSITIVE);
            let mut cells: Vec<usize> = (0..grid.cells())
                .filter(|&cell| own[cell] >= LEAST_DENSITY * densest && own[cell] >= LEAST_SHARE * total[cell])
                .collect();
            cells.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
            let on = cells.iter().map(|&cell| around(grid.center(cell)));
            let beside = self.beside(class, main, (width, height)).into_iter().filter(|&area| dots.is_free(area));
            let places: Vec<Area> = if width > SHORT { beside.chain(on).collect() } else { on.collect() };
            wanted.push((class, places));
        }
        // Those with the fewest places choose first.
        wanted.sort_by_key(|(class, places)| (places.len(), *class));
        let mut room = Room::new(main);
        let mut labels = Vec::new();
        for (class, places) in wanted {
            if let Some(&area) = places.iter().find(|&&area| room.is_free(area)) {
                room.take(area);
                labels.push(Label { class, area, size, text: self.names[class].clone() });
            }
        }
        labels.sort_by_key(|label| label.class);
        labels
    }

    /// The points of a class that are drawn.
    fn points(&self, class: usize, main: Area) -> impl Iterator<Item = (f64, f64)> + '_ {
        let own = self.of.iter().zip(self.at).filter(move |(of, _)| **of == Some(class as u32));
        own.map(|(_, at)| *at).filter(move |&at| inside(main, at))
    }

    /// Places above, below, to the right and to the left of a class, each as near as its points there let it come.
    fn beside(&self, class: usize, main: Area, (width, height): (f64, f64)) -> Vec<Area> {
        let (xs, ys): (Vec<f64>, Vec<f64>) = self.points(class, main).unzip();
        let sorted = |values: &[f64]| {
            let mut values = values.to_vec();
            values.sort_by(f64::total_cmp);
            values
        };
        let (across, up) = (sorted(&xs), sorted(&ys));
        let at = |values: &[f64], share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        let far = self.radius + GAP;
        // The ends, along one axis, of the points within half a length of a value along the other.
        let ends = |along: &[f64], values: &[f64], middle: f64, length: f64| {
            let there = along.iter().zip(values).filter(|(along, _)| (**along - middle).abs() <= length / 2.0 + far);
            there.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, &v)| (low.min(v), high.max(v)))
        };
        let mut places = Vec::new();
        for share in [0.5, 0.25, 0.75] {
            let (x, y) = (at(&across, share), at(&up, share));
            let (top, bottom) = ends(&xs, &ys, x, width);
            let (left, right) = ends(&ys, &xs, y, height);
            places.push((x - width / 2.0, top - far - height));
            places.push((x - width / 2.0, bottom + far));
            places.push((right + far, y - height / 2.0));
            places.push((left - far - width, y - height / 2.0));
        }
        places.into_iter().map(|(x, y)| Area { x, y, width, height }).collect()
    }
}

fn inside(main: Area, (x, y): (f64, f64)) -> bool {
    (main.x..=main.right()).contains(&x) && (main.y..=main.bottom()).contains(&y)
}

/// Cells in which points are counted.
struct Counts {
    main: Area,
    columns: usize,
    rows: usize,
}

impl Counts {
    fn new(main: Area) -> Counts {
        let count = |length: f64| (length / CELL).ceil().max(1.0) as usize;
        Counts { main, columns: count(main.width), rows: count(main.height) }
    }

    fn cells(&self) -> usize {
        self.columns * self.rows
    }

    fn center(&self, cell: usize) -> (f64, f64) {
        let middle = |at: usize| CELL * (at as f64 + 0.5);
        (self.main.x + middle(cell % self.columns), self.main.y + middle(cell / self.columns))
    }

    /// How many points there are around each cell.
    fn smoothed(&self, points: impl Iterator<Item = (f64, f64)>) -> Vec<f64> {
        let mut counts = vec![0.0; self.cells()];
        for (x, y) in points {
            let cell = |at: f64, count: usize| ((at / CELL).max(0.0) as usize).min(count - 1);
            counts[cell(y - self.main.y, self.rows) * self.columns + cell(x - self.main.x, self.columns)] += 1.0;
        }
        for _ in 0..SMOOTHED {
            counts = self.means(&self.means(&counts, 1, self.columns), self.columns, self.rows);
        }
        counts
    }

    /// Every count as the mean of itself (twice) and of those before and after it, `step` apart, in lines of `length`.
    fn means(&self, counts: &[f64], step: usize, length: usize) -> Vec<f64> {
        let position = |cell: usize| cell / step % length;
        let mean = |cell: usize| {
            let before = if position(cell) > 0 { counts[cell - step] } else { 0.0 };
            let after = if position(cell) + 1 < length { counts[cell + step] } else { 0.0 };
            (2.0 * counts[cell] + before + after) / 4.0
        };
        (0..counts.len()).map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Discs of points around centers.
    fn discs(centers: &[(f64, f64)]) -> (Vec<(f64, f64)>, Vec<Option<u32>>) {
        let point = |(class, center): (usize, &(f64, f64)), i: usize| {
            let (angle, far) = (2.4 * i as f64, 30.0 * (i as f64 / 80.0).sqrt());
            ((center.0 + far * angle.cos(), center.1 + far * angle.sin()), Some(class as u32))
        };
        centers.iter().enumerate().flat_map(|one| (0..80).map(move |i| point(one, i))).unzip()
    }

    #[test]
    fn names_stand_on_or_beside_their_points_and_never_on_each_other() {
        let main = Area { x: 50.0, y: 50.0, width: 500.0, height: 400.0 };
        let centers = [(120.0, 120.0), (400.0, 130.0), (430.0, 160.0), (200.0, 380.0), (215.0, 370.0)];
        let (at, of) = discs(&centers);
        for names in [["0", "1", "2", "3", "4"], ["setosa", "versicolor", "virginica", "a long name", "other"]] {
            let names = names.map(String::from);
            let labels = Classes { names: &names, of: &of, at: &at, radius: 2.0 }.labels(main);
            assert!(labels.len() >= 3, "{labels:?}");
            for (i, a) in labels.iter().enumerate() {
                for b in &labels[..i] {
                    let apart = a.area.x >= b.area.right() || b.area.x >= a.area.right();
                    assert!(apart || a.area.y >= b.area.bottom() || b.area.y >= a.area.bottom(), "{a:?} {b:?}");
                }
                let (x, y) = (a.area.x + a.area.width / 2.0, a.area.y + a.area.height / 2.0);
                let away = |class: usize| (centers[class].0 - x).hypot(centers[class].1 - y);
                assert!((0..5).all(|other| away(a.class) <= away(other) + 1e-9) || away(a.class) < 30.0, "{a:?}");
                assert!(inside(main, (a.area.x, a.area.y)) && inside(main, (a.area.right(), a.area.bottom())));
            }
        }
    }

    #[test]
    fn classes_that_are_mixed_or_many_have_no_names() {
        let main = Area { x: 0.0, y: 0.0, width: 400.0, height: 300.0 };
        let at: Vec<(f64, f64)> =
            (0..900).map(|i| (200.0 + 3.0 * f64::from(i % 30), 50.0 + 3.0 * f64::from(i / 30))).collect();
        let names: Vec<String> = (0..30).map(|i| format!("{i}")).collect();
        let of = |count: u32| (0..900u32).map(|i| Some((i * 7919) % 900 % count)).collect::<Vec<_>>();
        let labels =
            |count: u32| Classes { names: &names[..count as usize], of: &of(count), at: &at, radius: 2.0 }.labels(main);
        assert!(labels(4).is_empty(), "{:?}", labels(4));
        assert!(labels(30).is_empty() && labels(1).is_empty());
    }
}

//! The picture of four coordinates or more: every pair of them.

use super::axes::{self, Scale};
use super::plane::scattered;
use super::scene::{Anchor, Area, Look, Mark, Scene, Shape};
use super::view::beside;
use super::{Picture, SIZE, headline, limits, plural, view};

/// The most coordinates that are drawn.
const MOST: usize = 6;
/// Paper to the left of the panels, for numbers and the names of the coordinates.
const LEFT: f64 = 112.0;
/// Free paper between two panels.
const GAP: f64 = 8.0;

impl Picture<'_> {
    /// A panel for each pair of the first coordinates, those of one coordinate in a row or column and to one scale.
    pub(super) fn pairs(&self) -> Scene {
        let size = self.size.unwrap_or(SIZE);
        let mut scene = Scene::new(size, self.theme);
        let (n, dims) = (self.points.rows(), self.points.cols());
        let shown = dims.min(MOST);
        let panel = self.panel(true);
        let column = |q: usize| (0..n).map(move |i| self.points.row(i)[q]);
        let ranges: Vec<(f64, f64)> = (0..shown)
            .map(|q| {
                let (low, high) = limits::of_most(column(q));
                axes::range([low, high].into_iter())
            })
            .collect();
        let outside = |i: &usize| (0..shown).any(|q| !within(self.points.row(*i)[q], ranges[q]));
        let far = (0..n).filter(outside).count();
        let mut notes = vec![match dims {
            dims if dims > MOST => format!("pairs of the first {MOST} of {dims} coordinates"),
            dims => format!("all pairs of {dims} coordinates, each to its own scale"),
        }];
        if far > 0 {
            notes.push(format!("{} beyond the edges are left out", plural(far, "point")));
        }
        let top = headline(&mut scene, self.title, &self.subtitle_with(&notes)) - 14.0;
        let (main, side) = beside(size, LEFT, &panel, top);
        let panels = (shown - 1) as f64;
        let (width, height) =
            ((main.width - GAP * (panels - 1.0)) / panels, (main.height - GAP * (panels - 1.0)) / panels);
        let looks = panel.looks(n);
        let order: Vec<usize> = {
            let all = scattered(n);
            let (behind, front): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|&i| i < self.behind);
            behind.into_iter().chain(front).collect()
        };
        for up in 1..shown {
            for across in 0..up {
                let area = Area {
                    x: main.x + (width + GAP) * across as f64,
                    y: main.y + (height + GAP) * (up - 1) as f64,
                    width,
                    height,
                };
                let x = Scale::new(ranges[across], (area.x, area.right()));
                let y = Scale::new(ranges[up], (area.bottom(), area.y));
                let (first, last) = (across == 0, up + 1 == shown);
                grid(&mut scene, area, (&x, &y), (first.then_some(up), last.then_some(across)));
                let dots: Vec<(f64, f64, Look)> = order
                    .iter()
                    .map(|&i| (self.points.row(i), looks[i]))
                    .filter(|(row, _)| within(row[across], ranges[across]) && within(row[up], ranges[up]))
                    .map(|(row, look)| (x.at(row[across]), y.at(row[up]), look))
                    .collect();
                let radius = (0.6 * view::radius(n)).clamp(0.6, 2.2);
                scene.marks.push(Mark::Dots { radius, opacity: view::opacity(n), dots });
                let ring = Look { color: scene.colors.ink, shape: Shape::Ring };
                let rings = self.ringed.iter().flat_map(|(rows, _)| rows.iter()).map(|&i| self.points.row(i));
                let dots = rings
                    .filter(|row| within(row[across], ranges[across]) && within(row[up], ranges[up]))
                    .map(|row| (x.at(row[across]), y.at(row[up]), ring))
                    .collect();
                scene.marks.push(Mark::Dots { radius: radius.max(1.5), opacity: 0.9, dots });
            }
        }
        panel.draw(&mut scene, side);
        scene
    }
}

fn within(value: f64, (low, high): (f64, f64)) -> bool {
    (low..=high).contains(&value)
}

/// A frame with a light grid, and numbers and names at the outer panels: the row's to the left, the column's below.
fn grid(scene: &mut Scene, area: Area, (x, y): (&Scale, &Scale), (row, column): (Option<usize>, Option<usize>)) {
    let frame = [
        ((area.x, area.y), (area.right(), area.y)),
        ((area.x, area.bottom()), (area.right(), area.bottom())),
        ((area.x, area.y), (area.x, area.bottom())),
        ((area.right(), area.y), (area.right(), area.bottom())),
    ];
    for (value, text) in x.ticks(4.5) {
        let at = x.at(value);
        scene.line((at, area.y), (at, area.bottom()), 1.0, scene.colors.grid);
        if column.is_some() {
            scene.text((at, area.bottom() + 14.0), 10.0, Anchor::Middle, scene.colors.grey, text);
        }
    }
    for (value, text) in y.ticks(4.5) {
        let at = y.at(value);
        scene.line((area.x, at), (area.right(), at), 1.0, scene.colors.grid);
        if row.is_some() {
            scene.text((area.x - 6.0, at + 3.5), 10.0, Anchor::End, scene.colors.grey, text);
        }
    }
    frame.into_iter().for_each(|(from, to)| scene.line(from, to, 1.0, scene.colors.grid));
    if let Some(q) = column {
        let middle = area.x + area.width / 2.0;
        scene.text(
            (middle, area.bottom() + 31.0),
            12.0,
            Anchor::Middle,
            scene.colors.ink,
            format!("dimension {}", q + 1),
        );
    }
    if let Some(q) = row {
        scene.text(
            (12.0, area.y + area.height / 2.0 + 4.0),
            12.0,
            Anchor::Start,
            scene.colors.ink,
            format!("dimension {}", q + 1),
        );
    }
}

//! The picture of one, two or three coordinates.

use super::axes::{self, Scale};
use super::labels::{Classes, Label};
use super::names::{self, Named};
use super::palette::mixed;
use super::plane::{self, Axes, Plane};
use super::room::Room;
use super::scene::{Anchor, Area, Look, Mark, Scene, Shape, Side};
use super::side::{Panel, significant};
use super::{Coloring, DOT, Picture, SIZE, font, grouped, headline};
use std::collections::HashSet;

/// How far from the edge a point is drawn that lies beyond it.
const INSET: f64 = 6.0;

/// The width of a wide embedding's picture, and how many times as wide as high such an embedding is.
const WIDE: (f64, f64) = (1000.0, 2.2);
/// The most height of the points' area, the least width, and the least height, where the embedding sets the size.
const MAIN: (f64, f64, f64) = (520.0, 300.0, 150.0);
/// Paper below and to the right of everything.
const EDGES: (f64, f64) = (24.0, 46.0);
/// Paper between the points and the panel beside them.
const GAP: f64 = 22.0;
/// Layers of dots, from the farthest to the nearest, of three coordinates.
const LAYERS: usize = 8;

impl Picture<'_> {
    pub(super) fn view(&self) -> eigenfold::Result<Scene> {
        let plane = plane::plane(self.points, self.coloring, self.behind);
        // Names of all classes on the points take the place of the list beside them, unless that has more to show.
        let mut panel = self.panel(false);
        let mut labels =
            if panel.is_empty() { self.labels(&plane, self.layout(&plane, &panel, &[]).main) } else { Vec::new() };
        if labels.is_empty() || labels.len() < self.classes() {
            panel = self.panel(true);
        }
        // Everything is laid out first with room for a subtitle of one line, to know what has to be said in it.
        let mut notes = self.notes(&plane, self.layout(&plane, &panel, &[]).main);
        let mut longest = notes.clone();
        let all = plane.at.len() - self.behind;
        longest.extend(self.images.as_ref().map(|_| format!("images of {0} of {0} points", grouped(all))));
        longest.extend(self.names.map(|_| format!("names of {0} of {0} points", grouped(all))));
        let Layout { size, main, side } = self.layout(&plane, &panel, &longest);
        labels = self.labels(&plane, main);
        let mut scene = Scene::new(size, self.theme);
        let (x, y, _) = axes::scales(&plane, main);
        if let Some(shade) = &self.shade {
            let shaded = shade.over(main, &x, &y)?;
            shaded.draw(&mut scene, main);
            panel.deviations = Some(shaded.extent);
        }
        axes::draw(&mut scene, main, &plane.axes, &x, &y);
        let counts = self.points_on(&mut scene, main, &plane, &x, &y, &panel);
        for label in labels {
            let color = mixed(scene.colors.class(label.class), scene.colors.ink, 0.7);
            label.draw(&mut scene, color);
        }
        panel.draw(&mut scene, side);
        notes.extend(counts);
        headline(&mut scene, self.title, &self.subtitle_with(&notes));
        Ok(scene)
    }

    /// What stands beside the points, with or without a list of the classes.
    pub(super) fn panel(&self, lists_classes: bool) -> Panel<'_> {
        let colors = self.theme.colors();
        let ring = |(rows, what): (&[usize], &str)| {
            let text = format!("{what} ({})", grouped(rows.len()));
            (!rows.is_empty()).then_some((Look { color: colors.ink, shape: Shape::Ring }, text))
        };
        Panel {
            colors,
            coloring: self.coloring,
            behind: self.behind,
            lists_classes,
            marked: self.ringed.and_then(ring),
            deviations: self.shade.as_ref().map(|_| (0.0, 0.0)),
            eigenvalues: self.eigenvalues,
            dims: self.points.cols(),
        }
    }

    /// The number of classes that points in front have.
    fn classes(&self) -> usize {
        let Coloring::Classes { of, .. } = self.coloring else { return 0 };
        of[self.behind..].iter().flatten().collect::<HashSet<_>>().len()
    }

    /// The names of the classes, where they can be written on the points.
    fn labels(&self, plane: &Plane, main: Area) -> Vec<Label> {
        let Coloring::Classes { names, of, .. } = self.coloring else { return Vec::new() };
        let free = matches!(plane.axes, Axes::Numbers { .. } | Axes::Turned(_)) && self.points.cols() > 1;
        if !free || self.names.is_some() || self.images.is_some() {
            return Vec::new();
        }
        let (x, y, _) = axes::scales(plane, main);
        let at: Vec<(f64, f64)> = plane.at[self.behind..].iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
        Classes { names, of: &of[self.behind..], at: &at, radius: radius(plane.at.len()) }.labels(main)
    }

    /// The size of the picture, and where the points go and the panel beside them.
    fn layout(&self, plane: &Plane, panel: &Panel, notes: &[String]) -> Layout {
        let left = match &plane.axes {
            Axes::Numbers { .. } => 62.0,
            Axes::Strips { names } => {
                names.iter().map(|name| font::width(name, 11.0)).fold(50.0, f64::max).min(130.0) + 14.0
            }
            Axes::Turned(_) => 84.0,
        };
        let subtitle = self.subtitle_with(notes);
        let top = |size: (f64, f64)| headline(&mut Scene::new(size, self.theme), self.title, &subtitle);
        let size = self.size.unwrap_or_else(|| {
            let (x, y, alike) = axes::ranges(plane);
            let ratio = (x.1 - x.0) / (y.1 - y.0);
            if !alike || !ratio.is_finite() || ratio <= 0.0 {
                return SIZE;
            }
            let side = if panel.is_empty() { 0.0 } else { panel.width() + GAP };
            let around = left + side + EDGES.0;
            let most = if ratio > WIDE.1 { WIDE.0 } else { SIZE.0 } - around;
            let width = most.min((ratio * MAIN.0).max(MAIN.1));
            let height = (width / ratio).min(MAIN.0).max(MAIN.2).max(panel.height());
            let width = (width + around).round();
            (width, (height + top((width, 0.0)) + EDGES.1).round())
        });
        let (main, side) = beside(size, left, panel, top(size));
        Layout { size, main, side }
    }

    pub(super) fn subtitle_with(&self, notes: &[String]) -> String {
        let parts = std::iter::once(self.subtitle).chain(notes.iter().map(String::as_str));
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(DOT)
    }

    /// Notes about this view.
    fn notes(&self, plane: &Plane, main: Area) -> Vec<String> {
        let (x, y, alike) = axes::scales(plane, main);
        let mut notes: Vec<String> = plane.note.iter().cloned().collect();
        // Whether the reader would expect one scale on both axes.
        if !alike && matches!(plane.axes, Axes::Numbers { alike: true, .. }) {
            notes.push("the axes have different scales".into());
        }
        notes.extend(self.shade.as_ref().map(|_| "grey: uncertainty of the inverse transform".to_string()));
        let far = plane.at.iter().filter(|at| beyond(main, (x.at(at.0), y.at(at.1))).is_some()).count();
        if far > 0 {
            let (verb, s) = if far == 1 { ("lies", "") } else { ("lie", "s") };
            notes.push(format!("{} point{s} {verb} beyond the edge (arrows)", grouped(far)));
        }
        notes
    }

    /// Draws dots, images and names; returns what there was no room for.
    fn points_on(
        &self,
        scene: &mut Scene,
        main: Area,
        plane: &Plane,
        x: &Scale,
        y: &Scale,
        panel: &Panel,
    ) -> Vec<String> {
        let n = plane.at.len();
        let looks = panel.looks(n);
        let at: Vec<(f64, f64)> = plane.at.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
        let radius = radius(n);
        // Those behind come first, whatever the order is.
        let behind = plane.order.iter().copied().filter(|&i| i < self.behind);
        let order: Vec<usize> = behind.chain(plane.order.iter().copied().filter(|&i| i >= self.behind)).collect();
        let inside = |&i: &usize| beyond(main, at[i]).is_none();
        let seen: Vec<usize> = order.iter().copied().filter(inside).collect();
        let dot = |&i: &usize| (at[i].0, at[i].1, looks[i]);
        match &plane.axes {
            Axes::Turned(cube) => {
                for layer in (0..LAYERS).rev() {
                    // Far dots are smaller and fade into the paper.
                    let far = layer as f64 / (LAYERS - 1) as f64;
                    let there = |i: &&usize| ((cube.away[**i] * LAYERS as f64) as usize).min(LAYERS - 1) == layer;
                    let fade = |(x, y, look): (f64, f64, Look)| {
                        (x, y, Look { color: mixed(look.color, scene.colors.paper, 0.6 * far), ..look })
                    };
                    let dots: Vec<_> = seen.iter().filter(there).map(dot).map(fade).collect();
                    scene.marks.push(Mark::Dots { radius: (1.35 - 0.6 * far) * radius, opacity: 0.95, dots });
                }
            }
            _ => scene.marks.push(Mark::Dots { radius, opacity: opacity(n), dots: seen.iter().map(dot).collect() }),
        }
        self.far(scene, main, plane, &at, &looks);
        let front = || order.iter().copied().filter(|&i| i >= self.behind).filter(inside);
        if let Some((rows, _)) = self.ringed {
            let ring = Look { color: scene.colors.ink, shape: Shape::Ring };
            let dots = rows.iter().copied().filter(inside).map(|i| (at[i].0, at[i].1, ring)).collect();
            scene.marks.push(Mark::Dots { radius: radius.max(2.0), opacity: 0.9, dots });
        }
        let mut left_out = Vec::new();
        let mut reach = vec![(radius, radius); n];
        if let Some(images) = &self.images {
            let (drawn, (width, height)) =
                images.draw(scene, main, front().map(|i| (i - self.behind, at[i], looks[i].color)));
            drawn.iter().for_each(|&i| reach[i + self.behind] = (width / 2.0 + 1.5, height / 2.0 + 1.5));
            left_out.push(format!("images of {}", of_all(drawn.len(), n - self.behind)));
        }
        if let Some(names) = self.names {
            let mut room = Room::new(main);
            for i in order.iter().copied().filter(inside) {
                let (across, up) = reach[i];
                let (x, y) = (at[i].0 - across, at[i].1 - up);
                room.take(Area { x, y, width: 2.0 * across, height: 2.0 * up });
            }
            let named = front().map(|i| Named { at: at[i], reach: reach[i], name: &names[i - self.behind] });
            let drawn = names::draw(scene, &mut room, named.filter(|named| !named.name.is_empty()));
            if drawn < n - self.behind {
                left_out.push(format!("names of {}", of_all(drawn, n - self.behind)));
            }
        }
        left_out
    }

    /// Marks points beyond the edge by arrows at it, with their number and the farthest of them.
    fn far(&self, scene: &mut Scene, main: Area, plane: &Plane, at: &[(f64, f64)], looks: &[Look]) {
        for side in [Side::Left, Side::Right, Side::Top, Side::Bottom] {
            let there: Vec<usize> = (0..at.len()).filter(|&i| beyond(main, at[i]) == Some(side)).collect();
            let Some(&first) = there.first() else { continue };
            let inner = |v: f64, low: f64, high: f64| v.clamp(low + INSET, (high - INSET).max(low + INSET));
            let place = |i: usize| (inner(at[i].0, main.x, main.right()), inner(at[i].1, main.y, main.bottom()));
            let arrow = |&i: &usize| (place(i).0, place(i).1, Look { shape: Shape::Triangle(side), ..looks[i] });
            scene.marks.push(Mark::Dots { radius: 4.0, opacity: 1.0, dots: there.iter().map(arrow).collect() });
            let across = matches!(side, Side::Left | Side::Right);
            let value = |i: usize| if across { plane.at[i].0 } else { plane.at[i].1 };
            let farthest =
                there.iter().copied().map(value).fold(value(first), |a, v| if v.abs() > a.abs() { v } else { a });
            let text = match there.len() {
                1 => significant(farthest),
                count => format!("{} to {}", grouped(count), significant(farthest)),
            };
            let (x, y) = place(first);
            let (at, anchor) = match side {
                Side::Left => ((x + 9.0, y + 4.0), Anchor::Start),
                Side::Right => ((x - 9.0, y + 4.0), Anchor::End),
                Side::Top => ((inner(x, main.x + 40.0, main.right() - 40.0), y + 17.0), Anchor::Middle),
                Side::Bottom => ((inner(x, main.x + 40.0, main.right() - 40.0), y - 10.0), Anchor::Middle),
            };
            let inside = at.1.clamp(main.y + 12.0, main.bottom() - 4.0);
            scene.text((at.0, inside), 10.5, anchor, scene.colors.grey, text);
        }
    }
}

/// Where everything is.
struct Layout {
    size: (f64, f64),
    main: Area,
    side: Area,
}

/// Where the points go and where the panel beside them, which takes no room when it is empty.
pub(super) fn beside(size: (f64, f64), left: f64, panel: &Panel, top: f64) -> (Area, Area) {
    let (side, gap) = if panel.is_empty() { (0.0, 0.0) } else { (panel.width().min(0.26 * size.0), GAP) };
    let right = size.0 - EDGES.0 - side - gap;
    let main = Area { x: left, y: top, width: right - left, height: size.1 - EDGES.1 - top };
    (main, Area { x: right + gap, width: side, ..main })
}

/// The side beyond which a point lies, if it does: the one that it is farthest from.
fn beyond(area: Area, (x, y): (f64, f64)) -> Option<Side> {
    let sides = [
        (area.x - x, Side::Left),
        (x - area.right(), Side::Right),
        (area.y - y, Side::Top),
        (y - area.bottom(), Side::Bottom),
    ];
    let most =
        sides.into_iter().fold((0.5, None), |best, (by, side)| if by > best.0 { (by, Some(side)) } else { best });
    most.1
}

fn of_all(drawn: usize, all: usize) -> String {
    if drawn == all {
        format!("all {} points", grouped(all))
    } else {
        format!("{} of {} points", grouped(drawn), grouped(all))
    }
}

/// Fewer points, larger dots: 4 units for an iris, 1 for a hundred thousand.
pub(super) fn radius(n: usize) -> f64 {
    (4.0 * (150.0 / n as f64).powf(0.22)).clamp(0.7, 4.0)
}

pub(super) fn opacity(n: usize) -> f64 {
    (0.9 * (300.0 / n as f64).powf(0.15)).clamp(0.3, 0.9)
}

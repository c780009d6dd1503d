//! The picture of one, two or three coordinates.

use super::axes::{self, Scale};
use super::names::{self, Named};
use super::palette::{GREY, INK};
use super::plane::{self, Axes, Plane};
use super::room::Room;
use super::scene::{Anchor, Area, Look, Mark, Scene, Shape, Side};
use super::side::{Panel, significant};
use super::{DOT, Picture, font, grouped, headline};

/// How far from the edge a point is drawn that lies beyond it.
const INSET: f64 = 6.0;

impl Picture<'_> {
    pub(super) fn view(&self) -> eigenfold::Result<Scene> {
        let mut scene = Scene { width: self.size.0, height: self.size.1, marks: vec![] };
        let plane = plane::plane(self.points, self.coloring, self.behind);
        let mut panel = self.panel();
        // Everything is laid out first with room for a subtitle of one line, to know what has to be said in it.
        let (main, _) = self.areas(&plane.axes, &panel, 94.0);
        let mut notes = self.notes(&plane, main);
        let mut longest = notes.clone();
        let all = plane.at.len() - self.behind;
        longest.extend(self.images.as_ref().map(|_| format!("images of {0} of {0} points", grouped(all))));
        longest.extend(self.names.map(|_| format!("names of {0} of {0} points", grouped(all))));
        let mut trial = Scene { marks: vec![], ..scene };
        let top = headline(&mut trial, self.title, &self.subtitle_with(&longest));
        let (main, side) = self.areas(&plane.axes, &panel, top);
        let (x, y, _) = axes::scales(&plane, main);
        if let Some(shade) = &self.shade {
            let shaded = shade.over(main, &x, &y)?;
            shaded.draw(&mut scene, main);
            panel.deviations = Some(shaded.extent);
        }
        axes::draw(&mut scene, main, &plane.axes, &x, &y);
        let counts = self.points_on(&mut scene, main, &plane, &x, &y, &panel);
        panel.draw(&mut scene, side);
        notes.extend(counts);
        headline(&mut scene, self.title, &self.subtitle_with(&notes));
        Ok(scene)
    }

    pub(super) fn panel(&self) -> Panel<'_> {
        let ring = |(rows, what): (&[usize], &str)| {
            let text = format!("{what} ({})", grouped(rows.len()));
            (!rows.is_empty()).then_some((Look { color: INK, shape: Shape::Ring }, text))
        };
        Panel {
            coloring: self.coloring,
            behind: self.behind,
            marked: self.ringed.and_then(ring),
            deviations: self.shade.as_ref().map(|_| (0.0, 0.0)),
            eigenvalues: self.eigenvalues,
            dims: self.points.cols(),
        }
    }

    /// Where the points go and where the panel beside them, which takes no room when it is empty.
    fn areas(&self, axes: &Axes, panel: &Panel, top: f64) -> (Area, Area) {
        let left = match axes {
            Axes::Numbers { .. } => 62.0,
            Axes::Strips { names } => {
                names.iter().map(|name| font::width(name, 11.0)).fold(50.0, f64::max).min(130.0) + 14.0
            }
            Axes::Turned(_) => 28.0,
        };
        self.areas_from(left, panel, top)
    }

    /// The same with this much space to the left.
    pub(super) fn areas_from(&self, left: f64, panel: &Panel, top: f64) -> (Area, Area) {
        let (side, gap) = if panel.is_empty() { (0.0, 0.0) } else { ((0.19 * self.size.0).clamp(104.0, 190.0), 22.0) };
        let bottom = self.size.1 - 46.0;
        let right = self.size.0 - 24.0 - side - gap;
        let main = Area { x: left, y: top, width: right - left, height: bottom - top };
        (main, Area { x: right + gap, width: side, ..main })
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
        let dots = order.iter().copied().filter(inside).map(|i| (at[i].0, at[i].1, looks[i])).collect();
        scene.marks.push(Mark::Dots { radius, opacity: opacity(n), dots });
        self.far(scene, main, plane, &at, &looks);
        let front = || order.iter().copied().filter(|&i| i >= self.behind).filter(inside);
        if let Some((rows, _)) = self.ringed {
            let ring = Look { color: INK, shape: Shape::Ring };
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
            left_out.push(format!("names of {}", of_all(drawn, n - self.behind)));
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
            scene.text((at.0, inside), 10.5, anchor, GREY, text);
        }
    }
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

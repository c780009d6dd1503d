//! The rows of the data as small images on the map, as many as find room.

use super::room::Room;
use super::scene::{Area, Mark, Rgb, Scene};
use eigenfold::Points;

/// The longest side of an image on paper, at least and at most.
const SIDES: (f64, f64) = (30.0, 72.0);
/// Pixels of an image to a unit of paper, at most: as many as a PNG has.
const FINEST: f64 = 2.0;
/// Free paper between two images.
const GAP: f64 = 2.0;

/// Rows that are images.
pub struct Images<'a> {
    /// Grey levels, line by line from the top.
    pub rows: &'a Points,
    /// Pixels in a line.
    pub width: usize,
    /// Lines.
    pub height: usize,
}

impl Images<'_> {
    /// Draws each image over its point, in this order, where it lies on no other; returns the points with an image, and its size on paper.
    pub(crate) fn draw(
        &self,
        scene: &mut Scene,
        area: Area,
        order: impl Iterator<Item = (usize, (f64, f64), Rgb)>,
    ) -> (Vec<usize>, (f64, f64)) {
        let (width, height) = self.size(area);
        let levels =
            self.rows.values().iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        let mut room = Room::new(area);
        let mut drawn = Vec::new();
        for (i, (x, y), frame) in order {
            let place = Area { x: x - width / 2.0, y: y - height / 2.0, width, height };
            if !room.is_free(place) {
                continue;
            }
            room.take(Area {
                x: place.x - GAP,
                y: place.y - GAP,
                width: width + 2.0 * GAP,
                height: height + 2.0 * GAP,
            });
            let border = 1.25;
            let framed = Area {
                x: place.x - border,
                y: place.y - border,
                width: width + 2.0 * border,
                height: height + 2.0 * border,
            };
            scene.rect(framed, frame);
            scene.marks.push(self.thumbnail(i, place, levels));
            drawn.push(i);
        }
        (drawn, (width, height))
    }

    /// How large the images are on paper: smaller if there are many.
    fn size(&self, area: Area) -> (f64, f64) {
        let (width, height) = (self.width as f64, self.height as f64);
        let each = area.width * area.height / (3.5 * self.rows.rows() as f64);
        let side = each.sqrt().clamp(SIDES.0, SIDES.1);
        let unit = side / width.max(height);
        ((unit * width).max(2.0), (unit * height).max(2.0))
    }

    /// One image with no more pixels than can be seen, black the least of all values and white the largest.
    fn thumbnail(&self, i: usize, area: Area, (low, high): (f64, f64)) -> Mark {
        let seen = |pixels: usize, units: f64| pixels.min((FINEST * units).ceil() as usize).max(1);
        let (columns, rows) = (seen(self.width, area.width), seen(self.height, area.height));
        let row = self.rows.row(i);
        let span = if high > low { high - low } else { 1.0 };
        let mut greys = Vec::with_capacity(columns * rows);
        for r in 0..rows {
            let lines = r * self.height / rows..((r + 1) * self.height / rows).max(r * self.height / rows + 1);
            for c in 0..columns {
                let from = c * self.width / columns;
                let across = from..((c + 1) * self.width / columns).max(from + 1);
                let count = (lines.len() * across.len()) as f64;
                let cells = lines.clone().flat_map(|line| across.clone().map(move |at| line * self.width + at));
                let mean = cells.map(|at| (row[at] - low) / span).sum::<f64>() / count;
                greys.push((255.0 * mean.clamp(0.0, 1.0)).round() as u8);
            }
        }
        Mark::Image { area, columns, greys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theme;

    #[test]
    fn images_do_not_lie_on_each_other_and_large_ones_are_made_small() {
        let values: Vec<f64> = (0..40 * 128 * 128).map(|i| (i % 128) as f64).collect();
        let rows = Points::new(40, 128 * 128, values).unwrap();
        let images = Images { rows: &rows, width: 128, height: 128 };
        let area = Area { x: 0.0, y: 0.0, width: 300.0, height: 200.0 };
        let mut scene = Scene::new((300.0, 200.0), Theme::Light);
        let order = (0..40).map(|i| (i, (20.0 + 7.0 * i as f64, 100.0), Rgb(1, 2, 3)));
        let (drawn, (width, _)) = images.draw(&mut scene, area, order);
        assert!(drawn.len() > 3 && drawn.windows(2).all(|w| 7.0 * (w[1] - w[0]) as f64 >= width), "{drawn:?} {width}");
        let Some(Mark::Image { columns, greys, .. }) = scene.marks.last() else { panic!("an image") };
        assert!(*columns as f64 <= 2.0 * width + 1.0 && greys.len() == columns * columns);
        // Dark at the left, light at the right, as the values are.
        assert!(greys[0] < 10 && greys[columns - 1] > 245, "{greys:?}");
    }
}

//! Uncertainty shading: the standard deviation of the inverse transform at every point of the map, as a grey background.

use super::axes::Scale;
use super::scene::{Area, Mark, Scene};
use eigenfold::Points;

/// The standard deviations at some embedding points.
pub type Deviations<'a> = dyn Fn(&Points) -> eigenfold::Result<Vec<f64>> + 'a;

/// Uncertainty shading.
pub struct Shade<'a> {
    /// The most embedding points that are evaluated.
    pub places: usize,
    /// The standard deviations there.
    pub deviations: &'a Deviations<'a>,
}

/// The deviations over the paper.
pub(crate) struct Shaded {
    columns: usize,
    rows: usize,
    values: Vec<f64>,
    /// The least and the largest.
    pub(crate) extent: (f64, f64),
}

impl Shade<'_> {
    /// Evaluates a grid over the paper.
    pub(crate) fn over(&self, area: Area, x: &Scale, y: &Scale) -> eigenfold::Result<Shaded> {
        let step = (area.width * area.height / self.places.max(4) as f64).sqrt();
        let count = |length: f64| ((length / step) as usize).max(2);
        let (columns, rows) = (count(area.width), count(area.height));
        let middle = |at: usize, count: usize| (at as f64 + 0.5) / count as f64;
        let place = |r: usize, c: usize| {
            [x.value(area.x + area.width * middle(c, columns)), y.value(area.y + area.height * middle(r, rows))]
        };
        let places: Vec<f64> = (0..rows).flat_map(|r| (0..columns).flat_map(move |c| place(r, c))).collect();
        let places = Points::new(rows * columns, 2, places)?;
        let values = (self.deviations)(&places)?;
        let extent = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        Ok(Shaded { columns, rows, values, extent })
    }
}

impl Shaded {
    /// Draws the grey, interpolated between the points of the grid.
    pub(crate) fn draw(&self, scene: &mut Scene, area: Area) {
        let (columns, rows) = (area.width.round().max(1.0) as usize, area.height.round().max(1.0) as usize);
        let mut greys = Vec::with_capacity(columns * rows);
        for r in 0..rows {
            let (above, below, down) = between(r, rows, self.rows);
            for c in 0..columns {
                let (left, right, across) = between(c, columns, self.columns);
                let value = |r: usize, c: usize| self.values[r * self.columns + c];
                let mix = |a: f64, b: f64, t: f64| a + t * (b - a);
                let top = mix(value(above, left), value(above, right), across);
                let bottom = mix(value(below, left), value(below, right), across);
                greys.push(scene.colors.shade(self.fraction(mix(top, bottom, down))));
            }
        }
        scene.marks.push(Mark::Image { area, columns, greys });
    }

    fn fraction(&self, value: f64) -> f64 {
        let (low, high) = self.extent;
        if high > low { (value - low) / (high - low) } else { 0.0 }
    }
}

/// The two of `count` places between which pixel `at` of `pixels` lies, and how far it is from the first to the second.
fn between(at: usize, pixels: usize, count: usize) -> (usize, usize, f64) {
    let position = ((at as f64 + 0.5) / pixels as f64 * count as f64 - 0.5).clamp(0.0, (count - 1) as f64);
    let first = position as usize;
    (first, (first + 1).min(count - 1), position - first as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theme;

    #[test]
    fn grey_follows_the_deviation_and_few_positions_are_evaluated() {
        let area = Area { x: 10.0, y: 10.0, width: 120.0, height: 60.0 };
        let (x, y) = (Scale::new((0.0, 2.0), (10.0, 130.0)), Scale::new((0.0, 1.0), (70.0, 10.0)));
        let to_the_right = |places: &Points| {
            assert!(places.rows() <= 200, "{}", places.rows());
            Ok((0..places.rows()).map(|i| places.row(i)[0]).collect())
        };
        let shaded = Shade { places: 200, deviations: &to_the_right }.over(area, &x, &y).unwrap();
        assert!(shaded.extent.0 > 0.0 && shaded.extent.1 < 2.0);
        let mut scene = Scene::new((140.0, 80.0), Theme::Light);
        shaded.draw(&mut scene, area);
        let Some(Mark::Image { columns, greys, .. }) = scene.marks.last() else { panic!("an image") };
        let first = &greys[..*columns];
        assert!(first.windows(2).all(|w| w[1] <= w[0]) && (first[0], first[columns - 1]) == (255, 150), "{first:?}");
    }
}

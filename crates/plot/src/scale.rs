//! The picture of a dimension against the scale, with its band of 95 %, and the recommended number as a line.

use super::axes::{self, Scale as Ruler};
use super::scene::{Anchor, Area, Look, Mark, Scene};
use super::{Format, SIZE, Theme, headline, written};
use eigenfold::dimension::ScaleEstimate;

/// What is drawn.
pub struct ScaleCurve<'a> {
    /// The estimates, those among all points first.
    pub scales: &'a [ScaleEstimate],
    /// The number of different points.
    pub distinct: usize,
    /// The recommended number.
    pub dims: usize,
    /// The skewness of simplices, if it is known.
    pub ess: Option<f64>,
    /// The first line.
    pub title: &'a str,
    /// The second line, smaller.
    pub subtitle: &'a str,
    /// Light or dark paper.
    pub theme: Theme,
}

impl ScaleCurve<'_> {
    /// The bytes of the file.
    pub fn rendered(&self, format: Format) -> eigenfold::Result<Vec<u8>> {
        written(&self.scene(), format)
    }

    /// The number of neighbors among all points that a scale stands for.
    fn reach(&self, scale: &ScaleEstimate) -> f64 {
        scale.k as f64 * self.distinct as f64 / scale.among as f64
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(SIZE, self.theme);
        let area = Area { x: 72.0, y: 92.0, width: SIZE.0 - 72.0 - 30.0, height: SIZE.1 - 92.0 - 52.0 };
        headline(&mut scene, self.title, self.subtitle);
        let place = |scale: &ScaleEstimate| self.reach(scale).ln();
        let x = Ruler::new(axes::range(self.scales.iter().map(place)), (area.x, area.right()));
        let heights = self.scales.iter().flat_map(|s| [Some(s.value), s.low, s.high]).flatten();
        let heights = heights.chain([self.dims as f64 - 0.4, self.dims as f64 + 0.4]).chain(self.ess);
        let y = Ruler::new(axes::range(heights), (area.bottom(), area.y));
        // Two scales that stand for nearly as many neighbors share a text.
        let mut last = f64::NEG_INFINITY;
        for scale in self.sorted() {
            let at = x.at(place(scale));
            scene.line((at, area.y), (at, area.bottom()), 1.0, scene.colors.grid);
            if at - last > 34.0 {
                last = at;
                let text = format!("{:.0}", self.reach(scale));
                scene.text((at, area.bottom() + 16.0), 11.0, Anchor::Middle, scene.colors.grey, text);
            }
        }
        let middle = area.x + area.width / 2.0;
        scene.text(
            (middle, area.bottom() + 35.0),
            12.0,
            Anchor::Middle,
            scene.colors.ink,
            "scale: neighbors k (logarithmic)",
        );
        axes::rows(
            &mut scene,
            area,
            &y,
            &y.ticks(7.0),
            Some("dimension, by the distances to the k-th and 2k-th neighbor"),
        );
        for group in self.scales.chunk_by(|a, b| a.among == b.among) {
            for pair in group.windows(2) {
                band(&mut scene, (&x, &y), pair.iter().map(|s| (place(s), s.low.zip(s.high))));
            }
        }
        let (mark, other) = (scene.colors.class(1), scene.colors.class(2));
        let level = y.at(self.dims as f64);
        scene.line((area.x, level), (area.right(), level), 1.5, mark);
        if let Some(ess) = self.ess {
            let at = y.at(ess);
            scene.line((area.x, at), (area.x + 10.0, at), 2.5, other);
            scene.text((area.x + 14.0, at + 4.0), 11.0, Anchor::Start, other, format!("simplices {ess:.2}"));
        }
        for (number, group) in self.scales.chunk_by(|a, b| a.among == b.among).enumerate() {
            let color = if number == 0 { scene.colors.plain } else { scene.colors.grey };
            let path: Vec<(f64, f64)> = group.iter().map(|s| (x.at(place(s)), y.at(s.value))).collect();
            path.windows(2).for_each(|pair| scene.line(pair[0], pair[1], 1.75, color));
            let dots = path.iter().map(|&(x, y)| (x, y, Look::disc(color))).collect();
            scene.marks.push(Mark::Dots { radius: 4.5, opacity: 1.0, dots });
        }
        let (at, text) = ((area.right() - 4.0, level - 7.0), format!("{} recommended", self.dims));
        scene.marks.push(Mark::Text { at, size: 12.0, anchor: Anchor::End, color: scene.colors.ink, text, halo: 3.0 });
        scene
    }

    /// The scales by the neighbors that they stand for.
    fn sorted(&self) -> Vec<&ScaleEstimate> {
        let mut all: Vec<&ScaleEstimate> = self.scales.iter().collect();
        all.sort_by(|a, b| self.reach(a).total_cmp(&self.reach(b)));
        all
    }
}

/// The band between two scales, by narrow upright strips.
fn band(scene: &mut Scene, (x, y): (&Ruler, &Ruler), ends: impl Iterator<Item = (f64, Option<(f64, f64)>)>) {
    let known: Vec<(f64, f64, f64)> = ends.filter_map(|(at, band)| band.map(|(low, high)| (at, low, high))).collect();
    let [from, to] = known.as_slice() else { return };
    let (left, right) = (x.at(from.0), x.at(to.0));
    let strips = ((right - left) / 2.0).ceil().max(1.0);
    let width = (right - left) / strips;
    for strip in 0..strips as usize {
        let share = (strip as f64 + 0.5) / strips;
        let between = |a: f64, b: f64| y.at(a + share * (b - a));
        let (top, bottom) = (between(from.2, to.2), between(from.1, to.1));
        let area = Area { x: left + strip as f64 * width, y: top, width: width + 0.3, height: bottom - top };
        scene.rect(area, scene.colors.band);
    }
}

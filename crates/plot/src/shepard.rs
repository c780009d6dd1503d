//! The Shepard diagram: the distance of pairs of points in the embedding against their distance in the data.
//!
//! R. N. Shepard. The analysis of proximities: multidimensional scaling with an unknown distance function. Psychometrika 27, 1962.

use super::axes::{self, Scale};
use super::scene::{Anchor, Area, Look, Mark, Scene};
use super::view::{opacity, radius};
use super::{Format, Theme, headline, written};

/// The size, nearly square.
const SIZE: (f64, f64) = (680.0, 640.0);
/// Parts of the horizontal axis, each of which has a point of the line of medians.
const PARTS: usize = 24;
/// The fewest pairs of a part.
const FEWEST: usize = 8;

/// What is drawn.
pub struct Shepard<'a> {
    /// The distances of some pairs of points: in the data and in the embedding.
    pub pairs: &'a [[f64; 2]],
    /// The first line.
    pub title: &'a str,
    /// The second line, smaller.
    pub subtitle: &'a str,
    /// Light or dark paper.
    pub theme: Theme,
}

impl Shepard<'_> {
    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be encoded.
    pub fn rendered(&self, format: Format) -> eigenfold::Result<Vec<u8>> {
        written(&self.scene(), format)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(SIZE, self.theme);
        let top = headline(&mut scene, self.title, self.subtitle);
        let area = Area { x: 62.0, y: top, width: SIZE.0 - 86.0, height: SIZE.1 - top - 46.0 };
        let reach = |column: usize| {
            let most = self.pairs.iter().map(|pair| pair[column]).fold(0.0, f64::max);
            (0.0, axes::range([0.0, most].into_iter()).1)
        };
        let (across, up) = (reach(0), reach(1));
        let x = Scale::new(across, (area.x, area.right()));
        let y = Scale::new(up, (area.bottom(), area.y));
        axes::columns(&mut scene, area, &x, &x.ticks(7.0), Some("distance in the data"));
        axes::rows(&mut scene, area, &y, &y.ticks(7.0), Some("distance in the embedding"));
        let look = Look::disc(scene.colors.plain);
        let dots = self.pairs.iter().map(|pair| (x.at(pair[0]), y.at(pair[1]), look)).collect();
        let n = self.pairs.len().max(1);
        scene.marks.push(Mark::Dots { radius: radius(n), opacity: 0.7 * opacity(n), dots });
        let (ink, mark) = (scene.colors.ink, scene.colors.class(1));
        // Equal distances, as far as both axes reach.
        let end = across.1.min(up.1);
        scene.line((x.at(0.0), y.at(0.0)), (x.at(end), y.at(end)), 1.5, ink);
        let medians: Vec<(f64, f64)> = self.medians(across.1).into_iter().map(|(a, b)| (x.at(a), y.at(b))).collect();
        medians.windows(2).for_each(|pair| scene.line(pair[0], pair[1], 3.0, mark));
        for (row, color, text) in [(0.0, ink, "equal distances"), (1.0, mark, "median")] {
            let (left, height) = (area.x + 14.0, area.y + 18.0 + 19.0 * row);
            scene.line((left, height), (left + 22.0, height), 2.5, color);
            let (at, size, anchor) = ((left + 30.0, height + 4.0), 12.0, Anchor::Start);
            scene.marks.push(Mark::Text { at, size, anchor, color: ink, text: text.into(), halo: 3.0 });
        }
        scene
    }

    /// The median distance in the embedding of pairs whose distances in the data are nearly equal.
    fn medians(&self, most: f64) -> Vec<(f64, f64)> {
        let mut parts: Vec<Vec<[f64; 2]>> = vec![Vec::new(); PARTS];
        for &pair in self.pairs {
            parts[((pair[0] / most * PARTS as f64).max(0.0) as usize).min(PARTS - 1)].push(pair);
        }
        let median = |mut part: Vec<[f64; 2]>| {
            part.sort_by(|a, b| a[1].total_cmp(&b[1]));
            let mean = part.iter().map(|pair| pair[0]).sum::<f64>() / part.len() as f64;
            (mean, part[part.len() / 2][1])
        };
        parts.into_iter().filter(|part| part.len() >= FEWEST).map(median).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_medians_follows_the_pairs() {
        let pairs: Vec<[f64; 2]> = (0..1000).map(|i| f64::from(i) / 100.0).map(|d| [d, 0.5 * d]).collect();
        let diagram = Shepard { pairs: &pairs, title: "t", subtitle: "s", theme: Theme::Dark };
        let medians = diagram.medians(10.0);
        assert!(medians.len() > 20 && medians.iter().all(|(x, y)| (y - 0.5 * x).abs() < 0.02), "{medians:?}");
        for pairs in [&pairs[..], &pairs[..1], &[]] {
            let svg = String::from_utf8(Shepard { pairs, ..diagram }.rendered(Format::Svg).unwrap()).unwrap();
            assert!(svg.contains("distance in the embedding") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}

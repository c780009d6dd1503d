//! The picture of the search by `-k auto`: a value for every number of neighbors, the chosen one marked.

use super::axes::{self, Scale};
use super::scene::{Anchor, Area, Look, Mark, Scene};
use super::{Format, SIZE, Theme, headline, written};
use eigenfold::NeighborsChoice;

/// What is drawn.
pub struct Curve<'a> {
    /// What was tried, and what was chosen.
    pub choice: &'a NeighborsChoice,
    /// The first line.
    pub title: &'a str,
    /// The second line, smaller.
    pub subtitle: &'a str,
    /// Light or dark paper.
    pub theme: Theme,
}

impl Curve<'_> {
    /// The bytes of the file.
    pub fn rendered(&self, format: Format) -> eigenfold::Result<Vec<u8>> {
        written(&self.scene(), format)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(SIZE, self.theme);
        let area = Area { x: 72.0, y: 92.0, width: SIZE.0 - 72.0 - 30.0, height: SIZE.1 - 92.0 - 52.0 };
        headline(&mut scene, self.title, self.subtitle);
        // Neighbors matter by their ratio: from 4 to 8 is as far as from 8 to 16.
        let place = |k: usize| (k as f64).ln();
        let x = Scale::new(axes::range(self.choice.tried.iter().map(|t| place(t.k))), (area.x, area.right()));
        let y = Scale::new(axes::range(self.choice.tried.iter().filter_map(|t| t.value)), (area.bottom(), area.y));
        for tried in &self.choice.tried {
            let at = x.at(place(tried.k));
            scene.line((at, area.y), (at, area.bottom()), 1.0, scene.colors.grid);
            scene.text((at, area.bottom() + 16.0), 11.0, Anchor::Middle, scene.colors.grey, tried.k.to_string());
        }
        let middle = area.x + area.width / 2.0;
        scene.text((middle, area.bottom() + 35.0), 12.0, Anchor::Middle, scene.colors.ink, "neighbors k (logarithmic)");
        axes::rows(
            &mut scene,
            area,
            &y,
            &y.ticks(6.0),
            Some("neighbor_ratio: neighbors on the map, times as far in the data as the nearest"),
        );
        let known = || self.choice.tried.iter().filter_map(|t| t.value.map(|value| (t, x.at(place(t.k)), y.at(value))));
        let path: Vec<(f64, f64)> = known().map(|(_, x, y)| (x, y)).collect();
        for pair in path.windows(2) {
            scene.line(pair[0], pair[1], 1.75, scene.colors.plain);
        }
        let color = |components: usize| if components > 1 { scene.colors.other } else { scene.colors.plain };
        let dots = known().map(|(tried, x, y)| (x, y, Look::disc(color(tried.components)))).collect();
        scene.marks.push(Mark::Dots { radius: 4.5, opacity: 1.0, dots });
        if let Some((tried, at, height)) = known().find(|(tried, ..)| tried.k == self.choice.chosen) {
            let mark = scene.colors.class(1);
            scene.marks.push(Mark::Dots { radius: 7.0, opacity: 1.0, dots: vec![(at, height, Look::disc(mark))] });
            let left = at > middle;
            let (from, anchor) = if left { (at - 12.0, Anchor::End) } else { (at + 12.0, Anchor::Start) };
            // Above the mark, unless that is beyond the top.
            let line = if height - 12.0 > area.y + 12.0 { height - 12.0 } else { height + 22.0 };
            scene.text((from, line), 12.0, anchor, scene.colors.ink, format!("k = {} chosen", tried.k));
        }
        scene
    }
}

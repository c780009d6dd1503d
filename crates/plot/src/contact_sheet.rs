//! A contact sheet: many maps of the same points as small multiples on one page.

use super::plane::scattered;
use super::scene::{Anchor, Area, Look, Mark, Scene};
use super::side::Panel;
use super::{Coloring, Format, Theme, font, headline, limits, view, written};
use eigenfold::Points;

/// The width of a panel with the space beside it, and the height with its lines of text.
const PANEL: (f64, f64) = (236.0, 262.0);
/// Free paper around the panels.
const MARGIN: f64 = 24.0;
/// Paper for the legend.
const LEGEND: f64 = 150.0;

/// A contact sheet.
pub struct ContactSheet<'a> {
    /// The first line.
    pub title: &'a str,
    /// The second line, smaller.
    pub subtitle: &'a str,
    /// The maps, in the order in which they are drawn.
    pub thumbnails: &'a [Thumbnail],
    /// The coloring of the points, common to all maps.
    pub coloring: &'a Coloring,
    /// Light or dark paper.
    pub theme: Theme,
}

/// One map of a contact sheet.
pub struct Thumbnail {
    /// What it is called.
    pub title: String,
    /// A line of facts below the title.
    pub facts: String,
    /// The coordinates; or why there are none.
    pub map: Result<Points, String>,
}

impl ContactSheet<'_> {
    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be encoded.
    pub fn rendered(&self, format: Format) -> eigenfold::Result<Vec<u8>> {
        written(&self.scene(), format)
    }

    fn scene(&self) -> Scene {
        let views: Vec<View> = self.thumbnails.iter().flat_map(View::of).collect();
        let columns = (views.len() as f64 * 1.35).sqrt().ceil().max(2.0) as usize;
        let rows = views.len().div_ceil(columns);
        let panel = Panel {
            colors: self.theme.colors(),
            lists_classes: true,
            coloring: self.coloring,
            behind: 0,
            marked: None,
            deviations: None,
            eigenvalues: &[],
            dims: 2,
        };
        let legend = if panel.is_empty() { 0.0 } else { LEGEND };
        let width = 2.0 * MARGIN + columns as f64 * PANEL.0 + legend;
        let mut scene = Scene::new((width, 0.0), self.theme);
        let top = headline(&mut scene, self.title, self.subtitle) - 10.0;
        scene.height = top + rows as f64 * PANEL.1 + MARGIN;
        let n = views.iter().find_map(|view| view.at.as_ref().ok()).map_or(0, Vec::len);
        let looks = if n > 0 { panel.looks(n) } else { Vec::new() };
        for (at, view) in views.iter().enumerate() {
            let (x, y) = (MARGIN + (at % columns) as f64 * PANEL.0, top + (at / columns) as f64 * PANEL.1);
            view.draw(&mut scene, Area { x, y, width: PANEL.0 - 16.0, height: PANEL.1 - 14.0 }, &looks);
        }
        if legend > 0.0 {
            let x = MARGIN + columns as f64 * PANEL.0 + 8.0;
            let height = scene.height - top - 60.0;
            panel.draw(&mut scene, Area { x, y: top + 36.0, width: legend - 8.0, height });
        }
        scene
    }
}

/// Two coordinates of a map as a panel shows them.
struct View<'a> {
    title: String,
    facts: &'a str,
    at: Result<Vec<(f64, f64)>, &'a str>,
}

impl View<'_> {
    /// One panel; three for three coordinates, a projection along each axis.
    fn of(thumbnail: &Thumbnail) -> Vec<View<'_>> {
        let facts = thumbnail.facts.as_str();
        let map = match &thumbnail.map {
            Ok(map) => map,
            Err(reason) => return vec![View { title: thumbnail.title.clone(), facts, at: Err(reason) }],
        };
        let pairs: &[(usize, usize)] = match map.cols() {
            1 => &[(0, 0)],
            3 => &[(0, 1), (0, 2), (1, 2)],
            _ => &[(0, 1)],
        };
        let n = map.rows();
        let one = |&(x, y): &(usize, usize)| {
            // A single coordinate is spread upwards, so that points do not hide each other.
            let up = |i: usize| if x == y { 0.3 * (i as f64 * 0.618_033_988_75).fract() } else { map.row(i)[y] };
            let range = limits::of_most((0..n).map(|i| map.row(i)[0]));
            let unit = if x == y { (range.1 - range.0).max(f64::MIN_POSITIVE) } else { 1.0 };
            let at = (0..n).map(|i| (map.row(i)[x], unit * up(i))).collect();
            let named = if pairs.len() > 1 {
                format!("{}, dimensions {} and {}", thumbnail.title, x + 1, y + 1)
            } else {
                thumbnail.title.clone()
            };
            View { title: named, facts, at: Ok(at) }
        };
        pairs.iter().map(one).collect()
    }

    fn draw(&self, scene: &mut Scene, area: Area, looks: &[Look]) {
        scene.text(
            (area.x, area.y + 14.0),
            13.0,
            Anchor::Start,
            scene.colors.ink,
            font::fitted(&self.title, 13.0, area.width),
        );
        let facts = font::fitted(self.facts, 10.0, area.width);
        scene.text((area.x, area.y + 28.0), 10.0, Anchor::Start, scene.colors.grey, facts);
        let side = area.width.min(area.height - 36.0);
        let square = Area { x: area.x, y: area.y + 36.0, width: area.width, height: side };
        let corners = [
            ((square.x, square.y), (square.right(), square.y)),
            ((square.x, square.bottom()), (square.right(), square.bottom())),
            ((square.x, square.y), (square.x, square.bottom())),
            ((square.right(), square.y), (square.right(), square.bottom())),
        ];
        corners.into_iter().for_each(|(from, to)| scene.line(from, to, 0.75, scene.colors.grid));
        let at = match &self.at {
            Ok(at) => at,
            Err(reason) => {
                let mut y = square.y + 24.0;
                for line in wrapped(reason, 10.5, square.width - 20.0) {
                    scene.text((square.x + 10.0, y), 10.5, Anchor::Start, scene.colors.grey, line);
                    y += 14.0;
                }
                return;
            }
        };
        let (left, right) = limits::of_most(at.iter().map(|at| at.0));
        let (low, high) = limits::of_most(at.iter().map(|at| at.1));
        // One unit is as long across as upwards.
        let room = (square.width - 12.0, square.height - 12.0);
        let span = |range: f64| if range > 0.0 { range } else { 1.0 };
        let unit = (room.0 / span(right - left)).min(room.1 / span(high - low));
        let middle = ((left + right) / 2.0, (low + high) / 2.0);
        let center = (square.x + square.width / 2.0, square.y + square.height / 2.0);
        let place = |(x, y): (f64, f64)| (center.0 + unit * (x - middle.0), center.1 - unit * (y - middle.1));
        let inside =
            |(x, y): (f64, f64)| (square.x..=square.right()).contains(&x) && (square.y..=square.bottom()).contains(&y);
        let dots: Vec<(f64, f64, Look)> = (scattered(at.len()).into_iter())
            .map(|i| (place(at[i]), looks[i]))
            .filter(|(at, _)| inside(*at))
            .map(|((x, y), look)| (x, y, look))
            .collect();
        let radius = (0.5 * view::radius(at.len())).clamp(0.5, 2.0);
        scene.marks.push(Mark::Dots { radius, opacity: view::opacity(at.len()), dots });
    }
}

/// A text in lines of at most this width.
fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if font::width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(font::fitted(word, size, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_map_has_its_panel_and_one_that_failed_shows_the_reason() {
        let map = |cols: usize| Points::new(30, cols, (0..30 * cols).map(|i| (i as f64 * 0.77).fract()).collect());
        let thumbnail =
            |title: &str, map: Result<Points, String>| Thumbnail { title: title.into(), facts: "x".into(), map };
        let thumbnails = [
            thumbnail("one", Ok(map(1).unwrap())),
            thumbnail("two", Ok(map(2).unwrap())),
            thumbnail("three", Ok(map(3).unwrap())),
            thumbnail("broken", Err("it ran out of memory and has no map".into())),
        ];
        let coloring = Coloring::Values { title: "t".into(), values: (0..30).map(f64::from).collect() };
        let contact_sheet = ContactSheet {
            title: "a",
            subtitle: "b",
            thumbnails: &thumbnails,
            coloring: &coloring,
            theme: Theme::Light,
        };
        let scene = contact_sheet.scene();
        let clouds =
            scene.marks.iter().filter(|mark| matches!(mark, Mark::Dots { dots, .. } if dots.len() == 30)).count();
        assert_eq!(clouds, 5, "one, two, and three projections");
        let says =
            |what: &str| scene.marks.iter().any(|mark| matches!(mark, Mark::Text { text, .. } if text.contains(what)));
        assert!(says("broken") && says("memory") && says("three, dimensions 1 and 3"));
        for format in [Format::Svg, Format::Png, Format::Pdf] {
            assert!(contact_sheet.rendered(format).unwrap().len() > 1000);
        }
    }
}

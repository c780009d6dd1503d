//! The panel beside the points: legend, scale of the uncertainty shading, and spectrum.

use super::Coloring;
use super::axes::Scale;
use super::font;
use super::grouped;
use super::palette::{Colors, MOST_CLASSES};
use super::scene::{Anchor, Area, Look, Mark, Rgb, Scene};

/// The most bars of the spectrum.
const MOST_BARS: usize = 12;
/// The height of the spectrum with the space above it.
const SPECTRUM: f64 = 150.0;
/// The height of the bar of deviations with the space above it.
const DEVIATIONS: f64 = 66.0;
/// The height of a heading.
const HEADING: f64 = 24.0;
/// The height of one line of the legend, at most and at least.
const LINES: (f64, f64) = (19.0, 13.0);
/// The height of the color bar, at most and at least, and the space below it.
const BAR: (f64, f64, f64) = (180.0, 70.0, 24.0);
/// The spectrum is drawn if one of the coordinates' bars has at least this part of the longest.
const SEEN: f64 = 0.03;

/// What the panel shows.
pub(crate) struct Panel<'a> {
    pub(crate) colors: &'static Colors,
    pub(crate) coloring: &'a Coloring,
    /// How many points, the first, are below the others.
    pub(crate) behind: usize,
    /// Whether the classes are listed: not where their names are written on the points.
    pub(crate) lists_classes: bool,
    /// A line of the legend for marks of another kind.
    pub(crate) marked: Option<(Look, String)>,
    /// The least and the largest standard deviation of the inverse transform, if they are drawn.
    pub(crate) deviations: Option<(f64, f64)>,
    pub(crate) eigenvalues: &'a [f64],
    /// The number of coordinates.
    pub(crate) dims: usize,
}

impl Panel<'_> {
    /// Whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.title().is_none() && self.entries().is_empty() && self.deviations.is_none() && self.bars().is_empty()
    }

    /// The width that holds every text, within limits.
    pub(crate) fn width(&self) -> f64 {
        let title = self.title().map_or(0.0, |title| font::width(title, 12.0));
        let lines = self.entries().iter().map(|(_, text)| 18.0 + font::width(text, 11.5)).fold(0.0, f64::max);
        let bars = if self.bars().is_empty() && self.deviations.is_none() { 0.0 } else { 130.0 };
        title.max(lines).max(bars).clamp(72.0, 190.0).ceil()
    }

    /// The least height that holds the legend.
    pub(crate) fn height(&self) -> f64 {
        let heading = self.title().map_or(0.0, |_| HEADING);
        let bar = if self.has_color_bar() { BAR.1 + BAR.2 } else { 0.0 };
        heading + bar + LINES.1 * self.entries().len() as f64 + self.deviations.map_or(0.0, |_| DEVIATIONS)
    }

    fn has_color_bar(&self) -> bool {
        matches!(self.coloring, Coloring::Values { .. })
    }

    /// The eigenvalues that are drawn: none if those of the coordinates would not be seen, or are all there are.
    fn bars(&self) -> Vec<f64> {
        let shown: Vec<f64> = self.eigenvalues.iter().copied().take(MOST_BARS).filter(|v| v.is_finite()).collect();
        let longest = |values: &[f64]| values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let own = longest(&shown[..self.dims.min(shown.len())]);
        let telling = shown.len() > self.dims && own > 0.0 && own >= SEEN * longest(&shown);
        if telling { shown } else { Vec::new() }
    }

    /// The look of every point, in the order of the rows.
    pub(crate) fn looks(&self, n: usize) -> Vec<Look> {
        let (colors, other) = (self.colors, Look::disc(self.colors.other));
        let mut looks = match self.coloring {
            Coloring::One => vec![Look::disc(colors.plain); n],
            Coloring::Classes { names, of, .. } => {
                let looks = class_looks(colors, names.len(), of);
                let look = |class: u32| looks.get(class as usize).copied();
                of.iter().map(|class| class.and_then(look).unwrap_or(other)).collect()
            }
            Coloring::Values { values, .. } => {
                let (low, high) = extent(values);
                let color = |v: &f64| if v.is_nan() { colors.other } else { colors.value((v - low) / (high - low)) };
                values.iter().map(color).map(Look::disc).collect()
            }
        };
        looks[..self.behind].fill(Look::disc(colors.behind));
        looks
    }

    /// Draws everything that has room: the legend before all else, the spectrum last.
    pub(crate) fn draw(&self, scene: &mut Scene, area: Area) {
        let entries = self.entries();
        let title = self.title();
        let deviations = self.deviations.map_or(0.0, |_| DEVIATIONS);
        let fits = !self.bars().is_empty() && self.height() + SPECTRUM <= area.height;
        let spectrum = if fits { SPECTRUM } else { 0.0 };
        // The bar takes what the other parts leave.
        let lines = HEADING + LINES.1 * entries.len() as f64;
        let free = area.height - lines - deviations - spectrum - BAR.2;
        let bar = if self.has_color_bar() { free.clamp(BAR.1, BAR.0) + BAR.2 } else { 0.0 };
        let mut y = area.y;
        if let Some(title) = title {
            heading(scene, Area { y, ..area }, title);
            y += HEADING;
        }
        if let Coloring::Values { values, .. } = self.coloring {
            color_bar(scene, Area { y, width: 14.0, height: bar - BAR.2, ..area }, extent(values));
            y += bar;
        }
        let end = area.bottom() - deviations - spectrum;
        let y = self.lines(scene, Area { y, height: end - y, ..area }, entries);
        if let Some(extent) = self.deviations {
            deviation_bar(scene, Area { y: y.min(end) + 12.0, height: DEVIATIONS - 12.0, ..area }, extent);
        }
        if spectrum > 0.0 {
            let height = SPECTRUM - 14.0;
            self.spectrum(scene, Area { y: area.bottom() - height, height, ..area });
        }
    }

    fn title(&self) -> Option<&str> {
        match self.coloring {
            Coloring::One => None,
            Coloring::Classes { title, .. } => self.lists_classes.then_some(title),
            Coloring::Values { title, .. } => Some(title),
        }
    }

    /// The lines of the legend.
    fn entries(&self) -> Vec<(Look, String)> {
        let mut entries = Vec::new();
        let other = Look::disc(self.colors.other);
        let mut missing = 0;
        match self.coloring {
            Coloring::One => {}
            Coloring::Classes { names, of, .. } => {
                if self.lists_classes {
                    let looks = class_looks(self.colors, names.len(), of);
                    let own = |look: &Look| names.len() <= MOST_CLASSES || *look != other;
                    entries.extend(looks.into_iter().zip(names.iter().cloned()).filter(|(look, _)| own(look)));
                    if entries.len() < names.len() {
                        entries.push((other, format!("{} other classes", names.len() - entries.len())));
                    }
                }
                missing = of[self.behind..].iter().filter(|class| class.is_none()).count();
            }
            Coloring::Values { values, .. } => {
                missing = values[self.behind..].iter().filter(|value| value.is_nan()).count()
            }
        }
        if missing > 0 {
            entries.push((other, format!("no label ({})", grouped(missing))));
        }
        if self.behind > 0 {
            if *self.coloring == Coloring::One {
                entries.push((Look::disc(self.colors.plain), "new points".into()));
            }
            entries.push((Look::disc(self.colors.behind), format!("training points ({})", grouped(self.behind))));
        }
        entries.extend(self.marked.clone());
        entries
    }

    /// Draws the lines of the legend, closer where there are many; where they end.
    fn lines(&self, scene: &mut Scene, area: Area, mut entries: Vec<(Look, String)>) -> f64 {
        let fitting = ((area.height / LINES.1).max(1.0)) as usize;
        let left_out = entries.len().saturating_sub(fitting);
        if left_out > 0 {
            entries.truncate(fitting - 1);
        }
        let count = entries.len() + usize::from(left_out > 0);
        let pitch = (area.height / count.max(1) as f64).clamp(LINES.1, LINES.0);
        let (size, radius) = if pitch < 16.0 { (10.0, 3.5) } else { (11.5, 4.5) };
        let at = |i: usize| area.y + 4.0 + pitch * i as f64;
        let write = |scene: &mut Scene, i: usize, text: &str| {
            let text = font::fitted(text, size, area.width - 17.0);
            scene.text((area.x + 17.0, at(i) + 0.35 * size), size, Anchor::Start, scene.colors.ink, text);
        };
        for (i, (look, name)) in entries.iter().enumerate() {
            let dots = vec![(area.x + 6.0, at(i), *look)];
            let radius = if look.shape == super::scene::Shape::Ring { radius / 1.6 } else { radius };
            scene.marks.push(Mark::Dots { radius, opacity: 1.0, dots });
            write(scene, i, name);
        }
        if left_out > 0 {
            write(scene, entries.len(), &format!("and {} more", left_out + 1));
        }
        at(count)
    }

    /// Draws the eigenvalues as bars, those of the coordinates dark.
    fn spectrum(&self, scene: &mut Scene, area: Area) {
        let shown = self.bars();
        let (low, high) = shown.iter().fold((0.0f64, 0.0f64), |(l, h), &v| (l.min(v), h.max(v)));
        if shown.is_empty() || low == high {
            return;
        }
        heading(scene, area, "eigenvalues");
        let bars = Area { y: area.y + 22.0, height: area.height - 40.0, ..area };
        let scale = Scale::new((low, high), (bars.bottom(), bars.y));
        let pitch = (bars.width / shown.len() as f64).min(24.0);
        for (i, &value) in shown.iter().enumerate() {
            let (top, bottom) = (scale.at(value.max(0.0)), scale.at(value.min(0.0)));
            let bar =
                Area { x: bars.x + pitch * i as f64, y: top, width: 0.72 * pitch, height: (bottom - top).max(0.75) };
            scene.rect(bar, if i < self.dims { self.colors.ink } else { self.colors.other });
            let name = (i + 1).to_string();
            if i == 0 || i + 1 == shown.len() {
                scene.text(
                    (bar.x + bar.width / 2.0, bars.bottom() + 14.0),
                    10.0,
                    Anchor::Middle,
                    scene.colors.grey,
                    name,
                );
            }
        }
        scene.line(
            (bars.x, scale.at(0.0)),
            (bars.x + pitch * shown.len() as f64, scale.at(0.0)),
            1.0,
            scene.colors.grid,
        );
        let largest = shown.iter().copied().fold(0.0f64, |a, v| if v.abs() > a.abs() { v } else { a });
        let text = format!("largest {}", significant(largest));
        if font::width("eigenvalues", 12.0) + font::width(&text, 10.0) + 8.0 <= area.width {
            scene.text((area.right(), area.y + 10.0), 10.0, Anchor::End, scene.colors.grey, text);
        }
    }
}

/// Up to 26 classes have a look each; of more, the 25 largest.
fn class_looks(colors: &Colors, count: usize, of: &[Option<u32>]) -> Vec<Look> {
    if count <= MOST_CLASSES {
        return (0..count).map(|class| colors.look(class)).collect();
    }
    let mut sizes: Vec<(usize, usize)> = (0..count).map(|class| (0, class)).collect();
    for class in of.iter().flatten() {
        if let Some(size) = sizes.get_mut(*class as usize) {
            size.0 += 1;
        }
    }
    sizes.sort_by_key(|&(size, class)| (std::cmp::Reverse(size), class));
    let mut shown: Vec<usize> = sizes.iter().take(MOST_CLASSES - 1).map(|s| s.1).collect();
    shown.sort_unstable();
    let mut looks = vec![Look::disc(colors.other); count];
    for (rank, class) in shown.into_iter().enumerate() {
        looks[class] = colors.look(rank);
    }
    looks
}

fn extent(values: &[f64]) -> (f64, f64) {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    if low < high { (low, high) } else { (low, low + 1.0) }
}

fn heading(scene: &mut Scene, area: Area, title: &str) {
    scene.text((area.x, area.y + 10.0), 12.0, Anchor::Start, scene.colors.ink, font::fitted(title, 12.0, area.width));
}

fn color_bar(scene: &mut Scene, area: Area, extent: (f64, f64)) {
    let steps = 64;
    let height = area.height / f64::from(steps);
    for i in 0..steps {
        let fraction = (f64::from(steps - i) - 0.5) / f64::from(steps);
        // A hair taller than its place, so that no white line shows between two steps.
        let more = if i + 1 < steps { 0.5 } else { 0.0 };
        let step = Area { y: area.y + f64::from(i) * height, height: height + more, ..area };
        scene.rect(step, scene.colors.value(fraction));
    }
    let scale = Scale::new(extent, (area.bottom(), area.y));
    for (value, text) in scale.ticks(5.0) {
        let y = scale.at(value);
        scene.line((area.right() + 2.0, y), (area.right() + 5.0, y), 1.0, scene.colors.grey);
        scene.text((area.right() + 9.0, y + 4.0), 11.0, Anchor::Start, scene.colors.grey, text);
    }
}

/// Draws the scale of the uncertainty shading.
fn deviation_bar(scene: &mut Scene, area: Area, (low, high): (f64, f64)) {
    heading(scene, area, "standard deviation");
    let steps = 32;
    let width = area.width / f64::from(steps);
    let bar = Area { y: area.y + 18.0, height: 10.0, ..area };
    scene.rect(
        Area { x: bar.x - 1.0, y: bar.y - 1.0, width: bar.width + 2.0, height: bar.height + 2.0 },
        scene.colors.grid,
    );
    for i in 0..steps {
        let grey = scene.colors.shade((f64::from(i) + 0.5) / f64::from(steps));
        let more = if i + 1 < steps { 0.5 } else { 0.0 };
        let step = Area { x: bar.x + f64::from(i) * width, width: width + more, ..bar };
        scene.rect(step, Rgb(grey, grey, grey));
    }
    scene.text((bar.x, bar.bottom() + 13.0), 10.0, Anchor::Start, scene.colors.grey, significant(low));
    scene.text((bar.right(), bar.bottom() + 13.0), 10.0, Anchor::End, scene.colors.grey, significant(high));
}

/// Three significant digits.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if (-3.0..5.0).contains(&magnitude) {
        let decimals = (2.0 - magnitude).max(0.0) as usize;
        format!("{value:.decimals$}").replace('-', "−")
    } else {
        format!("{value:.2e}").replace('-', "−")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theme;

    #[test]
    fn the_largest_classes_keep_their_looks() {
        let colors = Theme::Light.colors();
        let other = Look::disc(colors.other);
        // 28 classes; class 27 is the largest, class 0 the smallest.
        let of: Vec<Option<u32>> = (0..28u32).flat_map(|class| vec![Some(class); class as usize + 1]).collect();
        let looks = class_looks(colors, 28, &of);
        assert_eq!(looks.iter().filter(|&&look| look == other).count(), 3);
        assert!(looks[..3].iter().all(|&look| look == other));
        assert!(class_looks(colors, 26, &of).iter().all(|&look| look != other));
    }

    #[test]
    fn equal_values_have_a_color_and_missing_ones_are_grey() {
        let colors = Theme::Light.colors();
        let other = Look::disc(colors.other);
        let coloring = Coloring::Values { title: "v".into(), values: vec![2.0, f64::NAN, 2.0] };
        let panel = Panel {
            colors,
            lists_classes: true,
            coloring: &coloring,
            behind: 0,
            marked: None,
            deviations: None,
            eigenvalues: &[],
            dims: 2,
        };
        assert_eq!(panel.looks(3)[1], other);
        assert_eq!(panel.entries(), [(other, "no label (1)".to_string())]);
        assert_eq!((significant(1234.5), significant(0.012345)), ("1234".into(), "0.0123".into()));
    }

    #[test]
    fn a_legend_never_runs_out_of_its_place() {
        let names: Vec<String> = (0..40).map(|i| format!("class {i}")).collect();
        let of = (0..400).map(|i| Some(i % 40)).collect();
        let coloring = Coloring::Classes { title: "kind".into(), names, of };
        let eigenvalues = [3.0, 2.0, 1.0];
        let panel = Panel {
            colors: Theme::Light.colors(),
            lists_classes: true,
            coloring: &coloring,
            behind: 0,
            marked: None,
            deviations: Some((0.0, 1.0)),
            eigenvalues: &eigenvalues,
            dims: 2,
        };
        for height in [120.0, 300.0, 460.0, 900.0] {
            let mut scene = Scene::new((200.0, height), Theme::Light);
            panel.draw(&mut scene, Area { x: 0.0, y: 0.0, width: 152.0, height });
            let mut lines: Vec<f64> = scene
                .marks
                .iter()
                .filter_map(|mark| match mark {
                    Mark::Text { at, anchor: Anchor::Start, .. } => Some(at.1),
                    _ => None,
                })
                .collect();
            assert!(lines.iter().all(|&y| y <= height + 2.0), "{height}: {lines:?}");
            lines.sort_by(f64::total_cmp);
            assert!(lines.windows(2).all(|w| w[1] - w[0] >= 10.0), "{height}: {lines:?}");
        }
    }
}

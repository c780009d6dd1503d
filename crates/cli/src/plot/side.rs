//! The panel beside the points: what the colors mean, and the spectrum.

use super::Coloring;
use super::axes::Scale;
use super::font;
use super::palette::{self, GREY, GRID, INK, MOST_CLASSES, OTHER, PLAIN};
use super::scene::{Anchor, Area, Mark, Rgb, Scene};

/// The most bars of the spectrum.
const MOST_BARS: usize = 12;
/// The height of one line of the legend.
const LINE: f64 = 19.0;

/// The color of every point, in the order of the rows.
pub(crate) fn colors(coloring: &Coloring, n: usize) -> Vec<Rgb> {
    match coloring {
        Coloring::One => vec![PLAIN; n],
        Coloring::Classes { names, of, .. } => {
            let colors = class_colors(names.len(), of);
            of.iter()
                .map(|class| class.and_then(|class| colors.get(class as usize).copied()).unwrap_or(OTHER))
                .collect()
        }
        Coloring::Values { values, .. } => {
            let (low, high) = extent(values);
            values.iter().map(|v| if v.is_nan() { OTHER } else { palette::value((v - low) / (high - low)) }).collect()
        }
    }
}

/// Up to twelve classes have a color each; of more, the eleven largest.
fn class_colors(count: usize, of: &[Option<u32>]) -> Vec<Rgb> {
    if count <= MOST_CLASSES {
        return (0..count).map(|class| palette::class(class, count)).collect();
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
    let mut colors = vec![OTHER; count];
    for (rank, class) in shown.into_iter().enumerate() {
        colors[class] = palette::class(rank, MOST_CLASSES);
    }
    colors
}

fn extent(values: &[f64]) -> (f64, f64) {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    if low < high { (low, high) } else { (low, low + 1.0) }
}

/// Draws what the colors mean at the top of `area`.
pub(crate) fn legend(scene: &mut Scene, area: Area, coloring: &Coloring) {
    match coloring {
        Coloring::One => {}
        Coloring::Classes { title, names, of } => {
            heading(scene, area, title);
            let missing = of.iter().filter(|class| class.is_none()).count();
            classes(scene, Area { y: area.y + 24.0, ..area }, names, &class_colors(names.len(), of), missing);
        }
        Coloring::Values { title, values } => {
            heading(scene, area, title);
            color_bar(scene, Area { y: area.y + 24.0, width: 14.0, height: 180.0, ..area }, extent(values));
        }
    }
}

fn heading(scene: &mut Scene, area: Area, title: &str) {
    scene.text((area.x, area.y + 10.0), 12.0, Anchor::Start, INK, font::fitted(title, 12.0, area.width));
}

fn classes(scene: &mut Scene, area: Area, names: &[String], colors: &[Rgb], missing: usize) {
    let all = names.len() <= MOST_CLASSES;
    let mut entries: Vec<(String, Rgb)> =
        names.iter().cloned().zip(colors.iter().copied()).filter(|(_, color)| all || *color != OTHER).collect();
    if !all {
        entries.push((format!("{} other classes", names.len() - entries.len()), OTHER));
    }
    if missing > 0 {
        entries.push((format!("no label ({missing})"), OTHER));
    }
    for (i, (name, color)) in entries.into_iter().enumerate() {
        let y = area.y + 4.0 + LINE * i as f64;
        scene.marks.push(Mark::Dots { radius: 4.5, opacity: 1.0, dots: vec![(area.x + 5.0, y, color)] });
        scene.text((area.x + 17.0, y + 4.0), 11.5, Anchor::Start, INK, font::fitted(&name, 11.5, area.width - 17.0));
    }
}

fn color_bar(scene: &mut Scene, area: Area, extent: (f64, f64)) {
    let steps = 64;
    let height = area.height / f64::from(steps);
    for i in 0..steps {
        let fraction = (f64::from(steps - i) - 0.5) / f64::from(steps);
        // A hair taller than its place, so that no white line shows between two steps.
        let more = if i + 1 < steps { 0.5 } else { 0.0 };
        let step = Area { y: area.y + f64::from(i) * height, height: height + more, ..area };
        scene.rect(step, palette::value(fraction));
    }
    let scale = Scale::new(extent, (area.bottom(), area.y));
    for (value, text) in scale.ticks(5.0) {
        let y = scale.at(value);
        scene.line((area.right() + 2.0, y), (area.right() + 5.0, y), 1.0, GREY);
        scene.text((area.right() + 9.0, y + 4.0), 11.0, Anchor::Start, GREY, text);
    }
}

/// Draws the eigenvalues as bars at the bottom of `area`, those of the `dims` coordinates dark.
pub(crate) fn spectrum(scene: &mut Scene, area: Area, eigenvalues: &[f64], dims: usize) {
    let shown: Vec<f64> = eigenvalues.iter().copied().take(MOST_BARS).filter(|v| v.is_finite()).collect();
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
        let bar = Area { x: bars.x + pitch * i as f64, y: top, width: 0.72 * pitch, height: (bottom - top).max(0.75) };
        scene.rect(bar, if i < dims { INK } else { OTHER });
        let name = (i + 1).to_string();
        if i == 0 || i + 1 == shown.len() {
            scene.text((bar.x + bar.width / 2.0, bars.bottom() + 14.0), 10.0, Anchor::Middle, GREY, name);
        }
    }
    scene.line((bars.x, scale.at(0.0)), (bars.x + pitch * shown.len() as f64, scale.at(0.0)), 1.0, GRID);
    let largest = shown.iter().copied().fold(0.0f64, |a, v| if v.abs() > a.abs() { v } else { a });
    let text = format!("largest {}", significant(largest));
    scene.text((area.right(), area.y + 10.0), 10.0, Anchor::End, GREY, text);
}

/// Three significant digits.
fn significant(value: f64) -> String {
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

    #[test]
    fn the_largest_classes_keep_their_colors() {
        // 14 classes; class 13 is the largest, class 0 the smallest.
        let of: Vec<Option<u32>> = (0..14u32).flat_map(|class| vec![Some(class); class as usize + 1]).collect();
        let colors = class_colors(14, &of);
        assert_eq!(colors.iter().filter(|&&c| c == OTHER).count(), 3);
        assert!(colors[..3].iter().all(|&c| c == OTHER));
    }

    #[test]
    fn equal_values_have_a_color() {
        let coloring = Coloring::Values { title: "v".into(), values: vec![2.0; 3] };
        assert_eq!(colors(&coloring, 3).len(), 3);
        assert_eq!(significant(1234.5), "1234");
        assert_eq!(significant(0.012345), "0.0123");
    }
}

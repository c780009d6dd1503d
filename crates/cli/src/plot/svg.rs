//! A scene as SVG.
//!
//! Dots are zero-length strokes with round ends, many to a path: a tenth of the bytes of circles. They are rounded to
//! a tenth of a unit and coincident ones of a path are written once, so 100,000 points stay near a megabyte.

use super::scene::{Anchor, Mark, Rgb, Scene};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The dots are split into this many layers, so that colors mix as in the PNG and none lies on top of the others.
const LAYERS: usize = 12;

/// The whole file.
pub(crate) fn svg(scene: &Scene) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"'Liberation Sans', Arial, Helvetica, sans-serif\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for mark in &scene.marks {
        // Writing to a String cannot fail.
        let _ = match mark {
            Mark::Dots { radius, opacity, dots } => write_dots(&mut out, *radius, *opacity, dots),
            mark => write_mark(&mut out, mark),
        };
    }
    out + "</svg>\n"
}

fn write_mark(out: &mut String, mark: &Mark) -> std::fmt::Result {
    match mark {
        Mark::Rect { area, fill } => writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\"/>",
            area.x,
            area.y,
            area.width,
            area.height,
            fill.hex()
        ),
        Mark::Line { from, to, width, color } => writeln!(
            out,
            "<path d=\"M{:.2} {:.2}L{:.2} {:.2}\" stroke=\"{}\" stroke-width=\"{width}\" stroke-linecap=\"round\"/>",
            from.0,
            from.1,
            to.0,
            to.1,
            color.hex()
        ),
        Mark::Text { at, size, anchor, color, text } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let (x, y, fill, text) = (at.0, at.1, color.hex(), escaped(text));
            writeln!(out, "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" fill=\"{fill}\"{anchor}>{text}</text>")
        }
        Mark::Dots { .. } => Ok(()),
    }
}

fn write_dots(out: &mut String, radius: f64, opacity: f64, dots: &[(f64, f64, Rgb)]) -> std::fmt::Result {
    // Half a unit cannot be seen where a million dots lie.
    let grid = if dots.len() > 200_000 { 2.0 } else { 10.0 };
    let diameter = 2.0 * radius;
    writeln!(
        out,
        "<g fill=\"none\" stroke-linecap=\"round\" stroke-width=\"{diameter:.2}\" stroke-opacity=\"{opacity:.2}\">"
    )?;
    for layer in dots.chunks(dots.len().div_ceil(LAYERS).max(1)) {
        let mut order = Vec::new();
        let mut paths: HashMap<Rgb, (HashSet<(i32, i32)>, String)> = HashMap::new();
        for &(x, y, color) in layer {
            let (seen, path) = paths.entry(color).or_insert_with(|| {
                order.push(color);
                Default::default()
            });
            let at = ((x * grid).round() as i32, (y * grid).round() as i32);
            if seen.insert(at) {
                write!(path, "M{} {}h0", f64::from(at.0) / grid, f64::from(at.1) / grid)?;
            }
        }
        for color in order {
            writeln!(out, "<path stroke=\"{}\" d=\"{}\"/>", color.hex(), paths[&color].1)?;
        }
    }
    writeln!(out, "</g>")
}

/// Text that XML takes: markup escaped, control characters (which XML forbids even escaped) replaced.
fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coincident_dots_are_written_once_and_text_is_escaped() {
        let color = Rgb(1, 2, 3);
        let dots = [(1.01, 2.0, color), (1.02, 2.0, color)];
        let mut scene = Scene { width: 10.0, height: 10.0, marks: vec![] };
        // Two dots make two layers; twenty-four make twelve of two.
        scene.marks.push(Mark::Dots { radius: 1.0, opacity: 0.5, dots: dots.repeat(12) });
        scene.text((0.0, 0.0), 5.0, Anchor::End, color, "a<b & c\u{1}");
        let text = svg(&scene);
        assert_eq!(text.matches("M1 2h0").count(), 12, "{text}");
        assert!(text.contains("a&lt;b &amp; c\u{fffd}"), "{text}");
    }
}

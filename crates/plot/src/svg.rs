//! A scene as SVG.
//!
//! Discs are zero-length strokes with round ends, many to a path: a tenth of the bytes of circles. Dots are rounded to
//! a tenth of a unit and coincident ones of a path are written once, so 100,000 points stay near a megabyte.

use super::raster::grey_png;
use super::scene::{Anchor, Area, CROSS, CROSS_LINE, Look, Mark, RING, RING_LINE, Scene, Shape, Side, TRIANGLE};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The dots are split into this many layers, so that colors mix as in the PNG and none lies on top of the others.
const LAYERS: usize = 12;

/// The whole file.
pub(crate) fn svg(scene: &Scene) -> String {
    let (width, height, paper) = (scene.width, scene.height, scene.colors.paper.hex());
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"'Liberation Sans', Arial, Helvetica, sans-serif\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n"
    );
    for mark in &scene.marks {
        // Writing to a String cannot fail.
        let _ = match mark {
            Mark::Dots { radius, opacity, dots } => write_dots(&mut out, *radius, *opacity, dots),
            Mark::Image { area, columns, greys } => write_image(&mut out, *area, *columns, greys),
            mark => write_mark(&mut out, mark, &paper),
        };
    }
    out + "</svg>\n"
}

fn write_mark(out: &mut String, mark: &Mark, paper: &str) -> std::fmt::Result {
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
        Mark::Text { at, size, anchor, color, text, halo } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let (x, y, fill, text) = (at.0, at.1, color.hex(), escaped(text));
            let rim = if *halo > 0.0 {
                let width = 2.0 * halo;
                format!(" stroke=\"{paper}\" stroke-width=\"{width}\" stroke-linejoin=\"round\" paint-order=\"stroke\"")
            } else {
                String::new()
            };
            writeln!(
                out,
                "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" fill=\"{fill}\"{anchor}{rim}>{text}</text>"
            )
        }
        Mark::Dots { .. } | Mark::Image { .. } => Ok(()),
    }
}

fn write_dots(out: &mut String, radius: f64, opacity: f64, dots: &[(f64, f64, Look)]) -> std::fmt::Result {
    // Half a unit cannot be seen where a million dots lie.
    let grid = if dots.len() > 200_000 { 2.0 } else { 10.0 };
    writeln!(
        out,
        "<g fill=\"none\" stroke-linecap=\"round\" stroke-opacity=\"{opacity:.2}\" fill-opacity=\"{opacity:.2}\">"
    )?;
    for layer in dots.chunks(dots.len().div_ceil(LAYERS).max(1)) {
        let mut order = Vec::new();
        let mut paths: HashMap<Look, (HashSet<(i32, i32)>, String)> = HashMap::new();
        for &(x, y, look) in layer {
            let (seen, path) = paths.entry(look).or_insert_with(|| {
                order.push(look);
                Default::default()
            });
            let at = ((x * grid).round() as i32, (y * grid).round() as i32);
            if seen.insert(at) {
                write_shape(path, (f64::from(at.0) / grid, f64::from(at.1) / grid), radius, look.shape)?;
            }
        }
        for look in order {
            let (color, d) = (look.color.hex(), &paths[&look].1);
            let ink = match look.shape {
                Shape::Disc => format!("stroke=\"{color}\" stroke-width=\"{:.2}\"", 2.0 * radius),
                Shape::Triangle(_) => format!("fill=\"{color}\""),
                Shape::Cross => format!("stroke=\"{color}\" stroke-width=\"{:.2}\"", CROSS_LINE * radius),
                Shape::Ring => format!("stroke=\"{color}\" stroke-width=\"{:.2}\"", RING_LINE * radius),
            };
            writeln!(out, "<path {ink} d=\"{d}\"/>")?;
        }
    }
    writeln!(out, "</g>")
}

/// Adds one dot to a path.
fn write_shape(path: &mut String, (x, y): (f64, f64), radius: f64, shape: Shape) -> std::fmt::Result {
    match shape {
        Shape::Disc => write!(path, "M{x} {y}h0"),
        Shape::Triangle(side) => {
            // The far corner; from there to one of the near ones, and along the near side to the other.
            let far = TRIANGLE * radius;
            let (along, half) = (1.5 * far, far * 0.75f64.sqrt());
            match side {
                Side::Top => write!(path, "M{x} {:.2}l{half:.2} {along:.2}h{:.2}z", y - far, -2.0 * half),
                Side::Bottom => write!(path, "M{x} {:.2}l{half:.2} {:.2}h{:.2}z", y + far, -along, -2.0 * half),
                Side::Left => write!(path, "M{:.2} {y}l{along:.2} {half:.2}v{:.2}z", x - far, -2.0 * half),
                Side::Right => write!(path, "M{:.2} {y}l{:.2} {half:.2}v{:.2}z", x + far, -along, -2.0 * half),
            }
        }
        Shape::Cross => {
            let arm = CROSS * radius * 0.5f64.sqrt();
            let (x, y, whole) = (x - arm, y - arm, 2.0 * arm);
            write!(path, "M{x:.2} {y:.2}l{whole:.2} {whole:.2}m0 {:.2}l{:.2} {whole:.2}", -whole, -whole)
        }
        Shape::Ring => {
            let r = RING * radius;
            write!(path, "M{:.2} {y}a{r:.2} {r:.2} 0 1 0 {:.2} 0a{r:.2} {r:.2} 0 1 0 {:.2} 0", x - r, 2.0 * r, -2.0 * r)
        }
    }
}

/// Writes an image as a PNG within the text.
fn write_image(out: &mut String, area: Area, columns: usize, greys: &[u8]) -> std::fmt::Result {
    // An image that cannot be encoded is left out; memory takes whatever is written to it.
    let Ok(png) = grey_png(columns, greys) else { return Ok(()) };
    let Area { x, y, width, height } = area;
    write!(
        out,
        "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" preserveAspectRatio=\"none\" \
         style=\"image-rendering:pixelated\" href=\"data:image/png;base64,"
    )?;
    write_base64(out, &png);
    writeln!(out, "\"/>")
}

fn write_base64(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let there = digit <= three.len();
            out.push(if there { char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]) } else { '=' });
        }
    }
}

/// Text that XML takes: markup escaped, control characters (which XML forbids even escaped) replaced.
fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            // They would turn the direction of whatever is written after them.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theme;
    use crate::scene::Rgb;

    #[test]
    fn coincident_dots_are_written_once_and_text_is_escaped() {
        let color = Rgb(1, 2, 3);
        let dots = [(1.01, 2.0, Look::disc(color)), (1.02, 2.0, Look::disc(color))];
        let mut scene = Scene::new((10.0, 10.0), Theme::Light);
        // Two dots make two layers; twenty-four make twelve of two.
        scene.marks.push(Mark::Dots { radius: 1.0, opacity: 0.5, dots: dots.repeat(12) });
        scene.text((0.0, 0.0), 5.0, Anchor::End, color, "a<b & c\u{1}");
        let text = svg(&scene);
        assert_eq!(text.matches("M1 2h0").count(), 12, "{text}");
        assert!(text.contains("a&lt;b &amp; c\u{fffd}"), "{text}");
    }

    #[test]
    fn base64_is_padded() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            let mut out = String::new();
            write_base64(&mut out, bytes.as_bytes());
            assert_eq!(out, text);
        }
    }

    #[test]
    fn hostile_texts_stay_texts() {
        let mut scene = Scene::new((10.0, 10.0), Theme::Light);
        let hostile = "]]><script>\u{0}\u{1b}[31m\r\n\"'&amp;\u{fffe}\u{202e}😀";
        scene.text((0.0, 0.0), 5.0, Anchor::Start, Rgb(0, 0, 0), hostile);
        let text = svg(&scene);
        assert!(text.contains("]]&gt;&lt;script&gt;") && text.contains("&amp;amp;") && text.contains('😀'), "{text}");
        assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text}");
        assert!(!text.contains('\u{fffe}') && !text.contains('\u{202e}'), "{text}");
    }
}

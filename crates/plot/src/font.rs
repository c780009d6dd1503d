//! The font of the pictures: how wide a text is, and its outlines.

use ab_glyph::{Font, FontRef, GlyphId, OutlineCurve, PxScale, ScaleFont};
use std::sync::LazyLock;

/// Liberation Sans cut down to Latin and Greek; see `assets/README.md`.
static SANS: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("../assets/eigenfold-sans.ttf")).ok());

/// The scale at which an em is `size` units, as in SVG; ab_glyph counts from the ascent to the descent instead.
fn scale(font: &FontRef<'static>, size: f64) -> PxScale {
    let units = font.units_per_em().unwrap_or(2048.0);
    PxScale::from(size as f32 * font.height_unscaled() / units)
}

/// Each glyph of `text` with the distance of its origin from the text's left end, and the text's width.
fn glyphs(font: &FontRef<'static>, text: &str, size: f64) -> (Vec<(GlyphId, f32)>, f32) {
    let scaled = font.as_scaled(scale(font, size));
    let mut pen = 0.0;
    let mut last = None;
    let mut placed = Vec::with_capacity(text.len());
    for id in text.chars().map(|c| font.glyph_id(c)) {
        pen += last.map_or(0.0, |last| scaled.kern(last, id));
        placed.push((id, pen));
        pen += scaled.h_advance(id);
        last = Some(id);
    }
    (placed, pen)
}

/// The width of `text` in the units of `size`.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    SANS.as_ref().map_or(0.0, |font| f64::from(glyphs(font, text, size).1))
}

/// The text itself if it is at most `room` wide, else its beginning and an ellipsis.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    let Some(font) = SANS.as_ref() else { return text.to_string() };
    let (placed, whole) = glyphs(font, text, size);
    if f64::from(whole) <= room {
        return text.to_string();
    }
    let left = room - width("…", size);
    // The pen at a glyph is where the text before it ends.
    let kept = placed.iter().take_while(|(_, pen)| f64::from(*pen) <= left).count().saturating_sub(1);
    text.chars().take(kept).collect::<String>().trim_end().to_string() + "…"
}

/// Calls `paint(x, y, coverage)` for every pixel that `text` touches, its left end of the baseline at (`x`, `y`).
pub(crate) fn rasterize(text: &str, size: f64, (x, y): (f64, f64), mut paint: impl FnMut(i64, i64, f32)) {
    let Some(font) = SANS.as_ref() else { return };
    for (id, offset) in glyphs(font, text, size).0 {
        let at = ab_glyph::point(x as f32 + offset, y as f32);
        let Some(outline) = font.outline_glyph(id.with_scale_and_position(scale(font, size), at)) else { continue };
        let corner = outline.px_bounds().min;
        outline.draw(|column, row, coverage| {
            paint(corner.x as i64 + i64::from(column), corner.y as i64 + i64::from(row), coverage.min(1.0));
        });
    }
}

/// A chunk of an outline; the pen is where the chunk before it ended.
pub(crate) enum Stroke {
    /// Begins anew at a place.
    Move((f64, f64)),
    /// A straight line to a place.
    Line((f64, f64)),
    /// A cubic curve by two control points to a place.
    Curve((f64, f64), (f64, f64), (f64, f64)),
}

/// Calls `draw` for every chunk of the outlines of `text`, its left end of the baseline at (`x`, `y`), y downwards.
pub(crate) fn outlined(text: &str, size: f64, (x, y): (f64, f64), mut draw: impl FnMut(Stroke)) {
    let Some(font) = SANS.as_ref() else { return };
    let unit = size / f64::from(font.units_per_em().unwrap_or(2048.0));
    for (id, offset) in glyphs(font, text, size).0 {
        let Some(outline) = font.outline(id) else { continue };
        let place = |p: ab_glyph::Point| (x + f64::from(offset) + unit * f64::from(p.x), y - unit * f64::from(p.y));
        let mut pen: Option<ab_glyph::Point> = None;
        for curve in outline.curves {
            let (from, to) = match curve {
                OutlineCurve::Line(a, b) | OutlineCurve::Quad(a, _, b) | OutlineCurve::Cubic(a, _, _, b) => (a, b),
            };
            if pen != Some(from) {
                draw(Stroke::Move(place(from)));
            }
            draw(match curve {
                OutlineCurve::Line(..) => Stroke::Line(place(to)),
                OutlineCurve::Quad(_, control, _) => {
                    // The cubic with the same shape.
                    let toward = |end: (f64, f64)| {
                        let (cx, cy) = place(control);
                        (end.0 + (cx - end.0) * 2.0 / 3.0, end.1 + (cy - end.1) * 2.0 / 3.0)
                    };
                    Stroke::Curve(toward(place(from)), toward(place(to)), place(to))
                }
                OutlineCurve::Cubic(_, one, two, _) => Stroke::Curve(place(one), place(two), place(to)),
            });
            pen = Some(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_there_and_has_arials_widths() {
        // Arial: a digit is 1139 of 2048 units wide.
        assert!((width("0", 2048.0) - 1139.0).abs() < 1.0, "{}", width("0", 2048.0));
        assert!(width("σ", 10.0) > 4.0);
    }

    #[test]
    fn a_long_text_is_cut_to_its_room() {
        assert_eq!(fitted("short", 10.0, 100.0), "short");
        let cut = fitted("a very long name of a class", 10.0, 60.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0) <= 60.0 && width(&cut, 10.0) > 45.0, "{cut}");
        assert!(fitted(&"long ".repeat(100_000), 10.0, 60.0).len() < 30);
        assert_eq!(fitted("anything", 10.0, 1.0), "…");
    }
}

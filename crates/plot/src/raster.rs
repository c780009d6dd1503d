//! A scene as PNG: every shape painted by how much of each pixel it covers.

use super::font;
use super::scene::{Anchor, Area, CROSS, CROSS_LINE, Look, Mark, RING, RING_LINE, Rgb, Scene, Shape, Side, TRIANGLE};

/// Pixels to a unit: twice as many as an ordinary screen has.
const SCALE: f64 = 2.0;

/// The whole file.
pub(crate) fn png(scene: &Scene) -> Result<Vec<u8>, png::EncodingError> {
    let canvas = Canvas::drawn(scene);
    encoded(canvas.width, canvas.height, png::ColorType::Rgb, &canvas.pixels)
}

/// A file of grey pixels.
pub(crate) fn grey_png(columns: usize, greys: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    encoded(columns, greys.len() / columns.max(1), png::ColorType::Grayscale, greys)
}

fn encoded(width: usize, height: usize, color: png::ColorType, pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Default);
    encoder.set_filter(png::FilterType::Up);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(out)
}

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    fn drawn(scene: &Scene) -> Canvas {
        let (width, height) = ((scene.width * SCALE) as usize, (scene.height * SCALE) as usize);
        let Rgb(r, g, b) = scene.colors.paper;
        let mut canvas = Canvas { width, height, pixels: [r, g, b].repeat(width * height) };
        for mark in &scene.marks {
            match mark {
                Mark::Rect { area, fill } => canvas.rect(*area, *fill),
                Mark::Line { from, to, width, color } => canvas.line(*from, *to, *width, *color),
                Mark::Text { at, size, anchor, color, text, halo } => {
                    if *halo > 0.0 {
                        canvas.rim(*at, *size, *anchor, (scene.colors.paper, *halo), text);
                    }
                    canvas.text(*at, *size, *anchor, *color, text);
                }
                Mark::Dots { radius, opacity, dots } => {
                    for &(x, y, look) in dots {
                        canvas.dot((x * SCALE, y * SCALE), *radius * SCALE, *opacity, look);
                    }
                }
                Mark::Image { area, columns, greys } => canvas.image(*area, *columns, greys),
            }
        }
        canvas
    }

    /// Lets `coverage` (0 to 1) of one pixel take `color`.
    fn blend(&mut self, x: i64, y: i64, coverage: f64, color: Rgb) {
        if x < 0 || y < 0 || x >= self.width as i64 || y >= self.height as i64 {
            return;
        }
        let at = 3 * (y as usize * self.width + x as usize);
        for (pixel, ink) in self.pixels[at..at + 3].iter_mut().zip([color.0, color.1, color.2]) {
            let below = f64::from(*pixel);
            *pixel = (below + coverage * (f64::from(ink) - below) + 0.5) as u8;
        }
    }

    /// Paints the pixels whose centers lie within half a pixel of a shape: `outside` is the distance to it, in pixels,
    /// negative inside.
    fn shape(
        &mut self,
        (low, high): ((f64, f64), (f64, f64)),
        opacity: f64,
        color: Rgb,
        outside: impl Fn(f64, f64) -> f64,
    ) {
        let clip = |v: f64, size: usize| v.clamp(0.0, size as f64) as i64;
        for y in clip(low.1 - 1.0, self.height)..clip(high.1 + 2.0, self.height) {
            for x in clip(low.0 - 1.0, self.width)..clip(high.0 + 2.0, self.width) {
                let coverage = (0.5 - outside(x as f64 + 0.5, y as f64 + 0.5)).clamp(0.0, 1.0);
                if coverage > 0.0 {
                    self.blend(x, y, opacity * coverage, color);
                }
            }
        }
    }

    fn dot(&mut self, (x, y): (f64, f64), r: f64, opacity: f64, Look { color, shape }: Look) {
        let within = |reach: f64| ((x - reach, y - reach), (x + reach, y + reach));
        match shape {
            Shape::Disc => self.shape(within(r), opacity, color, |px, py| (px - x).hypot(py - y) - r),
            Shape::Ring => {
                let (middle, half) = (RING * r, RING_LINE * r / 2.0);
                let outside = |px: f64, py: f64| ((px - x).hypot(py - y) - middle).abs() - half;
                self.shape(within(middle + half), opacity, color, outside);
            }
            Shape::Cross => {
                let (arm, half) = (CROSS * r, CROSS_LINE * r / 2.0);
                let outside = |px: f64, py: f64| {
                    let (u, v) = ((px - x + py - y) * 0.5f64.sqrt(), (px - x - py + y) * 0.5f64.sqrt());
                    let line = |along: f64, across: f64| (along.abs() - arm).max(0.0).hypot(across);
                    line(u, v).min(line(v, u)) - half
                };
                self.shape(within(arm + half), opacity, color, outside);
            }
            Shape::Triangle(side) => {
                let far = TRIANGLE * r;
                let outside = |px: f64, py: f64| {
                    let (dx, dy) = (px - x, py - y);
                    // Along the way to the far corner, and across it.
                    let (along, across) = match side {
                        Side::Top => (-dy, dx),
                        Side::Bottom => (dy, dx),
                        Side::Left => (-dx, dy),
                        Side::Right => (dx, dy),
                    };
                    (-along).max(across.abs() * 0.75f64.sqrt() + along / 2.0) - far / 2.0
                };
                self.shape(within(far), opacity, color, outside);
            }
        }
    }

    fn image(&mut self, area: Area, columns: usize, greys: &[u8]) {
        let lines = greys.len().checked_div(columns).unwrap_or(0);
        let (left, top) = (area.x * SCALE, area.y * SCALE);
        let (width, height) = (area.width * SCALE, area.height * SCALE);
        let clip = |v: f64, size: usize| v.round().clamp(0.0, size as f64) as usize;
        for y in clip(top, self.height)..clip(top + height, self.height) {
            let line = ((y as f64 + 0.5 - top) / height * lines as f64).clamp(0.0, lines as f64 - 1.0) as usize;
            for x in clip(left, self.width)..clip(left + width, self.width) {
                let at = ((x as f64 + 0.5 - left) / width * columns as f64).clamp(0.0, columns as f64 - 1.0) as usize;
                let grey = greys[line * columns + at];
                self.pixels[3 * (y * self.width + x)..][..3].fill(grey);
            }
        }
    }

    fn rect(&mut self, area: Area, fill: Rgb) {
        let (left, top) = (area.x * SCALE, area.y * SCALE);
        let (right, bottom) = (area.right() * SCALE, area.bottom() * SCALE);
        self.shape(((left, top), (right, bottom)), 1.0, fill, |x, y| {
            (left - x).max(x - right).max(top - y).max(y - bottom)
        });
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, color: Rgb) {
        let (a, b, half) = ((from.0 * SCALE, from.1 * SCALE), (to.0 * SCALE, to.1 * SCALE), width * SCALE / 2.0);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length2 = (dx * dx + dy * dy).max(1e-12);
        let low = (a.0.min(b.0) - half, a.1.min(b.1) - half);
        let high = (a.0.max(b.0) + half, a.1.max(b.1) + half);
        self.shape((low, high), 1.0, color, |x, y| {
            let along = (((x - a.0) * dx + (y - a.1) * dy) / length2).clamp(0.0, 1.0);
            (x - a.0 - along * dx).hypot(y - a.1 - along * dy) - half
        });
    }

    /// The letters as thick as a pen around their outlines makes them: the same text at many places of a circle.
    fn rim(&mut self, (x, y): (f64, f64), size: f64, anchor: Anchor, (color, width): (Rgb, f64), text: &str) {
        for step in 0..16 {
            let (sin, cos) = (f64::from(step) * std::f64::consts::TAU / 16.0).sin_cos();
            self.text((x + width * cos, y + width * sin), size, anchor, color, text);
        }
    }

    fn text(&mut self, (x, y): (f64, f64), size: f64, anchor: Anchor, color: Rgb, text: &str) {
        let size = size * SCALE;
        let shift = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => font::width(text, size) / 2.0,
            Anchor::End => font::width(text, size),
        };
        let at = ((x * SCALE - shift).round(), (y * SCALE).round());
        font::rasterize(text, size, at, |px, py, coverage| self.blend(px, py, f64::from(coverage), color));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theme;

    #[test]
    fn a_dot_colors_its_center_and_leaves_the_corner_white() {
        let dots = vec![(5.0, 5.0, Look::disc(Rgb(10, 20, 30)))];
        let marks = vec![Mark::Dots { radius: 2.0, opacity: 1.0, dots }];
        let scene = Scene { marks, ..Scene::new((10.0, 10.0), Theme::Light) };
        let canvas = Canvas::drawn(&scene);
        let pixel = |x: usize, y: usize| &canvas.pixels[3 * (y * canvas.width + x)..][..3];
        assert_eq!(pixel(10, 10), [10, 20, 30]);
        assert_eq!(pixel(0, 0), [255, 255, 255]);
        assert!(png(&scene).unwrap().starts_with(b"\x89PNG"));
    }

    #[test]
    fn marks_outside_the_picture_do_no_harm() {
        let mut scene = Scene::new((4.0, 4.0), Theme::Light);
        scene.line((-50.0, -50.0), (1e9, 60.0), 1.0, Rgb(0, 0, 0));
        scene.text((-9.0, 2.0), 8.0, Anchor::Middle, Rgb(0, 0, 0), "wide text");
        Canvas::drawn(&scene);
    }

    #[test]
    fn every_shape_has_its_outline() {
        let ink = |shape: Shape, x: usize, y: usize| {
            let dots = vec![(10.0, 10.0, Look { color: Rgb(0, 0, 0), shape })];
            let marks = vec![Mark::Dots { radius: 4.0, opacity: 1.0, dots }];
            let canvas = Canvas::drawn(&Scene { marks, ..Scene::new((20.0, 20.0), Theme::Light) });
            canvas.pixels[3 * (y * canvas.width + x)] == 0
        };
        // The center is at (20, 20) pixels, and a disc has a radius of eight.
        assert!(ink(Shape::Disc, 20, 13) && ink(Shape::Disc, 20, 26) && !ink(Shape::Disc, 20, 10));
        assert!(ink(Shape::Triangle(Side::Top), 20, 11) && !ink(Shape::Triangle(Side::Top), 20, 26));
        assert!(ink(Shape::Triangle(Side::Right), 28, 20) && !ink(Shape::Triangle(Side::Right), 13, 20));
        assert!(ink(Shape::Cross, 20, 20) && ink(Shape::Cross, 24, 15) && !ink(Shape::Cross, 20, 14));
        assert!(!ink(Shape::Ring, 20, 20) && ink(Shape::Ring, 20, 5));
    }

    #[test]
    fn an_image_has_its_pixels_in_its_place() {
        let area = Area { x: 1.0, y: 1.0, width: 2.0, height: 4.0 };
        let marks = vec![Mark::Image { area, columns: 2, greys: vec![10, 20, 30, 40] }];
        let canvas = Canvas::drawn(&Scene { marks, ..Scene::new((5.0, 6.0), Theme::Light) });
        let pixel = |x: usize, y: usize| canvas.pixels[3 * (y * canvas.width + x)];
        assert_eq!([pixel(2, 2), pixel(5, 2), pixel(2, 9), pixel(5, 9)], [10, 20, 30, 40]);
        assert_eq!([pixel(1, 2), pixel(6, 2), pixel(2, 10)], [255; 3]);
    }
}

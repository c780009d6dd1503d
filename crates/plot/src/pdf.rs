//! A scene as PDF: one page, everything as outlines, so that it prints the same everywhere.
//!
//! ISO 32000-1:2008, sections 7.3 (objects), 7.5 (file structure), 8.5 (paths), 8.9 (images) and 11.6.4.4 (constant opacity).
//! A page is measured in points, 72 to an inch; the scene has 96 units to an inch and counts downwards.

use super::font::{self, Stroke};
use super::scene::{Anchor, Area, CROSS, CROSS_LINE, Look, Mark, RING, RING_LINE, Rgb, Scene, Shape, Side, TRIANGLE};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::Write as _;

/// Points to a unit of the scene.
const POINTS: f64 = 0.75;
/// How far the control points of a quarter of a circle lie along its tangents, in radii.
const ARC: f64 = 0.552_284_75;

/// The whole file.
pub(crate) fn pdf(scene: &Scene) -> std::io::Result<Vec<u8>> {
    let (width, height) = (POINTS * scene.width, POINTS * scene.height);
    let mut drawn = Drawn::default();
    let _ = writeln!(drawn.text, "{POINTS} 0 0 -{POINTS} 0 {height:.2} cm 1 J");
    let paper = scene.colors.paper;
    if paper != Rgb(255, 255, 255) {
        let _ = writeln!(drawn.text, "{} rg 0 0 {:.2} {:.2} re f", ink(paper), scene.width, scene.height);
    }
    scene.marks.iter().for_each(|mark| drawn.mark(mark, paper));
    let mut file = File::default();
    file.object("<< /Type /Catalog /Pages 2 0 R >>");
    file.object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
    let opacities: String = (drawn.opacities.iter().enumerate())
        .map(|(at, opacity)| format!("/O{at} << /Type /ExtGState /CA {opacity:.2} /ca {opacity:.2} >> "))
        .collect();
    let images: String = (0..drawn.images.len()).map(|at| format!("/I{at} {} 0 R ", at + 5)).collect();
    file.object(&format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.2} {height:.2}] /Contents 4 0 R \
         /Resources << /ExtGState << {opacities}>> /XObject << {images}>> >> >>"
    ));
    file.stream("", drawn.text.as_bytes())?;
    for (columns, greys) in drawn.images {
        let rows = greys.len() / columns.max(1);
        let header = format!(
            "/Type /XObject /Subtype /Image /Width {columns} /Height {rows} /ColorSpace /DeviceGray /BitsPerComponent 8 "
        );
        file.stream(&header, greys)?;
    }
    Ok(file.closed())
}

/// The objects of a file.
struct File {
    bytes: Vec<u8>,
    /// Where each of them begins.
    begins: Vec<usize>,
}

impl Default for File {
    fn default() -> File {
        // The second line marks the file as binary for programs that look at its first bytes.
        File { bytes: b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec(), begins: Vec::new() }
    }
}

impl File {
    fn begin(&mut self) {
        self.begins.push(self.bytes.len());
        self.bytes.extend(format!("{} 0 obj\n", self.begins.len()).bytes());
    }

    fn object(&mut self, content: &str) {
        self.begin();
        self.bytes.extend(format!("{content}\nendobj\n").bytes());
    }

    fn stream(&mut self, header: &str, content: &[u8]) -> std::io::Result<()> {
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
        packer.write_all(content)?;
        let packed = packer.finish()?;
        self.begin();
        self.bytes.extend(format!("<< {header}/Filter /FlateDecode /Length {} >>\nstream\n", packed.len()).bytes());
        self.bytes.extend(packed);
        self.bytes.extend(b"\nendstream\nendobj\n");
        Ok(())
    }

    /// The file with its table of objects.
    fn closed(mut self) -> Vec<u8> {
        let (table, count) = (self.bytes.len(), self.begins.len() + 1);
        let mut end = format!("xref\n0 {count}\n0000000000 65535 f \n");
        self.begins.iter().for_each(|begin| end.push_str(&format!("{begin:010} 00000 n \n")));
        end.push_str(&format!("trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"));
        self.bytes.extend(end.bytes());
        self.bytes
    }
}

/// What is drawn on the page.
#[derive(Default)]
struct Drawn<'a> {
    text: String,
    opacities: Vec<f64>,
    images: Vec<(usize, &'a [u8])>,
}

impl<'a> Drawn<'a> {
    fn mark(&mut self, mark: &'a Mark, paper: Rgb) {
        // Writing to a String cannot fail.
        let out = &mut self.text;
        let _ = match mark {
            Mark::Rect { area, fill } => {
                let Area { x, y, width, height } = area;
                writeln!(out, "{} rg {x:.2} {y:.2} {width:.2} {height:.2} re f", ink(*fill))
            }
            Mark::Line { from, to, width, color } => {
                let (ink, (a, b), (c, d)) = (ink(*color), from, to);
                writeln!(out, "{ink} RG {width:.2} w {a:.2} {b:.2} m {c:.2} {d:.2} l S")
            }
            Mark::Text { at, size, anchor, color, text, halo } => {
                if *halo > 0.0 {
                    let _ = write!(out, "{} RG {:.2} w 1 j ", ink(paper), 2.0 * halo);
                    let _ = write_text(out, *at, *size, *anchor, text, "S");
                }
                let _ = write!(out, "{} rg ", ink(*color));
                write_text(out, *at, *size, *anchor, text, "f")
            }
            Mark::Dots { radius, opacity, dots } => {
                let name = self.opacities.len();
                self.opacities.push(*opacity);
                write_dots(out, name, *radius, dots)
            }
            Mark::Image { area, columns, greys } => {
                let name = self.images.len();
                self.images.push((*columns, greys));
                let Area { x, y, width, height } = area;
                // An image fills the unit square, its first line on top.
                writeln!(out, "q {width:.2} 0 0 -{height:.2} {x:.2} {:.2} cm /I{name} Do Q", y + height)
            }
        };
    }
}

fn ink(Rgb(r, g, b): Rgb) -> String {
    let part = |value: u8| f64::from(value) / 255.0;
    format!("{:.3} {:.3} {:.3}", part(r), part(g), part(b))
}

/// The outlines of a text, which `paint` fills (`f`) or draws along (`S`).
fn write_text(
    out: &mut String,
    at: (f64, f64),
    size: f64,
    anchor: Anchor,
    text: &str,
    paint: &str,
) -> std::fmt::Result {
    let x = match anchor {
        Anchor::Start => at.0,
        Anchor::Middle => at.0 - font::width(text, size) / 2.0,
        Anchor::End => at.0 - font::width(text, size),
    };
    font::outlined(text, size, (x, at.1), |stroke| {
        let _ = match stroke {
            Stroke::Move((x, y)) => write!(out, "{x:.2} {y:.2} m "),
            Stroke::Line((x, y)) => write!(out, "{x:.2} {y:.2} l "),
            Stroke::Curve((a, b), (c, d), (x, y)) => write!(out, "{a:.2} {b:.2} {c:.2} {d:.2} {x:.2} {y:.2} c "),
        };
    });
    writeln!(out, "{paint}")
}

/// Dots one after the other, so that those drawn later cover those before them.
fn write_dots(out: &mut String, opacity: usize, radius: f64, dots: &[(f64, f64, Look)]) -> std::fmt::Result {
    writeln!(out, "q /O{opacity} gs")?;
    let mut last = None;
    for &(x, y, look) in dots {
        if last != Some(look) {
            let width = match look.shape {
                Shape::Disc | Shape::Triangle(_) => 2.0 * radius,
                Shape::Cross => CROSS_LINE * radius,
                Shape::Ring => RING_LINE * radius,
            };
            writeln!(out, "{0} RG {0} rg {width:.2} w", ink(look.color))?;
            last = Some(look);
        }
        match look.shape {
            // A line without length and with round ends.
            Shape::Disc => writeln!(out, "{x:.2} {y:.2} m {x:.2} {y:.2} l S")?,
            Shape::Triangle(side) => {
                let far = TRIANGLE * radius;
                let (near, half) = (0.5 * far, far * 0.75f64.sqrt());
                let corners = match side {
                    Side::Top => [(x, y - far), (x + half, y + near), (x - half, y + near)],
                    Side::Bottom => [(x, y + far), (x + half, y - near), (x - half, y - near)],
                    Side::Left => [(x - far, y), (x + near, y + half), (x + near, y - half)],
                    Side::Right => [(x + far, y), (x - near, y + half), (x - near, y - half)],
                };
                let [(a, b), (c, d), (e, f)] = corners;
                writeln!(out, "{a:.2} {b:.2} m {c:.2} {d:.2} l {e:.2} {f:.2} l f")?;
            }
            Shape::Cross => {
                let arm = CROSS * radius * 0.5f64.sqrt();
                let (l, r, t, b) = (x - arm, x + arm, y - arm, y + arm);
                writeln!(out, "{l:.2} {t:.2} m {r:.2} {b:.2} l {r:.2} {t:.2} m {l:.2} {b:.2} l S")?;
            }
            Shape::Ring => {
                let r = RING * radius;
                let c = ARC * r;
                write!(out, "{:.2} {y:.2} m ", x + r)?;
                for [ax, ay, bx, by, ex, ey] in
                    [[r, c, c, r, 0.0, r], [-c, r, -r, c, -r, 0.0], [-r, -c, -c, -r, 0.0, -r], [c, -r, r, -c, r, 0.0]]
                {
                    let (a, b, e) = ((x + ax, y + ay), (x + bx, y + by), (x + ex, y + ey));
                    write!(out, "{:.2} {:.2} {:.2} {:.2} {:.2} {:.2} c ", a.0, a.1, b.0, b.1, e.0, e.1)?;
                }
                writeln!(out, "S")?;
            }
        }
    }
    writeln!(out, "Q")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theme;

    #[test]
    fn the_table_of_a_file_says_where_its_objects_begin() {
        let mut scene = Scene::new((100.0, 80.0), Theme::Light);
        scene.text((10.0, 20.0), 12.0, Anchor::Middle, Rgb(0, 0, 0), "R² (1) \\ test");
        scene.marks.push(Mark::Dots {
            radius: 2.0,
            opacity: 0.5,
            dots: [Shape::Disc, Shape::Cross, Shape::Ring, Shape::Triangle(Side::Left)]
                .map(|shape| (5.0, 6.0, Look { color: Rgb(1, 2, 3), shape }))
                .to_vec(),
        });
        let area = Area { x: 1.0, y: 1.0, width: 4.0, height: 4.0 };
        scene.marks.push(Mark::Image { area, columns: 2, greys: vec![0, 128, 255, 7] });
        let bytes = pdf(&scene).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let number = |after: &str| text.rsplit(after).next().unwrap().split_whitespace().next().unwrap().to_string();
        let table: usize = number("startxref\n").parse().unwrap();
        assert!(bytes[table..].starts_with(b"xref\n0 6\n"));
        let entries = String::from_utf8(bytes[table..].to_vec()).unwrap();
        for (at, line) in entries.lines().skip(3).take(5).enumerate() {
            let begin: usize = line[..10].parse().unwrap();
            assert!(bytes[begin..].starts_with(format!("{} 0 obj", at + 1).as_bytes()), "{line}");
        }
    }
}

//! Pictures of embeddings: points, legend, spectrum, and how the embedding was made.
//!
//! [`Picture`] says what to show, a scene is the same as marks on paper, and `svg.rs` or `raster.rs` writes it. The program draws with
//! it, and so does the Python package where matplotlib is not installed (docs/decisions/0129-plots-in-a-crate.md).

mod axes;
mod contact_sheet;
mod curve;
mod font;
mod images;
mod labels;
mod limits;
mod names;
mod pairs;
mod palette;
mod pdf;
mod plane;
mod raster;
mod room;
mod scale;
mod scene;
mod shade;
mod shepard;
mod side;
mod svg;
mod view;

pub use contact_sheet::{ContactSheet, Thumbnail};
pub use curve::Curve;
use eigenfold::{Error, Points, Result};
pub use images::Images;
pub use palette::Theme;
pub use scale::ScaleCurve;
use scene::{Anchor, Scene};
pub use shade::{Deviations, Shade};
pub use shepard::Shepard;
use std::path::Path;

/// The size of a picture whose content sets none, in units of 1/96 inch.
pub const SIZE: (f64, f64) = (800.0, 600.0);

/// What is drawn.
pub struct Picture<'a> {
    /// The embedding.
    pub points: &'a Points,
    /// So many of the points, the first, are grey and below the others.
    pub behind: usize,
    /// What colors the points.
    pub coloring: &'a Coloring,
    /// Points with a ring around them, and what that means.
    pub ringed: Option<(&'a [usize], &'a str)>,
    /// What the points are called.
    pub names: Option<&'a [String]>,
    /// What the points look like, without those behind.
    pub images: Option<Images<'a>>,
    /// The uncertainty of the inverse transform, as shading.
    pub shade: Option<Shade<'a>>,
    /// The eigenvalues, the coordinates' own first; may be empty.
    pub eigenvalues: &'a [f64],
    /// The first line.
    pub title: &'a str,
    /// The second line, smaller.
    pub subtitle: &'a str,
    /// From left to right and from top to bottom, in units of 1/96 inch; if not given, what the shape of the embedding needs.
    pub size: Option<(f64, f64)>,
    /// Light or dark paper.
    pub theme: Theme,
}

/// What colors the points.
#[derive(Clone, Debug, PartialEq)]
pub enum Coloring {
    /// Nothing.
    One,
    /// A class a point.
    Classes {
        /// What the classes are of.
        title: String,
        /// Their names.
        names: Vec<String>,
        /// The class of each point, an index into the names; nothing where it is missing.
        of: Vec<Option<u32>>,
    },
    /// A number a point.
    Values {
        /// What the number is.
        title: String,
        /// One a point; NaN where it is missing.
        values: Vec<f64>,
    },
}

/// A kind of picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines and text, sharp at any size.
    Svg,
    /// Pixels.
    Png,
    /// A page of outlines, to be printed.
    Pdf,
}

impl Format {
    /// The kind that a file's name asks for.
    pub fn of(path: &Path) -> Result<Format> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            Some("pdf") => Ok(Format::Pdf),
            Some(other) => {
                Err(Error::format(path, format!("no picture is written as .{other}"), "use .png, .svg or .pdf"))
            }
            None => Err(Error::format(path, "the kind of picture is not named", "end it in .png, .svg or .pdf")),
        }
    }
}

impl Picture<'_> {
    /// The bytes of the file.
    pub fn rendered(&self, format: Format) -> Result<Vec<u8>> {
        let scene = if self.points.cols() > 3 { self.pairs() } else { self.view()? };
        written(&scene, format)
    }
}

/// Stands between the parts of a subtitle.
const DOT: &str = " · ";

/// Draws a title, and below it the parts of a subtitle, on as many lines as they need; where the picture begins below them.
fn headline(scene: &mut Scene, title: &str, subtitle: &str) -> f64 {
    let room = scene.width - 48.0;
    scene.text((24.0, 32.0), 17.0, Anchor::Start, scene.colors.ink, font::fitted(title, 17.0, room));
    let mut lines: Vec<String> = Vec::new();
    for part in subtitle.split(DOT) {
        match lines.last_mut() {
            Some(line) if font::width(&format!("{line}{DOT}{part}"), 11.5) <= room => {
                line.push_str(DOT);
                line.push_str(part);
            }
            _ => lines.push(part.to_string()),
        }
    }
    let mut y = 36.0;
    for line in lines {
        y += 15.0;
        scene.text((24.0, y), 11.5, Anchor::Start, scene.colors.grey, font::fitted(&line, 11.5, room));
    }
    (y + 28.0).max(88.0)
}

/// 12345 as 12,345.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count and what is counted: `1 column`, `1,200 columns`.
pub fn plural(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The bytes of a scene's file.
fn written(scene: &Scene, format: Format) -> Result<Vec<u8>> {
    match format {
        Format::Svg => Ok(svg::svg(scene).into_bytes()),
        Format::Png => raster::png(scene)
            .map_err(|error| Error::numerical(format!("the picture could not be encoded: {error}"), "")),
        Format::Pdf => {
            pdf::pdf(scene).map_err(|error| Error::numerical(format!("the picture could not be packed: {error}"), ""))
        }
    }
}

#[cfg(test)]
mod tests;

//! The picture of an embedding: points, what their colors mean, the spectrum, and how it was made.
//!
//! [`Picture`] says what to show, [`scene::Scene`] is the same as marks on paper, and [`svg`] or [`raster`] writes it.

mod axes;
mod curve;
mod font;
mod palette;
mod plane;
mod raster;
mod scale;
mod scene;
mod side;
mod svg;

pub(crate) use curve::Curve;
use eigenfold::Points;
use plane::Axes;
pub(crate) use scale::ScaleCurve;
use scene::{Anchor, Area, Mark, Scene};
use std::path::Path;

/// The size of a picture, in units of 1/96 inch.
const SIZE: (f64, f64) = (800.0, 600.0);
/// The width of the panel beside the points.
const SIDE: f64 = 152.0;

/// What is drawn.
pub(crate) struct Picture<'a> {
    /// The embedding.
    pub(crate) points: &'a Points,
    /// What colors the points.
    pub(crate) coloring: &'a Coloring,
    /// The eigenvalues, the coordinates' own first; may be empty.
    pub(crate) eigenvalues: &'a [f64],
    /// The first line.
    pub(crate) title: &'a str,
    /// The second line, smaller.
    pub(crate) subtitle: &'a str,
}

/// What colors the points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Coloring {
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
pub(crate) enum Format {
    /// Lines and text, sharp at any size.
    Svg,
    /// Pixels.
    Png,
}

impl Format {
    /// The kind that a file's name asks for.
    pub(crate) fn of(path: &Path) -> Result<Format, String> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            Some(other) => Err(format!("{}: no picture is written as .{other}; use .png or .svg", path.display())),
            None => Err(format!("{}: the kind of picture is not named; end it in .png or .svg", path.display())),
        }
    }
}

impl Picture<'_> {
    /// The bytes of the file.
    pub(crate) fn rendered(&self, format: Format) -> Result<Vec<u8>, String> {
        written(&self.scene(), format)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene { width: SIZE.0, height: SIZE.1, marks: vec![] };
        let plane = plane::plane(self.points, self.coloring);
        let (main, side) = self.areas(&plane.axes);
        let (x, y, alike) = axes::scales(&plane, main);
        self.headline(&mut scene, plane.note.as_deref(), alike || !may_be_alike(&plane.axes));
        axes::draw(&mut scene, main, &plane.axes, &x, &y);
        let colors = side::colors(self.coloring, plane.at.len());
        let dots = plane.order.iter().map(|&i| (x.at(plane.at[i].0), y.at(plane.at[i].1), colors[i])).collect();
        let n = plane.at.len() as f64;
        // Fewer points, larger dots: 4 units for an iris, 1 for a hundred thousand.
        let radius = (4.0 * (150.0 / n).powf(0.22)).clamp(0.7, 4.0);
        let opacity = (0.9 * (300.0 / n).powf(0.15)).clamp(0.3, 0.9);
        scene.marks.push(Mark::Dots { radius, opacity, dots });
        side::legend(&mut scene, side, self.coloring);
        let bottom = Area { y: side.bottom() - 136.0, height: 136.0, ..side };
        side::spectrum(&mut scene, bottom, self.eigenvalues, self.points.cols());
        scene
    }

    /// Where the points go and where the panel beside them, which takes no room when there is nothing to say.
    fn areas(&self, axes: &Axes) -> (Area, Area) {
        let nothing = *self.coloring == Coloring::One && self.eigenvalues.is_empty();
        let side = if nothing { 0.0 } else { SIDE };
        let left = match axes {
            Axes::Numbers { .. } => 62.0,
            Axes::Strips { names } => {
                names.iter().map(|name| font::width(name, 11.0)).fold(50.0, f64::max).min(130.0) + 14.0
            }
            Axes::Turned(_) => 28.0,
        };
        let (top, bottom) = (94.0, SIZE.1 - 46.0);
        let gap = if nothing { 0.0 } else { 22.0 };
        let right = SIZE.0 - 24.0 - side - gap;
        let main = Area { x: left, y: top, width: right - left, height: bottom - top };
        (main, Area { x: right + gap, width: side, ..main })
    }

    fn headline(&self, scene: &mut Scene, note: Option<&str>, alike: bool) {
        let mut parts = vec![self.subtitle.to_string()];
        parts.extend(note.map(str::to_string));
        parts.extend((!alike).then(|| "the axes have different scales".to_string()));
        parts.retain(|part| !part.is_empty());
        headline(scene, self.title, &parts.join(DOT));
    }
}

/// Stands between the parts of a subtitle.
const DOT: &str = " · ";

/// Draws a title, and below it a subtitle: on two lines, if it is too long for one.
fn headline(scene: &mut Scene, title: &str, subtitle: &str) {
    let room = SIZE.0 - 48.0;
    scene.text((24.0, 32.0), 17.0, Anchor::Start, palette::INK, font::fitted(title, 17.0, room));
    let mut first = subtitle;
    while font::width(first, 11.5) > room
        && let Some(at) = first.rfind(DOT)
    {
        first = &first[..at];
    }
    let rest = subtitle[first.len()..].trim_start_matches(DOT);
    for (line, text) in [(51.0, first), (66.0, rest)] {
        if !text.is_empty() {
            scene.text((24.0, line), 11.5, Anchor::Start, palette::GREY, font::fitted(text, 11.5, room));
        }
    }
}

/// The bytes of a scene's file.
fn written(scene: &Scene, format: Format) -> Result<Vec<u8>, String> {
    match format {
        Format::Svg => Ok(svg::svg(scene).into_bytes()),
        Format::Png => raster::png(scene).map_err(|e| format!("the picture could not be encoded: {e}")),
    }
}

/// Whether the reader would expect one scale on both axes.
fn may_be_alike(axes: &Axes) -> bool {
    matches!(axes, Axes::Numbers { alike: true, .. })
}

#[cfg(test)]
mod tests;

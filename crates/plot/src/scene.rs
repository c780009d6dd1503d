//! A picture as a list of marks, in units of 1/96 inch from the top left corner.
//!
//! This is the one description from which the SVG, the PNG and the PDF writer draw.

use super::palette::{Colors, Theme};

/// A color without transparency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Rgb {
    /// The way SVG writes it.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Where something points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Left,
    Right,
    Top,
    Bottom,
}

/// The outline of a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// A disc.
    Disc,
    /// A triangle that points to a side.
    Triangle(Side),
    /// Two crossed lines.
    Cross,
    /// A circle around something else.
    Ring,
}

/// The far corner of a triangle, the ends of a cross and the circle of a ring, from the center, in radii of a disc.
pub(crate) const TRIANGLE: f64 = 1.35;
pub(crate) const CROSS: f64 = 0.95;
pub(crate) const RING: f64 = 1.9;
/// The thickness of the lines of a cross and of a ring, in radii of a disc.
pub(crate) const CROSS_LINE: f64 = 0.75;
pub(crate) const RING_LINE: f64 = 0.45;

/// How a dot looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    pub(crate) color: Rgb,
    pub(crate) shape: Shape,
}

impl Look {
    /// A disc of a color.
    pub(crate) fn disc(color: Rgb) -> Look {
        Look { color, shape: Shape::Disc }
    }
}

/// Which part of a text stands at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// One thing drawn; later marks cover earlier ones.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// A filled rectangle.
    Rect {
        /// Left, top, width, height.
        area: Area,
        /// Its color.
        fill: Rgb,
    },
    /// A straight line with round ends.
    Line {
        /// One end.
        from: (f64, f64),
        /// The other end.
        to: (f64, f64),
        /// Its thickness.
        width: f64,
        /// Its color.
        color: Rgb,
    },
    /// One line of text; `at` is on the baseline.
    Text {
        /// Where the anchor stands.
        at: (f64, f64),
        /// The font's size.
        size: f64,
        /// What of the text stands at `at`.
        anchor: Anchor,
        /// Its color.
        color: Rgb,
        /// What it says.
        text: String,
        /// A rim of the paper's color around the letters, so that they can be read on dots: its width, or 0.
        halo: f64,
    },
    /// Many dots of one size, all equally transparent.
    Dots {
        /// The radius of a disc.
        radius: f64,
        /// 1 hides what is below, 0 is invisible.
        opacity: f64,
        /// Centers and looks, first drawn first.
        dots: Vec<(f64, f64, Look)>,
    },
    /// Grey pixels, each a rectangle.
    Image {
        /// Where they are.
        area: Area,
        /// Pixels in a line.
        columns: usize,
        /// Line by line from the top, black is 0.
        greys: Vec<u8>,
    },
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    /// The left side.
    pub(crate) x: f64,
    /// The top side.
    pub(crate) y: f64,
    /// From left to right.
    pub(crate) width: f64,
    /// From top to bottom.
    pub(crate) height: f64,
}

impl Area {
    /// The right side.
    pub(crate) fn right(self) -> f64 {
        self.x + self.width
    }

    /// The bottom side.
    pub(crate) fn bottom(self) -> f64 {
        self.y + self.height
    }
}

/// A picture.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// From left to right.
    pub(crate) width: f64,
    /// From top to bottom.
    pub(crate) height: f64,
    /// The colors, of which the paper is one.
    pub(crate) colors: &'static Colors,
    /// What is drawn, first drawn first.
    pub(crate) marks: Vec<Mark>,
}

impl Scene {
    /// Empty paper.
    pub(crate) fn new((width, height): (f64, f64), theme: Theme) -> Scene {
        Scene { width, height, colors: theme.colors(), marks: Vec::new() }
    }

    /// Adds a filled rectangle.
    pub(crate) fn rect(&mut self, area: Area, fill: Rgb) {
        self.marks.push(Mark::Rect { area, fill });
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, color: Rgb) {
        self.marks.push(Mark::Line { from, to, width, color });
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, color: Rgb, text: impl Into<String>) {
        self.marks.push(Mark::Text { at, size, anchor, color, text: text.into(), halo: 0.0 });
    }
}

//! A picture as a list of marks, in units of 1/96 inch from the top left corner.
//!
//! This is the one description from which both the SVG and the PNG writer draw.

/// A color without transparency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Rgb {
    /// The way SVG writes it.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
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
    },
    /// Many discs of one size, each in its own color, all equally transparent.
    Dots {
        /// The discs' radius.
        radius: f64,
        /// 1 hides what is below, 0 is invisible.
        opacity: f64,
        /// Centers and colors, first drawn first.
        dots: Vec<(f64, f64, Rgb)>,
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
    /// What is drawn, first drawn first, on white.
    pub(crate) marks: Vec<Mark>,
}

impl Scene {
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
        self.marks.push(Mark::Text { at, size, anchor, color, text: text.into() });
    }
}

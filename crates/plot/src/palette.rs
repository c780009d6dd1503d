//! Colors that people of every color vision can tell apart, on light and on dark paper.
//!
//! Ten colors for classes, found by a search for the largest least distance (OKLab) between any two of them and the grey of
//! missing values, as seen with normal sight and with three kinds of color blindness (G. M. Machado, M. M. Oliveira, L. A. F. Fernandes.
//! A physiologically-based model for simulation of color vision deficiency. IEEE TVCG 15(6), 2009). More classes have a shape,
//! too. Values: viridis, by S. van der Walt and N. Smith, 2015, without the end that vanishes on the paper. The report page has the
//! same colors: `web/src/color/palette.ts`.

use super::scene::{Look, Rgb, Shape, Side};

/// Light or dark paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on nearly black.
    Dark,
}

/// All colors of a picture.
#[derive(Debug)]
pub(crate) struct Colors {
    /// The background.
    pub(crate) paper: Rgb,
    /// Text and the bars of the kept eigenvalues.
    pub(crate) ink: Rgb,
    /// Less important text.
    pub(crate) grey: Rgb,
    /// Grid lines.
    pub(crate) grid: Rgb,
    /// Points where there are no labels.
    pub(crate) plain: Rgb,
    /// Points without a label, and the classes that have no look of their own.
    pub(crate) other: Rgb,
    /// The points of an embedding below those that are new in it.
    pub(crate) behind: Rgb,
    /// A band of uncertainty around a line.
    pub(crate) band: Rgb,
    /// The greys of the least and of the largest standard deviation.
    shades: (f64, f64),
    classes: [Rgb; 10],
    /// How much black is in the third ten classes.
    darker: f64,
    /// The part of viridis that is seen on the paper.
    viridis: (f64, f64),
}

const LIGHT: Colors = Colors {
    paper: Rgb(255, 255, 255),
    ink: Rgb(38, 43, 51),
    grey: Rgb(100, 106, 116),
    grid: Rgb(234, 236, 239),
    plain: Rgb(40, 96, 128),
    other: Rgb(190, 191, 194),
    behind: Rgb(208, 210, 215),
    band: Rgb(214, 230, 241),
    shades: (255.0, 150.0),
    classes: LIGHT_CLASSES,
    darker: 0.42,
    viridis: (0.0, 0.93),
};

const DARK: Colors = Colors {
    paper: Rgb(25, 26, 30),
    ink: Rgb(236, 234, 229),
    grey: Rgb(160, 162, 170),
    grid: Rgb(46, 48, 55),
    plain: Rgb(108, 176, 200),
    other: Rgb(92, 94, 100),
    behind: Rgb(66, 68, 75),
    band: Rgb(36, 58, 72),
    shades: (25.0, 96.0),
    classes: DARK_CLASSES,
    darker: 0.32,
    viridis: (0.14, 1.0),
};

const LIGHT_CLASSES: [Rgb; 10] = [
    Rgb(9, 89, 191),
    Rgb(252, 144, 0),
    Rgb(40, 200, 116),
    Rgb(142, 41, 137),
    Rgb(218, 81, 125),
    Rgb(0, 151, 172),
    Rgb(158, 124, 0),
    Rgb(224, 140, 251),
    Rgb(174, 42, 0),
    Rgb(140, 110, 230),
];

const DARK_CLASSES: [Rgb; 10] = [
    Rgb(83, 122, 227),
    Rgb(251, 166, 25),
    Rgb(85, 213, 129),
    Rgb(152, 70, 166),
    Rgb(233, 102, 137),
    Rgb(0, 169, 185),
    Rgb(159, 147, 0),
    Rgb(199, 143, 255),
    Rgb(190, 71, 11),
    Rgb(1, 128, 66),
];

/// The most classes with a look of their own.
pub(crate) const MOST_CLASSES: usize = 26;

/// The shapes, when the colors are used up: different even where dots are small.
const SHAPES: [Shape; 3] = [Shape::Disc, Shape::Triangle(Side::Top), Shape::Cross];

const VIRIDIS: [Rgb; 20] = [
    Rgb(68, 1, 84),
    Rgb(72, 20, 103),
    Rgb(72, 37, 118),
    Rgb(69, 55, 129),
    Rgb(64, 70, 136),
    Rgb(57, 85, 140),
    Rgb(51, 99, 141),
    Rgb(45, 113, 142),
    Rgb(40, 125, 142),
    Rgb(35, 138, 141),
    Rgb(31, 150, 139),
    Rgb(32, 163, 134),
    Rgb(41, 175, 127),
    Rgb(60, 188, 117),
    Rgb(86, 198, 103),
    Rgb(116, 208, 85),
    Rgb(148, 216, 64),
    Rgb(184, 222, 41),
    Rgb(220, 227, 25),
    Rgb(253, 231, 37),
];

impl Theme {
    pub(crate) fn colors(self) -> &'static Colors {
        match self {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        }
    }
}

impl Colors {
    /// The color of a class: ten have their own, the next ten are lighter, the rest darker, so that they differ where dots are
    /// too small to have a shape.
    pub(crate) fn class(&self, index: usize) -> Rgb {
        let own = self.classes[index % self.classes.len()];
        match index / self.classes.len() {
            0 => own,
            1 => mixed(own, Rgb(255, 255, 255), 0.48),
            _ => mixed(own, Rgb(0, 0, 0), self.darker),
        }
    }

    /// The look of a class; a grey disc beyond the most.
    pub(crate) fn look(&self, index: usize) -> Look {
        if index >= MOST_CLASSES {
            return Look::disc(self.other);
        }
        Look { color: self.class(index), shape: SHAPES[index / self.classes.len()] }
    }

    /// The color of a value at `fraction` (0 to 1) of its range, one of 65 so that a picture has few colors.
    pub(crate) fn value(&self, fraction: f64) -> Rgb {
        let (low, high) = self.viridis;
        let level = (fraction.clamp(0.0, 1.0) * 64.0).round() / 64.0;
        let level = if level.is_nan() { 0.0 } else { level };
        let at = (low + level * (high - low)) * (VIRIDIS.len() - 1) as f64;
        let below = (at as usize).min(VIRIDIS.len() - 2);
        mixed(VIRIDIS[below], VIRIDIS[below + 1], at - below as f64)
    }

    /// The grey of a standard deviation at `fraction` (0 to 1) of their range.
    pub(crate) fn shade(&self, fraction: f64) -> u8 {
        (self.shades.0 + fraction.clamp(0.0, 1.0) * (self.shades.1 - self.shades.0)).round() as u8
    }
}

/// `share` (0 to 1) of the way from one color to another.
pub(crate) fn mixed(from: Rgb, to: Rgb, share: f64) -> Rgb {
    let mix = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    Rgb(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear light of a color.
    fn light(Rgb(r, g, b): Rgb) -> [f64; 3] {
        [r, g, b].map(|c| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(w, c)| w * c).sum::<f64>())
    }

    /// B. Ottosson. A perceptual color space for image processing. 2020.
    fn oklab(light: [f64; 3]) -> [f64; 3] {
        let cones = times(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            light,
        );
        times(
            [
                [0.2104542553, 0.793617785, -0.0040720468],
                [1.9779984951, -2.428592205, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.808675766],
            ],
            cones.map(f64::cbrt),
        )
    }

    /// Normal sight, and Machado, Oliveira and Fernandes 2009, severity 1: without red, green or blue cones.
    const SIGHTS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    ];

    fn apart(a: Rgb, b: Rgb, sight: [[f64; 3]; 3]) -> f64 {
        let seen = |color: Rgb| oklab(times(sight, light(color)).map(|c| c.clamp(0.0, 1.0)));
        seen(a).iter().zip(seen(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn no_two_colors_look_alike_whatever_color_vision_one_has() {
        for theme in [Theme::Light, Theme::Dark] {
            let colors = theme.colors();
            let all: Vec<Rgb> = colors.classes.into_iter().chain([colors.other]).collect();
            for a in 0..all.len() {
                for b in 0..a {
                    for (sight, &matrix) in SIGHTS.iter().enumerate() {
                        let away = apart(all[a], all[b], matrix);
                        let least = if sight == 0 { 0.14 } else { 0.075 };
                        assert!(away > least, "{theme:?}: {:?} and {:?} by sight {sight}: {away}", all[a], all[b]);
                    }
                }
            }
            // Classes with neighboring numbers differ more.
            for pair in colors.classes.windows(2) {
                let away = apart(pair[0], pair[1], SIGHTS[0]);
                assert!(away > 0.18, "{theme:?}: {pair:?}: {away}");
            }
            for color in colors.classes {
                assert!(apart(color, colors.paper, SIGHTS[0]) > 0.18, "{theme:?}: {color:?} on paper");
            }
        }
    }

    #[test]
    fn the_report_page_has_the_same_colors() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/color/palette.ts");
        // A crate that was unpacked alone has no page beside it.
        let Ok(page) = std::fs::read_to_string(path) else { return };
        for (name, theme) in [("light", Theme::Light), ("dark", Theme::Dark)] {
            let colors = theme.colors();
            let ours: Vec<String> = colors.classes.iter().map(|color| format!("\"{}\"", color.hex())).collect();
            let line = format!("{name}: [{}]", ours.join(", "));
            assert!(page.contains(&line), "web/src/color/palette.ts has no {line}");
            for Rgb(r, g, b) in [colors.other, colors.plain] {
                assert!(page.contains(&format!("[{r}, {g}, {b}]")), "{name}: {r}, {g}, {b}");
            }
        }
        let viridis: Vec<String> = VIRIDIS.iter().map(|color| format!("\"{}\"", color.hex())).collect();
        assert!(page.contains(&viridis.join(", ")));
    }

    #[test]
    fn classes_have_different_looks_and_values_run_from_dark_to_light() {
        for colors in [&LIGHT, &DARK] {
            for i in 0..MOST_CLASSES {
                assert!((0..i).all(|j| colors.class(i) != colors.class(j)));
            }
            assert!((0..10).all(|i| colors.look(i).shape == Shape::Disc));
            assert_eq!(colors.look(26), Look::disc(colors.other));
            let lightness = |fraction: f64| oklab(light(colors.value(fraction)))[0];
            assert!((1..20).all(|i| lightness(f64::from(i) / 19.0) > lightness(f64::from(i - 1) / 19.0)));
        }
        assert_eq!((LIGHT.value(0.0), LIGHT.value(f64::NAN), DARK.value(1.0)), (VIRIDIS[0], VIRIDIS[0], VIRIDIS[19]));
    }
}

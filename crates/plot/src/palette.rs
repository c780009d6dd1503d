//! Colors that people of every color vision can tell apart.
//!
//! Up to eight classes: M. Okabe, K. Ito. Color universal design, 2008. Up to twelve: M. Krzywinski, designing for
//! color blindness, 2020. More have a shape, too. Values: viridis, by S. van der Walt and N. Smith, 2015.

use super::scene::{Look, Rgb, Shape, Side};

/// Text and the bars of the kept eigenvalues.
pub(crate) const INK: Rgb = Rgb(38, 43, 51);
/// Less important text.
pub(crate) const GREY: Rgb = Rgb(112, 118, 128);
/// Grid lines.
pub(crate) const GRID: Rgb = Rgb(234, 236, 239);
/// Points where there are no labels.
pub(crate) const PLAIN: Rgb = Rgb(0, 98, 155);
/// Points without a label, and the classes that have no look of their own.
pub(crate) const OTHER: Rgb = Rgb(176, 181, 189);
/// The points of a map below those that are new on it.
pub(crate) const BEHIND: Rgb = Rgb(205, 208, 214);
/// The most classes with a look of their own.
pub(crate) const MOST_CLASSES: usize = 26;

/// The shapes, when the colors are used up: different even where dots are small.
const SHAPES: [Shape; 3] = [Shape::Disc, Shape::Triangle(Side::Top), Shape::Cross];

const EIGHT: [Rgb; 8] = [
    Rgb(0, 114, 178),
    Rgb(213, 94, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(230, 159, 0),
    Rgb(86, 180, 233),
    Rgb(64, 64, 72),
    Rgb(216, 202, 40),
];

const TWELVE: [Rgb; 12] = [
    Rgb(0, 141, 249),
    Rgb(226, 1, 52),
    Rgb(0, 159, 129),
    Rgb(255, 195, 59),
    Rgb(132, 0, 205),
    Rgb(255, 110, 58),
    Rgb(255, 90, 175),
    Rgb(0, 194, 249),
    Rgb(159, 1, 98),
    Rgb(0, 220, 181),
    Rgb(255, 178, 253),
    Rgb(110, 20, 30),
];

const VIRIDIS: [Rgb; 17] = [
    Rgb(68, 1, 84),
    Rgb(72, 24, 106),
    Rgb(71, 45, 123),
    Rgb(66, 64, 134),
    Rgb(59, 82, 139),
    Rgb(51, 99, 141),
    Rgb(44, 114, 142),
    Rgb(38, 130, 142),
    Rgb(33, 145, 140),
    Rgb(31, 160, 136),
    Rgb(40, 174, 128),
    Rgb(63, 188, 115),
    Rgb(94, 201, 98),
    Rgb(132, 212, 75),
    Rgb(173, 220, 48),
    Rgb(216, 226, 25),
    Rgb(253, 231, 37),
];

/// The color of class `index` among `count` classes that differ by color alone.
pub(crate) fn class(index: usize, count: usize) -> Rgb {
    let palette: &[Rgb] = if count <= EIGHT.len() { &EIGHT } else { &TWELVE };
    palette[index % palette.len()]
}

/// The look of class `index` among `count` classes; a grey disc beyond the most.
pub(crate) fn look(index: usize, count: usize) -> Look {
    if index >= MOST_CLASSES {
        return Look::disc(OTHER);
    }
    Look { color: class(index, count), shape: SHAPES[index / TWELVE.len()] }
}

/// The color of a value at `fraction` (0 to 1) of its range, one of 65 so that a picture has few colors.
pub(crate) fn value(fraction: f64) -> Rgb {
    let level = (fraction.clamp(0.0, 1.0) * 64.0).round() as usize;
    let (below, between) = (level / 4, (level % 4) as f64 / 4.0);
    let (a, b) = (VIRIDIS[below], VIRIDIS[(below + 1).min(VIRIDIS.len() - 1)]);
    let mix = |a: u8, b: u8| (f64::from(a) + between * (f64::from(b) - f64::from(a))).round() as u8;
    Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_different_colors_and_values_run_from_dark_to_light() {
        for count in [8, 12, 26] {
            for i in 0..count {
                assert!((0..i).all(|j| look(i, count) != look(j, count)));
            }
        }
        assert!((0..12).all(|i| look(i, 12).shape == Shape::Disc));
        assert_eq!(look(26, 27), Look::disc(OTHER));
        assert_eq!((value(0.0), value(1.0), value(f64::NAN)), (VIRIDIS[0], VIRIDIS[16], VIRIDIS[0]));
    }
}

//! Colors that people of every color vision can tell apart.
//!
//! Up to eight classes: M. Okabe, K. Ito. Color universal design, 2008. Up to twelve: M. Krzywinski, designing for
//! color blindness, 2020. Values: viridis, by S. van der Walt and N. Smith, 2015.

use super::scene::Rgb;

/// Text and the bars of the kept eigenvalues.
pub(crate) const INK: Rgb = Rgb(38, 43, 51);
/// Less important text.
pub(crate) const GREY: Rgb = Rgb(112, 118, 128);
/// Grid lines.
pub(crate) const GRID: Rgb = Rgb(234, 236, 239);
/// Points without a label, and the classes beyond the twelfth.
pub(crate) const PLAIN: Rgb = Rgb(0, 98, 155);
/// The classes that have no color of their own.
pub(crate) const OTHER: Rgb = Rgb(176, 181, 189);
/// The most classes with a color of their own.
pub(crate) const MOST_CLASSES: usize = 12;

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

const TWELVE: [Rgb; MOST_CLASSES] = [
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

/// The color of class `index` among `count` classes; grey beyond the twelfth.
pub(crate) fn class(index: usize, count: usize) -> Rgb {
    let palette: &[Rgb] = if count <= EIGHT.len() { &EIGHT } else { &TWELVE };
    palette.get(index).copied().unwrap_or(OTHER)
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
        for count in [8, 12] {
            for i in 0..count {
                assert!((0..i).all(|j| class(i, count) != class(j, count)));
            }
        }
        assert_eq!(class(12, 13), OTHER);
        assert_eq!((value(0.0), value(1.0), value(f64::NAN)), (VIRIDIS[0], VIRIDIS[16], VIRIDIS[0]));
    }
}

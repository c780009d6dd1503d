//! Whether rows are images.

use crate::drawing::pixels;
use eigenfold::{Error, Points, Result};

/// Rows that are looked at.
const SAMPLED: usize = 200;
/// The smallest image that is recognized, along a side.
const SMALLEST: usize = 6;
/// Next to each other, pixels differ by at most this part of what pixels of the same row differ by anyway.
const ALIKE: f64 = 0.75;

/// The width and height that were flag for, or of square images that the rows are by the look of them.
pub(crate) fn size(flag: Option<&str>, points: &Points) -> Result<Option<(usize, usize)>> {
    let p = points.cols();
    match flag {
        Some("none") => Ok(None),
        Some(text) => {
            let (width, height) = pixels(text).map_err(|error| {
                let (fact, way_out) = (error.fact(), error.way_out().unwrap_or_default());
                Error::parameter("image", format!("--image {text}: {fact}"), way_out)
            })?;
            if width.saturating_mul(height) == p {
                return Ok(Some((width, height)));
            }
            let fact = format!("--image {text} has {} pixels, and a row has {p} numbers", width.saturating_mul(height));
            Err(Error::parameter("image", fact, "give the size of the images that the rows hold, or none"))
        }
        None => {
            let side = p.isqrt();
            Ok((side * side == p && side >= SMALLEST && is_smooth(points, side)).then_some((side, side)))
        }
    }
}

/// Whether what is next to each other in a square of this side is more alike, along and across, than what is not.
fn is_smooth(points: &Points, side: usize) -> bool {
    let n = points.rows();
    let (mut along, mut across, mut apart) = (0.0, 0.0, 0.0);
    for at in 0..n.min(SAMPLED) {
        let row = points.row(at * n / n.min(SAMPLED));
        let largest = row.iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
        let differ = |a: usize, b: usize| (row[a] / largest - row[b] / largest).abs();
        for y in 0..side {
            for x in 0..side - 1 {
                along += differ(y * side + x, y * side + x + 1);
                across += differ(x * side + y, (x + 1) * side + y);
                // Half of the image away, along and across.
                let far = (y + side / 2) % side * side + (x + side / 2) % side;
                apart += differ(y * side + x, far);
            }
        }
    }
    apart > 0.0 && along.max(across) < ALIKE * apart
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold::io;

    #[test]
    fn digits_are_images_and_noise_is_none() {
        let digits = io::read("digits", &io::ReadOptions::default()).unwrap().points;
        assert_eq!(size(None, &digits).unwrap(), Some((8, 8)));
        assert_eq!(size(Some("none"), &digits).unwrap(), None);
        assert_eq!(size(Some("16x4"), &digits).unwrap(), Some((16, 4)));
        assert!(size(Some("9x9"), &digits).is_err() && size(Some("large"), &digits).is_err());
        let noise: Vec<f64> =
            (0..100 * 64).map(|i| (f64::from(i) * 0.618_034).fract() * (f64::from(i) * 7.31).sin()).collect();
        assert_eq!(size(None, &Points::new(100, 64, noise).unwrap()).unwrap(), None);
        let shuffled: Vec<usize> = (0..64).map(|j| j * 37 % 64).collect();
        assert_eq!(size(None, &digits.select_columns(&shuffled)).unwrap(), None);
    }
}

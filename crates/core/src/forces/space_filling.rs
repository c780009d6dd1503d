//! Points in the order of a space-filling curve, so that points near each other are near in memory.
//!
//! G. M. Morton. A computer oriented geodetic data base and a new technique in file sequencing. IBM, 1966.

use eigenfold_linalg::parallel;
use rayon::prelude::*;

/// Bits of each coordinate that are used.
const BITS: u32 = 16;

/// The rows of up to three coordinates along Morton's curve: by the bits of all coordinates, the highest first.
pub(crate) fn along_curve(y: &[f64], dims: usize) -> Vec<u32> {
    let (mut low, mut high) = (vec![f64::INFINITY; dims], vec![f64::NEG_INFINITY; dims]);
    for row in y.chunks_exact(dims) {
        for (q, &x) in row.iter().enumerate() {
            (low[q], high[q]) = (low[q].min(x), high[q].max(x));
        }
    }
    let widest = (0..dims).map(|q| high[q] - low[q]).fold(f64::MIN_POSITIVE, f64::max);
    let steps = f64::from((1u32 << BITS) - 1);
    let key = |row: &[f64]| {
        let cells: Vec<u64> = (0..dims).map(|q| ((row[q] - low[q]) / widest * steps) as u64).collect();
        (0..BITS).rev().fold(0u64, |key, bit| cells.iter().fold(key, |key, cell| key << 1 | (cell >> bit & 1)))
    };
    let mut keyed: Vec<(u64, u32)> =
        parallel::collect(y.len() / dims, |i| (key(&y[i * dims..(i + 1) * dims]), i as u32));
    keyed.par_sort_unstable();
    keyed.into_iter().map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_follow_each_other() {
        let y = [3.0, 3.0, 0.0, 0.0, 3.0, 0.0, 0.0, 3.0, 1.0, 1.0, 2.0, 3.0];
        assert_eq!(along_curve(&y, 2), [1, 4, 3, 2, 5, 0]);
        assert_eq!(along_curve(&[5.0, 5.0, 5.0], 1), [0, 1, 2], "where all is the same, as it was");
    }
}

//! The singular values of the centered points: the linear dimension.
//!
//! ```text
//! σ₁ ≥ σ₂ ≥ ...       the dimension is that before the largest drop σᵢ/σᵢ₊₁, if one is at least 2
//! ```
//!
//! A curved surface fills as many linear directions as it is bent into: a Swiss roll has the linear dimension 3. The
//! number of directions that vary at all is an upper bound of the intrinsic dimension.

use eigenfold_graph::points::Points;
use eigenfold_linalg::dense;
use eigenfold_linalg::error::Result;
use faer::Mat;
use serde::Serialize;

/// The budget of products.
const WORK: usize = 20_000_000_000;
/// The largest matrix whose eigenvalues are computed.
const LARGEST: usize = 1000;
/// A singular value below this fraction of the first is rounding: squares are taken.
const NOTHING: f64 = 1e-7;
/// The minimum drop that counts as a gap.
const GAP: f64 = 2.0;

/// The singular values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spectrum {
    /// σᵢ/σ₁ of the directions that vary; at most the first thousand.
    pub ratios: Vec<f64>,
    /// The dimension before the largest drop; all directions if there is no gap.
    pub dimension: usize,
    /// The largest drop, if it is a gap.
    pub gap: Option<f64>,
    /// The number of points, evenly spaced.
    pub points: usize,
}

/// The singular values of the points, or of evenly spaced ones if there are many features.
///
/// # Errors
///
/// [`crate::Error::Numerical`] if there is not enough memory for the matrix.
pub(super) fn spectrum(points: &Points) -> Result<Spectrum> {
    let p = points.cols();
    let most = if p <= LARGEST { (WORK / (p * p)).max(p) } else { LARGEST };
    let rows: Vec<usize> = super::near::evenly_spaced(points.rows(), most).iter().map(|&i| i as usize).collect();
    let some = if rows.len() < points.rows() { &points.select(&rows) } else { points };
    let (n, mean) = (some.rows(), some.column_means());
    let centered = Mat::from_fn(n, p, |i, f| some.row(i)[f] - mean[f]);
    let form = if p <= n {
        dense::inner(centered.as_ref(), centered.as_ref())
    } else {
        dense::dense_product(centered.as_ref(), centered.transpose())
    };
    let values = dense::symmetric_eigenvalues(form.as_ref())?;
    let mut ratios: Vec<f64> = values.iter().map(|value| (value.max(0.0) / values[0]).sqrt()).collect();
    ratios.retain(|&ratio| ratio > NOTHING);
    let (dimension, gap) = gap(&ratios);
    Ok(Spectrum { ratios, dimension, gap, points: n })
}

/// The number before the largest drop, and the drop; all, if there is none.
fn gap(ratios: &[f64]) -> (usize, Option<f64>) {
    let drops = ratios.windows(2).map(|pair| pair[0] / pair[1]).enumerate();
    match drops.filter(|&(_, drop)| drop >= GAP).reduce(|a, b| if b.1 > a.1 { b } else { a }) {
        Some((at, drop)) => (at + 1, Some(drop)),
        None => (ratios.len(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_cross_has_two_directions() {
        let rows = [[3.0, 0.0, 5.0], [-3.0, 0.0, 5.0], [0.0, 1.0, 5.0], [0.0, -1.0, 5.0]];
        let found = spectrum(&Points::from_rows(&rows).unwrap()).unwrap();
        assert_eq!(found.ratios.len(), 2);
        assert!((found.ratios[1] - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!((found.dimension, found.gap.map(f64::round)), (1, Some(3.0)));
        assert_eq!(gap(&[1.0, 0.9, 0.8]), (3, None));
    }

    #[test]
    fn few_points_of_many_features_have_the_same_values() {
        let wide = Points::new(5, 40, (0..200).map(|i| f64::from(i * i % 17)).collect()).unwrap();
        let found = spectrum(&wide).unwrap();
        assert_eq!((found.ratios.len(), found.points), (4, 5));
    }
}

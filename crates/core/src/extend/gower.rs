//! Out-of-sample extension of classical scaling, from squared distances to training points or landmarks: ½ Σᵢ (r[i] −
//! δ²[i]) y[i] / λ.
//!
//! J. C. Gower. Adding a point to vector diagrams in multivariate analysis. Biometrika 55(3), 1968.

use super::checks::all_finite;
use super::reference::{Away, Measure};
use super::sampled::{self, SampledGower};
use super::{Extension, Known, Sizes, Traits, TransformFn};
use crate::input::Data;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::paths::swept::SweptGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use serde::{Deserialize, Serialize};

/// A rounding error beyond this fraction of the map makes the coordinates undefined.
const LOST: f64 = 1e-3;

/// The scaled points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gower {
    pub(crate) away: Away,
    /// r: the mean squared distance from each of the scaled points.
    pub(crate) row_means: Vec<f64>,
}

impl Extension for Gower {
    fn traits(&self) -> Traits {
        Traits { uses_metric: self.away.uses_metric(), ..Traits::OF_DISTANCES }
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let count = self.away.landmarks.as_ref().map_or(sizes.rows, Vec::len);
        let means = self.row_means.len() == count && all_finite(&self.row_means);
        self.away.fits(sizes.rows) && means && sizes.eigenvalues == sizes.dims
    }

    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>> {
        if let (Measure::Geodesic(graph), None) = (&self.away.measure, &self.away.landmarks)
            && known.map.rows() > sampled::FEW
            && let Some(sampled) = SampledGower::new(graph, known.map, sampled::SAMPLED)?
        {
            return Ok(Box::new(move |batch| Ok(batch.each(|new| sampled.row(&known, new)))));
        }
        let away = self.away.prepared()?;
        Ok(Box::new(move |batch| {
            batch.in_parts(|batch| {
                let squares = away.squares(&known, batch)?;
                Ok(batch.each(|new| self.row(&known, squares.of(new), |i| self.away.point(i))))
            })
        }))
    }

    /// The landmarks keep their own coordinates.
    fn place_all(
        &self,
        known: &Known<'_>,
        data: Data<'_>,
        geodesics: Option<LandmarkGeodesics>,
    ) -> Result<Option<Points>> {
        let Some(landmarks) = &self.away.landmarks else { return Ok(Some(known.map.clone())) };
        let geodesics = self.away.geodesics(geodesics)?;
        let square = self.away.training_squares(data, geodesics.as_ref())?;
        let rows = parallel::collect(data.len(), |i| match landmarks.binary_search(&(i as u32)) {
            Ok(at) => known.map.row(at).to_vec(),
            Err(_) => {
                let squares: Vec<f64> = (0..landmarks.len()).map(|at| square(i, at)).collect();
                self.row(known, &squares, |at| at)
            }
        });
        found(known.map.cols(), rows.concat()).map(Some)
    }
}

/// The coordinates of all points, unless those of some point were lost to rounding.
fn found(dims: usize, coordinates: Vec<f64>) -> Result<Points> {
    if let Some(lost) = coordinates.iter().position(|y| y.is_nan()) {
        let lost = lost / dims;
        let fact = format!("row {} is so far from all landmarks that its coordinates are lost to rounding", lost + 1);
        return Err(Error::data(fact, "leave the row out, or leave out `landmarks`").at_row(lost));
    }
    Points::computed(coordinates.len() / dims, dims, coordinates)
}

impl Gower {
    /// The coordinates of all points by their geodesics from the landmarks, which keep their own.
    ///
    /// # Errors
    ///
    /// If a point is so far from all landmarks that its coordinates are lost to rounding.
    pub(crate) fn place_swept(&self, known: &Known<'_>, swept: &SweptGeodesics) -> Result<Points> {
        let landmarks = self.away.landmarks.as_deref().unwrap_or_default();
        let dims = known.map.cols();
        let coordinates = swept.of_points(dims, |i, lengths, own| match landmarks.binary_search(&(i as u32)) {
            Ok(at) => own.copy_from_slice(known.map.row(at)),
            Err(_) => {
                let squares: Vec<f64> = lengths.iter().map(|length| length.powi(2)).collect();
                own.copy_from_slice(&self.row(known, &squares, |at| at));
            }
        });
        found(dims, coordinates)
    }

    /// ½ Σᵢ (r[i] − δ²[i]) y[i] / λ, with y[i] in row `at(i)` of the map; NaN if rounding the squares moves the result
    /// by more than a small fraction of the map and of itself, ½ ε δ² / √λ. Then all squares are equal up to their last
    /// digits.
    fn row(&self, known: &Known<'_>, squares: &[f64], at: impl Fn(usize) -> usize) -> Vec<f64> {
        let largest = known.eigenvalues.first().copied().unwrap_or(0.0);
        let inverse = |&lambda: &f64| if lambda > 1e-13 * largest { 0.5 / lambda } else { 0.0 };
        let inverses: Vec<f64> = known.eigenvalues.iter().map(inverse).collect();
        let most = squares.iter().copied().fold(0.0, f64::max);
        let mut sums = vec![0.0; known.map.cols()];
        for (i, (mean, square)) in self.row_means.iter().zip(squares).enumerate() {
            for (sum, (y, inverse)) in sums.iter_mut().zip(known.map.row(at(i)).iter().zip(&inverses)) {
                // Squares divided by λ first: squares times lengths would overflow for huge numbers.
                *sum += (mean - square) * inverse * y;
            }
        }
        let size = sums.iter().fold((largest / squares.len() as f64).sqrt(), |size, y| size.max(y.abs()));
        let rounding = |inverse: f64| f64::EPSILON * most * (0.5 * inverse).sqrt();
        if inverses.iter().any(|&inverse| rounding(inverse) > LOST * size) {
            sums.fill(f64::NAN);
        }
        sums
    }
}

//! Out-of-sample extension by stress, with all other points fixed: argmin Σᵢ w[i] (δ[i] − ‖y − y[i]‖)².
//!
//! The sum may have several minima, so the optimization starts twice, from the nearest training point and from the
//! middle of the map, and the lower result is used. Each start is one majorization step (J. de Leeuw, 1977) away, so
//! that it does not coincide with a point, where the sum has a kink:
//!
//! ```text
//! y ← weighted mean over i of  y[i] + δ[i] (y − y[i]) / ‖y − y[i]‖
//! ```

use super::reference::Away;
use super::{Extension, Known, Sizes, Traits, TransformFn};
use crate::coordinates::Map;
use crate::input::Data;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Silent;
use serde::{Deserialize, Serialize};

/// The tolerance of the optimization, in units in which the distances have mean square one.
const STOP: Stop = Stop { gradient: 1e-10, decrease: -1.0, evaluations: 200 };

/// The target distances of a new point, and their weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stress {
    pub(crate) away: Away,
    /// p, of the weights δ⁻ᵖ.
    pub(crate) power: u8,
    /// The transformation of the given distances, as (given, on the map), both ascending; empty if they are the same.
    pub(crate) disparities: Vec<(f64, f64)>,
}

/// The reference points of a new point.
struct Anchors<'a> {
    map: &'a [f64],
    dims: usize,
    /// The row of the map of each.
    rows: Vec<usize>,
}

impl Extension for Stress {
    fn traits(&self) -> Traits {
        Traits { uses_metric: self.away.uses_metric(), optimizes: true, ..Traits::OF_DISTANCES }
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let sorted = self.disparities.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
        let finite = self.disparities.iter().all(|(given, own)| given.is_finite() && own.is_finite());
        self.away.fits(sizes.rows) && sorted && finite && self.power <= 2
    }

    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>> {
        let away = self.away.prepared()?;
        let (map, dims, middle) = (known.map.values(), known.map.cols(), known.map.column_means());
        let count = self.away.count(known.map.rows());
        let anchors = Anchors { map, dims, rows: (0..count).map(|i| self.away.point(i)).collect() };
        Ok(Box::new(move |batch| {
            batch.in_parts(|batch| {
                let squares = away.squares(&known, batch)?;
                let nearest = |near: &[u32]| known.map.row(near[0] as usize);
                Ok(batch.each(|new| self.placed(&anchors, squares.of(new), nearest(new.near), &middle)))
            })
        }))
    }

    fn learn(&mut self, _data: Data<'_>, map: &Map) {
        self.disparities.clone_from(&map.diagnostics.disparities);
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
        let (map, dims) = (known.map.values(), known.map.cols());
        let anchors = Anchors { map, dims, rows: (0..landmarks.len()).collect() };
        let middle = known.map.column_means();
        let rows = parallel::collect(data.len(), |i| match landmarks.binary_search(&(i as u32)) {
            Ok(at) => known.map.row(at).to_vec(),
            Err(_) => {
                let squares: Vec<f64> = (0..landmarks.len()).map(|at| square(i, at)).collect();
                let nearest = (0..squares.len()).min_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
                // A point that coincides with a landmark gets its coordinates.
                if squares[nearest] == 0.0 {
                    return known.map.row(nearest).to_vec();
                }
                self.placed(&anchors, &squares, known.map.row(nearest), &middle)
            }
        });
        Points::computed(data.len(), dims, rows.concat()).map(Some)
    }
}

impl Stress {
    /// The lower result of two optimizations.
    fn placed(&self, anchors: &Anchors<'_>, squares: &[f64], nearest: &[f64], middle: &[f64]) -> Vec<f64> {
        let (n, dims) = (squares.len() as f64, anchors.dims);
        let wanted: Vec<f64> = squares.iter().map(|square| self.on_the_map(square.sqrt())).collect();
        let unit = (wanted.iter().map(|d| d * d).sum::<f64>() / n).sqrt().max(f64::MIN_POSITIVE);
        let lengths: Vec<f64> = wanted.iter().map(|d| d / unit).collect();
        let weights = self.weights(&lengths);
        let at: Vec<f64> =
            anchors.rows.iter().flat_map(|&row| &anchors.map[row * dims..(row + 1) * dims]).map(|y| y / unit).collect();
        let value = |y: &[f64], gradient: &mut [f64]| {
            gradient.fill(0.0);
            let mut sum = 0.0;
            for ((anchor, length), weight) in at.chunks_exact(dims).zip(&lengths).zip(&weights) {
                let distance = y.iter().zip(anchor).map(|(y, a)| (y - a) * (y - a)).sum::<f64>().sqrt();
                sum += weight * (length - distance).powi(2);
                let force = if distance > 0.0 { weight * (1.0 - length / distance) / n } else { 0.0 };
                gradient
                    .iter_mut()
                    .zip(y.iter().zip(anchor))
                    .for_each(|(gradient, (y, a))| *gradient += force * (y - a));
            }
            0.5 * sum / n
        };
        let descent = Descent {
            bounds: Bounds::None,
            memory: dims + 2,
            scale: Some(1.0),
            cautious: false,
            stop: STOP,
            stage: None,
        };
        let end = |start: &[f64]| {
            // One majorization step is y minus the gradient.
            let start: Vec<f64> = start.iter().map(|y| y / unit).collect();
            let mut gradient = vec![0.0; dims];
            value(&start, &mut gradient);
            let start: Vec<f64> = start.iter().zip(&gradient).map(|(y, gradient)| y - gradient).collect();
            let mut objective = |y: &[f64], gradient: &mut [f64]| Ok(Some(value(y, gradient)));
            let found = descent.minimize(&start, &mut objective, &Silent);
            found.map_or((start, f64::INFINITY), |(y, report)| (y, report.value))
        };
        let (first, second) = (end(nearest), end(middle));
        let best = if second.1 < first.1 { second.0 } else { first.0 };
        best.iter().map(|y| y * unit).collect()
    }

    /// δ⁻ᵖ, with mean one; zero for a distance of zero, unless all weights are equal.
    fn weights(&self, lengths: &[f64]) -> Vec<f64> {
        let weight = |&length: &f64| match self.power {
            0 => 1.0,
            _ if length <= 0.0 => 0.0,
            power => length.powi(-i32::from(power)),
        };
        let weights: Vec<f64> = lengths.iter().map(weight).collect();
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        if mean > 0.0 { weights.iter().map(|weight| weight / mean).collect() } else { vec![1.0; weights.len()] }
    }

    /// The transformed distance: interpolated between known ones, extrapolated along the last.
    fn on_the_map(&self, given: f64) -> f64 {
        let known = &self.disparities;
        let (Some(first), Some(last)) = (known.first(), known.last()) else { return given };
        let above = known.partition_point(|knot| knot.0 < given);
        match above {
            0 => {
                if first.0 > 0.0 {
                    first.1 * given / first.0
                } else {
                    first.1
                }
            }
            _ if above == known.len() => last.1 * if last.0 > 0.0 { given / last.0 } else { 1.0 },
            _ => {
                let (low, high) = (known[above - 1], known[above]);
                low.1 + (high.1 - low.1) * (given - low.0) / (high.0 - low.0)
            }
        }
    }
}

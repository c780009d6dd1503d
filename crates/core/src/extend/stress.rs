//! The place of least stress with all other points held: argmin Σᵢ w[i] (δ[i] − ‖y − y[i]‖)².
//!
//! The sum may have several minima, so the descent starts twice, from the nearest training point and from the middle of the
//! map, and the lower end counts. Each start is one majorization step (J. de Leeuw, 1977) away, so that it does not
//! lie on a point, where the sum has a kink:
//!
//! ```text
//! y ← weighted mean over i of  y[i] + δ[i] (y − y[i]) / ‖y − y[i]‖
//! ```

use super::reference::Away;
use super::{Known, Newcomer};
use crate::input::Data;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Silent;
use serde::{Deserialize, Serialize};

/// Where a descent ends, in units in which the distances have mean square one.
const STOP: Stop = Stop { gradient: 1e-10, decrease: -1.0, evaluations: 200 };

/// What the distances of a new point are, and how much each counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stress {
    pub(crate) away: Away,
    /// p, of the weights δ⁻ᵖ.
    pub(crate) power: u8,
    /// What the map makes of a given distance, as (given, on the map), both ascending; empty if they are the same.
    pub(crate) disparities: Vec<(f64, f64)>,
}

/// Points that a new one is drawn by.
struct Anchors<'a> {
    map: &'a [f64],
    dims: usize,
    /// Which row of the map each is.
    rows: Vec<usize>,
}

impl Stress {
    pub(super) fn fits(&self, rows: usize) -> bool {
        let sorted = self.disparities.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
        let finite = self.disparities.iter().all(|(given, own)| given.is_finite() && own.is_finite());
        self.away.fits(rows) && sorted && finite && self.power <= 2
    }

    pub(super) fn row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        let (map, dims) = (known.map.values(), known.map.cols());
        let anchors = Anchors { map, dims, rows: (0..new.squares.len()).map(|i| self.away.point(i)).collect() };
        self.placed(&anchors, new.squares, known.map.row(new.near[0] as usize), &known.map.column_means())
    }

    /// The coordinates of all training points from those of the landmarks, which keep their own.
    pub(super) fn place_all(
        &self,
        known: &Known<'_>,
        data: Data<'_>,
        geodesics: Option<LandmarkGeodesics>,
    ) -> Result<Points> {
        let Some(landmarks) = &self.away.landmarks else { return Ok(known.map.clone()) };
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
                // A point that coincides with a landmark is where that is.
                if squares[nearest] == 0.0 {
                    return known.map.row(nearest).to_vec();
                }
                self.placed(&anchors, &squares, known.map.row(nearest), &middle)
            }
        });
        Points::computed(data.len(), dims, rows.concat())
    }

    /// The lower end of two descents.
    fn placed(&self, anchors: &Anchors<'_>, squares: &[f64], nearest: &[f64], middle: &[f64]) -> Vec<f64> {
        let (n, dims) = (squares.len() as f64, anchors.dims);
        let wanted: Vec<f64> = squares.iter().map(|square| self.on_the_map(square.sqrt())).collect();
        let unit = (wanted.iter().map(|d| d * d).sum::<f64>() / n).sqrt().max(f64::MIN_POSITIVE);
        let lengths: Vec<f64> = wanted.iter().map(|d| d / unit).collect();
        let weights = self.weights(&lengths);
        let at: Vec<f64> =
            anchors.rows.iter().flat_map(|&row| &anchors.map[row * dims..(row + 1) * dims]).map(|y| y / unit).collect();
        let value = |y: &[f64], slope: &mut [f64]| {
            slope.fill(0.0);
            let mut sum = 0.0;
            for ((anchor, length), weight) in at.chunks_exact(dims).zip(&lengths).zip(&weights) {
                let distance = y.iter().zip(anchor).map(|(y, a)| (y - a) * (y - a)).sum::<f64>().sqrt();
                sum += weight * (length - distance).powi(2);
                let pull = if distance > 0.0 { weight * (1.0 - length / distance) / n } else { 0.0 };
                slope.iter_mut().zip(y.iter().zip(anchor)).for_each(|(slope, (y, a))| *slope += pull * (y - a));
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
            // One majorization step is y less the slope.
            let start: Vec<f64> = start.iter().map(|y| y / unit).collect();
            let mut slope = vec![0.0; dims];
            value(&start, &mut slope);
            let start: Vec<f64> = start.iter().zip(&slope).map(|(y, slope)| y - slope).collect();
            let mut objective = |y: &[f64], slope: &mut [f64]| Ok(Some(value(y, slope)));
            let found = descent.minimize(&start, &mut objective, &Silent);
            found.map_or((start, f64::INFINITY), |(y, report)| (y, report.value))
        };
        let (first, second) = (end(nearest), end(middle));
        let best = if second.1 < first.1 { second.0 } else { first.0 };
        best.iter().map(|y| y * unit).collect()
    }

    /// δ⁻ᵖ, with mean one; none for a distance of zero, unless all count alike.
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

    /// What a given distance is on the map: between two known ones in proportion, beyond them along the last.
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

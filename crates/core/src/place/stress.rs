//! The place of least stress with all other points held: argmin Σᵢ (δ[i] − ‖y − y[i]‖)².
//!
//! The sum may have several minima, so the descent starts twice, from the nearest training point and from the middle of the
//! map, and the lower end counts. Each start is one majorization step (J. de Leeuw, 1977) away, so that it does not
//! lie on a point, where the sum has a kink:
//!
//! ```text
//! y ← mean over i of  y[i] + δ[i] (y − y[i]) / ‖y − y[i]‖
//! ```

use super::away::Away;
use super::{Known, Newcomer};
use crate::optimize::{Bounds, Descent, Stop};
use crate::progress::Silent;
use serde::{Deserialize, Serialize};

/// Where a descent ends, in units in which the distances have mean square one.
const STOP: Stop = Stop { gradient: 1e-10, decrease: -1.0, evaluations: 200 };

/// What the distances of a new point are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stress {
    pub(crate) away: Away,
}

impl Stress {
    pub(super) fn fits(&self, rows: usize) -> bool {
        self.away.fits(rows)
    }

    pub(super) fn row(&self, known: &Known<'_>, new: &Newcomer<'_>) -> Vec<f64> {
        let (n, dims) = (new.squares.len() as f64, known.map.cols());
        let unit = (new.squares.iter().sum::<f64>() / n).sqrt().max(f64::MIN_POSITIVE);
        let lengths: Vec<f64> = new.squares.iter().map(|square| square.sqrt() / unit).collect();
        let anchor = |i: usize| known.map.row(self.away.point(i)).iter().map(|y| y / unit);
        let value = |y: &[f64], slope: &mut [f64]| {
            slope.fill(0.0);
            let mut sum = 0.0;
            for (i, length) in lengths.iter().enumerate() {
                let away: Vec<f64> = y.iter().zip(anchor(i)).map(|(y, a)| y - a).collect();
                let distance = away.iter().map(|d| d * d).sum::<f64>().sqrt();
                sum += (length - distance).powi(2);
                let pull = if distance > 0.0 { 1.0 - length / distance } else { 0.0 };
                slope.iter_mut().zip(&away).for_each(|(slope, d)| *slope += pull * d / n);
            }
            0.5 * sum / n
        };
        let nearest: Vec<f64> = known.map.row(new.near[0] as usize).iter().map(|y| y / unit).collect();
        let middle: Vec<f64> = known.map.column_means().iter().map(|y| y / unit).collect();
        let descent = Descent {
            bounds: Bounds::None,
            memory: dims + 2,
            scale: Some(1.0),
            cautious: false,
            stop: STOP,
            stage: None,
        };
        let end = |start: Vec<f64>| {
            // One majorization step is y less the slope.
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
}

//! The target distances of a map: δ of every pair of points that are embedded together.

use super::StressDistances;
use crate::field::Site;
use eigenfold_graph::Paths;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::paths::sweep::Real;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;

/// Above this number of points the distances are kept in single precision; sums are always in double.
const SINGLE_ABOVE: usize = 4000;
/// Sources of shortest paths that are processed together.
const SOURCES: usize = 64;

/// δ of every pair, both ways, row after row.
pub(super) struct Dissimilarities {
    pub(super) square: Square,
    n: usize,
    /// About √n times the root mean square distance: in this unit the curvature of the stress is about one.
    pub(super) unit: f64,
    /// Whether they are lengths of paths.
    pub(super) along_graph: bool,
}

/// The table, in either precision.
pub(super) enum Square {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Dissimilarities {
    /// The bytes of a table of n points.
    pub(super) fn memory(n: usize) -> u64 {
        let size = if n > SINGLE_ABOVE { 4 } else { 8 };
        size * (n as u64).saturating_mul(n as u64)
    }

    /// Between all points or between the landmarks; with the geodesics of the landmarks, if requested.
    pub(super) fn new(
        site: &Site<'_>,
        along: StressDistances,
        landmarks: Option<&[u32]>,
    ) -> Result<(Dissimilarities, Option<LandmarkGeodesics>)> {
        let (n, m) = (site.len(), landmarks.map_or(site.len(), <[u32]>::len));
        let along_graph = along == StressDistances::Geodesic;
        let geodesics = match landmarks.filter(|_| along_graph) {
            Some(landmarks) => {
                let spare = site.memory.saturating_sub(LandmarkGeodesics::memory(m, n));
                let paths = Paths::within(&site.graph()?.union(), m, spare / 2);
                Some(LandmarkGeodesics::new(&paths, landmarks, spare / 2, site.observer)?)
            }
            None => None,
        };
        let square = if m > SINGLE_ABOVE {
            Square::Single(filled(site, along_graph, landmarks, geodesics.as_ref())?)
        } else {
            Square::Double(filled(site, along_graph, landmarks, geodesics.as_ref())?)
        };
        let mut dissimilarities = Dissimilarities { square, n: m, unit: 1.0, along_graph };
        let both: f64 = dissimilarities.rows(|row| row.iter().map(|d| d * d).sum());
        if both <= 0.0 || !both.is_finite() {
            return Err(Error::data("all points coincide, so the stress is not defined", "give points that differ"));
        }
        dissimilarities.unit = (both / (m as f64 - 1.0)).sqrt();
        Ok((dissimilarities, geodesics))
    }

    /// A table in double precision, and its unit.
    #[cfg(test)]
    pub(super) fn of(table: Vec<f64>, n: usize) -> Dissimilarities {
        let unit = (table.iter().map(|d| d * d).sum::<f64>() / (n as f64 - 1.0)).sqrt();
        Dissimilarities { square: Square::Double(table), n, unit, along_graph: false }
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.n
    }

    /// δ of a pair.
    pub(super) fn distance(&self, i: usize, j: usize) -> f64 {
        match &self.square {
            Square::Single(table) => f64::from(table[i * self.n + j]),
            Square::Double(table) => table[i * self.n + j],
        }
    }

    /// The sum of a function of each row, in order.
    pub(super) fn rows(&self, of: impl Fn(&[f64]) -> f64 + Sync) -> f64 {
        let row = |i: usize| of(&(0..self.n).map(|j| self.distance(i, j)).collect::<Vec<f64>>());
        parallel::collect(self.n, row).iter().sum()
    }
}

fn filled<R: Real>(
    site: &Site<'_>,
    along_graph: bool,
    landmarks: Option<&[u32]>,
    geodesics: Option<&LandmarkGeodesics>,
) -> Result<Vec<R>> {
    let n = landmarks.map_or(site.len(), <[u32]>::len);
    let mut table = vec![R::ZERO; n * n];
    if let Some(known) = geodesics {
        let entry = |at: usize| R::round(known.between(at / n, at % n));
        table.iter_mut().enumerate().for_each(|(at, length)| *length = entry(at));
    } else if along_graph {
        let paths = Paths::new(&site.graph()?.union(), n);
        let sources: Vec<usize> = (0..n).collect();
        for (batch, rows) in sources.chunks(SOURCES).zip(table.chunks_mut(SOURCES * n)) {
            let lengths = paths.from_sources(batch, site.observer)?;
            rows.iter_mut().zip(lengths).for_each(|(entry, length)| *entry = R::round(length));
        }
    } else {
        let (measured, at) = (site.measured("smacof")?, |i: usize| landmarks.map_or(i, |l| l[i] as usize));
        parallel::try_collect_of(table.chunks_mut(n), |i, row| {
            if i.is_multiple_of(64) && site.observer.stop() {
                return Err(Error::Stopped);
            }
            (i + 1..n).for_each(|j| row[j] = R::round(measured.distance(at(i), at(j))));
            Ok(())
        })?;
    }
    // The mirror image, so that both directions round identically.
    for i in 0..n {
        for j in 0..i {
            table[i * n + j] = table[j * n + i];
        }
    }
    Ok(table)
}

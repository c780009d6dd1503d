//! The distances of a new point to the reference points of a rule.

use super::{Batch, Known, Newcomer};
use crate::input::Data;
use crate::kernel::mercer::Kernel;
use eigenfold_graph::paths::landmarks::LandmarkGeodesics;
use eigenfold_graph::{Graph, Paths};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Silent;
use serde::{Deserialize, Serialize};

/// The kind of distance, and the reference points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Away {
    pub(crate) measure: Measure,
    /// The reference points; all if absent.
    pub(crate) landmarks: Option<Vec<u32>>,
}

/// A distance from a new point to a training point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Measure {
    /// The metric's, or the given one.
    Metric,
    /// That in the feature space of a kernel.
    Kernel(Kernel),
    /// That along a graph.
    Geodesic(Graph),
}

impl Away {
    pub(super) fn fits(&self, rows: usize) -> bool {
        let landmarks = self.landmarks.as_ref();
        let measure = match &self.measure {
            Measure::Metric => true,
            Measure::Kernel(kernel) => kernel.is_sound(),
            Measure::Geodesic(graph) => graph.is_sound() && graph.len() == rows,
        };
        landmarks.is_none_or(|l| (1..=rows).contains(&l.len()) && l.iter().all(|&i| (i as usize) < rows)) && measure
    }

    /// Whether the distances are those of the metric; a kernel has its own.
    pub(super) fn uses_metric(&self) -> bool {
        !matches!(self.measure, Measure::Kernel(_))
    }

    /// The number of reference points among this many training points.
    pub(super) fn count(&self, rows: usize) -> usize {
        self.landmarks.as_ref().map_or(rows, Vec::len)
    }

    /// The training point behind reference point `i`.
    #[inline(always)]
    pub(super) fn point(&self, i: usize) -> usize {
        self.landmarks.as_ref().map_or(i, |landmarks| landmarks[i] as usize)
    }

    /// The geodesics of the landmarks, if it measures along a graph: known ones, or computed.
    pub(super) fn geodesics(&self, known: Option<LandmarkGeodesics>) -> Result<Option<LandmarkGeodesics>> {
        match (&self.measure, &self.landmarks, known) {
            (Measure::Geodesic(graph), Some(landmarks), None) => landmark_geodesics(graph, landmarks).map(Some),
            (_, _, known) => Ok(known),
        }
    }

    /// The squared distance of any training point to any reference point, by its index.
    pub(super) fn training_squares<'a>(
        &'a self,
        data: Data<'a>,
        geodesics: Option<&'a LandmarkGeodesics>,
    ) -> Result<Box<dyn Fn(usize, usize) -> f64 + Sync + 'a>> {
        Ok(match (&self.measure, data, geodesics) {
            (_, _, Some(geodesics)) => Box::new(|i, at| geodesics.length(at, i).powi(2)),
            (Measure::Kernel(kernel), Data::Points(points, _), _) => {
                Box::new(|i, at| kernel.square(&points.point(i), &points.point(self.point(at))))
            }
            (_, data, _) => {
                let unknown = || {
                    Error::input_kind(
                        &["points", "distances"],
                        "a graph has no distances to its landmarks other than those along its edges",
                        "",
                    )
                };
                let measured = data.measured().ok_or_else(unknown)?;
                Box::new(move |i, at| measured.distance(i, self.point(at)).powi(2))
            }
        })
    }

    /// Prepares the distances: along a graph, its shortest paths are precomputed.
    pub(super) fn prepared(&self) -> Result<Prepared<'_>> {
        let geodesics = match (&self.measure, &self.landmarks) {
            (Measure::Geodesic(graph), None) => Some(Geodesics::Paths(Paths::new(&graph.union(), graph.len()))),
            (Measure::Geodesic(graph), Some(landmarks)) => {
                Some(Geodesics::Landmarks(landmark_geodesics(graph, landmarks)?))
            }
            (Measure::Metric | Measure::Kernel(_), _) => None,
        };
        Ok(Prepared { away: self, geodesics })
    }
}

/// Prepared distances.
pub(super) struct Prepared<'a> {
    away: &'a Away,
    geodesics: Option<Geodesics>,
}

impl Prepared<'_> {
    /// For every row of the batch, its squared distances to the reference points. Along a graph the path to a tapered
    /// neighbor becomes long, so that no path ends abruptly.
    pub(super) fn squares(&self, known: &Known<'_>, batch: &Batch<'_>) -> Result<Squares> {
        let (away, near, rows) = (self.away, batch.near, batch.rows);
        let count = away.count(known.map.rows());
        if let Some(geodesics) = &self.geodesics {
            let seeds = |i: usize| -> Vec<(u32, f64)> {
                let (list, nearest) = (i * known.k..(i + 1) * known.k, near.lengths[i * known.k]);
                let faded = |at: usize| faded(nearest, near.lengths[at], near.shares[at]);
                list.map(|at| (near.rows[at], faded(at))).filter(|(_, length)| length.is_finite()).collect()
            };
            let seeds: Vec<Vec<(u32, f64)>> = (0..rows.rows()).map(seeds).collect();
            let mut lengths = geodesics.lengths(&seeds)?;
            lengths.iter_mut().for_each(|length| *length *= *length);
            return Ok(Squares { count, all: lengths });
        }
        let mut squares = vec![0.0; rows.rows() * count];
        parallel::chunks_mut(&mut squares, count, |row, squares| {
            let x = &*rows.point(row);
            for (i, square) in squares.iter_mut().enumerate() {
                *square = match (&away.measure, known.points) {
                    (Measure::Kernel(kernel), Some((points, _))) => kernel.square(x, &points.point(away.point(i))),
                    (_, Some((points, metric))) => metric.distance(x, &points.point(away.point(i))).powi(2),
                    (_, None) => x[away.point(i)].powi(2),
                };
            }
        });
        Ok(Squares { count, all: squares })
    }
}

/// The length of the path to a neighbor: its excess over that to the nearest is divided by the taper weight.
pub(super) fn faded(nearest: f64, length: f64, share: f64) -> f64 {
    nearest + (length - nearest) / share
}

/// The squared distances of a batch of new points to the reference points.
pub(super) struct Squares {
    count: usize,
    all: Vec<f64>,
}

impl Squares {
    /// Those of one new point.
    pub(super) fn of(&self, new: &Newcomer<'_>) -> &[f64] {
        &self.all[new.at * self.count..(new.at + 1) * self.count]
    }
}

/// Geodesics from outside the graph to the reference points.
enum Geodesics {
    Paths(Paths),
    Landmarks(LandmarkGeodesics),
}

impl Geodesics {
    fn lengths(&self, seeds: &[Vec<(u32, f64)>]) -> Result<Vec<f64>> {
        match self {
            Geodesics::Paths(paths) => paths.from_seeds(seeds, &Silent),
            Geodesics::Landmarks(known) => {
                let mut lengths = vec![0.0; seeds.len() * known.landmarks()];
                parallel::chunks_mut(&mut lengths, known.landmarks(), |row, lengths| {
                    for (at, shortest) in lengths.iter_mut().enumerate() {
                        let through = |&(j, length): &(u32, f64)| length + known.length(at, j as usize);
                        *shortest = seeds[row].iter().map(through).fold(f64::INFINITY, f64::min);
                    }
                });
                Ok(lengths)
            }
        }
    }
}

/// The geodesics of the landmarks of a graph, in the available memory.
fn landmark_geodesics(graph: &Graph, landmarks: &[u32]) -> Result<LandmarkGeodesics> {
    let spare = memory::available().saturating_sub(LandmarkGeodesics::memory(landmarks.len(), graph.len()));
    let paths = Paths::within(&graph.union(), landmarks.len(), spare / 2);
    LandmarkGeodesics::new(&paths, landmarks, spare / 2, &Silent)
}

//! The geodesics from a few points, the landmarks, to all.

use crate::Paths;
use crate::paths::panels::power_of_two;
use crate::paths::sweep::LANES;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;

/// A point is far from the landmarks if its distance from the first is this many times that landmark's distance from the others.
const FAR: f64 = 8.0;

/// The geodesics from every landmark to every point, in single precision, and those between the landmarks in double
/// precision.
///
/// A point that is far from all landmarks is placed by the differences of its geodesics, which are no longer than those
/// between landmarks: single precision would round them away. So of such a point the table has these differences, and
/// what they are added to is kept beside it in double precision.
#[derive(Clone, Debug, PartialEq)]
pub struct LandmarkGeodesics {
    /// One row a point, one column a landmark: a point is placed by all of its own.
    table: Vec<f32>,
    /// The origin of the lengths of each point: zero, or the geodesic from the first landmark if that is far.
    base: Vec<f64>,
    /// A power of two near the geodesics between the landmarks.
    unit: f64,
    /// One row and one column a landmark.
    between: Vec<f64>,
    landmarks: usize,
}

impl LandmarkGeodesics {
    /// The bytes that are kept.
    pub fn memory(landmarks: usize, points: usize) -> u64 {
        let (m, n) = (landmarks as u64, points as u64);
        4 * m * n + 8 * n + 8 * m * m
    }

    /// All of them; beyond what is kept, at most `memory` bytes are used, but enough for one block of sources.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`](eigenfold_linalg::Error::Stopped) if the observer stops the work.
    pub fn new(paths: &Paths, landmarks: &[u32], memory: u64, observer: &dyn Observer) -> Result<LandmarkGeodesics> {
        let (m, n) = (landmarks.len(), paths.len());
        // A block holds its distances twice: in the order of the sweep, and in that of the points.
        let block = 16 * (LANES * n) as u64;
        let at_once = LANES * (memory / block.max(1)).clamp(1, rayon::current_num_threads() as u64) as usize;
        let (mut table, mut between) = (vec![0.0f32; m * n], Vec::with_capacity(m * m));
        let (mut base, mut unit) = (Vec::new(), 1.0);
        for (batch, some) in landmarks.chunks(at_once).enumerate() {
            let sources: Vec<usize> = some.iter().map(|&landmark| landmark as usize).collect();
            let rows = paths.from_sources(&sources, observer)?;
            if batch == 0 {
                let first = &rows[..n];
                let reach = landmarks.iter().map(|&landmark| first[landmark as usize]).fold(0.0, f64::max);
                unit = if reach > 0.0 { power_of_two(reach) } else { paths.unit() };
                let far = |length: f64| length.is_finite() && length > FAR * reach;
                base = first.iter().map(|&length| if far(length) { length } else { 0.0 }).collect();
            }
            parallel::chunks_mut(&mut table, m, |point, cells| {
                let cells = cells[batch * at_once..].iter_mut();
                let counted = |row: &[f64]| ((row[point] - base[point]) / unit) as f32;
                cells.zip(rows.chunks_exact(n)).for_each(|(cell, row)| *cell = counted(row));
            });
            let of_landmarks =
                |row: &[f64]| landmarks.iter().map(|&landmark| row[landmark as usize]).collect::<Vec<_>>();
            between.extend(rows.chunks_exact(n).flat_map(of_landmarks));
        }
        Ok(LandmarkGeodesics { table, base, unit, between, landmarks: m })
    }

    /// The number of landmarks.
    pub fn landmarks(&self) -> usize {
        self.landmarks
    }

    /// The geodesic from a landmark, by its number, to a point.
    pub fn length(&self, landmark: usize, point: usize) -> f64 {
        self.base[point] + f64::from(self.table[point * self.landmarks + landmark]) * self.unit
    }

    /// The geodesic between two landmarks, by their numbers.
    pub fn between(&self, one: usize, other: usize) -> f64 {
        self.between[one * self.landmarks + other]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use eigenfold_linalg::progress::Silent;

    #[test]
    fn on_a_path_the_lengths_add_up_however_many_at_once() {
        let next = |i: u32| if i < 299 { vec![(i + 1, 0.5 + f64::from(i % 3))] } else { vec![] };
        let graph = Graph::from_lists((0..300).map(next).collect()).unwrap().union();
        let landmarks: Vec<u32> = (0..300).step_by(2).collect();
        let at = |i: u32| (0..i).map(|j| 0.5 + f64::from(j % 3)).sum::<f64>();
        let paths = Paths::new(&graph, landmarks.len());
        let known = LandmarkGeodesics::new(&paths, &landmarks, 0, &Silent).unwrap();
        assert_eq!(known.landmarks(), 150);
        for (one, &i) in landmarks.iter().enumerate() {
            assert!((0..300).all(|j| (known.length(one, j as usize) - (at(i) - at(j)).abs()).abs() < 1e-4));
            let between = |(other, &j): (usize, &u32)| (known.between(one, other) - (at(i) - at(j)).abs()).abs();
            assert!(landmarks.iter().enumerate().map(between).all(|off| off < 1e-12));
        }
        let together = LandmarkGeodesics::new(&paths, &landmarks, u64::MAX, &Silent).unwrap();
        assert_eq!(together, known);
    }

    /// A path of ten points whose last edge is long: the lengths of its last point differ by those between the others.
    #[test]
    fn the_lengths_of_a_far_point_differ_as_those_of_its_neighbor_do() {
        for long in [1.0, 1e3, 1e8, 1e12] {
            let next = |i: u32| match i {
                0..8 => vec![(i + 1, 1.0)],
                8 => vec![(9, long)],
                _ => vec![],
            };
            let graph = Graph::from_lists((0..10).map(next).collect()).unwrap().union();
            let paths = Paths::new(&graph, 3);
            let known = LandmarkGeodesics::new(&paths, &[0, 3, 7], 0, &Silent).unwrap();
            for (at, landmark) in [0.0, 3.0, 7.0].into_iter().enumerate() {
                let off = known.length(at, 9) - (8.0 - landmark + long);
                assert!(off.abs() <= 1e-6 + 1e-16 * long, "{long}: {off}");
                assert!((known.length(at, 8) - (8.0 - landmark)).abs() < 1e-6);
            }
        }
    }
}

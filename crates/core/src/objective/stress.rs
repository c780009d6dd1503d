//! Metric stress: the map whose distances differ least from the given ones.
//!
//! ```text
//! minimize σ(Y) = Σ_{i<j} (δ[i,j] − ‖y[i] − y[j]‖)²
//! ½ slope/n = Y − G(Y),    G(Y)[i] = mean over j of  y[j] + δ[i,j] (y[i] − y[j]) / ‖y[i] − y[j]‖
//! ```
//!
//! G is the step of majorization (SMACOF): it never raises σ. The descent takes it as the first step and goes on with the
//! curvature that it learns on the way, which needs a fraction of the steps. It starts from classical scaling.
//! Along the edges of a graph (δ the lengths of shortest paths) the same objective draws the graph.
//!
//! J. de Leeuw. Applications of convex analysis to multidimensional scaling. In: Recent Developments in Statistics, 1977.
//! I. Borg, P. J. F. Groenen. Modern Multidimensional Scaling. Springer, 2005, chapter 8. Graphs: E. R. Gansner, Y. Koren,
//! S. North. Graph drawing by stress majorization. Graph Drawing, LNCS 3383, 2004.

use crate::coordinates;
use crate::error::{Error, Result};
use crate::field::scaling::isomap::Isomap;
use crate::field::scaling::mds::Mds;
use crate::field::{Build, Built, Descend, Energy, Info, InputKind, Site, Task};
use crate::graph::Paths;
use crate::graph::paths::sweep::Real;
use crate::ground::Ground;
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use crate::place::{Away, Measure, Rule, Stress};
use crate::points::Points;
use crate::progress::Stage;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Above this number of points the distances are kept in single precision; sums are always in double.
const SINGLE_ABOVE: usize = 4000;
/// Sums run in so many lanes.
const LANES: usize = 8;
/// Sources of shortest paths that are followed together.
const SOURCES: usize = 64;

/// Metric stress by majorization.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Smacof {
    /// Which distances the map is to have; if not given, the direct ones, or of a given graph those along it.
    pub distances: Option<StressDistances>,
    /// Where the descent starts.
    pub init: StressInit,
    /// The part of the stress that a step must gain, else the descent ends.
    pub tolerance: f64,
    /// How often the stress may be evaluated.
    pub max_iterations: usize,
}

impl Default for Smacof {
    fn default() -> Smacof {
        Smacof { distances: None, init: StressInit::Scaling, tolerance: 1e-8, max_iterations: 1000 }
    }
}

/// Which distances a map of least stress is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StressDistances {
    /// Those of the metric, or the given ones.
    Direct,
    /// Those along the neighborhood graph.
    Geodesic,
}

/// Where the descent of stress starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StressInit {
    /// Classical scaling of the same distances.
    Scaling,
    /// At random, by the seed.
    Random,
}

choices! {
    StressDistances {
        Direct: "direct", "those of the metric, or the given ones";
        Geodesic: "geodesic", "those along the graph";
    }
}

choices! {
    StressInit {
        Scaling: "scaling", "classical scaling of the same distances";
        Random: "random", "at random, by the seed";
    }
}

impl Table for Smacof {
    const TABLE: &'static [Parameter<Smacof>] = &[
        Parameter::new(
            "distances",
            "the distances that the map is to have",
            Kind::Choice(StressDistances::NAMES),
            field!(distances),
        )
        .auto("direct, or geodesic if the input is a graph"),
        Parameter::new("init", "where the descent starts", Kind::Choice(StressInit::NAMES), field!(init)),
        Parameter::new(
            "tolerance",
            "the part of the stress that a step must gain, else the descent ends",
            Kind::number(1e-15, 1.0),
            field!(tolerance),
        ),
        Parameter::new(
            "max-iterations",
            "how often the stress may be evaluated",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Build for Smacof {
    fn info(&self) -> Info {
        Info {
            name: "smacof",
            aliases: &["stress", "metric-mds", "mmds"],
            summary: "the map whose distances differ least from the given ones (metric stress)",
            stage: "objective",
            paper: "de Leeuw 1977; Borg & Groenen 2005; graphs: Gansner, Koren & North 2004",
            accepts: InputKind::ALL,
            needs_graph: self.distances == Some(StressDistances::Geodesic),
            uses_metric: true,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let along = self.along(site.ground)?;
        let n = site.len();
        let size = if n > SINGLE_ABOVE { 4 } else { 8 };
        let way_out = "use isomap or mds with `landmarks`, or raise `memory`";
        site.afford("the matrix of distances", size * (n as u64).saturating_mul(n as u64), way_out)?;
        let objective = Raw::new(self.table(site, along)?, n)?;
        let start = self.start(site, along, objective.unit)?;
        let measure = match along {
            StressDistances::Direct => Measure::Metric,
            StressDistances::Geodesic => Measure::Geodesic(site.graph()?.clone()),
        };
        let task = Task::Descend(Descend {
            unit: objective.unit,
            objective: Box::new(objective),
            start,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        });
        let mut built = Built::of(task, Rule::Stress(Stress { away: Away { measure, landmarks: None } }));
        if self.distances.is_none() {
            built.used.push(("distances", along.word().into()));
        }
        Ok(built)
    }
}

impl Smacof {
    /// Which distances this input has.
    fn along(&self, ground: Ground<'_>) -> Result<StressDistances> {
        match (self.distances, ground) {
            (Some(StressDistances::Direct), Ground::Graph(_)) => {
                Err(Error::parameter("a graph has distances along its edges only; leave out `distances`"))
            }
            (None, Ground::Graph(_)) => Ok(StressDistances::Geodesic),
            (asked, _) => Ok(asked.unwrap_or(StressDistances::Direct)),
        }
    }

    /// δ, row after row.
    fn table(&self, site: &Site<'_>, along: StressDistances) -> Result<Square> {
        if site.len() > SINGLE_ABOVE {
            self.filled::<f32>(site, along).map(Square::Single)
        } else {
            self.filled::<f64>(site, along).map(Square::Double)
        }
    }

    fn filled<R: Real>(&self, site: &Site<'_>, along: StressDistances) -> Result<Vec<R>> {
        let n = site.len();
        let mut table = vec![R::ZERO; n * n];
        if along == StressDistances::Geodesic {
            let paths = Paths::new(&site.graph()?.union(), n);
            let sources: Vec<usize> = (0..n).collect();
            for (batch, rows) in sources.chunks(SOURCES).zip(table.chunks_mut(SOURCES * n)) {
                let lengths = paths.from_sources(batch, site.observer)?;
                rows.iter_mut().zip(lengths).for_each(|(entry, length)| *entry = R::round(length));
            }
            return Ok(table);
        }
        let measured = site.measured("smacof")?;
        table.par_chunks_mut(n).enumerate().try_for_each(|(i, row)| {
            if i.is_multiple_of(64) && site.observer.stop() {
                return Err(Error::Stopped);
            }
            (i + 1..n).for_each(|j| row[j] = R::round(measured.distance(i, j)));
            Ok(())
        })?;
        // The mirror image.
        for i in 0..n {
            for j in 0..i {
                table[i * n + j] = table[j * n + i];
            }
        }
        Ok(table)
    }

    /// Where the descent starts.
    fn start(&self, site: &Site<'_>, along: StressDistances, unit: f64) -> Result<Points> {
        let (n, dims) = (site.len(), site.dims);
        if self.init == StressInit::Random {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(site.seed);
            let size = unit / ((n * dims) as f64).sqrt();
            let values =
                (0..n * dims).map(|_| size * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng));
            return Points::new(n, dims, values.collect());
        }
        let built = match along {
            StressDistances::Direct => Mds::default().build(site)?,
            StressDistances::Geodesic => Isomap::default().build(site)?,
        };
        let mut start = coordinates::map(&built.task, dims, site.seed, site.memory, site.observer)?.coordinates;
        // Directions in which the scaling has no variance would stay empty: they get a little.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(site.seed);
        let empty: Vec<usize> = (0..dims).filter(|&q| (0..n).all(|i| start.row(i)[q] == 0.0)).collect();
        if !empty.is_empty() {
            let size = 1e-3 * unit / (n as f64).sqrt();
            let mut values = start.into_values();
            for (_, value) in values.iter_mut().enumerate().filter(|(at, _)| empty.contains(&(at % dims))) {
                let drawn: f64 = StandardNormal.sample(&mut rng);
                *value = size * drawn;
            }
            start = Points::new(n, dims, values)?;
        }
        site.observer.progress(Stage::Field, 1.0);
        Ok(start)
    }
}

/// δ of every pair, both ways.
enum Square {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// σ(Y)/2n, over coordinates in units of √n times the root mean square distance: then its curvature is about one, and the
/// coordinates less its slope are the majorization step.
struct Raw {
    table: Square,
    n: usize,
    unit: f64,
    /// Σ_{i<j} δ².
    total: f64,
}

impl Raw {
    fn new(table: Square, n: usize) -> Result<Raw> {
        let rows = |i: usize| match &table {
            Square::Single(table) => table[i * n..(i + 1) * n].iter().map(|&d| f64::from(d).powi(2)).sum::<f64>(),
            Square::Double(table) => table[i * n..(i + 1) * n].iter().map(|d| d * d).sum(),
        };
        let sums: Vec<f64> = (0..n).into_par_iter().map(rows).collect();
        let both = sums.iter().sum::<f64>();
        if both <= 0.0 || !both.is_finite() {
            return Err(Error::data("all points coincide, so that any map has no stress; give points that differ"));
        }
        Ok(Raw { table, n, unit: (both / (n as f64 - 1.0)).sqrt(), total: 0.5 * both })
    }
}

impl Energy for Raw {
    fn value(&self, y: &[f64], slope: &mut [f64]) -> f64 {
        match &self.table {
            Square::Single(table) => stress(table, 1.0 / self.unit, self.n, y, slope),
            Square::Double(table) => stress(table, 1.0 / self.unit, self.n, y, slope),
        }
    }

    fn in_units(&self, value: f64) -> f64 {
        2.0 * self.n as f64 * value * self.unit * self.unit
    }

    fn figures(&self, value: f64) -> Vec<(&'static str, f64)> {
        vec![("normalized_stress", (self.in_units(value) / self.total).max(0.0).sqrt())]
    }

    fn solver(&self) -> &'static str {
        "majorization, then L-BFGS"
    }
}

/// The value and the slope, row by row in parallel; every row in lanes, in a fixed order.
fn stress<R: Real>(table: &[R], factor: f64, n: usize, y: &[f64], slope: &mut [f64]) -> f64 {
    let dims = y.len() / n;
    // One coordinate after the other, so that the lanes are side by side; padded to whole lanes.
    let padded = n.next_multiple_of(LANES);
    let mut columns = vec![0.0; padded * dims];
    for (i, row) in y.chunks_exact(dims).enumerate() {
        row.iter().enumerate().for_each(|(q, &value)| columns[q * padded + i] = value);
    }
    let rows = slope.par_chunks_mut(dims).enumerate();
    let values: Vec<f64> = rows
        .map(|(i, slope)| {
            let row = Row { lengths: &table[i * n..(i + 1) * n], factor, columns: &columns, padded, at: i, slope };
            pulp::Arch::new().dispatch(row)
        })
        .collect();
    slope.iter_mut().for_each(|slope| *slope /= n as f64);
    0.25 * values.iter().sum::<f64>() / n as f64
}

/// One row of the sum.
struct Row<'a, R> {
    lengths: &'a [R],
    factor: f64,
    columns: &'a [f64],
    padded: usize,
    at: usize,
    slope: &'a mut [f64],
}

impl<R: Real> pulp::WithSimd for Row<'_, R> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> f64 {
        let Row { lengths, factor, columns, padded, at, slope } = self;
        match slope.len() {
            1 => row::<R, 1>(lengths, factor, columns, padded, at, slope),
            2 => row::<R, 2>(lengths, factor, columns, padded, at, slope),
            3 => row::<R, 3>(lengths, factor, columns, padded, at, slope),
            _ => row_of_many(lengths, factor, columns, padded, at, slope),
        }
    }
}

/// Σⱼ (δ − d)², with Σⱼ (1 − δ/d) (y[i] − y[j]) written.
#[inline(always)]
fn row<R: Real, const D: usize>(
    lengths: &[R],
    factor: f64,
    columns: &[f64],
    padded: usize,
    at: usize,
    slope: &mut [f64],
) -> f64 {
    let own: [f64; D] = std::array::from_fn(|q| columns[q * padded + at]);
    let (mut pulls, mut sums) = ([[0.0; LANES]; D], [0.0; LANES]);
    for (block, start) in lengths.chunks(LANES).zip((0..).step_by(LANES)) {
        let mut wanted = [0.0; LANES];
        wanted.iter_mut().zip(block).for_each(|(wanted, length)| *wanted = length.widen() * factor);
        let mut away = [[0.0; LANES]; D];
        let mut square = [0.0; LANES];
        for q in 0..D {
            for l in 0..LANES {
                away[q][l] = own[q] - columns[q * padded + start + l];
                square[l] += away[q][l] * away[q][l];
            }
        }
        // The padding and the point itself add nothing.
        let used = block.len();
        let mut pull = [0.0; LANES];
        for l in 0..LANES {
            let distance = square[l].sqrt();
            let off = wanted[l] - distance;
            let counts = if l < used { 1.0 } else { 0.0 };
            sums[l] += counts * off * off;
            pull[l] = if distance > 0.0 { counts * (1.0 - wanted[l] / distance) } else { 0.0 };
        }
        for q in 0..D {
            for l in 0..LANES {
                pulls[q][l] += pull[l] * away[q][l];
            }
        }
    }
    slope.iter_mut().zip(&pulls).for_each(|(slope, pulls)| *slope = pulls.iter().sum());
    sums.iter().sum()
}

/// As [`row`], in any number of dimensions.
#[inline(always)]
fn row_of_many<R: Real>(
    lengths: &[R],
    factor: f64,
    columns: &[f64],
    padded: usize,
    at: usize,
    slope: &mut [f64],
) -> f64 {
    let own: Vec<f64> = (0..slope.len()).map(|q| columns[q * padded + at]).collect();
    slope.fill(0.0);
    let mut sum = 0.0;
    for (j, length) in lengths.iter().enumerate() {
        let (wanted, mut square) = (length.widen() * factor, 0.0);
        for (q, own) in own.iter().enumerate() {
            square += (own - columns[q * padded + j]).powi(2);
        }
        let distance = square.sqrt();
        sum += (wanted - distance).powi(2);
        let pull = if distance > 0.0 { 1.0 - wanted / distance } else { 0.0 };
        for (q, (slope, own)) in slope.iter_mut().zip(&own).enumerate() {
            *slope += pull * (own - columns[q * padded + j]);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(n: usize) -> Raw {
        let distance = |at: usize| {
            let (i, j) = ((at / n).min(at % n), (at / n).max(at % n));
            if i == j { 0.0 } else { 1.0 + ((i * 7 + j * 13) % 11) as f64 / 5.0 }
        };
        Raw::new(Square::Double((0..n * n).map(distance).collect()), n).unwrap()
    }

    #[test]
    fn the_slope_is_the_central_difference_in_any_dimension() {
        let n = 19;
        let raw = objective(n);
        for dims in 1..=5 {
            let y: Vec<f64> = (0..n * dims).map(|at| ((at * 37 + at * at) % 23) as f64 / 40.0).collect();
            let (mut slope, mut unused) = (vec![0.0; y.len()], vec![0.0; y.len()]);
            raw.value(&y, &mut slope);
            for at in (0..y.len()).step_by(5) {
                let mut moved = |step: f64| {
                    let mut y = y.clone();
                    y[at] += step;
                    raw.value(&y, &mut unused)
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((slope[at] - difference).abs() < 1e-7, "{dims}: {} {difference}", slope[at]);
            }
        }
    }

    /// Two points at distance 3 are placed at distance 3: by hand, one majorization step from anywhere.
    #[test]
    fn one_majorization_step_puts_two_points_right() {
        let raw = Raw::new(Square::Double(vec![0.0, 3.0, 3.0, 0.0]), 2).unwrap();
        let start = [0.0, 0.1];
        let mut slope = [0.0; 2];
        raw.value(&start, &mut slope);
        let step: Vec<f64> = start.iter().zip(slope).map(|(y, slope)| y - slope).collect();
        assert!(((step[1] - step[0]) * raw.unit - 3.0).abs() < 1e-12, "{step:?}");
        assert!(raw.value(&step, &mut slope).abs() < 1e-24);
    }

    #[test]
    fn majorization_never_raises_the_stress() {
        let raw = objective(40);
        let mut y: Vec<f64> = (0..80).map(|at| ((at * 29 + at * at) % 31) as f64 / 90.0).collect();
        let mut slope = vec![0.0; 80];
        let mut last = raw.value(&y, &mut slope);
        for _ in 0..50 {
            y.iter_mut().zip(&slope).for_each(|(y, slope)| *y -= slope);
            let next = raw.value(&y, &mut slope);
            assert!(next <= last * (1.0 + 1e-14), "{next} {last}");
            last = next;
        }
    }
}

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

mod sum;

use super::start;
use crate::coordinates;
use crate::error::{Error, Result};
use crate::field::scaling::isomap::Isomap;
use crate::field::scaling::mds::Mds;
use crate::field::{Build, Built, Descend, Info, InputKind, Site, Task, Way};
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
use sum::{Raw, Square};

/// Above this number of points the distances are kept in single precision; sums are always in double.
const SINGLE_ABOVE: usize = 4000;
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
    const METHOD: &'static str = "smacof";
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
            name: Self::METHOD,
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
            way: Way::QuasiNewton { diagonal: None },
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        });
        let mut built = Built::of(task, Rule::Stress(Stress { away: Away { measure, landmarks: None } }));
        built.used.extend(start::told(site));
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
        if let Some(given) = start::given(site)? {
            return Ok(given);
        }
        if self.init == StressInit::Random {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(site.seed);
            let size = unit / ((n * dims) as f64).sqrt();
            let values =
                (0..n * dims).map(|_| size * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng));
            return Points::new(n, dims, values.collect());
        }
        let mut built = match along {
            StressDistances::Direct => Mds::default().build(site)?,
            StressDistances::Geodesic => Isomap::default().build(site)?,
        };
        let mut start = coordinates::map(&mut built.task, dims, site.seed, site.memory, site.observer)?.coordinates;
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

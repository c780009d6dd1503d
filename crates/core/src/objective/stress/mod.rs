//! Stress: the map whose distances differ least from the given ones, or from any increasing function of them.
//!
//! ```text
//! minimize σ(Y) = Σ_{i<j} w[i,j] (δ[i,j] − ‖y[i] − y[j]‖)²,    w = 1, 1/δ or 1/δ²
//! ½ gradient/n = Y − G(Y) for w = 1,    G(Y)[i] = mean over j of  y[j] + δ[i,j] (y[i] − y[j]) / ‖y[i] − y[j]‖
//! ```
//!
//! G is the step of majorization (SMACOF): it never increases σ. The optimization takes it as the first step and
//! continues with limited-memory BFGS, which needs a fraction of the steps. It starts from classical scaling. Along the
//! edges of a graph (δ the lengths of shortest paths) the same objective draws the graph. With landmarks only m points
//! are embedded together, and each of the others is embedded where its own stress to them is minimal.
//!
//! J. de Leeuw. Applications of convex analysis to multidimensional scaling. In: Recent Developments in Statistics, 1977.
//! I. Borg, P. J. F. Groenen. Modern Multidimensional Scaling. Springer, 2005, chapters 8 and 9. Graphs: E. R. Gansner,
//! Y. Koren, S. North. Graph drawing by stress majorization. Graph Drawing, LNCS 3383, 2004.

mod monotone;
pub(crate) mod sammon;
mod sum;
mod table;

use super::start;
use crate::extend::{Away, Measure, Rule, Stress};
use crate::field::scaling::centered::Centered;
use crate::field::scaling::mds::{LANDMARKS, choose_landmarks};
use crate::field::scaling::pca::linear;
use crate::field::{
    Basis, Build, Built, Descend, Energy, Field, Info, InputKind, Site, Task, Way, landmarks_instead, usual_landmarks,
};
use crate::input::Data;
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use eigenfold_graph::Metric;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Stage;
use monotone::Monotone;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use sum::Weighted;
use table::Dissimilarities;

/// Stress by majorization and limited-memory BFGS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Smacof {
    /// Whether the distances count by their size or by their order.
    pub variant: StressVariant,
    /// The target distances; by default the direct ones, or for a supplied graph the distances along it.
    pub distances: Option<StressDistances>,
    /// The weight of each pair, for the metric variant.
    pub weight: StressWeight,
    /// How many points are embedded together; all of them by default.
    pub landmarks: Option<usize>,
    /// The start of the optimization.
    pub init: StressInit,
    /// The optimization stops when a step reduces the stress by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of evaluations.
    pub max_iterations: usize,
}

impl Default for Smacof {
    fn default() -> Smacof {
        Smacof {
            variant: StressVariant::Metric,
            distances: None,
            weight: StressWeight::One,
            landmarks: None,
            init: StressInit::Scaling,
            tolerance: 1e-8,
            max_iterations: 1000,
        }
    }
}

/// How the given distances count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StressVariant {
    /// By their size.
    #[default]
    Metric,
    /// By their order alone (nonmetric).
    Nonmetric,
}

/// The target distances of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StressDistances {
    /// Those of the metric, or the given ones.
    Direct,
    /// Those along the neighborhood graph.
    Geodesic,
}

/// The weight of a pair, by its distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StressWeight {
    /// Equal weights.
    #[default]
    One,
    /// 1/δ.
    Inverse,
    /// 1/δ².
    InverseSquare,
}

impl StressWeight {
    /// p, of the weight δ⁻ᵖ.
    fn power(self) -> u8 {
        match self {
            StressWeight::One => 0,
            StressWeight::Inverse => 1,
            StressWeight::InverseSquare => 2,
        }
    }
}

/// The start of the optimization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StressInit {
    /// Classical scaling of the same distances.
    Scaling,
    /// Random, by the seed.
    Random,
}

choices! {
    StressVariant {
        Metric: "metric", "the distances themselves";
        Nonmetric: "nonmetric" or "non-metric", "only the order of the distances (Kruskal)";
    }
}

choices! {
    StressDistances {
        Direct: "direct", "those of the metric, or the given ones";
        Geodesic: "geodesic", "shortest paths along the graph";
    }
}

choices! {
    StressWeight {
        One: "one", "all alike";
        Inverse: "inverse", "1/distance, so that short distances count more";
        InverseSquare: "inverse-square", "1/distance^2: relative errors, as for drawing graphs";
    }
}

choices! {
    StressInit {
        Scaling: "scaling", "classical scaling of the same distances";
        Random: "random", "random, by the seed";
    }
}

const DISTANCES: &str = "the target distances";
const DISTANCES_AUTO: &str = "direct, or geodesic if the input is a graph";
const TOGETHER: &str = "all points";
const INIT: &str = "the start of the optimization";
const TOLERANCE: &str = "stop when an iteration reduces the stress by less than this fraction";
const MAX_ITERATIONS: &str = "the maximum number of evaluations";

impl Table for Smacof {
    const METHOD: &'static str = "smacof";
    const TABLE: &'static [Parameter<Smacof>] = &[
        Parameter::new("variant", "metric or nonmetric stress", Kind::Choice(StressVariant::NAMES), field!(variant)),
        Parameter::new("distances", DISTANCES, Kind::Choice(StressDistances::NAMES), field!(distances))
            .auto(DISTANCES_AUTO),
        Parameter::new(
            "weight",
            "the weight of each pair of points",
            Kind::Choice(StressWeight::NAMES),
            field!(weight),
        )
        .with("variant", &["metric"]),
        Parameter::new("landmarks", LANDMARKS, Kind::at_least(3), field!(landmarks)).none(TOGETHER),
        Parameter::new("init", INIT, Kind::Choice(StressInit::NAMES), field!(init)),
        Parameter::new("tolerance", TOLERANCE, Kind::number(1e-15, 1.0), field!(tolerance)),
        Parameter::new("max-iterations", MAX_ITERATIONS, Kind::count(1, 1_000_000), field!(max_iterations)),
    ];
}

impl Build for Smacof {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["stress", "metric-mds", "mmds"],
            summary: "metric or nonmetric multidimensional scaling: minimizes the stress of the distances",
            title: "Metric MDS",
            good_for: "distances kept as well as the dimension allows, large ones first",
            caution: "Errors are spread over all distances: small distances may be far off.",
            basis: Basis::Objective,
            paper: "de Leeuw 1977; Kruskal 1964; graphs: Gansner, Koren & North 2004",
            accepts: InputKind::ALL,
            needs_graph: self.distances == Some(StressDistances::Geodesic),
            uses_metric: true,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        self.built(site, false)
    }
}

impl Smacof {
    /// The optimization; its value is a fraction of the maximum stress if `relative`.
    fn built(&self, site: &Site<'_>, relative: bool) -> Result<Built> {
        let (along, n) = (self.along(site.data)?, site.len());
        let landmarks = choose_landmarks(self.landmarks, n, site.seed)?;
        let m = landmarks.as_ref().map_or(n, Vec::len);
        if m <= site.dims {
            let least = site.dims + 1;
            return Err(Error::out_of_range(
                "landmarks",
                m,
                least..=n,
                format!("{m} `landmarks` span too few dimensions"),
                format!("use {least} or more"),
            ));
        }
        let pairs = if self.variant == StressVariant::Nonmetric { Monotone::memory(m) } else { 0 };
        site.afford("the matrix of distances", Dissimilarities::memory(m) + pairs, &way_out(n))?;
        let (dissimilarities, geodesics) = Dissimilarities::new(site, along, landmarks.as_deref())?;
        let start = self.start(site, landmarks.as_deref(), &dissimilarities)?;
        let (unit, power) = (dissimilarities.unit, self.weight.power());
        let (objective, diagonal): (Box<dyn Energy>, _) = match self.variant {
            StressVariant::Nonmetric => (Box::new(Monotone::new(&dissimilarities)), None),
            StressVariant::Metric => {
                let weighted = Weighted::new(dissimilarities, power, relative);
                let diagonal = weighted.degrees();
                (Box::new(weighted), diagonal)
            }
        };
        let measure = match along {
            StressDistances::Direct => Measure::Metric,
            StressDistances::Geodesic => Measure::Geodesic(site.graph()?.clone()),
        };
        let task = Task::Descend(Descend {
            unit,
            objective,
            start,
            way: Way::QuasiNewton { diagonal },
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            snapshots: 0,
        });
        let rule = Stress { away: Away { measure, landmarks }, power, disparities: Vec::new() };
        let mut built = Built { geodesics, ..Built::of(task, Rule::Stress(rule)) };
        built.used.extend(start::reported(site));
        if self.distances.is_none() {
            built.used.push(("distances", along.word().into()));
        }
        Ok(built)
    }

    /// Which distances this input has.
    fn along(&self, data: Data<'_>) -> Result<StressDistances> {
        match (self.distances, data) {
            (Some(StressDistances::Direct), Data::Graph(_)) => Err(Error::inapplicable(
                "distances",
                "a graph has distances along its edges only",
                "leave out `distances`",
            )),
            (None, Data::Graph(_)) => Ok(StressDistances::Geodesic),
            (distances, _) => Ok(distances.unwrap_or(StressDistances::Direct)),
        }
    }

    /// The start, one row per point that is embedded.
    fn start(&self, site: &Site<'_>, landmarks: Option<&[u32]>, dissimilarities: &Dissimilarities) -> Result<Points> {
        let (m, dims) = (dissimilarities.len(), site.dims);
        if let Some(start) = start::supplied(site)? {
            let rows = |landmarks: &[u32]| landmarks.iter().map(|&i| i as usize).collect::<Vec<_>>();
            return Ok(landmarks.map_or(start.clone(), |landmarks| start.select(&rows(landmarks))));
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(site.seed);
        let mut drawn = |size: f64| size * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, &mut rng);
        if self.init == StressInit::Random {
            let size = dissimilarities.unit / ((m * dims) as f64).sqrt();
            return Points::new(m, dims, (0..m * dims).map(|_| drawn(size)).collect());
        }
        let mut task = match site.data {
            Data::Points(points, Metric::Euclidean) if landmarks.is_none() && !dissimilarities.along_graph => {
                linear(points).task
            }
            _ => {
                let centered = Centered::from_squares(m, |i, j| dissimilarities.distance(i, j).powi(2), site.observer)?;
                Task::Spectral(Field::Covariance(Box::new(centered)))
            }
        };
        let mut start = site.map(&mut task, dims)?.coordinates;
        // Directions without variance in the scaling would stay empty: they get small random values.
        let empty: Vec<usize> = (0..dims).filter(|&q| (0..m).all(|i| start.row(i)[q] == 0.0)).collect();
        if !empty.is_empty() {
            let size = 1e-3 * dissimilarities.unit / (m as f64).sqrt();
            let mut values = start.into_values();
            for (_, value) in values.iter_mut().enumerate().filter(|(at, _)| empty.contains(&(at % dims))) {
                *value = drawn(size);
            }
            start = Points::new(m, dims, values)?;
        }
        site.observer.progress(Stage::Field, 1.0);
        Ok(start)
    }
}

/// The suggestion for a matrix that does not fit into memory.
fn way_out(n: usize) -> String {
    let landmarks = usual_landmarks(n);
    if Dissimilarities::memory(landmarks) < Dissimilarities::memory(n) {
        return landmarks_instead(n);
    }
    "raise `memory`".into()
}

//! UMAP: a fuzzy graph of the points, and the map whose fuzzy graph minimizes the cross entropy to it.
//!
//! ```text
//! E(Y) = Σ w[i,j] log(1 + a sᵇ)  +  λ Σ over all pairs of  −log(1 − 1/(1 + a sᵇ)),   s = ‖y[i] − y[j]‖²,   λ = r d / 2n
//! ```
//!
//! over ordered pairs; d is the mean degree and r the number of negative samples per positive sample. The reference
//! implementation draws these samples at random; here every pair repels with its expected strength, so that there is
//! one function to minimize. In up to two dimensions its repulsion is summed without noise; in more dimensions over
//! points that are sampled at every step (`forces/repulsion/sampled.rs`).
//!
//! L. McInnes, J. Healy, J. Melville. UMAP: uniform manifold approximation and projection for dimension reduction.
//! arXiv:1802.03426, 2018. What sampling makes of the cross entropy: S. Damrich, F. A. Hamprecht. On UMAP's true loss
//! function. NeurIPS 2021.

use super::interaction::{Form, Interaction, of_size};
use super::neighborhood::ALMOST_ALL;
use super::start::{Init, reported};
use crate::extend::{AffinityRule, Attracted, RepulsionForm, Rule};
use crate::field::{Basis, Build, Built, Descend, Info, InputKind, Site, Task, Way};
use crate::forces::repulsion::{Accuracy, RepulsionSum};
use crate::forces::{AttractionKernel, Pairs, Shape, fuzzy};
use crate::parameter::{Choice, Kind, Parameter, Table, field};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Momentum, Phase};
use serde::{Deserialize, Serialize};

/// The spacing of the grid.
const SPACING: f64 = 0.2;
/// The standard deviation of the start along its first axis.
const SIZE: f64 = 4.0;
/// The maximum step length of a point.
const CAP: f64 = 5.0;
const INERTIA: f64 = 0.9;
const RATE: f64 = 0.3;
/// The factor of the attraction at first; it falls to one over the first third of the steps. Parts of a cluster that
/// are separate at the start can then join before the repulsion separates them.
const TOGETHER: f64 = 4.0;

/// UMAP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Umap {
    /// The minimum distance of points on the map.
    pub min_dist: f64,
    /// The distance on the map of points that are barely neighbors.
    pub spread: f64,
    /// The number of negative samples per attractive one.
    pub repulsion: f64,
    /// The weight of the classes, from 0 (none) to 1.
    pub supervision: f64,
    /// How the repulsion is summed.
    pub accuracy: Accuracy,
    /// The start of the optimization.
    pub init: Init,
    /// The optimization stops when 25 steps reduce the objective by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of steps.
    pub max_iterations: usize,
}

impl Default for Umap {
    fn default() -> Umap {
        Umap {
            min_dist: 0.1,
            spread: 1.0,
            repulsion: 5.0,
            supervision: 0.0,
            accuracy: Accuracy::Fast,
            init: Init::Pca,
            tolerance: 1e-3,
            max_iterations: 300,
        }
    }
}

impl Table for Umap {
    const METHOD: &'static str = "umap";
    const TABLE: &'static [Parameter<Umap>] = &[
        Parameter::new(
            "min-dist",
            "the minimum distance between points on the map",
            Kind::number(0.0, 100.0),
            field!(min_dist),
        ),
        Parameter::new(
            "spread",
            "the distance on the map between points that are barely neighbors",
            Kind::number(1e-3, 1000.0),
            field!(spread),
        ),
        Parameter::new(
            "negatives",
            "the number of negative samples per positive sample",
            Kind::number(0.01, 1000.0),
            field!(repulsion),
        ),
        Parameter::new(
            "supervision",
            "the weight of the labels relative to the distances; 0 = none",
            Kind::number(0.0, 1.0),
            field!(supervision),
        ),
        Parameter::new(
            "accuracy",
            "how the repulsive forces are summed",
            Kind::Choice(Accuracy::NAMES),
            field!(accuracy),
        ),
        Parameter::new("init", "the start of the optimization", Kind::Choice(Init::NAMES), field!(init)),
        Parameter::new(
            "tolerance",
            "report convergence if the last 25 iterations reduce the objective by less than this fraction",
            Kind::number(0.0, 1.0),
            field!(tolerance),
        ),
        Parameter::new(
            "max-iterations",
            "the maximum number of iterations",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Build for Umap {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &[],
            summary: "neighbor embedding of a fuzzy neighborhood graph",
            title: "UMAP",
            good_for: "a picture of groups, for very many points",
            caution: "Sizes of groups and gaps between them mean little; how tight they look depends on `min-dist`, not on the data.",
            basis: Basis::Objective,
            paper: "McInnes, Healy & Melville 2018",
            accepts: InputKind::ALL,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn is_supervised(&self) -> bool {
        self.supervision > 0.0
    }

    fn recall(&self) -> f64 {
        ALMOST_ALL
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        if self.min_dist > self.spread {
            let fact = format!("`min-dist` {} is more than `spread` {}", self.min_dist, self.spread);
            return Err(Error::parameter("min-dist", fact, "use a smaller `min-dist` or a larger `spread`"));
        }
        let (graph, n, dims) = (site.graph()?, site.len(), site.dims);
        let mut pairs: Pairs<f64> = Pairs::symmetric(graph, &fuzzy::weights(graph), |a, b| a + b - a * b);
        if self.supervision > 0.0 {
            pairs = fuzzy::supervised(pairs, self.classes(site)?, self.supervision);
        }
        let degrees = pairs.degrees();
        let mean = degrees.iter().sum::<f64>() / n as f64;
        let (a, b) = fuzzy::shape(self.min_dist, self.spread);
        let (attraction, shape) = (AttractionKernel::Umap(a, b), Shape::Umap(a, b));
        let repulsion = || RepulsionSum::of_umap((a, b), n, dims, SPACING, self.accuracy, site.seed);
        let lambda = 0.5 * self.repulsion * mean / n as f64;
        let (steps, together) = (self.max_iterations, self.max_iterations / 3);
        let momentum = Momentum {
            phases: vec![
                Phase { steps: together, emphasis: (TOGETHER, 1.0), inertia: INERTIA },
                Phase { steps: steps - together, emphasis: (1.0, 1.0), inertia: INERTIA },
            ],
            rate: RATE,
            last_rate: 0.0,
            // The gradient per unit of attraction.
            scales: degrees.iter().map(|degree| 0.5 / degree.max(1e-3 * mean)).collect(),
            cap: CAP,
            dims,
            decrease: self.tolerance,
        };
        let task = Task::Descend(Descend {
            objective: of_size(
                n,
                || Ok(Interaction::new(pairs.clone(), attraction, repulsion(), Form::Sum(lambda), dims)),
                || Ok(Interaction::new(pairs.rounded(), attraction, repulsion(), Form::Sum(lambda), dims)),
            )?,
            start: self.init.start_by(&pairs, site, SIZE)?,
            unit: 1.0,
            way: Way::Momentum(momentum),
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            snapshots: 0,
        });
        let rule = Attracted {
            affinity: AffinityRule::Fuzzy,
            attraction,
            shape,
            repulsion: RepulsionForm::Sum(lambda),
            away: None,
        };
        let mut built = Built::of(task, Rule::Attracted(rule));
        built.used.extend(reported(site));
        Ok(built)
    }
}

impl Umap {
    /// The classes that supervise the map.
    fn classes<'a>(&self, site: &Site<'a>) -> Result<&'a [Option<u32>]> {
        site.labels.ok_or_else(|| {
            let fact =
                format!("`supervision` {} uses the classes of the points, and none were given", self.supervision);
            Error::parameter(
                "supervision",
                fact,
                "give a `label` with few different values, or leave out `supervision`",
            )
        })
    }
}

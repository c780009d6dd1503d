//! t-SNE: neighbors stay neighbors, and all points repel each other with long tails, so that clusters separate.
//!
//! ```text
//! minimize KL(P ‖ Q) = Σ p[i,j] log(p[i,j] / q[i,j]),   q[i,j] = k(‖y[i] − y[j]‖²) / Σ k,   k(s) = (1 + s/ν)^(−(ν+1)/2)
//! gradient = 4 Σⱼ p[i,j] a′ (y[i] − y[j]) + (2/Z) ∇φ(y[i]),   φ(y) = Σⱼ k(‖y − y[j]‖²),   Z = Σᵢ φ(y[i])
//! ```
//!
//! P are the entropic affinities of a perplexity, symmetrized. The optimization starts from the first principal
//! components, scaled very small, with a stronger attraction at first (early exaggeration), so that clusters form
//! before they separate.
//!
//! L. van der Maaten, G. Hinton. Visualizing data using t-SNE. JMLR 9, 2008. The start: D. Kobak, P. Berens. The art of
//! using t-SNE for single-cell transcriptomics. Nature Communications 10, 2019. The step, n over the exaggeration:
//! A. C. Belkina et al. Automated optimized parameters for t-distributed stochastic neighbor embedding. Nature
//! Communications 10, 2019. Degrees of freedom: D. Kobak, G. Linderman, S. Steinerberger, Y. Kluger, P. Berens.
//! Heavy-tailed kernels reveal a finer cluster structure in t-SNE visualisations. ECML PKDD 2019.

use super::interaction::{Form, Interaction, of_size};
use super::neighborhood::{ALMOST_ALL, AUTO, Affinities, FORM, Perplexity};
use super::start::{Init, reported};
use crate::extend::{AffinityRule, Attracted, RepulsionForm, Rule};
use crate::field::{Basis, Build, Built, Descend, Info, InputKind, Nearest, Site, Task, Way};
use crate::forces::repulsion::{Accuracy, RepulsionSum};
use crate::forces::{AttractionKernel, Kernel, Real, Shape};
use crate::input::Data;
use crate::parameter::{Choice, Kind, Parameter, Table, field};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::optimize::{Momentum, Phase};
use serde::{Deserialize, Serialize};

/// The spacing of the grid: a finer one takes longer without changing the map.
const SPACING: f64 = 0.667;
/// The standard deviation of the start along its first axis.
const SMALL: f64 = 1e-4;
/// The maximum step length of a point.
const CAP: f64 = 5.0;
/// Steps with the full exaggeration, and with decreasing exaggeration.
const EARLY: (usize, usize) = (20, 30);

/// t-SNE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tsne {
    /// The effective number of neighbors, or several; 30 by default, less for few points.
    pub perplexity: Perplexity,
    /// The factor of the attraction at first.
    pub exaggeration: f64,
    /// The degrees of freedom of Student's distribution: fewer separate the clusters more.
    pub degrees: f64,
    /// How the repulsion is summed.
    pub accuracy: Accuracy,
    /// The start of the optimization.
    pub init: Init,
    /// The optimization stops when 25 steps reduce the divergence by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of steps.
    pub max_iterations: usize,
}

impl Default for Tsne {
    fn default() -> Tsne {
        Tsne {
            perplexity: Perplexity::default(),
            exaggeration: 12.0,
            degrees: 1.0,
            accuracy: Accuracy::Fast,
            init: Init::Pca,
            tolerance: 5e-3,
            max_iterations: 500,
        }
    }
}

impl Table for Tsne {
    const METHOD: &'static str = "tsne";
    const TABLE: &'static [Parameter<Tsne>] = &[
        Parameter::new(
            "perplexity",
            "the effective number of neighbors",
            Kind::Text { form: FORM },
            field!(perplexity),
        )
        .auto(AUTO),
        Parameter::new(
            "exaggeration",
            "the factor of the attractive forces in the first iterations (early exaggeration)",
            Kind::number(1.0, 1000.0),
            field!(exaggeration),
        ),
        Parameter::new(
            "degrees",
            "degrees of freedom of Student's t distribution; fewer separate clusters more",
            Kind::number(0.1, 1000.0),
            field!(degrees),
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
            "stop when 25 iterations reduce the KL divergence by less than this fraction",
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

impl Build for Tsne {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["t-sne"],
            summary: "neighbor embedding with Student's t distribution, which separates clusters",
            title: "t-SNE",
            good_for: "a picture of groups and local neighborhoods",
            caution: "Sizes of groups, gaps between them and their positions mean little; noise can form groups too.",
            basis: Basis::Objective,
            paper: "van der Maaten & Hinton 2008",
            accepts: InputKind::ALL,
            needs_graph: false,
            uses_metric: true,
        }
    }

    fn nearest(&self, data: Data<'_>) -> Result<Option<Nearest>> {
        self.perplexity.nearest(data)
    }

    fn recall(&self) -> f64 {
        ALMOST_ALL
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let affinities = Affinities::new(site, &self.perplexity)?;
        let (n, dims) = (site.len(), site.dims);
        let (attraction, shape) = (AttractionKernel::Student(self.degrees), Shape::Student(self.degrees));
        let objective = of_size(n, || self.objective(&affinities, n, dims), || self.objective(&affinities, n, dims))?;
        let task = Task::Descend(Descend {
            objective,
            start: self.init.start(site, SMALL)?,
            unit: 1.0,
            way: Way::Momentum(self.schedule(n, dims)),
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            snapshots: 0,
        });
        let affinity = AffinityRule::Perplexity(affinities.perplexity.0.clone());
        let rule = Attracted { affinity, attraction, shape, repulsion: RepulsionForm::LogSum(1.0), away: None };
        let mut built = Built::of(task, Rule::Attracted(rule));
        built.used.extend(reported(site));
        built.neighbors = Some((affinities.graph.edge_count() / n).max(1));
        if self.perplexity.0.is_empty() {
            built.used.push(("perplexity", affinities.perplexity.to_string()));
        }
        Ok(built)
    }
}

impl Tsne {
    fn objective<T: Real>(&self, affinities: &Affinities, n: usize, dims: usize) -> Result<Interaction<T>> {
        let (pairs, entropy) = affinities.joint();
        let kernel = Kernel::of(Shape::Student(self.degrees));
        let repulsion = RepulsionSum::of(kernel, n, dims, SPACING, self.accuracy);
        let mut objective =
            Interaction::new(pairs, AttractionKernel::Student(self.degrees), repulsion, Form::LogSum(1.0), dims);
        objective.constant = entropy;
        Ok(objective)
    }

    /// The exaggeration, its decrease, and the rest.
    fn schedule(&self, n: usize, dims: usize) -> Momentum {
        let (early, fading) =
            (EARLY.0.min(self.max_iterations), EARLY.1.min(self.max_iterations.saturating_sub(EARLY.0)));
        let phases = vec![
            Phase { steps: early, emphasis: (self.exaggeration, self.exaggeration), inertia: 0.9 },
            Phase { steps: fading, emphasis: (self.exaggeration, 1.0), inertia: 0.97 },
            Phase { steps: self.max_iterations - early - fading, emphasis: (1.0, 1.0), inertia: 0.97 },
        ];
        let rate = n as f64;
        Momentum { phases, rate, last_rate: rate, scales: Vec::new(), cap: CAP, dims, decrease: self.tolerance }
    }
}

//! Stochastic neighbor embedding: stochastic neighbor embedding: matches the neighbor probabilities of the data.
//!
//! ```text
//! sne            minimize Σᵢ KL(P[·|i] ‖ Q[·|i]),   q[j|i] = exp(−s[i,j]) / Σⱼ exp(−s[i,j])
//! symmetric-sne  minimize KL(P ‖ Q),                q[i,j] = exp(−s[i,j]) / Σ over all pairs
//! ```
//!
//! with s the squared distance on the map. Expanded, either is an attraction Σ p s and λ times a repulsion, the
//! logarithm of a sum of exp(−s); λ = 1 is the divergence itself, larger values spread the map (Carreira-Perpiñán 2010,
//! section 5).
//! UNI-SNE mixes a uniform distribution into Q, so that unlikely neighbors need not be far apart.
//!
//! G. E. Hinton, S. T. Roweis. Stochastic neighbor embedding. NIPS 15, 2002. The symmetric form and UNI-SNE: J. A. Cook,
//! I. Sutskever, A. Mnih, G. E. Hinton. Visualizing similarity data with a mixture of maps. AISTATS 2007. The relation to
//! Laplacian eigenmaps: M. Á. Carreira-Perpiñán. The elastic embedding algorithm for dimensionality reduction. ICML 2010.

use super::interaction::{Form, Interaction, of_size};
use super::neighborhood::{ALMOST_ALL, AUTO, Affinities, FORM, Perplexity};
use super::start::{Init, reported};
use crate::extend::{AffinityRule, Attracted, RepulsionForm, Rule};
use crate::field::{Basis, Build, Built, Descend, Info, InputKind, Nearest, Site, Task, Way};
use crate::forces::repulsion::{Accuracy, RepulsionSum};
use crate::forces::{AttractionKernel, Kernel, Pairs, Shape};
use crate::input::Data;
use crate::parameter::{Choice, Kind, Parameter, Table, field};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::optimize::{Momentum, Phase};
use serde::{Deserialize, Serialize};

/// The spacing of the grid.
const SPACING: f64 = 0.5;
/// The standard deviation of the start along its first axis.
const SIZE: f64 = 0.1;
/// The maximum step length of a point.
const CAP: f64 = 5.0;
const INERTIA: f64 = 0.95;
const RATE: f64 = 0.4;

/// Stochastic neighbor embedding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sne {
    /// The effective number of neighbors, or several.
    pub perplexity: Perplexity,
    /// The strength of the repulsion.
    pub lambda: f64,
    /// How the repulsion is summed.
    pub accuracy: Accuracy,
    /// The start of the optimization.
    pub init: Init,
    /// The optimization stops when 25 steps reduce the objective by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of steps.
    pub max_iterations: usize,
}

/// Symmetric stochastic neighbor embedding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SymmetricSne {
    /// The effective number of neighbors, or several.
    pub perplexity: Perplexity,
    /// The strength of the repulsion.
    pub lambda: f64,
    /// The uniform share of the map's affinities (UNI-SNE); 0 for none.
    pub uniform: f64,
    /// How the repulsion is summed.
    pub accuracy: Accuracy,
    /// The start of the optimization.
    pub init: Init,
    /// The optimization stops when 25 steps reduce the objective by less than this fraction.
    pub tolerance: f64,
    /// The maximum number of steps.
    pub max_iterations: usize,
}

impl Default for Sne {
    fn default() -> Sne {
        let (perplexity, init) = (Perplexity::default(), Init::Pca);
        Sne { perplexity, lambda: 1.0, accuracy: Accuracy::Fast, init, tolerance: 2e-3, max_iterations: 500 }
    }
}

impl Default for SymmetricSne {
    fn default() -> SymmetricSne {
        let Sne { perplexity, lambda, accuracy, init, tolerance, max_iterations } = Sne::default();
        SymmetricSne { perplexity, lambda, uniform: 0.0, accuracy, init, tolerance, max_iterations }
    }
}

const PERPLEXITY: &str = "the effective number of neighbors";
const LAMBDA: &str = "the strength of the repulsion";
const TOLERANCE: &str = "stop when 25 iterations reduce the KL divergence by less than this fraction";

impl Table for Sne {
    const METHOD: &'static str = "sne";
    const TABLE: &'static [Parameter<Sne>] = &[
        Parameter::new("perplexity", PERPLEXITY, Kind::Text { form: FORM }, field!(perplexity)).auto(AUTO),
        Parameter::new("lambda", LAMBDA, Kind::number(1e-6, 1e6), field!(lambda)),
        Parameter::new(
            "accuracy",
            "how the repulsive forces are summed",
            Kind::Choice(Accuracy::NAMES),
            field!(accuracy),
        ),
        Parameter::new("init", "the start of the optimization", Kind::Choice(Init::NAMES), field!(init)),
        Parameter::new("tolerance", TOLERANCE, Kind::number(0.0, 1.0), field!(tolerance)),
        Parameter::new(
            "max-iterations",
            "the maximum number of iterations",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Table for SymmetricSne {
    const METHOD: &'static str = "symmetric-sne";
    const TABLE: &'static [Parameter<SymmetricSne>] = &[
        Parameter::new("perplexity", PERPLEXITY, Kind::Text { form: FORM }, field!(perplexity)).auto(AUTO),
        Parameter::new("lambda", LAMBDA, Kind::number(1e-6, 1e6), field!(lambda)),
        Parameter::new(
            "uniform",
            "the uniform share of the affinities on the map, as in UNI-SNE; 0 = none",
            Kind::number(0.0, 0.99),
            field!(uniform),
        ),
        Parameter::new(
            "accuracy",
            "how the repulsive forces are summed",
            Kind::Choice(Accuracy::NAMES),
            field!(accuracy),
        ),
        Parameter::new("init", "the start of the optimization", Kind::Choice(Init::NAMES), field!(init)),
        Parameter::new("tolerance", TOLERANCE, Kind::number(0.0, 1.0), field!(tolerance)),
        Parameter::new(
            "max-iterations",
            "the maximum number of iterations",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Build for Sne {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &[],
            summary: "stochastic neighbor embedding: matches the neighbor probabilities of the data",
            title: "SNE",
            ..info()
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
        let weights = &affinities.weights;
        let pairs = Pairs::symmetric(&affinities.graph, weights, |a, b| 0.5 * (a + b));
        let entropy = weights.iter().filter(|&&p| p > 0.0).map(|p| p * p.ln()).sum();
        let task = Descent {
            pairs,
            entropy,
            form: Form::LogSumRows(self.lambda),
            accuracy: self.accuracy,
            init: self.init,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        };
        task.built(site, &affinities, self.perplexity.0.is_empty(), self.lambda)
    }
}

impl Build for SymmetricSne {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["ssne"],
            summary: "SNE with one joint distribution over all pairs, and UNI-SNE",
            title: "Symmetric SNE",
            ..info()
        }
    }

    fn nearest(&self, data: Data<'_>) -> Result<Option<Nearest>> {
        self.perplexity.nearest(data)
    }

    fn recall(&self) -> f64 {
        ALMOST_ALL
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        if self.uniform > 0.0 && self.lambda != 1.0 {
            return Err(Error::inapplicable("lambda", "UNI-SNE has no `lambda`", "leave it out, or `uniform`"));
        }
        let affinities = Affinities::new(site, &self.perplexity)?;
        let (pairs, entropy) = affinities.joint();
        let form = if self.uniform > 0.0 { Form::Uniform(self.uniform) } else { Form::LogSum(self.lambda) };
        let task = Descent {
            pairs,
            entropy,
            form,
            accuracy: self.accuracy,
            init: self.init,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        };
        task.built(site, &affinities, self.perplexity.0.is_empty(), self.lambda)
    }
}

/// The description that both share.
fn info() -> Info {
    Info {
        name: "",
        aliases: &[],
        summary: "",
        title: "",
        good_for: "the arrangement of groups, without exaggerated gaps",
        caution: "Groups are crowded in the middle; the gaps between them depend on the perplexity as much as on the data.",
        basis: Basis::Objective,
        paper: "Hinton & Roweis 2002; Cook et al. 2007",
        accepts: InputKind::ALL,
        needs_graph: false,
        uses_metric: true,
    }
}

/// Shared by both.
struct Descent {
    pairs: Pairs<f64>,
    entropy: f64,
    form: Form,
    accuracy: Accuracy,
    init: Init,
    tolerance: f64,
    max_iterations: usize,
}

impl Descent {
    fn built(self, site: &Site<'_>, affinities: &Affinities, chosen: bool, lambda: f64) -> Result<Built> {
        let (n, dims) = (site.len(), site.dims);
        let momentum = Momentum {
            phases: vec![Phase { steps: self.max_iterations, emphasis: (1.0, 1.0), inertia: INERTIA }],
            rate: RATE,
            last_rate: RATE,
            scales: self.pairs.degrees().iter().map(|degree| 1.0 / degree.max(f64::MIN_POSITIVE)).collect(),
            cap: CAP,
            dims,
            decrease: self.tolerance,
        };
        let shape = Shape::Gaussian;
        let repulsion = || RepulsionSum::of(Kernel::of(shape), n, dims, SPACING, self.accuracy);
        let objective = of_size(
            n,
            || {
                Ok(Interaction::new(self.pairs.clone(), AttractionKernel::Square, repulsion(), self.form, dims)
                    .plus(self.entropy))
            },
            || {
                Ok(Interaction::new(self.pairs.rounded(), AttractionKernel::Square, repulsion(), self.form, dims)
                    .plus(self.entropy))
            },
        )?;
        let task = Task::Descend(Descend {
            objective,
            start: self.init.start(site, SIZE)?,
            unit: 1.0,
            way: Way::Momentum(momentum),
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            snapshots: 0,
        });
        let affinity = AffinityRule::Perplexity(affinities.perplexity.0.clone());
        let repulsion = if let Form::Uniform(part) = self.form {
            RepulsionForm::Uniform(part)
        } else {
            RepulsionForm::LogSum(lambda)
        };
        let rule = Attracted { affinity, attraction: AttractionKernel::Square, shape, repulsion, away: None };
        let mut built = Built::of(task, Rule::Attracted(rule));
        built.used.extend(reported(site));
        built.neighbors = Some((affinities.graph.edge_count() / n).max(1));
        if chosen {
            built.used.push(("perplexity", affinities.perplexity.to_string()));
        }
        Ok(built)
    }
}

//! Dimensionality reduction through regularization of the inverse covariance in the log likelihood (DRILL): the field's
//! precision is a matrix T on the graph, found by maximum likelihood with an L1 penalty.
//!
//! ```text
//! minimize −log det T + tr S T + α Σ_{i≠j} |T[i,j]|,    S = X̃ X̃ᵀ/p + ε s̄ I,    s̄ the mean of the diagonal of X̃ X̃ᵀ/p
//! ```
//!
//! Entries that the penalty drives to zero leave the graph, so that the graph is learned as well. Without a penalty (α = 0)
//! the covariance W = T⁻¹ agrees with S on all edges, and so do the expected distances. A maximum exists only where S
//! has full rank on the cliques of the graph, hence the default ridge ε. The coordinates are the top eigenvectors of p
//! H W H.
//!
//! N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction: insights and new models.
//! JMLR 13, 2012, section 3. (Its penalty ρ on Σ_{i<j} is α = ρ/p here; the released code penalizes the diagonal as well.)

mod fit;
mod lasso;
pub(crate) mod penalty;

use crate::ended::Ended;
use crate::extend::Rule;
use crate::field::entropy::drill::fit::Fitted;
use crate::field::entropy::drill::lasso::{Minimum, Support};
use crate::field::entropy::drill::penalty::{FORM, Penalty};
use crate::field::{Basis, Build, Built, Field, Info, InputKind, Regraph, Site, Weight, shown};
use crate::figure::Figure;
use crate::input::regression::REGULARIZATION;
use crate::input::{Data, Measured};
use crate::parameter::{Kind, Parameter, Table, field};
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Disconnected, Found, Graph, Search};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use eigenfold_linalg::progress::{Observer, Share, Stage};
use serde::{Deserialize, Serialize};

/// The value of [`Found::route`] for a learned graph.
const ROUTE: &str = "learned";

/// DRILL.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drill {
    /// α, the strength of the penalty.
    pub penalty: Penalty,
    /// ε, the variance added to the diagonal, as a fraction of the mean variance.
    pub ridge: f64,
    /// Whether the diagonal is penalized as well.
    pub penalize_diagonal: bool,
    /// The duality gap per point at which the optimizer stops.
    pub tolerance: f64,
    /// The maximum number of Newton steps for one penalty.
    pub max_iterations: usize,
}

impl Default for Drill {
    fn default() -> Drill {
        Drill { penalty: Penalty::Auto, ridge: 0.1, penalize_diagonal: false, tolerance: 1e-6, max_iterations: 200 }
    }
}

/// One penalty of a path and its result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathStep {
    /// α.
    pub penalty: f64,
    /// The number of edges that remain.
    pub edges: usize,
    /// The duality gap per point.
    pub gap: f64,
    /// The held-out log likelihood of features left out of the graph and of the fit, summed over all folds.
    pub held_out: f64,
}

/// Diagnostics of a learned graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnedGraph {
    /// The penalty that was used.
    pub penalty: f64,
    /// The number of candidate edges.
    pub candidates: usize,
    /// The number of edges that remain.
    pub kept: usize,
    /// The duality gap per point.
    pub gap: f64,
    /// Whether the gap is within the tolerance.
    pub converged: bool,
}

impl Table for Drill {
    const METHOD: &'static str = "drill";
    const TABLE: &'static [Parameter<Drill>] = &[
        Parameter::new(
            "penalty",
            "the L1 penalty; of a path, the value with the best held-out log likelihood is used",
            Kind::Text { form: FORM },
            field!(penalty),
        )
        .auto("1 % of the mean variance"),
        Parameter::new(
            "ridge",
            "the variance added to the diagonal, as a fraction of the mean variance",
            Kind::number(0.0, 1e6),
            field!(ridge),
        ),
        Parameter::new(
            "penalize-diagonal",
            "whether the diagonal is penalized as well",
            Kind::Switch,
            field!(penalize_diagonal),
        ),
        Parameter::new("tolerance", "stop at this duality gap per point", Kind::number(1e-12, 1.0), field!(tolerance)),
        Parameter::new(
            "max-iterations",
            "the maximum number of iterations for one penalty",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Build for Drill {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["graphical-lasso", "glasso"],
            summary: "graphical lasso over the points: a sparse precision matrix that selects the neighbors",
            title: "DRILL",
            good_for: "learning which neighbors matter, with a likelihood and a duality gap",
            caution: "The penalty decides how many edges are left; distances between groups have little meaning.",
            basis: Basis::Precision,
            paper: "Lawrence 2012, section 3",
            accepts: InputKind::MEASURED,
            needs_graph: true,
            uses_metric: true,
        }
    }

    /// The field is fitted.
    fn efforts(&self) -> [f64; 3] {
        [1.0, 18.0, 1.0]
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let data = site.measured("drill")?;
        let union = site.graph()?.union();
        let support = Support::new(&union);
        let fitted = self.fit(data, &support, site.regraph, site.memory, site.observer)?;
        let features = data.features().unwrap_or(1) as f64;
        let found = &fitted.minimum;
        let matrix = support.sparsest(&found.values);
        let active = (matrix.entry_count() - support.n) / 2;
        let mut built = Built::new(Field::Definite { matrix, features }, Rule::barycenter(REGULARIZATION));
        built.neighbors = Some((2 * active).div_ceil(support.n).max(1));
        built.log_likelihood = site.data.points().map(|_| fitted.log_likelihood(&support, features));
        let edges = union.pairs().zip(&found.values[support.n..]);
        let weight = |((i, j, distance), value): ((u32, u32, f64), &f64)| Weight { i, j, distance, weight: -value };
        built.weights = Some(edges.map(weight).collect());
        let converged = found.gap <= self.tolerance && !fitted.stopped;
        built.ended = Ended::of(converged, fitted.stopped);
        built.used.push(("penalty", shown(fitted.penalty)));
        built.path = fitted.path;
        built.figures = vec![
            (Figure::Gap, found.gap),
            (Figure::Evaluations, found.products as f64),
            (Figure::Edges, support.ends.len() as f64),
            (Figure::ActiveEdges, active as f64),
            (Figure::Objective, found.value),
        ];
        if fitted.stopped {
            built.warnings.push(Warning::Stopped(stopped(found, self.tolerance)));
        } else if !converged {
            built.warnings.push(Warning::NotConverged(unmet(found, self.tolerance)));
        }
        Ok(built)
    }
}

fn unmet(found: &Minimum, tolerance: f64) -> String {
    let steps = found.steps;
    format!(
        "the duality gap is {}, above the tolerance of {tolerance:.1e}, after {steps} steps; a larger `ridge` helps",
        gap_of(found)
    )
}

fn stopped(found: &Minimum, tolerance: f64) -> String {
    let (gap, steps) = (gap_of(found), found.steps);
    format!(
        "stopped before it converged: the duality gap is {gap} after {steps} steps, and the tolerance is {tolerance:.1e}"
    )
}

fn gap_of(found: &Minimum) -> String {
    if found.gap.is_finite() { format!("{:.1e} per point", found.gap) } else { "not known".into() }
}

impl Drill {
    /// Stage 1: of the neighbors that a search finds among points or by their distances, those whose entry in the
    /// precision is not zero. Uses at most `memory` bytes, or most of the free memory of the machine.
    ///
    /// # Errors
    ///
    /// As the search; if the input is neither points nor distances, the work would exceed the memory limit, or a path
    /// of penalties has no features for cross-validation.
    pub fn graph<'a>(
        &self,
        search: &Search,
        data: impl Into<Data<'a>>,
        memory: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<(Found, LearnedGraph)> {
        data.into().whitened(|data| self.graph_on(search, data, memory, observer))
    }

    /// As [`Drill::graph`], with the metric of the data.
    fn graph_on(
        &self,
        search: &Search,
        data: Data<'_>,
        memory: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<(Found, LearnedGraph)> {
        let measured = data.measured().ok_or_else(|| {
            let fact = "a graph is learned from points or distances";
            Error::input_kind(&["points", "distances"], fact, "give one of them, or leave out `graph` learned")
        })?;
        let apart = Search { disconnected: Disconnected::Separate, ..search.clone() };
        let [first, rest] = Share::split(observer, [1.0, 9.0]);
        let candidates = data.neighbors(&apart, &first)?.graph;
        let rest = rest.of_stage(Stage::Field);
        let metric = if let Measured::Points(_, metric) = measured { metric } else { search.metric };
        let regraph = |points: &Points| Ok(Data::Points(points, metric).neighbors(&apart, &rest)?.graph);
        let (graph, learned) = self.learn(measured, &candidates, &regraph, memory, &rest)?;
        Ok((Found { route: ROUTE, ..data.joined(search, graph, observer)? }, learned))
    }

    fn learn(
        &self,
        data: Measured<'_>,
        candidates: &Graph,
        regraph: &Regraph<'_>,
        memory: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<(Graph, LearnedGraph)> {
        let union = candidates.union();
        let support = Support::new(&union);
        let Fitted { minimum: found, penalty, stopped, .. } =
            self.fit(data, &support, Some(regraph), memory.unwrap_or_else(memory::available), observer)?;
        let mut lists = vec![Vec::new(); support.n];
        for ((i, j, length), value) in union.pairs().zip(&found.values[support.n..]) {
            if *value != 0.0 {
                lists[i as usize].push((j, length));
                lists[j as usize].push((i, length));
            }
        }
        let converged = found.gap <= self.tolerance && !stopped;
        let kept = found.values[support.n..].iter().filter(|value| **value != 0.0).count();
        let learned = LearnedGraph { penalty, candidates: support.ends.len(), kept, gap: found.gap, converged };
        Ok((Graph::from_lists(lists)?, learned))
    }
}

#[cfg(test)]
mod tests;

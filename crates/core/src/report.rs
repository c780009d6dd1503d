//! What a fit did and how well.

use crate::coordinates::Diagnostics;
use crate::ended::Ended;
use crate::field::unfolding::{Bracket, Rescaling};
use crate::field::{LearnedGraph, PathStep};
use crate::figure::Figure;
use crate::likelihood::Observation;
use crate::warning::Warning;
use eigenfold_graph::Found;
use eigenfold_graph::distances::Completion;
use serde::{Deserialize, Serialize};

/// What a fit did and how well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The method's name.
    pub method: String,
    /// The number of points.
    pub n: usize,
    /// The number of rows that the fit saw: more than points, if these are a sample of rows that are elsewhere
    /// ([`Recipe::fit_moments`](crate::Recipe::fit_moments)).
    pub fitted_rows: u64,
    /// The number of features, if the input had them.
    pub features: Option<usize>,
    /// The number of coordinates.
    pub dims: usize,
    /// Every parameter as requested and as it was used.
    pub parameters: Vec<Used>,
    /// How long the stages took; not kept in saved models, so that equal fits give equal files.
    #[serde(skip)]
    pub seconds: Seconds,
    /// The most bytes that the fit was predicted to take, the input included; not kept in saved models.
    #[serde(skip)]
    pub predicted_memory: u64,
    /// What stage 3 has to show for the coordinates: eigenvalues and residuals, or objective and gradient; of the largest
    /// of separate components, but for the objective and the iterations, which are sums over them. Figures, warnings and
    /// snapshots of all stages are beside it.
    pub coordinates: Diagnostics,
    /// The points as observations of the field, if they have features and the likelihood was computed.
    pub likelihood: Option<Observation>,
    /// Whether the likelihood was left out because it would have taken long.
    pub likelihood_left_out: bool,
    /// What the method's own optimizer has to show for itself, by name; of the largest of separate components, but for the
    /// likelihood, which is the sum over them.
    pub figures: Vec<(Figure, f64)>,
    /// Bounds on the largest variance, where the method has them; the sums over separate components.
    pub certificate: Option<Bracket>,
    /// The penalties that were tried, where a path of them was requested; of the largest of separate components.
    pub path: Vec<PathStep>,
    /// Stage 1.
    pub graph: GraphReport,
    /// How the solvers of stages 2 and 3 ended.
    pub ended: Ended,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// How much of the variance that the distances allow the map has, if it was rescaled; of the largest of separate
    /// components. The eigenvalues are then those of the unfolding, and the residuals those of the coordinates that it
    /// started from.
    pub rescale: Option<Rescaling>,
}

impl Report {
    /// The log likelihood of the method's own model, where it has one: the density that it maximizes or knows.
    pub fn own_log_likelihood(&self) -> Option<f64> {
        self.figures.iter().find(|(figure, _)| *figure == Figure::LogLikelihood).map(|(_, value)| *value)
    }

    /// The same, and for a method without a model of its own that of the field and noise ([`Report::likelihood`]).
    pub fn log_likelihood(&self) -> Option<f64> {
        self.own_log_likelihood().or(self.likelihood.map(|observation| observation.log_likelihood))
    }

    /// Adds how the missing cells of a table of distances were fitted, if some were.
    pub(crate) fn add_completion(&mut self, completion: Option<&Completion>) {
        let Some(&Completion { columns, noise, error, loose, converged }) = completion else { return };
        let figures = [
            (Figure::MissingColumns, Some(columns as f64)),
            (Figure::MissingNoise, Some(noise)),
            (Figure::MissingError, error),
        ];
        let known = figures.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
        self.figures.extend(known);
        if loose > 0 {
            let (points, have) = if loose == 1 { ("point", "has") } else { ("points", "have") };
            let fact = format!("{loose} {points} {have} at most {columns} known cells");
            self.warnings
                .push(Warning::Data(format!("{fact}, so that the missing ones may be wrong; give more of them")));
        }
        if !converged {
            self.warnings
                .push(Warning::NotConverged("the fit of the missing cells did not converge; they may be wrong".into()));
        }
    }

    /// Adds how the graph was learned, if it was.
    pub(crate) fn add_learning(&mut self, learned: Option<LearnedGraph>) {
        let Some(LearnedGraph { penalty, candidates, kept, gap, converged }) = learned else { return };
        let figures = [
            (Figure::GraphPenalty, penalty),
            (Figure::GraphCandidates, candidates as f64),
            (Figure::GraphKept, kept as f64),
            (Figure::GraphGap, gap),
        ];
        self.figures.extend(figures);
        self.ended = self.ended.max(Ended::of(converged, false));
        if !converged {
            self.warnings.push(Warning::NotConverged(format!(
                "the graph was learned to a duality gap of {gap:.1e} per point only; a larger `ridge` helps"
            )));
        }
    }

    /// Adds what another component of the same input took.
    pub(crate) fn merge(&mut self, other: Report) {
        self.seconds.graph += other.seconds.graph;
        self.seconds.field += other.seconds.field;
        self.seconds.coordinates += other.seconds.coordinates;
        self.seconds.likelihood += other.seconds.likelihood;
        self.likelihood_left_out |= other.likelihood_left_out;
        self.likelihood = self.likelihood.zip(other.likelihood).map(|(mut sum, other)| {
            sum.merge(&other);
            sum
        });
        let own = self.own_log_likelihood().zip(other.own_log_likelihood()).map(|(sum, other)| sum + other);
        self.figures.retain(|(figure, _)| *figure != Figure::LogLikelihood);
        self.figures.extend(own.map(|sum| (Figure::LogLikelihood, sum)));
        if let (Some(sum), Some(other)) = (&mut self.certificate, &other.certificate) {
            sum.merge(other);
        }
        let (own, others) = (&mut self.coordinates, &other.coordinates);
        own.objective = own.objective.zip(others.objective).map(|(sum, other)| sum + other);
        own.iterations += others.iterations;
        self.ended = self.ended.max(other.ended);
        self.warnings.extend(other.warnings);
    }
}

/// What stage 1 did; empty without a graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GraphReport {
    /// The sizes of the components of the graph before they were joined, largest first.
    pub components: Vec<usize>,
    /// How many linking edges joined them.
    pub linking_edges: usize,
    /// A number of neighbors that connects the graph, if it was not connected and this is known.
    pub connecting_k: Option<usize>,
    /// The part of the true neighbors that was found, measured on a sample, where some may have been missed.
    pub recall: Option<f64>,
    /// How the neighbors were searched.
    pub route: Option<String>,
}

impl GraphReport {
    /// The route of neighbors that were given ([`Input::neighbors`](crate::Input::neighbors)), of which none were searched.
    pub const GIVEN: &'static str = "given neighbors";

    /// Of a search whose components stay as they are.
    pub(crate) fn searched(found: &Found) -> GraphReport {
        GraphReport { recall: found.recall, route: Some(found.route.into()), ..GraphReport::default() }
    }
}

/// A parameter as requested and as used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The parameter's name.
    pub name: String,
    /// What was requested; `auto` if it was left to the method.
    pub requested: String,
    /// What was used.
    pub used: String,
}

/// Wall time of the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Seconds {
    /// Stage 1.
    pub graph: f64,
    /// Stage 2.
    pub field: f64,
    /// Stage 3.
    pub coordinates: f64,
    /// The likelihood.
    pub likelihood: f64,
}

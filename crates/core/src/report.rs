//! What a fit did and how well.

use crate::field::unfolding::{Bracket, Rescaling};
use crate::field::{Explained, Learned, PathStep};
use crate::likelihood::Observation;
use crate::warning::Warning;
use eigenfold_graph::distances::Completion;
use serde::{Deserialize, Serialize};

/// The figure of a method that has a density of its own.
pub(crate) const OWN_LIKELIHOOD: &str = "log_likelihood";

/// What a fit did and how well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The method's name.
    pub method: String,
    /// The number of points.
    pub n: usize,
    /// The number of features, if the input had them.
    pub features: Option<usize>,
    /// The number of coordinates.
    pub dims: usize,
    /// Every parameter as it was asked for and as it was used.
    pub parameters: Vec<Used>,
    /// How long the stages took; not kept in saved models, so that equal fits give equal files.
    #[serde(skip)]
    pub seconds: Seconds,
    /// The eigenvalues of the coordinates, then some further ones that show how the spectrum goes on, each as good as
    /// its residual says; none if a descent gave the coordinates.
    pub eigenvalues: Vec<f64>,
    /// The backward error of each eigenpair.
    pub residuals: Vec<f64>,
    /// How much of the variance the coordinates have, where the method has one; of the largest of separate components.
    pub explained: Option<Explained>,
    /// The value of the objective, if a descent gave the coordinates; the sum over separate components.
    pub objective: Option<f64>,
    /// The largest entry of its slope there, in the units of the descent; of the largest of separate components.
    pub gradient: Option<f64>,
    /// The objective on the way there, as (steps, value), where the descent looked; of the largest of separate components.
    pub curve: Vec<(usize, f64)>,
    /// What the map makes of a given distance, as (given, on the map), where only their order counts; of the largest of
    /// separate components.
    pub disparities: Vec<(f64, f64)>,
    /// The points as observations of the field, if they have features and the likelihood was computed.
    pub likelihood: Option<Observation>,
    /// Whether the likelihood was left out because it would have taken long.
    pub likelihood_left_out: bool,
    /// What the method's own optimizer has to show for itself, by name; of the largest of separate components, but for the
    /// likelihood, which is the sum over them.
    pub figures: Vec<(String, f64)>,
    /// Bounds on the largest variance, where the method has them; the sums over separate components.
    pub certificate: Option<Bracket>,
    /// The penalties that were tried, where a path of them was asked for; of the largest of separate components.
    pub path: Vec<PathStep>,
    /// The sizes of the components of the graph before they were joined, largest first; empty without a graph.
    pub components: Vec<usize>,
    /// How many linking edges joined them.
    pub linking_edges: usize,
    /// A number of neighbors that connects the graph, if it was not connected and this is known.
    pub connecting_k: Option<usize>,
    /// The part of the true neighbors that was found, measured on a sample, where some may have been missed.
    pub recall: Option<f64>,
    /// How the neighbors were searched.
    pub graph_route: Option<String>,
    /// Which solver gave the coordinates.
    pub solver: String,
    /// Whether it met its tolerance.
    pub converged: bool,
    /// Applications of the solver's operator to a block of vectors, or evaluations of the objective.
    pub iterations: usize,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// How much of the variance that the distances allow the map has, if it was rescaled; of the largest of separate
    /// components. `eigenvalues` are then those of the unfolding, and `residuals` those of the coordinates that it started
    /// from.
    pub rescale: Option<Rescaling>,
}

impl Report {
    /// The log likelihood of the method's own model, where it has one: the density that it maximizes or knows.
    pub fn own_log_likelihood(&self) -> Option<f64> {
        self.figures.iter().find(|(name, _)| name == OWN_LIKELIHOOD).map(|(_, value)| *value)
    }

    /// The same, and for a method without a model of its own that of the field and noise ([`Report::likelihood`]).
    pub fn log_likelihood(&self) -> Option<f64> {
        self.own_log_likelihood().or(self.likelihood.map(|observation| observation.log_likelihood))
    }

    /// Adds how the missing cells of a table of distances were fitted, if some were.
    pub(crate) fn add_completion(&mut self, completion: Option<&Completion>) {
        let Some(&Completion { columns, noise, error, loose, converged }) = completion else { return };
        let figures =
            [("missing_columns", Some(columns as f64)), ("missing_noise", Some(noise)), ("missing_error", error)];
        let known = figures.into_iter().filter_map(|(name, value)| value.map(|value| (name.to_string(), value)));
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
    pub(crate) fn add_learning(&mut self, learned: Option<Learned>) {
        let Some(Learned { penalty, candidates, kept, gap, converged }) = learned else { return };
        let figures = [
            ("graph_penalty", penalty),
            ("graph_candidates", candidates as f64),
            ("graph_kept", kept as f64),
            ("graph_gap", gap),
        ];
        self.figures.extend(figures.map(|(name, value)| (name.to_string(), value)));
        self.converged &= converged;
        if !converged {
            self.warnings.push(Warning::NotConverged(format!(
                "the graph was learned to a duality gap of {gap:.1e} per point only; a larger `ridge` helps"
            )));
        }
    }

    /// Adds what another component of the same input took.
    pub(crate) fn merge(&mut self, other: Report) {
        self.seconds.field += other.seconds.field;
        self.seconds.coordinates += other.seconds.coordinates;
        self.seconds.likelihood += other.seconds.likelihood;
        self.likelihood_left_out |= other.likelihood_left_out;
        self.likelihood = self.likelihood.zip(other.likelihood).map(|(mut sum, other)| {
            sum.merge(&other);
            sum
        });
        let own = self.own_log_likelihood().zip(other.own_log_likelihood()).map(|(sum, other)| sum + other);
        self.figures.retain(|(name, _)| name != OWN_LIKELIHOOD);
        self.figures.extend(own.map(|sum| (OWN_LIKELIHOOD.to_string(), sum)));
        if let (Some(sum), Some(other)) = (&mut self.certificate, &other.certificate) {
            sum.merge(other);
        }
        self.objective = self.objective.zip(other.objective).map(|(sum, other)| sum + other);
        self.converged &= other.converged;
        self.iterations += other.iterations;
        self.warnings.extend(other.warnings);
    }
}

/// A parameter as asked for and as used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The parameter's name.
    pub name: String,
    /// What was asked for; `auto` if it was left to the method.
    pub asked: String,
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

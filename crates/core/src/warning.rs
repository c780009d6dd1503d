//! The warnings of a fit: what each is about as a variant, and its sentence for people.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the user should know of a fit. Programs act on the variant, and show the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Warning {
    /// A solver ended before it met its tolerance.
    NotConverged(String),
    /// The observer stopped the work.
    Stopped(String),
    /// The neighborhood graph has several connected components.
    Disconnected(String),
    /// The embedding varies in fewer directions than it has coordinates.
    FewDirections(String),
    /// Most points of the embedding coincide, or lie on a line.
    Degenerate(String),
    /// Other embeddings are as good as this one.
    NotDetermined(String),
    /// Distances or similarities are not those of points in a Euclidean space.
    NotEuclidean(String),
    /// The result is that of an approximation: of landmarks, a band, or a coarse grid.
    Approximate(String),
    /// The input is unusual: scales of columns, rows that coincide or have no observed cell, a matrix of distances as points.
    Data(String),
    /// The likelihood has no maximum, or was not computed.
    Likelihood(String),
    /// A parameter had no effect.
    Parameter(String),
    /// Some numbers of the report are beyond the range of floating point.
    Range(String),
}

impl Warning {
    /// The sentence. It names parameters between backticks, as errors do.
    pub fn message(&self) -> &str {
        match self {
            Warning::NotConverged(text)
            | Warning::Stopped(text)
            | Warning::Disconnected(text)
            | Warning::FewDirections(text)
            | Warning::Degenerate(text)
            | Warning::NotDetermined(text)
            | Warning::NotEuclidean(text)
            | Warning::Approximate(text)
            | Warning::Data(text)
            | Warning::Likelihood(text)
            | Warning::Parameter(text)
            | Warning::Range(text) => text,
        }
    }

    /// What the warning is about, in one lower-case word or two joined by an underscore.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::NotConverged(_) => "not_converged",
            Warning::Stopped(_) => "stopped",
            Warning::Disconnected(_) => "disconnected",
            Warning::FewDirections(_) => "few_directions",
            Warning::Degenerate(_) => "degenerate",
            Warning::NotDetermined(_) => "not_determined",
            Warning::NotEuclidean(_) => "not_euclidean",
            Warning::Approximate(_) => "approximate",
            Warning::Data(_) => "data",
            Warning::Likelihood(_) => "likelihood",
            Warning::Parameter(_) => "parameter",
            Warning::Range(_) => "range",
        }
    }

    /// Whether the solver ended early, by itself or by the observer.
    pub fn is_early_end(&self) -> bool {
        matches!(self, Warning::NotConverged(_) | Warning::Stopped(_))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

//! What is said of a method: its names, its paper, what it takes, what it is good for.

use crate::input::InputKind;

/// What a method computes its coordinates from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The leading eigenvectors of a covariance over the points.
    Covariance,
    /// The trailing eigenvectors of a precision (inverse covariance) over the points.
    Precision,
    /// The minimum of an objective, found by an iterative optimization.
    Objective,
}

impl Basis {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Covariance => "covariance",
            Basis::Precision => "precision",
            Basis::Objective => "objective",
        }
    }
}

/// What the outside needs to know of a method.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name, in lower case with hyphens.
    pub name: &'static str,
    /// Other names people type.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
    /// The name as papers and pictures have it.
    pub title: &'static str,
    /// What it shows best, as the end of a sentence.
    pub good_for: &'static str,
    /// What may not be read off its map, in a sentence.
    pub caution: &'static str,
    /// What the coordinates are computed from.
    pub basis: Basis,
    /// The paper.
    pub paper: &'static str,
    /// The inputs it can start from.
    pub accepts: &'static [InputKind],
    /// Whether it starts from a neighborhood graph, as its parameters are now; a given graph is always used.
    pub needs_graph: bool,
    /// Whether it measures points by a metric of the user's choice.
    pub uses_metric: bool,
}

//! The description of a method: its names, its paper, its inputs and its strengths.

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

impl Info {
    /// A method of this name that takes any input and starts from a neighborhood graph; the other fields are empty.
    pub const fn new(name: &'static str, title: &'static str, basis: Basis) -> Info {
        Info {
            name,
            aliases: &[],
            summary: "",
            title,
            good_for: "",
            caution: "",
            basis,
            paper: "",
            accepts: InputKind::ALL,
            needs_graph: true,
            uses_metric: true,
        }
    }
}

/// The public description of a method.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name, in lower case with hyphens.
    pub name: &'static str,
    /// Other names people type.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
    /// The name as in papers and figures.
    pub title: &'static str,
    /// What it shows best, as the end of a sentence.
    pub good_for: &'static str,
    /// What its map does not show, in a sentence.
    pub caution: &'static str,
    /// What the coordinates are computed from.
    pub basis: Basis,
    /// The paper.
    pub paper: &'static str,
    /// The inputs it can start from.
    pub accepts: &'static [InputKind],
    /// Whether it starts from a neighborhood graph, with its current parameters; a supplied graph is always used.
    pub needs_graph: bool,
    /// Whether points may have a metric of the user's choice.
    pub uses_metric: bool,
}

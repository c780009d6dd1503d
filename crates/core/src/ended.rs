//! How the work of a solver ended.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How the work of a solver ended; of several, the last of this list is that of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Ended {
    /// It met its tolerance, or the answer is direct.
    #[default]
    Converged,
    /// It used up its iterations.
    Iterations,
    /// No step improved the objective any more, and the gradient was above the tolerance.
    Stuck,
    /// The observer stopped it.
    Stopped,
}

impl Ended {
    /// Of a solver that met its tolerance or not, and was stopped or not.
    pub fn of(converged: bool, stopped: bool) -> Ended {
        match (converged, stopped) {
            (true, _) => Ended::Converged,
            (false, true) => Ended::Stopped,
            (false, false) => Ended::Iterations,
        }
    }

    /// Whether it met its tolerance.
    pub fn is_converged(self) -> bool {
        self == Ended::Converged
    }

    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Converged => "converged",
            Ended::Iterations => "iterations",
            Ended::Stuck => "stuck",
            Ended::Stopped => "stopped",
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Ended::Converged => "converged",
            Ended::Iterations => "not converged: the iterations were used up",
            Ended::Stuck => "not converged: no step improves the objective",
            Ended::Stopped => "stopped before it converged",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_ends_as_its_worst_part() {
        assert_eq!(Ended::of(true, true).max(Ended::of(false, false)), Ended::Iterations);
        assert_eq!(Ended::Stuck.max(Ended::of(false, true)), Ended::Stopped);
        assert!(Ended::default().is_converged() && !Ended::Stuck.is_converged());
    }
}

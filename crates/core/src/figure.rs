//! The figures that a method's own solver reports beside its coordinates, each with its name and its unit.

use serde::{Deserialize, Serialize};

/// How a figure follows the unit of length of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// A count, a ratio, a relative gap: not at all.
    Nothing,
    /// As the eigenvalues of the method do.
    Eigenvalues,
    /// As the square of a length.
    Square,
    /// As the strength of the repulsion.
    Strength,
    /// A log determinant of a precision over the points.
    LogDeterminant,
    /// A log density of the data.
    LogDensity,
}

/// Defines [`Figure`] from one line for each: its variant, its name, its sentence, and how it follows the unit.
macro_rules! figures {
    ($($variant:ident $name:literal $follows:ident: $sentence:literal;)*) => {
        /// A figure of a method's own solver.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Figure {
            $(#[doc = $sentence] #[serde(rename = $name)] $variant,)*
        }

        impl Figure {
            /// Its name in reports: lower-case words joined by underscores.
            pub fn name(self) -> &'static str {
                match self {
                    $(Figure::$variant => $name,)*
                }
            }

            /// What it is, in a sentence.
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Figure::$variant => $sentence,)*
                }
            }

            /// How it follows the unit of length of the data.
            pub(crate) fn follows(self) -> Follows {
                match self {
                    $(Figure::$variant => Follows::$follows,)*
                }
            }
        }
    };
}

figures! {
    ActiveEdges "active_edges" Nothing: "The edges with a positive multiplier.";
    CriticalLambda "critical_lambda" Strength: "The strength of the repulsion at which the points part.";
    CriticalLambdaLower "critical_lambda_lower" Strength: "A lower bound of the critical strength.";
    CriticalLambdaUpper "critical_lambda_upper" Strength: "An upper bound of the critical strength.";
    DegreesOfFreedom "degrees_of_freedom" Nothing: "The covariances of the features less the parameters of the model.";
    DistanceMismatch "distance_mismatch" Nothing: "The largest relative difference of expected and given squared distances.";
    Edges "edges" Nothing: "The edges of the graph.";
    Evaluations "evaluations" Nothing: "The evaluations of the objective.";
    Factorizations "factorizations" Nothing: "The factorizations of Newton's matrix.";
    Gap "gap" Nothing: "How far the fit can be from its optimum, at most.";
    GraphCandidates "graph_candidates" Nothing: "The candidate edges of a learned graph.";
    GraphGap "graph_gap" Nothing: "The duality gap per point of a learned graph.";
    GraphKept "graph_kept" Nothing: "The edges that a learned graph kept.";
    GraphPenalty "graph_penalty" Square: "The penalty of a learned graph.";
    KernelError "kernel_error" Nothing: "The relative error of the kernel by landmarks.";
    LandmarkDual "landmark_dual" Square: "The upper bound on the variance of the landmarks.";
    LandmarkGap "landmark_gap" Nothing: "The relative duality gap of the landmarks.";
    LandmarkPrimal "landmark_primal" Square: "The variance of the landmarks.";
    LeastEigenvalue "least_eigenvalue" Eigenvalues: "The least eigenvalue of the kernel matrix.";
    LogLikelihood "log_likelihood" LogDensity: "The log likelihood of the points under the method's own model.";
    Loss "loss" Nothing: "The loss of the probabilistic model at its maximum.";
    MissingCells "missing_cells" Nothing: "The cells of the input that were not observed.";
    MissingColumns "missing_columns" Nothing: "The coordinates that the missing distances were fitted by.";
    MissingError "missing_error" Nothing: "The relative error of known distances that were left out.";
    MissingNoise "missing_noise" Nothing: "The noise of the fit of the missing distances.";
    NegativeEdges "negative_edges" Nothing: "The edges with a negative multiplier.";
    Noise "noise" Eigenvalues: "The variance of the noise.";
    NormalizedStress "normalized_stress" Nothing: "The root of the stress over the sum of squared distances.";
    Objective "objective" LogDeterminant: "The value of the penalized likelihood.";
    OwnShare "own_share" Nothing: "The share of the variance that features have to themselves.";
    PosteriorVariance "posterior_variance" Nothing: "The variance of the latent coordinates given the data.";
    ProcessBias "process_bias" Square: "The variance of the process's constant.";
    ProcessNoise "process_noise" Square: "The variance of the process's noise.";
    ProcessVariance "process_variance" Square: "The variance of the process.";
    RepulsionError "repulsion_error" Nothing: "The relative error of the repulsive forces, on a sample.";
    RepulsionProjectionError "repulsion_projection_error" Nothing: "The relative error of squared distances by few components.";
    RepulsionTotalError "repulsion_total_error" Nothing: "The relative error of the sum of all repulsions.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_serialized_by_its_name() {
        let shown = postcard::to_allocvec(&Figure::Noise).unwrap();
        assert_eq!(postcard::from_bytes::<Figure>(&shown).unwrap(), Figure::Noise);
        assert_eq!((Figure::Gap.name(), Figure::Gap.follows()), ("gap", Follows::Nothing));
    }
}

//! The figures that a method's own solver reports beside its coordinates, each with its name.

use serde::{Deserialize, Serialize};

/// Defines [`Figure`] from one line for each: its variant, its name and its sentence.
macro_rules! figures {
    ($($variant:ident $name:literal: $sentence:literal;)*) => {
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
        }
    };
}

figures! {
    ActiveEdges "active_edges": "The edges with a positive multiplier.";
    CriticalLambda "critical_lambda": "The strength of the repulsion at which the points part.";
    CriticalLambdaLower "critical_lambda_lower": "A lower bound of the critical strength.";
    CriticalLambdaUpper "critical_lambda_upper": "An upper bound of the critical strength.";
    DegreesOfFreedom "degrees_of_freedom": "The covariances of the features less the parameters of the model.";
    DistanceMismatch "distance_mismatch": "The largest relative difference of expected and given squared distances.";
    Edges "edges": "The edges of the graph.";
    Evaluations "evaluations": "The evaluations of the objective.";
    Factorizations "factorizations": "The factorizations of Newton's matrix.";
    Gap "gap": "How far the fit can be from its optimum, at most.";
    GraphCandidates "graph_candidates": "The candidate edges of a learned graph.";
    GraphGap "graph_gap": "The duality gap per point of a learned graph.";
    GraphKept "graph_kept": "The edges that a learned graph kept.";
    GraphPenalty "graph_penalty": "The penalty of a learned graph.";
    KernelError "kernel_error": "The relative error of the kernel by landmarks.";
    LandmarkDual "landmark_dual": "The upper bound on the variance of the landmarks.";
    LandmarkGap "landmark_gap": "The relative duality gap of the landmarks.";
    LandmarkPrimal "landmark_primal": "The variance of the landmarks.";
    LeastEigenvalue "least_eigenvalue": "The least eigenvalue of the kernel matrix.";
    LogLikelihood "log_likelihood": "The log likelihood of the points under the method's own model.";
    Loss "loss": "The loss of the probabilistic model at its maximum.";
    MissingCells "missing_cells": "The cells of the input that were not observed.";
    MissingColumns "missing_columns": "The coordinates that the missing distances were fitted by.";
    MissingError "missing_error": "The relative error of known distances that were left out.";
    MissingNoise "missing_noise": "The noise of the fit of the missing distances.";
    NegativeEdges "negative_edges": "The edges with a negative multiplier.";
    Noise "noise": "The variance of the noise.";
    NormalizedStress "normalized_stress": "The root of the stress over the sum of squared distances.";
    Objective "objective": "The value of the penalized likelihood.";
    OwnShare "own_share": "The share of the variance that features have to themselves.";
    PosteriorVariance "posterior_variance": "The variance of the latent coordinates given the data.";
    ProcessBias "process_bias": "The variance of the process's constant.";
    ProcessNoise "process_noise": "The variance of the process's noise.";
    ProcessVariance "process_variance": "The variance of the process.";
    RepulsionError "repulsion_error": "The relative error of the repulsive forces, on a sample.";
    RepulsionProjectionError "repulsion_projection_error": "The relative error of squared distances by few components.";
    RepulsionTotalError "repulsion_total_error": "The relative error of the sum of all repulsions.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_serialized_by_its_name() {
        let shown = postcard::to_allocvec(&Figure::Noise).unwrap();
        assert_eq!(postcard::from_bytes::<Figure>(&shown).unwrap(), Figure::Noise);
        assert_eq!(Figure::Gap.name(), "gap");
    }
}

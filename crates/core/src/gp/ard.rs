//! A length scale for every coordinate of the map (automatic relevance determination), with the gradients.
//!
//! ```text
//! K[i,j] = v exp(−½ Σ_q (y[i,q] − y[j,q])² / ℓ[q]²) + b + w [i = j]
//! ```
//!
//! This is the covariance with length scale one over the positions y[i,q] / ℓ[q], so that the gradient along log ℓ[q]
//! is −Σᵢ y[i,q]/ℓ[q] times the gradient in that position. No rescaling of single coordinates changes the maximum
//! likelihood.
//!
//! C. E. Rasmussen, C. K. I. Williams. Gaussian processes for machine learning. MIT Press, 2006, section 5.1.

use crate::gp::moving::Moving;
use crate::gp::problem::{Problem, spaced};
use crate::gp::sparse::Bound;
use eigenfold_linalg::error::Result;

/// The likelihood of a problem, exact or by inducing points, for any length scales.
pub(crate) enum Ard<'a> {
    Exact(&'a Problem, Box<Moving>),
    Sparse(&'a Problem, Bound, usize),
}

/// The negative log likelihood at some parameters.
pub(crate) struct ByCoordinate {
    pub(crate) value: f64,
    /// The best bias.
    pub(crate) bias: f64,
    /// The gradients along log v, the log ℓ of every coordinate, and log w.
    pub(crate) gradient: Vec<f64>,
}

impl<'a> Ard<'a> {
    /// Exact, or by this many inducing points.
    pub(crate) fn new(problem: &'a Problem, inducing: Option<usize>) -> Result<Ard<'a>> {
        Ok(match inducing {
            None => Ard::Exact(problem, Box::new(Moving::new(problem)?)),
            Some(m) => Ard::Sparse(problem, Bound::new(problem), m),
        })
    }

    /// At this variance, these length scales and this noise, with the best bias; `None` if the covariance is singular.
    pub(crate) fn negative(&mut self, v: f64, lengths: &[f64], w: f64) -> Option<ByCoordinate> {
        let dims = lengths.len();
        let scaled = |problem: &Problem| -> Vec<f64> {
            problem.map.iter().enumerate().map(|(at, y)| y / lengths[at % dims]).collect()
        };
        match self {
            Ard::Exact(problem, moving) => {
                let places = scaled(problem);
                let mut along = vec![0.0; places.len()];
                let at = moving.negative(&places, [v, w], None, &mut along)?;
                let mut gradient = vec![0.0; dims + 2];
                (gradient[0], gradient[dims + 1]) = (at.gradient[0], at.gradient[1]);
                places.iter().zip(&along).enumerate().for_each(|(i, (y, along))| gradient[1 + i % dims] -= y * along);
                Some(ByCoordinate { value: at.value, bias: at.bias, gradient })
            }
            Ard::Sparse(problem, bound, m) => {
                let places = scaled(problem);
                let rows = spaced(problem.n, *m);
                let inducing: Vec<f64> =
                    rows.iter().flat_map(|&i| &places[i * dims..(i + 1) * dims]).copied().collect();
                let at = bound.moving(problem, &places, &inducing, [v, w], None)?;
                let mut gradient = vec![0.0; dims + 2];
                (gradient[0], gradient[dims + 1]) = (at.negative.gradient[0], at.negative.gradient[3]);
                for (places, moved) in [(&places, &at.points), (&inducing, &at.inducing)] {
                    places
                        .iter()
                        .zip(moved)
                        .enumerate()
                        .for_each(|(i, (y, along))| gradient[1 + i % dims] -= y * along);
                }
                Some(ByCoordinate { value: at.negative.value, bias: at.negative.bias, gradient })
            }
        }
    }
}

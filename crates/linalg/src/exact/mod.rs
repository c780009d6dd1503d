//! Exact sums, whose values and bytes do not depend on the order of the additions.
//!
//! A sum of floating-point numbers is an integer times a power of two. [`ExactSums`] keeps these integers, so that adding
//! is associative and a result is rounded once. [`ExactMoments`] sums the rows of a table and the products of its columns,
//! from which the correctly rounded mean and covariance follow in one pass and without centering.

mod dyadic;
mod gram;
mod moments;
mod slices;
mod split;
mod sum;
mod sums;
#[cfg(test)]
mod tests;

pub use moments::ExactMoments;
pub use sums::ExactSums;

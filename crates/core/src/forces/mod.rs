//! Forces between points of a map: who attracts whom, how strongly, and how all repel each other.

mod curve;
pub(crate) mod fuzzy;
mod pairs;
pub(crate) mod perplexity;
mod pull;
pub(crate) mod repulsion;

pub(crate) use curve::along_curve;
pub(crate) use pairs::Pairs;
pub(crate) use pull::Pull;
pub(crate) use repulsion::{Kernel, Real, Shape};

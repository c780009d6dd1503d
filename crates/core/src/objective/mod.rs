//! Objectives: methods whose coordinates minimize a function.

pub(crate) mod elastic;
pub(crate) mod gplvm;
mod interaction;
mod neighborhood;
pub(crate) mod sne;
mod start;
pub(crate) mod stress;
#[cfg(test)]
mod tests;
pub(crate) mod tsne;
pub(crate) mod umap;

pub use crate::forces::repulsion::Accuracy;
pub use elastic::{Attraction, ElasticInit, Lambda, Repulsion};
pub use gplvm::{GplvmInit, GplvmKernel, GplvmPrior};
pub use neighborhood::Perplexity;
pub use start::Init;

//! Covariances by classical scaling: of the features, of distances, of a kernel, of paths along the graph.

pub(crate) mod centered;
pub(crate) mod feature_space;
pub(crate) mod isomap;
pub(crate) mod kernel_pca;
pub(crate) mod mds;
pub(crate) mod pca;
mod triangle;

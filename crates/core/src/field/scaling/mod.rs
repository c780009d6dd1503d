//! Covariances by classical scaling: of the features, of distances, of a kernel, of paths along the graph.

pub(crate) mod centered;
pub mod isomap;
pub mod kernel_pca;
pub mod mds;
pub mod pca;
mod triangle;

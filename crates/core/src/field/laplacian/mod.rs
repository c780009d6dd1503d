//! Precisions that are graph Laplacians: neighbors pull on each other.

pub(crate) mod affinity;
pub mod diffusion_maps;
pub mod eigenmaps;

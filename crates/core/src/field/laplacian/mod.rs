//! Precisions that are graph Laplacians: neighbors pull on each other.

pub(crate) mod affinity;
pub(crate) mod diffusion_maps;
pub(crate) mod eigenmaps;

//! Precisions that are graph Laplacians.

pub(crate) mod affinity;
pub(crate) mod diffusion_maps;
pub(crate) mod eigenmaps;

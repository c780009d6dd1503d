//! Precisions from local geometry: the regression of every point on its neighbors, and patches of neighbors.

pub(crate) mod alle;
pub(crate) mod hessian_lle;
pub(crate) mod lle;
pub(crate) mod ltsa;
pub(crate) mod modified_lle;
pub(crate) mod patches;
mod symmetric_weights;

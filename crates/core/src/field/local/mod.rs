//! Precisions from local geometry: every point as its neighbors see it, and the patches they form.

pub(crate) mod alle;
pub(crate) mod hessian_lle;
pub(crate) mod lle;
pub(crate) mod ltsa;
pub(crate) mod modified_lle;
pub(crate) mod patches;
mod symmetric_weights;

//! Precisions from local geometry: every point as its neighbors see it, and the patches they form.

pub mod alle;
pub mod hessian_lle;
pub mod lle;
pub mod ltsa;
pub mod modified_lle;
pub(crate) mod patches;
mod symmetric_weights;

//! Latent variable models: a few unknown coordinates per point and noise, fitted by maximum likelihood.

pub(crate) mod em;
mod k_means;
mod landmarks;
mod pairs;
pub(crate) mod pkpca;
pub(crate) mod ppco;
mod principal;

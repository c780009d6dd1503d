//! Latent models: a few latent coordinates for every point, and noise, by maximum likelihood.

pub(crate) mod em;
pub(crate) mod fa;
pub(crate) mod fit;
pub(crate) mod k_means;
mod landmarks;
mod pairs;
pub(crate) mod pkpca;
pub(crate) mod ppca;
pub(crate) mod ppco;
mod principal;
#[cfg(test)]
mod tests;

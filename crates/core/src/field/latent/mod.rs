//! Latent models: a few latent coordinates for every point, and noise, by maximum likelihood.

pub(crate) mod covariance;
pub(crate) mod em;
pub(crate) mod fa;
pub(crate) mod fit;
pub(crate) mod k_means;
mod landmarks;
mod pairs;
pub(crate) mod passes;
pub(crate) mod pkpca;
pub(crate) mod ppca;
pub(crate) mod ppco;
mod principal;
mod scaled;
pub(crate) mod sums;
#[cfg(test)]
mod tests;

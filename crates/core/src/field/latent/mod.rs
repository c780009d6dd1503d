//! Latent models: a few hidden coordinates for every point, with a prior, and noise.

pub(crate) mod fa;
pub(crate) mod fit;
pub(crate) mod ppca;
#[cfg(test)]
mod tests;

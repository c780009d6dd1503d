//! The library through its public face: one program, so that it is built and linked once.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod batches;
mod dimension;
mod extension;
mod formats;
mod fuzz;
mod gp_likelihood;
mod hostile;
mod identities;
mod identities_elastic;
mod identities_lawrence;
mod identities_xiao;
mod identities_zhang;
mod io;
mod lawrence_2012;
mod likelihood;
mod mahalanobis;
mod model_file;
mod model_tampered;
mod moments;
mod preparation;
mod quality;
mod reconstruct;
mod recovery;
mod reference;
mod rescale;
mod stages;
mod stress;
#[path = "../support/mod.rs"]
mod support;
mod unfolding;
mod units;
mod vectors;
mod watching;

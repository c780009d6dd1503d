//! Stage 3: coordinates.

pub mod spectral;

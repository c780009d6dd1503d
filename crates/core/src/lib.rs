//! eigenfold unfolds data: every method is a Gaussian field over the points.

pub mod error;
pub mod graph;
pub mod io;
pub mod linalg;
pub mod points;
pub mod progress;
pub mod sample;

pub use error::{Error, Result};
pub use points::Points;

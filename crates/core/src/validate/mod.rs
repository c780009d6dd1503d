//! Validation of a fit: held-out features, held-out rows, and the choice of the number of neighbors.

pub mod choose_neighbors;
mod extension;
mod features;
pub(crate) mod neighbor_ratio;
mod reconstruction;

pub use extension::HeldOutPlaces;
pub use features::{HeldOut, Judged};
pub use neighbor_ratio::{Neighborhoods, farness};
pub use reconstruction::HeldOutRows;

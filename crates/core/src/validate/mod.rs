//! Validation of a fit: held-out features, held-out rows, and the choice of the number of neighbors.

pub(crate) mod choose_neighbors;
mod extension;
mod features;
pub(crate) mod neighbor_ratio;
mod reconstruction;

pub use extension::HeldOutExtension;
pub use features::{HeldOut, HeldOutFeature};
pub use neighbor_ratio::{NeighborRatio, neighbor_ratio};
pub use reconstruction::HeldOutRows;

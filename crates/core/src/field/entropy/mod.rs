//! Precisions that are fitted to the data: by maximum entropy, and by maximum likelihood with an L1 penalty.

pub mod drill;
pub mod meu;

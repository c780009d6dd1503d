//! Precisions that are fitted to the data: by maximum entropy, and by maximum likelihood with an L1 penalty.

pub(crate) mod drill;
pub(crate) mod meu;

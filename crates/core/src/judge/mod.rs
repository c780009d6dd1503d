//! How good a map is, and what follows from that.

pub mod choose;
mod held_out;
pub mod score;

pub use held_out::HeldOut;

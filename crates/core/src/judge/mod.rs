//! How good a map is, what follows from that, and how many coordinates it should have.

pub mod choose;
pub mod compare;
pub mod dimension;
mod held_out;
mod nearness;
mod places;
pub mod procrustes;
pub mod quality;
mod rows;
pub mod score;

pub use held_out::{HeldOut, Judged};
pub use nearness::{Neighborhoods, farness};
pub use places::HeldOutPlaces;
pub use rows::HeldOutRows;

//! Forces between points of a map: attraction between pairs, and repulsion of all points.

mod attraction;
pub(crate) mod expansion;
pub(crate) mod fuzzy;
mod pairs;
pub(crate) mod perplexity;
pub(crate) mod repulsion;
mod space_filling;

pub(crate) use attraction::AttractionKernel;
pub(crate) use pairs::Pairs;
pub(crate) use repulsion::{Kernel, Real, Shape};
pub(crate) use space_filling::along_curve;

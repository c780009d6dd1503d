//! What is known of the points.

pub(crate) mod cloud;
pub(crate) mod regression;

pub(crate) use cloud::{Cloud, Ground, differences};

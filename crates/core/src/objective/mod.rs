//! Objectives: methods whose coordinates are where a function of them is least.

pub mod stress;

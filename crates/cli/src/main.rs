//! The eigenfold program.
#![allow(dead_code)]
mod plot;

fn main() {}

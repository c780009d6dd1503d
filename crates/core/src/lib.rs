//! eigenfold unfolds data: every method is a Gaussian field over the points.
//!
//! Three stages lead from data to a map, and each has its place here:
//!
//! ```text
//! data -> neighborhood graph -> field over the points -> coordinates
//! io      graph                 field                    spectral
//! ```
//!
//! A [`Recipe`] names the stages; fitting it gives a [`Model`], which holds the embedding, reports how well it went and
//! places new points.
//!
//! ```
//! use eigenfold::{LaplacianEigenmaps, Neighbors, Recipe, io};
//!
//! let digits = io::read("digits", &io::ReadOptions::default())?;
//! let recipe = Recipe {
//!     neighbors: Neighbors::Nearest(10),
//!     method: LaplacianEigenmaps::default().into(),
//!     ..Recipe::default()
//! };
//! let model = recipe.fit(&digits.points)?;
//! assert_eq!(model.embedding().rows(), 1797);
//! assert!(model.report().residuals.iter().take(2).all(|&residual| residual < 1e-8));
//! # Ok::<(), eigenfold::Error>(())
//! ```

pub mod choose;
pub mod error;
pub mod extend;
pub mod field;
pub mod graph;
mod input;
pub mod io;
mod lasso;
pub mod likelihood;
pub mod linalg;
mod memory;
pub mod model;
pub mod optimize;
pub mod points;
pub mod progress;
pub mod recipe;
pub mod reconstruct;
pub mod sample;
pub mod score;
pub mod spectral;
mod stages;
pub mod unfolding;

pub use choose::Choice;
pub use error::{Error, Result};
pub use extend::Placed;
pub use field::{
    Alle, DiffusionMaps, Drill, HessianLle, Isomap, Kernel, KernelPca, LaplacianEigenmaps, Lle, Ltsa, Mds, Meu,
    ModifiedLle, Mvu, Pca,
};
pub use graph::{Graph, Metric, Neighbors, Pieces};
pub use input::Input;
pub use likelihood::{HeldOut, Likelihood, Observation};
pub use model::Model;
pub use points::Points;
pub use recipe::{Method, Recipe};
pub use reconstruct::Reconstruction;
pub use score::GplvmScore;
pub use unfolding::Certificate;

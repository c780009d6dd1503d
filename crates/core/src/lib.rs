//! eigenfold unfolds data: every method is a Gaussian field over the points.
//!
//! Three stages lead from data to a map, and each has its place here:
//!
//! ```text
//! data -> neighborhood graph -> field over the points -> coordinates
//! io      graph                 field, objective         coordinates
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
//! let model = recipe.fit(&digits.points, &eigenfold::Silent)?;
//! assert_eq!(model.embedding().rows(), 1797);
//! assert!(model.report().coordinates.residuals.iter().take(2).all(|&residual| residual < 1e-8));
//! # Ok::<(), eigenfold::Error>(())
//! ```

pub mod compare;
pub mod coordinates;
pub mod dimension;
mod ended;
pub mod extend;
pub mod field;
mod figure;
mod fit;
mod forces;
mod gp;
pub mod gp_likelihood;
pub mod input;
pub mod kernel;
pub mod likelihood;
pub mod method;
pub mod missing;
pub mod model;
pub mod objective;
pub mod parameter;
pub mod preparation;
pub mod quality;
pub mod recipe;
pub mod reconstruct;
pub mod report;
pub mod request;
pub mod sample;
pub mod validate;
mod warning;

pub use eigenfold_graph::{
    self as graph, Disconnected, Distances, Graph, Metric, Neighbors, Points, distances, points,
};
pub use eigenfold_io::{self as io, Schema, schema};
pub use eigenfold_linalg::progress::{Observer, Silent};
pub use eigenfold_linalg::{self as linalg, Error, Result, error, optimize, progress};

pub use dimension::{Dimension, DimsChoice};
pub use ended::Ended;
pub use extend::{Latent, Posterior, Transformed};
pub use field::unfolding::{self, Certificate};
pub use figure::Figure;
pub use gp_likelihood::GpLikelihood;
pub use input::{Data, Input};
pub use kernel::{Bandwidth, Kernel};
pub use likelihood::{Likelihood, Observation};
pub use method::*;
pub use missing::Missing;
pub use model::Model;
pub use preparation::Preparation;
pub use quality::Quality;
pub use recipe::Recipe;
pub use reconstruct::Reconstruction;
pub use request::Request;
pub use validate::choose_neighbors::Choice;
pub use validate::{HeldOut, HeldOutExtension, HeldOutRows};
pub use warning::Warning;

/// The Rust examples of the pages, compiled and run as documentation tests.
#[cfg(doctest)]
mod pages {
    macro_rules! pages {
        ($($name:ident: $page:literal;)*) => {
            $(#[doc = include_str!(concat!("../../../", $page))] pub struct $name;)*
        };
    }

    pages! {
        Readme: "README.md";
        Likelihood: "docs/likelihood.md";
        Score: "docs/score.md";
        Quality: "docs/quality.md";
        Dimension: "docs/dimension.md";
        Missing: "docs/missing.md";
        Preparing: "docs/preparing.md";
        Alle: "docs/methods/alle.md";
        DiffusionMaps: "docs/methods/diffusion-maps.md";
        Gplvm: "docs/methods/gplvm.md";
        HessianLle: "docs/methods/hessian-lle.md";
        Isomap: "docs/methods/isomap.md";
        KernelPca: "docs/methods/kernel-pca.md";
        LaplacianEigenmaps: "docs/methods/laplacian-eigenmaps.md";
        Lle: "docs/methods/lle.md";
        Ltsa: "docs/methods/ltsa.md";
        Mds: "docs/methods/mds.md";
        Meu: "docs/methods/meu.md";
        ModifiedLle: "docs/methods/modified-lle.md";
        Pca: "docs/methods/pca.md";
        Pkpca: "docs/methods/pkpca.md";
        Ppca: "docs/methods/ppca.md";
        Ppco: "docs/methods/ppco.md";
        Rescale: "docs/methods/rescale.md";
        Smacof: "docs/methods/smacof.md";
    }
}

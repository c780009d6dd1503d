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
//!
//! The modules group what goes beyond a fit: [`quality`] and [`compare`] evaluate embeddings, [`dimension`] estimates the
//! intrinsic dimension, [`gp_likelihood`] and [`missing`] fit models, [`sample`] draws data, [`io`] reads and writes files,
//! and [`contract`] is for methods of your own.

pub mod compare;
pub mod contract;
mod coordinates;
pub mod dimension;
mod ended;
mod extend;
mod field;
mod figure;
mod fit;
mod forces;
mod gp;
pub mod gp_likelihood;
mod input;
mod kernel;
mod likelihood;
mod method;
pub mod missing;
mod model;
mod objective;
mod parameter;
mod preparation;
pub mod quality;
mod recipe;
mod reconstruct;
mod report;
mod request;
pub mod sample;
mod validate;
mod warning;

pub use eigenfold_graph::{Disconnected, Distances, Found, Graph, Index, Metric, Neighbors, Points, Search, Weight};
pub use eigenfold_io as io;
pub use eigenfold_linalg::error::rename_parameters;
pub use eigenfold_linalg::memory::peak as peak_memory;
pub use eigenfold_linalg::progress::{Observer, Share, Silent, Stage};
pub use eigenfold_linalg::{Error, Result};
/// The matrix library of [`contract`].
pub use faer;

// What goes into a fit.
pub use field::latent::passes::{Pass, RowTerms};
pub use input::moments::{IncompleteMoments, Moments};
pub use input::{Data, Input, InputKind, Owned};
pub use kernel::{Bandwidth, Kernel};
pub use likelihood::{Likelihood, Observation};
pub use missing::Missing;
pub use preparation::{ColumnScale, Log, Preparation, Prepared, PreparedColumn, Whitening};
pub use recipe::Recipe;
pub use request::{Count, Request};

// The methods, and the values of their parameters.
pub use field::unfolding::{Constraints, MvuVariant, mvu_upper_bound};
pub use field::{
    Basis, EdgeWeight, EmStart, Info, LaplacianVariant, LatentSolver, LleVariant, MeuVariant, Mutual, Ordering,
    Penalty, PkpcaSolver, PpcoSolver,
};
pub use method::*;
pub use objective::stress::{StressDistances, StressInit, StressVariant, StressWeight};
pub use objective::{
    Accuracy, Attraction, ElasticInit, GplvmInit, GplvmKernel, GplvmPrior, Init, Lambda, Perplexity, Repulsion,
};
pub use parameter::ParameterInfo;

// What comes out of a fit.
pub use coordinates::{Diagnostics, Snapshot};
pub use ended::Ended;
pub use extend::{Latent, Posterior, Transformed};
pub use field::unfolding::{Bracket, Certificate, Rescaling};
pub use field::{Explained, LearnedGraph, PathStep};
pub use figure::Figure;
pub use model::{Model, Transformer};
pub use reconstruct::{
    InverseTransform, LearnedInverse, Portable, Reconstruction, ReconstructionDiagnostics, ReconstructionRule,
};
pub use report::{GraphReport, Report, Seconds, Used};
pub use warning::Warning;

// The evaluation of a fit, and of data.
pub use dimension::{Dimension, DimsChoice};
pub use gp_likelihood::GpLikelihood;
pub use quality::Quality;
pub use validate::choose_neighbors::{NeighborsChoice, TriedNeighbors};
pub use validate::{HeldOut, HeldOutExtension, HeldOutFeature, HeldOutRows, NeighborRatio, neighbor_ratio};

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
        Home: "docs/index.md";
        Likelihood: "docs/guide/likelihood.md";
        GpLikelihood: "docs/guide/gp-likelihood.md";
        Quality: "docs/guide/quality.md";
        Dimension: "docs/guide/dimensions.md";
        Missing: "docs/guide/missing.md";
        Preparing: "docs/guide/preparing.md";
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

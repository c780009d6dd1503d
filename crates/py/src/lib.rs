//! The extension module of the Python package `eigenfold`.
//!
//! It holds no mathematics and no names of classes: it turns arrays into what the library takes, runs the library with the
//! interpreter's lock released, and hands back arrays and JSON. Everything that Python users see is in `python/eigenfold`.

mod arrays;
mod compare;
mod errors;
mod exact;
mod functions;
mod model;
mod moments;
mod names;
mod picture;
mod quality;
mod request;
mod rows;
mod table;
mod transformer;
mod watch;

/// Counts what is allocated here, not by Python, so that a comparison can tell the memory that each method took.
#[global_allocator]
static ALLOCATED: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

/// The compiled half of `eigenfold`.
#[pyo3::pymodule]
mod _eigenfold {
    #[pymodule_export]
    use super::compare::{Comparison, compare};
    #[pymodule_export]
    use super::errors::EigenfoldError;
    #[pymodule_export]
    use super::exact::{ExactMoments, ExactSums};
    #[pymodule_export]
    use super::functions::{builtin, dimension, fit, gp_likelihood, graph, metric, sample, samples};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::moments::{fit_latent_by_passes, fit_moments, latent_terms, logarithms};
    #[pymodule_export]
    use super::picture::picture;
    #[pymodule_export]
    use super::quality::{measures, quality};
    #[pymodule_export]
    use super::rows::{distances, row_hashes};
    #[pymodule_export]
    use super::table::methods;
    #[pymodule_export]
    use super::transformer::Transformer;
}

//! Eigenvalues and eigenvectors of large symmetric matrices.

pub(crate) mod chebyshev;
pub mod factor;
pub mod lanczos;
pub mod pencil;
pub mod top;

//! Eigenvalues and eigenvectors of large symmetric matrices.

pub(crate) mod chebyshev;
pub(crate) mod lanczos;
pub(crate) mod pencil;
pub(crate) mod top;

//! The kernels between points: the heat kernel of a graph's weights, and the positive definite kernels of kernel PCA.

pub(crate) mod heat;
pub(crate) mod mercer;

pub use heat::Bandwidth;
pub use mercer::Kernel;

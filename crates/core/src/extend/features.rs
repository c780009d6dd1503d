//! Out-of-sample extension by kernel features: y = Σⱼ k(x, z[j]) a[j] − b.
//!
//! This is the projection in the feature space of a kernel whose matrix is approximated by its columns at the landmarks
//! z.

use super::checks::all_finite;
use super::{Extension, Known, Sizes, Traits, TransformFn};
use crate::kernel::mercer::Kernel;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use serde::{Deserialize, Serialize};

/// The kernel, its landmarks and their coefficients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Features {
    pub(crate) kernel: Kernel,
    /// z, one row each; not among the training points.
    pub(crate) places: Points,
    /// a, one row per landmark.
    pub(crate) axes: Points,
    /// b.
    pub(crate) origin: Vec<f64>,
}

impl Extension for Features {
    fn traits(&self) -> Traits {
        Traits::OF_FEATURES
    }

    fn prepare<'a>(&'a self, _known: Known<'a>) -> Result<TransformFn<'a>> {
        Ok(Box::new(|batch| Ok(batch.each(|new| self.row(new.row)))))
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let (features, dims) = (sizes.features, sizes.dims);
        let Features { places, axes, origin, .. } = self;
        self.kernel.is_sound()
            && places.is_sound()
            && axes.is_sound_result()
            && all_finite(origin)
            && (places.cols(), axes.rows(), axes.cols(), origin.len()) == (features, places.rows(), dims, dims)
    }
}

impl Features {
    fn row(&self, row: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = self.origin.iter().map(|b| -b).collect();
        for j in 0..self.places.rows() {
            let value = self.kernel.of(row, self.places.row(j));
            y.iter_mut().zip(self.axes.row(j)).for_each(|(y, a)| *y += value * a);
        }
        y
    }
}

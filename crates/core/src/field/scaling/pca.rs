//! Principal component analysis: the field of centered inner products.
//!
//! ```text
//! K = X̃ X̃ᵀ,  X̃ = X − 1 x̄ᵀ        Y = top eigenvectors of K times √λ = X̃ U
//! ```
//!
//! with U the top eigenvectors of X̃ᵀX̃; whichever of the two matrices is smaller is decomposed. The covariance over
//! features has the eigenvalues λ/n.
//!
//! K. Pearson. On lines and planes of closest fit to systems of points in space. Philosophical Magazine 2, 1901.

use crate::extend::{Linear, Rule};
use crate::field::{Basis, Build, Built, Field, Info, InputKind, Site, needs_points};
use crate::parameter::{Parameter, Table};
use eigenfold_graph::points::Points;
use eigenfold_linalg::eigen::factor::Factor;
use eigenfold_linalg::error::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Principal component analysis; it has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pca {}

impl Table for Pca {
    const METHOD: &'static str = "pca";
    const TABLE: &'static [Parameter<Pca>] = &[];
}

impl Build for Pca {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["principal-components"],
            summary: "projection onto the directions of largest variance",
            title: "PCA",
            good_for: "a first look; each axis is a combination of features and can be interpreted",
            caution: "Variation in other directions is not shown: points on top of each other may be far apart in the data.",
            basis: Basis::Covariance,
            paper: "Pearson 1901; Hotelling 1933",
            accepts: &[InputKind::Points],
            needs_graph: false,
            uses_metric: false,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let points = site
            .data
            .points()
            .ok_or_else(|| needs_points("pca", "mds gives the same map from distances or similarities"))?;
        let (p, dims) = (points.cols(), site.dims);
        if dims > p {
            return Err(Error::features(dims, p));
        }
        Ok(linear(points))
    }
}

/// The field of centered inner products, which classical scaling of Euclidean distances shares.
pub(crate) fn linear(points: &Points) -> Built {
    let mean = points.column_means();
    let centered = Centered { points: points.clone(), mean: mean.clone() };
    Built::new(Field::Factor(Box::new(centered)), Rule::Linear(Linear { mean, axes: Vec::new() }))
}

/// Points that are centered together.
const TOGETHER: usize = 16;

/// X̃, which is not in memory beside X.
struct Centered {
    points: Points,
    mean: Vec<f64>,
}

impl Factor for Centered {
    fn nrows(&self) -> usize {
        self.points.rows()
    }

    fn ncols(&self) -> usize {
        self.points.cols()
    }

    fn rows(&self, range: Range<usize>) -> Mat<f64> {
        let mut rows = Mat::zeros(range.len(), self.mean.len());
        // Some points at a time, because a column of the matrix is contiguous.
        for first in (0..range.len()).step_by(TOGETHER) {
            let last = range.len().min(first + TOGETHER);
            let some: Vec<Cow<'_, [f64]>> = (first..last).map(|at| self.points.point(range.start + at)).collect();
            for (j, mean) in self.mean.iter().enumerate() {
                let column = &mut rows.col_as_slice_mut(j)[first..last];
                column.iter_mut().zip(&some).for_each(|(x, row)| *x = row[j] - mean);
            }
        }
        rows
    }
}

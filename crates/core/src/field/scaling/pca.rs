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

use crate::coordinates::spectral::{few_directions, not_converged};
use crate::ended::Ended;
use crate::extend::{Linear, Rule};
use crate::field::{Basis, Build, Built, Explained, Field, Info, InputKind, Site, Solved, Task, needs_points};
use crate::input::moments::Moments;
use crate::parameter::{Parameter, Table};
use eigenfold_graph::points::Points;
use eigenfold_linalg::RESIDUAL;
use eigenfold_linalg::dense::sign;
use eigenfold_linalg::eigen::factor::Factor;
use eigenfold_linalg::eigen::top::matrix_top;
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

/// The principal components of rows that are elsewhere, about a sample of them:
///
/// ```text
/// n S = U Λ Uᵀ        Y = X̃ U of the sample, X̃ centered by the mean of all rows
/// ```
///
/// The sign of an axis is that of its coordinate of largest magnitude over the sample, the first one if they tie.
pub(crate) fn of_moments(moments: &Moments, site: &Site<'_>) -> Result<Built> {
    let sample = site.data.points().ok_or_else(|| needs_points("pca", "give the rows of the sample"))?;
    let (n, p, dims) = (moments.count as f64, moments.cols(), site.dims);
    if dims > p {
        return Err(Error::features(dims, p));
    }
    let products = Mat::from_fn(p, p, |j, k| n * moments.covariance[j * p + k]);
    let mut pairs = matrix_top(products, dims, site.seed, site.observer)?;
    let total: f64 = (0..p).map(|j| n * moments.variance(j)).sum();
    let noise = 1e-13 * pairs.values.first().copied().unwrap_or(0.0).max(0.0);
    let varying = pairs.values.iter().take(dims).filter(|&&value| value > noise).count();
    let axis = |at: usize| if at % dims < varying { pairs.vectors[(at / dims, at % dims)] } else { 0.0 };
    let mut rule = Linear { mean: moments.mean.clone(), axes: (0..p * dims).map(axis).collect() };
    let placed = rule.coordinates(sample)?;
    let signs: Vec<f64> = (0..dims).map(|q| sign(placed.as_mat(), q)).collect();
    rule.axes.iter_mut().enumerate().for_each(|(at, axis)| *axis *= signs[at % dims]);
    let coordinates = rule.coordinates(sample)?;
    let warnings = few_directions(varying, dims).into_iter().chain(not_converged(&pairs, dims)).collect();
    let ended = Ended::of(pairs.converged, site.observer.stop());
    pairs.values.resize(pairs.values.len().max(dims), 0.0);
    pairs.residuals.resize(pairs.values.len(), 0.0);
    let explained = Explained::new(&pairs.values[..dims], total);
    let solved = Solved {
        coordinates,
        eigenvalues: pairs.values,
        residuals: pairs.residuals,
        tolerance: RESIDUAL,
        objective: None,
        curve: Vec::new(),
        solver: pairs.solver,
        iterations: pairs.iterations,
    };
    Ok(Built { explained, ended, warnings, ..Built::of(Task::Solved(solved), Rule::Linear(rule)) })
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

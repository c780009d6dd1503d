//! Out-of-sample extension of objectives: the new point minimizes the objective, with all other points fixed.
//!
//! ```text
//! argmin  Σⱼ w[j] a(‖y − y[j]‖²) + f(Σⱼ q[j] k(‖y − y[j]‖²)),   w the new point's own affinities to its neighbors
//! ```
//!
//! The objective of the method, with one row added to it (for elastic embedding Carreira-Perpiñán 2010, equation 13).
//! The optimization starts from its nearest neighbor, as in that paper.

use super::checks::is_positive;
use super::reference::Away;
use super::{Extension, Known, Newcomer, Sizes, Traits, TransformFn};
use crate::forces::repulsion::{Grid, exact};
use crate::forces::{AttractionKernel, Kernel, Shape, fuzzy, perplexity};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
use eigenfold_linalg::progress::Silent;
use serde::{Deserialize, Serialize};

/// The tolerance of the optimization.
const STOP: Stop = Stop { gradient: 1e-9, decrease: 1e-14, evaluations: 200 };
/// Above this many points the repulsion is interpolated on a grid.
const MANY: usize = 1500;
/// The spacing of its nodes, in units in which the kernel is about one wide.
const SPACING: f64 = 0.25;

/// How the affinities of a new point follow from its distances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum AffinityRule {
    /// The mean of entropic affinities; they sum to one.
    Perplexity(Vec<f64>),
    /// UMAP's.
    Fuzzy,
    /// exp(−d²/2σ²).
    Heat(f64),
}

/// The form of the repulsion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum RepulsionForm {
    /// λ Σ.
    Sum(f64),
    /// λ log Σ.
    LogSum(f64),
    /// λ Σ, each weighted by the squared distance in the data.
    Squares(f64),
    /// −Σ w log(ω/n + (1 − ω) k/Σ), with ω; it replaces the attraction (UNI-SNE).
    Uniform(f64),
}

/// The forces on a new point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attracted {
    pub(crate) affinity: AffinityRule,
    pub(crate) attraction: AttractionKernel,
    pub(crate) shape: Shape,
    pub(crate) repulsion: RepulsionForm,
    /// The distances that [`RepulsionForm::Squares`] uses.
    pub(crate) away: Option<Away>,
}

/// The repulsion of all training points, precomputed for any position.
struct PreparedRepulsion {
    kernel: Kernel,
    grid: Option<Grid<f64, 8>>,
}

impl Extension for Attracted {
    fn traits(&self) -> Traits {
        Traits {
            uses_metric: self.away.as_ref().is_none_or(Away::uses_metric),
            optimizes: true,
            ..Traits::OF_DISTANCES
        }
    }

    fn prepare<'a>(&'a self, known: Known<'a>) -> Result<TransformFn<'a>> {
        let repulsion = self.prepare_repulsion(&known);
        let away = self.away.as_ref().map(Away::prepared).transpose()?;
        Ok(Box::new(move |batch| {
            let squares = away.as_ref().map(|away| away.squares(&known, batch)).transpose()?;
            Ok(batch.each(|new| self.row(&known, &repulsion, new, squares.as_ref().map_or(&[], |all| all.of(new)))))
        }))
    }

    fn fits(&self, sizes: Sizes) -> bool {
        let squares = matches!(self.repulsion, RepulsionForm::Squares(_));
        let affinity = match &self.affinity {
            AffinityRule::Perplexity(list) => !list.is_empty() && list.iter().all(|&value| is_positive(value)),
            AffinityRule::Fuzzy => true,
            AffinityRule::Heat(width) => is_positive(*width),
        };
        let attraction = match self.attraction {
            AttractionKernel::Square => true,
            AttractionKernel::Student(degrees) => is_positive(degrees),
            AttractionKernel::Umap(a, b) => is_positive(a) && is_positive(b),
        };
        let form = match self.shape {
            Shape::Gaussian => true,
            Shape::Student(degrees) => is_positive(degrees),
            Shape::Umap(a, b) => is_positive(a) && is_positive(b),
        };
        let repulsion = match self.repulsion {
            RepulsionForm::Sum(lambda) | RepulsionForm::LogSum(lambda) | RepulsionForm::Squares(lambda) => {
                (0.0..f64::INFINITY).contains(&lambda)
            }
            RepulsionForm::Uniform(part) => (0.0..=1.0).contains(&part),
        };
        let away = squares == self.away.is_some() && self.away.as_ref().is_none_or(|away| away.fits(sizes.rows));
        affinity && attraction && form && repulsion && away
    }
}

impl Attracted {
    fn prepare_repulsion(&self, known: &Known<'_>) -> PreparedRepulsion {
        let kernel = Kernel::of(self.shape);
        let (n, dims) = (known.map.rows(), known.map.cols());
        let by_grid = n > MANY && dims <= 3 && !matches!(self.repulsion, RepulsionForm::Squares(_));
        let grid = by_grid.then(|| {
            let mut grid = Grid::new(kernel.clone(), dims, SPACING);
            grid.tabulate(known.map.values());
            grid
        });
        PreparedRepulsion { kernel, grid }
    }

    fn row(&self, known: &Known<'_>, repulsion: &PreparedRepulsion, new: &Newcomer<'_>, squares: &[f64]) -> Vec<f64> {
        let dims = known.map.cols();
        let weights = self.affinity.weights(new.lengths);
        let start = known.map.row(new.near[0] as usize).to_vec();
        let mut objective = |y: &[f64], gradient: &mut [f64]| {
            if let RepulsionForm::Uniform(part) = self.repulsion {
                return Ok(Some(repulsion.mixed(known, new, &weights, part, y, gradient)));
            }
            let mut value = 0.0;
            gradient.fill(0.0);
            for (&j, weight) in new.near.iter().zip(&weights) {
                let other = known.map.row(j as usize);
                let square = y.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                value += weight * self.attraction.value(square);
                let factor = 2.0 * weight * self.attraction.derivative(square);
                gradient
                    .iter_mut()
                    .zip(y.iter().zip(other))
                    .for_each(|(gradient, (a, b))| *gradient += factor * (a - b));
            }
            let (sum, along) = match self.repulsion {
                RepulsionForm::Squares(_) => repulsion.by_squares(known, squares, y),
                RepulsionForm::Sum(_) | RepulsionForm::LogSum(_) | RepulsionForm::Uniform(_) => repulsion.at(known, y),
            };
            let factor = match self.repulsion {
                RepulsionForm::Sum(lambda) | RepulsionForm::Squares(lambda) => {
                    value += lambda * sum;
                    lambda
                }
                RepulsionForm::LogSum(lambda) => {
                    value += lambda * sum.max(f64::MIN_POSITIVE).ln();
                    lambda / sum.max(f64::MIN_POSITIVE)
                }
                RepulsionForm::Uniform(_) => 0.0,
            };
            gradient.iter_mut().zip(along).for_each(|(gradient, along)| *gradient += factor * along);
            Ok(Some(value))
        };
        let descent =
            Descent { bounds: Bounds::None, memory: dims + 2, scale: None, cautious: false, stop: STOP, stage: None };
        descent.minimize(&start, &mut objective, &Silent).map_or(start, |(y, _)| y)
    }
}

impl AffinityRule {
    fn weights(&self, lengths: &[f64]) -> Vec<f64> {
        match self {
            AffinityRule::Perplexity(perplexities) => {
                let squares: Vec<f64> = lengths.iter().map(|d| d * d).collect();
                perplexity::mean(&squares, perplexities)
            }
            AffinityRule::Fuzzy => fuzzy::row(lengths),
            AffinityRule::Heat(width) => lengths.iter().map(|d| (-0.5 * (d / width).powi(2)).exp()).collect(),
        }
    }
}

impl PreparedRepulsion {
    /// Σⱼ k(‖y − y[j]‖²) and its gradient.
    fn at(&self, known: &Known<'_>, y: &[f64]) -> (f64, Vec<f64>) {
        let read = self.grid.as_ref().and_then(|grid| grid.at(y));
        read.map_or_else(
            || exact::one(&self.kernel, known.map.values(), y.len(), y, None),
            |(value, gradient)| (value.max(0.0), gradient[..y.len()].to_vec()),
        )
    }

    /// −Σⱼ w[j] log(ω/n + (1 − ω) k[j]/Σ), with its gradient written.
    fn mixed(
        &self,
        known: &Known<'_>,
        new: &Newcomer<'_>,
        weights: &[f64],
        part: f64,
        y: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        let (sum, along) = self.at(known, y);
        let sum = sum.max(f64::MIN_POSITIVE);
        let (uniform, own) = (part / known.map.rows() as f64, (1.0 - part) / sum);
        let (mut value, mut all) = (0.0, 0.0);
        gradient.fill(0.0);
        for (&j, weight) in new.near.iter().zip(weights) {
            let other = known.map.row(j as usize);
            let square = y.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let bell = own * self.kernel.value(square);
            value -= weight * (uniform + bell).ln();
            let share = weight / (uniform + bell);
            all += share * bell;
            let factor = -2.0 * share * own * self.kernel.derivative(square);
            gradient.iter_mut().zip(y.iter().zip(other)).for_each(|(gradient, (a, b))| *gradient += factor * (a - b));
        }
        gradient.iter_mut().zip(along).for_each(|(gradient, along)| *gradient += all / sum * along);
        value
    }

    /// Σⱼ ‖x − x[j]‖² k(‖y − y[j]‖²) and its gradient.
    fn by_squares(&self, known: &Known<'_>, squares: &[f64], y: &[f64]) -> (f64, Vec<f64>) {
        let (mut value, mut gradient) = (0.0, vec![0.0; y.len()]);
        for (j, &weight) in squares.iter().enumerate() {
            let other = known.map.row(j);
            let square = y.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            value += weight * self.kernel.value(square);
            let factor = 2.0 * weight * self.kernel.derivative(square);
            gradient.iter_mut().zip(y.iter().zip(other)).for_each(|(gradient, (a, b))| *gradient += factor * (a - b));
        }
        (value, gradient)
    }
}

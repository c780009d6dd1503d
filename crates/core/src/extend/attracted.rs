//! Out-of-sample extension of objectives: the new point minimizes the objective, with all other points fixed.
//!
//! ```text
//! argmin  Σⱼ w[j] a(‖y − y[j]‖²) + f(Σⱼ q[j] k(‖y − y[j]‖²)),   w the new point's own affinities to its neighbors
//! ```
//!
//! The objective of the method, with one row added to it (for elastic embedding Carreira-Perpiñán 2010, equation 13).
//! The sum has several minima. The optimization starts where it is lowest among the nearest neighbors' positions (that paper
//! starts from the nearest) and the weighted mean of all of them, and goes downhill: in up to three dimensions by Newton's
//! method (`forces/expansion.rs`), in more by gradients.

use super::checks::is_positive;
use super::reference::Away;
use super::{Extension, Known, Newcomer, Sizes, Traits, TransformFn};
use crate::forces::expansion::{Expansion, minimum};
use crate::forces::repulsion::{Grid, exact};
use crate::forces::{AttractionKernel, Kernel, Shape, fuzzy, perplexity};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::optimize::{Bounds, Descent, Stop};
use eigenfold_linalg::progress::Silent;
use eigenfold_linalg::widest;
use serde::{Deserialize, Serialize};

/// The tolerance of the optimization by gradients.
const STOP: Stop = Stop { gradient: 1e-9, decrease: 1e-14, evaluations: 200 };
/// Neighbors whose positions are starts.
const STARTS: usize = 4;
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
    /// The map, one coordinate after the other.
    columns: Vec<f64>,
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
        Ok(Box::new(move |batch| match &away {
            None => Ok(batch.each(|new| self.row(&known, &repulsion, new, &[]))),
            Some(away) => batch.in_parts(|batch| {
                let squares = away.squares(&known, batch)?;
                Ok(batch.each(|new| self.row(&known, &repulsion, new, squares.of(new))))
            }),
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
        let columns = (0..dims).flat_map(|q| (0..n).map(move |j| known.map.row(j)[q])).collect();
        PreparedRepulsion { kernel, grid, columns }
    }

    fn row(&self, known: &Known<'_>, repulsion: &PreparedRepulsion, new: &Newcomer<'_>, squares: &[f64]) -> Vec<f64> {
        let weights = self.affinity.weights(new.lengths);
        let uniform = matches!(self.repulsion, RepulsionForm::Uniform(_));
        match known.map.cols() {
            1 if !uniform => self.by_newton::<1>(known.map, repulsion, new.near, &weights, squares),
            2 if !uniform => self.by_newton::<2>(known.map, repulsion, new.near, &weights, squares),
            3 if !uniform => self.by_newton::<3>(known.map, repulsion, new.near, &weights, squares),
            _ => self.by_gradients(known, repulsion, new, &weights, squares),
        }
    }

    fn by_newton<const D: usize>(
        &self,
        map: &Points,
        repulsion: &PreparedRepulsion,
        near: &[u32],
        weights: &[f64],
        squares: &[f64],
    ) -> Vec<f64> {
        let position = |j: u32| -> [f64; D] { std::array::from_fn(|q| map.row(j as usize)[q]) };
        let k = near.len();
        let mut columns = vec![0.0; D * k];
        for (at, &j) in near.iter().enumerate() {
            position(j).into_iter().enumerate().for_each(|(q, y)| columns[q * k + at] = y);
        }
        let columns: [&[f64]; D] = std::array::from_fn(|q| &columns[q * k..(q + 1) * k]);
        let starts: Vec<[f64; D]> = starts(map, near, weights).iter().map(|y| std::array::from_fn(|q| y[q])).collect();
        let found = widest(
            #[inline(always)]
            || {
                minimum(
                    &starts,
                    #[inline(always)]
                    |y| {
                        let pull = Expansion::of_sum(
                            &columns,
                            Some(weights),
                            y,
                            #[inline(always)]
                            |s| self.attraction.bent_lanes(s),
                        );
                        let push = repulsion.expansion(y, squares);
                        match self.repulsion {
                            RepulsionForm::Sum(lambda) | RepulsionForm::Squares(lambda) => pull.plus(lambda, &push),
                            RepulsionForm::LogSum(lambda) => pull.plus(lambda, &push.log()),
                            RepulsionForm::Uniform(_) => pull,
                        }
                    },
                )
            },
        );
        found.to_vec()
    }

    /// The objective in any number of dimensions.
    fn by_gradients(
        &self,
        known: &Known<'_>,
        repulsion: &PreparedRepulsion,
        new: &Newcomer<'_>,
        weights: &[f64],
        squares: &[f64],
    ) -> Vec<f64> {
        let dims = known.map.cols();
        let mut objective = |y: &[f64], gradient: &mut [f64]| {
            if let RepulsionForm::Uniform(part) = self.repulsion {
                return Ok(Some(repulsion.mixed(known, new, weights, part, y, gradient)));
            }
            let mut value = 0.0;
            gradient.fill(0.0);
            for (&j, weight) in new.near.iter().zip(weights) {
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
        let (mut start, mut least, mut gradient) = (Vec::new(), f64::INFINITY, vec![0.0; dims]);
        for y in starts(known.map, new.near, weights) {
            let value = objective(&y, &mut gradient).ok().flatten().unwrap_or(f64::INFINITY);
            if start.is_empty() || value < least {
                (start, least) = (y, value);
            }
        }
        let descent =
            Descent { bounds: Bounds::None, memory: dims + 2, scale: None, cautious: false, stop: STOP, stage: None };
        descent.minimize(&start, &mut objective, &Silent).map_or(start, |(y, _)| y)
    }
}

/// The positions of the nearest neighbors, the nearest first, and the weighted mean of all.
fn starts(map: &Points, near: &[u32], weights: &[f64]) -> Vec<Vec<f64>> {
    let mut starts: Vec<Vec<f64>> = near.iter().take(STARTS).map(|&j| map.row(j as usize).to_vec()).collect();
    let total: f64 = weights.iter().sum();
    if total > 0.0 {
        let sum = |q: usize| near.iter().zip(weights).map(|(&j, w)| w * map.row(j as usize)[q]).sum::<f64>();
        starts.push((0..map.cols()).map(|q| sum(q) / total).collect());
    }
    starts
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
    /// Σⱼ k(‖y − y[j]‖²) to second order, each term weighted if there are weights.
    #[inline(always)]
    fn expansion<const D: usize>(&self, y: &[f64; D], weights: &[f64]) -> Expansion<D> {
        if let Some(read) = self.grid.as_ref().and_then(|grid| grid.expansion(y)) {
            return Expansion { value: read.value.max(0.0), ..read };
        }
        let n = self.columns.len() / D;
        let columns: [&[f64]; D] = std::array::from_fn(|q| &self.columns[q * n..(q + 1) * n]);
        let weights = Some(weights).filter(|weights| !weights.is_empty());
        Expansion::of_sum(
            &columns,
            weights,
            y,
            #[inline(always)]
            |s| self.kernel.bent_lanes(s),
        )
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_graph::{Index, Metric};

    /// Points spread over a square and beyond it in ten clusters, the last `new` of them new; their rows have more features.
    fn points<const D: usize>(n: usize, new: usize) -> (Points, Points, Points) {
        let place = |i: usize| -> [f64; D] {
            std::array::from_fn(|q| {
                let step = [0.618_034, 0.754_878, 0.819_173][q];
                12.0 * (i as f64 * step).fract().powi(2) + 5.0 * ((i * (q + 3)) % 10) as f64
            })
        };
        let row = |y: [f64; D]| -> [f64; 4] {
            [y[0], y[D - 1] + 0.5 * y[0].sin(), 0.7 * y[D / 2], 2.0 * (0.2 * y.iter().sum::<f64>()).cos()]
        };
        let places: Vec<[f64; D]> = (0..n + new).map(place).collect();
        let rows: Vec<[f64; 4]> = places.iter().map(|&y| row(y)).collect();
        let points = |rows: &[[f64; 4]]| Points::from_rows(rows).unwrap();
        (points(&rows[..n]), Points::from_rows(&places[..n]).unwrap(), points(&rows[n..]))
    }

    fn forms() -> [Attracted; 6] {
        let of =
            |affinity, attraction, shape, repulsion| Attracted { affinity, attraction, shape, repulsion, away: None };
        let (perplexity, student) = (AffinityRule::Perplexity(vec![10.0]), AttractionKernel::Student(1.0));
        let (a, b) = (1.576_943_460_311_307_7, 0.895_060_877_910_973_3);
        [
            of(perplexity.clone(), student, Shape::Student(1.0), RepulsionForm::LogSum(1.0)),
            of(perplexity.clone(), AttractionKernel::Student(2.0), Shape::Student(2.0), RepulsionForm::LogSum(1.0)),
            of(perplexity, AttractionKernel::Square, Shape::Gaussian, RepulsionForm::LogSum(1.0)),
            of(AffinityRule::Fuzzy, AttractionKernel::Umap(a, b), Shape::Umap(a, b), RepulsionForm::Sum(0.02)),
            of(AffinityRule::Heat(1.0), AttractionKernel::Square, Shape::Gaussian, RepulsionForm::Sum(0.1)),
            of(AffinityRule::Heat(1.0), AttractionKernel::Square, Shape::Gaussian, RepulsionForm::Squares(0.01)),
        ]
    }

    /// The objective by its definition, with the repulsion summed point by point unless its sum is given.
    fn objective(
        rule: &Attracted,
        map: &Points,
        near: &[u32],
        weights: &[f64],
        squares: &[f64],
        given: Option<f64>,
        y: &[f64],
    ) -> f64 {
        let square = |j: usize| y.iter().zip(map.row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let pull: f64 = near.iter().zip(weights).map(|(&j, w)| w * rule.attraction.value(square(j as usize))).sum();
        let kernel = Kernel::of(rule.shape);
        let sum = |weight: &dyn Fn(usize) -> f64| -> f64 {
            given.unwrap_or_else(|| (0..map.rows()).map(|j| weight(j) * kernel.value(square(j))).sum())
        };
        pull + match rule.repulsion {
            RepulsionForm::Sum(lambda) => lambda * sum(&|_| 1.0),
            RepulsionForm::LogSum(lambda) => lambda * sum(&|_| 1.0).ln(),
            RepulsionForm::Squares(lambda) => lambda * sum(&|j| squares[j]),
            RepulsionForm::Uniform(_) => unreachable!(),
        }
    }

    /// By Newton's method every new point ends in a minimum of the objective that is as low as the one that the gradients
    /// lead to: the same for nearly all, and for the others lower about as often as higher.
    fn ends_in_the_minimum<const D: usize>(n: usize) {
        let (points, map, new) = points::<D>(n, 40);
        let index = Index::new(&points, Metric::Euclidean).unwrap();
        let (k, count) = (15, new.rows());
        let known = Known { points: Some((&points, Metric::Euclidean)), k, map: &map, eigenvalues: &[], radius: None };
        let (near, lengths) = index.nearest(&new, k).unwrap();
        for rule in forms() {
            let repulsion = rule.prepare_repulsion(&known);
            assert_eq!(repulsion.grid.is_some(), n > MANY && !matches!(rule.repulsion, RepulsionForm::Squares(_)));
            let (mut elsewhere, mut higher) = (0, 0);
            for i in 0..count {
                let list = i * k..(i + 1) * k;
                let row = new.row(i);
                let newcomer =
                    Newcomer { at: i, row, near: &near[list.clone()], lengths: &lengths[list], shares: &[1.0; 15] };
                let weights = rule.affinity.weights(newcomer.lengths);
                let squares: Vec<f64> = match rule.repulsion {
                    RepulsionForm::Squares(_) => {
                        (0..n).map(|j| Metric::Euclidean.distance(row, points.row(j)).powi(2)).collect()
                    }
                    _ => Vec::new(),
                };
                // On the grid the potential is its own, which is not that of UMAP's narrow kernel to the last digits.
                let value = |y: &[f64]| {
                    let sum = repulsion.grid.as_ref().and_then(|grid| grid.at(y)).map(|read| read.0);
                    objective(&rule, &map, newcomer.near, &weights, &squares, sum, y)
                };
                let found = rule.by_newton::<D>(&map, &repulsion, newcomer.near, &weights, &squares);
                let other = rule.by_gradients(&known, &repulsion, &newcomer, &weights, &squares);
                // No point around it is lower.
                for q in 0..D {
                    for step in [1e-3, -1e-3, 0.05, -0.05] {
                        let mut beside = found.clone();
                        beside[q] += step;
                        assert!(value(&beside) >= value(&found) - 1e-9, "{rule:?}: {found:?} is no minimum");
                    }
                }
                for start in starts(&map, newcomer.near, &weights) {
                    assert!(value(&found) <= value(&start) + 1e-9);
                }
                let apart = Metric::Euclidean.distance(&found, &other);
                if apart > 1e-5 {
                    elsewhere += 1;
                    higher += usize::from(value(&found) > value(&other));
                }
            }
            assert!(
                elsewhere * 10 <= count && higher * 20 <= count,
                "{rule:?}: {elsewhere} elsewhere, {higher} higher"
            );
        }
    }

    #[test]
    fn newton_ends_where_the_gradients_do() {
        ends_in_the_minimum::<1>(300);
        ends_in_the_minimum::<2>(600);
        ends_in_the_minimum::<3>(600);
    }

    #[test]
    fn newton_ends_where_the_gradients_do_on_a_grid() {
        ends_in_the_minimum::<1>(1600);
        ends_in_the_minimum::<2>(1600);
        ends_in_the_minimum::<3>(1600);
    }
}
